#!/usr/bin/env python3
"""Tests that the gate holds with every combination of embedder and reranker: a foreign question is refused, a covered one answered, whatever
range the scores of other servers have.

usage: providers_test.py --binary FOOTNOTE
"""
import hashlib
import http.server
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from server import Server  # noqa: E402

PAGES = {
    "shipping.md": "# Shipping\n\nShipping within Sweden takes three days. Shipping to other countries takes five days.\n",
    "returns.md": "# Returns\n\nYou can return a lamp within sixty days. Gift cards can't be returned.\n",
    "lamp.md": "# Trail lamp\n\nThe trail lamp weighs 90 grams and shines for forty hours. It costs 49 euros.\n",
    "hours.md": "# Opening hours\n\nThe shop is open from nine to five, on Saturdays from ten to two.\n",
}
COVERED = "How many days does shipping within Sweden take?"
FOREIGN = "Who painted the Night Watch?"
DIMENSION = 64


def vector_of(text):
    """Cosines of hosted embedders start at about .7: a large common component, and a small one from the text's words."""
    out = [1.0] * DIMENSION
    for word in text.lower().split():
        digest = hashlib.sha256(word.strip(".,?!#").encode()).digest()
        for i, (byte,) in enumerate(struct.iter_unpack("B", digest)):
            out[i % DIMENSION] += (byte - 127.5) / 500
    length = math.sqrt(sum(x * x for x in out))
    return [x / length for x in out]


class FakeModels:
    """An embedder in OpenAI's format and rerankers that give every passage the same score. Loopback only."""

    def __init__(self, score):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.path.endswith("/embeddings"):
                    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
                    answer = {"data": [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)], "model": "hosted"}
                elif "/ai/run/" in self.path:
                    answer = {"result": {"response": [{"id": i, "score": score} for i in range(len(body["contexts"]))]}, "success": True}
                elif "texts" in body:
                    answer = [{"index": i, "score": score} for i in range(len(body["texts"]))]
                else:
                    answer = {"results": [{"index": i, "relevance_score": score} for i in range(len(body["documents"]))]}
                text = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Providers(unittest.TestCase):
    binary = ""

    def check(self, embedder, reranker, score):
        with FakeModels(score) as models, tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as pages:
            environment = {"RERANKER_PROVIDER": reranker}
            if reranker not in ("none", "local"):
                environment.update(RERANKER_URL=models.url, RERANKER_ACCOUNT="account", RERANKER_KEY="key")
            if embedder == "openai":
                environment.update(EMBEDDER_PROVIDER="openai", EMBEDDER_URL=models.url, EMBEDDER_MODEL="hosted")
            for name, text in PAGES.items():
                pathlib.Path(pages, name).write_text(text)
            with Server(self.binary, data, environment) as server:
                subprocess.run([self.binary, "ingest", pages, "--data", data], env=server.environment, check=True, capture_output=True)
                foreign, covered = self.ask(server, FOREIGN), self.ask(server, COVERED)
                searched = self.search(server, COVERED)
        self.assertEqual(foreign["refusal_reason"], "no_relevant_context", foreign)
        self.assertFalse(foreign["meta"]["gate"]["grounded"], foreign)
        self.assertIsNone(covered["refusal_reason"], covered)
        known = embedder == "local" and reranker in ("none", "local")
        self.assertEqual(searched["gate"]["calibrated"], known)
        self.assertTrue(covered["meta"]["gate"]["calibrated"], "the built-in reader decided, whose scale is known")

    def call(self, server, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(server.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def ask(self, server, question):
        return self.call(server, "/api/kb/chat", {"question": question})

    def search(self, server, question):
        return self.call(server, "/api/search", {"query": question})

    def test_scores_of_any_range_keep_the_gate(self):
        for embedder in ("local", "openai"):
            for reranker, scores in (("none", [0]), ("local", [0]), ("cohere", [0.0001, 0.97]), ("tei", [-9, 4]), ("cloudflare", [0.0001, 0.97])):
                for score in scores:
                    with self.subTest(embedder=embedder, reranker=reranker, score=score):
                        self.check(embedder, reranker, score)

    def test_the_server_fits_the_scale_of_another_embedder_by_itself(self):
        topics = ("lamp", "tent", "stove", "boots", "rope", "compass", "kettle", "blanket", "bicycle", "canoe", "helmet", "jacket", "ladder",
                  "lantern", "mattress", "mirror", "needle", "oar", "pillow", "saddle", "sledge", "towel", "wagon", "whistle")
        with FakeModels(0) as models, tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as pages:
            for topic in topics:
                pathlib.Path(pages, topic + ".md").write_text(
                    f"# The {topic}\n\nThe {topic} weighs many grams and is sold in the mountain shop near the station. "
                    f"Clean the {topic} with warm water and keep it in a dry cellar during winter.\n")
            environment = {"RERANKER_PROVIDER": "none", "EMBEDDER_PROVIDER": "openai", "EMBEDDER_URL": models.url, "EMBEDDER_MODEL": "hosted"}
            with Server(self.binary, data, environment) as server:
                subprocess.run([self.binary, "ingest", pages, "--data", data], env=server.environment, check=True, capture_output=True)
                shown = self.call(server, "/api/admin/calibrate?corpus=memory")
                self.assertIn(shown["source"], ("unknown", "automatic"))
                deadline = time.monotonic() + 120
                while shown["source"] == "unknown" and time.monotonic() < deadline:
                    time.sleep(0.2)
                    shown = self.call(server, "/api/admin/calibrate?corpus=memory")
                self.assertEqual((shown["source"], shown["calibrated"], shown["evidence_min"]), ("automatic", True, 0.5), shown)
                self.assertEqual(shown["passages"], len(topics))
                words = subprocess.run([self.binary, "calibrate", "--show", "--data", data], env=server.environment, check=True,
                                       capture_output=True, text=True).stdout
                self.assertIn("the server brought the scores of hosted to the known scale", words)
                gate = self.search(server, "How many grams does the kettle weigh?")["gate"]
                self.assertTrue(gate["calibrated"] and gate["grounded"], gate)
                self.assertFalse(self.search(server, FOREIGN)["gate"]["grounded"])


if __name__ == "__main__":
    at = sys.argv.index("--binary")
    Providers.binary = sys.argv[at + 1]
    unittest.main(argv=[sys.argv[0]])

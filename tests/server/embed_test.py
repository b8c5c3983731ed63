#!/usr/bin/env python3
"""Tests the embedding and reranking services of the real binary: bad input, limits, other servers behind and in front.

usage: embed_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import base64
import http.server
import json
import math
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import COVERED, ServerCase, wait_until  # noqa: E402
from server import Server  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
INPUT = {"/embed": "inputs", "/v1/embeddings": "input", "/tei/embed": "inputs"}


def blocks(page, language):
    """The fenced code blocks of that language on a documentation page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)


def vectors_of(path, body):
    if path == "/embed":
        return body["vectors"]
    return [entry["embedding"] for entry in body["data"]] if path == "/v1/embeddings" else body


def message_of(body):
    error = body["error"]
    return error if isinstance(error, str) else error["message"]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b))


class Services(ServerCase):
    def embed(self, path, texts, **more):
        return self.post(path, {INPUT[path]: texts, **more})

    def good(self, path, texts, **more):
        """The vectors; each must be finite and have length 1."""
        status, body = self.embed(path, texts, **more)
        self.assertEqual(status, 200, body)
        vectors = vectors_of(path, body)
        for vector in vectors:
            self.assertEqual(len(vector), 384)
            self.assertTrue(all(isinstance(value, (int, float)) and math.isfinite(value) for value in vector))
            self.assertAlmostEqual(cosine(vector, vector), 1, places=4)
        return vectors

    def still_there(self):
        self.assertEqual(self.call("GET", "/health")[0].status, 200)


class Embedding(Services):
    def test_all_forms_give_the_same_vectors(self):
        texts = ["How long is parental leave?", "The number of weeks off for new parents", "The compiler lost a header file"]
        plain, openai, tei = (self.good(path, texts) for path in INPUT)
        self.assertEqual(plain, openai)
        self.assertEqual(plain, tei)
        self.assertGreater(cosine(plain[0], plain[1]), cosine(plain[0], plain[2]) + 0.1)
        for path in INPUT:
            self.assertEqual(self.good(path, texts[1]), [plain[1]])

    def test_base64_is_little_endian_floats(self):
        floats = self.good("/v1/embeddings", "harbour")[0]
        _, body = self.embed("/v1/embeddings", "harbour", encoding_format="base64")
        packed = struct.unpack("<384f", base64.b64decode(body["data"][0]["embedding"], validate=True))
        self.assertEqual([struct.pack("<f", value) for value in floats], [struct.pack("<f", value) for value in packed])

    def test_not_normalised_is_the_same_direction(self):
        unit = self.good("/embed", "harbour lights")[0]
        status, body = self.embed("/embed", "harbour lights", normalize=False)
        self.assertEqual((status, body["normalize"], body["dim"]), (200, False, 384))
        pooled = body["vectors"][0]
        length = math.sqrt(cosine(pooled, pooled))
        self.assertGreater(abs(length - 1), 0.01)
        self.assertAlmostEqual(cosine(pooled, unit) / length, 1, places=4)

    def test_strange_texts_get_vectors(self):
        strange = {"empty": "", "blank": " \n\t ", "emoji": "\U0001F600" * 50, "NUL": "a\0b", "only NUL": "\0" * 10, "bom": "\ufeff",
                   "private use": "\ue000\U0010ffff", "rtl": "\u202e\u0627\u0644", "combining": "e" + "\u0301" * 5000, "tokens": "[CLS][SEP][PAD]",
                   "1 MB": "word " * 200_000, "1 MB of one word": "x" * 1_000_000, "1 MB of emoji": "\U0001F600" * 250_000,
                   "1 MB of nothing": " " * 1_000_000}
        for path in INPUT:
            truncate = {"truncate": True} if path == "/tei/embed" else {}
            for name, text in strange.items():
                with self.subTest(path=path, text=name):
                    self.assertEqual(len(self.good(path, [text, "x"], **truncate)), 2)
        self.assertEqual(self.good("/embed", "a\0b"), self.good("/embed", "ab"))
        self.still_there()

    def test_bad_bodies_are_named(self):
        for path, field in INPUT.items():
            for value in (None, [], {}, 7, True, [1, 2], [[1, 2]], ["a", 7], ["a", None], ["a", ["b"]], [{}], {"text": "a"}):
                with self.subTest(path=path, value=value):
                    status, body = self.post(path, {field: value})
                    self.assertEqual(status, 400 if path.startswith("/v1") else 422)
                    self.assertIn(field, message_of(body))
            for raw in (b"", b"{", b"[]", b"null", b'"x"', b'{"%s":"\xff\xfe"}' % field.encode(), b'{"%s":"\\ud800"}' % field.encode(),
                        b'{"%s":"a","%s":"b"}' % (field.encode(), field.encode()), b'{"%s":["a"' % field.encode(), b"\0" * 100):
                with self.subTest(path=path, raw=raw):
                    response, data = self.call("POST", path, raw)
                    self.assertEqual(response.status, 400)
                    self.assertTrue(message_of(json.loads(data)))
        for body in ({"inputs": "x", "normalize": "yes"}, {"inputs": "x", "normalise": True}, {"inputs": "x", "truncate": True}):
            self.assertEqual(self.post("/embed", body)[0], 422)
        for body in ({"encoding_format": "int8"}, {"dimensions": 385}, {"dimensions": 0}, {"dimensions": "8"}, {"dimensions": 1e300},
                     {"encoding_format": 7}, {"model": 7}):
            status, answer = self.post("/v1/embeddings", {"input": "x", **body})
            self.assertEqual(status, 400, body)
            self.assertEqual(answer["error"]["param"], next(iter(body)))
        self.assertEqual(self.post("/v1/embeddings", {"input": "x", "model": "another"})[0], 404)

    def test_the_bounds_are_said(self):
        for path, field in INPUT.items():
            self.assertEqual(len(self.good(path, ["x"] * 2048)), 2048)
            for count in (2049, 10_000):
                status, body = self.post(path, {field: ["x"] * count})
                self.assertEqual(status, 413)
                self.assertIn("2048", message_of(body))
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as client:  # refused by its declared length
                client.sendall(b"POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                               b"content-length: %d\r\n\r\n" % (path.encode(), 33 << 20))
                self.assertIn(b" 413 ", client.recv(100))
        self.still_there()

    def test_tei_refuses_what_is_too_long_unless_it_may_cut(self):
        status, body = self.embed("/tei/embed", "word " * 1000)
        self.assertEqual((status, body["error_type"]), (413, "Validation"))
        self.assertEqual(self.good("/tei/embed", "word " * 1000, truncate=True), self.good("/embed", "word " * 1000))

    def test_it_says_what_it_is(self):
        self.assertEqual(json.loads(self.call("GET", "/health")[1]), {"ok": True, "model": "all-MiniLM-L6-v2"})
        model = json.loads(self.call("GET", "/model")[1])
        self.assertEqual((model["model"], model["normalize"], model["dim"]), ("all-MiniLM-L6-v2", True, 384))
        self.assertEqual(self.call("GET", "/tei/health")[0].status, 200)
        self.assertEqual(json.loads(self.call("GET", "/tei/info")[1])["model_id"], "all-MiniLM-L6-v2")

    def test_every_route_is_described(self):
        paths = json.loads(self.call("GET", "/openapi.json")[1])["paths"]
        for path in (*INPUT, "/v1/rerank", "/v2/rerank", "/tei/rerank"):
            self.assertEqual(paths[path]["post"]["security"], [{"key": ["read"]}])
        for path in ("/health", "/model", "/tei/health", "/tei/info"):
            self.assertIn("get", paths[path])

    def test_a_client_that_goes_stops_its_work(self):
        body = json.dumps({"inputs": ["long " * 250] * 2048}).encode()
        with socket.create_connection(("127.0.0.1", self.server.port)) as client:
            client.sendall(b"POST /embed HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                           b"content-length: %d\r\n\r\n" % len(body) + body)
            self.assertTrue(wait_until(lambda: self.gauge("footnote_http_handlers_running") > 1, 20))
        # The metrics request itself is one of them.
        self.assertTrue(wait_until(lambda: self.gauge("footnote_http_handlers_running") == 1, 30))

    def test_the_page_tells_what_happens(self):
        requests = blocks("embedding.md", "http")
        answers = [json.loads(block) for block in blocks("embedding.md", "json")]
        self.assertGreaterEqual(len(requests), 4)
        self.assertEqual(len(requests), len(answers))
        for request, shown in zip(requests, answers):
            line, _, body = request.partition("\n\n")
            method, path = line.split()
            response, data = self.call(method, path, body.encode() if body else None)
            with self.subTest(request=line):
                self.assertEqual(response.status, 200)
                self.assert_like(json.loads(data), shown)

    def assert_like(self, found, shown):
        """Checks that every documented field exists; number lists are documented by their first entries."""
        if isinstance(shown, dict):
            self.assertLessEqual(set(shown), set(found))
            for key in shown:
                self.assert_like(found[key], shown[key])
        elif isinstance(shown, list):
            for one, other in zip(found, shown):
                self.assert_like(one, other)
        elif isinstance(shown, float):
            self.assertAlmostEqual(found, shown, delta=0.01)  # CPU levels round differently
        else:
            self.assertEqual(found, shown)


class Reranking(Services):
    def test_the_judge_puts_what_answers_first(self):
        status, body = self.post("/v1/rerank", {"query": "How long is parental leave?", "documents": ["Trains are booked in second class.",
                                                                                                    "New parents take 16 weeks off."]})
        self.assertEqual(status, 200)
        self.assertEqual([result["index"] for result in body["results"]], [1, 0])


class WithoutReranker(Services):
    environment = {"RERANKER_PROVIDER": "none"}

    def test_without_a_reranker_it_says_how_to_add_one(self):
        for path, field in (("/v1/rerank", "documents"), ("/v2/rerank", "documents"), ("/tei/rerank", "texts")):
            response, data = self.call("POST", path, {"query": "q", field: ["a"]})
            self.assertEqual(response.status, 503)
            self.assertIn("footnote models add", message_of(json.loads(data)))
            self.assertIsNone(response.headers["retry-after"])
            self.assertIn(self.post(path, {"query": "q", field: []})[0], (400, 422))
            self.assertEqual(self.post(path, {"query": "q", field: ["a"] * 1001})[0], 413)


class FakeTei:
    """A fake TEI server that scores a text by the words it shares with the query. It accepts 32 texts at once."""

    def __init__(self):
        fake = self
        self.batches, self.keys = [], set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fake.batches.append(len(body["texts"]))
                fake.keys.add(self.headers["authorization"])
                words = set(body["query"].lower().split())
                scores = [{"index": i, "score": float(len(words & set(text.lower().split())) - 1)} for i, text in enumerate(body["texts"])]
                status = 413 if len(body["texts"]) > 32 else 200
                data = json.dumps(sorted(scores, key=lambda entry: -entry["score"])).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class ElsewhereCase(unittest.TestCase):
    """One server embeds, another uses it."""

    def test_a_server_embeds_for_another(self):
        with tempfile.TemporaryDirectory(prefix="footnote-embed-") as work, FakeTei() as tei:
            first, second = (os.path.join(work, name) for name in ("first", "second"))
            for data in (first, second):
                shutil.copytree(http_test.OPTIONS.data, data)
            with Server(http_test.OPTIONS.binary, first) as embedder:
                for provider, url, model in (("embed-service", embedder.url, ""), ("openai", embedder.url + "/v1", "all-MiniLM-L6-v2")):
                    settings = {"EMBEDDER_PROVIDER": provider, "EMBEDDER_URL": url, "EMBEDDER_MODEL": model, "EMBEDDER_KEY": "sk-canary-1",
                                "RERANKER_PROVIDER": "tei", "RERANKER_URL": tei.url, "RERANKER_KEY": "sk-canary-2",
                                "FOOTNOTE_MODELS": os.path.join(work, "no-models-here"), "FOOTNOTE_LOG_LEVEL": "debug"}
                    with Server(http_test.OPTIONS.binary, second, settings) as server:
                        self.use(server, tei, provider)
                    self.assertNotIn("canary", server.output())
                    self.tell(second, settings)
            self.assertEqual(tei.keys, {"Bearer sk-canary-2"})

    def use(self, server, tei, provider):
        case = Services()
        case.server = server
        _, body = case.post("/api/kb/chat", {"question": COVERED})
        self.assertIn("[1]", body["answer"])
        document = {"source_path": "kiln.md", "content": "# Kiln\n\nThe kiln on floor nine is named Vesuvius."}
        self.assertEqual(case.post("/api/kb/ingest", {"documents": [document]})[0], 200)
        self.assertEqual(len(case.good("/embed", ["x"] * 250)), 250)
        status, body = case.embed("/embed", "x", normalize=False)
        self.assertEqual(status, 200 if provider == "embed-service" else 422, body)
        passages = [f"passage {i}" for i in range(40)] + ["the red harbour light", "harbour"]
        _, body = case.post("/v1/rerank", {"query": "red harbour", "documents": passages, "top_n": 2, "return_documents": True})
        self.assertEqual([(entry["index"], entry["document"]["text"]) for entry in body["results"]], [(40, passages[40]), (41, passages[41])])
        self.assertAlmostEqual(body["results"][0]["relevance_score"], 1 / (1 + math.exp(-1)), places=6)
        _, body = case.post("/tei/rerank", {"query": "red harbour", "texts": passages, "raw_scores": True})
        self.assertEqual(body[0], {"index": 40, "score": 1})
        self.assertLessEqual(max(tei.batches[-2:]), 32)

    def tell(self, data, settings):
        """doctor shows the embedder, and a wrong dimension is reported at startup."""
        run = lambda *arguments, **more: subprocess.run([http_test.OPTIONS.binary, *arguments, "--data", data], capture_output=True, text=True,
                                                        timeout=60, env={**os.environ, **settings, **more})
        checks = {check["name"]: check for check in json.loads(run("doctor", "--json").stdout)["checks"]}
        self.assertEqual((checks["model"]["provider"], checks["model"]["dimension"]), (settings["EMBEDDER_PROVIDER"], 384))
        self.assertEqual((checks["reranker"]["provider"], checks["reranker"]["status"]), ("tei", "ok"))
        done = run("search", "leave", EMBEDDER_DIMENSION="768")
        self.assertEqual(done.returncode, 1)
        self.assertIn("EMBEDDER_DIMENSION", done.stderr)
        self.assertNotIn("canary", done.stderr)


if __name__ == "__main__":
    http_test.main()

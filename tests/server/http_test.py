#!/usr/bin/env python3
"""Tests the real binary over HTTP: invalid input, responses, and cleanup after clients disconnect.

usage: http_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import argparse
import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fake_model import FakeModel, words  # noqa: E402
from server import Server  # noqa: E402

OPTIONS = None
COVERED = "How many days of unused leave can I carry over into next year?"
FOREIGN = "Who painted the Night Watch?"


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


class ServerCase(unittest.TestCase):
    environment = {}

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="footnote-http-")
        data = os.path.join(cls.work.name, "data")
        shutil.copytree(OPTIONS.data, data)
        cls.model = cls.make_model()
        if cls.model:
            cls.model.__enter__()
            cls.environment = {**cls.environment, "LLM_BASE_URL": cls.model.url, "LLM_MODEL": "fake-1", "LLM_API_KEY": "sk-canary-key"}
        cls.server = Server(OPTIONS.binary, data, cls.environment)
        cls.server.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)
        if cls.model:
            cls.model.__exit__(None, None, None)
        cls.work.cleanup()

    @classmethod
    def make_model(cls):
        return None

    def call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        payload = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, payload, {"content-type": "application/json", **(headers or {})})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response, data

    def post(self, path, body):
        response, data = self.call("POST", path, body)
        return response.status, json.loads(data)

    def gauge(self, name):
        _, data = self.call("GET", "/metrics")
        for line in data.decode().splitlines():
            if line.startswith(name + " ") or line.startswith(name + "{"):
                return float(line.rsplit(" ", 1)[1])
        self.fail(f"no metric {name}")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))


class Answers(ServerCase):
    def test_a_covered_question_is_answered_with_a_citation_bound_to_exact_characters(self):
        status, body = self.post("/api/kb/chat", {"question": COVERED})
        self.assertEqual(status, 200)
        self.assertIsNone(body["refusal_reason"])
        self.assertIn("[1]", body["answer"])
        self.assertIn("five", body["answer"].lower() + json.dumps(body["citations"]).lower())
        marks = 0
        for citation in body["citations"]:
            response, data = self.call("GET", f"/api/kb/documents/{citation['document_id']}/preview?version={citation['version']}")
            text = json.loads(data)["text"]
            for mark in citation["marks"]:
                marks += 1
                self.assertEqual(text[mark["source_start"]:mark["source_end"]], mark["quote"])
                self.assertIn(f"[{mark['number']}]", body["answer"][mark["answer_start"]:mark["answer_end"]])
            for chunk in citation["chunks"]:
                self.assertEqual(chunk["evidence_hash"], hashlib.sha256(text[chunk["start"]:chunk["end"]].encode()).hexdigest())
        self.assertGreater(marks, 0)

    def test_citations_are_what_the_answer_marks_grouped_by_document(self):
        _, body = self.post("/api/kb/chat", {"question": COVERED, "filters": {"languages": [], "tag_slugs": []}})
        numbers = sorted({int(number) for number in re.findall(r"\[(\d+)\]", body["answer"])})
        self.assertEqual(sorted(chunk["number"] for citation in body["citations"] for chunk in citation["chunks"]), numbers)
        documents = [citation["document_id"] for citation in body["citations"]]
        self.assertEqual(len(documents), len(set(documents)))
        for citation in body["citations"]:
            self.assertEqual((citation["origin"], citation["project_key"], citation["chunks_used"]), ("primary", "memory", len(citation["chunks"])))
        meta = body["meta"]
        self.assertEqual(meta["filters_selected"], {"languages": [], "tag_slugs": []})
        self.assertEqual(meta["runner_up_count"], len(meta["retrieval_runner_up"]))
        used = {chunk["chunk_id"] for citation in body["citations"] for chunk in citation["chunks"]}
        self.assertFalse(used & {near["chunk_id"] for near in meta["retrieval_runner_up"]})

    def test_a_refusal_speaks_the_askers_language(self):
        said = {}
        for headers, locale in (({}, None), ({"accept-language": "fr-CH,fr;q=0.9"}, None), ({"accept-language": "fr"}, "de-AT"), ({}, "sv"), ({}, "xx")):
            body = {"question": FOREIGN, **({"locale": locale} if locale else {})}
            answer = json.loads(self.call("POST", "/api/kb/chat", body, headers)[1])
            self.assertEqual(answer["refusal_reason"], "no_relevant_context")
            said[(headers.get("accept-language"), locale)] = answer["answer"]
        self.assertTrue(said[(None, None)].startswith("I could not find"))
        self.assertTrue(said[("fr-CH,fr;q=0.9", None)].startswith("Je n'ai pas"))
        self.assertTrue(said[("fr", "de-AT")].startswith("Dazu habe ich"))
        self.assertTrue(said[(None, "sv")].startswith("Jag hittade"))
        self.assertEqual(said[(None, "xx")], said[(None, None)])

    def test_a_question_may_go_to_several_corpora(self):
        document = {"source_path": "ferry.md", "project_key": "boats", "content": "# Ferry\n\nThe ferry to Texel leaves every hour on the half hour."}
        status, _ = self.post("/api/kb/ingest", {"documents": [document], "project_key": "boats"})
        self.assertIn(status, (200, 202))
        ask = lambda question, keys: self.post("/api/kb/chat", {"question": question, "project_key": "memory", "filters": {"project_keys": keys}})[1]
        both = ask("When does the ferry to Texel leave?", ["memory", "boats", "nowhere"])
        self.assertEqual([citation["project_key"] for citation in both["citations"]][:1], ["boats"])
        self.assertEqual((both["meta"]["project_keys"], both["meta"]["unknown_project_keys"]), (["memory", "boats"], ["nowhere"]))
        self.assertIsNone(ask(COVERED, ["boats", "memory"])["refusal_reason"])
        self.assertEqual(ask("When does the ferry to Texel leave?", [])["refusal_reason"], "no_relevant_context", "an empty list is the default corpus")

    def test_a_foreign_question_is_refused_with_200_and_a_typed_reason(self):
        status, body = self.post("/api/kb/chat", {"question": FOREIGN})
        self.assertEqual(status, 200)
        self.assertEqual(body["refusal_reason"], "no_relevant_context")
        self.assertEqual((body["citations"], body["confidence"]), ([], None))
        self.assertTrue(body["answer"])

    def test_the_same_question_gives_the_same_retrieval(self):
        search = lambda: [(hit["chunk_id"], hit["score"]) for hit in self.post("/api/search", {"query": COVERED})[1]["hits"]]
        first = search()
        self.assertEqual(first, search())
        self.assertGreater(len(first), 0)

    def test_search_shows_what_each_stage_added(self):
        _, body = self.post("/api/search", {"query": COVERED, "limit": 3})
        self.assertEqual(len(body["hits"]), 3)
        for hit in body["hits"]:
            self.assertAlmostEqual(hit["score"], sum(term["contribution"] for term in hit["terms"]), places=9)

    def test_an_ingested_text_is_found_at_once_and_replaced_whole(self):
        document = {"source_path": "notes/kiln.md", "content": "# Kiln\n\nThe kiln on floor nine is named Vesuvius."}
        status, body = self.post("/api/kb/ingest", {"documents": [document]})
        self.assertEqual((status, body["indexed"]), (200, 1))
        _, body = self.post("/api/kb/chat", {"question": "What is the kiln on floor nine named?"})
        self.assertIn("Vesuvius", body["answer"])
        document["content"] = "# Kiln\n\nThe kiln on floor nine is named Stromboli."
        self.post("/api/kb/ingest", {"documents": [document]})
        _, body = self.post("/api/kb/chat", {"question": "What is the kiln on floor nine named?"})
        self.assertIn("Stromboli", body["answer"])
        self.assertNotIn("Vesuvius", body["answer"])
        status, body = self.post("/api/kb/ingest", {"documents": [document]})
        self.assertEqual((body["indexed"], body["unchanged"]), (0, 1))

    def test_documents_that_a_folder_no_longer_holds_are_deleted(self):
        text = lambda name: {"source_path": name, "content": f"# {name}\n\nThe {name} lamp glows ultramarine at dusk."}
        self.post("/api/kb/ingest", {"folder": "/srv/lamps", "documents": [text("north.md"), text("south.md")]})
        status, body = self.post("/api/kb/ingest", {"folder": "/srv/lamps", "documents": [], "present": ["south.md"]})
        self.assertEqual((status, body["deleted"]), (200, ["north.md"]))
        hits = self.post("/api/search", {"query": "ultramarine lamp at dusk"})[1]["hits"]
        self.assertIn("south.md", [hit["source_path"] for hit in hits])
        self.assertNotIn("north.md", [hit["source_path"] for hit in hits])
        self.assertEqual(self.post("/api/kb/ingest", {"documents": [], "present": []})[0], 422)

    def test_one_rule_says_which_files_of_a_folder_are_gone(self):
        folder = {"folder": "/srv/mixed", "project_key": "mixed"}

        def listed():
            return [row["source_path"] for row in json.loads(self.call("GET", "/api/kb/documents?project_key=mixed")[1])["documents"]]

        def send(*documents, **fields):
            return self.post("/api/kb/ingest", {**folder, "documents": list(documents), **fields})[1]

        send(*({"source_path": path, "content": f"A text about {path}."} for path in ("a/x.md", "a/y.md", "b/x.md", "b/deep/z.md")))
        self.assertEqual(send(prefix="a/", present=["a/x.md"])["deleted"], ["a/y.md"], "what has another prefix stays")
        self.assertEqual(send(prefix="b/", present=[], unknown=["b/deep"])["deleted"], ["b/x.md"], "what could not be looked at stays")
        self.assertEqual(send(present=[], listed_at="2020-01-01T00:00:00Z")["deleted"], [], "what came after the listing stays")
        self.assertEqual(send(present=[], keep_deleted=True)["deleted"], [])
        self.assertEqual(listed(), ["a/x.md", "b/deep/z.md"])
        bad = {"source_path": "a/x.md", "content_base64": base64.b64encode(bytes(range(256))).decode()}
        self.assertEqual(send(bad, keep_deleted=True)["deleted"], [])
        answer = send(bad)
        self.assertEqual((answer["failed"], answer["deleted"]), (1, ["a/x.md"]), "a file that is no text any more takes its old text along")
        self.assertEqual(listed(), ["b/deep/z.md"])

    def test_bytes_that_are_no_utf8_are_decoded_and_said_to_be(self):
        content = "Der K\u00e4se reift neun Monate.".encode("latin-1")
        body = {"project_key": "bytes", "documents": [{"source_path": "k.txt", "content_base64": base64.b64encode(content).decode()}]}
        first = self.post("/api/kb/ingest", body)[1]
        self.assertEqual((first["added"], first["chunks_embedded"]), (1, 1))
        document = first["documents"][0]
        self.assertTrue(document["content_hash"].startswith(hashlib.sha256(content).hexdigest()), "of the bytes as they were sent")
        self.assertIn("windows-1252", document["warning"])
        self.assertEqual(self.post("/api/kb/ingest", body)[1]["unchanged"], 1)
        for wrong in ({"content_base64": "?"}, {"content_base64": "QQ==", "content": "A"}, {}):
            status, answer = self.post("/api/kb/ingest", {"documents": [{"source_path": "k.txt", **wrong}]})
            self.assertEqual(status, 422, answer)

    def test_documents_are_listed_page_by_page(self):
        paths = [f"{i}.md" for i in range(5)]
        self.post("/api/kb/ingest", {"project_key": "pages", "documents": [
            {"source_path": path, "content": f"# Page {path}\n\nText."} for path in paths]})
        found, after = [], ""
        while after is not None:
            page = json.loads(self.call("GET", f"/api/kb/documents?project_key=pages&limit=2&after={after}")[1])
            self.assertLessEqual(len(page["documents"]), 2)
            found += page["documents"]
            after = page["next"]
        self.assertEqual([(row["source_path"], row["title"], row["version"]) for row in found],
                         [(path, f"Page {path}", 1) for path in paths])
        for query, status in (("limit=0", 422), ("limit=1001", 422), ("limit=1000", 200), ("limit=x", 422), ("project_key=nowhere", 404)):
            self.assertEqual(self.call("GET", "/api/kb/documents?" + query)[0].status, status, query)

    def test_the_page_and_operations(self):
        response, data = self.call("GET", "/", headers={"accept": "text/html"})
        self.assertEqual(response.status, 200)
        self.assertIn("default-src 'none'", response.headers["content-security-policy"])
        for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/api/corpora", "/api/examples"):
            self.assertEqual(self.call("GET", path)[0].status, 200, path)
        spec = json.loads(self.call("GET", "/openapi.json")[1])
        self.assertIn("/api/kb/chat", spec["paths"])

    def test_example_questions_are_made_from_headings(self):
        questions = json.loads(self.call("GET", "/api/examples")[1])["questions"]
        self.assertEqual(len(questions), 5)
        for question in questions:
            self.assertTrue(question.endswith("?"), question)
            self.assertIsNone(self.post("/api/kb/chat", {"question": question})[1]["refusal_reason"], question)
        self.assertEqual(json.loads(self.call("GET", "/api/examples?project_key=nowhere")[1])["questions"], [])

    def test_the_chat_app_is_one_page_for_all_its_addresses(self):
        pages = {self.call("GET", path)[1] for path in ("/app/chat", "/app/chat/abc", "/app/search")}
        self.assertEqual(len(pages), 1)
        self.assertEqual(self.call("GET", "/app")[0].headers["location"], "/app/chat")
        self.assertEqual(self.call("GET", "/app/assets/nothing.js")[0].status, 404)


class BadInput(ServerCase):
    def check(self, body, status, field=None, path="/api/kb/chat"):
        got, answer = self.post(path, body)
        self.assertEqual(got, status, answer)
        self.assertEqual(answer["error"].get("field"), field, answer)
        self.assertTrue(answer["error"]["message"])

    def test_malformed_json_is_400(self):
        for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"question": NaN}', b'{"question": "x"} trailing'):
            self.check(body, 400)

    def test_a_wrong_field_is_422_and_named(self):
        self.check({}, 422, "question")
        self.check({"question": 7}, 422, "question")
        self.check({"question": "   "}, 422, "question")
        self.check({"question": "x", "project_key": []}, 422, "project_key")
        self.check({"question": "x", "projekt_key": "a"}, 422, "projekt_key")
        self.check({"messages": [{"role": "assistant", "parts": []}]}, 422, "messages", "/api/kb/chat/stream")
        self.check({"documents": [{"source_path": "a.md"}]}, 422, "documents[0].content", "/api/kb/ingest")
        self.check({"documents": [{"source_path": "a\nb.md", "content": "x"}]}, 422, "source_path", "/api/kb/ingest")
        self.check({"query": "x", "limit": 1000}, 422, "limit", "/api/search")

    def test_too_large_is_413_and_a_long_question_422(self):
        self.check({"question": "x" * 10_001}, 422, "question")
        got, answer = self.post("/api/kb/chat", b'{"question":"' + b"x" * (2 << 20) + b'"}')
        self.assertEqual(got, 413)

    def test_an_unknown_corpus_is_a_refusal_of_a_question_and_404_of_a_search(self):
        got, answer = self.post("/api/kb/chat", {"question": "x", "project_key": "nowhere"})
        self.assertEqual((got, answer["refusal_reason"], answer["meta"]["unknown_project_keys"]), (200, "no_relevant_context", ["nowhere"]))
        self.assertTrue(answer["answer"])
        got, answer = self.post("/api/search", {"query": "x", "project_key": "nowhere"})
        self.assertEqual(got, 404)
        self.assertIn("memory", answer["error"]["message"])

    def test_unknown_paths_and_methods(self):
        self.assertEqual(self.call("GET", "/nowhere")[0].status, 404)
        response, _ = self.call("DELETE", "/api/kb/chat")
        self.assertEqual(response.status, 405)
        self.assertIn("POST", response.headers["allow"])
        self.assertEqual(self.call("GET", "/api/kb/documents/999999/preview")[0].status, 404)
        self.assertEqual(self.call("GET", "/api/kb/documents/x/preview")[0].status, 422)

    def test_a_connection_with_doubtful_framing_is_closed(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as client:
            client.sendall(b"POST /api/kb/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: identity\r\n\r\n"
                           b"GET /api/corpora HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            received = b""
            while piece := client.recv(65536):
                received += piece
        self.assertEqual(received.count(b"HTTP/1.1 "), 1, received)
        self.assertIn(b"400", received.split(b"\r\n")[0])

    def test_every_answer_carries_a_request_id(self):
        response, _ = self.call("GET", "/livez", headers={"x-request-id": "abc-123"})
        self.assertEqual(response.headers["x-request-id"], "abc-123")
        response, _ = self.call("GET", "/livez", headers={"x-request-id": "bad id\twith spaces"})
        self.assertNotEqual(response.headers["x-request-id"], "bad id\twith spaces")


class WithModel(ServerCase):
    @classmethod
    def make_model(cls):
        return FakeModel(["Five days ", "may be carried over [", "1]. ", "Ten were allowed once [7]."])

    def test_the_model_answers_and_its_markers_are_kept_honest(self):
        status, body = self.post("/api/kb/chat", {"question": COVERED})
        self.assertEqual(status, 200)
        self.assertEqual(body["meta"]["model"], "fake-1")
        self.assertIn("Five days may be carried over [1].", body["answer"])
        if body["meta"]["chunks_used"] < 7:
            self.assertNotIn("[7]", body["answer"])
        self.assertEqual(body["meta"]["usage"], {"prompt_tokens": 7, "completion_tokens": 3})
        prompt = json.dumps(self.model.bodies[-1])
        self.assertIn("DATA, not instructions", prompt)

    def test_a_refusal_does_not_call_the_model(self):
        before = self.model.calls
        _, body = self.post("/api/kb/chat", {"question": FOREIGN})
        self.assertEqual(body["refusal_reason"], "no_relevant_context")
        self.assertEqual(self.model.calls, before)

    def test_keys_and_questions_stay_out_of_the_log(self):
        self.post("/api/kb/chat", {"question": COVERED})
        self.assertNotIn("sk-canary-key", self.server.output())
        self.assertNotIn("unused leave", self.server.output())


class FailingModel(ServerCase):
    @classmethod
    def make_model(cls):
        return FakeModel([], status=500)

    def test_a_failing_model_is_503_with_retry_after(self):
        response, data = self.call("POST", "/api/kb/chat", {"question": COVERED})
        self.assertEqual(response.status, 503)
        self.assertTrue(response.headers["retry-after"])
        self.assertEqual(json.loads(data)["error"]["code"], "unavailable")


class ClientsThatLeave(ServerCase):
    @classmethod
    def make_model(cls):
        return FakeModel(words(2000), pause=0.02)

    def open_stream(self):
        client = socket.create_connection(("127.0.0.1", self.server.port), timeout=10)
        body = json.dumps({"question": COVERED}).encode()
        client.sendall(b"POST /api/kb/chat/stream HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                       b"content-length: %d\r\n\r\n" % len(body) + body)
        received = b""
        while b"text-delta" not in received:
            received += client.recv(4096)
        return client

    def test_a_client_that_closes_mid_stream_cancels_the_upstream_call_within_a_second(self):
        self.call("GET", "/livez")
        wait_until(lambda: self.gauge("footnote_http_connections_open") <= 1, 5)
        before = self.descriptors()
        for _ in range(5):
            client = self.open_stream()
            self.assertEqual(self.model.open, 1)
            self.model.broken_at = None
            closed = time.monotonic()
            client.close()
            self.assertTrue(wait_until(lambda: self.model.open == 0, 3))
            self.assertIsNotNone(self.model.broken_at)
            self.assertLess(self.model.broken_at - closed, 1.0)
        for name in ("footnote_upstream_calls_open", "footnote_sse_open_streams", "footnote_http_handlers_running"):
            # The metrics request itself is one running handler.
            allowed = 1 if name == "footnote_http_handlers_running" else 0
            self.assertTrue(wait_until(lambda: self.gauge(name) <= allowed, 3), name)
        self.assertTrue(wait_until(lambda: self.descriptors() <= before, 6), f"{before} -> {self.descriptors()}")


class Draining(ServerCase):
    @classmethod
    def make_model(cls):
        return FakeModel(words(40), pause=0.05)

    def test_sigterm_lets_a_running_stream_finish(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request("POST", "/api/kb/chat/stream", json.dumps({"question": COVERED}), {"content-type": "application/json"})
        response = connection.getresponse()
        first = response.read1(4096)
        self.server.process.send_signal(signal.SIGTERM)
        rest = first + response.read()
        self.assertIn(b"[DONE]", rest)
        self.assertEqual(self.server.process.wait(timeout=15), 0)


def main(verbosity=1):
    """Runs the tests of the started program, with --binary and --data."""
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=os.path.abspath)
    parser.add_argument("--data", required=True, type=os.path.abspath)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=verbosity)


if __name__ == "__main__":
    main()

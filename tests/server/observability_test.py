#!/usr/bin/env python3
"""Tests what a running server reports: traceparent, traces of turns, metrics and logs, and what none of them may contain.

usage: observability_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from http_test import COVERED, FOREIGN, ServerCase, wait_until  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
TRACE_ID, SPAN_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CALLER = f"00-{TRACE_ID}-{SPAN_ID}-01"


def footnote(*arguments, data, environment=None):
    done = subprocess.run([http_test.OPTIONS.binary, *arguments, "--data", data], capture_output=True, encoding="utf-8", timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr


def blocks(page, language):
    """The fenced code blocks of that language on a documentation page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)


def shape(value):
    """The keys of a JSON value, recursively; lists are represented by their first entry."""
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


class Observed(ServerCase):
    def lines(self):
        return [json.loads(line) for line in self.server.output().splitlines() if line.startswith("{")]

    def ask(self, question=COVERED, headers=None):
        response, data = self.call("POST", "/api/kb/chat", {"question": question}, headers)
        self.assertEqual(response.status, 200, data)
        return response, json.loads(data)

    def trace(self, turn):
        response, data = self.call("GET", f"/api/turns/{turn}/trace")
        return response.status, json.loads(data)


class WithModel(Observed):
    @classmethod
    def make_model(cls):
        return FakeModel(["Five days ", "may be carried over [1]."])


class Tracing(WithModel):
    def test_a_request_joins_its_callers_trace_and_takes_the_model_along(self):
        response, body = self.ask(headers={"traceparent": CALLER, "x-request-id": "req.1"})
        version, trace, span, flags = response.headers["traceparent"].split("-")
        self.assertEqual((version, trace, flags), ("00", TRACE_ID, "01"))
        self.assertNotEqual(span, SPAN_ID)
        sent = self.model.headers[-1]
        self.assertEqual(sent["traceparent"], f"00-{TRACE_ID}-{span}-01")
        self.assertEqual(sent["x-request-id"], "req.1")
        self.assertNotIn("tracestate", sent)
        _, kept = self.trace(body["meta"]["turn_id"])
        self.assertEqual((kept["trace_id"], kept["span_id"], kept["request_id"]), (TRACE_ID, span, "req.1"))
        self.assertTrue(wait_until(lambda: any(line.get("span_id") == span for line in self.lines()), 10))
        line = next(line for line in self.lines() if line.get("span_id") == span)
        self.assertEqual((line["trace_id"], line["request_id"], line["route"]), (TRACE_ID, "req.1", "/api/kb/chat"))

    def test_a_malformed_caller_is_ignored(self):
        for header in (CALLER.upper(), CALLER.replace("00-", "ff-", 1), f"00-{'0' * 32}-{SPAN_ID}-01", CALLER + "-more", "nonsense"):
            response, _ = self.call("GET", "/livez", headers={"traceparent": header})
            self.assertEqual(response.status, 200)
            self.assertRegex(response.headers["traceparent"], r"^00-[0-9a-f]{32}-[0-9a-f]{16}-03$")
            self.assertNotIn(TRACE_ID, response.headers["traceparent"])
        response, _ = self.call("GET", "/livez", headers={"traceparent": CALLER.replace("00-", "cc-", 1) + "-of-the-future"})
        self.assertIn(TRACE_ID, response.headers["traceparent"])


class Traces(WithModel):
    def test_a_turn_can_be_read_back(self):
        _, body = self.ask()
        turn = body["meta"]["turn_id"]
        status, trace = self.trace(turn)
        self.assertEqual(status, 200)
        self.assertEqual((trace["turn_id"], trace["generation"]), (turn, body["meta"]["generation"]))
        self.assertEqual(trace["gate"], body["meta"]["gate"])
        self.assertEqual(trace["model"]["name"], "fake-1")
        self.assertEqual((trace["model"]["prompt_tokens"], trace["model"]["completion_tokens"]), (7, 3))
        self.assertEqual([stage["stage"] for stage in trace["stages"]],
                         ["embed", "vector", "keyword", "fuse", "late", "fetch", "judge", "select", "gate", "retrieve", "prompt", "llm", "cite", "store"])
        for candidate in trace["candidates"]:
            self.assertAlmostEqual(candidate["score"], sum(term["contribution"] for term in candidate["terms"]), places=4)
        cited = [candidate for candidate in trace["candidates"] if candidate["cut"] is None]
        self.assertEqual([(candidate["number"], candidate["chunk_id"]) for candidate in cited], [(1, body["citations"][0]["chunk_id"])])
        self.assertEqual(sum(cut["count"] for cut in trace["cuts"]) + len(cited), trace["candidates_found"])
        self.assertNotIn("unused leave", json.dumps(trace))

    def test_a_refused_turn_and_a_streamed_one_too(self):
        _, body = self.ask(FOREIGN)
        _, trace = self.trace(body["meta"]["turn_id"])
        self.assertEqual(trace["outcome"]["refusal_reason"], "no_relevant_context")
        self.assertIsNone(trace["model"])
        self.assertLess(trace["gate"]["evidence"], trace["gate"]["threshold"])
        _, data = self.call("POST", "/api/kb/chat/stream", {"question": COVERED})
        chunks = [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: {")]
        turn = next(chunk["messageId"] for chunk in chunks if chunk["type"] == "start")
        self.assertEqual(next(chunk["messageMetadata"]["turnId"] for chunk in chunks if chunk["type"] == "finish"), turn)
        self.assertEqual(self.trace(turn)[1]["outcome"]["kind"], "answer")

    def test_what_is_not_there_is_404(self):
        for turn in ("turn_nobody", "x", "%2e%2e", "turn_%00"):
            response, _ = self.call("GET", f"/api/turns/{turn}/trace")
            self.assertIn(response.status, (400, 404), turn)
        self.assertEqual(self.trace("turn_nobody")[0], 404)
        self.assertEqual(self.call("POST", "/api/turns/turn_nobody/trace", {})[0].status, 405)

    def test_the_command_line_reads_it_through_the_server(self):
        _, body = self.ask()
        turn = body["meta"]["turn_id"]
        code, out, err = footnote("trace", turn, "--json", data=self.server.data)
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out), self.trace(turn)[1])
        code, out, err = footnote("trace", turn, data=self.server.data)
        self.assertEqual(code, 0, err)
        for words in (turn, "together", "gate: answerable", "model: fake-1", "cited [1]", "weights: vector 0.55"):
            self.assertIn(words, out)
        self.assertNotIn("\x1b", out)
        self.assertIn("\x1b[", footnote("trace", turn, "--color", "always", data=self.server.data)[1])
        code, _, err = footnote("trace", "turn_nobody", data=self.server.data)
        self.assertEqual(code, 1)
        self.assertIn("turn_nobody", err)

    def test_the_route_is_described(self):
        described = json.loads(self.call("GET", "/openapi.json")[1])["paths"]["/api/turns/{id}/trace"]["get"]
        self.assertEqual([parameter["name"] for parameter in described["parameters"]], ["id"])

    def test_the_form_is_the_documented_one(self):
        example = json.loads(blocks("observability.md", "json")[0])
        _, body = self.ask()
        _, trace = self.trace(body["meta"]["turn_id"])
        self.assertEqual(shape(trace), shape(example))

    def test_documented_commands_run(self):
        _, body = self.ask()
        commands = blocks("observability.md", "sh")
        self.assertEqual(len(commands), 2)
        for block in commands:
            script = block.replace("http://127.0.0.1:7700", self.server.url).replace("footnote ", f"'{http_test.OPTIONS.binary}' ")
            fetch = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
            script = script.replace("curl -s ", f"'{sys.executable}' -c '{fetch}' ")  # curl may be missing
            environment = {**os.environ, "TURN": body["meta"]["turn_id"], "FOOTNOTE_DATA": self.server.data}
            done = subprocess.run(["sh", "-eu", "-c", script], env=environment, capture_output=True, encoding="utf-8", timeout=120)
            self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}\n{done.stderr}")


class Metrics(WithModel):
    def documented(self):
        rows = re.findall(r"^\| `(footnote_\w+)` \| (\w+) \|([^|]*)\|([^|]+)\|$", (DOCS / "metrics.md").read_text(), re.M)
        for name, _, _, meaning in rows:
            self.assertTrue(meaning.strip(), name)
        return {name: (kind, frozenset(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _ in rows}

    def served(self):
        text = self.call("GET", "/metrics")[1].decode()
        kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
        labels = {name: set() for name in kinds}
        for series, found in re.findall(r"^(\w+?)(?:\{(.*)\})? \S+$", text, re.M):
            name = series if series in kinds else re.sub(r"_(bucket|sum|count)$", "", series)
            labels[name] |= {label for label in re.findall(r'(\w+)="', found) if label != "le"}
        return {name: (kind, frozenset(labels[name])) for name, kind in kinds.items()}

    def test_the_page_and_the_server_name_the_same(self):
        self.ask()
        self.ask(FOREIGN)
        self.call("POST", "/api/kb/chat/stream", {"question": COVERED})
        self.post("/api/kb/ingest", {"documents": [{"source_path": "kiln.md", "content": "# Kiln\n\nThe kiln is named Vesuvius."}]})
        self.call("GET", "/nowhere")
        documented, served = self.documented(), self.served()
        self.assertGreater(len(documented), 15)
        self.assertEqual(served, documented)

    def test_what_clients_choose_makes_no_series(self):
        for i in range(20):
            self.call("GET", f"/nowhere/{i}")
            self.call("GET", f"/api/turns/turn_{i}/trace?q={i}", headers={"user-agent": f"agent-{i}"})
            self.call(f"METHOD{i}", "/")
        text = self.call("GET", "/metrics")[1].decode()
        requests = [line for line in text.splitlines() if line.startswith("footnote_http_requests_total{")]
        self.assertLess(len(requests), 20, requests)
        self.assertIn('footnote_http_requests_total{route="none",method="GET",code="404"} ', text)
        self.assertIn('footnote_http_requests_total{route="/api/turns/{id}/trace",method="GET",code="404"} ', text)
        self.assertIn('method="other"', text)

    def test_counts_follow_what_happened(self):
        def value(series):
            return float(re.search(rf"^{re.escape(series)} (\S+)$", self.call("GET", "/metrics")[1].decode(), re.M)[1])

        series = ('footnote_turns_total{outcome="answer"}', 'footnote_refusals_total{reason="no_relevant_context"}',
                  'footnote_retrieval_duration_seconds_count{stage="vector"}', "footnote_ttft_seconds_count",
                  'footnote_answer_duration_seconds_count{stage="store"}', 'footnote_llm_tokens_total{kind="prompt"}')
        before = [value(name) for name in series]
        self.ask()
        self.ask(FOREIGN)
        self.post("/api/search", {"query": COVERED})
        self.assertEqual([value(name) - was for name, was in zip(series, before)], [1, 1, 4, 1, 2, 7], "a model's turn also looks for rejected approaches")
        self.assertGreaterEqual(value('footnote_upstream_requests_total{provider="openai",code="200"}'), 1)
        self.assertEqual(value("footnote_index_lag_seconds"), 0)


class Logs(Observed):
    environment = {"FOOTNOTE_LOG_LEVEL": "warn,http=info,answer=debug"}

    def test_each_module_has_its_level_and_a_line_its_documented_form(self):
        def of_the_route():
            return next((line for line in self.lines() if line.get("route") == "/api/kb/chat"), None)

        self.ask()
        self.assertTrue(wait_until(of_the_route, 10), self.server.output())
        self.assertLessEqual({line["module"] for line in self.lines()}, {"http", "answer"})
        example = json.loads(blocks("observability.md", "json")[1])
        line = of_the_route()
        self.assertEqual(list(line), list(example))
        self.assertEqual({key: type(value) for key, value in line.items()}, {key: type(value) for key, value in example.items()})

    def test_the_documented_modules_are_those_that_there_are(self):
        code, _, err = footnote("doctor", "--log-level", "info,nonesuch=debug", data=self.server.data)
        self.assertEqual(code, 2)
        listed = re.search(r"there are (\w+(?:, \w+)*)", err)[1].split(", ")
        page = (DOCS / "observability.md").read_text()
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", page.split("| module |")[1], re.M), listed)
        sources = "".join(path.read_text() for path in (DOCS.parent / "src").rglob("*.cpp") if not path.name.endswith("_test.cpp"))
        for module in listed:
            self.assertRegex(sources, rf'log\(LogLevel::k\w+, "{module}"', "a module that never logs")


class Privacy(Observed):
    """Marks every text from a person or an upstream, runs successful and failing requests with them at the most verbose
    log level, and searches for the marks where they must not appear."""
    environment = {}

    @classmethod
    def make_model(cls):
        return FakeModel(["The kiln ", "is named canary-answer [1]."])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Needs the model's address, which the base class has just set.
        cls.server.__exit__(None, None, None)
        cls.server.environment.update({"FOOTNOTE_LOG_LEVEL": "debug", "LLM_API_KEY": "sk-canary-modelkey-0123456789abcdef"})
        cls.server.__enter__()

    HEADERS = {"authorization": "Bearer fn_live_canary-bearer0123456789", "cookie": "session=canary-cookie", "x-api-key": "sk-canary-apikey",
               "user-agent": "canary-agent", "referer": "http://127.0.0.1/canary-referer", "tracestate": "canary=canary-tracestate",
               "traceparent": "00-canary-traceparent", "x-request-id": "canary requestid", "x-forwarded-for": "canary-forwarded"}
    QUESTION = "What is the kiln on floor nine named, canary-question@example.com?"

    def raw(self, data):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass

    def exercise(self):
        """Returns the id of the turn with marked texts."""
        send = lambda method, path, body=None: self.call(method, path, body, self.HEADERS)
        document = {"source_path": "canary-path/kiln.md", "title": "Kiln canary-title",
                    "content": "# Kiln\n\nThe kiln on floor nine is named Vesuvius. The password is canary-content, sk-canary-secretkey."}
        send("POST", "/api/kb/ingest", {"documents": [document], "project_key": "kilns"})
        question = {"question": self.QUESTION, "project_key": "kilns"}
        response, data = send("POST", "/api/kb/chat?token=canary-query", question)
        self.assertEqual(response.status, 200, data)
        self.assertIn(b"canary-answer", data)
        send("POST", "/api/kb/chat/stream?token=canary-query", question)
        send("POST", "/api/search", {"query": self.QUESTION, "project_key": "kilns"})
        # Failing requests.
        for body in (b'{"question": "canary-malformed"', b'{"question": "x", "canary-field": 1}', b'"canary-malformed"',
                     b'{"question": "\xff canary-malformed"}', json.dumps({"question": "x", "project_key": "canary-corpus"}).encode(),
                     json.dumps({"question": "canary-long " * 2000}).encode(), b"canary-huge" * 200_000):
            send("POST", "/api/kb/chat", body)
            send("POST", "/api/kb/chat/stream", body)
        send("POST", "/api/kb/ingest", {"documents": [{"source_path": "canary\npath.md", "content": "canary-content"}]})
        send("POST", "/api/kb/ingest", {"documents": [{"source_path": "x.bin", "content": "canary-content\x00\x01\x02" * 50}], "project_key": "kilns"})
        send("GET", "/canary-urlpath?key=canary-query")
        send("GET", "/api/kb/documents/canary-urlpath/preview?version=canary-query")
        send("GET", "/api/turns/canary-urlpath/trace")
        send("DELETE", "/api/kb/chat?key=canary-query")
        self.call("GET", "/livez", headers={"host": "canary-host.example"})
        self.call("GET", "/livez", headers={"origin": "http://canary-origin.example"})
        for data in (b"CANARY-METHOD / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /%zzcanary-urlpath HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"canary-longheader" * 2000 + b"\r\n\r\n", b"canary-junk\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Bad\x01: canary-badheader\r\n\r\n",
                     b"POST /api/kb/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\ncanary-cutshort"):
            self.raw(data)
        # Upstream failures.
        model = self.model
        for status in (400, 401, 404, 429, 500):
            model.status, model.error_body = status, b'{"error":{"message":"canary-upstream ' + self.QUESTION.encode() + b'"}}'
            send("POST", "/api/kb/chat", question)
        model.status = 200
        for raw in (b"data: {canary-upstream\n\n", b'data: {"error":{"message":"canary-upstream"}}\n\n', b"canary-upstream",
                    b'data: {"choices":[{"delta":{"content":"canary-answer half"}}]}\n\n'):
            model.raw = raw
            send("POST", "/api/kb/chat", question)
            send("POST", "/api/kb/chat/stream", question)
        model.raw = None
        return json.loads(send("POST", "/api/kb/chat", question)[1])["meta"]["turn_id"]

    def test_marked_texts_are_found_where_they_belong_alone(self):
        _, other = self.ask()  # created before any marks, in another corpus
        marked = self.exercise()
        _, metrics = self.call("GET", "/metrics")
        _, own = self.trace(marked)
        self.assertIn("canary-path/kiln.md", json.dumps(own), "paths and titles belong to the trace of their turn")
        for candidate in own["candidates"]:
            del candidate["source_path"], candidate["title"]
        self.server.process.terminate()
        self.assertEqual(self.server.process.wait(timeout=30), 0)
        log = self.server.output()
        for module in ("answer", "llm", "ingest"):
            self.assertIn(f'"level":"debug","module":"{module}"', log, "it did talk")
        self.assertIn('code="503"', metrics.decode(), "things did go wrong")
        for name, text in (("log", log), ("metrics", metrics.decode()), ("its own trace", json.dumps(own))):
            self.assertNotRegex(text.lower(), "canary|kiln on floor|vesuvius", name)
        for line in log.splitlines():
            if not line.startswith(("Footnote ", "Ctrl-C", "  try:")):
                self.assertLessEqual({"ts", "level", "module", "msg"}, set(json.loads(line)), line)
        code, out, err = footnote("trace", other["meta"]["turn_id"], "--json", data=self.server.data)
        self.assertEqual(code, 0, err)
        self.assertNotIn("canary", out, "a trace of another turn")

    def test_the_command_line_keeps_its_log_clean_too(self):
        with tempfile.TemporaryDirectory(prefix="footnote-privacy-") as folder:
            documents = pathlib.Path(folder, "docs")
            documents.mkdir()
            (documents / "kiln.md").write_text("# Kiln\n\nThe kiln on floor nine is named Vesuvius, canary-content.\n")
            (documents / "empty.md").write_text("")
            data = os.path.join(folder, "data")
            environment = {"LLM_BASE_URL": self.model.url, "LLM_MODEL": "fake-1", "LLM_API_KEY": "sk-canary-modelkey"}
            code, _, err = footnote("ingest", str(documents), "--log-level", "debug", data=data, environment=environment)
            self.assertEqual(code, 4, err)
            self.assertNotIn("canary", err)
            code, out, err = footnote("ask", self.QUESTION, "--log-level", "debug", data=data, environment=environment)
            self.assertEqual(code, 0, err)
            self.assertIn("canary-answer", out)
            self.assertIn('"module":"answer"', err)
            self.assertNotIn("canary", err)
            turn = re.search(r"footnote trace (turn_\w+)", out)[1]
            code, out, err = footnote("trace", turn, data=data)
            self.assertEqual(code, 0, err)
            self.assertIn("kiln.md:", out)
            self.assertNotIn("canary", out + err)


if __name__ == "__main__":
    http_test.main()

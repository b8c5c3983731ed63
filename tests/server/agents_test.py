#!/usr/bin/env python3
"""Agents, their curated answers, gaps and webhooks, by the real binary.

usage: agents_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import argparse
import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import ServerCase, wait_until  # noqa: E402
from server import Server  # noqa: E402

CSV = {"content-type": "text/csv", "x-footnote-request": "1"}
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.messages.append((dict((name.lower(), value) for name, value in self.headers.items()), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class AgentsCase(ServerCase):
    def answer(self, method, path, body=None, headers=None):
        response, data = self.call(method, path, body, headers)
        return response.status, json.loads(data)

    def make(self, name, **settings):
        status, agent = self.answer("POST", "/api/admin/agents", {"name": name, "settings": settings})
        self.assertEqual(status, 201, agent)
        return agent


class Agents(AgentsCase):
    def test_the_page_about_it_works_as_written(self):
        block = re.search(r"^```sh\n(.*?)^```$", (DOCS / "agents.md").read_text(), re.M | re.S).group(1)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["bash", "-ec", block.replace("localhost:7700", f"127.0.0.1:{self.server.port}")], capture_output=True,
                                  text=True, timeout=60, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for expected in ('"version":1', '"imported":2', '"gaps":[]', '"days":[]', '"secret":"whsec_'):
            self.assertIn(expected, done.stdout)
        self.assertNotIn('"error"', done.stdout)

    def test_an_agent_outlives_a_restart(self):
        agent = self.make("Kept", retention_days=30)
        self.answer("POST", f"/api/admin/agents/{agent['id']}/publish")
        self.server.__exit__(None, None, None)
        type(self).server = Server(http_test.OPTIONS.binary, self.server.data, self.environment)
        self.server.__enter__()
        status, kept = self.answer("GET", f"/api/admin/agents/{agent['id']}")
        self.assertEqual((status, kept["published_version"], kept["settings"]), (200, 1, agent["settings"]))

    def test_its_corpus_is_ingested_and_asked_by_its_name(self):
        self.make("Boots")
        document = {"source_path": "returns.md", "content": "# Returns\n\nBoots may be sent back within forty days."}
        status, body = self.post("/api/kb/ingest", {"project_key": "Boots", "documents": [document]})
        self.assertEqual(status, 200, body)
        status, body = self.post("/api/kb/chat", {"project_key": "Boots", "question": "Within how many days may boots be sent back?"})
        self.assertIn("forty", body["answer"])

    def test_a_body_past_its_bound_is_refused(self):
        agent = self.make("Bounds")
        path = f"/api/admin/curated/import?agent_id={agent['id']}"
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.putrequest("POST", path)
        for name, value in {**CSV, "content-length": str((16 << 20) + 1)}.items():
            connection.putheader(name, value)
        connection.endheaders()  # told by its length alone
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        self.assertEqual(self.answer("POST", path, b"a,b\n", CSV)[0], 422)


class Webhooks(AgentsCase):
    @classmethod
    def setUpClass(cls):
        cls.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        cls.receiver.messages = []
        threading.Thread(target=cls.receiver.serve_forever, daemon=True).start()
        cls.environment = {"WEBHOOKS_PRIVATE_ADDRESSES": "true"}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.receiver.shutdown()
        cls.receiver.server_close()

    def test_an_ingest_is_told_and_signed(self):
        url = f"http://127.0.0.1:{self.receiver.server_address[1]}/in"
        _, made = self.answer("POST", "/api/admin/webhooks", {"url": url, "events": ["source.indexed"]})
        document = {"source_path": "kiln.md", "content": "# Kiln\n\nThe kiln is named Vesuvius."}
        self.assertEqual(self.post("/api/kb/ingest", {"documents": [document]})[0], 200)
        self.assertTrue(wait_until(lambda: self.receiver.messages, 30))
        headers, body = self.receiver.messages[0]
        self.assertEqual(json.loads(body)["type"], "source.indexed")
        self.assertEqual(json.loads(body)["data"]["corpus"], "memory")
        key = base64.b64decode(made["secret"].removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], expected)


class PrivateAddresses(AgentsCase):
    def test_they_are_not_reached_by_default(self):
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        receiver.messages = []
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        try:
            url = f"http://127.0.0.1:{receiver.server_address[1]}/in"
            self.answer("POST", "/api/admin/webhooks", {"url": url, "events": ["source.indexed"]})
            document = {"source_path": "kiln.md", "content": "# Kiln\n\nThe kiln is named Etna."}
            self.post("/api/kb/ingest", {"documents": [document]})
            failed = lambda: self.gauge('footnote_webhooks_total{result="failed"}')
            self.assertTrue(wait_until(lambda: failed() > 0, 30))
            self.assertEqual(receiver.messages, [])
        finally:
            receiver.shutdown()
            receiver.server_close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    options, rest = parser.parse_known_args()
    options.binary, options.data = os.path.abspath(options.binary), os.path.abspath(options.data)
    http_test.OPTIONS = options
    unittest.main(argv=[sys.argv[0], *rest])

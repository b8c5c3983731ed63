#!/usr/bin/env python3
"""Tests agents, curated answers, gaps and webhooks with the real binary.

usage: agents_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
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
from site_admin import admin, published_agent  # noqa: E402

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
        return admin(self.server.port, "agents", {"name": name, "settings": settings})

    def publish(self, name, **settings):
        return published_agent(self.server.port, settings, name)

    def open(self, agent, **more):
        """A visitor on a page of the server itself."""
        headers = {"origin": self.server.url}
        return self.answer("POST", "/api/v1/widget/init", {"agent_id": agent, **more}, headers)

    def visit(self, agent, message, **more):
        opened = self.open(agent, **more)[1]
        headers = {"origin": self.server.url, "authorization": "Bearer " + opened["token"]}
        status, body = self.answer("POST", "/api/v1/widget/messages", {"message": message}, headers)
        self.assertEqual(status, 200, body)
        return {**body["data"], "visitor_id": opened["visitor_id"], "headers": headers}


class FirstSteps(AgentsCase):
    def test_the_widgets_page_sets_one_up_as_written(self):
        steps = re.search(r"^## Set it up\n(.*?)^## ", (DOCS / "widget.md").read_text(), re.M | re.S)[1]
        ingest, create, publish = re.findall(r"^   ```\n(.*?)^   ```$", steps, re.M | re.S)[:3]
        origin = {"origin": "http://localhost:8000"}
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "site" / "index.html"
            page.parent.mkdir()
            page.write_text('<link rel="canonical" href="https://kilns.example/"><h1>Kilns</h1><p>The kiln is fired every ninth day.</p>')

            def run(script):
                script = script.replace("localhost:7700", f"127.0.0.1:{self.server.port}").replace("footnote ", f"'{http_test.OPTIONS.binary}' ")
                done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=60, cwd=folder,
                                      env={**os.environ, "FOOTNOTE_DATA": self.server.data})
                self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}\n{done.stderr}")
                return done.stdout

            run(ingest)
            agent = json.loads(run(create))["id"]
            status, body = self.answer("POST", "/api/v1/widget/init", {"agent_id": agent}, origin)
            self.assertEqual((status, body["error"]["code"]), (404, "agent_not_found"), "a draft is not for visitors")
            self.assertIn('"version":1', run(publish.replace("agt_...", agent)))
        status, opened = self.answer("POST", "/api/v1/widget/init", {"agent_id": agent}, origin)
        self.assertEqual(status, 200, opened)
        headers = {**origin, "authorization": "Bearer " + opened["token"]}
        status, body = self.answer("POST", "/api/v1/widget/messages", {"message": "How often is the kiln fired?"}, headers)
        self.assertEqual(status, 200, body)
        self.assertIn("every ninth day", json.dumps(body))
        self.assertIn("https://kilns.example/", json.dumps(body))


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
        connection.endheaders()  # refused by its declared length
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        self.assertEqual(self.answer("POST", path, b"a,b\n", CSV)[0], 422)


class Visits(AgentsCase):
    def test_an_ingest_that_answers_a_gap_closes_it_and_is_answered_from_at_once(self):
        agent = self.publish("Kilns")
        question = "What is the big kiln of the pottery called?"
        for _ in range(2):
            self.assertEqual(self.visit(agent, question)["outcome"], "unknown")
        gaps = lambda: admin(self.server.port, f"gaps?agent_id={agent}", method="GET")["gaps"]
        self.assertEqual([(gap["question"], gap["status"], gap["occurrences"]) for gap in gaps()], [(question, "open", 2)])
        documents = [{"source_path": f"kiln{i}.md", "content": text} for i, text in enumerate((
            "# The pottery\n\nThe big kiln of the pottery is called Vesuvius.", "# Kilns\n\nThe pottery has a big kiln, which is called Vesuvius."))]
        self.assertEqual(self.post("/api/kb/ingest", {"project_key": "Kilns", "documents": documents})[0], 200)
        self.assertIn("Vesuvius", self.visit(agent, question)["content"])
        self.assertTrue(wait_until(lambda: gaps()[0]["status"] == "answered", 60), gaps())

    def test_versions_are_rolled_back_for_visitors(self):
        agent = self.publish("Rolled", persona={"name": "Ada", "tone": "dry"})
        admin(self.server.port, f"agents/{agent}", {"settings": {"persona": {"name": "Bob", "tone": "loud"}}}, "PATCH")
        self.assertEqual(self.open(agent)[1]["agent"]["persona"]["name"], "Ada")
        self.assertEqual(self.open(agent, playground=True)[1]["agent"]["persona"]["name"], "Bob")
        admin(self.server.port, f"agents/{agent}/publish", {})
        self.assertEqual(self.open(agent)[1]["agent"]["persona"]["name"], "Bob")
        admin(self.server.port, f"agents/{agent}/rollback", {"version": 1})
        self.assertEqual(self.open(agent)[1]["agent"]["persona"]["name"], "Ada")

    def test_usage_counts_turns_and_the_playground_counts_nothing(self):
        agent = self.publish("Counted")
        admin(self.server.port, f"curated?agent_id={agent}", {"pattern": "opening hours", "answer": "From 9 to 5."})
        usage = lambda: admin(self.server.port, f"usage?agent_id={agent}", method="GET")["days"]
        self.visit(agent, "opening hours?", playground=True)
        self.visit(agent, "Who painted the Night Watch?", playground=True)
        self.assertEqual(usage(), [])
        self.visit(agent, "opening hours?")
        self.visit(agent, "Who painted the Night Watch?")
        self.assertEqual([(day["turns"], day["curated"], day["refused"]) for day in usage()], [(2, 1, 1)])
        self.assertEqual(len(admin(self.server.port, f"gaps?agent_id={agent}", method="GET")["gaps"]), 1)

    def test_a_visitor_is_exported_and_erased(self):
        agent = self.publish("Erased")
        visited = self.visit(agent, "Is my secret word swordfish kept?")
        path = f"visitors/{visited['visitor_id']}"
        self.assertIn("swordfish", json.dumps(admin(self.server.port, path, method="GET")))
        self.assertIn("swordfish", json.dumps(admin(self.server.port, f"gaps?agent_id={agent}", method="GET")))
        admin(self.server.port, path, method="DELETE")
        self.assertNotIn("swordfish", json.dumps(self.answer("GET", "/api/admin/" + path)[1]))
        self.assertEqual(admin(self.server.port, f"gaps?agent_id={agent}", method="GET")["gaps"], [])
        self.assertEqual(self.call("GET", f"/api/turns/{visited['message_id']}/trace")[0].status, 404)
        rated = self.call("POST", f"/api/v1/widget/messages/{visited['message_id']}/feedback", {"rating": "up"}, visited["headers"])
        self.assertEqual(rated[0].status, 404)

    def test_a_removed_agent_is_as_one_that_never_was(self):
        agent = self.publish("Gone", retention_days=1)
        visited = self.visit(agent, "Who painted the Night Watch?")
        admin(self.server.port, f"agents/{agent}", method="DELETE")
        status, body = self.open(agent)
        self.assertEqual((status, body), self.open("agt_0000000000000000"))
        self.assertEqual(self.answer("POST", "/api/v1/widget/messages", {"message": "hi"}, visited["headers"])[0], 404)


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
        told = lambda: [message for message in self.receiver.messages if json.loads(message[1])["type"] == "source.indexed"]
        self.assertTrue(wait_until(told, 30))
        headers, body = told()[0]
        self.assertEqual(json.loads(body)["data"]["corpus"], "memory")
        key = base64.b64decode(made["secret"].removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], expected)

    def test_a_visitors_turn_and_the_gap_that_it_opened_are_told(self):
        url = f"http://127.0.0.1:{self.receiver.server_address[1]}/in"
        admin(self.server.port, "webhooks", {"url": url, "events": ["turn.completed", "gap.opened"]})
        agent = self.publish("Told")
        visited = self.visit(agent, "Who painted the Night Watch?")
        of = lambda kind: [json.loads(body)["data"] for _, body in self.receiver.messages if json.loads(body)["type"] == kind]
        self.assertTrue(wait_until(lambda: of("turn.completed") and of("gap.opened"), 30))
        self.assertEqual([turn["message_id"] for turn in of("turn.completed")], [visited["message_id"]])
        self.assertEqual([(gap["agent_id"], gap["question"]) for gap in of("gap.opened")], [(agent, "Who painted the Night Watch?")])


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
    http_test.main()

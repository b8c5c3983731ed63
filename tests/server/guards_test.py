#!/usr/bin/env python3
"""Tests the real binary against what must not get in, stay in or get out: secrets, deleted text, files of other modes, news of tenants.

usage: guards_test.py --binary FOOTNOTE
The model is tiny; answers are not tested here.
"""
import argparse
import base64
import json
import os
import pathlib
import random
import shutil
import stat
import string
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_model  # noqa: E402
from server import Server  # noqa: E402

OPTIONS = None
RANDOM = random.Random(7)


def characters(count, alphabet=string.ascii_letters + string.digits):
    return "".join(RANDOM.choices(alphabet, k=count))


def private_key(label):
    body = "\n".join(characters(64, string.ascii_letters + string.digits + "+/") for _ in range(8))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def secrets():
    """A text with a secret, and the part of it that must not be found anywhere."""
    upper32 = string.ascii_uppercase + "234567"
    tokens = [("AKIA", 16, upper32), ("ASIA", 16, upper32), ("ghp_", 36, None), ("gho_", 36, None), ("ghs_", 36, None), ("glpat-", 20, None),
              ("xoxb-" + "123456789012-", 24, None), ("xoxp-" + "123456789012-", 24, None), ("AIza", 35, None), ("GOCSPX-", 28, None),
              ("sk_live_", 24, None), ("rk_live_", 24, None), ("sk_test_", 24, None), ("whsec_", 32, None), ("sk-proj-", 40, None),
              ("sk-ant-api03-", 40, None), ("hf_", 34, None), ("npm_", 36, None), ("dop_v1_", 64, "0123456789abcdef"),
              ("shpat_", 32, "0123456789abcdef"), ("SG." + characters(22) + ".", 43, None), ("fn_live_", 36, None), ("github_pat_", 82, None),
              ("hooks.slack.com/services/T" + characters(8) + "/B" + characters(8) + "/", 24, None)]
    out = []
    for prefix, count, alphabet in tokens:
        rest = characters(count, alphabet or string.ascii_letters + string.digits)
        rest = rest[:-2] + ("27" if alphabet == upper32 else "79")  # a digit in each
        out.append((f"Use {prefix}{rest} for it.", rest))
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "ENCRYPTED PRIVATE KEY"):
        block = private_key(label)
        out.append((block, block.split("\n")[4]))
    for form in ('password = "{}"', "DB_PASSWORD={}", "api_key: {}", '"client_secret": "{}"', "'secret' => '{}',", "token := `{}`",
                 "aws_secret_access_key = {}", "<password>{}</password>", "Authorization: Bearer {}", 'curl -H "X-Api-Key: {}"',
                 "postgres://app:{}@db.internal/app", "AccountKey={};", "**Password:** {}", "export SLACK_TOKEN={}", "auth_token: '{}'",
                 "mysql://root:{}@10.0.0.1:3306/", "  passphrase: {}", '\\"db_password\\": \\"{}\\"', "$config['password'] = '{}';", "APP_KEY=base64:{}"):
        value = "q7" + characters(22) + "Z9"
        out.append((form.format(value), value))
    claims = base64.urlsafe_b64encode(json.dumps({"sub": characters(8), "name": "x"}).encode()).decode().rstrip("=")
    out.append((f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{claims}.{characters(43)}", claims))
    return out


class Case(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="footnote-guards-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.data = self.work / "data"
        self.docs = self.work / "docs"
        self.environment = {**os.environ, "FOOTNOTE_MODELS": str(tiny_model.write(self.work / "models")), "MODEL_NAME": tiny_model.NAME}

    def serve(self, **environment):
        self.data.mkdir(exist_ok=True)
        server = Server(OPTIONS.binary, str(self.data), {**self.environment, **environment})
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server

    def run_footnote(self, *words, code=0, umask=-1):
        done = subprocess.run([OPTIONS.binary, *map(str, words), "--data", str(self.data)], env=self.environment, capture_output=True,
                              text=True, timeout=300, umask=umask)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def write(self, name, text):
        path = self.docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @staticmethod
    def call(server, path, body=None, method=None, key=None, headers=None):
        """Status, parsed body and headers."""
        data = None if body is None else json.dumps(body).encode()
        head = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
        request = urllib.request.Request(server.url + path, data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, json.loads(response.read() or b"null"), response.headers
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null"), error.headers

    def stored_bytes(self):
        return b"\0".join(path.read_bytes() for path in self.data.rglob("*") if path.is_file())

    def key(self, *arguments):
        return self.run_footnote("keys", "create", "--name", "k", *arguments).stdout.strip().split()[-1]


class Secrets(Case):
    def events(self, *flags):
        done = self.run_footnote("ingest", self.docs, "--json", *flags)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stdout + done.stderr

    def check_nothing_leaked(self, values, *texts):
        stored = self.stored_bytes()
        for value in values:
            self.assertNotIn(value.encode(), stored)
            for text in texts:
                self.assertNotIn(value, text)

    def write_all(self):
        """More than sixty secrets: in documents, in files with names of credential files, in ignored files."""
        values, expected = [], set()
        for number, (text, value) in enumerate(secrets()):
            name = f"page-{number}.{('md', 'txt', 'html')[number % 3]}"
            body = f"<p>{text.replace('<', '&lt;')}</p>" if name.endswith("html") else text
            self.write(name, f"Plain words about shipping.\n\n{body}\n\nMore plain words.\n")
            values.append(value)
            expected.add(name)
        for name in ("id_rsa", "deploy/id_ed25519", "credentials.txt", "credentials", "tls.key", ".env", ".env.local", ".npmrc",
                     ".aws/credentials", "vault.kdbx", "terraform.tfstate"):
            value = characters(30)
            self.write(name, f"secret words {value}\n")
            values.append(value)
        for name in ("ignored.md", "private/notes.md", "build/out.md"):
            value = characters(30)
            self.write(name, f"words that are nobody's business {value}\n")
            values.append(value)
        self.write(".gitignore", "ignored.md\nprivate/\n")
        self.write(".footnoteignore", "/build/\n")
        return values, expected

    def test_nothing_of_a_folder_full_of_secrets_is_stored(self):
        values, expected = self.write_all()
        self.assertGreaterEqual(len(values), 60)
        events, output = self.events()
        self.check_nothing_leaked(values, output)
        told = {event["path"] for event in events if event["event"] == "secret"}
        self.assertEqual(expected - told, set())
        for name in ("id_rsa", "credentials.txt", ".env", ".aws"):
            self.assertIn(name, told)
        self.assertFalse({"ignored.md", "private", "build"} & {event.get("path") for event in events})

    def test_whoever_means_it_allows_them(self):
        self.write("a.md", "password = q7Rv9Zk2Lm4Xw8Tn\n")
        self.events("--allow-secrets")
        self.assertIn(b"q7Rv9Zk2Lm4Xw8Tn", self.stored_bytes())
        self.assertEqual(self.events()[0][-1]["secrets"], 1)

    def test_a_server_keeps_them_out_too(self):
        values, _ = self.write_all()
        server = self.serve()
        _, output = self.events()
        pairs = secrets()
        values += [value for _, value in pairs]
        texts = [{"source_path": f"sent-{number}.md", "content": f"Words.\n\n{text}\n"} for number, (text, _) in enumerate(pairs)]
        status, body, _ = self.call(server, "/api/kb/ingest", {"documents": texts})
        self.assertEqual(status, 200, body)
        self.assertEqual([document for document in body["documents"] if "kept_out" not in document], [])
        self.assertGreaterEqual(body["secret_passages"], len(texts))
        status, body, _ = self.call(server, "/api/kb/ingest", {"documents": [{"source_path": "keys/id_rsa", "content": "words"}]})
        self.assertEqual(body["documents"][0]["status"], "kept_out")
        self.check_nothing_leaked(values, output, json.dumps(body), server.output())


class Folders(Case):
    def test_a_control_character_leaves_out_that_file_alone(self):
        self.write("good.md", "words")
        self.write("bad\x01name.md", "words")
        for start in (lambda: None, self.serve):
            start()
            done = self.run_footnote("ingest", self.docs, "--json", code=4)
            events = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([event["path"] for event in events if event["event"] == "problem"], ["bad\x01name.md"])
            self.assertEqual(events[-1]["files"], 1)

    def test_hard_links_to_the_outside_are_read_on_demand_alone(self):
        (self.work / "outside.md").write_text("words that are nobody's business")
        self.write("a.md", "words")
        os.link(self.work / "outside.md", self.docs / "b.md")
        done = self.run_footnote("ingest", self.docs, "--json", code=4)
        self.assertIn("hard link", done.stdout)
        self.assertNotIn(b"nobody's business", self.stored_bytes())
        self.run_footnote("ingest", self.docs, "--allow-hard-links")
        self.assertIn(b"nobody's business", self.stored_bytes())


class Files(Case):
    def open_to_others(self):
        return [str(path) for path in self.data.rglob("*") if path.name != "server.log" and stat.S_IMODE(path.stat().st_mode) & 0o077]

    def doctor(self):
        return next(check for check in json.loads(self.run_footnote("doctor", "--json", code=None).stdout)["checks"] if check["name"] == "files")

    def run_footnote(self, *words, code=0, umask=-1):
        if code is not None:
            return super().run_footnote(*words, code=code, umask=umask)
        return subprocess.run([OPTIONS.binary, *map(str, words), "--data", str(self.data)], env=self.environment, capture_output=True, text=True)

    def test_nothing_is_open_to_others_whatever_the_umask(self):
        self.write("a.md", "words")
        self.run_footnote("ingest", self.docs, umask=0)
        self.assertEqual(stat.S_IMODE(self.data.stat().st_mode), 0o700)
        self.assertEqual(self.open_to_others(), [])
        self.assertEqual(self.doctor()["status"], "ok")

    def test_a_folder_that_was_there(self):
        self.data.mkdir(mode=0o755)
        self.data.chmod(0o755)
        self.write("a.md", "words")
        self.run_footnote("ingest", self.docs, umask=0)
        self.assertEqual(self.open_to_others(), [])
        self.assertEqual(self.doctor()["status"], "note")
        (self.data / "footnote.db").chmod(0o644)
        old = os.umask(0)
        try:
            server = self.serve()
        finally:
            os.umask(old)
        self.call(server, "/api/kb/ingest", {"documents": [{"source_path": "b.md", "content": "more words"}]})
        self.assertEqual(self.open_to_others(), [])


class Reads(Case):
    def ingest(self, server, name, text, **more):
        status, body, _ = self.call(server, "/api/kb/ingest", {"documents": [{"source_path": name, "content": text, **more}]})
        self.assertEqual(status, 200, body)

    def test_deleted_means_gone(self):
        server = self.serve()
        body = {"folder": "/f", "present": ["a.md"], "documents": [{"source_path": "a.md", "content": "First words."}]}
        self.call(server, "/api/kb/ingest", body)
        first = self.call(server, "/api/kb/documents/1/preview?version=1")
        self.assertEqual((first[0], first[1]["text"]), (200, "First words."))
        self.call(server, "/api/kb/ingest", {"folder": "/f", "present": [], "documents": []})
        answers = [self.call(server, f"/api/kb/documents/{path}")[:2] for path in ("1/preview", "1/preview?version=1", "1/preview?version=2")]
        self.assertEqual([status for status, _ in answers], [404] * 3)
        never = self.call(server, "/api/kb/documents/1234/preview")[1]["error"]["message"].replace("1234", "1")
        self.assertEqual({answer["error"]["message"] for _, answer in answers}, {never})

    def test_labels_count_at_once(self):
        server = self.serve()
        self.ingest(server, "a.md", "First words.")
        self.ingest(server, "b.md", "Other words.")
        self.ingest(server, "a.md", "Second words.", acl_labels=["staff"])
        reader = self.key("--scope", "read")
        admin = self.key("--scope", "admin")
        for path in ("1/preview", "1/preview?version=1", "1/preview?version=2"):
            self.assertEqual(self.call(server, f"/api/kb/documents/{path}", key=reader)[0], 404, path)
            self.assertEqual(self.call(server, f"/api/kb/documents/{path}", key=admin)[0], 200, path)
        corpora = {key: self.call(server, "/api/corpora", key=key)[1]["corpora"][0] for key in (reader, admin)}
        self.assertEqual((corpora[reader]["documents"], corpora[reader]["chunks"]), (1, 1))
        self.assertEqual((corpora[admin]["documents"], corpora[admin]["chunks"]), (2, 2))
        self.assertEqual(self.call(server, "/collections/memory", key=reader)[1]["result"]["points_count"], 1)
        self.assertEqual(self.call(server, "/collections/memory/points/count", {}, key=reader)[1]["result"]["count"], 1)


    def test_snapshots_of_long_names_are_apart(self):
        server = self.serve()
        first, second = "x" * 110 + "a", "x" * 110 + "b"
        for name in (first, second):
            self.assertEqual(self.call(server, f"/collections/{name}", {"vectors": {"size": 4, "distance": "Cosine"}}, "PUT")[0], 200)
        self.assertEqual(self.call(server, f"/collections/{first}/snapshots", {})[0], 200)
        counts = [len(self.call(server, f"/collections/{name}/snapshots")[1]["result"]) for name in (first, second)]
        self.assertEqual(counts, [1, 0])


class Tenants(Case):
    def test_ceilings_and_metrics(self):
        self.data.mkdir()
        self.run_footnote("workspaces", "create", "acme")
        operator = self.key("--scope", "admin")
        admin = self.key("--scope", "admin", "--workspace", "acme")
        server = self.serve(FOOTNOTE_KEYS_PER_WORKSPACE="3", FOOTNOTE_KEYS_REQUESTS_PER_MINUTE_MAX="1000")
        new = {"name": "x", "scopes": ["read"]}
        self.assertEqual(self.call(server, "/api/admin/keys", {**new, "requests_per_minute": 1001}, key=admin)[0], 422)
        self.assertEqual(self.call(server, "/api/admin/keys", {**new, "requests_per_minute": 1000}, key=admin)[0], 201)
        self.assertEqual(self.call(server, "/api/admin/keys", new, key=admin)[0], 201)
        self.assertEqual(self.call(server, "/api/admin/keys", new, key=admin)[0], 429)
        self.assertEqual(self.call(server, "/api/admin/keys", {**new, "workspace": "acme", "requests_per_minute": 5000}, key=operator)[0], 201)
        for key, status in ((admin, 403), (operator, 200)):
            request = urllib.request.Request(server.url + "/metrics", headers={"authorization": f"Bearer {key}"})
            try:
                self.assertEqual(urllib.request.urlopen(request, timeout=30).status, status)
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, status)

    def test_no_path_or_host_in_what_callers_read(self):
        server = self.serve(LLM_BASE_URL="http://127.0.0.1:9/v1", LLM_MODEL="m", FOOTNOTE_FREE_DISK_MIB="100000000")
        status, body, _ = self.call(server, "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]})
        self.assertGreaterEqual(status, 500, body)
        self.assertNotIn("127.0.0.1", json.dumps(body))
        status, body, _ = self.call(server, "/readyz")
        self.assertEqual(status, 503)
        self.assertNotIn(str(self.work), json.dumps(body))
        self.assertIn("127.0.0.1:9", server.output())

    def serve(self, **environment):
        self.data.mkdir(exist_ok=True)
        server = Server(OPTIONS.binary, str(self.data), {**self.environment, **environment}, "/livez")
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server


class Browsers(Case):
    def test_headers_of_json_and_cross_site_loads(self):
        server = self.serve()
        status, _, headers = self.call(server, "/api/corpora")
        self.assertEqual((status, headers["x-content-type-options"], headers["cache-control"], headers["cross-origin-resource-policy"]),
                         (200, "nosniff", "no-store", "same-origin"))
        load = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
        self.assertEqual(self.call(server, "/api/corpora", headers=load)[0], 403)
        script = urllib.request.Request(server.url + "/widget.js", headers={**load, "sec-fetch-dest": "script"})
        self.assertEqual(urllib.request.urlopen(script, timeout=30).status, 200)
        link = urllib.request.Request(server.url + "/", headers={**load, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"})
        self.assertEqual(urllib.request.urlopen(link, timeout=30).status, 200)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

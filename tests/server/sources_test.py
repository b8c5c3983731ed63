#!/usr/bin/env python3
"""Tests jobs, sources, uploads and document versions with the real binary.

usage: sources_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import ServerCase, wait_until  # noqa: E402
from server import Server  # noqa: E402

SOURCES = "/api/v1/workspace/sources"
BOUNDARY = "----footnote-test"


def multipart(files):
    """(name, bytes) of each file as one body."""
    out = b""
    for name, content in files:
        out += (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
                "Content-Type: application/octet-stream\r\n\r\n").encode() + content + b"\r\n"
    return out + f"--{BOUNDARY}--\r\n".encode()


class SourcesCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory(prefix="footnote-sources-")
        cls.root = pathlib.Path(cls.files.name).resolve()
        cls.environment = {"FOOTNOTE_SOURCES_FOLDERS": str(cls.root), "FOOTNOTE_UPLOADS_SIZE_MAX": "2"}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.files.cleanup()

    def answer(self, method, path, body=None, headers=None):
        response, data = self.call(method, path, body, headers)
        return response.status, json.loads(data)

    def folder(self, name, files):
        folder = self.root / name
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    def add(self, corpus, **description):
        status, source = self.answer("POST", SOURCES, {"project_key": corpus, **description})
        self.assertIn(status, (200, 201), source)
        return source

    def source(self, number):
        return self.answer("GET", f"{SOURCES}/{number}")[1]

    def wait_indexed(self, number):
        self.assertTrue(wait_until(lambda: self.source(number)["status"] in ("indexed", "failed"), 30), self.source(number))
        return self.source(number)

    def wait_job(self, number):
        self.assertTrue(wait_until(lambda: self.job(number)["state"] in ("done", "failed", "cancelled"), 30), self.job(number))
        return self.job(number)

    def job(self, number):
        return self.answer("GET", f"/api/jobs/{number}")[1]

    def found(self, corpus, words):
        """Whether a passage with these words is found."""
        status, answer = self.answer("POST", "/api/search", {"query": words, "project_key": corpus})
        self.assertEqual(status, 200, answer)
        return any(words in hit["text"] for hit in answer["hits"])

    def documents(self, corpus):
        return {one["source_path"]: one for one in self.answer("GET", f"/api/kb/documents?project_key={corpus}")[1]["documents"]}


class Sources(SourcesCase):
    def test_a_folder_is_indexed_and_deleted_as_one(self):
        folder = self.folder("one", {"a.md": "# A\n\nThe warehouse closes at nine.", "b/c.md": "# C\n\nThe gate opens at six."})
        (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
        status, source = self.answer("POST", SOURCES, {"kind": "folder", "location": str(folder), "project_key": "one"})
        self.assertEqual(status, 201)
        done = self.wait_indexed(source["id"])
        self.assertEqual((done["status"], done["documents"], done["failed"]), ("indexed", 2, 0))
        self.assertTrue(self.found("one", "closes at nine"))
        job = self.job(done["job_id"])
        self.assertEqual((job["state"], job["documents"]["added"], job["unit"]), ("done", 2, "bytes"))
        self.assertEqual(job["done"], job["total"])
        self.assertIn(done["id"], [one["id"] for one in self.answer("GET", SOURCES)[1]["sources"]])
        self.assertEqual(self.answer("DELETE", f"{SOURCES}/{source['id']}"), (200, {"id": source["id"], "deleted_documents": 2}))
        self.assertFalse(self.found("one", "closes at nine"))
        self.assertEqual(self.answer("GET", f"{SOURCES}/{source['id']}")[0], 404)

    def test_a_text_is_deduplicated(self):
        first = self.add("texts", kind="text", title="Returns", content="Returns take thirty days.")
        self.assertEqual(self.wait_indexed(first["id"])["documents"], 1)
        status, again = self.answer("POST", SOURCES, {"kind": "text", "title": "Returns", "content": "Returns take thirty days.",
                                                      "project_key": "texts"})
        self.assertEqual((status, again["id"], again["status"]), (200, first["id"], "indexed"))
        page = self.add("texts", kind="text", title="Page", content="Shipping is free.", source_url="https://shop.example/shipping")
        self.wait_indexed(page["id"])
        self.assertTrue(self.found("texts", "Shipping is free"))
        self.add("texts", kind="text", title="Page", content="Shipping costs five.", source_url="https://shop.example/shipping")
        self.assertTrue(wait_until(lambda: self.found("texts", "Shipping costs five"), 20))
        self.assertFalse(self.found("texts", "Shipping is free"))

    def test_what_is_wrong_is_said(self):
        for body, status, field in (({"kind": "poem"}, 422, "kind"), ({"kind": "text"}, 422, "content"),
                                    ({"kind": "folder", "location": "/etc"}, 403, "location"),
                                    ({"kind": "folder", "location": str(self.root / "none")}, 403, "location"),
                                    ({"kind": "text", "content": "x", "source_url": "nowhere"}, 422, "source_url"),
                                    ({"kind": "text", "content": "x", "interval_seconds": 5}, 422, "interval_seconds")):
            got, answer = self.answer("POST", SOURCES, {"project_key": "wrong", **body})
            self.assertEqual((got, answer["error"].get("field")), (status, field), answer)
        self.assertNotIn("wrong", [one["name"] for one in self.answer("GET", "/api/corpora")[1]["corpora"]])
        for method, path in (("GET", f"{SOURCES}/99999"), ("DELETE", f"{SOURCES}/x"), ("POST", f"{SOURCES}/99999/resync"),
                             ("GET", "/api/jobs/99999"), ("DELETE", "/api/jobs/0"), ("GET", "/api/jobs/99999/events")):
            self.assertEqual(self.answer(method, path)[0], 404, path)

    def test_a_watched_folder_is_followed_within_two_seconds(self):
        folder = self.folder("watched", {"a.md": "# A\n\nThe password policy wants twelve letters.\n\nOld paragraph of lemons.",
                                         "b.md": "# B\n\nThe canteen serves soup."})
        source = self.add("watched", kind="folder", location=str(folder), watch=True)
        self.wait_indexed(source["id"])

        # Shrinks, is renamed, is deleted: the old text is gone each time. How fast is measured, not judged.
        took = []
        for change, gone, there in (
                (lambda: (folder / "a.md").write_text("# A\n\nThe password policy wants twelve letters."), "Old paragraph of lemons", None),
                (lambda: (folder / "b.md").rename(folder / "c.md"), None, "serves soup"),
                (lambda: (folder / "c.md").unlink(), "serves soup", None),
                (lambda: (folder / "new").mkdir() or (folder / "new/d.md").write_text("# D\n\nThe attic is locked."), None,
                 "attic is locked")):
            change()
            start = time.monotonic()
            if gone:
                self.assertTrue(wait_until(lambda: not self.found("watched", gone), 20), gone)
            if there:
                self.assertTrue(wait_until(lambda: self.found("watched", there), 20), there)
            took.append(time.monotonic() - start)
        self.assertTrue(wait_until(lambda: set(self.documents("watched")) == {"a.md", "new/d.md"}, 20), self.documents("watched"))
        print("seconds until a change of a watched folder was seen:", [round(one, 2) for one in took], file=sys.stderr)

    def test_a_failing_document_holds_up_nothing(self):
        folder = self.folder("failing", {"good.md": "# G\n\nThe lift is green."})
        (folder / "bad.pdf").write_bytes(b"%PDF-1.4\nthis is no PDF")
        source = self.add("failing", kind="folder", location=str(folder))
        done = self.wait_indexed(source["id"])
        self.assertEqual((done["status"], done["documents"], done["failed"]), ("indexed", 1, 1))
        self.assertEqual([one["path"] for one in self.job(done["job_id"])["errors"]], ["bad.pdf"])
        (folder / "bad.pdf").unlink()
        status, answer = self.answer("POST", f"{SOURCES}/{source['id']}/resync", {})
        self.assertEqual(status, 202)
        self.wait_job(answer["job"]["id"])
        self.assertEqual(self.source(source["id"])["failed"], 0)

    def test_a_jobs_progress_is_a_stream(self):
        folder = self.folder("many", {f"f{i}.md": f"# F{i}\n\nSentence number {i} of this folder." for i in range(150)})
        source = self.add("many", kind="folder", location=str(folder))
        job = source["job_id"]
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request("GET", f"/api/jobs/{job}/events")
        response = connection.getresponse()
        self.assertEqual(response.getheader("content-type"), "text/event-stream")
        events = [json.loads(line[6:]) for line in response.read().decode().splitlines() if line.startswith("data: ")]
        connection.close()
        self.assertEqual(events[-1]["state"], "done")
        self.assertEqual(events[-1]["documents"]["added"], 150)
        self.assertEqual([one["done"] for one in events], sorted(one["done"] for one in events))
        self.assertEqual(events[-1], self.job(job))
        listed = self.answer("GET", "/api/jobs?limit=500")[1]["jobs"]
        self.assertIn(job, [one["id"] for one in listed])
        self.assertEqual(self.answer("DELETE", f"/api/jobs/{job}")[1]["state"], "done", "what ended stays so")


class Uploads(SourcesCase):
    def upload(self, files, corpus="uploads", headers=None):
        body = files if isinstance(files, bytes) else multipart(files)
        response, data = self.call("POST", f"/api/kb/uploads?project_key={corpus}", body,
                                   {"content-type": f"multipart/form-data; boundary={BOUNDARY}", "x-footnote-request": "1",
                                    **(headers or {})})
        return response.status, json.loads(data)

    def test_files_become_documents_with_their_originals(self):
        text = "# Manual\r\n\r\nThe valve turns left.\r\n".encode()
        status, answer = self.upload([("manual.md", text), ("notes/plan.html", b"<h1>Plan</h1><p>The plan is <b>secretly</b> simple.</p>")])
        self.assertEqual(status, 202, answer)
        job = self.wait_job(answer["job"]["id"])
        self.assertEqual((job["state"], job["documents"]["added"]), ("done", 2), job)
        self.assertTrue(self.found("uploads", "valve turns left"))
        documents = self.documents("uploads")
        self.assertEqual(set(documents), {"manual.md", "notes/plan.html"})
        number = documents["manual.md"]["document_id"]
        response, data = self.call("GET", f"/api/kb/documents/{number}/original")
        self.assertEqual((response.status, data), (200, text), "the file as it came")
        self.assertEqual(response.getheader("content-type"), "text/plain; charset=utf-8")
        self.assertEqual(response.getheader("content-disposition"), "inline; filename*=UTF-8''manual.md")
        page = documents["notes/plan.html"]["document_id"]
        response, _ = self.call("GET", f"/api/kb/documents/{page}/original")
        self.assertEqual(response.getheader("content-type"), "text/plain; charset=utf-8", "a page from outside runs nothing here")
        self.assertIn("sandbox", response.getheader("content-security-policy"))
        self.assertEqual(response.getheader("x-content-type-options"), "nosniff")
        self.assertEqual(os.listdir(os.path.join(self.server.data, "uploads")), [], "what is ingested waits no more")

    def test_versions_are_kept_and_restored(self):
        for number in (1, 2, 3):
            _, answer = self.upload([("v.md", f"# V\n\nVersion {number} of the rules.".encode())], "versions")
            self.wait_job(answer["job"]["id"])
        number = self.documents("versions")["v.md"]["document_id"]
        status, answer = self.answer("GET", f"/api/kb/documents/{number}/versions")
        self.assertEqual((status, [one["version"] for one in answer["versions"]]), (200, [3, 2, 1]))
        self.assertTrue(all(one["has_original"] for one in answer["versions"]))
        self.assertFalse(self.found("versions", "Version 1 of the rules"))
        status, answer = self.answer("POST", f"/api/kb/documents/{number}/restore", {"version": 1})
        self.assertEqual((status, answer["version"], answer["restored_version"]), (200, 4, 1), answer)
        self.assertTrue(self.found("versions", "Version 1 of the rules"))
        self.assertFalse(self.found("versions", "Version 3 of the rules"))
        self.assertEqual(self.answer("POST", f"/api/kb/documents/{number}/restore", {"version": 9})[0], 404)
        self.assertEqual(self.answer("POST", f"/api/kb/documents/{number}/restore", {})[0], 422)
        status, answer = self.answer("DELETE", f"/api/kb/documents/{number}")
        self.assertEqual((status, answer["deleted"]), (200, True))
        self.assertFalse(self.found("versions", "Version 1 of the rules"))
        for path in ("versions", "original", "preview"):
            self.assertEqual(self.answer("GET", f"/api/kb/documents/{number}/{path}")[0], 404)

    def test_bad_uploads_get_an_answer(self):
        self.assertEqual(self.upload([])[0], 422)
        self.assertEqual(self.upload([("../../etc/passwd", b"x")])[0], 422)
        self.assertEqual(self.upload(b"no boundary here")[0], 400)
        self.assertEqual(self.upload(b"", headers={"content-type": "application/json"})[0], 415)
        status, answer = self.upload([("big.txt", b"word " * 600_000)])
        self.assertEqual(status, 413, answer)
        status, answer = self.upload([("empty.md", b""), ("prog.exe", b"MZ\x90\x00" + bytes(200))])
        self.assertEqual(status, 202)
        job = self.wait_job(answer["job"]["id"])
        self.assertEqual((job["state"], job["documents"]["failed"]), ("done", 2), job)
        self.assertEqual({one["path"] for one in job["errors"]}, {"empty.md", "prog.exe"})


class Restart(unittest.TestCase):
    """kill -9 in the middle of syncs, SYNC_KILLS times: afterwards the documents are the folder's."""

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request(method, path, json.dumps(body) if body else None, {"content-type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def start(self):
        self.server = Server(http_test.OPTIONS.binary, self.data, {"FOOTNOTE_SOURCES_FOLDERS": str(self.folder)})
        self.server.__enter__()

    def kill(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        self.server.log.close()

    def change(self, chance):
        """Some files come, some change, some go."""
        for i in range(200):
            path = self.folder / f"f{i}.md"
            what = chance.random()
            if what < 0.6:
                path.write_text(f"# File {i}\n\nSentence {chance.randrange(1000)} about topic {i % 7}, in file {i}.")
            elif what < 0.8:
                path.unlink(missing_ok=True)

    def test_killed_syncs_go_on(self):
        kills = int(os.environ.get("SYNC_KILLS", "3"))
        chance = random.Random(1)
        with tempfile.TemporaryDirectory() as work:
            self.folder = pathlib.Path(work).resolve() / "docs"
            self.folder.mkdir()
            self.data = os.path.join(work, "data")
            os.mkdir(self.data)
            self.change(chance)
            self.start()
            source = self.call("POST", SOURCES, {"kind": "folder", "location": str(self.folder), "project_key": "docs"})
            for _ in range(kills):
                time.sleep(chance.random() * 0.5)
                self.kill()
                self.change(chance)
                self.start()
                self.call("POST", f"{SOURCES}/{source['id']}/resync")
            try:
                over = lambda: all(job["state"] in ("done", "failed") for job in self.call("GET", "/api/jobs?limit=500")["jobs"])
                self.assertTrue(wait_until(over, 60), self.call("GET", "/api/jobs"))
                state = self.call("GET", f"{SOURCES}/{source['id']}")
                files = {path.name for path in self.folder.iterdir()}
                listed = {one["source_path"] for one in self.call("GET", "/api/kb/documents?project_key=docs&limit=1000")["documents"]}
                self.assertEqual(listed, files)
                self.assertEqual((state["status"], state["documents"], state["failed"]), ("indexed", len(files), 0))
            finally:
                self.server.__exit__(None, None, None)


class Commands(unittest.TestCase):
    def run_command(self, *arguments, **options):
        return subprocess.run([http_test.OPTIONS.binary, *arguments, "--data", self.data], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "FOOTNOTE_SOURCES_FOLDERS": self.work.name, **options}, check=False)

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.data = os.path.join(self.work.name, "data")
        self.docs = pathlib.Path(self.work.name, "docs")
        self.docs.mkdir()
        (self.docs / "a.md").write_text("# A\n\nThe bell rings at noon.")

    def tearDown(self):
        self.work.cleanup()

    def test_sources_without_a_server(self):
        added = self.run_command("sources", "add", str(self.docs))
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("1 added", added.stdout)
        listed = json.loads(self.run_command("sources", "list", "--json").stdout)["sources"]
        self.assertEqual([(one["status"], one["documents"]) for one in listed], [("indexed", 1)])
        (self.docs / "b.md").write_text("# B\n\nThe shop is shut.")
        self.assertIn("1 added", self.run_command("sources", "resync", str(listed[0]["id"])).stdout)
        self.assertIn("done", self.run_command("jobs", "list").stdout)
        self.assertIn("with 2 documents", self.run_command("sources", "remove", str(listed[0]["id"])).stdout)

    def test_ingest_watches(self):
        process = subprocess.Popen([http_test.OPTIONS.binary, "ingest", str(self.docs), "--watch", "--json", "--data", self.data],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            def event_until(wanted):
                for line in process.stdout:
                    event = json.loads(line)
                    if wanted(event):
                        return event
                self.fail("the command ended")

            event_until(lambda event: event["event"] == "summary")
            (self.docs / "b.md").write_text("# B\n\nThe shop is shut.")
            event_until(lambda event: event["event"] == "committed" and event["path"] == "b.md")
            (self.docs / "a.md").unlink()
            event_until(lambda event: event["event"] == "deleted" and event["path"] == "a.md")
        finally:
            process.send_signal(signal.SIGINT)
            self.assertIn(process.wait(timeout=20), (0, 130))
            process.stdout.close()


if __name__ == "__main__":
    http_test.main()

#!/usr/bin/env python3
"""Tests the real binary on failing storage: full disks, read-only folders, damaged and left-over files.

usage: storage_test.py --binary FOOTNOTE
The model is tiny; only the store is tested here.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
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
NOBODY = 65534


def document(name, words=400, seed=0):
    rng = random.Random(f"{name} {seed}")
    return {"source_path": name, "content": f"# {name}\n\n" + " ".join(rng.choices(tiny_model.WORDS, k=words)) + "."}


class Case(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="footnote-storage-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.data = self.work / "data"
        self.environment = {**os.environ, "FOOTNOTE_MODELS": str(tiny_model.write(self.work / "models")), "MODEL_NAME": tiny_model.NAME}

    def serve(self, ready="/readyz", **environment):
        self.data.mkdir(exist_ok=True)
        server = Server(OPTIONS.binary, str(self.data), {**self.environment, **environment}, ready)
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server

    def run_footnote(self, *words, user=None):
        done = subprocess.run([OPTIONS.binary, *map(str, words), "--data", str(self.data)], env=self.environment, capture_output=True,
                              text=True, timeout=120, user=user)
        return done

    def doctor(self, name, user=None):
        """The check with that name."""
        done = self.run_footnote("doctor", "--json", user=user)
        return next(check for check in json.loads(done.stdout)["checks"] if check["name"] == name)

    @staticmethod
    def call(server, path, body=None):
        request = urllib.request.Request(server.url + path, json.dumps(body).encode() if body is not None else None,
                                         {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.loads(refused.read())

    def ingest(self, server, *documents):
        return self.call(server, "/api/kb/ingest", {"documents": list(documents)})

    def paths(self, server, query="lantern harbour"):
        status, body = self.call(server, "/api/search", {"query": query, "limit": 50})
        self.assertEqual(status, 200, body)
        return {hit["source_path"] for hit in body["hits"]}


class FullDisk(Case):
    def check_full_disk(self, server, fill, free):
        """`fill` uses up all space, `free` releases it; the server keeps running."""
        self.assertEqual(self.ingest(server, document("kept.md"))[0], 200)
        fill()
        refused = 0
        for number in range(20):
            status, body = self.ingest(server, document(f"refused{number}.md", words=20_000))
            if status == 200:  # the original free space
                continue
            refused += 1
            self.assertEqual(status, 507, body)
            self.assertEqual(body["error"]["code"], "storage_full")
            self.assertIn("space", body["error"]["message"])
        self.assertGreater(refused, 5)
        before = self.paths(server)
        self.assertIn("kept.md", before, "reads go on")
        self.assertEqual(self.call(server, "/api/kb/chat", {"question": "Where is the lantern?"})[0], 200)
        status, body = self.call(server, "/readyz")
        self.assertEqual(status, 503)
        self.assertIn("no space is left", " ".join(body["reasons"]))
        self.assertEqual(self.call(server, "/livez")[0], 200)
        free()
        status, body = self.ingest(server, document("after.md"))
        self.assertEqual(status, 200, f"writes resume without a restart: {body}")
        self.assertEqual(self.call(server, "/readyz")[0], 200)
        self.assertEqual(self.paths(server), before | {"after.md"})
        return before | {"after.md"}

    def check_after_restart(self, server, paths):
        server.__exit__(None, None, None)
        store = self.doctor("store")
        self.assertEqual(store["status"], "ok", store)
        self.assertEqual(self.paths(self.serve()), paths)

    def test_a_file_that_may_not_grow(self):
        server = self.serve()

        def fill():
            largest = max(path.stat().st_size for path in self.data.iterdir() if path.is_file())
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (largest + 4096, resource.RLIM_INFINITY))

        def free():
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        self.check_after_restart(server, self.check_full_disk(server, fill, free))

    def test_a_disk_that_is_full(self):
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "footnote-test", str(self.work)], capture_output=True)
        if mount.returncode != 0:
            self.skipTest("no right to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.work)])
        self.environment["FOOTNOTE_MODELS"] = str(tiny_model.write(self.work / "models"))
        ballast = self.work / "ballast"
        self.environment["FOOTNOTE_FREE_DISK_MIB"] = "0"
        server = self.serve()

        def fill():
            with open(ballast, "wb", buffering=0) as out:
                try:
                    while True:
                        out.write(bytes(4096))
                except OSError:
                    pass

        self.check_after_restart(server, self.check_full_disk(server, fill, ballast.unlink))

    def test_a_disk_that_is_nearly_full_is_told_of(self):
        server = self.serve(ready="/livez", FOOTNOTE_FREE_DISK_MIB="100000000")
        status, body = self.call(server, "/readyz")
        self.assertEqual(status, 503)
        self.assertIn("nearly full", body["reasons"][0])
        self.assertEqual(self.ingest(server, document("a.md"))[0], 200, "it is told of, not acted upon")


class NoRightToWrite(Case):
    def setUp(self):
        super().setUp()
        self.user = None
        docs = self.work / "docs"
        docs.mkdir()
        (docs / "a.md").write_text(document("a.md")["content"])
        self.assertEqual(self.run_footnote("ingest", docs).returncode, 0)
        if os.geteuid() == 0:  # root can write everywhere: run as another user
            self.user = NOBODY
            if not all(folder.stat().st_mode & 0o001 for folder in pathlib.Path(OPTIONS.binary).resolve().parents):
                self.skipTest("other users can't reach the program")
            os.chmod(self.work, 0o755)
            for path in [self.data, *self.data.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)

    def forbid(self, *paths):
        for path in paths:
            mode = path.stat().st_mode
            os.chmod(path, mode & ~0o222)
            self.addCleanup(os.chmod, path, mode)

    def check_refused(self, *words):
        for command in (("search", "lantern"), ("documents",), ("ingest", self.work / "docs"), ("serve", "--port", "0")):
            done = self.run_footnote(*command, user=self.user)
            self.assertEqual(done.returncode, 1, done)
            for word in words:
                self.assertIn(word, done.stderr)

    def test_a_folder_that_may_not_be_written(self):
        self.forbid(self.data, *self.data.iterdir())
        self.check_refused("write access", str(self.data))
        store = self.doctor("store", user=self.user)
        self.assertEqual(store["status"], "broken")
        self.assertIn("write access", store["fix"])
        self.assertNotIn("process", store["fix"])

    def test_a_database_that_may_not_be_written(self):
        self.forbid(self.data / "footnote.db")
        store = self.doctor("store", user=self.user)
        self.assertEqual(store["status"], "broken")
        self.assertIn("write access", store["fix"])

    def test_a_new_folder_that_may_not_be_written(self):
        for path in self.data.iterdir():
            path.unlink() if path.is_file() else shutil.rmtree(path)
        self.forbid(self.data)
        store = self.doctor("store", user=self.user)
        self.assertEqual(store["status"], "broken")
        self.assertIn("write access", store["fix"])


class Leftovers(Case):
    def setUp(self):
        super().setUp()
        docs = self.work / "docs"
        docs.mkdir()
        for name in ("a.md", "b.md"):
            (docs / name).write_text(document(name)["content"])
        self.assertEqual(self.run_footnote("ingest", docs).returncode, 0)

    def test_a_lock_that_is_no_plain_file(self):
        lock = self.data / "LOCK"
        lock.unlink()
        precious = self.work / "precious"
        precious.write_text("keep me")
        for make in (lambda: lock.symlink_to(precious), lambda: os.mkfifo(lock), lambda: lock.mkdir()):
            make()
            done = self.run_footnote("documents")
            self.assertEqual(done.returncode, 1)
            self.assertIn("remove it", done.stderr)
            store = self.doctor("store")
            self.assertEqual(store["status"], "broken")
            self.assertIn("remove", store["fix"])
            self.assertNotIn("process", store["fix"])
            lock.rmdir() if lock.is_dir() and not lock.is_symlink() else lock.unlink()
        self.assertEqual(precious.read_text(), "keep me")
        self.assertEqual(self.doctor("store")["status"], "ok")

    def test_index_files_are_made_used_checked_and_rebuilt(self):
        search = lambda: self.run_footnote("search", "lantern harbour", "--json")
        hits = lambda: [(hit["chunk_id"], hit["score"]) for hit in json.loads(search().stdout)["hits"]]
        sound = hits()
        self.assertGreater(len(sound), 0)
        self.assertIn("none saved", self.doctor("indexes memory")["detail"])
        done = self.run_footnote("rebuild-index", "--json")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["generation"], 1)
        files = sorted((self.data / "indexes").iterdir())
        self.assertEqual([path.name for path in files], ["1-codes.index", "1-keywords.index", "1-vectors.index"])
        check = self.doctor("indexes memory")
        self.assertEqual((check["status"], check["vectors"]), ("ok", "sound, at generation 1"))
        for path in files:
            self.assertEqual(hits(), sound)
            content = bytearray(path.read_bytes())
            content[min(len(content) // 2, 1000)] ^= 16  # startup does not read full vectors, which come last
            path.write_bytes(content)
            check = self.doctor("indexes memory")
            self.assertEqual(check["status"], "note")
            self.assertIn("damaged", check["detail"])
            self.assertTrue(path.exists(), "doctor only looks")
            run = self.run_footnote("search", "lantern harbour", "--json", "--log-level", "warn")
            self.assertIn("it is damaged", run.stderr)
            self.assertEqual([(hit["chunk_id"], hit["score"]) for hit in json.loads(run.stdout)["hits"]], sound)
            self.assertFalse(path.exists())
        self.run_footnote("rebuild-index")
        self.assertEqual(self.doctor("indexes memory")["status"], "ok")

    def test_a_damaged_full_vector_spoils_no_answer_and_doctor_finds_it(self):
        self.run_footnote("rebuild-index")
        path = self.data / "indexes" / "1-vectors.index"
        hits = lambda: [hit["chunk_id"] for hit in json.loads(self.run_footnote("search", "lantern harbour", "--json").stdout)["hits"]]
        sound = hits()
        whole = path.read_bytes()
        self.assertEqual((len(whole) - 4096) % 192, 0, "from there on the full vectors, 128 bytes each, then the codes of each, 64 bytes")
        for at in (4096 + 100, len(whole) - 20):
            content = bytearray(path.read_bytes())
            content[at] ^= 64
            path.write_bytes(content)
            self.assertEqual(hits(), sound)
            check = self.doctor("indexes memory")
            self.assertEqual(check["status"], "note")
            self.assertIn("vectors fail their checksums", check["detail"])
            self.run_footnote("rebuild-index")
            self.assertEqual(self.doctor("indexes memory")["status"], "ok")

    def test_damaged_token_codes_spoil_no_answer_and_doctor_finds_them(self):
        hits = lambda: [(hit["chunk_id"], hit["score"]) for hit in json.loads(self.run_footnote("search", "lantern harbour", "--json").stdout)["hits"]]
        sound = hits()
        self.run_footnote("rebuild-index")
        path = self.data / "indexes" / "1-codes.index"
        content = bytearray(path.read_bytes())
        content[4096 + 20] ^= 64  # in the codes of the first passage
        path.write_bytes(content)
        self.assertEqual(hits(), sound)
        check = self.doctor("indexes memory")
        self.assertEqual(check["status"], "note")
        self.assertIn("the codes of 1 passages can't be used", check["detail"])
        self.run_footnote("rebuild-index")
        self.assertEqual(self.doctor("indexes memory")["status"], "ok")

    def test_a_server_saves_its_indexes_when_it_stops(self):
        server = self.serve()
        self.assertFalse((self.data / "indexes").exists(), "too little to be worth it")
        self.assertEqual(self.ingest(server, document("c.md"))[0], 200)
        server.__exit__(None, None, None)
        self.assertEqual(self.doctor("indexes memory")["keywords"], "sound, at generation 2")
        self.assertIn("c.md", self.paths(self.serve()))

    def test_a_damaged_page_is_found_before_it_becomes_an_answer(self):
        database = self.data / "footnote.db"
        content = bytearray(database.read_bytes())
        for page in range(1, len(content) // 8192):
            content[page * 8192 + 4000] ^= 1
        database.write_bytes(content)
        done = self.run_footnote("search", "lantern")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fails its checksum", done.stderr)
        store = self.doctor("store")
        self.assertEqual(store["status"], "broken")
        self.assertIn("restore", store["fix"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.binary = os.path.abspath(OPTIONS.binary)
    unittest.main(argv=[sys.argv[0], *rest])

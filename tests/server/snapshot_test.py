#!/usr/bin/env python3
"""Tests snapshots of the data folder while a server writes to it, refused restores, and docs/OPERATIONS.md.

usage: snapshot_test.py --binary FOOTNOTE --data PREPARED   (a data folder with examples/handbook ingested)
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import http_test  # noqa: E402
from http_test import COVERED, ServerCase, wait_until  # noqa: E402
from server import Server  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Case(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="footnote-snapshot-"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.data = self.work / "data"
        shutil.copytree(http_test.OPTIONS.data, self.data)
        self.file = self.work / "a.footnote"

    def footnote(self, *words, code=0, data=None):
        command = [http_test.OPTIONS.binary, *map(str, words), "--data", str(data or self.data)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def serve(self, data=None):
        server = Server(http_test.OPTIONS.binary, str(data or self.data))
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server

    def ask(self, server):
        case = ServerCase()
        case.server = server
        answer = case.post("/api/kb/chat", {"question": COVERED})[1]
        search = case.post("/api/search", {"query": COVERED, "limit": 20})[1]
        return answer["answer"], [(hit["source_path"], round(hit["score"], 6)) for hit in search["hits"]]

    def restored(self, name="restored"):
        self.footnote("restore", self.file, data=self.work / name)
        return self.work / name


class Snapshots(Case):
    def test_a_restored_folder_gives_the_same_answers(self):
        with Server(http_test.OPTIONS.binary, str(self.data)) as server:
            before = self.ask(server)
            key = self.footnote("keys", "create", "--name", "k", "--scope", "read").splitlines()[0]
            self.assertIn("snapshot", self.footnote("snapshot", self.file))
        self.assertEqual(os.listdir(self.data / "copies"), [])
        self.assertEqual(os.stat(self.file).st_mode & 0o077, 0, "for its owner alone")
        data = self.restored()
        self.assertEqual(sorted(os.listdir(data)), ["LOCK", "footnote.db"])
        with Server(http_test.OPTIONS.binary, str(data)) as server:
            case = ServerCase()
            case.server = server
            response, found = case.call("POST", "/api/search", {"query": COVERED, "limit": 20}, {"authorization": "Bearer " + key})
            self.assertEqual(response.status, 200, found)
            hits = [(hit["source_path"], round(hit["score"], 6)) for hit in json.loads(found)["hits"]]
            self.assertEqual(hits, before[1])
            self.assertEqual(case.call("POST", "/api/search", {"query": COVERED})[0].status, 401)

    def test_one_is_made_without_a_server_too(self):
        self.footnote("snapshot", self.file)
        first = self.ask(self.serve())
        self.assertEqual(self.ask(self.serve(self.restored())), first)

    def test_what_is_written_meanwhile_is_in_it_whole_or_not_at_all(self):
        server = self.serve()
        case = ServerCase()
        case.server = server
        case.call("PUT", "/collections/pairs", {"vectors": {"size": 2, "distance": "Dot"}})
        stop, written = threading.Event(), []

        def write():
            while not stop.is_set():
                n = len(written)
                pair = [{"id": 2 * n + i, "vector": [1, n], "payload": {"text": f"pair {n}"}} for i in range(2)]
                if case.call("PUT", "/collections/pairs/points", {"points": pair})[0].status != 200:
                    return
                written.append(n)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            self.assertTrue(wait_until(lambda: len(written) > 3, 30))
            known = len(written)
            for i in range(3):
                self.footnote("snapshot", self.file)
        finally:
            stop.set()
            thread.join()
        other = ServerCase()
        other.server = self.serve(self.restored())
        _, body = other.post("/collections/pairs/points/scroll", {"limit": 10000})
        ids = {point["id"] for point in body["result"]["points"]}
        self.assertGreaterEqual(len(ids), 2 * known, "what was told as written before is there")
        self.assertEqual(ids, set(range(len(ids))))
        self.assertEqual(len(ids) % 2, 0, "one commit is there whole or not at all")

    def test_snapshots_of_collections_come_along(self):
        case = ServerCase()
        case.server = self.serve()
        self.assertEqual(case.call("POST", "/collections/memory/snapshots", {})[0].status, 200)
        listed = case.call("GET", "/collections/memory/snapshots")[1]
        self.footnote("snapshot", self.file)
        case.server = self.serve(self.restored())
        names = lambda data: [entry["name"] for entry in json.loads(data)["result"]]
        self.assertEqual(names(case.call("GET", "/collections/memory/snapshots")[1]), names(listed))

    def test_only_an_operator_makes_one(self):
        case = ServerCase()
        case.server = self.serve()
        self.footnote("workspaces", "create", "other")
        foreign = self.footnote("keys", "create", "--name", "k", "--scope", "admin", "--workspace", "other").splitlines()[0]
        reader = self.footnote("keys", "create", "--name", "k", "--scope", "read").splitlines()[0]
        for key in (foreign, reader):
            response, _ = case.call("POST", "/api/admin/snapshot", {}, {"authorization": "Bearer " + key})
            self.assertEqual(response.status, 403)
        self.assertEqual(case.call("POST", "/api/admin/snapshot", {})[0].status, 401)
        self.assertFalse((self.data / "copies").exists() and os.listdir(self.data / "copies"))

    def test_copies_that_nobody_takes_do_not_pile_up(self):
        case = ServerCase()
        with Server(http_test.OPTIONS.binary, str(self.data)) as case.server:
            for _ in range(4):
                self.assertEqual(case.call("POST", "/api/admin/snapshot", {})[0].status, 201)
            self.assertEqual(len(os.listdir(self.data / "copies")), 2)
        with Server(http_test.OPTIONS.binary, str(self.data)):
            self.assertFalse((self.data / "copies").exists())


class Refused(Case):
    def setUp(self):
        super().setUp()
        self.footnote("snapshot", self.file)
        self.bytes = self.file.read_bytes()
        self.target = self.work / "target"

    def refuse(self, data):
        self.file.write_bytes(data)
        message = self.footnote("restore", self.file, data=self.target, code=1)
        self.assertEqual(os.listdir(self.target), ["LOCK"])
        return message

    def test_one_that_is_cut_short_names_the_place(self):
        for size in (0, 5, 12, 40, len(self.bytes) // 2, len(self.bytes) - 1):
            with self.subTest(size):
                self.assertRegex(self.refuse(self.bytes[:size]), r"is cut short at byte \d+")

    def test_one_flipped_bit_anywhere_names_the_place(self):
        size = len(self.bytes)
        for at in (1, 4, 9, 30, 45, size // 3, size // 2, size - 20, size - 1):
            with self.subTest(at):
                damaged = bytearray(self.bytes)
                damaged[at] ^= 16
                message = self.refuse(damaged)
                self.assertRegex(message, r"(is damaged|is cut short) at byte \d+")
        damaged[size - 1] ^= 16
        self.assertEqual(bytes(damaged), self.bytes)
        damaged[size // 2] ^= 1
        self.assertRegex(self.refuse(damaged), r"is damaged at byte \d+ \(in footnote.db\)")

    def test_more_after_its_end_and_other_files_are_refused(self):
        self.assertIn("has data after its end", self.refuse(self.bytes + b"x"))
        self.assertIn("at byte 0", self.refuse(b"PK\x03\x04" + bytes(100)))

    def test_a_folder_that_is_not_empty_stays_as_it_is(self):
        before = (self.data / "footnote.db").read_bytes()
        self.assertIn("not empty", self.footnote("restore", self.file, code=1))
        self.assertEqual((self.data / "footnote.db").read_bytes(), before)
        self.target.mkdir()
        (self.target / "notes.txt").write_text("mine")
        self.assertIn("notes.txt", self.footnote("restore", self.file, data=self.target, code=1))
        self.serve()
        self.assertIn("has", self.footnote("restore", self.file, code=1))

    def test_a_restore_that_was_killed_may_be_done_again(self):
        (self.target / "restoring.tmp").mkdir(parents=True)
        (self.target / "restoring.tmp" / "footnote.db").write_bytes(b"half")
        (self.target / "snapshots").mkdir()
        self.footnote("restore", self.file, data=self.target)
        self.assertEqual(sorted(os.listdir(self.target)), ["LOCK", "footnote.db"])


class Killed(Case):
    def test_a_killed_snapshot_leaves_no_half_file(self):
        for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
            process = subprocess.Popen([http_test.OPTIONS.binary, "snapshot", str(self.file), "--data", str(self.data)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=delay)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            if self.file.exists():  # finished before it was killed
                self.footnote("restore", self.file, data=self.work / f"whole-{delay}")
                self.file.unlink()
        self.footnote("snapshot", self.file)
        self.assertEqual(os.listdir(self.data / "copies"), [])
        self.restored()

    def test_a_killed_server_leaves_no_half_file(self):
        server = self.serve()
        process = subprocess.Popen([http_test.OPTIONS.binary, "snapshot", str(self.file), "--data", str(self.data)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: (self.data / "copies").exists(), 10)
        server.process.kill()
        process.wait(timeout=60)
        if process.returncode == 0:
            self.restored()
        else:
            self.assertFalse(self.file.exists())
        server.process.wait(timeout=20)
        again = self.serve()
        self.footnote("snapshot", self.file)
        self.restored("again")
        self.assertIsNone(again.process.poll())


def package_of(library):
    """The Debian package of a file. dpkg knows some libraries by the path that they had before /lib became a link to /usr/lib."""
    real = os.path.realpath(library)
    for path in (real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, timeout=60)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return library


class Operations(Case):
    def test_the_page_works_as_written(self):
        page = (ROOT / "docs" / "OPERATIONS.md").read_text()
        blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
        self.assertGreater(len(blocks), 5)
        self.data = self.data.rename(self.work / "footnote-data")
        server = self.serve()
        environment = {**os.environ, "PATH": f"{pathlib.Path(http_test.OPTIONS.binary).parent}:{os.environ['PATH']}"}
        for block in blocks:
            with self.subTest(block):
                script = block.replace("localhost:7700", f"127.0.0.1:{server.port}")
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.work, env=environment, capture_output=True,
                                      text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_container_files_fit_the_tree(self):
        compose = (ROOT / "examples" / "compose.yaml").read_text()
        dockerfile = (ROOT / "examples" / "Dockerfile").read_text()
        self.assertIn("dockerfile: examples/Dockerfile", compose)
        self.assertRegex(compose, r"- footnote-data:/data\n")
        self.assertRegex(compose, r"(?m)^volumes:\n  footnote-data:")
        self.assertIn("/readyz", compose)
        self.assertIn("FOOTNOTE_DATA=/data", dockerfile)
        copied = re.findall(r"^COPY --from=build /src/(\S+)", dockerfile, re.M)
        self.assertEqual(copied, ["build/release/footnote", ".deps/models"])  # all models: embedder, judge, reader
        self.assertIn("RUN make build", dockerfile)

    def test_the_image_has_every_library_of_the_binary(self):
        linked = subprocess.run(["ldd", http_test.OPTIONS.binary], capture_output=True, text=True, check=True, timeout=60).stdout
        needed = subprocess.run(["readelf", "-d", http_test.OPTIONS.binary], capture_output=True, text=True, check=True, timeout=60).stdout
        names = re.findall(r"Shared library: \[(.+)\]", needed)
        packages = {package_of(path) for name, path in re.findall(r"(\S+) => (\S+)", linked) if name in names}
        in_every_image = {"libc6", "libgcc-s1", "libstdc++6"}
        installed = (ROOT / "examples" / "Dockerfile").read_text().split()
        self.assertGreater(len(packages), 5)
        self.assertEqual(sorted(packages - in_every_image - set(installed)), [])


if __name__ == "__main__":
    http_test.main()

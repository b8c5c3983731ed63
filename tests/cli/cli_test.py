#!/usr/bin/env python3
"""Runs the real program in temporary folders, as people and scripts do.

usage: cli_test.py FOOTNOTE_BINARY [unittest arguments]
The model is taken from FOOTNOTE_MODELS, or from .deps/models of this repository.
"""
import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = None
MODELS = pathlib.Path(os.environ.get("FOOTNOTE_MODELS", ROOT / ".deps" / "models"))
MODEL = "all-MiniLM-L6-v2"

LEAVE = """# Parental leave

## Length

Every parent gets 26 weeks of paid parental leave at Larkfield.

## Notice

Tell your manager two months before the parental leave starts.
"""
TRAVEL = """<!doctype html><html><head><title>Travel</title></head><body><main><h1>Travel</h1>
<p>Trains are booked in second class. Flights need the approval of the head of department.</p></main></body></html>
"""
PARKING = "Bicycles are parked in the cellar of the Utrecht office.\n"


def reachable_by_others(path):
    """True if any user may read the file and enter every folder above it."""
    path = pathlib.Path(path).resolve()
    return bool(path.stat().st_mode & 0o004) and all(folder.stat().st_mode & 0o001 for folder in path.parents)


def set_schema_number(database, number):
    """Writes the number into the database's first page and updates the page's checksum: CRC-32C of its position (0) and its bytes."""
    with open(database, "r+b") as file:
        page = bytearray(file.read(8192))
        page[60:64] = number.to_bytes(4, "big")
        crc = 0xFFFFFFFF
        for piece in (bytes(8), page[:-4]):
            for byte in piece:
                crc ^= byte
                for _ in range(8):
                    crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        page[-4:] = (crc ^ 0xFFFFFFFF).to_bytes(4, "little")
        file.seek(0)
        file.write(page)


class Run:
    """The result of one run of the program."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


class FakeModelServer:
    """A fake OpenAI chat completions server: streams `pieces`, then waits for `hold` before it ends."""

    def __init__(self, pieces):
        self.pieces, self.hold, self.bodies = pieces, threading.Event(), []
        self.started = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                try:
                    for piece in outer.pieces:
                        self.send({"model": "fake-1", "choices": [{"index": 0, "delta": {"content": piece}}]})
                    outer.started.set()
                    outer.hold.wait(30)
                    self.send({"model": "fake-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                    self.wfile.write(b"data: [DONE]\n\n")
                except OSError:
                    pass

            def send(self, chunk):
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                self.wfile.flush()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def env(self):
        return {"LLM_BASE_URL": f"http://127.0.0.1:{self.server.server_port}/v1", "LLM_MODEL": "fake-1", "LLM_API_KEY": "sk-test-key"}

    def close(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="footnote-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "FOOTNOTE_MODELS": str(MODELS)}

    def run_footnote(self, *arguments, code=0, env=None, timeout=300, user=None):
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, env={**self.env, **(env or {})},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, encoding="utf-8", user=user)
        self.assertNotIn("\x1b", done.stdout + done.stderr, "no colour in a pipe")
        if code is not None:
            self.assertEqual(done.returncode, code, f"{arguments}\nout: {done.stdout}\nerr: {done.stderr}")
        return Run(done)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def write_docs(self):
        self.write("docs/time-off/leave.md", LEAVE)
        self.write("docs/travel.html", TRAVEL)
        self.write("docs/parking.txt", PARKING)

    def run_on_terminal(self, *arguments, env=None):
        """Everything that the program writes to a terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(BINARY, ["footnote", *arguments], {**self.env, "TERM": "xterm", **(env or {})})
        written = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other side closed the connection
                break
            if not piece:
                break
            written += piece
        os.waitpid(pid, 0)
        os.close(terminal)
        return written.decode()

    def fake_model(self, *pieces):
        fake = FakeModelServer(pieces)
        self.addCleanup(fake.close)
        return fake

    def serve(self, *arguments, env=None):
        """Starts a server; returns its ready line and its process."""
        process = subprocess.Popen([BINARY, "serve", "--port", "0", "--json", *arguments], cwd=self.folder, env={**self.env, **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

        def stop():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(stop)
        line = process.stdout.readline()
        self.assertTrue(line, "the server did not start: " + (process.stderr.read() if not line else ""))
        return json.loads(line), process


class CommandLine(Case):
    def test_help_version_and_usage(self):
        self.assertIn("Exit codes:", self.run_footnote("--help").out)
        self.assertIn("Examples:", self.run_footnote("ingest", "--help").out)
        self.assertRegex(self.run_footnote("--version").out, r"^footnote \d+\.\d+\.\d+\n$")
        self.assertIn("did you mean `search`?", self.run_footnote("serach", "x", code=2).err)
        self.assertIn("no flag '--explian' of `footnote search`; did you mean `--explain`?",
                      self.run_footnote("search", "x", "--explian", code=2).err)
        self.run_footnote(code=2)
        self.assertIn("footnote ask --help", self.run_footnote("ask", code=2).err)

    def test_completion_scripts_parse(self):
        bash = self.run_footnote("completion", "bash").out
        subprocess.run(["bash", "-n"], input=bash, encoding="utf-8", check=True)
        probe = bash + '\nCOMP_WORDS=(footnote in); COMP_CWORD=1; _footnote; echo "${COMPREPLY[@]}"' \
                       '\nCOMP_WORDS=(footnote ask --color ""); COMP_CWORD=3; _footnote; echo "${COMPREPLY[@]}"' \
                       '\nCOMP_WORDS=(footnote search --ex); COMP_CWORD=2; _footnote; echo "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash"], input=probe, encoding="utf-8", check=True, capture_output=True)
        self.assertEqual(done.stdout.splitlines(), ["ingest", "auto always never", "--explain"])
        for shell in ("zsh", "fish"):
            script = self.run_footnote("completion", shell).out
            self.assertIn("ingest", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, encoding="utf-8", check=True)

    def test_configuration_origins(self):
        self.write("footnote.toml", 'corpus = "from-file"\n[server]\nport = 7001\nhost = "localhost"\n[log]\nlevel = "warn"\n')
        self.write(".env", "FOOTNOTE_PORT=7002\nFOOTNOTE_LOG_LEVEL=error\nLLM_API_KEY='sk-secret-value'\n")
        env = {"FOOTNOTE_LOG_LEVEL": "off", "LITELLM_BASE": "http://127.0.0.1:4000"}
        run = self.run_footnote("config", "--json", "--data", "elsewhere", env=env)
        rows = {row["key"]: row for row in run.json["settings"]}
        self.assertEqual([rows[key]["origin"] for key in ("color", "corpus", "server.port", "log.level", "data")],
                         ["default", "file", "dotenv", "environment", "flag"])
        self.assertEqual(rows["server.port"]["value"], 7002)
        self.assertEqual(rows["server.host"]["place"], "footnote.toml:4")
        self.assertEqual(rows["llm.base_url"]["value"], "http://127.0.0.1:4000/v1")
        self.assertIsNone(rows["llm.api_key"]["value"])
        self.assertTrue(rows["llm.api_key"]["set"])
        self.assertNotIn("sk-secret", run.out + self.run_footnote("config", env=env).out)

    def test_configuration_errors_name_key_and_place(self):
        self.write("footnote.toml", "[sever]\nport = 1\n")
        self.assertIn("did you mean server.port?", self.run_footnote("config", code=2).err)
        self.write("footnote.toml", '[server]\nport = "many"\n')
        self.assertIn("server.port: expected an integer, found a string (from footnote.toml:2)", self.run_footnote("ask", "x", code=2).err)
        self.write("footnote.toml", "")
        self.assertIn("(from environment variable FOOTNOTE_PORT)", self.run_footnote("config", code=2, env={"FOOTNOTE_PORT": "x"}).err)

    def test_log_levels_by_module(self):
        self.run_footnote("config", "--log-level", "info,http=warn,ingest=debug")
        self.assertIn("did you mean ingest?", self.run_footnote("config", "--log-level", "info,ingst=debug", code=2).err)
        self.assertIn("(from environment variable FOOTNOTE_LOG_LEVEL)",
                      self.run_footnote("config", code=2, env={"FOOTNOTE_LOG_LEVEL": "info,http=loud"}).err)

    def test_reference_page(self):
        page = (ROOT / "docs" / "configuration.md").read_text()
        self.assertEqual(self.run_footnote("config", "--markdown").out, page)


class Documents(Case):
    def test_ingest_twice_then_change_and_delete(self):
        self.write_docs()
        first = self.run_footnote("ingest", "docs", "--json").lines
        committed = {event["path"]: event for event in first if event["event"] == "committed"}
        self.assertEqual(set(committed), {"time-off/leave.md", "travel.html", "parking.txt"})
        for event in committed.values():
            self.assertEqual(event["version"], 1)
            self.assertRegex(event["content_hash"], r"^[0-9a-f]{64}")
        self.assertEqual(first[-1]["event"], "summary")
        self.assertEqual(first[-1]["added"], 3)

        again = self.run_footnote("ingest", "docs")
        self.assertIn("nothing changed: 0 of 3 files embedded", again.out)

        self.write("docs/parking.txt", "Bicycles are parked on the roof of the Utrecht office.\n")
        (self.folder / "docs/travel.html").unlink()
        third = self.run_footnote("ingest", "docs", "--json").lines
        self.assertEqual([(event["event"], event["path"]) for event in third[:-1]],
                         [("committed", "parking.txt"), ("deleted", "travel.html")] if third[0]["event"] == "committed"
                         else [("deleted", "travel.html"), ("committed", "parking.txt")])
        self.assertEqual({key: third[-1][key] for key in ("added", "updated", "unchanged", "deleted")},
                         {"added": 0, "updated": 1, "unchanged": 1, "deleted": 1})

        listed = {row["path"]: row["version"] for row in self.run_footnote("documents", "--json").lines}
        self.assertEqual(listed, {"time-off/leave.md": 1, "parking.txt": 2})

    def test_ask_answers_with_sources_and_refuses_honestly(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        answer = self.run_footnote("ask", "How many weeks of parental leave does a parent get?")
        self.assertIn("26 weeks", answer.out)
        self.assertIn("[1]", answer.out)
        self.assertIn("time-off/leave.md:5", answer.out)
        self.assertIn('"Every parent gets 26 weeks', answer.out)
        reply = self.run_footnote("ask", "--json", "How many weeks of parental leave does a parent get?").json
        self.assertIsNone(reply["refusal_reason"])
        self.assertEqual(reply["citations"][0]["source_path"], "time-off/leave.md")

        refusal = self.run_footnote("ask", "What is the boiling point of tungsten?", code=3)
        self.assertTrue(refusal.out.startswith("Not answered: "), refusal.out)
        reply = self.run_footnote("ask", "--json", "What is the boiling point of tungsten?", code=3).json
        self.assertEqual(reply["refusal_reason"], "no_relevant_context")

    def test_search_explains_every_stage(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        found = self.run_footnote("search", "--explain", "--json", "-n", "2", "parental leave weeks").json
        self.assertLessEqual(len(found["hits"]), 2)
        best = found["hits"][0]
        self.assertEqual(best["source_path"], "time-off/leave.md")
        self.assertLessEqual({"vector", "keyword"}, {term["stage"] for term in best["terms"]})
        self.assertAlmostEqual(best["score"], sum(term["contribution"] for term in best["terms"]), places=6)
        self.assertTrue(found["gate"]["grounded"])
        text = self.run_footnote("search", "--explain", "parental leave weeks").out
        for word in ("weights: vector 0.50, keyword 0.50", "coverage", "gate: answerable", "times: ", "generation 1"):
            self.assertIn(word, text)

    def test_trace_shows_how_an_answer_came_about(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        answer = self.run_footnote("ask", "How many weeks of parental leave does a parent get?")
        turn = answer.out.rstrip().rsplit("footnote trace ", 1)[1]
        picture = self.run_footnote("trace", turn).out
        for words in (turn, "answer, confidence", "embed", "##", "gate: answerable", "cited [1]", "time-off/leave.md:"):
            self.assertIn(words, picture)
        trace = self.run_footnote("trace", turn, "--json").json
        self.assertEqual((trace["version"], trace["turn_id"]), (1, turn))
        self.assertEqual([stage["stage"] for stage in trace["stages"]][-3:], ["read", "cite", "store"])
        reply = self.run_footnote("ask", "--json", "What is the boiling point of tungsten?", code=3).json
        refused = self.run_footnote("trace", reply["meta"]["turn_id"]).out
        self.assertIn("refused: no_relevant_context", refused)
        self.assertIn("gate: below threshold", refused)
        painted = self.run_on_terminal("trace", turn)
        self.assertIn("\x1b[36m", painted)
        self.assertIn("turn_nobody", self.run_footnote("trace", "turn_nobody", code=1).err)
        self.assertIn("footnote ask", self.run_footnote("trace", "nonsense", code=1).err)
        self.run_footnote("trace", code=2)

    def test_a_terminal_gets_colour_and_a_bar(self):
        self.write_docs()
        ingest = self.run_on_terminal("ingest", "docs")
        self.assertIn("3/3 files", ingest)
        self.assertIn("\r\x1b[K", ingest)
        question = ("ask", "How many weeks of parental leave does a parent get?")
        self.assertIn("\x1b[36m[1]", self.run_on_terminal(*question))
        self.assertNotIn("\x1b", self.run_on_terminal(*question, env={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", self.run_on_terminal(*question, "--color", "never"))

    def test_a_language_model_answers_from_the_same_hits(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        fake = self.fake_model("Parents get ", "26 weeks [1].")
        fake.hold.set()
        question = "How many weeks of parental leave does a parent get?"
        self.assertIn("Parents get 26 weeks [1].", self.run_footnote("ask", question, env=fake.env).out)
        reply = self.run_footnote("ask", "--json", question, env=fake.env).json
        self.assertEqual(reply["meta"]["model"], "fake-1")
        self.assertIn("26 weeks of paid parental leave", json.dumps(fake.bodies[0]["messages"]))
        self.run_footnote("ask", "What is the boiling point of tungsten?", env=fake.env, code=3)
        self.assertEqual(len(fake.bodies), 2, "a refusal does not call the model")
        unset = {**fake.env, "LLM_MODEL": ""}
        self.assertIn("LLM_MODEL", self.run_footnote("ask", question, env=unset, code=1).err)
        down = {**fake.env, "LLM_BASE_URL": "http://127.0.0.1:9/v1"}
        self.assertIn("(LLM_BASE_URL; `footnote doctor` checks it)", self.run_footnote("ask", question, env=down, code=1).err)

    def test_corpora_are_apart(self):
        self.write_docs()
        self.run_footnote("ingest", "docs/parking.txt", "--corpus", "office")
        self.assertIn("cellar", self.run_footnote("ask", "Where are bicycles parked?", "--corpus", "office").out)
        missing = self.run_footnote("ask", "Where are bicycles parked?", code=1)
        self.assertIn("office", missing.err)

    def test_nothing_indexed_yet(self):
        run = self.run_footnote("ask", "anything", code=1)
        self.assertIn("run `footnote ingest PATH` first", run.err)
        self.assertFalse((self.folder / "footnote-data").exists(), "asking makes no folder")


class BesideAServer(Case):
    """Commands do the same in their own process and through a server that holds the data folder."""

    def both_ways(self, scenario):
        """The results of scenario() on a new data folder: without a server, then with one."""
        alone = scenario()
        shutil.rmtree(self.folder / "footnote-data")
        _, server = self.serve()
        beside = scenario()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=20), 0)
        return alone, beside

    def documents(self):
        rows = self.run_footnote("documents", "--json").lines
        return {row["path"]: (row["title"], row["content_hash"], row["version"], row["chunks"]) for row in rows}

    def ingest(self, *arguments, code=0):
        """The report of an ingest, without values that differ between runs."""
        return self.run_footnote("ingest", *arguments, "--json", code=code).lines

    def test_prefixes_do_not_delete_each_other(self):
        self.write("d/readme.md", "# Readme\n\nThe first readme.\n")

        def scenario():
            self.ingest("d", "--prefix", "a/")
            self.ingest("d", "--prefix", "b/")
            return sorted(self.documents())

        alone, beside = self.both_ways(scenario)
        self.assertEqual(alone, ["a/readme.md", "b/readme.md"])
        self.assertEqual(beside, alone)

    def test_one_rule_for_what_is_unchanged_and_what_is_gone(self):
        def scenario():
            shutil.rmtree(self.folder / "docs", ignore_errors=True)
            self.write_docs()
            self.write("docs/latin1.md", "# Caf\u00e9\n\nThe caf\u00e9 opens at nine.\n".encode("latin-1"))
            self.write("docs/emptied.md", "# Emptied\n\nSoon to be empty.\n")
            self.write("docs/binary.txt", "Soon to be binary.\n")
            self.write("docs/removed.md", "# Removed\n\nSoon to be removed.\n")
            self.write("docs/single.md", "# Single\n\nA file of its own.\n")
            reports = [self.ingest("docs"), self.ingest("docs"), self.documents()]
            self.write("docs/emptied.md", "")
            self.write("docs/binary.txt", b"\0\1\2\3" * 100)
            (self.folder / "docs/removed.md").unlink()
            self.write("docs/parking.txt", "Bicycles are parked on the roof of the Utrecht office.\n")
            reports.append(self.ingest("docs", "--keep-deleted", code=4))
            reports += [sorted(self.documents()), self.ingest("docs", code=4), self.documents()]
            return reports

        alone, beside = self.both_ways(scenario)
        self.assertEqual(beside, alone)
        first, again, _, _, kept, last, _ = alone
        self.assertEqual((first[-1]["added"], first[-1]["warnings"]), (8, 1))
        self.assertEqual((again[-1]["unchanged"], again[-1]["added"] + again[-1]["updated"]), (8, 0))
        self.assertLessEqual({"emptied.md", "binary.txt", "removed.md"}, set(kept))
        self.assertEqual({event["path"] for event in last if event["event"] == "deleted"}, {"emptied.md", "binary.txt", "removed.md"})

    def test_a_data_folder_that_changes_hands_stays_as_it_is(self):
        self.write("docs/latin1.md", "# Caf\u00e9\n\nThe caf\u00e9 opens at nine.\n".encode("latin-1"))
        self.ingest("docs")
        self.serve()
        self.assertEqual(self.ingest("docs")[-1]["unchanged"], 1, "the bytes are the same, whoever reads them")


    def test_an_answer_appears_as_it_is_written(self):
        self.write_docs()
        self.ingest("docs")
        fake = self.fake_model("Parents get ", "26 weeks [1].")
        question = ("ask", "How many weeks of parental leave does a parent get?")
        for beside in (False, True):
            if beside:
                self.serve(env=fake.env)
            fake.hold.clear()
            process = subprocess.Popen([BINARY, *question], cwd=self.folder, env={**self.env, **fake.env}, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            self.assertEqual(os.read(process.stdout.fileno(), 100)[:7], b"Parents", "before the model has ended")
            fake.hold.set()
            out, _ = process.communicate(timeout=30)
            self.assertIn(b"time-off/leave.md:5", out)
            self.assertIn(b"by fake-1", out)

    def test_every_command(self):
        self.write_docs()
        for i in range(40):
            self.write(f"docs/rules/{i}.md", f"# Rule {i}\n\nThe rule number {i} of the company handbook is about the office of floor {i}.\n")

        def scenario():
            self.ingest("docs")
            turn = self.run_footnote("ask", "--json", "How many weeks of parental leave does a parent get?").json["meta"]["turn_id"]
            found = self.run_footnote("search", "--json", "bicycles").json["hits"][0]
            trace = self.run_footnote("trace", turn, "--json").json
            self.run_footnote("workspaces", "create", "acme")
            self.run_footnote("keys", "create", "--name", "ci", "--scope", "read")
            calibrated = self.run_footnote("calibrate", "--json").json
            self.run_footnote("calibrate", "--clear")
            named = self.run_footnote("rebuild-index", "memory", "--json").json
            every = self.run_footnote("rebuild-index", "--json").json
            self.run_footnote("snapshot", "all.footnote")
            self.run_footnote("restore", "all.footnote", "--data", "copy")
            restored = self.run_footnote("documents", "--data", "copy", "--json").lines
            shutil.rmtree(self.folder / "copy")
            checks = self.run_footnote("doctor", "--json").json["checks"]
            self.assertIn("no corpus", self.run_footnote("calibrate", "nothing", code=1).err)
            self.assertIn("no corpus", self.run_footnote("rebuild-index", "nothing", code=1).err)
            self.assertIn("no corpus", self.run_footnote("documents", "--corpus", "nothing", code=1).err)
            return {"documents": self.documents(),
                    "search": (found["source_path"], found["score"]),
                    "trace": [candidate["source_path"] for candidate in trace["candidates"]],
                    "workspaces": [row["name"] for row in self.run_footnote("workspaces", "list", "--json").json["workspaces"]],
                    "keys": [(row["name"], row["scopes"]) for row in self.run_footnote("keys", "list", "--json").json["keys"]],
                    "calibrate": calibrated,
                    "rebuild": [(row["state"], row["rows"], row["generation"], row["embedded"], row["recoded"]) for row in (named, every)],
                    "restored": [row["path"] for row in restored],
                    "doctor": {check["name"]: check["status"] for check in checks if check["name"] not in ("server", "port")}}

        alone, beside = self.both_ways(scenario)
        self.assertEqual(beside, alone)
        self.assertEqual(alone["rebuild"][0][:2], ("done", 43))
        self.assertEqual({alone["doctor"][name] for name in ("store", "corpus memory", "indexes memory")}, {"ok"})

    def test_what_needs_the_folder_alone_says_what_to_do(self):
        self.write_docs()
        self.ingest("docs")
        self.write("mine.jsonl", json.dumps({"question": "Where are bicycles parked?", "documents": ["parking.txt"]}) + "\n")
        self.write("texts.jsonl", json.dumps({"text": "Where are bicycles parked?"}) + "\n")
        ready, _ = self.serve()
        for command in (("serve", "--port", "0"), ("eval", "mine.jsonl"), ("restore", "x.footnote"),
                        ("bench", "index", "--retrieve", "--questions", "texts.jsonl")):
            error = self.run_footnote(*command, code=1).err
            self.assertIn(ready["url"], error)
            self.assertIn("footnote snapshot", error)


class BadInput(Case):
    def test_each_bad_file_is_named_and_the_rest_goes_on(self):
        self.write_docs()
        self.write("docs/empty.md", "")
        self.write("docs/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(64))
        self.write("docs/data.xyz", b"\0\1\2\3" * 100)
        self.write("docs/report.docx", b"MZ" + bytes(100))
        self.write("docs/latin1.md", "# Caf\u00e9\n\nThe caf\u00e9 opens at nine.\n".encode("latin-1"))
        (self.folder / "docs/loop").symlink_to(self.folder / "docs")
        (self.folder / "docs/gone").symlink_to("nowhere")
        os.mkfifo(self.folder / "docs/pipe.md")
        with open(self.folder / "docs/huge.txt", "wb") as huge:
            huge.truncate(100 << 20)
        run = self.run_footnote("ingest", "docs", "--json", code=4, timeout=60)
        problems = {pathlib.PurePath(event["path"]).name: event["reason"] for event in run.lines if event["event"] == "problem"}
        for name in ("empty.md", "report.docx", "gone", "pipe.md", "huge.txt"):
            self.assertIn(name, problems)
            self.assertTrue(problems[name])
        self.assertEqual(run.lines[-1]["no_documents"], {"binary files": 1, "images": 1})
        self.assertIn({"event": "warning", "path": "latin1.md", "reason": "read as windows-1252"}, run.lines)
        committed = {event["path"] for event in run.lines if event["event"] == "committed"}
        self.assertLessEqual({"time-off/leave.md", "travel.html", "parking.txt", "latin1.md"}, committed)
        self.assertEqual(len([path for path in committed if path.startswith("loop")]), 0)
        text = self.run_footnote("ingest", "docs", code=4).out
        self.assertIn("huge.txt", text)
        self.assertIn("not read, as they are no documents: 1 binary files, 1 images", text)

    def test_a_page_of_a_pdf_and_a_line_of_a_web_page_are_named(self):
        fixtures = pathlib.Path(__file__).resolve().parent.parent / "fixtures/formats"
        for name in ("leave.pdf", "leave.html", "prices.xlsx"):
            self.write(f"docs/{name}", (fixtures / name).read_bytes())
        self.write("docs/logo.svg", "<svg/>")
        self.run_footnote("ingest", "docs")
        hits = self.run_footnote("search", "--json", "parental leave fourteen months staff office").json["hits"]
        places = {hit["source_path"]: (hit["first_line"], hit["page"], hit["place"]) for hit in hits if "fourteen" in hit["text"]}
        self.assertEqual(places["leave.pdf"], (None, 1, "p. 1"))  # a passage of all three pages
        self.assertEqual(places["leave.html"][0], 10)
        self.assertIn("leave.pdf, p. 1", self.run_footnote("search", "parental leave fourteen months").out)
        rows = self.run_footnote("search", "--json", "price of coffee").json["hits"][0]
        self.assertEqual((rows["source_path"], rows["place"], rows["headings"]), ("prices.xlsx", "row 1", ["prices", "Canteen"]))

    def test_unreadable_folder(self):
        self.write_docs()
        self.write("docs/secret/x.md", "# X")
        os.chmod(self.folder / "docs/secret", 0)
        self.addCleanup(os.chmod, self.folder / "docs/secret", 0o700)
        user = None
        if os.geteuid() == 0:  # root can read everything: run as another user
            user = 65534
            if not reachable_by_others(BINARY) or not reachable_by_others(MODELS / MODEL / "config.json"):
                self.skipTest("other users can't reach the program or the model")
            for path in [self.folder, *self.folder.rglob("*")]:
                os.chown(path, user, user)
        run = self.run_footnote("ingest", "docs", code=4, user=user)
        self.assertIn("secret", run.out)
        self.assertIn("3 added", run.out)

    def test_missing_path(self):
        run = self.run_footnote("ingest", "nowhere", code=1)
        self.assertIn("footnote: nowhere: no such file or folder", run.err)
        self.run_footnote("ingest", "https://example.com", code=1)

    def test_missing_model_names_the_fix(self):
        self.write_docs()
        run = self.run_footnote("ingest", "docs", code=1, env={"FOOTNOTE_MODELS": "nowhere"})
        self.assertIn("make setup", run.err)

    def test_corrupted_model_is_refused(self):
        source = MODELS / MODEL
        copy = self.folder / "models" / MODEL
        shutil.copytree(source, copy)
        if not (copy / "checksums.sha256").exists():
            lines = [f"{hashlib.sha256((copy / name).read_bytes()).hexdigest()}  {name}\n" for name in ("model.safetensors", "vocab.txt")]
            (copy / "checksums.sha256").write_text("".join(lines))
        env = {"FOOTNOTE_MODELS": str(self.folder / "models")}
        self.write_docs()
        self.run_footnote("ingest", "docs", env=env)
        with open(copy / "model.safetensors", "r+b") as weights:
            weights.seek(-1000, os.SEEK_END)
            byte = weights.read(1)
            weights.seek(-1, os.SEEK_CUR)
            weights.write(bytes([byte[0] ^ 1]))
        for command in (("ask", "x"), ("ingest", "docs")):
            run = self.run_footnote(*command, env=env, code=1)
            self.assertIn("make setup", run.err)
            self.assertIn("model.safetensors", run.err)
        doctor = self.run_footnote("doctor", "--json", env=env, code=1).json
        model = next(check for check in doctor["checks"] if check["name"] == "model")
        self.assertEqual(model["status"], "broken")
        self.assertIn("make setup", model["fix"])

    def test_newer_schema_is_refused(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        set_schema_number(self.folder / "footnote-data" / "footnote.db", 9999)
        for command in (("ask", "x"), ("ingest", "docs"), ("documents",)):
            self.assertIn("newer footnote", self.run_footnote(*command, code=1).err)
        self.assertIn("newer footnote", self.run_footnote("doctor", code=1).out)


class Processes(Case):
    def test_a_held_folder_is_refused_at_once(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        with open(self.folder / "footnote-data" / "LOCK", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            start = time.monotonic()
            for command in (("ask", "x"), ("ingest", "docs"), ("documents",), ("serve", "--port", "0")):
                self.assertIn("footnote-data", self.run_footnote(*command, code=1).err)
            self.assertLess(time.monotonic() - start, 10)

    def test_commands_go_through_a_running_server(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        ready, server = self.serve()
        question = "How many weeks of parental leave does a parent get?"
        self.assertIn("26 weeks", self.run_footnote("ask", question).out)
        self.assertEqual(self.run_footnote("ask", "--json", question).json["citations"][0]["source_path"], "time-off/leave.md")
        self.run_footnote("ask", "What is the boiling point of tungsten?", code=3)
        found = self.run_footnote("search", "--json", "bicycles").json
        self.assertEqual(found["hits"][0]["source_path"], "parking.txt")

        self.write("docs/canteen.md", "# Canteen\n\nThe canteen serves lunch from noon until two.\n")
        self.write("docs/bad.txt", b"\0\1\2" * 64)
        run = self.run_footnote("ingest", "docs", "--json", code=4)
        self.assertEqual([event["path"] for event in run.lines if event["event"] == "committed"], ["canteen.md"])
        self.assertEqual(run.lines[-1]["unchanged"], 3)
        self.assertIn("noon", self.run_footnote("ask", "When does the canteen serve lunch?").out)

        self.assertIn(ready["url"], self.run_footnote("serve", "--port", "0", code=1).err)
        self.assertIn(ready["url"], self.run_footnote("doctor").out)

        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=20), 0)
        self.assertIn("noon", self.run_footnote("ask", "When does the canteen serve lunch?").out)

    def test_only_loopback_callers(self):
        for host in ("0.0.0.0", "192.168.1.1", "example.com"):
            self.assertIn("footnote keys create", self.run_footnote("serve", "--host", host, code=1).err)
        ready, _ = self.serve()
        for headers in ({"Host": "rebound.example"}, {"Origin": "https://evil.example"}):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(ready["url"] + "/livez", headers=headers), timeout=10)
            self.assertEqual(refused.exception.code, 403)
            refused.exception.close()
        with urllib.request.urlopen(ready["url"] + "/livez", timeout=10) as alive:
            self.assertEqual(alive.status, 200)

    def test_the_demonstration_shop_is_served_on_demand(self):
        for arguments, status in ((("--demo",), 200), ((), 404)):
            ready, server = self.serve(*arguments)
            for path in ("/demo/shop/", "/demo/shop/returns.html", "/demo/shop/shop.css"):
                try:
                    with urllib.request.urlopen(ready["url"] + path, timeout=10) as page:
                        found = page.status
                except urllib.error.HTTPError as refused:
                    found = refused.code
                    refused.close()
                self.assertEqual(found, status, path)
            with urllib.request.urlopen(ready["url"] + "/widget.js", timeout=10) as script:
                self.assertIn(b"attachShadow", script.read())
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=20), 0)

    def test_sigterm_drains_and_a_second_one_ends_at_once(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        fake = self.fake_model("Parents get 26 weeks [1].")
        ready, server = self.serve(env=fake.env)
        body = json.dumps({"question": "How many weeks of parental leave does a parent get?"}).encode()
        answers = []

        def ask():
            request = urllib.request.Request(ready["url"] + "/api/kb/chat", body, {"content-type": "application/json"})
            try:
                answers.append(json.load(urllib.request.urlopen(request, timeout=20)))
            except OSError as error:
                answers.append(error)

        first = threading.Thread(target=ask)
        first.start()
        self.assertTrue(fake.started.wait(20))
        server.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        self.assertIsNone(server.poll(), "a running answer may finish")
        fake.hold.set()
        first.join(20)
        self.assertIn("26 weeks", answers[0]["answer"])
        self.assertEqual(server.wait(timeout=20), 0)

        fake.hold.clear()
        fake.started.clear()
        ready, server = self.serve(env=fake.env)
        second = threading.Thread(target=ask)
        second.start()
        self.assertTrue(fake.started.wait(20))
        server.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        start = time.monotonic()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=5), 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - start, 2)
        second.join(20)

    def test_documents_of_another_source_are_not_overwritten(self):
        self.write("a/readme.md", "# A\n\nThe first readme.\n")
        self.write("b/readme.md", "# B\n\nThe second readme.\n")
        self.run_footnote("ingest", "a")
        self.assertIn("--take-over", self.run_footnote("ingest", "b", code=4).out)
        self.run_footnote("ingest", "b", "--prefix", "b/")
        self.assertEqual([row["path"] for row in self.run_footnote("documents", "--json").lines], ["b/readme.md", "readme.md"])
        self.run_footnote("ingest", "b", "--take-over")
        self.assertEqual([row["title"] for row in self.run_footnote("documents", "--json").lines if row["path"] == "readme.md"], ["B"])

    def test_a_port_in_use_is_named(self):
        ready, _ = self.serve()
        port = ready["url"].rsplit(":", 1)[1]
        run = self.run_footnote("serve", "--port", port, "--data", "other", code=1)
        self.assertIn(f"another program already listens on 127.0.0.1:{port}; choose another port with --port", run.err)

    def test_doctor(self):
        empty = self.run_footnote("doctor", "--port", "0", "--json", code=None)
        self.assertEqual(empty.code, 2, "doctor takes no --port")
        checks = {check["name"]: check for check in self.run_footnote("doctor", "--json").json["checks"]}
        self.assertEqual(checks["store"]["status"], "note")
        self.assertEqual(checks["model"]["dimension"], 384)
        self.assertGreater(checks["model"]["paraphrase"], checks["model"]["unrelated"])
        self.write_docs()
        self.run_footnote("ingest", "docs")
        doctor = self.run_footnote("doctor", "--json").json
        checks = {check["name"]: check for check in doctor["checks"]}
        self.assertTrue(doctor["ok"])
        self.assertEqual(checks["store"]["status"], "ok")
        self.assertEqual(checks["corpus memory"]["documents"], 3)
        self.assertNotIn(" at ;", checks["reranker"]["detail"])
        self.assertTrue(checks["reranker"]["detail"].startswith("local; "), checks["reranker"]["detail"])
        self.assertEqual(checks["corpus memory"]["index_generation"], checks["corpus memory"]["generation"])

    def test_doctor_notes_token_codes_that_no_question_fits(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")

        def corpus(env):
            return next(check for check in self.run_footnote("doctor", "--json", env=env).json["checks"] if check["name"] == "corpus memory")

        self.assertEqual(corpus(self.env)["status"], "ok")
        other = corpus({**self.env, "LATE_CODES": "half"})
        self.assertEqual(other["status"], "note")
        self.assertGreater(other["codes_of_another_form"], 0)
        self.assertIn("footnote rebuild-index memory", other["fix"])
        self.assertIn("late.codes", other["fix"])
        self.write("docs/lantern.md", "# Lanterns\n\nA lantern of brass burns for nine hours.\n")
        self.run_footnote("ingest", "docs", env={**self.env, "LATE_CODES": "off"})
        bare = corpus(self.env)
        self.assertEqual((bare["status"], bare["codes_missing"]), ("note", 1))
        self.assertIn("1 have no token codes, so their tokens are not compared", bare["detail"])
        self.run_footnote("rebuild-index", "memory")
        self.assertEqual(corpus(self.env)["status"], "ok")

    def test_people_read_of_the_default_corpus_by_no_name_that_they_never_chose(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        self.run_footnote("ingest", "docs", "--corpus", "product")
        self.assertIn("3 documents in default corpus, generation", self.run_footnote("documents").out)
        self.assertIn("3 documents in corpus product, generation", self.run_footnote("documents", "--corpus", "product").out)
        for command in ("doctor", "rebuild-index"):
            out = self.run_footnote(command).out
            self.assertRegex(out, "default corpus[: ]")
            self.assertRegex(out, "corpus product[: ]")
            self.assertNotRegex(out, r"(corpus|indexes) memory\b")

    def test_what_is_suggested_reaches_the_same_folder(self):
        folder = str(self.folder / "else where")
        asked = self.run_footnote("ask", "x", "--data", folder, code=None)
        self.assertIn(f"footnote ingest PATH --data '{folder}'", asked.err)
        self.assertIn(f"footnote ingest PATH --data '{folder}'", self.run_footnote("doctor", "--data", folder).out)
        self.assertIn("footnote ingest PATH`", self.run_footnote("ask", "x", code=None).err, "the default needs no flag")

    def test_rebuild_index_makes_token_codes_of_another_form_anew(self):
        self.write_docs()
        self.run_footnote("ingest", "docs")
        half = {**self.env, "LATE_CODES": "half"}

        def stages(env):
            hits = self.run_footnote("search", "how long are backups kept", "--json", env=env).json["hits"]
            return {term["stage"] for term in hits[0]["terms"]}

        def rebuild(*names, env=half):
            return self.run_footnote("rebuild-index", *names, "--json", env=env).json

        self.assertIn("late", stages(self.env))
        self.assertNotIn("late", stages(half))
        self.assertEqual(rebuild()["recoded"], 0, "only where it is named")
        first = rebuild("memory")
        self.assertEqual((first["recoded"], first["embedded"]), (first["rows"], 0))
        self.assertIn("late", stages(half))
        self.assertNotIn("late", stages(self.env))
        self.assertEqual(rebuild("memory")["recoded"], 0, "once is enough")
        # Also for passages without codes.
        off = {**self.env, "LATE_CODES": "off"}
        self.write("docs/lantern.md", "# Lanterns\n\nA lantern of brass burns for nine hours.\n")
        self.run_footnote("ingest", "docs", env=off)
        self.assertEqual(rebuild("memory", env=off)["recoded"], 0, "a model that makes none")
        self.assertEqual(rebuild("memory")["recoded"], 1)
        # A file with old codes is ignored, even if there is no new one.
        self.assertEqual(rebuild("memory", env={**self.env, "FOOTNOTE_INDEX_CODE_FILE_MIB": "0"})["recoded"], first["rows"] + 1)
        self.assertIn("late", stages(self.env))
        self.assertEqual(rebuild("memory")["recoded"], first["rows"] + 1)
        without_model = rebuild("memory", env={**self.env, "FOOTNOTE_MODELS": str(self.folder)})
        self.assertEqual(without_model["recoded"], 0)
        # A running server does it in the background.
        self.serve()
        self.assertNotIn("late", stages(self.env))
        state = rebuild("memory", env=self.env)
        self.assertEqual((state["state"], state["done"]), ("done", first["rows"] + 1))
        self.assertIn("late", stages(self.env))

    def test_killed_ingest_keeps_what_it_told(self):
        for i in range(120):
            self.write(f"many/{i:03}.md", f"# Page {i}\n\nThis is the page number {i} about topic {i * 7 % 11}.\n")
        process = subprocess.Popen([BINARY, "ingest", "many", "--json"], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        told = [process.stdout.readline()]
        process.kill()
        told += process.communicate()[0].splitlines(keepends=True)
        events = [json.loads(line) for line in told if line.endswith("\n")]
        committed = {event["path"] for event in events if event["event"] == "committed"}
        self.assertTrue(committed)
        listed = {row["path"] for row in self.run_footnote("documents", "--json").lines}
        self.assertLessEqual(committed, listed)
        self.run_footnote("doctor")
        self.run_footnote("ingest", "many")
        self.assertEqual(len(self.run_footnote("documents", "--json").lines), 120)


    def test_interrupted_ingest_goes_on_later(self):
        for i in range(150):
            self.write(f"many/{i:03}.md", f"# Page {i}\n\n" + f"A sentence number {i} about topic {i * 7 % 11}. " * 20)
        process = subprocess.Popen([BINARY, "ingest", "many", "--json"], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("Run the same command again", err)
        done = len(self.run_footnote("documents", "--json").lines)
        summary = self.run_footnote("ingest", "many", "--json").lines[-1]
        self.assertEqual(summary["unchanged"], done)
        self.assertEqual(summary["added"], 150 - done)


class Eval(Case):
    def test_beir_folder(self):
        documents = [("d1", "Leave", "Every parent gets 26 weeks of paid parental leave."), ("d2", "", "Trains are booked in second class."),
                     ("d3", "Bikes", "Bicycles are parked in the cellar."), ("d4", "", " ")]
        self.write("set/corpus.jsonl", "".join(json.dumps({"_id": i, "title": t, "text": x}) + "\n" for i, t, x in documents))
        self.write("set/queries.jsonl", "".join(json.dumps({"_id": i, "text": x}) + "\n" for i, x in
                                                (("q1", "how long is parental leave"), ("q2", "where do bicycles go"), ("q3", "ungraded"))))
        self.write("set/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td3\t1\n")
        first = self.run_footnote("eval", "set", "--json").json
        self.assertEqual((first["kind"], first["documents"], first["rows"], first["documents_embedded"]), ("retrieval", 4, 2, 3))
        self.assertEqual([stage["stage"] for stage in first["stages"]], ["keyword", "vector", "late", "fused", "judged"])
        for stage in first["stages"]:
            self.assertEqual((stage["ndcg_10"], stage["mrr_10"], stage["map"], stage["recall_10"]), (1, 1, 1, 1), stage)
        second = self.run_footnote("eval", "set", "--json", "--stages", "vector", "--limit", "1").json
        self.assertEqual((second["documents_embedded"], second["rows"], len(second["stages"])), (0, 1, 1))
        self.assertIn("nDCG@10", self.run_footnote("eval", "set").out)
        self.assertIn("corpus.jsonl", self.run_footnote("eval", "nowhere", code=1).err)
        self.run_footnote("eval", "set", "--save", "run.json")
        again = self.run_footnote("eval", "set", "--against", "run.json", "--stages", "fused", "--json").json
        self.assertEqual([(row["metric"], row["difference"], row["p"]) for row in again["against"]][0], ("ndcg_10", 0, 1))

    def test_own_questions(self):
        self.write("docs/leave.md", "# Leave\n\nEvery parent gets 26 weeks of paid parental leave.\n")
        self.write("docs/trains.md", "# Trains\n\nTrains are booked in second class by the travel office.\n")
        self.run_footnote("ingest", "docs")
        self.write("mine.jsonl", "".join(json.dumps(row) + "\n" for row in (
            {"question": "How many weeks of parental leave does a parent get?", "documents": ["leave.md"], "answers": ["26 weeks"]},
            {"question": "Who painted the Night Watch in Amsterdam?", "answerable": False})))
        self.write("foreign.jsonl", json.dumps({"question": "How do octopuses change their colour?"}) + "\n")
        run = self.run_footnote("eval", "mine.jsonl", "--foreign", "foreign.jsonl", "--json").json
        self.assertEqual((run["kind"], run["rows"]), ("questions", 2))
        stages = {stage["stage"]: stage for stage in run["stages"]}
        self.assertEqual((stages["fused"]["rows"], stages["fused"]["ndcg_10"]), (1, 1))
        answer = stages["answer"]
        self.assertEqual([answer[name] for name in ("answered", "right_source", "right_text", "refused", "refused_foreign")], [1, 1, 1, 1, 1])
        for gate, share in (("1000", 0), ("-1000", 1)):
            run = self.run_footnote("eval", "mine.jsonl", "--stages", "answer", "--gate", gate, "--json").json
            self.assertEqual(run["stages"][0]["answered"], share, gate)

    def test_questions_about_documents(self):
        self.write("docs/a/leave.md", "# Leave\n\nEvery parent gets **26 weeks** of paid parental leave.\n")
        self.write("docs/a/deep/trains.html", TRAVEL)
        self.write("about/questions/a.jsonl", "".join(json.dumps(row) + "\n" for row in (
            {"id": "a-1", "question": "How many weeks of parental leave does a parent get?", "kind": "fact", "answer": "26\\W+weeks",
             "pages": ["leave.md"], "half": "tune"},
            {"id": "a-2", "question": "In which class are trains booked?", "kind": "fact", "answer": "third class",
             "pages": ["deep/trains.html"], "half": "keep"},
            {"id": "a-3", "question": "Who painted the Night Watch in Amsterdam?", "kind": "fact", "unanswerable": True, "half": "keep"})))
        first = self.run_footnote("eval", "about", "--documents", "docs", "--answers", "answers.jsonl", "--save", "run.json", "--json").json
        self.assertEqual((first["kind"], first["rows"], first["documents"], first["documents_embedded"]), ("documentation", 3, 2, 2))
        whole = first["groups"][0]
        self.assertEqual([whole[name] for name in ("answerable", "right", "wrong", "right_page", "unanswerable", "unanswerable_refused")],
                         [2, 1, 1, 2, 1, 1])
        self.assertEqual([(group["by"], group["name"]) for group in first["groups"]], [("all", "all"), ("half", "tune"), ("half", "keep")])
        rows = [json.loads(line) for line in (self.folder / "answers.jsonl").read_text().splitlines()]
        self.assertEqual([row["outcome"] for row in rows], ["right", "wrong", "refused"])
        self.assertEqual((rows[0]["cited"], rows[0]["passage_rank"], rows[1]["passage_rank"]), (["leave.md"], 1, None))
        second = self.run_footnote("eval", "about", "--documents", "docs", "--half", "tune", "--against", "run.json", "--json").json
        self.assertEqual((second["rows"], second["documents_embedded"], second["against"][0]["difference"]), (1, 0, 0))
        text = self.run_footnote("eval", "about", "--documents", "docs", "--set", "a").out
        self.assertIn("right page", text)
        for arguments, why in ((("about",), "--documents"), (("about", "--documents", "nowhere"), "no such folder"),
                               (("about", "--documents", "docs", "--set", "b"), "no set 'b'"),
                               (("about", "--documents", "docs", "--stages", "keyword"), "--stages"),
                               (("docs", "--half", "tune"), "--half")):
            self.assertIn(why, self.run_footnote("eval", *arguments, code=1).err)

    def test_grounding(self):
        evidence = "Shipping within Europe takes three days. Returns are free for 30 days."
        self.write("claims.jsonl", "".join(json.dumps({"claim": claim, "evidence": evidence, "label": label}) + "\n" for claim, label in (
            ("Shipping within Europe takes three days.", "supported"), ("Shipping within Europe takes nine days.", "not_supported"),
            ("Penguins live on the ice of the far south.", "not_supported"))))
        run = self.run_footnote("eval", "claims.jsonl", "--json").json
        check = {stage["stage"]: stage for stage in run["stages"]}["check"]
        self.assertEqual((check["auc"], check["f1"], check["unsupported_recall"]), (1, 1, 1), check)


class Calibrate(Case):
    def test_a_corpus_keeps_its_gate(self):
        for topic in ("leave", "trains", "bicycles", "kitchens", "parking", "laptops", "visitors", "invoices"):
            lines = " ".join(f"The {topic} rule number {i} of the company handbook tells employees of office {i} about {topic} and forms." for i in range(9))
            self.write(f"docs/{topic}.md", f"# Company rules for {topic}\n\n{lines}\n")
        self.run_footnote("ingest", "docs")
        set_to = self.run_footnote("calibrate", "--rate", "0.05", "--json").json
        self.assertLessEqual(set_to["false_answer_rate"], 0.2)
        self.assertGreater(set_to["foreign_measured"], 20)
        gate = self.run_footnote("search", "leave rule", "--json").json["gate"]
        self.assertAlmostEqual(gate["threshold"], set_to["evidence_min"])
        self.assertIn("not set by", self.run_footnote("calibrate", "memory").out)
        self.assertIn("`footnote calibrate` set it", self.run_footnote("calibrate", "--show").out)
        self.run_footnote("calibrate", "--clear")
        shown = self.run_footnote("calibrate", "--show", "--json").json
        self.assertEqual((shown["source"], shown["calibrated"], shown["evidence_min"]), ("shipped", True, 0.5))
        self.assertIn("as it ships", self.run_footnote("calibrate", "--show").out)
        self.assertNotAlmostEqual(self.run_footnote("search", "leave rule", "--json").json["gate"]["threshold"], set_to["evidence_min"])
        self.assertIn("no corpus", self.run_footnote("calibrate", "nothing", code=1).err)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""Sends small but costly documents and requests to the real binary, and measures memory and time of each.

usage: bombs.py --binary FOOTNOTE [--full] [--only WORD] [--table] [--seconds N] [--address-space-gib N]

Each bomb is sent to a fresh server with a tiny model. Reports the growth of the server's memory to its peak, CPU
seconds, the response, and the slowest response to other requests meanwhile. Fails if a bomb uses more than 64 MB plus 20 bytes per byte of
input, ends the server, or blocks other requests. Times are reported, not judged. --full sends the sizes of
docs/robustness.md, --table prints rows for that page. --seconds sets a timeout per bomb, --address-space-gib protects the machine: both are
for binaries without these limits.
"""
import argparse
import collections
import concurrent.futures
import http.client
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_model  # noqa: E402
from server import Server  # noqa: E402

BASE_BYTES = 64 << 20
PER_BYTE = 20
# : Memory that a limited server may use above its memory at rest: enough for some of its requests, not for all.
AT_LIMIT_MIB = 100
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def repeat(unit, size):
    return unit * (size // len(unit) + 1)


def numbered(before, after, size):
    parts, length, count = [], 0, 0
    while length < size:
        parts.append(f"{before}{count}{after}")
        length += len(parts[-1])
        count += 1
    return "".join(parts)


def table(columns, row, size):
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + repeat(row, size)


def call(server, method, path, body, seconds=600):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Document:
    """A document for the knowledge base."""

    def __init__(self, name, path, text):
        self.name, self.path, self.text = name, path, text
        self.size = len(text.encode())

    def prepare(self, server):
        pass

    def send(self, server, seconds):
        status, body = call(server, "POST", "/api/kb/ingest", {"documents": [{"source_path": self.path, "content": self.text}]}, seconds)
        return f"{status}" + (" stored" if b'"added":1' in body.replace(b" ", b"") else "")


class Requests:
    """The same request, several times at once."""

    def __init__(self, name, path, body, times=1):
        self.name, self.path, self.body, self.times = name, path, body, times
        self.size = len(body) * times

    def prepare(self, server):
        pass

    def send(self, server, seconds):
        with concurrent.futures.ThreadPoolExecutor(self.times) as pool:
            answers = list(pool.map(lambda _: call(server, "POST", self.path, self.body, seconds)[0], range(self.times)))
        return " ".join(str(status) for status in answers)


class Points:
    """A request about a collection of points."""

    def __init__(self, name, path, body, points):
        self.name, self.path, self.points = name, "/collections/bombs/points" + path, points
        self.body = json.dumps(body).encode()
        self.size = len(self.body)

    def prepare(self, server):
        call(server, "PUT", "/collections/bombs", {"vectors": {"size": 8, "distance": "Cosine"}})
        words = "anchor basket cinder lattice mirror needle oyster pillar quarry ribbon".split()
        for first in range(0, self.points, 5000):
            batch = [{"id": i, "vector": [1 + i % 7, i % 5, i % 3, 1, 0, i % 11, 1, i % 2], "payload": {"text": " ".join(words[i % 9:])}}
                     for i in range(first, min(first + 5000, self.points))]
            status, body = call(server, "PUT", "/collections/bombs/points?wait=true", {"points": batch})
            assert status == 200, body

    def send(self, server, seconds):
        status, body = call(server, "POST", self.path, self.body, seconds)
        return f"{status}" + (" work_max" if b"points.work_max" in body else "")


class LargePoint(Points):
    """A request about a collection that also has one point (id 0) with a large payload."""

    def prepare(self, server):
        super().prepare(server)
        large = {"id": 0, "vector": [1, 0, 0, 0, 0, 0, 0, 0], "payload": {"text": repeat("large ", 300_000)}}
        status, body = call(server, "PUT", "/collections/bombs/points?wait=true", {"points": [large]})
        assert status == 200, body


def bombs(full):
    size = (lambda small, large: large) if full else (lambda small, large: small)
    ones = lambda count: ('{"inputs":[' + "1," * (count // 2) + "1]}").encode()
    condition = lambda i: {"key": "text", "match": {"text": f"absent{i} words{i}"}}
    prefetch = [{"query": [1, 0, 0, 0, 0, 0, 0, i], "limit": 10} for i in range(100)]
    attributes = numbered(" a", "", size(500_000, 3_000_000))
    return [
        Document("table: 250 columns, rows of one cell", "a.md", table(250, "a\n", size(240_000, 240_000))),
        Document("four of them", "b.md", repeat(table(250, "a\n", 238_000) + "\n", size(400_000, 720_000))),
        Document("table: 250 columns, rows `|`", "c.md", table(250, "|\n", size(240_000, 963_000))),
        Document("a long address in many reference links", "d.md", "[a]: /" + "x" * 200_000 + "\n\n" + repeat("[a] " * 400 + "\n\n", size(50_000, 800_000))),
        Document("paragraphs of one letter", "e.md", repeat("a\n\n", size(500_000, 3_900_000))),
        Document("headings of one letter", "f.md", repeat("# a\n", size(500_000, 3_900_000))),
        Document("one heading, then text", "g.md", "# " + repeat("long ", size(100_000, 512_000)) + "\n\n" + repeat("Some text here. ", size(10_000, 512_000))),
        Document("one heading, larger", "h.md", "# " + repeat("long ", size(200_000, 2_000_000))),
        Document("six long headings above small sections", "i.md", "".join("#" * level + " " + repeat("long ", size(20_000, 80_000)) + "\n\n" for level in range(1, 7))
                 + repeat("###### a\n", size(100_000, 500_000))),
        Document("`<!-- --!>`, then a tag with attributes", "a.html", "<!-- --!><div" + attributes + ">x"),
        Document("a quote in a DOCTYPE, then a tag with attributes", "b.html", '<!DOCTYPE html PUBLIC "<a b=\'"><div' + attributes + ">x"),
        Document("`<html a1><html a2>` ...", "c.html", numbered("<html a", "=1>", size(300_000, 1_000_000)) + "x"),
        Document("`<p>a` ...", "d.html", repeat("<p>a", size(500_000, 3_900_000))),
        Document("`&amp;` ...", "e.html", repeat("&amp;", size(500_000, 3_900_000))),
        Requests("`{\"inputs\":[1,1,...]}`", "/embed", ones(size(2_000_000, 31_000_000))),
        Requests("the same, six at once", "/embed", ones(size(2_000_000, 31_000_000)), 6),
        Points("9,999 text conditions over many points", "/scroll", {"filter": {"should": [condition(i) for i in range(9_999)]}, "limit": 10},
               size(2_000, 20_000)),
        Points("100 queries with 100 prefetches", "/query/batch",
               {"searches": [{"prefetch": prefetch, "query": {"fusion": "rrf"}, "limit": 10}] * size(10, 100)}, size(2_000, 20_000)),
        Points("100 queries for 10,000 points", "/query/batch",
               {"searches": [{"query": [1, 0, 0, 0, 0, 0, 0, 1], "limit": 10_000, "with_payload": True}] * 100}, size(2_000, 20_000)),
        LargePoint("a point of 0.3 MB, asked for 10,000 times", "", {"ids": [0] * 10_000, "with_payload": True}, 1_000),
        Points("a payload for 2,000 points", "/payload", {"payload": {f"k{i}": i for i in range(50_000)}, "points": list(range(2_000))}, 2_000),
    ]


class Process:
    """Memory and processor time of a running process."""

    def __init__(self, pid):
        self.folder = f"/proc/{pid}"

    def resident_bytes(self):
        with open(self.folder + "/statm") as file:
            return int(file.read().split()[1]) * PAGE

    def forget_peak(self):
        with open(self.folder + "/clear_refs", "w") as file:
            file.write("5")

    def peak_bytes(self):
        with open(self.folder + "/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

    def private_bytes(self):
        """The memory that RLIMIT_DATA counts."""
        with open(self.folder + "/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData"))

    def processor_seconds(self):
        with open(self.folder + "/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


class Others:
    """Sends small requests repeatedly while a bomb is processed."""

    def __init__(self, server):
        self.server, self.failed, self.slowest, self.asked = server, 0, 0.0, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.is_set():
            began = time.monotonic()
            try:
                status, _ = call(self.server, "POST", "/api/search", {"query": "lantern"}, 60)
                self.failed += status != 200
            except OSError:
                self.failed += 1
            self.asked += 1
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.over.wait(0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def measure(options, models, bomb):
    with tempfile.TemporaryDirectory() as data:
        environment = {"FOOTNOTE_MODELS": models, "MODEL_NAME": tiny_model.NAME, "FOOTNOTE_REQUESTS_PER_MINUTE": "0"}
        server = Server(options.binary, data, environment)
        server.__enter__()
        try:
            call(server, "POST", "/api/kb/ingest", {"documents": [{"source_path": "lantern.md", "content": "# Lantern\n\nA lantern and a kettle."}]})
            bomb.prepare(server)
            process = Process(server.process.pid)
            process.forget_peak()
            before, spent = process.resident_bytes(), process.processor_seconds()
            with Others(server) as others:
                try:
                    answer = bomb.send(server, options.seconds)
                except OSError as error:
                    answer = "the server ended" if server.process.poll() is not None else f"no answer in {options.seconds} s ({type(error).__name__})"
            if server.process.poll() is not None:
                return {"answer": "the server ended", "bytes": None, "seconds": None, "failed": others.failed, "slowest": others.slowest}
            return {"answer": answer, "bytes": max(0, process.peak_bytes() - before), "seconds": process.processor_seconds() - spent,
                    "failed": others.failed, "slowest": others.slowest}
        finally:
            if options.seconds < 600 and server.process.poll() is None:
                server.process.kill()
                server.process.wait()
            server.__exit__(None, None, None)


def judge(bomb, result):
    if result["bytes"] is None:
        return "ended the server"
    wrong = []
    if result["bytes"] > BASE_BYTES + PER_BYTE * bomb.size:
        wrong.append(f"took {result['bytes'] >> 20} MiB")
    if result["failed"]:
        wrong.append(f"{result['failed']} other requests failed")
    if "no answer" in result["answer"]:
        wrong.append(result["answer"])
    return "; ".join(wrong)


def row(bomb, result, is_table):
    memory = "-" if result["bytes"] is None else f"{result['bytes'] / 1e6:.0f} MB"
    seconds = "-" if result["seconds"] is None else f"{result['seconds']:.1f} s"
    fields = [bomb.name, f"{bomb.size / 1e6:.2f} MB", memory, seconds, result["answer"], f"{result['slowest']:.2f} s"]
    return "| " + " | ".join(fields) + " |" if is_table else "  ".join(fields)


def check_memory_limit(options, models):
    """With a memory limit, an ingest ends with a reported document, not with a dead process."""
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "documents"
        folder.mkdir()
        (folder / "bomb.txt").write_text(repeat("a\n\n", 15_000_000))
        (folder / "small.md").write_text("# Lantern\n\nA lantern and a kettle.")
        environment = {**os.environ, "FOOTNOTE_MODELS": models, "MODEL_NAME": tiny_model.NAME}
        run = subprocess.run([options.binary, "ingest", str(folder), "--data", str(pathlib.Path(work) / "data"), "--memory-max", "300", "--threads", "1", "--json"],
                             env=environment, capture_output=True, text=True, timeout=300)
        output = run.stdout + run.stderr
        if run.returncode < 0 or "not enough memory" not in output or '"added":1' not in output.replace(" ", ""):
            return f"the ingest under --memory-max ended with {run.returncode}: {output[-2000:]}"
    return ""


def check_server_at_limit(options, models):
    """With a memory limit that its requests exceed, the server answers each of them: with a result, with 503 and Retry-After, or with a
    reported document."""
    environment = {"FOOTNOTE_MODELS": models, "MODEL_NAME": tiny_model.NAME, "FOOTNOTE_REQUESTS_PER_MINUTE": "0", "FOOTNOTE_WORKERS": "16"}
    ingest = lambda path, text: ("/api/kb/ingest", json.dumps({"documents": [{"source_path": path, "content": text}]}).encode())
    requests = [ingest("a.txt", repeat("a\n\n", 9_000_000)), ingest("a.md", repeat("a *b*\n\n", 3_900_000)), ingest("a.html", repeat("<p>a", 9_000_000)),
                ("/embed", json.dumps({"inputs": [repeat("word ", 1000)] * 400}).encode()), ("/api/search", b'{"query":"lantern"}')] * 6
    problems, outcomes = [], collections.Counter()

    def send(request):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        try:
            connection.request("POST", *request, {"content-type": "application/json"})
            response = connection.getresponse()
            body = response.read()
            outcomes[response.status] += 1
            if response.status not in (200, 207, 503):
                problems.append(f"{request[0]} at the limit: {response.status} {body[:200]}")
            if response.status == 503 and not response.headers.get("retry-after"):
                problems.append(f"{request[0]} at the limit: 503 without Retry-After")
        except (OSError, http.client.HTTPException) as error:
            problems.append(f"{request[0]} at the limit: {error!r}")
        finally:
            connection.close()

    with tempfile.TemporaryDirectory() as data, Server(options.binary, data, environment, flags=("--memory-max", "100000")) as server:
        limit = (Process(server.process.pid).private_bytes() >> 20) + AT_LIMIT_MIB
    with tempfile.TemporaryDirectory() as data:
        with Server(options.binary, data, environment, flags=("--memory-max", str(limit))) as server:
            call(server, "POST", "/api/kb/ingest", {"documents": [{"source_path": "lantern.md", "content": "# Lantern\n\nA lantern and a kettle."}]})
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                list(pool.map(send, requests))
            if not outcomes[503] + outcomes[207]:
                problems.append(f"nothing exceeded the limit: {outcomes}")
            if call(server, "POST", "/api/search", {"query": "lantern"})[0] != 200:
                problems.append("no answer after the limit was exceeded")
        if server.process.returncode != 0:
            problems.append(f"at the limit the server stopped with {server.process.returncode}")
    print(f"at a limit of memory: {dict(outcomes)}", flush=True)
    return problems


def check_stop(options, models):
    """SIGTERM while large documents are parsed stops the server cleanly."""
    environment = {"FOOTNOTE_MODELS": models, "MODEL_NAME": tiny_model.NAME, "FOOTNOTE_DRAIN": "1ms"}
    problems = []
    for path, text in [("a.html", repeat("<p>a", 15_000_000)), ("a.md", repeat("a *b* `c`\n\n", 4_000_000)), ("a.txt", repeat("a\n\n", 10_000_000))]:
        with tempfile.TemporaryDirectory() as data, Server(options.binary, data, environment) as server:
            body = json.dumps({"documents": [{"source_path": path, "content": text}]}).encode()
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            spent = Process(server.process.pid).processor_seconds()
            connection.request("POST", "/api/kb/ingest", body, {"content-type": "application/json"})
            while Process(server.process.pid).processor_seconds() - spent < 0.2:  # the server has the body and is working on it
                time.sleep(0.01)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            code = server.process.wait(timeout=60)
            print(f"stopped while it read {path}: exit code {code} after {time.monotonic() - began:.1f} s", flush=True)
            if code != 0:
                problems.append(f"stopped while it read {path}: exit code {code}: {server.output()[-500:]}")
            connection.close()
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", default="", help="bombs whose names contain this, or: limit")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--address-space-gib", type=int, default=0)
    options = parser.parse_args()
    if options.address_space_gib:
        resource.setrlimit(resource.RLIMIT_AS, (options.address_space_gib << 30,) * 2)
    problems = []
    with tempfile.TemporaryDirectory() as work:
        models = str(tiny_model.write(pathlib.Path(work)))
        for bomb in bombs(options.full):
            if options.only not in bomb.name:
                continue
            result = measure(options, models, bomb)
            print(row(bomb, result, options.table), flush=True)
            if wrong := judge(bomb, result):
                problems.append(f"{bomb.name}: {wrong}")
        if options.only in ("", "limit") and not options.address_space_gib:
            problems += filter(None, [check_memory_limit(options, models)])
            if options.full or options.only == "limit":  # these two load the machine, and test what happens at the same time
                problems += check_server_at_limit(options, models)
                problems += check_stop(options, models)
    for problem in problems:
        print("FAILED: " + problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

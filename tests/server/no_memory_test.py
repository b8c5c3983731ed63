#!/usr/bin/env python3
"""Makes the n-th allocation of the real server fail while it ingests, answers and searches, for n = 1, 2, 3 ...

After each failure the server must still run. The response is a success, 503 with Retry-After, 207 for a skipped document, or the stream or connection is cut (if the allocation was
the I/O thread's own). An acknowledged ingest is stored; any other is stored completely or not at all. At the end
`doctor` finds nothing broken, and the server uses no more memory than after the first tenth of the failures.
The model is tiny, because only code is tested here. Documents are plain text, Markdown and HTML in turn.

usage: no_memory_test.py --binary FOOTNOTE --library failing_malloc.so [--first 1] [--count 40] [--step 1] [--seed N]
"""
import argparse
import collections
import http.client
import json
import mmap
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_model  # noqa: E402
from server import Server  # noqa: E402
from storage_test import document  # noqa: E402

# : Pages of stored turns fill the caches of the store, up to 48 MiB.
GROWTH_BYTES_MAX = 16 << 20
FORMATS = ["txt", "md", "html"]
#: Checks of `doctor` that do not concern the store; the tiny model has random weights, and the test makes the folder.
OTHER_CHECKS = {"model", "machine", "disk", "cpu", "port", "llm", "files"}


class Shared:
    """The numbers shared with tests/faults/failing_malloc.cpp."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 16)

    def fail_at(self, number):
        self.memory[:8] = struct.pack("<q", number)

    def armed(self):
        return struct.unpack("<q", self.memory[:8])[0] > 0

    def bytes(self):
        return struct.unpack("<q", self.memory[8:])[0]


class NoMemory:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.shared = Shared(work / "shared")
        self.outcomes = {}
        self.violations = []
        self.stored = {}  # path -> texts that it may have

    def call(self, path, body):
        """Status, headers and JSON; status 0 if the connection was cut."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            connection.request("POST", path, json.dumps(body).encode(), {"content-type": "application/json"})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        except (http.client.HTTPException, ConnectionError):
            return 0, {}, b""
        finally:
            connection.close()

    def failing(self, kind, number, path, body):
        self.shared.fail_at(number)
        status, headers, data = self.call(path, body)
        self.shared.fail_at(0)
        if self.server.process.poll() is not None:
            raise RuntimeError(f"the server ended with {self.server.process.returncode} at allocation {number} of {kind}:\n" + self.server.output()[-3000:])
        self.outcomes.setdefault(kind, collections.Counter())[status] += 1
        left_out = kind == "ingest" and status == 207
        if status not in (0, 200, 503) and not left_out:
            self.violations.append(f"{kind} {number}: status {status}: {data[:300]}")
        if status == 503 and not headers.get("retry-after"):
            self.violations.append(f"{kind} {number}: 503 without Retry-After")
        return status, data

    def ingest(self, number):
        path = f"page{number % 7}.{FORMATS[number % len(FORMATS)]}"
        fresh = document(path, 60, number)
        status, data = self.failing("ingest", number, "/api/kb/ingest", {"documents": [fresh]})
        committed = status == 200 and not json.loads(data).get("problems")
        self.stored[path] = {fresh["content"]} if committed else self.stored.get(path, {None}) | {fresh["content"]}

    def check_documents(self):
        """An ingest without failures brings the indexes up to date with everything acknowledged before."""
        last = document("last.txt", 60)
        self.stored["last.txt"] = {last["content"]}
        status, _, data = self.call("/api/kb/ingest", {"documents": [last]})
        if status != 200 or json.loads(data).get("problems"):
            self.violations.append(f"an ingest after the failures: {status} {data[:500]}")
        request = {"query": "lantern harbour", "limit": 50}
        status, _, data = self.call("/api/search", request)
        if status != 200:
            return self.violations.append(f"a search after the failures: {status}")
        for hit in json.loads(data)["hits"]:
            texts = self.stored.get(hit["source_path"], set())
            words = " ".join(hit["text"].split())
            if not any(text and words in " ".join(text.split()) for text in texts):
                self.violations.append(f"{hit['source_path']}: a passage of none of its versions: {words[:80]}")

    def check_store(self, data, environment):
        done = subprocess.run([self.options.binary, "doctor", "--json", "--data", str(data)], env=environment, capture_output=True, text=True)
        for check in json.loads(done.stdout)["checks"]:
            if check["name"] not in OTHER_CHECKS and check["status"] != "ok":
                self.violations.append(f"doctor: {check['name']} is {check['status']}: {check['detail'][:300]}")

    def run(self):
        data = self.work / "data"
        data.mkdir()
        environment = {**os.environ, "FOOTNOTE_MODELS": str(tiny_model.write(self.work / "models")), "MODEL_NAME": tiny_model.NAME,
                       "FOOTNOTE_LOG_LEVEL": "error"}
        preloaded = {**environment, "LD_PRELOAD": str(pathlib.Path(self.options.library).resolve()), "FAILING_MALLOC_FILE": str(self.work / "shared")}
        numbers = range(self.options.first, self.options.count + 1, self.options.step)
        held = None
        rng = random.Random(self.options.seed)
        with Server(self.options.binary, str(data), preloaded) as self.server:
            self.call("/api/kb/ingest", {"documents": [document(f"base{i}.txt", 200) for i in range(20)]})
            self.stored.update({f"base{i}.txt": {document(f"base{i}.txt", 200)["content"]} for i in range(20)})
            for at, number in enumerate(numbers):
                question = " ".join(rng.choices(tiny_model.WORDS, k=5))
                self.failing("search", number, "/api/search", {"query": question})
                self.failing("chat", number, "/api/kb/chat", {"question": question})
                self.failing("stream", number, "/api/kb/chat/stream", {"messages": [{"role": "user", "parts": [{"type": "text", "text": question}]}]}
                             if at % 2 else {"question": question})
                self.ingest(number)
                if held is None and at >= len(numbers) // 10:
                    held = self.shared.bytes()
            self.check_documents()
            grown = self.shared.bytes() - held
        if grown > GROWTH_BYTES_MAX:
            self.violations.append(f"{grown} bytes more are held than after a tenth of the failures")
        self.check_store(data, environment)
        return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    started = time.monotonic()
    print(f"no memory: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="footnote-memory-") as work:
        test = NoMemory(options, pathlib.Path(work))
        grown = test.run()
    for kind, outcomes in test.outcomes.items():
        print(f"{kind:8} " + ", ".join(f"{'cut' if status == 0 else status}: {count}" for status, count in sorted(outcomes.items())))
    print(f"no memory: allocations {options.first} to {options.count} failed in {time.monotonic() - started:.0f} s, {grown / 1024:+.0f} KiB held: "
          f"{len(test.violations)} violations (SEED={options.seed} repeats)")
    for violation in test.violations[:20]:
        print("VIOLATION", violation)
    return 1 if test.violations else 0


if __name__ == "__main__":
    sys.exit(main())

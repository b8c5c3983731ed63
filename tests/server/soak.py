#!/usr/bin/env python3
"""Mixed load on the real server for minutes or hours: does memory, the number of threads or descriptors, or the waiting time creep up?

The load: visitor chats, knowledge-base questions and a proxied model (answered by a scripted model server); documents are ingested, changed and deleted; an index is rebuilt now and then. At the
end the server is stopped while streams are open. These values are compared with limits:
  - memory: the slope of a linear fit of the process's anonymous pages after the warm-up, per hour and per request;
  - threads and descriptors: they return to their initial numbers after the load;
  - jobs: every acknowledged document exists in its last version, deleted ones do not; every acknowledged turn is stored;
  - requests: none fails, except refusals with Retry-After;
  - shutdown: no open stream is cut, and the exit code is 0.
Waiting times of the first and the last third are reported. The cache of visitors' passages is set to 1 MiB, so that it is full after the warm-up, and traces
are kept for 500 turns: everything with a limit must reach it before the slope is measured.

usage: soak.py --binary FOOTNOTE [--minutes 2 | --hours 8] [--seed N] [--real]
--real uses the models in .deps/models; otherwise a tiny model allows thousands of requests in minutes.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_model  # noqa: E402
from fake_upstream import FakeUpstream  # noqa: E402
from server import Server  # noqa: E402
from site_admin import published_agent  # noqa: E402
from storage_test import document  # noqa: E402

ORIGIN = "https://shop.example"
HANDBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/handbook"
SAMPLE_SECONDS = 1.0
# : Share of the time after which everything with a limit should have reached it.
WARM_UP = 0.5
#: A visitor may ask this often in a minute.
MESSAGES_OF_A_VISITOR = 8
DRAIN_SECONDS_MAX = 30
# : The page caches of the store grow up to 48 MiB (16 for the writer, 8 for each of four readers). That takes about ten thousand turns, so
# a short run sees them grow.
SHORT_BYTES_PER_REQUEST_MAX = 2048
# : In longer runs the caches are full after the warm-up, and the limit is per hour.
LONG_MINUTES = 60
LONG_MIB_PER_HOUR_MAX = 1.0
INGEST_PAUSE_SECONDS = 1.0


def process_state(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    number = lambda name: int(re.search(name + r":\s+(\d+)", status)[1])
    return {"anon_kib": number("RssAnon"), "threads": number("Threads"), "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}


def slope(points):
    """Least squares: y per x."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


class Load:
    def __init__(self, server, options, agent):
        self.server, self.options, self.agent = server, options, agent
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.times = collections.defaultdict(list)  # kind -> (when, seconds)
        self.refused, self.failures = collections.Counter(), []
        self.documents = {}  # path -> seed of its acknowledged version, None if deleted
        self.turns = collections.deque(maxlen=200)
        self.visitors = 0

    def call(self, kind, method, path, body=None, headers=None, connection=None):
        """The body of a response; None for a refusal with Retry-After."""
        own = connection or http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        started = time.monotonic()
        try:
            own.request(method, path, json.dumps(body).encode() if body is not None else None, {"content-type": "application/json", **(headers or {})})
            response = own.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            with self.lock:
                self.failures.append(f"{kind}: {error!r}")
            return None
        finally:
            if connection is None:
                own.close()
        with self.lock:
            if response.status in (200, 202):
                self.times[kind].append((started, time.monotonic() - started))
                return data
            if response.status in (429, 503) and response.headers.get("retry-after"):
                self.refused[kind] += 1
            else:
                self.failures.append(f"{kind}: {response.status} {data[:200]}")
        return None

    def question(self, rng):
        return f"How many {' '.join(rng.choices(tiny_model.WORDS, k=4))} {rng.randrange(10 ** 9)}?"

    def knowledge_base(self, rng):
        data = self.call("kb", "POST", "/api/kb/chat", {"question": self.question(rng)})
        if data:
            self.turns.append(json.loads(data)["meta"]["turn_id"])

    def visitor(self, rng):
        with self.lock:
            self.visitors += 1
            number = self.visitors
        source = (f"127.{1 + number // 60000}.{number // 240 % 250}.{number % 240 + 2}", 0)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120, source_address=source)
        opened = self.call("init", "POST", "/api/v1/widget/init", {"agent_id": self.agent}, {"origin": ORIGIN}, connection)
        for _ in range(MESSAGES_OF_A_VISITOR if opened else 0):
            headers = {"origin": ORIGIN, "authorization": "Bearer " + json.loads(opened)["token"]}
            data = self.call("visitor", "POST", "/api/v1/widget/messages/stream", {"message": self.question(rng)}, headers, connection)
            if data is not None and b'"event":"done"' not in data:
                with self.lock:
                    self.failures.append(f"visitor: a stream without its end: {data[-200:]}")
        connection.close()

    def proxy(self, rng):
        body = {"model": rng.choice(["local/phi3-en", "plain"]), "stream": rng.random() < 0.7, "messages": [{"role": "user", "content": self.question(rng)}]}
        self.call("proxy", "POST", "/v1/chat/completions", body)

    def ingest(self, rng):
        # Replaced documents stay in the indexes for ten minutes; faster changes would only measure that.
        self.stop.wait(INGEST_PAUSE_SECONDS)
        path = f"soak/page{rng.randrange(40)}.md"
        if rng.random() < 0.2:
            present = [other for other, seed in self.documents.items() if seed is not None and other != path]
            body = {"documents": [], "folder": "/soak", "prefix": "soak/", "present": present}
            if self.call("delete", "POST", "/api/kb/ingest", body) is not None:
                self.documents[path] = None
            return
        seed = rng.randrange(10 ** 9)
        if self.call("ingest", "POST", "/api/kb/ingest", {"folder": "/soak", "documents": [document(path, rng.randint(20, 200), seed)]}) is not None:
            self.documents[path] = seed

    def rebuild(self, rng):
        self.call("rebuild", "POST", "/api/admin/rebuild", {"corpus": "memory"})
        self.stop.wait(self.options.minutes * 60 / 10)

    def run(self, work, name):
        rng = random.Random(f"{self.options.seed} {name}")
        while not self.stop.is_set():
            work(rng)

    def start(self):
        workers = [self.knowledge_base, self.knowledge_base, self.visitor, self.visitor, self.proxy, self.ingest, self.rebuild]
        self.threads = [threading.Thread(target=self.run, args=(work, f"{work.__name__} {number}"), daemon=True)
                        for number, work in enumerate(workers)]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(timeout=180)

    def lost(self):
        """Acknowledged documents and turns that are missing, and deleted documents that still exist."""
        data = self.call("documents", "GET", "/api/kb/documents?limit=1000")
        there = set(re.findall(r"soak/page\d+\.md", data.decode())) if data else set()
        lost = [path for path, seed in self.documents.items() if (seed is not None) != (path in there)]
        for turn in list(self.turns)[-50:]:
            if self.call("trace", "GET", f"/api/turns/{turn}/trace") is None:
                lost.append(turn)
        return lost


def drain(server, load):
    """Stops the server with streams open; returns how many of them were cut, and the exit code."""
    cut, ended = [], threading.Barrier(9)

    def stream(number):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        body = {"model": "local/phi3-en", "stream": True, "messages": [{"role": "user", "content": f"question {number}"}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
        response = connection.getresponse()
        ended.wait(timeout=60)
        if response.status == 200 and not response.read().endswith(b"data: [DONE]\n\n"):
            cut.append(number)

    streams = [threading.Thread(target=stream, args=(number,)) for number in range(8)]
    for thread in streams:
        thread.start()
    ended.wait(timeout=60)
    server.process.send_signal(signal.SIGTERM)
    for thread in streams:
        thread.join(timeout=60)
    return len(cut), server.process.wait(timeout=DRAIN_SECONDS_MAX)


def measure(server, load, minutes):
    samples, started = [], time.monotonic()
    before = process_state(server.process.pid)
    load.start()
    while time.monotonic() - started < minutes * 60:
        time.sleep(SAMPLE_SECONDS)
        with load.lock:
            requests = sum(len(times) for times in load.times.values())
        samples.append((time.monotonic() - started, requests, process_state(server.process.pid)))
    load.end()
    deadline = time.monotonic() + 90  # idle connections, resumable streams and their threads end
    after = process_state(server.process.pid)
    while time.monotonic() < deadline and (after["threads"] > before["threads"] + 8 or after["descriptors"] > before["descriptors"] + 8):
        time.sleep(1)
        after = process_state(server.process.pid)
    return samples, before, after


def report(samples, load, options):
    warm = [sample for sample in samples if sample[0] >= WARM_UP * options.minutes * 60]
    by_time = slope([(at / 3600, state["anon_kib"]) for at, _, state in warm])
    by_request = slope([(requests, state["anon_kib"]) for _, requests, state in warm])
    begin, end = samples[0][2]["anon_kib"], samples[-1][2]["anon_kib"]
    print(f"memory: {begin / 1024:.1f} MiB after a second, {warm[0][2]['anon_kib'] / 1024:.1f} after the warm-up, {end / 1024:.1f} at the end; after the warm-up "
          f"{by_request * 1024:+.0f} bytes a request, {by_time / 1024:+.2f} MiB an hour at this load")
    for kind, times in sorted(load.times.items()):
        middle = [at for at, _ in times]
        low, high = min(middle), max(middle)
        thirds = [[seconds for at, seconds in times if (at - low) * 3 <= (high - low)], [seconds for at, seconds in times if (at - low) * 3 >= 2 * (high - low)]]
        first, last = (1000 * percentile(part, 0.99) for part in thirds)
        print(f"{kind:10} {len(times):7} requests, {load.refused[kind]} refused, p50 {1000 * percentile([s for _, s in times], .5):.1f} ms, "
              f"p99 of the first third {first:.0f} ms, of the last {last:.0f} ms")
    if options.minutes >= LONG_MINUTES:
        return [f"memory grows by {by_time / 1024:.2f} MiB an hour"] if by_time / 1024 > LONG_MIB_PER_HOUR_MAX else []
    return [f"memory grows by {by_request * 1024:.0f} bytes a request"] if by_request * 1024 > SHORT_BYTES_PER_REQUEST_MAX else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--hours", type=float, help="in place of --minutes")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    options.minutes = options.hours * 60 if options.hours else options.minutes
    print(f"soak: seed {options.seed}, {options.minutes:g} minutes", flush=True)
    violations = []
    with tempfile.TemporaryDirectory(prefix="footnote-soak-") as folder, FakeUpstream() as upstream:
        work = pathlib.Path(folder)
        environment = {"LLM_BASE_URL": upstream.url, "LLM_MODEL": "local/phi3-en", "FOOTNOTE_CACHE_MEMORY": "1", "FOOTNOTE_TRACES": "500", "FOOTNOTE_LOG_LEVEL": "error"}
        if not options.real:
            environment |= {"FOOTNOTE_MODELS": str(tiny_model.write(work / "models")), "MODEL_NAME": tiny_model.NAME}
        data = work / "data"
        subprocess.run([options.binary, "ingest", str(HANDBOOK), "--data", str(data)], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
        with Server(options.binary, str(data), environment) as server:
            load = Load(server, options, published_agent(server.port, {"allowed_origins": [ORIGIN], "corpora": ["memory"]}))
            samples, before, after = measure(server, load, options.minutes)
            violations += report(samples, load, options)
            lost = load.lost()
            store = sum(path.stat().st_size for path in data.glob("footnote.db*"))
            print(f"threads {before['threads']} -> {after['threads']}, descriptors {before['descriptors']} -> {after['descriptors']}, "
                  f"{len(lost)} acknowledged jobs lost, {len(load.failures)} requests failed, store {store >> 20} MiB")
            cut, code = drain(server, load)
            print(f"drain: {cut} streams cut, exit code {code}")
        violations += [f"lost: {name}" for name in lost] + load.failures
        if after["threads"] > before["threads"] + 8 or after["descriptors"] > before["descriptors"] + 8:
            violations.append(f"threads or descriptors are left: {before} -> {after}")
        if cut or code != 0:
            violations.append(f"{cut} streams were cut at the end, exit code {code}")
    print(f"soak: {len(violations)} violations (SEED={options.seed} repeats)")
    for violation in violations[:20]:
        print("VIOLATION", violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

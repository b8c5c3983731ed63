#!/usr/bin/env python3
"""Asks mixed questions while documents that are hard to parse are ingested without a pause. No question may fail.

The same questions are asked twice: alone, and while bombs are ingested. Reports the waiting times of both, their ratio at the 99th percentile (at most 3),
and the result of each bomb: stored, refused with a reason, or (under pressure) refused with Retry-After.
The bombs are Markdown tables, HTML attributes, huge headings and JSON values. --bomb-kib sets the size of those created here; --full also sends
those of bombs.py, in the sizes of docs/robustness.md. Every round changes the documents, so that none is skipped as unchanged.

usage: bombs_beside_questions.py --binary FOOTNOTE [--questions 1000] [--bomb-kib 64] [--full] [--seed N] [--ratio-max 3] [--tiny]
"""
import argparse
import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import bombs as real_bombs  # noqa: E402
import tiny_model  # noqa: E402
from server import Server  # noqa: E402
from site_admin import published_agent  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORIGIN = "https://shop.example"
CLIENTS = 2
MESSAGES_OF_A_VISITOR = 8
# : The bomb was refused, or not stored (207), because it is too large, malformed or too slow.
REFUSALS = {207, 400, 408, 413, 422, 503, 507}


def fill(piece, size):
    return piece * (size // len(piece) + 1)


def small_bombs(size):
    table = "|" + "a|" * 250 + "\n|" + "-|" * 250 + "\n"
    texts = {
        "table.md": table + fill("|x\n", size - len(table)),
        "heading.md": "# " + fill("heading ", size),
        "headings.md": "".join(f"{'#' * (1 + i % 6)} {fill('word ', 200)}\ntext {i}\n\n" for i in range(size // 220)),
        "lists.md": fill("- " * 40 + "x\n", size),
        "quotes.md": fill("> " * 60 + "x\n", size),
        "emphasis.md": fill("*a **b ", size),
        "links.md": fill("![[](", size),
        "attributes.html": "<!-- --!><div " + " ".join(f"a{i}" for i in range(size // 7)) + ">x</div>",
        "doctype.html": "<!DOCTYPE html '><div " + " ".join(f"b{i}" for i in range(size // 7)) + ">x</div>",
        "bodies.html": "".join(f"<html a{i}=1><body b{i}=1>" for i in range(size // 24)) + "text",
        "nested.html": fill("<div>", size) + "text",
        "entities.html": fill("&amp;&lt;&#9731;", size),
    }
    requests = [("values.json", "/embed", '{"inputs":[' + ",".join(["1"] * (size // 2)) + "]}"), ("deep.json", "/api/search", "[" * size + "]" * size),
                ("keys.json", "/api/kb/chat", "{" + ",".join(f'"k{i}":0' for i in range(size // 8)) + "}")]
    return [real_bombs.Document(name, f"bombs/{name}", text) for name, text in texts.items()] + [
        real_bombs.Requests(name, path, body.encode()) for name, path, body in requests]


def post(connection, path, body, headers=None):
    connection.request("POST", path, body if isinstance(body, bytes) else body.encode(), {"content-type": "application/json", **(headers or {})})
    response = connection.getresponse()
    return response.status, response.read()


class Questions:
    def __init__(self, port, agent, options):
        self.port, self.agent, self.options = port, agent, options
        self.texts = [json.loads(line)["question"] for line in (ROOT / "eval/handbook/questions.jsonl").open()]
        self.visitors = 0
        self.lock = threading.Lock()

    def connect(self):
        with self.lock:
            self.visitors += 1
            number = self.visitors
        source = (f"127.{1 + number // 60000}.{number // 240 % 250}.{number % 240 + 2}", 0)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120, source_address=source)

    def ask(self, rng, number):
        """Returns the seconds that one question took, or why it failed."""
        text = f"{rng.choice(self.texts)} ({number})"
        connection = self.connect()
        try:
            headers = {}
            if number % 3 == 0:
                _, opened = post(connection, "/api/v1/widget/init", json.dumps({"agent_id": self.agent}), {"origin": ORIGIN})
                headers = {"origin": ORIGIN, "authorization": "Bearer " + json.loads(opened)["token"]}
            path, body, end = [("/api/v1/widget/messages/stream", {"message": text}, b'"event":"done"'), ("/api/kb/chat", {"question": text}, b"}"),
                               ("/api/search", {"query": text}, b"}")][number % 3]
            started = time.monotonic()
            status, data = post(connection, path, json.dumps(body), headers)
            if status != 200 or end not in data:
                return f"{path}: {status} {data[-200:]}"
            return time.monotonic() - started
        except (OSError, http.client.HTTPException) as error:
            return repr(error)
        finally:
            connection.close()

    def run(self, name):
        """All questions by a few clients; returns the seconds of each and the failures."""
        numbers, seconds, failures = iter(range(self.options.questions)), [], []

        def client():
            while True:
                with self.lock:
                    number = next(numbers, None)
                if number is None:
                    return
                result = self.ask(random.Random(f"{self.options.seed} {number}"), number)
                with self.lock:
                    (failures if isinstance(result, str) else seconds).append(result)

        threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at = lambda share: 1000 * sorted(seconds)[int(share * (len(seconds) - 1))] if seconds else 0
        print(f"{name:14} {len(seconds)} answered, {len(failures)} failed, p50 {at(.5):.0f} ms, p99 {at(.99):.0f} ms", flush=True)
        return at(.99), failures


class Bombs:
    """Sends bombs in a loop from a separate process, so that creating them does not delay the clients that ask questions."""

    def __init__(self, server, options):
        self.server, self.all = server, small_bombs(options.bomb_kib << 10) + (real_bombs.bombs(True) if options.full else [])
        for bomb in self.all:
            bomb.prepare(server)
        self.stop = multiprocessing.Event()
        self.results = multiprocessing.Queue()
        self.process = multiprocessing.Process(target=self.run)

    def run(self):
        outcomes, sent = collections.defaultdict(collections.Counter), 0
        while not self.stop.is_set():
            bomb = self.all[sent % len(self.all)]
            if isinstance(bomb, real_bombs.Document):
                bomb.text += f"\n\nround {sent}\n"
            try:
                answer = bomb.send(self.server, 600)
            except (OSError, http.client.HTTPException) as error:
                answer = repr(error)
            outcomes[bomb.name][answer] += 1
            sent += 1
        self.results.put((outcomes, sent))

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.outcomes, self.sent = self.results.get()
        self.process.join()


def is_allowed(answer):
    """Results of bombs.py: "200 stored", "400 work_max", "413 413"."""
    statuses = [int(word) for word in answer.split() if word.isdigit()]
    return bool(statuses) and all(status == 200 or status in REFUSALS for status in statuses)


def memory_kib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--bomb-kib", type=int, default=64)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--ratio-max", type=float, default=3)
    parser.add_argument("--tiny", action="store_true", help="a tiny model: the parsers are tested, not the encoder")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"bombs: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="footnote-bombs-") as folder:
        work = pathlib.Path(folder)
        environment = {"FOOTNOTE_LOG_LEVEL": "error"}
        if options.tiny:
            environment |= {"FOOTNOTE_MODELS": str(tiny_model.write(work / "models")), "MODEL_NAME": tiny_model.NAME}
        data = work / "data"
        subprocess.run([options.binary, "ingest", str(ROOT / "examples/handbook"), "--data", str(data)], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **environment})
        with Server(options.binary, str(data), environment) as server:
            questions = Questions(server.port, published_agent(server.port, {"allowed_origins": [ORIGIN], "corpora": ["memory"]}), options)
            alone, failures = questions.run("alone")
            before = memory_kib(server.process.pid)
            with Bombs(server, options) as running:
                beside, failed = questions.run("beside bombs")
            alive = server.process.poll() is None
            grown = (memory_kib(server.process.pid) - before) / 1024 if alive else 0
    failures += failed
    for name, outcomes in running.outcomes.items():
        print(f"  {name:50} " + ", ".join(f"{answer}: {count}" for answer, count in outcomes.items()))
        failures += [f"{name}: {answer}" for answer in outcomes if not is_allowed(answer)]
    ratio = beside / alone if alone else 0
    if not alive:
        failures.append("the server ended")
    print(f"bombs: {running.sent}, {len(failures)} failures, p99 {ratio:.1f} times as long (at most {options.ratio_max:g}), "
          f"peak memory {grown:+.0f} MiB (SEED={options.seed} repeats)")
    for failure in failures[:10]:
        print("FAILURE", failure)
    return 1 if failures or ratio > options.ratio_max else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Kills a server with SIGKILL at random moments while points are written and searched through /collections, and checks the store.

Every cycle starts the server on the same data folder, upserts and deletes points from one thread, searches from another, and kills the
process. After the next start, every acknowledged change must exist, an unacknowledged one completely or not at all, and the
vector index must find exactly the points in the store.

usage: points_test.py --binary build/release/footnote [--cycles 5] [--seed N]
"""
import argparse
import http.client
import json
import pathlib
import random
import sys
import tempfile
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "server")]
import tiny_model  # noqa: E402
from server import Server  # noqa: E402

NAME = "crash"
IDS = 200
BATCH = 20


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method, path, body=None):
        self.connection.request(method, f"/collections/{NAME}{path}", None if body is None else json.dumps(body),
                                {"content-type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


def vector(rng):
    return [rng.uniform(-1, 1) for _ in range(8)]


class Crash:
    def __init__(self, options, work):
        self.options, self.rng = options, random.Random(options.seed)
        self.data = work / "data"
        self.data.mkdir()
        self.environment = {"FOOTNOTE_MODELS": str(tiny_model.write(work / "models")), "MODEL_NAME": tiny_model.NAME,
                            "FOOTNOTE_THREADS": "1"}
        self.acknowledged = {}  # id -> edition
        self.under_way = None  # the unacknowledged change: {id: edition or None}
        self.edition = self.changes = self.searches = 0
        self.violations = []

    def check(self, client, cycle):
        if client.call("GET", "")[0] == 404:
            client.call("PUT", "", {"vectors": {"size": 8, "distance": "Cosine"}})
        records = client.call("POST", "/points/scroll", {"limit": 10_000})[1]["result"]["points"]
        stored = {record["id"]: record["payload"]["edition"] for record in records}
        hits = client.call("POST", "/points/query", {"query": [1] * 8, "limit": 10_000})[1]["result"]["points"]
        if sorted(hit["id"] for hit in hits) != sorted(stored):
            self.violations.append(f"cycle {cycle}: the index finds {len(hits)} points, the store has {len(stored)}")
        whole = dict(self.acknowledged)
        for id, edition in (self.under_way or {}).items():
            whole[id] = edition
        whole = {id: edition for id, edition in whole.items() if edition is not None}
        if stored not in (self.acknowledged, whole):
            self.violations.append(f"cycle {cycle}: the store holds neither what was acknowledged nor that and the change under way")
        self.acknowledged, self.under_way = stored, None

    def write(self, port):
        client = Client(port)
        try:
            while True:
                ids = self.rng.sample(range(IDS), BATCH)
                self.edition += 1
                if self.rng.random() < 0.3:
                    self.under_way = {id: None for id in ids}
                    status, _ = client.call("POST", "/points/delete?wait=true", {"points": ids})
                else:
                    self.under_way = {id: self.edition for id in ids}
                    status, _ = client.call("PUT", "/points?wait=true", {"points": [
                        {"id": id, "vector": vector(self.rng), "payload": {"edition": self.edition}} for id in ids]})
                if status == 200:
                    for id, edition in self.under_way.items():
                        self.acknowledged[id] = edition
                    self.acknowledged = {id: edition for id, edition in self.acknowledged.items() if edition is not None}
                    self.changes += 1
                    self.under_way = None
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server was killed

    def search(self, port):
        client, rng = Client(port), random.Random(self.options.seed)
        try:
            while True:
                client.call("POST", "/points/query", {"query": vector(rng), "limit": 10})
                self.searches += 1
        except (OSError, http.client.HTTPException, ValueError):
            pass

    def cycle(self, number):
        server = Server(self.options.binary, str(self.data), self.environment)
        with server:
            self.check(Client(server.port), number)
            if number == self.options.cycles:
                return
            threads = [threading.Thread(target=run, args=(server.port,)) for run in (self.write, self.search)]
            for thread in threads:
                thread.start()
            time.sleep(self.rng.uniform(0.05, 0.6))
            server.process.kill()
            server.process.wait()
            for thread in threads:
                thread.join()

    def run(self):
        for number in range(self.options.cycles + 1):
            self.cycle(number)
        print(f"points: {self.options.cycles} kills (seed {self.options.seed}), {self.changes} changes acknowledged, {self.searches} "
              f"searches, {len(self.violations)} violations")
        for violation in self.violations[:20]:
            print("VIOLATION", violation)
        return 1 if self.violations else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cycles", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    with tempfile.TemporaryDirectory(prefix="footnote-points-") as work:
        return Crash(parser.parse_args(), pathlib.Path(work)).run()


if __name__ == "__main__":
    sys.exit(main())

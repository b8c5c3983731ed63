#!/usr/bin/env python3
"""Kills `footnote` with SIGKILL at random moments while it writes, and checks the data folder.

Every cycle rewrites, adds and deletes files of a folder and ingests it, with `footnote ingest` alone or through a server, and kills
the process that has the store open: while it works, or while it shuts down and saves its indexes. Sometimes the next process is killed too,
while it recovers. The lines printed by the ingest are acknowledgements. Then these must hold for the data folder:
  - every acknowledged version exists, or a later one of the same cycle;
  - each live document is one complete version from the folder, never a mixture, and `doctor` finds no broken invariant;
  - the indexes reach the store's generation, and none of their files is damaged.
The model is tiny, so that kills hit the store's work and not the encoder's. With --power-cuts the program that simulates
power cuts runs as well. The seed is printed; pass it with --seed to repeat a run.

usage: crash_test.py --binary build/release/footnote [--cycles 20] [--seed N] [--files 60]
                     [--power-cuts 2000 --power-binary build/release/tests/footnote_durability_tests]
"""
import argparse
import hashlib
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
import tiny_model  # noqa: E402

# Checks of `doctor` that do not concern the store; the tiny model has random weights.
OTHER_CHECKS = {"model", "machine", "disk", "cpu", "port", "llm"}
PROGRESS_SECONDS = 10


def page(rng, name, edition):
    """A page that states its edition in every section."""
    lines = [f"# Page {name}", ""]
    for section in range(rng.randint(1, 3)):
        lines += [f"## Section {section}", ""]
        for _ in range(rng.randint(1, 3)):
            lines.append(f"Edition {edition} of {name} says: " + " ".join(rng.choices(tiny_model.WORDS, k=8)) + ".")
        lines.append("")
    return "\n".join(lines)


class Folder:
    """The files, and for each path the hashes that the store may have."""

    def __init__(self, root, rng, count):
        self.root, self.rng, self.count = root, rng, count
        self.edition = 0
        self.hashes = {}  # path -> hash of the bytes in the folder; absent if deleted

    def change(self):
        for index in range(self.count):
            path = f"part{index % 5}/page{index:03}.md"
            roll = self.rng.random()
            if roll < 0.06 and path in self.hashes:
                (self.root / path).unlink()
                del self.hashes[path]
            elif roll < 0.75 or path not in self.hashes:
                self.edition += 1
                data = page(self.rng, path, self.edition).encode()
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                (self.root / path).write_bytes(data)
                self.hashes[path] = hashlib.sha256(data).hexdigest()


class Crash:
    def __init__(self, options, work):
        self.options = options
        self.rng = random.Random(options.seed)
        self.data = work / "data"
        self.folder = Folder(work / "docs", self.rng, options.files)
        self.environment = {**os.environ, "FOOTNOTE_MODELS": str(tiny_model.write(work / "models")), "MODEL_NAME": tiny_model.NAME,
                            "FOOTNOTE_THREADS": "1"}
        self.stored = {}  # path -> hash in the store after the last cycle
        self.violations = []
        self.acknowledged = self.mid_ingest = self.finished = self.servers = self.recoveries = 0
        self.seconds = {}  # how long each kind of run takes when it is not killed, to spread kills over its whole duration
        self.shown = time.monotonic()

    def start(self, *words, **options):
        command = [self.options.binary, *words, "--data", str(self.data), "--json"]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)

    def run(self, *words):
        process = self.start(*words)
        out, _ = process.communicate(timeout=120)
        return process.returncode, out

    def wait_or_kill(self, process, kind, victim=None):
        """Waits for `process` for at most a random share of its usual duration, then kills it, or the victim."""
        started = time.monotonic()
        moment = self.rng.uniform(0.0, 1.05) * self.seconds[kind] if kind in self.seconds else 120
        try:
            process.wait(timeout=moment)
            self.finished += 1
            self.seconds[kind] = time.monotonic() - started
        except subprocess.TimeoutExpired:
            (victim or process).kill()
            process.wait(timeout=120)

    @staticmethod
    def collect(process):
        """Reads the output of a process while it runs."""
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
        reader.start()
        return lines, reader

    def ingest_and_kill(self):
        process = self.start("ingest", str(self.folder.root))
        lines, reader = self.collect(process)
        self.wait_or_kill(process, "ingest")
        reader.join(timeout=10)
        return lines

    def serve_and_kill(self):
        """The same through a server; the server is killed while it works or while it stops."""
        self.servers += 1
        server = self.start("serve", "--port", "0")
        lines = []
        if server.stdout.readline():
            client = self.start("ingest", str(self.folder.root))
            lines, reader = self.collect(client)
            if self.rng.random() < 0.6:
                self.wait_or_kill(client, "served ingest", victim=server)
            else:
                client.wait(timeout=120)
                server.send_signal(signal.SIGTERM)
                self.wait_or_kill(server, "stop")
            reader.join(timeout=10)
        server.kill()
        server.wait()
        server.stdout.close()
        return lines

    def kill_recovery(self):
        while self.rng.random() < 0.2:
            self.recoveries += 1
            process = self.start("documents")
            time.sleep(self.rng.uniform(0, 0.02))
            process.kill()
            process.communicate()

    def check(self, cycle, lines):
        acks = [json.loads(line) for line in lines if line.endswith("\n") and line.startswith("{")]
        acks = [ack for ack in acks if ack.get("event") in ("committed", "deleted")]
        report = lambda text: self.violations.append(f"cycle {cycle}: {text}")
        _, out = self.run("doctor")
        checks = json.loads(out)["checks"] if out else [{"name": "doctor", "status": "broken", "detail": "it said nothing"}]
        for check in checks:
            if check["name"] not in OTHER_CHECKS and check["status"] != "ok" and "nothing is indexed" not in check["detail"]:
                report(f"doctor: {check['name']} is {check['status']}: {check['detail'][:500]}")
        code, out = self.run("documents")
        if code != 0 and self.stored:
            report("the documents can't be listed")
            return
        live = {row["path"]: row["content_hash"].split("-")[0] for row in map(json.loads, out.splitlines()) if "path" in row}
        acked = {}
        for ack in acks:
            # A server does not report the version: it is the one in the folder.
            version = ack.get("content_hash", self.folder.hashes.get(ack["path"], "")).split("-")[0]
            acked[ack["path"]] = version if ack["event"] == "committed" else None
        for path in set(live) | set(acked) | set(self.stored):
            have = live.get(path)
            now = self.folder.hashes.get(path)
            if path in acked:
                if have != acked[path]:
                    report(f"{path}: acknowledged {acked[path]}, found {have}")
            elif have not in (self.stored.get(path), now):
                report(f"{path}: found {have}, which is neither the old version nor the new one")
        self.stored = live
        self.acknowledged += len(acks)
        self.mid_ingest += 0 < len(acks) < len(self.folder.hashes)

    def show(self, cycle):
        last = cycle + 1 == self.options.cycles
        if time.monotonic() - self.shown < PROGRESS_SECONDS and not last:
            return
        self.shown = time.monotonic()
        print(f"kills: {cycle + 1} cycles of {self.options.cycles}, {self.acknowledged} documents acknowledged, "
              f"{len(self.violations)} violations", flush=True)

    def kill_cycles(self):
        for cycle in range(self.options.cycles):
            self.folder.change()
            lines = self.serve_and_kill() if self.rng.random() < 0.3 else self.ingest_and_kill()
            self.kill_recovery()
            self.check(cycle, lines)
            self.show(cycle)
        print(f"kills: {self.options.cycles} cycles (seed {self.options.seed}), {self.servers} of them of a server, {self.recoveries} kills "
              f"more during recovery, {self.acknowledged} documents acknowledged, {self.mid_ingest} kills between acknowledgements, "
              f"{self.finished} runs finished before the kill, {len(self.violations)} violations")
        for violation in self.violations[:20]:
            print("VIOLATION", violation)
        return len(self.violations)


def power_cuts(options):
    """Runs the simulation; returns the violations."""
    environment = {**os.environ, "FOOTNOTE_POWER_CUTS": str(options.power_cuts), "FOOTNOTE_POWER_SEED": str(options.seed % 1_000_000_000)}
    process = subprocess.Popen([options.power_binary, "--gtest_filter=PowerCut.*", "--gtest_brief=1"], env=environment,
                               stdout=subprocess.PIPE, text=True)
    violations = None
    for line in process.stdout:
        if line.startswith("power cuts:") or "SEED" in line:
            print(line, end="", flush=True)
        found = re.search(r"acknowledged, (\d+) violations", line)
        violations = int(found[1]) if found else violations
    code = process.wait()
    return violations if violations is not None and (code == 0) == (violations == 0) else max(1, violations or 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--power-cuts", type=int, default=0)
    parser.add_argument("--power-binary")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    started = time.monotonic()
    cut = power_cuts(options) if options.power_cuts else 0
    with tempfile.TemporaryDirectory(prefix="footnote-crash-") as work:
        killed = Crash(options, pathlib.Path(work)).kill_cycles()
    print(f"crash: {options.cycles} kill cycles and {options.power_cuts} power-cut runs in {time.monotonic() - started:.0f} s: "
          f"{killed + cut} violations")
    return 1 if killed + cut else 0


if __name__ == "__main__":
    sys.exit(main())

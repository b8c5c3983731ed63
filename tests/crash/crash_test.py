#!/usr/bin/env python3
"""Kills `footnote ingest` with SIGKILL at random moments and checks what is left.

Every cycle rewrites, adds and deletes files of a folder, starts an ingest, and kills it. The lines that the ingest
printed before it died are its acknowledgements. Then, on the same data folder:
  - an acknowledged version is there, or a later one of that cycle: nothing acknowledged is lost;
  - each live document is one whole version that the folder held, never a mixture: `doctor` finds no broken invariant;
  - the indexes, built from the store at start, reach the store's generation.
The seed is printed; give it with --seed to repeat a run.

usage: crash_test.py --binary build/release/footnote [--cycles 20] [--jobs 1] [--seed N] [--files 100]
"""
import argparse
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

WORDS = """sensor probe lantern harbour ledger meadow copper signal archive window kettle orchard compass gravel
velvet thunder saddle pepper marble anchor basket cinder lattice mirror needle oyster pillar quarry ribbon""".split()


def page(rng, name, edition):
    """A page whose text says which edition it is, in every section. Most are short, so that the time goes into commits."""
    lines = [f"# Page {name}", ""]
    for section in range(3 if rng.random() < 0.1 else 1):
        lines += [f"## Section {section}", ""]
        for _ in range(rng.randint(1, 2)):
            lines.append(f"Edition {edition} of {name} says: " + " ".join(rng.choices(WORDS, k=8)) + ".")
        lines.append("")
    return "\n".join(lines)


class Folder:
    """The files, and for each path the hashes that it may have in the store by now."""

    def __init__(self, root, rng, count):
        self.root, self.rng, self.count = root, rng, count
        self.edition = 0
        self.hashes = {}  # path -> hash of the bytes now in the folder; absent when deleted

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


def run_json(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


class Crash:
    def __init__(self, options, work, cycles, seed):
        self.options, self.cycles = options, cycles
        self.rng = random.Random(seed)
        self.data = work / "data"
        self.folder = Folder(work / "docs", self.rng, options.files)
        self.stored = {}  # path -> hash that the store held after the last cycle
        self.violations = []
        self.acknowledged = self.mid_ingest = self.finished = 0
        self.ingest_seconds = None  # of an ingest that was let finish: kills fall on its whole length

    def command(self, *words):
        return [self.options.binary, *words, "--data", str(self.data), "--json"]

    def ingest_and_kill(self):
        """Starts an ingest, kills it at a random moment of its usual length; returns its acknowledgements."""
        started = time.monotonic()
        process = subprocess.Popen(self.command("ingest", str(self.folder.root)), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
        reader.start()
        moment = self.rng.uniform(0.0, 1.05) * self.ingest_seconds if self.ingest_seconds else 120
        try:
            process.wait(timeout=moment)
            self.finished += 1
            self.ingest_seconds = time.monotonic() - started
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(timeout=10)
        acks = [json.loads(line) for line in lines if line.endswith("\n") and line.startswith("{")]
        return [ack for ack in acks if ack.get("event") in ("committed", "deleted")]

    def check(self, cycle, acks):
        report = lambda text: self.violations.append(f"cycle {cycle}: {text}")
        code, out, err = run_json(self.command("doctor"))
        if code != 0:
            report(f"doctor is not clean (exit {code}): {out[-2000:]} {err[-500:]}")
        code, out, err = run_json(self.command("documents"))
        if code != 0:
            report(f"documents failed: {err[-500:]}")
            return
        live = {row["path"]: row["content_hash"].split("-")[0] for row in map(json.loads, out.splitlines()) if "path" in row}
        acked = {}
        for ack in acks:
            acked[ack["path"]] = ack["content_hash"].split("-")[0] if ack["event"] == "committed" else None
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

    def run(self, done):
        for cycle in range(self.cycles):
            self.folder.change()
            self.check(cycle, self.ingest_and_kill())
            done(self.violations)


class Progress:
    """One line, drawn anew on a terminal, now and then elsewhere."""

    def __init__(self, total):
        self.total, self.count, self.lock = total, 0, threading.Lock()

    def step(self, violations):
        with self.lock:
            self.count += 1
            if sys.stderr.isatty():
                print(f"\rcycle {self.count}/{self.total}", end="", file=sys.stderr, flush=True)
            elif self.count % 250 == 0:
                print(f"cycle {self.count}/{self.total}", flush=True)


def run_all(options, work):
    progress = Progress(options.cycles)
    shares = [len(range(job, options.cycles, options.jobs)) for job in range(options.jobs)]
    runs = [Crash(options, work / str(job), share, options.seed + job) for job, share in enumerate(shares)]
    threads = [threading.Thread(target=run.run, args=(progress.step,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = lambda name: sum(getattr(run, name) for run in runs)
    violations = [f"seed {options.seed + job}, {text}" for job, run in enumerate(runs) for text in run.violations]
    print(f"crash: {progress.count} kill cycles (seed {options.seed}, {options.jobs} at once): {total('acknowledged')} documents acknowledged, "
          f"{total('mid_ingest')} kills between acknowledgements, {total('finished')} runs finished before the kill, "
          f"{len(violations)} violations")
    for violation in violations[:20]:
        print("VIOLATION", violation)
    return 1 if violations or progress.count != options.cycles else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="data folders worked on at once")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-crash-") as work:
        return run_all(options, pathlib.Path(work))


if __name__ == "__main__":
    sys.exit(main())

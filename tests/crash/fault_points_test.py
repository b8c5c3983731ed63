#!/usr/bin/env python3
"""Kills the program at each of its named fault points (src/base/fault_point.h), and checks the store after every kill.

A client's journal records what was acknowledged. After each kill:
  - nothing acknowledged is lost, and each live document is one complete version, never a mixture;
  - `doctor` finds no broken invariant: the database is consistent, and the indexes have the same rows as the store;
  - the schema is that of a complete migration step, and the next start continues from there;
  - a snapshot that has its final name can be restored.
Each run kills the process when the point is reached for the N-th time, with a random N. If a run ends before that, it counts as not killed, and smaller N are drawn next.
The model is tiny, so that kills hit the store's work and not the encoder's. The seed is printed; pass it with --seed to repeat a run.

usage: fault_points_test.py --binary build/release/footnote [--rounds 2] [--point NAME] [--seed N] [--files 20]
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

import crash_test

HEADER = pathlib.Path(__file__).resolve().parents[2] / "src/base/fault_point.cpp"
KILLED = -9
#: Longer than the store keeps what was deleted (ingest::kPurgeGrace).
PURGE_MS = 11 * 60 * 1000
NUMBER_MAX = 64
#: Rounds more than asked for, for runs that end before their point is reached.
TRIES_PER_ROUND = 6


def point_names():
    names = re.findall(r'return "([a-z-]+)";', HEADER.read_text())
    return [name for name in names if name != "unknown"]


class FaultPoints(crash_test.Crash):
    def __init__(self, options, work, point):
        super().__init__(options, work)
        self.work, self.point = work, point
        self.rng = random.Random(f"{options.seed} {point}")
        self.folder.rng = self.rng
        self.number_max = 4
        self.kills = self.misses = self.tries = 0
        self.clock_ahead = 0

    def run_to_the_point(self, *words):
        """Runs a command that is killed at the point; returns its lines, and whether it was."""
        number = self.rng.randint(1, self.number_max)
        self.environment["FOOTNOTE_FAULT_POINT"] = f"{self.point}:{number}"
        process = self.start(*words)
        del self.environment["FOOTNOTE_FAULT_POINT"]
        lines, reader = self.collect(process)
        process.wait(timeout=120)
        reader.join(timeout=10)
        process.stdout.close()
        killed = process.returncode == KILLED
        self.number_max = min(NUMBER_MAX, self.number_max * 2) if killed else max(1, number // 2)
        return lines, killed

    def serve_to_the_point(self):
        """The same for a server: a client ingests through it, then it is told to stop, which saves the indexes."""
        number = self.rng.randint(1, self.number_max)
        self.environment["FOOTNOTE_FAULT_POINT"] = f"{self.point}:{number}"
        server = self.start("serve", "--port", "0")
        del self.environment["FOOTNOTE_FAULT_POINT"]
        lines = []
        if server.stdout.readline():
            client = self.start("ingest", str(self.folder.root))
            lines = client.communicate(timeout=120)[0].splitlines(keepends=True)
            server.send_signal(signal.SIGTERM)
        server.wait(timeout=120)
        server.stdout.close()
        killed = server.returncode == KILLED
        self.number_max = min(NUMBER_MAX, self.number_max * 2) if killed else max(1, number // 2)
        return lines, killed

    def let_time_pass(self):
        """The store's clock never runs behind this file."""
        self.clock_ahead += PURGE_MS
        now = int(time.time() * 1000) + self.clock_ahead
        clock = self.data / "clock"
        digits = len(clock.read_text()) if clock.exists() else 13
        clock.write_text(str(now * 10 ** (digits - 13)))
        clock.chmod(0o600)

    def step(self):
        if self.point.startswith("migration"):
            self.data = self.work / f"data{self.tries}"
            self.stored = {}
        if self.point == "purge-step" and self.data.exists():
            self.let_time_pass()
        if self.point == "store-copy-step":
            self.run("ingest", str(self.folder.root))
            self.stored = dict(self.folder.hashes)
            return self.snapshot()
        if self.point.startswith(("index", "file")):
            return self.serve_to_the_point()
        return self.run_to_the_point("ingest", str(self.folder.root))

    def snapshot(self):
        target = self.work / f"snapshot{self.tries}"
        _, killed = self.run_to_the_point("snapshot", str(target))
        if target.exists():
            data, self.data = self.data, self.work / "restored"
            code, out = self.run("restore", str(target))
            if code != 0:
                self.violations.append(f"round {self.kills}: a snapshot with its name can't be restored: {out}")
            shutil.rmtree(self.data, ignore_errors=True)
            self.data = data
            target.unlink()
        return [], killed

    def check_schema(self):
        """A killed migration leaves the schema of a whole step."""
        store = self.data / "footnote.db"
        if not store.exists() or store.stat().st_size == 0:
            return
        with tempfile.TemporaryDirectory() as folder:
            for name in ("footnote.db", "footnote.db-wal"):
                if (self.data / name).exists():
                    shutil.copy(self.data / name, folder)
            database = sqlite3.connect(f"{folder}/footnote.db")
            number = database.execute("PRAGMA user_version").fetchone()[0]
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            database.close()
        if (number >= 1) != ("turns" in tables) or (number >= 4) != ("turn_traces" in tables):
            self.violations.append(f"round {self.kills}: schema {number} has the tables {sorted(tables)}")

    def rounds(self):
        if not self.point.startswith("migration"):
            self.folder.change()
            self.run("ingest", str(self.folder.root))
            self.stored = dict(self.folder.hashes)
        while self.kills < self.options.rounds and self.tries < self.options.rounds * TRIES_PER_ROUND:
            self.tries += 1
            self.folder.change()
            lines, killed = self.step()
            self.kills += killed
            self.misses += not killed
            if self.point.startswith("migration"):
                self.check_schema()
                # The next start finishes what was interrupted.
                process = self.start("ingest", str(self.folder.root))
                lines += process.communicate(timeout=120)[0].splitlines(keepends=True)
            self.check(self.tries, lines)
        if self.kills == 0:
            self.violations.append("the point was never reached")
        return len(self.violations)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--point", choices=point_names())
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    started, kills, violations = time.monotonic(), 0, 0
    print(f"fault points: seed {options.seed}", flush=True)
    for point in [options.point] if options.point else point_names():
        with tempfile.TemporaryDirectory(prefix="footnote-fault-") as work:
            run = FaultPoints(options, pathlib.Path(work), point)
            violations += run.rounds()
            kills += run.kills
            print(f"{point:20} {run.kills:4} kills, {run.misses:3} runs ended before, {run.acknowledged:6} documents acknowledged, "
                  f"{len(run.violations)} violations", flush=True)
            for violation in run.violations[:10]:
                print("VIOLATION", point, violation)
    print(f"fault points: {kills} kills in {time.monotonic() - started:.0f} s: {violations} violations (SEED={options.seed} repeats)")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

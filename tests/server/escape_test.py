#!/usr/bin/env python3
"""Ingests folders with links to the outside that also change while they are read; nothing from outside may be stored.

A second thread replaces files and folders by symbolic links to an outside folder, and back, as fast as it can. The folder also has link loops, hard links, FIFOs, sockets,
devices, deep folders, a `.git` file that names another repository, and names that differ only by case. Every outside file contains a canary text. After each ingest,
neither the data folder nor any output of the program may contain it.

usage: escape_test.py --binary FOOTNOTE [--rounds 3] [--depth 300] [--seed N]
"""
import argparse
import contextlib
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tiny_model  # noqa: E402

CANARY = "zq9canaryoutside"
SECONDS_MAX = 60
#: The exit code of an ingest that read all but some files.
SOME_LEFT_OUT = 4
SWAPPED_FILES = 30
SWAPPED_FOLDERS = 10


def prose(rng, words=40):
    return " ".join(rng.choices(tiny_model.WORDS, k=words))


class Outside:
    """A folder from which nothing may be read."""

    def __init__(self, root):
        self.root = root
        (root / "sub").mkdir(parents=True)
        for name in ("passwd.md", "sub/page.md", "sub/other.md"):
            (root / name).write_text(f"# {CANARY}\n\nThe {CANARY} stands outside.\n")
        (root / "repository/.git").mkdir(parents=True)
        (root / "repository/page.md").write_text(f"{CANARY} of another repository\n")


class Tree:
    """The ingested folder: `swap` replaces one of its parts by a link to the outside, or restores it."""

    def __init__(self, root, outside, rng, depth):
        self.root, self.outside, self.rng = root, outside, rng
        root.mkdir()
        for i in range(SWAPPED_FILES):
            self.file(i)
        for i in range(SWAPPED_FOLDERS):
            self.folder(i)
        self.special(depth)

    def special(self, depth):
        root, outside = self.root, self.outside
        for name, target in {"out.md": outside / "passwd.md", "up": "..", "loop": "loop", "a": "b", "b": "a", "etc": "/etc", "self": ".",
                             "proc": "/proc/self/root", "chain.md": "out.md"}.items():
            os.symlink(target, root / name)
        os.link(outside / "sub/other.md", root / "hard.md")
        os.mkfifo(root / "pipe.md")
        with contextlib.suppress(PermissionError):
            os.mknod(root / "device.md", 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero: endless
        self.listener = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(root)  # The path of a socket must be short.
        self.listener.bind("socket.md")
        os.chdir(here)
        (root / "module").mkdir()
        (root / "module/.git").write_text(f"gitdir: {outside}/repository/.git\n")
        (root / "module/page.md").write_text(prose(self.rng))
        for name in ("Case.md", "case.md", "CASE.MD"):
            (root / name).write_text(f"# {name}\n\n{prose(self.rng)}\n")
        self.deep(depth)

    def deep(self, depth):
        at = os.open(self.root, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir("d", dir_fd=at)
            below = os.open("d", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = below
        file = os.open("deepest.md", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=at)
        os.write(file, prose(self.rng).encode())
        os.close(file)
        os.close(at)

    def file(self, number):
        path = self.root / f"file{number}.md"
        self.replace(path, lambda fresh: fresh.write_text(f"# File {number}\n\n{prose(self.rng)}\n"))

    def folder(self, number):
        path = self.root / f"folder{number}"
        fresh = self.root / f".new{number}"
        fresh.mkdir()
        (fresh / "page.md").write_text(f"# Folder {number}\n\n{prose(self.rng)}\n")
        if path.is_symlink():
            path.unlink()
        os.rename(fresh, path)

    @staticmethod
    def replace(path, make):
        fresh = path.with_name("." + path.name)
        make(fresh)
        os.rename(fresh, path)

    def swap(self):
        if self.rng.random() < 0.6:
            number = self.rng.randrange(SWAPPED_FILES)
            path = self.root / f"file{number}.md"
            if path.is_symlink():
                self.file(number)
            else:
                target = self.rng.choice([self.outside / "passwd.md", "../outside/passwd.md", self.outside / "sub", "/dev/zero"])
                self.replace(path, lambda fresh: os.symlink(target, fresh))
            return
        number = self.rng.randrange(SWAPPED_FOLDERS)
        path = self.root / f"folder{number}"
        if path.is_symlink():
            return self.folder(number)
        old = self.root / f".old{number}"
        os.rename(path, old)
        os.symlink(self.rng.choice([self.outside / "sub", "../outside/sub"]), path)
        shutil.rmtree(old)

    def swap_until(self, stop):
        swaps = 0
        while not stop.is_set():
            self.swap()
            swaps += 1
        self.swaps = swaps


def holds_canary(folder):
    """Files below `folder` that contain the canary."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--depth", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"escape: seed {options.seed}", flush=True)
    violations, swaps, longest = [], 0, 0.0
    with tempfile.TemporaryDirectory(prefix="footnote-escape-") as folder:
        work = pathlib.Path(folder)
        environment = {**os.environ, "FOOTNOTE_MODELS": str(tiny_model.write(work / "models")), "MODEL_NAME": tiny_model.NAME}
        outside = Outside(work / "outside")
        tree = Tree(work / "tree", outside.root, random.Random(options.seed), options.depth)

        def footnote(*words):
            return subprocess.run([options.binary, *map(str, words), "--data", str(work / "data"), "--json"], env=environment, capture_output=True,
                                  text=True, timeout=10 * SECONDS_MAX)

        for number in range(options.rounds):
            stop = threading.Event()
            swapper = threading.Thread(target=tree.swap_until, args=(stop,))
            swapper.start()
            started = time.monotonic()
            done = footnote("ingest", work / "tree")
            longest = max(longest, time.monotonic() - started)
            stop.set()
            swapper.join()
            swaps += tree.swaps
            if done.returncode not in (0, SOME_LEFT_OUT):
                violations.append(f"round {number}: ingest ended with {done.returncode}: {done.stderr[-500:]}")
            violations += [f"round {number}: {path} contains the canary" for path in holds_canary(work / "data")]
            if CANARY in done.stdout + done.stderr:
                violations.append(f"round {number}: the output contains the canary")
        # Checks the test itself: an ingest of the outside folder does store the canary.
        footnote("ingest", outside.root)
        if not holds_canary(work / "data"):
            violations.append("the canary is not found even where it was ingested on purpose")
        listed = footnote("documents").stdout
        for inside in ("Case.md", "case.md", "module/page.md"):
            if inside not in listed:
                violations.append(f"{inside} is inside and was not read")
        # rmtree of Python 3.11 recurses once per folder.
        subprocess.run(["rm", "-rf", str(work / "tree")], check=True)
    if longest > SECONDS_MAX:
        violations.append(f"an ingest took {longest:.0f} s")
    print(f"escape: {options.rounds} ingests beside {swaps} swaps, {options.depth} folders deep, the longest {longest:.1f} s: "
          f"{len(violations)} violations (SEED={options.seed} repeats)")
    for violation in violations[:20]:
        print("VIOLATION", violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

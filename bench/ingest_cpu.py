#!/usr/bin/env python3
"""Measures the processor time of an ingest without the encoder.

    python3 bench/ingest_cpu.py --texts passages.jsonl [--files 2000] [--binary build/release/footnote]

Writes the first passages as files and ingests them, then the same passages as other files into the same corpus. In the second ingest every passage is
known, so nothing is embedded but everything else is done: walk, read, parse, chunk, look up, commit with vectors and codes. `footnote rebuild-index` then
builds both indexes and the file of token codes. The result is the processor time per chunk (user and system), minus that of an ingest with
nothing to do.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def seconds_of(args, *command: str) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([str(args.binary), *command], env=args.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout


def write_files(folder: pathlib.Path, texts: list[str]) -> None:
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number:06}.txt").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=pathlib.Path, required=True, help='passages: a JSON object with "text" on each line')
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / ".deps/models")
    args = parser.parse_args()
    args.environment = os.environ | {"FOOTNOTE_MODELS": str(args.models)}
    with args.texts.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(args.files), lines)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = str(folder / "data")
        write_files(folder / "first", texts)
        write_files(folder / "again" / "copies", texts)  # Documents are identified by their paths in the folder.
        embedded, _ = seconds_of(args, "ingest", str(folder / "first"), "--data", data)
        again, said = seconds_of(args, "ingest", str(folder / "again"), "--data", data)
        found = re.search(r"0 chunks embedded, (\d+) reused", said)
        if not found:
            sys.exit(f"something was embedded: {said}")
        chunks = int(found[1])
        idle, _ = seconds_of(args, "ingest", str(folder / "again"), "--data", data)
        rebuilt, _ = seconds_of(args, "rebuild-index", "--data", data)
    commit, index = (again - idle) * 1e3 / chunks, rebuilt * 1e3 / (2 * chunks)
    print("| chunks | bytes a chunk | read, chunk, commit ms | index ms | together ms | with the encoder ms |\n|---|---|---|---|---|---|")
    print(f"| {chunks} | {sum(map(len, texts)) // chunks} | {commit:.3f} | {index:.3f} | {commit + index:.3f} | {(embedded - idle) * 1e3 / chunks + index:.3f} |")


if __name__ == "__main__":
    main()

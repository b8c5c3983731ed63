#!/usr/bin/env python3
"""Compares our graph with hnswlib's on the same vectors, in turns: median processor time of a search for the nearest ten, and recall, by effort.

    python3 bench/peers/graph_turns.py --data DIR --graph FILE [--rows 1000000] [--rounds 5]

DIR is the output of bench/peers/index_data.py, with hnswlib's graph (`indexes.py --build-only`). FILE contains our graph and is created if missing
(`ann_bench`, minutes for a million vectors). Both stay in memory, one thread each; each round runs every effort of both. Needs hnswlib and numpy.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import hnswlib
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIMENSION = 384
QUERIES = 200
LIMIT = 10


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--graph", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ann-bench", type=pathlib.Path, default=ROOT / "build/release/ann_bench")
    parser.add_argument("--ours", default="256,384,512,640,768", help="efforts (%(default)s)")
    parser.add_argument("--theirs", default="512,640,768,1024", help="efforts (%(default)s)")
    return parser.parse_args()


class Ours:
    def __init__(self, args):
        command = [str(args.ann_bench), f"--paced={args.graph}", str(vectors_file(args)), str(args.data / "queries_1k.f32"), str(DIMENSION), str(args.rows)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while self.process.stdout.readline().strip() != "ready":
            if self.process.poll() is not None:
                raise SystemExit("ann_bench ended")

    def measure(self, effort: int) -> tuple[float, float]:
        print(effort, file=self.process.stdin, flush=True)
        found = json.loads(self.process.stdout.readline())
        return found["p50_us"], found["recall"]


class Hnswlib:
    def __init__(self, args):
        self.rows = numpy.memmap(vectors_file(args), "<f4", "r").reshape(-1, DIMENSION)
        self.queries = numpy.fromfile(args.data / "queries_1k.f32", "<f4").reshape(-1, DIMENSION)[:QUERIES]
        self.floors = numpy.load(args.data / f"truth_{args.rows}.npz")["all"]
        self.index = hnswlib.Index("ip", DIMENSION)
        self.index.load_index(str(args.data / f"hnswlib_{args.rows}"))
        self.index.set_num_threads(1)

    def measure(self, effort: int) -> tuple[float, float]:
        self.index.set_ef(effort)
        times, found = [], 0
        for query, floor in zip(self.queries, self.floors):
            begin = time.thread_time()
            rows, _ = self.index.knn_query(query, LIMIT)
            times.append(time.thread_time() - begin)
            found += int((self.rows[rows[0].astype("int64")] @ query >= floor - 1e-6).sum())
        return statistics.median(times) * 1e6, found / len(self.queries) / LIMIT


def vectors_file(args) -> pathlib.Path:
    return next(file for file in sorted(args.data.glob("windows_*.f32"), key=lambda file: file.stat().st_size)
                if file.stat().st_size >= args.rows * DIMENSION * 4)


def main() -> None:
    args = parse_arguments()
    contenders = [(name, made, int(effort)) for name, made, efforts in
                  (("ours", Ours(args), args.ours), ("hnswlib", Hnswlib(args), args.theirs)) for effort in efforts.split(",")]
    rounds: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for turn in range(args.rounds):
        at = turn % len(contenders)
        for name, made, effort in contenders[at:] + contenders[:at]:
            rounds.setdefault((name, effort), []).append(made.measure(effort))
    print("| | effort | recall@10 | microseconds (lowest-highest round) |\n|---|---|---|---|")
    for name, _, effort in contenders:
        times = [time for time, _ in rounds[name, effort]]
        print(f"| {name} | {effort} | {rounds[name, effort][0][1]:.4f} | {statistics.median(times):.0f} ({min(times):.0f}-{max(times):.0f}) |")


if __name__ == "__main__":
    main()

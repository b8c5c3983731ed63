#!/usr/bin/env python3
"""Measures the overhead of our proxy and of LiteLLM's proxy in front of the same scripted model server, in turns.

    python3 bench/peers/proxy.py [--corpus DIR] >proxy.md

Contenders: the model server itself ("direct"), Footnote, LiteLLM (one worker, its default). Each round measures all of them; the
overhead is the difference from the direct time of the same round. The model server and the load generator are bench/peers/proxy_load.cpp, one thread
each. So is the bare copy with one recv and one send per token, the minimum cost of a streamed token on this machine. With --corpus, a data folder (bench/index_start.py creates one with 100,000 chunks; a copy is served), retrieval is measured too.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/server"))
from server import free_port  # noqa: E402

LITELLM = "litellm[proxy]==1.106.0"
MANY = 10**9


def say(text):
    print(text, file=sys.stderr, flush=True)


def cpu_seconds(process):
    """Processor time of the process, all threads together."""
    return time.clock_gettime((~process.pid << 3) | 2)


def resident_mb(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0


def wait_ready(process, url, log):
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=5).read()
            return
        time.sleep(0.05)
    sys.exit(f"not ready: {url}\n{pathlib.Path(log).read_text()[-2000:]}")


class Bench:
    def __init__(self, args, stack, folder):
        self.args, self.stack, self.folder = args, stack, folder
        self.load_maker = args.out / "proxy_load"
        source = HERE / "proxy_load.cpp"
        if not self.load_maker.exists() or self.load_maker.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["g++", "-O2", "-std=c++20", "-o", str(self.load_maker), str(source)], check=True)
        self.upstream = self.start([str(self.load_maker), "upstream"], "upstream", stdout=subprocess.PIPE)
        self.upstream_port = int(self.upstream.stdout.readline())

    def start(self, command, name, environment=None, stdout=None):
        log = open(f"{self.folder}/{name}.log", "wb")
        process = subprocess.Popen(command, env={**os.environ, **(environment or {})}, stdout=stdout or log, stderr=log, cwd=self.folder)
        self.stack.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def start_footnote(self, name, data):
        port = free_port()
        environment = {"LLM_BASE_URL": f"http://127.0.0.1:{self.upstream_port}/v1", "FOOTNOTE_MODELS": str(ROOT / ".deps/models"),
                       "FOOTNOTE_LOG_LEVEL": "warn"}
        process = self.start([str(self.args.binary), "serve", "--data", data, "--port", str(port)], name, environment)
        wait_ready(process, f"http://127.0.0.1:{port}/readyz", f"{self.folder}/{name}.log")
        return process, port

    def start_copy(self):
        process = self.start([str(self.load_maker), "copy", str(self.upstream_port)], "copy", stdout=subprocess.PIPE)
        return process, int(process.stdout.readline())

    def start_litellm(self):
        python = self.args.python_env
        if not (python / "bin/litellm").exists():
            say(f"installing {LITELLM} into {python}")
            subprocess.run([sys.executable, "-m", "venv", str(python)], check=True)
            subprocess.run([str(python / "bin/pip"), "install", "-q", LITELLM], check=True)
        port = free_port()
        config = pathlib.Path(self.folder) / "litellm.yaml"
        config.write_text("model_list:\n  - model_name: bench\n    litellm_params:\n      model: openai/bench\n"
                          f"      api_base: http://127.0.0.1:{self.upstream_port}/v1\n      api_key: sk-x\n"
                          "litellm_settings:\n  telemetry: false\n")
        began = time.monotonic()
        environment = {"PATH": f"{python}/bin:{os.environ['PATH']}", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR",
                       "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}  # otherwise LiteLLM requires a key to start
        process = self.start([str(python / "bin/litellm"), "--config", str(config), "--port", str(port), "--host", "127.0.0.1"], "litellm", environment)
        wait_ready(process, f"http://127.0.0.1:{port}/health/liveliness", f"{self.folder}/litellm.log")
        say(f"LiteLLM was ready after {time.monotonic() - began:.1f} s")
        return process, port

    def load(self, port, model="bench", concurrency=1, requests=MANY, tokens=0, gap_us=0, seconds=2.0, questions=None):
        command = [str(self.load_maker), "load", "127.0.0.1", str(port), model, *map(str, (concurrency, requests, tokens, gap_us, seconds))]
        environment = {**os.environ, **({"QUESTIONS": str(questions)} if questions else {})}
        run = subprocess.run(command, capture_output=True, text=True, env=environment)
        if run.returncode or not run.stdout:
            sys.exit(f"{command}: {run.stderr}")
        result = json.loads(run.stdout)
        if result["errors"]:
            say(f"  {result['errors']} errors: {run.stderr[:300]}")
        return result


def median(values):
    return statistics.median(values) if values else float("nan")


def measure_pass_through(bench, contenders, rounds, seconds):
    """{(concurrency, contender): [result of each round]}"""
    out = {}
    for name, (_, port) in contenders.items():
        bench.load(port, seconds=1.0)  # warm
    for _ in range(rounds):
        for concurrency in (1, 16):
            for name, (_, port) in contenders.items():
                out.setdefault((concurrency, name), []).append(bench.load(port, concurrency=concurrency, seconds=seconds))
                out.setdefault((concurrency, name + " streamed"), []).append(
                    bench.load(port, concurrency=concurrency, tokens=16, seconds=seconds / 2))
    return out


def added(results, concurrency, name, field, share):
    mine = results[concurrency, name]
    direct = results[concurrency, "direct" + (" streamed" if name.endswith("streamed") else "")]
    return [a[field][share] - b[field][share] for a, b in zip(mine, direct)]


def print_pass_through(results, contenders):
    print("| concurrency | | direct ms p50 / p99 | Footnote adds p50 / p99 | LiteLLM adds p50 / p99 | ratio p50 / p99 |")
    print("|---|---|---|---|---|---|")
    for concurrency in (1, 16):
        for suffix, field, what in (("", "total", "whole answer"), (" streamed", "first", "first streamed token")):
            direct = results[concurrency, "direct" + suffix]
            row = [median([result[field][share] for result in direct]) for share in ("p50", "p99")]
            ours = [median(added(results, concurrency, "footnote" + suffix, field, share)) for share in ("p50", "p99")]
            theirs, ratio = ("-", "-"), ("-", "-")
            if "litellm" in contenders:
                peers = {share: added(results, concurrency, "litellm" + suffix, field, share) for share in ("p50", "p99")}
                own = {share: added(results, concurrency, "footnote" + suffix, field, share) for share in ("p50", "p99")}
                theirs = tuple(f"{median(peers[share]):.1f}" for share in ("p50", "p99"))
                ratio = tuple(f"{median([a / b for a, b in zip(own[share], peers[share])]):.3f}" for share in ("p50", "p99"))
            print(f"| {concurrency} | {what} | {row[0]:.3f} / {row[1]:.3f} | {ours[0]:.3f} / {ours[1]:.3f} | {theirs[0]} / {theirs[1]} | {ratio[0]} / {ratio[1]} |")


def measure_tokens(bench, process, port, streams, seconds):
    before = cpu_seconds(process)
    result = bench.load(port, concurrency=streams, requests=streams, tokens=int(50 * seconds), gap_us=20_000, seconds=seconds + 10)
    return (cpu_seconds(process) - before) / max(1, result["tokens"]) * 1e6, result


def ladder(bench, process, port, steps, seconds):
    """The number of streams at which p99 of the time between two tokens is twice that of ten streams."""
    base, rows = None, []
    for streams in steps:
        micros, result = measure_tokens(bench, process, port, streams, seconds)
        p99 = result["gap"]["p99"]
        base = base or p99
        rows.append((streams, result["gap"]["p50"], p99, result["transit"]["p50"], result["transit"]["p99"], micros, result["errors"]))
        say(f"  {streams} streams: gap p99 {p99:.1f} ms, transit p50 {result['transit']['p50']:.2f}, {micros:.1f} us a token, {result['errors']} errors")
        if p99 > 2 * base or result["errors"]:
            break
    return rows


def doubles_at(rows):
    """Describes where p99 exceeds twice that of the first step."""
    for before, row in zip(rows, rows[1:]):
        if row[2] > 2 * rows[0][2] or row[6]:
            return f"between {before[0]} and {row[0]}"
    return f"past {rows[-1][0]}"


def print_ladder(name, rows):
    for streams, p50, p99, transit50, transit99, micros, errors in rows:
        print(f"| {name} | {streams} | {p50:.1f} / {p99:.1f} | {transit50:.2f} / {transit99:.2f} | {micros:.1f} |{' errors' if errors else ''}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--questions", type=pathlib.Path, help="asked in turn with --corpus, one a line")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--steps", default="10,50,100,200,400,800,1600,3200")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--no-ladder", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/peers")
    parser.add_argument("--python-env", type=pathlib.Path)
    args = parser.parse_args()
    args.binary = args.binary.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    args.python_env = args.python_env or args.out / "litellm"
    steps = [int(step) for step in args.steps.split(",")]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="proxy-bench-"))
        bench = Bench(args, stack, folder)
        contenders = {"direct": (bench.upstream, bench.upstream_port), "footnote": bench.start_footnote("footnote", f"{folder}/data")}
        if not args.no_peer:
            contenders["litellm"] = bench.start_litellm()
        say(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        ceiling = bench.load(bench.upstream_port, concurrency=16, seconds=args.seconds)
        print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; the load maker reaches {ceiling['done'] / ceiling['seconds']:.0f} "
              "whole answers a second from the model server alone at concurrency 16.\n")
        results = measure_pass_through(bench, contenders, args.rounds, args.seconds)
        print_pass_through(results, contenders)
        print()
        for name in ("footnote", "litellm"):
            if name in contenders:
                print(f"Resident memory of {name} after that: {resident_mb(contenders[name][0]):.0f} MB.")
        if args.corpus:
            data = f"{folder}/corpus"
            shutil.copytree(args.corpus, data)
            _, port = bench.start_footnote("corpus", data)
            bench.load(port, model="rag/bench", seconds=2, questions=args.questions)
            for concurrency in (1, 2):
                differences = []
                for _ in range(args.rounds):
                    direct = bench.load(bench.upstream_port, concurrency=concurrency, seconds=1)
                    grounded = bench.load(port, model="rag/bench", concurrency=concurrency, seconds=args.seconds, questions=args.questions)
                    differences.append(tuple(grounded["total"][share] - direct["total"][share] for share in ("p50", "p99")))
                print(f"With retrieval, concurrency {concurrency}: adds p50 {median([p50 for p50, _ in differences]):.2f} ms, "
                      f"p99 {median([p99 for _, p99 in differences]):.2f} ms.")
        if not args.no_ladder:
            print("\n| | streams of 50 tokens/s | between tokens ms p50 / p99 | transit ms p50 / p99 | CPU us a token |\n|---|---|---|---|---|")
            reached = {}
            for name, (process, port) in {**contenders, "bare copy": bench.start_copy()}.items():
                say(name)
                rows = ladder(bench, process, port, steps if name != "litellm" else steps[:4], args.seconds)
                print_ladder(name, rows)
                reached[name] = doubles_at(rows)
            print("\nStreams at which p99 between two tokens doubles: " + "; ".join(f"{name} {where}" for name, where in reached.items()) +
                  ". \"direct\" is the ceiling of the load maker and the model server themselves.")


if __name__ == "__main__":
    main()

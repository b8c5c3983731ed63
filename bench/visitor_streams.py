#!/usr/bin/env python3
"""Measures many simultaneous visitor chats: the real binary with its built-in embedder and judge, and a scripted model server.

    python3 bench/visitor_streams.py [--binary build/release/footnote] [--streams 1000] >streams.md

The model server writes a token every 50 ms, answers of 180 tokens taken from the sources in the prompt, two of three sentences with a citation.
Measured: the time between two tokens as the visitor gets them, with 1 and 10 visitors and then with --streams of them and one more that stops
reading. Each visitor asks again as soon as its answer is complete, so the number of streams stays constant. All ask the same 20 questions about the handbook:
from the second time on, their passages come from the cache, like a site's frequent questions. Settings are the defaults.
Model server and visitors are bench/visitor_load.cpp, one thread each, on the same machine.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tests/server"))
from server import free_port  # noqa: E402

GAP_US, TOKENS = 50_000, 180
INITS_PER_ADDRESS = 50  # per minute; the server allows 60


def say(text):
    print(text, file=sys.stderr, flush=True)


def cpu_seconds(process):
    """Processor time of the process, all threads together."""
    return time.clock_gettime((~process.pid << 3) | 2)


def status_of(process):
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines() if ":" in line)
    return int(fields["VmRSS"].split()[0]), int(fields["Threads"])


class Peak(threading.Thread):
    """The maximum resident memory and number of threads of a process while this ran."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.kib, self.threads, self.over = process, 0, 0, threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            kib, threads = status_of(self.process)
            self.kib, self.threads = max(self.kib, kib), max(self.threads, threads)


class Bench:
    def __init__(self, args, stack, folder):
        self.args, self.stack, self.folder = args, stack, pathlib.Path(folder)
        self.load_maker = self.folder / "visitor_load"
        subprocess.run(["g++", "-O2", "-std=c++20", "-o", str(self.load_maker), str(HERE / "visitor_load.cpp")], check=True)
        self.environment = {**os.environ, "FOOTNOTE_MODELS": str(ROOT / ".deps/models"), "FOOTNOTE_LOG_LEVEL": "warn"}
        upstream = self.start([str(self.load_maker), "upstream", str(GAP_US), str(TOKENS)], "upstream", stdout=subprocess.PIPE)
        self.environment["LLM_BASE_URL"] = f"http://127.0.0.1:{int(upstream.stdout.readline())}/v1"
        self.environment["LLM_MODEL"] = "bench"
        self.environment.update(dict(each.split("=", 1) for each in args.set))
        self.serve()

    def start(self, command, name, stdout=None):
        log = open(self.folder / f"{name}.log", "wb")
        process = subprocess.Popen(command, env=self.environment, stdout=stdout or log, stderr=log, cwd=self.folder)
        self.stack.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def serve(self):
        data = self.folder / "data"
        subprocess.run([str(self.args.binary), "ingest", str(ROOT / "examples/handbook"), "--data", str(data)], env=self.environment,
                       check=True, stdout=subprocess.DEVNULL)
        self.port = free_port()
        self.server = self.start([str(self.args.binary), "serve", "--data", str(data), "--port", str(self.port)], "server")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.server.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).read()
                return
            time.sleep(0.05)
        sys.exit("not ready:\n" + (self.folder / "server.log").read_text()[-2000:])

    def post(self, path, body, source="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30, source_address=(source, 0))
        origin = f"http://127.0.0.1:{self.port}"
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json", "origin": origin})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.status >= 300:
            sys.exit(f"{path}: {response.status} {data[:300]}")
        return json.loads(data)

    def open_visitors(self, count):
        corpus = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/corpora").read())
        names = [each["name"] for each in corpus["corpora"]] if isinstance(corpus, dict) else [each["name"] for each in corpus]
        agent = self.post("/api/admin/agents", {"name": "Bench", "settings": {"corpora": names[:1]}})["id"]
        self.post(f"/api/admin/agents/{agent}/publish", {})
        tokens = []
        for i in range(count):  # each address may open only a few conversations per minute
            source = f"127.0.{1 + i // INITS_PER_ADDRESS // 250}.{2 + i // INITS_PER_ADDRESS % 250}"
            tokens.append(self.post("/api/v1/widget/init", {"agent_id": agent}, source)["token"])
        (self.folder / "tokens").write_text("\n".join(tokens) + "\n")
        questions = [json.loads(line) for line in open(ROOT / "eval/handbook/questions.jsonl")]
        texts = [each["question"] for each in questions if each["expect"] == "answer" and '"' not in each["question"] and "\\" not in each["question"]]
        (self.folder / "questions").write_text("\n".join(texts[:20]) + "\n")

    def load(self, streams, ramp, seconds, stalled=0):
        command = [str(self.load_maker), "load", str(self.port), str(self.folder / "tokens"), str(self.folder / "questions"),
                   *map(str, (streams, ramp, seconds, stalled))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        peak = Peak(self.server)
        peak.start()
        if process.stdout.readline() != "ramped\n":
            sys.exit("the load maker failed")
        began, cpu = time.monotonic(), cpu_seconds(self.server)
        load_cpu = cpu_seconds(process)
        result = json.loads(process.stdout.readline())
        took, cpu = time.monotonic() - began, cpu_seconds(self.server) - cpu
        process.wait()
        peak.over.set()
        peak.join()
        result.update(streams=streams, seconds=took, cores=cpu / took, cpu_us_token=1e6 * cpu / max(1, result["tokens"]), peak_kib=peak.kib,
                      threads=peak.threads, load_cpu=load_cpu)
        say(json.dumps(result))
        return result


def row(name, cells):
    return f"| {name} | " + " | ".join(cells) + " |"


def report(results, before_kib):
    out = [row("", [f"{each['streams']} streams" if each["streams"] > 1 else "1 stream" for each in results]), "|---" * (len(results) + 1) + "|"]
    out.append(row("between tokens p50 / p99 / p99.9 ms", [f"{r['gap_p50_ms']:.1f} / {r['gap_p99_ms']:.1f} / {r['gap_p999_ms']:.1f}" for r in results]))
    out.append(row("message to first token p50 / p99 ms", [f"{r['first_p50_ms']:.0f} / {r['first_p99_ms']:.0f}" for r in results]))
    out.append(row("last token to citations p50 / p99 ms", [f"{r['end_p50_ms']:.0f} / {r['end_p99_ms']:.0f}" for r in results]))
    out.append(row("streams under way, mean (least)", [f"{r['open_mean']:.0f} ({r['open_least']})" for r in results]))
    out.append(row("answers done / odd / failed / refused", [f"{r['done']} / {r['odd']} / {r['errors']} / {r['refused']}" for r in results]))
    out.append(row("citations supported / unsupported / unchecked",
                   [" / ".join(str(r["support"].get(name, 0)) for name in ("supported", "unsupported", "unchecked")) for r in results]))
    out.append(row("tokens a second", [f"{r['tokens'] / r['seconds']:.0f}" for r in results]))
    out.append(row("server: cores; processor time a token µs", [f"{r['cores']:.2f}; {r['cpu_us_token']:.0f}" for r in results]))
    out.append(row("server: resident MiB; threads", [f"{r['peak_kib'] / 1024:.0f}; {r['threads']}" for r in results]))
    most = results[-1]
    ratio = most["gap_p99_ms"] / max(each["gap_p99_ms"] for each in results[:2])
    out.append("")
    out.append(f"p99 with {most['streams']} streams is {ratio:.2f} times that of the few; "
               f"{(most['peak_kib'] - before_kib) / most['streams']:.0f} KiB of resident memory a stream ({before_kib / 1024:.0f} MiB before).")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--ramp", type=float, default=15, help="seconds in which the streams are begun")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the server, by its variable")
    args = parser.parse_args()
    args.binary = args.binary.resolve()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        bench = Bench(args, stack, folder)
        bench.open_visitors(args.streams + 1)
        bench.load(20, 2, 24)  # every question twice, alone and as a follow-up: from here on the cache has their passages
        few = [bench.load(1, 0, args.seconds), bench.load(10, 1, args.seconds)]
        before = status_of(bench.server)[0]
        many = bench.load(args.streams, args.ramp, args.seconds, stalled=1)
        print(report([*few, many], before))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures how long a server with many chunks takes to start, and how much memory it uses.

    python3 bench/index_start.py --data DIR [--rows 100000,1000000] [--binary build/release/footnote] [--starts 3]

DIR is the output of bench/peers/index_data.py. For each number of rows, `footnote bench index --fill` fills a data folder in DIR once: passages
with the vectors of windows, ten chunks per document, with normal commits; passages repeat if there are more rows than passages.
Then the server is started several times. Measured are the seconds from process start until /readyz returns 200, and the resident memory then and after
a hundred questions to /api/search. "Private" excludes pages of mapped files, which the system can reclaim. Processor time is that of all threads
until the process is ready; on a busy machine it is more reliable than the clock.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROW_BYTES = 384 * 4
QUESTIONS = 100
START_MAX_S = 600
MB = 1e6


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def vectors_file(data: pathlib.Path, rows: int) -> pathlib.Path:
    for file in sorted(data.glob("windows_*.f32"), key=lambda file: file.stat().st_size):
        if file.stat().st_size >= rows * ROW_BYTES:
            return file
    sys.exit(f"no {rows} vectors in {data}; make them with bench/peers/index_data.py")


def fill(args, rows: int) -> pathlib.Path:
    """The folder, filled now if needed. It has another name until it is complete."""
    folder = args.data / f"corpus_{rows}"
    if folder.exists():
        return folder
    part = folder.with_suffix(".part")
    subprocess.run(["rm", "-rf", str(part)], check=True)
    begin = time.monotonic()
    subprocess.run([str(args.binary), "bench", "index", "--fill", "--texts", str(args.data / "passages_100k.jsonl"), "--vectors",
                    str(vectors_file(args.data, rows)), "--rows", str(rows), "--data", str(part)], check=True, stdout=sys.stderr, env=args.environment)
    say(f"  filled in {time.monotonic() - begin:.0f} s")
    part.rename(folder)
    return folder


def memory(process: subprocess.Popen) -> dict:
    """In megabytes."""
    fields = {}
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("VmRSS", "RssAnon"):
            fields[name] = int(value.split()[0]) * 1024 / MB
    return {"resident_mb": fields["VmRSS"], "private_mb": fields["RssAnon"]}


def processor_seconds(process: subprocess.Popen) -> float:
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, args, folder: pathlib.Path):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        begin = time.perf_counter()
        self.process = subprocess.Popen([str(args.binary), "serve", "--port", self.url.rsplit(":", 1)[1], "--data", str(folder)], env=args.environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            if self.process.poll() is not None:
                sys.exit(f"the server ended with {self.process.returncode}")
            try:
                urllib.request.urlopen(self.url + "/readyz", timeout=5).read()
                break
            except OSError:
                if time.perf_counter() - begin > START_MAX_S:
                    self.process.kill()
                    sys.exit("the server did not become ready")
                time.sleep(0.005)
        self.seconds = time.perf_counter() - begin
        self.processor_seconds = processor_seconds(self.process)

    def search(self, question: str) -> None:
        body = json.dumps({"query": question}).encode()
        urllib.request.urlopen(urllib.request.Request(self.url + "/api/search", body, {"content-type": "application/json"}), timeout=60).read()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def measure(args, rows: int, questions: list[str]) -> dict:
    folder = fill(args, rows)
    seconds, worked, ready, asked = [], [], [], []
    for _ in range(args.starts):
        server = Server(args, folder)
        seconds.append(server.seconds)
        worked.append(server.processor_seconds)
        ready.append(memory(server.process))
        for question in questions:
            server.search(question)
        asked.append(memory(server.process))
        server.close()
        say(f"  ready after {seconds[-1]:.2f} s, {ready[-1]['resident_mb']:.0f} MB; after {len(questions)} questions {asked[-1]['resident_mb']:.0f} MB")
    index_bytes = sum(file.stat().st_size for file in (folder / "indexes").glob("*"))
    return {"rows": rows, "ready_seconds": statistics.median(seconds), "ready_seconds_all": seconds, "processor_seconds": statistics.median(worked), "load": os.getloadavg()[0],
            "ready": {key: statistics.median(one[key] for one in ready) for key in ready[0]},
            "asked": {key: statistics.median(one[key] for one in asked) for key in asked[0]},
            "index_mb": index_bytes / MB, "store_mb": (folder / "footnote.db").stat().st_size / MB}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / ".deps/models")
    parser.add_argument("--starts", type=int, default=3)
    args = parser.parse_args()
    args.environment = os.environ | {"FOOTNOTE_MODELS": str(args.models)}
    lines = (args.data / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["text"] for line in lines[:QUESTIONS]]
    print("| chunks | ready after s | processor s | resident MB | private MB | resident after questions MB | private MB | index files MB | store MB | load |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    for rows in map(int, args.rows.split(",")):
        say(f"{rows} chunks")
        found = measure(args, rows, questions)
        print(f"| {rows} | {found['ready_seconds']:.2f} | {found['processor_seconds']:.2f} | {found['ready']['resident_mb']:.0f} | {found['ready']['private_mb']:.0f} | "
              f"{found['asked']['resident_mb']:.0f} | {found['asked']['private_mb']:.0f} | {found['index_mb']:.0f} | {found['store_mb']:.0f} | "
              f"{found['load']:.1f} |", flush=True)


if __name__ == "__main__":
    main()

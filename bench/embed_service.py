#!/usr/bin/env python3
"""Compares the encoder's CPU levels, and measures the overhead of POST /embed with the real binary.

    python3 bench/embed_service.py [--binary build/release/footnote]

Fidelity: 1,000 mixed texts (from the fixture, paragraphs of the handbook and the documentation, halves of them and single words) at every
level of this machine: mean and lowest cosine to the fp32 level.
Throughput: 32 clients at once, each with requests of 8 texts of 128 tokens, compared with `footnote bench encoder` with the same shape, in turns.
"""

import argparse
import json
import math
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLOAT_LEVELS = ["avx512", "avx2", "portable"]
OTHER_LEVELS = ["amx", "vnni", "avx2-int8"]
TEXTS = 1000
CLIENTS = 32


class Server:
    """A separate server on a free port, at one level."""

    def __init__(self, binary: pathlib.Path, level: str):
        self.folder = tempfile.TemporaryDirectory()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = {**os.environ, "FOOTNOTE_CPU": level, "FOOTNOTE_MODELS": str(ROOT / ".deps/models")}
        self.process = subprocess.Popen([binary, "serve", "--port", str(self.port), "--data", f"{self.folder.name}/data"], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).read()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(level)

    def embed(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"inputs": texts}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/embed", body, {"content-type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=600).read())["vectors"]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def mixed_texts() -> list[str]:
    texts = [json.loads(line)["text"] for line in (ROOT / "tests/fixtures/embeddings/texts.jsonl").read_text().splitlines() if line]
    paragraphs = []
    for path in sorted([*ROOT.glob("examples/handbook/**/*.md"), *ROOT.glob("docs/**/*.md")]):
        paragraphs += [part.strip() for part in re.split(r"\n\s*\n", path.read_text()) if part.strip()]
    halves = [part[: len(part) // 2] for part in paragraphs]
    words = sorted({word for part in paragraphs for word in part.split()})
    for i in range(TEXTS):
        texts += [source[i] for source in (paragraphs, halves, words) if i < len(source)]
    return texts[:TEXTS]


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def usable(binary: pathlib.Path, level: str) -> bool:
    environment = {**os.environ, "FOOTNOTE_CPU": level, "FOOTNOTE_MODELS": str(ROOT / ".deps/models")}
    command = [binary, "bench", "encoder", "--shape", "1x1", "--seconds", "0"]
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def fidelity(binary: pathlib.Path) -> None:
    texts = mixed_texts()
    levels = [level for level in [*FLOAT_LEVELS, *OTHER_LEVELS] if usable(binary, level)]
    vectors = {}
    for level in levels:
        server = Server(binary, level)
        vectors[level] = server.embed(texts)
        server.close()
    print(f"{len(texts)} texts, cosine to {levels[0]}:")
    for level in levels[1:]:
        found = [cosine(a, b) for a, b in zip(vectors[levels[0]], vectors[level])]
        print(f"  {level:10} mean {statistics.mean(found):.6f}  lowest {min(found):.6f}")


def in_process(binary: pathlib.Path) -> float:
    environment = {**os.environ, "FOOTNOTE_MODELS": str(ROOT / ".deps/models")}
    command = [binary, "bench", "encoder", "--json", "--shape", "32x128", "--seconds", "3"]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)["tokens_per_second"]


def served(server: Server, seconds: float) -> float:
    body = json.dumps({"inputs": ["cat " * 126] * 8}).encode()
    head = f"POST /embed HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    request = head.encode() + body
    end = time.monotonic() + seconds
    counts = [0] * CLIENTS

    def client(index: int) -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            while time.monotonic() < end:
                connection.sendall(request)
                received = b""
                while b"\r\n\r\n" not in received:
                    received += connection.recv(1 << 18)
                length = int(re.search(rb"content-length: (\d+)", received.lower()).group(1))
                left = length - (len(received) - received.index(b"\r\n\r\n") - 4)
                while left > 0:
                    left -= len(connection.recv(min(left, 1 << 18)))
                if received.startswith(b"HTTP/1.1 200"):
                    counts[index] += 8 * 128
                else:  # The server is overloaded and says so instead of letting callers wait.
                    time.sleep(0.2)

    threads = [threading.Thread(target=client, args=(index,)) for index in range(CLIENTS)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - begin)


def throughput(binary: pathlib.Path, rounds: int) -> None:
    server = Server(binary, "auto")
    ratios = []
    for _ in range(rounds):
        alone, shared = in_process(binary), served(server, 5)
        ratios.append(shared / alone)
        print(f"  in process {alone:8.0f} tokens/s, {CLIENTS} clients {shared:8.0f} tokens/s, ratio {ratios[-1]:.3f}", flush=True)
    server.close()
    print(f"  median ratio {statistics.median(ratios):.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    fidelity(args.binary)
    print("throughput:")
    throughput(args.binary, args.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())

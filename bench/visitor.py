#!/usr/bin/env python3
"""Measures how long a visitor waits: the real binary with its embedder and judge, and a scripted model server.

    python3 bench/visitor.py [--texts passages.jsonl --passages 10000] [--data DIR] [--questions 300] [--binary build/release/footnote]

Without --texts the corpus is the handbook and the documentation of this repository; with it, the first passages of the file. --data keeps the data
folder, or reuses an existing one. Questions are made from sentences of the passages, so that each is new and has results.
Three things are measured, over HTTP, one request at a time:
  uncached   from a request to the first byte that the model server gets: retrieval, judge of 18, prompt
  curated    from a request to the answer's text, and to `done`, with 10,000 curated answers
  cached     the same questions again, from other visitors: the cache replaces retrieval
Stages are those of the turns' traces. Processor time is that of all server threads per turn, including its end (citation check, commit). Unlike the
clock, it is not affected by other programs.
"""
import argparse
import json
import os
import pathlib
import random
import re
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/server"))
from server import Server  # noqa: E402
from site_admin import admin, published_agent  # noqa: E402

CURATED = 10_000
MESSAGES_OF_A_VISITOR = 25  # Below the limit per visitor.
PIECES = ["Five ", "days ", "[1]."]


class Upstream:
    """Answers every chat completion at once; records when its first byte arrived."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        self.first_byte = 0.0
        events = [{"model": "m", "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in PIECES]
        events.append({"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.answer = (f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n{body}").encode()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b""
        while True:
            got = connection.recv(1 << 16)
            if not got:
                return
            if not data:
                self.first_byte = time.perf_counter()
            data += got
            head, found, body = data.partition(b"\r\n\r\n")
            if not found:
                continue
            length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
            if len(body) >= length:
                data = b""
                connection.sendall(self.answer)


class Client:
    """One connection; each visitor has its own address, so that no rate limit applies."""

    def __init__(self, port, agent, number):
        self.socket = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.{number // 250}.{number % 250 + 2}", 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = f"127.0.0.1:{port}"
        self.token = None
        self.token = json.loads(self.call("POST", "/api/v1/widget/init", {"agent_id": agent}))["token"]

    def send(self, method, path, body):
        text = b"" if body is None else json.dumps(body).encode()
        authority = f"authorization: Bearer {self.token}\r\n" if self.token else ""
        head = (f"{method} {path} HTTP/1.1\r\nhost: {self.host}\r\norigin: http://{self.host}\r\ncontent-type: application/json\r\n"
                f"{authority}content-length: {len(text)}\r\n\r\n")
        self.socket.sendall(head.encode() + text)

    def call(self, method, path, body=None):
        self.send(method, path, body)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(1 << 16)
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
        while len(rest) < length:
            rest += self.socket.recv(1 << 16)
        assert b" 200 " in head.split(b"\r\n")[0], head + rest
        return rest

    def ask(self, message):
        """Seconds to the first token and to done, and the turn's id."""
        start = time.perf_counter()
        self.send("POST", "/api/v1/widget/messages/stream", {"message": message})
        data, token = b"", 0.0
        while True:
            got = self.socket.recv(1 << 16)
            now = time.perf_counter()
            assert got, data
            data += got
            if not token and b'"event":"token"' in data:
                token = now
            if b'"event":"done"' in data:
                done = now
                break
            assert b'"event":"error"' not in data and b"HTTP/1.1 200" in data, data
        while not data.endswith(b"0\r\n\r\n"):
            data += self.socket.recv(1 << 16)
        turn = re.search(rb'"message_id":"([^"]+)"', data)[1].decode()
        return start, token - start, done - start, turn

    def close(self):
        self.socket.close()


class Visitors:
    """A new visitor for each message, or for every MESSAGES_OF_A_VISITOR messages."""

    def __init__(self, port, agent):
        self.port, self.agent, self.number, self.asked, self.client = port, agent, 0, 0, None

    def next(self, fresh):
        if self.client is None or fresh or self.asked == MESSAGES_OF_A_VISITOR:
            if self.client:
                self.client.close()
            self.number, self.asked = self.number + 1, 0
            self.client = Client(self.port, self.agent, self.number)
        self.asked += 1
        return self.client


def processor_seconds(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def line(name, seconds):
    ms = [1000 * value for value in seconds]
    return f"| {name} | {len(ms)} | {statistics.median(ms):.2f} | {percentile(ms, 0.9):.2f} | {percentile(ms, 0.99):.2f} | {max(ms):.2f} |"


def make_corpus(args, data):
    with tempfile.TemporaryDirectory() as name:
        folders = [ROOT / "examples/handbook", ROOT / "docs"]
        if args.texts:
            folders = [pathlib.Path(name)]
            with args.texts.open(encoding="utf-8") as lines:
                for number, text in zip(range(args.passages), lines):
                    (folders[0] / f"{number:06}.txt").write_text(json.loads(text)["text"], encoding="utf-8")
        for folder in folders:
            done = subprocess.run([args.binary, "ingest", folder, "--data", data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode not in (0, 4):  # 4: a file was skipped
                sys.exit(done.stdout)


def questions_of(data, count):
    store = sqlite3.connect(f"file:{data}/footnote.db?mode=ro", uri=True)
    texts = [row[0] for row in store.execute("SELECT text FROM chunks WHERE died IS NULL ORDER BY id")]
    store.close()
    random.seed(7)
    out = set()
    for text in random.sample(texts, len(texts)):
        words = re.findall(r"[A-Za-z]{3,}", random.choice(re.split(r"(?<=[.!?])\s", text)))
        if len(words) >= 6:
            at = random.randrange(len(words) - 5)
            out.add("What is known about " + " ".join(words[at:at + 6]).lower() + "?")
        if len(out) == count:
            break
    return len(texts), sorted(out)


def trace_of(client, turn):
    token, client.token = client.token, None
    trace = json.loads(client.call("GET", f"/api/turns/{turn}/trace"))
    client.token = token
    return {stage["stage"]: stage["took_ms"] for stage in trace["stages"] if stage["took_ms"] is not None}


def stage_table(traces):
    print("\n| stage | ms p50 | ms p99 |\n|---|---|---|")
    for stage in dict.fromkeys(name for trace in traces for name in trace):
        took = [trace[stage] for trace in traces if stage in trace]
        print(f"| {stage} | {statistics.median(took):.3f} | {percentile(took, 0.99):.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=pathlib.Path, help='passages: a JSON object with "text" on each line')
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--curated", type=int, default=1_000, help="questions with a curated answer")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    args = parser.parse_args()
    os.environ.setdefault("FOOTNOTE_MODELS", str(ROOT / ".deps/models"))
    with tempfile.TemporaryDirectory() as name:
        data = args.data or pathlib.Path(name) / "data"
        if not (data / "footnote.db").exists():
            make_corpus(args, data)
        passages, questions = questions_of(data, args.questions)
        upstream = Upstream()
        environment = {"LLM_BASE_URL": upstream.url, "LLM_MODEL": "m"}
        with Server(args.binary, str(data), environment) as server:
            agent = published_agent(server.port, {"corpora": ["memory"]}, f"Bench {time.time()}")
            rows = "\n".join(f"curated phrase number {i},Answer {i}." for i in range(CURATED))
            csv = {"content-type": "text/csv", "x-footnote-request": "1"}
            admin(server.port, f"curated/import?agent_id={agent}", f"pattern,answer\n{rows}\n".encode(), headers=csv)
            visitors = Visitors(server.port, agent)
            for question in ("Is everything warm?", "Is everything warm by now?", "curated phrase number 1"):
                visitors.next(True).ask(question)

            spent = []  # processor ms per turn

            def run(messages, fresh):
                first, tokens, dones, turns = [], [], [], []
                before = processor_seconds(server)
                for message in messages:
                    client = visitors.next(fresh)
                    start, token, done, turn = client.ask(message)
                    first.append(upstream.first_byte - start)
                    tokens.append(token)
                    dones.append(done)
                    turns.append(turn)
                spent.append(1000 * (processor_seconds(server) - before) / len(messages))
                return first, tokens, dones, [trace_of(client, turn) for turn in turns]

            print(f"{passages} passages, {len(questions)} questions, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
            print("| | n | ms p50 | p90 | p99 | max |\n|---|---|---|---|---|---|")
            first, tokens, dones, uncached = run(questions, True)
            print(line("uncached: to the model server's first byte", first))
            print(line("uncached: to the first token", tokens))
            first, tokens, dones, cached = run(questions, True)
            print(line("cached: to the model server's first byte", first))
            print(line("cached: the cache itself (trace)", [trace["recall"] / 1000 for trace in cached]))
            asked = [f"Please: curated phrase number {random.randrange(CURATED)}" for _ in range(args.curated)]
            _, tokens, dones, curated = run(asked, False)
            print(line("curated: to the text", tokens))
            print(line("curated: to done (stored)", dones))
            print(f"\nload {os.getloadavg()[0]:.1f}; processor ms a turn: uncached {spent[0]:.1f}, cached {spent[1]:.1f}, curated {spent[2]:.2f}")
            print("\nuncached turns:")
            stage_table(uncached)
            print("\ncached turns:")
            stage_table(cached)


if __name__ == "__main__":
    main()

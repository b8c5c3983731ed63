#!/usr/bin/env python3
"""Creates the data for bench/peers/indexes.py and `footnote bench index`: real passages, real questions, real embeddings.

    python3 bench/peers/index_data.py --pairs PAIRS.jsonl.xz --out DIR [--rows 100000,1000000] [--binary build/release/footnote]

PAIRS has one JSON object per line: "q" (a question), "pos" (the passage that answers it), "src" (its source). Files in DIR:

    passages_100k.jsonl   {"_id", "text"}: distinct passages
    questions.jsonl       {"_id", "text"}: questions that people asked
    windows.jsonl         {"_id", "passage", "text"}: distinct windows of 12 to 25 words that begin with a sentence; line i, for i below 100,000,
                          is the first window of passage i, the rest come from these and further passages
    queries_1k.f32        the first 1,000 questions as rows of 384 floats of unit length, by POST /v1/embeddings of a separate server
    windows_100k.f32      the first 100,000 windows, likewise; windows_1m.f32 the first million

The same pairs give the same texts. An interrupted run resumes; finished files are not changed.
"""
import argparse
import base64
import concurrent.futures
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 6
PASSAGES = 100_000
PASSAGE_WORDS_MIN = 20
QUESTIONS = 2_000
QUERIES = 1_000
HUMAN = ("qed", "squad", "nq", "medquad", "doc2dial", "pubmedqa")  # Prefixes of the names of sets with real questions.
WINDOW_WORDS_MIN, WINDOW_WORDS_MAX = 12, 25
MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
ROW_BYTES = 4 * DIMENSION
BATCH = 256
IN_FLIGHT = 2
SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


# ---- texts

def read_pairs(path: pathlib.Path) -> list[dict]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def distinct(texts) -> list[str]:
    return list(dict.fromkeys(texts))


def long_passages(pairs: list[dict]) -> list[str]:
    """In random order."""
    out = [text for text in distinct(pair["pos"].strip() for pair in pairs) if len(text.split()) >= PASSAGE_WORDS_MIN]
    random.Random(SEED).shuffle(out)
    return out


def human_questions(pairs: list[dict]) -> list[str]:
    out = distinct(pair["q"].strip() for pair in pairs if pair["src"].startswith(HUMAN))
    random.Random(SEED).shuffle(out)
    return out[:QUESTIONS]


def windows_of(passage: str) -> list[str]:
    """One window per sentence, with as many complete sentences as fit; a long sentence is truncated."""
    out = []
    sentences = [sentence.split() for sentence in SENTENCE.split(passage)]
    for begin in range(len(sentences)):
        words: list[str] = []
        for sentence in sentences[begin:]:
            if len(words) >= WINDOW_WORDS_MIN and len(words) + len(sentence) > WINDOW_WORDS_MAX:
                break
            words += sentence
            if len(words) > WINDOW_WORDS_MAX:
                break
        while len(words) >= WINDOW_WORDS_MIN:
            out.append(" ".join(words[:WINDOW_WORDS_MAX]))
            words = words[WINDOW_WORDS_MAX:]
    # No sentences of that length: use the first words.
    return out or [" ".join(passage.split()[:WINDOW_WORDS_MAX])]


def all_windows(passages: list[str], rows: int) -> list[tuple[int, str]]:
    """Passage and text: first one window of each of the first passages, then the others in random order."""
    seen: set[str] = set()
    first, rest = [], []
    for number, passage in enumerate(passages):
        fresh = [window for window in distinct(windows_of(passage)) if window not in seen]
        if number < PASSAGES:  # Every passage has a first window, even if another passage has the same one.
            first.append((number, fresh[0] if fresh else windows_of(passage)[0]))
        seen.update(fresh)
        rest += [(number, window) for window in fresh[1 if number < PASSAGES else 0:]]
    random.Random(SEED).shuffle(rest)
    return (first + rest)[:rows]


def write_lines(path: pathlib.Path, rows) -> None:
    part = path.with_suffix(".part")
    with open(part, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    part.rename(path)


def write_texts(args, rows: int) -> None:
    if all((args.out / name).exists() for name in ("passages_100k.jsonl", "questions.jsonl", "windows.jsonl")):
        return
    pairs = read_pairs(args.pairs)
    passages, questions = long_passages(pairs), human_questions(pairs)
    windows = all_windows(passages, rows)
    if len(passages) < PASSAGES or len(questions) < QUESTIONS or len(windows) < rows:
        sys.exit(f"too little text: {len(passages)} passages, {len(questions)} questions, {len(windows)} windows")
    write_lines(args.out / "passages_100k.jsonl", ({"_id": str(i), "text": text} for i, text in enumerate(passages[:PASSAGES])))
    write_lines(args.out / "questions.jsonl", ({"_id": str(i), "text": text} for i, text in enumerate(questions)))
    write_lines(args.out / "windows.jsonl", ({"_id": str(i), "passage": str(number), "text": text} for i, (number, text) in enumerate(windows)))
    words = [len(text.split()) for _, text in windows]
    say(f"texts: {len(passages)} passages, {len(questions)} questions, {len(windows)} windows of {sum(words) / len(words):.1f} words")


def read_texts(path: pathlib.Path, rows: int, skip: int = 0) -> list[str]:
    out = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number >= rows:
                break
            if number >= skip:
                out.append(json.loads(line)["text"])
    return out


# ---- vectors

class Server:
    """A separate server on a free port."""

    def __init__(self, args):
        self.folder = tempfile.TemporaryDirectory()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = {**os.environ, "FOOTNOTE_MODELS": str(args.models)}
        self.process = subprocess.Popen([args.binary, "serve", "--port", str(self.port), "--data", f"{self.folder.name}/data"], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).read()
                return
            except OSError:
                time.sleep(0.02)
        sys.exit(f"{args.binary} did not start: {self.process.returncode}")

    def embed(self, texts: list[str]) -> bytes:
        """The rows as one array of bytes."""
        body = json.dumps({"input": texts, "model": MODEL, "encoding_format": "base64"}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/embeddings", body, {"content-type": "application/json"})
        while True:
            try:
                data = json.loads(urllib.request.urlopen(request, timeout=600).read())["data"]
                return b"".join(base64.b64decode(one["embedding"]) for one in sorted(data, key=lambda one: one["index"]))
            except urllib.error.HTTPError as error:
                if error.code not in (429, 503):
                    sys.exit(f"{error}: {error.read()[:500]}")
                time.sleep(0.5)  # The server is overloaded.

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def write_vectors(server: Server, texts: pathlib.Path, out: pathlib.Path, rows: int, begin_from: pathlib.Path | None = None) -> None:
    """Writes complete batches to a .part file, so that an interrupted run can resume."""
    if out.exists():
        return
    part = out.with_suffix(".part")
    if not part.exists() and begin_from:
        shutil.copy(begin_from, part)
    done = part.stat().st_size // ROW_BYTES if part.exists() else 0
    batches = [pending[i:i + BATCH] for pending in [read_texts(texts, rows, done)] for i in range(0, len(pending), BATCH)]
    say(f"{out.name}: {done} of {rows} rows are there")
    begin, added = time.monotonic(), 0
    with open(part, "ab") as file, concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as pool:
        file.truncate(done * ROW_BYTES)
        for number, vectors in enumerate(pool.map(server.embed, batches)):
            if len(vectors) != len(batches[number]) * ROW_BYTES:
                sys.exit(f"{len(vectors)} bytes for {len(batches[number])} texts")
            file.write(vectors)
            file.flush()
            added += len(batches[number])
            if number % 40 == 0:
                say(f"{out.name}: {done + added} of {rows}, {added / (time.monotonic() - begin):.0f} rows/s")
    part.rename(out)
    say(f"{out.name}: done")


def size_name(rows: int) -> str:
    return f"{rows // 1_000_000}m" if rows % 1_000_000 == 0 else f"{rows // 1000}k" if rows % 1000 == 0 else str(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rows", default="100000,1000000", help="windows to embed: a file for each number")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / ".deps/models")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sizes = sorted(map(int, args.rows.split(",")))
    write_texts(args, max(1_000_000, sizes[-1]))
    server = Server(args)
    try:
        write_vectors(server, args.out / "questions.jsonl", args.out / "queries_1k.f32", QUERIES)
        smaller = None
        for rows in sizes:
            out = args.out / f"windows_{size_name(rows)}.f32"
            write_vectors(server, args.out / "windows.jsonl", out, rows, smaller)
            smaller = out
    finally:
        server.close()


if __name__ == "__main__":
    main()

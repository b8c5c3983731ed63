#!/usr/bin/env python3
"""Compares our tokenizers with Hugging Face's `tokenizers`: same tokens, same positions, and the speed-up.

    tokenizers.py PROGRAM MODEL_FOLDER [--text FILE]... [--lines N] [--rounds N] [--reference TOKENIZER_JSON]

PROGRAM is tokenizer_bench of a release build. MODEL_FOLDER has a tokenizer.json; if it has only vocab.txt or
sentencepiece.bpe.model, --reference names the tokenizer.json to compare with. Needs the Python package `tokenizers`.

Half of the 100,000 lines come from the text files, the other half are generated: words of many scripts, emoji, stacked
combining marks, control characters, arbitrary code points, special tokens. The same seed gives the same lines. Both sides run on
one thread and return ids and positions; the ratio is that of the medians of interleaved rounds (5).
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
# This file has the same name as the package, so remove its folder from the search path.
sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import tokenizers  # noqa: E402

SEED = 20
# Ranges of letters of many scripts.
SCRIPTS = [
    (0x61, 0x7A), (0x41, 0x5A), (0xC0, 0xFF), (0x100, 0x17F), (0x1E00, 0x1EFF), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x587),
    (0x5D0, 0x5EA), (0x620, 0x64A), (0x904, 0x939), (0x985, 0x9B9), (0xA05, 0xA39), (0xA85, 0xAB9), (0xB85, 0xBB9), (0xC05, 0xC39),
    (0xC85, 0xCB9), (0xD05, 0xD39), (0xE01, 0xE3A), (0xE81, 0xEB3), (0xF40, 0xF6C), (0x1000, 0x1049), (0x10A0, 0x10FF),
    (0x1200, 0x135A), (0x13A0, 0x13F5), (0x1780, 0x17B3), (0x1820, 0x1878), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3), (0x1100, 0x11FF), (0xFF01, 0xFF9F), (0x1D400, 0x1D7FF), (0x10400, 0x1044F), (0x1E900, 0x1E943),
]
MARKS = [(0x300, 0x36F), (0x483, 0x489), (0x591, 0x5BD), (0x64B, 0x65F), (0x93A, 0x94F), (0x302A, 0x302F), (0x1D165, 0x1D172)]
ODD = [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1F, 0x7F, 0x85, 0xA0, 0xAD, 0x1680, 0x2003, 0x200B, 0x200C, 0x200D, 0x2028, 0x2029, 0x202E,
       0x202F, 0x205F, 0x2060, 0x2581, 0x3000, 0xFEFF, 0xFFFD, 0xFE0F, 0xE000, 0x378, 0xF900, 0x2F800, 0x20000]
SPECIALS = ["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<s>", "</s>", "<mask>", "<unk>", "<pad>", "  <mask>", "[mask]", "<mask", "<0x41>"]
PUNCTUATION = ".,;:!?()[]{}<>/\\|@#$%^&*-_=+'\"`~—–…“”‘’«»、。！？；：（）「」·¿¡§"


def pick(rng, ranges):
    first, last = rng.choice(ranges)
    return chr(rng.randint(first, last))


def any_character(rng):
    while True:
        c = rng.randint(1, rng.choice([0xFF, 0x2FFF, 0xFFFF, 0x1FFFF, 0x10FFFF]))
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def word(rng):
    kind = rng.random()
    if kind < 0.60:
        script = [rng.choice(SCRIPTS)]
        return "".join(pick(rng, script) for _ in range(rng.randint(1, 9)))
    if kind < 0.68:
        script = [rng.choice(SCRIPTS)]
        return "".join(pick(rng, script) + "".join(pick(rng, MARKS) for _ in range(rng.choice([0, 0, 1, 1, 2, 4]))) for _ in range(rng.randint(1, 5)))
    if kind < 0.74:
        return "".join(chr(rng.choice([0x1F600, 0x1F468, 0x2764, 0x1F3FD, 0x200D, 0xFE0F, 0x1F1F3, 0x1F1F4, 0x2122, 0xA9]) + rng.randint(0, 1)) for _ in range(rng.randint(1, 6)))
    if kind < 0.82:
        return str(rng.randint(0, 10 ** rng.randint(1, 12)))
    if kind < 0.88:
        return "".join(rng.choice(PUNCTUATION) for _ in range(rng.randint(1, 4)))
    if kind < 0.93:
        return "".join(any_character(rng) for _ in range(rng.randint(1, 8)))
    if kind < 0.96:
        return "".join(rng.choice([chr(rng.choice(ODD)), pick(rng, SCRIPTS)]) for _ in range(rng.randint(1, 6)))
    if kind < 0.98:
        return rng.choice(SPECIALS)
    return pick(rng, SCRIPTS[:1]) * rng.choice([99, 100, 101, 102, 300])


def generated(rng):
    return "".join(word(rng) + rng.choice(["", " ", " ", " ", " ", "  ", "\t", "\n", "\r\n"]) for _ in range(rng.randint(1, 24)))


def compose(files, count):
    rng = random.Random(SEED)
    real = []
    for name in files:
        with open(name, encoding="utf-8", errors="replace", newline="\n") as file:
            real.append([line.rstrip("\n").replace("\0", "") for line in file if line.strip()])
    lines = []
    pool = [line for group in real for line in group]
    rng.shuffle(pool)
    lines = pool[: count // 2]
    while len(lines) < count:
        lines.append(generated(rng))
    rng.shuffle(lines)
    return lines


def read_tokens(path):
    import array

    numbers = array.array("I")
    numbers.frombytes(pathlib.Path(path).read_bytes())
    at = 0
    while at < len(numbers):
        count = numbers[at]
        yield numbers[at + 1 : at + 1 + count], numbers[at + 1 + count : at + 1 + 2 * count], numbers[at + 1 + 2 * count : at + 1 + 3 * count]
        at += 1 + 3 * count


def to_bytes(line, offsets):
    if line.isascii():
        return [b for b, _ in offsets], [e for _, e in offsets]
    at = [0]
    for character in line:
        at.append(at[-1] + len(character.encode()))
    return [at[b] for b, _ in offsets], [at[e] for _, e in offsets]


def compare(arguments, peer, lines, path, shown=10):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "tokens")
        subprocess.run([arguments.program, arguments.folder, path, out], check=True)
        tokens = same_ids = same_places = 0
        for number, (line, (ids, begins, ends)) in enumerate(zip(lines, read_tokens(out), strict=True)):
            encoding = peer.encode(line, add_special_tokens=False)
            wanted_begins, wanted_ends = to_bytes(line, encoding.offsets)
            tokens += len(encoding.ids)
            equal = list(ids) == encoding.ids
            placed = equal and list(begins) == wanted_begins and list(ends) == wanted_ends
            same_ids += equal
            same_places += placed
            if not placed and shown > 0:
                shown -= 1
                print(f"line {number} differs in {'places' if equal else 'ids'}: {json.dumps(line)}")
                print("  peer", list(zip(encoding.ids, wanted_begins, wanted_ends))[:60])
                print("  ours", list(zip(ids, begins, ends))[:60])
    print(f"{len(lines)} lines, {tokens} tokens: ids equal in {same_ids} lines, ids and places in {same_places}")
    return same_places == len(lines)


def measure(arguments, peer, lines, path):
    ours, theirs, theirs_fast = [], [], []
    with subprocess.Popen([arguments.program, arguments.folder, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        for _ in range(arguments.rounds):
            program.stdin.write("go\n")
            program.stdin.flush()
            ours.append(float(program.stdout.readline()))
            begin = time.perf_counter()
            kept = peer.encode_batch(lines, add_special_tokens=False)
            theirs.append(time.perf_counter() - begin)
            del kept
            begin = time.perf_counter()
            kept = peer.encode_batch_fast(lines, add_special_tokens=False)
            theirs_fast.append(time.perf_counter() - begin)
            del kept
        program.stdin.close()
    megabytes = sum(len(line.encode()) for line in lines) / 1e6
    for name, times in (("footnote", ours), ("tokenizers", theirs), ("tokenizers without places", theirs_fast)):
        median = statistics.median(times)
        print(f"{name:>26}: median {median:.3f} s ({min(times):.3f} to {max(times):.3f}), {megabytes / median:.1f} MB/s")
    print(f"ratio {statistics.median(theirs) / statistics.median(ours):.2f} (without places {statistics.median(theirs_fast) / statistics.median(ours):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--text", action="append", default=[], help="a UTF-8 file; its lines are half of all")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5, help="0: compare only")
    parser.add_argument("--reference", help="the tokenizer.json to compare with")
    arguments = parser.parse_args()
    peer = tokenizers.Tokenizer.from_file(arguments.reference or os.path.join(arguments.folder, "tokenizer.json"))
    peer.no_padding()
    peer.no_truncation()
    lines = compose(arguments.text, arguments.lines)
    with tempfile.NamedTemporaryFile() as file:
        file.write("".join(line + "\0" for line in lines).encode())
        file.flush()
        equal = compare(arguments, peer, lines, file.name)
        if arguments.rounds > 0:
            measure(arguments, peer, lines, file.name)
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()

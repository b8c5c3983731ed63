#!/usr/bin/env python3
"""Word precision and recall of the main text of web pages.

usage: extraction_test.py HTML_BENCH [-v]

Every kind of page must reach 0.90 / 0.90, all of them together 0.95 / 0.95. -v prints each kind, and the words that are
missing or too many.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from pages import make_pages  # noqa: E402

GOAL, GOAL_OF_A_KIND = 0.95, 0.90


def words(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def score(expected, got):
    """(precision, recall) of the words, as multisets."""
    common = sum((expected & got).values())
    return common / max(1, sum(got.values())), common / max(1, sum(expected.values()))


def mean(pairs):
    return tuple(sum(pair[i] for pair in pairs) / len(pairs) for i in (0, 1))


def f1(pair):
    return 2 * pair[0] * pair[1] / max(1e-9, pair[0] + pair[1])


def write_pages(folder):
    """{path: (kind, main text)}"""
    out = {}
    for name, html, main in make_pages():
        path = pathlib.Path(folder) / f"{name}.html"
        path.write_text(html)
        out[str(path)] = (name.rsplit("_", 1)[0], main)
    return out


def extract(bench, paths, rounds=1):
    """{path: (text, seconds)}"""
    done = subprocess.run([bench, "--rounds", str(rounds), *paths], capture_output=True, text=True, check=True)
    rows = map(json.loads, done.stdout.splitlines())
    return {row["file"]: (row["text"], row["seconds"]) for row in rows}


def main():
    bench, verbose = sys.argv[1], "-v" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        pages = write_pages(folder)
        texts = extract(bench, list(pages))
    kinds = collections.defaultdict(list)
    for path, (kind, expected) in pages.items():
        pair = score(words(expected), words(texts[path][0]))
        kinds[kind].append(pair)
        if verbose and f1(pair) < GOAL:
            missing, extra = words(expected) - words(texts[path][0]), words(texts[path][0]) - words(expected)
            print(pathlib.Path(path).name, "%.3f / %.3f" % pair, "missing", dict(missing.most_common(8)), "extra", dict(extra.most_common(12)))
    failed = False
    for kind, pairs in kinds.items():
        bad = min(mean(pairs)) < GOAL_OF_A_KIND
        failed |= bad
        if verbose or bad:
            print(f"{kind:16} precision %.3f recall %.3f" % mean(pairs), "below the goal" if bad else "")
    whole = mean([pair for pairs in kinds.values() for pair in pairs])
    print(f"{len(pages)} pages: precision %.3f recall %.3f" % whole)
    return 1 if failed or len(pages) < 60 or min(whole) < GOAL else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Makes supported and unsupported claims with evidence, to fit the citation check. Needs only Python's standard library.

    xzcat data/train/pairs.jsonl.xz | python3 eval/grounding/make_claims.py > claims.jsonl
    footnote eval claims.jsonl --limit 900 --save signals.json
    python3 eval/grounding/fit_support.py signals.json

Each passage of the pairs (question, heading or title -> passage) gives one claim, of a kind drawn at random:

    supported      a sentence of the passage, unchanged or without a third of its plain words; or the heading or title of the
                   pair, which paraphrases the passage
    not supported  such a sentence with a third of its words replaced from another passage; such a sentence or title paired with a
                   neighbouring passage (mostly of the same page) or with another of the same source

Swapped numbers and names are not included, because the check's rules find them.
The evaluation sets (WiCE, Climate-FEVER, SciFact) are not used.
"""
import argparse
import collections
import json
import random
import re
import sys

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(])")
WORD = re.compile(r"\b[a-z]{5,}\b")


def sentences_of(passage):
    return [s.strip() for s in SENTENCE.split(passage) if 40 <= len(s.strip()) <= 320 and s.strip()[-1:] in ".!"]


def shortened(sentence, rng):
    words = sentence.split()
    kept = [w for w in words if rng.random() > .33 or not w.islower()]
    return " ".join(kept) if len(kept) >= 5 else sentence


def swapped(sentence, passage, other, rng):
    """The sentence with a third of its content words from another passage; None if there are too few."""
    theirs = sorted({w for w in WORD.findall(other) if w not in passage})
    mine = list(WORD.finditer(sentence))
    if len(mine) < 3 or len(theirs) < 3:
        return None
    for m in sorted(rng.sample(mine, max(2, len(mine) // 3)), key=lambda m: -m.start()):
        sentence = sentence[:m.start()] + rng.choice(theirs) + sentence[m.end():]
    return sentence


def rows_of(pairs, count, rng):
    by_source = collections.defaultdict(list)
    for pair in pairs:
        by_source[pair["src"]].append(pair)
    sources = sorted(s for s in by_source if len(by_source[s]) >= 50)
    while count > 0:
        rows = by_source[rng.choice(sources)]
        place = rng.randrange(len(rows) - 1)
        pair, near, other = rows[place], rows[place + 1], rng.choice(rows)
        found = sentences_of(pair["pos"])
        if not found:
            continue
        sentence = rng.choice(found)
        kind = rng.choice(["copy", "short", "short", "title", "title", "swap", "swap", "near", "near", "near_title", "other"])
        claim = sentence if kind == "copy" else shortened(sentence, rng)
        if kind.endswith("title"):
            claim = pair["q"]
            if len(claim.split()) < 4 or claim.endswith("?"):
                continue
        evidence = {"near": near, "near_title": near, "other": other}.get(kind, pair)["pos"]
        if kind.startswith(("near", "other")) and (sentence in evidence or evidence[:200] == pair["pos"][:200] or near["q"] == pair["q"]):
            continue
        if kind == "swap":
            claim = swapped(claim, pair["pos"], other["pos"], rng)
        if claim is None:
            continue
        count -= 1
        label = "supported" if kind in ("copy", "short", "title") else "not_supported"
        yield {"id": f"{pair['src']}:{kind}:{count}", "claim": claim, "evidence": evidence[:3000], "label": label}


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rows", type=int, default=3000)
    options.add_argument("--seed", type=int, default=11)
    options = options.parse_args()
    rng = random.Random(options.seed)
    pairs = [json.loads(line) for line in sys.stdin]
    pairs = [p for p in pairs if p["src"] != "squad_train_nqg"]  # lower case: contains no names
    for row in rows_of(pairs, options.rows, rng):
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()

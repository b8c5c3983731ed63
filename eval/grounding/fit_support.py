#!/usr/bin/env python3
"""Fits the weights of the citation check to a run saved with `footnote eval claims.jsonl --save signals.json`.

    python3 eval/grounding/fit_support.py signals.json
    python3 eval/grounding/fit_support.py signals.json --slopes .3 2 8      # fixed slopes for relevance, word share and cosine: fits only the bias

Logistic regression of "supported" on relevance, word share and cosine (and on the last two alone, for use without a reranker), by
Newton's method with a small ridge. Unsupported rows that a rule decides and rows with
swapped words are left out. Nine rows in ten are used to fit, the tenth to test. Needs only Python's standard library.
"""
import argparse
import json
import math

ROUNDS, RIDGE = 25, 1e-3


def solve(a, b):
    n = len(b)
    rows = [list(a[i]) + [b[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                f = rows[r][i] / rows[i][i]
                rows[r] = [x - f * y for x, y in zip(rows[r], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def fit(x, y, slopes=None):
    """The weight of each column of x; `slopes` fixes those of the first columns, if given."""
    if slopes:
        x, offset = [row[len(slopes):] for row in x], [sum(a * b for a, b in zip(row, slopes)) for row in x]
    else:
        slopes, offset = [], [0.0] * len(x)
    w = [0.0] * len(x[0])
    for _ in range(ROUNDS):
        gradient, hessian = [RIDGE * v for v in w], [[RIDGE if i == j else 0.0 for j in range(len(w))] for i in range(len(w))]
        for row, label, known in zip(x, y, offset):
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, known + sum(a * b for a, b in zip(row, w))))))
            for i, a in enumerate(row):
                gradient[i] += (p - label) * a
                for j, b in enumerate(row):
                    hessian[i][j] += p * (1 - p) * a * b
        w = [a - b for a, b in zip(w, solve(hessian, gradient))]
    return list(slopes) + w


def auc(scores, labels):
    order = sorted(zip(scores, labels))
    positives = sum(labels)
    negatives, below, total = len(labels) - positives, 0, 0
    for _, label in order:
        total += below if label else 0
        below += 0 if label else 1
    return total / (positives * negatives)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("run")
    options.add_argument("--slopes", type=float, nargs=3)
    options = options.parse_args()
    run = json.load(open(options.run))
    stage = next(s for s in run["stages"] if s["stage"] == "check")
    place = {name: i + 1 for i, name in enumerate(stage["metrics"])}
    # Claims that a rule decides need no weights; sentences with swapped words are only partially unsupported.
    rows = [r for r in stage["rows"] if (not r[place["breach"]] or r[place["label"]]) and ":swap:" not in r[0]]
    for names in (["relevance", "word_share", "cosine"], ["word_share", "cosine"]):
        usable = [r for r in rows if all(r[place[n]] is not None for n in names)]
        x = [[r[place[n]] for n in names] + [1.0] for r in usable]
        y = [r[place["label"]] for r in usable]
        kept = [i for i in range(len(x)) if i % 10]
        held = [i for i in range(len(x)) if i % 10 == 0]
        if not kept:
            continue
        w = fit([x[i] for i in kept], [y[i] for i in kept], options.slopes if len(names) == 3 else None)
        score = [sum(a * b for a, b in zip(row, w)) for row in x]
        right = sum((score[i] > 0) == (y[i] > .5) for i in held) / len(held)
        print(" ".join(f"{n} {v:.3f}" for n, v in zip(names + ["bias"], w)), f"| held out: AUC {auc([score[i] for i in held], [int(y[i]) for i in held]):.3f}, right {right:.3f}")


if __name__ == "__main__":
    main()

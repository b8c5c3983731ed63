"""Analyses possible refusal rules, from the scores that train_judge.py --evaluate saved:

    python training/judge_gate.py --scores models/judge/scores.npz --evaluate DIR --model .deps/models/all-MiniLM-L6-v2

Answerability on SQuAD 2: margin and relevance together with the positions of the question's words; the weights are fitted without the
article that is evaluated. Foreign questions: a threshold set on one corpus, evaluated on the other.
"""
import argparse
import pathlib
import re

import numpy as np
from tokenizers import Tokenizer

import words
from judge_eval import auc, json_lines, z_score

SENTENCE = re.compile(r"[^.!?]+[.!?]*")
FAR = {"squad-dev": ("scifact-train", "cranfield", "cisi", "nfcorpus-dev", "vaswani", "pubmedqa"), "scifact-train": ("squad-dev", "cranfield", "cisi", "vaswani")}
NEAR = {"squad-dev": (), "scifact-train": ("nfcorpus-dev", "pubmedqa")}
RULES = {"late": lambda s: s[:, 0], "20 late + relevance": lambda s: 20 * s[:, 0] + s[:, 1], "120 late + relevance": lambda s: 120 * s[:, 0] + s[:, 1]}


def cover(question, text):
    """The share of the question's words that the text contains."""
    asked = np.unique(words.terms(question))
    return np.isin(asked, words.terms(text)).mean() if len(asked) else 0.0


def sentence_at(text, place):
    return next((m.group() for m in SENTENCE.finditer(text) if m.start() <= place < m.end()), text)


def logistic(x, y, rounds=50, ridge=1.0):
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-x @ w))
        w -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(w)), x.T @ (p - y) + ridge * w)
    return w


def answerability(rows, scores, tokenizer):
    """AUC of the margin alone, and of the combination with each article left out in turn."""
    places = [e.offsets for e in tokenizer.encode_batch([r["context"] for r in rows], add_special_tokens=False)]
    covers = np.array([[cover(r["question"], sentence_at(r["context"], p[int(s[2])][0])), cover(r["question"], r["context"])]
                       for r, p, s in zip(rows, places, scores)])
    has = scores[:, 5] > .5
    x = np.c_[[z_score(v) for v in (scores[:, 1], scores[:, 0], covers[:, 0], covers[:, 1])] + [np.ones(len(rows))]].T
    article = np.array([r["context_id"].split(":")[1] for r in rows])
    out = np.zeros(len(rows))
    for name in np.unique(article):
        out[article == name] = x[article == name] @ logistic(x[article != name], has[article != name])
    return {"margin": auc(scores[:, 1], has), "sentence cover": auc(covers[:, 0], has), "combined, article left out": auc(out, has)}


def transfer(scores, passed=.9):
    """Own questions answered and foreign ones refused on each corpus, with a threshold that passes the share `passed` of one corpus's own questions."""
    for name, rule in RULES.items():
        for source in FAR:
            cut = np.quantile(rule(scores[source + "|own"]), 1 - passed)
            for target in FAR:
                refused = lambda sets: [round(float((rule(scores[f"{target}|{s}"]) < cut).mean()), 3) for s in sets]
                far = np.concatenate([rule(scores[f"{target}|{s}"]) for s in FAR[target]])
                yield dict(rule=name, set_on=source, cut=round(float(cut), 3), on=target, answered=round(float((rule(scores[target + "|own"]) >= cut).mean()), 3),
                           far_refused=round(float((far < cut).mean()), 3), near_refused=refused(NEAR[target]))


def main():
    parser = argparse.ArgumentParser(description="Measure what refusals can be built on.")
    for name in ("scores", "evaluate", "model"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    args = parser.parse_args()
    scores = np.load(args.scores)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_padding(); tokenizer.no_truncation()
    print({k: round(v, 4) for k, v in answerability(json_lines(args.evaluate / "qa" / "squad2-dev.jsonl"), scores["squad2|window"], tokenizer).items()})
    for row in transfer(scores):
        print(row)


if __name__ == "__main__":
    main()

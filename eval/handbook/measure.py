#!/usr/bin/env python3
"""Asks a running server the handbook's questions and counts correct results.

usage: measure.py [--url http://127.0.0.1:7700, or FOOTNOTE_URL] [--verbose] [--min-answered 0.8 --min-cited 0.7 --min-refused 0.9]
The server must have examples/handbook ingested. With the --min options it fails below them.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import urllib.request

HERE = pathlib.Path(__file__).parent


def fold(text):
    """Text without Markdown syntax and with single spaces, for comparison."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`>|#]", " ", text)).strip().lower()


def ask(url, question):
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(url + "/api/kb/chat", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def judge(row, reply):
    """The checks that this response passes."""
    refused = reply["refusal_reason"] is not None
    if row["expect"] == "refuse":
        return {"refused": refused}
    marks = [(c["source_path"], mark) for c in reply["citations"] for mark in c["marks"]]
    quotes = " ".join(mark["quote"] or "" for _, mark in marks)
    return {"answered": not refused,
            "first_path": bool(marks) and marks[0][0].endswith(row["path"]),
            "path": any(path.endswith(row["path"]) for path, _ in marks),
            "quote": fold(row["quote"]) in fold(quotes)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("FOOTNOTE_URL", "http://127.0.0.1:7700"))
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--dump", help="write question, gate numbers and ticks as JSON lines to this file")
    parser.add_argument("--min-answered", type=float, default=0)
    parser.add_argument("--min-cited", type=float, default=0)
    parser.add_argument("--min-refused", type=float, default=0)
    options = parser.parse_args()
    counts = {}
    dump = open(options.dump, "w") if options.dump else None
    for line in (HERE / "questions.jsonl").read_text().splitlines():
        row = json.loads(line)
        reply = ask(options.url, row["question"])
        ticks = judge(row, reply)
        if dump:
            dump.write(json.dumps({**row, **reply["meta"]["gate"], "ticks": ticks}) + "\n")
        group = row["kind"] if row["expect"] == "refuse" else "covered"
        for name, right in ticks.items():
            counts.setdefault((group, name), []).append(right)
        if options.verbose and not all(ticks.values()):
            gate = reply["meta"]["gate"]
            print(f"{row['id']} {[name for name, right in ticks.items() if not right]} evidence {gate['evidence']:.2f} "
                  f"cosine {gate['cosine']:.2f} coverage {gate['coverage']:.2f}: {row['question']}\n      -> {reply['answer'][:160]}")
    share = {key: sum(values) / len(values) for key, values in counts.items()}
    for (group, name), value in share.items():
        print(f"{group:8} {name:10} {value:.3f}  ({sum(counts[group, name])} of {len(counts[group, name])})")
    ok = (share["covered", "answered"] >= options.min_answered and share["covered", "path"] >= options.min_cited
          and share["foreign", "refused"] >= options.min_refused)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

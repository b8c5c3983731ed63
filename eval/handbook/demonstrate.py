#!/usr/bin/env python3
"""Asks a running server questions that a few words of the handbook answer, and questions that it does not cover; prints each answer.

usage: demonstrate.py [--url http://127.0.0.1:7700, or FOOTNOTE_URL] [--min 18]
The server must have examples/handbook ingested and no language model. Fails if fewer than --min of the 20 answers have the right
words in their first quotation, or if fewer than --min of the 20 foreign questions are refused. CPU levels round differently, so single results may differ.
"""
import argparse
import json
import os
import pathlib
import re
import sys

from measure import ask

HERE = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("FOOTNOTE_URL", "http://127.0.0.1:7700"))
    parser.add_argument("--min", type=int, default=18)
    options = parser.parse_args()
    good = {"answered": 0, "refused": 0}
    for line in (HERE / "demonstration.jsonl").read_text().splitlines():
        row = json.loads(line)
        reply = ask(options.url, row["question"])
        refused = reply["refusal_reason"] is not None
        first = re.split(r"\s*\[\d+\]", reply["answer"])[0]  # the first quotation: a heading and a table, for example
        right = refused if "refused" in row else not refused and row["words"] in first
        good["refused" if "refused" in row else "answered"] += right
        print(f"{'ok ' if right else 'NOT'} {row['question']}\n      {'refused: ' + reply['refusal_reason'] if refused else first}")
    print(", ".join(f"{name} {count} of 20" for name, count in good.items()))
    return 0 if min(good.values()) >= options.min else 1


if __name__ == "__main__":
    sys.exit(main())

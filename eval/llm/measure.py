#!/usr/bin/env python3
"""Asks the handbook's questions with a real small language model and counts what was shown.

usage: measure.py --binary FOOTNOTE --model-server URL [--questions 20] [--unanswerable 16] [--dump FILE] [--verbose]
The server is started here, on a new data folder with examples/handbook; the model server must run (eval/llm/run.sh starts both).

right       the answer has the words that a right answer must have
wrong       answered, and it has not
refused     no answer
unsupported sentences that were shown although the citation check does not support them, or that have no source
over 60     those in answers with a confidence above 60: the goal is 0
by model    answers in the model's own words; the others are quotations, and `fallback` says why
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/server"))
from server import Server  # noqa: E402

SURE = 60


def fold(text):
    return re.sub(r"\s+", " ", re.sub(r"[*_`>|#\u200b]", " ", text)).strip().lower()


def rows_of(name):
    return [json.loads(line) for line in (ROOT / "eval/handbook" / name).read_text().splitlines()]


def ask(url, question):
    request = urllib.request.Request(url + "/api/kb/chat", json.dumps({"question": question}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


def doubtful(reply):
    """The ranges of the answer that no source supports."""
    marks = [mark for source in reply["citations"] for mark in source["marks"] if mark["support"] in ("unsupported", "contradicted")]
    return {(each["answer_start"], each["answer_end"]) for each in marks + reply["uncited"]}


def outcome(row, reply):
    if reply["refusal_reason"] is not None:
        return "refused"
    if not row.get("words"):
        return "wrong"
    return "right" if fold(row["words"]) in fold(reply["answer"]) else "wrong"


def spread(rows, count):
    """`count` of the rows, evenly over the list."""
    return rows if count >= len(rows) else [rows[i * len(rows) // count] for i in range(count)]


def show(title, counts, total):
    shares = "  ".join(f"{name} {counts[name]}" for name in ("right", "wrong", "refused") if name in counts)
    print(f"{title:13} {total:3}: {shares}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model-server", required=True)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--unanswerable", type=int, default=16)
    parser.add_argument("--dump")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    asked = spread([row for row in rows_of("demonstration.jsonl") if row.get("words")], options.questions)
    unanswerable = spread([row for row in rows_of("questions.jsonl") if row["expect"] == "refuse"], options.unanswerable)
    counts = {"answerable": collections.Counter(), "unanswerable": collections.Counter()}
    fallbacks, shown, sure, by_model, seconds, kept = collections.Counter(), 0, 0, 0, [], []
    with tempfile.TemporaryDirectory() as data:
        subprocess.run([options.binary, "ingest", str(ROOT / "examples/handbook"), "--data", data], check=True, stdout=subprocess.DEVNULL)
        environment = {"LLM_BASE_URL": options.model_server, "LLM_MODEL": "small", "LLM_API_KEY": "none", "LLM_TIMEOUT": "120s"}
        with Server(options.binary, data, environment) as server:
            for kind, rows in (("answerable", asked), ("unanswerable", unanswerable)):
                for row in rows:
                    began = time.monotonic()
                    reply = ask(server.url, row["question"])
                    seconds.append(time.monotonic() - began)
                    result = outcome(row, reply)
                    counts[kind][result] += 1
                    doubts = len(doubtful(reply))
                    # An answer without any source at all is unsupported too, whether or not its sentences were counted.
                    if reply["refusal_reason"] is None and not doubts and not any(source["marks"] for source in reply["citations"]):
                        doubts = 1
                    shown += doubts
                    sure += doubts if reply["confidence"] > SURE else 0
                    by_model += reply["meta"]["model"] is not None
                    if reply["meta"].get("fallback"):
                        fallbacks[reply["meta"]["fallback"]] += 1
                    kept.append({"question": row["question"], "outcome": result, "answer": reply["answer"], "confidence": reply["confidence"],
                                 "doubts": doubts, "fallback": reply["meta"].get("fallback"), "model": reply["meta"]["model"]})
                    if options.verbose:
                        print(f"{result:8} [{reply['confidence']}] {reply['meta'].get('fallback') or ''} {row['question']}\n"
                              f"    {reply['answer'][:200]!r}", flush=True)
    for kind, rows in (("answerable", asked), ("unanswerable", unanswerable)):
        show(kind, counts[kind], len(rows))
    print(f"by model {by_model}, fallback {dict(fallbacks)}")
    print(f"unsupported sentences shown {shown}, with confidence over {SURE}: {sure}; median {sorted(seconds)[len(seconds) // 2]:.1f} s a question")
    if options.dump:
        pathlib.Path(options.dump).write_text("".join(json.dumps(row) + "\n" for row in kept))
    return 0 if sure == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

"""Makes the reader's groups: questions about documentation, each with the passages that Footnote found for it.

    footnote eval training/documentation --documents DOCS --passages PASSAGES
    python training/reader_groups.py --questions training/documentation/questions --passages PASSAGES --out build/reader-rows

Each line of OUT/groups.jsonl.xz is a question:

    {"q": question, "s": set, "p": [[header, text, right, [[start, end], ...]], ...]}

`right`: the passage contains the answering block; the ranges (in code points) are those blocks. A question without a right passage is an
example of an unanswered question. Doubtful cases are dropped: passages of other pages that match the answer's expression, and questions
whose page was retrieved but whose answer was not. Needs only the standard library.
"""
import argparse
import collections
import json
import lzma
import pathlib
import re

MARKUP = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*\)|[`*]|__")


def json_lines(path):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def collapsed(text):
    """The text with single spaces and without Markdown marks, and the original position of each of its characters."""
    shown, places, at = [], [], 0
    marks = [(m.start(), m.end(), m.span(1)) for m in MARKUP.finditer(text)]
    hidden = [False] * len(text)
    for begin, end, kept in marks:
        for i in range(begin, end):
            hidden[i] = not kept[0] <= i < kept[1]
    for at, character in enumerate(text):
        if hidden[at]:
            continue
        if character.isspace():
            if shown and shown[-1] != " ":
                shown.append(" "); places.append(at)
        else:
            shown.append(character); places.append(at)
    return "".join(shown), places


def matches(expression, text):
    """Where an expression matches, as a range of the text; None if it does not."""
    for shown, places in ((re.sub(r"\s", " ", text), range(len(text))), collapsed(text)):
        found = expression.search(shown)
        if found and found.end() > found.start():
            return places[found.start()], places[found.end() - 1] + 1
    return None


def code_points(text, blocks):
    """Ranges in bytes as ranges in code points."""
    data = text.encode()
    count = lambda end: len(data[:end].decode(errors="ignore"))
    return [(count(b), count(e)) for b, e in blocks]


def answering(expression, passage):
    """The blocks that contain the answer, or those that it spans."""
    text = passage["text"]
    blocks = code_points(text, passage["blocks"]) or [(0, len(text))]
    whole = [[b, e] for b, e in blocks if matches(expression, text[b:e])]
    if whole:
        return whole
    at = matches(expression, text)
    touched = [(b, e) for b, e in blocks if at and b < at[1] and e > at[0]]
    return [[touched[0][0], touched[-1][1]]] if touched else []


def group_of(question, passages):
    """The group of one question, or None if its label is doubtful."""
    expression = None if question.get("unanswerable") else re.compile(question["answer"], re.I)
    out, named = [], set(question.get("pages", []))
    for passage in passages:
        spans = answering(expression, passage) if expression else []
        if spans and passage["page"] not in named:
            continue
        out.append([passage["header"], passage["text"], bool(spans), spans])
    is_doubtful = expression and not any(p[2] for p in out) and any(p["page"] in named for p in passages)
    return None if is_doubtful or not out else {"q": question["question"], "s": question["set"], "p": out}


def collect(folder, passages):
    """Groups of all questions, and how many were dropped and why."""
    asked = {}
    for path in sorted(folder.glob("*.jsonl")):
        for row in json_lines(path):
            asked[row["id"]] = row | {"set": path.stem}
    counts, out = collections.Counter(), []
    for row in passages:
        question = asked[row["id"]]
        group = group_of(question, row["passages"])
        if group is None:
            counts["left out"] += 1
            continue
        counts["unanswerable" if question.get("unanswerable") else "answered" if any(p[2] for p in group["p"]) else "not found"] += 1
        out.append(group)
    return out, counts


def main():
    parser = argparse.ArgumentParser(description="Make the reader's groups.")
    parser.add_argument("--questions", type=pathlib.Path, required=True, help="folder of questions, one file a set")
    parser.add_argument("--passages", type=pathlib.Path, required=True, help="file that footnote eval --passages wrote")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    groups, counts = collect(args.questions, json_lines(args.passages))
    args.out.mkdir(parents=True, exist_ok=True)
    with lzma.open(args.out / "groups.jsonl.xz", "wt", encoding="utf-8") as out:
        for group in groups:
            out.write(json.dumps(group, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(len(groups), "groups", dict(counts))


if __name__ == "__main__":
    main()

"""Collects the reader's training rows from the sources, without the development sets, in one compact form:

    python training/reader_rows.py --data DATA/train --out build/reader-rows --drop-held-out

Each line of OUT/qa.jsonl.xz and OUT/docs.jsonl.xz is a passage with all questions about it:

    {"x": text, "t": title, "h": heading, "s": source, "r": [[question, kind, [[start, end], ...]], ...]}

Kinds: "span" (answers marked, in code points), "right" (the passage answers, nothing is marked), "yesno" (it decides a yes/no question), "none" (a person
judged that it does not answer). Passages of documentation keep the order of their pages, so that neighbours in the file are
neighbours on the page. Needs only the standard library.
"""
import argparse
import collections
import json
import lzma
import pathlib
import random
import re

import held_out

ENGLISH = ("squad2_train_part", "squad1_train_parts", "squadshifts_new_wiki", "squadshifts_reddit", "squadshifts_amazon_reviews", "afriqa_gold", "hotpotqa_dev_distractor",
           "narrativeqa_spans", "covidqa", "cpgqa", "ni_qasper", "ni_doqa", "ni_tweetqa", "omosqa_en", "qamr_dev_test", "quac_train", "boolq")
MARKED_ELSEWHERE = ("qed", "nq_oracle", "clapnq", "musique", "hotpotqa", "tatqa")         # their rows in reader.jsonl have marked answers
PAIRS_MOST = {"docs/ms_support": 15000, "docs/mdn": 16000, "factbook": 1500, "acl_anthology": 2500, "openstax/biology-bundle": 3500, "far": 1500}
ROWS_MOST = {"qamr_dev_test": 16000}
PASSAGE_CHARS = 1800           # a longer text is cut around the answer: a window of the reader holds less
ANSWERS_MOST = 3
NEIGHBOURS = 4                 # neighbouring rows of a page that are used to infer its title
SEPARATOR = re.compile(r": | - ")


def read_rows(path):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def find(folder, name):
    return next((p for p in (folder / f"{name}.jsonl.xz", folder / f"{name}.jsonl") if p.exists()), None)


def plain(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def cut(text, spans, rng):
    """At most PASSAGE_CHARS of a text, including the first answer and starting at a sentence or line; and the spans in it."""
    if len(text) <= PASSAGE_CHARS:
        return text, spans
    begin, end = spans[0] if spans else (rng.randrange(len(text)),) * 2
    low, high = max(0, end - PASSAGE_CHARS), min(begin, len(text) - PASSAGE_CHARS)
    at = rng.randint(min(low, high), max(low, high)) if spans else max(0, high)
    starts = [m.end() for m in re.finditer(r"(?<=[.!?])\s+|\n+", text[:begin]) if m.end() >= low]
    if starts:
        at = min(starts, key=lambda s: abs(s - at))
    piece = text[at:at + PASSAGE_CHARS]
    return piece, [(b - at, e - at) for b, e in spans if b >= at and e - at <= len(piece)]


def kind_of(row, spans):
    if row.get("unanswerable") or ("unanswerable" not in row and not spans):
        return "none"
    return "yesno" if row.get("yesno") else "span" if spans else None


class Passages:
    """Passages in the order in which they came, with their rows."""
    def __init__(self):
        self.at = {}

    def add(self, text, title, heading, source, question, kind, spans=()):
        entry = self.at.setdefault(text, {"x": text, "t": title, "h": heading, "s": source, "r": []})
        entry["r"].append([question, kind, [list(s) for s in spans]])

    def write(self, path):
        with lzma.open(path, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as out:
            for entry in self.at.values():
                out.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
        return path.stat().st_size


def guarded(rows, known, drop):
    """Rows that pass the leak guard; `rows` may use either name of the question field."""
    seen = [{**r, "q": r.get("q") or r.get("question")} for r in rows]
    return held_out.guard(seen, known, drop)


def title_of(row):
    title = (row.get("title") or "").replace("_", " ").strip()
    return "" if re.search(r"\d{3}|^(Amazon|Reddit)", title) else title


def add_questions(out, rows, rng):
    """Rows with a context: marked answers, yes/no, or none."""
    for row in rows:
        if row["src"] == "quac_train" and row.get("history"):
            continue                                                   # later turns of a conversation mean little without the earlier ones
        text = row["context"]
        spans = sorted({(a["start"], a["start"] + len(a["text"])) for a in row.get("answers", []) if a.get("text")})
        kind = kind_of(row, spans)
        if kind is None or not row["q"].strip():
            continue
        text, spans = cut(text, spans if kind == "span" else [], rng)
        if kind == "span" and not spans:
            continue
        out.add(text, title_of(row), "", row["src"], row["q"].strip(), kind, spans[:ANSWERS_MOST])


def page_titles(rows):
    """Infers title and heading of each documentation row from its neighbours: a question is title and heading in either order, or the heading
    alone."""
    found, current = [], ""
    known = [plain(r["q"]) for r in rows]
    for i, row in enumerate(rows):
        question, near = row["q"].strip(), known[max(0, i - NEIGHBOURS):i] + known[i + 1:i + 1 + NEIGHBOURS]
        if row.get("kind") == "title":
            current = question
            found.append((question, ""))
            continue
        split = with_title(question, current) if current and plain(current) in known[i] else None
        if split is None:
            parts = SEPARATOR.split(question)
            first, last = parts[0], parts[-1]
            if len(parts) > 1 and len(plain(first)) > 5 and any(plain(first) in n for n in near):
                current, split = first, (first, " > ".join(parts[1:]))
            elif len(parts) > 1 and len(plain(last)) > 5 and any(plain(last) in n for n in near):
                current, split = last, (last, " > ".join(parts[:-1]))
        found.append(split or ("", " > ".join(SEPARATOR.split(question))))
    return found


def with_title(question, title):
    """The title, and the rest of the question."""
    m = re.search(r"\W+".join(map(re.escape, re.findall(r"\w+", title))), question, re.I)
    if not m:
        return None
    rest = (question[:m.start()] + " " + question[m.end():]).strip(" :-|>")
    return title, " > ".join(SEPARATOR.split(rest)) if rest else ""


def add_pairs(out, pairs, rng):
    """Questions, headings and titles with the passage that answers them."""
    by = collections.defaultdict(list)
    for row in pairs:
        if row["src"] not in MARKED_ELSEWHERE and row.get("kind") != "claim":
            by[row["src"]].append(row)
    for source, rows in by.items():
        most = PAIRS_MOST.get(source, len(rows))
        first = rng.randrange(len(rows) - most + 1)
        rows = rows[first:first + most]                                # one contiguous part, so that pages stay whole
        titles = page_titles(rows) if source.startswith(("docs/", "openstax", "far")) else [("", "")] * len(rows)
        for row, (title, heading) in zip(rows, titles):
            if row.get("kind") == "gloss":
                title, heading = "", ""
            out.add(row["pos"][:PASSAGE_CHARS], title, heading, source, row["q"].strip(), "right")


def collect(data, known, drop, seed=5, log=print):
    rng = random.Random(seed)
    qa, docs = Passages(), Passages()
    for name in ENGLISH + ("reader",):
        path = find(data / "qa", name) or find(data, name)
        if path is None:
            continue
        rows, dropped = guarded(read_rows(path), known, drop)
        if name in ROWS_MOST and len(rows) > ROWS_MOST[name]:
            rows = rng.sample(rows, ROWS_MOST[name])
        add_questions(qa, rows, rng)
        log(name, len(rows), "rows,", dropped, "dropped as held out")
    path = find(data, "pairs")
    if path:
        pairs, dropped = guarded(read_rows(path), known, drop)
        add_pairs(docs, pairs, rng)
        log("pairs", len(pairs), "rows,", dropped, "dropped as held out")
    return qa, docs


def claims(data, known, drop, log=print):
    """The rows of the support head: claim, evidence, label."""
    path = find(data / "qa", "support_nli")
    rows, dropped = held_out.guard([{"q": r["claim"], "pos": r["evidence"], "label": r["label"]} for r in read_rows(path)], known, drop) if path else ([], 0)
    log("support_nli", len(rows), "rows,", dropped, "dropped as held out")
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(description="Collect the reader's training rows.")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with pairs, reader and qa/")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--held-out", type=pathlib.Path, default=held_out.LIST)
    parser.add_argument("--drop-held-out", action="store_true", help="drop rows of the development sets instead of refusing")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    known = held_out.read_list(args.held_out)
    qa, docs = collect(args.data, known, args.drop_held_out)
    for name, passages in (("qa", qa), ("docs", docs)):
        size = passages.write(args.out / f"{name}.jsonl.xz")
        kinds = collections.Counter(r[1] for e in passages.at.values() for r in e["r"])
        print(name, len(passages.at), "passages", dict(kinds), size, "bytes")
    with lzma.open(args.out / "claims.jsonl.xz", "wt", encoding="utf-8", preset=9) as out:
        for row in claims(args.data, known, args.drop_held_out):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

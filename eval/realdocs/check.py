#!/usr/bin/env python3
"""Checks the questions against the pages that fetch.py downloaded.

    python3 eval/realdocs/check.py DOCS [SET...]

Checks for each set: the format of every line, ids, kinds and halves; that each expression compiles, matches the plain
text of every page that the question names, and matches no more than a quarter of the set's pages; that both halves have the same
number of questions of each kind; and that the numbers of pages and (within a tenth) of words are those of the set's description. Notes (pages
that match an expression but are not named) do not fail the check: such a page may use the same words about
something else. Needs only the standard library.
"""

import argparse
import collections
import html
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("fact", "howto", "command", "yesno", "list", "table", "definition", "comparison")
HALVES = ("tune", "keep")
REGISTRIES = ("debian", "pypi", "npm", "crates")
SET_FIELDS = {"set", "title", "package", "registry", "version", "sha256", "keep", "strip", "pages", "words",
              "licence"}
ANSWERABLE_FIELDS = {"id", "question", "kind", "answer", "part", "pages", "half"}
UNANSWERABLE_FIELDS = {"id", "question", "kind", "unanswerable", "why", "half"}
INLINE_TAGS = re.compile(r"(?i)</?(?:br|p|ul|ol|li|code|sup|sub|b|i|em|strong|a|div|span|table|t[rdh])\b[^<>]*>")
MAX_SHARE = 0.25
MIN_ANSWERABLE = 30
MIN_UNANSWERABLE = 15


def plain(path):
    """The text of a page as a reader sees it: without tags, entities and link targets, with one space between words."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in (".html", ".htm", ".xhtml"):
        text = re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text)
        text = re.sub(r"(?s)<!--.*?-->", " ", text)
        text = re.sub(r"(?is)</?(?:a|b|i|em|strong|code|tt|var|span|u|sub|sup|font|kbd|samp|cite|dfn)\b[^>]*>", "", text)
        text = re.sub(r"(?s)<[a-zA-Z/!][^>]*>", " ", text)
        text = html.unescape(text)
    elif path.suffix in (".md", ".markdown"):
        text = re.sub(r"!?\[([^\]\[]*)\]\([^()\s]*(?:\([^()]*\))?[^()]*\)", r"\1", text)
        text = re.sub(INLINE_TAGS, " ", text)
    return re.sub(r"\s+", " ", text)


class Report:
    """Collects the findings in order."""

    def __init__(self):
        self.errors = []
        self.notes = []

    def error(self, where, what):
        self.errors.append(f"{where}: {what}")

    def note(self, where, what):
        self.notes.append(f"{where}: {what}")


def compiled(report, where, source):
    try:
        return re.compile(source, re.IGNORECASE)
    except re.error as error:
        report.error(where, f"expression does not compile: {error}: {source}")
        return None


def read_rows(report, path):
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            report.error(f"{path.name}:{number}", str(error))
    return rows


def check_form(report, row):
    where = row.get("id", "?")
    wanted = UNANSWERABLE_FIELDS if row.get("unanswerable") else ANSWERABLE_FIELDS
    missing = wanted - {"part"} - row.keys()
    if missing:
        report.error(where, f"missing: {', '.join(sorted(missing))}")
    if row.keys() - wanted:
        report.error(where, f"unknown: {', '.join(sorted(row.keys() - wanted))}")
    if row.get("kind") not in KINDS:
        report.error(where, f"unknown kind {row.get('kind')!r}")
    if row.get("half") not in HALVES:
        report.error(where, f"unknown half {row.get('half')!r}")
    if "unanswerable" in row and row["unanswerable"] is not True:
        report.error(where, "\"unanswerable\" is either true or not there")
    return not missing


def check_answer(report, row, pages):
    where = row["id"]
    answer = compiled(report, where, row["answer"])
    if answer is None:
        return
    if answer.search(""):
        report.error(where, "the expression matches the empty text")
    if answer.search(row["question"]):
        report.error(where, "the expression matches the question itself")
    if not row["pages"]:
        report.error(where, "names no page")
    for page in row["pages"]:
        if page not in pages:
            report.error(where, f"no such page: {page}")
        elif not answer.search(pages[page]):
            report.error(where, f"the expression does not match {page}")
    matched = [page for page, text in pages.items() if answer.search(text)]
    if len(matched) > MAX_SHARE * len(pages):
        report.error(where, f"the expression matches {len(matched)} of {len(pages)} pages")
    others = sorted(set(matched) - set(row["pages"]))
    if others:
        report.note(where, f"also matches {len(others)}: {', '.join(others[:6])}")
    if "part" in row:
        compiled(report, where, row["part"])


def check_counts(report, name, rows):
    for unanswerable, least in ((False, MIN_ANSWERABLE), (True, MIN_UNANSWERABLE)):
        chosen = [row for row in rows if bool(row.get("unanswerable")) == unanswerable]
        word = "unanswerable" if unanswerable else "answerable"
        if len(chosen) < least:
            report.error(name, f"{len(chosen)} {word} questions, at least {least} wanted")
        count = collections.Counter((row.get("kind"), row.get("half")) for row in chosen)
        for kind in KINDS:
            if abs(count[(kind, "tune")] - count[(kind, "keep")]) > 1:
                report.error(name, f"{word} {kind}: {count[(kind, 'tune')]} to tune, {count[(kind, 'keep')]} to keep")
            if not unanswerable and count[(kind, "tune")] + count[(kind, "keep")] == 0:
                report.error(name, f"no {kind} question")
        halves = [sum(n for (_, half), n in count.items() if half == wanted) for wanted in HALVES]
        if abs(halves[0] - halves[1]) > 2:
            report.error(name, f"{word}: {halves[0]} to tune, {halves[1]} to keep")
        kinds = ", ".join(f"{kind} {count[(kind, 'tune')] + count[(kind, 'keep')]}" for kind in KINDS)
        print(f"{name}: {len(chosen)} {word} ({kinds}); {halves[0]} to tune, {halves[1]} to keep")


def check_set(report, path, docs, seen):
    spec = json.loads(path.read_text(encoding="utf-8"))
    name = path.stem
    if spec.keys() != SET_FIELDS:
        report.error(name, f"fields of the set: {', '.join(sorted(spec.keys() ^ SET_FIELDS))}")
    if spec.get("registry") not in REGISTRIES:
        report.error(name, f"unknown registry {spec.get('registry')!r}")
    root = docs / name
    files = [file for file in sorted(root.rglob("*")) if file.is_file()]
    pages = {file.relative_to(root).as_posix(): plain(file) for file in files}
    if not pages:
        report.error(name, f"no pages in {root}: run fetch.py first")
        return
    words = sum(len(text.split()) for text in pages.values())
    print(f"{name}: {len(pages)} pages, {words} words")
    if len(pages) != spec.get("pages") or abs(words - spec.get("words", 0)) > 0.1 * words:
        report.error(name, f"the set says {spec.get('pages')} pages and {spec.get('words')} words")
    questions = HERE / "questions" / f"{name}.jsonl"
    if not questions.is_file():
        report.error(name, "has no questions")
        return
    rows = read_rows(report, questions)
    asked = set()
    for row in rows:
        whole = check_form(report, row)
        if row.get("id") in seen:
            report.error(row["id"], "the id is used twice")
        seen.add(row.get("id"))
        if row.get("question") in asked:
            report.error(row["id"], "the question is asked twice")
        asked.add(row.get("question"))
        if whole and not row.get("unanswerable"):
            check_answer(report, row, pages)
    check_counts(report, name, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("docs", type=Path, help="folder that fetch.py wrote")
    parser.add_argument("sets", nargs="*", metavar="SET", help="names of sets; all of them if none is named")
    parser.add_argument("--notes", action="store_true", help="name pages that match and are not listed")
    args = parser.parse_args()
    known = {path.stem: path for path in sorted((HERE / "sets").glob("*.json"))}
    report = Report()
    seen = set()
    for name in args.sets or known:
        if name in known:
            check_set(report, known[name], args.docs, seen)
        else:
            report.error(name, "no such set")
    for line in report.notes if args.notes else []:
        print("note:", line)
    for line in report.errors:
        print("error:", line, file=sys.stderr)
    print(f"{len(report.errors)} errors, {len(report.notes)} notes")
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes questions from a passage's own sentences: a question word replaces a name, number or date of a clause.

They are easy to answer and poor English, but the supply is unlimited, and changed ones (corrupt.py) can only be distinguished from
right ones by comparing who, what and when. Needs only the standard library.
"""
import multiprocessing
import random
import re

import corrupt

CLAUSE_WORDS = (5, 22)
ANSWER_WORDS_MAX = 6
CLAUSE = re.compile(r"\s*[;:()]\s*|,\s+(?=(?:and|but|which|who|while|where|when|although|because)\b)|\s+(?:but|although|because|while|whereas)\s+")
PLACE_BEFORE = re.compile(r"\b(in|at|near|from|to)\s+(the\s+)?$", re.I)
TIME_BEFORE = re.compile(r"\b(in|on|by|since|until|during)\s+$", re.I)
DATE = re.compile(r"\b(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{1,2})?,? (?:1\d|20)\d\d\b|\b(?:1\d|20)\d\d\b")
DROPPED = .12                   # share of words that are dropped, so that questions are not exact copies


def candidates(clause):
    """(first, last, kind) of the parts that a question can ask for."""
    found = [(m.start(), m.end(), "time") for m in DATE.finditer(clause)]
    free = lambda m: all(m.end() <= a or m.start() >= b for a, b, _ in found)
    found += [(m.start(), m.end(), "number") for m in corrupt.NUMBER.finditer(clause) if free(m)]
    for m in corrupt.NAME.finditer(clause):
        skipped = corrupt.CAPITALISED_START.match(m.group())
        begin = m.start() + (skipped.end() if skipped else 0)
        if m.end() - begin > 2 and free(m) and len(clause[begin:m.end()].split()) <= ANSWER_WORDS_MAX and begin > 0:
            found.append((begin, m.end(), "name"))
    return found


def question_word(kind, before, rng):
    if kind == "time":
        return rng.choice(["when", "when", "what year", "in what year"])
    if kind == "number":
        return rng.choice(["how many", "how many", "how much"])
    return rng.choice(["where", "what"] if PLACE_BEFORE.search(before) else ["who", "what", "which", "what"])


def asked(clause, first, last, kind, rng):
    """Turns the clause into a question whose answer is its part [first, last)."""
    before, after = clause[:first], clause[last:]
    word = question_word(kind, before, rng)
    if word in ("when", "where", "in what year", "what year"):
        before = (TIME_BEFORE if kind == "time" else PLACE_BEFORE).sub("", before)
    kept = [w for w in (before + " " + after).split() if rng.random() > DROPPED or w[0].isupper() or w[0].isdigit()]
    return f"{word} {' '.join(kept).strip(' .,;')}?"


def clozes(passage, rng, count=2):
    """At most `count` of (question, first, last): characters of the answer in the passage."""
    found, at = [], 0
    for sentence in corrupt.SENTENCE.split(passage):
        begin = passage.find(sentence, at)
        at = begin + len(sentence)
        place = 0
        for clause in CLAUSE.split(sentence):
            where = sentence.find(clause, place)
            place = where + len(clause)
            if CLAUSE_WORDS[0] < len(clause.split()) <= CLAUSE_WORDS[1]:
                found += [(clause, begin + where, c) for c in candidates(clause)]
    rng.shuffle(found)
    out, used = [], set()
    for clause, begin, (first, last, kind) in found:
        if len(out) < count and begin not in used:
            question = asked(clause, first, last, kind, rng)
            if clause[first:last].lower() not in question.lower():
                used.add(begin)
                out.append((question, begin + first, begin + last))
    return out


def clozes_of(task):
    return clozes(task[1], random.Random(task[0]))


def all_clozes(passages, processes, seed=0):
    """clozes() of each passage, in order; sampling depends only on seed and position."""
    tasks = [(seed * 1_000_003 + i, passage) for i, passage in enumerate(passages)]
    if processes <= 1 or len(tasks) < 2000:
        return [clozes_of(task) for task in tasks]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        return pool.map(clozes_of, tasks, chunksize=200)

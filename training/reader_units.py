"""Samples the reader's training steps. A unit is one question with one or more passages, at most one of them right; its target is a span,
"somewhere in the right passage", or none. Uses only numpy, so that other processes can prepare the next steps while the device trains."""
import collections
import itertools
import multiprocessing

import numpy as np

from reader_data import BLOCK, NONE, RIGHT, SPAN, YESNO
from reader_model import QUESTION_TOKENS

SPANS_MOST = 3
QUESTION_MARK = 1029                    # "?" in the vocabulary
# Shares of single units by type, and of groups by the type of their question.
SINGLE = {"answer": .60, "none": .10, "near": .16, "right": .14}
GROUPS = {"docs": .52, "yesno": .10, "span": .38}
ABSENT = .15                            # share of groups without their right passage
CHANGED_GROUP = .10                     # share of groups of marked questions in a changed form
FOUND_LEAST, FOUND_MOST = 5, 12         # number of passages of a question from reader_groups.py
FOUND_ABSENT = .12                      # share of such questions without their answering passages
FOUND_HEADER = .9                       # share of such questions with the headers of their passages
TWIN = .40                              # share of answered units that are followed by a changed form of their question
HEADER = {"none": .35, "title": .3, "full": .35}
INVENTED_HEADER = .15                   # share of passages without a header that get a random one, where the mode asks for headers
PATIENCE = 120                          # seconds to wait for a step before it counts as an error
BARE = .2                               # share of questions without their question mark

Step = collections.namedtuple("Step", "q q_n h p first right spans unit kind twin listed")
# Per row: q, q_n, h, p, first, right (its passage answers), spans [rows, 3, 2] in passage tokens (-1: none), unit.
# Per unit: kind (SPAN, RIGHT: anywhere in the right passage, BLOCK: anywhere in the span, NONE), twin (the unit that it is a changed form of, or -1), listed (relevance is trained).


class Sampler:
    def __init__(self, prepared, width, group, seed):
        self.d, self.width, self.group, self.rng = prepared, width, group, np.random.default_rng(seed)
        d = prepared
        self.q_len = np.array([min(len(i), QUESTION_TOKENS) for i in d.question_ids])
        self.marked = np.array([bool(len(i)) and i[-1] == QUESTION_MARK for i in d.question_ids])
        self.h_len, self.p_len = np.array([len(i) for i in d.header_ids]), np.array([len(i) for i in d.passage_ids])
        trained = ~d.held[d.p] & (self.p_len[d.p] > 0)
        docs = np.array([s.startswith(("docs/", "openstax", "far", "medquad", "doc2dial")) for s in d.source])[d.p]
        pools = {"answer": d.kind == SPAN, "none": d.kind == NONE, "near": np.isin(d.kind, (SPAN, RIGHT)), "right": np.isin(d.kind, (RIGHT, YESNO)),
                 "docs": (d.kind == RIGHT) & docs, "yesno": (d.kind == YESNO) | ((d.kind == RIGHT) & ~docs), "span": d.kind == SPAN}
        self.pools = {}
        for name, mask in pools.items():
            index = np.flatnonzero(mask & trained)
            if len(index):
                self.pools[name] = (index, np.cumsum(d.weight[index]) / d.weight[index].sum())
        self.lower = {}

    def pick(self, pool):
        index, chance = self.pools[pool]
        return int(index[min(len(index) - 1, np.searchsorted(chance, self.rng.random(), "right"))])

    def choose(self, shares):
        names = [n for n in shares if n in self.pools]
        weights = np.array([shares[n] for n in names])
        return names[self.rng.choice(len(names), p=weights / weights.sum())]

    def answers_too(self, row, passage):
        """Whether a wrong passage contains the answer's words, or is the right one."""
        d = self.d
        if passage == d.p[row] or d.held[passage] or self.p_len[passage] == 0 or d.keys[passage] == d.keys[d.p[row]]:
            return True
        if d.kind[row] != SPAN:
            return False
        text = self.lower.setdefault(passage, d.texts[passage].lower())
        return any(t in text for t in d.told[row])

    def wrong(self, row, count):
        """Wrong passages: by vectors, by keywords, from the same page, and any."""
        d, found = self.d, []
        pools = [d.wrong[row, 0], d.wrong[row, 1], d.near[d.p[row]]]
        turn = self.rng.permutation(3)
        for attempt in range(6 * count):
            if len(found) == count:
                break
            pool = pools[turn[attempt % 3]] if attempt < 5 * count else [self.rng.integers(len(d.texts))]
            p = int(pool[self.rng.integers(len(pool))])
            if p >= 0 and p not in found and not self.answers_too(row, p):
                found.append(p)
        return found

    def asked(self, row, changed=False):
        """A question of a row: as written, in another form, or changed so that the passage does not answer it; None if it has no changed form."""
        first, forms, others = self.d.place[row]
        if changed:
            return int(first + forms + self.rng.integers(others)) if others else None
        return int(first) if forms == 1 or self.rng.random() < .3 else int(first + 1 + self.rng.integers(forms - 1))

    def headers(self, passages):
        d, mode = self.d, self.choose_header()
        if mode == "none":
            return np.zeros(len(passages), np.int64)
        out = (d.title if mode == "title" else d.full)[passages].astype(np.int64)
        missing = out == 0
        if not missing.any():
            return out
        if len(d.headers) == 1 or self.rng.random() < (1 - INVENTED_HEADER if missing.all() else .5):
            return np.zeros(len(passages), np.int64)
        return np.where(missing, self.rng.integers(1, len(d.headers), len(passages)), out)       # a header must not reveal which passage is right

    def choose_header(self):
        return list(HEADER)[self.rng.choice(3, p=list(HEADER.values()))]

    def add_unit(self, out, row, question, passages, kind, right=-1, twin=-1, listed=False, headers=None):
        """Rows of one unit; `right`: index of the right passage among them."""
        headers = self.headers(passages) if headers is None else headers
        spans = [self.d.spans[row] if k == right and kind == SPAN else [] for k in range(len(passages))]
        return self.add_rows(out, question, passages, headers, [k == right for k in range(len(passages))], spans, kind, twin, listed), headers

    def add_rows(self, out, question, passages, headers, right, all_spans, kind, twin, listed):
        unit = len(out["kind"])
        q_n = int(self.q_len[question]) - int(self.marked[question] and self.rng.random() < BARE)
        for p, h, is_right, spans in zip(passages, headers, right, all_spans):
            room = self.width - 3 - q_n - int(self.h_len[h])
            first = self.window(int(self.p_len[p]), room, spans)
            marks = np.full((SPANS_MOST, 2), -1, np.int64)
            inside = [(a, b) for a, b in spans if a >= first and b < first + room][:SPANS_MOST]
            if spans and not inside:                                    # the answer is longer than the window: use its beginning
                inside = [(spans[0][0], first + room - 1)]
            marks[:len(inside)] = np.array(inside).reshape(-1, 2)
            for name, value in (("q", question), ("q_n", q_n), ("h", int(h)), ("p", int(p)), ("first", first), ("right", is_right), ("spans", marks), ("unit", unit)):
                out[name].append(value)
        out["kind"].append(kind); out["twin"].append(twin); out["listed"].append(listed)
        return unit

    def window(self, length, room, spans):
        if length <= room:
            return 0
        if spans:
            a, b = spans[0]
            low, high = max(0, b - room + 1), min(a, length - room)
            return int(self.rng.integers(low, high + 1)) if low <= high else a
        return 0 if self.rng.random() < .75 else int(self.rng.integers(0, length - room + 1))

    def add_single(self, out):
        d, name = self.d, self.choose(SINGLE)
        row = self.pick(name)
        own = [int(d.p[row])]
        if name == "none":
            self.add_unit(out, row, self.asked(row), own, NONE)
        elif name == "near":
            wrong = self.wrong(row, 1)
            if wrong:
                self.add_unit(out, row, self.asked(row), wrong, NONE)
        elif name == "right":
            self.add_unit(out, row, self.asked(row), own, RIGHT, 0)
        else:
            unit, headers = self.add_unit(out, row, self.asked(row), own, SPAN, 0)
            changed = self.asked(row, True) if self.rng.random() < TWIN else None
            if changed is not None:
                self.add_unit(out, row, changed, own, NONE, twin=unit, headers=headers)

    def add_group(self, out):
        d, name = self.d, self.choose(GROUPS)
        row = self.pick(name)
        wrong = self.wrong(row, self.group - 1)
        if self.rng.random() < ABSENT and wrong:
            self.add_unit(out, row, self.asked(row), wrong, NONE)
            return
        passages, kind, question = [int(d.p[row])] + wrong, SPAN if d.kind[row] == SPAN else RIGHT, self.asked(row)
        changed = self.asked(row, True) if name == "span" and self.rng.random() < CHANGED_GROUP else None
        if changed is not None:
            self.add_unit(out, row, changed, passages, NONE)
        else:
            self.add_unit(out, row, question, passages, kind, 0, listed=len(passages) > 1)

    def add_found(self, out):
        """A question with some of the passages that Footnote retrieved, with or without right ones."""
        group = self.d.groups[self.rng.integers(len(self.d.groups))]
        right, wrong = np.flatnonzero(group.right), self.rng.permutation(np.flatnonzero(~group.right))
        if len(wrong) and self.rng.random() < FOUND_ABSENT:
            right = right[:0]
        count = int(self.rng.integers(FOUND_LEAST, FOUND_MOST + 1))
        kept = np.concatenate([right[:count], wrong[:max(0, count - len(right))]])
        headers = group.headers[kept] if self.rng.random() < FOUND_HEADER else np.zeros(len(kept), np.int64)
        spans = [group.spans[k] if group.right[k] else [] for k in kept]
        self.add_rows(out, group.question, group.passages[kept], headers, group.right[kept], spans, BLOCK if len(right) else NONE, -1, True)

    def step(self, singles, groups, found):
        out = collections.defaultdict(list)
        for _ in range(singles):
            self.add_single(out)
        for _ in range(groups):
            self.add_group(out)
        for _ in range(found if self.d.groups else 0):
            self.add_found(out)
        return Step(**{name: np.array(out[name]) for name in Step._fields})


def serve(sampler, counts, ready):
    while True:
        ready.put(sampler.step(*counts))


def steps(prepared, width, group, counts, seed, workers):
    """An endless sequence of steps with `counts` (singles, groups, found) questions. Workers prepare steps ahead and take turns, so the same
    seed and number of workers give the same steps."""
    if workers <= 0:
        sampler = Sampler(prepared, width, group, seed)
        while True:
            yield sampler.step(*counts)
    context = multiprocessing.get_context("fork")
    queues = [context.Queue(4) for _ in range(workers)]
    running = [context.Process(target=serve, args=(Sampler(prepared, width, group, seed * 1000 + k), counts, ready), daemon=True) for k, ready in enumerate(queues)]
    for process in running:
        process.start()
    try:
        for ready in itertools.cycle(queues):
            yield ready.get(timeout=PATIENCE)
    finally:
        for process in running:
            process.terminate()

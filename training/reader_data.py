"""The reader's training rows as arrays: passages with their headers, questions with their variants and changed forms, and passages that look
right but are not."""
import collections
import pickle
import re
import urllib.parse

import numpy as np
import torch

import corrupt
import judge_data
import reader_questions
from reader_model import HEADER_TOKENS, QUESTION_TOKENS

PASSAGE_TOKENS = 480
DEPTH = 14                      # wrong passages per question, by vectors and by keywords
CHANGED = 3                     # changed forms of a question with a marked answer
PAGE_REACH = 4                  # neighbours on the page, in passages before and after
SPAN, RIGHT, YESNO, NONE, BLOCK = range(5)
KINDS = {"span": SPAN, "right": RIGHT, "yesno": YESNO, "none": NONE}
COMMAND = re.compile(r"```|^\s{4,}\S|^\$ |`[^`]+`", re.M)

# Sampling weight of each source, relative to 1. Questions that people asked about texts they had not written have the highest weight.
WEIGHT = {"squad1_train_parts": 1.3, "squad2_train_part": 1.5, "qed": 1.2, "nq_oracle": 1.2, "squadshifts_new_wiki": 1.2, "squadshifts_reddit": .7, "squadshifts_amazon_reviews": .7,
          "qamr_dev_test": .25, "ni_tweetqa": .3, "narrativeqa_spans": .5, "factbook": .2, "doc2dial": .8, "hotpotqa_dev_distractor": .5, "quac_train": .4, "ni_qasper": .5, "ni_doqa": .35,
          "acl_anthology": .3, "squad_train_nqg": .5, "medquad_train": .8, "far": .4, "docs/ms_support": .5, "docs/mdn": .7, "docs/vagov": 2, "docs/k8s": 1.2, "docs/django_docs": 1.5,
          "docs/github_docs": 1.2, "docs/godot": 1.3, "docs/sklearn_docs": 1.3, "docs/turing_way": 1, "docs/ms_bc": 1}


class Prepared:
    """Everything that training and evaluation sample from, as numpy arrays that can be saved to a file."""

    JOINED = ("question_ids", "header_ids", "passage_ids")              # lists of many small arrays are stored as one array plus its lengths

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        joined = {k: (np.concatenate(self.__dict__[k]), np.array([len(i) for i in self.__dict__[k]])) for k in self.JOINED}
        with open(path, "wb") as out:
            pickle.dump(self.__dict__ | joined, out, protocol=5)

    @classmethod
    def load(cls, path):
        out = cls()
        with open(path, "rb") as file:
            out.__dict__.update(pickle.load(file))
        for name in cls.JOINED:
            flat, lengths = out.__dict__[name]
            out.__dict__[name] = np.split(flat, np.cumsum(lengths)[:-1])
        return out

    groups = ()                                                        # see add_groups()

    def tables(self, device):
        return tuple(judge_data.Table(ids, device) for ids in (self.question_ids, self.header_ids, self.passage_ids))


def span_tokens(offsets, spans):
    """First and last tokens of spans given in characters; spans beyond the kept tokens are dropped."""
    out = []
    for begin, end in spans:
        first, last = int(np.searchsorted(offsets[:, 1], begin, "right")), int(np.searchsorted(offsets[:, 0], end, "left")) - 1
        if first <= last and len(offsets) and offsets[-1, 1] >= end:
            out.append((first, last))
    return out


def tokenised(tokenizer, texts, limit, offsets_of=None):
    """Ids of each text; and the character offsets of those that `offsets_of` marks."""
    ids, offsets = [], {}
    for i in range(0, len(texts), 8000):
        for k, e in enumerate(tokenizer.encode_batch(texts[i:i + 8000], add_special_tokens=False), i):
            ids.append(np.array(e.ids[:limit], np.int32))
            if offsets_of is not None and offsets_of[k]:
                offsets[k] = np.array(e.offsets[:limit], np.int32).reshape(-1, 2)
    return ids, offsets


def titled(entry):
    """Entries without a title whose heading path has several parts get the first part as title. Titles from URLs are decoded."""
    entry["t"] = urllib.parse.unquote(entry["t"])
    title, _, rest = entry["h"].partition(" > ")
    return entry if entry["t"] or not rest else {**entry, "t": title, "h": rest}


def last_heading(heading):
    return heading.split(" > ")[-1]


def variants(row, entry):
    """The question, and its other phrasings that the heading's form allows."""
    question, kind, _ = row
    heading = entry["h"] or entry["t"]
    if kind != "right" or not heading:
        return [question]
    made = reader_questions.questions_of(entry["t"], last_heading(heading), entry["s"], bool(COMMAND.search(entry["x"])))
    return [question] + [m for m in dict.fromkeys(made) if m.lower() != question.lower()]


def headers_of(entries):
    """All headers, the empty one first; and for each passage the index of its title and of its title with headings."""
    at = {"": 0}
    number = lambda text: at.setdefault(text, len(at))
    titles = np.array([number(e["t"]) for e in entries], np.int32)
    full = np.array([number(" > ".join(t for t in (e["t"], e["h"]) if t)) for e in entries], np.int32)
    return list(at), titles, full


def header_ids(tokenizer, headers):
    period = np.array(tokenizer.encode(".", add_special_tokens=False).ids, np.int32)
    ids, _ = tokenised(tokenizer, headers, HEADER_TOKENS - len(period))
    return [np.concatenate([i, period]) if len(i) else i for i in ids]


def flatten(entries, tokenizer, changed_rows, log):
    """Prepared data without mined passages. `changed_rows` maps (question, passage, answers) of marked rows to their changed forms."""
    out = Prepared()
    rows = [(p, row) for p, e in enumerate(entries) for row in e["r"]]
    marked = np.array([any(r[1] == "span" for r in e["r"]) for e in entries])
    out.passage_ids, offsets = tokenised(tokenizer, [e["x"] for e in entries], PASSAGE_TOKENS, marked)
    out.headers, out.title, out.full = headers_of(entries)
    out.header_ids = header_ids(tokenizer, out.headers)
    log("passages", len(entries), "headers", len(out.headers))
    spans = [span_tokens(offsets[p], row[2]) if row[1] == "span" else [] for p, row in rows]
    kept = [i for i, (_, row) in enumerate(rows) if row[1] != "span" or spans[i]]
    rows, spans = [rows[i] for i in kept], [spans[i] for i in kept]
    told = [[entries[p]["x"][b:e] for b, e in row[2]] for p, row in rows]
    answered = [i for i, (_, row) in enumerate(rows) if row[1] == "span"]
    changed = dict(zip(answered, changed_rows([(rows[i][1][0], entries[rows[i][0]]["x"], told[i]) for i in answered])))
    log("changed forms", sum(map(len, changed.values())))
    questions, place = [], []
    for i, (p, row) in enumerate(rows):
        asked, others = variants(row, entries[p]), changed.get(i, [])
        place.append((len(questions), len(asked), len(others)))
        questions += asked + others
    out.question_ids, _ = tokenised(tokenizer, questions, QUESTION_TOKENS)
    out.questions, out.place = questions, np.array(place, np.int64).reshape(-1, 3)
    out.p = np.array([p for p, _ in rows], np.int64)
    out.kind = np.array([KINDS[row[1]] for _, row in rows], np.int8)
    out.spans, out.told = spans, [[t.lower() for t in ts] for ts in told]
    out.texts, out.source = [e["x"] for e in entries], [e["s"] for e in entries]
    out.held = np.array([judge_data.for_calibration(e["x"]) for e in entries])
    out.keys = np.array([judge_data.passage_key(e["x"]) for e in entries])
    weight = np.array([WEIGHT.get(e["s"], 1.0 if not e["s"].startswith("openstax") else .5) for e in entries])
    out.weight = weight[out.p]
    log("rows", len(rows), {name: int((out.kind == k).sum()) for name, k in KINDS.items()}, "questions", len(questions))
    return out


Group = collections.namedtuple("Group", "question passages headers right spans source")
# A question with the passages that were retrieved for it: indices, and for each passage whether it answers and the tokens of its answering
# blocks.


def add_groups(prepared, rows, tokenizer):
    """Adds the groups written by reader_groups.py. Their texts are not used for mining."""
    texts = list(dict.fromkeys(p[1] for row in rows for p in row["p"]))
    headers = list(dict.fromkeys(p[0] for row in rows for p in row["p"]))
    ids, offsets = tokenised(tokenizer, texts, PASSAGE_TOKENS, np.ones(len(texts), bool))
    text_at = {text: i for i, text in enumerate(texts)}
    header_at = {header: i for i, header in enumerate(headers)}
    first_q, first_h, first_p = len(prepared.question_ids), len(prepared.header_ids), len(prepared.passage_ids)
    groups = []
    for i, row in enumerate(rows):
        spans = [span_tokens(offsets[text_at[text]], blocks) for _, text, _, blocks in row["p"]]
        known = [k for k, p in enumerate(row["p"]) if bool(spans[k]) == p[2]]                   # an answer beyond the kept tokens counts as neither right nor wrong
        pick = lambda values: [values[k] for k in known]
        groups.append(Group(first_q + i, np.array(pick([first_p + text_at[p[1]] for p in row["p"]])), np.array(pick([first_h + header_at[p[0]] for p in row["p"]])),
                            np.array(pick([p[2] for p in row["p"]]), bool), pick(spans), row["s"]))
    prepared.question_ids = list(prepared.question_ids) + tokenised(tokenizer, [row["q"] for row in rows], QUESTION_TOKENS)[0]
    prepared.header_ids = list(prepared.header_ids) + header_ids(tokenizer, headers)
    prepared.passage_ids = list(prepared.passage_ids) + ids
    prepared.groups = [g for g in groups if len(g.passages)]


def mine(prepared, embedder, device, processes, log):
    """Adds `wrong` [rows, 2, DEPTH]: hard negatives by the embedder's cosine and by BM25; without an embedder both are by BM25."""
    first = prepared.place[:, 0]
    terms = judge_data.all_terms([prepared.questions[i] for i in first] + prepared.texts, processes)
    log("analysed")
    if embedder is not None:
        p_vectors = judge_data.embed(embedder, judge_data.Table(prepared.passage_ids, device))
        q_vectors = judge_data.embed(embedder, judge_data.Table([prepared.question_ids[i] for i in first], device))
    else:
        p_vectors, q_vectors = torch.eye(1, 2, device=device).repeat(len(prepared.texts), 1), torch.zeros(len(first), 2, device=device)
        p_vectors = torch.rand_like(p_vectors) - .5
    log("embedded")
    depth = min(DEPTH, len(prepared.texts) - 1)
    cautious = np.isin(prepared.kind, (RIGHT, YESNO))
    prepared.wrong = judge_data.mine(terms[:len(first)], terms[len(first):], prepared.p, q_vectors, p_vectors, prepared.keys, depth, 1024, cautious)
    if embedder is None:
        prepared.wrong[:, 0] = prepared.wrong[:, 1]
    prepared.near = page_neighbours(prepared.source)
    log("mined")


def page_neighbours(sources):
    """[passages, 2 * PAGE_REACH] neighbours in the file with the same source, -1 for none; documentation only."""
    out = np.full((len(sources), 2 * PAGE_REACH), -1, np.int64)
    for column, step in enumerate([s for s in range(-PAGE_REACH, PAGE_REACH + 1) if s]):
        for i, source in enumerate(sources):
            j = i + step
            if source.startswith(("docs/", "openstax", "far")) and 0 <= j < len(sources) and sources[j] == source:
                out[i, column] = j
    return out


def changed_by(neighbours, processes, seed=1):
    """The function that flatten() needs, using the changes of corrupt.py."""
    def run(tasks):
        known = lambda text: corrupt.NAMELESS if text.islower() else corrupt.KINDS
        made = corrupt.unanswered_all([(q, text, told, known(text), CHANGED) for q, text, told in tasks], neighbours, processes, seed)
        return [changed for changed, _ in made]
    return run


def prepare(paths, tokenizer, embedder, word_table, device, processes, log):
    entries = [titled(e) for path in paths for e in judge_data.read_rows(path)]
    log("read", len(entries), "passages")
    neighbours = judge_data.neighbour_words(tokenizer, word_table, device)
    prepared = flatten(entries, tokenizer, changed_by(neighbours, processes), log)
    mine(prepared, embedder, device, processes, log)
    return prepared

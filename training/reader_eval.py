"""Evaluates a reader: spans and answerability on SQuAD 2, the choice of the right passage in a group, whether a span is in the right section,
the calibration of its probability, and support of claims by their evidence."""
import collections

import numpy as np
import torch

import judge_data
import words
from judge_eval import auc, grounding_rows, json_lines, read_set, token_f1, z_score
from reader_data import NONE, PAGE_REACH, RIGHT, SPAN, YESNO, header_ids, tokenised
from reader_model import QUESTION_TOKENS, best_spans, margins, pack

CANDIDATES = 10                  # passages of a question
BINS = 10
Read = collections.namedtuple("Read", "margin first last relevance supports contrast")
# Per pair: score of the best span minus none; its first and last passage token; the relevance logit; support against the rest, support against refutation.


def windows(length, room):
    """Start tokens of the windows over a passage."""
    starts = list(range(0, max(1, length - room), max(1, room // 2)))
    if starts[-1] + room < length:
        starts.append(length - room)
    return starts


@torch.no_grad()
def read_pairs(reader, tables, q, h, p, width, batch=384):
    """Reads every window of each (question, header + passage) pair; the best window counts."""
    questions, headers, passages = tables
    device = questions.flat.device
    q_n, h_n, p_n = (t.lengths.cpu().numpy() for t in tables)
    rows = [(i, s) for i, (a, b, c) in enumerate(zip(q, h, p)) for s in windows(int(p_n[c]), width - 3 - min(int(q_n[a]), QUESTION_TOKENS) - int(h_n[b]))]
    owner, first = (np.array(v) for v in zip(*rows))
    index = torch.as_tensor(np.stack([np.asarray(q)[owner], np.asarray(h)[owner], np.asarray(p)[owner], first]), device=device).long()
    length = questions.lengths[index[0]].clamp(max=QUESTION_TOKENS) + headers.lengths[index[1]] + passages.lengths[index[2]] - index[3] + 3
    got = torch.zeros(len(owner), 6, device=device)
    for part in torch.argsort(length).split(batch):
        w = min(width, (int(length[part].max()) + 15) // 16 * 16)
        a, b, c, s = index[:, part]
        ids, kinds, valid, body = pack(tables, a, b, c, s, w)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            relevance, span, support = reader(ids, kinds, valid)
        best, begin, end = best_spans(margins(span, body))
        shift = body.float().argmax(1) - s
        support = support.float()
        rest = support[:, 0] - torch.logsumexp(support[:, 1:], 1)
        got[part] = torch.stack([best, begin - shift, end - shift, relevance.float(), rest, support[:, 0] - support[:, 2]], 1)
    got, out = got.cpu().numpy(), np.full((len(q), 6), -1e9)
    order = np.lexsort((got[:, 0], owner))
    last = np.r_[owner[order][1:] != owner[order][:-1], True]
    out[owner[order][last], :3] = got[order][last, :3]
    for column in (3, 4, 5):
        np.maximum.at(out[:, column], owner, got[:, column])
    return Read(out[:, 0], out[:, 1].astype(int), out[:, 2].astype(int), out[:, 3], out[:, 4], out[:, 5])


def texts_table(tokenizer, texts, limit, device):
    return judge_data.Table(tokenised(tokenizer, texts, limit)[0], device)


def empty_header(device):
    return judge_data.Table([[]], device)


def measure_reading(reader, tokenizer, folder, device, width, limit=None):
    """SQuAD 2: F1 of answerable questions, and how well the margin separates them from unanswerable ones."""
    rows = json_lines(folder / "qa" / "squad2-dev.jsonl")[:limit]
    contexts = list(dict.fromkeys(r["context"] for r in rows))
    ids, offsets = tokenised(tokenizer, contexts, 2000, np.ones(len(contexts), bool))
    tables = texts_table(tokenizer, [r["question"] for r in rows], QUESTION_TOKENS, device), empty_header(device), judge_data.Table(ids, device)
    at = {c: i for i, c in enumerate(contexts)}
    p = np.array([at[r["context"]] for r in rows])
    got = read_pairs(reader, tables, np.arange(len(rows)), np.zeros(len(rows), int), p, width)
    has = np.array([bool(r["answers"]) for r in rows])
    f1 = []
    for row, c, first, last in zip(rows, p, got.first, got.last):
        said = row["context"][offsets[c][first][0]:offsets[c][last][1]]
        f1.append(max([token_f1(said, a["text"]) for a in row["answers"]] or [0]))
    f1, cuts = np.array(f1), np.quantile(got.margin, np.linspace(0, 1, 101))
    return {"f1": round(float(f1[has].mean()), 4), "auc": round(auc(got.margin, has), 4), "auc_relevance": round(auc(got.relevance, has), 4),
            "auc_sum": round(auc(z_score(got.margin) + .3 * z_score(got.relevance), has), 4),
            "f1_best_cut": round(float(max(np.where(has, f1 * (got.margin > c), got.margin <= c).mean() for c in cuts)), 4),
            "answerable": int(has.sum()), "unanswerable": int((~has).sum())}


def measure_found(reader, tokenizer, rows, device, width):
    """Questions with the passages that Footnote retrieved. Right: the passage with the highest relevance (or margin) answers. AUC: the best
    value of an answered question against that of a question without a right passage."""
    texts, headers = (list(dict.fromkeys(p[k] for r in rows for p in r["p"])) for k in (1, 0))
    tables = texts_table(tokenizer, [r["q"] for r in rows], QUESTION_TOKENS, device), judge_data.Table(header_ids(tokenizer, headers), device), texts_table(tokenizer, texts, 2000, device)
    text_at, header_at = ({text: i for i, text in enumerate(values)} for values in (texts, headers))
    pairs = [(i, header_at[p[0]], text_at[p[1]], p[2]) for i, r in enumerate(rows) for p in r["p"][:CANDIDATES]]
    owner, h, p, right = (np.array(v) for v in zip(*pairs))
    got = read_pairs(reader, tables, owner, h, p, width)
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    ends = np.r_[starts[1:], len(owner)]
    has = np.array([right[a:b].any() for a, b in zip(starts, ends)])
    best = lambda values: np.array([values[a:b].max() for a, b in zip(starts, ends)])
    first = lambda values: np.mean([right[a + np.argmax(values[a:b])] for a, b, answered in zip(starts, ends, has) if answered])
    out = {"questions": len(rows), "answered": int(has.sum()), "right_by_relevance": first(got.relevance), "right_by_margin": first(got.margin),
           "auc_relevance": auc(best(got.relevance), has), "auc_margin": auc(best(got.margin), has),
           "auc_sum": auc(z_score(best(got.margin)) + z_score(best(got.relevance)), has)}
    return {k: round(float(v), 4) for k, v in out.items()}


class Groups:
    """Held-out questions, each with its right passage first, followed by wrong ones."""
    def __init__(self, prepared, kinds, limit, seed=3):
        d, rng = prepared, np.random.default_rng(seed)
        rows = np.flatnonzero(d.held[d.p] & np.isin(d.kind, kinds))
        rows = rng.permutation(rows)[:limit]
        self.rows, self.q, self.p, self.owner = [], [], [], []
        for row in rows:
            wrong = [int(x) for pair in zip(d.wrong[row, 0], d.wrong[row, 1]) for x in pair] if d.kind[row] != NONE else []
            page = [int(x) for x in d.near[d.p[row]] if x >= 0][:4]
            told = d.told[row]
            wrong = [x for x in dict.fromkeys(page + wrong) if x != d.p[row] and d.keys[x] != d.keys[d.p[row]] and not any(t in d.texts[x].lower() for t in told)]
            first, forms, _ = d.place[row]
            passages = [int(d.p[row])] + wrong[:CANDIDATES - 1]
            self.q += [int(first if forms == 1 else first + rng.integers(forms))] * len(passages)
            self.p += passages
            self.owner += [len(self.rows)] * len(passages)
            self.rows.append(int(row))
        self.owner, self.p = np.array(self.owner, int), np.array(self.p, int)

    def best(self, score, without_right=False):
        """The position of the highest score in each group."""
        starts = np.flatnonzero(np.r_[True, self.owner[1:] != self.owner[:-1]]) if len(self.owner) else np.zeros(0, int)
        ends = np.r_[starts[1:], len(self.owner)]
        skip = int(without_right)
        return np.array([s + skip + int(np.argmax(score[s + skip:e])) if e > s + skip else -1 for s, e in zip(starts, ends)], int), starts


def said_right(prepared, row, place, first, last, starts, group, p):
    """Whether a span answers: in the right passage and, where answers are marked, sharing a token with one."""
    if place != starts[group]:
        return False
    return prepared.kind[row] != SPAN or any(first <= b and last >= a for a, b in prepared.spans[row])


def measure_groups(reader, prepared, tables, width, limit):
    """How often the right passage of CANDIDATES wins, by kind of question; and rows for the calibration: margin, relevance, right or not."""
    result, rows = {}, []
    for name, kinds in (("docs", (RIGHT,)), ("yesno", (YESNO,)), ("marked", (SPAN,)), ("none", (NONE,))):
        groups = Groups(prepared, kinds, limit)
        if not groups.rows:
            continue
        for shown, header in (("bare", np.zeros(len(groups.p), int)), ("titled", prepared.title[groups.p]), ("headed", prepared.full[groups.p])):
            got = read_pairs(reader, tables, groups.q, header, groups.p, width)
            best, starts = groups.best(got.margin)
            if name != "none":
                absent, _ = groups.best(got.margin, True)
                known = absent >= 0
                result[f"{name}_{shown}"] = {
                    "questions": len(starts), "right_by_margin": share(best == starts), "right_by_relevance": share(groups.best(got.relevance)[0] == starts),
                    "right_by_sum": share(groups.best(got.margin + got.relevance)[0] == starts), "answered": share(got.margin[best] > 0),
                    "auc_absent": round(auc(np.r_[got.margin[best], got.margin[absent[known]]], np.r_[np.ones(len(best)), np.zeros(known.sum())]), 4)}
                rows += [(got.margin[a], got.relevance[a], False) for a in absent[known]]
            rows += [(got.margin[b], got.relevance[b], name != "none" and said_right(prepared, row, b, got.first[b], got.last[b], starts, g, groups.p))
                     for g, (row, b) in enumerate(zip(groups.rows, best))]
    return result, np.array(rows, np.float64).reshape(-1, 3)


def share(hits):
    return round(float(np.mean(hits)), 4) if len(hits) else 0.0


def measure_sections(reader, prepared, tables, tokenizer, width, limit):
    """Whether the best span is in the right section when that section is read together with its neighbours on the page as one text."""
    device = tables[0].flat.device
    groups = Groups(prepared, (RIGHT,), limit)
    ids, bounds, q = [], [], []
    firsts = [i for i in range(len(groups.owner)) if i == 0 or groups.owner[i] != groups.owner[i - 1]]
    for i in firsts:
        p = int(groups.p[i])
        before, after = (int(prepared.near[p, k]) for k in (PAGE_REACH - 1, PAGE_REACH))
        if before < 0 or after < 0:
            continue
        parts = [prepared.passage_ids[k] for k in (before, p, after)]
        ids.append(np.concatenate(parts)); bounds.append((len(parts[0]), len(parts[0]) + len(parts[1]))); q.append(groups.q[i])
    if not ids:
        return {}
    got = read_pairs(reader, (tables[0], tables[1], judge_data.Table(ids, device)), q, np.zeros(len(ids), int), np.arange(len(ids)), width)
    inside = [a <= f < b for f, (a, b) in zip(got.first, bounds)]
    chance = np.mean([(b - a) / len(i) for i, (a, b) in zip(ids, bounds)])
    return {"pages": len(ids), "span_in_right_section": share(inside), "by_chance": round(float(chance), 4)}


def measure_retrieval(reader, tokenizer, folder, device, width, limit=None, name="squad-dev"):
    """How often the right passage wins among the CANDIDATES found by BM25 (the right one is always included)."""
    texts, questions, gains = read_set(folder / "retrieval" / name)
    questions, gains = questions[:limit], gains[:limit]
    index = words.Bm25([words.terms(t) for t in texts])
    q, p, starts = [], [], []
    for i, (question, gain) in enumerate(zip(questions, gains)):
        order = np.argsort(-index.scores(words.terms(question)), kind="stable")
        right = max(gain, key=gain.get)
        passages = [right] + [int(d) for d in order[:CANDIDATES + len(gain)] if int(d) not in gain][:CANDIDATES - 1]
        starts.append(len(q)); q += [i] * len(passages); p += passages
    tables = texts_table(tokenizer, questions, QUESTION_TOKENS, device), empty_header(device), texts_table(tokenizer, texts, 2000, device)
    got = read_pairs(reader, tables, q, np.zeros(len(q), int), p, width)
    ends = starts[1:] + [len(q)]
    wins = lambda score: share([int(np.argmax(score[s:e])) == 0 for s, e in zip(starts, ends)])
    return {"questions": len(questions), "right_by_margin": wins(got.margin), "right_by_relevance": wins(got.relevance), "right_by_sum": wins(got.margin + got.relevance)}


def measure_support(reader, tokenizer, folder, device, width, limit=None):
    """AUC of supported claims against the rest, and of supported against refuted ones, by both readings of the support head and by relevance."""
    result = {}
    for path in sorted((folder / "grounding").glob("*.jsonl")):
        rows = list(grounding_rows(path))[:limit]
        tables = texts_table(tokenizer, [r[0] for r in rows], QUESTION_TOKENS, device), empty_header(device), texts_table(tokenizer, [r[1] for r in rows], 4000, device)
        got = read_pairs(reader, tables, np.arange(len(rows)), np.zeros(len(rows), int), np.arange(len(rows)), width)
        full = np.array([r[2] in ("supported", "supports", "support") for r in rows])
        refuted = np.array([r[2] in ("refutes", "refuted", "contradict", "contradicts") for r in rows])
        clear = np.array([r[2] != "partially_supported" for r in rows])
        signals = {"supports": got.supports, "supports-refutes": got.contrast, "relevance": got.relevance}
        sets = {"rest": clear, "refuted": full | refuted}
        result[path.stem] = {name: {k: round(auc(v[kept], full[kept]), 4) for k, v in signals.items()} for name, kept in sets.items()
                             if full[kept].any() and (~full[kept]).any()}
    return result


def expected_error(chance, right):
    """Expected calibration error over BINS of equal width."""
    chance, right = np.asarray(chance), np.asarray(right, float)
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    return float(sum(abs(chance[place == b].mean() - right[place == b].mean()) * (place == b).mean() for b in range(BINS) if (place == b).any()))


def calibrate(rows, fit, seed=1):
    """P(answered right) from margin and relevance: fitted on one half of the held-out rows, its error measured on the other."""
    if len(rows) < 40 or rows[:, 2].min() == rows[:, 2].max():
        return {}
    order = np.random.default_rng(seed).permutation(len(rows))
    fitted, tried = rows[order[::2]], rows[order[1::2]]
    margin, relevance, b = fit(fitted[:, 2], fitted[:, 0], fitted[:, 1])
    chance = 1 / (1 + np.exp(-np.clip(tried[:, 0] * margin + tried[:, 1] * relevance + b, -30, 30)))
    return {"margin": margin, "relevance": relevance, "b": b, "rows": len(rows), "right": round(float(rows[:, 2].mean()), 4),
            "ece": round(expected_error(chance, tried[:, 2]), 4), "auc": round(auc(chance, tried[:, 2]), 4)}

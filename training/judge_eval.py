"""Evaluates a judge on the development sets: ranking, reading, refusing, grounding. Nothing is trained here.

The stages before it are those of Footnote: BM25 and exact cosine, 100 each; the sum of the z-scores of both and of late
interaction (sign bits of the centred token vectors); the judge over the first 18, its z-score times 0.6 added.
"""
import collections
import json
import re

import numpy as np
import torch
import torch.nn.functional as F

import answerability
import words
from judge_data import EMBED_TOKENS, QUESTION_TOKENS, Table, embed, pack, token_vectors, tokenise
from judge_model import best_spans

DEPTH, JUDGED, JUDGE_WEIGHT = 100, 18, .6
WINDOW, WHOLE, STRIDE = 160, 256, 80      # tokens of a pair; WHOLE reads a passage as the embedder does
SETS = ("scifact-train", "cranfield", "cisi", "squad-dev", "nfcorpus-dev", "vaswani")


def json_lines(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def z_score(v):
    return (v - v.mean()) / (v.std() + 1e-6)


def auc(scores, labels):
    """The probability that a positive scores above a negative; ties count half."""
    scores, labels = np.asarray(scores, np.float64), np.asarray(labels, bool)
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    n, m = labels.sum(), (~labels).sum()
    return float((rank[labels].sum() - n * (n + 1) / 2) / max(1, n * m))


def ndcg(gains, ideal, k=10):
    discount = 1 / np.log2(np.arange(2, k + 2))
    best = np.sort(ideal[ideal > 0])[::-1][:k]
    got = np.maximum(0, gains[:k])
    return float((got * discount[:len(got)]).sum() / (best * discount[:len(best)]).sum())


def token_f1(a, b):
    plain = lambda s: re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", s.lower())).split()
    x, y = plain(a), plain(b)
    if not x or not y:
        return float(x == y)
    same = sum((collections.Counter(x) & collections.Counter(y)).values())
    return 2 * same / (len(x) + len(y))


@torch.no_grad()
def judge_pairs(judge, questions, passages, q, p, first, width, batch=1024):
    """Relevance, margin (best span minus none), first and last token of the span in the passage; one row per pair."""
    device = questions.flat.device
    q, p, first = (torch.as_tensor(np.asarray(v), device=device).long() for v in (q, p, first))
    length = questions.lengths[q].clamp(max=QUESTION_TOKENS) + (passages.lengths[p] - first).clamp(max=width) + 3
    out = torch.zeros(len(q), 4, device=device)
    for part in torch.argsort(length).split(batch):
        w = int(length[part].max().clamp(max=width))
        w = min(width, (w + 15) // 16 * 16)
        ids, kinds, valid, shift = pack(questions, passages, q[part], p[part], first[part], w)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            relevance, span = judge(ids, kinds, valid)
        best, none, begin, end = best_spans(span.float(), kinds, valid)
        out[part] = torch.stack([relevance.float(), best - none, begin - shift + first[part], end - shift + first[part]], 1)
    return out.cpu().numpy()


def judge_windows(judge, questions, passages, q, p, width=WINDOW):
    """As judge_pairs, over all windows of each passage: the highest relevance, and the span of the highest margin."""
    q_n = questions.lengths.clamp(max=QUESTION_TOKENS).cpu().numpy()
    p_n = passages.lengths.cpu().numpy()
    owner, first = [], []
    for i, (a, b) in enumerate(zip(q, p)):
        room = width - 3 - q_n[a]
        starts = list(range(0, max(1, p_n[b] - room), STRIDE))
        if starts[-1] + room < p_n[b]:
            starts.append(p_n[b] - room)
        owner += [i] * len(starts); first += starts
    owner = np.array(owner)
    got = judge_pairs(judge, questions, passages, np.asarray(q)[owner], np.asarray(p)[owner], first, width)
    out = np.zeros((len(q), 4), np.float32)
    order = np.lexsort((got[:, 1], owner))
    last = np.r_[owner[order][1:] != owner[order][:-1], True]
    out[owner[order][last]] = got[order][last]
    out[:, 0] = -1e9
    np.maximum.at(out[:, 0], owner, got[:, 0])
    return out


class Corpus:
    """Documents with their BM25 index, vectors and token signs."""
    def __init__(self, texts, tokenizer, embedder, centre):
        self.device = centre.device
        self.table = Table(tokenise(tokenizer, texts, 600), self.device)
        self.index = words.Bm25([words.terms(t) for t in texts])
        self.vectors = embed(embedder, self.table)
        self.embedder, self.tokenizer, self.centre = embedder, tokenizer, centre
        self.signs = torch.zeros(len(texts), EMBED_TOKENS + 2, centre.shape[0], dtype=torch.bfloat16, device=self.device)
        self.valid = torch.zeros(len(texts), EMBED_TOKENS + 2, dtype=torch.bool, device=self.device)
        for part in torch.arange(len(texts), device=self.device).split(256):
            x, self.valid[part] = token_vectors(embedder, self.table, part)
            self.signs[part] = torch.where(x >= centre, 1.0, -1.0).bfloat16() / centre.shape[0] ** .5

    @torch.no_grad()
    def candidates(self, questions):
        """For each question: documents in order of the fused score, their terms, and the start of the best window."""
        table = Table(tokenise(self.tokenizer, questions, QUESTION_TOKENS), self.device)
        vectors = embed(self.embedder, table)
        cosines = (vectors @ self.vectors.T).cpu().numpy()
        out = []
        for k, question in enumerate(questions):
            keyword = self.index.scores(words.terms(question))
            found = np.argsort(-keyword, kind="stable")[:DEPTH]
            pool = np.unique(np.r_[found[keyword[found] > 0], np.argsort(-cosines[k], kind="stable")[:DEPTH]])
            x, valid = token_vectors(self.embedder, table, torch.tensor([k], device=self.device), int(table.lengths[k].clamp(min=1)))
            asked = F.normalize(x[0][valid[0]] - self.centre, dim=-1).bfloat16()
            index = torch.from_numpy(pool).to(self.device)
            near = torch.einsum("qh,dth->dqt", asked, self.signs[index]).float().masked_fill(~self.valid[index][:, None], -4)
            late = near.max(-1).values.mean(1).cpu().numpy()
            score = z_score(keyword[pool]) + z_score(cosines[k, pool]) + z_score(late)
            order = np.argsort(-score, kind="stable")
            top = index[torch.from_numpy(order[:JUDGED].copy()).to(self.device)]
            room = WINDOW - 3 - len(asked) + 2
            out.append(dict(docs=pool[order], score=score[order], late=late[order], keyword=keyword[pool][order], cosine=cosines[k, pool][order],
                            first=self.best_windows(near[torch.from_numpy(order[:JUDGED].copy()).to(self.device)], top, room)))
        return table, out

    def best_windows(self, near, docs, room):
        """The start of the window of `room` tokens with the best late score; 0 if the passage fits completely."""
        best, at = torch.full((len(docs),), -9.0, device=self.device), torch.zeros(len(docs), dtype=torch.long, device=self.device)
        length = self.table.lengths[docs].clamp(max=EMBED_TOKENS)
        for start in range(0, EMBED_TOKENS, STRIDE // 2):
            begin = torch.minimum(torch.tensor(start, device=self.device), (length - room).clamp(min=0))
            place = torch.arange(near.shape[-1], device=self.device)[None, :]
            inside = (place > begin[:, None]) & (place <= begin[:, None] + room)
            score = near.masked_fill(~inside[:, None], -4).max(-1).values.mean(1)
            better = score > best + 1e-6
            best, at = torch.where(better, score, best), torch.where(better, begin, at)
        return at.cpu().numpy()


MODES = ("window", "head", "pair", "whole", "tail", "all")


def judged(judge, corpus, table, found, mode):
    """The judge's rows for the first 18 of each question. The mode selects what it reads of a long passage: the "window" with the best
    late score, the "head" (first window), the mean of both ("pair"), the "whole" as far as the embedder
    reads, the best of that and the last tokens ("tail"), or the best of "all" windows."""
    q = np.concatenate([np.full(len(f["docs"][:JUDGED]), k) for k, f in enumerate(found)])
    p = np.concatenate([f["docs"][:JUDGED] for f in found])
    late, zero = np.concatenate([f["first"] for f in found]), np.zeros(len(p), np.int64)
    read = lambda first, width: judge_pairs(judge, table, corpus.table, q, p, first, width)
    if mode == "all":
        got = judge_windows(judge, table, corpus.table, q, p)
    elif mode in ("window", "head"):
        got = read(late if mode == "window" else zero, WINDOW)
    elif mode == "pair":
        got = read(zero, WINDOW)
        got[:, 0] = (got[:, 0] + read(late, WINDOW)[:, 0]) / 2
    else:
        got = read(zero, WHOLE)
        if mode == "tail":
            end = np.maximum(0, corpus.table.lengths.cpu().numpy()[p] - 170)
            got[:, 0] = np.maximum(got[:, 0], read(end, WHOLE)[:, 0])
    return np.split(got, np.cumsum([len(f["docs"][:JUDGED]) for f in found])[:-1])


def rank_with(found, relevance, weight=JUDGE_WEIGHT):
    """Documents in order, after adding the judge's z-score to the first ones."""
    score = found["score"].copy()
    score[:len(relevance)] += weight * z_score(relevance)
    return found["docs"][np.argsort(-score, kind="stable")]


def read_set(folder):
    docs, questions = json_lines(folder / "corpus.jsonl"), {q["_id"]: q["text"] for q in json_lines(folder / "queries.jsonl")}
    at = {d["_id"]: i for i, d in enumerate(docs)}
    gains = collections.defaultdict(dict)
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        q, d, g = line.split("\t")
        if d in at and q in questions:
            gains[q][at[d]] = int(g)
    ids = [q for q in gains if max(gains[q].values()) > 0]
    texts = [(d["title"] + ". " if d.get("title") else "") + d["text"] for d in docs]
    return texts, [questions[q] for q in ids], [gains[q] for q in ids]


def mean_ndcg(rankings, gains):
    return float(np.mean([ndcg(np.array([g.get(int(d), 0) for d in r[:10]]), np.array(list(g.values()))) for r, g in zip(rankings, gains)]))


class Retrieved:
    """A development set with the results of the stages before the judge, which are the same for every judge."""
    def __init__(self, folder, tokenizer, embedder, centre, limit=None):
        texts, self.questions, self.gains = read_set(folder)
        self.questions, self.gains = self.questions[:limit], self.gains[:limit]
        self.corpus = Corpus(texts, tokenizer, embedder, centre)
        self.table, self.found = self.corpus.candidates(self.questions)

    def before(self):
        by = lambda field: [f["docs"][np.argsort(-f[field], kind="stable")] for f in self.found]
        return {stage: mean_ndcg(by(field), self.gains) for stage, field in
                (("keyword", "keyword"), ("vector", "cosine"), ("late", "late"), ("fused", "score"))}

    def after(self, judge, modes):
        row = {}
        for mode in modes:
            got = judged(judge, self.corpus, self.table, self.found, mode)
            row["judged_" + mode] = mean_ndcg([rank_with(f, g[:, 0]) for f, g in zip(self.found, got)], self.gains)
            if mode == "window":
                row["judge_alone_18"] = mean_ndcg([rank_with(f, g[:, 0], 1e3) for f, g in zip(self.found, got)], self.gains)
        return row


def retrieve_sets(tokenizer, embedder, centre, folder, limit=None, names=SETS):
    return {n: Retrieved(folder / "retrieval" / n, tokenizer, embedder, centre, limit) for n in names if (folder / "retrieval" / n).exists()}


def measure_ranking(judge, sets, modes=MODES):
    """nDCG@10 of every stage, for each set."""
    result = {}
    for name, retrieved in sets.items():
        row = retrieved.before() | retrieved.after(judge, modes)
        result[name] = {k: round(v, 4) for k, v in row.items()}
        print(name, len(retrieved.questions), result[name], flush=True)
    return result


def measure_reading(judge, tokenizer, folder, device, limit=None, prepared=None, calibration=None):
    """SQuAD 2: F1 of answerable questions, and how well the margin predicts answerability; with `prepared`
    and a calibration, also how well all features together do. Also raw rows: relevance, margin, first and last
    token of the span, F1, answerable; and the features of answerability."""
    rows = json_lines(folder / "qa" / "squad2-dev.jsonl")[:limit]
    questions = Table(tokenise(tokenizer, [r["question"] for r in rows], QUESTION_TOKENS), device)
    ids, offsets = tokenise(tokenizer, [r["context"] for r in rows], 1000, True)
    passages = Table(ids, device)
    every = np.arange(len(rows))
    has = np.array([bool(r["answers"]) for r in rows])
    result, raw = {"answerable": int(has.sum()), "unanswerable": int((~has).sum())}, {}
    for mode, width in (("window", WINDOW), ("whole", WHOLE)):
        got = judge_windows(judge, questions, passages, every, every, width)
        f1 = []
        for row, places, (_, _, first, last) in zip(rows, offsets, got):
            text = row["context"][places[int(first)][0]:places[int(last)][1]]
            f1.append(max([token_f1(text, a["text"]) for a in row["answers"]] or [0]))
        f1 = np.array(f1)
        raw[f"squad2|{mode}"] = np.c_[got, f1, has].astype(np.float32)
        cuts = np.quantile(got[:, 1], np.linspace(0, 1, 101))
        result[mode] = dict(auc=auc(got[:, 1], has), auc_relevance=auc(got[:, 0], has), auc_sum=auc(z_score(got[:, 1]) + .5 * z_score(got[:, 0]), has),
                            f1_answerable=float(f1[has].mean()),
                            f1_best_cut=float(max(np.where(has, f1 * (got[:, 1] > c), got[:, 1] <= c).mean() for c in cuts)))
        if prepared is not None:
            late = answerability.late_scores(prepared.embedder, prepared.centre, questions, passages, every, every, got[:, 2], got[:, 3])
            x = raw[f"squad2-features|{mode}"] = answerability.features(got, late)
            result[mode]["auc_late_near"] = auc(late[:, 0], has)
            if calibration and "answerable" in calibration:
                result[mode]["auc_answerable"] = auc(x @ list(calibration["answerable"]["weights"].values()), has)
        result[mode] = {k: round(v, 4) for k, v in result[mode].items()}
        print("squad2-dev", mode, result[mode], flush=True)
    return result, raw


def grounding_rows(path):
    for row in json_lines(path):
        evidence = row.get("evidence_sentences") or ([row["evidence"]] if row.get("evidence") else [])
        if evidence:
            yield row["claim"], " ".join(evidence), row["label"].lower()


def measure_grounding(judge, tokenizer, embedder, folder, device, limit=None):
    """AUC of supported claims against others: "full" (partially supported counts as not supported), "any" (as
    supported), "clear" (left out). Also raw rows: relevance, word share, cosine, and the labels' indexes in the table."""
    result, raw = {}, {}
    for path in sorted((folder / "grounding").glob("*.jsonl")):
        rows = list(grounding_rows(path))[:limit]
        claims = Table(tokenise(tokenizer, [r[0] for r in rows], QUESTION_TOKENS), device)
        evidence = Table(tokenise(tokenizer, [r[1] for r in rows], 4000), device)
        every = np.arange(len(rows))
        got = judge_windows(judge, claims, evidence, every, every)
        cosine = (embed(embedder, claims) * embed(embedder, evidence)).sum(1).cpu().numpy()
        share = []
        for claim, text, _ in rows:
            said = np.unique(words.terms(claim))
            share.append(np.isin(said, words.terms(text)).mean() if len(said) else 0)
        share = np.array(share)
        z = {"relevance": z_score(got[:, 0]), "share": z_score(share), "cosine": z_score(cosine)}
        z["relevance+share"], z["relevance+cosine"] = z["relevance"] + z["share"], z["relevance"] + z["cosine"]
        z["all"] = z["relevance"] + z["share"] + z["cosine"]
        full = np.array([r[2] in ("supported", "supports", "support") for r in rows])
        some = full | np.array([r[2] == "partially_supported" for r in rows])
        everything = np.ones(len(rows), bool)
        labels = {"full": (full, everything)}
        if (some != full).any():
            labels |= {"any": (some, everything), "clear": (full, full | ~some)}
        result[path.stem] = {name: {k: round(auc(v[kept], y[kept]), 4) for k, v in z.items()} for name, (y, kept) in labels.items() if 0 < y.sum() < len(y)}
        raw["grounding|" + path.stem] = np.c_[got[:, 0], share, cosine, full, some].astype(np.float32)
        print(path.stem, len(rows), result[path.stem], flush=True)
    return result, raw


def gate_scores(judge, corpus, questions):
    """The best late score, relevance and span margin of each question over its first 18 candidates."""
    table, found = corpus.candidates(questions)
    got = judged(judge, corpus, table, found, "window")
    return np.array([[f["late"].max(), g[:, 0].max(), g[:, 1].max()] for f, g in zip(found, got)])


def measure_refusal(judge, retrieved, folder, limit=300, names=("scifact-train", "squad-dev")):
    """Foreign questions against a corpus's own: AUC of each signal, and the raw scores."""
    result, raw = {}, {}
    own = {name: r.questions for name, r in retrieved.items()}
    corpora = {name: retrieved[name].corpus for name in names if name in retrieved}
    own["pubmedqa"] = [r["question"] for r in json_lines(folder / "qa" / "pubmedqa-train.jsonl")]
    for name, corpus in corpora.items():
        sets = {"own": own[name]} | {k: v[:limit] for k, v in own.items() if k != name}
        if name == "squad-dev":
            sets["look-alike"] = [r["question"] for r in json_lines(folder / "qa" / "squad2-dev.jsonl") if not r["answers"]]
        scores = {k: gate_scores(judge, corpus, v) for k, v in sets.items()}
        raw.update({f"{name}|{k}": v.astype(np.float32) for k, v in scores.items()})
        inside = scores.pop("own")
        result[name] = {}
        for other, got in scores.items():
            both, labels = np.r_[inside, got], np.r_[np.ones(len(inside)), np.zeros(len(got))]
            cut = np.quantile(inside[:, 1], .12)
            result[name][other] = {"auc_late": round(auc(both[:, 0], labels), 4), "auc_relevance": round(auc(both[:, 1], labels), 4),
                                   "auc_span": round(auc(both[:, 2], labels), 4), "auc_late+relevance": round(auc(both[:, 1] + 20 * both[:, 0], labels), 4),
                                   "refused_at_88": round(float((got[:, 1] < cut).mean()), 4)}
        print("refusal", name, result[name], flush=True)
    return result, raw

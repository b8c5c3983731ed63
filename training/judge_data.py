"""Training rows as tensors on the device: token tables, hard negatives, examples for the span head."""
import collections
import json
import lzma
import multiprocessing
import re
import warnings
import zlib

import numpy as np
import torch
import torch.nn.functional as F

import corrupt
import words
from judge_model import CLS, PAD, SEP

TRAINED_TOKENS = 192           # tokens of a training row, unless a run sets another number: "[CLS] question [SEP] passage [SEP]"
QUESTION_TOKENS, PASSAGE_TOKENS = 64, 300
EMBED_TOKENS = 254             # tokens of a passage that the embedder reads
GROUP = 8                      # one right passage and seven wrong ones
MINED = 40                     # wrong passages per question, by vectors and by keywords
CALIBRATION_SHARE = 40         # one passage in this many is reserved for calibration
CORRUPTED_PER_ROW = 6
NEAR_PER_ROW = 6
CLOZE_SOURCES = ("qed", "nq_oracle", "clapnq", "musique", "hotpotqa", "squad_train_nqg", "openstax/")
CLOZE_WEIGHT = .15             # weight of a cloze question, compared with 1 for a real question

# Human questions weigh most; headings of documentation are many and easy.
PAIR_WEIGHT = {"qed": 5, "nq_oracle": 5, "squad_train_nqg": 3, "squad2_dev": 5, "doc2dial": 4, "tatqa": 2, "clapnq": 5, "musique": 2, "hotpotqa": 2,
               "acl_anthology": 3, "factbook": .2, "far": .5}
HUMAN = ("qed", "nq_oracle", "squad_train_nqg", "squad2_dev", "doc2dial", "clapnq", "medquad_train", "tatqa", "acl_anthology")
READER_WEIGHT = {"squad2_dev": 3, "factbook": .2, "doc2dial": .4, "clapnq_sent": .3, "tatqa": .6}
# Share of each kind of span example.
SPAN_SHARE = {"answer": .48, "none": .05, "corrupted": .22, "near": .15, "hole": .10}
NONE_ROWS = 1000               # with fewer human-made unanswerable rows their share is lower, to avoid overfitting


def read_rows(path):
    opener = lzma.open if str(path).endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def pair_weight(row):
    src = row["src"]
    weight = PAIR_WEIGHT.get(src, .3 if src.startswith("docs/") else .7 if src.startswith("openstax") else 1.0)
    return weight * (2 if row.get("kind") == "q" else 1)


def passage_key(text):
    """A key that near-copies share: it identifies copies, and selects the passages for calibration."""
    return zlib.crc32(" ".join(text.lower().split())[:80].encode())


def for_calibration(text):
    return passage_key(text) % CALIBRATION_SHARE == 0


class Table:
    """Token ids of many texts, concatenated on the device."""
    def __init__(self, ids, device):
        self.lengths = torch.tensor([len(t) for t in ids], device=device)
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths
        flat = np.concatenate([np.asarray(t, np.int32) for t in ids] + [np.zeros(1, np.int32)])
        self.flat = torch.from_numpy(flat).to(device)

    def __len__(self):
        return len(self.lengths)

    def rows(self, index, width, first=None):
        """[len(index), width] ids from token `first` on, and the number of real tokens per row."""
        first = torch.zeros_like(index) if first is None else first
        n = (self.lengths[index] - first).clamp(0, width)
        place = torch.arange(width, device=index.device)[None, :]
        at = (self.starts[index] + first)[:, None] + place
        real = place < n[:, None]
        return torch.where(real, self.flat[at.clamp(max=len(self.flat) - 1)], PAD).long(), n


def tokenise(tokenizer, texts, limit, offsets=False):
    ids, places = [], []
    for i in range(0, len(texts), 20000):
        for e in tokenizer.encode_batch(texts[i:i + 20000], add_special_tokens=False):
            ids.append(np.array(e.ids[:limit], np.int32))
            if offsets:
                places.append(e.offsets[:limit])
    return (ids, places) if offsets else ids


def pack(questions, passages, q, p, first=None, width=TRAINED_TOKENS):
    """Rows "[CLS] question [SEP] passage [SEP]" of the given indices: ids, kinds, valid, and where the passage begins."""
    device = q.device
    q_ids, q_n = questions.rows(q, QUESTION_TOKENS)
    room = width - 3 - q_n
    p_ids, p_n = passages.rows(p, width, first)
    p_n = torch.minimum(p_n, room)
    place = torch.arange(width, device=device)[None, :]
    shift = (q_n + 2)[:, None]
    in_q, in_p = (place >= 1) & (place < shift - 1), (place >= shift) & (place < shift + p_n[:, None])
    ids = torch.where(in_q, q_ids.gather(1, (place - 1).clamp(0, QUESTION_TOKENS - 1).expand(len(q), -1)), PAD)
    ids = torch.where(in_p, p_ids.gather(1, (place - shift).clamp(0, width - 1)), ids)
    last = shift + p_n[:, None]
    ids = torch.where(place == 0, CLS, torch.where((place == shift - 1) | (place == last), SEP, ids))
    valid = place <= last
    return ids, ((place >= shift) & valid).long(), valid, q_n + 2


@torch.no_grad()
def token_vectors(embedder, table, index, width=EMBED_TOKENS, first=None):
    """The embedder's token vectors of some texts, from token `first` on, including [CLS] and [SEP], and a mask of real tokens."""
    ids, n = table.rows(index, width, first)
    place = torch.arange(width + 2, device=index.device)[None, :]
    padded = F.pad(ids, (1, 1))
    padded = torch.where(place == 0, CLS, torch.where(place == n[:, None] + 1, SEP, padded))
    valid = place < n[:, None] + 2
    with torch.autocast(index.device.type, torch.bfloat16, enabled=index.device.type == "cuda"):
        return embedder(padded, torch.zeros_like(padded), valid).float(), valid


@torch.no_grad()
def embed(embedder, table, batch=1024):
    """One vector per text: the normalised mean of its token vectors."""
    order = torch.argsort(table.lengths)
    out = None
    for part in order.split(batch):
        width = int(table.lengths[part].max().clamp(1, EMBED_TOKENS))
        x, valid = token_vectors(embedder, table, part, width)
        mean = (x * valid[..., None]).sum(1) / valid.sum(1, keepdim=True)
        if out is None:
            out = torch.zeros(len(table), x.shape[-1], device=x.device)
        out[part] = F.normalize(mean, dim=-1)
    return out


def all_terms(texts, processes):
    if processes <= 1 or len(texts) < 5000:
        return [words.terms(t) for t in texts]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return pool.map(words.terms, texts, chunksize=1000)


def mine(question_terms, passage_terms, right, q_vectors, p_vectors, keys, depth=MINED, batch=2048, cautious=None):
    """Hard negatives, [questions, 2, depth]: by the embedder's cosine and by BM25. Passages close
    to the right passage's cosine, or near-copies of it, may also answer and are left out; where `cautious` is false, only near-copies are."""
    device = q_vectors.device
    warnings.filterwarnings("ignore", message="Sparse")
    index = words.Bm25(passage_terms)
    used = np.unique(np.concatenate(question_terms + [np.zeros(1, np.int64)]))
    keep = np.isin(index.columns, used)
    column = np.searchsorted(used, index.columns[keep])
    weights = torch.sparse_coo_tensor(torch.from_numpy(np.stack([index.rows[keep], column])), torch.from_numpy(index.weights[keep]),
                                      (index.size, len(used))).coalesce().to(device).to_sparse_csr()
    out = np.zeros((len(right), 2, depth), np.int32)
    right, keys = torch.from_numpy(right).to(device), torch.from_numpy(keys).to(device)
    cautious = torch.ones(len(right), dtype=torch.bool, device=device) if cautious is None else torch.from_numpy(cautious).to(device)
    for i in range(0, len(right), batch):
        part = right[i:i + batch]
        cosines = q_vectors[i:i + batch] @ p_vectors.T
        own = cosines.gather(1, part[:, None])
        bad = ((cosines > .95 * own.clamp(min=.2)) & cautious[i:i + batch, None]) | (keys[None, :] == keys[part][:, None]) | (p_vectors[part] @ p_vectors.T > .93)
        out[i:i + len(part), 0] = cosines.masked_fill(bad, -9).topk(depth).indices.cpu().numpy()
        asked = torch.zeros(len(used), len(part), device=device)
        terms = question_terms[i:i + len(part)]
        row = np.searchsorted(used, np.concatenate(terms))
        column = np.repeat(np.arange(len(part)), [len(t) for t in terms])
        asked[torch.from_numpy(row).to(device), torch.from_numpy(column).to(device)] = 1
        scores = (weights @ asked).T
        out[i:i + len(part), 1] = scores.masked_fill(bad, -9).topk(depth).indices.cpu().numpy()
    return out


def neighbour_words(tokenizer, table, device, first=1, last=100):
    """Similar whole words for each whole word in the embedder's word table, nearest first, without its inflections."""
    vocabulary = tokenizer.get_vocab()
    known = sorted((i, w) for w, i in vocabulary.items() if re.fullmatch(r"[a-z]{3,}", w) and w not in corrupt.GRAMMAR)
    if len(known) <= last:
        return {}
    index = torch.tensor([i for i, _ in known], device=device)
    v = table[index].float()
    v = F.normalize(v - v.mean(0), dim=-1)
    out = {}
    for i in range(0, len(known), 4096):
        near = (v[i:i + 4096] @ v.T).topk(last + 1).indices[:, first:].cpu().tolist()
        for k, row in enumerate(near):
            word = known[i + k][1]
            out[word] = [known[j][1] for j in row if known[j][1][:4] != word[:4]]
    return out


class SpanExamples:
    """Question, passage and position of the answer (-1: not answered), each with its sampling weight. An answered one
    also has its changed forms ("twins", which are adjacent); `soft` is the row of a teacher's probabilities, -1 for none."""
    def __init__(self):
        self.questions = []                              # texts; index = row of the table
        self.rows = []                                   # kind, question, passage, first, last, weight, soft, first twin, number of twins
        self.at = {}

    def passage(self, text):
        return self.at.setdefault(text, len(self.at))

    def add(self, kind, question, passage, first=-1, last=-1, weight=1.0, soft=-1, twins=(0, 0)):
        self.questions.append(question)
        self.rows.append((kind, len(self.questions) - 1, self.passage(passage), first, last, weight, soft, *twins))

    def add_answered(self, question, passage, spans, weight, made, near=(), soft=-1):
        """A question with its answers (tokens), its changed forms `made` by corrupt.unanswered, and similar passages without an answer."""
        changed, rest = made
        twins = (len(self.rows), len(changed))
        for text in changed:
            self.add("corrupted", text, passage, weight=weight / max(1, len(changed)))
        for first, last in spans:
            self.add("answer", question, passage, first, last, weight / len(spans), soft, twins)
        for text in near:
            self.add("near", question, text, weight=weight / len(near))
        if rest:
            self.add("hole", question, rest, weight=weight)


def answer_tokens(offsets, answer):
    """First and last token of an answer given by characters; None if it was truncated."""
    begin, end = answer["start"], answer["start"] + len(answer["text"])
    hit = [k for k, (x, y) in enumerate(offsets) if x < end and y > begin]
    return (hit[0], hit[-1]) if hit and offsets[hit[-1]][1] >= end else None


def without(passages, answers, own):
    """The passages that are not the question's own and contain none of its answers."""
    told = [a.lower() for a in answers]
    return [p for p in passages if p != own and not any(t in p.lower() for t in told)][:NEAR_PER_ROW]


def add_reader(examples, reader, offsets, near, made, near_passages=True):
    """The reader's rows; `near` has the passages closest to each question, `made` the results of corrupt.unanswered."""
    for row, places, around, changed in zip(reader, offsets, near, made):
        weight = READER_WEIGHT.get(row["src"], 1.0)
        if not row["answers"]:
            examples.add("none", row["q"], row["context"], weight=weight)
            continue
        spans = sorted({s for s in (answer_tokens(places, a) for a in row["answers"][:3]) if s})
        wrong = without(around, [a["text"] for a in row["answers"]], row["context"]) if near_passages else []
        examples.add_answered(row["q"], row["context"], spans, weight, changed, wrong)


class SpanSampler:
    """Samples span examples on the device, with the shares of SPAN_SHARE. `soft` [rows, PASSAGE_TOKENS, 2]: a teacher's
    start and end probabilities over the passage."""
    def __init__(self, examples, tokenizer, device, soft=None):
        self.questions = Table(tokenise(tokenizer, examples.questions, QUESTION_TOKENS), device)
        self.passages = Table(tokenise(tokenizer, list(examples.at), PASSAGE_TOKENS), device)
        totals = collections.Counter()
        for row in examples.rows:
            totals[row[0]] += row[5]
        self.counts = collections.Counter(r[0] for r in examples.rows)
        share = {k: v for k, v in SPAN_SHARE.items() if totals[k]}
        share["none"] = SPAN_SHARE["none"] * min(1, self.counts["none"] / NONE_ROWS)
        column = lambda k: torch.tensor([r[k] for r in examples.rows], device=device)
        self.q, self.p, self.first, self.last, self.soft_row, self.twin, self.twins = (column(k) for k in (1, 2, 3, 4, 6, 7, 8))
        weight = lambda kinds: torch.tensor([r[5] * share[r[0]] / totals[r[0]] if r[0] in kinds else 0.0 for r in examples.rows], device=device)
        self.weight = {"answer": weight(("answer",)), "corrupted": weight(("corrupted",)), "rest": weight(("near", "hole", "none"))}
        self.share = {"answer": share["answer"], "corrupted": share.get("corrupted", 0)}
        self.share["rest"] = sum(share.values()) - sum(self.share.values())
        self.soft = soft

    def pick(self, n, generator):
        """Sampled rows: answered ones, then twins of the first of them, then others; and which twins belong to their row."""
        total = sum(self.share.values())
        twins, rest = int(n * self.share["corrupted"] / total), int(n * self.share["rest"] / total)
        draw = lambda kind, k: torch.multinomial(self.weight[kind], k, replacement=True, generator=generator) if k else self.q.new_zeros(0)
        answered = draw("answer", n - twins - rest)
        u = torch.rand(twins, generator=generator, device=self.q.device)
        own = answered[:twins]
        has = self.twins[own] > 0
        twin = torch.where(has, self.twin[own] + (u * self.twins[own]).long(), draw("corrupted", twins))
        return torch.cat([answered, twin, draw("rest", rest)]), len(answered), has

    def draw(self, n, generator, width=TRAINED_TOKENS):
        """Packed rows; [n, width, 2] targets of start and end, 0 for none; the number of answered rows; and which of the
        following twins belong to their row."""
        pick, count, has = self.pick(n, generator)
        q, p, first, last, soft = self.q[pick], self.p[pick], self.first[pick], self.last[pick], self.soft_row[pick]
        room = width - 3 - self.questions.lengths[q].clamp(max=QUESTION_TOKENS)
        last = torch.minimum(last, first + room - 1)
        answered = first >= 0
        low = torch.where(answered, (last - room + 1).clamp(min=0), 0)
        high = torch.where(answered, first, (self.passages.lengths[p] - room).clamp(min=0))
        u = torch.rand(2, n, generator=generator, device=q.device)
        moved = low + (u[0] * (high - low + 1)).long()
        begin = torch.where((u[1] < .3) | (low > 0), moved, 0)             # some windows start at another position
        ids, kinds, valid, shift = pack(self.questions, self.passages, q, p, begin, width)
        mark = lambda place: torch.where(answered, place - begin + shift, 0).clamp(0, width - 1)
        target = F.one_hot(torch.stack([mark(first), mark(last)], 2 - 1), width).transpose(1, 2).float()
        if self.soft is not None:
            place = torch.arange(width, device=q.device)[None, :] + (begin - shift)[:, None]
            inside = (place >= 0) & (place < PASSAGE_TOKENS) & (kinds == 1)
            told = self.soft[soft.clamp(min=0)[:, None], place.clamp(0, PASSAGE_TOKENS - 1)].float() * inside[..., None]
            mass = told.sum(1, keepdim=True)
            usable = (soft >= 0)[:, None, None] & (mass > .3).all(2, keepdim=True)
            target = torch.where(usable, told / mass.clamp(min=1e-3), target)
        return (ids, kinds, valid), target, count, has


class PairSampler:
    """Samples groups of one question with its right passage and seven wrong ones."""
    def __init__(self, questions, passages, right, wrong, weight, q_vectors, p_vectors, hard=True):
        device = q_vectors.device
        self.questions, self.passages, self.hard = questions, passages, hard
        self.right = torch.from_numpy(right).to(device)
        self.wrong = torch.from_numpy(wrong).long().to(device)
        self.weight = torch.tensor(weight, device=device)
        self.q_vectors, self.p_vectors = q_vectors, p_vectors

    def draw(self, n, generator, width=TRAINED_TOKENS):
        device = self.right.device
        pick = torch.multinomial(self.weight, n, replacement=True, generator=generator)
        chance = torch.rand(n, 2, self.wrong.shape[2], generator=generator, device=device)
        three = self.wrong[pick].gather(2, chance.topk(3, -1).indices).view(n, 6)
        anything = torch.randint(len(self.passages), (n, GROUP - 1), generator=generator, device=device)
        others = torch.cat([three, anything[:, :1]], 1) if self.hard else anything
        group = torch.cat([self.right[pick][:, None], others], 1)
        prior = (self.p_vectors[group] @ self.q_vectors[pick][:, :, None]).squeeze(-1)
        q, p = pick.repeat_interleave(GROUP), group.flatten()
        room = width - 3 - self.questions.lengths[q].clamp(max=QUESTION_TOKENS)
        slack = (self.passages.lengths[p] - room).clamp(min=0)
        u = torch.rand(2, len(q), generator=generator, device=device)
        begin = torch.where(u[1] < .2, (u[0] * (slack + 1)).long(), 0)
        return pack(self.questions, self.passages, q, p, begin, width)[:3], prior

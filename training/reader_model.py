"""The reader: a BERT encoder over "[CLS] question [SEP] title > headings . passage [SEP]" with three heads.

span       a start and an end logit per token; those of [CLS] mean "not answered here". A token's margin is its logit minus that of
           [CLS] in the same row. Margins of different passages are compared with each other, and 0 is "none".
relevance  one logit per pair, from the pooled vector of [CLS]
support    three logits for a claim and its evidence (supports, neutral, refutes), from a pooled vector of its own

Tensors have BERT's names. Shipped matrices are 8-bit rows with one scale each: NAME.int8 and NAME.scale instead of NAME.weight.
"""
import lzma

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.numpy import load

from judge_model import CLS, PAD, SEP, Encoder
from reader_weights import whole

SPAN_TOKENS_MAX = 40
QUESTION_TOKENS, HEADER_TOKENS = 48, 32
LABELS = ("supports", "neutral", "refutes")
LEAST_ROWS = 3                   # smaller matrices stay fp32


class Reader(Encoder):
    def __init__(self, shape):
        super().__init__(shape)
        size = shape["hidden_size"]
        self.pooler = nn.ModuleDict({"dense": nn.Linear(size, size)})
        self.support_pooler = nn.ModuleDict({"dense": nn.Linear(size, size)})
        self.relevance, self.span, self.support = nn.Linear(size, 1), nn.Linear(size, 2), nn.Linear(size, len(LABELS))

    def forward(self, ids, kinds, valid, drop=0.0):
        """Relevance [rows], span [rows, tokens, 2], support [rows, 3]."""
        x = super().forward(ids, kinds, valid, drop)
        pooled, claimed = (F.dropout(torch.tanh(pooler["dense"](x[:, 0])), drop, self.training) for pooler in (self.pooler, self.support_pooler))
        return self.relevance(pooled).squeeze(-1), self.span(x), self.support(claimed)


def read_packed(path):
    """fp32 tensors of a file that reader_weights.py wrote."""
    return {k: torch.from_numpy(v.copy()) for k, v in whole(load(lzma.decompress(path.read_bytes()))).items()}


def reader_to_train(shape, tensors):
    """A reader that starts from a cross-encoder: its pooler and classifier are the relevance head; the other heads are new."""
    reader = Reader(shape)
    start = {k: v for k, v in tensors.items() if not k.startswith("classifier.")}
    start |= {"relevance." + k: tensors["classifier." + k] for k in ("weight", "bias") if "classifier." + k in tensors}
    start |= {"support_" + k: v for k, v in tensors.items() if k.startswith("pooler.")}
    _, unexpected = reader.load_state_dict(start, strict=False)
    if unexpected:
        raise ValueError(f"tensors do not fit the reader: {unexpected}")
    for head in (reader.span, reader.support):
        nn.init.normal_(head.weight, std=.02)
        nn.init.zeros_(head.bias)
    return reader


def shipped_tensors(state):
    """The contents of the weights file: 8-bit rows with scales for matrices, fp32 for the rest."""
    out = {}
    for name, value in state.items():
        value = value.detach().float().cpu()
        if value.ndim == 2 and value.shape[0] >= LEAST_ROWS:
            scale = value.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            base = name.removesuffix(".weight")
            out |= {base + ".int8": (value / scale).round().to(torch.int8), base + ".scale": scale.contiguous()}
        else:
            out[name] = value.contiguous()
    return out


def restored(tensors):
    """The fp32 tensors of a weights file."""
    out = {k: v for k, v in tensors.items() if not k.endswith((".int8", ".scale"))}
    for base in (k.removesuffix(".int8") for k in tensors if k.endswith(".int8")):
        out[base + ".weight"] = tensors[base + ".int8"].float() * tensors[base + ".scale"]
    return out


def built(shape, tensors, device="cpu"):
    reader = Reader(shape)
    reader.load_state_dict(restored(tensors))
    return reader.to(device).eval()


def average(states):
    """The mean of the weights of runs with the same start."""
    return {k: sum(s[k].float() for s in states) / len(states) for k in states[0]}


def pack(tables, q, h, p, first, width, q_n=None):
    """Rows of indices into (questions, headers, passages): ids, kinds, valid, and the passage's tokens as a mask. `first`: the
    passage's first token in the window; `q_n`: question lengths, if shorter than the table's. Headers include their closing period."""
    questions, headers, passages = tables
    place = torch.arange(width, device=q.device)[None, :]
    q_n = questions.lengths[q].clamp(max=QUESTION_TOKENS) if q_n is None else q_n
    shift = (q_n + 2)[:, None]
    begin = shift + headers.lengths[h][:, None]
    last = begin + torch.minimum((passages.lengths[p] - first)[:, None], width - 1 - begin).clamp(min=0)
    at = lambda table, index, offset: table.flat[(table.starts[index][:, None] + offset).clamp(0, len(table.flat) - 1)].long()
    ids = torch.where(place < shift - 1, at(questions, q, place - 1), PAD)
    ids = torch.where((place >= shift) & (place < begin), at(headers, h, place - shift), ids)
    body = (place >= begin) & (place < last)
    ids = torch.where(body, at(passages, p, place - begin + first[:, None]), ids)
    ids = torch.where(place == 0, CLS, torch.where((place == shift - 1) | (place == last), SEP, ids))
    valid = place <= last
    return ids, ((place >= shift) & valid).long(), valid, body


def margins(span, body):
    """[rows, tokens, 2]: each passage token's start and end logit minus those of [CLS]."""
    span = span.float()
    return (span - span[:, :1]).masked_fill(~body[..., None], -1e4)


def best_spans(margin):
    """Score (sum of the two margins), first and last token of each row's best span."""
    width = margin.shape[1]
    allowed = torch.ones(width, width, device=margin.device, dtype=torch.bool).triu().tril(SPAN_TOKENS_MAX - 1)
    best, at = (margin[:, :, None, 0] + margin[:, None, :, 1]).masked_fill(~allowed, -4e4).flatten(1).max(1)
    return best, at // width, at % width

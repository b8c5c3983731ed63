"""The judge: a BERT encoder over "[CLS] question [SEP] passage [SEP]" with a relevance head and a span head.

Tensors have BERT's names, which the C++ engine expects. The word table is the embedder's and stays frozen.
"""
import hashlib
import json

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

CLS, SEP, PAD = 101, 102, 0
WORDS = "embeddings.word_embeddings.weight"
WORDS_INT8, WORDS_SCALE = "embeddings.word_embeddings.int8", "embeddings.word_embeddings.scale"
NORM_EPS = 1e-12
SPAN_TOKENS_MAX = 40


class SelfAttention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)


class Output(nn.Module):
    """A projection back to the hidden size, and the norm of its sum with the input."""
    def __init__(self, inside, size):
        super().__init__()
        self.dense, self.LayerNorm = nn.Linear(inside, size), nn.LayerNorm(size, NORM_EPS)

    def forward(self, x, residual, drop):
        return self.LayerNorm(residual + F.dropout(self.dense(x), drop, self.training))


class Layer(nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.attention = nn.ModuleDict({"self": SelfAttention(size), "output": Output(size, size)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner)})
        self.output, self.heads = Output(inner, size), heads

    def forward(self, x, mask, drop):
        batch, length, size = x.shape
        inner = self.attention["self"]
        split = lambda y: y.view(batch, length, self.heads, size // self.heads).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(split(inner.query(x)), split(inner.key(x)), split(inner.value(x)), attn_mask=mask)
        x = self.attention["output"](mixed.transpose(1, 2).reshape(batch, length, size), x, drop)
        return self.output(F.gelu(self.intermediate["dense"](x)), x, drop)


class Encoder(nn.Module):
    def __init__(self, shape):
        super().__init__()
        size = shape["hidden_size"]
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(shape["vocab_size"], size), "position_embeddings": nn.Embedding(shape["max_position_embeddings"], size),
            "token_type_embeddings": nn.Embedding(2, size), "LayerNorm": nn.LayerNorm(size, NORM_EPS)})
        self.embeddings["word_embeddings"].weight.requires_grad_(False)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(
            Layer(size, shape["num_attention_heads"], shape["intermediate_size"]) for _ in range(shape["num_hidden_layers"]))})

    def forward(self, ids, kinds, valid, drop=0.0):
        e = self.embeddings
        x = e["word_embeddings"](ids) + e["position_embeddings"].weight[:ids.shape[1]] + e["token_type_embeddings"](kinds)
        x = F.dropout(e["LayerNorm"](x), drop, self.training)
        mask = valid[:, None, None, :]
        for layer in self.encoder["layer"]:
            x = layer(x, mask, drop)
        return x


class Judge(Encoder):
    """relevance: one logit per pair. span: a start and an end logit per token; those of [CLS] mean "not answered here"."""
    def __init__(self, shape):
        super().__init__(shape)
        size = shape["hidden_size"]
        self.pooler = nn.ModuleDict({"dense": nn.Linear(size, size)})
        self.relevance, self.span = nn.Linear(size, 1), nn.Linear(size, 2)

    def forward(self, ids, kinds, valid, drop=0.0):
        x = super().forward(ids, kinds, valid, drop)
        pooled = F.dropout(torch.tanh(self.pooler["dense"](x[:, 0])), drop, self.training)
        return self.relevance(pooled).squeeze(-1), self.span(x)


def read_base(folder):
    """Shape and tensors of the embedder. Its word table may be stored as int8 rows with scales."""
    config = json.loads((folder / "config.json").read_text())
    shape = {k: config[k] for k in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings")}
    tensors = {k: v.float() for k, v in load_file(str(folder / "model.safetensors")).items() if not k.endswith("position_ids")}
    if WORDS_INT8 in tensors:
        tensors[WORDS] = tensors.pop(WORDS_INT8) * tensors.pop(WORDS_SCALE)
    return shape, tensors


def embedder_of(shape, tensors):
    model = Encoder(shape)
    model.load_state_dict({k: v for k, v in tensors.items() if not k.startswith("pooler.")})
    return model.eval()


def judge_of(shape, tensors, trained=None):
    """A judge to train, with small weights in the new heads; or, with `trained` tensors, the trained judge."""
    judge = Judge(shape)
    missing, unexpected = judge.load_state_dict({**{k: v for k, v in tensors.items() if not k.startswith("pooler.")}, **(trained or {})}, strict=False)
    if unexpected or (trained and missing):
        raise ValueError(f"tensors do not fit the judge: missing {missing}, unknown {unexpected}")
    if not trained:
        for head in (judge.relevance, judge.span, judge.pooler["dense"]):
            nn.init.normal_(head.weight, std=.02)
            nn.init.zeros_(head.bias)
    return judge


def shipped_tensors(judge):
    """The content of the weights file: everything except the word table, in fp16."""
    return {k: v.detach().half().cpu().contiguous() for k, v in judge.state_dict().items() if k != WORDS}


def save_tensors(tensors, path):
    save_file(tensors, str(path), metadata={"format": "pt"})


def inside_passage(kinds, valid):
    """The tokens that an answer may contain: the passage's, without the closing [SEP]."""
    inside = valid & (kinds == 1)
    return inside & torch.roll(inside, -1, 1)


def best_spans(span, kinds, valid):
    """Score of the best span and of none, and the span's first and last token, for each row. `span` in fp32."""
    inside = inside_passage(kinds, valid)
    start, end = span[..., 0].masked_fill(~inside, -1e4), span[..., 1].masked_fill(~inside, -1e4)
    width = start.shape[1]
    allowed = torch.ones(width, width, device=span.device, dtype=torch.bool).triu().tril(SPAN_TOKENS_MAX - 1)
    best, at = (start[:, :, None] + end[:, None, :]).masked_fill(~allowed, -2e4).flatten(1).max(1)
    return best, span[:, 0, 0] + span[:, 0, 1], at // width, at % width


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()

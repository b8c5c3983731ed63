"""Decides whether a passage answers a question, from the judge's margin and relevance, and from how well
late interaction finds the question's tokens near the judge's span.

A fixed weighted sum (config.json, "answerable"): its weights are fitted on rows that were excluded from training.
"""
import numpy as np
import torch
import torch.nn.functional as F

from judge_data import EMBED_TOKENS, QUESTION_TOKENS, token_vectors

REACH = 24                       # tokens on each side of the span that count as near it
FEATURES = ("margin", "relevance", "late_near", "late")


@torch.no_grad()
def late_scores(embedder, centre, questions, passages, q, p, first, last, batch=256):
    """Late interaction with the tokens near a span, and with the whole passage: the mean over the question's tokens (including [CLS] and [SEP])
    of the best product with the signs of a passage token. The embedder reads the first tokens of the passage; in
    a longer passage, the tokens up to the end of "near"."""
    device = questions.flat.device
    q, p, first, last = (torch.as_tensor(np.asarray(v), device=device).long() for v in (q, p, first, last))
    out = torch.zeros(len(q), 2, device=device)
    for part in torch.arange(len(q), device=device).split(batch):
        asked, asked_valid = token_vectors(embedder, questions, q[part], QUESTION_TOKENS)
        asked = F.normalize(asked - centre, dim=-1)
        begin = (last[part] + REACH + 1 - EMBED_TOKENS).clamp(min=0)
        told, told_valid = token_vectors(embedder, passages, p[part], EMBED_TOKENS, begin)
        signs = torch.where(told >= centre, 1.0, -1.0) / centre.shape[0] ** .5
        products = torch.einsum("bqh,bth->bqt", asked, signs).masked_fill(~told_valid[:, None], -4)
        place = torch.arange(products.shape[2], device=device)[None, :] - 1 + begin[:, None]         # token of the passage
        words = told_valid & torch.roll(told_valid, -1, 1) & (place >= begin[:, None])                   # without [CLS] and [SEP]
        near = (place >= (first[part] - REACH)[:, None]) & (place <= (last[part] + REACH)[:, None]) & words
        mean = lambda x: (x.max(-1).values * asked_valid).sum(1) / asked_valid.sum(1)
        out[part] = torch.stack([mean(products.masked_fill(~near[:, None], -4)), mean(products)], 1)
    return out.cpu().numpy()


def features(got, late):
    """FEATURES, one row per pair, from the results of judge_windows and late_scores."""
    return np.c_[got[:, 1], got[:, 0], late].astype(np.float64)


def fit(x, labels, rounds=50, ridge=1.0):
    """The weights of the features and a constant, by logistic regression; the ridge is on standardised features."""
    mean, spread = x.mean(0), x.std(0) + 1e-6
    z, y = np.c_[(x - mean) / spread, np.ones(len(x))], np.asarray(labels, np.float64)
    w = np.zeros(z.shape[1])
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        w -= np.linalg.solve((z * (chance * (1 - chance))[:, None]).T @ z + ridge * np.eye(len(w)), z.T @ (chance - y) + ridge * w)
    weights = w[:-1] / spread
    return weights, float(w[-1] - weights @ mean)

"""Trains the reader, from rows to weights:

    python training/train_reader.py --rows build/reader-rows --start build/reader-start --out build/reader --evaluate DATA/eval --minutes 7

README.md in this folder explains the method; reader_rows.py and reader_weights.py write the two input folders. Prepared data
(token tables, hard negatives) is cached under --cache. --average adds earlier runs with other seeds: the mean of the weights of all
runs is then evaluated and written too.
"""
import argparse
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import Tokenizer

import judge_data
import reader_data
import reader_eval
import reader_files
import reader_model
import reader_units
from judge_model import WORDS, embedder_of
from reader_data import BLOCK, NONE, SPAN
from train_judge import platt

BEGUN = time.time()
DROPOUT, WARMUP, CLIP = .1, .05, 1.0
POINTWISE = .25                 # weight of the relevance loss
CHUNKS = 4                      # parts of a step, by length
GROUP_WEIGHT = 2.5              # weight of a question with several passages, relative to one with a single passage


def log(*what):
    print(f"[{time.time() - BEGUN:6.1f}s]", *what, flush=True)


def arguments(argv=None):
    parser = argparse.ArgumentParser(description="Train the reader.")
    parser.add_argument("--rows", type=pathlib.Path, required=True, help="folder that reader_rows.py wrote")
    parser.add_argument("--start", type=pathlib.Path, required=True, help="folder that reader_weights.py wrote")
    parser.add_argument("--resume", type=pathlib.Path, help="folder of a reader whose weights to start from instead: models/reader")
    parser.add_argument("--dev", type=pathlib.Path, help="groups that are not trained on, to measure with")
    parser.add_argument("--embedder", type=pathlib.Path, help="folder with the embedder and tokenizer, if it is not the same")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/reader-cache"))
    parser.add_argument("--evaluate", type=pathlib.Path, help="folder of the development sets")
    parser.add_argument("--evaluate-limit", type=int, default=1200, help="held-out questions of each kind at most")
    parser.add_argument("--prepare-only", action="store_true")
    parser.add_argument("--minutes", type=float, default=7, help="length of the run; the learning rate falls to 0 by then")
    parser.add_argument("--steps", type=int, help="length of the run in steps instead")
    parser.add_argument("--singles", type=int, default=144, help="questions with one passage, a step")
    parser.add_argument("--groups", type=int, default=28, help="questions with several passages, a step")
    parser.add_argument("--group", type=int, default=8, help="passages of such a question")
    parser.add_argument("--found", type=int, default=12, help="questions with the passages that Footnote found for them, a step; needs groups.jsonl.xz among the rows")
    parser.add_argument("--claims", type=int, default=96, help="claims with evidence, a step; 0 leaves the support head out")
    parser.add_argument("--width", type=int, default=320, help="tokens of a row")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--relevance", type=float, default=.3, help="weight of its loss")
    parser.add_argument("--contrast", type=float, default=.2, help="weight of telling a question from its changed form")
    parser.add_argument("--support", type=float, default=.4, help="weight of its loss")
    parser.add_argument("--average", type=pathlib.Path, nargs="*", default=[], help="weights of earlier runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--workers", type=int, default=4, help="processes that draw steps")
    return parser.parse_args(argv)


def prepared_rows(args, tokenizer, device, start):
    kept = args.cache / "prepared.pickle"
    if kept.exists():
        prepared = reader_data.Prepared.load(kept)
        log("prepared before:", len(prepared.p), "rows,", len(prepared.texts), "passages")
        return prepared
    folder = args.embedder or args.start
    path, embedder = folder / "embedder.safetensors.xz", None
    words = start[WORDS]
    if path.exists():
        tensors = reader_model.read_packed(path)
        embedder, words = embedder_of(json.loads((folder / "embedder.json").read_text()), tensors).to(device), tensors[WORDS]
    paths = [p for name in ("qa", "docs") for p in (args.rows / f"{name}.jsonl.xz", args.rows / f"{name}.jsonl") if p.exists()]
    prepared = reader_data.prepare(paths, tokenizer, embedder, words.to(device), device, args.processes, log)
    prepared.save(kept)
    log("kept", kept.stat().st_size >> 20, "MiB")
    return prepared


class Claims:
    """Rows of the support head on the device."""
    def __init__(self, folder, tokenizer, device, seed):
        path = next((p for p in (folder / "claims.jsonl.xz", folder / "claims.jsonl") if p.exists()), None)
        rows = judge_data.read_rows(path) if path else []
        self.count = len(rows)
        if rows:
            self.tables = tuple(judge_data.Table(reader_data.tokenised(tokenizer, texts, n)[0], device)
                                for texts, n in (([r["q"] for r in rows], reader_model.QUESTION_TOKENS), ([""], 1), ([r["pos"] for r in rows], 200)))
            self.labels = torch.tensor([reader_model.LABELS.index(r["label"]) for r in rows], device=device)
            self.lengths = (self.tables[0].lengths + self.tables[2].lengths + 3).cpu()
            self.random = np.random.default_rng(seed)

    def loss(self, reader, n, device):
        pick = self.random.integers(0, self.count, n)
        width = (int(self.lengths[pick].max()) + 15) // 16 * 16
        index = torch.from_numpy(pick).to(device)
        zero = torch.zeros_like(index)
        ids, kinds, valid, _ = reader_model.pack(self.tables, index, zero, index, zero, width)
        return F.cross_entropy(reader(ids, kinds, valid, DROPOUT)[2].float(), self.labels[index])


def read_step(reader, tables, step, lengths, width, device):
    """Relevance [rows], and the log-sum-exp of start and end margins [rows, 2] over the passage and over its answers or the blocks that hold them."""
    in_blocks = (step.kind == BLOCK)[step.unit]
    order = np.argsort(lengths, kind="stable")
    relevance, told, gold = [], [], []
    for part in np.array_split(order, min(CHUNKS, len(order))):
        w = min(width, (int(lengths[part].max()) + 15) // 16 * 16)
        q, q_n, h, p, first = (torch.from_numpy(v[part]).to(device, non_blocking=True) for v in (step.q, step.q_n, step.h, step.p, step.first))
        ids, kinds, valid, body = reader_model.pack(tables, q, h, p, first, w, q_n)
        scored, span, _ = reader(ids, kinds, valid, DROPOUT)
        margin = reader_model.margins(span, body)
        begin = q_n + 2 + tables[1].lengths[h]
        spans = torch.from_numpy(step.spans[part]).to(device)
        place = spans - first[:, None, None] + begin[:, None, None]
        known = (spans >= 0) & (place < w)
        at = margin.gather(1, place.clamp(0, w - 1)).masked_fill(~known, -1e4)
        every = torch.arange(w, device=device)[None, None, :]
        held = ((every >= place[:, :, :1]) & (every <= place[:, :, 1:]) & known[:, :, :1]).any(1)
        block = torch.logsumexp(margin.masked_fill(~held[..., None], -1e4), 1)
        relevance.append(scored.float()); told.append(torch.logsumexp(margin, 1))
        gold.append(torch.where(torch.from_numpy(in_blocks[part]).to(device)[:, None], block, torch.logsumexp(at, 1)))
    back = torch.from_numpy(np.argsort(order)).to(device)
    return (torch.cat(v)[back] for v in (relevance, told, gold))


def unit_matrix(step):
    """[units, max rows] row numbers of each unit, -1 for padding. Rows of a unit are adjacent."""
    count = np.bincount(step.unit, minlength=len(step.kind))
    first = np.cumsum(count) - count
    place = np.arange(count.max())[None, :]
    return np.where(place < count[:, None], first[:, None] + place, -1)


def losses(step, relevance, told, gold, device):
    """One softmax per unit over all its passages and "none", for start and end; the contrast of questions and their changed forms; relevance."""
    rows = torch.from_numpy(unit_matrix(step)).to(device)
    real, kind = rows >= 0, torch.from_numpy(step.kind).to(device)
    over = lambda values: values[rows.clamp(min=0)].masked_fill(~real[..., None], -1e4)
    right = torch.from_numpy(step.right).to(device)
    target = torch.where(((kind == SPAN) | (kind == BLOCK))[torch.from_numpy(step.unit).to(device), None], gold, told).masked_fill(~right[:, None], -1e4)
    everything = torch.logsumexp(F.pad(over(told), (0, 0, 0, 1)), 1)                 # the padded row is "none", whose margin is 0
    aim = torch.where((kind == NONE)[:, None], 0.0, torch.logsumexp(over(target), 1))
    weight = 1 + (GROUP_WEIGHT - 1) * (real.sum(1) > 1)
    reading = ((everything - aim).clamp(max=30).mean(1) * weight).sum() / weight.sum()
    twin = torch.from_numpy(step.twin).to(device)
    strength = torch.logsumexp(over(told), 1).sum(1)
    pairs = twin >= 0
    contrast = (F.softplus(strength - strength[twin.clamp(min=0)]) * pairs).sum() / pairs.sum().clamp(min=1)
    listed = torch.from_numpy(step.listed).to(device)
    score = relevance[rows.clamp(min=0)].masked_fill(~real, -1e4)
    label = (right[rows.clamp(min=0)] & real).float()
    listwise = torch.where(label.any(1), torch.logsumexp(score, 1) - torch.logsumexp(score.masked_fill(label == 0, -1e4), 1), 0)
    point = (F.binary_cross_entropy_with_logits(score.clamp(-30, 30), label, reduction="none") * real).sum(1) / real.sum(1)
    ranking = ((listwise + POINTWISE * point) * listed).sum() / listed.sum().clamp(min=1)
    return reading, contrast, ranking


def train(args, reader, prepared, tables, claims, device, watch=None):
    """One run; `watch` is called at every quarter of it."""
    trained = [p for p in reader.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW([{"params": [p for p in trained if p.ndim > 1], "weight_decay": .01}, {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0}],
                                  lr=args.rate, betas=(.9, .98), fused=device.type == "cuda")
    q_n, h_n, p_n = (t.lengths.cpu().numpy() for t in tables)
    supply = reader_units.steps(prepared, args.width, args.group, (args.singles, args.groups, args.found), args.seed, args.workers)
    step_at, sums, begun, quarter = 0, torch.zeros(4, device=device), None, 1
    reader.train()
    for step in supply:
        begun = begun or time.time()
        progress = step_at / args.steps if args.steps else (time.time() - begun) / (60 * args.minutes)
        if progress >= 1:
            break
        if watch and progress >= quarter / 4:
            quarter += 1
            watch(reader.eval())
            reader.train()
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, progress / WARMUP + .01) * (1 - progress)
        lengths = np.minimum(args.width, step.q_n + h_n[step.h] + p_n[step.p] - step.first + 3)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            relevance, told, gold = read_step(reader, tables, step, lengths, args.width, device)
            support = claims.loss(reader, args.claims, device) if args.claims and claims.count else torch.zeros((), device=device)
        reading, contrast, ranking = losses(step, relevance, told, gold, device)
        loss = reading + args.contrast * contrast + args.relevance * ranking + args.support * support
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        sums += torch.stack([reading, contrast, ranking, support]).detach()
        step_at += 1
        if step_at % 200 == 0:
            speed = step_at / (time.time() - begun)
            log(step_at, f"{speed:.2f} steps/s", int(lengths.sum()), "tokens", dict(zip(("reading", "contrast", "ranking", "support"), [round(v, 4) for v in (sums / 200).tolist()])))
            sums.zero_()
    supply.close()
    reader.eval()
    return step_at


def figures_of(args, reader, prepared, tables, tokenizer, device, whole=True):
    """All measurements, including the calibration."""
    figures = {}
    if args.evaluate:
        figures["squad2"] = reader_eval.measure_reading(reader, tokenizer, args.evaluate, device, args.width)
        log("squad2", figures["squad2"])
    if args.dev:
        figures["found"] = reader_eval.measure_found(reader, tokenizer, judge_data.read_rows(args.dev), device, args.width)
        log("found", figures["found"])
    if not whole:
        return figures
    groups, rows = reader_eval.measure_groups(reader, prepared, tables, args.width, args.evaluate_limit)
    figures |= {"groups": groups, "calibration": reader_eval.calibrate(rows, platt)}
    log("groups", json.dumps(groups)); log("calibration", figures["calibration"])
    figures["sections"] = reader_eval.measure_sections(reader, prepared, tables, tokenizer, args.width, args.evaluate_limit)
    log("sections", figures["sections"])
    if args.evaluate:
        figures["squad-dev"] = reader_eval.measure_retrieval(reader, tokenizer, args.evaluate, device, args.width)
        figures["support"] = reader_eval.measure_support(reader, tokenizer, args.evaluate, device, args.width)
        log("squad-dev", figures["squad-dev"]); log("support", json.dumps(figures["support"]))
    return figures


def finish(args, state, shape, prepared, tables, tokenizer, device, name, run):
    """Writes the weights of a run in shipped precision, then evaluates them."""
    folder = args.out / name
    folder.mkdir(parents=True, exist_ok=True)
    shipped = reader_model.shipped_tensors(state)
    reader_files.write_parts(shipped, folder)
    reader = reader_model.built(shape, shipped, device)
    log("wrote", name)
    figures = figures_of(args, reader, prepared, tables, tokenizer, device)
    reader_files.write_config(folder, shape, figures.get("calibration", {}), args.width, run)
    (folder / reader_files.FIGURES).write_text(json.dumps(figures, indent=1) + "\n")


def main(argv=None):
    args = arguments(argv)
    random.seed(args.seed); np.random.seed(args.seed); torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    args.out.mkdir(parents=True, exist_ok=True)
    if args.resume:
        start, shape = reader_files.shipped(args.resume)
    else:
        start = reader_model.read_packed(args.start / "start.safetensors.xz")
        shape = json.loads((args.start / "start.json").read_text())
    tokenizer = Tokenizer.from_file(str((args.embedder or args.start) / "tokenizer.json"))
    tokenizer.no_padding(); tokenizer.no_truncation()
    log("start", device, sum(v.numel() for v in start.values()), "numbers")
    prepared = prepared_rows(args, tokenizer, device, start)
    if args.prepare_only:
        return
    found = args.rows / "groups.jsonl.xz"
    if found.exists():
        reader_data.add_groups(prepared, judge_data.read_rows(found), tokenizer)
        log("groups", len(prepared.groups), "answered", sum(g.right.any() for g in prepared.groups))
    tables = prepared.tables(device)
    claims = Claims(args.rows, tokenizer, device, args.seed)
    if args.resume:
        reader = reader_model.Reader(shape)
        reader.load_state_dict(start)
        reader.to(device)
    else:
        reader = reader_model.reader_to_train(shape, start).to(device)
    begun = time.time()
    steps = train(args, reader, prepared, tables, claims, device, lambda r: figures_of(args, r, prepared, tables, tokenizer, device, whole=False))
    log("trained", steps, "steps")
    run = {k: getattr(args, k) for k in ("singles", "groups", "group", "found", "claims", "width", "rate", "relevance", "contrast", "support", "seed")}
    run |= {"steps": steps, "minutes": round((time.time() - begun) / 60, 2), "rows": len(prepared.p), "passages": len(prepared.texts)}
    state = {k: v.detach().float().cpu() for k, v in reader.state_dict().items()}
    args.cache.mkdir(parents=True, exist_ok=True)
    torch.save(state, args.cache / f"run{args.seed}.pt")                              # unrounded, for averaging
    finish(args, state, shape, prepared, tables, tokenizer, device, f"run{args.seed}", run)
    if args.average:
        earlier = [torch.load(path, weights_only=True) for path in args.average]
        finish(args, reader_model.average(earlier + [state]), shape, prepared, tables, tokenizer, device, "average", run | {"averaged": 1 + len(earlier)})
    log("done")


if __name__ == "__main__":
    main()

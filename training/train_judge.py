"""Trains the judge, from data to weights:

    python training/train_judge.py --data DATA --model .deps/models/all-MiniLM-L6-v2 --out models/judge \\
        --drop-held-out [--evaluate DIR]

README.md beside this file says what it does and why. The same seed, data and machine give the same draws.
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

import held_out
import judge_data as data
import judge_eval
import judge_files
from judge_model import WORDS, best_spans, embedder_of, judge_of, read_base, save_tensors, shipped_tensors

START = time.time()
DROPOUT, WARMUP_STEPS, CLIP = .1, 150, 1.0
PRIOR_TEMPERATURE = .05
RUNS = "2400@192,2200@256"
PSEUDO_SOURCE, PSEUDO_CHANCE, PSEUDO_WEIGHT = "squad_train_nqg", .4, 1.0


def log(*what):
    print(f"[{time.time() - START:6.1f}s]", *what, flush=True)


def arguments(argv=None):
    parser = argparse.ArgumentParser(description="Train the judge.")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with pairs.jsonl[.xz] and reader.jsonl[.xz]")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder of the embedder to start from")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where weights, configuration and figures go")
    parser.add_argument("--evaluate", type=pathlib.Path, help="folder of the development sets, to measure at the end")
    parser.add_argument("--evaluate-limit", type=int, help="questions of each set at most")
    parser.add_argument("--runs", default=RUNS, help="steps@tokens of each run, between commas; the weights of all runs are averaged")
    parser.add_argument("--keep-runs", action="store_true", help="write the weights of each run too, as soon as it ends")
    parser.add_argument("--groups", type=int, default=56, help="questions with 8 passages each, a step")
    parser.add_argument("--spans", type=int, default=112, help="span examples, a step")
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--smoothing", type=float, default=.4, help="share of the embedder's opinion in the target")
    parser.add_argument("--span-weight", type=float, default=.5)
    parser.add_argument("--self-train-at", type=float, default=.4, help="when, in the first run, its own spans join the examples; 1 for never")
    parser.add_argument("--no-corrupted", action="store_true", help="ablation: no changed questions or passages")
    parser.add_argument("--no-hard", action="store_true", help="ablation: wrong passages by chance alone")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--held-out", type=pathlib.Path, default=held_out.LIST)
    parser.add_argument("--drop-held-out", action="store_true", help="drop rows of the development sets instead of refusing")
    parser.add_argument("--compile", action="store_true", help="compile the model first: worth it for long runs on a GPU")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--cache", type=pathlib.Path, help="file that keeps the mined passages for the next run with the same data")
    return parser.parse_args(argv)


def read_guarded(path, known, drop):
    found = next((p for p in (path.with_suffix(".jsonl.xz"), path.with_suffix(".jsonl")) if p.exists()), None)
    if found is None:
        raise FileNotFoundError(f"{path}.jsonl.xz is missing")
    rows, dropped = held_out.guard(data.read_rows(found), known, drop)
    log(found.name, len(rows), "rows,", dropped, "dropped as held out")
    return rows


class Prepared:
    """All that training draws from."""


def mined(args, pairs, passages, right, q_vectors, p_vectors, keys):
    key = f"{len(pairs)}-{len(passages)}-{args.seed}"
    if args.cache and args.cache.exists():
        kept = np.load(args.cache)
        if str(kept["key"]) == key:
            return kept["wrong"]
    terms = data.all_terms([r["q"] for r in pairs] + passages, args.processes)
    log("analysed")
    depth = min(data.MINED, len(passages) - 1)
    wrong = data.mine(terms[:len(pairs)], terms[len(pairs):], right, q_vectors, p_vectors, keys, depth)
    if args.cache:
        np.savez(args.cache, wrong=wrong, key=key)
    return wrong


def prepare(args, tokenizer, embedder, word_table, device):
    known = held_out.read_list(args.held_out)
    pairs, reader = (read_guarded(args.data / name, known, args.drop_held_out) for name in ("pairs", "reader"))
    rng = random.Random(args.seed)
    rng.shuffle(pairs); rng.shuffle(reader)
    out = Prepared()
    out.calibration = [r for r in pairs if data.for_calibration(r["pos"]) and r["src"] in data.HUMAN]
    out.calibration_reader = [r for r in reader if data.for_calibration(r["context"])]
    every = [r["pos"] for r in pairs]
    pairs = [r for r in pairs if not data.for_calibration(r["pos"])]
    reader = [r for r in reader if not data.for_calibration(r["context"])]
    at = {}
    for r in pairs:
        at.setdefault(r["pos"], len(at))
    right, passages = np.array([at[r["pos"]] for r in pairs]), list(at)
    out.questions = data.Table(data.tokenise(tokenizer, [r["q"] for r in pairs], data.QUESTION_TOKENS), device)
    out.passages = data.Table(data.tokenise(tokenizer, passages, data.PASSAGE_TOKENS), device)
    log(len(pairs), "pairs", len(passages), "passages", len(reader), "reader rows;", len(out.calibration), "+", len(out.calibration_reader), "for calibration of", len(every))
    q_vectors, p_vectors = data.embed(embedder, out.questions), data.embed(embedder, out.passages)
    log("embedded")
    keys = np.array([data.passage_key(p) for p in passages])
    wrong = mined(args, pairs, passages, right, q_vectors, p_vectors, keys)
    log("mined")
    weight = [data.pair_weight(r) for r in pairs]
    out.pairs = data.PairSampler(out.questions, out.passages, right, wrong, weight, q_vectors, p_vectors)
    out.neighbours = data.neighbour_words(tokenizer, word_table, device)
    _, offsets = data.tokenise(tokenizer, [r["context"] for r in reader], data.PASSAGE_TOKENS, True)
    asked = data.embed(embedder, data.Table(data.tokenise(tokenizer, [r["q"] for r in reader], data.QUESTION_TOKENS), device))
    near = (asked @ p_vectors.T).topk(min(20, len(passages))).indices.cpu().tolist()
    out.reader, out.reader_offsets, out.reader_near = reader, offsets, [[passages[j] for j in row] for row in near]
    out.pseudo = [(i, pairs[i], passages[right[i]], [passages[j] for j in wrong[i, 0, :6]]) for i in range(len(pairs)) if pairs[i]["src"] == PSEUDO_SOURCE]
    out.passage_texts, out.centre = passages, mean_token(embedder, out.passages)
    out.passage_vectors, out.embedder = p_vectors, embedder
    return out


def prepare_spans(args, prepared, tokenizer, device):
    """The examples of the span head, and which wrong passages pairs draw: what ablations change."""
    prepared.rng = random.Random(args.seed)
    prepared.pairs.hard = not args.no_hard
    prepared.examples = data.span_examples(prepared.reader, prepared.reader_offsets, prepared.reader_near, prepared.neighbours, prepared.rng,
                                           not args.no_corrupted, not args.no_hard)
    prepared.spans = data.SpanSampler(prepared.examples, tokenizer, device)
    log("span examples", dict(prepared.spans.counts))


def mean_token(embedder, table, texts=4096):
    """The mean token vector that late interaction is centred by."""
    total, count = 0, 0
    for part in torch.arange(min(texts, len(table)), device=table.flat.device).split(256):
        x, valid = data.token_vectors(embedder, table, part)
        total, count = total + x[valid].double().sum(0), count + valid.sum()
    return (total / count).float()


@torch.no_grad()
def add_pseudo(judge, prepared, tokenizer, device, args):
    """Questions with a right passage but no marked answer: where the judge is sure of a span, that span becomes one."""
    rows = prepared.pseudo
    if not rows:
        return
    judge.eval()
    q = torch.tensor([r[0] for r in rows], device=device)
    p = prepared.pairs.right[q]
    kept = 0
    _, offsets = data.tokenise(tokenizer, [r[2] for r in rows], data.PASSAGE_TOKENS, True)
    for part in torch.arange(len(rows), device=device).split(512):
        ids, kinds, valid, shift = data.pack(prepared.questions, prepared.passages, q[part], p[part])
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            span = judge(ids, kinds, valid)[1].float().masked_fill(~valid[..., None], -1e4)
        best, none, first, last = best_spans(span, kinds, valid)
        chance = (best - torch.logsumexp(span[..., 0], 1) - torch.logsumexp(span[..., 1], 1)).exp()
        for i, a, b, sure in zip(part.tolist(), (first - shift).tolist(), (last - shift).tolist(), (chance > PSEUDO_CHANCE).tolist()):
            if not sure or b - a > 12:
                continue
            _, row, passage, near = rows[i]
            answer = passage[offsets[i][a][0]:offsets[i][b][1]]
            if not answer.strip():
                continue
            kept += 1
            prepared.examples.add("answer", row["q"], passage, a, b, PSEUDO_WEIGHT)
            wrong = [n for n in near if answer.lower() not in n.lower()]
            data.unanswered(prepared.examples, {"q": row["q"], "context": passage, "answers": [{"text": answer}]}, wrong[:4] if not args.no_hard else [],
                            prepared.neighbours, prepared.rng, PSEUDO_WEIGHT, ("number", "word", "negation", "type"), not args.no_corrupted)
    prepared.spans = data.SpanSampler(prepared.examples, tokenizer, device)
    log("own spans added:", kept, "of", len(rows), dict(prepared.spans.counts))


def losses(relevance, span, span_valid, prior, marks, smoothing):
    relevance = relevance.float().view(-1, data.GROUP)
    label = torch.zeros_like(relevance)
    label[:, 0] = 1
    target = (1 - smoothing) * label + smoothing * F.softmax(prior / PRIOR_TEMPERATURE, -1)
    listwise = F.cross_entropy(relevance, target)
    pointwise = F.binary_cross_entropy_with_logits(relevance, label, pos_weight=torch.tensor(3.0, device=relevance.device))
    span = span.float().masked_fill(~span_valid[..., None], -1e4)
    spans = F.cross_entropy(span[..., 0], marks[:, 0]) + F.cross_entropy(span[..., 1], marks[:, 1])
    return listwise, pointwise, spans, (relevance.argmax(1) == 0).float().mean()


def train(args, judge, prepared, tokenizer, device, steps, width, seed, teacher=None):
    """One run. Spans that the judge itself is sure of join the examples on the way, or at once where a teacher finds them."""
    if teacher is not None:
        add_pseudo(teacher, prepared, tokenizer, device, args)
    trained = [p for p in judge.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW([{"params": [p for p in trained if p.ndim > 1], "weight_decay": .01},
                                   {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0}], lr=args.rate, fused=device.type == "cuda")
    generator = torch.Generator(device).manual_seed(seed)
    model = torch.compile(judge) if args.compile else judge
    judge.train()
    begun, sums = time.time(), torch.zeros(4, device=device)
    for step in range(steps):
        if teacher is None and step == int(args.self_train_at * steps):
            add_pseudo(judge, prepared, tokenizer, device, args)
            judge.train()
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / WARMUP_STEPS) * (1 - step / steps)
        pair_rows, prior = prepared.pairs.draw(args.groups, generator, width)
        *span_rows, marks = prepared.spans.draw(args.spans, generator, width)
        ids, kinds, valid = (torch.cat(parts) for parts in zip(pair_rows, span_rows))
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            relevance, span = model(ids, kinds, valid, DROPOUT)
        cut = args.groups * data.GROUP
        listwise, pointwise, spans, first = losses(relevance[:cut], span[cut:], valid[cut:], prior, marks, args.smoothing)
        loss = listwise + .5 * pointwise + args.span_weight * spans
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        sums += torch.stack([listwise, pointwise, spans, first]).detach()
        if (step + 1) % 250 == 0 or step + 1 == steps:
            n = (step % 250) + 1
            log(step + 1, f"{(step + 1) / (time.time() - begun):.2f} steps/s", dict(zip(("list", "point", "span", "first"), (sums / n).tolist())))
            sums.zero_()
    judge.eval()


def platt(scores, labels, rounds=50):
    """a and b of 1 / (1 + exp(-(a * score + b))), by Newton's method."""
    x = np.stack([np.asarray(scores, np.float64), np.ones(len(scores))], 1)
    y = np.asarray(labels, np.float64)
    y = np.where(y > .5, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))        # Platt's targets
    w = np.zeros(2)
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2), x.T @ (p - y))
        w -= step
        if np.abs(step).max() < 1e-9:
            break
    return [round(float(v), 5) for v in w]


def calibrate(judge, prepared, tokenizer, device, limit=1500):
    """Platt's two numbers for relevance and for the span margin, on questions that were kept out of training."""
    rows, reader = prepared.calibration[:limit], prepared.calibration_reader[:limit]
    out = {}
    texts = lambda values, n: data.Table(data.tokenise(tokenizer, values, n), device)
    if rows:
        questions, rights = texts([r["q"] for r in rows], data.QUESTION_TOKENS), texts([r["pos"] for r in rows], data.PASSAGE_TOKENS)
        every = np.arange(len(rows))
        cosines = data.embed(prepared.embedder, questions) @ prepared.passage_vectors.T
        own = (data.embed(prepared.embedder, questions) * data.embed(prepared.embedder, rights)).sum(1, keepdim=True)
        depth = min(17, len(prepared.passage_texts) - 1)
        near = cosines.masked_fill(cosines > .95 * own.clamp(min=.2), -9).topk(depth).indices.cpu().numpy()
        right = judge_eval.judge_pairs(judge, questions, rights, every, every, 0 * every, judge_eval.WINDOW)
        wrong = judge_eval.judge_pairs(judge, questions, prepared.passages, every.repeat(depth), near.flatten(), np.zeros(near.size, np.int64), judge_eval.WINDOW)
        scores, labels = np.r_[right[:, 0], wrong[:, 0]], np.r_[np.ones(len(right)), np.zeros(len(wrong))]
        out["relevance"] = dict(zip("ab", platt(scores, labels)), questions=len(rows), auc=round(judge_eval.auc(scores, labels), 4))
    labels = [bool(r["answers"]) for r in reader]
    if any(labels):
        rng = random.Random(1)
        answered = [r for r in reader if r["answers"]]
        asked = [r["q"] for r in reader] + [r["q"] for r in answered]
        shown = [r["context"] for r in reader] + [rng.choice(answered)["context"] for _ in answered]
        for r in answered:
            changed = data.corrupt.corrupted(r["q"], r["context"], r["answers"][0]["text"], prepared.neighbours, rng)
            if changed:
                asked.append(changed[0]); shown.append(r["context"])
        labels += [False] * (len(asked) - len(labels))
        every = np.arange(len(asked))
        got = judge_eval.judge_windows(judge, texts(asked, data.QUESTION_TOKENS), texts(shown, 1000), every, every)
        out["answer"] = dict(zip("ab", platt(got[:, 1], labels)), rows=len(asked), auc=round(judge_eval.auc(got[:, 1], labels), 4))
    return out


def evaluate(args, judge, runs, prepared, tokenizer, device):
    """Figures of the judge, and of each run before they were averaged."""
    limit = args.evaluate_limit
    figures = {"runs": []}
    figures["reading"], raw = judge_eval.measure_reading(judge, tokenizer, args.evaluate, device, limit)
    figures["grounding"], more = judge_eval.measure_grounding(judge, tokenizer, prepared.embedder, args.evaluate, device, limit)
    sets = judge_eval.retrieve_sets(tokenizer, prepared.embedder, prepared.centre, args.evaluate, limit)
    figures["ranking"] = judge_eval.measure_ranking(judge, sets)
    for run in runs if len(runs) > 1 else []:
        log("one run alone")
        alone = {"reading": judge_eval.measure_reading(run, tokenizer, args.evaluate, device, limit)[0], "ranking": judge_eval.measure_ranking(run, sets),
                 "grounding": judge_eval.measure_grounding(run, tokenizer, prepared.embedder, args.evaluate, device, limit)[0]}
        figures["runs"].append(alone)
    (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    figures["refusal"], gate = judge_eval.measure_refusal(judge, sets, args.evaluate, limit or 300)
    np.savez_compressed(args.out / "scores.npz", **raw, **more, **gate)
    return figures


def start(args):
    """Seeds everything; device, shape and tensors of the embedder, tokenizer."""
    random.seed(args.seed); np.random.seed(args.seed); torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    args.out.mkdir(parents=True, exist_ok=True)
    shape, tensors = read_base(args.model)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_padding(); tokenizer.no_truncation()
    return device, shape, tensors, tokenizer


def average(tensors):
    """The mean of the weights of runs from one start."""
    return {k: sum(t[k].float() for t in tensors) / len(tensors) for k in tensors[0]}


def trained_judges(args, prepared, shape, tensors, tokenizer, device):
    """The tensors of each run. All start from the same numbers and differ in what they draw; from the second on, the
    first run finds the spans that are added."""
    out = []
    for i, run in enumerate(args.runs.split(",")):
        steps, width = map(int, run.split("@"))
        torch.manual_seed(args.seed)
        judge = judge_of(shape, tensors).to(device)
        prepare_spans(args, prepared, tokenizer, device)
        teacher = built(shape, tensors, out[0], device) if out and args.self_train_at < 1 else None
        train(args, judge, prepared, tokenizer, device, steps, width, args.seed + i, teacher)
        out.append(shipped_tensors(judge))
        if args.keep_runs:
            save_tensors(out[-1], args.out / f"run{i}.safetensors")
    return out


def built(shape, tensors, trained, device):
    """The judge that these tensors make, rounded as it ships."""
    return judge_of(shape, tensors, {k: v.half().float() for k, v in trained.items()}).to(device).eval()


def main(argv=None):
    args = arguments(argv)
    device, shape, tensors, tokenizer = start(args)
    embedder = embedder_of(shape, tensors).to(device)
    prepared = prepare(args, tokenizer, embedder, tensors[WORDS].to(device), device)
    begun = time.time()
    runs = trained_judges(args, prepared, shape, tensors, tokenizer, device)
    weights = {k: v.half() for k, v in average(runs).items()}
    judge = built(shape, tensors, weights, device)
    minutes = round((time.time() - begun) / 60, 2)
    save_tensors(weights, args.out / judge_files.WEIGHTS)
    calibration = calibrate(judge, prepared, tokenizer, device)
    log("calibrated", calibration)
    hidden = ("data", "model", "out", "evaluate", "evaluate_limit", "cache", "held_out", "processes", "keep_runs")
    judge_files.write_config(args.out, shape, calibration, {k: v for k, v in vars(args).items() if k not in hidden} | {"minutes": minutes})
    if args.evaluate:
        figures = evaluate(args, judge, [built(shape, tensors, r, device) for r in runs], prepared, tokenizer, device)
        (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    judge_files.write_sums(args.out)
    log("done")


if __name__ == "__main__":
    main()

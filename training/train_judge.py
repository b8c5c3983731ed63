"""Trains the judge, from data to weights:

    python training/train_judge.py --data DATA --model .deps/models/all-MiniLM-L6-v2 --out models/judge \\
        --drop-held-out [--evaluate DIR]

README.md in this folder explains the method. The same seed, data and machine give the same samples.
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
from safetensors.torch import load_file
from tokenizers import Tokenizer

import answerability
import cloze
import corrupt
import held_out
import judge_data as data
import judge_eval
import judge_files
from judge_model import WORDS, best_spans, embedder_of, inside_passage, judge_of, read_base, save_tensors, shipped_tensors

START = time.time()
DROPOUT, WARMUP_STEPS, CLIP = .1, 150, 1.0
PRIOR_TEMPERATURE = .05
RUNS = "2000@192,1900@256,2000@192"
UNMARKED = "squad_train_nqg"    # the source whose questions have a right passage, but no marked answer
SOFT_POWER = 1.5                # exponent that sharpens a teacher's probabilities
SURE_LEAST = .25                # weight of a question whose span the teacher does not know


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
    parser.add_argument("--spans", type=int, default=144, help="span examples, a step")
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--smoothing", type=float, default=.4, help="share of the embedder's opinion in the target")
    parser.add_argument("--span-weight", type=float, default=.5)
    parser.add_argument("--contrast", type=float, default=.5, help="weight of telling a question from its changed form")
    parser.add_argument("--clozes", type=int, default=60000, help="passages whose own sentences become questions, at most")
    parser.add_argument("--teacher", type=pathlib.Path, help="weights of an earlier judge, which finds the spans of unmarked questions; otherwise the first run does")
    parser.add_argument("--self-train-at", type=float, default=.4, help="when, in the first run without a teacher, its own spans join the examples; 1 for never")
    parser.add_argument("--kinds", default=",".join(corrupt.KINDS), help="ablation: ways in which questions are changed")
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
    """All data that training samples from."""


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
    out.made = {}
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
    out.unmarked = [(i, pairs[i]["q"], passages[right[i]], [passages[j] for j in wrong[i, 0, :12]]) for i in range(len(pairs)) if pairs[i]["src"] == UNMARKED]
    prose = list(dict.fromkeys(r["pos"] for r in pairs if r["src"].startswith(data.CLOZE_SOURCES)))
    out.prose = prose[:args.clozes]
    out.passage_texts, out.centre = passages, mean_token(embedder, out.passages)
    out.passage_vectors, out.embedder = p_vectors, embedder
    return out


def changed_forms(args, prepared, name, tasks):
    """corrupt.unanswered of many rows; cached, because several runs need the same."""
    key = (name, args.kinds, args.no_corrupted)
    if key not in prepared.made:
        kinds, count = tuple(args.kinds.split(",")), 0 if args.no_corrupted else data.CORRUPTED_PER_ROW
        known = lambda row: tuple(k for k in kinds if k in corrupt.NAMELESS) if row[1].islower() else kinds
        made = corrupt.unanswered_all([(*row, known(row), count) for row in tasks], prepared.neighbours, args.processes, args.seed)
        prepared.made[key] = [(changed, None) for changed, _ in made] if args.no_corrupted else made
        log("changed forms of", name, sum(len(changed) for changed, _ in made))
    return prepared.made[key]


def prepare_spans(args, prepared, tokenizer, device):
    """The examples of the span head, and the wrong passages for pairs; ablations change these."""
    prepared.pairs.hard = not args.no_hard
    examples, reader = data.SpanExamples(), prepared.reader
    told = [[a["text"] for a in r["answers"]] or ["\0"] for r in reader]
    made = changed_forms(args, prepared, "reader", [(r["q"], r["context"], t) for r, t in zip(reader, told)])
    data.add_reader(examples, reader, prepared.reader_offsets, prepared.reader_near, made, not args.no_hard)
    if args.clozes and prepared.prose:
        add_clozes(args, prepared, examples, tokenizer)
    prepared.examples = examples
    prepared.spans = data.SpanSampler(examples, tokenizer, device)
    log("span examples", dict(prepared.spans.counts))


def add_clozes(args, prepared, examples, tokenizer):
    if "clozes" not in prepared.made:
        made = cloze.all_clozes(prepared.prose, args.processes, args.seed)
        prepared.made["clozes"] = [(passage, *c) for passage, found in zip(prepared.prose, made) for c in found]
        _, prepared.prose_offsets = data.tokenise(tokenizer, [passage for passage, *_ in prepared.made["clozes"]], data.PASSAGE_TOKENS, True)
        log("clozes", len(prepared.made["clozes"]))
    rows = prepared.made["clozes"]
    made = changed_forms(args, prepared, "clozes", [(question, passage, [passage[a:b]]) for passage, question, a, b in rows])
    for (passage, question, a, b), places, (changed, _) in zip(rows, prepared.prose_offsets, made):
        span = data.answer_tokens(places, {"start": a, "text": passage[a:b]})
        if span:
            examples.add_answered(question, passage, [span], data.CLOZE_WEIGHT, (changed[:3], None))


def mean_token(embedder, table, texts=4096):
    """The mean token vector, the centre for late interaction."""
    total, count = 0, 0
    for part in torch.arange(min(texts, len(table)), device=table.flat.device).split(256):
        x, valid = data.token_vectors(embedder, table, part)
        total, count = total + x[valid].double().sum(0), count + valid.sum()
    return (total / count).float()


@torch.no_grad()
def taught_spans(judges, prepared, device):
    """The judges' predictions for questions without marked answers: probabilities of start and end over the
    passage [rows, PASSAGE_TOKENS, 2], first and last token of the best span, and its probability."""
    rows = prepared.unmarked
    q = torch.tensor([r[0] for r in rows], device=device)
    p = prepared.pairs.right[q]
    soft, best_of = torch.zeros(len(rows), data.PASSAGE_TOKENS, 2, dtype=torch.half, device=device), torch.zeros(len(rows), 3, device=device)
    for part in torch.arange(len(rows), device=device).split(512):
        ids, kinds, valid, shift = data.pack(prepared.questions, prepared.passages, q[part], p[part], width=judge_eval.WHOLE)
        inside, logits = inside_passage(kinds, valid)[..., None], 0
        for judge in judges:
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                span = judge.eval()(ids, kinds, valid)[1].float()
            logits = logits + F.log_softmax(span.masked_fill(~inside, -1e4), 1) / len(judges)
        told = F.softmax(SOFT_POWER * logits, 1)
        place = shift[:, None] + torch.arange(data.PASSAGE_TOKENS, device=device)
        ok = (place < told.shape[1])[..., None]
        soft[part] = (told.gather(1, place.clamp(max=told.shape[1] - 1)[..., None].expand(-1, -1, 2)) * ok).half()
        best, _, first, last = best_spans(logits, kinds, valid)
        best_of[part] = torch.stack([first - shift, last - shift, best.exp()], 1).float()
    return soft, best_of.tolist()


def add_taught(judges, prepared, tokenizer, device, args):
    """Adds the questions without marked answers to the examples, with the spans that judges find."""
    rows = prepared.unmarked
    if not rows:
        return
    soft, best = taught_spans(judges, prepared, device)
    _, offsets = data.tokenise(tokenizer, [r[2] for r in rows], data.PASSAGE_TOKENS, True)
    answers = [passage[places[int(a)][0]:places[int(b)][1]] for (_, _, passage, _), places, (a, b, _) in zip(rows, offsets, best)]
    prepared.made = {k: v for k, v in prepared.made.items() if k[0] != "unmarked"}         # the answers depend on the teachers
    made = changed_forms(args, prepared, "unmarked", [(q, passage, [answer or "\0"]) for (_, q, passage, _), answer in zip(rows, answers)])
    for i, ((_, question, passage, near), answer, (first, last, sure), changed) in enumerate(zip(rows, answers, best, made)):
        if answer.strip():
            wrong = [] if args.no_hard else data.without(near, [answer], passage)
            prepared.examples.add_answered(question, passage, [(int(first), int(last))], max(SURE_LEAST, sure), changed, wrong, soft=i)
    prepared.spans = data.SpanSampler(prepared.examples, tokenizer, device, soft)
    log("taught spans:", len(rows), "mean sureness", round(sum(b[2] for b in best) / len(best), 3), dict(prepared.spans.counts))


def span_losses(span, kinds, valid, target, answered, has):
    """Cross-entropy of start and end; and the contrast loss between questions and their changed forms on the same passage."""
    span = span.float().masked_fill(~valid[..., None], -1e4)
    reading = -(target * F.log_softmax(span, 1)).sum((1, 2)).mean()
    inside = span.masked_fill(~inside_passage(kinds, valid)[..., None], -1e4)
    margin = (torch.logsumexp(inside, 1) - span[:, 0]).sum(1)
    contrast = (F.softplus(margin[answered:answered + len(has)] - margin[:len(has)]) * has).sum() / has.sum().clamp(min=1)
    return reading, contrast


def pair_losses(relevance, prior, smoothing):
    relevance = relevance.float().view(-1, data.GROUP)
    label = torch.zeros_like(relevance)
    label[:, 0] = 1
    target = (1 - smoothing) * label + smoothing * F.softmax(prior / PRIOR_TEMPERATURE, -1)
    listwise = F.cross_entropy(relevance, target)
    pointwise = F.binary_cross_entropy_with_logits(relevance, label, pos_weight=torch.tensor(3.0, device=relevance.device))
    return listwise, pointwise, (relevance.argmax(1) == 0).float().mean()


def train(args, judge, prepared, tokenizer, device, steps, width, seed, taught):
    """One run. If no teacher has found the spans of unmarked questions, the judge does so during the run."""
    trained = [p for p in judge.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW([{"params": [p for p in trained if p.ndim > 1], "weight_decay": .01},
                                   {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0}], lr=args.rate, fused=device.type == "cuda")
    generator = torch.Generator(device).manual_seed(seed)
    model = torch.compile(judge, dynamic=False) if args.compile else judge
    judge.train()
    begun, sums = time.time(), torch.zeros(5, device=device)
    for step in range(steps):
        if not taught and step == int(args.self_train_at * steps):
            add_taught([judge], prepared, tokenizer, device, args)
            judge.train()
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / WARMUP_STEPS) * (1 - step / steps)
        pair_rows, prior = prepared.pairs.draw(args.groups, generator, width)
        span_rows, target, answered, has = prepared.spans.draw(args.spans, generator, width)
        ids, kinds, valid = (torch.cat(parts) for parts in zip(pair_rows, span_rows))
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            relevance, span = model(ids, kinds, valid, DROPOUT)
        cut = args.groups * data.GROUP
        listwise, pointwise, first = pair_losses(relevance[:cut], prior, args.smoothing)
        spans, contrast = span_losses(span[cut:], kinds[cut:], valid[cut:], target, answered, has)
        loss = listwise + .5 * pointwise + args.span_weight * (spans + args.contrast * contrast)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        sums += torch.stack([listwise, pointwise, spans, contrast, first]).detach()
        if (step + 1) % 250 == 0 or step + 1 == steps:
            n = (step % 250) + 1
            log(step + 1, f"{(step + 1) / (time.time() - begun):.2f} steps/s", dict(zip(("list", "point", "span", "contrast", "first"), [round(v, 4) for v in (sums / n).tolist()])))
            sums.zero_()
    judge.eval()


def platt(labels, *scores, rounds=50):
    """The weights and then b of 1 / (1 + exp(-(sum of weight * score + b))), by Newton's method."""
    x = np.stack([np.asarray(s, np.float64) for s in scores] + [np.ones(len(labels))], 1)
    y = np.asarray(labels, np.float64)
    y = np.where(y > .5, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))        # Platt's targets
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(len(w)), x.T @ (p - y))
        w -= step
        if np.abs(step).max() < 1e-9:
            break
    return [round(float(v), 5) for v in w]


def calibrate(judge, prepared, tokenizer, device, limit=1500):
    """Platt's two numbers for relevance and for the span margin, on questions that were excluded from training."""
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
        out["relevance"] = dict(zip("ab", platt(labels, scores)), questions=len(rows), auc=round(judge_eval.auc(scores, labels), 4))
    asked, shown, labels, kinds = answer_rows(prepared, reader, rows)
    if any(labels):
        questions, passages, every = texts(asked, data.QUESTION_TOKENS), texts(shown, 1000), np.arange(len(asked))
        got = judge_eval.judge_windows(judge, questions, passages, every, every)
        labels, kinds = np.array(labels), np.array(kinds)
        known = kinds != "unmarked"                     # calibration uses only rows whose answer people marked
        weights = platt(labels[known], got[known, 1], got[known, 0])
        out["answer"] = dict(zip(("margin", "relevance", "b"), weights), rows=int(known.sum()),
                             auc=round(judge_eval.auc(got[known, 1::-1] @ weights[:2], labels[known]), 4))
        late = answerability.late_scores(prepared.embedder, prepared.centre, questions, passages, every, every, got[:, 2], got[:, 3])
        x = answerability.features(got, late)
        alike = kinds != "far"
        weights, bias = answerability.fit(x[alike], labels[alike])
        out["answerable"] = {"weights": {n: round(float(w), 5) for n, w in zip(answerability.FEATURES, weights)}, "bias": round(bias, 5), "rows": int(alike.sum()),
                             "auc": round(judge_eval.auc(x[alike] @ weights, labels[alike]), 4)}
        prepared.answer_rows = dict(x=x, labels=labels, kinds=kinds)
    return out


def answer_rows(prepared, reader, pairs):
    """Questions, passages, whether they answer, and the kind of each row: answered, changed, without its answer, near or
    far; for rows that were excluded from training."""
    rng, out = random.Random(1), []
    answered = [r for r in reader if r["answers"]]
    rows = [(r["q"], r["context"], [a["text"] for a in r["answers"]]) for r in answered]
    unmarked = [(r["q"], r["pos"], ["\0"]) for r in pairs if r["src"] == UNMARKED]
    for kind, part in (("answered", rows), ("unmarked", unmarked)):
        for question, passage, told in part:
            out.append((question, passage, True, kind))
            changed, rest = corrupt.unanswered(question, passage, told, prepared.neighbours, rng, corrupt.NAMELESS if passage.islower() else corrupt.KINDS, 3)
            out += [(text, passage, False, "changed" if kind == "answered" else kind) for text in changed]
            if rest:
                out.append((question, rest, False, "hole"))
    out += [(r["q"], r["context"], False, "none") for r in reader if not r["answers"]]
    out += [(r["q"], rng.choice(answered)["context"], False, "far") for r in answered]
    return [list(column) for column in zip(*out)] or [[], [], [], []]


def evaluate(args, judge, runs, prepared, tokenizer, device, calibration):
    """Figures of the judge, and of each run before averaging."""
    limit = args.evaluate_limit
    figures = {"runs": []}
    figures["reading"], raw = judge_eval.measure_reading(judge, tokenizer, args.evaluate, device, limit, prepared, calibration)
    figures["grounding"], more = judge_eval.measure_grounding(judge, tokenizer, prepared.embedder, args.evaluate, device, limit)
    sets = judge_eval.retrieve_sets(tokenizer, prepared.embedder, prepared.centre, args.evaluate, limit)
    figures["ranking"] = judge_eval.measure_ranking(judge, sets)
    for run in runs if len(runs) > 1 else []:
        log("one run alone")
        figures["runs"].append({"reading": judge_eval.measure_reading(run, tokenizer, args.evaluate, device, limit)[0],
                                "ranking": judge_eval.measure_ranking(run, sets, ("all",))})
    (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    figures["refusal"], gate = judge_eval.measure_refusal(judge, sets, args.evaluate, limit or 300)
    np.savez_compressed(args.out / "scores.npz", **raw, **more, **gate)
    return figures


def start(args):
    """Seeds everything; returns device, shape and tensors of the embedder, and tokenizer."""
    random.seed(args.seed); np.random.seed(args.seed); torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    args.out.mkdir(parents=True, exist_ok=True)
    shape, tensors = read_base(args.model)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_padding(); tokenizer.no_truncation()
    return device, shape, tensors, tokenizer


def average(tensors):
    """The mean of the weights of runs with the same start."""
    return {k: sum(t[k].float() for t in tensors) / len(tensors) for k in tensors[0]}


def trained_judges(args, prepared, shape, tensors, tokenizer, device):
    """The tensors of each run. All start from the same weights and differ in their samples. Without a teacher, earlier runs
    find the spans of unmarked questions from the second run on."""
    out = []
    given = [built(shape, tensors, load_file(str(args.teacher)), device)] if args.teacher else []
    for i, run in enumerate(args.runs.split(",")):
        steps, width = map(int, run.split("@"))
        torch.manual_seed(args.seed)
        judge = judge_of(shape, tensors).to(device)
        if i == 0 or not given:
            prepare_spans(args, prepared, tokenizer, device)
            teachers = given or ([built(shape, tensors, t, device) for t in out] if args.self_train_at < 1 else [])
            if teachers:
                add_taught(teachers, prepared, tokenizer, device, args)
        train(args, judge, prepared, tokenizer, device, steps, width, args.seed + i, bool(teachers))
        out.append(shipped_tensors(judge))
        if args.keep_runs:
            save_tensors(out[-1], args.out / f"run{i}.safetensors")
    return out


def built(shape, tensors, trained, device):
    """The judge with these tensors, rounded as shipped."""
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
    hidden = ("data", "model", "out", "evaluate", "evaluate_limit", "cache", "held_out", "processes", "keep_runs", "teacher")
    judge_files.write_config(args.out, shape, calibration, {k: v for k, v in vars(args).items() if k not in hidden} | {"minutes": minutes})
    if args.evaluate:
        figures = evaluate(args, judge, [built(shape, tensors, r, device) for r in runs], prepared, tokenizer, device, calibration)
        (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    judge_files.write_sums(args.out)
    log("done")


if __name__ == "__main__":
    main()

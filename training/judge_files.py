"""The files of models/judge: weights, configuration, checksums, reference pairs.

    python training/judge_files.py --judge models/judge --model .deps/models/all-MiniLM-L6-v2 --late models/late/all-MiniLM-L6-v2.bin

rewrites reference.json and SHA256SUMS from existing weights: pairs, their token ids and the judge's outputs
in fp32 on the CPU, as a reference for other implementations.
"""
import argparse
import json
import pathlib

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

import answerability
import judge_eval
from judge_data import EMBED_TOKENS, QUESTION_TOKENS, Table, pack, tokenise
from judge_model import NORM_EPS, SPAN_TOKENS_MAX, best_spans, embedder_of, judge_of, read_base, sha256

WEIGHTS, CONFIG, REFERENCE, SUMS = "model.safetensors", "config.json", "reference.json", "SHA256SUMS"

PAIRS = [
    ("How long is parental leave?", "New parents take 16 weeks off, paid in full. Leave can be split into two parts within the first year."),
    ("How long is parental leave?", "The kiln is fired at 1,240 degrees and must cool for a day before anyone opens it."),
    ("How long is parental leave?", ""),
    ("Who signs off travel above 500 euros?", "Trips are booked by the office. Travel above 500 euros is signed off by the head of finance, in writing."),
    ("Who signs off travel above 900 euros?", "Trips are booked by the office. Travel above 500 euros is signed off by the head of finance, in writing."),
    ("When was the bridge opened?", "The stone bridge over the Aller was begun in 1889 and opened on 4 May 1892 by the mayor."),
    ("Where was the bridge opened?", "Bridges of wood last thirty years in this climate."),
    ("how do i rotate the signing key", "## Signing keys\n\nRun `keys rotate --now` to make a new signing key. The old one stays valid for 24 hours."),
    ("how do i delete the signing key", "## Signing keys\n\nRun `keys rotate --now` to make a new signing key. The old one stays valid for 24 hours."),
    ("What does the flag --dry-run do?", "`--dry-run` prints what would be removed and removes nothing."),
    ("Why is the sky blue?", "Light of short wavelengths is scattered more strongly by the molecules of the air, so the sky looks blue by day."),
    ("How many people work in the Oslo office?", "The Oslo office has 42 people, Bergen has 17. Both moved in 2019."),
    ("How many people work in the Bergen office?", "The Oslo office has 42 people, Bergen has 17. Both moved in 2019."),
    ("How many people work in the Tromsø office?", "The Oslo office has 42 people, Bergen has 17. Both moved in 2019."),
    ("vitamin d and bone density", "Daily vitamin D of 800 IU raised the bone density of the hip by 2 % in women above 65 over two years."),
    ("Statins do not reduce mortality.", "In 4,444 patients, simvastatin lowered total mortality by 30 % against placebo."),
    ("What is the capital of France?", "Was ist die Hauptstadt von Frankreich? Paris, an der Seine."),
    ("naïve Bayes", "Naive Bayes assumes that features are independent given the class."),
    ("q" * 300, "A question of one long word, which the tokenizer can't know."),
    ("What limits the size of an upload?", "Uploads are checked. " * 60 + "An upload may have at most 32 MiB."),
    ("What may a guest do when the host of a meeting that was planned for more than three hours has left it before its end? " * 6, "Guests may stay until the end."),
]


def write_config(folder, shape, calibration, run):
    calibration = dict(calibration)
    answerable = {
        "form": "1 / (1 + exp(-(bias + sum of weight * feature)))",
        "features": {
            "margin": "best span minus none, of the window where it is highest", "relevance": "the highest of all windows",
            "late_near": "mean over the question's tokens, [CLS] and [SEP] included, of the highest product of its embedder vector (centred, of length 1) with a passage "
                         "token's signs (each +-1 / sqrt(hidden_size)), over the passage's tokens from near_tokens before the span's first to near_tokens after its last, "
                         "[CLS] and [SEP] left out",
            "late": "the same over the whole passage, [CLS] and [SEP] included; the embedder reads passage_tokens, of a longer passage the first that hold all of near"},
        "near_tokens": answerability.REACH, "passage_tokens": EMBED_TOKENS, **calibration.pop("answerable", {})}
    config = {
        "model_type": "bert", "architectures": ["FootnoteJudge"], **shape, "type_vocab_size": 2, "layer_norm_eps": NORM_EPS, "hidden_act": "gelu",
        "word_table": {"model": "all-MiniLM-L6-v2", "tensor": "embeddings.word_embeddings.weight", "file": "model.safetensors",
                       "sha256": EMBEDDER_SHA256},
        "weights": {"file": WEIGHTS, "type": "F16", "sha256": sha256(folder / WEIGHTS),
                    "tensors": ["embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight", "embeddings.LayerNorm.*", "encoder.layer.N.*",
                                "pooler.dense.*", "relevance.*", "span.*"]},
        "input": {"form": "[CLS] question [SEP] passage [SEP]", "token_types": [0, 1], "question_tokens_max": QUESTION_TOKENS,
                  "window_tokens": judge_eval.WINDOW, "tokens_max": judge_eval.WHOLE, "stride_tokens": judge_eval.STRIDE,
                  "long_passages": "every window; the highest relevance, and the span of the highest margin"},
        "heads": {
            "relevance": {"tensors": ["pooler.dense", "relevance"], "reads": "the vector of [CLS]", "form": "relevance(tanh(pooler.dense(x)))"},
            "span": {"tensors": ["span"], "reads": "every token's vector", "columns": ["start", "end"], "none": "the start and end logit of [CLS]",
                     "span_tokens_max": SPAN_TOKENS_MAX}},
        "fusion": {"judged": judge_eval.JUDGED, "weight": judge_eval.JUDGE_WEIGHT},
        "answerable": answerable,
        "calibration": calibration,
        "training": run,
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n")


# The embedder whose word table the judge was trained on: all-MiniLM-L6-v2's model.safetensors.
EMBEDDER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def write_sums(folder):
    names = [n for n in (CONFIG, WEIGHTS, REFERENCE) if (folder / n).exists()]
    (folder / SUMS).write_text("".join(f"{sha256(folder / n)}  {n}\n" for n in names))


def late_centre(path):
    """The mean token vector in a file of models/late. It follows a magic number of 8 bytes and four sizes, the first of which is its size."""
    data = path.read_bytes()
    size = int(np.frombuffer(data, "<u4", 1, 8)[0])
    return torch.from_numpy(np.frombuffer(data, "<f4", size, 24).copy())


@torch.no_grad()
def reference(folder, embedder, centre):
    shape, tensors = read_base(embedder)
    answerable, encoder = json.loads((folder / CONFIG).read_text())["answerable"], embedder_of(shape, tensors)
    judge = judge_of(shape, tensors, {k: v.float() for k, v in load_file(str(folder / WEIGHTS)).items()}).eval()
    tokenizer = Tokenizer.from_file(str(embedder / "tokenizer.json"))
    tokenizer.no_padding(); tokenizer.no_truncation()
    out = []
    for question, passage in PAIRS:
        q, p = (Table(tokenise(tokenizer, [t], n), "cpu") for t, n in ((question, QUESTION_TOKENS), (passage, judge_eval.WINDOW)))
        zero = torch.zeros(1, dtype=torch.long)
        width = min(judge_eval.WINDOW, int(q.lengths[0] + p.lengths[0]) + 3)
        ids, kinds, valid, shift = pack(q, p, zero, zero, width=width)
        relevance, span = judge(ids, kinds, valid)
        best, none, first, last = best_spans(span, kinds, valid)
        row = {"question": question, "passage": passage, "ids": ids[0].tolist(), "passage_begin": int(shift), "relevance": round(float(relevance), 5),
               "none": round(float(none), 5)}
        if int(valid.sum()) > int(shift) + 1:
            row |= {"span": round(float(best), 5), "span_first": int(first), "span_last": int(last)}
            late = answerability.late_scores(encoder, centre, q, p, [0], [0], first - shift, last - shift)[0]
            known = dict(zip(answerability.FEATURES, (float(best - none), float(relevance), *late.tolist())))
            row |= {"late_near": round(known["late_near"], 5), "late": round(known["late"], 5),
                    "answerable": round(answerable["bias"] + sum(w * known[k] for k, w in answerable["weights"].items()), 5)}
        out.append(row)
    return out


def main():
    parser = argparse.ArgumentParser(description="Write the reference pairs and checksums of a judge.")
    parser.add_argument("--judge", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder of the embedder")
    parser.add_argument("--late", type=pathlib.Path, required=True, help="the embedder's file of models/late")
    args = parser.parse_args()
    rows = reference(args.judge, args.model, late_centre(args.late))
    lines = ",\n  ".join(json.dumps(r, ensure_ascii=False) for r in rows)
    (args.judge / REFERENCE).write_text('{"computed": "fp32 on the CPU from the fp16 weights and the fp32 word table", "pairs": [\n  ' + lines + "\n]}\n", encoding="utf-8")
    write_sums(args.judge)


if __name__ == "__main__":
    main()

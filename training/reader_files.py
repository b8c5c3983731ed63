"""The files of models/reader: weights, configuration, reference pairs, checksums.

    python training/reader_files.py --parts build/reader/average --out models/reader --tokenizer .deps/models/all-MiniLM-L6-v2/tokenizer.json

joins the parts that a training run wrote and adds reference.json (pairs with token ids and the reader's outputs, in fp32 on the CPU from the 8-bit
weights, as a reference for other implementations) and SHA256SUMS.
"""
import argparse
import json
import pathlib
import shutil

import torch
from safetensors.torch import load_file, save
from tokenizers import Tokenizer

from judge_data import Table
from judge_files import PAIRS
from judge_model import NORM_EPS, sha256
from reader_data import header_ids, tokenised
from reader_model import HEADER_TOKENS, LABELS, QUESTION_TOKENS, SPAN_TOKENS_MAX, best_spans, built, margins, pack, restored

WEIGHTS, CONFIG, FIGURES, REFERENCE, SUMS = "model.safetensors", "config.json", "figures.json", "reference.json", "SHA256SUMS"
TOKENIZER = "all-MiniLM-L6-v2"   # the installed model whose tokenizer this one uses
PART_BYTES = 15 << 20
HEADERS = ["", "Handbook > Leave", "Handbook > Travel > Approval", "", "Server manual > Keys"]
SHAPE_FIELDS = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings")


def write_parts(tensors, folder):
    """The weights file in parts of at most PART_BYTES."""
    data = save(tensors, metadata={"format": "pt"})
    for i in range(0, len(data), PART_BYTES):
        (folder / f"{WEIGHTS}.{i // PART_BYTES}").write_bytes(data[i:i + PART_BYTES])


def join_parts(folder, path):
    parts = sorted(folder.glob(WEIGHTS + ".[0-9]"))
    if not parts:
        raise FileNotFoundError(f"no parts in {folder}")
    path.write_bytes(b"".join(p.read_bytes() for p in parts))


def write_config(folder, shape, calibration, width, run):
    config = {
        "model_type": "bert", "architectures": ["FootnoteReader"], **shape, "type_vocab_size": 2, "layer_norm_eps": NORM_EPS, "hidden_act": "gelu",
        "tokenizer": {"model": TOKENIZER},
        "weights": {"file": WEIGHTS, "matrices": "NAME.int8 [rows, columns] times NAME.scale [rows, 1], in place of NAME.weight", "rest": "F32"},
        "input": {"form": "[CLS] question [SEP] title > heading > heading . passage [SEP]", "token_types": [0, 1], "question_tokens_max": QUESTION_TOKENS,
                  "header": "the page's title and heading path joined by ' > ', cut to header_tokens_max - 1 tokens, then '.'; nothing at all without them",
                  "header_tokens_max": HEADER_TOKENS, "tokens_max": width, "stride": "half of the passage tokens that fit",
                  "long_passages": "every window; the window of the highest margin, and the highest relevance"},
        "heads": {
            "span": {"tensors": ["span"], "columns": ["start", "end"], "none": "the start and end logit of [CLS]", "span_tokens_max": SPAN_TOKENS_MAX, "reads": "every token of the passage; those of the header cannot answer",
                     "margin": "start logit of the first token + end logit of the last - both of [CLS]; comparable between the passages of a question, 0 is none"},
            "relevance": {"tensors": ["pooler.dense", "relevance"], "form": "relevance(tanh(pooler.dense(x)))", "reads": "the vector of [CLS]"},
            "support": {"tensors": ["support_pooler.dense", "support"], "form": "support(tanh(support_pooler.dense(x)))", "reads": "the vector of [CLS]; the claim is the question, the evidence the passage",
                        "columns": list(LABELS)}},
        "calibration": {"form": "1 / (1 + exp(-(margin * M + relevance * R + b))), the chance that the best span of a question's passages answers it", **calibration},
        "training": run}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n")


def shipped(folder):
    """The fp32 tensors and the shape of a reader in its folder."""
    config = json.loads((folder / CONFIG).read_text())
    return restored(load_file(str(folder / WEIGHTS))), {k: config[k] for k in SHAPE_FIELDS}


@torch.no_grad()
def reference(folder, tokenizer, width):
    tensors, shape = shipped(folder)
    reader = built(shape, tensors)
    out = []
    for i, (question, passage) in enumerate(PAIRS):
        header = HEADERS[i % len(HEADERS)]
        tables = (Table(tokenised(tokenizer, [question], QUESTION_TOKENS)[0], "cpu"), Table(header_ids(tokenizer, [header]), "cpu"), Table(tokenised(tokenizer, [passage], width)[0], "cpu"))
        zero = torch.zeros(1, dtype=torch.long)
        tokens = min(width, sum(int(t.lengths[0]) for t in tables) + 3)
        ids, kinds, valid, body = pack(tables, zero, zero, zero, zero, tokens)
        relevance, span, support = reader(ids, kinds, valid)
        row = {"question": question, "header": header, "passage": passage, "ids": ids[0].tolist(), "token_types": kinds[0].tolist(), "relevance": round(float(relevance), 5),
               "support": [round(v, 5) for v in support[0].tolist()], "none": [round(v, 5) for v in span[0, 0].tolist()], "start": [round(v, 4) for v in span[0, :, 0].tolist()],
               "end": [round(v, 4) for v in span[0, :, 1].tolist()]}
        if body.any():
            best, first, last = best_spans(margins(span, body))
            row |= {"passage_begin": int(body[0].float().argmax()), "margin": round(float(best), 5), "span_first": int(first), "span_last": int(last)}
        out.append(row)
    return out


def write_reference(folder, tokenizer):
    width = json.loads((folder / CONFIG).read_text())["input"]["tokens_max"]
    lines = ",\n  ".join(json.dumps(r, ensure_ascii=False) for r in reference(folder, tokenizer, width))
    (folder / REFERENCE).write_text('{"computed": "fp32 on the CPU from the 8-bit weights", "pairs": [\n  ' + lines + "\n]}\n", encoding="utf-8")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Write the files of a trained reader.")
    parser.add_argument("--parts", type=pathlib.Path, required=True, help="folder of a training run")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    join_parts(args.parts, args.out / WEIGHTS)
    for name in (CONFIG, FIGURES):
        shutil.copyfile(args.parts / name, args.out / name)
    tokenizer = Tokenizer.from_file(str(args.tokenizer))
    tokenizer.no_padding(); tokenizer.no_truncation()
    write_reference(args.out, tokenizer)
    (args.out / SUMS).write_text("".join(f"{sha256(args.out / n)}  {n}\n" for n in (CONFIG, WEIGHTS, REFERENCE)))


if __name__ == "__main__":
    main()

"""Short runs that each leave one thing out, to measure its effect:

    python training/ablate.py --data ... --model ... --out DIR --evaluate DIR --runs 700@192 --drop-held-out

It takes the arguments of train_judge.py, prepares once, and writes one line of figures per variant to DIR/ablations.json, and the scores of
each.
The environment variable VARIANTS selects variants, separated by commas.
"""
import copy
import json
import os

import numpy as np
from safetensors.torch import load_file

import judge_eval
import train_judge as training
from judge_model import WORDS, embedder_of

OLD_KINDS = "number,name,word,negation,type"
VARIANTS = {"full": {}, "no contrast": {"contrast": 0.0}, "no clozes": {"clozes": 0}, "fewer kinds of change": {"kinds": OLD_KINDS},
            "no taught spans": {"teacher": None, "self_train_at": 1.0}, "no corrupted questions": {"no_corrupted": True}, "no smoothed targets": {"smoothing": 0.0},
            "no hard negatives": {"no_hard": True}, "none of the new": {"contrast": 0.0, "clozes": 0, "kinds": OLD_KINDS}}
RANKED = ("scifact-train", "cranfield", "cisi", "squad-dev")


def figures_of(judge, sets, prepared, tokenizer, folder, device, limit):
    out = {name: row["judged_all"] for name, row in judge_eval.measure_ranking(judge, sets, ("all",)).items()}
    calibration = training.calibrate(judge, prepared, tokenizer, device)
    reading, raw = judge_eval.measure_reading(judge, tokenizer, folder, device, limit, prepared, calibration)
    out |= {"squad2 auc": reading["window"]["auc"], "answerable auc": reading["window"]["auc_answerable"], "squad2 f1": reading["window"]["f1_answerable"]}
    grounding, _ = judge_eval.measure_grounding(judge, tokenizer, prepared.embedder, folder, device, limit)
    out |= {f"{name} relevance": row[next(iter(row))]["relevance"] for name, row in grounding.items() if row}
    return out, {"squad2": raw["squad2|window"], "features": raw["squad2-features|window"], **prepared.answer_rows}


def main(argv=None):
    args = training.arguments(argv)
    device, shape, tensors, tokenizer = training.start(args)
    prepared = training.prepare(args, tokenizer, embedder_of(shape, tensors).to(device), tensors[WORDS].to(device), device)
    sets = judge_eval.retrieve_sets(tokenizer, prepared.embedder, prepared.centre, args.evaluate, args.evaluate_limit, RANKED)
    training.log("retrieved", {n: s.before()["fused"] for n, s in sets.items()})
    result = {}
    only = os.environ.get("VARIANTS", "")

    def measure(name, trained):
        judge = training.built(shape, tensors, trained, device)
        result[name], raw = figures_of(judge, sets, prepared, tokenizer, args.evaluate, device, args.evaluate_limit)
        np.savez_compressed(args.out / f"{name.replace(' ', '-')}.npz", **raw)
        training.log(name, result[name])
        (args.out / "ablations.json").write_text(json.dumps({"runs": args.runs, "figures": result}, indent=1) + "\n")

    if args.teacher:
        measure("teacher", load_file(str(args.teacher)))
    for name, change in VARIANTS.items():
        if only and name not in only.split(","):
            continue
        variant = copy.copy(args)
        vars(variant).update(change)
        measure(name, training.average(training.trained_judges(variant, prepared, shape, tensors, tokenizer, device)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the encoder with its peers: the same weights and token ids, in turns on the same machine.

    python3 bench/peers/encoders.py [--rounds N] [--shapes 1x16,...] [--threads 1,2] [--levels vnni,...] [--torch]

Creates a virtual environment under build/peers and installs requirements.txt (--python-env PATH: uses an existing one),
writes the peers' models there (graphs.py) and then, for each number of threads and each shape, runs every contender
for about a second in turns, for several rounds. A library runs in a separate process, which sleeps
while others are measured; ours is `footnote bench encoder`.

A peer has several forms (graph, scales per tensor or per channel, ...). All run in the first round; forms
within FORM_SLACK of the peer's fastest continue, and the fastest over all rounds counts for that shape. Peers are compiled
for the exact shape; ours is not.

Writes Markdown tables to stdout, every round to build/peers/results.json, and progress to stderr.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FORM_SLACK = 1.1
RUNS_MIN = 5  # The same as in `footnote bench`.
FLOAT_COSINE_MIN = 0.99999
CONTENDED_SLACK = 0.2  # How many more processors than available other programs may use before a result is marked.


@dataclasses.dataclass(frozen=True)
class Form:
    """One way to run a peer."""
    peer: str       # The peer that the form belongs to.
    name: str
    runtime: str    # A key of RUNTIMES.
    model: str      # A file of the prepared models.
    precision: str = ""

    @property
    def exact(self) -> bool:
        return self.peer.endswith("fp32")


FORMS = [
    Form("ONNX Runtime int8", "fused", "onnxruntime", "fused-int8.onnx"),
    Form("ONNX Runtime int8", "fused, per channel", "onnxruntime", "fused-int8-channels.onnx"),
    Form("ONNX Runtime int8", "plain", "onnxruntime", "plain-int8.onnx"),
    Form("ONNX Runtime int8", "plain, per channel", "onnxruntime", "plain-int8-channels.onnx"),
    Form("OpenVINO int8", "rest f32", "openvino", "plain-int8.xml", "f32"),
    Form("OpenVINO int8", "rest bf16", "openvino", "plain-int8.xml", "bf16"),
    Form("OpenVINO bf16", "bf16", "openvino", "plain.onnx", "bf16"),
    Form("ONNX Runtime fp32", "fused", "onnxruntime", "fused.onnx"),
    Form("ONNX Runtime fp32", "plain", "onnxruntime", "plain.onnx"),
    Form("OpenVINO fp32", "f32", "openvino", "plain.onnx", "f32"),
]
TORCH_FORMS = [Form("sentence-transformers fp32", "fp32", "torch", "")]

# Our levels, best first: 8-bit levels are compared with peers below 32 bits, the others with 32-bit peers.
INT8_LEVELS = ["amx", "vnni", "avx2-int8"]
FLOAT_LEVELS = ["avx512", "avx2", "portable"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---- the process of one form

def onnxruntime_runner(path: pathlib.Path, threads: int, precision: str, shape):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    if shape:
        options.add_free_dimension_override_by_name("batch", shape[0])
        options.add_free_dimension_override_by_name("length", shape[1])
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda ids: session.run(None, {"input_ids": ids})[0]


def openvino_runner(path: pathlib.Path, threads: int, precision: str, shape):
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    if shape:
        model.reshape(list(shape))
    compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
                                                 "INFERENCE_PRECISION_HINT": precision})
    request = compiled.create_infer_request()

    def run(ids):
        request.infer([ids], share_inputs=True)
        return request.get_output_tensor().data

    return run


def torch_runner(path: pathlib.Path, threads: int, precision: str, shape):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    model = SentenceTransformer(str(path), device="cpu").eval()

    def run(ids):
        with torch.inference_mode():
            ids = torch.from_numpy(ids)
            out = model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["sentence_embedding"]
            return torch.nn.functional.normalize(out, dim=-1).numpy()

    return run


RUNTIMES = {"onnxruntime": onnxruntime_runner, "openvino": openvino_runner, "torch": torch_runner}


def synthetic_ids(count: int, length: int):
    """The token ids of `footnote bench encoder`."""
    import numpy

    return (1000 + numpy.arange(count * length, dtype="int64") * 7919 % 20000).reshape(count, length)


def time_runs(run, ids, seconds: float) -> dict:
    times, used = [], time.process_time()
    run(ids)
    end = time.perf_counter() + seconds
    while len(times) < RUNS_MIN or time.perf_counter() < end:
        begin = time.perf_counter()
        run(ids)
        times.append(time.perf_counter() - begin)
    return {"median_ms": statistics.median(times) * 1e3, "best_ms": min(times) * 1e3, "runs": len(times),
            "cpu_s": time.process_time() - used}


def cosines(run, texts, reference) -> dict:
    """Each text alone, to avoid padding."""
    import numpy

    found = []
    for ids, wanted in zip(texts, reference, strict=True):
        vector = numpy.array(run(numpy.array([ids], "int64"))[0], "float64")
        found.append(float(vector @ wanted / numpy.linalg.norm(vector) / numpy.linalg.norm(wanted)))
    return {"mean": statistics.mean(found), "lowest": min(found)}


def serve_form(runtime: str, path: str, precision: str, threads: str) -> None:
    """Handles requests, one line of JSON each, until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Output of libraries must not mix with responses.
    make, shape, run = RUNTIMES[runtime], None, None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "cosines":
            shape, run = None, make(pathlib.Path(path), int(threads), precision, None)
            answer = cosines(run, *load_fixture(pathlib.Path(request["fixture"])))
        else:
            wanted = tuple(request["shape"])
            if wanted != shape or run is None:
                run = None
                shape, run = wanted, make(pathlib.Path(path), int(threads), precision, wanted)
            ids = synthetic_ids(*shape)
            answer = time_runs(run, ids, request["seconds"]) if request["do"] == "time" else {"warm": run(ids) is not None}
        print(json.dumps(answer), file=answers, flush=True)


# ---- the contenders

def load_fixture(folder: pathlib.Path):
    import numpy

    with open(folder / "token_ids.jsonl", encoding="utf-8") as lines:
        texts = [json.loads(line)["ids"] for line in lines]
    return texts, numpy.fromfile(folder / "vectors.f32", "<f4").reshape(len(texts), -1).astype("float64")


class Peer:
    """A form, in a process that lives as long as this object."""

    def __init__(self, form: Form, args, threads: int):
        self.form, self.key = form, f"{form.peer} ({form.name})"
        path = args.model if form.runtime == "torch" else args.out / "models" / form.model
        command = [sys.executable, str(HERE / "encoders.py"), "--serve-form", form.runtime, str(path), form.precision, str(threads)]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
                                        stderr=None if args.verbose else subprocess.DEVNULL)

    def ask(self, **request) -> dict:
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.key} ended; --verbose shows why")
        return json.loads(answer)

    def measure(self, shape: tuple[int, int], seconds: int) -> dict:
        return self.ask(do="time", shape=shape, seconds=seconds)

    def warm_up(self, shape: tuple[int, int]) -> None:
        """Compiles for the shape in advance, so that compilation is not measured."""
        self.ask(do="warm up", shape=shape)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def our_bench(args, level: str, threads: int, shape: tuple[int, int], seconds: int) -> subprocess.CompletedProcess:
    """One run of `footnote bench encoder`."""
    command = [str(args.footnote), "bench", "encoder", "--json", "--threads", str(threads), "--shape", f"{shape[0]}x{shape[1]}",
               "--seconds", str(seconds)]
    environment = {**os.environ, "FOOTNOTE_CPU": level, "FOOTNOTE_MODELS": str(args.model.parent), "MODEL_NAME": args.model.name}
    return subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


class Ours:
    """One level of our encoder."""

    def __init__(self, level: str, args, threads: int):
        self.level, self.key = level, f"ours {level}"
        self.args, self.threads = args, threads

    def measure(self, shape: tuple[int, int], seconds: int) -> dict:
        before = os.times()
        done = our_bench(self.args, self.level, self.threads, shape, seconds)
        done.check_returncode()
        after = os.times()
        figures = json.loads(done.stdout)
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return {"median_ms": figures["median_ms"], "best_ms": figures["best_ms"], "cpu_s": used}

    def warm_up(self, shape: tuple[int, int]) -> None:
        pass

    def close(self) -> None:
        pass


def usable_levels(args) -> list[str]:
    """The levels at which our encoder runs on this machine."""
    return [level for level in INT8_LEVELS + FLOAT_LEVELS if our_bench(args, level, 1, (1, 1), 0).returncode == 0]


def our_cosines(args, levels: list[str]) -> dict:
    """The fidelity that the encoder's own test reports for the same texts; empty if the test program is not built."""
    if not args.encoder_test.exists():
        say(f"no {args.encoder_test}: our fidelity is left out")
        return {}
    wanted = ":".join("Encoder/EveryLevel.GivesTheReferenceVectors/" + level.replace("-", "") for level in levels)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([str(args.encoder_test), f"--gtest_filter={wanted}", f"--gtest_output=json:{file.name}"],
                       stdout=subprocess.DEVNULL, check=False)
        suites = json.loads(pathlib.Path(file.name).read_text() or "{}").get("testsuites", [])
    out = {}
    for test in (test for suite in suites for test in suite["testsuite"]):
        found = re.fullmatch(r"lowest ([\d.]+), mean ([\d.]+)", test.get("cosine", ""))
        for level in levels:
            if found and test["name"].endswith("/" + level.replace("-", "")):
                out[f"ours {level}"] = {"mean": float(found[2]), "lowest": float(found[1])}
    return out


# ---- measuring

def busy_seconds() -> float:
    """Processor time used on the machine so far, and time taken by the hypervisor."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, fields[:8])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def measure_once(contender, shape: tuple[int, int], seconds: int) -> dict:
    """Also returns how many processors other programs used on average."""
    before, begin = busy_seconds(), time.perf_counter()
    found = contender.measure(shape, seconds)
    wall = time.perf_counter() - begin
    found["others"] = max(0.0, (busy_seconds() - before - found["cpu_s"]) / wall)
    return found


def leaders(contenders: list, found: dict) -> list:
    """Removes forms that were clearly slower in the first round."""
    best: dict[str, float] = {}
    for one in contenders:
        if isinstance(one, Peer):
            time_ms = found[one.key][0]["median_ms"]
            best[one.form.peer] = min(time_ms, best.get(one.form.peer, time_ms))
    return [one for one in contenders
            if isinstance(one, Ours) or found[one.key][0]["median_ms"] <= FORM_SLACK * best[one.form.peer]]


def measure_shape(contenders: list, shape: tuple[int, int], args) -> dict:
    """{contender: its rounds}; the order rotates by one each round."""
    found: dict[str, list] = {one.key: [] for one in contenders}
    racing = contenders
    for one in contenders:
        one.warm_up(shape)
    for turn in range(args.rounds):
        at = turn % len(racing)
        for one in racing[at:] + racing[:at]:
            found[one.key].append(measure_once(one, shape, args.seconds))
        if turn == 0 and not args.all_forms:
            racing = leaders(contenders, found)
        medians = ", ".join(f"{one.key} {found[one.key][-1]['median_ms']:.2f}" for one in racing)
        say(f"  round {turn + 1}/{args.rounds}: {medians}")
    return found


def compare(cell: dict, forms: list[Form], levels: list[str]) -> list[dict]:
    """Compares ours with each peer's fastest form, round by round."""
    out = []
    others = statistics.mean(one["others"] for found in cell["found"].values() for one in found)
    contended = others + cell["threads"] > (os.cpu_count() or 1) + CONTENDED_SLACK
    rounds = {key: [one["median_ms"] for one in found] for key, found in cell["found"].items()}
    best = {key: min(one["best_ms"] for one in found) for key, found in cell["found"].items()}
    for level in levels:
        ours = rounds[f"ours {level}"]
        for peer in dict.fromkeys(form.peer for form in forms):
            exact = peer.endswith("fp32")
            if exact != (level in FLOAT_LEVELS):
                continue
            keys = {f"{form.peer} ({form.name})": form.name for form in forms if form.peer == peer}
            full = [key for key in keys if len(rounds[key]) == len(ours)]
            key = min(full, key=lambda one: statistics.median(rounds[one]))
            ratios = [a / b for a, b in zip(ours, rounds[key], strict=True)]
            out.append({"shape": cell["shape"], "threads": cell["threads"], "contended": contended, "level": level, "peer": peer, "form": keys[key],
                        "ours_ms": statistics.median(ours), "peer_ms": statistics.median(rounds[key]), "ratios": ratios,
                        "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
                        "ours_best_ms": best[f"ours {level}"], "peer_best_ms": min(best[one] for one in full)})
    return out


# ---- the report

def describe_machine() -> dict:
    info = pathlib.Path("/proc/cpuinfo").read_text()

    def field(name):
        found = re.search(rf"^{name}\s*:\s*(.*)$", info, re.M)
        return found[1] if found else "?"

    flags = set(field("flags").split())
    wanted = ["avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16"]
    return {"cpu": field("model name"), "family": field("cpu family"), "model": field("model"), "processors": os.cpu_count(),
            "flags": [flag for flag in wanted if flag in flags], "missing": [flag for flag in wanted if flag not in flags],
            "system": f"{platform.system()} {platform.machine()}"}


def print_report(results: dict) -> None:
    machine = results["machine"]
    print(f"Machine: {machine['cpu']} (family {machine['family']}, model {machine['model']}), {machine['processors']} processors, "
          f"{machine['system']}; has {', '.join(machine['flags']) or 'none of the flags'}; lacks {', '.join(machine['missing']) or 'none'}.")
    print("Peers: " + ", ".join(f"{name} {version}" for name, version in results["versions"].items()) + ".")
    others = [one["others"] for cell in results["cells"] for found in cell["found"].values() for one in found]
    print(f"{results['rounds']} rounds of {results['seconds']} s in turn. Processors that others kept busy meanwhile: mean "
          f"{statistics.mean(others):.2f}, median {statistics.median(others):.2f}, most {max(others):.2f}; load average "
          f"{results['load_begin'][0]:.1f} at the start, {results['load_end'][0]:.1f} at the end.\n")
    for title, exact in (("Less than 32 bits", False), ("32 bits", True)):
        rows = [row for row in results["comparison"] if (row["level"] in FLOAT_LEVELS) == exact]
        if not rows:
            continue
        print(f"{title}: milliseconds a batch, the median of the rounds' medians; the ratio is the median of the rounds' ratios, and "
              "that of the single best runs says what a quieter machine might give. Below 1: ours is faster.\n")
        print("| shape | threads | ours | ms | peer (fastest form) | ms | ours / peer | lowest-highest | of best runs |\n"
              "|---|---|---|---|---|---|---|---|---|")
        for row in rows:
            form = "" if row["form"] in row["peer"] or exact and row["form"] == "f32" else f" ({row['form']})"
            print(f"| {row['shape'][0]}x{row['shape'][1]} | {row['threads']}{'*' if row['contended'] else ''} | {row['level']} | {row['ours_ms']:.2f} | {row['peer']}{form} | "
                  f"{row['peer_ms']:.2f} | {row['ratio']:.2f} | {row['ratio_min']:.2f}-{row['ratio_max']:.2f} | "
                  f"{row['ours_best_ms'] / row['peer_best_ms']:.2f} |")
        print()
    if any(row["contended"] for row in results["comparison"]):
        print("\\* Threads and other work together were more than the processors: who shares a processor best is measured there, "
              "not who computes fastest.\n")
    print(f"Cosine to the reference vectors on {results['texts']} texts. OpenVINO int8 was calibrated on the same texts.\n")
    print("| contender | mean | lowest |\n|---|---|---|")
    for name, found in results["fidelity"].items():
        print(f"| {name} | {found['mean']:.6f} | {found['lowest']:.6f} |")


# ---- the command

def shape_of(text: str) -> tuple[int, int]:
    count, length = text.split("x")
    return int(count), int(length)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    paths = {
        "--model": (ROOT / ".deps/models/all-MiniLM-L6-v2", "the model's folder"),
        "--footnote": (ROOT / "build/release/footnote", "our program"),
        "--encoder-test": (ROOT / "build/release/footnote_engine_nn_test", "our test, for our fidelity"),
        "--fixture": (ROOT / "tests/fixtures/embeddings", "token ids and reference vectors"),
        "--out": (ROOT / "build/peers", "environment, models, results"),
    }
    for name, (default, text) in paths.items():
        parser.add_argument(name, type=pathlib.Path, default=default, help=f"{text} ({default.relative_to(ROOT)})")
    parser.add_argument("--python-env", type=pathlib.Path, help="a virtual environment that has what is needed")
    parser.add_argument("--torch", action="store_true", help="sentence-transformers too (installs requirements-torch.txt)")
    parser.add_argument("--shapes", default="1x16,1x128,32x128,18x160", help="sequences x tokens (%(default)s)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (%(default)s)")
    parser.add_argument("--levels", help="our levels (those of 8 bits that work, best of 32 bits)")
    parser.add_argument("--peers", default="", help="only peers whose name matches this expression")
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--seconds", type=int, default=1, help="whole seconds a contender has in a round (%(default)s)")
    parser.add_argument("--all-forms", action="store_true", help="every form runs in every round")
    parser.add_argument("--verbose", action="store_true", help="what the libraries say, too")
    return parser.parse_args()


def enter_environment(args) -> None:
    """Runs this command again with the environment's Python, if necessary."""
    env = args.python_env or args.out / "env"
    if pathlib.Path(sys.prefix).resolve() == env.resolve():
        return
    python = env / "bin/python"
    if not args.python_env:
        if not python.exists():
            say(f"making {env}")
            subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
        files = ["requirements.txt"] + (["requirements-torch.txt"] if args.torch else [])
        wanted = [part for name in files for part in ("-r", str(HERE / name))]
        say(f"installing {', '.join(files)}")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True, stdout=sys.stderr)
    os.execv(python, [str(python), *sys.argv])


def choose_levels(args) -> list[str]:
    usable = usable_levels(args)
    if not usable:
        sys.exit(f"{args.footnote} runs on no level with {args.model}; build it and run `make setup`")
    if args.levels:
        wanted = args.levels.split(",")
        lacking = [level for level in wanted if level not in usable]
        if lacking:
            sys.exit(f"not usable here: {', '.join(lacking)}; usable: {', '.join(usable)}")
        return wanted
    small = [level for level in usable if level in INT8_LEVELS]
    if len(small) > 1:
        small = [level for level in small if level != "avx2-int8"]
    return small + [level for level in usable if level in FLOAT_LEVELS][:1]


def choose_forms(args, levels: list[str]) -> list[Form]:
    """Removes bf16 if OpenVINO would not choose it, and peers that no level is compared with."""
    import openvino

    usable = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    kinds = {level in FLOAT_LEVELS for level in levels}
    return [form for form in FORMS + (TORCH_FORMS if args.torch else [])
            if re.search(args.peers, form.peer) and form.exact in kinds and (form.precision != "bf16" or "BF16" in usable)]


def versions_of(names: list[str]) -> dict[str, str]:
    from importlib import metadata

    return {name: metadata.version(name) for name in names}


def main() -> None:
    if sys.argv[1:2] == ["--serve-form"]:
        return serve_form(*sys.argv[2:])
    args = parse_arguments()
    args.out = args.out.absolute()
    enter_environment(args)
    import graphs

    levels = choose_levels(args)
    forms = choose_forms(args, levels)
    texts, _ = load_fixture(args.fixture)
    graphs.prepare(args.model, texts, args.out / "models", say)

    results = {"machine": describe_machine(), "rounds": args.rounds, "seconds": args.seconds, "texts": len(texts),
               "versions": versions_of(["onnxruntime", "openvino", "nncf"] + (["torch", "sentence-transformers"] if args.torch else [])),
               "load_begin": os.getloadavg(), "cells": [], "comparison": []}
    say("fidelity")
    results["fidelity"] = our_cosines(args, levels)
    for form in forms:
        peer = Peer(form, args, os.cpu_count() or 1)
        found = peer.ask(do="cosines", fixture=str(args.fixture.absolute()))
        peer.close()
        say(f"  {peer.key}: mean {found['mean']:.6f}, lowest {found['lowest']:.6f}")
        if form.exact and found["lowest"] < FLOAT_COSINE_MIN:
            sys.exit(f"{peer.key} does not give the reference vectors: its model is wrong")
        results["fidelity"][peer.key] = found

    for threads in map(int, args.threads.split(",")):
        contenders = [Ours(level, args, threads) for level in levels] + [Peer(form, args, threads) for form in forms]
        for shape in map(shape_of, args.shapes.split(",")):
            say(f"{shape[0]}x{shape[1]}, {threads} threads")
            cell = {"shape": shape, "threads": threads, "found": measure_shape(contenders, shape, args)}
            results["cells"].append(cell)
            results["comparison"] += compare(cell, forms, levels)
        for one in contenders:
            one.close()
    results["load_end"] = os.getloadavg()
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print_report(results)


if __name__ == "__main__":
    main()

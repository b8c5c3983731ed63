#!/usr/bin/env python3
"""Compares the indexes with their peers: the same vectors, texts and questions, in turns on the same machine, one thread each.

    python3 bench/peers/indexes.py --data DIR [--groups scope,tenant,keywords,retrieve] [--rows N] [--rounds N] [--seconds N]

DIR is the output of bench/peers/index_data.py. Creates a virtual environment under build/peers and installs requirements.txt
(--python-env PATH: uses an existing one). Each contender is a process that builds or opens its index and sleeps while
others are measured; ours is `footnote bench index --paced`. In each round every contender of a group runs for about a second; the order rotates by one.

    scope      nearest 10 of all rows: usearch (f32; i8 and rescored), hnswlib, faiss (exact), our own scan in 32 bits
    tenant     nearest 10 among 1 % and 10 % of the rows: usearch with a predicate, hnswlib with a filter (a Python
               function), faiss with a bitmap; graphs with the lowest effort that reaches a recall of .99
    keywords   natural questions, best 18: tantivy, bm25s, SQLite FTS5, Xapian
    retrieve   complete retrieval for a question, compared with Python on ONNX Runtime (8 bits), usearch and tantivy: recall and fusion only, and
               the same job as ours (late interaction, texts from SQLite)

A graph runs with the lowest effort that reaches --recall, and with the lowest that reaches our recall. It is saved in DIR (--build-only: only build). Keyword peers run
with all words and without stop words, if they leave that to the caller.

Writes Markdown tables to stdout, every round to build/peers/indexes.json, and progress to stderr.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import encoders  # noqa: E402
import index_peers  # noqa: E402

sys.path = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]  # tokenizers.py has the same name as a package.

DIMENSION = 384
LIMIT = 10
QUERY_BLOCK_ROWS = 50_000
RECALL_SLACK = 0.0005  # How far a graph's recall may be below ours and still count as equal.
FILTER_RECALL = 0.99  # The recall that a graph must reach on a tenant's rows,
FILTER_SAMPLE = 50    # measured on this many queries.
# Lucene's list, also used by bm25s and tantivy.
STOP_WORDS = ("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will "
              "with").split()
say = encoders.say


# ---- contenders

class Talker:
    """A process that responds to each input line with one output line."""

    def __init__(self, name: str, command: list[str], args, threads: int = 1):
        self.name = name
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads))
        environment = os.environ | limits | {"TOKENIZERS_PARALLELISM": "false", "FOOTNOTE_MODELS": str(args.model.parent),
                                             "RERANKER_PROVIDER": "none"}  # No peer has a judge.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
                                        stderr=None if args.verbose else subprocess.DEVNULL)

    def read(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended; --verbose shows why")
        return json.loads(line)

    def ask(self, request: str) -> dict:
        print(request, file=self.process.stdin, flush=True)
        return self.read()

    def cpu_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


class Ours(Talker):
    """`footnote bench index`; its lines before the first request report the build time."""

    def __init__(self, args, *options: str):
        super().__init__("ours", [str(args.footnote), "bench", "index", "--paced", "--threads", str(args.threads), "--seconds", str(args.seconds), *options], args)
        self.builds = []
        while "ready" not in (line := self.read()):
            self.builds.append(line)


class Peer(Talker):
    def __init__(self, args, name: str, library: str, python: str = sys.executable, **config):
        super().__init__(name, [python, str(HERE / "index_peers.py"), library, json.dumps(config)], args, config.get("threads", 1))
        self.info = self.read()["info"]


class UsearchFiltered(Talker):
    """usearch's search with a predicate, in C++."""

    def __init__(self, args, graph: pathlib.Path):
        command = [str(compiled_usearch(args)), str(graph), str(args.data / "queries_1k.f32"), str(DIMENSION), str(args.seconds)]
        super().__init__("usearch f32, predicate", command, args)
        self.read()


def compiled_usearch(args) -> pathlib.Path:
    """Compiles the program with the headers of the same release that pip installed."""
    program = args.out / "usearch_filtered"
    if program.exists() and program.stat().st_mtime > (HERE / "usearch_filtered.cpp").stat().st_mtime:
        return program
    folder = args.out / "usearch"
    folder.mkdir(parents=True, exist_ok=True)
    release = f"usearch=={encoders.versions_of(['usearch'])['usearch']}"
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "usearch", "-d", str(folder), release],
                   check=True, stdout=sys.stderr)
    source = next(folder.glob("usearch-*.tar.gz"))
    shutil.unpack_archive(source, folder, filter="data")
    include = next(folder.glob("usearch-*/include"))
    subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-ffast-math", "-w", "-I", str(include), str(HERE / "usearch_filtered.cpp"),
                    "-o", str(program)], check=True)
    return program


class Contender:
    """A case of a process, with its name in the report."""

    def __init__(self, name: str, process: Talker, request: str, recall: float | None = None, note: str = "", ours: bool = False,
                 effort: int = 0):
        self.name, self.process, self.request, self.effort = name, process, request, effort
        self.recall, self.note, self.ours, self.rounds = recall, note, ours, []

    def measure(self) -> None:
        if self.effort:  # A process may have several cases.
            self.process.ask(json.dumps({"effort": self.effort}))
        busy, cpu, begin = encoders.busy_seconds(), self.process.cpu_seconds(), time.perf_counter()
        found = self.process.ask(self.request)
        wall, used = time.perf_counter() - begin, self.process.cpu_seconds() - cpu
        found["others"] = max(0.0, (encoders.busy_seconds() - busy - used) / wall)
        found.pop("found", None)
        self.recall = found.get("recall", self.recall)
        self.rounds.append(found)


def timed(case: str, args) -> str:
    return json.dumps({"time": case, "seconds": args.seconds})


# ---- groups

def vectors_file(args) -> pathlib.Path:
    """The smallest file with enough rows."""
    for file in sorted(args.data.glob("windows_*.f32"), key=lambda file: file.stat().st_size):
        if file.stat().st_size >= args.rows * DIMENSION * 4:
            return file
    sys.exit(f"no {args.rows} vectors in {args.data}; make them with index_data.py")


def truth_file(args) -> pathlib.Path:
    """The score of each query's last neighbour, among all rows and among each tenant's rows."""
    import numpy

    path = args.data / f"truth_{args.rows}.npz"
    if path.exists():
        return path
    say(f"exact neighbours of {args.rows} rows")
    rows = numpy.memmap(vectors_file(args), "<f4", "r").reshape(-1, DIMENSION)[: args.rows]
    queries = numpy.fromfile(args.data / "queries_1k.f32", "<f4").reshape(-1, DIMENSION)
    best = {scope: numpy.full((len(queries), LIMIT), -2, "f4") for scope in ["all", *index_peers.TENANTS]}
    for begin in range(0, args.rows, QUERY_BLOCK_ROWS):
        block = rows[begin:begin + QUERY_BLOCK_ROWS]
        numbers, scores = numpy.arange(begin, begin + len(block)), queries @ block.T
        for scope in best:
            kept = scores if scope == "all" else scores[:, index_peers.owns(scope, numbers)]
            best[scope] = -numpy.sort(-numpy.concatenate([best[scope], kept], axis=1), axis=1)[:, :LIMIT]
    numpy.savez(path, limit=LIMIT, **{scope: found[:, -1] for scope, found in best.items()})
    return path


def vector_config(args) -> dict:
    return {"vectors": str(vectors_file(args)), "rows": args.rows, "dimension": DIMENSION, "queries": str(args.data / "queries_1k.f32"),
            "truth": str(truth_file(args)), "graphs": str(args.data), "build_threads": args.build_threads}


def our_vectors(args) -> Ours:
    return Ours(args, "--vectors", str(vectors_file(args)), "--queries", str(args.data / "queries_1k.f32"), "--rows", str(args.rows))


def scope_group(args, started: list[Talker]) -> list[tuple[str, list[Contender]]]:
    ours = our_vectors(args)
    config = vector_config(args)
    started.append(ours)
    ours_all = Contender("ours", ours, "vectors.all.10", ours=True)
    contenders = [ours_all, Contender("own scan in 32 bits", ours, "scan.fp32.10", recall=1.0)]
    equal = ours.ask("vectors.all.10")["recall"] - RECALL_SLACK
    say(f"  our recall {equal + RECALL_SLACK:.4f}")
    graphs = [("usearch f32", "usearch", {"kind": "f32"}), ("usearch i8, 40 rescored", "usearch", {"kind": "i8"}), ("hnswlib", "hnswlib", {})]
    for name, kind, more in graphs:
        if not args.peers or args.peers in name:
            peer = Peer(args, name, kind, **config, **more)
            started.append(peer)
            for target in sorted({min(args.recall, equal), equal}):
                tuned = peer.ask(json.dumps({"tune": "all", "recall": target}))
                say(f"  {name}: effort {tuned['effort']}, recall {tuned['recall']:.4f} {peer.info}")
                contenders.append(Contender(name, peer, timed("all", args), recall=tuned["recall"], note=f"ef {tuned['effort']}", effort=tuned["effort"]))
    if args.rows <= 200_000 and (not args.peers or args.peers in "faiss"):
        peer = Peer(args, "faiss flat", "faiss", **config)
        started.append(peer)
        contenders.append(Contender("faiss flat", peer, timed("all", args), recall=1.0))
    return [(f"nearest 10 of {args.rows} rows", contenders)]


def tenant_group(args, started: list[Talker]) -> list[tuple[str, list[Contender]]]:
    ours = our_vectors(args)
    config = vector_config(args)
    started.append(ours)
    graph = args.data / f"usearch_f32_{args.rows}"
    if not graph.exists():
        Peer(args, "usearch f32", "usearch", **config, kind="f32").close()
    filtered = UsearchFiltered(args, graph)
    started.append(filtered)
    hnswlib = Peer(args, "hnswlib, filter", "hnswlib", **config)
    started.append(hnswlib)
    faiss = Peer(args, "faiss flat, bitmap", "faiss", **config)
    started.append(faiss)
    checker = index_peers.VectorPeer(config)
    out = []
    for tenant, (one_in, remainder) in index_peers.TENANTS.items():
        request, recall, effort = tuned_filter(filtered, checker, tenant)
        tuned = hnswlib.ask(json.dumps({"tune": tenant, "recall": FILTER_RECALL, "sample": FILTER_SAMPLE}))
        out.append((f"nearest 10 of a tenant's {args.rows // one_in} rows, of {args.rows}",
                    [Contender("ours, filter", ours, f"vectors.filter.{tenant}.10", ours=True),
                     Contender("ours, corpus of its own", ours, f"vectors.corpus.{tenant}.10", ours=True),
                     Contender(filtered.name, filtered, request, recall=recall, note=f"ef {effort}"),
                     Contender(hnswlib.name, hnswlib, timed(tenant, args), recall=tuned["recall"], note=f"ef {tuned['effort']}", effort=tuned["effort"]),
                     Contender(faiss.name, faiss, timed(tenant, args), recall=1.0)]))
    return out


def tuned_filter(filtered: UsearchFiltered, checker: index_peers.VectorPeer, tenant: str) -> tuple[str, float, int]:
    """The lowest effort that reaches the recall, on as many queries as time permits."""
    one_in, remainder = index_peers.TENANTS[tenant]
    for effort in (16, 32, 64, 128, 256, 512):
        request = f"{one_in} {remainder} {effort}"
        found = [rows for rows in filtered.ask(request)["found"] if rows]
        recall = checker.recall(tenant, found)
        if recall >= FILTER_RECALL:
            break
    return request, recall, effort


def keyword_group(args, started: list[Talker]) -> list[tuple[str, list[Contender]]]:
    texts, questions = args.data / "passages_100k.jsonl", args.data / "questions.jsonl"
    ours = Ours(args, "--texts", str(texts), "--questions", str(questions), "--rows", str(args.rows))
    started.append(ours)
    contenders = [Contender("ours", ours, "keywords.all.18", ours=True)]
    config = {"texts": str(texts), "questions": str(questions), "rows": args.rows, "stop_words": STOP_WORDS}
    forms = [("tantivy", "tantivy", {"stop": False}), ("tantivy, no stop words", "tantivy", {"stop": True}),
             ("bm25s numpy", "bm25s", {"stop": True, "kind": "numpy"}), ("bm25s numba", "bm25s", {"stop": True, "kind": "numba"}),
             ("FTS5", "fts5", {"stop": False}), ("FTS5, no stop words", "fts5", {"stop": True}),
             ("Xapian", "xapian", {"stop": False}), ("Xapian, no stop words", "xapian", {"stop": True})]
    for name, kind, more in forms:
        if args.peers and args.peers not in name:
            continue
        python = args.system_python if kind == "xapian" else sys.executable
        if kind == "xapian" and subprocess.run([python, "-c", "import xapian"], stderr=subprocess.DEVNULL).returncode != 0:
            say(f"  no Xapian for {python}: apt-get install python3-xapian")
            continue
        peer = Peer(args, name, kind, python=python, **config, **more)
        started.append(peer)
        say(f"  {name}: {peer.info}")
        contenders.append(Contender(name, peer, timed("all", args)))
    return [(f"best 18 of {args.rows} passages by words", contenders)]


def exported(args, folder: pathlib.Path) -> pathlib.Path | None:
    """Vectors, token codes and texts of our own corpus in formats that Python reads fast; None if the corpus has no codes."""
    import sqlite3

    import numpy

    base = sqlite3.connect(f"file:{folder / 'footnote.db'}?mode=ro", uri=True)
    stamp = json.dumps([str(folder.resolve()), *base.execute("SELECT count(*), max(id) FROM chunks WHERE died IS NULL").fetchone(),
                        *base.execute("SELECT count(*), total(length(signs)), max(form) FROM chunk_codes").fetchone()])
    if not json.loads(stamp)[3]:
        return None
    out = args.data / f"exported_{args.rows}"
    if (out / "stamp").exists() and (out / "stamp").read_text() == stamp:
        return out
    say(f"  exporting {folder} to {out}")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    rows = "FROM chunks c JOIN {} t ON t.chunk_id = c.id WHERE c.died IS NULL ORDER BY c.id"
    with open(out / "vectors.f32", "wb") as file:
        for vectors, in base.execute("SELECT vectors " + rows.format("chunk_vectors")):
            file.write(vectors[:DIMENSION * 4])
    firsts = [0]
    with open(out / "codes.u8", "wb") as file:
        for signs, in base.execute("SELECT signs " + rows.format("chunk_codes")):
            file.write(signs)
            firsts.append(firsts[-1] + len(signs) // index_peers.CODE_BYTES)
    numpy.save(out / "first_token.npy", numpy.array(firsts))
    texts = sqlite3.connect(out / "texts.db")
    texts.execute("CREATE TABLE passages (id INTEGER PRIMARY KEY, document INTEGER, text TEXT)")
    passages = base.execute("SELECT document_id, text FROM chunks WHERE died IS NULL ORDER BY id")
    texts.executemany("INSERT INTO passages VALUES (?, ?, ?)", ((row, *passage) for row, passage in enumerate(passages)))
    texts.commit()
    texts.close()
    (out / "stamp").write_text(stamp)
    return out


AGREEMENT_QUESTIONS = 200
AGREEMENT_DEPTH = 10


def first_of_ours(args, folder: pathlib.Path) -> list[list[int]]:
    """The best passages for the first questions from our own server, as row numbers of the export."""
    import urllib.request

    sys.path.append(str(ROOT / "tests/server"))
    from server import free_port  # of tests/server

    port = free_port()
    command = [str(args.footnote), "serve", "--data", str(folder), "--port", str(port)]
    environment = os.environ | {"FOOTNOTE_MODELS": str(args.model.parent), "RERANKER_PROVIDER": "none", "FOOTNOTE_LOG_LEVEL": "error"}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=None if args.verbose else subprocess.DEVNULL)
    out, patience = [], time.monotonic() + 60
    try:
        for question in index_peers.read_texts(args.data / "questions.jsonl", AGREEMENT_QUESTIONS):
            body = json.dumps({"query": question, "limit": AGREEMENT_DEPTH}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{port}/api/search", body, {"content-type": "application/json"})
            while True:
                try:
                    answer = json.loads(urllib.request.urlopen(request, timeout=60).read())
                    break
                except OSError:  # Not ready yet.
                    if server.poll() is not None or time.monotonic() > patience:
                        raise
                    time.sleep(0.05)
            out.append([hit["chunk_id"] - 1 for hit in answer["hits"]])
    finally:
        server.terminate()
        server.wait()
    return out


def mean_overlap(ours: list[list[int]], theirs: list[list[int]]) -> float:
    shares = [len(set(mine) & set(other[:len(mine)])) / len(mine) for mine, other in zip(ours, theirs, strict=True) if mine]
    return statistics.mean(shares)


def retrieve_group(args, started: list[Talker]) -> list[tuple[str, list[Contender]]]:
    folder = args.corpus or args.data / f"corpus_{args.rows}"
    texts, questions = args.data / "passages_100k.jsonl", args.data / "questions.jsonl"
    if not folder.exists():
        say(f"  filling {folder}")
        subprocess.run([str(args.footnote), "bench", "index", "--fill", "--texts", str(texts), "--vectors", str(vectors_file(args)), "--rows",
                        str(args.rows), "--data", str(folder)], check=True, stdout=sys.stderr,
                       env=os.environ | {"FOOTNOTE_MODELS": str(args.model.parent)})
    if not args.onnx.exists():
        sys.exit(f"no {args.onnx}; bench/peers/encoders.py writes it")
    codes = exported(args, folder)
    best_of_ours = first_of_ours(args, folder) if codes else []
    ours = Ours(args, "--retrieve", "--questions", str(questions), "--data", str(folder))
    started.append(ours)
    contenders = [Contender("ours", ours, "retrieve.all", ours=True)]
    common = {"questions": str(questions), "stop_words": STOP_WORDS, "model": str(args.onnx), "tokenizer": str(args.model / "tokenizer.json"),
              "dimension": DIMENSION, "build_threads": args.build_threads}

    def add(name: str, library: str, threads: int, **config) -> None:
        if args.peers and args.peers not in name:
            return
        peer = Peer(args, name, library, **(common | config), threads=threads)
        started.append(peer)
        note = f"{threads} threads" if threads > 1 else "1 thread"
        if library == "whole-pipeline":
            overlap = mean_overlap(best_of_ours, peer.ask(json.dumps({"rows": AGREEMENT_QUESTIONS}))["rows"])
            note += f", ef {peer.info['effort']} for {peer.info['share of the nearest']:.3f} of the nearest, has {overlap:.2f} of our best {AGREEMENT_DEPTH}"
            say(f"  {name}: {note}")
        contenders.append(Contender(name, peer, timed("all", args), note=note))

    if not codes:
        say("  the corpus has no token codes: no peer compares tokens, and nor do we")
    for threads in sorted({1, args.threads}):  # More threads may cost more than they gain.
        add("recall and fusion alone", "pipeline", threads, **vector_config(args), texts=str(texts))
        for kind in ("onnx", "numpy") if codes else ():
            add(f"the same job, tokens by {kind}", "whole-pipeline", threads, exported=str(codes), kind=kind,
                centre=str(ROOT / f"models/late/{args.model.name}.bin"))
    return [(f"whole retrieval of a question, {args.rows} chunks", contenders)]


GROUPS = {"scope": scope_group, "tenant": tenant_group, "keywords": keyword_group, "retrieve": retrieve_group}


# ---- measuring

def run_rounds(title: str, contenders: list[Contender], args) -> None:
    say(title)
    for turn in range(args.rounds):
        at = turn % len(contenders)
        for one in contenders[at:] + contenders[:at]:
            one.measure()
        say(f"  round {turn + 1}/{args.rounds}: " + ", ".join(f"{one.name} {one.rounds[-1]['p50_us']:.0f}" for one in contenders))


def compare(title: str, contenders: list[Contender]) -> list[dict]:
    """Compares each peer with each of ours, round by round."""
    out = []
    for ours in (one for one in contenders if one.ours):
        for peer in (one for one in contenders if not one.ours):
            row = {"title": title, "ours": ours.name, "peer": peer.name, "note": peer.note, "ours_recall": ours.recall, "peer_recall": peer.recall}
            for what in ("p50_us", "p99_us", "cpu_us", "ranked_p50_us", "ranked_p99_us"):
                if what not in ours.rounds[0] or what not in peer.rounds[0]:
                    continue
                ratios = [theirs[what] / mine[what] for mine, theirs in zip(ours.rounds, peer.rounds, strict=True)]
                row[what] = {"ours": statistics.median(one[what] for one in ours.rounds), "peer": statistics.median(one[what] for one in peer.rounds),
                             "ratio": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)}
            out.append(row)
    return out


def print_table(rows: list[dict], loads: list[float]) -> None:
    def recall(value) -> str:
        return "" if value is None else f"{value:.4f}"

    print(f"\n{rows[0]['title']}; others kept {statistics.mean(loads):.2f} processors busy (most {max(loads):.2f}). Microseconds, medians of rounds.\n")
    print("| ours | p50 | p99 | recall | peer | p50 | p99 | recall | times as fast, p50 (lowest-highest) | p99 | processor time |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        p50, p99, cpu = row["p50_us"], row["p99_us"], row["cpu_us"]
        peer = row["peer"] + (f" ({row['note']})" if row["note"] else "")
        print(f"| {row['ours']} | {p50['ours']:.0f} | {p99['ours']:.0f} | {recall(row['ours_recall'])} | {peer} | {p50['peer']:.0f} | {p99['peer']:.0f} | "
              f"{recall(row['peer_recall'])} | {p50['ratio']:.1f} ({p50['lowest']:.1f}-{p50['highest']:.1f}) | {p99['ratio']:.1f} | {cpu['ratio']:.1f} |",
              flush=True)
    ranked = [row for row in rows if "ranked_p50_us" in row]
    if ranked:
        print("\nUntil the passages are ranked, before texts are fetched:\n\n| peer | ours p50 | p99 | peer p50 | p99 | times as fast, p50 (lowest-highest) | p99 |\n|---|---|---|---|---|---|---|")
    for row in ranked:
        p50, p99 = row["ranked_p50_us"], row["ranked_p99_us"]
        print(f"| {row['peer']} ({row['note']}) | {p50['ours']:.0f} | {p99['ours']:.0f} | {p50['peer']:.0f} | {p99['peer']:.0f} | "
              f"{p50['ratio']:.1f} ({p50['lowest']:.1f}-{p50['highest']:.1f}) | {p99['ratio']:.1f} |", flush=True)


def run_group(name: str, args, results: dict) -> None:
    started: list[Talker] = []
    try:
        for title, contenders in GROUPS[name](args, started):
            run_rounds(title, contenders, args)
            rows = compare(title, contenders)
            loads = [one["others"] for contender in contenders for one in contender.rounds]
            results["groups"].append({"group": name, "title": title, "comparison": rows, "builds": [line for one in started for line in getattr(one, "builds", [])],
                                      "rounds": {f"{one.name} {one.note}".strip(): one.rounds for one in contenders},
                                      "info": {one.name: one.info for one in started if isinstance(one, Peer)}})
            print_table(rows, loads)
    finally:
        for one in started:
            one.close()


def build_graphs(args) -> None:
    for name, more in (("hnswlib", {}), ("usearch", {"kind": "f32"}), ("usearch", {"kind": "i8"})):
        say(f"{name} {more} of {args.rows} rows")
        peer = Peer(args, name, name, **vector_config(args), **more)
        say(f"  {peer.info}")
        peer.close()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="what index_data.py wrote")
    parser.add_argument("--footnote", type=pathlib.Path, default=ROOT / "build/release/footnote")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / ".deps/models/all-MiniLM-L6-v2")
    parser.add_argument("--onnx", type=pathlib.Path, help="the pipeline's model (fused-int8.onnx of build/peers/models)")
    parser.add_argument("--corpus", type=pathlib.Path, help="a filled data folder for `retrieve` (made in --data with given vectors)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/peers", help="environment, programs, results")
    parser.add_argument("--python-env", type=pathlib.Path, help="a virtual environment that has what is needed")
    parser.add_argument("--system-python", default="/usr/bin/python3", help="a Python that has Xapian (%(default)s)")
    parser.add_argument("--groups", default=",".join(GROUPS), help="(%(default)s)")
    parser.add_argument("--peers", default="", help="only peers with this in their name")
    parser.add_argument("--rows", type=int, default=100_000, help="(%(default)s)")
    parser.add_argument("--recall", type=float, default=0.99, help="what is asked of graphs beside our own recall (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="that one question may use, in ours and in the pipeline of `retrieve` (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1, help="what a contender has in a round (%(default)s)")
    parser.add_argument("--build-threads", type=int, default=os.cpu_count(), help="for graphs (%(default)s)")
    parser.add_argument("--build-only", action="store_true", help="build the graphs of so many rows and keep them")
    parser.add_argument("--verbose", action="store_true", help="what the libraries say, too")
    args = parser.parse_args()
    args.data, args.out, args.torch = args.data.absolute(), args.out.absolute(), False
    args.onnx = args.onnx or args.out / "models/fused-int8.onnx"
    return args


def main() -> None:
    args = parse_arguments()
    encoders.enter_environment(args)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.build_only:
        return build_graphs(args)
    results = {"machine": encoders.describe_machine(), "rows": args.rows, "rounds": args.rounds, "seconds": args.seconds,
               "versions": encoders.versions_of(["usearch", "hnswlib", "faiss-cpu", "tantivy", "bm25s", "onnxruntime"]),
               "load_begin": os.getloadavg(), "groups": []}
    print("Peers: " + ", ".join(f"{name} {version}" for name, version in results["versions"].items()) + f"; load average {os.getloadavg()[0]:.1f} at the start.")
    for name in args.groups.split(","):
        run_group(name, args, results)
        results["load_end"] = os.getloadavg()
        (args.out / "indexes.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()

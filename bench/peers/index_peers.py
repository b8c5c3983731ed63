"""The peers of bench/peers/indexes.py. Each runs in a separate process that builds or opens its index and then handles requests.

    python3 index_peers.py NAME CONFIG

CONFIG is JSON (indexes.py writes it). The first output line reports that the process is ready and lists its cases; then each input line
is a request: {"time": CASE, "seconds": N} and, for graphs, {"tune": CASE, "recall": R} (the lowest effort that reaches that recall, on the first
"sample" queries) or {"effort": N}; for pipelines {"rows": N}, the results of the first N questions. One thread each; building may use more.
"""
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# tokenizers.py in this folder has the same name as a package.
sys.path = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]

RUNS_MIN = 20
WARM_UP = 5
SCORE_TOLERANCE = 1e-6  # The same as in `footnote bench index`.
EFFORTS = [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
ROWS_PER_DOCUMENT = 10  # The same.
TENANTS = {"one-percent": (100, 0), "ten-percent": (10, 1)}
KEYWORD_LIMIT = 18
PIPELINE_RECALL = 100
PIPELINE_SHARE = 0.99  # The share of the nearest vectors that the pipeline's vector search must find,
PIPELINE_SAMPLE = 200  # measured on this many questions.
# The same as ours (domain/profile.h): candidates whose tokens are compared, passages per document, passages whose texts are fetched.
LATE_CANDIDATES = 100
PER_DOCUMENT = 3
SHOWN = 18
CODE_BYTES = 48


def owns(tenant: str, row):
    one_in, remainder = TENANTS[tenant]
    return row // ROWS_PER_DOCUMENT % one_in == remainder


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def read_texts(path: str, rows: int = 0) -> list[str]:
    with open(path, encoding="utf-8") as lines:
        out = [json.loads(line)["text"] for line, _ in zip(lines, range(rows or 10**9))]
    return out


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


class Peer:
    """`cases` map names to functions from a query's number to the rows found; `info` is reported with them."""

    def __init__(self):
        self.cases, self.info, self.queries = {}, {}, 0
        self.ranked_at = None  # The time when passages were ranked and texts not yet fetched, if known.

    def time(self, case: str, seconds: float) -> dict:
        run, times, ranked = self.cases[case], [], []
        for query in range(WARM_UP):
            run(query % self.queries)
        used, end = time.process_time(), time.perf_counter() + seconds
        while len(times) < RUNS_MIN or time.perf_counter() < end:
            begin = time.perf_counter()
            run(len(times) % self.queries)
            times.append(time.perf_counter() - begin)
            if self.ranked_at:
                ranked.append(self.ranked_at - begin)
        more = {"ranked_p50_us": percentile(ranked, 0.5) * 1e6, "ranked_p99_us": percentile(ranked, 0.99) * 1e6} if ranked else {}
        return more | {"p50_us": percentile(times, 0.5) * 1e6, "p99_us": percentile(times, 0.99) * 1e6,
                       "cpu_us": (time.process_time() - used) / len(times) * 1e6, "runs": len(times)}


class VectorPeer(Peer):
    """Vectors by row number, and the computation of recall."""

    def __init__(self, config: dict):
        super().__init__()
        import numpy

        self.numpy, self.config = numpy, config
        self.rows = numpy.memmap(config["vectors"], "<f4", "r").reshape(-1, config["dimension"])[: config["rows"]]
        self.vectors = numpy.fromfile(config["queries"], "<f4").reshape(-1, config["dimension"])
        self.queries = len(self.vectors)
        self.floors = numpy.load(config["truth"])

    def saved(self, name: str) -> pathlib.Path:
        return pathlib.Path(self.config["graphs"]) / f"{name}_{self.config['rows']}"

    def recall(self, case: str, found=None, sample: int = 0) -> float:
        """The recall of given results, or of the first queries."""
        scope = case if case in self.floors else "all"
        floors, limit, hits = self.floors[scope], int(self.floors["limit"]), 0
        queries = len(found) if found else sample or self.queries
        for query in range(queries):
            rows = self.numpy.asarray(found[query] if found else self.cases[case](query), "int64")[:limit]
            hits += int((self.rows[rows] @ self.vectors[query] >= floors[query] - SCORE_TOLERANCE).sum())
        return min(1.0, hits / (queries * limit))

    def set_effort(self, effort: int) -> None:
        raise NotImplementedError

    def tune(self, case: str, target: float, sample: int) -> dict:
        for effort in EFFORTS:
            self.set_effort(effort)
            recall = self.recall(case, sample=sample)
            if recall >= target:
                break
        return {"effort": effort, "recall": recall, "reached": recall >= target}

    def built(self, path: pathlib.Path, build, load):
        """Loads the saved index, or builds and saves it."""
        begin = time.monotonic()
        if path.exists():
            index = load()
            self.info["load_seconds"] = time.monotonic() - begin
        else:
            index = build()
            self.info["build_seconds"] = time.monotonic() - begin
        self.info["file_bytes"] = path.stat().st_size
        return index


class Usearch(VectorPeer):
    """Inner product of unit vectors. In 8 bits, four times as many rows are fetched and rescored with full vectors, as its authors recommend."""

    def __init__(self, config: dict):
        super().__init__(config)
        from usearch.index import Index

        kind, path = config["kind"], self.saved(f"usearch_{config['kind']}")

        def build():
            index = Index(ndim=config["dimension"], metric="ip", dtype=kind, connectivity=16, expansion_add=128)
            index.add(self.numpy.arange(len(self.rows)), self.rows, threads=config["build_threads"])
            index.save(str(path))
            return index

        self.index = self.built(path, build, lambda: Index.restore(str(path)))
        self.info |= {"memory_bytes": self.index.memory_usage}
        self.cases = {"all": self.plain if kind == "f32" else self.rescored}

    def set_effort(self, effort: int) -> None:
        self.index.expansion_search = effort

    def plain(self, query: int):
        return self.index.search(self.vectors[query], 10, threads=1).keys

    def rescored(self, query: int):
        keys = self.index.search(self.vectors[query], 40, threads=1).keys
        scores = self.rows[keys] @ self.vectors[query]
        return keys[self.numpy.argsort(-scores)[:10]]


class Hnswlib(VectorPeer):
    def __init__(self, config: dict):
        super().__init__(config)
        import hnswlib

        path = self.saved("hnswlib")
        index = hnswlib.Index("ip", config["dimension"])

        def build():
            index.init_index(len(self.rows), ef_construction=200, M=16)
            index.set_num_threads(config["build_threads"])
            for begin in range(0, len(self.rows), 10_000):
                index.add_items(self.rows[begin:begin + 10_000], range(begin, min(begin + 10_000, len(self.rows))))
            index.save_index(str(path))

        self.built(path, build, lambda: index.load_index(str(path), max_elements=len(self.rows)))
        index.set_num_threads(1)
        self.index = index
        self.cases = {"all": lambda query: index.knn_query(self.vectors[query], 10)[0][0]}
        for tenant, (one_in, remainder) in TENANTS.items():
            # Its filter is a Python function.
            def owned(row, one_in=one_in, remainder=remainder):
                return row // ROWS_PER_DOCUMENT % one_in == remainder

            self.cases[tenant] = lambda query, owned=owned: self.filtered(query, owned)

    def filtered(self, query: int, owned):
        try:
            return self.index.knn_query(self.vectors[query], 10, filter=owned)[0][0]
        except RuntimeError:  # Raised if it finds fewer than ten.
            return []

    def set_effort(self, effort: int) -> None:
        self.index.set_ef(effort)


class Faiss(VectorPeer):
    """Exact, one scan; a tenant by a bitmap of its rows."""

    def __init__(self, config: dict):
        super().__init__(config)
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexFlatIP(config["dimension"])
        index.add(self.numpy.ascontiguousarray(self.rows))
        self.index = index
        self.cases = {"all": lambda query: index.search(self.vectors[query:query + 1], 10)[1][0]}
        for tenant in TENANTS:
            mask = owns(tenant, self.numpy.arange(len(self.rows)))
            bitmap = faiss.IDSelectorBitmap(self.numpy.packbits(mask, bitorder="little"))
            options = faiss.SearchParameters(sel=bitmap)
            self.cases[tenant] = lambda query, options=options, keep=bitmap: index.search(self.vectors[query:query + 1], 10, params=options)[1][0]


class KeywordPeer(Peer):
    def __init__(self, config: dict):
        super().__init__()
        self.texts, self.questions = read_texts(config["texts"], config["rows"]), read_texts(config["questions"])
        self.stop_words = set(config["stop_words"]) if config["stop"] else set()
        self.queries = len(self.questions)
        begin = time.monotonic()
        search = self.build(config)
        self.info["build_seconds"] = time.monotonic() - begin
        self.cases = {"all": lambda question: search(self.questions[question])}

    def kept(self, text: str) -> list[str]:
        return [word for word in words_of(text) if word not in self.stop_words]

    def build(self, config: dict):
        raise NotImplementedError


def tantivy_search(texts: list[str], stop_words: set[str], limit: int):
    """In memory, one segment, English stemmer, no positions. The search returns scores and addresses."""
    import tantivy

    fields = tantivy.SchemaBuilder()
    fields.add_text_field("text", stored=False, tokenizer_name="english", index_option="freq")
    index = tantivy.Index(fields.build())
    steps = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(40)).filter(tantivy.Filter.lowercase())
    if stop_words:
        steps = steps.filter(tantivy.Filter.custom_stopword(sorted(stop_words)))
    index.register_tokenizer("english", steps.filter(tantivy.Filter.stemmer("english")).build())
    writer = index.writer(heap_size=2_000_000_000, num_threads=1)
    for text in texts:
        writer.add_document(tantivy.Document(text=[text]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: str):
        query = index.parse_query(" ".join(words_of(question)), ["text"])
        return searcher.search(query, limit, count=False).hits

    return search


class Tantivy(KeywordPeer):
    def build(self, config: dict):
        return tantivy_search(self.texts, self.stop_words, KEYWORD_LIMIT)


class Bm25s(KeywordPeer):
    """With its own stop words and Snowball's stemmer, as its documentation recommends."""

    def build(self, config: dict):
        import bm25s
        import Stemmer

        stemmer = Stemmer.Stemmer("english")
        tokens = bm25s.tokenize(self.texts, stopwords="en", stemmer=stemmer, show_progress=False)
        index = bm25s.BM25(backend=config["kind"])
        index.index(tokens, show_progress=False)
        known = index.vocab_dict

        def search(question: str):
            tokens = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
            wanted = [[word for word in tokens[0] if word in known] or [""]]
            return index.retrieve(wanted, k=KEYWORD_LIMIT, show_progress=False, n_threads=0)[0][0]

        return search


class Fts5(KeywordPeer):
    """In memory, Porter's stemmer, one segment. Positions are stored: without them FTS5 would rank by the text itself."""

    def build(self, config: dict):
        import sqlite3

        base = sqlite3.connect(":memory:")
        base.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='porter unicode61')")
        base.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)", enumerate(self.texts))
        base.execute("INSERT INTO t(t) VALUES ('optimize')")
        base.commit()
        self.info["sqlite"] = sqlite3.sqlite_version

        def search(question: str):
            wanted = " OR ".join(f'"{word}"' for word in self.kept(question)) or '""'
            return [row for row, in base.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (wanted, KEYWORD_LIMIT))]

        return search


class Xapian(KeywordPeer):
    """A compacted file, which is in the page cache by then."""

    def build(self, config: dict):
        import shutil
        import tempfile

        import xapian

        folder = tempfile.mkdtemp()
        stemmer, terms = xapian.Stem("english"), xapian.TermGenerator()
        terms.set_stemmer(stemmer)
        base = xapian.WritableDatabase(folder + "/built", xapian.DB_CREATE)
        for text in self.texts:
            document = xapian.Document()
            terms.set_document(document)
            terms.index_text_without_positions(text)
            base.add_document(document)
        base.commit()
        base.compact(folder + "/compact")
        base.close()
        base = xapian.Database(folder + "/compact")
        base.keep_alive()
        import atexit

        atexit.register(shutil.rmtree, folder)
        parser = xapian.QueryParser()
        parser.set_stemmer(stemmer)
        parser.set_stemming_strategy(xapian.QueryParser.STEM_SOME)
        parser.set_default_op(xapian.Query.OP_OR)
        if self.stop_words:
            stopper = xapian.SimpleStopper()
            for word in self.stop_words:
                stopper.add(word)
            parser.set_stopper(stopper)
            self.stopper = stopper
        enquire = xapian.Enquire(base)
        enquire.set_weighting_scheme(xapian.BM25Weight())
        self.info["xapian"] = xapian.version_string()

        def search(question: str):
            enquire.set_query(parser.parse_query(" ".join(words_of(question)), 0))
            return [hit.docid - 1 for hit in enquire.get_mset(0, KEYWORD_LIMIT)]

        return search


def token_reader(path: str):
    """A function from a text to its token ids."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(path)
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    return lambda text: tokenizer.encode(text).ids


def onnx_session(model: str | bytes, threads: int):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class Pipeline(Peer):
    """A typical Python pipeline: ONNX Runtime in 8 bits embeds, usearch and tantivy search, a sum of min-max scores fuses."""

    def __init__(self, config: dict):
        super().__init__()
        import numpy

        ids_of = token_reader(config["tokenizer"])
        session = onnx_session(config["model"], config["threads"])
        vectors = Usearch(config | {"kind": "f32"})
        vectors.set_effort(128)
        self.info = vectors.info
        self.questions = read_texts(config["questions"])
        self.queries = len(self.questions)
        texts = read_texts(config["texts"], config["rows"])
        search_words = tantivy_search(texts, set(config["stop_words"]), PIPELINE_RECALL)

        def scaled(scores: dict) -> dict:
            if not scores:
                return {}
            low, high = min(scores.values()), max(scores.values())
            return {key: (score - low) / (high - low or 1) for key, score in scores.items()}

        def retrieve(question: int):
            text = self.questions[question]
            ids = numpy.array([ids_of(text)], "int64")
            vector = session.run(None, {"input_ids": ids})[0][0]
            near = vectors.index.search(vector, PIPELINE_RECALL, threads=1)
            by_vector = scaled({int(key): 1 - float(distance) for key, distance in zip(near.keys, near.distances)})
            by_word = scaled({address.doc: score for score, address in search_words(text)})
            fused = {key: 0.5 * by_vector.get(key, 0) + 0.5 * by_word.get(key, 0) for key in by_vector.keys() | by_word.keys()}
            best = sorted(fused, key=lambda key: (-fused[key], key))[:8]
            self.ranked_at = time.perf_counter()
            return [(key, texts[key]) for key in best]

        self.cases = {"all": retrieve}


class LateInteraction:
    """The mean over a question's tokens of the best product with a passage token's signs: the same as engine/late, with numpy and the product selected by `kind`.

    numpy: +-1 in 32 bits from a table of all bytes, one BLAS product. onnx: bits as bytes, one 8-bit product in ONNX Runtime, with the question's
    numbers rounded as ours are. Both process the codes of all passages at once."""

    def __init__(self, folder: pathlib.Path, centre_file: str, kind: str, threads: int):
        import numpy

        self.numpy, self.product = numpy, self.by_numpy if kind == "numpy" else self.by_onnx
        mapped = numpy.memmap(folder / "codes.u8", "uint8", "r").reshape(-1, CODE_BYTES)
        self.codes = mapped.view(numpy.ndarray)  # Slices of a memmap are several times slower.
        self.firsts = numpy.load(folder / "first_token.npy").tolist()
        with open(centre_file, "rb") as file:
            head = numpy.frombuffer(file.read(24)[8:], "<u4")  # See engine/late/late_model.h.
            self.centre = numpy.frombuffer(file.read(4 * int(head[0])), "<f4")
        every_byte = numpy.arange(256, dtype="uint8")[:, None]
        self.signs_of_byte = numpy.unpackbits(every_byte, axis=1, bitorder="little").astype("f4") * 2 - 1
        self.room = numpy.empty((0, CODE_BYTES, 8), "f4")
        if kind == "onnx":
            self.session = onnx_session(integer_product(), threads)

    def by_numpy(self, codes, question):
        if len(self.room) < len(codes):
            self.room = self.numpy.empty((2 * len(codes), CODE_BYTES, 8), "f4")
        signs = self.numpy.take(self.signs_of_byte, codes, axis=0, out=self.room[:len(codes)], mode="clip").reshape(len(codes), -1)
        return signs @ question.T

    def by_onnx(self, codes, question):
        largest = self.numpy.abs(question).max(axis=1)
        rounded = self.numpy.rint(question * (127 / largest)[:, None]).astype("int8")
        bits = self.numpy.unpackbits(codes.reshape(-1), bitorder="little").reshape(len(codes), -1)
        sums = self.session.run(None, {"bits": bits, "question": rounded.T})[0]
        return (2 * sums - rounded.sum(axis=1, dtype="int32")) * (largest / 127)

    def scores(self, rows: list[int], tokens):
        numpy = self.numpy
        question = tokens - self.centre
        question /= numpy.sqrt(numpy.einsum("td,td->t", question, question))[:, None]
        parts = [self.codes[self.firsts[row]:self.firsts[row + 1]] for row in rows]
        begins = [0]
        for part in parts[:-1]:
            begins.append(begins[-1] + len(part))
        products = self.product(numpy.concatenate(parts), question)
        return numpy.maximum.reduceat(products, begins, axis=0).mean(axis=1) * len(self.centre) ** -0.5


def integer_product() -> bytes:
    """An ONNX model of one node: unsigned times signed bytes."""
    from onnx import TensorProto, helper

    inputs = [helper.make_tensor_value_info("bits", TensorProto.UINT8, ["tokens", "numbers"]),
              helper.make_tensor_value_info("question", TensorProto.INT8, ["numbers", "words"])]
    outputs = [helper.make_tensor_value_info("sums", TensorProto.INT32, ["tokens", "words"])]
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["bits", "question"], ["sums"])], "product", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()


def with_token_vectors(path: str) -> bytes:
    """The encoder's ONNX model, its last hidden state as a second output."""
    import onnx

    model = onnx.load(path)
    pooling = next(node for node in model.graph.node if node.op_type == "ReduceMean")
    model.graph.output.append(onnx.helper.make_tensor_value_info(pooling.input[0], onnx.TensorProto.FLOAT, ["batch", "length", "hidden"]))
    return model.SerializeToString()


class WholePipeline(Peer):
    """The same job as ours in the same libraries: recall as in Pipeline, on the vectors of our own corpus; cosines of all candidates; sums of
    standardised scores; late interaction over the first hundred; at most three passages per document; texts from SQLite. Python loops are replaced by
    numpy operations on whole arrays if that is faster."""

    def __init__(self, config: dict):
        super().__init__()
        import sqlite3

        import numpy

        self.numpy, folder = numpy, pathlib.Path(config["exported"])
        self.questions = read_texts(config["questions"])
        self.queries = len(self.questions)
        ids_of = token_reader(config["tokenizer"])
        session = onnx_session(with_token_vectors(config["model"]), config["threads"])
        vectors = numpy.fromfile(folder / "vectors.f32", "<f4").reshape(-1, config["dimension"])
        index = self.nearest(folder / "usearch_bf16", vectors, config)
        sample = [session.run(None, {"input_ids": numpy.array([ids_of(text)], "int64")})[0][0] for text in self.questions[:PIPELINE_SAMPLE]]
        self.info = self.tuned(index, vectors, numpy.array(sample))
        texts = sqlite3.connect(folder / "texts.db", isolation_level=None)
        texts.execute(f"PRAGMA mmap_size = {1 << 30}")
        documents = [document for document, in texts.execute("SELECT document FROM passages ORDER BY id")]
        search_words = tantivy_search([text for text, in texts.execute("SELECT text FROM passages ORDER BY id")], set(config["stop_words"]), PIPELINE_RECALL)
        late = LateInteraction(folder, config["centre"], config["kind"], config["threads"])
        by_ids = f"SELECT id, text FROM passages WHERE id IN ({','.join('?' * SHOWN)})"
        words = numpy.zeros(len(vectors), "f4")  # Cleared after each question.

        def standardised(values):
            values = values - values.mean()
            deviation = numpy.sqrt(values.dot(values) / len(values))
            return values / deviation if deviation > 0 else values

        def retrieve(question: int):
            text = self.questions[question]
            vector, tokens = session.run(None, {"input_ids": numpy.array([ids_of(text)], "int64")})
            near = index.search(vector[0], PIPELINE_RECALL, threads=1).keys.astype("int64")
            hits = search_words(text)
            named = numpy.array([address.doc for _, address in hits], "int64")
            words[named] = [score for score, _ in hits]
            rows = numpy.unique(numpy.concatenate([near, named]))
            by_word = words[rows]
            words[named] = 0
            by_vector = vectors[rows] @ vector[0]
            fused = standardised(by_vector) + standardised(by_word)
            first = numpy.argsort(-fused, kind="stable")[:LATE_CANDIDATES]
            rows = rows[first].tolist()
            sums = standardised(by_vector[first]) + standardised(by_word[first]) + standardised(late.scores(rows, tokens[0]))
            taken, best = {}, []
            for place in numpy.argsort(-sums, kind="stable").tolist():
                document = documents[rows[place]]
                taken[document] = taken.get(document, 0) + 1
                if taken[document] <= PER_DOCUMENT:
                    best.append(rows[place])
                    if len(best) == SHOWN:
                        break
            self.ranked_at = time.perf_counter()
            found = dict(texts.execute(by_ids, best + [-1] * (SHOWN - len(best))))
            return [(row, found[row]) for row in best]

        self.cases = {"all": retrieve}

    @staticmethod
    def nearest(path: pathlib.Path, vectors, config: dict):
        """In 16 bits: finds as many of the nearest hundred as 32 bits in less than half the time."""
        import numpy
        from usearch.index import Index

        if not path.exists():
            index = Index(ndim=config["dimension"], metric="ip", dtype="bf16", connectivity=16, expansion_add=128)
            index.add(numpy.arange(len(vectors)), vectors, threads=config["build_threads"])
            index.save(str(path))
        return Index.restore(str(path))

    @staticmethod
    def tuned(index, vectors, queries) -> dict:
        """The lowest effort that finds PIPELINE_SHARE of the nearest; ours finds .998 of them."""
        import numpy

        nearest = numpy.argpartition(-(queries @ vectors.T), PIPELINE_RECALL, axis=1)[:, :PIPELINE_RECALL]
        for effort in (128, 192, 256, 320, 384, 512, 768, 1024):
            index.expansion_search = effort
            found = index.search(queries, PIPELINE_RECALL).keys
            share = float(numpy.mean([len(numpy.intersect1d(*both)) / PIPELINE_RECALL for both in zip(nearest, found)]))
            if share >= PIPELINE_SHARE:
                break
        return {"effort": effort, "share of the nearest": share}


PEERS = {"usearch": Usearch, "hnswlib": Hnswlib, "faiss": Faiss, "tantivy": Tantivy, "bm25s": Bm25s, "fts5": Fts5, "xapian": Xapian,
         "pipeline": Pipeline, "whole-pipeline": WholePipeline}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Output of libraries must not mix with responses.
    peer = PEERS[sys.argv[1]](json.loads(sys.argv[2]))

    def tell(answer: dict) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    tell({"ready": list(peer.cases), "info": peer.info})
    for line in sys.stdin:
        request = json.loads(line)
        if "time" in request:
            tell(peer.time(request["time"], request["seconds"]))
        elif "rows" in request:
            tell({"rows": [[int(row) for row, _ in peer.cases["all"](query)] for query in range(request["rows"])]})
        elif "tune" in request:
            tell(peer.tune(request["tune"], request["recall"], request.get("sample", 0)))
        else:
            peer.set_effort(request["effort"])
            tell({})


if __name__ == "__main__":
    main()

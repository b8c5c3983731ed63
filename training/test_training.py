"""Tests of the training code; they take seconds and need no data: python3 training/test_training.py

The leak guard and the changes of questions need only the standard library. Training tests need the packages of
requirements.txt and are skipped if these are missing.
"""
import importlib.util
import json
import lzma
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cloze
import corrupt
import held_out
import reader_groups
import reader_questions
import reader_rows

MISSING = [name for name in ("torch", "numpy", "tokenizers", "safetensors") if importlib.util.find_spec(name) is None]
needs_torch = unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}: pip install -r training/requirements.txt")

# The first question of the SQuAD 2 development set, and its context with another ending: the leak guard must find both.
PLANTED_QUESTION = "In what country is Normandy located?"
PLANTED_CONTEXT = ("The Normans (Norman: Nourmands; French: Normands; Latin: Normanni) were the people who in the 10th and 11th centuries gave their name to "
                   "Normandy, a region in France. They were descended from Norse raiders. And here the copy goes on in words of its own.")
CLEAN = {"q": "How long must the kiln cool?", "pos": "The kiln must cool for a day before anyone opens it.", "src": "qed"}


class HeldOut(unittest.TestCase):
    def setUp(self):
        self.known = held_out.read_list()

    def test_a_planted_question_stops_training(self):
        with self.assertRaisesRegex(held_out.LeakError, "1 training rows .*row 1: 'In what country"):
            held_out.guard([CLEAN, CLEAN | {"q": PLANTED_QUESTION}], self.known)

    def test_case_spacing_and_punctuation_hide_nothing(self):
        self.assertEqual(held_out.leaks([CLEAN | {"q": " in WHAT country is\n Normandy, located"}], self.known), [0])

    def test_a_planted_context_is_found_by_its_opening(self):
        for field in ("pos", "context"):
            self.assertEqual(held_out.leaks([CLEAN, CLEAN | {field: PLANTED_CONTEXT}], self.known), [1])

    def test_dropping_counts(self):
        rows, dropped = held_out.guard([CLEAN, CLEAN | {"q": PLANTED_QUESTION}, CLEAN], self.known, drop=True)
        self.assertEqual((rows, dropped), ([CLEAN, CLEAN], 1))

    def test_clean_rows_pass(self):
        self.assertEqual(held_out.guard([CLEAN], self.known), ([CLEAN], 0))

    def test_a_damaged_list_is_an_error(self):
        import lzma
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.xz"
            path.write_bytes(lzma.compress(b"12345"))
            with self.assertRaises(ValueError):
                held_out.read_list(path)


class Corruption(unittest.TestCase):
    PASSAGE = "In 1892 the mayor Anna Holm opened the northern bridge. Karl Berg had drawn it in 1889. It stands today."

    def change(self, kind, question, answer, neighbours=None):
        return corrupt.corrupted(question, self.PASSAGE, answer, neighbours or {}, random.Random(3), (kind,))

    def test_each_kind_changes_its_part_alone(self):
        number, _ = self.change("number", "Who opened the bridge in 1892?", "Anna Holm")
        self.assertRegex(number, r"^Who opened the bridge in \d{4}\?$")
        self.assertNotIn("1892", number)
        name, _ = self.change("name", "What had Karl Berg drawn?", "the northern bridge")
        self.assertIn(name, ("What had Anna Holm drawn?", "What had Karl Berg drawn?".replace("Karl Berg", "Anna Holm")))
        self.assertEqual(self.change("word", "Who opened the northern bridge?", "Anna Holm")[0].split()[3], "southern")
        self.assertEqual(self.change("negation", "When was it drawn?", "1889")[0], "When was not it drawn?")
        asked = self.change("type", "When was it drawn?", "1889")[0]
        self.assertRegex(asked, r"^(Who|Where|How many|How much|Why) was it drawn\?$")

    def test_neighbours_stand_in_where_there_is_no_opposite(self):
        self.assertEqual(self.change("word", "Who is the mayor?", "Anna Holm", {"mayor": ["burgess", "reeve", "alderman", "governor"]})[0], "Who is the governor?")

    def test_words_of_the_passage_stand_in_for_words_of_their_sort(self):
        self.assertEqual(self.change("inside", "Who opened the road?", "Anna Holm", {"road": ["rail", "bridge"]})[0], "Who opened the bridge?")
        self.assertIsNone(self.change("inside", "Who opened the road?", "the northern bridge", {"road": ["bridge"]}), "the answer is no change")

    def test_names_and_words_of_a_sort_trade_places(self):
        self.assertEqual(self.change("swap", "what did Karl Berg draw that Anna Holm opened?", "1892")[0], "what did Anna Holm draw that Karl Berg opened?")
        self.assertEqual(self.change("swap", "who was the mayor of the bridge?", "Anna Holm", {"mayor": ["bridge"]})[0], "who was the bridge of the mayor?")

    def test_a_year_is_added_where_none_is_asked_for(self):
        self.assertRegex(self.change("when", "Who opened the bridge?", "Anna Holm")[0], r"^Who opened the bridge in \d{4}\?$")
        self.assertIsNone(self.change("when", "When was it opened?", "1892"))

    def test_many_rows_draw_as_one_would(self):
        rows = [("Who opened the bridge in 1892?", self.PASSAGE, ["Anna Holm"], corrupt.KINDS, 4)] * 3
        first, again = (corrupt.unanswered_all(rows, {}, 1, seed=5) for _ in range(2))
        self.assertEqual(first, again)
        self.assertTrue(all(changed and rest == "Karl Berg had drawn it in 1889. It stands today." for changed, rest in first))
        self.assertTrue(all(text != rows[0][0] for changed, _ in first for text in changed))

    def test_nothing_to_change_is_none(self):
        self.assertIsNone(self.change("number", "Who opened it?", "Anna Holm"))

    def test_a_hole_takes_the_answer_out(self):
        rest = corrupt.hole(self.PASSAGE, ["Anna Holm"])
        self.assertEqual(rest, "Karl Berg had drawn it in 1889. It stands today.")
        self.assertIsNone(corrupt.hole("One sentence with Anna Holm.", ["Anna Holm"]))
        self.assertEqual(corrupt.hole(self.PASSAGE.lower(), ["anna holm"]), "karl berg had drawn it in 1889. it stands today.")


class Clozes(unittest.TestCase):
    def test_the_answer_is_taken_out_and_marked(self):
        passage = "It was cold that day. In 1892 the mayor Anna Holm opened the northern bridge of the town."
        found = [c for seed in range(8) for c in cloze.clozes(passage, random.Random(seed))]
        self.assertLessEqual({passage[a:b] for _, a, b in found}, {"1892", "Anna Holm"})
        self.assertTrue(found)
        for question, a, b in found:
            self.assertRegex(question, r"^(when|in what year|what year|who|what|which|where) .*\?$")
            self.assertNotIn(passage[a:b], question)

    def test_short_sentences_give_none(self):
        self.assertEqual(cloze.clozes("It was Anna Holm.", random.Random(1)), [])


TINY = dict(vocab_size=200, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=512)
WORDS = "how long must the kiln cool for a day who opened bridge in mayor anna holm drew it stands today north south what is red clay and fire water stone . ?".split()


def write_tiny(folder, rows=40):
    """A random model of one layer with a tokenizer of few words, and rows to train it on."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    import judge_model
    vocabulary = {w: 103 + i for i, w in enumerate(dict.fromkeys(WORDS))} | {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(TINY))
    torch.manual_seed(1)
    save_file({k: v.contiguous() for k, v in judge_model.Encoder(TINY).state_dict().items()}, str(folder / "model.safetensors"))
    rng = random.Random(1)
    text = lambda n: " ".join(rng.choice(WORDS) for _ in range(n))
    pairs = [{"q": text(5), "pos": text(30), "src": rng.choice(["qed", "squad_train_nqg", "docs/x"])} for _ in range(rows)]
    reader = []
    for _ in range(rows):
        context = text(25)
        word = context.split()[7]
        reader.append({"q": text(5), "context": context, "answers": [{"text": word, "start": context.index(word)}] if rng.random() < .8 else [], "src": "qed"})
    for name, written in (("pairs", pairs), ("reader", reader)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in written))


@needs_torch
class Training(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_tiny(self.folder)

    def train(self, out, *more):
        import train_judge
        train_judge.main(["--data", str(self.folder), "--model", str(self.folder), "--out", str(self.folder / out), "--runs", "3@48,2@64", "--groups", "2",
                          "--spans", "4", "--processes", "1", *more])
        return self.folder / out

    def test_data_to_weights_that_load_and_repeat(self):
        from safetensors.torch import load_file
        import judge_files
        import judge_model
        first, second = self.train("a"), self.train("b")
        tensors = load_file(str(first / judge_files.WEIGHTS))
        self.assertNotIn(judge_model.WORDS, tensors)
        self.assertIn("encoder.layer.0.attention.self.query.weight", tensors)
        self.assertEqual({str(t.dtype) for t in tensors.values()}, {"torch.float16"})
        same = load_file(str(second / judge_files.WEIGHTS))
        self.assertTrue(all((tensors[k] == same[k]).all() for k in tensors), "the same seed gives the same weights")
        shape, base = judge_model.read_base(self.folder)
        judge_model.judge_of(shape, base, {k: v.float() for k, v in tensors.items()})
        config = json.loads((first / judge_files.CONFIG).read_text())
        self.assertEqual(config["hidden_size"], 16)
        for line in (first / judge_files.SUMS).read_text().splitlines():
            digest, name = line.split("  ")
            self.assertEqual(digest, judge_model.sha256(first / name))

    def test_a_planted_row_stops_the_command(self):
        with open(self.folder / "pairs.jsonl", "a") as rows:
            rows.write(json.dumps(CLEAN | {"q": PLANTED_QUESTION}) + "\n")
        with self.assertRaises(held_out.LeakError):
            self.train("c")
        self.assertFalse((self.folder / "c" / "model.safetensors").exists())

    def test_packed_rows_have_the_form_of_the_judge(self):
        import torch
        import judge_data
        table = lambda *texts: judge_data.Table(texts, "cpu")
        zero = torch.zeros(1, dtype=torch.long)
        ids, kinds, valid, begin = judge_data.pack(table([7, 8]), table([1, 2, 3, 4, 5]), zero, zero, width=9)
        self.assertEqual(ids.tolist(), [[101, 7, 8, 102, 1, 2, 3, 4, 102]])
        self.assertEqual(kinds.tolist(), [[0, 0, 0, 0, 1, 1, 1, 1, 1]])
        self.assertEqual((valid.all().item(), begin.item()), (True, 4))
        ids, _, valid, _ = judge_data.pack(table([7]), table([1, 2]), zero, zero, torch.ones(1, dtype=torch.long), width=6)
        self.assertEqual(ids.tolist(), [[101, 7, 102, 2, 102, 0]])
        self.assertEqual(valid.tolist(), [[True] * 5 + [False]])

    def test_twins_are_drawn_beside_their_question(self):
        import torch
        from tokenizers import Tokenizer
        import judge_data
        examples = judge_data.SpanExamples()
        examples.add_answered("how long", "the kiln must cool for a day", [(5, 6)], 1.0, (["how south", "how north"], None), near=["red clay"])
        examples.add_answered("who opened it", "anna holm opened the bridge", [(0, 1)], 1.0, ([], "it stands today"))
        sampler = judge_data.SpanSampler(examples, Tokenizer.from_file(str(self.folder / "tokenizer.json")), "cpu")
        generator = torch.Generator().manual_seed(3)
        pick, answered, has = sampler.pick(20, generator)
        kinds = [examples.rows[i][0] for i in pick.tolist()]
        self.assertEqual(set(kinds[:answered]), {"answer"})
        self.assertEqual(set(kinds[answered:answered + len(has)]), {"corrupted"})
        for own, twin, real in zip(pick.tolist(), pick.tolist()[answered:], has.tolist()):
            self.assertEqual(real, examples.questions[examples.rows[own][1]] == "how long")
            self.assertTrue(not real or examples.rows[own][2] == examples.rows[twin][2])
        (ids, _, _), target, answered, _ = sampler.draw(20, generator, 24)
        self.assertTrue((target.sum(1) == 1).all())
        self.assertTrue((target[:answered, 0] == 0).all() and (target[answered:, 0] == 1).all())

    def test_a_teachers_opinion_is_the_target(self):
        import torch
        from tokenizers import Tokenizer
        import judge_data
        examples = judge_data.SpanExamples()
        examples.add_answered("how long", "the kiln must cool", [(1, 1)], 1.0, (["how south"], None), soft=0)
        soft = torch.zeros(1, judge_data.PASSAGE_TOKENS, 2)
        soft[0, 1], soft[0, 2] = .75, .25
        sampler = judge_data.SpanSampler(examples, Tokenizer.from_file(str(self.folder / "tokenizer.json")), "cpu", soft)
        _, target, answered, _ = sampler.draw(8, torch.Generator().manual_seed(1), 16)
        whole = target[:answered][target[:answered, 5, 0] == .75]              # an unmoved window: the passage begins at token 4
        self.assertTrue(len(whole) and (whole[:, 6] == .25).all())
        self.assertTrue(torch.allclose(target.sum(1), torch.ones(8, 2)))

    def test_answerability_is_fitted_on_the_features_own_scale(self):
        import numpy
        import answerability
        rng = numpy.random.default_rng(1)
        x = rng.normal(size=(2000, 2)) * [10, .1] + [3, 5]
        labels = rng.random(2000) < 1 / (1 + numpy.exp(-(.2 * x[:, 0] + 10 * x[:, 1] - 50)))
        weights, bias = answerability.fit(x, labels)
        self.assertTrue(numpy.allclose(weights, [.2, 10], rtol=.2), weights)
        self.assertAlmostEqual(bias / -50, 1, delta=.2)

    def test_late_scores_near_a_span_are_below_those_of_the_passage(self):
        import torch
        import judge_data
        import judge_model
        import answerability
        shape, tensors = judge_model.read_base(self.folder)
        embedder = judge_model.embedder_of(shape, tensors)
        questions, passages = judge_data.Table([[110, 111]], "cpu"), judge_data.Table([list(range(103, 133)) * 3], "cpu")
        (near, whole), = answerability.late_scores(embedder, torch.zeros(16), questions, passages, [0], [0], [0], [1])
        self.assertLessEqual(near, whole)
        self.assertGreater(near, -1)

    def test_stems_and_scores(self):
        import words
        self.assertEqual([words.stem(w) for w in ("ponies", "running", "relational", "generalizations")], ["poni", "run", "relat", "gener"])
        index = words.Bm25([words.terms(t) for t in ("the kiln is hot", "bridges of stone", "a bridge")])
        self.assertEqual(index.scores(words.terms("bridge")).argmax(), 2)

    def test_yardsticks(self):
        import numpy
        import judge_eval
        self.assertEqual(judge_eval.auc([1, 2, 3], [0, 0, 1]), 1.0)
        self.assertEqual(judge_eval.auc([1, 1], [0, 1]), .5)
        self.assertAlmostEqual(judge_eval.ndcg(numpy.array([0, 1]), numpy.array([1])), .6309, 4)
        self.assertEqual(judge_eval.token_f1("the bridge", "Bridge!"), 1.0)


class ReaderRows(unittest.TestCase):
    def test_headings_become_questions_of_their_form(self):
        asked = lambda heading, title="", command=False: reader_questions.questions_of(title, heading, "docs/k8s", command)
        self.assertIn("How do I install Git?", asked("Installing Git"))
        self.assertIn("How can I change the order of rows in Kubernetes?", asked("To change the order of rows"))
        self.assertIn("Which command do I use to create a branch?", asked("Create a branch", command=True))
        self.assertNotIn("Which command do I use to create a branch?", asked("Create a branch"))
        self.assertIn("What does list.append() do?", asked("list.append()"))
        self.assertIn("What is the difference between pods and nodes?", asked("pods vs nodes"))
        self.assertIn("How do I fix this: Error 403?", asked("Resolution", "Error 403"))
        self.assertEqual(asked("Who is this for?"), ["Who is this for?"])
        self.assertEqual(asked("Examples"), [])
        self.assertIn("What are use cases?", asked("Use cases"))

    def test_a_long_text_is_cut_around_its_answer(self):
        text = "One sentence. " * 300 + "The kiln cools for a day. " + "Another one. " * 300
        at = text.index("a day")
        piece, spans = reader_rows.cut(text, [(at, at + 5)], random.Random(1))
        self.assertLessEqual(len(piece), reader_rows.PASSAGE_CHARS)
        self.assertEqual([piece[b:e] for b, e in spans], ["a day"])

    def test_titles_are_told_from_the_rows_around(self):
        rows = [{"q": "Firing a kiln", "kind": "title"}, {"q": "Firing a kiln: Cooling"}, {"q": "loading firing a kiln"}, {"q": "Glazes"}]
        self.assertEqual(reader_rows.page_titles(rows), [("Firing a kiln", ""), ("Firing a kiln", "Cooling"), ("Firing a kiln", "loading"), ("", "Glazes")])

    def test_rows_of_the_development_sets_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            rows = [CLEAN | {"context": CLEAN["pos"], "answers": [{"text": "a day", "start": 23}]}, {"q": PLANTED_QUESTION, "context": "x", "answers": [], "src": "qed"}]
            (folder / "reader.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
            known = held_out.read_list()
            with self.assertRaises(held_out.LeakError):
                reader_rows.collect(folder, known, False, log=lambda *_: None)
            qa, _ = reader_rows.collect(folder, known, True, log=lambda *_: None)
            self.assertEqual(list(qa.at.values()), [{"x": CLEAN["pos"], "t": "", "h": "", "s": "qed", "r": [[CLEAN["q"], "span", [[23, 28]]]]}])


class ReaderGroups(unittest.TestCase):
    KILN = {"page": "kiln.md", "header": "Kiln", "text": "The kiln is hot.\n\nIt must cool for `24 hours`.", "blocks": [[0, 16], [18, 46]]}
    CLAY = {"page": "clay.md", "header": "Clay", "text": "Clay rests for 24 hours.", "blocks": [[0, 24]]}
    ASKED = {"id": "a", "set": "pottery", "question": "how long does it cool", "answer": r"for\W+24 hours", "pages": ["kiln.md"]}

    def test_the_block_that_holds_the_answer_is_right(self):
        group = reader_groups.group_of(self.ASKED, [self.KILN])
        self.assertEqual(group["p"], [["Kiln", self.KILN["text"], True, [[18, 46]]]])

    def test_a_match_on_another_page_is_left_out(self):
        self.assertEqual([p[0] for p in reader_groups.group_of(self.ASKED, [self.KILN, self.CLAY])["p"]], ["Kiln"])

    def test_its_page_without_the_answer_teaches_nothing(self):
        elsewhere = self.KILN | {"text": "The kiln is hot.", "blocks": [[0, 16]]}
        self.assertIsNone(reader_groups.group_of(self.ASKED, [elsewhere]))
        self.assertEqual([p[2] for p in reader_groups.group_of(self.ASKED, [elsewhere | {"page": "other.md"}])["p"]], [False])

    def test_a_question_without_an_answer_has_no_right_passage(self):
        asked = {"id": "b", "set": "pottery", "question": "who built it", "unanswerable": True}
        self.assertEqual([p[2:] for p in reader_groups.group_of(asked, [self.KILN])["p"]], [[False, []]])

    def test_ranges_count_code_points(self):
        self.assertEqual(reader_groups.code_points("\u00e4 b", [[3, 4]]), [(2, 3)])


@needs_torch
class ReaderTraining(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_tiny(self.folder)
        self.write_reader_rows()

    def write_reader_rows(self):
        import numpy
        import judge_model
        import reader_weights
        tensors = {k: v.numpy() for k, v in judge_model.Encoder(TINY).state_dict().items()}
        draw = numpy.random.default_rng(1)
        tensors |= {"pooler.dense.weight": draw.normal(size=(16, 16)), "pooler.dense.bias": numpy.zeros(16), "classifier.weight": draw.normal(size=(1, 16)), "classifier.bias": numpy.zeros(1)}
        reader_weights.write(self.folder, reader_weights.START, reader_weights.travelling(tensors), TINY)
        rng = random.Random(2)
        text = lambda n: " ".join(rng.choice(WORDS[:-2]) for _ in range(n))
        entries = []
        for i in range(90):
            passage = text(30)
            word = passage.split()[9]
            row = [text(5), ("span", "right", "none", "yesno")[i % 4], [[passage.index(word), passage.index(word) + len(word)]] if i % 4 == 0 else []]
            entries.append({"x": passage, "t": text(2), "h": text(2), "s": "docs/x" if i % 4 == 1 else "qed", "r": [row]})
        (self.folder / "qa.jsonl").write_text("".join(json.dumps(e) + "\n" for e in entries))
        groups = []
        for i in range(6):
            passages = [[text(2), text(12), False, []] for _ in range(4)]
            if i % 2 == 0:
                passages[1][2:] = [True, [[0, len(passages[1][1])]]]
            groups.append({"q": text(4), "s": "manual", "p": passages})
        with lzma.open(self.folder / "groups.jsonl.xz", "wt") as out:
            out.write("".join(json.dumps(g) + "\n" for g in groups))
        (self.folder / "claims.jsonl").write_text("".join(json.dumps({"q": text(4), "pos": text(9), "label": rng.choice(["supports", "neutral", "refutes"])}) + "\n" for _ in range(9)))

    def train(self, seed, *more):
        import train_reader
        train_reader.main(["--rows", str(self.folder), "--start", str(self.folder), "--out", str(self.folder / "out"), "--cache", str(self.folder / f"cache{seed}"), "--steps", "3", "--singles", "6",
                           "--groups", "3", "--group", "3", "--found", "3", "--claims", "3", "--width", "40", "--processes", "1", "--workers", "0", "--seed", str(seed), *more])

    def test_rows_to_files_that_load(self):
        from safetensors.torch import load_file
        import reader_files
        import reader_model
        self.train(1)
        self.train(2, "--average", str(self.folder / "cache1" / "run1.pt"))
        out = self.folder / "reader"
        reader_files.main(["--parts", str(self.folder / "out" / "average"), "--out", str(out), "--tokenizer", str(self.folder / "tokenizer.json")])
        tensors = load_file(str(out / reader_files.WEIGHTS))
        self.assertEqual(str(tensors["encoder.layer.0.attention.self.query.int8"].dtype), "torch.int8")
        reader_model.built(TINY, tensors)
        rows = json.loads((out / reader_files.REFERENCE).read_text())["pairs"]
        self.assertEqual(len(rows[0]["ids"]), len(rows[0]["start"]))
        self.assertEqual(json.loads((out / reader_files.CONFIG).read_text())["training"]["averaged"], 2)
        self.assertIn("groups", json.loads((out / reader_files.FIGURES).read_text()))

    def test_packed_rows_have_the_header_before_the_passage(self):
        import torch
        import judge_data
        import reader_model
        tables = tuple(judge_data.Table(t, "cpu") for t in ([[7, 8]], [[], [5, 6]], [[1, 2, 3, 4]]))
        index = lambda *v: torch.tensor(v)
        ids, kinds, valid, body = reader_model.pack(tables, index(0, 0), index(1, 0), index(0, 0), index(0, 1), 9)
        self.assertEqual(ids.tolist(), [[101, 7, 8, 102, 5, 6, 1, 2, 102], [101, 7, 8, 102, 2, 3, 4, 102, 0]])
        self.assertEqual(kinds.tolist(), [[0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1, 0]])
        self.assertEqual(body.int().tolist(), [[0, 0, 0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 0, 0]])
        self.assertEqual(valid.int().tolist()[1][-1], 0)

    def test_passages_of_a_question_share_one_softmax_and_one_none(self):
        import math
        import numpy
        import torch
        import train_reader
        from reader_data import NONE, RIGHT, SPAN
        from reader_units import Step
        nothing = numpy.zeros(4, int)
        step = Step(nothing, nothing, nothing, nothing, nothing, numpy.array([True, False, True, False]), numpy.zeros((4, 3, 2), int), numpy.array([0, 0, 1, 2]),
                    numpy.array([SPAN, RIGHT, NONE]), numpy.array([-1, -1, -1]), numpy.array([True, False, False]))
        told, gold = torch.tensor([[2.0, 2], [1, 1], [3, 3], [0, 0]]), torch.tensor([[1.5, 1.5], [-1e4, -1e4], [0, 0], [0, 0]])
        reading, _, ranking = train_reader.losses(step, torch.zeros(4), told, gold, torch.device("cpu"))
        marked = math.log(1 + math.exp(2) + math.exp(1)) - 1.5
        anywhere, none = math.log(1 + math.exp(3)) - 3, math.log(2)
        heavy = train_reader.GROUP_WEIGHT
        self.assertAlmostEqual(reading.item(), (heavy * marked + anywhere + none) / (heavy + 2), 4)
        self.assertAlmostEqual(ranking.item(), math.log(2) * (1 + train_reader.POINTWISE), 4)

    def test_several_right_passages_share_the_target_and_none_may_be_right(self):
        import math
        import numpy
        import torch
        import train_reader
        from reader_data import BLOCK, NONE
        from reader_units import Step
        nothing = numpy.zeros(5, int)
        step = Step(nothing, nothing, nothing, nothing, nothing, numpy.array([True, True, False, False, False]), numpy.zeros((5, 3, 2), int), numpy.array([0, 0, 0, 1, 1]),
                    numpy.array([BLOCK, NONE]), numpy.array([-1, -1]), numpy.array([True, True]))
        told, gold = torch.zeros(5, 2), torch.tensor([[-1.0, -1], [-1, -1], [-1e4, -1e4], [-1e4, -1e4], [-1e4, -1e4]])
        reading, _, ranking = train_reader.losses(step, torch.zeros(5), told, gold, torch.device("cpu"))
        self.assertAlmostEqual(reading.item(), ((math.log(4) - math.log(2) + 1) + math.log(3)) / 2, 4)
        self.assertAlmostEqual(ranking.item(), (math.log(3 / 2) + 2 * train_reader.POINTWISE * math.log(2)) / 2, 4)

    def test_wrong_passages_never_hold_the_answer(self):
        from tokenizers import Tokenizer
        import numpy
        import reader_data
        import reader_units
        entries = [{"x": x, "t": "", "h": "", "s": "qed", "r": r} for x, r in (("the kiln must cool for a day", [["how long ?", "span", [[22, 27]]]]), ("it stands a day", []), ("red clay", []), ("the mayor", []))]
        prepared = reader_data.flatten(entries, Tokenizer.from_file(str(self.folder / "tokenizer.json")), lambda rows: [[] for _ in rows], lambda *_: None)
        self.assertEqual(prepared.spans, [[(5, 6)]])
        prepared.save(self.folder / "kept")
        again = reader_data.Prepared.load(self.folder / "kept")
        self.assertEqual([i.tolist() for i in again.passage_ids], [i.tolist() for i in prepared.passage_ids])
        prepared.wrong, prepared.near, prepared.held = numpy.tile(numpy.arange(4), (1, 2, 1)), numpy.full((4, 2), -1), numpy.zeros(4, bool)
        sampler = reader_units.Sampler(prepared, 32, 4, 1)
        self.assertEqual({tuple(sorted(sampler.wrong(0, 3))) for _ in range(20)}, {(2, 3)})

    def test_trusting_a_probability(self):
        import reader_eval
        self.assertEqual(reader_eval.expected_error([.25, .25, .25, .25], [1, 0, 0, 0]), 0)
        self.assertAlmostEqual(reader_eval.expected_error([.95, .95], [1, 0]), .45)



if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Writes the reference data for the tokenizers' tests.

    make_tokenizer_fixture.py OUTPUT_FOLDER        (tests/fixtures/tokenizers)

Needs the Python packages tokenizers and sentencepiece. Trains tiny vocabularies on this project's documentation and on
the texts of make_embedding_fixture.py, and writes a model folder for each:
    xlmr/              sentencepiece.bpe.model with the map nmt_nfkc and XLM-RoBERTa's ids
    unigram/           tokenizer.json: a small custom map, spaces kept as U+2581, byte fallback, an added token in
                       normalised text
    bert_uncased/      vocab.txt and tokenizer_config.json
    bert_cased/        tokenizer.json: case, accents and ideographs unchanged
    mpnet/             tokenizer.json: BERT's pieces between RoBERTa's marks, lower case with accents
and the results of the reference for texts and pairs of texts:
    cases.jsonl        one {"text", "expected": {folder: places}} per line, without special tokens
    pairs.jsonl        {"folder", "first", "second", "max", "strategy", "ids", "types", "places"} per line
Places are three numbers per token: the id, the distance in bytes from the start of the previous token (or
from 0), and the length in bytes. Those of a pair have no special tokens, and restart at 0 for the second text.
"""
import importlib.util
import io
import json
import pathlib
import random
import struct
import sys

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

ROOT = pathlib.Path(__file__).resolve().parent.parent
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Replacements of the small map: tab and no-break space by a space, ligatures, a removed character, composing marks.
SMALL_MAP = {"\t": " ", "\u00a0": " ", "\r": " ", "\n": " ", "ﬁ": "fi", "ﬃ": "ffi", "\u00ad": "", "e\u0301": "é", "™": "tm", "½": "1⁄2", "Ａ": "A", "\u3000": " "}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem + "_module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_fields(data):
    """The fields of a protocol buffer message."""
    at = 0

    def varint():
        nonlocal at
        out = shift = 0
        while True:
            byte = data[at]
            at += 1
            out |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return out

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}[tag & 7] if tag & 7 != 2 else varint()
            value = data[at : at + size]
            at += size
        yield tag >> 3, value


def read_model(data):
    pieces, chars_map = [], b""
    for number, value in read_fields(data):
        if number == 1:
            fields = dict(read_fields(value))
            pieces.append((fields[1].decode(), struct.unpack("<f", fields.get(2, bytes(4)))[0]))
        if number == 3:
            chars_map = dict(read_fields(value)).get(2, b"")
    return pieces, chars_map


def train_sentencepiece(lines, size, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, vocab_size=size, model_type="unigram", hard_vocab_limit=False,
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, minloglevel=2, **options)
    return out.getvalue()


def xlmr_tokenizer(model):
    """The reference's results for XLM-RoBERTa's file."""
    pieces, chars_map = read_model(model)
    vocabulary = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")] + pieces[3:] + [("<mask>", 0.0)]
    out = Tokenizer(models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    out.normalizer = normalizers.Precompiled(chars_map)
    out.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", prepend_scheme="always")])
    specials = [AddedToken(name, special=True, normalized=False) for name in ("<s>", "<pad>", "</s>", "<unk>")]
    out.add_special_tokens(specials + [AddedToken("<mask>", special=True, normalized=False, lstrip=True)])
    out.post_processor = roberta_marks(0, 2)
    return out


def roberta_marks(begin, end):
    return processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", begin), ("</s>", end)])


def unigram_tokenizer(lines, folder):
    table = folder / "map.tsv"
    hexes = lambda text: " ".join(f"{ord(c):X}" for c in text)
    table.write_text("".join(f"{hexes(key)}\t{hexes(value)}\n" for key, value in SMALL_MAP.items()))
    pieces, chars_map = read_model(train_sentencepiece(lines, 700, character_coverage=0.98, normalization_rule_tsv=str(table), byte_fallback=True))
    table.unlink()
    out = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    out.normalizer = normalizers.Sequence([normalizers.Precompiled(chars_map), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
    out.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first")
    out.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in ("<unk>", "<s>", "</s>")])
    out.add_special_tokens([AddedToken("<mask>", special=True, normalized=True, lstrip=True, rstrip=True)])
    out.add_tokens([AddedToken("footnote", normalized=False, single_word=True)])
    out.post_processor = roberta_marks(1, 2)
    return out


def bert_tokenizer(lines, size, lower_case, strip_accents, ideographs, marks=("[CLS]", "[SEP]"), specials=BERT_SPECIALS):
    out = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    out.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=ideographs, strip_accents=strip_accents, lowercase=lower_case)
    out.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    out.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(specials), show_progress=False, limit_alphabet=400))
    out.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in specials])
    if marks[0] == "<s>":
        out.post_processor = roberta_marks(out.token_to_id("<s>"), out.token_to_id("</s>"))
    else:
        out.post_processor = processors.BertProcessing(("[SEP]", out.token_to_id("[SEP]")), ("[CLS]", out.token_to_id("[CLS]")))
    return out


def places(text, ids, offsets):
    at = [0]
    for character in text:
        at.append(at[-1] + len(character.encode()))
    out, last = [], 0
    for token, (begin, end) in zip(ids, offsets):
        out += [token, at[begin] - last, at[end] - at[begin]]
        last = at[begin]
    return out


def case(tokenizer, text):
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return places(text, encoding.ids, encoding.offsets)


def pair(folder, tokenizer, first, second, length, strategy):
    tokenizer.enable_truncation(length, strategy=strategy)
    encoding = tokenizer.encode(first, second)
    tokenizer.no_truncation()
    both = []
    for side, text in enumerate((first, second)):
        own = [i for i, s in enumerate(encoding.sequence_ids) if s == side]
        both += places(text, [encoding.ids[i] for i in own], [encoding.offsets[i] for i in own])
    return {"folder": folder, "first": first, "second": second, "max": length, "strategy": strategy, "ids": encoding.ids,
            "types": encoding.type_ids, "places": both}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    texts_of = load(ROOT / "tools" / "make_embedding_fixture.py")
    peers = load(ROOT / "bench" / "peers" / "tokenizers.py")
    sources = sorted((ROOT / "docs").glob("*.md")) + [ROOT / "README.md"]
    lines = [line for path in sources for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    lines += (texts_of.LANGUAGES * 6 + texts_of.PROSE * 2 + texts_of.CODE)
    folders = {}
    for name in ("xlmr", "unigram", "bert_uncased", "bert_cased", "mpnet"):
        folders[name] = out / name
        folders[name].mkdir(parents=True, exist_ok=True)
    model = train_sentencepiece(lines, 1200, character_coverage=0.999, normalization_rule_name="nmt_nfkc")
    (folders["xlmr"] / "sentencepiece.bpe.model").write_bytes(model)
    made = {"xlmr": xlmr_tokenizer(model), "unigram": unigram_tokenizer(lines, folders["unigram"])}
    made["bert_uncased"] = bert_tokenizer(lines, 1200, True, None, True)
    made["bert_cased"] = bert_tokenizer(lines, 900, False, None, False)
    made["mpnet"] = bert_tokenizer(lines, 700, True, False, True, ("<s>", "</s>"), ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    for name in ("unigram", "bert_cased", "mpnet"):
        made[name].save(str(folders[name] / "tokenizer.json"), pretty=False)
        made[name] = Tokenizer.from_file(str(folders[name] / "tokenizer.json"))
    vocabulary = sorted(made["bert_uncased"].get_vocab().items(), key=lambda item: item[1])
    (folders["bert_uncased"] / "vocab.txt").write_text("".join(piece + "\n" for piece, _ in vocabulary), encoding="utf-8")
    (folders["bert_uncased"] / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True, "model_max_length": 256,
                    "cls_token": {"content": "[CLS]"}, "tokenizer_class": "BertTokenizer"}) + "\n")

    rng = random.Random(5)
    texts = texts_of.QUERIES[::6] + texts_of.CODE[::6] + texts_of.LANGUAGES[::2] + texts_of.ODD + texts_of.NUMBERS[::6]
    texts += ["footnote footnotes afootnote footnote.", "  <mask>  a", "a <mask>b<mask>", "\uff1cmask\uff1e <ma\u00adsk>", "\u00adlead", "a\u00adb \u00ad\u00adc",
              "\r\na\r\n", "x\u0301\u00e9e\u0301™\u0301™\u200d™\u0301", "a\t\t b\u3000\u3000c  ", "<s>a</s>", "½½\u00ad ½\u00ad", "▁a▁▁b ▁"]
    texts = [text for text in texts if len(text) <= 100]
    texts += [peers.generated(rng)[:80] for _ in range(16)] + ["x" * 101, "é" * 101]
    with open(out / "cases.jsonl", "w", encoding="utf-8") as file:
        for text in texts:
            row = {"text": text, "expected": {name: case(tokenizer, text) for name, tokenizer in made.items()}}
            file.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
    with open(out / "pairs.jsonl", "w", encoding="utf-8") as file:
        pool = texts_of.PROSE[:4] + texts_of.LANGUAGES[:6] + ["", "a", "vegan soup recipe"]
        for name in ("xlmr", "bert_uncased", "mpnet"):
            for i in range(13):
                first, second = pool[i % len(pool)], pool[(i * 5 + 2) % len(pool)]
                row = pair(name, made[name], first, second, rng.randint(6, 60), "longest_first")
                file.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
            for i in range(4):
                row = pair(name, made[name], "vegan soup", pool[i], rng.randint(16, 40), "only_second")
                file.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
    print({name: tokenizer.get_vocab_size() for name, tokenizer in made.items()}, len(texts), "texts")


if __name__ == "__main__":
    main()

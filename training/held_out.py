"""The leak guard: texts used for evaluation must not be used for training.

    held_out.py --eval DIR --out training/held_out.hashes.xz      writes the list from the development sets

Every question, claim, passage and context of the development sets is normalised and hashed (the first 8 bytes of its
SHA-256). Long texts are also hashed by their first words, so that truncated or extended copies are found too. The file has the sorted
hashes, xz-compressed; it cannot be turned back into text. Needs only the standard library.
"""
import argparse
import hashlib
import json
import lzma
import pathlib
import re
import unicodedata

OPENING_WORDS = 16          # a text of at least twice as many words is also hashed by its first ones
HASH_BYTES = 8
LIST = pathlib.Path(__file__).parent / "held_out.hashes.xz"
WORD = re.compile(r"\w+")


class LeakError(Exception):
    """Training rows were found in the development sets."""


def words_of(text):
    return WORD.findall(unicodedata.normalize("NFKC", text).lower())


def digest(words):
    return hashlib.sha256(" ".join(words).encode()).digest()[:HASH_BYTES]


def hashes_of(text):
    """The hashes of a text: of the whole text and, if it is long, of its beginning."""
    words = words_of(text)
    if not words:
        return []
    out = [digest(words)]
    if len(words) >= 2 * OPENING_WORDS:
        out.append(digest(words[:OPENING_WORDS]))
    return out


def write_list(texts, path):
    hashes = sorted({h for text in texts for h in hashes_of(text)})
    path.write_bytes(lzma.compress(b"".join(hashes)))
    return len(hashes)


def read_list(path=LIST):
    data = lzma.decompress(pathlib.Path(path).read_bytes())
    if not data or len(data) % HASH_BYTES:
        raise ValueError(f"{path} is no list of hashes")
    return {data[i:i + HASH_BYTES] for i in range(0, len(data), HASH_BYTES)}


def texts_of_row(row):
    return [row[field] for field in ("q", "pos", "context") if row.get(field)]


def leaks(rows, held_out):
    """Indices of the rows with a question or passage in the list."""
    return [i for i, row in enumerate(rows) if any(h in held_out for text in texts_of_row(row) for h in hashes_of(text))]


def guard(rows, held_out, drop=False):
    """The rows, if none is held out. Otherwise LeakError; with `drop`, the remaining rows and the number of dropped ones."""
    found = leaks(rows, held_out)
    if found and not drop:
        shown = "; ".join(f"row {i}: {rows[i]['q'][:60]!r}" for i in found[:5])
        raise LeakError(f"{len(found)} training rows are in the development sets ({shown}); remove them, or drop them with --drop-held-out")
    gone = set(found)
    return [row for i, row in enumerate(rows) if i not in gone], len(found)


# ---- the development sets

def json_lines(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def judged_documents(folder):
    """Ids of the documents that are relevant to some question of a retrieval set."""
    lines = (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {line.split("\t")[1] for line in lines if line}


def development_texts(folder, distractors=True):
    """Every text of the development sets that a training row could repeat. Without `distractors`, documents that are relevant to no
    question are left out: for experiments only, never for shipped weights."""
    for corpus in sorted(folder.glob("retrieval/*/corpus.jsonl")):
        judged = judged_documents(corpus.parent)
        for row in json_lines(corpus):
            if not distractors and row["_id"] not in judged:
                continue
            yield row["text"]
            if row.get("title"):
                yield row["title"]
                yield row["title"] + " " + row["text"]
        for row in json_lines(corpus.parent / "queries.jsonl"):
            yield row["text"]
    for path in sorted(folder.glob("qa/*.jsonl")):
        for row in json_lines(path):
            yield row["question"]
            yield from [row["context"]] if "context" in row else row["contexts"] + [" ".join(row["contexts"]), row["long_answer"]]
    for path in sorted(folder.glob("grounding/*.jsonl")):
        for row in json_lines(path):
            yield row["claim"]
            sentences = row.get("evidence_sentences") or [row.get("evidence", "")]
            yield " ".join(sentences)
            yield from (s for s in sentences if len(words_of(s)) >= OPENING_WORDS)


def main():
    parser = argparse.ArgumentParser(description="Write the list of held-out hashes.")
    parser.add_argument("--eval", type=pathlib.Path, required=True, help="folder of the development sets")
    parser.add_argument("--out", type=pathlib.Path, default=LIST)
    parser.add_argument("--no-distractors", action="store_true", help="leave out documents that no question is judged on (for experiments)")
    args = parser.parse_args()
    print(write_list(development_texts(args.eval, not args.no_distractors), args.out), "hashes in", args.out)


if __name__ == "__main__":
    main()

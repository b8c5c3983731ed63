"""The keyword index's word rules, and BM25.

The rules of Footnote's analyzer for plain English: lower case, the stop words dropped, stems; k1 0.9, b 0.4, Lucene's
idf. Identifiers are split no further than at their punctuation, and stems are Porter's.
"""
import functools
import re
import zlib

import numpy as np

K1, B = 0.9, 0.4
BUCKETS = 1 << 18            # a stem is identified by a hash of 18 bits: collisions cost less than a table of all stems
STOP_WORDS = frozenset("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with".split())
WORD = re.compile(r"[^\W_]+")
VOWELS = "aeiou"


def is_consonant(word, i):
    if word[i] in VOWELS:
        return False
    return word[i] != "y" or i == 0 or not is_consonant(word, i - 1)


def measure(stem):
    """Porter's m: how often a vowel is followed by a consonant."""
    shape = "".join("c" if is_consonant(stem, i) else "v" for i in range(len(stem)))
    return len(re.findall("v+c+", shape))


def has_vowel(stem):
    return any(not is_consonant(stem, i) for i in range(len(stem)))


def ends_double(word):
    return len(word) > 1 and word[-1] == word[-2] and is_consonant(word, len(word) - 1)


def ends_short(word):
    return (len(word) > 2 and is_consonant(word, len(word) - 1) and not is_consonant(word, len(word) - 2)
            and is_consonant(word, len(word) - 3) and word[-1] not in "wxy")


STEP2 = [("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"), ("alli", "al"),
         ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
         ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")]
STEP3 = [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")]
STEP4 = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "ion"]


def after_ed(word):
    """Step 1b for a stem after removing -ed or -ing."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if measure(word) == 1 and ends_short(word) else word


def plural_and_past(word):
    if word.endswith("sses") or word.endswith("ies"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if measure(word[:-3]) > 0 else word
    elif word.endswith("ed") and has_vowel(word[:-2]):
        word = after_ed(word[:-2])
    elif word.endswith("ing") and has_vowel(word[:-3]):
        word = after_ed(word[:-3])
    return word[:-1] + "i" if word.endswith("y") and has_vowel(word[:-1]) else word


def swap_ending(word, table):
    for ending, new in sorted(table, key=lambda pair: -len(pair[0])):
        if word.endswith(ending):
            stem = word[:-len(ending)]
            return stem + new if measure(stem) > 0 else word
    return word


def drop_ending(word):
    for ending in sorted(STEP4, key=len, reverse=True):
        if word.endswith(ending):
            stem = word[:-len(ending)]
            return stem if measure(stem) > 1 and (ending != "ion" or stem[-1:] in ("s", "t")) else word
    return word


@functools.lru_cache(maxsize=1 << 20)
def stem(word):
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = drop_ending(swap_ending(swap_ending(plural_and_past(word), STEP2), STEP3))
    if word.endswith("e") and (measure(word[:-1]) > 1 or (measure(word[:-1]) == 1 and not ends_short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if ends_double(word) and word[-1] == "l" and measure(word[:-1]) > 1 else word


@functools.lru_cache(maxsize=1 << 20)
def bucket(word):
    """The number of a word's stem; -1 for a stop word."""
    return -1 if word in STOP_WORDS else zlib.crc32(stem(word).encode()) % BUCKETS


def terms(text):
    found = np.fromiter(map(bucket, WORD.findall(text.lower())), np.int64)
    return found[found >= 0]


class Bm25:
    """Postings with their weights; `text_terms` is the result of terms() for each text."""
    def __init__(self, text_terms):
        lengths = np.array([len(t) for t in text_terms], np.float64)
        self.size, average = len(text_terms), max(1.0, lengths.mean())
        rows, columns, counts = [], [], []
        for i, text in enumerate(text_terms):
            distinct, count = np.unique(text, return_counts=True)
            rows.append(np.full(len(distinct), i)); columns.append(distinct); counts.append(count)
        rows, columns, counts = map(np.concatenate, (rows, columns, counts))
        df = np.bincount(columns, minlength=BUCKETS)
        idf = np.log(1 + (self.size - df + .5) / (df + .5))
        weights = idf[columns] * counts / (counts + K1 * (1 - B + B * lengths[rows] / average))
        order = np.argsort(columns, kind="stable")
        self.rows, self.columns, self.weights = rows[order], columns[order], weights[order].astype(np.float32)
        self.starts = np.searchsorted(self.columns, np.arange(BUCKETS + 1))

    def scores(self, question_terms):
        """BM25 of every text; a repeated query term counts twice."""
        out = np.zeros(self.size, np.float32)
        for term, count in zip(*np.unique(question_terms, return_counts=True)):
            part = slice(self.starts[term], self.starts[term + 1])
            out[self.rows[part]] += count * self.weights[part]
        return out

"""Changes questions so that their passage no longer answers them. Needs only the standard library.

Each kind changes one thing and keeps the rest, so that only reading reveals the difference:

    number    another number, from the passage if it has one
    name      another name from the passage that is not the answer
    word      a content word becomes its antonym, or a neighbour in the embedder's word table
    inside    a content word becomes another word of the passage that is close to it in that table
    swap      two names, or two words of one kind, are exchanged: who did what to whom
    when      a year is added, from the passage or another one
    negation  the question is negated: "is" -> "is not"
    type      another question word, which asks for another kind of answer

hole() changes the passage instead: it removes the sentences with the answer.
"""
import multiprocessing
import random
import re

KINDS = ("number", "name", "word", "inside", "swap", "when", "negation", "type")
NAMELESS = ("number", "word", "inside", "swap", "when", "negation", "type")        # for texts in lower case
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(\[])|(?<=\s[.!?])\s+")
LOWER_SENTENCE = re.compile(r"(?<=[\w)\"'][.!?])\s+")      # of texts in lower case
NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
NAME = re.compile(r"\b[A-Z][\w'-]*(?:\s+(?:of\s+|the\s+)?[A-Z][\w'-]*)*")
YEAR = re.compile(r"\b(1\d|20)\d\d\b")
MONTH = re.compile(r"\b(january|february|march|april|june|july|august|september|october|november|december)\b", re.I)
CAPITALISED_START = re.compile(r"^(The|A|An|In|On|At|It|He|She|They|This|That|These|His|Her|Its|For|From|By|As|After|When|While|But|And)\b\s*")

OPPOSITES = [("increase", "decrease"), ("higher", "lower"), ("highest", "lowest"), ("more", "less"), ("most", "least"), ("before", "after"), ("first", "last"),
             ("always", "never"), ("larger", "smaller"), ("largest", "smallest"), ("positive", "negative"), ("above", "below"), ("inside", "outside"),
             ("internal", "external"), ("north", "south"), ("east", "west"), ("northern", "southern"), ("eastern", "western"), ("start", "end"), ("began", "ended"),
             ("won", "lost"), ("win", "lose"), ("old", "new"), ("oldest", "newest"), ("early", "late"), ("born", "buried"), ("father", "mother"), ("son", "daughter"),
             ("husband", "wife"), ("king", "queen"), ("male", "female"), ("men", "women"), ("man", "woman"), ("president", "vice president"), ("winter", "summer"),
             ("long", "short"), ("high", "low"), ("import", "export"), ("buy", "sell"), ("open", "close"), ("enable", "disable"), ("required", "optional"),
             ("allowed", "forbidden"), ("cause", "prevent"), ("causes", "prevents"), ("maximum", "minimum"), ("add", "remove"), ("upper", "lower"), ("left", "right"),
             ("same", "different"), ("strong", "weak"), ("public", "private"), ("rich", "poor"), ("ancient", "modern"), ("accept", "reject"), ("legal", "illegal")]
OPPOSITE = {a: b for a, b in OPPOSITES} | {b: a for a, b in OPPOSITES}
NEGATED = {"is": "is not", "are": "are not", "was": "was not", "were": "were not", "did": "did not", "does": "does not", "do": "do not", "can": "cannot",
           "has": "has not", "have": "have not", "will": "will not", "should": "should not", "could": "could not", "would": "would not"}
GRAMMAR = frozenset("""a an and are as at be been being but by can could did do does for from had has have how if in into is it its many much may might most of on or
 per said shall should so some such than that the their them then there these they this those to under up was were what when where which who whom whose why will with would you your
 name named called known also first not no he she his her we our us i my me about between during after before over while""".split())
WORD_FIRST, WORD_LAST = 3, 26      # neighbours of a word to skip: the first are often synonyms
QUESTION_WORDS = {"who": "person", "whose": "person", "whom": "person", "when": "time", "what year": "time", "where": "place", "how many": "number", "how much": "number", "why": "reason"}
OTHER_WORDS = {"person": ("who",), "time": ("when", "what year"), "place": ("where",), "number": ("how many", "how much"), "reason": ("why",)}


def answer_kind(text):
    """"time", "number", or "" if the text does not show it."""
    if YEAR.search(text) or MONTH.search(text):
        return "time"
    return "number" if NUMBER.search(text) else ""


def names_of(passage):
    found = {CAPITALISED_START.sub("", m.group()).strip() for m in NAME.finditer(passage)}
    return sorted(n for n in found if len(n) > 2 and n.lower() not in GRAMMAR)


def with_number(question, passage, answer, neighbours, rng):
    found = list(NUMBER.finditer(question))
    if not found:
        return None
    m = rng.choice(found)
    pool = [n for n in NUMBER.findall(passage) if n != m.group() and len(n) == len(m.group()) and n not in question]
    if pool and rng.random() < .6:
        new = rng.choice(pool)
    else:
        digits = re.sub(r"\D", "", m.group())
        value = int(digits) + rng.choice([-1, 1]) * rng.randint(1, 30 if len(digits) > 2 else 9)
        new = str(abs(value))
    return question[:m.start()] + new + question[m.end():] if new != m.group() else None


def with_name(question, passage, answer, neighbours, rng):
    names = names_of(passage)
    low = question.lower()
    inside = [n for n in names if re.search(rf"\b{re.escape(n.lower())}\b", low)]
    others = [n for n in names if n.lower() not in low and n.lower() not in answer.lower() and answer.lower() not in n.lower()]
    if not inside or not others:
        return None
    old, new = rng.choice(inside), rng.choice(others)
    if question.islower():
        new = new.lower()
    return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, question, count=1, flags=re.I)


def with_word(question, passage, answer, neighbours, rng):
    words = content_words(question)
    opposites = [m for m in words if m.group().lower() in OPPOSITE]
    if opposites and rng.random() < .7:
        m = rng.choice(opposites)
        return question[:m.start()] + OPPOSITE[m.group().lower()] + question[m.end():]
    words = [m for m in words if neighbours.get(m.group().lower())]
    if not words:
        return None
    m = rng.choice(words)
    pool = [w for w in neighbours[m.group().lower()][WORD_FIRST:WORD_LAST] if w not in answer.lower()]
    return question[:m.start()] + rng.choice(pool) + question[m.end():] if pool else None


def content_words(text):
    return [m for m in re.finditer(r"[A-Za-z]{3,}", text) if m.group().lower() not in GRAMMAR]


def with_inside(question, passage, answer, neighbours, rng):
    asked, told = set(re.findall(r"[a-z]+", question.lower())), set(re.findall(r"[a-z]+", answer.lower()))
    here = {m.group().lower() for m in content_words(passage)} - asked - told
    found = []
    for m in content_words(question):
        near = [w for w in neighbours.get(m.group().lower(), ()) if w in here]
        if near:
            found.append((m, near[:4]))
    if not found:
        return None
    m, near = rng.choice(found)
    return question[:m.start()] + rng.choice(near) + question[m.end():]


def traded(text, a, b):
    """The text with two matches exchanged; the first comes before the second."""
    return text[:a.start()] + b.group() + text[a.end():b.start()] + a.group() + text[b.end():]


def with_swap(question, passage, answer, neighbours, rng):
    low = passage.lower()
    names = [m for m in NAME.finditer(question) if m.start() > 0 and len(m.group()) > 2 and m.group().lower() in low]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]
    if not pairs:
        words = [m for m in content_words(question) if m.group().lower() in low]
        pairs = [(a, b) for i, a in enumerate(words) for b in words[i + 1:] if b.group().lower() in neighbours.get(a.group().lower(), ())]
    return traded(question, *rng.choice(pairs)) if pairs else None


def with_when(question, passage, answer, neighbours, rng):
    if NUMBER.search(question) or re.match(r"(when|how (many|much|long|old)|what (year|date|time))\b", question.lower()):
        return None
    years = [m.group() for m in YEAR.finditer(passage) if m.group() not in answer]
    year = rng.choice(years) if years and rng.random() < .7 else str(rng.randint(1700, 2015))
    return re.sub(r"\s*\?*\s*$", "", question) + f" in {year}" + ("?" if question.rstrip().endswith("?") else "")


def with_negation(question, passage, answer, neighbours, rng):
    found = [m for m in re.finditer(r"[A-Za-z]+", question) if m.group().lower() in NEGATED]
    if not found or re.search(r"\b(not|never|no|without)\b", question, re.I):
        return None
    m = found[0]
    return question[:m.start()] + NEGATED[m.group().lower()] + question[m.end():]


def with_type(question, passage, answer, neighbours, rng):
    low = question.lower()
    asked = next((w for w in sorted(QUESTION_WORDS, key=len, reverse=True) if re.match(rf"{w}\b", low)), None)
    if asked is None:
        return None
    taken = {QUESTION_WORDS[asked], answer_kind(answer)}
    kinds = [k for k in OTHER_WORDS if k not in taken and not (k == "reason" and len(answer.split()) > 6)]
    new = rng.choice(OTHER_WORDS[rng.choice(kinds)])
    return (new.capitalize() if question[0].isupper() else new) + question[len(asked):]


CHANGES = {"number": with_number, "name": with_name, "word": with_word, "inside": with_inside, "swap": with_swap, "when": with_when, "negation": with_negation,
           "type": with_type}
WEIGHTS = {"number": 3, "name": 4, "word": 3, "inside": 4, "swap": 3, "when": .7, "negation": 1, "type": 1}


def corrupted(question, passage, answer, neighbours, rng, kinds=KINDS):
    """A changed question and the kind of change; None if no kind is possible. `neighbours`: word -> similar words."""
    order = sorted(kinds, key=lambda kind: -(rng.random() ** (1 / WEIGHTS[kind])))
    for kind in order:
        changed = CHANGES[kind](question, passage, answer, neighbours, rng)
        if changed and changed.lower() != question.lower():
            return changed, kind
    return None


def hole(passage, answers):
    """The passage without the sentences that contain an answer; None if too little is left."""
    sentences = (LOWER_SENTENCE if passage.islower() else SENTENCE).split(passage)
    kept = [s for s in sentences if s and not any(a.lower() in s.lower() for a in answers)]
    return " ".join(kept) if len(kept) >= 2 and len(kept) < len(sentences) else None


def unanswered(question, passage, answers, neighbours, rng, kinds=KINDS, count=4):
    """Changed questions, all different, at most `count`; and the passage without its answer, or None."""
    changed = (corrupted(question, passage, answers[0], neighbours, rng, kinds) for _ in range(count))
    return sorted({c[0] for c in changed if c}), hole(passage, answers)


# ---- many rows at once, in several processes

KNOWN = {}


def unanswered_of(task):
    number, question, passage, answers, kinds, count = task
    return unanswered(question, passage, answers, KNOWN, random.Random(number), kinds, count)


def unanswered_all(tasks, neighbours, processes, seed=0):
    """unanswered() of each (question, passage, answers, kinds, count), in order; sampling depends only on seed and position."""
    tasks = [(seed * 1_000_003 + i, *task) for i, task in enumerate(tasks)]
    KNOWN.clear(); KNOWN.update(neighbours)                        # the processes inherit it
    if processes <= 1 or len(tasks) < 2000:
        return [unanswered_of(task) for task in tasks]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        return pool.map(unanswered_of, tasks, chunksize=200)

"""Questions that their passage no longer answers, made from questions that it does. Needs the standard library alone.

Each kind changes one thing and keeps the rest, so that only reading tells the difference:

    number    another number, of the passage where it has one
    name      another name of the passage, which is not the answer
    word      a content word becomes its opposite, or a neighbour in the embedder's word table
    negation  the question is turned round: "is" -> "is not"
    type      another question word, whose answers are of another kind than the answer is

hole() changes the passage instead: the sentences that hold the answer are taken out.
"""
import re

KINDS = ("number", "name", "word", "negation", "type")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(\[])|(?<=\s[.!?])\s+")
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
QUESTION_WORDS = {"who": "person", "whose": "person", "whom": "person", "when": "time", "what year": "time", "where": "place", "how many": "number", "how much": "number", "why": "reason"}
OTHER_WORDS = {"person": ("who",), "time": ("when", "what year"), "place": ("where",), "number": ("how many", "how much"), "reason": ("why",)}


def answer_kind(text):
    """time, number, or "" for what letters alone don't tell."""
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
    words = [m for m in re.finditer(r"[A-Za-z]{3,}", question) if m.group().lower() not in GRAMMAR]
    opposites = [m for m in words if m.group().lower() in OPPOSITE]
    if opposites and rng.random() < .7:
        m = rng.choice(opposites)
        return question[:m.start()] + OPPOSITE[m.group().lower()] + question[m.end():]
    words = [m for m in words if neighbours.get(m.group().lower())]
    if not words:
        return None
    m = rng.choice(words)
    pool = [w for w in neighbours[m.group().lower()] if w not in answer.lower()]
    return question[:m.start()] + rng.choice(pool) + question[m.end():] if pool else None


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


CHANGES = {"number": with_number, "name": with_name, "word": with_word, "negation": with_negation, "type": with_type}
WEIGHTS = {"number": 3, "name": 4, "word": 3, "negation": 1, "type": 1}


def corrupted(question, passage, answer, neighbours, rng, kinds=KINDS):
    """A changed question and the kind of change; None when no kind fits. `neighbours`: word -> words near it."""
    order = sorted(kinds, key=lambda kind: -(rng.random() ** (1 / WEIGHTS[kind])))
    for kind in order:
        changed = CHANGES[kind](question, passage, answer, neighbours, rng)
        if changed and changed.lower() != question.lower():
            return changed, kind
    return None


def hole(passage, answers):
    """The passage without the sentences that hold one of the answers; None when too little stays."""
    sentences = SENTENCE.split(passage)
    kept = [s for s in sentences if s and not any(a.lower() in s.lower() for a in answers)]
    return " ".join(kept) if len(kept) >= 2 and len(kept) < len(sentences) else None

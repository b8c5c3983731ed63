"""Questions in users' words, made from the headings of documentation. Needs only the standard library.

A heading says what its section is about, but nobody asks in headings. Its form decides which questions it allows: an action
("Installing Git", "To change the sorting", "Create a branch") becomes how-to, command and yes/no questions, a symptom with "Cause" or
"Resolution" asks why and how to fix it, a name in code asks what it does, and a short noun phrase asks what it is.
"""
import re

VERBS = frozenset("""access activate add adjust allocate allow analyze apply archive assign associate attach audit authenticate authorize automate avoid back block browse build
 bypass calculate call cancel capture change check choose clean clear clone close collect combine commit compare compile complete compute configure confirm connect consume contact
 contribute control convert copy correct create customize debug declare define delete deploy design detect determine develop diagnose disable disconnect discover display download draw
 edit embed enable enforce ensure enter establish evaluate examine exclude expand export expose extend extract fetch file fill filter find finish fix force format forward generate get
 grant group handle host identify ignore implement import improve include increase initialize inspect install integrate interpret investigate invite isolate join keep launch limit link
 list load localize locate lock log look maintain make manage map mark match measure merge migrate modify monitor move name navigate obtain open optimize order organize override pass
 pause perform pick place play populate post prepare prevent preview print prioritize process promote protect provide provision publish pull purchase push put query read rebuild
 receive reconcile record recover redirect reduce refer register release reload remove rename renew reopen reorder repair replace report request require resend reset resize resolve respond
 restart restore restrict resume retrieve return reuse reverse revert review revoke roll rotate route run save scale scan schedule search secure select send separate serve set share show
 sign simulate skip solve sort specify split start stop store stream style submit subscribe suspend switch synchronize sync tag take target terminate test track transfer transform
 translate trigger troubleshoot tune turn undo understand uninstall unlock unsubscribe update upgrade upload use validate verify view visualize wait watch work wrap write""".split())
KEPT_E = frozenset("""activate allocate analyze archive associate authenticate authorize automate browse calculate capture change choose clone close combine compare compile compute configure
 create customize declare define delete determine diagnose disable enable ensure evaluate examine exclude expose force generate handle ignore improve include increase initialize integrate
 isolate localize locate manage make measure merge migrate name navigate optimize organize override parse pause place populate prepare prioritize produce provide provision purchase reduce
 release remove rename replace require resolve restore resize retrieve reuse reverse revoke rotate route save scale schedule secure separate serve share simulate solve store style
 synchronize take terminate translate tune update upgrade use validate visualize write automate cache invite observe receive rebase""".split()) & VERBS
PRODUCTS = {"docs/k8s": "in Kubernetes", "docs/django_docs": "in Django", "docs/github_docs": "on GitHub", "docs/godot": "in Godot", "docs/sklearn_docs": "in scikit-learn",
            "docs/ms_bc": "in Business Central"}
CAUSES, FIXES, SIGNS = ("cause", "causes", "reason", "root cause"), ("resolution", "solution", "workaround", "fix", "how to fix", "what to do"), ("symptoms", "symptom", "problem")
OPAQUE = frozenset("""summary examples example overview introduction description notes note syntax value values parameters usage prerequisites conclusion more information background
 references general result results steps details features remarks next see also other""".split())
CODE = re.compile(r"[`<>{}()_$@#]|::|\w\.\w|--\w|[a-z][A-Z]")
ASKED = re.compile(r"(how|what|when|where|which|who|whose|why|can|could|do|does|did|is|are|was|will|should|may|must|has|have)\b", re.I)


def verb_of(gerund):
    """The verb of a known -ing form; None otherwise."""
    if not gerund.endswith("ing") or len(gerund) < 5:
        return None
    stem = gerund[:-3]
    for form in ((stem + "e") if stem + "e" in KEPT_E else stem, stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem):
        if form in VERBS:
            return form
    return None


def action_of(heading):
    """The action that a heading names, as words after "to"; None if it names none."""
    words = heading.split()
    if len(words) < 2 or len(words) > 14:
        return None
    low = [w.lower() for w in words]
    if low[0] == "how" and low[1] == "to" and len(words) > 2:
        return lower_first(" ".join(words[2:]))
    if low[0] == "to" and low[1] in VERBS:
        return lower_first(" ".join(words[1:]))
    verb = verb_of(low[0])
    if verb:
        return " ".join([verb, *joined(words[1:])])
    named = low[0] not in VERBS or words[0] == words[0].upper() or low[:2] in (["use", "cases"], ["use", "case"], ["set", "of"], ["release", "notes"])
    return None if named else lower_first(heading)


def joined(words):
    """"Installing and configuring X": also convert the second form."""
    out = list(words)
    for i in range(1, len(out)):
        if out[i - 1].lower() in ("and", "or") and verb_of(out[i].lower()):
            out[i] = verb_of(out[i].lower())
    return out


def lower_first(text):
    return text[:1].lower() + text[1:]


def is_code(heading):
    return bool(CODE.search(heading)) and len(heading.split()) <= 4


def of_action(action, where, has_command):
    out = [f"How do I {action}?", f"How can I {action}{where}?", f"how to {action}{where}", f"Can I {action}{where}?", f"Is it possible to {action}?", f"What do I need to do to {action}?"]
    return out + ([f"Which command do I use to {action}?", f"What is the command to {action}?"] if has_command else [])


def of_part(title, heading):
    """Questions about a named section ("Cause", "Resolution" ...) of a page about an error or a task."""
    low, about = heading.lower().rstrip(":"), title.rstrip("?.!")
    if not about:
        return []
    if low in CAUSES:
        return [f"What causes this: {about}?", f"Why do I get {lower_first(about)}?" if "error" in about.lower() else f"Why: {about}?"]
    if low in FIXES:
        return [f"How do I fix this: {about}?", f"What can I do about {lower_first(about)}?", f"how to solve {lower_first(about)}"]
    if low in SIGNS:
        return [f"What happens with {lower_first(about)}?"]
    if low in OPAQUE:
        return of_name(about) if len(about.split()) <= 5 else []
    return []


def of_name(name):
    if is_code(name):
        return [f"What does {name} do?", f"How do I use {name}?", f"What is {name} for?", f"what does {name} mean"]
    last = name.split()[-1].lower()
    many = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    plain = name if re.match(r"[A-Z]\w*[A-Z]", name) else lower_first(name)
    return [f"What {'are' if many else 'is'} {plain}?", f"What does the documentation say about {plain}?", f"explain {plain}", plain]


def of_difference(heading):
    m = re.fullmatch(r"(?:differences? between )?(.{2,40}?) (?:vs\.?|versus|compared (?:to|with)|and) (.{2,40})", heading, re.I)
    if not m or not re.search(r"difference|\bvs\b|versus|compared", heading, re.I):
        return []
    return [f"What is the difference between {m[1]} and {m[2]}?", f"Should I use {m[1]} or {m[2]}?", f"How does {m[1]} differ from {m[2]}?"]


def questions_of(title, heading, source="", has_command=False):
    """The questions that a heading allows, at most eight; empty if its form allows none."""
    heading = heading.strip().rstrip(":").strip()
    if not heading:
        return []
    if heading.endswith("?") or ASKED.match(heading) and not heading.lower().startswith("how to") and len(heading.split()) > 3:
        return [heading]
    where = " " + PRODUCTS[source] if source in PRODUCTS else ""
    part = of_part(title, heading)
    if part or heading.lower() in OPAQUE:
        return part
    different = of_difference(heading)
    if different:
        return different
    action = action_of(heading)
    if action:
        return of_action(action, where, has_command)
    return of_name(heading) if len(heading.split()) <= 5 else []

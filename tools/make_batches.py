#!/usr/bin/env python3
"""make_batches.py ROOT OUTPUT_PREFIX SOURCE...: groups sources into batches; each batch is compiled as one unit.

A batch is a file OUTPUT_PREFIX_N.cpp of #include lines; their names are printed, one per line. Two sources (paths relative to
ROOT) may share a batch only if neither they nor their headers mention a name that the other one defines in
an anonymous namespace or as a macro. So batching never changes the meaning of a source.
"""
import functools
import pathlib
import re
import sys

FILES_MAX = 8  # Maximum number of sources per batch.
BYTES_MAX = 60_000  # Maximum bytes per batch, so that all cores have work until the end.

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
TYPE_OR_CONSTANT = re.compile(r"[A-Z]|k[A-Z]")
MENTION = re.compile(r"(?<![\w.>:])([A-Za-z_]\w*)")
TYPE = re.compile(r"(?:class|struct|union|enum class|enum|using) (?:\[\[\w+\]\] )?(?!namespace )(\w+)(?!\w|::)")
TEST = re.compile(r"(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+), (\w+)\)")
INSTANCE = re.compile(r"INSTANTIATE_TEST_SUITE_P\((\w*), *(\w+)")
NAME = re.compile(r"(?:[\w:<>,&*\[\] ]*[\s&*>])?([A-Za-z_]\w*)\s*(?:\(|=|\{|\[|;|$)")


def own_names(lines):
    """Names that the source defines for itself. Relies on clang-format: such definitions start in column 0."""
    names, anonymous = set(), False
    for line in lines:
        if line.startswith("#define "):
            names.add(re.match(r"#define (\w+)", line)[1])
        elif line.startswith("namespace {"):
            anonymous = True
        elif line.rstrip() == "}  // namespace":
            anonymous = False
        elif (found := TEST.match(line)) or (found := INSTANCE.match(line)):
            names.add(f"{found[1]}_{found[2]}_Test")
        elif anonymous or line.startswith("static "):
            found = TYPE.match(line) or (NAME.match(line) if line[:1].isalpha() and not line.startswith("using ") else None)
            if found:
                names.add(found[1])
    return names


def mentions(path):
    """The names that a file mentions (except members of other objects), and our own files that it includes."""
    text = path.read_text(encoding="utf-8")
    return set(MENTION.findall(COMMENT_OR_TEXT.sub('""', text))), INCLUDE.findall(text)


@functools.cache
def header_mentions(roots, name):
    """Types and constants that a header mentions, including those of the headers it includes. Functions are left out: headers usually declare
    members and rarely call functions of others."""
    path = next((root / name for root in roots if (root / name).exists()), None)
    if path is None or path.suffix != ".h":
        return frozenset()
    names, includes = mentions(path)
    return frozenset(name for name in names if TYPE_OR_CONSTANT.match(name)).union(*(header_mentions(roots, next_one) for next_one in includes))


class Source:
    def __init__(self, root, path):
        self.path = path
        text = (root / path).read_text(encoding="utf-8")
        self.size = len(text)
        self.own = own_names(text.splitlines())
        names, includes = mentions(root / path)
        roots = (root, root.parent / "src", root.parent / "tests")
        self.mentions = names.union(self.own, *(header_mentions(roots, name) for name in includes))

    def fits(self, batch):
        if len(batch) == FILES_MAX or sum(other.size for other in batch) + self.size > BYTES_MAX:
            return False
        return all(not (self.own & other.mentions or other.own & self.mentions) for other in batch)


def deal(sources):
    batches = []
    for source in sources:
        home = next((batch for batch in batches if source.fits(batch)), None)
        if home is None:
            batches.append([source])
        else:
            home.append(source)
    return batches


def main():
    root, prefix = pathlib.Path(sys.argv[1]), sys.argv[2]
    for number, batch in enumerate(deal([Source(root, path) for path in sys.argv[3:]])):
        unit = pathlib.Path(f"{prefix}_{number}.cpp")
        text = "".join(f'#include "{source.path}"\n' for source in batch)
        if not unit.exists() or unit.read_text() != text:
            unit.parent.mkdir(parents=True, exist_ok=True)
            unit.write_text(text)
        print(unit)


main()

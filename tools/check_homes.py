#!/usr/bin/env python3
"""Fails if a decision that has one home is made elsewhere too. Tests (*_test.cpp) may contain anything.

usage: check_homes.py SRC HOMES   (HOMES: one line `REGULAR EXPRESSION in FILE...` per decision)
"""
import pathlib
import re
import sys


def read_table(path):
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, homes = line.rsplit(" in ", 1)
            yield re.compile(pattern), homes.split()


def violations(root, table):
    sources = [path for path in sorted(root.rglob("*")) if path.suffix in {".h", ".cpp"} and not path.name.endswith("_test.cpp")]
    texts = {path.relative_to(root).as_posix(): path.read_text(errors="replace") for path in sources}
    for pattern, homes in table:
        for name in homes:
            if not pattern.search(texts.get(name, "")):
                yield f"{name}: does not contain {pattern.pattern}; remove it from the table"
        for name, text in texts.items():
            if name in homes:
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if pattern.search(line):
                    yield f"{name}:{number}: {pattern.pattern} belongs in {homes[0]} and the others of its line in the table"


def main():
    found = list(violations(pathlib.Path(sys.argv[1]), list(read_table(pathlib.Path(sys.argv[2])))))
    print("\n".join(found) or "every decision is at home")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails when a file under src/ includes a module that its own module may not use.

usage: check_layers.py SRC LAYERS   (LAYERS: one `module: modules it may include` a line)
"""
import pathlib
import re
import sys


def read_table(path):
    table = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            module, allowed = line.split(":", 1)
            table[module.strip()] = {module.strip(), *allowed.split()}
    return table


def violations(root, table):
    for path in sorted(root.rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        module = path.relative_to(root).parts[0]
        if module not in table:
            yield f"{path.relative_to(root)}: module '{module}' has no row in the table"
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([a-z_]+)/', line)
            if found and found[1] in table and found[1] not in table[module]:
                yield f"{path.relative_to(root)}:{number}: {module} may not use {found[1]}"


def main():
    found = list(violations(pathlib.Path(sys.argv[1]), read_table(pathlib.Path(sys.argv[2]))))
    print("\n".join(found) or "layers hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

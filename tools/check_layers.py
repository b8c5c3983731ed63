#!/usr/bin/env python3
"""Fails if a file under src/ includes a module that its own module may not use.

usage: check_layers.py SRC LAYERS   (LAYERS: one line `module: modules it may include` per module)
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


def folders_of(path):
    """"engine/nn" and "engine" for engine/nn/encoder.h: the most specific first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def violations(root, table):
    modules = {module.split("/")[0] for module in table}
    for path in sorted(root.rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        name = path.relative_to(root).as_posix()
        module = next((folder for folder in folders_of(name) if folder in table), None)
        if module is None:
            yield f"{name}: the table has no row for its folder"
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([a-z_0-9/]+\.h)"', line)
            if not found or found[1].split("/")[0] not in modules:
                continue
            if not any(folder in table[module] for folder in folders_of(found[1])):
                yield f"{name}:{number}: {module} may not use {found[1]}"


def main():
    found = list(violations(pathlib.Path(sys.argv[1]), read_table(pathlib.Path(sys.argv[2]))))
    print("\n".join(found) or "layers hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

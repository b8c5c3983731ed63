#!/usr/bin/env python3
"""Fails if a port that is implemented has no contract suite, or if an implementation of a port is not tested with its suite.

usage: check_contracts.py ROOT [--write]

A port is a class in src/ports with virtual methods; its suite is tests/contracts/HEADER_contract.h. An implementation
is a class in src/ or tests/fakes/ that derives from a port; a test file that instantiates the suite must name it. The table
between the `contracts` marks in ARCHITECTURE.md lists the result; --write updates it.
"""
import pathlib
import re
import sys

# The write interface that both indexes share: both suites test it.
PART_OF_OTHERS = {"index"}
MARK = "<!-- contracts -->"


def read(path):
    return path.read_text(errors="replace")


def ports(root):
    """{port class: header name} for every header in src/ports."""
    out = {}
    for header in sorted((root / "src/ports").glob("*.h")):
        for name, body in re.findall(r"^class (\w+)[^;{]*\{(.*?)^\};", read(header), re.M | re.S):
            if "virtual" in body or "override = 0" in body:
                out[name] = header.stem
    return out


def implementations(root, port_headers):
    """(header name of the port, class, path) for every class that derives from a port."""
    files = [p for p in (root / "src").rglob("*.h") if p.parent.name != "ports" and not p.stem.endswith("_test")]
    for path in sorted(files) + sorted((root / "tests/fakes").glob("*.h")):
        for name, bases in re.findall(r"^class (\w+)(?: final)?\s*:\s*([^{;]*)\{", read(path), re.M):
            for base in re.findall(r"public (?:\w+::)*(\w+)", bases):
                if base in port_headers and port_headers[base] not in PART_OF_OTHERS:
                    yield port_headers[base], name, path.relative_to(root)


def instantiations(root):
    """{suite: [(test name in ctest, text)]} for every test file that instantiates a suite."""
    out = {}
    for path in sorted([*(root / "src").rglob("*_test.cpp"), *(root / "tests").rglob("*_test.cpp")]):
        text = read(path)
        folder = path.parent.relative_to(root)
        test = "_".join(folder.parts[1:])
        for suite in re.findall(r"INSTANTIATE_TEST_SUITE_P\(\s*\w+,\s*(\w+)", text):
            out.setdefault(suite, []).append((test, text))
    return out


def suite_of(root, header):
    contract = root / f"tests/contracts/{header}_contract.h"
    found = re.search(r"^class (\w+Contract)\b", read(contract), re.M) if contract.exists() else None
    return found[1] if found else None


def check(root):
    """The rows of the table, and the problems found."""
    port_headers = ports(root)
    rows, problems = {}, []
    tests = instantiations(root)
    for header in sorted(set(port_headers.values()) - PART_OF_OTHERS):
        rows[header] = []
    for header, name, path in implementations(root, port_headers):
        run_by = [test for test, text in tests.get(suite_of(root, header), []) if re.search(rf"\b{name}\b", text)]
        if not run_by:
            problems.append(f"{path}: {name} is not run through {suite_of(root, header) or 'any suite'}")
        rows[header].append((name, path, run_by))
    for header, found in rows.items():
        if not any(path.parts[0] == "src" for _, path, _ in found) and (found or suite_of(root, header)):
            problems.append(f"src/ports/{header}.h: no real implementation; a suite over a fake alone says nothing of the product")
    return rows, problems


def table(rows):
    lines = ["| port | fake (test) | real (test) |", "|---|---|---|"]
    for header, found in rows.items():
        cells = {"fake": [], "real": []}
        for name, path, run_by in found:
            cells["fake" if path.parts[0] == "tests" else "real"].append(f"`{name}` ({', '.join(f'`{test}`' for test in run_by)})")
        lines.append(f"| `{header}` | {', '.join(cells['fake']) or 'none yet'} | {', '.join(cells['real']) or 'none yet'} |")
    return "\n".join(lines)


def main():
    root = pathlib.Path(sys.argv[1])
    rows, problems = check(root)
    page = root / "ARCHITECTURE.md"
    parts = read(page).split(MARK)
    if len(parts) != 3:
        problems.append(f"{page.name}: the two marks {MARK} around the table are missing")
    elif "--write" in sys.argv:
        page.write_text(MARK.join([parts[0], f"\n{table(rows)}\n", parts[2]]))
    elif parts[1].strip() != table(rows):
        problems.append(f"{page.name}: the table of contracts is out of date; run tools/check_contracts.py . --write")
    print("\n".join(problems) or "contracts hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The main text of web pages: ours beside trafilatura's, on the pages of tests/extraction.

usage: extraction.py HTML_BENCH [--rounds N]   (needs: pip install trafilatura==2.0.0 lxml_html_clean)
"""
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/extraction"))
from extraction_test import extract, f1, mean, score, words, write_pages  # noqa: E402

import trafilatura  # noqa: E402


def main():
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 20
    with tempfile.TemporaryDirectory() as folder:
        pages = write_pages(folder)
        ours = extract(sys.argv[1], list(pages), rounds)
        theirs = {}
        for path in pages:
            html = pathlib.Path(path).read_text()
            begin = time.perf_counter()
            for _ in range(max(1, rounds // 10)):
                text = trafilatura.extract(html, include_tables=True, include_comments=False) or ""
            theirs[path] = (text, (time.perf_counter() - begin) / max(1, rounds // 10))
    for name, texts in (("footnote", ours), ("trafilatura", theirs)):
        pair = mean([score(words(main), words(texts[path][0])) for path, (_, main) in pages.items()])
        seconds = sum(took for _, took in texts.values()) / len(texts)
        print(f"{name:12} precision {pair[0]:.3f} recall {pair[1]:.3f} F1 {f1(pair):.3f}  {seconds * 1000:.3f} ms a page")


if __name__ == "__main__":
    main()

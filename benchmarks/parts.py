"""What the studies share: files of results, parts that are run item by item, tables.

A part is a function of the options and of an item, a dict that names what is to be measured; it
returns a dict of figures. Each item is a line of a file when it is done, and is not done again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path


def read(path):
    """Results of a file of JSON lines; none where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def append(path, results):
    """Add results to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(r) + "\n" for r in results)


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def parser_of(text, parts):
    """An ArgumentParser with the options of every study; ``text`` is what it is about."""
    parser = argparse.ArgumentParser(description=text.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *parts], metavar="part", default=[])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--table", action="store_true", help="print the page of the study")
    parser.add_argument("--limit", type=int, help="items to do in this run")
    return parser


def run(options, name, parts, items, page, warm=None):
    """Do the items that are missing, or print the page.

    Parameters
    ----------
    options : argparse.Namespace
        Of `parser_of`.
    name : str
        Of the file of results.
    parts : dict of str to callable
    items : callable
        Takes a part's name and the options; returns its items, in the order of the work.
    page : callable
        Makes a text of all results.
    warm : callable, optional
        Compiles the kernels, where there is anything to do.
    """
    path = options.out / name
    results = read(path)
    if options.table:
        print(page(results), end="")
        return
    options.out.mkdir(parents=True, exist_ok=True)
    done = [(r["part"], r["item"]) for r in results]
    every = [(part, item) for part in options.parts for item in items(part, options)]
    todo = [pair for pair in every if pair not in done]
    if todo and warm is not None:
        warm()
    for part, item in todo[: options.limit]:
        found = parts[part](options, item)
        date = time.strftime("%Y-%m-%d")
        append(path, [{"part": part, "item": item, "date": date} | found])
        print(part, item, {k: v for k, v in found.items() if not isinstance(v, list)}, flush=True)

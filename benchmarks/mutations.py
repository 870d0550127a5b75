"""Would the tests notice a mistake? Each is made by itself, and the test named for it is run.

    python benchmarks/mutations.py --table mutations.md

Every mistake of ``mutations.toml`` is made in a copy of the package (a dropped 1/2, a sign, a
missing prior term, a reused stream), and the tests named beside it are run there, slow ones too.
It is caught if they fail with an assertion, not with an error of Python. ``--only WORD`` takes
those whose description or file has the word, ``--check`` only looks whether every mistake can still
be made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
COPIED = ("skbayesembed", "tests", "benchmarks", "pyproject.toml")
TIMEOUT = 1200
# What a mistake that does not even run ends with: it would say nothing of the tests.
BROKEN = ("NameError", "SyntaxError", "TypeError", "TypingError", "ImportError", "AttributeError")


def mutations(only=None):
    """Entries of the list, all or those that have a word."""
    with open(HERE / "mutations.toml", "rb") as file:
        found = tomllib.load(file)["mutation"]
    return [m for m in found if only is None or only in f"{m['of']} {m['what']} {m['file']}"]


def changed(mutation, root):
    """The text of the file with the mistake in it."""
    text = (root / "skbayesembed" / mutation["file"]).read_text(encoding="utf-8")
    n = text.count(mutation["old"])
    if n != 1:
        raise ValueError(
            f"{mutation['of']} ({mutation['what']}): the text to be replaced must stand once in "
            f"{mutation['file']}, got {n} times."
        )
    return text.replace(mutation["old"], mutation["new"])


def run(mutation):
    """Verdict, and the test that failed first."""
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source, copy = ROOT / name, Path(folder) / name
            # times of change are kept, and compiled kernels stay good
            shutil.copytree(source, copy) if source.is_dir() else shutil.copy2(source, copy)
        text = changed(mutation, ROOT)
        (Path(folder) / "skbayesembed" / mutation["file"]).write_text(text, encoding="utf-8")
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "",
            "--no-header", "--tb=line", "-rfE", "--durations=0", *mutation["tests"],
        ]  # fmt: skip
        # wide lines, or pytest cuts the names of errors off
        environment = os.environ | {"PYTHONPATH": folder, "COLUMNS": "200"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT
        )
    return verdict(done.returncode, done.stdout)


def verdict(code, report):
    """``caught``, ``not caught`` or ``error``, and the first test that failed."""
    if code == 0:
        return "not caught", ""
    failed = [line for line in report.splitlines() if line.startswith("FAILED ")]
    if code != 1 or not failed:
        return "error", report.strip().splitlines()[-1]
    name, _, why = failed[0].removeprefix("FAILED ").partition(" - ")
    return ("error" if any(word in why for word in BROKEN) else "caught"), name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="a word of the description or the file")
    parser.add_argument("--check", action="store_true", help="look whether all can be made")
    parser.add_argument("--table", type=Path, help="Markdown file for the table")
    parser.add_argument(
        "--results", type=Path, default=Path("mutations.json"),
        help="file that verdicts are kept in; mistakes that were caught are not made again",
    )  # fmt: skip
    given = parser.parse_args()
    chosen = mutations(given.only)
    for mutation in chosen:
        changed(mutation, ROOT)
    if given.check:
        print(f"All {len(chosen)} mistakes can be made.")
        return 0
    known = json.loads(given.results.read_text(encoding="utf-8")) if given.results.exists() else {}
    for mutation in chosen:
        key = f"{mutation['of']}: {mutation['what']} ({mutation['file']})"
        if known.get(key, [""])[0] != "caught":
            begun = time.perf_counter()
            known[key] = run(mutation)
            given.results.write_text(json.dumps(known, indent=1), encoding="utf-8")
            found, test = known[key]
            print(f"{found}: {key} {test} [{time.perf_counter() - begun:.0f} s]", flush=True)
            if given.table:
                write_table(given.table, known)
    if given.table:
        write_table(given.table, known)
    return int(any(known[key][0] != "caught" for key in known))


def write_table(path, known):
    """The table of what is known, in the order of the list."""
    rows, caught = [], 0
    for mutation in mutations():
        key = f"{mutation['of']}: {mutation['what']} ({mutation['file']})"
        if key in known:
            found, test = known[key]
            shown = test.partition("[")[0].removeprefix("tests/")
            caught += found == "caught"
            rows.append(
                f"| {mutation['of']} | {mutation['what']} | `{mutation['file']}` | {found} | "
                f"`{shown}` |"
            )
    head = "| of | mistake | in | verdict | by |\n|---|---|---|---|---|\n"
    text = f"{caught} of {len(rows)} mistakes are caught.\n\n{head}"
    path.write_text(text + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())

"""Run the programs of this folder and keep what they warn of, print and draw in doc/_static/first.

The front page and the first sections of chapters show the programs and these files, so that no
page has an output or a figure that its code has not made. Run it again after a change of a program
or of what it calls::

    python doc/first/make.py [words] [drift] [senses] [topics]

The texts are public domain; `fetch_inaugural` and `fetch_state_of_the_union` bring them.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).parent
OUT = HERE.parent / "_static" / "first"


def cells(path):
    """Names and code of the cells of a program."""
    parts = re.split(r"^# %% (\w+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [(name, code) for name, code in zip(parts[::2], parts[1::2], strict=True) if code]


def run(path):
    """Run the cells one after the other; each has a file of its output, and one of its figure."""
    names = {"__name__": path.stem}
    for name, code in cells(path):
        printed, start = io.StringIO(), time.process_time()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(compile(code, f"{path}:{name}", "exec"), names)
        told = [f"{w.category.__name__}: {w.message}" for w in caught]
        lines = [*told, *printed.getvalue().strip().splitlines()]
        text = "\n".join(line.rstrip() for line in lines)
        (OUT / f"{path.stem}_{name}.txt").write_text(text + "\n", encoding="utf-8")
        for number in plt.get_fignums():
            plt.figure(number).savefig(OUT / f"{path.stem}_{name}.png", dpi=200)
        plt.close("all")
        print(f"{path.stem} {name}: {time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for chosen in sys.argv[1:] or ["words", "drift", "senses", "topics"]:
        run(HERE / f"{chosen}.py")

"""Whether the data that an example asks for are there, and the reason where they are not.

``python doc/gallery_data.py examples/plot_dynamic.py`` prints the reason and fails, or is silent.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import matplotlib

from skbayesembed import datasets

_CALL = re.compile(r"\b(fetch_\w+|load_snippets)\((?:\"(\w+)\")?")


def missing(example: Path) -> str | None:
    """Why an example cannot be run here, in one line, or None where it can."""
    for name, argument in _CALL.findall(example.read_text(encoding="utf-8")):
        call = f'{name}("{argument}")' if argument else f"{name}()"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of tries that are made again
                getattr(datasets, name)(*filter(None, [argument]))
        except OSError:
            return f"{example.stem}: {call} finds no data, here or on the network"
    return None


def gallery(folder: Path) -> tuple[str, str]:
    """Pattern of the files of examples that can be run, and a sentence about the others."""
    reasons = {example.stem: missing(example) for example in sorted(folder.glob("plot_*.py"))}
    left_out = [reason for reason in reasons.values() if reason]
    names = "|".join(name for name, reason in reasons.items() if not reason)
    said = f"Not run for these pages: {'; '.join(left_out)}." if left_out else ""
    return rf"/({names})\.py$", said


def brief_warnings(gallery_conf: dict, fname: str) -> None:
    """Print warnings of examples without the path of the file, which is that of the build."""
    warnings.formatwarning = _brief


def sharp_figures(gallery_conf: dict, fname: str) -> None:
    """Figures of examples are as large and as sharp as those of the guide (``plot_formats``)."""
    matplotlib.rcParams["savefig.dpi"] = 200


def _brief(message, category, filename, lineno, line=None):
    return f"{category.__name__}: {message}\n"


if __name__ == "__main__":
    sys.exit(missing(Path(sys.argv[1])))

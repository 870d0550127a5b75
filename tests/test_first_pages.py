"""Numbers in the prose of the first pages are those of the outputs beside it.

The outputs are made by ``doc/first/make.py``; after that, prose that quotes an old one fails here.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

DOC = Path(__file__).parents[1] / "doc"
OUTPUTS = DOC / "_static" / "first"
# Pages, and numbers in their first sections that are of no output: limits of verdicts and R-hats.
PAGES = {
    "index": (),
    "user_guide/sgns": (),
    "user_guide/dynamic": ("0.975",),
    "user_guide/senses": ("1.05", "1.13", "0.95"),
    "user_guide/topics": (),
    "user_guide/uncertainty": (),
}
_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)")
_HEADING = re.compile(r"\n[^\n]+\n={4,}\n")


@pytest.mark.parametrize("page", PAGES)
def test_decimals_in_prose_are_in_the_outputs(page):
    prose, numbers = _prose(page), _numbers(_outputs(page))
    if page == "user_guide/dynamic":  # what settings gain over others is not printed
        scores = _numbers((OUTPUTS / "drift_scores.txt").read_text(encoding="utf-8"))
        numbers += [abs(a - b) for a in scores for b in scores]
    for text in _DECIMAL.findall(prose):
        digits = len(text.split(".")[1])
        near = [n for n in numbers if abs(n - float(text)) < 0.501 * 10.0**-digits]
        assert near or text in PAGES[page], f"{page}: {text} is in none of its outputs"


def test_the_front_page_has_the_draws_of_its_chains():
    (told,) = re.findall(r"at least (\d+) effective draws", _prose("index"))
    found = (OUTPUTS / "topics_chains.txt").read_text(encoding="utf-8")
    assert f"smallest effective sample size - {told}," in found


def test_widths_of_joint_draws():
    """The page of questions: intervals of two cosines and of their difference."""
    text = (DOC / "user_guide" / "questions.rst").read_text(encoding="utf-8")
    section = text.split("\nJoint draws\n")[1].split("\n\nNearer\n")[0]
    told = [float(width) for width in _DECIMAL.findall(section)][:4]
    table = (OUTPUTS / "words_compare.txt").read_text(encoding="utf-8")
    rows = [re.search(rf"^{start}.*?\[(.*?)\]", table, re.M)[1] for start in ("god", "law", "-?0")]
    god, law, difference = (np.ptp([float(end) for end in row.split(",")]) for row in rows)
    np.testing.assert_allclose(told, [god, law, difference, np.hypot(god, law)], atol=0.006)
    faq = (DOC / "user_guide" / "faq.rst").read_text(encoding="utf-8")
    (told,) = re.findall(r"with \*god\* and \*law\* are ([\d.]+)\sand ([\d.]+) wide", faq)
    np.testing.assert_allclose([float(width) for width in told], [god, law], atol=0.051)


def _prose(page):
    """A page down to the end of the section with the last output of a first program."""
    text = (DOC / f"{page}.rst").read_text(encoding="utf-8")
    last = [found.start() for found in re.finditer("literalinclude:: .*_static/first", text)][-1]
    end = _HEADING.search(text, last)
    return text if end is None else text[: end.start()]


def _outputs(page):
    """All outputs of the programs of which a page has one."""
    text = (DOC / f"{page}.rst").read_text(encoding="utf-8")
    programs = sorted(set(re.findall("_static/first/([a-z]+)_", text)))
    paths = [path for name in programs for path in sorted(OUTPUTS.glob(f"{name}_*.txt"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def _numbers(text):
    return [float(number) for number in _DECIMAL.findall(text)]

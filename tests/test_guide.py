"""Pages of the user guide whose code is to run as it stands."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "doc" / "user_guide"
# Pages, and what they need besides pandas and matplotlib.
NEEDS = {"arviz": ("arviz_base", "xarray_einstats")}
PAGES = (
    "arviz", "choosing", "data", "faq", "how_sure", "large", "moving", "persistence", "recipes",
    "reporting", "topics", "tutorial",
)  # fmt: skip

_DECIMAL = re.compile(r"-?\d+\.\d+")
# A probability next to 0 or 1, which on another processor may be a hundredth from it.
_BOUNDED = re.compile(r" ?[<>](?=0\.)")
_SIZE = re.compile(r"\d+(?= effective draws| of the tails)")
# Text in double backticks, which keeps its backslashes, in those of a role, and in single ones.
_QUOTED = re.compile(r"``.*?``|:[\w:.]+:`[^`]*`|(?P<single>`[^`]*`)", re.DOTALL)
_LOST = re.compile(r"(?<!\\)\\(?!\\)")


class Nearly(doctest.OutputChecker):
    """Decimals may differ by a tenth: another processor rounds otherwise, and chains part ways.

    So may effective sample sizes.

    Monte Carlo errors of the pages' chains, of 400 draws and more, are a fifth of that at most.
    """

    def check_output(self, want, got, optionflags):
        """Return whether the outputs are the same but for the last digits of decimals."""
        if super().check_output(want, got, optionflags):
            return True
        want, got = (_BOUNDED.sub(" ", _SIZE.sub("0", text)) for text in (want, got))
        pairs = list(zip(_DECIMAL.findall(want), _DECIMAL.findall(got), strict=False))
        words = _DECIMAL.sub("0", want), _DECIMAL.sub("0", got)
        close = all(abs(float(a) - float(b)) <= 0.1 * max(1.0, abs(float(a))) for a, b in pairs)
        return close and super().check_output(*words, optionflags)


@pytest.mark.guide
@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_guide(page):
    for package in ("pandas", *NEEDS.get(page, ())):
        pytest.importorskip(package)
    pytest.importorskip("matplotlib").use("Agg")
    path = GUIDE / f"{page}.rst"
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = path.read_text(encoding="utf-8")
    parsed = doctest.DocTestParser().get_doctest(text, {}, page, str(path), 0)
    runner = doctest.DocTestRunner(checker=Nearly(), optionflags=flags)
    runner.run(parsed)
    assert runner.tries > 4 and runner.failures == 0


def test_pages_and_docstrings_keep_their_backslashes():
    """A pattern as in a page or docstring shows in the built page as it stands in the source."""
    assert _loses(r"``\b`` and `(?u)\b`") == [r"`(?u)\b`"], "the check sees a lost backslash"
    pages = set(ROOT.glob("doc/**/*.rst")) - set(ROOT.glob("doc/auto_examples/**/*.rst"))
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    sources = [*ROOT.glob("skbayesembed/**/*.py"), *ROOT.glob("examples/*.py")]
    for path in sources:
        source = path.read_text(encoding="utf-8")
        if "\\" in source:
            texts[path] = "\n".join(_docstrings(ast.parse(source)))
    assert len(texts) > 40
    for path, text in texts.items():
        lost = _loses(text)
        assert not lost, f"{path}: write in double backticks: {lost}"
        assert "\b" not in text, f"{path}: a docstring with a backslash is to be raw"


def _loses(text):
    singles = (found["single"] for found in _QUOTED.finditer(text))
    return [single for single in singles if single and _LOST.search(single)]


def _docstrings(tree):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    found = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds))
    return [text for text in found if text]

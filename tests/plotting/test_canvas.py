"""Texts of figures."""

from __future__ import annotations

import pytest

from skbayesembed import BayesianSGNS
from skbayesembed.plotting import ForestDisplay, NeighborsDisplay, SimilarityDisplay, WordMapDisplay

plt = pytest.importorskip("matplotlib.pyplot")

WORDS = ("us$", "hk$", "the", "$_$", "cat")
DISPLAYS = {
    "pair": lambda model: SimilarityDisplay.from_estimator(model, [("us$", "hk$")]),
    "neighbors": lambda model: NeighborsDisplay.from_estimator(model, "us$", 4),
    "map": lambda model: WordMapDisplay.from_estimator(model, WORDS),
    "answers": lambda model: SimilarityDisplay.from_answers(
        {"t$1_$": model.similarity("us$", "cat"), "$$": model.similarity("hk$", "cat")}
    ),
    "forest": lambda model: ForestDisplay.from_result(model.nearer("cat", ["us$", "hk$"])),
}


@pytest.fixture(scope="module")
def model():
    texts = ["us$ hk$ the $_$ cat", "$_$ cat the us$", "hk$ the cat"] * 10
    options = {"min_count": 1, "prior_precision": 1.0, "random_state": 0}
    return BayesianSGNS(2, solver="map", token_pattern=r"\S+", **options).fit(texts)


def dollars(figure):
    return [text for text in figure.findobj(plt.matplotlib.text.Text) if "$" in text.get_text()]


@pytest.mark.parametrize("name", DISPLAYS)
def test_dollar_signs_are_no_formulas(model, name):
    """Words between two of them are drawn as they are; formulas of others' axes stay."""
    display = DISPLAYS[name](model)
    display.figure_.draw_without_rendering()
    texts = dollars(display.figure_)
    assert texts and not any(text.get_parse_math() for text in texts)
    _, axes = plt.subplots()
    axes.set_title(r"$\rho$", loc="right")
    display.plot(ax=axes)
    axes.figure.draw_without_rendering()
    formulas = [text.get_text() for text in dollars(axes.figure) if text.get_parse_math()]
    assert formulas == [r"$\rho$"]
    plt.close("all")

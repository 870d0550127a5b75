"""Texts of probabilities and p-values in tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skbayesembed import Posterior
from skbayesembed.posterior.cells import bounded, p_values
from skbayesembed.posterior.result_table import ResultTable
from skbayesembed.posterior.results import About, Result
from skbayesembed.posterior.sources import interval_label
from skbayesembed.sgns.neighbours import Neighbours


def test_rounding_makes_nothing_impossible_or_certain():
    assert bounded([0.0, 0.0049, 0.01, 0.5, 0.99, 0.9951, 1.0, np.nan]) == [
        "<0.01", "<0.01", "0.01", "0.50", "0.99", ">0.99", ">0.99", "-",
    ]  # fmt: skip
    assert p_values([0.0, 0.0004, 0.0296, 1.0]) == ["<0.001", "<0.001", "0.030", "1.000"]


@pytest.mark.parametrize(("source", "text"), [("units", "<0.01"), ("point", "-")])
def test_an_answer_prints_them(source, text):
    found = Result({"prob_positive": 0.0, "p_value": 0.0}, About(source=source))
    assert repr(found).split("\n")[1].split() == [text, "<0.001"]


def test_a_point_has_dashes_for_what_has_no_width():
    entries = {"mean": np.array([0.5, 0.2]), "sd": np.zeros(2), "interval": np.full((2, 2), 0.5)}
    axes = {"word": ["ant", "bee"]}
    point, drawn = (Result(entries, About(None, axes, 0.9, of)) for of in ("point", "posterior"))
    assert [line.split()[1:] for line in repr(point).split("\n")[1:3]] == [
        ["0.500", "-", "-"], ["0.200", "-", "-"],
    ]  # fmt: skip
    assert "[0.500, 0.500]" in repr(drawn)
    # the mean is at the mode, and is called so in print alone
    heads = [repr(found).split("\n")[0].split()[1] for found in (point, drawn)]
    assert heads == ["mode", "mean"] and ResultTable(point)["mean"].tolist() == [0.5, 0.2]


def test_a_summary_of_a_point_has_neither():
    found = Posterior({"x": np.array([[[0.5, 0.2]]])}, attrs={"solver": "map"}).summary("x")
    head, row, *_ = repr(found).split("\n")
    assert head.split()[0] == "mode" and row.split() == ["x[0]", "0.500", *["-"] * 7]
    assert found.columns[0] == "mean"


@pytest.mark.parametrize(("name", "called"), [("speaker", "speakers"), ("sitting_no", "units")])
def test_units_go_by_their_name(name, called):
    about = About(None, {}, 0.9, "posterior, other units", of_units=9, units_name=name)
    found = Result({"mean": 0.5, "interval": np.array([0.4, 0.6])}, about)
    assert repr(found).endswith(f"(intervals allow for {called} other than those seen)")
    label = interval_label(0.9, found.source, found=found)
    assert label.startswith(f"90 % interval (of the model and {called}")
    assert "of speakers and of features" in interval_label(
        0.9, "units and features", found=Result({}, About(of_units=9, units_name="speaker"))
    )


@pytest.mark.parametrize(("prob", "noted"), [([0.3, 0.0], True), ([0.3, 0.2], False)])
def test_neighbours_whose_order_is_not_known_are_counted(prob, noted):
    words, interval = np.array(["ant", "bee"]), np.zeros((2, 2))
    rows = words, np.zeros(2), np.zeros(2), interval, np.array(prob)
    text = repr(Neighbours("cat", *rows, prob=0.9, n_draws=1000))
    assert ("(P(top 2) is below 0.1 for 1 of these 2, which may not" in text) == noted
    assert text.endswith("narrows intervals)") == noted
    # one draw has no probabilities
    assert "is below" not in repr(Neighbours("cat", *rows, prob=0.9, n_draws=1))


def test_a_word_of_which_little_is_known_is_not_named_first():
    """It may be anywhere, also among the nearest, more probably than one that is known."""
    words, mean = np.array(["ant", "bee"]), np.array([0.5, 0.4])
    interval, top = np.array([[-0.5, 1.0], [0.3, 0.5]]), np.array([0.6, 0.2])
    table = Neighbours("cat", words, mean, mean, interval, top, prob=0.9, n_draws=1000)
    table._resting_on("units")
    told = (
        "Of the words whose interval does not contain zero, the highest P(top 2) is that of 'bee' "
    )
    assert f"{told}(P = 0.20), with a cosine of 0.40" in table.sentence
    unknown = replace(table, interval=interval - [[0.0, 0.0], [0.4, 0.4]])._resting_on("units")
    assert "(P =" not in unknown.sentence
    told = "The intervals of all cosines contain zero. Each interval allows for the sampling of"
    assert told in unknown.sentence and "The words were picked" in unknown.sentence
    one = replace(unknown, **{name: getattr(unknown, name)[:1] for name in ("words", "interval")})
    one = replace(one, mean=mean[:1], prob_top=top[:1])._resting_on("units")
    assert "The interval of its cosine contains zero. The interval allows" in one.sentence


@pytest.mark.parametrize(
    ("source", "where"),
    [("units", None), ("posterior, vectors", "under the posterior"),
     ("vi", "under the approximation"), ("unmixed", "in the draws")],
)  # fmt: skip
def test_neighbours_say_how_many_of_them_are_expected_again(source, where):
    words, mean = np.array(["ant", "bee", "cow"]), np.array([0.5, 0.4, 0.3])
    interval, top = mean[:, None] + [-0.25, 0.25], np.array([0.5, 0.75, 0.41])
    table = Neighbours("cat", words, mean, mean, interval, top, prob=0.9, n_draws=1000)
    table._resting_on(source)
    # .5 + .75 + .41 = 1.66
    told = f"among the 3 nearest {where}: the sum of P(top 3))"
    said = f"{(where or '').capitalize()}, about 1.7 of the 3 words nearest to 'cat' by posterior "
    said += "mean are expected to be among its 3 nearest"
    if source == "units":
        # another sample has noise of its own
        told = "to be truly among the 3 nearest: the sum of P(top 3); another sample of as many "
        told += "units may have other words)"
        said = "About 1.7 of the 3 words nearest to 'cat' by cosine are expected to be truly among "
        said += "its 3 nearest (another sample of as many units may have other words)"
    assert f"(of these 3, about 1.7 are expected {told}" in repr(table)
    assert table.sentence.startswith(
        f"{said}. The highest P(top 3) is that of 'bee' (P = 0.75), with a cosine of "
        f"0.40 ({'no interval)' if source == 'unmixed' else '90% interval '}"
    )
    assert table.sentence.endswith(".") and ("too narrow" in table.sentence) == (source == "vi")
    few = replace(table, prob_top=top / 5, period=1910)
    assert "of these 3, about 0.3 are expected" in repr(few) and "'cat' in 1910 by" in few.sentence
    assert "of these 3, fewer than 0.1 are" in repr(replace(table, prob_top=top / 100))
    seen = {"pairs": np.full(3, 50.0), "word_pairs": 3.0, "word_few": True}
    few = few._seen_in_period([], **seen)
    assert np.isnan(few.prob_top).all() and "expected" not in repr(few)
    assert repr(few).splitlines()[2].split() == ["ant", "-", "-", "-", "50"]
    assert few.sentence == (
        "There are too few data to say which words are nearest to 'cat' in 1910: there are fewer "
        "than 10 uses or too few units of it."
    )
    point = replace(table, n_draws=1)
    assert "expected" not in repr(point)
    said = "The word nearest to 'cat' is 'ant', with a cosine of 0.50 (a point estimate)."
    assert point.sentence == said
    assert replace(point, words=words[:0]).sentence is None

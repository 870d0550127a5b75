"""Texts of probabilities and p-values in tables."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.posterior.results import About, Result
from skbayesembed.posterior.tables import bounded, p_values
from skbayesembed.sgns.neighbours import Neighbours


def test_rounding_makes_nothing_impossible_or_certain():
    assert bounded([0.0, 0.0049, 0.01, 0.5, 0.99, 0.9951, 1.0, np.nan]) == [
        "<0.01", "<0.01", "0.01", "0.50", "0.99", ">0.99", ">0.99", "-",
    ]  # fmt: skip
    assert p_values([0.0, 0.0004, 0.0296, 1.0]) == ["<0.001", "<0.001", "0.030", "1.000"]


@pytest.mark.parametrize(("source", "text"), [("units", "<0.01"), ("point", "0.00")])
def test_an_answer_prints_them(source, text):
    found = Result({"prob_positive": 0.0, "p_value": 0.0}, About(source=source))
    assert repr(found).split("\n")[1].split() == [text, "<0.001"]


@pytest.mark.parametrize(("prob", "noted"), [([0.3, 0.0], True), ([0.3, 0.2], False)])
def test_neighbours_whose_order_is_not_known_are_counted(prob, noted):
    words, interval = np.array(["ant", "bee"]), np.zeros((2, 2))
    rows = words, np.zeros(2), np.zeros(2), interval, np.array(prob)
    text = repr(Neighbours("cat", *rows, prob=0.9, n_draws=1000))
    assert ("is below 0.1 for 1 of these 2: whether those" in text) == noted
    # one draw has no probabilities
    assert "is below" not in repr(Neighbours("cat", *rows, prob=0.9, n_draws=1))

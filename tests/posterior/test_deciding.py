"""Verdicts, and what is said of those that an interval decides alone."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.posterior.deciding import is_skewed, note_on_draws, said_of_draws
from skbayesembed.posterior.results import About, Result


def found(interval, proba, verdict="not decided", prob=0.9):
    entries = {"interval": np.array(interval), "prob_increase": proba, "verdict": verdict}
    return Result(entries, About("change", {}, prob))


def test_skew_is_told():
    """The interval holds zero while the probability of a rise is that of a decided one."""
    rise = found([-0.01, 0.4], 0.98)
    assert is_skewed(rise)
    (line,) = note_on_draws(rise)
    assert line.startswith("(skewed posterior: the probability of being above zero is 0.98, but")
    assert said_of_draws(rise).startswith(". Skewed posterior: the probability of being above zero")
    fall = found([-0.4, 0.01], 0.03)
    assert "being below zero is 0.97" in said_of_draws(fall)
    several = found([[-0.01, 0.4], [-0.2, 0.2]], np.array([0.98, 0.5]), ["not decided"] * 2)
    assert note_on_draws(several)[0].startswith("(in 1 of 2 rows skewed posterior: ")


@pytest.mark.parametrize(
    "answer",
    [
        found([-0.01, 0.4], 0.94),
        found([-0.01, 0.4], 0.98, prob=0.99),
        found([-0.01, 0.4], 0.98, verdict="no data"),
        found([0.01, 0.4], 0.98, verdict="rose"),
    ],
)
def test_others_are_not_skewed(answer):
    assert not is_skewed(answer)
    assert note_on_draws(answer) == [] and said_of_draws(answer) == ""


def test_no_probability_is_told_as_certain():
    assert "above zero is above 0.999, but" in said_of_draws(found([-0.0001, 0.2], 0.99975))
    several = found([[-0.01, 0.4]] * 2, np.array([0.996, 0.9999]), ["not decided"] * 2)
    assert "one side of zero is 0.99 or more, but" in note_on_draws(several)[0]

"""Messages of the checks that all rooms share name the parameter, whatever is given."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from skbayesembed import BayesianSGNS
from skbayesembed.common.checks import (
    all_finite,
    as_floats,
    check_forms,
    check_integer,
    check_list,
    check_prob,
    check_real,
    other_than_default,
)


@pytest.mark.parametrize("value", [0.5, 3, np.float32(2), np.int8(1), 2**63 - 1, 2.3e-308])
def test_numbers(value):
    check_real("x", value, 0)


@pytest.mark.parametrize("value", [Fraction(1, 2), 2**63, 10**400, -(2**64)])
def test_numbers_that_kernels_cannot_take(value):
    with pytest.raises(ValueError, match=r"x must be a float, or an int between -2\*\*63"):
        check_real("x", value, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf, True, "1", None, 1j, -1, [1.0]])
def test_what_is_no_number_above_zero(value):
    with pytest.raises(ValueError, match="x must be a number > 0, got"):
        check_real("x", value, 0)


def test_numbers_without_a_finite_inverse():
    for value in (5e-324, np.float64(-1e-310)):
        with pytest.raises(ValueError, match="x must not be so near to 0 .*allowed are numbers of"):
            check_real("x", value, -1)


def test_integers_have_64_bits():
    check_integer("x", 2**63 - 1, 1)
    with pytest.raises(ValueError, match=f"x must be an integer >= 1 and <= {2**63 - 1}, got"):
        check_integer("x", 2**63, 1)
    with pytest.raises(ValueError, match="x must be 'auto' or an integer >= 1 and <= 9, got 10"):
        check_integer("x", 10, 1, "'auto' or ", high=9)


def test_parameters_that_are_other_than_the_defaults():
    names = "lowercase", "stop_words", "min_count", "feature_names"
    model = BayesianSGNS(stop_words=np.array(["a", "b"]), min_count=np.int64(5), lowercase=0)
    assert list(other_than_default(model, names)) == ["lowercase", "stop_words"]
    assert not other_than_default(BayesianSGNS(), names)


def test_probabilities():
    with pytest.raises(ValueError, match="prob must be a number between 0 and 1"):
        check_prob(Fraction(1, 2))


def test_lists():
    assert check_list("x", (word for word in "ab"), "words") == ["a", "b"]
    for value in (5, None, "ab", np.float64(2), np.array(2)):
        with pytest.raises(ValueError, match="x must be a list of words, got"):
            check_list("x", value, "words")


def test_all_finite():
    large = np.full(3, 1.7e308)
    assert all_finite(large) and all_finite(np.zeros((2, 0)))
    for bad in (np.nan, np.inf, -np.inf):
        assert not all_finite(np.array([0.0, bad, 1.0]))
    assert not all_finite(np.array([np.inf, -np.inf]))


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no longer numbers")
def test_longer_numbers_are_infinite_without_a_warning():
    assert np.isinf(as_floats(np.longdouble("1e4000")))


def test_forms_of_a_word():
    assert check_forms("target", "bank") == ["bank"]
    assert check_forms("target", np.array(["bank", "banks"])) == ["bank", "banks"]
    for value in (None, 3, "", [], [3], ["bank", ""], {"bank": 1}):
        with pytest.raises(ValueError, match="target must be a word or a list of its forms, got"):
            check_forms("target", value)
    with pytest.raises(ValueError, match="target must be None, a word or a list"):
        check_forms("target", 3, "None, ")

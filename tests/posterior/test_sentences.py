"""Numbers in sentences and tables: signs that are there, and none that are not."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from skbayesembed.posterior.cells import dashed, number, readable_numbers
from skbayesembed.posterior.sentences import Sentences, estimate, with_signs
from skbayesembed.posterior.tables import Column


@pytest.mark.parametrize("end", [0.0004, 0.003, 0.00002])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_side_of_zero_that_an_end_is_on_is_to_be_seen(end, sign):
    mean, *ends = with_signs(0.4263 * sign, sorted([end * sign, 0.853 * sign]), 0.26)
    shown = min(map(float, ends), key=abs)
    assert np.sign(shown) == sign and abs(shown) == pytest.approx(end, rel=0.5)
    assert len({len(text.split(".")[1]) for text in (mean, *ends)}) == 1


def test_ends_on_either_side_of_zero_differ():
    below, above = (with_signs(0.4, (end, 0.8), 0.26)[1] for end in (-0.0004, 0.0004))
    assert (below, above) == ("-0.0004", "+0.0004")
    assert with_signs(0.4, (0.0, 0.8), 0.26)[1] == "0.00"
    assert with_signs(0.4, (1e-9, 0.8), 0.26)[1] == "0.00", "no end of digits"


@pytest.mark.parametrize("sd", [0.1, np.nan, 0.0])
def test_of_what_is_not_known_there_is_no_sign_and_no_warning(sd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert with_signs(np.nan, (np.nan, np.nan), sd) == ["nan"] * 3
        assert with_signs(0.5, (np.nan, np.nan), sd)[1:] == ["nan"] * 2


def test_zero_has_no_sign():
    small = -1e-6
    assert number(small, ".4f") == number(small, "+.4f") == "0.0000"
    assert (
        dashed(".2f")([small]) == ["0.00"]
        and readable_numbers(np.array([small, 1.0]))[0] == "0.000"
    )
    assert Column("difference", np.array([small, -0.0]), (), ".4f").cells([0, 1]) == ["0.0000"] * 2
    assert Column("interval", np.array([[small, 0.5]]), (), "+.2f").cells([0]) == ["[0.00, +0.50]"]
    assert with_signs(-1e-9, (-0.1, 0.1), 0.05)[0] == "0.000"
    assert estimate({"mean": -1e-9, "interval": (-0.1, 0.1)}, None, 0.9, "+").startswith("0.00 ")
    assert number(-np.inf, ".2f") == "-inf"


def test_keys_of_sentences():
    """Others are told which there are; print, length and order are those of a dict."""
    texts = {(name, "year"): name for name in "abcdefgh"}
    told = Sentences(texts, {(k, "year"): (name, "year") for k, name in enumerate("abcdefgh")})
    for same in (told, copy.copy(told), pickle.loads(pickle.dumps(told))):
        assert same[2, "year"] == same["c", "year"] == "c"
        assert (2, "year") in same and (8, "year") not in same and len(same) == 8
        assert same.get((2, "year")) == "c" and same.get((8, "year"), "none") == "none"
        assert same == texts and list(same) == list(texts) and repr(same) == repr(texts)
    with pytest.raises(KeyError, match=r"no sentence of \(8, 'year'\); .*\('f', 'year'\), \.\.\."):
        told[8, "year"]

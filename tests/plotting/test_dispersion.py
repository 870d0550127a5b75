"""Dispersion of words."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.plotting import DispersionDisplay


def test_points_are_words(by_units):
    display = DispersionDisplay.from_estimator(by_units, label=2)
    drawn = np.isfinite(by_units.dispersion_) & (by_units.dispersion_ > 0)
    x, y = display.points_.get_data()
    np.testing.assert_array_equal(x, by_units.observed_[drawn])
    np.testing.assert_array_equal(y, by_units.dispersion_[drawn])
    most = by_units.words_[np.argsort(-np.where(drawn, by_units.dispersion_, -1.0))[:2]]
    assert [text.get_text() for text in display.texts_] == most.tolist()
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"


def test_pairs_of_all_periods_add_up(dynamic):
    display = DispersionDisplay.from_estimator(dynamic, label=["ant"])
    drawn = np.isfinite(dynamic.dispersion_) & (dynamic.dispersion_ > 0)
    seen = dynamic.observed_.sum(axis=0)
    np.testing.assert_array_equal(display.points_.get_xdata(), seen[drawn])


def test_unknown_words_are_refused(by_units, senses):
    with pytest.raises(KeyError, match="ante"):
        DispersionDisplay.from_estimator(by_units, label=["ante"])
    with pytest.raises(TypeError, match="dispersion_, got DiSCSenseModel"):
        DispersionDisplay.from_estimator(senses)

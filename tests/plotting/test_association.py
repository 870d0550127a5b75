"""Association tests."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from skbayesembed.plotting import WEATDisplay

LISTS = ["ant", "bee"], ["fox", "gnu", "hen"], ["cat"], ["elk"]


def test_the_effect_and_its_interval(by_units):
    display = WEATDisplay.from_estimator(by_units, *LISTS, prob=0.8)
    found = by_units.weat(*LISTS, prob=0.8)
    assert display.points_.get_xdata() == [float(found.mean)]
    np.testing.assert_array_equal(display.interval_.get_xdata(), found.interval)
    assert f"one-sided p = {found.p_value:.3f} over 10 splits" == display.ax_.get_title("left")


def test_the_permutation_distribution(by_units):
    found = by_units.weat(*LISTS)
    display = WEATDisplay.from_answer(found)
    s = found.association.mean
    expected = []
    for first in combinations(range(5), 2):
        rest = np.delete(s, first)
        expected.append((s[list(first)].mean() - rest.mean()) / s.std())
    np.testing.assert_allclose(np.sort(display.permuted_), np.sort(expected))
    # splits that are at least as large, the one observed included, make the p-value
    observed = (s[:2].mean() - s[2:].mean()) / s.std()
    assert np.mean(display.permuted_ >= observed - 1e-9) == pytest.approx(found.p_value)
    # where the dashed line is, and not where the posterior mean of the effect is
    found.mean = 0.5 * found.mean
    (line,) = WEATDisplay.from_answer(found).observed_.get_segments()
    assert line[0, 0] == pytest.approx(observed)
    heights = np.array([-bar.get_height() for bar in display.bars_])
    np.testing.assert_allclose(heights / heights.sum() * 10, np.round(heights / heights.sum() * 10))


def test_a_point_estimate_has_no_interval(point):
    display = WEATDisplay.from_estimator(point, *LISTS)
    assert display.interval_ is None and display.density_ is None


def test_the_period_is_named_and_want_of_text_shows(dynamic):
    found = dynamic.weat(*LISTS, period=1910)
    found.few_pairs = False
    assert found.title.startswith("effect size (WEAT) in 1905")
    display = WEATDisplay.from_answer(found)
    assert display.ax_.get_xlabel().startswith(found.title)
    assert display.points_.get_markerfacecolor() != "white"
    found.few_pairs = True
    display = WEATDisplay.from_answer(found)
    assert display.points_.get_markerfacecolor() == "white"
    assert "hollow: fewer than 10 uses" in display.ax_.get_xlabel()


def test_another_answer_is_refused(by_units):
    with pytest.raises(ValueError, match="answer must be one of weat"):
        WEATDisplay.from_answer(by_units.similarity("ant", "bee"))
    several = r"drawn by ForestDisplay\.from_result\("
    with pytest.raises(TypeError, match=several):
        WEATDisplay.from_estimator(by_units, {"a": LISTS})
    with pytest.raises(TypeError, match=several):
        WEATDisplay.from_answer(by_units.weats({"a": LISTS}))
    with pytest.raises(TypeError, match="four lists of words, got"):
        WEATDisplay.from_estimator(by_units, *LISTS[:3])

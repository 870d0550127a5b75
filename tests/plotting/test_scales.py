"""Scales of components."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.plotting import ComponentScaleDisplay
from skbayesembed.posterior import hdi_interval


def test_bars_are_prior_standard_deviations(ard):
    display = ComponentScaleDisplay.from_estimator(ard, prob=0.8)
    scale = ard.posterior_.flat("prior_precision") ** -0.5
    mean, interval = scale.mean(axis=0), hdi_interval(scale, prob=0.8)
    order = np.argsort(-mean)
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], mean[order])
    drawn = [segment[:, 1] for segment in display.intervals_.get_segments()]
    np.testing.assert_allclose(drawn, interval[order])
    assert display.ax_.get_xlabel().endswith("80 % interval (VI, may be too narrow)")


def test_other_priors_are_refused(by_units):
    with pytest.raises(ValueError, match="fit with prior='ard', got prior='normal'"):
        ComponentScaleDisplay.from_estimator(by_units)

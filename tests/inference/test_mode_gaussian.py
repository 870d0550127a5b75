"""Draws of the Gaussian at a mode whose Hessian has directions far softer than others."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.inference import mode_gaussian
from skbayesembed.inference.mode_gaussian import ModeGaussian


class Normal:
    """Independent normal numbers of some precisions."""

    def __init__(self, precisions):
        self.precisions, self.n_parameters = precisions, precisions.size

    def logp_and_grad(self, theta, out):
        out[:] = -self.precisions * theta
        return -0.5 * float(self.precisions @ theta**2)


PRECISIONS = np.geomspace(1.0, 1e6, 300)


def test_soft_directions_are_as_wide_as_they_are():
    draws = ModeGaussian(Normal(PRECISIONS), np.zeros(300)).sample(64, np.random.default_rng(0))
    variance = (draws**2).mean(axis=0) * PRECISIONS
    # means of 1,920 squares of normal numbers: four and a half standard errors
    for some in (slice(0, 30), slice(-30, None)):
        assert abs(variance[some].mean() - 1.0) < 4.5 * np.sqrt(2 / 1920)


def test_draws_that_are_cut_short_are_warned_of(monkeypatch):
    monkeypatch.setattr(mode_gaussian, "_MAX_PRODUCTS", 50)
    gaussian = ModeGaussian(Normal(PRECISIONS), np.zeros(300))
    with pytest.warns(ConvergenceWarning, match="softest directions .* are too narrow"):
        gaussian.sample(2, np.random.default_rng(0))

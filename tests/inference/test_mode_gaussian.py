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


PRECISIONS = np.geomspace(1.0, 1e4, 300)


def test_errors_are_no_larger_than_they_are_to_be():
    """Of looks two products apart those of some of these draws are .004 and more."""
    draws = ModeGaussian(Normal(PRECISIONS), np.zeros(300)).sample(16, np.random.default_rng(0))
    exact = np.random.default_rng(0).standard_normal((16, 300)) / np.sqrt(PRECISIONS)
    error = np.linalg.norm(draws - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert error.max() < 2 * mode_gaussian._TOL


def test_draws_that_are_cut_short_are_warned_of(monkeypatch):
    monkeypatch.setattr(mode_gaussian, "_MAX_PRODUCTS", 50)
    gaussian = ModeGaussian(Normal(PRECISIONS), np.zeros(300))
    with pytest.warns(ConvergenceWarning, match="softest directions .* are too narrow"):
        gaussian.sample(2, np.random.default_rng(0))

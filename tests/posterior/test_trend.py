"""Chains that drift together, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.common.mixing import drifting, note_drift, note_few
from skbayesembed.posterior.summary import rhat
from skbayesembed.posterior.trend import drift


def walks(rho, shape, seed=0):
    """Autocorrelated draws (chain, draw, entry) at rest."""
    n_chains, n, n_entries = shape
    noise = np.random.default_rng(seed).normal(size=(n_chains, n + 1000, n_entries))
    return lfilter([np.sqrt(1 - rho**2)], [1, -rho], noise, axis=1)[:, 1000:]


@pytest.mark.parametrize(
    ("rho", "shape"), [pytest.param(0.0, (4, 1000), marks=pytest.mark.slow), (0.5, (2, 30)),
                       (0.9, (4, 100)), (0.95, (1, 1000)),
                       pytest.param(0.99, (4, 1000), marks=pytest.mark.slow)],
)  # fmt: skip
def test_chains_at_rest_do_not_drift(rho, shape):
    """Whether they have 4000 effective draws or 20."""
    found = drift(walks(rho, (*shape, 1000)))
    # one of 1000 is expected beyond 3.29 standard deviations, and four or fewer in 996 of 1000
    assert np.sum(np.abs(found) > 3.29) <= 4
    assert not drifting(found).any()
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(1000)


@pytest.mark.slow
def test_chains_that_vary_differently_do_not_drift():
    """One that is ten times as wide as three others, and slow."""
    draws = np.concatenate([walks(0.9, (1, 999, 1000)), 0.1 * walks(0.0, (3, 999, 1000), 1)])
    assert not drifting(drift(draws)).any()


def test_chains_that_drift_together_are_found():
    """R-hat, of halves of chains, is next to its limit; the drift is beyond doubt."""
    draws = walks(0.5, (2, 1000, 50)) + 2.0 * np.exp(-np.linspace(0, 1, 1000))[:, None]
    assert np.median(rhat(draws)) < 1.1
    assert drifting(drift(draws)).all() and np.all(drift(draws) < 0)


def test_too_few_draws_and_what_never_changes():
    assert np.isnan(drift(np.random.default_rng(0).normal(size=(2, 29, 3)))).all()
    assert np.isnan(drift(np.ones((2, 300))))


def test_drift_is_warned_of_once():
    draws = np.zeros((2, 30, 2))
    draws[..., 1] = np.linspace(0, 3, 30)
    attrs = {"converged": True, "warmup": 250}
    with pytest.warns(
        ConvergenceWarning, match=r"mean of b is 0.46.* 2.53.*raise warmup \(it is 250\)"
    ):
        note_drift(attrs, [1.0, -7.0], ["a", "b"], [*np.moveaxis(draws, 2, 0)])
    assert attrs["converged"] is False and attrs["max_drift"] == 7.0
    # another warning has told of it: none
    note_drift(attrs, [1.0, -8.0], ["a", "b"], draws)
    known = {"converged": True}
    note_drift(known, [np.nan, -3.0], ["a", "b"], draws)
    assert known == {"converged": True, "max_drift": 3.0}
    note_drift(known, [np.nan, np.nan], ["a", "b"], draws)
    assert known["max_drift"] == 3.0


def test_few_effective_draws_are_warned_of():
    attrs = {"converged": True, "thin": 25}
    with pytest.warns(ConvergenceWarning, match=r"400 draws .* only 61 .* of b, .*thin \(it is 25"):
        note_few(attrs, [np.nan, 61.2, 100.0], ["a", "b", "c"], 400)
    assert attrs == {"converged": True, "thin": 25, "min_ess": 61.2}
    # who asks for few draws knows that they are few
    note_few(attrs, [12.0], ["a"], 399)
    assert attrs["min_ess"] == 12.0
    note_few(attrs, [100.0], ["a"], 4000)
    note_few(attrs, [np.nan], ["a"], 4000)
    # another warning has told of it
    note_few({"converged": False}, [12.0], ["a"], 4000)

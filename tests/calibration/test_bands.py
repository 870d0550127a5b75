"""Bands of distribution functions of ranks, and p-values by them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from skbayesembed.calibration import ecdf_band, uniformity


@pytest.mark.parametrize(("n", "n_draws"), [(40, 7), (200, 31)])
def test_bands_hold_whole_functions(n, n_draws):
    """Shares of simulated functions inside, at two probabilities."""
    rng = np.random.default_rng(0)
    n_functions = 4000
    ranks = rng.integers(n_draws + 1, size=(n_functions, n))
    ecdf = (ranks[:, None] <= np.arange(n_draws)[:, None]).mean(axis=2)
    for prob in (0.8, 0.95):
        low, high = ecdf_band(n, n_draws, prob)
        inside = np.mean(np.all((ecdf >= low - 1e-12) & (ecdf <= high + 1e-12), axis=1))
        # counts are whole: the band holds prob or some more, which the smaller n shows most
        error = np.sqrt(prob * (1 - prob) / n_functions)
        assert prob - 4.5 * error < inside < prob + (0.1 if n == 40 else 0.03)


def test_p_values_of_uniform_ranks_are_uniform():
    """Never too small; a step of the distribution of a discrete statistic at most too large."""
    rng = np.random.default_rng(1)
    p = uniformity(rng.integers(32, size=(200, 1000)), 31)
    for level in (0.01, 0.1, 0.5):
        # at 4.5 standard errors, once in 100,000
        error = np.sqrt(level * (1 - level) / p.size)
        assert level - 0.03 - 4.5 * error < np.mean(p <= level) < level + 4.5 * error


def test_p_values_agree_with_simulation():
    """The most improbable point of a function, against as many simulated ones."""
    rng, n, n_draws = np.random.default_rng(2), 50, 9
    places = (np.arange(n_draws) + 1) / (n_draws + 1)

    def level(ranks):
        counts = (ranks[None] <= np.arange(n_draws)[:, None, None]).sum(axis=1)
        tails = np.minimum(
            stats.binom.cdf(counts, n, places[:, None]),
            stats.binom.sf(counts - 1, n, places[:, None]),
        )
        return np.minimum(2 * tails, 1).min(axis=0)

    seen = (rng.integers(12, size=(n, 6)) * 10) // 12
    simulated = level(rng.integers(n_draws + 1, size=(n, 20_000)))
    expected = (simulated <= level(seen)[:, None] * (1 + 1e-9)).mean(axis=1)
    error = np.sqrt(expected * (1 - expected) / simulated.size) + 1e-4
    assert np.all(np.abs(uniformity(seen, n_draws) - expected) < 4.5 * error)


def test_wrong_ranks_are_seen():
    rng = np.random.default_rng(3)
    narrow = np.where(rng.random(300) < 0.5, 0, 31)
    shifted = stats.binom.rvs(31, stats.beta.rvs(1.5, 1, size=300, random_state=3), random_state=4)
    good = rng.integers(32, size=300)
    p = uniformity(np.column_stack([narrow, shifted, good]), 31)
    # of the good one once in 10,000 seeds
    assert p[0] < 1e-6
    assert p[1] < 1e-3
    assert p[2] > 1e-4

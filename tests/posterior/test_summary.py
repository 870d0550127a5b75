"""Diagnostics of draws of several runs in turn."""

import numpy as np
import pytest
from scipy.special import log_softmax

from skbayesembed import Posterior
from skbayesembed.posterior.psis import smoothed_weights
from skbayesembed.posterior.summary import diagnostics, ess, rhat, within_runs


def test_runs_in_turn_are_told_apart():
    """R-hat sees chains that differ within runs, effective sizes how few runs there are."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 400, 3))
    runs = np.tile(rng.normal(size=(10, 3)), (40, 1))
    # entry 0: runs differ; 1: chains within runs; 2: nothing
    draws = noise.copy()
    draws[..., 0] += 3 * runs[:, 0]
    draws[..., 1] += 3 * np.tile(rng.normal(size=(4, 10)), 40)
    found = rhat(draws, 10)
    assert found[0] < 1.02 and found[1] > 1.5 and found[2] < 1.02
    # interleaved, chains that differ in each run do not show
    assert rhat(draws)[1] < 1.2
    sizes = ess(draws, "mean", 10)
    variance = np.var(3 * runs[:10, 0])
    # the mean rests on ten runs, each known to 160 draws
    assert sizes[0] == pytest.approx(10 * (1 + variance) / variance, rel=0.1)
    # five standard errors of an effective size of 1600 draws, some 8 % each
    assert 950 < sizes[2] < 2300
    np.testing.assert_array_equal(rhat(draws, 1), rhat(draws))
    columns = diagnostics(draws, 10)
    np.testing.assert_array_equal(columns["rhat"], found)
    assert columns["ess_bulk"][0] < 30
    np.testing.assert_allclose(within_runs(draws, 10).mean(axis=(0, 1)), 0.0, atol=1e-12)


def test_thinning_keeps_runs_in_turn():
    """Draw i stays one of run i modulo their number."""
    draws = np.tile(np.arange(5.0), 8)[None].repeat(2, axis=0)
    posterior = Posterior({"x": draws}, attrs={"embedding_draws": 5})
    for n in (30, 22, 3):
        few = posterior.thinned(n)["x"]
        np.testing.assert_array_equal(few, np.tile(np.arange(5.0), (2, few.shape[1] // 5)))
        assert few.size <= max(n, 10)


def autocorrelated(rho, apart, n_chains=4, n_runs=20, n=20, n_entries=30):
    """Draws (chain, draw, entry) of AR(1) runs in turn, whose chains lie ``apart``."""
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((n_chains, n, n_runs, n_entries))
    for i in range(1, n):
        draws[:, i] = rho * draws[:, i - 1] + np.sqrt(1 - rho**2) * draws[:, i]
    draws += apart * rng.standard_normal((n_chains, 1, n_runs, n_entries))
    draws += 2 * rng.standard_normal((1, 1, n_runs, n_entries))
    return draws.reshape(n_chains, n * n_runs, n_entries)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_short_runs_are_not_blamed_for_their_autocorrelation(rho):
    """Chains of 20 draws at the right place pass; those a standard deviation apart do not.

    Their R-hat is sqrt(2) but for the allowance for chance: two standard deviations of the spread
    of means, 2 * sqrt(2 / 60) of a share of at most .37 of the variance.
    """
    assert np.mean(rhat(autocorrelated(rho, 0.0), 20) < 1.05) > 0.95
    found = rhat(autocorrelated(rho, 1.0), 20)
    np.testing.assert_allclose(found.mean(), np.sqrt(2), atol=0.12)
    assert np.all(found > 1.15)


def test_largest_weights_that_are_all_the_same_have_no_shape():
    """A chain that stood still: its data count as bad, and others are as they would be."""
    density = np.random.default_rng(0).normal(size=(5, 40))
    expected, shapes = smoothed_weights(density, 1.0)
    density[2] = np.where(np.arange(40) % 4 == 0, -1.0, 0.0)
    log_weights, pareto_k = smoothed_weights(density, 1.0)
    rows = [0, 1, 3, 4]
    np.testing.assert_array_equal(log_weights[rows], expected[rows])
    np.testing.assert_array_equal(pareto_k[rows], shapes[rows])
    assert not np.isfinite(pareto_k[2])
    np.testing.assert_allclose(log_weights[2], log_softmax(-density[2]))

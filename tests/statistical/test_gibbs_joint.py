"""Joint-distribution (Geweke) tests and simulation-based calibration of the Gibbs kernels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed.calibration import simulated_ranks, uniformity
from tests.helpers.geweke import WORDS, K, differences, observations, quantities

# exact corners of the same samplers run by default: see CONTRIBUTING
pytestmark = pytest.mark.slow

PRECISION = 1.5


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param(None, id="one", marks=pytest.mark.slow),
        pytest.param([[(0, 2), (2, WORDS)]] * 2, id="two"),
    ],
)
def test_geweke(sampling, kernel_and_layout, blocks):
    """Prior draws with data, against alternating data given parameters and one sweep."""
    kernel, dense = kernel_and_layout
    rng = np.random.default_rng(3)
    total = observations(rng)

    def from_prior(rng):
        return list(PRECISION**-0.5 * rng.normal(size=(2, WORDS, K))), np.full(K, PRECISION)

    def look(arrays, tau, positive):
        return quantities(*arrays, positive, total)

    model = sampling.conditionals(total, 0 * total, K, PRECISION, kernel, dense, blocks=blocks)
    z = differences(sampling, model, total, from_prior, look, rng, 20_000, 20_000)
    # 12 statistics for each of four samplers: 4.5 standard errors happen by chance once in 3,000
    assert np.all(np.abs(z) < 4.5), z


@pytest.mark.parametrize(
    "kernel", ["metropolis", pytest.param("polya-gamma", marks=pytest.mark.slow)]
)
def test_simulation_based_calibration(sampling, kernel):
    """Ranks of the true P(w, v) among posterior draws without anchors are uniform."""
    n_draws, thin = 31, 6
    places = [(0, 0), (1, 2), (3, 1), (2, 2)]

    def replicate(rng):
        rho, alpha = PRECISION**-0.5 * rng.normal(size=(2, WORDS, K))
        total = rng.poisson(4.0, (WORDS, WORDS))
        positive = rng.binomial(total, expit(rho @ alpha.T)).astype(float)
        model = sampling.conditionals(positive, total - positive, K, PRECISION, kernel)

        def look(state):
            t = state.x[0] @ state.x[1].T
            return [t[p] for p in places]

        seed = int(rng.integers(2**32))
        draws = sampling.run(model, n_draws * thin, 60, seed=seed, each=look)
        return np.array(draws)[thin - 1 :: thin], np.array([(rho @ alpha.T)[p] for p in places])

    # 8 p-values in all: each at 1e-4 fails by chance once in 1,250 seeds
    p = uniformity(simulated_ranks(replicate, 240, random_state=6), n_draws)
    assert p.min() > 1e-4, p

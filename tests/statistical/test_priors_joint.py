"""Joint-distribution (Geweke) tests of Gibbs sweeps under every kind of prior."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.sgns.couplings import GraphCoupling, GroupCoupling
from skbayesembed.sgns.priors import Prior
from tests.helpers.geweke import WORDS, K, differences, observations, quantities

# exact corners of the same samplers run by default: see CONTRIBUTING
pytestmark = pytest.mark.slow

HYPER = (6.0, 4.0)


def held():
    precision, pull = np.zeros((WORDS, K)), np.zeros((WORDS, K))
    precision[1, 0], pull[1, 0] = 3.0, 4.0
    precision[2, 1], pull[2, 1] = -0.5, -1.0
    return precision, pull


def coupling(kind):
    if kind == "graph":
        weights = np.zeros((WORDS, WORDS))
        weights[0, 1] = weights[1, 0] = 1.2
        weights[1, 3] = weights[3, 1] = 0.4
        return GraphCoupling(sparse.csr_array(weights))
    return GroupCoupling(np.array([0, 0, -1, 0]), 0.9)


PRIORS = {
    "shared": {"learned": "shared", "hyper": HYPER},
    "ard": {"learned": "component", "hyper": HYPER},
    "graph": {"couplings": (coupling("graph"), coupling("graph"))},
    "grouped": {"couplings": (coupling("grouped"), None)},
    "graph, learned": {
        "couplings": (coupling("graph"), None), "learned": "shared", "hyper": HYPER,
    },
    "informative": {"held": (held(), held())},
}  # fmt: skip


def from_prior(prior, rng):
    """Vectors and the precisions behind them, drawn exactly."""
    tau = prior.tau
    if prior.learned is not None:
        tau = rng.gamma(HYPER[0], 1.0 / HYPER[1], size=K)
        tau = np.full(K, tau[0]) if prior.learned == "shared" else tau
    arrays = []
    for side in (0, 1):
        x = np.empty((WORDS, K))
        for k in range(K):
            basis = np.zeros((WORDS, WORDS, K))
            basis[np.arange(WORDS), np.arange(WORDS), k] = 1.0
            precision = np.array([prior.apply(side, b, tau)[:, k] for b in basis])
            lower = np.linalg.cholesky(precision)
            mean = np.linalg.solve(precision, prior.linear(side)[:, k])
            x[:, k] = mean + np.linalg.solve(lower.T, rng.normal(size=WORDS))
        arrays.append(x)
    return arrays, tau


def looked_at(total, arrays, tau, positive):
    more = [arrays[0][1, 0], arrays[0][0] @ arrays[0][1], np.log(tau[0]), tau[0] * arrays[0][0, 0]]
    return np.append(quantities(*arrays, positive, total), more)


# Kernels treat all priors alike: those of Polya-Gamma run with the slow tests.
@pytest.mark.parametrize(
    "kernel", ["metropolis", pytest.param("polya-gamma", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", list(PRIORS))
def test_geweke(sampling, kernel, kind):
    """Prior draws with data, against alternating data given parameters and one sweep."""
    rng = np.random.default_rng(13)
    prior = Prior(WORDS, K, 1.5, **PRIORS[kind])
    total = observations(rng)
    model = sampling.conditionals(total, 0 * total, K, prior, kernel)
    z = differences(
        sampling, model, total, functools.partial(from_prior, prior),
        functools.partial(looked_at, total), rng, 5_000, 6_000,
    )  # fmt: skip
    assert z.size >= 15
    # 16 statistics of twelve samplers: 4.5 standard errors happen by chance once in 750 seeds
    assert np.all(np.abs(z) < 4.5), z

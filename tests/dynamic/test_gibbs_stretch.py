"""The move of a learned diffusion together with the trajectories: its path and its density."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.data import PeriodPairs
from skbayesembed.dynamic.gibbs.stretch import Stretch
from skbayesembed.dynamic.model import DynamicModel
from skbayesembed.dynamic.priors import DriftPrior

V, K, T = 7, 2, 4
GAPS = [1.0, 2.0, 1.0]


@pytest.fixture(scope="module")
def problem():
    """A model whose words 5 and 6 come in a second unit, and trajectories from nowhere."""
    data = make_dynamic_sgns(
        V, K, T, 200, times=[0, 1, 3, 4], empty_periods=[1], zipf=True, random_state=0
    )
    rng = np.random.default_rng(1)
    start = {name: np.zeros((V, K)) for name in ("rho", "alpha")}
    prior = DriftPrior(GAPS, 1.5, "learned", (3.0, 0.4))
    model = DynamicModel(PeriodPairs(data.pairs), K, prior, np.arange(K), start)
    model.blocks = [[(0, 5), (5, V)], [(0, V)]]
    return data, Stretch(model), list(rng.normal(size=(2, T, V, K)))


def parts(stretch, x):
    means = [np.einsum("twk,tw->wk", v, s) for v, s in zip(x, stretch._weights, strict=True)]
    return means, [v - m for v, m in zip(x, means, strict=True)]


def log_posterior(data, x, diffusion):
    """Of trajectories and the logarithm of the diffusion, by scipy and dense matrices."""
    positive = np.array([p.positive.toarray() for p in data.pairs])
    negative = np.array([p.negative.toarray() for p in data.pairs])
    t = x[0] @ x[1].swapaxes(1, 2)
    value = (positive * log_expit(t) + negative * log_expit(-t)).sum()
    covariance = np.linalg.inv(DriftPrior(GAPS, 1.5, diffusion).tridiagonal().dense())
    law = stats.multivariate_normal(np.zeros(T), covariance)
    value += sum(law.logpdf(v.reshape(T, -1).T).sum() for v in x)
    return value + stats.invgamma(3.0, scale=0.4).logpdf(diffusion) + np.log(diffusion)


def test_the_density_along_the_path(problem, sampling, monkeypatch):
    """What the slice sampler is given, against the joint density of the stretched arrays."""
    data, stretch, x = problem
    means, deviations = parts(stretch, x)
    seen = {}

    def stay(log_density, current, width, rng):
        assert current == 0.0
        grid = np.log([0.5, 0.9, 1.0, 1.3, 2.0])
        seen.update({g: log_density(g) for g in grid})
        return 0.0

    monkeypatch.setattr("skbayesembed.dynamic.gibbs.stretch.slice_update", stay)
    moved = [v.copy() for v in x]
    assert stretch.update(moved, 0.2, None, sampling.serial) == 0.2
    for before, after in zip(x, moved, strict=True):
        np.testing.assert_allclose(before, after, rtol=1e-12, atol=1e-12)

    def expected(log_g):
        g = np.exp(log_g)
        at = [m + g * d for m, d in zip(means, deviations, strict=True)]
        # 2 V K trajectories with T - 1 deviations each that are free
        return log_posterior(data, at, 0.2 * g**2) + 2 * V * K * (T - 1) * log_g

    for log_g, value in seen.items():
        difference = expected(log_g) - expected(0.0)
        np.testing.assert_allclose(value - seen[0.0], difference, rtol=1e-8, atol=1e-8)


def test_means_stay_and_deviations_go_with_the_diffusion(problem, sampling):
    _, stretch, x = problem
    means, deviations = parts(stretch, x)
    moved = [v.copy() for v in x]
    diffusion = stretch.update(moved, 0.2, np.random.default_rng(2), sampling.serial)
    assert diffusion != 0.2
    new_means, new_deviations = parts(stretch, moved)
    for side in (0, 1):
        np.testing.assert_allclose(new_means[side], means[side], atol=1e-12)
        expected = deviations[side] * np.sqrt(diffusion / 0.2)
        np.testing.assert_allclose(new_deviations[side], expected, atol=1e-12)


def test_weights_follow_the_observations(problem):
    data, stretch, _ = problem
    n = np.array([(p.positive + p.negative).toarray() for p in data.pairs])
    for side in (0, 1):
        weights = stretch._weights[side]
        np.testing.assert_allclose(weights.sum(axis=0), 1.0)
        seen = n.sum(axis=2 - side) + 1.0
        np.testing.assert_allclose(weights, seen / seen.sum(axis=0))

"""The prior of trajectories against dense linear algebra, and the draw of a learned diffusion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from skbayesembed.dynamic.priors import DriftPrior, slice_update

GAPS = [1.0, 3.0, 0.5, 2.0]


def covariance(prior, diffusion=None):
    return np.linalg.inv(prior.tridiagonal(diffusion).dense())


def test_every_period_has_the_static_prior():
    prior = DriftPrior(GAPS, prior_precision=4.0, diffusion=0.3)
    np.testing.assert_allclose(np.diag(covariance(prior)), 0.25, rtol=1e-12)


def test_short_steps_have_the_variance_of_the_walk():
    gaps = np.array([1.0, 5.0, 20.0])
    c = covariance(DriftPrior(gaps, prior_precision=0.5, diffusion=1e-3))
    steps = np.diag(c)[1:] + np.diag(c)[:-1] - 2 * np.diag(c, 1)
    # the next term of the series is diffusion * gap / (4 s), at most 0.25 %
    np.testing.assert_allclose(steps, 1e-3 * gaps, rtol=3e-3)


def test_an_empty_period_adds_no_information():
    """The law of the others is the same whether the period is there or not."""
    full = covariance(DriftPrior(GAPS, 2.0, 0.3))
    short = covariance(DriftPrior([1.0, 3.5, 2.0], 2.0, 0.3))
    rest = [0, 1, 3, 4]
    np.testing.assert_allclose(full[np.ix_(rest, rest)], short, rtol=1e-12)


def test_log_density_from_statistics():
    """Differences between diffusions, against scipy's density of the dense covariance."""
    prior = DriftPrior(GAPS, 2.0, "learned", (2.0, 0.5))
    rng = np.random.default_rng(0)
    arrays = [prior.sample(rng, (3, 2), 0.3), prior.sample(rng, (4,), 0.3)]
    sums, n = prior.statistics(*arrays)
    assert n == 10
    columns = np.concatenate([a.reshape(5, -1) for a in arrays], axis=1).T

    def dense(diffusion):
        law = stats.multivariate_normal(np.zeros(5), covariance(prior, diffusion))
        return law.logpdf(columns).sum()

    for diffusion in (1e-3, 0.05, 2.0, 50.0):
        ours = prior.log_density(diffusion, sums, n) - prior.log_density(0.3, sums, n)
        np.testing.assert_allclose(ours, dense(diffusion) - dense(0.3), rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "n_draws"),
    [
        (0, 3000),
        (400, 3000),
        *(pytest.param(n, 8000, marks=pytest.mark.slow) for n in (0, 6, 400)),
    ],
)
def test_learned_diffusion_against_a_grid(sampling, n, n_draws):
    """Moments of the logarithm; without trajectories, those of the inverse-Gamma prior."""
    prior = DriftPrior(GAPS, 1.0, "learned", (3.0, 0.6))
    rng = np.random.default_rng(n)
    sums, count = prior.statistics(prior.sample(rng, (n,), 0.2))
    assert count == n
    grid = np.linspace(-9, 9, 2001)
    weight = -3.0 * grid - 0.6 * np.exp(-grid)
    weight += [prior.log_density(d, sums, n) for d in np.exp(grid)]
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    mean = weight @ grid
    deviation = np.sqrt(weight @ (grid - mean) ** 2)

    diffusion, draws = prior.diffusion, np.empty(n_draws)
    for i in range(100 + draws.size):
        diffusion = prior.draw_diffusion(diffusion, sums, n, rng)
        if i >= 100:
            draws[i - 100] = np.log(diffusion)
    z = (draws - mean) / deviation
    # four standard errors of the mean and of the mean square, from the effective sample sizes
    for values, expected in ((z, 0.0), (z**2, 1.0)):
        error = values.std() / np.sqrt(sampling.ess(values[None]))
        assert abs(values.mean() - expected) < 4 * error


def test_slice_update_leaves_a_law_of_two_modes_invariant():
    """From independent draws of it to independent draws of it, one update each."""
    rng = np.random.default_rng(1)

    def log_density(x):
        return np.logaddexp(-0.5 * (x + 2) ** 2, -2.0 * (x - 2) ** 2)

    # the second mode has half the spread, so half the mass
    second = rng.random(4000) < 1 / 3
    start = np.where(second, 2 + 0.5 * rng.normal(size=4000), -2 + rng.normal(size=4000))
    end = [slice_update(log_density, x, 0.7, rng) for x in start]

    def cdf(x):
        return 2 / 3 * stats.norm.cdf(x, -2) + 1 / 3 * stats.norm.cdf(x, 2, 0.5)

    # the seed is fixed: fails by chance for one in a thousand
    assert stats.kstest(end, cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"diffusion": 0.0}, "diffusion must be a number > 0"),
        ({"diffusion": -1e-3}, "diffusion must be a number > 0"),
        ({"diffusion": "free"}, "diffusion must be a number > 0 or 'learned'"),
        ({"diffusion": None}, "diffusion must be a number > 0 or 'learned'"),
        ({"diffusion": float("nan")}, "diffusion must be a number > 0"),
        ({"prior_precision": 0}, "prior_precision must be a number > 0"),
        ({"hyperprior": (1.0,)}, "hyperprior must be None or a pair"),
        ({"hyperprior": (1.0, 0.0)}, "hyperprior's scale must be a number > 0"),
        ({"gaps": [1.0, 0.0]}, "gaps must be finite and > 0, got 0"),
        ({"gaps": [[1.0]]}, "gaps must be 1-D"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DriftPrior(**{"gaps": GAPS, **options})

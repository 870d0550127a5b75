"""Joint-distribution (Geweke 2004) tests and calibration of the sampler of trajectories."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from skbayesembed.calibration import joint_differences, simulated_ranks, uniformity
from skbayesembed.common.random import generators
from skbayesembed.dynamic.data import PeriodPairs
from skbayesembed.dynamic.gibbs.conditionals import DynamicConditionals, DynamicState
from skbayesembed.dynamic.model import DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.sgns.pairs import PairCounts

V, K, T, EMPTY = 3, 2, 3, 1
GAPS = [1.0, 2.5]
PRECISION, DIFFUSION = 1.5, 0.3
HYPERPRIOR = (8.0, 2.5)  # all moments that the tests use exist
BLOCKS = [[(0, 2), (2, V)], [(0, 1), (1, V)]]


def drift_prior(learned):
    return DriftPrior(GAPS, PRECISION, "learned" if learned else DIFFUSION, HYPERPRIOR)


def from_prior(prior, rng):
    """A state drawn from the prior."""
    diffusion = prior.diffusion
    if prior.learned:
        shape, scale = prior.hyperprior
        diffusion = scale / rng.gamma(shape)
    x = [prior.sample(rng, (V, K), diffusion) for _ in range(2)]
    return DynamicState(x, diffusion)


def totals(rng):
    """How often each pair is observed in each period: a few times, some never, one period none."""
    total = rng.integers(0, 6, (T, V, V))
    total[0, 0, 0] = total[2, 1, 2] = 5
    total[EMPTY] = 0
    return total


def logits(x):
    return x[0] @ x[1].transpose(0, 2, 1)


def conditionals(positive, total, prior):
    counts = [
        PairCounts(sparse.csr_array(p), sparse.csr_array(n - p))
        for p, n in zip(positive.astype(float), total, strict=True)
    ]
    zero = {name: np.zeros((V, K)) for name in ("rho", "alpha")}
    model = DynamicModel(PeriodPairs(counts), K, prior, np.arange(K), zero)
    model.blocks = BLOCKS
    return DynamicConditionals(model, np.array([[0, 0, 0]]))


def set_positive(pairs, positive, total):
    """Put new data of the same totals into the table, in place."""
    kappa = (positive - total / 2).transpose(1, 0, 2)[total.transpose(1, 0, 2) > 0]
    for side, values in enumerate(pairs.both_sides(kappa)):
        pairs.kappa[side][:] = values


def quantities(state, positive, total):
    """Test functions of parameters and data: levels, neighbours in time, the empty period."""
    (rho, alpha), t = state.x, logits(state.x)
    return np.array(
        [
            rho[0, 0, 0],
            alpha[2, 2, 1] ** 2,
            (rho**2).sum(),
            (alpha[EMPTY] ** 2).sum(),
            (np.diff(rho, axis=0) ** 2).sum(),
            (alpha[1:] * alpha[:-1]).sum(),
            (rho[2] * rho[0]).sum(),
            (rho * alpha).sum(),
            expit(t[0, 0, 0]),
            expit(t[EMPTY, 0, 0]) * expit(t[0, 0, 0]),
            t[EMPTY, 1, 2] ** 2,
            positive[0, 0, 0],
            positive[2, 1, 2] * t[2, 1, 2],
            positive[2, 1, 2] * t[EMPTY, 1, 2],
            ((positive - total / 2) * t).sum(),
            np.log(state.diffusion),
            np.log(state.diffusion) ** 2,
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("learned", [False, True], ids=["fixed", "learned"])
def test_geweke(sampling, learned):
    """Prior draws with data, against alternating data given parameters and one sweep."""
    n = 15_000 if learned else 6000
    prior, rng = drift_prior(learned), np.random.default_rng(11)
    total = totals(rng)

    def data(state):
        return rng.binomial(total, expit(logits(state.x)))

    direct = []
    for _ in range(n):
        state = from_prior(prior, rng)
        direct.append(quantities(state, data(state), total))
    state = from_prior(prior, rng)
    model = conditionals(data(state), total, prior)
    streams = generators(np.random.SeedSequence(12), model.n_streams)
    chain = []
    for _ in range(n):
        positive = data(state)
        set_positive(model.model.pairs, positive, total)
        model.sweep(state, streams, sampling.serial)
        chain.append(quantities(state, positive, total))
    z = joint_differences(direct, chain)
    z = z[np.isfinite(z)]
    assert z.size == (17 if learned else 15)
    # 17 statistics for each of two samplers: 4.5 standard errors happen by chance once in 4,000
    assert np.all(np.abs(z) < 4.5), z


def ranks(sampling, learned, n_sets, seed):
    """Ranks of true quantities among posterior draws: (n_sets, quantities), from 0 to 31."""
    n_draws, thin, warmup = 31, 6, 100

    def replicate(rng):
        prior = drift_prior(learned)
        truth, total = from_prior(prior, rng), totals(rng)
        total[EMPTY] = 0

        def look(state, learned=learned):
            t = logits(state.x)
            steps = (np.diff(state.x[0], axis=0) ** 2).sum()
            values = [t[0, 0, 0], t[EMPTY, 0, 0], t[2, 1, 2], t[EMPTY, 2, 1], steps]
            return [*values, state.diffusion] if learned else values

        positive = rng.binomial(total, expit(logits(truth.x)))
        model = conditionals(positive, total, prior)
        of_chain = int(rng.integers(2**32))
        draws = sampling.run(model, n_draws * thin, warmup, seed=of_chain, each=look)
        return np.array(draws)[thin - 1 :: thin], np.array(look(truth))

    return simulated_ranks(replicate, n_sets, random_state=seed)


def check_uniform(found):
    """Smallest p-value by Bonferroni's rule, below 1e-3 once in 1,000 seeds."""
    p = uniformity(found, 31)
    assert p.min() * p.size > 1e-3, p


@pytest.mark.slow
def test_calibration(sampling):
    check_uniform(ranks(sampling, True, 40, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("learned", [False, True], ids=["fixed", "learned"])
def test_calibration_at_length(sampling, learned):
    check_uniform(ranks(sampling, learned, 400, seed=2))

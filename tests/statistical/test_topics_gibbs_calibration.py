"""Simulation-based calibration of the Gibbs samplers of topics (Talts et al. 2018), at power 1."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.calibration import simulated_ranks, uniformity
from skbayesembed.topics.gibbs.solver import SAMPLERS
from skbayesembed.topics.priors import NIW
from tests.helpers.topic_twins import chain, corpus, sampler

# exact corners of the same samplers run by default: see CONTRIBUTING
pytestmark = pytest.mark.slow

K, E, DOCUMENTS, LENGTH = 2, 2, 6, 6
PRIOR = NIW(np.array([0.5, -0.2]), 0.3, 7.0, 3.0 * np.array([[1.0, 0.3], [0.3, 0.7]]))
ALPHA = np.array([0.6, 0.6])  # alike: labels of topics far apart never change places in a chain
DRAWS, THIN, WARMUP = 31, 6, 60


def simulated(rng):
    """A corpus from the prior, every token a word of its own, with its truth."""
    topics = NIW(
        np.tile(PRIOR.mean, (K, 1)), np.full(K, PRIOR.kappa), np.full(K, PRIOR.nu),
        np.tile(PRIOR.scale, (K, 1, 1)),
    ).sample(rng)  # fmt: skip
    theta = rng.dirichlet(ALPHA, DOCUMENTS)
    z = np.array([rng.choice(K, p=theta[d]) for d in np.repeat(np.arange(DOCUMENTS), LENGTH)])
    noise = rng.standard_normal((z.size, E))
    vectors = topics.mean[z] + np.einsum("nij,nj->ni", topics.spread[z], noise)
    counts = np.kron(np.eye(DOCUMENTS, dtype=int), np.ones(LENGTH, int))
    return corpus(counts, vectors), z.astype(np.int32), topics


def quantities(model, state, topics):
    """Functions that do not know the order of the labels."""
    distance = np.linalg.norm(topics.mean[0] - topics.mean[1])
    log_determinants = np.linalg.slogdet(topics.covariance)[1]
    pure = (model.document_counts(state) ** 2.0).sum()
    return [
        model.log_joint(state), distance, log_determinants.min(), log_determinants.sum(),
        float(state.counts.sum(axis=0).max()), pure, topics.mean.sum(),
    ]  # fmt: skip


def ranks(kernel, n, seed):
    """Ranks of the truths among the draws, ties broken at random: shape (n, quantities)."""

    def replicate(rng):
        documents, z, topics = simulated(rng)
        start = rng.integers(K, size=documents.n_words)
        model = sampler(documents, PRIOR, ALPHA, 1.0, kernel, start=start)
        truth = np.array(quantities(model, model.state_of(z), topics))

        def look(state, model=model):
            return quantities(model, state, state.gaussians)

        of_chain = int(rng.integers(2**32))
        _, draws = chain(model, DRAWS * THIN, WARMUP, seed=of_chain, each=look)
        return np.array(draws)[THIN - 1 :: THIN], truth

    return simulated_ranks(replicate, n, random_state=seed)


def check(found):
    """Smallest p-value by Bonferroni's rule, below 1e-3 once in 1,000 seeds."""
    p = uniformity(found, DRAWS)
    assert p.min() * p.size > 1e-3, p


def test_calibration():
    check(ranks("sampled", 48, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", SAMPLERS)
def test_calibration_at_length(kernel):
    check(ranks(kernel, 600, seed=2))

"""The Gibbs samplers of topics against the enumerated posterior, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.topics.gibbs.solver import SAMPLERS
from skbayesembed.topics.priors import NIW
from tests.helpers.topic_twins import batch_error, chain, enumerated, planted, sampler, tiny

# Scores have t tails of 39 degrees of freedom: the largest of 50 is above this once in 1500 runs,
# once in 200 runs of all eight tests.
ALLOWED = 5.0
# The mean square of the 45 or 53 scores sees biases spread over many assignments. Scores vary
# together, as 15 to 20 independent ones: expected 1.05 (39/37), standard deviation some 0.3. In 40
# runs of the exact samplers it was 0.5 to 1.8.
MEAN_SQUARE = 2.2


def numbers(model, draws, warmup, seed):
    """Assignments of all tokens as numbers in base 2."""
    place = 2 ** np.arange(6)[::-1]
    _, out = chain(model, draws, warmup, seed, each=lambda s: int(place @ s.z))
    return np.array(out)


CASES = [
    pytest.param("reference", 0, marks=pytest.mark.slow),
    pytest.param("alias", 0, marks=pytest.mark.slow),
    pytest.param("alias", 30, marks=pytest.mark.slow),
    ("sampled", 0),
]
PLACES = np.arange(6)[::-1]
BITS = (np.arange(64)[:, None] >> PLACES) & 1
TOGETHER = BITS[:, [0, 0, 1, 2, 4, 4]] == BITS[:, [1, 2, 3, 4, 5, 0]]


def scores(numbers, exact):
    """z-scores of frequencies of all assignments, and of pairs of tokens in one topic.

    Standard errors are those of 40 batch means, at least those of independent draws.
    Probabilities below 0.005 are pooled: batch means of rare events are far from normal.
    """
    rare = exact < 0.005
    seen = np.column_stack([
        (numbers[:, None] == np.flatnonzero(~rare)), rare[numbers], TOGETHER[numbers]
    ]).astype(float)  # fmt: skip
    expected = np.concatenate([exact[~rare], [exact[rare].sum()], exact @ TOGETHER])
    error = np.sqrt(expected * (1 - expected) / len(numbers))
    error = np.maximum(batch_error(seen), np.maximum(error, 1e-9))
    return (seen.mean(axis=0) - expected) / error


def check(z):
    assert np.all(np.abs(z) < ALLOWED), np.abs(z).max()
    assert np.mean(z**2) < MEAN_SQUARE, np.mean(z**2)


@pytest.mark.parametrize(
    "power", [0.3, pytest.param(1.0, marks=pytest.mark.slow)], ids=["power", "whole"]
)
@pytest.mark.parametrize(("kernel", "warmup"), CASES)
def test_frequencies_of_assignments(kernel, warmup, power):
    """3 documents, 6 tokens, 2 topics: all 64 assignments.

    With warm-up the table of proposals is a frozen one, without it is dealt.
    """
    documents, prior, alpha = tiny()
    exact = enumerated(documents, prior, alpha, power)
    n = 1200 if (kernel, warmup) == ("alias", 0) else 2000
    draws = numbers(sampler(documents, prior, alpha, power, kernel), n, warmup, seed=1)
    check(scores(draws, exact))


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 0.3])
@pytest.mark.parametrize(("kernel", "warmup"), CASES)
def test_frequencies_of_assignments_at_length(kernel, warmup, power):
    documents, prior, alpha = tiny()
    exact = enumerated(documents, prior, alpha, power)
    draws = numbers(sampler(documents, prior, alpha, power, kernel), 40_000, warmup, seed=2)
    check(scores(draws, exact))


@pytest.mark.slow
def test_rebuilding_the_table_from_all_tokens_would_be_seen():
    """The test above notices a table built from the tokens that it proposes for."""
    documents, prior, alpha = tiny()
    exact = enumerated(documents, prior, alpha, 1.0)
    model = sampler(documents, prior, alpha, 1.0, "alias")

    def adaptive(state, rngs, run):
        table = model._proposals(state.posterior, state.alpha)
        return model._propose(state, model._all, table, rngs[1])[1]

    model._step = adaptive
    z = scores(numbers(model, 2000, 0, seed=1), exact)
    assert np.mean(z**2) > 2 * MEAN_SQUARE


@pytest.mark.slow
@pytest.mark.parametrize("kernel", SAMPLERS)
def test_means_and_covariances(kernel):
    """Posterior means of the recorded mu and Sigma^-1, summed over topics, by enumeration."""
    documents, prior, alpha = tiny()
    model = sampler(documents, prior, alpha, 0.5, kernel)
    exact = enumerated(documents, prior, alpha, 0.5)
    values = []
    for number in range(64):
        z = np.array([number >> i & 1 for i in range(6)][::-1], np.int32)
        one = model.state_of(z).posterior
        precision = one.nu[:, None, None] * np.linalg.inv(one.scale)
        values.append(np.concatenate([one.mean.ravel(), precision.ravel()]))
    expected = exact @ np.array(values)

    def look(state):
        seen = model.observe(state)
        return np.concatenate([seen["mean"].ravel(), np.linalg.inv(seen["covariance"]).ravel()])

    draws = np.array(chain(model, 2000, 30, seed=2, each=look)[1])
    z = (draws.mean(axis=0) - expected) / batch_error(draws)
    assert np.all(np.abs(z) < ALLOWED), z


@pytest.mark.slow
@pytest.mark.parametrize(("power", "separation"), [(1.0, 2.5), (0.3, 5.0)])
def test_kernels_agree(power, separation, sampling):
    """300 documents: log density, sizes of topics and mixing of documents, in Monte Carlo error.

    Errors by effective sample sizes; 15 differences, each of two short chains.
    """
    documents, start = planted(np.random.default_rng(6), separation, 300, 600, 10)
    prior = NIW.from_vectors(documents.vectors, documents.totals)
    alpha = np.array([0.5, 0.2, 0.3])
    means, errors = [], []
    for number, kernel in enumerate(SAMPLERS):
        model = sampler(documents, prior, alpha, power, kernel, start=start)

        def look(state, model=model):
            sizes = np.sort(state.counts.sum(axis=0))
            pure = (model.document_counts(state) ** 2.0).sum()
            half = np.linalg.slogdet(state.gaussians.covariance)[1].sum()
            return [model.log_joint(state), sizes[0], sizes[2], pure, half]

        draws = [chain(model, 200, 60, seed=10 * number + i, each=look)[1] for i in range(2)]
        draws = np.array(draws)
        means.append(draws.mean(axis=(0, 1)))
        ess = [sampling.ess(draws[..., i]) for i in range(draws.shape[2])]
        errors.append(draws.std(axis=(0, 1)) / np.sqrt(ess))
    for i in range(3):
        for j in range(i):
            z = (means[i] - means[j]) / np.hypot(errors[i], errors[j])
            assert np.all(np.abs(z) < 4), (SAMPLERS[i], SAMPLERS[j], z)

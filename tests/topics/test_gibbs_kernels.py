"""Kernels of the Gibbs samplers against slow counterparts with the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln

from skbayesembed.topics.gibbs import collapsed_kernels, kernels
from skbayesembed.topics.priors import NIW, predictive_level
from tests.helpers.topic_twins import corpus, log_predictive, random_corpus, sampler, tokens

K = 3
ALPHA = np.array([0.3, 0.7, 0.1])


def entries_of(documents):
    return kernels.Entries(documents.indptr, documents.words, documents.counts, documents.ends)


@pytest.fixture
def documents():
    return random_corpus(np.random.default_rng(0))


@pytest.fixture
def prior(documents):
    return NIW.from_vectors(documents.vectors, documents.totals, kappa=0.3)


def choice(probability, old, u):
    """The topic that u chooses: the old one first, then the others in their order."""
    order = [old, *[k for k in range(probability.size) if k != old]]
    return order[int(np.searchsorted(np.cumsum(probability[order]), u * probability.sum()))]


def test_draws_given_a_table(documents):
    """`draw_assignments` on padded arrays, in two blocks."""
    rng = np.random.default_rng(1)
    table = np.zeros((documents.n_words, 8))
    table[:, :K] = rng.random((documents.n_words, K)) ** 3
    alpha = np.zeros(8)
    alpha[:K] = ALPHA
    start = rng.integers(K, size=documents.n_tokens).astype(np.int32)
    z, moved = start.copy(), np.zeros(2, np.int64)
    entries = entries_of(documents)
    for u, (a, b) in enumerate([(0, 11), (11, 30)]):
        stream = np.random.default_rng(u)
        kernels.draw_assignments(a, b, entries, table, alpha, stream, z, moved[u : u + 1])
    of, words = tokens(documents)
    expected = start.copy()
    streams = [np.random.default_rng(u) for u in (0, 1)]
    for t in range(z.size):
        mine = (of == of[t]) & (np.arange(z.size) != t)
        weight = np.bincount(expected[mine], minlength=K) + ALPHA
        u = streams[int(of[t] >= 11)].random()
        expected[t] = choice(weight * table[words[t], :K], expected[t], u)
    np.testing.assert_array_equal(z, expected)
    assert 0 < moved.sum() <= z.size


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_reference_draws(documents, prior, power):
    """`draw_collapsed` against predictives from all other tokens' vectors, summed anew."""
    model = sampler(documents, prior, ALPHA, power, "reference")
    start = np.random.default_rng(2).integers(K, size=documents.n_tokens).astype(np.int32)
    state = model.state_of(start.copy())
    model._step(state, [None, np.random.default_rng(3)], None)
    of, words = tokens(documents)
    expected, rng = start.copy(), np.random.default_rng(3)
    for t in range(expected.size):
        others = np.arange(expected.size) != t
        weight = np.bincount(expected[others & (of == of[t])], minlength=K) + ALPHA
        logs = [
            log_predictive(
                prior,
                documents.vectors[words[others & (expected == k)]],
                documents.vectors[words[t]],
                power,
            )
            for k in range(K)
        ]
        probability = weight * np.exp(np.array(logs) - np.max(logs))
        expected[t] = np.searchsorted(np.cumsum(probability), rng.random() * probability.sum())
    np.testing.assert_array_equal(state.z, expected)


def test_topics_follow_their_tokens(documents, prior):
    """After many tokens left and joined, carried factors equal those of fresh sums."""
    model = sampler(documents, prior, ALPHA, 0.6, "reference")
    state = model.state_of((np.arange(documents.n_tokens) % K).astype(np.int32))
    topics = model._topics(state)
    shared = collapsed_kernels.TopicPrior(0.6, prior.kappa, prior.nu, state.levels)
    done, moved = collapsed_kernels.draw_collapsed(
        model._all, model.entries, documents.vectors, shared, topics, ALPHA,
        np.random.default_rng(4), state.z,
    )  # fmt: skip
    assert done == documents.n_documents and moved > 100
    model._refresh(state)
    for carried, fresh in zip(topics, model._topics(state), strict=True):
        np.testing.assert_allclose(carried, fresh, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("n_dims", [1, 3, 4, 9])
@pytest.mark.parametrize("c", [0.7, -0.4])
def test_rank_one(n_dims, c):
    rng = np.random.default_rng(n_dims)
    root = 0.3 * np.tril(rng.standard_normal((n_dims, n_dims))) + 2 * np.eye(n_dims)
    whitener = np.linalg.inv(root)
    vector, mean, d, p = rng.standard_normal((4, n_dims)) / n_dims
    q = collapsed_kernels.whitened(vector, mean, whitener, d, p)
    np.testing.assert_allclose(d, vector - mean)
    np.testing.assert_allclose(p, np.linalg.solve(root, vector - mean), atol=1e-12)
    assert q == pytest.approx(p @ p)
    collapsed_kernels.rank_one(whitener, p, c, np.empty(n_dims))
    changed = root @ root.T + c * np.outer(d, d)
    expected = np.linalg.inv(np.linalg.cholesky(changed))
    np.testing.assert_allclose(np.tril(whitener), expected, atol=1e-12)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_predictives_by_size(documents, prior, power):
    """Of a token outside a topic and of one inside; the level is kept when known."""
    levels = np.full(40, np.nan)
    shared = collapsed_kernels.TopicPrior(power, prior.kappa, prior.nu, levels)
    of_level = prior.kappa + power * 7, prior.nu + power * 7
    value = collapsed_kernels.level_of(7, shared, 3)
    assert value == pytest.approx(float(predictive_level(*of_level, 3, power)), rel=1e-10)
    assert levels[7] == value and np.isnan(levels).sum() == 39
    inside = documents.vectors[:5]
    one = prior.update(power * 5, inside.mean(axis=0), power * 5 * np.cov(inside.T, bias=True))
    d, p = np.empty((2, 3))
    whitener = np.linalg.inv(one.cholesky())
    log_determinant = one.log_determinant()
    v = documents.vectors[9]
    q = collapsed_kernels.whitened(v, one.mean, whitener, d, p)
    value = collapsed_kernels.log_predictive_of(5, shared, log_determinant, q, 3)
    assert value == pytest.approx(log_predictive(prior, inside, v, power))
    q = collapsed_kernels.whitened(inside[2], one.mean, whitener, d, p)
    factor = collapsed_kernels.factor_without(power, one.kappa, q)
    value = collapsed_kernels.log_predictive_own(5, shared, log_determinant, factor, 3)
    others = np.delete(inside, 2, axis=0)
    assert value == pytest.approx(log_predictive(prior, others, inside[2], power))


def test_counts(documents):
    rng = np.random.default_rng(7)
    z = rng.integers(K, size=documents.n_tokens).astype(np.int32)
    of, words = tokens(documents)
    entries = entries_of(documents)
    some = np.array([2, 5, 11])
    out = np.full((documents.n_words, K), 3, np.int32)
    kernels.count_assignments(some, entries, z, out, -1)
    expected = np.full((documents.n_words, K), 3)
    chosen = np.isin(of, some)
    np.add.at(expected, (words[chosen], z[chosen]), -1)
    np.testing.assert_array_equal(out, expected)
    by_document = np.empty((documents.n_documents, K), np.int32)
    kernels.count_documents(documents.ends, z, by_document)
    expected = np.zeros((documents.n_documents, K))
    np.add.at(expected, (of, z), 1)
    np.testing.assert_array_equal(by_document, expected)
    start = rng.integers(K, size=documents.n_words)
    kernels.assign_by_word(entries, start, z)
    np.testing.assert_array_equal(z, start[words])


def test_log_probability_of_assignments():
    """Also where products underflow and where documents are empty."""
    rng = np.random.default_rng(8)
    counts = np.zeros((5, 4), int)
    counts[:3] = rng.poisson(300, (3, 4))
    documents = corpus(counts, rng.standard_normal((4, 2)))
    z = rng.integers(K, size=documents.n_tokens).astype(np.int32)
    of, _ = tokens(documents)
    n = np.zeros((5, K))
    np.add.at(n, (of, z), 1)
    expected = np.sum(gammaln(ALPHA.sum()) - gammaln(ALPHA.sum() + n.sum(axis=1)))
    expected += np.sum(gammaln(n + ALPHA) - gammaln(ALPHA))
    assert kernels.log_assignments(documents.ends, z, ALPHA) == pytest.approx(expected)

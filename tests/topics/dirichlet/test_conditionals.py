"""The sampler of topics with Dirichlet priors of words against what is known exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from skbayesembed.topics.data import Documents
from skbayesembed.topics.dirichlet.conditionals import DirichletTopics
from skbayesembed.topics.dirichlet.gibbs_kernels import draw_tokens
from skbayesembed.topics.dirichlet.measure import BaseMeasures
from skbayesembed.topics.dirichlet.moves import Metric
from skbayesembed.topics.gibbs.kernels import Entries
from tests.helpers.topic_twins import random_corpus, tokens

ALPHA = np.array([1.0, 0.5, 0.5])


def model_of(counts, rng, k=3, n_background=1):
    vectors = rng.normal(size=(counts.shape[1], 2))
    documents = Documents.of(sparse.csr_array(counts), vectors)
    measures = BaseMeasures(vectors, rng.normal(size=len(vectors)), k, n_background)
    return DirichletTopics(documents, measures, ALPHA[:k], None)


@pytest.mark.parametrize("n", [1_500, pytest.param(5_000, marks=pytest.mark.slow)])
def test_tokens_have_their_enumerated_posterior(n):
    """Five tokens of three topics under known base measures."""
    rng = np.random.default_rng(0)
    model = model_of(np.array([[2, 1, 0], [0, 1, 1]]), rng)
    base = model.measures.start()
    base.theta += rng.normal(size=model.measures.n_free)
    base.theta[-1] = np.log(2.0)
    every = np.array(list(itertools.product(range(3), repeat=5)), dtype=np.int32)
    logs = np.array([model.log_joint(model.state_of(z, base)) for z in every])
    proba = np.exp(logs - logsumexp(logs))
    state = model.state_of(every[0].copy(), base)
    seen, powers = np.zeros(len(every)), 3 ** np.arange(4, -1, -1)
    for _ in range(n):
        model.draw_assignments(state, rng)
        seen[state.z @ powers] += 1
    np.testing.assert_array_equal(state.counts.sum(axis=1), [2, 2, 1])
    # sweeps are correlated, by a factor of about 2 here; 243 cells
    error = np.sqrt(2 * proba * (1 - proba) / n)
    assert np.all(np.abs(seen / n - proba) < 5.5 * error + 2 / n)


def drawn_by_formula(documents, z, b, alpha, rng):
    """One pass over the tokens with counts made anew for each; the current topic is tried first."""
    of, words = tokens(documents)
    z, k = z.copy(), alpha.size
    for t in range(z.size):
        others = np.arange(z.size) != t
        n_document, n_word, n = (
            np.bincount(z[others & same], minlength=k)
            for same in (of == of[t], words == words[t], True)
        )
        proba = (n_document + alpha) * (n_word + b[words[t]]) / (n + b.sum(axis=0))
        order = [z[t], *np.delete(np.arange(k), z[t])]
        below = np.cumsum(proba[order])
        z[t] = order[np.searchsorted(below, rng.random() * below[-1])]
    return z


@pytest.mark.parametrize("n_topics", [1, 2, 5])
def test_draws_of_tokens(n_topics):
    """Against the formula with the same random numbers.

    Some words are hardly expected at all: their own token is nearly all of the sum over topics.
    """
    rng = np.random.default_rng(n_topics)
    documents = random_corpus(rng)
    z = rng.integers(n_topics, size=documents.n_tokens).astype(np.int32)
    b = rng.random((documents.n_words, n_topics))
    b[::2] *= 1e-8
    b *= 3.0 / b.sum(axis=0)
    alpha = rng.random(n_topics)
    words = tokens(documents)[1]
    counts = np.zeros(b.shape)
    np.add.at(counts, (words, z), 1)
    expected = drawn_by_formula(documents, z, b, alpha, np.random.default_rng(7))
    table, sizes, before = b + counts, counts.sum(axis=0), z.copy()
    entries, stream = Entries.of(documents), np.random.default_rng(7)
    moved = draw_tokens(entries, table, sizes, alpha, 3.0, stream, z)
    np.testing.assert_array_equal(z, expected)
    assert (before != z).sum() == moved
    assert moved > 0 or n_topics == 1
    counts[:] = 0
    np.add.at(counts, (words, z), 1)
    np.testing.assert_array_equal(sizes, counts.sum(axis=0))
    np.testing.assert_allclose(table, b + counts, rtol=1e-12, atol=1e-12)


class Joint:
    """Draws of base measures, topics of tokens and words together, from prior and by sweeps."""

    n_documents, length, n_words = 4, 4, 5

    def __init__(self, rng):
        self.rng, self.vectors = rng, rng.normal(size=(self.n_words, 2))
        self.measures = BaseMeasures(self.vectors, rng.normal(size=self.n_words), 3, 1)
        self.document = np.repeat(np.arange(self.n_documents), self.length)
        n = self.measures.n_free - self.measures.n_own
        masses = np.tile(np.eye(2), (2, 1, 1))
        self.metric = Metric(masses, masses, np.full(n, 2.0))

    def prior(self):
        base = self.measures.start()
        base.topic_variance = self.measures.topic_scale / self.rng.gamma(2.0)
        base.word_variance = 0.25 / self.rng.gamma(2.0)
        noise = self.rng.normal(size=self.measures.n_free)
        base.theta += noise / np.sqrt(self.measures.precisions(base))
        theta = self.rng.dirichlet(ALPHA, self.n_documents)
        z = np.array([self.rng.choice(3, p=theta[d]) for d in self.document])
        return base, z

    def corpus(self, base, z):
        """Words given topics; documents, and the topics of their tokens in order."""
        b, _ = self.measures.pseudo_tokens(base.theta)
        words = np.empty(z.size, int)
        for k in range(3):
            phi = self.rng.dirichlet(np.maximum(b[:, k], 1e-300))
            words[z == k] = self.rng.choice(self.n_words, np.sum(z == k), p=phi)
        order = np.lexsort((words, self.document))
        table = np.zeros((self.n_documents, self.n_words))
        np.add.at(table, (self.document, words), 1)
        return Documents.of(sparse.csr_array(table), self.vectors), z[order].astype(np.int32)

    def look(self, documents, base, z):
        model = DirichletTopics(documents, self.measures, ALPHA, None)
        state = model.state_of(z, base)
        t, n = self.measures.topic_vectors(base.theta), state.counts
        own = model.document_counts(state)
        log_measure = np.log(self.measures.measure(base.theta))
        return [
            base.theta[-1], np.log(base.topic_variance), np.log(base.word_variance),
            np.tanh(t).mean(), np.tanh(t**2).mean(), self.measures.levels(base.theta)[0],
            (n**2.0).sum(), (own**2.0).sum(), own[:, 0].sum(), n.max(), (n * log_measure).sum(),
        ]  # fmt: skip

    def scores(self, n):
        """Differences of means of both, in standard errors."""
        independent = []
        for _ in range(n):
            base, z = self.prior()
            documents, z = self.corpus(base, z)
            independent.append(self.look(documents, base, z))
        chained = []
        for i in range(n):
            documents, z = self.corpus(base, z)
            model = DirichletTopics(documents, self.measures, ALPHA, None)
            state = model.state_of(z, base)
            state.metric, state.step.value = self.metric, 0.5 if i % 2 else 0.15
            model.sweep(state, [self.rng], None)
            base, z = state.base, state.z
            chained.append(self.look(documents, base, z))
        one, other = np.array(independent), np.array(chained)
        blocks = other.reshape(20, n // 20, -1).mean(axis=1)
        error = np.hypot(one.std(axis=0) / np.sqrt(n), blocks.std(axis=0, ddof=1) / np.sqrt(20))
        return (one.mean(axis=0) - blocks.mean(axis=0)) / error


@pytest.mark.parametrize("n", [240, pytest.param(20_000, marks=pytest.mark.slow)])
def test_joint_distribution(n):
    """Geweke (2004): sweeps with words drawn anew leave the joint distribution as it is.

    Eleven scores of Student's t with 19 degrees of freedom: above 6 once in 10,000 seeds.
    """
    assert np.abs(Joint(np.random.default_rng(4)).scores(n)).max() < 6.0


def test_one_topic_has_all_tokens():
    model = model_of(np.array([[2, 1, 0], [0, 1, 1]]), np.random.default_rng(0), 1, 0)
    state = model.state_of(np.zeros(5, np.int32))
    rngs = [np.random.default_rng(1)]
    model.sweep(state, rngs, None)
    assert state.moved == 0 and state.counts[:, 0].tolist() == [2, 2, 1]

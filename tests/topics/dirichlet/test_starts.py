"""Chains begin with draws from the factors of some variational sweeps."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skbayesembed.datasets import make_topics
from skbayesembed.inference.threads import serial
from skbayesembed.topics.data import Documents
from skbayesembed.topics.dirichlet.measure import BaseMeasures
from skbayesembed.topics.dirichlet.problem import DirichletProblem
from skbayesembed.topics.dirichlet.starts import FactorStart
from skbayesembed.topics.dirichlet.variational import DirichletVI
from skbayesembed.topics.gibbs.kernels import Entries

K = 4


def test_tokens_have_the_probabilities_of_the_factors():
    """Cells of 20,000 draws of each of twelve tokens: within five standard errors."""
    rng = np.random.default_rng(0)
    counts = np.array([[2, 0, 1], [0, 0, 0], [1, 3, 0], [0, 1, 4]])
    documents = Documents.of(sparse.csr_array(counts), rng.normal(size=(3, 2)))
    shares, weights = rng.gamma(1.0, size=(4, K)), rng.gamma(1.0, size=(3, K))
    start, n = FactorStart(Entries.of(documents), shares, weights), 20_000
    found = np.array([start(rng) for _ in range(n)])
    of_document = np.repeat(np.arange(4), documents.lengths)
    of_word = np.repeat(documents.words, documents.counts)
    expected = shares[of_document] * weights[of_word]
    expected /= expected.sum(axis=1, keepdims=True)
    seen = np.stack([(found == k).mean(axis=0) for k in range(K)], axis=1)
    assert np.all(np.abs(seen - expected) < 5 * np.sqrt(expected * (1 - expected) / n))


def test_a_start_has_the_tokens_of_the_factors_after_its_sweeps():
    """Tokens of topics: with 3,000 of them within five times the standard deviation of a draw."""
    made = make_topics(60, 50, K, n_dims=3, word_model="dirichlet", random_state=0)
    documents = Documents.of(sparse.csr_array(made.counts), made.vectors)
    measures = BaseMeasures(made.vectors, np.zeros(50), K, 1)
    assignment = np.arange(50) % (K - 1)
    problem = DirichletProblem(documents, measures, np.full(K, 0.5), None, assignment, None)
    start = FactorStart.of(problem, serial)
    model = DirichletVI(problem)
    q = model.init_q(run=serial)
    bounds = [model.update(q, serial) for _ in range(11)]
    assert bounds[-1] > bounds[0]
    sizes = np.bincount(start(np.random.default_rng(0)), minlength=K)
    assert sizes.sum() == documents.n_tokens
    off = np.abs(sizes - q.counts.sum(axis=0))
    # the factors' shares after ten sweeps, and the tokens that the eleventh gives them
    assert np.all(off < 5 * np.sqrt(0.25 * documents.n_tokens))
    again = FactorStart.of(problem, serial)(np.random.default_rng(0))
    np.testing.assert_array_equal(again, start(np.random.default_rng(0)))

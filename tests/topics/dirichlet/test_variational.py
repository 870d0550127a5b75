"""The variational approximation of topics with Dirichlet priors of words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.inference.contracts import Variational, require
from skbayesembed.inference.threads import serial
from skbayesembed.topics.data import Documents
from skbayesembed.topics.dirichlet.measure import BaseMeasures, Tokens
from skbayesembed.topics.dirichlet.problem import DirichletProblem
from skbayesembed.topics.dirichlet.variational import DirichletVI


@pytest.fixture(scope="module")
def data():
    return make_topics(60, 50, 3, n_dims=3, word_model="dirichlet", random_state=0)


def model_of(counts, vectors, k, n_background=0, learn_alpha=None):
    documents = Documents.of(sparse.csr_array(counts), vectors)
    measures = BaseMeasures(vectors, np.zeros(len(vectors)), k, n_background)
    start = np.arange(len(vectors)) % (k - n_background)
    alpha = np.full(k, 0.5)
    return DirichletVI(DirichletProblem(documents, measures, alpha, learn_alpha, start, None))


@pytest.mark.parametrize("learn_alpha", [None, "asymmetric"])
def test_the_bound_never_falls(data, learn_alpha):
    model = model_of(data.counts, data.vectors, 3, 1, learn_alpha)
    require(model, Variational, "vi")
    q = model.init_q()
    bounds = np.array([model.update(q, serial) for _ in range(30)])
    # rounding of sums of some 3,000 tokens
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[-1])
    np.testing.assert_allclose(q.counts.sum(axis=1), model.totals, rtol=1e-9)


def test_the_bound_of_one_topic_is_exact(data):
    model = model_of(data.counts, data.vectors, 1)
    q = model.init_q()
    measures, counts = model.measures, Tokens.of(model.totals[:, None])
    bound = model.update(q, serial)
    known = measures.log_likelihood(q.base.theta, counts)
    known += measures.log_prior_given_variances(q.base)
    np.testing.assert_allclose(bound, known, rtol=1e-10)


def test_the_approximation_keeps_the_order_of_the_posterior(data):
    model = GaussianLDA(
        4, embedding=data.vectors, word_model="dirichlet", solver="vi", draws=40, random_state=0
    ).fit(data.counts)
    found, sizes = model.approximation_, model.posterior_["counts"].sum(axis=-1).mean(axis=(0, 1))
    np.testing.assert_allclose(found.counts.sum(axis=1), sizes, rtol=0.1)
    assert np.all(np.diff(found.counts.sum(axis=1)[1:]) <= 0)
    drawn = found.sample(2000, np.random.default_rng(0))
    assert set(drawn) == set(found.mean)
    for name, mean in found.mean.items():
        sd = drawn[name].std(axis=0)
        if name == "concentration":  # log-normal: its median is that of the mode
            assert abs(np.mean(drawn[name] < mean) - 0.5) < 0.06
        else:
            # some 60 numbers: beyond 5 errors once in 30,000 seeds
            assert np.all(np.abs(drawn[name].mean(axis=0) - mean) <= 5 * sd / np.sqrt(2000))

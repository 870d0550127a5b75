"""Probabilities of documents given the others, against enumeration."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, logsumexp
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.topics.data import Documents
from skbayesembed.topics.dirichlet.left_out import left_out_likelihood, redraw_topics
from skbayesembed.topics.draws import draws_of

ALPHA = np.array([0.3, 0.8])
PSEUDO = np.array([[0.4, 1.5], [2.0, 0.1], [0.6, 1.4]])
ETA = 3.0
COUNTS = np.array([[2, 1, 0], [0, 2, 1], [1, 0, 2]])


def documents_of(counts):
    return Documents.of(sparse.csr_array(counts), np.zeros((counts.shape[1], 1)))


def log_joint(counts, z):
    """log p(words, topics) of the tokens of some documents, phi and theta summed out."""
    place = np.repeat(*_tokens(counts))
    rows, words = np.divmod(place, counts.shape[1])
    table, own = np.zeros(PSEUDO.shape), np.zeros((len(counts), 2))
    np.add.at(table, (words, z), 1)
    np.add.at(own, (rows, z), 1)
    value = np.sum(gammaln(PSEUDO + table) - gammaln(PSEUDO))
    value -= np.sum(gammaln(ETA + table.sum(axis=0)) - gammaln(ETA))
    value += np.sum(gammaln(ALPHA + own) - gammaln(ALPHA))
    return value - np.sum(gammaln(ALPHA.sum() + own.sum(axis=1)) - gammaln(ALPHA.sum()))


def _tokens(counts):
    return np.arange(counts.size), counts.ravel()


def every(n):
    return np.array(list(itertools.product(range(2), repeat=n)), dtype=np.int32)


def log_evidence(counts):
    return logsumexp([log_joint(counts, z) for z in every(counts.sum())])


def test_a_document_given_the_topics_of_others():
    """Means over seeds are exact, and the spread tells their deviation."""
    z = np.array([0, 1, 1, 1, 0, 0, 1, 0, 0], np.int32)
    documents, n, seeds = documents_of(COUNTS), 400, 60
    given = documents, PSEUDO, ETA, ALPHA, z, n
    runs = [left_out_likelihood(*given, np.random.default_rng(seed)) for seed in range(seeds)]
    found, spread = np.swapaxes(runs, 0, 1)
    for d in range(3):
        here = np.repeat(np.arange(3), 3) == d
        joint = []
        for own in every(3):
            whole = z.copy()
            whole[here] = own
            joint.append(log_joint(COUNTS, whole))
        others = log_joint(np.delete(COUNTS, d, axis=0), z[~here])
        ratio = np.exp(found[:, d] - logsumexp(joint) + others)
        assert abs(ratio.mean() - 1) < 5 * ratio.std(ddof=1) / np.sqrt(seeds)
        # the logarithm of a variance of 60 numbers has an error of .18, of 60 times 4 groups .1
        told = np.mean(spread[:, d]) / n
        assert abs(np.log(ratio.var(ddof=1) / told)) < 5 * 0.21


def test_one_topic_is_exact():
    """Also where all tokens are of one word, which the document has most of."""
    counts = np.array([[9, 0, 0], [1, 2, 0], [0, 0, 0]])
    documents, pseudo = documents_of(counts), PSEUDO[:, :1]
    z, rng = np.zeros(12, np.int32), np.random.default_rng(0)
    found, spread = left_out_likelihood(documents, pseudo, ETA, ALPHA[:1], z, 3, rng)
    b, others = pseudo[0, 0], 3 + ETA
    wanted = gammaln(b + 10) - gammaln(b + 1) - gammaln(others + 9) + gammaln(others)
    assert found[0] == pytest.approx(wanted) and found[2] == 0
    np.testing.assert_allclose(1.0 / (1.0 + spread), 1.0)


def test_long_documents_resample_their_particles():
    """Seeds agree by what the spread promises, on a document of 120 tokens of two topics."""
    rng = np.random.default_rng(1)
    pseudo = 300 * rng.dirichlet(np.full(40, 0.3), 2).T + 0.1
    counts = sum(rng.multinomial(60, words / words.sum()) for words in pseudo.T)[None]
    documents, n = documents_of(counts), 400
    z, found = np.zeros(120, np.int32), []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        eta = pseudo[:, 0].sum()
        found.append(left_out_likelihood(documents, pseudo, eta, np.ones(2), z, n, rng))
    values, spread = np.array(found)[..., 0].T
    told = np.sqrt(np.mean(spread) / n)
    # deviations of 24 numbers have errors of a seventh; weights of all tokens are worth next to
    # nothing without resampling
    assert 0.5 * told < values.std(ddof=1) < 2 * told and told < 0.5


def test_weights_lead_to_the_posterior_without_a_document():
    """The harmonic mean over exact draws of topics is the document's probability given the rest."""
    documents, rng = documents_of(COUNTS), np.random.default_rng(3)
    states = every(9)
    logs = np.array([log_joint(COUNTS, z) for z in states])
    draws = rng.choice(len(states), 300, p=np.exp(logs - logsumexp(logs)))
    place = np.repeat(*_tokens(COUNTS)) % 3
    inverse = []
    for i in draws:
        counts, z = np.zeros(PSEUDO.shape), rng.integers(2, size=9).astype(np.int32)
        np.add.at(counts, (place, states[i]), 1)
        redraw_topics(documents, PSEUDO, counts, ALPHA, z, 10, rng)
        values, _ = left_out_likelihood(documents, PSEUDO, ETA, ALPHA, z, 100, rng)
        inverse.append(np.exp(-values))
    inverse = np.array(inverse)
    mean, error = inverse.mean(axis=0), inverse.std(axis=0) / np.sqrt(len(draws))
    for d in range(3):
        wanted = log_evidence(np.delete(COUNTS, d, axis=0)) - log_evidence(COUNTS)
        # three documents: beyond 5 errors once in 500,000 seeds
        assert abs(mean[d] - np.exp(wanted)) < 5 * error[d] < 0.5 * mean[d]


DATA = make_topics(60, 50, 3, n_dims=3, word_model="dirichlet", random_state=1)


def fitted(n_components, **options):
    model = GaussianLDA(n_components, embedding=DATA.vectors, word_model="dirichlet", chains=1)
    model.set_params(min_count=1, background=False, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(DATA.counts)


def test_documents_in_a_data_tree():
    """Those of one topic are known, and know less of a document than three topics."""
    pytest.importorskip("arviz_base")
    lone = fitted(1, draws=3, warmup=9)
    found = lone.to_datatree(DATA.counts, n_points=10)["log_likelihood"]["documents"].values[0]
    counts, draws = lone._training.toarray(), draws_of(lone)
    for s in range(3):
        pseudo, tokens, eta = draws.pseudo_tokens(s)
        others, total = (pseudo + tokens).T - counts, eta + counts.sum()
        wanted = np.sum(gammaln(others + counts) - gammaln(others), axis=1)
        wanted -= gammaln(total) - gammaln(total - counts.sum(axis=1))
        np.testing.assert_allclose(found[s], wanted, rtol=1e-9)
    model = fitted(3, draws=10, warmup=40)
    tree = model.to_datatree(DATA.counts, n_points=40)
    documents = tree["log_likelihood"]["documents"]
    assert documents.shape == (1, 10, 60) and float(documents["efficiency"].min()) > 0.02
    assert _elpd(documents.values[0]) > _elpd(found)
    again = model.to_datatree(DATA.counts, n_points=40)["log_likelihood"]["documents"]
    np.testing.assert_array_equal(again.values, documents.values)


def _elpd(values):
    """Sum over documents of the logarithm of the harmonic mean over draws."""
    return -np.sum(logsumexp(-values, axis=0) - np.log(len(values)))

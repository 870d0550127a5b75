"""Slow counterparts of the Gibbs samplers of topics, and small corpora for them."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse
from scipy.special import digamma, gammaln, multigammaln

from skbayesembed.common.random import generators
from skbayesembed.topics.data import Documents
from skbayesembed.topics.gibbs.solver import SAMPLERS
from skbayesembed.topics.priors import NIW


def serial(function, tasks):
    for task in tasks:
        function(*task)


def corpus(counts, vectors):
    return Documents.of(sparse.csr_array(np.asarray(counts)), np.asarray(vectors, dtype=float))


def tiny():
    """Three documents, six tokens of five types, two dimensions, with a prior."""
    counts = [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1]]
    vectors = [[0.0, 0.3], [0.4, -0.2], [1.5, 0.2], [1.2, 1.6], [-0.6, 0.9]]
    prior = NIW(np.array([0.4, 0.5]), 0.7, 3.5, np.array([[0.6, 0.1], [0.1, 0.4]]))
    return corpus(counts, vectors), prior, np.array([0.6, 1.1])


def random_corpus(rng, n_documents=30, n_words=25, n_dims=3, mean_length=12):
    """Documents of random words around three centres, one document of them empty."""
    centres = 2.0 * rng.standard_normal((3, n_dims))
    vectors = centres[rng.integers(3, size=n_words)] + rng.standard_normal((n_words, n_dims))
    counts = rng.poisson(mean_length / n_words, (n_documents, n_words))
    counts[4] = 0
    return corpus(counts, vectors)


def planted(rng, separation, n_documents, n_words, mean_length):
    """Documents of three topics whose words lie around corners ``separation`` from the origin.

    Returns them and the topic of each word.
    """
    truth = np.arange(n_words) % 3
    vectors = separation * np.eye(3)[truth] + rng.standard_normal((n_words, 3))
    mixtures = rng.dirichlet(np.full(3, 0.4), n_documents)
    rates = mixtures[:, truth] * (3 * mean_length / n_words)
    return corpus(rng.poisson(rates), vectors), truth


def tokens(documents):
    """Document and word of every token."""
    of_entry = np.repeat(np.arange(documents.n_documents), np.diff(documents.indptr))
    return np.repeat(of_entry, documents.counts), np.repeat(documents.words, documents.counts)


def log_normaliser(kappa, nu, scale):
    """Log integral of the unnormalised NIW density, written out for one topic."""
    e = scale.shape[0]
    return (
        e / 2 * np.log(2 * np.pi / kappa)
        + nu * e / 2 * np.log(2)
        + multigammaln(nu / 2, e)
        - nu / 2 * np.linalg.slogdet(scale)[1]
    )


def posterior_of(prior, vectors, power):
    """kappa, nu, mean, scale of one topic after plain sums over its tokens' vectors."""
    n = power * len(vectors)
    kappa, nu = prior.kappa + n, prior.nu + n
    mean = (prior.kappa * prior.mean + power * vectors.sum(axis=0)) / kappa
    scale = (
        prior.scale + power * vectors.T @ vectors
        + prior.kappa * np.outer(prior.mean, prior.mean) - kappa * np.outer(mean, mean)
    )  # fmt: skip
    return kappa, nu, mean, scale


def log_predictive(prior, others, vector, power):
    """Log ratio of the normalisers with and without a vector."""
    before = posterior_of(prior, others, power)
    after = posterior_of(prior, np.vstack([others, vector]), power)
    value = log_normaliser(after[0], after[1], after[3])
    value -= log_normaliser(before[0], before[1], before[3])
    return value - power * vector.size / 2 * np.log(2 * np.pi)


def predictive(niw):
    """Location, shape matrix and degrees of freedom of the next vector's multivariate t."""
    df = np.asarray(niw.nu - niw.n_dims + 1)
    kappa = np.asarray(niw.kappa)
    factor = (kappa + 1) / (kappa * df)
    return niw.mean, factor[..., None, None] * niw.scale, df


def expected_log_density(niw, vectors):
    """E[log N(v; mu, Sigma)] for a stack of K, ndarray of shape (n_words, K)."""
    e, nu = niw.n_dims, np.asarray(niw.nu)
    shift = vectors[:, None] - niw.mean
    level = digamma(0.5 * (nu[:, None] - np.arange(e))).sum(axis=1) - niw.log_determinant()
    level += e * np.log(2) - e / niw.kappa - e * np.log(2 * np.pi)
    return 0.5 * (level - nu * np.einsum("wki,kij,wkj->wk", shift, np.linalg.inv(niw.scale), shift))


def log_joint(documents, prior, alpha, power, z):
    """log p(z, vectors | alpha), everything else summed out."""
    of, words = tokens(documents)
    counts = np.zeros((documents.n_documents, alpha.size))
    np.add.at(counts, (of, z), 1)
    total = alpha.sum()
    value = np.sum(gammaln(total) - gammaln(total + counts.sum(axis=1)))
    value += np.sum(gammaln(alpha + counts) - gammaln(alpha))
    for k in range(alpha.size):
        vectors = documents.vectors[words[z == k]]
        kappa, nu, _, scale = posterior_of(prior, vectors, power)
        value += log_normaliser(kappa, nu, scale)
        value -= log_normaliser(prior.kappa, prior.nu, prior.scale)
        value -= power * len(vectors) * prior.mean.size / 2 * np.log(2 * np.pi)
    return value


def enumerated(documents, prior, alpha, power):
    """Posterior probabilities of all assignments, by their number in base K."""
    n = int(documents.n_tokens)
    logs = np.array([
        log_joint(documents, prior, alpha, power, np.array(z))
        for z in itertools.product(range(alpha.size), repeat=n)
    ])  # fmt: skip
    weight = np.exp(logs - logs.max())
    return weight / weight.sum()


def chain(model, draws, warmup=0, seed=0, state=None, each=None):
    """Run a chain; returns its last state and the list of ``each(state)``."""
    rng = generators(np.random.SeedSequence(seed), model.n_streams)
    state = model.init_state(rng) if state is None else state
    for step in range(warmup):
        model.sweep(state, rng, serial)
        model.tune(state, step, warmup)
    out = []
    for _ in range(draws):
        model.sweep(state, rng, serial)
        out.append(each(state) if each else None)
    return state, out


def sampler(documents, prior, alpha, power=1.0, kernel="sampled", block=None, **options):
    """A sampler from a start by word number; blocks of ``block`` tokens."""
    options = {"start": np.arange(documents.n_words) % len(alpha), "power": power} | options
    model = SAMPLERS[kernel](documents, len(alpha), prior, alpha, **options)
    if block is not None:
        model.blocks = documents.blocks(block)
        model.n_streams = 1 + len(model.blocks)
    return model


def batch_error(draws, n_batches=40):
    """Standard errors of means of (draw, ...) by batch means."""
    n = len(draws) // n_batches * n_batches
    means = draws[:n].reshape(n_batches, -1, *draws.shape[1:]).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(n_batches)

"""Topics of documents and probabilities of their words, under draws of a posterior of topics."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.special import logsumexp
from sklearn.utils.parallel import Parallel, delayed

from ..common.estimator import spaced
from ..inference.threads import OneBlasThread
from .data import Documents
from .predict_kernels import couple_spread, fold_in, mixture_probabilities
from .priors import log_density_table

# Topics of documents are averaged over at most this many evenly spaced draws.
PREDICTIVE_DRAWS = 10
# Tokens that each topic's word probabilities are given besides those counted.
WORD_SMOOTHING = 0.01
_MAX_ITER = 100
_TOLERANCE = 1e-3
# Smallest log probability of a word by density.
_LEAST_LOG = -700.0


class TopicDraws:
    """Evenly spaced draws of the topics of a fitted estimator.

    Parameters
    ----------
    posterior : Posterior
        With draws of ``mean``, ``covariance``, ``counts`` and ``alpha``.
    power : float
        Likelihood power.
    most : int
        Most draws.
    chosen : ndarray of int, optional
        Those that are to be taken in place of evenly spaced ones.
    vector_draws : ndarray of shape (n, n_words, n_dims), optional
        Vectors of the vocabulary's words in turn: those of draw ``i`` of a chain are the
        ``i % n_runs``-th of them, by `Posterior.n_runs`.
    """

    def __init__(self, posterior, power, most=PREDICTIVE_DRAWS, chosen=None, vector_draws=None):
        n = len(posterior.flat("alpha"))
        if chosen is None:
            n_chosen = min(n, most)
            if posterior.n_runs > 1:
                chosen = spaced(posterior, n_chosen)
            else:
                chosen = np.unique(np.linspace(0, n - 1, n_chosen).round().astype(int))
        self.chosen = chosen
        self.power = float(power)
        self._posterior, self._vector_draws = posterior, vector_draws

    def __len__(self):
        return self.chosen.size

    def _draw(self, name, s):
        return np.ascontiguousarray(self._posterior.flat(name)[self.chosen[s]], dtype=np.float64)

    def vocabulary(self, s, vectors):
        """Vectors of the vocabulary's words under a draw: ``vectors`` where they are known."""
        if self._vector_draws is None:
            return vectors
        return self._vector_draws[self._posterior.runs_of(self.chosen[s])]

    def seen(self, s, reading):
        """Vectors of the words of a reading under a draw, (n_words, n_dims)."""
        if self._vector_draws is None:
            return reading.vectors
        known, out = reading.places >= 0, reading.vectors.copy()
        out[known] = self.vocabulary(s, None)[reading.places[known]]
        return out

    def alpha(self, s):
        """Parameters of the Dirichlet prior of documents, (K,)."""
        return self._draw("alpha", s)

    def log_density(self, s, vectors):
        """log N(v; mu_k, Sigma_k), ndarray of shape (n_words, K)."""
        return log_density_table(self._draw("mean", s), self._draw("covariance", s), vectors)

    def weights(self, s, reading, by):
        """Likelihoods of words under the topics, relative to each word's largest, (n_words, K).

        With ``by="count"`` those of words that training has tokens of are their probabilities by
        counts; all others are powered densities.
        """
        if by == "density":
            return self._relative_densities(s, self.seen(s, reading))
        counts = self._draw("counts", s)
        smooth = counts[:, reading.places] + WORD_SMOOTHING
        smooth /= counts.sum(axis=1, keepdims=True) + WORD_SMOOTHING * counts.shape[1]
        out = np.ascontiguousarray((smooth / smooth.max(axis=0)).T)
        unseen = (reading.places < 0) | ~counts[:, reading.places].any(axis=0)
        if unseen.any():
            out[unseen] = self._relative_densities(s, self.seen(s, reading)[unseen])
        return out

    def _relative_densities(self, s, vectors):
        table = self.log_density(s, vectors)
        table -= table.max(axis=1, keepdims=True)
        table *= self.power
        return np.exp(table, out=table)

    def counted_proba(self, s):
        """Probabilities of the vocabulary's words under each topic, by counts, (K, n_words)."""
        return counted_proba(self._draw("counts", s))

    def token_proba(self, s):
        """Shares of the vocabulary's words in the tokens of each topic, (K, n_words).

        Of a topic without tokens all are zero.
        """
        counts = self._draw("counts", s)
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)

    def density_proba(self, s, vectors):
        """Probabilities of words by powered densities of their ``vectors``, (K, n_words)."""
        table = self.power * self.log_density(s, self.vocabulary(s, vectors))
        table -= logsumexp(table, axis=0)
        # above zero, so that a single far word does not make a score infinite
        return np.exp(np.maximum(table, _LEAST_LOG).T)

    def word_proba(self, s, by, vectors):
        """Probabilities of the vocabulary's words ``by`` "count" or "density", (K, n_words)."""
        return self.counted_proba(s) if by == "count" else self.density_proba(s, vectors)

    def drawn_proba(self, s, by, vectors, rng):
        """`word_proba` with what a draw leaves open about it drawn as well."""
        return self.word_proba(s, by, vectors)


def counted_proba(counts):
    """Smoothed shares of the words in the tokens of each topic, for counts (..., n_words)."""
    smooth = counts + WORD_SMOOTHING
    return smooth / smooth.sum(axis=-1, keepdims=True)


class FoldIn:
    """Topics of documents under every draw of the topics, one draw after the other.

    Parameters
    ----------
    reading : inputs.Reading
    draws : TopicDraws
    by : {"count", "density"}
        Where the likelihoods of words come from.
    n_jobs : int or None
    """

    def __init__(self, reading, draws, by, n_jobs=None):
        self.reading, self.draws, self.by, self.n_jobs = reading, draws, by, n_jobs
        self.documents = Documents.of(reading.counts, reading.vectors)
        self.counts = self.documents.counts.astype(np.float64)
        self.lengths = self.documents.lengths.astype(np.float64)
        self.blocks = self.documents.blocks()

    def weights(self, s):
        """Likelihoods of words under draw ``s``, up to a factor of each, (n_words, K)."""
        return self.draws.weights(s, self.reading, self.by)

    def __iter__(self):
        """Yield the mean of theta (n_documents, K) under every draw."""
        return (mean for mean, _ in self.moments(coupled=False))

    def moments(self, coupled=True):
        """Yield mean and variance of theta, each (n_documents, K), under every draw.

        Tokens start from the topics that they had under the draw before, which are mostly close.
        Unless ``coupled``, variances are those of tokens that vary independently: too small, as
        tokens share their document's theta.
        """
        n = None
        for s in range(len(self.draws)):
            alpha = self.draws.alpha(s)
            if n is None:
                n = np.zeros((self.documents.n_documents, alpha.size))
            n, spread = self._tokens(s, alpha, n, coupled)
            yield dirichlet_moments(n, spread, self.lengths, alpha)

    def _tokens(self, s, alpha, start, coupled):
        """Mean and variance of the tokens of each topic under draw ``s``."""
        documents = self.documents
        weights = self.weights(s)
        entries = documents.indptr, documents.words, self.counts
        shared = entries, weights, alpha, start, coupled
        jobs = min(effective_n_jobs(self.n_jobs), len(self.blocks))
        parts = Parallel(n_jobs=jobs, prefer="threads", max_nbytes=None)(
            delayed(_fold_block)(*shared, first, last) for first, last in self.blocks
        )
        return tuple(np.concatenate([part[i] for part in parts]) for i in (0, 1))


def _fold_block(entries, weights, alpha, start, coupled, first, last):
    n_topics = alpha.size
    most = int(np.diff(entries[0][first : last + 1]).max(initial=0))
    work = np.empty((most, n_topics)), np.empty((2, n_topics))
    topics, spread = np.empty((2, last - first, n_topics))
    fold_in(
        entries, weights, alpha, start, first, last, _MAX_ITER, _TOLERANCE, work, topics, spread
    )
    if coupled:
        couple_spread(entries, weights, alpha, first, last, topics, spread)
    return topics, spread


def dirichlet_moments(n, spread, lengths, alpha):
    """Mean and variance of theta where tokens n of each topic are uncertain.

    theta given n is Dirichlet(alpha + n); n has the mean ``n`` and the variances ``spread``.

    Parameters
    ----------
    n, spread : ndarray of shape (n_documents, K)
    lengths : ndarray of shape (n_documents,)
    alpha : ndarray of shape (K,)

    Returns
    -------
    mean, variance : ndarray of shape (n_documents, K)
        Of the prior where a document is empty.
    """
    total = (lengths + alpha.sum())[:, None]
    mean = alpha + n
    mean /= mean.sum(axis=1, keepdims=True)
    of_mean = spread / total**2
    within = np.maximum(mean * (1 - mean) - of_mean, 0.0) / (total + 1)
    return mean, within + of_mean


def topic_features(fold, with_std):
    """Posterior means of theta; their standard deviations beside them where asked for.

    Parameters
    ----------
    fold : FoldIn
    with_std : bool

    Returns
    -------
    ndarray of shape (n_documents, K) or (n_documents, 2 K)
    """
    total = square = within = 0.0
    with OneBlasThread():
        for mean, variance in fold.moments(with_std):
            total = total + mean
            if with_std:
                square = square + mean**2
                within = within + variance
    n = len(fold.draws)
    theta = total / n
    theta /= theta.sum(axis=1, keepdims=True)
    if not with_std:
        return theta
    between = np.maximum(square / n - theta**2, 0.0)
    return np.hstack([theta, np.sqrt(within / n + between)])


def completion(fold, second, proba_of):
    """Mean log probability per token of second halves, given the first.

    The log of the mean over draws of sum_k theta_dk p(w | k), where theta is that of the first
    half.

    Parameters
    ----------
    fold : FoldIn
        Of the first halves.
    second : csr_array of shape (n_documents, n_words)
    proba_of : callable
        ``proba_of(s)`` gives the table (n_words, K) under draw ``s``.

    Returns
    -------
    float
        NaN where there is no token.
    """
    counts = second.data
    if counts.sum() == 0:
        return float("nan")
    indptr, words = second.indptr.astype(np.int64), second.indices.astype(np.int64)
    total, out = np.zeros(counts.size), np.empty(counts.size)
    with OneBlasThread():
        for s, theta in enumerate(fold):
            proba = np.ascontiguousarray(proba_of(s))
            mixture_probabilities(indptr, words, theta, proba, 0, len(theta), out)
            total += out
    with np.errstate(divide="ignore"):
        logs = np.log(total / len(fold.draws))
    return float(np.average(logs, weights=counts))

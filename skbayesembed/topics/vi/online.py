"""Stochastic variational inference of topics: batches of documents (Hoffman et al. 2013).

What is averaged over batches are natural parameters of the topics' factors, that is, statistics of
the expected counts per document. Batch t has the average s_t, and

    S_t = (1 - rho_t) S_{t-1} + rho_t s_t,    rho_t = (learning_offset + t)^-learning_decay,

the factor of Gaussians being the prior's natural parameters plus tau M S_t for M documents. (Ozaki
& Kobayashi 2022, eq. 14, average means and scale matrices themselves; the average of the scale
matrices of two topics with different means is not the scale matrix of their words together.)

S_0 comes from clusters, not from random numbers. Its weight w_t = prod_i (1 - rho_i) is known, and
what is handed out is (S_t - w_t S_0) / (1 - w_t), an average over batches alone. With the paper's
rho_t = 1 / (1024 + t) the start would have more than half the weight after 900 batches.
"""

from __future__ import annotations

import copy

import numpy as np

from ...common.interruption import at_once
from ...inference.checkpoint import stage
from ...inference.vi import batch_laps, repeat_passes
from ..data import Documents
from ..starts import kmeans_assignment
from .statistics import WordFeatures, posterior
from .variational import LocalFactors, TopicFactors, best_alpha, sample_topics

# Most updates of a document's factors, which start anew in every batch, and the change of gamma,
# in tokens a topic, below which they end.
LOCAL_STEPS, LOCAL_TOL = 20, 1e-3


class OnlineLearner:
    """Expected counts of words in topics, averaged over batches of documents.

    A word model adds `_start`, `_word_weights` and `result`, and may add `_take_in`. The first two
    and the last replace what they change, and change no object in place.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, E)
    alpha : float or array-like of shape (n_components,)
        Dirichlet prior; the start of it where it is learned.
    n_components : int
    learn_alpha : {None, "symmetric", "asymmetric"}
        Fitted to running averages of E[log theta].
    learning_offset, learning_decay : float
        Steps of size ``(learning_offset + t) ** -learning_decay``, t = 1, 2, ...
    n_documents : int, optional
        M, documents of the whole corpus; where None, those seen so far.
    totals : ndarray of shape (n_words,), optional
        Occurrences of words in the whole corpus; where None, those seen so far, at as many
        a document in the whole corpus.
    n_inner : int
        Most updates of a document's factors in a batch.

    Attributes
    ----------
    n_taken, n_batches, n_seen : int
        Batches taken in, those of them with tokens, and documents.
    start_weight : float
        w_t, weight of the start in the averages that topics are learned from.
    alpha : ndarray of shape (n_components,)
    """

    # streams of earlier versions do not know of these: batches taken in, of any call, and documents
    # of batches that were a step, for which they take all
    n_taken, n_learned = 0, None

    def __init__(
        self, vectors, n_components, alpha, *, learn_alpha=None, learning_offset=10.0,
        learning_decay=0.7, n_documents=None, totals=None, n_inner=LOCAL_STEPS,
    ):  # fmt: skip
        self.vectors, self.n_components = vectors, n_components
        self.alpha = np.broadcast_to(np.asarray(alpha, dtype=float), n_components).copy()
        self.learn_alpha, self.n_inner = learn_alpha, n_inner
        self.learning_offset, self.learning_decay = learning_offset, learning_decay
        self._n_documents, self._totals = n_documents, totals
        self.n_batches, self.n_seen, self.start_weight = 0, 0, 1.0
        self.n_learned = 0
        self.seen = np.zeros(len(vectors))
        self._counts = None

    @property
    def n_documents(self):
        """M: documents that the averages stand for."""
        return self.n_seen if self._n_documents is None else self._n_documents

    @property
    def totals(self):
        """Occurrences of words in those documents, estimated from those seen."""
        if self._totals is not None:
            return self._totals
        return self.seen * (self.n_documents / max(1, self.n_seen))

    def learn(self, documents, run):
        """Take in a batch, wholly or, where it is interrupted, not at all.

        Parameters
        ----------
        documents : Documents
            With the vectors of the whole vocabulary.
        run : callable
            Maps a function over blocks of work.
        """
        at_once(self, lambda after, kept: after._learn(documents, run, kept))

    def _learn(self, documents, run, kept):
        """Take in a batch as `at_once` has it: attributes are set anew, ``_counts`` is kept."""
        self.n_taken += 1
        self.n_seen += documents.n_documents
        if documents.n_tokens == 0:  # nothing to be learned, and no step
            return
        self.seen = self.seen + documents.totals
        if self._counts is None:
            self._start_counts = self._start(documents, run)
            self._counts, self._scale = self._start_counts.copy(), 1.0
            self._log_theta, self._log_theta_weight = np.zeros(self.n_components), 0.0
        self.n_batches += 1
        if self.n_learned is not None:
            self.n_learned += documents.n_documents
        rho = min(1.0, (self.learning_offset + self.n_batches) ** -self.learning_decay)
        used, words = np.unique(documents.words, return_inverse=True)
        part = Documents(
            documents.indptr, words.astype(np.int32), documents.counts, self.vectors[used]
        )
        weights, read = self._word_weights(used, run)
        local = LocalFactors(part)
        gamma = self.alpha + part.lengths[:, None] / self.n_components
        local.update(weights, self.alpha, gamma, run, n_inner=self.n_inner, tol=LOCAL_TOL)
        counts = local.word_counts(weights, run)
        share = rho / part.n_documents
        kept.keep(self._counts, used)
        self._blend_counts(rho, used, share * counts)
        self.start_weight *= 1 - rho
        self._take_in(rho, share, counts, read, run)
        if self.learn_alpha is not None:
            self._learn_alpha(local, gamma, rho, run)

    def expected_counts(self):
        """Expected counts (n_words, K) of the whole corpus, by the batches so far alone."""
        if self._counts is None:
            return np.zeros((len(self.vectors), self.n_components))
        counts = self._scale * self._counts - self.start_weight * self._start_counts
        return self._as_many(np.maximum(counts, 0.0))

    def _as_many(self, counts):
        """``counts`` with the rows' sums that words have in the whole corpus, in place."""
        total = counts.sum(axis=1)
        counts *= (self.totals / np.where(total > 0, total, 1.0))[:, None]
        return counts

    # ---------------------------------------------------------------------------------------------

    def _start(self, documents, run):
        """Tokens of words in topics (n_words, K), a document, before the first batch."""
        raise NotImplementedError

    def _word_weights(self, used, run):
        """Weights of topics (n_used, K) of some words, and what `_take_in` reads besides."""
        raise NotImplementedError

    def _take_in(self, rho, share, counts, read, run):
        """Learn from ``share`` times the expected counts of a batch, blended in already."""

    def _blend_counts(self, rho, used, added):
        """(1 - rho) counts + added, without touching words that the batch does not have."""
        self._scale *= 1 - rho
        if self._scale < 1e-100:
            self._counts = self._counts * self._scale
            self._scale = 1.0
        self._counts[used] += added / self._scale

    def _learn_alpha(self, local, gamma, rho, run):
        average = local.mean_log_theta(gamma, run)
        self._log_theta = (1 - rho) * self._log_theta + rho * average
        self._log_theta_weight = (1 - rho) * self._log_theta_weight + rho
        target = self._log_theta / self._log_theta_weight
        self.alpha = best_alpha(self.alpha, target, self.learn_alpha == "symmetric")


class OnlineTopics(OnlineLearner):
    """Gaussian topics learned from batches of documents over a fixed vocabulary.

    Parameters
    ----------
    vectors, n_components, alpha
        As of `OnlineLearner`.
    prior : NIW
    rng : numpy.random.Generator
        For the clusters of words that topics start from.
    power : float, default=1.0
        tau, the power of the word likelihood.
    **options
        Of `OnlineLearner`.
    """

    def __init__(self, vectors, n_components, prior, alpha, rng, *, power=1.0, **options):
        super().__init__(vectors, n_components, alpha, **options)
        self.prior, self.rng, self.power = prior, rng, power
        self._sums = None

    def result(self):
        """`TopicFactors` of the batches so far, without documents, and without the start."""
        if self._sums is None:
            sums = np.zeros((self.n_components, _width(self.vectors)))
        else:
            sums = (self._sums - self.start_weight * self._start_sums) / (1 - self.start_weight)
        gamma = np.empty((0, self.n_components))
        return TopicFactors(self._factors(sums), gamma, self.expected_counts(), self.alpha.copy())

    def sample_q(self, q, n, rng, names=("mean", "covariance", "counts", "alpha")):
        """Independent draws, as of `TopicVI.sample_q`; ``counts`` as of `spread_counts`."""
        draws = sample_topics(q, n, rng, names)
        if "counts" in names:
            draws["counts"] = spread_counts(q.counts, n, rng)
        return draws

    # ---------------------------------------------------------------------------------------------

    def _start(self, documents, run):
        """Averages as if each word's tokens were all of the topic that clusters its vector."""
        self.rng = copy.deepcopy(self.rng)
        known = self._totals is not None
        totals = self._totals if known else documents.totals
        n = self.n_documents if known else documents.n_documents
        assignment = kmeans_assignment(self.vectors, totals, self.n_components, self.rng)
        counts = np.zeros((len(self.vectors), self.n_components))
        counts[np.arange(len(self.vectors)), assignment] = totals / n
        self._start_sums = WordFeatures(self.vectors, self.prior.mean).sums(counts, run)
        self._sums = self._start_sums
        return counts

    def _word_weights(self, used, run):
        features = WordFeatures(self.vectors[used], self.prior.mean)
        weights, _ = features.weights(self._factors(self._sums), self.power, run)
        return weights, features

    def _take_in(self, rho, share, counts, read, run):
        self._sums = (1 - rho) * self._sums + share * read.sums(counts, run)

    def _factors(self, sums):
        # averages are over documents of batches with tokens, which not all are of
        n = self.n_documents
        if self.n_learned:
            n = n * self.n_learned / self.n_seen
        return posterior(self.prior, n * sums, self.power, self.prior.mean)


def spread_counts(counts, n, rng):
    """Draws (n, K, n_words) of tokens where their documents are not kept.

    All tokens of a word draw their topics from the average of their q(z), which spreads them a
    little more than q(z) itself.

    Parameters
    ----------
    counts : ndarray of shape (n_words, K)
        Expected tokens.
    n : int
    rng : numpy.random.Generator
    """
    k = counts.shape[1]
    draws = np.empty((n, k, len(counts)))
    total = counts.sum(axis=1)
    share = counts / np.where(total > 0, total, 1.0)[:, None]
    share[total == 0] = 1.0 / k
    share /= share.sum(axis=1, keepdims=True)
    whole = np.floor(total + 1e-6).astype(np.int64)
    rest = np.maximum(total - whole, 0.0)
    for i in range(n):
        drawn = rng.multinomial(whole, share)
        draws[i] = (drawn + rest[:, None] * share).T
    return draws


def learn_passes(online, documents, *, batch_size, n_passes, rng, run, verbose=0):
    """Read documents in memory several times, in random batches.

    Parameters
    ----------
    online : OnlineTopics
    documents : Documents
    batch_size, n_passes : int
    rng : numpy.random.Generator
        Shuffles the documents before each pass.
    run : callable
        Maps a function over blocks of work.
    verbose : int

    Returns
    -------
    dict
        As from `repeat_passes`.
    """
    counted = batch_laps(documents.n_documents, batch_size, n_passes, run)

    def read():
        for batch in batches(documents, batch_size, rng):
            online.learn(batch, run)
            if counted is not None and counted.enough():
                break

    return repeat_passes(
        online,
        read,
        rng,
        n_passes=n_passes,
        counted=counted,
        stage=stage("passes"),
        verbose=verbose,
    )


def batches(documents, size, rng=None):
    """Yield `Documents` of ``size`` documents each, shuffled where there is an ``rng``."""
    n = documents.n_documents
    order = np.arange(n) if rng is None else rng.permutation(n)
    for start in range(0, n, size):
        yield take(documents, order[start : start + size])


def take(documents, rows):
    """`Documents` of some rows."""
    lengths = np.diff(documents.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.repeat(documents.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Documents(indptr, documents.words[entries], documents.counts[entries], documents.vectors)


def _width(vectors):
    e = vectors.shape[1]
    return e * (e + 1) // 2 + e + 1

"""Snippets and words under every draw of a posterior of senses.

A snippet whose genre or period is not known is a mixture over those it may be of, with the shares
of the training snippets as weights. One of a work that is not known, or that the model did not see,
is a mixture over all works that there might be.
"""

from __future__ import annotations

import functools
import weakref

import numpy as np
from scipy.special import log_softmax, softmax

from ..corpus.text import document_counts
from ..inference.threads import OneBlasThread
from . import kernels
from . import predict_kernels as reading

# Of posteriors that were asked about words: passes over all draws are dear.
_KNOWN: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class WordDraws:
    """Draws of the logits of words, one by one, with their log-sums.

    Parameters
    ----------
    posterior : Posterior
        With draws of ``chi`` and ``theta``, or of ``psi``.
    vectors : ndarray of shape (n, n_words, n_dims) or None
        Of words, where ``chi`` and ``theta`` are what their dimensions are weighted with, beside
        draws of ``sigma``; those of draw ``i`` of a chain are the ``i % n_runs``-th.
    """

    def __init__(self, posterior, vectors=None):
        self.additive = "psi" not in posterior
        self.vectors = vectors
        names = ("chi", "theta") if self.additive else ("psi",)
        if vectors is not None:
            names = (*names, "sigma")
        self.draws = [posterior.flat(name) for name in names]
        self._runs = posterior.runs_of(np.arange(len(self)))
        if self.additive:
            n_words = self.draws[0].shape[2] if vectors is None else vectors.shape[1]
            self.shape = self.draws[0].shape[1], self.draws[1].shape[1], n_words
        else:
            self.shape = self.draws[0].shape[1:]

    def __len__(self):
        return len(self.draws[0])

    def rows(self, s):
        """Logits of draw ``s`` in rows: (chi, theta), or psi with row ``t K + k`` and None."""
        first, *more = (np.asarray(x[s], dtype=np.float64) for x in self.draws)
        if not self.additive:
            return np.ascontiguousarray(first.transpose(1, 0, 2)).reshape(-1, self.shape[2]), None
        theta, *own = more
        if self.vectors is not None:
            vectors = self.vectors[self._runs[s]]
            first, theta = first @ vectors.T + own[0], theta @ vectors.T
        return np.ascontiguousarray(first), np.ascontiguousarray(theta)

    def exponents(self, rows, theta):
        """exp of rows less their largest entries, and the log-sums (K, T) of the logits."""
        n_senses, n_periods, _ = self.shape
        exp_rows, top = np.empty_like(rows), np.empty(len(rows))
        kernels.exp_rows(rows, exp_rows, top)
        if theta is None:
            log_sum = np.log(exp_rows.sum(axis=1)) + top
            return exp_rows, None, np.ascontiguousarray(log_sum.reshape(n_periods, n_senses).T)
        exp_theta, top_theta = np.empty_like(theta), np.empty(len(theta))
        kernels.exp_rows(theta, exp_theta, top_theta)
        sums, log_sum = np.empty((2, n_senses, n_periods))
        kernels.additive_sums(exp_rows, exp_theta, top, top_theta, sums, log_sum)
        return exp_rows, exp_theta, log_sum

    def log_sums(self):
        """Log-sums of the logits of every draw, ndarray of shape (n_draws, K, T)."""
        return self._summed[1]

    def mean(self):
        """Posterior means of the probabilities of words, ndarray of shape (K, T, V)."""
        return self._summed[0]

    @functools.cached_property
    def _summed(self):
        """`mean` and `log_sums`, by one pass over all draws."""
        total, log_sums = np.zeros(self.shape), np.empty((len(self), *self.shape[:2]))
        n_senses, n_periods, n_words = self.shape
        with OneBlasThread():
            for s in range(len(self)):
                exp_rows, exp_theta, log_sums[s] = self.exponents(*self.rows(s))
                if self.additive:
                    reading.add_word_proba(exp_rows, exp_theta, exp_rows @ exp_theta.T, total)
                else:
                    proba = exp_rows / exp_rows.sum(axis=1, keepdims=True)
                    total += proba.reshape(n_periods, n_senses, n_words).transpose(1, 0, 2)
        return total / len(self), log_sums

    def probabilities(self, sense, period, words, log_sums):
        """Draws of the probabilities of some words, ndarray of shape (n_draws, len(words))."""
        if self.vectors is not None:
            chi, theta, sigma = self.draws
            effects = chi[:, sense].astype(np.float64) + theta[:, period]
            logits = sigma[:, words].astype(np.float64)
            which = self._runs
            for i, vectors in enumerate(self.vectors):
                logits[which == i] += effects[which == i] @ vectors[words].T
        elif self.additive:
            chi, theta = self.draws
            logits = chi[:, sense, words].astype(np.float64) + theta[:, period, words]
        else:
            logits = self.draws[0][:, sense, period, words].astype(np.float64)
        return np.exp(logits - log_sums[:, sense, period, None])


def word_draws(estimator):
    """`WordDraws` of a fitted estimator, the same as long as its posterior is."""
    posterior = estimator.posterior_
    if posterior not in _KNOWN:
        _KNOWN[posterior] = _word_draws(estimator)
    return _KNOWN[posterior]


def _word_draws(estimator):
    vectors, drawn = estimator.vectors_, getattr(estimator, "vector_draws_", None)
    if drawn is None:
        drawn = None if vectors is None else vectors[None]
    return WordDraws(estimator.posterior_, drawn)


class SnippetReader:
    """Log joint densities of snippets and their senses, draw by draw.

    Parameters
    ----------
    estimator : DiSCSenseModel
        A fitted one.
    places : Places
    """

    def __init__(self, estimator, places):
        self.words = word_draws(estimator)
        self.prevalence = estimator.posterior_.flat("prevalence")
        if places.works is not None:
            self.phi, self.works = (
                estimator.posterior_.flat(name) for name in ("phi", "unit_effects")
            )
        # training snippets in each genre and period
        self.places, self.cells = places, estimator._cells
        counts = places.counts
        self.text = (
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int64),
            counts.data.astype(np.float64),
        )
        self.lengths = places.lengths
        self.contexts = self._contexts()
        self._weights = self._shares()

    def __len__(self):
        return len(self.words)

    def _contexts(self):
        """Row of the log priors that each snippet reads."""
        periods, genres, works = self.places.periods, self.places.genres, self.places.works
        if works is not None:
            labels = np.column_stack([genres, periods, works])
            self._cells_of_works, index = np.unique(labels, axis=0, return_inverse=True)
            return index.ravel().astype(np.int64)
        if periods is None:
            return np.zeros(self.places.n_snippets, np.int64) if genres is None else genres
        return periods if genres is None else genres * self.cells.shape[1] + periods

    def _shares(self):
        """Weights of what is not known given what is, (G, T); None where all is known."""
        cells = self.cells.astype(float)
        if self.places.periods is None:
            axis = None if self.places.genres is None else 1
        elif self.places.genres is None:
            # a period without snippets: the genres as they are over all periods
            empty = cells.sum(axis=0) == 0
            cells[:, empty] = cells.sum(axis=1, keepdims=True)
            axis = 0
        else:
            return None
        return cells / cells.sum(axis=axis, keepdims=True)

    def _log_prior(self, s):
        """Log probabilities (C, K) of senses by context; of periods and senses (C, T, K)."""
        prevalence = np.asarray(self.prevalence[s], dtype=np.float64)
        if self.places.works is not None:
            return self._of_works(s, prevalence)
        if self._weights is not None:
            prevalence = self._weights[:, :, None] * prevalence
            if self.places.genres is None:
                prevalence = prevalence.sum(axis=0, keepdims=True)
        with np.errstate(divide="ignore"):
            log_prior = np.log(prevalence)
        if self.places.periods is None:
            return log_prior
        return log_prior.reshape(-1, log_prior.shape[-1])

    def _of_works(self, s, prevalence):
        """Log probabilities (C, K) of senses in works, of those not seen their means over works."""
        genres, periods, works = self._cells_of_works.T
        phi, effects = (np.asarray(x[s], dtype=np.float64) for x in (self.phi, self.works))
        out = log_softmax(phi[genres, periods] + effects[works], axis=1)
        new = works < 0
        out[new] = np.log(prevalence[genres[new], periods[new]])
        return out

    def joints(self, chosen=None):
        """Yield log p(z = k, W_d | draw) (K, D) for every draw; the array is used again.

        For those ``chosen`` only, where indices of draws are given.
        """
        n_senses, n_periods, _ = self.words.shape
        n = self.places.n_snippets
        periods = self.places.periods
        known, additive = periods is not None, self.words.additive
        of_sense = np.empty((n_senses if known or additive else n_senses * n_periods, n))
        common = np.zeros((1 if known else n_periods, n))
        out, top = np.empty((n_senses, n)), np.empty(n)
        # rows of words are taken by period, where it is known, or all of them
        of_period = None if additive else periods
        with OneBlasThread():
            for s in range(len(self)) if chosen is None else chosen:
                rows, theta = self.words.rows(s)
                log_sum = self.words.exponents(rows, theta)[2]
                kernels.snippet_logits(*self.text, rows, of_period, n_senses, of_sense)
                if additive:
                    kernels.snippet_logits(*self.text, theta, periods, 1, common)
                prior = self._log_prior(s)
                shared = self.lengths, log_sum, prior, self.contexts
                if known:
                    reading.joint_known(of_sense, common[0], *shared, periods, out)
                else:
                    reading.joint_mixed(of_sense, common, *shared, out, top)
                yield out

    def sense_proba(self):
        """Posterior means of eq. 5, ndarray of shape (n_snippets, n_senses)."""
        n = self.places.n_snippets
        total = np.zeros((self.words.shape[0], n))
        density, room = np.empty((2, n))
        for joint in self.joints():
            reading.normalise(joint, density, room)
            total += joint
        proba = np.ascontiguousarray(total.T)
        return proba / proba.sum(axis=1, keepdims=True)

    def sense_proba_draws(self, chosen):
        """Eq. 5 under draws ``chosen``, in ascending order: (n_draws, n_snippets, n_senses)."""
        n = self.places.n_snippets
        out = np.empty((chosen.size, n, self.words.shape[0]))
        density, room = np.empty((2, n))
        different = np.unique(chosen)
        for s, joint in zip(different, self.joints(different), strict=True):
            reading.normalise(joint, density, room)
            out[chosen == s] = joint.T
        return out

    def log_predictive(self):
        """Log means over draws of eq. 9, ndarray of shape (n_snippets,); 0 for empty ones."""
        n = self.places.n_snippets
        found = np.full(n, -np.inf)
        density, room = np.empty((2, n))
        for joint in self.joints():
            reading.normalise(joint, density, room)
            np.logaddexp(found, density, out=found)
        found -= np.log(len(self))
        found[self.lengths == 0] = 0.0
        return found

    def log_densities(self, labels=None):
        """Log density of every snippet under every draw, ndarray of shape (n_snippets, n_draws).

        Where its sense is known, in ``labels``, of the snippet and the sense.
        """
        n = self.places.n_snippets
        out = np.empty((n, len(self)))
        density, room = np.empty((2, n))
        known = np.zeros(0, int) if labels is None else np.flatnonzero(labels >= 0)
        for s, joint in enumerate(self.joints()):
            of_known = joint[labels[known], known] if known.size else None
            reading.normalise(joint, density, room)
            out[:, s] = density
            if known.size:
                out[known, s] = of_known
        return out


def sample_snippets(estimator, places, rng):
    """Snippets from the posterior predictive distribution, each of a draw of its own.

    Parameters
    ----------
    estimator : DiSCSenseModel
        A fitted one.
    places : Places
        Of snippets without words: what is known of their periods and genres.
    rng : numpy.random.Generator

    Returns
    -------
    words, offsets : ndarray of int64
        Word ids of snippet d from ``offsets[d]`` to ``offsets[d + 1]``.
    senses : ndarray of shape (n_snippets,), int64
    """
    reader, lengths = SnippetReader(estimator, places), estimator._lengths
    n = places.n_snippets
    draws = rng.integers(len(reader), size=n)
    size = rng.choice(lengths[0], size=n, p=lengths[1] / lengths[1].sum()).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(size)])
    words, senses = np.empty(offsets[-1], dtype=np.int64), np.empty(n, dtype=np.int64)
    order = np.argsort(draws, kind="stable")
    # snippets of the same draw share its probabilities
    for chosen in np.split(order, np.flatnonzero(np.diff(draws[order])) + 1):
        _draw_some(reader, draws[chosen[0]], chosen, offsets, words, senses, rng)
    return words, offsets, senses


def sample_together(reader, s, rng):
    """Counts of words in snippets like those that are read, all from draw ``s``: csr_array."""
    places = reader.places
    n = places.n_snippets
    offsets = np.concatenate([[0], np.cumsum(np.rint(reader.lengths).astype(np.int64))])
    words, senses = np.empty(offsets[-1], dtype=np.int64), np.empty(n, dtype=np.int64)
    _draw_some(reader, s, np.arange(n), offsets, words, senses, rng)
    return document_counts(words, offsets, reader.words.shape[2])


def _draw_some(reader, s, chosen, offsets, words, senses, rng):
    """Fill in words and senses of some snippets, of draw ``s``."""
    n_senses, _, n_words = reader.words.shape
    prior = np.exp(reader._log_prior(s))
    cumulative = prior.reshape(len(prior), -1)[reader.contexts[chosen]].cumsum(axis=1)
    place = rng.random((len(chosen), 1)) * cumulative[:, -1:]
    period, senses[chosen] = np.divmod((cumulative < place).sum(axis=1), n_senses)
    if reader.places.periods is not None:
        period = reader.places.periods[chosen]
    rows, theta = reader.words.rows(s)
    cell = period * n_senses + senses[chosen]
    for c in np.unique(cell):
        t, k = divmod(c, n_senses)
        proba = softmax(rows[c] if theta is None else rows[k] + theta[t])
        at = [np.arange(offsets[d], offsets[d + 1]) for d in chosen[cell == c]]
        at = np.concatenate(at)
        words[at] = rng.choice(n_words, size=at.size, p=proba)

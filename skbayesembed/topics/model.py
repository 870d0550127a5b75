"""Gaussian topics with the topics of tokens summed out: what map, laplace and hmc need.

    log p = sum_dw n_dw log sum_k theta_dk N(v_w | mu_k, Sigma_k)^tau
            + sum_d log Dir(theta_d | alpha) + sum_k log NIW(mu_k, Sigma_k),

by logits of theta and the logarithmic Cholesky factors of the precisions, Jacobians included.

The order of arrays, in all of the room: documents (M), words (V) and topics (K) come before
dimensions (E). theta is (M, K), means (K, E), covariances (K, E, E). Tables of words and topics are
(V, K) in computations; what is recorded has topics first, as ``components_``: counts (K, V).
Flat vectors hold the coordinates of all documents, then those of all topics.
"""

from __future__ import annotations

import hashlib

import numpy as np
from scipy.special import polygamma

from ..inference.threads import serial
from ..inference.vi import coordinate_ascent
from . import density_kernels as kernels
from .priors import lower_inverses
from .vi.kernels import draw_counts, word_counts
from .vi.variational import TopicVI

# Most sweeps of variational inference that place and scale the coordinates, and the share of the
# bound by which the last may raise it: a frame need only be near the mode.
_SWEEPS, _FRAME_TOLERANCE = 100, 1e-7
# Spread of the starts of chains, in standard deviations of the posterior: well inside one mode.
_START_SPREAD = 0.3


def count_parameters(n_documents, n_components, n_dims):
    """Parameters of theta, means and covariances."""
    of_topic = n_dims + n_dims * (n_dims + 1) // 2
    return n_documents * (n_components - 1) + n_components * of_topic


class MarginalTopics:
    """Log posterior in coordinates that are about standard normal: map, laplace and hmc.

    The frame of the coordinates comes from variational factors reached from a start, deterministic
    and in the mode the start belongs to: topics are exchangeable, and chains from one frame stay
    in one of the labellings as long as topics are apart.

    Parameters
    ----------
    documents : Documents
    n_components : int
    prior : NIW
        Of every topic.
    alpha : float or array-like of shape (n_components,)
        Dirichlet prior of the topics of a document.
    power : float, default=1.0
        tau, the power of the word likelihood.
    start : dict
        Where these factors start, as of `TopicVI.init_q`.

    Attributes
    ----------
    n_parameters : int
        Flat vectors hold the K - 1 logits of each document relative to its largest topic in the
        frame, then E + E + E (E - 1) / 2 numbers a topic: mean, logarithms of the diagonal of the
        Cholesky factor, entries below it; all less a center and over a scale.
    scale : ndarray of shape (n_parameters,)
        Ones.
    """

    def __init__(self, documents, n_components, prior, alpha, *, power=1.0, start):
        self.documents, self.n_components, self.prior = documents, n_components, prior
        self.alpha = np.broadcast_to(np.asarray(alpha, dtype=float), n_components).copy()
        self.power = float(power)
        n, e = documents.n_documents, documents.n_dims
        self.n_parameters = count_parameters(n, n_components, e)
        self.scale = np.ones(self.n_parameters)
        self.n_logits = n * (n_components - 1)
        variational = TopicVI(documents, n_components, prior, self.alpha, power=self.power)
        q = variational.init_q(start)
        limits = {"max_iter": _SWEEPS, "tol": _FRAME_TOLERANCE}
        coordinate_ascent(variational, q, serial, **limits, warn=False, keep=False)
        self._frame_documents(q.gamma)
        self._frame_topics(q.niw)
        self._set_data(documents)
        level = float(prior.nu), float(prior.kappa)
        mean, square = (np.ascontiguousarray(a, dtype=float) for a in (prior.mean, prior.scale))
        self._prior = mean, level[1], level[0], square

    # coordinates

    def _frame_documents(self, gamma):
        """Logits relative to the largest topic, with the moments of log Dirichlet(gamma)."""
        n, k = gamma.shape
        self._reference = np.argmax(gamma, axis=1).astype(np.int64)
        largest = np.take_along_axis(gamma, self._reference[:, None], axis=1)
        # the mode of logits under Dirichlet(gamma); their variance
        middle = np.log(gamma / largest)
        spread = np.sqrt(polygamma(1, gamma) + polygamma(1, largest))
        self._of_documents = self._reference, middle, spread
        self._free = np.ones((n, k), dtype=bool)
        np.put_along_axis(self._free, self._reference[:, None], False, axis=1)

    def _frame_topics(self, niw):
        """Whitening by which the posterior of a topic, given its counts, is about normal."""
        k, e = niw.mean.shape
        nu, kappa = np.asarray(niw.nu, dtype=float), np.asarray(niw.kappa, dtype=float)
        root = np.linalg.cholesky(niw.scale / nu[:, None, None])
        inverse = lower_inverses(root)
        # B_ii^2 nu is chi-squared with so many degrees of freedom
        degrees = nu[:, None] - e + 1.0 + np.arange(e)
        middle = 0.5 * np.log(degrees / nu[:, None])
        arrays = niw.mean, root, inverse, kappa**-0.5, middle, (2 * degrees) ** -0.5, nu**-0.5
        self._frame = tuple(np.ascontiguousarray(a) for a in arrays)

    def _set_data(self, documents):
        """Words that occur, and the table by words."""
        used, words = np.unique(documents.words, return_inverse=True)
        self._used = used
        self._vectors = np.ascontiguousarray(documents.vectors[used].T)
        self._data = documents.indptr, words.astype(np.int32), documents.counts.astype(np.float64)
        order = np.argsort(words, kind="stable")
        of_entry = np.repeat(np.arange(documents.n_documents), np.diff(documents.indptr))
        starts = np.searchsorted(words[order], np.arange(used.size + 1))
        self._columns = starts, of_entry[order].astype(np.int32), order

    def pack(self, arrays):
        """Flat vector of ``theta`` (M, K), ``mean`` (K, E) and ``covariance`` (K, E, E)."""
        centre, _, inverse, mean_spread, middle, spread, off_spread = self._frame
        _, of_logits, of_spread = self._of_documents
        out = np.empty(self.n_parameters)
        log_theta = np.log(arrays["theta"])
        logits = log_theta - np.take_along_axis(log_theta, self._reference[:, None], axis=1)
        out[: self.n_logits] = ((logits - of_logits) / of_spread)[self._free]
        whitener = lower_inverses(np.linalg.cholesky(arrays["covariance"]))
        factor = whitener @ self._frame[1]
        rows, columns = np.tril_indices(centre.shape[1], -1)
        diagonal = np.diagonal(factor, axis1=1, axis2=2)
        shift = (inverse @ (arrays["mean"] - centre)[..., None])[..., 0]
        parts = [
            shift / mean_spread[:, None],
            (np.log(diagonal) - middle) / spread,
            factor[:, rows, columns] / off_spread[:, None],
        ]
        out[self.n_logits :] = np.concatenate(parts, axis=1).ravel()
        return out

    def unpack(self, theta):
        """Dict of ``theta`` (M, K), ``mean`` (K, E), ``covariance`` (K, E, E) of a flat vector."""
        mean, whitener = self._topics(theta)
        spread = lower_inverses(whitener)
        return {
            "theta": self._proba(theta),
            "mean": mean,
            "covariance": spread @ spread.swapaxes(1, 2),
        }

    def _proba(self, theta):
        out, logs = np.empty(self._free.shape), np.empty(self._free.shape)
        kernels.topic_proba(theta[: self.n_logits], *self._of_documents, out, logs)
        return out

    def _topics(self, theta):
        k, e = self._frame[0].shape
        mean, factor, whitener = np.empty((k, e)), np.empty((k, e, e)), np.empty((k, e, e))
        kernels.topics_at(theta[self.n_logits :], self._frame, mean, factor, whitener)
        return mean, whitener

    # density

    def logp_and_grad(self, theta, out):
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""
        return kernels.log_posterior(
            theta, out, self._vectors, self._data, self._columns, self._of_documents, self._frame,
            self._prior, self.alpha, self.power,
        )  # fmt: skip

    def log_likelihood(self, theta):
        """sum_dw n_dw log sum_k theta_dk N(v_w | mu_k, Sigma_k)^tau."""
        proba, weights, top = self._parts(theta)
        _, words, counts = self._data
        return float(counts @ (np.log(self._sums(proba, weights)) + top[words]))

    def _parts(self, theta):
        mean, whitener = self._topics(theta)
        weights = np.empty((self._used.size, self.n_components))
        top = np.empty(self._used.size)
        kernels.word_weights(self._vectors, mean, whitener, self.power, weights, top)
        return self._proba(theta), weights, top

    def _sums(self, proba, weights):
        indptr, words, _ = self._data
        rows = np.repeat(np.arange(len(proba)), np.diff(indptr))
        return np.einsum("ik,ik->i", proba[rows], weights[words])

    # chains

    def start(self):
        """The center of the frame: flat vector."""
        return np.zeros(self.n_parameters)

    def init(self, rng):
        """Start of a chain: about the center of the frame, closer than the posterior is wide."""
        return _START_SPREAD * rng.standard_normal(self.n_parameters)

    def observe(self, theta):
        """Named arrays to record of a draw.

        Returns
        -------
        dict of str to ndarray
            ``mean`` (K, E), ``covariance`` (K, E, E); ``counts`` (K, n_words), the tokens of each
            word in each topic, drawn given the rest; ``alpha`` (K,), as given.
        """
        # random numbers that belong to the draw, whoever records it and however often
        seed = np.frombuffer(hashlib.blake2b(theta.tobytes(), digest_size=16).digest(), np.uint32)
        starts, documents, entries = self._columns
        proba, weights, _ = self._parts(theta)
        found, rng = np.empty_like(weights), np.random.default_rng(seed)
        draw_counts(starts, documents, self._data[2][entries], proba, weights, rng, found)
        return self._named(theta, found)

    def expected(self, theta):
        """The arrays of `observe` at a point: ``counts`` are those expected given the rest."""
        proba, weights, _ = self._parts(theta)
        ratios, found = self._data[2] / self._sums(proba, weights), np.empty_like(weights)
        word_counts(0, self._used.size, *self._columns, ratios, proba, weights, found)
        return self._named(theta, found)

    def _named(self, theta, counts):
        """What is recorded, with counts of the words that occur, (n_used, K)."""
        arrays = self.unpack(theta)
        by_word = np.zeros((self.n_components, self.documents.n_words))
        by_word[:, self._used] = counts.T
        return {
            "mean": arrays["mean"],
            "covariance": arrays["covariance"],
            "counts": by_word,
            "alpha": self.alpha.copy(),
        }

    def trace(self, theta):
        """Statistics recorded for every draw."""
        return {"log_likelihood": self.log_likelihood(theta)}

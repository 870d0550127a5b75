"""Variational inference for Gaussian topics: the factors and their coordinate ascent.

    q = prod_dn q(z_dn) prod_d Dir(theta_d | gamma_d) prod_k NIW(mu_k, Sigma_k | m, beta, Psi, nu)

(Ozaki & Kobayashi 2022, eqs. 2-7), tokens of one word in one document sharing q(z). The word
likelihood is raised to a power tau: tau E[log N] in place of E[log N], tau times the expected
counts in the NIW updates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import digamma, gammaln, polygamma

from ...inference.threads import serial
from ..priors import NIW
from . import kernels
from .statistics import WordFeatures, divergence

# Updates of a document's factors in a sweep, and the change of gamma below which they end.
N_INNER, LOCAL_TOL = 2, 1e-6
# Most Newton steps for the Dirichlet prior, the relative change that ends them, the largest step of
# log alpha, the share of a step below which halving gives up; and the smallest entry of alpha.
_NEWTON_STEPS, _NEWTON_TOL, _LARGEST_STEP, _LEAST_SHARE = 50, 1e-10, 3.0, 1e-10
ALPHA_MIN = 1e-3
# Sweeps that an ascent takes, and at most at low powers, where topics part slowly: on parts of
# inaugural addresses 66 at a power of 0.5, 229 at 0.2, 148 at 0.1.
_USUAL_SWEEPS, _MOST_SWEEPS = 50, 150
# The power below which more are needed.
_SLOW_POWER = 0.6


@dataclass
class TopicFactors:
    """Factors of the approximation.

    Attributes
    ----------
    niw : NIW
        Of the topics, a stack of K.
    gamma : ndarray of shape (n_documents, K)
        Dirichlet parameters of the documents.
    counts : ndarray of shape (n_words, K)
        Expected tokens of each word in each topic.
    alpha : ndarray of shape (K,)
        Dirichlet prior; learned or as given.
    """

    niw: NIW
    gamma: np.ndarray
    counts: np.ndarray
    alpha: np.ndarray


class LocalFactors:
    """q(z) and q(theta) of some documents, given the topics.

    Parameters
    ----------
    documents : Documents

    Attributes
    ----------
    e : ndarray of shape (n_documents, K)
        exp(E[log theta]) over its largest entry, as in the last q(z).
    """

    def __init__(self, documents):
        self.documents = documents
        d = documents
        shape = (d.n_documents, d.n_words)
        places = np.arange(d.words.size)
        table = sparse.csr_array((places, d.words, d.indptr), shape=shape).tocsc()
        self._starts = table.indptr.astype(np.int64)
        self._documents = table.indices.astype(np.int32)
        self._entries = table.data
        self._counts = d.counts.astype(np.float64)
        self._ratios, self._values = np.empty(d.words.size), np.empty(d.n_documents)
        self._blocks = d.blocks()
        n_blocks = len(self._blocks)
        cuts = np.searchsorted(self._starts, d.words.size * np.arange(1, n_blocks) / n_blocks)
        edges = np.concatenate([[0], np.minimum(cuts, d.n_words), [d.n_words]])
        self._word_blocks = [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]
        self.e = None

    def update(self, weights, alpha, gamma, run, *, n_inner, tol):
        """Ascend in ``gamma``, in place; returns the sum of `kernels.local_steps`' values."""
        d = self.documents
        if self.e is None or self.e.shape != gamma.shape:
            self.e = np.empty_like(gamma)
        fixed = d.indptr, d.words, self._counts, weights, alpha
        made = gamma, self.e, self._ratios, self._values
        tasks = [(a, b, *fixed, *made, n_inner, tol) for a, b in self._blocks]
        run(kernels.local_steps, tasks)
        return float(self._values.sum())

    def word_counts(self, weights, run):
        """Expected counts (n_words, K) under the last q(z)."""
        out = np.empty_like(weights)
        fixed = self._starts, self._documents, self._entries, self._ratios, self.e, weights
        run(kernels.word_counts, [(a, b, *fixed, out) for a, b in self._word_blocks])
        return out

    def draw_counts(self, weights, e, rng):
        """A draw of the counts (K, n_words) from q(z), which ``weights`` and ``e`` make up."""
        out = np.empty_like(weights)
        amounts = self._counts[self._entries]
        kernels.draw_counts(self._starts, self._documents, amounts, e, weights, rng, out)
        return out.T

    def mean_log_theta(self, gamma, run):
        """Mean over documents with tokens of E[log theta_d], ndarray of shape (K,).

        An empty one's is that of the prior as it is, and would hold the prior where it is.
        """
        indptr, parts = self.documents.indptr, np.empty((len(self._blocks), gamma.shape[1]))
        tasks = [(a, b, indptr, gamma, parts[i]) for i, (a, b) in enumerate(self._blocks)]
        run(kernels.sum_log_theta, tasks)
        return parts.sum(axis=0) / np.count_nonzero(np.diff(indptr))


class TopicVI:
    """The variational approximation of Gaussian topics: offers `Variational`.

    Parameters
    ----------
    documents : Documents
    n_components : int
    prior : NIW
        Of every topic.
    alpha : float or array-like of shape (n_components,)
        Dirichlet prior of the topics of a document; the start of it where it is learned.
    power : float, default=1.0
        tau, the power of the word likelihood.
    learn_alpha : {None, "symmetric", "asymmetric"}
        Whether the bound is maximized in ``alpha``: all entries alike, or each.
    n_inner : int
        Updates of a document's factors in a sweep.
    """

    def __init__(
        self, documents, n_components, prior, alpha, *, power=1.0, learn_alpha=None,
        n_inner=N_INNER,
    ):  # fmt: skip
        self.documents, self.n_components, self.prior = documents, n_components, prior
        self.alpha = np.broadcast_to(np.asarray(alpha, dtype=float), n_components).copy()
        self.power, self.learn_alpha, self.n_inner = power, learn_alpha, n_inner
        self.totals = documents.totals
        self.features = WordFeatures(documents.vectors, prior.mean)
        self.local = LocalFactors(documents)

    @property
    def typical(self):
        """Sweeps that an ascent takes."""
        return min(_USUAL_SWEEPS * max(1.0, _SLOW_POWER / self.power), _MOST_SWEEPS)

    def init_q(self, arrays, run=None):
        """Factors at a start.

        Parameters
        ----------
        arrays : dict
            ``assignment`` (n_words,), a topic for each word type; or ``counts`` (K, n_words),
            tokens of each type in each topic.
        run : callable, optional
            Maps a function over blocks of work.
        """
        if "counts" in arrays:
            counts = np.ascontiguousarray(arrays["counts"].T, dtype=float)
        else:
            counts = np.zeros((self.totals.size, self.n_components))
            counts[np.arange(self.totals.size), arrays["assignment"]] = self.totals
        sums = self.features.sums(counts, run or serial)
        niw = self.features.posterior(self.prior, sums, self.power)
        lengths = self.documents.lengths / self.n_components
        gamma = self.alpha + lengths[:, None]
        return TopicFactors(niw, gamma, counts, self.alpha.copy())

    def update(self, q, run):
        """One sweep: documents, then ``alpha`` where it is learned, then topics.

        Returns the bound after the documents, all terms included, which never falls.
        """
        weights, top = self.features.weights(q.niw, self.power, run)
        bound = self.local.update(
            weights, q.alpha, q.gamma, run, n_inner=self.n_inner, tol=LOCAL_TOL
        )
        bound += float(self.totals @ top) - float(divergence(q.niw, self.prior).sum())
        q.counts = self.local.word_counts(weights, run)
        if self.learn_alpha is not None:
            target = self.local.mean_log_theta(q.gamma, run)
            q.alpha = best_alpha(q.alpha, target, self.learn_alpha == "symmetric")
        sums = self.features.sums(q.counts, run)
        q.niw = self.features.posterior(self.prior, sums, self.power)
        return bound

    def settled(self, q):
        """True: no factor is held back."""
        return True

    def sample_q(self, q, n, rng, names=("mean", "covariance", "counts", "alpha")):
        """Independent draws.

        Parameters
        ----------
        q : TopicFactors
        n : int
        rng : numpy.random.Generator
        names : sequence of str
            Those to draw.

        Returns
        -------
        dict of str to ndarray
            ``mean`` (n, K, E) and ``covariance`` (n, K, E, E), of the NIW factors; ``counts``
            (n, K, n_words), tokens by topic, each token's topic drawn from its q(z); ``alpha``
            (n, K), which has no distribution and is the same in every draw.
        """
        draws = sample_topics(q, n, rng, names)
        if "counts" in names:
            draws["counts"] = np.empty((n, self.n_components, self.totals.size))
            weights, _ = self.features.weights(q.niw, self.power, serial)
            e, log_e = np.empty_like(q.gamma), np.empty(self.n_components)
            for d in range(len(e)):
                kernels.log_theta(q.gamma[d], log_e, e[d])
            for i in range(n):
                draws["counts"][i] = self.local.draw_counts(weights, e, rng)
        return draws


def sample_topics(q, n, rng, names):
    """Draws of ``mean``, ``covariance`` and ``alpha`` as of `TopicVI.sample_q`."""
    k, e = q.niw.mean.shape
    shapes = {"mean": (n, k, e), "covariance": (n, k, e, e), "alpha": (n, k)}
    draws = {name: np.empty(shape) for name, shape in shapes.items() if name in names}
    if "alpha" in draws:
        draws["alpha"][:] = q.alpha
    if "mean" in draws or "covariance" in draws:
        for i in range(n):
            topics = q.niw.sample(rng)
            for name in draws.keys() & {"mean", "covariance"}:
                draws[name][i] = getattr(topics, name)
    return draws


class TopicApproximation:
    """The approximation that ``solver="vi"`` found.

    Its topics have the order of those of ``posterior_``.

    Attributes
    ----------
    mean : dict of str to ndarray
        E[mu], ``"mean"`` (K, E), and E[Sigma], ``"covariance"`` (K, E, E).
    niw : NIW
        Factors of the topics.
    alpha : ndarray of shape (K,)
        Dirichlet prior, learned or as given.
    counts : ndarray of shape (K, n_words)
        Expected tokens of each word in each topic.
    elbo : ndarray of shape (n_iter,)
        Bound on the log evidence, a value a sweep; empty where learned online.
    """

    def __init__(self, q, elbo=()):
        self._hold(q)
        self.elbo = np.asarray(elbo, dtype=float)

    def _hold(self, q):
        self._q = q
        self.niw, self.alpha, self.counts = q.niw, q.alpha, q.counts.T
        self.mean = {"mean": q.niw.mean, "covariance": q.niw.mean_covariance()}

    def reorder(self, order):
        """Give the topics other numbers: those of ``order`` (K,), in this order."""
        q = self._q
        niw = NIW(q.niw.mean[order], q.niw.kappa[order], q.niw.nu[order], q.niw.scale[order])
        self._hold(TopicFactors(niw, q.gamma[:, order], q.counts[:, order], q.alpha[order]))

    def sample(self, n, rng):
        """Independent draws of the topics.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        dict of str to ndarray
            ``mean`` (n, K, E) and ``covariance`` (n, K, E, E).
        """
        return sample_topics(self._q, n, rng, ("mean", "covariance"))


def best_alpha(alpha, target, symmetric):
    """Maximize log Gamma(sum alpha) - sum log Gamma(alpha) + alpha' target.

    Newton steps with the Hessian's diagonal plus a constant solved directly (Blei et al. 2003,
    appendix A.4.2), halved until they raise the value, so that a bound never falls.

    Parameters
    ----------
    alpha : ndarray of shape (K,)
        Start.
    target : ndarray of shape (K,)
        Average of E[log theta] over documents.
    symmetric : bool
        Whether all entries are alike; they are made so first, which may lower the value at a
        start where they are not.

    Returns
    -------
    ndarray of shape (K,)
        Nowhere below ``ALPHA_MIN``.
    """
    if symmetric:
        alpha = np.full_like(alpha, alpha.mean())

    def value(a):
        return gammaln(a.sum()) - gammaln(a).sum() + a @ target

    now = value(alpha)
    for _ in range(_NEWTON_STEPS):
        step = _newton(alpha, target, symmetric)
        share = 1.0
        while share > _LEAST_SHARE:
            move = np.clip(share * step, -_LARGEST_STEP, _LARGEST_STEP)
            trial = np.maximum(alpha * np.exp(move), ALPHA_MIN)
            then = value(trial)
            if then >= now:
                break
            share *= 0.5
        if share <= _LEAST_SHARE:
            break
        moved = float(np.max(np.abs(trial / alpha - 1.0)))
        alpha, now = trial, then
        if moved < _NEWTON_TOL:
            break
    return alpha


def _newton(alpha, target, symmetric):
    """Newton step for log alpha; where the value bends upwards, along the gradient."""
    total = alpha.sum()
    slope = alpha * (digamma(total) - digamma(alpha) + target)
    if symmetric:
        bend = alpha[0] ** 2 * alpha.size * (
            alpha.size * polygamma(1, total) - polygamma(1, alpha[0])
        ) + slope.sum()  # fmt: skip
        step = slope.sum() / max(-bend, 1e-3 * abs(slope.sum()) + 1e-12)
        return np.full_like(alpha, step)
    # Hessian by log alpha: diag(slope - alpha^2 psi'(alpha)) + psi'(total) alpha alpha'
    diagonal = slope - alpha**2 * polygamma(1, alpha)
    if np.any(diagonal >= 0):
        return slope / (alpha**2 * polygamma(1, alpha))
    c = polygamma(1, total)
    inverse = 1.0 / diagonal
    shrink = 1.0 + c * float(alpha**2 @ inverse)
    if shrink <= 0:
        return slope / (alpha**2 * polygamma(1, alpha))
    step = inverse * slope - inverse * alpha * (c * float(alpha @ (inverse * slope)) / shrink)
    return -step

"""Gaussian trajectories as the prior times independent sites: what variational inference finds.

Every component of every word's trajectory is Gaussian on its own. Its best precision is the prior's
tridiagonal matrix plus a diagonal, since the data of a period speak of that period's vectors only:
the bidiagonal Cholesky factors of Bamler & Mandt (2017, supplement, eqs. 4, 5) with n_periods
numbers to find instead of twice as many.
"""

from __future__ import annotations

import numpy as np

from ...inference.threads import serial
from ..model import SIDES
from . import kernels

_WORDS = 256


class DriftSites:
    """Independent Gaussian trajectories of all components of all words.

    Parameters
    ----------
    prior : DriftPrior
        With the diffusion that the sites belong to.
    lam, eta : ndarray of float32 of shape (2, n_periods, n_words, n_components)
        Precisions and linear terms of the sites, of targets and of contexts.
    elbo : ndarray
        The bound in the course of the fit.

    Attributes
    ----------
    prior, lam, eta, elbo
        As given.
    mean : dict of ndarray of shape (n_periods, n_words, n_components)
        Of ``"rho"`` and ``"alpha"``.
    variance : dict of ndarray, likewise
    """

    def __init__(self, prior, lam, eta, elbo=(), run=serial):
        self.prior, self.lam, self.eta = prior, lam, eta
        self.elbo = np.asarray(elbo, dtype=float)
        mean, variance = np.empty_like(lam), np.empty_like(lam)
        moments(prior.tridiagonal(), lam, eta, mean, variance, run)
        self.mean = dict(zip(SIDES, mean, strict=True))
        self.variance = dict(zip(SIDES, variance, strict=True))

    def draw_words(self, name, index, n, seed, periods=None):
        """Independent draws of the trajectories of some words.

        Parameters
        ----------
        name : {"rho", "alpha"}
        index : array-like of int of shape (n_chosen,)
        n : int
        seed : None, int, SeedSequence or Generator
        periods : array-like of int, optional
            Increasing indices of periods; all by default.

        Returns
        -------
        ndarray of float32 of shape (n, n_periods, n_chosen, n_components)
        """
        side, tridiagonal = SIDES.index(name), self.prior.tridiagonal()
        index = np.asarray(index, dtype=np.int64)
        periods = np.arange(tridiagonal.n) if periods is None else np.asarray(periods, np.int64)
        out = np.empty((n, periods.size, index.size, self.lam.shape[-1]), np.float32)
        noise = np.random.default_rng(seed).standard_normal(out.shape, dtype=np.float32)
        kernels.site_draws(
            index, periods, tridiagonal.diagonal, tridiagonal.off,
            self.lam[side], self.eta[side], noise, out,
        )  # fmt: skip
        return out

    def sample(self, n, rng):
        """Independent draws of all words: dict of ndarray (n, n_periods, n_words, n_components)."""
        words = np.arange(self.lam.shape[2])
        return {name: self.draw_words(name, words, n, rng) for name in SIDES}


def moments(tridiagonal, lam, eta, mean, variance, run):
    """Means and variances of all factors into ``mean`` and ``variance``.

    Returns
    -------
    sums : ndarray of shape (2 + 3 (n_periods - 1),)
        As `kernels.site_moments` has them, over both sides.
    """
    tasks, parts = [], []
    for side, start, stop in pieces(lam):
        parts.append(np.empty(2 + 3 * (tridiagonal.n - 1)))
        arrays = (a[side] for a in (lam, eta, mean, variance))
        tasks.append((start, stop, tridiagonal.diagonal, tridiagonal.off, *arrays, parts[-1]))
    run(kernels.site_moments, tasks)
    return np.sum(parts, axis=0)


def pieces(array):
    """Blocks of work (side, first word, end) of an array of both sides."""
    n = array.shape[2]
    return [(s, a, min(a + _WORDS, n)) for s in (0, 1) for a in range(0, n, _WORDS)]


def apply_precision(tridiagonal, lam, x):
    """The precision of all factors times ``x`` (2, n_periods, n_words, n_components), float32."""
    out = np.empty_like(x)
    for side in (0, 1):
        np.add(tridiagonal.apply(x[side]), lam[side] * x[side], out=out[side], casting="same_kind")
    return out

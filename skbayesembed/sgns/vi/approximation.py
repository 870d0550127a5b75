"""The Gaussian approximation that ascent of the bound has found."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np

# Components count as on down to this share of the largest component's energy.
ON_ABOVE = 0.01


class GaussianApproximation:
    """The Gaussian approximation that ``solver="vi"`` found, a factor a word and side.

    Attributes
    ----------
    mean : dict of str to ndarray
        Of ``rho`` and ``alpha`` (n_words, n_components), of ``rho_bias`` and ``alpha_bias``
        (n_words,) where biases are used; of ``prior_precision`` where it is learned, as it is
        recorded of draws: one number, or one for each component, largest first.
    elbo : ndarray of shape (n_iter,)
        Bound on the log evidence of the training counts, a value a sweep; empty where
        learned online.
    prior_precision : ndarray of shape (n_components,)
        Posterior mean of the prior precisions, the fixed ones where they are not learned.
    energy : ndarray of shape (n_components,)
        ``|E rho_k| |E alpha_k| / n_words``, a component's part in the logits.
    n_on : int
        Components with at least 1 % of the largest energy: the others are switched off.
    """

    def __init__(self, variational, q, elbo):
        # neither the pair table nor room to work in is kept with the result
        model = variational.model
        self._variational = copy.copy(variational)
        self._variational.model = SimpleNamespace(
            n_words=model.n_words, n_components=model.n_components, prior=model.prior
        )
        self._q = q
        q.second = None
        k = model.n_components
        self.mean = {"rho": q.mean[0][:, :k].copy(), "alpha": q.mean[1][:, :k].copy()}
        if variational.biases:
            self.mean["rho_bias"] = q.mean[0][:, k].copy()
            self.mean["alpha_bias"] = q.mean[1][:, k + 1].copy()
        # what has a Gaussian factor
        self.vectors = tuple(self.mean)
        self.elbo = np.asarray(elbo, dtype=float)
        self.prior_precision = np.array(variational.tau(q))
        if model.prior.learned is not None:
            self.mean["prior_precision"] = model.prior.reported(self.prior_precision)
        self.energy = variational.energy(q)
        self.n_on = int(np.sum(self.energy > ON_ABOVE * self.energy.max()))

    def variance(self, name):
        """Variances of all words' coordinates, of the shape of ``mean[name]``."""
        v, q, k = self._variational, self._q, self._variational.model.n_components
        side = _side(name, self.vectors)
        variances = v.variances(q, side).astype(float)
        return variances[:, k + side] if name.endswith("_bias") else variances[:, :k]

    def covariance(self, name, words):
        """Covariance matrices of the vectors of some words.

        Parameters
        ----------
        name : {"rho", "alpha"}
        words : int or array-like of int of shape (n,)
            Rows of the vocabulary.

        Returns
        -------
        ndarray of shape (n_components, n_components), or (n, n_components, n_components)
        """
        if name not in ("rho", "alpha"):
            raise KeyError(f"name must be 'rho' or 'alpha', got {name!r}.")
        k = self._variational.model.n_components
        index = np.atleast_1d(np.asarray(words, dtype=int))
        out = self._variational.covariance(self._q, _side(name, self.vectors), index)[:, :k, :k]
        return out if np.ndim(words) else out[0]

    def sample(self, n, rng, words=None):
        """Independent draws.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
        words : array of int, optional
            Rows to draw; all by default.

        Returns
        -------
        dict of str to ndarray of shape (n, n_words, n_components) or (n, n_words)
            The names of ``mean``.
        """
        return self._variational.sample_q(self._q, n, rng, words)


def _side(name, known):
    if name not in known:
        raise KeyError(f"name must be one of {', '.join(map(repr, known))}, got {name!r}.")
    return int(name.startswith("alpha"))

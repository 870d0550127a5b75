"""Coordinates of the effects of ``model="edisc"`` and of the words' own logits."""

from __future__ import annotations

import numpy as np

from . import embedded_kernels as kernels


class EmbeddedEffects:
    """Vectors of senses, ``chi`` (K, M), and of periods, ``theta`` (T, M), and ``sigma`` (V,).

    With word vectors rho (V, M), word logits are ``psi = rho (chi + theta) + sigma``. With n the
    information about them, of which n_v is a word's sum, sigma given all else has the precision
    1 / kappa + n_v; what is left without it is, of the vectors,

        P + sum_v rho_v rho_v' (A_v - w_v w_v' / (1 / kappa + n_v))

    with P the prior's, A_v (K + T, K + T) the information about the logits ``rho_v chi`` and
    ``rho_v theta``, and w_v its diagonal. In the principal axes of the words as often as they occur
    rho_v rho_v' is about diagonal in the sum: each dimension has a small factor of its own.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, n_dims)
        In their principal axes.
    n_senses : int
    variances : tuple of float
        Prior variances, of the entries of chi and of sigma.
    precision : Tridiagonal
        Prior precision over periods of the entries of theta.
    """

    names = "chi", "theta", "sigma"

    def __init__(self, vectors, n_senses, variances, precision):
        self.vectors, self._transposed = vectors, np.ascontiguousarray(vectors.T)
        self._squares = vectors**2
        self.precisions, self.precision = tuple(1.0 / v for v in variances), precision
        self.n_senses, self.n_words = n_senses, len(vectors)
        self._rows = (n_senses + precision.n, vectors.shape[1])
        self._n = int(np.prod(self._rows))
        self.size = self._n + self.n_words
        self.center, self._own = np.zeros(self._rows), np.zeros(self.n_words)
        self.inform({}, 1.0)

    def inform(self, information, power, arrays=None):
        """As of `Paths`; the information is that about ``psi``."""
        shape = (self.n_senses, self.precision.n, self.n_words)
        n = power * information["psi"] if information else np.zeros(shape)
        own = n.sum(axis=(0, 1))
        self.narrowing = float(own.mean())
        self.width = 1 / np.sqrt(self.precisions[1] + own)
        weights = np.concatenate([n.sum(axis=1), n.sum(axis=0)])
        self.turns = weights * self.width**2
        self.inverse, self.lower = self._factored(n, weights)
        if arrays is not None:
            self.center = self._stacked(arrays)
            self._own = arrays["sigma"] - arrays["sigma"].mean()
        of_center = self.center @ self._transposed
        self._offset = self._own + np.einsum("rv,rv->v", self.turns, of_center)

    def _factored(self, n, weights):
        """Inverse diagonal, and what is below it, of the Cholesky factors of the dimensions."""
        k, rows = self.n_senses, len(weights)
        precision = np.empty((rows, rows, self._rows[1]))
        for r in range(rows):
            about = -weights[r] * self.turns
            about[r] += weights[r]
            if r < k:
                about[k:] += n[r]
            else:
                about[:k] += n[:, r - k]
            precision[r] = about @ self._squares
        precision[:k, :k] += (self.precisions[0] * np.eye(k))[:, :, None]
        precision[k:, k:] += self.precision.dense()[:, :, None]
        inverse, lower = np.empty(self._rows), np.zeros_like(precision)
        kernels.factor(precision, inverse, lower)
        return inverse, lower

    @staticmethod
    def _stacked(arrays):
        return np.concatenate([arrays["chi"], arrays["theta"]])

    @property
    def arrays(self):
        """Coordinates and prior as `embedded_kernels` takes them."""
        of_theta = self.precision.diagonal, self.precision.off
        return (
            self.center, self.inverse, self.lower, self.vectors, self._transposed, self.turns,
            self._offset, self.width, of_theta, self.precisions, self.narrowing,
        )  # fmt: skip

    def logits(self, y):
        """Vectors and own logits of coordinates, in a dict."""
        x, own = np.empty(self._rows), np.empty(self.n_words)
        factors = self.center, self.inverse, self.lower
        kernels.vectors_of(*factors, y[: self._n].reshape(self._rows), x)
        logits = x @ self._transposed
        kernels.couple(self.turns, logits, self._offset, self.width, y[self._n :], own)
        return {"chi": x[: self.n_senses], "theta": x[self.n_senses :], "sigma": own}

    def coordinates(self, arrays, out):
        """Coordinates of arrays, into ``out``, flat."""
        x = self._stacked(arrays)
        factors = self.center, self.inverse, self.lower
        kernels.coordinates_of(*factors, x, out[: self._n].reshape(self._rows))
        moved = arrays["sigma"] - self._offset
        moved = moved + np.einsum("rv,rv->v", self.turns, x @ self._transposed)
        out[self._n :] = moved / self.width

    def log_volume(self):
        """As of `Paths`; the level of sigma is what no softmax sees."""
        of_level = -0.5 * np.log(self.precisions[1] + self.narrowing)
        return float(np.sum(np.log(self.inverse)) + np.sum(np.log(self.width)) - of_level)

    def draw(self, rng):
        """All drawn from their priors."""
        of_chi, of_sigma = (1 / np.sqrt(p) for p in self.precisions)
        n_dims = self._rows[1]
        return {
            "chi": rng.normal(scale=of_chi, size=(self.n_senses, n_dims)),
            "theta": self.precision.sample(rng, (n_dims,)),
            "sigma": rng.normal(scale=of_sigma, size=self.n_words),
        }

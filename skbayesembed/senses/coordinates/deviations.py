"""Coordinates of the deviations of ``model="interaction"`` and of their sizes."""

from __future__ import annotations

import numpy as np

from . import deviation_kernels as kernels
from .frame import Paths, periods_first

# Mean curvature of the log density of the logarithm of a half-Cauchy variable.
_CURVATURE = 0.5


class Deviations:
    """Deviations of word logits of senses and periods, in units of the words' sizes.

    The data see them times the sizes s_v of `SensePrior`: their information about a deviation is
    s_v^2 times that about ``psi``. With I_v that about log (tau lambda_v), ``log_tau`` and
    ``log_lambda`` (V,) are taken with the precision

        [ c + sum_v I_v    I'            ]
        [ I                diag(c + I_v) ]

    where c is the prior's: tau moves by itself where the data tell nothing of a size, and along
    with lambda against it where they do.

    Parameters
    ----------
    n_senses, n_words : int
    precision : Tridiagonal
        Prior precision over periods of the deviations (K, T, V).
    scale : float
        Of the half-Cauchy prior of tau.
    slab : float
        Largest variance of a deviation.
    """

    names = "deviation", "log_tau", "log_lambda"

    def __init__(self, n_senses, n_words, precision, scale, slab):
        self.scale, self.slab, self.n_words = float(scale), float(slab), n_words
        self._paths = Paths("deviation", (precision.n, n_senses, n_words), precision, None)
        self._n = self._paths.size
        self.size = self._n + 1 + n_words
        self.places = np.zeros(1 + n_words)
        self.inform({}, 1.0)

    def inform(self, information, power, arrays=None):
        """As of `Paths`; ``information`` that about ``deviation`` and ``log_size``.

        Deviations stay centered at zero: noise in the means of so many would cost more than they
        tell.
        """
        self._paths.inform(information, power)
        about = power * information.get("log_size", np.zeros(self.n_words))
        curvature = _CURVATURE + about
        own = _CURVATURE + np.sum(about * _CURVATURE / curvature)
        self.widths = 1 / np.sqrt(np.concatenate([[own], curvature]))
        self.turns = -about / curvature
        if arrays is not None:
            self.places = self._stacked(arrays)

    def information(self, arrays, about_psi):
        """What `inform` takes, of that about ``psi`` (K, T, V): dict."""
        sizes, slopes = self.sizes(arrays)
        about_size = periods_first("deviation", about_psi * arrays["deviation"] ** 2)
        about_size = about_size.sum(axis=(0, 1)) * slopes**2
        return {"deviation": about_psi * sizes**2, "log_size": about_size}

    def sizes(self, arrays):
        """Sizes by word, and their derivatives by log (tau lambda)."""
        sizes, slopes = np.empty((2, self.n_words))
        kernels.sizes_of(self._stacked(arrays), self.slab, sizes, slopes)
        return sizes, slopes

    @staticmethod
    def _stacked(arrays):
        return np.concatenate([[arrays["log_tau"]], arrays["log_lambda"]])

    @property
    def arrays(self):
        """As `density_kernels.deviating_posterior` takes them."""
        return self._paths.arrays, self._of_sizes, self.scale, self.slab

    @property
    def _of_sizes(self):
        return self.places, self.widths, self.turns

    def logits(self, y):
        """Arrays of coordinates, in a dict."""
        logs = np.empty(1 + self.n_words)
        kernels.log_sizes_of(self._of_sizes, y[self._n :], logs)
        sizes = {"log_tau": logs[0], "log_lambda": logs[1:]}
        return self._paths.logits(y[: self._n]) | sizes

    def coordinates(self, arrays, out):
        """Coordinates of arrays, into ``out``, flat."""
        self._paths.coordinates(arrays, out[: self._n])
        change = self._stacked(arrays) - self.places
        change[1:] -= self.turns * change[0]
        out[self._n :] = change / self.widths

    def log_volume(self):
        """As of `Paths`."""
        return self._paths.log_volume() + float(np.sum(np.log(self.widths)))

    def draw(self, rng):
        """Deviations drawn from their prior, of sizes in the middle of theirs."""
        middle = {"log_tau": np.log(self.scale), "log_lambda": np.zeros(self.n_words)}
        return self._paths.draw(rng) | middle

"""Coordinates of the effects of works on prevalences, and of their size."""

from __future__ import annotations

import numpy as np

from . import work_kernels as kernels
from .frame import periods_first

# Size of effects where nothing is known of it yet, as a share of the scale of its prior.
FIRST_SIZE = 0.5
# What kernels take where works are not known: of one type with what they are, or all densities
# would be compiled twice.
_INDEX, _TABLE = np.empty(0, dtype=np.int64), np.empty((0, 0))
NO_WORKS = *(_INDEX,) * 4, *(_TABLE,) * 3, (0.0, 1.0, 1.0)


class WorkEffects:
    """``unit_effects`` (W, K), with the prior N(0, s^2), and ``log_unit_sd``, the logarithm of s.

    They are taken given ``phi`` (see `work_kernels`): what a work's snippets tell is of the sum of
    both, and phi is told of by works as by so many draws of N(0, s^2), if they are large.

    Parameters
    ----------
    contexts : Contexts
    shape : tuple of int
        Numbers of works, senses and genres.
    scale : float
        Of the half-normal prior of s.
    """

    names = "unit_effects", "log_unit_sd"

    def __init__(self, contexts, shape, scale):
        self.contexts, self.shape, self.scale = contexts, shape[:2], float(scale)
        self._n_genres = shape[2]
        self._n = self.shape[0] * self.shape[1]
        self.size = self._n + 1
        self._told = np.zeros((contexts.counts.size, self.shape[1]))
        self._sums, self._center = np.zeros((2, *self.shape))
        self._place, self._width = np.log(self.scale * FIRST_SIZE), 1.0

    def inform(self, information, power, arrays=None):
        """As of `Paths`; ``information`` is that about the logits of ``contexts`` (C, K)."""
        told = power * information["contexts"]
        self._told, self._sums = np.ascontiguousarray(told), self._by_work(told)
        self._center = np.zeros(self.shape)
        if arrays is not None:
            c, effects = self.contexts, centred(arrays["unit_effects"])
            logits = centred(arrays["phi"])[c.genres, c.periods] + effects[c.works]
            self._center = self._by_work(told * logits)
            self._place = float(arrays["log_unit_sd"])
            self._center += effects * np.exp(-2 * self._place)
            self._width = self._width_at(np.exp(2 * self._place))

    def _width_at(self, variance):
        """About the posterior deviation of log s, of effects that are known so well."""
        known = variance * self._sums / (1 + variance * self._sums)
        n_senses = self.shape[1]
        told = 2 * np.sum(known**2) * (n_senses - 1) / n_senses
        return float(1 / np.sqrt(told + 2 * variance / self.scale**2 + 1))

    def about_phi(self, information, power, n_periods, arrays=None):
        """What data tell of ``phi`` (G, T, K) with effects unknown, of all that they tell."""
        told, c = information["contexts"], self.contexts
        size = self.scale * FIRST_SIZE if arrays is None else np.exp(arrays["log_unit_sd"])
        left = told - power * told**2 / (size**-2 + power * self._by_work(told)[c.works])
        out = np.zeros((self._n_genres, n_periods, self.shape[1]))
        np.add.at(out, (c.genres, c.periods), left)
        return out

    def _by_work(self, x):
        out = np.zeros(self.shape)
        np.add.at(out, self.contexts.works, x)
        return out

    @property
    def arrays(self):
        """As `work_kernels` takes them."""
        c = self.contexts
        return (
            c.periods, c.genres, c.works, c.places, self._told, self._sums, self._center,
            (float(self._place), float(self._width), self.scale),
        )  # fmt: skip

    def logits(self, y, phi):
        """Arrays of coordinates given ``phi`` (G, T, K), in a dict."""
        effects = kernels.effects_of(self.arrays, y, periods_first("phi", phi))[1]
        return {
            "unit_effects": effects,
            "log_unit_sd": self._place + self._width * float(y[self._n]),
        }

    def coordinates(self, arrays, out):
        """Coordinates of arrays, into ``out``, flat."""
        out[: self._n] = 0.0
        out[self._n] = (arrays["log_unit_sd"] - self._place) / self._width
        phi = periods_first("phi", arrays["phi"])
        middle, _, widths = kernels.effects_of(self.arrays, out, phi)
        out[: self._n] = ((arrays["unit_effects"] - middle) / widths).ravel()

    def log_volume(self):
        """As of `Paths`; the density has the Jacobian of effects."""
        return float(np.log(self._width))

    def draw(self, rng):
        """Effects of a size in the middle of its prior."""
        size = abs(rng.normal(scale=self.scale))
        return {
            "unit_effects": rng.normal(scale=size, size=self.shape),
            "log_unit_sd": np.log(size),
        }

    def rows(self, arrays):
        """Logits of prevalence by context (T, K, places)."""
        c, phi = self.contexts, arrays["phi"]
        out = np.zeros((phi.shape[1], phi.shape[2], c.places.max() + 1))
        out[c.periods, :, c.places] = phi[c.genres, c.periods] + arrays["unit_effects"][c.works]
        return out


def centred(x):
    """Logits less their mean over senses, which no softmax sees."""
    return x - np.mean(x, axis=-1, keepdims=True)

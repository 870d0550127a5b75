"""Coordinates in which the posterior of a sense model is nearly round.

Logits follow paths over periods: columns of (T, M) arrays with one tridiagonal prior precision P.
Samplers move ``y``, with ``x = center + L^-T y`` and ``L L' = P + information``, where the
information is a guess of what the data tell of each logit: without data y is the innovation of the
prior, with much of it the logit in units of its posterior deviation.

A softmax does not see the level of its logits, and where they are independent and alike a priori
their mean is independent of all else, a posteriori too. Its prior may be any: it is made as narrow
as the information says, or those directions alone would be far wider than the coordinates expect.

The kernels behind take arrays with periods first; `periods_first` and `in_order` turn them from the
order of the room (see `model`) and back, and nothing else does.
"""

from __future__ import annotations

import numpy as np

from ...numeric.tridiagonal import paths_factor, paths_to
from ...numeric.tridiagonal_kernels import paths_from
from . import effect_kernels as effects
from .effect_factors import coordinates_of, factor

# Axes of the room's arrays with periods first: (T, K, G) and (T, K, V).
_PERIODS_FIRST = {"phi": (1, 2, 0), "psi": (1, 0, 2), "deviation": (1, 0, 2)}


def periods_first(name, x):
    """A contiguous array (T, K, G) or (T, K, V), of one in the order of the room."""
    return np.ascontiguousarray(x.transpose(_PERIODS_FIRST[name]), dtype=float)


def in_order(name, x):
    """A view in the order of the room, of an array with periods first."""
    return x.transpose(np.argsort(_PERIODS_FIRST[name]))


class Paths:
    """One array of logits, paths over periods that are independent a priori.

    Parameters
    ----------
    name : str
    shape : tuple of int
        Periods first.
    precision : Tridiagonal
        Prior precision of every path.
    axis : int or None
        The axis of a softmax, where periods are first; None where there is none.
    proper : Tridiagonal, optional
        What coordinates are made with where the prior precision is singular.
    """

    def __init__(self, name, shape, precision, axis, proper=None):
        self.names, self.name = (name,), name
        self.shape, self.precision, self.axis = shape, precision, axis
        self.proper = precision if proper is None else proper
        self.size = int(np.prod(shape))
        self._flat = (shape[0], self.size // shape[0])
        if axis is not None:
            outer, inner = int(np.prod(shape[1:axis])), int(np.prod(shape[axis + 1 :]))
            self._by_level = (shape[0], outer, shape[axis], inner)
        self.center = np.zeros(self._flat)
        self.inverse, self.below = np.empty(self._flat), np.empty(self._flat)
        self.inform({}, 1.0)

    def inform(self, information, power, arrays=None):
        """Set the guess of the information of the data, and of the posterior means.

        ``information`` counts times ``power``; none means that there is none.
        """
        given = information.get(self.name)
        here = np.zeros(self.shape) if given is None else power * periods_first(self.name, given)
        if self.axis is not None:
            self.narrowing = here.reshape(self._by_level).mean(axis=2)
        self.below[-1] = 0.0
        p = self.proper
        paths_factor(p.diagonal, p.off, here.reshape(self._flat), self.inverse, self.below)
        if arrays is not None:
            center = periods_first(self.name, arrays[self.name])
            if self.axis is not None:
                center = center - np.mean(center, axis=self.axis, keepdims=True)
            self.center = np.ascontiguousarray(center).reshape(self._flat)

    @property
    def arrays(self):
        """Coordinates, prior and narrowing as `kernels.pull_paths` takes them."""
        p = self.precision
        narrowing = None if self.axis is None else self.narrowing
        return self.center, self.inverse, self.below, p.diagonal, p.off, narrowing

    def logits(self, y):
        """Logits of coordinates, in a dict."""
        x = np.empty(self._flat)
        paths_from(self.center, self.inverse, self.below, y.reshape(self._flat), x)
        return {self.name: in_order(self.name, x.reshape(self.shape))}

    def coordinates(self, arrays, out):
        """Coordinates of logits, into ``out``, flat."""
        x = periods_first(self.name, arrays[self.name]).reshape(self._flat)
        out[:] = paths_to(self.center, self.inverse, self.below, x).ravel()

    def log_volume(self):
        """Log of |d x / d y| over the integral of what narrows the levels, up to a constant.

        What is to be added to a log mass in these coordinates so that it can be compared with one
        in others.
        """
        volume = float(np.sum(np.log(self.inverse)))
        if self.axis is None:
            return volume
        p = self.proper
        levels = self.narrowing.reshape(self.shape[0], -1)
        inverse, below = np.empty_like(levels), np.empty_like(levels)
        paths_factor(p.diagonal, p.off, levels, inverse, below)
        return volume - float(np.sum(np.log(inverse)))

    def draw(self, rng):
        """Logits drawn from the prior, in a dict."""
        x = self.proper.sample(rng, (self._flat[1],)).reshape(self.shape)
        return {self.name: in_order(self.name, x)}


class Effects:
    """Main effects of senses, ``chi`` (K, V), and of periods, ``theta`` (T, V), of word logits.

    The data see their sums: the information about ``psi = chi + theta`` is shared by both, and
    along chi up, theta down there is none. Both are therefore taken together, word by word, with
    the precision

        [ P_theta + diag(sum_k n_tk)      n'                          ]
        [ n                               1 / kappa + diag(sum_t n_tk) ]

    of the information n (T, K) about a word's logits. Coordinates are those of chi, then of theta.

    Parameters
    ----------
    n_senses, n_words : int
    variance : float
        Prior variance kappa of chi.
    precision : Tridiagonal
        Prior precision of theta.
    """

    names = "chi", "theta"

    def __init__(self, n_senses, n_words, variance, precision):
        self.variance, self.precision = variance, precision
        self.shape = (precision.n, n_senses, n_words)
        self._rows = (n_senses + precision.n, n_words)
        self.size = int(np.prod(self._rows))
        self.center = np.zeros(self._rows)
        self.inform({}, 1.0)

    def inform(self, information, power, arrays=None):
        """As of `Paths`; the information is that about ``psi``."""
        given = information.get("psi")
        n = np.zeros(self.shape) if given is None else power * periods_first("psi", given)
        self.narrowing = n.mean(axis=2)
        self.factor = self._factored(n)
        if arrays is not None:
            center = self._stacked(arrays)
            self.center = center - center.mean(axis=1, keepdims=True)
        self._shift = coordinates_of(0.0, *self.factor, self.center)

    def _factored(self, n):
        """Inverse diagonal, and what is below it, of the Cholesky factors of the words."""
        return factor(self.precision.diagonal, self.precision.off, 1 / self.variance, n)

    @staticmethod
    def _stacked(arrays):
        return np.concatenate([arrays["chi"], arrays["theta"]])

    @property
    def arrays(self):
        """Coordinates, prior and narrowing as `effect_kernels.pull_effects` takes them."""
        p = self.precision
        return self._shift, *self.factor, p.diagonal, p.off, 1 / self.variance, self.narrowing

    def logits(self, y):
        """Logits of coordinates, in a dict."""
        x = np.empty(self._rows)
        effects.logits_of(self._shift, *self.factor, y.reshape(self._rows), x)
        n_senses = self.shape[1]
        return {"chi": x[:n_senses], "theta": x[n_senses:]}

    def coordinates(self, arrays, out):
        """Coordinates of logits, into ``out``, flat."""
        x = self._stacked(arrays)
        out[:] = coordinates_of(self._shift, *self.factor, x).ravel()

    def log_volume(self):
        """As of `Paths`."""
        of_levels = self._factored(np.ascontiguousarray(self.narrowing[:, :, None]))
        return float(np.sum(np.log(self.factor[0])) - np.sum(np.log(of_levels[0])))

    def draw(self, rng):
        """Both drawn from their priors."""
        _, n_senses, n_words = self.shape
        chi = rng.normal(scale=np.sqrt(self.variance), size=(n_senses, n_words))
        return {"chi": chi, "theta": self.precision.sample(rng, (n_words,))}

"""Coordinates in which the posterior of a sense model is nearly round.

Logits are chains over periods: columns of (T, M) arrays with one tridiagonal prior precision P.
Samplers move ``y``, with ``x = center + L^-T y`` and ``L L' = P + information``, where the
information is a guess of what the data tell of each logit: without data y is the innovation of the
prior, with much of it the logit in units of its posterior deviation.

A softmax does not see the level of its logits, and where they are independent and alike a priori
their mean is independent of all else, a posteriori too. Its prior may be any: it is made as narrow
as the information says, or those directions alone would be far wider than the coordinates expect.
"""

from __future__ import annotations

import numpy as np

from ..precision import Tridiagonal
from . import kernels


class Chains:
    """One array of logits, chains over its first axis.

    Parameters
    ----------
    name : str
    shape : tuple of int
        Periods first.
    precision : Tridiagonal
        Prior precision of every chain.
    axis : int or None
        The axis of a softmax; None where there is none.
    proper : Tridiagonal, optional
        What coordinates are made with where the prior precision is singular.
    """

    def __init__(self, name, shape, precision, axis, proper=None):
        self.name, self.shape, self.precision, self.axis = name, shape, precision, axis
        self.proper = precision if proper is None else proper
        self.size = int(np.prod(shape))
        self._flat = (shape[0], self.size // shape[0])
        if axis is not None:
            outer, inner = int(np.prod(shape[1:axis])), int(np.prod(shape[axis + 1 :]))
            self._by_level = (shape[0], outer, shape[axis], inner)
        self.center = np.zeros(self._flat)
        self.inverse, self.below = np.empty(self._flat), np.empty(self._flat)
        self.inform(np.zeros(shape))

    def inform(self, information, center=None):
        """Set the guess of the information of the data, and of the posterior means."""
        if self.axis is not None:
            self.narrowing = information.reshape(self._by_level).mean(axis=2)
        information = np.ascontiguousarray(information, dtype=float).reshape(self._flat)
        self.below[-1] = 0.0
        p = self.proper
        kernels.chains_factor(p.diagonal, p.off, information, self.inverse, self.below)
        if center is not None:
            if self.axis is not None:
                center = center - np.mean(center, axis=self.axis, keepdims=True)
            self.center = np.ascontiguousarray(center).reshape(self._flat)

    @property
    def arrays(self):
        """Coordinates, prior and narrowing as `kernels.pull_chain` takes them."""
        p = self.precision
        narrowing = None if self.axis is None else self.narrowing
        return self.center, self.inverse, self.below, p.diagonal, p.off, narrowing

    def logits(self, y):
        """Logits of coordinates: ndarray of this shape."""
        x = np.empty(self._flat)
        kernels.chains_from(self.center, self.inverse, self.below, y.reshape(self._flat), x)
        return x.reshape(self.shape)

    def coordinates(self, x, out):
        """Coordinates of logits, into ``out``, flat."""
        x = np.ascontiguousarray(x, dtype=float).reshape(self._flat)
        kernels.chains_to(self.center, self.inverse, self.below, x, out.reshape(self._flat))

    def pull(self, x, gradient, out, *, prior=True):
        """Add the prior to the gradient by logits (contiguous) and turn it into one by coordinates.

        ``gradient`` is changed. Returns the log density of the prior.
        """
        narrowed = 0.0 if self.axis is None else self._narrow(x, gradient)
        x, gradient = x.reshape(self._flat), gradient.reshape(self._flat)
        p = self.precision
        value = kernels.chains_prior(p.diagonal, p.off, x, gradient) if prior else 0.0
        kernels.chains_pull(self.inverse, self.below, gradient, out.reshape(self._flat))
        return value + narrowed

    def _narrow(self, x, gradient):
        """The prior that narrows the levels: its log density; its gradient is added."""
        shape = self._by_level
        return kernels.narrow_levels(x.reshape(shape), self.narrowing, gradient.reshape(shape))

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
        kernels.chains_factor(p.diagonal, p.off, levels, inverse, below)
        return volume - float(np.sum(np.log(inverse)))

    def draw(self, rng):
        """Logits drawn from the prior."""
        return self.proper.sample(rng, (self._flat[1],)).reshape(self.shape)


def constant(variance):
    """Precision of what does not change over periods."""
    return Tridiagonal(np.array([1 / variance]), np.empty(0))

"""The model within one mode of the posterior: what hmc, vi and laplace run on."""

from __future__ import annotations

import numpy as np

from .model import SenseModel, permuted


class ModeModel(SenseModel):
    """A `SenseModel` in the coordinates of a mode, whose names of senses all draws are given.

    Parameters
    ----------
    data, n_senses, prior
        As of `SenseModel`.
    mode : Mode
        Gives starts of chains, coordinates, and the probabilities of senses that draws are matched
        with.
    """

    # the last draw looked at, its log likelihood and order; chains overwrite each other's
    _last = None

    def __init__(self, data, n_senses, prior, mode):
        super().__init__(data, n_senses, prior)
        self.mode = mode
        mode.frame(self)

    def init(self, rng):
        """Flat start of a chain: one of the states that the mode was explored through."""
        return self.pack(self.mode.states[rng.integers(len(self.mode.states))])

    def _matched(self, theta):
        """Log likelihood of a draw, and which of its senses is which of the mode's."""
        last = self._last
        if last is None or not np.array_equal(last[0], theta):
            sums = self.sums(self.unpack(theta))
            order = self.order_of(self.mode.weights, sums.weights)
            last = self._last = theta.copy(), sums.value, order
        return last[1:]

    def observe(self, theta):
        """As the model's, with senses matched to those of the mode."""
        _, order = self._matched(theta)
        return permuted(super().observe(theta), order)

    def trace(self, theta):
        """As the model's, and whether senses had changed their places."""
        log_likelihood, order = self._matched(theta)
        switched = float(np.any(order != np.arange(order.size)))
        return self.statistics(theta, log_likelihood) | {"switched": switched}

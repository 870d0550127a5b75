"""Coordinates of prevalence logits, and of the variance of their steps where it is learned."""

from __future__ import annotations

import numpy as np

from ...numeric.tridiagonal import paths_to
from . import path_kernels as kernels
from .frame import Paths, in_order, periods_first


class PrevalencePaths(Paths):
    """Logits ``phi`` and, where it is learned, ``log_kappa_phi``.

    Where the variance of the steps is learned, coordinates are those given it (see `path_kernels`),
    and the narrowed prior of levels is divided by its integral, which depends on it.

    Parameters
    ----------
    shape : tuple of int
        Numbers of periods, senses and genres.
    prior : ModelPrior
    """

    def __init__(self, shape, prior):
        self._prior, self._proper = prior, prior.proper()
        self.learned = prior.learns
        self._place, self._width = float(np.log(prior.mean_kappa_phi)), 1.0
        n = shape[0]
        super().__init__("phi", shape, prior.phi_precision(n), 1, self._proper.phi_precision(n))
        if self.learned:
            self.names = "phi", "log_kappa_phi"
            self.size += 1

    def inform(self, information, power, arrays=None):
        """As of `Paths`."""
        if self.learned and arrays is not None:
            self._place = float(arrays["log_kappa_phi"])
            self.proper = self._proper.phi_precision(self.shape[0], np.exp(self._place))
        super().inform(information, power, arrays)
        self._told = np.zeros(self._flat)
        if self.learned:
            given = information.get("phi")
            if given is not None:
                self._told = power * periods_first("phi", given).reshape(self._flat)
            self._width = self._width_at(np.exp(self._place))

    def _width_at(self, kappa):
        """About the posterior deviation of log kappa, of steps that are known so well."""
        known = kappa * self._told / (1 + kappa * self._told)
        n_senses = self.shape[1]
        told = 0.5 * np.sum(known**2) * (n_senses - 1) / n_senses
        return float(1 / np.sqrt(told + self._prior.of_kappa_phi[0]))

    @property
    def arrays(self):
        """As `path_kernels` takes them; of one type whether or not the variance is learned."""
        center, *rest = super().arrays
        shape, rate = self._prior.of_kappa_phi or (1.0, 1.0)
        if self.learned:
            center = self.proper.apply(self.center) + self._told * self.center
        learned = (
            self._told, self._prior.phi_process, self._place, self._width, float(shape),
            float(rate), self.learned, self._proper.phi_process,
        )  # fmt: skip
        return center, *rest, learned

    def logits(self, y):
        """Arrays of coordinates, in a dict."""
        if not self.learned:
            return super().logits(y)
        x = kernels.phi_of(self.arrays, y, self.shape[1])
        return {
            "phi": in_order("phi", x),
            "log_kappa_phi": float(kernels.log_kappa_of(self.arrays[-1], y)),
        }

    def coordinates(self, arrays, out):
        """Coordinates of arrays, into ``out``, flat."""
        if not self.learned:
            super().coordinates(arrays, out)
            return
        out[:] = 0.0
        out[-1] = (arrays["log_kappa_phi"] - self._place) / self._width
        here, _, inverse, below, *_ = kernels.learned_paths(self.arrays, out)
        x = periods_first("phi", arrays["phi"]).reshape(self._flat)
        out[:-1] = paths_to(here, inverse, below, x).ravel()

    def log_volume(self):
        """As of `Paths`; the density has the Jacobian of paths where their variance is learned."""
        return float(np.log(self._width)) if self.learned else super().log_volume()

    def draw(self, rng):
        """Logits drawn from the prior of steps in its middle."""
        out = super().draw(rng)
        if self.learned:
            out["log_kappa_phi"] = float(np.log(self._prior.mean_kappa_phi))
        return out

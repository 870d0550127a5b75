"""Modes of drifting vectors that differ in a component, as of `sgns.exchange`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import randomized_svd

from ..sgns.exchange import MOST_WORK
from .model import SIDES, DynamicDensity, by_period, by_side
from .words import Words

# Share of the step to the maximum of the quadratic approximation, as of `sgns.spectral`.
_SHARE = 0.7


@dataclass(frozen=True)
class DriftComponents:
    """What exchanges ask of a `DynamicDensity`; vectors are those of all periods in a row."""

    model: DynamicDensity
    # State of the Union, five sizes and priors: in all but the largest it led where others do, too
    trials = ((1, 0),)
    typical = 2.5

    @property
    def n_components(self):
        """Number of components."""
        return self.model.shape[-1]

    @property
    def can_differ(self):
        """Whether modes may differ in components that can be exchanged."""
        n_periods, _, n_words, k = self.model.shape
        return 2 <= k < n_words and n_periods * n_words**2 * k <= MOST_WORK

    def vectors(self, theta):
        """Those of flat parameters, (2, n_periods * n_words, n_components)."""
        return by_side(self.model.vectors(theta))

    def parameters(self, vectors):
        """The inverse of `vectors`."""
        *lead, _ = self.model.shape
        return self.model.coordinates(by_period(vectors, (*lead, vectors.shape[-1])))

    def wider(self, more):
        """The same posterior with ``more`` components."""
        density = self.model
        shape = density.shape[2], self.n_components + more
        model = Words(density.model.prior, {name: np.zeros(shape) for name in SIDES})
        return DriftComponents(DynamicDensity(model, tables=density.periods))

    def extended(self, vectors, more, rng, run):
        """Vectors of `wider`: those of a mode, and what residuals ask for in every period."""
        n_periods, _, n_words, _ = shape = self.model.shape
        x = by_period(vectors, shape)
        sums, residual = np.zeros((2, n_words)), np.zeros((n_words, n_words))
        for p in self.model.periods:
            slope, rest = p.whole(p.curvature(*np.ascontiguousarray(x[p.period])))
            sums += slope.sum(axis=1), slope.sum(axis=0)
            residual += rest
        root = max(sums[0].sum(), 1.0) ** 0.5
        left, right = (sums + n_periods / self.model.model.prior.variance) ** -0.5
        step = _SHARE * root * left[:, None] * residual * right
        seed = int(rng.integers(2**31))
        u, values, v = randomized_svd(step, more, random_state=seed)
        size = np.sqrt(values * root)
        new = np.stack([left[:, None] * u * size, right[:, None] * v.T * size])
        return np.concatenate([vectors, np.tile(new, (1, n_periods, 1))], axis=-1)

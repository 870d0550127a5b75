"""The density of drifting vectors whose deviations are worked out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data import DensePeriod
from ..model import SIDES, DynamicDensity


@dataclass(frozen=True, eq=False)
class _Model:
    """What `DynamicDensity` and `DynamicLaplace` ask of a model, without a table of pairs."""

    prior: Any
    center: dict

    @property
    def n_periods(self):
        return self.prior.n_periods

    @property
    def n_words(self):
        return self.center["rho"].shape[0]

    @property
    def n_components(self):
        return self.center["rho"].shape[1]

    def in_frame(self, alpha, *vectors):
        """The vectors as they are."""
        return vectors


def density_of(counts, prior, arrays):
    """`DynamicDensity` of counts by period, None where there are none.

    Parameters
    ----------
    counts : list of PairCounts or None
    prior : DriftPrior
    arrays : dict of ndarray of shape (n_periods, n_words, n_components)
        Vectors near the mode.
    """
    tables = []
    for t, one in enumerate(counts):
        if one is not None:
            kappa, n = one.positive.toarray(), one.negative.toarray()
            n += kappa
            kappa -= 0.5 * n
            tables.append(DensePeriod(t, n, kappa))
    model = _Model(prior, {name: arrays[name].mean(axis=0) for name in SIDES})
    return DynamicDensity(model, tables=tables)

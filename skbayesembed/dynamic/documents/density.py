"""The density of drifting vectors whose deviations are worked out."""

from __future__ import annotations

from ..data import DensePeriod
from ..model import SIDES, DynamicDensity
from ..words import Words


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
    model = Words(prior, {name: arrays[name].mean(axis=0) for name in SIDES})
    return DynamicDensity(model, tables=tables)

"""The prevalences of senses over time and genre, as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.checks import check_prob
from ..posterior.sources import source_of
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table

# What the only genre is called where fit got none.
_ALL = "all"


@dataclass(frozen=True, repr=False, eq=False)
class Prevalences(Table):
    """Prevalences of senses, a row for each sense, genre and period.

    Attributes
    ----------
    mean : ndarray of shape (n_senses, n_genres, n_periods)
        Posterior means.
    interval : ndarray of shape (n_senses, n_genres, n_periods, 2)
        Highest density intervals.
    n_snippets : ndarray of shape (n_genres, n_periods)
        Training snippets. Where there are none, the intervals are what the prior makes of the
        periods around.
    genres : list of str
    periods : list
        Labels of the periods.
    times : ndarray of shape (n_periods,)
        Their centres.
    prob : float
        Probability of the intervals.
    n_draws : int
        Draws behind the figures; 1 for a point estimate.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel
    >>> from skbayesembed.datasets import make_senses
    >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
    >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
    >>> model = model.fit(made.counts, times=made.times)
    >>> table = model.prevalence_info()
    >>> table.mean.shape, int(table.n_snippets.sum())
    ((2, 1, 3), 60)
    """

    mean: np.ndarray
    interval: np.ndarray
    n_snippets: np.ndarray
    genres: list
    periods: list
    times: np.ndarray
    prob: float
    n_draws: int

    _max_rows = 40

    def _title(self):
        return f"prevalence of senses, {100 * self.prob:g} % intervals"

    def _columns(self):
        _, genre, period = (i.ravel() for i in np.indices(self.mean.shape))
        genres = [Column("genre", [self.genres[g] for g in genre], ("genre",), left=True)]
        return (genres if len(self.genres) > 1 else []) + [
            Column("period", [str(self.periods[t]) for t in period], (), left=True),
            Column("prevalence", self.mean.ravel(), ("mean",)),
            Column("interval", self.interval.reshape(-1, 2), ("low", "high"), left=True),
            Column("snippets", self.n_snippets[genre, period], ("n_snippets",), "g"),
        ]

    def _groups(self):
        n_senses, n_genres, n_periods = self.mean.shape
        return "sense", np.repeat(np.arange(n_senses), n_genres * n_periods)

    def _series(self):
        sense, genre, period = (i.ravel() for i in np.indices(self.mean.shape))
        labels = {
            "sense": sense,
            "genre": [self.genres[g] for g in genre],
            "period": [self.periods[t] for t in period],
            "time": self.times[period],
        }
        return labels | super()._series() | labels


def prevalence_info(estimator, prob):
    """`Prevalences` of a fitted `DiSCSenseModel`."""
    check_prob(prob)
    draws = estimator.posterior_.flat("prevalence")
    genres, periods = estimator.genres_, estimator.periods_
    table = Prevalences(
        estimator.prevalence_,
        np.moveaxis(hdi_interval(draws, prob=prob), 2, 0),
        estimator._cells,
        [_ALL] if genres is None else [str(genre) for genre in genres],
        list(periods.labels),
        periods.centres,
        prob,
        len(draws),
    )
    return table._resting_on(source_of(estimator))

"""The prevalences of senses over time and genre, as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ..common.checks import check_choice, check_prob
from ..numeric.logistic_normal import level_points
from ..posterior.cells import dashed
from ..posterior.deciding import MOST_ERRORS, errors_of
from ..posterior.naming import given_names, joint, named, together
from ..posterior.sentences import ended, estimate, joined
from ..posterior.sources import (
    FEW_UNITS,
    name_of_units,
    note_on_means,
    note_on_units,
    one_unit_called,
    source_of,
    units_called,
)
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table
from .checks import sense_rows
from .embedding import asides_of
from .ends import ends
from .verdicts import (
    advice_on_seen,
    cells_told,
    few_data,
    note_on_few,
    note_on_unseen,
    rests_on,
    snippets_in_words,
    units_of_cells,
    works_told,
)

# What the only genre is called where fit got none.
_ALL = "all"
# What a prevalence may be of, and how a title says it, with what units are called.
_OF_WORKS = {
    "all": "mean over all {several}", "seen": "in the {several} seen", "new": "in one new {one}",
}  # fmt: skip
_BOTH_MEANS = (
    "(by unit, by snippet: posterior means over the units in the data, each counted once or by its "
    "snippets)"
)
# Rows with a mean by unit outside the interval whose units are named, and how many of these.
_ROWS_NAMED, _UNITS_NAMED = 3, 3
# New units drawn for each draw, and for all together at least.
_NEW_WORKS, _FEWEST = 4, 1000


@dataclass(frozen=True, repr=False, eq=False)
class Prevalences(Table):
    """Table of the prevalences of senses, with a row for each sense, genre and period.

    With ``senses`` passed to `DiSCSenseModel.prevalence_info`, the first axis of all arrays has one
    entry for each of these, in their order, and some may be several senses together.

    Attributes
    ----------
    mean : ndarray of shape (n_senses, n_genres, n_periods)
        Posterior means.
    interval : ndarray of shape (n_senses, n_genres, n_periods, 2)
        Highest density intervals.
    n_snippets : ndarray of shape (n_genres, n_periods)
        Number of training snippets. Where there are few or none, the intervals rest mostly on
        neighboring periods.
    genres : list of str
    periods : list
        Labels of the periods.
    times : ndarray of shape (n_periods,)
        Centers of the periods.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the figures; 1 for a point estimate.
    units : {"all", "seen", "new"} or None
        Which units the prevalences refer to; None if ``fit`` was given no units.
    n_units : ndarray of int of shape (n_genres, n_periods) or None
        Number of units in the training snippets; None if ``fit`` was given none.
    seen : ndarray of shape (n_senses, n_genres, n_periods) or None
        For ``units="all"``: posterior means over the units seen, weighted by their snippets; NaN
        where there are none.
    seen_alike : ndarray of shape (n_senses, n_genres, n_periods) or None
        The same with equal weights for all units, like the mean over all units.
    interval_mcse : ndarray of shape (n_senses, n_genres, n_periods, 2) or None
        Monte Carlo standard errors of the ends of the intervals, if there are at most 200 intervals
        and this is not a point estimate; otherwise None. Data frames have them.
    sentences : dict of tuple to str
        Each prevalence in words, to be copied, by its sense and period, or by its sense, genre and
        period if there are several genres.
    seen_outside : ndarray of bool of shape (n_senses, n_genres, n_periods)
        Where ``seen_alike`` covers three units or more and is outside the interval.
    names : ndarray of str of shape (n_senses,) or None
        Names of the senses, if they were given (`DiSCSenseModel.name_senses`).
    units_name : str or None
        Name of the column of units, if it has one.
    rows : list of list of int or None
        Numbers of the senses that each entry of the first axis adds up; None for all senses, each
        by itself.
    labels : ndarray of shape (n_senses,)
        Numbers of the senses, or names if they were given; ``"0 + 2"`` for two together.
    few : ndarray of bool of shape (n_genres, n_periods)
        Where there are fewer than 10 snippets, or fewer than 3 units when the prevalence is about
        other units than these. Figures mark these cells as resting on others.

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
    units: str | None = None
    n_units: np.ndarray | None = None
    seen: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    seen_alike: np.ndarray | None = None
    names: np.ndarray | None = None
    units_name: str | None = None
    rows: list[list[int]] | None = None

    _max_rows = 40

    @property
    def labels(self) -> np.ndarray:
        """What each entry of the first axis is called."""
        if self.rows is None:
            return named(self.names, np.arange(len(self.mean)))
        return np.array([joint(self.names, row) for row in self.rows])

    @property
    def seen_outside(self) -> np.ndarray:
        """Where the mean of three units or more that were seen is outside the interval."""
        if self.seen_alike is None or self.n_units is None or self.n_draws == 1:
            return np.zeros(self.mean.shape, bool)
        low, high = np.moveaxis(self.interval, -1, 0)
        # comparisons with NaN are False
        enough = self.n_units >= FEW_UNITS
        return enough & ((self.seen_alike < low) | (self.seen_alike > high))

    @property
    def few(self) -> np.ndarray:
        """Where there are almost no data."""
        return few_data(self.n_snippets, self.n_units, self.units)

    @property
    def sentences(self) -> dict[tuple, str]:
        """Each prevalence in words, to be copied, by sense and period, or sense, genre and period.

        The second where there are several genres.
        """
        places = np.ndindex(self.mean.shape)
        return {self._key(*place): self._sentence(*place) for place in places}

    def _key(self, k, g, t):
        genre = () if len(self.genres) == 1 else (self.genres[g],)
        sense = self.labels[k].item()
        return sense, *genre, self.periods[t]

    def _sentence(self, k, g, t):
        found = {"mean": self.mean[k, g, t], "interval": self.interval[k, g, t]}
        genre = "" if len(self.genres) == 1 else f" in {self.genres[g]}"
        of = "" if self.units is None else f" ({whose(self.units, self.units_name)})"
        units = None if self.n_units is None else self.n_units[g, t]
        mostly = f", which rests mostly on {rests_on(len(self.periods))}" if self.few[g, t] else ""
        name = together(self.names, "sense", [k] if self.rows is None else self.rows[k])
        text = (
            f"The prevalence of {name}{genre} in {self.periods[t]}{of} is "
            f"{estimate(found, self.source, self.prob)}{mostly}. The data are "
            f"{snippets_in_words(self.n_snippets[g, t], units, self.units_name)}"
        )
        return ended(text, self.source, found=self)

    def _title(self):
        of = "" if self.units is None else f", {whose(self.units, self.units_name)}"
        return f"prevalence of senses{of}, {100 * self.prob:g} % intervals"

    def _columns(self):
        _, genre, period = (i.ravel() for i in np.indices(self.mean.shape))
        genres = [Column("genre", [self.genres[g] for g in genre], ("genre",), left=True)]
        columns = [
            Column("period", [str(self.periods[t]) for t in period], (), left=True),
            Column("prevalence", self.mean.ravel(), ("mean",)),
            Column("interval", self.interval.reshape(-1, 2), ("low", "high"), left=True),
        ]
        if self.seen is not None:
            alike = self.seen_alike.ravel()
            outside = self.seen_outside.ravel()
            marks = Column("", np.where(outside, "*", ""), ())
            columns += [
                Column("by unit", alike, ("seen_alike",), dashed(".3f")),
                *[marks] * bool(outside.any()),
                Column("by snippet", self.seen.ravel(), ("seen",), dashed(".3f")),
            ]
        columns.append(Column("snippets", self.n_snippets[genre, period], ("n_snippets",), "g"))
        if self.n_units is not None:
            columns.append(Column("units", self.n_units[genre, period], ("n_units",), "d"))
        return (genres if len(self.genres) > 1 else []) + columns

    def _notes(self):
        notes = super()._notes()
        if self.seen is not None:
            notes.insert(0, _BOTH_MEANS)
        of_units = self.n_units is not None and self.units != "seen"
        notes += note_on_means(self.mean, self.interval)
        genres = self.genres if len(self.genres) > 1 else None
        return notes + note_on_few(self.few, of_units, self.periods, genres)

    def _notes_on_cut(self, n_shown):
        return [
            f"({n_shown} of {self.mean.size} rows: to_string(None) prints all, to_frame() has them)"
        ]

    def _groups(self):
        n_senses, n_genres, n_periods = self.mean.shape
        return "sense", self.labels[np.repeat(np.arange(n_senses), n_genres * n_periods)]

    def _series(self):
        sense, genre, period = (i.ravel() for i in np.indices(self.mean.shape))
        labels = {
            "sense": self.labels[sense],
            "genre": [self.genres[g] for g in genre],
            "period": [self.periods[t] for t in period],
            "time": self.times[period],
        }
        series = labels | super()._series() | labels
        if self.interval_mcse is not None:
            low, high = self.interval_mcse.reshape(-1, 2).T
            series |= {"low_mcse": low, "high_mcse": high}
        return series


def prevalence_info(estimator, prob, units, senses=None):
    """`Prevalences` of a fitted `DiSCSenseModel`."""
    check_prob(prob)
    rows = sense_rows(estimator, senses)
    draws = _added(draws_of(estimator, units), rows)
    n_units = units_of_cells(estimator)
    of_all = units == "all" and n_units is not None
    genres, periods = estimator.genres_, estimator.periods_
    seen, alike = (None, None)
    if of_all:
        seen, alike = (np.moveaxis(_added(np.moveaxis(mean, 0, -1), rows), -1, 0)
                       for mean in means_seen(estimator))  # fmt: skip
    mean = draws.mean(axis=0).transpose(2, 0, 1)
    table = Prevalences(
        estimator.prevalence_ if units == "all" and rows is None else mean,
        interval_of(draws, prob),
        cells_told(estimator),
        [_ALL] if genres is None else [str(genre) for genre in genres],
        list(periods.labels),
        periods.centres,
        prob,
        len(estimator.posterior_.flat("prevalence")),
        None if estimator.units_ is None else units,
        n_units,
        seen,
        _errors_of(estimator, draws, prob),
        alike,
        given_names(estimator.posterior_, "sense"),
        name_of_units(estimator),
        rows,
    )
    of_works = None if units == "seen" else estimator.units_ is not None
    return table._resting_on(
        source_of(estimator, of_works=of_works),
        [
            *asides_of(estimator.posterior_),
            *note_on_units(estimator, estimator._n_units()),
            *on_prevalences_seen(estimator, table),
            *note_on_unseen(estimator, units),
            *ends(estimator).notes(None if rows is None else alone(rows)),
        ],
    )


def alone(rows):
    """Numbers of the senses that are in no sum, of lists of numbers."""
    return [row[0] for row in rows if len(row) == 1]


def _added(values, rows):
    """Prevalences (..., n_senses) of the senses of each row together; as they are without rows."""
    if rows is None:
        return values
    return np.stack([values[..., row].sum(axis=-1) for row in rows], axis=-1)


def _errors_of(estimator, draws, prob):
    """Errors of the ends of `interval_of`; None of a point estimate, and of too many."""
    if len(draws) == 1 or draws[0].size > MOST_ERRORS:
        return None
    return np.moveaxis(errors_of(estimator.posterior_, draws, prob), 2, 0)


def on_prevalences_seen(estimator, table):
    """Lines on means over the units seen that are outside their intervals, or none.

    One says what that means; others name the units that are furthest from the mean over all.
    """
    n = np.count_nonzero(table.seen_outside)
    if n == 0:
        return []
    where = "1 row" if n == 1 else f"{n} rows"
    rows = np.argwhere(table.seen_outside)[:_ROWS_NAMED].tolist()
    return [
        f"(* the mean by unit is outside the interval in {where} with {FEW_UNITS} units or more: "
        f"{advice_on_seen(estimator)})",
        *(line for row in rows for line in _units_apart(estimator, table, *row)),
    ]


def _units_apart(estimator, table, k, g, t):
    """A line, if any, on the units of a row that are furthest on the side of the mean by unit."""
    works, senses = estimator._works, [k] if table.rows is None else table.rows[k]
    _, _, numbers, counts = works[(works[:, 0] == g) & (works[:, 1] == t)].T
    posterior = estimator.posterior_
    phi, effects = posterior.flat("phi")[:, None, g, t], posterior.flat("unit_effects")
    own = softmax(phi + effects[:, numbers], axis=-1)[..., senses].sum(axis=-1).mean(axis=0)
    side = np.sign(table.seen_alike[k, g, t] - table.mean[k, g, t])
    order = np.argsort(-side * own, kind="stable")[:_UNITS_NAMED]
    order = order[side * (own[order] - table.mean[k, g, t]) > 0]
    if not order.size:
        return []
    named_ones = joined([
        f"{estimator.units_[numbers[i]]} {own[i]:.2f} ({snippets_in_words(counts[i], None)})"
        for i in order
    ])  # fmt: skip
    where = "" if len(table.genres) == 1 else f" in {table.genres[g]}"
    return [
        f"({together(table.names, 'sense', senses)}{where} in {table.periods[t]}: of "
        f"{numbers.size} units, furthest {'above' if side > 0 else 'below'} the mean over all of "
        f"{table.mean[k, g, t]:.2f} {'is' if order.size == 1 else 'are'} {named_ones})"
    ]


def means_seen(estimator):
    """Posterior means in the units seen, by snippets and by unit, each (K, G, T).

    NaN in cells that have none.
    """
    out = [draws.mean(axis=0) for draws in in_works_seen(estimator)]
    for mean in out:
        mean[cells_told(estimator) == 0] = np.nan
    return [mean.transpose(2, 0, 1) for mean in out]


def interval_of(draws, prob):
    """Highest density intervals (K, G, T, 2) of draws (n_draws, G, T, K)."""
    return np.moveaxis(hdi_interval(draws, prob=prob), 2, 0)


def of_units(estimator, units):
    """What units a prevalence is of, where it is not the mean over all: behind a name."""
    if units == "all" or estimator.units_ is None:
        return ""
    return f" {whose(units, name_of_units(estimator))}"


def whose(units, name):
    """What units a prevalence is of, called by their name where it is a word for them."""
    return _OF_WORKS[units].format(several=units_called(name), one=one_unit_called(name))


def draws_of(estimator, units):
    """Draws of prevalences by ``units``, ndarray of shape (n_draws, n_genres, n_periods, n_senses).

    There are more draws in new units than of the posterior.
    """
    check_choice("units", units, tuple(_OF_WORKS))
    posterior = estimator.posterior_
    if units == "all":
        return posterior.flat("prevalence")
    if estimator.units_ is None:
        raise ValueError(
            f"units={units!r} needs a fit that was told of units, and this one was not: pass "
            "units= to fit, or use units='all'."
        )
    return in_works_seen(estimator)[0] if units == "seen" else _in_new_works(posterior)


def in_works_seen(estimator, periods=slice(None)):
    """Means over the units of each cell, by their snippets and with equal weights.

    Of a cell that has no units, over all.
    """
    posterior = estimator.posterior_
    of_all = posterior.flat("prevalence")
    works, cells = works_told(estimator), cells_told(estimator)
    asked = np.isin(works[:, 1], np.arange(of_all.shape[2])[periods])
    genre, period, work, counts = works[asked].T
    phi, effects = posterior.flat("phi"), posterior.flat("unit_effects")
    by_snippet, by_unit = (np.array(of_all, dtype=float) for _ in range(2))
    by_snippet[:, genre, period] = by_unit[:, genre, period] = 0.0
    n_units = np.zeros(cells.shape)
    np.add.at(n_units, (genre, period), 1.0)
    for g, t, w, count in zip(genre, period, work, counts, strict=True):
        own = softmax(phi[:, g, t] + effects[:, w], axis=1)
        by_snippet[:, g, t] += count / cells[g, t] * own
        by_unit[:, g, t] += own / n_units[g, t]
    return by_snippet[:, :, periods], by_unit[:, :, periods]


def _in_new_works(posterior):
    """Some new units for each draw."""
    phi, size = posterior.flat("phi"), posterior.flat("unit_sd")
    n, n_senses = len(phi), phi.shape[-1]
    times = max(_NEW_WORKS, -(-_FEWEST // n))
    points = level_points(n_senses, 2 * -(-n * times // 2))[: n * times]
    effects = points.reshape(times, n, n_senses) * size[:, None]
    return softmax(phi + effects[:, :, None, None], axis=-1).reshape(-1, *phi.shape[1:])

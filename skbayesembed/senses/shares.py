"""Predictive distributions of the shares of senses among snippets whose words are not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ..common.memory import check_memory
from ..common.random import seed_sequence
from ..corpus.units import check_units
from ..posterior.naming import given_names, named
from ..posterior.sources import note_on_means, source_of
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table
from .embedding import asides_of
from .labels import genre_indices, period_indices, work_indices
from .verdicts import cells_told, few_data, note_on_few


@dataclass(frozen=True, repr=False, eq=False)
class SenseShares(Table):
    """Table of the shares of senses among snippets, with a row for each group and sense.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        Labels of the groups.
    mean : ndarray of shape (n_groups, n_senses)
        Predictive means.
    interval : ndarray of shape (n_groups, n_senses, 2)
        Highest density intervals.
    n_snippets : ndarray of int of shape (n_groups,)
    draws : ndarray of shape (n_draws, n_groups, n_senses)
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the figures.
    names : ndarray of str of shape (n_senses,) or None
        Names of the senses, if they were given (`DiSCSenseModel.name_senses`).
    """

    groups: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    n_snippets: np.ndarray
    draws: np.ndarray
    prob: float
    n_draws: int
    names: np.ndarray | None = None

    _max_rows = 40

    def _title(self):
        return f"predicted shares of senses, {100 * self.prob:g} % intervals"

    def _columns(self):
        n_senses = self.mean.shape[1]
        sense = named(self.names, np.tile(np.arange(n_senses), len(self.groups)))
        n_snippets = np.repeat(self.n_snippets, n_senses)
        return [
            Column("sense", sense, ("sense",), "d"),
            Column("share", self.mean.ravel(), ("mean",)),
            Column("interval", self.interval.reshape(-1, 2), ("low", "high"), left=True),
            Column("snippets", n_snippets, ("n_snippets",), "d"),
        ]

    def _notes(self):
        return super()._notes() + note_on_means(self.mean, self.interval)

    def _groups(self):
        names = [str(group) for group in self.groups]
        return "group", np.repeat(np.array(names), self.mean.shape[1])


def predict_shares(estimator, given, prob, random_state):
    """`SenseShares`; see `DiSCSenseModel.predict_shares`."""
    n = _number(given)
    genre, period = _cells(estimator, given, n)
    labels = check_units(given["units"], n, "snippets")
    groups, group = _groups_of(estimator, given["by"], labels, genre, period)
    # what is one work counts as one also where the model knows of none
    of_work = np.arange(n) if labels is None else np.unique(labels, return_inverse=True)[1]
    seen = np.full(n, -1)
    if labels is not None and estimator.units_ is not None:
        seen = work_indices(estimator, labels, n)
    cells = np.column_stack([genre, period, of_work, seen, group])
    cells, counts = np.unique(cells, axis=0, return_counts=True)
    seed = seed_sequence(estimator.random_state if random_state is None else random_state)
    draws = _draw(estimator, cells, counts, len(groups), np.random.default_rng(seed))
    n_snippets = np.bincount(group, minlength=len(groups))
    draws /= n_snippets[:, None]
    mean, interval = draws.mean(axis=0), hdi_interval(draws, prob=prob)
    names = given_names(estimator.posterior_, "sense")
    table = SenseShares(groups, mean, interval, n_snippets, draws, prob, len(draws), names)
    told = estimator.units_ is not None
    # those of units that fit saw are of these alone
    source = source_of(estimator, of_works=None if told and np.all(seen >= 0) else told)
    asides = [*asides_of(estimator.posterior_), *_note_on_cells(estimator, genre, period)]
    return table._resting_on(source, asides)


def _note_on_cells(estimator, genre, period):
    """Line on cells that are asked about and had next to no training snippets, a list."""
    asked = np.zeros(estimator._cells.shape, bool)
    asked[genre, period] = True
    few = asked & few_data(cells_told(estimator), None, "all")
    several = estimator.genres_ is not None and len(estimator.genres_) > 1
    genres = list(estimator.genres_) if several else None
    return note_on_few(few, False, list(estimator.periods_.labels), genres)


def _number(given):
    """Number of snippets, of which all that is given has the same."""
    numbers = {}
    for name in ("times", "genres", "units", "by"):
        value = given[name]
        if value is None:
            continue
        single = isinstance(value, str | bytes | dict) or getattr(value, "ndim", 1) == 0
        if single or not hasattr(value, "__len__") or not len(value):
            raise ValueError(f"{name} must have an entry for every snippet, got {value!r}.")
        numbers[name] = len(value)
    if not numbers:
        raise ValueError("times, genres, units or by must be given: they tell how many snippets.")
    if len(set(numbers.values())) > 1:
        got = ", ".join(f"{n} of {name}" for name, n in numbers.items())
        raise ValueError(
            f"{' and '.join(numbers)} must have as many entries as there are snippets, got {got}."
        )
    return next(iter(numbers.values()))


def _cells(estimator, given, n):
    """Genre and period of each snippet."""
    genre = genre_indices(estimator, given["genres"], n)
    period = period_indices(estimator, given["times"], n)
    for name, index in (("genres", genre), ("times", period)):
        if index is None:
            raise ValueError(f"{name} must be given, as fit was given several of them, got None.")
    return genre, period


def _groups_of(estimator, by, labels, genre, period):
    """Labels of the groups, and that of each snippet."""
    by = labels if by is None else check_units(by, len(genre), "snippets")
    if by is not None:
        return np.unique(by, return_inverse=True)
    periods, genres = estimator.periods_.labels, estimator.genres_
    found, index = np.unique(np.column_stack([genre, period]), axis=0, return_inverse=True)
    if genres is None or len(genres) == 1:
        return np.array([str(periods[t]) for _, t in found]), index.ravel()
    return np.array([f"{genres[g]}, {periods[t]}" for g, t in found]), index.ravel()


def _draw(estimator, cells, counts, n_groups, rng):
    """Snippets by sense in each group, a draw of them for each of the posterior."""
    posterior = estimator.posterior_
    genre, period, of_work, seen, group = cells.T
    prevalence = posterior.flat("prevalence")
    n_draws, n_senses = len(prevalence), prevalence.shape[-1]
    check_memory(8 * n_draws * n_groups * n_senses, "Draws of shares", "Use fewer groups.")
    out = np.zeros((n_draws, n_groups, n_senses))
    n_works = of_work.max() + 1
    told = estimator.units_ is not None
    if told:
        phi, effects, size = (posterior.flat(name) for name in ("phi", "unit_effects", "unit_sd"))
    for s in range(n_draws):
        proba = np.asarray(prevalence[s, genre, period], dtype=float)
        if told:
            new = size[s] * rng.standard_normal((n_works, n_senses))
            added = np.where(seen[:, None] < 0, new[of_work], effects[s, seen])
            proba = softmax(phi[s, genre, period].astype(float) + added, axis=1)
        proba /= proba.sum(axis=1, keepdims=True)
        np.add.at(out[s], group, rng.multinomial(counts, proba))
    return out

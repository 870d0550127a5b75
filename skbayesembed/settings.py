"""One question over several settings: how far answers depend on choices of the analyst."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.parallel import Parallel, delayed

from .common.checks import check_jobs
from .corpus.text import materialise
from .posterior.tables import Column, Table

# Letters of a note that are printed.
_NOTE = 60


@dataclass(frozen=True, repr=False, eq=False)
class OverSettings(Table):
    """Answers to one question, a row for each setting, or for each entry of its answer.

    `plotting.ForestDisplay.from_result` draws it.

    Attributes
    ----------
    params : list of dict of length n_rows
        Parameters of each row's setting.
    entries : list of str of length n_rows
        What of an answer the row is about; empty where an answer is one number.
    mean : ndarray of shape (n_rows,)
        NaN where a setting failed.
    interval : ndarray of shape (n_rows, 2)
        NaN where a setting failed or its answer has no interval.
    notes : list of str of length n_rows
        Why a setting failed, or the first warning of its fit.
    title : str or None
        Of the question.
    prob : float or None
        Probability of the intervals, where the answers have one.
    """

    params: list[dict[str, Any]]
    entries: list[str]
    mean: np.ndarray
    interval: np.ndarray
    notes: list[str]
    title: str | None
    prob: float | None

    @property
    def settings(self) -> list[str]:
        """Parameters of each row as text, a list of str."""
        return [", ".join(f"{k}={_brief(v)}" for k, v in one.items()) for one in self.params]

    def _columns(self):
        entries = (
            [Column("entry", self.entries, ("entry",), left=True)] if any(self.entries) else []
        )
        notes = [note if len(note) <= _NOTE else note[:_NOTE] + " ..." for note in self.notes]
        head = "interval" if self.prob is None else f"{100 * self.prob:g} % interval"
        shown = [Column("note", notes, (), left=True)] if any(notes) else []
        return [
            Column("setting", self.settings, ("setting",), left=True),
            *entries,
            Column("mean", self.mean, ("mean",)),
            Column(head, self.interval, ("low", "high"), left=True),
            *shown,
        ]

    def _series(self):
        names = list(dict.fromkeys(name for one in self.params for name in one))
        values = {name: np.array([str(one.get(name)) for one in self.params]) for name in names}
        return {**super()._series(), **values, "note": np.array(self.notes, dtype=object)}

    def _title(self):
        return self.title

    def _notes(self):
        known = np.isfinite(self.mean)
        failed = len({str(p) for p, k in zip(self.params, known, strict=True) if not k})
        lines = []
        for entry in dict.fromkeys(self.entries):
            here = known & (np.array(self.entries) == entry)
            if np.count_nonzero(here) > 1:
                name = f"{entry}: " if entry else ""
                low, high = self.mean[here].min(), self.mean[here].max()
                shared = self.interval[here, 0].max() <= self.interval[here, 1].min()
                overlap = "share a value" if shared else "share no value"
                of = f"; all {np.count_nonzero(here)} intervals {overlap}"
                of = of if np.isfinite(self.interval[here]).all() else ""
                lines.append(f"({name}estimates from {low:.3f} to {high:.3f}{of})")
        return lines + ([f"({failed} failed: see the notes)"] if failed else [])


def _brief(value):
    return value if isinstance(value, str | int | float | bool | None) else type(value).__name__


def over_settings(
    estimator: Any,
    X: Any,
    question: Callable[[Any], Any],
    grid: Any,
    *,
    n_jobs: int | None = None,
    **fit_params: Any,
) -> OverSettings:
    """Ask one question of fits with several settings.

    Parameters
    ----------
    estimator : estimator
        Any of this package, or a pipeline with one. Not fitted and not changed.
    X : documents or counts
        As ``fit`` takes them.
    question : callable
        ``question(fitted estimator)``: an answer with ``mean`` and ``interval``, numbers or one
        number for each of several entries (as of ``similarity``, ``drift``, ``project``,
        `regress`), or a number.
    grid : dict of str to list, or list of dict
        Values of parameters, as of scikit-learn's ``ParameterGrid``; ``random_state`` among them
        tells how far the seed decides.
    n_jobs : int or None, default=None
        Fits at a time, in processes.
    **fit_params : object
        For ``fit``: ``units``, ``times`` and so on.

    Returns
    -------
    OverSettings
        A table. A setting whose fit or answer fails has a row with the reason.

    Raises
    ------
    TypeError
        If ``question`` cannot be called.
    ValueError
        If ``grid`` is empty or names a parameter that the estimator has not.

    Notes
    -----
    Settings are choices, not a sample: the spread of answers over them is no standard error, and
    none of it is in an interval. What holds over all reasonable ones is worth reporting.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS, over_settings
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    >>> ask = lambda fitted: fitted.similarity("cat", "dog")
    >>> table = over_settings(model, texts, ask, {"n_components": [2, 3], "window": [2, 5]})
    >>> len(table), table.params[0]
    (4, {'n_components': 2, 'window': 2})
    """
    if not callable(question):
        raise TypeError(
            f"question must be a function of a fitted estimator, got {type(question).__name__}: "
            "for example lambda model: model.similarity('war', 'peace')."
        )
    check_jobs(n_jobs)
    settings = list(ParameterGrid(grid))
    if not settings or not any(settings):
        raise ValueError(f"grid must have a value for one parameter or more, got {grid!r}.")
    for params in settings:
        clone(estimator).set_params(**params)
    X = materialise(X)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_ask)(clone(estimator).set_params(**params), X, question, fit_params)
        for params in settings
    )
    rows = [
        (params, *row, note)
        for params, (answers, note, *_) in zip(settings, found, strict=True)
        for row in answers
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    titles, probs, sources = ({one[i] for one in found if one[i] is not None} for i in (2, 3, 4))
    table = OverSettings(
        columns[0],
        columns[1],
        np.array(columns[2], dtype=float),
        np.array(columns[3], dtype=float).reshape(-1, 2),
        columns[4],
        titles.pop() if len(titles) == 1 else None,
        probs.pop() if len(probs) == 1 else None,
    )
    return table._resting_on(sources.pop()) if len(sources) == 1 else table


def _ask(estimator, X, question, fit_params):
    """Rows (entry, mean, interval) of an answer, a note, its title, probability and source."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = question(estimator.fit(X, **fit_params))
        rows = _rows_of(answer)
    # whatever a setting fails by is what is to be told of it
    except Exception as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        return [("", np.nan, (np.nan, np.nan))], f"{type(error).__name__}: {text}", *[None] * 3
    note = str(caught[0].message) if caught else ""
    return rows, note, *(getattr(answer, name, None) for name in ("title", "prob", "source"))


def _rows_of(answer):
    """Entries of an answer: their names, means and intervals."""
    mean = np.asarray(getattr(answer, "mean", answer), dtype=float)
    if mean.ndim > 1:
        raise TypeError(
            f"question must answer with one number or a row of them, got shape {mean.shape}"
        )
    interval = getattr(answer, "interval", None)
    if interval is None:
        interval = np.full((*mean.shape, 2), np.nan)
    names = [""] if mean.ndim == 0 else _names_of(answer, mean.size)
    ends = np.asarray(interval, dtype=float).reshape(-1, 2).tolist()
    return list(zip(names, mean.reshape(-1).tolist(), ends, strict=True))


def _names_of(answer, n):
    for name in ("terms", "words"):
        if np.shape(getattr(answer, name, None)) == (n,):
            return [str(label) for label in getattr(answer, name)]
    for labels in getattr(answer, "axes", {}).values():
        if len(labels) == n:
            return [str(label) for label in labels]
    return [str(i) for i in range(n)]

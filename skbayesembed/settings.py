"""One question over several settings: how far answers depend on choices of the analyst."""

from __future__ import annotations

import copy
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .common.checks import check_jobs
from .common.trial import duration
from .common.warnings import muted, note_user
from .corpus.text import materialise
from .posterior.deciding import surely
from .posterior.sentences import capital, ended, interval_in_words, joined, rounded, sure_of
from .posterior.tables import Column, Table, dashed

# Entries of a sequence that are printed, and how answers are called that the prior would give.
_MOST_ENTRIES, _NO_DATA = 3, "no data"
# Entries that the line on intervals names.
_FEW_ENTRIES = 4
# Digits after the point of numbers in sentences, at least, where all are below the second.
_LEAST_DIGITS, _ONE_DIGIT = 2, 10.0
# Letters of a note that are printed, and what notes that are told once may differ by.
_NOTE, _NUMBER = 160, re.compile(r"[\d.,]*\d")
# Seconds from which on each setting that begins is told of.
_PATIENCE = 20.0
# Seconds from which on it is said how long all fits take, and after the first what is left.
_BRIEF = 5.0
# Below answers of estimators that could know of units, and were asked not to.
_OF_MODEL = "(uncertainty='model': intervals are for these texts alone, not for other units)"
# The note of settings that an interruption left without an answer.
_INTERRUPTED = "interrupted"
# Verdicts on slopes, and what is told before the first fit where the fitted estimator has none.
_SIDES = ("positive", "negative")
_OWN_WITHOUT = (
    "over_settings: the fitted estimator's own answer is 'no data', since the texts have too "
    "little of what was asked; settings that keep the texts and the periods will answer the same"
)
# Parameters with more of which a fit takes longer.
_SIZES = ("n_components", "n_senses", "n_periods", "draws", "warmup", "chains", "window")
# Behind the estimator's own setting.
_OWN = " (own)"
# Probabilities that answers may have, and what of; those of differences have a sign.
_SIGNED = ("prob_increase", "prob_positive")
_PROBABILITIES = {
    **dict.fromkeys(_SIGNED, "P(> 0)"),
    "prob_exceeds": "P(> threshold)",
    "prob_nearest": "P(nearest)",
}


@dataclass(frozen=True, repr=False, eq=False)
class OverSettings(Table):
    """Answers to one question under several settings.

    There is a row for each setting, or for each entry of its answer.

    `plotting.ForestDisplay.from_result` draws it.

    Attributes
    ----------
    params : list of dict of length n_rows
        Parameters of the setting of each row.
    entries : list of str of length n_rows
        Entry of the answer that the row is about; empty if an answer is one number.
    mean : ndarray of shape (n_rows,)
        NaN if the setting failed.
    interval : ndarray of shape (n_rows, 2)
        NaN if the setting failed or its answer has no interval.
    own : ndarray of bool of shape (n_rows,)
        Whether the row has the estimator's own setting, ``(own)`` in print.
    proba : ndarray of shape (n_rows,)
        Probability that comes with the interval: that a change or difference is above zero, a
        distance above its threshold, or a word the nearest. NaN if there is none.
    verdicts : list of str of length n_rows
        Verdict of each answer; empty if it has none.
    notes : list of str of length n_rows
        Why a setting failed, or the first warning of its fit.
    title : str or None
        Title of the question.
    prob : float or None
        Probability of the intervals, if the answers have one.
    proba_of : str or None
        Which entry of the answers ``proba`` is, such as ``"prob_increase"``, if any.
    p_value : ndarray of shape (n_rows,) or None
        Two-sided p-values of slopes; None if the answers have none.
    sentence : str
        The table in words, to be copied.
    sentences : dict of str to str
        The same for each entry of the answers; of answers that are one number there is one, ``""``.
    """

    params: list[dict[str, Any]]
    entries: list[str]
    mean: np.ndarray
    interval: np.ndarray
    own: np.ndarray
    proba: np.ndarray
    verdicts: list[str]
    notes: list[str]
    title: str | None
    prob: float | None
    proba_of: str | None
    p_value: np.ndarray | None = None

    @property
    def settings(self) -> list[str]:
        """Parameters of each row as text, a list of str."""
        texts = self._texts(_MOST_ENTRIES)
        if len(set(texts)) < len({str(one) for one in self.params}):
            texts = self._texts(None)
        return [text + _OWN * own for text, own in zip(texts, self.own.tolist(), strict=True)]

    def _texts(self, most):
        """Parameters of each row, of sequences up to so many entries; all without ``most``."""
        return [", ".join(f"{k}={_brief(v, most)}" for k, v in one.items()) for one in self.params]

    @property
    def sentences(self) -> dict[str, str]:
        """Each entry of the answers in words, to be copied, by its name."""
        # settings that failed have no entries
        entries = [entry for entry in dict.fromkeys(self.entries) if entry] or [""]
        return {entry: self._in_words(entry) for entry in entries}

    @property
    def sentence(self) -> str:
        """The table in words, to be copied."""
        return " ".join(self.sentences.values())

    def _in_words(self, entry):
        known = np.isfinite(self.mean)
        here = np.flatnonzero(known & (np.array(self.entries) == entry))
        without = np.array([self.verdicts[row] == _NO_DATA for row in here], bool)
        rows, n = here[~without], len({str(one) for one in self.params})
        over = f"{_number(n, 'setting')} ({self._values()})"
        left_out = [("without an answer", n - here.size), ("with too few data", without.sum())]
        left_out = [f"{_number(k, 'setting')} {why}" for why, k in left_out if k]
        text = f"Over {over}{self._range(rows, entry)}" if rows.size else f"None of {over} answers"
        # a line on changes is of several
        told = self._decided(rows) if rows.size > 1 else []
        parts = [text, capital("; ".join(told))] if told else [text]
        parts += [f"Left out: {joined(left_out)}"] if left_out and rows.size else []
        return ended(". ".join(parts), self.source, several=True)

    def _range(self, rows, entry):
        """From where to where estimates lie, and what the own setting gives, clauses."""
        mean, interval = self.mean[rows], self.interval[rows]
        size = np.max(np.abs([*mean, *interval[np.isfinite(interval)]]))
        least = _LEAST_DIGITS if size < _ONE_DIGIT else 0

        def shown(*values):
            # as many digits as the largest number of all has
            return rounded([*values, size], least=least)[:-1]

        of = f" for {entry!r}" if entry else ""
        if self.title is not None:
            title = self.title.replace(", less ", " less the ")
            of = f"{of} ({title})" if entry else f" of the {title}"
        ends = list(dict.fromkeys(shown(mean.min(), mean.max())))
        where = "is" if len(ends) == 1 else "lies between"
        shared = self._shared(rows, lambda value: shown(value)[0]) if rows.size > 1 else ""
        if self.prob is not None:
            shared = shared.replace("intervals", f"of the {100 * self.prob:g}% intervals")
        text = f", the estimate{of} {where} {' and '.join(ends)}{shared}"
        mine = rows[self.own[rows]]
        if not mine.size or rows.size == 1:
            return text
        value, (low, high) = self.mean[mine[0]], self.interval[mine[0]]
        own = f". With our own setting ({self._values(mine)}) it is {shown(value)[0]}"
        if self.prob is None or not np.isfinite([low, high]).all():
            return f"{text}{own}"
        return f"{text}{own} ({interval_in_words(*shown(low, high), self.prob)})"

    def _values(self, rows=None):
        """Values of each parameter, in some rows or all, as in ``"window 2, 5; draws 100"``."""
        found: dict[str, list] = {}
        for one in self.params if rows is None else [self.params[row] for row in rows]:
            for name, value in one.items():
                found.setdefault(name, []).append(_brief(value, _MOST_ENTRIES))
        return "; ".join(f"{name} {_in_order(values)}" for name, values in found.items())

    def _columns(self):
        without = np.array([verdict == _NO_DATA for verdict in self.verdicts], dtype=bool)
        ends = "low", "high"
        entries = (
            [Column("entry", self.entries, ("entry",), left=True)] if any(self.entries) else []
        )
        head = "interval" if self.prob is None else f"{100 * self.prob:g} % interval"
        more = []
        if self.proba_of is not None:
            head_of = _PROBABILITIES[self.proba_of]
            proba = np.where(without, np.nan, self.proba)
            more = [Column(head_of, proba, (self.proba_of,), self._chances)]
        if any(self.verdicts):
            shown = [verdict or "-" for verdict in self._surely()]
            more.append(Column("verdict", shown, ("verdict",), left=True))
        marks = self._marks()
        if marks:
            shown = [f"({marks[_NUMBER.sub('', note)]})" if note else "" for note in self.notes]
            more.append(Column("note", shown, (), left=True))
        return [
            Column("setting", self.settings, ("setting",), left=True),
            *entries,
            Column("mean", np.where(without, np.nan, self.mean), ("mean",), dashed(".3f")),
            Column(head, np.where(without[:, None], np.nan, self.interval), ends, left=True),
            *more,
        ]

    def _surely(self):
        """Verdicts in print, as those of answers are."""
        found = {"interval": self.interval, "verdict": self.verdicts}
        said = surely(found | {self.proba_of: self.proba})
        if self.p_value is not None:
            only = np.isfinite(self.p_value) & ~sure_of(self.p_value)
            only &= np.isin(self.verdicts, _SIDES)
            said = np.where(only, "probably " + said, said)
        return said.tolist()

    def _marks(self):
        """Numbers of notes, of those that differ by more than their figures."""
        texts = dict.fromkeys(_NUMBER.sub("", note) for note in self.notes if note)
        return {text: number for number, text in enumerate(texts, 1)}

    def _marked(self):
        """Each note once, with its number, a list of texts."""
        lines = []
        for text, number in self._marks().items():
            alike = [note for note in self.notes if _NUMBER.sub("", note) == text]
            shown = alike[0] if len(alike[0]) <= _NOTE else alike[0][:_NOTE] + " ..."
            more = " [other figures in other rows]" if len(set(alike)) > 1 else ""
            lines.append(f"({number}) {shown}{more}")
        return lines

    def _series(self):
        names = list(dict.fromkeys(name for one in self.params for name in one))
        values = {name: np.array([str(one.get(name)) for one in self.params]) for name in names}
        notes = np.array(self.notes, dtype=object)
        # printed without what the prior alone says
        whole = dict(zip(("mean", "low", "high"), (self.mean, *self.interval.T), strict=True))
        whole |= {} if self.proba_of is None else {self.proba_of: self.proba}
        whole |= {} if self.p_value is None else {"p_value": self.p_value}
        return {**super()._series(), **whole, **values, "own": self.own, "note": notes}

    def _title(self):
        return self.title

    def _notes(self):
        known = np.isfinite(self.mean)
        without = [(str(p), note) for p, k, note in
                   zip(self.params, known, self.notes, strict=True) if not k]  # fmt: skip
        stopped = {params for params, note in without if note == _INTERRUPTED}
        failed = len({params for params, _ in without} - stopped)
        lines = []
        for entry in dict.fromkeys(self.entries):
            here = np.flatnonzero(known & (np.array(self.entries) == entry))
            without = np.array([self.verdicts[row] == _NO_DATA for row in here], bool)
            name = f"{entry}: " if entry else ""
            if np.count_nonzero(~without) > 1:
                lines += [f"({name}{line})" for line in self._over(here[~without])]
            if without.any():
                of = f"{np.count_nonzero(without)} of {_number(here.size, 'setting')}"
                lines.append(
                    f"({name}no data in {of}: a dash, and left out of estimates and verdicts)"
                )
        lines += self._marked()
        if any(len(note) > _NOTE for note in self.notes):
            lines.append("(notes are cut: the attribute notes has them whole)")
        lines += [f"({failed} failed: see the notes)"] if failed else []
        lines += [f"({len(stopped)} not run to the end)"] if stopped else []
        return lines + super()._notes()

    def _over(self, rows):
        """What an answer is over the rows of several settings, a list of texts."""
        mean = self.mean[rows]
        # distances are held against a threshold each, on a scale of its own
        if self.proba_of == "prob_exceeds":
            return self._decided(rows)
        line = f"estimates from {mean.min():.3f} to {mean.max():.3f}"
        return [f"{line}{self._shared(rows, '{:.3f}'.format)}", *self._decided(rows)]

    def _shared(self, rows, shown):
        """What all intervals of some rows contain, a clause; empty where one has none."""
        n, interval = rows.size, self.interval[rows]
        if self.proba_of == "prob_exceeds":
            # distances of settings are on scales of their own
            said = ", ".join(f"{self.settings[row]}: {self.verdicts[row]}" for row in rows)
            return f"; each setting has a scale and a threshold of its own ({said})"
        if not np.isfinite(interval).all():
            return ""
        low, high = interval[:, 0].max(), interval[:, 1].min()
        if low > high:
            return f"; no value is in {_all(n, 'interval')}"
        ends = dict.fromkeys((shown(low), shown(high)))
        shared = "the value " if len(ends) == 1 else "the values from "
        return f"; {_all(n, 'interval')} contain {shared}{' to '.join(ends)}"

    def _decided(self, rows):
        """What signs and verdicts are over the rows of several settings, a list of texts."""
        lines, mean = [], self.mean[rows]
        sign = np.sign(mean)
        if np.unique(sign).size > 1:
            lines.append(self._signs(rows, sign))
        elif self.proba_of in _SIGNED:
            lines.append(self._kept(rows, sign, "the sign"))
        verdicts = np.array([self.verdicts[row] for row in rows])
        if np.all(verdicts != ""):
            lines.append(self._kept(rows, verdicts, "the verdict {!r}"))
        return lines

    def _signs(self, rows, sign):
        """In how many of some rows which sign is decided, and whether it is in the own setting."""
        interval, own = self.interval[rows], self.own[rows]
        if not np.isfinite(interval).all():
            return self._kept(rows, sign, "the sign")
        side = np.where(interval[:, 0] > 0, 1, np.where(interval[:, 1] < 0, -1, 0))
        n, plus, minus = rows.size, np.count_nonzero(side > 0), np.count_nonzero(side < 0)
        if not side.any():
            where = "either setting" if n == 2 else f"any of the {n} settings"
            every = "both" if n == 2 else "all"
            return f"the sign is not decided in {where}: {every} intervals contain zero"
        found = ("not decided", "positive", "negative")
        mine = f" (own: {found[side[own][0]]})" if own.any() else ""
        counts = zip(found[1:], (plus, minus), strict=True)
        both = ", ".join(f"{called} in {k}" for called, k in counts if k)
        return f"the sign is decided in {plus + minus} of {n} settings{mine}: {both}"

    def _kept(self, rows, values, called):
        """In how many of some rows a value is another than with the estimator's own setting.

        Or than it is most often, where the own setting has no answer.
        """
        own = values[self.own[rows]]
        found, counts = np.unique(values, return_counts=True)
        held = own[0] if own.size else found[np.argmax(counts)]
        called = called.format(str(held))
        if found.size == 1:
            return f"{called} is the same in {_all(rows.size, 'setting')}"
        if own.size and rows.size == 2:
            return f"{called} changes in the other setting"
        of = f"the {rows.size - own.size} other" if own.size else f"{rows.size}"
        return f"{called} changes in {np.count_nonzero(values != held)} of {of} settings"


def _in_order(values):
    """Values of a parameter as text, each once, numbers by size."""
    if all(isinstance(value, int | float) for value in values):
        values = sorted(values)
    return ", ".join(dict.fromkeys(map(str, values)))


def _brief(value, most):
    """A value of a parameter, of sequences up to so many entries; of other objects their type."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        shown = [str(_brief(one, most)) for one in value]
        if most is not None and len(shown) > most:
            shown[most - 1 : -1] = [".."]
        return f"[{', '.join(shown)}]"
    plain = isinstance(value, str | int | float | bool | range | None)
    return value if plain else type(value).__name__


def over_settings(
    estimator: Any,
    X: Any,
    question: Callable[[Any], Any],
    grid: Any,
    *,
    own: bool | str = True,
    n_jobs: int | None = None,
    **fit_params: Any,
) -> OverSettings:
    """Ask one question of fits with several settings, to see whether its answer depends on them.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package, or a pipeline with one. It is neither fitted nor changed.
    X : documents or counts
        As in ``fit``.
    question : callable
        ``question(fitted estimator)`` returns a number, or an answer whose ``mean`` and
        ``interval`` have one number or one for each of several entries (as of ``similarity``,
        ``drift``, ``project``, `regress`). Its ``prob_increase``, ``prob_positive``,
        ``prob_exceeds`` or ``prob_nearest``, and its ``verdict``, go into the table.
    grid : dict of str to list, or list of dict
        Values of parameters, as in scikit-learn's ``ParameterGrid``. Include ``random_state`` to
        see how much depends on the seed.
    own : bool or "fitted", default=True
        Whether to include the estimator's own setting if it is not in the grid, as the first row.
        Its row is marked as ``(own)``, and the lines below the table compare signs and verdicts
        with it. ``"fitted"`` asks the estimator itself and saves that fit; it must have been fitted
        to the same data with its current parameters.
    n_jobs : int or None, default=None
        Number of fits at a time, in processes.
    **fit_params : object
        Passed to ``fit``: ``units``, ``times`` and so on.

    Returns
    -------
    OverSettings
        A table. A setting whose fit or answer fails has a row with the reason. Lines below it say
        how far apart answers are, and in how many settings the verdict, and the sign of an answer
        that may have either, differ from those of the own setting. Answers with the verdict
        ``"no data"`` are counted in a separate line and left out of these.

        Ctrl-C ends it early: settings that were finished keep their rows, the others have the note
        ``"interrupted"``.

    Raises
    ------
    TypeError
        If ``question`` cannot be called.
    ValueError
        If ``grid`` is empty or names a parameter that the estimator does not have, or ``own`` is
        not allowed.
    NotFittedError
        If ``own="fitted"`` and the estimator is not.
    KeyboardInterrupt
        If interrupted before any setting was finished.

    Notes
    -----
    Settings are choices, not a sample: the spread of answers over them is not a standard error, and
    no interval includes it. What holds for all reasonable settings is worth reporting.

    Notes say how many fits there will be, about how long they take if that is more than some
    seconds (by a trial of the first setting, which takes a fraction of a fit; not for pipelines),
    and, after the first fit, about how long the others take if they are like it. First questions
    with intervals by units are included.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS, over_settings
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    >>> ask = lambda fitted: fitted.similarity("cat", "dog")
    >>> table = over_settings(model, texts, ask, {"n_components": [2, 3], "window": [2, 5]})
    >>> len(table), table.params[0], table.settings[1]
    (4, {'n_components': 2, 'window': 2}, 'n_components=2, window=5 (own)')
    """
    if not callable(question):
        raise TypeError(
            f"question must be a function of a fitted estimator, got {type(question).__name__}: "
            "for example lambda model: model.similarity('war', 'peace')."
        )
    check_jobs(n_jobs)
    if not isinstance(own, bool | np.bool_) and not (isinstance(own, str) and own == "fitted"):
        raise ValueError(f"own must be True, False or 'fitted', got {own!r}.")
    if isinstance(own, str):
        check_is_fitted(estimator)
    settings = list(ParameterGrid(grid))
    if not settings or not any(settings):
        raise ValueError(f"grid must have a value for one parameter or more, got {grid!r}.")
    for params in settings:
        clone(estimator).set_params(**params)
    settings, of_own = _with_own(estimator, settings, bool(own))
    X = materialise(X)
    found = _answers(estimator, settings, of_own, own, n_jobs, X, question, fit_params)
    rows = [
        (params, mine, note, *row)
        for params, mine, (answers, note, *_) in zip(settings, of_own, found, strict=True)
        for row in answers
    ]
    params, mine, notes, entries, mean, *more = map(list, zip(*rows, strict=True))
    interval, proba, p_value, verdicts = more
    titles, probs, sources, names = (_common(one[i] for one in found) for i in (2, 3, 4, 5))
    proba = np.array(proba, dtype=float) if names is not None else np.full(len(rows), np.nan)
    interval = np.array(interval, dtype=float).reshape(-1, 2)
    table = OverSettings(
        params, entries, np.array(mean, dtype=float), interval, np.array(mine), proba, verdicts,
        notes, titles, probs, names, None if np.isnan(p_value).all() else np.array(p_value),
    )  # fmt: skip
    asides = [_OF_MODEL] if getattr(estimator, "uncertainty", None) == "model" else []
    return table if sources is None else table._resting_on(sources, asides)


def _answers(estimator, settings, of_own, own, n_jobs, X, question, fit_params):
    """What `_ask` finds of each setting, a list; the first fit tells how long others take."""
    fitted = of_own.index(True) if isinstance(own, str) else None
    rest = [i for i in range(len(settings)) if i != fitted]
    n, workers = len(rest), effective_n_jobs(n_jobs)
    first = clone(estimator).set_params(**settings[rest[0]]) if n > 1 else None
    took = _expected(first, X, fit_params) * -(-n // workers)
    about = f", about {duration(took)}" if took > _BRIEF else ""
    found = {}
    if fitted is not None:
        # a shallow copy: a question may set parameters
        found[fitted] = _ask(copy.copy(estimator), None, question, None, None)
        if all(row[-1] == _NO_DATA for row in found[fitted][0]):
            note_user(_OWN_WITHOUT)
    note_user(f"over_settings: {_number(n, 'fit')}{about}")
    begun, larger = time.monotonic(), _larger([settings[i] for i in rest])

    def job(place):
        one = clone(estimator).set_params(**settings[rest[place]])
        turn = _Turn(place, n, begun, workers, larger)
        return delayed(_placed)(rest[place], one, X, question, fit_params, turn)

    try:
        for i, answers in _parallel(n_jobs)(map(job, range(n))):
            found[i] = answers
    except KeyboardInterrupt:
        if not found:
            raise
        note_user(f"over_settings: interrupted after {len(found)} of {len(settings)} settings")
    return [found.get(i) or _without_answer(_INTERRUPTED) for i in range(len(settings))]


def _parallel(n_jobs):
    """joblib's `Parallel`, which returns each result once it is there if the backend can do so."""
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        return Parallel(n_jobs=n_jobs)


def _placed(place, *given):
    return place, _ask(*given)


def _larger(settings):
    """Of which parameters some settings have more than the first, so that they take longer."""
    first, found = settings[0], []
    for name, value in first.items():
        if name.rpartition("__")[2] not in _SIZES or not isinstance(value, int):
            continue
        others = (one.get(name) for one in settings)
        if any(isinstance(other, int) and other > value for other in others):
            found.append(name)
    return joined(found, "or") if found else ""


def _expected(estimator, X, fit_params):
    """Seconds of a fit with its first question, by a short trial; zero where there is none.

    Pipelines and other estimators that are not of this package have no trial.
    """
    if not hasattr(estimator, "estimate_cost"):
        return 0.0
    try:
        cost = estimator.estimate_cost(X, **fit_params)
    # what a fit would refuse is told of in the row of its setting
    except Exception:
        return 0.0
    first = 0.0 if cost.question is None else np.nan_to_num(cost.question.seconds)
    return cost.seconds + first


def _number(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def _all(n, what):
    return f"both {what}s" if n == 2 else f"all {n} {what}s"


def _with_own(estimator, settings, wanted):
    """Settings with the estimator's own, first if it is none of them; which of them is its own."""
    found = estimator.get_params()
    mine = {name: found[name] for one in settings for name in one}
    of_own = [all(_same(value, mine[k]) for k, value in one.items()) for one in settings]
    if any(of_own) or not wanted:
        return settings, of_own
    return [mine, *settings], [True, *of_own]


def _same(a, b):
    """Whether two values of a parameter are the same, as far as can be told."""
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(np.all(np.equal(a, b)))
    except (TypeError, ValueError):
        return False


def _common(values):
    """What all values are that are not None; None where they are several, or there is none."""
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None


class _Turn(NamedTuple):
    """The number of a fit, how many there are, when the first of them began.

    And how many there are at a time, and of what others have `_larger` values than the first.
    """

    i: int
    n: int
    begun: float
    workers: int
    larger: str


def _ask(estimator, X, question, fit_params, turn):
    """Rows of an answer, a note, its title, probability and source, and what ``proba`` is.

    A row is (entry, mean, interval, proba, p, verdict). What the first fit notes is not told again.
    The ``turn`` is a `_Turn`, None where the estimator is fitted.
    """
    if turn is not None:
        _tell_turn(turn)
    try:
        with warnings.catch_warnings(record=True) as caught, muted(turn is not None and turn.i > 0):
            warnings.simplefilter("always")
            answer = question(estimator if turn is None else _fitted(estimator, X, fit_params))
        rows = _rows_of(answer)
    # whatever a setting fails by is what is to be told of it
    except Exception as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        return _without_answer(f"{type(error).__name__}: {text}")
    if turn is not None:
        _tell_others(turn)
    note = str(caught[0].message) if caught else ""
    about = (getattr(answer, name, None) for name in ("title", "prob", "source"))
    return rows, note, *about, _name_of_probability(answer)


def _fitted(estimator, X, fit_params):
    """The estimator, fitted to the end."""
    fitted = estimator.fit(X, **fit_params)
    last = fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted
    posterior = getattr(last, "posterior_", None)
    # a fit keeps the draws made so far, and ends as if nothing had happened
    if posterior is not None and posterior.attrs.get("interrupted"):
        raise KeyboardInterrupt
    return fitted


def _without_answer(note):
    """What `_ask` finds of a setting that has none."""
    row = "", np.nan, (np.nan, np.nan), np.nan, np.nan, ""
    return [row], note, *[None] * 4


def _tell_turn(turn):
    """How far all settings are, where they take long."""
    gone = time.monotonic() - turn.begun
    if gone > _PATIENCE:
        note_user(f"over_settings: {turn.i} of {turn.n} fits, {duration(gone)}")


def _tell_others(turn):
    """How long the others take, after the first."""
    took = time.monotonic() - turn.begun
    if turn.i > 0 or turn.n == 1 or took <= _BRIEF:
        return
    others = duration(took * -(-(turn.n - 1) // turn.workers))
    longer = f"; those with larger {turn.larger} take longer" if turn.larger else ""
    note_user(f"over_settings: the first took {duration(took)}, the others about {others} if they "
              f"are like it{longer}")  # fmt: skip


def _rows_of(answer):
    """Entries of an answer: names, means, intervals, probabilities, p-values, verdicts."""
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
    proba = _each(getattr(answer, _name_of_probability(answer) or "", np.nan), mean)
    verdict = getattr(answer, "verdict", None)
    verdicts = map(str, _each("" if verdict is None else verdict, mean))
    p = getattr(answer, "p_value", None)
    p = _each(p if np.shape(p) == mean.shape and p is not None else np.nan, mean)
    return list(zip(names, mean.reshape(-1).tolist(), ends, proba, p, verdicts, strict=True))


def _name_of_probability(answer):
    """Which of its probabilities an answer has for each of its entries; None where it has none."""
    shape = np.shape(getattr(answer, "mean", answer))
    names = (name for name in _PROBABILITIES if np.shape(getattr(answer, name, None)) == shape)
    return next((name for name in names if getattr(answer, name, None) is not None), None)


def _each(value, mean):
    """A value for each entry of an answer, a list; one for all where it is one."""
    return np.broadcast_to(value, mean.shape).reshape(-1).tolist()


def _names_of(answer, n):
    for name in ("terms", "words"):
        if np.shape(getattr(answer, name, None)) == (n,):
            return [str(label) for label in getattr(answer, name)]
    for labels in getattr(answer, "axes", {}).values():
        if len(labels) == n:
            return [str(label) for label in labels]
    return [str(i) for i in range(n)]

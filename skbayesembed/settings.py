"""One question over several settings: how far answers depend on choices of the analyst."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .common.checks import check_jobs
from .common.compiling import waiting_time
from .common.interruption import part_of_a_whole
from .common.trial import duration
from .common.warnings import muted, note_user
from .corpus.kinds import materialise
from .posterior.deciding import NO_DATA, told_of_skew
from .posterior.over_settings import INTERRUPTED, OverSettings, number_of
from .posterior.sentences import joined
from .posterior.settings_rows import in_a_row, name_of_probability, rows_of, without_width
from .posterior.sources import is_by_units, name_of_units, sampled_units, source_of

# Seconds from which on each setting that begins is told of.
_PATIENCE = 20.0
# Seconds from which on it is said how long all fits take, and after the first what is left.
_BRIEF = 5.0
# Below answers of estimators that could know of units, and were asked not to.
_OF_MODEL = "(uncertainty='model': intervals are for these texts alone, not for other units)"
# Told before the first fit where the fitted estimator has no answer.
_OWN_WITHOUT = (
    "over_settings: the fitted estimator's own answer is 'no data', since the texts have too "
    "little of what was asked; settings that keep the texts and the periods will answer the same"
)
# The note of a setting whose answer is NaN.
_NO_NUMBER = "The answer is not a number."
# Parameters with more of which a fit takes longer.
_SIZES = ("n_components", "n_senses", "n_periods", "draws", "warmup", "chains", "window")


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
        ``drift``, ``project``, `regress`, ``effects``). Its ``prob_increase``, ``prob_positive``,
        ``prob_exceeds`` or ``prob_nearest``, its ``threshold`` and its ``verdict`` go into the
        table.
    grid : dict of str to list, or list of dict
        Values of parameters, as in scikit-learn's ``ParameterGrid``; a setting counts once. Include
        several numbers for ``random_state`` to see how much depends on the seed.
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
        that may have either, differ from those of the own setting. A verdict with a "probably" is
        counted as the same as without, and the line says so where there are both. Answers
        with the verdict ``"no data"`` are counted in a separate line and left out of these. The
        senses or topics of each setting are matched to those of the own one by the snippets or
        documents they are of: a note says where they have other numbers or are others, and the
        sentence in how many settings. With ``own="fitted"``, names (`DiSCSenseModel.name_senses`,
        `GaussianLDA.name_topics`) go to those that they are matched to, so that ``question`` can
        ask by name.

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
    seconds (by a trial of the setting with the largest sizes, which takes a fraction of a fit; not
    for pipelines; where other work keeps the processors busy, as busy as they were in the trial),
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
    settings = _different(ParameterGrid(grid))
    if not settings or not any(settings):
        raise ValueError(f"grid must have a value for one parameter or more, got {grid!r}.")
    for params in settings:
        _with_params(estimator, params)
    settings, of_own = _with_own(estimator, settings, bool(own))
    X = materialise(X)
    found = _answers(estimator, settings, of_own, own, n_jobs, X, question, fit_params)
    found, of_others = _told_apart(found, of_own)
    rows = [
        (params, mine, others, note, *row)
        for params, mine, others, (answers, note, *_) in zip(
            settings, of_own, of_others, found, strict=True
        )
        for row in answers
    ]
    params, mine, others, notes, entries, mean, *more = map(list, zip(*rows, strict=True))
    interval, errors, proba, p_value, threshold, verdicts = more
    titles, probs, _, names, wholes, units = (_common(one[i] for one in found) for i in range(2, 8))
    sources = [source for one in found for source in one[4]]
    of_units, units_name = units or (None, None)
    # points have no interval that rests on anything
    common = _common([one for one in sources if one != "point"] or sources)
    proba = np.array(proba, dtype=float) if names is not None else np.full(len(rows), np.nan)
    interval = np.array(interval, dtype=float).reshape(-1, 2)
    table = OverSettings(
        params, entries, np.array(mean, dtype=float), interval, np.array(mine), proba, verdicts,
        notes, titles, probs, names, _where_any(p_value), _where_any(threshold),
        _where_any(errors), wholes, of_units, units_name, sources,
    )  # fmt: skip
    each = [one[2] for one in found for _ in one[0]] if titles is None else None
    values = _own_values(estimator, settings)
    what = _common([one[8].what for one in found if one[8] is not None])
    table = replace(table, _own=values, _of_others=np.array(others), _titles=each, _what=what)
    of_model = getattr(_last(estimator), "uncertainty", None) == "model"
    known = set(filter(None, sources)) - {"point"}
    asides = [_OF_MODEL] if of_model and known and "units" not in known else []
    return table._resting_on(common, asides)


def _where_any(values):
    """A column of numbers; None where there are none."""
    return None if np.isnan(values).all() else np.array(values)


def _answers(estimator, settings, of_own, own, n_jobs, X, question, fit_params):
    """What `_ask` finds of each setting, a list; the first fit tells how long others take."""
    fitted = of_own.index(True) if isinstance(own, str) else None
    rest = [i for i in range(len(settings)) if i != fitted]
    n, workers = len(rest), effective_n_jobs(n_jobs)
    params = [settings[i] for i in rest]
    larger, longest = _larger(params), _largest(params)
    # one fit of its own tells how long it takes; beside an older one nothing would have been told
    worth = n > 1 or (n and fitted is not None)
    tried = _with_params(estimator, longest) if worth else None
    took = _expected(tried, X, fit_params) * -(-n // workers)
    most = "at most " if params and longest is not params[0] else ""
    about = f", {most}about {duration(took)} of wall time" if took > _BRIEF else ""
    found = {}
    if fitted is not None:
        # a shallow copy: a question may set parameters
        found[fitted] = _ask(copy.copy(estimator), X, question, fit_params, None)
        if all(row[-1] == NO_DATA for row in found[fitted][0]):
            note_user(_OWN_WITHOUT)
    if n:
        note_user(f"over_settings: {number_of(n, 'fit')}{about}")
    begun = time.monotonic()
    named = None if fitted is None else found[fitted][8]

    def job(place):
        one = _with_params(estimator, settings[rest[place]])
        turn = _Turn(place, n, begun, workers, larger)
        return delayed(_placed)(rest[place], one, X, question, fit_params, turn, named)

    try:
        for i, answers in _parallel(n_jobs)(map(job, range(n))):
            found[i] = answers
    except KeyboardInterrupt:
        if not found:
            raise
        note_user(f"over_settings: interrupted after {len(found)} of {len(settings)} settings")
    return [found.get(i) or _without_answer(INTERRUPTED) for i in range(len(settings))]


def _with_params(estimator, params):
    """A clone with some parameters. Fitted embeddings stay fitted where none of these is theirs."""
    made = clone(estimator)
    for name, value in estimator.get_params().items():
        theirs = any(key == name or key.startswith(f"{name}__") for key in params)
        if name.rpartition("__")[2] == "embedding" and hasattr(value, "posterior_") and not theirs:
            made.set_params(**{name: value})
    return made.set_params(**params)


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
    if not settings:
        return ""
    first, found = settings[0], []
    for name, value in first.items():
        if name.rpartition("__")[2] not in _SIZES or not isinstance(value, int):
            continue
        others = (one.get(name) for one in settings)
        if any(isinstance(other, int) and other > value for other in others):
            found.append(name)
    return joined(found, "or") if found else ""


def _largest(settings):
    """The setting whose fit takes longest, by the product of its `_SIZES`; the first of those."""

    def size(one):
        sizes = (value for name, value in one.items() if name.rpartition("__")[2] in _SIZES)
        return np.prod([value for value in sizes if isinstance(value, int)], dtype=float)

    return max(settings, key=size, default=None)


def _longer(larger):
    """What a time by the first fit leaves out."""
    return f"; those with larger {larger} take longer" if larger else ""


def _expected(estimator, X, fit_params):
    """Seconds of a fit with its first question, by a short trial; zero where there is none.

    They are those by the clock, on processors as busy as they were in the trial.
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
    return (cost.seconds + first) * cost.busy


def _different(settings):
    """Settings without those that came before, a list."""
    found: list = []
    for one in settings:
        again = (
            one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
            for other in found
        )
        if not any(again):
            found.append(one)
    return found


def _with_own(estimator, settings, wanted):
    """Settings with the estimator's own, first if it is none of them; which of them is its own."""
    mine = _own_values(estimator, settings)
    of_own = [all(_same(value, mine[k]) for k, value in one.items()) for one in settings]
    if any(of_own) or not wanted:
        return settings, of_own
    return [mine, *settings], [True, *of_own]


def _own_values(estimator, settings):
    """The estimator's own values of parameters of some settings."""
    found = estimator.get_params()
    return {name: found[name] for one in settings for name in one}


def _same(a, b):
    """Whether two values of a parameter are the same, as far as can be told."""
    if a is b:
        return True
    # a grid may be an array
    a, b = (value.item() if isinstance(value, np.generic) else value for value in (a, b))
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


def _ask(estimator, X, question, fit_params, turn, named=None):
    """What an answer is.

    Rows, a note, its title, probability and the sources of its rows, what ``proba`` is, whole
    title, sampled units, what numbers in it may be of, and of each row a label and one of these.

    A row is (entry, mean, interval, errors of its ends, proba, p, threshold, verdict). What the
    first fit notes is not told again. The ``turn`` is a `_Turn`, None where the estimator is
    fitted. What numbers may be of there, ``named``, gives its names to a new fit.
    """
    if turn is not None:
        _tell_turn(turn)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            muted(turn is not None and turn.i > 0),
            waiting_time() as clock,
        ):
            warnings.simplefilter("always")
            fitted = estimator if turn is None else _fitted(estimator, X, fit_params)
            kinds = _kinds_of(fitted, X, fit_params)
            if named is not None and kinds is not None:
                _last(fitted)._name_kinds(named.names_for(kinds))
            answer = in_a_row(question(fitted))
            took = clock()
        rows = rows_of(answer)
        sources, units = _resting_on(answer, _last(fitted), rows)
    # whatever a setting fails by is what is to be told of it
    except Exception as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        return _without_answer(f"{type(error).__name__}: {text}")
    if turn is not None:
        _tell_others(turn, took)
    # a print is cut: what makes an answer doubtful comes first
    caught.sort(key=lambda one: not issubclass(one.category, ConvergenceWarning))
    texts = [str(one.message) for one in caught]
    # those of a fit that was made before
    before = _warnings_of(_last(fitted)) if turn is None else []
    if all(np.isnan(row[1]) for row in rows):
        texts.append(_NO_NUMBER)
    texts += filter(None, [getattr(answer, "note", "")])
    texts += told_of_skew(getattr(getattr(answer, "_about", None), "asides", ()))
    note = " ".join(dict.fromkeys([*before, *texts]))
    title, prob, whole = (getattr(answer, name, None) for name in ("title", "prob", "_whole"))
    rows = [without_width(row) if source == "point" else row
            for row, source in zip(rows, sources, strict=True)]  # fmt: skip
    probability = name_of_probability(answer)
    of_kinds = getattr(answer, "of_kinds", None)
    return rows, note, title, prob, sources, probability, whole, units, kinds, of_kinds


def _last(estimator):
    """The last step of a pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _resting_on(answer, fitted, rows):
    """What the interval of each row rests on, and the units whose sampling they allow for.

    What the answer says; where it does not, what answers of the fitted estimator rest on.
    """
    units, each = sampled_units(answer), getattr(answer, "sources", None)
    units = None if units == (None, None) else units
    if each is not None:
        return tuple(each), units
    source = getattr(answer, "source", None)
    known = getattr(answer, "interval", None) is not None
    if source is None and known and hasattr(fitted, "posterior_"):
        by_units = is_by_units(fitted)
        sampling = getattr(fitted, "_sampling", None) if by_units else None
        n = None if sampling is None else sampling.n_sampled
        source, units = source_of(fitted, by_units), (n, name_of_units(fitted) if n else None)
    return (source,) * len(rows), units


def _warnings_of(fitted):
    posterior = getattr(fitted, "posterior_", None)
    return [] if posterior is None else (posterior.attrs.get("warnings") or "").splitlines()


def _kinds_of(fitted, X, fit_params):
    """What the numbers of an answer may be of, where an estimator can tell: senses, topics."""
    kinds = getattr(fitted, "_kinds", None)
    if kinds is None:
        return None
    with warnings.catch_warnings():
        # those of reading the data are the fit's
        warnings.simplefilter("ignore")
        try:
            return kinds(X, **fit_params)
        except (KeyError, ValueError):
            # without draws, for one: the answer itself may need none
            return None


def _told_apart(found, of_own):
    """Answers with a note where what they may be of is other than with the own setting.

    Without it, than with the first that has an answer. And which these are, a list of bool.
    """
    known = [i for i, one in enumerate(found) if one[8] is not None]
    own = next((i for i in known if of_own[i]), None)
    first = known[0] if own is None and known else own
    whose = "the first setting" if own is None else "the own setting"
    told, apart = [], []
    for i, (rows, note, *rest) in enumerate(found):
        text, others = "", False
        if i in known and i != first:
            reference, kinds = found[first][8], rest[6]
            text = reference.unlike(kinds, whose)
            # rows that are of one kind each go by those of the first
            aligned = rest[7] is not None and found[first][9] is not None
            rows = _aligned(rows, rest[7], kinds, found[first]) if aligned else rows
            others = bool(text) and not (aligned and reference.alike(kinds))
        told.append((rows, " ".join(filter(None, [text, note])), *rest))
        apart.append(others)
    return told, apart


def _aligned(rows, of_kinds, kinds, first):
    """Rows with the entries of those of the first answer that are of the same kinds."""
    theirs = first[8].matched(kinds)
    called = {of: row[0] for of, row in zip(first[9], first[0], strict=True)}
    out = []
    for (entry, *row), (label, kind) in zip(rows, of_kinds, strict=True):
        entry = called.get((label, theirs[kind]), f"{entry} (of this setting alone)")
        out.append((entry, *row))
    return out


def _fitted(estimator, X, fit_params):
    """The estimator, fitted to the end."""
    with part_of_a_whole():
        return estimator.fit(X, **fit_params)


def _without_answer(note):
    """What `_ask` finds of a setting that has none."""
    row = "", np.nan, *[(np.nan, np.nan)] * 2, *[np.nan] * 3, ""
    return [row], note, None, None, (None,), *[None] * 5


def _tell_turn(turn):
    """How far all settings are, where they take long."""
    gone = time.monotonic() - turn.begun
    if gone > _PATIENCE:
        note_user(f"over_settings: fit {turn.i + 1} of {turn.n} begins, after {duration(gone)}")


def _tell_others(turn, took):
    """How long the others take, after the first, which took so many seconds."""
    if turn.i > 0 or turn.n == 1 or took <= _BRIEF:
        return
    others = duration(took * -(-(turn.n - 1) // turn.workers))
    note_user(f"over_settings: the first took {duration(took)}, the others about {others} if they "
              f"are like it{_longer(turn.larger)}")  # fmt: skip

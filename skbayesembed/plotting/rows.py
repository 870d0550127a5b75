"""Rows of forests: what a figure takes of each table that has rows with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..corpus.design import INTERCEPT
from ..dynamic.verdicts import note_of_changes
from ..posterior.cells import (
    both_amounts,
    bounded,
    cut_lists,
    dashed,
    in_figure,
    p_values,
)
from ..posterior.deciding import NO_DATA, SIGNED, note_on_draws
from ..posterior.naming import named
from ..posterior.over_settings import below_figure, doubtful
from ..posterior.results import Result
from ..posterior.sources import TOO_LITTLE
from ..sgns.neighbours import note_of_figure
from ..sgns.questions.verdicts import few_pairs, only_probably_nearest
from .labels import on_rough, topic_labels


class Rows(NamedTuple):
    """Rows of a forest.

    Attributes
    ----------
    labels : list of str
    mean : ndarray of shape (n_rows,)
    interval : ndarray of shape (n_rows, 2)
    quantity, title : str
        What the horizontal axis and the whole are called.
    beside : list of (str, list of str)
        Columns on the right: a head, and a text for each row.
    zero : float or None
        What answers are held against.
    note : str or None
        What is to be known of the rows, below the axis.
    unmixed : ndarray of bool of shape (n_rows,) or None
        Rows of which draws say nothing but where they are: points without interval, hollow.
    few : ndarray of bool of shape (n_rows,) or None
        Rows of periods with next to no data.
    undecided : ndarray of bool of shape (n_rows,) or None
        Rows of which it is not decided that there is anything, and whose interval does not show it.
    groups : ndarray of shape (n_rows,) or None
        What rows belong to; there are gaps between groups.
    """

    labels: list
    mean: np.ndarray
    interval: np.ndarray
    quantity: str
    title: str | None
    beside: Sequence[tuple[str, list[str]]] = ()
    zero: float | None = None
    note: str | None = None
    unmixed: np.ndarray | None = None
    few: np.ndarray | None = None
    groups: np.ndarray | None = None
    undecided: np.ndarray | None = None


def _zero_within(table):
    """Zero where some of the intervals reach to either side of it, else None."""
    shown = table.interval[np.isfinite(table.interval)]
    return 0.0 if shown.size and shown.min() < 0 < shown.max() else None


def _neighbours(table):
    top = f"P(top {len(table.words)})"
    return "cosine", table._title(), [(top, bounded(table.prob_top))], _zero_within(table)


def _nearer(table):
    head = "P(nearest)"
    return (
        "cosine",
        table._title(),
        [(head, bounded(table.prob_nearest))],
        _zero_within(table),
    )


def _which_is_nearest(table):
    """The verdict of a table of `nearer` below its figure; None where there is none."""
    if table.verdict == "not decided":
        return "not decided which is nearest"
    if table.verdict != "nearest":
        return None
    probably = "probably " if only_probably_nearest(table, table.verdict) else ""
    return f"{probably}nearest: {cut_lists(table.words)[0]}"


def _on_draws(result):
    """What verdicts hang on, below the figure of an answer; None where there is nothing to say."""
    if "verdict" not in result:
        return None
    value, what = (result["threshold"], "the threshold") if "threshold" in result else (0.0, "zero")
    return "; ".join(note[1:-1] for note in note_on_draws(result, value, what)) or None


def _analogies(table):
    return (
        "cosine",
        table._title(),
        [("P(answer)", bounded(table.prob_answer))],
        _zero_within(table),
    )


def _projections(table):
    return (
        f"projection on {in_figure(table.axis)}",
        None if table.period is None else str(table.period),
        [("P(> 0)", bounded(table.prob_positive))],
        0.0,
    )


def _changes(table):
    title = f"most changed, {table.periods[0]} to {table.periods[1]}"
    pairs = both_amounts(table.count_start, table.count_end)
    columns = [
        (f"P(> {table.threshold:.3g})", bounded(table.prob_exceeds)),
        ("known", [f"{known:.2f}" for known in table.known]),
        ("pairs: first, last", pairs),
    ]
    return table._measure(), title, columns, table.threshold


def _topic_effects(table):
    names = topic_labels(table.words, table.names, numbered=False)
    rows = _effects(table, names, "effect on the share of the topic")
    return _with_rough(rows, table, len(names))


def _meaning_effects(table):
    rows = _effects(table, list(table.axes), f"effect on {table.of}")
    undecided = np.zeros((len(table.terms), len(table.axes)), bool)
    undecided[:, 0] = table.undecided
    if not undecided.any():
        return rows
    note = "hollow: not decided whether the vector differs"
    return rows._replace(undecided=undecided.ravel(), note=note)


def _effects(table, names, quantity):
    """Rows of effects of covariates; that of the constant is no effect."""
    terms = [i for i, term in enumerate(table.terms) if term != INTERCEPT]
    terms = terms or list(range(len(table.terms)))
    one = len(terms) == 1
    unmixed, note = _withheld(table, terms)
    p = p_values(table.p_value[terms].ravel())
    return Rows(
        [name if one else f"{table.terms[i]}: {name}" for i in terms for name in names],
        table.mean[terms].ravel(),
        table.interval[terms].reshape(-1, 2),
        quantity,
        str(table.terms[terms[0]]) if one else None,
        [] if unmixed is not None and unmixed.all()
        else [("p", p if unmixed is None else np.where(unmixed, "", p).tolist())],
        0.0,
        note,
        unmixed,
    )  # fmt: skip


def _withheld(table, terms):
    """Effects of some terms without intervals, flat, and what to say of them; None of none."""
    withheld = getattr(table, "withheld", None)
    if withheld is None or not withheld[terms].any():
        return None, None
    return withheld[terms].ravel(), _hollow(table, np.flatnonzero(withheld[terms].any(axis=0)))


def _unmixed(table, n):
    """Which of ``n`` topics have not mixed, and what to say of them; None where all have."""
    which = getattr(table, "unmixed", None)
    if which is None or not len(which):
        return None, None
    return np.isin(np.arange(n), which), _hollow(table, which)


def _hollow(table, topics):
    """What is said of topics without intervals."""
    which = ", ".join(map(str, named(table.names, topics)))
    return f"hollow: chains have not mixed (topic{'s' * (len(topics) > 1)} {which})"


def _topic_sizes(table):
    labels = topic_labels(table.words, table.names)
    unmixed, note = _unmixed(table, len(labels))
    interval = table.interval.reshape(-1, 2)
    about = {"note": note, "unmixed": unmixed}
    rows = Rows(labels, table.share, interval, "share of tokens", None, **about)
    return _with_rough(rows, table, len(labels))


def _with_rough(rows, table, n):
    """Rows whose note names, of ``n`` topics, those with rough intervals."""
    notes = [rows.note] * (rows.note is not None) + on_rough(
        getattr(table, "rough", {}), range(n), table.names
    )
    return rows._replace(note="; ".join(notes) or None)


def _per(table):
    """What the slopes of a regression are for; terms with two values keep their unit."""
    kept = np.asarray(table.scale) == 1.0
    if not table.standardized or kept.all():
        return "per unit of the term"
    more = ", or unit if it has two values" if kept.any() else ""
    return f"per standard deviation of the term{more}"


def _regression(table):
    return Rows(
        list(table.terms),
        table.mean,
        table.interval,
        f"slope of {table.of}, {_per(table)}",
        None,
        [("p", p_values(table.p_value))],
        0.0,
    )


def _association_tests(table):
    columns = [("P(> 0)", bounded(table.prob_positive)), ("p", p_values(table.p_value))]
    about, few = ("effect size (WEAT)", table._title(), columns, 0.0), table.few_pairs
    names, note = table.names.tolist(), "p: one-sided"
    return Rows(names, table.mean, table.interval, *about, note=note, few=few)


# Below distances under several settings.
_OWN_SCALES = "each setting has a scale of its own: compare a distance with its threshold only"
# Of settings whose senses differ from those of the own one.
_OTHER_SENSES = "pale: senses are others there, or have other numbers (see the table's notes)"


def _over_settings(table):
    """Rows of answers; a setting is named once, the own one of many parameters in the note."""
    known = np.flatnonzero(np.isfinite(table.mean))
    settings, notes = list(table.settings), []
    own = {settings[i] for i in known if table.own[i] and len(table.params[i]) > 1}
    if len(own) == 1:
        (whole,) = own
        notes.append(f"own: {whole.removesuffix(' (own)')}")
        settings = ["own" if setting == whole else setting for setting in settings]
    labels = []
    groups = np.array([table.settings[i] for i in known], dtype=object)
    for n, i in enumerate(known):
        entry, again = table.entries[i], n and groups[n] == groups[n - 1]
        labels.append(settings[i] if not entry else entry if again else f"{settings[i]}: {entry}")
    notes += below_figure(table)
    zero = 0.0 if table.proba_of in SIGNED or _is_of_slopes(table) else None
    beside = []
    if table.threshold is not None:
        beside = [("threshold", dashed(".3g")(table.threshold[known]))]
        if table.proba_of == "prob_exceeds":
            beside += [("P(> threshold)", bounded(table.proba[known]))]
            notes.append(_OWN_SCALES)
    # where the table has a dash there is nothing to draw
    without = np.array([table.verdicts[i] == NO_DATA for i in known], dtype=bool)
    if without.any():
        notes.append(f"no point: {TOO_LITTLE}")
    unmixed, others = (_flags(one, known) for one in doubtful(table))
    if unmixed is not None:
        notes.append("hollow, without interval: chains have not mixed")
    if others is not None:
        notes.append(_OTHER_SENSES)
    mean = np.where(without, np.nan, table.mean[known])
    interval = np.where(without[:, None], np.nan, table.interval[known])
    note = "; ".join(notes) or None
    return Rows(
        labels, mean, interval, "estimate", table.title, beside, zero, note, unmixed,
        groups=groups if any(table.entries) else None, undecided=others,
    )  # fmt: skip


def _flags(which, rows):
    """Of some rows, which are; None where none is."""
    return which[rows] if which[rows].any() else None


def _is_of_slopes(table):
    # verdicts of other answers stand beside a probability
    return table.proba_of is None and bool(
        {"positive", "negative", "not decided"} & set(table.verdicts)
    )


# By the name of the class, so that no model needs to be imported for its figure.
_OF_WORDS = {
    "Neighbours": _neighbours,
    "Nearer": _nearer,
    "Analogies": _analogies,
    "Projections": _projections,
    "Changes": _changes,
}
# Tables that are not about words alone.
_OTHERS = {
    "TopicEffects": _topic_effects,
    "MeaningEffects": _meaning_effects,
    "TopicTable": _topic_sizes,
    "Regression": _regression,
    "OverSettings": _over_settings,
    "AssociationTests": _association_tests,
}
# All tables that have a forest.
KINDS = (*_OF_WORDS, *_OTHERS)


def rows_of(result: Any) -> Rows:
    """The `Rows` of a table of words, effects or topics, or of a `Result` with at most one axis.

    Raises
    ------
    TypeError
        For anything else.
    """
    kind = _OF_WORDS.get(type(result).__name__)
    if kind is not None:
        quantity, title, more, zero = kind(result)
        words = cut_lists(result.words)
        looked_for = hasattr(result, "prob_top") or hasattr(result, "prob_answer")
        note = note_of_figure(result) if looked_for else None
        if hasattr(result, "prob_exceeds"):
            note = note_of_changes(result)
        if hasattr(result, "prob_nearest"):
            note = _which_is_nearest(result)
        few = getattr(result, "few_pairs", None)
        return Rows(words, result.mean, result.interval, quantity, title, more, zero, note, few=few)
    kind = _OTHERS.get(type(result).__name__)
    if kind is not None:
        return kind(result)
    if isinstance(result, Result) and {"mean", "interval"} <= set(result) and len(result.axes) < 2:
        labels = next(iter(result.axes.values()), [""])
        mean = np.reshape(result["mean"], -1)
        if len(mean) == len(labels):
            interval = np.reshape(result["interval"], (-1, 2))
            names, title = [str(label) for label in labels], result.title or ""
            few = np.ravel(few_pairs(result))
            # of a change, those of both periods
            few = few if few.size == mean.size else np.full(mean.shape, few.any())
            zero = None if set(SIGNED).isdisjoint(result) else 0.0
            note = _on_draws(result)
            return Rows(names, mean, interval, title, None, zero=zero, note=note, few=few)
    raise TypeError(
        "result must be a table of words (most_similar, nearer, project, analogy, most_changed), "
        "of effects or of topics (effects, topic_info), or an answer with one row for each of some "
        f"words or periods, got {type(result).__name__}."
    )

"""Forests: rows of answers with their intervals, of any table that has them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..corpus.design import INTERCEPT
from ..posterior.naming import named
from ..posterior.results import NO_DATA, Result
from ..posterior.sources import TOO_LITTLE, interval_label
from ..posterior.tables import both_amounts, bounded, p_values
from ..sgns.neighbours import order_note
from .canvas import SMALL, Display, can
from .marks import (
    LINE,
    beside,
    column_width,
    forest,
    forest_height,
    keep_ticks_apart,
    reference,
    row_places,
)


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


def _neighbours(table):
    top = f"P(top {len(table.words)})"
    return "cosine", table._title(), [(top, bounded(table.prob_top))], None


def _nearer(table):
    head = "P(nearest)"
    return (
        "cosine",
        f"nearest to {table.word!r}, of these",
        [(head, bounded(table.prob_nearest))],
        None,
    )


def _analogies(table):
    title = "{!r} is to {!r} as {!r} is to".format(*table.question)
    return "cosine", title, [("P(answer)", bounded(table.prob_answer))], None


def _projections(table):
    return f"projection on {table.axis}", None, [("P(> 0)", bounded(table.prob_positive))], 0.0


def _changes(table):
    title = f"{table.periods[0]} to {table.periods[1]}"
    pairs = both_amounts(table.count_start, table.count_end)
    columns = [
        (f"P(> {table.threshold:.3g})", bounded(table.prob_exceeds)),
        ("known", [f"{known:.2f}" for known in table.known]),
        ("pairs", pairs),
    ]
    return f"{table.distance} distance", title, columns, table.threshold


def _topic_effects(table):
    names = [" ".join(str(words).split()[:_FIRST]) for words in table.words]
    names = names if table.names is None else table.names.tolist()
    return _effects(table, names, "effect on the share of the topic")


def _meaning_effects(table):
    return _effects(table, list(table.axes), "effect on the word's vector")


def _effects(table, names, quantity):
    """Rows of effects of covariates; that of the constant is no effect."""
    terms = [i for i, term in enumerate(table.terms) if term != INTERCEPT]
    terms = terms or list(range(len(table.terms)))
    one = len(terms) == 1
    unmixed, note = _unmixed(table, len(names))
    if unmixed is not None:
        unmixed = np.tile(unmixed, len(terms))
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


def _unmixed(table, n):
    """Which of ``n`` topics have not mixed, and what to say of them; None where all have."""
    which = getattr(table, "unmixed", None)
    if which is None or not len(which):
        return None, None
    name = "topic" if len(which) == 1 else "topics"
    which_called = named(table.names, which)
    return np.isin(np.arange(n), which), (
        f"hollow: chains have not mixed ({name} {', '.join(map(str, which_called))})"
    )


def _topic_sizes(table):
    labels = [f"{k}: {' '.join(words[:_FIRST])}" for k, words in enumerate(table.words)]
    labels = labels if table.names is None else table.names.tolist()
    unmixed, note = _unmixed(table, len(labels))
    interval = table.interval.reshape(-1, 2)
    about = {"note": note, "unmixed": unmixed}
    return Rows(labels, table.share, interval, "share of tokens", None, **about)


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


def _over_settings(table):
    """Rows of answers; a setting is named once, the own one of many parameters in the note."""
    known = np.flatnonzero(np.isfinite(table.mean))
    settings, note = list(table.settings), None
    own = {settings[i] for i in known if table.own[i] and len(table.params[i]) > 1}
    if len(own) == 1:
        (whole,) = own
        note = f"own: {whole.removesuffix(' (own)')}"
        settings = ["own" if setting == whole else setting for setting in settings]
    labels = []
    groups = np.array([table.settings[i] for i in known], dtype=object)
    for n, i in enumerate(known):
        entry, again = table.entries[i], n and groups[n] == groups[n - 1]
        labels.append(settings[i] if not entry else entry if again else f"{settings[i]}: {entry}")
    zero = 0.0 if table.proba_of in _SIGNED or _is_of_slopes(table) else None
    return Rows(
        labels, table.mean[known], table.interval[known], "estimate", table.title, (), zero, note,
        few=np.array([table.verdicts[i] == NO_DATA for i in known], dtype=bool),
        groups=groups if any(table.entries) else None,
    )  # fmt: skip


def _is_of_slopes(table):
    # verdicts of other answers stand beside a probability
    return table.proba_of is None and bool(
        {"positive", "negative", "not decided"} & set(table.verdicts)
    )


# By the name of the class, so that no model needs to be imported for its figure.
_KINDS = {
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
}
# Entries of answers that are differences, with a sign.
_SIGNED = {"prob_increase", "prob_positive"}
# First words of a topic that it is called by.
_FIRST = 3
# Points between the axes and the first column beside them, and up to a title above their heads.
_START, _ABOVE_HEADS = 4.0, 16.0
# Letters of a line of the note below; lines below the axis that forests have room for.
_NOTE, _LABEL_LINES = 34, 2


def rows_of(result: Any) -> Rows:
    """The `Rows` of a table of words, effects or topics, or of a `Result` with at most one axis.

    Raises
    ------
    TypeError
        For anything else.
    """
    kind = _KINDS.get(type(result).__name__)
    if kind is not None:
        quantity, title, more, zero = kind(result)
        words = [str(word) for word in result.words]
        note = order_note(result) if hasattr(result, "prob_top") else None
        if hasattr(result, "prob_exceeds"):
            note = f"dashed: the threshold, {result.threshold:.3g}"
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
            few = np.ravel(result.get("few_pairs", False))
            # of a change, those of both periods
            few = few if few.size == mean.size else np.full(mean.shape, few.any())
            zero = 0.0 if _SIGNED & set(result) else None
            return Rows(names, mean, interval, title, None, zero=zero, few=few)
    raise TypeError(
        "result must be a table of words (most_similar, nearer, project, analogy, most_changed), "
        "of effects or of topics (effects, topic_info), or an answer with one row for each of some "
        f"words or periods, got {type(result).__name__}."
    )


class ForestDisplay(Display):
    """Forest plot: one row per answer, with posterior mean and interval.

    If a word has fewer than 10 uses in a period, or occurs in fewer than 3 of its units, the point
    is hollow and the interval pale: the estimate is what the prior infers from other periods.

    Parameters
    ----------
    result : table or Result
        Returned by `most_similar`, `nearer`, `project`, `analogy`, `most_changed`, `effects`,
        `topic_info`, `regress`, `over_settings`, or any method that returns a `Result`.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Posterior means.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    note_ : str
        What is to be known of the rows, in one line; empty if there is nothing.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import ForestDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> display = ForestDisplay.from_result(model.cooccurrence_proba([("cat", "mat")]))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['cat, mat']
    """

    def __init__(self, result: Any) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: Any, *, note: bool = True, ax: Any = None) -> Self:
        """Show a table or another result.

        Parameters
        ----------
        result : table or Result
        note : bool, default=True
            As in `plot`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        Display

        Raises
        ------
        TypeError
            If the result cannot be shown in rows.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import ForestDisplay, NeighborsDisplay
        >>> table = model.most_similar("cat", 3)
        >>> display = ForestDisplay.from_result(table)
        >>> len(display.ax_.get_yticklabels())
        3

        A display of one kind of table takes that kind:

        >>> display = NeighborsDisplay.from_result(table)
        >>> len(display.ax_.get_yticklabels())
        3
        """
        return cls(result).plot(ax, note=note)

    def plot(self, ax: Any = None, *, note: bool = True) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        note : bool, default=True
            Whether lines below the axis say what is to be known of the rows. Without them,
            ``note_`` has these lines for a caption.

        Returns
        -------
        Display

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import ForestDisplay, NearerDisplay
        >>> table = model.nearer("cat", ["dog", "mat"])
        >>> for kind in (ForestDisplay, NearerDisplay):
        ...     print([label.get_text() for label in kind(table).plot().ax_.get_yticklabels()])
        ['mat', 'dog']
        ['mat', 'dog']
        """
        rows, source = rows_of(self.result), self.result.source
        notes = self._notes(rows)
        self.note_ = "; ".join(notes)
        label = self._label(rows, notes if note else [])
        more = max(0, label.count("\n") + 1 - _LABEL_LINES)
        (axes,) = self._open(ax, forest_height(rows.labels, rows.groups) + LINE * more)
        places = row_places(rows.labels, rows.groups)
        look = {
            "by_lines": True,
            "groups": rows.groups,
            "source": source,
            "hollow": rows.unmixed,
            "few": rows.few,
        }
        made = forest(axes, rows.labels, rows.mean, rows.interval, **look)
        self.points_, self.intervals_ = made
        if rows.zero is not None:
            reference(axes, rows.zero)
        start, size = _START, SMALL
        if not self._owned and rows.labels:
            # that of the rows, in axes of another style
            size = axes.get_yticklabels()[0].get_fontsize()
        for head, texts in rows.beside if source != "point" else ():
            beside(axes, head, texts, start, places, size)
            start += column_width(head, texts, size)
        axes.set_xlabel(label)
        # heads of columns leave a title no room beside them
        crowded = len(rows.beside) > 1 and source != "point"
        if rows.title is not None:
            axes.set_title(rows.title, loc="left", pad=_ABOVE_HEADS if crowded else None)
        self._close()
        if crowded:
            keep_ticks_apart(axes)
        return self

    def _notes(self, rows):
        """What is to be known of the rows, a list of texts."""
        notes = [] if rows.note is None else [rows.note]
        if rows.few is not None and rows.few.any():
            notes.append(f"hollow: {TOO_LITTLE}, what the prior makes of others")
        return notes

    def _label(self, rows, notes):
        """What is written below the axis: the quantity, what intervals rest on, and notes."""
        prob = self.result.prob
        below = "" if prob is None else f"\n{interval_label(prob, self.result.source)}"
        note = "".join("\n" + textwrap.fill(_held_together(note), _NOTE) for note in notes)
        return f"{rows.quantity}{below}{note}"


def _held_together(note):
    """A note whose probabilities are not cut where lines end."""
    return re.sub(r"P\(.*?\) < [\d.]+|top \d+", lambda found: found[0].replace(" ", "\xa0"), note)


class NeighborsDisplay(ForestDisplay):
    """The nearest words of a word, with intervals and the probability of being among the nearest.

    Parameters
    ----------
    result : Neighbours
        Returned by ``most_similar``.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Posterior means.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    note_ : str
        What is to be known of the rows, in one line; empty if there is nothing.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import NeighborsDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> display = NeighborsDisplay.from_estimator(model, "cat", n=3)
    >>> len(display.ax_.get_yticklabels()), display.ax_.get_title("left")
    (3, "nearest to 'cat'")
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        word: Any,
        n: int = 10,
        *,
        period: Any = None,
        prob: float = 0.9,
        note: bool = True,
        ax: Any = None,
    ) -> Self:
        """Show the nearest words of a word.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted.
        word, n, prob
            As in ``most_similar``.
        period : time or label of a period, optional
            Period to show, for a `DynamicSGNS`.
        note : bool, default=True
            As in `ForestDisplay.plot`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        NeighborsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import NeighborsDisplay
        >>> display = NeighborsDisplay.from_estimator(model, "cat", 3)
        >>> len(display.ax_.get_yticklabels())
        3
        """
        can(estimator, "most_similar", cls.__name__)
        return cls(estimator.most_similar(word, n, prob=prob, **at(period))).plot(ax, note=note)


class NearerDisplay(ForestDisplay):
    """Which of several words is nearest to a word.

    Parameters
    ----------
    result : Nearer
        Returned by ``nearer``.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Posterior means.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    note_ : str
        What is to be known of the rows, in one line; empty if there is nothing.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import NearerDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> display = NearerDisplay.from_estimator(model, "cat", ["mat", ["dog", "bone"]])
    >>> sorted(label.get_text() for label in display.ax_.get_yticklabels())
    ['dog, bone', 'mat']
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        word: Any,
        others: Sequence,
        *,
        period: Any = None,
        prob: float = 0.9,
        note: bool = True,
        ax: Any = None,
    ) -> Self:
        """Show the similarities of several words to a word.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted.
        word, others, prob
            As in ``nearer``.
        period : time or label of a period, optional
            Period to show, for a `DynamicSGNS`.
        note : bool, default=True
            As in `ForestDisplay.plot`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        NearerDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import NearerDisplay
        >>> display = NearerDisplay.from_estimator(model, "cat", ["dog", "mat"])
        >>> len(display.ax_.get_yticklabels())
        2
        """
        can(estimator, "nearer", cls.__name__)
        return cls(estimator.nearer(word, others, prob=prob, **at(period))).plot(ax, note=note)


class ProjectionsDisplay(ForestDisplay):
    r"""Where words lie on an axis.

    Parameters
    ----------
    result : Projections
        Returned by ``project``.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Posterior means.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    note_ : str
        What is to be known of the rows, in one line; empty if there is nothing.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import ProjectionsDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> axis = model.axis("cat", "dog")
    >>> ProjectionsDisplay.from_estimator(model, ["mat", "bone"], axis).ax_.get_xlabel()
    'projection on dog -> cat\n90 % interval (sampling of units)'
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        words: Sequence,
        axis: Any,
        *,
        period: Any = None,
        prob: float = 0.9,
        note: bool = True,
        ax: Any = None,
    ) -> Self:
        """Show where words lie on an axis.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted.
        words, axis, prob
            As in ``project``.
        period : time or label of a period, optional
            Period to show, for a `DynamicSGNS`.
        note : bool, default=True
            As in `ForestDisplay.plot`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ProjectionsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import ProjectionsDisplay
        >>> display = ProjectionsDisplay.from_estimator(
        ...     model, ["mat", "bone"], model.axis("cat", "dog")
        ... )
        >>> len(display.ax_.get_yticklabels())
        2
        """
        can(estimator, "project", cls.__name__)
        return cls(estimator.project(words, axis, prob=prob, **at(period))).plot(ax, note=note)


class ChangesDisplay(ForestDisplay):
    """The words that have most probably changed between two periods.

    Parameters
    ----------
    result : Changes
        Returned by ``most_changed``.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Posterior means.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    note_ : str
        What is to be known of the rows, in one line; empty if there is nothing.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import DynamicSGNS
    >>> from skbayesembed.plotting import ChangesDisplay
    >>> old, new = "the tape is in the deck", "the tape is on the box"
    >>> model = DynamicSGNS(1, solver="map", min_count=1, random_state=0)
    >>> model = model.fit([old, new] * 20, times=[1980, 1981] * 20)
    >>> ChangesDisplay.from_estimator(model, n=2, min_pairs=1).ax_.get_title("left")
    '1980 to 1981'
    """

    @classmethod
    def from_estimator(
        cls, estimator: Any, n: int = 10, *, note: bool = True, ax: Any = None, **options: Any
    ) -> Self:
        """Show the words that have most probably changed.

        Parameters
        ----------
        estimator : DynamicSGNS
            Fitted.
        n : int, default=10
            Number of words.
        note : bool, default=True
            As in `ForestDisplay.plot`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.
        **options
            Passed to ``most_changed``: ``start``, ``end``, ``distance``, ``threshold``,
            ``min_pairs``, ``prob``.

        Returns
        -------
        ChangesDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=times)
        >>> from skbayesembed.plotting import ChangesDisplay
        >>> display = ChangesDisplay.from_estimator(model, 3, start=1900, end=1901)
        >>> len(display.ax_.get_yticklabels())
        3
        """
        can(estimator, "most_changed", cls.__name__)
        return cls(estimator.most_changed(n, **options)).plot(ax, note=note)


def at(period):
    """The argument ``period`` where there is one."""
    return {} if period is None else {"period": period}

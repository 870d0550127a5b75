"""Forests: rows of answers with their intervals, of any table that has them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any, Self

from ..posterior.sources import TOO_LITTLE, interval_label
from .canvas import SMALL, Display, can, check_table
from .marks import (
    LINE,
    beside,
    column_width,
    forest,
    forest_height,
    keep_ticks_apart,
    lift_titles,
    reference,
    row_places,
)
from .rows import KINDS, rows_of

# Points between the axes and the first column beside them.
_START = 4.0
# Letters of a line of the note below the axis of axes that are given; of one that has the width of
# a figure, in small text; lines below the axis that forests have room for.
_NOTE, _WIDE_NOTE, _LABEL_LINES = 34, 66, 2
_NOTE_SIZE = 6.5
# What draws tables that a display of one kind of table does not take.
_DRAWN_BY = dict.fromkeys(KINDS, "ForestDisplay.from_result(result) draws it")


class ForestDisplay(Display):
    """Forest plot: one row per answer, with posterior mean and interval.

    If a word has fewer than 10 uses in a period, or occurs in too few of its units (fewer than 3,
    or than all of a period of one or two), the point is hollow and the interval pale: the estimate
    is what the prior infers from other periods.

    Parameters
    ----------
    result : table or Result
        Returned by `most_similar`, `nearer`, `project`, `analogy`, `most_changed`, `weats`,
        `effects`, `topic_info`, `regress`, `over_settings`, or any method that returns a `Result`.

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

    # of a display of one kind of table: its class, what it has in its rows, and how it is made
    _table: tuple[str, str] | None = None

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
            If the result cannot be shown in rows, or is not of the kind that a display of one kind
            of table takes.

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
        if cls._table is not None:
            check_table(result, *cls._table, _DRAWN_BY)
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
        shown = notes if note else []
        label = self._label(rows, shown if ax is not None else [])
        below = _filled(shown, _WIDE_NOTE) if ax is None else ""
        lines = label.count("\n") + 1 + (below.count("\n") + 1 if below else 0)
        height = forest_height(rows.labels, rows.groups) + LINE * max(0, lines - _LABEL_LINES)
        (axes,) = self._open(ax, height)
        places = row_places(rows.labels, rows.groups)
        look = {
            "by_lines": True,
            "groups": rows.groups,
            "source": source,
            "hollow": rows.unmixed,
            "few": rows.few if rows.undecided is None else rows.undecided,
        }
        made = forest(axes, rows.labels, rows.mean, rows.interval, **look)
        self.points_, self.intervals_ = made
        if rows.zero is not None:
            reference(axes, rows.zero)
        start, size = _START, SMALL
        if not self._owned and rows.labels:
            # that of the rows, in axes of another style
            size = axes.get_yticklabels()[0].get_fontsize()
        columns, heads = rows.beside if source != "point" and rows.labels else [], []
        for head, texts in columns:
            heads.append(beside(axes, head, texts, start, places, size)[0])
            start += column_width(head, texts, size)
        if not rows.labels:
            axes.set_xticks([])
        axes.set_xlabel(label)
        if below:
            self.figure_.supxlabel(below, fontsize=_NOTE_SIZE, gid="small")
        if rows.title is not None:
            axes.set_title(rows.title, loc="left")
        self._close()
        if len(heads) > 1:
            keep_ticks_apart(axes)
        lift_titles([axes], [heads], self._owned)
        return self

    def _notes(self, rows):
        """What is to be known of the rows, a list of texts."""
        notes = [] if rows.note is None else [rows.note]
        if not rows.labels and not notes:
            notes = ["no rows"]
        if rows.few is not None and rows.few.any():
            notes.append(f"hollow: {TOO_LITTLE}, inferred from others")
        return notes

    def _label(self, rows, notes):
        """What is written below the axis: the quantity, what intervals rest on, and notes."""
        prob = self.result.prob
        below = (
            ""
            if prob is None
            else f"\n{interval_label(prob, self.result.source, found=self.result)}"
        )
        note = "\n" + _filled(notes, _NOTE) if notes else ""
        return f"{rows.quantity}{below}{note}"


def _filled(notes, letters):
    """Notes in lines of at most so many letters."""
    return "\n".join(textwrap.fill(_held_together(note), letters) for note in notes)


def _held_together(note):
    """A note whose probabilities are not cut where lines end."""
    return re.sub(
        r"P\(.*?\) < [\d.]+|top \d+|\d+ %", lambda found: found[0].replace(" ", "\xa0"), note
    )


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

    _table = "Neighbours", "neighbors, as most_similar"

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

    _table = "Nearer", "similarities, as nearer"

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
    'projection on dog → cat\n90 % interval (sampling of documents)'
    """

    _table = "Projections", "projections, as project"

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
    sentence : str
        The table in words, to be copied, as for a caption.
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
    'most changed, 1980 to 1981'
    """

    _table = "Changes", "changes, as most_changed"

    @property
    def sentence(self) -> str:
        """The table in words, to be copied."""
        return str(self.result.sentence)

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

"""Axes to draw on, and the style of figures: a paper's column wide, eight points, safe colors."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any, Self

import numpy as np

from ..common.checks import check_list, listed
from ..posterior.naming import place_of
from ..posterior.results import Result
from ..posterior.sources import interval_label
from .labels import keep_inside

# Of a figure made here: the width of a column in inches, sizes of text in points.
WIDTH = 3.4
TEXT, SMALL = 8.0, 7.0
# Told apart by colour-blind readers, and in print: Okabe & Ito (2008), the darker first.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, LIGHT = "0.45", "0.85"
LINES = ("-", "--", ":")
# Markers and lines of curves, told apart without colors; dotted is of few data.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_CURVES = ("-", "--", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (3, 1)))
# Letters of a label that has room beside another.
SHORT = 18


def styles():
    """Colors and line styles of one line after another, pairs; no two of the first 21 alike."""
    return cycle([(color, line) for line in LINES for color in COLORS])


def curves():
    """Color, line style and marker of one curve after another, told apart in gray as well."""
    return zip(cycle(COLORS), cycle(_CURVES), cycle(_MARKERS), strict=False)


def pyplot(name):
    """``matplotlib.pyplot``, for the display called ``name``.

    Raises
    ------
    ImportError
        If matplotlib, in the extra ``plot``, is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{name}.plot needs matplotlib: pip install skbayesembed[plot]"
        ) from error
    return plt


def can(estimator, method, display):
    """Check that an estimator has what a display shows.

    Raises
    ------
    TypeError
        If it does not.
    """
    if not hasattr(type(estimator), method):
        raise TypeError(
            f"{display} needs an estimator with {method}, got {type(estimator).__name__}."
        )


def check_table(result, kind, what, drawn_by=None):
    """Check that a result is the table, of the class called ``kind``, that a display shows.

    ``what`` are its rows, and how it is made; ``drawn_by`` what draws some other tables, by class.

    Raises
    ------
    TypeError
        If it is not.
    """
    # by the name of the class, so that no model needs to be imported for its figure
    got = type(result).__name__
    if got != kind:
        other = (drawn_by or {}).get(got, "")
        raise TypeError(
            f"result must be a table of {what} returns it, got {got}{other and f': {other}'}."
        )


class Display:
    """Base of all displays.

    A display that created its own figure draws there again while the figure is open.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    axes_ : ndarray of Axes of shape (n_axes,)
    """

    figure_: Any
    ax_: Any
    axes_: np.ndarray

    def plot(self, ax: Any = None) -> Self:
        """Draw, on new axes or those given."""
        raise NotImplementedError

    def _open(self, ax, height, n_rows=1, n_columns=1, *, width=WIDTH, **shared):
        """Axes to draw on, an array, noted with their figure: new ones unless given."""
        n = n_rows * n_columns
        plt = pyplot(type(self).__name__)
        self._owned = ax is None
        if ax is None:
            figure = self.__dict__.get("figure_")
            if self.__dict__.get("_made") is figure and figure is not None:
                # once it is closed its number may be that of another
                open_ = plt.fignum_exists(figure.number) and plt.figure(figure.number) is figure
                figure = figure if open_ else None
            else:
                figure = None
            if figure is None:
                figure = plt.figure(layout="constrained")
            figure.clear()
            figure.set_size_inches(width, height)
            axes = figure.subplots(n_rows, n_columns, squeeze=False, **shared).ravel()
            self._made = figure
        else:
            axes = np.ravel(np.asarray(ax, dtype=object))
            if len(axes) != n or not all(hasattr(a, "add_collection") for a in axes):
                wanted = "Axes of matplotlib" if n == 1 else f"a list of {n} Axes of matplotlib"
                raise ValueError(f"ax must be {wanted} or None, got {ax!r}.")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        self._before = [] if self._owned else [(text, text.get_text()) for text in _money(axes)]
        return axes

    def _close(self):
        """Set sizes of text in a figure made here, and wrap it; axes given keep theirs.

        What stands between two dollar signs of words is no formula.
        """
        for text in _money([self.figure_] if self._owned else self.axes_):
            if (text, text.get_text()) not in self._before:
                text.set_parse_math(False)
        self._before = []
        if not self._owned:
            return self
        from matplotlib.text import Text

        for text in self.figure_.findobj(Text):
            if text.get_gid() != "small":
                text.set_fontsize(TEXT)
        for axes in self.axes_:
            axes.tick_params(labelsize=SMALL)
            axes.tick_params(axis="x", length=2.5)
            axes.spines[["top", "right"]].set_visible(False)
        keep_inside(self.figure_)
        return self

    def __getstate__(self):
        # what was drawn is no part of the answer
        drawn = ("_made", "_before")
        return {k: v for k, v in self.__dict__.items() if not k.endswith("_") and k not in drawn}


def _money(artists):
    """Texts of axes or figures that have a dollar sign."""
    from matplotlib.text import Text

    found = [text for one in artists for text in one.findobj(Text)]
    return [text for text in found if "$" in text.get_text()]


def names_for(names: Any, n: int, what: str, known: Any = None) -> list[str]:
    """``n`` names of what there is to show, those given or its numbers; a ValueError for others.

    Where none are given they are those that are ``known``, an array of str or None.
    """
    if names is None and known is not None:
        return [f"{what} {name}" if name.isdigit() else name for name in known.tolist()]
    if names is None:
        return [f"{what} {k}" for k in range(n)]
    found = check_list("names", names, f"{n} names")
    if len(found) != n:
        raise ValueError(f"names must name each of the {n} {what}s, got {len(found)} names.")
    return [str(name) for name in found]


def numbers_of(chosen: Any, n: int, what: str, known: Any = None) -> list[int]:
    """Which of ``n`` senses or topics are shown, all where None; a ValueError for others.

    They are chosen by number, or by the names that are ``known``, an array of str or None.
    """
    if chosen is None:
        return list(range(n))
    several = listed(chosen)
    chosen = [chosen] if several is None else several
    try:
        found = [place_of(known, n, k, what) for k in chosen]
    except ValueError:
        found = []
    if not found:
        names = "" if known is None else f" or names of {known.tolist()}"
        raise ValueError(
            f"{what}s must be a list of numbers from 0 to {n - 1}{names}, got {chosen!r}."
        )
    return found


def labelled(answers: Any) -> Mapping[str, Any]:
    """The answers by their labels; one answer, and those of a list, by what was asked.

    A ValueError for anything else, and where two of a list were asked the same.
    """
    if isinstance(answers, Mapping) and answers and not isinstance(answers, Result):
        return answers
    several = [answers] if isinstance(answers, Result) else listed(answers)
    if not several or not all(isinstance(one, Result) and one.title for one in several):
        got = repr(answers) if not answers else f"a {type(answers).__name__}"
        raise ValueError(
            "answers must be a mapping of labels to answers, or a list of answers, such as those "
            f"of similarity, got {got}."
        )
    found: dict[str, Any] = {str(answer.title): answer for answer in several}
    if len(found) < len(several):
        again = next(t for t in found if sum(answer.title == t for answer in several) > 1)
        raise ValueError(
            f"answers has two called {again!r}: give a mapping of labels to answers, with other "
            "labels."
        )
    return found


def of_all(answers: Mapping[str, Any]) -> tuple[float, str | None]:
    """Probability and source of the intervals of all answers; None where sources differ.

    A ValueError where probabilities differ.
    """
    first, *others = answers
    prob, source = answers[first].prob, answers[first].source
    for label in others:
        if answers[label].prob != prob:
            raise ValueError(
                f"answers must have intervals of one prob, got {prob!r} of {first!r} and "
                f"{answers[label].prob!r} of {label!r}: ask with the same, or draw them in two "
                "figures."
            )
    alike = all(answer.source == source for answer in answers.values())
    return prob, source if alike else None


def label_of_all(answers: Mapping[str, Any], what: str = "interval") -> str:
    """How a figure calls the intervals of several answers; each kind of them, where there are more.

    As `interval_label`. Point estimates beside intervals, which have none, are told at the end.
    """
    prob, _ = of_all(answers)
    kinds = dict.fromkeys(
        interval_label(prob, answer.source, what, answer) for answer in answers.values()
    )
    point = interval_label(prob, "point", what)
    if len(kinds) > 1 and point in kinds:
        del kinds[point]
        kinds["without: point estimate"] = None
    return "; ".join(kinds)


def legend_above(axes, title=None, made=(), n_columns=None):
    """The legend of some axes above them, where it covers nothing; short labels in two columns.

    ``n_columns`` is decided by the labels unless it is given. Every `Band` of those ``made`` in the
    axes may have a key of its own.
    """
    keys = {band.points: band.key for band in made if band.key is not None}
    handles, labels = axes.get_legend_handles_labels()
    handles = [keys.get(one, one) for one in handles]
    if n_columns is None:
        n_columns = 2 if len(labels) > 1 and max(map(len, labels)) <= SHORT else 1
    legend = axes.legend(
        handles,
        labels,
        title=title,
        ncols=n_columns,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        borderpad=0.1,
        handlelength=1.4,
        columnspacing=1.0,
        labelspacing=0.25,
        frameon=False,
        fontsize=SMALL,
        title_fontsize=SMALL,
        alignment="left",
    )
    for other in [one for one in axes.child_axes if isinstance(one.get_axes_locator(), _Room)]:
        other.remove()
    # titles of axes, also those set later, keep above axes within them
    room = axes.inset_axes([0.0, 1.0, 1.0, 0.0])
    room.set_axes_locator(_Room(legend))
    room.set_visible(False)
    return legend


class _Room:
    """Where axes lie that take the room of a legend: its box, in fractions of the figure."""

    def __init__(self, legend):
        self.legend = legend

    def __call__(self, axes, renderer):
        box = self.legend.get_window_extent(renderer)
        return box.transformed(self.legend.axes.figure.transSubfigure.inverted())

"""What figures are made of: forests of intervals, bands over time, densities of draws."""

from __future__ import annotations

import itertools
import textwrap
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import gaussian_kde

from .canvas import COLORS, GREY, SMALL

# Height of a row of a forest, and of what is around it, in inches.
ROW, AROUND = 0.19, 0.75
# Height of a line of a label that has several.
LINE = 0.15
# Between groups of rows, in rows.
_BETWEEN = 0.5
# Longest line of a label, in letters.
_LABEL = 22
# Width of a letter, relative to the size of the text, and of a gap between columns, in points.
_LETTER, _GAP = 0.58, 10.0
# Points that labels of ticks are apart, and titles of heads of columns.
_APART = 4.0
# How strongly bands are filled, with data and without.
_BAND, _PALE = 0.2, 0.07
# How strongly lines of intervals without data are drawn, and those of single periods.
PALE_LINE, _LONE = 0.3, 0.7
# Points at which densities are worked out, and the central share of draws that they reach to.
_GRID, _SHOWN = 200, 0.995


class Marks(NamedTuple):
    """Artists that show an answer.

    Attributes
    ----------
    points : matplotlib.lines.Line2D
        Posterior means.
    intervals : matplotlib.collections.Collection or None
        Lines or a band from low to high; None for a point estimate.
    """

    points: Any
    intervals: Any


class Band(NamedTuple):
    """Artists that show an answer over time.

    Attributes
    ----------
    points, intervals
        As of `Marks`.
    key : matplotlib.lines.Line2D or None
        What stands for the points in a legend; None where they do so themselves.
    """

    points: Any
    intervals: Any
    key: Any


def wrapped(label):
    """A label in lines that are not too long."""
    return "\n".join(textwrap.wrap(str(label), _LABEL, break_long_words=False)) or str(label)


def row_ends(labels, groups=None):
    """Lower ends of rows as high as their labels, in rows of one line; (n_rows,) and heights.

    Where ``groups`` (n_rows,) are others than in the row before, there is a gap.
    """
    heights = [max(1.0, LINE / ROW * (wrapped(label).count("\n") + 1)) for label in labels]
    groups = np.zeros(len(heights)) if groups is None else np.asarray(groups)
    gaps = np.append(0.0, _BETWEEN * (groups[1:] != groups[:-1]))[: len(heights)]
    return np.cumsum(heights + gaps), np.array(heights)


def row_places(labels, groups=None):
    """Where rows as high as their labels have their points, from top to bottom, (n_rows,)."""
    ends, heights = row_ends(labels, groups)
    return ends - 0.5 * heights - 0.5


def forest_height(labels, groups=None):
    """Inches that a forest takes whose rows have these labels; without rows, those of one."""
    ends, _ = row_ends(labels, groups)
    return ROW * (ends[-1] if ends.size else 1.0) + AROUND


def forest(
    axes, labels, mean, interval, *, source=None, color=COLORS[0], size=4.0, hollow=None, few=None,
    groups=None, by_lines=False,
):  # fmt: skip
    """Rows of posterior means with their intervals, from top to bottom; returns `Marks`.

    Those that are ``hollow`` (n_rows,) have no intervals; those of ``few`` data have hollow points
    and pale intervals. Rows are one apart, or `row_places` of labels and groups.
    """
    rows, lines, end = np.arange(len(mean)), None, len(mean)
    if by_lines and end:
        rows, end = row_places(labels, groups), row_ends(labels, groups)[0][-1]
    hollow, few = (np.zeros(len(mean), bool) if x is None else x for x in (hollow, few))
    if source != "point":
        low, high = interval[~hollow].T
        lines = axes.hlines(rows[~hollow], low, high, color=color, lw=1.6)
        if few.any():
            lines.set_alpha(np.where(few[~hollow], PALE_LINE, 1.0))
    (points,) = axes.plot(mean, rows, "o", ms=size, color=color, mec="white", mew=0.5, zorder=3)
    hollow = hollow | few
    if hollow.any():
        look = {"ms": size, "color": color, "mfc": "white", "zorder": 4}
        axes.plot(np.asarray(mean)[hollow], rows[hollow], "o", **look)
    axes.set_yticks(rows, [wrapped(label) for label in labels])
    axes.set_ylim(max(1, end) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    from matplotlib.ticker import AutoLocator, MaxNLocator

    if not isinstance(axes.xaxis.get_major_locator(), MaxNLocator):
        # another forest on these axes has set its ticks
        axes.xaxis.set_major_locator(AutoLocator())
    axes.locator_params(axis="x", nbins=5, min_n_ticks=3)
    return Marks(points, lines)


def beside(axes, head, texts, start=4.0, places=None, size=SMALL):
    """A column of texts on the right of a forest, under a head; returns the texts.

    ``start`` is how far from the axes, in points; ``places`` are those of the rows; ``size`` that
    of the texts.
    """
    places = range(len(texts)) if places is None else places
    where = axes.get_yaxis_transform()
    rows = [
        (-0.75, head, "bottom"),
        *((i, text, "center") for i, text in zip(places, texts, strict=True)),
    ]
    return [
        axes.annotate(
            text, (1.0, y), xycoords=where, xytext=(start, 0), textcoords="offset points", va=va,
            annotation_clip=False, color=GREY if i else "black", fontsize=size, gid="small",
        )
        for i, (y, text, va) in enumerate(rows)
    ]  # fmt: skip


def lift_titles(panels, heads, owned):
    """Put titles on the left above the heads of columns beside forests, where one reaches a head.

    The axes must have their final sizes of text; there is a list of heads for each. A figure that
    is ``owned`` grows by a line, so that rows keep their height; in others, whose layout may not be
    final, titles lie above heads always.
    """
    if not any(heads):
        return
    if owned:
        _draw(panels)
        if not any(_reaches(axes, *of) for axes, of in zip(panels, heads, strict=True)):
            return
    top = max(head.get_window_extent().y1 for of in heads for head in of)
    points = 72.0 / panels[0].figure.dpi
    for axes in panels:
        pad = points * (top - axes.get_window_extent().y1) + _APART
        look = {"loc": "left", "fontsize": axes._left_title.get_fontsize()}
        axes.set_title(axes.get_title("left"), pad=pad, **look)
    if owned:
        width, height = panels[0].figure.get_size_inches()
        panels[0].figure.set_size_inches(width, height + LINE)


def _reaches(axes, *heads):
    """Whether the title on the left of axes reaches some texts on their right."""
    if not (heads and axes.get_title("left")):
        return False
    gap = _APART * axes.figure.dpi / 72.0
    start = min(head.get_window_extent().x0 for head in heads)
    return axes._left_title.get_window_extent().x1 + gap > start


def column_width(head, texts, size=SMALL):
    """Points that a column of texts takes, with the gap to the next."""
    return _LETTER * size * max(map(len, [head, *texts])) + _GAP


def band(
    axes, x, mean, interval, *, source=None, color=COLORS[0], line="-", label=None, seen=None,
    marker="o", size=2.5,
):  # fmt: skip
    """Posterior means over x as a line, and their intervals as a band; returns a `Band`.

    Between points one of which is not ``seen``, the line is dotted and the band pale. Where a band
    would have no width, at a point seen between others that are not and at a single point, there is
    an upright line.
    """
    filled, key, x = None, None, np.asarray(x, dtype=float)
    seen = np.ones(x.size, bool) if seen is None else np.asarray(seen, bool)
    dotted = ~(seen[:-1] & seen[1:])
    if source != "point":
        for i in np.flatnonzero(dotted):
            two = slice(i, i + 2)
            axes.fill_between(x[two], *interval[two].T, color=color, alpha=_PALE, lw=0)
        filled = axes.fill_between(x, *interval.T, where=seen, color=color, alpha=_BAND, lw=0)
        lone = _lone(seen)
        if lone.any():
            upright = axes.vlines(x[lone], *interval[lone].T, color=color, lw=1.2)
            upright.set_alpha(_LONE if seen[lone].all() else PALE_LINE)
            filled = filled if x.size > 1 else upright
    for i in np.flatnonzero(dotted):
        axes.plot(x[i : i + 2], mean[i : i + 2], ":", lw=1.0, color=color)
    style = {"marker": marker, "ms": size, "lw": 1.2, "color": color}
    if dotted.any():
        # a line with gaps, and points
        breaks = np.flatnonzero(dotted) + 1
        gaps = (np.insert(values, breaks, np.nan) for values in (x, mean))
        (key,) = axes.plot(*gaps, ls=line, **style)
        line = "none"
    (points,) = axes.plot(x, mean, ls=line, **style, label=label)
    axes.locator_params(axis="x", nbins=6)
    return Band(points, filled, key)


def _lone(seen):
    """Points that are seen and have no neighbor that is, or the only one there is; (n,) bool."""
    if seen.size == 1:
        return np.ones(1, bool)
    around = np.concatenate([[False], seen, [False]])
    return seen & ~around[:-2] & ~around[2:]


def keep_ticks_apart(*panels, zero=False):
    """Have fewer ticks on horizontal axes where their labels touch: first and last, or one.

    The axes must have their final content. With ``zero``, which they must show, there are three
    ticks or more, one of them at zero, and where labels touch that one is the last to go.
    """
    for axes in panels:
        axes.locator_params(axis="x", nbins=3)
        if zero:
            axes.locator_params(axis="x", min_n_ticks=3)
            axes.xaxis.set_major_formatter(_short)
    # drawn once for all panels, as that takes a while
    _draw(panels)
    fewer = [_fewer_ticks([at for at, _ in _labelled_ticks(axes)], zero) for axes in panels]
    touching = list(zip(panels, fewer, strict=True))
    while touching := [(axes, ways) for axes, ways in touching if ways and _touch(axes)]:
        for axes, ways in touching:
            axes.set_xticks(sorted(ways.pop(0)))
        _draw(panels)


def _fewer_ticks(ticks, zero):
    """Fewer and fewer of some ticks, a list of sets."""
    if not ticks:
        return []
    ends = ticks[0], ticks[-1]
    if zero:
        return [{0.0, *ends}, {0.0, max(ends, key=abs)}, {0.0}]
    return [{*ends}, {ticks[len(ticks) // 2]}]


def _short(value, _):
    """The label of a tick, without zeros at its end."""
    return f"{value + 0.0:.6g}".replace("-", "\N{MINUS SIGN}")


def _draw(panels):
    # those of axes in a part of a figure, too
    for figure in dict.fromkeys(axes.figure.canvas.figure for axes in panels):
        figure.draw_without_rendering()


def _labelled_ticks(axes):
    """Where ticks of the horizontal axis are that are seen, with the boxes of their labels."""
    low, high = sorted(axes.get_xlim())
    ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    return [(at, text.get_window_extent()) for at, text in ticks if low <= at <= high]


def _touch(axes):
    """Whether labels of ticks of the horizontal axis touch each other."""
    gap = _APART * axes.figure.dpi / 72.0
    boxes = [box for _, box in _labelled_ticks(axes)]
    return any(b.x0 - a.x1 < gap for a, b in itertools.pairwise(boxes))


def density(axes, row, draws, *, height=0.8, color=COLORS[0]):
    """The density of most draws, standing on a row of a forest; None where draws are all one."""
    draws = np.asarray(draws, dtype=float)
    if draws.size < 3 or np.ptp(draws) <= 1e-12 * (1.0 + np.abs(draws).max()):
        return None
    low, high = draws.min(), draws.max()
    # tails that are a hairline would squeeze the rest
    shown = np.quantile(draws, [0.5 - 0.5 * _SHOWN, 0.5 + 0.5 * _SHOWN])
    x, smooth = np.linspace(*shown, _GRID), gaussian_kde(draws)
    # mirrored at the ends, so that draws that pile up at a bound are not smoothed across it
    y = smooth(x) + smooth(2 * low - x) + smooth(2 * high - x)
    return axes.fill_between(x, row - height * y / y.max(), row, color=color, alpha=0.3, lw=0)


def plain_log(axis):
    """Make an axis logarithmic, with plain numbers at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=20))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def reference(axes, value, *, axis="x"):
    """A thin line at a value that answers are held against."""
    draw = axes.axvline if axis == "x" else axes.axhline
    return draw(value, color=GREY, lw=0.8, ls="--", zorder=0)

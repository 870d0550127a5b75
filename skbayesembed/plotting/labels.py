"""What words, lists of words and axes are called in figures, and labels that keep apart."""

from __future__ import annotations

import numpy as np

from ..common.checks import check_list

# Times that are taken for years.
_YEARS = 1000, 2200
# Of a letter, relative to the size of the text; of a line.
_LETTER, _LINE = 0.62, 1.25
# Where a label may lie: on the right or left of its point, above or below, and between these; so
# many points from it.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_GAPS = (4.0, 10.0)
# Half the width of what a point takes, so that labels of others keep away from it.
_POINT = 4.0
# What a label that is not next to its point costs, in square points.
_APART = 20.0


def called(what):
    """What a word, a list of words, or an axis is called."""
    label = getattr(what, "label", None)
    if label is not None:
        return str(label)
    if isinstance(what, str | int | np.integer):
        return str(what)
    return "[" + ", ".join(map(str, check_list("word", what, "words, or one word"))) + "]"


def label_times(axes, times):
    """Call the horizontal axis ``"year"`` where all times may be years, else ``"time"``.

    Ticks of years are whole, of however short a span.
    """
    times = np.asarray(times, dtype=float)
    years = times.size and np.all((times >= _YEARS[0]) & (times <= _YEARS[1]))
    axes.set_xlabel("year" if years else "time")
    if years:
        axes.xaxis.get_major_locator().set_params(integer=True)


def label_points(axes, positions, labels, size):
    """Write labels beside points so that few of them cover others; returns the texts.

    The axes must have their final limits. Labels are placed one after the other, each where it
    covers least of points and of labels before it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    positions : ndarray of shape (n, 2)
        In data coordinates.
    labels : list of str
    size : float
        Of the text, in points.
    """
    figure = axes.figure
    figure.draw_without_rendering()
    scale = 72.0 / figure.dpi
    points = scale * axes.transData.transform(positions)
    frame = scale * axes.get_window_extent().get_points()
    taken = [np.array([p - _POINT, p + _POINT]) for p in points]
    texts = []
    for i, (point, label) in enumerate(zip(points, labels, strict=True)):
        extent = np.array([_LETTER * size * len(label), _LINE * size])
        best, cost = None, np.inf
        for gap in _GAPS:
            for side in _SIDES:
                box = _box(point, extent, side, gap)
                new = sum(_shared(box, other) for other in taken) + _outside(box, frame)
                new += _APART * (gap > _GAPS[0])
                if new < cost:
                    best, cost = (box, side, gap), new
        box, side, gap = best
        taken.append(box)
        texts.append(
            axes.annotate(
                label, positions[i], xytext=gap * np.array(side), textcoords="offset points",
                ha=("center", "left", "right")[side[0]], va=("center", "bottom", "top")[side[1]],
                fontsize=size, gid="small", zorder=4,
            )
        )  # fmt: skip
    return texts


def _box(point, extent, side, gap):
    """Corners (2, 2) of a label of some extent on a side of a point."""
    side = np.array(side)
    middle = point + side * (gap + extent / 2)
    return np.array([middle - extent / 2, middle + extent / 2])


def _shared(a, b):
    """Area that two boxes share."""
    return float(np.prod(np.maximum(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0.0)))


def _outside(box, frame):
    """Area of a box that lies outside of the frame, weighted."""
    return 4.0 * (float(np.prod(box[1] - box[0])) - _shared(box, frame))

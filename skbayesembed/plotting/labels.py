"""What words, lists of words and axes are called in figures, and labels that keep apart."""

from __future__ import annotations

import numpy as np

# Of a letter, relative to the size of the text; of a line.
_LETTER, _LINE = 0.58, 1.25
# Where a label may lie, in widths and heights of it from the point: right, left, above and below.
_PLACES = ((0.5, 0.0), (-0.5, 0.0), (0.0, 0.7), (0.0, -0.7), (0.45, 0.6), (-0.45, 0.6),
           (0.45, -0.6), (-0.45, -0.6))  # fmt: skip
# Points between a label and its point.
_GAP = 3.0


def called(what):
    """What a word, a list of words, or an axis is called."""
    label = getattr(what, "label", None)
    if label is not None:
        return str(label)
    if isinstance(what, str | int | np.integer):
        return str(what)
    return "[" + ", ".join(map(str, what)) + "]"


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
    taken = [np.array([p - 2.0, p + 2.0]) for p in points]
    texts = []
    for point, label in zip(points, labels, strict=True):
        extent = np.array([_LETTER * size * len(label), _LINE * size])
        boxes = [_box(point, extent, place) for place in _PLACES]
        costs = [sum(_shared(box, other) for other in taken) + _outside(box, frame)
                 for box in boxes]  # fmt: skip
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        middle = boxes[best].mean(axis=0) - point
        texts.append(
            axes.annotate(
                label, positions[len(texts)], xytext=middle, textcoords="offset points",
                ha="center", va="center", fontsize=size, gid="small", zorder=4,
            )
        )  # fmt: skip
    return texts


def _box(point, extent, place):
    """Corners (2, 2) of a label of some extent at a place beside a point."""
    middle = point + np.array(place) * extent + _GAP * np.sign(place)
    return np.array([middle - extent / 2, middle + extent / 2])


def _shared(a, b):
    """Area that two boxes share."""
    return float(np.prod(np.maximum(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0.0)))


def _outside(box, frame):
    """Area of a box that lies outside of the frame, weighted."""
    return 4.0 * (float(np.prod(box[1] - box[0])) - _shared(box, frame))

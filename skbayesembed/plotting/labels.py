"""What words, lists of words and axes are called in figures, and labels that keep apart."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from ..common.checks import check_list
from ..posterior.cells import in_figure

# Times that are taken for years.
_YEARS = 1000, 2200
# Of a letter, relative to the size of the text; of a line.
_LETTER, _LINE = 0.62, 1.25
# Of the narrowest letters, on average.
_NARROW = 0.35
# Where a label may lie: on the right or left of its point, above or below, and between these; so
# many points from it.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_GAPS = (4.0, 10.0)
# Half the width of what a point takes, so that labels of others keep away from it.
_POINT = 4.0
# What a label that is not next to its point costs, in square points.
_APART = 20.0
# First words of a topic that it is called by.
_FIRST = 3
# Letters of a line that has room in every figure; how often lines that have none are made shorter.
_FITS, _TRIES = 24, 4
# Height of a line in inches, relative to points.
_INCHES = _LINE / 72.0
# Topics that a line names.
_NAMED = 4
# Lines of a long name.
_MOST_LINES = 3


def wrapped(name: str, letters: int) -> str:
    r"""A long name in lines of at most so many letters; what is beyond three lines is cut.

    Examples
    --------
    >>> from skbayesembed.plotting.labels import wrapped
    >>> wrapped("a financial institution of the state", 21)
    'a financial\ninstitution of the\nstate'
    >>> wrapped("bank", 21)
    'bank'
    """
    return "\n".join(_cut_at_end(name, letters))


def wrapped_each(names: Sequence[str], letters: int) -> list[str]:
    r"""Several names, each as `wrapped`, with different labels for different names.

    What would be alike is cut in the middle, and where that is alike too not at all.

    Examples
    --------
    >>> from skbayesembed.plotting.labels import wrapped_each
    >>> wrapped_each(["seats of parties in the House", "seats of parties in the Senate"], 8)
    ['seats of\n... the\nHouse', 'seats of\n... the\nSenate']
    """
    labels = [wrapped(name, letters) for name in names]
    for lines in (_cut_in_middle, textwrap.wrap):
        of = {
            label: {n for n, x in zip(names, labels, strict=True) if x == label} for label in labels
        }
        labels = [
            "\n".join(lines(name, letters)) if len(of[label]) > 1 else label
            for name, label in zip(names, labels, strict=True)
        ]
    return labels


def _cut_at_end(name, letters):
    """Lines of a name, those beyond three left out."""
    if len(name) <= letters:
        return [name]
    return textwrap.wrap(name, letters, max_lines=_MOST_LINES, placeholder=" ...")


def _cut_in_middle(name, letters):
    """First and last lines of a name, three in all."""
    # a text is cut at its beginning as its mirror image is at its end
    last = textwrap.wrap(name[::-1], letters, max_lines=_MOST_LINES - 1, placeholder=" ...")
    return [(textwrap.wrap(name, letters) or [""])[0], *(line[::-1] for line in reversed(last))]


def topic_labels(words, names, *, numbered=True):
    """What rows of topics are called: by their names, those without by their first words.

    Parameters
    ----------
    words : sequence of str or of sequences of str of shape (n_topics,)
    names : ndarray of str of shape (n_topics,) or None
        Names, and numbers of topics that have none; None where no topic has one.
    numbered : bool, default=True
        Whether the number of a topic stands before its words; it does where they are those of
        another topic, too.
    """
    firsts = [" ".join((of.split() if isinstance(of, str) else list(of))[:_FIRST]) for of in words]
    labels = []
    for k, first in enumerate(firsts):
        named = names is not None and str(names[k]) != str(k)
        number = f"{k}: " * (numbered or firsts.count(first) > 1)
        labels.append(str(names[k]) if named else f"{number}{first}")
    return labels


def on_rough(rough, chosen, names):
    """Lines below a figure on shown topics whose intervals are rough, a list.

    Parameters
    ----------
    rough : dict of int to str
        As of `TopicEffects`.
    chosen : sequence of int
        Topics that are shown.
    names : ndarray of str or None
    """
    index = [k for k in chosen if k in rough]
    if not index:
        return []
    if len(index) > _NAMED:
        return [f"rough intervals (short chains): {len(index)} of {len(chosen)} topics"]
    which = ", ".join(str(k if names is None else names[k]) for k in index)
    return [f"rough intervals (short chains): topic{'s' * (len(index) > 1)} {which}"]


def called_each(asked):
    """What pairs of words, lists of words or axes are called, a list; those cut alike in full.

    A ValueError where one is there twice.
    """
    short = [", ".join(map(called, one)) for one in asked]
    labels = [
        label if short.count(label) == 1 else ", ".join(called(x, whole=True) for x in one)
        for label, one in zip(short, asked, strict=True)
    ]
    again = next((label for label in labels if labels.count(label) > 1), None)
    if again is not None:
        raise ValueError(f"pairs must be different, got {again!r} twice.")
    return labels


def called(what, whole=False):
    """What a word, a list of words, or an axis is called; in full where it is to be ``whole``."""
    label = getattr(what, "label", None)
    if label is not None:
        return str(label) if whole else in_figure(str(label))
    if isinstance(what, str | int | np.integer):
        return str(what)
    return "[" + ", ".join(map(str, check_list("word", what, "words, or one word"))) + "]"


def label_times(axes, times, periods):
    """Call the horizontal axis ``"year"`` where all times may be years, else ``"time"``.

    Where ``periods`` are the names of spans of time, it is said that times are their middles. Ticks
    of years are whole, of however short a span.
    """
    times = np.asarray(times, dtype=float)
    years = times.size and np.all((times >= _YEARS[0]) & (times <= _YEARS[1]))
    spans = any(map(_is_span, periods, times))
    axes.set_xlabel(("year" if years else "time") + (" (points: middles of periods)" * spans))
    if years:
        from matplotlib.ticker import ScalarFormatter

        whole_ticks(axes.xaxis)
        if isinstance(axes.xaxis.get_major_formatter(), ScalarFormatter):
            # of a few weeks within a year, differences from it would be no years
            axes.ticklabel_format(axis="x", useOffset=False)


def whole_ticks(axis):
    """Have ticks at whole numbers, where they are not at places that were given."""
    if hasattr(locator := axis.get_major_locator(), "_integer"):
        locator.set_params(integer=True)


def _is_span(period, time):
    """Whether the name of a period is not the one time that it has."""
    try:
        # names have six digits or more
        return not np.isclose(float(period), time, rtol=1e-5, atol=0.0)
    except ValueError:
        return True


def keep_inside(figure):
    """Wrap titles and labels of axes that reach beyond the figure, which grows by their lines.

    Sizes of text must be set. Single words that are too long stay.
    """
    _wrap_beyond(figure)
    for _ in range(_TRIES):
        texts = _texts_of(figure)
        if all(len(line) <= _FITS for text in texts for line in text.get_text().split("\n")):
            return
        figure.draw_without_rendering()
        before = [text.get_text() for text in texts]
        added = [_wrap(text, figure.bbox) for text in texts]
        if before == [text.get_text() for text in texts]:
            return
        _grow(figure, texts, sum(added))


def _wrap_beyond(figure):
    """Wrap texts that no figure of this width has room for, so that a layout is found at all."""
    texts, added = _texts_of(figure), 0
    for text in texts:
        if text.get_rotation() != 90:
            inches = _NARROW * text.get_size() / 72.0
            most = max(1, int(figure.get_size_inches()[0] / inches))
            added += _wrap_at(text, most)
    _grow(figure, texts, added)


def _grow(figure, texts, lines):
    """Make a figure higher by so many lines."""
    if lines:
        width, height = figure.get_size_inches()
        size = max(text.get_size() for text in texts)
        figure.set_size_inches(width, height + lines * size * _INCHES)


def _texts_of(figure):
    """Titles and labels of a figure and its axes."""
    texts = [text for axes in figure.axes for text in _around(axes)]
    return texts + [text for text in (figure._suptitle, figure._supxlabel) if text is not None]


def _around(axes):
    """The titles of axes, and the labels of both axes."""
    return [
        axes.title, axes._left_title, axes._right_title, axes.xaxis.label, axes.yaxis.label
    ]  # fmt: skip


def _wrap(text, inside):
    """Wrap a text that reaches beyond a box; returns how many lines it takes more in height."""
    if not text.get_visible() or not text.get_text():
        return 0
    box, lines = text.get_window_extent(), text.get_text().split("\n")
    upright = text.get_rotation() == 90
    (start, end), (low, high) = (
        (one.intervaly if upright else one.intervalx) for one in (box, inside)
    )
    if low <= start and end <= high:
        return 0
    # what lies in the middle has as much room as on the narrower side
    half = (start + end) / 2
    middle = text.get_horizontalalignment() == "center"
    room = 2 * min(half - low, high - half) if middle else high - start
    most = max(1, int(max(map(len, lines)) * room / (end - start)))
    added = _wrap_at(text, most)
    return 0 if upright else added


def _wrap_at(text, most):
    """Wrap the lines of a text at so many letters; returns how many lines it has more."""
    lines = text.get_text().split("\n")
    wrapped = [part for line in lines for part in textwrap.wrap(line, most, **_WORDS) or [line]]
    text.set_text("\n".join(wrapped))
    return len(wrapped) - len(lines)


# Wrapping between words alone.
_WORDS = {"break_long_words": False, "break_on_hyphens": False}


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
    # the whole one, also where axes are in a part of it
    figure = axes.figure.canvas.figure
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
                fontsize=size, gid="small", zorder=4, parse_math=False,
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

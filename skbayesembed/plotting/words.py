"""Words of senses and of topics, a panel for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..numeric.relevance import notes_on_rank
from ..posterior.sources import interval_label
from ..senses.verdicts import FEWEST_SNIPPETS
from .canvas import SMALL, WIDTH, Display, can, check_table, names_for, numbers_of
from .labels import on_rough, wrapped_each
from .marks import ROW, forest, keep_ticks_apart

# Height of what is around the rows of a panel, and below all panels, in inches.
_AROUND, _BELOW = 0.42, 0.3
# Height of ticks and bars, in points; how pale bars are.
_TICK, _BAR, _PALE = 6.0, 4.0, 0.5
# Room beside the outermost ends, as a share of the axis; below this share of the largest
# probability, the smallest is near zero.
_ROOM, _NEAR = 0.06, 0.3
# Steps between ticks, all of one digit.
_STEPS = (1, 2, 5, 10)
# Letters of a line of a title, and the height of a further line, in inches.
_LETTERS, _LINE = 19, 0.13
# Below words of a period with next to no snippets.
_FEW = f"hollow: few data (fewer than {FEWEST_SNIPPETS} snippets)"
# What draws words of the other kind.
_DRAWN_BY = {
    f"{kind}Words": f"that is drawn by {kind}WordsDisplay.from_result(result)"
    for kind in ("Sense", "Topic")
}
# Panels side by side, where there are few and where there are many.
_SIDE_BY_SIDE, _MORE_SIDE_BY_SIDE, _MANY = 2, 4, 10


class WordsDisplay(Display):
    """Base of the displays of words of senses and topics.

    Attributes
    ----------
    points_ : list of matplotlib.lines.Line2D
        Posterior means, for each panel.
    intervals_ : list of matplotlib.collections.LineCollection
        Empty for a point estimate.
    axes_ : ndarray of Axes of shape (n_panels,)
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    figure_ : matplotlib.figure.Figure
    """

    _what: str
    _method: str
    _table: str

    def __init__(self, result: Any, *, names: Sequence[str] | None = None) -> None:
        self.result, self.names = result, names

    @classmethod
    def from_result(
        cls, result: Any, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Show the result of ``sense_words`` or ``top_words``.

        Parameters
        ----------
        result : SenseWords or TopicWords
            Returned by ``sense_words`` or ``top_words``.
        names : list of str, optional
            Names, one for each sense or topic.
        ax : list of matplotlib.axes.Axes, optional
            One for each sense or topic; new axes by default.

        Returns
        -------
        Display

        Raises
        ------
        TypeError
            If the result is another table, or none.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> from skbayesembed.plotting import SenseWordsDisplay
        >>> display = SenseWordsDisplay.from_result(model.sense_words(3))
        >>> [axes.get_title("left") for axes in display.axes_]
        ['sense 0', 'sense 1']
        """
        said = f"words of {cls._what}s, as {cls._method}"
        check_table(result, cls._table, said, _DRAWN_BY)
        return cls(result, names=names).plot(ax)

    def _draw(self, ax, chosen):
        found = self.result
        known = getattr(found, "names", None)
        chosen = numbers_of(chosen, len(found.words), self._what, known)
        names = wrapped_each(self._names(), _LETTERS)
        most = _SIDE_BY_SIDE if len(chosen) <= _MANY else _MORE_SIDE_BY_SIDE
        n_columns = min(len(chosen), most)
        n_rows = -(-len(chosen) // n_columns)
        lines = max(names[k].count("\n") for k in chosen)
        around = _AROUND + lines * _LINE
        # as panels are called
        own = known if self.names is None else self.names
        notes = list(on_rough(getattr(found, "rough", {}), chosen, own))
        notes += [n.strip("()") for n in notes_on_rank(getattr(found, "rank", "probable"))]
        few = getattr(found, "few", False)
        notes += [_FEW] * few
        below = _BELOW + _LINE * (len(notes) + 1)
        height = n_rows * (ROW * 0.8 * found.words.shape[1] + around) + below
        if ax is None:
            panels = self._open(None, height, n_rows, n_columns, width=WIDTH * most / 2)
            for axes in panels[len(chosen) :]:
                axes.set_visible(False)
            panels = panels[: len(chosen)]
            self.axes_ = panels
        else:
            panels = self._open(ax, height, 1, len(chosen))
        self.points_, self.intervals_ = [], []
        for axes, k in zip(panels, chosen, strict=True):
            unmixed = getattr(found, "unmixed", None)
            hollow = unmixed is not None and k in unmixed
            n = len(found.mean[k])
            look = {"hollow": np.full(n, hollow), "few": np.full(n, few)}
            look |= {"source": found.source, "size": 3.0}
            made = forest(axes, found.words[k], found.mean[k], found.interval[k], **look)
            self.points_.append(made.points)
            self.intervals_ += [] if made.intervals is None else [made.intervals]
            if made.intervals is not None and not (hollow or few):
                _show_short(made)
            title = f"{names[k]} (not mixed)" if hollow else names[k]
            axes.set_title(title, loc="left", pad=3)
            shown = [found.mean[k]]
            if not hollow and made.intervals is not None:
                # of highest density: a mean may be outside
                shown += [*found.interval[k].T]
            axes.set_xlim(_limits(np.min(shown), np.max(shown)))
            axes.locator_params(axis="x", min_n_ticks=2, steps=_STEPS)
        if len({axes.get_xlim() for axes in panels}) > 1:
            notes.append("panels have different scales")
        period = getattr(found, "period", None)
        when = "" if period is None else f" in {period}"
        label = f"probability of the word{when},\n{interval_label(found.prob, found.source)}"
        label += "".join(f"\n{note}" for note in notes)
        if self._owned:
            self.figure_.supxlabel(label, fontsize=SMALL)
        else:
            for axes in panels:
                axes.set_xlabel(label)
        self._close()
        keep_ticks_apart(*panels)
        return self

    def _names(self):
        known = getattr(self.result, "names", None)
        names = names_for(self.names, len(self.result.words), self._what, known)
        background = getattr(self.result, "background", None)
        if self.names is None and known is None and background is not None:
            names[background] += ", the background"
        return names


def _show_short(marks):
    """Draw means as ticks on bars, as dots would hide intervals that are shorter."""
    marks.points.set(marker="|", markersize=_TICK, markeredgewidth=1.0)
    marks.points.set_markeredgecolor(marks.points.get_color())
    marks.intervals.set(linewidth=_BAR, alpha=_PALE)


def _limits(low, high):
    """Ends of an axis of probabilities, with room beside the outermost; zero where it is near."""
    start = 0.0 if low < _NEAR * high else low
    room = _ROOM * (high - start if high > start else high)
    return max(0.0, start - room), high + room


class SenseWordsDisplay(WordsDisplay):
    """The top words of each sense, with intervals.

    Means are ticks, and intervals bars behind them. Axes begin at zero only if a probability is
    near. In a period with fewer than 10 snippets (``few`` of ``sense_words``), means are hollow
    points and intervals pale: they rest mostly on neighboring periods.

    Parameters
    ----------
    result : SenseWords
        Returned by ``sense_words``.
    names : list of str of shape (n_senses,), optional
        Names of the senses; by default those from ``name_senses``, or their numbers.

    Attributes
    ----------
    points_ : list of matplotlib.lines.Line2D
        Posterior means, for each sense.
    intervals_ : list of matplotlib.collections.LineCollection
        Empty for a point estimate.
    axes_ : ndarray of Axes of shape (n_senses,)
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import DiSCSenseModel
    >>> from skbayesembed.plotting import SenseWordsDisplay
    >>> snippets = ["river water flood", "money loan account"] * 20
    >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
    >>> display = SenseWordsDisplay.from_estimator(model, 3, names=["bank", "shore"])
    >>> [axes.get_title("left") for axes in display.axes_]
    ['bank', 'shore']
    """

    _what, _method, _table = "sense", "sense_words", "SenseWords"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        n: int = 8,
        *,
        period: Any = None,
        rank: str = "probable",
        names: Sequence[str] | None = None,
        senses: Sequence[int | str] | None = None,
        prob: float = 0.9,
        ax: Any = None,
    ) -> Self:
        """Show the top words of each sense.

        Parameters
        ----------
        estimator : DiSCSenseModel
            Fitted.
        n, period, rank, prob
            As in ``sense_words``.
        names : list of str of shape (n_senses,), optional
            Names of the senses; by default those from ``name_senses``, or their numbers.
        senses : list of int or str, optional
            Which to show, by number or name; all by default.
        ax : list of matplotlib.axes.Axes, optional
            One for each sense; new axes by default.

        Returns
        -------
        SenseWordsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> from skbayesembed.plotting import SenseWordsDisplay
        >>> display = SenseWordsDisplay.from_estimator(model, 3, rank="relevant")
        >>> len(display.axes_)
        2
        """
        can(estimator, "sense_words", cls.__name__)
        found = estimator.sense_words(n, period=period, rank=rank, prob=prob)
        return cls(found, names=names).plot(ax, senses=senses)

    def plot(self, ax: Any = None, *, senses: Sequence[int | str] | None = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : list of matplotlib.axes.Axes, optional
            One for each sense.
        senses : list of int or str, optional
            Which to show, by number or name; all by default.

        Returns
        -------
        SenseWordsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> from skbayesembed.plotting import SenseWordsDisplay
        >>> display = SenseWordsDisplay(model.sense_words(3), names=["shore", "bank"])
        >>> display.plot(senses=[1]).ax_.get_title("left")
        'bank'
        """
        return self._draw(ax, senses)


class TopicWordsDisplay(WordsDisplay):
    """The top words of each topic, with intervals; of topics that have not mixed without.

    Means are ticks, and intervals bars behind them. Axes begin at zero only if a probability is
    near.

    Parameters
    ----------
    result : TopicWords
        Returned by ``top_words``.
    names : list of str of shape (n_topics,), optional
        Names of the topics; by default those from ``name_topics``, or their numbers.

    Attributes
    ----------
    points_ : list of matplotlib.lines.Line2D
        Posterior means, for each topic.
    intervals_ : list of matplotlib.collections.LineCollection
        Empty for a point estimate.
    axes_ : ndarray of Axes of shape (n_topics,)
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import GaussianLDA
    >>> from skbayesembed.datasets import make_topics
    >>> from skbayesembed.plotting import TopicWordsDisplay
    >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
    >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
    >>> display = TopicWordsDisplay.from_estimator(model.fit(data.counts), 5)
    >>> [axes.get_title("left") for axes in display.axes_]
    ['topic 0', 'topic 1']
    >>> display.figure_.get_supxlabel().splitlines()[1]
    '90 % interval (VI, may be too narrow)'
    """

    _what, _method, _table = "topic", "top_words", "TopicWords"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        n: int = 8,
        *,
        by: str | None = None,
        rank: str = "probable",
        names: Sequence[str] | None = None,
        topics: Sequence[int | str] | None = None,
        prob: float = 0.9,
        ax: Any = None,
    ) -> Self:
        """Show the top words of each topic.

        Parameters
        ----------
        estimator : GaussianLDA
            Fitted.
        n, by, rank, prob
            As in ``top_words``.
        names : list of str of shape (n_topics,), optional
            Names of the topics; by default those from ``name_topics``, or their numbers.
        topics : list of int or str, optional
            Which to show, by number or name; all by default.
        ax : list of matplotlib.axes.Axes, optional
            One for each topic; new axes by default.

        Returns
        -------
        TopicWordsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> from skbayesembed.plotting import TopicWordsDisplay
        >>> display = TopicWordsDisplay.from_estimator(
        ...     model.fit(data.counts), 5, rank="relevant"
        ... )
        >>> len(display.axes_)
        2
        """
        can(estimator, "top_words", cls.__name__)
        found = estimator.top_words(n, by=by, rank=rank, prob=prob)
        return cls(found, names=names).plot(ax, topics=topics)

    def plot(self, ax: Any = None, *, topics: Sequence[int | str] | None = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : list of matplotlib.axes.Axes, optional
            One for each topic.
        topics : list of int or str, optional
            Which to show, by number or name; all by default.

        Returns
        -------
        TopicWordsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> from skbayesembed.plotting import TopicWordsDisplay
        >>> display = TopicWordsDisplay(model.fit(data.counts).top_words(5))
        >>> display.plot(topics=[1]).ax_.get_title("left")
        'topic 1'
        """
        return self._draw(ax, topics)

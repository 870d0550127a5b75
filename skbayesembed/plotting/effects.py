"""Effects of covariates on topics: a panel for each term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..common.checks import check_list
from ..corpus.design import INTERCEPT
from ..posterior.cells import p_values
from ..posterior.sources import interval_label
from .canvas import WIDTH, Display, check_table, names_for, numbers_of
from .labels import on_rough, topic_labels, wrapped_each
from .marks import (
    LINE,
    beside,
    forest,
    forest_height,
    keep_ticks_apart,
    lift_titles,
    reference,
    row_places,
)

# Panels side by side in the width of a column, and the width of each beyond, in inches.
_SIDE_BY_SIDE, _PANEL = 2, 1.6
# Letters of a line of a title.
_LETTERS = 15
# Tables that another display draws.
_OTHERS = {
    kind: f"{what} are drawn by ForestDisplay.from_result(result)"
    for kind, what in (("MeaningEffects", "effects on a word"), ("Regression", "slopes of regress"))
}


class EffectsDisplay(Display):
    """Effects of covariates on the shares of topics: a panel for each term, a row for each topic.

    Panels share the rows. Each has a scale of its own, because terms have different units, and
    p-values beside the rows.

    Parameters
    ----------
    result : TopicEffects
        Returned by `GaussianLDA.effects`.
    names : list of str of shape (n_topics,), optional
        Names of the topics; by default those from ``name_topics``, or their numbers and first
        words.

    Attributes
    ----------
    points_ : list of matplotlib.lines.Line2D
        Effects, of each panel.
    intervals_ : list of matplotlib.collections.LineCollection
    axes_ : ndarray of Axes of shape (n_terms,)
    ax_ : matplotlib.axes.Axes
        The first of them.
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import GaussianLDA
    >>> from skbayesembed.datasets import make_topics
    >>> data = make_topics(n_documents=40, n_words=60, n_topics=3, n_dims=3, random_state=0)
    >>> model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0)
    >>> design = {"year": list(range(40)), "woman": [0, 1] * 20}
    >>> effects = model.fit(data.counts).effects(data.counts, design)
    >>> from skbayesembed.plotting import EffectsDisplay
    >>> display = EffectsDisplay.from_result(effects)
    >>> [axes.get_title("left") for axes in display.axes_]
    ['year', 'woman']
    """

    def __init__(self, result: Any, *, names: Sequence[str] | None = None) -> None:
        self.result, self.names = result, names

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        terms: Sequence[str] | None = None,
        topics: Sequence[int | str] | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Show effects that were estimated before.

        Parameters
        ----------
        result : TopicEffects
            Returned by `GaussianLDA.effects`.
        terms : list of str, optional
            Which terms to show, in this order; all but the constant by default.
        topics : list of int or str, optional
            Which topics, by number or name, to show, in this order; all by default.
        names : list of str of shape (n_topics,), optional
            Names of the topics; by default those from ``name_topics``, or their numbers and first
            words.
        ax : list of matplotlib.axes.Axes, optional
            One for each term; new axes by default.

        Returns
        -------
        EffectsDisplay

        Raises
        ------
        TypeError
            If the result is not a table of effects on topics. Effects on a word, and slopes of
            `regress`, are drawn by `ForestDisplay`.
        ValueError
            If there is no such term or topic.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=3, n_dims=3, random_state=0)
        >>> model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0)
        >>> design = {"year": list(range(40)), "woman": [0, 1] * 20}
        >>> effects = model.fit(data.counts).effects(data.counts, design)
        >>> from skbayesembed.plotting import EffectsDisplay
        >>> display = EffectsDisplay.from_result(
        ...     effects, terms=["woman"], topics=[2, 0], names=["war", "peace", "trade"]
        ... )
        >>> [label.get_text() for label in display.ax_.get_yticklabels()]
        ['trade', 'war']
        """
        check_table(result, "TopicEffects", "effects on topics, as GaussianLDA.effects", _OTHERS)
        return cls(result, names=names).plot(ax, terms=terms, topics=topics)

    def plot(
        self,
        ax: Any = None,
        *,
        terms: Sequence[str] | None = None,
        topics: Sequence[int | str] | None = None,
    ) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : list of matplotlib.axes.Axes, optional
            One for each term.
        terms, topics
            As in `from_result`.

        Returns
        -------
        EffectsDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=3, n_dims=3, random_state=0)
        >>> model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0)
        >>> design = {"year": list(range(40)), "woman": [0, 1] * 20}
        >>> effects = model.fit(data.counts).effects(data.counts, design)
        >>> from skbayesembed.plotting import EffectsDisplay
        >>> len(EffectsDisplay(effects).plot(topics=[1]).ax_.get_yticklabels())
        1
        """
        found = self.result
        rows, chosen = (
            _terms_of(found, terms),
            numbers_of(topics, len(found.words), "topic", found.names),
        )
        names = self._names()
        labels = [names[k] for k in chosen]
        withheld = found.withheld[np.ix_(rows, chosen)]
        below = self._below(
            withheld.any(),
            on_rough(found.rough, chosen, found.names if self.names is None else self.names),
        )
        titles = _titles([str(found.terms[j]) for j in rows])
        lines = below.count("\n") + max(title.count("\n") for title in titles)
        height = forest_height(labels) + LINE * lines
        width = WIDTH + _PANEL * max(0, len(rows) - _SIDE_BY_SIDE)
        panels = self._open(ax, height, 1, len(rows), width=width, sharey=True)
        self.points_, self.intervals_ = [], []
        heads: list[list[Any]] = []
        for axes, j, title, hollow in zip(panels, rows, titles, withheld, strict=True):
            look = {"source": found.source, "hollow": hollow, "by_lines": True}
            mean, interval = found.mean[j, chosen], found.interval[j, chosen]
            made = forest(axes, labels, mean, interval, **look)
            self.points_.append(made.points)
            self.intervals_.append(made.intervals)
            reference(axes, 0.0)
            axes.set_title(title, loc="left")
            heads.append([])
            if not hollow.all():
                p = np.where(hollow, "", p_values(found.p_value[j, chosen]))
                heads[-1] += beside(axes, "p", p.tolist(), places=row_places(labels))[:1]
        if self._owned:
            self.figure_.supxlabel(below)
        else:
            panels[-1].set_xlabel(below)
        self._close()
        lift_titles(panels, heads, self._owned)
        keep_ticks_apart(*panels, zero=True)
        return self

    def _names(self):
        words = self.result.words
        if self.names is not None:
            return names_for(self.names, len(words), "topic")
        return topic_labels(words, self.result.names)

    def _below(self, hollow, rough):
        """What is written below the panels; ``rough`` a list of lines."""
        found = self.result
        lines = [
            "effect on the share of the topic",
            interval_label(found.prob, found.source, found=found),
        ]
        lines += rough
        return "\n".join([*lines, "hollow: chains have not mixed"] if hollow else lines)


def _titles(terms):
    """What panels are called: names of terms, long ones of several panels in lines."""
    if len(terms) == 1:
        return terms
    # names of columns have underscores for spaces
    titles = wrapped_each([term.replace("_", "_ ") for term in terms], _LETTERS)
    return [title.replace("_ ", "_") for title in titles]


def _terms_of(effects, terms):
    """Rows of terms, all but the constant where None; a ValueError for others."""
    known = [str(term) for term in effects.terms]
    if terms is None:
        return [i for i, term in enumerate(known) if term != INTERCEPT] or [0]
    chosen = [str(term) for term in check_list("terms", terms, "names of terms")]
    wrong = [term for term in chosen if term not in known]
    if wrong or not chosen:
        raise ValueError(f"terms must be some of {', '.join(map(repr, known))}, got {terms!r}.")
    return [known.index(term) for term in chosen]

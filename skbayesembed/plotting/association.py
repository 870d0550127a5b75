"""Word embedding association tests: the effect, and effects of words that are dealt out anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..posterior.sentences import p_value
from ..posterior.sources import TOO_LITTLE, interval_label
from ..sgns.questions.kinds import effect
from ..sgns.weat import AssociationTests, permutation_effects
from .canvas import COLORS, GREY, Display, can
from .forests import at
from .marks import PALE_LINE, density

_HEIGHT = 1.9
_BINS = 30
# What else draws several tests.
_OF_SEVERAL = "several tests are drawn by ForestDisplay.from_result({})"


class WEATDisplay(Display):
    """Word embedding association test, with two uncertainties side by side.

    The upper panel shows the posterior of the effect size for these words. The lower panel shows
    its permutation distribution: the effect sizes, at posterior mean associations, of all splits of
    the target words into two lists of these lengths.

    Parameters
    ----------
    answer : Answer
        Returned by ``weat``.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Posterior mean.
    interval_ : matplotlib.lines.Line2D or None
        None for a point estimate.
    permuted_ : ndarray of shape (n_splits,)
        Effect sizes of the splits.
    observed_ : matplotlib.collections.LineCollection
        That of these words among them, by which p is counted.
    bars_ : matplotlib.container.BarContainer
        Histogram of the effect sizes of the splits.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import WEATDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> X, Y, A, B = ["cat", "mat"], ["dog", "bone"], ["sat"], ["ate"]
    >>> display = WEATDisplay.from_estimator(model, X, Y, A, B)
    >>> display.permuted_.size == display.answer.n_splits
    True
    """

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequence,
        Y: Sequence | None = None,
        A: Sequence | None = None,
        B: Sequence | None = None,
        *,
        period: Any = None,
        prob: float = 0.9,
        ax: Any = None,
    ) -> Self:
        """Run the test and show it.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted.
        X, Y, A, B, prob
            As in ``weat``.
        period : time or label of a period, optional
            Period to show, for a `DynamicSGNS`.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        WEATDisplay

        Raises
        ------
        TypeError
            If there are not four lists. Several tests, as of ``weats``, are drawn by
            `ForestDisplay`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import WEATDisplay
        >>> display = WEATDisplay.from_estimator(
        ...     model, ["cat", "mat"], ["dog", "bone"], ["sat"], ["ate"]
        ... )
        >>> display.ax_.get_xlabel().splitlines()[0]
        'effect size (WEAT)'
        """
        can(estimator, "weat", cls.__name__)
        if isinstance(X, Mapping) or any(words is None for words in (Y, A, B)):
            hint = f"; {_OF_SEVERAL.format('model.weats(tests)')}" * isinstance(X, Mapping)
            raise TypeError(f"X, Y, A and B must be four lists of words, got {X!r}{hint}.")
        return cls(estimator.weat(X, Y, A, B, prob=prob, **at(period))).plot(ax)

    @classmethod
    def from_answer(cls, answer: Any, *, ax: Any = None) -> Self:
        """Show the result of ``weat``.

        Parameters
        ----------
        answer : Answer
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        WEATDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import WEATDisplay
        >>> answer = model.weat(["cat", "mat"], ["dog", "bone"], ["sat"], ["ate"])
        >>> WEATDisplay.from_answer(answer).answer is answer
        True
        """
        return cls(answer).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        WEATDisplay

        Raises
        ------
        ValueError
            If the answer is not from ``weat``.
        TypeError
            If it is a table of several tests, from ``weats``, which `ForestDisplay` draws.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import WEATDisplay
        >>> answer = model.weat(["cat", "mat"], ["dog", "bone"], ["sat"], ["ate"])
        >>> WEATDisplay(answer).plot().permuted_.size == answer.n_splits
        True
        """
        found = self.answer
        if isinstance(found, AssociationTests):
            hint = _OF_SEVERAL.format("table")
            raise TypeError(f"answer must be one of weat, got a table of weats: {hint}.")
        known = list(found) if isinstance(found, Mapping) else found
        if not isinstance(known, list) or "association" not in known:
            raise ValueError(f"answer must be one of weat, with an association, got {known!r}.")
        (axes,) = self._open(ax, _HEIGHT)
        effects = permutation_effects(found.association.mean, found.n_first)
        self.permuted_ = effects
        counts, edges = np.histogram(effects, bins=_BINS)
        look = {"bottom": 1.0, "align": "edge", "color": GREY, "alpha": 0.6}
        self.bars_ = axes.bar(edges[:-1], -0.75 * counts / counts.max(), np.diff(edges), **look)
        few = bool(found.get("few_pairs"))
        face = "white" if few else COLORS[0]
        look = {"ms": 4, "color": COLORS[0], "markerfacecolor": face, "zorder": 3}
        (self.points_,) = axes.plot(float(found.mean), 0.0, "o", **look)
        self.interval_, self.density_ = None, None
        if found.source != "point":
            (self.interval_,) = axes.plot(found.interval, [0.0, 0.0], color=COLORS[0], lw=1.6)
            if few:
                # what the prior infers from elsewhere is no density of the data
                self.interval_.set_alpha(PALE_LINE)
            else:
                self.density_ = density(axes, 0.0, np.ravel(found.draws))
        # of the mean associations, as the other splits: that of draws is nearer to zero
        self.observed_ = axes.vlines(
            effect(found.association.mean, found.n_first), 0.0, 1.1, colors=COLORS[0],
            linewidths=0.6, linestyles="--", zorder=0,
        )  # fmt: skip
        axes.set_ylim(1.1, -1.0)
        axes.set_yticks([0.0, 0.7], ["these words", "words dealt\nout anew"])
        axes.tick_params(axis="y", length=0)
        lines = [found.title, interval_label(found.prob, found.source, found=found)]
        if found.source != "point":
            lines.append("interval: these words; p: other splits of them")
            lines.append("dashed: these words by their means")
        lines += [f"hollow: {TOO_LITTLE},\ninferred from others"] * few
        axes.set_xlabel("\n".join(lines))
        if not few:
            over = f"over {found.n_splits:,} splits"
            axes.set_title(f"one-sided {p_value(found.p_value)} {over}", loc="left")
        return self._close()

"""Words on a plane, with ellipses of uncertainty."""

from __future__ import annotations

from itertools import islice
from typing import Any, Self

import numpy as np

from ..posterior.sources import TOO_LITTLE, interval_label
from ..sgns.word_map import word_map
from ..sgns.word_tables import in_period
from .canvas import GREY, SMALL, WIDTH, Display, can, styles
from .labels import label_points

_HEIGHT = 3.3
# How bright the color of a label is, relative to that of its point: text has thin lines.
_DARKER = 0.75


class WordMapDisplay(Display):
    """Words on the plane of the two main directions in which they differ, with ellipses.

    Each word has an ellipse, in the color of its label, that contains ``prob`` of the draws of its
    position. The plane is fixed: it is spanned by the first two principal components of the unit
    vectors of posterior mean targets. The other directions, which it does not show, may matter
    most: the labels of the axes say how much they show.

    Parameters
    ----------
    result : WordMap
        Made by `from_estimator`.

    Attributes
    ----------
    points_ : matplotlib.collections.PathCollection
        Posterior means.
    ellipses_ : list of matplotlib.patches.Ellipse
        One for each word; empty for a point estimate.
    texts_ : list of matplotlib.text.Annotation
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import WordMapDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(3, solver="map", min_count=1, random_state=0).fit(texts)
    >>> display = WordMapDisplay.from_estimator(model, ["cat", "dog", "mat", "bone"])
    >>> [text.get_text() for text in display.texts_]
    ['cat', 'dog', 'mat', 'bone']
    >>> list(display.result.to_frame().columns)
    ['word', 'x', 'y', 'sd_x', 'sd_y', 'n_units']
    """

    def __init__(self, result: Any) -> None:
        self.result = result

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        words: Any,
        n: int = 12,
        *,
        period: Any = None,
        prob: float = 0.9,
        ax: Any = None,
    ) -> Self:
        """Show words on a map.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted.
        words : list of words, or a word
            Words to show; for a single word, its nearest words are also shown.
        n : int, default=12
            How many nearest words to show.
        period : time or label of a period, optional
            Period to show; required for a `DynamicSGNS`.
        prob : float, default=0.9
            Probability of each ellipse.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        WordMapDisplay

        Raises
        ------
        KeyError
            For an unknown word.
        ValueError
            For fewer than three words, for a word with fewer than two neighbors (those with too
            little text in the period do not count), or if ``period`` is missing.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(3, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import WordMapDisplay
        >>> display = WordMapDisplay.from_estimator(model, ["cat", "dog", "mat"])
        >>> len(display.texts_)
        3
        """
        can(estimator, "most_similar", cls.__name__)
        if not hasattr(estimator, "periods_"):
            if period is not None:
                raise ValueError(f"period must be None without periods, got {period!r}.")
            return cls(word_map(estimator, words, n, prob)).plot(ax)
        if period is None:
            raise ValueError("period must name a period of the estimator, got None.")
        shift, few = estimator._shift(period), estimator._few_in(period)
        label = estimator._label(period)
        found = word_map(estimator, words, n, prob, shift, few, label)
        return cls(in_period(found, label)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        WordMapDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(3, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import WordMapDisplay
        >>> display = WordMapDisplay.from_estimator(model, ["cat", "dog", "mat"])
        >>> len(display.plot().texts_)
        3
        """
        found = self.result
        (axes,) = self._open(ax, _HEIGHT, width=WIDTH)
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Ellipse
        from matplotlib.patheffects import withStroke

        self.ellipses_ = []
        # a word, its point and its ellipse have one color; where colors return, lines are others
        looks = list(islice(styles(), len(found.words)))
        few = np.zeros(len(looks), bool) if found.few is None else found.few
        if found.source != "point":
            rows = zip(found.position, found.half_axes, found.angle, looks, few, strict=True)
            for place, size, angle, (color, line), untold in rows:
                if untold:
                    # what the prior infers from elsewhere is no region of the data
                    continue
                shape = Ellipse(place, *(2 * size), angle=angle, fc=color, ec="none", alpha=0.06)
                axes.add_patch(shape)
                axes.add_patch(Ellipse(place, *(2 * size), angle=angle, fc="none", ec=color,
                                       lw=0.8, ls=line))  # fmt: skip
                self.ellipses_.append(shape)
        colors = [color for color, _ in looks]
        self.points_ = axes.scatter(*found.position.T, s=9, c=colors, zorder=3)
        if few.any():
            self.points_.set_facecolor(
                ["white" if untold else c for untold, c in zip(few, colors, strict=True)]
            )
            self.points_.set_edgecolor(colors)
        first, second = 100 * found.share
        period = "" if found.period is None else f", {found.period}"
        lines = [
            f"1st direction, {first:.0f} % of differences{period}",
            interval_label(found.prob, found.source, "ellipse", found),
        ]
        lines += [f"hollow, without: {TOO_LITTLE},\ninferred from others"] * bool(few.any())
        axes.set_xlabel("\n".join(lines))
        axes.set_ylabel(f"2nd direction, {second:.0f} %")
        self._limits(axes)
        self._close()
        axes.locator_params(nbins=5)
        self.texts_ = label_points(axes, found.position, found.words.tolist(), SMALL)
        for text, color in zip(self.texts_, colors, strict=True):
            text.set_color([_DARKER * part for part in to_rgb(color)])
            text.set_path_effects([withStroke(linewidth=1.5, foreground="white")])
        return self

    def _limits(self, axes):
        """Room for ellipses and labels, with one scale for both directions."""
        found = self.result
        angle = np.radians(found.angle)
        along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        across = along[:, ::-1]
        reach = np.sqrt(
            (found.half_axes[:, :1] * along) ** 2 + (found.half_axes[:, 1:] * across) ** 2
        )
        low, high = (found.position - reach).min(axis=0), (found.position + reach).max(axis=0)
        room = 0.08 * np.maximum(high - low, 1e-9)
        axes.update_datalim([low - room, high + room])
        axes.margins(0.0)
        axes.set_aspect("equal", adjustable="datalim")
        axes.autoscale_view()
        axes.axhline(0.0, color=GREY, lw=0.3, zorder=0)
        axes.axvline(0.0, color=GREY, lw=0.3, zorder=0)

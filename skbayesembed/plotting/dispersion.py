"""How much more words vary between units than the model takes them to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..common.checks import check_integer, check_list, is_whole
from .canvas import COLORS, SMALL, Display, can
from .labels import label_points
from .marks import plain_log, reference

_HEIGHT = 2.6
# Words that are labelled unless some are named.
_LABELLED = 8


class DispersionDisplay(Display):
    """Dispersion of words against their frequency.

    Dispersion is the variance of a word's vector estimated from the sampled units, divided by the
    variance under the model. Above 1, the model's intervals are too narrow for text.

    Parameters
    ----------
    words : ndarray of str of shape (n_words,)
    dispersion : ndarray of shape (n_words,)
    frequency : ndarray of shape (n_words,)
    quantity : str
        Label of the horizontal axis.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
        Words with a dispersion, in order.
    texts_ : list of matplotlib.text.Annotation
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import DispersionDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> display = DispersionDisplay.from_estimator(model, label=["cat"])
    >>> display.texts_[0].get_text(), display.ax_.get_xlabel()
    ('cat', 'pairs that the word was the target of')
    """

    def __init__(
        self,
        words: np.ndarray,
        dispersion: np.ndarray,
        frequency: np.ndarray,
        quantity: str = "frequency",
    ) -> None:
        self.words, self.dispersion = words, dispersion
        self.frequency, self.quantity = frequency, quantity

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label: int | Sequence[str] = _LABELLED, ax: Any = None
    ) -> Self:
        """Show the dispersion of all words.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted on documents.
        label : int or list of str, default=8
            Which words to label: this many with the largest dispersion, or a list of words.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        DispersionDisplay

        Raises
        ------
        AttributeError
            If ``fit`` saw no documents.
        KeyError
            For an unknown word.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import DispersionDisplay
        >>> DispersionDisplay.from_estimator(model).ax_.get_xlabel()
        'pairs that the word was the target of'
        """
        can(estimator, "dispersion_", cls.__name__)
        dispersion = estimator.dispersion_
        seen, quantity = (
            getattr(estimator, "observed_", None),
            "pairs that the word was the target of",
        )
        if seen is None:
            seen, quantity = estimator.n_units_, "effective units of the word"
        seen = seen.sum(axis=0) if seen.ndim > 1 else seen
        return cls(estimator.words_, dispersion, seen, quantity).plot(ax, label=label)

    def plot(self, ax: Any = None, *, label: int | Sequence[str] = _LABELLED) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        label : int or list of str, default=8
            Which words to label: this many with the largest dispersion, or a list of words.

        Returns
        -------
        DispersionDisplay

        Raises
        ------
        KeyError
            For an unknown word.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import DispersionDisplay
        >>> display = DispersionDisplay.from_estimator(model)
        >>> display.plot(label=["dog"]).texts_[0].get_text()
        'dog'
        """
        drawn = np.flatnonzero(np.isfinite(self.dispersion) & (self.dispersion > 0))
        labelled = self._labelled(label, drawn)
        (axes,) = self._open(ax, _HEIGHT)
        x, y = self.frequency[drawn], self.dispersion[drawn]
        (self.points_,) = axes.plot(x, y, "o", ms=2, color=COLORS[0], alpha=0.4, mew=0)
        plain_log(axes.xaxis)
        plain_log(axes.yaxis)
        axes.set_xlabel(self.quantity)
        axes.set_ylabel("dispersion")
        reference(axes, 1.0, axis="y")
        self._close()
        at = np.column_stack([self.frequency, self.dispersion])[labelled]
        axes.plot(*at.T, "o", ms=3, color=COLORS[1])
        words = [str(word) for word in self.words[labelled]]
        self.texts_ = label_points(axes, at, words, SMALL)
        return self

    def _labelled(self, label, drawn):
        if is_whole(label):
            check_integer("label", label, 0)
            order = np.argsort(-self.dispersion[drawn], kind="stable")
            return drawn[order[:label]]
        places = {str(word): i for i, word in enumerate(self.words)}
        label = check_list("label", label, "words, or a number of them")
        for word in label:
            if not isinstance(word, str) or word not in places or places[word] not in drawn:
                raise KeyError(f"label names {word!r}, which has no dispersion here.")
        return np.array([places[word] for word in label], dtype=int)

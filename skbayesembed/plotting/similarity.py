"""Posteriors of similarities, and other single answers, above each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..common.checks import check_choice, check_prob
from ..posterior.deciding import SIGNED
from ..posterior.sentences import together
from ..posterior.sources import TOO_LITTLE
from ..sgns.questions.verdicts import few_pairs
from .canvas import COLORS, Display, can, label_of_all, labelled, of_all
from .labels import called_each
from .marks import AROUND, ROW, density, forest, reference, row_ends

# Height of a row with a density, in rows of a forest.
_TALL = 2.0
# Room beside densities, as a share of the axis.
_MARGIN = 0.08


class SimilarityDisplay(Display):
    """Posteriors of single answers, such as similarities: densities with means and intervals.

    Parameters
    ----------
    answers : mapping of str to Answer, Answer, or list of Answer
        Answers of ``similarity``, or of another method with a single answer, by label. Without
        labels they are labelled by what was asked.
    quantity : str, optional
        Label of the horizontal axis; by default ``"cosine"``, or the difference that was asked for.

    Attributes
    ----------
    sentence : str
        The answers in words, to be copied, as for a caption.
    points_ : matplotlib.lines.Line2D
        Posterior means.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    densities_ : list of matplotlib.collections.FillBetweenPolyCollection
        Densities of the draws; empty for a point estimate, and if only intervals are drawn.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import SimilarityDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> display = SimilarityDisplay.from_estimator(model, [("cat", "mat"), ("cat", "bone")])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['cat, mat', 'cat, bone']
    """

    def __init__(self, answers: Any, *, quantity: str | None = None) -> None:
        self.answers = labelled(answers)
        self.quantity = _quantity_of(self.answers.values()) if quantity is None else quantity

    @property
    def sentence(self) -> str:
        """The answers in words, to be copied."""
        return together([answer.sentence for answer in self.answers.values()])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        pairs: Sequence,
        *,
        kind: str = "density",
        period: Any = None,
        prob: float = 0.9,
        ax: Any = None,
    ) -> Self:
        """Show the similarities of pairs of words.

        Parameters
        ----------
        estimator : BayesianSGNS or DynamicSGNS
            Fitted.
        pairs : list of (a, b)
            As in ``similarity``: words, lists of words, or axes.
        kind : {"density", "interval"}, default="density"
        period : time or label of a period, optional
            Period to show, for a `DynamicSGNS`.
        prob : float, default=0.9
            Probability of the intervals.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        SimilarityDisplay

        Raises
        ------
        ValueError
            If ``pairs`` is not a list of pairs, or has one twice.
        KeyError
            For an unknown word.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import SimilarityDisplay
        >>> display = SimilarityDisplay.from_estimator(model, [("cat", "mat")], prob=0.5)
        >>> display.ax_.get_yticklabels()[0].get_text()
        'cat, mat'
        """
        can(estimator, "similarity", cls.__name__)
        check_prob(prob)
        if period is not None and not hasattr(estimator, "periods_"):
            raise ValueError(f"period must be None for {type(estimator).__name__}, got {period!r}.")
        when = {} if period is None else {"periods": [period]}
        pairs = checked_pairs(pairs)
        answers = {
            label: estimator.similarity(*pair, prob=prob, **when)
            for label, pair in zip(called_each(pairs), pairs, strict=True)
        }
        quantity = None
        if period is not None:
            periods = estimator.periods_
            quantity = f"cosine in {periods.labels[periods.find(period, 'period')]}"
        return cls(answers, quantity=quantity).plot(ax, kind=kind)

    @classmethod
    def from_answers(
        cls,
        answers: Any,
        *,
        kind: str = "density",
        quantity: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Show single answers of any method: similarities, contrasts, effect sizes.

        Parameters
        ----------
        answers : mapping of str to Answer, Answer, or list of Answer
            The answers, by label, or labelled by what was asked.
        kind : {"density", "interval"}, default="density"
        quantity : str, optional
            Label of the horizontal axis; by default ``"cosine"`` of similarities, what a difference
            is of, or the title that all answers share.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        SimilarityDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import SimilarityDisplay
        >>> answers = {"cat and mat": model.similarity("cat", "mat")}
        >>> display = SimilarityDisplay.from_answers(answers)
        >>> display.ax_.get_yticklabels()[0].get_text()
        'cat and mat'
        """
        return cls(answers, quantity=quantity).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "density") -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        kind : {"density", "interval"}, default="density"

        Returns
        -------
        SimilarityDisplay

        Raises
        ------
        ValueError
            For another kind, answers that are not single ones, no answers, or answers whose
            intervals differ in ``prob``.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import SimilarityDisplay
        >>> display = SimilarityDisplay({"cat and mat": model.similarity("cat", "mat")})
        >>> display.plot().ax_.get_yticklabels()[0].get_text()
        'cat and mat'
        """
        check_choice("kind", kind, ("density", "interval"))
        found = [_single(label, answer) for label, answer in self.answers.items()]
        mean, interval = np.array([m for m, _, _ in found]), np.array([i for _, i, _ in found])
        _, source = of_all(self.answers)
        few = np.array([np.any(few_pairs(answer)) for answer in self.answers.values()])
        if source is None:
            # a point estimate beside intervals has none
            points = [answer.source == "point" for answer in self.answers.values()]
            interval = np.where(np.array(points)[:, None], np.nan, interval)
        dense = kind == "density" and source != "point"
        tall = max(_TALL if dense else 1.0, row_ends(self.answers)[1].max())
        (axes,) = self._open(ax, ROW * tall * len(mean) + AROUND)
        made = forest(axes, list(self.answers), mean, interval, source=source, few=few)
        self.points_, self.intervals_ = made
        self.densities_ = []
        if dense:
            # what the prior infers from elsewhere is no density of the data
            rows = [(row, d) for row, (*_, d) in enumerate(found) if not few[row]]
            drawn = [density(axes, row, d, color=COLORS[0]) for row, d in rows]
            self.densities_ = [d for d in drawn if d is not None]
            axes.set_ylim(len(mean) - 0.7, -1.0)
        # what ends at a bound, as at a cosine of 1, is seen to end there
        axes.margins(x=_MARGIN)
        low, high = axes.get_xlim()
        if low < 0.0 < high:
            reference(axes, 0.0)
        label = f"{self.quantity}\n{label_of_all(self.answers)}"
        if few.any():
            label += f"\nhollow: {TOO_LITTLE}, inferred from others"
        axes.set_xlabel(label)
        return self._close()


def _quantity_of(answers):
    answers = list(answers)
    titles = [str(getattr(answer, "title", "")) for answer in answers]
    differ = [not set(SIGNED).isdisjoint(answer) for answer in answers]
    similar = ["similarity" in title for title in titles]
    if all(differ):
        return "difference of cosines" if all(similar) else "difference"
    if not any(differ) and all(similar):
        return "cosine"
    # one name for what all are, where they have it
    return titles[0] if len(set(titles)) == 1 and titles[0] else "answer"


def _single(label, answer):
    """Mean, interval and draws of an answer that is a single number."""
    if hasattr(answer, "draws") and "times" in answer and np.size(answer.mean) != 1:
        raise ValueError(
            f"answers[{label!r}] must be a single answer, got one for each of "
            f"{np.size(answer.mean)} periods: DriftDisplay draws it; for one period, give period=."
        )
    if not hasattr(answer, "draws") or np.size(answer.mean) != 1:
        raise ValueError(
            f"answers[{label!r}] must be a single number with its draws, such as an answer of "
            f"similarity, got {_in_brief(answer)}. Pass a dict of labels and answers: "
            "{'god and law': answer}."
        )
    return float(np.ravel(answer.mean)[0]), np.reshape(answer.interval, 2), np.ravel(answer.draws)


def _in_brief(answer):
    """What was given, in a few words."""
    if not hasattr(answer, "axes"):
        return repr(answer) if isinstance(answer, str | int | float) else type(answer).__name__
    return f"{np.size(answer.mean)} numbers, by {' and '.join(answer.axes)}"


def checked_pairs(pairs):
    """Pairs of words in a list.

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(pairs, str) or not hasattr(pairs, "__iter__") or not (pairs := list(pairs)):
        raise ValueError(f"pairs must be a list of pairs of words, got {pairs!r}.")
    for pair in pairs:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"pairs must be a list of pairs of words, got {pair!r} in it.")
    return pairs

"""Similarities over time, with bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..posterior.sentences import together
from ..posterior.sources import where_few
from ..sgns.comparisons import check_different
from ..sgns.questions.phrases import phrase_of
from ..sgns.questions.verdicts import few_pairs
from .canvas import Display, can, curves, label_of_all, labelled, legend_above
from .labels import called, called_each, label_times, wrapped, wrapped_each
from .marks import band, reference

# Inches, without and for each line of the legend.
_HEIGHT, _LINE = 2.1, 0.1
# Letters of a line of the legend, and of its title.
_LETTERS, _TITLE = 40, 46


class DriftDisplay(Display):
    """Similarities of words over the periods of a `DynamicSGNS`: means as lines, with bands.

    If a word has fewer than 10 uses in a period, or occurs in fewer than 3 of its units (not in
    all, where the period has only 1 or 2), the point is hollow, the line dotted and the band pale:
    the estimate is what the prior infers from other periods.

    Parameters
    ----------
    answers : mapping of str to Answer, Answer, or list of Answer
        Answers of ``similarity`` or ``self_similarity``, or each the ``contrast`` of two, by label.
        Without labels they are labelled by what was asked.

    Attributes
    ----------
    sentence : str
        The answers in words, to be copied, as for a caption.
    lines_ : list of matplotlib.lines.Line2D
        Posterior means over time, one line for each answer.
    bands_ : list of matplotlib.collections.FillBetweenPolyCollection
        Intervals; empty for a point estimate.
    hollow_ : list of matplotlib.lines.Line2D
        Points of periods with little data, one entry for each answer that has some.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import DynamicSGNS
    >>> from skbayesembed.plotting import DriftDisplay
    >>> old, new = "the tape is in the deck", "the tape is on the box"
    >>> model = DynamicSGNS(1, solver="map", min_count=1, random_state=0)
    >>> model = model.fit([old, new] * 20, times=[1980, 1981] * 20)
    >>> display = DriftDisplay.from_estimator(model, "tape", "deck", "box")
    >>> [line.get_label() for line in display.lines_]
    ['tape, deck', 'tape, box']
    >>> display.lines_[0].get_xdata()
    array([1980., 1981.])
    """

    def __init__(self, answers: Any) -> None:
        self.answers = labelled(answers)

    @property
    def sentence(self) -> str:
        """The answers in words, to be copied."""
        return together([answer.sentence for answer in self.answers.values()])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        word: Any,
        *others: Any,
        reference: Any = None,
        periods: Any = None,
        prob: float = 0.9,
        ax: Any = None,
    ) -> Self:
        """Show how similar a word was to others over time, or to itself in one period.

        Parameters
        ----------
        estimator : DynamicSGNS
            Fitted.
        word : str, int, list of either, or Axis
        *others : as word
            A line for each. Without any, the word is compared with itself in ``reference``. A
            tuple is a list of words, whose mean is compared, and no pair: for several pairs, pass
            their answers to `from_answers`.
        reference : time or label of a period, optional
            As in ``self_similarity``; the first period by default.
        periods : list of times or labels of periods, optional
            Periods to show; all by default.
        prob : float, default=0.9
            Probability of the bands, in each period.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        DriftDisplay

        Raises
        ------
        KeyError
            For an unknown word.
        ValueError
            If two of the words or lists of words are the same.
        TypeError
            For an estimator without periods.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=times)
        >>> from skbayesembed.plotting import DriftDisplay
        >>> display = DriftDisplay.from_estimator(model, "cat", "dog", "mat")
        >>> len(display.lines_)
        2
        """
        can(estimator, "self_similarity", cls.__name__)
        options = {"periods": periods, "prob": prob}
        if not others:
            found = estimator.self_similarity(word, reference, **options)
            return cls({f"{called(word)}, itself in {found.reference}": found}).plot(ax)
        check_is_fitted(estimator, "posterior_")
        phrases = [phrase_of(estimator, other, "others") for other in others]
        check_different(phrase_of(estimator, word, "word"), phrases)
        pairs = [(word, other) for other in others]
        answers = {
            label: estimator.similarity(*pair, **options)
            for label, pair in zip(called_each(pairs), pairs, strict=True)
        }
        return cls(answers).plot(ax)

    @classmethod
    def from_answers(cls, answers: Any, *, ax: Any = None) -> Self:
        """Show the result of ``similarity`` or ``self_similarity``.

        Parameters
        ----------
        answers : mapping of str to Answer, Answer, or list of Answer
            The answers, by label, or labelled by what was asked.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        DriftDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=times)
        >>> from skbayesembed.plotting import DriftDisplay
        >>> answers = {"cat, dog": model.similarity("cat", "dog")}
        >>> len(DriftDisplay.from_answers(answers).lines_)
        1
        """
        return cls(answers).plot(ax)

    def _too_little(self):
        """What hollow points mean; where it is the reference that lacks text, all are."""
        few = [a for a in self.answers.values() if np.any(a.get("few_pairs", False))]
        where = {where_few(a) if "reference" in a and np.all(a.few_pairs) else "" for a in few}
        (where,) = where if len(where) == 1 else {""}
        if where:
            return f"hollow: too little text in {where}"
        return "hollow: too little text of a word here, inferred from other periods"

    def _are_differences(self):
        """Whether answers are differences; ValueError where they are not all about periods."""
        kinds = set()
        for label, answer in self.answers.items():
            of_periods = isinstance(answer, Mapping) and "times" in answer
            if not of_periods or np.ndim(answer.mean) != 1:
                about = f" about {list(answer.axes)}" if hasattr(answer, "axes") else ""
                raise ValueError(
                    f"answers[{label!r}] must have one number for each of several periods, such as "
                    "an answer of similarity of a DynamicSGNS, or a contrast of two, got "
                    f"{type(answer).__name__}{about}."
                )
            kinds.add("prob_positive" in answer)
        if len(kinds) > 1:
            raise ValueError(
                "answers must be all similarities or all contrasts of two, got both: draw them in "
                "two figures."
            )
        return kinds == {True}

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        DriftDisplay

        Raises
        ------
        ValueError
            If the answers are not about periods, if some are differences and others are not, or
            if their intervals differ in ``prob``.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=times)
        >>> from skbayesembed.plotting import DriftDisplay
        >>> display = DriftDisplay({"cat": model.self_similarity("cat")})
        >>> display.plot().ax_.get_ylabel()
        'cosine'
        """
        differences = self._are_differences()
        band_label = wrapped(label_of_all(self.answers, "band"), _TITLE)
        labels = wrapped_each([str(label) for label in self.answers], _LETTERS)
        lines = sum(1 + label.count("\n") for label in labels) + band_label.count("\n")
        (axes,) = self._open(ax, _HEIGHT + _LINE * lines)
        self.lines_, self.bands_, self.hollow_, marks = [], [], [], []
        shown = zip(labels, self.answers.values(), curves(), strict=False)
        for label, found, (color, line, marker) in shown:
            few = np.broadcast_to(few_pairs(found), np.shape(found.mean))
            # periods may be asked for in any order
            order = np.argsort(found.times, kind="stable")
            times, mean, few = np.asarray(found.times)[order], found.mean[order], few[order]
            look = {"color": color, "line": line, "marker": marker, "label": label}
            look |= {"source": found.source, "seen": ~few}
            made = band(axes, times, mean, found.interval[order], **look)
            marks.append(made)
            self.lines_.append(made.points)
            self.bands_ += [] if made.intervals is None else [made.intervals]
            if np.any(few):
                look = {"ms": 3.5, "ls": "none", "color": color, "mfc": "white"}
                self.hollow_ += axes.plot(times[few], mean[few], marker, **look)
        if self.hollow_:
            look = {"ms": 3.5, "lw": 1.0, "color": "0.3", "mfc": "white"}
            axes.plot([], [], "o:", label=wrapped(self._too_little(), _LETTERS), **look)
        axes.set_ylabel("difference of cosines" if differences else "cosine")
        if differences:
            reference(axes, 0.0, axis="y")
        answers = self.answers.values()
        times = np.concatenate([np.ravel(one.times) for one in answers])
        label_times(axes, times, [label for one in answers for label in one.axes["period"]])
        legend_above(axes, band_label, marks)
        return self._close()

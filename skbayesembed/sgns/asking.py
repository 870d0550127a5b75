"""Axes and contrasts, which all estimators with vectors of words have."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from .questions.asking import Answer, contrast
from .questions.phrases import Axis, known_axis
from .vectors import deviations_of


class AskingMixin:
    """Questions about words, for all estimators that have vectors of words."""

    def axis(self, high: Any, low: Any) -> Axis:
        """Return the direction from one word, or list of words, to another.

        An axis can be used wherever a word can: ``similarity(word, axis)`` is the projection of a
        word on it, the cosine with the mean of the unit vectors of ``high`` less that of ``low``
        (Kozlowski, Taddy & Evans 2019). `project` makes a table of many words.

        Parameters
        ----------
        high, low : str, int or list of either
            Words at the end where projections are positive, and at the other end. In a list, only
            words in the vocabulary are used.

        Returns
        -------
        Axis

        Raises
        ------
        KeyError
            For an unknown word, or a list without a known one.
        ValueError
            If both ends have the same words.

        Warns
        -----
        UserWarning
            If words of a list are left out.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> model.axis(["cat"], ["dog"])
        Axis(['cat'], ['dog'])
        """
        check_is_fitted(self, "posterior_")
        return known_axis(self, high, low)

    def contrast(
        self,
        a: Answer,
        b: Answer,
        *,
        low: float | None = None,
        high: float | None = None,
        prob: float = 0.9,
    ) -> Answer:
        """Return the difference of two answers, from joint draws.

        Parameters
        ----------
        a, b : Answer, Nearer or Projections
            Answers of methods of this fit: similarities, probabilities, effect sizes or other
            contrasts, and what `nearer` and `project` return. Equally many in both, or a single one
            in either. Rows with the same labels in another order are put in that of ``a``.
        low, high : float, optional
            Ends of a range of differences, such as one of equivalence.
        prob : float, default=0.9
            Probability of the interval.

        Returns
        -------
        Answer
            ``a - b``, as in `similarity`, and ``prob_positive``, the probability that ``a`` is
            larger. With ``low`` or ``high``, also ``prob_inside``, the probability of a difference
            between them.

            ``verdict`` sums up, if there is an interval: ``"larger"`` (``a`` is) if the whole
            interval is above zero, ``"smaller"`` if it is below, else ``"not decided"``;
            ``"the same"`` if they are equal in every draw, as an answer is to itself (the
            difference is then exactly 0, and ``prob_positive`` NaN);
            ``"not mixed"`` if the chains have not mixed (of intervals by draws); or ``"no data"``
            if an answer over time has too little text: fewer than 10 uses of a word
            in a period, or too few units with it (``few_pairs``, see
            `DynamicSGNS.similarity_change`). ``sentence`` states the difference in words, or all
            of several, to be copied.

        Raises
        ------
        ValueError
            For objects that are no answers of this fit, shapes that do not fit, or ends out of
            order.

        Notes
        -----
        Draws of all answers of a fit belong together, whenever they are asked for: the same row of
        ``draws`` has the same draw of the posterior, or the same sample of units. What two answers
        share cancels in their difference. The interval is that of the difference itself, not
        computed from the two intervals, and may be narrower or wider than they suggest.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> first, second = model.similarity("cat", "dog"), model.similarity("cat", "mat")
        >>> answer = model.contrast(first, second)
        >>> bool(np.isclose(answer.mean, first.mean - second.mean))
        True
        """
        check_is_fitted(self, "posterior_")
        return contrast(self, a, b, low, high, prob)

    def _deviations(self):
        """`Deviations` where intervals are to know of units, else None."""
        return deviations_of(self)

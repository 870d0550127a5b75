"""The word vectors of one period, for models that take them as given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer
from ..sgns.drawn import single_words
from .features import sampled_features


class PeriodVectors:
    """Word vectors of one period of a `DynamicSGNS`, to be used as ``embedding=``.

    Parameters
    ----------
    estimator : DynamicSGNS
        Fitted estimator, which is kept.
    period : int
        Number of the period.

    Attributes
    ----------
    rho_ : ndarray of shape (n_words, n_components)
        Posterior means of the target vectors.
    words_ : ndarray of str of shape (n_words,)
    vocabulary_ : dict
        Position of each word in ``words_``.
    label : str
        Label of the period.

    Examples
    --------
    >>> from skbayesembed import DynamicSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    >>> vectors = model.fit(texts, times=[1900] * 15 + [1901] * 15).vectors_at(1901)
    >>> vectors
    PeriodVectors of 8 words in 1901
    >>> vectors.sample_vectors(["cat", "dog"], 50).shape
    (50, 2, 2)
    """

    def __init__(self, estimator: Any, period: int) -> None:
        self._estimator, self._period = estimator, period
        self.rho_ = estimator.rho_[period]
        self.words_, self.vocabulary_ = estimator.words_, estimator.vocabulary_
        self.label = str(estimator.periods_.labels[period])

    def __repr__(self) -> str:
        return f"PeriodVectors of {self.words_.size} words in {self.label}"

    def sample_vectors(
        self, words: Sequence[str | int] | None = None, n_draws: int = 100
    ) -> np.ndarray:
        """Draw vectors of words jointly, as `BayesianSGNS.sample_vectors` does.

        Parameters
        ----------
        words : list of str or int, optional
            All by default.
        n_draws : int, default=100
            Number of draws.

        Returns
        -------
        ndarray of shape (n_draws, n_words, n_components)

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=times)
        >>> model.vectors_at(1901).sample_vectors(["cat", "dog"], 5).shape
        (5, 2, 2)
        """
        check_integer("n_draws", n_draws, 1)
        counts = single_words(self._estimator, words)
        centres = np.full(counts.shape[0], self._estimator.periods_.centres[self._period])
        return sampled_features(self._estimator, counts, centres, n_draws)


class VectorsAtMixin:
    """Adds `vectors_at` to an estimator of vectors in periods."""

    periods_: Any

    def vectors_at(self, period: Any) -> PeriodVectors:
        """Return the word vectors of one period, to be used as ``embedding`` of other estimators.

        Parameters
        ----------
        period : time or label of a period
            Any time in a period names it.

        Returns
        -------
        PeriodVectors

        Raises
        ------
        ValueError
            If there is no such period.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.vectors_at(1900)
        PeriodVectors of 8 words in 1900
        """
        check_is_fitted(self, "posterior_")
        return PeriodVectors(self, self.periods_.find(period, "period"))

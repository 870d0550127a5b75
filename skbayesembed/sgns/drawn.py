"""Draws of word vectors, for models that take them as given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer, check_list
from .features import sampled_features
from .questions.phrases import list_index


class VectorDrawsMixin:
    """Adds `sample_vectors` to an estimator of one vector for a word."""

    words_: np.ndarray

    def sample_vectors(
        self, words: Sequence[str | int] | None = None, n_draws: int = 100
    ) -> np.ndarray:
        """Draw target vectors of words jointly.

        Parameters
        ----------
        words : list of str or int, optional
            All by default. Words of a list that are not in the vocabulary are left out, with a
            warning.
        n_draws : int, default=100

        Returns
        -------
        ndarray of shape (n_draws, n_words, n_components)
            Draws about ``rho_``, in its axes. With ``uncertainty="documents"`` vectors vary with
            the sampling of the training documents; otherwise they are draws of the posterior (see
            ``sample_transform``). They are the same whenever they are asked for.

        Raises
        ------
        ValueError
            If there is only a point estimate (``solver="map"`` with ``uncertainty="model"``).
        KeyError
            If none of the words is in the vocabulary.
        MemoryError
            If the draws would not fit in memory.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = BayesianSGNS(2, solver="laplace", min_count=1, random_state=0).fit(texts)
        >>> model.sample_vectors(["cat", "dog"], 50).shape
        (50, 2, 2)
        """
        check_is_fitted(self, "posterior_")
        check_integer("n_draws", n_draws, 1)
        return sampled_features(self, single_words(self, words), n_draws)


def single_words(estimator: Any, words: Any) -> sparse.csr_array:
    """Documents of one word each, counts of shape (n_words, n_vocabulary)."""
    size = estimator.words_.size
    if words is None:
        index = np.arange(size)
    else:
        index = list_index(estimator, check_list("words", words, "words"), "words")
    n = index.size
    return sparse.csr_array((np.ones(n), (np.arange(n), index)), (n, size))

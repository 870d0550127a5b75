"""How well topics predict documents: scores by document completion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..common.checks import NothingToScoreError, check_bool
from ..corpus.known import known_counts
from . import inputs
from .checks import document_weights
from .dirichlet.draws import OpenFoldIn
from .predict import completion
from .recording import has_gaussians


class ScoringMixin:
    """Methods of estimators whose topics predict held-out tokens."""

    # of the estimator
    posterior_: Any
    word_proba: str
    _vectors: Any
    _fold: Any

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        new_words: bool = False,
    ) -> float:
        """Return the held-out log probability per token, by document completion.

        Every other token of a document, in the order of the vocabulary, is held out, and theta is
        inferred from the rest.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
        y : None
            Ignored.
        sample_weight : array-like of shape (n_documents,), optional
            Weights of the documents, applied to their tokens in the mean; equal if None.
        new_words : bool, default=False
            For ``word_model="dirichlet"``: also count words of X that are not in the vocabulary but
            have a vector, with the probabilities that their vectors give them relative to the
            vocabulary.

        Returns
        -------
        float
            Mean over tokens of log sum_k theta_dk p(w | k), with the mean over draws inside the
            logarithm and p(w | k) as ``word_proba`` says. Words outside the vocabulary are left
            out, so scores are comparable only between models with the same words.

        Raises
        ------
        ValueError
            If no document that counts has two tokens, weights are not allowed, or
            ``new_words=True`` with Gaussian topics.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.score(data.counts) < 0
        True
        """
        check_is_fitted(self, "posterior_")
        check_bool("new_words", new_words)
        if new_words and has_gaussians(self.posterior_):
            raise ValueError("new_words=True needs topics of word_model='dirichlet'.")
        whole = self._scored(X, new_words)
        first, second = inputs.halves(whole.counts)
        if sample_weight is not None:
            weights = document_weights(sample_weight, second.shape[0])
            second = inputs.weighted(second, weights)
        reading = replace(whole, counts=first)
        if new_words:
            fold = self._fold(reading, fold_in=OpenFoldIn)
            return self._completed(fold, second, fold.proba)
        fold = self._fold(reading)
        draws, by = fold.draws, self.word_proba

        def proba_of(s):
            return draws.word_proba(s, by, self._vectors)[:, whole.places].T

        return self._completed(fold, second, proba_of)

    def _scored(self, X, new_words):
        """`Reading` of the words that a score is of."""
        if new_words:
            return inputs.reading(self, X)
        return inputs.vocabulary_reading(self, known_counts(self, X))

    def perplexity(self, X: Any) -> float:
        """Return ``exp(-score(X))``: how many equally probable words would be as uncertain.

        Parameters
        ----------
        X : documents or counts, as in ``fit``

        Returns
        -------
        float

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.perplexity(data.counts) > 1
        True
        """
        return float(np.exp(-self.score(X)))

    def log_density(self, X: Any, embedding: Any = None) -> float:
        """Return the held-out log density of word vectors per token, by document completion.

        Parameters
        ----------
        X, embedding
            As in `transform`.

        Returns
        -------
        float
            Mean over tokens of log sum_k theta_dk N(v_w; mu_k, Sigma_k), with halves as in `score`,
            and theta from densities. Vectors are scaled as ``normalize`` says; densities under
            different scalings are not comparable.

        Raises
        ------
        ValueError
            If no document has two tokens.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.log_density(data.counts) < 0
        True
        """
        check_is_fitted(self, "posterior_")
        reading = inputs.reading(self, X, embedding)
        first, second = inputs.halves(reading.counts)
        fold = self._fold(inputs.Reading(first, reading.vectors, reading.places), "density")
        draws = fold.draws
        tables = [draws.log_density(s, draws.seen(s, reading)) for s in range(len(draws))]
        top = np.max([table.max(axis=1) for table in tables], axis=0)
        found = self._completed(fold, second, lambda s: np.exp(tables[s] - top[:, None]))
        return found + float(np.average(top[second.indices], weights=second.data))

    def _completed(self, fold, second, proba_of):
        if second.data.sum() == 0:
            raise NothingToScoreError(
                "X has no document with two known tokens, to complete it from one."
            )
        return completion(fold, second, proba_of)

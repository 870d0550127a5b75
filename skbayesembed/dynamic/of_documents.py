"""What a fitted drifting model does with other documents: ``transform`` and ``score``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_choice, check_no_weights
from ..common.estimator import DocumentFeaturesMixin
from ..corpus.kinds import materialise
from ..corpus.known import warn_of_unknown
from ..posterior.sources import has_vector_draws
from ..sgns.vectors import deviations_of
from . import inputs, predict
from .features import sampled_features


class DynamicDocumentsMixin(DocumentFeaturesMixin):
    """Features and scores of documents, of an estimator of vectors in periods."""

    # of the estimator
    fit: Any
    features: str
    posterior_: Any
    periods_: Any
    words_: Any
    observed_: Any
    rho_: Any

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        times: ArrayLike | None = None,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Fit to X, then transform it.

        Parameters
        ----------
        X, times, units, sample_weight
            As in ``fit``, but X not PairCounts. An iterator is read once.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_documents, n_components)

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, min_count=1, draws=20, random_state=0)
        >>> model.fit_transform(texts, times=times).shape
        (30, 2)
        """
        X = materialise(X)
        inputs.refuse_pairs("fit_transform", inputs.kind_of(X)[0])
        self.fit(X, times=times, units=units, sample_weight=sample_weight)
        return self.transform(X, times=times)

    def transform(self, X: Any, *, times: ArrayLike | None = None) -> np.ndarray:
        """Turn documents into features: the mean target vector of their words at their times.

        Parameters
        ----------
        X : documents or counts, as in ``fit`` but not PairCounts
            Unknown words are ignored.
        times : array-like of shape (n_documents,), optional
            Times of the documents, which may lie outside the periods of ``fit``. Without times,
            features are averaged over periods.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Twice as many columns for ``features="mean_std"``: the means, then their standard
            deviations (see ``uncertainty``). Zeros for a document without a known word.

        Warns
        -----
        UserWarning
            If there are documents without a known word, or of times before the first period or
            after the last, where vectors are those of the nearest period, shrunk by the prior.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.transform(texts[:5], times=[1900] * 5).shape
        (5, 2)
        """
        check_is_fitted(self, "posterior_")
        check_choice("features", self.features, ("mean", "mean_std"))
        counts, centres = inputs.documents(self, X, times)
        warn_of_unknown(counts, "zeros")
        return predict.document_features(self, counts, centres, self.features == "mean_std")

    def _sampled_features(self, X, n_draws, times=None):
        counts, centres = inputs.documents(self, X, times)
        warn_of_unknown(counts, "zeros")
        return sampled_features(self, counts, centres, n_draws)

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        times: ArrayLike | None = None,
        sample_weight: None = None,
    ) -> float:
        """Return the mean held-out log predictive probability per observed pair.

        Documents are counted by one fixed protocol in each period (window 5 with linear weights, or
        the whole document for counts, a token counting once; expected negatives, one per positive,
        exponent 0.75; all words of the documents). Scores are thus comparable across all
        hyperparameters except those of the analyzer and of the periods. A pair with a word outside
        the vocabulary scores log 1/2. PairCounts are scored as they are.

        Parameters
        ----------
        X : documents, counts or list of PairCounts, as in ``fit``
        y : None
            Ignored.
        times : array-like of shape (n_documents,), optional
            Times of the documents. Outside the periods of ``fit``, vectors are drawn by
            ``random_state`` from the prior given those of the nearest period. Without times,
            probabilities are averaged over periods, and documents are counted all together.
        sample_weight : None
            Not supported: any other value raises a ValueError.

        Returns
        -------
        float
            Natural logarithm, at most 0; random guessing scores -0.693.

        Warns
        -----
        UserWarning
            If there are documents of times before the first period or after the last.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.score(texts[:5], times=[1900] * 5) < 0
        True
        """
        check_is_fitted(self, "posterior_")
        check_no_weights(self, sample_weight)
        return predict.mean_log_score(self, inputs.held_out(self, X, times))

    def _word_facts(self, period):
        """Standard deviations of target vectors in a period, and pairs of words."""
        t = self.periods_.find(period, "period")
        facts = {"pairs": self.observed_[t]}
        drawn = self.posterior_.attrs["solver"] != "map" and has_vector_draws(self.posterior_)
        if drawn or deviations_of(self) is not None:
            every = sparse.eye_array(self.words_.size, format="csr")
            centres = np.full(self.words_.size, self.periods_.centres[t])
            features = predict.document_features(self, every, centres, True)
            facts["spread"] = features[:, self._n_means :]
        return facts

    @property
    def _n_means(self):
        return self.rho_.shape[-1]

"""What a fitted model does with documents: ``transform``, ``score`` and ``loo``."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import spine
from ..common.checks import check_bool, check_choice, check_integer, check_no_weights
from ..common.estimator import DocumentFeaturesMixin
from ..corpus.kinds import materialise
from ..corpus.known import warn_of_unknown
from ..corpus.units import sampling_in_use
from ..posterior.results import Result
from ..posterior.sources import has_vector_draws
from . import inputs, predict
from .features import document_features, sampled_features
from .loo import loo
from .vectors import deviations_of


class DocumentsMixin(DocumentFeaturesMixin):
    """Features and scores of documents, and observations left out."""

    # of the estimator
    fit: Any
    features: str
    posterior_: Any
    _count_seed: Any

    def fit_transform(
        self,
        X: Any,
        y: None = None,
        *,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Fit to X, then transform it.

        Parameters
        ----------
        X : documents or counts, as in ``fit`` but not PairCounts
            An iterator is read once.
        y : None
            Ignored.
        units, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_documents, n_components)

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.fit_transform(texts).shape
        (30, 2)
        """
        X = materialise(X)
        if inputs.is_counted(X):
            raise TypeError("fit_transform takes documents or a count matrix, got counts of pairs.")
        return self.fit(X, y, units=units, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """Turn documents into features: count-weighted posterior-mean target vectors.

        Parameters
        ----------
        X : documents or counts, as in ``fit`` but not PairCounts

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Twice as many columns for ``features="mean_std"``: the means, then their standard
            deviations (see ``uncertainty``). Zeros for a document without a known word.

        Warns
        -----
        UserWarning
            If there are documents without a known word.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> model.transform(["the cat", "a dog on a rug"]).shape
        (2, 2)
        """
        check_is_fitted(self, "posterior_")
        check_choice("features", self.features, ("mean", "mean_std"))
        counts = inputs.count_documents(self, X)
        warn_of_unknown(counts, "zeros")
        return document_features(self, counts, self.features == "mean_std")

    def _sampled_features(self, X, n_draws):
        counts = inputs.count_documents(self, X)
        warn_of_unknown(counts, "zeros")
        return sampled_features(self, counts, n_draws)

    def score(self, X: Any, y: None = None, *, sample_weight: None = None) -> float:
        """Return the mean held-out log predictive probability per observed pair.

        Held-out pairs are counted by a fixed protocol (window 5 with linear weights, or the whole
        document for counts, a token counting once; expected negatives, one per positive, exponent
        0.75; all words of the documents). Scores are thus comparable across all hyperparameters
        except those of the analyzer, which decides what a word of the text is. A pair with a word
        outside the vocabulary scores log 1/2. PairCounts are scored as they are, a PairShard with
        the negative pairs of the protocol.

        Parameters
        ----------
        X : documents, counts, PairCounts or PairShard, as in ``fit``
        y : None
            Ignored.
        sample_weight : None
            Not supported: any other value raises a ValueError.

        Returns
        -------
        float
            Natural logarithm, at most 0; random guessing scores -0.693.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.score(["the dog sat on the mat"]) < 0
        True
        """
        check_is_fitted(self, "posterior_")
        check_no_weights(self, sample_weight)
        return predict.mean_log_score(self.posterior_, inputs.held_out(self, X))

    def loo(
        self,
        X: Any,
        *,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        max_pairs: int = 2000,
        pointwise: bool = True,
    ) -> Result:
        """Estimate the expected log predictive density of left-out observations, by PSIS-LOO.

        Parameters
        ----------
        X : documents, counts or PairCounts
            What ``fit`` was given: the observations themselves are not stored.
        units : array-like of shape (n_documents,), optional
            What ``fit`` was given. Only their number is checked: an observation is left out, but
            not the rest of its unit. To hold out units, use `metrics.score_units`.
        sample_weight : array-like of shape (n_documents,), optional
            What ``fit`` was given.
        max_pairs : int, default=2000
            Maximum number of pairs for importance sampling. If there are more, a random sample is
            used, the same for models with the same ``random_state``.
        pointwise : bool, default=True
            Whether to return the densities of single observations, which
            `metrics.compare_models` needs.

        Returns
        -------
        Result
            ``elpd`` (a sum over observations), its ``se``, ``p_loo``, ``sampling_se``,
            ``n_observations``, ``n_evaluated``, ``pareto_k``, ``good_k``, ``bad_share``,
            ``n_units`` (units of sampling, as far as known; pairs are nevertheless treated as
            independent, and the table says so). With ``pointwise``, also ``weight`` (observations
            that an entry stands for), ``pairs`` (target, context, sign), ``proxy`` and ``n_drawn``.

        Raises
        ------
        ValueError
            If X has another vocabulary than the training data, or the solver is neither ``"gibbs"``
            nor ``"hmc"``.

        Warns
        -----
        UserWarning
            If some densities are unreliable according to their Pareto k.

        References
        ----------
        Vehtari, Gelman & Gabry (2017), Statistics and Computing 27.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = BayesianSGNS(2, solver="gibbs", min_count=1, draws=200, random_state=0)
        >>> model = model.fit(texts)
        >>> model.loo(texts).elpd < 0
        True
        """
        check_is_fitted(self, "posterior_")
        check_integer("max_pairs", max_pairs, 1)
        check_bool("pointwise", pointwise)
        solver = self.posterior_.attrs["solver"]
        if solver not in spine.CHAINS:
            raise ValueError(
                f"loo needs draws of the posterior: got solver={solver!r}, whose draws (if any) "
                "are those of an approximation. Use solver='gibbs' or 'hmc', or score on held-out "
                "data."
            )
        training = inputs.training_again(self, X, self._count_seed, sample_weight, units)
        # a copy's child: spawning counts children, and the next call is to make the same draws
        rng = np.random.default_rng(copy.copy(self._count_seed).spawn(1)[0])
        return loo(
            self.posterior_, training.counts, max_pairs=max_pairs, rng=rng, pointwise=pointwise
        )

    def _word_facts(self, period=None):
        """Standard deviations of target vectors, and units of words, where they are known."""
        facts = {}
        sampling = sampling_in_use(self)
        if self.uncertainty == "documents" and sampling and sampling.by_answer:
            # deviations of all words are not known
            return {"n_units": self.n_units_}
        deviations = deviations_of(self)
        drawn = self.posterior_.attrs["solver"] != "map" and has_vector_draws(self.posterior_)
        if drawn or deviations is not None:
            every = sparse.eye_array(self.words_.size, format="csr")
            facts["spread"] = document_features(self, every, True)[:, self._n_means :]
        if deviations is not None:
            facts["n_units"] = self.n_units_
        return facts

    @property
    def _n_means(self):
        return self.rho_.shape[1]

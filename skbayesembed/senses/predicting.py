"""Senses of snippets, how probable their words are, and snippets drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer
from ..common.estimator import check_room, recorded_draws
from ..common.memory import check_memory
from ..common.random import seed_sequence
from ..corpus.known import warn_of_unknown
from ..corpus.text import document_counts
from . import inputs
from .labels import snippet_weights
from .predict import SnippetReader, sample_snippets

# What snippets without a known word get, and what they are called.
_OF_PREVALENCE = "the prevalences of the senses", "snippets"


class PredictionMixin(TransformerMixin):
    """Methods of estimators that tell the senses of snippets."""

    # of the estimator
    posterior_: Any
    words_: Any
    random_state: Any
    n_features_in_: Any
    _columns: Any

    def predict_proba(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return the probabilities of the senses of snippets.

        Parameters
        ----------
        X : snippets, as in ``fit``
        times, genres : array-like of shape (n_snippets,), optional
            If not given, averaged over, weighted by their shares of the training snippets.
        units : array-like of shape (n_snippets,), optional
            Units of the snippets, if ``fit`` was given units. Units seen in ``fit`` have their own
            prevalences. For other units, or if not given, each snippet is averaged over the
            population of units, independently of the others.

        Returns
        -------
        ndarray of shape (n_snippets, n_senses)
            Posterior means of eq. 5. Known senses given to ``fit`` are not taken into account: a
            labeled snippet is read by its words, like any other, and may get another sense.

        Raises
        ------
        ValueError
            If a genre is not among those of ``fit``, or units are given without times or genres.

        Warns
        -----
        UserWarning
            If there are snippets without a known word, which get the prevalences of the senses, or
            snippets of times outside the periods of ``fit``, which are read as of the nearest.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> model.predict_proba(["river flood", "loan"]).shape
        (2, 2)
        """
        reader = self._reader(X, times, genres, units)
        warn_of_unknown(reader.places.counts, *_OF_PREVALENCE)
        return reader.sense_proba()

    def predict(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return the most probable sense of each snippet.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.

        Returns
        -------
        ndarray of int of shape (n_snippets,)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> river, loan = model.predict(["river flood", "loan"])
        >>> bool(river != loan)
        True
        """
        return self.predict_proba(X, times=times, genres=genres, units=units).argmax(axis=1)

    def transform(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return the probabilities of senses as features; the same as ``predict_proba``.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_snippets, n_senses)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.transform(["water flood", "money"]).shape
        (2, 2)
        """
        return self.predict_proba(X, times=times, genres=genres, units=units)

    def _sampled_features(self, X, n_draws, times=None, genres=None, units=None):
        reader = self._reader(X, times, genres, units)
        warn_of_unknown(reader.places.counts, *_OF_PREVALENCE)
        check_room(n_draws, reader.places.n_snippets, self._n_features_out)
        return reader.sense_proba_draws(recorded_draws(self, n_draws))

    def score_samples(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return the log posterior predictive probability of each snippet's words.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_snippets,)
            Log of the mean of eq. 9 over draws, for the words in their order; 0 for a snippet
            without known words.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.score_samples(["water flood", "money"]).shape
        (2,)
        """
        return self._reader(X, times, genres, units).log_predictive()

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> float:
        """Return the mean log posterior predictive probability per snippet.

        Words outside the vocabulary are left out, so scores are comparable only between models with
        the same words.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_snippets,), optional
            Weights of the snippets in the mean.

        Returns
        -------
        float

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.score(["water flood"]) < 0
        True
        """
        found = self.score_samples(X, times=times, genres=genres, units=units)
        if sample_weight is None:
            return float(found.mean())
        weight = snippet_weights(sample_weight, found.size)
        return float(np.average(found, weights=weight))

    def sample(
        self,
        n_samples: int = 1,
        *,
        times: Any = None,
        genres: Any = None,
        units: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Draw snippets from the posterior predictive distribution.

        Each snippet comes from its own draw of the posterior, and has as many words as a training
        snippet chosen at random.

        Parameters
        ----------
        n_samples : int, default=1
        times, genres : array-like of shape (n_samples,) or one for all, optional
            If not given, drawn according to their shares of the training snippets.
        units : array-like of shape (n_samples,) or one for all, optional
            As in ``predict_proba``; a snippet without a unit seen in ``fit`` comes from a new unit
            of its own.
        random_state : int, RandomState instance or None, default=None
            None uses the estimator's.

        Returns
        -------
        X : csr_array of shape (n_samples, n_features)
            Counts, in the columns of the matrix given to ``fit``, or in the order of ``words_`` if
            ``fit`` was given text.
        senses : ndarray of int of shape (n_samples,)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> counts, senses = model.sample(3, times=[1810, 1810, 1811], random_state=0)
        >>> counts.shape, senses.shape
        ((3, 6), (3,))
        """
        check_is_fitted(self, "posterior_")
        check_integer("n_samples", n_samples, 1)
        # counts of words, and what they are drawn from
        check_memory(8 * n_samples * self.words_.size, "n_samples samples", "Ask for fewer.")
        times, genres, units = (
            [x] * n_samples if x is not None and np.ndim(x) == 0 else x
            for x in (times, genres, units)
        )
        counts = sparse.csr_array((n_samples, self.words_.size))
        places = inputs.placed(self, counts, times, genres, units)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        words, offsets, senses = sample_snippets(self, places, np.random.default_rng(seed))
        n_features = self.words_.size
        if self._columns is not None:
            words, n_features = self._columns[words], self.n_features_in_
        return document_counts(words, offsets, n_features), senses

    def _reader(self, X, times, genres, units):
        check_is_fitted(self, "posterior_")
        return SnippetReader(self, inputs.places(self, X, times, genres, units))

    @property
    def _n_features_out(self):
        return self.posterior_["prevalence"].shape[-1]

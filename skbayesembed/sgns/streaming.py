"""Learning online: passes over data in memory, and streams of documents by ``partial_fit``."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.metaestimators import available_if

from ..common.estimator import Learned, learns_online
from ..common.random import seed_sequence
from ..corpus.text import analyzer_of, distinct_words, encode, keep_tokens, materialise
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from . import fitting, inputs
from .batches import CorpusBatches, MatrixBatches, PairBatches
from .checks import check_parameters, check_words
from .counting import PairCounts
from .priors import build_prior
from .vi.solver import online_posterior, start_online, stream_posterior


def fit_passes(estimator, training, vocabulary, seeds):
    """Fit by ``n_passes`` passes over data in memory: a `Fitted`.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
        With ``source``, and without counts where batches make their own.
    vocabulary : dict of str to int
    seeds : tuple of two SeedSequence
    """
    prior = build_prior(estimator, vocabulary)
    settings = fitting.plan_draws(estimator, vocabulary)
    posterior = online_posterior(
        estimator, training.source, prior, training.words, settings, seeds[1],
        batch_size=estimator.batch_size, n_passes=estimator.n_passes,
    )  # fmt: skip
    return fitting.Fitted(posterior, None, posterior.attrs["n_iter"])


def online_training(estimator, X):
    """`inputs.Training` whose ``source`` makes the counts of a batch when it is asked for."""
    kind, X = inputs.kind_of(X)
    inputs.forget_columns(estimator, kind)
    if kind == "pairs":
        training = inputs.training_counts(estimator, X, None)
        return inputs.Training(None, training.words, None, PairBatches(training.counts))
    if kind == "counts":
        matrix, words, columns = inputs.checked_matrix(estimator, X)
        return inputs.Training(None, words, columns, MatrixBatches(matrix))
    corpus = inputs.checked_corpus(estimator, X, kind)
    source = CorpusBatches(
        estimator, corpus.ids, corpus.offsets, corpus.words.size, corpus.frequency
    )
    return inputs.Training(None, corpus.words, None, source)


class Stream:
    """What ``partial_fit`` has learned from the batches seen so far.

    Parameters
    ----------
    estimator : BayesianSGNS
    X : documents, counts or PairCounts
        The first batch; it decides on the kind of input, and on the vocabulary where none is given.
    vocabulary : list of str or None
    """

    def __init__(self, estimator, X, vocabulary):
        learn_seed, self.data_seed, self.draw_seed = seed_sequence(estimator.random_state).spawn(3)
        self.rng = np.random.default_rng(self.data_seed)
        kind, X = inputs.kind_of(X)
        self.columns = None
        if kind == "counts":
            if vocabulary is not None:
                raise ValueError(
                    "vocabulary is for text: the words of a count matrix are its columns, "
                    "named by feature_names."
                )
            _, self.words = inputs.named_matrix(estimator, X)
            self.columns = np.arange(self.words.size)
        elif vocabulary is not None:
            self.words = distinct_words(vocabulary)
        else:
            self.words = online_training(estimator, X).words
        inputs.check_vocabulary(estimator, self.words.size)
        self.vocabulary = {word: i for i, word in enumerate(self.words.tolist())}
        self.tokens = np.zeros(self.words.size)
        prior = build_prior(estimator, self.vocabulary)
        self.settings = fitting.plan_draws(estimator, self.vocabulary)
        self.online = start_online(estimator, self.words.size, prior, learn_seed)

    def learn(self, estimator, X):
        """Take in a batch."""
        kind, X = inputs.kind_of(X)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            if kind == "pairs":
                self.online.learn_pairs(self._aligned(X), run)
                return
            source = self._source(estimator, X, inputs.fitted_kind(estimator, kind))
            for positive in source.batches(estimator.batch_size, self.rng, shuffle=False):
                self.online.learn(positive, run)

    def _source(self, estimator, X, kind):
        if kind == "counts":
            return MatrixBatches(inputs.check_columns(estimator, X))
        ids, offsets = encode(X, analyzer_of(estimator, kind), self.vocabulary)
        # words outside the vocabulary vanish and their neighbours close up, as in fit
        ids, offsets = keep_tokens(ids, offsets, ids >= 0)
        self.tokens += np.bincount(ids, minlength=self.words.size)
        return CorpusBatches(estimator, ids, offsets, self.words.size, self.tokens)

    def _aligned(self, counts):
        named = counts.words is not None
        if counts.n_words != self.words.size or (
            named and not np.array_equal(counts.words.astype(str), self.words)
        ):
            raise ValueError(
                f"X must count pairs of the {self.words.size} words of the first batch, in their "
                f"order, got {counts.n_words} words."
            )
        return PairCounts(counts.positive, counts.negative)

    def posterior(self, estimator):
        """The `Posterior` of what was learned so far."""
        attrs = {"n_iter": self.online.n_batches, "converged": False, "interrupted": False}
        return stream_posterior(
            estimator, self.online, self.words, self.settings, self.draw_seed, attrs
        )


class StreamingMixin:
    """``partial_fit``, and fitted attributes that are worked out when they are looked at."""

    anchors_ = Learned()
    n_iter_ = Learned()
    posterior_ = Learned()
    rho_ = Learned()
    alpha_ = Learned()
    approximation_ = Learned()
    elbo_ = Learned()

    @available_if(learns_online)
    def partial_fit(self, X, y=None, *, vocabulary=None):
        """Learn from one more batch of a stream, by stochastic variational inference.

        Parameters
        ----------
        X : documents, counts or PairCounts, as in ``fit``
            Every call counts its documents as new ones. Pairs are within documents, so the cuts
            of the stream do not matter.
        y : None
            Ignored.
        vocabulary : list of str, optional
            The words to learn, looked at in the first call; by default those of the first batch
            that ``min_count`` and ``max_features`` leave. All columns of a count matrix are words.

        Returns
        -------
        self

        Raises
        ------
        AttributeError
            If the solver is not ``"vi"``.
        ValueError
            If X is of another kind than the first batch.

        Notes
        -----
        Memory depends on the vocabulary and the batch, not on the stream. Draws and means are made
        when they are first looked at after a call.
        """
        check_parameters(self)
        X = materialise(X)
        stream = self.__dict__.get("_stream")
        if stream is None:
            stream = Stream(self, X, vocabulary)
            inputs.forget_columns(self, "counts" if stream.columns is not None else "text")
            check_words(self, stream.vocabulary)
            self._note_words(stream.words, stream.vocabulary, stream.columns)
            self._count_seed = stream.data_seed
        stream.learn(self, X)
        self._stream = stream
        self._fitted = None
        return self

    def _note_words(self, words, vocabulary, columns):
        self.words_ = words
        self.vocabulary_ = vocabulary
        self._columns = columns

    def _set_fitted(self, found):
        posterior = found.posterior
        self._fitted = {
            "anchors_": found.anchors,
            "n_iter_": found.n_iter,
            "posterior_": posterior,
            "rho_": posterior.mean("rho"),
            "alpha_": posterior.mean("alpha"),
        }
        approximation = posterior.approximation
        if approximation is not None:
            self._fitted["approximation_"] = approximation
        if hasattr(approximation, "elbo"):
            self._fitted["elbo_"] = approximation.elbo

    def _read_stream(self):
        posterior = self._stream.posterior(self)
        n_batches = max(1, self._stream.online.n_batches)
        self._set_fitted(fitting.Fitted(posterior, None, n_batches))

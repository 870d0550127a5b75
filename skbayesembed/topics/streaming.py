"""Fitted attributes of topics, and their learning from streams of documents by ``partial_fit``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.metaestimators import available_if

from ..common.checks import check_integer
from ..common.estimator import Learned, learns_online
from ..common.random import seed_sequence
from ..corpus.text import materialise
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from . import fitting, inputs
from .checks import check_dimensions, check_parameters, topic_prior
from .choice import vector_prior
from .data import Documents
from .reading import mean_word_proba
from .solvers import drawn
from .vi.online import OnlineTopics, batches
from .vi.variational import TopicApproximation


class Stream:
    """What ``partial_fit`` has learned from the batches seen so far.

    Parameters
    ----------
    estimator : GaussianLDA
    X : documents or counts
        The first batch; it decides on the kind of input, and on the vocabulary where none is given.
    vocabulary : list of str or None
    total_samples : int or None
        Documents of the whole corpus; those seen so far where None.
    """

    def __init__(self, estimator, X, vocabulary, total_samples):
        of_start, self.of_draws = seed_sequence(estimator.random_state).spawn(2)
        training = inputs.training_data(estimator, X, vocabulary)
        check_dimensions(estimator, training.vectors.shape[1])
        self.settings = fitting.plan_draws(estimator, training.vectors.shape)
        totals = np.asarray(training.counts.sum(axis=0)).ravel()
        self.online = OnlineTopics(
            training.vectors,
            estimator.n_components,
            vector_prior(estimator, training.vectors, totals),
            topic_prior(estimator),
            np.random.default_rng(of_start),
            power=float(estimator.likelihood_power),
            learn_alpha=estimator.learn_doc_topic_prior or None,
            learning_offset=estimator.learning_offset,
            learning_decay=estimator.learning_decay,
            n_documents=total_samples,
        )
        # no documents are kept
        self.training = replace(training, counts=None)

    def learn(self, estimator, X):
        """Take in documents, in minibatches."""
        documents = Documents.of(inputs.known_counts(estimator, X), self.online.vectors)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            for batch in batches(documents, estimator.batch_size):
                self.online.learn(batch, run)

    def fitted(self, estimator):
        """`fitting.Fitted` of what was learned so far."""
        q = self.online.result()
        facts = {"n_iter": self.online.n_batches, "converged": False}
        # a copy, so that every look at the same state makes the same draws
        rng = np.random.default_rng(self.of_draws)
        result = drawn(self.online, q, self.settings, rng, facts, TopicApproximation(q))
        power, words = self.online.power, self.training.words
        posterior = fitting.assemble(estimator, result, self.settings, power, words)
        return fitting.Fitted(posterior, max(1, self.online.n_batches), power)


class TopicStreamingMixin:
    """``partial_fit``, and fitted attributes that are worked out when they are looked at."""

    posterior_ = Learned()
    components_ = Learned()
    topic_means_ = Learned()
    topic_covariances_ = Learned()
    doc_topic_prior_ = Learned()
    likelihood_power_ = Learned()
    likelihood_power_scores_ = Learned()
    n_iter_ = Learned()
    approximation_ = Learned()
    elbo_ = Learned()

    @available_if(learns_online)
    def partial_fit(self, X, y=None, *, vocabulary=None, total_samples=None):
        """Learn from more documents of a stream, by stochastic variational inference.

        A call after ``fit`` starts a stream of its own.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
            Every call counts its documents as new ones; more than ``batch_size`` of them are cut
            into minibatches.
        y : None
            Ignored.
        vocabulary : list of str, optional
            Words to learn from, looked at in the first call; by default those of the first batch
            that have a vector and that ``min_count`` and ``max_features`` leave, or the columns
            of a count matrix that these leave.
        total_samples : int, optional
            Documents of the whole stream, looked at in the first call; by default the posterior
            is that of as many documents as were seen.

        Returns
        -------
        self

        Raises
        ------
        AttributeError
            If the solver is not ``"vi"``.
        ValueError
            If X is of another kind than the first batch, or ``likelihood_power="auto"``, for which
            ``fit`` needs documents to hold out.

        Notes
        -----
        Memory depends on the vocabulary and the batch, not on the stream. Draws and means are made
        when they are first looked at after a call. The centre of ``normalize`` and the prior of
        topics are those of the first batch and its vocabulary.
        """
        check_parameters(self)
        if isinstance(self.likelihood_power, str):
            raise ValueError(
                "likelihood_power='auto' is not available with partial_fit: give a number."
            )
        if total_samples is not None:
            check_integer("total_samples", total_samples, 1)
        X = materialise(X)
        stream = self.__dict__.get("_stream")
        if stream is None:
            stream = Stream(self, X, vocabulary, total_samples)
            self._note(stream.training)
        stream.learn(self, X)
        self._stream = stream
        self._fitted = None
        return self

    def _note(self, training):
        """Keep what the numbers of the posterior stand for."""
        self.words_ = training.words
        self.vocabulary_ = {word: i for i, word in enumerate(training.words.tolist())}
        self.embedding_mean_ = training.normaliser.centre
        self.n_dropped_words_ = training.n_dropped_words
        self.n_dropped_tokens_ = training.n_dropped_tokens
        self._columns = training.columns
        self._vectors = training.vectors
        self._normaliser = training.normaliser
        self._training = training.counts

    def _set_fitted(self, found):
        posterior = found.posterior
        self._fitted = {"posterior_": posterior, "likelihood_power_": found.power}
        self._components_by = self.word_model
        self._fitted |= {
            "n_iter_": found.n_iter,
            "components_": mean_word_proba(self, self.word_model),
            "topic_means_": posterior.mean("mean"),
            "topic_covariances_": posterior.mean("covariance"),
            "doc_topic_prior_": posterior.mean("alpha"),
        }
        more = {
            "likelihood_power_scores_": found.power_scores,
            "approximation_": posterior.approximation,
            "elbo_": getattr(posterior.approximation, "elbo", None),
        }
        self._fitted |= {name: value for name, value in more.items() if value is not None}

    def _read_stream(self):
        self._set_fitted(self._stream.fitted(self))

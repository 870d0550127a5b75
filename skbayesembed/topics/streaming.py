"""``partial_fit`` of topics, and the attributes that every fit leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from .. import spine
from ..common.checks import check_integer
from ..common.estimator import FittedMixin, Learned, fixed_of, online
from ..common.random import named_seeds
from ..corpus.analysis import analyzer_of
from ..corpus.kinds import input_kind, materialise
from ..corpus.known import known_counts
from ..corpus.streams import check_vocabulary_again, warn_of_no_known_word
from ..corpus.text import distinct_words, encode
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from . import inputs
from .checks import topic_prior
from .data import Documents
from .dirichlet.problem import pose_dirichlet
from .dirichlet.solver import learner as dirichlet_learner
from .dirichlet.solver import of_factors as dirichlet_factors
from .problem import Problem, vector_prior
from .recording import has_gaussians
from .solvers import ROOM
from .vi.online import batches, take
from .vi.solver import learner, of_factors
from .words import mean_word_proba

# What was learned so far belongs to.
_FIXED = (
    "n_components", "word_model", "background", "likelihood_power", "doc_topic_prior",
    "learn_doc_topic_prior", "normalize", "mean_prior", "mean_precision_prior",
    "degrees_of_freedom_prior", "covariance_prior", "learning_offset", "learning_decay",
)  # fmt: skip


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

    # words of the first call, also those without a vector; not known of streams that an earlier
    # version saved
    begun_with = None

    def __init__(self, estimator, X, vocabulary, total_samples):
        self.fixed = fixed_of(estimator, _FIXED)
        seeds = named_seeds(estimator.random_state, ("start", "draws", "reading"))
        given = None if vocabulary is None else distinct_words(vocabulary)
        training = inputs.training_data(estimator, X, given, stream=True)
        self.begun_with = training.words if given is None else given
        self.settings = spine.plan(estimator, ROOM, training)
        self.of_draws, self.of_readings = seeds["draws"], seeds["reading"]
        self._of_dirichlet = estimator.word_model == "dirichlet"
        begin = _begin_dirichlet if self._of_dirichlet else _begin_gaussian
        self.problem, self.online = begin(estimator, training, seeds["start"], total_samples)
        # no documents are kept
        self.training = replace(training, counts=None)

    @property
    def n_taken(self):
        """Minibatches that were taken in."""
        return self.online.n_taken

    @staticmethod
    def takes_whole(X):
        """Whether a batch is taken in at once."""
        return False

    def learn(self, estimator, X):
        """Take in documents, in minibatches."""
        counts = known_counts(estimator, X)
        if not counts.nnz and self.training.columns is None:
            # looked at once more, as documents without any word are no matter
            analyzer = analyzer_of(estimator, input_kind(X))
            warn_of_no_known_word(encode(X, analyzer, {})[0], counts.shape[0])
        documents = Documents.of(counts, self.online.vectors)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            for batch in batches(documents, estimator.batch_size):
                self.online.learn(batch, run)

    def fitted(self, estimator):
        """`Fitted` of what was learned so far."""
        online, n = self.online, self.online.n_batches
        facts = {"n_iter": n, "n_batches": n, "converged": False, "learning_method": "online"}
        # a copy, so that every look at the same state makes the same draws
        rng = np.random.default_rng(self.of_draws)
        made = dirichlet_factors if self._of_dirichlet else of_factors
        result = made(self.problem, online, online.result(), self.settings.recorded, rng, facts)
        return spine.conclude(estimator, ROOM, self.training, self.settings, result)


def _begin_gaussian(estimator, training, seed, total_samples):
    """Problem without documents, and what learns from batches."""
    totals = np.asarray(training.counts.sum(axis=0)).ravel()
    problem = Problem(
        Documents.of(training.counts[:0], training.vectors),
        estimator.n_components,
        vector_prior(estimator, training.vectors, totals),
        topic_prior(estimator),
        float(estimator.likelihood_power),
        estimator.learn_doc_topic_prior or None,
    )
    rng = np.random.default_rng(seed)
    return problem, learner(estimator, problem, rng, n_documents=total_samples)


def _begin_dirichlet(estimator, training, seed, total_samples):
    """The same of Dirichlet priors of words; topics start from all documents of the first call."""
    documents = Documents.of(training.counts, training.vectors)
    problem = pose_dirichlet(estimator, documents, topic_prior(estimator), seed)
    online = dirichlet_learner(estimator, problem, n_documents=total_samples)
    return replace(problem, documents=take(documents, np.arange(0))), online


class TopicStreamingMixin(FittedMixin):
    """``partial_fit``, and what a fit leaves."""

    # of the estimator
    likelihood_power: float | str
    embedding_draws: int | None

    components_ = Learned()
    topic_means_ = Learned()
    topic_covariances_ = Learned()
    doc_topic_prior_ = Learned()
    likelihood_power_ = Learned()
    likelihood_power_scores_ = Learned()

    @online
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        vocabulary: Any = None,
        total_samples: int | None = None,
    ) -> Self:
        """Learn from more documents of a stream, by stochastic variational inference.

        A call after ``fit`` starts a stream of its own.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
            Every call counts its documents as new ones, and splits more than ``batch_size`` of them
            into minibatches.
        y : None
            Ignored.
        vocabulary : list of str, dict of str to int or Vocabulary, optional
            Words to learn from, taken in the first call; in later ones it may be the same again. By
            default the words of the first batch that have a vector and pass ``min_count`` and
            ``max_features``. Of a dict, such as ``vocabulary_`` of scikit-learn's vectorizers, they
            are in the order of its indices. All columns of a count matrix are words.
        total_samples : int, optional
            Number of documents in the whole stream, used in the first call only. By default the
            posterior is that for the number of documents seen so far.

        Returns
        -------
        self

        Raises
        ------
        AttributeError
            If the solver is not ``"vi"``.
        ValueError
            If X is of another kind than the first batch, with ``likelihood_power="auto"``, for
            which ``fit`` needs held-out documents, or if a parameter that what was learned belongs
            to (``doc_topic_prior``, say) is another by now, or ``vocabulary`` has other words than
            the first call had.

        Warns
        -----
        UserWarning
            If a call is interrupted: how many minibatches it has taken in. A first call that fails
            leaves the estimator as it was. If texts have no known word, so that nothing is learned
            from them.

        Notes
        -----
        Memory depends on the vocabulary and the batch, not on the stream. Draws and means are
        computed when they are first accessed after a call. The mean that ``normalize`` subtracts
        and the prior of topics come from the first batch and its vocabulary. With
        ``word_model="dirichlet"`` topics start from clusters of the documents of the first call
        (``init``), so a first call with some thousand documents finds better topics than one with a
        hundred; prior means of the words' levels follow all documents seen.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.partial_fit(data.counts[:20]).partial_fit(data.counts[20:])
        >>> model.components_.shape
        (2, 60)
        """
        spine.check(self, ROOM)
        if isinstance(self.likelihood_power, str):
            raise ValueError(
                "likelihood_power='auto' is not available with partial_fit: give a number."
            )
        if self.embedding_draws is not None:
            raise ValueError(
                f"partial_fit needs embedding_draws=None, got {self.embedding_draws!r}: use fit."
            )
        if total_samples is not None:
            check_integer("total_samples", total_samples, 1)
        X = materialise(X)
        check_vocabulary_again(self.__dict__.get("_stream"), vocabulary, inputs.FOR_TEXT)

        def begin():
            stream = Stream(self, X, vocabulary, total_samples)
            self._note(stream.training, stream.of_readings)
            return stream

        return self._learn_stream(begin, X)

    def _note(self, training, reading_seed):
        """Keep what the numbers of the posterior stand for, and a seed for draws of readings."""
        self._reading_seed = reading_seed
        self.words_ = training.words
        self.vocabulary_ = {word: i for i, word in enumerate(training.words.tolist())}
        self.embedding_mean_ = training.normaliser.centre
        self.n_dropped_words_ = training.n_dropped_words
        self.n_dropped_tokens_ = training.n_dropped_tokens
        self._columns = training.columns
        self._vectors, self.vector_draws_ = training.vectors, training.vector_draws
        self._normaliser = training.normaliser
        self._training = training.counts

    def _learned_from(self, posterior):
        self._components_by = self.word_proba
        found = {
            "components_": mean_word_proba(self, self.word_proba),
            "doc_topic_prior_": posterior.mean("alpha"),
        }
        if has_gaussians(posterior):
            found["topic_means_"] = posterior.mean("mean")
            found["topic_covariances_"] = posterior.mean("covariance")
        return found

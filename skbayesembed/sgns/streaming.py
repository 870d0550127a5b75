"""Streams of documents by ``partial_fit``."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from .. import spine
from ..common.estimator import FittedMixin, fixed_of, online
from ..common.random import named_seeds
from ..corpus.analysis import analyzer_of, warn_of_unread
from ..corpus.count_matrix import count_matrix, forget_columns, named_matrix
from ..corpus.kinds import input_kind, materialise
from ..corpus.streams import check_vocabulary_again, warn_of_no_known_word
from ..corpus.text import distinct_words, encode, keep_tokens
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from . import inputs
from .batches import CorpusBatches, MatrixBatches
from .checks import check_words
from .counting import PairCounts
from .priors import build_prior
from .shards import PairShard
from .solvers import ROOM
from .vi.solver import online_result, start_online

# What was learned so far belongs to.
_FIXED = (
    "n_components", "prior", "prior_precision", "hyperprior", "covariance", "biases", "negative",
    "ns_exponent", "negative_sampling", "pair_weights",
)  # fmt: skip
_FOR_TEXT = (
    "vocabulary is for text: the words of a count matrix are its columns, named by feature_names."
)


class Stream:
    """What ``partial_fit`` has learned from the batches seen so far.

    Parameters
    ----------
    estimator : BayesianSGNS
    X : documents, counts or PairCounts
        The first batch; it decides on the kind of input, and on the vocabulary where none is given.
    vocabulary : list of str or None
    """

    # window and its weights so far; of none yet
    _laid = None
    # words of the first call; not known of streams that an earlier version saved
    begun_with = None

    def __init__(self, estimator, X, vocabulary):
        self.fixed = fixed_of(estimator, _FIXED)
        seeds = named_seeds(estimator.random_state, ("learn", "data", "draw"))
        self.rng, self.draw_seed = np.random.default_rng(seeds["data"]), seeds["draw"]
        self.training = _first_words(estimator, X, vocabulary)
        self.begun_with = self.training.words
        n_words = self.training.words.size
        inputs.check_vocabulary(estimator, n_words)
        check_words(estimator, self.training.vocabulary)
        self.tokens = np.zeros(n_words)
        self.settings = spine.plan(estimator, ROOM, self.training)
        prior = build_prior(estimator, self.training.vocabulary)
        self.online = start_online(estimator, n_words, prior, seeds["learn"])

    @property
    def n_taken(self):
        """Minibatches that were taken in, and other calls."""
        return self.online.n_taken

    @staticmethod
    def takes_whole(X):
        """Whether a batch is taken in at once."""
        return isinstance(X, PairShard | PairCounts)

    def learn(self, estimator, X):
        """Take in a batch; where that ends early, the minibatches before."""
        begun, tokens, laid = self.n_taken, self.tokens, self._laid
        try:
            batches, tokens_in = self._read(estimator, X)
            self.tokens = tokens + tokens_in(None)
            with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
                self._learn_each(batches(), run)
        except BaseException:
            done = self.n_taken - begun
            # those behind are to come again
            self.tokens = tokens + (tokens_in(done) if done else 0.0)
            self._laid = self._laid if done else laid
            raise

    def _learn_each(self, batches, run):
        """Take in minibatches; random numbers of one that is not taken in are drawn again."""
        drawn = self.n_taken, copy.deepcopy(self.rng)
        try:
            for batch in batches:
                learn = (
                    self.online.learn_pairs if isinstance(batch, PairCounts) else self.online.learn
                )
                learn(batch, run)
                drawn = self.n_taken, copy.deepcopy(self.rng)
        except BaseException:
            taken, before = drawn
            if self.n_taken == taken:
                self.rng = before
            raise

    def _read(self, estimator, X):
        """Functions with the minibatches of a call, and with the tokens in the first of them."""
        if isinstance(X, PairShard):
            self._check_words(X)
            self._check_windows(X.window, X.window_weights)
            return lambda: [X.positive], lambda n: X.tokens.sum(axis=0)
        if isinstance(X, PairCounts):
            self._check_words(X)
            return lambda: [PairCounts(X.positive, X.negative)], lambda n: 0.0
        kind, size = inputs.fitted_kind(estimator, input_kind(X)), estimator.batch_size
        if kind == "counts":
            source = MatrixBatches(count_matrix(estimator, X), estimator.pair_weights)
            return lambda: source.batches(size, self.rng, shuffle=False), lambda n: 0.0
        # radii that are drawn have the linear weights as their expectation
        drawn = estimator.window_weights == "dynamic"
        self._check_windows(estimator.window, "linear" if drawn else estimator.window_weights)
        ids, offsets = encode(X, analyzer_of(estimator, kind), self.training.vocabulary)
        warn_of_no_known_word(ids, offsets.size - 1)
        # words outside the vocabulary vanish and their neighbours close up, as in fit
        ids, offsets = keep_tokens(ids, offsets, ids >= 0)
        n_words = self.training.words.size

        def batches():
            source = CorpusBatches(estimator, ids, offsets, n_words, self.tokens)
            return source.batches(size, self.rng, shuffle=False)

        def tokens_in(n):
            last = offsets.size - 1 if n is None else min(n * size, offsets.size - 1)
            return np.bincount(ids[: offsets[last]], minlength=n_words)

        return batches, tokens_in

    def _check_words(self, counts):
        words, named = self.training.words, counts.words is not None
        same = counts.n_words == words.size
        if not same or (named and not np.array_equal(counts.words.astype(str), words)):
            got = f"{counts.n_words} words"
            if same:
                others = sorted(set(counts.words.astype(str).tolist()) - set(words.tolist()))
                got = f"others, such as {others[:3]}" if others else "the same in another order"
            raise ValueError(
                f"X must count pairs of the {words.size} words of the first batch, in their "
                f"order, got {got}."
            )

    def _check_windows(self, *laid):
        """Raise a ValueError for pairs of other windows than those before had."""
        if self._laid is not None and laid != self._laid:
            now, before = (f"window={w!r}, window_weights={x!r}" for w, x in (laid, self._laid))
            raise ValueError(
                f"X must have pairs of windows as the data before it, {before}, got {now}: "
                "count again, or set the estimator's, with one of both."
            )
        self._laid = laid

    def fitted(self, estimator):
        """What was learned so far, a `Fitted`."""
        facts = {"n_iter": self.online.n_batches, "converged": False}
        result = online_result(estimator, self.online, self.settings, self.draw_seed, facts)
        found = spine.conclude(estimator, ROOM, self.training, self.settings, result)
        prior = self.online.prior
        if prior.learned is None:
            found.learned["prior_precision_"] = float(prior.tau[0])
        return found


def _first_words(estimator, X, vocabulary):
    """`inputs.Training` without data: the words to learn, by the first batch or as given."""
    if not isinstance(X, PairCounts | PairShard) and input_kind(X) == "counts":
        if vocabulary is not None:
            raise ValueError(_FOR_TEXT)
        warn_of_unread(estimator, "counts")
        _, words = named_matrix(estimator, X)
        return inputs.Training(None, words, np.arange(words.size))
    if vocabulary is None:
        if isinstance(X, PairShard):
            inputs.warn_of_ignored(estimator, X, part=True)
            forget_columns(estimator)
            return inputs.Training(None, X.words)
        return inputs.Training(None, inputs.read(estimator, X).words)
    forget_columns(estimator)
    return inputs.Training(None, distinct_words(vocabulary))


class StreamingMixin(FittedMixin):
    """``partial_fit``."""

    @online
    def partial_fit(self, X: Any, y: None = None, *, vocabulary: Any = None) -> Self:
        """Learn from another batch of a stream, by stochastic variational inference.

        Parameters
        ----------
        X : documents, counts, PairCounts or PairShard, as in ``fit``
            Documents of every call count as new. Pairs are within documents, so it does not matter
            where the stream is cut (with ``subsample`` it does: frequent words are those of the
            call). Of PairCounts one at a time.
        y : None
            Ignored.
        vocabulary : list of str, dict of str to int or Vocabulary, optional
            Words to learn, taken in the first call; by default those of the first batch that
            ``min_count`` and ``max_features`` keep. Of a dict, such as ``vocabulary_`` of
            scikit-learn's vectorizers, they are in the order of its indices. In later calls it may
            be the same again. All columns of a count matrix are words.

        Returns
        -------
        self

        Raises
        ------
        AttributeError
            If the solver is not ``"vi"``.
        ValueError
            If X is of another kind than the first batch, has other windows than the shards before
            it, or is a PairShard where ``subsample`` is set; if a parameter that what was learned
            belongs to (``prior_precision``, say) is another by now, or ``vocabulary`` has other
            words than the first call had.

        Warns
        -----
        UserWarning
            If a call is interrupted: how many minibatches it has taken in. A first call that fails
            leaves the estimator as it was. If it is the first after ``fit``, which it does not go
            on from: a stream has the words and the documents of its own batches. If texts have no
            known word, so that nothing is learned from them.

        Notes
        -----
        Memory depends on the vocabulary and the batch, not on the stream. After a call, draws and
        means are computed when they are first read.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="vi", min_count=1, random_state=0)
        >>> model = model.partial_fit(texts[:15]).partial_fit(texts[15:])
        >>> model.rho_.shape
        (9, 2)
        """
        spine.check(self, ROOM)
        X = materialise(X)
        check_vocabulary_again(self.__dict__.get("_stream"), vocabulary, _FOR_TEXT)
        if inputs.is_list_of_pairs(X):
            raise ValueError(
                f"X must be one batch, got a list of {len(X)} PairCounts: call partial_fit with "
                "one after the other, or with their sum."
            )
        if isinstance(X, PairShard):
            inputs.check_windows_laid(self)

        def begin():
            stream = Stream(self, X, vocabulary)
            self._note(stream.training)
            return stream

        return self._learn_stream(begin, X)

    def _note_batch(self, stream):
        self._sampling, self._no_units, self.units_name_ = None, "partial_fit", None

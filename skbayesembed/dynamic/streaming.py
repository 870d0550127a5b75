"""Learning one period after the other: ``learning_method="online"`` and ``partial_fit``."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ..common.random import seed_sequence
from ..corpus.periods import Periods
from ..corpus.text import analyzer_of, build_corpus, keep_tokens, materialise
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from ..sgns import inputs as static
from ..sgns.checks import check_known
from . import fitting, inputs
from .checks import check_parameters
from .data import period_counts
from .vi.filtering import Filtering
from .vi.solver import check_arrays, sites_posterior, warn_of_end


def filtered_posterior(estimator, training, settings, seeds, run):
    """The `Posterior` of counts of all periods, learned from one period after the other."""
    check_arrays(len(training.counts), training.words.size, estimator.n_components)
    start_seed, draw_seed = seeds.spawn(2)
    filtering = _filtering(estimator, training.words.size, start_seed)
    times, interrupted = training.periods.centres, False
    try:
        _learn(estimator, filtering, times, np.arange(times.size), training.counts, run)
    except KeyboardInterrupt:
        # the periods learned are kept; those after them have the prior given these
        if not filtering.elbo:
            raise
        interrupted = True
        warn_of_end(estimator, filtering.converged, interrupted)
    return _posterior(
        estimator, filtering, times, training.words, settings, draw_seed, run, interrupted
    )


def _filtering(estimator, n_words, seed):
    e = estimator
    rng = np.random.default_rng(seed)
    return Filtering(n_words, e.n_components, e.prior_precision, e.diffusion, rng)


def _learn(estimator, filtering, times, index, counts, run):
    before, filtering.converged = filtering.converged, True
    for t, period in zip(np.unique(index), counts, strict=True):
        filtering.learn(
            float(times[t]), period, run,
            max_iter=estimator.max_iter, tol=estimator.tol, verbose=estimator.verbose,
        )  # fmt: skip
    # of these periods: what was warned of before is not said again
    warn_of_end(estimator, filtering.converged, interrupted=False)
    filtering.converged = filtering.converged and before


def _posterior(estimator, filtering, times, words, settings, seed, run, interrupted=False):
    sites = filtering.sites(times, run)
    facts = {"n_iter": filtering.n_iter, "converged": filtering.converged}
    facts["interrupted"] = interrupted
    return sites_posterior(estimator, sites, words, settings, seed, facts)


# What the sites learned so far belong to.
_FIXED = ("n_components", "prior_precision", "diffusion")


class Stream:
    """What ``partial_fit`` has learned.

    Parameters
    ----------
    estimator : DynamicSGNS
    kind : {"text", "tokens", "counts", "pairs"}
        Of the first batch.

    Attributes
    ----------
    words : ndarray of str of shape (n_words,)
    vocabulary : dict of str to int
    columns : ndarray of int or None
        Of a count matrix.
    periods : Periods
    observed : ndarray of shape (n_periods, n_words)
        Positive pairs of each target.
    totals : ndarray of shape (n_periods,)
        Observations, negative ones among them.
    """

    def __init__(self, estimator, kind):
        count_seed, start_seed, self._draw_seed, self.reading_seed = seed_sequence(
            estimator.random_state
        ).spawn(4)
        self._rng = np.random.default_rng(count_seed)
        self._kind = _kind_of_stream(kind)
        self._fixed = {name: getattr(estimator, name) for name in _FIXED}
        self.words, self.vocabulary, self.columns = np.array([], dtype=str), {}, None
        self.periods, self._n_learned = None, 0
        self.observed, self.totals = np.zeros((0, 0)), np.zeros(0)
        self._filtering = _filtering(estimator, 0, start_seed)

    def learn(self, estimator, X, times):
        """Take in a batch of documents, all later than those before."""
        kind, X = inputs.kind_of(X)
        self._check_same(estimator, kind)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        times = inputs.check_line(times, n, kind)
        periods = extended_periods(estimator, self.periods, times, kind)
        index = periods.index(times)
        self._check_later(periods, index)
        count = {"pairs": self._given, "counts": self._matrix}.get(kind, self._corpus)
        words, columns, counts = count(estimator, X, kind, index)
        vocabulary = {word: i for i, word in enumerate(words.tolist())}
        check_known("keep_draws", estimator.keep_draws, vocabulary)
        check_arrays(periods.n_periods, words.size, estimator.n_components)
        filtering = self._filtering.copy()
        filtering.add_words(words.size - self.words.size)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            _learn(estimator, filtering, periods.centres, index, counts, run)
        # all is well: the batch is taken in at once or not at all
        self._filtering, self.periods = filtering, periods
        self.words, self.vocabulary, self.columns = words, vocabulary, columns
        self._n_learned = int(index.max()) + 1
        self._note(counts, index)

    def posterior(self, estimator):
        """The `Posterior` of what was learned so far."""
        settings = fitting.plan_draws(estimator, self.vocabulary, self.periods.n_periods)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            return _posterior(
                estimator, self._filtering, self.periods.centres, self.words, settings,
                self._draw_seed, run,
            )  # fmt: skip

    def _check_same(self, estimator, kind):
        if _kind_of_stream(kind) != self._kind:
            raise ValueError(
                f"X must be {self._kind} in every call of partial_fit, as in the first, got "
                f"{_kind_of_stream(kind)}."
            )
        for name, value in self._fixed.items():
            if getattr(estimator, name) != value:
                raise ValueError(
                    f"{name} must stay {value!r}, which partial_fit has begun with, got "
                    f"{getattr(estimator, name)!r}."
                )

    def _check_later(self, periods, index):
        if index.min() < self._n_learned:
            # the new periods may begin earlier
            known, got = self.periods.labels[self._n_learned - 1], periods.labels[index.min()]
            raise ValueError(
                f"times must be in periods after {known}, the last that partial_fit has learned, "
                f"got one in {got}: pass all documents of a period in one call, the earliest first."
            )

    def _note(self, counts, index):
        shape = self.periods.n_periods, self.words.size
        observed, totals = np.zeros(shape), np.zeros(shape[0])
        observed[: len(self.observed), : self.observed.shape[1]] = self.observed
        totals[: self.totals.size] = self.totals
        for t, period in zip(np.unique(index), counts, strict=True):
            observed[t], totals[t] = period.positive.sum(axis=1), period.total
        self.observed, self.totals = observed, totals

    # Counts of the periods that a batch has, over the words known after it.

    def _given(self, estimator, X, kind, index):
        static.check_vocabulary(estimator, X[0].n_words)
        words = inputs.names_of_pairs(X)
        if self.words.size and not np.array_equal(words, self.words):
            raise ValueError(
                f"X must count pairs of the {self.words.size} words of the first batch, in their "
                f"order, got {words.size} words."
            )
        counts = [
            inputs.added_up([X[i] for i in np.flatnonzero(index == t)]) for t in np.unique(index)
        ]
        return words, None, counts

    def _matrix(self, estimator, X, kind, index):
        if self.words.size:
            matrix, words = static.check_columns(estimator, X), self.words
        else:
            matrix, words = static.named_matrix(estimator, X)
        static.check_vocabulary(estimator, words.size)
        counts = inputs.matrix_counts(estimator, matrix, index, np.unique(index), self._rng)
        return words, np.arange(words.size), counts

    def _corpus(self, estimator, X, kind, index):
        corpus = build_corpus(X, analyzer_of(estimator, kind))
        words = self._with_new(estimator, corpus)
        static.check_vocabulary(estimator, words.size)
        vocabulary = {word: i for i, word in enumerate(words.tolist())}
        places = np.array([vocabulary.get(word, -1) for word in corpus.words.tolist()])
        ids = places[corpus.ids] if corpus.ids.size else corpus.ids
        # words outside the vocabulary vanish and their neighbours close up, as in fit
        ids, offsets = keep_tokens(ids, corpus.offsets, ids >= 0)
        periods, rank = np.unique(index, return_inverse=True)
        counts = period_counts(
            ids, offsets, rank, words.size, periods.size, rng=self._rng,
            **inputs.counting(estimator),
        )  # fmt: skip
        return words, None, counts

    def _with_new(self, estimator, corpus):
        """The words so far, and those new ones that are frequent enough, most frequent first."""
        frequent = corpus.words[corpus.frequency >= estimator.min_count].tolist()
        new = [word for word in frequent if word not in self.vocabulary]
        if estimator.max_features is not None:
            new = new[: max(0, estimator.max_features - self.words.size)]
        return np.asarray([*self.words.tolist(), *new], dtype=str)


def _kind_of_stream(kind):
    """Text and tokens may alternate."""
    kinds = {"pairs": "a list of PairCounts", "counts": "a count matrix"}
    return kinds.get(kind, "text or tokens")


def extended_periods(estimator, known, times, kind):
    """`Periods` from the first known, or the first time, up to the last time.

    With ``bins`` they are what they are; otherwise more of the width of the last are added.
    """
    if kind == "pairs" and estimator.n_periods is None and estimator.bins is None:
        return Periods.of_times(times if known is None else np.append(known.centres, times))
    if known is None or estimator.bins is not None:
        return Periods.learn(times, estimator.n_periods, estimator.bins)
    if known.edges is None:
        return Periods.learn(np.append(known.centres, times))
    width = known.edges[-1] - known.edges[-2]
    more = max(0, int(np.ceil((times.max() - known.edges[-1]) / width)))
    later = known.edges[-1] + width * np.arange(1, more + 1)
    return Periods.learn(times, bins=np.append(known.edges, later))


def partial_fit(estimator, X, times):
    """Take in documents of later periods; returns the `Stream`, a new one in the first call."""
    check_parameters(estimator)
    inputs.check_timed(estimator, times)
    X = materialise(X)
    stream = estimator.__dict__.get("_stream")
    if stream is None:
        kind, X = inputs.kind_of(X)
        stream = Stream(estimator, kind)
        static.forget_columns(estimator, kind)
    stream.learn(estimator, X, times)
    return stream

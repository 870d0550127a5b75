"""Learning one period after the other: ``partial_fit``."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from .. import spine
from ..common.estimator import FittedMixin, fixed_of, online
from ..common.interruption import at_once
from ..corpus.analysis import analyzer_of, warn_of_unread
from ..corpus.count_matrix import count_matrix, forget_columns, named_matrix
from ..corpus.kinds import materialise
from ..corpus.periods import Periods
from ..corpus.rows import check_rows
from ..corpus.text import build_corpus, keep_tokens
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from ..sgns import inputs as static
from ..sgns.checks import check_known
from ..sgns.pairs import pooled_counts
from . import inputs
from .checks import check_filter
from .data import period_counts
from .solvers import ROOM
from .vi.filtering import begin, learn_periods
from .vi.solver import check_arrays, sites_result

# What the sites learned so far belong to.
_FIXED = (
    "n_components", "prior_precision", "diffusion", "hyperprior", "negative", "ns_exponent",
    "negative_sampling", "window", "window_weights", "pair_weights", "n_periods",
)  # fmt: skip


class Stream:
    """What ``partial_fit`` has learned.

    Parameters
    ----------
    estimator : DynamicSGNS

    Attributes
    ----------
    known : inputs.Known
        Words and periods so far.
    reading_seed : numpy.random.SeedSequence
        For draws that are made when the posterior is read.
    """

    # calls that were taken in
    n_taken = 0
    # whether a time learned is the end of the last bin
    _at_end = False

    def __init__(self, estimator):
        seeds = spine.seeds_of(estimator, ROOM)
        self._draw_seed, self.reading_seed = seeds["solve"], seeds["reading"]
        self._rng = np.random.default_rng(seeds["counts"])
        self._kind, self._n_learned = None, 0
        self.fixed = fixed_of(estimator, _FIXED)
        nothing = np.zeros((0, 0))
        self.known = inputs.Known(np.array([], dtype=str), None, None, nothing, np.zeros(0))
        self._filtering = begin(estimator, 0, np.random.default_rng(seeds["static"]))

    @staticmethod
    def takes_whole(X):
        """Whether a batch is taken in at once."""
        return True

    def learn(self, estimator, X, times):
        """Take in a batch of documents, all later than those before, wholly or not at all."""
        at_once(self, lambda after, kept: after._learn(estimator, X, times))

    def _learn(self, estimator, X, times):
        """Take in a batch as `at_once` has it: all that changes is set anew."""
        self.n_taken += 1
        self._rng = copy.deepcopy(self._rng)
        inputs.check_timed(estimator, times)
        check_rows(X=X, times=times)
        kind, X = inputs.kind_of(materialise(X))
        self._check_same(estimator, kind)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        numbers = inputs.check_line(times, n, kind)
        known = self.known.periods
        learned = self._n_learned, self._at_end
        periods = extended_periods(estimator, known, times, numbers, kind, *learned)
        index = periods.index(numbers)
        self._check_later(periods, index)
        count = {"pairs": self._given, "counts": self._matrix}.get(kind, self._corpus)
        words, columns, counts = count(estimator, X, kind, index)
        check_known("keep_draws", estimator.keep_draws, inputs.places_of(words))
        check_arrays(periods.n_periods, words.size, estimator.n_components)
        filtering = self._filtering.copy()
        filtering.add_words(words.size - self.known.words.size)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            learn_periods(estimator, filtering, periods.centres[np.unique(index)], counts, run)
        self.known = self._extended(words, columns, periods, counts, index)
        self._filtering, self._n_learned = filtering, int(index.max()) + 1
        self._at_end = periods.edges is not None and bool(np.any(numbers == periods.edges[-1]))

    def fitted(self, estimator):
        """`Fitted` of what was learned so far."""
        settings = spine.plan(estimator, ROOM, self.known)
        filtering = self._filtering
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            sites = filtering.sites(self.known.periods.centres, run)
            result = sites_result(sites, settings, self._draw_seed, filtering.facts())
        return spine.conclude(estimator, ROOM, self.known, settings, result)

    def _check_same(self, estimator, kind):
        if self._kind is None:
            if kind == "counts":
                warn_of_unread(estimator, kind)
            else:
                forget_columns(estimator)
            self._kind = _kind_of_stream(kind)
        if _kind_of_stream(kind) != self._kind:
            raise ValueError(
                f"X must be {self._kind} in every call of partial_fit, as in the first, got "
                f"{_kind_of_stream(kind)}."
            )

    def _check_later(self, periods, index):
        if index.min() < self._n_learned:
            # the new periods may begin earlier
            known, got = self.known.periods.labels[self._n_learned - 1], periods.labels[index.min()]
            raise ValueError(
                f"times must be in periods after {known}, the last that partial_fit has learned, "
                f"got one in {got}: pass all documents of a period in one call, the earliest first."
            )

    def _extended(self, words, columns, periods, counts, index):
        """What is known after a batch with counts of the periods in ``index``."""
        before = self.known
        observed = np.zeros((periods.n_periods, words.size))
        totals = np.zeros(periods.n_periods)
        # behind those that are learned there is nothing, and bins may be others
        n = self._n_learned
        observed[:n, : before.words.size] = before.observed[:n]
        totals[:n] = before.totals[:n]
        for t, period in zip(np.unique(index), counts, strict=True):
            observed[t], totals[t] = period.positive.sum(axis=1), period.total
        return inputs.Known(words, columns, periods, observed, totals)

    # Counts of the periods that a batch has, over the words known after it.

    def _given(self, estimator, X, kind, index):
        static.check_vocabulary(estimator, X[0].n_words)
        words = static.names_of_pairs(X)
        if self.known.words.size and not np.array_equal(words, self.known.words):
            raise ValueError(
                f"X must count pairs of the {self.known.words.size} words of the first batch, "
                f"in their order, got {words.size} words."
            )
        counts = [
            pooled_counts([X[i] for i in np.flatnonzero(index == t)]) for t in np.unique(index)
        ]
        return words, None, counts

    def _matrix(self, estimator, X, kind, index):
        words = self.known.words
        if words.size:
            matrix = count_matrix(estimator, X)
        else:
            matrix, words = named_matrix(estimator, X)
        static.check_vocabulary(estimator, words.size)
        counts = inputs.matrix_counts(estimator, matrix, index, np.unique(index), self._rng)
        return words, np.arange(words.size), counts

    def _corpus(self, estimator, X, kind, index):
        corpus = build_corpus(X, analyzer_of(estimator, kind))
        words = self._with_new(estimator, corpus)
        static.check_vocabulary(estimator, words.size)
        vocabulary = inputs.places_of(words)
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
        known = self.known
        new = [word for word in frequent if word not in known.vocabulary]
        if estimator.max_features is not None:
            new = new[: max(0, estimator.max_features - known.words.size)]
        return np.asarray([*known.words.tolist(), *new], dtype=str)


def _kind_of_stream(kind):
    """Text and tokens may alternate."""
    kinds = {"pairs": "a list of PairCounts", "counts": "a count matrix"}
    return kinds.get(kind, "text or tokens")


def extended_periods(estimator, known, times, numbers, kind, n_learned, at_end):
    """`Periods` from the first known, or the first time, up to the last time.

    With ``bins`` they are what they are, the first ``n_learned`` as they were; otherwise more of
    the width of the last are added. ``numbers`` are the times as `check_times` reads them.
    """
    if kind == "pairs" and estimator.n_periods is None and estimator.bins is None:
        return Periods.of_times(numbers if known is None else np.append(known.centres, numbers))
    if estimator.bins is not None and known is not None:
        return known.rebinned(times, estimator.bins, n_learned, at_end)
    if estimator.bins is not None:
        return Periods.learn(times, estimator.n_periods, estimator.bins)
    if known is None:
        return Periods.learn(times, estimator.n_periods).closed(times)
    return known.lengthened(times)


class DynamicStreamingMixin(FittedMixin):
    """``partial_fit``."""

    # of the estimator, and what a fit leaves in it
    _note: Any
    _stream: Any
    _no_units: Any
    _sampling: Any
    _pairs_of_use: float | None
    _seen: Any

    @online
    def partial_fit(self, X: Any, y: Any = None, *, times: ArrayLike | None = None) -> Self:
        """Learn from documents of later periods.

        The first call starts anew and does not continue from ``fit``. ``n_periods`` cuts the
        times of the first call; more periods of that width are added as needed. ``bins`` may have
        further edges in later calls, behind those of the periods that are learned. A word enters
        with the first call in which it occurs ``min_count`` times; its uses before are not counted.

        Parameters
        ----------
        X, times
            As in ``fit``. All columns of a count matrix are words.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        AttributeError
            If the solver is not ``"vi"``.
        ValueError
            Without times; if a time is not after those learned before; if X is of another kind than
            in the first call; if a parameter that what was learned belongs to
            (``prior_precision``, say, or ``bins`` of periods that are learned) has changed since;
            or if the diffusion is to be learned.

        Warns
        -----
        UserWarning
            If it is the first call after ``fit``.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, min_count=1, draws=20, random_state=0)
        >>> model = model.partial_fit(texts[:15], times=times[:15])
        >>> model.partial_fit(texts[15:], times=times[15:]).periods_.n_periods
        2
        """
        spine.check(self, ROOM)
        check_filter(self, "partial_fit")
        return self._learn_stream(lambda: Stream(self), X, times)

    def _note_batch(self, stream):
        self._no_units, self._sampling, self.units_name_ = "partial_fit", None, None
        self._note(stream.known, stream.reading_seed)
        self._pairs_of_use = self._seen = None

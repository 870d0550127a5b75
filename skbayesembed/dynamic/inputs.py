"""What the estimator accepts, turned into pair counts of every period, for fits and for scores."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..common.checks import NothingToScoreError
from ..common.warnings import warn_user
from ..corpus.analysis import analyzer_of, warn_of_unread
from ..corpus.count_matrix import count_matrix, forget_columns, named_matrix
from ..corpus.kinds import input_kind, materialise
from ..corpus.periods import Periods, check_times, warn_of_empty
from ..corpus.rows import check_rows
from ..corpus.text import build_corpus, frequent_corpus
from ..corpus.units import BY_MODEL, Units, check_units, check_weights, units_of
from ..sgns import inputs as static
from ..sgns.batches import CorpusBatches, MatrixBatches, sizes_of_sources
from ..sgns.checks import check_known
from ..sgns.counting import PairCounts, document_pairs
from ..sgns.documents.blocks import DocumentPairs
from ..sgns.inputs import SCORE_EXPONENT, SCORE_NEGATIVE, SCORE_WINDOW, HeldOut
from ..sgns.pairs import RankOne, context_totals, pooled_counts
from ..sgns.pairs import times as scaled
from .data import period_counts, tokens_by_period, with_negatives

_NEGATIVES = ("negative", "ns_exponent", "negative_sampling")


@dataclass(frozen=True, eq=False)
class Known:
    """What the axes of the vectors stand for, and how much was observed.

    Attributes
    ----------
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None unless fitted on one.
    periods : Periods
    observed : ndarray of shape (n_periods, n_words)
        Positive pairs of each target.
    totals : ndarray of shape (n_periods,)
        Observations, negative ones among them.
    """

    words: np.ndarray
    columns: np.ndarray | None
    periods: Periods | None
    observed: np.ndarray
    totals: np.ndarray

    @cached_property
    def vocabulary(self):
        """Word to place in ``words``."""
        return places_of(self.words)


@dataclass(frozen=True, eq=False)
class Training(Known):
    """`Known`, with the counts for a fit.

    Attributes
    ----------
    counts : list of PairCounts
        One for each period; all zero where there is no data.
    sources : list
        What the counts of each period are made from: `CorpusBatches`, `MatrixBatches` or a list of
        `PairCounts`.
    index : ndarray of int of shape (n_documents,)
        Period of each document (or of each of the PairCounts).
    units : Units or None
        The units that documents belong to; None where no documents are seen.
    given : bool
        Whether the counts were made elsewhere.
    """

    counts: list
    sources: list
    index: np.ndarray
    units: Units | None
    given: bool

    @property
    def sizes(self):
        """Numbers of documents, tokens and units as far as they are known, a dict."""
        return sizes_of_sources(self.sources, self.units)


class Windows(NamedTuple):
    """What `CorpusBatches` reads of an estimator."""

    window: int
    window_weights: str
    subsample: None = None


def pairs_of_use(estimator, training):
    """The most pairs that one use of a word as a target makes; None where that is not known."""
    if training.given:
        return None
    if training.columns is not None:
        return 1.0 if estimator.pair_weights == "token" else None
    uniform = estimator.window_weights == "uniform"
    return float(2 * estimator.window if uniform else estimator.window + 1)


def places_of(words):
    """Place of each word, a dict."""
    return {word: i for i, word in enumerate(words.tolist())}


def kind_of(X):
    """``"pairs"``, ``"text"``, ``"tokens"`` or ``"counts"``; iterators are listed first."""
    X = materialise(X)
    if isinstance(X, PairCounts):
        raise TypeError(
            "X is a single PairCounts: DynamicSGNS takes a list of PairCounts, with a time for "
            "each of them."
        )
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = X.tolist()
    if static.is_list_of_pairs(X):
        return "pairs", list(X)
    return input_kind(X), X


def check_line(times, n, kind="text"):
    """Times as numbers, one for each of ``n`` documents or `PairCounts`."""
    try:
        return check_times(times, n)
    except ValueError as error:
        if kind != "pairs":
            raise
        raise ValueError(str(error).replace("documents", "PairCounts")) from None


def check_timed(estimator, times):
    """Raise a ValueError where there are no times."""
    if times is None:
        raise ValueError(
            f"{type(estimator).__name__} needs times: pass times=, a number or date for each "
            "document. Without times, use BayesianSGNS."
        )


def training_data(estimator, X, times, seed, units=None, sample_weight=None, told=True):
    """`Training` of whatever ``fit`` accepts; notes the columns of a count matrix.

    Parameters
    ----------
    estimator : DynamicSGNS
    X, times, units, sample_weight
        As of ``fit``.
    seed : numpy.random.SeedSequence
        For contexts and negatives that are sampled.
    told : bool
        Whether there is a warning of parameters that are ignored.

    Raises
    ------
    ValueError
        If one of them is not allowed, or ``keep_draws`` names words that X does not have.
    """
    check_timed(estimator, times)
    static.check_units_method(estimator, units)
    check_rows(X=X, times=times, units=units, sample_weight=sample_weight)
    kind, X = kind_of(X)
    if told and kind != "pairs":
        warn_of_unread(estimator, kind)
    if kind != "counts":
        forget_columns(estimator)
    words, columns, periods, index, sources = _READ[kind](estimator, X, times)
    what = "PairCounts" if kind == "pairs" else "documents"
    weights = check_weights(sample_weight, index.size, what)
    labels = check_units(units, index.size, what)
    found = units_of(labels, weights, index.size, what, BY_MODEL)
    sources, counts = _COUNTED[kind](estimator, sources, index, found, seed)
    if kind == "pairs" and labels is None and np.bincount(index).max() == 1:
        # totals of a period, of whose documents nothing is known
        found = None
    observed = np.array([c.positive.sum(axis=1) for c in counts])
    totals = np.array([c.total for c in counts])
    training = Training(
        words, columns, periods, observed, totals, counts, sources, index, found, kind == "pairs"
    )
    check_known("keep_draws", estimator.keep_draws, training.vocabulary)
    return training


def negatives_of(counts):
    """Negative pairs of each context in each period, (n_periods, n_words)."""
    return np.array([context_totals(period.negative) for period in counts])


def training_again(estimator, X, times, sample_weight=None):
    """Counts of the periods that a fitted estimator was trained on, from the same data.

    Raises
    ------
    ValueError
        If they are other words, periods or numbers of pairs.
    """
    # a copy, since reading notes the columns of a count matrix
    again = copy.copy(estimator)
    seed = estimator._count_seed
    training = training_data(again, X, times, seed, None, sample_weight, told=False)
    same = np.array_equal(training.words, estimator.words_)
    same = same and training.observed.shape == estimator.observed_.shape
    if not (same and np.allclose(training.observed, estimator.observed_)):
        raise ValueError(
            "X, times and sample_weight must be the data that fit was given, with its vocabulary "
            f"of {estimator.words_.size} words in {estimator.periods_.n_periods} periods; got "
            f"{training.words.size} words in {training.periods.n_periods} periods, or other pairs."
        )
    static.check_negatives(estimator, negatives_of(training.counts))
    return training.counts


# Words, their columns, periods, the period of each document, and sources of each period's counts.


def _read_pairs(estimator, X, times):
    """Of a list of `PairCounts`."""
    periods, index = learn_periods(estimator, times, len(X), "pairs")
    words = static.names_of_pairs(X)
    static.check_vocabulary(estimator, words.size)
    sources = [[X[i] for i in np.flatnonzero(index == t)] for t in range(periods.n_periods)]
    return words, None, periods, index, sources


def _read_matrix(estimator, X, times):
    """Of a count matrix."""
    # the rows are looked at before their times are
    matrix, names = named_matrix(estimator, X)
    periods, index = learn_periods(estimator, times, matrix.shape[0])
    columns = static.chosen_columns(estimator, matrix)
    static.check_vocabulary(estimator, columns.size)
    kept, weights = matrix[:, columns], estimator.pair_weights
    sources = [MatrixBatches(kept[index == t], weights) for t in range(periods.n_periods)]
    return names[columns], columns, periods, index, sources


def _read_documents(kind, estimator, X, times):
    """Of text or tokens."""
    periods, index = learn_periods(estimator, times, len(X))
    corpus = frequent_corpus(estimator, X, kind)
    words = np.asarray(corpus.words, dtype=str)
    static.check_vocabulary(estimator, words.size)
    windows = Windows(estimator.window, estimator.window_weights)
    parts = tokens_by_period(corpus.ids, corpus.offsets, index, periods.n_periods)
    sources = [CorpusBatches(windows, *part, words.size, None) for part in parts]
    return words, None, periods, index, sources


_READ = {
    "pairs": _read_pairs,
    "counts": _read_matrix,
    "text": partial(_read_documents, "text"),
    "tokens": partial(_read_documents, "tokens"),
}


def _added(estimator, sources, index, units, seed):
    """Weighted sources, and counts of each period, of `PairCounts`."""
    if units.weights is not None:
        weights = [units.weights[index == t].tolist() for t in range(len(sources))]
        sources = [list(map(scaled, s, w)) for s, w in zip(sources, weights, strict=True)]
    n_words = next(one.n_words for source in sources for one in source)
    counts = [pooled_counts(source) if source else _no_counts(n_words) for source in sources]
    if not any(c.total > 0 for c in counts):
        raise ValueError("X has no observed pair: all its counts are zero.")
    return sources, counts


def _counted(estimator, sources, index, units, seed):
    """The sources, and counts of each period, of documents."""
    options = {name: getattr(estimator, name) for name in _NEGATIVES}
    rng, counts = np.random.default_rng(seed), []
    for t, source in enumerate(sources):
        if units.weights is None:
            positive = source.whole(rng)
        else:
            positive = DocumentPairs(source, units.weights[index == t], seed).total()
        counts.append(with_negatives(positive, rng=rng, **options))
    _check_pairs(counts)
    return sources, counts


_COUNTED = {"pairs": _added, "counts": _counted, "text": _counted, "tokens": _counted}


def _check_pairs(counts):
    """Raise a ValueError where documents have no pair at all."""
    if not any(c.total > 0 for c in counts):
        raise ValueError(
            "X has no pair of words: every document has fewer than two words of the vocabulary. "
            "Lower min_count, or pass longer documents."
        )


def counting(estimator):
    """Options of `period_counts`."""
    names = ("window", "window_weights", *_NEGATIVES)
    return {name: getattr(estimator, name) for name in names}


def matrix_counts(estimator, matrix, index, periods, rng):
    """Counts of some periods of a count matrix, whose rows' periods are ``index``."""
    options = {name: getattr(estimator, name) for name in _NEGATIVES}
    weights = estimator.pair_weights
    positive = (document_pairs(matrix[index == t], pair_weights=weights) for t in periods)
    return [with_negatives(part, rng=rng, **options) for part in positive]


def learn_periods(estimator, times, n, kind="text"):
    """`Periods` of the times, at least two, and the period of each."""
    numbers = check_line(times, n, kind)
    if kind == "pairs" and estimator.n_periods is None and estimator.bins is None:
        periods = Periods.of_times(numbers)
    else:
        # of the times themselves, as dates and numbers are cut into different periods
        periods = Periods.learn(times, estimator.n_periods, estimator.bins)
        if estimator.bins is None:
            warn_of_empty(periods, numbers)
    if periods.n_periods < 2:
        raise ValueError(
            f"The times of {n} sample(s) make one period, {periods.labels[0]}: "
            f"{type(estimator).__name__} needs two or more. Use BayesianSGNS for one period, "
            "or other n_periods or bins."
        )
    return periods, periods.index(numbers)


def _no_counts(n_words):
    nothing = np.zeros(n_words)
    return PairCounts(sparse.csr_array((n_words, n_words)), RankOne(nothing, nothing))


# Held-out data ------------------------------------------------------------------------------------


def place_times(estimator, times, n, kind, told=True):
    """Center of the period of each document, known or not; None where there are no times.

    Warns
    -----
    UserWarning
        If periods are before the first of ``fit`` or after the last; not unless ``told``.
    """
    if times is None:
        return None
    centres = estimator.periods_.centre_of(check_line(times, n, kind))
    if told:
        _warn_of_outside(
            estimator.periods_, centres, "PairCounts" if kind == "pairs" else "documents"
        )
    return centres


def _warn_of_outside(periods, centres, what):
    outside = np.sum((centres < periods.centres[0]) | (centres > periods.centres[-1]))
    if outside:
        warn_user(
            f"{outside:,} of {centres.size:,} {what} are of times before the first period "
            f"({periods.labels[0]}) or after the last ({periods.labels[-1]}): vectors there are "
            "those of the nearest period, shrunk by the prior.",
            UserWarning,
        )


def held_out(estimator, X, times):
    """Counts to score: a list of pairs of a time, or None, and a `HeldOut`.

    Documents are counted by the fixed scoring protocol, all those of a period together.
    """
    check_rows(X=X, times=times)
    kind, X = kind_of(X)
    if kind == "pairs":
        centres = place_times(estimator, times, len(X), kind)
        centres = [None] * len(X) if centres is None else centres.tolist()
        found = [
            (centre, static.held_out_counts(estimator, counts))
            for centre, counts in zip(centres, X, strict=True)
            if counts.total > 0
        ]
        if not found:
            raise ValueError("X has no observed pair to score: all its counts are zero.")
        return found
    static.fitted_kind(estimator, kind)
    if kind == "counts":
        matrix = count_matrix(estimator, X)
        groups, index = _groups(place_times(estimator, times, matrix.shape[0], kind), matrix)
        known = static.known_columns(estimator, matrix.shape[1])
        counts = [
            with_negatives(
                document_pairs(matrix[index == g], pair_weights="token"),
                negative=SCORE_NEGATIVE, ns_exponent=SCORE_EXPONENT,
            )
            for g in range(len(groups))
        ]  # fmt: skip
    else:
        groups, index = _groups(place_times(estimator, times, len(X), kind), X)
        corpus = build_corpus(X, analyzer_of(estimator, kind))
        known = static.known_words(estimator, corpus.words)
        counts = period_counts(
            corpus.ids, corpus.offsets, index, corpus.words.size, len(groups),
            window=SCORE_WINDOW, negative=SCORE_NEGATIVE, ns_exponent=SCORE_EXPONENT,
        )  # fmt: skip
    found = [(g, HeldOut(c, known)) for g, c in zip(groups, counts, strict=True) if c.total > 0]
    if not found:
        raise NothingToScoreError(
            "X has no pair of words to score: every document has fewer than two."
        )
    return found


def _groups(centres, X):
    """The different times, and which of them each document has; one, None, without times."""
    if centres is None:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return [None], np.zeros(n, dtype=np.int64)
    groups, index = np.unique(centres, return_inverse=True)
    return groups.tolist(), index


def documents(estimator, X, times, told=True):
    """Counts of the vocabulary's words in each document, and the center of its period or None.

    ``told`` is as of `place_times`.
    """
    check_rows(X=X, times=times)
    kind, X = kind_of(X)
    refuse_pairs("transform", kind)
    counts = static.count_documents(estimator, X)
    return counts, place_times(estimator, times, counts.shape[0], kind, told)


def refuse_pairs(method, kind):
    """Raise a TypeError where a method that takes documents was given `PairCounts`."""
    if kind == "pairs":
        raise TypeError(f"{method} takes documents or a count matrix, got PairCounts.")

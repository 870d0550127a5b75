"""What the estimator accepts, turned into pair counts: training counts and held-out counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..common.checks import NothingToScoreError, other_than_default
from ..common.warnings import warn_user
from ..corpus.analysis import analyzer_of, warn_of_unread
from ..corpus.count_matrix import (
    column_names,
    count_matrix,
    forget_columns,
    most_frequent,
    named_matrix,
)
from ..corpus.kinds import input_kind, materialise
from ..corpus.known import check_kind, known_counts
from ..corpus.rows import check_rows
from ..corpus.text import build_corpus, frequent_corpus
from ..corpus.units import BY_MODEL, Units, check_units, check_weights, units_of
from .batches import (
    CorpusBatches,
    MatrixBatches,
    PairBatches,
    ShardBatches,
    UnitPairs,
    sizes_of_sources,
)
from .checks import check_words
from .counting import (
    PairCounts,
    document_pairs,
    expected_negatives,
    sampled_negatives,
    window_pairs,
)
from .documents.blocks import DocumentPairs
from .pairs import context_totals, times
from .shards import PairShard

# The scoring protocol: the same for every candidate, whatever it was trained with. In a count
# matrix a token counts once.
SCORE_WINDOW = 5
SCORE_NEGATIVE = 1
SCORE_EXPONENT = 0.75

# Sums of counts, in whatever order, are as alike as that.
_COUNTED = 1e-9
# What ``fit`` accepts besides a count matrix.
_WITHOUT_COLUMNS = "text, tokens or PairCounts"


def is_counted(X):
    """Whether X holds pairs that are counted already: a PairCounts, a list of them, a PairShard."""
    return isinstance(X, PairCounts | PairShard) or is_list_of_pairs(X)


def is_list_of_pairs(X):
    """Whether X is a list of `PairCounts`; a TypeError where only some are."""
    if not isinstance(X, list | tuple):
        return False
    if any(isinstance(x, PairShard) for x in X):
        raise TypeError(
            "X must be a single PairShard, got a list with shards: add them up, sum(shards). Units "
            "are kept apart by count_pairs(units=...)."
        )
    if not any(isinstance(x, PairCounts) for x in X):
        return False
    other = [x for x in X if not isinstance(x, PairCounts)]
    if other:
        raise TypeError(
            f"X must be PairCounts throughout or none, got {type(other[0]).__name__} too."
        )
    return True


@dataclass(frozen=True)
class Training:
    """Counts for a fit, or what they are made from.

    Attributes
    ----------
    counts : PairCounts or None
        None where learning is online, or they are not made yet.
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None unless fitted on one.
    source : CorpusBatches, MatrixBatches, PairBatches, ShardBatches or None
        Makes the counts, of a batch or of all documents; None where they are made.
    by_document : DocumentPairs, UnitPairs or None
        The counts of each document, or of each unit where they were given so.
    units : Units or None
        The units that documents belong to; None where no documents are seen.
    """

    counts: PairCounts | None
    words: np.ndarray
    columns: np.ndarray | None = None
    source: CorpusBatches | MatrixBatches | PairBatches | ShardBatches | None = None
    by_document: DocumentPairs | UnitPairs | None = None
    units: Units | None = None

    @cached_property
    def vocabulary(self):
        """Place of each word, dict of str to int."""
        return {word: i for i, word in enumerate(self.words.tolist())}

    @property
    def sizes(self):
        """Numbers of documents, tokens and units as far as they are known, a dict."""
        return sizes_of_sources([getattr(self.by_document, "source", None)], self.units)


@dataclass(frozen=True)
class HeldOut:
    """Counts to score: ``index`` is each held-out word's place in the vocabulary, or -1."""

    counts: PairCounts
    index: np.ndarray


def training_data(estimator, X, seed, units=None, sample_weight=None):
    """`Training` of whatever ``fit`` accepts, for its way of learning.

    Parameters
    ----------
    estimator : BayesianSGNS
        The columns of a count matrix are noted in it.
    X : documents, counts, PairCounts, list of PairCounts or PairShard
    seed : numpy.random.SeedSequence
        For counts that are drawn: sampled negatives, subsampling, dynamic windows.
    units, sample_weight : array-like or None
        As of ``fit``.

    Raises
    ------
    ValueError
        If X, units or sample_weight are not allowed, or ``anchors`` or ``keep_draws`` name words
        that X does not have.
    """
    online = estimator.learning_method == "online"
    check_units_method(estimator, units)
    check_rows(X=X, units=units, sample_weight=sample_weight)
    training = read(estimator, X)
    check_vocabulary(estimator, training.words.size)
    check_words(estimator, training.vocabulary)
    training = with_units(training, seed, units, sample_weight)
    if online and training.units is not None and training.units.weights is not None:
        # documents are weighted batch by batch
        return replace(training, source=training.by_document)
    return training if online else counted(estimator, training, np.random.default_rng(seed))


def check_units_method(estimator, units):
    """Raise a ValueError where units are given and the way of learning cannot use them."""
    method = estimator.learning_method
    if units is not None and method != "batch":
        raise ValueError(
            f"units is available with learning_method='batch' only, got {method!r}, whose "
            "intervals are the model's."
        )


def with_units(training, seed, units, sample_weight):
    """`Training` with the units of its documents, and their pairs apart."""
    source = training.source
    n, what = source.n_documents, "documents"
    if n is None:
        for name, value in (("units", units), ("sample_weight", sample_weight)):
            if value is not None:
                raise ValueError(
                    f"{name} must be None for a single PairCounts or a PairShard without units, "
                    "whose documents are not known: pass a list of PairCounts, one for each unit, "
                    "or count_pairs(texts, vocabulary, units=...)."
                )
        return training
    if isinstance(source, UnitPairs | ShardBatches):
        what = "PairCounts" if isinstance(source, UnitPairs) else "units of X"
    weights = check_weights(sample_weight, n, what)
    found = units_of(check_units(units, n, what), weights, n, what, BY_MODEL)
    if isinstance(source, UnitPairs):
        if weights is not None:
            weighted = zip(source.parts, weights.tolist(), strict=True)
            source = UnitPairs([times(part, weight) for part, weight in weighted])
        return replace(training, source=source, by_document=source, units=found)
    pairs = DocumentPairs(source, weights, seed)
    return replace(training, by_document=pairs, units=found)


def read(estimator, X, *, reset=True):
    """`Training` whose ``source`` is to make the counts, rare words dropped.

    Parameters
    ----------
    estimator : BayesianSGNS
    X : documents, counts, PairCounts or PairShard
    reset : bool
        Whether the columns of a count matrix are noted in the estimator; otherwise they must be
        those noted.
    """
    if isinstance(X, PairCounts):
        if reset:
            forget_columns(estimator)
        source = PairBatches(X)
        return Training(None, column_names(X.n_words, X.words), None, source)
    if isinstance(X, PairShard):
        _check_shard(estimator)
        if reset:
            warn_of_ignored(estimator, X)
            forget_columns(estimator)
        return Training(None, X.words, None, ShardBatches(X))
    X = materialise(X)
    if is_list_of_pairs(X):
        if reset:
            forget_columns(estimator)
        return Training(None, names_of_pairs(X), None, UnitPairs(X))
    kind = input_kind(X)
    if reset:
        warn_of_unread(estimator, kind)
    if kind == "counts":
        matrix, names = named_matrix(estimator, X, reset=reset)
        columns = chosen_columns(estimator, matrix)
        source = MatrixBatches(matrix[:, columns], estimator.pair_weights)
        return Training(None, names[columns], columns, source)
    forget_columns(estimator)
    corpus = frequent_corpus(estimator, X, kind)
    source = CorpusBatches(
        estimator, corpus.ids, corpus.offsets, corpus.words.size, corpus.frequency
    )
    return Training(None, corpus.words, None, source)


def check_windows_laid(estimator):
    """Raise a ValueError for a ``subsample``, which a `PairShard` cannot follow."""
    if estimator.subsample is not None:
        raise ValueError(
            f"subsample must be None for a PairShard, whose windows are laid already, got "
            f"{estimator.subsample!r}."
        )


def _check_shard(estimator):
    """Raise a ValueError for parameters that a `PairShard` cannot follow."""
    check_windows_laid(estimator)
    if estimator.learning_method == "online":
        raise ValueError(
            "learning_method='online' reads documents, got a PairShard: call partial_fit with one "
            "shard after the other."
        )


def warn_of_ignored(estimator, shard, part=False):
    """Warn of parameters that ask for other counts than those of a `PairShard`.

    How often words occur is not known from a part of a stream.
    """
    names = "window", "window_weights", "min_count", "max_features"
    set_here = other_than_default(estimator, names)
    rarest = int(shard.tokens.sum(axis=0).min())
    ignored = {name: f"{name}={getattr(shard, name)!r}" for name in ("window", "window_weights")
               if set_here.get(name, getattr(shard, name)) != getattr(shard, name)}  # fmt: skip
    if not part and set_here.get("min_count", 0) > rarest:
        ignored["min_count"] = f"words that occur {rarest} times"
    if (set_here.get("max_features") or shard.n_words) < shard.n_words:
        ignored["max_features"] = f"{shard.n_words} words"
    _warn_of_other_reading(estimator, shard)
    for name, found in ignored.items():
        maker = "count_pairs" if name.startswith("window") else "build_vocabulary"
        warn_user(
            f"{name}={set_here[name]!r} is ignored: the PairShard was counted with {found}. Pass "
            f"{name} to {maker} and count again, or leave it out here.",
            UserWarning,
        )


def _warn_of_other_reading(estimator, shard):
    """Warn of parameters by which new text would be read otherwise than that of a shard."""
    given = shard.reading or {}
    own = {name: getattr(estimator, name) for name in given}
    if own.get("stop_words") is not None and not isinstance(own["stop_words"], str):
        own["stop_words"] = sorted(set(own["stop_words"]))
    others = [name for name in given if own[name] != given[name]]
    if others:
        shown = ", ".join(f"{name}={given[name]!r:.60}" for name in others)
        warn_user(
            f"The PairShard was counted with {shown}, and new text would be read by the "
            f"estimator's own {', '.join(others)}: words that are spelled otherwise there are "
            "lost. Give the estimator the same.",
            UserWarning,
        )


def counted(estimator, training, rng):
    """`Training` with the counts of all documents in the place of their source."""
    pairs = training.by_document
    if isinstance(pairs, DocumentPairs) and pairs.weights is not None:
        counts = pairs.total()
    else:
        counts = training.source.whole(rng)
    if not isinstance(counts, PairCounts):
        counts = finish_counts(estimator, counts, training.words, rng)
    return replace(training, counts=counts, source=None)


def training_again(estimator, X, seed, sample_weight=None, units=None):
    """The counts that a fitted estimator was trained on, made anew from the same data.

    ``units`` are checked, and change no count.
    """
    X = materialise(X)
    if not is_counted(X):
        fitted_kind(estimator, input_kind(X))
    training = read(estimator, X, reset=False)
    check_vocabulary(estimator, training.words.size)
    training = with_units(training, seed, units, sample_weight)
    rng = np.random.default_rng(seed)
    if training.columns is not None:
        # the columns are compared, for their names may be given to fit alone
        _check_same(estimator, training.columns, estimator._columns)
        training = counted(estimator, replace(training, words=estimator.words_), rng)
    else:
        training = counted(estimator, training, rng)
        _check_same(estimator, training.words, estimator.words_)
    _check_observed(estimator, training.counts)
    return training


def _check_observed(estimator, counts):
    """Raise a ValueError for other pairs than were fitted, by sums of targets and of contexts."""
    fitted = estimator.observed_
    if fitted is None:
        return
    found = np.ravel(counts.positive.sum(axis=1))
    if not _same_sums(found, fitted):
        raise ValueError(
            "X must be the data that fit was given, with the same sample_weight and counted with "
            f"the same parameters; X has {found.sum():.10g} pairs of words where fit had "
            f"{fitted.sum():.10g}, or has them of other words."
        )
    check_negatives(estimator, context_totals(counts.negative))


def check_negatives(estimator, found):
    """Raise a ValueError for other negative pairs of contexts than were fitted."""
    # of models that an earlier version saved, nothing is known of them
    fitted = getattr(estimator, "_negatives", None)
    if fitted is not None and not _same_sums(found, fitted):
        raise ValueError(
            "X must be the data that fit was given, with its negative pairs: negative, ns_exponent "
            "and negative_sampling must be those of fit."
        )


def _same_sums(found, fitted):
    return np.allclose(found, fitted, rtol=_COUNTED, atol=_COUNTED * fitted.max(initial=0.0))


def _check_same(estimator, found, fitted):
    if not np.array_equal(found, fitted):
        raise ValueError(
            f"X must be the data that fit was given, with its vocabulary of "
            f"{estimator.words_.size} words; X has {found.size} others or in other order."
        )


def fitted_kind(estimator, kind):
    """``kind``; a ValueError where the estimator was fitted on another kind of input."""
    check_kind(estimator, kind, without_columns=_WITHOUT_COLUMNS)
    return kind


def chosen_columns(estimator, counts):
    """Columns that ``min_count`` and ``max_features`` leave, never those without any count."""
    return most_frequent(counts, max(estimator.min_count, 1e-300), estimator.max_features)


def finish_counts(estimator, positive, words, rng):
    """Add the negative pairs to the positive ones."""
    if positive.sum() == 0:
        raise ValueError(
            "X has no pair of words: every document has fewer than two words of the vocabulary. "
            "Lower min_count or subsample less, or pass longer documents."
        )
    options = {"negative": estimator.negative, "ns_exponent": estimator.ns_exponent}
    if estimator.negative_sampling == "expected":
        negative = expected_negatives(positive, **options)
    else:
        negative = sampled_negatives(positive, rng=rng, **options)
    return PairCounts(positive, negative, words)


def check_vocabulary(estimator, n_words):
    """Raise a ValueError where too few words are left."""
    if n_words == 0:
        raise ValueError(
            f"empty vocabulary: no word of X occurs min_count={estimator.min_count} times or "
            "more. Lower min_count, or check the analyzer."
        )
    if estimator.n_components > n_words:
        cause = f", or lower min_count={estimator.min_count}" if estimator.min_count > 1 else ""
        if estimator.max_features is not None and estimator.max_features <= n_words:
            cause = f", or raise max_features={estimator.max_features}"
        raise ValueError(
            f"n_components={estimator.n_components} is larger than the vocabulary of {n_words} "
            f"word(s): choose at most {n_words}{cause}."
        )


def names_of_pairs(X):
    """The words of a list of `PairCounts`, which must all have the same; x0, x1, ... without."""
    first = X[0]
    for i, counts in enumerate(X[1:], 1):
        if counts.n_words != first.n_words or not _same_words(counts.words, first.words):
            raise ValueError(
                f"X must count pairs of the same words in the same order throughout: X[{i}] "
                f"({counts.n_words} words) has other words than X[0] ({first.n_words})."
            )
    return column_names(first.n_words, first.words)


def _same_words(a, b):
    return a is b if a is None or b is None else np.array_equal(a, b)


def held_out(estimator, X):
    """`HeldOut` of documents by the fixed scoring protocol, or of pair counts as they are."""
    if isinstance(X, PairShard):
        X = X.pair_counts(negative=SCORE_NEGATIVE, ns_exponent=SCORE_EXPONENT)
    if isinstance(X, PairCounts):
        return held_out_counts(estimator, X)
    X = materialise(X)
    kind = fitted_kind(estimator, input_kind(X))
    if kind == "counts":
        matrix = count_matrix(estimator, X)
        index = known_columns(estimator, matrix.shape[1])
        positive = document_pairs(matrix, pair_weights="token")
    else:
        corpus = build_corpus(X, analyzer_of(estimator, kind))
        index = known_words(estimator, corpus.words)
        positive = window_pairs(
            corpus.ids,
            corpus.offsets,
            corpus.words.size,
            window=SCORE_WINDOW,
            window_weights="linear",
        )
    if positive.sum() == 0:
        raise NothingToScoreError(
            "X has no pair of words to score: every document has fewer than two."
        )
    negative = expected_negatives(positive, negative=SCORE_NEGATIVE, ns_exponent=SCORE_EXPONENT)
    return HeldOut(PairCounts(positive, negative), index)


def held_out_counts(estimator, counts):
    """`HeldOut` of pair counts that the user made: words matched by name where there are any."""
    if counts.total == 0:
        raise ValueError("X has no observed pair to score: all its counts are zero.")
    if counts.words is None:
        if counts.n_words != estimator.words_.size:
            raise ValueError(
                f"X has pair counts of {counts.n_words} words without names, the estimator was "
                f"fitted on {estimator.words_.size}."
            )
        return HeldOut(counts, np.arange(counts.n_words))
    return HeldOut(counts, known_words(estimator, counts.words))


def known_words(estimator, words):
    """Place of each word in the vocabulary, or -1."""
    return np.array([estimator.vocabulary_.get(w, -1) for w in words.tolist()], dtype=int)


def known_columns(estimator, n_columns):
    """Place of each column of a count matrix in the vocabulary, or -1."""
    index = np.full(n_columns, -1)
    index[estimator._columns] = np.arange(estimator._columns.size)
    return index


def count_documents(estimator, X):
    """Counts of the vocabulary's words in each document, csr (n_documents, n_words)."""
    if is_counted(X):
        raise TypeError(
            f"transform takes documents or a count matrix, got {type(X).__name__} of pairs."
        )
    return known_counts(estimator, X, without_columns=_WITHOUT_COLUMNS)

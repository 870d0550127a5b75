"""How much text of a word there is in a period: from how little nothing is said of it there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..posterior.sources import FEW_UNITS, FEWEST_USES

# Pairs that a use is taken to make where uses are not known: as many as by default.
_PAIRS_OF_USE = 5.0


class Seen(NamedTuple):
    """What periods have of words.

    Attributes
    ----------
    uses : ndarray of shape (n_periods, n_words) or None
        Tokens of each word in documents with others; None where they are not known.
    units : ndarray of int of shape (n_periods, n_words)
        Units that have the word in the period.
    of_period : ndarray of int of shape (n_periods,)
        Units that have any word in it.
    """

    uses: np.ndarray | None
    units: np.ndarray
    of_period: np.ndarray

    @classmethod
    def of(cls, training):
        """What an `inputs.Training` has; None where units are not known."""
        units = training.units
        if units is None:
            return None
        shape = units.n_units, training.words.size
        uses, seen, of_period = [], [], []
        for t, source in enumerate(training.sources):
            mine = training.index == t
            documents, words, each = _uses(source)
            if units.weights is not None:
                counted = units.weights[mine][documents] > 0
                documents, words, each = documents[counted], words[counted], each[counted]
            # entries of the same place are added up
            table = sparse.csr_array((each, (units.index[mine][documents], words)), shape=shape)
            uses.append(table.sum(axis=0))
            seen.append(np.bincount(table.indices, minlength=shape[1]))
            of_period.append(np.count_nonzero(np.diff(table.indptr)))
        known = None if training.given else np.array(uses)
        return cls(known, np.array(seen), np.array(of_period))


class Text(NamedTuple):
    """What some periods have of phrases: of the phrase, or the end of an axis, that has fewest.

    Attributes
    ----------
    pairs : ndarray of shape (n_periods,)
        Positive pairs that its words were targets of.
    uses : ndarray of shape (n_periods,) or None
        Of its words; None where they are not known.
    units : ndarray of int of shape (n_periods,) or None
        Units of the period that have its word that most have; None where they are not known.
    few : ndarray of bool of shape (n_periods,)
        Where there are fewer uses than `sources.FEWEST_USES` (where they are not known, fewer pairs
        than those make), or fewer units than `sources.FEW_UNITS` (than all of them, where the
        period has no more).
    """

    pairs: np.ndarray
    uses: np.ndarray | None
    units: np.ndarray | None
    few: np.ndarray


def text_of(estimator, periods, *phrases):
    """The `Text` of phrases in periods."""
    ends = [p.index[side] for p in phrases for side in (p.weights > 0, p.weights < 0) if side.any()]

    def fewest(table, together):
        found = [together(table[np.ix_(periods, index)], axis=1) for index in ends]
        return np.min(found, axis=0)

    seen, uses, units = estimator._seen, None, None
    pairs = fewest(estimator.observed_, np.sum)
    if seen is not None:
        uses = None if seen.uses is None else fewest(seen.uses, np.sum)
        units = fewest(seen.units, np.max)
    return Text(pairs, uses, units, _few(estimator, periods, pairs, uses, units))


def lacking(estimator, periods, *phrases):
    """Line below a table that names phrases with too little text in periods, and these; or none."""
    labels, parts = estimator.periods_.labels, []
    for phrase in phrases:
        few = text_of(estimator, periods, phrase).few
        where = ", ".join(str(labels[t]) for t, lacks in zip(periods, few, strict=True) if lacks)
        parts += [f"of {phrase.label!r} in {where}"] if where else []
    return [f"(too little text: {'; '.join(dict.fromkeys(parts))})"] if parts else []


def words_too_few(estimator, periods, words=slice(None)):
    """The same of single words: where there is too little of them, bool (n_periods, n_words)."""
    seen, uses, units = estimator._seen, None, None
    if seen is not None:
        uses = None if seen.uses is None else seen.uses[periods][:, words].T
        units = seen.units[periods][:, words].T
    return _few(estimator, periods, estimator.observed_[periods][:, words].T, uses, units).T


def _few(estimator, periods, pairs, uses, units):
    """Whether there is too little in periods, the last axis of the arrays."""
    if uses is None:
        each = estimator._pairs_of_use
        few = pairs < FEWEST_USES * (_PAIRS_OF_USE if each is None else each)
    else:
        few = uses < FEWEST_USES
    if units is None:
        return few
    return few | (units < np.minimum(FEW_UNITS, estimator._seen.of_period[periods]))


def _uses(source):
    """Documents, their words and how often they have them, three arrays of the same shape."""
    if isinstance(source, list):
        rows = [np.flatnonzero(one.positive.sum(axis=1) > 0) for one in source]
        documents = np.repeat(np.arange(len(rows)), [row.size for row in rows])
        words = np.concatenate([np.zeros(0, int), *rows])
        return documents, words, np.ones(words.size)
    if hasattr(source, "ids"):
        words, ends, each = source.ids, source.offsets, np.ones(source.ids.size)
    else:
        words, ends, each = source.matrix.indices, source.matrix.indptr, source.matrix.data
    documents = np.repeat(np.arange(source.n_documents), np.diff(ends))
    each = np.where(words >= 0, each, 0.0)
    # a token that is alone makes no pair
    alone = np.bincount(documents, each, source.n_documents) <= 1.0
    known = (each > 0) & ~alone[documents]
    return documents[known], words[known], each[known]

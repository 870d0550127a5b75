"""How much text of a word there is in a period: from how little nothing is said of it there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..posterior.cells import cut_list
from ..posterior.sources import (
    FEW_UNITS,
    FEWEST_USES,
    name_of_sampled,
    one_unit_called,
)
from ..sgns.questions.phrases import label_of

# Pairs that a use is taken to make where uses are not known: as many as by default.
_PAIRS_OF_USE = 5.0
# Periods that a line names.
_NAMED = 8


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
    """What some periods have of phrases: of the one, or the end of an axis, with less text.

    It is the one that lacks text where only one does, else the one with fewer uses (fewer pairs
    where uses are not known); all that is said of a period is about the same one.

    Attributes
    ----------
    words : list of str of length n_periods
        What it is.
    pairs : ndarray of shape (n_periods,)
        Positive pairs that its words were targets of.
    uses : ndarray of shape (n_periods,) or None
        Of its words; None where they are not known.
    units : ndarray of int of shape (n_periods,) or None
        Units of the period that have its word that most have; None where they are not known.
    rare, narrow : ndarray of bool of shape (n_periods,)
        Where there are fewer uses than `sources.FEWEST_USES` (where they are not known, fewer pairs
        than that many make), and where there are fewer units than `sources.FEW_UNITS`, or than the
        period has.
    """

    words: list
    pairs: np.ndarray
    uses: np.ndarray | None
    units: np.ndarray | None
    rare: np.ndarray
    narrow: np.ndarray

    @property
    def few(self):
        """Where there is too little text, bool (n_periods,)."""
        return self.rare | self.narrow

    def lack(self, i):
        """What there is too little of in a period that lacks text, as ``"2 units"``."""
        if not self.rare[i]:
            return amount_of(self.units[i], "unit")
        if self.uses is None:
            return amount_of(self.pairs[i], "pair")
        return amount_of(self.uses[i], "use")

    def reason(self, i, where="there"):
        """The same as a clause, as ``"'labor' is in only 2 units there"``."""
        lack = self.lack(i)
        only = "" if lack.startswith("no ") else "only "
        return f"{self.words[i]!r} {'has' if self.rare[i] else 'is in'} {only}{lack} {where}"


def amount_of(n, what):
    """A number of things in words, as ``"1 use"``.

    Examples
    --------
    >>> from skbayesembed.dynamic.seen import amount_of
    >>> amount_of(0, "use"), amount_of(1, "use"), amount_of(1500, "use")
    ('no uses', '1 use', '1,500 uses')
    """
    return f"{f'{n:,.0f}' if n else 'no'} {what}{'' if n == 1 else 's'}"


def text_of(estimator, periods, *phrases):
    """The `Text` of phrases in periods."""
    ends = [p.index[side] for p in phrases for side in (p.weights > 0, p.weights < 0) if side.any()]

    def of_ends(table, together):
        return np.array([together(table[np.ix_(periods, index)], axis=1) for index in ends])

    seen, uses, units = estimator._seen, None, None
    pairs = of_ends(estimator.observed_, np.sum)
    if seen is not None:
        uses = None if seen.uses is None else of_ends(seen.uses, np.sum)
        units = of_ends(seen.units, np.max)
    rare, narrow = _few(estimator, periods, pairs, uses, units)
    least = np.lexsort((pairs, pairs if uses is None else uses, ~(rare | narrow)), axis=0)[0]

    def of_least(table):
        return None if table is None else table[least, np.arange(least.size)]

    names = [label_of(estimator.words_[index]) for index in ends]
    return Text([names[i] for i in least], *map(of_least, (pairs, uses, units, rare, narrow)))


def lacking(estimator, periods, *phrases):
    """Line below a table that names phrases with too little text in periods, and these; or none."""
    labels, parts = estimator.periods_.labels, []
    for phrase in phrases:
        text = text_of(estimator, periods, phrase)
        few = np.flatnonzero(text.few)
        where = [f"{labels[periods[i]]} ({text.lack(i)})" for i in few[:_NAMED]]
        if len(few) > _NAMED:
            where = [f"{len(few)} of {len(periods)} periods, such as {where[0]}"]
        parts += [f"of {cut_list(phrase.label)!r} in {', '.join(where)}"] if where else []
    return [f"(too little text: {'; '.join(dict.fromkeys(parts))})"] if parts else []


def of_one_unit(estimator, periods):
    """Line below a table that names those of some periods whose text is of one unit; or none."""
    seen, labels = estimator._seen, estimator.periods_.labels
    if seen is None:
        return []
    found = [str(labels[t]) for t in periods if seen.of_period[t] == 1]
    if not found:
        return []
    unit = one_unit_called(name_of_sampled(estimator))
    where = ", ".join(found) if len(found) <= _NAMED else f"{len(found)} periods"
    of = f"is of one {unit}" if len(found) == 1 else f"are of one {unit} each"
    return [f"({where} {of}: whether something is of the period or of it alone cannot be told)"]


def lacking_at_ends(estimator, periods, *phrases):
    """`lacking`, and two periods with enough text; for answers about what changed between two."""
    lines = lacking(estimator, periods, *phrases)
    if not lines:
        return []
    labels = estimator.periods_.labels
    enough = np.flatnonzero(~text_of(estimator, list(range(len(labels))), *phrases).few)
    if enough.size < 2:
        return [*lines, "(no two periods have enough)"]
    first, last = labels[enough[0]], labels[enough[-1]]
    return [*lines, f"(there is enough from start={first!r} to end={last!r})"]


def words_too_few(estimator, periods, words=slice(None)):
    """The same of single words: where there is too little of them, bool (n_periods, n_words)."""
    seen, uses, units = estimator._seen, None, None
    if seen is not None:
        uses = None if seen.uses is None else seen.uses[periods][:, words].T
        units = seen.units[periods][:, words].T
    pairs = estimator.observed_[periods][:, words].T
    rare, narrow = _few(estimator, periods, pairs, uses, units)
    return (rare | narrow).T


def _few(estimator, periods, pairs, uses, units):
    """Whether uses and units are too few in periods, which are the last axis of the arrays."""
    if uses is None:
        each = estimator._pairs_of_use
        rare = pairs < FEWEST_USES * (_PAIRS_OF_USE if each is None else each)
    else:
        rare = uses < FEWEST_USES
    if units is None:
        return rare, np.zeros_like(rare)
    return rare, units < np.minimum(FEW_UNITS, estimator._seen.of_period[periods])


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
    # a token that is alone makes no pair; fractions of several words do
    several = np.bincount(documents, each > 0, source.n_documents) > 1
    several |= np.bincount(documents, each, source.n_documents) > 1.0
    known = (each > 0) & several[documents]
    return documents[known], words[known], each[known]

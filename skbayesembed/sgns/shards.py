"""Pair counts of parts of a text, which add up: counting as map and reduce."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..common.checks import check_choice, check_integer
from ..common.files import FORMATS, read_npz, write_npz
from ..corpus.kinds import NO_LISTS
from ..corpus.streams import documents_of
from ..corpus.units import as_labels, check_units
from ..corpus.vocabulary import READING, Vocabulary
from .counting import expected_negatives, window_pairs
from .documents.blocks import Block, block_of, runs_of_pairs, total_of
from .pairs import PairCounts, added_up

_FORMAT, _VERSION = FORMATS["PairShard"], 1
_WEIGHTS = ("linear", "uniform")
# Tokens that are counted together: their ids and positions take 40 MB.
_TOKENS = 2**21
# Words that a message names.
_NAMED = 3


class PairShard:
    r"""Positive pairs of a part of a text, which can be added to those of other parts.

    Counts are whole multiples of a fraction, so that sums are exact in any order. The distribution
    of negative pairs does not add up, so they are computed from the sum of all parts, by ``fit`` or
    by `pair_counts`.

    Attributes
    ----------
    words : ndarray of object of shape (n_words,)
    window : int
    window_weights : str
    units : ndarray of shape (n_units,) or None
        Labels of the units whose pairs are kept apart, ascending; None if none are.
    n_documents : int
    tokens : csr_array of shape (n_units, n_words)
        Number of tokens of each word in each unit; one row if units are not kept apart.
    positive : csr_array of shape (n_words, n_words)
        Pairs of all units together.

    See Also
    --------
    count_pairs : Counts the pairs of a shard.

    Examples
    --------
    >>> from skbayesembed import build_vocabulary, count_pairs
    >>> parts = [["a b b a", "a c"], ["c c a"]]
    >>> vocabulary = build_vocabulary(parts[0] + parts[1], min_count=2, token_pattern=r"\w+")
    >>> whole = sum(count_pairs(texts, vocabulary, window=1) for texts in parts)
    >>> whole
    PairShard(n_words=3, n_documents=3, n_positive=12)
    >>> whole.positive.toarray().tolist()
    [[0.0, 2.0, 2.0], [2.0, 2.0, 0.0], [2.0, 0.0, 2.0]]
    """

    # how text was read, by names of parameters; None where that is not known, as of old pickles
    reading: dict[str, Any] | None = None

    def __init__(
        self, words, window, window_weights, units, n_documents, tokens, keys, multiples,
        reading=None,
    ):  # fmt: skip
        self.words, self.window, self.window_weights, self.reading = (
            words, window, window_weights, reading,
        )  # fmt: skip
        self.units, self.n_documents, self.tokens = units, n_documents, tokens
        # unit * n_words + word of each place, and multiples of pairs of places (csr)
        self._keys, self._multiples = keys, multiples

    @property
    def n_words(self) -> int:
        """Number of words."""
        return self.words.size

    def __repr__(self) -> str:
        units = "" if self.units is None else f", n_units={self.units.size}"
        return (
            f"PairShard(n_words={self.n_words}, n_documents={self.n_documents}{units}, "
            f"n_positive={self._multiples.sum() / self._scale:g})"
        )

    @property
    def _scale(self):
        return self.window if self.window_weights == "linear" else 1

    @cached_property
    def positive(self) -> sparse.csr_array:
        """Pairs of all units together."""
        total = self._multiples
        if self.units is not None:
            total = total_of(self._blocks(), self.n_words, total.dtype)
        # a copy: the shard's own stay as they are whatever is done with it
        given = total.data / self._scale, total.indices, total.indptr
        return sparse.csr_array(given, shape=total.shape, copy=True)

    @property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        return np.divmod(self._keys, self.n_words)

    def blocks(self) -> Iterator[Block]:
        """Yield the pairs of each unit, in the place of documents: `Block` of some units each.

        Examples
        --------
        >>> from skbayesembed import build_vocabulary, count_pairs
        >>> texts = ["the cat sat", "the dog sat"]
        >>> vocabulary = build_vocabulary(texts, min_count=1)
        >>> shard = count_pairs(texts, vocabulary, units=["a", "b"])
        >>> [block.document.tolist() for block in shard.blocks()]
        [[0, 0, 0, 1, 1, 1]]
        """
        for block in self._blocks():
            m = block.positive
            scaled = sparse.csr_array((m.data / self._scale, m.indices, m.indptr), m.shape)
            yield replace(block, positive=scaled)

    def _blocks(self):
        """The same with multiples of weights."""
        (unit, word), m = self._places, self._multiples
        # places are in the order of units, and pairs within one
        n_units = 1 if self.units is None else self.units.size
        ends = np.searchsorted(unit, np.arange(n_units + 1))
        for first, stop in runs_of_pairs(np.diff(m.indptr[ends].astype(np.int64))):
            a, b = ends[first], ends[stop]
            some = slice(m.indptr[a], m.indptr[b])
            entries = m.data[some], m.indices[some] - a, m.indptr[a : b + 1] - m.indptr[a]
            yield Block(unit[a:b], word[a:b], sparse.csr_array(entries, (b - a, b - a)))

    def pair_counts(self, *, negative: float = 1, ns_exponent: float = 0.75) -> PairCounts:
        """Return counts with expected negative pairs, for estimators that take `PairCounts`.

        Parameters
        ----------
        negative : float, default=1
            Number of negative observations per positive one.
        ns_exponent : float, default=0.75
            Exponent of the context frequencies from which negatives are drawn.

        Returns
        -------
        PairCounts

        Raises
        ------
        ValueError
            If a parameter is out of range or there are no pairs.

        Examples
        --------
        >>> from skbayesembed import build_vocabulary, count_pairs
        >>> texts = ["the cat sat", "the dog sat"]
        >>> shard = count_pairs(texts, build_vocabulary(texts, min_count=1))
        >>> print(f"{shard.pair_counts(negative=2).negative.sum() / shard.positive.sum():.1f}")
        2.0
        """
        negatives = expected_negatives(self.positive, negative=negative, ns_exponent=ns_exponent)
        return PairCounts(self.positive, negatives, self.words)

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "positive"}

    def __add__(self, other: PairShard) -> PairShard:
        if not isinstance(other, PairShard):
            return NotImplemented
        _check_alike(self, other)
        units, places = None, [slice(None), slice(None)]
        if self.units is not None:
            # of no units the type says nothing
            some = [shard.units for shard in (self, other) if shard.units.size]
            units = np.unique(np.concatenate(some)) if some else self.units
            places = [np.searchsorted(units, shard.units) for shard in (self, other)]
        tokens = sum(
            _at_rows(shard.tokens, place, units)
            for shard, place in zip((self, other), places, strict=True)
        )
        keys, multiples = _joined(self, other, places)
        return PairShard(
            self.words,
            self.window,
            self.window_weights,
            units,
            self.n_documents + other.n_documents,
            sparse.csr_array(tokens),
            keys,
            multiples,
            _common(self, other),
        )

    def __radd__(self, other: int) -> PairShard:
        # sum() begins with 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shard to one ``.npz`` file, which `load` reads back exactly, without pickle.

        Parameters
        ----------
        path : str or path-like

        Examples
        --------
        >>> import os, tempfile
        >>> from skbayesembed import PairShard, build_vocabulary, count_pairs
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug"]
        >>> shard = count_pairs(texts, vocabulary=build_vocabulary(texts, min_count=1))
        >>> path = os.path.join(tempfile.mkdtemp(), "shard.npz")
        >>> shard.save(path)
        >>> (PairShard.load(path) + shard).pair_counts().n_words
        7
        """
        header = {
            "words": self.words.tolist(),
            "window": self.window,
            "window_weights": self.window_weights,
            "units": None if self.units is None else self.units.tolist(),
            "n_documents": self.n_documents,
            "reading": self.reading,
        }
        arrays = {"keys": self._keys}
        for name, table in (("tokens", self.tokens), ("multiples", self._multiples)):
            arrays |= {
                f"{name}_data": _compact(table.data),
                f"{name}_indices": _compact(table.indices),
                f"{name}_indptr": table.indptr,
            }
        write_npz(path, _FORMAT, _VERSION, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a shard written by `save`.

        Parameters
        ----------
        path : str or path-like
            With or without ``.npz``.

        Raises
        ------
        FileNotFoundError
            If the file does not exist.
        ValueError
            If the file is not a shard.

        Examples
        --------
        >>> import os, tempfile
        >>> from skbayesembed import PairShard, build_vocabulary, count_pairs
        >>> texts = ["the cat sat", "the dog sat"]
        >>> path = os.path.join(tempfile.mkdtemp(), "part")
        >>> count_pairs(texts, build_vocabulary(texts, min_count=1)).save(path)
        >>> PairShard.load(path)
        PairShard(n_words=4, n_documents=2, n_positive=11.2)
        """
        header, arrays = read_npz(path, _FORMAT, _VERSION, "shard of pair counts")
        words = np.empty(len(header["words"]), dtype=object)
        words[:] = header["words"]
        units = header["units"]
        if units is not None:
            texts = bool(units) and isinstance(units[0], str)
            units = np.array(units, None if texts else np.int64)
        keys = arrays["keys"]
        shapes = {
            "tokens": (1 if units is None else units.size, words.size),
            "multiples": (keys.size, keys.size),
        }
        tables = [
            sparse.csr_array(
                (
                    arrays[f"{name}_data"].astype(np.float64),
                    arrays[f"{name}_indices"].astype(np.int32),
                    arrays[f"{name}_indptr"],
                ),
                shape,
            )
            for name, shape in shapes.items()
        ]
        rest = header["window"], header["window_weights"], units, header["n_documents"]
        # files of before have none
        return cls(words, *rest, tables[0], keys, tables[1], header.get("reading"))


def count_pairs(
    texts: Any,
    vocabulary: Vocabulary,
    *,
    window: int = 5,
    window_weights: str = "linear",
    units: Iterable[Any] | None = None,
) -> PairShard:
    """Count the pairs of words in texts, or in a part of them.

    Shards of parts add up to what ``BayesianSGNS.fit`` counts in the whole text: fit to
    ``sum(shards)``.

    Parameters
    ----------
    texts : iterable of str or of lists of str
        Documents as strings or token lists. An iterator, such as an open file with one document
        per line, is read once and never stored. Windows never cross the ends of documents.
    vocabulary : Vocabulary
        Vocabulary of the whole text. Other words are removed before windows are formed, as in
        ``fit``.
    window : int, default=5
        Number of words on each side of a target that are its context.
    window_weights : {"linear", "uniform"}, default="linear"
        As in `BayesianSGNS`.
    units : iterable of labels or None, default=None
        A label for each document (speaker, author, work, or a name of its own), int or str. Pairs
        of each unit are then kept apart, for ``uncertainty="documents"``; a unit may have documents
        in several shards.

    Returns
    -------
    PairShard
        Shards can be added by ``a + b`` and ``sum``.

    Raises
    ------
    TypeError, ValueError
        If texts are not documents, ``vocabulary`` is of another type or empty, an option is not
        allowed, or units are not one for each document.

    Notes
    -----
    Memory is that of the counts and of two million tokens, whatever the length of the text.

    Examples
    --------
    >>> from skbayesembed import build_vocabulary, count_pairs
    >>> parts = ["the cat sat on the mat"], ["the dog sat on the rug"]
    >>> vocabulary = sum(build_vocabulary(part, min_count=2) for part in parts)
    >>> sum(count_pairs(part, vocabulary, window=2) for part in parts)
    PairShard(n_words=3, n_documents=2, n_positive=16)
    """
    _check_options(vocabulary, window, window_weights)
    place = {word: i for i, word in enumerate(vocabulary.words.tolist())}
    kinds: list[str] = []

    def counted():
        for ids, ends, labels in _chunks(texts, vocabulary, place, units, kinds):
            documents = np.asarray(ids, np.int32), np.asarray(ends, np.int64)
            labels = None if units is None else labels
            yield _counted(vocabulary.words, *documents, labels, int(window), window_weights)

    shard = added_up(counted(), lambda part: part._multiples.nnz)
    # tokens are taken as they are
    shard.reading = _reading_of(vocabulary) if "text" in kinds else None
    return shard


def _reading_of(vocabulary):
    """How text is read, by names of parameters; None where it is by a function of one's own."""
    if not isinstance(vocabulary.analyzer, str):
        return None
    return {name: getattr(vocabulary, name) for name in READING}


def _check_options(vocabulary, window, window_weights):
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(
            f"vocabulary must be a Vocabulary, see build_vocabulary, got {vocabulary!r:.60}."
        )
    if vocabulary.words.size == 0:
        raise ValueError(
            f"empty vocabulary: no word occurs min_count={vocabulary.min_count} times or more. Was "
            "it built of the whole text?"
        )
    check_integer("window", window, 1)
    if isinstance(window_weights, str) and window_weights == "dynamic":
        raise ValueError(
            "window_weights='dynamic' draws the reach of windows, and the sum of shards would not "
            "be what the whole text gives: use 'linear', its expectation."
        )
    check_choice("window_weights", window_weights, _WEIGHTS)


def _common(a, b):
    """How the texts of two shards were read, if alike; one without documents tells nothing."""
    for one, other in ((a, b), (b, a)):
        if other.n_documents == 0:
            return one.reading
    return a.reading if a.reading == b.reading else None


def _chunks(texts, vocabulary, place, units, kinds) -> Iterator[tuple]:
    """Yield ids, offsets and labels of some two million tokens after the other; once at least."""
    look_up = place.get
    ids, ends, labels, none = array("i"), array("q", [0]), [], object()
    if units is not None and not _may_be_labels(units):
        raise ValueError(f"units must have a label for each document, got {units!r}.")
    mine, waiting = None if units is None else iter(units), True
    for index, tokens in enumerate(documents_of(texts, vocabulary, kinds)):
        ids.extend(i for i in map(look_up, tokens) if i is not None)
        ends.append(len(ids))
        if mine is not None:
            labels.append(next(mine, none))
            if labels[-1] is none:
                raise ValueError(f"units must have a label for each document, got {index} only.")
        waiting = len(ids) < _TOKENS
        if not waiting:
            yield ids, ends, labels
            ids, ends, labels = array("i"), array("q", [0]), []
    if mine is not None and next(mine, none) is not none:
        raise ValueError("units must have one label for each document, got more labels.")
    if waiting or len(ends) > 1:
        yield ids, ends, labels


def _may_be_labels(units):
    """Whether there is one label after the other, in an order."""
    no_list = isinstance(units, NO_LISTS) or hasattr(units, "columns")
    return isinstance(units, Iterable) and not no_list


def _counted(words, ids, offsets, labels, window, weights):
    """The `PairShard` of some documents."""
    n_words, n_documents = words.size, offsets.size - 1
    options = {"window": window, "window_weights": weights, "multiples": True}
    if labels is None:
        keys, units = np.arange(n_words), None
        multiples = window_pairs(ids, offsets, n_words, **options)
        tokens = np.bincount(ids, minlength=n_words)[None]
    else:
        units, unit = _labels(labels, n_documents)
        block = block_of(ids, offsets, unit, n_words, **options)
        keys, multiples = block.document * n_words + block.word, block.positive
        each = np.repeat(unit, np.diff(offsets)), ids
        tokens = sparse.coo_array((np.ones(ids.size), each), shape=(units.size, n_words))
    tokens = sparse.csr_array(tokens, dtype=np.float64)
    tokens.sum_duplicates()
    return PairShard(words, window, weights, units, n_documents, tokens, keys, multiples)


def _labels(labels, n):
    """Different labels, ascending, and the place of each document's among them."""
    found = check_units(labels, n) if n else np.array([], np.int64)
    # numbers beside texts are texts by now
    mixed = found.dtype.kind == "U" and not all(isinstance(x, str) for x in as_labels(labels))
    if found.dtype.kind not in "iuU" or mixed:
        what = "both" if mixed else f"dtype {found.dtype}"
        raise ValueError(f"units must be labels that are int or str throughout, got {what}.")
    if found.dtype.kind == "u":
        if found.size and found.max() > np.iinfo(np.int64).max:
            raise ValueError(
                f"units must be labels below 2**63, got {found.max()}: pass them as str."
            )
        found = found.astype(np.int64)
    return np.unique(found, return_inverse=True)


def _check_alike(a, b):
    """Raise a ValueError where two shards do not count the same."""
    for name in ("window", "window_weights"):
        if getattr(a, name) != getattr(b, name):
            raise ValueError(
                f"shards must have been counted alike to be added, got {name}={getattr(a, name)!r} "
                f"and {name}={getattr(b, name)!r}: count again with one {name}."
            )
    if not np.array_equal(a.words, b.words):
        if set(a.words) == set(b.words):
            raise ValueError(
                f"shards must have their words in one order to be added, got the same {a.n_words} "
                "words in two: count all texts with one vocabulary."
            )
        only = [list(set(x.words) - set(y.words))[:_NAMED] for x, y in ((a, b), (b, a))]
        raise ValueError(
            f"shards must count pairs of the same words to be added, got {a.n_words} and "
            f"{b.n_words} words ({only[0]} in the first alone, {only[1]} in the second). Words "
            "outside the vocabulary leave before windows are laid and their neighbors close up, "
            "so that counts cannot be extended by words afterwards: add up the vocabularies, and "
            "count all texts again with the sum."
        )
    if (a.units is None) != (b.units is None):
        raise ValueError("shards must all have units to be added, or none: count again with units.")
    if a.units is not None and 0 < a.units.size * b.units.size:
        kinds = ["str" if u.dtype.kind == "U" else "int" for u in (a.units, b.units)]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"units of shards must all be int or all be str to be added, got {kinds[0]} and "
                f"{kinds[1]}."
            )


def _at_rows(table, rows, units):
    """Rows of a table at their places among those of all units."""
    if units is None:
        return table
    lengths = np.zeros(units.size, np.int64)
    lengths[rows] = np.diff(table.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((table.data, table.indices, indptr), (units.size, table.shape[1]))


def _joined(a, b, units):
    """Keys and multiples of two shards together; ``units`` are the places of their labels."""
    if a.units is None:
        return a._keys, a._multiples + b._multiples
    n_words, keys = a.n_words, []
    for shard, place in zip((a, b), units, strict=True):
        unit, word = shard._places
        keys.append(place[unit] * n_words + word)
    every = np.union1d(*keys)
    tables = []
    for shard, mine in zip((a, b), keys, strict=True):
        # keys ascend before and after, so that rows and columns stay in order
        place, m = np.searchsorted(every, mine), shard._multiples
        table = _at_rows(m, place, every)
        columns = place[m.indices].astype(np.int32, copy=False)
        tables.append(
            sparse.csr_array((table.data, columns, table.indptr), (every.size, every.size))
        )
    return every, tables[0] + tables[1]


def _compact(values):
    """Whole numbers in as few bytes as hold them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))

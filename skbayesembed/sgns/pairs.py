"""Containers of pair counts: as a matrix, and as a product that is never formed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..common.checks import as_floats, check_total, is_number
from ..common.memory import check_memory
from ..common.random import generators, seed_sequence

# Bytes of an entry of a product while it is written out and added to others.
_WRITTEN = 64
_NO_SLICES = (
    "PairCounts {}: they are totals over all documents, so cross-validation (GridSearchCV, "
    "cross_val_score, train_test_split) cannot take documents out. Use "
    "train, test = pairs.split(test_size=0.25), or cross-validate on the documents themselves."
)


class RankOne:
    """Counts that are a product, ``n[w, v] = left[w] * right[v]``, without the matrix.

    Parameters
    ----------
    left : array-like of shape (n_rows,)
    right : array-like of shape (n_columns,)

    Attributes
    ----------
    left, right : ndarray of float64
    shape : tuple of int
    T : RankOne
        The transpose.

    Raises
    ------
    ValueError
        If a factor is not 1-D, not finite or negative.

    Examples
    --------
    >>> from skbayesembed.sgns.pairs import RankOne
    >>> counts = RankOne([1, 2], [3, 4])
    >>> counts.sum(), counts.toarray().tolist()
    (21.0, [[3.0, 4.0], [6.0, 8.0]])
    """

    def __init__(self, left: ArrayLike, right: ArrayLike) -> None:
        self.left = _factor(left, "left")
        self.right = _factor(right, "right")

    def __repr__(self) -> str:
        return f"RankOne(shape={self.shape}, sum={self.sum():.6g})"

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.left.size, self.right.size

    @property
    def T(self) -> RankOne:
        """The transpose, a RankOne."""
        return RankOne(self.right, self.left)

    def toarray(self) -> np.ndarray:
        """All counts, as a dense array of shape (n_rows, n_columns)."""
        return np.outer(self.left, self.right)

    def block(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start`` to ``stop``, as a dense array of shape (stop - start, n_columns)."""
        return np.outer(self.left[start:stop], self.right)

    def scaled(self, factor: float) -> RankOne:
        """The counts times ``factor``, as a RankOne."""
        return RankOne(self.left * factor, self.right)

    def sum(self) -> float:
        """Total of the counts, as a float."""
        return float(self.left.sum() * self.right.sum())


def context_totals(pairs: Any) -> np.ndarray:
    """Sums over the targets of a `RankOne` or a sparse matrix, (n_columns,)."""
    if isinstance(pairs, RankOne):
        return pairs.left.sum() * pairs.right
    return np.ravel(pairs.sum(axis=0))


class PairCounts:
    """Counts of how often each pair of words was seen (positive) and drawn as noise (negative).

    Parameters
    ----------
    positive : sparse matrix or array-like of shape (n_words, n_words)
        Counts of target words (rows) with context words (columns); fractions are allowed.
    negative : sparse matrix, array-like or RankOne of shape (n_words, n_words)
        Counts of noise, likewise.
    words : array-like of str of shape (n_words,) or None, default=None
        The words themselves.

    Attributes
    ----------
    positive : csr_array of float64
    negative : csr_array of float64 or RankOne
    words : ndarray of object or None
    n_words : int
    shape : tuple of int
        (n_words, n_words).
    total : float
        Number of observations, positive and negative.

    Raises
    ------
    TypeError
        If counts are not numbers, or words are not ``str``.
    ValueError
        If counts are not square, differ in shape, are not finite or are negative, or if words
        repeat or have the wrong number.

    Examples
    --------
    >>> from skbayesembed.sgns.pairs import PairCounts
    >>> pairs = PairCounts([[0, 2], [2, 0]], [[1, 1], [1, 1]], words=["cat", "dog"])
    >>> pairs
    PairCounts(n_words=2, n_positive=4, n_negative=4)
    """

    def __init__(self, positive: Any, negative: Any, words: ArrayLike | None = None) -> None:
        self.positive = as_counts(positive, "positive")
        self.negative = (
            negative if isinstance(negative, RankOne) else as_counts(negative, "negative")
        )
        if self.positive.shape[0] != self.positive.shape[1]:
            raise ValueError(
                f"positive must be square (n_words, n_words), got shape {self.positive.shape}."
            )
        if self.positive.shape[0] == 0:
            raise ValueError("positive must count at least one word, got shape (0, 0).")
        if self.negative.shape != self.positive.shape:
            raise ValueError(
                f"negative must have the shape of positive, {self.positive.shape}, "
                f"got {self.negative.shape}."
            )
        self.words = None if words is None else _unique_words(words, self.n_words)

    @property
    def n_words(self) -> int:
        """Number of words."""
        return self.positive.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(n_words, n_words)."""
        # Also what makes scikit-learn's splitters reach __getitem__ and its message: they replace
        # the one of __len__ by their own.
        return self.positive.shape

    @property
    def total(self) -> float:
        """Number of observations, positive and negative."""
        return float(self.positive.sum() + self.negative.sum())

    def __repr__(self) -> str:
        return (
            f"PairCounts(n_words={self.n_words}, n_positive={self.positive.sum():g}, "
            f"n_negative={self.negative.sum():g})"
        )

    def __bool__(self):
        return True

    def __len__(self):
        raise TypeError(_NO_SLICES.format("have no length"))

    def __getitem__(self, key):
        raise TypeError(_NO_SLICES.format("cannot be sliced"))

    def __iter__(self):
        raise TypeError(_NO_SLICES.format("cannot be iterated over"))

    def split(
        self,
        test_size: float = 0.25,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[PairCounts, PairCounts]:
        """Split the observations at random into a training and a test set.

        Every observation goes to the test set with probability ``test_size``; the fractional part
        of a count goes as a whole. A `RankOne` (expected counts) is divided in proportion.

        Parameters
        ----------
        test_size : float, default=0.25
            Share of the test set, between 0 and 1.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        train, test : PairCounts
            Counts that add up to these.

        Raises
        ------
        ValueError
            If ``test_size`` is not strictly between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import PairCounts
        >>> counts = np.full((3, 3), 40)
        >>> train, test = PairCounts(counts, counts).split(random_state=0)
        >>> float(train.positive.sum() + test.positive.sum())
        360.0
        """
        if not is_number(test_size) or not 0 < test_size < 1:
            raise ValueError(f"test_size must be a number between 0 and 1, got {test_size!r}.")
        rngs = generators(seed_sequence(random_state), 2)
        parts = [
            divided(counts, float(test_size), rng)
            for counts, rng in zip((self.positive, self.negative), rngs, strict=True)
        ]
        (positive, other_positive), (negative, other_negative) = parts
        train = PairCounts(positive, negative, self.words)
        return train, PairCounts(other_positive, other_negative, self.words)


def added_up(parts, size):
    """The sum of parts, of which there is at least one, without adding each to all before it.

    Sums are carried as digits of a binary number, so that no entry is added up more than a few
    times, and hardly more is kept than the sum twice.

    Parameters
    ----------
    parts : iterable
        Taken one after the other.
    size : callable
        How many entries a part has.
    """
    found: list[Any] = []
    for part in parts:
        found.append(part)
        while len(found) > 1 and size(found[-2]) <= 2 * size(found[-1]):
            found[-2:] = [found[-2] + found[-1]]
    whole = found.pop()
    while found:
        whole = found.pop() + whole
    return whole


def pooled_counts(counts):
    """`PairCounts` of the same words added up; a single one is left as it is.

    Expected negatives of several texts are no product any more: their sum is a whole matrix.
    """
    if len(counts) == 1:
        return counts[0]
    positive = sum((c.positive for c in counts[1:]), counts[0].positive)
    left = [c.negative for c in counts if c.negative.sum() > 0]
    check_written_out(left, "pass a PairShard with units, whose negatives are made of the sum")
    negative = None
    for part in left:
        whole = written_out(part)
        negative = whole if negative is None else negative + whole
    return PairCounts(positive, np.zeros(positive.shape) if negative is None else negative)


def check_written_out(counts, advice):
    """Raise a MemoryError where products among counts are too large to be written out one by one.

    Parameters
    ----------
    counts : list of RankOne or sparse matrix
    advice : str
        What else to do.
    """
    entries = [
        float(np.count_nonzero(one.left)) * float(np.count_nonzero(one.right))
        for one in counts
        if isinstance(one, RankOne)
    ]
    if entries:
        check_memory(
            _WRITTEN * max(entries),
            f"Expected negatives of {max(one.shape[0] for one in counts)} words, written out,",
            f"For many words {advice}; or lower max_features.",
        )


def written_out(counts):
    """Counts as a sparse matrix; a product is written out."""
    if isinstance(counts, RankOne):
        rows, columns = np.flatnonzero(counts.left), np.flatnonzero(counts.right)
        values = np.outer(counts.left[rows], counts.right[columns]).ravel()
        places = np.repeat(rows, columns.size), np.tile(columns, rows.size)
        return sparse.csr_array((values, places), shape=counts.shape)
    return counts


def times(counts, factor):
    """`PairCounts` multiplied by a number."""
    negative = counts.negative
    scaled = negative.scaled(factor) if isinstance(negative, RankOne) else negative * factor
    return PairCounts(counts.positive * factor, scaled, counts.words)


def as_counts(counts, name):
    """Check non-negative counts and copy them into a canonical float64 CSR array."""
    try:
        if np.iscomplexobj(counts):
            raise TypeError("complex numbers")
        if not sparse.issparse(counts):
            if np.ndim(counts) == 0:
                raise TypeError("a single value")
            counts = as_floats(counts)
        if counts.ndim == 2:
            # the sums of entries that are there twice may not fit into the type of the counts
            counts = sparse.csr_array(counts.astype(np.float64, copy=False), copy=True)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be a sparse matrix or 2-D array of numbers, got "
            f"{type(counts).__name__}: {error}"
        ) from error
    if counts.ndim != 2:
        raise ValueError(f"{name} must be 2-D, got {counts.ndim} dimension(s).")
    counts.sum_duplicates()
    _check_values(counts.data, name)
    counts.eliminate_zeros()
    return counts


def _check_values(values, name):
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    if values.size and values.min() < 0:
        raise ValueError(f"{name} must be non-negative, got {values.min():g}.")
    check_total(name, values)


def _factor(values, name):
    try:
        values = np.array(as_floats(values))
    except ValueError as error:
        raise ValueError(f"{name} must hold numbers: {error}") from error
    if values.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got {values.ndim} dimension(s).")
    _check_values(values, name)
    return values


def divided(counts, test_size, rng):
    """Divide counts at random into two parts that add up to them exactly.

    Each observation goes its own way; of a fractional count what is above a whole number goes as
    one, so that parts of all counts have the same share in the mean.
    """
    if isinstance(counts, RankOne):
        return counts.scaled(1 - test_size), counts.scaled(test_size)
    whole = np.floor(counts.data)
    test = rng.binomial(whole.astype(np.int64), test_size).astype(np.float64)
    test += np.where(rng.random(test.size) < test_size, counts.data - whole, 0.0)
    parts = []
    for data in (counts.data - test, test):
        part = sparse.csr_array((data, counts.indices, counts.indptr), counts.shape, copy=True)
        part.eliminate_zeros()
        parts.append(part)
    return tuple(parts)


def _unique_words(words, n_words):
    words = np.asarray(words, dtype=object)
    if words.shape != (n_words,):
        raise ValueError(f"words must have shape ({n_words},), got {words.shape}.")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"words must be str, got {word!r}.")
    values, times = np.unique(words, return_counts=True)
    if values.size < n_words:
        raise ValueError(f"words must be unique, got {values[times > 1][0]!r} more than once.")
    return words

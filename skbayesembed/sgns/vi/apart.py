"""Updates of a side's factors where an engine keeps the counts, in blocks of words.

What travels are the opposite side's factors, to every block, and a block's factors, there and back.
The table of second moments is made where it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inference.blocks import Held, Once, over
from ..data import ProductPairs, table_rows
from .kernels import (
    DenseCounts,
    Form,
    Memory,
    Opposite,
    Side,
    SparseCounts,
    WordPrior,
    ascend_dense,
    ascend_expected,
    ascend_sparse,
    ascend_sparse_diagonal,
    second_table,
)

# Rows a block of the whole table, for products large enough to be worth their loads.
_ROWS = 64
# Bytes of the second-level cache that a block of words may fill.
_CACHE = 2**17


class Words(NamedTuple):
    """A block of words: counts of their pairs, and their prior besides precisions of components.

    Precisions that the prior adds, (n, n_components) or None, and linear terms (n, D).
    """

    counts: tuple
    extra: np.ndarray | None
    shift: np.ndarray


class Common(NamedTuple):
    """What the words of a side share.

    Their form, prior precisions of free coordinates, whether there are tables of second moments,
    and the type of numbers to work in.
    """

    form: Form
    precision: np.ndarray
    tables: bool
    dtype: type


def rows_of_table(n_words):
    """Words of a whole table that are gone through together."""
    return max(_ROWS, 51_200 // n_words)


def words_at_a_time(second):
    """Words of a list of pairs that are gone through together."""
    return int(np.clip(_CACHE // (2 * second[0].nbytes), 4, 64))


def held_words(model, side, size):
    """The words of a side in blocks, `Words`: `Held`."""
    cuts, prior, pairs = model.blocks[side], model.prior, model.pairs
    linear = prior.linear(side)

    def make(i):
        a, b = cuts[i]
        if isinstance(pairs, ProductPairs):
            counts = table_rows(pairs.table(np.float64, side), a, b)
        elif pairs.dense:
            counts = DenseCounts(pairs.n[side][a:b], pairs.kappa[side][a:b])
        else:
            table = pairs.indptr[side], pairs.indices[side], pairs.n[side], pairs.kappa[side]
            counts = SparseCounts(*table_rows(table, a, b))
        shift = np.zeros((b - a, size))
        shift[:, : model.n_components] = linear[a:b]
        extra = None if prior.held[side] is None else prior.held[side][0][a:b]
        return Words(counts, extra, shift)

    return Held(make, len(cuts))


def ascend_apart(held, cuts, common, opposite, mine, run):
    """Optimal factors of the words of a side, in place; returns the pairs' part of the bound.

    Parameters
    ----------
    held : Held
        Of `held_words`.
    cuts : list of (int, int)
        The blocks.
    common : Common
    opposite : tuple of two ndarray
        Means and covariances of the opposite side.
    mine : tuple of three ndarray
        Means, covariances and log determinants of the side.
    run : callable
        Maps a function over blocks of work.
    """
    own = [tuple(array[a:b] for array in mine) for a, b in cuts]
    shared = common, Once(_opposite, common, *opposite)
    found = over(run, _ascend, held, shared, own)
    for (a, b), part in zip(cuts, found, strict=True):
        for array, new in zip(mine, part[:-1], strict=True):
            array[a:b] = new
    return float(np.array([part[-1] for part in found]).sum())


def _opposite(common, mean, cov):
    """The opposite side as kernels take it; tables of packed E[x x'] are made of its factors."""
    dtype = common.dtype
    if not common.tables:
        return Opposite(mean.astype(dtype), cov.astype(dtype))
    n_words, size = mean.shape
    second = np.empty((n_words, size * (size + 1) // 2), dtype)
    second_table(0, n_words, mean, cov, common.form.full, second)
    return Opposite(mean, second)


def _ascend(words, common, opposite, mean, cov, log_det):
    """New factors of a block of words, and its part of the bound at the old ones."""
    counts, n = words.counts, len(mean)
    opposite = opposite.value()
    precision = np.tile(common.precision, (n, 1))
    if words.extra is not None:
        precision[:, : words.extra.shape[1]] += words.extra
    none, dtype = np.zeros(0), common.dtype
    near = np.zeros(n + 1, np.int64), np.zeros(0, np.int64), none
    prior = WordPrior(precision, words.shift, none, *near)
    memory = Memory(np.zeros((0, 0), dtype), np.zeros((0, 0)), none, none, False)
    bound, kernel, width = np.zeros(1), ascend_expected, ()
    if isinstance(counts, SparseCounts):
        kernel = ascend_sparse if common.tables else ascend_sparse_diagonal
    elif isinstance(counts, DenseCounts):
        kernel = ascend_dense
    if kernel is ascend_sparse:
        width = (words_at_a_time(opposite.second),)
    elif kernel is not ascend_sparse_diagonal:
        width = (rows_of_table(len(opposite.mean)),)
    side = Side(mean, cov, log_det)
    kernel(0, n, side, opposite, counts, prior, common.form, memory, *width, 0, bound)
    return mean, cov, log_det, bound[0]

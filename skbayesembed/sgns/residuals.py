"""The residuals of all pairs in single precision, seen through products with them."""

from __future__ import annotations

import numpy as np

from .data import ExpectedPairs, cut_rows
from .density_kernels import (
    residual_products_dense,
    residual_products_sparse,
    slope_products_dense,
    slope_products_sparse,
)
from .expected_kernels import residual_products_expected, slope_products_expected

# Rows of a block at least, and blocks at most: each has its own sums over columns, which are added
# in order, so that results do not depend on threads.
_BLOCK_ROWS, _MOST_BLOCKS = 256, 8


class Residuals:
    """``R = n_positive - n sigma(x y')`` of a pair table at vectors that are given with each call.

    The table is kept in single precision, by its first side alone: 8 bytes a pair, or 4 bytes a
    positive one where negative counts are a product.

    Parameters
    ----------
    pairs : DensePairs, ExpectedPairs or SparsePairs
    run : callable
        Maps a function over blocks of rows.

    Attributes
    ----------
    observations : list of two ndarray of shape (n_words,)
        Of each word, by side.
    """

    def __init__(self, pairs, run):
        self._run, self._words = run, pairs.n_words
        self._products, self._slopes, self._table = _kernels(pairs)
        n_blocks = int(np.clip(pairs.n_words // _BLOCK_ROWS, 1, _MOST_BLOCKS))
        self._blocks = cut_rows(pairs.row_work(0) + 1.0, n_blocks)
        self.observations = [pairs.observations(side) for side in (0, 1)]
        self._parts = np.empty((0, 0), np.float32)

    def gradient(self, x, y, out):
        """The log likelihood at ``x``, ``y``; its gradient, ``R y`` and ``R' x``, in ``out``.

        All arrays are float32; ``out`` is of shape (2, n_words, n_components).
        """
        return self._multiply(x, y, y, x, *out)

    def times(self, x, y, z):
        """``R z`` of shape (n_words, n) at vectors ``x``, ``y``, all float32."""
        out, none = np.empty_like(z), z[:, :0]
        self._multiply(x, y, z, none, out, none)
        return out

    def transposed(self, x, y, u):
        """``R' u`` of shape (n_words, n) at vectors ``x``, ``y``, all float32."""
        out, none = np.empty_like(u), u[:, :0]
        self._multiply(x, y, none, u, none, out)
        return out

    def _multiply(self, x, y, z, u, rz, ru):
        """``R z`` in ``rz`` and ``R' u`` in ``ru``; returns the log likelihood."""
        parts, found = self._sums(u.shape[1]), np.empty(len(self._blocks))
        tasks = [(i, x, y, z, u, rz, parts[i], found) for i in range(len(self._blocks))]
        self._run(self._block, tasks)
        np.sum(parts, axis=0, out=ru)
        return float(found.sum())

    def slopes(self, x, y, z, u):
        """``S z`` and ``S' u``, (n_words, n) each, of the slopes S of all pairs, in float32."""
        sz, parts = np.empty_like(z), self._sums(u.shape[1])
        tasks = [
            (*block, self._table, x, y, z, u, sz, p)
            for block, p in zip(self._blocks, parts, strict=True)
        ]
        self._run(self._slopes, tasks)
        return sz, parts.sum(axis=0)

    def _sums(self, width):
        shape = len(self._blocks), self._words, width
        if self._parts.shape != shape:
            self._parts = np.empty(shape, np.float32)
        return self._parts

    def _block(self, i, x, y, z, u, rz, ru, found):
        found[i] = self._products(*self._blocks[i], self._table, x, y, z, u, rz, ru)


def _kernels(pairs):
    """Kernels of products with residuals and with slopes, and the table that they go through."""
    if isinstance(pairs, ExpectedPairs):
        return residual_products_expected, slope_products_expected, pairs.table(np.float32)
    n, kappa = (a[0].astype(np.float32) for a in (pairs.n, pairs.kappa))
    if pairs.dense:
        return _dense_products, _dense_slopes, (n, kappa)
    table = pairs.indptr[0], pairs.indices[0], n, kappa
    return residual_products_sparse, slope_products_sparse, table


def _dense_products(a, b, table, x, y, z, u, rz, ru):
    n, kappa = table
    return residual_products_dense(x[a:b], y, n[a:b], kappa[a:b], z, u[a:b], rz[a:b], ru)


def _dense_slopes(a, b, table, x, y, z, u, sz, su):
    slope_products_dense(x[a:b], y, table[0][a:b], z, u[a:b], sz[a:b], su)

"""The residuals of all pairs in single precision, seen through products with them."""

from __future__ import annotations

import functools
import weakref

import numpy as np

from ..inference.blocks import Held, current, over
from .data import ProductPairs, joined, row_blocks, table_rows
from .density_kernels import (
    residual_products_dense,
    residual_products_sparse,
    slope_products_dense,
    slope_products_sparse,
)
from .expected_kernels import (
    curvature_products_expected,
    residual_products_expected,
    slope_products_expected,
)

# Of tables whose rows an engine has been sent: others that are made of them find them there.
_SENT: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class Products:
    """Products with the residuals R and the slopes S of a table, some rows at a time.

    Parameters
    ----------
    steps : tuple of callable
        `EXPECTED`, or what else suits the table.
    part : callable
        ``part(a, b)`` is the table of rows ``a:b``.
    cuts : list of (int, int)
        Runs of rows.
    run : callable
        Maps a function over blocks of rows.
    held : Held, optional
        Of the same, where it is there already.

    Attributes
    ----------
    held : Held
        First row, last row, and their part of the table.
    """

    def __init__(self, steps, part, cuts, run, held=None):
        self._run, self._steps = run, steps
        self.held = held or Held(lambda i: (*cuts[i], part(*cuts[i])), len(cuts))

    def residuals(self, x, y, z, u, rz, ru):
        """``R z`` in ``rz`` and ``R' u`` in ``ru``; returns the log likelihood."""
        found = over(self._run, self._steps[0], self.held, (x, y, z, u))
        return float(joined(found, rz, ru, self._run).sum())

    def slopes(self, x, y, z, u, sz, su):
        """``S z`` in ``sz`` and ``S' u`` in ``su``."""
        found = over(self._run, self._steps[1], self.held, (x, y, z, u))
        joined(found, sz, su, self._run)

    def curvature(self, x, y, dx, dy, observed, gx, gy):
        """Minus the Hessian of the log likelihood times m directions, in ``gx`` and ``gy``.

        ``dx`` and ``gx`` are (m, n_rows, K), ``dy`` and ``gy`` (m, n_columns, K), all float32;
        where it is not ``observed``, residuals are taken for zero. Not of `SPARSE`.
        """
        found = over(self._run, self._steps[2], self.held, (x, y, dx, dy, observed))
        for i, both in enumerate(zip(gx, gy, strict=True)):
            joined([(rows[i], columns[i], 0.0) for rows, columns in found], *both, self._run)


class Residuals:
    """``R = n_positive - n sigma(x y')`` of a pair table at vectors that are given with each call.

    The table is kept in single precision, by its first side alone: 8 bytes a pair, or 4 bytes a
    positive one where negative counts are a product.

    Parameters
    ----------
    pairs : DensePairs, ProductPairs or SparsePairs
    run : callable
        Maps a function over blocks of rows.

    Attributes
    ----------
    products : Products
    observations : list of two ndarray of shape (n_words,)
        Of each word, by side.
    order : ndarray of int of shape (n_words,)
        The word of each row of vectors.
    """

    def __init__(self, pairs, run):
        self.order = np.arange(pairs.n_words)
        self.products = Products(*_steps(pairs), row_blocks(pairs), run, _SENT.get(pairs))
        if current() is not None:
            _SENT[pairs] = self.products.held
        self.observations = [pairs.observations(side) for side in (0, 1)]

    def gather(self, x, y):
        """Prepare for vectors near these; nothing is approximated here."""

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

    def both(self, x, y, z, u):
        """``R z`` and ``R' u``, (n_words, n) each, at vectors ``x``, ``y``, all float32."""
        rz, ru = np.empty_like(z), np.empty_like(u)
        self._multiply(x, y, z, u, rz, ru)
        return rz, ru

    def _multiply(self, x, y, z, u, rz, ru):
        """``R z`` in ``rz`` and ``R' u`` in ``ru``; returns the log likelihood."""
        return self.products.residuals(x, y, z, u, rz, ru)

    def slopes(self, x, y, z, u):
        """``S z`` and ``S' u``, (n_words, n) each, of the slopes S of all pairs, in float32."""
        sz, su = np.empty_like(z), np.empty_like(u)
        self.products.slopes(x, y, z, u, sz, su)
        return sz, su


def _steps(pairs):
    """Steps of products with residuals and with slopes, and what makes their rows of the table."""
    if isinstance(pairs, ProductPairs):
        return EXPECTED, functools.partial(table_rows, pairs.table(np.float32))
    n, kappa = (a[0].astype(np.float32) for a in (pairs.n, pairs.kappa))
    if pairs.dense:
        return (_dense_products, _dense_slopes), lambda a, b: (n[a:b], kappa[a:b])
    table = pairs.indptr[0], pairs.indices[0], n, kappa
    return SPARSE, functools.partial(table_rows, table)


def _room(block, x, z, u):
    """Rows of ``x`` and ``u`` of a block, and room for its results."""
    a, b, _ = block
    sums = np.empty((len(z), u.shape[1]), x.dtype)
    return x[a:b], u[a:b], np.empty((b - a, z.shape[1]), x.dtype), sums


def _dense_products(block, x, y, z, u):
    x, mine, rz, ru = _room(block, x, z, u)
    return rz, ru, residual_products_dense(x, y, *block[2], z, mine, rz, ru)


def _dense_slopes(block, x, y, z, u):
    x, mine, sz, su = _room(block, x, z, u)
    slope_products_dense(x, y, block[2][0], z, mine, sz, su)
    return sz, su, 0.0


def _sparse_products(block, x, y, z, u):
    x, mine, rz, ru = _room(block, x, z, u)
    return rz, ru, residual_products_sparse(0, len(x), block[2], x, y, z, mine, rz, ru)


def _sparse_slopes(block, x, y, z, u):
    x, mine, sz, su = _room(block, x, z, u)
    slope_products_sparse(0, len(x), block[2], x, y, z, mine, sz, su)
    return sz, su, 0.0


def _expected_products(block, x, y, z, u):
    x, mine, rz, ru = _room(block, x, z, u)
    return rz, ru, residual_products_expected(0, len(x), block[2], x, y, z, mine, rz, ru)


def _expected_slopes(block, x, y, z, u):
    x, mine, sz, su = _room(block, x, z, u)
    slope_products_expected(0, len(x), block[2], x, y, z, mine, sz, su)
    return sz, su, 0.0


def room_for_curvature(block, x, dx, dy):
    """Rows of ``x`` and ``dx`` of a block, and room for its results."""
    a, b, _ = block
    mine = np.ascontiguousarray(dx[:, a:b])
    return x[a:b], mine, np.empty_like(mine), np.empty(dy.shape, dy.dtype)


def _expected_curvature(block, x, y, dx, dy, observed):
    x, dx, gx, gy = room_for_curvature(block, x, dx, dy)
    curvature_products_expected(0, len(x), block[2], x, y, dx, dy, observed, gx, gy)
    return gx, gy


# Steps of tables of all pairs whose negative counts are a product, and of lists of pairs.
EXPECTED = _expected_products, _expected_slopes, _expected_curvature
SPARSE = _sparse_products, _sparse_slopes

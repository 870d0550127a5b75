"""Minus the Hessian of the skip-gram log posterior, as products, blocks and matrices.

At vectors ``x[0] = rho``, ``x[1] = alpha`` with pairs of slope s and residual r (`hessian_kernels`)

    H_(w)(w) = sum_v s_wv alpha_v alpha_v' + prior          (Yrjänäinen et al. 2025, eq. 30)
    H_(w)(v) = s_wv alpha_v rho_w' - r_wv I                 (eq. 31, corrected)

with the roles of rho and alpha exchanged for the blocks of contexts. Directions and products are
arrays (2, n_words, K), one entry for each parameter; entries that are not free are held at zero.
"""

from __future__ import annotations

import copy

import numpy as np

from ...inference.threads import serial
from .. import data
from ..data import ProductPairs
from .hessian_kernels import (
    blocks_sparse,
    curvature_rows_dense,
    curvature_rows_expected,
    curvature_rows_expected32,
    curvature_rows_sparse,
    product_sparse,
)

# Products of two components that blocks are summed for at a time.
_PRODUCTS = 1024
# Rows of a dense table that a product takes at a time: long enough for BLAS, short enough for cache
_DENSE_ROWS = 256


def free_entries(model):
    """Which entries of (rho, alpha) the model does not hold, bool (2, n_words, K)."""
    free = np.ones((2, model.n_words, model.n_components), dtype=bool)
    for side in (0, 1):
        free[side, ~model.movable[side]] = False
    return free


class Hessian:
    """Minus the Hessian of the log posterior of an `SGNSModel` at one point.

    Parameters
    ----------
    model : SGNSModel
    vectors : array-like of shape (2, n_words, n_components)
        ``rho`` and ``alpha``.
    free : ndarray of bool of shape (2, n_words, n_components), optional
        Entries that vary; by default all but anchored contexts.
    run : callable, default=serial
        Maps a function over a list of argument tuples, possibly in threads.

    Attributes
    ----------
    observed : bool
        Whether residuals are those at the vectors, and not zero as in `expected`.
    """

    observed = True

    def __init__(self, model, vectors, free=None, run=serial):
        self.model = model
        self.prior = model.prior
        self.x = np.array(vectors, dtype=np.float64)
        self.free = free_entries(model) if free is None else free
        self.run = run
        self._information = [None, None]
        self._slope = self._residual = None
        # or else vectors at which they are made, and counts, by side
        self._made_of = self.x, None
        if not isinstance(model.pairs, ProductPairs) or model.n_words <= data.KEPT_UPTO:
            self._tabulate()
        else:
            self._made_of = self.x, [model.pairs.table(np.float64, side) for side in (0, 1)]

    def _tabulate(self):
        pairs = self.model.pairs
        if pairs.dense:
            shape = pairs.n_words, pairs.n_words
            self._slope, self._residual = [np.empty(shape)], [np.empty(shape)]
            self.run(self._tabulate_rows, [(c,) for c in self._row_blocks()])
            return
        self._slope = [np.empty_like(n) for n in pairs.n]
        self._residual = [np.empty_like(n) for n in pairs.n]
        for side in (0, 1):
            x, y, n, kappa = self.x[side], self.x[1 - side], pairs.n[side], pairs.kappa[side]
            s, r = self._slope[side], self._residual[side]
            table = pairs.indptr[side], pairs.indices[side]
            tasks = [(a, b, *table, x, y, n, kappa, s, r) for a, b in self.model.blocks[side]]
            self.run(curvature_rows_sparse, tasks)

    def _tabulate_rows(self, c):
        counts = self.model.pairs.rows(c.start, c.stop)
        s, r = self._slope[0][c], self._residual[0][c]
        curvature_rows_dense(self.x[0][c], self.x[1], *counts, s, r)

    def _curvature(self, side, c):
        """Slopes and residuals of rows of a side, where all pairs are gone through.

        The latter are None where they are left out.
        """
        if self._slope is not None:
            kept = (self._slope, self._residual) if self.observed else (self._slope,)
            found = [(t[0] if side == 0 else t[0].T)[c] for t in kept]
            return found if self.observed else (*found, None)
        x, tables = self._made_of
        s, r = np.empty((2, c.stop - c.start, self.model.n_words), x.dtype)
        make = curvature_rows_expected32 if x.dtype == np.float32 else curvature_rows_expected
        make(c.start, c.stop, tables[side], x[side], x[1 - side], s, r)
        return s, (r if self.observed else None)

    def _row_blocks(self):
        n = self.model.n_words
        return [slice(a, min(a + _DENSE_ROWS, n)) for a in range(0, n, _DENSE_ROWS)]

    def expected(self):
        """The same Hessian with residuals at zero, which they are expected to be: F + prior.

        F is the information of the pairs at these vectors. No direction has less than the prior's
        precision, rotations included.
        """
        twin = copy.copy(self)
        twin.observed = False
        if self._residual is not None and not self.model.pairs.dense:
            twin._residual = [np.zeros_like(r) for r in self._residual]
        return twin

    def released(self):
        """The same Hessian in which only anchored contexts are held."""
        twin = copy.copy(self)
        twin.free = free_entries(self.model)
        return twin

    def single(self, run=serial):
        """The same Hessian with its products in single precision."""
        twin = copy.copy(self)
        twin.run = run
        twin.x = self.x.astype(np.float32)
        if self._slope is not None:
            twin._slope = [s.astype(np.float32) for s in self._slope]
            if self.observed or not self.model.pairs.dense:
                twin._residual = [r.astype(np.float32) for r in self._residual]
        else:
            pairs = self.model.pairs
            twin._made_of = twin.x, [pairs.table(np.float32, side) for side in (0, 1)]
        return twin

    def product(self, directions):
        """H times directions, both (..., 2, n_words, K); entries that are held count as zero."""
        directions = np.where(self.free, directions, directions.dtype.type(0.0))
        return np.stack([self.side_product(side, directions) for side in (0, 1)], axis=-3)

    def side_product(self, side, directions):
        """One side, (..., n_words, K), of H times directions that are zero where entries are held.

        Parameters
        ----------
        side : int
        directions : ndarray of shape (..., 2, n_words, K)
            One or several; in the precision of the Hessian.
        """
        dx, dy = directions[..., side, :, :], directions[..., 1 - side, :, :]
        out = self._pair_product(side, dy, dx)
        for mine, d in zip(_lanes(out), _lanes(dx), strict=True):
            mine += self.prior.apply(side, d)
        out[..., ~self.free[side]] = 0.0
        return out

    def cross(self, side, directions):
        """The cross block of ``side`` (rows) times vectors of the other side (..., n_words, K)."""
        out = self._pair_product(side, directions * self.free[1 - side], None)
        out[..., ~self.free[side]] = 0.0
        return out

    def _pair_product(self, side, dy, dx):
        x, y, pairs = self.x[side], self.x[1 - side], self.model.pairs
        if pairs.dense:
            out = np.empty(dy.shape, x.dtype)
            dx, lanes, side_by_side = _lanes(dx), _lanes(dy), _by_word(dy)

            def rows(c):
                own = None if dx is None else dx[:, c]
                given = x[c], y, *self._curvature(side, c), own, lanes, side_by_side
                _products_dense(*given, _lanes(out)[:, c])

            self.run(rows, [(c,) for c in self._row_blocks()])
            return out
        table = pairs.indptr[side], pairs.indices[side]
        curvature = self._slope[side], self._residual[side]
        shape = dy.shape
        dx, dy = (d if d is None else _by_word(d) for d in (dx, dy))
        out = np.empty_like(dy)
        blocks = self.model.blocks[side]
        self.run(product_sparse, [(a, b, *table, x, y, *curvature, dx, dy, out) for a, b in blocks])
        return np.ascontiguousarray(np.moveaxis(out, 1, 0)).reshape(shape)

    def pair_blocks(self, side, y):
        """``sum_v slope_wv y_v y_v'`` of each word of a side, (n_words, K, K)."""
        pairs = self.model.pairs
        out = np.empty((*y.shape, y.shape[1]))
        if pairs.dense:
            rows, columns = np.tril_indices(y.shape[1])
            for first in range(0, rows.size, _PRODUCTS):
                i, j = rows[first : first + _PRODUCTS], columns[first : first + _PRODUCTS]
                outer = y[:, i] * y[:, j]
                self.run(self._blocks, [(side, c, outer, i, j, out[c]) for c in self._row_blocks()])
        else:
            table = pairs.indptr[side], pairs.indices[side]
            blocks = self.model.blocks[side]
            self.run(blocks_sparse, [(a, b, *table, y, self._slope[side], out) for a, b in blocks])
        return out

    def _blocks(self, side, c, outer, i, j, out):
        """Entries (i, j) and (j, i) of `pair_blocks` of some rows, of ``outer`` the products."""
        out[:, i, j] = out[:, j, i] = self._curvature(side, c)[0] @ outer

    def information(self, side):
        """`pair_blocks` of a side at the vectors of the other, kept; not to be changed."""
        if self._information[side] is None:
            self._information[side] = self.pair_blocks(side, self.x[1 - side])
        return self._information[side]

    def information_of(self, side, words):
        """`information` of some words, (len(words), K, K), where all pairs are gone through."""
        y = self.x[1 - side]
        rows = [self._curvature(side, slice(w, w + 1))[0] for w in words]
        return np.array([(y.T * slope) @ y for slope in rows])

    def residual_sums(self, side, y):
        """``sum_v residual_wv y_v`` of each word of a side, (n_words, K)."""
        at, self.x = self.x, np.zeros_like(self.x)
        try:
            return -self._pair_product(side, y, None)
        finally:
            self.x = at

    def blocks(self, side):
        """Diagonal blocks of a side, (n_words, K, K); entries held are rows of the identity."""
        out = self.information(side).copy()
        diagonal = np.arange(out.shape[2])
        out[:, diagonal, diagonal] += self.prior.diagonal(side)
        words, entries = np.nonzero(~self.free[side])
        out[words, entries] = 0.0
        out[words, :, entries] = 0.0
        out[words, entries, entries] = 1.0
        return out

    def pair_row(self, word):
        """Slopes and residuals of one target with every context: two (n_words,)."""
        pairs = self.model.pairs
        if pairs.dense:
            slope, residual = self._curvature(0, slice(word, word + 1))
            return slope[0], np.zeros_like(slope[0]) if residual is None else residual[0]
        rows = slice(*pairs.indptr[0][word : word + 2])
        out = np.zeros((2, self.model.n_words))
        out[:, pairs.indices[0][rows]] = self._slope[0][rows], self._residual[0][rows]
        return out

    def cross_row(self, word):
        """The cross blocks of one target with every context, (K, n_words, K)."""
        slope, residual = self.pair_row(word)
        rho, alpha = self.x[0][word], self.x[1]
        out = (slope[:, None] * alpha).T[:, :, None] * rho
        diagonal = np.arange(rho.size)
        out[diagonal, :, diagonal] -= residual
        out *= self.free[0, word][:, None, None]
        out *= self.free[1]
        return out

    def matrix(self):
        """H as one matrix over all entries in order; entries held are rows of the identity."""
        n_words, k = self.x[0].shape
        size = n_words * k
        out = np.zeros((2 * size, 2 * size))
        for side in (0, 1):
            part = out[side * size : (side + 1) * size, side * size : (side + 1) * size]
            coupling = self.prior.neighbours(side)
            if coupling is not None:
                self._add_coupling(side, coupling.tocoo(), part.reshape(n_words, k, n_words, k))
            for word, block in enumerate(self.blocks(side)):
                rows = slice(word * k, (word + 1) * k)
                part[rows, rows] = block
        for word in range(n_words):
            row = self.cross_row(word).reshape(k, size)
            out[word * k : (word + 1) * k, size:] = row
            out[size:, word * k : (word + 1) * k] = row.T
        return out

    def _add_coupling(self, side, coupling, part):
        free, tau = self.free[side].astype(float), self.prior.tau
        for component in range(tau.size):
            f = free[:, component]
            values = tau[component] * coupling.data * f[coupling.row] * f[coupling.col]
            part[coupling.row, component, coupling.col, component] = values


def _lanes(x):
    """Arrays (..., n_words, K) in a row, (n, n_words, K), without a copy; None as it is."""
    return x[None] if x is not None and x.ndim == 2 else x


def _by_word(x):
    """Arrays (..., n_words, K) word by word, (n_words, n, K)."""
    return np.ascontiguousarray(np.moveaxis(_lanes(x), 0, 1))


def _products_dense(x, y, slope, residual, dx, dy, side_by_side, out):
    """out = (slope * (x dy' + dx y')) y - residual dy for a block of rows, lane by lane.

    ``side_by_side`` is dy word by word: one product with the residuals is quicker than many. There
    is none where these are None.
    """
    slope = np.ascontiguousarray(slope)
    pull = None if residual is None else residual @ side_by_side.reshape(len(y), -1)
    t = np.empty_like(slope)
    for i, mine in enumerate(out):
        np.matmul(x, dy[i].T, out=t)
        if dx is not None:
            t += dx[i] @ y.T
        t *= slope
        np.matmul(t, y, out=mine)
        if pull is not None:
            mine -= pull[:, i * y.shape[1] : (i + 1) * y.shape[1]]

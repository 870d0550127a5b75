"""Solutions of ``H x = b`` at the mode to a rough residual, for many right-hand sides.

Conjugate gradients take as many products as H is far from the identity. They work in coordinates
that make it nearly so: the trajectory of a word, turned to the eigenvectors of its mean information
over periods, falls apart into components that have a tridiagonal precision each. Products with
pairs are made in single precision. H is null along rotations: right-hand sides have no part there,
and what rounding puts into solutions is for the caller to take off.
"""

from __future__ import annotations

import numpy as np

from ...inference.conjugate import conjugate_gradients
from ...inference.krylov import KrylovRoot
from ...numeric.tridiagonal import paths_factor
from ...numeric.tridiagonal_kernels import paths_from, paths_pull

_MOST_PRODUCTS = 1000
# The residual where none is asked for: what single precision allows.
_TOL = 1e-4
# Parameters beyond which modes are sought less far; those beyond which later solutions learn from
# the first, which takes a third off all of them (40,000 parameters: 41 CPU seconds, 64 otherwise),
# and the directions that they learn.
LARGE, LEARN_FROM, SOFT = 50_000, 10_000, 64


class RoughSolver:
    """``H^-1`` times vectors, H minus the Hessian of a `DynamicDensity` of whole tables.

    Parameters
    ----------
    curvature : Curvature
    null : int
        Not used.
    turned : pair of ndarray, optional
        In the place of those of `turned_information`: where only the time of products counts.

    Attributes
    ----------
    told : callable or None
        Called at every product that solutions take.
    """

    told = None

    def __init__(self, curvature, null, turned=None):
        self._density = curvature.density
        self.move(curvature)
        self._basis, along = turned_information(curvature) if turned is None else turned
        self._inverse, self._below = np.empty_like(along), np.zeros_like(along)
        p = self._density.precision
        paths_factor(p.diagonal, p.off, along, self._inverse, self._below)
        self._center = np.zeros_like(along)
        self._learned = None
        if along.size > LEARN_FROM:
            options = {"dtype": np.float32, "max_iter": _MOST_PRODUCTS, "recycle": SOFT}
            self._learned = KrylovRoot(self._single_product, **options)

    def move(self, curvature):
        """Take the Hessian at other vectors, and keep the coordinates."""
        self._x = curvature.x.astype(np.float32)
        self._pairs = [[_single(a) for a in pairs] for pairs in curvature.pairs]

    def solve(self, rows, tol=None):
        """Solutions for rows (m, n_periods, 2, n_words, n_components).

        Of large models the first ones are sought together, and show the directions in which H is
        soft to all others: solve these before others, in one thread.
        """
        tol, b = _TOL if tol is None else tol, self._pulled(rows)
        if self._learned is None:
            return self._vectors(
                conjugate_gradients(self._product, b, tol=tol, max_iter=_MOST_PRODUCTS)
            )
        return self._vectors(self._learned.solve(b, tol).astype(np.float64))

    def facts(self):
        """Nothing of note."""
        return {}

    def _vectors(self, rows):
        """Vectors (m, *density.shape) of coordinates (m, n_parameters)."""
        rows = rows.reshape(len(rows), *self._center.shape)
        out = np.empty_like(rows)
        for y, x in zip(rows, out, strict=True):
            paths_from(self._center, self._inverse, self._below, y, x)
        return _times(out.reshape(-1, *self._density.shape), self._basis.mT)

    def _pulled(self, gradients):
        """Gradients by coordinates, of those by vectors."""
        rows = _times(gradients, self._basis).reshape(len(gradients), *self._center.shape)
        out = np.empty_like(rows)
        for gradient, target in zip(rows, out, strict=True):
            paths_pull(self._inverse, self._below, gradient, target)
        return out.reshape(len(rows), -1)

    def _single_product(self, rows):
        return self._product(rows.astype(np.float64)).astype(np.float32)

    def _product(self, rows):
        if self.told is not None:
            self.told()
        return self._pulled(self._images(self._vectors(rows)))

    def precondition(self, gradient):
        """An approximation of ``H^-1``, exact for words one by one, times vectors."""
        return self._vectors(self._pulled(gradient[None]))[0]

    def image(self, d):
        """H times vectors (n_periods, 2, n_words, n_components)."""
        return self._images(d[None])[0]

    def _images(self, rows):
        small, out = rows.astype(np.float32), np.zeros(rows.shape, np.float32)
        for p, pairs in zip(self._density.periods, self._pairs, strict=True):
            t = p.period
            # one table serves all of them
            for d, target in zip(small, out, strict=True):
                p.product(*self._x[t], *pairs, *d[t], *target[t])
        prior = np.moveaxis(self._density.precision.apply(np.moveaxis(rows, 1, 0)), 0, 1)
        return prior + out


def _single(table):
    """A table in single precision, or None, which residuals are that are left out."""
    return None if table is None else table.astype(np.float32)


def _times(x, basis):
    """Vectors (m, n_periods, 2, n_words, K) times a matrix of each word, of each side."""
    # all vectors of a word at once
    turned = np.moveaxis(x, (2, 3), (0, 1))
    shape = turned.shape
    turned = turned.reshape(*shape[:2], -1, shape[-1]) @ basis
    return np.ascontiguousarray(np.moveaxis(turned.reshape(shape), (0, 1), (2, 3)))


def turned_information(curvature):
    """Eigenvectors of words' mean information, (2, n_words, K, K), and what periods say along them.

    The latter is of shape (n_periods, 2 * n_words * K).
    """
    blocks = information_blocks(curvature)
    _, basis = np.linalg.eigh(blocks.sum(axis=0, dtype=np.float64))
    along = np.einsum("swki,tswkl,swli->tswi", basis, blocks, basis, optimize=True)
    return basis, np.maximum(along, 0.0).reshape(len(along), -1)


def information_blocks(curvature, words=slice(None)):
    """What the data say of some words' vectors: float32 (n_periods, 2, n, K, K)."""
    n_periods, _, n_words, k = curvature.x.shape
    n = np.arange(n_words)[words].size
    out = np.zeros((n_periods, 2, n, k, k), np.float32)
    for p, pairs in zip(curvature.density.periods, curvature.pairs, strict=True):
        slope, _ = p.whole(pairs)
        for side, s in enumerate((slope, slope.T)):
            y = curvature.x[p.period, 1 - side]
            products = (y[:, :, None] * y[:, None]).reshape(n_words, k * k)
            out[p.period, side] = (s[words] @ products).reshape(-1, k, k)
    return out

"""The Gaussian around a mode of the skip-gram posterior: the last steps to the mode, N(0, H^-1).

The Hessian is factorized where it, or its Schur complement on the contexts, fits; beyond, it is
seen through products in single precision, many directions at a time.
"""

from __future__ import annotations

import numpy as np

from ...inference.krylov import KrylovRoot, Refined
from ...inference.laplace import (
    BipartiteGaussian,
    CholeskyRoot,
    MatrixCross,
    WholeGaussian,
    apply_blocks,
    check_reached,
    newton_mode,
    whitening,
)
from ...inference.threads import serial
from .hessian import Hessian, free_entries
from .soft import SoftMaps, n_present, worthwhile

# Bytes of matrices up to which the Hessian is factorised; beyond, it is seen through products.
FACTOR_BYTES = 2**30
# Estimated relative error of draws. Standard deviations of logits and cosines of 2,000 pairs were
# within 1.7 % of those of exact draws for nine of ten, .1 % in the median (1,000 words, English,
# 50 components), for a fourth of the products that an error of 1e-3 takes.
_DRAW_TOL = 1e-2
# Bytes of Lanczos vectors that a batch of draws keeps.
_KEEP = 2**29


def _inverse_blocks(blocks):
    """Inverses of positive definite blocks, which are overwritten, in single precision."""
    out = np.empty(blocks.shape, np.float32)
    for i, w in enumerate(whitening(blocks)):
        out[i] = w.T @ w
    return out


def seek_mode(model, arrays, run=serial, **options):
    """Newton's method from the end of L-BFGS: vectors (2, n_words, K) and the facts of the search.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    """
    free = free_entries(model)
    start = np.stack([arrays[name] for name in ("rho", "alpha")])
    gradient = np.empty(model.n_parameters)
    inverse, large = None, choose_method(model) == "krylov"

    def objective(x):
        # free entries in order are the flat parameters
        value = model.logp_and_grad(x[free], gradient)
        out = np.zeros_like(x)
        out[free] = gradient
        return value, out

    def precondition(g):
        small = g.astype(np.float32)
        parts = [apply_blocks(d, v) for d, v in zip(inverse, small, strict=True)]
        return np.stack(parts).astype(np.float64) * free

    def curvature(x):
        nonlocal inverse
        hessian = Hessian(model, x, free, run)
        if inverse is None:
            # those of the start will do, and in single precision: they only precondition
            inverse = [_inverse_blocks(hessian.blocks(side)) for side in (0, 1)]
        if not large:
            return hessian.product, precondition
        single = hessian.single(run)
        return lambda d: single.product(d.astype(np.float32)).astype(np.float64), precondition

    vectors, facts = newton_mode(objective, curvature, start, **options)
    check_reached(facts)
    return vectors, facts


def choose_method(model):
    """How the Hessian is dealt with: ``"schur"``, ``"dense"`` (coupled words) or ``"krylov"``."""
    side = model.n_words * model.n_components
    if model.prior.coupled:
        return "dense" if 8 * (2 * side) ** 2 <= FACTOR_BYTES else "krylov"
    return "schur" if 2 * 8 * side**2 <= FACTOR_BYTES else "krylov"


def bytes_needed(model, method, n_jobs=1):
    """Rough peak of memory: matrices of the Hessian, or blocks a word beside Lanczos vectors."""
    side, k = model.n_words * model.n_components, model.n_components
    blocks = 8 * side * k
    if method == "krylov":
        soft = 24 * k**4 if worthwhile(model) else 0
        return 5 * blocks + soft + n_jobs * _KEEP
    return 4 * blocks + 8 * (4 * side**2 if method == "schur" else 3 * (2 * side) ** 2)


def gaussian_at(hessian, method):
    """N(0, H^-1) over the free entries of a `Hessian`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If H is not positive definite; for ``"krylov"`` when this comes to light in draws.
    """
    free = hessian.free
    if method == "dense":
        return WholeGaussian(CholeskyRoot(hessian.matrix()), free)
    if method == "krylov":
        return seen_through_products(hessian)
    blocks = [whitening(hessian.blocks(side)) for side in (0, 1)]
    cross = MatrixCross(_whitened_cross(hessian, blocks))
    return BipartiteGaussian(blocks, cross, CholeskyRoot(cross.schur()), free)


def seen_through_products(hessian, tol=None, recycle=0, run=serial):
    """The Gaussian by products in single precision; its solutions are refined in double.

    ``tol`` is the relative residual of solutions in single precision, None for the least possible;
    ``recycle`` the most soft directions that later solutions learn from the first (`KrylovRoot`);
    ``run`` maps products over blocks of rows.
    """
    single = np.float32
    blocks = [whitening(hessian.blocks(side)).astype(single) for side in (0, 1)]
    whitened = WhitenedHessian(hessian.single(run), blocks)
    options = {"dtype": single, "keep": _KEEP, "tol": _DRAW_TOL}
    options |= {"solution_tol": tol, "recycle": recycle}
    if hessian.prior.coupled:
        root = KrylovRoot(whitened.product, **options)
        return Refined(WholeGaussian(root, hessian.free, blocks), hessian.product)
    # entries held without anchors are a slice across the orbit, which then is not null
    whole = hessian.model.anchors is not None or np.all(hessian.free)
    if not hessian.observed:
        # a component that is zero in all contexts has no map of its own
        whole = whole and n_present(hessian) == hessian.x.shape[2]
    if whole and worthwhile(hessian.model) and np.any(hessian.x[1]):
        whitened.soft = SoftMaps(hessian, blocks)
    root = KrylovRoot(whitened.schur, whitened.soft, **options)
    return Refined(BipartiteGaussian(blocks, whitened, root, hessian.free), hessian.product)


class WhitenedHessian:
    """Products with ``W H W'``, which has identity blocks on its diagonal where words uncouple.

    Directions are rows, of ``n_words * K`` entries for a side.

    Parameters
    ----------
    hessian : Hessian
    blocks : list of two ndarray of shape (n_words, K, K)
        W of each side, in the precision of the Hessian.
    soft : SoftMaps, optional
        Of the Schur complement, which is made the identity along null directions.
    """

    def __init__(self, hessian, blocks, soft=None):
        self.hessian, self.blocks, self.soft = hessian, blocks, soft

    def product(self, rows):
        """The whole times rows (m, 2 * n_words * K)."""
        y = rows.reshape(len(rows), *self.hessian.free.shape)
        x = np.stack([apply_blocks(self.blocks[s], y[:, s], True) for s in (0, 1)], axis=1)
        x = self.hessian.product(x)
        out = np.stack([apply_blocks(self.blocks[s], x[:, s]) for s in (0, 1)], axis=1)
        out += np.where(self.hessian.free, y.dtype.type(0.0), y)
        return out.reshape(rows.shape)

    def _across(self, side, rows):
        """The cross block B (side 0) or B' (side 1) times rows of the other side."""
        y = rows.reshape(len(rows), *self.hessian.free.shape[1:])
        y = self.hessian.cross(side, apply_blocks(self.blocks[1 - side], y, True))
        return apply_blocks(self.blocks[side], y).reshape(rows.shape)

    def forward(self, second):
        """Rows of the second side times B."""
        return self._across(0, second)

    def backward(self, first):
        """Rows of the first side times B'."""
        return self._across(1, first)

    def schur(self, second):
        """``I - B'B`` times rows of the second side; theirs along null directions is added."""
        out = second - self.backward(self.forward(second))
        if self.soft is not None and self.soft.null is not None:
            out += self.soft.along_null(second)
        return out


def _whitened_cross(hessian, blocks):
    """``W C W'`` for the cross block C from contexts to targets, (n_words * K, n_words * K)."""
    n_words, k = hessian.x[0].shape
    out = np.empty((n_words, k, n_words, k))
    second = np.ascontiguousarray(blocks[1].transpose(0, 2, 1))
    for word in range(n_words):
        half = (blocks[0][word] @ hessian.cross_row(word).reshape(k, -1)).reshape(k, n_words, k)
        out[word] = np.moveaxis(half.transpose(1, 0, 2) @ second, 0, 1)
    return out.reshape(n_words * k, n_words * k)

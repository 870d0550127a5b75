"""Soft directions of the Schur complement on the contexts, and a factor that stiffens them.

The likelihood is the same at ``(rho A', alpha)`` and ``(rho, alpha A)``: where all contexts are
mapped linearly, the targets can follow, and but for the anchors and the prior nothing changes.
So the whitened Schur complement ``S = I - B'B`` on the contexts has its smallest eigenvalues about
the directions ``alpha A``, and a factor of ``S^-1`` that is right there leaves little to do.

Without anchors, ``S`` is null along ``alpha A`` for skew-symmetric A, and for any A that fills a
component which the mode lacks.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...inference.laplace import apply_blocks

# Directions for which matrices of their number squared are made, 1.6 GB in single precision; and of
# these up to so many in double, since where the prior weighs next to nothing the curvature is what
# is left of sums a million times as large.
MOST, _MOST_DOUBLE = 10_000, 2_500
# Share of a diagonal entry that is left of it in a factor, at least: where contexts are next to
# dependent, directions have next to no length of their own, and in single precision none.
_LEAST_LEFT = 1e-6


def worthwhile(model):
    """Whether `SoftMaps` serves: anchors or a spherical prior, many words, not too wide."""
    k, prior = model.n_components, model.prior
    told = model.anchors is not None or prior.rotates
    return told and not prior.coupled and k * k <= MOST and model.n_words >= 4 * k


def n_present(hessian):
    """Components of the contexts that are not zero."""
    return int(np.sum(np.any(hessian.x[1] != 0.0, axis=0)))


class SoftMaps:
    """``F = I + U (R^-T - L^-T) L^-1 U'`` with ``L L' = U'U`` and ``R R' = U'SU``.

    It takes ``U L^-T c`` to ``U R^-T c``: within the soft directions U, ``F'SF`` is the identity.
    F is kept in single precision; it serves as far as it is right, and is a factor anyway.

    Null directions N are told apart from soft ones, which are made orthogonal to them.

    Parameters
    ----------
    hessian : Hessian
        In double precision, of a bipartite model; without anchors, no entry held.
    blocks : list of two ndarray of shape (n_words, K, K)
        Whitening of both sides, W with ``W D W' = I``, in single precision.
    """

    def __init__(self, hessian, blocks):
        k, present = hessian.x.shape[2], n_present(hessian)
        # nothing is null with anchors, nor where residuals are left out
        regular = hessian.model.anchors is not None or not hessian.observed
        present = k if regular else present
        self.maps = _Maps(present, k, regular)
        alpha = np.ascontiguousarray((hessian.x[1] * hessian.free[1])[:, :present])
        self.alpha = alpha.astype(np.float32)
        self.free = hessian.free[1].astype(np.float32)
        inner = np.float64 if k * k <= _MOST_DOUBLE else np.float32
        lower = _inverted(blocks[1].astype(inner))
        self.lower = lower.astype(np.float32)
        gram = self.maps.change(self._gram(lower, alpha.astype(inner)))
        curvature = gram[0] - _explained(hessian, blocks[0].astype(inner), alpha, self.maps)
        self.lift = self.null = None
        if not regular:
            half = _inverse_factor(gram[2])
            null = half.T @ half
            lift = null @ gram[1].T
            gram[0] -= gram[1] @ lift
            self.null, self.lift = null.astype(np.float32), lift.astype(np.float32)
        support = gram[0] + np.diag(gram[0].diagonal())
        first = _inverse_factor(gram[0])
        second = np.ascontiguousarray((_inverse_factor(curvature, support) - first).T)
        self.first, self.second = first.astype(np.float32), second.astype(np.float32)

    def _gram(self, lower, alpha):
        """``U'U`` for the directions that put component i of the contexts in place j."""
        outer = lower @ lower.transpose(0, 2, 1)
        # entries that are held have the identity in their blocks
        outer *= self.free[:, :, None] * self.free[:, None, :]
        size = alpha.shape[1] * lower.shape[1]
        return _sum(_squares(alpha), outer).transpose(0, 2, 1, 3).reshape(size, size)

    def apply(self, y):
        """F times rows (m, n_words * K)."""
        return self._factor(y, self.first, self.second)

    def transpose(self, y):
        """F' times rows (m, n_words * K)."""
        return self._factor(y, self.second.T, self.first.T)

    def _factor(self, y, right, left):
        soft, null = self.maps.split(self._coefficients(y))
        if self.lift is not None:
            soft = soft - null @ self.lift
        soft = soft @ right.T @ left.T
        null = None if self.lift is None else -soft @ self.lift.T
        return y + self._directions(self.maps.join(soft, null))

    def along_null(self, y):
        """The part of rows (m, n_words * K) along the null directions."""
        soft, null = self.maps.split(self._coefficients(y))
        return self._directions(self.maps.join(0.0 * soft, null @ self.null))

    def _coefficients(self, y):
        """Scalar products with the directions, (m, present, K)."""
        y = apply_blocks(self.lower, y.reshape(len(y), *self.free.shape)) * self.free
        return self.alpha.T @ y

    def _directions(self, c):
        """Sums of the directions, rows (m, n_words * K)."""
        moved = apply_blocks(self.lower, (self.alpha @ c) * self.free, transpose=True)
        return moved.reshape(len(c), -1)


class _Maps:
    """Matrices A, (present, K), in a basis of soft ones and null ones.

    Of a regular Hessian all are soft. Else the symmetric ones of the components present are; the
    skew-symmetric ones and those that fill other components are null.
    """

    def __init__(self, present, k, regular):
        self.shape, self.regular = (present, k), regular
        self.lower, self.strict = np.tril_indices(present), np.tril_indices(present, -1)

    def split(self, c):
        """Coefficients, (m, present, K), to soft ones (m, n_soft) and null ones or None."""
        if self.regular:
            return c.reshape(len(c), -1), None
        (i, j), (a, b), present = self.lower, self.strict, self.shape[0]
        # a size of its own for each array: there may be none of them, or no direction at all
        others = c[:, :, present:].reshape(len(c), present * (self.shape[1] - present))
        return c[:, i, j] + c[:, j, i], np.hstack([c[:, a, b] - c[:, b, a], others])

    def join(self, soft, null):
        """The transpose of `split`."""
        if self.regular:
            return soft.reshape(-1, *self.shape)
        (i, j), (a, b), present = self.lower, self.strict, self.shape[0]
        out = np.zeros((len(soft), *self.shape), soft.dtype)
        out[:, i, j] += soft
        out[:, j, i] += soft
        out[:, a, b] += null[:, : a.size]
        out[:, b, a] -= null[:, : a.size]
        out[:, :, present:] += null[:, a.size :].reshape(
            len(soft), present, self.shape[1] - present
        )
        return out

    def change(self, matrix):
        """A matrix over all A as its blocks (soft, soft), (soft, null), (null, null)."""
        if self.regular:
            return [matrix, None, None]
        soft, null = self.split(matrix.reshape(-1, *self.shape))
        inner, mixed = self.split(soft.T.reshape(-1, *self.shape))
        return [inner, mixed, self.split(null.T.reshape(-1, *self.shape))[1]]


def _inverse_factor(matrix, support=None):
    """``L^-1`` for ``L L' = matrix``, to which support is added in so far as it needs it."""
    if matrix.size == 0:
        return matrix
    if support is None:
        support = np.diag(matrix.diagonal())
    for weight in (0.0, 1e-5, 1e-4, 1e-3, 1e-2):
        tried = matrix + matrix.dtype.type(weight) * support if weight else matrix
        potrf, trtri = linalg.lapack.get_lapack_funcs(("potrf", "trtri"), (tried,))
        lower, info = potrf(tried, lower=1, clean=1)
        if info == 0 and np.all(lower.diagonal() ** 2 >= _LEAST_LEFT * tried.diagonal()):
            return np.ascontiguousarray(trtri(lower, lower=1, overwrite_c=1)[0])
    raise np.linalg.LinAlgError("The Hessian is not positive definite along maps of all contexts.")


def _explained(hessian, whitening, alpha, maps):
    """``U'B'BU`` for the soft directions.

    The cross block times the direction that puts component i of the contexts in place j is
    ``rho_wj D_w e_i - q_wi e_j`` at target w, with ``D_w = sum_v slope alpha_v alpha_v'`` and
    ``q_w = sum_v residual alpha_v`` over free v.
    """
    n, k = alpha.shape
    rho = hessian.x[0][:, :k].astype(whitening.dtype)
    inverse = (whitening.transpose(0, 2, 1) @ whitening)[:, :k, :k]
    whole = hessian.x[1] * hessian.free[1]
    q = hessian.residual_sums(0, whole).astype(whitening.dtype)[:, :k]
    inner = hessian.information(0) if np.all(hessian.free[1]) else hessian.pair_blocks(0, whole)
    inner = inner[:, :k, :k].astype(whitening.dtype)
    half = inner @ inverse
    # [i, j, i', j'] from sums over words of one matrix in (i, i') and one in (j, j')
    out = _sum(half @ inner, _squares(rho)) + _sum(_squares(q), inverse)
    out = np.ascontiguousarray(out.transpose(0, 2, 1, 3))
    mixed = (q[:, :, None] * rho[:, None, :]).reshape(n, k * k).T @ half.reshape(n, k * k)
    # [i', j, i, j'] to [i, j, i', j'] and its mirror image
    mixed = mixed.reshape(k, k, k, k)
    out -= mixed.transpose(2, 1, 0, 3)
    out -= mixed.transpose(0, 3, 2, 1)
    return _Maps(k, k, maps.regular).change(out.reshape(k * k, k * k))[0]


def _inverted(lower):
    """Inverses of lower triangular matrices, in their own precision."""
    (trtri,) = linalg.lapack.get_lapack_funcs(("trtri",), (lower,))
    return np.stack([trtri(w, lower=1)[0] for w in lower])


def _squares(x):
    return x[:, :, None] * x[:, None, :]


def _sum(first, second):
    """``sum_w first_w[a, b] second_w[c, d]`` for symmetric matrices: indices a, b, c, d."""
    (a, b), (c, d) = (np.tril_indices(m.shape[1]) for m in (first, second))
    packed = first[:, a, b].T @ second[:, c, d]
    return packed[_places(first.shape[1])[:, :, None, None], _places(second.shape[1])]


def _places(k):
    """Where the entries of a symmetric matrix are in its lower triangle."""
    rows, columns = np.tril_indices(k)
    place = np.zeros((k, k), int)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    return place

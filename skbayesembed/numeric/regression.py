"""Least squares with standard errors that hold where documents of one unit resemble each other."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

# A unit that decides on a coefficient alone leaves no residual to judge it by.
_ALONE = 1e-8
# From which share of a coefficient on it has no variance, where units as that decide on it.
_EXACT = 0.1
# Residuals below this share of the outcome are those of rounding.
NO_REST = 1e-10


def residuals(basis, y):
    """What an orthonormal basis (n, p) leaves of ``y`` (n,) or (n, m)."""
    return y - basis @ (basis.T @ y)


def has_rest(basis, y):
    """Whether a basis leaves more of an outcome (n,) than errors of rounding."""
    return np.max(np.abs(residuals(basis, y))) > NO_REST * np.max(np.abs(y))


class ClusteredLeastSquares:
    """Ordinary least squares on one design, for many outcomes.

    Parameters
    ----------
    matrix : ndarray of shape (n, p)
        Of full rank.
    index : ndarray of int of shape (n,)
        Unit of each row, numbered from zero.

    Attributes
    ----------
    n_units : int
    basis : ndarray of shape (n, p)
        Orthonormal.
    root : ndarray of shape (p, p)
        Which it is the matrix times of: ``root @ root.T`` is the inverse of ``X'X``.
    freedom : ndarray of shape (p,)
        Satterthwaite's degrees of freedom of the variance of each coefficient; NaN where a tenth
        of the coefficient or more comes from a unit that the design fits exactly, as where a
        column differs in one unit only: what units like it would add cannot be estimated.

    Notes
    -----
    The covariance of the coefficients is CR2, ``sum_g u_g u_g'`` with ``u_g = M X_g' A_g e_g``, ``M
    = (X'X)^-1`` and ``A_g = (I - X_g M X_g')^(-1/2)``, unbiased if rows were independent with one
    variance (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018). The degrees of freedom are theirs.
    """

    def __init__(self, matrix, index):
        self.matrix, (n, p) = matrix, matrix.shape
        self.n_units = int(index.max()) + 1
        self._units = sparse.csr_array((np.ones(n), (index, np.arange(n))), shape=(self.n_units, n))
        # by QR, which columns on very different scales do not harm
        self.basis, upper = np.linalg.qr(matrix)
        self.root = solve_triangular(upper, np.eye(p))
        exact = np.zeros(p)
        self._rows = self._adjusted(index, exact)
        known = exact < _EXACT * np.sum(self.root**2, axis=1)
        self.freedom = np.array([self._freedom(j) if known[j] else np.nan for j in range(p)])

    def _adjusted(self, index, exact):
        """Rows of ``A_g X_g M`` (n, p); squares of those left out are added to ``exact`` (p,)."""
        half = self.basis
        rows = half @ self.root.T
        sizes = np.bincount(index)
        alone = sizes[index] == 1
        left = 1.0 - np.sum(half[alone] ** 2, axis=1)
        exact += np.sum(rows[alone][left <= _ALONE] ** 2, axis=0)
        rows[alone] *= np.where(left > _ALONE, np.maximum(left, _ALONE) ** -0.5, 0.0)[:, None]
        order = np.argsort(index, kind="stable")
        ends = np.cumsum(sizes)
        for size in np.unique(sizes[sizes > 1]):
            # units of one size together
            here = order[ends[sizes == size][:, None] - np.arange(size, 0, -1)]
            u, s, _ = np.linalg.svd(half[here], full_matrices=False)
            left = 1.0 - s**2
            factor = np.where(left > _ALONE, np.maximum(left, _ALONE) ** -0.5, 0.0)
            along = u.swapaxes(1, 2) @ rows[here]
            exact += np.sum(along**2 * (left <= _ALONE)[..., None], axis=(0, 1))
            rows[here] += u @ ((factor - 1.0)[..., None] * along)
        return rows

    def _freedom(self, j):
        """(tr G)^2 / tr G^2 of the quadratic form that the variance is."""
        row = self._rows[:, [j]]
        own = (self._units @ row**2).ravel()
        cross = self._units @ (row * self.basis)
        leverage = np.sum(cross**2, axis=1)
        between = cross.T @ cross
        trace = np.sum(own - leverage)
        square = np.sum(own**2) - 2 * np.sum(own * leverage) + np.sum(between**2)
        return float(max(trace**2 / square, 1.0)) if square > 0 else 1.0

    def fit(self, outcomes):
        """Coefficients and what each unit adds to them.

        Parameters
        ----------
        outcomes : ndarray of shape (n, K)

        Returns
        -------
        coefficients : ndarray of shape (p, K)
        influence : ndarray of shape (n_units, p, K)
            Their squares and products add up to the covariance of all coefficients of all outcomes.
        """
        coefficients = self.root @ (self.basis.T @ outcomes)
        return coefficients, self.influence(outcomes - self.matrix @ coefficients)

    def influence(self, left):
        """What each unit adds to the coefficients, (n_units, p, K), by residuals (n, K)."""
        return np.stack([self._units @ (row[:, None] * left) for row in self._rows.T], axis=1)

    def sums(self, values):
        """Sums of rows (n, K) over the documents of each unit, (n_units, K)."""
        return self._units @ values

"""Roots of covariances of numbers that share a slow part in time."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj, ellipkm1

from .filter_kernels import add_solutions, correlated

# Error as a share, and columns that are worked on at a time.
_ERROR, _COLUMNS = 1e-10, 64


def whitened(columns: np.ndarray, steps: np.ndarray, slow: float, own: np.ndarray) -> np.ndarray:
    """Columns times the symmetric root of the inverse of the covariance of their rows.

    It is an integral of inverses of the covariance with a shift on its diagonal, a sum of which
    converges geometrically (Hale, Higham & Trefethen 2008, method 3).

    Parameters
    ----------
    columns : ndarray of shape (n, c)
        Rows in the order of time.
    steps : ndarray of shape (n,)
        Correlations of the slow part with that of the row before.
    slow : float
        Variance of the slow part.
    own : ndarray of shape (n,)
        Variances of what rows have besides.

    Returns
    -------
    ndarray of shape (n, c)

    References
    ----------
    Hale, Higham & Trefethen (2008). Computing A^alpha, log(A), and related matrix functions by
    contour integrals. SIAM Journal on Numerical Analysis 46(5).

    Examples
    --------
    Two numbers that correlate at one half:

    >>> import numpy as np
    >>> white = whitened(np.eye(2), np.array([0.0, 0.5]), 1.0, np.full(2, 1e-6))
    >>> np.round(white @ white, 2)
    array([[ 1.33, -0.67],
           [-0.67,  1.33]])
    """
    if not steps.any():
        return columns / np.sqrt(slow + own)[:, None]
    shifts, weights = _nodes(own.min(), slow * _largest(steps) + own.max())
    out = np.empty_like(columns)
    for a in range(0, columns.shape[1], _COLUMNS):
        here = np.ascontiguousarray(columns[:, a : a + _COLUMNS])
        sums = np.zeros_like(here)
        add_solutions(here, steps, slow, own, shifts, weights, sums)
        out[:, a : a + _COLUMNS] = sums
    return out


def _largest(steps):
    """A bound for eigenvalues of the slow part's correlations: their largest sum of a row."""
    return correlated(np.ones((steps.size, 1)), steps).max()


def _nodes(smallest, largest):
    """Shifts, and weights of the inverses, for eigenvalues between two numbers."""
    across = np.log(largest / smallest) + 3.0
    n = int(np.ceil(-np.log(_ERROR) * across / (2.0 * np.pi**2)))
    whole = ellipkm1(smallest / largest)
    sn, cn, dn, _ = ellipj((np.arange(n) + 0.5) * whole / n, 1.0 - smallest / largest)
    weights = 2.0 * whole * np.sqrt(smallest) / (np.pi * n) * dn / cn**2
    return smallest * (sn / cn) ** 2, weights

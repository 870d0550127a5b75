"""Gaussian processes over periods, as their precision matrices.

Given its values in the periods before and after, the value of a Markov process does not depend on
other periods. So its precision matrix is tridiagonal, and products, draws and determinants take
time proportional to the number of periods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky_banded, solve_banded


@dataclass(frozen=True)
class Tridiagonal:
    """A symmetric tridiagonal precision matrix.

    Attributes
    ----------
    diagonal : ndarray of shape (n,)
    off : ndarray of shape (n - 1,)
        Entries beside the diagonal.
    """

    diagonal: np.ndarray
    off: np.ndarray

    @classmethod
    def autoregression(cls, n: int, alpha: float, variance: float) -> Self:
        """Precision of a stationary AR(1) process, ``x_t = alpha x_{t-1} + N(0, variance)``.

        Parameters
        ----------
        n : int
            Number of periods.
        alpha : float
            Between -1 and 1.
        variance : float
            That of the innovations.

        Returns
        -------
        Tridiagonal
        """
        diagonal = np.full(n, (1 + alpha**2) / variance)
        diagonal[[0, -1]] = 1 / variance
        if n == 1:
            diagonal[:] = (1 - alpha**2) / variance
        return cls(diagonal, np.full(n - 1, -alpha / variance))

    @classmethod
    def walk(cls, n: int, variance: float, first: float) -> Self:
        """Precision of a random walk.

        Parameters
        ----------
        n : int
            Number of periods.
        variance : float
            That of each step.
        first : float
            Variance in the first period.

        Returns
        -------
        Tridiagonal
        """
        diagonal = np.full(n, 2 / variance)
        diagonal[-1] = 1 / variance
        diagonal[0] = (1 / variance if n > 1 else 0.0) + 1 / first
        return cls(diagonal, np.full(n - 1, -1 / variance))

    @classmethod
    def ornstein_uhlenbeck(cls, gaps: ArrayLike, rate: float, variance: float) -> Self:
        """Precision of a stationary Ornstein-Uhlenbeck process seen at some times.

        ``x_{t+1} = a_t x_t + N(0, variance (1 - a_t^2))`` with ``a_t = exp(-rate gaps_t)``. Every
        value has the same variance, and leaving out a time does not change the law of the others.

        Parameters
        ----------
        gaps : array-like of shape (n - 1,)
            Time from each of the n times to the next.
        rate : float
            How fast the process forgets, per unit of time.
        variance : float
            That of the value at any time.

        Returns
        -------
        Tridiagonal
        """
        gaps = np.asarray(gaps, dtype=np.float64)
        kept, fresh = np.exp(-rate * gaps), -np.expm1(-2 * rate * gaps)
        diagonal = np.ones(gaps.size + 1)
        # kept^2 / fresh is 1 / fresh - 1; the diagonal is 1 plus that of the gap on either side
        excess = kept**2 / fresh
        diagonal[1:] += excess
        diagonal[:-1] += excess
        return cls(diagonal / variance, -kept / fresh / variance)

    @property
    def n(self) -> int:
        """Number of periods."""
        return self.diagonal.size

    def apply(self, x: np.ndarray) -> np.ndarray:
        """The matrix times ``x`` of shape (n, ...), along its first axis."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        out = self.diagonal.reshape(shape) * x
        off = self.off.reshape(shape)
        out[:-1] += off * x[1:]
        out[1:] += off * x[:-1]
        return out

    def dense(self) -> np.ndarray:
        """The matrix as an array of shape (n, n)."""
        return np.diag(self.diagonal) + np.diag(self.off, 1) + np.diag(self.off, -1)

    def log_determinant(self) -> float:
        """Logarithm of the determinant; the matrix must be positive definite."""
        return 2 * float(np.sum(np.log(self._factor()[0])))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Draw from N(0, inverse of the matrix).

        Parameters
        ----------
        rng : numpy.random.Generator
        shape : tuple of int, default=()
            How many independent draws, in what shape.

        Returns
        -------
        ndarray of shape (n, ...)
            With ``shape`` after the first axis.
        """
        noise = rng.standard_normal((self.n, int(np.prod(shape))))
        factor = self._factor()
        # x = L^-T noise, with the lower bidiagonal L turned into the upper L'
        upper = np.zeros((2, self.n))
        upper[0, 1:], upper[1] = factor[1, :-1], factor[0]
        return solve_banded((0, 1), upper, noise).reshape(self.n, *shape)

    def _factor(self):
        """Lower bidiagonal Cholesky factor in banded form."""
        bands = np.zeros((2, self.n))
        bands[0], bands[1, :-1] = self.diagonal, self.off
        return cholesky_banded(bands, lower=True)


def paths_factor(diagonal, off, information, inverse, below):
    """Cholesky factors of a tridiagonal precision plus ``information`` (T, M) on its diagonal.

    One over the diagonal goes into ``inverse``, what is beneath it into ``below``. NumPy is quick
    enough for what is done once for many steps, and need not be compiled.
    """
    for t in range(len(information)):
        pivot = diagonal[t] + information[t]
        if t > 0:
            pivot -= below[t - 1] ** 2
        np.sqrt(pivot, out=pivot)
        np.divide(1.0, pivot, out=inverse[t])
        if t < len(information) - 1:
            np.multiply(off[t], inverse[t], out=below[t])


def paths_to(center, inverse, below, x):
    """y = L' (x - center), (T, M): the inverse of `tridiagonal_kernels.paths_from`."""
    gone = x - center
    y = gone / inverse
    y[:-1] += below[:-1] * gone[1:]
    return y

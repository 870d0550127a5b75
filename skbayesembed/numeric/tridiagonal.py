"""Gaussian processes over periods as tridiagonal precision matrices."""

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
        """Of a stationary AR(1) process: ``x_t = alpha x_{t-1} + N(0, variance)``."""
        diagonal = np.full(n, (1 + alpha**2) / variance)
        diagonal[[0, -1]] = 1 / variance
        if n == 1:
            diagonal[:] = (1 - alpha**2) / variance
        return cls(diagonal, np.full(n - 1, -alpha / variance))

    @classmethod
    def walk(cls, n: int, variance: float, first: float) -> Self:
        """Of a random walk with steps of a ``variance``, begun at N(0, ``first``)."""
        diagonal = np.full(n, 2 / variance)
        diagonal[-1] = 1 / variance
        diagonal[0] = (1 / variance if n > 1 else 0.0) + 1 / first
        return cls(diagonal, np.full(n - 1, -1 / variance))

    @classmethod
    def ornstein_uhlenbeck(cls, gaps: ArrayLike, rate: float, variance: float) -> Self:
        """Of a stationary Ornstein-Uhlenbeck process seen at times that are ``gaps`` apart.

        ``x_{t+1} = a_t x_t + N(0, variance (1 - a_t^2))``, ``a_t = exp(-rate gaps_t)``: every time
        has the ``variance``, and a time left out leaves the law of the others as it is.
        """
        gaps = np.asarray(gaps, dtype=np.float64)
        kept, fresh = np.exp(-rate * gaps), -np.expm1(-2 * rate * gaps)
        diagonal = np.ones(gaps.size + 1)
        # 1 / fresh, less the one that stands there already
        excess = kept**2 / fresh
        diagonal[1:] += excess
        diagonal[:-1] += excess
        return cls(diagonal / variance, -kept / fresh / variance)

    @property
    def n(self) -> int:
        """Number of periods."""
        return self.diagonal.size

    def apply(self, x: np.ndarray) -> np.ndarray:
        """The product with ``x`` of shape (n, ...)."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        out = self.diagonal.reshape(shape) * x
        off = self.off.reshape(shape)
        out[:-1] += off * x[1:]
        out[1:] += off * x[:-1]
        return out

    def dense(self) -> np.ndarray:
        """The matrix."""
        return np.diag(self.diagonal) + np.diag(self.off, 1) + np.diag(self.off, -1)

    def log_determinant(self) -> float:
        """Of the matrix, which must be positive definite."""
        return 2 * float(np.sum(np.log(self._factor()[0])))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Draws of N(0, inverse), of shape (n, *shape)."""
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

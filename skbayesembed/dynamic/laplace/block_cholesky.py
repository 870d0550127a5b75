"""Gaussians over periods whose precision is block-tridiagonal, multiples of I beside the diagonal.

The large counterpart of `kernels.factor_trajectory`: a block holds all vectors of a period.
"""

from __future__ import annotations

from scipy import linalg

from ...inference.laplace import not_a_mode


class BlockChain:
    """N(0, H^-1) for an H with blocks ``H_t`` on the diagonal and ``off[t] I`` beside it.

    ``S_1 = H_1``, ``S_{t+1} = H_{t+1} - off[t]^2 S_t^-1``; kept are the upper factors ``R_t`` of
    ``S_t = R_t' R_t``.

    Parameters
    ----------
    block : callable
        ``block(t)``, the matrix ``H_t``, which is overwritten.
    off : ndarray of shape (n_periods - 1,)

    Raises
    ------
    numpy.linalg.LinAlgError
        If H is not positive definite.
    """

    def __init__(self, block, off):
        self.off, self.factors = off, []
        for t in range(off.size + 1):
            s = block(t)
            if t > 0:
                # of the symmetric inverse LAPACK fills the upper triangle, all that is read
                inverse, _ = linalg.lapack.dpotri(self.factors[-1], lower=0)
                s -= off[t - 1] ** 2 * inverse
            upper, info = linalg.lapack.dpotrf(s, lower=0, clean=1)
            if info:
                raise not_a_mode()
            self.factors.append(upper)

    def root(self, z):
        """Columns of ``z`` (n_periods, size, m) times a root R of ``H^-1 = R R'``, in place."""
        return self._backward(z)

    def solve(self, b):
        """``H^-1`` times columns of ``b`` (n_periods, size, m), in place."""
        for t, upper in enumerate(self.factors):
            if t > 0:
                b[t] -= self.off[t - 1] * linalg.solve_triangular(self.factors[t - 1], b[t - 1])
            b[t] = linalg.solve_triangular(upper, b[t], trans="T")
        return self._backward(b)

    def _backward(self, z):
        """x_t = R_t^-1 (z_t - off[t] R_t^-T x_{t+1})."""
        for t in range(len(self.factors) - 1, -1, -1):
            upper = self.factors[t]
            if t < len(self.factors) - 1:
                z[t] -= self.off[t] * linalg.solve_triangular(upper, z[t + 1], trans="T")
            z[t] = linalg.solve_triangular(upper, z[t])
        return z

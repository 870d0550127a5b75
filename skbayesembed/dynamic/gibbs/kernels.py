"""Kernels of trajectories: logits, and draws from Gaussians with block-tridiagonal precision.

Vectors have the shape (n_periods, n_words, K). Row ``w * n_periods + t`` of a pair table lists the
pairs of word w in period t.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...numeric.cholesky_kernels import cholesky, solve_lower, solve_upper
from ...numeric.elementwise import FAST
from ...sgns.logistic_kernels import log_likelihood


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def trajectory_logits(start, stop, indptr, indices, x, y, out):
    """out[e] = x_wt . y_vt for the pairs e of words ``start:stop``; out[0] is the first of them."""
    n_periods, _, k = x.shape
    base = indptr[start * n_periods]
    for w in range(start, stop):
        for t in range(n_periods):
            row = w * n_periods + t
            for e in range(indptr[row], indptr[row + 1]):
                v = indices[e]
                s = 0.0
                for j in range(k):
                    s += x[t, w, j] * y[t, v, j]
                out[e - base] = s


@njit(nogil=True, cache=True, error_model="numpy")
def path_likelihood(path, n, kappa, out, g):
    """out[0] = log likelihood at the logits path[0] + g path[1] + g^2 path[2]; path[3] is spare."""
    for e in range(n.size):
        path[3, e] = path[0, e] + g * (path[1, e] + g * path[2, e])
    out[0] = log_likelihood(path[3], n, kappa)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def invert_transposed(factor, out):
    """out = L^-T, upper triangular, for the lower triangle L of ``factor``."""
    k = factor.shape[0]
    for j in range(k):
        for i in range(j):
            out[j, i] = 0.0
        out[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, k):
            s = 0.0
            for m in range(j, i):
                s -= factor[i, m] * out[j, m]
            out[j, i] = s / factor[i, i]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def factor_trajectory(diagonal, off, blocks, linear, inverse, square):
    """Forward half of a draw: the block Cholesky factor and the solution of its lower half.

    The precision has the blocks ``blocks[t] + diagonal[t] I`` on and ``off[t] I`` beside the
    diagonal. With S_1 the first of them, S_{t+1} = blocks[t+1] + diagonal[t+1] I - off[t]^2 S_t^-1;
    ``blocks[t]`` becomes the lower L_t of S_t = L_t L_t', and
    ``linear[t]`` L_t^-1 (linear[t] - off[t-1] L_{t-1}^-T linear[t-1]).
    """
    n_periods, k = linear.shape
    for t in range(n_periods):
        s = blocks[t]
        for j in range(k):
            s[j, j] += diagonal[t]
        if t > 0:
            e = off[t - 1]
            invert_transposed(blocks[t - 1], inverse)
            np.dot(inverse, inverse.T, square)
            for i in range(k):
                for j in range(i + 1):
                    s[i, j] -= e * e * square[i, j]
                carried = 0.0
                for j in range(i, k):
                    carried += inverse[i, j] * linear[t - 1, j]
                linear[t, i] -= e * carried
        cholesky(s, 1e-14)
        solve_lower(s, linear[t])


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def sample_trajectory(off, blocks, linear, rng, spare):
    """Backward half: x_t = L_t^-T (linear[t] + noise - off[t] L_t^-1 x_{t+1}), into ``linear[t]``.

    Together with `factor_trajectory`, a draw of N(Q^-1 linear, Q^-1).
    """
    n_periods, k = linear.shape
    for t in range(n_periods - 1, -1, -1):
        for j in range(k):
            linear[t, j] += rng.standard_normal()
        if t < n_periods - 1:
            spare[:] = linear[t + 1]
            solve_lower(blocks[t], spare)
            for j in range(k):
                linear[t, j] -= off[t] * spare[j]
        solve_upper(blocks[t], linear[t])


@njit(nogil=True, cache=True, error_model="numpy")
def draw_trajectories(start, stop, indptr, indices, omega, kappa, y, diagonal, off, rng, x):
    """Whole trajectories of words ``start:stop`` from their Gaussian conditionals, into ``x``.

    Precision: blocks ``diagonal[t] I + sum_v omega_wvt y_vt y_vt'`` and, beside them, ``off[t] I``;
    linear terms ``sum_v kappa_wvt y_vt``. ``omega[0]`` belongs to the first pair of ``start``.
    """
    n_periods, _, k = x.shape
    base = indptr[start * n_periods]
    most = 1
    for row in range(start * n_periods, stop * n_periods):
        most = max(most, indptr[row + 1] - indptr[row])
    rows_, weighted_ = np.empty((most, k)), np.empty((most, k))
    blocks, linear = np.empty((n_periods, k, k)), np.empty((n_periods, k))
    inverse, square, spare = np.empty((k, k)), np.empty((k, k)), np.empty(k)
    for w in range(start, stop):
        for t in range(n_periods):
            lo, hi = indptr[w * n_periods + t], indptr[w * n_periods + t + 1]
            rows, weighted = rows_[: hi - lo], weighted_[: hi - lo]
            linear[t] = 0.0
            for i in range(hi - lo):
                v = indices[lo + i]
                o = omega[lo - base + i]
                for j in range(k):
                    rows[i, j] = y[t, v, j]
                    weighted[i, j] = o * y[t, v, j]
                    linear[t, j] += kappa[lo + i] * y[t, v, j]
            if hi > lo:
                np.dot(weighted.T, rows, blocks[t])
            else:
                blocks[t] = 0.0
        factor_trajectory(diagonal, off, blocks, linear, inverse, square)
        sample_trajectory(off, blocks, linear, rng, spare)
        for t in range(n_periods):
            x[t, w] = linear[t]

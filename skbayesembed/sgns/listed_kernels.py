"""Kernels of positive observations in lists, a run of contexts after the other.

A table is ``(indptr, indices, counts)`` of some rows: entries are sorted by the run that their
column is in, then by row, and those of row w in run c are ``indptr[c n_rows + w]`` up to the next.
The vectors of a run stay in the second-level cache, whose misses are most of the time otherwise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .logistic_kernels import FAST, positive_residuals32, slopes32

# Columns of a run, and entries whose logits are made together: two arrays of 100 numbers each take
# 400 KB (45,000 words: 40 ns an entry, 47 with 1,024 columns, 62 with 3,000).
RUN, MOST = 512, 4096


def listed_table(indptr, indices, counts, n_columns):
    """The table of rows of a compressed sparse one."""
    n_rows, n_runs = len(indptr) - 1, -(-n_columns // RUN)
    run = (indices // RUN).astype(np.uint16 if n_runs <= 2**16 else np.uint32)
    order = np.argsort(run, kind="stable")
    row = np.repeat(np.arange(n_rows), np.diff(indptr))
    sizes = np.bincount(run.astype(np.int64) * n_rows + row, minlength=n_runs * n_rows)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    return begins, indices[order], counts[order]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def end_of_batch(indptr, base, a, n_rows):
    """The row after those from ``a`` on whose entries in a run are `MOST` at most, as a row has."""
    b = a + 1
    while b < n_rows and indptr[base + b + 1] - indptr[base + a] <= MOST:
        b += 1
    return b


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _logits(table, base, a, b, x, y, t):
    """t = the logits of the entries of rows ``a:b`` in the run of ``base``."""
    indptr, indices, _ = table
    first = indptr[base + a]
    for w in range(a, b):
        for i in range(indptr[base + w], indptr[base + w + 1]):
            v, s = indices[i], np.float32(0.0)
            for j in range(x.shape[1]):
                s += x[w, j] * y[v, j]
            t[i - first] = s


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def listed_products(table, bends, x, y, z, u, rz, ru):
    """`density_kernels.residual_products_dense` of the rows ``x`` and ``u`` of a table.

    Where it ``bends``, of the slopes n sigma(t) sigma(-t) in place of n sigma(-t), without a log
    likelihood. In single precision.
    """
    indptr, indices, counts = table
    n_rows = x.shape[0]
    buffer = np.empty(MOST, x.dtype)
    total = 0.0
    rz[:] = 0.0
    ru[:] = 0.0
    for base in range(0, indptr.size - 1, n_rows):
        a = 0
        while a < n_rows:
            b = end_of_batch(indptr, base, a, n_rows)
            first, last = indptr[base + a], indptr[base + b]
            t, n = buffer[: last - first], counts[first:last]
            _logits(table, base, a, b, x, y, t)
            if bends:
                slopes32(t, n)
            else:
                total += positive_residuals32(t, n)
            for w in range(a, b):
                for i in range(indptr[base + w], indptr[base + w + 1]):
                    v, r = indices[i], t[i - first]
                    for j in range(z.shape[1]):
                        rz[w, j] += r * z[v, j]
                    for j in range(u.shape[1]):
                        ru[v, j] += r * u[w, j]
            a = b
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def listed_curvature(table, observed, x, y, dx, dy, gx, gy):
    """`expected_kernels.curvature_products_expected` of the rows ``x`` and ``dx`` of a table."""
    indptr, indices, counts = table
    n_rows, k = x.shape
    slopes, pulls = np.empty(MOST, x.dtype), np.empty(MOST, x.dtype)
    gx[:] = 0.0
    gy[:] = 0.0
    for base in range(0, indptr.size - 1, n_rows):
        a = 0
        while a < n_rows:
            b = end_of_batch(indptr, base, a, n_rows)
            first, last = indptr[base + a], indptr[base + b]
            s, r, n = slopes[: last - first], pulls[: last - first], counts[first:last]
            _logits(table, base, a, b, x, y, s)
            r[:] = s
            slopes32(s, n)
            positive_residuals32(r, n)
            if not observed:
                r[:] = 0.0
            for d in range(dx.shape[0]):
                for w in range(a, b):
                    for i in range(indptr[base + w], indptr[base + w + 1]):
                        v, t = indices[i], np.float32(0.0)
                        for j in range(k):
                            t += x[w, j] * dy[d, v, j] + dx[d, w, j] * y[v, j]
                        t *= s[i - first]
                        e = r[i - first]
                        for j in range(k):
                            gx[d, w, j] += t * y[v, j] - e * dy[d, v, j]
                            gy[d, v, j] += t * x[w, j] - e * dx[d, w, j]
            a = b

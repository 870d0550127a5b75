"""Coordinate ascent on Gaussian factors under the Jaakkola-Jordan bound.

A word has the mean vector ``m`` (D numbers) and a covariance: the packed lower triangle, row by
row (D (D + 1) / 2 numbers), where ``full``, the D variances otherwise. ``second`` is the table of
packed E[y y'] of the opposite side. A pair with n observations has xi^2 = E[(x . y)^2] and
contributes omega E[y y'], omega = n tanh(xi / 2) / (2 xi), to the precision of x: the mean-field
answer to the Polya-Gamma augmentation (Sakaya 2015, section 4.9.4, with lambda = omega / 2n).

Coordinates ``free`` are updated; the coordinate ``fixed`` (-1 for none) is 1 with certainty and
carries the bias of the opposite word.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numeric.cholesky_kernels import cholesky, solve_lower, solve_upper
from ..expected_kernels import counts_of_row
from ..logistic_kernels import FAST, exp_negative, log1p_unit

# xi is kept above 1e-4, where tanh(xi / 2) / xi is still exact to 1e-11.
_LEAST_SQUARE = 1e-8


class Side(NamedTuple):
    """Factors of the words of a side: means (n_words, D), covariances, log determinants."""

    mean: np.ndarray
    cov: np.ndarray
    log_det: np.ndarray


class Opposite(NamedTuple):
    """Means of the opposite side, and its ``second`` moments (diagonal form: its variances)."""

    mean: np.ndarray
    second: np.ndarray


class DenseCounts(NamedTuple):
    """Observations and ``n_positive - n / 2`` of all pairs."""

    n: np.ndarray
    kappa: np.ndarray


class SparseCounts(NamedTuple):
    """The same of observed pairs, in compressed rows."""

    indptr: np.ndarray
    indices: np.ndarray
    n: np.ndarray
    kappa: np.ndarray


class WordPrior(NamedTuple):
    """Prior of a side's words.

    Diagonals of the precisions of free coordinates, linear terms (n_words, D), and the couplings
    to other words of the same side: precisions ``tau`` (K,) of components, weights in compressed
    rows.
    """

    diagonal: np.ndarray
    shift: np.ndarray
    tau: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class Form(NamedTuple):
    """Coordinates that are updated, the one that is 1 (or -1), full or not, rounding of tables."""

    free: np.ndarray
    fixed: int
    full: bool
    rounding: float


class Memory(NamedTuple):
    """What is remembered of earlier batches; empty arrays where there are none.

    Tables of statistics (precisions, linear terms), the share ``keep`` of them that stays, the
    factor ``gain`` from the blend to all observations of a word (0 where the batch has none of it),
    and whether the blend is remembered.
    """

    precision: np.ndarray
    shift: np.ndarray
    keep: np.ndarray
    gain: np.ndarray
    commit: bool


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def pack_second(mean, cov, full, cross, out):
    """out = packed lower triangle of m m' + covariance, entries off the diagonal times ``cross``.

    With ``cross=2`` its scalar product with another packed table is a trace.
    """
    p = 0
    for i in range(mean.size):
        mi = cross * mean[i]
        if full:
            for j in range(i):
                out[p + j] = mi * mean[j] + cross * cov[p + j]
            out[p + i] = mean[i] * mean[i] + cov[p + i]
        else:
            for j in range(i):
                out[p + j] = mi * mean[j]
            out[p + i] = mean[i] * mean[i] + cov[i]
        p += i + 1


@njit(nogil=True, cache=True, error_model="numpy")
def second_table(start, stop, mean, cov, full, out):
    """out[v] = packed E[y_v y_v'] for the words ``start:stop``."""
    for v in range(start, stop):
        pack_second(mean[v], cov[v], full, 1.0, out[v])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def bound_terms(square, n, omega):
    """omega = n tanh(xi / 2) / (2 xi) for squares xi^2; returns sum of n log(2 cosh(xi / 2))."""
    total = 0.0
    for i in range(square.size):
        xi = math.sqrt(max(np.float64(square[i]), _LEAST_SQUARE))
        e = exp_negative(-xi)
        omega[i] = 0.5 * n[i] * (1.0 - e) / ((1.0 + e) * xi)
        total += n[i] * (0.5 * xi + log1p_unit(e))
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def dot_row(a, b):
    """a . b in the precision of the arrays."""
    s = a[0] * b[0]
    for i in range(1, a.size):
        s += a[i] * b[i]
    return s


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_row(scale, a, out):
    """out += scale * a."""
    for i in range(a.size):
        out[i] += scale * a[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def invert_factor(factor, out):
    """out = L^-1 (lower triangle; the rest zero) for the lower triangle L of ``factor``."""
    k = factor.shape[0]
    for i in range(k):
        for j in range(k):
            out[i, j] = 0.0
        for m in range(i):
            c = factor[i, m]
            for j in range(m + 1):
                out[i, j] -= c * out[m, j]
        d = 1.0 / factor[i, i]
        for j in range(i):
            out[i, j] *= d
        out[i, i] = d


@njit(nogil=True, cache=True, error_model="numpy")
def solve_word(packed, linear, prior, free, fixed, full, rounding, work, vector, mean, cov):
    """Gaussian of precision diag(prior) + packed and the given linear term, into mean and cov.

    Returns log |covariance| of the free coordinates. ``linear`` (D,) already holds the prior's
    linear term; what the fixed coordinate adds is taken off here. ``work`` is (3, F, F) and
    ``vector`` (F,) for F free coordinates. Without ``full`` the variances are the inverses of the
    precision's diagonal and the mean is that of the whole precision: the best factor of both.
    """
    f = free.size
    factor, inverse, product = work[0], work[1], work[2]
    for a in range(f):
        i = free[a]
        row = i * (i + 1) // 2
        for b in range(a + 1):
            factor[a, b] = packed[row + free[b]]
        factor[a, a] += prior[a]
        vector[a] = linear[i]
        if fixed >= 0:
            high, low = max(i, fixed), min(i, fixed)
            vector[a] -= packed[high * (high + 1) // 2 + low]
    log_det = 0.0
    if not full:
        for a in range(f):
            cov[free[a]] = 1.0 / factor[a, a]
            log_det -= math.log(factor[a, a])
    cholesky(factor, rounding)
    solve_lower(factor, vector)
    solve_upper(factor, vector)
    for a in range(f):
        mean[free[a]] = vector[a]
    if full:
        invert_factor(factor, inverse)
        np.dot(inverse.T, inverse, product)
        for a in range(f):
            log_det += 2.0 * math.log(inverse[a, a])
            i = free[a]
            row = i * (i + 1) // 2
            for b in range(a + 1):
                cov[row + free[b]] = product[a, b]
    return log_det


@njit(nogil=True, cache=True, error_model="numpy")
def couple(w, indptr, indices, data, tau, mean, linear):
    """linear -= tau * sum over neighbors u of G_wu m_u."""
    for e in range(indptr[w], indptr[w + 1]):
        u = indices[e]
        for j in range(tau.size):
            linear[j] -= tau[j] * data[e] * mean[u, j]


@njit(nogil=True, cache=True, error_model="numpy")
def blend(w, memory, packed, linear):
    """Blend a batch's statistics of a word with a `Memory`; False if the word is absent."""
    precision, shift, keep, gain, commit = memory
    if keep.size == 0:
        return True
    if gain[w] == 0.0:
        return False
    share, scale = packed.dtype.type(keep[w]), packed.dtype.type(gain[w])
    for p in range(packed.size):
        value = share * precision[w, p] + packed[p]
        if commit:
            precision[w, p] = value
        packed[p] = scale * value
    for j in range(linear.size):
        value = keep[w] * shift[w, j] + linear[j]
        if commit:
            shift[w, j] = value
        linear[j] = gain[w] * value
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def update_word(w, packed, linear, side, prior, form, memory, work, vector):
    """The optimal factor of word ``w`` from its pairs' precision and linear term, both spent."""
    mean, cov, log_det = side
    diagonal, shift, tau, indptr, indices, data = prior
    free, fixed, full, rounding = form
    if not blend(w, memory, packed, linear):
        return
    for j in range(linear.size):
        linear[j] += shift[w, j]
    couple(w, indptr, indices, data, tau, mean, linear)
    log_det[w] = solve_word(
        packed, linear, diagonal[w], free, fixed, full, rounding, work, vector, mean[w], cov[w]
    )


@njit(nogil=True, cache=True, error_model="numpy")
def dense_buffers(c, side, opposite, form):
    """Buffers of `ascend_rows` for ``c`` words."""
    second, f = opposite.second, form.free.size
    rows = np.empty((c, second.shape[1]), second.dtype)
    square = np.empty((c, second.shape[0]), second.dtype)
    return rows, square, np.empty((c, side.mean.shape[1])), np.empty((3, f, f)), np.empty(f)


@njit(nogil=True, cache=True, error_model="numpy")
def ascend_rows(start, stop, side, opposite, n, kappa, prior, form, memory, buffers):
    """`ascend_dense` for words that go together, with their rows of counts; returns the bound."""
    mean, cov, _ = side
    y, second = opposite
    rows, square, linear, work, vector = buffers
    m, total = stop - start, 0.0
    for i in range(m):
        pack_second(mean[start + i], cov[start + i], form.full, 2.0, rows[i])
    np.dot(rows[:m], second.T, square[:m])
    np.dot(kappa, y, linear[:m])
    for i in range(m):
        total -= bound_terms(square[i], n[i], square[i])
        total += dot_row(linear[i], mean[start + i])
    np.dot(square[:m], second, rows[:m])
    for i in range(m):
        update_word(start + i, rows[i], linear[i], side, prior, form, memory, work, vector)
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def ascend_dense(start, stop, side, opposite, counts, prior, form, memory, chunk, block, bound):
    """Optimal factors of words ``start:stop`` given the opposite side; all pairs of the table.

    ``bound[block]`` gets the pairs' part of the bound at the factors met, before the update.
    """
    n, kappa = counts
    buffers = dense_buffers(min(chunk, stop - start), side, opposite, form)
    total = 0.0
    for a in range(start, stop, chunk):
        b = min(a + chunk, stop)
        total += ascend_rows(a, b, side, opposite, n[a:b], kappa[a:b], prior, form, memory, buffers)
    bound[block] = total


@njit(nogil=True, cache=True, error_model="numpy")
def ascend_expected(start, stop, side, opposite, counts, prior, form, memory, chunk, block, bound):
    """`ascend_dense` for a table of `expected_kernels`, whose rows are written out in turn."""
    indptr, n_words = counts[0], opposite.mean.shape[0]
    c = min(chunk, stop - start)
    buffers = dense_buffers(c, side, opposite, form)
    n, kappa = np.empty((c, n_words)), np.empty((c, n_words))
    total = 0.0
    for a in range(start, stop, c):
        b = min(a + c, stop)
        for i in range(b - a):
            counts_of_row(a + i, 0, n_words, counts, indptr[a + i], n[i], kappa[i])
        rest = n[: b - a], kappa[: b - a], prior, form, memory, buffers
        total += ascend_rows(a, b, side, opposite, *rest)
    bound[block] = total


@njit(nogil=True, cache=True, error_model="numpy")
def visit_pairs(start, stop, until, cursor, indices, n, kappa, y, second, rows, packed, linear):
    """Take in the pairs of words ``start:stop`` with contexts below ``until``, from the cursors on.

    packed += omega E[y y'], linear += kappa y; returns the sum of n log(2 cosh(xi / 2)).
    """
    square, omega = np.empty(1), np.empty(1)
    total = 0.0
    for i in range(stop - start):
        e = cursor[i, 0]
        while e < cursor[i, 1] and indices[e] < until:
            v = indices[e]
            square[0] = dot_row(rows[i], second[v])
            total += bound_terms(square, n[e : e + 1], omega)
            add_row(packed.dtype.type(omega[0]), second[v], packed[i])
            add_row(kappa[e], y[v], linear[i])
            e += 1
        cursor[i, 0] = e
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def ascend_sparse(start, stop, side, opposite, counts, prior, form, memory, width, block, bound):
    """`ascend_dense` for a pair table in compressed rows, contexts ascending in each.

    ``width`` words at a time go through the contexts together, ``2 * width`` contexts after
    ``2 * width``, whose rows of ``second`` then come from the cache.
    """
    mean, cov, _ = side
    y, second = opposite
    indptr, indices, n, kappa = counts
    free, full = form.free, form.full
    d = mean.shape[1]
    c = min(width, stop - start)
    rows = np.empty((c, second.shape[1]), second.dtype)
    packed = np.empty((c, second.shape[1]), second.dtype)
    linear = np.empty((c, d))
    cursor = np.empty((c, 2), np.int64)
    work, vector = np.empty((3, free.size, free.size)), np.empty(free.size)
    total = 0.0
    for a in range(start, stop, c):
        m = min(c, stop - a)
        packed[:] = 0.0
        linear[:] = 0.0
        for i in range(m):
            pack_second(mean[a + i], cov[a + i], full, 2.0, rows[i])
            cursor[i, 0], cursor[i, 1] = indptr[a + i], indptr[a + i + 1]
        for until in range(2 * width, y.shape[0] + 2 * width, 2 * width):
            total -= visit_pairs(
                a, a + m, until, cursor, indices, n, kappa, y, second, rows, packed, linear
            )
        for i in range(m):
            w = a + i
            total += dot_row(linear[i], mean[w])
            update_word(w, packed[i], linear[i], side, prior, form, memory, work, vector)
    bound[block] = total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def mean_field_square(x, x_var, y, y_var):
    """E[(x . y)^2] for independent coordinates of the given means and variances."""
    t = x[0] * y[0]
    s = x_var[0] * (y[0] * y[0] + y_var[0]) + x[0] * x[0] * y_var[0]
    for j in range(1, x.size):
        t += x[j] * y[j]
        s += x_var[j] * (y[j] * y[j] + y_var[j]) + x[j] * x[j] * y_var[j]
    return t * t + s


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def gather_weighted(indices, omega, y, y_var, rows, weighted, diagonal):
    """Rows of ``y`` named by ``indices``, themselves and times omega; diagonal += omega y_var."""
    for i in range(indices.size):
        v = indices[i]
        for j in range(y.shape[1]):
            rows[i, j] = y[v, j]
            weighted[i, j] = omega[i] * y[v, j]
            diagonal[j] += omega[i] * y_var[v, j]


@njit(nogil=True, cache=True, error_model="numpy")
def ascend_sparse_diagonal(start, stop, side, opposite, counts, prior, form, memory, block, bound):
    """`ascend_sparse` for diagonal covariances, without tables of products.

    ``opposite`` holds means and variances, in the precision to work in.
    """
    mean, cov, _ = side
    y, y_var = opposite
    indptr, indices, n, kappa = counts
    free = form.free
    d = mean.shape[1]
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    rows, weighted = np.empty((m, d), y.dtype), np.empty((m, d), y.dtype)
    omega = np.empty(m, y.dtype)
    product, packed = np.empty((d, d), y.dtype), np.empty(d * (d + 1) // 2, y.dtype)
    x, x_var = np.empty(d, y.dtype), np.empty(d, y.dtype)
    linear, diagonal = np.empty(d), np.empty(d)
    work, vector = np.empty((3, free.size, free.size)), np.empty(free.size)
    total = 0.0
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        m = hi - lo
        x[:] = mean[w]
        x_var[:] = cov[w]
        linear[:] = 0.0
        diagonal[:] = 0.0
        product[:] = 0.0
        for i in range(m):
            v = indices[lo + i]
            omega[i] = mean_field_square(x, x_var, y[v], y_var[v])
            add_row(kappa[lo + i], y[v], linear)
        total -= bound_terms(omega[:m], n[lo:hi], omega[:m])
        total += dot_row(linear, mean[w])
        if m > 0:
            gather_weighted(indices[lo:hi], omega, y, y_var, rows, weighted, diagonal)
            np.dot(weighted[:m].T, rows[:m], product)
        p = 0
        for i in range(d):
            for j in range(i + 1):
                packed[p] = product[i, j]
                p += 1
            packed[p - 1] += y.dtype.type(diagonal[i])
        update_word(w, packed, linear, side, prior, form, memory, work, vector)
    bound[block] = total

"""Kernels of the tables over words and topics."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST, exp_negative


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_squares(y, offset, out):
    """out[k, v] += sum_i (y[k I + i, v] - offset[k, i])^2, offset (K, I)."""
    k_all, n = out.shape
    width = offset.shape[1]
    for k in range(k_all):
        total = out[k]
        for i in range(width):
            row, shift = y[k * width + i], offset[k, i]
            for v in range(n):
                d = row[v] - shift
                total[v] += d * d


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def relative_weights(table, power, least, out, top):
    """out[v, k] = exp(max(power (table[v, k] - max_k table[v]), least)); other columns are 0.

    ``top`` (V,) becomes power max_k table[v]; it may be None.
    """
    n, k_all = table.shape
    for v in range(n):
        largest = table[v, 0]
        for k in range(1, k_all):
            largest = max(largest, table[v, k])
        if top is not None:
            top[v] = power * largest
        for k in range(k_all):
            out[v, k] = exp_negative(max(power * (table[v, k] - largest), least))
        for k in range(k_all, out.shape[1]):
            out[v, k] = 0.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def root_weighted_rows(vectors, rows, weights, mean, out):
    """out[i] = sqrt(weights[i]) (vectors[rows[i]] - mean)."""
    for i in range(rows.size):
        root = np.sqrt(weights[i])
        for j in range(mean.size):
            out[i, j] = root * (vectors[rows[i], j] - mean[j])

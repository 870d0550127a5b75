"""Kernels of the influence of units."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..logistic_kernels import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def pulls_of_places(start, stop, indptr, indices, positive, word, x, y, zx, zy, out):
    """out_pi = sum_q positive_pq (1 - sigma(x_p . y_q)) (zx_pi . y_q + x_p . zy_qi), directions i.

    Places ``p`` from ``start`` to ``stop`` and ``q`` stand for the words ``word[p]``, ``word[q]``.
    ``x`` and ``y`` are (n_words, K), ``zx`` and ``zy`` (n_words, m, K), in single precision;
    ``out`` is (n_places, m), in double.
    """
    k, m = x.shape[1], zx.shape[1]
    for p in range(start, stop):
        w = word[p]
        out[p] = 0.0
        mine = x[w]
        for e in range(indptr[p], indptr[p + 1]):
            v = word[indices[e]]
            other = y[v]
            t = np.float32(0.0)
            for j in range(k):
                t += mine[j] * other[j]
            weight = positive[e] / (1.0 + math.exp(t))
            for i in range(m):
                zw, zv = zx[w, i], zy[v, i]
                d = np.float32(0.0)
                for j in range(k):
                    d += zw[j] * other[j] + mine[j] * zv[j]
                out[p, i] += weight * d

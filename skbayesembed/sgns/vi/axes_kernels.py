"""Kernel of turns that bring many matrices near to diagonal ones at once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST

# Turns of a pair of axes by less than this (radians) are not made.
_LEAST_ANGLE = 1e-4


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _angle(blocks, a, b):
    """The turn of axes a and b that lowers the sum of logs of both diagonals.

    With m the mean of both entries, d half their difference and o what is off the diagonal, a turn
    by phi / 2 makes their product ``m^2 - u^2``, with ``u = d cos(phi) + o sin(phi)``. The log is
    concave in ``u^2``, so that no line tangent to it lies below: the sum of these is least along
    an eigenvector.
    """
    across, along = 0.0, 0.0
    for i in range(blocks.shape[2]):
        x, y, o = blocks[a, a, i], blocks[b, b, i], blocks[a, b, i]
        d = np.float32(0.5) * (x - y)
        weight = np.float32(1.0) / (x * y)
        across += weight * d * o
        along += weight * (d * d - o * o)
    return 0.25 * math.atan2(2.0 * across, along)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _mix(x, y, c, s):
    for i in range(x.size):
        u, v = x[i], y[i]
        x[i], y[i] = c * u + s * v, c * v - s * u


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def turn_pairs(blocks, turn):
    """Turn all pairs of axes once, in place.

    Each turn lowers ``sum_ki log blocks[k, k, i]``, or leaves it.

    Parameters
    ----------
    blocks : ndarray of float32 of shape (k, k, n)
        Positive definite matrices, the last axis counts them; of which the upper triangles are
        used, and turned.
    turn : ndarray of float64 of shape (k, k)
        All turns so far: blocks are ``turn' B turn`` of those given first.
    """
    k, n = blocks.shape[0], blocks.shape[2]
    for a in range(k):
        for b in range(a + 1, k):
            angle = _angle(blocks, a, b)
            if abs(angle) < _LEAST_ANGLE:
                continue
            cos, sin = math.cos(angle), math.sin(angle)
            for j in range(k):
                x, y = turn[j, a], turn[j, b]
                turn[j, a], turn[j, b] = cos * x + sin * y, cos * y - sin * x
            c, s = np.float32(cos), np.float32(sin)
            for j in range(k):
                if j != a and j != b:
                    _mix(blocks[min(a, j), max(a, j)], blocks[min(b, j), max(b, j)], c, s)
            two_cs, cos_2 = np.float32(2.0) * c * s, c * c - s * s
            for i in range(n):
                x, y, o = blocks[a, a, i], blocks[b, b, i], blocks[a, b, i]
                blocks[a, a, i] = c * c * x + s * s * y + two_cs * o
                blocks[b, b, i] = s * s * x + c * c * y - two_cs * o
                blocks[a, b, i] = cos_2 * o + np.float32(0.5) * two_cs * (y - x)

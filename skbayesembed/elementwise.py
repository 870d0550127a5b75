"""Elementary functions for kernels, in forms that compilers turn into vector instructions."""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be reordered so that loops become vector instructions; NaN and infinity keep their rules.
FAST = {"reassoc", "contract", "nsz", "arcp"}

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_TO_LAST_BITS = 6755399441055744.0  # 1.5 * 2**52


@njit(inline="always", fastmath=FAST, error_model="numpy")
def exp_negative(t):
    """exp(t) for t <= 0, in a form the compiler turns into vector code (error below 1e-15)."""
    t = max(t, -700.0)
    k = np.floor(t * _LOG2_E + 0.5)
    r = (t - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    # the sum leaves k + 1023 in the last bits, from where it moves into the exponent
    bits = np.float64(k + (_TO_LAST_BITS + 1023.0)).view(np.int64)
    return p * np.int64(bits << np.int64(52)).view(np.float64)


@njit(inline="always", fastmath=FAST, error_model="numpy")
def log1p_unit(u):
    """log(1 + u) for u in [0, 1] as 2 artanh(u / (2 + u)) (error below 1e-15)."""
    s = u / (2.0 + u)
    q = s * s
    p = 1.0 / 31.0
    p = p * q + 1.0 / 29.0
    p = p * q + 1.0 / 27.0
    p = p * q + 1.0 / 25.0
    p = p * q + 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return 2.0 * s * p

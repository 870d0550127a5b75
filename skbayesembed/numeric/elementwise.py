"""Elementary functions for kernels, in forms that compilers turn into vector instructions."""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be reordered so that loops become vector instructions; NaN and infinity keep their rules.
# A kernel with such sums that other kernels call is compiled with forceinline=True: else the
# process that compiles both calls its first version of it, a process that loads them from the
# cache another, and the two differ in last bits.
FAST = {"reassoc", "contract", "nsz", "arcp"}

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_TO_LAST_BITS = 6755399441055744.0  # 1.5 * 2**52
_MANTISSA, _ONE = 0x000FFFFFFFFFFFFF, 0x3FF0000000000000
_TWO_52, _TWO_52_BITS = 4503599627370496.0, 0x4330000000000000


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


@njit(inline="always", fastmath=FAST, error_model="numpy")
def log_positive(x):
    """log(x) for normal x > 0, in a form the compiler turns into vector code (error below 1e-15).

    x = 2^n m with m in [2/3, 4/3), log m = 2 artanh((m - 1) / (m + 1)).
    """
    bits = np.float64(x).view(np.int64)
    # n + 1023 moves into the last bits of 2^52, from where it is a number
    n = np.int64((bits >> np.int64(52)) | np.int64(_TWO_52_BITS)).view(np.float64) - _TWO_52
    m = np.int64((bits & np.int64(_MANTISSA)) | np.int64(_ONE)).view(np.float64)
    large = m > 4.0 / 3.0
    m = m * (0.5 if large else 1.0)
    n = n - (1022.0 if large else 1023.0)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = 1.0 / 23.0
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
    return n * 0.6931471805599453 + (2.0 * s + 2.0 * s * q * p)


@njit(inline="always", fastmath=FAST, error_model="numpy")
def shift_by_eight(x):
    """Product and sum of reciprocals of x, x + 1, ..., x + 7."""
    t = x * (x + 7.0)
    a, b = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    slope = (2.0 * t + 6.0) * b + a * (2.0 * t + 22.0)
    product = a * b
    return product, (2.0 * x + 7.0) * slope / product


@njit(inline="always", fastmath=FAST, error_model="numpy")
def digamma(x):
    """Derivative of log Gamma for x > 0: recurrence to x + 8, then Stirling's series."""
    _, reciprocals = shift_by_eight(x)
    y = x + 8.0
    u = 1.0 / y
    q = u * u
    p = -1.0 / 12.0
    p = p * q + 691.0 / 32760.0
    p = p * q - 1.0 / 132.0
    p = p * q + 1.0 / 240.0
    p = p * q - 1.0 / 252.0
    p = p * q + 1.0 / 120.0
    p = p * q - 1.0 / 12.0
    return log_positive(y) - 0.5 * u + p * q - reciprocals


@njit(inline="always", fastmath=FAST, error_model="numpy")
def log_gamma(x):
    """log Gamma(x) for 0 < x < 1e30, as in `digamma`."""
    product, _ = shift_by_eight(x)
    y = x + 8.0
    u = 1.0 / y
    q = u * u
    p = 1.0 / 156.0
    p = p * q - 691.0 / 360360.0
    p = p * q + 1.0 / 1188.0
    p = p * q - 1.0 / 1680.0
    p = p * q + 1.0 / 1260.0
    p = p * q - 1.0 / 360.0
    p = p * q + 1.0 / 12.0
    half_log_2pi = 0.9189385332046727
    return (y - 0.5) * log_positive(y) - y + half_log_2pi + p * u - log_positive(product)


# The same in single precision, for kernels where a table of pairs is the work.
_LOG2_E32, _LN2_HIGH32, _LN2_LOW32 = map(np.float32, (_LOG2_E, 0.693359375, -2.12194440e-4))
_TO_LAST_BITS32, _FLOOR32 = np.float32(12582912.0 + 127.0), np.float32(-80.0)
_HALF32, _ONE32, _TWO32 = np.float32(0.5), np.float32(1.0), np.float32(2.0)
_E3, _E4, _E5, _E6 = (np.float32(1.0 / n) for n in (6, 24, 120, 720))
_L1, _L2, _L3, _L4, _L5, _L6 = (np.float32(1.0 / n) for n in (3, 5, 7, 9, 11, 13))


@njit(inline="always", fastmath=FAST, error_model="numpy")
def exp_negative32(t):
    """exp(t) for float32 t <= 0 (relative error below 3e-7; e^-80 below -80)."""
    t = max(t, _FLOOR32)
    k = np.floor(t * _LOG2_E32 + _HALF32)
    r = (t - k * _LN2_HIGH32) - k * _LN2_LOW32
    p = ((((_E6 * r + _E5) * r + _E4) * r + _E3) * r + _HALF32) * r * r + r + _ONE32
    bits = np.float32(k + _TO_LAST_BITS32).view(np.int32)
    return p * np.int32(bits << np.int32(23)).view(np.float32)


@njit(inline="always", fastmath=FAST, error_model="numpy")
def log1p_unit32(u):
    """log(1 + u) for float32 u in [0, 1] (error below 3e-7)."""
    s = u / (_TWO32 + u)
    q = s * s
    p = ((((_L6 * q + _L5) * q + _L4) * q + _L3) * q + _L2) * q + _L1
    return _TWO32 * s * (p * q + _ONE32)

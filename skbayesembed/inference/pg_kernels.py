"""Kernels of the Polya-Gamma sampler (see polyagamma.py): any real shape h > 0 and tilt z."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

SMALLEST = 1e-300
LARGEST_TILT = 1e100
# Below this tilt the integer part of a shape in [1, 4) is left to the package's devroye method.
DEVROYE_BELOW = 1.25
# Two gammas instead of rejection from this shape on, if more than e proposals were needed.
EXACT_BELOW = 4.0
MAX_EXPONENT = 1.0

# tanh(sqrt v) / sqrt v = sum_k 2 / (v + p_k), p_k = ((k - 1/2) pi)^2. Below SERIES_BELOW the first
# pole is kept as it is and the others are summed as a power series in v, row i of SERIES holding
# the polynomial of the i-th Taylor coefficient.
SERIES_BELOW = 2.0
FIRST_POLE = math.pi**2 / 4
_N_TERMS = 14


def _series_of_other_poles():
    sums = [2 * _odd_zeta(2 * n + 2) * (2 / math.pi) ** (2 * n + 2) for n in range(_N_TERMS + 5)]
    table = np.empty((5, _N_TERMS))
    for i in range(5):
        for n in range(_N_TERMS):
            table[i, n] = math.comb(n + i, i) * (-1.0) ** (n + i) * sums[n + i]
    return table


def _odd_zeta(power):
    """Sum over odd m >= 3 of m ** -power (Euler-Maclaurin from m = 401 on)."""
    head = math.fsum(float(m) ** -power for m in range(3, 401, 2))
    m = 401.0
    tail = m ** (1 - power) / (2 * (power - 1)) + m**-power / 2 + power * m ** (-power - 1) / 6
    tail -= power * (power + 1) * (power + 2) * m ** (-power - 3) / 90
    return head + tail


SERIES = _series_of_other_poles()


@njit(nogil=True, cache=True)
def taylor(v):
    """First five Taylor coefficients of T(v) = tanh(sqrt v) / sqrt v at v >= 0.

    From v on: by the Riccati equation 2 v T' + T + v T^2 = 1.
    """
    if v < SERIES_BELOW:
        pole = 1.0 / (v + FIRST_POLE)
        term = 2.0 * pole
        rest0 = rest1 = rest2 = rest3 = rest4 = 0.0
        for n in range(_N_TERMS - 1, -1, -1):
            rest0 = rest0 * v + SERIES[0, n]
            rest1 = rest1 * v + SERIES[1, n]
            rest2 = rest2 * v + SERIES[2, n]
            rest3 = rest3 * v + SERIES[3, n]
            rest4 = rest4 * v + SERIES[4, n]
        t0 = rest0 + term
        t1 = rest1 - term * pole
        t2 = rest2 + term * pole**2
        t3 = rest3 - term * pole**3
        t4 = rest4 + term * pole**4
        return t0, t1, t2, t3, t4
    y = math.sqrt(v)
    t0 = math.tanh(y) / y
    half = 0.5 / v
    s0 = t0 * t0
    t1 = (1.0 - t0 - v * s0) * half
    s1 = 2.0 * t0 * t1
    t2 = -(3.0 * t1 + v * s1 + s0) * half / 2.0
    s2 = 2.0 * t0 * t2 + t1 * t1
    t3 = -(5.0 * t2 + v * s2 + s1) * half / 3.0
    s3 = 2.0 * (t0 * t3 + t1 * t2)
    t4 = -(7.0 * t3 + v * s3 + s2) * half / 4.0
    return t0, t1, t2, t3, t4


@njit(nogil=True, cache=True)
def two_gammas(z):
    """Shift b, scales s and shapes a per unit h: b h + s_1 Gamma(a_1 h) + s_2 Gamma(a_2 h).

    PG(h, z) = sum_k c_k Gamma(h): the Gauss-Radau rule of the measure sum_k c_k delta(c_k) with one
    node at 0 (the shift) and two free ones matches the first five cumulants.
    """
    t0, t1, t2, t3, t4 = taylor(0.25 * z * z)
    m1 = t0 / 4.0
    m2 = -t1 / 8.0
    m3 = t2 / 16.0
    m4 = -t3 / 32.0
    m5 = t4 / 64.0
    determinant = m2 * m4 - m3 * m3
    total = (m2 * m5 - m3 * m4) / determinant
    product = (m3 * m5 - m4 * m4) / determinant
    scale1 = 0.5 * (total + math.sqrt(max(total * total - 4.0 * product, 0.0)))
    scale2 = product / scale1
    weight1 = (m3 - m2 * scale2) / (scale1 - scale2)
    weight2 = m2 - weight1
    shift = m1 - weight1 / scale1 - weight2 / scale2
    return shift, scale1, weight1 / scale1**2, scale2, weight2 / scale2**2


@njit(nogil=True, cache=True)
def inverse_gaussian(h, z, rng):
    """Draw from the inverse Gaussian with mean h / (2 z) and shape h^2 / 4 (Levy at z = 0)."""
    y = rng.standard_normal()
    a = 2.0 * y * y / (h * h)
    inverse_mean = 2.0 * z / h
    inverse = inverse_mean + a + math.sqrt(a * (a + 2.0 * inverse_mean))
    if inverse == 0.0:
        return np.inf
    x = 1.0 / inverse
    if inverse_mean > 0.0 and rng.random() * (1.0 + x * inverse_mean) > 1.0:
        return 1.0 / (inverse_mean * inverse_mean * x)
    return x


@njit(nogil=True, cache=True)
def accept(x, h, rng):
    """Accept x with probability S(x) = sum_n (-1)^n b_n(x), b_0 = 1, decided from partial sums.

    b_(n+1) / b_n = (n+h)(2n+2+h) / ((n+1)(2n+h)) exp(-(2n+1+h) / (2x)) falls with n for every h, so
    partial sums bracket the limit from the first ratio below one. Beyond x = 8 + 2 h, S < 2e-16.
    """
    exponent = (1.0 + h) / (2.0 * x)
    if exponent > 60.0:
        return True
    if x > 8.0 + 2.0 * h:
        return False
    u = rng.random()
    factor = math.exp(-exponent)
    step = math.exp(-1.0 / x)
    ratio = (2.0 + h) * factor
    term = 1.0
    total = 1.0
    n = 0.0
    while True:
        term *= -ratio
        total += term
        n += 1.0
        factor *= step
        ratio = (n + h) * (2.0 * n + 2.0 + h) / ((n + 1.0) * (2.0 * n + h)) * factor
        if ratio < 1.0:
            if term < 0.0:
                if u <= total:
                    return True
            elif u > total:
                return False
            if abs(term) < 1e-17:
                return u <= total


@njit(nogil=True, cache=True)
def exact_draw(h, z, rng):
    """Exact draw of PG(h, z) by rejection; takes (1 + e^-z)^h proposals on average."""
    while True:
        x = inverse_gaussian(h, z, rng)
        if accept(x, h, rng):
            return x


@njit(nogil=True, cache=True)
def one_draw(h, z, rng):
    """One draw of PG(h, z), z >= 0: by rejection, or by two gammas where that would be slow."""
    if h >= EXACT_BELOW and h * math.log1p(math.exp(-z)) > MAX_EXPONENT:
        shift, scale1, shape1, scale2, shape2 = two_gammas(z)
        x = scale1 * rng.standard_gamma(h * shape1) + scale2 * rng.standard_gamma(h * shape2)
        return h * shift + x
    return exact_draw(h, z, rng)


@njit(nogil=True, cache=True)
def fill(shapes, tilts, rng, out):
    """out[i] ~ PG(shapes[i], tilts[i]), less the integer part where devroye adds it."""
    for i in range(shapes.shape[0]):
        h = shapes[i]
        z = abs(tilts[i])
        if not z <= LARGEST_TILT:
            out[i] = np.nan
            continue
        if z < DEVROYE_BELOW and 1.0 <= h < EXACT_BELOW:
            h -= math.floor(h)
            if h == 0.0:
                out[i] = 0.0
                continue
        out[i] = max(one_draw(h, z, rng), SMALLEST)


@njit(nogil=True, cache=True)
def gather(index, whole, tilts, where, counts, near):
    """Copy the entries of small tilt among index into the buffers; return their number."""
    n = 0
    for j in range(index.shape[0]):
        z = abs(tilts[index[j]])
        if z < DEVROYE_BELOW:
            where[n] = index[j]
            counts[n] = whole[j]
            near[n] = z
            n += 1
    return n


@njit(nogil=True, cache=True)
def scatter_add(where, values, out):
    """out[where[j]] += values[j]."""
    for j in range(where.shape[0]):
        out[where[j]] += values[j]

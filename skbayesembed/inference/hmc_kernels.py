"""Kernels of Hamiltonian trajectories on flat vectors in whitened coordinates.

The sampler moves ``u``; the parameters are ``theta = center + S u``, ``S = B (I + W' Z W)``.

- ``B`` is diagonal (``scale``); for the first entries it may be made of lower triangular blocks
  instead (``factor``).
- ``W`` stands for turns of all blocks together. Read the first entries of ``theta`` as the rows of
  a matrix, whose center is ``rows`` (m, k). A small rotation moves it by ``rows A`` with an
  antisymmetric ``A``. The vector ``a`` lists the entries of ``A`` above the diagonal, and ``W`` is
  defined by ``B W' a = rows A``.
- ``Z`` is the symmetric matrix ``spread`` over such vectors ``a``.

Momenta ``p`` are standard normal.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST


@njit(nogil=True, cache=True, error_model="numpy")
def turn_coordinates(rows, x, out):
    """out = entries above the diagonal of M - M', M = rows' X, X = ``x`` in rows."""
    m, k = rows.shape
    product = np.dot(rows.T, x[: m * k].reshape(m, k))
    p = 0
    for i in range(k):
        for j in range(i + 1, k):
            out[p] = product[i, j] - product[j, i]
            p += 1


@njit(nogil=True, cache=True, error_model="numpy")
def turn_moves(rows, a):
    """The matrix rows A, A antisymmetric with the entries ``a`` above the diagonal."""
    k = rows.shape[1]
    turn = np.zeros((k, k))
    p = 0
    for i in range(k):
        for j in range(i + 1, k):
            turn[i, j] = a[p]
            turn[j, i] = -a[p]
            p += 1
    return np.dot(rows, turn)


# Loops have few arrays and run from their first entries on: compilers turn no others into vector
# instructions.


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def scaled(scale, x, out):
    """out = scale x."""
    for i in range(x.size):
        out[i] = scale[i] * x[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add(x, out):
    """out += x."""
    for i in range(x.size):
        out[i] += x[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def to_parameters(center, scale, factor, rows, spread, u, theta):
    """theta = center + S u."""
    n_blocks, k = factor.shape[:2]
    for b in range(n_blocks):
        for i in range(k):
            s = center[b * k + i]
            for j in range(i + 1):
                s += factor[b, i, j] * u[b * k + j]
            theta[b * k + i] = s
    n = n_blocks * k
    scaled(scale[n:], u[n:], theta[n:])
    add(center[n:], theta[n:])
    if rows.size > 0:
        a = np.empty(spread.shape[0])
        turn_coordinates(rows, u / scale, a)
        moves = turn_moves(rows, np.dot(spread, a)).ravel()
        for i in range(moves.size):
            theta[i] += moves[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def to_whitened(center, scale, factor, rows, inverse, theta, u):
    """u = S^-1 (theta - center); S^-1 = (I + W' ``inverse`` W) B^-1."""
    n_blocks, k = factor.shape[:2]
    for b in range(n_blocks):
        for i in range(k):
            s = theta[b * k + i] - center[b * k + i]
            for j in range(i):
                s -= factor[b, i, j] * u[b * k + j]
            u[b * k + i] = s / factor[b, i, i]
    for i in range(n_blocks * k, u.size):
        u[i] = (theta[i] - center[i]) / scale[i]
    add_turns(scale, rows, inverse, u)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_turns(scale, rows, spread, u):
    """u <- (I + W' spread W) u, for a diagonal B."""
    if rows.size > 0:
        a = np.empty(spread.shape[0])
        turn_coordinates(rows, u / scale, a)
        moves = turn_moves(rows, np.dot(spread, a)).ravel()
        for i in range(moves.size):
            u[i] += moves[i] / scale[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def pull_back(scale, factor, rows, spread, gradient, out):
    """out = S' gradient, the gradient in whitened coordinates."""
    n_blocks, k = factor.shape[:2]
    for b in range(n_blocks):
        for j in range(k):
            s = 0.0
            for i in range(j, k):
                s += factor[b, i, j] * gradient[b * k + i]
            out[b * k + j] = s
    n = n_blocks * k
    scaled(scale[n:], gradient[n:], out[n:])
    if rows.size > 0:
        a = np.empty(spread.shape[0])
        turn_coordinates(rows, gradient, a)
        moves = turn_moves(rows, np.dot(spread, a)).ravel()
        for i in range(moves.size):
            out[i] += moves[i] / scale[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def kick_and_drift(kick, drift, u, p, force):
    """p += kick force, u += drift p."""
    for i in range(u.size):
        p[i] += kick * force[i]
        u[i] += drift * p[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def kick_and_turn(kick, angle, u, p, force):
    """p += kick force, then (u, p) turned by ``angle``: the exact flow of a standard Gaussian."""
    cosine, sine = math.cos(angle), math.sin(angle)
    for i in range(u.size):
        place, momentum = u[i], p[i] + kick * force[i]
        u[i] = cosine * place + sine * momentum
        p[i] = cosine * momentum - sine * place


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def last_kick(kick, force, p):
    """p += kick force; returns the kinetic energy p'p / 2."""
    total = 0.0
    for i in range(p.size):
        momentum = p[i] + kick * force[i]
        p[i] = momentum
        total += momentum * momentum
    return 0.5 * total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def turns(sum_a, sum_b, first_a, last_a, first_b, last_b):
    """Whether the trajectory made of subtrees a and b turns back.

    Takes the summed momenta of each subtree and those of its first and last state. The generalized
    criterion (Betancourt 2017) is checked for the whole trajectory, and for each subtree together
    with the nearest state of the other one, since a turn may end between the two.
    """
    a = b = c = d = e = f = 0.0
    for i in range(sum_a.size):
        whole = sum_a[i] + sum_b[i]
        a += whole * first_a[i]
        b += whole * last_b[i]
        left = sum_a[i] + first_b[i]
        c += left * first_a[i]
        d += left * first_b[i]
        right = sum_b[i] + last_a[i]
        e += right * last_a[i]
        f += right * last_b[i]
    return not (a > 0 and b > 0 and c > 0 and d > 0 and e > 0 and f > 0)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def span_turns(sum_a, sum_b, first, last):
    """Whether a run of states turns back: summed momenta sum_a + sum_b, momenta of its ends."""
    a = b = 0.0
    for i in range(sum_a.size):
        whole = sum_a[i] + sum_b[i]
        a += whole * first[i]
        b += whole * last[i]
    return not (a > 0 and b > 0)

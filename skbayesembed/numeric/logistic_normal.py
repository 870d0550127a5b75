"""Means of softmaxes of normal variables."""

from __future__ import annotations

import functools

import numpy as np
from scipy.linalg import helmert
from scipy.special import ndtri, softmax

# Points that means are taken over, and at most so many numbers at a time.
_POINTS, _CELLS = 1024, 2_000_000


@functools.lru_cache(maxsize=8)
def normal_points(n_dims: int, n: int = _POINTS) -> np.ndarray:
    """Points spread as a standard normal distribution, each with its opposite.

    They are those of a Kronecker sequence, whose steps are the powers of a root of x^(d+1) = x + 1
    and fill the unit cube evenly, stretched to a covariance of one.

    Parameters
    ----------
    n_dims : int
    n : int
        Even.

    Returns
    -------
    ndarray of shape (n, n_dims)
        Not to be written to.
    """
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (n_dims + 1))
    steps = root ** -np.arange(1.0, n_dims + 1)
    half = ndtri((0.5 + steps * np.arange(1, n // 2 + 1)[:, None]) % 1.0)
    half = np.linalg.solve(np.linalg.cholesky(half.T @ half / len(half)), half.T).T
    points = np.concatenate([half, -half])
    points.setflags(write=False)
    return points


@functools.lru_cache(maxsize=8)
def level_points(n: int, n_points: int = _POINTS) -> np.ndarray:
    """`normal_points` of ``n`` logits less their mean, which no softmax sees, (n_points, n)."""
    if n == 1:
        return np.zeros((n_points, 1))
    return normal_points(n - 1, n_points) @ helmert(n)


def mean_softmax(logits: np.ndarray, sd: float | np.ndarray) -> np.ndarray:
    """E softmax(logits + sd z) over the last axis, where z are independent standard normal.

    Parameters
    ----------
    logits : ndarray of shape (..., n)
    sd : float or ndarray
        Broadcast against ``logits[..., 0]``.

    Returns
    -------
    ndarray of shape (..., n)
        With errors of about 1e-4 for two or three logits, 1e-3 for more, at ``sd=1``.
    """
    points = level_points(logits.shape[-1])
    sd = np.asarray(sd, dtype=float)[..., None, None]
    step = max(1, _CELLS // max(logits.size, 1))
    total = np.zeros(logits.shape)
    for start in range(0, len(points), step):
        some = logits[..., None, :] + sd * points[start : start + step]
        total += softmax(some, axis=-1).sum(axis=-2)
    return total / len(points)

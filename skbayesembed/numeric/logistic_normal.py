"""Means of softmaxes of normal variables."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.linalg import helmert
from scipy.special import ndtri

_POINTS = 1024
# Steps and reach of integrals, in standard deviations, and at most so many numbers at a time.
_STEP, _REACH, _CELLS = 0.5, 8.0, 1_000_000


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


def mean_softmax(logits: np.ndarray, sd: float) -> np.ndarray:
    """E softmax(logits + sd z) over the last axis, where z are independent standard normal.

    A softmax says which of the logits is the largest, when each has a Gumbel variable added. Its
    mean is therefore an integral over one variable, the largest value, for any number of logits.

    Parameters
    ----------
    logits : ndarray of shape (..., n)
    sd : float

    Returns
    -------
    ndarray of shape (..., n)
        With errors of about 1e-8.
    """
    logits = np.asarray(logits, dtype=float)
    n = logits.shape[-1]
    of_noise = _log_distribution(float(sd))
    # the largest value, less the largest logit: outside, less than 1e-9 of its distribution
    above = np.arange(of_noise.x[0], of_noise.x[-1] + math.log(n), _STEP)
    below = (logits.max(axis=-1, keepdims=True) - logits).reshape(-1, n)
    out = np.empty(below.shape)
    step = max(1, _CELLS // (len(above) * n))
    for start in range(0, len(below), step):
        some = slice(start, start + step)
        out[some] = _shares(above[:, None] + below[some, None, :], of_noise)
    return out.reshape(logits.shape)


def _shares(noise, of_noise):
    """Shares (rows, n) that are the largest; ``noise`` (rows, values, n) brings them to values."""
    within = np.minimum(noise, of_noise.x[-1])
    log_below, rate = np.moveaxis(of_noise(within), -1, 0)
    # beyond the table densities of a Gumbel variable fall as exp(-x)
    density = rate * np.exp(within - noise + log_below.sum(axis=-1, keepdims=True))
    of_each = density.sum(axis=-2)
    return of_each / of_each.sum(axis=-1, keepdims=True)


def _log_distribution(sd):
    """Log P(noise < x) of a Gumbel variable plus sd z and its derivative, between points."""
    # trapezoids, whose errors fall exponentially with the number of points: 3e-9 here
    z = np.arange(-_REACH, _REACH, min(0.8, _STEP / max(sd, 1e-9)))
    weights = np.exp(-0.5 * z**2)
    weights /= weights.sum()
    start, end = -3.2 - 6.5 * sd, 21.0 + 6.5 * sd + 0.5 * sd**2
    x = np.linspace(start, end, math.ceil((end - start) / (0.1 * max(1.0, sd))) + 1)
    gone = np.exp(sd * z - x[:, None])
    below = np.exp(-gone)
    f0, f1, f2 = below @ weights, (below * gone) @ weights, (below * gone * (gone - 1.0)) @ weights
    rate = f1 / f0
    values = np.stack([np.log(f0), rate], axis=1)
    return CubicHermiteSpline(x, values, np.stack([rate, f2 / f0 - rate**2], axis=1))

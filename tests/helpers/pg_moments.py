"""Mean and variance of the Polya-Gamma distribution in closed form (see `inference.polyagamma`)."""

from __future__ import annotations

import numpy as np

from skbayesembed.inference import pg_kernels as kernels


def pg_mean(h, z):
    """Mean of PG(h, z), h tanh(z / 2) / (2 z).

    Parameters
    ----------
    h, z : array-like
        Shapes and tilts, broadcast against each other.

    Returns
    -------
    mean : ndarray or float64
        Accurate to rounding error for every z, h / 4 at z = 0.
    """
    y = np.maximum(np.abs(np.asarray(z, dtype=np.float64)) / 2, 1e-150)
    return np.asarray(h) * (np.tanh(y) / (4 * y))


def pg_variance(h, z):
    """Variance of PG(h, z), h (sinh z - z) / (4 z^3 cosh^2(z / 2)).

    Parameters
    ----------
    h, z : array-like
        Shapes and tilts, broadcast against each other.

    Returns
    -------
    variance : ndarray or float64
        Accurate to rounding error for every z, h / 24 at z = 0.
    """
    y = np.minimum(np.abs(np.asarray(z, dtype=np.float64)) / 2, 1e100)
    v = y * y
    far = np.maximum(v, kernels.SERIES_BELOW)
    tanh = np.tanh(np.sqrt(far))
    closed = (tanh / np.sqrt(far) - (1 - tanh) * (1 + tanh)) / (2 * far)
    near = np.minimum(v, kernels.SERIES_BELOW)
    series = 2 / (near + kernels.FIRST_POLE) ** 2 - np.polynomial.polynomial.polyval(
        near, kernels.SERIES[1]
    )
    return np.asarray(h) * (np.where(v < kernels.SERIES_BELOW, series, closed) / 8)

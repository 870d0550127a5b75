"""Factors of words of both sides, and tables of their covariances."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# Tables of covariances above this size are float32.
DOUBLE_BYTES = 2**28
# Numbers in a block of unpacked matrices.
_UNPACKED = 2**22


@dataclass
class Factors:
    """The approximation: targets at index 0, contexts at index 1.

    Attributes
    ----------
    mean : list of two ndarray of shape (n_words, D)
    cov : list of two ndarray
        Packed lower triangles (n_words, D (D + 1) / 2), or variances (n_words, D).
    log_det : list of two ndarray of shape (n_words,)
        Log determinants of the covariances.
    shape, rate : ndarray of shape (n_components,)
        Of the Gamma factors of the prior precisions; None where fixed.
    steps : list or None
        What `climb` remembers of its last steps, once components are mapped no more.
    along : ndarray of shape (n_components, n_components) or None
        The gradient of the bound along maps of the components where the last sweep ended; until
        components are mapped no more.
    """

    mean: list
    cov: list
    log_det: list
    shape: np.ndarray | None = None
    rate: np.ndarray | None = None
    tied: bool = False
    n_sweeps: int = 0
    last: float = -np.inf
    trial: tuple | None = field(default=None, repr=False)
    second: np.ndarray | None = field(default=None, repr=False)
    steps: list | None = field(default=None, repr=False)
    along: np.ndarray | None = field(default=None, repr=False)


def packed_diagonal(d):
    """Places of the diagonal in a packed lower triangle."""
    return np.cumsum(np.arange(1, d + 1)) - 1


def factor_bytes(n_words, size, full):
    """Bytes of covariances of both sides and of the table of second moments, batch learning."""
    packed = size * (size + 1) // 2
    number = 4 if 16 * n_words * packed > DOUBLE_BYTES else 8
    return number * n_words * packed * (3 if full else 1)


def unpacked(packed, d):
    """Symmetric matrices of a packed table, in blocks: pairs of first word and (n, d, d)."""
    low = np.tril_indices(d)
    step = max(1, _UNPACKED // (d * d))
    for a in range(0, len(packed), step):
        part = packed[a : a + step]
        out = np.empty((len(part), d, d), packed.dtype)
        out[:, low[0], low[1]] = part
        out[:, low[1], low[0]] = part
        yield a, out

"""What questions are about: weighted sums of vectors, or of unit vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...metrics.words import unit_vectors

# Numbers that are worked on at a time: 80 MB.
CELLS = 10_000_000


@dataclass(frozen=True, eq=False)
class Operands:
    """Weighted sums of vectors.

    Rows of vectors are called places: words, or words in periods.

    Attributes
    ----------
    weights : csr_array of shape (n, n_places)
    side : ndarray of int of shape (n,)
        0 for sums of targets, 1 of contexts.
    unit : ndarray of bool of shape (n,)
        Whether the vectors are scaled to unit length before they are added up.
    """

    weights: sparse.csr_array
    side: np.ndarray
    unit: np.ndarray

    def __len__(self):
        return self.side.size

    def groups(self, most):
        """Sums of one kind and some of the places they take, in blocks.

        Yields
        ------
        rows : ndarray of int
        side : int
        unit : bool
        places : ndarray of int of shape (at most ``most``,)
        weights : csc_array of shape (len(rows), len(places))
        """
        for side in (0, 1):
            for unit in (False, True):
                rows = np.flatnonzero((self.side == side) & (self.unit == unit))
                part = sparse.csc_array(self.weights[rows])
                places = np.flatnonzero(np.diff(part.indptr))
                for start in range(0, places.size, most):
                    some = places[start : start + most]
                    yield rows, side, unit, some, part[:, some]


def of_places(places, n_places, side=0, *, unit=True):
    """`Operands` that are one vector each, at some places; ndarray of int of shape (n,)."""
    places = np.ravel(places)
    n = places.size
    weights = sparse.csr_array((np.ones(n), places, np.arange(n + 1)), shape=(n, n_places))
    return Operands(weights, np.full(n, side), np.full(n, unit))


def together(*parts):
    """`Operands` one after the other."""
    return Operands(
        sparse.csr_array(sparse.vstack([part.weights for part in parts])),
        np.concatenate([part.side for part in parts]),
        np.concatenate([part.unit for part in parts]),
    )


def values(operands, read, shape, each=1):
    """Sums (*shape, n, K) of the vectors ``read(side, places)``, (*shape, len(places), K).

    ``each`` is how many numbers are read for one of the K.
    """
    *ahead, k = shape
    out = np.zeros((*ahead, len(operands), k))
    most = max(1, CELLS // (int(np.prod(ahead)) * k * each))
    for rows, side, unit, places, weights in operands.groups(most):
        x = read(side, places)
        out[..., rows, :] += summed(weights, unit_vectors(x) if unit else x)
    return out


def values_at(operands, vectors):
    """Sums (n, K) of vectors (2, n_places, K)."""
    return values(operands, lambda side, places: vectors[side][places], vectors.shape[-1:])


def summed(weights, x):
    """Sums (..., n, K) of vectors (..., n_places, K), with sparse weights (n, n_places)."""
    first = np.moveaxis(x, -2, 0)
    found = weights @ first.reshape(len(first), -1)
    return np.moveaxis(found.reshape(len(found), *first.shape[1:]), 0, -2)


def turned(x, moved):
    """How the unit vectors of ``x`` (n, K) move when these do by ``moved`` (..., n, K)."""
    unit = unit_vectors(x)
    across = moved - unit * np.sum(unit * moved, axis=-1, keepdims=True)
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.divide(across, length, out=np.zeros_like(across), where=length > 0)

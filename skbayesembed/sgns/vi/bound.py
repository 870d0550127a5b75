"""The pairs' part of the bound for diagonal covariances, and what its gradient is made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inference.blocks import over
from ..data import joined
from .bound_kernels import bound_products


class Words(NamedTuple):
    """Factors of words of one side: arrays of float32 of shape (n_words, n_components)."""

    mean: np.ndarray
    variance: np.ndarray

    def part(self, words):
        """Those of some words."""
        return Words(self.mean[words], self.variance[words])

    def squares(self):
        """Variances and mean squares, (n_words, 2 n_components)."""
        return np.hstack([self.variance, self.mean**2 + self.variance])


class PairBound:
    """Of all pairs, as they are.

    Parameters
    ----------
    residuals : Residuals
        Of the pairs, whose table is used.
    run : callable
        Maps a function over blocks of rows.
    """

    def __init__(self, residuals, run):
        self._held, self._run = residuals.products.held, run

    def gather(self, x, y):
        """Nothing is approximated here."""

    def correct(self, x, y):
        """Nothing is approximated here."""

    def sums(self, x, y):
        """The bound, and sums over the pairs of each word of either side.

        Parameters
        ----------
        x, y : Words
            All targets, and all contexts.

        Returns
        -------
        bound : float
        of_targets, of_contexts : ndarray of float32 of shape (n_words, 3 n_components)
            Sums of ``(kappa - omega t)`` times means of the other side, and of ``omega`` times its
            variances and times its mean squares; see `bound_kernels`.
        """
        return pair_sums(self._run, all_pairs, self._held, x, y)


def pair_sums(run, function, held, rows, columns):
    """As of `PairBound.sums`, for the words in rows and in columns of a table in blocks.

    Parameters
    ----------
    run : callable
        Maps a function over blocks of rows.
    function : callable
        What goes through a block.
    held : Held
    rows, columns : Words
    """
    shared = rows.mean, rows.squares(), columns.mean, columns.squares()
    found = over(run, function, held, shared)
    of_rows, of_columns = (
        np.empty((len(side.mean), 3 * side.mean.shape[1]), np.float32) for side in (rows, columns)
    )
    return float(joined(found, of_rows, of_columns, run).sum()), of_rows, of_columns


def through(kernel, block, x, x_square, y, y_square):
    """Sums of a block's rows, its part of those of columns, and of the bound, by a kernel."""
    a, b, table = block
    of_rows, of_columns = (
        tuple(np.empty((n, part.shape[1]), x.dtype) for part in (x, x_square))
        for n in (b - a, len(y))
    )
    value = kernel(table, x[a:b], x_square[a:b], y, y_square, of_rows, of_columns)
    return np.hstack(of_rows), np.hstack(of_columns), value


def all_pairs(block, *shared):
    """`through` `bound_products`."""
    return through(bound_products, block, *shared)

"""Least squares on columns known by draws: slopes and the two parts of their covariance."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .regression import ClusteredLeastSquares, residuals


class NoisyLeastSquares:
    """Slopes on mean features and covariates, and the parts of their covariance.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n, k)
        Of features.
    known : ndarray of shape (n, p)
        Covariates.
    y : ndarray of shape (n,)
    index : ndarray of int of shape (n,)
        Unit of each row.
    classical : bool
        Whether draws are estimates, with slopes to be corrected, or posterior.

    Attributes
    ----------
    matrix : ndarray of shape (n, k + p)
        Mean features and covariates.
    seen, wrong : ndarray of shape (k, k)
        Squares and products of mean features beside the covariates, and of their errors.
    reliabilities : pair of ndarray of shape (k,)
        Of features by themselves, and beside the others.
    least : ClusteredLeastSquares
    """

    def __init__(self, draws, known, y, index, classical):
        mean = draws.mean(axis=0)
        self.matrix = np.column_stack([mean, known])
        self.least = ClusteredLeastSquares(self.matrix, index)
        self._errors, self._y, self._classical = draws - mean, y, classical
        self._k = mean.shape[1]
        basis = np.linalg.qr(known)[0]
        x = residuals(basis, mean)
        beside = residuals(basis, self._errors)
        self._beside = beside * np.sqrt(len(draws) / (len(draws) - 1))
        self.seen = x.T @ x
        self.wrong = np.einsum("snj,snk->jk", self._beside, self._beside) / len(draws)
        self.reliabilities = _reliabilities(self.seen, self.wrong, classical)

    @cached_property
    def _back(self):
        """From products with the orthonormal basis to slopes, (k + p, k + p).

        With it, columns on very different scales do no harm, and their units do not matter.
        """
        root = self.least.root
        if not self._classical:
            return root
        top = root[: self._k]
        return root @ np.linalg.inv(np.eye(len(root)) - top.T @ self.wrong @ top)

    @cached_property
    def slopes(self):
        """Slopes (k + p,), corrected for classical error."""
        return self._back @ (self.least.basis.T @ self._y)

    def most_wrong(self):
        """The largest share of error in a combination of features, and its main feature."""
        root = np.linalg.cholesky(self.seen)
        inner = np.linalg.solve(root, np.linalg.solve(root, self.wrong).T)
        values, basis = np.linalg.eigh(inner)
        loads = np.abs(np.linalg.solve(root.T, basis[:, -1])) * np.sqrt(np.diag(self.seen))
        return values[-1], int(np.argmax(loads))

    def by_units(self):
        """Covariance of the slopes over samples of units, errors of features held."""
        left = self._y - self.matrix @ self.slopes
        influence = self.least.influence(left[:, None])[..., 0]
        if self._classical:
            # from the curvature of least squares to that without the error of features
            root = self.least.root
            influence = np.linalg.solve(root, influence.T).T @ self._back.T
            along = self._beside @ self.slopes[: self._k]
            back = np.einsum("snk,sn->nk", self._beside, along) / len(self._errors)
            influence += self.least.sums(back) @ root[: self._k] @ self._back.T
        return influence.T @ influence

    def by_features(self):
        """Covariance of the slopes over errors that units share: those of each its residuals have.

        Errors of one document or unit are in what `by_units` sees. They are taken off.
        """
        along = self._errors @ self.slopes[: self._k]
        total = np.stack([self.least.sums((along * x).T) for x in self.least.basis.T], axis=2)
        if self._classical:
            # errors of the mean features are in their squares besides; their variance is twice
            # that of the product with another draw, which the line above has
            along = (self._beside @ self.slopes[: self._k]) / 2**0.5
            for j, row in enumerate(self.least.root[: self._k]):
                total += self.least.sums((along * self._beside[:, :, j]).T)[..., None] * row
        total -= total.mean(axis=1, keepdims=True)
        flat = total.reshape(-1, total.shape[2])
        own = flat.T @ flat / (total.shape[1] - 1)
        total = total.sum(axis=0)
        values, basis = np.linalg.eigh(np.cov(total.T) - own)
        half = self._back @ (basis * np.sqrt(np.maximum(values, 0.0)))
        return half @ half.T


def _reliabilities(seen, wrong, classical):
    """Shares of features that are not error: by themselves, and beside the other features."""
    inverse = np.linalg.inv(seen)
    # of mean features, and of what is left of each after its regression on the others
    ratios = (
        np.diag(wrong) / np.diag(seen),
        np.diag(inverse @ wrong @ inverse) / np.diag(inverse),
    )
    # posterior means are a part of the truth, estimates are the truth and an error
    return tuple(1.0 - ratio if classical else 1.0 / (1.0 + ratio) for ratio in ratios)

"""Rotations that leave a posterior as it is: the null directions of the Hessian at its mode.

Without anchors the density is constant along the orbit of rotations through the mode (of all
components, or of those that the prior does not tell apart). Nothing is to be said of the directions
along it; the Gaussian lives at right angles.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .hessian import free_entries


class Orbit:
    """Tangents of the orbit that rotations of some components send vectors through.

    They are ``(rho A, alpha A)`` for skew-symmetric A. Where A turns the components given into each
    other, the tangents' Gram matrix is diagonal in the eigenbasis of ``M = rho'rho + alpha'alpha``:
    ``m_i + m_j``; pairs of components that are both zero have no tangent. The few others are made
    orthonormal one by one.

    Parameters
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
    components : ndarray of int
        Those that may be rotated into each other.
    others : ndarray of shape (n, n_components, n_components)
        More skew-symmetric matrices A.
    """

    def __init__(self, vectors, components, others):
        self.vectors = vectors
        self.components = components
        x = vectors[:, :, components]
        values, self.basis = np.linalg.eigh(np.einsum("swi,swj->ij", x, x))
        values = np.maximum(values, 0.0)
        self.x = x @ self.basis
        sums = values[:, None] + values
        present = sums > 1e-10 * values.max(initial=0.0)
        np.fill_diagonal(present, False)
        self.inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=present)
        self.others = self._orthonormal(others)

    def _orthonormal(self, others):
        """Matrices A whose tangents are orthonormal, and so to those within the components."""
        c = self.components
        moments = np.einsum("swi,swj->ij", self.vectors, self.vectors)
        others = others.copy()
        others[:, c[:, None], c] -= self._within((moments @ others)[:, c[:, None], c])
        gram = np.einsum("aij,ik,bkj->ab", others, moments, others)
        values, basis = np.linalg.eigh(gram)
        kept = values > 1e-10 * values.max(initial=0.0)
        return np.tensordot((basis[:, kept] / np.sqrt(values[kept])).T, others, axes=1)

    def _within(self, moment):
        """Matrix A of the projection, from the components' part of ``x' d``."""
        moment = self.basis.T @ moment @ self.basis
        skew = (moment - np.swapaxes(moment, -1, -2)) * self.inverse
        return self.basis @ skew @ self.basis.T

    @property
    def dimension(self):
        """Number of independent tangents."""
        return np.count_nonzero(self.inverse) // 2 + len(self.others)

    def project(self, draws):
        """``draws`` (..., 2, n_words, K) without their part along the tangents, in place."""
        moment = np.sum(np.swapaxes(self.vectors, -1, -2) @ draws, axis=-3)
        skew = np.tensordot(
            np.tensordot(moment, self.others, axes=((-2, -1), (1, 2))), self.others, axes=1
        )
        c = self.components
        skew[..., c[:, None], c] += self._within(moment[..., c[:, None], c])
        draws -= self.vectors @ skew[..., None, :, :]
        return draws

    def tangents(self):
        """Orthonormal tangents, (dimension, 2, n_words, n_components)."""
        i, j = np.nonzero(np.triu(self.inverse))
        within = np.zeros((i.size, *self.x.shape))
        d, root = np.arange(i.size), np.sqrt(self.inverse[i, j])[:, None, None]
        columns = np.moveaxis(self.x, -1, 0)
        within[d, :, :, j] = columns[i] * root
        within[d, :, :, i] = -columns[j] * root
        out = np.zeros((i.size, *self.vectors.shape))
        out[..., self.components] = within @ self.basis.T
        return np.concatenate([out, self.vectors @ self.others[:, None]])

    def noise(self, rng):
        """A standard normal combination of orthonormal tangents, (2, n_words, n_components)."""
        z = np.triu(rng.standard_normal(self.inverse.shape) * np.sqrt(self.inverse), 1)
        out = self.vectors @ np.tensordot(rng.standard_normal(len(self.others)), self.others, 1)
        out[..., self.components] += self.x @ (z - z.T) @ self.basis.T
        return out

    def blocks(self):
        """Sum over orthonormal tangents of their outer products by word, (2, n_words, K, K)."""
        x, c = self.x, self.components
        within = -x[..., :, None] * x[..., None, :] * self.inverse
        diagonal = np.arange(c.size)
        within[..., diagonal, diagonal] = np.square(x) @ self.inverse
        n_words, k = self.vectors.shape[1:]
        out = np.zeros((2, n_words, k, k))
        out[:, :, c[:, None], c] = self.basis @ within @ self.basis.T
        for matrix in self.others:
            t = self.vectors @ matrix
            out += t[..., :, None] * t[..., None, :]
        return out


def hidden_rotations(prior, vectors):
    """Rotations beyond the free components that a prior's held entries do not feel at the mode.

    To first order in a skew-symmetric A, minus the Hessian times the tangent ``x A`` is
    ``(h - e x) A + e (x A)`` in the held entries, with precisions e and linear terms h.

    Parameters
    ----------
    prior : Prior
    vectors : ndarray of shape (2, n_words, n_components)

    Returns
    -------
    matrices : ndarray of shape (n, n_components, n_components)
    """
    k = prior.n_components
    told = np.ones(k, bool)
    told[prior.free_components] = False
    i, j = np.nonzero(np.triu(told[:, None] | told, 1))
    if i.size == 0:
        return np.zeros((0, k, k))
    basis = np.zeros((i.size, k, k))
    basis[np.arange(i.size), i, j] = 1.0
    basis[np.arange(i.size), j, i] = -1.0
    images = []
    for x, held in zip(vectors, prior.held, strict=True):
        if held is not None:
            words = np.flatnonzero(np.any((held[0] != 0) | (held[1] != 0), axis=1))
            e, h, x = held[0][words], held[1][words], x[words]
            images.append(((h - e * x) @ basis + e * (x @ basis)).reshape(i.size, -1))
    left, values, _ = np.linalg.svd(np.hstack(images))
    rank = int(np.sum(values > 1e-5 * values.max(initial=0.0)))
    return np.tensordot(left[:, rank:].T, basis, axes=1)


def _pivots(alpha):
    """Contexts that span the rows of ``alpha``, which is at a mode reached to many digits."""
    if alpha.size == 0:
        return np.zeros(0, dtype=int)
    values = linalg.svdvals(alpha)
    rank = int(np.sum(values > max(1e-4 * values[0], 1e-5 * np.sqrt(len(alpha)))))
    return linalg.qr(alpha.T, mode="r", pivoting=True)[1][:rank]


def canonical_frame(model, vectors):
    """Vectors turned to be lower triangular in pivot contexts, and a slice across their orbit.

    Parameters
    ----------
    model : SGNSModel
        Without anchors.
    vectors : ndarray of shape (2, n_words, n_components)
        The mode.

    Returns
    -------
    vectors : ndarray of shape (2, n_words, n_components)
    free : ndarray of bool of that shape
        All entries but as many as the orbit has dimensions, in which no tangent vanishes.
    orbit : Orbit
    rank : int
        Of the contexts in the components that the prior does not tell apart.
    """
    components = model.prior.free_components
    pivots = _pivots(vectors[1][:, components])
    rank = pivots.size
    vectors = vectors.copy()
    if rank:
        rotation, triangle = np.linalg.qr(vectors[1][np.ix_(pivots, components)].T, "complete")
        rotation[:, :rank] *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
        vectors[:, :, components] = vectors[:, :, components] @ rotation
    # what Newton's method leaves of components that the mode does not have
    vectors[:, :, components[rank:]] = 0.0
    free = free_entries(model)
    for i, pivot in enumerate(pivots):
        free[1, pivot, components[i + 1 :]] = False
        vectors[1, pivot, components[i + 1 :]] = 0.0
    orbit = Orbit(vectors, components, hidden_rotations(model.prior, vectors))
    if len(orbit.others):
        _hold_hidden(orbit, vectors[1], pivots, free[1])
    return vectors, free, orbit, rank


def _hold_hidden(orbit, alpha, pivots, free):
    """Hold as many more entries of contexts as there are rotations beyond the components'."""
    c = orbit.components
    matrices = orbit.others.copy()
    # add rotations of the components so that the tangents vanish in the entries held already
    images = (alpha[pivots] @ matrices)[:, :, c]
    lower = alpha[np.ix_(pivots, c)]
    skew = np.zeros((len(matrices), c.size, c.size))
    for i in range(pivots.size):
        rest = images[:, i, i + 1 :] - np.einsum("k,akj->aj", lower[i, :i], skew[:, :i, i + 1 :])
        skew[:, i, i + 1 :] = rest / lower[i, i]
        skew[:, i + 1 :, i] = -skew[:, i, i + 1 :]
    matrices[:, c[:, None], c] -= skew
    words = _pivots(alpha)
    images = (alpha[words] @ matrices) * free[words]
    order = linalg.qr(images.reshape(len(matrices), -1), mode="r", pivoting=True)[1]
    places = np.unravel_index(order[: len(matrices)], images.shape[1:])
    free[words[places[0]], places[1]] = False

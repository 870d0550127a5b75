r"""Balanced vectors: the scaling of both sides that the likelihood leaves to the prior, made equal.

The likelihood knows ``rho alpha'`` alone. Every invertible map M of the components, ``rho M`` and
``alpha M^-T``, leaves it as it is, so lengths and angles among targets are the prior's matter along
M. Of all such pairs the balanced ones have ``rho' rho = alpha' alpha``: with the singular value
decomposition ``rho alpha' = U S V'`` they are ``U S^(1/2)`` and ``V S^(1/2)``, up to a rotation. At
a mode under one precision for both sides vectors are balanced already.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..inference.threads import OneBlasThread

# Moments of a component below this share of the largest one's are rounding.
_LEAST = 1e-12
# Moments that are as good as zero.
_ZERO = 1e-30


def balancing(vectors, reference=None):
    """Maps M of the components with which ``rho M`` and ``alpha M^-T`` are balanced.

    Parameters
    ----------
    vectors : pair of ndarray of shape (..., n_words, n_components)
        ``rho`` and ``alpha``.
    reference : pair of ndarray of shape (n_words, n_components), optional
        The rotation is the one that brings both sides nearest to these; by default to where they
        were.

    Returns
    -------
    targets, contexts : ndarray of shape (..., n_components, n_components)
        M and ``M^-T``.

    Notes
    -----
    With the moments ``G = rho' rho`` and ``F = alpha' alpha``, ``M M'`` is the geometric mean of
    ``G^-1`` and ``F``. All work on words is in four matrix products.
    """
    rho, alpha = (np.asarray(x, dtype=np.float64) for x in vectors)
    g, f = rho.mT @ rho, alpha.mT @ alpha
    (root, inverse), k = _roots(g), g.shape[-1]
    middle, _ = _roots(root @ f @ root, root @ root)
    square = inverse @ middle @ inverse
    m, n = _roots(square)
    if reference is None:
        toward = m @ g + n @ f
    else:
        toward = m @ (rho.mT @ reference[0]) + n @ (alpha.mT @ reference[1])
    left, _, right = np.linalg.svd(toward + _LEAST * np.eye(k))
    rotation = left @ right
    return m @ rotation, n @ rotation


def _roots(matrix, instead=None):
    """Symmetric roots of positive semi-definite matrices (..., K, K), and their inverses.

    Where a matrix is null its root is ``instead``, the identity by default: components that a side
    has next to nothing of stay as they are.
    """
    values, basis = np.linalg.eigh(matrix)
    top = np.maximum(values[..., -1:], _ZERO)
    if instead is None:
        null = np.ones_like(values)
    else:
        null = np.einsum("...jk,...jl,...lk->...k", basis, instead, basis)
        null = np.where(null > _ZERO, null, 1.0)
    values = np.where(values > _LEAST * top, np.sqrt(np.maximum(values, 0.0)), null)
    return (basis * values[..., None, :]) @ basis.mT, (basis / values[..., None, :]) @ basis.mT


@OneBlasThread()
def balanced(vectors, reference=None):
    """Balanced vectors, (2, ..., n_words, n_components), of ``rho`` and ``alpha``."""
    maps = balancing(vectors, reference)
    return np.stack([x @ m for x, m in zip(vectors, maps, strict=True)])


@OneBlasThread()
def in_principal_axes(vectors):
    """Vectors (2, n_words, n_components) turned so that components are uncorrelated and descend.

    Of the two signs of a component, that in which its largest entry of ``rho`` is positive.
    """
    _, basis = np.linalg.eigh(sum(x.T @ x for x in vectors))
    turned = vectors @ basis[:, ::-1]
    largest = np.argmax(np.abs(turned[0]), axis=0)
    return turned * np.where(turned[0, largest, np.arange(largest.size)] < 0, -1.0, 1.0)


def nearest_rotation(vectors, reference):
    """The rotation (K, K) that brings both sides together nearest to the reference."""
    moments = sum(x.T @ y for x, y in zip(vectors, reference, strict=True))
    left, _, right = np.linalg.svd(moments)
    return left @ right


def along(vectors, shifts):
    """Change of balanced vectors along shifts of vectors that are balanced, in place.

    Parameters
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
        Balanced.
    shifts : ndarray of shape (m, 2, n_words, n_components)
        Made to be the derivatives of the balanced vectors, turned as near to ``vectors`` as they
        go.

    Notes
    -----
    With ``G = rho' rho = alpha' alpha``, a symmetric S and a skew-symmetric A, they are
    ``drho + rho (S + A)`` and ``dalpha - alpha (S - A)``: ``2 (S G + G S) = dF - dG`` keeps both
    moments equal and ``2 (A G + G A) = X' - X`` with ``X = rho' drho + alpha' dalpha`` turns back.
    """
    basis, inverse = _halved_sums(vectors)
    for shift in shifts:
        x, y = (basis.T @ (v.T @ d) @ basis for v, d in zip(vectors, shift, strict=True))
        stretch = basis @ ((y + y.T - x - x.T) * inverse) @ basis.T
        turn = basis @ (((x + y).T - (x + y)) * inverse) @ basis.T
        shift[0] += vectors[0] @ (turn + stretch)
        shift[1] += vectors[1] @ (turn - stretch)


def along_transposed(vectors, gradients):
    """The transpose of `along`: gradients by balanced vectors become those by what is balanced.

    Parameters
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
        Balanced.
    gradients : ndarray of shape (m, 2, n_words, n_components)
        Changed in place.
    """
    basis, inverse = _halved_sums(vectors)
    for gradient in gradients:
        p, q = (basis.T @ (v.T @ g) @ basis for v, g in zip(vectors, gradient, strict=True))
        turn = ((p + q).T - (p + q)) * inverse
        stretch = ((p - q) + (p - q).T) * inverse
        gradient[0] += vectors[0] @ (basis @ (turn - stretch) @ basis.T)
        gradient[1] += vectors[1] @ (basis @ (turn + stretch) @ basis.T)


def _halved_sums(vectors):
    """Eigenvectors of the moments of balanced vectors, and a half over sums of two eigenvalues."""
    values, basis = np.linalg.eigh(vectors[0].T @ vectors[0])
    values = np.maximum(values, 0.0)
    sums = values[:, None] + values
    present = sums > 1e-10 * values[-1]
    return basis, np.divide(0.5, sums, out=np.zeros_like(sums), where=present)


class BalancedDraws:
    """Recorded draws of vectors, balanced and turned to one frame when they are read.

    Parameters
    ----------
    posterior : Posterior
        With ``rho`` and ``alpha``.
    reference : ndarray of shape (2, n_words, n_components)
        Balanced vectors of the frame.
    """

    # Bytes of draws that are worked on at a time.
    _CHUNK = 2**26
    # Attributes with something for each draw, which a copy with fewer draws works out anew.
    OF_DRAWS = ("maps",)

    def __init__(self, posterior, reference):
        self._posterior, self._reference = posterior, reference

    def __len__(self):
        return self._posterior.n_chains * self._posterior.n_draws

    def chunks(self):
        """Slices of draws that are to be worked on together."""
        step = max(1, self._CHUNK // (8 * self._reference[0].size))
        return [slice(a, a + step) for a in range(0, len(self), step)]

    @cached_property
    @OneBlasThread()
    def maps(self):
        """Maps of ``rho`` and of ``alpha``, each (n_draws, n_components, n_components)."""
        flat = [self._posterior.flat(name) for name in ("rho", "alpha")]
        parts = [balancing([x[c] for x in flat], self._reference) for c in self.chunks()]
        return {
            name: np.concatenate([part[side] for part in parts])
            for side, name in enumerate(("rho", "alpha"))
        }

    @OneBlasThread()
    def of(self, name, index):
        """Draws of some words, (n_draws, len(index), n_components)."""
        return self._posterior.flat(name)[:, index] @ self.maps[name]

    def __iter__(self):
        """Draws of all target vectors, one (n_words, n_components) after the other."""
        for draw, m in zip(self._posterior.flat("rho"), self.maps["rho"], strict=True):
            yield draw @ m

"""The skip-gram posterior: log density, gradient and the frame of draws.

log p = sum_wv n+_wv log sigma(rho_w . alpha_v) + n-_wv log sigma(-rho_w . alpha_v)
        + log prior(rho, alpha)            (Yrjänäinen et al. 2025, eqs. 5, 6; priors in `priors`)

Targets are side 0 (``rho``), contexts side 1 (``alpha``); arrays are (n_words, n_components). The
flat parameters are the entries of ``rho`` in C order, then those of ``alpha`` without the anchors.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..inference.blocks import over
from ..inference.threads import serial
from .data import ProductPairs, joined, row_blocks
from .density_kernels import gradient_dense, gradient_sparse
from .expected_kernels import gradient_expected
from .priors import as_prior
from .residuals import Residuals
from .surface import SGNSSurface

# Coordinates of target vectors that are traced.
_COORDINATES = 50
# Rows of logits at a time: fewer make slow products (at 4,000 words 820 ms a gradient with 16 rows,
# 410 ms with 128).
_GRADIENT_ROWS = 128


class SGNSModel:
    """Posterior of target vectors ``rho`` and context vectors ``alpha``, both (n_words, K).

    Parameters
    ----------
    pairs : DensePairs, ProductPairs or SparsePairs
    n_components : int
    prior : Prior or float
        A number is the precision of every entry of both arrays.
    anchors : ndarray of int of shape (n_components,), optional
        Contexts held fixed.
    anchor_values : ndarray of shape (n_components, n_components), optional
        Their vectors.
    """

    def __init__(self, pairs, n_components, prior, anchors=None, anchor_values=None):
        self.pairs = pairs
        self.n_components = n_components
        self.prior = as_prior(prior, pairs.n_words, n_components)
        self.anchors = anchors
        self.anchor_values = anchor_values
        self.movable = [np.ones(pairs.n_words, bool), np.ones(pairs.n_words, bool)]
        if anchors is not None:
            self.movable[1][anchors] = False
        self._free = slice(None) if anchors is None else np.flatnonzero(self.movable[1])
        self.blocks = pairs.blocks(n_components)
        if isinstance(pairs, ProductPairs):
            self._held = pairs.held(0, row_blocks(pairs))

    @property
    def n_words(self):
        return self.pairs.n_words

    @property
    def n_parameters(self):
        return self.n_components * int(self.movable[0].sum() + self.movable[1].sum())

    @property
    def scale(self):
        """Rough posterior standard deviations of the flat parameters.

        Words are seen from a few to many thousand times; on the Python reference, scaling by this
        cuts the iterations that L-BFGS takes from 2,800 to 350.
        """
        rows = [
            self.prior.diagonal(side) + self.pairs.observations(side)[:, None] / 16
            for side in (0, 1)
        ]
        return self.pack(dict(zip(("rho", "alpha"), rows, strict=True))) ** -0.5

    def anchored(self, anchors, values):
        """The same posterior given the context vectors ``anchors``."""
        return SGNSModel(self.pairs, self.n_components, self.prior, anchors, values)

    def pack(self, arrays):
        """Free parameters of ``{"rho", "alpha"}`` as one flat vector."""
        return np.concatenate([arrays["rho"].ravel(), arrays["alpha"][self._free].ravel()])

    def unpack(self, theta):
        """``{"rho", "alpha"}``, anchored contexts included, from the flat vector."""
        size = self.n_words * self.n_components
        rho = theta[:size].reshape(self.n_words, self.n_components)
        alpha = np.empty_like(rho)
        alpha[self._free] = theta[size:].reshape(-1, self.n_components)
        if self.anchors is not None:
            alpha[self.anchors] = self.anchor_values
        return {"rho": rho, "alpha": alpha}

    def logp_and_grad(self, theta, out, tau=None, run=serial):
        """Log posterior density up to a constant; its gradient into ``out``.

        ``tau`` (n_components,) replaces the prior's own; what depends on it alone is left out.
        ``run`` maps a function over blocks of rows, where there are any.
        """
        rho, alpha = self.unpack(theta).values()
        size = rho.size
        grad_rho, grad_alpha = out[:size].reshape(rho.shape), np.zeros_like(alpha)
        pairs = self.pairs
        if isinstance(pairs, ProductPairs):
            found = over(run, _gradient_part, self._held, (rho, alpha))
            logp = float(joined(found, grad_rho, grad_alpha, run).sum())
        elif pairs.dense:
            rows = max(pairs.chunk, _GRADIENT_ROWS)
            logp = gradient_dense(
                rho, alpha, pairs.n[0], pairs.kappa[0], rows, grad_rho, grad_alpha
            )
        else:
            logp = gradient_sparse(
                0, self.n_words, pairs.indptr[0], pairs.indices[0],
                rho, alpha, pairs.n[0], pairs.kappa[0], grad_rho, grad_alpha,
            )  # fmt: skip
        for side, (x, grad) in enumerate(((rho, grad_rho), (alpha, grad_alpha))):
            logp += self.prior.add_gradient(side, x, grad, tau)
        out[size:] = grad_alpha[self._free].ravel()
        return logp

    @property
    def approximated(self):
        """What a search took for something else on its way, named as in `contracts.ATTRS`."""
        return {}

    def surface(self, theta, dtype, run):
        """The density around flat parameters, in single or double precision: `SGNSSurface`."""
        return SGNSSurface(self, theta, dtype, run, Residuals(self.pairs, run))

    def residuals(self, run):
        """`Residuals` of the pairs, as the search in single precision has them."""
        return Residuals(self.pairs, run)

    def in_frame(self, pivots, alpha, *vectors):
        """Arrays of vectors as they are with anchors; turned to the pivots' frame without.

        Only components that the prior does not tell apart are turned.

        Parameters
        ----------
        pivots : ndarray of int of shape (n_components,)
            Contexts whose vectors become lower triangular with a positive diagonal.
        alpha : ndarray of shape (n_words, n_components)
        *vectors : ndarray of shape (n, n_components)
        """
        free = self.prior.free_components
        if self.anchors is not None or free.size == 0:
            return vectors
        if free.size == self.n_components:
            rotation = canonical_rotation(alpha[pivots])
        else:
            rotation = np.eye(self.n_components)
            part = canonical_rotation(alpha[np.ix_(pivots[: free.size], free)])
            rotation[np.ix_(free, free)] = part
        return tuple(v @ rotation for v in vectors)

    @property
    def spread(self):
        """Standard deviation of a random start, at which logits are of order one at most."""
        return min(float(self.prior.tau.max()) ** -0.5, self.n_components**-0.25)

    def start(self, rng):
        """A random start whose logits are of order one at most: dict of arrays."""
        shape = (self.n_words, self.n_components)
        arrays = {name: self.spread * rng.standard_normal(shape) for name in ("rho", "alpha")}
        if self.anchors is not None:
            arrays["alpha"][self.anchors] = self.anchor_values
        return arrays

    def start_near(self, center, rng):
        """A random start around the vectors ``center``, or anywhere if None: dict of arrays.

        It is at most half as far from ``center`` as `start` is from zero, and nearer for words with
        many observations, whose posterior is narrow.
        """
        arrays = self.start(rng)
        if center is None:
            return arrays
        shrink = self.unpack(np.minimum(0.5, 2.0 * self.scale / self.spread))
        for name in arrays:
            arrays[name] = center[name] + shrink[name] * arrays[name]
        if self.anchors is not None:
            arrays["alpha"][self.anchors] = self.anchor_values
        return arrays

    def observed(self, pivots, rho, alpha, tau):
        """What chains record of a draw: dict of arrays, vectors as `in_frame` has them.

        ``tau``, of one or more numbers, is recorded where the prior learns it.
        """
        rho, alpha = self.in_frame(pivots, alpha, rho, alpha)
        values = {"rho": rho, "alpha": self._with_zeros_of_frame(pivots, alpha)}
        if self.prior.learned is not None:
            values["prior_precision"] = self.prior.reported(tau)
        return values

    def _with_zeros_of_frame(self, pivots, alpha):
        """Contexts in the pivots' frame, exactly zero where the frame says so, not up to rounding.

        R-hat would be that of rounding errors.
        """
        free = self.prior.free_components
        if self.anchors is None:
            for i, pivot in enumerate(pivots[: free.size]):
                alpha[pivot, free[i + 1 :]] = 0.0
        return alpha

    def traces(self, pivots, monitored, rho, alpha):
        """What chains record of every draw, to see whether they mix.

        Returns
        -------
        dict
            ``logit`` of the ``monitored`` pairs (target, context), and ``coordinate``: one
            component of the targets of the first of them, in the frame of ``pivots``.
        """
        logit = np.einsum("ij,ij->i", rho[monitored[:, 0]], alpha[monitored[:, 1]])
        targets = monitored[:_COORDINATES, 0]
        places = np.arange(len(targets))
        (seen,) = self.in_frame(pivots, alpha, rho[targets])
        return {"logit": logit, "coordinate": seen[places, places % rho.shape[1]]}


def _gradient_part(block, x, y):
    """Of rows of a table, and their part of columns; the log likelihood."""
    a, b, table = block
    gx, gy = np.empty((b - a, x.shape[1])), np.empty_like(y)
    return gx, gy, gradient_expected(0, b - a, table, x[a:b], y, gx, gy)


def numerical_rank(alpha, rtol=1e-2):
    """Number of singular values of ``alpha`` above ``rtol`` times the largest.

    Zero where ``alpha`` is so small that the logits it makes are below 1e-6. The components that
    the prior sets to zero come out of the search for the mode at 1e-3 of the others or less.
    """
    values = linalg.svdvals(alpha)
    if values[0] < 1e-3 * np.sqrt(len(alpha)):
        return 0
    return int(np.sum(values > rtol * values[0]))


def pivot_contexts(alpha, weight):
    """K contexts whose vectors span the space best, by column-pivoted QR of ``alpha'``.

    Parameters
    ----------
    alpha : ndarray of shape (n_words, n_components)
        Context vectors; where they have rank r below K, only r contexts come from them.
    weight : ndarray of shape (n_words,)
        Observations of each context: the rest are the contexts with most.

    Returns
    -------
    pivots : ndarray of int of shape (n_components,)
    """
    k = alpha.shape[1]
    rank = numerical_rank(alpha)
    _, order = linalg.qr(alpha.T, mode="r", pivoting=True)
    pivots = list(order[:rank])
    chosen = set(pivots)
    pivots += [v for v in np.argsort(-weight, kind="stable") if v not in chosen][: k - rank]
    return np.asarray(pivots, dtype=np.int64)


def canonical_rotation(contexts):
    """The rotation Q for which ``contexts @ Q`` is lower triangular with a positive diagonal.

    Parameters
    ----------
    contexts : ndarray of shape (n_components, n_components)
        Vectors of the pivot contexts.

    Returns
    -------
    rotation : ndarray of shape (n_components, n_components)
    """
    q, r = np.linalg.qr(contexts.T)
    signs = np.where(np.diag(r) < 0, -1.0, 1.0)
    return q * signs

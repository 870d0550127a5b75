"""The map of the components at which diagonal covariances and the prior lose least.

No invertible map M, ``rho M`` with ``alpha M^-T``, changes means of logits. What the bound loses by
the prior of the means and by the best diagonal covariances, the weights omega of pairs and what
words see of each other's variances held, is

    1/2 sum_k tau_k [(M' rho' rho M)_kk + (M^-1 alpha' alpha M^-T)_kk]
    + 1/2 sum_ik log(c_ik + (M^-1 P_i M^-T)_kk) + 1/2 sum_jk log(c_jk + (M' P_j M)_kk),

with ``P_i = sum_j omega_ij m_j m_j'`` of target i by the means of its contexts, P_j likewise, and c
what variances and the prior add to diagonals. Where rotations alone gain nothing (`axes`), maps
still do: on text what is left to climb then is little else, along 10,000 directions (of 100
components) which steps along the gradient take in turn. Sums over words are those of some hundred;
a linear term makes their gradient without a map that of all words. As many other words tell where a
search that goes on would suit only those that it is made for.

The curvature of the search's preconditioner is that of pairs of entries that mirror each other, as
in the relative Newton steps of Ablin, Cardoso & Gramfort (2019), Beyond Pham's algorithm for joint
diagonalization, ESANN.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...inference.ascent import Ascent
from ...inference.threads import gathered
from .axes import precision_parts, some_words

# Words of each side that maps are found for, and as many that tell whether they suit others: at
# most, and as many as blocks of so many bytes allow.
_WORDS, _BYTES = 500, 2**29
# Steps of the search and how many are remembered; after how many others are asked what it gains,
# and how often in a row they may be told nothing better.
_STEPS, _MEMORY, _LOOKS, _PATIENCE = 60, 20, 5, 2
# What a map is to gain for each word; steps that gain less than a share of it are the last.
_LEAST_GAIN, _LEAST_STEP = 1e-3, 0.01
# Curvature by two entries that mirror each other, which is small along turns of alike components,
# is taken for at least this share of the largest; and for at least one of that of all entries.
_FLATTEST, _LEAST = 0.03, 1e-6
# Error of sums of logs of single precision, relative to their size.
_ROUNDING = 1e-8
# Words that a thread takes.
_PART = 64
# Times that a climb looks for maps: what a trial expects.
TYPICAL = 6


def best_map(variational, q, run):
    """The map after which diagonal covariances and the prior lose less; None where there is none.

    Parameters
    ----------
    variational : SGNSVariational
        Of diagonal covariances, whose ``axes_matter``.
    q : Factors
        With ``q.along``, where it is known.
    run : callable
        Maps a function over words.

    Returns
    -------
    (M^-T, M') : pair of ndarray of shape (n_components, n_components)
        As `SGNSVariational.change_basis` takes it.
    """
    n_words, k = variational.model.n_words, variational.model.n_components
    words = some_words(variational.model.pairs.by_frequency(), _most_words(k))
    if words is None:
        return None
    own, others = (MapSurface(variational, q, half, run) for half in words)
    ascent = Ascent(own, _MEMORY, _ROUNDING)
    least = _LEAST_GAIN * 2 * n_words
    best, gain, looks = None, least, 0
    for step in range(1, _STEPS + 1):
        before = ascent.value
        ended = not ascent.advance() or ascent.value - before < _LEAST_STEP * least
        if ended or step % _LOOKS == 0:
            found, looks = others.value(own.point) - others.start, looks + 1
            if found > gain:
                best, gain, looks = own.point.copy(), found, 0
        if ended or looks == _PATIENCE:
            break
    if best is None:
        return None
    best += np.eye(k)
    return np.linalg.inv(best).T, best.T


def map_bytes(n_words, n_components):
    """Bytes that `best_map` takes: blocks of words, those of a side once more, and their counts."""
    words = min(_most_words(n_components), (n_words + 1) // 2)
    return words * (6 * 4 * n_components**2 + 20 * n_words)


def _most_words(n_components):
    return max(1, min(_WORDS, _BYTES // (16 * n_components**2)))


def slope_along(vectors, gradients):
    """The gradient along maps ``I + E`` by that by vectors of both sides: of shape (k, k)."""
    targets, contexts = (
        x.astype(float).T @ g.astype(float) for x, g in zip(vectors, gradients, strict=True)
    )
    return targets - contexts.T


class MapSurface:
    """`Surface` of what the bound gains by a map ``I + E``, by some words.

    Parameters
    ----------
    variational : SGNSVariational
    q : Factors
    words : ndarray of int
    run : callable
        Maps a function over words.

    Attributes
    ----------
    point : ndarray of shape (k, k)
        E.
    start : float
        The value without a map.
    """

    def __init__(self, variational, q, words, run):
        model = variational.model
        self._share = model.n_words / words.size
        self._tau, ones = variational.tau(q), np.ones(model.n_components)
        self._blocks, self._more, self._moments = [], [], []
        for side, parts in enumerate(precision_parts(variational, q, words, run)):
            blocks, more = zip(*parts, strict=True)
            self._blocks.append(np.stack(blocks))
            self._more.append(np.stack(more))
            mean = q.mean[side]
            self._moments.append(mean.T @ model.prior.apply(side, mean, ones))
        self._run = run
        self.point = np.zeros((model.n_components,) * 2)
        self._linear = np.zeros_like(self.point)
        self.start, gradient = self.value_and_gradient()
        if q.along is not None:
            self._linear = q.along - gradient

    def value(self, point):
        """Up to a constant, the bound at a map."""
        return self._at(point, False)[0]

    def value_and_gradient(self):
        """The value at the point, and its gradient."""
        return self._at(self.point, True)

    def _at(self, point, slopes):
        forward = np.eye(len(point)) + point
        try:
            back = np.linalg.inv(forward)
        except np.linalg.LinAlgError:
            # such a step is not taken
            return -np.inf, np.zeros_like(point)
        (first, by_back), (second, by_forward) = (
            self._side(side, turn, slopes) for side, turn in enumerate((back, forward.T))
        )
        value = float(np.vdot(self._linear, point)) - first - second
        if not slopes:
            return value, None
        return value, self._linear - by_forward.T + back.T @ by_back @ back.T

    def _side(self, side, turn, slopes):
        """What is lost by a side's covariances and by means that turn with them; its slope.

        The precisions are ``turn P turn'``; the means, of the other side, ``turn m``.
        """
        single = turn.astype(np.float32)

        def part(blocks, more):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                products = np.matmul(single, blocks)
                precision = more + np.einsum("ikl,kl->ik", products, single)
                loss = float(np.log(precision).sum(dtype=float))
                if not slopes:
                    return loss, 0.0
                return loss, np.einsum("ikl,ik->kl", products, 1.0 / precision).astype(float)

        own = self._blocks[side], self._more[side]
        tasks = [tuple(x[a : a + _PART] for x in own) for a in range(0, len(own[0]), _PART)]
        losses, found = zip(*gathered(self._run, part, tasks), strict=True)
        product = self._tau[:, None] * (turn @ self._moments[1 - side])
        loss = 0.5 * self._share * sum(losses) + 0.5 * float(np.vdot(turn, product))
        return loss, self._share * sum(found) + product

    def precondition(self, x):
        """Multiply by an approximate inverse of the curvature without a map, in place."""
        x[:] = self._scaled(self._scaled(x))

    def _scaled(self, x):
        straight, mirrored = self._scaling
        return straight * x + mirrored * x.T

    @cached_property
    def _scaling(self):
        """Inverse root of the curvature where entries are paired with their mirror images alone."""
        p, p_1 = self._blocks
        own, own_1 = (np.einsum("ikk->ik", blocks) for blocks in self._blocks)
        whole, whole_1 = (c + d for c, d in zip(self._more, (own, own_1), strict=True))
        r, f = (self._tau * np.diag(m) for m in self._moments)
        of_targets = (1.0 / whole).T @ own - 2.0 * np.einsum("iak,ia->ak", p**2, whole**-2.0)
        of_contexts = own_1.T @ (1.0 / whole_1) - 2.0 * np.einsum("iak,ik->ak", p_1**2, whole_1**-2)
        curvature = self._share * (of_targets + of_contexts) + r[:, None] + f
        x, y = own / whole, own_1 / whole_1
        across = self._share * x.sum(axis=0) + f
        across = across[:, None] + across
        middle, half = 0.5 * (curvature + curvature.T), 0.5 * (curvature - curvature.T)
        radius = np.sqrt(half**2 + across**2)
        size = np.abs(middle) + radius
        # of components that are switched off there is none
        bottom = max(_LEAST * float(size.max()), np.finfo(float).tiny)
        least = np.maximum(_FLATTEST * size, bottom)
        flat = np.maximum(np.abs(middle - radius), least) ** -0.5
        steep = np.maximum(middle + radius, least) ** -0.5
        turned = 0.5 * (steep - flat) / np.maximum(radius, bottom)
        straight, mirrored = 0.5 * (flat + steep) + turned * half, turned * across
        scales = (3.0 * x - 2.0 * x**2).sum(axis=0) + (y - 2.0 * y**2).sum(axis=0)
        scales = np.abs(self._share * scales + r + 3.0 * f)
        scales = np.maximum(scales, max(_FLATTEST * scales.max(), bottom))
        np.fill_diagonal(straight, scales**-0.5)
        np.fill_diagonal(mirrored, 0.0)
        return straight, mirrored

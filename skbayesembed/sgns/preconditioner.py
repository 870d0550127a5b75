r"""An approximate inverse of the curvature of the skip-gram posterior, for the search for its mode.

With ``s_wv = n_wv sigma(t) sigma(-t)``, the slopes of pairs, and R, their residuals, it knows of

1. *words*: the block of a target is ``sum_v s_wv alpha_v alpha_v'`` and the prior's. Maps of the
   components, M for targets and ``M^-T`` for contexts, make the moments of both sides diagonal, and
   in them the diagonal of a block, which is exact, is most of it. Coordinates divided by its roots
   are called whitened.
2. *exchanges*: what couples both sides of a component is minus the whitened residuals. Where one of
   their singular values is near one, the posterior is flat along the exchange of the component for
   that direction of the residuals: the curvature of the pair of singular vectors is one plus or
   minus the value. The values of component k are those of the smallest component, times
   ``gamma_0 / gamma_k``.
3. *scales*: the likelihood does not see ``rho K`` with ``-alpha K'``. At the mode the prior alone
   bends the posterior along these, which makes them flat, too; elsewhere the residuals do.

On text the search takes two to four times as many steps without the second and the third.
"""

from __future__ import annotations

import numpy as np

from ..inference.threads import serial

# Directions of the residuals beyond the number of components that are followed, and rounds of
# subspace iteration for them at first; later rounds go on from where the last one ended.
_MORE, _FIRST_ROUNDS = 10, 2
# Curvature along exchanges, relative to that of the words, is taken for at least this. Where it is
# negative, the search has yet to make the exchange, and its size is taken.
_FLATTEST = 0.1
# The least curvature along scales, likewise.
_LEAST_SCALE = 1e-3
# What stands in for zero: moments, relative to the largest, sums, and mean blocks of a component.
_LEAST, _TINY, _ABSENT = 1e-8, 1e-30, 1e-8


class Preconditioner:
    """Of an `SGNSModel`, set to be right at some vectors by `refresh`.

    Parameters
    ----------
    prior : Prior
    residuals : Residuals
    dtype : {numpy.float32, numpy.float64}
        Of the arrays that are multiplied.
    flattest : float
        What curvature along exchanges is at least, relative to that of the words.
    rounds : int
        Rounds of subspace iteration of the first `refresh`.
    run : callable
        Maps a function over both sides.
    """

    def __init__(
        self,
        prior,
        residuals,
        dtype,
        flattest=_FLATTEST,
        rounds=_FIRST_ROUNDS,
        run=serial,
    ):
        self._residuals, self._dtype, self._tau = residuals, dtype, prior.tau
        self._run = run
        self._flattest, self._rounds = flattest, rounds
        # the prior's precision of a word, in units of tau
        self._words = [np.mean(prior.diagonal(side) / prior.tau, axis=1) for side in (0, 1)]
        self._right = None

    def refresh(self, vectors, gradient):
        """Take the curvature at some vectors.

        Parameters
        ----------
        vectors : ndarray of float32 of shape (2, n_words, n_components)
        gradient : ndarray of shape (2, n_words, n_components)
            Of the log density there.
        """
        weights = [n / max(n.sum(), _TINY) for n in self._residuals.observations]
        maps = _diagonalising(*(moments(vectors[1 - i], weights[1 - i]) for i in (0, 1)))
        # in the coordinates of the other side's map
        turned = [vectors[i] @ maps[1 - i].astype(np.float32) for i in (0, 1)]
        sums, blocks = self._blocks(vectors, turned)
        total = max(float(sums[0].sum()), _TINY)
        gamma = np.sqrt(blocks[0].sum(axis=0) * blocks[1].sum(axis=0)) / total
        gamma = np.maximum(gamma, _ABSENT)
        precision = [np.einsum("jk,j,jk->k", m, self._tau, m) for m in maps]
        shares = [np.outer(w, p) for w, p in zip(self._words, precision, strict=True)]
        whole = [b + s for b, s in zip(blocks, shares, strict=True)]
        roots = [w**-0.5 for w in whole]
        smallest = np.argmin(gamma)
        left, values = self._decompose(vectors, [w[:, smallest] / gamma[smallest] for w in whole])
        # where a scale moves component k along l, both sides' shares of the prior add up
        spans = [turned[i] * np.sqrt(sums[i][:, None] / (total * gamma)) for i in (0, 1)]
        scale = [(spans[i] ** 2).T @ (roots[i] ** 2 * shares[i]) for i in (0, 1)]
        self._maps, self._roots, self._spans = (self._cast(x) for x in (maps, roots, spans))
        self._soft = self._cast([left, self._right])
        # of the residuals within the span of the vectors, whitened
        cores = [
            self._spans[i].T @ w / (total**0.5 * gamma) for i, w in enumerate(self._white(gradient))
        ]
        residual = sum(np.linalg.norm(core, 2) for core in cores)
        scale = scale[0] + scale[1].T + residual
        self._factors = self._cast(_factors(values[:, None] / gamma, scale, self._flattest))

    @property
    def exchanges(self):
        """How far words of both sides go along exchanges, two (n_words, n), as of `refresh`."""
        return [w * soft for w, soft in zip(self._whitened, self._soft, strict=True)]

    def _blocks(self, vectors, turned):
        """Sums of the slopes of each word, and the diagonals of its block, for both sides."""
        ones = np.ones((vectors.shape[1], 1), np.float32)
        found = self._residuals.slopes(
            *vectors, *(np.hstack([ones, turned[1 - i] ** 2]) for i in (0, 1))
        )
        return [f[:, 0].astype(float) for f in found], [f[:, 1:].astype(float) for f in found]

    def _decompose(self, vectors, margins):
        """Left singular vectors and values of the residuals, over the roots of both margins.

        The right ones are kept, from where the next round of subspace iteration goes on.
        """
        before, after = (m.astype(np.float32)[:, None] ** -0.5 for m in margins)
        rounds = 1
        if self._right is None:
            rounds, (n_words, k) = self._rounds, vectors.shape[1:]
            shape = n_words, min(k + _MORE, n_words)
            # any directions will do, and results are not to hang on more than one seed
            self._right = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        for _ in range(rounds):
            basis, _ = np.linalg.qr(before * self._residuals.times(*vectors, after * self._right))
            image = after * self._residuals.transposed(*vectors, before * basis)
            self._right, values, core = np.linalg.svd(image, full_matrices=False)
        self._whitened = before, after
        return basis @ core.T, values

    def multiply(self, x):
        """``x`` of shape (2, n_words, n_components) times the approximate inverse, in place."""
        white, inside, moved = ([None, None] for _ in range(3))
        along, across, scale = self._factors

        def look(i):
            white[i] = self._white_side(x, i)
            inside[i] = self._soft[i].T @ white[i]
            moved[i] = self._spans[i].T @ white[i]

        self._run(look, [(0,), (1,)])
        apart = scale * (moved[0] - moved[1].T)
        turns = apart, -apart.T

        def move(i):
            white[i] += self._soft[i] @ (along * inside[i] + across * inside[1 - i])
            white[i] += self._spans[i] @ turns[i]
            white[i] *= self._roots[i]
            np.matmul(white[i], self._maps[i].T, out=x[i])

        self._run(move, [(0,), (1,)])

    def flat(self, x):
        """Of `multiply`, what exchanges and scales add to words where the curvature is small.

        Positive semi-definite; ``x`` stays as it is.
        """
        white = self._white(x)
        inside = [self._soft[i].T @ white[i] for i in (0, 1)]
        along, across, scale = self._factors
        both = np.maximum(0.5 * (along + across), 0.0) * (inside[0] + inside[1])
        moved = [self._spans[i].T @ white[i] for i in (0, 1)]
        apart = scale * (moved[0] - moved[1].T)
        out = np.empty_like(x)
        for i, turn in ((0, apart), (1, -apart.T)):
            added = (self._soft[i] @ both + self._spans[i] @ turn) * self._roots[i]
            np.matmul(added, self._maps[i].T, out=out[i])
        return out

    def _white(self, x):
        return [self._white_side(x, i) for i in (0, 1)]

    def _white_side(self, x, i):
        return (x[i] @ self._maps[i]) * self._roots[i]

    def _cast(self, arrays):
        return [np.ascontiguousarray(array, dtype=self._dtype) for array in arrays]


def moments(vectors, weight):
    """``sum_v weight_v y_v y_v'``."""
    return (vectors.T @ (vectors * weight.astype(np.float32)[:, None])).astype(float)


def _diagonalising(first, second):
    """Maps (M, M^-T) with which ``M' first M`` and ``M^-1 second M^-T`` are the same diagonal."""
    values, basis = np.linalg.eigh(first)
    values = np.maximum(values, max(_LEAST * values[-1], _TINY))
    root, inverse = ((basis * values**power) @ basis.T for power in (0.5, -0.5))
    squares, turn = np.linalg.eigh(root @ second @ root)
    fourth = np.maximum(squares, max(_LEAST**2 * squares[-1], _TINY)) ** 0.25
    return inverse @ turn * fourth, root @ turn / fourth


def _factors(ratio, scale, flattest):
    """Entries of the inverse curvature less one: along exchanges, across sides, along scales."""
    flat, steep = 1.0 / np.maximum(np.abs(1.0 - ratio), flattest), 1.0 / (1.0 + ratio)
    loose = 1.0 / np.clip(scale, _LEAST_SCALE, 1.0)
    return [0.5 * (flat + steep) - 1.0, 0.5 * (flat - steep), 0.5 * (loose - 1.0)]

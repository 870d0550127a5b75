"""The axes in which diagonal covariances lose least.

No rotation R of the components, ``rho R`` with ``alpha R``, changes means of logits or an isotropic
prior. But the best diagonal covariance of word i, whose precision given all others is P_i, loses
``1/2 sum_k log (R' P_i R)_kk - 1/2 log det P_i`` of the bound, and the bound is highest where the
axes make all P_i as diagonal as one rotation can (the criterion of Pham 2001, whose axes need not
be orthogonal). A climb by the gradient comes there along a curved ridge, in steps too short to
arrive: at 3,000 words and 100 components ten sweeps end below the third of those that start from
turned axes.

References
----------
Pham (2001), Joint approximate diagonalization of positive definite Hermitian matrices, SIAM
Journal on Matrix Analysis and Applications 22(4). Luttinen & Ilin (2010), Transformations in
variational Bayesian factor analysis to speed up learning, Neurocomputing 73, turn axes likewise
where the covariance is that of all.
"""

from __future__ import annotations

import functools

import numpy as np

from ...common.trial import laps
from ...inference.threads import gathered
from .axes_kernels import turn_pairs
from .bound_kernels import LEAST_SQUARE

# Words of each side that axes are found for, and as many that tell whether they suit others.
_WORDS = 250
# Rounds over all pairs of axes, at most, and what a round, and the whole, is to gain a word.
_ROUNDS, _LEAST_GAIN = 10, 1e-4
# Times that coordinate ascent looks for axes: what a trial expects.
TYPICAL = 4


def nearest_axes(variational, q, run):
    """The rotation after which diagonal covariances lose less, or None where there is none.

    It is found for some words of both sides, evenly spaced by their frequencies, and made if it
    suits as many others.

    Parameters
    ----------
    variational : SGNSVariational
        Of diagonal covariances.
    q : Factors
    run : callable
        Maps a function over words.

    Returns
    -------
    (turn, turn.T) : pair of ndarray of shape (n_components, n_components)
        As `SGNSVariational.change_basis` takes it.
    """
    pairs = variational.model.pairs
    words = some_words(pairs.by_frequency())
    if words is None:
        return None
    return axes_that_suit(*(_precisions(variational, q, half, run) for half in words))


def some_words(ranked, most=_WORDS):
    """Two lists of words, evenly spaced; None where there are not as many.

    Parameters
    ----------
    ranked : ndarray of int
        Words by frequency.
    most : int
        Of a list.
    """
    n = min(2 * most, ranked.size)
    if n < 2:
        return None
    words = ranked[np.linspace(0, ranked.size - 1, n).astype(int)]
    return words[::2], words[1::2]


def axes_that_suit(own, others):
    """The rotation that makes precisions most diagonal, or None where it does not suit others.

    Parameters
    ----------
    own, others : ndarray of float32 of shape (n_components, n_components, n)
        Those that axes are found for, which are turned, and those that tell whether they suit.

    Returns
    -------
    (turn, turn.T) : pair of ndarray of shape (n_components, n_components)
        As `SGNSVariational.change_basis` takes it.
    """
    turn = _turned(own)
    turned = np.einsum("ka,kli,la->ai", turn, others, turn, optimize=True)
    gain = _diagonals(others) - 0.5 * float(np.log(turned).sum(dtype=float))
    return (turn, turn.T) if gain > _LEAST_GAIN * others.shape[2] else None


def try_looks(part, typical, find, *arguments):
    """In a trial, find how long a part takes that looks for axes or maps ``typical`` times."""
    counted = laps(part, typical)
    while True:
        find(*arguments)
        if counted.enough():
            break
    counted.end(ended=False)


def _turned(blocks):
    """The rotation that makes blocks most diagonal; their upper triangles are turned."""
    turn, n = np.eye(len(blocks)), blocks.shape[2]
    value = _diagonals(blocks)
    for _ in range(_ROUNDS):
        turn_pairs(blocks, turn)
        value, before = _diagonals(blocks), value
        if before - value < _LEAST_GAIN * n:
            break
    return turn


def _diagonals(blocks):
    return 0.5 * float(np.log(np.einsum("kki->ki", blocks)).sum(dtype=float))


def _precisions(variational, q, words, run):
    """Precisions of words of both sides given all others: float32 of shape (k, k, 2 n_words)."""
    blocks = []
    for parts in precision_parts(variational, q, words, run):
        for block, more in parts:
            block[np.diag_indices_from(block)] += more
            blocks.append(block)
    return np.stack(blocks, axis=2)


def precision_parts(variational, q, words, run):
    """What precisions of words given all others are made of, for each side.

    Returns
    -------
    targets, contexts : list of (ndarray of shape (k, k), ndarray of shape (k,))
        For each word, in single precision, by the means of what is met; and what variances and
        the prior add to the diagonal.
    """
    sides = []
    for side in (0, 1):
        mean, variance = (x[1 - side].astype(np.float32) for x in (q.mean, q.cov))
        find = functools.partial(_precision, mean, variance, mean**2 + variance)
        observed = variational.model.pairs.of_words(side, words)
        prior = variational.prior_diagonal(side, q)[:, : variational.model.n_components]
        own = q.mean[side], q.cov[side], prior
        of_words = (*(x[words] for x in own), observed)
        tasks = zip(*(x.astype(np.float32) for x in of_words), strict=True)
        sides.append(gathered(run, find, tasks))
    return sides


def _precision(mean, variance, square, own_mean, own_variance, prior, n):
    """Of a word with ``n`` observations, given the factors of the other side, in two parts."""
    seen, k = np.flatnonzero(n), prior.size
    n, mean, variance = n[seen], mean[seen], variance[seen]
    logit = mean @ own_mean
    second = logit**2 + square[seen] @ own_variance + variance @ own_mean**2
    xi = np.sqrt(np.maximum(second, LEAST_SQUARE))
    omega = n * np.tanh(0.5 * xi) / (2.0 * xi)
    mean = mean[:, :k]
    return mean.T @ (mean * omega[:, None]), omega @ variance[:, :k] + prior

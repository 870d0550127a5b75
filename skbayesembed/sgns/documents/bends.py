"""Cosines of directions that are nearly the same, where first order says nothing.

The cosine of a direction with itself is one, its largest value, and along any deviation its first
derivative is zero. To second order it is ``1 - |w|^2 / 2``, w what turns one direction against the
other. For normal w of covariance S this has the mean ``1 - tr S / 2`` and the variance
``tr S^2 / 2``. Where w is long the direction is hardly known: the mean ``1 / sqrt(1 + tr S)``
and a standard deviation divided by ``1 + tr S`` stay in the range of cosines.
"""

from __future__ import annotations

import numpy as np

from ..questions.scales import Scale

_TINY = 1e-12
# Standard deviation on the scale of cosines above which a cosine is too near one for it.
_WIDE = 0.5


def scale_near_end(scale, mean, sd, sign):
    """The `Scale` of cosines, or of one less these, with these means and deviations, (n,).

    Where a cosine is nearer to one than it is known, the inverse hyperbolic tangent would make
    little of what is above it and far too much of what is below: there intervals are symmetric and
    end at one.

    Parameters
    ----------
    scale : Scale
        For all others.
    mean, sd : ndarray of shape (n,)
    sign : {-1, 1}
        1 for cosines.
    """
    near = sd > _WIDE * scale.slope(mean)
    ends = (-1.0, 1.0) if sign > 0 else (0.0, 2.0)

    def mixed(plain, curved):
        return lambda x: np.where(near, plain(x), curved(x))

    return Scale(
        mixed(np.asarray, scale.forward),
        mixed(lambda x: np.clip(x, *ends), scale.backward),
        mixed(np.ones_like, scale.slope),
    )


def bent(picked, pulls, turns, n_sampling, sign=1):
    """Gradients of cosines that allow for second order, and their posterior means at most.

    With the sign -1 all is about one less cosines, whose means are so much at least.

    To the gradient comes, along the direction in which w varies most, what makes a variance of
    ``cos^2 tr(S) l / 2``, l the largest eigenvalue of S: at least that of second order. Its sign is
    that with which both parts add up.

    Parameters
    ----------
    picked : ndarray of shape (n, 2, K)
        The directions, of any length.
    pulls : ndarray of shape (n, 2, K)
        Gradients of first order.
    turns : ndarray of shape (m, n, K)
        How the second direction moves against the first along deviations.
    n_sampling : int
        Deviations, the first ones, that are noise of the estimate: it loses by them on average
        what the truth has, and only the others make the posterior mean smaller.
    sign : {-1, 1}

    Returns
    -------
    pulls : ndarray of shape (n, 2, K)
    end : ndarray of shape (n,)
    """
    length = np.maximum(np.linalg.norm(picked, axis=-1, keepdims=True), _TINY)
    first, second = np.moveaxis(picked / length, 1, 0)
    cosine = np.sum(first * second, axis=-1)
    middle = first + second
    middle /= np.maximum(np.linalg.norm(middle, axis=-1, keepdims=True), _TINY)
    across = turns - np.einsum("mnk,nk->mn", turns, middle)[..., None] * middle
    share = np.maximum(cosine, 0.0)
    # the cosine of a direction that w is added to is 1 / sqrt(1 + |w|^2)
    most = cosine + share * ((1.0 + np.sum(across[n_sampling:] ** 2, axis=(0, 2))) ** -0.5 - 1.0)
    out = pulls.copy()
    for i in range(len(pulls)):
        w = across[:, i]
        values, basis = np.linalg.eigh(w.T @ w)
        turn = max(values.sum(), 0.0)
        moves = share[i] * np.sqrt(0.5 * turn) / (1.0 + turn)
        axis = basis[:, -1] * moves
        along = w @ (first[i] - cosine[i] * second[i])
        if along @ (w @ axis) < 0:
            axis = -axis
        # a direction does not turn along itself
        ends = [axis - (axis @ unit) * unit for unit in (first[i], second[i])]
        out[i] += sign * np.stack([-ends[0], ends[1]]) / length[i]
    return out, most if sign > 0 else 1.0 - most

"""Where the search for the mode starts: vectors by singular value decompositions of residuals."""

from __future__ import annotations

import numpy as np

from ..common.trial import laps
from .balance import balanced
from .residuals import Residuals

# Directions beyond the components that a randomised decomposition carries along, decompositions of
# the residuals at zero, and steps from there. From zero alone the search takes twice as long and
# longer: it has to exchange components for others one by one, across plateaus.
_MORE, _AT_ZERO, _STEPS = 10, 2, 3
# Share of the step to the maximum of the quadratic approximation: slopes fall on the way.
_SHARE = 0.7
# Singular values below this share of the largest are raised to it: zero is a saddle point.
_LEAST = 1e-3


def spectral_start(model, rng, run):
    """Vectors near the mode of an `SGNSModel`: dict of arrays (n_words, n_components).

    Each step maximizes a quadratic approximation of the log likelihood over all logits of rank
    ``n_components``. With the slopes of pairs taken for a product of their margins,
    ``s_wv = a_w b_v / S``, the maximum is a truncated singular value decomposition of
    ``sqrt(a / S) T sqrt(b) + a^-1/2 R b^-1/2 sqrt(S)``, T the logits and R the residuals. It sees
    what components the data would rather have, where gradients of the vectors only see those that
    are there. The prior joins the margins.

    Parameters
    ----------
    model : SGNSModel
    rng : numpy.random.Generator
        For the randomized decomposition.
    run : callable
        Maps a function over blocks of rows.
    """
    shape, prior = (model.n_words, model.n_components), model.prior
    residuals = Residuals(model.pairs, run)
    vectors = np.zeros((2, *shape), np.float32)
    width = min(shape[1] + _MORE, shape[0])
    frame = rng.standard_normal((shape[0], width)).astype(np.float32)
    precision = _precision(prior)
    steps = _AT_ZERO + _STEPS
    counted = laps("spectral start", steps, exact=True)
    for step in range(steps):
        found, frame = _decomposed(residuals, vectors, precision, frame)
        if step >= _AT_ZERO - 1:
            vectors[:, :, : min(shape)] = found[:, :, : shape[1]]
        if counted is not None and counted.enough():
            break
    if counted is not None:
        counted.end(ended=not counted.cut)
    vectors = balanced(vectors)
    if not prior.rotates:
        vectors = vectors @ _toward_held(prior, vectors)
    arrays = dict(zip(("rho", "alpha"), vectors, strict=True))
    if model.anchors is not None:
        arrays["alpha"][model.anchors] = model.anchor_values
    return arrays


def extended(model, vectors, more, rng, run):
    """Balanced vectors (2, n_words, K + more): a step of `spectral_start` from those given.

    The components that come to those of ``vectors`` (2, n_words, K) are what the data would rather
    have than none.
    """
    n_words, k = model.n_words, model.n_components
    residuals, precision = Residuals(model.pairs, run), _precision(model.prior)
    width = min(k + more + _MORE, n_words)
    frame = rng.standard_normal((n_words, width)).astype(np.float32)
    frame[:, :k] = vectors[1]
    for _ in range(_AT_ZERO):
        found, frame = _decomposed(residuals, vectors.astype(np.float32), precision, frame)
    return balanced(found[:, :, : k + more])


def _precision(prior):
    """Mean precision of each word's vector, of both sides."""
    return [prior.diagonal(side).mean(axis=1) for side in (0, 1)]


def _decomposed(residuals, vectors, precision, frame):
    """Vectors after a step, (2, n_words, width), and the right singular vectors."""
    x, y = vectors
    one = np.ones((len(x), 1), np.float32)
    sums = [s[:, 0].astype(float) for s in residuals.slopes(x, y, one, one)]
    root = np.float32(max(sums[0].sum(), 1.0) ** 0.5)
    # the inverse roots of the margins
    left, right = (
        ((s + p) ** -0.5).astype(np.float32)[:, None] for s, p in zip(sums, precision, strict=True)
    )
    share = np.float32(_SHARE)
    u, v = x / left, y / right / root
    image = residuals.times(x, y, right * frame)
    basis, _ = np.linalg.qr(u @ (v.T @ frame) + share * root * left * image)
    image = residuals.transposed(x, y, left * basis)
    core, values, frame = np.linalg.svd(
        (v @ (u.T @ basis) + share * root * right * image).T, full_matrices=False
    )
    values = np.sqrt(np.maximum(values, _LEAST * values[0]) * root)
    frame = np.ascontiguousarray(frame.T)
    return np.stack([left * (basis @ core) * values, right * frame * values]), frame


def _toward_held(prior, vectors):
    """The rotation that brings vectors nearest to the values where the prior holds some."""
    toward = sum(vectors[side].T @ prior.linear(side) for side in (0, 1))
    left, _, right = np.linalg.svd(toward)
    return left @ right

"""Where the search for the mode starts: of many words, at the mode of the most frequent."""

from __future__ import annotations

import numpy as np

from ..common.trial import laps
from ..inference.mode import find_mode_only
from .clustered import ClusteredModel, frequent_words
from .data import ProductPairs
from .model import SGNSModel
from .preconditioner import moments
from .priors import Prior
from .spectral import spectral_start

# Words from which on it is done, and the share of them that is searched first. On Wikipedia (10,000
# words, 100 components, precision 4) three seeds end in one mode then, and of two without it one
# ends 19 lower. Iterations before cost a tenth each, as work grows with the square of the words.
MANY, _SHARE = 10_000, 0.3
# Steps that bring the other words near; slopes fall on the first, from vectors of zero.
_STEPS, _FIRST = 2, 0.7


def search_start(model, rng, run, **limits):
    """As `spectral_start`; from a search among the most frequent words where there are many.

    Components that have to be exchanged for others are exchanged among these, where it costs
    little. The other words follow by steps of Newton's method with all contexts alike.

    Parameters
    ----------
    model : SGNSModel
        As `searched` has it.
    rng : numpy.random.Generator
    run : callable
        Maps a function over blocks of rows.
    **limits
        ``tol`` and ``max_iter`` of `find_mode`, for each search.
    """
    if not separable(model):
        return spectral_start(model, rng, run)
    n_frequent = int(_SHARE * model.n_words)
    frequent = np.sort(model.pairs.by_frequency()[:n_frequent])
    k = model.n_components
    prior = Prior(n_frequent, k, model.prior.tau[0])
    part = searched(SGNSModel(model.pairs.among(frequent), k, prior))
    start = search_start(part, rng, run, **limits)
    theta = find_mode_only(part, part.pack(start), run=run, **limits)
    vectors = np.zeros((2, model.n_words, k), np.float32)
    vectors[:, frequent] = list(part.unpack(theta).values())
    rho, alpha = _followed(model, vectors, frequent, run).astype(float)
    return {"rho": rho, "alpha": alpha}


def searched(model, near=False):
    """The model as it is searched: with rare words in clusters where it pays.

    Parameters
    ----------
    model : SGNSModel
    near : bool, default=False
        Whether searches start near the mode.
    """
    frequent = frequent_words(model.pairs) if separable(model) else None
    return model if frequent is None else ClusteredModel(model, frequent, near)


def separable(model):
    """Whether words are many, and the prior holds no two of them together."""
    plain = model.prior.rotates and model.prior.learned is None and not model.prior.coupled
    products = isinstance(model.pairs, ProductPairs)
    return products and plain and model.anchors is None and model.n_words >= MANY


def _followed(model, vectors, frequent, run):
    """The vectors with those of all other words near their best, given those of ``frequent``.

    The block of a word is its sum of slopes times the mean moment of the contexts, and the prior's.
    """
    residuals = model.residuals(run)
    order = residuals.order
    vectors, known = np.take(vectors, order, axis=1), np.isin(order, frequent)
    tau, others = model.prior.tau[0], np.flatnonzero(~known)
    one = np.ones((model.n_words, 1), np.float32)
    gradient = np.empty_like(vectors)
    counted = laps("start of rare words", _STEPS, exact=True)
    for step in range(_STEPS):
        residuals.gather(*vectors)
        slopes = residuals.slopes(*vectors, one, one)
        residuals.gradient(*vectors, gradient)
        moved = vectors.copy()
        for side in (0, 1):
            weight = slopes[1 - side][:, 0]
            total = weight[known].sum() if step == 0 else weight.sum()
            moment = moments(vectors[1 - side], weight / total)
            values, basis = np.linalg.eigh(moment)
            own = gradient[side, others] - tau * vectors[side, others]
            blocks = slopes[side][others] * np.maximum(values, 0.0) + tau
            moved[side, others] += (_FIRST if step == 0 else 1.0) * (own @ basis / blocks) @ basis.T
        vectors = moved
        if counted is not None and counted.enough():
            break
    if counted is not None:
        counted.end(ended=not counted.cut)
    found = np.empty_like(vectors)
    found[:, order] = vectors
    return found

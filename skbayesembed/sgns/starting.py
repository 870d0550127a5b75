"""Where the search for the mode starts: of many words, at the mode of the most frequent."""

from __future__ import annotations

import numpy as np

from ..common.trial import laps
from ..inference.mode import find_mode
from .clustered import ClusteredModel, frequent_words
from .data import ProductPairs
from .model import SGNSModel
from .preconditioner import moments
from .priors import Prior
from .residuals import Residuals
from .spectral import spectral_start

# Words from which on it is done, and the share of them that is searched first. On Wikipedia (10,000
# words, 100 components, precision 4) three seeds end in one mode then, and of two without it one
# ends 19 lower. Iterations before cost a tenth each, as work grows with the square of the words.
_MANY, _SHARE = 10_000, 0.3
# Steps that bring the other words near; slopes fall on the first, from vectors of zero.
_STEPS, _FIRST = 2, 0.7
# Times ``tol``, to which a search by clusters goes, and what that is at least: what is left of its
# gains is then the rounding of single precision (50,000 words), and its mode is off by more.
_LOOSER, _LEAST_TOL = 3.0, 5e-8


class Stopped(KeyboardInterrupt):
    """Ctrl-C in a search that ends near the mode.

    Attributes
    ----------
    theta : ndarray of shape (n_parameters,)
        Where the search was.
    facts : dict
        As of `find_mode`.
    """

    def __init__(self, theta, facts):
        super().__init__()
        self.theta, self.facts = theta, facts


def search_start(model, rng, run, keep=False, **limits):
    """As `spectral_start`; from a search among the most frequent words where there are many.

    Components that have to be exchanged for others are exchanged among these, where it costs
    little. The other words follow by steps of Newton's method with all contexts alike, and then,
    where it pays, by a search of all words that has the rare ones in clusters (`clustered`).

    Parameters
    ----------
    model : SGNSModel
    rng : numpy.random.Generator
    run : callable
        Maps a function over blocks of rows.
    keep : bool
        Whether Ctrl-C in the last of these searches keeps its point.
    **limits
        ``tol`` and ``max_iter`` of `find_mode`, for each search.

    Raises
    ------
    Stopped
        Where ``keep`` and interrupted.
    """
    if not _separable(model):
        return spectral_start(model, rng, run)
    n_frequent = int(_SHARE * model.n_words)
    frequent = np.sort(model.pairs.by_frequency()[:n_frequent])
    k = model.n_components
    part = SGNSModel(model.pairs.among(frequent), k, Prior(n_frequent, k, model.prior.tau[0]))
    start = search_start(part, rng, run, **limits)
    if not is_near(part):
        theta, _ = find_mode(part, part.pack(start), warn=False, run=run, **limits)
        start = part.unpack(theta)
    vectors = np.zeros((2, model.n_words, k), np.float32)
    vectors[:, frequent] = list(start.values())
    rho, alpha = _followed(model, vectors, frequent, run).astype(float)
    return _by_clusters(model, {"rho": rho, "alpha": alpha}, run, keep, limits)


def is_near(model):
    """Whether `search_start` ends near the mode."""
    return _separable(model) and frequent_words(model.pairs) is not None


def _by_clusters(model, start, run, keep, limits):
    """The mode with rare words in clusters, from a start; the start where that does not pay."""
    frequent = frequent_words(model.pairs)
    if frequent is None:
        return start
    clustered = ClusteredModel(model, frequent, start["alpha"], run)
    limits = limits | {"tol": max(_LOOSER * limits["tol"], _LEAST_TOL)}
    theta, facts = find_mode(clustered, model.pack(start), warn=False, keep=keep, run=run, **limits)
    if facts["interrupted"]:
        value, _ = model.surface(theta, np.float32, run).value_and_gradient()
        raise Stopped(theta, facts | {"lp": float(value)})
    return model.unpack(theta)


def _separable(model):
    """Whether words are many, and the prior holds no two of them together."""
    plain = model.prior.rotates and model.prior.learned is None and not model.prior.coupled
    products = isinstance(model.pairs, ProductPairs)
    return products and plain and model.anchors is None and model.n_words >= _MANY


def _followed(model, vectors, frequent, run):
    """The vectors with those of all other words near their best, given those of ``frequent``.

    The block of a word is its sum of slopes times the mean moment of the contexts, and the prior's.
    """
    residuals = Residuals(model.pairs, run)
    tau = model.prior.tau[0]
    others = np.delete(np.arange(model.n_words), frequent)
    one = np.ones((model.n_words, 1), np.float32)
    gradient = np.empty_like(vectors)
    counted = laps("start of rare words", _STEPS, exact=True)
    for step in range(_STEPS):
        slopes = residuals.slopes(*vectors, one, one)
        residuals.gradient(*vectors, gradient)
        moved = vectors.copy()
        for side in (0, 1):
            weight, known = slopes[1 - side][:, 0], frequent if step == 0 else slice(None)
            moment = moments(vectors[1 - side], weight / weight[known].sum())
            values, basis = np.linalg.eigh(moment)
            own = gradient[side, others] - tau * vectors[side, others]
            blocks = slopes[side][others] * np.maximum(values, 0.0) + tau
            moved[side, others] += (_FIRST if step == 0 else 1.0) * (own @ basis / blocks) @ basis.T
        vectors = moved
        if counted is not None and counted.enough():
            break
    if counted is not None:
        counted.end(ended=not counted.cut)
    return vectors

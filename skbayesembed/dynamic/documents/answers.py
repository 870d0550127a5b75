"""Answers about drifting vectors with intervals by units; words in periods are places."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from ...sgns.documents.answers import (
    COSINE,
    PROBABILITY,
    Scale,
    answer,
    answer_at,
    cosine_change,
    cosine_gradient,
    logit_change,
    only,
)
from ...sgns.documents.deviations import Change

# Answers about words whose deviations are worked on at a time.
_WORDS = 512
# Distances are held away from zero by this much.
_EDGE = 1e-9

# Of distances relative to their means: logarithms near zero, plain far from it, where logarithms
# would have no end of an interval that is wide.
DISTANCE = Scale(
    lambda d: np.log(np.expm1(np.maximum(d, _EDGE))),
    lambda z: np.logaddexp(0.0, z),
    lambda d: -np.expm1(-d),
)
# Of one less a cosine.
COSINE_DISTANCE = Scale(
    lambda d: np.arctanh(np.clip(d, _EDGE, 2.0 - _EDGE) - 1.0),
    lambda z: 1.0 + np.tanh(z),
    lambda d: d * (2.0 - d),
)


def _joined(parts):
    """One result of several, of answers after answers."""
    return Bunch(
        **{
            name: np.concatenate([p[name] for p in parts], axis=1 if name == "draws" else 0)
            for name in parts[0]
        }
    )


def _by_parts(find, *arrays):
    """``find`` of parts of arrays of answers, put together: own deviations take memory."""
    n = len(arrays[0])
    parts = [slice(a, a + _WORDS) for a in range(0, n, _WORDS)]
    return _joined([find(*(x[p] for x in arrays)) for p in parts])


def change_of_cosines(deviations, a, b):
    """`Change` of the cosines of the targets at places ``a`` and ``b`` (n,)."""
    ends = (a, b), (b, a)
    own = _own(deviations, [(0, x, cosine_gradient(deviations, x, y)) for x, y in ends])
    return cosine_change(deviations, a, b) + own


def change_of_logits(deviations, targets, contexts):
    """`Change` of the logits of pairs of places, (n,) each."""
    others = deviations.vectors[1][contexts], deviations.vectors[0][targets]
    own = _own(deviations, list(zip((0, 1), (targets, contexts), others, strict=True)))
    return logit_change(deviations, targets, contexts) + own


def _own(deviations, terms):
    """`Change` along what words have of their own; terms are (side, places, gradients)."""
    own, n = [], len(terms[0][1])
    for side, places, gradients in terms:
        own += deviations.own_changes(side, places, gradients)
    return Change(np.zeros((len(deviations.shifts), n)), own, np.full(n, np.inf))


def cosines(deviations, a, b, mean, prob):
    """Cosines of the targets at places ``a`` and ``b`` (n,), about their posterior means."""

    def find(a, b, mean):
        change = change_of_cosines(deviations, a, b)
        return answer_at(deviations, mean, change, prob, COSINE)

    return _by_parts(find, a, b, mean)


def cosine_differences(deviations, first, second, mean, prob):
    """A cosine at places ``second``, a pair (a, b), less that at places ``first``."""
    (a, b), (c, d) = ([np.array([place]) for place in places] for places in (first, second))
    change = change_of_cosines(deviations, c, d) + -change_of_cosines(deviations, a, b)
    mean = np.array([mean])
    return only(answer(deviations, mean, mean, change, prob))


def distances(deviations, kind, start, end, mean, prob):
    """Distances of the targets at places ``start`` and ``end`` (n,), about posterior means.

    Parameters
    ----------
    deviations : DriftDeviations
    kind : {"euclidean", "cosine"}
    start, end : ndarray of int of shape (n,)
    mean : ndarray of shape (n,)
    prob : float

    Returns
    -------
    Bunch
        As of `sgns.documents.answers.answer`. Intervals are symmetric on the scale of the cosine's
        inverse hyperbolic tangent, or of the inverse of ``log(1 + exp(z))`` with the mean as unit.
    """

    def find(start, end, mean):
        if kind == "cosine":
            change = -change_of_cosines(deviations, start, end)
            return answer_at(deviations, mean, change, prob, COSINE_DISTANCE)
        size = np.maximum(mean, _EDGE)
        change = _change_of_distances(deviations, start, end).times(1.0 / size)
        found = answer_at(deviations, mean / size, change, prob, DISTANCE)
        for name in ("mean", "sd", "sd_sampling", "sd_prior", "draws"):
            found[name] = found[name] * size
        found.interval = found.interval * size[:, None]
        return found

    return _by_parts(find, start, end, mean)


def _change_of_distances(deviations, start, end):
    """`Change` of Euclidean distances between places."""
    x = deviations.vectors[0]
    apart = x[end] - x[start]
    size = np.linalg.norm(apart, axis=1, keepdims=True)
    direction = np.divide(apart, size, out=np.zeros_like(apart), where=size > 0)
    moved = deviations.of(0, end) - deviations.of(0, start)
    shared = np.einsum("mik,ik->mi", moved, direction)
    fewest = np.minimum(deviations.n_units[start], deviations.n_units[end])
    own = _own(deviations, [(0, end, direction), (0, start, -direction)])
    return Change(shared, [], fewest) + own


def probabilities(deviations, targets, contexts, mean, logits, prob):
    """Probabilities of pairs of places, arrays of any shape, about means and mean logits."""
    change = change_of_logits(deviations, np.ravel(targets), np.ravel(contexts))
    flat = np.ravel(mean), np.ravel(logits)
    found = answer(deviations, *flat, change, prob, PROBABILITY)
    return _shaped(found, np.shape(mean))


def _shaped(found, shape):
    """Results of answers in a row, in another shape."""
    return Bunch(
        **{
            name: value.reshape((-1, *shape) if name == "draws" else (*shape, *value.shape[1:]))
            for name, value in found.items()
        }
    )


def entries(deviations, side, places, mean, prob):
    """Entries of the vectors at some places, (n, n_components), about their posterior means."""
    n, k = mean.shape
    repeated = np.repeat(places, k)
    own = _own(deviations, [(side, repeated, np.tile(np.eye(k), (n, 1)))])
    shared = deviations.of(side, places).reshape(-1, n * k)
    change = Change(shared, [], deviations.n_units[repeated]) + own
    flat = np.ravel(mean)
    found = _shaped(answer(deviations, flat, flat, change, prob), (n, k))
    found.n_units = deviations.n_units[places]
    return found

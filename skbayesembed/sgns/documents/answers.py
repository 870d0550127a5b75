"""Answers with intervals that hold for the sampling of units: their changes along deviations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit
from sklearn.utils import Bunch

from .deviations import Change, joint_draws, spread_of

# Joint draws of answers. Those of one model belong together: a difference of two answers has the
# differences of their draws.
DRAWS = 1000
# Words whose deviations are worked on at a time.
_WORDS = 512
# Numbers in a block of features along all deviations.
_FEATURES = 2**22
# Cosines and probabilities are held away from their ends by this much.
_EDGE = 1e-9


class Scale(NamedTuple):
    """The scale on which intervals are symmetric.

    Attributes
    ----------
    forward, backward : callable
        To that scale, and from it.
    slope : callable
        Derivative of ``backward``, as a function of what it returns.
    """

    forward: object
    backward: object
    slope: object


PLAIN = Scale(np.asarray, np.asarray, np.ones_like)
COSINE = Scale(
    lambda c: np.arctanh(np.clip(c, _EDGE - 1.0, 1.0 - _EDGE)), np.tanh, lambda c: 1.0 - c**2
)
PROBABILITY = Scale(lambda p: logit(np.clip(p, _EDGE, 1.0 - _EDGE)), expit, lambda p: p * (1.0 - p))


def answer(deviations, mean, centre, change, prob, scale=PLAIN, **more):
    """Summary of answers with intervals by units.

    Parameters
    ----------
    deviations : Deviations
    mean : ndarray of shape (*shape)
        Posterior means of the answers.
    centre : ndarray of shape (*shape)
        What intervals lie about, on the ``scale``.
    change : Change
        Of the answers on the scale.
    prob : float
        Probability of the intervals, which have as much of the rest on either side.
    scale : Scale
    **more
        Further entries of the result.

    Returns
    -------
    Bunch
        ``mean``; ``sd`` with its parts ``sd_sampling`` and ``sd_prior``; ``interval``; ``draws``,
        joint with those of all other answers; ``n_units``, the fewest effective units of the words
        in an answer.
    """
    spread = spread_of(deviations, change)
    reach = spread.total * stdtrit(spread.freedom, 0.5 + 0.5 * prob)
    ends = np.stack([centre - reach, centre + reach], axis=-1)
    draws = centre + spread.total * joint_draws(deviations, change, spread, DRAWS)
    slope = scale.slope(scale.backward(centre))
    return Bunch(
        mean=mean,
        sd=slope * spread.total,
        interval=scale.backward(ends),
        draws=scale.backward(draws),
        sd_sampling=slope * spread.sampling,
        sd_prior=slope * spread.prior,
        n_units=change.fewest,
        **more,
    )


def answer_at(deviations, mean, change, prob, scale):
    """`answer` about posterior means, of a change that is not on the scale yet."""
    centre = scale.forward(mean)
    change = change.times(1.0 / scale.slope(scale.backward(centre)))
    return answer(deviations, mean, centre, change, prob, scale)


def only(found):
    """The only one of several answers."""
    return Bunch(**{k: v[:, 0] if k == "draws" else v[0] for k, v in found.items()})


def cosine_change(deviations, a, b):
    """`Change` of the cosines between the target vectors of words ``a`` and ``b``.

    Parameters
    ----------
    deviations : Deviations
    a, b : ndarray of int of shape (n,)
    """
    parts = [slice(s, s + _WORDS) for s in range(0, len(a), _WORDS)]
    shared = [_cosine_part(deviations, a[p], b[p]) for p in parts]
    own = []
    pulls = cosine_gradient(deviations, a, b), cosine_gradient(deviations, b, a)
    for word in _own_words(deviations, a, b):
        columns = deviations.own[word][0]
        d = sum((words == word) * (columns.T @ p.T) for words, p in zip((a, b), pulls, strict=True))
        own.append((0, word, d))
    fewest = np.minimum(deviations.n_units[a], deviations.n_units[b])
    return Change(np.concatenate(shared, axis=1), own, fewest)


def _cosine_part(deviations, a, b):
    ends, pulls = (a, b), (cosine_gradient(deviations, a, b), cosine_gradient(deviations, b, a))
    return sum(
        np.einsum("mik,ik->mi", deviations.of(0, words), p)
        for words, p in zip(ends, pulls, strict=True)
    )


def cosine_gradient(deviations, a, b):
    """Gradient of the cosine of ``a`` and ``b`` by the vector of ``a``, (n, n_components)."""
    rho = deviations.vectors[0]
    lengths = np.linalg.norm(rho, axis=1)
    x, y = (rho[i] / np.maximum(lengths[i], 1e-300)[:, None] for i in (a, b))
    along = np.sum(x * y, axis=1, keepdims=True)
    return (y - along * x) / np.maximum(lengths[a], 1e-300)[:, None]


def _own_words(deviations, *words):
    if not deviations.own:
        return []
    return [int(w) for w in np.unique(np.concatenate(words)) if int(w) in deviations.own]


def logit_change(deviations, targets, contexts):
    """`Change` of the logits of pairs.

    Parameters
    ----------
    deviations : Deviations
    targets, contexts : ndarray of int of shape (n,)
    """
    sides = targets, contexts
    others = deviations.vectors[1][contexts], deviations.vectors[0][targets]
    shared, own = 0.0, []
    for side, (words, other) in enumerate(zip(sides, others, strict=True)):
        shared = shared + np.einsum("mik,ik->mi", deviations.of(side, words), other)
        for word in _own_words(deviations, words):
            own.append((side, word, (words == word) * (deviations.own[word][side].T @ other.T)))
    fewest = np.minimum(*(deviations.n_units[words] for words in sides))
    return Change(shared, own, fewest)


def feature_variance(deviations, weights):
    """Variance of weighted sums of target vectors, (n_documents, n_components).

    Parameters
    ----------
    deviations : Deviations
    weights : csr_array of shape (n_documents, n_words)
    """
    total = 0.0
    for shift in deviations.shifts[:, 0]:
        total = total + (weights @ shift.astype(np.float64)) ** 2
    for word, columns in deviations.own.items():
        share = weights[:, [word]].toarray()
        total = total + share**2 * np.sum(columns[0] ** 2, axis=1)
    return total


def feature_draws(deviations, weights, n):
    """Draws of weighted sums of target vectors less their mean, (n, n_documents, n_components).

    Normal, with the variances of `feature_variance`, and joint with the draws of all answers.

    Parameters
    ----------
    deviations : Deviations
    weights : csr_array of shape (n_documents, n_words)
    n : int
    """
    normals = deviations.normals(n)
    n_documents, k = weights.shape[0], deviations.vectors.shape[2]
    out = np.empty((n, n_documents, k))
    step = max(1, _FEATURES // (normals.shape[1] * k))
    for start in range(0, n_documents, step):
        rows = slice(start, start + step)
        part = weights[rows]
        moved = np.stack([part @ shift.astype(np.float64) for shift in deviations.shifts[:, 0]])
        out[:, rows] = np.tensordot(normals, moved, axes=1)
    by_word = weights.tocsc()
    for word, columns in deviations.own.items():
        entries = slice(*by_word.indptr[word : word + 2])
        documents, share = by_word.indices[entries], by_word.data[entries]
        if documents.size:
            keys = deviations.own_keys(word)
            z = np.concatenate([deviations.own_normals(n, 0, key) for key in keys], axis=1)
            out[:, documents] += share[:, None] * (z @ columns[0].T)[:, None]
    return out

"""Draws of the features of documents at their times."""

from __future__ import annotations

import numpy as np

from ..common.estimator import check_room, recorded_draws, spaced
from ..sgns.documents.answers import feature_draws
from ..sgns.predict import word_shares
from ..sgns.vectors import deviations_of
from . import predict

# Key of the noise of times that lie between or outside of periods.
_NOISE = 3
# Words that are drawn at a time.
_WORDS = 256


def sampled_features(estimator, counts, centres, n_draws):
    """Draws of what `predict.document_features` has the means of.

    Parameters
    ----------
    estimator : DynamicSGNS
    counts : sparse array of shape (n_documents, n_words)
    centres : ndarray of shape (n_documents,) or None
    n_draws : int

    Returns
    -------
    ndarray of shape (n_draws, n_documents, n_components)
        A draw has one trajectory of every word, for documents of all periods. What the prior adds
        at a time between or outside of these is the same for all documents of that time, and
        independent of what it adds at others: differences of two such times are too uncertain.
    """
    k = estimator.rho_.shape[-1]
    check_room(n_draws, counts.shape[0], k)
    weights = word_shares(counts)
    groups = predict.places_of(estimator, centres)
    deviations = deviations_of(estimator)
    posterior = estimator.posterior_
    chosen = spaced(posterior, n_draws)
    if deviations is not None:
        out = np.empty((n_draws, counts.shape[0], k))
        for rows, place, _ in groups:
            parts = [(period, float(np.mean(weight))) for period, weight in place.parts]
            draws = feature_draws(deviations.together(parts), weights[rows], n_draws)
            out[:, rows] = draws + weights[rows] @ predict.mean_at(estimator, place)
    elif predict.enough_recorded(estimator, min(n_draws, predict.FEWEST_DRAWS)):
        chosen = recorded_draws(estimator, n_draws)
        out = _recorded(estimator, groups, weights, chosen)
    else:
        out = _drawn(estimator, groups, weights, n_draws)
    for rows, place, key in groups:
        if np.any(place.variance):
            out[:, rows] += _noise(estimator, place, key, weights[rows], chosen)
    return out


def _recorded(estimator, groups, weights, chosen):
    """Features of recorded draws, of which a few may be the same."""
    out = np.empty((chosen.size, weights.shape[0], estimator.rho_.shape[-1]))
    flat, mean = estimator.posterior_.flat("rho"), np.zeros(out.shape[1:])
    for s in range(len(flat)):
        features = np.empty(out.shape[1:])
        for rows, place, _ in groups:
            rho = sum(_of_draw(weight, s) * flat[s, period] for period, weight in place.parts)
            features[rows] = weights[rows] @ rho
        features = features @ _maps(estimator, [s])[0]
        out[chosen == s] = features
        mean += features / len(flat)
    for rows, place, _ in groups:
        # balanced means are not quite the means of balanced draws
        out[:, rows] += weights[rows] @ predict.mean_at(estimator, place) - mean[rows]
    return out


def _drawn(estimator, groups, weights, n_draws):
    """Features of draws from the approximation, made for a block of words at a time.

    All periods are drawn whatever times there are, so that draws are always the same.
    """
    n_periods, n_words, k = estimator.rho_.shape
    out = np.zeros((n_draws, weights.shape[0], k))
    by_word = weights.tocsc()
    for start in range(0, n_words, _WORDS):
        index = np.arange(start, min(start + _WORDS, n_words))
        shares = by_word[:, index].tocsr()
        if shares.nnz == 0:
            continue
        draws = predict.drawn_words(estimator, "rho", index, n_draws)
        for rows, place, _ in groups:
            own = shares[rows]
            for draw, features in zip(draws, out, strict=True):
                features[rows] += own @ sum(w * draw[period] for period, w in place.parts)
    return out @ _maps(estimator, np.zeros(n_draws, dtype=int))


def _noise(estimator, place, key, weights, chosen):
    """What the prior adds at a time between or outside of periods, joint over documents there."""
    _, n_words, k = estimator.rho_.shape
    rng = np.random.default_rng(predict.reading_seed(estimator, _NOISE, key))
    out = np.empty((chosen.size, weights.shape[0], k))
    for s, features in zip(chosen, out, strict=True):
        scale = np.sqrt(_of_draw(place.variance, s))
        features[:] = weights @ (scale * rng.standard_normal((n_words, k)))
    return out @ _maps(estimator, chosen)


def _of_draw(value, s):
    """A number, or that of draw ``s`` where each has its own."""
    return value[s] if np.ndim(value) else value


def _maps(estimator, chosen):
    """What turns vectors of draws into those that are read, (n_draws or 1, K, K)."""
    balance = estimator._balanced
    if balance is None:
        return np.eye(estimator.rho_.shape[-1])[None]
    maps = balance.maps["rho"]
    return maps[chosen] if maps.ndim == 3 else maps[None]

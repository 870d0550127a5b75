"""Features of documents: means of the target vectors of their words, how uncertain, and draws."""

from __future__ import annotations

import numpy as np

from ..common.estimator import check_room, recorded_draws
from ..corpus.units import sampling_in_use
from .documents import answers
from .predict import feature_variance, word_shares
from .vectors import deviations_of, target_draws


def document_features(estimator, counts, with_std):
    """Count-weighted mean of the target vectors of each document's words.

    Parameters
    ----------
    estimator : BayesianSGNS
    counts : sparse array of shape (n_documents, n_words)
    with_std : bool
        Append the standard deviation of every feature.

    Returns
    -------
    ndarray of shape (n_documents, n_components) or (n_documents, 2 * n_components)
        Zeros for a document without a known word.
    """
    weights = word_shares(counts)
    mean = weights @ estimator.rho_
    if not with_std:
        return mean
    deviations = _deviations(estimator)
    if deviations is None:
        variance = feature_variance(weights, target_draws(estimator))
    else:
        variance = answers.feature_variance(deviations, weights)
    return np.hstack([mean, np.sqrt(variance)])


def sampled_features(estimator, counts, n_draws):
    """Draws of what `document_features` has the means of, (n_draws, n_documents, n_components)."""
    k = estimator.rho_.shape[1]
    check_room(n_draws, counts.shape[0], k)
    weights = word_shares(counts)
    deviations = _deviations(estimator)
    if deviations is not None:
        draws = answers.feature_draws(deviations, weights, n_draws)
        draws += weights @ estimator.rho_
        return draws
    chosen = recorded_draws(estimator, n_draws)
    out, mean = np.empty((n_draws, counts.shape[0], k)), 0.0
    draws = target_draws(estimator)
    for s, rho in enumerate(draws):
        features = weights @ rho
        out[chosen == s] = features
        mean = mean + features / len(draws)
    # balanced means are not quite the means of balanced draws
    out += weights @ estimator.rho_ - mean
    return out


def _deviations(estimator):
    """`Deviations` of all vectors, None where intervals are the model's."""
    sampling = sampling_in_use(estimator)
    by_answer = sampling is not None and sampling.by_answer
    if estimator.uncertainty == "documents" and by_answer:
        raise ValueError(
            f"Standard deviations and draws of features of documents by units take the deviations "
            f"of all vectors, got a model of {estimator.words_.size} words and "
            f"{estimator.rho_.shape[1]} components, whose answers are worked out one by one: "
            "similarity, nearer, cooccurrence_proba and the like of words that are named. Use "
            "features='mean', set_params(by_answer=False), or set_params(uncertainty='model')."
        )
    return deviations_of(estimator)

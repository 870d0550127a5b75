"""Matching of exchangeable labels: which component of one draw is which of another.

Components such as senses or topics have no names, and two chains may number them differently. They
are told apart by their weights: what each has of each of many things.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform


def match(
    reference: np.ndarray, weights: np.ndarray, binding: float | np.ndarray = 1.0
) -> np.ndarray:
    """The order of the rows of ``weights`` that fits ``reference`` best.

    Parameters
    ----------
    reference, weights : ndarray of shape (n_components, n)
        What each component has of each of n things, such as the probability of a sense for each
        of n snippets.
    binding : float or ndarray of shape (n,), default=1.0
        How much each of the n things counts.

    Returns
    -------
    ndarray of shape (n_components,)
        ``weights[order]`` has the largest inner product with ``reference``.
    """
    return linear_sum_assignment(-((reference * binding) @ weights.T))[1]


def similarity(a: np.ndarray, b: np.ndarray, binding: float | np.ndarray = 1.0) -> float:
    """Cosine of two sets of weights, their components matched.

    Parameters
    ----------
    a, b : ndarray of shape (n_components, n)
    binding : float or ndarray of shape (n,), default=1.0
        As in `match`.

    Returns
    -------
    float
    """
    matched = b[match(a, b, binding)]
    return float(np.vdot(a, matched) / (np.linalg.norm(a) * np.linalg.norm(b)))


def similarities(draws: Sequence[np.ndarray], binding: float | np.ndarray = 1.0) -> np.ndarray:
    """`similarity` of every two of a sequence of weights, ndarray of shape (n_draws, n_draws)."""
    out = np.eye(len(draws))
    for i, a in enumerate(draws):
        for j in range(i):
            out[i, j] = out[j, i] = similarity(a, draws[j], binding)
    return out


def clusters(similar: np.ndarray, least: float) -> np.ndarray:
    """Cluster draws by their similarities, by average linkage.

    Parameters
    ----------
    similar : ndarray of shape (n_draws, n_draws)
        As of `similarities`.
    least : float
        Clusters are joined while their average similarity is at least this.

    Returns
    -------
    ndarray of shape (n_draws,)
        Number of the cluster of each draw; the largest cluster has number 0.
    """
    if len(similar) == 1:
        return np.zeros(1, dtype=int)
    distance = np.clip(1 - similar, 0, None)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), method="average")
    labels = fcluster(tree, 1 - least, criterion="distance") - 1
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def mean_of_aligned(draws: Sequence[np.ndarray], binding: float | np.ndarray = 1.0) -> np.ndarray:
    """Mean of weights (n_components, n) after matching each with the mean of those before it."""
    total = np.array(draws[0], dtype=float)
    for weights in draws[1:]:
        total += weights[match(total, weights, binding)]
    return total / len(draws)

"""Matching of exchangeable labels: which component of one draw is which of another."""

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
        What each component has of each of n things, for example probabilities of senses.
    binding : float or ndarray of shape (n,), default=1.0
        How much each thing counts.

    Returns
    -------
    ndarray of shape (n_components,)
        ``weights[order]`` has the largest inner product with ``reference``.
    """
    return linear_sum_assignment(-((reference * binding) @ weights.T))[1]


def similarity(a: np.ndarray, b: np.ndarray, binding: float | np.ndarray = 1.0) -> float:
    """Cosine of two sets of weights (n_components, n), with their components matched."""
    matched = b[match(a, b, binding)]
    return float(np.vdot(a, matched) / (np.linalg.norm(a) * np.linalg.norm(b)))


def similarities(draws: Sequence[np.ndarray], binding: float | np.ndarray = 1.0) -> np.ndarray:
    """`similarity` of every two of a sequence: ndarray of shape (n, n)."""
    out = np.eye(len(draws))
    for i, a in enumerate(draws):
        for j in range(i):
            out[i, j] = out[j, i] = similarity(a, draws[j], binding)
    return out


def clusters(similar: np.ndarray, least: float) -> np.ndarray:
    """Clusters of draws by their similarities, by average linkage.

    Parameters
    ----------
    similar : ndarray of shape (n, n)
    least : float
        Clusters are joined while their average similarity is at least this.

    Returns
    -------
    ndarray of shape (n,)
        Number of the cluster of each draw, the largest cluster first.
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

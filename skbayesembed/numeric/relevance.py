"""Words that tell one topic, or sense, from the others."""

from __future__ import annotations

import numpy as np

# Weight of a word's own probability beside its lift: the best of Sievert & Shirley's readers.
WEIGHT = 0.6
RANKS = ("probable", "relevant")
_LEAST = 1e-300


def relevance(proba: np.ndarray, shares: np.ndarray, weight: float = WEIGHT) -> np.ndarray:
    """Relevance of words to topics, by their probability and by its ratio to that in all.

    ``weight log p(w | k) + (1 - weight) log(p(w | k) / p(w))`` with ``p(w)`` the mean of ``p(w |
    k)`` with the weights ``shares``.

    Parameters
    ----------
    proba : ndarray of shape (n_topics, n_words)
    shares : ndarray of shape (n_topics,)
    weight : float, default=0.6

    Returns
    -------
    ndarray of shape (n_topics, n_words)

    References
    ----------
    Sievert & Shirley (2014). LDAvis: A method for visualizing and interpreting topics. Proceedings
    of the Workshop on Interactive Language Learning, Visualization, and Interfaces, section 3.
    """
    shares = np.asarray(shares, dtype=float)
    everywhere = (shares / shares.sum()) @ proba
    own = np.log(np.maximum(proba, _LEAST))
    return own - (1.0 - weight) * np.log(np.maximum(everywhere, _LEAST))


def notes_on_rank(rank: str) -> list[str]:
    """Line below a table of words that are not in order of their probabilities, or none."""
    return ["(in order of relevance, not of probability)"] if rank == "relevant" else []


def ranking(proba: np.ndarray, shares: np.ndarray, rank: str) -> np.ndarray:
    """What words are ranked by, (n_topics, n_words): their probability, or their relevance."""
    return proba if rank == "probable" else relevance(proba, shares)


def first_words(proba: np.ndarray, shares: np.ndarray, n: int, rank: str) -> np.ndarray:
    """Places of the ``n`` first words of each topic, (n_topics, n), the first first."""
    return np.argsort(-ranking(proba, shares, rank), axis=1, kind="stable")[:, :n]

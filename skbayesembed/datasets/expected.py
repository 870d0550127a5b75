"""A source of documents, and how often two words are expected to make a pair in one of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import nbinom

# Lengths of documents that are exceeded with a smaller probability than this count for nothing.
_TAIL = 1e-15


class Source(NamedTuple):
    """What documents are drawn from; parameters as of `make_text`."""

    word_proba: np.ndarray  # (n_topics, n_words)
    stay: float
    topic_concentration: float
    word_concentration: float | None
    mean_length: float
    length_shape: float

    @property
    def n_topics(self):
        return len(self.word_proba)

    @property
    def topic_parameters(self):
        """Parameters of the Dirichlet distribution of shares, (n_topics,)."""
        return np.full(self.n_topics, self.topic_concentration / self.n_topics)

    def lengths_proba(self):
        """Lengths from 1 up to where nothing is left, and their probabilities."""
        shape = self.length_shape
        beyond_one = nbinom(shape, shape / (shape + self.mean_length - 1))
        values = np.arange(int(beyond_one.isf(_TAIL)) + 2)
        return values + 1, beyond_one.pmf(values)


class Amounts(NamedTuple):
    """Expected number of pairs of tokens of a document, each counted with its weight.

    Attributes
    ----------
    total : float
    same_run : float
        Of them, pairs of tokens between which no topic was drawn.
    """

    total: float
    same_run: float


def window_amounts(source: Source, window: int, window_weights: str) -> Amounts:
    """`Amounts` of pairs within a window: sums of 2 weight_d E max(L - d, 0) over distances d.

    Parameters
    ----------
    source : Source
    window : int
    window_weights : {"linear", "uniform"}
    """
    lengths, proba = source.lengths_proba()
    distance = np.arange(1, min(window, lengths[-1] - 1) + 1)
    places = np.array([proba @ np.maximum(lengths - d, 0) for d in distance])
    if window_weights == "linear":
        places *= 1 - (distance - 1) / window
    return Amounts(2 * float(places.sum()), 2 * float(places @ source.stay**distance))


def document_amounts(source: Source, pair_weights: str) -> Amounts:
    """`Amounts` of all pairs of a document.

    Parameters
    ----------
    source : Source
    pair_weights : {"token", "pairs"}
    """
    lengths, proba = source.lengths_proba()
    # in a document of L tokens, the sum of (L - d) stay^d over d < L is one of sums over m < L
    runs = np.cumsum(np.cumsum(source.stay ** (lengths[:-1])))
    pairs, runs = lengths * (lengths - 1.0), 2 * np.concatenate([[0.0], runs])
    if pair_weights == "token":
        pairs, runs = (x / np.maximum(lengths - 1, 1) for x in (pairs, runs))
    return Amounts(float(proba @ pairs), float(proba @ runs))


def expected_pairs(source: Source, amounts: Amounts) -> np.ndarray:
    """Expected number of pairs of target and context in a document, (n_words, n_words).

    Parameters
    ----------
    source : Source
    amounts : Amounts
        How many pairs of tokens count.
    """
    phi, total = source.word_proba, source.topic_concentration
    mean = source.topic_parameters / total
    second = (total * np.outer(mean, mean) + np.diag(mean)) / (total + 1)
    topics = (amounts.total - amounts.same_run) * second + amounts.same_run * np.diag(mean)
    positive = phi.T @ topics @ phi
    if source.word_concentration is not None:
        # tokens of one topic share the document's own phi: its variance over documents is added
        same = np.diag(topics)[:, None] * phi
        positive += (np.diag(same.sum(axis=0)) - same.T @ phi) / (source.word_concentration + 1)
    return positive

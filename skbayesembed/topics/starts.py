"""Where topics start: clusters of documents, or of words."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from ..inference.threads import libraries

# Words clustered to find the centres: the heaviest ones; the rest only join the nearest centre.
_MOST_WORDS = 30_000


def document_clusters(documents, n_components, rng):
    """A topic for every document, by k-means on means of the vectors of its words.

    Vectors are weighted by the square roots of the words' counts and by inverse document frequency,
    log((1 + M) / number of documents with the word), M documents having words, so that common words
    count little; the means are scaled to unit length.

    Parameters
    ----------
    documents : Documents
    n_components : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64 of shape (n_documents,), or None
        None where there are fewer documents with words than clusters.
    """
    d = documents
    filled = d.lengths > 0
    n_filled = np.count_nonzero(filled)
    if n_filled < n_components:
        return None
    rarity = np.log((1 + n_filled) / np.maximum(np.bincount(d.words, minlength=d.n_words), 1))
    weights = np.sqrt(d.counts.astype(float)) * rarity[d.words]
    table = sparse.csr_array((weights, d.words, d.indptr), shape=(d.n_documents, d.n_words))
    means = table @ d.vectors
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-300)
    return kmeans_assignment(means, filled.astype(float), n_components, rng, n_init=2)


def cluster_counts(documents, clusters, n_components):
    """Tokens of each word in documents of each cluster: ndarray of shape (n_components, V)."""
    of_entry = np.repeat(clusters, np.diff(documents.indptr))
    place = of_entry * documents.n_words + documents.words
    flat = np.bincount(place, documents.counts, n_components * documents.n_words)
    return flat.reshape(n_components, documents.n_words)


def kmeans_assignment(vectors, totals, n_components, rng, *, n_init=1):
    """A topic for every word type, by k-means on the vectors.

    Words are weighted by their occurrences, as in the likelihood. Topics that start from there come
    to a higher bound, and to more coherent words, than with equal weights or with square roots.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, n_dims)
    totals : array-like of shape (n_words,)
        Occurrences of each word; words that do not occur only join the nearest center.
    n_components : int
        At most the number of words.
    rng : numpy.random.Generator
    n_init : int
        Runs of k-means, the best of which is kept.

    Returns
    -------
    ndarray of int64 of shape (n_words,)
        Cluster of each word. Every cluster has a word, also where vectors coincide; it has a word
        that occurs if there are as many of those as clusters.

    Raises
    ------
    ValueError
        If there are fewer words than clusters.
    """
    vectors = np.asarray(vectors, dtype=float)
    weights = np.array(totals, dtype=float)
    if n_components > len(vectors):
        raise ValueError(
            f"{n_components} clusters need as many words, and there are {len(vectors)}: lower "
            "n_components."
        )
    seed = int(rng.integers(2**31 - 1))
    used = np.flatnonzero(weights > 0)
    if used.size < n_components:
        used, weights = np.arange(len(vectors)), np.ones(len(vectors))
    if used.size > _MOST_WORDS:
        # a choice by lot among those alike, as documents are
        order = np.lexsort((rng.random(used.size), -weights[used]))
        used = np.sort(used[order[:_MOST_WORDS]])
    different = np.unique(vectors[used], axis=0)
    if len(different) <= n_components:  # k-means would warn
        labels = pairwise_distances_argmin(vectors, different)
        return _fill(vectors, labels, weights, used, n_components)
    # the sums of threads would be added in the order in which they end
    with libraries().limit(limits=1):
        means = KMeans(n_components, n_init=n_init, random_state=seed)
        means.fit(vectors[used], sample_weight=weights[used])
        labels = means.predict(vectors).astype(np.int64)
    return _fill(vectors, labels, weights, used, n_components)


def _fill(vectors, labels, weights, used, n_components):
    """Give every empty cluster the word farthest from the mean of the heaviest cluster.

    Only ``used`` words count as members. A cluster that gives keeps at least one.
    """
    for empty in range(n_components):
        if np.any(labels[used] == empty):
            continue
        members = np.bincount(labels[used], minlength=n_components)
        mass = np.bincount(labels[used], weights=weights[used], minlength=n_components)
        largest = int(np.argmax(np.where(members > 1, mass, -1.0)))
        inside = used[labels[used] == largest]
        mean = np.average(vectors[inside], axis=0, weights=weights[inside])
        far = np.sum((vectors[inside] - mean) ** 2, axis=1)
        # where all vectors coincide, half of the words go
        moved = inside[[np.argmax(far)]] if far.max() > 0 else inside[: len(inside) // 2]
        labels[moved] = empty
    return labels

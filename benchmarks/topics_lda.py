"""Plain LDA beside Gaussian topics: scikit-learn's, and tomotopy's where it is installed."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation

from skbayesembed.topics.data import Documents
from skbayesembed.topics.predict_kernels import fold_in
from skbayesembed.topics.starts import cluster_counts, document_clusters

try:
    import tomotopy
except ImportError:
    tomotopy = None


def tomotopy_model(counts, k):
    """tomotopy's LDA with the documents, and the priors of the others."""
    model = tomotopy.LDAModel(k=k, alpha=1 / k, eta=0.01, seed=1)
    model.optim_interval = 0
    for d in range(counts.shape[0]):
        row = slice(*counts.indptr[d : d + 2])
        words = np.repeat(counts.indices[row], counts.data[row])
        if words.size:
            model.add_doc([str(word) for word in words])
    return model


def fit_tomotopy(counts, k, n_sweeps=500):
    """Word probabilities (K, V), the prior of documents (K,), and how long it learned."""
    model = tomotopy_model(counts, k)
    model.train(n_sweeps, workers=1)
    proba = np.zeros((k, counts.shape[1]))
    names = [int(word) for word in model.used_vocabs]
    for topic in range(k):
        proba[topic, names] = model.get_topic_word_dist(topic)
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=float), k).copy()
    return _smoothed(proba), alpha, f"{n_sweeps} sweeps"


def fit_sklearn(counts, k, seed):
    """As `fit_tomotopy`."""
    model = LatentDirichletAllocation(
        k, doc_topic_prior=1 / k, topic_word_prior=0.01, learning_method="online",
        batch_size=256, max_iter=10, random_state=seed,
    ).fit(sparse.csr_matrix(counts))  # fmt: skip
    return _smoothed(model.components_), np.full(k, 1 / k), "10 passes"


def _smoothed(proba):
    """No word has probability zero."""
    proba = proba + 1e-7 * proba.sum(axis=1, keepdims=True) / proba.shape[1]
    return proba / proba.sum(axis=1, keepdims=True)


def shares(counts, proba, alpha):
    """Shares of topics (D, K) by the fold-in of `GaussianLDA`, from probabilities (K, V)."""
    n, k = counts.shape[0], len(proba)
    documents = Documents.of(counts, np.empty((counts.shape[1], 1)))
    most = int(np.diff(documents.indptr).max())
    topics, spread = np.empty((n, k)), np.empty((n, k))
    fold_in(
        (documents.indptr, documents.words, documents.counts.astype(float)),
        np.ascontiguousarray(proba.T), alpha, np.zeros((n, k)), 0, n, 100, 5e-4,
        (np.empty((most, k)), np.empty((2, k))), topics, spread,
    )  # fmt: skip
    theta = topics + alpha
    return theta / theta.sum(axis=1, keepdims=True)


@njit(cache=True, error_model="numpy")
def _expected_tokens(indptr, words, counts, shares, documents, table, sizes, alpha, total):
    """One pass of CVB0 (Asuncion et al. 2009) over entries, whose topics are ``shares``.

    ``documents`` (M, K) and ``table`` (V, K), n + beta, follow; ``total`` is V beta.
    """
    k_all = alpha.size
    new = np.empty(k_all)
    for d in range(indptr.size - 1):
        for i in range(indptr[d], indptr[d + 1]):
            row, old, s = table[words[i]], shares[i], 0.0
            for k in range(k_all):
                new[k] = (documents[d, k] + alpha[k] - old[k]) * max(row[k] - old[k], 1e-12)
                new[k] /= sizes[k] + total
                s += new[k]
            for k in range(k_all):
                change = counts[i] * (new[k] / s - old[k])
                old[k] = new[k] / s
                documents[d, k] += change
                row[k] += change
                sizes[k] += change


def fit_from_documents(counts, vectors, k, seed, *, n_passes=100, smoothing=0.01):
    """Plain LDA from the k-means of documents that `GaussianLDA` starts from.

    Returns expected tokens (K, V), the prior of documents (K,), and how long it learned.
    """
    data = Documents.of(counts, vectors)
    clusters = document_clusters(data, k, np.random.default_rng(seed))
    of_entry = np.repeat(clusters, np.diff(data.indptr))
    shares = np.eye(k)[of_entry]
    tokens, alpha = data.counts.astype(float), np.full(k, 1 / k)
    documents = np.eye(k)[clusters] * data.lengths[:, None].astype(float)
    table = cluster_counts(data, clusters, k).T + smoothing
    sizes = (table - smoothing).sum(axis=0)
    for _ in range(n_passes):
        _expected_tokens(
            data.indptr, data.words, tokens, shares, documents, table, sizes, alpha,
            smoothing * data.n_words,
        )  # fmt: skip
    return np.maximum(table - smoothing, 0.0).T, alpha, f"{n_passes} passes"

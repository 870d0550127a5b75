import numpy as np
import pytest
from scipy import sparse

from skbayesembed.topics import starts
from skbayesembed.topics.data import Documents
from skbayesembed.topics.starts import cluster_counts, document_clusters, kmeans_assignment


def clusters(seed=0, n=60, n_dims=3):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    return 8.0 * np.eye(3)[truth, :n_dims] + rng.normal(size=(n, n_dims)), truth


def test_finds_planted_clusters():
    vectors, truth = clusters()
    found = kmeans_assignment(vectors, np.ones(60), 3, np.random.default_rng(1))
    assert found.dtype == np.int64
    # each found cluster is one planted one
    assert all(len(set(found[truth == t])) == 1 for t in range(3))
    assert len(set(found)) == 3


def test_same_seed_same_clusters():
    vectors, _ = clusters()
    a, b = (
        kmeans_assignment(vectors, np.arange(60), 7, np.random.default_rng(4)) for _ in range(2)
    )
    assert np.array_equal(a, b)


def test_heavy_words_decide():
    # weights of 0 and 1e6: the centres are those of the words that occur
    vectors = np.array([[0.0], [1.0], [100.0], [101.0]])
    totals = np.array([1e6, 1e6, 0.0, 0.0])
    found = kmeans_assignment(vectors, totals, 2, np.random.default_rng(0))
    assert found[0] != found[1]
    assert found[2] == found[3] == found[1]


@pytest.mark.parametrize("n_components", [1, 4, 9, 30])
def test_no_cluster_is_empty_where_vectors_coincide(n_components):
    vectors = np.repeat(np.eye(3), 10, axis=0)
    found = kmeans_assignment(vectors, np.ones(30), n_components, np.random.default_rng(0))
    assert np.array_equal(np.unique(found), np.arange(n_components))


@pytest.mark.parametrize("n_occurring", [5, 2, 0])
def test_no_cluster_is_empty_of_occurring_words_if_there_are_enough(n_occurring):
    vectors, _ = clusters(n=12)
    totals = np.where(np.arange(12) < n_occurring, 3.0, 0.0)
    found = kmeans_assignment(vectors, totals, 4, np.random.default_rng(0))
    members = found[totals > 0] if n_occurring >= 4 else found
    assert np.array_equal(np.unique(members), np.arange(4))


def test_more_clusters_than_words():
    with pytest.raises(ValueError, match="lower n_components"):
        kmeans_assignment(np.eye(3), np.ones(3), 4, np.random.default_rng(0))


def test_of_many_words_the_heaviest_are_clustered(monkeypatch):
    vectors, truth = clusters()
    monkeypatch.setattr(starts, "_MOST_WORDS", 20)
    found = kmeans_assignment(vectors, np.arange(60), 3, np.random.default_rng(1))
    assert all(len(set(found[truth == t])) == 1 for t in range(3))
    assert len(set(found)) == 3


def test_of_many_alike_some_of_everywhere_are_clustered(monkeypatch):
    """Documents weigh the same, and may come sorted."""
    vectors, truth = clusters()
    order = np.argsort(truth, kind="stable")
    monkeypatch.setattr(starts, "_MOST_WORDS", 18)
    found = kmeans_assignment(vectors[order], np.ones(60), 3, np.random.default_rng(1))
    assert all(len(set(found[truth[order] == t])) == 1 for t in range(3))
    assert len(set(found)) == 3


def corpus(counts, vectors):
    return Documents.of(sparse.csr_array(np.asarray(counts, dtype=float)), vectors)


def test_documents_are_clustered_by_their_words():
    """Three groups of words far apart; a word that all documents have says nothing."""
    rng = np.random.default_rng(0)
    centres = np.eye(3)[np.arange(12) % 3]
    vectors = np.vstack([centres + 0.05 * rng.normal(size=(12, 3)), [[5.0, 5.0, 5.0]]])
    truth = rng.integers(3, size=60)
    counts = np.zeros((61, 13))
    for d, topic in enumerate(truth):
        counts[d, rng.choice(np.arange(topic, 12, 3), 6)] += 1
        counts[d, 12] = 3
    documents = corpus(counts, vectors)
    clusters = document_clusters(documents, 3, np.random.default_rng(1))
    assert clusters.shape == (61,)
    table = np.zeros((3, 3))
    np.add.at(table, (truth, clusters[:60]), 1)
    assert np.sort(table, axis=1)[:, :2].sum() == 0
    sums = cluster_counts(documents, clusters, 3)
    expected = np.stack([counts[clusters == k].sum(axis=0) for k in range(3)])
    np.testing.assert_array_equal(sums, expected)


def test_too_few_documents_are_not_clustered():
    documents = corpus([[1, 1], [0, 2], [0, 0]], np.eye(2))
    assert document_clusters(documents, 3, np.random.default_rng(0)) is None
    assert set(document_clusters(documents, 2, np.random.default_rng(0))[:2]) == {0, 1}

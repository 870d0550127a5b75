import numpy as np
import pytest

from skbayesembed.inference.matching import (
    clusters,
    match,
    mean_of_aligned,
    similarities,
    similarity,
)


def weights(seed, k=4, n=30):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.3), size=n).T


@pytest.mark.parametrize("seed", range(3))
def test_match_undoes_a_permutation(seed):
    a = weights(seed)
    order = np.random.default_rng(seed).permutation(4)
    np.testing.assert_array_equal(a[order][match(a, a[order])], a)


def test_similarity_is_a_matched_cosine():
    a, b = weights(0), weights(1)
    assert similarity(a, a[::-1]) == pytest.approx(1)
    assert 0 < similarity(a, b) < 1
    expected = np.vdot(a, b[match(a, b)]) / np.linalg.norm(a) / np.linalg.norm(b)
    assert similarity(a, b) == pytest.approx(expected)
    table = similarities([a, b, a[::-1]])
    np.testing.assert_allclose(table, table.T)
    assert table[0, 2] == pytest.approx(1)


def test_clusters_are_numbered_by_size():
    rng = np.random.default_rng(0)
    small, large = weights(5), weights(6)
    draws = [np.clip(x + 0.02 * rng.normal(size=x.shape), 0, 1) for x in [small, *[large] * 3]]
    np.testing.assert_array_equal(clusters(similarities(draws), 0.9), [1, 0, 0, 0])
    np.testing.assert_array_equal(clusters(similarities(draws), 0.1), 0)
    np.testing.assert_array_equal(clusters(np.ones((1, 1)), 0.9), [0])


def test_mean_of_aligned_forgets_the_order():
    a = weights(2)
    rng = np.random.default_rng(1)
    draws = [a, *(a[rng.permutation(4)] for _ in range(5))]
    np.testing.assert_allclose(mean_of_aligned(draws), a)

"""The simulator of topics: its truth, its distributions, its refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from skbayesembed.datasets import make_topics


def test_shapes_and_sums():
    data = make_topics(30, 40, 3, n_dims=2, mean_length=20, random_state=0)
    assert data.counts.shape == (30, 40) and data.vectors.shape == (40, 2)
    assert data.means.shape == (3, 2) and data.covariances.shape == (3, 2, 2)
    np.testing.assert_allclose(data.theta.sum(axis=1), 1)
    np.testing.assert_allclose(data.word_proba.sum(axis=1), 1)
    lengths = np.asarray(data.counts.sum(axis=1)).ravel()
    np.testing.assert_array_equal(data.topic_counts.sum(axis=1), lengths)
    np.testing.assert_array_equal(data.word_counts.sum(axis=0), data.counts.sum(axis=0))
    np.testing.assert_array_equal(data.word_counts.sum(axis=1), data.topic_counts.sum(axis=0))


def test_every_token_a_word_of_its_own():
    data = make_topics(30, None, 3, n_dims=2, mean_length=20, random_state=0)
    n_tokens = int(data.counts.sum())
    assert data.counts.shape == (30, n_tokens) and data.counts.max() == 1
    assert data.vectors.shape == (n_tokens, 2) and data.word_proba is None


def test_seeds():
    first, again = (make_topics(10, 20, 2, random_state=3) for _ in range(2))
    assert (first.counts != again.counts).nnz == 0
    more = make_topics(50, 20, 2, mean_length=10, random_state=3)
    np.testing.assert_array_equal(more.vectors, first.vectors)
    np.testing.assert_array_equal(more.means, first.means)
    assert (make_topics(10, 20, 2, random_state=4).counts != first.counts).nnz > 0


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_word_probabilities(power):
    data = make_topics(5, 30, 2, n_dims=3, likelihood_power=power, random_state=1)
    for k in range(2):
        density = multivariate_normal(data.means[k], data.covariances[k]).pdf(data.vectors) ** power
        np.testing.assert_allclose(data.word_proba[k], density / density.sum(), rtol=1e-8)


def test_tokens_follow_the_truth():
    """40,000 tokens of a topic: shares of its words within 4.5 standard errors of a proportion."""
    data = make_topics(400, 20, 2, n_dims=2, mean_length=200, alpha=[1.0, 1.0], random_state=2)
    n = data.word_counts.sum(axis=1, keepdims=True)
    error = np.sqrt(data.word_proba * (1 - data.word_proba) / n)
    assert np.all(np.abs(data.word_counts / n - data.word_proba) < 4.5 * error + 1e-9)
    of_theta = np.sqrt(data.theta * (1 - data.theta) / 200)
    lengths = data.topic_counts.sum(axis=1, keepdims=True)
    wrong = np.abs(data.topic_counts / lengths - data.theta) > 4.5 * of_theta + 0.02
    assert wrong.mean() < 0.01


def test_vectors_follow_their_topics():
    """White vectors of 60,000 tokens have covariance I: se sqrt(2 / n) on the diagonal."""
    data = make_topics(300, None, 2, n_dims=3, mean_length=200, random_state=5)
    tokens = np.repeat(np.arange(300), np.asarray(data.counts.sum(axis=1)).astype(int).ravel())
    z = data.word_counts.argmax(axis=0)
    assert tokens.size == z.size == len(data.vectors)
    for k in range(2):
        chosen = data.vectors[z == k] - data.means[k]
        white = np.linalg.solve(np.linalg.cholesky(data.covariances[k]), chosen.T)
        error = 4.5 * np.sqrt(2 / chosen.shape[0])
        np.testing.assert_allclose(white @ white.T / len(chosen), np.eye(3), atol=error)
        np.testing.assert_allclose(white.mean(axis=1), 0, atol=error)


def test_covariances_have_the_mean_they_should():
    """Inverse Wishart with mean I; 500 topics, entries of variance about 0.4 at most."""
    data = make_topics(1, 500, 500, n_dims=2, degrees_of_freedom=12, random_state=0)
    np.testing.assert_allclose(
        data.covariances.mean(axis=0), np.eye(2), atol=4.5 * (0.4 / 500) ** 0.5
    )
    white = np.linalg.solve(np.linalg.cholesky(data.covariances), data.means[..., None])[..., 0]
    np.testing.assert_allclose(np.cov(white.T), 9 * np.eye(2), atol=4.5 * 9 * np.sqrt(2 / 500))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_documents": 0}, "n_documents must be an integer >= 1"),
        ({"n_words": 2.5}, "n_words must be an integer >= 1"),
        ({"n_topics": 0}, "n_topics must be an integer >= 1"),
        ({"n_dims": 0}, "n_dims must be an integer >= 1"),
        ({"mean_length": 0}, "mean_length must be a number > 0"),
        ({"alpha": 0.0}, "alpha must be a number > 0 or 5 of them"),
        ({"alpha": [1.0, 2.0]}, "alpha must be a number > 0 or 5 of them"),
        ({"alpha": "a"}, "alpha must be a number > 0 or 5 of them"),
        ({"separation": -1}, "separation must be a number >= 0"),
        ({"degrees_of_freedom": 6}, "degrees_of_freedom must be a number > 6"),
        ({"likelihood_power": 1.5}, "likelihood_power must be a number > 0 and <= 1"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be an int"),
    ],
)
def test_refusals(bad, message):
    with pytest.raises(ValueError, match=message):
        make_topics(**bad)

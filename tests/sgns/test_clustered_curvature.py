"""Products with the Hessian by clusters of rare contexts: the exact corner, symmetry, maps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers
from skbayesembed.inference.threads import serial
from skbayesembed.sgns import clusters
from skbayesembed.sgns.clustered import ClusteredModel
from skbayesembed.sgns.clustered_curvature import ClusteredCurvature
from skbayesembed.sgns.data import ProductPairs
from skbayesembed.sgns.laplace.hessian import Hessian
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts, RankOne

V, K, TAU = 300, 4, 2.0
N_FREQUENT = 60


@pytest.fixture(scope="module")
def model():
    positive = make_sgns(V, K, n_pairs=400_000, random_state=0).pairs.positive
    rows, columns = (np.asarray(positive.sum(axis=axis)).ravel() for axis in (1, 0))
    pairs = ProductPairs(PairCounts(positive, RankOne(rows, columns / columns.sum())))
    return SGNSModel(pairs, K, TAU)


@pytest.fixture(scope="module")
def vectors():
    return 0.3 * np.random.default_rng(0).standard_normal((2, V, K))


@pytest.fixture(scope="module")
def directions(vectors):
    """Two at random, and one along a map of the components, which the likelihood does not see."""
    rng = np.random.default_rng(1)
    rho, alpha = vectors
    along = rng.standard_normal((K, K))
    random = rng.standard_normal((2, 2, V, K))
    return np.stack([*random, np.stack([rho @ along, -alpha @ along.T])]).astype(np.float32)


def by_clusters(model, vectors, run=serial, soft=None):
    """``product(directions, observed, exact)``, words in their own order."""
    frequent = np.sort(model.pairs.by_frequency()[:N_FREQUENT])
    residuals = ClusteredModel(model, frequent).residuals(run)
    order = residuals.order
    point = np.take(vectors, order, axis=1).astype(np.float32)
    residuals.gather(*point)
    if soft is None:
        soft = np.random.default_rng(2).standard_normal((2, V, 3)).astype(np.float32)
    soft = np.take(soft, order, axis=1)
    curvature = ClusteredCurvature(residuals, point, model.prior.tau, soft, run)

    def product(directions, *how):
        out = np.empty_like(directions)
        out[:, :, order] = curvature.product(np.take(directions, order, axis=2), *how)
        return out

    return product


def exactly(model, vectors, directions, observed):
    hessian = Hessian(model, vectors)
    return (hessian if observed else hessian.expected()).product(directions.astype(float))


def off(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("observed", [True, False])
def test_without_clusters_it_is_exact(model, vectors, directions, observed):
    found = by_clusters(model, vectors)(directions, observed, True)
    expected = exactly(model, vectors, directions, observed)
    assert off(found, expected) < 1e-5  # single precision


@pytest.mark.parametrize("observed", [True, False])
def test_clusters_are_near(model, vectors, directions, observed):
    """Better than no negative observations of rare words at all, by far."""
    found = by_clusters(model, vectors)(directions, observed)
    expected = exactly(model, vectors, directions, observed)
    assert off(found, expected) < 0.01


@pytest.mark.parametrize("observed", [True, False])
def test_clusters_of_one_context_are_exact(model, vectors, directions, observed, monkeypatch):
    monkeypatch.setattr(clusters, "_CLUSTERS", V)
    monkeypatch.setattr(clusters, "_LEAST_VARIANCE", 1e-6)
    found = by_clusters(model, vectors)(directions, observed)
    # slopes are differences of probabilities over logits .001 apart, in single precision
    assert off(found, exactly(model, vectors, directions, observed)) < 1e-3


@pytest.mark.parametrize("observed", [True, False])
def test_it_is_symmetric(model, vectors, directions, observed):
    found = by_clusters(model, vectors)(directions, observed)
    gram = np.einsum("aswk,bswk->ab", found, directions, dtype=float)
    np.testing.assert_allclose(gram, gram.T, atol=1e-5 * np.abs(gram).max())


def test_it_bends_along_maps_as_the_exact_one(model, vectors, directions):
    """Residuals of clusters alone would bend it along these by what they are off."""
    found = by_clusters(model, vectors)(directions)
    expected = exactly(model, vectors, directions, True)
    bends = [np.vdot(directions[2], product[2]) for product in (found, expected)]
    assert bends[0] == pytest.approx(bends[1], rel=1e-4)


def test_threads_change_nothing(model, vectors, directions):
    with Workers(3) as run:
        found = by_clusters(model, vectors, run)(directions)
    np.testing.assert_array_equal(found, by_clusters(model, vectors)(directions))


def test_residuals_are_right_along_soft_directions(model, vectors):
    """However short these are beside the vectors, as those of frequent words are."""
    soft = 1e-4 * np.random.default_rng(2).standard_normal((2, V, 3)).astype(np.float32)
    product = by_clusters(model, vectors, soft=soft)
    along = soft[:, :, :1] * np.ones(K, np.float32)
    pull = product(along[None], False) - product(along[None], True)
    expected = exactly(model, vectors, along[None], False)
    expected -= exactly(model, vectors, along[None], True)
    assert off(pull, expected) < 1e-5


def test_contexts_in_no_cluster(vectors, monkeypatch):
    """Words without pairs, and all of a cluster of their own: they do not move, nor others."""
    monkeypatch.setattr(clusters, "_CLUSTERS", 4)
    positive = make_sgns(V, K, n_pairs=400_000, random_state=0).pairs.positive.toarray()
    positive[-20:] = positive[:, -20:] = 0.0
    rows, columns = positive.sum(axis=1), positive.sum(axis=0)
    noise = RankOne(rows, columns / columns.sum())
    model = SGNSModel(ProductPairs(PairCounts(sparse.csr_array(positive), noise)), K, TAU)
    vectors = vectors.copy()
    vectors[:, -20:] += 5.0
    directions = np.random.default_rng(3).standard_normal((1, 2, V, K)).astype(np.float32)
    found = by_clusters(model, vectors)(directions)
    assert off(found, exactly(model, vectors, directions, True)) < 0.01
    np.testing.assert_allclose(found[:, :, -20:], TAU * directions[:, :, -20:], rtol=1e-6)

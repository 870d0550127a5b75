"""The Hessian against finite differences of the gradient, its kernels against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit

from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers
from skbayesembed.sgns import data
from skbayesembed.sgns.couplings import GraphCoupling, GroupCoupling
from skbayesembed.sgns.data import DensePairs, ProductPairs, SparsePairs
from skbayesembed.sgns.laplace import hessian_kernels as hk
from skbayesembed.sgns.laplace.hessian import Hessian, free_entries
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts, RankOne
from skbayesembed.sgns.priors import Prior

V, K = 9, 3
ANCHORS = np.array([1, 4, 7])


def graph(rng):
    weights = sparse.triu(sparse.random_array((V, V), density=0.4, random_state=rng), 1)
    return GraphCoupling(weights + weights.T)


def prior(kind):
    if kind == "graph":
        return Prior(V, K, 2.0, couplings=(graph(np.random.default_rng(0)), None))
    if kind == "grouped":
        return Prior(V, K, 1.5, couplings=(GroupCoupling(np.arange(V) % 4 - 1, 2.0),) * 2)
    if kind == "informative":
        extra = np.zeros((V, K))
        extra[[2, 5], 1] = 30.0
        return Prior(V, K, 2.0, held=((extra, 0.7 * extra), None))
    return Prior(V, K, 2.0)


def table(seed=0):
    """Vectors, and counts of which a third are zero."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 7, 3))
    n = rng.integers(0, 3, (7, 7)) * rng.uniform(1, 5, (7, 7))
    return x, y, n, n * rng.uniform(-0.5, 0.5, n.shape)


def compressed(*arrays):
    """The pairs with observations in compressed rows: indptr, indices, values of each array."""
    seen = arrays[0] != 0
    indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return indptr, np.nonzero(seen)[1].astype(np.int32), *(a[seen] for a in arrays)


def curvature_twin(x, y, n, kappa):
    p = expit(x @ y.T)
    return n * p * (1 - p), kappa + n / 2 - n * p


def product_twin(x, y, slope, residual, dx, dy):
    out = np.zeros_like(x)
    for w in range(len(x)):
        for v in range(len(y)):
            change = x[w] @ dy[v] + dx[w] @ y[v]
            out[w] += slope[w, v] * change * y[v] - residual[w, v] * dy[v]
    return out


def test_curvature_kernels():
    x, y, n, kappa = table()
    slope, residual = curvature_twin(x, y, n, kappa)
    s, r = np.empty_like(n), np.empty_like(n)
    hk.curvature_rows_dense(x, y, n, kappa, s, r)
    assert_allclose(s, slope, atol=1e-13)
    assert_allclose(r, residual, atol=1e-13)
    indptr, indices, n_, kappa_, slope, residual = compressed(n, kappa, slope, residual)
    s, r = np.full_like(n_, np.nan), np.full_like(n_, np.nan)
    for a, b in ((0, 3), (3, 7)):
        hk.curvature_rows_sparse(a, b, indptr, indices, x, y, n_, kappa_, s, r)
    assert_allclose(s, slope, atol=1e-13)
    assert_allclose(r, residual, atol=1e-13)


@pytest.mark.parametrize("t", [-800.0, -40.0, -1e-9, 0.0, 30.0, 800.0])
def test_slopes_far_out(t):
    one = np.array([1.0])
    slope, residual = np.empty(1), np.empty(1)
    hk.slopes_and_residuals(np.array([t]), 3.0 * one, one, slope, residual)
    # sigma(t) sigma(-t), where neither factor is rounded to one
    assert_allclose(slope, 3.0 * expit(t) * expit(-t), rtol=1e-13, atol=1e-300)
    assert_allclose(residual, 2.5 - 3.0 * expit(t), rtol=1e-13)


def test_product_and_block_kernels():
    x, y, n, kappa = table(1)
    slope, residual = curvature_twin(x, y, n, kappa)
    dx, dy = np.random.default_rng(2).standard_normal((2, 7, 4, 3))
    indptr, indices, _, s, r = compressed(n, slope, residual)
    out = np.empty_like(dx)
    for a, b in ((0, 2), (2, 7)):
        hk.product_sparse(a, b, indptr, indices, x, y, s, r, dx, dy, out)
    for i in range(4):
        expected = product_twin(x, y, slope, residual, dx[:, i], dy[:, i])
        assert_allclose(out[:, i], expected)
    hk.product_sparse(0, 7, indptr, indices, x, y, s, r, None, dy, out)
    for i in range(4):
        expected = product_twin(x, y, slope, residual, 0 * dx[:, i], dy[:, i])
        assert_allclose(out[:, i], expected)
    blocks = np.einsum("wv,vi,vj->wij", slope, y, y)
    got = np.full((7, 3, 3), np.nan)
    hk.blocks_sparse(0, 7, indptr, indices, y, s, got)
    assert_allclose(got, blocks, atol=1e-13)


def test_blocks_of_words_without_pairs():
    y = np.ones((2, 3))
    out = np.full((2, 3, 3), np.nan)
    none = np.zeros(0)
    hk.blocks_sparse(0, 2, np.zeros(3, int), none.astype(np.int32), y, none, out)
    assert_allclose(out, 0.0)


def test_blocks_of_dense_tables(monkeypatch):
    """Products of components in runs of several, the last one shorter."""
    monkeypatch.setattr("skbayesembed.sgns.laplace.hessian._PRODUCTS", 4)
    data = make_sgns(V, K, 400, random_state=1)
    x, y = np.random.default_rng(4).standard_normal((2, V, K))
    hessian = Hessian(SGNSModel(DensePairs(data.pairs), K, 1.0), [x, y])
    for side, (mine, other) in enumerate(((x, y), (y, x))):
        pairs = hessian.model.pairs
        slope, _ = curvature_twin(mine, other, pairs.n[side], pairs.kappa[side])
        expected = np.einsum("wv,vi,vj->wij", slope, other, other)
        assert_allclose(hessian.pair_blocks(side, other), expected, rtol=1e-10, atol=1e-12)


@pytest.fixture(params=["normal", "graph", "grouped", "informative"])
def kind(request):
    return request.param


def model_and_vectors(kind, layout, anchored):
    data = make_sgns(V, K, 400, random_state=1)
    model = SGNSModel(layout(data.pairs), K, prior(kind))
    vectors = np.random.default_rng(3).standard_normal((2, V, K))
    if anchored:
        model = model.anchored(ANCHORS, vectors[1][ANCHORS])
    return model, vectors


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
@pytest.mark.parametrize("anchored", [False, True])
def test_against_differences_of_the_gradient(kind, layout, anchored):
    """Central differences of step h have errors of order h^2 and of rounding 1e-13 / h."""
    model, vectors = model_and_vectors(kind, layout, anchored)
    theta = model.pack({"rho": vectors[0], "alpha": vectors[1]})
    size, step = theta.size, 1e-5
    expected = np.empty((size, size))
    above, below = np.empty(size), np.empty(size)
    for i in range(size):
        moved = theta.copy()
        moved[i] += step
        model.logp_and_grad(moved, above)
        moved[i] -= 2 * step
        model.logp_and_grad(moved, below)
        expected[:, i] = (above - below) / (2 * step)
    hessian = Hessian(model, vectors)
    free = free_entries(model).ravel()
    matrix = hessian.matrix()
    assert_allclose(matrix[np.ix_(free, free)], -expected, atol=2e-8)
    assert_allclose(matrix, matrix.T, atol=1e-13)
    held = np.flatnonzero(~free)
    assert_allclose(matrix[held], np.eye(free.size)[held])


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
def test_parts_agree_with_the_matrix(kind, layout):
    model, vectors = model_and_vectors(kind, layout, anchored=False)
    free = np.random.default_rng(5).random((2, V, K)) < 0.8
    hessian = Hessian(model, vectors, free)
    whole = hessian.matrix().reshape(2, V, K, 2, V, K)
    direction = np.random.default_rng(6).standard_normal((2, V, K))
    inside = direction * free
    expected = np.tensordot(whole, inside, 3) * free
    assert_allclose(hessian.product(direction), expected, atol=1e-12)
    for side in (0, 1):
        words = np.arange(V)
        assert_allclose(hessian.blocks(side), whole[side, words, :, side, words], atol=1e-13)
        cross = np.tensordot(whole[side, :, :, 1 - side], inside[1 - side], 2) * free[side]
        assert_allclose(hessian.cross(side, direction[1 - side]), cross, atol=1e-12)


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
def test_expected(kind, layout):
    """Without residuals: sums of squares of gradients by the slopes, and the prior's precision."""
    model, vectors = model_and_vectors(kind, layout, anchored=False)
    hessian = Hessian(model, vectors)
    expected, matrix = hessian.expected(), np.zeros((2, V, K, 2, V, K))
    for w in range(V):
        for v, slope in enumerate(hessian.pair_row(w)[0]):
            gradient = np.zeros((2, V, K))
            gradient[0, w], gradient[1, v] = vectors[1, v], vectors[0, w]
            matrix += slope * np.multiply.outer(gradient, gradient)
    unit = np.eye(2 * V * K).reshape(-1, 2, V, K)
    of_prior = [[model.prior.apply(side, x) for side, x in enumerate(one)] for one in unit]
    matrix = matrix.reshape(len(unit), -1) + np.reshape(of_prior, (len(unit), -1))
    assert_allclose(expected.matrix(), matrix, atol=1e-12)
    assert_allclose(expected.product(unit).reshape(matrix.shape), matrix, atol=1e-12)
    small = expected.single().product(unit.astype(np.float32)).reshape(matrix.shape)
    assert_allclose(small, matrix, atol=1e-5 * np.abs(matrix).max())
    # what it was made of is as it was
    assert np.abs(hessian.matrix() - matrix).max() > 0.1


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
def test_several_directions_and_single_precision(kind, layout):
    """Several directions at once are as one by one; single precision has errors of some 1e-6."""
    model, vectors = model_and_vectors(kind, layout, anchored=True)
    hessian = Hessian(model, vectors)
    directions = np.random.default_rng(8).standard_normal((3, 2, V, K))
    product, cross = hessian.product(directions), hessian.cross(1, directions[:, 0])
    for i, direction in enumerate(directions):
        assert_allclose(product[i], hessian.product(direction), atol=1e-12)
        assert_allclose(cross[i], hessian.cross(1, direction[0]), atol=1e-12)
    single, small = hessian.single(), directions.astype(np.float32)
    for got, expected in (
        (single.product(small), product),
        (single.cross(1, small[:, 0]), cross),
    ):
        assert got.dtype == np.float32
        assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
def test_sums_over_pairs(layout):
    model, vectors = model_and_vectors("normal", layout, anchored=False)
    hessian = Hessian(model, vectors)
    y = np.random.default_rng(9).standard_normal((V, K))
    pairs = [hessian.pair_row(word) for word in range(V)]
    slope, residual = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    assert_allclose(hessian.residual_sums(0, y), residual @ y, atol=1e-12)
    assert_allclose(hessian.residual_sums(1, y), residual.T @ y, atol=1e-12)
    expected = np.einsum("wv,vi,vj->wij", slope, y, y)
    assert_allclose(hessian.pair_blocks(0, y), expected, atol=1e-12)


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
def test_threads_change_nothing(layout):
    model, vectors = model_and_vectors("normal", layout, anchored=False)
    model.blocks = [[(0, 2), (2, 3), (3, 9)]] * 2
    alone = Hessian(model, vectors)
    direction = np.random.default_rng(7).standard_normal((2, V, K))
    with Workers(3) as run:
        shared = Hessian(model, vectors, run=run)
        np.testing.assert_array_equal(shared.product(direction), alone.product(direction))
        for side in (0, 1):
            np.testing.assert_array_equal(shared.blocks(side), alone.blocks(side))
            one = shared.cross(side, direction[side])
            np.testing.assert_array_equal(one, alone.cross(side, direction[side]))


@pytest.fixture
def rows_of_four(monkeypatch):
    monkeypatch.setattr("skbayesembed.sgns.laplace.hessian._DENSE_ROWS", 4)


def test_without_tables_as_with(rows_of_four, monkeypatch):
    rng = np.random.default_rng(10)
    counts = PairCounts(rng.poisson(0.7, (V, V)), RankOne(rng.random(V), rng.random(V)))
    vectors, free = rng.standard_normal((2, V, K)), rng.random((2, V, K)) < 0.8
    model = SGNSModel(ProductPairs(counts), K, 1.3)
    kept = Hessian(model, vectors, free)
    monkeypatch.setattr(data, "KEPT_UPTO", V - 1)
    made = Hessian(model, vectors, free)
    assert made._slope is None
    directions = rng.standard_normal((2, 2, V, K))
    y = rng.standard_normal((V, K))
    for side in (0, 1):
        for pair in ((made, kept), (made.expected(), kept.expected())):
            cross = [h.cross(side, directions[:, 1 - side]) for h in pair]
            assert_allclose(*cross, atol=1e-12)
        assert_allclose(made.residual_sums(side, y), kept.residual_sums(side, y), atol=1e-12)
        assert_allclose(made.pair_blocks(side, y), kept.pair_blocks(side, y), atol=1e-12)
    assert_allclose(made.product(directions), kept.product(directions), atol=1e-12)
    assert_allclose(made.matrix(), kept.matrix(), atol=1e-12)
    small = directions.astype(np.float32)
    expected = kept.single().product(small)
    found = made.single().product(small)
    assert found.dtype == np.float32
    # rounding of slopes and residuals, and of sums in single precision
    assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())

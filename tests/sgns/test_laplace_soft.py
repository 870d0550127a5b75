"""The factor for the soft directions against dense matrices."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed.datasets import make_sgns
from skbayesembed.inference.laplace import whitening
from skbayesembed.inference.mode import find_mode
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.laplace import curvature
from skbayesembed.sgns.laplace.approximation import approximate
from skbayesembed.sgns.laplace.curvature import gaussian_at, seek_mode
from skbayesembed.sgns.laplace.hessian import Hessian
from skbayesembed.sgns.laplace.orbits import canonical_frame
from skbayesembed.sgns.laplace.soft import SoftMaps, worthwhile
from skbayesembed.sgns.model import SGNSModel, numerical_rank, pivot_contexts
from skbayesembed.sgns.priors import Prior

V, K = 60, 4


@functools.cache
def model_and_mode(layout, n_pairs, precision):
    data = make_sgns(V, K, n_pairs, zipf=True, random_state=1)
    model = SGNSModel(layout(data.pairs), K, precision)
    start = model.pack(model.start(np.random.default_rng(0)))
    return model, model.unpack(find_mode(model, start, max_iter=500, warn=False)[0])


def hessian_at_mode(layout, n_pairs=20_000, precision=2.0):
    model, arrays = model_and_mode(layout, n_pairs, precision)
    pivots = pivot_contexts(arrays["alpha"], model.pairs.observations(1))
    model = model.anchored(pivots, arrays["alpha"][pivots])
    return Hessian(model, seek_mode(model, arrays)[0])


def schur_and_factor(hessian):
    """The whitened Schur complement and F as matrices."""
    cross = gaussian_at(hessian, "schur").cross.matrix
    factor = gaussian_at(hessian, "krylov").rough.root.factor
    one = np.eye(V * K, dtype=np.float32)
    matrix = factor.apply(one).T.astype(float)
    assert_allclose(factor.transpose(one).T, matrix.T, atol=1e-5)
    return np.eye(V * K) - cross.T @ cross, matrix


@pytest.mark.parametrize("layout", [DensePairs, SparsePairs])
def test_within_the_directions_it_makes_the_identity(layout):
    """In single precision, of a matrix with a condition number of some 100."""
    hessian = hessian_at_mode(layout)
    schur, factor = schur_and_factor(hessian)
    lower = np.linalg.cholesky(hessian.blocks(1))
    directions = np.zeros((K, K, V, K))
    for i in range(K):
        for j in range(K):
            directions[i, j, :, j] = hessian.x[1][:, i]
    directions *= hessian.free[1]
    whitened = np.einsum("vij,abvi->abvj", lower, directions).reshape(K * K, -1)
    basis, _ = np.linalg.qr(whitened.T)
    better = factor.T @ schur @ factor
    assert_allclose(basis.T @ better @ basis, np.eye(K * K), atol=1e-4)
    # across it changes nothing
    across = np.eye(V * K) - basis @ basis.T
    assert_allclose(factor @ across, across, atol=1e-5)
    assert np.linalg.eigvalsh(basis.T @ schur @ basis).min() < 0.3
    assert np.linalg.cond(better) < 0.5 * np.linalg.cond(schur)


def barely(rank, n_pairs=2000):
    """Model, mode and canonical frame where the prior just lets so many components live."""
    for precision in 20 * 0.97 ** np.arange(11, 100):
        model, arrays = model_and_mode(DensePairs, n_pairs, precision)
        if numerical_rank(arrays["alpha"]) >= rank:
            return model, canonical_frame(model, seek_mode(model, arrays)[0])
    raise AssertionError(f"no precision has rank {rank}")


@pytest.mark.parametrize("rank", [1, pytest.param(2, marks=pytest.mark.slow), K])
def test_null_directions(rank):
    """Without anchors: what is null is found and made regular, and the rest as with anchors.

    Directions are soft where the prior is weak, or where it barely lets a component live.
    """
    if rank == K:
        model, arrays = model_and_mode(DensePairs, 20_000, 0.1)
        frame = canonical_frame(model, seek_mode(model, arrays)[0])
    else:
        model, frame = barely(rank)
    vectors, _, orbit, found = frame
    assert found == rank
    hessian = Hessian(model, vectors)
    blocks = [whitening(hessian.blocks(side)) for side in (0, 1)]
    cross = curvature._whitened_cross(hessian, blocks)
    schur = np.eye(V * K) - cross.T @ cross
    soft = SoftMaps(hessian, [w.astype(np.float32) for w in blocks])
    one = np.eye(V * K, dtype=np.float32)
    null = soft.along_null(one).astype(float)
    assert_allclose(null, null.T, atol=1e-5)
    assert_allclose(null @ null, null, atol=1e-4)
    assert_allclose(np.trace(null), orbit.dimension, rtol=1e-4)
    assert_allclose(schur @ null, 0.0, atol=1e-4)
    regular, factor = schur + null, soft.apply(one).T.astype(float)
    assert_allclose(soft.transpose(one), factor, atol=1e-5)
    assert_allclose(factor @ null, null, atol=1e-4)
    better = factor.T @ regular @ factor
    assert np.linalg.cond(better) < 0.7 * np.linalg.cond(regular)


def test_draws_need_fewer_products(monkeypatch):
    hessian = hessian_at_mode(SparsePairs, n_pairs=60_000, precision=0.03)
    facts = {}
    for use in (True, False):
        monkeypatch.setattr(curvature, "worthwhile", lambda model, use=use: use)
        gaussian = gaussian_at(hessian, "krylov")
        gaussian.draw(4, np.random.default_rng(0))
        facts[use] = np.mean([f["products"] for f in gaussian.root.facts])
    assert facts[True] < 0.7 * facts[False]


@pytest.mark.parametrize("precision", [8.0, pytest.param(9.5, marks=pytest.mark.slow)])
def test_dependent_contexts(precision):
    """A mode of rank below K: directions next to dependent must not make rounding errors large."""
    hessian = hessian_at_mode(SparsePairs, n_pairs=2000, precision=precision)
    assert np.linalg.matrix_rank(hessian.x[1], tol=1e-2) < K
    check_solutions(hessian)


def check_solutions(hessian):
    """One column of the covariance, and draws of an entry that the column belongs to."""
    gaussian = gaussian_at(hessian, "krylov")
    unit = np.zeros((1, 2, V, K))
    unit[0, 0, 3, 1] = 1.0
    covariance = np.linalg.inv(hessian.matrix())[np.flatnonzero(unit.ravel())[0]]
    expected = (covariance * hessian.free.ravel()).reshape(unit.shape)
    assert_allclose(gaussian.solve(unit), expected, atol=1e-7 * expected.max())
    draws = gaussian.draw(400, np.random.default_rng(1))[:, 0, 3, 1]
    # the relative standard error of a variance of 400 draws is sqrt(2 / 400)
    assert abs(np.mean(draws**2) / expected[0, 0, 3, 1] - 1) < 4 * np.sqrt(2 / 400)


@pytest.mark.parametrize(
    ("n_pairs", "precision", "anchored"),
    [
        (20_000, 2.0, True),
        pytest.param(20_000, 2.0, False, marks=pytest.mark.slow),
        (2000, 8.0, False),
    ],
)
def test_draws_against_the_factorised_hessian(n_pairs, precision, anchored):
    """Variances of 400 draws: their relative standard error is sqrt(2 / 400).

    There are 2 V K of them, dependent; their mean is taken to be as good as that of ten.
    """
    model, arrays = model_and_mode(SparsePairs, n_pairs, precision)
    if anchored:
        pivots = pivot_contexts(arrays["alpha"], model.pairs.observations(1))
        model = model.anchored(pivots, arrays["alpha"][pivots])
    exact, _ = approximate(model, arrays, method="schur")
    found, _ = approximate(model, arrays, method="krylov")
    assert found._gaussian.rough.root.factor is not None
    variance = np.einsum("swkk->swk", exact.block_covariances())
    draws = found.deviations(400, np.random.SeedSequence(3))
    seen = variance > 1e-9 * variance.max()
    assert np.abs(draws[:, ~seen]).max(initial=0.0) < 1e-3 * np.sqrt(variance.max())
    ratio = np.mean(draws[:, seen] ** 2, axis=0) / variance[seen]
    assert np.all(np.abs(ratio - 1) < 5.5 * np.sqrt(2 / 400))
    assert abs(np.mean(ratio) - 1) < 4 * np.sqrt(2 / 400) / np.sqrt(10)


def test_slices_across_an_orbit():
    """Entries held instead of anchors: nothing is null, and no factor is taken."""
    model, arrays = model_and_mode(DensePairs, 20_000, 2.0)
    vectors, free, _, _ = canonical_frame(model, seek_mode(model, arrays)[0])
    hessian = Hessian(model, vectors, free)
    assert gaussian_at(hessian, "krylov").rough.root.factor is None
    check_solutions(hessian)


def test_where_it_serves():
    data = make_sgns(V, K, 1000, random_state=1)
    model = SGNSModel(DensePairs(data.pairs), K, 1.0)
    assert worthwhile(model)
    assert worthwhile(model.anchored(np.arange(K), np.eye(K)))
    held = np.zeros((V, K))
    held[0, 0] = 1.0
    informed = Prior(V, K, 1.0, held=((held, held), None))
    assert not worthwhile(SGNSModel(DensePairs(data.pairs), K, informed))
    wide = SGNSModel(DensePairs(data.pairs), V // 2, 1.0)
    assert not worthwhile(wide.anchored(np.arange(V // 2), np.eye(V // 2)))

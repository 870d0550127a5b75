"""Balanced vectors: the same for every scaling of the sides, smooth, and turned to a reference."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.sgns.balance import along, along_transposed, balanced, balancing, nearest_rotation

V, K = 30, 4


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(2, V, K))


def test_products_stay_and_moments_are_equal(vectors):
    rho, alpha = balanced(vectors)
    np.testing.assert_allclose(rho @ alpha.T, vectors[0] @ vectors[1].T, atol=1e-12)
    np.testing.assert_allclose(rho.T @ rho, alpha.T @ alpha, atol=1e-12)


def test_against_the_singular_value_decomposition(vectors):
    u, values, vt = np.linalg.svd(vectors[0] @ vectors[1].T)
    root = np.sqrt(values[:K])
    expected = np.stack([u[:, :K] * root, vt[:K].T * root])
    found = balanced(vectors, expected)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_every_scaling_has_the_same(vectors):
    m = np.random.default_rng(1).normal(size=(K, K))
    moved = vectors[0] @ m, vectors[1] @ np.linalg.inv(m).T
    reference = balanced(vectors)
    np.testing.assert_allclose(balanced(moved, reference), reference, atol=1e-10)


def test_many_at_once(vectors):
    draws = np.stack([vectors, 1.3 * vectors + 0.1], axis=1)
    maps = balancing(draws, vectors)
    for i in (0, 1):
        for side, one in enumerate(balancing(draws[:, i], vectors)):
            np.testing.assert_allclose(maps[side][i], one, atol=1e-12)


def test_a_component_that_is_zero(vectors):
    vectors[:, :, 2] = 0.0
    found = balanced(vectors)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0] @ found[1].T, vectors[0] @ vectors[1].T, atol=1e-6)


def test_components_that_are_zero_stay_as_they_are(vectors):
    """What moves along them is not stretched: maps are rotations there."""
    vectors[:, :, 2:] = 0.0
    for m in balancing(vectors, np.random.default_rng(5).normal(size=(2, V, K))):
        values = np.linalg.svd(m)[1]
        assert 0.2 < values.min() and values.max() < 5


def test_zero_vectors():
    np.testing.assert_array_equal(balanced(np.zeros((2, V, K))), np.zeros((2, V, K)))


def test_derivatives_are_those_of_balanced_vectors(vectors):
    """Against central differences, turned to the vectors themselves."""
    centre, step = balanced(vectors), 1e-5
    shifts = np.random.default_rng(2).normal(size=(3, 2, V, K))
    expected = [
        (balanced(centre + step * s, centre) - balanced(centre - step * s, centre)) / (2 * step)
        for s in shifts
    ]
    along(centre, shifts)
    np.testing.assert_allclose(shifts, expected, atol=1e-7)


def test_the_transpose_of_derivatives(vectors):
    rng = np.random.default_rng(3)
    at = balanced(vectors)
    shifts, gradients = rng.normal(size=(2, 4, *at.shape))
    moved, pulled = shifts.copy(), gradients.copy()
    along(at, moved)
    along_transposed(at, pulled)
    products = [
        np.einsum("aswk,bswk->ab", *both) for both in ((gradients, moved), (pulled, shifts))
    ]
    np.testing.assert_allclose(*products, atol=1e-9 * np.abs(products).max())


def test_nearest_rotation(vectors):
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(K, K)))[0]
    np.testing.assert_allclose(nearest_rotation(vectors @ turn.T, vectors), turn, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 0.0])
@pytest.mark.parametrize("other", [1.0, 1e-3, 0.0])
def test_components_of_next_to_nothing_do_not_grow(size, other):
    """Logits stay, and no side gets more of a component than one had, however small it is."""
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((2, 30, 4))
    vectors[0, :, 2:] *= size
    vectors[1, :, 2:] *= size * other
    vectors = vectors @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    found = balanced(vectors)
    np.testing.assert_allclose(found[0] @ found[1].T, vectors[0] @ vectors[1].T, atol=1e-9)
    before, after = (np.linalg.svd(v, compute_uv=False)[:, 2].max() for v in (vectors, found))
    assert after <= 2 * before + 1e-9

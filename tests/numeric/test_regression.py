"""Least squares with CR2 against the formulas written out, unit by unit."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.numeric.regression import ClusteredLeastSquares


def written_out(x, y, index):
    """Coefficients, covariance and degrees of freedom by whole matrices."""
    n = len(x)
    bread = np.linalg.inv(x.T @ x)
    coefficients = bread @ x.T @ y
    hat = np.eye(n) - x @ bread @ x.T
    left, rows = y - x @ coefficients, np.zeros((index.max() + 1, len(bread), n))
    for g in range(index.max() + 1):
        here = index == g
        values, basis = np.linalg.eigh(hat[np.ix_(here, here)])
        adjust = basis @ np.diag(np.where(values > 1e-8, np.maximum(values, 1e-8), np.inf) ** -0.5)
        rows[g][:, here] = bread @ x[here].T @ adjust @ basis.T
    scores = rows @ left
    freedom = []
    for j in range(len(bread)):
        own = rows[:, j] @ hat  # residuals of independent rows
        quadratic = own @ own.T
        freedom.append(np.trace(quadratic) ** 2 / np.sum(quadratic**2))
    return coefficients, scores.T @ scores, np.array(freedom)


@pytest.mark.parametrize("sizes", [[1] * 12, [3, 4, 2, 5], [1, 6, 1, 4, 1, 1]], ids=str)
def test_against_the_formulas(sizes):
    rng = np.random.default_rng(len(sizes))
    index = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    x = np.column_stack([np.ones(index.size), rng.normal(size=index.size), index % 2])
    y = rng.normal(size=(index.size, 2))
    regression = ClusteredLeastSquares(x, index)
    coefficients, influence = regression.fit(y)
    for k in range(2):
        expected, covariance, freedom = written_out(x, y[:, k], index)
        np.testing.assert_allclose(coefficients[:, k], expected, atol=1e-10)
        found = influence[:, :, k].T @ influence[:, :, k]
        np.testing.assert_allclose(found, covariance, atol=1e-10)
        np.testing.assert_allclose(regression.freedom, np.maximum(freedom, 1), rtol=1e-6)
    assert regression.n_units == len(sizes)


def test_a_unit_that_decides_alone():
    """Its dummy leaves it no residual on the mean: what cannot be known has no freedom."""
    index = np.repeat(np.arange(5), 4)
    x = np.column_stack([np.ones(20), index == 0, np.random.default_rng(0).normal(size=20)])
    regression = ClusteredLeastSquares(x, index)
    _, influence = regression.fit(np.random.default_rng(1).normal(size=(20, 1)))
    assert np.isfinite(influence).all()
    assert np.isnan(regression.freedom).tolist() == [False, True, False]


def test_equal_units_have_the_textbook_freedom():
    """A mean over G equal units has G - 1 degrees of freedom and their variance over G."""
    values = np.random.default_rng(3).normal(size=7)
    index = np.repeat(np.arange(7), 3)
    regression = ClusteredLeastSquares(np.ones((21, 1)), index)
    mean, influence = regression.fit(values[index][:, None])
    assert regression.freedom[0] == pytest.approx(6)
    assert mean[0, 0] == pytest.approx(values.mean())
    assert np.sum(influence**2) == pytest.approx(values.var(ddof=1) / 7)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_columns_on_very_different_scales(scale):
    rng = np.random.default_rng(4)
    index = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    x = np.column_stack([np.ones(index.size), rng.normal(size=(index.size, 2))])
    y = rng.normal(size=(index.size, 2))
    as_is, scaled = (ClusteredLeastSquares(x * factor, index) for factor in (1, [1, scale, 1]))
    np.testing.assert_allclose(scaled.freedom, as_is.freedom, rtol=1e-8)
    for was, found in zip(as_is.fit(y), scaled.fit(y), strict=True):
        found[..., 1, :] *= scale
        np.testing.assert_allclose(found, was, rtol=1e-6, atol=1e-12)

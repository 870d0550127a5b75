import numpy as np
import pytest

from skbayesembed.numeric.tridiagonal import Tridiagonal

CASES = [
    Tridiagonal.autoregression(6, 0.9, 0.25),
    Tridiagonal.autoregression(1, 0.5, 2.0),
    Tridiagonal.walk(5, 0.2, 2.5),
    Tridiagonal.walk(1, 0.2, 2.5),
    Tridiagonal.ornstein_uhlenbeck([1.0, 4.0, 0.3], 0.2, 0.5),
    Tridiagonal.ornstein_uhlenbeck([], 0.2, 0.5),
]


def covariance_of_autoregression(n, alpha, variance):
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return variance / (1 - alpha**2) * alpha**lag


@pytest.mark.parametrize(("n", "alpha", "variance"), [(6, 0.9, 0.25), (2, -0.4, 1.0), (1, 0.5, 2)])
def test_autoregression_is_stationary(n, alpha, variance):
    precision = Tridiagonal.autoregression(n, alpha, variance).dense()
    expected = covariance_of_autoregression(n, alpha, variance)
    np.testing.assert_allclose(np.linalg.inv(precision), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_walk_has_the_covariance_of_a_walk(n):
    precision = Tridiagonal.walk(n, 0.2, 2.5).dense()
    place = np.arange(n)
    expected = 2.5 + 0.2 * np.minimum.outer(place, place)
    np.testing.assert_allclose(np.linalg.inv(precision), expected, rtol=1e-10)


@pytest.mark.parametrize("gaps", [[], [0.5], [1.0, 4.0, 0.3, 1e-3]])
def test_ornstein_uhlenbeck_has_the_covariance_of_one(gaps):
    """Also far below the variance, where steps are of variance 2 rate gap variance."""
    time = np.concatenate([[0.0], np.cumsum(gaps)])
    distance = np.abs(np.subtract.outer(time, time))
    for rate in (0.2, 1e-5):
        precision = Tridiagonal.ornstein_uhlenbeck(gaps, rate, 0.5).dense()
        # the condition number is up to 1 / (rate * gap) = 1e8
        expected = 0.5 * np.exp(-rate * distance)
        np.testing.assert_allclose(np.linalg.inv(precision), expected, rtol=1e-7)


def test_ornstein_uhlenbeck_without_a_time_is_that_of_the_other_times():
    """Integrating a time out: the Schur complement of the precision."""
    full = Tridiagonal.ornstein_uhlenbeck([1.0, 4.0, 0.3], 0.2, 0.5).dense()
    short = Tridiagonal.ornstein_uhlenbeck([5.0, 0.3], 0.2, 0.5).dense()
    rest = [0, 2, 3]
    pulled = np.outer(full[rest, 1], full[1, rest]) / full[1, 1]
    np.testing.assert_allclose(full[np.ix_(rest, rest)] - pulled, short, atol=1e-12)


@pytest.mark.parametrize("precision", CASES)
def test_products_and_determinants_against_dense(precision):
    x = np.random.default_rng(0).normal(size=(precision.n, 3, 2))
    expected = np.einsum("ij,jkl->ikl", precision.dense(), x)
    np.testing.assert_allclose(precision.apply(x), expected, atol=1e-12)
    expected = np.linalg.slogdet(precision.dense())[1]
    np.testing.assert_allclose(precision.log_determinant(), expected, rtol=1e-10)


@pytest.mark.parametrize("precision", CASES)
def test_draws_have_the_covariance(precision):
    n = 20_000
    x = precision.sample(np.random.default_rng(1), (n,))
    assert x.shape == (precision.n, n)
    expected = np.linalg.inv(precision.dense())
    scale = np.sqrt(np.diag(expected))
    # the standard error of a sample correlation is at most 1 / sqrt(n); of a variance sqrt(2 / n)
    error = (np.cov(x).reshape(expected.shape) - expected) / np.outer(scale, scale)
    assert np.abs(error).max() < 5 * np.sqrt(2 / n)

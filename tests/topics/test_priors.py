"""NIW algebra against scipy's distributions and plain sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import multigammaln

from skbayesembed.topics.niw_kernels import relative_weights, root_weighted_rows
from skbayesembed.topics.priors import (
    NIW,
    Gaussians,
    log_density_table,
    lower_inverses,
    squared_distances,
    topic_moments,
)
from tests.helpers.topic_twins import (
    expected_log_density,
    log_normaliser,
    posterior_of,
    predictive,
)

E, K, V = 5, 3, 40


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def vectors(rng):
    return rng.standard_normal((V, E)) + 3.0


@pytest.fixture
def prior(vectors):
    return NIW.from_vectors(vectors, np.ones(V), kappa=0.8, nu=E + 4.0)


@pytest.fixture
def weights(rng):
    weights = rng.integers(0, 3, (K, V)).astype(float)
    weights[2] = 0.0
    return weights


@pytest.fixture
def posterior(prior, vectors, weights):
    return prior.update(*topic_moments(vectors, 0.7 * weights))


def test_moments(vectors, weights):
    n, mean, scatter = topic_moments(vectors, weights)
    np.testing.assert_allclose(n, weights.sum(axis=1))
    for k in (0, 1):
        np.testing.assert_allclose(mean[k], np.average(vectors, axis=0, weights=weights[k]))
        expected = n[k] * np.cov(vectors.T, aweights=weights[k], bias=True)
        np.testing.assert_allclose(scatter[k], expected, atol=1e-12)
    assert not mean[2].any() and not scatter[2].any()


def test_moments_far_from_the_origin(vectors, weights):
    """Centred sums keep their digits where plain second moments would lose all of them."""
    near, far = topic_moments(vectors, weights), topic_moments(vectors + 1e8, weights)
    np.testing.assert_allclose(far[2], near[2], atol=1e-5)


def test_update_equals_plain_sums(prior, vectors, weights, posterior):
    for k in range(K):
        repeated = np.repeat(vectors, weights[k].astype(int), axis=0)
        kappa, nu, mean, scale = posterior_of(prior, repeated, 0.7)
        np.testing.assert_allclose(posterior.kappa[k], kappa)
        np.testing.assert_allclose(posterior.nu[k], nu)
        np.testing.assert_allclose(posterior.mean[k], mean)
        np.testing.assert_allclose(posterior.scale[k], scale, atol=1e-9)


def test_an_empty_topic_is_the_prior(prior, posterior):
    np.testing.assert_array_equal(posterior.mean[2], prior.mean)
    np.testing.assert_array_equal(posterior.scale[2], prior.scale)
    assert posterior.kappa[2] == prior.kappa and posterior.nu[2] == prior.nu


def test_normaliser_and_density_against_scipy(rng, posterior):
    """Unnormalised density over normaliser = scipy's inverse Wishart times its normal."""
    covariance = stats.invwishart(E + 3, np.eye(E)).rvs(random_state=1)
    mu = rng.standard_normal(E)
    inverse = np.linalg.inv(covariance)
    constants = posterior.log_normaliser()
    for k in range(K):
        m, kappa, nu, scale = (
            np.asarray(part)[k]
            for part in (posterior.mean, posterior.kappa, posterior.nu, posterior.scale)
        )
        assert constants[k] == pytest.approx(log_normaliser(kappa, nu, scale))
        value = -0.5 * (nu + E + 2) * np.linalg.slogdet(covariance)[1]
        value -= 0.5 * np.trace(scale @ inverse) + 0.5 * kappa * (mu - m) @ inverse @ (mu - m)
        expected = stats.invwishart(nu, scale).logpdf(covariance)
        expected += stats.multivariate_normal(m, covariance / kappa).logpdf(mu)
        assert value - constants[k] == pytest.approx(expected)


def test_predictive_is_a_multivariate_t(posterior, vectors):
    location, shape, df = predictive(posterior)
    table = posterior.log_predictive(vectors)
    for k in range(K):
        expected = stats.multivariate_t(location[k], shape[k], df[k]).logpdf(vectors)
        np.testing.assert_allclose(table[:, k], expected)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_predictive_is_a_ratio_of_normalisers(prior, posterior, vectors, power):
    """Also of evidence: a token more, weighted by the power."""
    table = posterior.log_predictive(vectors, power)
    for k in range(K):
        one = NIW(posterior.mean[k], posterior.kappa[k], posterior.nu[k], posterior.scale[k])
        after = one.update(power, vectors[7], np.zeros((E, E)))
        assert table[7, k] == pytest.approx(float(after.log_evidence(one, power)))


def test_evidence_is_the_product_of_predictives(prior, vectors):
    value, seen = 0.0, prior
    for v in vectors[:6]:
        location, shape, df = predictive(seen)
        value += stats.multivariate_t(location, shape, df).logpdf(v)
        seen = seen.update(1.0, v, np.zeros((E, E)))
    assert float(seen.log_evidence(prior, 6)) == pytest.approx(value)


@pytest.mark.slow
def test_expected_log_density(posterior, vectors):
    """Against the mean over draws, within five standard errors of it."""
    rng = np.random.default_rng(5)
    draws = np.array([posterior.sample(rng).log_density(vectors[:4]) for _ in range(4000)])
    error = draws.std(axis=0) / np.sqrt(len(draws))
    difference = draws.mean(axis=0) - expected_log_density(posterior, vectors[:4])
    assert np.all(np.abs(difference) < 5 * error)


@pytest.mark.slow
def test_samples(posterior):
    """Means of mu, Sigma and log |Sigma^-1| and spread of mu, within five standard errors."""
    rng = np.random.default_rng(2)
    draws = [posterior.sample(rng) for _ in range(6000)]
    mu = np.array([g.mean for g in draws])
    sigma = np.array([g.covariance for g in draws])
    log_precision = -np.linalg.slogdet(sigma)[1]
    nu = posterior.nu
    expected = multigammaln(nu / 2 + 1e-5, E) - multigammaln(nu / 2 - 1e-5, E)
    expected = expected / 2e-5 + E * np.log(2) - posterior.log_determinant()
    mean_covariance = posterior.mean_covariance()
    centred = mu - posterior.mean
    spread = mean_covariance / posterior.kappa[:, None, None]
    for drawn, known in (
        (mu, posterior.mean),
        (sigma, mean_covariance),
        (log_precision, expected),
        (centred[..., :, None] * centred[..., None, :], spread),
    ):
        error = drawn.std(axis=0) / np.sqrt(len(drawn))
        assert np.all(np.abs(drawn.mean(axis=0) - known) < 5 * error)


def test_samples_have_the_wishart_law(posterior):
    """a' Sigma^-1 a / a' Psi^-1 a is chi-square of nu degrees of freedom for every a."""
    rng = np.random.default_rng(3)
    a = np.arange(1.0, E + 1)
    draws = np.array([((posterior.sample(rng).whitener @ a) ** 2).sum(axis=1) for _ in range(2000)])
    for k in range(K):
        scaled = draws[:, k] / (a @ np.linalg.solve(posterior.scale[k], a))
        assert stats.kstest(scaled, stats.chi2(posterior.nu[k]).cdf).pvalue > 1e-3


def test_density_table(rng, posterior, vectors):
    gaussians = posterior.sample(rng)
    table = gaussians.log_density(vectors)
    for k in range(K):
        expected = stats.multivariate_normal(gaussians.mean[k], gaussians.covariance[k])
        np.testing.assert_allclose(table[:, k], expected.logpdf(vectors))
    np.testing.assert_allclose(
        log_density_table(gaussians.mean, gaussians.covariance, vectors), table
    )
    again = Gaussians.of(gaussians.mean, gaussians.covariance)
    np.testing.assert_allclose(again.whitener, gaussians.whitener, atol=1e-10)


@pytest.mark.parametrize("n_dims", [1, 2, 7])
@pytest.mark.parametrize("n_words", [1, 300, 9000])
def test_distances_in_blocks(n_dims, n_words):
    rng = np.random.default_rng(n_dims)
    vectors = rng.standard_normal((n_words, n_dims))
    centres = rng.standard_normal((4, n_dims))
    whiteners = np.tril(rng.standard_normal((4, n_dims, n_dims)))
    y = np.einsum("kij,vkj->vki", whiteners, vectors[:, None] - centres)
    np.testing.assert_allclose(
        squared_distances(vectors, centres, whiteners), (y**2).sum(axis=2), atol=1e-12
    )


def test_lower_inverses(rng):
    roots = np.tril(rng.standard_normal((3, 6, 6))) + 3 * np.eye(6)
    roots[:, 0, 5] = 9.0  # above the diagonal: not looked at
    np.testing.assert_allclose(lower_inverses(roots) @ np.tril(roots), [np.eye(6)] * 3, atol=1e-12)


def test_relative_weights(rng):
    logs = 20 * rng.standard_normal((6, 3))
    out = np.full((6, 5), 7.0)
    relative_weights(logs, 0.5, -9.0, out, None)
    expected = np.exp(np.maximum(0.5 * (logs - logs.max(axis=1, keepdims=True)), -9.0))
    np.testing.assert_allclose(out[:, :3], expected)
    assert not out[:, 3:].any()
    top = np.empty(6)
    relative_weights(logs, 0.5, -np.inf, out, top)
    np.testing.assert_allclose(out[:, :3], np.exp(0.5 * logs - top[:, None]))
    np.testing.assert_allclose(top, 0.5 * logs.max(axis=1))


def test_root_weighted_rows(rng, vectors):
    rows, weight, mean = np.array([3, 1, 8]), np.array([2.0, 0.5, 4.0]), rng.standard_normal(E)
    out = np.empty((3, E))
    root_weighted_rows(vectors, rows, weight, mean, out)
    np.testing.assert_allclose(out, np.sqrt(weight)[:, None] * (vectors[rows] - mean))


def test_default_prior(vectors, rng):
    totals = rng.integers(1, 9, V).astype(float)
    prior = NIW.from_vectors(vectors, totals)
    covariance = np.cov(vectors.T, aweights=totals, bias=True)
    np.testing.assert_allclose(prior.mean, np.average(vectors, axis=0, weights=totals))
    assert prior.kappa == 1.0 and prior.nu == E + 2
    expected = 0.9 * covariance + 0.1 * np.trace(covariance) / E * np.eye(E)
    np.testing.assert_allclose(prior.mean_covariance(), expected)


def test_default_prior_of_few_vectors():
    """Definite with fewer words than dimensions, and where all vectors are the same."""
    for vectors in (np.eye(2, 5), np.ones((3, 5))):
        prior = NIW.from_vectors(vectors, np.ones(len(vectors)))
        assert np.all(np.linalg.eigvalsh(prior.scale) > 0)


def test_distances_of_single_precision():
    rng = np.random.default_rng(0)
    vectors, centres = rng.standard_normal((50, 6)), rng.standard_normal((4, 6))
    whiteners = np.tril(rng.standard_normal((4, 6, 6)))
    exact = squared_distances(vectors, centres, whiteners)
    found = squared_distances(vectors.astype(np.float32), centres, whiteners)
    assert found.dtype == np.float32
    # rounding of sums of 21 products: 1e-7 times some ten
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)

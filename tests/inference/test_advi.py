import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.inference.advi import mean_field


class Gaussian:
    """N(mean, inverse of a precision matrix)."""

    def __init__(self, mean, precision):
        self.mean, self.precision = mean, precision
        self.n_parameters, self.scale = mean.size, np.ones(mean.size)

    def logp_and_grad(self, theta, out):
        out[:] = -self.precision @ (theta - self.mean)
        return 0.5 * float((theta - self.mean) @ out)

    def pack(self, arrays):
        return arrays["theta"]

    def unpack(self, theta):
        return {"theta": theta}


def correlated(n=4):
    rng = np.random.default_rng(0)
    factor = np.eye(n) + 0.4 * rng.normal(size=(n, n))
    return Gaussian(rng.normal(size=n), factor @ factor.T)


def test_means_and_deviations_of_a_gaussian():
    """The best independent Gaussian has its means and one over its conditional precisions."""
    model = correlated()
    found, facts = mean_field(model, np.zeros(4), np.random.default_rng(1), max_iter=4000)
    assert facts["converged"]
    expected = np.diag(model.precision) ** -0.5
    # the average of a window of Adam's steps is within a few hundredths of its end
    np.testing.assert_allclose(found.mean, model.mean, atol=0.03)
    np.testing.assert_allclose(found.deviation, expected, rtol=0.1)


def test_the_bound_is_below_the_log_evidence():
    model = correlated()
    found, _ = mean_field(model, model.mean, np.random.default_rng(2), max_iter=4000)
    evidence = 0.5 * (4 * np.log(2 * np.pi) - np.linalg.slogdet(model.precision)[1])
    gap = 0.5 * (np.sum(np.log(np.diag(model.precision))) - np.linalg.slogdet(model.precision)[1])
    assert found.elbo[-1] < evidence
    # the gap is a Kullback-Leibler divergence known in closed form; a window averages 100 draws
    assert evidence - found.elbo[-1] == pytest.approx(gap, abs=0.3)


def test_draws_have_the_moments_found():
    found, _ = mean_field(correlated(), np.zeros(4), np.random.default_rng(3), max_iter=300)
    draws = found.sample(20_000, np.random.default_rng(4))
    error = (draws.mean(axis=0) - found.mean) / found.deviation
    assert np.abs(error).max() < 5 / np.sqrt(20_000)
    np.testing.assert_allclose(draws.std(axis=0), found.deviation, rtol=5 / np.sqrt(40_000))


def test_the_limit_of_iterations_is_named():
    model = Gaussian(np.full(3, 50.0), np.eye(3))
    with pytest.warns(ConvergenceWarning, match="max_iter=200"):
        mean_field(model, np.zeros(3), np.random.default_rng(0), max_iter=200)


def test_same_seed_same_answer():
    runs = [
        mean_field(correlated(), np.zeros(4), np.random.default_rng(5), max_iter=300)[0]
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)

"""The mode as a point estimate."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.map import solve
from skbayesembed.dynamic.model import DynamicDensity, DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.records import Settings

V, K, T, EMPTY = 12, 2, 4, 2


@pytest.fixture(scope="module")
def model():
    data = make_dynamic_sgns(
        V, K, T, 100, times=[0, 1, 3, 4], empty_periods=[EMPTY], random_state=0
    )
    prior = DriftPrior(np.diff(data.times), 1.5, 0.3)
    return DynamicModel.of_counts(data.pairs, K, prior, np.random.default_rng(1))


def mode_of(model, max_iter=500):
    estimator = SimpleNamespace(max_iter=max_iter, tol=1e-8, verbose=0, n_jobs=1)
    problem = SimpleNamespace(model=model)
    return solve(estimator, problem, Settings(1, 0), np.random.SeedSequence(0))


def test_the_mode(model):
    found = mode_of(model)
    assert found.draws["rho"].shape == found.draws["alpha"].shape == (1, 1, T, V, K)
    assert found.facts["converged"]
    arrays = {name: values[0, 0] for name, values in found.draws.items()}
    density = DynamicDensity(model)
    theta = density.pack(arrays)
    gradient = np.empty_like(theta)
    value = density.logp_and_grad(theta, gradient)
    assert value == pytest.approx(found.facts["lp"], rel=1e-12)
    assert np.abs(gradient).max() < 1e-3
    # in the frame of recorded draws
    np.testing.assert_allclose(
        model.in_frame(arrays["alpha"], arrays["rho"])[0], arrays["rho"], atol=1e-12
    )
    # an empty period lies where the prior has it between its neighbours
    precision = model.prior.tridiagonal().dense()
    between = -np.delete(precision[EMPTY], EMPTY) / precision[EMPTY, EMPTY]
    for x in arrays.values():
        expected = np.tensordot(between, np.delete(x, EMPTY, axis=0), axes=1)
        np.testing.assert_allclose(x[EMPTY], expected, atol=1e-3)
    np.testing.assert_array_equal(mode_of(model).draws["rho"], found.draws["rho"])


def test_a_mode_that_was_not_reached(model):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        found = mode_of(model, max_iter=2)
    assert not found.facts["converged"]

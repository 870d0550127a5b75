"""The mode that intervals by units are about, where a search for it has ended at a saddle point."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.documents import mode
from skbayesembed.dynamic.documents.asked import products_of, sooner
from skbayesembed.dynamic.laplace.approximation import DynamicLaplace
from skbayesembed.dynamic.model import DynamicDensity, DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.chains import serial


@pytest.fixture(scope="module")
def density():
    data = make_dynamic_sgns(12, 2, 4, 1500, times=[0, 1, 3, 4], random_state=0)
    prior = DriftPrior(np.diff(data.times), 2.0, 0.02)
    model = DynamicModel.of_counts(data.pairs, 2, prior, np.random.default_rng(0))
    return DynamicDensity(model, dense=True)


@pytest.mark.parametrize("large", [0, 10**6], ids=["rough", "exact"])
def test_a_saddle_point_is_left(density, large, monkeypatch):
    """Which zero is; and L-BFGS goes on where Newton's first steps have led."""
    climb, found = mode.find_mode_only, []

    def ends_at_once(density, theta, **options):
        theta = theta if not found else climb(density, theta, **options)
        found.append(theta)
        return theta

    monkeypatch.setattr(mode, "find_mode_only", ends_at_once)
    monkeypatch.setattr(mode, "_FEW_STEPS", 2)
    monkeypatch.setattr(mode, "LARGE", large)
    start = 1e-3 * np.random.default_rng(4).standard_normal(density.n_parameters)
    theta = mode.mode_of(density, start, serial)
    assert len(found) >= 2 and found[0] is start
    gradient = np.empty_like(theta)
    low = density.logp_and_grad(start, gradient)
    assert density.logp_and_grad(theta, gradient) > low + 10.0
    # a thousandth of a posterior standard deviation, in coordinates in which that is about one
    assert np.abs(gradient).max() < 1e-3
    # where the Hessian has no direction up: there is a factor of it
    assert DynamicLaplace(density, density.vectors(theta), "blocks").rank == 2
    # and products of the systems that are solved there are counted, for those who wait
    gaussian, told = DynamicLaplace(density, density.vectors(theta), "rough"), []
    gaussian.at_product(lambda: told.append(1))
    gaussian.solve(np.random.default_rng(5).standard_normal((2, *density.shape)), 1e-3)
    assert len(told) > 1


def test_a_mode_that_is_not_reached(density, monkeypatch):
    monkeypatch.setattr(mode, "find_mode_only", lambda density, theta, **_: theta)
    monkeypatch.setattr(mode, "newton_steps", lambda _, theta, **__: (theta, {"converged": False}))
    monkeypatch.setattr("skbayesembed.dynamic.laplace.solver._MOST_STEPS", 1)
    start = 1e-3 * np.random.default_rng(4).standard_normal(density.n_parameters)
    with pytest.raises(np.linalg.LinAlgError, match="did not reach the mode in 1 steps"):
        mode.mode_of(density, start, serial)


def test_a_smaller_fit_is_named_by_what_it_takes():
    shape, units = (8, 2, 1000, 20), 199
    text = sooner(300.0, shape, units)
    words, k = (
        int(part.split("=")[1].split()[0]) for part in text.split("A fit with ")[1].split(" and ")
    )
    assert 100 <= words < 1000 and 10 <= k <= 20
    # products of all pairs of words, as many as linear systems need
    share = (words / 1000) ** 2 * products_of(8 * words * k, units) / products_of(160_000, units)
    told = float(text.split("about ")[1].split()[0])
    assert 300.0 * share * (k / 20) * 0.9 < told < 300.0 * share * 1.1 and told < 75.0
    # nothing to be had of fewer words
    assert sooner(300.0, (8, 2, 100, 20), units) == ""

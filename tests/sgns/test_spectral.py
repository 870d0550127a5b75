"""The start of the search for the mode: near it, turned as the prior asks, of any shape."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import InformativePrior
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import serial
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.spectral import spectral_start

V, K = 60, 4


@pytest.fixture(scope="module")
def pairs():
    return make_sgns(V, K, n_pairs=60_000, random_state=0).pairs


def start(model, seed=0):
    return spectral_start(model, np.random.default_rng(seed), serial)


def value(model, arrays):
    return model.logp_and_grad(model.pack(arrays), np.empty(model.n_parameters))


@pytest.mark.parametrize("table", [DensePairs, SparsePairs])
def test_it_is_most_of_the_way_from_zero_to_the_truth(table, pairs):
    model = SGNSModel(table(pairs), K, 1.0)
    zero = {name: np.zeros((V, K)) for name in ("rho", "alpha")}
    best = max(value(model, start(model, seed)) for seed in range(2))
    assert value(model, start(model)) == pytest.approx(best, rel=1e-2)
    random = value(model, model.start(np.random.default_rng(0)))
    assert best > max(value(model, zero), random)


def test_it_is_turned_to_the_values_that_the_prior_holds(pairs):
    names = {f"w{i}": i for i in range(V)}
    plain = SGNSModel(DensePairs(pairs), K, 1.0)
    near = start(plain)["rho"]
    # values of the vectors' own, of one component of another frame
    turned = near @ np.linalg.qr(np.random.default_rng(1).standard_normal((K, K)))[0]
    values = {f"w{i}": {2: float(turned[i, 2])} for i in range(0, V, 2)}
    prior = Prior(V, K, 1.0, **InformativePrior(values, side="target").options(names, K, 1.0))
    found = start(SGNSModel(DensePairs(pairs), K, prior))["rho"]
    # the prior's precision is in the margins too, so that both starts differ
    assert np.corrcoef(found[::2, 2], turned[::2, 2])[0, 1] > 0.9


def test_more_components_than_words(pairs):
    few = pairs.__class__(pairs.positive[:6][:, :6], pairs.negative.toarray()[:6][:, :6])
    model = SGNSModel(DensePairs(few), 9, 1.0)
    arrays = start(model)
    assert arrays["rho"].shape == arrays["alpha"].shape == (6, 9)
    assert np.isfinite(value(model, arrays))


def test_anchors_have_their_values(pairs):
    values = np.random.default_rng(2).standard_normal((K, K))
    anchors = np.array([4, 0, 2, 9])
    model = SGNSModel(DensePairs(pairs), K, 1.0, anchors, values)
    np.testing.assert_array_equal(start(model)["alpha"][anchors], values)

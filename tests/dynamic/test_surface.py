"""The density as the search for its mode climbs it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from pydoc_data.topics import topics

import numpy as np
import pytest

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.data import period_counts
from skbayesembed.dynamic.laplace.rough import information_blocks
from skbayesembed.dynamic.model import Curvature, DynamicDensity, DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.dynamic.surface import DynamicSurface
from skbayesembed.inference import mode
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.threads import OneBlasThread

V, T, EMPTY = 12, 4, 2
FORMS = pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])


def density_of(k, dense):
    # 100 observations a period leave half of the 144 pairs unseen
    data = make_dynamic_sgns(
        V, k, T, 100, times=[0, 1, 3, 4], empty_periods=[EMPTY], random_state=0
    )
    prior = DriftPrior(np.diff(data.times), 1.5, 0.3)
    model = DynamicModel.of_counts(data.pairs, k, prior, np.random.default_rng(1))
    return DynamicDensity(model, dense=dense)


def density_of_text(k):
    """Words of very different frequency, which simulated pairs do not have."""
    texts = [re.findall(r"[a-z]+", text.lower()) for text in topics.values()]
    numbers = {w: i for i, (w, _) in enumerate(Counter(chain(*texts)).most_common(400))}
    ids = [[numbers.get(w, -1) for w in text] for text in texts]
    offsets = np.cumsum([0, *map(len, ids)])
    counts = period_counts(
        np.concatenate(ids), offsets, np.arange(len(ids)) % T, len(numbers), T, window=5
    )
    prior = DriftPrior(np.ones(T - 1), 1.0, 0.3)
    return DynamicDensity(DynamicModel.of_counts(counts, k, prior, np.random.default_rng(1)))


def start_of(density):
    return density.pack(density.model.start_near(np.random.default_rng(2)))


@FORMS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient_are_the_densitys(dense, dtype):
    density = density_of(2, dense)
    theta = start_of(density)
    expected = np.empty_like(theta)
    logp = density.logp_and_grad(theta, expected)
    surface = DynamicSurface(density, theta, dtype, serial)
    value, gradient = surface.value_and_gradient()
    assert surface.point.dtype == gradient.dtype == dtype
    pulled = np.empty_like(theta)
    density.pull_back(gradient.astype(float), pulled)
    # roundings of sums of a hundred numbers
    tolerance = 1e-4 if dtype is np.float32 else 1e-10
    assert value == pytest.approx(logp, rel=tolerance)
    np.testing.assert_allclose(pulled, expected, atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(surface.end(), theta, atol=tolerance)


@FORMS
def test_the_preconditioner_is_exact_for_words_of_one_component(dense):
    """The curvature of a word's trajectory, all other words held, but for what is flat."""
    density = density_of(1, dense)
    surface = DynamicSurface(density, start_of(density), np.float64, serial)
    surface.value_and_gradient()
    surface.refresh()
    blocks = information_blocks(Curvature(density, surface.point))[..., 0, 0]
    x = np.random.default_rng(3).standard_normal(density.shape)
    found = x.copy()
    surface.precondition(found)
    flat = surface._level.flat(x.sum(axis=0))
    assert np.vdot(x.sum(axis=0), flat) >= 0.0
    found -= flat
    for side in (0, 1):
        for word in range(V):
            curvature = density.precision.dense() + np.diag(blocks[:, side, word])
            expected = np.linalg.solve(curvature, x[:, side, word, 0])
            # slopes are in single precision
            np.testing.assert_allclose(found[:, side, word, 0], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_the_mode_is_the_same_in_threads_and_as_high_as_without_it():
    density = density_of_text(20)
    theta = start_of(density)
    options = {"tol": 1e-5, "max_iter": 2000}
    with OneBlasThread(), Workers(2) as run:
        found, facts = find_mode(density, theta, **options)
        again, _ = find_mode(density, theta, run=run, **options)
    np.testing.assert_array_equal(found, again)

    class Plain:
        n_parameters, scale = density.n_parameters, density.scale
        logp_and_grad = staticmethod(density.logp_and_grad)
        pack, unpack = staticmethod(density.pack), staticmethod(density.unpack)

    with OneBlasThread():
        _, plain = find_mode(Plain(), theta, **options)
    assert facts["converged"] and plain["converged"]
    assert facts["n_iter"] < plain["n_iter"]
    # what ten iterations may still gain where a search ends; it is 0.4, and they are 0.05 apart
    assert facts["lp"] > plain["lp"] - mode._WATCHED_CHANGE * options["tol"] * abs(plain["lp"])

"""The start of a search among many words: from the mode of the most frequent ones."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.mode import find_mode
from skbayesembed.sgns import starting
from skbayesembed.sgns.data import DensePairs, ProductPairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts, RankOne
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.spectral import spectral_start
from skbayesembed.sgns.starting import search_start

V, K = 200, 4
LIMITS = {"tol": 1e-8, "max_iter": 500}


@pytest.fixture(scope="module")
def counts():
    positive = make_sgns(V, K, n_pairs=400_000, random_state=0).pairs.positive
    rows, columns = (np.asarray(positive.sum(axis=axis)).ravel() for axis in (1, 0))
    return PairCounts(positive, RankOne(rows, columns / columns.sum()))


@pytest.fixture
def model(counts, monkeypatch):
    monkeypatch.setattr(starting, "MANY", 100)
    return SGNSModel(ProductPairs(counts), K, 2.0)


def value(model, arrays):
    return model.logp_and_grad(model.pack(arrays), np.empty(model.n_parameters))


def mode(model, start):
    return find_mode(model, model.pack(start), run=serial, **LIMITS)[1]


def test_other_words_follow_and_the_search_ends_at_the_mode(model):
    near = search_start(model, np.random.default_rng(0), serial, **LIMITS)
    observed = sum(model.pairs.observations(side) for side in (0, 1))
    rare = np.argsort(-observed, kind="stable")[int(0.3 * V) :]
    without = {name: np.copy(vectors) for name, vectors in near.items()}
    for vectors in without.values():
        vectors[rare] = 0.0
    found = mode(model, near)
    # most of what the other words are worth
    gained = (value(model, near) - value(model, without)) / (found["lp"] - value(model, without))
    assert gained > 0.7
    usual = mode(model, spectral_start(model, np.random.default_rng(0), serial))
    assert found["lp"] == pytest.approx(usual["lp"], rel=1e-7)


def test_it_does_not_depend_on_threads(model):
    starts = []
    for n_jobs in (1, 2):
        with Workers(n_jobs) as run:
            starts.append(search_start(model, np.random.default_rng(0), run, **LIMITS))
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(starts[0][name], starts[1][name])


def test_pairs_among_some_words(counts):
    words = np.array([3, 10, 11, 150])
    found = ProductPairs(counts).among(words)
    whole = DensePairs(counts)
    for made, table in zip((found.n, found.kappa), (whole.n, whole.kappa), strict=True):
        np.testing.assert_allclose(made[0], table[0][np.ix_(words, words)])


@pytest.mark.parametrize("kind", ["few words", "whole table", "learned", "anchors"])
def test_others_start_as_ever(kind, counts, model, monkeypatch):
    """Words that are few, counts that are no product, and priors that hold words together."""
    if kind == "few words":
        monkeypatch.setattr(starting, "MANY", V + 1)
    elif kind == "whole table":
        model = SGNSModel(DensePairs(counts), K, 2.0)
    elif kind == "learned":
        model = SGNSModel(model.pairs, K, Prior(V, K, 2.0, learned="shared"))
    else:
        model = SGNSModel(model.pairs, K, 2.0, np.arange(K), np.eye(K))
    found = search_start(model, np.random.default_rng(0), serial, **LIMITS)
    plain = spectral_start(model, np.random.default_rng(0), serial)
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(found[name], plain[name])

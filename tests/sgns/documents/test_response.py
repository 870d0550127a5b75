"""How far answers move when half of the units are left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_text
from skbayesembed.sgns.documents.answers import cosine_change
from skbayesembed.sgns.documents.deviations import spread_of
from skbayesembed.sgns.documents.response import (
    half_weights,
    main_responses,
    respond_along_main,
)
from skbayesembed.sgns.pairs import PairCounts

K = 3


@pytest.fixture(scope="module")
def texts():
    options = {"n_words": 60, "n_topics": 4, "n_components": None, "mean_length": 100}
    return make_text(400, **options, random_state=0).texts


def fitted(texts, n_components=K, **options):
    model = BayesianSGNS(
        n_components, solver="map", min_count=1, random_state=0, max_iter=3000, **options
    )
    return model.fit(texts)


def test_reweighted_is_a_fit_with_weights(texts):
    given = fitted(texts, prior_precision=2.0)
    weights = np.where(np.arange(400) % 2 == 0, 2.0, 0.0)
    model = given._sampling._build.reweighted(weights)
    expected = given.fit(texts, sample_weight=weights)._sampling._build()[0]
    assert_allclose(model.pairs.n[0], expected.pairs.n[0], rtol=1e-12)
    assert_allclose(model.pairs.kappa[0], expected.pairs.kappa[0], rtol=1e-12, atol=1e-9)


def test_weights_of_pair_counts():
    """A list of them, one a unit."""
    rng = np.random.default_rng(1)
    parts = [PairCounts(*rng.poisson(2.0, (2, 6, 6)), list("abcdef")) for _ in range(4)]
    build = fitted(parts, prior_precision=0.1)._sampling._build
    table = build.reweighted(np.array([2.0, 0.0, 0.0, 2.0])).pairs
    expected = sum(2 * (parts[i].positive + parts[i].negative).toarray() for i in (0, 3))
    assert_allclose(table.n[0], expected)


def test_halves():
    """Each unit is in one of them, with twice its weight in all where they are equal."""
    for n_units in (2, 5, 400):
        halves = half_weights(n_units, 1000, np.random.default_rng(0))
        assert len(halves) == 4
        assert np.all((halves > 0).sum(axis=1) == 1)
        assert_allclose(halves.sum(axis=2), n_units)
    assert not np.array_equal(halves[0], halves[1])


@pytest.mark.slow
def test_first_order_is_right_where_data_say_much(texts):
    """Three components of a source of four topics, 400 documents.

    From split to split the logarithm had a standard deviation of .08, and its mean was .04; here
    the median of four is taken.
    """
    model = fitted(texts)
    assert abs(np.log(model.response_) - 0.04) < 4 * 0.08 / np.sqrt(2)


def test_main_directions():
    """Halves move by a tenth along the first direction, and as first order says along all others.

    With 16 splits a ninth of the distance to the median of the directions is left.
    """
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.standard_normal((400, 30)))
    scale = np.r_[20.0, np.ones(29)]
    rows, told = (scale * rng.standard_normal((n, 30)) for n in (100, 16))
    did = told * np.r_[0.1, np.ones(29)]
    shifts, predicted, moves = (
        (x @ basis.T).astype(np.float32).reshape(-1, 2, 50, 4) for x in (rows / 10.0, told, did)
    )
    first = shifts.copy().reshape(100, -1)
    respond_along_main(shifts, predicted, moves)
    change = (shifts.reshape(100, -1) - first) @ basis
    # where first order and halves go together their ratio is the response, whatever the luck
    left = 0.1 ** (0.25 / (0.25 + 0.5 / 16))
    main = rows @ np.linalg.svd(rows, full_matrices=False)[2][0] / 10.0
    assert_allclose(np.linalg.norm(change), (1 - left) * np.linalg.norm(main), rtol=0.05)
    share = np.sum(change[:, 0] ** 2) / np.sum(change**2)
    assert share > 0.99
    # what was said of halves is changed alike
    assert_allclose(
        np.std(predicted.reshape(16, -1) @ basis[:, 0]) / np.std(told[:, 0]), left, rtol=0.05
    )


def test_responses_of_directions_are_shrunk():
    """By as much as few splits leave open, from luck that is taken off where both go together."""
    told = np.array([[1.0, -1.0, 2.0], [-1.0, 1.0, -2.0]])
    found = main_responses(told, told * [0.25, 1.0, 1.0])
    assert_allclose(found, [0.5, 1.0, 1.0])
    # where neither moves nothing is known but that it is small
    assert np.all(main_responses(0.0 * told, 0.0 * told) < 1e-8)


def test_responses_of_directions_are_right_on_average():
    """Of 8 splits that go their own way: the logarithms of 4,000 are 0 within 4 standard errors.

    The logarithm of a mean of eight has a standard deviation of .27, and an error of the order
    1 / 8^2 besides.
    """
    rng = np.random.default_rng(0)
    did, told = rng.standard_normal((2, 8, 4000))
    assert abs(np.mean(np.log(main_responses(told, did)))) < 4 * 0.27 / 4000**0.5 + 0.005


def first_order(model):
    """Deviations of a model whose units are not made to respond."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skbayesembed.sgns.documents.sampling.respond", lambda *_: (1.0, np.nan))
        return model._sampling.deviations


@pytest.mark.slow
def test_it_multiplies_what_units_do(texts):
    """By one factor, but along the main directions; and not the prior's part."""
    found, m = fitted(texts, 10)._sampling.deviations, 400
    first = first_order(fitted(texts, 10))
    before, after = (d.shifts[:m].reshape(m, -1).astype(float) for d in (first, found))
    main = np.linalg.svd(before, full_matrices=False)[2][:8]
    others = [x - (x @ main.T) @ main for x in (before, after)]
    factor = np.sum(others[1] * others[0]) / np.sum(others[0] ** 2)
    assert 0.8 < factor < 1.25
    assert_allclose(others[1], factor * others[0], atol=1e-4 * np.abs(before).max())
    # halves move less far along them than first order says
    assert np.sum((after @ main.T) ** 2) < 0.8 * np.sum((before @ main.T) ** 2)
    assert_allclose(found.shifts[m:], first.shifts[m:])
    assert len(found.shifts) == m + 257


@pytest.mark.slow
def test_saturates_where_components_are_noise(texts):
    """Ten components where four topics make three: first order promises more than there is.

    Standard errors were .73 to .83 of those of first order on three such texts.
    """
    model = fitted(texts, 10)
    assert model.response_ < 0.95
    a, b = np.triu_indices(60, 1)
    both = model._sampling.deviations, first_order(fitted(texts, 10))
    errors = [spread_of(d, cosine_change(d, a, b)).sampling for d in both]
    # of cosines and of logits, of random pairs
    assert abs(np.log(np.median(errors[0] / errors[1]) / model.response_)) < 0.1
    model.set_params(uncertainty="model")
    with pytest.raises(AttributeError, match="response_ needs intervals by units: set uncertainty"):
        _ = model.response_


def test_few_units_tell_nothing(texts):
    model = fitted(texts[:4], prior_precision=1.0)
    assert model.response_ == 1.0

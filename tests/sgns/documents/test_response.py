"""How far answers move when half of the units are left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_text
from skbayesembed.sgns.documents.response import half_weights
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
    build = fitted(texts)._sampling._build
    weights = np.where(np.arange(400) % 2 == 0, 2.0, 0.0)
    model = build.reweighted(weights)
    expected = fitted(texts).fit(texts, sample_weight=weights)._sampling._build()[0]
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


@pytest.mark.slow
def test_it_multiplies_what_units_do(texts):
    """And not the prior's part."""
    model = fitted(texts, 10)
    sampling, m = model._sampling, 400
    found = sampling.deviations
    plain = fitted(texts, 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skbayesembed.sgns.documents.sampling.response_of", lambda *_: (1.0, np.nan))
        first = plain._sampling.deviations
    assert plain._sampling.response == 1.0
    assert_allclose(found.shifts[:m], sampling.response * first.shifts[:m], rtol=1e-5)
    assert_allclose(found.shifts[m:], first.shifts[m:])
    assert len(found.shifts) == m + 256


@pytest.mark.slow
def test_saturates_where_components_are_noise(texts):
    """Ten components where four topics make three: first order promises more than there is.

    The response was .73 to .83 on three such texts, with a standard deviation of .06 a split.
    """
    model = fitted(texts, 10)
    assert model.response_ < 0.95
    model.set_params(uncertainty="model")
    with pytest.raises(AttributeError, match="response_ needs intervals by units: set uncertainty"):
        _ = model.response_


def test_few_units_tell_nothing(texts):
    model = fitted(texts[:4], prior_precision=1.0)
    assert model.response_ == 1.0

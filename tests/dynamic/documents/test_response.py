"""How far answers of drifting vectors move when half of the units are left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from skbayesembed import DynamicSGNS, PairCounts
from skbayesembed.datasets import make_text
from skbayesembed.dynamic.documents.response import drift_changes

UNITS = 200


@pytest.fixture(scope="module")
def texts():
    options = {"n_words": 40, "n_topics": 4, "n_components": None, "mean_length": 100}
    return make_text(2 * UNITS, **options, random_state=0).texts


# Units with a document in either period, and one in both.
TIMES = np.repeat([0, 1], UNITS)
SPEAKERS = np.append(np.arange(2 * UNITS - 1), 0)


def fitted(texts, n_components=3, **options):
    model = DynamicSGNS(
        n_components, solver="map", min_count=1, diffusion=0.05, random_state=0, **options
    )
    n = len(texts)
    return model.fit(texts, times=TIMES[:n], units=SPEAKERS[:n])


def test_reweighted_are_the_counts_of_a_fit_with_weights(texts):
    model = fitted(texts)
    build = model._sampling._build
    weights = np.where(np.arange(2 * UNITS - 1) % 2 == 0, 2.0, 0.0)
    again = clone(model).fit(texts, times=TIMES, units=SPEAKERS, sample_weight=weights[SPEAKERS])
    for found, expected in zip(build.reweighted(weights), again._sampling._build()[0], strict=True):
        for name in ("positive", "negative"):
            one, two = (getattr(counts, name).toarray() for counts in (found, expected))
            assert_allclose(one, two, rtol=1e-12)


def test_reweighted_pair_counts():
    """Of which there are several in a period; one without units has none."""
    rng = np.random.default_rng(1)
    parts = [PairCounts(*rng.poisson(2.0, (2, 6, 6)), list("abcdef")) for _ in range(5)]
    times, units = [0, 0, 1, 1, 2], [0, 1, 1, 0, 2]
    model = DynamicSGNS(2, solver="map", random_state=0).fit(parts, times=times, units=units)
    found = model._sampling._build.reweighted(np.array([3.0, 0.0, 0.0]))
    for one, i in zip(found[:2], (0, 3), strict=True):
        assert_allclose(one.positive.toarray(), 3 * parts[i].positive.toarray())
        assert_allclose(one.negative.toarray(), 3 * parts[i].negative.toarray())
    assert found[2] is None


def test_words_of_a_pair_are_of_one_period():
    asked = []
    places = np.array([0, 3, 4, 13, 14, 29])
    for change in drift_changes(places, 10, np.random.default_rng(0)):
        a, b = change.keywords["a"], change.keywords["b"]
        asked.append((a, b))
        assert np.isin([a, b], places).all() and np.all(a != b)
        assert np.array_equal(a // 10, b // 10)
    assert len(asked) == 2 and set(asked[0][0].tolist()) == {0, 3, 4, 13, 14}


@pytest.mark.slow
def test_it_multiplies_what_units_do(texts):
    """By one factor, but along the main directions; and not the prior's part."""
    model, plain = fitted(texts, 8), fitted(texts, 8)
    found = model._sampling.deviations
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skbayesembed.sgns.documents.sampling.respond", lambda *_: (1.0, np.nan))
        first = plain._sampling.deviations
    m = found.n_sampling
    assert m == 2 * UNITS - 1 and len(found.shifts) == m + 257 and plain._sampling.response == 1.0
    # both rest on the same search, in another process's rounding at most
    before, after = (d.shifts[:m].reshape(m, -1).astype(float) for d in (first, found))
    main = np.linalg.svd(before, full_matrices=False)[2][:8]
    others = [x - (x @ main.T) @ main for x in (before, after)]
    factor = np.sum(others[1] * others[0]) / np.sum(others[0] ** 2)
    assert_allclose(others[1], factor * others[0], atol=1e-4 * np.abs(before).max())
    assert_allclose(found.shifts[m:], first.shifts[m:], rtol=1e-5)
    # and answers know of it, these here more than others: drift is along main directions
    ratio = model.drift(0).sd_sampling / plain.drift(0).sd_sampling
    assert 0.5 < np.median(ratio) < model.response_ < 0.95
    # what is known of a move as well, but not what a move is held against
    table = model.most_changed(model.words_.size)
    assert table.threshold == plain.most_changed().threshold
    words = [model.vocabulary_[w] for w in table.words.tolist()]
    moves = found.shifts[:, 0, found.n_words :] - found.shifts[:, 0, : found.n_words]
    variance = np.sum(moves[:, words].astype(np.float64) ** 2, axis=(0, 2))
    expected = 1.0 - np.minimum(variance / table.threshold**2, 1.0)
    assert_allclose(table.known, expected, atol=1e-5)


@pytest.mark.slow
def test_first_order_is_right_where_data_say_much(texts):
    """Three components of a source of four topics.

    Over five texts, twice each, the logarithm was .02, with a standard deviation of .01.
    """
    model = fitted(texts)
    assert model.drift(0).sd_sampling.max() > 0
    assert abs(np.log(model._sampling.response) - 0.02) < 0.05


@pytest.mark.slow
def test_saturates_where_components_are_noise(texts):
    """Twelve components where four topics make three.

    The logarithm was -.27 over seven texts, with a standard deviation of .09.
    """
    model = fitted(texts, 12)
    assert model.drift(0).sd_sampling.max() > 0
    assert model._sampling.response < 1.0


def test_few_units_tell_nothing(texts):
    few = [*texts[:4], *texts[UNITS : UNITS + 4]]
    model = DynamicSGNS(2, solver="map", min_count=1, diffusion=0.05, random_state=0)
    model.fit(few, times=[0] * 4 + [1] * 4, units=[0, 1, 2, 3] * 2)
    assert model.similarity(0, 1).sd_sampling.min() > 0
    assert model._sampling.response == 1.0


def test_a_period_that_one_half_has_nothing_of(texts):
    """It has a single document; vectors there are what its neighbours make of them."""
    chosen = [*texts[:60], texts[UNITS]]
    model = DynamicSGNS(2, solver="map", min_count=1, diffusion=0.05, random_state=0)
    model.fit(chosen, times=[0] * 60 + [1])
    assert np.all(model.similarity(0, 1).sd_sampling > 0)
    assert 0.5 < model._sampling.response < 2.0


@pytest.mark.slow
def test_cosines_of_one_component_do_not_move(texts):
    """The logits tell."""
    model = fitted(texts, 1)
    assert np.all(model.cooccurrence_proba([(0, 1)]).sd_sampling > 0)
    assert 0.8 < model._sampling.response < 1.25

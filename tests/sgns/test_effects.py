"""Effects of covariates on the contexts of a word."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone

from skbayesembed import BayesianSGNS
from skbayesembed.posterior.sentences import rounded, with_signs
from skbayesembed.sgns.effects import (
    _directions,
    context_means,
    contexts_to_vectors,
)
from skbayesembed.sgns.vector_regression import permutation_test
from tests.helpers.extras import optional

pd = optional("pandas")

pytestmark = pytest.mark.usefixtures("first_mode")

_RNG = np.random.default_rng(3)
WORDS = [f"w{i:02}" for i in range(16)]
GROUPS = WORDS[:8], WORDS[8:]
ENDS = {"side": (GROUPS[0][:3], GROUPS[1][:3])}


def texts_of(sides, rng):
    """A word in the middle of eight words, mostly of the first or of the second group."""
    out = []
    for side in sides:
        own = rng.random(8) < 0.8
        around = [str(rng.choice(GROUPS[side if mine else 1 - side])) for mine in own]
        out.append([*around[:4], "word", *around[4:]])
    return out


TEXTS = texts_of(_RNG.integers(2, size=150), _RNG)


@pytest.fixture(scope="module")
def model():
    return BayesianSGNS(
        4, solver="map", min_count=1, prior_precision=1.0, random_state=0
    ).fit(TEXTS)  # fmt: skip


def test_context_means():
    rho = np.arange(8.0).reshape(4, 2)
    ids, offsets = np.array([0, 1, 2, 3, 1, 0]), np.array([0, 4, 4, 5, 6])
    means, around = context_means(rho, ids, offsets, 2)
    assert around.tolist() == [2, 3, 3, 2, 0, 0]
    np.testing.assert_allclose(means[0], (rho[1] + rho[2]) / 2)
    np.testing.assert_allclose(means[1], (rho[0] + rho[2] + rho[3]) / 3)
    np.testing.assert_allclose(means[4:], 0)


def test_the_matrix_makes_vectors_of_contexts(monkeypatch):
    """Where vectors are a linear function of mean contexts it is that function, block by block."""
    rng = np.random.default_rng(0)
    ids, offsets = rng.integers(12, size=600), np.arange(0, 601, 30)
    contexts = rng.normal(size=(12, 3))
    means, _ = context_means(contexts, ids, offsets, 4)
    u = np.array([means[ids == w].mean(axis=0) for w in range(12)])
    n = np.log1p(np.bincount(ids))[:, None]
    by_hand = np.linalg.solve(u.T @ (n * u), u.T @ (n * contexts))
    found = contexts_to_vectors(contexts, ids, offsets, 4)
    np.testing.assert_allclose(found, by_hand, rtol=1e-3, atol=1e-3)
    monkeypatch.setattr("skbayesembed.sgns.effects._TOKENS", 100)
    np.testing.assert_allclose(contexts_to_vectors(contexts, ids, offsets, 4), found, atol=1e-10)


def test_effects_in_time(model):
    """Where contexts and a covariate drift, effects are less certain; elsewhere they are found.

    Contexts of units are mostly of the second group in two long stretches.
    """
    rng, n_units, per = np.random.default_rng(5), 24, 6
    at, units = np.arange(n_units), np.repeat(np.arange(n_units), per)
    share, other = 0.5 + 0.45 * np.sin(at / 3.0), np.sin((at - 1.5) / 3.5)
    texts = texts_of((rng.random(units.size) < share[units]).astype(int), rng)
    asked = {"word": "word", "axes": ENDS, "n_permutations": 199}
    apart = model.effects(texts, {"walk": other[units]}, units, **asked)
    timed = model.effects(texts, {"walk": other[units]}, units, times=1900 + units, **asked)
    # of other seeds at least 1.4, 0.8 and 0.27
    assert timed.sd[0, 1] > 1.2 * apart.sd[0, 1] and timed.autocorrelated > 0.5
    assert timed.autocorrelation > 0.1 and not timed.alternating
    assert "(units are treated as independent: if they are autocorrelated" in repr(apart)
    assert apart.sentences["side", "walk"].endswith("known; units are treated as independent.")
    assert "that they are autocorrelated, at " in repr(timed)
    assert timed.sentences["side", "walk"].endswith("; autocorrelation in time is allowed for.")
    # what the table has of an axis is the coefficients along it; order of documents is none of it
    direction = next(iter(_directions(model, ENDS).values()))
    np.testing.assert_allclose(timed.mean[0, 1], timed.coefficients[0] @ direction)
    variance = direction @ timed.covariance[0] @ direction
    np.testing.assert_allclose(timed.sd[0, 1], np.sqrt(variance))
    order = rng.permutation(units.size)
    again = model.effects(
        [texts[i] for i in order], {"walk": other[units][order]}, units[order] % 7 * 50
        + units[order], times=365.0 * units[order], **asked,
    )  # fmt: skip
    for name in ("mean", "sd", "interval", "p_value", "autocorrelation", "trend"):
        np.testing.assert_allclose(getattr(again, name), getattr(timed, name), rtol=1e-5)
    # a difference within units is found as without times
    side = rng.integers(2, size=units.size)
    found = model.effects(texts_of(side, rng), {"side": side}, units, times=units, **asked)
    assert found.p_value[0, 0] < 0.01 and found.mean[0, 1] > 4 * found.sd[0, 1]
    with pytest.raises(ValueError, match="times must have two different values"):
        model.effects(texts, {"walk": other[units]}, units, times=np.ones(units.size), **asked)


def test_planted_effects(model):
    """Side and length are told apart; copies of speeches are no new evidence."""
    rng = np.random.default_rng(1)
    x = np.arange(60) % 2
    texts = texts_of(x, rng)
    frame = pd.DataFrame({"side": x, "year": rng.normal(size=60)})
    asked = {"word": "word", "axes": ENDS, "n_permutations": 199}
    table = model.effects(texts, frame, **asked)
    assert table.terms.tolist() == ["side", "year"] and table.axes == ["length", "side"]
    assert table.coefficients.shape == (2, 4) and table.interval.shape == (2, 2, 2)
    assert (table.n_occurrences, table.n_documents, table.n_units) == (60, 60, 60)
    assert np.all(table.p_value[0] < 0.02) and table.mean[0, 1] > 4 * table.sd[0, 1]
    # the length of a coefficient is at least that of its projection; noise was taken off
    np.testing.assert_allclose(table.mean[0, 0], np.linalg.norm(table.coefficients[0]), rtol=0.1)
    assert table.mean[1, 0] < np.linalg.norm(table.coefficients[1])
    assert "term year" in repr(table) and "60 occurrences" in repr(table)
    again = model.effects(texts, frame, **asked)
    np.testing.assert_array_equal(again.p_value, table.p_value)
    # what was asked is in the title, the sentences and the frame
    assert repr(table).startswith("effects on the vector of 'word', 90 % intervals\n")
    assert "(side: from 'w00', 'w01', and 'w02', below 0, to 'w08', 'w09', and " in repr(table)
    said = table.sentences["side", "side"]
    mean, low, high = with_signs(table.mean[0, 1], table.interval[0, 1], table.sd[0, 1])
    assert said.startswith(
        "On the axis 'side' the vector of 'word' is further towards 'w08', 'w09', and 'w10' by "
        f"{mean[1:]} (90% interval of the difference {low} to {high}, p "
    )
    assert ") where 'side' is 1 rather than 0, the other terms held constant. The inter" in said
    assert "; whether it is further towards 'w08'" in table.sentences["side", "year"]
    said = table.sentences["length", "side"]
    assert said.startswith("The vector of 'word' differs by a vector of length ")
    assert "+" not in said and "whether" not in said and "[0." in repr(table)
    # what a length can be held against: how far words are from each other
    apart = pdist(model.rho_)
    assert table.between_words == pytest.approx(np.sqrt(np.mean(apart**2)))
    (apart,) = rounded([table.between_words])
    clause = f"the vectors of two words are {apart} apart (root mean square)"
    assert f"; {clause}. The interval" in said and f"({clause})" in repr(table)
    assert clause not in table.sentences["side", "side"]
    rows = table.to_frame()
    assert rows.columns.tolist() == (
        ["word", "term", "axis", "from", "to", "mean", "sd", "low", "high", "df", "p_value"]
    )
    assert rows.iloc[1][["word", "from", "to"]].tolist() == (
        ["word", "w00, w01, w02", "w08, w09, w10"]
    )
    assert rows["from"][0] == "" and rows["mean"].tolist() == table.mean.ravel().tolist()
    copies = model.effects(
        texts * 3, pd.concat([frame] * 3), np.tile(np.arange(60), 3), reference=texts, **asked
    )
    np.testing.assert_allclose(copies.mean, table.mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(copies.sd, table.sd, rtol=1e-6)
    # a length has no standard error
    assert np.isnan(table.sd[:, 0]).all() and np.isfinite(table.sd[:, 1]).all()


def test_what_is_said_of_lengths_and_names(model):
    """A small p beside an interval from zero is explained, and so is a column without a name."""
    x = np.arange(60) % 2
    texts = texts_of(x, np.random.default_rng(1))
    table = model.effects(texts, x, word=["word", 1], axes={"ends": ("w01", GROUPS[1])})
    twice = {"ends": (["w01", "w01"], [*GROUPS[1], GROUPS[1][0]])}
    again = model.effects(texts, x, word=["word", 1], axes=twice)
    np.testing.assert_array_equal(again.mean, table.mean)
    both = table.word
    assert both == ("word", str(model.words_[1]))
    assert f"vector of 'word' and {both[1]!r} together, 90" in table._title()
    assert "(ends: from 'w01', below 0, to 'w08', 'w09', 'w10', and 5 more, above 0)" in repr(table)
    assert "p is of a permutation test (999 permutations); the interval is cut off" in repr(table)
    assert "(x0: a covariate without a name; give it one with a dict: " in repr(table)
    assert "without a name" not in repr(model.effects(texts, {"x": x}, word="word"))
    assert "cut off" not in table.sentences["length", "x0"]
    interval = table.interval.copy()
    interval[0, 0, 0] = 0.0
    below = replace(table, interval=interval, autocorrelation=0.2, autocorrelated=0.9)
    below = replace(below, residual_correlation=0.1, trend=np.nan)
    assert (
        "; p is of an F test, and the interval is cut off at 0; auto"
        in (below.sentences["length", "x0"])
    )
    assert "cut off" not in below.sentences["ends", "x0"] and "p is of an F test;" in repr(below)
    # where the test does not reject, it is not decided whether there is a difference
    unsure = replace(below, p_value=np.full((1, 2), 0.12), autocorrelated=0.1)
    said = unsure.sentences["length", "x0"]
    whether = f"It is not decided whether the vector of 'word' and {both[1]!r} together differs "
    assert said.startswith(f"{whether}where 'x0' is 1 rather than 0; the estimated difference is")
    assert "cut off" not in said and unsure.undecided.all() and not below.undecided.any()
    against = replace(table, p_value=np.full((1, 2), 0.12)).sentences["length", "x0"]
    assert "; p is of a permutation test, which decides; doc" in against
    probable = replace(table, p_value=np.full((1, 2), 0.07)).sentences["length", "x0"]
    assert " together probably differs by a vector of length " in probable
    # a covariate that one document has is told without an interval
    with pytest.warns(UserWarning, match="no p-value of 'first'"):
        first = model.effects(texts, {"first": np.arange(60) == 0}, word="word", axes=ENDS)
    for said in first.sentences.values():
        assert "where 'first' is 1 rather than 0; one unit alone decides on this" in said
        assert ". The regression has 60 occurrences in 60 documents." in said
        assert "nan" not in said and "%" not in said
    assert "nan" not in repr(first) and first.to_frame()[["sd", "p_value"]].isna().all(axis=None)
    # an occurrence that has no known word around it
    alone = model.effects([*texts, ["word", "unheard"]], {"x": [*x, 1]}, word="word")
    assert (alone.n_occurrences, alone.n_left_out) == (60, 1)
    assert "60 documents; 1 more, without a known word around them, left out)" in repr(alone)
    # effects of small steps keep two digits of their standard errors
    small = model.effects(texts, {"x": 1e3 * x}, word="word", axes=ENDS)
    digits = 1 - int(np.floor(np.log10(np.nanmin(small.sd))))
    assert digits > 3 and f"{small.mean[0, 1]:+.{digits}f}" in repr(small)


def test_terms_that_others_explain(model):
    """They are named, and numbers have the digits of their own term."""
    x = np.arange(150) % 2.0
    twin = x + 1e-6 * np.random.default_rng(0).normal(size=150)
    design = {"x": x, "twin": twin, "age": np.arange(150) % 7}
    table = model.effects(TEXTS, design, word="word", axes=ENDS)
    assert table.explained[0] > 0.99 and table.explained[2] < 0.1
    line = "(explained by the other terms: over 99 % of x, over 99 % of twin; effects rest on what"
    assert line in repr(table)
    _, of_x, _, of_age = repr(table).split("term ")
    assert f" {table.mean[0, 1]:+.0f} " in of_x and re.search(r" [+-]0\.\d{3,4} ", of_age)
    with pytest.raises(KeyError, match=r"no sentence of 'x'; there is .* of \('length', 'x'\)"):
        table.sentences["x"]
    alone = model.effects(TEXTS, {"x": x}, word="word", n_permutations=9)
    assert "explained by" not in repr(alone) and alone.explained[0] < 1e-9


def test_permutations_keep_to_units(model):
    """A covariate of speakers that vary much: taken document by document it looks sure."""
    rng = np.random.default_rng(4)
    unsure, sure = [], []
    for _ in range(12):
        sides = rng.integers(2, size=8)
        units = np.repeat(np.arange(8), 6)
        x = rng.permutation(np.arange(8) % 2)[units]
        texts = texts_of(sides[units], rng)
        asked = {"word": "word", "n_permutations": 99, "reference": TEXTS}
        unsure.append(model.effects(texts, x, units, **asked).p_value[0, 0])
        sure.append(model.effects(texts, x, **asked).p_value[0, 0])
    # p-values of nothing: 12 uniform numbers have a mean of .5, standard deviation .083
    assert abs(np.mean(unsure) - 0.5) < 0.35
    assert np.median(sure) < np.median(unsure)


def test_permutation_and_signs_by_hand():
    """Permuted sizes are those of regressions on permuted covariates, over errors by units."""
    rng = np.random.default_rng(0)
    index = np.repeat(np.arange(9), rng.integers(1, 5, 9))
    x, y = rng.normal(size=9)[index], rng.normal(size=(index.size, 3))
    other = rng.normal(size=index.size)
    y += 0.4 * x[:, None]
    matrix = np.column_stack([np.ones(index.size), other, x])
    # what the other one, which varies within units, tells of it is none of a unit's own
    other -= np.array([np.mean(other[index == unit]) for unit in range(9)])[index]
    matrix[:, 1] = other
    found = permutation_test(matrix, 2, y, index, 300, np.random.default_rng(1)).p

    def size(x):
        design = np.column_stack([np.ones(index.size), other, x])
        fitted = np.linalg.lstsq(design, y, rcond=None)[0]
        inverse = np.linalg.inv(design.T @ design)
        left = y - design @ fitted
        scores = [design[index == unit].T @ left[index == unit] for unit in range(9)]
        variance = sum(np.sum((inverse @ score)[2] ** 2) for score in scores)
        return np.sum(fitted[2] ** 2) / variance

    values = x[np.unique(index, return_index=True)[1]]
    values = values - x.mean()
    again = np.random.default_rng(1)
    larger = sum(size(again.permutation(values)[index]) >= size(x) for _ in range(300))
    assert found == pytest.approx((1 + larger) / 301)
    matrix = matrix[:, [0, 2]]
    # of a covariate within units: a strong effect, and none
    z = rng.normal(size=index.size)
    matrix = np.column_stack([matrix, z])
    assert permutation_test(matrix, 2, z[:, None] + 0.1 * y, index, 300, rng).p < 0.05
    nothing = [
        permutation_test(matrix, 2, rng.normal(size=(index.size, 2)), index, 99, rng).p
        for _ in range(40)
    ]
    # uniform p-values: 40 have a mean of .5 within .046
    assert abs(np.mean(nothing) - 0.5) < 0.2


def test_all_permutations_of_few_units_are_taken():
    """p does not hang on a seed, nor is it below the least that there can be."""
    rng = np.random.default_rng(5)
    for n_units, within, n, least in ((5, False, 120, 1 / 120), (9, True, 512, 2 / 512)):
        index = np.repeat(np.arange(n_units), 6)
        x = rng.normal(size=index.size) if within else rng.normal(size=n_units)[index]
        y = x[:, None] + 0.01 * rng.normal(size=(index.size, 3))
        matrix = np.column_stack([np.ones(index.size), x])
        found = {permutation_test(matrix, 1, y, index, 99, seed) for seed in (None, None)}
        assert found == {(least, least, n)}
    # by hand: signs of what units add to the sum
    z = (x - x.mean())[:, None] * rng.normal(size=(index.size, 1))
    found = permutation_test(matrix, 1, z, index, 99, None)
    x, z = x - x.mean(), z - z.mean()
    scores = np.array([(x * z[:, 0])[index == unit].sum() for unit in range(9)])
    sums = [abs(scores @ signs) for signs in itertools.product([-1, 1], repeat=9)]
    assert found.p == np.mean(np.array(sums) >= abs(scores.sum()) * (1 - 1e-9))


@pytest.mark.parametrize("kind", ["few and rare", "few and frequent", "one large"])
def test_units_of_other_sizes_are_not_dealt_each_others_covariates(kind):
    """Of nothing but noise a tenth of the tests are below a tenth: 40 have at most 10 (P = .002).

    Where three units of few occurrences were held against 40 of many, all were; where one unit has
    half of all, most are by tests that change signs.
    """
    rng = np.random.default_rng(4)
    x = np.repeat([1.0, 0.0], [3, 40] if kind != "one large" else [20, 23])
    sizes = {"few and rare": (3, 30), "few and frequent": (30, 3), "one large": (5, 5)}[kind]
    sizes = np.where(x == 1, *sizes)
    own = 0.0
    if kind == "one large":
        sizes[0], own = 200, 1.0
    index = np.repeat(np.arange(43), sizes)
    matrix = np.column_stack([np.ones(index.size), x[index]])
    found = []
    for _ in range(40):
        noise = rng.normal(size=(index.size, 5)) + own * rng.normal(size=(43, 5))[index]
        found.append(permutation_test(matrix, 1, noise, index, 99, rng).p)
    assert np.sum(np.array(found) <= 0.1) <= 10


def test_units_of_the_fit_are_asked_for(model):
    """Documents of one president are not independent because `effects` was not told of them."""
    speaker = np.arange(150) // 5
    known = clone(model).fit(TEXTS, units=speaker)
    x = np.arange(150) % 2
    with pytest.warns(UserWarning, match="no units and takes documents as .* 30 units: pass units"):
        known.effects(TEXTS, x, word="word")
    known.effects(TEXTS, x, speaker, word="word")


def test_no_length_where_one_unit_decides(model):
    """Noise is not known then, and nothing could be taken off for it."""
    units = np.arange(150) // 30
    with pytest.warns(UserWarning, match="one unit"):
        table = model.effects(TEXTS, {"first": units == 0}, units, word="word")
    assert np.isnan(table.mean[0, 0]) and np.isnan(table.p_value[0, 0])
    assert table.sentences["length", "first"].startswith("It is not known whether")
    assert " -   -  -" in repr(table)


def test_interactions_are_told_of(model):
    year = 1900.0 + np.arange(150) % 37
    party = (np.arange(150) % 2).astype(float)
    design = {"party": party, "year": year, "party:year": party * (year - 1918)}
    table = model.effects(TEXTS, design, word="word")
    assert "(party:year, the product of party and year: the effect of party is" in repr(table)
    assert "rather than 0, at 'year' = 1918, the other" in table.sentences["length", "party"]


def test_few_degrees_of_freedom_are_told_of(model):
    """However many units there are in all."""
    few = np.zeros(150)
    few[:2] = 1
    with pytest.warns(UserWarning, match="degrees of freedom .column df.*do not rely"):
        table = model.effects(TEXTS, {"few": few}, word="word")
    assert table.freedom.shape == (1, 1) and table.freedom[0, 0] < 4
    assert "(fewer than 4 df" in repr(table) and "  df" in repr(table)
    assert "fewer than 4 df" in table.sentences["length", "few"]


def test_refused(model):
    x = np.arange(150) % 2
    with pytest.raises(KeyError, match="word='nothing' is not in the vocabulary"):
        model.effects(TEXTS, x, word="nothing")
    with pytest.raises(TypeError, match="counts have no contexts"):
        model.effects(np.ones((3, 17)), np.arange(3), word="word")
    for options, message in (
        ({"axes": {"a": "w01"}}, r"axes\['a'\] must be a pair"),
        ({"axes": {"a": ("w01", "w01")}}, "must have different ends"),
        ({"axes": {"length": ("w01", "w02")}}, "must not have the name 'length'"),
        ({"window": 0}, "window must be an integer >= 1"),
        ({"n_permutations": 0}, "n_permutations must be"),
        ({"units": x[1:]}, "one label for each of the 150 documents"),
    ):
        with pytest.raises(ValueError, match=message):
            model.effects(TEXTS, x, word="word", **options)
    with pytest.raises(ValueError, match="in three documents or more, got 2"):
        model.effects(TEXTS[:2] + [["w00"]] * 5, np.arange(7) % 2, word="word")
    with pytest.raises(ValueError, match="a row for each of the 150 documents"):
        model.effects(TEXTS, x[1:], word="word")
    for design, message in (
        ({"one": np.ones(150)}, "must have columns that vary, got 1 in all 150 .* for 'one'"),
        ({"const": np.ones(150)}, "must have a covariate besides the constant"),
    ):
        with pytest.raises(ValueError, match=message):
            model.effects(TEXTS, design, word="word")


def test_vectors_that_are_zero_are_refused():
    """Where the prior has drawn all to zero, no matrix makes vectors of contexts."""
    ids, offsets = np.arange(16) % 4, np.array([0, 8, 16])
    with pytest.raises(ValueError, match="those of this fit are next to zero"):
        contexts_to_vectors(1e-60 * _RNG.normal(size=(4, 2)), ids, offsets, 3)


def test_tests_of_terms_do_not_hang_on_each_other(model):
    """Permutations of a term are its own; the smallest p says what it is."""
    rng = np.random.default_rng(5)
    terms = {"x": rng.random(len(TEXTS)), "z": rng.random(len(TEXTS))}
    options = {"word": "word", "n_permutations": 99}
    both, turned = (
        model.effects(TEXTS, dict(order), **options)
        for order in (terms.items(), reversed(terms.items()))
    )
    np.testing.assert_allclose(turned.p_value[::-1], both.p_value)
    least = replace(both, p_value=np.full_like(both.p_value, 0.01))
    told = "p = 0.010, the smallest that 99 permutations can give)"
    assert told in least.sentences["length", "x"]
    assert "the smallest" not in both.sentences["length", "x"] or both.p_value[0, 0] == 0.01
    cut = replace(least, interval=both.interval * [[[0.0, 1.0]]])
    assert "(90% interval up to " in cut.sentences["length", "x"]

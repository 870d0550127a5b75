"""What answers about words say of how far they can be relied on."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, DynamicSGNS
from skbayesembed.posterior.sentences import effect

_RNG = np.random.default_rng(5)
WORDS = np.array([f"w{i:02d}" for i in range(12)])
TEXTS = [" ".join(_RNG.choice(WORDS, 40)) for _ in range(12)]
OPTIONS = {"prior_precision": 1.0, "min_count": 1, "random_state": 0, "solver": "map"}
pytestmark = pytest.mark.usefixtures("first_mode")


@pytest.fixture(scope="module")
def fitted():
    return BayesianSGNS(2, **OPTIONS).fit(TEXTS)


def test_uncertainty_is_checked_where_it_is_asked_for(fitted):
    """A typing error after the fit does not give the model's intervals without a word."""
    model = copy.copy(fitted).set_params(uncertainty="presidents")
    message = "uncertainty must be one of 'documents', 'model', got 'presidents'"
    for ask in (
        lambda: model.similarity("w00", "w01"),
        lambda: model.most_similar("w00", 2),
        lambda: model.dispersion_,
    ):
        with pytest.raises(ValueError, match=message):
            ask()


def test_neighbors_were_picked(fitted):
    """Their intervals do not allow for it; those of words that were named need no such line."""
    near = fitted.most_similar("w00", 3)
    away = replace(near, interval=near.mean[:, None] + [[0.0, 0.1]])
    for table in (away, fitted.analogy("w00", "w01", "w02", 2)):
        assert "so they cover the true value less often than 90 %)" in repr(table)
        assert "picked because it is near: the interval then covers the true" in table.sentence
    named = fitted.nearer("w00", ["w01", "w02"])
    assert "picked" not in repr(named) + named.sentence
    point = copy.copy(fitted).set_params(uncertainty="model").most_similar("w00", 3)
    assert "picked" not in repr(point) + point.sentence


def test_few_units_are_told_of():
    """At the fit where there are few in all, and below each answer that rests on few."""
    units = np.array(["x", "y"] * 6)
    with pytest.warns(UserWarning, match="There are 2 units in all"):
        model = BayesianSGNS(2, **OPTIONS).fit(TEXTS, units=units)
    few = "(fewer than 3 effective units: the interval is rough)"
    assert few in repr(model.similarity("w00", "w01"))
    found = model.document_similarity(TEXTS[:2], words=["w00", "w01"])
    assert "(fewer than 3 effective units in 4 of 4 rows: intervals there are rough)" in repr(found)
    table = model.effects(TEXTS, {"x": np.arange(12.0)}, units=units, word="w00")
    assert "(fewer than 3 units: do not rely on intervals and p-values)" in repr(table)
    assert "fewer than 3 units: do not rely on" in table.sentences["length", "x"]
    with pytest.warns(UserWarning, match="There are 2 units in all"):
        DynamicSGNS(2, **OPTIONS).fit(TEXTS, times=np.arange(12) // 6, units=units)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BayesianSGNS(2, **OPTIONS).fit(TEXTS, units=np.arange(12) // 2)
    with pytest.warns(UserWarning, match="from 6 units are few for 1 term"):
        table = model.effects(TEXTS, {"x": np.arange(12.0)}, units=np.arange(12) // 2, word="w00")
    assert "fewer than 3" not in repr(model.similarity("w00", "w01")) + repr(table)


def test_a_size_has_the_sign_of_its_interval_beside_it():
    about = {"p": 0.05, "beside": "a year"}
    below = ("-0.125", "(90% interval of the difference -0.228 to -0.022, p = 0.050)")
    said = effect("it", figures=below, side="smaller", **about)
    figures = "(difference -0.125; 90% interval -0.228 to -0.022, p = 0.050)"
    assert said == f"It is smaller by 0.125 {figures} a year"
    above = ("+0.125", "(90% interval of the difference +0.022 to +0.228, p = 0.050)")
    assert "by 0.125 (90% interval of the" in effect("it", figures=above, side="larger", **about)


def test_a_point_estimate_has_no_probabilities(fitted):
    """One draw has each word the nearest or not: in print that is a dash."""
    point = copy.copy(fitted).set_params(uncertainty="model")
    first = repr(point.nearer("w00", ["w01", "w02"])).splitlines()[2]
    assert first.split()[-1] == "-" and "1.00" not in first
    told = repr(point.weat(["w00", "w01"], ["w02", "w03"], ["w04"], ["w05"]))
    assert told.splitlines()[2].split()[-1] == "-"
    # and one word is held against nothing
    assert ">0.99" not in repr(fitted.nearer("w00", ["w01"]))
    assert fitted.nearer("w00", ["w01"]).to_frame()["prob_nearest"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "cause"),
    [({"max_features": 2}, "raise max_features=2"), ({"min_count": 100}, "lower min_count=100")],
)
def test_what_made_the_vocabulary_small_is_named(options, cause):
    texts = [*TEXTS, "w00 w01 " * 100]
    with pytest.raises(ValueError, match=f"at most 2, or {cause}"):
        BayesianSGNS(5, **OPTIONS | options).fit(texts)


def test_two_words_in_the_place_of_one(fitted):
    message = r"it is 2 words: pass the list \['w00', 'w01'\].*'w00_w01'"
    with pytest.raises(KeyError, match=message):
        fitted.similarity("w00 w01", "w02")
    with pytest.raises(KeyError, match="none of which were dropped as rare"):
        fitted.similarity("zebra", "w02")


def test_answers_over_periods_are_drawn_by_another_display():
    pytest.importorskip("matplotlib").use("Agg")
    from skbayesembed.plotting import SimilarityDisplay

    model = DynamicSGNS(2, **OPTIONS).fit(TEXTS, times=np.arange(12) // 6)
    with pytest.raises(
        ValueError, match="2 periods: DriftDisplay draws it; for one period"
    ) as told:
        SimilarityDisplay.from_estimator(model, [("w00", "w01")])
    assert "\n" not in str(told.value)
    change = model.similarity_change("w00", "w01")
    rests = (
        f"It rests on the equivalent of {change.n_units:.1f} equally weighted documents, counted "
    )
    assert rests in change.sentence


def test_figures_call_units_by_their_name(fitted, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    # labels are read, not looked at
    monkeypatch.setattr("skbayesembed.plotting.canvas.keep_inside", lambda figure: None)
    from skbayesembed.plotting import ForestDisplay, SimilarityDisplay, WordMapDisplay

    units = pytest.importorskip("pandas").Series(np.arange(12) // 2, name="president")
    model = BayesianSGNS(2, **OPTIONS).fit(TEXTS, units=units)
    for display in (
        SimilarityDisplay.from_estimator(model, [("w00", "w01")]),
        ForestDisplay.from_result(model.nearer("w00", ["w01", "w02"])),
        ForestDisplay.from_result(model.similarity("w00", "w01")),
    ):
        assert "90 % interval (sampling of presidents)" in display.ax_.get_xlabel()
    plain = SimilarityDisplay.from_estimator(fitted, [("w00", "w01")])
    assert "90 % interval (sampling of documents)" in plain.ax_.get_xlabel()
    drawn = WordMapDisplay.from_estimator(model, ["w00", "w01", "w02"])
    assert "90 % ellipse (sampling of presidents)" in drawn.ax_.get_xlabel()
    for of, called in ((model, "presidents"), (fitted, "documents")):
        assert of.report().find("intervals") == f"sampling of {called}"
    over_time = DynamicSGNS(2, **OPTIONS).fit(TEXTS, times=np.arange(12) // 6, units=units)
    changed = over_time.most_changed(2, min_pairs=1)
    label = ForestDisplay.from_result(changed).ax_.get_xlabel()
    assert "Euclidean distance" in label and "(sampling of presidents)" in " ".join(label.split())
    other = copy.copy(model)
    other.units_name_ = "year"
    label = SimilarityDisplay.from_estimator(other, [("w00", "w01")]).ax_.get_xlabel()
    assert "(sampling of units: year)" in label


def test_several_pairs_are_asked_about_one_by_one(fitted):
    with pytest.raises(TypeError, match=r"similarity takes two words.*pandas.concat"):
        fitted.similarity([("w00", "w01"), ("w00", "w02")])


def test_what_keeps_a_rare_word_is_named():
    model = BayesianSGNS(2, **OPTIONS | {"max_features": 8, "min_count": 2}).fit(TEXTS)
    (rare, *_) = set(WORDS) - set(model.words_)
    with pytest.raises(KeyError, match="raise max_features, or lower min_count, and fit again"):
        model.similarity(str(rare), model.words_[0])


def test_the_contrast_of_two_changes_is_higher_or_lower(fitted):
    pairs = ("w00", "w01"), ("w00", "w02"), ("w00", "w03")
    first, second = (fitted.similarity_difference(pairs[0], pair) for pair in pairs[1:])
    said = fitted.contrast(first, second).sentence
    assert ("higher" in said or "lower" in said) and "larger" not in said
    said = fitted.contrast(*(fitted.similarity(*pair) for pair in pairs[:2])).sentence
    assert "higher" not in said


def test_nearest_is_as_sure_as_an_interval(fitted):
    """Its probability is at least what the interval leaves on one side."""
    table = fitted.nearer("w00", ["w01", "w02", "w03"])
    sure = {"difference_interval": np.full((3, 2), 0.1), "prob": 0.9}
    for proba, verdict in ((0.94, "not decided"), (0.95, "nearest")):
        nearest = np.array([proba, 1 - proba, 0.0])
        found = replace(table, prob_nearest=nearest, **sure)._resting_on("units")
        assert found.verdict == verdict
        assert ("probably nearer" in found.sentence) == (verdict == "nearest")
    assert table.difference[0] == 0 and not table.difference_interval[0].any()

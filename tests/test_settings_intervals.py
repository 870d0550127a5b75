"""Intervals of one question over several settings: what they rest on, and where there is none."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

from skbayesembed import over_settings
from tests.test_settings import MODEL, TEXTS, ask, rows_with


def test_intervals_say_what_they_rest_on(capfd):
    """By the answer, else by the fit; of settings that differ in it all are named."""
    units = pytest.importorskip("pandas").Series(np.arange(18) // 3, name="speaker")

    def bare(fitted):
        answer = ask(fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted)
        about = {"mean": [answer.mean] * 2, "interval": [answer.interval] * 2}
        return Bunch(terms=["x", "y"], prob=0.9, **about)

    by_units = over_settings(MODEL, TEXTS, bare, {"window": [2, 3]}, own=False, units=units)
    assert by_units.source == "units"
    assert "(intervals allow for the sampling of 6 speakers)" in repr(by_units)
    assert "Each interval allows for the sampling of 6 speakers." in by_units.sentence
    model = clone(MODEL).set_params(uncertainty="model", solver="vi", draws=50)
    grid = {"solver": ["laplace", "map"]}
    mixed = over_settings(make_pipeline(model), TEXTS, bare, {
        f"bayesiansgns__{name}": values for name, values in grid.items()})  # fmt: skip
    assert mixed.source is None
    assert mixed.sources == ["vi"] * 2 + ["laplace"] * 2 + ["point"] * 2
    told = (
        "ntervals rest on variational inference, by which they may be too narrow, in 1 setting "
        "and on the Laplace approximation in 1 setting"
    )
    assert f"(i{told})" in repr(mixed) and f"I{told}." in mixed.sentence
    assert "1 setting has a point estimate, without interval" in mixed.sentence
    assert "these texts alone" in repr(mixed)


def test_points_are_no_intervals():
    """They have no ends that others could not contain, and no probability."""
    model = clone(MODEL).set_params(uncertainty="model", solver="laplace", draws=50)

    def question(fitted):
        return fitted.similarity_difference(("cat", "dog"), ("cat", "bone"))

    table = over_settings(model, TEXTS, question, {"solver": ["map"], "window": [5]})
    assert table.source == "laplace"
    assert np.isnan(table.interval[1]).all() and np.isnan(table.proba[1])
    assert np.isfinite(table.mean).all() and np.isfinite(table.proba[0])
    assert repr(table).splitlines()[3].split()[-3:] == ["-", "-", "-"]
    assert "intervals contain" not in table.sentence and "no value" not in table.sentence
    two = rows_with([0.1, 0.2, 0.9], [[0.0, 0.3], [0.1, 0.4], [np.nan] * 2])
    assert "both intervals contain the values from 0.100 to 0.300" in repr(two)
    # what has not mixed has no say in it either
    sources = ["posterior", "posterior", "unmixed"]
    two = rows_with([0.1, 0.2, 0.9], [[0.0, 0.3], [0.1, 0.4], [0.8, 1.0]], sources=sources)
    assert "both intervals contain the values from 0.100 to 0.300" in repr(two)
    assert "(estimates from 0.100 to 0.200; both" in repr(two)
    assert repr(two).splitlines()[3].split()[-3:] == ["0.900", "-", "-"]
    assert two.sentence.endswith(
        "Left out: 1 setting whose chains have not mixed (window=2). Intervals rest on the model "
        "in 2 settings."
    )
    one = rows_with(*[[0.1, 0.2], [[0.0, 0.3], [0.1, 0.4]]], sources=["posterior", "unmixed"])
    assert "intervals contain the" not in repr(one) and "all 1" not in repr(one)


def test_a_fitted_setting_alone(capfd):
    """A grid that holds nothing but the fit that is there needs no other."""
    fitted = clone(MODEL).fit(TEXTS)
    capfd.readouterr()
    table = over_settings(fitted, TEXTS, ask, {"window": [5]}, own="fitted")
    assert table.own.tolist() == [True] and table.mean[0] == ask(fitted).mean
    assert "fits" not in capfd.readouterr().err


def test_a_point_estimate_says_why_it_has_no_verdict():
    model = clone(MODEL).set_params(uncertainty="model")

    def question(fitted):
        return Bunch(mean=0.1, verdict=fitted.contrast(ask(fitted), ask(fitted)).verdict)

    table = over_settings(model, TEXTS, question, {"window": [2]}, own=False)
    assert "AttributeError: verdict needs an interval, and this answer is a point" in table.notes[0]


def test_sources_of_several_parts():
    """Their parts are told in words: those of all settings once."""
    rows = [0.1, 0.2, 0.3], [[0.0, 0.3], [0.1, 0.4], [0.2, 0.5]]
    sources = ["posterior, independent", "vi, independent", "point"]
    table = rows_with(*rows, sources=sources)
    told = (
        "ntervals rest on the model in 1 setting and on variational inference, by which they may "
        "be too narrow, in 1 setting; all treat snippets as independent"
    )
    assert f"(i{told})" in repr(table) and f"I{told}." in table.sentence
    table = rows_with(*rows, sources=["posterior", "posterior, vectors", "posterior, vectors"])
    told = "on the model in 1 setting and on the model with the uncertainty of word vectors, in 2"
    assert told in table.sentence


def test_numbers_of_numpy_and_pandas(capfd):
    """They have a method called mean, and are answers all the same."""
    table = over_settings(MODEL, TEXTS, lambda f: np.float64(f.window), {"window": [2, 3]})
    assert table.mean.tolist() == [5, 2, 3]

    def row(fitted):
        return pytest.importorskip("pandas").Series([1.0, fitted.window], index=["x", "y"])

    # of an array, whose numbers are those of the estimator
    table = over_settings(MODEL, TEXTS, row, {"window": np.arange(4, 6)})
    assert table.entries == ["x", "y"] * 2 and table.mean.tolist() == [1, 4, 1, 5]
    assert table.own.tolist() == [False, False, True, True]
    for answer, note in ((np.nan, "The answer is not a number."), ([], "row of them, got shape")):
        table = over_settings(MODEL, TEXTS, lambda f, a=answer: a, {"window": [2]}, own=False)
        assert note in table.notes[0] and "(1 failed: see the notes)" in repr(table)


def test_intervals_are_not_rounded_onto_zero():
    """Neither in print nor in words, however small the numbers are."""
    table = rows_with([0.30, 0.35], [[0.004, 0.596], [0.003, 0.700]])
    assert "from 0.004 to 0.596" in table.sentence and "[0.003, 0.700]" in repr(table)
    table = rows_with([0.00039, 0.00040], [[0.00037, 0.00041], [0.00038, 0.00042]])
    assert "from 0.000380 to 0.000410" in repr(table)
    assert "[0.000370, 0.000410]" in repr(table) and "0.00038" in table.sentence

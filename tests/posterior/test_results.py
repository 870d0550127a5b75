"""Answers that print as tables."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, DiSCSenseModel, Posterior
from skbayesembed.posterior.results import About, Result, titled
from skbayesembed.posterior.sources import interval_label, notes_on, source_of_posterior
from skbayesembed.senses.modes import Modes

TEXTS = ["ant bee cat ant bee", "elk fox gnu elk fox", "ant elk bee fox cat gnu"] * 15


@pytest.fixture(scope="module")
def fits():
    common = {"min_count": 1, "prior_precision": 1.0, "random_state": 0}
    model = {"uncertainty": "model", **common}
    fits = {
        "units": BayesianSGNS(2, solver="map", **common),
        "point": BayesianSGNS(2, solver="map", **model),
        "vi": BayesianSGNS(2, solver="vi", draws=100, **model),
        "laplace": BayesianSGNS(2, solver="laplace", **model),
    }
    return {name: quietly(fit.fit, TEXTS) for name, fit in fits.items()}


def quietly(fit, *data, **covariates):
    """A fit whose warnings, of a toy posterior, are of no account here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*data, **covariates)


def two_axes():
    entries = {
        "mean": np.arange(6.0).reshape(2, 3),
        "interval": np.arange(12.0).reshape(2, 3, 2),
        "n_units": np.array([4.0, 5.0]),
        "reference": "then",
        "draws": np.zeros((1000, 2, 3)),
        "periods": [1900, 1910],
    }
    axes = {"period": [1900, 1910], "word": ["ant", "bee", "cat"]}
    return Result(entries, About("a title", axes, 0.8))


def test_a_frame_has_a_row_for_each_answer():
    pytest.importorskip("pandas")
    frame = two_axes().to_frame()
    columns = ["period", "word", "mean", "low", "high", "n_units", "reference"]
    assert list(frame.columns) == columns
    assert frame["period"].tolist() == [1900] * 3 + [1910] * 3
    assert frame["word"].tolist() == ["ant", "bee", "cat"] * 2
    assert frame["mean"].tolist() == list(range(6))
    assert frame["low"].tolist() == list(range(0, 12, 2))
    assert frame["n_units"].tolist() == [4.0] * 3 + [5.0] * 3
    assert set(frame["reference"]) == {"then"}


def test_frames_of_single_answers_say_what_was_asked(fits):
    """And can be told apart where they are stacked; sentences are there on request."""
    pandas = pytest.importorskip("pandas")
    model = fits["units"]
    pairs = [tuple(model.words_[[0, i]].tolist()) for i in (1, 2)]
    answers = [model.similarity(*pair) for pair in pairs]
    stacked = pandas.concat([answer.to_frame() for answer in answers])
    assert list(zip(stacked["a"], stacked["b"], strict=True)) == pairs
    assert list(stacked.columns[:3]) == ["a", "b", "mean"] and "sentence" not in stacked
    assert answers[0].to_frame(sentence=True)["sentence"].tolist() == [answers[0].sentence]
    apart = model.contrast(*answers).to_frame()
    assert [apart["a"][0], apart["b"][0]] == [answer.title for answer in answers]
    nearest = model.nearer(pairs[0][0], [b for _, b in pairs]).to_frame()
    assert nearest["nearest_to"].tolist() == [pairs[0][0]] * 2


def test_scores_of_left_out_pairs_are_readable():
    scores = {"elpd": -172720.04, "se": 93.71, "p_loo": 812.3, "sampling_se": 277.024,
              "n_observations": 256504.0, "good_k": 0.596, "bad_share": 0.0312}  # fmt: skip
    _, _, row, note = repr(titled("PSIS-LOO", **scores)).splitlines()
    assert row.split() == ["-172720.0", "93.7", "812.3", "277.0", "256504", "0.60", "0.031"]
    assert note.startswith("(where an observation's Pareto k is above good_k")


def test_it_prints_without_draws():
    lines = repr(two_axes()).splitlines()
    assert lines[0] == "a title"
    assert lines[1].split() == ["period", "word", "mean", "80", "%", "interval", "n_units"]
    assert lines[2].split() == ["1900", "ant", "0.000", "[0.000,", "1.000]", "4.0"]
    assert len(lines) == 2 + 6 + 1 and lines[-1] == "reference: then"
    html = two_axes()._repr_html_()
    assert html.startswith("<table>") and "draws" not in html


def test_long_answers_are_cut():
    found = Result({"mean": np.arange(100.0)}, About(axes={"word": range(100)}))
    assert len(repr(found).splitlines()) == 1 + 20 + 1
    assert len(found.to_string(None).splitlines()) == 1 + 100


def test_entries_are_reached_and_set_as_attributes():
    found = two_axes()
    found.prob_positive = np.full((2, 3), 0.5)
    assert found["prob_positive"] is found.prob_positive
    assert "0.50" in repr(found) and found.prob == 0.8 and found.title == "a title"
    assert dict(found).keys() == {*two_axes(), "prob_positive"}


def pickled(found):
    return pickle.loads(pickle.dumps(found))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_copies_keep_what_they_are_about(again):
    found = two_axes()
    copied = again(found)
    assert type(copied) is Result and repr(copied) == repr(found)
    assert copied.axes == found.axes and copied.prob == found.prob


def test_single_numbers_are_one_row():
    found = titled("a title", elpd=-12.34, pareto_k=np.zeros(5), n=3)
    lines = [line.split() for line in repr(found).splitlines()]
    assert lines == [["a", "title"], ["elpd", "n"], ["-12.3", "3"]]


def test_what_has_no_numbers_names_its_entries():
    assert "words, more" in repr(titled("a title", words=np.array(["a", "b"]), more={}))


@pytest.mark.parametrize("source", ["units", "point", "vi", "laplace"])
def test_answers_and_tables_know_what_intervals_rest_on(source, fits):
    model = fits[source]
    answers = [
        model.similarity("ant", "bee"),
        model.most_similar("ant", 2),
        model.nearer("ant", ["bee", "fox"]),
        model.project(["ant", "bee"], model.axis("cat", "fox")),
        model.analogy("ant", "bee", "fox", 2),
        model.weat(["ant", "bee"], ["elk", "fox"], ["cat"], ["gnu"]),
    ]
    for found in answers:
        assert found.source == source
        assert ("too narrow" in repr(found)) == (source == "vi")
        assert ("too narrow" in found._repr_html_()) == (source == "vi")
        assert ("point estimate" in repr(found)) == (source == "point")


def test_summaries_under_vi_say_so(fits):
    assert "too narrow" in repr(fits["vi"].posterior_.summary("rho"))
    assert "too narrow" not in repr(fits["laplace"].posterior_.summary("rho"))


def test_labels_of_intervals():
    assert interval_label(0.9, "vi") == "90 % interval (VI, may be too narrow)"
    assert interval_label(0.95, "posterior", "band") == "95 % band (of the model)"
    assert interval_label(0.9, "posterior, vectors") == "90 % interval (of the model and vectors)"
    narrow = "90 % interval (VI, may be too narrow, with units)"
    assert interval_label(0.9, "vi, other units") == narrow
    assert interval_label(0.9, "posterior, independent") == "90 % interval (of the model)"
    assert "uncertainty of the word vectors" in notes_on("posterior, vectors")[0]
    assert interval_label(0.9, None) == "90 % interval"
    assert interval_label(0.9, "point", "ellipse") == "point estimate, no ellipse"


def test_answers_that_are_copies_cannot_be_contrasted(fits):
    model = fits["units"]
    found = model.similarity("ant", "bee")
    with pytest.raises(ValueError, match="not a copy"):
        model.contrast(copy.copy(found), found)


def test_rows_of_a_contrast_keep_their_labels(fits):
    model = fits["units"]
    pairs = [("ant", "bee"), ("ant", "fox")]
    many, one = model.cooccurrence_proba(pairs), model.cooccurrence_proba(pairs[:1])
    assert model.contrast(many, one).axes == {"pair": ["ant, bee", "ant, fox"]}
    assert model.contrast(one, many).axes == {"pair": ["ant, bee", "ant, fox"]}


@pytest.fixture(scope="module")
def senses():
    snippets = ["river water flood", "money loan account"] * 20
    years = [1810, 1810, 1811, 1811] * 10
    model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=50, random_state=0)
    return quietly(model.fit, snippets, times=years, genres=["verse", "prose"] * 20)


def test_modes_print_as_a_table(senses):
    modes = senses.modes_
    assert list(modes) == [modes[i] for i in range(len(modes))] and modes[0].share == 1.0
    assert repr(modes).split()[:3] == ["mode", "share", "starts"]
    assert len(repr(modes)) < 1000 and repr(Modes()) == "[]"
    assert len(modes.to_frame()) == len(modes)
    assert pickle.loads(pickle.dumps(modes))[0].n_starts == modes[0].n_starts
    assert modes.mixed and "not mixed" not in repr(modes)
    modes = Modes(modes)
    modes.mixed = False
    assert "the chains have not mixed" in repr(modes)


def test_prevalences_are_those_of_the_estimator(senses):
    table = senses.prevalence_info(prob=0.8)
    np.testing.assert_array_equal(table.mean, senses.prevalence_)
    np.testing.assert_array_equal(table.interval, senses.prevalence_interval(prob=0.8))
    assert table.n_snippets.sum() == 40
    frame = table.to_frame()
    assert len(frame) == table.mean.size
    row = frame.query("sense == 1 and genre == 'verse' and period == 1811").iloc[0]
    genre = table.genres.index("verse")
    assert row["mean"] == table.mean[1, genre, 1] and row["low"] == table.interval[1, genre, 1, 0]
    assert row["n_snippets"] == table.n_snippets[genre, 1]


def test_senses_of_words_have_rows(senses):
    found = senses.word_trajectory("river")
    assert found.axes == {"sense": [0, 1], "period": [1810, 1811]}
    assert len(found.to_frame()) == 4 and found.source == "laplace"
    assert senses.sense_given_word("river").to_frame()["sense"].tolist() == [0, 1]
    first = senses.emergence(0, 0.5)
    assert first.to_frame()["proba"].tolist() == first.proba.tolist()
    assert f"never: {first.never:.4g}" in repr(first)


def test_dots_stand_where_rows_are_left_out():
    model = DiSCSenseModel(3, solver="map", n_starts=1, random_state=0)
    rng = np.random.default_rng(0)
    table = model.fit(rng.poisson(0.2, (60, 30)), times=np.arange(60) // 2).prevalence_info()
    lines = repr(table).splitlines()
    cut = lines.index("...")
    rows = [line for line in lines[:cut] if line.startswith("  ")]
    after = [line for line in lines[cut:] if line.startswith("  ")]
    assert len(rows) == len(after) == 20
    assert rows[-1].split()[0] == "19" and after[0].split()[0] == "10"


def test_pairs_that_words_were_the_target_of():
    model = BayesianSGNS(2, solver="map", window=1, min_count=1, random_state=0)
    model = quietly(model.fit, ["ant bee cat", "ant bee"] * 5)
    # at a window of one: ant has one neighbour in each document, bee two and one, cat one
    expected = {"ant": 10.0, "bee": 15.0, "cat": 5.0}
    found = dict(zip(model.words_.tolist(), model.observed_.tolist(), strict=True))
    assert found == pytest.approx(expected)


def test_chains_that_have_not_mixed_are_named_wherever_they_are_read():
    posterior = Posterior({"x": np.zeros((2, 4))}, attrs={"solver": "hmc", "converged": False})
    assert source_of_posterior(posterior) == "unmixed"
    found = Result({"mean": 0.5}, About(source="unmixed"))
    assert "chains have not mixed" in repr(found)
    assert interval_label(0.9, "unmixed") == "90 % interval (chains have not mixed)"
    # of a search that did not end it says nothing about chains
    for solver, source in (("map", "point"), ("vi", "vi")):
        attrs = {"solver": solver, "converged": False}
        assert source_of_posterior(Posterior({"x": np.zeros((1, 4))}, attrs=attrs)) == source


def test_entries_that_only_rounding_moves_have_no_rhat():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 50, 2))
    # chains apart, but by rounding alone
    x[..., 1] = 1e-16 * (np.arange(2)[:, None] + rng.normal(size=(2, 50)) / 100)
    summary = Posterior({"x": x}).summary()
    assert summary.rhat[1] > 1.5
    assert f"largest rhat {summary.rhat[0]:.3f}" in repr(summary)

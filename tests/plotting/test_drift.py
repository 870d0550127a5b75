"""Similarities over time."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skbayesembed import DynamicSGNS
from skbayesembed.plotting import DriftDisplay, SimilarityDisplay
from skbayesembed.posterior.results import Result


def band_at(filled, x):
    """Low and high of a band at some x, from its outline."""
    vertices = np.concatenate([path.vertices for path in filled.get_paths()])
    return np.array([[f(vertices[vertices[:, 0] == at, 1]) for f in (np.min, np.max)] for at in x])


def test_lines_and_bands_are_the_answers_of_similarity(dynamic):
    display = DriftDisplay.from_estimator(dynamic, "ant", "bee", ["fox", "gnu"], prob=0.8)
    answers = [dynamic.similarity("ant", other, prob=0.8) for other in ("bee", ["fox", "gnu"])]
    assert len(display.lines_) == len(display.bands_) == 2
    for line, filled, found in zip(display.lines_, display.bands_, answers, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), dynamic.periods_.centres)
        np.testing.assert_array_equal(line.get_ydata(), found.mean)
        np.testing.assert_allclose(band_at(filled, found.times), found.interval)
    legend = display.ax_.get_legend()
    assert legend.get_title().get_text() == "80 % band (sampling of documents)"
    assert [text.get_text() for text in legend.get_texts()] == ["ant, bee", "ant, [fox, gnu]"]
    assert display.lines_[0].get_color() != display.lines_[1].get_color()


@pytest.mark.parametrize("turn", [1, -1])
def test_the_time_axis_is_of_all_answers(dynamic, turn):
    """Middles of periods are told of, whichever answer has them."""
    of_spans = dynamic.similarity("ant", "bee")
    of_years = copy.copy(of_spans)
    of_years.times = np.arange(1900.0, 1900.0 + len(of_spans.times))
    of_years._about = replace(of_spans._about, axes={"period": of_years.times.tolist()})
    both = {"spans": of_spans, "years": of_years}
    label = DriftDisplay.from_answers(dict(list(both.items())[::turn])).ax_.get_xlabel()
    assert label == "year (points: middles of periods)"


def test_a_word_alone_is_held_against_itself(dynamic):
    display = DriftDisplay.from_estimator(dynamic, "ant", reference=1910, periods=[1900, 1910])
    found = dynamic.self_similarity("ant", 1910, periods=[1900, 1910])
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), found.mean)
    assert display.lines_[0].get_label() == "ant, itself in 1905-1914"


def test_periods_with_little_data_are_hollow(dynamic):
    answer = dynamic.similarity("ant", "bee")
    assert DriftDisplay.from_answers({"x": answer}).hollow_ == []
    answer = answer.copy()
    answer["few_pairs"] = np.arange(len(answer.times)) == 0
    assert "(fewer than 10 uses or too few units in 1 period: a dash; data frames have" in repr(
        answer
    )
    display = DriftDisplay.from_answers({"x": answer})
    assert [line.get_linestyle() for line in display.ax_.lines].count(":") == 2
    alphas = {filled.get_alpha() for filled in display.ax_.collections}
    assert len(alphas) == 2 and display.bands_[0].get_alpha() == max(alphas)
    np.testing.assert_array_equal(display.hollow_[0].get_xdata(), answer.times[:1])
    np.testing.assert_array_equal(display.hollow_[0].get_ydata(), answer.mean[:1])
    legend = display.ax_.get_legend()
    assert [text.get_text().replace("\n", " ") for text in legend.get_texts()] == [
        "x",
        "hollow: too little text of a word here, inferred from other periods",
    ]
    looks = [(line.get_linestyle(), line.get_marker()) for line in legend.legend_handles]
    assert looks == [("-", "o"), (":", "o")]
    # a word held against itself where there was too little of it
    answer |= {"reference": answer.periods[0], "few_pairs": np.ones(len(answer.times), bool)}
    texts = DriftDisplay.from_answers({"x": answer}).ax_.get_legend().get_texts()
    found = texts[1].get_text().replace("\n", " ")
    assert found.endswith(f"too little text in the reference, {answer.periods[0]}")


def test_long_labels_are_not_cut(dynamic):
    """Of lists of words, and of periods that are called by dates."""
    answer = dynamic.self_similarity(["ant", "bee"]).copy()
    long = "[1900-04-03, 1906-12-02)"
    answer |= {"reference": long, "periods": [long] * 3, "few_pairs": np.ones(3, bool)}
    display = DriftDisplay.from_answers({f"[ant, bee, cat, dog], itself in {long}": answer})
    display.figure_.draw_without_rendering()
    texts = display.ax_.get_legend().get_texts()
    assert texts[1].get_text().replace("\n", " ").endswith(f"in the reference, {long}")
    assert max(text.get_window_extent().x1 for text in texts) < display.figure_.bbox.width


def test_answers_about_no_periods_are_refused(by_units):
    with pytest.raises(ValueError, match="must have one number for each of several periods"):
        DriftDisplay.from_answers({"x": by_units.similarity("ant", "bee")})
    with pytest.raises(TypeError, match="got BayesianSGNS"):
        DriftDisplay.from_estimator(by_units, "ant", "bee")


def test_lines_that_are_alike_are_refused(dynamic):
    """They would lie on each other, or at one."""
    for words in ("bee", ["bee", "cat"]):
        with pytest.raises(ValueError, match="others must be different words, .* twice"):
            DriftDisplay.from_estimator(dynamic, "ant", words, words)
        with pytest.raises(ValueError, match="others must not have the word itself"):
            DriftDisplay.from_estimator(dynamic, words, words)
    with pytest.raises(NotFittedError):
        DriftDisplay.from_estimator(DynamicSGNS(2), "ant", "bee")
    with pytest.raises(KeyError, match="ante"):
        DriftDisplay.from_estimator(dynamic, "ant", "ante")


def test_a_contrast_over_the_periods(dynamic):
    """Drawn as similarities are, with a line at zero; not beside them."""
    first, second = (dynamic.similarity("ant", word) for word in ("bee", "cat"))
    found = dynamic.contrast(first, second)
    display = DriftDisplay.from_answers({"bee rather than cat": found})
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), found.mean)
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), first.times)
    assert display.ax_.get_ylabel() == "difference of cosines"
    assert any(list(line.get_ydata()) == [0.0, 0.0] for line in display.ax_.lines)
    assert display.sentence == found.sentence
    with pytest.raises(ValueError, match="all similarities or all contrasts"):
        DriftDisplay.from_answers({"a": found, "b": first})
    with pytest.raises(ValueError, match="must be a single"):
        SimilarityDisplay.from_answers({"a": found})


def test_points_beside_bands_are_told(dynamic):
    """What bands rest on is told as it is without points beside them."""
    answer = dynamic.similarity("ant", "bee")
    point = Result(dict(answer), replace(answer._about, source="point"))
    display = DriftDisplay.from_answers({"point": point, "bands": answer})
    title = display.ax_.get_legend().get_title()
    told = "90 % band (sampling of documents); without: point estimate"
    assert title.get_text().replace("\n", " ") == told
    display.figure_.draw_without_rendering()
    assert title.get_window_extent().x1 < display.figure_.bbox.width


def test_periods_in_any_order_are_drawn_in_that_of_time():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 15
    model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    model.fit(texts, times=np.arange(45) // 15 + 1900)
    display = DriftDisplay.from_estimator(model, "cat", "dog", periods=[1902, 1900, 1901])
    line = display.lines_[0]
    assert line.get_xdata().tolist() == [1900, 1901, 1902]
    expected = model.similarity("cat", "dog", periods=[1900, 1901, 1902]).mean
    np.testing.assert_array_equal(line.get_ydata(), expected)


def test_a_few_weeks_have_years_on_their_axis():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 20
    days = np.datetime64("2020-01-01") + np.arange(60) * 2
    model = DynamicSGNS(2, n_periods=4, solver="map", min_count=1, random_state=0)
    display = DriftDisplay.from_estimator(model.fit(texts, times=days), "cat", "dog")
    display.figure_.draw_without_rendering()
    shown = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert all(text.startswith("20") for text in shown if text)
    assert not display.ax_.xaxis.get_offset_text().get_text()

"""Densities and intervals of single answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, DynamicSGNS
from skbayesembed.plotting import DriftDisplay, SimilarityDisplay
from skbayesembed.posterior.results import About, Result
from skbayesembed.posterior.sentences import together

PAIRS = [("ant", "bee"), ("ant", ["fox", "gnu"])]


def answer_of(mean, interval):
    entries = {"mean": mean, "interval": np.array(interval), "draws": np.full(9, mean)}
    return Result(entries, About(prob=0.9, source="units"))


def test_rows_are_the_answers_of_similarity(by_units):
    display = SimilarityDisplay.from_estimator(by_units, PAIRS, prob=0.8)
    found = [by_units.similarity(*pair, prob=0.8) for pair in PAIRS]
    np.testing.assert_array_equal(display.points_.get_xdata(), [f.mean for f in found])
    segments = display.intervals_.get_segments()
    np.testing.assert_array_equal([s[:, 0] for s in segments], [f.interval for f in found])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["ant, bee", "ant, [fox, gnu]"]


def test_densities_are_those_of_the_draws(sampled):
    display = SimilarityDisplay.from_estimator(sampled, PAIRS)
    assert len(display.densities_) == len(PAIRS)
    for row, (pair, shape) in enumerate(zip(PAIRS, display.densities_, strict=True)):
        draws = sampled.similarity(*pair).draws
        x, y = shape.get_paths()[0].vertices.T
        # hairlines of tails would squeeze the rest
        np.testing.assert_allclose([x.min(), x.max()], np.quantile(draws, [0.0025, 0.9975]))
        assert np.isclose(y.min(), row - 0.8) and np.isclose(y.max(), row)
        # the mean under the curve is that of the draws, but for the tails that are cut off
        height = np.unique(x), [row - y[x == at].min() for at in np.unique(x)]
        mean = np.average(height[0], weights=height[1])
        assert abs(mean - draws.mean()) < 0.2 * draws.std()


def test_intervals_alone(by_units):
    display = SimilarityDisplay.from_estimator(by_units, PAIRS, kind="interval")
    assert display.densities_ == [] and len(display.ax_.collections) == 1


def test_a_point_estimate_has_neither(point):
    display = SimilarityDisplay.from_estimator(point, PAIRS)
    assert display.densities_ == [] and display.intervals_ is None
    assert "no interval" in display.ax_.get_xlabel()


def test_any_single_answers(by_units):
    first, second = (by_units.similarity(*pair) for pair in PAIRS)
    found = by_units.contrast(first, second)
    display = SimilarityDisplay.from_answers({"apart": found}, quantity="difference")
    np.testing.assert_array_equal(display.points_.get_xdata(), [found.mean])
    assert display.ax_.get_xlabel().startswith("difference\n")
    for answers in (found, [found], {"apart": found}):
        assert SimilarityDisplay.from_answers(answers).quantity == "difference of cosines"


def test_answers_of_a_list_are_labelled_by_what_was_asked(by_units):
    answers = [by_units.similarity(*pair) for pair in PAIRS]
    display = SimilarityDisplay.from_answers(answers)
    assert list(display.answers) == [answer.title for answer in answers]
    with pytest.raises(ValueError, match="answers has two called"):
        SimilarityDisplay.from_answers(answers[:1] * 2)


@pytest.mark.parametrize("kind", ["density", "interval"])
def test_long_labels_do_not_overlap(by_units, kind):
    first, second = (by_units.similarity(*pair) for pair in PAIRS)
    answers = {f"{i}: " + "a long label " * 6: by_units.contrast(first, second) for i in range(3)}
    display = SimilarityDisplay.from_answers(answers, kind=kind)
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(above.y0 > below.y1 for above, below in itertools.pairwise(boxes))


@pytest.mark.parametrize("answers", [{}, [], "cat", 3, [1.0], {"cat": 1}.items()])
def test_what_is_no_answer_is_refused_in_one_line(answers):
    with pytest.raises(ValueError, match="answers must be a mapping of labels to answers") as error:
        SimilarityDisplay.from_answers(answers)
    assert "\n" not in str(error.value)


def test_zero_is_marked_where_it_is_within_the_range(by_units, point):
    zero = {"apart": answer_of(0.1, [-0.2, 0.4]), "more": answer_of(0.2, [0.1, 0.3])}
    for answers, marked in ((zero, True), ({"more": zero["more"]}, False)):
        display = SimilarityDisplay.from_answers(answers, kind="interval")
        lines = [line for line in display.ax_.lines if list(line.get_xdata()) == [0.0, 0.0]]
        low, high = display.ax_.get_xlim()
        assert len(lines) == marked == (low < 0.0 < high)


def test_nothing_ends_at_the_edge_of_the_axes(by_units):
    display = SimilarityDisplay.from_estimator(by_units, PAIRS)
    low, high = display.ax_.get_xlim()
    ends = np.concatenate([d.get_paths()[0].vertices[:, 0] for d in display.densities_])
    room = 0.05 * (high - low)
    assert low + room < ends.min() and ends.max() < high - room


def test_the_answers_in_words(by_units, dynamic):
    display = SimilarityDisplay.from_estimator(by_units, PAIRS)
    found = [by_units.similarity(*pair).sentence for pair in PAIRS]
    assert display.sentence == together(found) and "Each interval allows for" in display.sentence
    answers = {"x": dynamic.similarity("ant", "bee"), "y": dynamic.similarity("ant", "fox")}
    display = DriftDisplay.from_answers(answers)
    assert display.sentence == together([answer.sentence for answer in answers.values()])


def test_in_a_period(dynamic):
    display = SimilarityDisplay.from_estimator(dynamic, PAIRS, period=1910)
    expected = [dynamic.similarity(*pair, periods=[1910]).mean[0] for pair in PAIRS]
    np.testing.assert_array_equal(display.points_.get_xdata(), expected)


@pytest.mark.parametrize("pairs", ["ant", [], ["ant", "bee"], [("ant", "bee", "cat")], 3])
def test_what_are_no_pairs_is_refused(pairs, by_units):
    with pytest.raises(ValueError, match="pairs must be a list of pairs of words"):
        SimilarityDisplay.from_estimator(by_units, pairs)


def test_bad_arguments_are_refused(by_units, dynamic):
    with pytest.raises(ValueError, match="kind"):
        SimilarityDisplay.from_estimator(by_units, PAIRS, kind="violin")
    with pytest.raises(ValueError, match="must be a single answer"):
        SimilarityDisplay.from_estimator(dynamic, PAIRS)
    with pytest.raises(ValueError, match="must be a mapping of labels to answers"):
        SimilarityDisplay.from_answers({})


def test_one_label_tells_of_all_intervals(by_units, point):
    """Of another probability they are not drawn together; a point beside them is named."""
    first, other = by_units.similarity(*PAIRS[0]), by_units.similarity(*PAIRS[1], prob=0.5)
    with pytest.raises(ValueError, match="one prob, got 0.9 of 'a' and 0.5 of 'b': ask with the"):
        SimilarityDisplay.from_answers({"a": first, "b": other})
    answers = {"a": point.similarity(*PAIRS[0]), "b": first}
    display = SimilarityDisplay.from_answers(answers, kind="interval")
    kinds = "90 % interval (sampling of documents); without: point estimate"
    assert " ".join(display.ax_.get_xlabel().split()) == f"cosine {kinds}"
    drawn = [s for s in display.intervals_.get_segments() if np.isfinite(s).all() and len(s)]
    assert len(drawn) == 1 and np.allclose(drawn[0][:, 0], first.interval)


def test_a_pair_that_is_there_twice_is_refused(by_units):
    """It would have one row."""
    with pytest.raises(ValueError, match="pairs must be different, got 'ant, bee' twice"):
        SimilarityDisplay.from_estimator(by_units, [*PAIRS, PAIRS[0]])


def test_axes_that_are_cut_alike_have_a_row_each():
    """Their labels are cut, and the answers are two."""
    texts = ["the cat sat on the mat", "a dog and an elk ate", "an owl sat on the rug"] * 10
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    model.fit(texts)
    axes = [model.axis(["cat", "dog", "elk", last], ["the"]) for last in ("mat", "owl")]
    display = SimilarityDisplay.from_estimator(model, [("rug", axis) for axis in axes])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert len(labels) == len(set(labels)) == 2
    means = [model.similarity("rug", axis).mean for axis in axes]
    assert [answer.mean for answer in display.answers.values()] == means


def test_the_period_is_named():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    model.fit(texts, times=[1900] * 15 + [1901] * 15)
    display = SimilarityDisplay.from_estimator(model, [("cat", "dog")], period=1901)
    assert "cosine in 1901" in display.ax_.get_xlabel()

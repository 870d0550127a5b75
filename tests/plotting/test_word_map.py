"""Maps of words: where they lie, and how surely."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import DynamicSGNS
from skbayesembed.metrics.words import unit_vectors
from skbayesembed.plotting import WordMapDisplay
from skbayesembed.sgns.word_map import Coordinates, word_map
from tests.plotting.conftest import WORDS


def plane(vectors):
    """The two main directions of vectors, by another way than that of the package."""
    moved = vectors - vectors.mean(axis=0)
    values, basis = np.linalg.eigh(moved.T @ moved)
    return basis[:, ::-1][:, :2], values[::-1][:2] / values.sum()


def test_points_are_projections_of_unit_vectors(by_units):
    display = WordMapDisplay.from_estimator(by_units, WORDS)
    unit = unit_vectors(by_units.rho_[[by_units.vocabulary_[w] for w in WORDS]])
    axes, share = plane(unit)
    expected = (unit - unit.mean(axis=0)) @ axes
    x = np.asarray(display.points_.get_offsets())
    signs = np.sign(np.sum(x * expected, axis=0))
    np.testing.assert_allclose(x, signs * expected, atol=1e-8)
    np.testing.assert_allclose(display.result.share, share)
    assert [text.get_text() for text in display.texts_] == WORDS


def test_draws_of_the_posterior_make_the_ellipses(sampled):
    found = word_map(sampled, WORDS, 5, 0.75)
    index = [sampled.vocabulary_[w] for w in WORDS]
    unit = unit_vectors(sampled.rho_[index])
    _, _, right = np.linalg.svd(unit - unit.mean(axis=0))
    axes = right[:2] * np.where(right[:2].sum(axis=1) < 0, -1.0, 1.0)[:, None]
    draws = unit_vectors(sampled._balanced.of("rho", index)) @ axes.T
    np.testing.assert_allclose(found.position, draws.mean(axis=0) - axes @ unit.mean(axis=0))
    for i in range(len(WORDS)):
        np.testing.assert_allclose(found.covariance[i], np.cov(draws[:, i].T), atol=1e-12)
        assert inside(found, i, draws[:, i] - draws[:, i].mean(axis=0)) == pytest.approx(
            0.75, abs=1 / len(draws)
        )


def inside(found, i, moved):
    """Share of draws, about the position, in the ellipse of a word."""
    angle = np.radians(found.angle[i])
    long = np.array([np.cos(angle), np.sin(angle)])
    along = np.column_stack([moved @ long, moved @ [-long[1], long[0]]])
    return np.mean(np.sum((along / found.half_axes[i]) ** 2, axis=1) <= 1 + 1e-12)


def test_ellipses_are_drawn_as_they_are_said(by_units):
    display = WordMapDisplay.from_estimator(by_units, WORDS, prob=0.5)
    found = display.result
    for i, shape in enumerate(display.ellipses_):
        np.testing.assert_allclose(shape.center, found.position[i])
        np.testing.assert_allclose([shape.width, shape.height], 2 * found.half_axes[i])
        assert shape.angle == pytest.approx(found.angle[i])
        box = shape.get_path().transformed(shape.get_patch_transform()).vertices
        (low, high), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
        assert low <= box[:, 0].min() and box[:, 0].max() <= high
        assert bottom <= box[:, 1].min() and box[:, 1].max() <= top
    x, y = display.ax_.transData.transform([[0, 0], [1, 1]])
    assert y[0] - x[0] == pytest.approx(y[1] - x[1], rel=1e-6), "one scale for both directions"


def test_gradients_of_coordinates_are_derivatives(by_units):
    rng = np.random.default_rng(0)
    axes = unit_vectors(rng.normal(size=(2, 3)))
    from skbayesembed.sgns.questions.kinds import Question
    from skbayesembed.sgns.questions.operands import of_places

    question = Coordinates(of_places([0, 1, 2], 8), axes)
    x = rng.normal(size=(3, 3))
    np.testing.assert_allclose(question.gradient(x), Question.gradient(question, x), atol=1e-8)


def test_a_word_brings_its_neighbours(by_units):
    display = WordMapDisplay.from_estimator(by_units, "ant", 3)
    expected = ["ant", *by_units.most_similar("ant", 3).words]
    assert display.result.words.tolist() == expected


def test_a_point_estimate_has_no_ellipses(point):
    display = WordMapDisplay.from_estimator(point, WORDS)
    assert display.ellipses_ == [] and not display.ax_.patches
    assert display.ax_.get_xlabel().endswith("point estimate, no ellipse")


def test_periods_have_maps_of_their_own(dynamic):
    first, last = (WordMapDisplay.from_estimator(dynamic, WORDS, period=t) for t in (1900, 1920))
    unit = unit_vectors(dynamic.rho_[0][[dynamic.vocabulary_[w] for w in WORDS]])
    axes, _ = plane(unit)
    expected = np.abs((unit - unit.mean(axis=0)) @ axes)
    np.testing.assert_allclose(np.abs(first.result.position), expected, atol=1e-8)
    assert not np.allclose(np.abs(last.result.position), expected, atol=1e-3)


def test_bad_arguments_are_refused(by_units, dynamic):
    with pytest.raises(ValueError, match="at least three"):
        WordMapDisplay.from_estimator(by_units, ["ant", "bee"])
    with pytest.raises(KeyError, match="ante"):
        WordMapDisplay.from_estimator(by_units, "ante")
    with pytest.raises(ValueError, match="period must name a period"):
        WordMapDisplay.from_estimator(dynamic, WORDS)
    with pytest.raises(ValueError, match="period must be None"):
        WordMapDisplay.from_estimator(by_units, WORDS, period=1900)


def test_words_without_text_in_the_period_are_hollow():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 20
    texts = [f"{text} elk owl" if i < 30 else text for i, text in enumerate(texts)]
    model = DynamicSGNS(3, solver="map", min_count=1, random_state=0)
    model.fit(texts, times=[1900] * 30 + [1901] * 30)
    words = ["cat", "dog", "elk", "mat"]
    display = WordMapDisplay.from_estimator(model, words, period=1901)
    assert display.result.few.tolist() == [False, False, True, False]
    assert len(display.ellipses_) == 3
    faces = display.points_.get_facecolors()
    assert np.all(faces[2, :3] == 1) and not np.all(faces[[0, 1, 3], :3] == 1, axis=1).any()
    assert "1901" in display.ax_.get_xlabel() and "hollow" in display.ax_.get_xlabel()
    assert "map of 4 words, 1901" in repr(display.result)
    assert "a word behind the rows of elk" in repr(display.result)
    before = WordMapDisplay.from_estimator(model, words, period=1900)
    assert not before.result.few.any() and len(before.ellipses_) == 4

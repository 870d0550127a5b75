"""Gradients of questions against central differences; sums of vectors and how they move."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed.sgns.questions import kinds, scales
from skbayesembed.sgns.questions.operands import Operands, of_places, together, turned, values
from skbayesembed.sgns.questions.phrases import Phrase, operands_of

Q, K, N = 6, 3, 5


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((Q, K))


def index(r, rng):
    return np.array([rng.permutation(Q)[:r] for _ in range(N)])


def every_kind():
    rng, nothing = np.random.default_rng(1), of_places(np.arange(Q), Q)
    pairs = index(2, rng)
    yield "cosines", kinds.Cosines(nothing, pairs)
    yield "cosine distances", kinds.CosineDistances(nothing, pairs)
    yield "distances", kinds.Distances(nothing, pairs)
    yield "probabilities", kinds.Probabilities(nothing, pairs)
    yield "entries", kinds.Entries(nothing, K)
    yield "associations", kinds.Associations(nothing, pairs)
    yield "effects", kinds.Effects(nothing, index(Q, rng), 2)
    halves = of_places(np.arange(3), Q), of_places(np.arange(3, Q), Q)
    ends = [kinds.Cosines(h, [[0, 1], [2, 1]]) for h in halves]
    yield "differences", kinds.Differences(*ends)


KINDS = dict(every_kind())


@pytest.mark.parametrize("name", list(KINDS))
def test_gradients(name, x):
    """Also that of effect sizes, which is had numerically, by a longer step."""
    question, step = KINDS[name], 1e-4
    gradient = question.gradient(x)
    assert gradient.shape == (*question.index.shape, K)

    def value(x):
        if name == "differences":
            return question.value((x[None, :3], x[None, 3:]))[0]
        return question.value(x[None])[0]

    for operand in range(Q):
        for k in range(K):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[operand, k] += sign * step
                ends.append(value(moved))
            slope = (ends[0] - ends[1]) / (2 * step)
            found = np.sum(gradient[..., k] * (question.index == operand), axis=1)
            # errors of the order of the squared step
            np.testing.assert_allclose(found, slope, atol=1e-6)


def test_the_general_gradient_is_that_of_cosines(x):
    question = KINDS["cosines"]
    np.testing.assert_allclose(
        kinds.Question.gradient(question, x), question.gradient(x), atol=1e-9
    )


def test_probabilities_move_as_their_logits_do(x):
    """The slope is that at the posterior mean of logits, about which intervals lie."""
    question, rng = KINDS["probabilities"], np.random.default_rng(2)
    draws = x + 0.3 * rng.standard_normal((50, Q, K))
    a, b = question.index.T
    logits = np.sum(draws[:, a] * draws[:, b], axis=-1)
    centre = question.centre(draws, None)
    np.testing.assert_allclose(centre, logits.mean(axis=0))
    slope = expit(centre) * (1 - expit(centre))
    gradient = question.gradient(x, draws) / slope[:, None, None]
    np.testing.assert_allclose(gradient[:, 0], x[b])
    np.testing.assert_allclose(gradient[:, 1], x[a])


def test_vectors_of_no_length_have_no_direction():
    x = np.zeros((2, K))
    for kind in (kinds.Cosines, kinds.Distances):
        question = kind(of_places([0, 1], 2), [[0, 1]])
        assert question.value(x[None])[0, 0] == 0.0
        assert not question.gradient(x).any()


@pytest.mark.parametrize(
    "scale",
    [scales.COSINE, scales.PROBABILITY, scales.COSINE_DISTANCE, scales.bounded(2.0), scales.PLAIN,
     scales.of_distances(np.array([0.5, 0.7, 0.2]))],
)  # fmt: skip
def test_scales(scale):
    values, step = np.array([0.3, 0.6, 0.9]), 1e-6
    z = scale.forward(values)
    np.testing.assert_allclose(scale.backward(z), values)
    slope = (scale.backward(z + step) - scale.backward(z - step)) / (2 * step)
    np.testing.assert_allclose(scale.slope(values), slope, rtol=1e-6)


def test_effects_stay_within_their_scale():
    """Two lists that share no association are 2 standard deviations apart, or less."""
    assert kinds.effect(np.array([1.0, 1.0, -1.0, -1.0]), 2) == pytest.approx(2.0)
    most = kinds.effect(np.array([1.0, 0.0, 0.0, 0.0]), 1)
    question = kinds.Effects(of_places(np.arange(5), 5), [[0, 1, 2, 3, 4]], 1)
    end = question.scale(None).backward(np.array(100.0))
    assert most == pytest.approx(end)
    assert kinds.effect(np.ones(4), 2) == 0.0


def test_sums(x):
    phrases = [
        Phrase("", np.array([0, 4]), np.array([0.5, 0.5])),
        Phrase("", np.array([2]), np.ones(1)),
        Phrase("", np.array([1, 3, 1]), np.array([1.0, -0.5, 1.0])),
    ]
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    raw = of_places([5, 0], Q, unit=False)
    operands = together(operands_of(phrases, Q), raw)
    found = values(operands, lambda side, places: x[places], (K,))
    expected = [unit[[0, 4]].mean(axis=0), unit[2], 2 * unit[1] - 0.5 * unit[3], x[5], x[0]]
    np.testing.assert_allclose(found, expected)


def test_sums_of_both_sides_and_of_many_places(monkeypatch):
    """Blocks of places make no difference."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 2, 20, K))
    weights = np.where(rng.random((7, 20)) < 0.5, rng.standard_normal((7, 20)), 0.0)
    side, unit = rng.integers(2, size=7), rng.random(7) < 0.5
    whole = of_places(np.zeros(7, int), 20)
    operands = Operands(type(whole.weights)(weights), side, unit)
    unit_x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    expected = [weights[i] @ (unit_x if unit[i] else x)[:, side[i]] for i in range(7)]
    for cells in (10_000, 40):
        monkeypatch.setattr("skbayesembed.sgns.questions.operands.CELLS", cells)
        found = values(operands, lambda side, places: x[:, side, places], (4, K))
        np.testing.assert_allclose(found, np.moveaxis(expected, 0, 1), atol=1e-12)


def test_unit_vectors_turn(x):
    moved, step = np.random.default_rng(4).standard_normal((2, Q, K)), 1e-6

    def unit(x):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    slope = (unit(x + step * moved) - unit(x - step * moved)) / (2 * step)
    np.testing.assert_allclose(turned(x, moved), slope, atol=1e-8)
    assert not turned(np.zeros((1, K)), np.ones((1, K))).any()


def test_blocks_of_answers_make_no_difference(monkeypatch, x):
    draws = x + np.random.default_rng(5).standard_normal((30, Q, K))
    whole = {name: q.value(draws) for name, q in KINDS.items() if name != "differences"}
    monkeypatch.setattr(kinds, "CELLS", 40)
    for name, found in whole.items():
        np.testing.assert_allclose(KINDS[name].value(draws), found)


def test_differences_end_where_those_of_their_questions_do(x):
    cosine, distance = KINDS["cosines"], KINDS["cosine distances"]
    assert kinds.Differences(cosine, cosine).ends == (-2.0, 2.0)
    assert kinds.Differences(distance, cosine).ends == (-1.0, 3.0)
    assert kinds.Differences(KINDS["distances"], KINDS["distances"]).ends == (-np.inf, np.inf)
    assert kinds.Differences(KINDS["probabilities"], cosine).ends == (-1.0, 2.0)
    scale = kinds.Differences(cosine, cosine).scale(np.zeros(1))
    np.testing.assert_array_equal(scale.backward([-2.5, -0.3, 1.99, 2.01]), [-2, -0.3, 1.99, 2])
    # no answer is beyond the ends of its question; associations are of unit vectors
    for name, question in KINDS.items():
        if name not in ("differences", "associations"):
            answers = question.value(x[None])
            assert (question.ends[0] <= answers).all() and (answers <= question.ends[1]).all()

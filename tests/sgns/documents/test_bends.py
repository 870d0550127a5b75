"""Cosines of directions that are nearly the same."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS
from skbayesembed.metrics.words import unit_vectors
from skbayesembed.sgns.documents import answers, by_answer, footprint, sampling
from skbayesembed.sgns.documents.bends import bent, scale_near_end
from skbayesembed.sgns.documents.deviations import Deviations
from skbayesembed.sgns.questions.kinds import Cosines, Differences, Question, Turns
from skbayesembed.sgns.questions.operands import Operands, of_places, together, values_at
from skbayesembed.sgns.questions.scales import COSINE

N_DRAWS, K = 40_000, 4


def turned(rng, angle, spread):
    """Two directions at an angle, deviations of the second, and cosines under draws of these."""
    first = np.eye(K)[0] * 3.0
    second = 2.0 * (np.cos(angle) * np.eye(K)[0] + np.sin(angle) * np.eye(K)[1])
    shifts = np.diag(2.0 * np.asarray(spread)) @ np.linalg.qr(rng.normal(size=(K, K)))[0]
    drawn = second + rng.normal(size=(N_DRAWS, K)) @ shifts
    cosines = drawn @ first / 3.0 / np.linalg.norm(drawn, axis=1)
    picked = np.stack([first, second])[None]
    return picked, shifts / 2.0, cosines


def spread_of(picked, turns, n_sampling=0):
    unit = picked / np.linalg.norm(picked, axis=-1, keepdims=True)
    cosine = np.sum(unit[0, 0] * unit[0, 1])
    pulls = (unit[:, ::-1] - cosine * unit) / np.linalg.norm(picked, axis=-1, keepdims=True)
    out, most = bent(picked, pulls, turns[:, None], n_sampling)
    # deviations of the second direction alone
    moves = turns @ out[0, 1] * np.linalg.norm(picked[0, 1])
    return np.sqrt(np.sum(moves**2)), most[0]


def test_of_the_same_direction():
    """By the same variance everywhere: the length of three independent normal numbers."""
    picked, turns, cosines = turned(np.random.default_rng(0), 0.0, np.full(K, 0.1))
    sd, most = spread_of(picked, turns)
    # terms of third order are a tenth of these; 40,000 draws tell to 1 %
    assert sd == pytest.approx(cosines.std(), rel=0.12)
    assert 1 - most == pytest.approx(1 - cosines.mean(), rel=0.1)
    assert spread_of(picked, turns, K)[1] == 1.0


@pytest.mark.parametrize("angle", [0.0, 0.1, 0.3, 1.2])
def test_is_never_too_narrow(angle):
    rng = np.random.default_rng(1)
    for _ in range(5):
        picked, turns, cosines = turned(rng, angle, 0.1 * rng.uniform(0.2, 1.5, K))
        sd, _ = spread_of(picked, turns)
        assert 0.9 * cosines.std() < sd < 2.0 * cosines.std()


def test_what_a_word_has_of_its_own_is_noise():
    """The estimate loses by it already: the posterior mean is not made smaller."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(2, 3, K))
    vectors[0, 1] = vectors[0, 0] + 0.1
    shifts = 0.1 * rng.normal(size=(4, 2, 3, K))
    own = {1: np.stack([5.0 * np.eye(K)] * 2)}
    operands = together(of_places(np.array([0]), 3), of_places(np.array([1]), 3))
    question = Cosines(operands, np.array([[0, 1]]))

    def most(own):
        seed = np.random.SeedSequence(0)
        deviations = Deviations(vectors, shifts, 2, True, np.full(3, 2.0), own, seed)
        at = values_at(operands, vectors)
        moved, _ = answers._moved_operands(deviations, operands)
        turn = partial(answers._turns, deviations, moved=moved)
        return answers._bent(question, at, question.gradient(at), turn)[1]

    np.testing.assert_allclose(most(own), most({}))


def test_intervals_end_at_one():
    scale = scale_near_end(COSINE, np.array([0.99, 0.5]), np.array([0.05, 0.05]), 1)
    ends = scale.backward(scale.forward(np.array([0.99, 0.5])) + 0.08)
    np.testing.assert_allclose(ends, [1.0, np.tanh(np.arctanh(0.5) + 0.08)])
    np.testing.assert_allclose(scale.slope(np.array([0.99, 0.5])), [1.0, 0.75])


@pytest.mark.parametrize("solver", ["map", pytest.param("vi", marks=pytest.mark.slow)])
def test_words_that_are_as_near_as_they_are_known(solver):
    """Words that are used alike have a cosine of one, which first order has all or nothing of.

    Against vectors that move as far as they do. At one the inverse hyperbolic tangent made
    intervals from -.99 of means of .999, or of no width where the mean was below the mode's.
    """
    rng = np.random.default_rng(2)
    kinds = "cat dog pet fur the of".split(), "car road fuel bus xx the of".split()
    texts = [" ".join(rng.choice(kinds[i % 2], 20)) for i in range(60)]
    for k in (2, 3):
        model = BayesianSGNS(k, solver=solver, min_count=1, random_state=0).fit(texts)
        found, deviations = model.similarity("xx", "bus"), model._deviations()
        z = np.random.default_rng(0).standard_normal((4000, len(deviations.shifts)))
        places = [model.vocabulary_[word] for word in ("xx", "bus")]
        moved = unit_vectors(
            deviations.vectors[0, places] + np.tensordot(z, deviations.shifts[:, 0, places], 1)
        )
        low, _ = np.quantile(np.sum(moved[:, 0] * moved[:, 1], axis=-1), [0.05, 0.95])
        assert found.mean > 0.98 and found.interval[1] > 0.999
        # how far it reaches below one, to a factor of three
        assert 1 / 3 < (1 - found.interval[0]) / (1 - low) < 3
        assert found.sd < 0.1
    # the same with the opposite of a direction: of a sum with its own negative
    place = model.vocabulary_["xx"]
    operands = Operands(
        sparse.csr_array(np.array([[1.0], [-1.0]]) * np.eye(len(deviations.vectors[0]))[place]),
        np.zeros(2, int), np.zeros(2, bool),
    )  # fmt: skip
    change = answers.change_of(deviations, Cosines(operands, np.array([[0, 1]])))
    assert change.end is None or np.isfinite(change.end).all()
    assert np.abs(change.shared).max() < 1e-6


@pytest.mark.slow
def test_means_that_are_nearer_to_one_than_the_mode_is():
    """Gradients are those at the mode: with the scale's slope at the mean they were far too long.

    The interval was [-.49, 1.00] about .99, at a mode of .97.
    """
    rng = np.random.default_rng(2)
    kinds = "cat dog pet fur the of".split(), "car road fuel bus xx yy zz the of".split()
    texts = [" ".join(rng.choice(kinds[i % 2], 20)) for i in range(60)]
    model = BayesianSGNS(3, solver="vi", min_count=1, random_state=0).fit(texts)
    deviations, found = model._deviations(), model.similarity("cat", "dog")
    places = [model.vocabulary_[word] for word in ("cat", "dog")]
    at_mode = np.prod(unit_vectors(deviations.vectors[0, places]), axis=0).sum()
    assert at_mode < found.mean
    # as far below the mean as some standard deviations at the mode, and no further than one
    change = answers.cosine_change(deviations, *np.reshape(places, (2, 1)))
    sd = answers.spread_of(deviations, change).total[0]
    low, high = found.interval
    assert sd < found.mean - low < 4 * sd and found.mean < high <= 1


def test_differences_allow_for_ends_as_their_parts_do():
    """The gradient of a difference is that of its parts, where these are of second order too."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(2, 3, K))
    vectors[0, 1] = vectors[0, 0] + 0.1
    shifts, seed = 0.2 * rng.normal(size=(4, 2, 3, K)), np.random.SeedSequence(0)
    deviations = Deviations(vectors, shifts, 2, True, np.full(3, 2.0), {}, seed)
    operands = together(*(of_places(np.array([place]), 3) for place in range(3)))
    pairs = [Cosines(operands, np.array([pair])) for pair in ((0, 1), (2, 1))]
    whole = answers.change_of(deviations, Differences(*pairs)).shared
    # as far as they vary on the scale of cosines
    parts = [answers._part(deviations, pair, None, True)[0].shared for pair in pairs]
    np.testing.assert_allclose(whole, parts[0] - parts[1], rtol=1e-10, atol=1e-14)
    each = [answers.change_of(deviations, pair).shared for pair in pairs]
    assert np.linalg.norm(parts[1]) == pytest.approx(np.linalg.norm(each[1]), rel=0.2)
    first = answers.change_of(deviations, pairs[0], second=False).shared
    assert np.linalg.norm(each[0]) > 1.2 * np.linalg.norm(first)


def near_ones():
    """Texts of two kinds of words, of which those of a kind are used alike."""
    rng = np.random.default_rng(2)
    kinds = "cat dog pet fur the of".split(), "car road fuel bus xx the of".split()
    return [" ".join(rng.choice(kinds[i % 2], 20)) for i in range(60)]


@pytest.mark.parametrize("k", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_answers_one_by_one_are_of_second_order_too(k, monkeypatch):
    """Without it standard deviations were down to a tenth of these."""
    monkeypatch.setattr(sampling, "respond", lambda *_: (1.0, np.nan))
    options = {"solver": "map", "min_count": 1, "random_state": 0, "prior_precision": 1.0}
    whole, single = (
        BayesianSGNS(k, by_answer=way, **options).fit(near_ones()) for way in (False, True)
    )
    for pair in (("xx", "bus"), ("cat", "dog"), ("cat", "car")):
        ours, theirs = single.similarity(*pair), whole.similarity(*pair)
        # the prior's part of all is that of random directions
        assert ours.sd == pytest.approx(theirs.sd, rel=0.25)
        np.testing.assert_allclose(ours.interval, theirs.interval, atol=0.5 * theirs.sd + 1e-6)
    pairs = ("xx", "bus"), ("cat", "dog")
    first, second = (model.similarity_difference(*pairs) for model in (single, whole))
    assert first.sd == pytest.approx(second.sd, rel=0.25)


def test_for_many_words_first_order_near_one_is_told_of(monkeypatch):
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    monkeypatch.setattr(by_answer, "MOST_ENTRIES", 0)
    options = {"solver": "map", "min_count": 1, "random_state": 0, "prior_precision": 1.0}
    model = BayesianSGNS(2, **options).fit(near_ones())
    with pytest.warns(UserWarning, match="1 of the cosines may be as near 1 or -1 as they are"):
        model.similarity("xx", "bus")


def test_second_order_is_announced_where_it_takes_long(monkeypatch, capsys):
    monkeypatch.setattr(by_answer, "_PATIENCE", 0.0)
    options = {"solver": "map", "min_count": 1, "random_state": 0, "prior_precision": 1.0}
    BayesianSGNS(2, by_answer=True, **options).fit(near_ones()).similarity("xx", "bus")
    assert "1 may be as near 1 or -1 as known, and so of second order" in capsys.readouterr().err


def test_turns_have_exact_gradients():
    rng = np.random.default_rng(0)
    x, along = rng.normal(size=(2, K)), rng.normal(size=(3, K))
    operands = together(of_places(np.array([0]), 2), of_places(np.array([1]), 2))
    for sign, given in ((1.0, None), (-1.0, along)):
        n = K if given is None else len(given)
        question = Turns(operands, np.repeat([[0, 1]], n, axis=0), sign, given)
        numerical = Question.gradient(question, x)
        np.testing.assert_allclose(question.gradient(x), numerical, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("by_answer_", [False, True])
def test_a_word_is_as_near_to_itself_as_can_be(by_answer_):
    options = {"solver": "map", "min_count": 1, "random_state": 0, "prior_precision": 1.0}
    model = BayesianSGNS(2, by_answer=by_answer_, **options).fit(near_ones())
    assert model.similarity("xx", "xx").sd == 0.0


@pytest.mark.slow
def test_probes_see_what_words_have_of_their_own(monkeypatch):
    """Words of one text, whose cosine is near one: what units say of them is next to nothing."""
    monkeypatch.setattr(sampling, "respond", lambda *_: (1.0, np.nan))
    rng = np.random.default_rng(5)
    words = [f"w{i}" for i in range(12)]
    texts = [list(rng.choice(words, 30)) for _ in range(40)]
    for i in range(8):
        around = rng.choice(words[:3], 12).tolist()
        texts[i] += [w for one in around for w in (f"r{i}a", one, f"r{i}b")]
    options = {"solver": "map", "min_count": 1, "random_state": 0, "prior_precision": 0.05}
    whole, single = (BayesianSGNS(4, by_answer=way, **options).fit(texts) for way in (False, True))
    ours, theirs = (model.similarity("r0a", "r0b") for model in (single, whole))
    assert ours.sd == pytest.approx(theirs.sd, rel=0.3)
    # also where units say nothing at all
    deviations, k = single._sampling.twin.deviations, 4
    monkeypatch.setattr(
        deviations, "changes", lambda question, *_, **__: (np.zeros((105, len(question))), None)
    )
    operands = together(
        *(of_places(np.array([single.vocabulary_[f"r0{end}"]]), single.words_.size) for end in "ab")
    )
    at = values_at(operands, deviations.vectors)
    at[1] = at[0] + 1e-3
    turns, _ = answers._asked_turns(deviations, operands, np.array([[0, 1]]), at, here=None)
    assert turns.shape[1:] == (1, k) and np.abs(turns).max() > 0


def test_the_prior_of_differences_one_by_one_is_known_by_so_many_directions():
    options = {"solver": "map", "min_count": 1, "random_state": 0, "prior_precision": 1.0}
    model = BayesianSGNS(3, by_answer=True, **options).fit(near_ones())
    deviations = model._sampling.twin.deviations
    places = [
        of_places(np.array([model.vocabulary_[w]]), len(model.words_))
        for w in ("cat", "fur", "car")
    ]
    operands = together(*places)
    pairs = [Cosines(operands, np.array([pair])) for pair in ((0, 1), (2, 1))]
    single = answers.change_of(deviations, pairs[0])
    apart = answers.change_of(deviations, Differences(*pairs))
    assert single.exact and not apart.exact
    known, drawn = (
        answers.spread_of(deviations, replace(apart, exact=exact)).freedom
        for exact in (True, False)
    )
    assert drawn < known

"""The word embedding association test against its published definition, written out by hand."""

from __future__ import annotations

import copy
import warnings
from itertools import combinations

import numpy as np
import pytest

from skbayesembed import BayesianSGNS
from skbayesembed.sgns import weat as room
from skbayesembed.sgns.weat import permutation_test

X, Y = ["oak", "elm", "fir"], ["cod", "eel", "bass"]
A, B = ["wood", "leaf"], ["water", "fin"]
WORDS = [*X, *Y, *A, *B]


def texts(n=80, seed=0):
    """Trees with wood and leaves, fish with water and fins, more often than the other way round."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        own, other = (X + A, Y + B) if i % 2 else (Y + B, X + A)
        out.append(" ".join([*rng.choice(own, 24), *rng.choice(other, 6)]))
    return out


TEXTS = texts()


pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.usefixtures("first_mode"),
]


@pytest.fixture(scope="module", params=["gibbs", "map"])
def model(request):
    model = BayesianSGNS(2, solver=request.param, min_count=1, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The chains have not mixed")
        return model.set_params(draws=50, warmup=50, chains=1).fit(TEXTS)


def by_hand(vectors, vocabulary):
    """Effect size and associations of Caliskan et al. (2017), one word at a time."""

    def cosine(a, b):
        x, y = vectors[vocabulary[a]], vectors[vocabulary[b]]
        return x @ y / np.sqrt((x @ x) * (y @ y))

    def s(w):
        return np.mean([cosine(w, a) for a in A]) - np.mean([cosine(w, b) for b in B])

    of = {w: s(w) for w in X + Y}
    difference = np.mean([of[x] for x in X]) - np.mean([of[y] for y in Y])
    return difference / np.std([of[w] for w in X + Y]), [of[w] for w in X + Y]


def as_the_model(model):
    return copy.copy(model).set_params(uncertainty="model")


def test_effect_size(model):
    found = as_the_model(model).weat(X, Y, A, B)
    draws = [by_hand(rho, model.vocabulary_) for rho in model._balanced]
    np.testing.assert_allclose(found.draws, [effect for effect, _ in draws])
    np.testing.assert_allclose(found.association.draws, [s for _, s in draws], atol=1e-12)
    assert found.words.tolist() == X + Y
    # trees and fish were told apart by what they stood with
    assert found.mean > 1 and found.p_value == 1 / 20 and found.n_splits == 20


def test_by_documents(model):
    found = model.weat(X, Y, A, B)
    assert found.mean == pytest.approx(as_the_model(model).weat(X, Y, A, B).mean)
    assert -2 < found.interval[0] < found.mean < found.interval[1] < 2
    np.testing.assert_allclose(found.sd, np.hypot(found.sd_sampling, found.sd_prior))
    other = model.weat(Y, X, A, B)
    assert other.mean == pytest.approx(-found.mean) and other.sd == pytest.approx(found.sd)
    assert other.p_value == 1.0
    assert "has a one-sided p = " in found.sentence and "swap" not in found.sentence
    assert "one-sided p = 1.000, of an effect above zero: for one below, swap" in other.sentence
    assert "for an effect below zero, swap these lists)" in repr(other)
    d = model.contrast(found, other)
    # of an effect near its end the draws' standard deviation, which is larger than first order
    assert d.mean == pytest.approx(2 * found.mean) and 0 < d.sd < 2.001 * found.sd


def test_lists_of_different_lengths(model):
    found = as_the_model(model).weat(X[:2], Y, A[:1], B)
    assert found.n_splits == 10 and found.words.size == 5
    assert found.draws.shape == (len(model.posterior_.flat("rho")),)


@pytest.mark.parametrize("seed", range(3))
def test_permutations_are_exact(seed):
    s = np.random.default_rng(seed).standard_normal(9)
    sums = [s[list(split)].sum() for split in combinations(range(9), 4)]
    expected = np.mean(np.array(sums) >= s[:4].sum() - 1e-12)
    assert permutation_test(s, 4) == (expected, 126)


def test_random_splits(monkeypatch):
    s = np.random.default_rng(5).standard_normal(12)
    s[:6] += 0.5
    exact, n = permutation_test(s, 6)
    monkeypatch.setattr(room, "_MOST_SPLITS", 500)
    monkeypatch.setattr(room, "_TOGETHER", 250)
    found, drawn = permutation_test(s, 6)
    assert n == 924 and drawn == 501
    assert found == permutation_test(s, 6)[0]
    # five standard errors of a share of 500
    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 500) + 1 / 501


def test_shuffled_lists_are_rarely_significant():
    """Of lists that were dealt out at random, 5 % and no more have p-values below .05."""
    rng = np.random.default_rng(6)
    pool = rng.standard_normal(40)
    p = [permutation_test(rng.permutation(pool)[:12], 6)[0] for _ in range(400)]
    # four standard errors of a share of 400; 46 of 924 splits are as near as they come to 5 %
    assert abs(np.mean(np.array(p) < 0.05) - 46 / 924) < 4 * np.sqrt(0.05 * 0.95 / 400)


def test_equal_associations_do_not_depend_on_rounding():
    s = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    sums = [sum(split) for split in combinations([1, 2, 3, 3, 2, 1], 3)]
    assert permutation_test(s, 3)[0] == np.mean(np.array(sums) >= 6)


def test_missing_words(model):
    with pytest.warns(
        UserWarning, match=r"X: 1 of 4 words are not in .*'Oaks' \(Did you mean 'oak'"
    ):
        found = model.weat([*X, "Oaks"], Y, A, B)
    assert found.mean == model.weat(X, Y, A, B).mean
    # nor are attributes named that had no part in the answer
    with pytest.warns(UserWarning, match="A: 1 of .* 'zzz'"):
        found = model.weat(X, Y, [*A, "zzz"], B)
    assert found.sentence == model.weat(X, Y, A, B).sentence and "zzz" not in repr(found)


@pytest.mark.filterwarnings("ignore:X. 1 of 2 words")
@pytest.mark.parametrize(
    ("lists", "error", "message"),
    [
        (("oak", Y, A, B), ValueError, "X must be a list of words, got 'oak'"),
        ((X, Y, A, "wood"), ValueError, "B must be a list of words"),
        ((X, [], A, B), ValueError, "Y must name at least one word, got an empty list"),
        ((["oak"], Y, A, B), ValueError, "X must have at least two words of the vocabulary, got 1"),
        ((["oak", "yew"], Y, A, B), ValueError, "X must have at least two words"),
        ((X, ["oak", *Y], A, B), ValueError, "X and Y must have no word in common, got oak"),
        ((X, Y, A, [*B, "oak"]), ValueError, "B must have no word of X or Y, got oak"),
        (
            ([X, *X], Y, A, B),
            KeyError,
            "X has a list in the place of a word, .* not in the vocabulary",
        ),
        ((X, Y, ["zzz"], B), KeyError, "A: 1 of 1 words are not in the vocabulary of 10 words"),
    ],
)
def test_errors(model, lists, error, message):
    with pytest.raises(error, match=message):
        model.weat(*lists)


TESTS = {"backwards": (Y, X, A, B), "trees": (X, Y, A, B), "halves": (X[:2], [X[2], Y[0]], A, B)}


def test_several_at_once(model):
    table = model.weats(TESTS)
    single = {name: model.weat(*lists) for name, lists in TESTS.items()}
    positive = {name: np.mean(found.draws > 0) for name, found in single.items()}
    assert set(table.names) == set(TESTS) and table.names[-1] == "backwards"
    assert np.all(np.diff(table.prob_positive) <= 0)
    for i, name in enumerate(table.names):
        assert table.mean[i] == pytest.approx(single[name].mean)
        assert table.prob_positive[i] == pytest.approx(positive[name])
        assert table.p_value[i] == single[name].p_value
        assert table.false_share[i] == pytest.approx(1 - table.prob_positive[: i + 1].mean())
        assert model.contrast(table.answers[name], single[name]).mean == pytest.approx(0, abs=1e-12)
    assert table.n_words.tolist() == [single[name].words.size for name in table.names]
    names = ["test", "mean", "sd", "low", "high", "prob_positive", "false_share", "p_value"]
    assert table.to_frame().columns.tolist() == [*names, "n_words", "n_units"]
    assert as_the_model(model).weats(TESTS).n_units is None
    assert "trees" in repr(table) and "false" in repr(table)


@pytest.mark.parametrize("tests", [{}, [X, Y, A, B], {"one": (X, Y, A)}, {"one": "oak"}])
def test_several_are_named(model, tests):
    with pytest.raises(ValueError, match="must map names to lists|must be four lists"):
        model.weats(tests)


def test_errors_name_the_test(model):
    with pytest.raises(ValueError, match=r"tests\['b'\]: X and Y must have no word in common"):
        model.weats({"a": (X, Y, A, B), "b": (X, X, A, B)})
    with pytest.raises(KeyError, match=r"tests\['c'\]: B: 1 of 1 words are not in"):
        model.weats({"c": (X, Y, A, ["zzz"])})


def test_names_of_tests_that_are_no_texts():
    """They are called by what prints, in sentences too; two that print alike are refused."""
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    lists = ["cat", "mat"], ["dog", "rug"], ["sat", "on"], ["and", "the"]
    table = model.fit(texts).weats({1: lists})
    assert list(table.sentences) == list(table.answers) == ["1"]
    with pytest.raises(ValueError, match="names that print differently"):
        model.weats({1: lists, "1": lists})

"""Metrics against small cases worked out by hand, and the checks of what they are given."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS, DynamicSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.metrics import analogies, coherence, coverage, rmse_cooccurrence, word_similarity

WORDS = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["sun", "sea", "sky", "oak", "elm"], 12)) for _ in range(30)]
    return BayesianSGNS(2, min_count=1, draws=400, warmup=200, chains=2, random_state=0).fit(texts)


def test_coverage_counts_ends_as_inside():
    intervals = np.array([[[0.0, 1.0], [0.0, 1.0]], [[2.0, 3.0], [0.0, 0.0]]])
    assert coverage(intervals, [[0.0, 1.0], [1.9, 0.0]]) == 0.75


def test_coverage_of_calibrated_intervals():
    """Binomial with 20,000 trials: standard deviation 0.2 %, four of them allowed."""
    rng = np.random.default_rng(1)
    centre = rng.normal(size=20_000)
    intervals = np.stack([centre - 1.6449, centre + 1.6449], axis=1)
    assert abs(coverage(intervals, centre + rng.normal(size=20_000)) - 0.9) < 0.0085


@pytest.mark.parametrize(
    ("intervals", "truth", "match"),
    [
        ([[0, 1, 2]], [0], "shape of truth"),
        ([[0, 1]], [0, 1], "shape of truth"),
        ([[1, 0]], [0], "lower end first"),
        ([[0, np.nan]], [0], "intervals must not have NaN"),
        ([[0, 1]], [np.nan], "truth must not have NaN"),
        (np.zeros((0, 2)), np.zeros(0), "at least one"),
        ([["low", "high"]], [0], "intervals must be an array of numbers"),
    ],
)
def test_coverage_checks(intervals, truth, match):
    with pytest.raises(ValueError, match=match):
        coverage(intervals, truth)


def test_rmse_against_loops():
    rng = np.random.default_rng(2)
    rho, alpha = rng.normal(size=(2, 6, 3))
    rho2, alpha2 = rng.normal(size=(2, 6, 2))
    total = 0.0
    for w in range(6):
        for v in range(6):
            total += (expit(rho[w] @ alpha[v]) - expit(rho2[w] @ alpha2[v])) ** 2
    expected = np.sqrt(total / 36)
    assert rmse_cooccurrence((rho, alpha), (rho2, alpha2)) == pytest.approx(expected, rel=1e-12)
    truth = Bunch(rho=rho2, alpha=alpha2)
    assert rmse_cooccurrence((rho, alpha), truth) == pytest.approx(expected, rel=1e-12)


def test_rmse_ignores_the_frame():
    rng = np.random.default_rng(3)
    rho, alpha = rng.normal(size=(2, 7, 3))
    change = rng.normal(size=(3, 3))
    same = (rho @ change, alpha @ np.linalg.inv(change).T)
    assert rmse_cooccurrence((rho, alpha), same) < 1e-12


def test_rmse_in_blocks(monkeypatch):
    rng = np.random.default_rng(4)
    models = [tuple(rng.normal(size=(2, 9, 2))) for _ in range(2)]
    whole = rmse_cooccurrence(*models)
    monkeypatch.setattr("skbayesembed.metrics.words._CELLS", 20)
    assert rmse_cooccurrence(*models) == pytest.approx(whole, rel=1e-12)


def test_rmse_of_draws_averages_probabilities(fitted):
    truth = make_sgns(5, 2, 100, random_state=0)
    posterior = fitted.posterior_
    rho, alpha = posterior.flat("rho"), posterior.flat("alpha")
    mean = expit(rho @ alpha.transpose(0, 2, 1)).mean(axis=0)
    expected = np.sqrt(np.mean((mean - expit(truth.rho @ truth.alpha.T)) ** 2))
    assert rmse_cooccurrence(posterior, truth) == pytest.approx(expected, rel=1e-10)
    assert rmse_cooccurrence((rho, alpha), truth) == pytest.approx(expected, rel=1e-10)
    vectors = rmse_cooccurrence((fitted.rho_, fitted.alpha_), truth)
    assert rmse_cooccurrence(fitted, truth) == pytest.approx(vectors, rel=1e-12)


def test_rmse_checks():
    good = (np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(TypeError, match="truth must be"):
        rmse_cooccurrence(good, 3)
    with pytest.raises(ValueError, match="same words"):
        rmse_cooccurrence(good, (np.zeros((4, 2)), np.zeros((4, 2))))
    with pytest.raises(ValueError, match="estimate must have rho"):
        rmse_cooccurrence((np.zeros((3, 2)), np.zeros((3, 1))), good)
    with pytest.raises(ValueError, match="NaN"):
        rmse_cooccurrence((np.full((3, 2), np.nan), good[1]), good)


def test_similarity_is_spearman_of_cosines():
    """Scipy's correlation of the covered pairs; ties and an unknown word among them."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(5, 3))
    vectors[4] = 0.0
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "zebra"), ("a", "e"), ("b", "d")]
    scores = np.array([1.0, 2.0, 2.0, 9.0, 3.0, 2.5])
    found = word_similarity(vectors, pairs, scores, words=WORDS)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    cosines = [unit[WORDS.index(p)] @ unit[WORDS.index(q)] for p, q in pairs if q != "zebra"]
    expected = spearmanr(cosines, scores[[0, 1, 2, 4, 5]]).statistic
    assert found.correlation == pytest.approx(expected, rel=1e-12)
    assert (found.n_covered, found.n_pairs) == (5, 6)
    assert "interval" not in found


def test_similarity_of_a_posterior(fitted):
    pairs = [("sun", "sea"), ("sun", "sky"), ("oak", "elm"), ("sea", "oak")]
    scores = [1.0, 3.0, 4.0, 2.0]
    found = word_similarity(fitted, pairs, scores, prob=0.8)
    model = copy.copy(fitted).set_params(uncertainty="model")
    draws = np.array([model.similarity(a, b).draws for a, b in pairs]).T
    each = [spearmanr(cosines, scores).statistic for cosines in draws]
    np.testing.assert_allclose(found.draws, each, atol=1e-12)
    mean = spearmanr(draws.mean(axis=0), scores).statistic
    assert found.correlation == pytest.approx(mean, rel=1e-12)
    assert found.sd == pytest.approx(np.std(each, ddof=1), rel=1e-12)
    inside = (found.draws >= found.interval[0]) & (found.draws <= found.interval[1])
    assert inside.mean() >= 0.8


def test_similarity_of_constant_cosines_is_zero():
    found = word_similarity(np.ones((5, 2)), [("a", "b"), ("c", "d")], [1, 2], words=WORDS)
    assert found.correlation == 0.0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"words": None}, "words must name"),
        ({"words": WORDS[:4]}, "vectors must have shape"),
        ({"words": ["a"] * 5}, "unique"),
        ({"scores": [1.0]}, "scores must have shape"),
        ({"pairs": [("a", "b", "c")] * 2}, "pairs must be a list of 2"),
        ({"pairs": ["ab", "cd"]}, "pairs must be a list of 2"),
        ({"pairs": [("a", "x"), ("a", "b")]}, "at least two"),
        ({"prob": 1.5}, "prob"),
    ],
)
def test_similarity_checks(options, match):
    given = {"pairs": [("a", "b"), ("b", "c")], "scores": [1.0, 2.0], "words": WORDS} | options
    with pytest.raises(ValueError, match=match):
        word_similarity(np.eye(5), **given)


def test_similarity_refuses_words_beside_an_estimator(fitted):
    with pytest.raises(ValueError, match="words must be None"):
        word_similarity(fitted, [("sun", "sea"), ("sun", "sky")], [1, 2], words=WORDS)


def test_analogies_by_hand():
    """The nearest word to b - a + c is c itself, which must not be the answer."""
    words = ["man", "king", "woman", "queen", "tree"]
    vectors = [[1, 0, 0.1], [1, 0, 0.4], [0, 1, 0.1], [0, 1, 0.4], [-1, -1, 0]]
    questions = [
        ("man", "king", "woman", "queen"),
        ("man", "king", "woman", "tree"),
        ("man", "king", "woman", "unheard"),
        ("king", "man", "queen", "woman"),
    ]
    found = analogies(vectors, questions, words=words, categories=["x", "y", "y", "x"])
    assert found.correct.tolist() == [True, False, False, True]
    assert found.covered.tolist() == [True, True, False, True]
    assert found.accuracy == pytest.approx(2 / 3)
    assert (found.n_covered, found.n_questions) == (3, 4)
    assert found.by_category["x"].accuracy == 1.0
    assert found.by_category["y"] == {"accuracy": 0.0, "n_covered": 1, "n_questions": 2}


def test_analogies_against_loops(monkeypatch):
    rng = np.random.default_rng(6)
    words = [f"w{i}" for i in range(30)]
    vectors = rng.normal(size=(30, 4))
    chosen = np.array([rng.choice(30, 4, replace=False) for _ in range(50)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    correct = []
    for a, b, c, d in chosen:
        target = unit[b] - unit[a] + unit[c]
        best = max((i for i in range(30) if i not in (a, b, c)), key=lambda i: unit[i] @ target)
        correct.append(best == d)
    monkeypatch.setattr("skbayesembed.metrics.words._CELLS", 200)
    found = analogies(vectors, [tuple(f"w{i}" for i in q) for q in chosen], words=words)
    assert found.correct.tolist() == correct


def test_analogies_of_an_estimator(fitted):
    question = [("sun", "sea", "sky", "oak")]
    array = analogies(fitted.rho_, question, words=fitted.words_)
    assert analogies(fitted, question).accuracy == array.accuracy


def test_analogies_checks():
    with pytest.raises(ValueError, match="questions must be a list of 4"):
        analogies(np.eye(5), [("a", "b", "c")], words=WORDS)
    with pytest.raises(ValueError, match="categories"):
        analogies(np.eye(5), [("a", "b", "c", "d")], words=WORDS, categories=[])
    found = analogies(np.eye(5), [("x", "b", "c", "d")], words=WORDS)
    assert np.isnan(found.accuracy) and found.n_covered == 0


def test_what_is_no_model_and_no_list_is_named():
    vectors = np.eye(3)
    with pytest.raises(TypeError, match="estimate must be .rho, alpha., .* got ndarray"):
        rmse_cooccurrence(vectors, vectors)
    for bad in (None, 3, "words"):
        with pytest.raises(ValueError, match="must be a list of [0-9] words each, got"):
            analogies(vectors, bad, words=["a", "b", "c"])
        with pytest.raises(ValueError, match="topics must be a list of lists of words, got"):
            coherence(bad, ["cat dog"])


def test_rmse_of_models_matches_their_words():
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    options = {"solver": "map", "min_count": 1, "prior_precision": 0.1, "random_state": 0}
    model = BayesianSGNS(2, **options).fit(texts)
    order = np.argsort(model.words_)
    arrays = {name: getattr(model, name)[order] for name in ("words_", "rho_", "alpha_")}
    turned = SimpleNamespace(**arrays)
    assert model.words_.tolist() != turned.words_.tolist()
    assert rmse_cooccurrence(model, turned) < 1e-12
    other = BayesianSGNS(2, **options).fit([text.replace("cat", "cow") for text in texts])
    with pytest.raises(ValueError, match=r"1 that truth lacks \(\['cat'\]\) and 1 .*\['cow'\]"):
        rmse_cooccurrence(model, other)
    # arrays know of none
    assert rmse_cooccurrence(model, (model.rho_, model.alpha_)) == 0.0


def test_rmse_of_models_whose_logits_are_no_products():
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    options = {"min_count": 1, "prior_precision": 0.1, "random_state": 0}
    biased = BayesianSGNS(2, solver="vi", biases=True, **options).fit(texts)
    for model in (biased, biased.posterior_):
        with pytest.raises(ValueError, match="estimate has biases"):
            rmse_cooccurrence(model, model)
    dynamic = DynamicSGNS(2, solver="map", n_periods=2, **options)
    dynamic.fit(texts, times=np.arange(20))
    with pytest.raises(ValueError, match="truth has vectors for each period"):
        rmse_cooccurrence((dynamic.rho_[0], dynamic.alpha_[0]), dynamic)


def test_vectors_of_one_period():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    model.fit(texts, times=np.arange(30) // 15)
    given = [("cat", "dog"), ("cat", "mat"), ("dog", "rug")], [3.0, 2.0, 1.0]
    one = model.vectors_at(0)
    expected = word_similarity(one.rho_, *given, words=one.words_.tolist())
    assert word_similarity(one, *given) == expected
    for ask in (lambda m: word_similarity(m, *given), lambda m: analogies(m, [["cat"] * 4])):
        with pytest.raises(ValueError, match=r"of one period, .* pass its vectors_at\(period\)"):
            ask(model)

"""Score and transform against literal slow implementations."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns.predict import PREDICTIVE_DRAWS, spread

# words drawn at random have next to no structure: the MAP may lack rank, and that is no matter here
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:The MAP context vectors have rank"),
    # TEST has one
    pytest.mark.filterwarnings("ignore:1 of .* no known word"),
]

RNG = np.random.default_rng(4)
WORDS = np.array(["ash", "birch", "cedar", "elm", "fir", "oak", "yew"])
TRAIN = [list(RNG.choice(WORDS, n)) for n in RNG.integers(3, 20, 25)]
# with words that were never seen, a document of one word and an empty one
TEST = [list(RNG.choice([*WORDS, "pine", "lime"], n)) for n in RNG.integers(2, 20, 9)]
TEST += [["ash"], []]
# the most frequent words only, whichever they are
FREQUENT = sorted(sum(tokens.count(w) for tokens in TRAIN) for w in WORDS)[-3]


def make(**parameters):
    defaults = {"min_count": 1, "draws": 10, "warmup": 5, "chains": 2, "random_state": 0}
    if parameters.get("solver") != "map":
        # chains may start anywhere: the mode and those beside it are not searched for to the end
        defaults["max_iter"] = 3
    return BayesianSGNS(**{"n_components": 2, "prior_precision": 0.3, **defaults, **parameters})


@pytest.fixture(scope="module")
def trained():
    return make().fit(TRAIN)


def literal_window_counts(documents):
    """Window 5: a context at distance d counts 1 - (d - 1) / 5."""
    positive = defaultdict(float)
    for tokens in documents:
        for i, target in enumerate(tokens):
            for j, context in enumerate(tokens):
                if i != j and abs(i - j) <= 5:
                    positive[target, context] += 1 - (abs(i - j) - 1) / 5
    return positive


def literal_document_counts(documents):
    """An ordered pair of different tokens of a document of N counts 1 / (N - 1)."""
    positive = defaultdict(float)
    for tokens in documents:
        for i, target in enumerate(tokens):
            for j, context in enumerate(tokens):
                if i != j:
                    positive[target, context] += 1 / (len(tokens) - 1)
    return positive


def literal_negatives(positive):
    """One negative per positive: n-_wv = (pairs of w) P(v), P(v) ~ (share of v)^0.75."""
    rows, columns = Counter(), Counter()
    for (target, context), n in positive.items():
        rows[target] += n
        columns[context] += n
    total = sum(columns.values())
    noise = {v: (n / total) ** 0.75 for v, n in columns.items()}
    norm = sum(noise.values())
    return {(w, v): rows[w] * noise[v] / norm for w in rows for v in columns}


def literal_score(model, positive, negative):
    """Mean of log of the posterior mean probability; log 1/2 where a word is unknown."""
    rho = model.posterior_["rho"].reshape(-1, *model.rho_.shape)
    alpha = model.posterior_["alpha"].reshape(-1, *model.rho_.shape)
    total, n_observations = 0.0, 0.0
    for counts, sign in ((positive, 1), (negative, -1)):
        for (target, context), n in counts.items():
            n_observations += n
            if target in model.vocabulary_ and context in model.vocabulary_:
                w, v = model.vocabulary_[target], model.vocabulary_[context]
                p = np.mean(expit(sign * np.sum(rho[:, w] * alpha[:, v], axis=1)))
            else:
                p = 0.5
            total += n * np.log(p)
    return total / n_observations


CANDIDATES = [
    {},
    {"solver": "map"},
    {"window": 2, "window_weights": "uniform"},
    {"negative": 4, "ns_exponent": 0.2},
    {"negative_sampling": "sampled", "window_weights": "dynamic"},
    {"min_count": FREQUENT},
    {"max_features": 3},
    {"anchors": None},
    {"subsample": 0.2},
]


@pytest.mark.parametrize("parameters", CANDIDATES, ids=str)
def test_score_of_sequences(parameters):
    """The protocol is the same whatever the candidate's window, negatives or vocabulary."""
    model = make(**parameters).fit(TRAIN)
    positive = literal_window_counts(TEST)
    expected = literal_score(model, positive, literal_negatives(positive))
    assert model.score(TEST) == pytest.approx(expected, rel=1e-9)
    assert model.score([" ".join(t) for t in TEST]) == pytest.approx(expected, rel=1e-9)


def counts_of(documents, words):
    return np.array([[t.count(w) for w in words] for t in documents])


@pytest.mark.filterwarnings("ignore:.* not used for X, which is a count matrix")
@pytest.mark.parametrize("parameters", CANDIDATES, ids=str)
def test_score_of_counts(parameters):
    """All columns are scored, those outside the vocabulary at log 1/2."""
    words = [*WORDS, "pine", "lime"]
    # never seen in training
    model = make(feature_names=words, **parameters).fit(counts_of(TRAIN, words))
    assert "pine" not in model.vocabulary_
    positive = literal_document_counts(TEST)
    expected = literal_score(model, positive, literal_negatives(positive))
    assert model.score(counts_of(TEST, words)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("solver", ["map", "gibbs"])
def test_score_of_pairs(solver):
    train, test = make_sgns(12, 2, 4_000, random_state=0).pairs.split(random_state=0)
    model = make(solver=solver, prior_precision=2.0).fit(train)
    counts = []
    for matrix in (test.positive, test.negative):
        dense = matrix.toarray()
        counts.append({(f"x{w}", f"x{v}"): dense[w, v] for w in range(12) for v in range(12)})
    assert model.score(test) == pytest.approx(literal_score(model, *counts), rel=1e-9)


def test_score_of_named_pairs_matches_words(trained):
    """Pairs of other words in another order, some unknown."""
    rng = np.random.default_rng(0)
    words = ["yew", "pine", "ash", "elm"]
    n = [rng.random((4, 4)) for _ in range(2)]
    counts = [{(a, b): m[i, j] for i, a in enumerate(words) for j, b in enumerate(words)}
              for m in n]  # fmt: skip
    expected = literal_score(trained, *counts)
    assert trained.score(PairCounts(*n, words=words)) == pytest.approx(expected, rel=1e-9)


def test_unknown_words_only(trained):
    assert trained.score([["pine", "lime", "pine"]]) == pytest.approx(np.log(0.5))
    words = ["pine", "lime"]
    pairs = PairCounts(np.ones((2, 2)), np.ones((2, 2)), words=words)
    assert trained.score(pairs) == pytest.approx(np.log(0.5))


@pytest.mark.parametrize("X", [[["ash"], ["elm"]], [[], []], ["ash", ""]], ids=str)
def test_nothing_to_score(trained, X):
    with pytest.raises(ValueError, match="no pair of words to score"):
        trained.score(X)


def test_score_does_not_depend_on_features(trained):
    model = copy.copy(trained)
    before = model.score(TEST)
    assert model.set_params(features="mean_std").score(TEST) == before


def test_score_of_an_impossible_pair_is_finite():
    """A certain model that is wrong gets a low score, not minus infinity."""
    model = make(solver="map").fit(TRAIN)
    for name in ("rho", "alpha"):
        model.posterior_[name][:] = 100.0
    score = model.score(TEST)
    assert np.isfinite(score)
    assert score < -5


def test_many_draws_are_thinned_evenly():
    """Above 400 draws the predictive takes 400 evenly spaced ones, the first and last included."""
    train, test = make_sgns(12, 2, 4_000, random_state=0).pairs.split(random_state=0)
    model = make(draws=250, prior_precision=2.0).fit(train)
    index = np.linspace(0, 499, PREDICTIVE_DRAWS).round().astype(int)
    rho = model.posterior_.flat("rho")
    np.testing.assert_array_equal(spread(model.posterior_.flat("rho")), rho[index])
    p = np.mean(expit(rho @ model.posterior_.flat("alpha").transpose(0, 2, 1)), axis=0)
    positive, negative = test.positive.toarray(), test.negative.toarray()
    every = (positive * np.log(p) + negative * np.log(1 - p)).sum() / test.total
    # a probability of sd 0.05 averaged over 400 draws errs by 0.0025
    assert model.score(test) == pytest.approx(every, abs=0.005)


def test_posterior_beats_the_mode_out_of_sample():
    """Few observations, as in Table 5 of the paper: averaging over the posterior predicts better.

    Difference about 0.01 to 0.02 per pair here, a standard error of the comparison 0.003.
    """
    train, test = make_sgns(30, 2, 8_000, random_state=1).pairs.split(0.5, random_state=0)
    scores = [
        make(solver=s, prior_precision=0.3, draws=200, warmup=100).fit(train).score(test)
        for s in ("gibbs", "map")
    ]
    assert scores[0] > scores[1]


# vectors as the solver draws them
RAW = {"balance": False, "uncertainty": "model"}

# -- transform -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["map", "gibbs"])
def fitted(request):
    return make(solver=request.param, **RAW).fit(TRAIN)


def literal_features(model, tokens):
    """Mean and sd over draws of the mean target vector of the known tokens."""
    known = [model.vocabulary_[t] for t in tokens if t in model.vocabulary_]
    if not known:
        return np.zeros(2), np.zeros(2)
    draws = np.array([rho[known].mean(axis=0) for rho in model.posterior_.flat("rho")])
    sd = draws.std(axis=0, ddof=1) if len(draws) > 1 else np.zeros(2)
    return draws.mean(axis=0), sd


def test_transform(fitted):
    expected = [literal_features(fitted, tokens) for tokens in TEST]
    features = fitted.set_params(features="mean").transform(TEST)
    np.testing.assert_allclose(features, [mean for mean, _ in expected], atol=1e-12)
    features = fitted.set_params(features="mean_std").transform(TEST)
    np.testing.assert_allclose(features, [np.hstack(e) for e in expected], atol=1e-12)


def test_transform_of_counts():
    words = [*WORDS, "pine", "lime"]
    model = make(feature_names=words, features="mean_std", **RAW).fit(counts_of(TRAIN, words))
    expected = [np.hstack(literal_features(model, tokens)) for tokens in TEST]
    np.testing.assert_allclose(model.transform(counts_of(TEST, words)), expected, atol=1e-12)
    weighted = counts_of(TEST, words) * 0.25
    np.testing.assert_allclose(model.transform(weighted), expected, atol=1e-12)


def test_documents_without_a_known_word(fitted):
    with pytest.warns(UserWarning, match="2 of 3 documents of X have no known word, and get zeros"):
        features = fitted.set_params(features="mean_std").transform([["pine"], [], ["ash"]])
    np.testing.assert_array_equal(features[:2], 0.0)
    assert np.any(features[2] != 0)


def test_transform_is_deterministic(fitted):
    fitted.set_params(features="mean_std")
    np.testing.assert_array_equal(fitted.transform(TEST), fitted.transform(TEST))


def test_wrong_features(fitted):
    with pytest.raises(ValueError, match="features must be one of 'mean', 'mean_std', got 'std'"):
        fitted.set_params(features="std").transform(TEST)
    fitted.set_params(features="mean")

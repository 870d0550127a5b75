"""Simulated text: its expected counts, its bursts and units, the limit of infinite text."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed.datasets import make_text
from skbayesembed.datasets.expected import Amounts, Source, expected_pairs
from skbayesembed.inference.mode import find_mode
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts

SMALL = {
    "n_words": 8, "n_topics": 3, "mean_length": 25.0, "length_shape": 5.0, "source": 1,
    "n_components": None, "separation": 1.5,
}  # fmt: skip
# Answers are sums over many documents and several pairs, so that their means are about normal: one
# of the eleven of a test lies beyond this many standard errors once in 150,000 tests.
MOST = 5.0


def _ids(simulation):
    place = {word: i for i, word in enumerate(simulation.words)}
    return [np.array([place[w] for w in text]) for text in simulation.texts]


def _counts(simulation):
    """Number of tokens of each word in each document."""
    return np.array([np.bincount(x, minlength=simulation.words.size) for x in _ids(simulation)])


def _pairs(x, n_words, weight):
    """Pairs of a document; ``weight`` of a distance and a length."""
    out = np.zeros((n_words, n_words))
    for d in range(1, len(x)):
        if weight(d, len(x)) > 0:
            np.add.at(out, (x[:-d], x[d:]), weight(d, len(x)))
    return out + out.T


def _answers(pairs, word_proba):
    """Sums of pairs (..., V, V): all, the same word twice, words that topics favour."""
    favoured = np.sign(np.log(word_proba / word_proba.mean(axis=0)))
    repeats = np.trace(pairs, axis1=-2, axis2=-1)[..., None]
    crossed = favoured @ pairs @ favoured.T
    crossed = crossed.reshape(*crossed.shape[:-2], -1)
    total = pairs.sum(axis=(-2, -1))[..., None]
    return np.concatenate([total, repeats, crossed], axis=-1)


def _z(samples, expected):
    """Deviations of means from what is expected, in standard errors that the samples give."""
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return (samples.mean(axis=0) - expected) / error


WINDOWS = [
    ({"window": 3}, lambda d, n: max(0, 1 - (d - 1) / 3)),
    ({"window": 4, "window_weights": "uniform"}, lambda d, n: float(d <= 4)),
    ({"window": None}, lambda d, n: 1 / (n - 1)),
]
ALL_PAIRS = [
    ({"window": 1000, "window_weights": "uniform"}, lambda d, n: 1.0),
    ({"window": None, "pair_weights": "pairs"}, lambda d, n: 1.0),
]
BURSTS = {**SMALL, "stay": 0.8, "word_concentration": 4.0}


@cache
def _bursts(n_documents):
    """Documents and probabilities of words, whatever the windows."""
    simulation = make_text(n_documents, **BURSTS, random_state=3)
    return _ids(simulation), simulation.word_proba


@pytest.mark.parametrize(
    ("n_documents", "options", "weight"),
    [(4_000, *case) for case in WINDOWS]
    + [pytest.param(8_000, *case, marks=pytest.mark.slow) for case in WINDOWS + ALL_PAIRS],
)
def test_expected_counts(n_documents, options, weight):
    """Means over documents against expected counts, in the means' own standard errors."""
    texts, phi = _bursts(n_documents)
    options = {**BURSTS, **options}
    samples = _answers(np.array([_pairs(x, 8, weight) for x in texts]), phi)
    assert np.all(np.abs(_z(samples, _answers(make_text(2, **options).positive, phi))) < MOST)
    # each part of the source matters to what is expected
    for other in ({"stay": 0.0}, {"word_concentration": None}, {"topic_concentration": 1e6}):
        wrong = make_text(2, **{**options, **other}).positive
        assert np.abs(_z(samples, _answers(wrong, phi))).max() > MOST


def test_all_pairs_two_ways():
    """A window wider than any document counts what the whole document counts."""
    wide = make_text(2, **SMALL, window=10_000, window_weights="uniform").positive
    whole = make_text(2, **SMALL, window=None, pair_weights="pairs").positive
    np.testing.assert_allclose(wide, whole, rtol=1e-10)


@pytest.mark.parametrize("stay", [0.0, 1.0])
def test_extreme_runs(stay):
    options = {**SMALL, "topic_concentration": 0.5, "stay": stay}
    simulation = make_text(3000, **options, window=1, random_state=5)
    samples = np.array([_pairs(x, 8, lambda d, n: float(d == 1)) for x in _ids(simulation)])
    samples, expected = (_answers(x, simulation.word_proba) for x in (samples, simulation.positive))
    assert np.all(np.abs(_z(samples, expected)) < MOST)


def test_tokens_once_is_the_mean_length():
    """A token counts once: pairs divided by length less one add up to the length."""
    simulation = make_text(2, **SMALL, window=None)
    # but a document of one token has none
    empty = (1 + 24 / 5) ** -5.0
    assert simulation.positive.sum() == pytest.approx(25 - empty)
    np.testing.assert_allclose(simulation.positive, simulation.positive.T)


def test_lengths():
    simulation = make_text(
        2000, n_words=3, n_components=None, mean_length=40.0, length_shape=3.0, random_state=0
    )
    length = np.array([len(text) for text in simulation.texts], dtype=float)
    assert length.min() >= 1
    assert abs(_z(length, 40)) < MOST
    # a variance of so many lengths is as near to normal as a mean of squares
    assert abs(_z((length - length.mean()) ** 2, 39 + 39**2 / 3)) < MOST


def test_words_follow_their_topics():
    simulation = make_text(2000, **{**SMALL, "n_topics": 1, "separation": 0.5}, random_state=4)
    share = _counts(simulation)
    share = share - share.sum(axis=1, keepdims=True) * simulation.word_proba[0]
    assert np.all(np.abs(_z(share, 0.0)) < MOST)


def test_bursts():
    """A word of a document comes again more often than in a text without bursts."""
    again, expected = [], []
    for concentration in (10.0, None):
        simulation = make_text(
            400, n_words=50, n_components=None, window=None, pair_weights="pairs",
            word_concentration=concentration, separation=0.5, random_state=0,
        )  # fmt: skip
        counts, length = _counts(simulation), np.array([len(x) for x in simulation.texts])
        again.append((counts * (counts - 1)).sum() / (length * (length - 1)).sum())
        expected.append(np.trace(simulation.positive) / simulation.positive.sum())
    # some 0.08 and 0.03, and some 400 documents tell them to a tenth
    np.testing.assert_allclose(again, expected, rtol=0.3)
    assert again[0] > 1.5 * again[1]


@pytest.mark.parametrize(
    "share",
    [
        "both",
        pytest.param("words", marks=pytest.mark.slow),
        pytest.param("topics", marks=pytest.mark.slow),
    ],
)
def test_units_share(share):
    """Pairs of words of two documents of a unit, against what is expected of them."""
    n_units, bursts, topics = 4000, 1.5, 0.3
    simulation = make_text(
        2 * n_units, **SMALL, word_concentration=bursts, topic_concentration=topics,
        n_units=n_units, units_share=share, random_state=7,
    )  # fmt: skip
    np.testing.assert_array_equal(simulation.units, np.repeat(np.arange(n_units), 2))
    counts, phi = _counts(simulation).reshape(n_units, 2, 8), simulation.word_proba
    # no run of a topic lasts from one document to another, and what they do not share is as if
    # concentrations were infinite
    source = Source(
        phi, 0.0, 1e9 if share == "words" else topics, None if share == "topics" else bursts,
        25.0, 5.0,
    )  # fmt: skip
    expected = _answers(expected_pairs(source, Amounts(25.0**2, 0.0)), phi)
    together = _answers(counts[:, 0, :, None] * counts[:, 1, None, :], phi)
    assert np.all(np.abs(_z(together, expected)) < MOST)
    apart = _answers(counts[:-1, 0, :, None] * counts[1:, 1, None, :], phi)
    assert np.abs(_z(apart, expected)).max() > MOST


def test_units_are_even():
    simulation = make_text(7, n_units=3, n_components=None, random_state=0)
    assert simulation.units.tolist() == [0, 0, 0, 1, 1, 2, 2]
    alone = make_text(7, n_components=None, random_state=0)
    assert alone.units.tolist() == list(range(7))


def test_seeds():
    options = {"n_words": 20, "n_components": 3}
    first, again = (make_text(10, **options, random_state=3) for _ in range(2))
    assert first.texts == again.texts
    for name in ("positive", "word_proba", "rho", "alpha"):
        np.testing.assert_array_equal(first[name], again[name])
    more = make_text(30, **options, mean_length=10.0, random_state=3)
    np.testing.assert_array_equal(more.word_proba, first.word_proba)
    other = make_text(10, **options, random_state=4)
    assert other.texts != first.texts
    assert not np.array_equal(other.word_proba, first.word_proba)


def test_more_text_of_one_source():
    options = {"n_words": 20, "n_components": 3, "source": 8}
    first, second = (make_text(10, **options, random_state=seed) for seed in (0, 1))
    np.testing.assert_array_equal(first.positive, second.positive)
    np.testing.assert_array_equal(first.rho, second.rho)
    assert first.texts != second.texts
    other = make_text(10, **{**options, "source": 9}, random_state=0)
    assert not np.array_equal(other.positive, first.positive)


def test_advances_a_random_state():
    state = np.random.RandomState(0)
    first, second = (make_text(5, n_components=None, random_state=state) for _ in range(2))
    assert first.texts != second.texts


def test_words():
    simulation = make_text(3, n_words=12, n_components=2, random_state=0)
    assert simulation.words.tolist()[:2] == ["w00", "w01"] and simulation.words[-1] == "w11"
    assert all(type(token) is str for text in simulation.texts for token in text)
    assert make_text(3, n_words=1, n_components=1, random_state=0).words.tolist() == ["w0"]


@pytest.mark.parametrize("window", [5, None])
def test_limit_is_the_mode(window):
    """The gradient vanishes, sides are balanced, and a search from elsewhere ends there."""
    simulation = make_text(2, n_words=40, n_components=4, n_topics=4, window=window, source=2)
    rho, alpha, positive = simulation.rho, simulation.alpha, simulation.positive
    negative = simulation.negative.toarray()
    residual = positive - (positive + negative) * expit(rho @ alpha.T)
    least = positive.sum(axis=1).min()
    np.testing.assert_allclose(residual @ alpha, 0, atol=1e-5 * least)
    np.testing.assert_allclose(residual.T @ rho, 0, atol=1e-5 * least)
    moments = rho.T @ rho
    np.testing.assert_allclose(moments, alpha.T @ alpha, atol=1e-9 * moments.max())
    np.testing.assert_allclose(moments, np.diag(np.diag(moments)), atol=1e-9 * moments.max())
    assert np.all(np.diff(np.diag(moments)) < 0)

    scale = 1e7 / least
    counts = PairCounts(positive * scale, negative * scale)
    model = SGNSModel(pair_table(counts), 4, 1.0)
    best = -np.inf, None
    for seed in range(3):
        start = model.pack(model.start(np.random.default_rng(seed)))
        theta, facts = find_mode(model, start, tol=1e-11, warn=False)
        best = max(best, (facts["lp"], seed), key=lambda one: one[0])
        if best[1] == seed:
            found = model.unpack(theta)
    products = found["rho"] @ found["alpha"].T
    np.testing.assert_allclose(products, rho @ alpha.T, atol=1e-3)


def test_negatives():
    """As word2vec has them: row sums times context shares to a power."""
    simulation = make_text(2, n_words=9, n_components=None, negative=3.0, ns_exponent=0.5)
    rows = simulation.positive.sum(axis=1)
    noise = np.sqrt(simulation.positive.sum(axis=0))
    np.testing.assert_allclose(
        simulation.negative.toarray(), 3 * np.outer(rows, noise / noise.sum())
    )


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_documents": 0}, "n_documents must be an integer >= 1, got 0"),
        ({"n_words": 2.5}, "n_words must be an integer >= 1, got 2.5"),
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_components": 201}, "n_components must be at most n_words=200, got 201"),
        ({"n_topics": True}, "n_topics must be an integer >= 1, got True"),
        ({"mean_length": 1}, "mean_length must be a number > 1, got 1"),
        ({"length_shape": 0}, "length_shape must be a number > 0, got 0"),
        ({"stay": 1.5}, "stay must be a number >= 0 and <= 1, got 1.5"),
        ({"topic_concentration": 0}, "topic_concentration must be a number > 0, got 0"),
        ({"word_concentration": -1}, "word_concentration must be a number > 0, got -1"),
        ({"word_concentration": np.inf}, "word_concentration must be a number > 0, got inf"),
        ({"separation": -1}, "separation must be a number >= 0, got -1"),
        ({"n_units": 0}, "n_units must be an integer >= 1, got 0"),
        ({"n_units": 301}, "n_units must be at most n_documents=300, got 301"),
        ({"units_share": "all"}, "units_share must be one of 'both', 'words', 'topics', got 'all'"),
        ({"window": 0}, "window must be an integer >= 1, got 0"),
        ({"window_weights": "dynamic"}, "window_weights must be one of 'linear', 'uniform', got"),
        ({"pair_weights": None}, "pair_weights must be one of 'token', 'pairs', got None"),
        ({"negative": 0}, "negative must be a number > 0, got 0"),
        ({"ns_exponent": "a"}, "ns_exponent must be a number"),
        ({"ns_exponent": 1e30}, "ns_exponent must be a number >= -10 and <= 10, got"),
        ({"source": -1}, "source must be an integer >= 0, got -1"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be an int"),
    ],
)
def test_refusals(bad, message):
    with pytest.raises(ValueError, match=message):
        make_text(**bad)


def test_accepts_numpy_numbers():
    simulation = make_text(
        np.int64(5), n_words=np.int32(6), n_components=np.int64(2), window=np.int64(2),
        n_units=np.int64(2), mean_length=np.float64(5), source=np.int64(1), random_state=0,
    )  # fmt: skip
    assert simulation.rho.shape == (6, 2)

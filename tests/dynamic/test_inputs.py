"""What `DynamicSGNS` accepts: kinds of input, times and periods, and the counts they make."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import DynamicSGNS, PairCounts
from skbayesembed.dynamic.inputs import (
    documents,
    held_out,
    learn_periods,
    training_again,
    training_data,
)
from skbayesembed.sgns.counting import document_pairs, expected_negatives, window_pairs
from skbayesembed.sgns.pairs import RankOne

# also of inputs that need none
pytestmark = pytest.mark.filterwarnings("ignore:token_pattern is not used for X")

TEXTS = ["a tin cat sat", "the cat", "a tin of tin", "the cat sat on a tin", "", "on a cat"]
TOKENS = [text.split() for text in TEXTS]
TIMES = [1903, 1900, 1901, 1900, 1901, 1903]


def make(**parameters):
    return DynamicSGNS(**{"n_components": 1, "min_count": 1, "token_pattern": r"\w+", **parameters})


def read(X, times, model=None, **parameters):
    model = make(**parameters) if model is None else model
    return training_data(model, X, times, 0)


def dense(counts):
    return [(c.positive.toarray(), c.negative.toarray()) for c in counts]


def assert_same(first, second):
    assert len(first.counts) == len(second.counts)
    np.testing.assert_array_equal(first.words, second.words)
    for one, other in zip(dense(first.counts), dense(second.counts), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_counts_of_every_period():
    """One vocabulary; windows within documents; negatives by the frequencies of the period."""
    training = read(TEXTS, TIMES)
    assert training.periods.labels == [1900, 1901, 1902, 1903]
    assert training.words.tolist()[:3] == ["a", "cat", "tin"] and training.columns is None
    place = {w: i for i, w in enumerate(training.words.tolist())}
    for t, year in enumerate(range(1900, 1904)):
        chosen = [tokens for tokens, time in zip(TOKENS, TIMES, strict=True) if time == year]
        ids = np.array([place[w] for tokens in chosen for w in tokens], dtype=int)
        offsets = np.concatenate([[0], np.cumsum([len(tokens) for tokens in chosen])]).astype(int)
        positive = window_pairs(ids, offsets, len(place), window=4, window_weights="linear")
        counts = training.counts[t]
        np.testing.assert_array_equal(counts.positive.toarray(), positive.toarray())
        if year == 1902:
            assert counts.total == 0
            continue
        negative = expected_negatives(positive, negative=1, ns_exponent=0.75)
        np.testing.assert_allclose(counts.negative.toarray(), negative.toarray())


def test_kinds_of_input_agree():
    training = read(TEXTS, TIMES)
    assert_same(training, read(TOKENS, TIMES))
    assert_same(training, read(iter(TEXTS), np.array(TIMES)))
    assert_same(training, read(np.array(TEXTS), TIMES))
    words = training.words
    pairs = [PairCounts(c.positive, c.negative, words=words) for c in training.counts]
    assert_same(training, read(pairs, training.periods.centres))


@pytest.mark.parametrize("weights", ["pairs", "token"])
def test_a_count_matrix(weights):
    """The whole document is the context; columns are chosen over all periods."""
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (6, 5))
    X[:, 3] = [0, 0, 0, 0, 1, 0]
    model = make(min_count=2, feature_names=list("abcde"), pair_weights=weights)
    training = read(sparse.csr_array(X), TIMES, model)
    assert training.words.tolist() == ["a", "b", "c", "e"] and model.n_features_in_ == 5
    assert training.columns.tolist() == [0, 1, 2, 4]
    for t, year in enumerate(range(1900, 1904)):
        rows = X[np.array(TIMES) == year][:, [0, 1, 2, 4]]
        expected = document_pairs(rows, pair_weights=weights) if len(rows) else np.zeros((4, 4))
        expected = expected.toarray() if len(rows) else expected
        np.testing.assert_array_equal(training.counts[t].positive.toarray(), expected)


def test_words_are_chosen_over_all_periods():
    training = read(TEXTS, TIMES, min_count=4)
    assert training.words.tolist() == ["a", "cat", "tin"]
    assert read(TEXTS, TIMES, max_features=2).words.tolist() == ["a", "cat"]


def test_sampled_negatives_and_random_windows():
    options = {"negative_sampling": "sampled", "window_weights": "dynamic", "negative": 2}
    training = read(TEXTS, TIMES, **options)
    assert_same(training, read(TEXTS, TIMES, **options))
    for counts in training.counts:
        np.testing.assert_allclose(counts.negative.sum(), 2 * counts.positive.sum())


# Pair counts ------------------------------------------------------------------------------------


def pair_counts(seed, n=4, words=None, rank_one=False):
    rng = np.random.default_rng(seed)
    negative = RankOne(rng.random(n), rng.random(n)) if rank_one else rng.poisson(2.0, (n, n))
    return PairCounts(rng.poisson(2.0, (n, n)), negative, words=words)


@pytest.mark.parametrize("rank_one", [False, True])
def test_counts_of_one_period_are_added_up(rank_one):
    given = [pair_counts(seed, rank_one=rank_one) for seed in range(4)]
    training = read(given, [7.5, 2, 7.5, 3])
    assert training.periods.labels == ["2", "3", "7.5"]
    assert training.periods.gaps.tolist() == [1.0, 4.5]
    parts = dense(given)
    expected = [parts[1], parts[3], [a + b for a, b in zip(parts[0], parts[2], strict=True)]]
    for found, (positive, negative) in zip(dense(training.counts), expected, strict=True):
        np.testing.assert_allclose(found[0], positive)
        np.testing.assert_allclose(found[1], negative)
    assert training.counts[0] is given[1]


def test_pair_counts_in_bins_and_equal_periods():
    given = [pair_counts(seed) for seed in range(3)]
    training = read(given, [0, 1, 9], bins=[0, 2, 5, 10])
    assert [c.total > 0 for c in training.counts] == [True, False, True]
    assert training.counts[1].shape == (4, 4)
    with pytest.warns(UserWarning, match="1 of 3 periods holds no times: 3-5. .* from 0 to 9: is"):
        training = read(given, [0, 1, 9], n_periods=3)
    assert training.periods.edges.tolist() == [0, 3, 6, 9]
    assert training.counts[0].total == given[0].total + given[1].total


def test_words_of_pair_counts():
    words = list("abcd")
    training = read([pair_counts(0, words=words), pair_counts(1, words=words)], [0, 1])
    assert training.words.tolist() == words
    for other in (pair_counts(1, words=list("abdc")), pair_counts(1), pair_counts(1, n=5)):
        with pytest.raises(ValueError, match=r"same words .* throughout: X\[1\] \([45] words\)"):
            read([pair_counts(0, words=words), other], [0, 1])


# Errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (None, "DynamicSGNS needs times: pass times=, a number or date for each document"),
        ([1900] * 5, "times must have one entry for each of the 6 documents, got 5"),
        (["900"] * 6, "times must be numbers or dates, got '900' in .*; convert texts first"),
        ([1900, np.nan] * 3, "times must be finite"),
        ([[1900]] * 6, "times must have one dimension"),
        ([1900.5, 1901] * 3, "times must be integers, one for each period, unless n_periods"),
        ([1, 2000] * 3, "times span the 2000 integers from 1 to 2000"),
        ([1900] * 6, "make one period, 1900: DynamicSGNS needs two or more. Use BayesianS"),
    ],
)
def test_times_that_are_refused(times, message):
    for X in (TEXTS, TOKENS, np.ones((6, 3))):
        with pytest.raises(ValueError, match=message):
            read(X, times)


def test_times_of_pair_counts():
    given = [pair_counts(0), pair_counts(1)]
    with pytest.raises(ValueError, match="times must have one entry for each of the 2 PairCounts"):
        read(given, [1])
    with pytest.raises(ValueError, match="make one period, 1: "):
        read(given, [1, 1])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("a text", TypeError, "X is a single str"),
        (pair_counts(0), TypeError, "X is a single PairCounts: .* takes a list of PairCounts"),
        ([pair_counts(0), "text"], TypeError, "X must be PairCounts throughout or none, got str"),
        ([], ValueError, "X"),
        (-np.ones((2, 3)), ValueError, "Negative values in data passed to DynamicSGNS"),
        ([["a"], ["a"]], ValueError, "X has no pair of words: every document has fewer than two"),
        (np.ones((1, 3)), ValueError, "times must have"),
    ],
)
def test_input_that_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        read(X, [0, 1])


def test_nothing_observed():
    nothing = PairCounts(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="X has no observed pair: all its counts are"):
        read([nothing, nothing], [0, 1])
    with pytest.raises(ValueError, match="n_components=9 is larger than the vocabulary of 4"):
        read([pair_counts(0), pair_counts(1)], [0, 1], n_components=9)


# Held-out data ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    model = make(solver="gibbs", draws=2, warmup=1, chains=1, max_features=4, random_state=0)
    return model.fit(TEXTS, times=TIMES)


def test_parameters_that_are_not_used_are_told():
    model = make(solver="map", stop_words=["cat"], random_state=0)
    with pytest.warns(UserWarning, match="stop_words is not used for X, which is token lists"):
        model.fit(TOKENS, times=TIMES)
    training_again(model, TOKENS, TIMES)


@pytest.mark.parametrize("method", ["transform", "score", "sample_transform"])
def test_times_outside_the_periods_are_told(fitted, method):
    """Once in a call, and not where a question refuses them."""
    call, told = getattr(fitted, method), "vectors there are those of the nearest period, shrunk"
    with pytest.warns(UserWarning, match=told) as found:
        call(TEXTS[:3], times=[1899, 1901, 1990])
    (message,) = [str(w.message) for w in found if told in str(w.message)]
    assert message.startswith("2 of 3 documents are of times before the first period (1900) or aft")
    call(TEXTS[:3], times=[1900, 1901, 1903])
    call(TEXTS[:3])
    with pytest.raises(ValueError, match="times must be in the periods of fit"):
        fitted.document_similarity(TEXTS[:3], times=[1899, 1901, 1990])


@pytest.mark.filterwarnings("ignore:.* are of times before the first period")
def test_held_out_counts(fitted):
    """All words, those not in the vocabulary as -1; by the fixed protocol in each period."""
    new = ["a tin hat", "the hat sat on the cat", "hat", "a cat sat here"]
    found = held_out(fitted, new, [1903, 1900, 1901, 1990])
    assert [time for time, _ in found] == [1900.0, 1903.0, 1990.0]
    together = held_out(fitted, new, None)
    assert [time for time, _ in together] == [None]
    total = sum(h.counts.positive.toarray() for _, h in found)
    np.testing.assert_allclose(total, together[0][1].counts.positive.toarray())
    for _, part in found:
        assert np.sum(part.index >= 0) == 4 and part.index.size == 8
        expected = expected_negatives(part.counts.positive, negative=1, ns_exponent=0.75)
        np.testing.assert_allclose(part.counts.negative.toarray(), expected.toarray())
    ids, offsets = [0, 1, 2], [0, 3]
    by_hand = window_pairs(np.array(ids), np.array(offsets), 3, window=5, window_weights="linear")
    assert found[1][1].counts.positive.sum() == by_hand.sum()


@pytest.mark.filterwarnings("ignore:.* PairCounts are of times before the first period")
def test_held_out_pair_counts(fitted):
    words = [*fitted.words_[:2], "new"]
    counts = [pair_counts(seed, n=3, words=words) for seed in range(2)]
    nothing = PairCounts(np.zeros((3, 3)), np.zeros((3, 3)), words=words)
    found = held_out(fitted, [counts[0], nothing, counts[1]], [1903, 1903, 1905])
    assert [time for time, _ in found] == [1903.0, 1905.0]
    assert found[0][1].counts is counts[0] and found[0][1].index.tolist() == [0, 1, -1]
    with pytest.raises(ValueError, match="X has no observed pair to score"):
        held_out(fitted, [nothing], [1900])


def test_held_out_errors(fitted):
    with pytest.raises(ValueError, match="X has no pair of words to score"):
        held_out(fitted, ["cat", ""], [1900, 1901])
    with pytest.raises(ValueError, match="times must be integers, as the periods are, got 1900.5"):
        held_out(fitted, TEXTS[:1], [1900.5])
    with pytest.raises(ValueError, match="one entry for each of the 1 documents, got 2"):
        held_out(fitted, TEXTS[:1], [1900, 1901])
    with pytest.raises(TypeError, match="transform takes documents or a count matrix, got PairC"):
        documents(fitted, [pair_counts(0)], [1900])
    with pytest.raises(ValueError, match="X is a count matrix, but the estimator was fitted on te"):
        documents(fitted, np.ones((2, 4)), [1900, 1901])
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        fitted.score(TEXTS, times=TIMES, sample_weight=np.ones(6))


def test_a_mistyped_date_is_told_of():
    """Each year is a period, and most have no text."""
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 4
    times = ["1899-05-03", *["1998-01-01", "1999-05-03"] * 5, "1999-06-01"]
    with pytest.warns(UserWarning, match="Each year is a period, from 1899-05-03 to 1999-06-01"):
        learn_periods(DynamicSGNS(2), times, len(texts))

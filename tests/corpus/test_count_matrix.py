"""Columns of count matrices, and the counts of a fitted estimator's words."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS
from skbayesembed.corpus.count_matrix import (
    count_matrix,
    frequent_columns,
    most_frequent,
    named_matrix,
)
from skbayesembed.corpus.known import check_kind, known_counts
from skbayesembed.corpus.text import distinct_words
from skbayesembed.corpus.vocabulary import build_vocabulary
from tests.helpers.extras import optional

pd = optional("pandas")

COUNTS = sparse.csr_array(np.array([[2.0, 0, 1, 0], [1, 0, 2, 1]]))


def test_most_frequent_columns():
    assert most_frequent(COUNTS, 0).tolist() == [0, 1, 2, 3]
    assert most_frequent(COUNTS, 1).tolist() == [0, 2, 3]
    assert most_frequent(COUNTS, 1, 1).tolist() == [0]  # the first of equal ones
    assert most_frequent(COUNTS, 9).size == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_counts_that_are_not_finite_are_refused_in_words_of_our_own(value):
    counts = COUNTS.toarray().astype(float)
    counts[0, 0] = value
    with pytest.raises(
        ValueError, match="X must hold counts >= 0, finite and none missing"
    ) as seen:
        named_matrix(BayesianSGNS(), counts)
    assert "HistGradientBoosting" not in str(seen.value)
    assert ("NaN" if np.isnan(value) else "infinity") in str(seen.value)


def test_columns_without_counts_stay_unless_min_count_asks_for_more():
    estimator = SimpleNamespace(min_count=1, max_features=None)
    assert frequent_columns(estimator, COUNTS).tolist() == [0, 1, 2, 3]
    estimator.min_count = 2
    assert frequent_columns(estimator, COUNTS).tolist() == [0, 2]
    estimator.min_count = 9
    with pytest.raises(ValueError, match="empty vocabulary: no column of X has a sum"):
        frequent_columns(estimator, COUNTS)


def test_names_of_columns():
    estimator = BayesianSGNS()
    counts, names = named_matrix(estimator, COUNTS)
    assert names.tolist() == ["x0", "x1", "x2", "x3"]
    assert estimator.n_features_in_ == 4
    assert np.array_equal(counts.toarray(), COUNTS.toarray())
    assert named_matrix(BayesianSGNS(feature_names=list("abcd")), COUNTS)[1].tolist() == list(
        "abcd"
    )
    with pytest.raises(ValueError, match="feature_names must name the 4 columns of X once each"):
        named_matrix(BayesianSGNS(feature_names=list("abca")), COUNTS)


def test_given_names_are_in_the_order_of_columns():
    """A column whose own name is given to another one would be taken for it."""
    frame = pd.DataFrame(COUNTS.toarray(), columns=list("abcd"))
    for names in ("abcd", "wxyz", "abcz"):
        assert named_matrix(BayesianSGNS(feature_names=list(names)), frame)[1].tolist() == [*names]
    with pytest.raises(ValueError, match=r"got feature_names\[3\] = 'a', "):
        named_matrix(BayesianSGNS(feature_names=list("dbca")), frame)
    with pytest.raises(ValueError, match="in the order of the columns of X, got a set"):
        named_matrix(BayesianSGNS(feature_names=set("abcd")), COUNTS)


def test_known_counts():
    words = np.array(["a", "b"])
    estimator = SimpleNamespace(_columns=None, words_=words, vocabulary_={"a": 0, "b": 1})
    tokens = (document.split() for document in ["b c b", "", "a"])
    assert known_counts(estimator, tokens).toarray().tolist() == [[0, 2], [0, 0], [1, 0]]
    with pytest.raises(ValueError, match="X is a count matrix, .* fitted on text or tokens"):
        known_counts(estimator, COUNTS)
    with pytest.raises(ValueError, match="fitted on PairCounts"):
        check_kind(estimator, "counts", without_columns="PairCounts")
    estimator._columns = np.array([0])
    with pytest.raises(ValueError, match="X is tokens, .* fitted on a count matrix"):
        known_counts(estimator, [["a"]])


def test_infinities_of_both_signs():
    """Their sum, which is looked at first, is none: no warning of it comes before the error."""
    with pytest.raises(ValueError, match="X contains infinity"):
        count_matrix(BayesianSGNS(), np.array([[-np.inf, np.inf]]), reset=True)


def test_words_of_a_set_have_one_order():
    assert distinct_words({"river", "bank", "sea"}).tolist() == ["bank", "river", "sea"]
    assert distinct_words(["sea", "bank"]).tolist() == ["sea", "bank"]


def test_words_of_a_dict_are_in_the_order_of_their_indices():
    assert distinct_words({"sea": 2, "bank": 0, "river": np.int64(1)}).tolist() == [
        "bank", "river", "sea"
    ]  # fmt: skip
    for other in ({"sea": 1, "bank": 1}, {"sea": 3, "bank": 5}, {"sea": "a", "bank": "b"}):
        with pytest.raises(ValueError, match=r"dict from words to their indices \(0, 1, ...\)"):
            distinct_words(other)


def test_words_of_a_vocabulary():
    vocabulary = build_vocabulary(["bank river bank"], min_count=1)
    assert distinct_words(vocabulary).tolist() == vocabulary.words.tolist() == ["bank", "river"]


def test_words_that_are_no_vocabulary():
    with pytest.raises(ValueError, match="a list of different words, .* got 'sea' more than once"):
        distinct_words(["bank", "sea", "sea"])
    with pytest.raises(ValueError, match="got an empty str at 1, which is no word"):
        distinct_words(["bank", ""])
    with pytest.raises(ValueError, match=r"got \['word000', .*'word005', \.\.\.\]\.$"):
        distinct_words([*(f"word{i:03d}" for i in range(900)), 3])
    for other in ([], "sea", b"sea", None, 3, {}):
        with pytest.raises(ValueError, match="vocabulary must be a list of different words, "):
            distinct_words(other)


@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_entries_that_are_there_twice_add_up_in_any_type(dtype):
    places = np.array([0] * 300 + [1]), np.array([1] * 300 + [0])
    X = sparse.coo_array((np.ones(301, dtype), places), shape=(2, 2))
    model = BayesianSGNS(1, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    assert count_matrix(model, X, reset=True).toarray().tolist() == [[0, 300], [1, 0]]


def test_a_table_of_events_is_told_of():
    """Its columns would be the words."""
    ratings = pd.DataFrame({"userId": [1, 1, 2], "movieId": [7, 8, 7], "rating": [4.0, 5.0, 3.0]})
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    with pytest.warns(UserWarning, match="'userId', 'movieId', 'rating' and is read as counts"):
        model.fit(ratings)
    counts = pd.crosstab(ratings["userId"], ratings["movieId"])
    words = counts.rename(columns={7: "user", 8: "sea"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(words)


def test_masked_counts_are_refused():
    """What is behind a mask is no count; a mask that hides nothing is none."""
    counts = np.ma.masked_equal(COUNTS.toarray(), 2)
    with pytest.raises(ValueError, match="with 2 of them masked: X.filled"):
        count_matrix(BayesianSGNS(), counts, reset=None)
    open_ = np.ma.array(COUNTS.toarray(), mask=False)
    found = count_matrix(BayesianSGNS(), open_, reset=None)
    np.testing.assert_array_equal(found.toarray(), COUNTS.toarray())

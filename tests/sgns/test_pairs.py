"""The containers of pair counts: RankOne and PairCounts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split

from skbayesembed.common import memory
from skbayesembed.sgns.batches import PairBatches
from skbayesembed.sgns.counting import PairCounts, RankOne
from skbayesembed.sgns.pairs import added_up, pooled_counts


def test_rank_one_algebra():
    rng = np.random.default_rng(0)
    left, right = rng.random(4), rng.random(6)
    counts, dense = RankOne(left, right), np.outer(left, right)
    assert counts.shape == (4, 6)
    np.testing.assert_array_equal(counts.toarray(), dense)
    np.testing.assert_array_equal(counts.block(1, 3), dense[1:3])
    np.testing.assert_array_equal(counts.T.toarray(), dense.T)
    np.testing.assert_allclose(counts.scaled(2.5).toarray(), 2.5 * dense, rtol=1e-14)
    np.testing.assert_allclose(counts.sum(), dense.sum(), rtol=1e-14)
    assert repr(RankOne([1, 2], [3, 4])) == "RankOne(shape=(2, 2), sum=21)"


def test_rank_one_owns_its_factors():
    left = np.ones(2)
    counts = RankOne(left, left)
    left[0] = 7
    assert counts.sum() == 4


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([[1]], [1], "left must be 1-D, got 2 dimension"),
        ([1], 1, "right must be 1-D, got 0 dimension"),
        ([np.inf], [1], "left must be finite"),
        ([1], [0, -2], "right must be non-negative, got -2"),
    ],
)
def test_rank_one_refuses(left, right, message):
    with pytest.raises(ValueError, match=message):
        RankOne(left, right)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(1)
    positive = sparse.random_array((8, 8), density=0.4, random_state=rng, format="csr") * 6
    negative = sparse.csr_array(rng.integers(0, 5, (8, 8)))
    return PairCounts(positive, negative, words=list("abcdefgh"))


@pytest.mark.parametrize(
    "convert",
    [np.asarray, lambda x: x.tolist(), sparse.csr_matrix, sparse.coo_array, sparse.csc_array],
)
def test_pair_counts_of_any_matrix(convert):
    positive, negative = np.array([[0, 1.5], [2, 0]]), np.array([[1, 1], [0, 1]])
    pairs = PairCounts(convert(positive), convert(negative))
    for counts, expected in ((pairs.positive, positive), (pairs.negative, negative)):
        np.testing.assert_array_equal(counts.toarray(), expected)
        assert counts.format == "csr"
        assert counts.dtype == np.float64
        assert counts.nnz == np.count_nonzero(expected)
    assert pairs.n_words == 2
    assert pairs.shape == (2, 2)
    assert pairs.words is None
    assert pairs.total == 6.5
    assert repr(pairs) == "PairCounts(n_words=2, n_positive=3.5, n_negative=3)"


def test_pair_counts_of_data_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0, 1], [1, 0]], index=["a", "b"], columns=["a", "b"])
    pairs = PairCounts(frame, frame, words=frame.columns)
    assert pairs.words.tolist() == ["a", "b"]
    assert pairs.total == 4


def test_pair_counts_add_up_duplicates_and_leave_their_input_alone():
    data = np.array([1.0, 2.0, 0.0])
    positive = sparse.csr_array((data, np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    pairs = PairCounts(positive, positive)
    np.testing.assert_array_equal(pairs.positive.toarray(), [[0, 3], [0, 0]])
    assert pairs.positive.nnz == 1
    assert positive.nnz == 3
    pairs.positive.data[:] = 9
    assert data.tolist() == [1, 2, 0]


def test_pair_counts_with_expected_negatives():
    pairs = PairCounts(np.eye(2), RankOne([1, 2], [3, 4]))
    assert isinstance(pairs.negative, RankOne)
    assert pairs.total == 23
    restored = pickle.loads(pickle.dumps(pairs))
    assert restored.total == 23
    assert bool(pairs)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.ones((2, 3)), np.ones((2, 3))), ValueError, r"positive must be square.*\(2, 3\)"),
        ((np.ones((0, 0)), np.ones((0, 0))), ValueError, "at least one word"),
        ((np.eye(2), np.eye(3)), ValueError, r"negative must have the shape .*\(2, 2\), got \(3"),
        ((np.eye(2), RankOne([1], [1])), ValueError, "negative must have the shape"),
        ((np.ones(2), np.eye(2)), ValueError, "positive must be 2-D, got 1 dimension"),
        ((-np.eye(2), np.eye(2)), ValueError, "positive must be non-negative, got -1"),
        ((np.eye(2), -np.eye(2)), ValueError, "negative must be non-negative, got -1"),
        ((np.full((2, 2), np.inf), np.eye(2)), ValueError, "positive must be finite"),
        (([[np.nan]], np.eye(1)), ValueError, "positive must be finite"),
        ((np.eye(2) * 1j, np.eye(2)), TypeError, "positive must be .* numbers.*complex"),
        (([["a"]], np.eye(1)), TypeError, "positive must be a sparse matrix or 2-D array"),
        ((np.eye(1), None), TypeError, "negative must be a sparse matrix or 2-D array"),
        ((np.eye(2), np.eye(2), ["a"]), ValueError, r"words must have shape \(2,\), got \(1,\)"),
        ((np.eye(2), np.eye(2), "ab"), ValueError, r"words must have shape \(2,\), got \(\)"),
        ((np.eye(2), np.eye(2), ["a", "a"]), ValueError, "unique, got 'a' more than once"),
        ((np.eye(2), np.eye(2), ["a", 1]), TypeError, "words must be str, got 1"),
    ],
)
def test_pair_counts_refuse(arguments, error, message):
    with pytest.raises(error, match=message):
        PairCounts(*arguments)


class Anything(BaseEstimator):
    """An estimator that accepts everything."""

    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return 0.0


@pytest.mark.parametrize(
    "use",
    [
        lambda pairs: GridSearchCV(Anything(), {"a": [1, 2]}, cv=2).fit(pairs),
        lambda pairs: cross_val_score(Anything(), pairs, cv=KFold(2)),
        lambda pairs: train_test_split(pairs),
        lambda pairs: pairs[0],
        lambda pairs: pairs[:2],
        len,
        list,
    ],
)
def test_pair_counts_are_not_sliced(pairs, use):
    with pytest.raises(TypeError, match=r"PairCounts .*cross-validation.*pairs\.split\("):
        use(pairs)


@pytest.mark.parametrize("test_size", [0.25, 0.5, 0.9])
def test_split_keeps_every_observation(pairs, test_size):
    train, test = pairs.split(test_size, random_state=0)
    for name in ("positive", "negative"):
        whole = getattr(pairs, name).toarray()
        parts = getattr(train, name).toarray(), getattr(test, name).toarray()
        np.testing.assert_array_equal(parts[0] + parts[1], whole)
        # Fractional parts go whole: one side is an integer, in every cell.
        assert ((parts[0] % 1 == 0) | (parts[1] % 1 == 0)).all()
        assert (parts[0] >= 0).all()
        assert (parts[1] >= 0).all()
        assert getattr(test, name).nnz == np.count_nonzero(parts[1])
    assert train.words.tolist() == test.words.tolist() == list("abcdefgh")


def test_split_is_reproducible(pairs):
    first, second, other = (pairs.split(random_state=seed)[1].positive for seed in (0, 0, 1))
    assert (first != second).nnz == 0
    assert (first != other).nnz > 0


def test_split_expectation(pairs):
    n = 400
    rng = np.random.RandomState(0)
    splits = [pairs.split(0.3, random_state=rng)[1].positive.toarray() for _ in range(n)]
    whole = pairs.positive.toarray()
    fraction = whole % 1
    variance = 0.3 * 0.7 * (np.floor(whole) + fraction**2)
    # About 25 cells: beyond 4.5 standard errors once in 6,000 seeds.
    error = np.sqrt(variance / n)
    assert (np.abs(np.mean(splits, axis=0) - 0.3 * whole) <= 4.5 * error + 1e-12).all()


def test_split_divides_expected_negatives_in_proportion(pairs):
    negative = RankOne(np.arange(8), np.ones(8))
    train, test = PairCounts(pairs.positive, negative).split(0.2, random_state=0)
    np.testing.assert_allclose(train.negative.toarray(), 0.8 * negative.toarray())
    np.testing.assert_allclose(test.negative.toarray(), 0.2 * negative.toarray())
    assert train.words is None


@pytest.mark.parametrize("test_size", [0, 1, -0.1, 2, None, "0.5", True, float("nan")])
def test_split_refuses(pairs, test_size):
    with pytest.raises(ValueError, match="test_size must be a number between 0 and 1, got"):
        pairs.split(test_size)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 100])
def test_parts_are_added_up_in_order_and_few_times_each(n):
    added = []

    class Part(tuple):
        __slots__ = ()

        def __add__(self, other):
            added.extend([*self, *other])
            return Part([*self, *other])

    assert added_up((Part([i]) for i in range(n)), len) == tuple(range(n))
    # sums at least double, but for the last of them
    assert max(map(added.count, range(n))) <= 2 * np.log2(n) + 1


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.int8])
def test_entries_that_are_there_twice_add_up_in_any_type(dtype):
    places = np.zeros(300, int), np.ones(300, int)
    counts = sparse.coo_array((np.ones(300, dtype), places), shape=(2, 2))
    pairs = PairCounts(counts, sparse.csr_array((2, 2)))
    assert pairs.positive.toarray().tolist() == [[0, 300], [0, 0]]


def test_products_are_written_out_where_there_is_room(monkeypatch):
    """Their sum is none; refused before the first is written out, and with what else to do."""
    rng = np.random.default_rng(0)
    parts = [
        PairCounts(sparse.csr_array(np.eye(40)), RankOne(rng.random(40), rng.random(40)))
        for _ in range(3)
    ]
    whole = pooled_counts(parts)
    expected = sum(part.negative.toarray() for part in parts)
    np.testing.assert_allclose(whole.negative.toarray(), expected)
    monkeypatch.setattr(memory, "allowed_memory", lambda: (40.0**2 * 8, "a limit"))
    with pytest.raises(MemoryError, match="Expected negatives of 40 words, written out, would"):
        pooled_counts(parts)
    # as learning_method="online" does, which needs parts of it
    with pytest.raises(MemoryError, match="For many words use learning_method='batch', or partial"):
        next(PairBatches(parts[0]).batches(1, rng))

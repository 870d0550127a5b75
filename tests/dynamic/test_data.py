"""Counts of every period against loops over the documents, and their table against dense arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.dynamic.data import PeriodPairs, period_counts, period_table_bytes
from skbayesembed.sgns.pairs import PairCounts, RankOne, pooled_counts

DOCUMENTS = [[0, 1, 2, 0], [3, -1, 1], [2], [1, 2, 3, 3, 0], []]
INDEX = np.array([2, 0, 0, 2, 3])
V, T, WINDOW = 4, 5, 3


def sequence():
    ids = np.array([w for d in DOCUMENTS for w in d])
    return ids, np.concatenate([[0], np.cumsum([len(d) for d in DOCUMENTS])])


def by_hand(t):
    """Positive and negative counts of a period, by the formulas of the supplement."""
    positive = np.zeros((V, V))
    for document, period in zip(DOCUMENTS, INDEX, strict=True):
        for i, w in enumerate(document):
            for j, v in enumerate(document):
                if period == t and i != j and min(w, v) >= 0:
                    between = abs(i - j) - 1
                    positive[w, v] += max(0.0, 1.0 - between / WINDOW)
    if positive.sum() == 0:
        return positive, positive
    share = positive.sum(axis=1) / positive.sum()
    noise = np.where(share > 0, share, 0.0) ** 0.75
    noise /= noise.sum()
    return positive, 2.0 * positive.sum() * np.outer(share, noise)


def counts_of(**options):
    return period_counts(*sequence(), INDEX, V, T, window=WINDOW, negative=2.0, **options)


def test_counts_are_those_of_bamler_and_mandt():
    counts = counts_of()
    assert len(counts) == T
    for t, c in enumerate(counts):
        positive, negative = by_hand(t)
        np.testing.assert_allclose(c.positive.toarray(), positive, atol=1e-12)
        assert isinstance(c.negative, RankOne)
        np.testing.assert_allclose(c.negative.toarray(), negative, atol=1e-12)


def test_sampled_negatives_have_that_expectation():
    rng = np.random.default_rng(0)
    total, n = np.zeros((V, V)), 150
    for _ in range(n):
        drawn = counts_of(negative_sampling="sampled", rng=rng)
        assert all(sparse.issparse(c.negative) for t, c in enumerate(drawn) if t in (0, 2))
        total += drawn[2].negative.toarray()
    expected = by_hand(2)[1]
    # the variance of a count is at most its expectation plus that of one more draw
    error = np.sqrt((expected + 1.0) / n)
    assert np.abs(total / n - expected).max() < 4.5 * error.max()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (INDEX[:-1], "index must have one period for each of the 5 documents"),
        (INDEX + 2, "index must lie between 0 and n_periods - 1 = 4"),
    ],
    ids=["short", "late"],
)
def test_an_index_that_does_not_fit(index, message):
    with pytest.raises(ValueError, match=message):
        period_counts(*sequence(), index, V, T, window=WINDOW)


def dense_of(counts):
    positive = np.array([c.positive.toarray() for c in counts])
    return positive, np.array([c.negative.toarray() for c in counts])


@pytest.mark.parametrize("negative_sampling", ["expected", "sampled"])
def test_the_table_holds_all_observed_pairs(negative_sampling):
    counts = counts_of(negative_sampling=negative_sampling, rng=np.random.default_rng(1))
    pairs = PeriodPairs(counts)
    positive, negative = dense_of(counts)
    n, kappa = positive + negative, 0.5 * (positive - negative)
    assert (pairs.n_words, pairs.n_periods) == (V, T)
    assert pairs.n_pairs == np.count_nonzero(n)
    for side in (0, 1):
        seen_n, seen_kappa = np.zeros_like(n), np.zeros_like(n)
        for w in range(V):
            for t in range(T):
                lo, hi = pairs.indptr[side][w * T + t : w * T + t + 2]
                seen_n[t, w, pairs.indices[side][lo:hi]] = pairs.n[side][lo:hi]
                seen_kappa[t, w, pairs.indices[side][lo:hi]] = pairs.kappa[side][lo:hi]
        transposed = (0, 1, 2) if side == 0 else (0, 2, 1)
        np.testing.assert_allclose(seen_n, n.transpose(transposed), atol=1e-12)
        np.testing.assert_allclose(seen_kappa, kappa.transpose(transposed), atol=1e-12)
        np.testing.assert_allclose(pairs.observations(side), n.sum(axis=(0, 2 - side)))
        np.testing.assert_array_equal(pairs.row_work(side), np.count_nonzero(n, axis=(0, 2 - side)))


def test_the_bytes_of_a_table_are_foreseen():
    """From above, and not by more than the pairs that are positive and negative at once."""
    counts = counts_of()
    pairs = PeriodPairs(counts)
    arrays = [*pairs.indices, *pairs.n, *pairs.kappa, pairs.order]
    held = sum(a.nbytes for a in arrays) + 2 * 16 * pairs.n_pairs + 8 * pairs.n_pairs
    assert held <= period_table_bytes(counts) <= 2 * held


def test_pooled_counts_are_the_sums():
    for sampling in ("expected", "sampled"):
        counts = counts_of(negative_sampling=sampling, rng=np.random.default_rng(2))
        pooled = pooled_counts(counts)
        positive, negative = dense_of(counts)
        np.testing.assert_allclose(pooled.positive.toarray(), positive.sum(axis=0))
        np.testing.assert_allclose(pooled.negative.toarray(), negative.sum(axis=0))


def test_tables_that_are_refused():
    empty = PairCounts(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="no observed pair in any period"):
        PeriodPairs([empty, empty])
    with pytest.raises(ValueError, match=r"same words in every period, got 2 period\(s\)"):
        PeriodPairs([empty, PairCounts(np.ones((3, 3)), np.ones((3, 3)))])

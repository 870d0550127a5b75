"""Pair counts against slow twins that count pairs in dictionaries, one token after the other."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.sgns import counting as module
from skbayesembed.sgns.counting import (
    RankOne,
    document_pairs,
    expected_negatives,
    sampled_negatives,
    subsample,
    window_pairs,
)
from skbayesembed.sgns.counting_kernels import group_positions


def make_sequence(rng, n_words=9, n_documents=30, unknown=False):
    """Word ids of documents of 0 to 14 tokens; word n_words - 1 never occurs."""
    sizes = rng.integers(0, 15, n_documents)
    sizes[:3] = 0, 1, 14
    low = -1 if unknown else 0
    ids = rng.integers(low, n_words - 1, sizes.sum()).astype(np.int32)
    return ids, np.concatenate(([0], np.cumsum(sizes)))


def slow_window_pairs(ids, offsets, n_words, weight):
    """``n[w, v]``: sum of weight(distance) over pairs of known tokens of one document."""
    counts = defaultdict(float)
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        for i in range(start, stop):
            for j in range(start, stop):
                if i != j and ids[i] >= 0 and ids[j] >= 0:
                    counts[ids[i], ids[j]] += weight(abs(i - j))
    dense = np.zeros((n_words, n_words))
    for pair, count in counts.items():
        dense[pair] = count
    return dense


def linear(window):
    return lambda distance: max(0.0, 1 - (distance - 1) / window)


def uniform(window):
    return lambda distance: float(distance <= window)


def check_csr(counts, n_words):
    assert counts.format == "csr"
    assert counts.dtype == np.float64
    assert counts.shape == (n_words, n_words)
    counts.check_format(full_check=True)
    for row in range(n_words):
        columns = counts.indices[counts.indptr[row] : counts.indptr[row + 1]]
        assert (np.diff(columns) > 0).all()
    assert (counts.data > 0).all()


# Windows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("window", [1, 2, 5, 40])
@pytest.mark.parametrize(("name", "weights"), [("linear", linear), ("uniform", uniform)])
def test_window_pairs_against_slow_twin(name, weights, window, unknown):
    ids, offsets = make_sequence(np.random.default_rng(0), unknown=unknown)
    counts = window_pairs(ids, offsets, 9, window=window, window_weights=name)
    check_csr(counts, 9)
    slow = slow_window_pairs(ids, offsets, 9, weights(window))
    np.testing.assert_allclose(counts.toarray(), slow, rtol=1e-13)
    np.testing.assert_array_equal(counts.toarray(), counts.toarray().T)


@pytest.mark.parametrize("n_words", [63, 64, 65, 4097, 20_000])
def test_window_pairs_of_many_words(n_words):
    # Beyond the sizes at which the bitmaps of the kernel gain a block.
    rng = np.random.default_rng(1)
    ids = np.concatenate((np.arange(n_words), rng.integers(0, n_words, 3000)))
    offsets = np.array([0, n_words // 2, ids.size])
    counts = window_pairs(ids, offsets, n_words, window=3, window_weights="uniform")
    rows, columns = [], []
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        for distance in (1, 2, 3):
            rows.append(ids[start : stop - distance])
            columns.append(ids[start + distance : stop])
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    half = sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n_words, n_words))
    assert abs(counts - (half + half.T)).max() == 0
    assert counts.has_sorted_indices


def test_window_pairs_of_one_word_fill_every_slot():
    counts = window_pairs(
        np.zeros(4, dtype=int), np.array([0, 4]), 1, window=3, window_weights="linear"
    )
    # Three pairs at distance 1, two at 2, one at 3, each in both directions.
    np.testing.assert_allclose(counts.toarray(), [[2 * (3 + 2 * 2 / 3 + 1 / 3)]], rtol=1e-15)


def test_window_weights_by_hand():
    ids, offsets = np.array([0, 1, 2, 3]), np.array([0, 4])
    counts = window_pairs(ids, offsets, 4, window=2, window_weights="linear").toarray()
    np.testing.assert_array_equal(
        counts, [[0, 1, 0.5, 0], [1, 0, 1, 0.5], [0.5, 1, 0, 1], [0, 0.5, 1, 0]]
    )


@pytest.mark.parametrize("name", ["linear", "dynamic", "uniform"])
def test_windows_end_with_the_document(name):
    # Word d stands in document d only: all pairs are on the diagonal.
    sizes = np.array([3, 0, 1, 7, 0, 0, 2])
    ids = np.repeat(np.arange(sizes.size), sizes)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    rng = np.random.default_rng(0)
    counts = window_pairs(ids, offsets, 7, window=5, window_weights=name, rng=rng).toarray()
    assert (counts[sizes > 1, sizes > 1] > 0).all()
    assert counts.sum() == np.trace(counts)
    assert counts[2, 2] == 0


@pytest.mark.parametrize("name", ["linear", "dynamic", "uniform"])
@pytest.mark.parametrize(
    ("ids", "offsets"), [([], [0]), ([], [0, 0, 0]), ([1], [0, 1]), ([-1, 1, -1], [0, 3])]
)
def test_no_pairs(name, ids, offsets):
    ids, offsets, rng = np.array(ids, dtype=np.int32), np.array(offsets), np.random.default_rng(0)
    counts = window_pairs(ids, offsets, 3, window=2, window_weights=name, rng=rng)
    check_csr(counts, 3)
    assert counts.nnz == 0


def test_window_pairs_leave_their_input_alone():
    ids, offsets = make_sequence(np.random.default_rng(3))
    before = ids.copy(), offsets.copy()
    window_pairs(ids, offsets, 9, window=3, window_weights="linear")
    np.testing.assert_array_equal(ids, before[0])
    np.testing.assert_array_equal(offsets, before[1])


def test_huge_window_is_the_document():
    ids, offsets = make_sequence(np.random.default_rng(4))
    counts = window_pairs(ids, offsets, 9, window=2**31 - 1, window_weights="uniform")
    by_document = sparse.csr_array(
        (np.ones(ids.size), ids, offsets), shape=(len(offsets) - 1, 9)
    ).toarray()
    np.testing.assert_array_equal(counts.toarray(), document_pairs(by_document).toarray())


def test_rows_come_in_blocks_of_bounded_size(monkeypatch):
    ids, offsets = make_sequence(np.random.default_rng(5), n_words=200, n_documents=300)
    whole = window_pairs(ids, offsets, 200, window=4, window_weights="linear")
    monkeypatch.setattr(module, "_BLOCK", 1)
    blocks = window_pairs(ids, offsets, 200, window=4, window_weights="linear")
    assert whole.nnz > 5 * 200
    assert (whole != blocks).nnz == 0


def test_wide_sums_do_not_overflow():
    # A linear count in units of 1/window passes 2**31 although the text is short.
    window = 2**30
    ids = np.zeros(50, dtype=int)
    counts = window_pairs(ids, np.array([0, 50]), 1, window=window, window_weights="linear")
    slow = slow_window_pairs(ids, [0, 50], 1, linear(window))
    np.testing.assert_allclose(counts.toarray(), slow, rtol=1e-13)


def test_group_positions_against_argsort():
    rng = np.random.default_rng(6)
    padded = rng.integers(-2, 20, 500).astype(np.int32)
    starts = np.concatenate(([0], np.cumsum(np.bincount(padded[padded >= 0], minlength=22))))
    before, order = starts.copy(), np.empty(starts[-1], dtype=np.int32)
    group_positions(padded, starts, order)
    expected = np.argsort(padded, kind="stable")[(padded < 0).sum() :]
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(starts, before)


# Dynamic windows -----------------------------------------------------------------------------


def dynamic(ids, offsets, window, seed, n_words=9):
    rng = np.random.default_rng(seed)
    return window_pairs(ids, offsets, n_words, window=window, window_weights="dynamic", rng=rng)


def test_dynamic_is_reproducible_and_integer():
    ids, offsets = make_sequence(np.random.default_rng(7))
    first, second, other = (dynamic(ids, offsets, 5, seed) for seed in (0, 0, 1))
    check_csr(first, 9)
    assert (first != second).nnz == 0
    assert (first != other).nnz > 0
    np.testing.assert_array_equal(first.data, np.round(first.data))


def test_dynamic_expectation_is_linear():
    ids, offsets = make_sequence(np.random.default_rng(8))
    n = 400
    draws = np.array([dynamic(ids, offsets, 4, seed).toarray() for seed in range(n)])
    expected = window_pairs(ids, offsets, 9, window=4, window_weights="linear").toarray()
    error = draws.std(axis=0, ddof=1) / np.sqrt(n)
    # 64 cells: the largest of 64 standard normals exceeds 4.5 once in 2,300 data sets.
    assert (np.abs(draws.mean(axis=0) - expected) <= 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("window", [1, 3, 300])
def test_dynamic_radius_is_uniform_and_shared_by_both_sides(window):
    # One occurrence of word 0 between 300 words on either side, all different: its row shows the
    # radius of its draw, the same to the left and to the right.
    side = 300
    ids = np.concatenate((np.arange(1, side + 1), [0], np.arange(side + 1, 2 * side + 1)))
    radii = []
    for seed in range(200):
        row = dynamic(ids, np.array([0, ids.size]), window, seed, ids.size)[[0]].toarray()[0]
        left, right = row[1 : side + 1][::-1], row[side + 1 :]
        np.testing.assert_array_equal(left, right)
        radii.append(int(left.sum()))
        assert left[: radii[-1]].all()
    assert min(radii) >= 1
    assert max(radii) <= window
    # Mean of a uniform on 1..window, within 4 standard errors.
    sd = np.sqrt((window**2 - 1) / 12)
    assert abs(np.mean(radii) - (window + 1) / 2) <= 4 * sd / np.sqrt(200)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window": 0}, "window must be an integer >= 1 .* got 0"),
        ({"window": 2.0}, "window must be an integer >= 1 .* got 2.0"),
        ({"window": True}, "window must be an integer >= 1 .* got True"),
        ({"window": 2**31}, r"< 2\*\*31, got 2147483648"),
        ({"window_weights": "flat"}, "window_weights must be one of 'linear', .* got 'flat'"),
        ({"window_weights": None}, "window_weights must be one of .* got None"),
        ({"window_weights": "dynamic"}, "rng must be a numpy.random.Generator .* got None"),
        ({"ids": np.array([0, 3])}, "ids must lie between -1 and n_words - 1 = 2, got 0 to 3"),
        ({"ids": np.array([-2, 0])}, "ids must lie between -1 and .* got -2 to 0"),
        ({"offsets": np.array([0, 1])}, "offsets must ascend from 0 to the number of ids"),
        ({"offsets": np.array([1, 2])}, "offsets must ascend"),
        ({"offsets": np.array([0, 2, 1, 2])}, "offsets must ascend"),
        ({"offsets": np.array([], dtype=int)}, "offsets must ascend"),
    ],
)
def test_window_pairs_refuses(changes, message):
    arguments = {
        "ids": np.array([0, 1]),
        "offsets": np.array([0, 2]),
        "n_words": 3,
        "window": 2,
        "window_weights": "linear",
    }
    with pytest.raises(ValueError, match=message):
        window_pairs(**(arguments | changes))


# Documents -----------------------------------------------------------------------------------


def test_document_pairs_against_slow_twin():
    rng = np.random.default_rng(9)
    counts = rng.integers(0, 4, (12, 6)) * (rng.random((12, 6)) < 0.5)
    slow = np.zeros((6, 6))
    for document in counts:
        tokens = np.repeat(np.arange(6), document)
        for i, w in enumerate(tokens):
            for j, v in enumerate(tokens):
                slow[w, v] += i != j
    for X in (counts, sparse.csr_matrix(counts), sparse.coo_array(counts)):
        pairs = document_pairs(X)
        check_csr(pairs, 6)
        np.testing.assert_array_equal(pairs.toarray(), slow)


def test_document_pairs_of_fractions():
    counts = np.array([[0.5, 2.0, 0.0], [0.0, 1.5, 0.25]])
    pairs = document_pairs(counts).toarray()
    expected = counts.T @ counts
    np.testing.assert_allclose(pairs[~np.eye(3, dtype=bool)], expected[~np.eye(3, dtype=bool)])
    # 0.25 - 0.5 and 0.0625 - 0.25 are negative: clipped.
    np.testing.assert_allclose(np.diag(pairs), [0, 4 + 2.25 - 3.5, 0])


def test_document_pairs_refuses():
    with pytest.raises(ValueError, match="counts must be non-negative, got -1"):
        document_pairs([[1, -1]])
    with pytest.raises(ValueError, match="counts must be finite"):
        document_pairs([[1, np.nan]])


# Negative pairs ------------------------------------------------------------------------------


@pytest.fixture
def positive():
    ids, offsets = make_sequence(np.random.default_rng(10))
    return window_pairs(ids, offsets, 9, window=4, window_weights="linear")


@pytest.mark.parametrize("negative", [1, 0.5, 5])
@pytest.mark.parametrize("gamma", [0.75, 1.0, 0.5])
def test_expected_negatives_are_equations_1_to_3(positive, negative, gamma):
    n = positive.toarray()
    size = len(n)
    total = sum(n[i, j] for i in range(size) for j in range(size))
    P = [sum(n[i, j] for j in range(size)) / total for i in range(size)]  # eq. 1
    normaliser = sum(P[j] ** gamma for j in range(size))
    noise = [P[j] ** gamma / normaliser for j in range(size)]  # eq. 2
    expected = [[total * negative * P[i] * noise[j] for j in range(size)] for i in range(size)]
    result = expected_negatives(positive, negative=negative, ns_exponent=gamma)
    assert isinstance(result, RankOne)
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-12)
    assert result.sum() == pytest.approx(negative * positive.sum(), rel=1e-12)
    as_matrix = sparse.csr_matrix(positive)
    again = expected_negatives(as_matrix, negative=negative, ns_exponent=gamma)
    np.testing.assert_array_equal(again.toarray(), result.toarray())


def test_noise_is_the_share_of_contexts_where_counts_are_not_symmetric():
    positive = sparse.csr_array([[0.0, 8.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    result = expected_negatives(positive, negative=1, ns_exponent=1.0).toarray()
    np.testing.assert_allclose(result, np.outer([8, 1, 0], [1 / 9, 8 / 9, 0]))


@pytest.mark.parametrize("gamma", [0.0, -0.5])
def test_words_never_seen_get_no_noise(positive, gamma):
    result = expected_negatives(positive, negative=1, ns_exponent=gamma)
    assert result.right[-1] == 0
    assert result.sum() == pytest.approx(positive.sum())


@pytest.mark.parametrize("factor", [1, 400])
def test_sampled_negatives_totals_and_expectation(positive, factor):
    # factor 400: rows of many draws, which take the multinomial in place of single draws.
    negative = 0.7 * factor
    n = 300
    rng = np.random.default_rng(11)
    draws = []
    for _ in range(n):
        sample = sampled_negatives(positive, negative=negative, ns_exponent=0.75, rng=rng)
        check_csr(sample, 9)
        draws.append(sample.toarray())
    draws = np.array(draws)
    np.testing.assert_array_equal(draws, np.round(draws))
    row_sums = negative * positive.sum(axis=1)
    assert (np.abs(draws.sum(axis=2) - row_sums) < 1).all()
    expected = expected_negatives(positive, negative=negative, ns_exponent=0.75).toarray()
    assert (draws[:, expected == 0] == 0).all()
    # A multinomial cell has at most a Poisson's variance, plus that of the fractional draw; 64
    # cells and rows: beyond 4.5 standard errors once in 2,000 seeds.
    error = np.sqrt((expected + 0.25) / n)
    assert (np.abs(draws.mean(axis=0) - expected) <= 4.5 * error).all()
    row_error = np.sqrt(0.25 / n)
    assert (np.abs(draws.sum(axis=2).mean(axis=0) - row_sums) <= 4.5 * row_error).all()
    # Variances: those of the multinomial, within 5 relative standard errors of a variance.
    share = expected / np.where(row_sums > 0, row_sums, 1)[:, None]
    variance = row_sums[:, None] * share * (1 - share)
    large = expected > 5
    assert large.any()
    ratio = draws.var(axis=0, ddof=1)[large] / variance[large]
    assert (np.abs(ratio - 1) < 5 * np.sqrt(2 / n) + 0.06).all()


def test_sampled_negatives_are_reproducible_and_blockwise(positive, monkeypatch):
    def draw(seed):
        rng = np.random.default_rng(seed)
        return sampled_negatives(positive, negative=2, ns_exponent=0.75, rng=rng)

    first, second, other = draw(0), draw(0), draw(1)
    assert (first != second).nnz == 0
    assert (first != other).nnz > 0
    monkeypatch.setattr(module, "_BLOCK", 1)
    blocks = draw(0)
    np.testing.assert_array_equal(blocks.sum(axis=1).round(), first.sum(axis=1).round())


def test_sampled_negatives_of_few_and_many_draws_in_one_matrix():
    rng = np.random.default_rng(12)
    sums = np.array([0.0, 3.0, 4000.0, 1.0, 0.0, 2.0, 9000.0, 5000.0, 0.0])
    positive = sparse.csr_array(np.outer(sums, np.full(9, 1 / 9)))
    sample = sampled_negatives(positive, negative=1, ns_exponent=1.0, rng=rng)
    check_csr(sample, 9)
    assert (np.abs(sample.sum(axis=1) - sums) <= 1).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"negative": 0}, "negative must be a positive number, got 0"),
        ({"negative": -1.0}, "negative must be a positive number, got -1.0"),
        ({"negative": np.inf}, "negative must be a positive number, got inf"),
        ({"negative": np.nan}, "negative must be a positive number, got nan"),
        ({"negative": "5"}, "negative must be a positive number, got '5'"),
        ({"ns_exponent": None}, "ns_exponent must be a number >= -10 and <= 10, got None"),
        ({"ns_exponent": np.inf}, "ns_exponent must be a number >= -10 and <= 10, got inf"),
        ({"ns_exponent": 1e30}, "ns_exponent must be a number >= -10 and <= 10, got"),
        ({"positive": sparse.csr_array((3, 3))}, "there are no positive pairs"),
    ],
)
def test_negatives_refuse(positive, changes, message):
    arguments = {"positive": positive, "negative": 1, "ns_exponent": 0.75} | changes
    with pytest.raises(ValueError, match=message):
        expected_negatives(**arguments)
    with pytest.raises(ValueError, match=message):
        sampled_negatives(**arguments, rng=np.random.default_rng(0))


# Subsampling ---------------------------------------------------------------------------------


def test_subsample_keeps_by_the_rule_of_word2vec():
    rng = np.random.default_rng(13)
    share = np.array([0.6, 0.3, 0.09, 0.009, 0.001])
    ids = rng.choice(5, 200_000, p=share).astype(np.int32)
    ids[:1000] = -1
    offsets = np.array([0, 500, 500, 120_000, 200_000])
    frequency = np.bincount(ids[ids >= 0], minlength=5)
    kept, new_offsets = subsample(ids, offsets, frequency, 0.01, rng)
    f = frequency / frequency.sum()
    probability = np.minimum(1, np.sqrt(0.01 / f) + 0.01 / f)
    after = np.bincount(kept[kept >= 0], minlength=5)
    # Binomial standard errors; 5 words, 4.5 of them.
    error = np.sqrt(frequency * probability * (1 - probability))
    assert (np.abs(after - frequency * probability) <= 4.5 * error).all()
    assert (kept == -1).sum() == 1000
    assert new_offsets[0] == 0
    assert new_offsets[-1] == kept.size
    np.testing.assert_array_equal(new_offsets[1:3], [500, 500])
    again, _ = subsample(ids, offsets, frequency, 1.0, rng)
    np.testing.assert_array_equal(again, ids)


def test_subsample_is_reproducible_and_keeps_the_order():
    ids, offsets = make_sequence(np.random.default_rng(14), n_words=9)
    ids = np.arange(ids.size)
    frequency = np.ones(ids.size)
    runs = [
        subsample(ids, offsets, frequency, 1e-3, np.random.default_rng(seed)) for seed in (0, 0)
    ]
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    assert 0 < runs[0][0].size < ids.size
    assert (np.diff(runs[0][0]) > 0).all()
    for d, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        document = runs[0][0][runs[0][1][d] : runs[0][1][d + 1]]
        assert ((document >= start) & (document < stop)).all()


@pytest.mark.parametrize("threshold", [0, -1e-3, np.nan, "1e-3", True])
def test_subsample_refuses(threshold):
    with pytest.raises(ValueError, match="subsample must be a positive number, got"):
        subsample(np.array([0]), np.array([0, 1]), [1], threshold, np.random.default_rng(0))


@pytest.mark.parametrize("pair_weights", ["pairs", "token"])
def test_fractions_are_counted_by_document(pair_weights):
    """The whole is the sum of its documents; a word is no pair with less than itself."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (40, 6)) * rng.choice([0.3, 0.9, 1.0], (40, 6))
    whole = document_pairs(sparse.csr_array(counts), pair_weights=pair_weights).toarray()
    parts = [document_pairs(sparse.csr_array(row[None]), pair_weights=pair_weights).toarray()
             for row in counts]  # fmt: skip
    np.testing.assert_allclose(whole, np.sum(parts, axis=0), atol=1e-12)
    if pair_weights == "pairs":
        own = np.sum(np.maximum(counts**2 - counts, 0.0), axis=0)
        np.testing.assert_allclose(whole.diagonal(), own, atol=1e-12)

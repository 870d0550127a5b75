"""Positive and negative counts of word pairs, the data of the skip-gram models."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..common.checks import check_real, check_total, is_number, is_whole
from ..corpus.text import keep_tokens
from .counting_kernels import BREAK, count_draws, count_windows, group_positions
from .pairs import PairCounts, RankOne, as_counts

__all__ = [
    "PairCounts",
    "RankOne",
    "document_pairs",
    "expected_negatives",
    "sampled_negatives",
    "subsample",
    "window_pairs",
]

_WINDOW_WEIGHTS = ("linear", "dynamic", "uniform")
# Exponents of frequencies, up or down, beyond which powers of shares may not be finite.
MOST_EXPONENT = 10
# Entries of a buffer of rows: 50 MB, small against the counts of a corpus that needs several.
_BLOCK = 2**22


def window_pairs(ids, offsets, n_words, *, window, window_weights, rng=None, multiples=False):
    """Count the pairs of words that stand within a window of each other.

    Parameters
    ----------
    ids : ndarray of int of shape (n_tokens,)
        Word ids; -1 (an unknown word) keeps its place and is not counted.
    offsets : ndarray of int of shape (n_documents + 1,)
        Windows end where documents do.
    n_words : int
    window : int
        Largest distance of target and context, in tokens.
    window_weights : {"linear", "dynamic", "uniform"}
        "linear": a pair with k words between counts ``max(0, 1 - k / window)`` (Bamler & Mandt
        2017, supplement, section 2). "dynamic": every target draws its radius uniformly from
        1, ..., ``window`` as word2vec does; its expectation is "linear". "uniform": 1 per pair.
    rng : numpy.random.Generator or None, default=None
        Used by "dynamic" only.
    multiples : bool, default=False
        Whether "linear" counts are left as whole multiples of ``1 / window``, whose sums are exact.

    Returns
    -------
    positive : csr_array of shape (n_words, n_words), dtype float64
        Target words in rows, context words in columns, sorted. "linear" and "uniform" counts are
        symmetric and summed in integers: a sum is rounded once, at the end.

    Raises
    ------
    ValueError
        If a parameter is out of range, "dynamic" has no ``rng``, or ids and offsets do not fit.

    Notes
    -----
    Row by row, as a sparse matrix product: the contexts of all occurrences of one word are added
    up in a dense buffer of ``n_words`` slots. Memory is that of the result, two integers per
    token and a buffer; time is proportional to the number of tokens times the window.
    """
    ids, offsets = np.asarray(ids), np.asarray(offsets)
    _check_window(window, window_weights, rng)
    _check_sequence(ids, offsets, n_words)
    # Separators on both sides of every document, so that the kernel needs no offsets.
    padded = np.insert(ids.astype(np.int32, copy=False), offsets, BREAK)
    frequency = np.bincount(ids[ids >= 0] if ids.size and ids.min() < 0 else ids, minlength=n_words)
    starts = np.zeros(n_words + 1, dtype=np.int64)
    np.cumsum(frequency, out=starts[1:])
    index = np.int32 if padded.size < 2**31 else np.int64
    order = np.empty(starts[-1], dtype=index)
    group_positions(padded, starts, order)

    window = int(window)
    if window_weights == "dynamic":
        dtype = np.min_scalar_type(window)
        radii = rng.integers(1, window, size=order.size, endpoint=True, dtype=dtype)
    else:
        radii = np.empty(0, dtype=np.uint8)
    base, slope, scale = (window + 1, 1, window) if window_weights == "linear" else (1, 0, 1)
    reach = min(window, int(np.diff(offsets).max(initial=1)))
    # The counts of one row add up to at most this; int32 halves the buffer's share of the cache.
    largest = 2 * reach * base * int(frequency.max(initial=0))
    dtype = np.int32 if largest < 2**31 else np.int64
    args = (padded, order, starts, radii, reach, base, slope, 1 if multiples else scale)
    return _collect_windows(args, n_words, dtype)


def document_pairs(counts, *, pair_weights="pairs"):
    """Count the ordered pairs of different tokens of one document.

    Parameters
    ----------
    counts : sparse matrix or array-like of shape (n_documents, n_words)
        Non-negative; fractions are allowed.
    pair_weights : {"pairs", "token"}, default="pairs"
        "pairs": every pair counts 1, and thus a token as often as its document has other tokens.
        "token": the pairs of a document of N tokens count ``1 / (N - 1)``, so that each token
        counts once as a target; a document of one token has none. (If fractions add up to fewer
        than two tokens, pairs count 1.)

    Returns
    -------
    positive : csr_array of shape (n_words, n_words), dtype float64
        ``C'C - diag(column sums of C)``: in a document with n tokens of w and m of v the pair
        (w, v) counts n * m and the pair (w, w) counts n * (n - 1), or nothing where n is a
        fraction below one.
    """
    counts = as_counts(counts, "counts")
    right, itself = counts, counts.copy()
    # document by document, so that the whole is the sum of its parts
    itself.data = np.minimum(itself.data, itself.data**2)
    if pair_weights == "token":
        # fractions may add up to less than two tokens: their pairs count as they are
        share = 1.0 / np.maximum(counts.sum(axis=1) - 1.0, 1.0)
        share = sparse.diags_array(share)
        right, itself = sparse.csr_array(share @ counts), share @ itself
    positive = (counts.T @ right).tocsr()
    # rounding may make it larger
    excess = np.minimum(itself.sum(axis=0), positive.diagonal())
    positive = (positive - sparse.diags_array(excess, format="csr")).tocsr()
    positive.eliminate_zeros()
    positive.sort_indices()
    return positive


def expected_negatives(positive, *, negative, ns_exponent):
    """Expected number of negative pairs of word2vec (Bamler & Mandt 2017, suppl., eqs. 1-3).

    Parameters
    ----------
    positive : csr_array of shape (n_words, n_words)
    negative : float
        Negative pairs per positive pair, > 0.
    ns_exponent : float
        Exponent of the noise distribution; 0 is uniform over the words seen as contexts.

    Returns
    -------
    negatives : RankOne
        ``n-[w, v] = negative * (row sum of w) * P'(v)``, where ``P'(v)`` is proportional to the
        share of v among the contexts to the power ``ns_exponent``. (Eq. 2 uses the row share,
        which is the same for symmetric counts.) Expectation of `sampled_negatives`.

    Raises
    ------
    ValueError
        If ``negative`` or ``ns_exponent`` is out of range or ``positive`` is all zero.
    """
    noise = _noise(positive, negative, ns_exponent)
    with np.errstate(over="ignore"):
        draws = negative * _row_sums(positive)
    check_total("negative times the pairs", draws)
    return RankOne(draws, noise)


def sampled_negatives(positive, *, negative, ns_exponent, rng):
    """Draw negative pairs as word2vec does.

    Parameters
    ----------
    positive : csr_array of shape (n_words, n_words)
    negative : float
        Negative pairs per positive pair, > 0.
    ns_exponent : float
        Exponent of the noise distribution; 0 is uniform over the words seen as contexts.
    rng : numpy.random.Generator

    Returns
    -------
    negatives : csr_array of shape (n_words, n_words), dtype float64
        Integers. Each target draws ``negative`` times its row sum of contexts; a fractional part of
        that number is the probability of one more draw.

    Raises
    ------
    ValueError
        If ``negative`` or ``ns_exponent`` is out of range or ``positive`` is all zero.
    """
    noise = _noise(positive, negative, ns_exponent)
    return sampled_rows(negative * _row_sums(positive), noise, rng)


def sampled_rows(expected, noise, rng):
    """Contexts drawn from a distribution for every target.

    Parameters
    ----------
    expected : ndarray of shape (n_words,)
        Number of draws of each target; a fractional part is one more draw with its probability.
    noise : ndarray of shape (n_words,)
        Probabilities of the contexts.
    rng : numpy.random.Generator

    Returns
    -------
    negatives : csr_array of shape (n_words, n_words), dtype float64
        Integers.
    """
    draws = np.floor(expected).astype(np.int64)
    draws += rng.random(draws.size) < expected - draws
    return _multinomial_rows(draws, noise, rng)


def subsample(ids, offsets, frequency, threshold, rng):
    """Drop tokens of frequent words at random, by word2vec's rule.

    Parameters
    ----------
    ids : ndarray of int of shape (n_tokens,)
        Word ids; -1 (an unknown word) always stays.
    offsets : ndarray of int of shape (n_documents + 1,)
    frequency : ndarray of shape (n_words,)
        Number of tokens of each word.
    threshold : float
        A token of a word with share f stays with probability
        ``min(1, sqrt(threshold / f) + threshold / f)``.
    rng : numpy.random.Generator

    Returns
    -------
    ids : ndarray of shape (n_kept,)
    offsets : ndarray of shape (n_documents + 1,), dtype int64

    Raises
    ------
    ValueError
        If ``threshold`` is not a positive number.
    """
    _check_positive(threshold, "subsample")
    frequency = np.asarray(frequency, dtype=np.float64)
    with np.errstate(divide="ignore"):
        ratio = threshold * frequency.sum() / frequency
    # The last slot, reached by the id -1, belongs to unknown words.
    stays = np.append(np.sqrt(ratio) + ratio, 1.0)
    return keep_tokens(ids, offsets, rng.random(len(ids)) < stays[ids])


# ---------------------------------------------------------------------------------------------


def _buffers(n_words, dtype):
    blocks = (n_words >> 6) + 1
    return (
        np.zeros(n_words, dtype=dtype),
        np.zeros(n_words + 1, dtype=np.int32),
        np.zeros(blocks, dtype=np.uint64),
        np.zeros((blocks >> 6) + 1, dtype=np.uint64),
    )


def _collect_windows(args, n_words, dtype):
    """Run the kernel over blocks of rows; put the blocks together one by one."""
    starts, reach = args[2], args[4]
    buffers = _buffers(n_words, dtype)
    indptr = np.zeros(n_words + 1, dtype=np.int64)
    largest = np.minimum(n_words, 2.0 * reach * np.diff(starts)).sum()
    size = int(max(n_words, min(_BLOCK, largest)))
    blocks, row = [], 0
    while row < n_words:
        indices, data = np.empty(size, dtype=np.int32), np.empty(size)
        first, row = row, count_windows(*args, row, buffers, indptr, indices, data)
        filled = int(indptr[first + 1 : row + 1].sum())
        blocks.append((indices[:filled], data[:filled]))
    return _assemble(blocks, indptr, n_words)


def _assemble(blocks, indptr, n_words):
    """Concatenate blocks of rows into one CSR, giving back each block's memory once copied."""
    size = int(indptr.sum())
    indices, data = np.empty(size, dtype=np.int32), np.empty(size)
    start = 0
    blocks.reverse()
    while blocks:
        block_indices, block_data = blocks.pop()
        stop = start + block_indices.size
        indices[start:stop], data[start:stop] = block_indices, block_data
        start = stop
    return _csr(indices, data, indptr, n_words)


def _csr(indices, data, indptr, n_words):
    """CSR from sorted rows; ``indptr[w + 1]`` is the number of entries of row w."""
    counts = sparse.csr_array((data, indices, np.cumsum(indptr)), shape=(n_words, n_words))
    counts.has_canonical_format = True
    return counts


def _multinomial_rows(draws, noise, rng):
    """One multinomial per row; rows of many draws as binomials, the rest as categorical draws."""
    n_words = noise.size
    cumulative = np.cumsum(noise)
    # Beyond the last word that has a probability no uniform may fall, whatever the rounding.
    cumulative[np.flatnonzero(noise)[-1] :] = 1.0
    guide = np.searchsorted(cumulative, np.arange(n_words) / n_words, side="right")
    guide = guide.astype(np.int32)
    buffers = _buffers(n_words, np.int64)
    indptr = np.zeros(n_words + 1, dtype=np.int64)
    # A bound that is close: most rows have few draws, or so many that most words are drawn.
    bound = int(np.minimum(draws, np.count_nonzero(noise)).sum())
    indices, data = np.empty(bound, dtype=np.int32), np.empty(bound)
    upto = np.concatenate(([0], np.cumsum(draws)))
    filled = row = 0
    for stop in _row_blocks(upto, draws > 4 * n_words):
        if draws[row] > 4 * n_words:
            counts = rng.multinomial(draws[row], noise)
            columns = np.flatnonzero(counts)
            indptr[stop] = columns.size
            indices[filled : filled + columns.size] = columns
            data[filled : filled + columns.size] = counts[columns]
        else:
            uniforms = rng.random(int(upto[stop] - upto[row]))
            sizes = indptr[row : stop + 1]
            target = indices[filled:], data[filled:]
            count_draws(uniforms, guide, cumulative, draws[row:stop], buffers, sizes, *target)
        filled += int(indptr[row + 1 : stop + 1].sum())
        row = stop
    # Shrinks in place; nothing else refers to these arrays.
    indices.resize(filled, refcheck=False)
    data.resize(filled, refcheck=False)
    return _csr(indices, data, indptr, n_words)


def _row_blocks(upto, alone):
    """Ends of blocks of rows: a row marked ``alone``, or rows with at most a block of draws."""
    n_rows = alone.size
    boundaries = np.append(np.flatnonzero(alone), n_rows)
    row = 0
    while row < n_rows:
        stop = row + 1
        if not alone[row]:
            last = np.searchsorted(upto, upto[row] + _BLOCK, side="right") - 1
            barrier = boundaries[np.searchsorted(boundaries, row)]
            stop = max(stop, min(int(last), int(barrier)))
        yield stop
        row = stop


def _row_sums(positive):
    return np.asarray(positive.sum(axis=1), dtype=np.float64).ravel()


def _noise(positive, negative, ns_exponent):
    """Noise distribution over contexts, ``P'`` of Bamler & Mandt's eq. 2."""
    _check_positive(negative, "negative")
    check_real("ns_exponent", ns_exponent, -MOST_EXPONENT, strict=False, high=MOST_EXPONENT)
    share = np.asarray(positive.sum(axis=0), dtype=np.float64).ravel()
    if not np.any(share > 0):
        raise ValueError("there are no positive pairs, so no negative pairs can be made.")
    return noise_distribution(share, ns_exponent)


def noise_distribution(share, ns_exponent):
    """Probabilities proportional to ``share ** ns_exponent`` of the contexts that were seen."""
    seen = share > 0
    noise = np.zeros(share.size)
    noise[seen] = (share[seen] / share.sum()) ** ns_exponent
    return noise / noise.sum()


def _check_window(window, window_weights, rng):
    if not is_whole(window) or not 1 <= window < 2**31:
        raise ValueError(f"window must be an integer >= 1 and < 2**31, got {window!r}.")
    if not isinstance(window_weights, str) or window_weights not in _WINDOW_WEIGHTS:
        allowed = ", ".join(map(repr, _WINDOW_WEIGHTS))
        raise ValueError(f"window_weights must be one of {allowed}, got {window_weights!r}.")
    if window_weights == "dynamic" and not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy.random.Generator for window_weights='dynamic', got {rng!r}."
        )


def _check_sequence(ids, offsets, n_words):
    """The kernels write where the ids say: refuse those out of range."""
    ends = offsets.size > 0 and offsets[0] == 0 and offsets[-1] == ids.size
    if not ends or np.any(np.diff(offsets) < 0):
        raise ValueError("offsets must ascend from 0 to the number of ids.")
    if ids.size and (ids.min() < -1 or ids.max() >= n_words):
        raise ValueError(
            f"ids must lie between -1 and n_words - 1 = {n_words - 1}, "
            f"got {ids.min()} to {ids.max()}."
        )


def _check_positive(value, name):
    if not is_number(value) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")

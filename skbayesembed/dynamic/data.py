"""Pair counts of every period: from documents, and laid out for the kernels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..sgns.counting import expected_negatives, sampled_negatives, window_pairs
from ..sgns.data import DENSE_ABOVE, SparsePairs, merged
from ..sgns.density_kernels import gradient_dense, gradient_sparse
from ..sgns.laplace.hessian_kernels import curvature_rows_dense, curvature_rows_sparse
from ..sgns.pairs import PairCounts, RankOne, written_out
from .density_kernels import product_pairs

# Pairs with fewer observations are left out: their Polya-Gamma variables are zero to rounding.
_LEAST = 1e-30


def period_counts(
    ids, offsets, index, n_words, n_periods, *, window, negative=1.0, ns_exponent=0.75,
    negative_sampling="expected", window_weights="linear", rng=None,
):  # fmt: skip
    """Count the pairs of every period over one vocabulary (Bamler & Mandt 2017, supplement, 2).

    Positive pairs are `window_pairs` of the period's documents; windows end with the document, as
    theirs end with the sentence. Negative pairs have the period's own frequencies (eqs. 1-3).

    Parameters
    ----------
    ids : ndarray of int of shape (n_tokens,)
        Word ids of all documents, one after the other; -1 is an unknown word.
    offsets : ndarray of int of shape (n_documents + 1,)
    index : ndarray of int of shape (n_documents,)
        Period of each document, in any order. A period may have none.
    n_words, n_periods : int
    window : int
        Largest distance of target and context, in tokens.
    negative : float, default=1.0
        Negative pairs per positive pair.
    ns_exponent : float, default=0.75
        Exponent of the noise distribution.
    negative_sampling : {"expected", "sampled"}, default="expected"
        The expected counts ``negative * (row total of w) * P'_t(v)`` as factors (`RankOne`), or
        counts drawn from them, sparse.
    window_weights : {"linear", "dynamic", "uniform"}, default="linear"
        "linear" counts a pair with k words between ``max(0, 1 - k / window)``.
    rng : numpy.random.Generator, optional
        For what is drawn.

    Returns
    -------
    counts : list of PairCounts
        One for each period; all zero where the period has no pair.

    Raises
    ------
    ValueError
        If ``index`` does not fit the documents or the periods, or as `window_pairs`.
    """
    ids, offsets, index = np.asarray(ids), np.asarray(offsets), np.asarray(index)
    if index.shape != (len(offsets) - 1,):
        raise ValueError(
            f"index must have one period for each of the {len(offsets) - 1} documents, "
            f"got shape {index.shape}."
        )
    if index.size and (index.min() < 0 or index.max() >= n_periods):
        raise ValueError(
            f"index must lie between 0 and n_periods - 1 = {n_periods - 1}, "
            f"got {index.min()} to {index.max()}."
        )
    counts = []
    for part in tokens_by_period(ids, offsets, index, n_periods):
        positive = window_pairs(
            *part, n_words, window=window, window_weights=window_weights, rng=rng
        )
        counts.append(
            with_negatives(
                positive, negative=negative, ns_exponent=ns_exponent,
                negative_sampling=negative_sampling, rng=rng,
            )
        )  # fmt: skip
    return counts


def tokens_by_period(ids, offsets, index, n_periods):
    """Yield the ids and the offsets of the documents of each period.

    Parameters
    ----------
    ids, offsets, index, n_periods
        As of `period_counts`.
    """
    lengths = np.diff(offsets)
    token_period = np.repeat(index, lengths)
    for t in range(n_periods):
        yield ids[token_period == t], np.concatenate([[0], np.cumsum(lengths[index == t])])


def with_negatives(
    positive, *, negative=1.0, ns_exponent=0.75, negative_sampling="expected", rng=None
):
    """The positive pairs of one period with their negatives, as `period_counts` has them.

    Parameters
    ----------
    positive : csr_array of shape (n_words, n_words)
    negative, ns_exponent, negative_sampling, rng
        As there.

    Returns
    -------
    PairCounts
        All zero where there is no pair.
    """
    n_words = positive.shape[0]
    options = {"negative": negative, "ns_exponent": ns_exponent}
    if positive.nnz == 0:
        drawn = RankOne(np.zeros(n_words), np.zeros(n_words))
    elif negative_sampling == "expected":
        drawn = expected_negatives(positive, **options)
    else:
        drawn = sampled_negatives(positive, rng=rng, **options)
    return PairCounts(positive, drawn)


class PeriodPairs(SparsePairs):
    """Observed pairs of all periods, row by row: the table of the kernels.

    Side 0 has targets in its rows, side 1 contexts. Row ``w * n_periods + t`` of a side holds the
    pairs of its word w in period t, so that all pairs of a trajectory lie side by side.

    Parameters
    ----------
    counts : list of PairCounts
        One for each period, over the same words.
    allow_none : bool, default=False
        Whether there may be no pair at all.

    Attributes
    ----------
    indptr : list of two ndarray of shape (n_words * n_periods + 1,)
    indices : list of two ndarray of shape (n_pairs,)
        The other word of each pair.
    n, kappa : list of two ndarray of shape (n_pairs,)
        Observations and ``n_positive - n / 2``.
    order : ndarray of shape (n_pairs,)
        Places in side 0 of the pairs of side 1.
    n_words, n_periods, n_pairs : int

    Raises
    ------
    ValueError
        If the periods have different numbers of words, or no pair is observed in any.
    """

    def __init__(self, counts, allow_none=False):
        sizes = {c.n_words for c in counts}
        if len(sizes) != 1:
            raise ValueError(
                f"counts must have the same words in every period, got {len(counts)} period(s) "
                f"with {sorted(sizes)} words."
            )
        self.n_words, self.n_periods = sizes.pop(), len(counts)
        # columns t * n_words + v: a row of it is a trajectory's pairs in order of time
        positive, negative = (
            sparse.hstack(parts, format="csr")
            for parts in ([c.positive for c in counts], [written_out(c.negative) for c in counts])
        )
        both, n, kappa = merged(positive, negative)
        words = np.repeat(np.arange(self.n_words), np.diff(both.indptr))
        period, context = np.divmod(both.indices.astype(np.int64), self.n_words)
        seen = n > _LEAST
        if not (seen.any() or allow_none):
            raise ValueError("counts have no observed pair in any period.")
        n, kappa, words, period, context = (a[seen] for a in (n, kappa, words, period, context))
        rows = [words * self.n_periods + period, context * self.n_periods + period]
        self.order = np.argsort(rows[1], kind="stable")
        self.n, self.kappa = self.both_sides(n), self.both_sides(kappa)
        self.indices = [context.astype(np.int32), words.astype(np.int32)[self.order]]
        self.indptr = [self._ends(r) for r in rows]
        self.n_pairs = n.size

    def row_work(self, side):
        """Work of each word."""
        return np.diff(self.indptr[side][:: self.n_periods]).astype(float)

    def observations(self, side):
        """Number of observations of each word, in all periods."""
        total = np.concatenate([[0.0], np.cumsum(self.n[side])])
        return np.diff(total[self.indptr[side][:: self.n_periods]])

    def _ends(self, rows):
        per_row = np.bincount(rows, minlength=self.n_words * self.n_periods)
        return np.concatenate([[0], np.cumsum(per_row)]).astype(np.int64)


def period_table_bytes(counts, chains=1):
    """Bytes of a `PeriodPairs`, its Polya-Gamma plans and the buffers of chains, before it is made.

    Expected negatives fill all pairs of their period.
    """
    n_pairs = 0
    for c in counts:
        if isinstance(c.negative, RankOne):
            filled = np.count_nonzero(c.negative.left) * np.count_nonzero(c.negative.right)
            n_pairs += max(filled, c.positive.nnz)
        else:
            n_pairs += c.positive.nnz + c.negative.nnz
    # indices, n, kappa and a plan of two numbers on either side, the order; of every chain, logits
    # and, where the diffusion is learned, the coefficients of their path
    return n_pairs * (2 * (4 + 8 + 8 + 16) + 8 + 32 * chains)


# Rows of logits at a time, as for static embeddings.
_ROWS = 128


class OneSide:
    """A table of pairs by its targets, as `sgns.residuals.Residuals` reads it."""

    def __init__(self, dense, n, kappa, indptr, indices, work, observations):
        self.dense, self.n_words = dense, work.size
        self.n, self.kappa, self.indptr, self.indices = (n,), (kappa,), (indptr,), (indices,)
        self._work, self._observations = work, observations

    def row_work(self, side):
        """Pairs of each target."""
        return self._work

    def observations(self, side):
        """Of each word of a side."""
        return self._observations[side]


class DensePeriod:
    """One period's pairs as whole tables of ``n`` and ``kappa``, (n_words, n_words)."""

    def __init__(self, period, n, kappa):
        self.period, self.n, self.kappa = period, n, kappa

    def table(self):
        """The pairs as `sgns.residuals.Residuals` takes them."""
        work = np.full(len(self.n), float(len(self.n)))
        seen = self.sums(self.n, np.ones((2, work.size)))
        return OneSide(True, self.n, self.kappa, None, None, work, seen)

    def gradient(self, rho, alpha, out_rho, out_alpha):
        """Log likelihood; its gradient into ``out_rho`` and added to ``out_alpha``."""
        return gradient_dense(rho, alpha, self.n, self.kappa, _ROWS, out_rho, out_alpha)

    def curvature(self, rho, alpha):
        """Slopes and residuals of the pairs."""
        slope, residual = np.empty_like(self.n), np.empty_like(self.n)
        curvature_rows_dense(rho, alpha, self.n, self.kappa, slope, residual)
        return slope, residual

    def product(self, rho, alpha, slope, residual, drho, dalpha, out_rho, out_alpha):
        """Minus the Hessian of the pairs times a direction, added to ``out``."""
        c = rho @ dalpha.T
        c += drho @ alpha.T
        c *= slope
        out_rho += c @ alpha
        out_alpha += c.T @ rho
        if residual is not None:
            out_rho -= residual @ dalpha
            out_alpha -= residual.T @ drho

    def expected(self, pairs):
        """Slopes and residuals with these at zero, or left out."""
        return pairs[0], None

    def sums(self, slope, squares):
        """``slope`` times ``squares`` (2, n_words) of the other side, by word of each side."""
        return slope @ squares[1], slope.T @ squares[0]

    def whole(self, pairs):
        """Slopes and residuals as whole tables."""
        slope, residual = pairs
        return slope, np.zeros_like(slope) if residual is None else residual


class SparsePeriod:
    """One period's observed pairs in compressed rows of targets."""

    def __init__(self, period, indptr, indices, n, kappa):
        self.period, self.n, self.kappa = period, n, kappa
        self.indptr, self.indices = indptr, indices
        self.n_words = indptr.size - 1

    def table(self):
        """As of `DensePeriod`."""
        seen = self.sums(self.n, np.ones((2, self.n_words)))
        work = np.diff(self.indptr).astype(float)
        return OneSide(False, self.n, self.kappa, self.indptr, self.indices, work, seen)

    def gradient(self, rho, alpha, out_rho, out_alpha):
        """As of `DensePeriod`."""
        table = 0, self.n_words, self.indptr, self.indices
        return gradient_sparse(*table, rho, alpha, self.n, self.kappa, out_rho, out_alpha)

    def curvature(self, rho, alpha):
        """As of `DensePeriod`, of the pairs in order."""
        slope, residual = np.empty_like(self.n), np.empty_like(self.n)
        table = 0, self.n_words, self.indptr, self.indices
        curvature_rows_sparse(*table, rho, alpha, self.n, self.kappa, slope, residual)
        return slope, residual

    def product(self, rho, alpha, slope, residual, drho, dalpha, out_rho, out_alpha):
        """As of `DensePeriod`."""
        product_pairs(
            self.indptr, self.indices, rho, alpha, slope, residual,
            drho, dalpha, out_rho, out_alpha,
        )  # fmt: skip

    def expected(self, pairs):
        """As of `DensePeriod`."""
        return pairs[0], np.zeros_like(pairs[1])

    def sums(self, slope, squares):
        """As of `DensePeriod`."""
        rows = np.repeat(np.arange(self.n_words), np.diff(self.indptr))
        return (
            np.bincount(rows, slope * squares[1][self.indices], self.n_words),
            np.bincount(self.indices, slope * squares[0][rows], self.n_words),
        )

    def whole(self, pairs):
        """As of `DensePeriod`."""
        rows = np.repeat(np.arange(self.n_words), np.diff(self.indptr))
        out = np.zeros((2, self.n_words, self.n_words))
        out[:, rows, self.indices] = pairs
        return out


def period_tables(pairs, dense=None):
    """Tables of the periods with observations, of a `PeriodPairs`.

    ``dense`` says whether they are whole; None leaves that to the share of pairs observed.
    """
    n_words, n_periods = pairs.n_words, pairs.n_periods
    per_row = np.diff(pairs.indptr[0])
    period = np.repeat(np.tile(np.arange(n_periods), n_words), per_row)
    tables = []
    for t in range(n_periods):
        seen = np.flatnonzero(period == t)
        if seen.size == 0:
            continue
        row = per_row[t::n_periods]
        n, kappa, columns = (a[0][seen] for a in (pairs.n, pairs.kappa, pairs.indices))
        if seen.size >= DENSE_ABOVE * n_words**2 if dense is None else dense:
            whole = np.zeros((2, n_words, n_words))
            whole[:, np.repeat(np.arange(n_words), row), columns] = n, kappa
            tables.append(DensePeriod(t, *whole))
        else:
            indptr = np.concatenate([[0], np.cumsum(row)]).astype(np.int64)
            tables.append(SparsePeriod(t, indptr, columns, n, kappa))
    return tables

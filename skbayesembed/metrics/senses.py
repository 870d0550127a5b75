"""Measures of senses: Brier score, matching to labels, interaction of sense and time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.stats import f as f_distribution

from ..common.checks import check_real
from ..corpus.periods import Times, check_times
from .checks import check_labels, check_numbers

# Rows of probabilities may miss a sum of one by this, as rounded ones do.
_SUM_TOLERANCE = 1e-3
# Share of a word's sum of squares below which a difference is rounding error.
_ROUNDING = 1e-24


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Compute the Brier score of sense probabilities.

    ``mean over d of sum over k of (p(z_d = k) - 1(o_d = k))^2`` over the snippets d whose sense
    ``o_d`` is known (Zafar & Nicholls 2022, eq. 13).

    Parameters
    ----------
    probabilities : array-like of shape (n_snippets, n_senses)
        Rows sum to one.
    labels : array-like of int of shape (n_snippets,)
        Column of the true sense, -1 where unknown.

    Returns
    -------
    float
        From 0, the best, to 2; ``1 - 1 / n_senses`` if all senses have the same probability.

    Raises
    ------
    ValueError
        If shapes do not fit, rows are not probabilities, or no label is known.

    See Also
    --------
    match_senses : Finds which column corresponds to which label.

    Notes
    -----
    The score of a snippet without words depends only on its period and genre; the paper leaves such
    snippets out.

    Examples
    --------
    >>> from skbayesembed.metrics import brier_score
    >>> round(brier_score([[0.8, 0.2], [0.5, 0.5], [1.0, 0.0]], [0, 1, -1]), 2)
    0.29
    """
    probabilities, labels = _known(probabilities, labels)
    truth = np.zeros_like(probabilities)
    truth[np.arange(len(labels)), labels] = 1.0
    return float(np.mean(np.sum((probabilities - truth) ** 2, axis=1)))


def match_senses(probabilities: ArrayLike, labels: ArrayLike) -> np.ndarray:
    """Match the senses of a model, which have no names, to labels.

    Of all permutations of the columns, the result has the largest expected number of correct
    labels. It also has the smallest `brier_score`, since the squares of the probabilities do not
    depend on the order of the columns.

    Parameters
    ----------
    probabilities : array-like of shape (n_snippets, n_senses)
        Rows sum to one.
    labels : array-like of int of shape (n_snippets,)
        True senses from 0, at most as many as there are columns; -1 where unknown.

    Returns
    -------
    order : ndarray of shape (n_senses,), dtype int64
        ``probabilities[:, order]`` has the probability of label ``k`` in column ``k``. Columns
        that no label needs come last.

    Raises
    ------
    ValueError
        If shapes do not fit, rows are not probabilities, or no label is known.

    Examples
    --------
    >>> from skbayesembed.metrics import match_senses
    >>> p = [[0.1, 0.7, 0.2], [0.6, 0.1, 0.3], [0.2, 0.8, 0.0]]
    >>> match_senses(p, [0, 1, 0]).tolist()
    [1, 0, 2]
    """
    probabilities, labels = _known(probabilities, labels)
    correct = np.zeros((probabilities.shape[1],) * 2)
    np.add.at(correct, labels, probabilities)
    return linear_sum_assignment(correct, maximize=True)[1].astype(np.int64, copy=False)


def interaction_level(
    counts: Any, senses: ArrayLike, times: Times, *, level: float = 0.05
) -> float:
    """Return the share of words whose use changes over time differently under different senses.

    A cell is one sense k at one time t. For each word v, its relative frequencies in the cells,
    ``N_vkt / sum over v of N_vkt``, are regressed on a level and a linear trend for each sense, and
    an F-test asks whether the trends differ between senses. The share of words for which they do is
    the measure Lambda of Zafar & Nicholls (2022, section 8, eq. 14). Cells without words are left
    out.

    Parameters
    ----------
    counts : sparse matrix or array-like of shape (n_snippets, n_words)
        How often each word occurs in each snippet.
    senses : array-like of int of shape (n_snippets,)
        True senses, -1 where unknown; such snippets are left out.
    times : array-like of shape (n_snippets,)
        Numbers or dates; each distinct one is a period. Group them first if there are many.
    level : float, default=0.05
        Level of the test.

    Returns
    -------
    float
        The share among all columns of ``counts``; about ``level`` if nothing interacts.

    Raises
    ------
    ValueError
        If shapes do not fit, counts are negative, or there is too little to test: at least two
        senses with several times each are needed, and more cells than levels and trends.

    Notes
    -----
    Trends are linear in time and additive in the frequencies. The test therefore misses words that
    rise and fall again, and words that are too rare.

    Examples
    --------
    >>> from skbayesembed.datasets import make_senses
    >>> from skbayesembed.metrics import interaction_level
    >>> simulation = make_senses(5000, 100, model="gasc", n_periods=9, random_state=0)
    >>> interaction_level(simulation.counts, simulation.senses, simulation.times)
    0.35
    """
    check_real("level", level, 0, high=1)
    counts = _check_counts(counts)
    n_snippets = counts.shape[0]
    senses = check_labels(senses, "senses", n_snippets)
    times = check_times(times)
    if len(times) != n_snippets:
        raise ValueError(
            f"times must have one entry for each of the {n_snippets} snippets, got {len(times)}."
        )
    kinds, when, frequencies = _cell_frequencies(counts, senses, times)
    p = _interaction_p_values(kinds, when, frequencies)
    return float(np.mean(p < level))


# ---------------------------------------------------------------------------------------------


def _known(probabilities, labels):
    """Rows of probabilities whose label is known, and these labels."""
    probabilities = check_numbers(probabilities, "probabilities")
    if probabilities.ndim != 2 or not probabilities.shape[1]:
        raise ValueError(
            f"probabilities must have shape (n_snippets, n_senses), got {probabilities.shape}."
        )
    labels = check_labels(labels, "labels", len(probabilities))
    known = labels >= 0
    if not known.any():
        raise ValueError("labels must have at least one known sense, got none but -1.")
    if labels.max() >= probabilities.shape[1]:
        raise ValueError(
            f"labels must be columns of probabilities, from 0 to {probabilities.shape[1] - 1}, "
            f"got {labels.max()}."
        )
    off = np.abs(probabilities.sum(axis=1) - 1.0)
    if probabilities.min() < 0 or off.max() > _SUM_TOLERANCE:
        raise ValueError("probabilities must be at least 0 and sum to one in each row.")
    return probabilities[known], labels[known]


def _check_counts(counts):
    """Counts as a csr matrix of finite numbers of at least 0."""
    if not sparse.issparse(counts):
        counts = sparse.csr_array(np.atleast_2d(check_numbers(counts, "counts")))
    counts = sparse.csr_array(counts, dtype=np.float64)
    if not counts.shape[1]:
        raise ValueError("counts must have at least one word.")
    if counts.nnz and not (np.isfinite(counts.data).all() and counts.data.min() >= 0):
        raise ValueError("counts must be finite and not negative.")
    return counts


def _cell_frequencies(counts, senses, times):
    """Sense, time and relative frequencies of all words in each cell with words."""
    rows = np.flatnonzero(senses >= 0)
    cells, cell = np.unique(
        np.column_stack([senses[rows], times[rows]]), axis=0, return_inverse=True
    )
    member = sparse.csr_array(
        (np.ones(len(rows)), (cell.ravel(), rows)), shape=(len(cells), len(senses))
    )
    words = (member @ counts).toarray()
    totals = words.sum(axis=1)
    seen = totals > 0
    return *cells[seen].T, words[seen] / totals[seen, None]


def _interaction_p_values(kinds, when, frequencies):
    """P-value of the interaction for each word; one where the word does not vary."""
    levels = (kinds[:, None] == np.unique(kinds)).astype(np.float64)
    # time is standardised, on which the test does not depend
    spread = when.std() if when.size else 0.0
    trend = (when - when.mean())[:, None] / spread if spread > 0 else 0.0 * when[:, None]
    common, own = _basis(np.hstack([levels, trend])), _basis(np.hstack([levels, levels * trend]))
    n_effects = own.shape[1] - common.shape[1]
    freedom = len(frequencies) - own.shape[1]
    if n_effects < 1 or freedom < 1:
        raise ValueError(
            "senses and times must have at least two senses with several times each, and more "
            f"cells of a sense and a time than trends and levels; got {len(frequencies)} cells "
            f"with words, {levels.shape[1]} senses and {len(np.unique(when))} times."
        )
    total = np.sum(frequencies**2, axis=0)
    left = np.sum((frequencies - own @ (own.T @ frequencies)) ** 2, axis=0)
    gained = np.sum((frequencies - common @ (common.T @ frequencies)) ** 2, axis=0) - left
    tested = gained > _ROUNDING * total
    ratio = np.zeros(len(total))
    with np.errstate(divide="ignore"):
        ratio[tested] = (gained[tested] / n_effects) / (left[tested] / freedom)
    return f_distribution.sf(ratio, n_effects, freedom)


def _basis(design):
    """Orthonormal basis of the columns of a design, which may be linearly dependent."""
    u, s, _ = np.linalg.svd(design, full_matrices=False)
    return u[:, s > 1e-10 * s.max(initial=0.0)]

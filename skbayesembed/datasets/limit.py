"""The vectors that skip-gram with negative samples tends to as text grows without bound."""

from __future__ import annotations

import numpy as np

from ..inference.mode import find_mode_only
from ..inference.threads import OneBlasThread
from ..sgns.counting import RankOne
from ..sgns.data import pair_table
from ..sgns.model import SGNSModel
from ..sgns.pairs import PairCounts

# Documents that stand for infinitely many, in observations of the rarest word: beside them a prior
# of precision 1 moves nothing by more than about a hundred millionth.
_OBSERVATIONS = 1e9
# The search ends at a scaled gradient of this share of the first, and at this many steps.
_TOL, _MOST_STEPS = 2e-13, 5000


def limit_vectors(
    positive: np.ndarray, negative: RankOne, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the mode of the model when counts are these times a number that grows without bound.

    The prior vanishes but for what it alone decides: rho and alpha have the same moments,
    ``rho' rho = alpha' alpha``, here a diagonal matrix that descends. The search starts from the
    best approximation of log(positive / negative) by a product of ``n_components`` columns, in
    which a pair weighs as much as its words do.

    Parameters
    ----------
    positive : ndarray of shape (n_words, n_words)
        Expected counts, all > 0.
    negative : RankOne of shape (n_words, n_words)
        Expected counts of negative pairs.
    n_components : int

    Returns
    -------
    rho, alpha : ndarray of shape (n_words, n_components)
        Of the two signs of a component, that in which its largest entry of rho is positive.
    """
    vectors = _start(positive, negative, n_components)
    scale = _OBSERVATIONS / min(positive.sum(axis=0).min(), positive.sum(axis=1).min())
    counts = PairCounts(positive * scale, negative.scaled(scale))
    return _search(SGNSModel(pair_table(counts), n_components, 1.0), vectors)


def balanced(rho: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share the singular values of rho alpha' out equally between both sides.

    Parameters
    ----------
    rho, alpha : ndarray of shape (n_words, n_components)

    Returns
    -------
    rho, alpha : ndarray of shape (n_words, n_components)
        With the same products; components descend.
    """
    (q, r), (p, s) = np.linalg.qr(rho), np.linalg.qr(alpha)
    left, values, right = np.linalg.svd(r @ s.T)
    rho, alpha = q @ (left * np.sqrt(values)), p @ (right.T * np.sqrt(values))
    largest = np.argmax(np.abs(rho), axis=0)
    signs = np.where(rho[largest, np.arange(rho.shape[1])] < 0, -1.0, 1.0)
    return rho * signs, alpha * signs


def _start(positive, negative, n_components):
    """Weighted truncated singular value decomposition of the logits that fit every pair."""
    total = negative.toarray()
    logits = np.log(positive) - np.log(total)
    weight = positive * total / (positive + total)
    left, right = np.sqrt(weight.sum(axis=1)), np.sqrt(weight.sum(axis=0))
    u, values, v = np.linalg.svd(left[:, None] * logits * right, full_matrices=False)
    roots = np.sqrt(values[:n_components])
    rho = u[:, :n_components] * roots / left[:, None]
    alpha = v[:n_components].T * roots / right[:, None]
    return balanced(rho, alpha)


def _search(model, vectors):
    """The mode from given vectors, balanced."""
    start = model.pack(dict(zip(("rho", "alpha"), vectors, strict=True)))
    with OneBlasThread():
        theta = find_mode_only(model, start, max_iter=_MOST_STEPS, tol=_TOL)
    return balanced(*model.unpack(theta).values())

"""Whether chains drift together: their first draws against their last ones.

Split R-hat compares the halves of chains with what draws vary within them, so that of chains that
drift slowly beside a large variation it hardly tells. Here the difference is held against its own
error (Geweke 1992, Bayesian Statistics 4), that of means of autocorrelated draws.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtr

from .mixing import effective

# Parts of the chains that are compared, and draws of a part below which nothing is said.
_PARTS, _FEWEST = 3, 10
# Effective draws for every degree of freedom of the error, which is itself an estimate: with these,
# chains at rest go beyond a limit of one in 1000 in .3 to 1.5 of 1000 entries, whether they have 20
# effective draws or 4000.
_PIECE = 4.0
# Probability below which a normal deviate says no more.
_SMALLEST = 1e-200


def drift(draws: np.ndarray) -> np.ndarray:
    """How surely the last third of the draws differs in mean from the first, a normal deviate.

    Parameters
    ----------
    draws : ndarray of shape (chain, draw, *shape)

    Returns
    -------
    ndarray of shape (*shape)
        Standard normal for chains at rest, as far as effective draws tell: a difference in
        standard errors where they are many, and less where the error itself is uncertain. NaN of
        fewer than 30 draws, and of what never changes.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.trend import drift
    >>> noise = np.random.default_rng(0).normal(size=(2, 300))
    >>> bool(abs(drift(noise)) < 4), bool(drift(noise + np.arange(300) / 100) > 4)
    (True, True)
    """
    draws = np.asarray(draws, dtype=float)
    n, shape = draws.shape[1] // _PARTS, draws.shape[2:]
    if n < _FEWEST:
        return np.full(shape, np.nan)
    flat = draws.reshape(*draws.shape[:2], -1).transpose(2, 0, 1)
    difference = flat[..., -n:].mean(axis=(1, 2)) - flat[..., :n].mean(axis=(1, 2))
    left = _without_line(flat)
    size = effective(left)
    error = left.reshape(len(left), -1).std(axis=1, ddof=1) * np.sqrt(2 * _PARTS / size)
    found = np.full(len(flat), np.nan)
    # beside rounding
    moves = error > 1e-12 * np.max(np.abs(flat), axis=(1, 2), initial=0.0)
    t = np.abs(difference[moves]) / error[moves]
    beyond = stdtr(np.maximum((size[moves] - 2) / _PIECE, 1.0), -t)
    found[moves] = -ndtri(np.maximum(beyond, _SMALLEST)) * np.sign(difference[moves])
    return found.reshape(shape)


def _without_line(flat):
    """Draws (entries, chain, draw) without the line in time that chains have in common.

    Means of single chains stay: how far they are apart tells how slowly chains move.
    """
    time = np.linspace(-1.0, 1.0, flat.shape[2])
    path = flat.mean(axis=1)
    slope = (path - path.mean(axis=1, keepdims=True)) @ time / np.sum(time**2)
    return flat - slope[:, None, None] * time

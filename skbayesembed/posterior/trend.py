"""Whether chains drift together: their first draws against their last ones.

Split R-hat compares the halves of chains with what draws vary within them, so that of chains that
drift slowly beside a large variation it hardly tells. Here the difference is held against its own
error (Geweke 1992, Bayesian Statistics 4), that of means of autocorrelated draws.
"""

from __future__ import annotations

import numpy as np

from .mixing import effective

# Parts of the chains that are compared, and draws of a part below which nothing is said.
_PARTS, _FEWEST = 3, 10


def drift(draws: np.ndarray) -> np.ndarray:
    """Mean of the last third of the draws minus that of the first third, in standard errors.

    Parameters
    ----------
    draws : ndarray of shape (chain, draw, *shape)

    Returns
    -------
    ndarray of shape (*shape)
        NaN of fewer than 30 draws, and of what never changes.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.trend import drift
    >>> noise = np.random.default_rng(0).normal(size=(2, 300))
    >>> bool(abs(drift(noise)) < 5), bool(drift(noise + np.arange(300) / 100) > 5)
    (True, True)
    """
    draws = np.asarray(draws, dtype=float)
    n, shape = draws.shape[1] // _PARTS, draws.shape[2:]
    if n < _FEWEST:
        return np.full(shape, np.nan)
    flat = draws.reshape(*draws.shape[:2], -1).transpose(2, 0, 1)
    first, last = flat[..., :n], flat[..., -n:]
    difference = last.mean(axis=(1, 2)) - first.mean(axis=(1, 2))
    error = np.sqrt(_variance(first) + _variance(last))
    found = np.full(len(flat), np.nan)
    np.divide(difference, error, out=found, where=error > 0)
    return found.reshape(shape)


def _variance(part):
    """Variances of the means of parts (entries, chain, draw), around a mean of each chain."""
    centered = part - part.mean(axis=2, keepdims=True)
    n_chains, n = part.shape[1:]
    # chains one by one, as their means are not to count
    size = sum(effective(centered[:, [c]]) for c in range(n_chains))
    # of a part that is a trend itself, at least one draw a chain
    return centered.var(axis=(1, 2)) * n / (n - 1) / np.fmax(size, n_chains)

"""Summaries of draws: intervals and convergence diagnostics."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.utils import Bunch

from ..common.checks import check_prob
from .arviz import array_stats

# Entries are worked on in blocks of about this size, which bounds the memory of the copies.
_BLOCK_BYTES = 2**23

ESS_METHODS = ("bulk", "tail", "mean", "sd", "median", "mad")
# Quantiles whose effective sample size is that of the tails.
_TAILS = (0.05, 0.95)
# With fewer draws in a chain there are no diagnostics.
_FEWEST_DRAWS = 4


def hdi_interval(x: ArrayLike, *, prob: float = 0.9, axis: int = 0) -> np.ndarray:
    """Highest density interval of draws: the narrowest one that holds ``prob`` of them.

    Parameters
    ----------
    x : array-like
        Draws along one axis; float32 and float64 are kept, other types become float64.
    prob : float, default=0.9
        Probability in the interval, strictly between 0 and 1.
    axis : int, default=0
        The axis of the draws.

    Returns
    -------
    ndarray of shape (..., 2)
        ``(low, high)`` in the last axis; the axes before it are those of ``x`` without ``axis``.
        Both are NaN where a draw is NaN; both are the draw where there is only one.

    Raises
    ------
    ValueError
        If ``prob`` is not in (0, 1), ``axis`` does not exist, or there are no draws along it.

    Notes
    -----
    The window spans ``floor(prob * n) + 1`` of the ``n`` sorted draws, the convention of
    ``arviz_stats.hdi(method="nearest")``; the first of equally narrow windows is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior import hdi_interval
    >>> hdi_interval(np.array([0.0, 5.0, 1.0, 9.0, 2.0]), prob=0.5)
    array([0., 2.])
    """
    check_prob(prob)
    x = np.asarray(x)
    if not isinstance(axis, Integral) or not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must be an axis of x, which has {x.ndim}, got {axis!r}.")
    n = x.shape[axis]
    if n == 0:
        raise ValueError(f"x must have at least one draw along axis {axis}, got shape {x.shape}.")
    dtype = x.dtype if np.issubdtype(x.dtype, np.floating) else np.dtype(np.float64)
    rest = np.moveaxis(x, axis, -1)
    rows = rest.reshape(-1, n)
    out = np.empty((len(rows), 2), dtype=dtype)
    step = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, len(rows), step):
        block = np.array(rows[start : start + step], dtype=dtype, order="C")
        block.sort(axis=1)
        out[start : start + step] = _narrowest(block, prob)
    return out.reshape(*rest.shape[:-1], 2)


def _narrowest(ordered, prob):
    """Ends of the narrowest window in each row of sorted draws (rows, n)."""
    n = ordered.shape[1]
    span = min(int(np.floor(prob * n)), n - 1)
    with np.errstate(invalid="ignore"):
        width = np.subtract(ordered[:, span:], ordered[:, : n - span], dtype=np.float64)
    width[np.isnan(width)] = np.inf  # windows from infinity to infinity
    first = np.argmin(width, axis=1)[:, None]
    ends = np.take_along_axis(ordered, np.hstack([first, first + span]), axis=1)
    ends[np.isnan(ordered[:, -1])] = np.nan  # NaN sorts last
    return ends


def summarise(draws: np.ndarray, prob: float, **more: Any) -> Bunch:
    """Summarise draws along the first axis.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, ...)
    prob : float
        Probability in the interval.
    **more
        Further entries of the result.

    Returns
    -------
    Bunch
        ``mean`` and ``sd`` (...), ``interval`` (..., 2), ``draws`` as given. The standard deviation
        of a single draw is 0.
    """
    return Bunch(
        mean=draws.mean(axis=0),
        sd=draws.std(axis=0, ddof=1) if len(draws) > 1 else np.zeros(draws.shape[1:]),
        interval=hdi_interval(draws, prob=prob),
        draws=draws,
        **more,
    )


def rhat(draws: np.ndarray) -> np.ndarray:
    """Rank-normalised split R-hat of draws (chain, draw, ...); see `Posterior.rhat`."""
    return _by_entry(draws, _rhat)


def ess(draws: np.ndarray, method: str = "bulk") -> np.ndarray:
    """Effective sample size of draws (chain, draw, ...); see `Posterior.ess`."""
    if method not in ESS_METHODS:
        allowed = ", ".join(repr(m) for m in ESS_METHODS)
        raise ValueError(f"method must be one of {allowed}, got {method!r}.")
    prob = _TAILS if method == "tail" else None
    return _by_entry(draws, lambda x: array_stats().ess(x, method=method, prob=prob))


def mcse(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the posterior mean, of draws (chain, draw, ...)."""
    return _by_entry(draws, lambda x: array_stats().mcse(x, method="mean"))


def _by_entry(draws, statistic):
    """Apply a statistic to each entry of draws (chain, draw, ...); NaN where it is undefined.

    ``statistic`` takes an array (entries, chain, draw) and returns one (entries,).
    """
    n_chains, n_draws, *shape = draws.shape
    out = np.full(int(np.prod(shape)), np.nan)
    if n_draws < _FEWEST_DRAWS:
        return out.reshape(shape)
    columns = draws.reshape(n_chains * n_draws, -1)
    step = max(1, _BLOCK_BYTES // (8 * len(columns)))
    with np.errstate(all="ignore"):  # chains stuck at different values divide by zero
        for start in range(0, columns.shape[1], step):
            block = np.array(columns[:, start : start + step].T, dtype=np.float64, order="C")
            low, high = block.min(axis=1), block.max(axis=1)
            good = np.isfinite(low) & np.isfinite(high) & (low < high)
            if good.any():
                values = statistic(block[good].reshape(-1, n_chains, n_draws))
                out[start : start + step][good] = values
    return out.reshape(shape)


def _rhat(x):
    """R-hat of draws (entries, chain, draw), (entries,)."""
    if x.shape[1] > 1:
        return array_stats().rhat(x)
    # arviz-stats takes no fewer than two chains: this is its formula for the halves of one
    half = x.shape[2] // 2
    halves = np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    bulk, tail = (
        array_stats().rhat(_normal_scores(h), method="identity") for h in (halves, folded)
    )
    return np.fmax(bulk, tail)


def _normal_scores(x):
    """Normal quantiles of the ranks within each entry (Vehtari et al. 2021, eq. 14)."""
    rank = rankdata(x.reshape(len(x), -1), axis=1)
    return ndtri((rank - 0.375) / (rank.shape[1] + 0.25)).reshape(x.shape)

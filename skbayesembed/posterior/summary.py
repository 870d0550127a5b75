"""Summaries of draws: intervals and convergence diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.utils import Bunch

from ..common.checks import (
    as_floats,
    check_choice,
    check_prob,
    is_whole,
)
from .mixing import Draws

# Entries are worked on in blocks of about this size, which bounds the memory of the copies.
_BLOCK_BYTES = 2**23

# Quantiles whose effective sample size is that of the tails.
_TAILS = (0.05, 0.95)
_ESS = {
    "bulk": Draws.ess_bulk,
    "tail": lambda x: x.ess_tail(_TAILS),
    "mean": Draws.ess_mean,
    "sd": Draws.ess_sd,
    "median": lambda x: x.ess_quantile(0.5),
    "mad": Draws.ess_mad,
}
# Resamples behind the error of an end, which they tell to 7 %, and the fewest draws resampled.
_RESAMPLES, _FEWEST_RESAMPLED = 100, 20
# With fewer draws in a chain there are no diagnostics.
_FEWEST_DRAWS = 4
# Of short runs: standard deviations of what chance gives that R-hat leaves out, and the largest
# autocorrelation that is told from chains that do not move.
_CHANCE, _SLOWEST = 2.0, 0.95


def hdi_interval(x: ArrayLike, *, prob: float = 0.9, axis: int = 0) -> np.ndarray:
    """Return the highest density interval: the narrowest one that contains ``prob`` of the draws.

    Parameters
    ----------
    x : array-like
        Draws along one axis; float32 and float64 are kept, other dtypes become float64.
    prob : float, default=0.9
        Probability in the interval, strictly between 0 and 1.
    axis : int, default=0
        The axis of the draws.

    Returns
    -------
    ndarray of shape (..., 2)
        ``(low, high)`` in the last axis; the axes before it are those of ``x`` without ``axis``.
        Both are NaN if a draw is NaN, and if there is only one, a point estimate.

    Raises
    ------
    ValueError
        If ``prob`` is not in (0, 1), ``axis`` does not exist, or there are no draws along it.

    Notes
    -----
    The window spans ``floor(prob * n) + 1`` of the ``n`` sorted draws, as in
    ``arviz_stats.hdi(method="nearest")``. Of equally narrow windows, the first is used.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior import hdi_interval
    >>> hdi_interval(np.array([0.0, 5.0, 1.0, 9.0, 2.0]), prob=0.5)
    array([0., 2.])
    """
    check_prob(prob)
    try:
        x = np.asarray(x)
        x = x if x.dtype.kind == "f" else as_floats(x)
    except ValueError as error:
        raise ValueError(f"x must be an array of numbers: {error}") from error
    if not is_whole(axis) or not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must be an axis of x, which has {x.ndim}, got {axis!r}.")
    n = x.shape[axis]
    if n == 1:
        shape = np.delete(x.shape, axis)
        return np.full((*shape, 2), np.nan, dtype=x.dtype)
    if n == 0:
        raise ValueError(f"x must have at least one draw along axis {axis}, got shape {x.shape}.")
    rest = np.moveaxis(x, axis, -1)
    rows = rest.reshape(-1, n)
    out = np.empty((len(rows), 2), dtype=x.dtype)
    step = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, len(rows), step):
        block = np.array(rows[start : start + step], dtype=x.dtype, order="C")
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
    """Summarize draws along the first axis.

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
        ``mean`` and ``sd`` (...), ``interval`` (..., 2), ``draws`` as given. Of a single draw, a
        point estimate, standard deviation and interval are NaN: it is not certain.
    """
    return Bunch(
        mean=draws.mean(axis=0),
        sd=draws.std(axis=0, ddof=1) if len(draws) > 1 else np.full(draws.shape[1:], np.nan)[()],
        interval=hdi_interval(draws, prob=prob),
        draws=draws,
        **more,
    )


def interval_errors(
    draws: np.ndarray, prob: float, n_chains: int | None = None, n_runs: int = 1
) -> np.ndarray:
    """Monte Carlo standard errors of the ends of highest density intervals.

    A bootstrap of as many independent draws as the effective sample size at the ends. The error of
    a quantile would be half of it, as the narrowest of all windows varies more than a quantile
    does. Correct to a tenth for independent draws, up to half too large if chains are strongly
    autocorrelated.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, ...)
        Draws, one chain after the other.
    prob : float
        Probability in the interval.
    n_chains : int, optional
        Number of chains; None for independent draws.
    n_runs : int, default=1
        Runs whose draws take turns in each chain, or among the independent ones.

    Returns
    -------
    ndarray of shape (..., 2)
        Of ``(low, high)``. NaN where there are fewer than 20 draws, or an entry is constant.
    """
    n, *shape = draws.shape
    out = np.full((int(np.prod(shape)), 2), np.nan)
    if n < _FEWEST_RESAMPLED or (n_chains and n // n_chains < _FEWEST_DRAWS):
        return out.reshape(*shape, 2)
    entries = np.ascontiguousarray(draws.reshape(n, -1).T, dtype=np.float64)
    moving = np.ptp(entries, axis=1) > 0
    sizes = np.full(len(entries), n)
    if (n_chains is not None or n_runs > 1) and moving.any():
        sizes[moving] = _worth(entries[moving], prob, n_chains, n_runs)
    # always the same resamples: what is asked twice has one answer
    rng = np.random.default_rng(0)
    for i in np.flatnonzero(moving & np.isfinite(entries).all(axis=1)):
        chosen = rng.integers(n, size=(_RESAMPLES, sizes[i]))
        out[i] = hdi_interval(entries[i][chosen], prob=prob, axis=1).std(axis=0, ddof=1)
    return out.reshape(*shape, 2)


def _worth(entries, prob, n_chains, n_runs):
    """Independent draws that those of each entry are worth at the ends of its interval."""
    n, found = entries.shape[1], []
    for end in hdi_interval(entries, prob=prob, axis=1).T:
        below = (entries <= end[:, None]).astype(float).T.reshape(n_chains or 1, -1, len(entries))
        with np.errstate(all="ignore"):
            if n_chains is None:
                size = _of_runs(below, within_runs(below, n_runs), n, n_runs)
            else:
                size = ess(below, "mean", n_runs)
        # of an interval that ends at the largest draw no draw is beyond
        found.append(np.where(np.ptp(below, axis=(0, 1)) > 0, size, n))
    worth = np.nan_to_num(np.min(found, axis=0), nan=_FEWEST_RESAMPLED)
    return np.clip(np.round(worth), _FEWEST_RESAMPLED, n).astype(int)


def rhat(draws: np.ndarray, n_runs: int = 1) -> np.ndarray:
    """Rank-normalized split R-hat of draws (chain, draw, ...); see `Posterior.rhat`.

    Of ``n_runs`` in turn (`inference.pooling`), that of all their chains, each run about its mean,
    not split, and beyond what autocorrelation and chance give in chains as short as these.
    """
    if n_runs == 1:
        return _by_entry(draws, lambda x: (x.rhat(),))[0]
    return _rhat_of_runs(within_runs(draws, n_runs), len(draws))


def _rhat_of_runs(draws, each):
    """Rank-normalized R-hat of chains (chain, draw, ...), ``each`` of them about one mean.

    Beyond what autocorrelation and chance give: means of chains as short as these lie apart though
    all chains are where they belong (AR(1) of .8, 20 draws each: R-hat would be 1.25).
    """
    n_chains, n, *shape = draws.shape
    if n < _FEWEST_DRAWS or each < 2:
        return np.full(shape, np.nan)
    ranks = rankdata(draws.reshape(n_chains * n, -1), axis=0)
    z = ndtri((ranks - 0.375) / (n_chains * n + 0.25)).reshape(n_chains, n, -1)
    among = z.mean(axis=1).var(axis=0) * each / (each - 1)
    with np.errstate(all="ignore"):
        # of the mean of a chain, in units of the variance of a draw
        share = _time_of_runs(z) / n
        variance = z.var(axis=1).mean(axis=0) / (1.0 - share)
        chance = _CHANCE * np.sqrt(2.0 * each / (n_chains * (each - 1)))
        beyond = np.maximum(among / variance - share * (1.0 + chance), 0.0)
        return np.sqrt(1.0 + beyond).reshape(shape)


def _time_of_runs(z):
    """Draws that make one independent one, of AR(1) chains (chain, draw, entry) of any means."""
    n = z.shape[1]
    about = z - z.mean(axis=1, keepdims=True)
    lagged = np.sum(about[:, 1:] * about[:, :-1], axis=(0, 1)) / np.sum(about**2, axis=(0, 1))
    # of a chain about its own mean it is too small by (1 + 3 rho) / n (Kendall 1954)
    rho = np.clip((n * lagged + 1.0) / max(n - 3, 1), 0.0, _SLOWEST)
    lags = np.arange(1, n)[:, None]
    return 1.0 + 2.0 * np.sum((1.0 - lags / n) * rho**lags, axis=0)


def ess(draws: np.ndarray, method: str = "bulk", n_runs: int = 1) -> np.ndarray:
    """Effective sample size of draws (chain, draw, ...); see `Posterior.ess`.

    Of ``n_runs`` in turn, what the runs and the draws within them are worth together.
    """
    check_choice("method", method, tuple(_ESS))
    within = within_runs(draws, n_runs)
    return _of_runs(draws, within, _by_entry(within, lambda x: (_ESS[method](x),))[0], n_runs)


def within_runs(draws: np.ndarray, n_runs: int) -> np.ndarray:
    """Draws of runs in turn as chains of their own, about the mean of each run.

    Parameters
    ----------
    draws : ndarray of shape (chain, draw, ...)
        Draw ``i`` of a chain is of run ``i % n_runs``.
    n_runs : int

    Returns
    -------
    ndarray of shape (n_runs * chain, draw / n_runs, ...)
    """
    if n_runs == 1:
        return draws
    n_chains, n_draws, *shape = draws.shape
    runs = np.moveaxis(draws.reshape(n_chains, n_draws // n_runs, n_runs, *shape), 2, 0)
    runs = runs - runs.mean(axis=(1, 2), keepdims=True)
    return runs.reshape(n_runs * n_chains, n_draws // n_runs, *shape)


def _of_runs(draws, within, size, n_runs):
    """Effective size of draws of which ``size`` are effective within runs."""
    if n_runs == 1:
        return size
    inside = within.var(axis=(0, 1))
    # what the means of runs vary by beyond their Monte Carlo error
    with np.errstate(all="ignore"):
        among = np.maximum(draws.var(axis=(0, 1)) - inside - inside * n_runs / size, 0.0)
        share = among / (among + inside)
        return 1.0 / (share / n_runs + (1.0 - share) / size)


def places_within(
    shapes: Mapping[str, Sequence[int]], axes: Mapping[str, int], most: int | None
) -> dict[str, int]:
    """How many places of parameters a table has room for, along an axis of each.

    Parameters with few entries have all of them; the others share the rest of the rows by their
    sizes.

    Parameters
    ----------
    shapes : mapping of str to sequence of int
    axes : mapping of str to int
        Of parameters that are no single numbers.
    most : int or None
        Rows of the table; None for all.

    Returns
    -------
    dict of str to int
        Of those parameters alone that have more places.

    Examples
    --------
    >>> from skbayesembed.posterior.summary import places_within
    >>> shapes = {"rho": (1000, 5), "alpha": (1000, 5), "scale": ()}
    >>> places_within(shapes, {"rho": 0, "alpha": 0}, 101), places_within(shapes, {}, None)
    ({'rho': 10, 'alpha': 10}, {})
    """
    sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
    if most is None or sum(sizes.values()) <= most:
        return {}
    large = {name: sizes[name] for name in axes if sizes[name] > most / len(sizes)}
    left = most - sum(size for name, size in sizes.items() if name not in large)
    share = left / sum(large.values()) if large else 1.0
    along = {name: shapes[name][axes[name]] for name in large}
    found = {name: max(1, int(share * n)) for name, n in along.items()}
    return {name: n for name, n in found.items() if n < along[name]}


def mcse(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the posterior mean, of draws (chain, draw, ...)."""
    return _by_entry(draws, lambda x: (x.mcse_mean(),))[0]


def diagnostics(draws: np.ndarray, n_runs: int = 1) -> dict[str, np.ndarray]:
    """`mcse`, `ess` of bulk and tails, and `rhat`, of draws (chain, draw, ...): dict of arrays."""
    names = ("mcse", "ess_bulk", "ess_tail", "rhat")

    def all_of(x):
        return x.mcse_mean(), x.ess_bulk(), x.ess_tail(_TAILS), x.rhat()

    within = within_runs(draws, n_runs)
    found = dict(zip(names, _by_entry(within, all_of, len(names)), strict=True))
    if n_runs > 1:
        for name in ("ess_bulk", "ess_tail"):
            found[name] = _of_runs(draws, within, found[name], n_runs)
        found["rhat"] = _rhat_of_runs(within, len(draws))
        found["mcse"] = draws.std(axis=(0, 1)) / np.sqrt(found["ess_bulk"])
    return found


def _by_entry(draws, statistics, n_statistics=1):
    """Apply statistics to each entry of draws (chain, draw, ...); NaN where they are undefined.

    ``statistics`` takes `Draws` and returns a tuple of arrays (entries,).
    """
    n_chains, n_draws, *shape = draws.shape
    out = np.full((n_statistics, int(np.prod(shape))), np.nan)
    if n_draws < _FEWEST_DRAWS:
        return out.reshape(n_statistics, *shape)
    columns = draws.reshape(n_chains * n_draws, -1)
    step = max(1, _BLOCK_BYTES // (8 * len(columns)))
    with np.errstate(all="ignore"):  # chains stuck at different values divide by zero
        for start in range(0, columns.shape[1], step):
            block = np.array(columns[:, start : start + step].T, dtype=np.float64, order="C")
            low, high = block.min(axis=1), block.max(axis=1)
            good = np.isfinite(low) & np.isfinite(high) & (low < high)
            if good.any():
                found = statistics(Draws(block[good].reshape(-1, n_chains, n_draws)))
                for row, values in zip(out, found, strict=True):
                    row[start : start + step][good] = values
    return out.reshape(n_statistics, *shape)

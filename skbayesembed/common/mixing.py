"""Warnings that chains have not mixed, or that a sampler hardly moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning

from .searches import Unmixed
from .warnings import warn_user

# What is watched beside prevalences, as messages call it.
LIKELIHOOD = "the log likelihood"
# R-hat above which chains count as not mixed.
RHAT_LIMIT = 1.05
# Single coordinates depend on the rotation and converge later than invariant quantities, so their
# limit is looser.
COORDINATE_RHAT_LIMIT = 1.2
# Shares of topics move in small steps, and have no intervals above this one.
SHARE_RHAT_LIMIT = 1.1
# R-hats above this are those of chains that do not move.
_STANDS = 100.0
# Effective draws below which ends of intervals are not to be relied on.
FEW_DRAWS = 100
# Effective draws below which R-hat itself says little.
_HARDLY_ANY = 25
# Draws for every one of these that are asked for, so that fewer effective ones are a surprise.
DRAWS_A_PIECE = 4
# Probability that a fit of chains at rest is said to drift.
_DRIFT = 1e-3
# Draws in a row that are one state from which a chain stands still: at least so many, this share of
# a chain, and so many times the longest that is expected of moves that are refused now and then.
_STILL, _STILL_SHARE, _TIMES = 20, 0.05, 3.0
# Share of accepted moves below which a sampler counts as stuck.
ACCEPTANCE_LIMIT = 0.2


def beyond(value: float, limit: float) -> str:
    """An R-hat above a limit as text, with as many digits as show that it is above.

    Of chains that do not move the digits say nothing.

    Examples
    --------
    >>> from skbayesembed.common.mixing import beyond
    >>> beyond(1.0524, 1.05), beyond(1.0502, 1.05), beyond(1.2345, 1.05), beyond(9.81e15, 1.05)
    ('1.052', '1.0502', '1.23', 'more than 100')
    """
    if value > _STANDS:
        return f"more than {_STANDS:.0f}"
    for digits in range(3, 16):
        text = f"{value:.{digits}g}"
        if float(text) > limit:
            break
    return text


def rhat_text(value: float) -> str:
    """An R-hat as text, of chains that do not move without digits, as of `beyond`.

    Examples
    --------
    >>> from skbayesembed.common.mixing import rhat_text
    >>> rhat_text(1.00249), rhat_text(9.81e15)
    ('1.002', 'more than 100')
    """
    return beyond(value, _STANDS) if value > _STANDS else f"{value:.3f}"


def warn_unless_mixed(
    rhat: ArrayLike, what: str, limit: float = RHAT_LIMIT, message: str | None = None
) -> float:
    """Warn if the largest R-hat exceeds the limit.

    An infinite R-hat (each chain stays at a value of its own) is above every limit. NaN (no
    diagnosis is possible) is left out.

    Parameters
    ----------
    rhat : array-like
    what : str
        What the R-hat is of, for the message.
    limit : float
    message : str, optional
        In place of the usual one, which does not know what the entries are.

    Returns
    -------
    float
        The largest R-hat; NaN if all are.

    Warns
    -----
    ConvergenceWarning
        If it exceeds the limit.
    """
    rhat = np.asarray(rhat, dtype=float)
    known = rhat[~np.isnan(rhat)]
    largest = float(known.max()) if known.size else float("nan")
    if largest > limit:
        usual = (
            f"The chains have not mixed: the largest split R-hat of {what} is "
            f"{beyond(largest, limit)}, above {limit}. Raise warmup and draws."
        )
        warn_user(message or usual, Unmixed)
    return largest


def note_mixing(
    attrs: dict[str, Any],
    rhat: ArrayLike,
    what: str,
    *,
    name: str = "max_rhat",
    limit: float = RHAT_LIMIT,
    message: str | None = None,
) -> None:
    """Do as `warn_unless_mixed`, and note the outcome in ``attrs``.

    Parameters
    ----------
    attrs : dict
        The largest R-hat goes into ``attrs[name]``, and whether it is within the limit into
        ``attrs["converged"]``. The latter stays False once any part of a model has not mixed, and
        is left as it was if no diagnosis is possible.
    rhat, what, limit, message
        As of `warn_unless_mixed`.
    name : str
        A name of `contracts.ATTRS`.

    Warns
    -----
    ConvergenceWarning
        If the largest R-hat exceeds the limit.
    """
    largest = warn_unless_mixed(rhat, what, limit, message)
    attrs[name] = largest
    if not np.isnan(largest):
        attrs["converged"] = bool(largest <= limit and attrs["converged"] is not False)


def drifting(drift: ArrayLike) -> np.ndarray:
    """Which of the entries that are watched together drift, ndarray of bool.

    Parameters
    ----------
    drift : array-like
        As of `posterior.trend.drift`; NaN where it is not known.

    Examples
    --------
    >>> from skbayesembed.common.mixing import drifting
    >>> drifting([3.5]).tolist(), drifting([3.5] + 9 * [0.0]).any().tolist()
    ([True], False)
    """
    size = np.abs(np.asarray(drift, dtype=float))
    n = np.sum(~np.isnan(size))
    # comparisons with NaN are False
    return size > ndtri(1.0 - 0.5 * _DRIFT / max(n, 1))


def note_drift(
    attrs: dict[str, Any], drift: ArrayLike, labels: Sequence[str], draws: Sequence[np.ndarray]
) -> None:
    """Warn if the chains still drift together, and note it in ``attrs``.

    Parameters
    ----------
    attrs : dict
        The largest absolute drift goes into ``attrs["max_drift"]``. Where chains drift,
        ``attrs["converged"]`` becomes False and ``attrs["drifts"]`` is the label of what drifts
        most; nothing is said where it is False already.
    drift : array-like of shape (n_entries,)
        As of `posterior.trend.drift`; NaN where it is not known.
    labels : sequence of str of length n_entries
    draws : sequence of ndarray of shape (chain, draw), of length n_entries

    Warns
    -----
    ConvergenceWarning
        If an entry drifts.
    """
    drift = np.asarray(drift, dtype=float)
    if np.isnan(drift).all():
        return
    k = int(np.nanargmax(np.abs(drift)))
    attrs["max_drift"] = float(abs(drift[k]))
    if not drifting(drift)[k] or attrs.get("converged") is False:
        return
    attrs |= {"converged": False, "drifts": labels[k]}
    n = draws[k].shape[1] // 3
    first, last = draws[k][:, :n].mean(), draws[k][:, -n:].mean()
    warn_user(
        f"The chains have not mixed: they drift together. The mean of {labels[k]} is {first:.4g} "
        f"in the first third of the draws and {last:.4g} in the last: of chains at rest, fewer "
        f"than one fit in 1,000 has such a difference. The chains had not left their starts when "
        f"the draws began: raise warmup (it is {attrs.get('warmup', 'not known')}), and draws or "
        "thin. TraceDisplay shows chains.",
        Unmixed,
    )


def note_few(attrs: dict[str, Any], size: ArrayLike, labels: Sequence[str], n_draws: int) -> None:
    """Warn if effective draws are too few for intervals, and note it in ``attrs``.

    Parameters
    ----------
    attrs : dict
        The smallest effective sample size goes into ``attrs["min_ess"]``. Nothing is said where
        ``attrs["converged"]`` is False, which warned already, or where only few draws were asked
        for.
    size : array-like of shape (n_entries,)
        Effective sample sizes; NaN where they are not known.
    labels : sequence of str of length n_entries
    n_draws : int
        Draws of all chains.

    Warns
    -----
    ConvergenceWarning
        If an entry has fewer than `FEW_DRAWS` of ``n_draws``, at least four times as many.
    """
    size = np.ravel(np.asarray(size, dtype=float))
    if np.isnan(size).all():
        return
    k = int(np.nanargmin(size))
    attrs["min_ess"] = float(size[k])
    if attrs.get("converged") is False or n_draws < DRAWS_A_PIECE * FEW_DRAWS:
        return
    if size[k] < FEW_DRAWS:
        thin = attrs.get("thin", "not known")
        rough = "the ends of its interval are rough"
        if size[k] < _HARDLY_ANY:
            rough += ", and whether chains have settled cannot be told"
        warn_user(
            f"The {n_draws} draws are worth only {size[k]:.0f} independent ones of {labels[k]}, "
            f"the fewest of what is watched: {rough}. For intervals {FEW_DRAWS} are wanted: raise "
            f"thin (it is {thin}), or draws and warmup.",
            Unmixed,
        )


def warn_if_stuck(acceptance: float, advice: str = "use kernel='polya-gamma'") -> None:
    """Warn if moves of the sampler were hardly ever accepted.

    Parameters
    ----------
    acceptance : float
        Share of moves that were accepted, from 0 to 1.
    advice : str
        What to do besides raising ``warmup``; ends the message.

    Warns
    -----
    ConvergenceWarning
        If fewer than 20 % were.
    """
    if acceptance < ACCEPTANCE_LIMIT:
        warn_user(
            f"The sampler hardly moved: {100 * acceptance:.1f} % of its moves were accepted. Raise "
            f"warmup, or {advice}.",
            ConvergenceWarning,
        )


def longest_standstill(values: ArrayLike) -> np.ndarray:
    """Most draws in a row that are one state, of each chain.

    Parameters
    ----------
    values : array-like of shape (chain, draw)
        What two states do not share, such as log densities.

    Returns
    -------
    ndarray of int of shape (chain,)

    Examples
    --------
    >>> from skbayesembed.common.mixing import longest_standstill
    >>> longest_standstill([[0.3, 0.3, 0.3, 0.1], [0.1, 0.2, 0.1, 0.2]]).tolist()
    [3, 1]
    """
    values = np.asarray(values)
    longest = np.zeros(len(values), dtype=int)
    run = np.ones_like(longest)
    for before, now in zip(values.T, values.T[1:], strict=False):
        longest = np.maximum(longest, run)
        run = np.where(now == before, run + 1, 1)
    return np.maximum(longest, run)


def warn_if_standing(longest: int, acceptance: ArrayLike) -> None:
    """Warn if a Hamiltonian chain stood still for long: its steps are too long for some place.

    Parameters
    ----------
    longest : int
        Most draws of a chain in a row that are one state.
    acceptance : array-like of shape (chain, draw)
        Shares of the moves before each draw that were accepted.

    Warns
    -----
    ConvergenceWarning
        If that is a twentieth of a chain, 20 draws at least, and three times as long as is expected
        of moves that are refused independently.
    """
    acceptance = np.asarray(acceptance, dtype=float)
    n_draws = acceptance.shape[1]
    refused = np.clip(1.0 - acceptance.mean(axis=1).min(), 1e-3, 1.0 - 1e-3)
    expected = np.log(max(acceptance.size, 2)) / -np.log(refused)
    if longest < max(_STILL, _STILL_SHARE * n_draws, _TIMES * expected):
        return
    warn_user(
        f"A chain stood still for {longest} of its {n_draws} draws, one after the other: all moves "
        "from that place were refused, as its steps are too long there. Raise target_accept toward "
        "1 (smaller steps; 0.95 for example), and warmup. TraceDisplay shows chains.",
        ConvergenceWarning,
    )

"""How sure a verdict on an interval is: by its probability, and by the draws of its ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..common.mixing import DRAWS_A_PIECE, FEW_DRAWS, RHAT_LIMIT, beyond, rhat_text
from .cells import bounded
from .posterior import ROWS
from .summary import diagnostics, interval_errors

# Solvers whose draws are independent of each other.
_INDEPENDENT = ("vi", "laplace")
# Answers whose intervals' Monte Carlo errors are worked out with them, at about 2 ms each.
MOST_ERRORS = 200
# Diagnostics of answers by chains, and what `summary.diagnostics` calls them.
MIXING = {"rhat": "rhat", "ess": "ess_bulk", "ess_tail": "ess_tail"}
# So many errors from what decides, an end may be on its other side with other draws.
_ERRORS = 2.0
# What verdicts are where the prior alone would answer, and of chains that are in several places.
NO_DATA, NOT_MIXED = "no data", "not mixed"
# What that of a difference is which is zero by construction.
SAME = "the same"
# Verdicts that no end decides, and those that are on no side.
_OF_NO_END = (NO_DATA, NOT_MIXED, SAME)
_OF_NO_SIDE = ("", "not decided", "not known", *_OF_NO_END)
# From this probability of its side on, that of a 95 % interval, a verdict is told as it is; with
# less a "probably" stands before it.
SURE = 0.975
# What probabilities are rounded by.
_ROUNDING = 1e-9
# Entries with the probability that a difference, which has a sign, is above zero.
SIGNED = ("prob_increase", "prob_positive")
# Those, and the one of what is above a threshold.
SIDES = (*SIGNED, "prob_exceeds")
_SKEWED = (
    "skewed posterior: the probability of being {} {} is {}, but the interval, of highest density, "
    "reaches to the other side; the verdict goes by the interval"
)
_HANGS = "the verdict may change with other draws: {} is within two Monte Carlo errors of an end"


def errors_of(posterior: Any, draws: np.ndarray, prob: float) -> np.ndarray:
    """Monte Carlo standard errors of the ends of intervals of answers.

    Parameters
    ----------
    posterior : Posterior
        Whose draws the answers are of.
    draws : ndarray of shape (n_draws, ...)
        In the order of those of the posterior; where there are several of each, all first ones
        before all second ones. Or every draw of words that were kept by name, chain after chain.
    prob : float
        Of the intervals.

    Returns
    -------
    ndarray of shape (..., 2)
        As of `summary.interval_errors`.
    """
    n_chains = None if posterior.attrs.get("solver") in _INDEPENDENT else posterior.n_chains
    if n_chains is not None and len(draws) % n_chains:
        n_chains = 1
    of_one = posterior.n_draws * posterior.n_chains
    several = 0 < of_one < len(draws) and len(draws) % of_one == 0
    several = several and not _is_every_draw(posterior, len(draws))
    n_runs = posterior.n_runs if several or len(draws) == of_one else 1
    # of a posterior that was cut runs may not take turns
    n_runs = 1 if posterior.n_draws % n_runs else n_runs
    if several and (n_chains is not None or n_runs > 1):
        # those of a draw one after the other, so that chains are chains and runs take turns
        whole = draws.reshape(-1, of_one // n_runs, n_runs, *draws.shape[1:])
        draws = whole.swapaxes(0, 1).reshape(draws.shape)
    return interval_errors(draws, prob, n_chains, n_runs)


def _is_every_draw(posterior, n):
    """Whether ``n`` draws are all that chains made, of words whose draws were kept by name."""
    kept = (x for name, x in posterior.stats.items() if name.endswith(ROWS))
    return any(int(np.prod(x.shape[:2])) == n for x in kept)


def mixing_of(posterior: Any, draws: np.ndarray) -> dict[str, Any]:
    """``rhat``, ``ess`` and ``ess_tail`` of answers by chains, each (...); empty of other draws.

    Parameters
    ----------
    posterior, draws
        As of `errors_of`. Of answers with several draws for each of the posterior's, or fewer,
        nothing is told.
    """
    n_chains, n_draws = posterior.n_chains, posterior.n_draws
    if posterior.attrs.get("solver") in _INDEPENDENT or len(draws) != n_chains * n_draws:
        return {}
    chains = draws.reshape(n_chains, n_draws, *draws.shape[1:])
    found = diagnostics(chains, posterior.n_runs)
    return {name: found[key][()] for name, key in MIXING.items()}


def errors_and_mixing(posterior: Any, draws: np.ndarray, prob: float) -> dict[str, Any]:
    """Entries of answers on their Monte Carlo error: ``interval_mcse``, and those of `mixing_of`.

    Parameters
    ----------
    posterior, draws, prob
        As of `errors_of`.
    """
    errors = errors_of(posterior, draws, prob)
    return {"interval_mcse": errors, **mixing_of(posterior, draws)}


def note_on_mixing(found: Mapping[str, Any]) -> list[str]:
    """Lines below a table of answers by chains: where they have not mixed, or are worth little.

    Elsewhere R-hat and effective draws. As by `common.mixing.note_few`, few of them are a surprise
    only where many draws were asked for.
    """
    notes, n_draws = [], len(found.get("draws", ()))
    rhat, ess, tail = (np.ravel(found.get(name, np.nan)) for name in MIXING)
    if np.isnan(rhat).all() or np.isnan(ess).all():
        return []
    with np.errstate(invalid="ignore"):
        # ends of intervals are of the tails
        worth = np.fmin(ess, tail)
        unmixed, few = rhat > RHAT_LIMIT, worth < FEW_DRAWS
    if unmixed.any():
        largest = beyond(rhat[unmixed].max(), RHAT_LIMIT)
        notes.append(
            f"({_in_rows(unmixed)}chains differ on this very answer: R-hat {largest}, above "
            f"{RHAT_LIMIT})"
        )
    if few.any() and n_draws >= DRAWS_A_PIECE * FEW_DRAWS:
        notes.append(
            f"({_in_rows(few)}the draws are worth {worth[few].min():.0f} independent ones of this "
            f"answer or of its tails; below {FEW_DRAWS} ends of intervals are rough)"
        )
    most, least = ("", "") if rhat.size == 1 else ("at most ", "at least ")
    # draws that swing about their mean tell more of it than as many independent ones
    fewest = min(np.nanmin(ess), n_draws)
    known = f"R-hat {most}{rhat_text(np.nanmax(rhat))}, {least}{fewest:.0f} effective draws"
    ends = "" if np.isnan(tail).all() else f", {min(np.nanmin(tail), n_draws):.0f} of the tails"
    return notes or [f"({known}{ends})"]


def hangs_on_draws(found: Mapping[str, Any], value: float = 0.0) -> Any:
    """Whether a verdict might be another with other draws.

    It is where what an interval is held against lies within two Monte Carlo errors of the end that
    decides: of an interval that holds it, of either end.

    Parameters
    ----------
    found : mapping of str to object
        ``interval`` (..., 2), and ``interval_mcse`` (..., 2) and ``verdict`` (...), where it has
        them.
    value : float
        What the interval is held against.

    Returns
    -------
    bool or ndarray of bool of shape (...)

    Examples
    --------
    >>> from skbayesembed.posterior.deciding import hangs_on_draws
    >>> errors = [[0.01, 0.02]] * 3
    >>> ends = [[0.015, 0.4], [0.03, 0.04], [-0.3, 0.035]]
    >>> hangs_on_draws({"interval": ends, "interval_mcse": errors}).tolist()
    [True, False, True]
    """
    interval, errors = np.asarray(found["interval"]), found.get("interval_mcse")
    if errors is None:
        return np.zeros(interval.shape[:-1], bool)[()]
    low, high = np.moveaxis(interval - value, -1, 0)
    # comparisons with NaN are False
    near = np.abs(interval - value) < _ERRORS * np.asarray(errors)
    near_low, near_high = np.moveaxis(near, -1, 0)
    hangs = np.where(low > 0, near_low, np.where(high < 0, near_high, near_low | near_high))
    return (hangs & ~np.isin(found.get("verdict", ""), _OF_NO_END))[()]


def is_skewed(found: Mapping[str, Any], value: float = 0.0) -> Any:
    """Whether an interval decides nothing, while the probability of a side is that of its ends.

    Intervals are of highest density. Of a skewed posterior such an interval may reach past what it
    is held against, though less than ``(1 - prob) / 2`` of the posterior is there.

    Parameters
    ----------
    found : mapping of str to object
        As of `only_probable`; without ``prob``, the probability of its intervals, as an attribute
        nothing counts as skewed.
    value : float
        What the interval is held against.

    Returns
    -------
    bool or ndarray of bool of shape (...)
    """
    interval, above = np.asarray(found["interval"]), _above(found)
    prob = getattr(found, "prob", None)
    if prob is None:
        return np.zeros(interval.shape[:-1], bool)[()]
    low, high = np.moveaxis(interval, -1, 0)
    # comparisons with NaN are False
    # probabilities that are held to what an interval says are at the limit, and tell of no skew
    sided = np.maximum(above, 1.0 - above) > 0.5 + 0.5 * prob + _ROUNDING
    undecided = np.isin(found.get("verdict", ""), "not decided")
    return (sided & undecided & (low <= value) & (high >= value))[()]


def note_on_draws(found: Mapping[str, Any], value: float = 0.0, what: str = "zero") -> list[str]:
    """Lines below a table with a verdict that hangs on the draws, or on a skew; none of others.

    ``what`` the interval is held against, in words.
    """
    hangs, skewed = np.asarray(hangs_on_draws(found, value)), np.asarray(is_skewed(found, value))
    notes = []
    if skewed.any():
        notes.append(f"({_in_rows(skewed)}{_told_of_skew(found, skewed, what)})")
    if hangs.any():
        notes.append(f"({_in_rows(hangs)}{_HANGS.format(what)}; take more draws)")
    return notes


def told_of_skew(asides: Iterable[str]) -> list[str]:
    """What lines below an answer say of a skewed posterior, sentences.

    Examples
    --------
    >>> from skbayesembed.posterior.deciding import told_of_skew
    >>> told_of_skew(["(of 42 presidents)", "(skewed posterior: and so on)"])
    ['Skewed posterior: and so on.']
    """
    lines = (line[1:-1] for line in asides if "skewed posterior: " in line)
    return [f"{line[0].upper()}{line[1:]}." for line in lines]


def _in_rows(of):
    return "" if of.size == 1 else f"in {np.count_nonzero(of)} of {of.size} rows "


def said_of_draws(found: Mapping[str, Any], value: float = 0.0, what: str = "zero") -> str:
    """The same at the end of a sentence without its full stop, or an empty text."""
    text = ""
    if skewed := is_skewed(found, value):
        told = _told_of_skew(found, np.asarray(skewed), what)
        text = f". {told[0].upper()}{told[1:]}"
    return text + (f". T{_HANGS[1:].format(what)}" if hangs_on_draws(found, value) else "")


def _told_of_skew(found, skewed, what):
    above = _above(found)
    if skewed.size > 1:
        sided = np.maximum(above, 1.0 - above)[skewed]
        least = f"{np.floor(100 * sided.min()) / 100:.2f} or more"
        return _SKEWED.format("on one side of", what, least)
    below = bool(np.ravel(above)[0] < 0.5)
    sided = float(np.ravel(1.0 - above if below else above)[0])
    return _SKEWED.format("below" if below else "above", what, _never_certain(sided))


def _never_certain(proba):
    return bounded([proba], 3)[0].replace(">", "above ").rstrip("0")


def _above(found):
    """The probability of what is above what an interval is held against; NaN where not known."""
    return np.asarray(next((found[name] for name in SIDES if name in found), np.nan))


def only_probable(found: Mapping[str, Any], value: float = 0.0) -> Any:
    """Whether a verdict is not told without a "probably".

    It is where the probability of its side is below `SURE`, or where the verdict hangs on the
    draws.

    Parameters
    ----------
    found : mapping of str to object
        As of `hangs_on_draws`, with ``prob_increase``, ``prob_positive`` or ``prob_exceeds``
        (...), where it has one.
    value : float
        What the interval is held against.

    Returns
    -------
    bool or ndarray of bool of shape (...)

    Examples
    --------
    >>> from skbayesembed.posterior.deciding import only_probable
    >>> found = {"interval": [[0.1, 0.4], [-0.4, -0.1], [-0.1, 0.2]]}
    >>> found |= {"prob_increase": [0.96, 0.01, 0.8], "verdict": ["rose", "fell", "not decided"]}
    >>> only_probable(found).tolist()
    [True, False, False]
    """
    above = _above(found)
    # comparisons with NaN are False
    unsure = (np.maximum(above, 1.0 - above) < SURE) | hangs_on_draws(found, value)
    return (unsure & ~np.isin(found["verdict"], _OF_NO_SIDE))[()]


def surely(found: Mapping[str, Any], value: float = 0.0) -> Any:
    """Verdicts as they are told: with a "probably" before those that are only probable.

    In print, in data frames and in sentences.

    Examples
    --------
    >>> from skbayesembed.posterior.deciding import surely
    >>> found = {"interval": [0.01, 0.4], "prob_increase": 0.96, "verdict": "rose"}
    >>> surely(found), surely(found | {"prob_increase": 0.98})
    ('probably rose', 'rose')
    """
    verdicts = np.asarray(found["verdict"], dtype=object)
    said = np.where(only_probable(found, value), "probably " + verdicts, verdicts)
    return said if said.ndim else str(said)

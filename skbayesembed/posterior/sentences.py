"""Parts of sentences on answers, to be copied: intervals, what they rest on, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .deciding import SURE
from .sources import FEW_UNITS, INDEPENDENT, OTHERS
from .tables import bounded, p_values

# Digits after the point of cosines, distances and shares, fewest and most; and those beyond which
# other numbers have an exponent.
_DIGITS, _MOST_DIGITS = (2, 4), 5
# What intervals allow for, behind them.
_RESTS_ON = {
    "units": ", for another sample of units of the same kind",
    "model": ", for these texts alone",
    OTHERS: ", for other units of the same kind",
    INDEPENDENT: ", with snippets treated as independent",
}
_CAVEATS = {
    "vi": ". Intervals by variational inference may be too narrow",
    "unmixed": ". The chains have not mixed, so this is not an interval of the posterior",
}


def rounded(
    values: Sequence[float], sign: str = "", least: int = 0, most: int | None = None
) -> list[str]:
    """Texts of numbers to the same place, the largest of them with two significant digits.

    Parameters
    ----------
    values : sequence of float
    sign : {"", "+"}
        Whether positive numbers have a sign.
    least, most : int
        Fewest and most digits after the point; without ``most``, numbers that are all very small
        have an exponent.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import rounded
    >>> rounded([58.31, 41.02, 75.4], "+"), rounded([0.5831, 0.41, 0.0754])
    (['+58', '+41', '+75'], ['0.58', '0.41', '0.08'])
    >>> rounded([0.000012, 0.0000031]), rounded([0.000012, -0.0000031], "+", most=4)
    (['1.2e-05', '3.1e-06'], ['0.0000', '0.0000'])
    """
    size = np.max(np.abs(values))
    digits = max(least, 1 - int(np.floor(np.log10(size))) if 0 < size < np.inf else 0)
    if most is None and digits > _MOST_DIGITS:
        return [f"{value:{sign}.1e}" for value in values]
    digits = digits if most is None else min(digits, most)
    texts = (f"{value:{sign}z,.{digits}f}" for value in values)
    # what rounds to zero has no sign, neither that of the number nor one that it does not have
    return [text.removeprefix("+") if float(text.replace(",", "")) == 0 else text for text in texts]


def with_signs(mean: float, interval: Sequence[float], least: int = 0) -> list[str]:
    """As `rounded`, with two more digits at most where an end next to zero would be zero.

    Parameters
    ----------
    mean : float
    interval : (float, float)
    least : int

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import with_signs
    >>> with_signs(-1.1, (-2.167, -0.0394)), with_signs(-1.1, (-2.167, 0.139))
    (['-1.10', '-2.17', '-0.04'], ['-1.1', '-2.2', '+0.1'])
    """
    end = np.min(np.abs(interval))
    if 0 < end < 1:
        digits = 1 - int(np.floor(np.log10(np.max(np.abs([mean, *interval])))))
        least = max(least, min(-int(np.floor(np.log10(end))), digits + 2))
    return rounded([mean, *interval], "+", least)


def estimate(found: Mapping[str, Any], source: str | None, prob: float, sign: str = "") -> str:
    """A posterior mean with its interval in brackets, and what that rests on.

    Parameters
    ----------
    found : mapping of str to object
        ``mean``, a number, and ``interval`` (2,); of an `Answer` the units, too.
    source : str or None
        As of `sources.source_of`; of a point estimate there is no interval.
    prob : float
    sign : {"", "+"}

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import estimate
    >>> estimate({"mean": 0.125, "interval": (-0.25, 0.5)}, "model", 0.9, "+")
    '+0.12 (90 % interval -0.25 to +0.50, for these texts alone)'
    >>> estimate({"mean": -0.25, "interval": (-0.5, -0.001)}, None, 0.9, "+")
    '-0.250 (90 % interval -0.500 to -0.001)'
    """
    if source == "point":
        return f"{rounded([found['mean']], sign, *_DIGITS)[0]} (a point estimate)"
    least, most = _DIGITS
    end = np.min(np.abs(found["interval"]))
    if sign and 0 < end < 0.5 * 10.0**-least:
        # the side of zero that an end is on is to be seen
        least = min(-int(np.floor(np.log10(end))), most)
    mean, low, high = rounded([found["mean"], *found["interval"]], sign, least, most)
    rests = "".join(_RESTS_ON.get(part, "") for part in (source or "").split(", "))
    name, n_units = getattr(found, "units_name", None), getattr(found, "of_units", None)
    if source == "units" and name is not None and n_units is not None:
        rests = f", for another sample of {n_units:,} units ({name})"
    return f"{mean} ({100 * prob:g} % interval {low} to {high}{rests})"


def chance(proba: float, of: str = "") -> str:
    """A probability, as ``"P = 0.57"``; of none that is certain.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import chance
    >>> chance(0.57), chance(1.0, "rise")
    ('P = 0.57', 'P(rise) > 0.99')
    """
    text = bounded([proba])[0]
    of = f"P({of})" if of else "P"
    return f"{of} {text[0]} {text[1:]}" if text[0] in "<>" else f"{of} = {text}"


def p_value(p: float) -> str:
    """A p-value, as ``"p = 0.025"``.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import p_value
    >>> p_value(0.025), p_value(1e-9)
    ('p = 0.025', 'p < 0.001')
    """
    (text,) = p_values([p])
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def ended(text: str, source: str | None, n_units: float = np.inf) -> str:
    """A sentence with its full stop, and before it what is to be known of its interval.

    Parameters
    ----------
    text : str
    source : str or None
        As of `sources.source_of`.
    n_units : float
        Effective units that the interval rests on.
    """
    few = f". It rests on fewer than {FEW_UNITS} effective units, so its interval is rough"
    caveat = _CAVEATS.get((source or "").split(", ")[0], "")
    return f"{text}{few if n_units < FEW_UNITS else ''}{caveat}."


class Step(NamedTuple):
    """What a slope is for, in words.

    Attributes
    ----------
    lead, where, then : str
        At the head of a sentence, behind "is larger or smaller", and before "it differs by".
    """

    lead: str
    where: str
    then: str


def step_of(term: str, more: str = "one", aside: str = "") -> Step:
    """The `Step` that is ``more`` of a term, with what is to be known of it in brackets.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import step_of
    >>> step_of("'war'").lead, step_of("'war'", aside=" (its standard deviation is 0.3)").where
    ("With one more of 'war'", "with more of 'war' (its standard deviation is 0.3)")
    """
    return Step(
        f"With {more} more of {term}{aside}", f"with more of {term}{aside}", f"with {more} more "
    )


def step_between(term: str) -> Step:
    """The `Step` from 0 to 1 of a term that has no other values.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import step_between
    >>> step_between("'woman'").lead
    "Where 'woman' is 1 instead of 0"
    """
    where = f"where {term} is 1 instead of 0"
    return Step(f"W{where[1:]}", where, "")


def effect(
    of: str,
    step: Step,
    *,
    held: bool,
    figures: tuple[str, str],
    side: str | None,
    p: float,
    sides: tuple[str, str] = ("larger", "smaller"),
) -> str:
    """What a slope is: a difference where its sign is decided, else that it is not.

    Parameters
    ----------
    of : str
        What the slope is of.
    step : Step
        What it is for.
    held : bool
        Whether there are other terms.
    figures : (str, str)
        The slope, with its sign, and what stands in brackets behind it.
    side : str or None
        Which of the ``sides`` the slope is on; None where that is not decided.
    p : float
        Two-sided p-value; a side is "probably" so unless a 95 % interval has it, too.
    sides : (str, str)
        Words for above and below.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import effect, step_of
    >>> options = {"held": False, "figures": ("-2", "(-5 to +1)"), "p": 0.04}
    >>> effect("the mean year", step_of("'war'"), **options, side=None)
    "Whether the mean year is larger or smaller with more of 'war' is not decided: with one more \
it differs by -2 (-5 to +1)"
    >>> effect("the mean year", step_of("'war'"), **options, side="smaller")
    "With one more of 'war', the mean year is smaller by 2 (-5 to +1)"
    """
    beside = ", the other terms held" if held else ""
    slope, brackets = figures
    if side is not None:
        side = f"{'' if sure_of(p) else 'probably '}{side}"
        return f"{step.lead}, {of} is {side} by {slope.lstrip('+-')}{beside} {brackets}"
    comma = "," if held else ""
    return (
        f"Whether {of} is {sides[0]} or {sides[1]} {step.where}{beside}{comma} is not decided: "
        f"{step.then}it differs by {slope} {brackets}"
    )


def sure_of(p: Any) -> Any:
    """Whether a side that an interval is on is told without a "probably", by two-sided p-values."""
    return np.asarray(p) <= 2.0 * (1.0 - SURE) + 1e-12


def side_of_zero(interval: Any, above: str, below: str) -> Any:
    """Verdicts on intervals (..., 2): ``above`` or ``below`` zero, or ``"not decided"``.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import side_of_zero
    >>> side_of_zero([[0.1, 0.3], [-0.1, 0.3]], "rose", "fell").tolist()
    ['rose', 'not decided']
    """
    low, high = np.moveaxis(np.asarray(interval), -1, 0)
    return np.where(low > 0, above, np.where(high < 0, below, "not decided"))[()]

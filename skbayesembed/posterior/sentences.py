"""Parts of sentences on answers, to be copied: intervals, what they rest on, and verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .cells import bounded, number, p_values
from .deciding import SURE
from .sources import (
    FEW_UNITS,
    INDEPENDENT,
    OF_ONE_MODE,
    ONE_MODE,
    OTHERS,
    is_unmixed,
    sampled_units,
    units_in_words,
)

# Digits after the point of cosines, distances and shares, fewest and most; and those beyond which
# other numbers have an exponent.
_DIGITS, _MOST_DIGITS = (2, 4), 5
# Keys that an error lists.
_LISTED = 6
# What intervals allow for.
_RESTS_ON = {
    "model": "The interval is for these texts alone",
    OTHERS: "The interval allows for other units of the same kind",
    INDEPENDENT: "The interval treats snippets as independent",
}
# Of a slope, in the place of its interval.
ONE_UNIT = "one unit alone decides on this, so that there is no interval for other units"
_CAVEATS = {"vi": "Intervals by variational inference may be too narrow"}
# Of intervals of slopes on a side.
_OF_DIFFERENCE = " of the difference"
# In the place of all that.
_UNUSABLE = "The chains have not mixed, so this answer is not to be used"


class Sentences(dict):
    """Sentences by their keys; an error for another key says which there are.

    Parameters
    ----------
    texts : dict of hashable to str
    same : dict of hashable to hashable, optional
        Keys that are read as others, as the numbers of topics that have names.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import Sentences
    >>> told = Sentences({("war", "year"): "It rose."}, {(0, "year"): ("war", "year")})
    >>> told[0, "year"], len(told)
    ('It rose.', 1)
    >>> told["year"]
    Traceback (most recent call last):
    KeyError: "no sentence of 'year'; there is one of each of ('war', 'year')"
    """

    def __init__(self, texts: Mapping[Any, str], same: Mapping[Any, Any] | None = None) -> None:
        super().__init__(texts)
        self._same = dict(same or {})

    def __contains__(self, key: object) -> bool:
        return super().__contains__(self._same.get(key, key))

    def get(self, key: Any, default: Any = None) -> Any:
        """The sentence of a key, or the default."""
        return self[key] if key in self else default

    def __missing__(self, key: Hashable) -> str:
        if key in self._same:
            return self[self._same[key]]
        some = [*map(repr, islice(self, _LISTED)), *["..."][: max(len(self) - _LISTED, 0)]]
        raise KeyError(f"no sentence of {key!r}; there is one of each of {', '.join(some)}")


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
    return [number(value, f"{sign},.{digits}f") for value in values]


def decimals(sd: float, least: int = 0, most: int = 8) -> int:
    """Digits after the point that two significant digits of a standard error need.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import decimals
    >>> decimals(0.26), decimals(31.0), decimals(0.00012), decimals(0.26, least=4)
    (2, 0, 5, 4)
    """
    digits = 1 - int(np.floor(np.log10(sd))) if 0 < sd < np.inf else 0
    return max(least, min(digits, most))


def with_signs(mean: float, interval: Sequence[float], sd: float, sign: str = "+") -> list[str]:
    """Texts of an estimate and the ends of its interval, as exact as its standard error.

    All have the same number of digits after the point: two significant digits of the standard
    error, or as many more, up to five in all, as show the side of zero that an end is on.

    Parameters
    ----------
    mean : float
        NaN, as an end may be, where it is not known.
    interval : (float, float)
    sd : float
        Standard error; where it is zero or NaN, digits follow the largest of the numbers.
    sign : {"", "+"}

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import with_signs
    >>> with_signs(0.4263, (-0.0009, 0.853), 0.26), with_signs(-1.1, (-2.167, 0.139), 0.7)
    (['+0.426', '-0.001', '+0.853'], ['-1.10', '-2.17', '+0.14'])
    >>> with_signs(0.00034, (0.00012, 0.00056), 0.00013), with_signs(1.82, (0, 2.4), 0.3, "")
    (['+0.00034', '+0.00012', '+0.00056'], ['1.82', '0.00', '2.40'])
    >>> with_signs(0.427, (0.0004, 0.853), 0.26), with_signs(float("nan"), (-0.1, 0.3), 0.1)
    (['+0.4270', '+0.0004', '+0.8530'], ['nan', '-0.10', '+0.30'])
    """
    values = [mean, *interval]
    sizes = [abs(value) for value in values if np.isfinite(value)]
    digits = decimals(sd if 0 < sd < np.inf else max(sizes, default=0.0))
    if digits > _MOST_DIGITS:
        return [number(value, f"{sign}.2e") if value else "0" for value in values]
    ends = [abs(end) for end in interval if np.isfinite(end)]
    return rounded(values, sign, digits_to_tell(ends, digits), _MOST_DIGITS)


def digits_to_tell(ends: Sequence[float], digits: int, most: int = _MOST_DIGITS) -> int:
    """Digits after the point by which no end of an interval is rounded to zero unless it is zero.

    Parameters
    ----------
    ends : sequence of float
        Sizes of ends.
    digits, most : int
        Fewest digits, and most: an end that needs more is rounded to zero all the same.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import digits_to_tell
    >>> digits_to_tell([0.0004, 0.8], 2), digits_to_tell([0.0, 0.8], 2), digits_to_tell([1e-9], 2)
    (4, 2, 2)
    >>> digits_to_tell([0.5, 60.0], 0)
    1
    """
    # what is halfway is rounded to the even zero
    hidden = [end for end in ends if 0.5 * 10.0**-most < end <= 0.5 * 10.0**-digits]
    return max([digits, *(min(most, int(np.floor(-np.log10(2.0 * end))) + 1) for end in hidden)])


def estimate(found: Mapping[str, Any], source: str | None, prob: float, sign: str = "") -> str:
    """A posterior mean with its interval in brackets.

    Parameters
    ----------
    found : mapping of str to object
        ``mean``, a number, and ``interval`` (2,).
    source : str or None
        As of `sources.source_of`; of a point estimate, and of chains that have not mixed, there is
        no interval.
    prob : float
    sign : {"", "+"}

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import estimate
    >>> estimate({"mean": 0.125, "interval": (-0.25, 0.5)}, "model", 0.9, "+")
    '+0.12 (90% interval -0.25 to +0.50)'
    >>> estimate({"mean": -0.25, "interval": (-0.5, -0.001)}, None, 0.9, "+")
    '-0.250 (90% interval -0.500 to -0.001)'
    >>> estimate({"mean": 0.125, "interval": (-0.25, 0.5)}, "unmixed", 0.9)
    '0.12 (no interval)'
    """
    if source == "point" or is_unmixed(source):
        aside = "a point estimate" if source == "point" else "no interval"
        return f"{rounded([found['mean']], sign, *_DIGITS)[0]} ({aside})"
    least, most = _DIGITS
    if sign:
        least = digits_to_tell(np.abs(found["interval"]).tolist(), least, most)
    mean, low, high = rounded([found["mean"], *found["interval"]], sign, least, most)
    return f"{mean} ({interval_in_words(low, high, prob)})"


def interval_in_words(low: str, high: str, prob: float, of: str = "") -> str:
    """An interval as texts have it, as ``"90% interval 0.1 to 0.5"``."""
    return f"{100 * prob:g}% interval{of} {low} to {high}"


def allows_for(n_units: int | None = None, name: str | None = None) -> str:
    """What intervals by units allow for, a clause.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import allows_for
    >>> allows_for(42, "president"), allows_for(15)
    ('The interval allows for the sampling of 42 presidents', \
'The interval allows for the sampling of 15 units')
    """
    units = "units" if n_units is None else units_in_words(n_units, name)
    return f"The interval allows for the sampling of {units}"


def capital(text: str) -> str:
    """A text with a capital letter at its head."""
    return f"{text[0].upper()}{text[1:]}"


def behind(lines: Sequence[str]) -> str:
    """Lines below a table as sentences behind others.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import behind
    >>> behind(["(of 42 presidents)"]), behind([])
    (' of 42 presidents.', '')
    """
    return "".join(f" {line[1:-1]}." for line in lines)


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Words of a list, with commas and an "and" or another word before the last.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import joined
    >>> joined(["one"]), joined(["one", "two"], "or"), joined(["one", "two", "three"])
    ('one', 'one or two', 'one, two, and three')
    """
    *most, end = parts
    if not most:
        return end
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} {last} {end}"


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


def ended(
    text: str,
    source: str | None,
    n_units: float = np.inf,
    found: Any = None,
    *,
    several: bool = False,
) -> str:
    """A sentence with its full stop, and behind it what is to be known of its interval.

    Of chains that have not mixed that there is none.

    Parameters
    ----------
    text : str
    source : str or None
        As of `sources.source_of`.
    n_units : float
        Effective units that the interval rests on.
    found : Answer or Table, optional
        That knows of its units.
    several : bool
        Whether there are several intervals.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import ended
    >>> ended("The cosine is 0.1 (90% interval 0.0 to 0.2)", "units", 2.0)
    'The cosine is 0.1 (90% interval 0.0 to 0.2). The interval allows for the sampling of units; \
it rests on fewer than 3 effective units, so it is rough.'
    >>> from skbayesembed.posterior.results import About, Result
    >>> ended("It rose", "posterior, other units", found=Result({}, About(units_name="speaker")))
    'It rose. The interval allows for other speakers.'
    >>> ended("It rose", "posterior, in one of several modes")
    'It rose. More than one mode of the posterior matters; this is about the one found heaviest, \
and others may give other answers.'
    >>> ended("The cosine is 0.1 (no interval)", "unmixed")
    'The cosine is 0.1 (no interval). The chains have not mixed, so this answer is not to be used.'
    """
    if is_unmixed(source):
        return f"{text}. {_UNUSABLE}."
    kinds, parts = (source or "").split(", "), [text]
    if "units" in kinds:
        parts.append(allows_for(*sampled_units(found)))
    parts += [_rests_on(kind, found) for kind in kinds if kind in _RESTS_ON]
    if n_units < FEW_UNITS:
        it = "; it" if len(parts) > 1 else ". The interval"
        parts[-1] += f"{it} rests on fewer than {FEW_UNITS} effective units, so it is rough"
    parts += [_CAVEATS[kinds[0]]] if kinds[0] in _CAVEATS else []
    parts += [capital(OF_ONE_MODE)] if ONE_MODE in kinds else []
    if several:
        parts[1:] = map(_of_each, parts[1:])
    return f"{'. '.join(parts)}."


def _of_each(part):
    """What is said of an interval, said of several."""
    return part.replace("The interval ", "Each interval ")


def together(texts: Sequence[str]) -> str:
    """Several answers in words as one text; sentences that all end with are at its end, once.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import together
    >>> of_units = "The interval allows for the sampling of 9 books"
    >>> together([f"A is 0.5. {of_units}.", f"B is 0.2. {of_units}."])
    'A is 0.5. B is 0.2. Each interval allows for the sampling of 9 books.'
    >>> together([f"A is 0.5. {of_units}."])
    'A is 0.5. The interval allows for the sampling of 9 books.'
    """
    parts = [text.removesuffix(".").split(". ") for text in texts]
    if len(parts) == 1:
        return texts[0]
    ends: list[str] = []
    while all(len(part) > 1 for part in parts) and len({part[-1] for part in parts}) == 1:
        (end,) = {part.pop() for part in parts}
        ends.insert(0, _of_each(end))
    return ". ".join([*(". ".join(part) for part in parts), *ends]) + "."


def _rests_on(kind, found):
    """What an interval allows for, a sentence without its full stop; units go by their name."""
    text, (_, name) = _RESTS_ON[kind], sampled_units(found)
    if kind != OTHERS or name is None:
        return text
    others = units_in_words(2, name).removeprefix("2 ")
    return text.replace("units of the same kind", others)


def step_of(term: str, sd: float | None = None, *, standardized: bool = False) -> str:
    """What a slope is for, in words, by the term and its standard deviation if it is to be told.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import step_of
    >>> step_of("'war'", 0.31)
    "with a one-unit increase in 'war' (standard deviation 0.31)"
    >>> step_of("'war'", 0.31, standardized=True)
    "with an increase of one standard deviation (0.31) in 'war'"
    """
    if standardized:
        return f"with an increase of one standard deviation ({sd:.3g}) in {term}"
    aside = "" if sd is None else f" (standard deviation {sd:.3g})"
    return f"with a one-unit increase in {term}{aside}"


def step_between(term: str) -> str:
    """The same for a term that is 0 or 1.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import step_between
    >>> step_between("'woman'")
    "where 'woman' is 1 rather than 0"
    """
    return f"where {term} is 1 rather than 0"


def effect(
    of: str,
    beside: str,
    *,
    figures: tuple[str, str],
    side: str | None,
    p: float,
    sides: tuple[str, str] | None = ("larger", "smaller"),
) -> str:
    """What a slope is: a difference where its sign is decided, else that it is not.

    Parameters
    ----------
    of : str
        What the slope is of.
    beside : str
        What it is for, as of `step_of` or `step_between`, and what else is held.
    figures : (str, str)
        The slope, with its sign, and what stands in brackets behind it.
    side : str or None
        Which of the ``sides`` the slope is on; None where that is not decided.
    p : float
        Two-sided p-value, NaN where one unit decides on the slope; a side is "probably" so unless a
        95 % interval has it, too.
    sides : (str, str) or None
        Words for above and below; None for what has no sign, as a length, of which the ``side`` is
        any text where it is decided that there is a difference.

    Examples
    --------
    >>> from skbayesembed.posterior.sentences import effect, step_of
    >>> options = {"figures": ("-2", "(-5 to +1)"), "p": 0.06}
    >>> effect("the mean year", step_of("'war'"), **options, side=None)
    "The mean year differs by -2 (-5 to +1) with a one-unit increase in 'war'; whether it is \
larger or smaller is not decided"
    >>> effect("the mean year", step_of("'war'"), **options, side="smaller")
    "The mean year is probably smaller by 2 (difference -2; -5 to +1) with a one-unit increase in \
'war'"
    >>> effect("the vector", step_of("'war'"), **options, side=None, sides=None)
    "It is not decided whether the vector differs with a one-unit increase in 'war'; the estimated \
difference is -2 (-5 to +1)"
    """
    slope, brackets = figures
    if np.isnan(p) and sides is None:
        return f"It is not known whether {of} differs {beside}; {ONE_UNIT}"
    if np.isnan(p):
        return f"{capital(of)} differs by {slope} {beside}; {ONE_UNIT}"
    if sides is None:
        if side is None:
            decided = "It is not decided whether"
            return (
                f"{decided} {of} differs {beside}; the estimated difference is {slope} {brackets}"
            )
        probably = "" if sure_of(p) else "probably "
        return f"{capital(of)} {probably}differs by {slope} {brackets} {beside}"
    of = capital(of)
    if side is not None:
        side = f"{'' if sure_of(p) else 'probably '}{side}"
        if slope.startswith("-"):
            # a size without its sign beside an interval below zero needs it once
            interval = brackets.removeprefix("(").replace(_OF_DIFFERENCE, "", 1)
            brackets = f"(difference {slope}; {interval}"
        return f"{of} is {side} by {slope.lstrip('+-')} {brackets} {beside}"
    return (
        f"{of} differs by {slope} {brackets} {beside}; whether it is {sides[0]} or {sides[1]} is "
        "not decided"
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

"""How far a density reaches along a direction where its curvature does not tell.

Where minus the Hessian at the end of a search is not positive along a direction, the density may
rise there by any amount, or by hardly any and be ended by its higher terms. Its slopes at a few
points tell which. Between these they are interpolated as far as the log density has fallen by some
units; from there it is taken for its tangent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from .laplace import not_a_mode

# By how much the log density has fallen at the ends, wanted and within which bounds; places that
# are tried for an end, and how much further than the last one the next is at most, or nearer.
_FALL, _ENOUGH = 4.0, (2.0, 8.0)
_TRIED, _FURTHER, _NEARER = 20, 4.0, 0.03
# Where slopes are asked for on the way to the ends.
_SHARES = 1 / 3, 2 / 3
# Powers of the place that the slope grows with: of the first place, and at most.
_USUAL, _STEEPEST = 3.0, 20.0
# Points that are summed over between the ends, and beyond each of them to a fall of so many times
# `_FALL`.
_POINTS, _TAIL = 1001, 5.0


@dataclass(frozen=True)
class Profile:
    """A density along a direction.

    Attributes
    ----------
    top : float
        Where it is highest, in lengths of the direction.
    gain : float
        Log density there, above that at zero.
    variance : float
        Of the place along the direction.
    """

    top: float
    gain: float
    variance: float


def profile_along(slope: Callable[[float], float], reach: float) -> Profile:
    """The `Profile` of a log density along a direction.

    Parameters
    ----------
    slope : callable
        Its slope at a place.
    reach : float
        A place about as far as it may reach, for a start.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it does not fall.
    """
    known: dict[float, float] = {}

    def asked(place):
        known[place] = slope(place)
        return known[place]

    ends = tuple(_end(asked, end) for end in (-reach, reach))
    for place in (0.0, *(share * end for end in ends for share in _SHARES)):
        asked(place)
    places = np.array(sorted(place for place in known if ends[0] <= place <= ends[1]))
    # between the places slopes go up or down as those there do: no top is made up
    line = PchipInterpolator(places, [known[place] for place in places])
    heights = line.antiderivative()
    return _profile(lambda t: heights(t) - heights(0.0), ends, [known[end] for end in ends])


def _end(slope, place):
    """Where the density has fallen enough on the way to a place or beyond.

    The slope is taken to go by a power of the place.
    """
    inner = outer = None  # the last places that were too near and too far, and how steep there
    for _ in range(_TRIED):
        steep = -slope(place) * np.sign(place)
        power = _power(place, steep, inner, outer)
        fall = steep * abs(place) / (power + 1.0)
        if _ENOUGH[0] <= fall <= _ENOUGH[1]:
            return place
        if fall < _FALL:
            inner, most = (place, steep), _FURTHER
        else:
            outer, most = (place, steep), 1.0
        wanted = most if steep <= 0.0 else (_FALL / fall) ** (1.0 / (power + 1.0))
        place = _between(float(np.clip(wanted, _NEARER, most)) * place, inner, outer)
    raise not_a_mode(" along a direction")


def _power(place, steep, *others):
    """Of the place that the slope goes by between this place and the next one that it rises to."""
    for other in others:
        if other is not None and min(steep, other[1]) > 0.0:
            power = np.log(steep / other[1]) / np.log(place / other[0])
            return float(np.clip(power, 0.0, _STEEPEST))
    return _USUAL


def _between(place, inner, outer):
    """The place, or one between both bounds where it is not."""
    if outer is None or (abs(place) < abs(outer[0]) and not _nearer(place, inner)):
        return place
    if inner is None:
        return 0.5 * outer[0]
    return float(np.sign(outer[0]) * np.sqrt(inner[0] * outer[0]))


def _nearer(place, inner):
    return inner is not None and abs(place) <= abs(inner[0])


def _profile(rise, ends, at_ends):
    between = np.linspace(*ends, _POINTS)
    places, heights = [between], [rise(between)]
    for end, slope in zip(ends, at_ends, strict=True):
        # where the tangent falls to what does not count
        beyond = np.linspace(0.0, -_TAIL * _FALL / slope, _POINTS)[1:]
        places.append(end + beyond)
        heights.append(rise(end) + slope * beyond)
    order = np.argsort(np.concatenate(places))
    place, height = (np.concatenate(x)[order] for x in (places, heights))
    density = np.exp(height - height.max())
    mass = np.trapezoid(density, place)
    mean = np.trapezoid(density * place, place) / mass
    variance = np.trapezoid(density * (place - mean) ** 2, place) / mass
    highest = int(np.argmax(height))
    return Profile(float(place[highest]), float(height[highest]), float(variance))

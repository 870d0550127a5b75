"""How far densities reach along a direction, against sums over fine grids."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.inference.profile import profile_along

# Log density and slope.
DENSITIES = {
    "flat, ended by the fourth power": (
        lambda t: t**2 / 2 - 5500.0 * t**4,
        lambda t: t - 22000.0 * t**3,
    ),
    "and asymmetric": (
        lambda t: t**2 / 2 - t**3 / 2 - 30.0 * t**4,
        lambda t: t - 1.5 * t**2 - 120.0 * t**3,
    ),
    "two tops": (lambda t: t**2 / 2 - t**4 / 400, lambda t: t - t**3 / 100),
    "normal, top elsewhere": (lambda t: 0.2 * t - t**2 / 2, lambda t: 0.2 - t),
    "logistic": (lambda t: -5 * np.log(np.cosh(t)), lambda t: -5 * np.tanh(t)),
    "a wall": (lambda t: 2 * t - np.exp(10 * t) / 5, lambda t: 2.0 - 2.0 * np.exp(10 * t)),
    "a wall beside two tops": (
        lambda t: t**2 / 2 - t**4 / 50 - np.exp(8 * (t - 0.5)),
        lambda t: t - 4 * t**3 / 50 - 8 * np.exp(8 * (t - 0.5)),
    ),
    "one steep side": (lambda t: 2 * t - np.exp(t), lambda t: 2.0 - np.exp(t)),
}


@pytest.mark.parametrize("reach", [1.0, 0.05, 20.0])
@pytest.mark.parametrize("name", list(DENSITIES))
def test_profiles_are_those_of_fine_grids(name, reach):
    """From a reach that is too far or not far enough; the tails are tangents."""
    height, slope = DENSITIES[name]
    asked = []

    def counted(t):
        asked.append(t)
        return slope(t)

    found = profile_along(counted, reach)
    places = np.linspace(-25.0, 25.0, 1_000_001)
    with np.errstate(over="ignore"):
        heights = height(places)
    density = np.exp(heights - heights.max())
    mean = np.average(places, weights=density)
    variance = np.average((places - mean) ** 2, weights=density)
    assert found.variance == pytest.approx(variance, rel=0.15)
    assert found.gain == pytest.approx(heights.max() - height(0.0), abs=0.05, rel=0.15)
    assert height(found.top) == pytest.approx(heights.max(), abs=0.02)
    assert len(asked) <= 25


def test_a_density_that_falls_nowhere_has_none():
    with pytest.raises(np.linalg.LinAlgError, match="no mode"):
        profile_along(lambda t: t, 1.0)

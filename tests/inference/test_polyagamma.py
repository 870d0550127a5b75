"""Polya-Gamma draws against closed forms, exact sums and slow twins.

Moments are compared within 5 Monte Carlo standard errors, computed from the true cumulants. No
allowance is made for the approximated region: its first five cumulants are exact, and its distance
from the true law (3.1e-6) is far below what these sample sizes can see.
"""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from polyagamma import random_polyagamma
from scipy.linalg import eigh, hankel
from scipy.stats import ks_2samp, kstest

from skbayesembed.inference import pg_kernels as kernels
from skbayesembed.inference.polyagamma import PolyaGammaDraws
from tests.helpers.pg_moments import pg_mean, pg_variance

TILTS = (0.0, 0.5, 2.0, 8.0, 30.0)
INTEGERS = [*range(1, 61), 100, 1000]
FRACTIONS = [1e-4, 0.01, 0.3, 0.9, 1.5, 2.5, 3.7, 7.5, 12.3, 80.5]


def scales(z, n=200_000):
    """Scales c_k of the sum of gammas that defines PG(h, z)."""
    k = np.arange(1, n + 1)
    return 1 / (2 * np.pi**2 * ((k - 0.5) ** 2 + (z / (2 * np.pi)) ** 2))


def power_sums(z):
    """sum_k c_k^j for j = 1..5, the first in closed form."""
    c = scales(z)
    sums = [np.sum(c**j) for j in range(1, 6)]
    sums[0] = np.tanh(z / 2) / (2 * z) if z else 0.25
    return np.array(sums)


POWER_SUMS = {z: power_sums(z) for z in TILTS}


def draws_of(h, z, size, seed):
    return PolyaGammaDraws(np.full(size, float(h))).draw(np.full(size, z), seeded(seed))


def crossed(first, second):
    """Pairs of two lists of values: every other one, the rest slowly."""
    return [
        pytest.param(a, b, marks=pytest.mark.slow if (i + j) % 2 else ())
        for i, a in enumerate(first)
        for j, b in enumerate(second)
    ]


def seeded(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("z", TILTS)
def test_closed_forms_match_the_defining_sum(z):
    # The sum of squares is cut after 2e5 terms: relative error below 1e-12 for z <= 30.
    np.testing.assert_allclose(pg_mean(3.0, z), 3 * POWER_SUMS[z][0], rtol=1e-14)
    np.testing.assert_allclose(pg_variance(3.0, -z), 3 * POWER_SUMS[z][1], rtol=1e-11)


def test_closed_forms_are_stable_everywhere():
    z = np.array([0.0, 1e-200, 1e-9, 2.8, 2.83, 700.0, 1e10, 1e200])
    mean, variance = pg_mean(1.0, z), pg_variance(1.0, z)
    np.testing.assert_allclose(mean[[0, 1, 2]], 0.25, rtol=1e-15)
    np.testing.assert_allclose(variance[[0, 1, 2]], 1 / 24, rtol=1e-15)
    for i in (3, 4):  # either side of the change of formula
        exact = (math.sinh(z[i]) - z[i]) / (4 * z[i] ** 3 * math.cosh(z[i] / 2) ** 2)
        np.testing.assert_allclose(variance[i], exact, rtol=1e-13)
    np.testing.assert_allclose(mean[5:], 1 / (2 * z[5:]), rtol=1e-14)
    np.testing.assert_allclose(variance[5:7], 1 / (2 * z[5:7] ** 3), rtol=1e-14)
    assert pg_mean(np.ones((4, 1)), z).shape == pg_variance(np.ones((4, 1)), z).shape == (4, 8)


@pytest.mark.parametrize(
    "z", [pytest.param(z, marks=pytest.mark.slow if z != 0.0 else ()) for z in TILTS]
)
@pytest.mark.parametrize("shapes", [INTEGERS, FRACTIONS], ids=["integer", "fraction"])
def test_moments(shapes, z):
    # Small shapes are rare large values: more draws, some 400 large ones or more, so that the mean
    # is close to normal.
    # 5 standard errors: about 1 in 2,000 for all 700 comparisons together.
    for h in shapes:
        size = 4_000_000 if h < 1e-3 else 400_000 if h < 0.1 else 40_000
        omega = draws_of(h, z, size, seed=[int(h * 1e4), int(z * 10)])
        mean, variance = pg_mean(h, z), pg_variance(h, z)
        fourth = 6 * h * POWER_SUMS[z][3]
        assert abs(omega.mean() - mean) < 5 * np.sqrt(variance / size), h
        error = np.mean((omega - mean) ** 2) - variance
        assert abs(error) < 5 * np.sqrt((fourth + 2 * variance**2) / size), h


@pytest.mark.parametrize(("h", "z"), crossed([1, 2, 3, 4, 5, 20], [0.0, 0.5, 1.3, 3.0]))
def test_integer_shapes_have_the_law_of_exact_draws(h, z):
    size = 100_000
    exact = random_polyagamma(h, z, size=size, method="devroye", random_state=seeded(1))
    assert ks_2samp(draws_of(h, z, size, seed=2), exact).pvalue > 1e-4


@pytest.mark.parametrize(
    ("parts", "z"),
    crossed([(0.3, 0.7), (0.05, 1.25, 1.7), (0.5, 3.5, 4.0), (6.6, 0.4)], [0.0, 2.0, 8.0]),
)
def test_fractional_shapes_add_up_to_exact_draws(parts, z):
    size = 100_000
    total = sum(draws_of(h, z, size, seed=i) for i, h in enumerate(parts))
    whole = round(sum(parts))
    exact = random_polyagamma(whole, z, size=size, method="devroye", random_state=seeded(9))
    assert ks_2samp(total, exact).pvalue > 1e-4


@pytest.mark.parametrize("h", [pytest.param(1e-3, marks=pytest.mark.slow), 0.02])
def test_many_tiny_shapes_add_up_to_exact_draws(h):
    n_parts, size, z = round(1 / h), 5_000, 1.0
    total = draws_of(h, z, n_parts * size, seed=3).reshape(size, n_parts).sum(axis=1)
    exact = random_polyagamma(1, z, size=size, method="devroye", random_state=seeded(4))
    assert ks_2samp(total, exact).pvalue > 1e-4


def test_large_shapes_are_normal_in_the_limit():
    omega = draws_of(1e6, 0.7, 20_000, seed=5)
    standard = (omega - pg_mean(1e6, 0.7)) / np.sqrt(pg_variance(1e6, 0.7))
    assert kstest(standard, "norm").pvalue > 1e-4


def twin_of_rejection(h, z, rng):
    """The rejection sampler in plain Python, its acceptance series summed in full."""
    while True:
        y = rng.standard_normal() ** 2
        slope, a = 2 * z / h, 2 * y / h**2
        x = 1 / (slope + a + math.sqrt(a * (a + 2 * slope)))
        if slope and rng.random() > 1 / (1 + x * slope):
            x = 1 / (slope**2 * x)
        if (1 + h) / (2 * x) > 60:
            return x
        if x > 8 + 2 * h:
            continue
        n = np.arange(200)
        ratios = -(n + h) * (2 * n + 2 + h) / ((n + 1) * (2 * n + h))
        ratios = ratios * np.exp(-(2 * n + 1 + h) / (2 * x))
        accepted = 1 + math.fsum(np.cumprod(ratios))
        assert -1e-9 <= accepted <= 1 + 1e-9
        if rng.random() <= accepted:
            return x


@pytest.mark.parametrize("h", [1e-3, 0.4, 1.0, 2.6])
def test_rejection_equals_its_twin(h):
    for z in (0.0, 1.0, 4.0):
        rng, twin_rng = seeded(6), seeded(6)
        got = [kernels.exact_draw(h, z, rng) for _ in range(100)]
        expected = [twin_of_rejection(h, z, twin_rng) for _ in range(100)]
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("z", [0.0, 0.5, 2.0, 2.9, 5.0, 8.0])
def test_two_gammas_are_the_gauss_radau_rule(z):
    sums = power_sums(z)
    # Both Hankel matrices of the measure c dnu, scaled so that the eigenproblem is well posed.
    unit = sums[2] / sums[1]
    m = sums[1:] / unit ** np.arange(4)
    nodes, vectors = eigh(hankel(m[1:3], m[2:4]), hankel(m[:2], m[1:3]))
    weights = (m[:2] @ vectors) ** 2
    nodes = nodes * unit
    shift, scale1, shape1, scale2, shape2 = kernels.two_gammas(z)
    np.testing.assert_allclose([scale2, scale1], nodes, rtol=1e-8)
    np.testing.assert_allclose([shape2, shape1], weights / nodes**2, rtol=1e-8)
    for j in range(1, 6):
        got = scale1**j * shape1 + scale2**j * shape2 + (shift if j == 1 else 0)
        np.testing.assert_allclose(got, sums[j - 1], rtol=1e-10)


def distance_of_two_gammas(h, z):
    """Largest difference of the distribution functions, by inverting characteristic functions."""
    shift, scale1, shape1, scale2, shape2 = kernels.two_gammas(z)
    mean, sd = pg_mean(h, z), np.sqrt(pg_variance(h, z))
    t = np.concatenate([np.logspace(-4, 0, 1000), np.linspace(1, 300, 30_000)[1:]]) / sd
    y = np.sqrt(z * z - 2j * t) / 2
    true = math.log(math.cosh(z / 2)) - (y + np.log1p(np.exp(-2 * y)) - math.log(2))
    ours = 1j * t * shift - sum(
        a * np.log(1 - 1j * t * s) for s, a in ((scale1, shape1), (scale2, shape2))
    )
    difference = (np.exp(h * true) - np.exp(h * ours)) / t
    at = mean + sd * np.linspace(-2.5, 4, 66)
    integrals = [np.trapezoid((np.exp(-1j * t * x) * difference).imag, t) for x in at[at > 0]]
    return np.abs(integrals).max() / np.pi


@pytest.mark.slow
def test_stated_distance_of_two_gammas():
    for h, stated in ((4, 3.1e-6), (8, 4.8e-7), (20, 1.2e-7), (50, 3.8e-8)):
        edge = -math.log(math.expm1(kernels.MAX_EXPONENT / h))
        distances = [distance_of_two_gammas(h, z) for z in (0.0, edge / 2, edge)]
        assert distances == sorted(distances)
        assert 0.8 * stated < distances[-1] < 1.03 * stated


MIXED = np.array([1e-6, 0.2, 1.0, 1.7, 2.0, 3.0, 4.0, 7.3, 60.0, 1e6] * 200)


def test_same_generator_state_same_draws():
    plan = PolyaGammaDraws(MIXED)
    z = seeded(0).normal(scale=3, size=MIXED.size)
    first = plan.draw(z, seeded(1))
    buffer = np.empty_like(first)
    assert plan.draw(z, seeded(1), buffer) is buffer
    np.testing.assert_array_equal(first, buffer)
    np.testing.assert_array_equal(first, plan.draw(-z, seeded(1)))
    in_place = z.copy()
    np.testing.assert_array_equal(first, plan.draw(in_place, seeded(1), in_place))
    assert (first > 0).all()
    assert not np.array_equal(first, plan.draw(z, seeded(2)))


def test_threads_share_a_plan():
    plan = PolyaGammaDraws(np.tile(MIXED, 10))
    z = seeded(0).normal(size=len(plan))
    expected = [plan.draw(z, seeded(i)) for i in range(2)]
    got = [np.empty(len(plan)) for _ in range(2)]
    threads = [threading.Thread(target=plan.draw, args=(z, seeded(i), got[i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(got, expected)


def test_extreme_shapes_and_tilts_are_positive_and_finite():
    h, z = np.meshgrid([1e-30, 1e-6, 0.5, 3.0, 1e6, 1e12], [0.0, 1e-12, 40.0, 1e9, 1e100])
    draws = PolyaGammaDraws(h.ravel()).draw(z.ravel(), seeded(0))
    assert np.isfinite(draws).all()
    assert (draws > 0).all()
    tilts = np.array([np.nan, np.inf, 0.0])
    draws = PolyaGammaDraws([1.0, 5.0, 2.0]).draw(tilts, seeded(0))
    assert np.isnan(draws[:2]).all()
    assert draws[2] > 0


def test_empty():
    assert PolyaGammaDraws([]).draw(np.empty(0), seeded(0)).shape == (0,)


@pytest.mark.parametrize("shape", [[0.0], [-1.0], [1.0, np.nan], [np.inf], [1e-40], [1e13]])
def test_refused_shapes(shape):
    with pytest.raises(ValueError, match="shape must be finite, at least 1e-30"):
        PolyaGammaDraws(shape)


def test_refused_arguments():
    for shape in (1.0, np.ones((2, 2))):
        with pytest.raises(ValueError, match="shape must be one-dimensional"):
            PolyaGammaDraws(shape)
    plan = PolyaGammaDraws([1.0, 2.0])
    with pytest.raises(ValueError, match=r"z must have shape \(2,\), got \(3,\)"):
        plan.draw(np.zeros(3), seeded(0))
    for out in (np.empty(3), np.empty(2, dtype=np.float32), np.empty(4)[::2]):
        with pytest.raises(ValueError, match="out must be a contiguous float64 array"):
            plan.draw(np.zeros(2), seeded(0), out)
    with pytest.raises(TypeError, match=r"rng must be a numpy.random.Generator, got int"):
        plan.draw(np.zeros(2), 0)

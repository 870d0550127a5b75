"""Whitening and the posterior of correlations against whole matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skbayesembed.numeric import autocorrelation
from skbayesembed.numeric.autocorrelation import Autocorrelation, LeastSquaresInTime
from skbayesembed.numeric.neighbors import Neighbors
from skbayesembed.numeric.regression import ClusteredLeastSquares
from skbayesembed.regression.in_time import SlopesInTime

SIZES = (1, 3, 2, 4, 1, 2, 2, 3)
# Of units at one time any of two orders.
ORDERS = ((0, 1, 2, 3, 4, 5, 6, 7), (0, 2, 1, 3, 4, 5, 6, 7))


def problem(rng, sizes=SIZES):
    """A design of two columns, an outcome, units and their times, two of them the same."""
    index = np.repeat(np.arange(len(sizes)), sizes)
    times = np.array([1.0, 2.0, 2.0, 5.0, 6.0, 9.0, 9.5, 13.0])[: len(sizes)][index]
    x = np.column_stack([rng.normal(size=index.size), np.ones(index.size)])
    return x, rng.normal(size=index.size), index, times


def correlations(when, sizes, length, slow):
    """Covariance of the mean residuals of units."""
    apart = np.abs(when[:, None] - when)
    process = np.exp(-apart / length) if length > 0 else np.eye(len(when))
    own = (1.0 / sizes) / np.mean(1.0 / sizes)
    return slow * process + (1 - slow) * np.diag(own)


def root(cov, backward):
    """A root of the covariance of eight units, triangular but for two at one time.

    Of what is left of them given those before, D and a constant, it is ``D^1/2`` times the
    symmetric root of one and the constant over D.
    """
    order = np.arange(8)[::-1] if backward else np.arange(8)
    cov = cov[np.ix_(order, order)]
    out = np.linalg.cholesky(cov)
    a, b = (5, 7) if backward else (1, 3)
    if cov[a, a + 1] > 0:
        left = out[a:b, a:b] @ out[a:b, a:b].T
        own = np.sqrt(np.diag(left) - left[0, 1])
        size, turn = np.linalg.eigh(left / np.outer(own, own))
        inner = own[:, None] * (turn * np.sqrt(size)) @ turn.T
        out[:, a:b] = out[:, a:b] @ np.linalg.solve(out[a:b, a:b], inner)
    back = np.argsort(order)
    return out[np.ix_(back, back)]


def next_to(products, order):
    """Sum of products of each with the next."""
    return np.sum(np.diag(products[np.ix_(order, order)], 1))


@pytest.mark.parametrize("sizes", [SIZES, (1,) * 8], ids=["several rows", "one row each"])
def test_against_whole_matrices(sizes):
    """Weights are restricted likelihoods of means, which a root of the covariance whitens."""
    x, y, index, times = problem(np.random.default_rng(0), sizes)
    sizes = np.array(sizes)
    means = (np.arange(len(sizes))[:, None] == index) / sizes[:, None]
    when = means @ times
    found = Autocorrelation(x, y, index, times)
    step = np.median(np.diff(np.unique(when)))
    ends, shares = (0.5 * step, 25 * 12.0), (0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
    lengths = np.geomspace(*ends, 1 + int(np.ceil(np.log(ends[1] / ends[0]) / 0.85)))
    alone = [(0.0, 0.0), *((0.0, slow) for slow in shares if np.ptp(sizes))]
    models = [*alone, *itertools.product(lengths, (*shares, 0.995, 0.9995))]
    line = (when - when.mean()) / when.std()
    log_p = []
    for model, with_line in itertools.product(models, (False, True)):
        cov = correlations(when, sizes, *model)
        z = np.column_stack([means @ x, line])[:, : 2 + with_line]
        inverse = np.linalg.inv(cov)
        left = means @ y - z @ np.linalg.solve(z.T @ inverse @ z, z.T @ inverse @ means @ y)
        log_p.append(
            -0.5 * np.linalg.slogdet(cov)[1]
            - 0.5 * np.linalg.slogdet(z.T @ inverse @ z)[1]
            - 0.5 * (len(sizes) - 2) * np.log(left @ inverse @ left)
        )
        # half of the prior is that of independent units, of lengths it goes by 1 / sqrt(length)
        of_length = sum(other[0] ** -0.5 for other in models if other[0] > 0)
        own = 0.5 / len(alone) if model[0] == 0 else 0.5 * model[0] ** -0.5 / of_length
        log_p[-1] += np.log(own)
    p = np.exp(np.array(log_p) - max(log_p))
    p = np.where(p >= 0.01, p, 0.0)
    np.testing.assert_allclose(found.weights, p[p > 0] / p.sum(), rtol=1e-8)
    expected = [m for m, q in zip(itertools.product(models, (False, True)), p, strict=True) if q]
    rotated = found.rotate(np.column_stack([x, y]))
    np.testing.assert_allclose(
        rotated.T @ rotated, np.column_stack([x, y]).T @ np.column_stack([x, y])
    )
    first = np.unique(index, return_index=True)[1]
    np.testing.assert_allclose(
        rotated[first], means @ np.column_stack([x, y]) * np.sqrt(sizes)[:, None]
    )
    others = np.setdiff1d(np.arange(len(y)), first)
    of_neighbors = []
    for i, (model, with_line) in enumerate(expected):
        assert found.lines[i] == with_line
        cov = correlations(when, sizes, *model) * np.mean(1.0 / sizes)
        for backward in (False, True):
            white = found.whiten(i, backward, rotated)
            np.testing.assert_array_equal(white[others], rotated[others])
            by_hand = np.linalg.solve(root(cov, backward), means @ np.column_stack([x, y]))
            np.testing.assert_allclose(white[first], by_hand, atol=1e-9)
        z = np.column_stack([np.ones(len(sizes)), line])[:, : 1 + with_line]
        away = np.eye(len(sizes)) - z @ np.linalg.pinv(z)
        of_both = []
        for of in (model, (0.0, 0.0)):
            cov = away @ correlations(when, sizes, *of) @ away
            of_both.append(np.mean([next_to(cov, order) for order in ORDERS]) / np.trace(cov))
        of_neighbors.append(max(of_both[0] - of_both[1], 0.0) if model[0] > 0 else 0.0)
    alone = [model[0] == 0 for model, _ in expected]
    assert found.positive == pytest.approx(1.0 - found.weights[alone].sum())
    assert found.trend == pytest.approx(found.weights @ found.lines)
    mean, ends = found.neighbors(0.9)
    assert mean == pytest.approx(found.weights @ np.array(of_neighbors))
    assert min(of_neighbors) - 1e-9 <= ends[0] < mean < ends[1] <= max(of_neighbors) + 1e-9
    left = y - x @ np.linalg.lstsq(x, y)[0]
    left = means @ left - np.mean(means @ left)
    of_orders = np.mean([next_to(np.outer(left, left), order) for order in ORDERS])
    assert found.seen() == pytest.approx(of_orders / (left @ left))


def test_neither_direction_nor_order_matters():
    """Of time, and of units at one time."""
    rng, n = np.random.default_rng(12), 60
    times = np.repeat(np.arange(20), 3) + 0.0
    walk = np.cumsum(rng.normal(size=20))[np.arange(n) // 3]
    x = np.column_stack([rng.normal(size=n) + 0.3 * walk, np.ones(n)])
    y = walk + rng.normal(size=n)

    def found(order, times):
        fit = LeastSquaresInTime(x[order], y[order], np.arange(n), times[order])
        ends = fit.found.neighbors(0.9)
        told = fit.found.seen(), fit.found.alternation(), ends[0], *ends[1]
        return np.r_[np.concatenate(fit.fit(y[order, None])[:2]).ravel(), fit.freedom, told]

    expected = found(np.arange(n), times)
    np.testing.assert_allclose(found(np.arange(n), -times), expected, rtol=1e-6)
    np.testing.assert_allclose(found(rng.permutation(n), times), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "times",
    [np.repeat([0.0, 1.0], 10), np.repeat([0.0, 1.0], [11, 1]), np.repeat(np.arange(4.0), 5)],
    ids=["two times", "one unit apart", "panel"],
)
def test_few_times_tell_of_no_alternation(times):
    """Where what neighbors have in common is the same whatever residuals are."""
    rng, n = np.random.default_rng(13), times.size
    columns = [np.ones(n), rng.normal(size=n)]
    if np.unique(times).size > 2:
        columns += [(times == t) + 0.0 for t in (1, 2, 3)]
    found = Autocorrelation(np.column_stack(columns), rng.normal(size=(n, 2)), np.arange(n), times)
    assert np.isfinite(found.neighbors(0.9)[0]).all()
    # beside a line, or terms for times, nothing is left to be told
    assert np.all(np.abs(found.alternation()) < 2.3)


def test_moments_of_correlations_with_ties():
    """Of independent residuals, those at one time in any order, against many of them."""
    rng, gaps = np.random.default_rng(14), np.array([0.0, 1, 0, 0, 2, 0, 1, 1, 0, 0])
    q = np.linalg.qr(np.column_stack([np.ones(10), rng.normal(size=10)]))[0]
    left = rng.normal(size=(10, 20000))
    left -= q @ (q.T @ left)
    by_time = Neighbors(gaps)
    found, (mean, sd) = by_time.correlation(left), by_time.moments(q)
    assert np.mean(found) == pytest.approx(mean, abs=4 * sd / np.sqrt(20000))
    assert np.std(found) == pytest.approx(sd, rel=0.03)


def test_several_outcomes():
    """Each has correlations of its own, as if it were alone."""
    rng, n = np.random.default_rng(9), 20
    x = np.column_stack([rng.normal(size=n), np.ones(n)])
    index, times = np.arange(n), np.arange(n, dtype=float)
    y = np.column_stack([np.cumsum(rng.normal(size=(n, 2)), axis=0), rng.normal(size=n)])
    # the terms tell the last without a rest
    y = np.column_stack([y, x @ [1.0, 2.0]])
    together = Autocorrelation(x, y, index, times)
    alone = [Autocorrelation(x, of, index, times) for of in y.T]
    np.testing.assert_allclose(together.weights.sum(axis=0), 1.0)
    for name in ("trend", "positive"):
        np.testing.assert_allclose(getattr(together, name), [getattr(one, name) for one in alone])
    for name in ("seen", "alternation"):
        np.testing.assert_allclose(getattr(together, name)(), [getattr(a, name)() for a in alone])
    for i in range(2):
        each = [one.neighbors(0.9)[i] for one in alone]
        np.testing.assert_allclose(together.neighbors(0.9)[i], each)
    fit = LeastSquaresInTime(x, y, index, times)
    found = fit.fit(y)
    for k, of in enumerate(y.T):
        one = LeastSquaresInTime(x, of, index, times)
        for part, own in zip(found, one.fit(of[:, None]), strict=True):
            np.testing.assert_allclose(part[..., k], own[..., 0], atol=1e-12)
        np.testing.assert_allclose(fit.freedom[:, k], one.freedom)


@pytest.mark.slow
def test_moments_of_correlations_with_the_next():
    """Against many series, and which are clearly negative: one in a hundred of independent ones."""
    rng, n = np.random.default_rng(10), 20
    x = np.column_stack([np.ones(n), np.arange(n) - 0.5 * (n - 1), rng.normal(size=n)])
    q = np.linalg.qr(x)[0]
    left = rng.normal(size=(n, 20000))
    left -= q @ (q.T @ left)
    by_time = Neighbors(np.ones(n))
    found = by_time.correlation(left)
    mean, sd = by_time.moments(q)
    assert np.mean(found) == pytest.approx(mean, abs=4 * sd / np.sqrt(20000))
    # of a standard deviation: 1 / sqrt(2 n), about
    assert np.std(found) == pytest.approx(sd, rel=4 / np.sqrt(40000))
    index, times = np.arange(n), np.arange(n, dtype=float)
    independent = [
        Autocorrelation(x, rng.normal(size=n), index, times).alternation() for _ in range(100)
    ]
    # one of 100, and three standard errors
    assert np.sum(autocorrelation.alternates(np.array(independent))) <= 4
    turn = (-1.0) ** np.arange(n) + 0.5 * rng.normal(size=n)
    assert autocorrelation.alternates(Autocorrelation(x, turn, index, times).alternation())


def test_independent_units_are_as_without_times(monkeypatch):
    """Slopes, variances and degrees of freedom, whatever there is within units."""
    x, y, index, times = problem(np.random.default_rng(4))
    monkeypatch.setattr(Autocorrelation, "_models", lambda self: iter([(0.0, 0.0)]))
    monkeypatch.setattr(autocorrelation, "_adds", lambda basis, column: False)
    found = LeastSquaresInTime(x, y, index, times)
    mean, variance, influence = found.fit(y[:, None])
    plain = ClusteredLeastSquares(x, index)
    slopes, parts = plain.fit(y[:, None])
    np.testing.assert_allclose(mean, slopes)
    np.testing.assert_allclose(variance, np.sum(parts**2, axis=0))
    np.testing.assert_allclose(np.abs(influence), np.abs(parts))
    np.testing.assert_allclose(found.freedom, plain.freedom)


def test_columns_that_differ_within_units_only():
    """Centered by unit, whatever rounding leaves of their means; and exactly so."""
    rng, units = np.random.default_rng(6), np.repeat(np.arange(20), 8)
    given, y = rng.normal(size=(units.size, 3)), rng.normal(size=units.size)
    times = units + 0.0

    def found(shift):
        x = given + shift
        x = x - (np.add.reduceat(x, np.arange(0, units.size, 8)) / 8)[units]
        fit = LeastSquaresInTime(np.column_stack([x, np.ones(len(x))]), y, units, times)
        return *(of[:3, 0] for of in fit.fit(y[:, None])[:2]), fit.found.neighbors(0.9)[0]

    expected = found(0.0)
    for shift in (100.0, 1000.0):
        for one, other in zip(found(shift), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    signs = np.tile([-1.0, 1.0], units.size // 2)
    exact = LeastSquaresInTime(np.column_stack([signs, np.ones(units.size)]), y, units, times)
    assert np.isfinite(exact.fit(y[:, None])[1]).all()
    # an outcome that differs within units only has nothing to be autocorrelated
    nothing = LeastSquaresInTime(np.ones((units.size, 1)), signs, units, times)
    assert np.isnan(nothing.found.neighbors(0.9)[0]) and np.isnan(nothing.found.trend)


@pytest.mark.slow
def test_units_of_other_sizes_are_not_autocorrelated():
    """Documents of a unit are alike: means of many are no better known, and no more alike."""
    rng, excluded = np.random.default_rng(7), 0
    sizes = np.minimum(1 + rng.pareto(1.0, 40), 150).astype(int)
    units = np.repeat(np.arange(40), sizes)
    for _ in range(30):
        y = rng.normal(size=40)[units] + rng.normal(size=units.size)
        x = np.column_stack([rng.normal(size=40)[units], np.ones(units.size)])
        found = Autocorrelation(x, y, units, units + 0.0)
        excluded += found.neighbors(0.9)[1][0] > 0
    # at most 5 % of 30, and two standard errors
    assert excluded <= 4


def test_times_that_differ_by_rounding():
    """Of units at one time with other numbers of documents; and of what the unit of time is."""
    rng = np.random.default_rng(8)
    units = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    x, y = np.column_stack([rng.normal(size=units.size), np.ones(units.size)]), units % 7 + 0.0
    y += rng.normal(size=units.size)
    results = [
        LeastSquaresInTime(x, y, units, times).fit(y[:, None])[1]
        for times in (units // 3 + 1900.0, units // 3 + 1900 + 1 / 3, 365.25 * (units // 3))
    ]
    for variance in results[1:]:
        np.testing.assert_allclose(variance, results[0], rtol=1e-6)
    with pytest.raises(ValueError, match="times must differ between units, got the same mean"):
        LeastSquaresInTime(x[:20], y[:20], np.arange(20) // 2, np.tile([0.0, 1.0], 10))


@pytest.mark.slow
def test_what_is_within_units_does_not_decide():
    """Documents of one address are alike: slopes are no worse than without times.

    If documents were taken for independent given their unit, errors would be four times as large.
    """
    rng, (n_units, n_addresses, n) = np.random.default_rng(5), (20, 6, 8)
    units = np.repeat(np.arange(n_units), n_addresses * n)
    address = np.repeat(np.arange(n_units * n_addresses), n)
    matrix = np.column_stack([np.ones(units.size), address / 10.0])
    errors = []
    for _ in range(40):
        y = 0.05 * rng.normal(size=n_units)[units] + 0.1 * rng.normal(size=address[-1] + 1)[address]
        y += 0.2 * rng.normal(size=units.size)
        found = LeastSquaresInTime(matrix, y, units, address.astype(float))
        plain = ClusteredLeastSquares(matrix, units).fit(y[:, None])[0]
        errors.append([found.fit(y[:, None])[0][1, 0], plain[1, 0]])
    # the ratio of two standard deviations of 40 that correlate
    in_time, without = np.std(errors, axis=0)
    assert in_time < 1.3 * without


def test_regressions_on_draws_and_of_them_are_the_same():
    """Without error of features, of one outcome and of several."""
    rng = np.random.default_rng(3)
    x, y, index, times = problem(rng)
    order = rng.permutation(len(y))
    one = LeastSquaresInTime(x[order], y[order], index[order], times[order])
    mean, variance, influence = one.fit(np.column_stack([y, 2 * y])[order])
    draws = np.repeat(x[None, :, :1], 20, axis=0)
    other = SlopesInTime(draws, x[:, 1:], y, index, False, times)
    np.testing.assert_allclose(mean[:, 0], other.slopes)
    np.testing.assert_allclose(mean[:, 1], 2 * other.slopes)
    np.testing.assert_allclose(variance[:, 0], np.diag(other.by_units))
    np.testing.assert_allclose(variance[:, 1], 4 * np.diag(other.by_units))
    np.testing.assert_allclose(np.sum(influence**2, axis=0), variance)
    np.testing.assert_allclose(one.freedom, other.freedom)


def test_random_walks_are_among_the_correlations():
    """At the longest of lengths, units may differ by steps alone, and be next to independent."""
    times = np.arange(30.0)
    x = np.column_stack([np.random.default_rng(15).normal(size=30), np.ones(30)])
    models = list(Autocorrelation(x, x[:, 0] ** 2, np.arange(30), times)._models())
    longest = max(length for length, _ in models)
    steps = 2.0 * (1.0 - np.exp(-1.0 / longest))
    shares = np.array([slow for length, slow in models if length == longest])
    own = (1.0 - shares) / (shares * steps)
    assert longest > 20 * np.ptp(times) and own.min() < 0.25 and own.max() > 100


@pytest.mark.parametrize("n_outcomes", [1, 2])
def test_variance_between_correlations_counts_twice(n_outcomes):
    """Beside the mean variance; standard errors of contrasts have it, too."""
    rng, n = np.random.default_rng(16), 24
    walks = np.cumsum(rng.normal(size=(n, 2 + n_outcomes)), axis=0)
    x, y = np.column_stack([walks[:, :2], np.ones(n)]), walks[:, 2:]
    index, times = np.arange(n), np.arange(n, dtype=float)
    fit = LeastSquaresInTime(x, y if n_outcomes > 1 else y[:, 0], index, times)
    found = Autocorrelation(x, y, index, times)
    rotated = found.rotate(np.column_stack([x, found.line, y]))
    weights, slopes, variances = [], [], []
    for i, backward, weight in found.views():
        white = found.whiten(i, backward, rotated)
        by, of = white[:, : 3 + found.lines[i]], white[:, 4:]
        hat = by @ np.linalg.pinv(by)
        left = (of - hat @ of) / np.sqrt(1.0 - np.diag(hat))[:, None]
        weights.append(weight)
        slopes.append((np.linalg.pinv(by) @ of)[:3])
        variances.append((np.linalg.pinv(by)[:3] ** 2) @ left**2)
    weights = np.array(weights)[:, None]
    mean = np.sum(weights * slopes, axis=0)
    between = np.sum(weights * (np.array(slopes) - mean) ** 2, axis=0)
    within = np.sum(weights * variances, axis=0)
    assert np.all(between[:2] > 0.003 * within[:2])
    coefficients, variance, _ = fit.fit(y)
    np.testing.assert_allclose(coefficients, mean)
    np.testing.assert_allclose(variance, within + 2.0 * between)
    draws = np.repeat(x[None, :, :2], 20, axis=0)
    by_units = SlopesInTime(draws, x[:, 2:], y[:, 0], index, False, times).by_units
    np.testing.assert_allclose(np.diag(by_units), variance[:, 0])
    sums = np.repeat(x[None, :, :2] @ [[1.0, 1.0], [1.0, -1.0]], 20, axis=0)
    turned = SlopesInTime(sums, x[:, 2:], y[:, 0], index, False, times)
    half = np.array([0.5, 0.5, 0.0])
    assert turned.by_units[0, 0] == pytest.approx(half @ by_units @ half)


def test_what_is_found():
    """Of a random walk neighbours correlate, of independent rows little, of a trend the line."""
    rng, n = np.random.default_rng(1), 80
    x = np.column_stack([rng.normal(size=n), np.ones(n)])
    index, times = np.arange(n), np.arange(n, dtype=float)
    walk = Autocorrelation(x, np.cumsum(rng.normal(size=n)), index, times)
    # without the line and the correlation of neighbors that it has by chance
    noise = rng.normal(size=n)
    by = np.column_stack([np.ones(n), times, np.roll(noise, 1)])
    noise -= by @ np.linalg.lstsq(by, noise)[0]
    alone = Autocorrelation(x, noise, index, times)
    rising = Autocorrelation(x, noise + 0.05 * times, index, times)
    mean, (low, high) = walk.neighbors(0.9)
    assert low <= mean <= high and low > 0.5
    assert alone.neighbors(0.9)[0] < 0.2 and alone.trend < 0.5 < 0.95 < rising.trend
    told = Autocorrelation(np.column_stack([x, times]), noise, index, times)
    assert np.isnan(told.trend) and not told.lines.any()

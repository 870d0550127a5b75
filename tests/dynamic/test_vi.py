"""Variational trajectories: O(T) algebra against dense matrices, the bound, the fit, filtering."""

import numpy as np
import pytest
from scipy import integrate, sparse
from scipy.special import expit

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.dynamic.vi.expected import ExpectedPairs
from skbayesembed.dynamic.vi.filtering import Filtering
from skbayesembed.dynamic.vi.sites import DriftSites, apply_precision
from skbayesembed.dynamic.vi.smoothing import Smoothing, climb, dynamic_start, static_start
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.sgns.counting import PairCounts
from skbayesembed.sgns.pairs import RankOne

PRECISION = 4.0


def some_sites(seed=0, gaps=(1.0, 0.3, 5.0, 2.0), n_words=3, k=2):
    rng = np.random.default_rng(seed)
    shape = (2, len(gaps) + 1, n_words, k)
    lam = (rng.gamma(2.0, 3.0, shape) * (rng.random(shape) < 0.7)).astype(np.float32)
    eta = rng.normal(0, 3, shape).astype(np.float32)
    return DriftPrior(gaps, PRECISION, 0.2), lam, eta


def dense(prior, lam, eta, side, w, j):
    """Mean and covariance of a factor by dense matrices."""
    precision = prior.tridiagonal().dense() + np.diag(lam[side, :, w, j].astype(float))
    covariance = np.linalg.inv(precision)
    return covariance @ eta[side, :, w, j], covariance


def random_counts(n_words=12, n_periods=3, seed=0, product=True, empty=()):
    rng = np.random.default_rng(seed)
    counts = []
    for t in range(n_periods):
        rate = 0.0 if t in empty else 0.8
        positive = sparse.csr_array(rng.poisson(rate, (n_words, n_words)).astype(float))
        if product:
            left, right = rng.gamma(1.0, 3.0, n_words), rng.dirichlet(np.ones(n_words))
            right[0] = 0.0
            negative = RankOne(left * (t not in empty), right)
        else:
            negative = sparse.csr_array(rng.poisson(rate, (n_words, n_words)).astype(float))
        counts.append(PairCounts(positive, negative))
    return counts


# The O(T) algebra ---------------------------------------------------------------------------------


def test_moments_are_those_of_dense_matrices():
    prior, lam, eta = some_sites()
    sites = DriftSites(prior, lam, eta)
    for side, name in enumerate(("rho", "alpha")):
        for w in range(3):
            for j in range(2):
                mean, covariance = dense(prior, lam, eta, side, w, j)
                np.testing.assert_allclose(sites.mean[name][:, w, j], mean, atol=1e-6, rtol=1e-5)
                found = sites.variance[name][:, w, j]
                np.testing.assert_allclose(found, np.diag(covariance), rtol=1e-5)


@pytest.mark.parametrize("periods", [None, [0, 4], [1, 2, 4], [3], [0, 1, 2]])
def test_draws_have_the_dense_mean_and_covariance(periods):
    prior, lam, eta = some_sites()
    sites = DriftSites(prior, lam, eta)
    n = 40_000
    draws = sites.draw_words("alpha", [2, 0], n, seed=3, periods=periods).astype(float)
    chosen = np.arange(5) if periods is None else np.array(periods)
    assert draws.shape == (n, chosen.size, 2, 2)
    for p, w in enumerate([2, 0]):
        for j in range(2):
            mean, covariance = dense(prior, lam, eta, 1, w, j)
            mean, covariance = mean[chosen], covariance[np.ix_(chosen, chosen)]
            x = draws[:, :, p, j]
            sd = np.sqrt(np.diag(covariance))
            # 5 standard errors of a mean, and of a covariance of normal variables
            assert np.all(np.abs(x.mean(axis=0) - mean) < 5 * sd / np.sqrt(n))
            error = np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / n)
            found = np.atleast_2d(np.cov(x.T))
            assert np.all(np.abs(found - covariance) < 5 * error)


def test_solve_and_product_are_inverse_and_dense():
    prior, lam, x = some_sites(seed=1)
    product = apply_precision(prior.tridiagonal(), lam, x)
    precision = prior.tridiagonal().dense() + np.diag(lam[1, :, 2, 0].astype(float))
    np.testing.assert_allclose(product[1, :, 2, 0], precision @ x[1, :, 2, 0], rtol=1e-4, atol=1e-4)
    pairs = ExpectedPairs(random_counts(3, 5))
    smoothing = Smoothing(pairs, prior, x, lam, serial)
    smoothing.precondition(product)
    np.testing.assert_allclose(product, x, rtol=1e-4, atol=1e-4)


# The bound ----------------------------------------------------------------------------------------


def two_points(m, v):
    """Expectation of log(1 + exp) as the kernels have it."""
    s = np.sqrt(v)
    return 0.5 * (np.logaddexp(0, m + s) + np.logaddexp(0, m - s))


@pytest.mark.parametrize("product", [True, False])
def test_expected_log_likelihood_is_the_sum_over_pairs(product):
    counts = random_counts(product=product, empty=(1,))
    pairs = ExpectedPairs(counts)
    rng = np.random.default_rng(2)
    shape = (2, 3, 12, 2)
    mean = rng.normal(0, 1, shape).astype(np.float32)
    variance = rng.gamma(2, 0.1, shape).astype(np.float32)
    value, _, _ = pairs.evaluate(mean, variance, serial)
    expected = 0.0
    for t, c in enumerate(counts):
        positive, negative = (a.toarray() for a in (c.positive, c.negative))
        m = mean[0, t].astype(float) @ mean[1, t].T.astype(float)
        x2, y2 = mean[0, t].astype(float) ** 2, mean[1, t].astype(float) ** 2
        v = x2 @ variance[1, t].T + variance[0, t] @ (y2 + variance[1, t]).T
        expected += np.sum(positive * m - (positive + negative) * two_points(m, v))
    assert value == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("product", [True, False])
def test_gradient_and_curvature_are_the_derivatives(product):
    pairs = ExpectedPairs(random_counts(product=product))
    rng = np.random.default_rng(4)
    shape = (2, 3, 12, 2)
    mean = rng.normal(0, 1, shape).astype(np.float32)
    variance = rng.gamma(2, 0.2, shape).astype(np.float32)
    _, gradient, curvature = pairs.evaluate(mean, variance, serial)
    for direction in rng.normal(0, 1, (3, *shape)).astype(np.float32):
        step = np.float32(1e-2)
        up = pairs.evaluate(mean + step * direction, variance, serial)[0]
        down = pairs.evaluate(mean - step * direction, variance, serial)[0]
        slope = np.vdot(gradient, direction)
        assert (up - down) / (2 * step) == pytest.approx(slope, rel=2e-3, abs=0.05)
        bent = variance * direction
        up = pairs.evaluate(mean, variance + step * bent, serial)[0]
        down = pairs.evaluate(mean, variance - step * bent, serial)[0]
        slope = -0.5 * np.vdot(curvature, bent)
        assert (up - down) / (2 * step) == pytest.approx(slope, rel=2e-3, abs=0.05)


def test_two_points_are_near_the_normal_expectation():
    for m in (-4.0, -1.0, 0.0, 2.0):
        for v in (0.01, 0.3, 1.0, 4.0):

            def f(z, m=m, v=v):
                weight = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
                return weight * np.logaddexp(0, m + np.sqrt(v) * z)

            exact = integrate.quad(f, -10, 10)[0]
            assert two_points(m, v) == pytest.approx(exact, abs=0.004 + 0.02 * v)


def test_the_bound_is_below_the_evidence_and_near_it():
    # one word, one component, two periods: the evidence by quadrature over the four numbers
    counts = [
        PairCounts(sparse.csr_array([[2.0]]), sparse.csr_array([[1.0]])),
        PairCounts(sparse.csr_array([[0.0]]), sparse.csr_array([[3.0]])),
    ]
    prior = DriftPrior([1.0], 1.0, 0.5)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    root = np.linalg.cholesky(np.linalg.inv(prior.tridiagonal().dense()))
    z = np.stack(np.meshgrid(nodes, nodes, indexing="ij")).reshape(2, -1)
    x = root @ z
    w = np.outer(weights, weights).ravel()
    likelihood = np.ones((x.shape[1], x.shape[1]))
    for t, c in enumerate(counts):
        p = expit(np.outer(x[t], x[t]))
        likelihood *= p ** c.positive[0, 0] * (1 - p) ** c.negative[0, 0]
    evidence = np.log(w @ likelihood @ w)
    pairs = ExpectedPairs(counts)
    mean = np.full((2, 2, 1, 1), 0.3, np.float32)
    smoothing = Smoothing(pairs, prior, mean, np.ones_like(mean), serial)
    elbo, *_ = climb(smoothing, max_iter=200, tol=1e-10)
    assert evidence - 0.6 < elbo[-1] < evidence


def test_rounds_raise_the_bound_and_end_where_it_is_stationary():
    sim = make_dynamic_sgns(30, 2, 5, 4000, empty_periods=[3], random_state=1)
    prior = DriftPrior(np.diff(sim.times), 2.0, 0.02)
    pairs = ExpectedPairs(sim.pairs)
    static = static_start(sim.pairs, 2, 2.0, np.random.default_rng(0), serial)
    mean, lam = dynamic_start(static, pairs, prior, np.random.default_rng(1))
    smoothing = Smoothing(pairs, prior, mean, lam, serial)
    elbo, n_iter, converged, interrupted = climb(smoothing, max_iter=500, tol=1e-9)
    assert converged and not interrupted and n_iter < 500
    # single precision: the value has seven digits
    assert np.all(np.diff(elbo) > -1e-6 * abs(elbo[-1]))
    _, gradient = smoothing.value_and_gradient()
    spread = np.sqrt(smoothing.variance)
    assert np.max(np.abs(gradient) * spread) < 0.05
    # sites are the curvature, and the known variances those of the sites
    np.testing.assert_allclose(smoothing.lam, smoothing.curvature, rtol=1e-2, atol=1e-2)


# Filtering ----------------------------------------------------------------------------------------


def filtered(sim, k, times, diffusion=0.02, run=serial):
    filtering = Filtering(sim.rho.shape[1], k, float(k), diffusion, np.random.default_rng(0))
    for time, counts in zip(times, sim.pairs, strict=True):
        filtering.learn(time, counts, run, max_iter=200, tol=1e-8)
    return filtering


def test_filtering_is_near_smoothing():
    sim = make_dynamic_sgns(40, 2, 6, 20_000, random_state=3)
    found = filtered(sim, 2, sim.times).sites(sim.times, serial)
    pairs, prior = ExpectedPairs(sim.pairs), DriftPrior(np.diff(sim.times), 2.0, 0.02)
    static = static_start(sim.pairs, 2, 2.0, np.random.default_rng(0), serial)
    smoothing = Smoothing(
        pairs, prior, *dynamic_start(static, pairs, prior, np.random.default_rng(1)), serial
    )
    climb(smoothing, max_iter=200, tol=1e-8)
    best = smoothing.sites()

    def proba(sites):
        return expit(np.einsum("tik,tjk->tij", sites.mean["rho"], sites.mean["alpha"]))

    truth = expit(np.einsum("tik,tjk->tij", sim.rho, sim.alpha))
    error = {name: np.sqrt(np.mean((proba(s) - truth) ** 2)) for name, s in
             (("filtering", found), ("smoothing", best))}  # fmt: skip
    static_error = np.sqrt(np.mean((truth.mean(axis=0) - truth) ** 2))
    assert error["smoothing"] <= error["filtering"] < 1.15 * error["smoothing"]
    assert error["filtering"] < static_error


def test_the_bounds_of_periods_add_up_to_less_than_that_of_all():
    sim = make_dynamic_sgns(20, 2, 4, 4000, random_state=4)
    filtering = filtered(sim, 2, sim.times)
    pairs, prior = ExpectedPairs(sim.pairs), DriftPrior(np.diff(sim.times), 2.0, 0.02)
    static = static_start(sim.pairs, 2, 2.0, np.random.default_rng(0), serial)
    smoothing = Smoothing(
        pairs, prior, *dynamic_start(static, pairs, prior, np.random.default_rng(1)), serial
    )
    elbo, *_ = climb(smoothing, max_iter=200, tol=1e-8)
    # the sum is the bound of a chain of approximations, each blind to what comes after
    assert 1.02 * elbo[-1] < sum(filtering.elbo) < elbo[-1]


def test_an_empty_period_and_new_words_change_nothing():
    sim = make_dynamic_sgns(15, 2, 4, 2000, random_state=5)
    plain = filtered(sim, 2, [0.0, 1.0, 4.0, 5.0])
    filtering = Filtering(15, 2, 2.0, 0.02, np.random.default_rng(0))
    nothing = sparse.csr_array((15, 15))
    for time, counts in zip(
        [0.0, 1.0, 2.5, 4.0], [*sim.pairs[:2], None, sim.pairs[2]], strict=True
    ):
        counts = PairCounts(nothing, nothing) if counts is None else counts
        filtering.learn(time, counts, serial, max_iter=200, tol=1e-8)
    filtering.add_words(2)
    last = sim.pairs[3]
    wider = [sparse.csr_array((a.data, a.indices, np.append(a.indptr, [a.indptr[-1]] * 2)),
             shape=(17, 17)) for a in (last.positive, last.negative)]  # fmt: skip
    filtering.learn(5.0, PairCounts(*wider), serial, max_iter=200, tol=1e-8)
    times = [0.0, 1.0, 4.0, 5.0]
    a, b = plain.sites(times, serial), filtering.sites(times, serial)
    np.testing.assert_allclose(a.mean["rho"], b.mean["rho"][:, :15], atol=2e-3)
    np.testing.assert_allclose(b.mean["rho"][:, 15:], 0.0, atol=1e-6)
    np.testing.assert_allclose(b.variance["alpha"][:, 15:], 0.5, rtol=1e-5)


def test_threads_change_nothing():
    sim = make_dynamic_sgns(300, 3, 3, 6000, random_state=2)
    prior = DriftPrior(np.diff(sim.times), 3.0, 0.02)
    means = []
    for n_threads in (1, 2):
        with Workers(n_threads) as run:
            pairs = ExpectedPairs(sim.pairs)
            static = static_start(sim.pairs, 3, 3.0, np.random.default_rng(0), run)
            smoothing = Smoothing(
                pairs, prior, *dynamic_start(static, pairs, prior, np.random.default_rng(1)), run
            )
            climb(smoothing, max_iter=20, tol=1e-7)
            means.append(smoothing.sites().mean["rho"])
    np.testing.assert_array_equal(*means)


def test_periods_that_cancel_out_are_no_saddle():
    """What the first period says of a pair the last denies: static vectors are zero."""
    yes, no = 200.0 * np.eye(4), 200.0 * (1 - np.eye(4))
    first, last = PairCounts(yes, no), PairCounts(no, yes)
    prior = DriftPrior([50.0], 1.0, 0.1)
    pairs = ExpectedPairs([first, last])
    shape = (2, 1, 4, 3)
    static = np.zeros(shape, np.float32), np.ones(shape, np.float32)
    start = dynamic_start(static, pairs, prior, np.random.default_rng(0))
    smoothing = Smoothing(pairs, prior, *start, serial)
    climb(smoothing, max_iter=200, tol=1e-8)
    p = expit(np.einsum("tik,tjk->tij", smoothing.point[0], smoothing.point[1]))
    yes_again = np.diagonal(p, axis1=1, axis2=2)
    assert yes_again[0].min() > 0.8 and yes_again[1].max() < 0.2


@pytest.mark.slow
def test_a_learned_diffusion_is_of_the_right_size():
    sim = make_dynamic_sgns(100, 2, 8, 40_000, diffusion=0.05, random_state=0)
    prior = DriftPrior(np.diff(sim.times), 2.0, "learned")
    pairs = ExpectedPairs(sim.pairs)
    static = static_start(sim.pairs, 2, 2.0, np.random.default_rng(0), serial)
    smoothing = Smoothing(
        pairs, prior, *dynamic_start(static, pairs, prior, np.random.default_rng(1)), serial
    )
    climb(smoothing, max_iter=300, tol=1e-8)
    # independent factors find less than there is; from the start at 1e-3 it has come a long way
    assert 0.02 < prior.diffusion < 0.06


def test_negatives_alone_are_data_too():
    """As products and written out; of one period, and of all."""
    negative = RankOne(np.arange(1.0, 6.0), np.ones(5))
    products = [PairCounts(np.zeros((5, 5)), negative)]
    written = [PairCounts(np.zeros((5, 5)), negative.toarray())]
    mean, variance = np.random.default_rng(0).uniform(0.1, 1, (2, 2, 1, 5, 2)).astype(np.float32)
    found = [ExpectedPairs(c).evaluate(mean, variance, serial) for c in (products, written)]
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-4, atol=1e-5)
    positive = random_counts(5, 1)
    filtering = Filtering(5, 2, 4.0, 0.1, np.random.default_rng(0))
    for time, counts in enumerate([*products, *positive, *products]):
        filtering.learn(float(time), counts, serial, max_iter=50, tol=1e-5)
    assert len(filtering.elbo) == 3 and np.isfinite(filtering.elbo).all()

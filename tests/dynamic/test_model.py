"""The log density of trajectories, its derivatives and its coordinates."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, log_expit

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.data import DensePeriod, SparsePeriod, period_tables
from skbayesembed.dynamic.map import seek_mode
from skbayesembed.dynamic.model import Curvature, DynamicDensity, DynamicModel, expected_information
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.sgns.data import DensePairs
from skbayesembed.sgns.model import SGNSModel

V, K, T, EMPTY = 12, 2, 4, 2
FORMS = pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])


@pytest.fixture(scope="module")
def data():
    # 100 observations a period leave half of the 144 pairs unseen
    return make_dynamic_sgns(
        V, K, T, 100, times=[0, 1, 3, 4], empty_periods=[EMPTY], random_state=0
    )


@pytest.fixture(scope="module")
def model(data):
    prior = DriftPrior(np.diff(data.times), 1.5, 0.3)
    return DynamicModel.of_counts(data.pairs, K, prior, np.random.default_rng(1))


def estimator(**changed):
    return SimpleNamespace(**{"max_iter": 500, "tol": 1e-8, "verbose": 0, **changed})


def point(density, seed=2):
    return density.pack(density.model.start_near(np.random.default_rng(seed)))


def value_and_gradient(density, theta):
    gradient = np.empty_like(theta)
    return density.logp_and_grad(theta, gradient), gradient


@FORMS
def test_log_density_is_the_models(data, model, dense):
    density = DynamicDensity(model, dense=dense)
    theta = point(density)
    arrays = density.unpack(theta)
    expected = 0.0
    for t, counts in enumerate(data.pairs):
        logit = arrays["rho"][t] @ arrays["alpha"][t].T
        expected += np.sum(counts.positive.toarray() * log_expit(logit))
        expected += np.sum(counts.negative.toarray() * log_expit(-logit))
    precision = model.prior.tridiagonal().dense()
    for x in arrays.values():
        expected -= 0.5 * np.einsum("twk,ts,swk->", x, precision, x)
    assert value_and_gradient(density, theta)[0] == pytest.approx(expected, rel=1e-12)


@FORMS
def test_gradient_and_curvature_are_those_of_the_log_density(model, dense):
    density, rng = DynamicDensity(model, dense=dense), np.random.default_rng(3)
    theta, step = point(density), 1e-5
    gradient = value_and_gradient(density, theta)[1]
    for direction in rng.standard_normal((5, theta.size)):
        up, above = value_and_gradient(density, theta + step * direction)
        down, below = value_and_gradient(density, theta - step * direction)
        # differences have an error of step^2, and of rounding over step
        assert (up - down) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-6, abs=1e-6)
        bent = -Curvature(density, density.vectors(theta)).product(direction[None])[0]
        np.testing.assert_allclose((above - below) / (2 * step), bent, rtol=1e-6, atol=1e-6)


def test_both_forms_of_a_table_agree(model):
    dense, sparse = (DynamicDensity(model, dense=form) for form in (True, False))
    assert {type(p) for p in dense.periods} == {DensePeriod}
    assert {type(p) for p in sparse.periods} == {SparsePeriod}
    theta, rng = point(dense), np.random.default_rng(4)
    for found, expected in zip(
        value_and_gradient(sparse, theta), value_and_gradient(dense, theta), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    d = rng.standard_normal(dense.shape)
    at = [Curvature(density, density.vectors(theta)) for density in (sparse, dense)]
    np.testing.assert_allclose(at[0].image(d), at[1].image(d), rtol=1e-11, atol=1e-11)
    for t in range(T):
        np.testing.assert_allclose(at[0].block(t), at[1].block(t), rtol=1e-11, atol=1e-11)


def test_few_observations_make_lists_of_pairs(data, model):
    seen = [np.count_nonzero((c.positive + c.negative).toarray()) for c in data.pairs]
    assert [t for t in range(T) if seen[t]] == [0, 1, 3]
    tables = period_tables(model.pairs)
    # above a fifth of all pairs
    assert [isinstance(p, DensePeriod) for p in tables] == [n >= 0.2 * V**2 for n in seen if n]
    few = make_dynamic_sgns(V, K, 2, 10, random_state=0)
    few = DynamicModel.of_counts(few.pairs, K, DriftPrior([1.0]), np.random.default_rng(0))
    assert all(isinstance(p, SparsePeriod) for p in period_tables(few.pairs))


def test_blocks_of_the_curvature(model):
    density = DynamicDensity(model)
    at = Curvature(density, density.vectors(point(density)))
    d = np.random.default_rng(5).standard_normal(density.shape)
    rows, off = d.reshape(T, -1), density.precision.off
    image = at.image(d).reshape(T, -1)
    for t in range(T):
        found = at.block(t) @ rows[t]
        if t > 0:
            found += off[t - 1] * rows[t - 1]
        if t < T - 1:
            found += off[t] * rows[t + 1]
        np.testing.assert_allclose(found, image[t], rtol=1e-10, atol=1e-10)


def test_the_expected_curvature(model):
    """Squares of gradients of logits by the slopes of their pairs, and the prior's precision."""
    density = DynamicDensity(model)
    at = Curvature(density, density.vectors(point(density)))
    d = np.random.default_rng(5).standard_normal(density.shape)
    expected = float(np.sum(d * density.precision.apply(d)))
    for p, pairs in zip(density.periods, at.pairs, strict=True):
        (rho, alpha), (drho, dalpha) = at.x[p.period], d[p.period]
        expected += np.sum(p.whole(pairs)[0] * (rho @ dalpha.T + drho @ alpha.T) ** 2)
    found = at.expected()
    np.testing.assert_allclose(np.sum(d * found.image(d)), expected, rtol=1e-10)
    blocks = [d[t].ravel() @ found.block(t) @ d[t].ravel() for t in range(T)]
    off = sum(2 * density.precision.off[t] * np.sum(d[t] * d[t + 1]) for t in range(T - 1))
    np.testing.assert_allclose(np.sum(blocks) + off, expected, rtol=1e-10)


def test_coordinates_are_those_of_a_cholesky_factor(model):
    density, rng = DynamicDensity(model), np.random.default_rng(6)
    x = rng.standard_normal(density.shape)
    z = density.coordinates(x)
    np.testing.assert_allclose(density.vectors(z), x, rtol=1e-12, atol=1e-12)
    information = expected_information(model, density.periods)
    precision = model.prior.tridiagonal().dense()
    for side in (0, 1):
        for w in range(V):
            lower = np.linalg.cholesky(precision + np.diag(information[:, side, w]))
            np.testing.assert_allclose(
                z.reshape(density.shape)[:, side, w], lower.T @ x[:, side, w], rtol=1e-12
            )


@FORMS
def test_expected_information(data, model, dense):
    """The slopes at the static vectors times mean squares of the other side: pairs one by one."""
    found = expected_information(model, period_tables(model.pairs, dense))
    rho, alpha = model.center["rho"], model.center["alpha"]
    slope = expit(rho @ alpha.T) * expit(-rho @ alpha.T)
    n = np.array([(c.positive + c.negative).toarray() * slope for c in data.pairs])
    left = np.zeros((2, V))
    for _ in range(3):
        squares = np.stack([(rho**2).mean(axis=1), (alpha**2).mean(axis=1)]) + left
        expected = np.stack([n @ squares[1], n.transpose(0, 2, 1) @ squares[0]], axis=1)
        left = 1 / (1 / model.prior.variance + expected.sum(axis=0))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert not found[EMPTY].any()


def test_posterior_is_about_round_in_the_coordinates():
    """Curvatures at the mode are far apart by vectors; a few soft directions are left."""
    data = make_dynamic_sgns(V, K, T, 3000, diffusion=0.002, zipf=True, random_state=0)
    prior = DriftPrior(np.diff(data.times), K, 0.002)
    model = DynamicModel.of_counts(data.pairs, K, prior, np.random.default_rng(1))
    density = DynamicDensity(model)
    theta, _ = seek_mode(estimator(), density, np.random.default_rng(2), warn=True)
    at = Curvature(density, density.vectors(theta))
    basis = np.eye(density.n_parameters)
    plain = np.array([at.image(row.reshape(density.shape)).ravel() for row in basis])
    # the least is the rotation's
    whitened, plain = (np.linalg.eigvalsh(m)[1:] for m in (at.product(basis), plain))
    assert whitened[-1] / whitened[0] < 150
    assert plain[-1] / plain[0] > 1000


def test_a_rotation_of_all_periods_changes_nothing(model):
    density, rng = DynamicDensity(model), np.random.default_rng(7)
    theta = point(density)
    turn = stats.ortho_group.rvs(K, random_state=8)
    value, gradient = value_and_gradient(density, theta)
    x = density.vectors(theta)
    # vectors and coordinates turn alike
    turned = density.coordinates(x @ turn)
    np.testing.assert_allclose(turned, (theta.reshape(-1, K) @ turn).ravel(), atol=1e-10)
    assert value_and_gradient(density, turned)[0] == pytest.approx(value, rel=1e-12)
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert abs(gradient @ density.coordinates(x @ skew)) < 1e-9 * np.abs(gradient).sum()
    # one period alone is not free to turn
    x[0] = x[0] @ turn
    assert abs(value_and_gradient(density, density.coordinates(x))[0] - value) > 1e-3
    mode, _ = seek_mode(estimator(tol=1e-12), density, rng, warn=False)
    at = density.vectors(mode)
    along = Curvature(density, at).image(at @ skew)
    assert np.abs(along).max() < 1e-4 * np.abs(at).max()


def test_one_period_is_static(data):
    counts = data.pairs[:1]
    model = DynamicModel.of_counts(counts, K, DriftPrior([], 1.5), np.random.default_rng(9))
    static, density = SGNSModel(DensePairs(counts[0]), K, 1.5), DynamicDensity(model)
    theta = point(density)
    arrays = {name: x[0] for name, x in density.unpack(theta).items()}
    gradient = np.empty(static.n_parameters)
    expected = static.logp_and_grad(static.pack(arrays), gradient)
    assert value_and_gradient(density, theta)[0] == pytest.approx(expected, rel=1e-12)

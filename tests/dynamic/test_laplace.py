"""The Gaussian at the mode: its covariance against dense linear algebra, its failures."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.laplace import solver as laplace
from skbayesembed.dynamic.laplace.approximation import DynamicLaplace
from skbayesembed.dynamic.laplace.block_cholesky import BlockChain
from skbayesembed.dynamic.laplace.solver import reach_mode
from skbayesembed.dynamic.map import seek_mode
from skbayesembed.dynamic.model import Curvature, DynamicDensity, DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.records import Settings

V, T, EMPTY = 12, 4, 2
ESTIMATOR = SimpleNamespace(solver="laplace", max_iter=500, tol=1e-6, verbose=0, n_jobs=1)
METHODS = pytest.mark.parametrize("method", ["blocks", "krylov"])
# full rank; two of four components gone, which two others may turn into; a mode of zero
MODES = {
    "full": (2, 2.0, 1500, 2, 1),
    "partial": (4, 10.0, 600, 2, 5),
    "zero": (3, 60.0, 600, 0, 0),
}


def of_modes(methods, names, quick):
    """All methods at all modes, those that are not quick slowly."""
    return [
        pytest.param(
            method, *MODES[name], id=f"{name}-{method}",
            marks=() if (method, name) in quick else pytest.mark.slow,
        )
        for method in methods
        for name in names
    ]  # fmt: skip


def build(k, precision, n_pairs):
    data = make_dynamic_sgns(
        V, k, T, n_pairs, times=[0, 1, 3, 4], empty_periods=[EMPTY], random_state=0
    )
    prior = DriftPrior(np.diff(data.times), precision, 0.02)
    return DynamicModel.of_counts(data.pairs, k, prior, np.random.default_rng(0))


def at_mode(model):
    density = DynamicDensity(model)
    theta, _ = seek_mode(ESTIMATOR, density, np.random.default_rng(0), warn=True)
    # once more: where the first search ends, the orbit may be null to some 1e-9 of the curvature
    # only, which moved the covariance by up to 4e-7
    for _ in range(2):
        theta, _ = reach_mode(density, theta)
    return density, density.vectors(theta)


def dense_hessian(density, vectors, expected=False):
    at = Curvature(density, vectors)
    at = at.expected() if expected else at
    basis = np.eye(density.n_parameters)
    return np.array([at.image(row.reshape(density.shape)).ravel() for row in basis])


def pseudo_inverse(matrix, null):
    values, basis = np.linalg.eigh(matrix)
    # a mode: so many null directions, the rest positive
    assert np.abs(values[:null]).max(initial=0.0) < 1e-6 * values[-1]
    assert values[null] > 1e-4 * values[-1]
    return (basis[:, null:] / values[null:]) @ basis[:, null:].T


class Basis:
    """In place of a generator: the rows of the identity as the noise of draws."""

    def __init__(self, size):
        self.rows = np.eye(size)

    def standard_normal(self, shape):
        return self.rows.reshape(shape)


def exact_covariance(gaussian, density):
    """Of draws: their map from noise, times its transpose."""
    n = density.n_parameters
    root = gaussian._gaussian.draw(n, Basis(n)).reshape(n, *density.shape)
    gaussian._project(root)
    return root.reshape(n, n).T @ root.reshape(n, n)


@pytest.mark.parametrize(
    ("method", "k", "precision", "n_pairs", "rank", "null"),
    of_modes(
        ["blocks", "krylov"],
        MODES,
        {*(("blocks", name) for name in MODES), ("krylov", "partial")},
    ),
)
def test_covariance_is_the_pseudo_inverse(method, k, precision, n_pairs, rank, null):
    density, vectors = at_mode(build(k, precision, n_pairs))
    found = DynamicLaplace(density, vectors, method)
    assert (found.rank, found.null_directions) == (rank, null)
    expected = pseudo_inverse(dense_hessian(density, found.vectors), null)
    # Lanczos draws are made to a relative error of 1e-3
    tolerance = {"blocks": 1e-7, "krylov": 5e-3}[method]
    covariance = exact_covariance(found, density)
    assert np.abs(covariance - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize(
    ("method", "k", "precision", "n_pairs", "rank", "null"),
    of_modes(
        ["blocks", "krylov", "rough"],
        ["full", "partial"],
        {("blocks", "full"), ("krylov", "partial"), ("rough", "full")},
    ),
)
def test_solutions_are_those_of_the_pseudo_inverse(method, k, precision, n_pairs, rank, null):
    """Right-hand sides that are at right angles to the orbit, as influences are, or not."""
    density, vectors = at_mode(build(k, precision, n_pairs))
    found = DynamicLaplace(density, vectors, method)
    assert found.rank == rank
    expected = pseudo_inverse(dense_hessian(density, found.vectors), null)
    rows = np.random.default_rng(0).standard_normal((3, *density.shape))
    before = rows.copy()
    solutions = found.solve(rows)
    np.testing.assert_array_equal(rows, before)
    whole = (rows.reshape(3, -1) @ expected).reshape(rows.shape)
    # of products in single precision
    share = 1e-3 if method == "rough" else 1e-6
    np.testing.assert_allclose(solutions, whole, atol=share * np.abs(whole).max())
    # by the expected Hessian, which is not null along the orbit
    found.expect()
    project = pseudo_inverse(dense_hessian(density, found.vectors), null)
    values, basis = np.linalg.eigh(project)
    across = basis[:, values > 1e-9 * values[-1]]
    matrix = dense_hessian(density, found.vectors, expected=True)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0
    whole = (rows.reshape(3, -1) @ across @ across.T @ np.linalg.inv(matrix)) @ across @ across.T
    solutions = found.solve(rows).reshape(3, -1)
    np.testing.assert_allclose(solutions, whole, atol=share * np.abs(whole).max())


@METHODS
def test_draws(method):
    density, vectors = at_mode(build(2, 2.0, 1500))
    found, n = DynamicLaplace(density, vectors, method), {"blocks": 2000, "krylov": 200}[method]
    draws = found.sample(n, np.random.default_rng(1))
    x = np.stack([draws["rho"], draws["alpha"]], axis=2).reshape(n, -1)
    expected = pseudo_inverse(dense_hessian(density, found.vectors), 1)
    sds = np.sqrt(np.diag(expected))
    z = (x - found.vectors.ravel()).mean(axis=0) / sds * np.sqrt(n)
    # of 192 entries: 4.5 standard errors happen by chance once in 800
    assert np.abs(z).max() < 4.5
    assert np.abs(x.std(axis=0) / sds - 1).max() < 4.5 / np.sqrt(2 * n)
    # at right angles to the orbit
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
    tangent = (found.vectors @ skew).ravel()
    along = (x - found.vectors.ravel()) @ tangent
    assert np.abs(along).max() < 1e-9 * np.linalg.norm(tangent)
    some = found.sample(5, np.random.default_rng(1), words=[3, 0])
    whole = found.sample(5, np.random.default_rng(1))
    np.testing.assert_array_equal(some["rho"], whole["rho"][:, :, [3, 0]])


def test_block_chain():
    rng, n = np.random.default_rng(2), 3
    off = np.array([-0.4, 0.3])
    parts = rng.standard_normal((3, n, n))
    parts = parts @ parts.transpose(0, 2, 1) + np.eye(n)
    dense = np.zeros((3 * n, 3 * n))
    for t in range(3):
        rows = slice(t * n, (t + 1) * n)
        dense[rows, rows] = parts[t]
        if t:
            before = slice((t - 1) * n, t * n)
            dense[rows, before] = dense[before, rows] = off[t - 1] * np.eye(n)
    chain = BlockChain(lambda t: parts[t].copy(), off)
    inverse = np.linalg.inv(dense)
    b = rng.standard_normal((3, n, 2))
    expected = (inverse @ b.reshape(3 * n, 2)).reshape(b.shape)
    np.testing.assert_allclose(chain.solve(b.copy()), expected, rtol=1e-10)
    root = chain.root(np.eye(3 * n).reshape(3, n, 3 * n)).reshape(3 * n, 3 * n)
    np.testing.assert_allclose(root @ root.T, inverse, rtol=1e-10, atol=1e-12)


@METHODS
def test_no_gaussian_away_from_a_mode(method):
    """At vectors of zero the log density has a saddle where the data outweigh the prior."""
    model = build(2, 2.0, 1500)
    density = DynamicDensity(model)
    with pytest.raises(np.linalg.LinAlgError, match="the mode was|this is no mode"):
        found = DynamicLaplace(density, np.zeros(density.shape), method)
        found.sample(2, np.random.default_rng(0))


def test_a_mode_not_reached():
    density = DynamicDensity(build(2, 2.0, 1500))
    theta = density.pack(density.model.start_near(np.random.default_rng(3)))
    with pytest.raises(np.linalg.LinAlgError, match="raise max_iter"):
        reach_mode(density, theta, max_iter=1)


def test_newton_leaves_a_saddle():
    density = DynamicDensity(build(2, 2.0, 1500))
    start = 1e-3 * np.random.default_rng(4).standard_normal(density.n_parameters)
    theta, facts = reach_mode(density, start)
    gradient = np.empty_like(theta)
    value = density.logp_and_grad(theta, gradient)
    assert facts["converged"]
    assert np.abs(gradient).max() < 1e-3
    near, _ = seek_mode(ESTIMATOR, density, np.random.default_rng(0), warn=True)
    assert value == pytest.approx(density.logp_and_grad(near, gradient), rel=1e-6)


@METHODS
def test_a_run(method, monkeypatch):
    problem = SimpleNamespace(model=build(2, 2.0, 1500))
    monkeypatch.setattr(laplace, "choose_method", lambda density: method)
    settings = Settings(12, 0)

    def run(settings, **changed):
        estimator = SimpleNamespace(**{**vars(ESTIMATOR), **changed})
        return laplace.solve(estimator, problem, settings, np.random.SeedSequence(5))

    result = run(settings)
    draws, facts = result.draws, result.facts
    assert draws["rho"].shape == draws["alpha"].shape == (1, 12, T, V, 2)
    assert (facts["method"], facts["rank"], facts["null_directions"]) == (method, 2, 1)
    assert facts["converged"]
    assert result.approximation.mean["rho"].shape == (T, V, 2)
    np.testing.assert_array_equal(run(settings, n_jobs=2).draws["rho"], draws["rho"])
    # fewer whole draws, rows of all, moments over all
    rows = {"rho": (slice(None), np.array([4, 1]))}
    settings = Settings(12, 0, stride=4, moments=True, rows=rows, covariance=False)
    thin = run(settings)
    np.testing.assert_array_equal(thin.draws["rho"], draws["rho"][:, ::4])
    np.testing.assert_array_equal(thin.draws["rho_rows"], draws["rho"][:, :, :, [4, 1]])


def test_what_does_not_fit(monkeypatch):
    model = build(2, 2.0, 1500)
    density, problem = DynamicDensity(model), SimpleNamespace(model=model)
    assert laplace.choose_method(density) == "blocks"
    monkeypatch.setattr(laplace, "FACTOR_BYTES", 10**4)
    assert laplace.choose_method(density) == "krylov"
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match="12 words in 4 periods"):
        laplace.solve(ESTIMATOR, problem, Settings(5, 0), np.random.SeedSequence(5))

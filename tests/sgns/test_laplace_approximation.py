"""The Gaussian at the mode: three ways to it, orbits, collapsed modes, the estimator."""

from __future__ import annotations

import functools
import itertools
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.mode import find_mode
from skbayesembed.sgns.couplings import GraphCoupling, GroupCoupling
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.laplace import curvature
from skbayesembed.sgns.laplace import solver as laplace
from skbayesembed.sgns.laplace.approximation import approximate
from skbayesembed.sgns.laplace.curvature import choose_method, gaussian_at, seek_mode
from skbayesembed.sgns.laplace.hessian import Hessian, free_entries
from skbayesembed.sgns.laplace.orbits import Orbit
from skbayesembed.sgns.model import SGNSModel, numerical_rank
from skbayesembed.sgns.priors import Prior

V, K = 14, 3
METHODS = ("dense", "schur", "krylov")


def prior(kind):
    if kind == "graph":
        rng = np.random.default_rng(0)
        weights = np.triu(rng.random((V, V)) * (rng.random((V, V)) < 0.3), 1)
        return Prior(V, K, 2.0, couplings=(GraphCoupling(weights + weights.T), None))
    if kind == "grouped":
        return Prior(V, K, 1.5, couplings=(GroupCoupling(np.arange(V) % 4 - 1, 2.0),) * 2)
    if kind == "informative":
        # one word held on one component, nearer than its vector is long: rotations about the vector
        # are not told apart either
        extra = np.zeros((V, K))
        extra[2, 1] = 30.0
        return Prior(V, K, 2.0, held=((extra, 0.3 * extra), None))
    return Prior(V, K, 3.0)


@functools.cache
def without_anchors(kind, layout, n_pairs, precision):
    data = make_sgns(V, K, n_pairs, random_state=1)
    model = SGNSModel(layout(data.pairs), K, precision or prior(kind))
    start = model.pack(model.start(np.random.default_rng(0)))
    return model, model.unpack(find_mode(model, start, max_iter=500, warn=False)[0])


def model_and_mode(kind="normal", layout=DensePairs, anchors=None, n_pairs=3000, precision=None):
    model, arrays = without_anchors(kind, layout, n_pairs, precision)
    if anchors is not None:
        model = model.anchored(anchors, arrays["alpha"][anchors])
    return model, arrays


def pseudo_inverse(model, found):
    """Of the Hessian of the free entries, with as many null directions as were found."""
    hessian = Hessian(model, list(found.mean.values()))
    free = np.flatnonzero(free_entries(model))
    values, basis = np.linalg.eigh(hessian.matrix()[np.ix_(free, free)])
    n = found.null_directions
    # null against the least curved of the others
    assert np.all(np.abs(values[:n]) < 1e-6 * values[n])
    out = np.zeros((2 * V * K, 2 * V * K))
    out[np.ix_(free, free)] = (basis[:, n:] / values[n:]) @ basis[:, n:].T
    return out.reshape(2, V, K, 2, V, K)


def check_draws(found, covariance):
    """Entries of the empirical covariance within five standard errors of the exact."""
    n_draws = 100 if found.method == "krylov" else 3000
    deviations = found.deviations(n_draws, np.random.SeedSequence(2)).reshape(n_draws, -1)
    empirical = deviations.T @ deviations / n_draws
    covariance = covariance.reshape(empirical.shape)
    variance = np.diag(covariance)
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / n_draws)
    assert np.all(np.abs(empirical - covariance) <= 5 * error + 1e-9 * variance.max())


def check(model, arrays, method):
    found, facts = approximate(model, arrays, method=method)
    assert facts["converged"]
    covariance = pseudo_inverse(model, found)
    scale = 1e-6 * np.abs(covariance).max()
    words = [3, 5, 0]
    for side, name in enumerate(("rho", "alpha")):
        expected = covariance[side][words][:, :, side][:, :, words]
        assert_allclose(found.joint_covariance(name, words), expected, atol=scale)
        blocks = covariance[side, np.arange(V), :, side, np.arange(V)]
        assert_allclose(found.covariance(name, words), blocks[words], atol=scale)
        assert_allclose(found.covariance(name, 3), blocks[3], atol=scale)
    check_draws(found, covariance)
    return found


# Draws without factors take longest.
_QUICK = [
    ("normal", "krylov", True),
    ("informative", "krylov", False),
    ("graph", "krylov", True),
]


@pytest.mark.parametrize(
    ("kind", "method", "anchored"),
    [
        pytest.param(
            *case, marks=pytest.mark.slow if case[1] == "krylov" and case not in _QUICK else ()
        )
        for case in itertools.chain(
            itertools.product(("normal", "informative"), METHODS, (True, False)),
            itertools.product(("graph", "grouped"), ("dense", "krylov"), (True, False)),
        )
    ],
)
def test_methods_against_the_pseudo_inverse(kind, method, anchored):
    layout = SparsePairs if kind == "graph" else DensePairs
    model, arrays = model_and_mode(kind, layout, np.array([1, 4, 7]) if anchored else None)
    found = check(model, arrays, method)
    if anchored:
        assert found.null_directions == 0
    elif kind == "informative":
        assert found.null_directions == 2
    else:
        assert found.null_directions == 3
        # the frame of draws without anchors: K contexts that are lower triangular
        above = [np.sum(np.abs(v) < 1e-12) for v in found.mean["alpha"]]
        assert sorted(above)[-2:] == [1, 2]


@pytest.mark.parametrize(
    ("layout", "method"),
    [
        (DensePairs, "dense"),
        (DensePairs, "schur"),
        pytest.param(DensePairs, "krylov", marks=pytest.mark.slow),
        *itertools.product([SparsePairs], METHODS),
    ],
)
def test_layouts(layout, method):
    check(*model_and_mode("normal", layout, n_pairs=1000, precision=1.0), method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("n_pairs", "rank", "null"), [(60, 0, 0), pytest.param(500, 2, 3, marks=pytest.mark.slow)]
)
def test_collapsed_modes(n_pairs, rank, null, method):
    """Where the MAP is zero no rotation moves it; where it has rank 2, three do.

    Either way there is a Gaussian, and the components that the MAP lacks have variance.
    """
    for precision in 20 * 0.95 ** np.arange(80) if rank else [5.0]:
        model, arrays = model_and_mode(n_pairs=n_pairs, precision=precision)
        if numerical_rank(arrays["alpha"]) >= rank:
            break
    found = check(model, arrays, method)
    assert (found.rank, found.null_directions) == (rank, null)
    assert_allclose(found.mean["rho"][:, rank:], 0.0)
    missing = found.covariance("rho", np.arange(V))[:, rank:, rank:]
    assert np.linalg.eigvalsh(missing).min() > 0.5 / 5.0


@pytest.mark.parametrize(
    ("kind", "anchored"),
    [
        ("normal", True),
        pytest.param("normal", False, marks=pytest.mark.slow),
        pytest.param("informative", False, marks=pytest.mark.slow),
        pytest.param("graph", True, marks=pytest.mark.slow),
    ],
)
def test_estimated_covariances(kind, anchored):
    """The conditional part is exact: the rest is within six standard errors of 400 draws.

    The variance that draws tell, at most the whole, bounds the standard error of a covariance by
    ``sqrt(2 / 400)`` times the standard deviations.
    """
    model, arrays = model_and_mode(kind, anchors=np.array([1, 4, 7]) if anchored else None)
    found, _ = approximate(model, arrays, method="krylov")
    draws = found.deviations(400, np.random.SeedSequence(3))
    got = found.estimated_covariances(draws, np.random.SeedSequence(4))
    exact = np.stack([found.covariance(name, np.arange(V)) for name in ("rho", "alpha")])
    sd = np.sqrt(np.einsum("swkk->swk", exact))
    bound = sd[..., :, None] * sd[..., None, :] * np.sqrt(2 / 400)
    assert np.all(np.abs(got - exact) <= 6 * bound + 1e-9)
    plain = np.einsum("nswi,nswj->swij", draws, draws) / 400
    # half of it on the average over seeds, .9 with some
    assert np.abs(got - exact).sum() < np.abs(plain - exact).sum()


def test_orbit():
    """Its tangents are orthonormal and null under rotations; projections leave nothing along."""
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((2, V, 4))
    other = rng.standard_normal((2, 4, 4))
    orbit = Orbit(vectors, np.array([0, 2, 3]), other - other.transpose(0, 2, 1))
    t = orbit.tangents()
    assert len(t) == orbit.dimension == 5
    assert_allclose(np.tensordot(t, t, ((1, 2, 3),) * 2), np.eye(5), atol=1e-12)
    # each is a skew-symmetric change of the vectors
    flat = vectors.reshape(-1, 4)
    for tangent in t:
        a = np.linalg.lstsq(flat, tangent.reshape(-1, 4), rcond=None)[0]
        assert_allclose(a, -a.T, atol=1e-12)
        assert_allclose(flat @ a, tangent.reshape(-1, 4), atol=1e-12)
    draws = rng.standard_normal((6, 2, V, 4))
    projected = orbit.project(draws.copy())
    along = np.tensordot(draws, t, ((1, 2, 3),) * 2)
    assert_allclose(draws - projected, np.tensordot(along, t, 1), atol=1e-12)
    assert_allclose(orbit.blocks(), np.einsum("dswi,dswj->swij", t, t), atol=1e-12)
    noise = np.array([orbit.noise(rng) for _ in range(1000)])
    along = np.tensordot(noise, t, ((1, 2, 3),) * 2)
    # 25 covariances of unit normals, each with a standard error of at most sqrt(2 / 1000)
    assert_allclose(along.T @ along / 1000, np.eye(5), atol=5 * np.sqrt(2 / 1000))
    assert_allclose(np.tensordot(along, t, 1), noise, atol=1e-12)


def test_newton_goes_on_where_l_bfgs_ended():
    model, _ = model_and_mode()
    start = model.pack(model.start(np.random.default_rng(0)))
    rough = model.unpack(find_mode(model, start, max_iter=5, warn=False)[0])
    vectors, facts = seek_mode(model, rough)
    gradient = np.empty(model.n_parameters)
    model.logp_and_grad(vectors[free_entries(model)], gradient)
    assert facts["newton_steps"] > 2
    assert np.abs(gradient).max() < 1e-4


def test_a_mode_not_reached_is_an_error():
    model, _ = model_and_mode()
    rough = model.start(np.random.default_rng(0))
    with pytest.raises(np.linalg.LinAlgError, match=r"2 steps.*max_iter"):
        approximate(model, rough, max_iter=2)


@pytest.mark.parametrize("method", METHODS)
def test_a_saddle_is_an_error(method):
    """Zero vectors, where the gradient vanishes but the data outweigh the prior."""
    model, arrays = model_and_mode()
    nothing = {name: np.zeros_like(value) for name, value in arrays.items()}
    with pytest.raises(np.linalg.LinAlgError, match=r"no mode.*max_iter"):
        found, _ = approximate(model, nothing, method=method)
        found.deviations(1, np.random.SeedSequence(0))


def test_method_by_size(monkeypatch):
    model, arrays = model_and_mode()
    coupled, _ = model_and_mode("graph")
    assert (choose_method(model), choose_method(coupled)) == ("schur", "dense")
    monkeypatch.setattr(curvature, "FACTOR_BYTES", 10_000)
    assert (choose_method(model), choose_method(coupled)) == ("krylov", "krylov")


def fit(**options):
    data = make_sgns(V, K, 3000, random_state=1)
    return BayesianSGNS(
        K,
        solver="laplace",
        prior_precision=3.0,
        random_state=0,
        balance=False,
        **{"draws": 200, **options},
    ).fit(data.pairs)


def test_estimator():
    model = fit(anchors="pivot")
    posterior = model.posterior_
    assert posterior["rho"].shape == (1, 200, V, K)
    assert posterior.attrs["method"] == "schur"
    assert posterior.attrs["moments"] == "exact"
    approximation = posterior.approximation
    assert_allclose(model.rho_, approximation.mean["rho"])
    covariance = posterior.covariance("alpha")
    assert_allclose(covariance, approximation.covariance("alpha", np.arange(V)))
    assert_allclose(covariance[model.anchors_], 0.0)
    assert_allclose(np.ptp(posterior["alpha"][0][:, model.anchors_], axis=0), 0.0)
    # 200 draws: standard deviations have a relative standard error of 5 %
    sd = posterior["rho"][0].std(axis=0)
    assert_allclose(sd, posterior.std("rho"), rtol=0.25)
    more = approximation.sample(3, np.random.default_rng(0), words=[2, 4])
    assert more["rho"].shape == (3, 2, K)
    assert 0 < model.cooccurrence_proba([(0, 1)]).sd[0] < 0.5


@pytest.mark.parametrize(
    ("anchors", "limit"),
    [
        ("pivot", curvature.FACTOR_BYTES),
        pytest.param("pivot", 0, marks=pytest.mark.slow),
        pytest.param(None, curvature.FACTOR_BYTES, marks=pytest.mark.slow),
        (None, 0),
    ],
)
def test_estimator_with_threads(monkeypatch, limit, anchors):
    monkeypatch.setattr(curvature, "FACTOR_BYTES", limit)
    models = [fit(n_jobs=n_jobs, anchors=anchors, draws=30) for n_jobs in (1, 3)]
    first, second = (m.posterior_ for m in models)
    assert first.attrs == second.attrs
    assert first.attrs["method"] == ("schur" if limit else "krylov")
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(first[name], second[name])
        np.testing.assert_array_equal(first.covariance(name), second.covariance(name))


@pytest.mark.parametrize("limit", [curvature.FACTOR_BYTES, 0])
def test_pickled_approximation(monkeypatch, limit):
    monkeypatch.setattr(curvature, "FACTOR_BYTES", limit)
    approximation = fit(anchors=None, draws=20).posterior_.approximation
    again = pickle.loads(pickle.dumps(approximation))
    first, second = (a.sample(2, np.random.default_rng(0)) for a in (approximation, again))
    np.testing.assert_array_equal(first["alpha"], second["alpha"])


def test_too_large_a_gaussian_is_refused(monkeypatch):
    monkeypatch.setattr(laplace, "bytes_needed", lambda *args: 1 << 60)
    with pytest.raises(MemoryError, match="The Gaussian around the mode of 14 words"):
        fit()


@pytest.mark.slow
def test_estimator_without_factors_agrees(monkeypatch):
    """Estimated standard deviations against the exact: 400 draws tell them to 3.5 % at worst."""
    exact = fit().posterior_
    monkeypatch.setattr(curvature, "FACTOR_BYTES", 0)
    found = fit(draws=400).posterior_
    assert found.attrs["moments"] == "estimated"
    assert found.attrs["draw_error"] <= 1e-2
    assert 1 <= found.attrs["products"] <= V * K
    assert_allclose(found.std("rho"), exact.std("rho"), rtol=5 * 0.035)
    assert_allclose(found.mean("rho"), exact.mean("rho"))


def test_interruption_keeps_draws(monkeypatch):
    monkeypatch.setattr(curvature, "FACTOR_BYTES", 0)
    draw, calls = curvature.BipartiteGaussian.draw, []

    def interrupted(gaussian, n, rng):
        calls.append(n)
        if len(calls) == 8:  # of eight draws each
            raise KeyboardInterrupt
        return draw(gaussian, n, rng)

    monkeypatch.setattr(curvature.BipartiteGaussian, "draw", interrupted)
    with pytest.warns(RuntimeWarning, match="with 56 of 200 draws"):
        model = fit()
    assert model.posterior_["rho"].shape == (1, 56, V, K)
    assert model.posterior_.attrs["interrupted"]
    calls[:] = [0] * 7
    with pytest.raises(KeyboardInterrupt):
        fit()


@pytest.mark.slow
def test_against_gibbs_on_many_observations():
    """At 5e5 observations of 30 words the posterior is close to its Gaussian.

    2,000 correlated draws tell standard deviations to some 3 %; skewness leaves more.
    """
    data = make_sgns(30, 5, 500_000, random_state=2)
    fits = {}
    for solver in ("laplace", "gibbs"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits[solver] = BayesianSGNS(
                5,
                solver=solver,
                prior_precision=5.0,
                anchors="pivot",
                chains=2,
                draws=1000,
                random_state=0,
            ).fit(data.pairs)
    ours, exact = (fits[s].posterior_ for s in ("laplace", "gibbs"))
    np.testing.assert_array_equal(fits["laplace"].anchors_, fits["gibbs"].anchors_)
    ratio = ours.std("rho") / exact.std("rho")
    assert abs(np.median(ratio) - 1) < 0.03
    assert np.percentile(np.abs(ratio - 1), 95) < 0.15
    shift = (ours.mean("rho") - exact.mean("rho")) / exact.std("rho")
    assert np.sqrt(np.mean(shift**2)) < 0.35


def test_gaussian_at_takes_any_free_entries():
    """A slice: entries held besides the anchors have no variance."""
    model, arrays = model_and_mode(anchors=np.array([1, 4, 7]))
    vectors, _ = seek_mode(model, arrays)
    free = free_entries(model)
    free[0, 2] = False
    draws = gaussian_at(Hessian(model, vectors, free), "schur").draw(20, np.random.default_rng(0))
    assert_allclose(draws[:, ~free], 0.0)
    assert np.all(draws[:, free].std(axis=0) > 0)

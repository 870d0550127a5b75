"""The posterior as the search climbs it: both precisions, the preconditioner, the mode itself."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import GraphPrior, InformativePrior
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.mode import _minimize, find_mode
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.laplace.hessian import Hessian
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.spectral import spectral_start

V, K = 60, 4


@pytest.fixture(scope="module")
def pairs():
    return make_sgns(V, K, n_pairs=60_000, zipf=True, random_state=0).pairs


def prior_of(kind):
    names = {f"w{i}": i for i in range(V)}
    options = {"plain": {}}
    if kind == "graph":
        options["graph"] = GraphPrior([("w1", "w2"), ("w3", "w4")], 2.0).options(names, K, 1.0)
    if kind == "held":
        values = {"w1": {0: 1.0}, "w2": {0: -1.0}, "w9": {1: 0.5}}
        options["held"] = InformativePrior(values).options(names, K, 1.0)
    return Prior(V, K, 1.0, **options[kind])


def build(pairs, table=DensePairs, kind="plain", anchored=False):
    if not anchored:
        return SGNSModel(table(pairs), K, prior_of(kind))
    values = np.random.default_rng(2).standard_normal((K, K))
    return SGNSModel(table(pairs), K, prior_of(kind), np.array([4, 0, 2, 9]), values)


CASES = {
    "dense": {},
    "sparse": {"table": SparsePairs},
    "graph": {"kind": "graph"},
    "held": {"kind": "held"},
    "anchored": {"anchored": True},
}


@pytest.fixture(scope="module", params=list(CASES))
def model(request, pairs):
    return build(pairs, **CASES[request.param])


def start_of(model, seed=0):
    return model.pack(spectral_start(model, np.random.default_rng(seed), serial))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient_are_the_models(model, dtype):
    theta = model.pack(model.start(np.random.default_rng(1)))
    gradient = np.empty(model.n_parameters)
    value = model.logp_and_grad(theta, gradient)
    surface = model.surface(theta, dtype, serial)
    found, slope = surface.value_and_gradient()
    digits = 1e-5 if dtype is np.float32 else 1e-12
    assert slope.dtype == dtype
    assert found == pytest.approx(value, rel=digits)
    arrays = dict(zip(("rho", "alpha"), slope, strict=True))
    np.testing.assert_allclose(model.pack(arrays), gradient, atol=digits * np.abs(gradient).max())
    if model.anchors is not None:
        assert not slope[1, model.anchors].any()


def matrix(model, surface):
    """The preconditioner as a matrix of the free parameters."""
    columns = []
    for row in np.eye(model.n_parameters):
        x = np.stack(list(model.unpack(row).values()))
        if model.anchors is not None:
            x[1, model.anchors] = 0.0
        surface.precondition(x)
        columns.append(model.pack(dict(zip(("rho", "alpha"), x, strict=True))))
    return np.array(columns)


def test_preconditioner_is_positive_and_near_the_inverse(model):
    """At the mode, and positive definite and symmetric at a start too."""
    theta, _ = find_mode(model, start_of(model), warn=False)
    for where in (theta, model.pack(model.start(np.random.default_rng(3)))):
        surface = model.surface(where, np.float64, serial)
        surface.value_and_gradient()
        surface.refresh()
        inverse = matrix(model, surface)
        np.testing.assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max())
        assert np.linalg.eigvalsh(inverse).min() > 0
        if where is theta:
            near = inverse
    vectors = np.stack(list(model.unpack(theta).values()))
    hessian = Hessian(model, vectors).matrix()
    free = np.concatenate([np.repeat(m, K) for m in model.movable])
    hessian = hessian[np.ix_(free, free)]
    spread = []
    for approximation in (np.diag(model.scale**2), near):
        root = np.linalg.cholesky(approximation)
        values = np.linalg.eigvalsh(root.T @ hessian @ root)
        # rotations are null, and scales are left as they are below a thousandth
        spread.append(np.exp(np.std(np.log(values[values > 1e-4 * values[-1]]))))
    # the typical factor between curvatures; it is 2.0 with the scales alone, and 1.3 here
    assert spread[1] < 0.8 * spread[0]


def test_the_mode_is_that_of_plain_lbfgs(model):
    """From whatever start, and in fewer iterations."""
    theta, facts = find_mode(model, start_of(model), warn=False)
    assert facts["converged"]
    other, plain, _ = _minimize(model, start_of(model), 5000, 1e-10, serial)
    assert facts["lp"] >= plain["lp"] - 1e-7 * abs(plain["lp"])
    if facts["lp"] - plain["lp"] < 1e-7 * abs(plain["lp"]):
        # else plain L-BFGS ended at a local optimum that is lower
        first, second = (np.stack(list(model.unpack(x).values())) for x in (theta, other))
        # two gaps of 1e-9 of the log density, in units of posterior standard deviations
        np.testing.assert_allclose(first[0] @ first[1].T, second[0] @ second[1].T, atol=0.02)
    if model.anchors is not None:
        alpha = model.unpack(theta)["alpha"]
        np.testing.assert_array_equal(alpha[model.anchors], model.anchor_values)


def test_double_precision_takes_over(model):
    """A tolerance that single precision cannot meet is met."""
    theta, facts = find_mode(model, start_of(model), tol=1e-13)
    assert facts["converged"]
    gradient = np.empty(model.n_parameters)
    model.logp_and_grad(theta, gradient)
    assert np.abs(gradient * model.scale).max() < 1e-4


def test_starts_and_threads(pairs):
    """Starts of two seeds end at the same mode; threads change no bit."""
    model, found = build(pairs), []
    for seed, n_threads in ((0, 1), (0, 2), (1, 1)):
        with Workers(n_threads) as run:
            start = model.pack(spectral_start(model, np.random.default_rng(seed), run))
            found.append(find_mode(model, start, run=run))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1]["lp"] == pytest.approx(found[2][1]["lp"], rel=1e-8)


def test_a_mode_of_zero_and_counts_of_nothing(pairs):
    for prior, table in (
        (1e5, pairs),
        (1.0, pairs.__class__(0 * pairs.positive, 0 * pairs.positive)),
    ):
        model = SGNSModel(SparsePairs(table), K, prior)
        theta, facts = find_mode(model, start_of(model))
        assert facts["converged"]
        assert np.abs(theta).max() < 1e-4


def test_observations_without_end(pairs):
    """Where the prior is next to nothing, from random vectors: residuals bend scales there."""
    huge = pairs.__class__(1e6 * (pairs.positive + 0.1 * pairs.positive.T), 1e6 * pairs.negative)
    model = SGNSModel(DensePairs(huge), K, 1.0)
    theta, facts = find_mode(model, model.pack(model.start(np.random.default_rng(0))), tol=1e-11)
    gradient = np.empty(model.n_parameters)
    model.logp_and_grad(theta, gradient)
    # of a value of 1e10, twelve digits
    assert facts["converged"] and np.abs(gradient * model.scale).max() < 10.0


@pytest.mark.parametrize("precision", [8.0, 16.0, 32.0])
def test_modes_that_lack_rank(pairs, precision):
    """Components that the prior sets to zero weigh nothing, on either side."""
    model = SGNSModel(DensePairs(pairs), K, precision)
    theta, facts = find_mode(model, model.pack(model.start(np.random.default_rng(1))), warn=False)
    _, plain, _ = _minimize(model, start_of(model), 5000, 1e-12, serial)
    assert facts["lp"] == pytest.approx(plain["lp"], rel=1e-8)
    rho, alpha = (np.linalg.svd(x, compute_uv=False) for x in model.unpack(theta).values())
    # a component at zero is a flat minimum: what is left of it is small on both sides
    np.testing.assert_allclose(rho, alpha, atol=0.05)

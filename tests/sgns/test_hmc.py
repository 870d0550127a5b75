"""The skip-gram posterior as the Hamiltonian samplers see it, and ``solver="hmc"``."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_expit

from skbayesembed import BayesianSGNS, GraphPrior, InformativePrior, PairCounts
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.hmc import SGNSHamiltonian
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior

WORDS, K = 7, 2
MONITORED = np.array([[0, 1], [3, 2], [6, 6]])
VOCABULARY = {f"w{i}": i for i in range(WORDS)}
PRIORS = {
    "normal": {},
    "shared": {"learned": "shared", "hyper": (2.0, 0.5)},
    "component": {"learned": "component", "hyper": (2.0, 0.5)},
    "graph": GraphPrior([("w0", "w1"), ("w1", "w4", 3.0)], strength=2.0).options(
        VOCABULARY, K, 1.5
    ),
    "held": InformativePrior({"w2": {0: 1.0}, "w5": {1: -0.5}}).options(VOCABULARY, K, 1.5),
}
PRIORS["graph, shared"] = {**PRIORS["graph"], **PRIORS["shared"]}


def counts(seed=0):
    rng = np.random.default_rng(seed)
    return [sparse.csr_array(rng.poisson(2.0, (WORDS, WORDS)).astype(float)) for _ in range(2)]


def build(name="normal", dense=True, anchored=False, start=None):
    pairs = PairCounts(*counts())
    pairs = DensePairs(pairs) if dense else SparsePairs(pairs)
    model = SGNSModel(pairs, K, Prior(WORDS, K, 1.5, **PRIORS[name]))
    pivots = np.array([4, 1])
    if anchored:
        model = model.anchored(pivots, np.array([[1.0, 0.3], [-0.2, 0.8]]))
    return SGNSHamiltonian(model, pivots, MONITORED, start)


def density(target, theta):
    """Log posterior density with every constant that depends on a parameter, term by term."""
    prior, n = target.model.prior, target.n_blocked
    arrays = target.model.unpack(theta[:n])
    rho, alpha = arrays["rho"], arrays["alpha"]
    t = rho @ alpha.T
    positive, negative = (c.toarray() for c in counts())
    logp = np.sum(positive * log_expit(t) + negative * log_expit(-t))
    learned = np.exp(theta[n:])
    tau = np.broadcast_to(learned, K) if learned.size else prior.tau
    for side, x in enumerate((rho, alpha)):
        neighbours = prior.neighbours(side)
        coupling = np.eye(WORDS) + (0 if neighbours is None else neighbours.toarray())
        for k in range(K):
            precision = tau[k] * coupling
            linear = np.zeros(WORDS)
            if prior.held[side] is not None:
                precision = precision + np.diag(prior.held[side][0][:, k])
                linear = prior.held[side][1][:, k]
            logp += -0.5 * x[:, k] @ precision @ x[:, k] + linear @ x[:, k]
            logp += 0.5 * np.linalg.slogdet(precision)[1]
    shape, rate = prior.hyper
    # Gamma densities of the precisions, times the Jacobian of their logarithms
    return logp + np.sum((shape - 1) * np.log(learned) - rate * learned + np.log(learned))


@pytest.mark.parametrize(
    ("dense", "anchored"),
    [
        pytest.param(True, True, marks=pytest.mark.slow),
        (True, False),
        (False, True),
        pytest.param(False, False, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", PRIORS)
def test_log_density_and_gradient(name, dense, anchored):
    """Differences of the log density, and central differences of it for the gradient."""
    target = build(name, dense, anchored)
    rng = np.random.default_rng(1)
    theta, other = 0.6 * rng.normal(size=(2, target.n_parameters))
    gradient, scratch = np.full((2, target.n_parameters), np.nan)
    value = target.logp_and_grad(theta, gradient)
    found = target.logp_and_grad(other, scratch) - value
    np.testing.assert_allclose(found, density(target, other) - density(target, theta), rtol=1e-10)
    step = 1e-5
    expected = np.empty_like(gradient)
    for i in range(theta.size):
        ends = np.repeat(theta[None], 2, axis=0)
        ends[:, i] += [step, -step]
        expected[i] = (density(target, ends[0]) - density(target, ends[1])) / (2 * step)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


def test_scale_of_a_learned_precision():
    """The standard deviation of log tau given the vectors, from its Gamma conditional."""
    for name, count in (("shared", 2 * WORDS * K), ("component", 2 * WORDS)):
        target = build(name)
        draws = np.random.default_rng(0).gamma(2.0 + 0.5 * count, size=100_000)
        np.testing.assert_allclose(target.scale[-1], np.log(draws).std(), rtol=0.05)
        assert target.scale.size == target.n_parameters


def test_turns_leave_free_logits():
    """Rotating all blocks of the flat parameters changes the logits of anchored contexts only."""
    target = build(anchored=True)
    assert target.turns and not build().turns
    theta = np.random.default_rng(2).normal(size=target.n_parameters)
    c, s = np.cos(0.3), np.sin(0.3)
    turned = theta.reshape(-1, target.block_size) @ np.array([[c, s], [-s, c]])
    before, after = (target.model.unpack(t) for t in (theta, turned.ravel()))
    change = after["rho"] @ after["alpha"].T - before["rho"] @ before["alpha"].T
    free = target.model.movable[1]
    assert np.abs(change[:, free]).max() < 1e-12
    assert np.abs(change[:, ~free]).max() > 0.1


@pytest.mark.parametrize("name", ["normal", "shared", "component"])
def test_starts(name):
    center = {side: np.full((WORDS, K), 5.0) for side in ("rho", "alpha")}
    target = build(name, start=center)
    first, again, other = (target.init(np.random.default_rng(s)) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.all(first[: target.n_blocked] != other[: target.n_blocked])
    assert np.abs(first[: target.n_blocked] - 5.0).max() < 4.0
    assert np.isfinite(target.logp_and_grad(first, np.empty_like(first)))


def test_what_is_recorded():
    target = build("component")
    theta = np.random.default_rng(3).normal(size=target.n_parameters)
    arrays = target.model.unpack(theta[: target.n_blocked])
    found, trace = target.observe(theta), target.trace(theta)
    t = arrays["rho"] @ arrays["alpha"].T
    np.testing.assert_allclose(found["rho"] @ found["alpha"].T, t, rtol=1e-10)
    np.testing.assert_allclose(trace["logit"], t[MONITORED[:, 0], MONITORED[:, 1]], rtol=1e-10)
    pivots = found["alpha"][target.pivots]
    np.testing.assert_allclose(np.triu(pivots, 1), 0.0, atol=1e-12)
    assert np.all(np.diag(pivots) > 0)
    expected = found["rho"][MONITORED[:, 0], np.arange(3) % K]
    np.testing.assert_allclose(trace["coordinate"], expected, rtol=1e-10)
    tau = np.exp(theta[target.n_blocked :])
    np.testing.assert_allclose(found["prior_precision"], np.sort(tau)[::-1])


def test_pickles():
    target = build("shared", dense=False)
    theta = np.random.default_rng(4).normal(size=target.n_parameters)
    copy = pickle.loads(pickle.dumps(target))
    gradients = np.empty((2, theta.size))
    values = [t.logp_and_grad(theta, g) for t, g in zip((target, copy), gradients, strict=True)]
    assert values[0] == values[1]
    np.testing.assert_array_equal(*gradients)


# -- the estimator -------------------------------------------------------------------------------

OPTIONS = {"solver": "hmc", "draws": 200, "warmup": 200, "chains": 2, "random_state": 0}
OPTIONS["balance"] = False


@pytest.fixture(scope="module")
def data():
    return make_sgns(25, 2, 5000, random_state=3)


@pytest.mark.slow
def test_fit_with_anchors(data):
    model = BayesianSGNS(2, prior_precision=2.0, anchors="pivot", **OPTIONS).fit(data.pairs)
    posterior = model.posterior_
    assert posterior["rho"].shape == posterior["alpha"].shape == (2, 200, 25, 2)
    held = posterior["alpha"][:, :, model.anchors_]
    np.testing.assert_array_equal(held, np.broadcast_to(held[0, 0], held.shape))
    assert posterior.attrs["anchored"] and posterior.attrs["kernel"] == "nuts"
    assert posterior.attrs["divergences"] == 0 and posterior.attrs["saturated"] == 0
    expected = {"lp", "energy", "acceptance", "n_leapfrog", "divergent", "tree_depth", "step_size"}
    assert expected <= set(posterior.stats)
    assert 0.7 < posterior.stats["acceptance"].mean() < 0.95
    np.testing.assert_allclose(model.rho_, posterior["rho"].mean(axis=(0, 1)))


@pytest.mark.slow
def test_target_accept_is_used(data):
    steps = []
    for target in (0.6, 0.95):
        model = BayesianSGNS(2, prior_precision=2.0, target_accept=target, **OPTIONS)
        steps.append(model.fit(data.pairs).posterior_.stats["step_size"].mean())
    assert steps[0] > 1.3 * steps[1]


LEARNED = [({"prior_precision": "learned"}, 1), ({"prior": "ard"}, 2)]


# 20 draws of a learned precision are too few to have mixed: what is tested is what is recorded
@pytest.mark.filterwarnings("ignore:The chains have not mixed", "ignore:.*worth only")
@pytest.mark.parametrize(("options", "size"), LEARNED)
def test_learned_precisions(data, options, size):
    model = BayesianSGNS(2, **{**OPTIONS, **options, "draws": 20, "warmup": 30}).fit(data.pairs)
    tau = model.posterior_["prior_precision"]
    assert tau.shape == (2, 20, size)
    assert np.all(tau > 0) and np.all(np.diff(tau, axis=-1) <= 0)
    assert model.anchors_ is None


def test_draws_do_not_depend_on_jobs(data):
    options = {**OPTIONS, "draws": 10, "warmup": 20, "prior_precision": 2.0}
    with pytest.warns(Warning):  # so short a run has not mixed
        first = BayesianSGNS(2, n_jobs=1, **options).fit(data.pairs).posterior_
    with pytest.warns(Warning):
        second = BayesianSGNS(2, n_jobs=2, **options).fit(data.pairs).posterior_
    np.testing.assert_array_equal(first["rho"], second["rho"])

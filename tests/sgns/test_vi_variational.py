"""The variational posterior: its bound, its fixed point, its priors, its draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import digamma, gammaln
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.sgns.couplings import GraphCoupling, GroupCoupling
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.vi import factors
from skbayesembed.sgns.vi import variational as vi_model
from skbayesembed.sgns.vi.variational import SGNSVariational

N_WORDS, K = 14, 3
COUNTS = make_sgns(N_WORDS, K, 1500, random_state=3).pairs
POSITIVE, NEGATIVE = COUNTS.positive.toarray(), COUNTS.negative.toarray()


def serial(function, tasks):
    for task in tasks:
        function(*task)


def make_prior(name):
    rng = np.random.default_rng(5)
    if name == "fixed":
        return Prior(N_WORDS, K, 2.0)
    if name in ("shared", "component"):
        return Prior(N_WORDS, K, 1.0, learned=name, hyper=(2.0, 1.5))
    if name in ("graph", "graph learned"):
        links = np.triu(rng.random((N_WORDS, N_WORDS)) < 0.2, 1).astype(float)
        couplings = GraphCoupling(sparse.csr_array(links + links.T)), None
        learned = "component" if name == "graph learned" else None
        return Prior(N_WORDS, K, 2.0, couplings=couplings, learned=learned)
    if name == "groups":
        group = np.repeat([0, 1, -1], [6, 4, 4])
        return Prior(N_WORDS, K, 2.0, couplings=(GroupCoupling(group, 3.0),) * 2)
    extra, pull = np.zeros((2, N_WORDS, K))
    # so strong that no rotation is nearly free: ascent along one takes thousands of sweeps
    extra[2, 1], pull[2, 1], extra[5, 0], pull[5, 0] = 50.0, 60.0, -0.5, 10.0
    return Prior(N_WORDS, K, 2.0, held=((extra, pull), None))


PRIORS = ["fixed", "shared", "component", "graph", "graph learned", "groups", "informative"]


def build(prior="fixed", covariance="full", biases=False, dense=True, start=0):
    pairs = DensePairs(COUNTS) if dense else SparsePairs(COUNTS)
    model = SGNSModel(pairs, K, make_prior(prior))
    variational = SGNSVariational(model, covariance, biases)
    return variational, variational.init_q(model.start(np.random.default_rng(start)))


def ascend(variational, q, tol=1e-12, run=serial, max_iter=3000):
    return coordinate_ascent(variational, q, run, max_iter=max_iter, tol=tol, warn=False)


def slow_bound(variational, q):
    """The bound from dense matrices, term by term."""
    prior, k = variational.model.prior, K
    log_tau = np.log(prior.tau) if q.shape is None else digamma(q.shape) - np.log(q.rate)
    tau, total = variational.tau(q), 0.0
    seconds = []
    for side in (0, 1):
        covariance = variational.covariance(q, side, np.arange(N_WORDS))
        mean, free = q.mean[side], variational.free[side]
        seconds.append(covariance + mean[:, :, None] * mean[:, None])
        total += 0.5 * np.linalg.slogdet(covariance[:, free[:, None], free])[1].sum()
        total += 0.5 * N_WORDS * free.size * (1 + np.log(2 * np.pi))
        coupling = prior.neighbours(side)
        g = np.zeros((N_WORDS, N_WORDS)) if coupling is None else coupling.toarray()
        extra, pull = np.zeros((2, N_WORDS, k)) if prior.held[side] is None else prior.held[side]
        for j in range(k):
            precision = tau[j] * (np.eye(N_WORDS) + g) + np.diag(extra[:, j])
            square = np.outer(mean[:, j], mean[:, j]) + np.diag(covariance[:, j, j])
            total -= 0.5 * np.sum(precision * square) - pull[:, j] @ mean[:, j]
            total -= 0.5 * N_WORDS * np.log(2 * np.pi)
            if q.shape is None:
                total += 0.5 * np.linalg.slogdet(precision)[1]
                total -= 0.5 * pull[:, j] @ np.linalg.solve(precision, pull[:, j])
            else:
                total += 0.5 * N_WORDS * log_tau[j]
                total += 0.5 * np.linalg.slogdet(np.eye(N_WORDS) + g)[1]
        if variational.biases:
            own, precision = k + side, variational.bias_precision
            total += 0.5 * N_WORDS * np.log(precision / (2 * np.pi))
            total -= 0.5 * precision * seconds[side][:, own, own].sum()
    if q.shape is not None:
        a0, b0 = prior.hyper
        for j in range(1 if prior.learned == "shared" else k):
            a, b = q.shape[j], q.rate[j]
            total += a0 * np.log(b0) - gammaln(a0) + (a0 - 1) * log_tau[j] - b0 * a / b
            total += a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
    xi = np.sqrt(np.einsum("wij,vji->wv", *seconds))
    pairs = variational.model.pairs
    n = POSITIVE + NEGATIVE
    kappa = POSITIVE - 0.5 * n
    assert pairs.n[0].sum() == n.sum()
    total += np.sum(kappa * (q.mean[0] @ q.mean[1].T))
    return total - np.sum(n * np.logaddexp(xi / 2, -xi / 2))


MATRIX = [
    *itertools.product(PRIORS, ["full", "diag"], [False], [True]),
    *itertools.product(["fixed", "component", "groups"], ["full", "diag"], [True], [True]),
    *itertools.product(["fixed", "component", "graph"], ["full", "diag"], [False, True], [False]),
]
# Each prior with one covariance, both covariances with lists; the others are slow.
_QUICK = [
    *zip(PRIORS, itertools.cycle(["full", "diag"]), [False] * 7, [True] * 7, strict=False),
    ("component", "full", True, True),
    ("component", "diag", False, False),
    ("graph", "full", True, False),
]
CASES = [pytest.param(*c, marks=() if c in _QUICK else pytest.mark.slow) for c in MATRIX]


@pytest.mark.parametrize("prior, covariance, biases, dense", CASES)
def test_bound_rises_and_is_the_bound(prior, covariance, biases, dense):
    variational, q = build(prior, covariance, biases, dense)
    bounds = []
    for sweep in range(40):
        expected = slow_bound(variational, q) if sweep in (0, 2, 11) else None
        turned = q.trial is not None
        bounds.append(variational.update(q, serial))
        if expected is not None and not turned:
            assert bounds[-1] == pytest.approx(expected, rel=1e-10)
    # sums of some thousand terms of size up to 1e3, in double precision
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[-1])
    assert bounds[-1] > bounds[0] + 10


@pytest.mark.parametrize("prior, covariance, biases, dense", CASES)
def test_fixed_point(prior, covariance, biases, dense):
    """No change of a mean, a covariance or a precision's factor raises the bound."""
    variational, q = build(prior, covariance, biases, dense)
    ascend(variational, q)
    if covariance == "diag" and q.trial is not None:
        variational.update(q, serial)
    for side in (0, 1):
        variational.update_side(q, side, serial)
    best = slow_bound(variational, q)
    rng = np.random.default_rng(1)
    eps = 1e-4
    for side in (0, 1):
        free = variational.free[side]
        for w in rng.choice(N_WORDS, 4, replace=False):
            for j in free:
                slope = []
                for sign in (1, -1):
                    q.mean[side][w, j] += sign * eps
                    slope.append(slow_bound(variational, q) - best)
                    q.mean[side][w, j] -= sign * eps
                # slope up to what is left of the ascent; curvature below
                assert abs(slope[0] - slope[1]) < 2 * eps * 0.02
                assert max(slope) < 1e-7
            place = rng.integers(q.cov[side].shape[1])
            stored = q.cov[side][w, place]
            if stored > 0:
                for factor in (1.01, 0.99):
                    q.cov[side][w, place] = factor * stored
                    assert slow_bound(variational, q) < best + 1e-6
                q.cov[side][w, place] = stored
    if q.shape is not None:
        j = slice(None) if variational.model.prior.learned == "shared" else slice(0, 1)
        for name in ("shape", "rate"):
            for factor in (1.05, 0.95):
                getattr(q, name)[j] *= factor
                assert slow_bound(variational, q) < best
                getattr(q, name)[j] /= factor


def test_an_untried_turn_is_taken_back(monkeypatch):
    """Ascent may end right after a turn of diagonal factors, which can be a loss."""
    variational, q = build("fixed", "diag")
    for _ in range(63):
        variational.update(q, serial)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((K, K)))[0]
    monkeypatch.setattr(vi_model, "nearest_axes", lambda *_: (turn, turn.T))
    variational.update(q, serial)
    least, turned = q.trial[0], slow_bound(variational, q)
    variational.take_back(q)
    assert q.trial is None and slow_bound(variational, q) > least
    assert slow_bound(variational, q) != turned
    variational.take_back(q)


def test_rotation_leaves_the_likelihood():
    variational, q = build("fixed", "full", biases=True)
    for _ in range(3):
        variational.update(q, serial)
    before = slow_bound(variational, q)
    logits = q.mean[0] @ q.mean[1].T
    turn = np.random.default_rng(0).standard_normal((K, K)) + 2 * np.eye(K)
    rest = variational.rest(q)
    variational.turn(q, 0, np.linalg.inv(turn).T)
    variational.turn(q, 1, turn)
    np.testing.assert_allclose(q.mean[0] @ q.mean[1].T, logits, atol=1e-10)
    change = variational.rest(q) - rest
    assert slow_bound(variational, q) - before == pytest.approx(change, abs=1e-8)
    variational.rebalance(q, serial)
    # back to the basis that was the best already
    assert variational.rest(q) > rest - 1e-8


@pytest.mark.parametrize(
    ("covariance", "dense"),
    [
        ("full", True),
        pytest.param("full", False, marks=pytest.mark.slow),
        pytest.param("diag", True, marks=pytest.mark.slow),
        ("diag", False),
    ],
)
def test_threads_change_nothing(covariance, dense):
    counts = make_sgns(120, 4, 20_000, random_state=0).pairs
    found = []
    for n_threads in (1, 3):
        pairs = DensePairs(counts) if dense else SparsePairs(counts)
        model = SGNSModel(pairs, 4, 2.0)
        model.blocks = [[(0, 30), (30, 70), (70, 90), (90, 120)]] * 2
        variational = SGNSVariational(model, covariance)
        q = variational.init_q(model.start(np.random.default_rng(0)))
        with Workers(n_threads) as run:
            facts = ascend(variational, q, tol=1e-7, run=run, max_iter=30)
        found.append((q.mean, q.cov, facts["elbo"]))
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


@pytest.mark.slow
def test_single_precision_tables():
    """Large models use float32 tables: the same approximation to their precision."""
    found = []
    for dtype in (np.float64, np.float32):
        variational, _ = build(dense=False)
        variational.dtype, variational.rounding = dtype, 1e-6 if dtype == np.float32 else 1e-14
        q = variational.init_q(variational.model.start(np.random.default_rng(0)))
        for _ in range(50):
            bound = variational.update(q, serial)
        found.append((bound, q.mean[0] @ q.mean[1].T))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-6)
    np.testing.assert_allclose(found[1][1], found[0][1], atol=2e-3)


def test_ard_finds_the_number_of_components():
    """Two planted components of eight; the rest switch off, whatever the start."""
    counts = make_sgns(60, 2, 60_000, random_state=1).pairs
    for seed in (0, 1):
        model = BayesianSGNS(
            8, solver="vi", prior="ard", draws=10, random_state=seed, hyperprior=(1e-3, 1e-3)
        ).fit(counts)
        approximation = model.posterior_.approximation
        assert model.posterior_.attrs["n_on"] == approximation.n_on == 2
        assert approximation.energy[2] < 1e-3 * approximation.energy[1]
        assert np.all(np.diff(approximation.energy) <= 0)
        # off components have the precision that the hyperprior and 2 n_words zeros give
        assert approximation.prior_precision[2:].min() > 3 * approximation.prior_precision[1]


@pytest.fixture(scope="module")
def fitted():
    return BayesianSGNS(3, solver="vi", draws=5, random_state=0).fit(COUNTS)


def test_covariances_in_several_blocks(fitted, monkeypatch):
    """All words' matrices, however many fit into a block."""
    approximation = fitted.approximation_
    words = np.arange(COUNTS.n_words)
    whole = approximation.covariance("rho", words)
    monkeypatch.setattr(factors, "_UNPACKED", 9 * 4)
    np.testing.assert_array_equal(approximation.covariance("rho", words), whole)
    assert whole.shape == (words.size, 3, 3)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_draws_have_the_moments(covariance, biases):
    model = BayesianSGNS(
        3, solver="vi", covariance=covariance, biases=biases, draws=4000, random_state=0,
        prior_precision="learned",
    ).fit(COUNTS)  # fmt: skip
    posterior, approximation = model.posterior_, model.posterior_.approximation
    assert set(approximation.mean) == set(posterior)
    for name in approximation.vectors:
        draws = posterior[name][0]
        sd = np.sqrt(approximation.variance(name))
        # a mean of 4,000 draws has a standard error of sd / 63; 84 words' coordinates
        assert np.abs((draws.mean(axis=0) - approximation.mean[name]) / sd).max() < 4.5 / 63
        assert np.abs(draws.std(axis=0) / sd - 1).max() < 4.5 / np.sqrt(2 * 4000)
        np.testing.assert_allclose(posterior.mean(name), approximation.mean[name])
        np.testing.assert_allclose(posterior.std(name), sd, rtol=1e-9)
    matrix = approximation.covariance("alpha", 3)
    sample = np.cov(posterior["alpha"][0, :, 3].T)
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    assert np.abs((sample - matrix) / scale).max() < 4.5 * np.sqrt(2 / 4000)
    np.testing.assert_allclose(posterior.covariance("alpha")[3], matrix, atol=1e-12)
    if covariance == "diag":
        assert np.count_nonzero(matrix) == 3
    assert posterior["prior_precision"].shape == (1, 4000, 1)
    tau = approximation.prior_precision[0]
    assert posterior["prior_precision"].mean() == pytest.approx(tau, rel=0.02)


def test_posterior_facts(fitted):
    attrs = fitted.posterior_.attrs
    assert attrs["solver"] == "vi" and attrs["converged"] and attrs["n_iter"] == fitted.n_iter_
    elbo = fitted.posterior_.approximation.elbo
    assert attrs["elbo"] == elbo[-1] and elbo.size == attrs["n_iter"]
    again = BayesianSGNS(3, solver="vi", draws=5, random_state=0, n_jobs=2).fit(COUNTS)
    np.testing.assert_array_equal(fitted.posterior_["rho"], again.posterior_["rho"])
    with pytest.raises(KeyError, match="name must be 'rho' or 'alpha'"):
        fitted.posterior_.approximation.covariance("gamma", 0)


@pytest.mark.slow
def test_quick_start_leads_to_the_same_bound():
    """Lists of pairs start with diagonal covariances: as good an end as from the random start."""
    counts = make_sgns(100, 2, 1200, random_state=0).pairs
    model = BayesianSGNS(2, solver="vi", draws=5, random_state=0, tol=1e-9).fit(counts)
    pairs = SparsePairs(counts)
    direct = SGNSVariational(SGNSModel(pairs, 2, 1.0))
    bounds = []
    for seed in range(4):
        q = direct.init_q(direct.model.start(np.random.default_rng(seed)))
        bounds.append(ascend(direct, q, tol=1e-7)["elbo"][-1])
    assert model.posterior_.attrs["elbo"] > min(bounds) - 0.1


def test_limit_of_iterations_warns():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        BayesianSGNS(3, solver="vi", draws=5, max_iter=2, random_state=0).fit(COUNTS)


@pytest.mark.slow
def test_near_the_exact_posterior():
    """Logits' means against Gibbs, in units of the posterior sd, where data are many."""
    counts = make_sgns(40, 2, 40_000, random_state=0).pairs
    exact = BayesianSGNS(
        2, prior_precision=2.0, anchors=None, draws=1000, warmup=300, chains=2, random_state=0
    ).fit(counts)
    logits = np.einsum("dwk,dvk->dwv", *(exact.posterior_.flat(n) for n in ("rho", "alpha")))
    mean, sd = logits.mean(axis=0), logits.std(axis=0)
    for covariance in ("full", "diag"):
        model = BayesianSGNS(
            2, solver="vi", covariance=covariance, prior_precision=2.0, draws=1000, random_state=0
        ).fit(counts)
        error = (model.rho_ @ model.alpha_.T - mean) / sd
        assert np.sqrt(np.mean(error**2)) < 0.2
        draws = np.einsum("dwk,dvk->dwv", *(model.posterior_.flat(n) for n in ("rho", "alpha")))
        # a mean-field factor knows its side's spread only: too narrow, not by much
        assert 0.6 < np.median(draws.std(axis=0) / sd) < 1.05


def test_pair_counts_by_hand():
    """One word with itself: the update of K = 1 written out."""
    counts = PairCounts(sparse.csr_array([[3.0]]), sparse.csr_array([[1.0]]))
    model = SGNSModel(DensePairs(counts), 1, 1.5)
    variational = SGNSVariational(model)
    q = variational.init_q({"rho": np.array([[0.4]]), "alpha": np.array([[0.7]])})
    second = 0.7**2 + 1 / (1.5 + 4 / 16)
    xi = np.sqrt((0.4**2 + 1 / (1.5 + 4 / 16)) * second)
    omega = 4 * np.tanh(xi / 2) / (2 * xi)
    variational.update_side(q, 0, serial)
    precision = 1.5 + omega * second
    assert q.cov[0][0, 0] == pytest.approx(1 / precision, rel=1e-12)
    assert q.mean[0][0, 0] == pytest.approx(1.0 * 0.7 / precision, rel=1e-12)

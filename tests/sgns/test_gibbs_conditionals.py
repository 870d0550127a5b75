"""Count matrices make pairs with thousands of observations: posteriors 1e-3 of the prior wide."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS
from skbayesembed.common.mixing import warn_if_stuck, warn_unless_mixed
from skbayesembed.common.random import generators
from skbayesembed.sgns.gibbs import kernels as mk


# of a logit that hardly varies there are somewhat fewer than 100
@pytest.mark.filterwarnings("ignore:.*worth only")
@pytest.mark.parametrize("scale", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_kernels_agree_on_heavy_counts(scale):
    """Metropolis chains are as wide as Polya-Gamma ones, and hardly ever rejected."""
    counts = scale * np.random.default_rng(0).poisson(1, (20, 12))
    options = {"min_count": 1, "draws": 400, "warmup": 200, "chains": 2, "random_state": 0}
    fits = {
        kernel: BayesianSGNS(2, kernel=kernel, **options).fit(counts)
        for kernel in ("metropolis", "polya-gamma")
    }
    sd = {kernel: fit.posterior_.std("rho") for kernel, fit in fits.items()}
    # at least 150 effective draws a coordinate: deviations good to 6 %, so 24 % is four errors
    ratio = np.sort((sd["metropolis"] / sd["polya-gamma"]).ravel())
    assert 0.76 < ratio[0] and ratio[-1] < 1.24
    gap = fits["metropolis"].rho_ - fits["polya-gamma"].rho_
    assert np.max(np.abs(gap) / sd["polya-gamma"]) < 0.5
    assert fits["metropolis"].posterior_.stats["acceptance"].mean() > 0.8


def problem(sampling, kernel="metropolis", dense=True):
    rng = np.random.default_rng(1)
    rho, alpha = rng.normal(size=(2, 15, 2))
    total = rng.poisson(3e4, (15, 15))
    positive = rng.binomial(total, expit(rho @ alpha.T))
    return sampling.conditionals(positive, total - positive, 2, 1.0, kernel, dense)


@pytest.mark.parametrize("dense", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_stuck_chain_comes_home(sampling, dense):
    """From a start hundreds of standard deviations off, approximate sweeps get a chain moving."""
    model = problem(sampling, dense=dense)
    state = model.init_state(generators(np.random.SeedSequence(0), model.n_streams))
    for x in state.x:
        x *= 5.0
    state.tuning = model.tuner.first(state.x)
    fits = sampling.run(model, 200, 300, seed=3, state=state, each=lambda s: s.x[0] @ s.x[1].T)
    reference = problem(sampling, "polya-gamma", dense)
    truth = sampling.run(reference, 400, 400, seed=4, each=lambda s: s.x[0] @ s.x[1].T)
    assert not any(f.any() for f in state.tuning.forced)
    gap = np.mean(fits, axis=0) - np.mean(truth, axis=0)
    # logits have a posterior sd near 0.01; chains stuck at the start would be off by units
    assert np.max(np.abs(gap)) < 0.1
    assert np.mean([a.mean() for a in state.accepted]) > 0.5 * 200


def test_rescued_blocks_are_exact_polya_gamma_updates(sampling):
    """A unit that stayed stuck is moved by the Polya-Gamma kernel, draw for draw."""
    metropolis, polya_gamma = problem(sampling), problem(sampling, "polya-gamma")
    a = metropolis.init_state(generators(np.random.SeedSequence(5), metropolis.n_streams))
    b = polya_gamma.init_state(generators(np.random.SeedSequence(5), polya_gamma.n_streams))
    a.tuning.rescued = [np.ones(len(u), bool) for u in metropolis.model.blocks]
    for model, state in ((metropolis, a), (polya_gamma, b)):
        sampling.run(model, 5, 0, seed=6, state=state)
    assert_allclose(a.x[0], b.x[0])
    assert_allclose(a.x[1], b.x[1])
    assert metropolis.trace(a)["acceptance"] == 1.0


def test_nothing_is_forced_after_warmup(sampling):
    """Approximate sweeps end with the learning, however stuck a unit is."""
    model = problem(sampling)
    state = model.init_state(generators(np.random.SeedSequence(7), model.n_streams))
    for warmup in (1, 3, 10, 50):
        state.tuning = model.tuner.first(state.x)
        for step in range(warmup):
            model.sweep(
                state, generators(np.random.SeedSequence(8), model.n_streams), sampling.serial
            )
            for accepted in state.accepted:
                accepted[:] = 0  # pretend that nothing was ever accepted
            model.tune(state, step, warmup)
        assert not any(f.any() for f in state.tuning.forced)
        assert state.tuning.sums is None


def test_climb_finds_the_mode():
    rng = np.random.default_rng(9)
    rows, n = rng.normal(size=(30, 3)), rng.poisson(200, 30).astype(float)
    kappa = n * rng.uniform(-0.5, 0.5, 30)
    prior, pull = np.array([1.0, 0.5, 2.0]), np.array([3.0, -2.0, 0.0])

    def objective(x):
        t = rows @ x
        likelihood = np.sum(kappa * t - n * np.logaddexp(t / 2, -t / 2))
        return np.sum(0.5 * prior * x * x - pull * x) - likelihood

    best = minimize(objective, np.zeros(3), tol=1e-12).x
    p = expit(rows @ best)
    hessian = (rows * (n * p * (1 - p))[:, None]).T @ rows + np.diag(prior)
    x, factor = np.array([40.0, -30.0, 20.0]), np.empty((3, 3))
    scratch = [np.empty(30) for _ in range(3)]
    mk.climb(
        rows, n, kappa, prior, pull, x, *scratch, np.empty((30, 3)), np.empty(3), np.empty(3),
        factor,
    )  # fmt: skip
    error = np.linalg.cholesky(hessian).T @ (x - best)
    assert np.linalg.norm(error) < 0.04  # posterior standard deviations
    assert_allclose(np.tril(factor), np.linalg.cholesky(hessian), rtol=1e-2, atol=1e-2)


def test_stuck_chains_warn():
    with pytest.warns(ConvergenceWarning, match="more than 100"):
        assert warn_unless_mixed([np.inf, 1.0], "x") == np.inf
    assert np.isnan(warn_unless_mixed([np.nan], "x"))
    with pytest.warns(ConvergenceWarning, match="hardly moved: 1.0 %"):
        warn_if_stuck(0.01)
    warn_if_stuck(0.5)

"""The dynamic posterior for Hamiltonian samplers: gradient, volume, what a run returns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.density_kernels import pull_stretch, step_sums, stretch_trajectories
from skbayesembed.dynamic.hmc import DynamicHamiltonian, pilot_run, solve
from skbayesembed.dynamic.model import DynamicDensity, DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.records import Settings

T, MONITORED = 4, np.array([[0, 1, 2], [2, 3, 0]])
HYPERPRIOR = (2.0, 0.05)


def build(diffusion, n_words=12, k=2, n_periods=T, n_pairs=600):
    times = np.array([0.0, 1.0, 3.0, 4.0])[:n_periods]
    data = make_dynamic_sgns(n_words, k, n_periods, n_pairs, times=times, random_state=0)
    prior = DriftPrior(np.diff(times), 1.5, diffusion, HYPERPRIOR)
    return DynamicModel.of_counts(data.pairs, k, prior, np.random.default_rng(1))


def value_and_gradient(target, theta):
    gradient = np.empty_like(theta)
    return target.logp_and_grad(theta, gradient), gradient


@pytest.mark.parametrize("n_periods", [1, 2, T])
def test_gradient_with_a_learned_diffusion(n_periods):
    target = DynamicHamiltonian(
        build("learned", n_periods=n_periods), MONITORED[:1], (np.log(0.03), 0.3)
    )
    rng = np.random.default_rng(2)
    theta, step = target.init(rng), 1e-5
    gradient = value_and_gradient(target, theta)[1]
    last = np.zeros_like(theta)
    last[-1] = 1.0
    for direction in [*rng.standard_normal((5, theta.size)), last]:
        up, down = (target.logp_and_grad(theta + s * direction, last) for s in (step, -step))
        assert (up - down) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-6, abs=1e-6)
        last = np.zeros_like(theta)


def test_density_with_a_learned_diffusion_counts_the_volume():
    """Of (x, log D), times the determinant of the map to it: by differences, on a tiny model."""
    model = build("learned", n_words=3, k=1, n_periods=3, n_pairs=60)
    target = DynamicHamiltonian(model, MONITORED[:1], (np.log(0.03), 0.3))
    rng, step = np.random.default_rng(3), 1e-6

    def mapped(theta):
        return np.append(target.vectors(theta).ravel(), theta[-1])

    def expected(theta):
        x, diffusion = target.vectors(theta), target.observe(theta)["diffusion"][0]
        prior = model.prior.tridiagonal(diffusion)
        value = target.density.likelihood(x, np.zeros_like(x))
        value += model.prior.log_hyperprior(diffusion)
        # six trajectories of one component
        value += -0.5 * np.vdot(x, prior.apply(x)) + 3 * prior.log_determinant()
        columns = [
            (mapped(theta + e) - mapped(theta - e)) / (2 * step) for e in step * np.eye(theta.size)
        ]
        return value + np.linalg.slogdet(np.array(columns))[1]

    points = [target.init(rng) for _ in range(4)]
    found = np.array([value_and_gradient(target, p)[0] for p in points])
    truth = np.array([expected(p) for p in points])
    np.testing.assert_allclose(found - found[0], truth - truth[0], rtol=1e-6, atol=1e-5)


def test_stretching_against_slow_twins():
    rng, shape = np.random.default_rng(7), (4, 5, 2)
    v, gradient = rng.standard_normal((2, *shape))
    shares, power = rng.dirichlet(np.ones(4), 5).T.copy(), rng.random(5)
    factor = np.exp(0.5 * 0.7 * power)
    x, away = np.empty(shape), np.empty(shape)
    stretch_trajectories(v, shares, factor, away, x)
    level = np.einsum("ti,tij->ij", shares, v)
    np.testing.assert_allclose(away, factor[:, None] * (v - level), atol=1e-14)
    np.testing.assert_allclose(x, level + away, atol=1e-14)
    pulled = gradient.copy()
    slope = pull_stretch(pulled, shares, factor, power, away)
    assert slope == pytest.approx(0.5 * np.sum(power[:, None] * gradient * away))
    expected = factor[:, None] * gradient
    expected += ((1 - factor) * shares)[..., None] * gradient.sum(axis=0)
    np.testing.assert_allclose(pulled, expected, atol=1e-14)
    sums = np.empty((3, 3))
    step_sums(x.reshape(4, -1), sums)
    np.testing.assert_allclose(sums, DriftPrior(np.ones(3)).statistics(x)[0])


def test_a_given_diffusion_needs_no_more_parameters():
    model = build(0.1)
    target, density = DynamicHamiltonian(model, MONITORED), DynamicDensity(model)
    theta = target.init(np.random.default_rng(4))
    assert target.n_parameters == density.n_parameters == theta.size
    assert value_and_gradient(target, theta)[0] == value_and_gradient(density, theta)[0]
    assert set(target.observe(theta)) == {"rho", "alpha"}
    assert set(target.trace(theta)) == {"logit", "coordinate"}


def test_what_is_recorded():
    target = DynamicHamiltonian(build("learned"), MONITORED, (np.log(0.03), 0.3))
    theta = target.init(np.random.default_rng(5))
    values, trace, x = target.observe(theta), target.trace(theta), target.vectors(theta)
    logits = np.einsum("twk,tvk->twv", x[:, 0], x[:, 1])
    np.testing.assert_allclose(trace["logit"], logits[tuple(MONITORED.T)])
    np.testing.assert_allclose(
        np.einsum("twk,tvk->twv", values["rho"], values["alpha"]), logits, atol=1e-12
    )
    assert values["diffusion"] == pytest.approx(0.03 * np.exp(theta[-1]))
    assert trace["log_diffusion"] == np.log(values["diffusion"])
    # at the pilot's diffusion nothing is stretched
    theta[-1] = 0.0
    np.testing.assert_allclose(
        target.vectors(theta), target.density.vectors(theta[:-1]), atol=1e-12
    )


def test_pilot_run_depends_on_seeds_alone():
    model = build("learned")
    found = pilot_run(model, MONITORED, np.random.SeedSequence(1))
    assert found == pilot_run(model, MONITORED, np.random.SeedSequence(1), n_jobs=2)
    assert found[1] > 0


@pytest.mark.parametrize("diffusion", [0.1, pytest.param("learned", marks=pytest.mark.slow)])
def test_a_run(diffusion):
    model = build(diffusion)
    estimator = SimpleNamespace(solver="hmc", chains=2, n_jobs=1, verbose=0, target_accept=0.8)
    problem = SimpleNamespace(model=model)

    def run(n_jobs):
        estimator.n_jobs = n_jobs
        return solve(estimator, problem, Settings(30, 40), np.random.SeedSequence(6))

    result = run(1)
    draws, learned = result.draws, diffusion == "learned"
    assert draws["rho"].shape == draws["alpha"].shape == (2, 30, T, 12, 2)
    assert ("diffusion" in draws) == ("log_diffusion" in result.stats) == learned
    assert result.stats["logit"].shape[:2] == (2, 30)
    assert result.facts["kernel"] == "nuts"
    assert result.facts["divergences"] == 0
    again = run(2)
    for name in draws:
        np.testing.assert_array_equal(again.draws[name], draws[name])

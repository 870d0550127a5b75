"""The solvers of the dynamic posterior against each other."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.gibbs.conditionals import DynamicConditionals
from skbayesembed.dynamic.hmc import DynamicHamiltonian, pilot_run
from skbayesembed.dynamic.laplace.approximation import DynamicLaplace
from skbayesembed.dynamic.laplace.solver import reach_mode
from skbayesembed.dynamic.model import DynamicDensity, DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.records import Settings
from skbayesembed.inference.trajectories import HamiltonianOptions

EMPTY = 2
PLACE = np.array([[0, 0, 0]])
HYPERPRIOR = (2.0, 0.1)


def build(n_words, k, n_pairs, diffusion, times=(0.0, 1.0, 3.0, 4.0)):
    data = make_dynamic_sgns(
        n_words, k, len(times), n_pairs, times=times, diffusion=0.1, empty_periods=[EMPTY],
        random_state=0,
    )  # fmt: skip
    prior = DriftPrior(np.diff(times), k, diffusion, HYPERPRIOR)
    return DynamicModel.of_counts(data.pairs, k, prior, np.random.default_rng(1))


def by_gibbs(model, draws, warmup):
    return sample_gibbs(
        DynamicConditionals(model, PLACE),
        Settings(draws, warmup),
        n_chains=2,
        seeds=np.random.SeedSequence(2),
    )


def by_hmc(model, draws, warmup):
    pilot = None
    if model.prior.learned:
        pilot = pilot_run(model, PLACE, np.random.SeedSequence(3))
    return sample_hmc(
        DynamicHamiltonian(model, PLACE, pilot),
        Settings(draws, warmup),
        HamiltonianOptions(metric="given"),
        n_chains=2,
        seeds=np.random.SeedSequence(4),
    )


def quantities(result):
    """Logits, cosines of targets over periods and between words, and log D: (chain, draw, n)."""
    rho, alpha = (result.draws[name] for name in ("rho", "alpha"))
    unit = rho / np.linalg.norm(rho, axis=-1, keepdims=True)
    seen = [
        np.einsum("cdtwk,cdtvk->cdtwv", rho, alpha),
        np.einsum("cdtwk,cdtwk->cdtw", unit[:, :, 1:], unit[:, :, :-1]),
        np.einsum("cdtwk,cdtvk->cdtwv", unit[:, :, :, :4], unit[:, :, :, 4:]),
    ]
    if "diffusion" in result.draws:
        seen.append(np.log(result.draws["diffusion"]))
    return np.concatenate([s.reshape(*s.shape[:2], -1) for s in seen], axis=2)


def z_scores(sampling, a, b):
    """Differences of means and of squares about the common mean, in standard errors."""
    center = 0.5 * (a.mean(axis=(0, 1)) + b.mean(axis=(0, 1)))
    out = []
    for power in (1, 2):
        means, errors = [], []
        for draws in ((a - center) ** power, (b - center) ** power):
            n = np.array([sampling.ess(draws[..., i]) for i in range(draws.shape[2])])
            means.append(draws.mean(axis=(0, 1)))
            errors.append(draws.var(axis=(0, 1)) / n)
        out.append((means[0] - means[1]) / np.sqrt(errors[0] + errors[1]))
    return np.array(out)


def check_agreement(sampling, model, draws, warmup):
    """Means and variances by HMC and by Gibbs agree within their errors.

    Of some hundred correlated quantities, five standard errors happen by chance once in a thousand
    runs; a bias of half an error in all of them makes the mean square 1.25. Squares have heavier
    tails than their standard errors tell: half an error more is allowed.
    """
    results = by_hmc(model, draws[0], warmup[0]), by_gibbs(model, draws[1], warmup[1])
    assert results[0].facts["divergences"] == 0
    z = z_scores(sampling, *(quantities(r) for r in results))
    print(np.abs(z).max(axis=1), (z**2).mean(axis=1))
    assert np.abs(z[0]).max() < 5.0
    assert np.abs(z[1]).max() < 5.5
    assert np.all((z**2).mean(axis=1) < [1.5, 2.0])


@pytest.mark.slow
@pytest.mark.parametrize("diffusion", [0.1, "learned"])
def test_hmc_agrees_with_gibbs(sampling, diffusion):
    check_agreement(sampling, build(7, 2, 150, diffusion), (500, 1200), (120, 200))


@pytest.mark.slow
@pytest.mark.parametrize("diffusion", [0.1, "learned"])
def test_hmc_agrees_with_gibbs_at_length(sampling, diffusion):
    check_agreement(sampling, build(20, 3, 1500, diffusion), (1500, 4000), (200, 300))


@pytest.mark.slow
def test_laplace_is_near_gibbs_where_data_are_many():
    """At 80 observations a pair and period: within 0.3 sds, sds within a fifth, in mean square.

    The largest difference of a mean is the Gaussian's own, no Monte Carlo error: on each of
    eight data sets it was about the same with four times the draws, 0.1 to 1.0 sds. Root mean
    squares on ten were 0.05 to 0.20 for means and 0.05 to 0.13 for sds.
    """
    model = build(7, 2, 4000, 0.1)
    density = DynamicDensity(model)
    start = density.pack({name: np.tile(v, (4, 1, 1)) for name, v in model.center.items()})
    theta, _ = reach_mode(density, start)
    approximation = DynamicLaplace(density, density.vectors(theta), "blocks")
    draws = approximation.sample(2000, np.random.default_rng(5))
    found = logits(draws)
    exact = logits({n: np.concatenate(v) for n, v in by_gibbs(model, 600, 100).draws.items()})
    seen = np.delete(np.arange(4), EMPTY)
    found, exact = found[:, seen], exact[:, seen]
    sds = exact.std(axis=0)
    shift = (found.mean(axis=0) - exact.mean(axis=0)) / sds
    assert np.sqrt(np.mean(shift**2)) < 0.3
    assert np.sqrt(np.mean(np.log(found.std(axis=0) / sds) ** 2)) < 0.2


def logits(draws):
    return np.einsum("dtwk,dtvk->dtwv", draws["rho"], draws["alpha"])

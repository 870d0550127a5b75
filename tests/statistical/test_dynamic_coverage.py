"""Do 90 % intervals of P_t(w, v) cover the true probabilities 90 % of the time, gaps included?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.gibbs.conditionals import DynamicConditionals
from skbayesembed.dynamic.model import DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.records import Settings
from skbayesembed.posterior.posterior import hdi_interval

DIFFUSION = 0.02


def covered(n_words, k, n_periods, n_pairs, empty, draws, warmup, seed, diffusion=DIFFUSION):
    """Share of true P_t(w, v) in their 90 % intervals, by period: shape (n_periods,)."""
    data = make_dynamic_sgns(
        n_words, k, n_periods, n_pairs, diffusion=DIFFUSION, empty_periods=[empty],
        random_state=seed,
    )  # fmt: skip
    prior = DriftPrior(np.diff(data.times), k, diffusion)
    model = DynamicModel.of_counts(data.pairs, k, prior, np.random.default_rng(seed))
    result = sample_gibbs(
        DynamicConditionals(model, np.array([[0, 0, 0]])),
        Settings(draws, warmup),
        n_chains=2,
        seeds=np.random.SeedSequence(seed),
    )
    rho, alpha = (
        result.draws[name].reshape(-1, n_periods, n_words, k) for name in ("rho", "alpha")
    )
    shares = np.empty(n_periods)
    for t in range(n_periods):
        truth = expit(data.rho[t] @ data.alpha[t].T)
        low, high = np.moveaxis(
            hdi_interval(expit(rho[:, t] @ alpha[:, t].swapaxes(1, 2)), prob=0.9), -1, 0
        )
        shares[t] = np.mean((low <= truth) & (truth <= high))
    return shares


@pytest.mark.slow
def test_coverage_of_small_data_sets():
    """A glance: 8 data sets of 15 words and 4 periods, one of them empty.

    Pairs of a data set share their vectors, so the error is that over data sets, of which four
    are allowed; the narrowest interval of 600 draws with autocorrelation loses about 2 %.
    """
    shares = np.array([covered(15, 2, 4, 600, 2, 300, 100, seed) for seed in range(8)])
    for found in (shares.mean(axis=1), shares[:, 2]):
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert abs(found.mean() - 0.89) < 0.01 + 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("diffusion", [DIFFUSION, "learned"])
def test_coverage(diffusion, capsys):
    """Six data sets of T=8, V=100, K=5 with a whole-period gap: 90 +- 1.5 %, the gap apart too.

    Two standard errors over the data sets are allowed besides.
    """
    shares = np.array(
        [covered(100, 5, 8, 20_000, 4, 1000, 300, seed, diffusion) for seed in range(6)]
    )
    for name, found in (("all periods", shares.mean(axis=1)), ("the gap", shares[:, 4])):
        error = found.std(ddof=1) / np.sqrt(len(found))
        with capsys.disabled():
            print(f"\ndiffusion={diffusion}, {name}: {100 * found.mean():.2f} +- {100 * error:.2f}")
        assert abs(found.mean() - 0.90) < 0.015 + 2 * error

"""Data trees of trajectories: log likelihoods and priors against densities of chains."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DynamicSGNS

pytest.importorskip("arviz_base")

TIMES = np.arange(15) % 3
TEXTS = [[f"w{i}" for i in row] for row in np.random.default_rng(0).integers(6, size=(15, 8))]


def fitted(**options):
    options = {"min_count": 1, "solver": "hmc", "draws": 20, "warmup": 20, "chains": 2, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return DynamicSGNS(2, n_periods=3, random_state=0, **options).fit(TEXTS, times=TIMES)


def test_likelihood_and_prior_sum_to_the_density_of_chains():
    model = fitted(diffusion=0.05)
    tree = model.to_datatree(TEXTS, times=TIMES)
    pairs = tree["log_likelihood"]["pairs"]
    total = pairs.sum("pair").values + tree["log_prior"]["trajectories"].values
    # the same but for a constant
    assert np.ptp(total - model.posterior_.stats["lp"]) < 1e-6 * np.abs(total).max()
    by_word = model.to_datatree(TEXTS, times=TIMES, observations="words")["log_likelihood"]["words"]
    assert by_word.shape == (2, 20, 3 * model.words_.size)
    of_one = {"target": "w3", "period": str(model.periods_.labels[1])}
    here = [np.all([o[k].values == v for k, v in of_one.items()], axis=0) for o in (pairs, by_word)]
    np.testing.assert_allclose(
        pairs.values[..., here[0]].sum(axis=2), by_word.values[..., here[1]][..., 0]
    )


def test_a_learned_diffusion_is_part_of_the_prior():
    model = fitted(solver="gibbs", diffusion="learned")
    prior, posterior = model._prior, model.posterior_
    found = model.to_datatree()["log_prior"]["trajectories"].values
    for c, s in ((0, 3), (1, 17)):
        diffusion = posterior["diffusion"][c, s].item()
        precision = prior.tridiagonal(diffusion)
        value = prior.log_hyperprior(diffusion)
        for name in ("rho", "alpha"):
            x = posterior[name][c, s].reshape(3, -1)
            value += 0.5 * x.shape[1] * precision.log_determinant()
            value -= 0.5 * np.vdot(x, precision.apply(x))
        if (c, s) == (0, 3):
            first = value - found[c, s]
    # up to a constant, which no diffusion changes
    assert value - found[1, 17] == pytest.approx(first, abs=1e-6 * abs(value))


def test_other_data_are_refused():
    model = fitted()
    with pytest.raises(ValueError, match="must be the data that fit was given"):
        model.to_datatree(TEXTS, times=TIMES[::-1])
    with pytest.raises(ValueError, match="needs times"):
        model.to_datatree(TEXTS)
    with pytest.raises(ValueError, match="with its negative pairs: negative, ns_exponent"):
        copy.copy(model).set_params(negative=5).to_datatree(TEXTS, times=TIMES)
    with pytest.raises(ValueError, match="with its negative pairs: negative, ns_exponent"):
        copy.copy(model).set_params(ns_exponent=0.0).to_datatree(TEXTS, times=TIMES)
    with pytest.raises(MemoryError, match="max_bytes=100"):
        model.to_datatree(TEXTS, times=TIMES, max_bytes=100)
    with pytest.raises(ValueError, match="got solver='vi'"):
        fitted(solver="vi").to_datatree(TEXTS, times=TIMES)

"""Priors as users give them: their ranges, their print, and what a model makes of them."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from skbayesembed import SensePrior
from skbayesembed.senses.priors import prior_of


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kappa_phi": 0.0}, "prior.kappa_phi must be a number > 0"),
        ({"kappa_phi": "wide"}, r"a pair \(shape, rate\) .* or 'auto', got 'wide'"),
        ({"kappa_phi": (1.0, -1.0)}, r"prior.kappa_phi\[1\] must be a number > 0"),
        ({"kappa_phi": (1.0, 2.0, 3.0)}, "prior.kappa_phi must be a number > 0"),
        ({"kappa_theta": "a"}, "prior.kappa_theta must be a number > 0"),
        ({"alpha_theta": 1.0}, "prior.alpha_theta must be a number > -1 and < 1, got 1.0"),
        ({"alpha_phi": -1.0}, "prior.alpha_phi must be a number > -1"),
        ({"first_psi": -1.0}, "prior.first_psi must be a number > 0"),
        ({"interaction_scale": 0}, "prior.interaction_scale must be a number > 0"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        SensePrior(**change).check()


def test_print_and_equality():
    prior = SensePrior(kappa_chi=2.0)
    assert repr(prior).startswith("SensePrior(kappa_phi='auto', alpha_phi=0.9, ")
    assert "kappa_chi=2.0" in repr(prior)
    assert prior == copy.deepcopy(prior) != SensePrior()


def asked(model, prior):
    """What is read of an estimator."""
    return SimpleNamespace(model=model, prior=prior, likelihood_power=1)


def test_the_estimator_says_which_model_it_is_for():
    given = prior_of(asked("gasc", SensePrior(first_psi=np.inf)))
    assert given.kind == "gasc" and given.walks and given.flat == ["first_psi"]
    assert given.mean_kappa_phi == 3 / 7
    assert np.isfinite(given.proper().first_psi)
    given = prior_of(asked("disc", SensePrior(first_psi=np.inf)))
    assert not given.flat and given.mean_kappa_phi == 0.25 and not given.learns
    given = prior_of(asked("edisc", None), works=True)
    assert given.learns and given.of_kappa_phi == (1.0, 0.25)
    given = prior_of(asked("disc", SensePrior(kappa_phi=0.5)), works=True)
    assert not given.learns and given.mean_kappa_phi == 0.5
    assert prior_of(asked("scan", None)).kappa_psi == 0.1
    with pytest.raises(ValueError, match="prior must be None or a SensePrior, got 'wide'"):
        prior_of(asked("disc", "wide"))
    with pytest.raises(ValueError, match="model must be one of 'disc', 'gasc'"):
        prior_of(asked("lda", None))


@pytest.mark.parametrize("kind", ["disc", "gasc"])
def test_kappa_given_prevalences(kind):
    """The conditional is the prior times the density of the paths, up to a constant."""
    given = prior_of(asked(kind, SensePrior(kappa_phi=(1.5, 0.4), alpha_phi=-0.6)))
    phi = np.random.default_rng(0).normal(size=(2, 4, 3))
    shape, rate = given.kappa_conditional(phi)
    a, b = given.of_kappa_phi
    gaps = []
    for kappa in (0.1, 0.7, 3.0):
        precision = given.phi_precision(4, kappa)
        form = np.einsum("gtk,ts,gsk->", phi, precision.dense(), phi)
        density = stats.invgamma(a, scale=b).logpdf(kappa) - 0.5 * form
        density += 0.5 * 6 * precision.log_determinant()
        gaps.append(stats.invgamma(shape, scale=rate).logpdf(kappa) - density)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-10)

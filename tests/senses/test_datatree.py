"""Data trees of senses: snippets' log likelihoods, and ArviZ against `loo`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.posterior.summary import ess

pytest.importorskip("arviz_base")

pytestmark = pytest.mark.usefixtures("explored_briefly")

DATA = make_senses(40, 15, n_senses=2, n_periods=3, random_state=0)
GIVEN = {"times": DATA.times, "genres": DATA.genres}


def fitted(**options):
    lengths = {"draws": 30, "warmup": 20, "chains": 2, "n_starts": 1}
    options = {**lengths, "random_state": 0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return DiSCSenseModel(2, n_periods=3, **options).fit(DATA.counts, **GIVEN)


@pytest.mark.parametrize("solver", ["gibbs", "hmc"])
def test_snippets_sum_to_the_likelihood_of_chains(solver):
    model = fitted(solver=solver)
    tree, stats = model.to_datatree(DATA.counts, **GIVEN), model.posterior_.stats
    snippets = tree["log_likelihood"]["snippets"]
    assert snippets.shape == (2, 30, 40)
    np.testing.assert_allclose(snippets.sum("snippet").values, stats["log_likelihood"], rtol=1e-8)
    np.testing.assert_allclose(
        tree["log_prior"]["parameters"].values + stats["log_likelihood"], stats["lp"]
    )


def test_arviz_leaves_out_what_loo_does():
    pytest.importorskip("xarray_einstats")
    from arviz_stats import loo

    model = fitted(solver="gibbs", draws=80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = model.loo(DATA.counts, **GIVEN)
        tree = model.to_datatree(DATA.counts, **GIVEN)
        density = tree["log_likelihood"]["snippets"].values
        efficiency = np.nanmedian(ess(np.exp(density - density.max(axis=(0, 1))), "mean")) / 160
        theirs = loo(tree, pointwise=True, reff=min(float(efficiency), 1.0))
    np.testing.assert_allclose(theirs.elpd_i.values, ours.pointwise, rtol=1e-6)
    assert theirs.elpd == pytest.approx(ours.elpd)


def test_what_is_refused():
    model = fitted(solver="gibbs", draws=24, warmup=4)
    with pytest.raises(MemoryError, match=r"of 40 snippets under 48 draws would take 15360 bytes"):
        model.to_datatree(DATA.counts, **GIVEN, max_bytes=15_359)
    with pytest.raises(ValueError, match="must be the data that fit was given"):
        model.to_datatree(DATA.counts[:10], times=DATA.times[:10], genres=DATA.genres[:10])
    with pytest.raises(ValueError, match="got solver='vi'"):
        fitted(solver="vi").to_datatree(DATA.counts, **GIVEN)


def test_log_likelihoods_are_powered_as_in_the_posterior():
    """What the log density has beside the prior, which psense reads."""
    pytest.importorskip("arviz_base")
    snippets = ["river water flood", "money loan account", "boat river water"] * 10
    model = DiSCSenseModel(2, n_starts=2, draws=60, chains=2, likelihood_power=0.3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = model.fit(snippets).to_datatree(snippets)
    added = tree["log_likelihood"]["snippets"].values.sum(axis=-1)
    rest = tree["sample_stats"]["lp"].values - tree["log_prior"]["parameters"].values - added
    assert np.ptp(rest) < 1e-8

"""Chains that are made longer until their draws tell enough."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.inference.contracts import Result
from skbayesembed.senses import recording
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.model import permuted

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("explored_briefly"),
]

SHORT = {"draws": 12, "warmup": 10, "chains": 2, "n_starts": 1, "random_state": 3}
DATA = make_senses(60, 12, 2, n_periods=2, random_state=0)


def fit(**options):
    model = DiSCSenseModel(2, **(SHORT | options))
    return model.fit(DATA.counts, times=DATA.times)


@pytest.fixture
def never(monkeypatch):
    """No draws are enough."""
    monkeypatch.setattr(recording, "_tell_enough", lambda result, n: False)


@pytest.mark.parametrize(
    ("solver", "n_jobs"),
    [
        pytest.param("hmc", 1, marks=pytest.mark.slow),
        ("hmc", 2),
        ("gibbs", 1),
        pytest.param("gibbs", 2, marks=pytest.mark.slow),
    ],
)
def test_longer_chains_are_those_of_a_fit_with_that_thin(never, solver, n_jobs):
    longer, given = (fit(solver=solver, thin=t, n_jobs=n_jobs) for t in ("auto", 8))
    assert longer.posterior_.attrs["thin"] == given.posterior_.attrs["thin"] == 8
    for found, expected in (
        (longer.posterior_, given.posterior_), (longer.posterior_.stats, given.posterior_.stats)
    ):  # fmt: skip
        assert set(found) == set(expected)
        # with "gibbs" that of the last sweep before a draw, here of more of them
        for name in set(expected) - {"acceptance"} if solver == "gibbs" else expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, err_msg=name)
    for name in ("divergences", "saturated", "standstill"):
        assert longer.posterior_.attrs.get(name) == given.posterior_.attrs.get(name)


def test_chains_are_as_long_as_needed(monkeypatch):
    """Few effective draws make chains longer, enough or a bad R-hat do not."""
    seen: list[bool] = []

    def told(size, mixing):
        monkeypatch.setattr(recording, "ess", lambda draws: np.array([size, np.nan]))
        monkeypatch.setattr(recording, "rhat", lambda draws, n_runs=1: np.array(mixing))
        result = Result({"prevalence": np.zeros((2, 24, 1, 2, 2))})
        return recording._tell_enough(result, 4.8)

    for size, mixing in ((4.7, 1.02), (4.9, 1.02), (4.7, 1.2), (4.7, np.nan)):
        seen.append(told(size, mixing))
    assert seen == [False, True, True, False]  # a tenth of 48 draws is 4.8


def test_an_odd_number_of_draws(never):
    model = fit(draws=13)
    assert model.posterior_["prevalence"].shape[:2] == (2, 13)
    assert np.isfinite(model.posterior_["prevalence"]).all()


@pytest.mark.slow
def test_draws_that_are_not_recorded_whole(never, monkeypatch):
    """Moments are of all draws made, and as many are recorded as before, or one less."""
    posterior = fit(thin=2, draws=25).posterior_
    size = sum(posterior[name][0, 0].nbytes for name in posterior)
    small = partial(recording.Footprint, budget=2 * 9 * size)
    monkeypatch.setattr(recording, "Footprint", small)
    longer, short = fit(draws=25), fit(draws=25, thin=2)
    assert longer.posterior_.attrs["stride"] == short.posterior_.attrs["stride"] > 1
    n = short.posterior_["prevalence"].shape[1]
    assert longer.posterior_.attrs["thin"] == 8
    assert n - 2 <= longer.posterior_["prevalence"].shape[1] <= n
    moments = longer.posterior_.moments["prevalence"]
    # 25 draws, and 13 more each time the chains are made longer, of each of two chains
    assert moments.count == 2 * (25 + 13 + 13)
    np.testing.assert_allclose(moments.mean.sum(axis=-1), 1.0)


def test_interrupted_while_chains_are_made_longer(never, monkeypatch):
    """What was drawn before is kept."""
    plain = fit(thin=2)

    calls, sample = [], recording.lengthened

    def lengthened(sampling, settings, tell, most):
        def interrupted(settings, states):
            calls.append(settings.thin)
            if len(calls) > 1:
                raise KeyboardInterrupt
            return sampling(settings, states)

        return sample(interrupted, settings, tell, most)

    monkeypatch.setattr(recording, "lengthened", lengthened)
    with pytest.warns(RuntimeWarning, match="the 12 draws that each had before, 2 steps apart"):
        kept = fit()
    assert calls == [2, 4] and kept.posterior_.attrs["interrupted"]
    assert kept.posterior_.attrs["thin"] == 2
    np.testing.assert_array_equal(kept.posterior_["prevalence"], plain.posterior_["prevalence"])


@pytest.mark.slow
def test_a_checkpoint_has_the_longer_chains(never, tmp_path):
    """A fit that ends while chains are made longer goes on where it was."""
    expected = fit(thin=8)
    model = DiSCSenseModel(2, checkpoint=str(tmp_path), **SHORT)
    model.fit(DATA.counts, times=DATA.times)
    np.testing.assert_allclose(
        model.posterior_["prevalence"], expected.posterior_["prevalence"], rtol=1e-12
    )


@pytest.mark.parametrize("thin", ["all", 0, 1.5, None])
def test_other_values_are_refused(thin):
    with pytest.raises(ValueError, match="thin must be 'auto' or an integer >= 1, got"):
        fit(thin=thin)


@pytest.fixture
def few_recorded(monkeypatch):
    """Hardly any draw is recorded whole, so that running moments are kept."""
    monkeypatch.setattr(recording, "Footprint", partial(recording.Footprint, budget=2000))


def test_running_means_have_the_names_of_the_mode(few_recorded, monkeypatch):
    """A chain that exchanges the names of senses at every second draw blends none."""
    observe, n = SenseGibbs.observe, itertools.count()

    def exchanged(self, state):
        seen = observe(self, state)
        return permuted(seen, [1, 0]) if next(n) % 2 else seen

    expected = fit(solver="gibbs", thin=1, draws=40)
    monkeypatch.setattr(SenseGibbs, "observe", exchanged)
    found = fit(solver="gibbs", thin=1, draws=40)
    assert found.posterior_.attrs["stride"] > 1
    np.testing.assert_allclose(found.prevalence_, expected.prevalence_)
    for name, moments in expected.posterior_.moments.items():
        np.testing.assert_allclose(found.posterior_.moments[name].mean, moments.mean)


@pytest.mark.filterwarnings("ignore:solver='(vi|laplace)' makes the differences between units")
@pytest.mark.parametrize("solver", ["gibbs", "hmc", "vi", "laplace"])
def test_running_moments_are_of_one_draw_each(few_recorded, solver):
    """Also of the deviation of units, a number; no covariance of all pairs of words is kept."""
    model = DiSCSenseModel(2, solver=solver, thin=1, **SHORT | {"draws": 40})
    model.fit(DATA.counts, times=DATA.times, units=np.arange(60) % 7)
    moments = model.posterior_.moments
    assert model.posterior_.attrs["stride"] > 1 and moments["unit_sd"].mean.shape == ()
    assert not any(one.keeps_covariance for one in moments.values())
    assert all(np.isfinite(one.variance).all() for one in moments.values())

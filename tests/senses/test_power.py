"""The power of the likelihood: of densities, of fits, and of what leaves a snippet out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import DiSCSenseModel, load
from skbayesembed.datasets import make_senses
from skbayesembed.senses import choice
from skbayesembed.senses.loo import _psis
from skbayesembed.senses.model import SenseModel
from tests.senses.test_model import KINDS, N_SENSES, prior_of, snippets

SHORT = {"chains": 2, "draws": 60, "warmup": 60, "thin": 2, "n_starts": 3, "random_state": 0}


@pytest.fixture(scope="module")
def made():
    return make_senses(200, 20, 2, n_periods=2, kappa_chi=3.0, random_state=1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_density_has_the_likelihood_in_part(kind):
    whole, part = (
        SenseModel(snippets(), N_SENSES, prior_of(kind, likelihood_power=power))
        for power in (1.0, 0.4)
    )
    rng, gaps, expected = np.random.default_rng(0), [], []
    for _ in range(3):
        arrays = whole.draw_prior(rng)
        for name, axis in {"chi": 1, "theta": 1, "phi": 2, "psi": 2, "sigma": 0}.items():
            if name in arrays and not (kind == "edisc" and name in ("chi", "theta")):
                arrays[name] -= arrays[name].mean(axis=axis, keepdims=True)
        values = []
        for model in (whole, part):
            theta = model.pack(arrays)
            values.append(model.logp_and_grad(theta, np.empty(theta.size)))
        gaps.append(values[0] - values[1])
        expected.append(0.6 * whole.log_likelihood(whole.pack(arrays)))
    np.testing.assert_allclose(np.diff(gaps), np.diff(expected), rtol=1e-8)


@pytest.mark.parametrize("model", ["disc", "gasc", "edisc"])
def test_half_of_twice_the_snippets_is_all_of_them(made, model):
    vectors = np.random.default_rng(0).normal(size=(20, 3)) if model == "edisc" else None
    options = {"model": model, "embedding": vectors, "solver": "map", "n_starts": 2, "tol": 1e-9}
    once = DiSCSenseModel(2, random_state=0, **options).fit(made.counts, times=made.times)
    twice = DiSCSenseModel(2, likelihood_power=0.5, random_state=0, **options).fit(
        sparse.vstack([made.counts, made.counts]), times=np.tile(made.times, 2)
    )
    assert twice.likelihood_power_ == 0.5
    # as near as the searches end to the mode
    np.testing.assert_allclose(once.prevalence_, twice.prevalence_, atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The chains have not mixed")
def test_intervals_widen(made):
    fits = [
        DiSCSenseModel(2, likelihood_power=power, **SHORT).fit(made.counts, times=made.times)
        for power in (1.0, 0.25)
    ]
    sd = [fit.posterior_["prevalence"].std(axis=(0, 1)).mean() for fit in fits]
    # a fourth of the information doubles deviations where the prior says little; it says something
    assert sd[1] > 1.2 * sd[0]


def test_a_snippet_is_left_out_by_its_power():
    """Normal log densities, whose tilted means are known."""
    rng = np.random.default_rng(0)
    density = rng.normal(-5.0, 0.2, size=(40, 4000))
    for power in (1.0, 0.5, 0.2):
        elpd, _ = _psis(density, (4, 1000), power)
        # log E exp((1 - p) d) / E exp(-p d), exact for normal d
        expected = -5.0 + 0.5 * 0.2**2 * (1 - 2 * power)
        # a mean of 40 estimates, each with an error of about 0.2 / sqrt(4000)
        assert abs(elpd.mean() - expected) < 5 * 0.2 / np.sqrt(40 * 4000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*snippets have a ", "ignore:The chains have not mixed")
def test_comparisons_know_the_power(made, tmp_path):
    model = DiSCSenseModel(2, likelihood_power=0.5, **SHORT)
    model.fit(made.counts, times=made.times)
    whole, waic = (getattr(model, name)(made.counts, times=made.times) for name in ("loo", "waic"))
    assert abs(whole.elpd - waic.elpd) < 0.2 * whole.p_loo
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.loo(made.counts, times=made.times).elpd == whole.elpd


# of map with units there is a warning that is tested elsewhere
@pytest.mark.filterwarnings("ignore:solver='map' makes the differences")
@pytest.mark.parametrize("copies", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_what_is_held_out_chooses(made, copies, monkeypatch, capsys):
    """Snippets in which every word stands four times know less than their length says."""
    monkeypatch.setattr(choice, "POWER_GRID", (0.02, 1.0))
    monkeypatch.setattr(choice, "_DRAWS", 40)
    works = {"units": np.arange(200) // 10} if copies == 1 else {}
    model = DiSCSenseModel(2, likelihood_power="auto", solver="map", n_starts=2, random_state=0)
    model.set_params(verbose=copies == 1).fit(copies * made.counts, times=made.times, **works)
    lines = [line for line in capsys.readouterr().out.splitlines() if "likelihood_power" in line]
    assert len(lines) == (3 if copies == 1 else 0)
    if lines:
        assert "2 powers are tried before the fit, each by a search from 4 starts" in lines[0]
        assert "0.02 (1 of 2 powers): held out" in lines[1] and lines[1].endswith(" left")
    scores, checks = model.likelihood_power_scores_, model.likelihood_power_checks_
    assert list(scores) == list(checks) == [0.02, 1.0]
    assert model.likelihood_power_ == max(scores, key=scores.get) == (1.0 if copies == 1 else 0.02)
    assert model.posterior_.attrs["likelihood_power"] == model.likelihood_power_
    passed = [power for power, p_value in checks.items() if p_value > 0.1]
    assert model.likelihood_power_unrejected_ == min(passed, default=None)


# of map with units there is a warning that is tested elsewhere
@pytest.mark.filterwarnings("ignore:solver='map' makes the differences")
def test_few_are_not_held_out(made):
    model = DiSCSenseModel(2, likelihood_power="auto", solver="map", n_starts=2)
    with pytest.raises(ValueError, match="needs 5 units to hold some out, got 4: give a number"):
        model.fit(made.counts, units=np.arange(200) % 4)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"likelihood_power": 0},
            "likelihood_power must be 'auto' or a number > 0 and <= 1, got 0",
        ),
        ({"likelihood_power": 1.5}, "likelihood_power must be 'auto' or a number > 0 and <= 1"),
        ({"likelihood_power": "half"}, "likelihood_power must be 'auto'"),
        ({"likelihood_power": 0.5, "solver": "gibbs"}, "solver='gibbs' needs likelihood_power=1"),
        ({"likelihood_power": "auto", "solver": "gibbs"}, "needs likelihood_power=1, got 'auto'"),
        (
            {"likelihood_power": 0.5, "kernel": "blockwise"},
            "kernel='blockwise' needs lik",
        ),
    ],
)
def test_what_is_refused(made, options, match):
    with pytest.raises(ValueError, match=match):
        DiSCSenseModel(2, **options).fit(made.counts)

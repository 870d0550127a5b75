"""The contract that every solver keeps: the same posterior, whatever found it."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed import BayesianSGNS, Posterior
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.contracts import Conditionals, LogDensity, require
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.gibbs.conditionals import SGNSConditionals
from skbayesembed.sgns.model import SGNSModel

K, V = 2, 12
PAIRS = [(w, v) for w in range(V) for v in range(V)]
SOLVERS = {
    "map": {"solver": "map"},
    "metropolis": {"solver": "gibbs", "kernel": "metropolis"},
    "polya-gamma": {"solver": "gibbs", "kernel": "polya-gamma"},
    "auto": {"solver": "gibbs", "kernel": "auto"},
    "hmc": {"solver": "hmc"},
    "vi": {"solver": "vi"},
    "vi-diag": {"solver": "vi", "covariance": "diag"},
    "laplace": {"solver": "laplace"},
}
EXACT = ("metropolis", "polya-gamma", "auto", "hmc")
APPROXIMATE = ("vi", "vi-diag", "laplace")


@functools.cache
def simulated():
    return make_sgns(n_words=V, n_components=K, n_pairs=6_000, random_state=3)


@pytest.fixture(scope="module")
def simulation():
    return simulated()


def make(name, **parameters):
    model = BayesianSGNS(
        K,
        prior_precision=1.0,
        draws=300,
        warmup=100,
        chains=2,
        random_state=0,
        balance=False,
        **SOLVERS[name],
    )
    return model.set_params(**parameters)


@pytest.fixture(
    scope="module",
    # "auto" is one of the others
    params=[pytest.param(s, marks=pytest.mark.slow if s == "auto" else ()) for s in SOLVERS],
)
def fitted(request, simulation):
    return request.param, make(request.param).fit(simulation.pairs)


@pytest.fixture(scope="module")
def probabilities(fitted):
    """Of all pairs of words."""
    return fitted[1].cooccurrence_proba(PAIRS)


def test_posterior(fitted):
    name, model = fitted
    posterior = model.posterior_
    assert isinstance(posterior, Posterior)
    expected = (1, 1) if name == "map" else (1 if name in APPROXIMATE else 2, 300)
    assert set(posterior) == {"rho", "alpha"}
    for variable in ("rho", "alpha"):
        assert posterior[variable].shape == (*expected, V, K)
        assert posterior[variable].dtype == np.float64
        assert np.isfinite(posterior[variable]).all()
        assert posterior.dims[variable] == ("word", "component")
        mean, spread = posterior[variable].mean(axis=(0, 1)), posterior[variable].std(axis=(0, 1))
        # the exact mean of an approximation, from which 300 independent draws were made
        allowed = 4.5 * spread / 300**0.5 if name in APPROXIMATE else 0.0
        difference = np.abs(getattr(model, f"{variable}_") - mean)
        assert np.all(difference <= allowed + 1e-10)
    assert list(posterior.coords["word"]) == list(model.words_)
    assert posterior.attrs["solver"] == SOLVERS[name]["solver"]


def test_statistics(fitted):
    name, model = fitted
    stats = model.posterior_.stats
    if name == "map":
        assert stats == {}
        assert model.posterior_.attrs["converged"]
        return
    if name in APPROXIMATE:
        assert stats == {} and model.posterior_.attrs["draws_made"] == 300
        return
    assert stats["acceptance"].shape == (2, 300)
    assert np.all((stats["acceptance"] >= 0) & (stats["acceptance"] <= 1))
    assert stats["logit"].shape[:2] == (2, 300)
    if name == "polya-gamma":
        assert np.all(stats["acceptance"] == 1)
    table = model.posterior_.summary("rho", max_rows=4)
    (line,) = (note for note in repr(table).splitlines() if "P(w, v) that fit checks" in note)
    assert f"largest rhat {model.posterior_.attrs['max_rhat']:.3f}" in line
    assert model.posterior_.attrs["max_rhat"] < 1.05
    assert model.posterior_.attrs["draws_made"] == 300
    assert not model.posterior_.attrs["interrupted"]


def test_recovers_the_truth(probabilities, simulation):
    """500 observations a word: probabilities are found to about 0.1 (sd of a proportion there)."""
    truth = expit(simulation.rho @ simulation.alpha.T)
    estimate = probabilities.mean.reshape(V, V)
    assert np.sqrt(np.mean((estimate - truth) ** 2)) < 0.08
    assert np.corrcoef(estimate.ravel(), truth.ravel())[0, 1] > 0.8


@functools.cache
def reference(kernel, anchors):
    """Means and standard deviations of all probabilities."""
    model = make(kernel, random_state=9, draws=500)
    model.set_params(anchors=list(anchors) if anchors else "pivot").fit(simulated().pairs)
    return model.cooccurrence_proba(PAIRS)


@pytest.mark.parametrize(
    "fitted",
    [pytest.param(s, marks=() if s in ("hmc", "vi") else pytest.mark.slow) for s in SOLVERS],
    indirect=True,
)
def test_solvers_agree(fitted, probabilities):
    """Posterior means of all probabilities, against a longer run of the other kernel.

    The sd of a probability is about 0.03; 600 draws of an ESS of 200 or more leave a Monte Carlo
    error of 0.002, and the 1,000 of the other one less. The mode lies within an sd or so of the
    mean, the means of approximations closer; mean-field variances are too small where words are
    strongly tied, by a third here.
    """
    name, model = fitted
    anchors = None if model.anchors_ is None else tuple(model.words_[model.anchors_])
    theirs = reference("metropolis" if name == "polya-gamma" else "polya-gamma", anchors)
    mine = probabilities
    difference = np.abs(mine.mean - theirs.mean)
    allowed = 0.4 if name in EXACT else 1.5
    assert np.all(difference < allowed * theirs.sd + 0.01)
    if name != "map":
        rtol = 0.1 if name in EXACT else 0.35
        np.testing.assert_allclose(mine.sd.mean(), theirs.sd.mean(), rtol=rtol)


def test_everything_downstream_works(fitted, simulation):
    name, model = fitted
    assert model.score(simulation.pairs) > np.log(0.5)
    similarity = model.similarity(0, 1)
    if name == "map":
        assert np.isnan(similarity.interval).all() and np.isnan(similarity.sd)
    else:
        assert similarity.interval[0] <= similarity.mean <= similarity.interval[1]
    neighbours = model.most_similar(0, n=4)
    assert len(neighbours) == 4
    counts = [[f"x{i}" for i in (0, 1, 1)]]
    assert model.transform(counts).shape == (1, K)
    model.set_params(features="mean_std")
    features = model.transform(counts)
    model.set_params(features="mean")
    assert np.all(features[:, K:] == 0) == (name == "map")


def test_save_and_load(fitted, tmp_path):
    _, model = fitted
    model.posterior_.save(tmp_path / "posterior.npz")
    again = Posterior.load(tmp_path / "posterior.npz")
    for variable in model.posterior_:
        np.testing.assert_array_equal(again[variable], model.posterior_[variable])
    assert again.attrs == model.posterior_.attrs


def test_summary(fitted):
    _, model = fitted
    summary = model.posterior_.summary("rho")
    assert summary.mean.shape == (V * K,)
    np.testing.assert_allclose(summary.mean.reshape(V, K), model.rho_, atol=1e-10)


def test_to_datatree(fitted):
    pytest.importorskip("arviz_base")
    _, model = fitted
    tree = model.posterior_.to_datatree()
    assert tree["posterior"]["rho"].dims == ("chain", "draw", "word", "component")


def test_approximations_are_offered_themselves(fitted):
    name, model = fitted
    if name not in APPROXIMATE:
        assert not hasattr(model, "approximation_")
        return
    approximation = model.approximation_
    np.testing.assert_allclose(approximation.mean["rho"], model.rho_)
    covariance = approximation.covariance("rho", [0, 3])
    assert covariance.shape == (2, K, K)
    assert np.all(np.linalg.eigvalsh(covariance) > 0)
    np.testing.assert_allclose(
        np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)), model.posterior_.std("rho")[[0, 3]]
    )
    draws = approximation.sample(50, np.random.default_rng(0))
    assert draws["alpha"].shape == (50, V, K)
    if name.startswith("vi"):
        assert np.all(np.diff(model.elbo_) > -1e-8 * np.abs(model.elbo_[:-1]))


def test_loo_is_for_draws_of_the_posterior(fitted, simulation):
    """Close to the held-out score: 6,000 observations, an se of elpd of about 0.005 each."""
    name, model = fitted
    if name not in EXACT:
        with pytest.raises(ValueError, match="loo needs draws of the posterior: got solver="):
            model.loo(simulation.pairs)
        return
    with warnings.catch_warnings():
        # some streams of draws have a pair or two whose tail is heavy
        warnings.filterwarnings("ignore", ".*Pareto k above", UserWarning)
        found = model.loo(simulation.pairs)
    in_sample = model.score(simulation.pairs)
    assert in_sample - 0.02 < found.elpd / found.n_observations < in_sample
    assert found.bad_share < 0.01 and found.n_observations == simulation.pairs.total
    sampled = [model.loo(simulation.pairs, max_pairs=50).elpd for _ in range(2)]
    assert sampled[0] == sampled[1] != found.elpd
    other = make_sgns(n_words=V + 1, n_components=K, n_pairs=100, random_state=0).pairs
    with pytest.raises(ValueError, match="X must be the data that fit was given"):
        model.loo(other)


@pytest.mark.parametrize("solver", ["mcmc", None, 3, ["gibbs"]])
def test_unknown_solvers(solver, simulation):
    with pytest.raises(ValueError, match="is not available for BayesianSGNS: use solver='auto' or"):
        BayesianSGNS(K, solver=solver).fit(simulation.pairs)


def test_the_model_offers_what_the_solvers_need(simulation):
    model = SGNSModel(pair_table(simulation.pairs), K, 1.0)
    conditionals = SGNSConditionals(model, "metropolis", np.arange(K), np.array([[0, 0]]))
    require(model, LogDensity, "map")
    require(conditionals, Conditionals, "gibbs")
    with pytest.raises(TypeError, match="solver='gibbs' needs .* Conditionals, which SGNSModel"):
        require(model, Conditionals, "gibbs")
    with pytest.raises(TypeError, match="solver='map' needs .* LogDensity"):
        require(conditionals, LogDensity, "map")

"""The contract that every solver keeps: the same posterior, whatever found it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed import BayesianSGNS, Posterior
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.protocol import Conditionals, LogDensity, require
from skbayesembed.sgns.gibbs import SGNSConditionals
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.tables import pair_table

K, V = 2, 12
SOLVERS = {
    "map": {"solver": "map"},
    "metropolis": {"solver": "gibbs", "kernel": "metropolis"},
    "polya-gamma": {"solver": "gibbs", "kernel": "polya-gamma"},
    "auto": {"solver": "gibbs", "kernel": "auto"},
}
PLANNED = ("hmc", "vi", "laplace")


@pytest.fixture(scope="module")
def simulation():
    return make_sgns(n_words=V, n_components=K, n_pairs=6_000, random_state=3)


def make(name, **parameters):
    model = BayesianSGNS(
        K, prior_precision=1.0, draws=300, warmup=100, chains=2, random_state=0, **SOLVERS[name]
    )
    return model.set_params(**parameters)


@pytest.fixture(scope="module", params=list(SOLVERS))
def fitted(request, simulation):
    return request.param, make(request.param).fit(simulation.pairs)


def test_posterior(fitted):
    name, model = fitted
    posterior = model.posterior_
    assert isinstance(posterior, Posterior)
    expected = (1, 1) if name == "map" else (2, 300)
    assert set(posterior) == {"rho", "alpha"}
    for variable in ("rho", "alpha"):
        assert posterior[variable].shape == (*expected, V, K)
        assert posterior[variable].dtype == np.float64
        assert np.isfinite(posterior[variable]).all()
        assert posterior.dims[variable] == ("word", "component")
        np.testing.assert_allclose(
            getattr(model, f"{variable}_"), posterior[variable].mean(axis=(0, 1)), atol=1e-10
        )
    assert list(posterior.coords["word"]) == list(model.words_)
    assert posterior.attrs["solver"] == SOLVERS[name]["solver"]


def test_statistics(fitted):
    name, model = fitted
    stats = model.posterior_.stats
    if name == "map":
        assert stats == {}
        assert model.posterior_.attrs["converged"]
        return
    assert stats["acceptance"].shape == (2, 300)
    assert np.all((stats["acceptance"] >= 0) & (stats["acceptance"] <= 1))
    assert stats["logit"].shape[:2] == (2, 300)
    if name == "polya-gamma":
        assert np.all(stats["acceptance"] == 1)
    assert model.posterior_.attrs["max_rhat"] < 1.05
    assert model.posterior_.attrs["draws_made"] == 300
    assert not model.posterior_.attrs["interrupted"]


def test_recovers_the_truth(fitted, simulation):
    """500 observations a word: probabilities are found to about 0.1 (sd of a proportion there)."""
    _, model = fitted
    truth = expit(simulation.rho @ simulation.alpha.T)
    pairs = [(w, v) for w in range(V) for v in range(V)]
    estimate = model.cooccurrence_proba(pairs).mean.reshape(V, V)
    assert np.sqrt(np.mean((estimate - truth) ** 2)) < 0.08
    assert np.corrcoef(estimate.ravel(), truth.ravel())[0, 1] > 0.8


def test_solvers_agree(fitted, simulation):
    """Posterior means of all probabilities, against a long run of the other kernel.

    The sd of a probability is about 0.03; 600 draws of an ESS of 200 or more leave a Monte Carlo
    error of 0.002, and the mode lies within an sd or so of the mean.
    """
    name, model = fitted
    other = make("metropolis" if name == "polya-gamma" else "polya-gamma", random_state=9)
    other.set_params(draws=1_000, anchors=model.words_[model.anchors_]
                     if model.anchors_ is not None else "pivot")  # fmt: skip
    other.fit(simulation.pairs)
    pairs = [(w, v) for w in range(V) for v in range(V)]
    mine, theirs = model.cooccurrence_proba(pairs), other.cooccurrence_proba(pairs)
    difference = np.abs(mine.mean - theirs.mean)
    assert np.all(difference < (1.5 if name == "map" else 0.4) * theirs.sd + 0.01)
    if name != "map":
        np.testing.assert_allclose(mine.sd.mean(), theirs.sd.mean(), rtol=0.1)


def test_everything_downstream_works(fitted, simulation):
    name, model = fitted
    assert model.score(simulation.pairs) > np.log(0.5)
    similarity = model.similarity(0, 1)
    assert similarity.interval[0] <= similarity.mean <= similarity.interval[1] or name != "map"
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


@pytest.mark.parametrize("solver", PLANNED)
def test_planned_solvers_are_refused_by_name(solver, simulation):
    match = rf"solver='{solver}' is not available for BayesianSGNS.*'gibbs'.*'map'"
    with pytest.raises(ValueError, match=match):
        BayesianSGNS(K, solver=solver).fit(simulation.pairs)


@pytest.mark.parametrize("solver", ["mcmc", None, 3, ["gibbs"]])
def test_unknown_solvers(solver, simulation):
    with pytest.raises(
        ValueError, match="is not available for BayesianSGNS: use solver='gibbs' or"
    ):
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

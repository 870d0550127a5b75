"""From snippets to a posterior: every solver, kernel and model below the estimator."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import SensePrior
from skbayesembed.datasets import make_senses
from skbayesembed.metrics import brier_score, match_senses
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.mode import Mode
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior
from skbayesembed.senses.solvers import warn_of_modes
from tests.helpers.senses import D, G, K, T, V, fit, planted, run, snippets_of


@pytest.fixture(scope="module")
def truth():
    return planted()


@pytest.fixture(scope="module")
def data(truth):
    return snippets_of(truth)


@pytest.mark.parametrize(
    "solver",
    [
        "map",
        "hmc",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("gibbs", "vi", "laplace")),
    ],
)
def test_every_solver_finds_the_planted_senses(data, truth, solver):
    fitted = run(data, solver=solver)
    posterior = fitted.posterior
    chains, draws = {"map": (1, 1), "vi": (1, 30), "laplace": (1, 30)}.get(solver, (2, 30))
    assert posterior["prevalence"].shape == (chains, draws, G, T, K)
    assert posterior["chi"].shape == (chains, draws, K, V)
    assert posterior["theta"].shape == (chains, draws, T, V)
    np.testing.assert_allclose(posterior["prevalence"].sum(axis=-1), 1)
    assert fitted.n_iter >= 1
    model = SenseModel(data, K, ModelPrior())
    weights = np.mean(
        [model.weights_of(posterior, c, d) for c, d in np.ndindex(chains, draws)], axis=0
    ).T
    weights = weights[:, match_senses(weights, truth.senses)]
    # guessing scores 0.5; the truth's own probabilities score well below 0.2 here
    assert brier_score(weights, truth.senses) < 0.2


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("nuts", "disc"),
        ("blockwise", "disc"),
        pytest.param("blockwise", "gasc", marks=pytest.mark.slow),
    ],
)
def test_other_kernels_of_hmc_run_from_the_mode(data, kernel, kind):
    posterior = run(data, model=kind, kernel=kernel, warmup=60, n_starts=1).posterior
    assert posterior["prevalence"].shape == (2, 30, G, T, K)
    assert not posterior.stats["switched"].any()
    # of Hamiltonian trajectories only, and of NUTS deeper than none
    assert posterior.stats.get("tree_depth", np.zeros(1)).any() == (kernel == "nuts")
    assert posterior.stats["acceptance"].mean() > 0.4


@pytest.mark.parametrize("kind", [pytest.param("gasc", marks=pytest.mark.slow), "interaction"])
def test_models_with_full_word_logits(data, kind):
    posterior = run(data, model=kind, n_starts=1, chains=1, draws=10).posterior
    assert posterior["psi"].shape == (1, 10, K, T, V)
    assert np.isfinite(posterior["psi"]).all()
    name = "kappa_phi" if kind == "gasc" else "tau"
    assert posterior.stats[name].shape == (1, 10)
    assert (posterior.stats[name] > 0).all()


def test_known_senses_keep_their_numbers(truth):
    labels = np.where(np.arange(D) % 2 == 0, 1 - truth.senses, -1)
    data = snippets_of(truth, labels)
    posterior = run(data, n_starts=1, chains=1).posterior
    model = SenseModel(data, K, ModelPrior())
    weights = np.mean([model.weights_of(posterior, 0, i) for i in range(30)], axis=0).T
    np.testing.assert_array_equal(weights[labels >= 0].argmax(axis=1), labels[labels >= 0])
    rest = labels < 0
    assert brier_score(weights[rest], (1 - truth.senses)[rest]) < 0.2


@pytest.mark.parametrize("solver", [pytest.param("hmc", marks=pytest.mark.slow), "map"])
@pytest.mark.parametrize("seed", range(3))
def test_few_known_senses_give_their_names_to_all(seed, solver):
    truth = make_senses(300, 60, n_senses=3, n_periods=3, random_state=1)
    labels = np.full(300, -1)
    for k in range(3):
        labels[np.flatnonzero(truth.senses == k)[:3]] = k
    data = Snippets.of(truth.counts, truth.times, labels=labels)
    posterior = run(data, seed=seed, solver=solver, n_senses=3, n_starts=4, chains=1).posterior
    model = SenseModel(data, 3, ModelPrior())
    weights = model.weights_of(posterior, 0, -1)
    # by other names two thirds or more would be wrong
    assert np.mean(weights.argmax(axis=0) == truth.senses) > 0.75


def test_labels_bind_senses(truth):
    labels = np.full(D, -1)
    labels[0] = 1
    data = snippets_of(truth, labels)
    model = SenseModel(data, K, ModelPrior())
    reference = np.random.default_rng(0).dirichlet([1, 1], size=D).T
    reference[:, 0] = 0, 1
    other = reference[::-1].copy()
    other[:, 0] = 0, 1
    np.testing.assert_array_equal(model.order_of(reference, other), [0, 1])


def test_light_modes_are_not_named():
    heavy, light = (Mode({}, np.ones((2, 3)), 1, share=s) for s in (0.995, 0.005))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_modes([heavy, light])


def test_map_says_when_it_stopped_early(data):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        fit(data, solver="map", max_iter=2)


def test_flat_first_periods_are_allowed_and_warned_of(data):
    prior = SensePrior(first_phi=np.inf, first_psi=np.inf)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = fit(data, model="gasc", prior=prior, draws=5, warmup=5, chains=1, n_starts=1)
    assert any("improper" in str(w.message) for w in caught)
    assert np.isfinite(fitted.posterior["psi"]).all()

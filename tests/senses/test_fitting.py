import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import SensePrior
from skbayesembed.common import spine
from skbayesembed.common.random import named_seeds
from skbayesembed.datasets import make_senses
from skbayesembed.inference.mode_mass import Mass
from skbayesembed.metrics import brier_score, match_senses
from skbayesembed.senses import recording, starts
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.fitting import ROOM, warn_of_modes
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.inputs import Training
from skbayesembed.senses.mode_model import ModeModel
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior

K, T, G, V, D = 2, 3, 2, 12, 150


def options(**changes):
    """What the room reads of an estimator."""
    given = {
        "solver": "hmc", "kernel": "auto", "model": "disc", "prior": None, "n_senses": K,
        "n_starts": 3, "n_jobs": 1, "draws": 30, "warmup": 20, "chains": 2, "thin": 1,
        "keep_draws": "auto", "target_accept": 0.8, "max_iter": 400, "tol": 1e-8, "verbose": 0,
    }  # fmt: skip
    return SimpleNamespace(**(given | changes))


def training_of(data):
    """Snippets whose words, periods and genres have the names of their numbers."""
    words = np.array([f"x{v}" for v in range(data.n_words)])
    periods = SimpleNamespace(labels=list(range(data.n_periods)))
    return Training(data, words, None, periods, np.arange(data.n_genres), True, False)


def fit(data, seed=0, **changes):
    """`Fitted` of snippets by the spine."""
    seeds = named_seeds(seed, ROOM.streams)
    return spine.fit(options(**changes), ROOM, training_of(data), seeds)


@pytest.fixture(scope="module")
def truth():
    # two clearly different senses
    return make_senses(
        D, V, K, n_periods=T, n_genres=G, mean_length=10.0, kappa_chi=4.0, random_state=3
    )


@pytest.fixture(scope="module")
def data(truth):
    return Snippets.of(truth.counts, truth.times, truth.genres, n_periods=T, n_genres=G)


def run(data, **changes):
    with warnings.catch_warnings():
        # thirty draws do not mix
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(data, **changes)


@pytest.mark.parametrize(
    ("kernel", "kind"), [("nuts", "disc"), ("blockwise", "disc"), ("blockwise", "gasc")]
)
def test_other_kernels_of_hmc_run_from_the_mode(data, kernel, kind):
    posterior = run(data, model=kind, kernel=kernel, warmup=100).posterior
    assert posterior["prevalence"].shape == (2, 30, G, T, K)
    assert not posterior.stats["switched"].any()
    # of Hamiltonian trajectories only, and of NUTS deeper than none
    assert posterior.stats.get("tree_depth", np.zeros(1)).any() == (kernel == "nuts")
    assert posterior.stats["acceptance"].mean() > 0.4


@pytest.mark.parametrize("solver", ["map", "hmc", "gibbs", "vi", "laplace"])
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


@pytest.mark.parametrize("kind", ["gasc", "interaction"])
def test_models_with_full_word_logits(data, kind):
    posterior = run(data, model=kind, n_starts=1, chains=1, draws=10).posterior
    assert posterior["psi"].shape == (1, 10, K, T, V)
    assert np.isfinite(posterior["psi"]).all()
    name = "kappa_phi" if kind == "gasc" else "tau"
    assert posterior.stats[name].shape == (1, 10)
    assert (posterior.stats[name] > 0).all()


@pytest.mark.parametrize("solver", ["hmc", "gibbs", "vi"])
def test_draws_do_not_depend_on_n_jobs(data, solver):
    one, two = (run(data, solver=solver, n_jobs=n).posterior for n in (1, 2))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    other = run(data, solver=solver, seed=1).posterior
    assert not np.array_equal(one["prevalence"], other["prevalence"])


def test_senses_come_in_the_order_of_their_prevalence(data):
    mode = run(data).learned["modes_"][0]
    of_sense = mode.weights.sum(axis=1)
    assert np.all(np.diff(of_sense) <= 0)


def test_known_senses_keep_their_numbers(truth):
    labels = np.where(np.arange(D) % 2 == 0, 1 - truth.senses, -1)
    data = Snippets.of(truth.counts, truth.times, truth.genres, labels, n_periods=T, n_genres=G)
    posterior = run(data).posterior
    model = SenseModel(data, K, ModelPrior())
    weights = np.mean([model.weights_of(posterior, 0, i) for i in range(30)], axis=0).T
    np.testing.assert_array_equal(weights[labels >= 0].argmax(axis=1), labels[labels >= 0])
    rest = labels < 0
    assert brier_score(weights[rest], (1 - truth.senses)[rest]) < 0.2


def test_permuting_a_mode_leaves_its_density(data):
    mode = run(data).learned["modes_"][0]
    model = SenseModel(data, K, ModelPrior())
    room = np.empty(model.n_parameters)
    before = model.logp_and_grad(model.pack(mode.arrays), room)
    weights = model.sense_proba(model.unpack(model.pack(mode.arrays)))
    mode.permute(np.array([1, 0]))
    after = model.logp_and_grad(model.pack(mode.arrays), room)
    assert after == pytest.approx(before)
    np.testing.assert_allclose(model.sense_proba(mode.arrays), weights[:, ::-1], atol=1e-10)


def test_a_draw_is_matched_once(data, monkeypatch):
    mode = run(data).learned["modes_"][0]
    chain = ModeModel(data, K, ModelPrior(), mode)
    theta, calls, sums = chain.pack(mode.arrays), [], chain.sums
    monkeypatch.setattr(chain, "sums", lambda arrays: calls.append(1) or sums(arrays))
    seen, trace = chain.observe(theta), chain.trace(theta)
    assert len(calls) == 1 and trace["switched"] == 0
    assert trace["log_likelihood"] == chain.log_likelihood(theta)
    # the same array with another draw in it; a mode that names its senses otherwise
    theta += 0.01
    assert chain.trace(theta)["log_likelihood"] != trace["log_likelihood"]
    mode.weights = mode.weights[::-1]
    chain = ModeModel(data, K, ModelPrior(), mode)
    assert chain.trace(theta)["switched"] == 1
    theta -= 0.01
    np.testing.assert_allclose(chain.observe(theta)["chi"], seen["chi"][::-1], atol=1e-6)


def test_equal_modes_share_equally_and_are_named():
    """Two ways of splitting the same words: by symmetry each has half of the posterior."""
    counts = np.zeros((160, 4))
    # words 0 or 1 together with words 2 or 3, all combinations alike
    for i in range(160):
        counts[i, [i % 2, 2 + (i // 2) % 2]] = 4
    data = Snippets.of(sparse.csr_array(counts), np.zeros(160, dtype=int))
    rng = np.random.SeedSequence(0)
    modes = starts.find_modes(data, 2, ModelPrior(), rng, n_starts=6)
    shares = np.array([mode.share for mode in modes])
    assert shares.sum() == pytest.approx(1)
    # what is left of a start that did not settle weighs nothing
    assert shares[2:].sum() < 1e-6
    modes = modes[:2]
    # half each, within the errors of the log masses
    error = np.hypot(modes[0].mass.error, modes[1].mass.error)
    assert abs(modes[0].mass.value - modes[1].mass.value) < 5 * error + 0.1
    with pytest.warns(ConvergenceWarning, match="2 modes that matter.*modes_"):
        warn_of_modes(modes)


def test_light_modes_are_not_named():
    heavy, light = (starts.Mode({}, np.ones((2, 3)), 1, share=s) for s in (0.995, 0.005))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_modes([heavy, light])


def test_rivals_are_weighed_more_closely():
    def mode(value, error):
        return starts.Mode({}, np.ones((2, 3)), 1, mass=Mass(value, error))

    best = mode(0.0, 1.0)
    assert starts._competes(mode(-7.0, 0.1), best)
    assert not starts._competes(mode(-9.0, 0.1), best)
    assert starts._competes(mode(-9.0, 3.0), best)


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize("solver", ["hmc", "gibbs"])
def test_chains_in_different_modes_are_not_averaged_silently(data, solver):
    fitted = run(data, solver=solver)
    assert fitted.posterior.attrs["chain_similarity"] > 0.85
    draws = dict(fitted.posterior)
    # in the second chain every second word, by its frequency, has changed its sense
    broken = {name: np.array(values) for name, values in draws.items()}
    changed = np.argsort(-data.totals.sum(axis=0))[::2]
    broken["chi"][1][:, :, changed] = broken["chi"][1][:, ::-1, changed]
    stats, attrs = dict(fitted.posterior.stats), dict(fitted.posterior.attrs)
    posterior = type(fitted.posterior)(broken, stats=stats, attrs=attrs)
    with pytest.warns(ConvergenceWarning, match="chains are in different modes"):
        recording.diagnose(options(solver=solver), training_of(data), posterior)
    assert posterior.attrs["chain_similarity"] < 0.85 and posterior.attrs["converged"] is False


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.filterwarnings("ignore:The posterior has .* modes")
def test_gibbs_chains_forced_into_different_modes(monkeypatch):
    """Words 0 or 1 together with 2 or 3: senses by the first or by the second pair are two modes.

    Each chain starts in another of them and, with so many snippets, stays there.
    """
    counts = np.zeros((160, 4))
    for i in range(160):
        counts[i, [i % 2, 2 + (i // 2) % 2]] = 4
    data = Snippets.of(sparse.csr_array(counts), np.zeros(160, dtype=int))
    chi = np.array([[3.0, -3, 0, 0], [-3, 3, 0, 0]])
    starts_of_chains = iter([chi, np.roll(chi, 2, axis=1)])
    init = SenseGibbs.init_state

    def apart(self, rngs):
        self.start["chi"] = next(starts_of_chains)
        return init(self, rngs)

    monkeypatch.setattr(SenseGibbs, "init_state", apart)
    with pytest.warns(ConvergenceWarning, match="different modes.*mean log likelihoods -"):
        fitted = fit(data, solver="gibbs", draws=40, warmup=20)
    assert fitted.posterior.attrs["converged"] is False


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


def test_labels_bind_senses(truth):
    labels = np.full(D, -1)
    labels[0] = 1
    data = Snippets.of(truth.counts, truth.times, truth.genres, labels, n_periods=T, n_genres=G)
    model = SenseModel(data, K, ModelPrior())
    reference = np.random.default_rng(0).dirichlet([1, 1], size=D).T
    reference[:, 0] = 0, 1
    other = reference[::-1].copy()
    other[:, 0] = 0, 1
    np.testing.assert_array_equal(model.order_of(reference, other), [0, 1])


@pytest.mark.parametrize("solver", ["hmc", "map"])
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

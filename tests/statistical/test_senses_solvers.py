"""Solvers of the sense models against each other, and simulation-based calibration."""

import numpy as np
import pytest

from skbayesembed import DiSCSenseModel
from skbayesembed.calibration import simulated_ranks, uniformity
from skbayesembed.datasets import make_senses
from skbayesembed.inference.advi import mean_field
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.records import Settings
from skbayesembed.inference.trajectories import HamiltonianOptions
from skbayesembed.posterior.summary import ess
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.embedding import prepared
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior
from skbayesembed.senses.replication.blockwise import SenseBlocks

OPTIONS = HamiltonianOptions(method="hmc", path_length=4.0, integrator="gaussian", metric="given")
NUTS = HamiltonianOptions()
# small steps: the frame knows nothing of the deviations before a mode has been explored
GIVEN = HamiltonianOptions(metric="given", target_accept=0.95)
PRIOR = {
    "disc": ModelPrior(),
    "learned": ModelPrior(kappa_phi=(1.0, 0.25)),
    "gasc": ModelPrior(kind="gasc"),
    "interaction": ModelPrior(kind="interaction"),
    "edisc": ModelPrior(kind="edisc"),
}
# of the words of "edisc"
VECTORS = np.random.default_rng(0).normal(size=(6, 2))


def snippets(seed=0, n=60, labelled=False, **options):
    sizes = {"n_words": 6, "n_senses": 2, "n_periods": 3, "n_genres": 2} | options
    data = make_senses(n, random_state=seed, **sizes)
    labels = np.where(np.arange(n) % 3 == 0, data.senses, -1) if labelled else None
    periods, genres = sizes["n_periods"], sizes["n_genres"]
    return as_snippets(data, labels, n_periods=periods, n_genres=genres)


def as_snippets(data, labels=None, **sizes):
    """With vectors for as many words as there are."""
    totals = np.asarray(data.counts.sum(axis=0)).ravel()
    n = totals.size
    vectors = prepared(VECTORS[:n], np.ones(n, dtype=bool), totals)
    return Snippets.of(data.counts, data.times, data.genres, labels, vectors=vectors, **sizes)


def identified(draws, data=None):
    """What labels do not change: (chain, draw, quantity)."""
    prevalence = draws["prevalence"]
    if "psi" in draws:
        words = draws["psi"]
    elif "sigma" in draws:
        words = draws["chi"][:, :, :, None] + draws["theta"][:, :, None]
        words = words @ data.vectors.T + draws["sigma"][:, :, None, None]
    else:
        words = draws["chi"][:, :, :, None] + draws["theta"][:, :, None]
    words = np.exp(words - words.max(axis=-1, keepdims=True))
    words /= words.sum(axis=-1, keepdims=True)
    mixed = np.einsum("cdgtk,cdktv->cdgtv", prevalence, words)
    shape = prevalence.shape[:2]
    spread = np.sum(prevalence**2, axis=-1).reshape(*shape, -1)
    return np.concatenate([spread, mixed.reshape(*shape, -1)], axis=-1)


def z_scores(a, b):
    """Differences of means in units of their Monte Carlo error."""
    means, errors = [], []
    for x in (a, b):
        means.append(x.mean(axis=(0, 1)))
        errors.append(x.std(axis=(0, 1)) / np.sqrt(ess(x)))
    return (means[0] - means[1]) / np.hypot(*errors)


def sample(kind, data, options, draws, seed=1):
    model = SenseModel(data, 2, PRIOR[kind])
    return sample_hmc(
        model,
        Settings(draws=draws, warmup=200),
        options,
        n_chains=2,
        seeds=np.random.SeedSequence(seed),
    )


@pytest.mark.parametrize(
    ("kind", "labelled"),
    [
        ("disc", False),
        ("disc", True),
        ("gasc", False),
        ("gasc", True),
        ("learned", True),
    ],
)
@pytest.mark.slow
def test_hmc_agrees_with_gibbs(kind, labelled):
    data = snippets(labelled=labelled)
    hmc = sample(kind, data, OPTIONS, 600)
    chains = SenseGibbs(data, 2, PRIOR[kind])
    gibbs = sample_gibbs(
        chains, Settings(draws=2500, warmup=200), n_chains=2, seeds=np.random.SeedSequence(2)
    )
    a, b = identified(hmc.draws), identified(gibbs.draws)
    # 42 quantities, correlated: five errors are never passed by chance
    assert np.abs(z_scores(a, b)).max() < 5
    # a standard deviation has the relative error 1 / sqrt(2 ess), more where tails are heavy
    ratio = a.std(axis=(0, 1)) / b.std(axis=(0, 1))
    error = np.sqrt(0.5 / ess(a) + 0.5 / ess(b))
    assert np.all(np.abs(np.log(ratio)) < 6 * error + 0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "kernel"), [("disc", "metropolis"), ("disc", "polya-gamma"), ("gasc", "metropolis")]
)
def test_hmc_agrees_with_gibbs_on_works(kind, kernel):
    """Means and standard deviations of prevalences, of effects of units and of their size."""
    sizes = {"n_periods": 3, "n_genres": 2, "unit_sd": 1.0, "n_units": 14, "kappa_chi": 3.0}
    # of the psi of random walks, which are as far apart
    sizes |= {"model": "gasc", "first_psi": 3.0} if kind == "gasc" else {}
    data = make_senses(300, 20, 2, random_state=1, **sizes)
    given = {"times": data.times, "genres": data.genres, "units": data.units}
    common = {"n_starts": 2, "warmup": 300, "chains": 2, "model": kind, "random_state": 0}
    hmc = DiSCSenseModel(2, draws=1000, thin=2, **common).fit(data.counts, **given).posterior_
    other = DiSCSenseModel(2, solver="gibbs", kernel=kernel, draws=2000, thin=3, **common)
    other = other.fit(data.counts, **given).posterior_
    for name in ("prevalence", "phi", "unit_effects", "unit_sd", "kappa_phi"):
        a, b = (x.stats[name] if name == "kappa_phi" else x[name] for x in (hmc, other))
        # the tail of a variance's prior is heavy, and its moments are those of no sample
        a, b = (np.log(x) if name == "kappa_phi" else x for x in (a, b))
        # of 78 quantities, correlated: five errors are never passed by chance
        assert np.abs(z_scores(a, b)).max() < 5, name
        ratio = np.log(a.std(axis=(0, 1)) / b.std(axis=(0, 1)))
        error = np.sqrt(0.5 / ess(a) + 0.5 / ess(b))
        assert np.all(np.abs(ratio) < 6 * error + 0.02), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["disc", "interaction", "edisc"])
@pytest.mark.parametrize("options", [NUTS, GIVEN], ids=["adapted", "given"])
def test_hmc_agrees_with_nuts(kind, options):
    """Trajectories of fixed length in the model's frame, against NUTS in that or its own."""
    data = snippets()
    a = identified(sample(kind, data, OPTIONS, 1500).draws, data)
    b = identified(sample(kind, data, options, 1500).draws, data)
    assert np.abs(z_scores(a, b)).max() < 5


@pytest.mark.parametrize(
    ("kind", "labelled"),
    [
        pytest.param("disc", True, marks=pytest.mark.slow),
        pytest.param("disc", False, marks=pytest.mark.slow),
        pytest.param("gasc", True, marks=pytest.mark.slow),
    ],
)
def test_hmc_agrees_with_blocks(kind, labelled):
    """The sampler of the paper, in its coordinates and with its moves."""
    data = snippets(labelled=labelled)
    a = identified(sample(kind, data, OPTIONS, 500).draws)
    found = sample_gibbs(
        SenseBlocks(SenseModel(data, 2, PRIOR[kind])),
        Settings(draws=1000, warmup=150, thin=1 if labelled else 4),
        n_chains=2,
        seeds=np.random.SeedSequence(3),
    )
    b = identified(found.draws)
    assert np.abs(z_scores(a, b)).max() < 5
    ratio = a.std(axis=(0, 1)) / b.std(axis=(0, 1))
    error = np.sqrt(0.5 / ess(a) + 0.5 / ess(b))
    assert np.all(np.abs(np.log(ratio)) < 6 * error + 0.02)


@pytest.mark.slow
def test_independent_gaussians_are_near():
    """VI is no exact solver: means within a posterior standard deviation, most within a third."""
    data = snippets(labelled=True)
    model = SenseModel(data, 2, PRIOR["disc"])
    found, _ = mean_field(model, np.zeros(model.n_parameters), np.random.default_rng(3))
    # once more in the frame of what was found: it couples parameters that the first one leaves
    arrays = model.unpack(found.mean)
    model.inform(arrays, model.information_at(arrays))
    found, _ = mean_field(model, model.pack(arrays), np.random.default_rng(3))
    draws = [model.observe(theta) for theta in found.sample(2000, np.random.default_rng(4))]
    draws = {name: np.stack([d[name] for d in draws])[None] for name in draws[0]}
    exact = identified(sample("disc", data, OPTIONS, 500).draws)
    approximate = identified(draws)
    gap = (exact.mean(axis=(0, 1)) - approximate.mean(axis=(0, 1))) / exact.std(axis=(0, 1))
    assert np.abs(gap).max() < 1
    assert np.median(np.abs(gap)) < 0.33


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_simulations"), [("disc", 200), ("gasc", 200), ("edisc", 400)])
def test_simulation_based_calibration(kind, n_simulations):
    """Ranks of the truth among draws are uniform (Talts et al. 2018)."""
    options = {"gasc": {"kappa_phi": (7.0, 3.0)}, "edisc": {"vectors": VECTORS[:4]}}.get(kind, {})
    sizes = {"n_periods": 2, "n_genres": 2}

    def replicate(rng):
        seed, of_chain = rng.integers(2**32, size=2)
        truth = make_senses(30, 4, 2, model=kind, random_state=int(seed), **sizes, **options)
        data = as_snippets(truth, **sizes)
        run = sample_hmc(
            SenseModel(data, 2, PRIOR[kind]),
            Settings(draws=63, warmup=200, thin=6),
            OPTIONS,
            n_chains=1,
            seeds=np.random.SeedSequence(int(of_chain)),
        )
        words = np.log(truth.word_proba)[None, None]
        known = identified({"prevalence": truth.prevalence[None, None], "psi": words})
        return identified(run.draws, data)[0], known[0, 0]

    p = uniformity(simulated_ranks(replicate, n_simulations, random_state=1), 63)
    # Bonferroni over the quantities: at two in a thousand
    assert p.min() > 0.002 / p.size, p

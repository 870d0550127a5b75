"""Tests that catch mistakes which no other test of the package notices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.calibration import MODELS, known_differences
from skbayesembed.common.random import generators
from skbayesembed.datasets import make_senses
from skbayesembed.dynamic.data import PeriodPairs
from skbayesembed.dynamic.gibbs.conditionals import DynamicConditionals
from skbayesembed.dynamic.model import DynamicModel
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.blocks import active
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.records import Settings
from skbayesembed.inference.trajectories import HamiltonianOptions
from skbayesembed.posterior.summary import mcse
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior
from skbayesembed.sgns.priors import Prior
from skbayesembed.topics.gibbs.conditionals import TopicGibbs
from tests.helpers.topic_twins import tiny

V, K = 4, 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior", [ModelPrior(kind="scan"), ModelPrior(kappa_phi=(7.0, 3.0))], ids=["walk", "stationary"]
)
def test_kappa_of_hmc_is_that_of_gibbs(prior):
    """Levels of prevalence that are narrowed for the frame say nothing of the size of steps.

    Over eight periods the mistake would shift log kappa_phi by more than half a standard deviation.
    """
    sizes = {"n_periods": 8, "model": prior.kind}
    truth = make_senses(160, 6, 2, kappa_phi=(7.0, 3.0), random_state=1, **sizes)
    data = Snippets.of(truth.counts, truth.times, n_periods=8, n_genres=1)
    options = HamiltonianOptions(method="hmc", path_length=4.0, integrator="gaussian")
    runs = (
        sample_hmc(
            SenseModel(data, 2, prior), Settings(700, 200), options, n_chains=1,
            seeds=np.random.SeedSequence(2),
        ),
        sample_gibbs(
            SenseGibbs(data, 2, prior), Settings(3000, 200), n_chains=1,
            seeds=np.random.SeedSequence(3),
        ),
    )  # fmt: skip
    a, b = (np.log(run.stats["kappa_phi"])[..., None] for run in runs)
    # one score: above 4.5 once in 100,000
    assert abs(known_differences(a, b.mean(axis=(0, 1)), mcse(b))[0]) < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("kernel", ["metropolis", "polya-gamma"])
def test_informative_priors_of_all_kernels(sampling, kernel, dense):
    """Words that are hardly seen are drawn from their prior, its linear term included."""
    precision, pull = np.full((V, K), 2.0), np.linspace(-3.0, 4.0, V * K).reshape(V, K)
    prior = Prior(V, K, 1.5, held=((precision, pull), None))
    # a table needs some observation; on the diagonal, of a word that is not looked at
    positive = np.zeros((V, V))
    positive[-1, -1] = 1.0
    model = sampling.conditionals(positive, 0 * positive, K, prior, kernel, dense)
    draws = sampling.run(model, 2000, 60, seed=4, each=lambda s: s.x[0][:-1].ravel().copy())
    draws = np.array(draws)[None]
    mean, variance = (pull / (1.5 + precision))[:-1].ravel(), 1 / (1.5 + 2.0)
    squares = np.concatenate([draws, (draws - mean) ** 2], axis=2)
    expected = np.concatenate([mean, np.full(mean.size, variance)])
    # 12 scores of four samplers: above 4.8 once in 13,000
    assert np.abs(known_differences(squares, expected)).max() < 4.8


def sampler_of(name, sampling):
    """A Gibbs sampler whose work is cut into two blocks (on either side)."""
    rng = np.random.default_rng(5)
    if name == "topics":
        documents, prior, alpha = tiny()
        model = TopicGibbs(documents, 2, prior, alpha, start=np.zeros(documents.n_words, int))
        model.blocks, model.n_streams = [(0, 2), (2, 3)], 3
        return model
    blocks = [[(0, 2), (2, V)], [(0, 1), (1, V)]]
    positive = rng.poisson(2.0, (2, V, V)).astype(float)
    if name == "dynamic":
        counts = [sampling.counts(p, p[::-1]) for p in positive]
        zero = {side: np.zeros((V, K)) for side in ("rho", "alpha")}
        model = DynamicModel(
            PeriodPairs(counts), K, DriftPrior([1.0], 1.5, 0.3), np.arange(K), zero
        )
        model.blocks = blocks
        return DynamicConditionals(model, np.array([[0, 0, 0]]))
    return sampling.conditionals(*positive, K, 1.5, name, blocks=blocks)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["metropolis", "polya-gamma", "dynamic", "topics"])
def test_every_block_has_a_stream_of_its_own(sampling, name):
    """No two blocks of work are handed one generator, or two that say the same."""
    model, handed = sampler_of(name, sampling), []

    def run(function, tasks):
        for task in tasks:
            handed.extend(x for x in task if isinstance(x, np.random.Generator))
            function(*task)

    class Here:
        """An engine in this thread, for steps that are handed to one."""

        def over(self, function, held, shared, own):
            handed.extend(x for mine in own for x in mine if isinstance(x, np.random.Generator))
            return [function(held[i], *shared, *own[i]) for i in range(len(held))]

    streams = generators(np.random.SeedSequence(6), model.n_streams)
    said = {str(rng.bit_generator.state) for rng in streams}
    assert len(said) == model.n_streams
    with active(Here()):
        model.sweep(model.init_state(streams), streams, run)
    assert len({id(rng) for rng in handed}) == len(handed)
    assert len(handed) == (2 if name == "topics" else 4)


@pytest.mark.parametrize("n", [1500, pytest.param(8000, marks=pytest.mark.slow)])
def test_prior_draws_of_the_suite_are_those_of_the_package(n):
    """Two ways to write the priors of the sense models have the same moments."""
    for name in ("DiSCSenseModel", "DiSCSenseModel, GASC"):
        model, rng = MODELS[name], np.random.default_rng(7)
        arrays = model.prior(20_000, rng)
        data = model.data({n: a[0] for n, a in arrays.items()}, rng)
        kind = "disc" if name == "DiSCSenseModel" else "gasc"
        snippets = Snippets.of(
            sparse.csr_array(data.counts), data.periods, data.genres, n_periods=2, n_genres=2
        )
        prior = SenseModel(snippets, 2, ModelPrior(kind=kind))
        drawn = [prior.draw_prior(rng)["phi" if kind == "disc" else "psi"] for _ in range(n)]
        ours = arrays["phi" if kind == "disc" else "psi"]
        theirs = np.array(drawn)
        # variances of correlated normal variables, within five relative errors of sqrt(2 / n)
        ratio = np.log(ours.var(axis=0) / theirs.var(axis=0))
        assert np.abs(ratio).max() < 5 * np.sqrt(2 / n + 2 / 20_000)

"""The sampler of trajectories through the engine: its contract, its frame, its threads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed.common.random import generators
from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.data import PeriodPairs
from skbayesembed.dynamic.gibbs.conditionals import DynamicConditionals
from skbayesembed.dynamic.model import DynamicModel, static_mode
from skbayesembed.dynamic.priors import DriftPrior
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.records import Settings

V, K, T, EMPTY = 12, 2, 4, 2
MONITORED = np.array([[0, 1, 2], [EMPTY, 3, 4], [3, 5, 5]])


@pytest.fixture(scope="module")
def data():
    return make_dynamic_sgns(
        V, K, T, 1500, times=[0, 1, 3, 4], empty_periods=[EMPTY], random_state=0
    )


def conditionals(data, diffusion=0.02, blocks=None):
    prior = DriftPrior(np.diff(data.times), K, diffusion, (2.0, 0.05))
    model = DynamicModel.of_counts(data.pairs, K, prior, np.random.default_rng(1))
    model.blocks = blocks or model.blocks
    return DynamicConditionals(model, MONITORED)


def run(model, draws=6, warmup=3, chains=2, **options):
    settings = Settings(draws, warmup)
    return sample_gibbs(
        model, settings, n_chains=chains, seeds=np.random.SeedSequence(7), **options
    )


@pytest.mark.parametrize("diffusion", [0.02, "learned"])
def test_what_a_run_returns(data, diffusion):
    model = conditionals(data, diffusion)
    result = run(model)
    learned = diffusion == "learned"
    assert set(result.draws) == {"rho", "alpha"} | ({"diffusion"} if learned else set())
    assert result.draws["rho"].shape == result.draws["alpha"].shape == (2, 6, T, V, K)
    assert result.stats["logit"].shape == result.stats["coordinate"].shape == (2, 6, 3)
    if learned:
        recorded = np.log(result.draws["diffusion"][..., 0])
        np.testing.assert_array_equal(recorded, result.stats["log_diffusion"])
        assert len(np.unique(recorded)) == 12
    # the frame changes no logit, and is one for all periods
    t, w, v = MONITORED.T
    logit = np.einsum(
        "...k,...k->...", result.draws["rho"][:, :, t, w], result.draws["alpha"][:, :, t, v]
    )
    np.testing.assert_allclose(logit, result.stats["logit"], rtol=1e-9, atol=1e-12)
    seen = result.draws["rho"][:, :, t, w, np.arange(3) % K]
    np.testing.assert_allclose(seen, result.stats["coordinate"], rtol=1e-9, atol=1e-12)
    frame = result.draws["alpha"][:, :, :, model.model.pivots].mean(axis=2)
    np.testing.assert_allclose(frame[..., 0, 1], 0.0, atol=1e-12)
    assert np.all(frame[..., [0, 1], [0, 1]] > 0)


def test_the_frame_is_one_rotation(data):
    """Any one rotation is undone; steps between periods keep their lengths."""
    model = conditionals(data).model
    rng = np.random.default_rng(2)
    rho, alpha = rng.normal(size=(2, T, V, K))
    turn = np.linalg.qr(rng.normal(size=(K, K)))[0]
    first = model.in_frame(alpha, rho, alpha)
    again = model.in_frame(alpha @ turn, rho @ turn, alpha @ turn)
    for x, y, original in zip(first, again, (rho, alpha), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            np.linalg.norm(np.diff(x, axis=0), axis=-1),
            np.linalg.norm(np.diff(original, axis=0), axis=-1),
        )


@pytest.mark.parametrize("split_blocks", [False, True], ids=["chains", "blocks"])
def test_the_same_draws_for_every_number_of_jobs(data, split_blocks):
    blocks = [[(0, 5), (5, 6), (6, V)], [(0, 3), (3, V)]]
    one, two = (
        run(conditionals(data, "learned", blocks), n_jobs=n, split_blocks=split_blocks)
        for n in (1, 2)
    )
    for name, values in one.draws.items():
        np.testing.assert_array_equal(values, two.draws[name])


def test_blocks_are_cut_by_the_data():
    """Many words in many blocks, every word in one, and a stream of its own for each."""
    rng = np.random.default_rng(3)
    data = make_dynamic_sgns(300, 20, 2, 60_000, random_state=3)
    pairs = PeriodPairs(data.pairs)
    blocks = pairs.blocks(200)
    for side in (0, 1):
        assert len(blocks[side]) > 1
        edges = [a for a, _ in blocks[side]] + [300]
        assert blocks[side] == list(zip(edges[:-1], edges[1:], strict=True))
        assert edges[0] == 0
    start = {"rho": rng.normal(size=(300, 200)), "alpha": rng.normal(size=(300, 200))}
    model = DynamicModel(pairs, 200, DriftPrior([1.0]), np.arange(200), start)
    assert DynamicConditionals(model, MONITORED).n_streams == 1 + sum(map(len, blocks))


def test_a_model_that_has_travelled_draws_the_same(data):
    model = conditionals(data)
    run(model, draws=1, warmup=0, chains=1)
    travelled = pickle.loads(pickle.dumps(model))
    first, second = (run(m, draws=2, warmup=0, chains=1) for m in (model, travelled))
    np.testing.assert_array_equal(first.draws["rho"], second.draws["rho"])


def test_chains_start_near_the_static_mode(data):
    """Within the spread that the start is given: half a prior deviation, less with data."""
    center = static_mode(data.pairs, K, K, np.random.default_rng(1))
    model = conditionals(data).model
    np.testing.assert_array_equal(model.center["rho"], center["rho"])
    arrays = model.start_near(np.random.default_rng(4))
    deviation = (arrays["rho"] - center["rho"]) * np.sqrt(K)
    assert np.abs(deviation).max() < 0.5 * 5
    # steps over the elapsed time 1 have the variance 0.02 in the prior, here a quarter at most
    assert np.diff(arrays["rho"], axis=0)[0].std() < np.sqrt(0.02) / 2 * 1.3
    again = model.start_near(generators(np.random.SeedSequence(0), 1)[0])
    assert not np.array_equal(arrays["rho"], again["rho"])


def test_more_periods_in_the_prior_than_in_the_counts(data):
    with pytest.raises(ValueError, match="prior must be of the 4 periods of the counts, got .* 2"):
        DynamicModel.of_counts(data.pairs, K, DriftPrior([1.0]), np.random.default_rng(0))


@pytest.mark.parametrize("n_draws", [500, pytest.param(2000, marks=pytest.mark.slow)])
def test_empty_periods_change_nothing_but_themselves(sampling, n_draws):
    """A period without data put in between: the others keep their posterior means."""
    full = make_dynamic_sgns(4, 1, 2, 300, times=[0, 5], diffusion=0.1, random_state=5)
    wide = make_dynamic_sgns(
        4, 1, 3, 300, times=[0, 2, 5], diffusion=0.1, empty_periods=[1], random_state=5
    )
    wide.pairs[0], wide.pairs[2] = full.pairs
    found, errors = [], []
    for data, kept in ((full, [0, 1]), (wide, [0, 2])):
        prior = DriftPrior(np.diff(data.times), 1.0, 0.1)
        model = DynamicModel.of_counts(data.pairs, 1, prior, np.random.default_rng(0))
        result = run(DynamicConditionals(model, MONITORED[:1]), n_draws, 100, chains=2)
        logit = (result.draws["rho"] @ np.swapaxes(result.draws["alpha"], -1, -2))[:, :, kept]
        p = expit(logit).reshape(2, n_draws, -1)
        found.append(p.mean(axis=(0, 1)))
        errors.append(p.var(axis=(0, 1)) / [sampling.ess(x) for x in np.moveaxis(p, -1, 0)])
    # 32 probabilities, standard errors from effective sample sizes
    z = (found[0] - found[1]) / np.sqrt(errors[0] + errors[1])
    assert np.abs(z).max() < 4.5

"""Joint-distribution (Geweke 2004) tests of the sense models' Gibbs sweeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.calibration import joint_differences
from skbayesembed.common.random import generators
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.priors import ModelPrior

# exact corners of the same samplers run by default: see CONTRIBUTING
pytestmark = pytest.mark.slow

K, G, T, V = 2, 2, 3, 3
PERIODS = np.array([0, 0, 0, 0, 2, 2, 2, 2, 2, 0])
GENRES = np.array([0, 0, 1, 1, 0, 0, 1, 1, 1, 0])
LENGTHS = np.array([3, 5, 1, 2, 4, 0, 6, 2, 3, 1])
D = PERIODS.size


def design(kind):
    """Snippets whose counts are there for every word, so that new ones can be written in place."""
    counts = sparse.csr_array(np.ones((D, V)))
    genres = 0 * GENRES if kind == "scan" else GENRES
    return Snippets.of(counts, PERIODS, genres, n_periods=T, n_genres=1 if kind == "scan" else G)


def from_prior(prior, data, rng):
    """Arrays of logits, and the innovation variance where it is learned."""
    kappa = None
    if prior.walks:
        kappa = prior.kappa_phi_rate / rng.standard_gamma(prior.kappa_phi_shape)
    phi = prior.phi_precision(T, kappa).sample(rng, (data.n_genres, K)).transpose(1, 0, 2)
    if prior.walks:
        return {"phi": phi, "psi": prior.psi_precision(T).sample(rng, (K, V)).swapaxes(0, 1)}, kappa
    chi = prior.kappa_chi**0.5 * rng.normal(size=(K, V))
    return {"phi": phi, "chi": chi, "theta": prior.theta_precision(T).sample(rng, (V,))}, None


def write_words(state, data, rng):
    """New words of all snippets given their senses and the logits, and their counts by sense."""
    table = state.words
    p = (table.weight / table.total[:, :, None])[state.senses, data.periods]
    words = rng.multinomial(LENGTHS, p)
    data.counts[:] = words.ravel()
    state.tokens[:] = 0.0
    np.add.at(state.tokens, (state.senses, data.periods), words)


def write_senses(state, data, rng):
    """New senses given prevalence, and the numbers of snippets."""
    table = state.prevalence
    p = (table.weight / table.total[:, :, None])[data.genres, data.periods]
    state.senses[:] = (rng.random(D)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    state.snippets[:] = 0.0
    np.add.at(state.snippets, (data.genres, data.periods, state.senses), 1.0)


def look(state, prior):
    """Test functions of logits, senses and words."""
    phi, x = state.prevalence.x, state.words.x
    prevalence = state.prevalence.weight / state.prevalence.total[:, :, None]
    words = state.words.weight / state.words.total[:, :, None]
    seen = [
        phi[0, 0, 0],
        phi[-1, 1, 1],
        phi[0, 0, 0] ** 2,
        phi[-1, 2, 0] * phi[-1, 0, 0],
        prevalence[0, 0, 0],
        prevalence[-1, 1, 0] ** 2,
        x[0, 0, 0],
        x[1, 1, 2] ** 2,
        x[0, 0, 1] * x[0, 2, 1],
        words[0, 0, 0],
        words[1, 2, 2] ** 2,
        words[0, 2, 0] * words[1, 2, 0],
        state.snippets[0, 0, 0],
        state.snippets[0, 2, 1] * phi[0, 2, 1],
        state.tokens[0, 0, 0],
        state.tokens[0, 2, 1] ** 2,
        (state.tokens * x).sum(),
        float(state.senses[0] == state.senses[1]),
    ]
    if prior.walks:
        return [*seen, np.log(state.kappa_phi)]
    chi, theta = state.chi, state.theta
    return [*seen, chi[0, 0] ** 2, theta[0, 1] * theta[1, 1], chi[0, 1] * theta[0, 1]]


def placed(model, prior, data, rng, streams):
    """A state drawn from prior and likelihood."""
    arrays, kappa = from_prior(prior, data, rng)
    state = model.state_of(arrays, streams)
    if kappa is not None:
        state.kappa_phi = kappa
    write_senses(state, data, rng)
    write_words(state, data, rng)
    return state


LONG = pytest.mark.slow
CASES = [
    ("scan", "polya-gamma"),
    pytest.param("disc", "metropolis", marks=LONG),
    pytest.param("disc", "polya-gamma", marks=LONG),
    pytest.param("disc", "uniform", marks=LONG),
    pytest.param("scan", "metropolis", marks=LONG),
    pytest.param("scan", "uniform", marks=LONG),
    *(pytest.param("gasc", k, marks=LONG) for k in ("metropolis", "polya-gamma", "uniform")),
]


@pytest.mark.parametrize(("kind", "kernel"), CASES)
def test_geweke(kind, kernel):
    """Draws of everything, against alternating words given the rest and one sweep."""
    z = differences(kind, kernel, 8_000, 16_000)
    # about 20 statistics for each of nine samplers: 4.5 errors by chance once in 800
    assert np.all(np.abs(z) < 4.5), z


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{"kappa_chi": 1.5}, {"alpha_theta": 0.85}, {"kappa_phi": 0.3}])
def test_geweke_notices_another_prior(wrong):
    """The power of the test: a sweep of a slightly different model fails it."""
    z = differences("disc", "polya-gamma", 8_000, 16_000, wrong)
    assert np.max(np.abs(z)) > 4.5, z


def differences(kind, kernel, n_direct, n_chain, wrong=None):
    """Differences of the means of the test functions, in Monte Carlo standard errors."""
    rng = np.random.default_rng(5)
    prior, data = ModelPrior(kind=kind), design(kind)
    model = SenseGibbs(data, K, ModelPrior(kind=kind, **(wrong or {})), kernel=kernel)
    streams = generators(np.random.SeedSequence(6), model.n_streams)
    direct = np.array([
        look(placed(model, prior, data, rng, streams), prior) for _ in range(n_direct)
    ])  # fmt: skip
    state = placed(model, prior, data, rng, streams)
    chain = []
    for _ in range(n_chain):
        model.sweep(state, streams, None)
        write_words(state, data, rng)
        chain.append(look(state, prior))
    return joint_differences(direct, chain)

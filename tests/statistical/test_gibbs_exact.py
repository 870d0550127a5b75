"""Both Gibbs kernels, on both table layouts, against posteriors known by quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from tests.helpers.quadrature import ALLOWED, one_free_context, one_word, standardised


@pytest.mark.parametrize(
    ("positive", "negative", "precision", "n_draws"),
    [
        (40, 0, 0.3, 5_000),
        pytest.param(40, 0, 0.3, 20_000, marks=pytest.mark.slow),
        pytest.param(1, 0, 0.5, 20_000, marks=pytest.mark.slow),
        pytest.param(7, 2, 1.0, 20_000, marks=pytest.mark.slow),
        pytest.param(30, 25, 2.0, 20_000, marks=pytest.mark.slow),
    ],
)
def test_one_word(sampling, kernel_and_layout, positive, negative, precision, n_draws):
    """rho and alpha of one word in one dimension: two parameters on a grid."""
    kernel, dense = kernel_and_layout
    expected = one_word(positive, negative, precision)

    def look(state):
        r, a = state.x[0][0, 0], state.x[1][0, 0]
        return expit(r * a), r * a, r * r, a * a

    model = sampling.conditionals([[positive]], [[negative]], 1, precision, kernel, dense)
    draws = np.array(sampling.run(model, n_draws, 200, seed=positive, each=look))
    z = standardised(sampling, draws, expected)
    assert np.all(np.abs(z) < ALLOWED), z


@pytest.mark.slow
def test_one_free_context_given_an_anchor(sampling, kernel_and_layout):
    """Two words, one dimension, one context held: given the free context the targets part."""
    kernel, dense = kernel_and_layout
    known = one_free_context()

    def look(state):
        r, a = state.x[0][:, 0], state.x[1][1, 0]
        assert state.x[1][0, 0] == known.anchor
        return a, a * a, r[0], r[0] ** 2, r[1], r[1] ** 2

    model = sampling.conditionals(
        known.positive, known.negative, 1, known.precision, kernel, dense, np.array([0]),
        np.array([[known.anchor]]),
    )  # fmt: skip
    draws = np.array(sampling.run(model, 20_000, 200, seed=5, each=look))
    z = standardised(sampling, draws, known.expected)
    assert np.all(np.abs(z) < ALLOWED), z


@pytest.mark.slow
@pytest.mark.parametrize("n_steps", [0, 2, 5])
def test_every_number_of_steps(sampling, n_steps):
    """The Metropolis step is exact whatever its Gaussian and its number of steps."""
    precision = 0.7
    expected = one_word(9, 3, precision)[:3]
    model = sampling.conditionals([[9]], [[3]], 1, precision, "metropolis")
    state = model.init_state(_streams(model))
    state.tuning.n_steps = [np.array([n_steps]), np.array([n_steps])]
    # a poor Gaussian on purpose: half the weights, a shifted centre
    for side in (0, 1):
        state.tuning.weight[side] *= 0.5
        state.tuning.shift[side] += 0.4

    def look(state):
        r, a = state.x[0][0, 0], state.x[1][0, 0]
        return expit(r * a), r * a, r * r

    draws = np.array(sampling.run(model, 30_000, 0, seed=8, state=state, each=look))
    z = standardised(sampling, draws, expected)
    assert np.all(np.abs(z) < ALLOWED), z


def _streams(model):
    from skbayesembed.common.random import generators

    return generators(np.random.SeedSequence(0), model.n_streams)


@pytest.mark.slow
def test_start_far_in_the_tails(sampling, kernel_and_layout):
    """From vectors thirty prior standard deviations out, chains come home and do not stick."""
    kernel, dense = kernel_and_layout
    rng = np.random.default_rng(0)
    positive = rng.poisson(1.0, (12, 12)).astype(float)
    negative = rng.poisson(1.0, (12, 12)).astype(float)
    model = sampling.conditionals(positive, negative, 3, 1.0, kernel, dense)

    def squares(state):
        return (state.x[0] ** 2).mean(), (state.x[1] ** 2).mean()

    home = np.array(sampling.run(model, 4000, 300, seed=1, each=squares))
    state = model.init_state(_streams(model))
    for x in state.x:
        x += 30 * rng.choice([-1.0, 1.0], x.shape)
    far = np.array(sampling.run(model, 4000, 300, seed=2, state=state, each=squares))
    ess = np.array([[sampling.ess(d[None]) for d in chain.T] for chain in (home, far)])
    error = np.sqrt(home.var(axis=0) / ess[0] + far.var(axis=0) / ess[1])
    assert np.all(np.abs(home.mean(axis=0) - far.mean(axis=0)) < ALLOWED * error)


@pytest.mark.parametrize(
    ("n_steps", "far"),
    [
        (0, 5.0),
        (2, 1.5),
        pytest.param(0, 1.5, marks=pytest.mark.slow),
        pytest.param(2, 5.0, marks=pytest.mark.slow),
    ],
)
def test_a_tail_does_not_hold_a_frozen_chain(sampling, n_steps, far):
    """Put far out after warm-up, when nothing is tuned any more, a Metropolis chain comes home.

    With a weak prior these tails are heavier than the Gaussians: without the Polya-Gamma sweeps
    between, all words stay out for good.
    """
    rng = np.random.default_rng(0)
    positive, negative = rng.poisson(6.0, (2, 12, 12)).astype(float)
    model = sampling.conditionals(positive, negative, 3, 0.1, "metropolis")

    def size(state):
        return np.abs(state.x[0]).max()

    state = model.init_state(_streams(model))
    home = np.mean(sampling.run(model, 300, 300, seed=1, state=state, each=size))
    state.tuning.n_steps = [np.full_like(n, n_steps) for n in state.tuning.n_steps]
    state.x[0][:] = far * 0.1**-0.5 * rng.choice([-1.0, 1.0], state.x[0].shape)
    sizes = sampling.run(model, 300, 0, seed=2, state=state, each=size)
    assert np.max(sizes[-50:]) < 3 * home

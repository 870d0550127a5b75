"""Both Gibbs kernels, on both table layouts, against posteriors known by quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit

# Monte Carlo standard errors allowed between a sampler and the quadrature: with about 60
# comparisons in this file a correct sampler exceeds 4.5 once in 2,500 runs of it.
ALLOWED = 4.5
GRID = np.linspace(-14, 14, 1401)


def standardised(sampling, draws, expected):
    """(mean - expected) in Monte Carlo standard errors, for draws (n_draws, n_quantities)."""
    ess = np.array([sampling.ess(d[None]) for d in draws.T])
    error = draws.std(axis=0, ddof=1) / np.sqrt(ess)
    return (draws.mean(axis=0) - expected) / error


@pytest.mark.parametrize(
    ("positive", "negative", "precision"),
    [(7, 2, 1.0), (1, 0, 0.5), (40, 0, 0.3), (30, 25, 2.0)],
)
def test_one_word(sampling, kernel_and_layout, positive, negative, precision):
    """rho and alpha of one word in one dimension: two parameters on a grid."""
    kernel, dense = kernel_and_layout
    rho, alpha = np.meshgrid(GRID, GRID, indexing="ij")
    t = rho * alpha
    logp = positive * log_expit(t) + negative * log_expit(-t)
    logp -= 0.5 * precision * (rho**2 + alpha**2)
    weight = np.exp(logp - logp.max())
    weight /= weight.sum()
    quantities = (expit(t), t, rho**2, alpha**2)
    expected = np.array([(weight * q).sum() for q in quantities])

    def look(state):
        r, a = state.x[0][0, 0], state.x[1][0, 0]
        return expit(r * a), r * a, r * r, a * a

    model = sampling.conditionals([[positive]], [[negative]], 1, precision, kernel, dense)
    draws = np.array(sampling.run(model, 20_000, 200, seed=positive, each=look))
    z = standardised(sampling, draws, expected)
    assert np.all(np.abs(z) < ALLOWED), z


def test_one_free_context_given_an_anchor(sampling, kernel_and_layout):
    """Two words, one dimension, one context held: given the free context the targets part."""
    kernel, dense = kernel_and_layout
    n_positive = np.array([[5.0, 1.0], [2.0, 6.0]])
    n_negative = np.array([[1.0, 4.0], [3.0, 1.0]])
    anchor, precision = 1.3, 0.8
    # rho_w integrates out on a grid for every value of the free context
    inner = np.zeros((2, GRID.size, GRID.size))
    for w in range(2):
        for v, context in enumerate((np.full(GRID.size, anchor), GRID)):
            t = GRID[:, None] * context[None, :]
            inner[w] += n_positive[w, v] * log_expit(t) + n_negative[w, v] * log_expit(-t)
        inner[w] -= 0.5 * precision * GRID[:, None] ** 2
    # the shared shift keeps the relative weights of the contexts
    evidence = [np.exp(inner[w] - inner[w].max()) for w in range(2)]
    mass = [e.sum(axis=0) for e in evidence]
    outer = np.exp(-0.5 * precision * GRID**2) * mass[0] * mass[1]
    outer /= outer.sum()
    expected = [(outer * GRID).sum(), (outer * GRID**2).sum()]
    for w in range(2):
        mean = (evidence[w] * GRID[:, None]).sum(axis=0) / mass[w]
        square = (evidence[w] * GRID[:, None] ** 2).sum(axis=0) / mass[w]
        expected += [(outer * mean).sum(), (outer * square).sum()]

    def look(state):
        r, a = state.x[0][:, 0], state.x[1][1, 0]
        assert state.x[1][0, 0] == anchor
        return a, a * a, r[0], r[0] ** 2, r[1], r[1] ** 2

    model = sampling.conditionals(
        n_positive, n_negative, 1, precision, kernel, dense, np.array([0]), np.array([[anchor]])
    )
    draws = np.array(sampling.run(model, 20_000, 200, seed=5, each=look))
    z = standardised(sampling, draws, np.array(expected))
    assert np.all(np.abs(z) < ALLOWED), z


@pytest.mark.parametrize("n_steps", [0, 2, 5])
def test_every_number_of_steps(sampling, n_steps):
    """The Metropolis step is exact whatever its Gaussian and its number of steps."""
    precision = 0.7
    rho, alpha = np.meshgrid(GRID, GRID, indexing="ij")
    t = rho * alpha
    logp = 9 * log_expit(t) + 3 * log_expit(-t) - 0.5 * precision * (rho**2 + alpha**2)
    weight = np.exp(logp - logp.max())
    weight /= weight.sum()
    expected = np.array([(weight * q).sum() for q in (expit(t), t, rho**2)])
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
    from skbayesembed.random import generators

    return generators(np.random.SeedSequence(0), model.n_streams)


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


@pytest.mark.parametrize("n_steps", [0, 2])
@pytest.mark.parametrize("far", [1.5, 5.0])
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

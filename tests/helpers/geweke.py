"""The joint-distribution test (Geweke 2004) of Gibbs sweeps, on a model of four words."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from skbayesembed.calibration import joint_differences
from skbayesembed.calibration.words import freeze
from skbayesembed.common.random import generators

WORDS, K = 4, 2


def quantities(rho, alpha, positive, total):
    """Test functions of parameters and data, the second half of them of both."""
    t = rho @ alpha.T
    return np.array(
        [
            expit(t[0, 0]),
            t[1, 2],
            t[1, 2] ** 2,
            rho[0, 0],
            rho[0, 0] ** 2,
            alpha[3, 1] ** 2,
            (rho**2).sum(),
            (alpha**2).sum(),
            (rho * alpha).sum(),
            positive[0, 0],
            positive[1, 2] * t[1, 2],
            ((positive - total / 2) * t).sum(),
        ]
    )


def observations(rng):
    """How often each pair is observed: a few times, some never."""
    total = rng.integers(0, 6, (WORDS, WORDS)).astype(float)
    total[0, 0], total[1, 2] = 5.0, 4.0
    return total


def set_positive(model, positive, total):
    """Put new data of the same totals into the tables of the conditionals, in place."""
    pairs = model.model.pairs
    kappa = positive - total / 2
    if pairs.dense:
        pairs.kappa[0][:] = kappa
        pairs.kappa[1][:] = kappa.T
    else:
        flat = kappa[np.nonzero(total)]
        pairs.kappa[0][:] = flat
        pairs.kappa[1][:] = flat[pairs.order]


def differences(sampling, model, total, from_prior, look, rng, n_direct, n_chain):
    """Prior draws with data, against alternating data given parameters and one sweep.

    Parameters
    ----------
    model : SGNSConditionals
        Of any counts with these totals.
    total : ndarray of shape (WORDS, WORDS)
    from_prior : callable
        ``from_prior(rng)``: arrays (rho, alpha) and the prior precisions behind them.
    look : callable
        ``look(arrays, tau, positive)``: array of test functions.
    rng : numpy.random.Generator
    n_direct, n_chain : int
        Draws of each kind.

    Returns
    -------
    z : ndarray
        Differences of the means of the test functions that vary, in Monte Carlo standard errors.
    """

    def data(arrays):
        return rng.binomial(total.astype(int), expit(arrays[0] @ arrays[1].T)).astype(float)

    direct = []
    for _ in range(n_direct):
        arrays, tau = from_prior(rng)
        direct.append(look(arrays, tau, data(arrays)))
    streams = generators(np.random.SeedSequence(4), model.n_streams)
    state = model.init_state(streams)
    state.x, state.tau = from_prior(rng)
    if state.tuning is not None:
        freeze(state, model.model)
    chain = []
    for _ in range(n_chain):
        positive = data(state.x)
        set_positive(model, positive, total)
        model.sweep(state, streams, sampling.serial)
        chain.append(look(state.x, state.tau, positive))
    z = joint_differences(direct, chain)
    return z[np.isfinite(z)]

"""Moves that draw a learned diffusion together with the trajectories.

Given the trajectories of thousands of components a diffusion can hardly move: one that is too small
makes them too smooth, which keeps it small, and a chain takes hundreds of sweeps to get away. So
all trajectories are stretched about their means by one factor g, and the diffusion is multiplied by
g^2. The density along that path is

    likelihood(m + g d) prior(m + g d | g^2 D) hyperprior(log g^2 D) g^(N (n_periods - 1))

of log g, with means m, deviations d and N components of trajectories, the last factor being the
Jacobian; an update that leaves it invariant leaves the posterior invariant (Liu & Sabatti 2000,
*Generalized Gibbs sampler and multigrid Monte Carlo for Bayesian computation*).
"""

from __future__ import annotations

import numpy as np

from ..priors import slice_update
from .kernels import path_likelihood, trajectory_logits


class Stretch:
    """The move for a `DynamicModel` with a learned diffusion.

    Parameters
    ----------
    model : DynamicModel
    """

    def __init__(self, model):
        self.model = model
        # What the data say of a trajectory is nearly its mean over observations: it stays. Any
        # weights that sum to one will do; every period has some, for words never seen.
        self._weights = [self._shares(side) for side in (0, 1)]

    def update(self, x, diffusion, rng, run):
        """Stretch the trajectories ``x`` of both sides in place; return the new diffusion.

        Parameters
        ----------
        x : list of two ndarray of shape (n_periods, n_words, n_components)
        diffusion : float
        rng : numpy.random.Generator
        run : callable
            Maps a function over blocks of work.
        """
        prior = self.model.prior
        means = [np.einsum("twk,tw->wk", v, s) for v, s in zip(x, self._weights, strict=True)]
        deviations = [v - m for v, m in zip(x, means, strict=True)]
        likelihood = self._likelihood(x, means, deviations, run)
        statistics, n = self._statistics(means, deviations)
        exponent = n * (prior.n_periods - 1)

        def log_density(log_g):
            g = np.exp(log_g)
            sums, first = statistics(g)
            value = prior.log_density(diffusion * g**2, sums, n) - 0.5 * first / prior.variance
            value += prior.log_hyperprior(diffusion * g**2) + exponent * log_g
            return value + likelihood(g)

        # as for a diffusion given the trajectories, of which log g moves the logarithm by two
        width = 4.0 / np.sqrt(exponent + 2.0 * prior.hyperprior[0])
        g = float(np.exp(slice_update(log_density, 0.0, width, rng)))
        for v, m, d in zip(x, means, deviations, strict=True):
            np.multiply(d, g, out=v)
            v += m
        return diffusion * g**2

    def _shares(self, side):
        """Share of each period in a word's observations, (n_periods, n_words)."""
        pairs = self.model.pairs
        total = np.concatenate([[0.0], np.cumsum(pairs.n[side])])
        seen = np.diff(total[pairs.indptr[side]]).reshape(pairs.n_words, pairs.n_periods) + 1.0
        return np.ascontiguousarray((seen / seen.sum(axis=1, keepdims=True)).T)

    def _likelihood(self, x, means, deviations, run):
        """The log likelihood as a function of g; logits are quadratic in it."""
        pairs, blocks = self.model.pairs, self.model.blocks[0]
        sums, paths, tasks = np.empty((len(blocks), 1)), [], []
        level = [np.ascontiguousarray(np.broadcast_to(m, x[0].shape)) for m in means]
        for (start, stop), total in zip(blocks, sums, strict=True):
            first, last = pairs.indptr[0][[start * pairs.n_periods, stop * pairs.n_periods]]
            path = np.empty((4, last - first))
            paths.append((start, stop, pairs, level, deviations, x, path))
            tasks.append((path, pairs.n[0][first:last], pairs.kappa[0][first:last], total))
        run(_path, paths)

        def likelihood(g):
            run(path_likelihood, [(*task, g) for task in tasks])
            return float(sums.sum())

        return likelihood

    def _statistics(self, means, deviations):
        """The prior's statistics, and the sum of squares of the first period, as functions of g.

        Quadratic in it, hence known from their values at -1, 0 and 1.
        """
        prior, values = self.model.prior, []
        for g in (-1.0, 0.0, 1.0):
            x = [m + g * d for m, d in zip(means, deviations, strict=True)]
            sums, n = prior.statistics(*x)
            values.append(np.append(sums, sum(np.vdot(v[0], v[0]) for v in x)))
        slope, bend = 0.5 * (values[2] - values[0]), 0.5 * (values[2] + values[0]) - values[1]

        def statistics(g):
            value = values[1] + g * slope + g**2 * bend
            return value[:-1].reshape(3, -1), float(value[-1])

        return statistics, n


def _path(start, stop, pairs, level, deviations, x, path):
    """Coefficients of the logits of a block's pairs as polynomials of g, which are x's at g = 1."""
    table = start, stop, pairs.indptr[0], pairs.indices[0]
    trajectory_logits(*table, *level, path[0])
    trajectory_logits(*table, *deviations, path[2])
    trajectory_logits(*table, *x, path[1])
    path[1] -= path[0]
    path[1] -= path[2]

"""How base measures move: ascent to a mode, and Hamiltonian trajectories.

Masses are the information of `BaseMeasures.information` at some state, a block for each topic's
vector and a number for everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

# Leapfrog steps of a trajectory, and how far its steps go from their size at random.
N_STEPS, _JITTER = 8, 0.2
# Newton steps: the least share of one, and the gain at which they end.
_LEAST_SHARE, _LEAST_GAIN = 1e-3, 1e-2
# The largest step of log eta.
_LARGEST = 0.7


@dataclass
class Metric:
    """Masses of theta.

    Attributes
    ----------
    roots, inverses : ndarray of shape (K', E, E)
        Cholesky factors and inverses of the blocks of topics.
    diagonal : ndarray of shape (V + 1,)
    """

    roots: np.ndarray
    inverses: np.ndarray
    diagonal: np.ndarray

    @classmethod
    def at(cls, measures, base, counts):
        """That of the information at a state."""
        blocks, diagonal = measures.information(base, counts)
        return cls(np.linalg.cholesky(blocks), np.linalg.inv(blocks), diagonal)

    def momentum(self, rng):
        """A draw of N(0, mass), (n_free,)."""
        z = rng.standard_normal(self.roots[..., 0].size + self.diagonal.size)
        return self._times(self.roots, np.sqrt(self.diagonal), z)

    def deviation(self, rng):
        """A draw of N(0, mass^-1), (n_free,)."""
        return self.solve(self.momentum(rng))

    def solve(self, p):
        """Mass^-1 p, (n_free,)."""
        return self._times(self.inverses, 1.0 / self.diagonal, p)

    def _times(self, blocks, diagonal, x):
        """The product with blocks of topics, and a diagonal."""
        n, out = self.roots[..., 0].size, np.empty_like(x)
        own = x[:n].reshape(self.roots.shape[:2])
        out[:n] = np.einsum("kij,kj->ki", blocks, own).ravel()
        out[n:] = diagonal * x[n:]
        return out


# Newton's step may be one to nowhere, too.
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def climb(measures, base, counts, n_steps):
    """Newton steps of theta with the masses as Hessian, halved until they gain, in place.

    Returns the masses of the last step.
    """
    gradient = np.empty(measures.n_free)
    value = measures.log_density(base, counts, gradient)
    for _ in range(n_steps):
        metric = Metric.at(measures, base, counts)
        step = metric.solve(gradient)
        step[-1] = np.clip(step[-1], -_LARGEST, _LARGEST)
        share, trial = 1.0, np.empty_like(gradient)
        while share > _LEAST_SHARE:
            then = replace(base, theta=base.theta + share * step)
            found = measures.log_density(then, counts, trial)
            if found > value:
                break
            share *= 0.5
        else:
            break
        gained, value = found - value, found
        base.theta, gradient = then.theta, trial
        if gained < _LEAST_GAIN:
            break
    return metric


def trajectory(measures, base, counts, metric, step, rng, n_steps=N_STEPS):
    """A Hamiltonian move of theta in place, accepted or not; returns its probability.

    Parameters
    ----------
    measures : BaseMeasures
    base : Base
    counts : Tokens
    metric : Metric
    step : float
        Size of steps, from which those of a trajectory go up to a fifth at random.
    rng : numpy.random.Generator
    n_steps : int
    """
    step = step * (1.0 + _JITTER * (2.0 * rng.random() - 1.0))
    momentum, log_u = metric.momentum(rng), np.log(rng.random())
    gradient, now = np.empty(measures.n_free), replace(base, theta=base.theta.copy())
    energy = measures.log_density(now, counts, gradient)
    energy -= 0.5 * float(momentum @ metric.solve(momentum))
    # a step that is too long runs off to infinity, and is refused
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(n_steps):
            momentum += 0.5 * step * gradient
            now.theta += step * metric.solve(momentum)
            value = measures.log_density(now, counts, gradient)
            momentum += 0.5 * step * gradient
        change = value - 0.5 * float(momentum @ metric.solve(momentum)) - energy
    if not np.isfinite(change):
        return 0.0
    if log_u < change:
        base.theta = now.theta
    return float(np.exp(min(0.0, change)))

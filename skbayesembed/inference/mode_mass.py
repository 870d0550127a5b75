"""Log mass of one mode of a posterior, by thermodynamic integration from a Gaussian at the mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .adaptation import Metric, StepSize
from .trajectories import HamiltonianOptions, Trajectories

# Trajectories of a random number of steps around a quarter turn of the Gaussian.
OPTIONS = HamiltonianOptions(method="hmc", integrator="gaussian", metric="given")


class Walker:
    """A chain of Hamiltonian moves on a model whose coordinates are nearly round.

    Parameters
    ----------
    model : LogDensity
    rng : numpy.random.Generator
    theta : ndarray of shape (n_parameters,)
    step : float, default=0.2
        First step size; adapted until `freeze`.
    """

    def __init__(
        self, model: Any, rng: np.random.Generator, theta: np.ndarray, step: float = 0.2
    ) -> None:
        self.model = model
        metric = Metric(np.zeros(model.n_parameters), np.array(model.scale, dtype=float))
        self.sampler = Trajectories(model, OPTIONS, rng, metric)
        self.adapter = StepSize(OPTIONS.target)
        self.adapter.restart(step)
        self.sampler.step = step
        self.adapting = True
        self.enter(theta)

    def enter(self, theta: np.ndarray) -> None:
        """Go to a point."""
        self.state = self.sampler.state_at(np.array(theta, dtype=float))

    def move(self) -> None:
        """One transition."""
        made = self.sampler.move(self.state)
        self.state = made.state
        if self.adapting:
            self.adapter.update(made.acceptance)
            # longer steps than this are a whole trajectory
            self.sampler.step = min(self.adapter.value, 1.0)

    def freeze(self) -> None:
        """Keep the step size from now on."""
        self.adapter.freeze()
        self.sampler.step = min(self.adapter.value, 1.0)
        self.adapting = False


class _Bridge:
    """The density q^(1 - s) p^s, q the standard Gaussian and p that of a model."""

    def __init__(self, model, share):
        self.model, self.share = model, share
        self.n_parameters, self.scale = model.n_parameters, model.scale

    def logp_and_grad(self, theta, out):
        """Log density and gradient."""
        value = self.model.logp_and_grad(theta, out)
        gaussian = -0.5 * float(theta @ theta)
        out *= self.share
        out -= (1 - self.share) * theta
        return self.share * value + (1 - self.share) * gaussian


@dataclass(frozen=True)
class Mass:
    """The logarithm of an integral, and the standard error of it."""

    value: float
    error: float


def log_mass(
    model: Any, theta: np.ndarray, rng: np.random.Generator, *, n_nodes: int = 12, n_moves: int = 60
) -> Mass:
    """Log of the integral of ``exp(logp)`` over the mode that ``theta`` lies in.

    With q the standard Gaussian in the coordinates of the model, the log of the integral of
    q^(1-s) p^s has the derivative E_s[log p - log q] by s. It is averaged at the nodes of
    Gauss and Legendre in sqrt(s), since it changes fastest near the Gaussian.

    Parameters
    ----------
    model : LogDensity
        In coordinates in which the mode is about standard normal.
    theta : ndarray of shape (n_parameters,)
        A draw from the mode.
    rng : numpy.random.Generator
    n_nodes : int
    n_moves : int
        Transitions at each node; the first third of them is discarded.

    Returns
    -------
    Mass
        The error is that of the averages, from batches of ten moves.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    nodes, weights = (nodes + 1) / 2, weights / 2
    total, variance, step = 0.0, 0.0, 0.2
    for u, weight in zip(nodes[::-1], weights[::-1], strict=True):
        bridge = _Bridge(model, u * u)
        walker = Walker(bridge, rng, theta, step)
        gaps = []
        for i in range(n_moves):
            walker.move()
            if 3 * i >= n_moves:
                state = walker.state
                gaps.append(_gap(bridge.share, state))
        theta, step = walker.state.theta, walker.sampler.step
        gaps = np.array(gaps)
        batches = np.array([b.mean() for b in np.array_split(gaps, max(2, gaps.size // 10))])
        jacobian = 2 * u * weight
        total += jacobian * gaps.mean()
        variance += jacobian**2 * batches.var(ddof=1) / batches.size
    constant = 0.5 * model.n_parameters * np.log(2 * np.pi)
    return Mass(total + constant, float(np.sqrt(variance)))


def _gap(share, state):
    """log p - log q at a state of a bridge, from its log density."""
    gaussian = -0.5 * float(state.theta @ state.theta)
    return (state.logp - gaussian) / share

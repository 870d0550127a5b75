"""Log mass of one mode of a posterior, by thermodynamic integration from a Gaussian at the mode.

The masses of several modes, which chains do not move between, tell how much of the posterior each
holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .adaptation import Metric, StepSize
from .trajectories import HamiltonianOptions, Trajectories

# First step size, and the longest: one longer would be a whole trajectory.
_STEP, _LONGEST_STEP = 0.2, 1.0
# Of so many equal parts of the moves at each node, the first is discarded. The error comes from the
# means of batches of so many moves.
_PARTS, _BATCH = 3, 10
# Trajectories of a random number of steps around a quarter turn of the Gaussian.
OPTIONS = HamiltonianOptions(method="hmc", integrator="gaussian", metric="given")


class Walker:
    """A chain of Hamiltonian moves on a model whose coordinates are nearly round.

    Parameters
    ----------
    model : LogDensity
    rng : numpy.random.Generator
    theta : ndarray of shape (n_parameters,)
        The point to start from.
    step : float, default=0.2
        First step size, in whitened coordinates; it is adapted until `freeze` is called.
    options : HamiltonianOptions
        How it moves.

    Attributes
    ----------
    state : trajectories.State
        Where the chain is.
    """

    def __init__(
        self, model: Any, rng: np.random.Generator, theta: np.ndarray, step: float = _STEP,
        options: HamiltonianOptions = OPTIONS,
    ) -> None:  # fmt: skip
        self.model = model
        metric = Metric(np.zeros(model.n_parameters), np.array(model.scale, dtype=float))
        self.sampler = Trajectories(model, options, rng, metric)
        self.adapter = StepSize(options.target)
        self.adapter.restart(step)
        self.sampler.step = step
        self.adapting = True
        self.enter(theta)

    def enter(self, theta: np.ndarray) -> None:
        """Go to the point ``theta``, (n_parameters,)."""
        self.state = self.sampler.state_at(np.array(theta, dtype=float))

    def move(self) -> None:
        """Make one transition."""
        made = self.sampler.move(self.state)
        self.state = made.state
        if self.adapting:
            self.adapter.update(made.acceptance)
            self.sampler.step = min(self.adapter.value, _LONGEST_STEP)

    def freeze(self) -> None:
        """Keep the step size from now on."""
        self.adapter.freeze()
        self.sampler.step = min(self.adapter.value, _LONGEST_STEP)
        self.adapting = False


class _Bridge:
    """The density q^(1 - s) p^s between the standard Gaussian q and the density p of a model."""

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
    """The logarithm of an integral, and its standard error.

    Attributes
    ----------
    value, error : float
    """

    value: float
    error: float


def log_mass(
    model: Any, theta: np.ndarray | None, rng: np.random.Generator, *, n_nodes: int = 12,
    n_moves: int = 60,
) -> Mass:  # fmt: skip
    """Log of the integral of ``exp(logp)`` over the mode that ``theta`` lies in.

    Let p be the density of the model and q the standard Gaussian in its coordinates. The logarithm
    of the integral of q^(1-s) p^s has the derivative E_s[log p - log q] by s, the mean of which is
    taken over a chain at each of several s. These are the nodes of Gauss-Legendre quadrature in
    sqrt(s), since the derivative changes fastest near the Gaussian, at s = 0.

    Parameters
    ----------
    model : LogDensity
        In coordinates in which the mode is about standard normal.
    theta : ndarray of shape (n_parameters,) or None
        A draw from the mode, from which the chain goes down to the Gaussian. With None it goes up
        to the mode, from a draw of the Gaussian: what chains too slow for their length carry along
        makes the two differ (see `mean_mass`).
    rng : numpy.random.Generator
    n_nodes : int
        Number of values of s.
    n_moves : int
        Transitions at each node; the first third of them is discarded.

    Returns
    -------
    Mass
        The error is that of the means over chains, estimated from batches of ten moves. It says
        nothing of what a chain of ``n_moves`` does not see.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    nodes, weights = (nodes + 1) / 2, weights / 2
    path = list(zip(nodes, weights, strict=True))
    if theta is None:
        theta = rng.standard_normal(model.n_parameters)
    else:
        path.reverse()
    total, variance, step = 0.0, 0.0, _STEP
    for u, weight in path:
        bridge = _Bridge(model, u * u)
        walker = Walker(bridge, rng, theta, step)
        gaps = []
        for i in range(n_moves):
            measured = _PARTS * i >= n_moves
            if measured and walker.adapting:
                # steps that hung on where the chain is would lead it elsewhere
                walker.freeze()
            walker.move()
            if measured:
                state = walker.state
                gaps.append(_gap(bridge.share, state))
        theta, step = walker.state.theta, walker.sampler.step
        gaps = np.array(gaps)
        batches = np.array([b.mean() for b in np.array_split(gaps, max(2, gaps.size // _BATCH))])
        jacobian = 2 * u * weight
        total += jacobian * gaps.mean()
        variance += jacobian**2 * batches.var(ddof=1) / batches.size
    constant = 0.5 * model.n_parameters * np.log(2 * np.pi)
    return Mass(total + constant, float(np.sqrt(variance)))


def mean_mass(runs: Sequence[Mass]) -> Mass:
    """Mean of several runs of `log_mass`, and its standard error.

    Batches of a run see what varies within its length, the differences between runs all that
    varies: the larger of both counts.

    Parameters
    ----------
    runs : sequence of Mass
        As many up as down, each from its own start.

    Returns
    -------
    Mass
    """
    values, errors = (np.array([getattr(run, name) for run in runs]) for name in ("value", "error"))
    within = np.mean(errors**2)
    between = values.var(ddof=1) if values.size > 1 else 0.0
    return Mass(float(values.mean()), float(np.sqrt(max(within, between) / values.size)))


def _gap(share, state):
    """log p - log q at a state of a bridge, from its log density."""
    gaussian = -0.5 * float(state.theta @ state.theta)
    return (state.logp - gaussian) / share

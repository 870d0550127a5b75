"""What the suite must know of a model: its prior and data by plain means, and how it is sampled.

Priors and likelihoods are written out here in plain NumPy and SciPy, not taken from the code that
is tested: a mistake that both had would not show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..inference.adaptation import Metric
from ..inference.trajectories import HamiltonianOptions, Trajectories

Arrays = Mapping[str, np.ndarray]
# Moves one draw by a sweep or trajectory given data.
Mover = Callable[[Arrays, Any], Arrays]


@dataclass(frozen=True)
class Lengths:
    """Draws of one chain, the sweeps or trajectories before them, and those from draw to draw."""

    draws: int
    warmup: int
    thin: int


class Calibrated(Protocol):
    """A model of the suite.

    Attributes
    ----------
    name : str
        The estimator's, and what is special about its parameters.
    samplers : mapping of str to int
        Exact samplers, ``solver`` or ``solver:kernel``; after how many sweeps or trajectories
        their draws are about independent.
    joint : tuple of str
        Those of them that the joint-distribution test moves.
    quantities : tuple of str
        Names of the test quantities, which no rotation and no order of components changes.
    """

    @property
    def name(self) -> str: ...

    @property
    def samplers(self) -> Mapping[str, int]: ...

    @property
    def joint(self) -> tuple[str, ...]: ...

    @property
    def quantities(self) -> tuple[str, ...]: ...

    def prior(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Parameters from the prior, ``n`` draws along the first axis of every array."""

    def data(self, arrays: Arrays, rng: np.random.Generator) -> Any:
        """Data given parameters (one draw, without the first axis)."""

    def look(self, arrays: Arrays, data: Any) -> np.ndarray:
        """Test quantities of draws, (n, n_quantities); the last of them knows all of the data."""

    def log_likelihood(self, arrays: Arrays, data: Any) -> np.ndarray:
        """Log likelihood of draws of the prior, (n,)."""

    def posterior(
        self, data: Any, sampler: str, lengths: Lengths, seed: int, **options: Any
    ) -> dict[str, np.ndarray]:
        """Draws by the estimator, of all chains one after the other, as `look` takes them."""

    def mover(self, sampler: str, rng: np.random.Generator) -> Mover:
        """Function of one draw and data that moves the draw by one sweep or trajectory."""

    def brief(self) -> Calibrated:
        """The same model with so few data that chains over parameters and data mix."""

    def corner(self) -> Calibrated:
        """The same model so small that weighted draws of its prior give its posterior."""


def estimated(estimator: Any, lengths: Lengths, seed: int, sampler: str, **options: Any) -> Any:
    """The estimator with the parameters of its chains."""
    solver, _, kernel = sampler.partition(":")
    options = {"chains": 1} | options
    if kernel:
        options["kernel"] = kernel
    return estimator.set_params(
        solver=solver, draws=lengths.draws, warmup=lengths.warmup, thin=lengths.thin,
        random_state=seed, n_jobs=1, **options,
    )  # fmt: skip


def flat(values: np.ndarray) -> np.ndarray:
    """Draws (chain, draw, ...) as (chain * draw, ...)."""
    return np.asarray(values).reshape(-1, *np.shape(values)[2:])


def one_more(arrays: Arrays) -> dict[str, np.ndarray]:
    """One draw with a first axis of length one."""
    return {name: np.asarray(values)[None] for name, values in arrays.items()}


def nth(arrays: Arrays, i: int) -> dict[str, np.ndarray]:
    """One of several draws."""
    return {name: values[i] for name, values in arrays.items()}


def hamiltonian_move(
    model: Any, theta: np.ndarray, options: HamiltonianOptions, step: float,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """One trajectory of a model with its own scale and a given step size, from ``theta``."""
    scale = np.array(model.scale, dtype=float)
    moves = Trajectories(model, options, rng, Metric(np.zeros_like(scale), scale))
    moves.step = step
    return moves.move(moves.state_at(np.array(theta, dtype=float))).state.theta

"""What a model offers and what a solver returns: the two contracts of the package.

A model implements the groups it can; a solver names the group it needs. Nothing here is a base
class: the protocols document and check names, models just have the methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class LogDensity(Protocol):
    """Needed by ``solver="map"`` (and by the gradient-based samplers)."""

    n_parameters: int
    scale: np.ndarray  # rough posterior standard deviations of the flat parameters, up to a factor

    def logp_and_grad(self, theta, out):
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""

    def pack(self, arrays):
        """Flat vector of the free parameters in the dict of named arrays."""

    def unpack(self, theta):
        """Dict of named arrays, fixed entries included, from the flat vector."""


@runtime_checkable
class Conditionals(Protocol):
    """Needed by ``solver="gibbs"``.

    ``rng`` is a list of ``n_streams`` generators: the first for what concerns the whole chain,
    then one per unit of work, so that draws do not depend on how units are spread over threads.
    """

    n_streams: int

    def init_state(self, rng):
        """A start of the chain."""

    def sweep(self, state, rng, run):
        """One invariant sweep in place; ``run`` maps a function over a list of argument tuples."""

    def tune(self, state, step, warmup):
        """Called after warm-up sweep number ``step``; never called once ``step`` is ``warmup``."""

    def observe(self, state):
        """Dict of named arrays to record for this draw, in the identified frame."""

    def trace(self, state):
        """Dict of named statistics of this draw, recorded for every draw."""


@dataclass
class Result:
    """What every solver returns.

    Attributes
    ----------
    draws : dict of str to ndarray of shape (chain, draw, ...)
    stats : dict of str to ndarray of shape (chain, draw, ...)
        Per-draw statistics.
    moments : dict of str to RunningMoments
        Moments over every draw made, recorded or not.
    facts : dict
        What is to be known of the run: convergence, iterations, interruption.
    """

    draws: dict[str, np.ndarray]
    stats: dict[str, np.ndarray] = field(default_factory=dict)
    moments: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)


def require(model, contract, solver):
    """Raise a TypeError that names model and solver unless ``model`` offers ``contract``."""
    if not isinstance(model, contract):
        raise TypeError(
            f"solver={solver!r} needs a model that offers {contract.__name__}, which "
            f"{type(model).__name__} does not."
        )

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
    """Needed by ``solver="map"``, and wherever else the mode is searched for."""

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


@runtime_checkable
class HamiltonianModel(Protocol):
    """Needed by ``solver="hmc"``.

    Optional besides: ``block_size`` and ``n_blocked`` (the first ``n_blocked`` parameters come in
    blocks of that size that belong together), and ``turns`` (whether turning all blocks together,
    by one rotation, changes the density so little that the posterior is much wider along such
    turns than its variances say).
    """

    n_parameters: int
    scale: np.ndarray  # rough posterior standard deviations of the flat parameters, up to a factor

    def logp_and_grad(self, theta, out):
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""

    def init(self, rng):
        """A start of the chain: flat vector."""

    def observe(self, theta):
        """Dict of named arrays to record for this draw."""

    def trace(self, theta):
        """Dict of named statistics of this draw, recorded for every draw."""


@runtime_checkable
class Variational(Protocol):
    """Needed by ``solver="vi"``.

    ``run`` maps a function over a list of argument tuples, one for each unit of work.
    """

    def init_q(self, arrays):
        """Factors of the approximation around a dict of starting arrays."""

    def update(self, q, run):
        """One sweep over all factors in place; returns a bound on the log evidence.

        The bound is that of factors met in the sweep, each sweep at the same place of it, so that
        it never falls from one sweep to the next.
        """

    def settled(self, q):
        """Whether no factor is held back for the start any more."""

    def sample_q(self, q, n, rng):
        """Dict of named arrays, ``n`` independent draws of the approximation along axis 0."""


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

"""The exact sampler of trajectories: all targets given the contexts, then the other way round.

Given the other side and one Polya-Gamma variable a pair and period, a word's whole trajectory is
Gaussian with a block-tridiagonal precision. It is drawn at once, by a block Cholesky factorization
forward and sampling backward in time, in O(n_periods K^3) besides the work of the pairs; a sampler
of one period given its neighbors would creep along a smooth trajectory. A learned diffusion is
drawn given the trajectories, and once more together with them (`stretch`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ...inference.polyagamma import BlockPlans, PolyaGammaDraws
from .kernels import draw_trajectories, trajectory_logits
from .stretch import Stretch


@dataclass
class DynamicState:
    """Current trajectories ``x[0] = rho``, ``x[1] = alpha`` and the diffusion of a chain."""

    x: list
    diffusion: float


class DynamicConditionals:
    """`Conditionals` of a `DynamicModel` for the Gibbs engine.

    Parameters
    ----------
    model : DynamicModel
    monitored : ndarray of int of shape (n_monitored, 3)
        Places (period, target, context) whose logits are traced.
    """

    def __init__(self, model, monitored):
        self.model = model
        self.monitored = monitored
        self._first = [1, 1 + len(model.blocks[0])]
        self.n_streams = 1 + len(model.blocks[0]) + len(model.blocks[1])
        self._stretch = Stretch(model) if model.prior.learned else None
        self._plan = BlockPlans(functools.partial(_plan, model))

    def init_state(self, rngs):
        """A start around the static vectors; a learned diffusion at the mode of its prior."""
        arrays = self.model.start_near(rngs[0])
        return DynamicState([arrays["rho"], arrays["alpha"]], self.model.prior.diffusion)

    def sweep(self, state, rngs, run):
        """Draw a learned diffusion, then every target's trajectory, then every context's."""
        prior = self.model.prior
        if prior.learned:
            sums, n = prior.statistics(*state.x)
            state.diffusion = prior.draw_diffusion(state.diffusion, sums, n, rngs[0])
            state.diffusion = self._stretch.update(state.x, state.diffusion, rngs[0], run)
        precision = prior.tridiagonal(state.diffusion)
        for side in (0, 1):
            tasks = [
                (self._plan(side, i), state.x[side], state.x[1 - side], precision, rng)
                for i, rng in enumerate(rngs[self._first[side] :][: len(self.model.blocks[side])])
            ]
            run(_update_block, tasks)

    def tune(self, state, step, warmup):
        """There is nothing to learn."""

    def observe(self, state):
        """``rho`` and ``alpha``, rotated together in all periods; a learned ``diffusion``."""
        rho, alpha = self.model.in_frame(state.x[1], *state.x)
        values = {"rho": rho, "alpha": alpha}
        if self.model.prior.learned:
            values["diffusion"] = np.array([state.diffusion])
        return values

    def trace(self, state):
        """Logits and target coordinates of the monitored places; a learned ``log_diffusion``."""
        seen = self.model.traces(self.monitored, *state.x)
        if self.model.prior.learned:
            seen["log_diffusion"] = np.log(state.diffusion)
        return seen


def _plan(model, side, block):
    return _Plan(model.pairs, side, *model.blocks[side][block])


class _Plan:
    """Words ``start:stop`` of a side, and the shapes of their Polya-Gamma variables."""

    def __init__(self, pairs, side, start, stop):
        self.start, self.stop = start, stop
        self.indptr, self.indices = pairs.indptr[side], pairs.indices[side]
        self.kappa = pairs.kappa[side]
        lo, hi = self.indptr[[start * pairs.n_periods, stop * pairs.n_periods]]
        self.draws = PolyaGammaDraws(pairs.n[side][lo:hi])


def _update_block(plan, x, y, precision, rng):
    """Trajectories of a block's words given the other side ``y``, into ``x``."""
    table = plan.start, plan.stop, plan.indptr, plan.indices
    omega = np.empty(len(plan.draws))
    trajectory_logits(*table, x, y, omega)
    plan.draws.draw(omega, rng, omega)
    draw_trajectories(
        *table, omega, plan.kappa, y, precision.diagonal, precision.off, rng, x
    )  # fmt: skip

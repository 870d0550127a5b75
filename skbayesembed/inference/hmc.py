"""Chains of Hamiltonian samplers: the warm-up, the draws, and warnings about them.

A chain is made of transitions, which are in `trajectories`. During warm-up it learns its step size
and metric by the means of `adaptation`. This module puts the two together.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.mixing import longest_standstill
from ..common.random import generators
from ..common.warnings import warn_user
from .adaptation import Metric, MetricWindow, StepSize, schedule
from .chains import Control, run_chains
from .contracts import HamiltonianModel, Result, Run, require
from .records import ChainRecord, Settings
from .stepping import run_chain
from .trajectories import HamiltonianOptions, State, Trajectories, Transition

# The first guess of the step size is the number of parameters to this power, which is how the step
# of a given acceptance falls with their number (Beskos et al. 2013).
_STEP_POWER = -0.25
# Share of trajectories cut at the largest depth above which there is a warning.
_SATURATED = 0.01


class HamiltonianSampler:
    """`Sampler` of a model that offers `HamiltonianModel`.

    Parameters
    ----------
    options : HamiltonianOptions
    model : HamiltonianModel
    seed : numpy.random.SeedSequence

    Raises
    ------
    ValueError
        By `begin`, if the log density at the start of the chain is not finite.
    """

    def __init__(
        self, options: HamiltonianOptions, model: HamiltonianModel, seed: np.random.SeedSequence
    ) -> None:
        self.model = model
        rng, scale = generators(seed, 1)[0], np.array(model.scale, dtype=float)
        self.trajectories = Trajectories(model, options, rng, Metric(np.zeros_like(scale), scale))
        self.state: State = State()
        self.adapter = StepSize(options.target)
        # the window of the warm-up that the metric is being learned from
        self.window: MetricWindow | None = None
        self._made: list[Transition] = []

    def begin(self) -> None:
        """Go to the start that the model draws, with a step size to begin with."""
        moves = self.trajectories
        self.state = moves.state_at(np.array(self.model.init(moves.rng), dtype=float))
        if not math.isfinite(self.state.logp):
            raise ValueError(f"The log density at the start of a chain is {self.state.logp}.")
        moves.step = self.state.theta.size**_STEP_POWER
        moves.first_step(self.state)
        self.adapter.restart(moves.step)

    def warm_up(self, step: int, warmup: int) -> None:
        """A transition that adapts step size and metric."""
        moves = self.trajectories
        self._change_windows(step, warmup)
        made = moves.move(self.state)
        self.state = made.state
        self.adapter.update(made.acceptance)
        moves.step = self.adapter.value
        if self.window is not None:
            self.window.add(self.state.theta, self.state.gradient)
        if step + 1 == warmup:
            self.adapter.freeze()
            moves.step = self.adapter.value

    def _change_windows(self, step, warmup):
        """Where a window ends take its metric, with a new step size, and begin the next one."""
        kind = self.trajectories.options.metric
        first, ends = (warmup, []) if kind == "given" else schedule(warmup)
        edges = dict(zip([first, *ends], [*ends, None], strict=True))
        if step not in edges:
            return
        if self.window is not None:
            self.trajectories.metric = self.window.metric(self.model)
            self.trajectories.enter(self.state)
            self.trajectories.first_step(self.state)
            self.adapter.restart(self.trajectories.step)
        until = edges[step]
        self.window = until and MetricWindow(self.model.n_parameters, kind, until - step)

    def move(self) -> None:
        """A transition."""
        self._made.append(self.trajectories.move(self.state))
        self.state = self._made[-1].state

    def draw(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the model observes and traces, and statistics of the transitions."""
        theta = self.state.theta
        trace = _statistics(self._made, self.trajectories.step) | self.model.trace(theta)
        self._made = []
        return self.model.observe(theta), trace

    def snapshot(self) -> dict[str, Any]:
        """Place, generator, metric, and what is being learned."""
        moves = self.trajectories
        learned = {"adapter": self.adapter, "window": self.window}
        known = {"rng": moves.rng, "metric": moves.metric, "step": moves.step}
        return {"place": self.state.without_momentum(), **known, **learned}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go to where a snapshot was made."""
        moves = self.trajectories
        for name in ("rng", "metric", "step"):
            setattr(moves, name, snapshot[name])
        self.adapter, self.window = snapshot["adapter"], snapshot["window"]
        self.state = State.of(snapshot["place"])


def hmc_chain(
    options: HamiltonianOptions,
    model: HamiltonianModel,
    settings: Settings,
    record: ChainRecord,
    seed: np.random.SeedSequence,
    control: Control,
    index: int,
    run: Run,
) -> None:
    """Run one chain: a warm-up that adapts, then draws ``thin`` transitions apart.

    Parameters are ``options``, and those that `chains.run_chains` gives a chain; ``run`` is not
    used, as a gradient is one block of work.
    """
    run_chain(HamiltonianSampler(options, model, seed), settings, record, control, index)


def _statistics(made, step):
    """Per-draw statistics of the transitions that led to a draw."""
    last = made[-1].state
    return {
        "lp": last.logp,
        "energy": last.energy,
        "acceptance": sum(t.acceptance for t in made) / len(made),
        "n_leapfrog": sum(t.n_leapfrog for t in made),
        "divergent": sum(t.divergent for t in made),
        "tree_depth": max(t.depth for t in made),
        "step_size": step,
    }


def sample_hmc(
    model: HamiltonianModel,
    settings: Settings,
    options: HamiltonianOptions | None = None,
    *,
    n_chains: int,
    seeds: np.random.SeedSequence,
    n_jobs: int | None = None,
    split_blocks: bool = False,
    verbose: int = 0,
    states: Sequence[dict[str, Any]] | None = None,
) -> Result:
    """Draw from the posterior of a model that offers `HamiltonianModel`.

    Parameters
    ----------
    model : HamiltonianModel
    settings : Settings
    options : HamiltonianOptions, optional
        NUTS with a diagonal metric by default.
    n_chains, seeds, n_jobs, split_blocks, verbose, states
        As in `chains.run_chains`.

    Returns
    -------
    Result
        Statistics of every draw: ``lp`` (log density), ``energy`` (of the state drawn),
        ``acceptance``, ``n_leapfrog`` (gradients), ``divergent``, ``tree_depth``, ``step_size``.
        Facts: ``divergences`` (their number after warm-up), ``saturated`` (the share of draws
        at the largest tree depth) and ``standstill`` (the most draws of a chain in a row that are
        one state).

    Raises
    ------
    TypeError
        If the model does not offer `HamiltonianModel`.
    ValueError
        If the log density at the start of a chain is not finite.
    KeyboardInterrupt
        If interrupted before any draw was made.

    Warns
    -----
    ConvergenceWarning
        If trajectories diverged, or ended at the largest tree depth.
    """
    require(model, HamiltonianModel, "hmc")
    options = HamiltonianOptions() if options is None else options
    result = run_chains(
        functools.partial(hmc_chain, options),
        model,
        settings,
        n_chains=n_chains,
        seeds=seeds,
        n_jobs=n_jobs,
        split_blocks=split_blocks,
        verbose=verbose,
        states=states,
    )
    stats = result.stats
    depth = stats["tree_depth"]
    result.facts["divergences"] = int(stats["divergent"].sum())
    result.facts["saturated"] = float(np.mean(depth >= options.max_depth))
    warn_of_trajectories(result.facts, depth.size, options)
    result.facts["standstill"] = int(longest_standstill(stats["lp"]).max())
    return result


def warn_of_trajectories(
    facts: Mapping[str, Any], n_draws: int, options: HamiltonianOptions
) -> None:
    """ConvergenceWarning if trajectories diverged, or too many ended at the largest tree depth.

    Parameters
    ----------
    facts : mapping
        With ``divergences`` and ``saturated``.
    n_draws : int
        Draws of all chains together.
    options : HamiltonianOptions
    """
    if facts["divergences"]:
        warn_user(
            f"{facts['divergences']} of the trajectories that led to {n_draws} draws diverged: the "
            "posterior bends more sharply there than the step size can follow, and draws from "
            "such places are missing. Raise target_accept toward 1 (smaller steps) or warmup; "
            "if that does not help, the priors leave the posterior a narrow funnel: make them "
            "tighter.",
            ConvergenceWarning,
        )
    if facts["saturated"] > _SATURATED:
        warn_user(
            f"{100 * facts['saturated']:.3g} % of the trajectories were cut at the largest tree "
            f"depth, {options.max_depth}: draws are correct but correlated. Raise warmup, so that "
            "the metric is learned better.",
            ConvergenceWarning,
        )

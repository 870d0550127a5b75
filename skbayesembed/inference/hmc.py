"""Chains of Hamiltonian samplers: the warm-up, the draws, and warnings about them.

A chain is made of transitions, which are in `trajectories`. During warm-up it learns its step size
and metric by the means of `adaptation`. This module puts the two together.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.random import generators
from ..common.warnings import warn_user
from .adaptation import Metric, MetricWindow, StepSize, schedule
from .chains import ChainRecord, Control, Settings, run_chains
from .contracts import HamiltonianModel, Result, Run, require
from .trajectories import HamiltonianOptions, Trajectories

# The first guess of the step size is the number of parameters to this power, which is how the step
# of a given acceptance falls with their number (Beskos et al. 2013).
_STEP_POWER = -0.25
# Share of trajectories cut at the largest depth above which there is a warning.
_SATURATED = 0.01


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
    rng = generators(seed, 1)[0]
    scale = np.array(model.scale, dtype=float)
    sampler = Trajectories(model, options, rng, Metric(np.zeros_like(scale), scale))
    state = sampler.state_at(np.array(model.init(rng), dtype=float))
    if not math.isfinite(state.logp):
        raise ValueError(f"The log density at the start of a chain is {state.logp}.")
    done = 0
    for moved in _warm_up(sampler, state, settings.warmup):
        state = moved
        done += 1
        control.progress.update(index, done)
        if control.stopped:
            return
    for _ in range(settings.draws):
        made = []
        for _ in range(settings.thin):
            made.append(sampler.move(state))
            state = made[-1].state
            done += 1
            control.progress.update(index, done)
        trace = _statistics(made, sampler.step) | model.trace(state.theta)
        record.store(settings, model.observe(state.theta), trace)
        if control.stopped:
            return


def _warm_up(sampler, state, warmup):
    """Make ``warmup`` transitions that adapt step size and metric; yields the state after each."""
    sampler.step = state.theta.size**_STEP_POWER
    sampler.first_step(state)
    adapter = StepSize(sampler.options.target)
    adapter.restart(sampler.step)
    given = sampler.options.metric == "given"
    first, ends = (warmup, []) if given else schedule(warmup)
    edges = dict(zip([first, *ends], [*ends, None], strict=True))
    window = None
    for i in range(warmup):
        if i in edges:
            if window is not None:
                _change_metric(sampler, state, window.metric())
                adapter.restart(sampler.step)
            until = edges[i]
            kind = sampler.options.metric
            window = until and MetricWindow(sampler.model, kind, until - i)
        made = sampler.move(state)
        state = made.state
        adapter.update(made.acceptance)
        sampler.step = adapter.value
        if window is not None:
            window.add(state.theta, state.gradient)
        yield state
    adapter.freeze()
    sampler.step = adapter.value


def _change_metric(sampler, state, metric):
    """Give the sampler another metric, and a step size to begin with in it."""
    sampler.metric = metric
    sampler.enter(state)
    sampler.first_step(state)


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
) -> Result:
    """Draw from the posterior of a model that offers `HamiltonianModel`.

    Parameters
    ----------
    model : HamiltonianModel
    settings : Settings
    options : HamiltonianOptions, optional
        NUTS with a diagonal metric by default.
    n_chains, seeds, n_jobs, split_blocks, verbose
        As in `chains.run_chains`.

    Returns
    -------
    Result
        Statistics of every draw: ``lp`` (log density), ``energy`` (of the state drawn),
        ``acceptance``, ``n_leapfrog`` (gradients), ``divergent``, ``tree_depth``, ``step_size``.
        Facts: ``divergences`` (their number after warm-up) and ``saturated`` (the share of draws
        at the largest tree depth).

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
    )
    stats = result.stats
    depth = stats["tree_depth"]
    result.facts["divergences"] = int(stats["divergent"].sum())
    result.facts["saturated"] = float(np.mean(depth >= options.max_depth))
    warn_of_trajectories(result.facts, depth.size, options)
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
            "such places are missing. Raise target_accept towards 1 (smaller steps) or warmup; "
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

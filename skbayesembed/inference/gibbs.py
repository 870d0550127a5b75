"""The loop of sweeps that every Gibbs sampler runs; what a sweep does is up to the model."""

from __future__ import annotations

import numpy as np

from ..common.random import generators
from .chains import ChainRecord, Control, Settings, run_chains
from .contracts import Conditionals, Result, Run, require


def gibbs_chain(
    model: Conditionals,
    settings: Settings,
    record: ChainRecord,
    seed: np.random.SeedSequence,
    control: Control,
    index: int,
    run: Run,
) -> None:
    """Run one chain: a warm-up that tunes, then draws ``thin`` sweeps apart into ``record``.

    Parameters are those that `chains.run_chains` gives a chain.
    """
    rngs = generators(seed, model.n_streams)
    state = model.init_state(rngs)
    done = 0
    for step in range(settings.warmup):
        model.sweep(state, rngs, run)
        model.tune(state, step, settings.warmup)
        done += 1
        control.progress.update(index, done)
        if control.stopped:
            return
    for _ in range(settings.draws):
        for _ in range(settings.thin):
            model.sweep(state, rngs, run)
            done += 1
            control.progress.update(index, done)
        record.store(settings, model.observe(state), model.trace(state))
        if control.stopped:
            return


def sample_gibbs(
    model: Conditionals,
    settings: Settings,
    *,
    n_chains: int,
    seeds: np.random.SeedSequence,
    n_jobs: int | None = None,
    split_blocks: bool = False,
    verbose: int = 0,
) -> Result:
    """Draw from the posterior of a model that offers `Conditionals`.

    Parameters
    ----------
    model : Conditionals
    settings : Settings
    n_chains, seeds, n_jobs, split_blocks, verbose
        As in `chains.run_chains`.

    Returns
    -------
    Result

    Raises
    ------
    TypeError
        If the model does not offer `Conditionals`.
    KeyboardInterrupt
        If interrupted before any draw was made.
    """
    require(model, Conditionals, "gibbs")
    return run_chains(
        gibbs_chain,
        model,
        settings,
        n_chains=n_chains,
        seeds=seeds,
        n_jobs=n_jobs,
        split_blocks=split_blocks,
        verbose=verbose,
    )

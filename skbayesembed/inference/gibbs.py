"""The loop of sweeps that every Gibbs sampler runs; what a sweep does is up to the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..common.random import generators
from .chains import Control, run_chains
from .contracts import Conditionals, Result, Run, require
from .records import ChainRecord, Settings
from .stepping import run_chain


class GibbsSampler:
    """`Sampler` of a model that offers `Conditionals`.

    Parameters
    ----------
    model : Conditionals
    seed : numpy.random.SeedSequence
    run : callable
        Maps a function over blocks of work.
    """

    def __init__(self, model: Conditionals, seed: np.random.SeedSequence, run: Run) -> None:
        self.model, self.run = model, run
        self.rngs = generators(seed, model.n_streams)
        self.state: Any = None

    def begin(self) -> None:
        """Go to the start of the chain."""
        self.state = self.model.init_state(self.rngs)

    def warm_up(self, step: int, warmup: int) -> None:
        """A sweep, after which the model tunes."""
        self.move()
        self.model.tune(self.state, step, warmup)

    def move(self) -> None:
        """A sweep."""
        self.model.sweep(self.state, self.rngs, self.run)

    def draw(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the model observes and traces."""
        return self.model.observe(self.state), self.model.trace(self.state)

    def snapshot(self) -> dict[str, Any]:
        """The model's state and the generators."""
        return {"state": self.state, "rngs": self.rngs}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go to where a snapshot was made."""
        self.state, self.rngs = snapshot["state"], snapshot["rngs"]


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
    run_chain(GibbsSampler(model, seed, run), settings, record, control, index)


def sample_gibbs(
    model: Conditionals,
    settings: Settings,
    *,
    n_chains: int,
    seeds: np.random.SeedSequence,
    n_jobs: int | None = None,
    split_blocks: bool = False,
    verbose: int = 0,
    states: Sequence[dict[str, Any]] | None = None,
) -> Result:
    """Draw from the posterior of a model that offers `Conditionals`.

    Parameters
    ----------
    model : Conditionals
    settings : Settings
    n_chains, seeds, n_jobs, split_blocks, verbose, states
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
        states=states,
    )

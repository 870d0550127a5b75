"""The course of one chain: warm-up, draws, and where it goes on after it was ended.

What a sweep does is up to the sampler, which offers `Sampler`.
"""

from __future__ import annotations

from typing import Any, Protocol

from .chains import Control
from .records import ChainRecord, Settings


class Sampler(Protocol):
    """One chain of a sampler, between any two sweeps of which it can be written and taken up."""

    def begin(self) -> None:
        """Go to the start of the chain."""

    def warm_up(self, step: int, warmup: int) -> None:
        """Make sweep number ``step`` (from 0) of ``warmup`` of warm-up, and learn from it."""

    def move(self) -> None:
        """Make one sweep after warm-up."""

    def draw(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Named arrays of the present draw, and statistics of the moves since the one before."""

    def snapshot(self) -> dict[str, Any]:
        """All that the further course depends on, between two draws; it is not copied."""

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go to where a snapshot was made."""


def run_chain(
    sampler: Sampler, settings: Settings, record: ChainRecord, control: Control, index: int
) -> None:
    """Run a chain from its start, or from its checkpoint: a warm-up, then draws into ``record``.

    Parameters
    ----------
    sampler : Sampler
    settings : Settings
    record : ChainRecord
    control : Control
    index : int
        Number of the chain.
    """
    stage = control.stage(index)
    found = None if stage is None else record.read(stage, settings)
    done = 0 if found is None else found["done"]

    def ends_after(phase_end):
        if stage is not None and (phase_end or control.stopped or stage.due):
            record.write(stage, settings, {"sampler": sampler.snapshot(), "done": done})
        return control.stopped

    if found is None and record.state is not None:
        sampler.restore(record.state)
    elif found is None:
        sampler.begin()
        # at once, so that a state that cannot be written is told of before the work
        ends_after(True)
    else:
        sampler.restore(found["sampler"])
        control.progress.update(index, done)

    while done < settings.warmup:
        sampler.warm_up(done, settings.warmup)
        done += 1
        control.progress.update(index, done)
        if ends_after(done == settings.warmup):
            return
    while record.n_draws < settings.draws:
        for _ in range(settings.thin):
            sampler.move()
            done += 1
            control.progress.update(index, done)
        record.store(settings, *sampler.draw())
        if ends_after(record.n_draws == settings.draws):
            break
    record.state = sampler.snapshot()

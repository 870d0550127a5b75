"""The alias sampler of Li et al. (2014), as Das et al. (2015) have it, but exact.

Kept for comparison with the published sampler: ``kernel="sampled"`` is faster and mixes as well.

A Metropolis-Hastings step per token: proposals come from a table of predictive weights, through
alias tables, and are accepted by the exact collapsed ratio. The table is frozen when warm-up ends.
Until then, and in every eighth sweep after it, documents are dealt into two hands and the table for
one is built from the tokens of the other, so that a proposal never depends on a token that it is
for.

A frozen table hardly proposes what was unlikely when it was made, and of few tokens all may have
changed since: chains would stay for 1e5 sweeps where full conditionals leave after some hundred.
Every eighth sweep, half-way between the others, is one of ``kernel="sampled"``.
"""

from __future__ import annotations

import numpy as np

from ..gibbs import kernels
from ..gibbs.collapsed import CollapsedTopics
from ..niw_kernels import relative_weights
from . import alias_kernels

# Log of the smallest weight of a proposal, relative to the largest.
_FLOOR = -25.0
# Of so many sweeps with a frozen table one has tables from the other half, and one has none.
_EVERY = 8
_DEAL, _SAMPLE = _EVERY - 1, _EVERY // 2 - 1
_HANDS = 2


class AliasTopics(CollapsedTopics):
    """``kernel="alias"``: tokens move by proposals; ``acceptance`` is traced besides."""

    kernel = "alias"

    def tune(self, state, step, warmup):
        """Learn alpha, choose the kind of the next sweep, freeze the table at the end."""
        super().tune(state, step, warmup)
        if step + 1 >= warmup:
            state.table = self._proposals(state.posterior, state.alpha)

    def trace(self, state):
        """``lp``, ``moved``, ``smallest`` and ``acceptance``."""
        return super().trace(state) | {"acceptance": state.acceptance}

    def _step(self, state, rngs, run):
        """A sweep of this sampler's own; returns how many tokens moved."""
        place = _DEAL if state.table is None else state.n_sweeps % _EVERY
        if place == _SAMPLE:
            return self._sampled(state, rngs, run)
        if place != _DEAL:
            numbers = self._propose(state, self._all, state.table, rngs[1])
        else:
            numbers = 0
            for hand in range(_HANDS):
                # without gaps, so that kernels are compiled once
                mine = self._all[hand::_HANDS].copy()
                others = state.counts.copy()
                kernels.count_assignments(mine, self.entries, state.z, others, -1)
                table = self._proposals(self._posterior(others, run), state.alpha, run)
                numbers = numbers + self._propose(state, mine, table, rngs[1])
                self._refresh(state, run)
        proposed, accepted = numbers
        state.acceptance = accepted / max(1, proposed)
        return accepted

    def _propose(self, state, documents, table, rng):
        """A step for each token of the documents; returns how many were proposed and accepted."""
        return self._collapsed(alias_kernels.move_assignments, state, documents, table, rng)

    def _proposals(self, posterior, alpha, run=None):
        """`Proposals` of topics with this posterior."""
        n_words, k = self.documents.n_words, self.n_components
        logs = posterior.log_predictive(self.documents.vectors, self.power, run)
        made = alias_kernels.Proposals(
            np.empty((n_words, self._width)),
            np.empty(n_words),
            np.empty((n_words, k)),
            np.empty((n_words, k), np.int32),
        )
        relative_weights(logs, 1.0, _FLOOR, made.table, None)
        alias_kernels.alias_tables(made, alpha)
        return made

"""What a Metropolis chain learns in warm-up: its Gaussians, and how to move each block of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..density_kernels import pair_logits
from ..logistic_kernels import accumulate_curvature, linearise
from .kernels import curvature_dense

# The numbers below were chosen by hand. Draws are exact whatever they are: speed depends on them.
# Hamiltonian steps at the start, and at most.
_START_STEPS = 4
_MOST_STEPS = 64
# Share of warm-up in which the Gaussians are learned; the rest tries to do with fewer steps.
_LEARN = 0.7
# Share of that after which the Gaussians are built anew only once more, at its end.
_LAST_WINDOW = 0.6
# Below so many sweeps every one of them is learned from, otherwise every second.
_FEW_SWEEPS = 20
# Shorter warm-ups have no time to try fewer steps.
_TRIAL_WARMUP = 40
# A block moves well where words accept this share on average, and the twentieth that accepts least
# this share; it needs fewer steps above, and is stuck where hardly any word moves.
_GOOD, _GOOD_LOW = 0.8, 0.5
_EASY, _EASY_LOW = 0.97, 0.9
_STUCK = 0.3
_LOW_QUANTILE = 0.05


@dataclass
class Tuning:
    """State of the learning of one chain; frozen after warm-up.

    Attributes
    ----------
    weight, shift : list of two float32 arrays
        Per side and pair: precision weights and linear terms of the Gaussians.
    n_steps : list of two int arrays
        Hamiltonian steps of each block of words, by side.
    forced : list of two bool arrays
        Blocks that are stuck and get approximate sweeps, in warm-up only.
    rescued : list of two bool arrays
        Blocks that stayed stuck and are left to the Polya-Gamma kernel.
    sums : tuple of two float32 arrays, optional
        Sums of logits and slopes since the last refresh, while learning.
    n_sums : int
    trusted : list of two int arrays
        Step numbers known to work while fewer are on trial.
    settled : list of two bool arrays
        Blocks whose trial has succeeded.
    """

    weight: list
    shift: list
    n_steps: list
    forced: list
    rescued: list
    sums: tuple | None = None
    n_sums: int = 0
    trusted: list | None = None
    settled: list | None = None


class Tuner:
    """Learns a `Tuning` from the states of a chain.

    Parameters
    ----------
    model : SGNSModel
    """

    def __init__(self, model):
        self.model = model
        self.pairs = model.pairs

    def first(self, x):
        """A `Tuning` made from the start ``x`` of a chain."""
        blocks = self.model.blocks
        tuning = Tuning(
            weight=[np.empty_like(n, np.float32) for n in self.pairs.n],
            shift=[np.empty_like(n, np.float32) for n in self.pairs.n],
            n_steps=[np.full(len(b), _START_STEPS) for b in blocks],
            forced=[np.zeros(len(b), bool) for b in blocks],
            rescued=[np.zeros(len(b), bool) for b in blocks],
            sums=self.pairs.curvature_sums(),
        )
        self._accumulate(tuning, x)
        self._refresh(tuning)
        return tuning

    def tune(self, state, step, warmup):
        """Learn from the state after warm-up sweep ``step``; freeze after the last."""
        tuning = state.tuning
        learn = int(_LEARN * warmup)
        done = step + 1
        if done <= learn:
            self._learn(state, done, learn)
        if done >= learn and warmup >= _TRIAL_WARMUP:
            window = max((warmup - learn) // 2, 1)
            if done == learn:
                self._try_fewer(state)
            elif (done - learn) % window == 0:
                self._judge(state, last=done - learn >= 2 * window)
        if done == warmup:
            tuning.sums = None
            self._clear(state)

    def _learn(self, state, done, learn):
        """Average logits and slopes over windows that double: sweeps 3, 11, 27, 59, ..., learn."""
        tuning = state.tuning
        if done % 2 or learn < _FEW_SWEEPS:
            self._accumulate(tuning, state.x)
        doubled = (done + 5) & (done + 4) == 0
        if done == learn or (doubled and done < _LAST_WINDOW * learn):
            self._refresh(tuning)
            self._adjust(state, last=done == learn)
        if done == learn:
            tuning.sums = None

    def _accumulate(self, tuning, x):
        pairs = self.pairs
        rho, alpha = x
        if pairs.dense:
            curvature_dense(rho, alpha, pairs.chunk, *tuning.sums)
        else:
            buffer = np.empty(pairs.n_pairs)
            pair_logits(0, pairs.n_words, pairs.indptr[0], pairs.indices[0], rho, alpha, buffer)
            accumulate_curvature(buffer, *tuning.sums)
        tuning.n_sums += 1

    def _refresh(self, tuning):
        if tuning.n_sums == 0:
            return
        pairs = self.pairs
        linearise(
            *(a.ravel() for a in tuning.sums), np.float32(1.0 / tuning.n_sums), pairs.n[0].ravel(),
            pairs.kappa[0].ravel(), tuning.weight[0].ravel(), tuning.shift[0].ravel(),
        )  # fmt: skip
        tuning.weight = pairs.both_sides(tuning.weight[0])
        tuning.shift = pairs.both_sides(tuning.shift[0])
        for array in tuning.sums:
            array[:] = 0
        tuning.n_sums = 0

    def _clear(self, state):
        for accepted in state.accepted:
            accepted[:] = 0
        state.n_moves = 0

    def _acceptance(self, state, side):
        """Mean and fifth percentile over the movable words of each block, since the last look."""
        out = []
        for a, b in self.model.blocks[side]:
            rate = state.accepted[side][a:b][self.model.movable[side][a:b]]
            rate = rate / max(state.n_moves, 1)
            out.append((rate.mean(), np.quantile(rate, _LOW_QUANTILE)) if rate.size else (1.0, 1.0))
        return np.array(out).T

    def _adjust(self, state, last):
        tuning = state.tuning
        for side in (0, 1):
            mean, low = self._acceptance(state, side)
            n, was_forced = tuning.n_steps[side], tuning.forced[side]
            poor = (mean < _GOOD) | (low < _GOOD_LOW)
            easy = (mean > _EASY) & (low > _EASY_LOW)
            more = np.minimum(2 * n, _MOST_STEPS)
            fewer = np.maximum(n // 2, 2)
            changed = np.where(poor, more, np.where(easy, fewer, n))
            stuck = (mean < _STUCK) & ~was_forced
            tuning.n_steps[side] = np.where(was_forced | stuck, _START_STEPS, changed)
            tuning.forced[side] = stuck & (not last)
            if last:
                # no exact sweep has shown that a block moves since it was forced
                tuning.rescued[side] = stuck | was_forced
        self._clear(state)

    def _try_fewer(self, state):
        tuning = state.tuning
        tuning.trusted = tuning.n_steps
        tuning.settled = [np.zeros(len(n), bool) for n in tuning.n_steps]
        tuning.n_steps = [np.zeros_like(n) for n in tuning.n_steps]
        self._clear(state)

    def _judge(self, state, last):
        tuning = state.tuning
        for side in (0, 1):
            mean, low = self._acceptance(state, side)
            tuning.settled[side] |= (mean > _GOOD) & (low > _GOOD_LOW)
            following = tuning.trusted[side] if last else np.full_like(tuning.n_steps[side], 2)
            tuning.n_steps[side] = np.where(tuning.settled[side], tuning.n_steps[side], following)
        self._clear(state)

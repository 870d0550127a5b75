"""The model's conditionals: all targets given the contexts, then all contexts given the targets.

Given the other side, the words of one side are independent logistic regressions with Gaussian
priors. Two kernels update them exactly:

- ``"polya-gamma"``: one Polya-Gamma variable a pair, then the Gaussian conditional
  (Yrjänäinen et al. 2025, Algorithm 1, continued from the current vector);
- ``"metropolis"``: a Metropolis step per word around a Gaussian that is built from the opposite
  vectors and from mean logits and slopes of the pairs, learned in warm-up and then frozen. Both
  are the same in every rotation of the embedding, and the Gaussian never depends on the word's
  current vector, so the step is exact. How many Hamiltonian steps correct the Gaussian (none
  where it fits) is learned in warm-up as well, per unit of work.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from ..inference.polyagamma import PolyaGammaDraws
from .gaussian_kernels import outer_table
from .kernels import (
    curvature_dense,
    gaussian_dense,
    gaussian_sparse,
    metropolis_dense,
    metropolis_sparse,
    pair_logits,
)
from .logistic_kernels import accumulate_curvature, linearise
from .model import canonical_rotation

# A unit without Hamiltonian steps gets this many in every `_RESCUE_EVERY`-th sweep: the Gaussian
# proposal alone can hold a chain in a tail that it underrates.
_RESCUE_STEPS = 4
_RESCUE_EVERY = 8
_START_STEPS = 4
# Moves turn by 135 degrees in the whitened space instead of a quarter turn, to beyond the mean:
# such over-relaxed moves halve the random walk along directions that couple both sides. On the
# Python reference the effective sample size of logits doubled at no cost (benchmarks/README.md).
_TURN = 0.75 * np.pi
_MOST_STEPS = 64


@dataclass
class Tuning:
    """What a Metropolis chain has learned: frozen after warm-up.

    Attributes
    ----------
    weight, shift : list of two float32 arrays
        Per side and pair: precision weights and linear terms of the Gaussians.
    n_steps : list of two int arrays
        Hamiltonian steps of each unit of each side.
    sums : tuple of two float32 arrays, optional
        Sums of logits and slopes since the last refresh, while learning.
    n_sums : int
    trusted : list of two int arrays
        Step numbers known to work while fewer are on trial.
    """

    weight: list
    shift: list
    n_steps: list
    sums: tuple | None = None
    n_sums: int = 0
    trusted: list | None = None
    settled: list | None = None


@dataclass
class ChainState:
    """Current vectors ``x[0] = rho``, ``x[1] = alpha`` and the counters of a chain."""

    x: list
    tuning: Tuning | None = None
    accepted: list = field(default_factory=list)
    n_moves: int = 0
    n_sweeps: int = 0
    window: list = field(default_factory=list)
    n_window: int = 0


class SGNSConditionals:
    """`Conditionals` of an `SGNSModel` for the Gibbs engine.

    Parameters
    ----------
    model : SGNSModel
    kernel : {"metropolis", "polya-gamma"}
    pivots : ndarray of int of shape (n_components,)
        Contexts that define the frame of recorded draws where the model has no anchors.
    monitored : ndarray of int of shape (n_monitored, 2)
        Pairs (target, context) whose logits are traced.
    start : dict of ndarray, optional
        Vectors around which chains start; ``model.start`` alone where None.
    """

    def __init__(self, model, kernel, pivots, monitored, start=None):
        self.model = model
        self.kernel = kernel
        self.pivots = pivots
        self.monitored = monitored
        self.start = start
        self._first = [0, len(model.units[0])]
        self.n_streams = 1 + len(model.units[0]) + len(model.units[1])
        self._plans = None
        self._lock = threading.Lock()

    def __getstate__(self):
        state = self.__dict__.copy()
        state["_plans"] = None
        del state["_lock"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def init_state(self, rng):
        """A start: random, or around ``start`` with half the random spread."""
        arrays = self.model.start(rng[0])
        if self.start is not None:
            for name in arrays:
                arrays[name] = self.start[name] + 0.5 * arrays[name]
            if self.model.anchors is not None:
                arrays["alpha"][self.model.anchors] = self.model.anchor_values
        n_words = self.model.n_words
        state = ChainState([arrays["rho"], arrays["alpha"]])
        state.accepted = [np.zeros(n_words), np.zeros(n_words)]
        state.window = [np.zeros(n_words), np.zeros(n_words)]
        if self.kernel == "metropolis":
            state.tuning = self._first_tuning(state.x)
        else:
            self._prepare_polya_gamma()
        return state

    def sweep(self, state, rng, run):
        """Update every target given the contexts, then every context given the targets."""
        update = self._metropolis if self.kernel == "metropolis" else self._polya_gamma
        for side in (0, 1):
            update(state, side, rng, run)
        state.n_moves += 1
        state.n_window += 1
        state.n_sweeps += 1

    def observe(self, state):
        """``rho`` and ``alpha`` of this draw; rotated to the pivots' frame without anchors."""
        rho, alpha = state.x
        if self.model.anchors is None:
            rotation = canonical_rotation(alpha[self.pivots])
            rho, alpha = rho @ rotation, alpha @ rotation
        return {"rho": rho, "alpha": alpha}

    def trace(self, state):
        """Logits of the monitored pairs and the mean acceptance since the last draw."""
        rho, alpha = state.x
        logit = np.einsum("ij,ij->i", rho[self.monitored[:, 0]], alpha[self.monitored[:, 1]])
        moves = sum(int(movable.sum()) for movable in self.model.movable) * max(state.n_moves, 1)
        accepted = sum(a.sum() for a in state.accepted) if state.tuning else moves
        for a in state.accepted:
            a[:] = 0
        state.n_moves = 0
        return {"logit": logit, "acceptance": accepted / moves}

    # -- Metropolis ------------------------------------------------------------------------------

    def _first_tuning(self, x):
        pairs = self.model.pairs
        tuning = Tuning(
            weight=[np.empty_like(n, np.float32) for n in pairs.n],
            shift=[np.empty_like(n, np.float32) for n in pairs.n],
            n_steps=[np.full(len(u), _START_STEPS) for u in self.model.units],
            sums=pairs.curvature_sums(),
        )
        self._accumulate(tuning, x)
        self._refresh(tuning)
        return tuning

    def _metropolis(self, state, side, rng, run):
        pairs, model, tuning = self.model.pairs, self.model, state.tuning
        x, y = state.x[side], state.x[1 - side]
        y32 = y.astype(np.float32)
        if pairs.dense:
            outer = np.empty((y.shape[0], y.shape[1] * (y.shape[1] + 1) // 2), np.float32)
            outer_table(y32, outer)
        tasks = []
        prior = model.prior
        for u, (a, b) in enumerate(model.units[side]):
            steps = int(tuning.n_steps[side][u])
            if steps == 0 and state.n_sweeps % _RESCUE_EVERY == _RESCUE_EVERY - 1:
                steps = _RESCUE_STEPS
            stream = rng[1 + self._first[side] + u]
            if pairs.dense:
                tasks.append((
                    x[a:b], y, y32, outer, pairs.n[side][a:b], pairs.kappa[side][a:b],
                    tuning.weight[side][a:b], tuning.shift[side][a:b], prior,
                    model.movable[side][a:b], steps, _TURN, pairs.chunk, stream,
                    state.accepted[side][a:b],
                ))  # fmt: skip
            else:
                tasks.append((
                    a, b, pairs.indptr[side], pairs.indices[side], x, y, y32, pairs.n[side],
                    pairs.kappa[side], tuning.weight[side], tuning.shift[side], prior,
                    model.movable[side], steps, _TURN, stream, state.accepted[side],
                ))  # fmt: skip
        run(metropolis_dense if pairs.dense else metropolis_sparse, tasks)

    def tune(self, state, step, warmup):
        """Learn the Gaussians for 70 % of the warm-up, then try to do with fewer steps."""
        tuning = state.tuning
        if tuning is None:
            return
        learn = int(0.7 * warmup)
        done = step + 1
        if tuning.sums is not None and done <= learn:
            if done % 2 or learn < 20:
                self._accumulate(tuning, state.x)
            if done == learn or ((done + 5) & (done + 4) == 0 and done < 0.6 * learn):
                self._refresh(tuning)
                self._adjust_steps(state)
        if done == learn:
            tuning.sums = None
        if done >= learn and warmup >= 40:
            window = max((warmup - learn) // 2, 1)
            if done == learn:
                self._try_fewer(state)
            elif (done - learn) % window == 0:
                self._judge(state, last=done - learn >= 2 * window)
        if done == warmup:
            tuning.sums = None
            tuning.n_steps = [
                np.where(ok, n, trusted)
                for ok, n, trusted in zip(
                    tuning.settled or [True, True],
                    tuning.n_steps,
                    tuning.trusted or tuning.n_steps,
                    strict=True,
                )
            ]
            self._clear_window(state)

    def _accumulate(self, tuning, x):
        pairs = self.model.pairs
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
        pairs = self.model.pairs
        linearise(
            *(a.ravel() for a in tuning.sums), np.float32(1.0 / tuning.n_sums), pairs.n[0].ravel(),
            pairs.kappa[0].ravel(), tuning.weight[0].ravel(), tuning.shift[0].ravel(),
        )  # fmt: skip
        tuning.weight = pairs.both_sides(tuning.weight[0])
        tuning.shift = pairs.both_sides(tuning.shift[0])
        for array in tuning.sums:
            array[:] = 0
        tuning.n_sums = 0

    def _clear_window(self, state):
        for accepted in state.accepted:
            accepted[:] = 0
        state.n_window = state.n_moves = 0

    def _unit_acceptance(self, state, side):
        """Mean and fifth percentile over the movable words of each unit, since the last look."""
        out = []
        for a, b in self.model.units[side]:
            rate = state.accepted[side][a:b][self.model.movable[side][a:b]]
            rate = rate / max(state.n_window, 1)
            out.append((rate.mean(), np.quantile(rate, 0.05)) if rate.size else (1.0, 1.0))
        return np.array(out)

    def _adjust_steps(self, state):
        for side in (0, 1):
            mean, low = self._unit_acceptance(state, side).T
            n = state.tuning.n_steps[side]
            poor = (mean < 0.8) | (low < 0.5)
            easy = (mean > 0.97) & (low > 0.9)
            more = np.minimum(2 * n, _MOST_STEPS)
            fewer = np.maximum(n // 2, 2)
            state.tuning.n_steps[side] = np.where(poor, more, np.where(easy, fewer, n))
        self._clear_window(state)

    def _try_fewer(self, state):
        tuning = state.tuning
        tuning.trusted = tuning.n_steps
        tuning.settled = [np.zeros(len(n), bool) for n in tuning.n_steps]
        tuning.n_steps = [np.zeros_like(n) for n in tuning.n_steps]
        self._clear_window(state)

    def _judge(self, state, last):
        tuning = state.tuning
        for side in (0, 1):
            mean, low = self._unit_acceptance(state, side).T
            tuning.settled[side] |= (mean > 0.8) & (low > 0.5)
            following = tuning.trusted[side] if last else np.full_like(tuning.n_steps[side], 2)
            tuning.n_steps[side] = np.where(tuning.settled[side], tuning.n_steps[side], following)
        self._clear_window(state)

    # -- Polya-Gamma -----------------------------------------------------------------------------

    def _prepare_polya_gamma(self):
        with self._lock:
            if self._plans is None:
                pairs = self.model.pairs
                self._plans = [
                    [
                        _DensePlan(pairs, side, a, b)
                        if pairs.dense
                        else _SparsePlan(pairs, side, a, b)
                        for a, b in units
                    ]
                    for side, units in enumerate(self.model.units)
                ]

    def _polya_gamma(self, state, side, rng, run):
        model = self.model
        x, y = state.x[side], state.x[1 - side]
        shared = None
        if model.pairs.dense:
            shared = np.empty((y.shape[0], y.shape[1] * (y.shape[1] + 1) // 2))
            outer_table(y, shared)
        first = 1 + self._first[side]
        run(
            _polya_gamma_unit,
            [
                (plan, model, side, x, y, shared, rng[first + u])
                for u, plan in enumerate(self._plans[side])
            ],
        )


class _DensePlan:
    def __init__(self, pairs, side, start, stop):
        self.start, self.stop = start, stop
        self.observed = np.flatnonzero(pairs.n[side][start:stop])
        self.draws = PolyaGammaDraws(pairs.n[side][start:stop].ravel()[self.observed])
        self.full = self.observed.size == (stop - start) * pairs.n_words

    def update(self, model, side, x, y, outer, rng):
        a, b = self.start, self.stop
        logit = (x[a:b] @ y.T).ravel()
        omega = np.empty(self.observed.size)
        if self.full:
            self.draws.draw(logit, rng, omega)
        else:
            self.draws.draw(logit[self.observed], rng, omega)
            logit[:] = 0.0
            logit[self.observed] = omega
            omega = logit
        packed = omega.reshape(b - a, -1) @ outer
        linear = model.pairs.kappa[side][a:b] @ y
        gaussian_dense(packed, linear, model.prior, model.movable[side][a:b], rng, x[a:b])


class _SparsePlan:
    def __init__(self, pairs, side, start, stop):
        self.start, self.stop = start, stop
        lo, hi = pairs.indptr[side][start], pairs.indptr[side][stop]
        self.draws = PolyaGammaDraws(pairs.n[side][lo:hi])
        self.size = int(hi - lo)

    def update(self, model, side, x, y, outer, rng):
        pairs, a, b = model.pairs, self.start, self.stop
        indptr, indices = pairs.indptr[side], pairs.indices[side]
        logit = np.empty(self.size)
        pair_logits(a, b, indptr, indices, x, y, logit)
        omega = np.empty(self.size)
        self.draws.draw(logit, rng, omega)
        gaussian_sparse(
            a, b, indptr, indices, omega, pairs.kappa[side], y, model.prior,
            model.movable[side], rng, x,
        )  # fmt: skip


def _polya_gamma_unit(plan, model, side, x, y, outer, rng):
    plan.update(model, side, x, y, outer, rng)

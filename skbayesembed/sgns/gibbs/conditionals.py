"""The model's conditionals: all targets given the contexts, then all contexts given the targets.

Given the other side, the words of one side are independent logistic regressions with Gaussian
priors. Two kernels update them exactly:

- ``"polya-gamma"``: one Polya-Gamma variable a pair, then the Gaussian conditional
  (Yrjänäinen et al. 2025, Algorithm 1, continued from the current vector);
- ``"metropolis"``: a Metropolis step per word around a Gaussian that is built from the opposite
  vectors and from mean logits and slopes of the pairs, learned in warm-up and then frozen. Both
  are the same in every rotation of the embedding, and the Gaussian never depends on the word's
  current vector, so the step is exact. How many Hamiltonian steps correct the Gaussian (none
  where it fits) is learned in warm-up as well, per block of words.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np

from ...inference.blocks import Held, Once, over
from ...inference.polyagamma import BlockPlans, PolyaGammaDraws
from ..data import table_rows
from ..density_kernels import pair_logits
from .gaussian_kernels import outer_table
from .kernels import (
    DenseTable,
    Given,
    Move,
    RowPrior,
    SparseTable,
    gaussian_dense,
    gaussian_sparse,
    laplace_dense,
    laplace_sparse,
    metropolis_dense,
    metropolis_sparse,
)
from .tuning import Tuner, Tuning

# Every so many sweeps a Metropolis chain makes a Polya-Gamma sweep: moves about a Gaussian can hold
# a chain in a tail that it underrates, and no tuning in warm-up can rule that out.
_POLYA_GAMMA_EVERY = 64
# Moves turn by 135 degrees in the whitened space instead of a quarter turn, to beyond the mean:
# such over-relaxed moves halve the random walk along directions that couple both sides. On the
# Python reference the effective sample size of logits doubled at no cost (benchmarks/README.md).
_TURN = 0.75 * np.pi
# Observations of a pair below which its Polya-Gamma variable is zero to rounding.
_UNSEEN = 1e-30
# In the place of a table of products, where kernels need none.
_NO_TABLE = np.zeros((0, 0), np.float32)


@dataclass
class ChainState:
    """Current vectors ``x[0] = rho``, ``x[1] = alpha``, their prior, the counters of a chain.

    ``prior[side]`` holds the precisions and linear terms of each word's prior given all other
    words; ``tau`` is the prior precision of each component.
    """

    x: list
    tau: np.ndarray | None = None
    prior: list = field(default_factory=lambda: [None, None])
    tuning: Tuning | None = None
    accepted: list = field(default_factory=list)
    n_moves: int = 0
    n_sweeps: int = 0


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
        self._first = [0, len(model.blocks[0])]
        self.n_streams = 1 + len(model.blocks[0]) + len(model.blocks[1])
        self.tuner = Tuner(model)
        self._plan = BlockPlans(functools.partial(_plan, model))
        self._held = [
            Held(functools.partial(self._plan, side), len(model.blocks[side])) for side in (0, 1)
        ]

    def init_state(self, rngs):
        """A start: random, or around ``start`` with half that spread, less where data are many."""
        arrays = self.model.start_near(self.start, rngs[0])
        n_words = self.model.n_words
        state = ChainState([arrays["rho"], arrays["alpha"]], self.model.prior.tau.copy())
        for side in (0, 1):
            self._draw_prior(state, side, rngs[0])
        state.accepted = [np.zeros(n_words), np.zeros(n_words)]
        if self.kernel == "metropolis":
            state.tuning = self.tuner.first(state.x)
        return state

    def sweep(self, state, rngs, run):
        """Update every target given the contexts, then every context given the targets.

        A learned prior precision, and the auxiliary variables of a prior that couples words, are
        drawn as well.
        """
        update = self._metropolis if self.kernel == "metropolis" else self._polya_gamma
        prior = self.model.prior
        if prior.learned is not None:
            state.tau = prior.draw_tau(state.x, rngs[0])
        for side in (0, 1):
            if prior.changing:
                self._draw_prior(state, side, rngs[0])
            update(state, side, rngs, run)
        state.n_moves += 1
        state.n_sweeps += 1

    def _draw_prior(self, state, side, rng):
        """Each word's prior given the rest, by new auxiliary variables where words are coupled."""
        state.prior[side] = self.model.prior.local(side, state.x[side], state.tau, rng)

    def observe(self, state):
        """``rho`` and ``alpha`` of this draw, rotated without anchors; a learned ``tau``."""
        return self.model.observed(self.pivots, *state.x, state.tau)

    def trace(self, state):
        """Logits and target coordinates of the monitored pairs, acceptance since the last draw."""
        rho, alpha = state.x
        moves = sum(int(movable.sum()) for movable in self.model.movable) * max(state.n_moves, 1)
        accepted = sum(a.sum() for a in state.accepted) if state.tuning else moves
        for a in state.accepted:
            a[:] = 0
        state.n_moves = 0
        seen = self.model.traces(self.pivots, self.monitored, rho, alpha)
        return {**seen, "acceptance": accepted / moves}

    def tune(self, state, step, warmup):
        """Learn the Gaussians and the numbers of steps of a Metropolis chain."""
        if state.tuning is not None:
            self.tuner.tune(state, step, warmup)

    def _metropolis(self, state, side, rngs, run):
        """Exact Metropolis updates, and what blocks need that are stuck (see `Tuning`)."""
        pairs, tuning = self.model.pairs, state.tuning
        forced, rescued = tuning.forced[side], tuning.rescued[side]
        if state.n_sweeps % _POLYA_GAMMA_EVERY == _POLYA_GAMMA_EVERY - 1:
            forced, rescued = np.zeros_like(forced), np.ones_like(rescued)
        exact = np.flatnonzero(~(forced | rescued))
        if exact.size:
            move = metropolis_dense if pairs.dense else metropolis_sparse
            run(move, self._metropolis_tasks(state, side, rngs, exact))
        if forced.any():
            move = laplace_dense if pairs.dense else laplace_sparse
            run(move, [self._laplace_task(state, side, rngs, u) for u in np.flatnonzero(forced)])
        if rescued.any():
            self._polya_gamma(state, side, rngs, run, np.flatnonzero(rescued))
        for u in np.flatnonzero(forced | rescued):
            a, b = self.model.blocks[side][u]
            state.accepted[side][a:b] += self.model.movable[side][a:b]

    def _metropolis_tasks(self, state, side, rngs, blocks):
        pairs, model, tuning = self.model.pairs, self.model, state.tuning
        x, y = state.x[side], state.x[1 - side]
        prior, accepted = RowPrior(*state.prior[side]), state.accepted[side]
        y32 = y.astype(np.float32)
        given = Given(y, y32, _outer_products(y32) if pairs.dense else _NO_TABLE)
        table = pairs.n[side], pairs.kappa[side], tuning.weight[side], tuning.shift[side]
        tasks = []
        for u in blocks:
            a, b = model.blocks[side][u]
            move = Move(int(tuning.n_steps[side][u]), _TURN)
            stream, movable = self._stream(rngs, side, u), model.movable[side]
            if pairs.dense:
                rows = DenseTable(*(part[a:b] for part in table))
                own = RowPrior(prior.precision[a:b], prior.pull[a:b])
                rest = movable[a:b], move, pairs.chunk, stream, accepted[a:b]
                tasks.append((x[a:b], given, rows, own, *rest))
            else:
                rows = SparseTable(pairs.indptr[side], pairs.indices[side], *table)
                tasks.append((a, b, x, given, rows, prior, movable, move, stream, accepted))
        return tasks

    def _laplace_task(self, state, side, rngs, u):
        pairs, model = self.model.pairs, self.model
        x, y = state.x[side], state.x[1 - side]
        prior, pull = state.prior[side]
        a, b = model.blocks[side][u]
        stream = self._stream(rngs, side, u)
        if pairs.dense:
            n, kappa = pairs.n[side][a:b], pairs.kappa[side][a:b]
            movable = model.movable[side][a:b]
            return x[a:b], y, n, kappa, prior[a:b], pull[a:b], movable, stream
        return (
            a, b, pairs.indptr[side], pairs.indices[side], x, y, pairs.n[side],
            pairs.kappa[side], prior, pull, model.movable[side], stream,
        )  # fmt: skip

    def _stream(self, rngs, side, block):
        return rngs[1 + self._first[side] + block]

    def _polya_gamma(self, state, side, rngs, run, blocks=None):
        model, x, y = self.model, state.x[side], state.x[1 - side]
        shared = y, Once(_outer_products, y) if model.pairs.dense else None
        if blocks is None:
            blocks = range(len(model.blocks[side]))
            held = self._held[side]
        else:
            chosen = list(blocks)
            held = Held(lambda i: self._plan(side, chosen[i]), len(chosen))
        own = []
        for u in blocks:
            rows = slice(*model.blocks[side][u])
            prior, pull = (part[rows] for part in state.prior[side])
            own.append((x[rows], prior, pull, self._stream(rngs, side, u)))
        found = over(run, _polya_gamma_block, held, shared, own)
        for u, (rows, rng) in zip(blocks, found, strict=True):
            x[slice(*model.blocks[side][u])] = rows
            stream = self._stream(rngs, side, u)
            if rng is not stream:
                # what was drawn elsewhere came of a copy
                stream.bit_generator.state = rng.bit_generator.state


def _plan(model, side, block):
    """The Polya-Gamma plan of a block of words."""
    make = _DensePlan if model.pairs.dense else _SparsePlan
    start, stop = model.blocks[side][block]
    return make(model.pairs, side, start, stop, model.movable[side][start:stop])


def _outer_products(y):
    """Table of the products y_v y_v' for all rows of ``y``, in its precision."""
    k = y.shape[1]
    table = np.empty((y.shape[0], k * (k + 1) // 2), y.dtype)
    outer_table(y, table)
    return table


class _DensePlan:
    def __init__(self, pairs, side, start, stop, movable):
        n, self.kappa = (table[side][start:stop] for table in (pairs.n, pairs.kappa))
        self.movable = movable
        self.observed = np.flatnonzero(n > _UNSEEN)
        self.draws = PolyaGammaDraws(n.ravel()[self.observed])
        self.full = self.observed.size == n.size

    def update(self, x, y, outer, prior, pull, rng):
        logit = (x @ y.T).ravel()
        omega = np.empty(self.observed.size)
        if self.full:
            self.draws.draw(logit, rng, omega)
        else:
            self.draws.draw(logit[self.observed], rng, omega)
            logit[:] = 0.0
            logit[self.observed] = omega
            omega = logit
        packed = omega.reshape(len(x), -1) @ outer.value()
        gaussian_dense(packed, self.kappa @ y + pull, prior, self.movable, rng, x)


class _SparsePlan:
    def __init__(self, pairs, side, start, stop, movable):
        table = pairs.indptr[side], pairs.indices[side], pairs.n[side], pairs.kappa[side]
        self.indptr, self.indices, n, self.kappa = table_rows(table, start, stop)
        # pairs of fewer observations tell nothing
        self.draws, self.movable = PolyaGammaDraws(np.maximum(n, _UNSEEN)), movable

    def update(self, x, y, outer, prior, pull, rng):
        logit = np.empty(self.indices.size)
        omega = np.empty_like(logit)
        pair_logits(0, len(x), self.indptr, self.indices, x, y, logit)
        self.draws.draw(logit, rng, omega)
        gaussian_sparse(
            0, len(x), self.indptr, self.indices, omega, self.kappa, y, prior, pull, self.movable,
            rng, x,
        )  # fmt: skip


def _polya_gamma_block(plan, y, outer, x, prior, pull, rng):
    plan.update(x, y, outer, prior, pull, rng)
    return x, rng

"""Variational posterior: Gaussian factors of words under the Jaakkola-Jordan bound.

q(rho) q(alpha) = prod_w N(rho_w; m_w, S_w) prod_v N(alpha_v; m_v, S_v), with S full (K x K a
word) or diagonal, and q(tau) Gamma where the prior precision is learned (Sakaya 2015, section
4.9). The bound on the log evidence, with xi^2 = E[t^2] for the logit t of each pair, is

    sum_wv kappa E[t] - n log(2 cosh(xi / 2)) + E[log prior] + entropy of q.

Given one side, every word of the other has its optimum in closed form.
"""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
from scipy.special import digamma, gammaln

from ...common import trial
from ...inference import blocks
from ..data import ProductPairs
from .apart import Common, ascend_apart, held_words, rows_of_table, words_at_a_time
from .axes import nearest_axes
from .factors import DOUBLE_BYTES, Factors, packed_diagonal, unpacked
from .kernels import (
    DenseCounts,
    Form,
    Memory,
    Opposite,
    Side,
    SparseCounts,
    WordPrior,
    ascend_dense,
    ascend_expected,
    ascend_sparse,
    ascend_sparse_diagonal,
    second_table,
)

# Tables are float32 also where a sweep takes as many multiplications.
_DOUBLE_WORK = 4e9
# Precisions of components are told apart once a sweep raises the bound by less than this share.
_UNTIED = 1e-4


class SGNSVariational:
    """`Variational` of an `SGNSModel`.

    Parameters
    ----------
    model : SGNSModel
        Without anchors.
    covariance : {"full", "diag"}
    biases : bool
        Logits rho_w . alpha_v + b_w + c_v with b, c ~ N(0, 1 / lambda), lambda the (starting)
        prior precision. A word's bias and vector share one Gaussian factor.
    means_only : bool, default=False
        Whether nothing but the means is wanted, so that axes do not matter.
    """

    def __init__(self, model, covariance="full", biases=False, means_only=False):
        self.model = model
        self.means_only = means_only
        self.full = covariance == "full"
        self.biases = biases
        k = model.n_components
        self.size = k + 2 * biases
        self.free = [np.arange(k), np.arange(k)]
        self.fixed = [-1, -1]
        if biases:
            # rho_w, b_w, 1 against alpha_v, 1, c_v
            self.free = [np.arange(k + 1), np.append(np.arange(k), k + 1)]
            self.fixed = [k + 1, k]
        self.bias_precision = float(np.mean(model.prior.tau))
        packed = self.size * (self.size + 1) // 2
        large = (
            16 * model.n_words * packed > DOUBLE_BYTES
            or float(model.pairs.n_pairs) * packed > _DOUBLE_WORK
        )
        self.dtype = np.float32 if large else np.float64
        self.rounding = 1e-6 if large else 1e-14
        self.near = [self._near(side) for side in (0, 1)]
        self.tables = self.full or model.pairs.dense

    @property
    def axes_matter(self):
        """Whether the bound hangs on the axes of components, and on these alone."""
        prior = self.model.prior
        needed = not (self.full or self.means_only)
        return needed and prior.rotates and prior.learned != "component"

    @cached_property
    def _held(self):
        return [held_words(self.model, side, self.size) for side in (0, 1)]

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_held"}

    def of_batch(self, model):
        """The same approximation for the pairs of another model of the same words and prior."""
        other = copy.copy(self)
        other.model = model
        other.tables = self.full or model.pairs.dense
        return other

    def _near(self, side):
        """Couplings to other words as (indptr, indices, data)."""
        coupling = self.model.prior.neighbours(side)
        if coupling is None:
            return np.zeros(self.model.n_words + 1, np.int64), np.zeros(0, np.int64), np.zeros(0)
        coupling = coupling.tocoo()
        off = coupling.row != coupling.col
        row, column, data = coupling.row[off], coupling.col[off], coupling.data[off]
        order = np.argsort(row, kind="stable")
        indptr = np.zeros(self.model.n_words + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=self.model.n_words), out=indptr[1:])
        return indptr, column[order].astype(np.int64), data[order].astype(float)

    # ---------------------------------------------------------------------------------------------

    def init_q(self, arrays):
        """Factors around the arrays ``rho`` and ``alpha``."""
        model, k, d = self.model, self.model.n_components, self.size
        q = Factors([], [], [])
        for side, name in enumerate(("rho", "alpha")):
            mean = np.zeros((model.n_words, d))
            mean[:, :k] = arrays[name]
            if self.biases:
                mean[:, self.fixed[side]] = 1.0
            seen = model.pairs.observations(side)[:, None] / 16
            variance = np.zeros((model.n_words, d))
            variance[:, self.free[side]] = 1.0 / (self.prior_diagonal(side, q) + seen)
            cov = variance
            if self.full:
                cov = np.zeros((model.n_words, d * (d + 1) // 2), self.dtype)
                cov[:, packed_diagonal(d)] = variance
            q.mean.append(mean)
            q.cov.append(cov)
            q.log_det.append(np.log(variance[:, self.free[side]]).sum(axis=1))
        if model.prior.learned is not None:
            q.tied = model.prior.learned == "component"
            self.update_tau(q)
        return q

    def tau(self, q):
        """Expected prior precisions, shape (n_components,)."""
        return self.model.prior.tau if q.shape is None else q.shape / q.rate

    def prior_diagonal(self, side, q):
        """Diagonal of the prior precision of the free coordinates, shape (n_words, F)."""
        diagonal = self.model.prior.diagonal(side, self.tau(q))
        if self.biases:
            bias = np.full((len(diagonal), 1), self.bias_precision)
            diagonal = np.hstack([diagonal, bias])
        return diagonal

    def variances(self, q, side):
        """Variances of all coordinates, shape (n_words, D)."""
        return q.cov[side][:, packed_diagonal(self.size)] if self.full else q.cov[side]

    # ---------------------------------------------------------------------------------------------

    def update(self, q, run):
        """All targets, then all contexts, then a change of basis; the bound at the start."""
        bound = self.update_side(q, 0, run)
        if q.trial is not None:
            # a turn of diagonal factors is no gain for certain: taken back where it was a loss
            if bound < q.trial[0]:
                self.take_back(q)
                bound = self.update_side(q, 0, run)
            q.trial = None
        middle = self.update_side(q, 1, run)
        q.n_sweeps += 1
        if q.tied and bound - q.last < _UNTIED * abs(bound):
            q.tied = False
        q.last = bound
        self.rebalance(q, run, middle)
        return bound

    def take_back(self, q):
        """Undo a turn that no sweep has tried yet, if there is one."""
        if q.trial is not None:
            _, (q.mean, q.cov, q.log_det, q.shape, q.rate) = q.trial
            q.trial = None

    def settled(self, q):
        """Whether the precisions of the components are told apart, where they are learned."""
        return not q.tied

    def update_side(self, q, side, run, memory=None):
        """Optimal factors of one side given the other, then of the precisions.

        Returns the bound at the factors met. With ``memory`` (a `kernels.Memory`) the pairs
        are a batch's, and what is returned is no bound.
        """
        model, k = self.model, self.model.n_components
        rest = self.rest(q) if memory is None else 0.0
        if memory is None and blocks.current() is not None:
            return self._update_apart(q, side, run) + rest
        shift = np.zeros((model.n_words, self.size))
        shift[:, :k] = model.prior.linear(side)
        prior = WordPrior(self.prior_diagonal(side, q), shift, self.tau(q), *self.near[side])
        bounds = np.zeros(len(model.blocks[side]))
        if memory is None:
            empty = np.zeros(0)
            memory = Memory(np.zeros((0, 0), self.dtype), np.zeros((0, 0)), empty, empty, False)
        kernel, tasks = self._tasks(q, side, prior, memory, bounds, run)
        if model.prior.couplings[side] is None:
            run(kernel, tasks)
        else:
            # words depend on each other: one after the other, whatever the threads
            for task in tasks:
                kernel(*task)
        if model.prior.learned is not None:
            self.update_tau(q)
        return float(bounds.sum()) + rest

    def _update_apart(self, q, side, run):
        """`update_side` of a batch where an engine keeps the counts."""
        tau, model = self.tau(q), self.model
        precision = np.append(tau, self.bias_precision) if self.biases else tau
        common = Common(self._form(side), precision, self.tables, self.dtype)
        mine = q.mean[side], q.cov[side], q.log_det[side]
        opposite = q.mean[1 - side], q.cov[1 - side]
        bound = ascend_apart(self._held[side], model.blocks[side], common, opposite, mine, run)
        if model.prior.learned is not None:
            self.update_tau(q)
        return bound

    def _form(self, side):
        return Form(self.free[side], self.fixed[side], self.full, self.rounding)

    def _tasks(self, q, side, prior, memory, bounds, run):
        """The kernel that suits the table and the covariances, and its arguments by block."""
        pairs, cuts = self.model.pairs, list(enumerate(self.model.blocks[side]))
        mine = Side(q.mean[side], q.cov[side], q.log_det[side])
        shared, y = (prior, self._form(side), memory), q.mean[1 - side]
        expected = isinstance(pairs, ProductPairs)
        if expected:
            counts = pairs.table(np.float64, side)
        elif pairs.dense:
            counts = DenseCounts(pairs.n[side], pairs.kappa[side])
        else:
            counts = SparseCounts(
                pairs.indptr[side], pairs.indices[side], pairs.n[side], pairs.kappa[side]
            )
        if not self.tables:
            opposite = Opposite(y.astype(self.dtype), q.cov[1 - side].astype(self.dtype))
            tasks = [(a, b, mine, opposite, counts, *shared, u, bounds) for u, (a, b) in cuts]
            return ascend_sparse_diagonal, tasks
        opposite = Opposite(y, self.table(q, 1 - side, run))
        if pairs.dense:
            kernel = ascend_expected if expected else ascend_dense
            width = rows_of_table(self.model.n_words)
        else:
            kernel = ascend_sparse
            width = words_at_a_time(opposite.second)
        return kernel, [
            (a, b, mine, opposite, counts, *shared, width, u, bounds) for u, (a, b) in cuts
        ]

    def table(self, q, side, run):
        """Table of packed E[x x'] of the words of a side."""
        n_words = self.model.n_words
        if q.second is None:
            packed = self.size * (self.size + 1) // 2
            q.second = np.empty((n_words, packed), self.dtype)
        edges = np.linspace(0, n_words, 9).astype(int)
        run(
            second_table,
            [
                (int(a), int(b), q.mean[side], q.cov[side], self.full, q.second)
                for a, b in zip(edges[:-1], edges[1:], strict=True)
            ],
        )
        return q.second

    def squares(self, q):
        """E[x_k' (I + G) x_k] of each component, over both sides: (n_components,)."""
        k, prior = self.model.n_components, self.model.prior
        total = prior.squares([m[:, :k] for m in q.mean])
        for side in (0, 1):
            variances = self.variances(q, side)[:, :k]
            total += (prior.word_diagonal(side)[:, None] * variances).sum(axis=0)
        return total

    def update_tau(self, q):
        """The optimal Gamma factors of the prior precisions (Sakaya 2015, section 4.9.3)."""
        prior, k = self.model.prior, self.model.n_components
        shape, rate = prior.hyper
        squares = self.squares(q)
        count = self.model.n_words
        if prior.learned == "shared":
            squares, count = np.full(k, squares.sum()), count * k
        elif q.tied:
            squares[:] = squares.mean()
        q.shape = np.full(k, float(shape + count))
        q.rate = rate + 0.5 * squares

    # ---------------------------------------------------------------------------------------------

    def rest(self, q):
        """The bound without the pairs: expected log prior and entropy."""
        model, prior = self.model, self.model.prior
        k, tau = model.n_components, self.tau(q)
        log_tau = np.log(tau) if q.shape is None else digamma(q.shape) - np.log(q.rate)
        total = 0.0
        for side in (0, 1):
            mean, variance = q.mean[side][:, :k], self.variances(q, side)
            diagonal, linear = prior.diagonal(side, tau), prior.linear(side)
            total -= 0.5 * float(np.vdot(mean, prior.apply(side, mean, tau)))
            total -= 0.5 * float(np.vdot(diagonal, variance[:, :k]))
            total += float(np.vdot(linear, mean))
            if prior.held[side] is not None and q.shape is None and not prior.coupled:
                total += 0.5 * float(np.log(diagonal).sum() - (linear**2 / diagonal).sum())
            else:
                total += 0.5 * model.n_words * float(log_tau.sum())
                total += 0.5 * k * prior.log_det(side)
            if self.biases:
                own = k + side
                square = float((q.mean[side][:, own] ** 2 + variance[:, own]).sum())
                total += 0.5 * model.n_words * np.log(self.bias_precision)
                total -= 0.5 * self.bias_precision * square
            # entropy and the prior's constant: log 2 pi cancels
            total += 0.5 * float(q.log_det[side].sum()) + 0.5 * mean.shape[0] * self.free[side].size
        if q.shape is not None:
            total += self._gamma_part(q)
        return total

    def _gamma_part(self, q):
        """E[log hyperprior] + entropy of the Gamma factors."""
        (a0, b0), one = self.model.prior.hyper, self.model.prior.learned == "shared"
        a, b = (q.shape[:1], q.rate[:1]) if one else (q.shape, q.rate)
        log_tau = digamma(a) - np.log(b)
        prior = a0 * np.log(b0) - gammaln(a0) + (a0 - 1.0) * log_tau - b0 * a / b
        entropy = a - np.log(b) + gammaln(a) + (1.0 - a) * digamma(a)
        return float((prior + entropy).sum())

    def rebalance(self, q, run, least=-np.inf):
        """Change the basis of the components to that of the largest expected log prior.

        rho -> rho A^-T, alpha -> alpha A leaves every logit's distribution as it is, and the
        entropy too, since both sides have as many words: only the expected log prior changes.
        It is largest where A^-1 R A^-T = A' S A is diagonal, R and S the expected prior squares
        of both sides. Without such steps components switch off over hundreds of sweeps instead
        of a few (Luttinen & Ilin 2010 for factor analysis).

        Diagonal covariances are scaled. After 1, 2, 4, 8, ... sweeps they are turned as well, to
        the `nearest_axes` where these matter, otherwise to that basis; ``least`` is the
        bound that the turned factors must reach to stay.
        """
        prior = self.model.prior
        if not prior.rotates:
            return
        if self.full:
            self.change_basis(q, self.basis(q))
            return
        self.change_basis(q, self.scales(q))
        if q.n_sweeps & (q.n_sweeps - 1):
            return
        if not self.axes_matter:
            axes = self.basis(q)
        else:
            # trials count them apart
            axes = nearest_axes(self, q, run) if trial.current() is None else None
        if axes is not None:
            copies = [[array.copy() for array in pair] for pair in (q.mean, q.cov, q.log_det)]
            q.trial = least, (*copies, q.shape, q.rate)
            self.change_basis(q, axes)

    def change_basis(self, q, basis):
        """Turn both sides by (A, A^-1), as `basis` and `scales` have it; not where it is None."""
        if basis is None:
            return
        forward, back = basis
        for side, turn in ((0, back.T), (1, forward)):
            self.turn(q, side, turn)
        if self.model.prior.learned is not None:
            self.update_tau(q)

    def basis(self, q):
        """(A, A^-1), or None where it would not raise the bound."""
        first, second = (self._square(q, side) for side in (0, 1))
        lower = np.linalg.cholesky(first)
        u, s, _ = np.linalg.svd(lower.T @ np.linalg.cholesky(second))
        root = np.sqrt(s)
        forward, back = (lower @ u) / root, (u * root).T @ np.linalg.inv(lower)
        # the largest energy to the smallest precision
        order = np.argsort(np.argsort(self.tau(q), kind="stable"), kind="stable")
        energy = 2.0 * s[order]
        if self.full and self._gain(q, np.diag(first) + np.diag(second), energy) <= 0:
            return None
        return forward[:, order], back[order]

    def scales(self, q):
        """(A, A^-1) with A diagonal."""
        first, second = (np.diag(self._square(q, side)) for side in (0, 1))
        if self._gain(q, first + second, 2.0 * np.sqrt(first * second)) <= 0:
            return None
        scale = (first / second) ** 0.25
        return np.diag(scale), np.diag(1.0 / scale)

    def _gain(self, q, old, new):
        """What the bound gains where the components' squares change from old to new."""
        prior = self.model.prior
        if prior.learned is None:
            return 0.5 * float(prior.tau @ (old - new))
        if prior.learned == "shared":
            old, new = old.sum(), new.sum()
        elif q.tied:
            old, new = np.full_like(old, old.mean()), np.full_like(new, new.mean())
        b0 = prior.hyper[1]
        return float((q.shape[: np.size(old)] * np.log((b0 + 0.5 * old) / (b0 + 0.5 * new))).sum())

    def _square(self, q, side):
        """E[x' (I + G) x] of one side, shape (n_components, n_components)."""
        k, prior = self.model.n_components, self.model.prior
        mean, words = q.mean[side][:, :k], prior.word_diagonal(side)
        total = mean.T @ prior.apply(side, mean, np.ones(k))
        if not self.full:
            total[np.diag_indices(k)] += words @ q.cov[side][:, :k]
            return total
        packed = words.astype(self.dtype) @ q.cov[side][:, : k * (k + 1) // 2]
        low = np.tril_indices(k)
        covariance = np.zeros((k, k))
        covariance[low] = packed
        return total + covariance + covariance.T - np.diag(np.diag(covariance))

    def turn(self, q, side, turn):
        """Vectors x of a side become turn' x: means, covariances and their determinants."""
        k = self.model.n_components
        q.mean[side][:, :k] = q.mean[side][:, :k] @ turn
        if not self.full:
            q.cov[side][:, :k] = q.cov[side][:, :k] @ turn**2
            q.log_det[side] = np.log(q.cov[side][:, self.free[side]]).sum(axis=1)
            return
        q.log_det[side] += 2.0 * np.linalg.slogdet(turn)[1]
        self.turn_table(q.cov[side], turn)

    def turn_table(self, table, turn):
        """Packed matrices S of a table become turn' S turn, in place."""
        k = turn.shape[0]
        whole = np.eye(self.size, dtype=table.dtype)
        whole[:k, :k] = turn
        for a, block in unpacked(table, self.size):
            block = np.swapaxes(np.matmul(block, whole), 1, 2)
            table[a : a + len(block)] = np.matmul(block, whole)[:, *np.tril_indices(self.size)]

    # ---------------------------------------------------------------------------------------------

    def covariance(self, q, side, words):
        """Covariances of some words, shape (len(words), D, D)."""
        cov = q.cov[side][words].astype(float)
        if self.full:
            return np.concatenate([part for _, part in unpacked(cov, self.size)])
        out = np.zeros((len(cov), self.size, self.size))
        out[:, np.arange(self.size), np.arange(self.size)] = cov
        return out

    def sample_q(self, q, n, rng, words=None):
        """Draws of ``rho`` and ``alpha``, each (n, n_words, n_components).

        Of ``rho_bias`` and ``alpha_bias`` (n, n_words) where used, of ``prior_precision`` where
        learned; of the rows ``words`` only, where given.
        """
        k, prior, draws = self.model.n_components, self.model.prior, {}
        words = np.arange(self.model.n_words) if words is None else np.asarray(words)
        for side, name in enumerate(("rho", "alpha")):
            free = self.free[side]
            out = np.empty((n, words.size, free.size))
            step = max(1, 2**19 // max(n * k, k * k))
            for a in range(0, words.size, step):
                some = words[a : a + step]
                noise = rng.standard_normal((some.size, n, free.size))
                if self.full:
                    cov = self.covariance(q, side, some)[:, free[:, None], free]
                    factor = np.linalg.cholesky(cov)
                    noise = noise @ np.swapaxes(factor, 1, 2)
                else:
                    noise *= np.sqrt(q.cov[side][some[:, None], free])[:, None]
                out[:, a : a + step] = np.swapaxes(noise, 0, 1) + q.mean[side][some[:, None], free]
            draws[name] = out[:, :, :k]
            if self.biases:
                draws[f"{name}_bias"] = out[:, :, k]
        if prior.learned is not None:
            one = 1 if prior.learned == "shared" else k
            draws["prior_precision"] = np.array(
                [prior.reported(rng.gamma(q.shape[:one]) / q.rate[:one]) for _ in range(n)]
            )
        return draws

    def energy(self, q):
        """``|E rho_k| |E alpha_k| / n_words`` of each component: (n_components,)."""
        norms = [np.sqrt((m[:, : self.model.n_components] ** 2).sum(axis=0)) for m in q.mean]
        return norms[0] * norms[1] / self.model.n_words

    def sort_components(self, q):
        """Largest energy first, where the prior does not tell components apart."""
        if not self.model.prior.rotates:
            return
        order = np.argsort(-self.energy(q), kind="stable")
        for side in (0, 1):
            self.turn(q, side, np.eye(order.size)[:, order])
        if q.shape is not None:
            q.shape, q.rate = q.shape[order], q.rate[order]

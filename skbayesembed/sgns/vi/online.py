"""Stochastic variational inference on batches of documents, with step sizes of each word's own.

The natural parameters of a word's factor are sums over its observations. A batch holds some of
them; those of earlier batches are remembered as they were computed then. With S observations of
the word seen so far, n of them in the batch, what is remembered is kept with weight

    keep = (1 - n / S) ** forget,

so that the step, n over the observations remembered, falls as (forget + 1) n / S, as Robbins and
Monro ask, and what was computed from early vectors fades. The blend is scaled to the
observations of the word seen so far, at most once each: scaled to the whole corpus from the
start, as is common, the first batches are overrated many times. Steps depend on how often a word
was seen and not on how many batches went by (against Sakaya 2015, Algorithm 3, where a rare
word's share of a batch is scaled up by total / batch count and stepped by the common clock).
"""

from __future__ import annotations

import copy

import numpy as np
from scipy import sparse

from ...common.interruption import at_once, undisturbed
from ...common.random import generators
from ..counting import PairCounts, RankOne, noise_distribution, sampled_rows
from ..data import pair_table
from ..model import SGNSModel
from .axes import axes_that_suit, some_words
from .factors import packed_diagonal, unpacked
from .kernels import Memory
from .variational import SGNSVariational

# Bases are changed after 1, 2, 4, ... batches and every so many.
_REBALANCE_EVERY = 16
# Learned precisions of components are told apart after so many batches.
_TIED = 16
# Rows of tables are kept until a batch is taken in, unless they have more bytes; then Ctrl-C waits
# for the end of the batch.
_MOST_KEPT = 2**26


class OnlineVI:
    """Factors of all words of a fixed vocabulary, updated batch by batch.

    Memory: for each side a table of statistics and, for full covariances, one of covariances,
    ``n_words * D * (D + 1) / 2`` numbers each; a fifth to work with; the pairs of a batch; and, up
    to ``_MOST_KEPT`` bytes, what the words of a batch had before it.

    Parameters
    ----------
    n_words, n_components : int
    prior : Prior
    seeds : SeedSequence
    covariance : {"full", "diag"}
    biases : bool
    negative, ns_exponent, negative_sampling
        As in `BayesianSGNS`. Expected negatives make every pair of words a pair of each batch;
        sampled ones are drawn afresh whenever a document is read. Both follow the contexts seen
        so far.
    forget : float, default=1.0
        How fast remembered statistics fade; 0 remembers all alike.
    n_inner, n_first : int, default=1 and 10
        Updates of both sides for each batch, and for the first.
    """

    # streams of earlier versions do not know of these: batches taken in, of any call, and whether
    # bases are still to be changed after the last
    n_taken, unbalanced = 0, False

    def __init__(
        self, n_words, n_components, prior, seeds, *, covariance="full", biases=False,
        negative=1.0, ns_exponent=0.75, negative_sampling="expected", forget=1.0, n_inner=1,
        n_first=10,
    ):  # fmt: skip
        self.shape = n_words, n_components
        self.prior = prior
        self.rng, self.start_rng = generators(seeds, 2)
        self.options = covariance, biases
        self.negative, self.ns_exponent = negative, ns_exponent
        self.negative_sampling = negative_sampling
        self.forget = forget
        self.n_inner, self.n_first = n_inner, n_first
        self.variational = self.q = self.total = None
        self.contexts, self.unmet = np.zeros(n_words), np.zeros(n_words, bool)
        self.n_batches = 0

    def learn(self, positive, run):
        """Take in the positive pair counts of a batch of documents, wholly or not at all.

        Of large batches this is so of Ctrl-C, not of errors (`_MOST_KEPT`).

        Parameters
        ----------
        positive : csr_array of shape (n_words, n_words)
            Nothing happens where it is empty.
        run : callable
            Maps a function over blocks of work (see `inference.chains.Workers`).
        """
        self._take_in(lambda after: after._with_negative(positive), run)

    def learn_pairs(self, counts, run):
        """Take in the pair counts of a batch, negative ones included, wholly or not at all."""
        self._take_in(lambda after: counts, run)

    def _take_in(self, counted, run):
        """Take in what ``counted(after)`` has of a batch, in a copy that notes how it counts."""
        self._rebalance_if_due()
        at_once(self, lambda after, kept: after._learn(counted, run, kept))
        self._rebalance_if_due()

    def _with_negative(self, positive):
        """Pair counts with negative ones, which follow the contexts; None where there are none."""
        if positive.sum() == 0:
            return None
        contexts = np.asarray(positive.sum(axis=0)).ravel()
        # after the first pass those of words alone that subsampling had left without any
        new = contexts if self.total is None else np.where(self.unmet, contexts, 0.0)
        self.contexts = self.contexts + new
        noise = noise_distribution(self.contexts, self.ns_exponent)
        draws = self.negative * np.asarray(positive.sum(axis=1)).ravel()
        if self.negative_sampling == "expected":
            return PairCounts(positive, RankOne(draws, noise))
        return PairCounts(positive, sampled_rows(draws, noise, self.rng))

    def _learn(self, counted, run, kept):
        """Take in a batch as `at_once` has it: all but tables is set anew."""
        self.n_taken += 1
        self.rng, self.start_rng = copy.deepcopy((self.rng, self.start_rng))
        counts = counted(self)
        if counts is None:
            return
        model = SGNSModel(pair_table(counts), self.shape[1], self.prior)
        if self.q is None:
            self._begin(model)
        self.q, self.seen, self.left = copy.copy(self.q), list(self.seen), list(self.left)
        here = [model.pairs.observations(side) > 0 for side in (0, 1)]
        self._keep(here, kept)
        self._update(model, run)
        self.unbalanced = (
            self.n_batches & (self.n_batches - 1) == 0 or self.n_batches % _REBALANCE_EVERY == 0
        )

    def _keep(self, here, kept):
        """Keep what words have before a batch, unless that would have too many bytes."""
        q, tables = self.q, []
        for side, words in enumerate(here):
            own = q.mean[side], q.cov[side], q.log_det[side], self.precision[side], self.shift[side]
            tables += [(table, words) for table in own]
        bytes_each = [words.sum() * table[:1].nbytes for table, words in tables]
        if sum(bytes_each) > _MOST_KEPT:
            kept.wait()
            return
        for table, words in tables:
            kept.keep(table, words)

    def _update(self, model, run):
        """Remember a batch, and update the factors of its words."""
        batch = self.variational.of_batch(model)
        keep, gain = zip(*(self._weights(model, side) for side in (0, 1)), strict=True)
        steps = self.n_inner if self.n_batches else self.n_first
        for step in range(steps):
            for side in (0, 1):
                self._update_side(batch, side, keep[side], gain[side], step == steps - 1, run)
        self.n_batches += 1
        self.q.tied &= self.n_batches < _TIED

    def end_pass(self):
        """End a pass: all data have been read, and batches that follow repeat them."""
        if self.q is None:
            return
        self._rebalance_if_due()
        self.total = [np.array(self._everything(side)) for side in (0, 1)]
        self.unmet = self.contexts == 0

    def result(self, run):
        """The approximation so far: an `SGNSVariational` and its `Factors`, copies.

        Every word's factor is solved anew from what is remembered, whichever batch had it last.
        """
        nothing = sparse.csr_array((self.shape[0], self.shape[0]))
        model = SGNSModel(pair_table(PairCounts(nothing, nothing)), self.shape[1], self.prior)
        if self.q is None:
            at_once(self, lambda after, kept: after._begin(model))
        self._rebalance_if_due()
        self.q.second = None
        q = copy.deepcopy(self.q)
        variational = self.variational.of_batch(model)
        for side in (0, 1):
            self._to_prior(variational, q, side, self.left[side] == 0)
            gain = self._gain(side)
            keep = np.ones(gain.size)
            memory = Memory(self.precision[side], self.shift[side], keep, gain, False)
            variational.update_side(q, side, run, memory)
        return variational, q

    # ---------------------------------------------------------------------------------------------

    def _begin(self, model):
        """Factors at the prior; a word's mean is drawn when the word is first met."""
        self.variational = SGNSVariational(model, *self.options)
        n_words, d = self.shape[0], self.variational.size
        self.spread = model.spread
        nowhere = np.zeros(self.shape)
        self.q = self.variational.init_q({"rho": nowhere, "alpha": nowhere})
        for side in (0, 1):
            self._to_prior(self.variational, self.q, side, np.ones(n_words, bool))
        self.precision = [
            np.zeros((n_words, d * (d + 1) // 2), self.variational.dtype) for _ in (0, 1)
        ]
        self.shift = [np.zeros((n_words, d)) for _ in (0, 1)]
        # observations of each word: those read, and what is left of them in the statistics
        self.seen = [np.zeros(n_words) for _ in (0, 1)]
        self.left = [np.zeros(n_words) for _ in (0, 1)]

    def _to_prior(self, variational, q, side, words):
        """The factors of some words as the prior alone would have them."""
        d, k, free = variational.size, self.shape[1], variational.free[side]
        precision = variational.prior_diagonal(side, q)
        q.mean[side][words, :k] = (self.prior.linear(side) / precision[:, :k])[words]
        where = packed_diagonal(d)[free] if variational.full else free
        q.cov[side][words] = 0.0
        q.cov[side][np.ix_(words, where)] = 1.0 / precision[words]
        q.log_det[side][words] = -np.log(precision[words]).sum(axis=1)

    def _everything(self, side):
        """Observations of each word, each counted once.

        Those of the first pass that had any: subsampling may have left a word none.
        """
        if self.total is None:
            return self.seen[side]
        return np.where(self.total[side] > 0, self.total[side], self.seen[side])

    def _gain(self, side):
        """Factor from what is remembered of each word to all its observations; 0 before any."""
        known = self.left[side] > 0
        return np.where(known, self._everything(side) / np.where(known, self.left[side], 1.0), 0.0)

    def _weights(self, model, side):
        """Share of what is remembered that stays, and factor from the blend to all observations."""
        n, k = model.pairs.observations(side), self.shape[1]
        here = n > 0
        new = np.flatnonzero(here & (self.seen[side] == 0))
        self.q.mean[side][new, :k] += self.spread * self.start_rng.standard_normal((new.size, k))
        self.seen[side] = self.seen[side] + n
        keep = (1.0 - n / np.where(here, self.seen[side], 1.0)) ** self.forget
        self.left[side] = np.where(here, keep * self.left[side] + n, self.left[side])
        return keep, np.where(here, self._gain(side), 0.0)

    def _update_side(self, batch, side, keep, gain, commit, run):
        memory = Memory(self.precision[side], self.shift[side], keep, gain, commit)
        batch.update_side(self.q, side, run, memory)

    def _rebalance_if_due(self):
        """Change bases where that is due after a batch; Ctrl-C waits for its end."""
        if self.unbalanced:
            with undisturbed():
                self._rebalance()
                self.unbalanced = False

    def _rebalance(self):
        """The changes of basis of `SGNSVariational.rebalance`, of what is remembered as well."""
        v = self.variational
        if not self.prior.rotates:
            return
        if not v.axes_matter:
            self._change_basis(v.basis(self.q))
            return
        self._change_basis(v.scales(self.q))
        self._change_basis(self._axes())
        self._settle_variances()
        if self.prior.learned is not None:
            v.update_tau(self.q)

    def _change_basis(self, basis):
        """Turn factors and what is remembered by (A, A^-1); not where it is None."""
        if basis is None:
            return
        self.variational.change_basis(self.q, basis)
        (forward, back), k = basis, self.shape[1]
        for side, inverse in ((0, forward), (1, back.T)):
            self.variational.turn_table(self.precision[side], inverse)
            self.shift[side][:, :k] = self.shift[side][:, :k] @ inverse
            self._to_prior(self.variational, self.q, side, self.left[side] == 0)

    def _axes(self):
        """The `nearest_axes` of the words seen so far, by what is remembered."""
        halves = [], []
        for side in (0, 1):
            known = np.flatnonzero(self.left[side])
            words = some_words(known[np.argsort(-self.seen[side][known], kind="stable")])
            if words is None:
                return None
            for half, some in zip(halves, words, strict=True):
                half.append(self._precisions(side, some))
        return axes_that_suit(*(np.concatenate(half, axis=2) for half in halves))

    def _precisions(self, side, words):
        """Precisions of words given all others: float32 of shape (k, k, n_words)."""
        k = self.shape[1]
        packed = self.precision[side][words, : k * (k + 1) // 2].astype(np.float32)
        blocks = np.concatenate([block for _, block in unpacked(packed, k)])
        blocks *= self._gain(side)[words, None, None]
        diagonal = np.arange(k)
        blocks[:, diagonal, diagonal] += self.variational.prior_diagonal(side, self.q)[words, :k]
        return np.ascontiguousarray(np.moveaxis(blocks, 0, 2))

    def _settle_variances(self):
        """Diagonal covariances to what is best for what is remembered."""
        where = packed_diagonal(self.variational.size)
        for side in (0, 1):
            known, free = np.flatnonzero(self.left[side]), self.variational.free[side]
            seen = self.precision[side][np.ix_(known, where[free])]
            precision = seen * self._gain(side)[known, None]
            precision += self.variational.prior_diagonal(side, self.q)[known]
            self.q.cov[side][np.ix_(known, free)] = 1.0 / precision
            self.q.log_det[side][known] = -np.log(precision).sum(axis=1)

"""Gibbs sampling of Gaussian topics: assignments of tokens, theta summed out.

With tau the power of the word likelihood, the target is

    p(z | alpha) prod_k integral NIW(mu, Sigma) prod_{tokens of k} N(v; mu, Sigma)^tau,

the collapsed posterior of Das et al. (2015) at tau = 1. Three kernels leave it invariant:

- ``"reference"``: each token from its full conditional, all K predictives computed (a multivariate
  t at tau = 1, else a ratio of NIW normalisers); Cholesky factors updated and downdated by rank one
  when a token moves.
- ``"alias"``: a Metropolis-Hastings step per token. Proposals come from a table of predictive
  weights, through alias tables (Li et al. 2014), and are accepted by the exact collapsed ratio.
  The table is frozen when warm-up ends. Until then, and in every eighth sweep after it, documents
  are dealt into two hands and the table for one is built from the tokens of the other, so that a
  proposal never depends on a token that it is for.
- ``"sampled"``: mu and Sigma of all topics are drawn from their NIW conditionals, then the tokens
  given one table of log densities. Given the table documents are independent: units of them run in
  parallel and the sampler is exact all the same.

In warm-up the first two leave all but the last tenth of the sweeps to ``"sampled"``, which is many
times faster and has the same target. An empty topic has the prior as its posterior: it is drawn
from it, and takes tokens again as the prior predicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...common.checks import check_choice, check_real
from ...inference.chains import serial
from ..alpha import learn_alpha
from ..niw_kernels import relative_weights
from ..priors import NIW, Gaussians, lower_inverses, topic_moments
from ..replication import alias_kernels
from ..starts import kmeans_assignment
from . import collapsed_kernels, kernels

TOPIC_KERNELS = ("reference", "alias", "sampled")
# Widths of tables are whole vectors, unrolled.
_PAD = 16
# Logs of the smallest weights of a table of proposals, and of one that is drawn from exactly.
_FLOOR, _NO_FLOOR = -25.0, -700.0
# Every so many sweeps with a frozen table comes one with tables from the other half.
_DEAL_EVERY = 8
_HANDS = 2
# Fixed-point steps of alpha for each warm-up sweep.
_ALPHA_STEPS = 5
# How often a collapsed sweep is taken up again at the same document with fresh sums.
_TRIES = 20


@dataclass
class TopicState:
    """A chain's assignments, with what follows from them.

    Attributes
    ----------
    z : ndarray of shape (n_tokens,), int32
        Topics of tokens in the order of the documents' entries.
    alpha : ndarray of shape (K,)
    counts, other_counts : ndarray of shape (n_words, K), int32
        Tokens of each word in each topic; room for those of half of the documents.
    posterior : NIW
        Of the K topics given ``z``, from moments summed anew after every sweep.
    gaussians : Gaussians or None
        Draw of the topics: the one the last sweep of ``"sampled"`` drew ``z`` from, else one
        given ``z``.
    fast : bool
        Whether the next sweep is one of ``"sampled"`` whatever the kernel, in warm-up only.
    table : tuple of ndarray or None
        Frozen proposals of ``"alias"``.
    levels : ndarray of shape (n_tokens + 1,) or None
        Constants of the predictives by size of topic, NaN where not computed yet.
    log_alpha : list of ndarray
        Estimates of alpha in the second half of warm-up.
    """

    z: np.ndarray
    alpha: np.ndarray
    counts: np.ndarray
    other_counts: np.ndarray
    posterior: NIW = None
    gaussians: Gaussians | None = None
    fast: bool = False
    table: tuple | None = None
    levels: np.ndarray | None = None
    log_alpha: list = field(default_factory=list)
    n_sweeps: int = 0
    moved: float = 0.0
    acceptance: float = 1.0


class TopicGibbs:
    """`Conditionals` of Gaussian topics for the Gibbs engine.

    Parameters
    ----------
    documents : Documents
        M documents, V words, E dimensions; whole counts.
    n_components : int
        K topics.
    prior : NIW
        Of every topic.
    alpha : float or array of shape (K,)
        Dirichlet prior of documents; the start where it is learned.
    power : float, default=1.0
        tau, in (0, 1].
    kernel : {"auto", "sampled", "alias", "reference"}, default="auto"
        ``"auto"`` is ``"sampled"``: see the notes.
    start : ndarray of shape (V,), optional
        Topic of each word with which all chains start; k-means of the vectors, another for each
        chain, where None.
    clusters : ndarray of shape (M,), optional
        Topic of each document with which its tokens start in place of those of their words.
    learn_alpha : {False, None, "symmetric", "asymmetric"}, default=False
        Whether alpha is estimated in warm-up by Minka's fixed point. It is the geometric mean of
        the estimates in the second half of warm-up and frozen then: draws are exact given it, and
        do not know how uncertain it is.

    Raises
    ------
    ValueError
        If the counts are not whole numbers, ``power`` is not in (0, 1], ``alpha`` is not above 0
        or of another shape, ``start`` or ``clusters`` are or have a topic that is not there.

    Notes
    -----
    Recorded: ``mean`` (K, E), ``covariance`` (K, E, E), ``counts`` (K, V), ``alpha`` (K,). Traced:
    ``lp``, log p(z, vectors | alpha) with theta, mu and Sigma summed out (no density of vectors
    below power 1); ``moved``, the share of tokens whose topic changed in the last sweep;
    ``smallest``, tokens of the smallest topic; ``acceptance`` with ``"alias"``.
    """

    def __init__(
        self, documents, n_components, prior, alpha, power=1.0, kernel="auto", start=None,
        clusters=None, learn_alpha=False,
    ):  # fmt: skip
        check_choice("kernel", kernel, ("auto", *TOPIC_KERNELS))
        if learn_alpha not in (None, False):
            check_choice("learn_alpha", learn_alpha, ("symmetric", "asymmetric"))
        check_real("power", power, 0.0, high=1.0)
        if not documents.whole:
            raise ValueError(
                "solver='gibbs' needs whole counts: it assigns tokens. Use solver='vi'."
            )
        k = int(n_components)
        alpha = np.array(np.broadcast_to(np.asarray(alpha, dtype=np.float64), k))
        if not (np.all(np.isfinite(alpha)) and np.all(alpha > 0)):
            raise ValueError(f"alpha must be finite and above 0, got {alpha}.")
        self.documents = documents
        self.n_components = k
        self.prior = prior
        self.alpha = alpha
        self.power = float(power)
        self.kernel = "sampled" if kernel == "auto" else kernel
        self.start = self._checked("start", start, documents.n_words)
        self.clusters = self._checked("clusters", clusters, documents.n_documents)
        self.learn_alpha = learn_alpha
        self.ends = documents.ends
        self.units = documents.units()
        self.n_streams = 1 + len(self.units)
        self._all = np.arange(documents.n_documents)
        self._halves = np.array_split(self._all, 2)
        self._width = -(-k // _PAD) * _PAD

    def _checked(self, name, topics, n):
        if topics is None:
            return None
        topics = np.array(topics, dtype=np.int64)
        if topics.shape != (n,):
            raise ValueError(f"{name} must have shape ({n},), got {topics.shape}.")
        if n and not (topics.min() >= 0 and topics.max() < self.n_components):
            raise ValueError(f"{name} must be topics from 0 to {self.n_components - 1}.")
        return topics

    @property
    def _entries(self):
        """Arrays of entries as the kernels have them."""
        data = self.documents
        return data.indptr, data.words, data.counts, self.ends

    def init_state(self, rng):
        """Every token in the topic of its document in ``clusters``, or its word in ``start``."""
        data = self.documents
        if self.clusters is not None:
            return self.state_of(np.repeat(self.clusters, data.lengths).astype(np.int32))
        start = self.start
        if start is None:
            start = kmeans_assignment(data.vectors, data.totals, self.n_components, rng[0])
        z = np.empty(data.n_tokens, np.int32)
        kernels.assign_by_word(*self._entries, np.asarray(start, np.int64), z)
        return self.state_of(z)

    def state_of(self, z):
        """The state with these assignments, which become its own."""
        shape = self.documents.n_words, self.n_components
        counts = (np.empty(shape, np.int32) for _ in range(2))
        state = TopicState(z, self.alpha.copy(), *counts)
        if self.kernel != "sampled":
            state.levels = np.full(self.documents.n_tokens + 1, np.nan)
        self._refresh(state)
        return state

    def sweep(self, state, rng, run):
        """Draw all assignments anew, and mu and Sigma before them with ``"sampled"``."""
        uncollapsed = self.kernel == "sampled" or state.fast
        if uncollapsed:
            moved = self._sampled(state, rng, run)
        elif self.kernel == "reference":
            moved = self._reference(state, rng)
        else:
            moved = self._alias(state, rng, run)
        state.moved = moved / max(1, self.documents.n_tokens)
        state.n_sweeps += 1
        self._refresh(state, run)
        if not uncollapsed:
            state.gaussians = state.posterior.sample(rng[0])

    def tune(self, state, step, warmup):
        """Learn alpha, choose the kernel of the next warm-up sweep, freeze the table at the end."""
        last = step + 1 >= warmup
        state.fast = step + 1 < warmup - warmup // 10
        if self.learn_alpha:
            estimate = learn_alpha(
                self.document_counts(state),
                state.alpha,
                symmetric=self.learn_alpha == "symmetric",
                max_iter=_ALPHA_STEPS,
            )
            if 2 * step >= warmup or last:
                state.log_alpha.append(np.log(estimate))
            state.alpha = np.exp(np.mean(state.log_alpha, axis=0)) if last else estimate
        if last and self.kernel == "alias":
            state.table = self._proposals(state.posterior, state.alpha)

    def observe(self, state):
        """``mean``, ``covariance``, ``counts`` and ``alpha`` of this draw."""
        gaussians = state.gaussians
        return {
            "mean": gaussians.mean,
            "covariance": gaussians.covariance,
            "counts": state.counts.T.astype(np.float64),
            "alpha": state.alpha.copy(),
        }

    def trace(self, state):
        """``lp``, ``moved``, ``smallest``, and ``acceptance`` with proposals."""
        seen = {
            "lp": self.log_joint(state),
            "moved": state.moved,
            "smallest": float(state.counts.sum(axis=0).min()),
        }
        if self.kernel == "alias":
            seen["acceptance"] = state.acceptance
        return seen

    def log_joint(self, state):
        """log p(z, vectors | alpha) with theta, mu and Sigma summed out."""
        weight = self.power * state.counts.sum(axis=0)
        evidence = state.posterior.log_evidence(self.prior, weight)
        return kernels.log_assignments(self.ends, state.z, state.alpha) + float(evidence.sum())

    def document_counts(self, state):
        """Tokens of each document in each topic, ndarray of shape (M, K), int32."""
        out = np.empty((self.documents.n_documents, self.n_components), np.int32)
        kernels.count_documents(self.ends, state.z, out)
        return out

    def theta(self, state):
        """E[theta | z], ndarray of shape (M, K)."""
        weight = self.document_counts(state) + state.alpha
        return weight / weight.sum(axis=1, keepdims=True)

    def _refresh(self, state, run=None):
        """Counts and posterior of the current assignments."""
        parts = state.counts, state.other_counts
        tasks = [(d, *self._entries, state.z, c) for d, c in zip(self._halves, parts, strict=True)]
        (run or serial)(kernels.count_anew, tasks)
        state.counts += state.other_counts
        state.posterior = self._posterior(state.counts, run)

    def _posterior(self, counts, run=None):
        weights = np.multiply(counts.T, self.power, order="C")
        return self.prior.update(*topic_moments(self.documents.vectors, weights, run))

    def _sampled(self, state, rng, run):
        data = self.documents
        state.gaussians = state.posterior.sample(rng[0])
        logs = state.gaussians.log_density(data.vectors, run)
        table = np.empty((data.n_words, self._width))
        relative_weights(logs, self.power, _NO_FLOOR, table, None)
        alpha = np.zeros(self._width)
        alpha[: self.n_components] = state.alpha
        moved = np.zeros(len(self.units), np.int64)
        run(
            kernels.draw_assignments,
            [
                (a, b, *self._entries, table, alpha, rng[1 + u], state.z, moved[u : u + 1])
                for u, (a, b) in enumerate(self.units)
            ],
        )
        return int(moved.sum())

    def _topics(self, posterior, counts):
        """Arrays of the topics that the collapsed kernels carry along."""
        root = posterior.cholesky()
        diagonal = np.diagonal(root, axis1=1, axis2=2)
        return (
            counts.sum(axis=0).astype(np.int64),
            posterior.mean.copy(),
            lower_inverses(root),
            2 * np.log(diagonal).sum(axis=1),
        )

    def _collapsed(self, kernel, state, documents, before, after, rng):
        """Run a collapsed kernel over ``documents``; returns the sums of what it counts."""
        prior = self.prior
        topics = self._topics(state.posterior, state.counts)
        total, done, tries = 0, 0, 0
        while True:
            reached, *numbers = kernel(
                documents[done:], *self._entries, self.documents.vectors, *before, self.power,
                prior.kappa, prior.nu, state.levels, *topics, *after, rng, state.z,
            )  # fmt: skip
            total = total + np.array(numbers)
            done += reached
            if done == documents.size:
                return total
            # rounding errors have piled up: sum anew and go on from that document
            tries = tries + 1 if reached == 0 else 0
            if numbers[-1] == 0 or tries > _TRIES:  # the sums were fresh, or of no help
                raise np.linalg.LinAlgError(
                    "A topic's covariance is not positive definite without one of its tokens: the "
                    "scale of the prior is too small beside the vectors."
                )
            self._refresh(state)
            topics = self._topics(state.posterior, state.counts)

    def _reference(self, state, rng):
        kernel = collapsed_kernels.draw_collapsed
        return self._collapsed(kernel, state, self._all, (state.alpha,), (), rng[1])[0]

    def _alias(self, state, rng, run):
        if state.table is not None and state.n_sweeps % _DEAL_EVERY != _DEAL_EVERY - 1:
            numbers = self._propose(state, self._all, state.table, rng)
        else:
            numbers = 0
            for hand in range(_HANDS):
                mine = self._all[hand::_HANDS]
                others = state.counts.copy()
                kernels.count_assignments(mine, *self._entries, state.z, others, -1)
                table = self._proposals(self._posterior(others, run), state.alpha, run)
                numbers = numbers + self._propose(state, mine, table, rng)
                self._refresh(state, run)
        proposed, accepted = numbers
        state.acceptance = accepted / max(1, proposed)
        return accepted

    def _propose(self, state, documents, table, rng):
        return self._collapsed(alias_kernels.move_assignments, state, documents, (), table, rng[1])

    def _proposals(self, posterior, alpha, run=None):
        """Table of predictive weights with its alias tables, as `move_assignments` has them."""
        n_words, k = self.documents.n_words, self.n_components
        logs = posterior.log_predictive(self.documents.vectors, self.power, run)
        table, mass = np.empty((n_words, self._width)), np.empty(n_words)
        share, other = np.empty((n_words, k)), np.empty((n_words, k), np.int32)
        relative_weights(logs, 1.0, _FLOOR, table, None)
        alias_kernels.alias_tables(table, alpha, mass, share, other)
        return table, mass, share, other

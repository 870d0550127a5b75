"""Gibbs sampling of Gaussian topics: assignments of tokens, with theta summed out.

With tau the power of the word likelihood, the target is

    p(z | alpha) prod_k integral NIW(mu, Sigma) prod_{tokens of k} N(v; mu, Sigma)^tau,

the collapsed posterior of Das et al. (2015) at tau = 1. Here, mu and Sigma of all topics are drawn
from their NIW conditionals, then the tokens given one table of log densities. Given the table
documents are independent: blocks of them run in parallel, and the sampler is exact all the same.
`collapsed.CollapsedTopics` has the same target with mu and Sigma summed out, too.

An empty topic has the prior as its posterior: it is drawn from it, and takes tokens again as the
prior predicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...inference.threads import serial
from ..niw_kernels import relative_weights
from ..priors import NIW, Gaussians, topic_moments
from . import kernels
from .alpha import learn_in_warmup

# Widths of tables are whole vectors, unrolled.
PAD = 16
# Log of the smallest weight of a table that is drawn from: none is lost to rounding.
_NO_FLOOR = -700.0


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
        Draw of the topics: the one that the last sweep drew ``z`` from, or one given ``z``.
    log_alpha : list of ndarray
        Estimates of alpha in the second half of warm-up.
    n_sweeps : int
    moved : float
        Share of the tokens whose topic changed in the last sweep.
    rough : bool
        Whether the next sweep is one of warm-up, whose densities are of single precision.
    collapsed : bool
        Of collapsed samplers: whether the next sweep is one of their own.
    levels : ndarray of shape (n_tokens + 1,) or None
        Of collapsed samplers: constants of the predictives by size of topic, NaN where not
        computed yet.
    table : tuple of ndarray or None
        Of ``"alias"``: the frozen proposals.
    acceptance : float
        Of ``"alias"``: share of the proposals that were accepted in the last sweep that had some.
    """

    z: np.ndarray
    alpha: np.ndarray
    counts: np.ndarray
    other_counts: np.ndarray
    posterior: NIW | None = None
    gaussians: Gaussians | None = None
    log_alpha: list = field(default_factory=list)
    n_sweeps: int = 0
    moved: float = 0.0
    rough: bool = False
    collapsed: bool = True
    levels: np.ndarray | None = None
    table: tuple | None = None
    acceptance: float = 1.0


class TopicGibbs:
    """`Conditionals` of Gaussian topics for the Gibbs engine: ``kernel="sampled"``.

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
    start : ndarray of shape (V,)
        Topic of each word with which all chains start.
    clusters : ndarray of shape (M,), optional
        Topic of each document with which its tokens start in place of those of their words.
    learn_alpha : {None, "symmetric", "asymmetric"}, default=None
        Whether alpha is estimated in warm-up by Minka's fixed point. It is the geometric mean of
        the estimates in the second half of warm-up and frozen then: draws are exact given it, and
        do not know how uncertain it is.

    Notes
    -----
    Recorded: ``mean`` (K, E), ``covariance`` (K, E, E), ``counts`` (K, V), ``alpha`` (K,). Traced:
    ``lp``, log p(z, vectors | alpha) with theta, mu and Sigma summed out (no density of vectors
    below power 1); ``moved``, the share of tokens whose topic changed in the last sweep;
    ``smallest``, tokens of the smallest topic; ``acceptance`` with ``"alias"``.
    """

    kernel = "sampled"

    def __init__(
        self, documents, n_components, prior, alpha, *, power=1.0, start, clusters=None,
        learn_alpha=None,
    ):  # fmt: skip
        self.documents, self.n_components, self.prior = documents, n_components, prior
        self.alpha = np.array(np.broadcast_to(np.asarray(alpha, dtype=np.float64), n_components))
        self.power, self.learn_alpha = float(power), learn_alpha
        self.start, self.clusters = start, clusters
        self.ends = documents.ends
        self.blocks = documents.blocks()
        self.n_streams = 1 + len(self.blocks)
        self.entries = kernels.Entries.of(documents)
        self._all = np.arange(documents.n_documents)
        self._halves = np.array_split(self._all, 2)
        self._width = -(-n_components // PAD) * PAD
        self._rough_vectors = documents.vectors.astype(np.float32)

    def init_state(self, rngs):
        """Every token in the topic of its document in ``clusters``, or its word in ``start``."""
        data = self.documents
        if self.clusters is not None:
            return self.state_of(np.repeat(self.clusters, data.lengths).astype(np.int32))
        z = np.empty(data.n_tokens, np.int32)
        kernels.assign_by_word(self.entries, np.asarray(self.start, np.int64), z)
        return self.state_of(z)

    def state_of(self, z):
        """The state with these assignments, which become its own."""
        shape = self.documents.n_words, self.n_components
        counts = (np.empty(shape, np.int32) for _ in range(2))
        state = TopicState(z, self.alpha.copy(), *counts)
        self._refresh(state)
        return state

    def sweep(self, state, rngs, run):
        """Draw mu and Sigma, then all assignments anew."""
        self._after(state, self._sampled(state, rngs, run), run)

    def _after(self, state, moved, run):
        """Note a sweep; bring what follows from the assignments up to date."""
        state.moved = moved / max(1, self.documents.n_tokens)
        state.n_sweeps += 1
        self._refresh(state, run)

    def tune(self, state, step, warmup):
        """Learn alpha, where that is asked for, and freeze it at the end.

        What comes before the last sweep of warm-up is forgotten, and single precision will do.
        """
        state.rough = step + 2 < warmup
        learn_in_warmup(self, state, step, warmup)

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
        """``lp``, ``moved`` and ``smallest``."""
        return {
            "lp": self.log_joint(state),
            "moved": state.moved,
            "smallest": float(state.counts.sum(axis=0).min()),
        }

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

    def _refresh(self, state, run=None):
        """Counts and posterior of the current assignments."""
        parts = state.counts, state.other_counts
        tasks = [(d, self.entries, state.z, c) for d, c in zip(self._halves, parts, strict=True)]
        (run or serial)(kernels.count_anew, tasks)
        state.counts += state.other_counts
        state.posterior = self._posterior(state.counts, run)

    def _posterior(self, counts, run=None):
        weights = np.multiply(counts.T, self.power, order="C")
        return self.prior.update(*topic_moments(self.documents.vectors, weights, run))

    def _sampled(self, state, rngs, run):
        data = self.documents
        state.gaussians = state.posterior.sample(rngs[0])
        vectors = self._rough_vectors if state.rough else data.vectors
        logs = state.gaussians.log_density(vectors, run)
        table = np.empty((data.n_words, self._width))
        relative_weights(logs, self.power, _NO_FLOOR, table, None)
        alpha = np.zeros(self._width)
        alpha[: self.n_components] = state.alpha
        moved = np.zeros(len(self.blocks), np.int64)
        run(
            kernels.draw_assignments,
            [
                (a, b, self.entries, table, alpha, rngs[1 + i], state.z, moved[i : i + 1])
                for i, (a, b) in enumerate(self.blocks)
            ],
        )
        return int(moved.sum())

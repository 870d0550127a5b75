"""Gibbs sampling of topics with Dirichlet priors of words: theta and phi are summed out.

A sweep draws the topics of all tokens in turn given the base measures, then moves the base measures
given the tokens by a Hamiltonian trajectory on their exact density, and draws their variances.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...inference.adaptation import StepSize
from ..gibbs import kernels as shared
from ..gibbs.alpha import learn_in_warmup
from .gibbs_kernels import draw_tokens
from .measure import Base, Tokens
from .moves import Metric, climb, trajectory

# Newton steps from the start, and in a climb of the first half of warm-up.
_FIRST_STEPS, _STEPS = 8, 1
# Of the trajectories: acceptance, and the first step times the fourth root of their dimension.
TARGET_ACCEPT, _STEP = 0.8, 1.2
# A sweep of warm-up in so many climbs: fresh masses cost as much as several sweeps.
_CLIMB_EVERY = 3
# And one in so many has a trajectory, whose gradients cost as much as the tokens of a large corpus.
MOVE_EVERY = 2


@dataclass
class DirichletState:
    """A chain's assignments and base measures.

    Attributes
    ----------
    z : ndarray of shape (n_tokens,), int32
    alpha : ndarray of shape (K,)
    counts : ndarray of shape (V, K), int32
    base : Base
    metric : Metric
    step : StepSize
        Of trajectories.
    climbing : bool
        Whether base measures climb instead of moving at random: early in warm-up.
    log_alpha : list of ndarray
        Estimates of alpha in the second half of warm-up.
    n_sweeps : int
    tried : bool
        Whether the last sweep had a trajectory.
    moved, acceptance : float
        Share of tokens that changed topic in the last sweep; of the last trajectory.
    """

    z: np.ndarray
    alpha: np.ndarray
    counts: np.ndarray
    base: Base
    metric: Metric
    step: StepSize
    climbing: bool = False
    log_alpha: list = field(default_factory=list)
    n_sweeps: int = 0
    tried: bool = False
    moved: float = 0.0
    acceptance: float = 1.0


class DirichletTopics:
    """`Conditionals` of topics whose words have Dirichlet priors.

    Parameters
    ----------
    documents : Documents
        Whole counts.
    measures : BaseMeasures
    alpha : ndarray of shape (K,)
    start : callable
        ``start(rng)`` gives the topics (n_tokens,) of tokens that a chain starts with.
    learn_alpha : {None, "symmetric", "asymmetric"}, default=None
        As of `gibbs.conditionals.TopicGibbs`.

    Notes
    -----
    Recorded: ``topic_vector`` (K, E), ``word_level`` (V,), ``concentration``, ``topic_scale`` and
    ``word_scale`` (numbers), ``counts`` (K, V), ``alpha`` (K,). Traced: ``lp``, log p(z, words,
    parameters | alpha); ``moved``, ``smallest``, ``acceptance``.
    """

    n_streams = 1

    def __init__(self, documents, measures, alpha, start, *, learn_alpha=None):
        self.documents, self.measures, self.start = documents, measures, start
        self.alpha, self.learn_alpha = np.array(alpha, dtype=float), learn_alpha
        self.entries = shared.Entries.of(documents)
        self._all = np.arange(documents.n_documents)

    def init_state(self, rngs):
        """Tokens as ``start`` has them, base measures at their mode given these."""
        state = self.state_of(self.start(rngs[0]))
        state.metric = climb(self.measures, state.base, Tokens.of(state.counts), _FIRST_STEPS)
        return state

    def state_of(self, z, base=None):
        """The state with these assignments, and base measures or the prior's means."""
        base = self.measures.start() if base is None else base
        shape = self.documents.n_words, self.measures.n_components
        counts = np.empty(shape, np.int32)
        shared.count_anew(self._all, self.entries, z, counts)
        metric = Metric.at(self.measures, base, Tokens.of(counts))
        step = StepSize(TARGET_ACCEPT)
        step.restart(_STEP * self.measures.n_free**-0.25)
        return DirichletState(z, self.alpha.copy(), counts, base, metric, step)

    def sweep(self, state, rngs, run):
        """Draw all assignments, then move the base measures."""
        self.draw_assignments(state, rngs[0])
        self.move_measures(state, rngs[0])
        state.n_sweeps += 1

    def draw_assignments(self, state, rng):
        """Draw the topics of all tokens in turn."""
        table, concentration = self.measures.pseudo_tokens(state.base.theta)
        table += state.counts
        sizes = state.counts.sum(axis=0).astype(float)
        moved = draw_tokens(self.entries, table, sizes, state.alpha, concentration, rng, state.z)
        state.moved = moved / max(1, self.documents.n_tokens)
        shared.count_anew(self._all, self.entries, state.z, state.counts)

    def move_measures(self, state, rng):
        """Now and then a trajectory given the tokens, or in early warm-up an ascent."""
        state.tried = not state.climbing and state.n_sweeps % MOVE_EVERY == 0
        if state.tried:
            counts = Tokens.of(state.counts)
            state.acceptance = trajectory(
                self.measures, state.base, counts, state.metric, state.step.value, rng
            )
        elif state.climbing and state.n_sweeps % _CLIMB_EVERY == 0:
            counts = Tokens.of(state.counts)
            state.metric = climb(self.measures, state.base, counts, _STEPS)
        around = 0.0
        if state.climbing:
            # variances at a mode would shrink to nothing; if deviations stayed, those of vectors
            # that the words do not bound would add up, and variances grow with them
            around = state.metric.deviation(rng)
        self.measures.draw_variances(state.base, rng, around)

    def tune(self, state, step, warmup):
        """Learn alpha where asked for, then masses, and the size of steps."""
        learn_in_warmup(self, state, step, warmup)
        half = (warmup + 1) // 2
        if step + 1 == half:
            state.metric = Metric.at(self.measures, state.base, Tokens.of(state.counts))
        elif step >= half and state.tried:
            state.step.update(state.acceptance)
        if step + 1 >= warmup:
            state.step.freeze()
        state.climbing = step + 1 < half

    def observe(self, state):
        """Base measures, ``counts`` and ``alpha`` of this draw."""
        theta = state.base.theta
        return {
            "topic_vector": self.measures.all_vectors(theta),
            "word_level": self.measures.levels(theta).copy(),
            "concentration": np.exp(theta[-1]),
            "topic_scale": np.sqrt(state.base.topic_variance),
            "word_scale": np.sqrt(state.base.word_variance),
            "counts": state.counts.T.astype(np.float64),
            "alpha": state.alpha.copy(),
        }

    def trace(self, state):
        """``lp``, ``moved``, ``smallest`` and ``acceptance``."""
        return {
            "lp": self.log_joint(state),
            "moved": state.moved,
            "smallest": float(state.counts.sum(axis=0).min()),
            "acceptance": state.acceptance,
        }

    def log_joint(self, state):
        """log p(z, words, parameters | alpha) with theta and phi summed out."""
        value = shared.log_assignments(self.documents.ends, state.z, state.alpha)
        value += self.measures.log_likelihood(state.base.theta, Tokens.of(state.counts))
        return value + self.measures.log_prior(state.base)

    def document_counts(self, state):
        """Tokens of each document in each topic, ndarray of shape (M, K), int32."""
        out = np.empty((self.documents.n_documents, self.alpha.size), np.int32)
        shared.count_documents(self.documents.ends, state.z, out)
        return out

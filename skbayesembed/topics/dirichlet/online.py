"""Stochastic variational inference of topics with Dirichlet priors of words.

As in `topics.vi.online`, expected counts per document are averaged over batches. The factor of the
words of a topic is Dirichlet(eta g_k + n_k), where the tokens n of a word have the proportions of
these averages and the sum that the word has in the whole corpus, which is known or estimated from
all documents seen: averages alone forget how often a rare word was.

Base measures climb when the number of batches has grown by half: the averages move ever less, and
one of their steps costs as much as many batches.
"""

from __future__ import annotations

import copy

import numpy as np
from scipy.special import digamma

from ..vi.online import OnlineLearner, spread_counts
from .moves import climb
from .problem import level_prior
from .variational import (
    FIRST_STEPS,
    STEPS,
    DirichletFactors,
    expected_tokens,
    relative_weights,
    sample_base,
)

# Batches before base measures climb again, and by how much their number grows from then on.
_FIRST_CLIMB, _GROWTH = 4, 1.5


class OnlineDirichlet(OnlineLearner):
    """Topics with Dirichlet priors of words, learned from batches over a fixed vocabulary.

    Parameters
    ----------
    measures : BaseMeasures
        A copy is kept, whose prior means of levels follow the words seen.
    alpha : float or array-like of shape (n_components,)
        Dirichlet prior of documents; the start of it where it is learned.
    start : ndarray of shape (n_words, n_components)
        Tokens of words in topics, a document, before the first batch.
    n_start : int
        Documents that it comes from.
    **options
        Of `OnlineLearner`.

    Attributes
    ----------
    base : Base
        Base measures, at their mode given the averages when they climbed last.
    """

    def __init__(self, measures, alpha, start, n_start, **options):
        super().__init__(measures.vectors, measures.n_components, alpha, **options)
        self.measures, self.base = copy.copy(measures), measures.start()
        self._given, self._n_start, self._next_climb = start, n_start, _FIRST_CLIMB

    def result(self):
        """`DirichletFactors` of the batches so far, without documents, and without the start."""
        counts, base = self.expected_counts(), copy.deepcopy(self.base)
        if self.start_weight < 1:
            climb(self._measures_now(), base, expected_tokens(counts), FIRST_STEPS)
        elif self.n_batches:  # steps too small to have left the start
            base.theta[:] = np.nan
        gamma = np.empty((0, self.n_components))
        return DirichletFactors(base, gamma, counts, self.alpha.copy(), self.n_batches)

    def sample_q(self, q, n, rng):
        """Independent draws, as of `DirichletVI.sample_q`; ``counts`` as of `spread_counts`."""
        draws = sample_base(self._measures_now(), q, n, rng)
        draws["counts"] = spread_counts(q.counts, n, rng)
        draws["alpha"] = np.tile(q.alpha, (n, 1))
        return draws

    # ---------------------------------------------------------------------------------------------

    def _start(self, documents, run):
        self.measures = self._measures_now()
        self.base = self.measures.start()
        prior = self.base.theta[-1]
        self._climb(self._evidence(self._given.copy()), FIRST_STEPS)
        # clusters alone would say that counts follow the base measure to the letter
        self.base.theta[-1] = prior
        self._prior, _ = self.measures.pseudo_tokens(self.base.theta)
        return self._given

    def _word_weights(self, used, run):
        counts = self._evidence(self._scale * self._counts)
        sizes = counts.sum(axis=0) + np.exp(self.base.theta[-1])
        expected = digamma(self._prior[used] + counts[used]) - digamma(sizes)
        return relative_weights(expected)[0], None

    def _take_in(self, rho, share, counts, read, run):
        if self.n_batches < self._next_climb:
            return
        self._next_climb = max(self._next_climb + 1, int(_GROWTH * self.n_batches))
        self.measures = self._measures_now()
        self._climb(self._evidence(self._scale * self._counts), STEPS)

    def _climb(self, counts, n_steps):
        self.base = copy.copy(self.base)
        climb(self.measures, self.base, expected_tokens(counts), n_steps)
        self._prior, _ = self.measures.pseudo_tokens(self.base.theta)

    def _evidence(self, counts):
        """Tokens that topics are learned from, in place: as many as have been seen, M at most."""
        counts = self._as_many(counts)
        counts *= self._known
        return counts

    @property
    def _known(self):
        """Share of the corpus that averages come from."""
        return min(1.0, max(self.n_seen, self._n_start) / self.n_documents)

    def _measures_now(self):
        """Priors whose levels are those of the words seen so far."""
        found = copy.copy(self.measures)
        found.offset = level_prior(self._known * self.totals)
        return found

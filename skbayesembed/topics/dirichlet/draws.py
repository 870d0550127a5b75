"""Words of topics under draws of their Dirichlet priors."""

from __future__ import annotations

import weakref

import numpy as np
from scipy.special import logsumexp

from ..predict import PREDICTIVE_DRAWS, FoldIn, TopicDraws
from .measure import base_measure

# Directions of new words by draw, of posteriors that have read some, and of how many draws at most.
_DIRECTIONS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_MOST_KEPT = 4 * PREDICTIVE_DRAWS


class DirichletDraws(TopicDraws):
    """Evenly spaced draws of topics with Dirichlet priors of words.

    Parameters
    ----------
    posterior : Posterior
    vectors : ndarray of shape (V, E)
        Of the words of training.
    most, chosen, vector_draws
        As of `TopicDraws`.
    """

    def __init__(self, posterior, vectors, most=PREDICTIVE_DRAWS, chosen=None, vector_draws=None):
        super().__init__(posterior, 1.0, most, chosen, vector_draws)
        self._vectors = vectors

    def measure(self, s):
        """g, (V, K)."""
        levels = self._draw("word_level", s)
        known = self.vocabulary(s, self._vectors)
        return base_measure(known, self._draw("topic_vector", s), levels)

    def pseudo_tokens(self, s):
        """eta g (V, K), tokens of words in topics (V, K), and eta."""
        concentration = self._draw("concentration", s).item()
        return concentration * self.measure(s), self._draw("counts", s).T, concentration

    def log_density(self, s, vectors):
        """Refused: topics are no densities of vectors."""
        raise ValueError(
            "Topics of word_model='dirichlet' have no density of vectors: use score, or "
            "word_model='gaussian'."
        )

    def word_proba(self, s, by, vectors=None):
        """Probabilities (K, V) of words; by "density" those of the base measure alone."""
        measure = self.measure(s)
        if by == "density":
            return np.ascontiguousarray(measure.T)
        counts, concentration = self._draw("counts", s), self._draw("concentration", s).item()
        proba = counts + concentration * measure.T
        return proba / (counts.sum(axis=1, keepdims=True) + concentration)

    def drawn_proba(self, s, by, vectors, rng):
        """Words of topics (K, V), drawn by their Dirichlet posteriors given the tokens.

        By "density", of the base measure, a draw leaves nothing open.
        """
        if by == "density" or len(self) == 1:
            return self.word_proba(s, by, vectors)
        pseudo, tokens, _ = self.pseudo_tokens(s)
        drawn = rng.standard_gamma((pseudo + tokens).T)
        total = drawn.sum(axis=1)
        # of a topic without tokens under a tiny concentration gammas are lost
        lost = total == 0.0
        drawn[lost], total[lost] = self.word_proba(s, by, vectors)[lost], 1.0
        return drawn / total[:, None]

    def token_proba(self, s):
        """Posterior means of the words of topics, also of those without tokens."""
        return self.word_proba(s, "count")

    def new_proba(self, s, vectors):
        """Base measure of words that are not in the vocabulary, whose own adds up to one, (n, K).

        Their levels are those that the vocabulary's words with such vectors have: a ridge
        regression, after which both have the same mean of exp(level).
        """
        if not len(vectors):
            return np.empty((0, self._draw("alpha", s).size))
        directions, level, normaliser = self._directions(s)
        return np.exp(vectors @ directions.T + level - normaliser)

    def _directions(self, s):
        """What `new_proba` knows of a draw: directions (K, E), a level and normalisers (K,).

        They are the same for all words, and are kept for the next documents.
        """
        kept, draw = _DIRECTIONS.setdefault(self._posterior, {}), int(self.chosen[s])
        found = kept.get(draw)
        if found is None:
            found = self._worked_out(s)
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[draw] = found
        return found

    def _worked_out(self, s):
        topics, levels = self._draw("topic_vector", s), self._draw("word_level", s)
        known = self.vocabulary(s, self._vectors)
        slope = np.linalg.solve(
            known.T @ known + np.eye(known.shape[1]), known.T @ (levels - levels.mean())
        )
        level = logsumexp(levels) - logsumexp(known @ slope)
        return topics + slope, level, logsumexp(known @ topics.T + levels[:, None], axis=0)

    def open_proba(self, s, reading, by):
        """Probabilities (n_words, K) of the words of a reading beside those of the vocabulary.

        What is known of topics says how the vocabulary's words share their part of the topic, but
        not how large that is: words without a token in training were not looked for. It is that
        of their base measure.
        """
        known = reading.places >= 0
        out = np.empty((reading.places.size, self._draw("alpha", s).size))
        new = self.new_proba(s, reading.vectors[~known])
        total = 1.0 + new.sum(axis=0)
        out[known] = self.word_proba(s, by).T[reading.places[known]] / total
        out[~known] = new / total
        return out

    def weights(self, s, reading, by):
        """As of `TopicDraws`: words of the vocabulary by `word_proba`, others by their vectors."""
        out = np.empty((reading.places.size, self._draw("alpha", s).size))
        known = reading.places >= 0
        out[known] = self.word_proba(s, by).T[reading.places[known]]
        out[~known] = self.new_proba(s, reading.vectors[~known])
        return out / out.max(axis=1, keepdims=True)


class OpenFoldIn(FoldIn):
    """Topics of documents where all words of the reading are counted as possible ones."""

    # the last draw whose probabilities were asked for, and these: a score asks for each twice
    _last = None

    def weights(self, s):
        proba = self.proba(s)
        return proba / proba.max(axis=1, keepdims=True)

    def proba(self, s):
        """Probabilities (n_words, K) of the reading's words."""
        if self._last is None or self._last[0] != s:
            self._last = s, self.draws.open_proba(s, self.reading, self.by)
        return self._last[1]

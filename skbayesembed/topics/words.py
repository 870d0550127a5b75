"""Tables of topics and their words, read from the posterior."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..common.checks import check_choice, check_integer, check_prob
from ..common.random import seed_at
from ..metrics.topics import coherence
from ..numeric.relevance import RANKS, first_words, notes_on_rank, ranking
from ..posterior.cells import first_printed
from ..posterior.naming import called, given_names, named
from ..posterior.sources import note_on_means, notes_on, source_of
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table
from .checks import WORD_PROBAS
from .draws import draws_of
from .labels import (
    label_words,
    marked,
    mixed_of,
    notes_on_mixing,
    notes_on_rough,
    notes_on_unmixed,
    rough_topics,
)
from .predict import PREDICTIVE_DRAWS, counted_proba
from .recording import background_of, has_gaussians, rhat_of_shares, topic_shares, unmixed_topics

if TYPE_CHECKING:
    import pandas as pd

_OF_VI = "variational shares have almost no width: report none of these intervals"
# Word probabilities of a topic are summarised over at most this many draws.
_MOST_DRAWS = 200
# Key of the random numbers beside those of other readings.
_STREAM = 3


@dataclass(frozen=True, repr=False, eq=False)
class TopicWords(Table):
    """Table of the top words of each topic, with their probabilities.

    Attributes
    ----------
    words : ndarray of str of shape (n_topics, n)
        The words, in the order of ``rank``.
    mean : ndarray of shape (n_topics, n)
        Posterior means of their probabilities.
    interval : ndarray of shape (n_topics, n, 2)
        Highest density intervals.
    prob_top : ndarray of shape (n_topics, n)
        Stability: the share of draws in which the word is among the topic's top ``n``.
    by : {"count", "density"}
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the figures; 1 for a point estimate.
    rank : {"probable", "relevant"}
    background : int or None
        The topic that is the background of the others, if any.
    names : ndarray of str of shape (n_topics,) or None
        Names of the topics, if they were given (`GaussianLDA.name_topics`).
    unmixed : ndarray of int or None
        Topics whose shares have not mixed. Print and figures show their words without intervals;
        ``interval`` and data frames keep the numbers, with a column ``mixed``.
    rough : dict of int to str
        Topics whose intervals are rough, and why, as of `TopicEffects`.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed import GaussianLDA
    >>> rng = np.random.default_rng(0)
    >>> vectors = np.repeat([[0.0, 3.0], [3.0, 0.0]], 6, axis=0) + rng.normal(size=(12, 2))
    >>> counts = rng.poisson(2, size=(40, 12))
    >>> model = GaussianLDA(2, embedding=vectors, solver="vi", random_state=0).fit(counts)
    >>> model.top_words(3).words.shape
    (2, 3)
    """

    words: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    prob_top: np.ndarray
    by: str
    prob: float
    n_draws: int
    rank: str = "probable"
    background: int | None = None
    names: np.ndarray | None = None
    unmixed: np.ndarray | None = None
    rough: dict[int, str] = field(default_factory=dict)

    def __len__(self):
        return len(self.words)

    def _mixed(self):
        n_topics, n = self.words.shape
        return np.repeat(mixed_of(self.unmixed, n_topics), n)

    def _series(self):
        return super()._series() | {"mixed": self._mixed()}

    def _columns(self):
        interval = self.interval.reshape(-1, 2)
        # of one draw it says nothing
        point = np.full(self.words.size, self.n_draws == 1)
        return [
            Column("", self.words.ravel(), ("word",), left=True),
            Column("", self.mean.ravel(), ("mean",), ".4f"),
            Column("", interval, ("low", "high"), ".4f", few=~self._mixed()),
            Column("", self.prob_top.ravel(), ("prob_top",), ".2f", few=point),
        ]

    def _title(self):
        n = self.words.shape[1]
        words = f"{self.rank} words of each topic by {self.by}"
        return f"{words}, {100 * self.prob:g} % intervals, P(top {n})"

    def _notes(self):
        return [*notes_on_rank(self.rank), *super()._notes()]

    def _groups(self):
        topics = np.repeat(np.arange(len(self.words)), self.words.shape[1])
        return "topic", named(self.names, topics)


@dataclass(frozen=True, repr=False, eq=False)
class TopicTable(Table):
    """Table of the topics, one row each. Columns are also reached by name: ``table["share"]``.

    Attributes
    ----------
    share : ndarray of shape (n_topics,)
        Posterior mean of each topic's share of the training tokens.
    interval : ndarray of shape (n_topics, 2)
        Highest density intervals of the shares.
    n_words : ndarray of shape (n_topics,)
        Effective number of words: the exponential of the entropy of their probabilities.
    spread : ndarray of shape (n_topics,)
        Posterior mean of the root mean square distance of the topic's vectors from their mean.
    stability : ndarray of shape (n_topics,)
        Share of draws in which a word is among the top words, averaged over the top words.
    coherence : ndarray of shape (n_topics,)
        NPMI of the top words in the training documents; NaN if these are not kept.
    words : ndarray of str of shape (n_topics, n)
        Words that distinguish the topic from the others, by relevance (Sievert & Shirley 2014).
        Stability and coherence refer to the most probable words.
    prob : float
        Probability of the intervals.
    background : int or None
        The topic of words that all documents share, the background of the others.
    unmixed : ndarray of int or None
        Topics whose shares have not mixed. In print they are marked and have no interval;
        ``interval`` and data frames keep the numbers, with a column ``mixed``.
    rhat : ndarray of shape (n_topics,) or None
        Split R-hat of the shares, in data frames; None if the draws do not come from chains.
    names : ndarray of str of shape (n_topics,) or None
        Names of the topics, if they were given (`GaussianLDA.name_topics`).
    rough : dict of int to str
        Topics whose intervals are rough, and why, as of `TopicEffects`.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed import GaussianLDA
    >>> rng = np.random.default_rng(0)
    >>> vectors = np.repeat([[0.0, 3.0], [3.0, 0.0]], 6, axis=0) + rng.normal(size=(12, 2))
    >>> counts = rng.poisson(2, size=(40, 12))
    >>> model = GaussianLDA(2, embedding=vectors, solver="vi", random_state=0).fit(counts)
    >>> table = model.topic_info(3)
    >>> float(table["share"].sum().round(6)), table.words.shape
    (1.0, (2, 3))
    """

    share: np.ndarray
    interval: np.ndarray
    n_words: np.ndarray
    spread: np.ndarray
    stability: np.ndarray
    coherence: np.ndarray
    words: np.ndarray
    prob: float
    background: int | None = None
    unmixed: np.ndarray | None = None
    rhat: np.ndarray | None = None
    names: np.ndarray | None = None
    rough: dict[int, str] = field(default_factory=dict)

    def _series(self):
        more = {} if self.rhat is None else {"rhat": self.rhat}
        return super()._series() | {"mixed": self._mixed()} | more

    def _mixed(self):
        return mixed_of(self.unmixed, self.share.size)

    def _columns(self):
        words = [" ".join(row) for row in self.words]
        topics = named(self.names, np.arange(len(words)))
        point = np.full(len(words), self.source == "point")
        return [
            Column("topic", topics, self._named(), marked(self.unmixed, self.names)),
            Column("share", self.share, ("share",)),
            Column("interval", self.interval, ("low", "high"), left=True, few=~self._mixed()),
            Column("words", self.n_words, ("n_words",), ".0f"),
            Column("spread", self.spread, ("spread",)),
            Column("stability", self.stability, ("stability",), ".2f", few=point),
            Column("coherence", self.coherence, ("coherence",), ".2f"),
            Column("relevant words", words, ("words",), first_printed, left=True),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each topic. ``low`` and ``high`` are numbers for all topics; where ``mixed``
            is False, do not use them. ``topic`` is a column if topics have names.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> frame = model.fit(data.counts).topic_info().to_frame()
        >>> frame.columns.tolist()[:3], frame["mixed"].tolist()
        (['share', 'low', 'high'], [True, True])
        """
        return super().to_frame()

    def _named(self):
        return () if self.names is None else ("topic",)

    def _notes(self):
        n = self.words.shape[1]
        first = "the first word" if n == 1 else f"the first {n} words"
        notes = [
            f"({100 * self.prob:g} % intervals of the share; stability: of {first} of a topic)",
            *self._notes_on_source(),
        ]
        if self.background is not None:
            notes.append(
                f"({called(self.names, 'topic', self.background)} is the background of the others)"
            )
        mixed = self._mixed()
        notes += note_on_means(self.share[mixed], self.interval[mixed])
        return notes + self._notes_on_width() + notes_on_unmixed(self.unmixed, self.names)

    def _notes_on_source(self):
        """Lines on what intervals rest on, without one that `_notes_on_width` goes beyond."""
        weaker = notes_on("vi") if self._is_variational() else []
        return [note for note in super()._notes() if note not in weaker]

    def _is_variational(self):
        return (self.source or "").split(", ")[0] == "vi"

    def _notes_on_width(self):
        """A line, in a list, on shares whose intervals have no width in print; none of a point."""
        if self._is_variational():
            return [f"({_OF_VI})"]
        narrow = np.diff(np.round(self.interval, 3), axis=1)[:, 0] == 0
        same = np.flatnonzero(narrow & self._mixed())
        if self.source == "point" or not same.size:
            return []
        one = same.size == 1
        which = f"topic{'' if one else 's'} {', '.join(map(str, named(self.names, same)))}"
        these, their = (
            ("this topic", "its interval is") if one else ("these topics", "their intervals are")
        )
        return [
            f"({which}: hardly any tokens enter or leave {these} between draws, so {their} "
            "narrower than the digits shown)"
        ]


def top_words(estimator, n, by, prob, rank="probable"):
    """The ``n`` first words of every topic, by counts or by density."""
    check_integer("n", n, 1)
    check_prob(prob)
    check_choice("by", by, WORD_PROBAS)
    check_choice("rank", rank, RANKS)
    n = min(n, estimator.words_.size)
    draws = draws_of(estimator, _MOST_DRAWS)
    if by == "density":
        # a table costs as much as a sweep of the fast samplers
        draws = draws_of(estimator)
    mean, shares = estimator._word_proba(by), topic_shares(estimator.posterior_)
    order = first_words(mean, shares, n, rank)
    values, top = np.empty((len(draws), *order.shape)), np.zeros(order.shape)
    for s in range(len(draws)):
        rng = np.random.default_rng(seed_at(estimator._reading_seed, _STREAM, s))
        proba = draws.drawn_proba(s, by, estimator._vectors, rng)
        values[s] = np.take_along_axis(proba, order, axis=1)
        ranks = ranking(proba, shares, rank)
        # as many words are ahead as come before it
        least = np.partition(ranks, ranks.shape[1] - n, axis=1)[:, [ranks.shape[1] - n]]
        top += np.take_along_axis(ranks, order, axis=1) >= least
    return TopicWords(
        estimator.words_[order],
        np.take_along_axis(mean, order, axis=1),
        hdi_interval(values, prob=prob, axis=0),
        # a point estimate has no probabilities
        top / len(draws) if len(draws) > 1 else np.full(top.shape, np.nan),
        by,
        prob,
        len(draws),
        rank,
        background_of(estimator.posterior_),
        given_names(estimator.posterior_, "topic"),
        unmixed_topics(estimator.posterior_),
        rough_topics(estimator.posterior_),
    )._resting_on(source_of(estimator), notes_on_mixing(estimator.posterior_))


def mean_word_proba(estimator, by):
    """Posterior means of word probabilities, (n_topics, n_words)."""
    posterior = estimator.posterior_
    total = 0.0
    if by == "count" and has_gaussians(posterior):
        draws = posterior.flat("counts")
        for counts in draws:
            total = total + counted_proba(counts)
        return total / len(draws)
    draws = draws_of(estimator, PREDICTIVE_DRAWS if has_gaussians(posterior) else _MOST_DRAWS)
    for s in range(len(draws)):
        total = total + draws.word_proba(s, by, estimator._vectors)
    return total / len(draws)


def topic_table(estimator, n, prob):
    """`TopicTable` of a fitted estimator."""
    words = top_words(estimator, n, estimator.word_proba, prob)
    tokens = estimator.posterior_.flat("counts").sum(axis=-1)
    share = tokens / tokens.sum(axis=1, keepdims=True)
    proba = estimator._word_proba(estimator.word_proba)
    entropy = -np.sum(proba * np.log(np.maximum(proba, 1e-300)), axis=1)
    if estimator._training is None:
        coherent = np.full(len(words), np.nan)
    else:
        coherent = coherence_of(estimator, words.words, estimator._training, "npmi")
    return TopicTable(
        share.mean(axis=0),
        hdi_interval(share, prob=prob, axis=0),
        np.exp(entropy),
        _spread(estimator),
        words.prob_top.mean(axis=1),
        coherent,
        label_words(estimator, n),
        prob,
        background_of(estimator.posterior_),
        unmixed_topics(estimator.posterior_),
        rhat_of_shares(estimator.posterior_),
        given_names(estimator.posterior_, "topic"),
        rough_topics(estimator.posterior_),
    )._resting_on(source_of(estimator), notes_on_rough(estimator.posterior_))


def _spread(estimator):
    """Root mean square distance of the vectors of each topic from their mean, (n_topics,)."""
    posterior = estimator.posterior_
    if has_gaussians(posterior):
        trace = np.trace(posterior.flat("covariance"), axis1=-2, axis2=-1)
        return np.sqrt(trace).mean(axis=0)
    proba, vectors = estimator._word_proba(estimator.word_proba), estimator._vectors
    squares = proba @ np.sum(vectors**2, axis=1) - np.sum((proba @ vectors) ** 2, axis=1)
    return np.sqrt(np.maximum(squares, 0.0))


def coherence_of(estimator, words, counts, measure):
    """Coherence of ``words`` (n_topics, n) of topics in documents with ``counts``, (n_topics,)."""
    return coherence(
        words, counts, measure=measure, n=max(2, words.shape[1]), vocabulary=estimator.vocabulary_
    )

"""Reading the posterior of topics: words, tables, intervals, coherence, pyLDAvis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_bool, check_choice, check_integer, check_prob
from ..corpus.known import known_counts
from ..corpus.text import input_kind, materialise
from ..io.word_vectors import WordVectors
from ..metrics.topics import coherence
from ..numeric.relevance import RANKS, first_words, notes_on_rank, ranking
from ..posterior.naming import called, check_names, given_names, named
from ..posterior.representatives import Representatives, largest, texts_of
from ..posterior.results import About, Result
from ..posterior.sources import note_on_means, source_of
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table, first_printed
from .checks import WORD_PROBAS, topic_index
from .documents import DocumentTopics, document_topics, source_of_shares
from .draws import draws_of
from .effects import TopicEffects, topic_effects
from .export import words_and_topics
from .inputs import vocabulary_reading
from .labels import (
    label_words,
    marked,
    mixed_of,
    notes_on_mixing,
    notes_on_rough,
    notes_on_unmixed,
)
from .predict import PREDICTIVE_DRAWS, FoldIn, counted_proba, topic_features
from .recording import background_of, has_gaussians, rhat_of_shares, topic_shares, unmixed_topics
from .theta import theta_draws

# Word probabilities of a topic are summarised over at most this many draws.
_MOST_DRAWS = 200


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

    def __len__(self):
        return len(self.words)

    def _columns(self):
        return [
            Column("", self.words.ravel(), ("word",), left=True),
            Column("", self.mean.ravel(), ("mean",), ".4f"),
            Column("", self.interval.reshape(-1, 2), ("low", "high"), ".4f"),
            Column("", self.prob_top.ravel(), ("prob_top",), ".2f"),
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
        Topics whose shares have not mixed; they are marked, and data frames have a column
        ``mixed``.
    rhat : ndarray of shape (n_topics,) or None
        Split R-hat of the shares, in data frames; None if the draws do not come from chains.
    names : ndarray of str of shape (n_topics,) or None
        Names of the topics, if they were given (`GaussianLDA.name_topics`).

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

    def _series(self):
        more = {} if self.rhat is None else {"rhat": self.rhat}
        return super()._series() | {"mixed": mixed_of(self.unmixed, self.share.size)} | more

    def _columns(self):
        words = [" ".join(row) for row in self.words]
        topics = named(self.names, np.arange(len(words)))
        return [
            Column("topic", topics, self._named(), marked(self.unmixed, self.names)),
            Column("share", self.share, ("share",)),
            Column("interval", self.interval, ("low", "high"), left=True),
            Column("words", self.n_words, ("n_words",), ".0f"),
            Column("spread", self.spread, ("spread",)),
            Column("stability", self.stability, ("stability",), ".2f"),
            Column("coherence", self.coherence, ("coherence",), ".2f"),
            Column("relevant words", words, ("words",), first_printed, left=True),
        ]

    def _named(self):
        return () if self.names is None else ("topic",)

    def _notes(self):
        notes = [f"({100 * self.prob:g} % intervals of the share)", *super()._notes()]
        if self.background is not None:
            notes.append(
                f"({called(self.names, 'topic', self.background)} is the background of the others)"
            )
        notes += note_on_means(self.share, self.interval)
        return notes + self._notes_on_width() + notes_on_unmixed(self.unmixed, self.names)

    def _notes_on_width(self):
        """A line, in a list, on shares whose intervals have no width in print; none of a point."""
        same = np.flatnonzero(np.diff(np.round(self.interval, 3), axis=1)[:, 0] == 0)
        if self.source == "point" or not same.size:
            return []
        one = same.size == 1
        which = f"topic{'' if one else 's'} {', '.join(map(str, named(self.names, same)))}"
        if (self.source or "").split(", ")[0] == "vi":
            why = "variational shares have almost no width; do not report these intervals"
        else:
            these, their = (
                ("this topic", "its interval is")
                if one
                else ("these topics", "their intervals are")
            )
            why = (
                f"hardly any tokens enter or leave {these} between draws, so {their} narrower than "
                "the digits shown"
            )
        return [f"({which}: {why})"]


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
        proba = draws.word_proba(s, by, estimator._vectors)
        values[s] = np.take_along_axis(proba, order, axis=1)
        ranks = ranking(proba, shares, rank)
        # as many words are ahead as come before it
        least = np.partition(ranks, ranks.shape[1] - n, axis=1)[:, [ranks.shape[1] - n]]
        top += np.take_along_axis(ranks, order, axis=1) >= least
    return TopicWords(
        estimator.words_[order],
        np.take_along_axis(mean, order, axis=1),
        hdi_interval(values, prob=prob, axis=0),
        top / len(draws),
        by,
        prob,
        len(draws),
        rank,
        background_of(estimator.posterior_),
        given_names(estimator.posterior_, "topic"),
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
    proba = estimator.components_
    entropy = -np.sum(proba * np.log(np.maximum(proba, 1e-300)), axis=1)
    if estimator._training is None:
        coherent = np.full(len(words), np.nan)
    else:
        coherent = _coherence(estimator, words.words, estimator._training, "npmi")
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
    )._resting_on(source_of(estimator), notes_on_rough(estimator.posterior_))


def _spread(estimator):
    """Root mean square distance of the vectors of each topic from their mean, (n_topics,)."""
    posterior = estimator.posterior_
    if has_gaussians(posterior):
        trace = np.trace(posterior.flat("covariance"), axis1=-2, axis2=-1)
        return np.sqrt(trace).mean(axis=0)
    proba, vectors = estimator.components_, estimator._vectors
    squares = proba @ np.sum(vectors**2, axis=1) - np.sum((proba @ vectors) ** 2, axis=1)
    return np.sqrt(np.maximum(squares, 0.0))


def _coherence(estimator, words, counts, measure):
    return coherence(
        words, counts, measure=measure, n=max(2, words.shape[1]), vocabulary=estimator.vocabulary_
    )


def representative_documents(estimator, X, topic, n, texts, n_draws, prob):
    """`Representatives` of one topic, or of all."""
    check_prob(prob)
    check_integer("n", n, 1)
    check_integer("n_draws", n_draws, 1)
    k = len(estimator.components_)
    topics = range(k) if topic is None else [topic_index(estimator, topic)]
    X = None if X is None else materialise(X)
    counts = estimator._documents(X, "X")
    kind = "counts" if X is None else input_kind(X)
    texts = texts_of(X, kind, texts, counts.shape[0], "documents")
    usable = np.asarray(counts.sum(axis=1)).ravel() > 0
    if not usable.any():
        raise ValueError("X has no document with a word of the vocabulary.")
    options = estimator.word_proba, estimator.n_jobs
    fold = FoldIn(vocabulary_reading(estimator, counts), draws_of(estimator), *options)
    mean = topic_features(fold, False)
    rows = largest(mean, topics, usable, n)
    flat, groups = rows.ravel(), np.repeat(np.asarray(topics), rows.shape[1])
    some, place = np.unique(flat, return_inverse=True)
    draws = theta_draws(estimator, vocabulary_reading(estimator, counts[some]), n_draws)
    draws = draws[:, place, groups]
    table = Representatives(
        "topic", groups, flat, mean[flat, groups], hdi_interval(draws, prob=prob),
        None if texts is None else texts[flat], prob, n_draws,
        names=given_names(estimator.posterior_, "topic"),
    )  # fmt: skip
    notes = notes_on_mixing(estimator.posterior_, topics)
    return table._resting_on(source_of_shares(estimator), notes)


class TopicReadingMixin:
    """Methods of estimators whose posterior has topics with words and Gaussians."""

    # of the estimator
    posterior_: Any
    components_: Any
    likelihood_power_: Any
    words_: Any
    word_proba: str
    n_jobs: int | None

    def _word_proba(self, by):
        """Posterior means of word probabilities ``by`` "count" or "density"."""
        return self.components_ if by == self._components_by else mean_word_proba(self, by)

    def top_words(
        self, n: int = 10, *, by: str | None = None, rank: str = "probable", prob: float = 0.9
    ) -> TopicWords:
        """Return the top words of each topic, with intervals and their stability.

        Parameters
        ----------
        n : int, default=10
            Number of words for each topic.
        by : {"count", "density"} or None, default=None
            Whether probabilities come from the topic's tokens, or from the topic's density at the
            word's vector, normalized over the vocabulary. None uses ``word_proba``.
        rank : {"probable", "relevant"}, default="probable"
            Which words: the most probable ones, or those that distinguish the topic from the
            others, by relevance (Sievert & Shirley 2014), which combines a word's probability with
            its ratio to the overall probability.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        TopicWords
            Prints as a table. ``words``, ``mean`` and ``prob_top`` (n_topics, n), ``interval``
            (n_topics, n, 2). Counts use at most 200 draws, densities at most 10, which makes their
            intervals rough.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.top_words(5).words.shape
        (2, 5)
        """
        check_is_fitted(self, "posterior_")
        return top_words(self, n, self.word_proba if by is None else by, prob, rank)

    def topic_info(self, n: int = 10, *, prob: float = 0.9) -> TopicTable:
        """Return a table of the topics: shares, spread, stability, coherence and words.

        Parameters
        ----------
        n : int, default=10
            Number of words for each topic. The most relevant words are shown; coherence and
            stability refer to the most probable ones.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        TopicTable

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> bool(np.isclose(model.topic_info(5).share.sum(), 1.0))
        True
        """
        check_is_fitted(self, "posterior_")
        check_integer("n", n, 1)
        return topic_table(self, n, prob)

    def document_topics(
        self, X: Any = None, *, n_draws: int = 200, prob: float = 0.9
    ) -> DocumentTopics:
        """Return the shares of the topics in documents, with intervals.

        Parameters
        ----------
        X : documents or counts, as in ``fit``, optional
            The training documents by default.
        n_draws : int, default=200
            Number of draws of the shares for the intervals, at least 2.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        DocumentTopics
            Prints as a table, whose last lines say what the intervals rest on and which topics have
            not mixed. ``mean`` (n_documents, n_topics), as from ``transform``, ``interval``
            (n_documents, n_topics, 2) and ``draws`` (n_draws, n_documents, n_topics), as from
            ``sample_transform``.

        Raises
        ------
        ValueError
            If ``X`` is needed because ``partial_fit`` keeps no documents, or counts are not whole
            numbers.
        MemoryError
            If the draws would not fit in memory.

        Notes
        -----
        Intervals cover the uncertainty of the topics and, given the topics, that of a document's
        shares, for which only its own words are evidence. To allow for the sampling of
        documents, or to compare groups of them, use `effects`.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> table = model.fit(data.counts).document_topics(data.counts[:3], prob=0.5)
        >>> table.mean.shape, table.interval.shape
        ((3, 2), (3, 2, 2))
        """
        check_is_fitted(self, "posterior_")
        return document_topics(self, X, n_draws, prob)

    def representative_documents(
        self,
        X: Any = None,
        topic: int | str | None = None,
        *,
        n: int = 5,
        texts: Sequence[str] | None = None,
        n_draws: int = 200,
        prob: float = 0.9,
    ) -> Representatives:
        """Return the documents with the largest shares of a topic, with intervals, for reading.

        Parameters
        ----------
        X : documents or counts, as in ``fit``, optional
            The training documents by default.
        topic : int or str, optional
            Number, or name from `name_topics`; all topics by default.
        n : int, default=5
            Number of documents for each topic; fewer if fewer have a known word.
        texts : sequence of str of shape (n_documents,), optional
            Text to show for each document. By default X, if it holds strings or tokens.
        n_draws : int, default=200
            Number of draws of the shares for the intervals.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Representatives
            A table: ``index`` in X, ``mean`` (as from ``transform``) and ``interval`` of the share,
            and ``texts``.

        Raises
        ------
        ValueError
            If there is no such topic, the number of texts is not that of the documents, no document
            has a known word, or X is needed because ``partial_fit`` keeps no documents.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.representative_documents(data.counts, n=3).index.shape
        (6,)
        """
        check_is_fitted(self, "posterior_")
        return representative_documents(self, X, topic, n, texts, n_draws, prob)

    def effects(
        self,
        X: Any,
        design: Any,
        units: Any = None,
        *,
        times: Any = None,
        shares: str = "unbiased",
        n_draws: int = 50,
        prob: float = 0.9,
    ) -> TopicEffects:
        """Estimate the effects of covariates of documents on the shares of topics.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
            The training documents or others. Documents without a known word are left out.
        design : array-like, Series, DataFrame or dict
            Covariates, numeric or boolean, of shape (n_documents,) or (n_documents, n_terms). The
            columns of a DataFrame, or the keys of a dict of columns, name the terms. A constant is
            added if there is none.
        units : array-like of shape (n_documents,), optional
            What was sampled: speakers, authors, works; by default each document. Standard errors
            are then valid even if documents of one unit resemble each other.
        times : array-like of shape (n_documents,), optional
            Numbers or dates, where units may be autocorrelated in time: residuals of each topic are
            then modeled as `regress` models them. By default, units are treated as independent.
        shares : {"unbiased", "posterior"}, default="unbiased"
            What is regressed. ``"posterior"`` uses posterior draws of a document's shares, as stm's
            ``estimateEffect`` does. They are shrunk toward their prior mean, which does not know
            the covariates, and effects are too small by the same factor: slightly in long
            documents, by up to a tenth in documents of fifteen words. ``"unbiased"`` uses weighted
            least squares estimates without that prior, which are noisier for a document but
            unbiased.
        n_draws : int, default=50
            Maximum number of draws of the topics for which the regression is run.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        TopicEffects
            A table; ``mean``, ``sd``, ``p_value`` (n_terms, n_topics), ``interval`` (n_terms,
            n_topics, 2), ``draws`` (n_draws, n_terms, n_topics).

        Raises
        ------
        ValueError
            If the design has another number of rows, missing or infinite entries, text, or linearly
            dependent columns, if units are not one for each document, or fewer than two, or if
            ``times`` cannot be read, are the same for all units, or there are fewer units than two
            more than terms.

        Notes
        -----
        Ordinary least squares for every draw of the topics, with the cluster-robust covariance CR2
        and Satterthwaite's degrees of freedom; variances within and between draws are added.
        Intervals are for the topics that ``fit`` found, and do not include that another corpus
        would have other topics. They include the uncertainty of the word vectors only with
        ``embedding_draws``. Topics whose shares have not mixed (R-hat above 1.2) are marked, and
        named below the table: use only their point estimates.

        Without ``times``, units are treated as independent. If consecutive units are alike,
        intervals are then too narrow. With ``times``, effects are those of generalized least
        squares, averaged over the probable correlations of each topic's residuals: see the Notes of
        `regress`.

        References
        ----------
        Roberts, Stewart & Tingley (2019). stm: An R Package for Structural Topic Models. Journal
        of Statistical Software 91(2).
        Pustejovsky & Tipton (2018). Small-Sample Methods for Cluster-Robust Variance Estimation.
        Journal of Business & Economic Statistics 36(4).

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> import numpy as np
        >>> table = model.fit(data.counts).effects(data.counts, {"year": np.arange(40)})
        >>> table.terms.tolist(), table.mean.shape
        (['(intercept)', 'year'], (2, 2))
        """
        check_is_fitted(self, "posterior_")
        return topic_effects(
            self, X, design, units, times=times, shares=shares, n_draws=n_draws, prob=prob
        )

    def topic_interval(self, *, prob: float = 0.9) -> Result:
        """Return highest density intervals of the topics' Gaussians.

        Parameters
        ----------
        prob : float, default=0.9
            Probability in each interval.

        Returns
        -------
        Result
            ``mean`` (n_topics, n_dims, 2), of the means; ``sd`` (n_topics, n_dims, 2), of the
            standard deviations (the square roots of the diagonals of the covariances).

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.topic_interval().mean.shape
        (2, 3, 2)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        if not has_gaussians(self.posterior_):
            return self._vector_interval(prob)
        variances = np.diagonal(self.posterior_.flat("covariance"), axis1=-2, axis2=-1)
        entries = {
            "mean": hdi_interval(self.posterior_.flat("mean"), prob=prob),
            "sd": hdi_interval(np.sqrt(variances), prob=prob),
        }
        n_topics, n_dims = variances.shape[1:]
        axes = {"topic": range(n_topics), "dim": range(n_dims)}
        title = f"{100 * prob:g} % intervals of the topics' Gaussians"
        return Result(entries, About(title, axes, prob, source_of(self), ("mean", "sd")))

    def _vector_interval(self, prob):
        """`topic_interval` of topics with Dirichlet priors of words."""
        found = hdi_interval(self.posterior_.flat("topic_vector"), prob=prob)
        axes = {"topic": range(found.shape[0]), "dim": range(found.shape[1])}
        title = f"{100 * prob:g} % intervals of the topics' vectors"
        about = About(title, axes, prob, source_of(self), ("topic_vector",))
        return Result({"topic_vector": found}, about)

    def coherence(
        self,
        X_ref: Any = None,
        *,
        measure: str = "npmi",
        n: int = 10,
        by: str | None = None,
    ) -> np.ndarray:
        """Compute the coherence of the top words of each topic.

        Parameters
        ----------
        X_ref : documents or counts, as in ``fit``, optional
            Reference corpus; the training documents by default.
        measure : {"npmi", "pmi"}, default="npmi"
        n : int, default=10
            Number of words for each topic.
        by : {"count", "density"} or None, default=None
            As in `top_words`.

        Returns
        -------
        ndarray of shape (n_topics,)

        Raises
        ------
        ValueError
            If there is no reference corpus because ``partial_fit`` keeps no documents.

        See Also
        --------
        skbayesembed.metrics.coherence : The formulas.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.coherence(data.counts, n=5).shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        check_choice("measure", measure, ("npmi", "pmi"))
        check_integer("n", n, 2)
        words = top_words(self, n, self.word_proba if by is None else by, 0.9).words
        return _coherence(self, words, self._documents(X_ref, "X_ref"), measure)

    def name_topics(self, names: Sequence[str] | Mapping[int, str] | None) -> Self:
        """Give the topics names, which tables, figures and sentences then use.

        Topics are numbered by the fit, so names are given after it, when their words and documents
        have been read. They also serve wherever a ``topic`` is asked for, are the labels of the
        dimension ``topic`` of ``posterior_``, and are saved with the estimator. A new fit discards
        them.

        Parameters
        ----------
        names : list of str of shape (n_topics,), dict of int to str, or None
            Names of all topics, or of some; the others keep their numbers. With None all have
            numbers again.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the names are not as many as the topics, or of topics that are not there; or if they
            are empty, numbers, or not different from each other.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts).name_topics({1: "taxes"})
        >>> model.top_words(1)["topic"].tolist()
        ['0', 'taxes']
        """
        check_is_fitted(self, "posterior_")
        names = check_names(names, len(self.components_), "topic")
        self.posterior_.coords["topic"] = names
        return self

    def to_word_vectors(self, names: Sequence[str] | None = None) -> WordVectors:
        """Return vectors of the words and of the topics in one space, for gensim and others.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the topics, none of them a word of the vocabulary; by default ``"topic_0"``,
            ``"topic_1"``, ..., or with names from `name_topics` ``"topic_trade"``, ... A background
            topic has no vector and no name.

        Returns
        -------
        skbayesembed.io.WordVectors
            Words in the coordinates of ``normalize``, as the topics are in them, then posterior
            means of the topics' vectors: of Gaussians their means, ``topic_means_``. Covariances
            are left out. `io.to_keyed_vectors` and `io.save_vectors` take it.

        Raises
        ------
        ValueError
            If ``names`` are not one for each topic, or one is a word of the vocabulary.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> vectors = model.fit(data.counts).to_word_vectors(["war", "trade"])
        >>> len(vectors), vectors["war"].shape
        (55, (3,))
        """
        check_is_fitted(self, "posterior_")
        return words_and_topics(self, names)

    def to_pyldavis(self, X: Any = None, *, prepare: bool = False, **options: Any) -> Any:
        """Return the input of pyLDAvis.

        Parameters
        ----------
        X : documents or counts, as in ``fit``, optional
            The training documents by default. Empty ones are left out.
        prepare : bool, default=False
            Call ``pyLDAvis.prepare`` (needs pyLDAvis).
        **options
            Passed to ``pyLDAvis.prepare``.

        Returns
        -------
        dict or pyLDAvis.PreparedData
            The arguments of ``pyLDAvis.prepare``: ``topic_term_dists``, ``doc_topic_dists``,
            ``doc_lengths``, ``vocab`` and ``term_frequency``; and ``sort_topics=False`` and
            ``start_index=0``, so that topics have the numbers that they have here (pyLDAvis 3.3 or
            later). In its page 0 also stands for no topic, so its slider does nothing for topic 0;
            with ``start_index=1`` among the options it does, and topics are numbered from one.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> given = model.to_pyldavis(data.counts)
        >>> given["doc_topic_dists"].shape, given["start_index"]
        ((40, 2), 0)
        """
        check_is_fitted(self, "posterior_")
        check_bool("prepare", prepare)
        counts = self._documents(X, "X")
        counts = counts[np.asarray(counts.sum(axis=1)).ravel() > 0]
        fold = FoldIn(
            vocabulary_reading(self, counts),
            draws_of(self),
            self.word_proba,
            self.n_jobs,
        )
        data = {
            "topic_term_dists": self.components_,
            "doc_topic_dists": topic_features(fold, False),
            "doc_lengths": np.asarray(counts.sum(axis=1)).ravel(),
            "vocab": self.words_.tolist(),
            "term_frequency": np.asarray(counts.sum(axis=0)).ravel(),
            # its own would number them from one, by size
            "sort_topics": False,
            "start_index": 0,
        }
        if not prepare:
            return data
        try:
            import pyLDAvis
        except ImportError as error:
            raise ImportError("prepare=True needs pyLDAvis: pip install pyLDAvis") from error
        return pyLDAvis.prepare(**data | options)

    def _documents(self, X, name):
        """Counts of the vocabulary's words in the documents given, or in those of training."""
        if X is not None:
            return known_counts(self, X)
        if self._training is None:
            raise ValueError(f"{name} must be given: partial_fit keeps no documents.")
        return self._training

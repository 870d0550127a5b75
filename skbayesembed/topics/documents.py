"""Shares of topics in given documents, with intervals, and the documents that have most."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..common.checks import check_integer, check_prob
from ..common.memory import check_memory
from ..corpus.kinds import input_kind, materialise
from ..posterior.naming import given_names, named
from ..posterior.representatives import (
    Representatives,
    check_not_a_group,
    largest,
    texts_of,
)
from ..posterior.sources import note_on_means, source_of
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table
from .checks import topic_index
from .draws import draws_of
from .inputs import reading, vocabulary_reading
from .labels import (
    labels_of,
    marked,
    mixed_of,
    notes_on_mixing,
    notes_on_rough,
    notes_on_unmixed,
)
from .predict import FoldIn, topic_features
from .recording import unmixed_topics
from .theta import theta_draws

# Likelihood powers below which words are weak evidence of the topics of documents.
_WEAK = 0.5
# How many times the documents asked for are then drawn of, as the largest shares are among them.
_MORE = 3


@dataclass(frozen=True, repr=False, eq=False)
class DocumentTopics(Table):
    """Table of the shares of topics in documents, with a row for each document and topic.

    Attributes
    ----------
    mean : ndarray of shape (n_documents, n_topics)
        Posterior means, as from ``transform``; with a ``likelihood_power`` below 0.5 those of
        ``draws``, as ``transform`` then has too much of the largest share. Documents of training,
        where X is None, are read by the words of the vocabulary alone; X also by others that have a
        vector.
    interval : ndarray of shape (n_documents, n_topics, 2)
        Highest density intervals. If a share is close to zero in most draws, its mean may be above
        its interval; a line below the table says so.
    draws : ndarray of shape (n_draws, n_documents, n_topics)
    n_tokens : ndarray of shape (n_documents,)
        Number of tokens of known words. A document without any has the shares of the prior.
    words : ndarray of str of shape (n_topics,)
        Words that distinguish each topic from the others.
    unmixed : ndarray of int
        Topics whose shares of the training tokens have not mixed. In print they are marked and
        have no intervals; ``interval`` and data frames keep the numbers, with a column ``mixed``.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the intervals.
    names : ndarray of str of shape (n_topics,) or None
        Names of the topics, if they were given (`GaussianLDA.name_topics`).

    Examples
    --------
    >>> from skbayesembed import GaussianLDA
    >>> from skbayesembed.datasets import make_topics
    >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
    >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
    >>> table = model.fit(data.counts).document_topics(data.counts[:3])
    >>> table.mean.shape, table.interval.shape, table.source
    ((3, 2), (3, 2, 2), 'vi')
    """

    mean: np.ndarray
    interval: np.ndarray
    draws: np.ndarray
    n_tokens: np.ndarray
    words: np.ndarray
    unmixed: np.ndarray
    prob: float
    n_draws: int
    names: np.ndarray | None = None

    _max_rows = 40

    def _mixed(self):
        n, k = self.mean.shape
        return np.tile(mixed_of(self.unmixed, k), n)

    def _series(self):
        return super()._series() | {"mixed": self._mixed()}

    def _columns(self):
        n, k = self.mean.shape
        topics = named(self.names, np.tile(np.arange(k), n))
        interval = self.interval.reshape(-1, 2)
        return [
            Column("topic", topics, ("topic",), marked(self.unmixed, self.names)),
            Column("share", self.mean.ravel(), ("mean",)),
            Column("interval", interval, ("low", "high"), left=True, few=~self._mixed()),
            Column("relevant words", list(np.tile(self.words, n)), (), left=True),
        ]

    def _title(self):
        return f"shares of topics in documents, {100 * self.prob:g} % intervals"

    def _groups(self):
        n, k = self.mean.shape
        return "document", np.repeat(np.arange(n), k)

    def _notes(self):
        notes = super()._notes()
        mixed = mixed_of(self.unmixed, self.mean.shape[1])
        notes += note_on_means(self.mean[:, mixed], self.interval[:, mixed])
        notes += notes_on_unmixed(self.unmixed, self.names)
        empty = np.count_nonzero(self.n_tokens == 0)
        if empty:
            notes.append(f"({empty} documents without a known word have the shares of the prior)")
        return notes


def source_of_shares(estimator):
    """What intervals of documents' shares rest on: they have width under a point estimate, too."""
    source = source_of(estimator)
    return "known topics" if source == "point" else source


def _read(estimator, X):
    """`Reading` of documents, as ``transform`` reads them; None stands for those of training."""
    if X is None:
        return vocabulary_reading(estimator, estimator._documents(None, "X"))
    return reading(estimator, X)


def _by_draws(estimator):
    """Whether means of shares are those of draws: where words are weak evidence.

    Then the collapsed variational inference of ``transform`` has too much of the largest share.
    """
    return estimator.likelihood_power_ < _WEAK


def _means(estimator, documents):
    """Means of shares as ``transform`` has them."""
    options = estimator.word_proba, estimator.n_jobs
    return topic_features(FoldIn(documents, draws_of(estimator), *options), False)


def document_topics(estimator, X, n_draws, prob):
    """`DocumentTopics`; see `GaussianLDA.document_topics`."""
    check_integer("n_draws", n_draws, 2)
    check_prob(prob)
    documents = _read(estimator, X)
    counts, n_topics = documents.counts, len(estimator.components_)
    check_memory(
        8.0 * n_draws * counts.shape[0] * n_topics,
        f"{n_draws} draws of the shares of {counts.shape[0]} documents",
        "Pass fewer documents, or a smaller n_draws.",
    )
    draws = theta_draws(estimator, documents, n_draws)
    return DocumentTopics(
        draws.mean(axis=0) if _by_draws(estimator) else _means(estimator, documents),
        hdi_interval(draws, prob=prob),
        draws,
        np.asarray(counts.sum(axis=1)).ravel(),
        labels_of(estimator),
        unmixed_topics(estimator.posterior_),
        prob,
        n_draws,
        given_names(estimator.posterior_, "topic"),
    )._resting_on(source_of_shares(estimator), notes_on_rough(estimator.posterior_))


def representative_documents(estimator, X, topic, n, texts, n_draws, prob):
    """`Representatives` of one topic, or of all."""
    check_prob(prob)
    check_integer("n", n, 1)
    check_integer("n_draws", n_draws, 1)
    check_not_a_group(X, "documents", "topic")
    k = len(estimator.components_)
    topics = range(k) if topic is None else [topic_index(estimator, topic)]
    X = None if X is None else materialise(X)
    documents = _read(estimator, X)
    counts = documents.counts
    kind = "counts" if X is None else input_kind(X)
    texts = texts_of(X, kind, texts, counts.shape[0], "documents")
    usable = np.asarray(counts.sum(axis=1)).ravel() > 0
    if not usable.any():
        raise ValueError("X has no document with a word of the vocabulary.")
    mean, by_draws = _means(estimator, documents), _by_draws(estimator)
    rows = largest(mean, topics, usable, _MORE * n if by_draws else n)
    flat, groups = rows.ravel(), np.repeat(np.asarray(topics), rows.shape[1])
    some, place = np.unique(flat, return_inverse=True)
    draws = theta_draws(estimator, replace(documents, counts=counts[some]), n_draws)
    draws = draws[:, place, groups]
    shown = mean[flat, groups]
    if by_draws:
        shown = draws.mean(axis=0)
        order = np.argsort(-shown.reshape(rows.shape), axis=1, kind="stable")[:, :n]
        kept = (order + rows.shape[1] * np.arange(len(rows))[:, None]).ravel()
        flat, groups, shown, draws = flat[kept], groups[kept], shown[kept], draws[:, kept]
    table = Representatives(
        "topic", groups, flat, shown,
        hdi_interval(draws, prob=prob),
        None if texts is None else texts[flat], prob, n_draws,
        names=given_names(estimator.posterior_, "topic"),
        unmixed=unmixed_topics(estimator.posterior_),
    )  # fmt: skip
    notes = notes_on_mixing(estimator.posterior_, topics)
    return table._resting_on(source_of_shares(estimator), notes)

"""The first words under each sense, and the draws of one word's probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.checks import check_choice, check_integer, check_prob
from ..numeric.relevance import RANKS, first_words, notes_on_rank
from ..posterior.naming import given_names, named
from ..posterior.sources import note_on_words_of_units, source_of
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table
from .checks import word_index
from .embedding import asides_of
from .predict import word_draws
from .verdicts import few_data, note_on_few, seen_in


class SenseWords(Table):
    """Table of the top words of each sense, with their probabilities.

    Attributes
    ----------
    words : ndarray of str of shape (n_senses, n)
        The words, in the order of ``rank``.
    mean : ndarray of shape (n_senses, n)
        Posterior means of their probabilities.
    interval : ndarray of shape (n_senses, n, 2)
        Highest density intervals.
    period : int, str or None
        Label of the period; None if probabilities are averaged over periods.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the figures; 1 for a point estimate.
    rank : {"probable", "relevant"}
    names : ndarray of str of shape (n_senses,) or None
        Names of the senses, if they were given (`DiSCSenseModel.name_senses`).
    few : bool
        Whether the period has fewer than 10 snippets, so that its figures rest mostly on
        neighboring periods.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel
    >>> from skbayesembed.datasets import make_senses
    >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
    >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
    >>> model = model.fit(made.counts, times=made.times)
    >>> model.sense_words(3).words.shape
    (2, 3)
    """

    def __init__(
        self,
        words: np.ndarray,
        mean: np.ndarray,
        interval: np.ndarray,
        period: Any,
        prob: float,
        n_draws: int,
        rank: str = "probable",
        names: np.ndarray | None = None,
        few: bool = False,
    ) -> None:
        self.words = words
        self.mean = mean
        self.interval = interval
        self.period = period
        self.prob = prob
        self.n_draws = n_draws
        self.rank = rank
        self.names = names
        self.few = few

    def __len__(self) -> int:
        return len(self.words)

    def _columns(self):
        return [
            Column("", self.words.ravel(), ("word",), left=True),
            Column("", self.mean.ravel(), ("mean",), ".4f"),
            Column("", self.interval.reshape(-1, 2), ("low", "high"), ".4f"),
        ]

    def _groups(self):
        n_senses, n = self.words.shape
        return "sense", named(self.names, np.repeat(np.arange(n_senses), n))

    def _notes(self):
        return [*notes_on_rank(self.rank), *super()._notes()]

    def _title(self):
        when = "all periods" if self.period is None else f"period {self.period}"
        return f"{self.rank} words under each sense, {when}, {100 * self.prob:g} % intervals"


def sense_shares(estimator):
    """Mean prevalences over the training snippets, (n_senses,)."""
    return np.einsum("gt,kgt->k", estimator._cells, estimator.prevalence_) / estimator._cells.sum()


def sense_words(estimator, n, period, prob, rank="probable"):
    """The ``n`` first words under each sense, in a period or averaged over all."""
    check_prob(prob)
    check_choice("rank", rank, RANKS)
    check_integer("n", n, 1)
    draws = word_draws(estimator)
    n_senses, n_periods, n_words = draws.shape
    chosen, label = range(n_periods), None
    if period is not None:
        chosen = [estimator.periods_.find(period, "period")]
        label = estimator.periods_.labels[chosen[0]]
    mean = draws.mean()[:, chosen].mean(axis=1)
    order = first_words(mean, sense_shares(estimator), min(n, n_words), rank)
    log_sums = draws.log_sums()
    interval = np.empty((*order.shape, 2))
    for k in range(n_senses):
        total = sum(draws.probabilities(k, t, order[k], log_sums) for t in chosen)
        interval[k] = hdi_interval(total / len(chosen), prob=prob, axis=0)
    names = given_names(estimator.posterior_, "sense")
    words, mean = estimator.words_[order], np.take_along_axis(mean, order, axis=1)
    asides = [*asides_of(estimator.posterior_), *note_on_words_of_units(estimator)]
    few = np.zeros(1, bool)
    if label is not None:
        few = few_data(seen_in(estimator, chosen, None)["snippets"], None, "all")
        asides += note_on_few(few[None], False, [label], of_all=n_periods)
    found = SenseWords(words, mean, interval, label, prob, len(draws), rank, names, bool(few[0]))
    return found._resting_on(source_of(estimator), asides)


def probability_draws(estimator, word):
    """Draws of a word's probability, ndarray of shape (n_draws, n_senses, n_periods)."""
    index = [word_index(estimator, word)]
    draws = word_draws(estimator)
    log_sums = draws.log_sums()
    out = np.empty(log_sums.shape)
    for k in range(out.shape[1]):
        for t in range(out.shape[2]):
            out[:, k, t] = draws.probabilities(k, t, index, log_sums)[:, 0]
    return out

"""Reading the posterior: trajectories, similarities over time and drift, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_choice, check_integer, check_prob, check_real
from ..metrics.words import unit_vectors
from ..posterior.summary import summarise
from ..posterior.tables import Column, Table
from ..sgns.reading import Neighbours, kept_draws, neighbours, pair_places, word_index
from .predict import can_draw, diffusion_draws, drawn_words, period_draws, sweep_chunk, sweep_draws

# Draws from an approximation for a reading of a few words.
_DRAWN = 1000
_WHICH = {"target": "rho", "context": "alpha"}


def draws_of(estimator, name, index):
    """Draws of some words' vectors: (n_draws, n_periods, len(index), n_components).

    Every draw where the words were kept by name, draws from the approximation where there is one
    that can be drawn from word by word, the recorded ones otherwise.
    """
    rows = kept_draws(estimator, name, index)
    if rows is not None:
        return rows
    if can_draw(estimator):
        return drawn_words(estimator, name, index, _DRAWN).astype(np.float64)
    return estimator.posterior_.flat(name)[:, :, index]


def _cosines(a, b):
    """Cosines of vectors along the last axis; zero where one has no length."""
    return np.einsum("...k,...k->...", unit_vectors(a), unit_vectors(b))


def _distances(kind, a, b):
    """Distances of vectors along the last axis."""
    if kind == "cosine":
        return 1.0 - _cosines(a, b)
    return np.linalg.norm(a - b, axis=-1)


def prior_distance(estimator, at):
    """Root mean square of the distance of a word's vectors in two periods under the prior."""
    variance = estimator._prior.variance
    gap = abs(np.diff(estimator.periods_.centres[list(at)])[0])
    moved = -np.expm1(-estimator._prior.rate(diffusion_draws(estimator)) * gap)
    return float(np.sqrt(2.0 * estimator.rho_.shape[-1] * variance * np.mean(moved)))


def _chosen_periods(estimator, chosen=None):
    """Places of the chosen periods, all by default; their labels and centres."""
    periods = estimator.periods_
    if chosen is None:
        places = list(range(periods.n_periods))
    else:
        chosen = [chosen] if np.ndim(chosen) == 0 else chosen
        places = [periods.find(time, "periods") for time in chosen]
        if not places:
            raise ValueError("periods must name at least one period, got none.")
    labels = [periods.labels[t] for t in places]
    return places, {"periods": labels, "times": periods.centres[places]}


def _two_periods(estimator, start, end):
    """Places of two periods; the first and the last by default."""
    periods = estimator.periods_
    at = [
        default if time is None else periods.find(time, name)
        for time, name, default in ((start, "start", 0), (end, "end", periods.n_periods - 1))
    ]
    if at[0] == at[1]:
        raise ValueError(
            f"start and end must be in different periods, got {periods.labels[at[0]]} for both."
        )
    return at


def _similarities(estimator, a, b):
    """Draws of the cosine of two words' targets, (n_draws, n_periods)."""
    index = [word_index(estimator, a, "a"), word_index(estimator, b, "b")]
    draws = draws_of(estimator, "rho", index)
    return _cosines(draws[:, :, 0], draws[:, :, 1])


@dataclass(frozen=True, repr=False, eq=False)
class Changes(Table):
    """Words ranked by how surely they have changed between two periods.

    Attributes
    ----------
    words : ndarray of str of shape (n,)
        By the probability of a distance above the threshold, largest first; those that share it by
        the lower end of the interval.
    mean, sd : ndarray of shape (n,)
        Of the distance between a word's targets in the two periods.
    interval : ndarray of shape (n, 2)
        Highest density interval of the distance.
    prob_exceeds : ndarray of shape (n,)
        Probability that the distance is above ``threshold``.
    count_start, count_end : ndarray of shape (n,)
        Positive pairs that the word was the target of in the two periods.
    periods : tuple
        Labels of the two periods.
    distance : {"euclidean", "cosine"}
    threshold : float
    prob : float
        Probability of the intervals.
    n_draws : int
        Draws behind the figures; 1 for a point estimate.
    """

    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_exceeds: np.ndarray
    count_start: np.ndarray
    count_end: np.ndarray
    periods: tuple
    distance: str
    threshold: float
    prob: float
    n_draws: int

    # what is printed; a data frame has counts and standard deviations besides
    def _columns(self):
        pairs = [f"{a:.4g}, {b:.4g}" for a, b in zip(self.count_start, self.count_end, strict=True)]
        above = f"P(> {self.threshold:.3g})"
        return [
            Column("word", self.words, (), left=True),
            Column("distance", self.mean, ()),
            Column(f"{100 * self.prob:g} % interval", self.interval, (), "6.3f"),
            Column(f"{above:>9}", self.prob_exceeds, (), ".2f"),
            Column("pairs", pairs, (), left=True),
        ]

    def _series(self):
        return {
            "word": self.words,
            "mean": self.mean,
            "sd": self.sd,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "prob_exceeds": self.prob_exceeds,
            "count_start": self.count_start,
            "count_end": self.count_end,
        }

    def _title(self):
        start, end = self.periods
        return f"most changed from {start} to {end}, by {self.distance} distance"


def most_changed(estimator, n, at, distance, threshold, prob):
    """`Changes` of the words that have most surely changed between the periods ``at``.

    Block by block of words: memory does not grow with the vocabulary. For cosines without a
    threshold, which takes all words to find, distances are worked out twice.
    """
    n_words = estimator.words_.size
    step = sweep_chunk(estimator, 2)
    blocks = [np.arange(a, min(a + step, n_words)) for a in range(0, n_words, step)]

    def distances(index):
        draws = sweep_draws(estimator, "rho", at, index).astype(np.float64, copy=False)
        return _distances(distance, draws[:, 0], draws[:, 1])

    if threshold is None and distance == "euclidean":
        threshold = prior_distance(estimator, at)
    elif threshold is None:
        means = [distances(index).mean(axis=0, dtype=np.float64) for index in blocks]
        threshold = float(np.median(np.concatenate(means)))
    parts = []
    for index in blocks:
        found = distances(index)
        parts.append(
            Bunch(
                **summarise(found, prob) | {"draws": None},
                above=np.mean(found > threshold, axis=0),
                n_draws=len(found),
            )
        )
    columns = {
        name: np.concatenate([p[name] for p in parts])
        for name in ("mean", "sd", "interval", "above")
    }
    order = np.lexsort((-columns["interval"][:, 0], -columns["above"]))[:n]
    labels = estimator.periods_.labels
    mean, sd, interval, above = (columns[name][order] for name in columns)
    return Changes(
        estimator.words_[order], mean, sd, interval, above,
        *(estimator.observed_[t, order] for t in at),
        tuple(labels[t] for t in at), distance, threshold, prob, parts[0].n_draws,
    )  # fmt: skip


class DynamicReadingMixin:
    """Methods of estimators whose posterior has vectors of words in every period."""

    # of the estimator
    posterior_: Any
    periods_: Any
    words_: Any

    def trajectory(self, word: str | int, *, which: str = "target", prob: float = 0.9) -> Bunch:
        """Posterior of a word's vector in every period.

        Parameters
        ----------
        word : str or int
            A word, or its index.
        which : {"target", "context"}, default="target"
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Bunch
            ``periods`` (labels), ``times`` (their centres), ``mean`` and ``sd`` (n_periods,
            n_components), ``interval`` (n_periods, n_components, 2), ``draws`` (n_draws, n_periods,
            n_components).

        Raises
        ------
        KeyError
            For an unknown word.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        check_choice("which", which, tuple(_WHICH))
        index = word_index(self, word, "word")
        draws = draws_of(self, _WHICH[which], [index])[:, :, 0]
        return summarise(draws, prob, **_chosen_periods(self)[1])

    def similarity(
        self,
        a: str | int,
        b: str | int,
        *,
        periods: ArrayLike | None = None,
        prob: float = 0.9,
    ) -> Bunch:
        """Posterior of the cosine between the target vectors of two words over time.

        Parameters
        ----------
        a, b : str or int
            Words, or their indices.
        periods : list of times or labels of periods, optional
            A time in a period names it. All periods by default.
        prob : float, default=0.9

        Returns
        -------
        Bunch
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen,), ``interval`` (n_chosen, 2),
            ``draws`` (n_draws, n_chosen).

        Raises
        ------
        KeyError
            For an unknown word.
        ValueError
            For a time that is in no period.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        chosen, where = _chosen_periods(self, periods)
        return summarise(_similarities(self, a, b)[:, chosen], prob, **where)

    def similarity_change(
        self, a: str | int, b: str | int, start: Any = None, end: Any = None, *, prob: float = 0.9
    ) -> Bunch:
        """Posterior of the change of two words' cosine from one period to another.

        Parameters
        ----------
        a, b : str or int
            Words, or their indices.
        start, end : times or labels of periods, optional
            A time in a period names it. The first and the last period by default.
        prob : float, default=0.9

        Returns
        -------
        Bunch
            ``mean``, ``sd``, ``interval`` (low, high) and ``draws`` (n_draws,) of the cosine at
            ``end`` less that at ``start``, and ``prob_increase``, the probability that the words
            drew closer.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        at = _two_periods(self, start, end)
        draws = _similarities(self, a, b)
        change = draws[:, at[1]] - draws[:, at[0]]
        return summarise(change, prob, prob_increase=float(np.mean(change > 0)))

    def drift(
        self,
        word: str | int,
        start: Any = None,
        end: Any = None,
        *,
        distance: str = "euclidean",
        threshold: float | None = None,
        prob: float = 0.9,
    ) -> Bunch:
        """Posterior of the distance between a word's targets in two periods.

        Parameters
        ----------
        word : str or int
        start, end : times or labels of periods, optional
            A time in a period names it. The first and the last period by default.
        distance : {"euclidean", "cosine"}, default="euclidean"
            ``|rho_end - rho_start|``, or ``1 - cos(rho_start, rho_end)``.
        threshold : float, optional
            By default, for the Euclidean distance, its root mean square under the prior.
        prob : float, default=0.9

        Returns
        -------
        Bunch
            ``mean``, ``sd``, ``interval`` (low, high) and ``draws`` (n_draws,) of the distance;
            where there is a ``threshold``, that, and ``prob_exceeds``, the probability of more.

        Notes
        -----
        A distance cannot be negative: where little is known it is far from 0 because little is
        known, not because the word has changed. A word that was never seen has the distance that
        the prior gives it; ``observed_`` tells how much was seen.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        _check_distance(distance, threshold)
        at = _two_periods(self, start, end)
        draws = draws_of(self, "rho", [word_index(self, word, "word")])[:, :, 0]
        found = _distances(distance, draws[:, at[0]], draws[:, at[1]])
        if threshold is None and distance == "euclidean":
            threshold = prior_distance(self, at)
        more = {}
        if threshold is not None:
            more = {"threshold": threshold, "prob_exceeds": float(np.mean(found > threshold))}
        return summarise(found, prob, **more)

    def most_changed(
        self,
        n: int = 10,
        *,
        start: Any = None,
        end: Any = None,
        distance: str = "euclidean",
        threshold: float | None = None,
        prob: float = 0.9,
    ) -> Changes:
        """Words that have most surely changed between two periods.

        Parameters
        ----------
        n : int, default=10
        start, end : times or labels of periods, optional
            A time in a period names it. The first and the last period by default.
        distance : {"euclidean", "cosine"}, default="euclidean"
            ``|rho_end - rho_start|``, or ``1 - cos(rho_start, rho_end)``.
        threshold : float, optional
            By default the root mean square of the Euclidean distance under the prior; of cosine
            distances the median over all words of the posterior mean.
        prob : float, default=0.9

        Returns
        -------
        Changes
            Ranked by the probability that the distance is above ``threshold``, then by the lower
            end of its interval; prints as a table.

        Notes
        -----
        The prior moves all vectors, by as much for every word. A word of which nothing is known
        has about even chances of a larger distance than the default threshold, one that is known
        to have stayed has none. Cosines rank words with short vectors, as those that go with
        anything, too high: the same step turns them further.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        check_integer("n", n, 1)
        _check_distance(distance, threshold)
        return most_changed(self, n, _two_periods(self, start, end), distance, threshold, prob)

    def most_similar(
        self, word: str | int, n: int = 10, *, period: Any, prob: float = 0.9
    ) -> Neighbours:
        """The words nearest to a word in a period, with intervals.

        Parameters
        ----------
        word : str or int
        n : int, default=10
        period : time or label of a period
            A time in a period names it.
        prob : float, default=0.9

        Returns
        -------
        Neighbours
            Ordered by posterior mean cosine, with the probability of each of being among the
            ``n`` nearest; prints as a table.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        check_integer("n", n, 1)
        target = word_index(self, word, "word")
        draws = period_draws(self, "rho", self.periods_.find(period, "period"))
        return neighbours(self.words_, target, draws, n, prob)

    def cooccurrence_proba(
        self, pairs: Sequence, *, periods: ArrayLike | None = None, prob: float = 0.9
    ) -> Bunch:
        """Posterior of the probability that a pair is positive, sigma(rho_wt . alpha_vt).

        Parameters
        ----------
        pairs : list of (target, context)
            Words or indices.
        periods : list of times or labels of periods, optional
            A time in a period names it. All periods by default.
        prob : float, default=0.9

        Returns
        -------
        Bunch
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen, n_pairs), ``interval`` (n_chosen,
            n_pairs, 2), ``draws`` (n_draws, n_chosen, n_pairs).
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        targets, contexts = pair_places(self, pairs)
        chosen, where = _chosen_periods(self, periods)
        rho, alpha = draws_of(self, "rho", targets), draws_of(self, "alpha", contexts)
        if len(rho) != len(alpha):
            # only one side has all its words among those kept by name
            flat = self.posterior_.flat
            rho, alpha = flat("rho")[:, :, targets], flat("alpha")[:, :, contexts]
        logits = np.einsum("stik,stik->sti", rho[:, chosen], alpha[:, chosen])
        return summarise(expit(logits), prob, **where)


def _check_distance(distance, threshold):
    check_choice("distance", distance, ("euclidean", "cosine"))
    if threshold is not None:
        check_real("threshold", threshold, 0, strict=False)

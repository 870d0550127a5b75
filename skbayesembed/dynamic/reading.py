"""Reading the posterior: trajectories, similarities over time and drift, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_choice, check_integer, check_prob, check_real
from ..posterior.summary import summarise
from ..sgns.reading import (
    Neighbours,
    deviations_of,
    kept_draws,
    nearest_of,
    neighbours,
    pair_places,
    word_index,
)
from .change import Changes, cosines, distances_of, most_changed, places_of, prior_distance
from .documents import answers
from .predict import as_read, can_draw, drawn_words, period_draws

# Draws from an approximation for a reading of a few words.
_DRAWN = 1000
_WHICH = {"target": "rho", "context": "alpha"}


def draws_of(estimator, name, index):
    """Draws of some words' vectors as they are read: (n_draws, n_periods, len(index), K).

    Balanced, of the whole draws that were recorded or by the one transformation of an
    approximation's; or as `drawn_of` has them.
    """
    balance = estimator._balanced
    if balance is None or balance.fixed:
        return as_read(estimator, name, drawn_of(estimator, name, index))
    return as_read(estimator, name, estimator.posterior_.flat(name)[:, :, index])


def drawn_of(estimator, name, index):
    """Draws of some words' vectors as the solver made them, (n_draws, n_periods, len(index), K).

    Every draw where the words were kept by name, draws from the approximation where there is one
    that can be drawn from word by word, the recorded ones otherwise.
    """
    rows = kept_draws(estimator, name, index)
    if rows is not None:
        return rows
    if can_draw(estimator):
        return drawn_words(estimator, name, index, _DRAWN).astype(np.float64)
    return estimator.posterior_.flat(name)[:, :, index]


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
    return cosines(draws[:, :, 0], draws[:, :, 1])


def _neighbours_by_units(estimator, deviations, target, n, period, draws, prob):
    """`Neighbours` in a period with intervals, and probabilities of rank, by units."""
    words = estimator.words_
    others = np.delete(np.arange(words.size), target)
    mean = sum(cosines(draw[others], draw[target]) for draw in draws) / len(draws)
    places = places_of(estimator, period, others)
    a = np.full(others.size, places_of(estimator, period, target))
    found = answers.cosines(deviations, a, places, mean, prob)
    return nearest_of(words, target, others, found, n, prob)


class DynamicReadingMixin:
    """Methods of estimators whose posterior has vectors of words in every period.

    Notes
    -----
    With ``uncertainty="documents"`` a result lies about the posterior mean, with a width by the
    units that were sampled and by the prior. It also has ``sd_sampling`` and ``sd_prior``, the two
    parts of ``sd``, and ``n_units``: the fewest effective units that its vectors rest on, which are
    those of the period and, by as much as the prior takes from neighbouring periods, of these. The
    interval has as much probability on either side.
    """

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
            Probability of the intervals.

        Returns
        -------
        Bunch
            ``periods`` (labels), ``times`` (their centres), ``mean`` and ``sd`` (n_periods,
            n_components), ``interval`` (n_periods, n_components, 2), ``draws`` (n_draws, n_periods,
            n_components). With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and
            ``n_units`` (n_periods,).

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
        chosen, where = _chosen_periods(self)
        deviations = deviations_of(self)
        if deviations is None:
            return summarise(draws, prob, **where)
        places, side = places_of(self, chosen, index), tuple(_WHICH).index(which)
        found = answers.entries(deviations, side, places, draws.mean(axis=0), prob)
        return Bunch(**found, **where)

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
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``.

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
        draws = _similarities(self, a, b)[:, chosen]
        deviations = deviations_of(self)
        if deviations is None:
            return summarise(draws, prob, **where)
        left, right = (places_of(self, chosen, word_index(self, w, "word")) for w in (a, b))
        found = answers.cosines(deviations, left, right, draws.mean(axis=0), prob)
        return Bunch(**found, **where)

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
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        at = _two_periods(self, start, end)
        draws = _similarities(self, a, b)
        change = draws[:, at[1]] - draws[:, at[0]]
        deviations = deviations_of(self)
        if deviations is None:
            return summarise(change, prob, prob_increase=float(np.mean(change > 0)))
        words = [word_index(self, w, "word") for w in (a, b)]
        before, after = ([places_of(self, t, w) for w in words] for t in at)
        found = answers.cosine_differences(deviations, before, after, change.mean(), prob)
        return Bunch(**found, prob_increase=float(np.mean(found.draws > 0)))

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
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``.

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
        index = word_index(self, word, "word")
        draws = draws_of(self, "rho", [index])[:, :, 0]
        draws = distances_of(distance, draws[:, at[0]], draws[:, at[1]])
        deviations = deviations_of(self)
        if deviations is None:
            found = summarise(draws, prob)
        else:
            first, last = places_of(self, at, index)[:, None]
            mean = draws.mean(keepdims=True)
            found = answers.distances(deviations, distance, first, last, mean, prob)
            found = answers.only(found)
        if threshold is None and distance == "euclidean":
            threshold = prior_distance(self, at)
        if threshold is not None:
            found.threshold = threshold
            found.prob_exceeds = float(np.mean(found.draws > threshold))
        return found

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
        at = self.periods_.find(period, "period")
        draws = as_read(self, "rho", period_draws(self, "rho", at))
        deviations = deviations_of(self)
        if deviations is None:
            return neighbours(self.words_, target, draws, n, prob)
        return _neighbours_by_units(self, deviations, target, n, at, draws, prob)

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
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``.
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        targets, contexts = pair_places(self, pairs)
        chosen, where = _chosen_periods(self, periods)
        # balancing leaves these as they are
        rho, alpha = drawn_of(self, "rho", targets), drawn_of(self, "alpha", contexts)
        if len(rho) != len(alpha):
            # only one side has all its words among those kept by name
            flat = self.posterior_.flat
            rho, alpha = flat("rho")[:, :, targets], flat("alpha")[:, :, contexts]
        logits = np.einsum("stik,stik->sti", rho[:, chosen], alpha[:, chosen])
        draws = expit(logits)
        deviations = deviations_of(self)
        if deviations is None:
            return summarise(draws, prob, **where)
        rows, columns = (places_of(self, np.array(chosen)[:, None], w) for w in (targets, contexts))
        mean, centre = draws.mean(axis=0), logits.mean(axis=0)
        found = answers.probabilities(deviations, rows, columns, mean, centre, prob)
        return Bunch(**found, **where)


def _check_distance(distance, threshold):
    check_choice("distance", distance, ("euclidean", "cosine"))
    if threshold is not None:
        check_real("threshold", threshold, 0, strict=False)

"""Reading the prevalences of senses: tables, changes and first periods, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_prob, check_real
from ..corpus.periods import find_two
from ..posterior.deciding import NO_DATA, errors_and_mixing, note_on_draws
from ..posterior.naming import given_names, together
from ..posterior.results import About, Result
from ..posterior.sentences import side_of_zero
from ..posterior.sources import name_of_units, note_on_units, note_on_words_of_units, source_of
from ..posterior.summary import hdi_interval, summarise
from .checks import sense_indices
from .embedding import asides_of
from .ends import ends
from .labels import genre_index
from .prevalences import (
    Prevalences,
    alone,
    draws_of,
    in_works_seen,
    interval_of,
    of_units,
    prevalence_info,
)
from .shares import SenseShares, predict_shares
from .verdicts import (
    MOST_LENT,
    already_above,
    change_seen,
    few_by_genre,
    few_data,
    few_in_periods,
    genre_weights,
    lent_in,
    note_on_change_seen,
    note_on_genres,
    note_on_unseen,
    on_change_seen,
    on_lent,
    seen_in,
    sentence_on_change,
    sentence_on_emergence,
    verdict_on_change,
)


def prevalence_draws(estimator, senses, genre, units="all"):
    """Draws of the prevalence of some senses together, ndarray of shape (n_draws, n_periods).

    ``units`` as in `prevalence_info`. Without a genre, prevalences are averaged over genres,
    weighted by their shares of the training snippets of all periods. These weights are the same in
    every period, so that a change does not come from the mixture.
    """
    draws = draws_of(estimator, units)[..., senses].sum(axis=-1)
    if genre is not None:
        return draws[:, genre_index(estimator, genre)]
    return np.einsum("g,sgt->st", genre_weights(estimator), draws)


class PrevalenceReadingMixin:
    """Methods of estimators whose posterior has prevalences of senses."""

    # of the estimator
    posterior_: Any
    prevalence_: Any
    periods_: Any
    units_: Any
    _cells: Any

    def prevalence_interval(self, *, prob: float = 0.9, units: str = "all") -> np.ndarray:
        """Return highest density intervals of prevalences.

        Parameters
        ----------
        prob : float, default=0.9
            Probability in each interval.
        units : {"all", "seen", "new"}, default="all"
            As in `prevalence_info`.

        Returns
        -------
        ndarray of shape (n_senses, n_genres, n_periods, 2)
            ``(low, high)`` in the last axis.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> model.prevalence_interval(prob=0.9).shape
        (2, 1, 3, 2)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        return interval_of(draws_of(self, units), prob)

    def prevalence_info(
        self,
        *,
        prob: float = 0.9,
        units: str = "all",
        senses: Sequence[int | str | Sequence[int | str]] | None = None,
    ) -> Prevalences:
        """Return a table of the prevalences of senses in all genres and periods, with intervals.

        Parameters
        ----------
        prob : float, default=0.9
            Probability of the highest density intervals.
        units : {"all", "seen", "new"}, default="all"
            Whose prevalences to report, if ``fit`` was given units (works, authors, speakers): a
            word, not labels of units as in ``fit``.
            ``"all"``: the mean over the population of units, of which those seen are a part.
            ``"seen"``: the mean over the units in the cell that ``fit`` saw, weighted by their
            snippets (over all units in a cell without any). ``"new"``: one unit that ``fit`` has
            not seen; its intervals are predictive and include the differences between units.
        senses : list of int, str or lists of these, optional
            Which senses to show, by number or name; all by default. The prevalences of senses that
            are in a list of their own are added up draw by draw, as in ``senses=[[0, 2], 1]``: if a
            fit divides one sense of the word between two, ask for both together.

        Returns
        -------
        Prevalences
            Prints as a table. ``mean`` (n_senses, n_genres, n_periods), ``interval`` (n_senses,
            n_genres, n_periods, 2), ``n_snippets`` (n_genres, n_periods) and, if ``fit`` was given
            units, ``n_units`` (n_genres, n_periods). For ``units="all"`` also the means over the
            units in the data, (n_senses, n_genres, n_periods): ``seen`` weights units by their
            snippets (as ``units="seen"`` does), ``seen_alike`` equally. A line below the table says
            where ``seen_alike`` is outside the interval.

        Raises
        ------
        ValueError
            If there is no such sense, all senses are to be added up, a sense is in two rows, or
            ``units`` needs units that
            ``fit`` was not given.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> table = model.prevalence_info()
        >>> table.n_snippets
        array([[20, 20]])
        >>> list(table.to_frame().columns)
        ['sense', 'genre', 'period', 'time', 'mean', 'low', 'high', 'n_snippets']
        """
        check_is_fitted(self, "posterior_")
        return prevalence_info(self, prob, units, senses)

    def predict_shares(
        self,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
        by: ArrayLike | None = None,
        prob: float = 0.9,
        random_state: int | np.random.RandomState | None = None,
    ) -> SenseShares:
        """Predict the shares of senses among snippets whose words are not known, with intervals.

        The shares are what someone labeling the snippets would count, if the senses are those of
        the model. Each draw combines a draw of the posterior, of the effects of new units on
        prevalences, and of the senses of all snippets.

        Parameters
        ----------
        times, genres : array-like of shape (n_snippets,), optional
            Of every snippet, if ``fit`` was given them.
        units : array-like of shape (n_snippets,), optional
            Of the snippets. If ``fit`` was given units, a unit that it has not seen has an effect
            of its own, common to all its snippets. Without units, each snippet counts as a new
            unit.
        by : array-like of shape (n_snippets,), optional
            Labels of the groups in which shares are counted. By default units, if they are given,
            and otherwise genres and periods.
        prob : float, default=0.9
            Probability of the highest density intervals.
        random_state : int, RandomState instance or None, default=None
            None uses the estimator's.

        Returns
        -------
        SenseShares
            Prints as a table. ``mean`` (n_groups, n_senses), ``interval`` (n_groups, n_senses, 2),
            ``n_snippets`` (n_groups,), ``groups`` and ``draws`` (n_draws, n_groups, n_senses).

        Raises
        ------
        ValueError
            If no argument gives the number of snippets, or the periods or genres of snippets are
            not known.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> model.predict_shares(times=[1810, 1810, 1811]).mean.shape
        (2, 2)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        given = {"times": times, "genres": genres, "units": units, "by": by}
        return predict_shares(self, given, prob, random_state)

    def prevalence_change(
        self,
        sense: int | str | Sequence[int | str],
        start: Any = None,
        end: Any = None,
        *,
        genre: Any = None,
        prob: float = 0.9,
        units: str = "all",
    ) -> Result:
        """Return how much the prevalence of a sense differs between two periods.

        Parameters
        ----------
        sense : int, str or list of these
            Number, or name from `name_senses`. The prevalences of a list of senses are added up:
            if a fit divides one sense of the word between two, ask for both together.
        start, end : number, date or str, optional
            Times in the two periods, the earlier first, or their labels. The first and the last
            period by default.
        genre : label, optional
            One of ``genres_``. By default prevalences are averaged over genres, weighted by their
            shares of all training snippets; the weights are the same in both periods.
        prob : float, default=0.9
            Probability of the highest density interval.
        units : {"all", "seen", "new"}, default="all"
            As in `prevalence_info`.

        Returns
        -------
        Result
            ``mean``, ``sd``, ``interval`` (2,) and all ``draws`` of the prevalence at ``end`` minus
            that at ``start``; ``prob_increase``, the probability that this difference is above
            zero (NaN for a point estimate, as is ``sd``); ``snippets``, the training snippets of
            the two periods (of the genre). If there is an interval, ``interval_mcse`` (2,), the
            Monte Carlo standard errors of its ends, and by draws of chains ``rhat``, ``ess`` and
            ``ess_tail``. If ``fit`` was given units, also ``units``, their number in the two
            periods, and, for all units, ``seen_alike`` and ``seen``, the mean change in the units
            seen, each counted once or weighted by its snippets (NaN if a period (in a genre) has
            none); ``seen_interval`` (2,) of ``seen``, ``seen_prob_increase``, and
            ``seen_verdict``, which rests on that interval. If it
            differs from the verdict on all units, ``sentence`` has both.

            ``verdict``, if there is an interval, is ``"not mixed"`` if the chains have not mixed;
            ``"no data"`` if one of the periods has fewer than 10 snippets, or fewer than 3 units
            when the result is about other units than these, so that it rests mostly on neighboring
            periods, or if this is so of genres with half the weight or more; else ``"rose"`` if the
            whole interval is above zero, ``"fell"`` if it is below, and ``"not decided"``
            otherwise. ``sentence`` puts it in words, to be copied. Tables and
            sentences say "probably rose" or "probably fell" if the probability of it is below 0.975
            (:ref:`how_sure`, step 6). If zero is within two Monte Carlo errors of the end that
            decides, the verdict depends on the draws, and ``sentence`` and a line below the table
            say so. So they do where a skewed posterior has a probability of a side of 0.95 or more
            (with ``prob=0.9``), and an interval that holds zero: the verdict goes by the interval.

        Raises
        ------
        ValueError
            If there is no such sense, period or genre, both times are in one period, ``end`` is
            before ``start``, ``units`` needs units that ``fit`` was not given, or there is one
            sense only, whose prevalence is always 1.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> model.prevalence_change(0, 0, 2).snippets
        (20, 20)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        _check_several_senses(self, "prevalence_change")
        senses = sense_indices(self, sense)
        at = find_two(self.periods_, start, end)
        draws = prevalence_draws(self, senses, genre, units)
        change = draws[:, at[1]] - draws[:, at[0]]
        place = None if genre is None else genre_index(self, genre)
        entries = {"prob_increase": float(np.mean(change > 0)), **seen_in(self, at, place)}
        if self.units_ is not None and units == "all":
            seen, alike = (draws[..., senses].sum(axis=-1) for draws in in_works_seen(self, at))
            entries |= change_seen(self, seen, alike, at, place, prob)
        before, after = (self.periods_.labels[t] for t in at)
        of = of_units(self, units)
        name = together(given_names(self.posterior_, "sense"), "sense", senses)
        where = "" if genre is None else f" in {genre}"
        title = f"change of the prevalence of {name}{of}{where} from {before} to {after}"
        asked = {"sense": name, "start": before, "end": after}
        asked |= {} if genre is None else {"genre": genre}
        made = summarise(change, prob, **entries)
        over = self._over_genres(genre)
        found = self._result(made, title, {}, prob, units, over, asked=asked)
        if found.source == "point":
            found.sd = found.prob_increase = np.nan
            found.interval = np.full(2, np.nan)
        else:
            found |= errors_and_mixing(self.posterior_, change, prob)
            lent, lent_seen = (lent_in(self, at, place, of) for of in (units, "seen"))
            found.verdict = verdict_on_change(found, units, lent)
            if 0.0 < lent and found.verdict in ("rose", "fell"):
                found.verdict = self._without_lent(found, senses, at, units)
            found._noting(*note_on_draws(found))
            if "seen_interval" in found:
                interval = found.seen_interval
                found.seen_verdict = verdict_on_change(found, "seen", lent_seen, interval)
        about = f"{name}{of}", genre, (before, after)
        found.sentence = sentence_on_change(found, *about)
        found.sentence += on_change_seen(found)
        few = []
        if genre is None:
            few = note_on_genres(self, at, units)
            found.sentence += on_lent(self, at, units)
        changed = ends(self, at)
        found.sentence += changed.said(senses)
        return found._noting(
            *note_on_change_seen(self, found),
            *few,
            *note_on_unseen(self, units, list(at), place),
            *changed.notes(alone([senses])),
        )

    def emergence(
        self,
        sense: int | str | Sequence[int | str],
        threshold: float,
        *,
        genre: Any = None,
        units: str = "all",
    ) -> Result:
        """Return the posterior of the first period in which a prevalence exceeds a threshold.

        Parameters
        ----------
        sense : int, str or list of these
            Number, or name from `name_senses`; a list of senses together.
        threshold : float
            From 0 to 1.
        genre : label, optional
            One of ``genres_``; by default an average over genres, as in `prevalence_change`.
        units : {"all", "seen", "new"}, default="all"
            As in `prevalence_info`.

        Returns
        -------
        Result
            ``proba`` (n_periods,): for each period, the probability that it is the first;
            ``never``: the probability that there is none; together they sum to one, and are NaN for
            a point estimate, of which ``sentence`` and a line below the table have the period.
            ``periods``: the labels. ``draws`` (n_draws,): index of the first period, -1 if there is
            none. The probability of the first period of the data means "already then": the
            prevalence may have been above the threshold long before. ``sentence`` has the answer in
            words, to be copied. A line below the table says where there are next to no data.

        Raises
        ------
        ValueError
            If there is no such sense or genre, the threshold is out of range, or there is one sense
            only, whose prevalence is always 1.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> model.emergence(0, 0.0).sentence
        'The first period in which the prevalence of sense 0 is above 0 is 0 (a point estimate).'
        """
        check_is_fitted(self, "posterior_")
        _check_several_senses(self, "emergence")
        senses = sense_indices(self, sense)
        check_real("threshold", threshold, 0, strict=False, high=1)
        above = prevalence_draws(self, senses, genre, units) > threshold
        first = np.where(above.any(axis=1), above.argmax(axis=1), -1)
        proba = np.bincount(first + 1, minlength=above.shape[1] + 1) / len(first)
        periods = list(self.periods_.labels)
        entries = {"proba": proba[1:], "never": float(proba[0]), "periods": periods}
        of = of_units(self, units) + ("" if genre is None else f" in {genre}")
        name = together(given_names(self.posterior_, "sense"), "sense", senses)
        title = f"first period in which the prevalence of {name}{of} is above {threshold:g}"
        entries["draws"] = first
        few = few_in_periods(self, None if genre is None else genre_index(self, genre), units)
        few += self._over_genres(genre)
        asked = {"sense": name, "threshold": threshold}
        asked |= {} if genre is None else {"genre": genre}
        found = self._result(entries, title, {"period": periods}, None, units, few, asked=asked)
        at = range(len(periods))
        seen = seen_in(self, at, None if genre is None else genre_index(self, genre))
        lacking = few_data(seen["snippets"], seen.get("units"), units)
        if genre is None and self.posterior_["prevalence"].shape[2] > 1:
            by_genre = few_by_genre(self, at, units)
            lacking = lacking | (genre_weights(self) @ by_genre >= MOST_LENT)
        found.sentence = sentence_on_emergence(found, lacking)
        if already := already_above(found):
            found._noting(f"({already})")
        if found.source == "point":
            found.proba, found.never = np.full(len(periods), np.nan), np.nan
            found._noting(f"({found.sentence[:1].lower()}{found.sentence[1:].rstrip('.')})")
        changed = ends(self)
        found.sentence += changed.said(senses)
        return found._noting(*changed.notes(alone([senses])))

    def _without_lent(self, found, senses, at, units):
        """The verdict, or that there are no data where genres that have some do not say it."""
        known = ~few_by_genre(self, at, units).any(axis=1)
        draws = draws_of(self, units)[..., senses].sum(axis=-1)[:, known][:, :, list(at)]
        weights = genre_weights(self)[known]
        change = (draws[..., 1] - draws[..., 0]) @ (weights / weights.sum())
        side = str(side_of_zero(hdi_interval(change, prob=found.prob), "rose", "fell"))
        return found.verdict if side == found.verdict else NO_DATA

    def _over_genres(self, genre):
        """A line on what an answer without a genre is an average of; none of one genre."""
        n = self.posterior_["prevalence"].shape[2]
        if genre is not None or n == 1:
            return []
        return [f"(an average over {n} genres, by their snippets in all periods)"]

    def _n_units(self):
        return None if self.units_ is None else len(self.units_)

    def _result(self, entries, title, axes, prob=None, units=None, asides=(), asked=None):
        """A `Result`; ``units`` as of `prevalence_info`, None of answers about words."""
        of_works = None if units in (None, "seen") else self.units_ is not None
        source, n_units = source_of(self, of_works=of_works), self._n_units()
        of = note_on_words_of_units(self) if units is None else note_on_units(self, n_units)
        asides = [*asides_of(self.posterior_), *of, *asides]
        of = {"of_units": n_units if of_works else None, "units_name": name_of_units(self)}
        about = About(title, axes, prob, source, asides=asides, asked=asked or {}, **of)
        return Result(entries, about)


def _check_several_senses(estimator, what):
    """Raise a ValueError where there is nothing to ask."""
    if len(estimator.prevalence_) == 1:
        raise ValueError(
            f"{what} needs two senses or more, and this fit has one (n_senses=1): its prevalence "
            "is 1 in every period."
        )

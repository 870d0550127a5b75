"""Reading the posterior of senses: prevalences, their changes, and words, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_prob, check_real
from ..posterior.deciding import errors_of, note_on_draws
from ..posterior.representatives import SNIPPET_WIDTH, Representatives
from ..posterior.results import About, Result
from ..posterior.sources import note_on_units, source_of, units_called
from ..posterior.summary import summarise
from .checks import sense_index, word_index
from .embedding import asides_of
from .info import SenseTable, sense_info
from .inputs import genre_index
from .prevalences import (
    Prevalences,
    draws_of,
    in_works_seen,
    interval_of,
    of_units,
    prevalence_info,
)
from .shares import SenseShares, predict_shares
from .snippets import Choice, representative_snippets
from .verdicts import (
    change_seen,
    note_on_change_seen,
    on_change_seen,
    seen_in,
    sentence_on_change,
    verdict_on_change,
)
from .words import SenseWords, probability_draws, sense_words

# Below the table of `emergence`, where the first period has a probability that is worth a word.
_ALREADY = "({}: already above in the first period of the data; since when is not known)"
_TELLING = 0.01


def prevalence_draws(estimator, sense, genre, works="all"):
    """Draws of a sense's prevalence over periods, ndarray of shape (n_draws, n_periods).

    ``works`` as of `prevalence_info`. Without a genre they are averaged over genres, whose weights
    are their shares of the training snippets of all periods: the same in every period, so that a
    change is none of the mixture.
    """
    draws = draws_of(estimator, works)[..., sense]
    if genre is not None:
        return draws[:, genre_index(estimator, genre)]
    weights = estimator._cells.sum(axis=1)
    return np.einsum("g,sgt->st", weights / weights.sum(), draws)


class SenseReadingMixin:
    """Methods of estimators whose posterior has senses with prevalences and words."""

    posterior_: Any
    periods_: Any
    units_: Any

    def prevalence_interval(self, *, prob: float = 0.9, works: str = "all") -> np.ndarray:
        """Highest density intervals of prevalences.

        Parameters
        ----------
        prob : float, default=0.9
            Probability in each interval.
        works : {"all", "seen", "new"}, default="all"
            As of `prevalence_info`.

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
        return interval_of(draws_of(self, works), prob)

    def prevalence_info(self, *, prob: float = 0.9, works: str = "all") -> Prevalences:
        """A table of the prevalences of senses in all genres and periods, with intervals.

        Parameters
        ----------
        prob : float, default=0.9
            Probability of the highest density intervals.
        works : {"all", "seen", "new"}, default="all"
            Where ``fit`` was told of units (works, authors, speakers), whose prevalences they are.
            ``"all"``: the mean over all units that there might be, of which those seen are some.
            ``"seen"``: the mean over the units that ``fit`` was given in the cell, by their
            snippets (in a cell without any: over all). ``"new"``: of one unit that ``fit`` has not
            seen; its intervals are predictive and hold how much units differ, too.

        Returns
        -------
        Prevalences
            ``mean`` (n_senses, n_genres, n_periods), ``interval`` (n_senses, n_genres, n_periods,
            2), ``n_snippets`` and, where ``fit`` was told of units, ``n_units`` (n_genres,
            n_periods). For ``works="all"`` also ``seen`` and ``seen_alike`` (n_senses, n_genres,
            n_periods), the means over the units in the data, weighted by their snippets (as with
            ``works="seen"``) and alike, and a line below the table where the latter are outside
            the interval. Prints as a table.

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
        return prevalence_info(self, prob, works)

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
        """Predictive intervals of the shares of senses among snippets, their words unseen.

        What somebody would count who labelled the snippets, if the senses are those of the model:
        a draw of it is a draw of the posterior, of what new units add to prevalences, and of the
        senses of all snippets.

        Parameters
        ----------
        times, genres : array-like of shape (n_snippets,), optional
            Of every snippet, where ``fit`` was given them.
        units : array-like of shape (n_snippets,), optional
            Of the snippets. One that ``fit`` has not seen adds something of its own to the
            prevalences of all its snippets, if ``fit`` was told of units. Without units each
            snippet counts as a new one.
        by : array-like of shape (n_snippets,), optional
            Labels of the groups that shares are counted in. By default units, where they are
            given, and otherwise genres and periods.
        prob : float, default=0.9
            Probability of the highest density intervals.
        random_state : int, RandomState instance or None, default=None
            None takes the estimator's.

        Returns
        -------
        SenseShares
            ``mean`` (n_groups, n_senses), ``interval`` (n_groups, n_senses, 2), ``n_snippets``
            (n_groups,), ``groups`` and ``draws`` (n_draws, n_groups, n_senses); prints as a table.

        Raises
        ------
        ValueError
            If nothing tells how many snippets there are, or the periods or genres of snippets are
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

    def sense_words(
        self, n: int = 10, *, period: Any = None, rank: str = "probable", prob: float = 0.9
    ) -> SenseWords:
        """The first words under each sense, with intervals.

        Parameters
        ----------
        n : int, default=10
            Words of each sense.
        period : number, date or str, optional
            A time in the period or the period's label; the mean over periods by default.
        rank : {"probable", "relevant"}, default="probable"
            Which words: the most probable, or those that tell a sense from the others, by relevance
            (Sievert & Shirley 2014): their probability and its ratio to that in all.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        SenseWords
            ``words``, ``mean`` (n_senses, n) and ``interval`` (n_senses, n, 2); prints as a table.

        Raises
        ------
        ValueError
            If there is no such period.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> sorted(model.sense_words(1).words.ravel().tolist())
        ['money', 'river']
        """
        check_is_fitted(self, "posterior_")
        return sense_words(self, n, period, prob, rank)

    def sense_info(self, n: int = 10, *, prob: float = 0.9) -> SenseTable:
        """A table of the senses: shares with intervals, words, and which two are most alike.

        Parameters
        ----------
        n : int, default=10
            Words of each sense, those that tell it from the others.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        SenseTable
            ``share`` (n_senses,), ``interval`` (n_senses, 2), ``nearest`` and ``overlap``
            (n_senses,), ``overlaps`` (n_senses, n_senses) and ``words`` (n_senses, n); prints as a
            table.

        Notes
        -----
        The overlap is that of posterior means. Draws have no interval for it that would be of use:
        in each, the probabilities of rare words are mostly noise, and two draws of one sense
        overlap little more than draws of two senses.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> model.sense_info(1).words.ravel().tolist() in (["river", "money"], ["money", "river"])
        True
        """
        check_is_fitted(self, "posterior_")
        return sense_info(self, n, prob)

    def representative_snippets(
        self,
        X: Any,
        sense: int | None = None,
        *,
        n: int = 5,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
        texts: Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        width: int = SNIPPET_WIDTH,
        period: Any = None,
        random: int | None = None,
        prob: float = 0.9,
    ) -> Representatives:
        """The snippets that most probably have a sense, with intervals, to be read.

        Where times are given and there are several periods, they are spread over periods: of each
        period at most n over the number of periods with the sense, rounded up, the most probable
        first. A period has the sense if it is the most probable one of a snippet there. Where
        periods have too few such snippets, the most probable of all others fill up the rest.

        Parameters
        ----------
        X, times, genres, units
            Snippets and what is known of them, as in ``predict_proba``: those of training, or
            others.
        sense : int, optional
            All senses by default.
        n : int, default=5
            Snippets of each sense; fewer where there are fewer with a known word.
        texts : sequence of str of shape (n_snippets,), optional
            What to show of each, such as the ``passages`` or ``sentences`` of
            `datasets.extract_snippets`, which have the whole text of the window, and the sentence.
            By default X, where it holds strings or tokens.
            Those that say the same at the same time and of the same genre have one row.
        target : str or sequence of str, optional
            The word that snippets are uses of, or its forms, as of `datasets.extract_snippets`:
            texts with more than ``width`` characters are printed around it. Without it they are
            printed around their middle, where the word of a window is, unless it begins or ends its
            document.
        width : int, default=120
            Characters that are printed of a text, at least 20. ``texts`` and data frames have all.
        period : number, date or str, optional
            A time in a period, or its label: shows snippets of this period alone. Needs times.
        random : int, optional
            A seed: shows n snippets in all, drawn at random from those whose most probable sense is
            among those asked for. They tell how good labels are, the most probable ones do not.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Representatives
            A table: ``index`` in X, ``mean`` and ``interval`` of the probability of the sense given
            the snippet, over draws, ``texts``, and the ``times``, ``periods`` and ``units`` where
            they are given.

        Raises
        ------
        ValueError
            If there is no such sense or period, texts are not one for each snippet, or no snippet
            (of the period) has a known word.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> table = model.representative_snippets(snippets, 0, n=1)
        >>> len(table), bool(table["mean"][0] > 0.5)
        (1, True)
        """
        check_is_fitted(self, "posterior_")
        choice = Choice(sense, n, period, random, target, width, prob)
        return representative_snippets(self, X, (times, genres, units), texts, choice)

    def word_trajectory(self, word: str | int, *, prob: float = 0.9) -> Result:
        """Probability of a word under each sense over time (the paper's Figure 2).

        Parameters
        ----------
        word : str or int
            A word, or its index.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Result
            ``mean`` and ``sd`` (n_senses, n_periods), ``interval`` (n_senses, n_periods, 2),
            ``draws`` (n_draws, n_senses, n_periods) and the ``periods``, their labels.

        Raises
        ------
        KeyError
            For an unknown word.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> model.word_trajectory(model.words_[0]).interval.shape
        (2, 3, 2)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        periods = list(self.periods_.labels)
        found = summarise(probability_draws(self, word), prob, periods=periods)
        axes = {"sense": range(found.mean.shape[0]), "period": periods}
        return self._result(found, f"probability of {_name(self, word)!r}", axes, prob)

    def sense_given_word(self, word: str | int, *, prob: float = 0.9) -> Result:
        """Probabilities of senses given that a word is in the snippet.

        Those of senses that are equally frequent, in a period taken at random (section 9 of the
        paper): the word's probability under a sense, summed over periods, as a share of its sum
        over senses.

        Parameters
        ----------
        word : str or int
            A word, or its index.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Result
            ``mean`` and ``sd`` (n_senses,), ``interval`` (n_senses, 2) and ``draws`` (n_draws,
            n_senses); the shares are taken draw by draw.

        Raises
        ------
        KeyError
            For an unknown word.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> float(model.sense_given_word(model.words_[0]).mean.sum().round(6))
        1.0
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        share = probability_draws(self, word).sum(axis=2)
        found = summarise(share / share.sum(axis=1, keepdims=True), prob)
        title, axes = f"senses given {_name(self, word)!r}", {"sense": range(found.mean.size)}
        return self._result(found, title, axes, prob)

    def prevalence_change(
        self,
        sense: int,
        start: Any,
        end: Any,
        *,
        genre: Any = None,
        prob: float = 0.9,
        works: str = "all",
    ) -> Result:
        """How much the prevalence of a sense differs between two periods.

        Parameters
        ----------
        sense : int
        start, end : number, date or str
            Times in the two periods, or their labels.
        genre : label, optional
            One of ``genres_``. By default prevalences are averaged over genres, with their shares
            of all training snippets as weights, the same in both periods.
        prob : float, default=0.9
            Probability of the highest density interval.
        works : {"all", "seen", "new"}, default="all"
            As of `prevalence_info`.

        Returns
        -------
        Result
            ``mean``, ``sd`` and ``interval`` (2,) of the prevalence at ``end`` less that at
            ``start``, ``prob_increase``, the probability that this is above zero, and all
            ``draws``; where there is an interval, ``interval_mcse`` (2,), the Monte Carlo standard
            errors of its ends; ``snippets``, the training snippets of the two periods (of the
            genre). Where ``fit`` was told of units, also ``units``, the number of them in the two
            periods, and, for all units, ``seen_alike`` and ``seen``, the means of the change in the
            units seen, each counted once or by its snippets, NaN where a period (in a genre) has
            none; ``seen_interval`` (2,) of the latter and ``seen_verdict``, what this interval
            decides. Where that differs from the verdict on all units, ``sentence`` has both.

            ``verdict``, where there is an interval, sums up: ``"not mixed"`` where chains have not;
            ``"no data"`` where one of the periods has fewer than 10 snippets, or fewer than 3 units
            of which others are to be known, so that this is largely what the prior makes of other
            periods; else ``"rose"`` where the whole interval is above zero, ``"fell"`` where it is
            below, and ``"not decided"``. ``sentence`` says it in words, to be copied. Both it and a
            line below the table tell of a verdict that hangs on the draws, where zero is within two
            Monte Carlo errors of the end that decides.

        Raises
        ------
        ValueError
            If there is no such sense, period or genre, or ``works`` are asked for that ``fit`` was
            not told of.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> 0 <= model.prevalence_change(0, 0, 2).prob_increase <= 1
        True
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        sense = sense_index(self, sense)
        at = [self.periods_.find(t, name) for t, name in ((start, "start"), (end, "end"))]
        draws = prevalence_draws(self, sense, genre, works)
        change = draws[:, at[1]] - draws[:, at[0]]
        place = None if genre is None else genre_index(self, genre)
        entries = {"prob_increase": float(np.mean(change > 0)), **seen_in(self, at, place)}
        if self.units_ is not None and works == "all":
            seen, alike = (in_works_seen(self, at, alike=a)[..., sense] for a in (False, True))
            entries |= change_seen(self, seen, alike, at, place, prob)
        before, after = (self.periods_.labels[t] for t in at)
        of = of_units(self, works)
        title = f"change of the prevalence of sense {sense}{of} from {before} to {after}"
        found = self._result(summarise(change, prob, **entries), title, {}, prob, works)
        if found.source != "point":
            found.interval_mcse = errors_of(self.posterior_, change, prob)
            found.verdict = verdict_on_change(found, works)
            found._noting(*note_on_draws(found))
            if "seen_interval" in found:
                found.seen_verdict = verdict_on_change(found, "seen", found.seen_interval)
        about = f"sense {sense}{of}", genre, (before, after)
        found.sentence = sentence_on_change(found, *about, units_called(self))
        found.sentence += on_change_seen(found)
        return found._noting(*note_on_change_seen(self, found))

    def emergence(
        self, sense: int, threshold: float, *, genre: Any = None, works: str = "all"
    ) -> Result:
        """Posterior of the period in which the prevalence of a sense first exceeds a threshold.

        Parameters
        ----------
        sense : int
        threshold : float
            At least 0, less than 1.
        genre : label, optional
            One of ``genres_``; as in `prevalence_change`, an average by default.
        works : {"all", "seen", "new"}, default="all"
            As of `prevalence_info`.

        Returns
        -------
        Result
            ``proba`` (n_periods,): for each period, the probability that it is the first;
            ``never``: that there is none; together they sum to one. ``periods``: the labels. In
            the first period of the data the prevalence may have been above the threshold for long:
            its probability is that of "already then".
            ``draws`` (n_draws,): index of the first period, -1 where there is none.

        Raises
        ------
        ValueError
            If there is no such sense or genre, or the threshold is out of range.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> from skbayesembed.datasets import make_senses
        >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
        >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
        >>> model = model.fit(made.counts, times=made.times)
        >>> found = model.emergence(0, 0.3)
        >>> round(float(found.proba.sum() + found.never), 6)
        1.0
        """
        check_is_fitted(self, "posterior_")
        sense = sense_index(self, sense)
        check_real("threshold", threshold, 0, strict=False, high=1)
        above = prevalence_draws(self, sense, genre, works) > threshold
        first = np.where(above.any(axis=1), above.argmax(axis=1), -1)
        proba = np.bincount(first + 1, minlength=above.shape[1] + 1) / len(first)
        periods = list(self.periods_.labels)
        entries = {"proba": proba[1:], "never": float(proba[0]), "periods": periods}
        of = of_units(self, works)
        title = f"first period in which the prevalence of sense {sense}{of} is above {threshold:g}"
        entries["draws"] = first
        early = [_ALREADY.format(periods[0])] if proba[1] >= _TELLING else []
        return self._result(entries, title, {"period": periods}, None, works, early)

    def _n_units(self):
        return None if self.units_ is None else len(self.units_)

    def _result(self, entries, title, axes, prob=None, works="seen", asides=()):
        of_works = None if works == "seen" else self.units_ is not None
        source, n_units = source_of(self, of_works=of_works), self._n_units()
        asides = [*asides_of(self.posterior_), *note_on_units(self, n_units), *asides]
        return Result(entries, About(title, axes, prob, source, asides=asides))


def _name(estimator, word):
    """A word, given as itself or as its index."""
    return str(estimator.words_[word_index(estimator, word)])

"""Reading the posterior of senses: their words and snippets, tables, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_prob
from ..inference.kinds import Kinds
from ..posterior.naming import given_names, set_names
from ..posterior.representatives import SNIPPET_WIDTH, Representatives
from ..posterior.results import Result
from ..posterior.summary import summarise
from .checks import word_index
from .info import SenseTable, sense_info
from .prevalence_reading import PrevalenceReadingMixin
from .snippets import Choice, representative_snippets
from .words import SenseWords, probability_draws, sense_words


class SenseReadingMixin(PrevalenceReadingMixin):
    """Methods of estimators whose posterior has senses with prevalences and words."""

    # of the estimator
    words_: Any
    # in reports
    _rows_called = "snippets"

    def sense_words(
        self, n: int = 10, *, period: Any = None, rank: str = "probable", prob: float = 0.9
    ) -> SenseWords:
        """Return the top words of each sense, with intervals.

        Parameters
        ----------
        n : int, default=10
            Number of words for each sense.
        period : number, date or str, optional
            A time in the period, or the period's label; by default the mean over periods.
        rank : {"probable", "relevant"}, default="probable"
            Which words: the most probable ones, or those that distinguish the sense from the
            others, by relevance (Sievert & Shirley 2014), which combines a word's probability with
            its ratio to the overall probability.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        SenseWords
            Prints as a table. ``words`` (n_senses, n), ``mean`` (n_senses, n) and ``interval``
            (n_senses, n, 2).

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
        """Return a table of the senses: shares with intervals, words, and the most similar sense.

        Parameters
        ----------
        n : int, default=10
            Number of words for each sense, those that distinguish it from the others.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        SenseTable
            Prints as a table. ``share`` (n_senses,), ``interval`` (n_senses, 2), ``of_snippets``
            (n_senses,) if ``fit`` was given units, ``nearest`` and ``overlap`` (n_senses,),
            ``overlaps`` (n_senses, n_senses) and ``words`` (n_senses, n).

        Notes
        -----
        The overlap is computed from posterior means. An interval over draws would not be useful: in
        each draw, the probabilities of rare words are mostly noise, and two draws of one sense
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
        sense: int | str | None = None,
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
        """Return the snippets that most probably have a sense, with intervals, for reading.

        If times are given and there are several periods, snippets are spread over periods. Each
        period with the sense gives its most probable snippets, at most n divided by the number of
        such periods, rounded up. A period has the sense if it is the most probable sense of some
        snippet there. If periods have too few such snippets, the most probable of all other
        snippets fill the remaining rows. As in ``predict_proba``, snippets are read by their words
        alone, also those whose sense was given to ``fit`` as ``y``: their labels may differ.

        Parameters
        ----------
        X, times, genres, units
            Snippets and their covariates, as in ``predict_proba``; the training snippets or others.
        sense : int or str, optional
            Number, or name from `name_senses`; all senses by default.
        n : int, default=5
            Number of snippets for each sense; fewer if fewer have a known word.
        texts : sequence of str of shape (n_snippets,), optional
            Text to show for each snippet, such as the ``passages`` (the whole text of the window)
            or ``sentences`` of `datasets.extract_snippets`. By default X, if it holds strings or
            tokens. Identical texts of the same time and genre share one row.
        target : str or sequence of str, optional
            The target word of the snippets, or its forms, as in `datasets.extract_snippets`. Texts
            with more than ``width`` characters are printed around it. Without it, they are printed
            around their middle, which is where the word of a window is unless the window begins or
            ends its document.
        width : int, default=120
            Number of characters printed of each text, at least 20. ``texts`` and data frames have
            all.
        period : number, date or str, optional
            A time in a period, or its label: show snippets of this period only. Needs times.
        random : int, optional
            A seed: show n snippets in all, drawn at random from those whose most probable sense is
            among those asked for. Random snippets show how good the labels are; the most probable
            ones do not.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Representatives
            A table: ``index`` in X, ``mean`` and ``interval`` over draws of the probability of the
            sense given the snippet, ``texts``, and the ``times``, ``periods`` and ``units`` if they
            are given.

        Raises
        ------
        ValueError
            If there is no such sense or period, the number of texts is not that of the snippets, or
            no snippet (of the period) has a known word.

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
        """Return the probability of a word under each sense over time (the paper's Figure 2).

        Parameters
        ----------
        word : str or int
            The word, or its index.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Result
            ``mean`` and ``sd`` (n_senses, n_periods), ``interval`` (n_senses, n_periods, 2),
            ``draws`` (n_draws, n_senses, n_periods) and the labels of the ``periods``.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.

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
        axes = {"sense": self._sense_labels(), "period": periods}
        return self._result(found, f"probability of {_name(self, word)!r}", axes, prob)

    def sense_given_word(self, word: str | int, *, prob: float = 0.9) -> Result:
        """Return the probabilities of the senses given that a word is in the snippet.

        The senses count as equally frequent, and the period is random (section 9 of the paper). The
        probability is the word's probability under a sense, summed over periods, divided by its sum
        over senses.

        Parameters
        ----------
        word : str or int
            The word, or its index.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Result
            ``mean`` and ``sd`` (n_senses,), ``interval`` (n_senses, 2) and ``draws`` (n_draws,
            n_senses); probabilities are computed draw by draw.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.

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
        title, axes = f"senses given {_name(self, word)!r}", {"sense": self._sense_labels()}
        return self._result(found, title, axes, prob)

    def name_senses(self, names: Sequence[str] | Mapping[int, str] | None) -> Self:
        """Give the senses names, which tables, figures and sentences then use.

        Senses are numbered by the fit, so names are given after it, when their words and snippets
        have been read. They also serve wherever a ``sense`` is asked for, are the labels of the
        dimension ``sense`` of ``posterior_``, and are saved with the estimator. A new fit
        discards them.

        Parameters
        ----------
        names : list of str of shape (n_senses,), dict of int to str, or None
            Names of all senses, or of some; the others keep their numbers. With None all have
            numbers again.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the names are not as many as the senses, or of senses that are not there; or if they
            are empty, numbers, or not different from each other.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> model.name_senses(["bank", "shore"]).sense_words(1)["sense"].tolist()
        ['bank', 'shore']
        """
        check_is_fitted(self, "posterior_")
        set_names(self.posterior_, names, "sense")
        return self

    def _kinds(self, X, *, times=None, genres=None, units=None, **others):
        """The senses by the snippets of ``fit``, for comparisons of fits (`over_settings`)."""
        given = {"times": times, "genres": genres, "units": units}
        names = given_names(self.posterior_, "sense")
        return Kinds(self.predict_proba(X, **given).T, names)

    def _name_kinds(self, names):
        """Names of senses of another fit (`Kinds.names_for`), where it had some."""
        if names:
            self.name_senses(names)

    def _sense_labels(self):
        return self.posterior_.coords["sense"].tolist()


def _name(estimator, word):
    """A word, given as itself or as its index."""
    return str(estimator.words_[word_index(estimator, word)])

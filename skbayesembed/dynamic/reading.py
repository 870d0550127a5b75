"""Reading the posterior: trajectories, similarities over time and drift, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..common.checks import (
    check_choice,
    check_integer,
    check_prob,
    check_real,
    listed,
)
from ..corpus.periods import find_two
from ..posterior.cells import cut_list
from ..posterior.sentences import behind
from ..sgns.neighbours import Neighbours
from ..sgns.questions.asking import Answer, ask
from ..sgns.questions.kinds import Entries, SelfCosines
from ..sgns.questions.operands import of_places
from ..sgns.questions.phrases import are_same, phrase_of, word_index
from ..sgns.ranking import most_similar
from ..sgns.reading import (
    OF_ITSELF,
    check_pairs,
    check_two,
    labels_of,
    pair_axis,
    pair_places,
    pairs_at,
    titles_of,
)
from .change import Changes, most_changed
from .changing import DynamicChangeMixin, check_distance
from .seen import lacking, of_one_unit, text_of, words_too_few
from .vectors import cosines_at, places_of
from .verdicts import (
    notes_on_uses,
    sentence_over_periods,
    sentences_on_itself,
    sentences_on_periods,
    without_data,
)

_WHICH = ("target", "context")


def _chosen_periods(estimator, chosen=None):
    """Places of the chosen periods, all by default; their labels and centers."""
    periods = estimator.periods_
    if chosen is None:
        places = list(range(periods.n_periods))
    else:
        found = listed(chosen)
        chosen = [chosen] if found is None else found
        places = [periods.find(time, "periods") for time in chosen]
        if not places:
            raise ValueError("periods must name at least one period, got none.")
    labels = [periods.labels[t] for t in places]
    return places, {"periods": labels, "times": periods.centres[places]}


class DynamicReadingMixin(DynamicChangeMixin):
    """Methods of estimators whose posterior has vectors of words in every period.

    Notes
    -----
    With ``uncertainty="documents"`` a result is centered at the posterior mean, and its width comes
    from the sampling of units and from the prior. It also has ``sd_sampling`` and ``sd_prior``, the
    two parts of ``sd``, and ``n_units``, the smallest effective number of units on which its
    vectors rest. These are units of the period and, by as much as the prior borrows from other
    periods, of those, so there may be more of them than the period has (printed as "units, all
    periods"). The interval has equal tails.

    A list of words, or what `axis` returns, can be given in place of a word (not in `trajectory`,
    `drift` and `cooccurrence_proba`); a list stands for the mean of its words' unit vectors in
    every draw. Words of a list that are not in the vocabulary are left out, with a warning that
    names them and suggests words that may have been meant.

    Draws of all answers belong together, whatever their periods and whenever they are asked for:
    see `contrast`. With ``solver="vi"`` they are 1,000 draws from the approximation, for each word
    the same in every answer; `most_similar`, which looks at all words, has its own draws.
    """

    # of the estimator
    posterior_: Any
    periods_: Any
    words_: Any
    vocabulary_: Any
    rho_: Any
    observed_: Any
    _pairs_of_use: float | None
    _seen: Any

    def _with_little(self, found, lacks):
        """An answer for each period, with lines on pairs and words where there is little text."""
        notes = [*lacks, *notes_on_uses(self._pairs_of_use)] if found.few_pairs.any() else []
        return without_data(found, found.few_pairs)._noting(*notes)

    def trajectory(self, word: str | int, *, which: str = "target", prob: float = 0.9) -> Answer:
        """Posterior of a word's vector in every period.

        Parameters
        ----------
        word : str or int
            A word, or its index.
        which : {"target", "context"}, default="target"
            Which of the word's vectors.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            ``periods`` (labels), ``times`` (their centers), ``mean`` and ``sd`` (n_periods,
            n_components), ``interval`` (n_periods, n_components, 2), ``draws`` (n_draws, n_periods,
            n_components). With ``uncertainty="documents"``, also ``sd_sampling``, ``sd_prior`` and
            ``n_units`` (n_periods,).

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.

        Notes
        -----
        With ``balance=True`` each draw is balanced by itself, and ``mean`` is the mean of these
        draws. ``rho_`` is the mean of the draws, balanced as a whole. Where little is known the two
        may be some tenths of a standard deviation apart.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.trajectory("cat").mean.shape
        (2, 2)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        check_choice("which", which, _WHICH)
        index = word_index(self, word, "word")
        chosen, where = _chosen_periods(self)
        side, k = _WHICH.index(which), self.rho_.shape[-1]
        places = of_places(places_of(self, chosen, index), self._n_places, side, unit=False)
        word = str(self.words_[index])
        about: dict[str, Any] = {
            "title": f"{which} vector of {word!r}",
            "axes": {"period": where["periods"], "component": range(k)},
            "asked": {"word": word, "which": which},
        }
        found = ask(self, Entries(places, k), prob, (len(chosen), k), **about, **where)
        if "n_units" in found:
            found.n_units = found.n_units[:, 0]
        return found

    def similarity(
        self,
        a: Any,
        b: Any = None,
        *,
        periods: ArrayLike | None = None,
        prob: float = 0.9,
    ) -> Answer:
        """Posterior of the cosine between the target vectors of two words over time.

        Parameters
        ----------
        a, b : str, int, list of either, or Axis
            As in `BayesianSGNS.similarity`.
        periods : list of times or labels of periods, optional
            Any time in a period names it. All periods by default.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen,), ``interval`` (n_chosen, 2),
            ``draws`` (n_draws, n_chosen). ``pairs`` (n_chosen,): positive pairs of which the words
            were targets in the period, for the word with less text. ``few_pairs`` (n_chosen,):
            whether the period has too little text of one of them (as in `similarity_change`), so
            that the answer follows from the prior and other periods.
            With ``uncertainty="documents"``, also ``sd_sampling``, ``sd_prior`` and ``n_units``,
            which is NaN if there is too little text. ``sentences`` is a dict from the label of each
            period to the answer in words, to be copied; ``sentence`` is about all periods.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        ValueError
            For a time that is not in any period.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.similarity("cat", "dog").interval.shape
        (2, 2)
        """
        check_is_fitted(self, "posterior_")
        check_two(a, b)
        check_prob(prob)
        chosen, where = _chosen_periods(self, periods)
        a, b = phrase_of(self, a, "a"), phrase_of(self, b, "b")
        question = cosines_at(self, *([(x, t) for t in chosen] for x in (a, b)))
        text = text_of(self, chosen, a, b)
        where |= {"pairs": text.pairs, "few_pairs": text.few}
        about: dict[str, Any] = {"axes": _over(where), "asked": labels_of(a, b), **titles_of(a, b)}
        found = ask(self, question, prob, **about, **where)
        found.sentences = sentences_on_periods(found, text.reason)
        found.sentence = sentence_over_periods(found)
        found._noting(*[OF_ITSELF] * are_same(a, b))
        found = self._with_little(found, lacking(self, chosen, a, b))
        return found._carrying(*of_one_unit(self, chosen))

    def similarity_difference(
        self, first: Any, second: Any, *, periods: ArrayLike | None = None, prob: float = 0.9
    ) -> Answer:
        """Posterior of the cosine of one pair of words less that of another, over time.

        The `contrast` of two similarities. Which of two pairs drew closer is asked by the
        `contrast` of their `similarity_change`.

        Parameters
        ----------
        first, second : pair of words, as in `similarity`
        periods : array-like of times or labels, optional
            As in `similarity`.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            The difference in each period, as in `similarity`, and ``prob_positive``, the
            probability that the words of the first pair are nearer; ``verdict`` and ``sentence``
            as in `contrast`.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        ValueError
            If one of them is not a pair, or has the same words twice, or both are the same pair.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.similarity_difference(("cat", "mat"), ("dog", "mat")).mean.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        check_pairs(self, first, second)
        each = [self.similarity(*pair, periods=periods, prob=prob) for pair in (first, second)]
        return self.contrast(*each, prob=prob)

    def self_similarity(
        self,
        word: Any,
        reference: Any = None,
        *,
        periods: ArrayLike | None = None,
        prob: float = 0.9,
    ) -> Answer:
        """Posterior of the cosine of a word with its own earlier (or later) self over time.

        Parameters
        ----------
        word : str, int, list of either, or Axis
        reference : time or label of a period, optional
            Period with which others are compared; the first by default.
        periods : list of times or labels of periods, optional
            All by default.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            As in `similarity`, with the label of the ``reference``, at which the cosine is 1.
            ``pairs`` are the word's own, in the period or in the reference, whichever has fewer,
            since a cosine with a period without data says nothing. Values printed as a dash for
            want of text are in data frames, with ``few_pairs``.

        Notes
        -----
        Vectors that are not known are less alike than those that are, whether or not the word has
        changed: `drift` distinguishes change from want of data.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> float(model.self_similarity("cat", 1900).mean[0].round(6))
        1.0
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        chosen, where = _chosen_periods(self, periods)
        at = 0 if reference is None else self.periods_.find(reference, "reference")
        where["reference"] = self.periods_.labels[at]
        phrase = phrase_of(self, word, "word")
        now, then = [(phrase, t) for t in chosen], [(phrase, at)] * len(chosen)
        itself = f"to itself in {where['reference']}"
        title, whole = (f"similarity of {phrase.named(cut=cut)} {itself}" for cut in (True, False))
        question = cosines_at(self, now, then, SelfCosines)
        # a cosine with a period without data says nothing, whatever the other has
        mine, of_reference = (text_of(self, periods, phrase) for periods in (chosen, [at]))
        where["pairs"] = np.minimum(mine.pairs, of_reference.pairs)
        where["few_pairs"] = mine.few | of_reference.few
        lacks, reason = lacking(self, chosen, phrase), mine.reason
        if of_reference.few.any():
            ended = f"in {where['reference']}, the reference ({of_reference.lack(0)}))"
            lacks = [f"(too little text: of {cut_list(phrase.label)!r} {ended}"]

            def reason(_):
                return of_reference.reason(0, f"in {where['reference']}")

        about: dict[str, Any] = {
            "title": title,
            "whole": whole,
            "axes": _over(where),
            "asked": {"word": phrase.label},
        }
        found = ask(self, question, prob, **about, **where)
        found.sentences = sentences_on_itself(found, phrase.named(), reason)
        lone = of_one_unit(self, sorted({*chosen, at}))
        found.sentence = sentence_over_periods(found) + behind(lone)
        return self._with_little(found, lacks)._carrying(*lone)

    def most_changed(
        self,
        n: int = 10,
        *,
        start: Any = None,
        end: Any = None,
        distance: str = "euclidean",
        threshold: float | None = None,
        min_pairs: float | None = None,
        prob: float = 0.9,
    ) -> Changes:
        """Find the words that have most certainly changed between two periods.

        Parameters
        ----------
        n : int, default=10
            Number of words.
        start, end : times or labels of periods, optional
            Any time in a period names it. The first and the last period by default; ``start`` is
            the earlier one.
        distance : {"euclidean", "cosine"}, default="euclidean"
            ``|rho_end - rho_start|``, or ``1 - cos(rho_start, rho_end)``.
        threshold : float, optional
            By default, for the Euclidean distance, its root mean square under the prior; for cosine
            distances, the median over these words of the posterior mean.
        min_pairs : float, optional
            Words that were the target of fewer positive pairs (``observed_``) in either period are
            left out. By default those with too little text in either (as in `similarity_change`),
            whose answers follow from the prior and other periods. 0 leaves none out.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Changes
            A table, ordered by the probability that the distance is above ``threshold``; words with
            equal probabilities, or more than 0.99, by distance. With the pairs seen in both
            periods, the ``known`` share of the move, and the expected share of false discoveries
            down to each row.

        Raises
        ------
        ValueError
            If no word has ``min_pairs``, or enough text.

        Notes
        -----
        The prior moves all vectors, equally for every word. A word of which nothing is known has
        about even chances of a distance above the default threshold, and one that is known to have
        stayed has none. Cosines rank words with short vectors, such as those that go with anything,
        too high: the same step turns them further.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.most_changed(3, start=1900, end=1901).words.shape
        (3,)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        check_integer("n", n, 1)
        check_distance(distance, threshold)
        if min_pairs is not None:
            check_real("min_pairs", min_pairs, 0, strict=False)
        at = find_two(self.periods_, start, end)
        return most_changed(self, n, at, distance, threshold, min_pairs, prob)

    def most_similar(self, word: Any, n: int = 10, *, period: Any, prob: float = 0.9) -> Neighbours:
        """Find the words nearest to a word in a period, with intervals.

        Parameters
        ----------
        word : str, int, list of either, or Axis
        n : int, default=10
            Number of neighbors.
        period : time or label of a period
            Any time in a period names it.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Neighbours
            A table ordered by posterior mean cosine, with the probability that each word is among
            the ``n`` nearest; means and intervals are those of `similarity`, also with
            ``solver="vi"``, which draws these words afresh (ranks are of whole draws); the
            ``pairs`` of which it was the target in the period (see ``observed_``), and
            ``word_pairs``, those of the word itself. Words with too little text in the period (as
            in `similarity_change`) are not ranked, as their vectors follow from the prior and other
            periods; ``n_left_out`` counts them. If this is so for the word itself (``word_few``),
            ``prob_top`` and ``n_units`` are NaN, its cosines are dashes in print, and a line below
            the table says so.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.most_similar("cat", 2, period=1900).words.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        check_integer("n", n, 1)
        shift = self._shift(period)
        at = shift // self.words_.size
        label, few = self.periods_.labels[at], self._few_in(period)
        found = most_similar(self, word, n, prob, shift, label, few)
        index = [self.vocabulary_[w] for w in found.words.tolist()]
        own = text_of(self, [at], phrase_of(self, word, "word"))
        return found._seen_in_period(
            notes_on_uses(self._pairs_of_use),
            pairs=self.observed_[at, index],
            word_pairs=float(own.pairs[0]),
            word_few=bool(own.few[0]),
        )

    def cooccurrence_proba(
        self, pairs: Sequence, *, periods: ArrayLike | None = None, prob: float = 0.9
    ) -> Answer:
        """Posterior of the probability that a pair is positive, sigma(rho_wt . alpha_vt).

        Parameters
        ----------
        pairs : list of (target, context), or DataFrame with these as its two columns
            Words or indices.
        periods : list of times or labels of periods, optional
            Any time in a period names it. All periods by default.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen, n_pairs), ``interval`` (n_chosen,
            n_pairs, 2), ``draws`` (n_draws, n_chosen, n_pairs). ``few_pairs`` (n_chosen, n_pairs):
            whether a word of the pair has too little text in the period, as in `similarity`.
            With ``uncertainty="documents"``, also ``sd_sampling``, ``sd_prior`` and ``n_units``.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.cooccurrence_proba([("cat", "sat")]).mean.shape
        (2, 1)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        targets, contexts = pair_places(self, pairs)
        chosen, where = _chosen_periods(self, periods)
        rows, columns = (places_of(self, np.array(chosen)[:, None], w) for w in (targets, contexts))
        question = pairs_at(self, rows.ravel(), columns.ravel())
        title = "probability that a pair is positive"
        axes = _over(where) | pair_axis(self, targets, contexts)
        few = words_too_few(self, chosen, targets) | words_too_few(self, chosen, contexts)
        about: dict[str, Any] = {"title": title, "axes": axes, "few_pairs": few}
        found = ask(self, question, prob, rows.shape, **about, **where)
        return without_data(found, few)


def _over(where):
    """The axis of answers in several periods."""
    return {"period": where["periods"]}

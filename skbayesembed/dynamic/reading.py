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
from ..posterior.deciding import NO_DATA, NOT_MIXED
from ..posterior.tables import cut_list
from ..sgns.neighbours import Neighbours, most_similar
from ..sgns.questions.asking import Answer, ask, difference
from ..sgns.questions.kinds import Cosines, Entries, SelfCosines
from ..sgns.questions.operands import of_places, together
from ..sgns.questions.phrases import operands_of, phrase_of, word_index
from ..sgns.reading import labels_of, pair_axis, pair_places, pairs_at, titles_of
from .asking import DynamicAskingMixin
from .change import (
    Changes,
    most_changed,
    moves,
    prior_distance,
    typical_distance,
)
from .seen import lacking, text_of
from .vectors import places_of
from .verdicts import (
    NEED_NONE,
    note_on_settings,
    notes_on_uses,
    notes_on_verdict,
    sentence_on_change,
    sentence_on_drift,
    sentences_on_itself,
    sentences_on_periods,
    settings_of,
    verdict_on_change,
    verdict_on_drift,
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


def cosines_at(estimator, a, b, kind=Cosines):
    """The `Question` of the cosines of pairs of phrases in periods.

    Parameters
    ----------
    estimator : DynamicSGNS
    a, b : list of (Phrase, int)
        With the periods.
    """
    n_words = estimator.words_.size
    operands = [operands_of([phrase], estimator._n_places, t * n_words) for phrase, t in [*a, *b]]
    return kind(together(*operands), np.arange(2 * len(a)).reshape(2, -1).T)


class DynamicReadingMixin(DynamicAskingMixin):
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
            For an unknown word.

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
        b: Any,
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
            period to the answer in words, to be copied.

        Raises
        ------
        KeyError
            For an unknown word.
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
        check_prob(prob)
        chosen, where = _chosen_periods(self, periods)
        a, b = phrase_of(self, a, "a"), phrase_of(self, b, "b")
        question = cosines_at(self, *([(x, t) for t in chosen] for x in (a, b)))
        text = text_of(self, chosen, a, b)
        where |= {"pairs": text.pairs, "few_pairs": text.few}
        about: dict[str, Any] = {"axes": _over(where), "asked": labels_of(a, b), **titles_of(a, b)}
        found = ask(self, question, prob, **about, **where)
        found.sentences = sentences_on_periods(found, text.reason)
        return self._with_little(found, lacking(self, chosen, a, b))

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
        return self._with_little(found, lacks)

    def similarity_change(
        self, a: Any, b: Any, start: Any = None, end: Any = None, *, prob: float = 0.9
    ) -> Answer:
        """Posterior of the change of two words' cosine from one period to another.

        Parameters
        ----------
        a, b : str, int, list of either, or Axis
            As in `BayesianSGNS.similarity`.
        start, end : times or labels of periods, optional
            Any time in a period names it. The first and the last period by default.
        prob : float, default=0.9
            Probability of the interval.

        Returns
        -------
        Answer
            The cosine at ``end`` less that at ``start``: ``mean``, ``sd``, ``interval`` (low, high)
            and ``draws`` (n_draws,). ``prob_increase`` is the probability that the words have come
            closer (NaN if the verdict is ``"no data"``). ``pairs`` are the positive pairs of which
            the words were targets in the two periods; ``uses`` and ``units_seen``, how often they
            are used in the two periods and in how many of their units (for a list, those of its
            word that has most; None if not known): all three for the word with less text in the
            period, which ``words_seen`` names for both.
            ``settings`` lists what the answer rests on besides the text: the ``diffusion``, whether
            it was learned (``diffusion_learned``), ``n_components``, and the largest number of
            pairs that a use of a word makes (``pairs_of_use``, None if not known).
            With ``uncertainty="documents"``, also ``sd_sampling``, ``sd_prior`` and ``n_units``.

            ``verdict`` sums up, if there is an interval. It is ``"no data"`` if one of the periods
            has too little text, so that the answer follows from the prior and other periods; else
            ``"not mixed"`` if the chains have not mixed (of intervals by draws); else ``"closer"``
            if the whole interval is above zero, ``"apart"`` if it is below, and
            ``"not decided"`` otherwise. Too little text means fewer than 10 uses of a word (if uses
            are not known, 10 times the pairs that one makes, or 50 pairs), or fewer than 3 units
            of the period with the word (fewer than all, if the period has one or two units);
            ``few_pairs`` says in which of the two periods. ``sentence`` states the answer in words,
            to be copied, or that there is too little text, without a number. The interval decides,
            not ``prob_increase``. By units the two agree up to Monte Carlo error (with
            ``prob=0.9``, a verdict needs a probability above 0.95 or below 0.05). The model's
            intervals are of highest density and need not have equal tails. Tables and sentences say
            "probably closer" if the probability of it is below 0.975 (:ref:`how_sure`, step 6).

            "Not decided" does not mean that nothing has changed: for the probability of a small
            change, `contrast` two answers of `similarity` with ``low=`` and ``high=``.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> change = model.similarity_change("cat", "dog", 1900, 1901)
        >>> 0 <= change.prob_increase <= 1, change.verdict
        (True, 'not decided')
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        before, after = find_two(self.periods_, start, end)
        a, b = phrase_of(self, a, "a"), phrase_of(self, b, "b")
        later, former = (cosines_at(self, [(a, t)], [(b, t)]) for t in (after, before))
        start, end = (self.periods_.labels[t] for t in (before, after))
        similarity = titles_of(a, b)
        titles = {x: f"change of the {of} from {start} to {end}" for x, of in similarity.items()}
        asked = labels_of(a, b) | {"start": start, "end": end}
        found = difference(self, later, former, prob, **titles, asked=asked)
        _note_settings(self, found)
        _note_seen(self, found, [before, after], a, b)
        without_data(found, any(found.few_pairs))
        found.prob_increase = found.pop("prob_positive")
        if found.source != "point":
            found.verdict = verdict_on_change(found)
            if found.verdict == NO_DATA:
                # the prior alone would say it
                found.prob_increase = np.nan
            found._noting(*notes_on_verdict(found, found.prob_increase, 0.0))
        found.sentence = sentence_on_change(found, similarity["whole"], (start, end))
        return found._noting(*lacking(self, [before, after], a, b))

    def drift(
        self,
        word: str | int,
        start: Any = None,
        end: Any = None,
        *,
        distance: str = "euclidean",
        threshold: float | None = None,
        prob: float = 0.9,
    ) -> Answer:
        """Posterior of the distance between a word's target vectors in two periods.

        Parameters
        ----------
        word : str or int
        start, end : times or labels of periods, optional
            Any time in a period names it. The first and the last period by default.
        distance : {"euclidean", "cosine"}, default="euclidean"
            ``|rho_end - rho_start|``, or ``1 - cos(rho_start, rho_end)``.
        threshold : float, optional
            By default, for the Euclidean distance, its root mean square under the prior.
        prob : float, default=0.9
            Probability of the interval.

        Returns
        -------
        Answer
            The distance: ``mean``, ``sd``, ``interval`` (low, high) and ``draws`` (n_draws,). If
            there is a ``threshold``, also that and ``prob_exceeds``, the probability of a larger
            distance (NaN if the verdict is ``"no data"``).
            ``pairs``: positive pairs of which the word was the target in the two periods;
            ``uses``, ``units_seen``, ``settings`` and ``few_pairs`` are as in `similarity_change`.
            ``known``: the share of the prior's variance of the move that the text has removed, from
            0 (nothing is known) to 1 (all is); NaN for point estimates without units, and if there
            is too little text in one of the periods.
            With ``uncertainty="documents"``, also ``sd_sampling``, ``sd_prior`` and ``n_units``,
            and ``units``, the effective number of units, of all periods, on which the vector rests
            in each of the two. ``units`` is NaN in a period with too little text of the word, where
            it would count only units of other periods, from which the word drifts there; and so is
            ``n_units``, the smaller of the two.

            ``verdict`` sums up, if there is a threshold and an interval: ``"no data"`` if there is
            too little text in one of the periods, ``"not mixed"`` if the chains have not mixed
            (of intervals by draws); else ``"drifted"`` if the whole interval is above
            the threshold, ``"no drift"`` if it is below; else ``"not decided"``, or ``"not known"``
            if ``known`` is below 0.1 (95 % of the prior's standard deviation are left) for want of
            data, and not because units differ. The interval decides, not ``prob_exceeds``: see
            `similarity_change`.

            ``typical`` is a yardstick: the median, over words with enough text in both periods, of
            the distance of their mean vectors, which is smaller than a mean distance by what is not
            known of them. ``sentence`` states all this in words, to be copied, or that there is too
            little text, without a number. If the verdict depends on the threshold, a line below the
            table names `self_similarity` and `similarity_change`, which need none.

        Notes
        -----
        A distance cannot be negative: if little is known of a word, its distance is far from 0
        even if the word has not changed. A word that was never seen has the distance that the prior
        gives it; ``observed_`` says how much was seen.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> answers = {"drifted", "no drift", "not decided", "not known", "no data"}
        >>> model.drift("cat").verdict in answers
        True
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        _check_distance(distance, threshold)
        at = find_two(self.periods_, start, end)
        index = word_index(self, word, "word")
        start, end = (self.periods_.labels[t] for t in at)
        word = str(self.words_[index])
        title = f"{distance} distance of {word!r}, {start} to {end}"
        asked = {"word": word, "start": start, "end": end, "distance": distance}
        about: dict[str, Any] = {"title": title, "asked": asked}
        found, known = moves(self, at, np.array([index]), distance, prob, (), **about)
        _note_settings(self, found)
        _note_seen(self, found, at, phrase_of(self, index, "word"))
        if "n_units" in found:
            units = self._deviations().n_units
            units = [float(units[places_of(self, t, index)]) for t in at]
            found.units = tuple(np.where(found.few_pairs, np.nan, units).tolist())
            without_data(found, any(found.few_pairs))
        # without data it would say what other periods lend
        found.known = np.nan if any(found.few_pairs) else float(known[0])
        found.typical = typical_distance(self, distance, at)
        default = threshold is None
        if default and distance == "euclidean":
            threshold = prior_distance(self, at)
        if threshold is not None:
            found.threshold = threshold
            found.prob_exceeds = float(np.mean(found.draws > threshold))
            if found.source != "point":
                found.verdict = verdict_on_drift(found)
                if found.verdict == NO_DATA:
                    # the prior alone would say it
                    found.prob_exceeds = np.nan
                elif found.verdict != NOT_MIXED:
                    found._noting(NEED_NONE)
                found._noting(*notes_on_verdict(found, found.prob_exceeds, threshold))
        found.sentence = sentence_on_drift(found, distance, word, (start, end), default)
        return found._noting(*lacking(self, at, phrase_of(self, index, "word")))

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
            Any time in a period names it. The first and the last period by default.
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
        _check_distance(distance, threshold)
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
            the ``n`` nearest; the ``pairs`` of which it was the target in the period (see
            ``observed_``), and ``word_pairs``, those of the word itself. Words with too little text
            in the period (as in `similarity_change`) are not ranked, as their vectors follow from
            the prior and other periods; ``n_left_out`` counts them. If this is so for the word
            itself (``word_few``), ``prob_top`` and ``n_units`` are NaN, its cosines are dashes in
            print, and a line below the table says so.

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
        pairs : list of (target, context)
            Words or indices.
        periods : list of times or labels of periods, optional
            Any time in a period names it. All periods by default.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen, n_pairs), ``interval`` (n_chosen,
            n_pairs, 2), ``draws`` (n_draws, n_chosen, n_pairs).
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
        return ask(self, question, prob, rows.shape, title=title, axes=axes, **where)


def _note_seen(estimator, found, at, *phrases):
    """Say, in place, what an answer about two periods has of each."""
    text = text_of(estimator, at, *phrases)
    seen = {"pairs": text.pairs, "uses": text.uses, "units_seen": text.units, "few_pairs": text.few}
    for name, ends in seen.items():
        found[name] = None if ends is None else tuple(ends.tolist())
    found.words_seen = tuple(text.words)


def _note_settings(estimator, found):
    """Say, in place, what an answer about change rests on besides the text."""
    found.settings = settings_of(estimator)
    found._noting(note_on_settings(found.settings))


def _over(where):
    """The axis of answers in several periods."""
    return {"period": where["periods"]}


def _check_distance(distance, threshold):
    check_choice("distance", distance, ("euclidean", "cosine"))
    if threshold is not None:
        check_real("threshold", threshold, 0, strict=False)

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
from ..sgns.neighbours import Neighbours, most_similar
from ..sgns.questions.asking import Answer, ask, difference
from ..sgns.questions.kinds import Cosines, Entries, SelfCosines
from ..sgns.questions.operands import of_places, together
from ..sgns.questions.phrases import operands_of, phrase_of, word_index
from ..sgns.reading import pair_axis, pair_places, pairs_at, similarity_title
from .asking import DynamicAskingMixin
from .change import (
    Changes,
    most_changed,
    moves,
    prior_distance,
    typical_distance,
)
from .seen import lacking, text_of, words_too_few
from .vectors import places_of
from .verdicts import (
    note_on_settings,
    notes_on_uses,
    notes_on_verdict,
    sentence_on_change,
    sentence_on_drift,
    settings_of,
    verdict_on_change,
    verdict_on_drift,
    without_data,
)

_WHICH = ("target", "context")


def _chosen_periods(estimator, chosen=None):
    """Places of the chosen periods, all by default; their labels and centres."""
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


def _two_periods(estimator, start, end):
    """Places of two periods; the first and the last by default."""
    return find_two(estimator.periods_, start, end)


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
    With ``uncertainty="documents"`` a result lies about the posterior mean, with a width by the
    units that were sampled and by the prior. It also has ``sd_sampling`` and ``sd_prior``, the two
    parts of ``sd``, and ``n_units``: the fewest effective units that its vectors rest on, which are
    those of the period and, by as much as the prior takes from other periods, of these: there may
    be more of them than the period has (printed as "units, all periods"). The interval has as much
    probability on either side.

    Where a word is taken there may stand a list of words, for the mean of their unit vectors in
    every draw, or what `axis` returns; but not in `trajectory`, `drift` and `cooccurrence_proba`.
    Words of a list that are not in the vocabulary are left out, with a warning that names them and
    words that may have been meant.

    Draws of all answers belong together, in whatever periods and whenever they are asked for: see
    `contrast`. With ``solver="vi"`` they are 1,000 draws from the approximation, a word's own the
    same in every answer; `most_similar`, which looks at all words, has draws of its own.
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
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            ``periods`` (labels), ``times`` (their centres), ``mean`` and ``sd`` (n_periods,
            n_components), ``interval`` (n_periods, n_components, 2), ``draws`` (n_draws, n_periods,
            n_components). With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and
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
        title = f"{which} vector of {str(self.words_[index])!r}"
        axes = {"period": where["periods"], "component": range(k)}
        shape = len(chosen), k
        found = ask(self, Entries(places, k), prob, shape, title=title, axes=axes, **where)
        if "n_units" in found:
            found.n_units = found.n_units[:, 0]
        return found

    def similarity(
        self,
        a: str | int,
        b: str | int,
        *,
        periods: ArrayLike | None = None,
        prob: float = 0.9,
    ) -> Answer:
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
        Answer
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen,), ``interval`` (n_chosen, 2),
            ``draws`` (n_draws, n_chosen); ``pairs`` (n_chosen,), the positive pairs that the words
            were targets of in the period, of the word that has fewer; ``few_pairs`` (n_chosen,),
            whether there is too little text of one of them in the period, as `similarity_change`
            has it: there the answer is what the prior makes of other periods.
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``, NaN
            where there is too little text.

        Raises
        ------
        KeyError
            For an unknown word.
        ValueError
            For a time that is in no period.

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
        title = similarity_title(a, b)
        found = ask(self, question, prob, title=title, axes=_over(where), **where)
        return self._with_little(found, lacking(self, chosen, a, b))

    def self_similarity(
        self,
        word: Any,
        reference: Any = None,
        *,
        periods: ArrayLike | None = None,
        prob: float = 0.9,
    ) -> Answer:
        """Posterior of the cosine of a word with its own former (or later) self over time.

        Parameters
        ----------
        word : str, int, list of either, or Axis
        reference : time or label of a period, optional
            The period that others are held against; the first by default.
        periods : list of times or labels of periods, optional
            All by default.
        prob : float, default=0.9

        Returns
        -------
        Answer
            As of `similarity`, with the label of the ``reference``; ``pairs`` are the word's own of
            the period or of the reference, the fewer, since a cosine with a period without data
            says nothing. It is 1 in the reference itself. What is printed as a dash for want of
            text is in data frames, beside ``few_pairs``.

        Notes
        -----
        Vectors that are not known are less alike than those that are, whether the word has changed
        or not: see `drift` for how to tell change from want of data.

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
        title = f"similarity of {phrase.label!r} to itself in {where['reference']}"
        question = cosines_at(self, now, then, SelfCosines)
        # a cosine with a period without data says nothing, whatever the other has
        mine, of_reference = (text_of(self, periods, phrase) for periods in (chosen, [at]))
        where["pairs"] = np.minimum(mine.pairs, of_reference.pairs)
        where["few_pairs"] = mine.few | of_reference.few
        lacks = lacking(self, chosen, phrase)
        if of_reference.few.any():
            ended = f"in {where['reference']}, the reference)"
            lacks = [f"(too little text: of {phrase.label!r} {ended}"]
        found = ask(self, question, prob, title=title, axes=_over(where), **where)
        return self._with_little(found, lacks)

    def similarity_change(
        self, a: str | int, b: str | int, start: Any = None, end: Any = None, *, prob: float = 0.9
    ) -> Answer:
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
        Answer
            ``mean``, ``sd``, ``interval`` (low, high) and ``draws`` (n_draws,) of the cosine at
            ``end`` less that at ``start``; ``pairs``, the positive pairs that the words were
            targets of in the two periods, those of the one with fewer; and ``prob_increase``, the
            probability that the words drew closer (NaN where the verdict is ``"no data"``).
            ``uses`` and ``units_seen``, how often they are used in the two periods and in how many
            units of these, also of the one with fewer (of a list, the units of its word that has
            most; None where that is not known).
            ``settings``, what all this rests on besides the text: the ``diffusion``, whether it was
            learned (``diffusion_learned``), and ``n_components``; and the most pairs that a use of
            a word makes (``pairs_of_use``, None where that is not known).
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``.

            ``verdict``, where there is an interval, sums up: ``"no data"`` where there is too
            little text in one of the periods, so that this is what the prior makes of others; else
            ``"closer"`` where the whole interval is above zero, ``"apart"`` where it is below, and
            ``"not decided"``. Too little are fewer than 10 uses of a word (where uses are not
            known, 10 times the pairs that one makes, or 50 pairs), or fewer than 3 units of the
            period that have it (than all of its units, where the period has one or two):
            ``few_pairs`` says in which of the two periods. ``sentence`` says it in words, to be
            copied; where there is too little text, it says so instead, without a number. The
            interval decides, not ``prob_increase``: by units the two agree, but for Monte Carlo
            error (the verdict goes with a probability above 0.95 or below 0.05 where
            ``prob=0.9``); those of the model are of the highest density and need not leave as much
            on either side.

            That nothing has changed is another claim than "not decided": `contrast` of two answers
            of `similarity` with ``low=`` and ``high=`` has the probability of a small change.

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
        before, after = _two_periods(self, start, end)
        a, b = phrase_of(self, a, "a"), phrase_of(self, b, "b")
        later, former = (cosines_at(self, [(a, t)], [(b, t)]) for t in (after, before))
        start, end = (self.periods_.labels[t] for t in (before, after))
        similarity = similarity_title(a, b)
        title = f"change of the {similarity} from {start} to {end}"
        found = difference(self, later, former, prob, title=title)
        _note_settings(self, found)
        _note_seen(self, found, [before, after], a, b)
        without_data(found, any(found.few_pairs))
        found.prob_increase = found.pop("prob_positive")
        if found.source != "point":
            found.verdict = verdict_on_change(found)
            if found.verdict == "no data":
                # the prior alone would say it
                found.prob_increase = np.nan
            found._noting(*notes_on_verdict(found, found.prob_increase, 0.0))
        found.sentence = sentence_on_change(found, similarity, (start, end))
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
        Answer
            ``mean``, ``sd``, ``interval`` (low, high) and ``draws`` (n_draws,) of the distance;
            where there is a ``threshold``, that, and ``prob_exceeds``, the probability of more
            (NaN where the verdict is ``"no data"``);
            ``pairs``, the positive pairs that the word was the target of in the two periods,
            ``uses`` and ``units_seen``, as of `similarity_change`;
            ``known``, the share of the prior's variance of its move that was taken away by what was
            seen, from 0, nothing, to 1, all (NaN for point estimates without units, and where there
            is too little text in one of the periods).
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``, and
            ``units``, the effective units, of all periods, that the vector rests on in the two:
            NaN in a period with too little text of the word, where they would be those of other
            periods alone, from which it drifts there; and so is ``n_units``, the fewer.

            ``settings`` and ``few_pairs`` are as of `similarity_change`.

            ``verdict``, where there is a threshold and an interval, sums up: ``"no data"`` where
            there is too little text in one of the periods; else ``"drifted"``
            where the whole interval is above the threshold, ``"no drift"`` where it is below; else
            ``"not decided"``, or ``"not known"`` where ``known`` is below 0.1 for want of data (95
            % of the prior's standard deviation are left), and not because units differ. The
            interval decides, not ``prob_exceeds``: see `similarity_change`.

            ``typical``, a yardstick: the median over words with text enough in both periods of the
            distance of their mean vectors, which is smaller than a mean distance by what is not
            known of them. ``sentence`` says all this in words, to be copied; where there is too
            little text, it says so instead, without a number. Where the verdict hangs on the
            threshold, it names `self_similarity` and `similarity_change`, which need none.

        Notes
        -----
        A distance cannot be negative: where little is known it is far from 0 because little is
        known, not because the word has changed. A word that was never seen has the distance that
        the prior gives it; ``observed_`` tells how much was seen.

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
        at = _two_periods(self, start, end)
        index = word_index(self, word, "word")
        start, end = (self.periods_.labels[t] for t in at)
        title = f"{distance} distance of {str(self.words_[index])!r}, {start} to {end}"
        found, known = moves(self, at, np.array([index]), distance, prob, (), title=title)
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
                if found.verdict == "no data":
                    # the prior alone would say it
                    found.prob_exceeds = np.nan
                found._noting(*notes_on_verdict(found, found.prob_exceeds, threshold))
        word = str(self.words_[index])
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
            distances the median over these words of the posterior mean.
        min_pairs : float, optional
            Words that were the target of fewer positive pairs (``observed_``) in either period are
            left out. By default those with too little text in either, as `similarity_change` has
            it: what is said of them is what the prior makes of other periods. 0 leaves none out.
        prob : float, default=0.9

        Returns
        -------
        Changes
            Ranked by the probability that the distance is above ``threshold``; words that share it,
            or have more than 0.99, by distance. With the pairs seen in both periods, what is
            ``known`` of the move, and the expected share of false discoveries down to each row.
            Prints as a table.

        Raises
        ------
        ValueError
            If no word has as many as ``min_pairs``, or text enough.

        Notes
        -----
        The prior moves all vectors, by as much for every word. A word of which nothing is known
        has about even chances of a larger distance than the default threshold, one that is known
        to have stayed has none. Cosines rank words with short vectors, as those that go with
        anything, too high: the same step turns them further.

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
        at = _two_periods(self, start, end)
        return most_changed(self, n, at, distance, threshold, min_pairs, prob)

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
            ``n`` nearest, and the ``pairs`` that it was the target of in the period, as of
            ``observed_``, and ``word_pairs``, those of the word itself; prints as a table. Where
            there is too little text of it in the period, or of the word, as `similarity_change`
            has it (``few_pairs``), ``n_units`` is NaN, a dash in print, and a line below the table
            says so: such a vector is what the prior makes of other periods, and its neighbours are
            theirs.

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
        found = most_similar(self, word, n, prob, shift, self.periods_.labels[at])
        index = [self.vocabulary_[w] for w in found.words.tolist()]
        own = text_of(self, [at], phrase_of(self, word, "word"))
        return found._seen_in_period(
            notes_on_uses(self._pairs_of_use),
            pairs=self.observed_[at, index],
            few=words_too_few(self, [at], index)[0],
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
            A time in a period names it. All periods by default.
        prob : float, default=0.9

        Returns
        -------
        Answer
            ``periods``, ``times``, ``mean`` and ``sd`` (n_chosen, n_pairs), ``interval`` (n_chosen,
            n_pairs, 2), ``draws`` (n_draws, n_chosen, n_pairs).
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``.

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
    names = "pairs", "uses", "units_seen", "few_pairs"
    for name, ends in zip(names, text_of(estimator, at, *phrases), strict=True):
        found[name] = None if ends is None else tuple(ends.tolist())


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

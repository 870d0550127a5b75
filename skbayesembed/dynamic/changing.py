"""Reading the posterior: what has changed for a word, or for two, from one period to another."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_choice, check_prob, check_real
from ..corpus.periods import find_two
from ..posterior.deciding import NO_DATA, NOT_MIXED
from ..posterior.sentences import behind
from ..sgns.questions.asking import Answer, difference, share_above
from ..sgns.questions.phrases import phrase_of, word_index
from ..sgns.reading import check_different, labels_of, titles_of
from .asking import DynamicAskingMixin
from .change import moves, prior_distance, typical_distance
from .seen import lacking_at_ends, of_one_unit, text_of
from .vectors import cosines_at, places_of
from .verdicts import (
    NEED_NONE,
    called,
    note_on_settings,
    notes_on_verdict,
    sentence_on_change,
    sentence_on_drift,
    settings_of,
    verdict_on_change,
    verdict_on_drift,
    without_data,
)

# Behind the error of a change of a word's similarity to itself.
_OF_ONE = " For the change of one word, use self_similarity or drift."


class DynamicChangeMixin(DynamicAskingMixin):
    """Questions about two periods: the change of a similarity, and the distance of a word."""

    # of the estimator
    posterior_: Any
    periods_: Any
    words_: Any

    def similarity_change(
        self, a: Any, b: Any, start: Any = None, end: Any = None, *, prob: float = 0.9
    ) -> Answer:
        """Posterior of the change of two words' cosine from one period to another.

        Parameters
        ----------
        a, b : str, int, list of either, or Axis
            As in `BayesianSGNS.similarity`.
        start, end : times or labels of periods, optional
            Any time in a period names it. The first and the last period by default; ``start`` is
            the earlier one.
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
            not ``prob_increase``. By units the two agree (with ``prob=0.9``, a verdict
            needs a probability of 0.95 or more, or 0.05 or less). The model's
            intervals are of highest density and need not have equal tails. Tables and sentences say
            "probably closer" if the probability of it is below 0.975 (:ref:`how_sure`, step 6).

            "Not decided" does not mean that nothing has changed: for the probability of a small
            change, `contrast` two answers of `similarity` with ``low=`` and ``high=``.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        ValueError
            If ``a`` and ``b`` are the same words: for one word, see `self_similarity` and `drift`.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat", "a dog ran", "the cat ran", "the dog ran"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900, 1900, 1901, 1901] * 10)
        >>> change = model.similarity_change("cat", "dog", 1900, 1901)
        >>> 0 <= change.prob_increase <= 1, change.verdict
        (True, 'not decided')
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        before, after = find_two(self.periods_, start, end)
        a, b = phrase_of(self, a, "a"), phrase_of(self, b, "b")
        check_different("a and b", a, b, _OF_ONE)
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
        return _noting_text(self, found, [before, after], a, b)

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
            Any time in a period names it. The first and the last period by default; ``start`` is
            the earlier one.
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
        check_distance(distance, threshold)
        at = find_two(self.periods_, start, end)
        index = word_index(self, word, "word")
        start, end = (self.periods_.labels[t] for t in at)
        word = str(self.words_[index])
        title = f"{called(distance)} distance of {word!r}, {start} to {end}"
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
            found.prob_exceeds = share_above(found, threshold, prob)
            if found.source != "point":
                found.verdict = verdict_on_drift(found)
                if found.verdict == NO_DATA:
                    # the prior alone would say it
                    found.prob_exceeds = np.nan
                elif found.verdict != NOT_MIXED:
                    found._noting(NEED_NONE)
                found._noting(*notes_on_verdict(found, found.prob_exceeds, threshold))
        found.sentence = sentence_on_drift(found, distance, word, (start, end), default)
        return _noting_text(self, found, at, phrase_of(self, index, "word"))


def _noting_text(estimator, found, at, *phrases):
    """An answer about two periods with what their text is not enough for."""
    lone = of_one_unit(estimator, at)
    found.sentence += behind(lone)
    return found._noting(*lacking_at_ends(estimator, at, *phrases))._carrying(*lone)


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


def check_distance(distance, threshold):
    """What questions of how far words have moved ask of their arguments."""
    check_choice("distance", distance, ("euclidean", "cosine"))
    if threshold is not None:
        check_real("threshold", threshold, 0, strict=False)

"""Words that have changed between two periods: distances of their vectors, and a table of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..metrics.words import unit_vectors
from ..posterior.cells import both_amounts, dashed, false_shares
from ..posterior.sources import FEW_UNITS, FEWEST_USES, source_of
from ..posterior.summary import summarise
from ..posterior.tables import Column, Table
from ..sgns.documents import answers
from ..sgns.questions.asking import ask, share_above, units_asked_of
from ..sgns.questions.kinds import CosineDistances, Distances
from ..sgns.questions.operands import of_places, together
from ..sgns.word_tables import units_columns, units_notes
from .predict import diffusion_draws, squares_as_read, sweep_chunk, sweep_draws
from .seen import of_one_unit, words_too_few
from .vectors import places_of
from .verdicts import (
    LEAST_KNOWN,
    called,
    note_on_expected,
    note_on_settings,
    notes_on_uses,
    picked_note,
    sentence_on_changes,
    settings_of,
)

# A probability from which on a change is sure, whatever is known of the move.
_SURE = 0.9
# Probabilities above it are printed as ">0.99".
_SHOWN_BELOW = 0.99
# Words whose deviations, or draws, are worked on at a time.
_WORDS, _DRAWN_WORDS = 512, 50


def cosines(a, b):
    """Cosines of vectors along the last axis; zero where one has no length."""
    return np.einsum("...k,...k->...", unit_vectors(a), unit_vectors(b))


def distances_of(kind, a, b):
    """Distances of vectors along the last axis."""
    if kind == "cosine":
        return 1.0 - cosines(a, b)
    return np.linalg.norm(a - b, axis=-1)


def prior_distance(estimator, at):
    """Root mean square of the distance of a word's vectors in two periods under the prior."""
    variance = estimator._prior.variance
    gap = abs(np.diff(estimator.periods_.centres[list(at)])[0])
    moved = -np.expm1(-estimator._prior.rate(diffusion_draws(estimator)) * gap)
    return float(np.sqrt(2.0 * squares_as_read(estimator).sum() * variance * np.mean(moved)))


def distance_question(estimator, kind, start, end):
    """The `Question` of the distances of targets at places ``start`` and ``end`` (n,)."""
    ends = (of_places(x, estimator._n_places, unit=False) for x in (start, end))
    question = CosineDistances if kind == "cosine" else Distances
    return question(together(*ends), np.arange(2 * len(start)).reshape(2, -1).T)


def known_share(estimator, at, index, draws):
    """Share of the prior's variance of a move that was taken away by what was seen, (n,).

    Of the vector from a word's target in one period to that in another: 0 where nothing is known of
    how the word moved, 1 where all is.

    Parameters
    ----------
    estimator : DynamicSGNS
    at : pair of int
        Periods.
    index : ndarray of int of shape (n,)
        Words.
    draws : ndarray of shape (n_draws, 2, n, n_components) or None
        Of their targets in these periods; not needed where intervals are by units.
    """
    deviations = estimator._deviations()
    if deviations is not None:
        places = [places_of(estimator, t, index) for t in at]
        parts = [slice(a, a + _WORDS) for a in range(0, index.size, _WORDS)]
        found = [_variance_by_units(deviations, *(x[part] for x in places)) for part in parts]
        variance = np.concatenate(found)
    elif len(draws) < 2:
        return np.full(index.size, np.nan)
    else:
        variance = (draws[:, 1] - draws[:, 0]).var(axis=0, ddof=1).sum(axis=-1)
    return 1.0 - np.minimum(variance / prior_distance(estimator, at) ** 2, 1.0)


def typical_distance(estimator, kind, at):
    """Median distance of the words that were seen in both periods, between their mean vectors."""
    seen = np.flatnonzero(~words_too_few(estimator, list(at)).any(axis=0))
    if seen.size == 0:
        return np.nan
    start, end = (estimator.rho_[t][seen] for t in at)
    return float(np.median(distances_of(kind, start, end)))


def moves(estimator, at, index, distance, prob, shape=None, **more):
    """The `Answer` of how far words (n,) moved between periods ``at``, and what is known (n,).

    ``shape`` and ``more`` are those of `ask`.
    """
    places = [places_of(estimator, t, index) for t in at]
    question = distance_question(estimator, distance, *places)
    found = ask(estimator, question, prob, shape, **more)
    pairs = None
    if estimator._deviations() is None:
        draws = question.draws(estimator._vectors(question.operands, False))
        pairs = draws.reshape(len(draws), 2, index.size, -1)
    return found, known_share(estimator, at, index, pairs)


def _variance_by_units(deviations, start, end):
    """Variance of the moves of targets from places to places, summed over components."""
    moved = deviations.of(0, end) - deviations.of(0, start)
    variance = np.einsum("mik,mik->i", moved, moved)
    unit = np.eye(moved.shape[-1])
    for i, (a, b) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        if deviations.has_own(a):
            parts = (deviations.own_changes(0, place, unit) for place in (b, a))
            for (*_, now), (*_, then) in zip(*parts, strict=True):
                variance[i] += np.sum((now - then) ** 2)
    return variance


@dataclass(frozen=True, repr=False, eq=False)
class Changes(Table):
    """Words ordered by how certainly they have changed between two periods.

    Attributes
    ----------
    words : ndarray of str of shape (n,)
        Ordered by the probability of a distance above the threshold, largest first; words with
        equal probabilities, or more than 0.99, by distance.
    mean, sd : ndarray of shape (n,)
        Mean and standard deviation of the distance between a word's targets in the two periods.
    interval : ndarray of shape (n, 2)
        Interval of the distance.
    prob_exceeds : ndarray of shape (n,)
        Probability that the distance is above ``threshold``.
    false_share : ndarray of shape (n,)
        Among the words down to this row, the expected share whose distance is not above
        ``threshold``: false discoveries if the table is cut below it.
    known : ndarray of shape (n,)
        Share of the prior's variance of the word's move that the text has removed: near 0 if the
        move is as uncertain as before any data. It is about the width of the posterior and not its
        location. A move that is beyond the threshold by more than this width is certain all the
        same, and a line below the table says so.
    count_start, count_end : ndarray of shape (n,)
        Positive pairs of which the word was the target in the two periods.
    periods : tuple
        Labels of the two periods.
    distance : {"euclidean", "cosine"}
    threshold : float
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective number of units of sampling, of all periods, on which the vector rests in the
        period with fewer; None if intervals are the model's.
    settings : dict
        What this rests on besides the text: ``diffusion``, whether it was learned
        (``diffusion_learned``), ``n_components``, and the largest number of pairs that a use of a
        word makes (``pairs_of_use``; None if not known).
    of_units, units_name
        As in `Neighbours`.
    sentence : str
        The first words, and how many are expected to have changed, to be copied.

    Examples
    --------
    >>> from skbayesembed import DynamicSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
    >>> table = model.most_changed(3)
    >>> len(table.words), table.interval.shape, table.periods
    (3, (3, 2), (1900, 1901))
    """

    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_exceeds: np.ndarray
    false_share: np.ndarray
    known: np.ndarray
    count_start: np.ndarray
    count_end: np.ndarray
    periods: tuple
    distance: str
    threshold: float
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    of_units: int | None = None
    units_name: str | None = None

    @property
    def sentence(self) -> str:
        """The first words, and how many are expected to have changed, to be copied."""
        return sentence_on_changes(self)

    def _notes(self):
        return [
            *note_on_expected(self),
            *picked_note(self),
            *super()._notes(),
            *units_notes(self),
            *self._notes_on_known(),
        ]

    def _notes_on_known(self):
        """A note on words that have surely changed although next to nothing is ``known``."""
        which = self.words[(self.known < LEAST_KNOWN) & (self.prob_exceeds > _SURE)]
        if which.size == 0:
            return []
        words = ", ".join(which.tolist())
        return [
            f"(known below {LEAST_KNOWN:g} for {words}: how far they moved is as uncertain as "
            "under the prior, but that it is beyond the threshold is not)"
        ]

    # what is printed; a data frame has counts and standard deviations besides
    def _columns(self):
        pairs = both_amounts(self.count_start, self.count_end)
        above = f"P(> {self.threshold:.3g})"
        columns = [
            Column("word", self.words, (), left=True),
            Column("distance", self.mean, ()),
            Column(f"{100 * self.prob:g} % interval", self.interval, (), "6.3f"),
            Column(f"{above:>9}", self.prob_exceeds, (), self._chances),
            Column("false", self.false_share, (), self._chances),
            Column("known", self.known, (), dashed(".2f")),
            Column("pairs", pairs, (), left=True),
        ]
        return columns + units_columns(self, ())

    def _series(self):
        units = {} if self.n_units is None else {"n_units": self.n_units}
        return {
            "word": self.words,
            "mean": self.mean,
            "sd": self.sd,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "prob_exceeds": self.prob_exceeds,
            "false_share": self.false_share,
            "known": self.known,
            "count_start": self.count_start,
            "count_end": self.count_end,
            **units,
        }

    def _measure(self):
        return f"{called(self.distance)} distance"

    def _title(self):
        start, end = self.periods
        return f"most changed from {start} to {end}, by {self._measure()}"


def most_changed(estimator, n, at, distance, threshold, min_pairs, prob):
    """`Changes` of the words that have most surely changed between the periods ``at``.

    Of those that were the target of ``min_pairs`` pairs in both.

    Block by block of words: memory does not grow with the vocabulary. For cosines without a
    threshold, which takes all words to find, distances are worked out twice. The words that are
    shown are then asked about again, by the draws that `drift` answers with, so that both say the
    same.
    """
    seen = _seen_enough(estimator, at, min_pairs)
    step, n_words = sweep_chunk(estimator, 2), estimator.words_.size
    # a block has the same draws whichever of its words are asked for
    blocks = [np.arange(a, min(a + step, n_words)) for a in range(0, n_words, step)]
    blocks = [(index, np.isin(index, seen)) for index in blocks]
    blocks = [(index, mine) for index, mine in blocks if mine.any()]

    deviations = estimator._deviations()

    def targets(index, mine):
        return sweep_draws(estimator, "rho", at, index)[:, :, mine].astype(np.float64, copy=False)

    def summary(index, draws):
        found = distances_of(distance, draws[:, 0], draws[:, 1])
        if deviations is None:
            return summarise(found, prob)
        places = np.stack([places_of(estimator, t, index) for t in at], axis=1)

        def question(places):
            return distance_question(estimator, distance, *places.T)

        return answers.about_many(deviations, question, places, found.mean(axis=0), prob)

    if threshold is None and distance == "euclidean":
        threshold = prior_distance(estimator, at)
    elif threshold is None:
        # those of the rows; by units second order has a part in them
        means = [
            summary(index[mine], targets(index, mine)).mean
            if deviations is not None
            else distances_of(distance, *targets(index, mine).swapaxes(0, 1)).mean(axis=0)
            for index, mine in blocks
        ]
        threshold = float(np.median(np.concatenate(means)))
    parts = []
    for index, mine in blocks:
        vectors = targets(index, mine)
        found = summary(index[mine], vectors)
        parts.append((share_above(found, threshold, prob), found.mean))
    words = seen[_surest(*map(np.concatenate, zip(*parts, strict=True)))[:n]]
    parts = [words[a : a + _DRAWN_WORDS] for a in range(0, words.size, _DRAWN_WORDS)]
    answers_of = [moves(estimator, at, part, distance, prob) for part in parts]
    rows = [_row_of(*answer, threshold, prob) for answer in answers_of]
    n_draws = len(answers_of[0][0].draws)
    columns = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    order = _surest(columns["above"], columns["mean"])
    mean, sd, interval, above, known, *n_units = (column[order] for column in columns.values())
    words, labels, settings = words[order], estimator.periods_.labels, settings_of(estimator)
    found = Changes(
        estimator.words_[words], mean, sd, interval, above, false_shares(above), known,
        *(estimator.observed_[t, words] for t in at),
        tuple(labels[t] for t in at), distance, threshold, prob, n_draws, *n_units,
        settings=settings, **({} if deviations is None else units_asked_of(estimator)),
    )  # fmt: skip
    source = source_of(estimator, deviations is not None)
    uses = notes_on_uses(settings["pairs_of_use"], "of the first period, of the last; ")
    asides = [*uses, note_on_settings(settings), *of_one_unit(estimator, at)]
    return found._resting_on(source, asides)._of_periods()


def _surest(above, mean):
    """Order by the probability of more than the threshold, then by distance.

    Probabilities that print alike are taken as the same.
    """
    shown = np.where(above > _SHOWN_BELOW, 1.0, above)
    return np.lexsort((-mean, -shown))


def _row_of(found, known, threshold, prob):
    """Columns of `Changes`, of an answer about some words."""
    units = {"n_units": found.n_units} if "n_units" in found else {}
    above = share_above(found, threshold, prob)
    return {"mean": found.mean, "sd": found.sd, "interval": found.interval, "above": above,
            "known": known, **units}  # fmt: skip


def _seen_enough(estimator, at, min_pairs):
    """Words with text enough in both periods, or with ``min_pairs`` pairs, ndarray of int."""
    fewest = estimator.observed_[list(at)].min(axis=0)
    if min_pairs is None:
        few = words_too_few(estimator, list(at)).any(axis=0)
    else:
        few = fewest < min_pairs
    seen = np.flatnonzero(~few)
    if seen.size == 0 and min_pairs is None:
        raise ValueError(
            f"min_pairs=None leaves no word: none has {FEWEST_USES} uses, in {FEW_UNITS} units, in "
            f"both periods, and the most pairs that one has are {fewest.max():g}. Give a number, "
            "or choose other periods."
        )
    if seen.size == 0:
        raise ValueError(
            f"min_pairs={min_pairs!r} leaves no word: the largest number of pairs that a word has "
            f"in both periods is {fewest.max():g}. Lower min_pairs, or choose other periods."
        )
    return seen

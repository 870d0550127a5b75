"""Tables of answers about several words, or lists of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.checks import (
    check_list,
    check_prob,
)
from ..posterior.cells import cut_list, cut_lists, quoted_each
from ..posterior.result_table import IN_FRAME
from ..posterior.results import About
from ..posterior.sentences import capital, chance, ended, estimate
from ..posterior.tables import Column, Table
from .questions.asking import Answer, ask, share_above
from .questions.kinds import Cosines, Differences
from .questions.phrases import Axis, operands_of, phrase_of
from .questions.verdicts import only_probably_nearest, sentence_on_nearer, verdict_on_nearer
from .word_tables import (
    few_notes,
    framed,
    in_words_of_period,
    of_period,
    units_columns,
    units_notes,
    unknown_where,
    without_data,
)


@dataclass(frozen=True, repr=False, eq=False)
class Nearer(Table):
    """Words, or lists of words, by their nearness to a word.

    Attributes
    ----------
    word : str
    words : ndarray of str of shape (n,)
        What the word was compared with, by posterior mean cosine, largest first.
    mean, sd : ndarray of shape (n,)
        Mean and standard deviation of the cosine.
    interval : ndarray of shape (n, 2)
        Interval of the cosine.
    prob_nearest : ndarray of shape (n,)
        Probability of being the nearest of them.
    difference : ndarray of shape (n,)
        Posterior mean of the cosine of the first row less that of this one.
    difference_interval : ndarray of shape (n, 2)
        Interval of this difference, from joint draws.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective number of units of sampling behind a cosine; None if intervals are the model's.
    interval_mcse : ndarray of shape (n, 2) or None
        As in `Neighbours`.
    few_pairs : ndarray of bool of shape (n,)
        Whether the word, or the one of the row, has fewer than 10 uses in the period, or is in
        too few of its units (fewer than 3, or than all if it has one or two).
    few : bool
        Whether this is so for any row, so that ``prob_nearest`` is NaN.
    period : object
        Label of the period, or None.
    answer : Answer
        All cosines in the order of the rows, as ``similarity`` returns them, for ``contrast``.
    verdict : str or None
        ``"nearest"`` (the first row is) if the intervals of all differences are above zero and its
        ``prob_nearest`` is ``(1 + prob) / 2`` or more, else ``"not decided"``; ``"no data"`` if one
        of the words has too little text in the period (``few``), ``"not mixed"`` if the chains have
        not mixed (of intervals by draws). None for a point estimate or one row.
    sentence : str or None
        The first row in words, to be copied; None if there is one row.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> table = model.nearer("cat", ["dog", "mat"])
    >>> float(table.prob_nearest.sum().round(6)), bool(table.mean[0] >= table.mean[1])
    (1.0, True)
    """

    word: str
    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_nearest: np.ndarray
    difference: np.ndarray
    difference_interval: np.ndarray
    answer: Answer
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    few_pairs: np.ndarray | None = None
    period: Any = None

    @property
    def few(self) -> bool:
        """Whether one of the words has too little text in the period."""
        return self.few_pairs is not None and bool(self.few_pairs.any())

    @property
    def verdict(self) -> str | None:
        """Whether it is decided which is the nearest."""
        return verdict_on_nearer(self, self.few)

    @property
    def sentence(self) -> str | None:
        """The first row in words, to be copied."""
        return sentence_on_nearer(self, self.verdict)

    def _title(self):
        return f"nearest to {cut_list(self.word)!r}, of these{of_period(self)}"

    def _notes(self):
        probably = "probably " if only_probably_nearest(self, self.verdict) else ""
        verdict = [] if self.verdict is None else [f"verdict: {probably}{self.verdict}"]
        few = [f"(no data: a dash; {IN_FRAME})"] if self.few else []
        return verdict + few + super()._notes() + units_notes(self)

    def _columns(self):
        interval = f"{100 * self.prob:g} % interval"
        lower = [f"{m:6.3f}" for m in self.difference]
        if not self._is_point():
            ends = [f"[{low:6.3f}, {high:6.3f}]" for low, high in self.difference_interval]
            lower = [" ".join(texts) for texts in zip(lower, ends, strict=True)]
        lower[0] = ""
        few = self.few_pairs
        # one that is held against nothing
        alone = np.full(len(self.words), len(self.words) == 1)
        # the first may be another one
        unknown = np.full(len(self.words), self.few)
        unknown[0] = False
        columns = [
            Column("word", self.words, ("word",), cut_lists, left=True),
            Column("cosine", self.mean, ("mean",), "6.3f", few=few),
            Column(f"{interval:>16}", self.interval, ("low", "high"), "6.3f", few=few),
            Column("P(nearest)", self.prob_nearest, ("prob_nearest",), self._chances, few=alone),
            Column("lower than the first by", lower, (), few=unknown),
        ]
        return columns + units_columns(self, ("n_units",))

    def _series(self):
        series = super()._series()
        lead = {name: series.pop(name) for name in ("word", "mean")}
        lead["sd"] = self.sd
        series["difference"] = self.difference
        ends = {f"difference_{end}": self.difference_interval[:, i] for i, end in enumerate(
            ("low", "high"))}  # fmt: skip
        units = {"n_units": series.pop("n_units")} if "n_units" in series else {}
        return framed(self, {**lead, **series, **ends, **units}, nearest_to=self.word)


@dataclass(frozen=True, repr=False, eq=False)
class Projections(Table):
    """Words by their position on an axis.

    Attributes
    ----------
    axis : str
        Name of the axis.
    words : ndarray of str of shape (n,)
        Ordered by posterior mean projection, largest first.
    mean, sd : ndarray of shape (n,)
        Mean and standard deviation of the projection, the cosine with the axis.
    interval : ndarray of shape (n, 2)
        Interval of the projection.
    prob_positive : ndarray of shape (n,)
        Probability that it is above zero.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective number of units of sampling behind a projection; None if intervals are the
        model's.
    interval_mcse : ndarray of shape (n, 2) or None
        As in `Neighbours`.
    period : object
        Label of the period, or None.
    few : ndarray of bool of shape (n,) or None
        Whether the word, or the axis, has fewer than 10 uses in the period, or is in fewer than 3
        of its units; None without periods.
    answer : Answer
        All projections in the order of the rows, as ``similarity`` returns them, for ``contrast``.
    sentences : dict of str to str
        Each projection in words, to be copied, by its word.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> table = model.project(["mat", "rug"], model.axis("dog", "cat"))
    >>> table.words.shape, bool(table.mean[0] >= table.mean[1])
    ((2,), True)
    """

    axis: str
    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_positive: np.ndarray
    answer: Answer
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    period: Any = None
    few: np.ndarray | None = None

    @property
    def few_pairs(self) -> np.ndarray | None:
        """Where there is too little text in the period; figures show these as the prior's."""
        return self.few

    @property
    def sentences(self) -> dict[str, str]:
        """Each projection in words, to be copied, by its word."""
        return {str(word): self._sentence(i) for i, word in enumerate(self.words)}

    def _sentence(self, i):
        axis = f"the axis from {' to '.join(map(quoted_each, self.axis.split(' -> ')))}"
        projection = f"the projection of {str(self.words[i])!r} on {axis}"
        if self.few is not None and self.few[i]:
            return without_data(self, f"what {projection} is")
        found = {"mean": self.mean[i], "interval": self.interval[i]}
        point = self.source == "point"
        proba = "" if point else f", with {chance(self.prob_positive[i], 'positive')}"
        text = (
            f"{capital(projection)}{in_words_of_period(self)} is "
            f"{estimate(found, self.source, self.prob, '+')}{proba}"
        )
        units = np.inf if self.n_units is None else self.n_units[i]
        return ended(text, self.source, units, self.answer)

    def _title(self):
        return f"on the axis {cut_list(self.axis)}{of_period(self)}"

    def _notes(self):
        return super()._notes() + few_notes(self) + units_notes(self)

    def _columns(self):
        interval = f"{100 * self.prob:g} % interval"
        columns = [
            Column("word", self.words, ("word",), cut_lists, left=True),
            Column("projection", self.mean, ("mean",), "6.3f", few=self.few),
            Column(f"{interval:>16}", self.interval, ("low", "high"), "6.3f", few=self.few),
            Column("P(> 0)", self.prob_positive, ("prob_positive",), self._chances),
        ]
        return columns + units_columns(self, ("n_units",))

    def _series(self):
        series = super()._series()
        lead = {"word": series.pop("word"), "mean": series.pop("mean"), "sd": self.sd}
        return framed(self, lead | series, axis=self.axis)


def several(words, name):
    """The words, or lists of words, that a table is to be about.

    Raises
    ------
    ValueError
        Unless they are in a list.
    """
    words = check_list(name, words, "words, or of lists of words")
    if not words:
        raise ValueError(f"{name} must name at least one word, got an empty list.")
    return words


def _cosines_with(estimator, phrase, others, prob, shift, what, period):
    """Cosines of a phrase with others, largest posterior mean first.

    Returns
    -------
    order : ndarray of int
        Of the others.
    labels : ndarray of str
    found : Answer
    question : callable
        ``question(rows)``: of some of the rows.
    """
    operands = operands_of([phrase, *others], estimator._n_places, shift)

    def question(places):
        index = np.zeros((len(places), 2), int)
        index[:, 1] = places + 1
        return Cosines(operands, index)

    found = ask(estimator, question(np.arange(len(others))), prob)
    order = np.argsort(-found.mean, kind="stable")
    entries = {
        name: value[:, order] if name == "draws" else value[order] for name, value in found.items()
    }
    labels = np.array([others[i].label for i in order])
    of = {
        name: getattr(found._about, name)
        for name in ("lent", "of_units", "units_name", "units_called")
    }
    when = "" if period is None else f" in {period}"
    title, whole = (f"{what} {phrase.named(cut=cut)}{when}" for cut in (True, False))
    about = About(
        axes={"word": labels}, prob=prob, source=found.source, title=title, whole=whole, **of
    )
    found = Answer(entries, question(order), estimator.posterior_, about)
    return order, labels, found, lambda rows: question(order[rows])


def nearer(estimator, word, others, prob, shift=0, too_few=None, period=None):
    """`Nearer` of a word, or of whatever stands for one.

    ``too_few(phrases)``, where it is about a ``period``, says whether one of them has too little
    text there.
    """
    check_prob(prob)
    phrase = phrase_of(estimator, word, "word")
    others = [phrase_of(estimator, what, "others") for what in several(others, "others")]
    check_different(phrase, others)
    order, labels, found, question = _cosines_with(
        estimator, phrase, others, prob, shift, "cosine with", period
    )
    few = None
    if too_few is not None:
        few = np.array([too_few([phrase, others[i]]) for i in order], bool)
        found.few_pairs = few
    rows = np.arange(len(others))
    apart = ask(estimator, Differences(question(rows[:1]), question(rows)), prob)
    # joint draws of how much each is below the first; the first by nothing at all
    for entry in (apart.draws.T, apart.mean, apart.interval):
        entry[0] = 0.0
    nearest = np.bincount(np.argmin(apart.draws, axis=1), minlength=rows.size) / len(apart.draws)
    if rows.size == 2:
        # as their contrast has it
        first = share_above(apart, 0.0, prob)[1]
        nearest = np.array([first, 1.0 - first])
    nearest = unknown_where(nearest, None if few is None else few.any())
    return Nearer(
        phrase.label, labels, found.mean, found.sd, found.interval, nearest, apart.mean,
        apart.interval, found, prob, len(found.draws), found.get("n_units"),
        found.get("interval_mcse"), few,
    )._resting_on(found.source)  # fmt: skip


def check_different(word, others):
    """Raise a ValueError where one of several words, or lists of them, is there twice.

    Or is the word that they are held against.
    """
    seen = set()
    for phrase in others:
        same = phrase.direction
        if same == word.direction:
            raise ValueError(
                f"others must not have the word itself, got {phrase.label!r} in both: nothing is "
                "nearer to a word than itself."
            )
        if same in seen:
            raise ValueError(
                f"others must be different words, or lists of words, got {phrase.label!r} twice: "
                "neither is nearer than the other."
            )
        seen.add(same)


def project(estimator, axis, words, prob, shift=0, too_few=None, period=None):
    """`Projections` of words on an axis; ``too_few`` and ``period`` as of `nearer`."""
    check_prob(prob)
    if not isinstance(axis, Axis):
        raise ValueError(f"axis must be what the method axis returns, got {axis!r}.")
    direction = phrase_of(estimator, axis, "axis")
    others = [phrase_of(estimator, what, "words") for what in several(words, "words")]
    order, labels, found, _ = _cosines_with(
        estimator, direction, others, prob, shift, "projection on", period
    )
    few = None
    if too_few is not None:
        few = np.array([too_few([direction, others[i]]) for i in order], bool)
        found.few_pairs = few
    return Projections(
        axis.label, labels, found.mean, found.sd, found.interval,
        unknown_where(share_above(found, 0.0, prob), few), found, prob, len(found.draws),
        found.get("n_units"), found.get("interval_mcse"), few=few,
    )._resting_on(found.source)  # fmt: skip

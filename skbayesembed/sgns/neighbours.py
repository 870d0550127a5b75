"""The words that are nearest to a direction, with intervals and probabilities of rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..posterior.cells import amounts, cut_list
from ..posterior.result_table import IN_FRAME
from ..posterior.sentences import capital, chance, ended, estimate
from ..posterior.sources import TOO_LITTLE, is_unmixed, sampled_units, units_in_words
from ..posterior.tables import Column, Table
from .word_tables import (
    few_notes,
    framed,
    in_period,
    in_words_of_period,
    of_period,
    units_columns,
    units_notes,
    unknown_where,
    without_data,
)

# Of being among the nearest: below it, a word's place in the table says nothing.
_UNLIKELY = 0.1
# Where words are expected among the nearest, by what intervals rest on; by units, in truth.
_WHERE = {
    "vi": "under the approximation",
    "laplace": "under the approximation",
    "unmixed": "in the draws",
}
# Of intervals of words that were looked for, below tables and behind sentences.
_PICKED = (
    "(words were picked because they are near, which their intervals do not allow for, so they "
    "cover the true value less often than {:g} %)"
)
_PICKED_SHORT = (
    "words picked for being near, so that intervals hold the truth less often than {:g} %"
)
_PICKED_ONE = (
    "The word was picked because it is near: the interval then covers the true value less often "
    "than stated."
)
_PICKED_SEVERAL = (
    "The words were picked because they are near: the intervals then cover the true values less "
    "often than stated."
)
# Why probabilities of rank are NaN.
_NOT_RANKED = (
    "is not known: it takes all words, and answers by units are worked out one by one here "
    "(by_answer)"
)


def note_of_figure(table):
    """What a figure says of words that were picked by their draws, or None of a point.

    Where there are no words, why.
    """
    if not len(table.words):
        return "; ".join(note.strip("()") for note in left_out_notes(table)) or None
    order = _order_note(table) if hasattr(table, "prob_top") else None
    few = table.word_few if hasattr(table, "word_few") else table._few.all()
    picked = [_PICKED_SHORT.format(100 * table.prob)] if picked_notes(table, few) else []
    return "; ".join([*([] if order is None else [order]), *picked]) or None


def _order_note(table):
    """How surely words are among the nearest, or None of a point."""
    n, unlikely = len(table.words), int(np.sum(table.prob_top < _UNLIKELY))
    if table.n_draws == 1 or n == 0 or np.isnan(table.prob_top).any():
        return None
    found = f"in the top {n}"
    found = f"to be truly {found}" if _is_by_units(table) else f"{found} {_where(table)}"
    note = f"expected {found}: {_expected(table)}"
    if unlikely == 0:
        return note
    which = f"all {n}" if unlikely == n else f"{unlikely} of {n}"
    return f"{note}; P(top {n}) < {_UNLIKELY:g} for {which}"


def _expected(table):
    """How many of the words are expected among the nearest, the sum of their probabilities."""
    expected = table.prob_top.sum()
    return f"about {expected:.1f}" if expected >= 0.05 else "fewer than 0.1"


def _where(table):
    """Where words are expected among the nearest, not by units."""
    return _WHERE.get((table.source or "").split(", ")[0], "under the posterior")


def _is_by_units(table):
    return (table.source or "").startswith("units")


def _of_another_sample(table):
    """How the words expected among the nearest differ from those that others would find."""
    n, name = sampled_units(table)
    units = "as many units" if n is None or name is None else units_in_words(n, name)
    return f"another sample of {units} may have other words"


def picked_notes(table, few):
    """Line below a table of words that were picked by their draws, or none.

    None where the word that was asked for has too ``few`` uses.
    """
    known = table.n_draws > 1 and len(table.words) and not few
    return [_PICKED.format(100 * table.prob)] if known else []


def expected_notes(table):
    """The line on how many words are expected among the nearest; none of a point estimate."""
    n = len(table.words)
    if table.n_draws == 1 or n == 0 or table.word_few:
        return []
    if np.isnan(table.prob_top).any():
        return [f"(P(top {n}) {_NOT_RANKED})"]
    if _is_by_units(table):
        return [
            f"(of these {n}, {_expected(table)} are expected to be truly among the {n} nearest: "
            f"the sum of P(top {n}); {_of_another_sample(table)})"
        ]
    return [
        f"(of these {n}, {_expected(table)} are expected among the {n} nearest {_where(table)}: "
        f"the sum of P(top {n}))"
    ]


def order_notes(table):
    """Notes where words of a table are too unlikely to be among the nearest to be in an order."""
    n, unlikely = len(table.words), int(np.sum(table.prob_top < _UNLIKELY))
    if unlikely == 0 or table.n_draws == 1:
        return []
    if unlikely == n:
        found = (
            f"all {n}: so many words are about as near that it is not known which are the nearest; "
            "report no list of the nearest, but the cosines with their intervals, or compare words "
            "that you name beforehand (nearer)"
        )
    else:
        found = (
            f"{unlikely} of these {n}, which may not be among the nearest; report the cosines with "
            "their intervals, but do not rank the words"
        )
    more = "text of more units" if table.n_units is not None else "text"
    return [f"(P(top {n}) is below {_UNLIKELY:g} for {found}; more {more} narrows intervals)"]


def left_out_notes(table):
    """The line on how many words a table leaves out for want of text, or none."""
    n = table.n_left_out
    if n == 0:
        return []
    words = "1 word has" if n == 1 else f"{n:,} words have"
    lacks = "no pairs with others" if table.period is None else f"{TOO_LITTLE} in {table.period}"
    return [f"({words} {lacks} and {'is' if n == 1 else 'are'} not ranked)"]


@dataclass(frozen=True, repr=False, eq=False)
class Neighbours(Table):
    """Nearest words of a word, with intervals and probabilities.

    Attributes
    ----------
    word : str
        The word, or the name of the list or the axis.
    words : ndarray of str of shape (n,)
        Ordered by posterior mean cosine, largest first.
    mean, sd : ndarray of shape (n,)
        Mean and standard deviation of the cosine.
    interval : ndarray of shape (n, 2)
        Interval of the cosine.
    prob_top : ndarray of shape (n,)
        Probability of being among the ``n`` nearest; NaN if intervals by units are computed answer
        by answer, as they are for the largest models.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective number of units of sampling in which each neighbor was seen, or the word if it
        has fewer; None if intervals are the model's.
    interval_mcse : ndarray of shape (n, 2) or None
        Monte Carlo standard errors of the ends of the intervals, in a data frame ``low_mcse`` and
        ``high_mcse``; None for intervals by units and for a point estimate.
    period : object
        Label of the period, or None.
    pairs : ndarray of shape (n,) or None
        Positive pairs of which each neighbor was the target in the period; None without periods.
    word_pairs : float or None
        Those of the word; for a list or an axis, those of its words together.
    n_left_out : int
        Number of words that are not ranked, as they have fewer than 10 uses in the period, or are
        in too few of its units (fewer than 3, or than all if it has one or two).
    word_few : bool
        Whether this is so for the word itself: its row of cosines is then the prior's, and
        ``prob_top`` is NaN.
    of_units : int or None
        Number of units whose sampling intervals allow for; None if they are the model's.
    units_name : str or None
        Name of the column in which the units were given, which sentences call them by;
        ``"document"`` where each document is a unit.
    sentence : str or None
        How many of these words are expected to be truly among the ``n`` nearest (the sum of
        ``prob_top``), or to be so under the posterior, as `source` says; and which has the highest
        ``prob_top``, of those whose interval does not contain zero. The list of another sample may
        have other words, because it has noise of its own.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> table = model.most_similar("cat", 2)
    >>> table.words.shape, table.interval.shape, bool(table.mean[0] >= table.mean[1])
    ((2,), (2, 2), True)
    """

    word: str
    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_top: np.ndarray
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    period: Any = None
    pairs: np.ndarray | None = None
    word_pairs: float | None = None
    n_left_out: int = 0
    word_few: bool = False
    of_units: int | None = None
    units_name: str | None = None

    @property
    def few_pairs(self) -> np.ndarray | None:
        """Whether the word has too little text in the period, for each row, (n,), or None."""
        return None if self.pairs is None else np.full(len(self.words), self.word_few)

    def _seen_in_period(self, asides, **seen):
        """These with what was seen in the period."""
        found = replace(self, **seen)
        found = replace(found, prob_top=unknown_where(self.prob_top, found.few_pairs))
        return in_period(found._resting_on(self.source), self.period, asides)

    def _notes_on_pairs(self):
        """Lines on what has next to no data in the period."""
        if not (self.word_few and len(self.words)):
            return left_out_notes(self)
        itself = f"{cut_list(self.word)!r} itself, {self.word_pairs:.3g} pairs"
        return [f"({TOO_LITTLE} in {self.period} of {itself}: dashes; {IN_FRAME})"]

    @property
    def sentence(self) -> str | None:
        """The table in one sentence, to be copied; None if there are no words."""
        n = len(self.words)
        if n == 0:
            return None
        if self.word_few:
            return (
                f"There are too few data to say which words are nearest to {self.word!r} in "
                f"{self.period}: there are {TOO_LITTLE} of it."
            )
        point = self.n_draws == 1
        source = "point" if point else self.source
        of_word = f"{self.word!r}{in_words_of_period(self)}"
        if point or np.isnan(self.prob_top).any():
            by = "" if point else " by cosine"
            text, row = f"The word nearest to {of_word}{by} is {self._told(0, source)}", 0
        else:
            text, row = self._expected(of_word), self._highest()
            if row is None:
                each = (
                    "interval of its cosine contains"
                    if n == 1
                    else "intervals of all cosines contain"
                )
                text = ended(f"{text}. The {each} zero", source, found=self, several=n > 1)
                return f"{text} {_PICKED_ONE if n == 1 else _PICKED_SEVERAL}"
            # the word of the highest of all may have an interval around zero
            among = (
                ""
                if row == np.argmax(self.prob_top)
                else ("Of the words whose interval does not contain zero, the ")
            )
            text += f". {among or 'The '}highest P(top {n}) is that of "
            text += self._told(row, source, f" ({chance(self.prob_top[row])})")
        text = ended(text, source, np.inf if self.n_units is None else self.n_units[row], self)
        return text if point or is_unmixed(source) else f"{text} {_PICKED_ONE}"

    def _told(self, row, source, aside=""):
        """A word with its cosine."""
        one = {"mean": self.mean[row], "interval": self.interval[row]}
        return (
            f"{str(self.words[row])!r}{aside}, with a cosine of {estimate(one, source, self.prob)}"
        )

    def _highest(self):
        """The row of the highest ``prob_top``, of cosines that are known not to be zero, or None.

        A word of which next to nothing is known may be anywhere, also among the nearest.
        """
        low, high = self.interval.T
        known = (low > 0) | (high < 0) | is_unmixed(self.source)
        return int(np.argmax(np.where(known, self.prob_top, -1.0))) if known.any() else None

    def _expected(self, of_word):
        """How many of the words are expected among the nearest, in words."""
        n, number = len(self.words), _expected(self)
        if _is_by_units(self):
            # of a mode there is no posterior mean
            return (
                f"{capital(number)} of the {n} words nearest to {of_word} by cosine are expected "
                f"to be truly among its {n} nearest ({_of_another_sample(self)})"
            )
        return (
            f"{capital(_where(self))}, {number} of the {n} words nearest to {of_word} by posterior "
            f"mean are expected to be among its {n} nearest"
        )

    def _title(self):
        return f"nearest to {cut_list(self.word)!r}{of_period(self)}"

    def _notes(self):
        picked = picked_notes(self, self.word_few)
        notes = super()._notes() + expected_notes(self) + picked + self._notes_on_pairs()
        return notes + order_notes(self) + units_notes(self)

    def _columns(self):
        # of the same widths whatever the numbers
        interval, top = f"{100 * self.prob:g} % interval", f"P(top {len(self.words)})"
        columns = [
            Column("neighbor", self.words, ("word",), left=True),
            Column("cosine", self.mean, ("mean",), "6.3f", few=self.few_pairs),
            Column(f"{interval:>16}", self.interval, ("low", "high"), "6.3f", few=self.few_pairs),
            Column(f"{top:>9}", self.prob_top, ("prob_top",), self._chances),
        ]
        if self.pairs is not None:
            columns.append(Column(f"{'pairs':>7}", self.pairs, ("pairs",), amounts))
        return columns + units_columns(self, ("n_units",))

    def _series(self):
        series = super()._series()
        lead = {"word": series.pop("word"), "mean": series.pop("mean"), "sd": self.sd}
        return framed(self, lead | series, nearest_to=self.word)


@dataclass(frozen=True, repr=False, eq=False)
class Analogies(Table):
    """Words that complete an analogy, with intervals and probabilities.

    Attributes
    ----------
    question : tuple of str
        The words a, b and c of "a is to b as c is to ...".
    words : ndarray of str of shape (n,)
        Ordered by posterior mean cosine with ``b - a + c``, largest first.
    mean, sd : ndarray of shape (n,)
        Mean and standard deviation of the cosine.
    interval : ndarray of shape (n, 2)
        Interval of the cosine.
    prob_answer : ndarray of shape (n,)
        Probability of being the nearest of all words, which is the answer; NaN if intervals by
        units are computed answer by answer, as they are for the largest models.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        As in `Neighbours`.
    interval_mcse : ndarray of shape (n, 2) or None
        As in `Neighbours`.
    period : object
        Label of the period, or None.
    few : ndarray of bool of shape (n,) or None
        Whether a word of the question has fewer than 10 uses in the period, or is in too few of
        its units (as in `Neighbours`), so that ``prob_answer`` is NaN; None without periods.
    n_left_out, of_units, units_name
        As in `Neighbours`.
    sentence : str or None
        The most probable answer in words, to be copied; None if there are no words.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> model.analogy("cat", "mat", "dog", n=2).words.shape
    (2,)
    """

    question: tuple
    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_answer: np.ndarray
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    period: Any = None
    few: np.ndarray | None = None
    n_left_out: int = 0
    of_units: int | None = None
    units_name: str | None = None

    @property
    def few_pairs(self) -> np.ndarray | None:
        """Where there is too little text in the period; figures show these as the prior's."""
        return self.few

    @property
    def sentence(self) -> str | None:
        """The most probable answer in words, to be copied; None if there are no words."""
        if len(self.words) == 0:
            return None
        a, b, c = self.question
        if self._few.any():
            return without_data(self, f"which word is to {c!r} as {b!r} is to {a!r}")
        unknown = self.source == "point" or np.isnan(self.prob_answer).any()
        i = 0 if unknown else int(np.argmax(self.prob_answer))
        found = {"mean": self.mean[i], "interval": self.interval[i]}
        proba = "" if unknown else f"{chance(self.prob_answer[i], 'answer')} and "
        text = (
            f"The word that is to {c!r} as {b!r} is to {a!r}{in_words_of_period(self)} is "
            f"{'' if unknown else 'most probably '}{str(self.words[i])!r}, with {proba}a cosine of "
            f"{estimate(found, self.source, self.prob)}"
        )
        text = ended(text, self.source, np.inf if self.n_units is None else self.n_units[i], self)
        without = self.source == "point" or is_unmixed(self.source)
        return text if without else f"{text} {_PICKED_ONE}"

    def _title(self):
        a, b, c = map(cut_list, self.question)
        return f"{a!r} is to {b!r} as {c!r} is to{of_period(self)}"

    def _notes(self):
        unknown = self.n_draws > 1 and np.isnan(self.prob_answer[~self._few]).any()
        ranked = [f"(P(answer) {_NOT_RANKED})"] if unknown else []
        picked = picked_notes(self, self._few.all())
        notes = super()._notes() + ranked + picked + few_notes(self) + left_out_notes(self)
        return notes + units_notes(self)

    @property
    def _few(self):
        return np.zeros(len(self.words), bool) if self.few is None else self.few

    def _columns(self):
        interval = f"{100 * self.prob:g} % interval"
        columns = [
            Column("answer", self.words, ("word",), left=True),
            Column("cosine", self.mean, ("mean",), "6.3f", few=self.few),
            Column(f"{interval:>16}", self.interval, ("low", "high"), "6.3f", few=self.few),
            Column("P(answer)", self.prob_answer, ("prob_answer",), self._chances),
        ]
        return columns + units_columns(self, ("n_units",))

    def _series(self):
        series = super()._series()
        lead = {"word": series.pop("word"), "mean": series.pop("mean"), "sd": self.sd}
        return framed(self, lead | series, **dict(zip("abc", self.question, strict=True)))

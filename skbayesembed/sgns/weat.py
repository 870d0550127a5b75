"""The word embedding association test of Caliskan, Bryson & Narayanan (2017).

A target word w has the association ``s(w) = mean_a cos(w, a) - mean_b cos(w, b)`` with two lists of
attributes. The effect size is the difference of its means over two lists of target words, over its
standard deviation over all of them (with their number, not one less, in its denominator). Two
things are uncertain, and each has an answer of its own: the vectors of these words (an interval of
the effect size), and whether it is these words that differ or whether any two lists of such words
would (the permutation test).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ..common.checks import check_prob
from ..posterior.cells import false_shares, p_values
from ..posterior.result_table import TWO_QUESTIONS
from ..posterior.sentences import chance, ended, estimate, joined, p_value
from ..posterior.sources import TOO_LITTLE
from ..posterior.tables import Column, Table
from .questions.asking import Answer, ask, share_above
from .questions.kinds import Associations, Effects
from .questions.operands import of_places, together
from .questions.phrases import (
    Phrase,
    are_same,
    is_list,
    label_of,
    list_index,
    operands_of,
    phrase_of,
)
from .word_tables import few_notes, framed, of_period, units_columns, units_notes

# Up to so many splits of the target words all are gone through; beyond, as many are drawn, and the
# standard error of a p-value of .05 is .0007.
_MOST_SPLITS = 100_000
# Words of a list that a sentence names.
_TOLD = 4
# Splits that are worked on at a time.
_TOGETHER = 10_000
# Sums that differ by rounding alone count as equal, relative to the size of associations.
_EQUAL = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class AssociationTests(Table):
    """Word embedding association tests, ordered by how certainly their effects are positive.

    Attributes
    ----------
    names : ndarray of str of shape (n_tests,)
        Ordered by the probability of a positive effect, largest first; if equal, by the lower end
        of the interval.
    mean, sd : ndarray of shape (n_tests,)
        Mean and standard deviation of the effect size.
    interval : ndarray of shape (n_tests, 2)
        Interval of the effect size.
    prob_positive : ndarray of shape (n_tests,)
        Posterior probability that the effect is above zero, for these words.
    false_share : ndarray of shape (n_tests,)
        Among the tests down to this row, the expected share whose effect is not positive: false
        discoveries if the table is cut below it.
    p_value : ndarray of shape (n_tests,)
        From the permutation test over words, one-sided; not corrected for the number of tests.
    n_words : ndarray of int of shape (n_tests,)
        Number of known target words.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n_tests,) or None
        Effective number of units of sampling behind an effect; None if intervals are the model's.
    interval_mcse : ndarray of shape (n_tests, 2) or None
        As in `Neighbours`.
    period : object
        Label of the period, or None.
    few : ndarray of bool of shape (n_tests,) or None
        Whether the words of a list together have fewer than 10 uses in the period, or none of them
        is in 3 of its units; None without periods.
    answers : dict of str to Answer
        What `weat` returns for each test, by its name.
    sentences : dict of str to str
        Each test in words, to be copied, by its name.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> tests = {"pets": (["cat", "mat"], ["dog", "rug"], ["sat", "on"], ["and", "the"])}
    >>> table = model.weats(tests)
    >>> table.names.tolist(), table.interval.shape
    (['pets'], (1, 2))
    """

    names: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_positive: np.ndarray
    false_share: np.ndarray
    p_value: np.ndarray
    n_words: np.ndarray
    answers: dict[str, Answer]
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    period: Any = None
    few: np.ndarray | None = None

    @property
    def few_pairs(self) -> np.ndarray | None:
        """Where there is too little text in the period, as in `Neighbours`."""
        return self.few

    @property
    def sentences(self) -> dict[str, str]:
        """Each test in words, to be copied, by its name."""
        return {str(name): self.answers[name].sentence for name in self.names}

    @property
    def words(self):
        """The names of the tests, as notes on units use them."""
        return self.names

    def _title(self):
        return f"association tests, effect sizes{of_period(self)}"

    def _notes(self):
        return [*super()._notes(), TWO_QUESTIONS, *few_notes(self), *units_notes(self)]

    def _columns(self):
        interval = f"{100 * self.prob:g} % interval"
        columns = [
            Column("test", self.names, ("test",), left=True),
            Column("effect", self.mean, ("mean",), "6.3f", few=self.few),
            Column(interval, self.interval, ("low", "high"), "6.3f", few=self.few),
            Column("P(> 0)", self.prob_positive, ("prob_positive",), self._chances),
            Column("false", self.false_share, ("false_share",), self._chances),
            Column("p", self.p_value, ("p_value",), p_values, few=self.few),
            Column("words", self.n_words, ("n_words",), "d"),
        ]
        return columns + units_columns(self, ("n_units",))

    def _series(self):
        series = super()._series()
        lead = {"test": series.pop("test"), "mean": series.pop("mean"), "sd": self.sd}
        return framed(self, lead | series)


def weats(estimator, tests, prob, shift=0, too_few=None, period=None):
    """`AssociationTests` of several tests; ``too_few`` as of `nearer`, which is about a ``period``.

    Raises
    ------
    ValueError
        Where tests are no mapping to four lists, or one of them is refused by `weat`.
    """
    check_prob(prob)
    if not isinstance(tests, Mapping) or not tests:
        raise ValueError(f"tests must map names to lists (X, Y, A, B), got {tests!r}.")
    for name, lists in tests.items():
        if is_list(lists) and len(lists) == 4:
            continue
        raise ValueError(f"tests[{name!r}] must be four lists of words, (X, Y, A, B).")
    if len(set(map(str, tests))) < len(tests):
        raise ValueError(f"tests must have names that print differently, got {list(tests)}.")
    found = {}
    for name, lists in tests.items():
        try:
            found[str(name)] = weat(estimator, *lists, prob, shift, too_few, period)
        except (KeyError, ValueError) as error:
            raise type(error)(f"tests[{name!r}]: {error.args[0]}") from None
    few = None
    if too_few is not None:
        few = np.array([one.few_pairs for one in found.values()], bool)
    positive = np.array([one.prob_positive for one in found.values()])
    low = np.array([one.interval[0] for one in found.values()])
    # what is not known comes last
    order = np.lexsort((-low, -positive))
    ordered = [list(found.values())[i] for i in order]
    by_draws = all("interval_mcse" in one for one in ordered)
    by_units = all("n_units" in one for one in ordered)
    mean, sd, p_value = (
        np.array([float(one[name]) for one in ordered]) for name in ("mean", "sd", "p_value")
    )
    return AssociationTests(
        np.array([list(found)[i] for i in order]), mean, sd,
        np.array([one.interval for one in ordered]), positive[order],
        false_shares(positive[order]), p_value, np.array([one.words.size for one in ordered]),
        found, prob, len(ordered[0].draws),
        np.array([float(one.n_units) for one in ordered]) if by_units else None,
        np.array([one.interval_mcse for one in ordered]) if by_draws else None,
        few=None if few is None else few[order],
    )._resting_on(ordered[0].source)  # fmt: skip


def weat(estimator, X, Y, A, B, prob, shift=0, too_few=None, period=None):
    """The `Answer` about the effect size, with the test over words.

    ``too_few`` as of `nearer`, which is about a ``period``.

    Raises
    ------
    ValueError
        Where a list is no list, fewer than two target words of one are known, or both have a word,
        or the attributes one of theirs.
    """
    check_prob(prob)
    for name, words in (("X", X), ("Y", Y), ("A", A), ("B", B)):
        if not is_list(words):
            raise ValueError(f"{name} must be a list of words, got {words!r}.")
    x, y = (list_index(estimator, words, name) for words, name in ((X, "X"), (Y, "Y")))
    _check_targets(estimator, x, y)
    a, b = (phrase_of(estimator, words, name) for words, name in ((A, "A"), (B, "B")))
    _check_attributes(estimator, np.concatenate([x, y]), (a, b))
    attributes = a.less(b, "")
    targets, n_places = np.concatenate([x, y]), estimator._n_places
    operands = together(
        of_places(targets + shift, n_places), operands_of([attributes], n_places, shift)
    )
    n = targets.size
    each = np.column_stack([np.arange(n), np.full(n, n)])
    axes = {"word": estimator.words_[targets]}
    s = ask(estimator, Associations(operands, each), prob, title="associations", axes=axes)
    p_value, n_splits = permutation_test(s.mean, x.size)
    more = {
        "p_value": p_value,
        "n_splits": n_splits,
        "n_first": x.size,
        "words": estimator.words_[targets],
        "association": s,
    }
    if too_few is not None:
        lists = [Phrase("", index, np.ones(index.size)) for index in (x, y)]
        more["few_pairs"] = too_few([*lists, attributes])
    question = Effects(operands, np.arange(n + 1)[None], x.size)
    when = "" if period is None else f" in {period}"
    title = f"effect size (WEAT){when}"
    words = [estimator.words_[index] for index in (x, y, a.index, b.index)]
    asked = {name: label_of(of) for name, of in zip("XYAB", words, strict=True)}
    asked |= {} if period is None else {"period": period}
    x, y, a, b = (joined(_some(of)) for of in words)
    whole = f"{_of_lists(x, y, a, b)}{when}"
    found = ask(estimator, question, prob, (), title=title, whole=whole, asked=asked, **more)
    found.prob_positive = np.nan if found.get("few_pairs") else share_above(found, 0.0, prob)
    found.sentence = _sentence(found, words, when)
    return found


def _sentence(found, lists, in_period):
    """The effect of four lists of words in words, to be copied."""
    x, y, a, b = (joined(_some(words)) for words in lists)
    point = found.source == "point"
    proba = "" if point else f", with {chance(found.prob_positive, 'positive')}"
    effect = f"he {_of_lists(x, y, a, b)},{in_period}"
    if found.get("few_pairs"):
        return (
            f"There are too few data to say what t{effect} is: there are {TOO_LITTLE} of the words "
            "of a list together."
        )
    text = (
        f"T{effect} is {estimate(found, found.source, found.prob, '+')}{proba}. A permutation test "
        f"over {found.n_splits:,} splits of the words has a one-sided {p_value(found.p_value)}"
    )
    if found.mean < 0:
        text += ", of an effect above zero: for one below, swap the first two lists"
    return ended(text, found.source, found.get("n_units", np.inf), found)


def _of_lists(x, y, a, b):
    return f"effect size (WEAT) of {x} against {y}, in their association with {a} rather than {b}"


def _some(words):
    """Names of the first words of a list, and how many others there are."""
    shown = [repr(str(word)) for word in words]
    others = len(shown) - _TOLD
    return [*shown[:_TOLD], f"{others} others"] if others > 1 else shown


def _check_targets(estimator, x, y):
    for name, index in (("X", x), ("Y", y)):
        if index.size < 2:
            raise ValueError(
                f"{name} must have at least two words of the vocabulary, got {index.size}: an "
                "effect size is relative to how words of a list differ."
            )
    both = np.intersect1d(x, y)
    if both.size:
        raise ValueError(
            f"X and Y must have no word in common, got {', '.join(estimator.words_[both])} in both."
        )


def _check_attributes(estimator, targets, phrases):
    """A target that is an attribute, too, would be associated with itself.

    And attributes that are the same on both sides with nothing.
    """
    if are_same(*phrases):
        raise ValueError(
            f"A and B must be different lists of words, got {phrases[0].label!r} in both: no word "
            "is nearer to one than to the other."
        )
    for name, phrase in zip("AB", phrases, strict=True):
        both = np.intersect1d(targets, phrase.index)
        if both.size:
            raise ValueError(
                f"{name} must have no word of X or Y, got {', '.join(estimator.words_[both])}: the "
                "cosine of a word with itself is 1, whatever the texts say."
            )


def permutation_test(s, n_first):
    """One-sided p-value of the difference of two groups, over splits of the words.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Associations, those of the first group before those of the second.
    n_first : int
        Words of the first group, as in every split.

    Returns
    -------
    p_value : float
        Share of splits whose first group has a sum at least as large, the one that was observed
        included: exact where there are at most 100,000 splits, else of as many random ones.
    n_splits : int
    """
    # the sum of one group decides the difference of the means of both
    observed = s[:n_first].sum() - _EQUAL * np.abs(s).sum()
    hits = [int(np.sum(s[chosen].sum(axis=1) >= observed)) for chosen in _splits(s.size, n_first)]
    n_splits = comb(s.size, n_first)
    if n_splits <= _MOST_SPLITS:
        return sum(hits) / n_splits, n_splits
    return (sum(hits) + 1) / (_MOST_SPLITS + 1), _MOST_SPLITS + 1


def permutation_effects(s, n_first):
    """Effect sizes of the splits of `permutation_test`, (n_splits,), the observed one included.

    Parameters
    ----------
    s : ndarray of shape (n,)
    n_first : int
        As of `permutation_test`.
    """
    n, spread = s.size, s.std()
    sums = [s[chosen].sum(axis=1) for chosen in _splits(n, n_first)]
    if comb(n, n_first) > _MOST_SPLITS:
        sums.append(s[:n_first].sum(keepdims=True))
    first = np.concatenate(sums)
    difference = first / n_first - (s.sum() - first) / (n - n_first)
    return difference / spread if spread > 0 else np.zeros(first.size)


def _splits(n, n_first):
    """First groups of splits of n words, in arrays (some, n_first): all, or the random ones."""
    if comb(n, n_first) <= _MOST_SPLITS:
        every = (i for split in combinations(range(n), n_first) for i in split)
        yield np.fromiter(every, np.intp).reshape(-1, n_first)
        return
    # always the same splits: what is asked twice has one answer
    rng = np.random.default_rng(0)
    for _ in range(_MOST_SPLITS // _TOGETHER):
        yield np.argsort(rng.random((_TOGETHER, n)), axis=1)[:, :n_first]

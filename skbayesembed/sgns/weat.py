"""The word embedding association test of Caliskan, Bryson & Narayanan (2017).

A target word w has the association ``s(w) = mean_a cos(w, a) - mean_b cos(w, b)`` with two lists of
attributes. The effect size is the difference of its means over two lists of target words, over its
standard deviation over all of them. Two things are uncertain, and each has an answer of its own:
the vectors of these words (an interval of the effect size), and whether it is these words that
differ or whether any two lists of such words would (the permutation test).
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from ..common.checks import check_prob
from .questions.asking import ask
from .questions.kinds import Associations, Effects
from .questions.operands import of_places, together
from .questions.phrases import is_list, list_index, operands_of, phrase_of

# Up to so many splits of the target words all are gone through; beyond, as many are drawn, and the
# standard error of a p-value of .05 is .0007.
_MOST_SPLITS = 100_000
# Splits that are worked on at a time.
_TOGETHER = 10_000
# Sums that differ by rounding alone count as equal, relative to the size of associations.
_EQUAL = 1e-9


def weat(estimator, X, Y, A, B, prob, shift=0):
    """The `Answer` about the effect size, with the test over words.

    Raises
    ------
    ValueError
        Where a list is no list, fewer than two target words of one are known, or both have a word.
    """
    check_prob(prob)
    for name, words in (("X", X), ("Y", Y), ("A", A), ("B", B)):
        if not is_list(words):
            raise ValueError(f"{name} must be a list of words, got {words!r}.")
    x, y = (list_index(estimator, words, name) for words, name in ((X, "X"), (Y, "Y")))
    _check_targets(estimator, x, y)
    attributes = phrase_of(estimator, A, "A").less(phrase_of(estimator, B, "B"), "")
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
    question, title = Effects(operands, np.arange(n + 1)[None], x.size), "effect size (WEAT)"
    return ask(estimator, question, prob, (), title=title, **more)


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

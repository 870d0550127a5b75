"""What differences of answers come to: a verdict in a few words, and a sentence to be copied."""

from __future__ import annotations

import itertools
import re

import numpy as np

from ...posterior.cells import number
from ...posterior.deciding import (
    NO_DATA,
    NOT_MIXED,
    SAME,
    SURE,
    note_on_draws,
    said_of_draws,
    surely,
)
from ...posterior.sentences import capital, chance, ended, estimate, joined, side_of_zero
from ...posterior.sources import FEW_UNITS, FEWEST_USES, TOO_LITTLE, is_unmixed

# Verdicts of several differences as clauses.
_SAID = {
    NO_DATA: "there are too few data",
    "not decided": "which is larger is not decided",
    NOT_MIXED: "which is larger is not known",
    SAME: "it is zero by construction",
}
# Two periods at the end of the name of a change.
_WHEN = re.compile(r"(?: from|,) [^,]+ to [^,]+$")
_OF_PRIOR = (
    f"is the prior's extrapolation from other periods where a word has fewer than {FEWEST_USES} "
    f"uses, or {FEW_UNITS} units with it"
)

# Between the labels of two answers in those of their difference.
AGAINST = " against "


def few_pairs(answer):
    """Whether answers are of words with next to no text, as the answer itself says.

    A truth value, or an array that can be held against the mean of the answer.
    """
    few = answer.get("few_pairs", False)
    # those of two periods are a pair
    few = np.asarray(any(few) if isinstance(few, tuple) else few)
    few = few | (np.asarray(answer.get("verdict", "")) == NO_DATA)
    if few.size == 1:
        return bool(few.item())
    return few.reshape(few.shape + (1,) * (np.ndim(answer.mean) - few.ndim))


def sum_up(found, first, second, few=False, ends=None, signed=False):
    """Add, in place, what the difference of two answers comes to.

    Parameters
    ----------
    found : Answer
        The difference, with ``prob_positive``.
    first, second : str or None
        What the two are called.
    few : bool or ndarray of bool of the shape of the mean
        Whether next to nothing was seen of what they are about.
    ends : (float, float), optional
        Those of ``prob_inside``.
    signed : bool
        Whether the answers are above or below zero, as changes are, so that sentences say "higher"
        and "lower".

    Returns
    -------
    Answer
        ``found``, with the ``verdict``, ``"larger"``, ``"smaller"``, ``"not decided"``,
        ``"the same"``, ``"not mixed"`` or ``"no data"`` (of a point estimate ``few_pairs``
        instead, where there is some), and the ``sentence``; of several differences it has each.
    """
    if found.source != "point":
        verdict = side_of_zero(found.interval, "larger", "smaller")
        if is_unmixed(found.source):
            verdict = np.full(np.shape(verdict), NOT_MIXED)
        verdict = np.where(_are_same(found), SAME, verdict)
        found.verdict = np.where(few | np.isnan(found.mean), NO_DATA, verdict)[()]
        found._noting(*note_on_draws(found))
    elif np.any(few):
        found.few_pairs = few if np.ndim(few) else bool(few)
    first = f"the {first}" if first else "the first answer"
    second = f"the {second}" if second else "the second"
    if np.ndim(found.mean):
        found.sentence = _sentence_of_several(found, first, second)
        return found
    if "verdict" in found:
        found.verdict = str(found.verdict)
    found.sentence = _sentence(found, first, second, ends, signed)
    return found


def _sentence_of_several(found, first, second):
    """All differences in one text, and where each verdict holds."""
    names = [str(name) for name in found.axes]
    where = "in" if names in (["period"], ["periods"]) else "for"
    rows = [list(map(str, row)) for row in itertools.product(*found.axes.values())]
    if len(rows) == 1:
        # where a single row has a label of either side their names have it
        rows = [[label for label in rows[0] if AGAINST not in label]]
    labels = [" and ".join(row) for row in rows]
    apart = labels == [""]
    mean, interval = np.ravel(found.mean), np.reshape(found.interval, (-1, 2))
    verdicts = np.ravel(surely(found) if "verdict" in found else _without_verdict(found))
    values, where_said, sides = [], {}, {}
    for label, one, ends, verdict, larger in zip(
        labels, mean, interval, verdicts, np.ravel(found.prob_positive), strict=True
    ):
        if verdict not in (NO_DATA, SAME):
            value = estimate({"mean": one, "interval": ends}, found.source, found.prob, "+")
            values.append(value if apart else f"{value} {where} {label}")
        if verdict:
            where_said.setdefault(verdict, []).append(label)
        if verdict.endswith(("larger", "smaller")):
            sided = larger if verdict.endswith("larger") else 1 - larger
            sides.setdefault(verdict, []).append(sided)
    said = {v: _SAID.get(v, f"the first is {v}") for v in where_said}
    parts = [
        f"{said[v]}{'' if apart else _in_words(of, labels, where)}{_chances(sides.get(v))}"
        for v, of in where_said.items()
    ]
    text = f"The difference between {first} and {_that_of(first, second)}"
    text = "; ".join([f"{text} is {joined(values)}" if values else text, *parts])
    if not values:
        return text.replace("; ", ": ", 1) + "."
    units = np.ravel(found.get("n_units", np.inf))
    fewest = np.nanmin(units) if np.isfinite(units).any() else np.inf
    return ended(text, found.source, fewest, found, several=len(values) > 1)


def _without_verdict(found):
    """What there is in place of verdicts of a point estimate."""
    return np.where(few_pairs(found) | np.isnan(found.mean), NO_DATA, "")


def _chances(sided):
    """The probability of a side, or of several the least; empty where none is decided."""
    if not sided:
        return ""
    return f" ({chance(min(sided))}{' or more' if len(sided) > 1 else ''})"


def _in_words(some, labels, where):
    """Where a verdict holds: all of several, or each by its label."""
    if len(some) == len(labels) > 1:
        return f" {where} {'both' if len(labels) == 2 else 'all'} of them"
    return f" {where} {joined(some)}"


def _are_same(found):
    """Where a difference is zero by construction: it is on no side then (`asking.difference`)."""
    return np.isnan(found.prob_positive) & (found.mean == 0)


def _sentence(found, first, second, ends, signed):
    if _are_same(found):
        return f"{capital(first)} and {second} are the same in every draw, by construction."
    verdict, second = found.get("verdict") or str(_without_verdict(found)), _that_of(first, second)
    value = estimate(found, found.source, found.prob, "+")
    above, below = ("higher", "lower") if signed else ("larger", "smaller")
    side = below if verdict == "smaller" else above
    larger = 1 - found.prob_positive if verdict == "smaller" else found.prob_positive
    value_and_chance = f"{value}, with {chance(larger, side)}"
    if verdict in ("", NOT_MIXED):
        text = f"The difference between {first} and {second} is {value}"
    elif verdict == NO_DATA:
        text = (
            f"There are too few data to say whether {first} is {above} than {second}: the "
            f"difference is {value}, which {_OF_PRIOR}"
        )
    elif verdict == "not decided":
        text = (
            f"The difference between {first} and {second} is {value_and_chance}; which of the two "
            f"is {above} is not decided"
        )
    else:
        said = surely(found).replace(verdict, side)
        text = f"{capital(first)} is {said} than {second}: the difference is {value_and_chance}"
    if ends is not None and verdict not in ("", NO_DATA, NOT_MIXED):
        low, high = (number(end, "+g") for end in ends)
        text += f". It lies between {low} and {high} with {chance(found.prob_inside)}"
    units = found.get("n_units", np.inf)
    return ended(text + said_of_draws(found), found.source, units, found)


def _that_of(first, second):
    """The second of two names, short where it begins or ends as the first does."""
    when = _WHEN.search(first)
    if when and second.endswith(when.group()):
        names = (name.removesuffix(when.group()) for name in (first, second))
        return f"{_that_of(*names)} over the same time"
    head, of, _ = first.partition(" of ")
    return f"that{second[len(head) :]}" if of and second.startswith(f"{head} of ") else second


def verdict_on_nearer(table, few):
    """What `nearer` found, one of four short texts; None of nothing.

    Parameters
    ----------
    table : Nearer
    few : bool
        Whether next to nothing was seen of one of the words.
    """
    if len(table.words) == 1 or table.source == "point":
        return None
    if few:
        return NO_DATA
    if is_unmixed(table.source):
        return NOT_MIXED
    # what an interval of the same probability leaves on one side
    sure = table.prob_nearest[0] >= 0.5 + 0.5 * table.prob
    decided = sure and np.all(table.difference_interval[1:, 0] > 0)
    return "nearest" if decided else "not decided"


def only_probably_nearest(table, verdict):
    """Whether a verdict of `nearer` is told with a "probably", as others are."""
    return verdict == "nearest" and table.prob_nearest[0] < SURE


def sentence_on_nearer(table, verdict):
    """What `nearer` found, to be copied; None where nothing was held against anything."""
    n = len(table.words)
    if n == 1:
        return None
    word, first, second = (repr(str(w)) for w in (table.word, *table.words[:2]))
    in_period = "" if table.period is None else f" in {table.period}"
    others = joined([repr(str(w)) for w in table.words[1:]], "or")
    asked = f"{word} is nearer to {first} {'than to' if n > 2 else 'or to'} {others}{in_period}"
    if verdict == NO_DATA:
        return f"There are too few data to say whether {asked}: {_of_few(table)}."
    apart = {"mean": table.difference[1], "interval": table.difference_interval[1]}
    value = estimate(apart, table.source, table.prob, "+")
    nearest = chance(table.prob_nearest[0], "" if n == 2 else f"{first} is the nearest")
    nearest = "" if verdict in (None, NOT_MIXED) else f", with {nearest}"
    probably = "probably " if only_probably_nearest(table, verdict) else ""
    claim = f"{word} is {probably}nearer to {first} than to {others}{in_period}"
    if verdict in ("not decided", NOT_MIXED):
        claim = f"It is not {'known' if verdict == NOT_MIXED else 'decided'} whether {asked}"
    difference = "difference of cosines"
    if n > 2:
        difference = f"difference of its cosines with {first} and with {second}, the next,"
    units = np.inf if table.n_units is None else np.min(table.n_units)
    text = f"{claim}: the {difference} is {value}{nearest}"
    return ended(text, table.source, units, table.answer)


def _of_few(table):
    """What has too little text, of the words of a table of `nearer`, a clause."""
    few = [repr(str(w)) for w in table.words[table.few_pairs]]
    what = repr(table.word) if table.few_pairs.all() else joined(few, "and")
    return f"there are {TOO_LITTLE} of {what}"

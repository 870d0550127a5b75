"""What answers about two periods come to: a verdict in a few words, and a sentence to be copied."""

from __future__ import annotations

import numpy as np

from ..posterior.deciding import NO_DATA, NOT_MIXED, note_on_draws, only_probable, said_of_draws
from ..posterior.sentences import capital, chance, ended, estimate, joined, side_of_zero
from ..posterior.sources import (
    FEW_UNITS,
    FEWEST_USES,
    from_units,
    is_unmixed,
    later_name,
    sampled_units,
    units_called,
    where_few,
)
from .predict import mean_diffusion
from .seen import amount_of

# What is known of a move below this is next to nothing: it leaves 95 % of the prior's standard
# deviation.
LEAST_KNOWN = 0.1
# Of the cosine of a word with itself in another period.
_BELOW_ONE = (
    "this cosine is below 1 for words that have not changed, too, and the lower the less is known "
    "of them, so a value below 1 does not show a change"
)
# Periods that texts on several name, and words that one on the most changed has.
_NAMED, _FIRST = 5, 3
# Distances from here on are told with two decimals.
_SMALL = 0.095
# Below a table with a threshold.
NEED_NONE = (
    "(the verdict depends on the threshold; self_similarity, and similarity_change with another "
    "word, need none)"
)
_OF_THE_PRIOR = (
    ", the distance that a word without data is expected to move (root mean square under the prior)"
)
# Of words that were looked for.
_PICKED = "words were picked because they moved, which their intervals do not allow for"
# What verdicts of `drift` are in a sentence; where there are no data it is another one.
_OF_DRIFT = {
    "drifted": "it has {probably}drifted by more than the threshold ({proba})",
    "no drift": "it has {probably}not drifted beyond the threshold ({proba})",
    "not decided": "whether it has drifted by more than the threshold is not decided ({proba})",
    "not known": "there are too few data in these periods to say whether it has changed",
}
_BELOW = ("no drift", "apart")
# Those of `similarity_change`.
_OF_CHANGE = {
    "closer": "they {probably}drew closer ({proba})",
    "apart": "they {probably}drew apart ({proba})",
    "not decided": "whether they drew closer or apart is not decided ({proba})",
}


def settings_of(estimator):
    """What answers about change rest on besides the text, a dict.

    ``diffusion``, given or learned (``diffusion_learned``; the mean of its draws),
    ``n_components``, the most pairs that a use of a word makes (``pairs_of_use``), and the name of
    the column of units (``units_name``); None for the last two where they are not known.
    """
    return {
        "diffusion": mean_diffusion(estimator),
        "diffusion_learned": estimator._prior.learned,
        "n_components": estimator.rho_.shape[-1],
        "pairs_of_use": estimator._pairs_of_use,
        "units_name": getattr(estimator, "units_name_", None),
    }


def note_on_settings(settings):
    """Line below a table of changes: what it rests on besides the text."""
    return f"(depends on {_settings(settings)}; over_settings asks again with others)"


def called(distance):
    """What a distance is called in print."""
    return "Euclidean" if distance == "euclidean" else distance


def notes_on_uses(most, periods=""):
    """Line below a table with pairs: how many a use of a word makes at most; none of unknown.

    With what ``periods`` they are of, before it.
    """
    return [] if most is None else [f"(pairs: {periods}{_use(most)})"]


def _use(most):
    return f"a use of a word makes up to {most:g}"


def _settings(settings):
    known = "learned" if settings["diffusion_learned"] else "not learned"
    return (
        f"diffusion={settings['diffusion']:.3g} ({known}) and "
        f"n_components={settings['n_components']}"
    )


def verdict_on_drift(found):
    """What `drift` found with a threshold, one of six short texts."""
    if _has_no_data(found):
        return NO_DATA
    if is_unmixed(found.source):
        return NOT_MIXED
    low, high = found.interval
    if low > found.threshold:
        return "drifted"
    if high < found.threshold:
        return "no drift"
    # the sampling of units may vary more than the prior, and then it is no want of data
    of_prior = found.get("sd_prior", 1.0) > found.get("sd_sampling", 0.0)
    return "not known" if found.known < LEAST_KNOWN and of_prior else "not decided"


def verdict_on_change(found):
    """What `similarity_change` found, one of five short texts."""
    if _has_no_data(found):
        return NO_DATA
    if is_unmixed(found.source):
        return NOT_MIXED
    return str(side_of_zero(found.interval, "closer", "apart"))


def notes_on_verdict(found, proba, value):
    """Lines below a table whose one-sided probability would decide otherwise than its interval.

    And of one whose verdict hangs on the draws.

    Intervals by units leave as much on either side, and agree with it up to Monte Carlo error;
    highest density intervals of a skewed posterior need not.

    Parameters
    ----------
    found : Answer
        With a verdict.
    proba : float
        Probability of more than ``value``.
    value : float
        What the interval is held against.

    Returns
    -------
    list of str
    """
    low, high = found.interval
    tail = 0.5 * (1.0 - found.prob)
    decided = low > value, high < value
    if found.source == "units" or found.verdict in (NO_DATA, NOT_MIXED):
        return []
    on_draws = note_on_draws(found, value, _held_against(found))
    if decided == (proba > 1.0 - tail, proba < tail):
        return on_draws
    return [
        *on_draws,
        "(the verdict follows the interval, which is of highest density and need not leave the "
        "same probability on both sides)",
    ]


def _held_against(found):
    return "the threshold" if "threshold" in found else "zero"


def sentence_on_drift(found, kind, word, periods, learned):
    """What `drift` found, to be copied."""
    if _has_no_data(found):
        return _without_data(f"{word!r} has drifted", found, periods)
    start, end = periods
    text = f"Between {start} and {end}, {word!r} moved by a {called(kind)} distance of "
    text += estimate(found, found.source, found.prob)
    parts = [f"{text}{_told(found, _OF_DRIFT)}"]
    if "threshold" in found:
        threshold = f"The threshold is {_told_size(found.threshold)}"
        parts.append(f"{threshold}{_OF_THE_PRIOR if learned else ''}")
    if np.isfinite(found.typical):
        parts.append(f"The mean vector of the median word moved by {_told_size(found.typical)}")
    return _ended(parts, found, periods)


def _told_size(x):
    """A distance with two decimals, or with two digits where these would not tell it."""
    return f"{x:.2f}" if x >= _SMALL else f"{x:.2g}"


def picked_note(table):
    """Line below a table of changes: words were looked for; none of a point or of no words."""
    if table.source == "point" or len(table.words) == 0:
        return []
    return [f"({_PICKED})"]


def note_of_changes(table):
    """What a figure of changes says of its rows, in one line."""
    notes = [f"dashed: the threshold of a move, {table.threshold:.3g}"]
    notes += [note[1:-1] for note in note_on_expected(table)]
    notes += [note[1:-1] for note in picked_note(table)]
    return "; ".join([*notes, f"depends on {_settings(table.settings)}"])


def note_on_expected(table):
    """Line below a table of changes: how many are expected to be true; none of a point or none."""
    n = len(table.words)
    if table.source == "point" or n < 2:
        return []
    shown = table.interval[:, 0] > table.threshold
    none = "" if shown.any() else "; each interval reaches below it, so that none surely has"
    return [f"(of these {n}, {_expected(table)} to have moved by more than the threshold{none})"]


def _expected(table):
    expected = float(table.prob_exceeds.sum())
    about = f"about {expected:.1f} are" if expected >= 0.05 else "fewer than 0.1 are"
    return f"{about} expected"


def sentence_on_changes(table):
    """What `most_changed` found, to be copied: the first words, and how many are expected."""
    n, (start, end) = len(table.words), table.periods
    far = f"by more than {_told_size(table.threshold)} ({called(table.distance)} distance)"
    if n == 0:
        return f"No word has enough text in {start} and {end} to say whether it moved {far}."
    point = table.source == "point"
    first = []
    for i in range(min(n, _FIRST)):
        one = {"mean": table.mean[i], "interval": table.interval[i]}
        value = estimate(one, table.source, table.prob)
        proba = "" if point else f", {chance(table.prob_exceeds[i])}"
        first.append(f"{str(table.words[i])!r} by {value}{proba}")
    surely = "moved furthest" if point else f"most surely moved {far}"
    words = "word that" if len(first) == 1 else "words that"
    text = f"Between {start} and {end}, the {words} {surely} are {joined(first)}"
    if not point:
        if table.prob_exceeds[0] < 0.5:
            text = f"Of no word is it more likely than not that it moved {far}. {text}"
        if n > 1:
            text += f"; of the {n} words shown, {_expected(table)} to have moved so far"
    text = ended(text, table.source, found=table, several=len(first) > 1)
    text += f" How far words moved, and which the furthest, depends on {_settings(table.settings)}."
    return text if point else f"{text} The {_PICKED}."


def sentence_on_change(found, similarity, periods):
    """What `similarity_change` found, to be copied; ``similarity`` says of what."""
    if _has_no_data(found):
        return _without_data(f"the {similarity} has changed", found, periods)
    start, end = periods
    text = f"The {similarity} changed by {estimate(found, found.source, found.prob, '+')}"
    return _ended([f"{text} from {start} to {end}{_told(found, _OF_CHANGE)}"], found, periods)


def sentences_on_periods(found, reason):
    """An answer for each period in words, to be copied, a dict by the label of the period.

    ``reason(i)`` says why there is too little text in a period, a clause.
    """
    of = f"the {found._whole}"
    return _by_period(
        found,
        lambda i, label: f"on {of} in {label}: {reason(i)}",
        lambda value, label: f"{capital(of)} is {value} in {label}",
    )


def sentences_on_itself(found, word, reason):
    """The same of the similarity of a word, as sentences call it, to itself in a reference."""
    reference = found.reference
    sentences = _by_period(
        found,
        lambda i, label: f"to compare {word} in {label} with {word} in {reference}: {reason(i)}",
        lambda value, label: (
            f"The cosine of the vectors of {word} in {label} and in {reference} is {value}; it "
            f"would be 1 if they had the same direction; {_BELOW_ONE}"
        ),
    )
    # a period may be named twice
    if reference in sentences and not found.few_pairs[list(found.periods).index(reference)]:
        sentences[reference] = (
            f"{reference} is the reference, with which {word} is compared in other periods; the "
            "cosine with itself is 1."
        )
    return sentences


def sentence_over_periods(found):
    """All periods in one text, to be copied; without the reference, where the cosine is 1."""
    labels, of = found.periods, f"the {found._whole}"
    shown = [i for i, label in enumerate(labels) if label != found.get("reference")]
    if len(shown) < 2:
        return found.sentences[labels[max(shown, default=0)]]
    known = [i for i in shown if not found.few_pairs[i]]
    lacking = _periods_named([labels[i] for i in shown if found.few_pairs[i]], len(shown))
    itself = "reference" in found
    if not known:
        where = f", in {where_few(found)}" if itself else f" in {lacking}"
        return f"There are too few data on {of}{where}."
    values = [f"{_estimate(found, i)} in {labels[i]}" for i in known]
    text = f"{capital(of)}{', by period:' if itself else ' is'} {joined(values)}"
    text += f"; there are too few data in {lacking}" if lacking else ""
    n_units = found.get("n_units", np.full(len(labels), np.inf))
    rough = [labels[i] for i in known if n_units[i] < FEW_UNITS]
    if rough:
        where = _periods_named(rough, len(known))
        text += f"; the interval is rough in {where}, with fewer than {FEW_UNITS} effective units"
    text += f". {capital(_BELOW_ONE)}" if itself else ""
    return ended(text, found.source, found=found, several=len(known) > 1)


def _periods_named(labels, n):
    """Some of ``n`` periods in words, by their number where they are many; empty of none."""
    if len(labels) > _NAMED:
        return f"all {n} periods" if len(labels) == n else f"{len(labels)} of {n} periods"
    return joined([str(label) for label in labels] or [""])


def _estimate(found, i):
    """The estimate of a period with its interval."""
    one = {"mean": found.mean[i], "interval": found.interval[i]}
    return estimate(one, found.source, found.prob)


def _by_period(found, few, said):
    """Sentences by period: ``few`` ends those without data, ``said`` makes the others."""
    return {label: _in_period(found, i, label, few, said) for i, label in enumerate(found.periods)}


def _in_period(found, i, label, few, said):
    if found.few_pairs[i]:
        return f"There are too few data {few(i, label)}."
    text = said(_estimate(found, i), label)
    return ended(text, found.source, found.n_units[i] if "n_units" in found else np.inf, found)


def without_data(found, few):
    """Blank, in place, the units of an answer where the period has next to no data of its own.

    They would be those of other periods, from which the word drifts there.

    Parameters
    ----------
    found : Answer
    few : bool or ndarray of bool of the shape of its mean
    """
    if "n_units" in found and np.any(few):
        found.n_units = np.where(few, np.nan, found.n_units)[()]
    return found


def _has_no_data(found):
    return any(found.few_pairs)


def _without_data(asked, found, periods):
    """The sentence where the prior alone would answer: no number, and why."""
    (first, second), (start, end) = found.words_seen, _amounts(found, periods)
    seen = f"{first!r} has {start} and {end}"
    if first != second:
        seen = f"{first!r} has {start}, and {second!r} has {end}"
    return f"There are too few data to say whether {asked}: {seen}."


def _seen(found, periods):
    """How much text there is, a sentence: of the word, or of the one with less text."""
    (first, second), (start, end) = found.words_seen, _amounts(found, periods)
    if "known" in found:
        return f"The word has {start} and {end}"
    if first == second:
        return f"The rarer word, {first!r}, has {start} and {end}"
    return f"The rarer word of each period has {start} ({first!r}) and {end} ({second!r})"


def _amounts(found, periods):
    """How much text there is in either period, and in how many units, two texts."""
    unknown = (None, None)
    name = found.get("settings", {}).get("units_name") or sampled_units(found)[1]
    names = name, later_name(name)
    parts = found.pairs, found.uses or unknown, found.units_seen or unknown, found.few_pairs
    return [_amount(*part) for part in zip(*parts, periods, names, strict=True)]


def _amount(pairs, uses, units, few, period, units_name):
    # the units are too few where the uses are not
    narrow = few and uses is not None and uses >= FEWEST_USES
    only = "only " if few and not narrow else ""
    if (pairs if uses is None else uses) == 0:
        return f"{amount_of(0, 'pair' if uses is None else 'use')} in {period}"
    amount = amount_of(pairs, "pair")
    amount = amount if uses is None else f"{amount_of(uses, 'use')} ({amount})"
    of = "" if units is None else f" {from_units(units, units_name)}"
    if narrow:
        by, rest = of.split(maxsplit=1)
        of = f" {by} only {rest}"
    return f"{only}{amount}{of} in {period}"


def _told(found, said):
    """The verdict in words, behind what it is of; empty where there is none."""
    verdict = found.get("verdict", "")
    if verdict not in said:
        return ""
    value = found.get("threshold", 0.0)
    above = found.get("prob_exceeds", found.get("prob_increase", np.nan))
    probably = "probably " if only_probable(found, value) else ""
    of = "closer" if verdict == "not decided" and "prob_increase" in found else ""
    proba = chance(1.0 - above if verdict in _BELOW else above, of)
    told = said[verdict].format(probably=probably, proba=proba)
    return f"; {told}{said_of_draws(found, value, _held_against(found))}"


def _effective(found):
    """How many of the units an answer rests on, a sentence, or nothing where it is not known."""
    n = found.get("n_units", np.nan)
    if found.source != "units" or not np.isfinite(n):
        return ""
    units = units_called(sampled_units(found)[1])
    what = f"the equivalent of {n:.1f} equally weighted {units}"
    return f" It rests on {what}, counted over all periods."


def _ended(parts, found, periods):
    """Sentences with those on how much text there is, and on what the answer rests on besides."""
    text = f"{'. '.join(parts)}. {_seen(found, periods)}"
    text = ended(text, found.source, found.get("n_units", np.inf), found)
    text += _effective(found)
    decides = found.get("verdict", NOT_MIXED) != NOT_MIXED
    of_verdict = ", and whether it is decided, depends" if decides else " depends"
    return f"{text} How large the change is{of_verdict} on {_settings(found.settings)}."

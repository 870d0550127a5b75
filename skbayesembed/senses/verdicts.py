"""What a change of a prevalence comes to: a verdict in a few words, and a sentence to be copied."""

from __future__ import annotations

import numpy as np

from ..posterior.deciding import NO_DATA, NOT_MIXED, said_of_draws, surely
from ..posterior.sentences import (
    capital,
    chance,
    ended,
    estimate,
    interval_in_words,
    rounded,
    side_of_zero,
)
from ..posterior.sources import (
    FEW_UNITS,
    from_units,
    is_unmixed,
    later_name,
    units_called,
)
from ..posterior.summary import hdi_interval

# With fewer snippets of a period, or fewer units of which others are to be known, what is said
# there is largely what the prior makes of other periods.
FEWEST_SNIPPETS = 10
# Share of the weight of genres that may be extrapolated from other periods.
MOST_LENT = 0.5
# Probability from which on a further period is named as a first one.
_WORTH = 0.1
# Probability from which on it is said that a prevalence may have been above before the data begin.
_TELLING = 0.05
# Cells with next to no data that a line names.
_CELLS_NAMED = 4
_CHANCES = {"rose": "rise", "fell": "fall", "not decided": "rise"}


def told_of(data):
    """What `Snippets` tell of prevalences: numbers of them by cell, and rows of works as there.

    Snippets without a known word are read as the prior has it, and are no data.
    """
    telling, c = data.telling, data.contexts
    cells = data.cells_of(telling)
    if c is None:
        return cells, None
    counts = np.bincount(c.of_snippet[telling], minlength=len(c.genres))
    return cells, np.column_stack([c.genres, c.periods, c.works, counts])[counts > 0]


def cells_told(estimator):
    """Training snippets that tell of prevalences, (G, T); of old fits all."""
    found = getattr(estimator, "_told_cells", None)
    return estimator._cells if found is None else found


def works_told(estimator):
    """Genre, period and unit of them, with their number, in rows; None where none are known."""
    found = getattr(estimator, "_told_works", None)
    return estimator._works if found is None else found


def units_of_cells(estimator):
    """Number of units with training snippets in each cell, (G, T); None where none are known."""
    if estimator._works is None:
        return None
    cells = np.unique(works_told(estimator)[:, :3], axis=0)
    out = np.zeros(estimator._cells.shape, dtype=int)
    np.add.at(out, (cells[:, 0], cells[:, 1]), 1)
    return out


def advice_on_seen(estimator):
    """What it means that units seen lie outside the interval of all, and what to do."""
    alike = "units seen and units at large differ by chance"
    if estimator._cells.shape[1] > 1:
        alike = (
            "the units there are alike in what units of other periods differ in, and the model has "
            "one spread of units for all periods"
        )
    if "kappa_phi" in estimator.posterior_.stats:
        return f"{alike}; report both"
    return (
        f"prevalences change faster than the prior allows, or {alike}; let prior.kappa_phi be "
        "learned ('auto'), and report both"
    )


def seen_in(estimator, at, genre):
    """Training snippets in some periods, and units of them where they are known.

    Parameters
    ----------
    estimator : DiSCSenseModel
        Fitted.
    at : sequence of int
        Periods.
    genre : int or None
        None counts those of all genres.

    Returns
    -------
    dict of str to tuple
        ``snippets``, and where ``fit`` was told of units ``units``, in each of the periods.
    """
    cells = cells_told(estimator) if genre is None else cells_told(estimator)[[genre]]
    found = {"snippets": tuple(int(cells[:, t].sum()) for t in at)}
    if estimator._works is None:
        return found
    works = works_told(estimator)
    here = np.ones(len(works), bool) if genre is None else works[:, 0] == genre
    found["units"] = tuple(int(np.unique(works[here & (works[:, 1] == t), 2]).size) for t in at)
    return found


def few_data(n_snippets, n_units, units):
    """Where there are next to no data of prevalences, of cells with so many snippets and units.

    Units, None where none are known, matter where ``units``, as of `prevalence_info`, are others
    than those seen.
    """
    few = np.asarray(n_snippets) < FEWEST_SNIPPETS
    if n_units is None or units == "seen":
        return few
    return few | (np.asarray(n_units) < FEW_UNITS)


def genre_weights(estimator):
    """Weights of genres in answers over all, their shares of the training snippets (n_genres,)."""
    weights = estimator._cells.sum(axis=1)
    return weights / weights.sum()


def few_by_genre(estimator, at, units):
    """Cells of genre and some periods with next to no data, bool (n_genres, len(at)).

    An answer over all genres has the weight of each in every period, whatever it has there.
    """
    n_genres = estimator.posterior_["prevalence"].shape[2]
    found = [seen_in(estimator, at, genre) for genre in range(n_genres)]
    return np.array([few_data(one["snippets"], one.get("units"), units) for one in found])


def note_on_genres(estimator, at, units):
    """Line on genres with next to no data in some periods, below an answer over all; or none."""
    if estimator.posterior_["prevalence"].shape[2] == 1:
        return []
    labels = [estimator.periods_.labels[t] for t in at]
    of_units = estimator._works is not None and units != "seen"
    few = few_by_genre(estimator, at, units)
    return note_on_few(few, of_units, labels, list(estimator.genres_))


def lent_in(estimator, at, genre, units):
    """Share of the weight of genres with next to no data in one of some periods."""
    if genre is not None or estimator.posterior_["prevalence"].shape[2] == 1:
        return 0.0
    return float(genre_weights(estimator) @ few_by_genre(estimator, at, units).any(axis=1))


def rests_on(n_periods):
    """What a prevalence rests on mostly where there are next to no data."""
    return "neighboring periods" if n_periods > 1 else "the prior"


def note_on_few(few, of_units, periods, genres=None, of_all=None):
    """Line below a table on periods with next to no data, a list; none where there are no such.

    Parameters
    ----------
    few : ndarray of bool of shape (n_genres, n_periods)
        As of `few_data`.
    of_units : bool
        Whether units count.
    periods : list
        Labels.
    genres : list of str, optional
        Labels, where data are those of single genres.
    of_all : int, optional
        How many periods there are, where these are some of them.
    """
    cells = np.argwhere(few).tolist()
    if not cells:
        return []
    names = [_cell(periods[t], None if genres is None else str(genres[g])) for g, t in cells]
    what = f"fewer than {FEWEST_SNIPPETS} snippets" + (f" or {FEW_UNITS} units" if of_units else "")
    where = f"{len(cells)} {'period' if genres is None else 'cell'}{'s' if len(cells) > 1 else ''}"
    where += "" if genres is None else " of genre and period"
    n_periods = len(periods) if of_all is None else of_all
    named, on = _first_cells(names), rests_on(n_periods)
    return [f"({what} in {where}, {named}: figures there rest mostly on {on})"]


def note_on_unseen(estimator, units, at=slice(None), genre=None):
    """Line on cells in which no unit was seen, below an answer about those seen; or none.

    Of the periods ``at``, and of one genre or of all.
    """
    n_units = units_of_cells(estimator)
    if n_units is None or units != "seen":
        return []
    if np.all(n_units[slice(None) if genre is None else [genre]][:, at]):
        return []
    return ["(where no unit was seen, figures are means over all units)"]


def _first_cells(names):
    """Names of the first cells, and how many more there are."""
    more = len(names) - _CELLS_NAMED
    return ", ".join(names[:_CELLS_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cell(period, genre):
    """Name of a cell of genre and period, or of a period."""
    if genre is None:
        return str(period)
    return f"{period} of genre {genre}" if genre.isdigit() else f"{period} {genre}"


def few_in_periods(estimator, genre, units):
    """Line on periods with next to no data, of all genres together or of the one at a place."""
    labels = list(estimator.periods_.labels)
    found = seen_in(estimator, range(len(labels)), genre)
    n_units = found.get("units")
    few = few_data(found["snippets"], n_units, units)
    unseen = note_on_unseen(estimator, units, genre=genre)
    genres = None if genre is None else [estimator.genres_[genre]]
    if genre is None and estimator.posterior_["prevalence"].shape[2] > 1:
        # a period with next to no data has none of any genre
        return note_on_genres(estimator, range(len(labels)), units) + unseen
    of_units = n_units is not None and units != "seen"
    return note_on_few(few[None], of_units, labels, genres) + unseen


def verdict_on_change(found, units, lent=0.0, interval=None):
    """What `prevalence_change` found, one of five short texts; ``units`` as there.

    ``lent`` is as of `lent_in`, and ``interval`` that of ``found`` unless another is given.
    """
    if is_unmixed(found.source):
        return NOT_MIXED
    if np.any(few_data(found.snippets, found.get("units"), units)) or lent >= MOST_LENT:
        return NO_DATA
    interval = found.interval if interval is None else interval
    return str(side_of_zero(interval, "rose", "fell"))


def change_seen(estimator, draws, alike, at, genre, prob):
    """Entries on a change in the units seen; NaN where a cell of it has none.

    Parameters
    ----------
    estimator : DiSCSenseModel
        Fitted.
    draws : ndarray of shape (n_draws, n_genres, 2)
        Prevalences of a sense in the units seen, in two periods, by snippets.
    alike : ndarray of shape (n_draws, n_genres, 2)
        The same with each unit counted once.
    at : sequence of int
        These periods.
    genre : int or None
        None for an average over genres as of `prevalence_draws`.
    prob : float
        Of the interval.
    """

    def change_of(draws):
        change = draws[..., 1] - draws[..., 0]
        change[:, (cells_told(estimator)[:, at] == 0).any(axis=1)] = np.nan
        return change @ genre_weights(estimator) if genre is None else change[:, genre]

    change = change_of(draws)
    found = {"seen_alike": float(change_of(alike).mean()), "seen": float(change.mean())}
    if len(change) > 1 and not np.isnan(found["seen"]):
        found["seen_interval"] = hdi_interval(change, prob=prob)
        found["seen_prob_increase"] = float(np.mean(change > 0))
    return found


def on_change_seen(found):
    """A sentence on a change in the units seen that differs from that of all, or an empty text.

    It differs where it lies outside the interval, each unit counted once, or where its own
    interval, by snippets, decides otherwise; where both, it has both.
    """
    if not _knows_seen(found):
        return ""
    seen, interval, verdict = found.seen, found.get("seen_interval"), found.get("seen_verdict")
    (alike,) = rounded([found.seen_alike], "+", 2, 4)
    units = units_called(found.units_name)
    where = f" In the {units} seen,"
    by_snippet = f"{where} with each snippet counted once,"
    outside = _seen_is_outside(found)
    once = f"{where} with each of them counted once, the change is {alike}, outside the interval."
    once = once if outside else ""
    told = outside or interval is None or found.get("verdict") == NO_DATA
    few = "" if told else _why_otherwise(found, interval, alike, units)
    if interval is None or verdict in (NO_DATA, found.get("verdict")):
        return once
    shown, low, high = rounded([seen, *interval], "+", 2, 4)
    shown = f"{shown} ({interval_in_words(low, high, found.prob)})"
    if verdict == "not decided":
        return f"{by_snippet} the change is {shown}, and its sign is not decided.{once or few}"
    of = {"interval": interval, "verdict": verdict, "prob_increase": found.seen_prob_increase}
    return f"{by_snippet} it {surely(of)}: the change is {shown}.{once or few}"


def _why_otherwise(found, interval, alike, units):
    """Why snippets of the units seen may decide what is not decided of others, a sentence."""
    others = f"the first interval is about {units} as they might be"
    if interval[0] <= found.seen_alike <= interval[1]:
        return f" The two differ since {others}."
    return (
        f" With each of them counted once, it is {alike}: those with most snippets differ from the "
        f"rest, and {others}."
    )


def note_on_change_seen(estimator, found):
    """Line below a table with a change in the units seen that is outside the interval, or none."""
    if not _knows_seen(found) or not _seen_is_outside(found):
        return []
    return [
        "(the change in the units seen, each counted once, is outside the interval: "
        f"{advice_on_seen(estimator)})"
    ]


def _knows_seen(found):
    """Whether there are a change in the units seen and an interval to hold it against."""
    unknown = found.source == "point" or found.get("verdict") == NOT_MIXED
    return not unknown and not np.isnan(found.get("seen", np.nan))


def _seen_is_outside(found):
    low, high = found.interval
    enough = min(found.get("units", (0,))) >= FEW_UNITS
    return enough and (found.seen_alike < low or found.seen_alike > high)


def on_lent(estimator, at, units):
    """A sentence on genres that lack data in one of two periods, behind that on a change."""
    lent = lent_in(estimator, at, None, units)
    if lent == 0.0:
        return ""
    few = few_by_genre(estimator, at, units)
    labels, genres = [estimator.periods_.labels[t] for t in at], estimator.genres_
    cells = [_cell(labels[t], str(genres[g])) for g, t in np.argwhere(few).tolist()]
    share = f"{100 * lent:.0f} %" if lent >= 0.005 else "less than 1 %"
    return (
        f" Of the weight of genres {share} has next to no data in one of the periods "
        f"({_first_cells(cells)}), and is extrapolated there."
    )


def sentence_on_change(found, sense, genre, periods):
    """What `prevalence_change` found of a ``sense``, to be copied; ``genre`` is its label."""
    start, end = periods
    what = f"the prevalence of {sense}" + ("" if genre is None else f" in {genre}")
    change, verdict = estimate(found, found.source, found.prob, "+"), found.get("verdict")
    proba = 1 - found.prob_increase if verdict == "fell" else found.prob_increase
    proba = chance(proba, _CHANCES.get(verdict, ""))
    if verdict in ("rose", "fell"):
        text = f"T{what[1:]} {surely(found)} from {start} to {end}: the change is {change}, with "
        text += proba
    elif verdict == "not decided":
        text = f"T{what[1:]} changed by {change} from {start} to {end}; whether it rose or fell is "
        text += f"not decided ({proba})"
    elif verdict == NO_DATA:
        few = min(found.snippets) < FEWEST_SNIPPETS
        enough_units = min(found.get("units", (FEW_UNITS,))) >= FEW_UNITS
        lacking = "data" if few else units_called(found.units_name)
        mostly = "from neighboring periods mostly"
        if not few and enough_units:
            # there are enough of all genres together
            lacking, mostly = "data of some genres", "from neighboring periods and the prior"
        text = f"There are too few {lacking} to say whether {what} rose or fell from {start} to "
        text += f"{end}: the model, {mostly}, makes the change {change}, an extrapolation"
    else:
        text = f"T{what[1:]} changed by {change} from {start} to {end}"
    text = f"{text}{said_of_draws(found)}. The data are {_seen(found, periods)}"
    return ended(text, found.source, found=found)


def sentence_on_emergence(found, few=None):
    """What `emergence` found, to be copied; of ``few`` (n_periods,) periods there are no data."""
    text = _on_emergence(found)
    best = int(np.argmax(found.proba))
    if found.source == "point" or few is None or not few[best]:
        return text
    if len(few) == 1:
        return f"{text} There are next to no data: it rests on the prior."
    where = "interpolates" if 0 < best < len(few) - 1 else "extrapolates"
    return f"{text} There are next to no data in {found.periods[best]}, where the model {where}."


def _on_emergence(found):
    best, never = int(np.argmax(found.proba)), found.never
    if found.source == "point":
        where = f"is {found.periods[best]}" if never < found.proba[best] else "does not exist"
        return ended(f"The {found.title} {where} (a point estimate)", found.source)
    period = f"{found.periods[best]} ({chance(found.proba[best])})"
    if never > found.proba[best]:
        title = found.title.removeprefix("first period in which ")
        title = capital(title.replace(" is above", " is never above"))
        text = f"{title} in these periods with {chance(never)}"
        return _on_periods(f"{text}; the likeliest first period is {period}", found)
    surely = "most probably" if found.proba[best] >= 0.5 else "not known: the likeliest is"
    text = f"The {found.title} is {surely} {period}"
    others = [k for k in np.argsort(-found.proba) if k != best and found.proba[k] >= _WORTH]
    if found.proba[best] < 0.5 and others:
        named = (f"{found.periods[k]} ({chance(found.proba[k])})" for k in others)
        text += f", then {', '.join(named)}"
    text += f"; with {chance(never)} there is none"
    return _on_periods(text, found)


def already_above(found):
    """What to say of `emergence` where the first period of the data may be the answer, or none."""
    first, others = found.proba[0], max(found.proba[1:].max(initial=0.0), found.never)
    if first < min(_TELLING, others):
        return ""
    return (
        f"if it is {found.periods[0]}, the first period of the data, the prevalence was above "
        "already, and since when is not known"
    )


def _on_periods(text, found):
    already = already_above(found)
    text += f". I{already[1:]}" if already else ""
    # probabilities of periods are no interval
    return ended(text, found.source, found=found).replace("The interval ", "The answer ")


def _seen(found, periods):
    """Snippets, and units, of both periods."""
    units = found.get("units", (None, None))
    names = found.units_name, later_name(found.units_name)
    parts = map(snippets_in_words, found.snippets, units, names)
    return " and ".join(f"{part} in {t}" for part, t in zip(parts, periods, strict=True))


def snippets_in_words(n_snippets, n_units, units_name=None):
    """How many snippets there are, from so many units; None where none are known.

    Examples
    --------
    >>> from skbayesembed.senses.verdicts import snippets_in_words
    >>> snippets_in_words(1200, 1), snippets_in_words(1, None)
    ('1,200 snippets from 1 unit', '1 snippet')
    >>> snippets_in_words(244, 65, "speaker")
    '244 snippets by 65 speakers'
    """
    text = f"{n_snippets:,.0f} snippet{'' if n_snippets == 1 else 's'}"
    return text if n_units is None else f"{text} {from_units(n_units, units_name)}"

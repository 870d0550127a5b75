"""What intervals rest on, and how tables and figures say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# With fewer effective units intervals are rough: 90 % ones hold the truth some 80 times of 100.
FEW_UNITS = 3
# With fewer uses of a word in a period, or in fewer units of it, what is said of the word there is
# what the prior makes of other periods.
FEWEST_USES = 10
# Fewer than three units are enough where they are all of a period.
TOO_LITTLE = f"fewer than {FEWEST_USES} uses or too few units"
# Below tables, of what other periods lend; the head of the column.
UNITS_OF_ALL = "units, all periods"
NOTE_ON_UNITS = f"({UNITS_OF_ALL}: how many units the answer rests on, in all periods together)"

# Names of columns of units that are words with a plural: of people, whom texts are by, and others.
_PEOPLE = frozenset(
    "speaker author writer poet editor journalist reporter translator composer painter president "
    "senator representative delegate minister member politician user commenter reviewer blogger "
    "respondent participant interviewee informant subject patient student pupil teacher "
    "secretary deputy justice judge bishop country party".split()
)
_THINGS = frozenset(
    "work book novel play poem song letter text document article paper newspaper magazine journal "
    "publication volume source outlet channel site website domain blog forum thread account "
    "conversation interview session debate case court school committee group village town "
    "state region district nation city county community family library university company agency "
    "ministry industry story diary essay inquiry survey entry category church parish branch speech "
    "sketch address congress class business box".split()
)
# What words end in whose plural has an -es.
_HISSING = ("s", "x", "z", "ch", "sh")
# What tables call means of a point estimate.
AT_MODE = "mode"
# Differences of probabilities that are none, and digits with which tables print them.
_ROUNDING, _DIGITS = 1e-12, 3
# Of a table, below it.
_NOTES = {
    "point": "(a point estimate, without intervals)",
    "vi": "(variational inference: its intervals may be too narrow)",
    "unmixed": "(the chains have not mixed: these are not intervals of the posterior)",
    "known topics": "(topics are treated as known: intervals reflect the documents alone)",
}
# Of an interval, in a figure.
_SUFFIXES = {
    "units": "sampling of units",
    "units and features": "of units and of features",
    "model": "of the model",
    "posterior": "of the model",
    "vi": "VI, may be too narrow",
    "laplace": "Laplace approximation",
    "unmixed": "chains have not mixed",
    "known topics": "topics taken as known",
}
# What intervals know of besides: word vectors that were drawn, units that were not seen. What they
# do not know of: units where ``fit`` was told of none.
VECTORS, OTHERS, INDEPENDENT = "vectors", "other units", "independent"
# What they do not know of either: other modes of the posterior that matter, with other draws.
ONE_MODE = "in one of several modes"
# Draws of which some alone were kept; the fact that tells how many there were in each chain.
THINNED, THINNED_FROM = "thinned", "thinned_from"
# Of one of several modes, below tables and in sentences.
OF_ONE_MODE = (
    "more than one mode of the posterior matters; this is about the one found heaviest, and others "
    "may give other answers"
)
_NOTES_BESIDES = {
    ONE_MODE: f"({OF_ONE_MODE}: see modes_)",
    VECTORS: "(intervals include the uncertainty of the word vectors)",
    OTHERS: "(intervals allow for units other than those seen)",
    THINNED: "(from the draws that were kept, as with save(draws=), not from all that were made: "
    "means of all draws differ a little; report() has the diagnostics of all)",
    INDEPENDENT: "(snippets are treated as independent: if works, authors or speakers were "
    "sampled, pass units= to fit, with solver='hmc' or 'gibbs')",
}


def source_of(estimator: Any, by_units: bool = False, of_works: bool | None = None) -> str:
    """What the intervals of a fitted estimator's answers rest on.

    Parameters
    ----------
    estimator : fitted estimator
    by_units : bool
        Whether the answer knows of the sampling of units.
    of_works : bool or None
        Whether the answer is about units of which those that were seen are some; False where it
        might be, and ``fit`` was told of none.

    Returns
    -------
    {"units", "point", "vi", "laplace", "model", "posterior", "unmixed"}
        ``"point"``: one draw, no interval. ``"model"`` and ``"posterior"`` are draws of chains: of
        an estimator whose intervals may know of units and do not, and of one without units;
        ``"unmixed"`` draws of chains that a fit warned of. Behind it, after commas, ``"vectors"``
        where word vectors were drawn, ``"thinned"`` where some draws alone were kept, ``"in one
        of several modes"`` where more than one mode of the posterior matters, and ``"other units"``
        or ``"independent"``, as ``of_works`` is True or False: ``"posterior, vectors, other
        units"``.
    """
    if by_units:
        return "units"
    source = source_of_posterior(estimator.posterior_)
    base, *besides = source.split(", ")
    if base == "posterior" and VECTORS not in besides and hasattr(estimator, "uncertainty"):
        return ", ".join(["model", *besides])
    if of_works is None or source == "point":
        return source
    return f"{source}, {OTHERS if of_works else INDEPENDENT}"


def is_by_units(estimator: Any) -> bool:
    """Whether intervals of a fitted estimator's answers know of units, as it is set now."""
    attrs = estimator.posterior_.attrs
    knows = attrs.get("uncertainty") is not None and "without_units" not in attrs
    return knows and getattr(estimator, "uncertainty", None) == "documents"


def is_unmixed(source: str | None) -> bool:
    """Whether an answer rests on chains that have not mixed, so that it has no interval.

    Examples
    --------
    >>> from skbayesembed.posterior.sources import is_unmixed
    >>> is_unmixed("unmixed, other units"), is_unmixed("posterior"), is_unmixed(None)
    (True, False, False)
    """
    return (source or "").split(", ")[0] == "unmixed"


def source_of_posterior(posterior: Any) -> str:
    """What intervals of draws in a `Posterior` rest on, as of `source_of`."""
    solver = posterior.attrs.get("solver")
    known = {"map": "point", "vi": "vi", "laplace": "laplace"}
    of_chains = "unmixed" if posterior.attrs.get("converged") is False else "posterior"
    source = known.get(solver, of_chains)
    besides = [VECTORS] if posterior.n_runs > 1 else []
    besides += [THINNED] if _is_thinned(posterior) else []
    besides += [ONE_MODE] if posterior.attrs.get("modes_that_matter", 1) > 1 else []
    return ", ".join([source, *besides])


def note_on_lent(both: bool) -> str:
    """Line below a table on its effective units; ``both`` where there are two numbers of them."""
    if not both:
        return NOTE_ON_UNITS
    return (
        f"({UNITS_OF_ALL}: how many units the vector of the start, and that of the end, rest on; "
        "units of other periods count, too)"
    )


def units_in_words(n: int, name: str | None = None) -> str:
    """How many units there are, called by the name of their column where it has one.

    Examples
    --------
    >>> from skbayesembed.posterior.sources import units_in_words
    >>> units_in_words(1200, "speaker"), units_in_words(1, "book"), units_in_words(2)
    ('1,200 speakers', '1 book', '2 units')
    >>> units_in_words(197, "country"), units_in_words(240, "address"), units_in_words(1, "party")
    ('197 countries', '240 addresses', '1 party')
    >>> units_in_words(65, "sitting_no")
    '65 units (sitting_no)'
    """
    known = _known_plural(name)
    what = name.lower() if known and name else "unit"
    called = "" if known or name is None else f" ({name})"
    return f"{n:,} {what if n == 1 else _plural(what)}{called}"


def _plural(word):
    """The plural of a word by its ending."""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(_HISSING) else f"{word}s"


def from_units(n: int, name: str | None = None) -> str:
    """Whose texts are, behind a number of them: ``"by 65 speakers"``, ``"from 12 books"``."""
    by = name is not None and name.lower() in _PEOPLE
    return f"{'by' if by else 'from'} {units_in_words(n, name)}"


def _known_plural(name):
    return name is not None and name.lower() in _PEOPLE | _THINGS


def one_unit_called(name: str | None) -> str:
    """What a unit is called, by the name of its column where it has one.

    Examples
    --------
    >>> from skbayesembed.posterior.sources import one_unit_called
    >>> one_unit_called("speaker"), one_unit_called("sitting_no"), one_unit_called(None)
    ('speaker', 'unit', 'unit')
    """
    return name.lower() if name is not None and _known_plural(name) else "unit"


def later_name(name: str | None) -> str | None:
    """What units are called where their name was told before: by it, but not behind "units"."""
    return name if _known_plural(name) else None


def units_called(name: str | None) -> str:
    """What several units are called, without their number.

    Examples
    --------
    >>> from skbayesembed.posterior.sources import units_called
    >>> units_called("speaker"), units_called("sitting_no"), units_called(None)
    ('speakers', 'units', 'units')
    """
    return units_in_words(2, later_name(name)).removeprefix("2 ")


def name_of_units(estimator: Any) -> str | None:
    """The name of the column that units were given as; None where it has none."""
    name: str | None = getattr(estimator, "units_name_", None)
    return name


def name_of_sampled(estimator: Any) -> str | None:
    """What the units of a fit are called: by their column, or documents where each is one.

    None of units that were given without a name.
    """
    name = name_of_units(estimator)
    n_units, n_documents = (
        estimator.posterior_.attrs.get(f"n_{x}") for x in ("units", "documents")
    )
    return "document" if name is None and n_units == n_documents is not None else name


def sampled_units(found: Any) -> tuple[int | None, str | None]:
    """Number of units whose sampling intervals allow for, and what one of them is called.

    Parameters
    ----------
    found : Answer or Table
        None, and whatever does not know of units, has neither.
    """
    of = getattr(found, "answer", found)
    n = getattr(of, "of_units", getattr(of, "n_units", None))
    name = getattr(of, "units_name", None)
    return n if isinstance(n, int) else None, name or getattr(of, "_units_called", None)


def note_on_units(estimator: Any, n_units: int | None) -> list[str]:
    """Line below a table that says what its units are, where they are not the documents."""
    name = name_of_units(estimator)
    if n_units is None or (name is None and name_of_sampled(estimator) is not None):
        return []
    return [f"(of {units_in_words(n_units, name)})"]


def note_on_thinned(posterior: Any) -> list[str]:
    """Line below a table by units whose means are those of some draws, or none."""
    return [_NOTES_BESIDES[THINNED]] if _is_thinned(posterior) else []


def draws_afresh(posterior: Any) -> bool:
    """Whether answers draw vectors of words from the approximation, not of recorded draws.

    That of drifting words is drawn from word by word.
    """
    return hasattr(getattr(posterior, "approximation", None), "draw_words")


def has_vector_draws(posterior: Any) -> bool:
    """Whether there are draws of vectors of words: recorded ones, or those made for answers."""
    return "rho" in posterior or draws_afresh(posterior)


def _is_thinned(posterior):
    """Whether answers are of those draws alone that were kept."""
    return THINNED_FROM in posterior.attrs and not draws_afresh(posterior)


def note_on_few_units(n_units: Any) -> list[str]:
    """Line below a table with answers that rest on few effective units, or none.

    Parameters
    ----------
    n_units : float or ndarray of float
        Of each answer; NaN where it is not known.

    Examples
    --------
    >>> from skbayesembed.posterior.sources import note_on_few_units
    >>> note_on_few_units(2.0), note_on_few_units([2.0, 9.0, float("nan")])
    (['(fewer than 3 effective units: the interval is rough)'], \
['(fewer than 3 effective units in 1 of 3 rows: intervals there are rough)'])
    """
    few = np.asarray(n_units, dtype=float) < FEW_UNITS
    if not few.any():
        return []
    rows = f" in {np.count_nonzero(few)} of {few.size} rows" if few.ndim else ""
    rough = "intervals there are" if few.ndim else "the interval is"
    return [f"(fewer than {FEW_UNITS} effective units{rows}: {rough} rough)"]


def where_few(found: Mapping[str, Any]) -> str:
    """In which periods an answer about words over time has too little text, in words.

    Where others are held against a ``reference``, they lack what this one lacks.
    """
    n, periods = np.count_nonzero(found["few_pairs"]), list(found.get("periods", []))
    where = "1 period" if n == 1 else f"{n} periods"
    if "reference" not in found or n < len(periods):
        return where
    if found["reference"] in periods:
        return f"the reference, {found['reference']}"
    return f"{where}, or in the reference, {found['reference']}"


def note_on_words_of_units(estimator: Any) -> list[str]:
    """Line below tables of words of a fit with units, which its intervals do not allow for."""
    if getattr(estimator, "units_", None) is None:
        return []
    name = name_of_units(estimator)
    one = name.lower() if name and _known_plural(name) else "unit"
    return [f"(intervals are of the model alone: words of one {one} are treated as independent)"]


def note_on_means(mean: np.ndarray, interval: np.ndarray) -> list[str]:
    """Line below a table with means outside their highest density intervals, or none.

    Parameters
    ----------
    mean : ndarray of shape (...)
    interval : ndarray of shape (..., 2)
    """
    low, high = np.moveaxis(interval, -1, 0)
    # what prints as one number is not outside; of a point the three are one, up to rounding
    mean, low, high = (np.round(x, _DIGITS) for x in (mean, low, high))
    n = np.count_nonzero((mean < low - _ROUNDING) | (mean > high + _ROUNDING))
    if n == 0:
        return []
    where = "1 row" if n == 1 else f"{n} rows"
    return [
        f"(in {where} the mean is outside the interval, which holds the most probable values: most "
        "draws are close together, as next to 0 or 1, and a few far from there)"
    ]


def notes_on(source: str | None, found: Any = None) -> list[str]:
    """Lines below a table with intervals that rest on ``source``.

    Those of a table or answer that is ``found`` call its units by their name.

    Examples
    --------
    >>> from skbayesembed.posterior.results import About, Result
    >>> from skbayesembed.posterior.sources import notes_on
    >>> notes_on("posterior, other units", Result({}, About(units_name="speaker")))
    ['(intervals allow for speakers other than those seen)']
    """
    base, *besides = (source or "").split(", ")
    notes = [_NOTES[base]] if base in _NOTES else []
    called = units_called(sampled_units(found)[1])
    texts = {OTHERS: _NOTES_BESIDES[OTHERS].replace("units", called)}
    return notes + [(_NOTES_BESIDES | texts)[what] for what in besides]


def interval_label(
    prob: float, source: str | None, what: str = "interval", found: Any = None
) -> str:
    """How a figure calls an interval, as ``"90 % interval (VI, may be too narrow)"``.

    Parameters
    ----------
    prob : float
    source : str or None
        As of `source_of`; of a point estimate the label says that there is no interval.
    what : str, default="interval"
        What is drawn: an interval, a band, an ellipse.
    found : Answer or Table, optional
        That knows what its units are called.

    Examples
    --------
    >>> from skbayesembed.posterior.results import About, Result
    >>> from skbayesembed.posterior.sources import interval_label
    >>> found = Result({}, About(units_name="speaker"))
    >>> interval_label(0.9, "posterior, other units", found=found)
    '90 % interval (of the model and speakers)'
    """
    if source == "point":
        return f"point estimate, no {what}"
    if is_unmixed(source):
        return f"{100 * prob:g} % {what} ({_SUFFIXES['unmixed']})"
    base, *besides = (source or "").split(", ")
    called = units_in_words(2, sampled_units(found)[1]).removeprefix("2 ")
    # a column that is no word for units, without brackets in brackets
    called = called.replace(" (", ": ").removesuffix(")")
    of_one = [ONE_MODE] if ONE_MODE in besides else []
    besides = [what for what in besides if what not in (INDEPENDENT, THINNED, ONE_MODE)]
    besides = [called if what == OTHERS else what for what in besides]
    suffix = _SUFFIXES.get(base, "").replace("units", called)
    if besides:
        suffix += f"{' and' if base == 'posterior' else ', with'} {' and '.join(besides)}"
    suffix = ", ".join([*([suffix] if suffix else []), *of_one])
    return f"{100 * prob:g} % {what}" + (f" ({suffix})" if suffix else "")

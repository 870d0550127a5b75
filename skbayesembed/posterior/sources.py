"""What intervals rest on, and how tables and figures say it."""

from __future__ import annotations

from typing import Any

import numpy as np

# With fewer effective units intervals are rough: 90 % ones hold the truth some 80 times of 100.
FEW_UNITS = 3
# With fewer uses of a word in a period, or in fewer units of it, what is said of the word there is
# what the prior makes of other periods.
FEWEST_USES = 10
TOO_LITTLE = f"fewer than {FEWEST_USES} uses or {FEW_UNITS} units"
# Below tables, of what other periods lend; the head of the column.
UNITS_OF_ALL = "units, all periods"
NOTE_ON_UNITS = (
    f"({UNITS_OF_ALL}: effective units behind the answer, including those borrowed from other "
    "periods)"
)

# Differences of probabilities that are none.
_ROUNDING = 1e-12
# Of a table, below it.
_NOTES = {
    "point": "(a point estimate: its intervals have no width)",
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
# In a figure.
_CALLED = {OTHERS: "units"}
_NOTES_BESIDES = {
    VECTORS: "(intervals include the uncertainty of the word vectors)",
    OTHERS: "(intervals allow for units other than those seen)",
    INDEPENDENT: "(snippets are treated as independent: if works, authors or speakers were "
    "sampled, pass units= to fit, with solver='hmc')",
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
        where word vectors were drawn, and ``"other units"`` or ``"independent"``, as ``of_works``
        is True or False: ``"posterior, vectors, other units"``.
    """
    if by_units:
        return "units"
    source = source_of_posterior(estimator.posterior_)
    if source == "posterior" and hasattr(estimator, "uncertainty"):
        return "model"
    if of_works is None or source == "point":
        return source
    return f"{source}, {OTHERS if of_works else INDEPENDENT}"


def source_of_posterior(posterior: Any) -> str:
    """What intervals of draws in a `Posterior` rest on, as of `source_of`."""
    solver = posterior.attrs.get("solver")
    known = {"map": "point", "vi": "vi", "laplace": "laplace"}
    of_chains = "unmixed" if posterior.attrs.get("converged") is False else "posterior"
    source = known.get(solver, of_chains)
    return f"{source}, {VECTORS}" if posterior.n_runs > 1 else source


def note_on_periods(n: int, what: str) -> str:
    """Line below a table of periods of which ``n`` have next to no data, ``what`` says how few."""
    where = "1 period" if n == 1 else f"{n} periods"
    return f"({what} in {where}: figures there are the prior's extrapolation from other periods)"


def units_called(estimator: Any) -> str:
    """The name of the column that units were given as, in brackets; empty where it has none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from skbayesembed.posterior.sources import units_called
    >>> f"42 units{units_called(SimpleNamespace(units_name_='president'))}"
    '42 units (president)'
    """
    name = getattr(estimator, "units_name_", None)
    return "" if name is None else f" ({name})"


def note_on_units(estimator: Any, n_units: int | None) -> list[str]:
    """Line below a table that says what its units are, where their column has a name."""
    called = units_called(estimator)
    return [f"(of {n_units:,} units{called})"] if called and n_units is not None else []


def note_on_means(mean: np.ndarray, interval: np.ndarray) -> list[str]:
    """Line below a table with means outside their highest density intervals, or none.

    Parameters
    ----------
    mean : ndarray of shape (...)
    interval : ndarray of shape (..., 2)
    """
    low, high = np.moveaxis(interval, -1, 0)
    # of a point the three are one number, up to rounding
    n = np.count_nonzero((mean < low - _ROUNDING) | (mean > high + _ROUNDING))
    if n == 0:
        return []
    where = "1 row" if n == 1 else f"{n} rows"
    return [
        f"(in {where} the mean is outside the interval, which holds the most probable values: most "
        "draws are next to 0 or 1, and a few far from there)"
    ]


def notes_on(source: str | None) -> list[str]:
    """Lines below a table with intervals that rest on ``source``."""
    base, *besides = (source or "").split(", ")
    notes = [_NOTES[base]] if base in _NOTES else []
    return notes + [_NOTES_BESIDES[what] for what in besides]


def interval_label(prob: float, source: str | None, what: str = "interval") -> str:
    """How a figure calls an interval, as ``"90 % interval (VI, may be too narrow)"``.

    Parameters
    ----------
    prob : float
    source : str or None
        As of `source_of`; of a point estimate the label says that there is no interval.
    what : str, default="interval"
        What is drawn: an interval, a band, an ellipse.
    """
    if source == "point":
        return f"point estimate, no {what}"
    base, *besides = (source or "").split(", ")
    besides = [_CALLED.get(what, what) for what in besides if what != INDEPENDENT]
    suffix = _SUFFIXES.get(base, "")
    if besides:
        suffix += f"{' and' if base == 'posterior' else ', with'} {' and '.join(besides)}"
    return f"{100 * prob:g} % {what}" + (f" ({suffix})" if suffix else "")

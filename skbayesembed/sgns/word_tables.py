"""What tables about words have in common: periods in words, want of text, units, data frames."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import numpy as np

from ..posterior.cells import cut_lists, dashed, repeated
from ..posterior.result_table import IN_FRAME
from ..posterior.sources import FEW_UNITS, NOTE_ON_UNITS, TOO_LITTLE, UNITS_OF_ALL
from ..posterior.tables import Column


def units_notes(table):
    """Notes on the units of a table's words, and on those that few of them tell of."""
    if table.n_units is None:
        return []
    notes = [NOTE_ON_UNITS] if table._lent else []
    few = _listed(table, table.n_units < FEW_UNITS)
    if not few:
        return notes
    return [*notes, f"(fewer than {FEW_UNITS} effective units, so that intervals are rough: {few})"]


def of_period(table):
    """What a title says of a table's period, nothing without one."""
    return "" if table.period is None else f", {table.period}"


def few_notes(table):
    """The line on what a table has next to no text of in its period, or none."""
    if table.few is None or not table.few.any():
        return []
    of = _listed(table, table.few)
    rows = "all rows" if table.few.all() else f"the rows of {of}"
    return [f"({TOO_LITTLE} in {table.period} of a word behind {rows}: dashes; {IN_FRAME})"]


def _listed(table, rows):
    """Words of some rows, a mask, as the table has them."""
    return ", ".join(compress(cut_lists(table.words), rows))


def unknown_where(proba, few):
    """Probabilities, NaN where the prior alone would say them."""
    return proba if few is None else np.where(few, np.nan, proba)


def framed(table, series, **asked):
    """Columns of a data frame: what was asked, the period, and others.

    Monte Carlo errors stand behind the ends of intervals; at the end, in a period, which rows have
    too little text there.
    """
    asked |= {} if table.period is None else {"period": table.period}
    ahead = {name: repeated(value, len(table.words)) for name, value in asked.items()}
    few = {} if table.few_pairs is None else {"few_pairs": table.few_pairs}
    return ahead | _with_errors(table, series) | few


def in_words_of_period(table):
    """What a sentence says of a table's period, nothing without one."""
    return "" if table.period is None else f" in {table.period}"


def without_data(table, asked):
    """The sentence on a row about which the prior alone would say something."""
    return (
        f"There are too few data to say {asked}{in_words_of_period(table)}: there are {TOO_LITTLE} "
        "of a word behind it."
    )


def in_period(table, label, asides=()):
    """A table of a period, without the units of other periods where it has next to no text."""
    n_units = table.n_units
    if n_units is not None and table.few_pairs is not None:
        n_units = np.where(table.few_pairs, np.nan, n_units)
    found = replace(table, period=label, n_units=n_units)
    return found._resting_on(table.source, asides)._of_periods()


def units_columns(table, names):
    """The column of effective units of a table, of those names in a data frame; none without."""
    if table.n_units is None:
        return []
    head = UNITS_OF_ALL if table._lent else "units"
    return [Column(f"{head:>7}", table.n_units, names, dashed(".1f"))]


def _with_errors(table, series):
    """Columns of a data frame, with the Monte Carlo errors of ends of intervals after these."""
    if table.interval_mcse is None:
        return series
    errors = {f"{end}_mcse": table.interval_mcse[:, i] for i, end in enumerate(("low", "high"))}
    out = {}
    for name, values in series.items():
        out[name] = values
        if name == "high":
            out |= errors
    return out

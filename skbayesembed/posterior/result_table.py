"""The table that a `results.Result` prints as, and the lines below it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .cells import amounts, both_amounts, cut_lists, dashed, p_values, readable_numbers, repeated
from .deciding import MIXING, NO_DATA, SIDES, hangs_on_draws, note_on_mixing, surely
from .sources import (
    AT_MODE,
    TOO_LITTLE,
    UNITS_OF_ALL,
    note_on_few_units,
    note_on_lent,
    notes_on,
    where_few,
)
from .tables import Column, Table, frame_of

if TYPE_CHECKING:
    import pandas as pd

# Rows that are printed of a longer table.
MAX_ROWS = 20
# How entries are printed; others as many digits as they need.
_SHOWS = {"mean": dashed(".3f"), "sd": dashed(".3f"), "seen": dashed(".3f"),
          "seen_alike": dashed(".3f"), "p_value": p_values,
          "known": dashed(".2f"), "elpd": ".1f", "se": ".1f", "p_loo": ".1f",
          "p_waic": ".1f", "sampling_se": ".1f", "n_observations": amounts, "good_k": ".2f",
          "bad_share": ".2g"}  # fmt: skip
# Of tests that deal words out anew, below their tables.
TWO_QUESTIONS = (
    "(the interval and p answer different questions: the interval is for these words in other "
    "samples of text; p is the share of ways of dealing the words of the first two lists into two "
    "groups that give an effect at least as large; for an effect below zero, swap these lists)"
)
# Of scores of models, below their tables.
_OF_UNITS = (
    "({} treated as independent, although {} units: standard errors may be too small; score_units "
    "holds out units)"
)
UNMIXED_SCORE = "(the chains have not mixed: elpd is that of the part of the posterior they are in)"
SCORE_OF_ONE = "({} modes of the posterior matter: elpd is that of one of them; see modes_)"
_OF_PARETO = (
    "(where an observation's Pareto k is above good_k, its part of elpd is not reliable: bad_share "
    "is the share of these)"
)
# What entries are called in print.
_HEADS = {"seen": "by snippet", "seen_alike": "by unit"}
# Of effective units.
_UNITS = ("n_units", "units")
# Entries that are not printed where the prior alone would answer, and where they are then.
_OF_DATA = ("mean", "sd", "interval")
IN_FRAME = "data frames have the prior's extrapolation from other periods"
# Of answers that hold periods against one of them.
_OF_PAIRS = "(pairs: of the period or of the reference, whichever has fewer)"
# Verdicts, and what says how sure they are.
_VERDICTS = {
    "verdict": ("verdict", "interval", "interval_mcse", "threshold", *SIDES),
    "seen_verdict": ("seen_verdict", "seen_interval", "seen_prob_increase"),
}
# Entries that tables and data frames do without.
_OF_DRAWS = ("draws", "freedom")
# Parts of others, in the data frame only.
_NOT_PRINTED = ("sd_sampling", "sd_prior", "times", "n_first", "sentence", "converged",
                "modes_that_matter", "few_pairs", *MIXING, "uses", "seen_interval",
                "seen_verdict", "seen_prob_increase")  # fmt: skip


class ResultTable(Table):
    """The table that a `results.Result` prints as."""

    _max_rows = MAX_ROWS

    def __init__(self, result: Any) -> None:
        self._result, self._about = result, result._about
        self.source = result.source
        self._shape = tuple(len(labels) for labels in self._about.axes.values())

    def _values(self):
        """Entries with a value for each row: name, flat array, and whether they vary by row."""
        n, size = len(self._shape), int(np.prod(self._shape))
        for name, value in self._result.items():
            labels = {name, name.removesuffix("s")} & set(self._about.axes)
            if name in _OF_DRAWS or labels or not _is_plain(value):
                continue
            end = (2,) if name in self._about.ends or _is_move(value) else ()
            array = np.asarray(value)
            ahead = array.shape[: array.ndim - len(end)]
            if ahead != self._shape[: len(ahead)] or array.shape[len(ahead) :] != end:
                continue
            full = array.reshape((*ahead, *[1] * (n - len(ahead)), *end))
            full = np.broadcast_to(full, (*self._shape, *end)).reshape((size, *end))
            yield name, full, len(ahead) > 0 or not n

    def _labels(self):
        """Columns of the labels of rows, a dict of arrays by name."""
        places = np.indices(self._shape).reshape(len(self._shape), int(np.prod(self._shape)))
        return {
            name: _objects(labels)[place]
            for (name, labels), place in zip(self._about.axes.items(), places, strict=True)
        }

    def _columns(self):
        return self._found

    @cached_property
    def _found(self):
        # texts of labels are made of the rows that are printed
        columns = [
            Column(
                name,
                labels,
                (name,),
                cut_lists if name == "word" else _texts,
                left=not _numbers(self._about.axes[name]),
            )
            for name, labels in self._labels().items()
        ]
        for name, values, varies in self._values():
            if varies and name not in self._left_out():
                values = self._without_data(name, self._surely(name, values))
                show = self._chances if _is_chance(name) else _show(name, values)
                show = _of_both if _is_move(self._result[name]) else show
                columns.append(Column(self._head(name), values, (name,), show))
        return columns or [Column("entries", [", ".join(self._result)], ())]

    @cached_property
    def _few(self):
        """Rows of which the prior alone would say what there is, bool; of words over time."""
        found, size = self._result, int(np.prod(self._shape))
        few = found.get("few_pairs", False)
        if "verdict" in found and "snippets" not in found:
            few = np.asarray(found["verdict"]) == NO_DATA
        # those of two periods are a pair
        few = np.asarray(any(few) if isinstance(few, tuple) else few)
        if few.size == 1:
            return np.full(size, few.item())
        if few.shape != self._shape[: few.ndim]:
            return np.zeros(size, bool)
        few = few.reshape(few.shape + (1,) * (len(self._shape) - few.ndim))
        return np.broadcast_to(few, self._shape).ravel()

    def _where_few(self):
        """In which periods there is too little text; nothing where rows are none."""
        of_periods = any(name.startswith("period") for name in self._about.axes)
        if not of_periods and not isinstance(self._result["few_pairs"], tuple):
            return ""
        return f" in {where_few(self._result)}"

    def _without_data(self, name, values):
        """Values in print: a dash for what the prior alone would say; data frames have it."""
        if not (name in _OF_DATA or name.startswith("prob")) or not self._few.any():
            return values
        few = self._few[:, None] if values.ndim > 1 else self._few
        return np.where(few, np.nan, values)

    def _surely(self, name, values):
        """Values, of verdicts those that are told: with a "probably" where they are only that."""
        if name not in _VERDICTS:
            return values
        of = {part: self._result.get(part) for part in _VERDICTS[name]}
        of = {part.removeprefix("seen_"): value for part, value in of.items() if value is not None}
        return np.broadcast_to(np.ravel(surely(of, of.get("threshold", 0.0))), values.shape)

    @cached_property
    def _hangs(self):
        found = self._result
        return np.asarray(hangs_on_draws(found, found.get("threshold", 0.0)))

    def _shown_once(self, name, value):
        """Text of an entry that is the same in all rows."""
        return (self._chances if _is_chance(name) else _texts)([value])[0]

    def _left_out(self):
        # units of both periods say what the fewest of them are
        return (*_NOT_PRINTED, *(["n_units"] if "units" in self._result else []))

    def _head(self, name):
        if name in _UNITS and self._about.lent:
            return UNITS_OF_ALL
        if name == "mean" and self.source == "point":
            return AT_MODE
        if name != "interval" or self._about.prob is None:
            return _HEADS.get(name, name)
        return f"{100 * self._about.prob:g} % interval"

    def _series(self, sentence=False):
        asked = self._about.asked.items()
        series = {name: repeated(value, int(np.prod(self._shape))) for name, value in asked}
        series |= self._labels()
        for name, values, _ in self._values():
            if name == "sentence" and not sentence:
                continue
            if name == "sentence" and "sentences" in self._result:
                # each row has its own
                values = np.array(list(self._result["sentences"].values()), dtype=object)
            if _is_move(self._result[name]):
                series |= {f"{name}_{end}": values[:, i] for i, end in enumerate(("start", "end"))}
            elif name in self._about.ends:
                ahead = "" if name == "interval" else f"{name}_"
                series |= {f"{ahead}{end}": values[:, i] for i, end in enumerate(("low", "high"))}
            else:
                series[name] = self._surely(name, values)
        errors = self._result.get("interval_mcse")
        if errors is not None:
            low, high = np.reshape(errors, (-1, 2)).T
            series |= {"low_mcse": low, "high_mcse": high}
            if "verdict" in self._result:
                series["hangs_on_draws"] = self._hangs.ravel()
        return series

    def to_frame(self, *, sentence: bool = False) -> pd.DataFrame:
        """Return the table as a pandas DataFrame; see `Result.to_frame`."""
        return frame_of({name: list(values) for name, values in self._series(sentence).items()})

    def _title(self):
        return self._about.title

    def _notes(self):
        same = [
            (name, self._surely(name, values)[0])
            for name, values, varies in self._values()
            if not varies
        ]
        once = [(name, value) for name, value in same if name != "sentence"]
        notes = [f"{name}: {self._shown_once(name, value)}" for name, value in once]
        if self._few.any():
            # a verdict says so in a sentence of its own
            told = "verdict" in self._result
            why = "no data" if told else f"{TOO_LITTLE}{self._where_few()}"
            mean = self._result.get("mean")
            hidden = mean is None or np.isfinite(np.ravel(mean)[self._few]).any()
            notes.append(f"({why}: a dash{f'; {IN_FRAME}' if hidden else ''})")
        if {"pairs", "reference"} <= set(self._result):
            notes.append(_OF_PAIRS)
        if "n_splits" in self._result:
            notes.append(TWO_QUESTIONS)
        if "elpd" in self._result and "n_units" in self._result:
            notes.append(note_on_score(self._result))
        if "good_k" in self._result:
            notes.append(_OF_PARETO)
        if self._result.get("converged") is False:
            notes.append(UNMIXED_SCORE)
        if self._result.get("modes_that_matter", 1) > 1:
            notes.append(SCORE_OF_ONE.format(self._result["modes_that_matter"]))
        if self._about.lent and any(name in self._result for name in _UNITS):
            notes.append(note_on_lent("units" in self._result))
        if "interval" in self._result:
            notes += note_on_few_units(self._result.get("n_units", np.inf))
            notes += note_on_mixing(self._result)
        return [*notes, *notes_on(self._about.source, self._result), *self._about.asides]


def _of_both(values):
    return both_amounts(*np.transpose(values))


def _is_chance(name):
    """Whether an entry is a probability."""
    return name.startswith("prob") or name == "never"


def _is_plain(value):
    """Whether an entry is a number, a text, or an array or list of them."""
    if isinstance(value, Number | str | np.ndarray) or _is_move(value):
        return True
    return isinstance(value, list) and all(isinstance(v, Number | str) for v in np.ravel(value))


def _is_move(value):
    """Whether an entry has two numbers, one of the start and one of the end."""
    return (
        isinstance(value, tuple) and len(value) == 2 and all(isinstance(v, Number) for v in value)
    )


def _objects(labels):
    """Labels as an array of whatever they are."""
    out = np.empty(len(labels), dtype=object)
    out[:] = [label.item() if isinstance(label, np.generic) else label for label in labels]
    return out


def _numbers(labels):
    return all(isinstance(label, Number) for label in labels)


def _texts(values):
    return [f"{v:.4g}" if isinstance(v, float) else str(v) for v in values]


def _show(name, values):
    if name == "pairs":
        return amounts
    if name == "n_units":
        return ".0f" if values.dtype.kind == "i" else dashed(".1f")
    if name in _SHOWS or name.startswith("share"):
        return _SHOWS.get(name, ".2f")
    if values.dtype.kind in "fc" and values.ndim == 1:
        return readable_numbers
    if values.dtype.kind == "f":
        return ".3f"
    return lambda cells: [str(v) for v in cells]


def note_on_score(found: Mapping[str, Any]) -> str:
    """Line below scores of single observations that know of ``n_units`` and do not allow for it."""
    n = found["n_units"]
    if "n_observations" in found:
        return _OF_UNITS.format("pairs of words", f"they are of {n}")
    return _OF_UNITS.format("snippets", f"fit was told of {n}")

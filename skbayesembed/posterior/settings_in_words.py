"""Answers to one question under several settings in words: sentences, and lines below a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cells import bounded, number
from .deciding import NO_DATA, SIGNED
from .sentences import (
    capital,
    decimals,
    digits_to_tell,
    ended,
    interval_in_words,
    joined,
    rounded,
)
from .settings_sources import number_of, on_sources
from .sources import is_unmixed

# Entries of a sequence that are printed.
MOST_ENTRIES = 3
# Digits after the point of numbers in sentences, at least, where all are below the second.
_LEAST_DIGITS, _ONE_DIGIT = 2, 10.0
# Digits after the point of a table, fewest and most.
_FEWEST_DIGITS, _MOST_DIGITS = 3, 8
# The verdict of `nearer` on its first row, and what it is on the others.
NEAREST, NOT_NEAREST = "nearest", "not nearest"
# The verdict of lengths that are not zero.
LENGTHS = "differs"
# Of settings whose senses or topics are others, in sentences.
_OTHERS = (
    "In {0} the {1}s are not those of the setting that they are compared with, or have other "
    "numbers, so that answers may be about another {1} (the table's notes say which)"
)
# What all intervals share.
_FROM = "the values from"
# Letters of settings that sentences name.
_LETTERS = 60


class SettingsInWords:
    """What `OverSettings` says of its rows."""

    params: list[dict[str, Any]]
    entries: list[str]
    mean: np.ndarray
    source: str | None
    proba_of: str | None

    @property
    def sentences(self) -> dict[str, str]:
        """Each entry of the answers in words, to be copied, by its name."""
        # settings that failed have no entries
        entries = [entry for entry in dict.fromkeys(self.entries) if entry] or [""]
        return {entry: self._in_words(entry) for entry in entries}

    @property
    def sentence(self) -> str:
        """The table in words, to be copied."""
        if self.proba_of == "prob_nearest" and any(self.entries):
            return self._on_nearest()
        return " ".join(self.sentences.values())

    def _on_nearest(self):
        """Which of several words is the nearest: by probabilities, as cosines do not tell it."""
        without = np.array([verdict == NO_DATA for verdict in self.verdicts])
        rows = np.flatnonzero(np.isfinite(self.proba) & ~without)
        settings = [str(one) for one in self.params]
        n, known = len(set(settings)), {settings[row] for row in rows}
        over = f"{number_of(n, 'setting')} ({self._values()})"
        if not known:
            return f"None of {over} answers which of these is the nearest."
        entries = np.array(self.entries)
        of = [(entry, rows[entries[rows] == entry]) for entry in dict.fromkeys(entries[rows])]
        parts = [f"Over {over}, P(nearest) is {joined([self._chances_of(*one) for one in of])}"]
        told = [(entry, [self.verdicts[row] == NEAREST for row in mine]) for entry, mine in of]
        told = [f"{str(entry)!r} in {sum(nearest)}" for entry, nearest in told if any(nearest)]
        decided = "not decided in any setting"
        if told:
            decided = f"decided for {joined(told)} of {number_of(len(known), 'setting')}"
        parts.append(f"Which is the nearest is {decided}")
        if n > len(known):
            parts.append(f"Left out: {number_of(n - len(known), 'setting')} without an answer")
        parts += [capital(line) for line in self._on_sources()]
        return ended(". ".join(parts), self.source, found=self, several=True)

    def _chances_of(self, entry, rows):
        """From where to where the probability of an entry lies, and with the own setting."""
        proba = self.proba[rows]
        ends = dict.fromkeys(bounded([proba.min(), proba.max()]))
        own = bounded(proba[self.own[rows]])
        mine = f" ({own[0]} with our own setting)" if own and len(ends) > 1 else ""
        return f"{' to '.join(ends)} for {str(entry)!r}{mine}"

    def _in_words(self, entry):
        here, without = self._answers_on(entry)
        rows, apart = self._mixed(here[~without])
        n = len({str(one) for one in self.params})
        over = f"{number_of(n, 'setting')} ({self._values()})"
        answered = {str(p) for p, m in zip(self.params, self.mean, strict=True) if np.isfinite(m)}
        other = "whose answer is about others" if entry else ""
        left_out = [("without an answer", n - len(answered)), (other, len(answered) - here.size),
                    ("with too few data", without.sum()),
                    (f"whose chains have not mixed{self._named(apart)}", apart.size)]  # fmt: skip
        left_out = [f"{number_of(k, 'setting')} {why}" for why, k in left_out if k]
        text = f"Over {over}{self._range(rows, entry)}" if rows.size else f"None of {over} answers"
        # a line on changes is of several
        told = self._decided(rows) if rows.size > 1 else []
        parts = [text, capital("; ".join(told))] if told else [text]
        others = rows[:0] if self._of_others is None else rows[self._of_others[rows]]
        if others.size:
            where = number_of(others.size, "setting") + self._named(others)
            parts.append(_OTHERS.format(where, self._what or "sense"))
        if rows.size and self.source is None and self._all_unmixed(rows):
            parts.append("In all of these the chains have not mixed: do not use this answer")
        parts += [f"Left out: {joined(left_out)}"] if left_out and rows.size else []
        parts += [capital(line) for line in self._on_sources(here, unmixed_too=False)]
        return ended(". ".join(parts), self.source, found=self, several=True)

    def _all_unmixed(self, rows):
        """Whether the chains of all of some rows have not mixed."""
        return bool(self.sources) and all(is_unmixed(self.sources[row]) for row in rows)

    def _mixed(self, rows):
        """Those of some rows whose chains have mixed, and the others; all if none have."""
        sources = self.sources or [None] * len(self.params)
        unmixed = np.array([is_unmixed(sources[row]) for row in rows], bool)
        if self.source is not None or unmixed.all():
            unmixed[:] = False
        return rows[~unmixed], rows[unmixed]

    def _named(self, rows):
        """Settings of some rows in brackets, behind their number; empty where they are long."""
        text = "; ".join(dict.fromkeys(self.settings[row] for row in rows))
        return f" ({text.replace(' (own)', '')})" if 0 < len(text) <= _LETTERS else ""

    def _answers_on(self, entry):
        """Rows with an answer about an entry, and whether each of them has no data."""
        here = np.flatnonzero(np.isfinite(self.mean) & (np.array(self.entries) == entry))
        return here, np.array([self.verdicts[row] == NO_DATA for row in here], bool)

    def _range(self, rows, entry):
        """From where to where estimates lie, and what the own setting gives, clauses."""
        mean, interval = self.mean[rows], self.interval[rows]
        sizes = _sizes([*mean, *interval.ravel()])
        size = max(sizes)
        # more where an interval would be rounded onto zero
        least = _LEAST_DIGITS if size < _ONE_DIGIT else 0
        least = digits_to_tell(sizes, decimals(size, least, _MOST_DIGITS))

        def shown(*values):
            # as many digits as the largest number of all has
            return rounded([*values, size], least=least)[:-1]

        of = f" for {entry!r}" if entry else ""
        if self.title is not None:
            title = (self._whole or self.title).replace(", less ", " less the ")
            of = f"{of} ({title})" if entry else f" of the {title}"
        ends = list(dict.fromkeys(shown(mean.min(), mean.max())))
        where = "is" if len(ends) == 1 else "lies between"
        unmixed = is_unmixed(self.source)
        several = self._held(rows).size > 1 and not unmixed
        shared = self._shared(rows, lambda value: shown(value)[0]) if several else ""
        if self.prob is not None:
            shared = shared.replace("intervals", f"of the {100 * self.prob:g}% intervals")
            # what intervals share is narrower than each of them, and is not one itself
            shared += ", a range without a probability of its own" * (_FROM in shared)
        text = f", the estimate{of} {where} {' and '.join(ends)}{shared}"
        mine = rows[self.own[rows]]
        if not mine.size or rows.size == 1:
            return text
        value, (low, high) = self.mean[mine[0]], self.interval[mine[0]]
        own = f". With our own setting ({self._values(mine)}) it is {shown(value)[0]}"
        if self.prob is None or unmixed or not np.isfinite([low, high]).all():
            return f"{text}{own}"
        return f"{text}{own} ({interval_in_words(*shown(low, high), self.prob)})"

    def _held(self, rows):
        """Those of some rows that have an interval of the posterior, or of units."""
        return rows[np.isfinite(self.interval[rows]).all(axis=1)]

    def _on_sources(self, rows=None, **options):
        """What intervals of some rows, or all, rest on where settings differ in it, clauses.

        The chains of a setting have not mixed where they have for none of its rows.
        """
        sources: dict[str, str | None] = {}
        for row in range(len(self.sources or [])) if rows is None or not self.sources else rows:
            setting, source = str(self.params[row]), self.sources[row]
            if setting not in sources or is_unmixed(sources[setting]):
                sources[setting] = source
        return on_sources(sources, self.units_name, **options)

    def _values(self, rows=None):
        """Values of each parameter, in some rows or all, as in ``"window 2, 5; draws 100"``."""
        found: dict[str, list] = {}
        for one in self.params if rows is None else [self.params[row] for row in rows]:
            for name, value in one.items():
                found.setdefault(name, []).append(brief(value, MOST_ENTRIES))
        return "; ".join(f"{name} {_in_order(values)}" for name, values in found.items())

    def _over(self, rows):
        """What an answer is over the rows of several settings, a list of texts."""
        mean = self.mean[rows]
        # distances are held against a threshold each, on a scale of its own
        if self.proba_of == "prob_exceeds":
            return self._decided(rows)
        spec = self._spec_of(self.entries[rows[0]])

        def shown(value):
            return number(value, spec)

        line = f"estimates from {shown(mean.min())} to {shown(mean.max())}"
        return [f"{line}{self._shared(rows, shown)}", *self._decided(rows)]

    def _spec_of(self, entry):
        """How numbers about an entry are printed: all with the digits that its intervals need."""
        rows = np.array(self.entries) == entry
        width = np.ptp(self.interval[rows], axis=1)
        ends = _sizes(self.interval[rows])
        digits = decimals(
            np.min(width, initial=np.inf, where=width > 0) / 4.0, _FEWEST_DIGITS, _MOST_DIGITS
        )
        return f".{digits_to_tell(ends, digits, _MOST_DIGITS)}f"

    def _shared(self, rows, shown):
        """What all intervals of some rows contain, a clause; empty of fewer than two."""
        if self.proba_of == "prob_exceeds":
            # distances of settings are on scales of their own
            settings, verdicts = self.settings, self._surely()
            told = [f"{settings[row]}: {verdicts[row]}" for row in rows if verdicts[row]]
            said = f" ({', '.join(told)})" if told else ""
            return f"; each setting has a scale and a threshold of its own{said}"
        rows = self._held(rows)
        n, interval = rows.size, self.interval[rows]
        if n < 2:
            return ""
        low, high = interval[:, 0].max(), interval[:, 1].min()
        if low > high:
            return f"; no value is in {_all(n, 'interval')}"
        ends = dict.fromkeys((shown(low), shown(high)))
        shared = "the value" if len(ends) == 1 else _FROM
        return f"; {_all(n, 'interval')} contain {shared} {' to '.join(ends)}"

    def _decided(self, rows):
        """What signs and verdicts are over the rows of several settings, a list of texts."""
        lines, mean = [], self.mean[rows]
        sign = np.sign(mean)
        held = self.interval[self._held(rows)]
        undecided = np.all(held * [[1, -1]] <= 0, axis=1) if len(held) else np.zeros(1, bool)
        if any(self.verdicts[row] == LENGTHS for row in rows):
            # what has no sign
            pass
        elif np.unique(sign).size > 1 or (self.proba_of in SIGNED and undecided.all()):
            lines.append(self._signs(rows, sign))
        elif self.proba_of in SIGNED:
            lines.append(self._kept(rows, sign, "the sign"))
        # a point estimate has none
        rows = np.array([row for row in rows if self.verdicts[row] != ""], int)
        verdicts = np.array([self.verdicts[row] for row in rows])
        if rows.size > 1:
            probable = np.array(self._surely())[rows] != verdicts
            lines.append(self._kept(rows, verdicts, "the verdict {!r}", probable))
        return lines

    def _signs(self, rows, sign):
        """In how many of some rows which sign is decided, and whether it is in the own setting."""
        held = self._held(rows)
        if held.size < 2:
            # one interval tells of no other: the signs that are compared are those of means
            return self._kept(rows, sign, "the sign of the estimate" if held.size else "the sign")
        rows, interval, own = held, self.interval[held], self.own[held]
        side = np.where(interval[:, 0] > 0, 1, np.where(interval[:, 1] < 0, -1, 0))
        n, plus, minus = rows.size, np.count_nonzero(side > 0), np.count_nonzero(side < 0)
        if not side.any():
            where = "either setting" if n == 2 else f"any of the {n} settings"
            every = "both" if n == 2 else "all"
            return f"the sign is not decided in {where}: {every} intervals contain zero"
        found = ("not decided", "positive", "negative")
        mine = f" (own: {found[side[own][0]]})" if own.any() else ""
        counts = zip(found[1:], (plus, minus), strict=True)
        both = ", ".join(f"{called} in {k}" for called, k in counts if k)
        return f"the sign is decided in {plus + minus} of {n} settings{mine}: {both}"

    def _kept(self, rows, values, called, probable=None):
        """In how many of some rows a value is another than with the estimator's own setting.

        Or than it is most often, where the own setting has no answer. Verdicts that are only
        ``probable`` are those that are not, and called as that of the own setting is: the line
        says so where it counts some of both.
        """
        own = self.own[rows]
        found, counts = np.unique(values, return_counts=True)
        held = values[own][0] if own.any() else found[np.argmax(counts)]
        alike = values == held
        only = np.zeros(rows.size, bool) if probable is None else probable
        probably = bool(only[own][0] if own.any() else only[alike].all())
        called = called.format(f"{'probably ' * probably}{held}")
        other = f"{'probably ' * (not probably)}{held}"
        counted = f", {other!r} counted as the same" * bool(np.unique(only[alike]).size > 1)
        if found.size == 1:
            return f"{called} is the same in {_all(rows.size, 'setting')}{counted}"
        becomes = _becomes(values, ~alike, probable)
        if own.any() and rows.size == 2:
            return f"{called} {becomes} in the other setting"
        of = f"the {rows.size - np.count_nonzero(own)} other" if own.any() else f"{rows.size}"
        return f"{called} {becomes} in {np.count_nonzero(~alike)} of {of} settings{counted}"


def _in_order(values):
    """Values of a parameter as text, each once, numbers by size."""
    if all(isinstance(value, int | float) for value in values):
        values = sorted(values)
    return ", ".join(dict.fromkeys(map(str, values)))


def brief(value, most):
    """A value of a parameter, of sequences up to so many entries; of other objects their type."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        shown = [str(brief(one, most)) for one in value]
        if most is not None and len(shown) > most:
            shown[most - 1 : -1] = [".."]
        return f"[{', '.join(shown)}]"
    plain = isinstance(value, str | int | float | bool | range | None)
    return value if plain else type(value).__name__


def _sizes(values):
    """Sizes of the numbers that are known."""
    found = np.abs(np.ravel(values))
    return found[np.isfinite(found)].tolist()


def _becomes(values, which, probable=None):
    """What a sign or a verdict is elsewhere, of verdicts to what it changes."""
    if values.dtype.kind != "U":
        return "changes"
    only = np.zeros(which.shape, bool) if probable is None else probable
    said = [
        repr(f"{'probably ' * bool(only[which & (values == value)].all())}{value}")
        for value in dict.fromkeys(values[which].tolist())
    ]
    return f"changes to {joined(said, 'or')}"


def _all(n, what):
    return f"both {what}s" if n == 2 else f"all {n} {what}s"

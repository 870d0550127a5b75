"""Answers to one question under several settings: a table, and what it comes to in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cells import bounded, cut_lists, dashed, number
from .deciding import NO_DATA, SURE, surely
from .sentences import (
    allows_for,
    capital,
    ended,
    interval_in_words,
    joined,
    rounded,
    sure_of,
)
from .sources import INDEPENDENT, OTHERS, THINNED, VECTORS, is_unmixed, sampled_units
from .tables import Column, Table

# Entries of a sequence that are printed.
_MOST_ENTRIES = 3
# Digits after the point of numbers in sentences, at least, where all are below the second.
_LEAST_DIGITS, _ONE_DIGIT = 2, 10.0
# Letters of a note that are printed, and what notes that are told once may differ by.
_NOTE, _NUMBER = 160, re.compile(r"[\d.,]*\d")
# The note of settings that an interruption left without an answer.
INTERRUPTED = "interrupted"
# The verdict of `nearer` on its first row, and what it is on the others.
NEAREST, NOT_NEAREST = "nearest", "not nearest"
# What intervals rest on, of settings that differ in it.
_RESTS_ON = {
    "units": "the sampling of units",
    "units and features": "the sampling of units and of features",
    "model": "the model",
    "posterior": "the model",
    "vi": "variational inference, by which they may be too narrow,",
    "laplace": "the Laplace approximation",
    "unmixed": "chains that have not mixed, left out of what intervals contain,",
    "known topics": "the documents, with topics taken as known,",
}
# What is behind it in a source.
_BESIDES = {
    VECTORS: "with the uncertainty of word vectors",
    OTHERS: "for other units of the same kind",
    INDEPENDENT: "with snippets treated as independent",
    THINNED: "from the draws that were kept",
}
# Verdicts on slopes.
_SIDES = ("positive", "negative")
# Behind the estimator's own setting.
_OWN = " (own)"
# Probabilities that answers may have, and what of; those of differences have a sign.
_SIGNED = ("prob_increase", "prob_positive")
PROBABILITIES = {
    **dict.fromkeys(_SIGNED, "P(> 0)"),
    "prob_exceeds": "P(> threshold)",
    "prob_nearest": "P(nearest)",
}

# Of settings whose senses are others, in sentences.
_OTHERS = (
    "In {} the senses are not those of the setting that they are compared with, or have other "
    "numbers, so that answers may be about another sense (see the notes)"
)


@dataclass(frozen=True, repr=False, eq=False)
class OverSettings(Table):
    """Answers to one question under several settings.

    There is a row for each setting, or for each entry of its answer. Data frames have a column for
    each parameter of the grid, with the value in effect: the estimator's own where a setting has
    none.

    `plotting.ForestDisplay.from_result` draws it.

    Attributes
    ----------
    params : list of dict of length n_rows
        Parameters of the setting of each row.
    entries : list of str of length n_rows
        Entry of the answer that the row is about; empty if an answer is one number.
    mean : ndarray of shape (n_rows,)
        NaN if the setting failed.
    interval : ndarray of shape (n_rows, 2)
        NaN if the setting failed or its answer has no interval.
    own : ndarray of bool of shape (n_rows,)
        Whether the row has the estimator's own setting, ``(own)`` in print.
    proba : ndarray of shape (n_rows,)
        Probability that comes with the interval: that a change or difference is above zero, a
        distance above its threshold, or a word the nearest. NaN if there is none.
    verdicts : list of str of length n_rows
        Verdict of each answer; empty if it has none. That of `nearer` is on its first row; where
        it is ``"nearest"``, the others are ``"not nearest"``.
    notes : list of str of length n_rows
        Why a setting failed, or the warnings of its fit and answer, those of convergence first.
    title : str or None
        Title of the question.
    prob : float or None
        Probability of the intervals, if the answers have one.
    proba_of : str or None
        Which entry of the answers ``proba`` is, such as ``"prob_increase"``, if any.
    p_value : ndarray of shape (n_rows,) or None
        p-values of answers that have them: two-sided of slopes, one-sided of WEAT; None if
        there are none.
    threshold : ndarray of shape (n_rows,) or None
        Threshold of each distance, which depends on the setting unless it was given; None if the
        answers have none.
    interval_mcse : ndarray of shape (n_rows, 2) or None
        Monte Carlo errors of the ends of the intervals, NaN where an answer has none; None if no
        answer has them.
    of_units : int or None
        Number of units whose sampling intervals allow for, if it is the same for all.
    units_name : str or None
        Name of the column in which the units were given.
    sources : list of str or None of length n_rows, or None
        What the interval of each row rests on, as ``source`` of answers says it (else that of the
        fit). A row of ``"point"`` has no interval and no probability. ``source`` of the table is
        what all intervals rest on, None where they rest on different things.
    sentence : str
        The table in words, to be copied.
    sentences : dict of str to str
        The same for each entry of the answers; of answers that are one number there is one, ``""``.
    """

    params: list[dict[str, Any]]
    entries: list[str]
    mean: np.ndarray
    interval: np.ndarray
    own: np.ndarray
    proba: np.ndarray
    verdicts: list[str]
    notes: list[str]
    title: str | None
    prob: float | None
    proba_of: str | None
    p_value: np.ndarray | None = None
    threshold: np.ndarray | None = None
    interval_mcse: np.ndarray | None = None
    # The title with all words of lists.
    _whole: str | None = None
    of_units: int | None = None
    units_name: str | None = None
    sources: list[str | None] | None = None
    # Rows whose senses have other numbers than those of the own setting, or are others.
    _of_others: np.ndarray | None = None
    # The estimator's own values, which are in effect where a setting names no other.
    _own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> list[str]:
        """Parameters of each row as text, a list of str."""
        texts = self._texts(_MOST_ENTRIES)
        if len(set(texts)) < len({str(one) for one in self.params}):
            texts = self._texts(None)
        return [text + _OWN * own for text, own in zip(texts, self.own.tolist(), strict=True)]

    def _texts(self, most):
        """Parameters of each row, of sequences up to so many entries; all without ``most``."""
        return [", ".join(f"{k}={_brief(v, most)}" for k, v in one.items()) for one in self.params]

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
        rows, n = here[~without], len({str(one) for one in self.params})
        over = f"{number_of(n, 'setting')} ({self._values()})"
        answered = {str(p) for p, m in zip(self.params, self.mean, strict=True) if np.isfinite(m)}
        other = "whose answer is about others" if entry else ""
        left_out = [("without an answer", n - len(answered)), (other, len(answered) - here.size),
                    ("with too few data", without.sum())]  # fmt: skip
        left_out = [f"{number_of(k, 'setting')} {why}" for why, k in left_out if k]
        text = f"Over {over}{self._range(rows, entry)}" if rows.size else f"None of {over} answers"
        # a line on changes is of several
        told = self._decided(rows) if rows.size > 1 else []
        parts = [text, capital("; ".join(told))] if told else [text]
        others = 0 if self._of_others is None else np.count_nonzero(self._of_others[rows])
        parts += [_OTHERS.format(number_of(others, "setting"))] if others else []
        parts += [f"Left out: {joined(left_out)}"] if left_out and rows.size else []
        parts += [capital(line) for line in self._on_sources()]
        return ended(". ".join(parts), self.source, found=self, several=True)

    def _answers_on(self, entry):
        """Rows with an answer about an entry, and whether each of them has no data."""
        here = np.flatnonzero(np.isfinite(self.mean) & (np.array(self.entries) == entry))
        return here, np.array([self.verdicts[row] == NO_DATA for row in here], bool)

    def _range(self, rows, entry):
        """From where to where estimates lie, and what the own setting gives, clauses."""
        mean, interval = self.mean[rows], self.interval[rows]
        size = np.max(np.abs([*mean, *interval[np.isfinite(interval)]]))
        least = _LEAST_DIGITS if size < _ONE_DIGIT else 0

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
        known = np.isfinite(self.interval[rows]).all(axis=1)
        if self.sources is not None and self.source is None:
            known &= [not is_unmixed(self.sources[row]) for row in rows]
        return rows[known]

    def _on_sources(self):
        """What intervals rest on where that is not the same for all settings, clauses."""
        of = dict(zip(map(str, self.params), self.sources or [], strict=False))
        known = [source.split(", ") for source in of.values() if source is not None]
        points = known.count(["point"])
        known = [source for source in known if source != ["point"]]
        shared = [what for what in _BESIDES if known and all(what in source for source in known)]
        counts = Counter(tuple(what for what in source if what not in shared) for source in known)
        lines = []
        if len(counts) > 1:
            on = [f"on {_rests_on(*kind)} in {number_of(n, 'setting')}"
                  for kind, n in counts.items()]  # fmt: skip
            every = "".join(f", all {_BESIDES[what]}" for what in shared)
            lines.append(f"intervals rest {joined(on)}{every}")
        if points and counts:
            has = "has a point estimate" if points == 1 else "have point estimates"
            lines.append(f"{number_of(points, 'setting')} {has}, without interval")
        return lines

    def _values(self, rows=None):
        """Values of each parameter, in some rows or all, as in ``"window 2, 5; draws 100"``."""
        found: dict[str, list] = {}
        for one in self.params if rows is None else [self.params[row] for row in rows]:
            for name, value in one.items():
                found.setdefault(name, []).append(_brief(value, _MOST_ENTRIES))
        return "; ".join(f"{name} {_in_order(values)}" for name, values in found.items())

    def _columns(self):
        without = np.array([verdict == NO_DATA for verdict in self.verdicts], dtype=bool)
        ends = "low", "high"
        entries = (
            [Column("entry", self.entries, ("entry",), cut_lists, left=True)]
            if any(self.entries)
            else []
        )
        head = "interval" if self.prob is None else f"{100 * self.prob:g} % interval"
        more = []
        if self.threshold is not None:
            more = [Column("threshold", self.threshold, ("threshold",), dashed(".3f"))]
        if self.proba_of is not None:
            head_of = PROBABILITIES[self.proba_of]
            proba = np.where(without, np.nan, self.proba)
            more += [Column(head_of, proba, (self.proba_of,), self._chances)]
        if any(self.verdicts):
            shown = [verdict or "-" for verdict in self._surely()]
            more.append(Column("verdict", shown, ("verdict",), left=True))
        marks = self._marks()
        if marks:
            shown = [f"({marks[_NUMBER.sub('', note)]})" if note else "" for note in self.notes]
            more.append(Column("note", shown, (), left=True))
        return [
            Column("setting", self.settings, ("setting",), left=True),
            *entries,
            Column("mean", np.where(without, np.nan, self.mean), ("mean",), dashed(".3f")),
            Column(head, np.where(without[:, None], np.nan, self.interval), ends, left=True),
            *more,
        ]

    def _surely(self):
        """Verdicts in print, as those of answers are."""
        verdicts = np.array(self.verdicts)
        if self.proba_of == "prob_nearest":
            # intervals are of cosines, which do not tell which word is the nearest
            sure = np.where(verdicts == NEAREST, self.proba, 1.0 - self.proba) >= SURE
            probably = np.isin(verdicts, (NEAREST, NOT_NEAREST)) & ~sure
            return np.where(probably, "probably " + verdicts.astype(object), verdicts).tolist()
        found = {"interval": self.interval, "verdict": self.verdicts, self.proba_of: self.proba}
        if self.interval_mcse is not None:
            found["interval_mcse"] = self.interval_mcse
        given = self.threshold is not None
        said = surely(found, np.nan_to_num(self.threshold)[:, None] if given else 0.0)
        if self.p_value is not None:
            only = np.isfinite(self.p_value) & ~sure_of(self.p_value)
            only &= np.isin(self.verdicts, _SIDES)
            said = np.where(only, "probably " + said, said)
        return said.tolist()

    def _marks(self):
        """Numbers of notes, of those that differ by more than their figures."""
        texts = dict.fromkeys(_NUMBER.sub("", note) for note in self.notes if note)
        return {text: number for number, text in enumerate(texts, 1)}

    def _marked(self):
        """Each note once, with its number, a list of texts."""
        lines = []
        for text, mark in self._marks().items():
            alike = [note for note in self.notes if _NUMBER.sub("", note) == text]
            shown = alike[0] if len(alike[0]) <= _NOTE else alike[0][:_NOTE] + " ..."
            more = " [other figures in other rows]" if len(set(alike)) > 1 else ""
            lines.append(f"({mark}) {shown}{more}")
        return lines

    def _series(self):
        names = list(dict.fromkeys(name for one in self.params for name in one))
        values = {
            name: np.array([str(one.get(name, self._own.get(name))) for one in self.params])
            for name in names
        }
        notes = np.array(self.notes, dtype=object)
        # printed without what the prior alone says
        whole = dict(zip(("mean", "low", "high"), (self.mean, *self.interval.T), strict=True))
        whole |= {} if self.proba_of is None else {self.proba_of: self.proba}
        whole |= {} if self.p_value is None else {"p_value": self.p_value}
        return {**super()._series(), **whole, **values, "own": self.own, "note": notes}

    def _title(self):
        return self.title

    def _notes(self):
        known = np.isfinite(self.mean)
        without = [(str(p), note) for p, k, note in
                   zip(self.params, known, self.notes, strict=True) if not k]  # fmt: skip
        stopped = {params for params, note in without if note == INTERRUPTED}
        failed = len({params for params, _ in without} - stopped)
        lines = []
        for entry in dict.fromkeys(self.entries):
            here, without = self._answers_on(entry)
            name = f"{entry}: " if entry else ""
            if np.count_nonzero(~without) > 1:
                lines += [f"({name}{line})" for line in self._over(here[~without])]
            if without.any():
                of = f"{np.count_nonzero(without)} of {number_of(here.size, 'setting')}"
                lines.append(
                    f"({name}no data in {of}: a dash, and left out of estimates and verdicts)"
                )
        lines += self._marked()
        if any(len(note) > _NOTE for note in self.notes):
            lines.append("(notes are cut: the attribute notes has them whole)")
        lines += [f"({failed} failed: see the notes)"] if failed else []
        lines += [f"({len(stopped)} not run to the end)"] if stopped else []
        lines += [f"({line})" for line in self._on_sources()]
        if self.source == "units" and self.of_units is not None:
            sample = allows_for(*sampled_units(self))
            lines.append(f"({sample.replace('The interval allows', 'intervals allow')})")
        return lines + super()._notes()

    def _over(self, rows):
        """What an answer is over the rows of several settings, a list of texts."""
        mean = self.mean[rows]
        # distances are held against a threshold each, on a scale of its own
        if self.proba_of == "prob_exceeds":
            return self._decided(rows)
        line = f"estimates from {_shown(mean.min())} to {_shown(mean.max())}"
        return [f"{line}{self._shared(rows, _shown)}", *self._decided(rows)]

    def _shared(self, rows, shown):
        """What all intervals of some rows contain, a clause; empty where one has none."""
        if self.proba_of == "prob_exceeds":
            # distances of settings are on scales of their own
            settings, verdicts = self.settings, self._surely()
            told = [f"{settings[row]}: {verdicts[row]}" for row in rows if verdicts[row]]
            said = f" ({', '.join(told)})" if told else ""
            return f"; each setting has a scale and a threshold of its own{said}"
        rows = self._held(rows)
        n, interval = rows.size, self.interval[rows]
        if n == 0:
            return ""
        low, high = interval[:, 0].max(), interval[:, 1].min()
        if low > high:
            return f"; no value is in {_all(n, 'interval')}"
        ends = dict.fromkeys((shown(low), shown(high)))
        shared = "the value " if len(ends) == 1 else "the values from "
        return f"; {_all(n, 'interval')} contain {shared}{' to '.join(ends)}"

    def _decided(self, rows):
        """What signs and verdicts are over the rows of several settings, a list of texts."""
        lines, mean = [], self.mean[rows]
        sign = np.sign(mean)
        held = self.interval[self._held(rows)]
        undecided = np.all(held * [[1, -1]] <= 0, axis=1) if len(held) else np.zeros(1, bool)
        if np.unique(sign).size > 1 or (self.proba_of in _SIGNED and undecided.all()):
            lines.append(self._signs(rows, sign))
        elif self.proba_of in _SIGNED:
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
        ``probable`` are those that are not: the line says so where it counts some of both.
        """
        own = values[self.own[rows]]
        found, counts = np.unique(values, return_counts=True)
        held = own[0] if own.size else found[np.argmax(counts)]
        alike = values == held
        only = np.zeros(1, bool) if probable is None else probable[alike]
        called = called.format(f"{'probably ' * bool(only.all())}{held}")
        counted = f", 'probably {held}' counted as the same" * bool(only.any() and not only.all())
        if found.size == 1:
            return f"{called} is the same in {_all(rows.size, 'setting')}{counted}"
        if own.size and rows.size == 2:
            return f"{called} {_becomes(values[~alike])} in the other setting"
        of = f"the {rows.size - own.size} other" if own.size else f"{rows.size}"
        changes = f"{_becomes(values[~alike])} in {np.count_nonzero(~alike)} of {of} settings"
        return f"{called} {changes}{counted}"


def below_figure(table: OverSettings) -> list[str]:
    """What a figure says of its intervals, and of settings without an answer, texts."""
    rows = zip(table.settings, table.mean, strict=True)
    without = dict.fromkeys(setting for setting, mean in rows if np.isnan(mean))
    return table._on_sources() + [f"without an answer: {'; '.join(without)}"] * bool(without)


def _rests_on(base, *besides):
    """What intervals rest on, by the parts of a source, in words."""
    text = _RESTS_ON.get(base, base)
    return text + "".join(f" {_BESIDES.get(what, what)}," for what in besides)


def _in_order(values):
    """Values of a parameter as text, each once, numbers by size."""
    if all(isinstance(value, int | float) for value in values):
        values = sorted(values)
    return ", ".join(dict.fromkeys(map(str, values)))


def _brief(value, most):
    """A value of a parameter, of sequences up to so many entries; of other objects their type."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        shown = [str(_brief(one, most)) for one in value]
        if most is not None and len(shown) > most:
            shown[most - 1 : -1] = [".."]
        return f"[{', '.join(shown)}]"
    plain = isinstance(value, str | int | float | bool | range | None)
    return value if plain else type(value).__name__


def _shown(value):
    return number(value, ".3f")


def number_of(n: int, what: str) -> str:
    """A number of things, as ``"1 setting"``."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def _becomes(values):
    """What a sign or a verdict is elsewhere, of verdicts to what it changes."""
    if values.dtype.kind != "U":
        return "changes"
    return f"changes to {joined([repr(str(v)) for v in dict.fromkeys(values.tolist())], 'or')}"


def _all(n, what):
    return f"both {what}s" if n == 2 else f"all {n} {what}s"

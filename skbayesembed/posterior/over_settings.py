"""Answers to one question under several settings: a table, and what it comes to in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cells import cut_lists, dashed
from .deciding import NO_DATA, SIGNED, SURE, surely
from .sentences import allows_for, sure_of
from .settings_in_words import (
    MOST_ENTRIES,
    NEAREST,
    NOT_NEAREST,
    SettingsInWords,
    brief,
)
from .settings_sources import number_of
from .sources import sampled_units
from .tables import Column, Table, cell

# Letters of a note that are printed, and what notes that are told once may differ by.
_NOTE, _NUMBER = 300, re.compile(r"[\d.,]*\d")
# The note of settings that an interruption left without an answer.
INTERRUPTED = "interrupted"
# Verdicts on slopes.
_SIDES = ("positive", "negative")
# Behind the estimator's own setting.
_OWN = " (own)"
# Probabilities that answers may have, and what of.
PROBABILITIES = {
    **dict.fromkeys(SIGNED, "P(> 0)"),
    "prob_exceeds": "P(> threshold)",
    "prob_nearest": "P(nearest)",
}


@dataclass(frozen=True, repr=False, eq=False)
class OverSettings(SettingsInWords, Table):
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
        Title of the question; None where it is not the same for all, as of senses with other
        numbers. The lines below the table then have those of the settings.
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
    # Rows whose senses or topics have other numbers than those of the own setting, or are others,
    # and what one is called.
    _of_others: np.ndarray | None = None
    _what: str | None = None
    # What each row is about, where that is not the same for all.
    _titles: list[str | None] | None = None
    # The estimator's own values, which are in effect where a setting names no other.
    _own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> list[str]:
        """Parameters of each row as text, a list of str."""
        texts = self._texts(MOST_ENTRIES)
        if len(set(texts)) < len({str(one) for one in self.params}):
            texts = self._texts(None)
        return [text + _OWN * own for text, own in zip(texts, self.own.tolist(), strict=True)]

    def _texts(self, most):
        """Parameters of each row, of sequences up to so many entries; all without ``most``."""
        return [", ".join(f"{k}={brief(v, most)}" for k, v in one.items()) for one in self.params]

    def _columns(self):
        without = np.array([verdict == NO_DATA for verdict in self.verdicts], dtype=bool)
        # of chains that have not mixed, beside others, an interval would be taken for one
        blank = without | doubtful(self)[0]
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
            proba = np.where(blank, np.nan, self.proba)
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
            self._column("mean", np.where(without, np.nan, self.mean), ("mean",)),
            self._column(head, np.where(blank[:, None], np.nan, self.interval), ends, left=True),
            *more,
        ]

    def _column(self, head, values, names, **look):
        """A column of numbers with the digits that those about an entry need."""
        specs = {entry: self._spec_of(entry) for entry in dict.fromkeys(self.entries)}
        shown = zip(values, self.entries, strict=True)
        texts = ["-" if np.isnan(x).all() else cell(x, specs[entry]) for x, entry in shown]
        return Column(head, values, names, texts=texts, **look)

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

    def _asked(self):
        """What answers are about and in which settings, a list of texts; none if it is the same."""
        about: dict[str, list] = {}
        for title, setting in zip(self._titles or [], self.settings, strict=False):
            if title is not None and setting not in about.setdefault(title, []):
                about[title].append(setting)
        return [f"({'; '.join(mine)}: {title})" for title, mine in about.items()]

    def _marked(self):
        """Each note once, with its number, a list of texts."""
        lines = []
        for text, mark in self._marks().items():
            alike = [note for note in self.notes if _NUMBER.sub("", note) == text]
            shown = alike[0]
            if len(shown) > _NOTE:
                # whole sentences, if one ends by then
                start, end, _ = shown[:_NOTE].rpartition(". ")
                shown = (start + end.strip() or shown[:_NOTE].rpartition(" ")[0]) + " ..."
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
            rows, apart = self._mixed(here[~without])
            if apart.size and entry:
                lines.append(
                    f"({name}the chains have not mixed in "
                    f"{number_of(apart.size, 'setting')}, compared with no others)"
                )
            if rows.size > 1:
                lines += [f"({name}{line})" for line in self._over(rows)]
            if rows.size and self.source is None and self._all_unmixed(rows):
                lines.append(f"({name}the chains have not mixed in any setting: do not use it)")
            if without.any():
                of = f"{np.count_nonzero(without)} of {number_of(here.size, 'setting')}"
                lines.append(
                    f"({name}no data in {of}: a dash, and left out of estimates and verdicts)"
                )
        lines += self._asked()
        lines += self._marked()
        if any(len(note) > _NOTE for note in self.notes):
            lines.append("(notes are cut: the attribute notes has them whole)")
        lines += [f"({failed} failed: see the notes)"] if failed else []
        lines += [f"({len(stopped)} not run to the end)"] if stopped else []
        # of several entries each has a line of its own
        told = {"unmixed_too": not any(self.entries)}
        lines += [f"({line})" for line in self._on_sources(**told)]
        if self.source == "units" and self.of_units is not None:
            sample = allows_for(*sampled_units(self))
            lines.append(f"({sample.replace('The interval allows', 'intervals allow')})")
        return lines + super()._notes()


def below_figure(table: OverSettings) -> list[str]:
    """What a figure says of its intervals, and of settings without an answer, texts."""
    rows = zip(table.settings, table.mean, strict=True)
    without = dict.fromkeys(setting for setting, mean in rows if np.isnan(mean))
    # rows whose chains have not mixed are drawn in another manner
    about = table._on_sources(unmixed_too=False)
    return about + [f"without an answer: {'; '.join(without)}"] * bool(without)


def doubtful(table: OverSettings) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose chains have not mixed where others have, and rows about other senses: bool."""
    every = np.arange(len(table.params))
    _, unmixed = table._mixed(every)
    others = np.zeros(every.size, bool) if table._of_others is None else table._of_others
    return np.isin(every, unmixed), others

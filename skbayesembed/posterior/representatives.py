"""Tables of the texts that show best what a sense or a topic is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import labels_in_print
from .naming import named
from .sources import note_on_means
from .tables import Column, Table

# Characters that are printed of a document, from its beginning.
_PRINTED = 70
# Of a snippet, around its word.
SNIPPET_WIDTH = 120
_AMID = "(texts cut around their middle, where the word of a window is; target= says which it is)"


@dataclass(frozen=True, repr=False, eq=False)
class Representatives(Table):
    """Table of the texts with the largest probabilities of a sense, or shares of a topic.

    Attributes
    ----------
    of : {"sense", "topic"}
    groups : ndarray of int of shape (n_rows,)
        Sense or topic of each row; rows of one group are adjacent, the largest mean first.
    index : ndarray of int of shape (n_rows,)
        Index of the text in X.
    mean : ndarray of shape (n_rows,)
        Posterior mean of the probability of the sense, or of the share of the topic.
    interval : ndarray of shape (n_rows, 2)
        Highest density intervals.
    texts : ndarray of object of shape (n_rows,) or None
        The texts themselves, if they are known.
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the figures; 1 for a point estimate.
    times : ndarray of shape (n_rows,) or None
        Times of the texts, if they were given.
    copies : ndarray of int of shape (n_rows,) or None
        Number of identical texts in X, including this one, which share one row. None if X was not
        searched for them.
    drawn : bool
        Whether rows were drawn at random from all texts, instead of being the most probable.
    target : tuple of str
        Forms of the target word, around which printed texts are cut.
    width : int
        Number of characters printed of the text of a snippet.
    periods : ndarray of object of shape (n_rows,) or None
        Labels of the periods of snippets, if there are several and times were given.
    units : ndarray of shape (n_rows,) or None
        Units of the snippets (authors, speakers, works), if they were given.
    per_period : dict of int to int or None
        For each sense, the maximum number of snippets per period while other periods have some;
        None if snippets are not spread over periods.
    names : ndarray of str of shape (n_groups,) or None
        Names of the senses or topics, if they were given.
    unmixed : ndarray of int or None
        Topics whose shares have not mixed; None for senses. In print their documents have no
        intervals; ``interval`` and data frames keep the numbers, with a column ``mixed``.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel
    >>> from skbayesembed.datasets import make_senses
    >>> made = make_senses(60, 20, n_senses=2, n_periods=3, random_state=0)
    >>> model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
    >>> model = model.fit(made.counts, times=made.times)
    >>> table = model.representative_snippets(made.counts, 0, n=3, times=made.times)
    >>> table.of, table.index.shape, bool(table.mean[0] >= table.mean[1])
    ('sense', (3,), True)
    """

    of: str
    groups: np.ndarray
    index: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    texts: np.ndarray | None
    prob: float
    n_draws: int
    times: np.ndarray | None = None
    copies: np.ndarray | None = None
    drawn: bool = False
    target: tuple[str, ...] = ()
    width: int = SNIPPET_WIDTH
    periods: np.ndarray | None = None
    units: np.ndarray | None = None
    per_period: dict[int, int] | None = None
    names: np.ndarray | None = None
    unmixed: np.ndarray | None = None

    def _title(self):
        what = "most probable snippets" if self.of == "sense" else "documents with the most"
        what = "snippets drawn at random, by the most probable sense;" if self.drawn else what
        if self.drawn:
            return f"{what} {100 * self.prob:g} % intervals"
        return f"{what} of each {self.of}, {100 * self.prob:g} % intervals"

    def _groups(self):
        return self.of, named(self.names, self.groups)

    def _mixed(self):
        return ~np.isin(self.groups, [] if self.unmixed is None else self.unmixed)

    def _series(self):
        of_topics = {"mixed": self._mixed()} if self.of == "topic" else {}
        return super()._series() | of_topics

    def _columns(self):
        what, head = ("snippet", "P") if self.of == "sense" else ("document", "share")
        columns = [Column(what, self.index, (what,), "d")]
        known = {"time": self.times, "period": self.periods, "unit": self.units}
        columns += [
            Column(name, values, (name,), labels_in_print, left=name == "unit")
            for name, values in known.items()
            if values is not None
        ]
        columns += [
            Column(head, self.mean, ("mean",), ".3f"),
            Column("interval", self.interval, ("low", "high"), ".3f", few=~self._mixed()),
        ]
        if self.copies is not None and np.any(self.copies > 1):
            columns.append(Column("copies", self.copies, ("copies",), "d"))
        if self.texts is not None:
            columns.append(Column("text", self.texts, ("text",), self._printed, left=True))
        return columns

    def _notes(self):
        notes = super()._notes()
        if self.of == "topic":
            notes.insert(0, "(share: of the tokens of a document)")
        mixed = self._mixed()
        notes += note_on_means(self.mean[mixed], self.interval[mixed])
        if self.per_period:
            notes.append(_spread(self.per_period.values()))
        if self.copies is not None and np.any(self.copies > 1):
            notes.append("(copies: snippets with this text, time and genre; one row for all)")
        if self.of == "sense" and self.texts is not None and not self.target:
            notes += [_AMID] if max(map(len, in_lines(self.texts))) > self.width else []
        return notes

    def _printed(self, texts):
        """Texts on one line each: the beginning of documents, snippets around their word."""
        if self.of == "topic":
            return [s if len(s) <= _PRINTED else f"{s[: _PRINTED - 3]}..." for s in in_lines(texts)]
        return [cut_around(line, self.target, self.width) for line in in_lines(texts)]


def _spread(parts):
    """Line below a table of snippets that are spread over periods."""
    least, most = min(parts), max(parts)
    parts = f"{most}" if least == most else f"{least} to {most} (by sense)"
    return (
        f"(spread over periods: at most {parts} of each period while others have some; period= "
        "asks for one)"
    )


def in_lines(texts: Sequence) -> list[str]:
    """Texts on one line each."""
    return [" ".join(str(text).split()) for text in texts]


def cut_around(line: str, target: Sequence[str], width: int) -> str:
    """As much of a line as has room around one of some words, or else around its middle."""
    if len(line) <= width:
        return line
    middle = len(line) / 2
    if target:
        forms = "|".join(map(re.escape, target))
        matches = re.finditer(rf"(?<!\w)(?:{forms})(?!\w)", line, re.IGNORECASE)
        places = [(match.start() + match.end()) / 2 for match in matches]
        # a window has its word amid it, and others may stand beside
        middle = min(places, key=lambda place: abs(place - middle), default=middle)
    start = min(max(0, int(middle - width / 2)), len(line) - width)
    stop = start + width
    if start > 0:
        start = line.find(" ", start + 3, int(middle)) + 1 or start + 3
    if stop < len(line):
        blank = line.rfind(" ", int(middle), stop - 2)
        stop = blank if blank > 0 else stop - 3
    return f"{'...' if start else ''}{line[start:stop]}{'...' if stop < len(line) else ''}"


def check_not_a_group(X: Any, what: str, group: str) -> None:
    """Raise a TypeError where a sense or topic is given in the place of what is looked through.

    Parameters
    ----------
    X : documents or counts
    what : str
        What they are called, in the plural.
    group : {"sense", "topic"}
    """
    if isinstance(X, str | int):
        raise TypeError(
            f"X must be the {what} to look through, as fit takes them, got {X!r}; the {group} "
            f"comes after them: {group}={X!r}."
        )


def texts_of(X: Any, kind: str, texts: Any, n: int, what: str) -> np.ndarray | None:
    """The texts to be shown: those given, or X where it holds strings or lists of tokens.

    Parameters
    ----------
    X : documents or counts
    kind : {"text", "tokens", "counts"}
        What X is.
    texts : sequence of str or None
    n : int
        Number of texts in X.
    what : str
        What they are called, in the plural.

    Returns
    -------
    ndarray of object of shape (n,) or None

    Raises
    ------
    ValueError
        If the texts are not one for each.
    """
    if texts is None:
        if kind == "counts":
            return None
        texts = X if kind == "text" else [" ".join(tokens) for tokens in X]
    single = isinstance(texts, str) or not hasattr(texts, "__len__")
    if single or len(texts) != n:
        got = repr(texts) if single else len(texts)
        raise ValueError(f"texts must be one for each of the {n} {what} of X, got {got}.")
    out = np.empty(n, dtype=object)
    out[:] = list(texts)
    return out


def largest(shares: np.ndarray, groups: Sequence[int], usable: np.ndarray, n: int) -> np.ndarray:
    """Rows with the largest shares of each group, (len(groups), at most n), the first in ties.

    Parameters
    ----------
    shares : ndarray of shape (n_texts, n_groups)
    groups : sequence of int
    usable : ndarray of bool of shape (n_texts,)
        Texts that may be taken.
    n : int
    """
    rows = np.flatnonzero(usable)
    order = np.argsort(-shares[rows][:, list(groups)], axis=0, kind="stable")[:n]
    return rows[order.T]

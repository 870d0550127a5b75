"""Senses whose first words are others in one period than in another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..numeric.relevance import first_words
from ..posterior.naming import given_names, together
from .predict import word_draws
from .verdicts import cells_told
from .words import sense_shares

# First words that are compared; fewer in both periods than these, and a sense may have become
# another one. Those that are told of each period.
_COMPARED, _ALIKE, _TOLD = 5, 2, 3


class Ends(NamedTuple):
    """First words of senses in two periods.

    Attributes
    ----------
    periods : tuple of two labels
    words : ndarray of str of shape (2, n_senses, n)
        The relevant ones, as of ``sense_words(n, rank="relevant", period=...)``.
    changed : list of int
        Senses of whose first five words one at most is among the first five of both periods.
    names : ndarray of str or None
        Names of the senses, if they were given.
    """

    periods: tuple
    words: np.ndarray
    changed: list[int]
    names: np.ndarray | None

    def told(self, sense: int) -> str:
        """The words of a sense in both periods, a clause."""
        each = (
            f"{', '.join(of[sense, :_TOLD])} in {period}"
            for of, period in zip(self.words, self.periods, strict=True)
        )
        return "; ".join(each)

    def notes(self, senses: Any = None) -> list[str]:
        """Lines below a table on senses whose first words have changed: one, or none.

        ``senses`` are those that it shows; all by default.
        """
        told = [
            f"{together(self.names, 'sense', [k])}: {self.told(k)}"
            for k in self.changed
            if senses is None or k in senses
        ]
        if not told:
            return []
        return [
            f"(first words differ between periods, {'. '.join(told)}: read sense_words(period=) "
            "and representative_snippets before taking them for one sense)"
        ]

    def said(self, senses: list[int]) -> str:
        """What a sentence adds where the first words of the sense are others; or nothing.

        Several senses together may have any words.
        """
        if len(senses) > 1 or senses[0] not in self.changed:
            return ""
        name = together(self.names, "sense", senses)
        told = self.told(senses[0])
        return f" The first words of {name} differ, {told}: it may be another by then."


def first_and_last(estimator: Any) -> tuple[int, int]:
    """Places of the first and the last period with snippets that tell; of all where none do."""
    told = np.flatnonzero(cells_told(estimator).sum(axis=0) > 0)
    return (int(told[0]), int(told[-1])) if told.size else (0, -1)


def ends(estimator: Any, at: Any = None) -> Ends:
    """Words of the senses of a fitted `DiSCSenseModel` in two periods.

    Parameters
    ----------
    estimator : DiSCSenseModel
    at : pair of int, optional
        The periods; by default the first and the last with snippets.

    Returns
    -------
    Ends
    """
    if at is None:
        at = first_and_last(estimator)
    mean, shares = word_draws(estimator).mean(), sense_shares(estimator)
    places = np.stack([first_words(mean[:, t], shares, _COMPARED, "relevant") for t in at])
    changed = [
        k
        for k, (before, after) in enumerate(zip(*places, strict=True))
        if np.intersect1d(before, after).size < min(_ALIKE, places.shape[2])
    ]
    labels = estimator.periods_.labels
    names = given_names(estimator.posterior_, "sense")
    return Ends((labels[at[0]], labels[at[1]]), estimator.words_[places], changed, names)

"""Whether the senses or topics of two fits to the same texts are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..posterior.sentences import joined
from .matching import match

# Share of texts of one most probable kind from which on two fits have the same kinds.
_ALIKE = 0.8
# Kinds with other numbers that are named.
_NAMED = 5


@dataclass(frozen=True)
class Kinds:
    """Senses or topics of a fit, by the texts they are of.

    Attributes
    ----------
    proba : ndarray of shape (n_kinds, n_texts)
        Probabilities of the senses of each snippet, or shares of the topics in each document.
    names : ndarray of str or None
        Of the kinds, if they were given.
    what : str
        What one is called.
    of : str
        What the texts are called.
    """

    proba: np.ndarray
    names: np.ndarray | None = None
    what: str = "sense"
    of: str = "snippets"

    def names_for(self, other: Kinds) -> dict[int, str] | None:
        """Names of kinds of another fit: those that the nearest of these have; None if none has.

        Those that are none's nearest have none.
        """
        if self.names is None or self.proba.shape[1] != other.proba.shape[1]:
            return None
        theirs = self.matched(other)
        return {k: self.names[mine] for k, mine in enumerate(theirs[: len(other.proba)])
                if mine >= 0 and not self.names[mine].isdigit()}  # fmt: skip

    def matched(self, other: Kinds) -> np.ndarray:
        """For each kind of another fit, that of these which is matched to it, or -1."""
        if self.proba.shape[1] != other.proba.shape[1]:
            return np.full(len(other.proba), -1)
        theirs = np.full(max(len(self.proba), len(other.proba)), -1)
        # of the fit with fewer kinds, that of each of its kinds
        if len(self.proba) <= len(other.proba):
            theirs[match(self.proba, other.proba)] = np.arange(len(self.proba))
        else:
            theirs[: len(other.proba)] = match(other.proba, self.proba)
        return theirs

    def _same(self, other, theirs):
        """Share of the texts whose most probable kinds are matched, as ``theirs`` says."""
        return np.mean(theirs[other.proba.argmax(axis=0)] == self.proba.argmax(axis=0))

    def alike(self, other: Kinds) -> bool:
        """Whether the kinds of another fit to the same texts are these, whatever their numbers."""
        if self.proba.shape[1] != other.proba.shape[1]:
            return False
        return bool(self._same(other, self.matched(other)) >= _ALIKE)

    def unlike(self, other: Kinds, whose: str) -> str:
        """In what the kinds of another fit differ from these, which are ``whose``; or no text."""
        n, here = self.proba.shape[1], other.proba.shape[1]
        if n != here:
            return (
                f"The {self.what}s cannot be matched with those of {whose}: they are of {here} "
                f"{self.of} here and of {n} there."
            )
        theirs = self.matched(other)
        same = self._same(other, theirs)
        moved = [k for k in range(len(other.proba)) if theirs[k] not in (k, -1)]
        if same >= _ALIKE and not moved:
            return ""
        known = self._told(moved, theirs, whose)
        if same >= _ALIKE:
            return f"The {self.what}s have other numbers than with {whose}: {known}."
        return (
            f"The {self.what}s are others than with {whose}: matched, they agree on "
            f"{100 * same:.0f} % of the {self.of}{f'; {known}' if known else ''}. Answers may be "
            f"about another {self.what}."
        )

    def _told(self, moved, theirs, whose):
        """Which kinds have other numbers; the first of many."""
        if not moved:
            return ""
        one = self.what
        nearest = [f"{one} {k} here is {one} {theirs[k]} of {whose}" for k in moved[:_NAMED]]
        more = len(moved) - _NAMED
        return joined([*nearest, *([f"{more} more have other numbers"] if more > 0 else [])])

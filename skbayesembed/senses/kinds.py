"""Whether the senses of two fits to the same snippets are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..inference.matching import match
from ..posterior.sentences import joined

# Share of snippets of one most probable sense from which on two fits have the same senses.
_ALIKE = 0.8


@dataclass(frozen=True)
class SenseKinds:
    """Senses of a fit, by the snippets they are of.

    Attributes
    ----------
    proba : ndarray of shape (n_senses, n_snippets)
        Probabilities of the senses of each snippet.
    names : ndarray of str or None
        Of the senses, if they were given.
    """

    proba: np.ndarray
    names: np.ndarray | None = None

    def names_for(self, other: SenseKinds) -> dict[int, str] | None:
        """Names of senses of another fit: those that the nearest of these have; None if none has.

        Those that are none's nearest have none.
        """
        if self.names is None or self.proba.shape[1] != other.proba.shape[1]:
            return None
        theirs = self._nearest_to(other)
        return {k: self.names[mine] for k, mine in enumerate(theirs[: len(other.proba)])
                if mine >= 0 and not self.names[mine].isdigit()}  # fmt: skip

    def _nearest_to(self, other):
        """For each sense of another fit, that of these which is matched to it, or -1."""
        theirs = np.full(max(len(self.proba), len(other.proba)), -1)
        # of the fit with fewer senses, that of each of its senses
        if len(self.proba) <= len(other.proba):
            theirs[match(self.proba, other.proba)] = np.arange(len(self.proba))
        else:
            theirs[: len(other.proba)] = match(other.proba, self.proba)
        return theirs

    def unlike(self, other: SenseKinds, whose: str) -> str:
        """In what the senses of another fit differ from these, which are ``whose``; or no text."""
        if self.proba.shape[1] != other.proba.shape[1]:
            return ""
        theirs = self._nearest_to(other)
        same = np.mean(theirs[other.proba.argmax(axis=0)] == self.proba.argmax(axis=0))
        moved = [k for k in range(len(other.proba)) if theirs[k] not in (k, -1)]
        if same >= _ALIKE and not moved:
            return ""
        nearest = [f"its sense {k} is nearest to sense {theirs[k]} there" for k in moved]
        known = joined(nearest) if moved else ""
        if same >= _ALIKE:
            return f"The senses have other numbers than with {whose}: {known}."
        return (
            f"The senses are others than with {whose}: matched, they agree on {100 * same:.0f} % "
            f"of the snippets{f'; {known}' if known else ''}. Answers may be about another sense."
        )

"""What tables of regressions of documents have in common: the units that were sampled."""

from __future__ import annotations

from .sentences import allows_for
from .sources import from_units
from .tables import Table


class RegressedTable(Table):
    """Base of tables whose intervals allow for the sampling of units, or of documents.

    Attributes
    ----------
    n_documents, n_units : int
    units_name : str or None
        Name of the column of units; None where it has none, and where documents are the units.
    """

    n_documents: int
    n_units: int
    units_name: str | None

    def _sampled(self) -> str:
        """What was sampled, in words that have no number."""
        alike = self.n_units == self.n_documents and self.units_name is None
        return "documents" if alike else "units"

    @property
    def _units_called(self) -> str | None:
        return "document" if self._sampled() == "documents" else None

    def _sample(self) -> str:
        """What intervals allow for, a clause."""
        return allows_for(self.n_units, self.units_name or self._units_called)

    def _rows(self) -> str:
        """What was regressed."""
        return f"{self.n_documents:,} documents"

    def _about(self) -> str:
        """The same, and from which units."""
        if self._sampled() == "documents":
            return self._rows()
        return f"{self._rows()} {from_units(self.n_units, self.units_name)}"

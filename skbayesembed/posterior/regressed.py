"""What tables of regressions of documents have in common: the units that were sampled, digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..corpus.design import INTERCEPT
from ..corpus.products import Product, held
from .cells import dashed
from .sentences import allows_for, decimals, step_between, step_of
from .sources import from_units
from .tables import Table

# Share of a term that others explain, above which it is said.
_MUCH = 0.8
# Digits after the point, beyond which effects have an exponent.
_MOST_DIGITS = 8


class RegressedTable(Table):
    """Base of tables whose intervals allow for the sampling of units, or of documents.

    Attributes
    ----------
    n_documents, n_units : int
    units_name : str or None
        Name of the column of units; None where it has none, and where documents are the units.
    terms : ndarray of str of shape (n_terms,)
    zero_one : ndarray of bool of shape (n_terms,) or None
        Which terms are 0 or 1.
    products : tuple of Product
        Terms that are products of two others, or squares of one.
    """

    terms: np.ndarray
    zero_one: np.ndarray | None
    products: tuple[Product, ...]
    n_documents: int
    n_units: int
    units_name: str | None

    def _step(self, j: int) -> str:
        """What the effect of a term is for, in a sentence, and what else is held."""
        several = int(np.sum(self.terms != INTERCEPT)) > 1
        return f"{self._change(j)}{held(str(self.terms[j]), self.products, several)}"

    def _change(self, j: int) -> str:
        """What the effect of a term is for, in a sentence."""
        between = self.zero_one is not None and self.zero_one[j]
        return (step_between if between else step_of)(repr(str(self.terms[j])))

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


def note_on_explained(terms: Sequence[Any] | np.ndarray, shares: Any, what: str) -> list[str]:
    """A line below a table, in a list, on terms that the others explain; none where they do not.

    Parameters
    ----------
    terms : sequence of str of length n_terms
    shares : ndarray of shape (n_terms,) or None
        As of `corpus.design.explained_by_others`; None where they are not known.
    what : str
        What rests on the rest of a term: "slopes" or "effects".

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.regressed import note_on_explained
    >>> note_on_explained(["year", "age"], np.array([0.93, 0.5]), "slopes")
    ['(explained by the other terms: 93 % of year; slopes rest on what is left)']
    """
    if shares is None:
        return []
    much = [j for j, share in enumerate(shares) if share > _MUCH]
    if not much:
        return []
    told = ", ".join(f"{_percent(shares[j])} of {terms[j]}" for j in much)
    return [f"(explained by the other terms: {told}; {what} rest on what is left)"]


def _percent(share):
    """A share that is less than one, which rounding does not make the whole."""
    text = f"{100 * share:.0f}"
    return "over 99 %" if text == "100" else f"{text} %"


def spec_of_effects(sd: np.ndarray, mean: np.ndarray, enough: int) -> str:
    """Format of the effects of a term: three significant digits of their standard errors.

    If ``enough`` digits after the point show two of the smallest one, there are no more.

    Parameters
    ----------
    sd, mean : ndarray of shape (n_rows,)
        Where no standard error is known, digits follow the largest of the means.
    enough : int

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.regressed import spec_of_effects
    >>> one = np.ones(1)
    >>> [spec_of_effects(sd * one, one, 4) for sd in (31.2, 1.24, 0.0123, 0.0004, 3.1e-9)]
    ['.1f', '.2f', '.4f', '.5f', '.2e']
    """
    known = sd[np.isfinite(sd) & (sd > 0)]
    size = known.min() if known.size else np.max(np.abs(mean), initial=0, where=np.isfinite(mean))
    most = _MOST_DIGITS + 1
    digits = min(decimals(size / 10.0, most=most), max(enough, decimals(size, most=most)))
    return ".2e" if digits > _MOST_DIGITS else f".{digits}f"


def texts_by_row(values: np.ndarray, specs: Sequence[str]) -> list[str]:
    """Texts of numbers (n_rows,) or intervals (n_rows, 2), each row by its format; NaN is a dash.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.regressed import texts_by_row
    >>> texts_by_row(np.array([0.123, np.nan]), [".2f", ".1f"])
    ['0.12', '-']
    >>> texts_by_row(np.array([[0.123, 4.5], [np.nan, np.nan]]), ["+.2f", ".1f"])
    ['[+0.12, +4.50]', '-']
    """
    texts = []
    for row, spec in zip(values, specs, strict=True):
        ends = dashed(spec)(np.atleast_1d(row))
        texts.append(ends[0] if ends[0] == "-" or len(ends) == 1 else f"[{', '.join(ends)}]")
    return texts

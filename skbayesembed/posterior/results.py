"""Answers with named entries, shown as tables: a `Bunch` that prints in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils import Bunch

from .result_table import MAX_ROWS, ResultTable
from .sources import source_of_posterior

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class About:
    """Description of a `Result`.

    Attributes
    ----------
    title : str or None
        Printed above the table.
    axes : mapping of str to sequence
        Names of the axes of its entries, in order, and the labels along each; empty if the entries
        are single numbers.
    prob : float or None
        Probability of its intervals.
    source : str or None
        What the intervals rest on, as in `sources.source_of`.
    ends : tuple of str
        Entries that are intervals, with (low, high) on an extra axis.
    asides : sequence of str
        Lines below the table that are about the fit.
    carried : sequence of str
        Those of them that hold for differences between this and other results, too.
    lent : bool
        Whether effective units are for all periods together.
    of_units : int or None
        Number of units whose sampling the intervals allow for, if they do.
    units_name : str or None
        Name of the column in which the units were given.
    units_called : str or None
        What a unit is called where that is none: a document, where each is one.
    asked : mapping of str to object
        What was asked, as words and periods, by the names of arguments: columns of data frames.
    whole : str or None
        The title where nothing is cut, for sentences and data frames; None for ``title``.
    """

    title: str | None = None
    axes: Mapping[str, Sequence] = field(default_factory=dict)
    prob: float | None = None
    source: str | None = None
    ends: tuple[str, ...] = ("interval", "seen_interval")
    asides: Sequence[str] = ()
    carried: Sequence[str] = ()
    lent: bool = False
    of_units: int | None = None
    units_name: str | None = None
    units_called: str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    whole: str | None = None


class Result(Bunch):
    """Result of a method: named entries, reached as attributes.

    It prints as a table, one row for each answer, without its draws. It shows as HTML in notebooks,
    and becomes a pandas DataFrame with `to_frame`.

    Parameters
    ----------
    entries : mapping of str to object
    about : About, optional

    Attributes
    ----------
    title : str or None
        What the result is about.
    axes : dict of str to list
        Names of the axes of the entries, and the labels along them.
    prob : float or None
        Probability of the intervals.
    of_units : int or None
        Number of units that were sampled, if the intervals allow for that.
    units_name : str or None
        Name of the column in which the units were given, if it had one.
    source : str or None
        What the intervals rest on: ``"units"`` (the sampling of documents, speakers, works),
        ``"model"`` or ``"posterior"`` (draws of chains; ``"unmixed"`` if a fit warned about them),
        ``"vi"`` and ``"laplace"`` (approximations), ``"point"`` (one draw, no interval). Behind it:
        ``", vectors"`` if it includes draws of word vectors, ``", thinned"`` if only some draws
        were kept (``save(draws=)``), ``", in one of several modes"`` if more than one mode of the
        posterior matters, ``", other units"`` if it includes units that were not seen, ``",
        independent"`` if ``fit`` was given no units and snippets count as independent.

    Examples
    --------
    >>> from skbayesembed.posterior.results import About, Result
    >>> axes = {"period": [1810, 1820]}
    >>> found = Result({"mean": [0.25, 0.5], "draws": [[0.2, 0.4], [0.3, 0.6]]}, About(axes=axes))
    >>> found
    period   mean
      1810  0.250
      1820  0.500
    >>> found.draws
    [[0.2, 0.4], [0.3, 0.6]]
    """

    def __init__(self, entries: Mapping[str, Any] | None = None, about: About | None = None):
        super().__init__(**(entries or {}))
        # in the dict of the object, beside the entries
        object.__setattr__(self, "_about", about or About())

    @property
    def title(self) -> str | None:
        """What the result is about."""
        return self._about.title

    @property
    def _whole(self) -> str | None:
        """The title with all words of lists, as sentences have it."""
        return self._about.whole or self._about.title

    @property
    def of_units(self) -> int | None:
        """Number of units that were sampled, if intervals allow for that."""
        return self._about.of_units

    @property
    def units_name(self) -> str | None:
        """Name of the column in which the units were given."""
        return self._about.units_name

    @property
    def _units_called(self) -> str | None:
        return self._about.units_called

    @property
    def axes(self) -> dict[str, list]:
        """Names of the axes of the entries, and the labels along them."""
        return {name: list(labels) for name, labels in self._about.axes.items()}

    @property
    def prob(self) -> float | None:
        """Probability of the intervals."""
        return self._about.prob

    @property
    def source(self) -> str | None:
        """What the intervals rest on."""
        return self._about.source

    def to_frame(self, *, sentence: bool = False) -> pd.DataFrame:
        """Return the answers as a pandas DataFrame.

        Parameters
        ----------
        sentence : bool, default=False
            Whether to have a column with the answer in words, where there is a sentence.

        Returns
        -------
        pandas.DataFrame
            One row for each answer, without draws. What was asked comes first (words and periods,
            by the names of the method's arguments), so that frames of several answers can be
            stacked; then the labels of axes. The column ``verdict`` has what the printed table has,
            such as ``"probably closer"``; the attribute ``verdict`` has no "probably".

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> frame = model.similarity("cat", "mat").to_frame()
        >>> frame["a"].tolist(), frame["b"].tolist(), "sentence" in frame
        (['cat'], ['mat'], False)
        """
        return ResultTable(self).to_frame(sentence=sentence)

    def to_string(self, max_rows: int | None = MAX_ROWS) -> str:
        """Return the answers as text; see `Table.to_string`.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> print(model.similarity("cat", "mat").to_string().splitlines()[0])
        similarity of 'cat' and 'mat'
        """
        return ResultTable(self).to_string(max_rows)

    def __repr__(self) -> str:
        return self.to_string()

    def _repr_html_(self):
        return ResultTable(self)._repr_html_()

    def _noting(self, *lines: str) -> Self:
        """Add lines below the table; returns the result."""
        about = replace(self._about, asides=(*self._about.asides, *lines))
        object.__setattr__(self, "_about", about)
        return self

    def _carrying(self, *lines: str) -> Self:
        """The same with lines that also hold for differences between this and other results."""
        self._noting(*lines)
        about = replace(self._about, carried=(*self._about.carried, *lines))
        object.__setattr__(self, "_about", about)
        return self

    def copy(self) -> Self:
        """Return a shallow copy.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> found = model.similarity("cat", "mat")
        >>> found.copy().title == found.title
        True
        """
        return _again(type(self), dict(self), self._about)

    def __reduce__(self):
        # of a copy that is kept elsewhere the entries are enough
        return _again, (type(self), dict(self), self._about)


def _again(kind, entries, about):
    """A `Result` of a kind, of its entries and what it is about."""
    made = kind.__new__(kind)
    Result.__init__(made, entries, about)
    return made


def titled(title: str, **entries: Any) -> Result:
    """A `Result` of single numbers, and of arrays that are not printed."""
    return Result(entries, About(title))


def mixed(posterior: Any) -> dict[str, Any]:
    """Entries of a score that say whether its draws are those of the whole posterior.

    ``converged``, whether chains have mixed, none of what is no chains; ``modes_that_matter``, of
    which the draws are from one, where modes were looked for.
    """
    source = source_of_posterior(posterior).split(", ")[0]
    known = source in ("posterior", "unmixed") and "converged" in posterior.attrs
    found: dict[str, Any] = {"converged": source == "posterior"} if known else {}
    if "modes_that_matter" in posterior.attrs:
        found["modes_that_matter"] = int(posterior.attrs["modes_that_matter"])
    return found

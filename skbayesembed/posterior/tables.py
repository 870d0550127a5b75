"""The table behind every printed answer: columns, intervals, text, HTML and data frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..common.checks import is_whole
from .cells import bounded, number
from .sources import notes_on

if TYPE_CHECKING:
    import pandas as pd


def frame_of(columns: Mapping[str, Any], index: Any = None) -> pd.DataFrame:
    """Make a pandas DataFrame of named columns.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas") from error
    return pd.DataFrame(columns, index=index)


# Columns that say nothing of a point estimate.
_OF_WIDTH = {"sd", "low", "high", "interval", "seen_interval"}


class Column(NamedTuple):
    """One column of a `Table`.

    Attributes
    ----------
    head : str
        What is printed above it.
    values : ndarray of shape (n_rows,), or (n_rows, 2) for an interval
    names : tuple of str
        Its name in a data frame; two names for an interval; empty for what is only printed.
    show : str or callable
        How numbers are printed: a format specification, or a function of the array of values that
        returns a list of texts. Values that are texts are printed as they are.
    left : bool
        Whether cells are aligned on the left.
    few : ndarray of bool of shape (n_rows,) or None
        Rows about which there are too few data, printed as a dash.
    texts : list of str of length n_rows or None
        What is printed, where that depends on other columns; else values are, as ``show`` says.
    """

    head: str
    values: np.ndarray
    names: tuple[str, ...]
    show: str | Callable[[np.ndarray], list[str]] = ".3f"
    left: bool = False
    few: np.ndarray | None = None
    texts: list[str] | None = None

    def cells(self, rows: Sequence[int]) -> list[str]:
        """Texts of the cells in some rows, a list."""
        values = [self.values[i] for i in rows]
        if self.texts is not None:
            texts = [self.texts[i] for i in rows]
        elif callable(self.show):
            texts = self.show(np.asarray(values))
        else:
            texts = [cell(value, self.show) for value in values]
        if self.few is None:
            return texts
        return ["-" if self.few[i] else text for i, text in zip(rows, texts, strict=True)]

    def without_width(self) -> Column:
        """The column as a point estimate has it: dashes for standard deviations and intervals."""
        if not _OF_WIDTH & set(self.names):
            return self
        return self._replace(texts=None, few=np.ones(len(self.values), bool))

    def series(self) -> dict[str, Any]:
        """Columns that a data frame has of this one, a dict of arrays by name."""
        if len(self.names) < 2:
            return dict.fromkeys(self.names, self.values)
        return {name: self.values[:, i] for i, name in enumerate(self.names)}


def cell(value: Any, spec: str) -> str:
    """A number or an interval as a table prints it; a text as it is, an unknown interval a dash."""
    if isinstance(value, str):
        return value
    if np.ndim(value) and np.isnan(value).all():
        return "-"
    if np.ndim(value):
        return f"[{number(value[0], spec)}, {number(value[1], spec)}]"
    return number(value, spec)


class Table:
    """A table of answers, one in each row.

    It prints as text, shows as HTML in notebooks, and becomes a pandas DataFrame with `to_frame`.
    Subclasses define the columns, title and notes.

    Attributes
    ----------
    prob : float
        Probability of the intervals.
    n_draws : int or None
        Number of draws behind the figures: 1 for a point estimate, None if it is not known.
    source : str or None
        What the intervals rest on: ``"units"`` (the sampling of documents, speakers, works),
        ``"units and features"`` (for `regress`, also the uncertainty of the features), ``"model"``
        or ``"posterior"`` (draws of chains; ``"unmixed"`` if a fit warned about them), ``"vi"`` and
        ``"laplace"`` (approximations), ``"point"`` (one draw, no interval); None if unknown. It is
        followed by ``", vectors"`` if it includes draws of word vectors, and by ``", other units"``
        if it includes units that were not seen, or ``", independent"`` if ``fit`` was given no
        units and snippets count as independent.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> table = model.most_similar("cat", 2)
    >>> table.source, table.prob
    ('units', 0.9)
    >>> table.to_frame().columns.tolist()
    ['nearest_to', 'word', 'mean', 'sd', 'low', 'high', 'prob_top', 'n_units']
    """

    n_draws: int | None = None
    source: str | None = None
    _asides: tuple[str, ...] = ()
    # Whether effective units are those of all periods together.
    _lent: bool = False
    # Tables with more rows are cut when they are printed; None cuts none.
    _max_rows: int | None = None

    def _columns(self):
        """The columns of the table, a list of `Column`."""
        raise NotImplementedError

    def _title(self):
        """Text above the table, or None."""
        return None

    def _groups(self):
        """Groups of rows, or None.

        A pair: the name of the grouping, and the group of each row. Rows of a group are adjacent.
        """
        return None

    def _notes(self):
        """Lines to print below the table."""
        return [*notes_on("point" if self._is_point() else self.source, self), *self._asides]

    def _is_point(self):
        """Whether there is one draw, which has no intervals."""
        return self.n_draws == 1 or self.source == "point"

    def _chances(self, values):
        """Texts of probabilities; dashes of one draw, whose 0 or 1 says nothing."""
        if self._is_point():
            return ["-" for _ in values]
        return bounded(values)

    def _resting_on(self, source: str, asides: Sequence[str] = ()) -> Self:
        """Note what intervals rest on, as of `sources.source_of`; returns the table.

        ``asides`` are lines below it that are about the fit.
        """
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "_asides", tuple(asides))
        return self

    def _of_periods(self) -> Self:
        """Note that effective units are those of all periods together; returns the table."""
        object.__setattr__(self, "_lent", True)
        return self

    def _index(self):
        """Labels of the rows in a data frame, or None for their numbers."""
        return None

    def __len__(self) -> int:
        return len(self._columns()[0].values)

    def __getitem__(self, name: str) -> np.ndarray:
        """Values of a column of the data frame, by its name."""
        series = self._series()
        if not isinstance(name, str):
            raise TypeError(
                f"columns are had by name ({', '.join(series)}), and rows by to_frame(), got "
                f"{name!r}."
            )
        if name not in series:
            raise KeyError(f"unknown column {name!r}; available: {', '.join(series)}")
        return series[name]

    def _series(self):
        """Columns of the data frame, a dict of arrays by name."""
        groups = self._groups()
        series = {} if groups is None else {groups[0]: np.asarray(groups[1])}
        for column in self._columns():
            series |= column.series()
        return series

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        All tables have this method, here one of the summaries of a posterior:

        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> posterior.summary("x").to_frame().shape
        (3, 8)
        """
        return frame_of(self._series(), index=self._index())

    def to_string(self, max_rows: int | None = 20) -> str:
        """Return the table as text.

        Parameters
        ----------
        max_rows : int or None, default=20
            Number of rows to show; of a longer table, only the first and last rows are shown. None
            shows every row.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If ``max_rows`` is not an integer >= 2 or None.

        Examples
        --------
        All tables have this method, here one of the summaries of a posterior:

        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> posterior.summary("x").to_string(max_rows=2).splitlines()[2]
        '...'
        """
        if max_rows is not None and (not is_whole(max_rows) or max_rows < 2):
            raise ValueError(f"max_rows must be an integer >= 2 or None, got {max_rows!r}.")
        shown, cut = self._shown(max_rows)
        grid = self._grid(shown)
        widths = [max(map(len, texts)) for texts in grid]
        aligned = [
            [text.ljust(width) if column.left else text.rjust(width) for text in texts]
            for column, texts, width in zip(self._columns(), grid, widths, strict=True)
        ]
        head, *lines = ("  ".join(row).rstrip() for row in zip(*aligned, strict=True))
        lines = self._under_headings(lines, shown, cut)
        top = [] if self._title() is None else [self._title()]
        notes = [*self._notes(), *([] if cut is None else self._notes_on_cut(len(shown)))]
        return "\n".join([*top, *([head] if head else []), *lines, *notes])

    def _notes_on_cut(self, n_shown: int) -> list[str]:
        """Lines below a table of which only some rows are shown."""
        return []

    def _shown(self, max_rows):
        """Rows to be printed, and the place among them where others are left out (or None)."""
        n = len(self._columns()[0].values)
        if max_rows is None or n <= max_rows:
            return list(range(n)), None
        head = (max_rows + 1) // 2
        return [*range(head), *range(n - max_rows // 2, n)], head

    def _grid(self, rows):
        """Head and cells of every column."""
        columns = self._columns()
        if self._is_point():
            columns = [c.without_width() for c in columns]
        return [[c.head, *c.cells(rows)] for c in columns]

    def _under_headings(self, lines, rows, cut):
        """Lines of rows, a heading before each group, and dots where rows are left out."""
        name, labels = self._groups() or ("", None)
        out, last = [], None
        for place, (i, line) in enumerate(zip(rows, lines, strict=True)):
            if place == cut:
                out.append("...")
            if labels is None:
                out.append(line)
                continue
            if last is None or labels[i] != last:
                last = labels[i]
                out.append(f"{name} {last}")
            out.append(f"  {line}")
        return out

    def __repr__(self) -> str:
        return self.to_string(self._max_rows)

    def _repr_html_(self):
        """Rich display in notebooks."""
        shown, cut = self._shown(self._max_rows)
        columns, groups = self._columns(), self._groups()
        grid = self._grid(shown)
        heads, rows = [texts[0] for texts in grid], list(zip(*(t[1:] for t in grid), strict=True))
        if groups is not None:
            heads = [groups[0], *heads]
            rows = [(str(groups[1][i]), *row) for i, row in zip(shown, rows, strict=True)]
        if cut is not None:
            rows.insert(cut, ("...",) * len(heads))
        left = [True] * (groups is not None) + [c.left for c in columns]
        parts = ["<table>"]
        if self._title() is not None:
            parts.append(f"<caption>{escape(self._title())}</caption>")
        for tag, part in (("th", [heads]), ("td", rows)):
            for row in part:
                cells = "".join(
                    f'<{tag} style="text-align: {"left" if at_left else "right"}">'
                    f"{escape(text)}</{tag}>"
                    for text, at_left in zip(row, left, strict=True)
                )
                parts.append(f"<tr>{cells}</tr>")
        parts.append("</table>")
        notes = [*self._notes(), *([] if cut is None else self._notes_on_cut(len(shown)))]
        return "\n".join([*parts, *(f"<p>{escape(note)}</p>" for note in notes)])

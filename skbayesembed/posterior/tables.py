"""The table behind every printed answer: columns, intervals, text, HTML and data frames."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..common.checks import is_whole
from .sources import notes_on

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

# Digits of a probability, beyond those that are printed, that are not rounding errors.
_MEANT = 8
# Words of a list that stand for it in print, and what stands between words and ends of an axis.
_LISTED, _COMMA, _ARROW = 3, ", ", " -> "
# First words of a topic or sense that are printed in a row.
_PRINTED_WORDS = 6


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


def repeated(value: Any, n: int) -> np.ndarray:
    """A column with the same value in ``n`` rows, whatever it is."""
    out = np.empty(n, dtype=object)
    out[:] = [value] * n
    return out


def false_shares(probability: np.ndarray) -> np.ndarray:
    """Expected share of false discoveries down to each row, where a table is cut below it.

    Parameters
    ----------
    probability : ndarray of shape (n_rows,)
        That what a row claims is true, in the order of the table.

    Returns
    -------
    ndarray of shape (n_rows,)
        Mean of what is missing to one over this row and those above it.
    """
    return np.cumsum(1.0 - probability) / np.arange(1, probability.size + 1)


def share_of(value: float) -> str:
    """A share of the posterior as text; of one that is nearly all that it is nearly all.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import share_of
    >>> share_of(0.99967), share_of(1.0), share_of(0.123456)
    ('>0.999', '1', '0.123')
    """
    text = f"{value:.3g}"
    return ">0.999" if text == "1" and value < 1 else text


def bounded(values: Iterable[float], digits: int = 2, *, both: bool = True) -> list[str]:
    """Texts of probabilities, which rounding does not make impossible or certain.

    What is halfway between two texts becomes the even one, so that the texts of a probability and
    of its complement add up to one.

    Parameters
    ----------
    values : iterable of float
        From 0 to 1; NaN is a dash.
    digits : int, default=2
        After the point.
    both : bool, default=True
        Whether those near 1 are bounded as those near 0 are.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from skbayesembed.posterior.tables import bounded
    >>> bounded([0.0, 0.25, 1.0]), bounded([0.015, 0.985])
    (['<0.01', '0.25', '>0.99'], ['0.02', '0.98'])
    """
    least = 10.0**-digits

    def text(value):
        if np.isnan(value):
            return "-"
        if value < least:
            return f"<{least:.{digits}f}"
        if both and value > 1.0 - least:
            return f">{1.0 - least:.{digits}f}"
        # of the decimal number that is meant, not of the binary one next to it
        return f"{np.rint(round(value / least, _MEANT)) * least:.{digits}f}"

    return [text(value) for value in values]


def number(value: Any, spec: str) -> str:
    """A number by a format specification; what rounds to zero has no sign.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import number
    >>> number(-0.0004, "+.3f"), number(-0.0006, "+.3f"), number(float("nan"), "+.3f")
    ('0.000', '-0.001', 'nan')
    """
    text = f"{value:{spec}}"
    digits = text.partition("e")[0]
    return text.lstrip("+-") if not digits.strip("+-0.,") or text == "+nan" else text


def dashed(spec: str) -> Callable[[Iterable[float]], list[str]]:
    """How a column is printed whose entries may be missing: by ``spec``, and NaN as a dash.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import dashed
    >>> dashed(".1f")([2.0, float("nan")])
    ['2.0', '-']
    """
    return lambda values: ["-" if np.isnan(value) else number(value, spec) for value in values]


def cut_list(label: str) -> str:
    """A list of words as tables print it: its first three words, and how many others there are.

    Of an axis, as ``"low -> high"``, each end is a list.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import cut_list
    >>> cut_list("oak, elm, ash, yew, fir"), cut_list("oak"), cut_list("a, b, c, d -> e")
    ('oak, elm, ash (+2)', 'oak', 'a, b, c (+1) -> e')
    """
    ends = []
    for end in label.split(_ARROW):
        words = end.split(_COMMA)
        more = f" (+{len(words) - _LISTED})" if len(words) > _LISTED else ""
        ends.append(f"{_COMMA.join(words[:_LISTED])}{more}")
    return _ARROW.join(ends)


def in_figure(label: str) -> str:
    """A list of words, or an axis, as figures have it.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import in_figure
    >>> in_figure("oak, elm"), in_figure("a, b, c, d -> e")
    ('oak, elm', 'a, b, c and 1 more → e')
    """
    return re.sub(r" \(\+(\d+)\)", r" and \1 more", cut_list(label)).replace(_ARROW, " → ")


def quoted_each(label: str) -> str:
    """A list of words with each of them in quotation marks.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import quoted_each
    >>> quoted_each("oak, elm")
    "'oak', 'elm'"
    """
    return _COMMA.join(repr(word) for word in label.split(_COMMA))


def cut_lists(labels: Iterable[str]) -> list[str]:
    """The same of each label of a column."""
    return [cut_list(str(label)) for label in labels]


def amounts(values: Iterable[float]) -> list[str]:
    """Texts of numbers of pairs and units: three digits, or all those before the point.

    Examples
    --------
    >>> from skbayesembed.posterior.tables import amounts
    >>> amounts([0.0, 17.25, 838.5, 12345.0])
    ['0', '17.2', '838', '12345']
    """
    return ["-" if np.isnan(v) else f"{v:.0f}" if v >= 100 else f"{v:.3g}" for v in values]


def both_amounts(first: Iterable[float], second: Iterable[float]) -> list[str]:
    """The same of two periods, in one cell."""
    return [", ".join(texts) for texts in zip(amounts(first), amounts(second), strict=True)]


def p_values(values: Iterable[float]) -> list[str]:
    """Texts of p-values: those below a thousandth as ``"<0.001"``."""
    return bounded(values, 3, both=False)


def labels_in_print(values: ArrayLike) -> list[str]:
    """Texts of labels; dates have no time of day where they have none.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.tables import labels_in_print
    >>> labels_in_print(np.array(["1790-01-08"], "datetime64[ns]")), labels_in_print([1850])
    (['1790-01-08'], ['1850'])
    """
    given = np.asarray(values)
    if given.dtype.kind == "M" and np.datetime_data(given.dtype)[0] not in ("Y", "M"):
        return [str(text) for text in np.datetime_as_string(given, unit="auto")]
    dated = (datetime.datetime, np.datetime64)
    texts = (str(x).removesuffix(" 00:00:00") if isinstance(x, dated) else str(x) for x in given)
    return list(texts)


# Columns that say nothing of a point estimate.
_OF_WIDTH = {"sd", "low", "interval", "seen_interval"}


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
            texts = [self._cell(value) for value in values]
        if self.few is None:
            return texts
        return ["-" if self.few[i] else text for i, text in zip(rows, texts, strict=True)]

    def _cell(self, value):
        if isinstance(value, str):
            return value
        if np.ndim(value) and np.isnan(value).all():
            return "-"
        if np.ndim(value):
            return f"[{number(value[0], self.show)}, {number(value[1], self.show)}]"
        return number(value, self.show)

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
        return [*notes_on("point" if self._is_point() else self.source), *self._asides]

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


def first_printed(texts: Iterable[str]) -> list[str]:
    """As many words of each text as have room in print."""
    return [" ".join(text.split()[:_PRINTED_WORDS]) for text in texts]


def readable_numbers(values: np.ndarray) -> list[str]:
    """Texts of numbers, in fixed point where that shows all of them."""
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    # fixed point where it shows every entry, otherwise significant digits
    plain = not size.size or (size.max() < 1e6 and size.max() >= 1e-2)
    return [number(v, ".3f" if plain else ".3g") for v in values]

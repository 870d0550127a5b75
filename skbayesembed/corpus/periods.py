"""Periods that the times of documents fall into: single integers, single times, or bins."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..common.checks import check_integer
from ..common.warnings import warn_user

# Times as a user gives them: numbers, dates as NumPy's or pandas' arrays, lists of dates or texts.
Times = ArrayLike | Sequence[datetime.date] | Sequence[str]

# Times that are larger have no whole numbers; shorter gaps have no precision of their own.
_LARGEST_TIME, _LEAST_GAP = 2.0**63, 1e-100
# More periods than this are taken for a mistake where each integer is one (time stamps, say).
_MOST_PERIODS = 1000

# Dates as texts: year, month and perhaps day, and perhaps a time of the day.
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")
_ISO_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ].+)?)?")
_BASIC_DATE = re.compile(r"\d{8}")
_DAY_FIRST = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{2}|\d{4})")
# Texts for what is missing; NumPy writes NaN beside texts as a text.
_MISSING = frozenset(("", "nan", "nat", "none", "null", "na", "<na>"))
# Whole numbers between these that are all dates, as YYYYMMDD, are taken for such.
_FIRST_BASIC, _LAST_BASIC = 10000101, 29991231
# Periods that messages name.
_NAMED = 5


def find_two(periods, start, end):
    """Places of two periods, which differ; None stands for the first and the last."""
    at = [
        default if time is None else periods.find(time, name)
        for time, name, default in ((start, "start", 0), (end, "end", periods.n_periods - 1))
    ]
    if at[0] == at[1]:
        raise ValueError(
            f"start and end must be in different periods, got {periods.labels[at[0]]} for both."
        )
    return at


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods of time, which assign each time to a period.

    Use `Periods.learn` to make them from times and bins, and `Periods.of_times` if every distinct
    time is to be its own period.

    Attributes
    ----------
    n_periods : int
    edges : ndarray of shape (n_periods + 1,) or None
        Period ``t`` is ``edges[t] <= time < edges[t + 1]``; the last one includes its end. None if
        every integer, calendar year, or given time is a period.
    labels : list of int or of str
        Names of the periods: integers; times; or for bins, the first and the last whole number,
        such as ``"1810-1829"``, if all times learned are whole (``"-700 to -601"`` if one is
        negative), and for dates if all edges are whole years; otherwise the edges, such as
        ``"[1810.5, 1830.5)"``. The name of the last bin includes its end if a time learned is equal
        to it, and otherwise stops at the whole number before it.
    centres : ndarray of shape (n_periods,), dtype float64
        The integers, years or times, or the midpoints of the periods; for dates, in years.
    gaps : ndarray of shape (n_periods - 1,), dtype float64
        Distances between the centers of consecutive periods.
    exact : bool
        Whether every period is a single time, at any distance from the next.
    years : bool
        Whether every period is a calendar year of dates; any time in the year belongs to it.

    Examples
    --------
    >>> from skbayesembed.corpus.periods import Periods
    >>> periods = Periods.learn([3, 5, 5, 6])
    >>> periods.labels, periods.index([3, 6]).tolist()
    ([3, 4, 5, 6], [0, 3])
    >>> periods = Periods.learn([1812, 1850, 1871], bins=[1800, 1850, 1900])
    >>> periods.labels, periods.index([1812, 1850, 1900]).tolist()
    (['1800-1849', '1850-1899'], [0, 1, 1])
    >>> periods = Periods.learn(["1999-05-03", "2001-01-20"])
    >>> periods.labels, periods.index(["1999-12-31", "2001-01-01"]).tolist()
    ([1999, 2000, 2001], [0, 2])
    """

    n_periods: int
    edges: np.ndarray | None
    labels: list
    centres: np.ndarray
    gaps: np.ndarray
    exact: bool = False
    years: bool = False

    @classmethod
    def learn(cls, times: Times, n_periods: int | None = None, bins: Times | None = None) -> Self:
        """Learn the periods from times.

        Parameters
        ----------
        times : array-like of shape (n,)
            Numbers or dates, in the formats of `check_times`.
        n_periods : int or None, default=None
            Split the time from the first to the last into this many periods of equal length.
        bins : array-like of shape (n_periods + 1,) or None, default=None
            Increasing edges of the periods, numbers or dates. A time at an inner edge belongs to
            the later period, and the last period includes its end.

        Returns
        -------
        periods : Periods
            With neither ``n_periods`` nor ``bins``, one period for each integer from the first to
            the last time, or, for dates, for each calendar year. A period may contain no time.

        Raises
        ------
        ValueError
            If ``times`` cannot be read or are empty, ``n_periods`` and ``bins`` are both given or
            one is out of range, a time is outside ``bins``, or, without ``n_periods`` and ``bins``,
            numbers are not integers, or integers or years span more than 1000.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> Periods.learn([1800, 1850, 1899], n_periods=2).edges.tolist()
        [1800.0, 1849.5, 1899.0]
        """
        times, dates = _read_line(times, "times")
        if not times.size:
            raise ValueError("times must hold at least one time, got none.")
        if n_periods is not None and bins is not None:
            raise ValueError("n_periods and bins exclude each other: give one of them.")
        if bins is not None:
            periods = cls._of_edges(_check_bins(bins), times, dates)
            periods.index(times)
            return periods
        low, high = times.min(), times.max()
        if n_periods is not None:
            return cls._of_edges(_equal_widths(low, high, n_periods), times, dates)
        return cls._of_years(times) if dates else cls._of_integers(times, low, high)

    @classmethod
    def of_times(cls, times: Times) -> Self:
        """Make one period for each distinct time, however far apart they are.

        Parameters
        ----------
        times : array-like of shape (n,)
            Numbers or dates, in the formats of `check_times`.

        Returns
        -------
        periods : Periods

        Raises
        ------
        ValueError
            If ``times`` cannot be read or are empty.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> periods = Periods.of_times([1850, 1810, 1850, 1812.5])
        >>> periods.labels, periods.gaps.tolist(), periods.index([1850]).tolist()
        (['1810', '1812.5', '1850'], [2.5, 37.5], [2])
        """
        centres = np.unique(check_times(times))
        if not centres.size:
            raise ValueError("times must hold at least one time, got none.")
        gaps = np.diff(centres)
        if np.any(gaps < _LEAST_GAP):
            raise ValueError(
                f"times that differ must differ by {_LEAST_GAP:g} at least (scale them to years, "
                f"say), got two that differ by {gaps.min():.3g}."
            )
        whole = np.all(centres == np.round(centres))
        labels = centres.astype(np.int64).tolist() if whole else _names(centres)
        return cls(len(centres), None, labels, centres, gaps, True)

    @classmethod
    def _of_edges(cls, edges, times, dates):
        centres = edges[:-1] + np.diff(edges) / 2
        labels = None
        if np.all((edges if dates else times) == np.round(edges if dates else times)):
            labels = _whole_labels(edges, times.max() == edges[-1])
        return cls(len(centres), edges, labels or _edge_labels(edges), centres, np.diff(centres))

    @classmethod
    def _of_years(cls, times):
        years = np.floor(times)
        return replace(cls._of_integers(years, years.min(), years.max()), years=True)

    @classmethod
    def _of_integers(cls, times, low, high):
        fraction = times != np.round(times)
        if fraction.any():
            raise ValueError(
                "times must be integers, one for each period, unless n_periods or bins is given; "
                f"got {_say(times[fraction][0])}."
            )
        if high - low >= _MOST_PERIODS:
            raise ValueError(
                f"times span the {high - low + 1:.0f} integers from {_say(low)} to {_say(high)}, "
                f"more than {_MOST_PERIODS} periods: give n_periods or bins to group them."
            )
        labels = list(range(int(low), int(high) + 1))
        centres = np.array(labels, dtype=np.float64)
        return cls(len(labels), None, labels, centres, np.diff(centres))

    def extended(self, times: Times) -> Self:
        """Return the same single integers or years as periods, extended to further times.

        Parameters
        ----------
        times : array-like of shape (n,)
            Numbers or dates, in the formats of `check_times`.

        Returns
        -------
        periods : Periods

        Raises
        ------
        ValueError
            If ``times`` cannot be read, or one is not an integer while the periods are.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> Periods.learn([1850, 1851]).extended([1853]).labels
        [1850, 1851, 1852, 1853]
        """
        line = np.append(self.centres, self._read(times))
        return replace(self._of_integers(line, line.min(), line.max()), years=self.years)

    def index(self, times: Times) -> np.ndarray:
        """Find the period of each time.

        Parameters
        ----------
        times : array-like of shape (n,)
            Numbers or dates, in the formats of `check_times`.

        Returns
        -------
        index : ndarray of shape (n,), dtype int64
            From 0 to ``n_periods - 1``.

        Raises
        ------
        ValueError
            If ``times`` cannot be read, a time is before the first or after the last period, or one
            is not an integer while the periods are.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> Periods.learn([1800, 1899], bins=[1800, 1850, 1900]).index([1849, 1850]).tolist()
        [0, 1]
        """
        times = self._read(times)
        if self.exact:
            return self._index_of_times(times)
        ends = self.centres if self.edges is None else self.edges
        outside = (times < ends[0]) | (times > ends[-1])
        if outside.any():
            raise ValueError(
                f"times must be from {_say(ends[0])} to {_say(ends[-1])}, the periods known, "
                f"got {_say(times[outside][0])}; bins can cover times that have no data."
            )
        if self.edges is not None:
            found = np.searchsorted(self.edges, times, side="right") - 1
            return np.minimum(found, self.n_periods - 1).astype(np.int64, copy=False)
        return (_whole(times) - self.centres[0]).astype(np.int64)

    def nearest(self, times: Times) -> tuple[np.ndarray, np.ndarray]:
        """Find the period of each time, or the period nearest to it.

        Parameters
        ----------
        times : array-like of shape (n,)
            As in `index`.

        Returns
        -------
        index : ndarray of shape (n,), dtype int64
            As from `index`; the first period for earlier times, the last one for later times.
        outside : ndarray of shape (n,), dtype bool
            Which times are before the first or after the last period.

        Raises
        ------
        ValueError
            If ``times`` cannot be read, or one is not an integer while the periods are.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> Periods.learn([1850, 1852]).nearest([1851, 1860])
        (array([1, 2]), array([False,  True]))
        """
        times = self._read(times)
        ends = self.centres if self.edges is None else self.edges
        outside = (times < ends[0]) | (times > ends[-1])
        if self.edges is None and not self.exact:
            _whole(times)
        return self.index(np.clip(times, ends[0], ends[-1])), outside

    def _read(self, times):
        """Times as numbers, those of a year as the year where years are periods."""
        times = check_times(times)
        return np.floor(times) if self.years else times

    def _index_of_times(self, times):
        """The period of each time where every period is a single time."""
        found = np.minimum(np.searchsorted(self.centres, times), self.n_periods - 1)
        other = self.centres[found] != times
        if other.any():
            raise ValueError(
                f"times must be among the {self.n_periods} times of the periods, from "
                f"{_say(self.centres[0])} to {_say(self.centres[-1])}, got "
                f"{_say(times[other][0])}."
            )
        return found.astype(np.int64, copy=False)

    def find(self, time: Any, name: str = "time") -> int:
        """Find a period by a time in it, or by its label.

        Parameters
        ----------
        time : number, date or str
        name : str
            Name of the argument in error messages.

        Returns
        -------
        int
            From 0 to ``n_periods - 1``.

        Raises
        ------
        ValueError
            If there is no such period.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, n_periods=2, random_state=0)
        >>> model.fit(texts, times=list(range(1900, 1930))).periods_.find(1925)
        1
        """
        if isinstance(time, str):
            if time in self.labels:
                return self.labels.index(time)
            if _BASIC_DATE.fullmatch(time) and _basic_date(time) is not None:
                pass
            elif _NUMBER.fullmatch(time):
                time = float(time) if "." in time else int(time)
            elif not _ISO_DATE.fullmatch(time):
                raise ValueError(f"{name} must be a time or one of {self.labels}, got {time!r}.")
        try:
            return int(self.index([time])[0])
        except ValueError as error:
            raise ValueError(f"{name}={time!r} is in no period: {error}") from None

    def centre_of(self, times: Times) -> np.ndarray:
        """Return the center of the period of each time, continuing the periods on both sides.

        Parameters
        ----------
        times : array-like of shape (n,)
            Numbers or dates, in the formats of `check_times`.

        Returns
        -------
        centres : ndarray of shape (n,)
            Bins are continued by bins of the width of the first and the last, integers by integers,
            years by years. If periods are single times, each time is its own center.

        Raises
        ------
        ValueError
            If ``times`` cannot be read, or one is not an integer while the periods are.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> periods = Periods.learn([1812, 1850], bins=[1800, 1850, 1900])
        >>> periods.centre_of([1812, 1900, 1901, 1799]).tolist()
        [1825.0, 1875.0, 1925.0, 1775.0]
        """
        times = self._read(times)
        if self.exact:
            return times
        if self.edges is None:
            return _whole(times)
        edges = self.edges
        known = np.clip(times, edges[0], edges[-1])
        centres = self.centres[self.index(known)]
        first, last = edges[1] - edges[0], edges[-1] - edges[-2]
        later = np.floor((times - edges[-1]) / last) + 1
        earlier = np.ceil((edges[0] - times) / first)
        centres = np.where(times > edges[-1], self.centres[-1] + later * last, centres)
        return np.where(times < edges[0], self.centres[0] - earlier * first, centres)


def check_times(times: Times, n: int | None = None) -> np.ndarray:
    """Convert times to numbers; dates become years.

    Parameters
    ----------
    times : array-like of shape (n,)
        Numbers, or dates (from NumPy, pandas or ``datetime``; with a time zone, they are converted
        to UTC), also as strings in ISO format, such as ``"1999-05"``, ``"1999-05-03"`` or
        ``"1999-05-03T18:30"``, or without hyphens, ``"19990503"``. A date becomes its year plus the
        fraction of it that has passed: 2001-07-02 12:00 is 2001.5.
    n : int or None, default=None
        Required number of times, one for each document.

    Returns
    -------
    times : ndarray of shape (n,), dtype float64

    Raises
    ------
    ValueError
        If ``times`` is not one-dimensional, has a length other than ``n``, or contains anything but
        finite numbers and dates: numbers and other dates as strings, booleans, NaN, NaT, None, or
        only whole numbers that are dates without hyphens, such as 19990503.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.corpus.periods import check_times
    >>> check_times([1850, 1900.5]).tolist()
    [1850.0, 1900.5]
    >>> check_times(np.array(["1999-01-01", "2001-07-02T12"], dtype="datetime64[h]")).tolist()
    [1999.0, 2001.5]
    >>> check_times(["1999-01-01", "2001-07-02 12:00"]).tolist()
    [1999.0, 2001.5]
    """
    return _read_line(times, "times", n)[0]


def check_order(times: Times, n: int) -> np.ndarray:
    """Convert times, as `check_times`, of which two at least must differ.

    Raises
    ------
    ValueError
        As by `check_times`, or if all times are the same.
    """
    when = check_times(times, n)
    if np.ptp(when) == 0:
        raise ValueError(
            f"times must have two different values or more, got {when[0]:.10g} alone: leave them "
            "out, and units are treated as independent."
        )
    return when


def warn_of_empty(periods: Periods, times: np.ndarray) -> None:
    """Warn of periods of equal length that hold none of the times they were made of.

    One time with a digit too many leaves most of them empty.

    Parameters
    ----------
    periods : Periods
        Of ``n_periods``.
    times : ndarray of shape (n,)
        As `check_times` reads them.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from skbayesembed.corpus.periods import Periods, warn_of_empty
    >>> times = np.array([1991.0, 1999.0, 20200.0])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_empty(Periods.learn(times, n_periods=3), times)
    >>> str(caught[0].message).split(":")[0]
    '1 of 3 periods holds no times'
    """
    empty = np.flatnonzero(np.bincount(periods.index(times), minlength=periods.n_periods) == 0)
    if not empty.size:
        return
    named = [str(periods.labels[t]) for t in empty[:_NAMED]]
    more = "" if empty.size <= _NAMED else f" and {empty.size - _NAMED} more"
    warn_user(
        f"{empty.size} of {periods.n_periods} periods {'hold' if empty.size > 1 else 'holds'} no "
        f"times: {', '.join(named)}{more}. They are of equal length, from {_say(times.min())} to "
        f"{_say(times.max())}: is one of these a mistake? If it is none, take fewer n_periods, or "
        "bins=.",
        UserWarning,
    )


# ---------------------------------------------------------------------------------------------


def _read_line(values, name, n=None):
    """Finite numbers, of dates in years, as an array; and whether they were dates."""
    try:
        values = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a list or array of numbers or dates: {error}") from error
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {values.shape}.")
    if n is not None:
        check_integer("n", n, 0)
    if n is not None and len(values) != n:
        raise ValueError(
            f"{name} must have one entry for each of the {n} documents, got {len(values)}."
        )
    if values.dtype.kind in "OUT":
        values = _read_objects(values.astype(object), name)
    dates = values.dtype.kind == "M"
    if dates:
        line = _years(values)
    elif values.dtype.kind in "iuf" or not values.size:
        # what overflows is refused below
        with np.errstate(over="ignore"):
            line = values.astype(np.float64)
    else:
        _refuse(values.tolist()[0], name, 0)
    if not np.isfinite(line).all():
        i = int(np.flatnonzero(~np.isfinite(line))[0])
        raise ValueError(
            f"{name} must be finite and none missing, got {values[i]} in {name}[{i}]: leave such "
            "rows out."
        )
    if np.any(np.abs(line) >= _LARGEST_TIME):
        bad = line[np.abs(line) >= _LARGEST_TIME][0]
        raise _too_large(name, bad)
    if not dates and name == "times" and _are_basic_dates(line):
        raise ValueError(
            f"times look like dates written as whole numbers, got {line[0]:.0f}: pass texts "
            f"({str(int(line[0]))!r}), or years, as by np.asarray(times) // 10000."
        )
    return line, dates


def _too_large(name, bad):
    return ValueError(
        f"{name} must be between -2**63 and 2**63 (scale them to years, say), got {bad}."
    )


def _read_objects(values, name):
    """Python objects as datetime64 if all are dates, or as numbers."""
    for i, value in enumerate(values):
        if _is_missing(value):
            raise ValueError(
                f"{name} must be numbers or dates and none missing, got {value!r} in {name}[{i}]: "
                "leave such rows out."
            )
    if values.size and all(isinstance(value, str) for value in values):
        values = _read_texts(values, name)
    dates = [isinstance(value, datetime.date) for value in values]
    if all(dates):
        return np.array([_plain_date(value) for value in values], dtype="datetime64[us]")
    if any(dates):
        i = dates.index(not dates[0])
        raise ValueError(
            f"{name} must be all numbers or all dates, got both: {values[0]!r}, and {values[i]!r} "
            f"in {name}[{i}]."
        )
    for i, value in enumerate(values):
        if isinstance(value, str | bytes | bool | np.bool_):
            _refuse(value, name, i)
    try:
        return values.astype(np.float64)
    except OverflowError as error:
        raise _too_large(name, "a whole number that no float holds") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers or dates, none missing: {error}") from error


def _is_missing(value):
    """Whether an entry is None, not a number, NaT, pandas' NA or a text for one of them."""
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    return (
        value is None
        or type(value).__name__ == "NAType"
        or value is np.ma.masked
        or (isinstance(value, float | datetime.date | np.datetime64) and value != value)
    )


def _are_basic_dates(line):
    """Whether numbers are whole and each is a date as in 19990503."""
    if not line.size or np.any(line != np.round(line)):
        return False
    if line.min() < _FIRST_BASIC or line.max() > _LAST_BASIC:
        return False
    return all(_basic_date(f"{number:.0f}") is not None for number in np.unique(line))


def _basic_date(text):
    """The date of a text as in "19990503"; None where it is none."""
    try:
        return datetime.datetime.strptime(text, "%Y%m%d")
    except ValueError:
        return None


def _refuse(value, name, i=None):
    """Raise a ValueError for an entry that is neither number nor date."""
    advice = ""
    if isinstance(value, str | bytes):
        advice = "; convert texts first, " + (
            f"as by np.asarray({name}, dtype=float)"
            if _is_number(value)
            else f"dates as by pandas.to_datetime({name}{_order(value)}), or write them as in "
            "'1999-05-03'"
        )
    place = "" if i is None else f" in {name}[{i}]"
    raise ValueError(f"{name} must be numbers or dates, got {value!r}{place}{advice}.")


def _order(value):
    """What pandas needs to be told of the order of day and month."""
    day_first = isinstance(value, str) and _DAY_FIRST.fullmatch(value)
    return ", dayfirst=True" if day_first else ""


def _read_texts(values, name):
    """Texts as dates; a ValueError for the first that is none in the ISO format."""
    dates = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        if _BASIC_DATE.fullmatch(value):
            dates[i] = _basic_date(value)
            if dates[i] is None:
                raise ValueError(
                    f"{name}[{i}] must be a date, got {value!r}: eight digits are read as year, "
                    "month and day."
                )
            continue
        if not _ISO_DATE.fullmatch(value):
            if i and _is_number(value):
                raise ValueError(
                    f"{name}[{i}] must be a date, as those before it are, got {value!r}: write it "
                    "as in '1999-05'."
                )
            _refuse(value, name, i)
        try:
            dates[i] = datetime.datetime.fromisoformat(value if len(value) > 7 else f"{value}-01")
        except ValueError as error:
            raise ValueError(f"{name}[{i}] must be a date, got {value!r}: {error}.") from None
    return dates


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _plain_date(value):
    """A date in UTC without its time zone; pandas' NaT becomes NumPy's."""
    if value != value:
        return np.datetime64("NaT")
    if getattr(value, "tzinfo", None) is None:
        return value
    return value.astimezone(datetime.UTC).replace(tzinfo=None)


def _years(dates):
    """Year and the share of it that has passed; NaN for NaT."""
    year = dates.astype("datetime64[Y]")
    unit = "datetime64[us]"
    start, end = year.astype(unit), (year + 1).astype(unit)
    share = (dates.astype(unit) - start) / (end - start)
    missing = np.isnat(dates)
    number = np.where(missing, 0, year.astype(np.int64)) + 1970.0
    # the last microseconds of a year are rounded to the next one otherwise
    line = np.minimum(number + share, np.nextafter(number + 1, -np.inf))
    return np.where(missing, np.nan, line)


def _check_bins(bins):
    edges, _ = _read_line(bins, "bins")
    if len(edges) < 2 or np.any(np.diff(edges) <= 0):
        raise ValueError(
            f"bins must be two or more increasing ends of periods, got {edges.tolist()}."
        )
    return edges


def _equal_widths(low, high, n_periods):
    check_integer("n_periods", n_periods, 1)
    if n_periods > _MOST_PERIODS:
        raise ValueError(f"n_periods must be at most {_MOST_PERIODS}, got {n_periods!r}.")
    if low == high:
        if n_periods > 1:
            raise ValueError(
                f"n_periods must be 1 where all times are {_say(low)}, got {n_periods}; "
                "bins can make periods without data."
            )
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, n_periods + 1)


def _whole_labels(edges, end_is_a_time):
    """Names of bins of whole numbers, as in ``"1810-1829"``; None where one holds none."""
    first, last = np.ceil(edges[:-1]), np.ceil(edges[1:]) - 1.0
    last[-1] += end_is_a_time
    if np.any(first > last) or np.abs(edges).max() >= _LARGEST_TIME:
        return None
    to = " to " if first[0] < 0 else "-"
    pairs = zip(first.astype(np.int64).tolist(), last.astype(np.int64).tolist(), strict=True)
    return [str(a) if a == b else f"{a}{to}{b}" for a, b in pairs]


def _edge_labels(edges):
    """Names of bins, as in ``"[1810, 1830)"``."""
    names = _names(edges)
    last = len(names) - 2
    pairs = zip(names[:-1], names[1:], strict=True)
    return [f"[{a}, {b}{']' if t == last else ')'}" for t, (a, b) in enumerate(pairs)]


def _whole(times):
    """The times themselves; a ValueError unless they are integers."""
    fraction = times != np.round(times)
    if fraction.any():
        raise ValueError(
            f"times must be integers, as the periods are, got {_say(times[fraction][0])}."
        )
    return times


def _names(times):
    """Different times as texts, with as few digits as tell them apart."""
    for digits in range(6, 18):
        names = [f"{time:.{digits}g}" for time in times]
        if len(set(names)) == len(names):
            break
    return names


def _say(time):
    return f"{time:.10g}"

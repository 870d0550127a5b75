"""Times as users give them, numbers or dates of many kinds, as numbers."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..common.checks import check_integer, check_not_iterator, is_numeral

# Times as a user gives them: numbers, dates as NumPy's or pandas' arrays, lists of dates or texts.
Times = ArrayLike | Sequence[datetime.date] | Sequence[str]

# Times that are larger have no whole numbers.
LARGEST_TIME = 2.0**63

# Dates as texts: year, month and perhaps day, and perhaps a time of the day.
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")
_ISO_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ].+)?)?")
_YEAR = re.compile(r"\d{4}")
_BASIC_DATE = re.compile(r"\d{8}")
_YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{2}|\d{4})")
_MONTHS, _ORDERS = 12, ("", ", dayfirst=True")
# Texts for what is missing; NumPy writes NaN beside texts as a text.
_MISSING = frozenset(("", "nan", "nat", "none", "null", "na", "<na>"))
# Advice on what pandas has of spans of time and of numbers.
_SPANS = {
    "Period": "as by times.year, or times.to_timestamp() (of a Series, times.dt.year)",
    "Interval": "as by its middle, [span.mid for span in times], or give the times themselves and "
    "the ends of the intervals as bins",
}
# Whole numbers between these that are all dates, as YYYYMMDD, are taken for such.
_FIRST_BASIC, _LAST_BASIC = 10000101, 29991231
# Years of whole numbers that are months, as YYYYMM.
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
# Of a day, what is lost where it is a share of a year.
_ROUNDING = 1e-6


def check_times(times: Times, n: int | None = None) -> np.ndarray:
    """Convert times to numbers; dates become years.

    Parameters
    ----------
    times : array-like of shape (n,)
        Numbers, or dates (from NumPy, pandas or ``datetime``; with a time zone, they are converted
        to UTC), also as strings in ISO format, such as ``"1999-05"``, ``"1999-05-03"`` or
        ``"1999-05-03T18:30"``, or without hyphens, ``"19990503"``. A date becomes its year plus the
        fraction of it that has passed: 2001-07-02 12:00 is 2001.5. Strings of four digits, if all
        are such, are whole years: ``"1999"`` is 1999.
    n : int or None, default=None
        Required number of times, one for each document.

    Returns
    -------
    times : ndarray of shape (n,), dtype float64

    Raises
    ------
    ValueError
        If ``times`` is not one-dimensional, has a length other than ``n``, or contains anything but
        finite numbers and dates: other numbers and dates as strings, booleans, NaN, NaT, None, or
        only whole numbers that are dates or months without hyphens, such as 19990503 or 199905.

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
    return read_line(times, "times", n)[0]


def time_in(text):
    """A text as a time: a date as it is, a number as a number; None of texts that are neither."""
    if _BASIC_DATE.fullmatch(text) and _basic_date(text) is not None:
        return text
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text if _ISO_DATE.fullmatch(text) else None


def said(time):
    """A time in a message."""
    return f"{time:.10g}"


def said_date(time, up=False):
    """A time of dates, in years, as the date that it is of; or, ``up``, as the first from it on.

    Examples
    --------
    >>> from skbayesembed.corpus.times import check_times, said_date
    >>> [said_date(t) for t in check_times(["1793-12-01", "2000-02-29", "1999-12-31"])]
    ['1793-12-01', '2000-02-29', '1999-12-31']
    >>> [said_date(t, up=True) for t in check_times(["1793-12-01", "1999-12-31T06"])]
    ['1793-12-01', '2000-01-01']
    """
    year = np.datetime64(int(np.floor(time)) - 1970, "Y")
    days = ((year + 1).astype("datetime64[D]") - year.astype("datetime64[D]")).astype(int)
    # of whole days rounding leaves a little less, or more
    share = (time - np.floor(time)) * days
    day = int(np.ceil(share - _ROUNDING)) if up else min(int(share + _ROUNDING), int(days) - 1)
    return str(year.astype("datetime64[D]") + day)


# ---------------------------------------------------------------------------------------------


def read_line(values, name, n=None):
    """Finite numbers, of dates in years, as an array; and whether they were dates."""
    check_not_iterator(name, values)
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1 and values.mask.any():
        # the numbers behind a mask are of no meaning
        values = [None if hidden else x for x, hidden in zip(values.data, values.mask, strict=True)]
    try:
        values = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a list or array of numbers or dates: {error}") from error
    if values.ndim == 0 and name == "bins":
        raise ValueError(
            f"bins must be the ends of the periods, got {values.item()!r}: for so many periods of "
            "equal length give n_periods instead."
        )
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
    if np.any(np.abs(line) >= LARGEST_TIME):
        bad = line[np.abs(line) >= LARGEST_TIME][0]
        raise _too_large(name, bad)
    if not dates and name == "times" and _are_basic_dates(line):
        raise ValueError(
            f"times look like dates written as whole numbers, got {line[0]:.0f}: pass texts "
            f"({str(int(line[0]))!r}), or years, as by np.asarray(times) // 10000."
        )
    if not dates and name == "times" and _are_months(line):
        raise ValueError(
            f"times look like months written as whole numbers, got {line[0]:.0f}, of which a "
            "December and the next January are 89 apart: pass texts "
            f"('{line[0] // 100:.0f}-{line[0] % 100:02.0f}'), "
            "as by [f'{int(t) // 100}-{int(t) % 100:02d}' for t in times]."
        )
    return line, dates


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
    if values.size and all(isinstance(value, np.datetime64) for value in values):
        # one by one those before the year one would be numbers
        return np.array(values.tolist())
    for i, value in enumerate(values):
        if isinstance(value, np.datetime64):
            # finer than microseconds it would be a number
            values[i] = value.astype("datetime64[us]").item()
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
        if type(value).__name__ in _SPANS:
            raise ValueError(
                f"{name} must be numbers or dates, got {value!r} in {name}[{i}]; convert it first, "
                f"{_SPANS[type(value).__name__]}."
            )
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


def _are_months(line):
    """Whether numbers are whole, and each a year and a month as in 199905, of several years."""
    if not line.size or np.any(line != np.round(line)):
        return False
    years, months = np.divmod(line, 100)
    within = years.min() >= _FIRST_YEAR and years.max() <= _LAST_YEAR and np.ptp(years) > 0
    return within and months.min() >= 1 and months.max() <= _MONTHS


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
            f"as by np.asarray({name}, dtype=float){_century(value)}"
            if is_numeral(value)
            else f"dates as by {_reading_of(value, name)}, or write them as in '1999-05-03'"
        )
    place = "" if i is None else f" in {name}[{i}]"
    raise ValueError(f"{name} must be numbers or dates, got {value!r}{place}{advice}.")


def _century(value):
    """What is to be known of years of two digits."""
    if not (isinstance(value, str) and re.fullmatch(r"\d\d", value)):
        return ""
    return f", which is the year {int(value)}: years need their century, as in '19{value}'"


def _reading_of(value, name):
    """How pandas reads a date; both ways where day and month could be either."""
    month_first, day_first = (f"pandas.to_datetime({name}{order})" for order in _ORDERS)
    found = _YEAR_LAST.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[3]) > _MONTHS:
        return month_first
    if int(found[1]) > _MONTHS:
        return day_first
    return f"{day_first} if {found[1]!r} is the day, {month_first} if it is the month"


def _read_texts(values, name):
    """Texts as dates, or years; a ValueError for the first that is none in the ISO format."""
    years = [bool(_YEAR.fullmatch(value)) for value in values]
    if all(years):
        return np.array([int(value) for value in values], dtype=object)
    if any(years) and not any(map(_is_date, values)):
        for i, value in enumerate(values):
            if not is_numeral(value):
                raise ValueError(
                    f"{name}[{i}] must be a year, as {'those before it' if i else 'others'} are, "
                    f"got {value!r}: correct it, or leave it out."
                )
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
            if is_numeral(value) and any(map(_ISO_DATE.fullmatch, values)):
                others = "those before it" if i else "others"
                raise ValueError(
                    f"{name}[{i}] must be a date, as {others} are, got {value!r}: write it as in "
                    "'1999-05'."
                )
            _refuse(value, name, i)
        try:
            dates[i] = datetime.datetime.fromisoformat(value if len(value) > 7 else f"{value}-01")
        except ValueError as error:
            raise ValueError(f"{name}[{i}] must be a date, got {value!r}: {error}.") from None
    return dates


def _is_date(value):
    return bool(_BASIC_DATE.fullmatch(value) or _ISO_DATE.fullmatch(value))


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

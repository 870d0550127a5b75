"""Periods that the times of documents fall into: single integers, single times, or bins."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..common.warnings import warn_user
from .bins import MOST_PERIODS, check_bins, edge_labels, equal_widths, names_of, whole_labels
from .times import Times, check_times, read_line, said, said_date, time_in

# Shorter gaps have no precision of their own.
_LEAST_GAP = 1e-100
# Periods that messages name.
_NAMED = 5
# Calendar years without data that are worth a warning, if they are a quarter of all.
_MANY_YEARS = 10


def find_two(periods, start, end):
    """Places of two periods, the earlier first; None stands for the first and the last."""
    at = [
        default if time is None else periods.find(time, name)
        for time, name, default in ((start, "start", 0), (end, "end", periods.n_periods - 1))
    ]
    if at[0] == at[1]:
        raise ValueError(
            f"start and end must be in different periods, got {periods.labels[at[0]]} for both."
        )
    if at[0] > at[1]:
        later, earlier = (periods.labels[t] for t in at)
        raise ValueError(
            f"start must be before end, got {later} as start and {earlier} as end: exchange them."
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
        ``"[1810.5, 1830.5)"``, or, of dates, ``"[1810-04-01, 1830-07-01)"``. The name of the last
        bin includes its end if a time learned is equal to it, and otherwise stops at the whole
        number before it.
    centres : ndarray of shape (n_periods,), dtype float64
        The integers, years or times, or the midpoints of the periods; for dates, in years.
    gaps : ndarray of shape (n_periods - 1,), dtype float64
        Distances between the centers of consecutive periods.
    exact : bool
        Whether every period is a single time, at any distance from the next.
    years : bool
        Whether every period is a calendar year of dates; any time in the year belongs to it.
    dates : bool
        Whether the times learned were dates, which messages then name.

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
    dates: bool = False

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
        times, dates = read_line(times, "times")
        if not times.size:
            raise ValueError("times must hold at least one time, got none.")
        if n_periods is not None and bins is not None:
            raise ValueError("n_periods and bins exclude each other: give one of them.")
        if bins is not None:
            edges, by_date = check_bins(bins)
            periods = cls._of_edges(edges, by_date, times, dates)
            periods.index(times)
            return periods
        low, high = times.min(), times.max()
        if n_periods is not None:
            edges = equal_widths(low, high, n_periods, said_date if dates else said)
            return cls._of_edges(edges, dates, times, dates)
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
        labels = centres.astype(np.int64).tolist() if whole else names_of(centres)
        return cls(len(centres), None, labels, centres, gaps, True)

    @classmethod
    def _of_edges(cls, edges, by_date, times, dates, like=None):
        """Bins, called by dates if their edges are ``by_date``; ``dates`` are what times are.

        They are called as the labels ``like``, of bins that they go on, are.
        """
        centres = edges[:-1] + np.diff(edges) / 2
        told = edges if dates else times
        whole = np.all(told == np.round(told)) if like is None else like[0][0] != "["
        labels = None
        if whole:
            labels = whole_labels(edges, times.max() == edges[-1])
        labels = labels or edge_labels(edges, by_date)
        return cls(len(centres), edges, labels, centres, np.diff(centres), dates=bool(dates))

    def _said(self, time):
        """A time in a message, as a date where times are dates."""
        return said_date(time) if self.dates else said(time)

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
                f"got {said(times[fraction][0])}."
            )
        if high - low >= MOST_PERIODS:
            raise ValueError(
                f"times span the {high - low + 1:.0f} integers from {said(low)} to {said(high)}, "
                f"more than {MOST_PERIODS} periods: give n_periods or bins to group them."
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

    def closed(self, times: Times) -> Self:
        """Return bins that keep their last edge where others are added behind it.

        An edge between two bins is a time of the second, and the end of all a time of the last.

        Parameters
        ----------
        times : array-like of shape (n,)
            Numbers or dates that the bins were made of, in the formats of `check_times`.

        Returns
        -------
        periods : Periods

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> periods = Periods.learn([1851, 1870], n_periods=1).closed([1851, 1870])
        >>> periods.lengthened([1880]).labels
        ['1851-1870', '1871-1889']
        """
        if self.edges is None:
            return self
        edges = self.edges.copy()
        edges[-1] = np.nextafter(edges[-1], np.inf)
        return self._of_edges(edges, self.dates, check_times(times), self.dates, self.labels)

    def lengthened(self, times: Times) -> Self:
        """Return the same bins, and more of the width of the last up to further times.

        Single integers and years are those of `extended`.

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
            If ``times`` cannot be read, or one is before the first bin.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> Periods.learn([1850, 1860], bins=[1850, 1860]).lengthened([1875]).labels
        ['1850-1859', '1860-1869', '1870-1879']
        """
        edges = self.edges
        if edges is None:
            return self.extended(times)
        times = check_times(times)
        width = edges[-1] - edges[-2]
        more = max(0, int(np.ceil((times.max() - edges[-1]) / width)))
        later = edges[-1] + width * np.arange(1, more + 1)
        # called as they were, whatever the further times are
        edges = np.append(edges, later)
        periods = self._of_edges(edges, self.dates, times, self.dates, self.labels)
        periods.index(times)
        return periods

    def rebinned(self, times: Times, bins: Times, n_kept: int, at_end: bool = False) -> Self:
        """Return bins that go on these, of which the first ones are the same.

        Parameters
        ----------
        times : array-like of shape (n,)
            Further times, numbers or dates, in the formats of `check_times`.
        bins : array-like of shape (n_periods + 1,)
            As of `learn`.
        n_kept : int
            How many of these bins are to be the first ones of the new ones.
        at_end : bool, default=False
            Whether a time is known to be equal to the end of the last of these.

        Returns
        -------
        periods : Periods
            Called in the way of these. The last one's name goes on to include its end.

        Raises
        ------
        ValueError
            If the first bins are others, or a time that is known to be at the end would be in the
            first of further ones; and as of `learn`.

        Examples
        --------
        >>> from skbayesembed.corpus.periods import Periods
        >>> periods = Periods.learn([1850.5], bins=[1800, 1900])
        >>> periods.rebinned([1925], [1800, 1900, 1950], 1).labels
        ['[1800, 1900)', '[1900, 1950]']
        """
        edges, by_date = check_bins(bins)
        times, dates = read_line(times, "times")
        # single integers and times have none
        known = np.zeros(0) if self.edges is None else self.edges
        same = known.size and np.array_equal(edges[: n_kept + 1], known[: n_kept + 1])
        if not same:
            raise ValueError(
                f"bins must begin with the {n_kept} periods that are learned, {self.labels[0]} to "
                f"{self.labels[n_kept - 1]}, got {said(edges[0])} to {said(edges[-1])}: further "
                "ones may follow."
            )
        periods = self._of_edges(edges, by_date, times, dates, self.labels)
        periods.index(times)
        if np.array_equal(edges, known) and times.max() < edges[-1]:
            return self
        if at_end and len(edges) > len(known) == n_kept + 1:
            raise ValueError(
                f"bins must end at {self._said(known[-1])}, the end of the last period that is "
                "learned: a time learned is equal to it, and would be in the next one. Begin with "
                "edges that no time is equal to at the end."
            )
        return periods

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
                f"times must be from {self._said(ends[0])} to {self._said(ends[-1])}, the periods "
                f"known{self._called()}, got {self._said(times[outside][0])}; bins can cover times "
                "that have no data."
            )
        if self.edges is not None:
            found = np.searchsorted(self.edges, times, side="right") - 1
            return np.minimum(found, self.n_periods - 1).astype(np.int64, copy=False)
        return (_whole(times) - self.centres[0]).astype(np.int64)

    def _called(self):
        """Names of the first period and the last, in brackets, and what the last does not show."""
        if self.edges is None or self.labels[0].startswith("["):
            return ""
        first, last, end = self.labels[0], self.labels[-1], self._said(self.edges[-1])
        named = first if self.n_periods == 1 else f"{first} to {last}"
        shown = re.search(rf"(^|[- ]){re.escape(end)}$", last)
        return f" ({named}{'' if shown else f'; the last one ends at {end} and includes it'})"

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
                f"{said(self.centres[0])} to {said(self.centres[-1])}, got "
                f"{said(times[other][0])}."
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
            read = time_in(time)
            if read is None:
                raise ValueError(f"{name} must be a time or one of {self.labels}, got {time!r}.")
            time = read
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


def warn_of_empty(periods: Periods, times: np.ndarray) -> None:
    """Warn of periods of equal length that hold none of the times they were made of.

    One time with a digit too many leaves most of them empty. Of calendar years, warn where ten or
    more, and a quarter of all, are empty; of integers, where half of all are, one after the other.

    Parameters
    ----------
    periods : Periods
        Not of ``bins``.
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
    index = periods.index(times)
    empty = np.flatnonzero(np.bincount(index, minlength=periods.n_periods) == 0)
    few, integers = empty.size < max(_MANY_YEARS, periods.n_periods / 4), periods.edges is None
    if integers and not periods.years:
        apart = np.diff(np.unique(index)).max(initial=1) - 1
        few = apart < max(_MANY_YEARS, periods.n_periods / 2)
    if not empty.size or (integers and few):
        return
    named = [str(periods.labels[t]) for t in empty[:_NAMED]]
    more = "" if empty.size <= _NAMED else f" and {empty.size - _NAMED} more"
    how = "They are of equal length", "take fewer n_periods, or bins="
    if integers:
        each = "year" if periods.years else "integer"
        how = f"Each {each} is a period", "give bins= or n_periods="
    show = said_date if periods.years else periods._said
    warn_user(
        f"{empty.size} of {periods.n_periods} periods {'hold' if empty.size > 1 else 'holds'} no "
        f"times: {', '.join(named)}{more}. {how[0]}, from {show(times.min())} to "
        f"{show(times.max())}: is one of these a mistake? If it is none, {how[1]}.",
        UserWarning,
    )


# ---------------------------------------------------------------------------------------------


def _whole(times):
    """The times themselves; a ValueError unless they are integers."""
    fraction = times != np.round(times)
    if fraction.any():
        raise ValueError(
            f"times must be integers, as the periods are, got {said(times[fraction][0])}."
        )
    return times

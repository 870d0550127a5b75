"""Times to periods: integers, equal bins and bins of one's own, dates, and what is refused."""

from __future__ import annotations

import datetime
import pickle
import warnings

import numpy as np
import pytest

from skbayesembed.corpus.periods import Periods, check_times, warn_of_empty


def test_integers_keep_empty_periods():
    periods = Periods.learn([-3, 1, 0, 1])
    assert periods.n_periods == 5
    assert periods.edges is None
    assert periods.labels == [-3, -2, -1, 0, 1]
    assert periods.centres.tolist() == [-3.0, -2.0, -1.0, 0.0, 1.0]
    assert periods.gaps.tolist() == [1.0] * 4
    index = periods.index([1.0, -3.0, -2.0])
    assert index.dtype == np.int64
    assert index.tolist() == [4, 0, 1]


def test_one_period():
    periods = Periods.learn([7, 7])
    assert (periods.n_periods, periods.labels, periods.gaps.size) == (1, [7], 0)
    whole = Periods.learn([7, 7], n_periods=1)
    assert whole.n_periods == 1
    assert whole.index([7, 7]).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int64, np.float32, object])
def test_integers_of_any_type(dtype):
    assert Periods.learn(np.array([2, 4], dtype=dtype)).index([4, 3, 2]).tolist() == [2, 1, 0]


def test_equal_widths_are_those_of_a_histogram():
    times = np.random.default_rng(0).uniform(1800, 1900, 500)
    periods = Periods.learn(times, n_periods=7)
    counts, edges = np.histogram(times, bins=7)
    assert np.array_equal(periods.edges, edges)
    assert np.array_equal(np.bincount(periods.index(times), minlength=7), counts)
    assert np.allclose(periods.gaps, (times.max() - times.min()) / 7)


@pytest.mark.parametrize("n_periods", [1, 3, 10, 97])
def test_first_and_last_time_are_inside(n_periods):
    times = np.array([0.1, 0.3, 1.7])
    periods = Periods.learn(times, n_periods=n_periods)
    assert periods.index(times)[[0, -1]].tolist() == [0, n_periods - 1]
    assert len(set(periods.labels)) == n_periods


def test_bins_close_the_last_period_only():
    periods = Periods.learn([1810, 1850], bins=[1800, 1850, 1875, 2000])
    assert periods.labels == ["1800-1849", "1850-1874", "1875-1999"]
    assert periods.centres.tolist() == [1825.0, 1862.5, 1937.5]
    assert periods.gaps.tolist() == [37.5, 75.0]
    assert periods.index([1800, 1849.9, 1850, 1875, 2000]).tolist() == [0, 0, 1, 2, 2]


def test_labels_have_the_digits_they_need():
    edges = [2001.0, 2001.0000001, 2001.0000002]
    labels = Periods.learn([2001.0], bins=edges).labels
    assert labels == ["[2001, 2001.0000001)", "[2001.0000001, 2001.0000002]"]


@pytest.mark.parametrize(
    ("times", "options", "labels"),
    [
        ([1946, 2022], {"n_periods": 3}, ["1946-1971", "1972-1996", "1997-2022"]),
        ([-700, -500], {"bins": [-700, -600, -500]}, ["-700 to -601", "-600 to -500"]),
        ([1, 4], {"bins": [1, 2, 4]}, ["1", "2-4"]),
        ([1, 3], {"bins": [1, 2, 4]}, ["1", "2-3"]),
        ([1, 4], {"bins": [1, 2, 4.5]}, ["1", "2-4"]),
        ([1992, 2022], {"bins": [1992, 2007, 2023]}, ["1992-2006", "2007-2022"]),
        ([1], {"bins": [1, 1.5, 2]}, ["[1, 1.5)", "[1.5, 2]"]),
        ([1, 2], {"n_periods": 4}, ["[1, 1.25)", "[1.25, 1.5)", "[1.5, 1.75)", "[1.75, 2]"]),
        ([1.5, 3], {"bins": [1, 2, 4]}, ["[1, 2)", "[2, 4]"]),
        (["1999-05-01", "2004-07-02"], {"bins": [1999, 2000, 2005]}, ["1999", "2000-2004"]),
        (["1999-05-01", "2005-01-01"], {"bins": [1999, 2000, 2005]}, ["1999", "2000-2005"]),
        (["1999-05-01"], {"bins": [1999, 1999.5]}, ["[1999, 1999.5]"]),
    ],
)
def test_whole_times_name_their_periods(times, options, labels):
    periods = Periods.learn(times, **options)
    assert periods.labels == labels
    for time in times:
        found = periods.labels[periods.index([time])[0]]
        named = str(time)[:4]
        assert found.startswith(("[", named)) or found.endswith(named)


def test_dates_are_years():
    expected = [1999.0, 2000.5, 2001 + 31 / 365]
    dates = ["1999-01-01", "2000-07-02", "2001-02-01"]
    as_numpy = np.array(dates, dtype="datetime64[D]")
    python = [datetime.date.fromisoformat(d) for d in dates]
    for times in (as_numpy, as_numpy.astype("datetime64[ns]"), python):
        assert np.allclose(check_times(times), expected, rtol=0, atol=1e-9)
    early = np.array(["-0700-01-01", "0001-01-01", "1969-07-02T12"], dtype="datetime64[h]")
    assert np.allclose(check_times(early), [-700, 1, 1969.5], rtol=0, atol=1e-9)


def test_years_as_dates_are_integer_periods():
    years = np.array(["1999", "2001"], dtype="datetime64[Y]")
    assert Periods.learn(years).labels == [1999, 2000, 2001]


def test_dates_in_bins_of_dates():
    days = np.array(["2020-01-01", "2020-06-30", "2020-12-31"], dtype="datetime64[D]")
    bins = np.array(["2020-01-01", "2020-07-01", "2021-01-01"], dtype="datetime64[D]")
    periods = Periods.learn(days, bins=bins)
    assert periods.index(days).tolist() == [0, 0, 1]
    assert periods.centres == pytest.approx([2020.25, 2020.75], abs=0.01)


def test_texts_of_dates():
    texts = ["1999-05-03", "2001-01-20T18:30", "2001-02"]
    basic = ["19990503", "2001-02"]
    np.testing.assert_array_equal(check_times(basic), check_times([texts[0], texts[2]]))
    assert Periods.learn(basic).find("20010701") == 2
    dates = np.array(texts, dtype="datetime64[m]")
    for times in (texts, np.array(texts), np.array(texts, dtype=object), tuple(texts)):
        np.testing.assert_array_equal(check_times(times), check_times(dates))
    zoned = ["1999-12-31T19:00-05:00", "2000-01-01 00:00Z"]
    assert check_times(zoned).tolist() == [2000.0, 2000.0]
    bins = ["1999-01-01", "2000-01-01", "2002-01-01"]
    assert Periods.learn(texts, bins=bins).index(texts).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("times", "match"),
    [
        (
            ["03.05.1999"],
            "got '03.05.1999' in .*; convert texts first, dates as by pandas.to_datetime",
        ),
        (
            ["1999-05-03", "spring"],
            r"'spring' in times\[1\]; convert texts first, dates as by pandas",
        ),
        (["1900", "1950", "n.d.", "1960"], r"times\[2\] must be a year, as those before .* 'n.d.'"),
        (["c. 1900", "1950"], r"times\[0\] must be a year, as others are, got 'c. 1900': correct"),
        (["20/01/1991"], r"dates as by pandas.to_datetime\(times, dayfirst=True\)"),
        (["01/20/1991"], r"dates as by pandas.to_datetime\(times\), or write"),
        (
            ["03/05/1999"],
            r"time\(times, dayfirst=True\) if '03' is the day, pandas.to_datetime\(times\) if "
            "it is the month, or write",
        ),
        (["Jan 20, 1991"], r"dates as by pandas.to_datetime\(times\)"),
        (["19990503", "19991303"], r"times\[1\] must be a date, got '19991303': eight digits are"),
        ([199905, 200012], r"like months .* got 199905, .* 89 apart: pass texts \('1999-05'\)"),
        ([19990503, 20010120], r"times look like dates .* got 19990503: pass texts \('19990503'\)"),
        (["1999-05-03", None], r"none missing, got None in times\[1\]: leave such rows out"),
        (["1999-05-03", np.nan], r"none missing, got np.str_\('nan'\) in times\[1\]|got 'nan' in"),
        (np.array(["1999-05-03", np.nan], dtype=object), r"none missing, got nan in times\[1\]"),
        (["1999-05-03", "1999-13-01"], r"times\[1\] must be a date, got '1999-13-01': month"),
        (np.array(["1999-05-03", 1999], dtype=object), "got '1999-05-03'"),
        (["1999-05-03", "1999"], r"times\[1\] must be a date, as those before it are, got '1999'"),
        (["1999", "1999-05-03"], r"times\[0\] must be a date, as others are, got '1999'"),
    ],
)
def test_texts_that_are_no_dates(times, match):
    with pytest.raises(ValueError, match=match):
        check_times(times)


def test_whole_numbers_that_are_no_months():
    """Of one year, or with what no month is."""
    for times in ([199901, 199912], [199900, 200001], [199913, 200001], [99912, 100001]):
        assert check_times(times).tolist() == times


def test_advice_works():
    months = np.array([199911, 200002])
    texts = [f"{t // 100}-{t % 100:02d}" for t in months]
    np.testing.assert_allclose(np.diff(check_times(texts)), 0.25, atol=0.01)
    years, days = ["1850", "1900"], ["03.05.1999", "20.01.2001"]
    assert check_times(np.asarray(years, dtype=float)).tolist() == [1850.0, 1900.0]
    pandas = pytest.importorskip("pandas")
    assert Periods.learn(pandas.to_datetime(days, dayfirst=True)).labels == [1999, 2000, 2001]


def test_dates_without_periods_are_cut_into_years():
    last = "1999-12-31T23:59:59.999999"
    days = np.array(["1999-05-03", last, "2001-01-20"], dtype="datetime64[us]")
    periods = Periods.learn(days)
    assert (periods.labels, periods.gaps.tolist()) == ([1999, 2000, 2001], [1.0, 1.0])
    assert periods.index(days).tolist() == [0, 0, 2]
    # the first moment of a year is of that year, also after the last period
    assert periods.index(["2000-01-01", "2001-12-31"]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="times must be from 1999 to 2001, .* got 2002"):
        periods.index(["2002-01-01"])
    assert periods.centre_of(["1998-07-02", "2002-01-01"]).tolist() == [1998.0, 2002.0]
    assert [periods.find(time) for time in (1999, 2000.5, "2001-01-20")] == [0, 1, 2]
    with pytest.raises(ValueError, match="start='1888-01-01' is in no period"):
        periods.find("1888-01-01", "start")
    more = periods.extended(["2003-03-01"])
    assert more.labels == [1999, 2000, 2001, 2002, 2003] and more.years
    # numbers are periods as they stand
    with pytest.raises(ValueError, match="times must be integers"):
        Periods.learn(check_times(days))


def test_pandas():
    pandas = pytest.importorskip("pandas")
    stamps = pandas.Series(pandas.to_datetime(["2000-01-01", "2000-07-02"]))
    assert check_times(stamps) == pytest.approx([2000.0, 2000.5])
    assert check_times(stamps.dt.tz_localize("UTC")) == pytest.approx([2000.0, 2000.5])
    eastern = pandas.Series(pandas.to_datetime(["1999-12-31 19:00"])).dt.tz_localize("US/Eastern")
    assert check_times(eastern).tolist() == [2000.0]
    assert check_times(pandas.Series([3, 4], index=[7, 8])).tolist() == [3.0, 4.0]
    for missing in (
        pandas.Series([pandas.Timestamp("2000"), pandas.NaT]),
        [pandas.Timestamp("2000"), pandas.NaT],
        pandas.array([1, None], dtype="Int64"),
    ):
        with pytest.raises(ValueError, match="times must be .*missing"):
            check_times(missing)


@pytest.mark.parametrize(
    ("times", "match"),
    [
        (["850", "1900"], "got '850' in .*; convert texts"),
        (["89", "93"], "got '89' in .*; convert texts.*, which is the year 89: .* as in '1989'"),
        (np.array(["850.5"], dtype=object), "got '850.5' in .*; convert texts"),
        ([b"1850"], "convert texts"),
        (np.array(["850"], dtype=np.dtypes.StringDType()), "got '850' in .*; convert texts"),
        (np.array([3], dtype="timedelta64[D]"), "numbers or dates, got"),
        ([True, False], "numbers or dates, got True"),
        ([1 + 2j], "numbers or dates"),
        ([1.0, np.nan], "finite and none missing, got nan"),
        ([1.0, np.inf], "finite and none missing, got inf"),
        ([1, None], "none missing"),
        (np.array(["NaT", "2000"], dtype="datetime64[D]"), "none missing, got NaT"),
        ([datetime.date(2000, 1, 1), 3], "all numbers or all dates"),
        ([[1, 2]], r"one dimension, got shape \(1, 2\)"),
        (5, "one dimension"),
        ([[1], [2, 3]], "list or array of numbers"),
        ((t for t in [1, 2]), r"got a generator: pass a list, list\(times\)"),
        (iter([1, 2]), "got a list_iterator: pass a list"),
    ],
)
def test_times_that_are_refused(times, match):
    for read in (check_times, Periods.learn):
        with pytest.raises(ValueError, match="times must .*" + match):
            read(times)


@pytest.mark.parametrize(
    "kind", [list, lambda x: np.array(x, object), lambda x: np.array(x, np.dtypes.StringDType())]
)
def test_years_as_texts(kind):
    """They are the same years as numbers, in a fit as where a period is looked up."""
    texts = kind(["1850", "1852"])
    assert check_times(texts).tolist() == [1850.0, 1852.0]
    periods = Periods.learn(texts)
    assert periods.labels == [1850, 1851, 1852] and periods.find("1851") == 1
    assert Periods.learn([1800, 1860], bins=["1800", "1850", "1900"]).n_periods == 2


def test_spans_and_numbers_of_bins_say_what_to_give():
    pandas = pytest.importorskip("pandas")
    spans = pandas.period_range("1990", periods=3, freq="Y")
    for given in (spans, pandas.Series(spans), spans.to_list()):
        with pytest.raises(ValueError, match=r"times must be .* got Period\(.*times.year"):
            check_times(given)
    cut = pandas.cut([1850, 1900], [1800, 1860, 1950])
    with pytest.raises(ValueError, match=r"times must be .* got Interval\(.* bins"):
        check_times(cut)
    with pytest.raises(ValueError, match="bins must be the ends of the periods, got .*n_periods"):
        Periods.learn([1, 2, 3], bins=3)


def test_length_is_checked():
    with pytest.raises(ValueError, match="one entry for each of the 3 documents, got 2"):
        check_times([1, 2], 3)
    assert check_times([1, 2], 2).dtype == np.float64


@pytest.mark.parametrize(
    ("times", "options", "match"),
    [
        ([], {}, "times must hold at least one"),
        ([1.5, 2], {}, "times must be integers.*n_periods or bins.*got 1.5"),
        ([1, 1001], {}, "1001 integers from 1 to 1001.*give n_periods or bins"),
        ([1, 2], {"n_periods": 2, "bins": [1, 2]}, "exclude each other"),
        ([1, 2], {"n_periods": 0}, "n_periods must be an integer >= 1, got 0"),
        ([1, 2], {"n_periods": 2.0}, "n_periods must be an integer"),
        ([3, 3], {"n_periods": 2}, "n_periods must be 1 where all times are 3, got 2"),
        (["1999-05-03"] * 2, {"n_periods": 2}, "where all times are 1999-05-03, got 2"),
        ([1, 2], {"bins": [1]}, "bins must be two or more increasing"),
        ([1, 2], {"bins": [2, 1]}, "bins must be two or more increasing"),
        ([1, 2], {"bins": [1, 1, 2]}, "bins must be two or more increasing"),
        ([1, 2], {"bins": ["1", "2"]}, "bins must be numbers or dates"),
        ([1, 2], {"bins": [1, np.nan]}, "bins must be finite"),
        ([1, 2, 9], {"bins": [1, 4]}, "times must be from 1 to 4.*got 9"),
    ],
)
def test_learn_refuses(times, options, match):
    with pytest.raises(ValueError, match=match):
        Periods.learn(times, **options)


def test_a_thousand_integers_are_allowed():
    assert Periods.learn([1, 1000]).n_periods == 1000


@pytest.mark.parametrize("options", [{}, {"n_periods": 2}, {"bins": [1800, 1850, 1900]}])
def test_times_outside_are_named(options):
    periods = Periods.learn([1800, 1900], **options)
    for outside in (1799, 1901):
        with pytest.raises(ValueError, match=f"times must be from 1800 to 1900.*got {outside};"):
            periods.index([1850, outside])


@pytest.mark.parametrize(
    ("times", "bins", "named"),
    [
        (
            [1946, 2022],
            [1946, 1990, 2023],
            r"1946-1989 to 1990-2022; the last one ends at 2023 and ",
        ),
        ([1946, 2023], [1946, 1990, 2023], r"1946-1989 to 1990-2023\)"),
        ([1946, 1990], [1946, 2023], r"1946-2022; the last one ends at 2023 and"),
    ],
)
def test_messages_call_periods_by_their_labels(times, bins, named):
    periods = Periods.learn(times, bins=bins)
    with pytest.raises(ValueError, match=rf"from 1946 to 2023, the periods known \({named}"):
        periods.index([2024])
    assert periods.index([2023]).tolist() == [len(bins) - 2]
    with pytest.raises(ValueError, match=r"from 1800 to 1900.5, the periods known, got 1901"):
        Periods.learn([1800.5, 1830], bins=[1800, 1850, 1900.5]).index([1901])


def test_fractions_are_refused_where_periods_are_integers():
    with pytest.raises(ValueError, match="must be integers, as the periods are, got 1.5"):
        Periods.learn([1, 2]).index([1.5])


def test_no_times_have_no_periods_to_find():
    assert Periods.learn([1, 2]).index([]).tolist() == []
    assert Periods.learn([1, 2], n_periods=2).index([]).tolist() == []


def test_integers_go_on():
    more = Periods.learn([3, 4]).extended([6])
    assert more.labels == [3, 4, 5, 6] and not more.years
    with pytest.raises(ValueError, match="times must be integers"):
        more.extended([7.5])


def test_frozen_and_pickled():
    periods = Periods.learn([1, 4], n_periods=3)
    with pytest.raises(AttributeError):
        periods.n_periods = 2
    again = pickle.loads(pickle.dumps(periods))
    assert again.index([1, 2.5, 4]).tolist() == [0, 1, 2]


# Single times, periods by name, and beyond the ends ---------------------------------------------


def test_every_different_time_is_a_period():
    periods = Periods.of_times([1850, 1810, 1850, 1900])
    assert periods.labels == [1810, 1850, 1900] and periods.edges is None and periods.exact
    assert periods.gaps.tolist() == [40.0, 50.0]
    index = periods.index([1900, 1810, 1850])
    assert index.tolist() == [2, 0, 1] and index.dtype == np.int64
    for other in (1811, 1809, 1901, 1850.5):
        with pytest.raises(ValueError, match=f"among the 3 times .* 1810 to 1900, got {other}"):
            periods.index([1850, other])
    assert periods.index([]).tolist() == []
    dates = [datetime.date(2001, 1, 1), datetime.date(2000, 1, 1)]
    assert Periods.of_times(dates).index(dates).tolist() == [1, 0]
    assert Periods.of_times([0.1, 0.30000001]).labels == ["0.1", "0.3"]
    assert len(set(Periods.of_times([0.1, 0.1 + 1e-12]).labels)) == 2
    with pytest.raises(ValueError, match="times must hold at least one time"):
        Periods.of_times([])


def test_find():
    periods = Periods.learn([1812, 1871], bins=[1800, 1850, 1900])
    assert [periods.find(t) for t in (1812, "1800-1849", 1850.0, "1850-1899")] == [0, 0, 1, 1]
    assert periods.find(datetime.date(1860, 1, 1)) == 1
    with pytest.raises(ValueError, match="t0=1901 is in no period: times must be from 1800 to"):
        periods.find(1901, "t0")
    assert [periods.find(t) for t in ("1812", "1850.5")] == [0, 1]
    with pytest.raises(ValueError, match="time must be a time or one of .*, got 'the 1800s'"):
        periods.find("the 1800s")
    with pytest.raises(ValueError, match="time=1901 is in no period"):
        periods.find("1901")


def test_centres_go_on_beyond_the_ends():
    """As of longer bins with the widths of the first and the last period."""
    periods = Periods.learn([0, 9], bins=[0, 2, 5, 10])
    longer = Periods.learn([0, 9], bins=[-4, -2, 0, 2, 5, 10, 15, 20])
    times = np.array([-3.9, -2.0, -0.1, 0.0, 2.0, 4.0, 9.9, 10.1, 14.0, 15.0, 19.0])
    np.testing.assert_allclose(periods.centre_of(times), longer.centres[longer.index(times)])
    # the last period includes its end
    assert periods.centre_of([10.0]).tolist() == [7.5]
    for t in range(3):
        assert periods.centre_of(periods.centres)[t] == periods.centres[t]
    equal = Periods.learn([1.3, 8.1], n_periods=7)
    assert np.array_equal(equal.centre_of(equal.centres), equal.centres)
    assert Periods.learn([1, 3]).centre_of([-7, 2, 30]).tolist() == [-7.0, 2.0, 30.0]
    with pytest.raises(ValueError, match="must be integers, as the periods are, got 1.5"):
        Periods.learn([1, 3]).centre_of([1.5])
    assert Periods.of_times([1, 3]).centre_of([1.5, 1, -9]).tolist() == [1.5, 1.0, -9.0]


@pytest.mark.parametrize("large", [1e19, -1e300, 1.7e308, 10**400])
def test_times_too_large_to_compute_with(large):
    for make in (Periods.of_times, Periods.learn):
        with pytest.raises(ValueError, match=r"times must be between -2\*\*63 and 2\*\*63"):
            make([0.0, 1.0, large])


def test_gaps_too_short_to_compute_with():
    with pytest.raises(ValueError, match="must differ by 1e-100 at least.*by 1e-200"):
        Periods.of_times([0.0, 1e-200])


def test_periods_of_dates_are_called_by_dates():
    dates = np.array(["1793-12-01", "1850-02-03", "2016-03-01"], dtype="datetime64[D]")
    periods = Periods.learn(dates, n_periods=2)
    assert periods.labels == ["[1793-12-01, 1905-01-16)", "[1905-01-16, 2016-03-01]"]
    assert periods.find("[1793-12-01, 1905-01-16)") == periods.find("1850-02-03") == 0
    with pytest.raises(ValueError, match="must be from 1800-01-01 to 1900-01-01,.* 1793-12-01; b"):
        Periods.learn(dates, bins=["1800-01-01", "1900-01-01"])
    # of one day, numbers tell them apart
    hours = np.array(["2000-01-01T01", "2000-01-01T05"], dtype="datetime64[h]")
    assert len(set(Periods.learn(hours, n_periods=2).labels)) == 2
    with pytest.warns(UserWarning, match="from 1793-12-01 to 2016-03-01: is one of these"):
        warn_of_empty(Periods.learn(dates, n_periods=9), check_times(dates))
    # numbers stay numbers
    assert Periods.learn([1.5, 2.0], n_periods=1).labels == ["[1.5, 2]"]


def test_years_of_dates_that_are_mostly_empty():
    dates = [f"{year}-07-01" for year in (1990, 1991, 2003)]
    with pytest.warns(UserWarning, match="11 of 14 periods hold no .* and 6 more. Each year is"):
        warn_of_empty(Periods.learn(dates), check_times(dates))
    for years in ([1990, 2000], [*range(1950, 1990), 2000]):
        dates = [f"{year}-07-01" for year in years]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_empty(Periods.learn(dates), check_times(dates))


def test_bins_that_are_lengthened_keep_their_names():
    """Also those of dates; a date that an edge is within is in the period that its name ends."""
    first = Periods.learn(["1999-01-05", "1999-12-06"], n_periods=2)
    assert first.labels == ["[1999-01-05, 1999-06-22)", "[1999-06-22, 1999-12-06]"]
    assert first.index(["1999-06-21", "1999-06-22"]).tolist() == [0, 1]
    more = first.lengthened(["2000-02-01", "2000-05-20"])
    assert more.n_periods == 3 and more.dates
    assert more.labels[0] == first.labels[0] and more.labels[1][:-1] == first.labels[1][:-1]
    np.testing.assert_allclose(np.diff(more.edges), np.diff(first.edges)[0])
    assert first.lengthened(["1999-12-01"]).labels == first.labels
    assert first.lengthened([2000.1, 2000.2]).labels == more.labels
    with pytest.raises(ValueError, match="got 1998-01-01"):
        first.lengthened(["1998-01-01"])


def test_times_behind_a_mask_are_missing():
    for data in ([1850, 1851, 9999], np.array(["1850", "1851", "1852"], "M8[Y]")):
        times = np.ma.array(data, mask=[0, 0, 1])
        with pytest.raises(ValueError, match=r"none missing, got None in times\[2\]"):
            check_times(times)
        times.mask = False
        assert check_times(times)[0] == 1850


@pytest.mark.parametrize("unit", ["ns", "us", "s", "D"])
def test_dates_of_numpy_among_objects(unit):
    """Of nanoseconds NumPy makes numbers."""
    dates = np.array(["1999-07-02T12", "2000-01-01"], f"M8[{unit}]")
    objects = np.empty(2, object)
    objects[:] = list(dates)
    np.testing.assert_allclose(check_times(objects), check_times(dates), rtol=1e-12)


def test_further_times_leave_the_names_of_periods():
    whole = Periods.learn([1850, 1855, 1860], n_periods=2).closed([1850, 1855, 1860])
    assert whole.labels == ["1850-1854", "1855-1860"]
    assert whole.lengthened([1862.5]).labels == ["1850-1854", "1855-1860", "1861-1865"]
    parts = Periods.learn([1850.5, 1860.5], n_periods=1).closed([1850.5, 1860.5])
    assert parts.lengthened([1865]).labels == ["[1850.5, 1860.5)", "[1860.5, 1870.5]"]


def test_bins_that_go_on():
    bins = [1800, 1850, 1900]
    first = Periods.learn([1850, 1900], bins=bins)
    for times in ([1860], [1850.5]):
        assert first.rebinned(times, bins, 2).labels == ["1800-1849", "1850-1900"]
    # what was learned of 1900 would be in another period
    with pytest.raises(ValueError, match="bins must end at 1900"):
        first.rebinned([1910], [*bins, 1950], 2, at_end=True)
    later = Periods.learn([1850, 1899], bins=bins).rebinned([1910], [*bins, 1950], 2)
    assert later.labels == ["1800-1849", "1850-1899", "1900-1949"]
    for other in ([1800, 1860, 1900], [1750, 1800, 1850, 1900]):
        with pytest.raises(ValueError, match="bins must begin with the 1 periods that are learned"):
            first.rebinned([1870], other, 1)
    with pytest.raises(ValueError, match="bins must begin"):
        Periods.learn([1850, 1851]).rebinned([1870], bins, 2)


def test_dates_before_the_year_one_in_an_array_of_objects():
    dates = np.array([np.datetime64("-0044-03-15"), np.datetime64("-0010-03-15")], dtype=object)
    np.testing.assert_allclose(check_times(dates), [-43.8, -9.8], atol=0.01)
    # microseconds do not reach so far
    dates[0] = np.datetime64("-500000")
    assert check_times(dates)[0] == pytest.approx(-500000, abs=1)


@pytest.mark.parametrize(
    ("times", "warned"),
    [
        ([1191, 1991, 1992, 1994], True),
        ([-100, -99, 1, 2], True),
        # of decades, each by its first year
        (list(range(1800, 1910, 10)), False),
        ([1, 2, 3, 12], False),
    ],
)
def test_one_integer_far_from_others_may_be_a_mistake(times, warned):
    times = np.array(times, dtype=float)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_empty(Periods.learn(times), times)
    assert [f"from {times.min():.0f} to {times.max():.0f}" in str(w.message) for w in caught] == [
        True
    ] * warned

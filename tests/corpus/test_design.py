"""Covariates of documents: constants, names, refusals."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.corpus.design import INTERCEPT, design_of
from tests.helpers.extras import optional

pd = pytest.importorskip("pandas")

X = np.array([[0, 1.0], [1, 2.0], [1, 4.0], [0, 1.5]])


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, sparse.csr_array, pd.DataFrame])
def test_forms(form):
    found = design_of(form(X), 4)
    np.testing.assert_array_equal(found.matrix, np.column_stack([np.ones(4), X]))
    names = ["0", "1"] if form is pd.DataFrame else ["x0", "x1"]
    assert found.terms.tolist() == [INTERCEPT, *names]


def test_names_and_constants():
    frame = pd.DataFrame({"woman": [True, False, True, False], "year": [1.0, 2.0, 3.0, 5.0]})
    assert design_of(frame, 4).terms.tolist() == [INTERCEPT, "woman", "year"]
    assert design_of(frame["year"], 4).terms.tolist() == [INTERCEPT, "year"]
    assert design_of(X[:, 1], 4).matrix.shape == (4, 2)


@pytest.mark.parametrize("name", ["const", "Intercept", "(Intercept)", "constant", "CONST "])
def test_columns_of_ones_that_are_called_constants(name):
    """They are the constant, and have its name wherever they stand."""
    found = design_of({"year": X[:, 1], name: np.ones(4)}, 4)
    assert found.terms.tolist() == ["year", INTERCEPT]
    np.testing.assert_array_equal(found.matrix, np.column_stack([X[:, 1], np.ones(4)]))


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, sparse.csr_array, pd.DataFrame])
def test_first_column_of_ones_of_a_design_matrix(form):
    given = np.column_stack([np.ones(4), X])
    found = design_of(form(given), 4)
    assert found.terms[0] == INTERCEPT
    np.testing.assert_array_equal(found.matrix, given)


@pytest.mark.parametrize(
    "design, value, term",
    [
        ({"one": np.ones(4)}, 1, "one"),
        ({"one": [True] * 4, "year": X[:, 1]}, 1, "one"),
        ({"year": X[:, 1], "place": np.full(4, 3.5)}, 3.5, "place"),
        ({"const": np.full(4, 2.0), "year": X[:, 1]}, 2, "const"),
        (np.ones(4), 1, "x0"),
        (np.column_stack([X, np.ones(4)]), 1, "x2"),
        (pd.Series(np.ones(4), name="woman"), 1, "woman"),
    ],
)
def test_covariates_that_do_not_vary(design, value, term):
    """Nothing but the constant may be the same for all: it would be read as an effect."""
    with pytest.raises(ValueError, match=f"got {value} in all 4 documents for '{term}'.*'const'"):
        design_of(design, 4)


def test_columns_by_name():
    columns = {"woman": [True, False, True, False], "year": np.array([1.0, 2.0, 3.0, 5.0])}
    expected = design_of(pd.DataFrame(columns), 4)
    table = np.array([*zip(*columns.values(), strict=True)], dtype=[("woman", "?"), ("year", "f8")])
    for form in (columns, table):
        found = design_of(form, 4)
        assert found.terms.tolist() == expected.terms.tolist()
        np.testing.assert_array_equal(found.matrix, expected.matrix)
    with pytest.raises(ValueError, match=r"each of the 4 documents, got shape \(2,\) of 'year'"):
        design_of(columns | {"year": [1, 2]}, 4)


def test_rows():
    some = design_of(X, 4).rows(np.array([0, 1, 2, 3]))
    np.testing.assert_array_equal(some.matrix[:, 1:], X)
    with pytest.raises(ValueError, match="depend on each other or are zero: x0. Leave"):
        design_of(np.array([0, 1.0, 0, 0, 0]), 5).rows(np.array([0, 2, 3, 4]))


@pytest.mark.parametrize(
    "design, message",
    [
        (X[:3], r"a row for each of the 4 documents, got shape \(3, 2\)"),
        (np.full((4, 1), np.nan), "finite numbers, got nan in row 0, column 0"),
        (pd.DataFrame({"a": list("uvwx")}), "Code categories as columns of 0 and 1 first"),
        (np.column_stack([X[:, 0], 2 * X[:, 0]]), "independent columns.* zero: x0, x1."),
        (np.column_stack([X[:, 0], 1 - X[:, 0]]), r"zero: \(intercept\), x0, x1. Leave"),
        (np.eye(4), r"fewer columns than documents, got 5 \(with a constant\) for 4"),
        (np.zeros((4, 0)), r"got shape \(4, 0\)"),
        (None, "must be a dict, DataFrame or array of covariates, with a row .* 4 doc.*, got None"),
        ("~ party", "got the text '~ party': formulas are not read, pass the columns"),
        (3.0, r"must be a dict, .*, got the number 3\.0\."),
        ({"k": 3.0}, r"design\['k'\] must have a value for each of the 4 doc.* the number 3\.0\."),
        ({"k": np.float64(3.0)}, r"got the number 3\.0\."),
        ({"k": "Whig"}, r"got the text 'Whig'\."),
    ],
)
def test_refused(design, message):
    with pytest.raises(ValueError, match=message):
        design_of(design, 4)


KINDS = ["array", "dict", "series", "frame", "beside", "python", "periods", "objects"]


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_no_covariates(kind):
    """They are refused with what to give instead."""
    dates = np.array(
        ["2001-01-01", "2002-06-01", "2004-05-06", "2007-01-01"], dtype="datetime64[D]"
    )
    beside = {"x": [1, 2, 4, 3], "when": dates}
    python = {"when": dates.tolist(), "x": [1, 2, 4, 3]}
    forms = {"array": dates, "dict": {"when": dates}, "beside": beside, "python": python}
    forms["periods"] = {"when": pd.PeriodIndex(dates, freq="M")}
    forms["objects"] = pd.DataFrame(python)
    given = forms.get(kind)
    if given is None:
        given = pd.Series(dates) if kind == "series" else pd.DataFrame({"when": dates, "x": 1.5})
    with pytest.raises(
        ValueError, match=r"must hold numbers, got dates: give years, such as frame"
    ):
        design_of(given, 4)


def test_what_pandas_has_as_missing():
    """It is told by its row, and not taken for a category."""
    years = pd.Series([1, 2, None, 4], dtype="Int64")
    with pytest.raises(ValueError, match="got nan in row 2, column 'year': leave such"):
        design_of(pd.DataFrame({"x": X[:, 1], "year": years}), 4)


def test_what_is_behind_a_mask_is_missing():
    """In a dict as alone."""
    age = np.ma.masked_equal([34, 51, -999, 40], -999)
    for given in (age, {"x": X[:, 1], "age": age}):
        with pytest.raises(ValueError, match="finite numbers, got nan in row 2"):
            design_of(given, 4)


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_texts_are_no_covariates(form):
    """Not even of numbers, which may be names of groups."""
    with pytest.raises(ValueError, match=r"\['party'\] must hold numbers: got texts"):
        design_of(form({"x": [1, 2, 4, 3], "party": ["Whig", "Whig", "None", "None"]}), 4)
    for group in (["1", "2", "3", "b"], ["", "2", "3", "1"]):
        with pytest.raises(ValueError, match=r"got texts, such as '(b|)'. Code categories as col"):
            design_of(form({"group": group}), 4)
    for year in (["1861", "1862", "1865", "1870"], ["1861", None, "1865", "1870"]):
        with pytest.raises(ValueError, match=r"such as '1861'. They read as .*astype\(float\)"):
            design_of(form({"year": year}), 4)


def test_categories_that_no_row_has():
    """They are columns of zeros in pandas."""
    with pytest.raises(ValueError, match="got 0 in all 4 documents for 'x3'"):
        design_of(np.column_stack([np.ones(4), X, np.zeros(4)]), 4)
    party = pd.get_dummies(pd.Series(pd.Categorical(list("uvuv"), categories=list("uvw"))))
    with pytest.raises(ValueError, match=r"'w': leave it out, .*\(A category without rows"):
        design_of(party[["v", "w"]], 4)
    with pytest.raises(ValueError, match=r"'one': leave it out, .*\(A column of ones counts as"):
        design_of({"x": X[:, 1], "one": np.ones(4)}, 4)


def test_a_series_is_called_by_its_name():
    with pytest.raises(ValueError, match="design 'party' must hold numbers: got texts, such as 'W"):
        design_of(pd.Series(["Whig", "Whig", "None", "None"], name="party"), 4)


def test_columns_of_one_name():
    for frame in (pd.DataFrame(X, columns=["year"] * 2), {1: X[:, 0], "1": X[:, 1]}):
        with pytest.raises(ValueError, match="design must have columns of different names, got {'"):
            design_of(frame, 4)
    with pytest.raises(ValueError, match="must hold numbers: setting an array element"):
        design_of([[1], [2, 3], [1], [2]], 4)


def test_spans_in_a_list_are_no_numbers():
    """As in a frame; they are no categories either."""
    spans = [datetime.timedelta(days=i) for i in (1, 2, 3, 5)]
    for given in (spans, {"age": spans}, np.array([np.timedelta64(i, "D") for i in range(4)], "O")):
        with pytest.raises(ValueError, match="must hold numbers, got spans of time"):
            design_of(given, 4)


@pytest.mark.parametrize("module", ["pandas", "polars"])
def test_dates_and_spans_in_a_frame_are_no_numbers(module):
    """Beside numbers polars would make one type of both."""
    module = pytest.importorskip(module)
    days = [datetime.date(2001, 1, 1 + i) for i in range(4)]
    frame = module.DataFrame({"date": days, "n": [1, 2, 3, 5]})
    with pytest.raises(ValueError, match=r"design\['date'\] must hold numbers, got dates"):
        design_of(frame, 4)
    spans = {"a": [datetime.timedelta(days=i) for i in (1, 2, 3, 5)], "b": [1.5, 2, 3, 1]}
    with pytest.raises(ValueError, match=r"design\['a'\] must hold numbers, got spans of time"):
        design_of(module.DataFrame(spans), 4)


def test_lazy_frames_are_not_read():
    frame = pytest.importorskip("polars").DataFrame({"n": [1.0, 2, 3, 5]}).lazy()
    with pytest.raises(ValueError, match=r"got a LazyFrame: pass design.collect\(\)"):
        design_of(frame, 4)


def test_categories_of_numbers_are_categories():
    pd = optional("pandas")
    genre = pd.Series([10, 20, 30, 10], dtype="category")
    for given in ({"genre": genre}, pd.DataFrame({"genre": genre}), genre):
        with pytest.raises(ValueError, match=r"categories \(10, 20, 30\).*get_dummies"):
            design_of(given, 4)
    # of two there is one column, and categories that no row has are none
    two = pd.Series([0, 1, 1, 0], dtype="category")
    for given in (two, two.cat.add_categories([2])):
        assert design_of({"two": given}, 4).matrix[:, 1].tolist() == [0, 1, 1, 0]


def test_columns_of_pandas_have_their_rows_in_one_order():
    pd = optional("pandas")
    first, second = pd.Series([1.0, 2, 3, 5]), pd.Series([2.0, 1, 4, 4], index=[3, 2, 1, 0])
    with pytest.raises(ValueError, match="same labels of rows in one order"):
        design_of({"s": first, "u": second}, 4)
    frame = design_of(pd.DataFrame({"s": first, "u": second}), 4)
    assert frame.matrix[:, 2].tolist() == [4, 4, 1, 2]
    for column in ([1.0, 2, 1, 1], [2.0] * 4):
        with pytest.raises(ValueError, match="is the name of the constant.*must be ones"):
            design_of({"(intercept)": column, "x": [1.0, 2, 3, 5]}, 4)

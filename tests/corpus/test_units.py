"""Units of sampling and weights of documents."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.corpus.units import check_units, check_weights, units_of

pd = pytest.importorskip("pandas")


def test_documents_are_units_where_none_are_given():
    units = units_of(None, None, 4)
    assert units.n_units == 4
    np.testing.assert_array_equal(units.index, [0, 1, 2, 3])


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "b"], np.array(["b", "a", "b"]), pd.Series(["b", "a", "b"], index=[7, 8, 9])],
    ids=["list", "array", "series"],
)
def test_labels(labels):
    units = units_of(check_units(labels, 3), None, 3)
    assert units.labels.tolist() == ["a", "b"]
    np.testing.assert_array_equal(units.index, [1, 0, 1])


def test_labels_of_several_types():
    assert units_of(check_units([1, "x", 1], 3), None, 3).n_units == 2


def test_documents_of_weight_zero_belong_to_no_unit():
    units = units_of(np.array(["a", "b", "c"]), np.array([1.0, 0.0, 2.0]), 3)
    assert units.labels.tolist() == ["a", "c"]
    assert units_of(None, np.array([1.0, 0.0, 2.0]), 3).n_units == 2


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (["a", "b"], r"units must have one label for each of the 3 documents, got shape \(2,\)"),
        ([["a"], ["b"], ["c"]], r"got shape \(3, 1\)"),
        (
            "abc",
            "units must be a list or array with a label for each of the 3 documents, got 'abc'",
        ),
        (5, "units must be a list or array"),
        (["a", None, "b"], "units must have a label for every one .* got units\\[1\\] = None"),
        ([1.0, 2.0, np.nan], "got units\\[2\\] = nan"),
        (pd.Series(["a", None, "b"], dtype="string"), "a label for every one .* units\\[1\\] = "),
    ],
    ids=str,
)
def test_wrong_units(units, message):
    with pytest.raises(ValueError, match=message):
        check_units(units, 3)


def test_one_unit():
    with pytest.raises(ValueError, match=r"got 1 \(\['a'\]\) for 2 .*say nothing of other units\."):
        units_of(np.array(["a", "a"]), None, 2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"one number for each of the 3 documents, got shape \(2,\)"),
        ([1.0, -2.0, 1.0], "finite and >= 0"),
        ([1.0, np.nan, 1.0], "finite and >= 0"),
        ([0.0, 0.0, 0.0], "> 0 for at least one document"),
        (["a", "b", "c"], "sample_weight must be numbers"),
    ],
    ids=str,
)
def test_wrong_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 3)


def test_numbers_in_a_column_of_objects_are_numbers():
    """1 and 1.0 are one unit; beside a string they are strings."""
    whole = check_units(np.array([2, 10, 2], dtype=object), 3)
    np.testing.assert_array_equal(whole, check_units(np.array([2.0, 10.0, 2.0], dtype=object), 3))
    assert whole.dtype.kind == "i" and np.unique(whole).tolist() == [2, 10]
    assert check_units(np.array([2, "b", True], dtype=object), 3).tolist() == ["2", "b", "True"]


@pytest.mark.parametrize(
    "units",
    [
        ["Ann", float("nan"), "Bob"],
        ("Ann", np.nan, "Bob"),
        ["Ann", None, "Bob"],
        pd.Series(["Ann", np.nan, "Bob"]).tolist(),
        np.ma.array(["Ann", "", "Bob"], mask=[0, 1, 0]),
        np.ma.array([1, 999, 2], mask=[0, 1, 0]),
    ],
)
def test_labels_that_are_missing_are_no_units(units):
    """NumPy would write them as a text, beside texts."""
    with pytest.raises(ValueError, match=r"label for every one of the documents, got units\[1\]"):
        check_units(units, 3)


def test_labels_that_differ_by_type_alone_are_refused():
    """As texts they would be one unit."""
    with pytest.raises(ValueError, match="differ by their type alone, got 1 and '1': make them"):
        check_units([1, "1", 2, "x"], 4)
    assert check_units([1, "2", "x"], 3).tolist() == ["1", "2", "x"]


def test_labels_that_only_look_missing():
    assert check_units(["nan", "None", "Bob"], 3).tolist() == ["nan", "None", "Bob"]


def test_weights_behind_a_mask_are_missing():
    weights = np.ma.array([1.0, 99.0, 2.0], mask=[0, 1, 0])
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        check_weights(weights, 3)
    weights.mask = False
    np.testing.assert_array_equal(check_weights(weights, 3), [1.0, 99.0, 2.0])


def test_identifiers_that_floating_point_does_not_tell_apart():
    labels = np.array([2**53, 2**53 + 1, 1.0], dtype=object)
    for given in (labels, labels.tolist()):
        with pytest.raises(ValueError, match="make identifiers texts"):
            check_units(given, 3)
    assert check_units([1, 1.0, 2.5], 3).tolist() == [1, 1, 2.5]
    assert check_units(np.array([1, 1.0, 2], dtype=object), 3).tolist() == [1, 1, 2]

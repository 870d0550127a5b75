"""Rows of what is given together: they are matched by their places, whatever their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_rows(**given: Any) -> None:
    """Raise a ValueError where rows of pandas objects have the same labels in other orders.

    Parameters
    ----------
    **given : object
        By their names, whatever is one for each document; what has no labels is left out. Labels
        that are not the same ones, or not different from each other, tell nothing of the order.

    Raises
    ------
    ValueError
        If two have the same labels of rows, in other orders.

    Examples
    --------
    >>> from skbayesembed.corpus.rows import check_rows
    >>> check_rows(X=["oak", "elm"], units=["Ann", "Bob"])
    """
    labelled = [(name, labels) for name, x in given.items() if (labels := _of_any(x)) is not None]
    for name, labels in labelled[1:]:
        first, others = labelled[0]
        if _in_another_order(others, labels):
            raise ValueError(
                f"{name} must have its rows in the order of {first}, as they are matched by their "
                "places, got the same labels of rows in another order: take both from one "
                "DataFrame, or, if places are right, reset_index(drop=True) of each."
            )


def _of_any(x):
    # columns of one mapping have the same (`design_of`)
    parts = x.values() if isinstance(x, Mapping) else [x]
    return next((labels for one in parts if (labels := row_labels(one)) is not None), None)


def row_labels(x: Any) -> Any:
    """Labels of the rows of a pandas object, an Index; None of everything else."""
    return x.index if hasattr(x, "iloc") and hasattr(x, "index") else None


def _in_another_order(first, second):
    if len(first) != len(second) or first.equals(second):
        return False
    if not (first.is_unique and second.is_unique):
        return False
    return bool(second.isin(first).all())

"""Labels with the name of their column, which answers call units by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class NamedList(list):
    """A list of labels with the name of its column.

    Examples
    --------
    >>> from skbayesembed.datasets.named import NamedList
    >>> found = NamedList(["Adams", "Taft"], "president")
    >>> found, found.name
    (['Adams', 'Taft'], 'president')
    """

    def __init__(self, values: Iterable, name: str) -> None:
        super().__init__(values)
        self.name = name


class NamedArray(np.ndarray):
    """The same as an array, parts of which keep the name.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.datasets.named import NamedArray
    >>> NamedArray.of(np.array(["Adams", "Taft"]), "president")[1:].name
    'president'
    """

    name: str | None = None

    @classmethod
    def of(cls, values: np.ndarray, name: str) -> NamedArray:
        """An array with a name."""
        found = np.asarray(values).view(cls)
        found.name = name
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.name = getattr(other, "name", None)

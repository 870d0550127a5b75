"""Labels with the name of their column, which answers call units by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np


class NamedList(list):
    """A list of labels with the name of its column, which slices and copies keep.

    Examples
    --------
    >>> from skbayesembed.datasets.named import NamedList
    >>> found = NamedList(["Adams", "Taft"], "president")
    >>> found, found.name
    (['Adams', 'Taft'], 'president')
    >>> found[1:].name
    'president'
    """

    def __init__(self, values: Iterable, name: str) -> None:
        super().__init__(values)
        self.name = name

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return NamedList(found, self.name) if isinstance(index, slice) else found

    def copy(self) -> NamedList:
        """A list of the same labels and name."""
        return self[:]


class NamedArray(np.ndarray):
    """The same as an array, whose parts and copies keep the name, also those in other processes.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.datasets.named import NamedArray
    >>> NamedArray.of(np.array(["Adams", "Taft"]), "president")[1:].name
    'president'
    """

    name: str | None = None

    @classmethod
    def of(cls, values: np.ndarray, name: str | None) -> NamedArray:
        """An array with a name."""
        found = np.asarray(values).view(cls)
        found.name = name
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.name = getattr(other, "name", None)

    def __reduce__(self) -> Any:
        build, arguments, state = cast("tuple", super().__reduce__())
        return build, arguments, (state, self.name)

    def __setstate__(self, state: Any) -> None:
        inner, self.name = state
        super().__setstate__(inner)

    def __deepcopy__(self, memo: dict[int, Any] | None) -> NamedArray:
        return NamedArray.of(super().__deepcopy__(memo), self.name)

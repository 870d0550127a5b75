"""What `extract_snippets` returns: a Bunch that prints in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import Bunch

from ..posterior.cells import labels_in_print
from ..posterior.representatives import SNIPPET_WIDTH, cut_around, in_lines
from ..posterior.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

# Entries with a value for each snippet, and what they are called in tables.
_OF_EACH = {"times": "time", "genres": "genre", "units": "unit", "document": "document"}


class Snippets(Bunch):
    """Snippets of a target word, as `extract_snippets` returns them.

    Dictionary-like, with the attributes named there. It prints as a table of the first and last
    snippets, shows as HTML in notebooks, and becomes a pandas DataFrame with `to_frame`.

    Examples
    --------
    >>> from skbayesembed.datasets import extract_snippets
    >>> texts = ["We sat on the bank of the river.", "The bank by the river lends money: a bank!"]
    >>> extract_snippets(texts, "bank", times=[1850, 1990], min_count=1)
    3 snippets of 2 documents, 10 words
    time  document  passage
    1850         0  We sat on the bank of the river
    1990         1  The bank by the river lends money: a bank
    1990         1  The bank by the river lends money: a bank
    """

    def to_frame(self) -> pd.DataFrame:
        """Return the snippets as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row for each snippet: ``time``, ``genre`` and ``unit`` (if they were given),
            ``document``, ``passage``, ``position``, ``snippet`` and ``sentence``.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> from skbayesembed.datasets import extract_snippets
        >>> texts = ["We sat on the bank of the river.", "The bank lends money: a bank!"]
        >>> extract_snippets(texts, "bank", min_count=1).to_frame()["position"].tolist()
        [4, 1, 4]
        """
        return SnippetTable(self).to_frame()

    def __repr__(self) -> str:
        return repr(SnippetTable(self))

    def _repr_html_(self):
        return SnippetTable(self)._repr_html_()


class SnippetTable(Table):
    """The table that `Snippets` print as."""

    _max_rows = 6

    def __init__(self, found: Snippets) -> None:
        self._found = found

    def _title(self):
        found = self._found
        n, of = len(found.snippets), np.unique(found.document).size
        ending = "" if of == 1 else "s"
        return f"{n:,} snippets of {of:,} document{ending}, {len(found.words):,} words"

    def _columns(self):
        found = self._found
        given = {
            name: np.asarray(found[entry])
            for entry, name in _OF_EACH.items()
            if found[entry] is not None
        }
        columns = [
            Column(name, values, (name,), labels_in_print, left=values.dtype.kind not in "iuf")
            for name, values in given.items()
        ]
        return [*columns, Column("passage", found.passages, ("passage",), _cut, left=True)]

    def _series(self):
        more = {"position": "positions", "snippet": "snippets", "sentence": "sentences"}
        return super()._series() | {name: self._found[entry] for name, entry in more.items()}


def _cut(passages):
    return [cut_around(line, (), SNIPPET_WIDTH) for line in in_lines(passages)]

"""Documents read one after the other, so that a text need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from scipy import sparse

from .kinds import NO_LISTS, input_kind, sequence_kind
from .text import analyzer_of

# Documents whose kind is looked at together.
_TOGETHER = 64


def documents_of(texts: Any, settings: Any, kinds: list[str] | None = None) -> Iterator[list[str]]:
    """Yield the tokens of one document after the other; an iterator is read as far as is needed.

    Parameters
    ----------
    texts : iterable of str or of lists of str
        An open file is one document a line.
    settings : object
        With what `text.analyzer_of` reads.
    kinds : list of str, optional
        Gets the kind of the documents, once there is one.

    Raises
    ------
    TypeError, ValueError
        As `text.input_kind`, and where kinds are mixed; for a whole list before anything is read,
        otherwise when the document is reached.
    """
    if not isinstance(texts, Iterable) or _is_whole(texts):
        # lists, arrays and what is no documents at all; they may be empty, as a shard may be
        if not _is_empty(texts):
            _check_kind(input_kind(texts), None)
    kind, analyze, documents, n_read = None, None, iter(texts), 0
    while chunk := list(islice(documents, _TOGETHER)):
        found = sequence_kind(chunk, "texts", n_read)
        n_read += len(chunk)
        _check_kind(found, kind)
        if kind is None:
            kind, analyze = found, analyzer_of(settings, found)
            if kinds is not None:
                kinds.append(kind)
        yield from chunk if analyze is None else map(analyze, chunk)


def _is_whole(texts):
    """Whether texts are in memory as a whole, and not read from elsewhere as they are asked for.

    The latter may have a length, as a bar of progress around a file has, and be read once only.
    """
    if isinstance(texts, (*NO_LISTS, list, tuple)) or sparse.issparse(texts):
        return True
    return any(hasattr(texts, name) for name in ("dtype", "__array__", "columns"))


def _is_empty(texts):
    """Whether texts are a list, an array or a column without any."""
    one_line = getattr(texts, "ndim", 1) == 1 and not isinstance(texts, NO_LISTS)
    return one_line and isinstance(texts, Iterable) and len(texts) == 0


def _check_kind(found, kind):
    if found == "counts":
        raise TypeError("texts hold numbers, which have no words: expected documents or tokens.")
    if kind is not None and found != kind:
        raise ValueError(f"texts mix kinds: first {kind}, then {found}. Pass one or the other.")

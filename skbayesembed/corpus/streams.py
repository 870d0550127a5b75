"""Documents read one after the other, so that a text need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from ..common.warnings import warn_user
from .analysis import analyzer_of
from .kinds import NO_LISTS, input_kind, plain_column, sequence_kind
from .text import distinct_words

# Documents whose kind is looked at together.
_TOGETHER = 64
# Words that a message names.
_NAMED = 3


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
    texts = plain_column(texts)
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


def check_vocabulary_again(stream: Any, vocabulary: Any, for_text: str) -> None:
    """Raise a ValueError where a later batch comes with other words than its stream has.

    Parameters
    ----------
    stream : object or None
        What `partial_fit` has learned so far, with ``training`` and the words ``begun_with``.
    vocabulary : iterable of str, dict of str to int, Vocabulary or None
        Given with the later batch; in whatever order.
    for_text : str
        What is said where the stream is one of counts, which take no vocabulary.
    """
    if stream is None or vocabulary is None:
        return
    if stream.training.columns is not None:
        raise ValueError(for_text)
    if stream.begun_with is not None:
        _check_same_words(vocabulary, stream.begun_with)


def _check_same_words(vocabulary, words):
    given, begun = distinct_words(vocabulary).tolist(), words.tolist()
    known, present = set(begun), set(given)
    new = [word for word in given if word not in known]
    missing = [word for word in begun if word not in present]
    if not (new or missing):
        return
    parts = [f"{len(new)} that are not among them ({_some(new)})"] if new else []
    parts += [f"{len(missing)} of them missing ({_some(missing)})"] if missing else []
    raise ValueError(
        f"vocabulary must be None or the {len(begun)} words of the first call of partial_fit, got "
        f"{' and '.join(parts)}: a stream has the words of its first call. Begin a new one for "
        "others, clone(estimator).partial_fit(X, vocabulary=...)."
    )


def _some(words):
    named = ", ".join(repr(str(word)) for word in words[:_NAMED])
    return f"{named}, ..." if len(words) > _NAMED else named


def warn_of_no_known_word(ids: np.ndarray, n_documents: int) -> None:
    """Warn of a batch that has words, but none that its stream knows.

    Parameters
    ----------
    ids : ndarray of int
        Of the words of all documents; -1 for those that are not known.
    n_documents : int
    """
    if ids.size and not (ids >= 0).any():
        of = "The one document of X has no" if n_documents == 1 else (
            f"None of the {n_documents:,} documents of X has a"
        )  # fmt: skip
        warn_user(
            f"{of} known word, and nothing was learned from X: a stream has the words of its first "
            "call. To learn others too, give them all to the first call, vocabulary=.",
            UserWarning,
        )


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

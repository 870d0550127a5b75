"""Documents that are copies of others, which count as evidence of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ..common.warnings import warn_of_intervals

# Tokens of a document, and different words in text and among counts, from which on it is no
# accident that another one is the same. The order of words says far more than their numbers.
_LONG, _IN_TEXT, _DIFFERENT = 20, 4, 12
# Copies, and their share of such documents, from which on a fit tells of them.
_MANY, _SHARE = 3, 0.01


def warn_of_copies(
    documents: Iterable[bytes | None],
    units: Any = None,
    weights: Any = None,
    what: str = "intervals are too narrow",
) -> None:
    """Warn where many documents are copies of documents of other units.

    Parameters
    ----------
    documents : iterable of bytes or None
        What is the same for copies alone; None for documents that may be alike by chance.
    units : ndarray of int of shape (n_documents,) or None
        Units of the documents; each is its own by default.
    weights : ndarray of shape (n_documents,) or None
        Documents of weight zero are not looked at.
    what : str
        What comes of it.
    """
    first: dict[bytes, int] = {}
    n_long = n_copies = 0
    for i, document in enumerate(documents):
        if document is None or (weights is not None and not weights[i]):
            continue
        n_long += 1
        at = first.setdefault(document, i)
        n_copies += at != i and (units is None or units[at] != units[i])
    if n_copies < max(_MANY, _SHARE * n_long):
        return
    one_label = "" if units is None else ", or give copies one label in units="
    warn_of_intervals(
        f"{n_copies:,} of {n_long:,} documents that are not short are exact copies of others: each "
        f"counts as evidence of its own, and {what}. Drop them (pandas: "
        f"frame.drop_duplicates){one_label}."
    )


def of_tokens(ids: np.ndarray, offsets: np.ndarray) -> Iterable[bytes | None]:
    """Documents of word ids, for `warn_of_copies`."""
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        telling = b - a >= _LONG and np.unique(ids[a:b]).size >= _IN_TEXT
        yield _digest(ids[a:b]) if telling else None


def of_counts(counts: sparse.csr_array) -> Iterable[bytes | None]:
    """Rows of a matrix of counts, for `warn_of_copies`."""
    if not counts.has_sorted_indices:
        counts = counts.sorted_indices()
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    ends = counts.indptr.tolist()
    for i, (a, b) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        telling = sizes[i] >= _LONG and b - a >= _DIFFERENT
        yield _digest(counts.indices[a:b], counts.data[a:b]) if telling else None


def _digest(*parts):
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(np.ascontiguousarray(part))
    return digest.digest()

"""Fingerprints of training snippets, by which they are known again without being kept."""

from __future__ import annotations

import hashlib

import numpy as np


def fingerprint_of_snippets(counts, periods, genres, works):
    """Digest of snippets and their covariates, in their order.

    Parameters
    ----------
    counts : csr_array of shape (n_snippets, n_words)
    periods, genres, works : ndarray of int of shape (n_snippets,) or None

    Returns
    -------
    str
    """
    counts = counts.copy()
    counts.sum_duplicates()
    counts.eliminate_zeros()
    words = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    return _digest(*words, counts.data.astype(float), periods, genres, works)


def fingerprint_of_labels(labels):
    """Digest of known senses, -1 where unknown; None where none is known."""
    if labels is None or (labels < 0).all():
        return None
    return _digest(labels)


def _digest(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(b"-" if array is None else str(array.size).encode() + array.tobytes())
    return found.hexdigest()

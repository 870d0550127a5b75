"""Kernels that the Gibbs samplers share, and those of the partly collapsed one.

Tokens lie in the order of the documents' entries, with topics ``z``. Widths are padded
with zeros (``table`` (V, P), ``alpha`` (P,), P >= K), so that loops are whole vectors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST


class Entries(NamedTuple):
    """Documents as rows of entries.

    Attributes
    ----------
    indptr : ndarray of shape (n_documents + 1,)
        Entries of document d are those from ``indptr[d]`` to ``indptr[d + 1]``.
    words, counts : ndarray of shape (n_entries,)
        Word of each entry, and how many tokens it has.
    ends : ndarray of shape (n_documents + 1,)
        Tokens of document d are those from ``ends[d]`` to ``ends[d + 1]``.
    """

    indptr: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, documents):
        """Those of `Documents`."""
        return cls(documents.indptr, documents.words, documents.counts, documents.ends)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def dot_rows(a, b):
    """Sum of products of two vectors."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def pick_other(weight, row, old, u):
    """The topic k other than ``old`` at which the sums of weight[k] row[k] pass u."""
    last = old
    for k in range(row.size):
        if k != old:
            p = weight[k] * row[k]
            if p > 0.0:
                last = k
                u -= p
                if u < 0.0:
                    break
    return last


@njit(nogil=True, cache=True, error_model="numpy")
def draw_assignments(start, stop, entries, table, alpha, rng, z, moved):
    """Draw the topics of the tokens of documents start..stop given the words' weights ``table``.

    P(z = k | rest) = (n_dk without the token + alpha_k) table[w, k] / sum; how many moved is
    in ``moved[0]``.
    """
    indptr, words, counts, ends = entries
    weight = np.empty(alpha.size)
    moved[0] = 0
    for d in range(start, stop):
        weight[:] = alpha
        for t in range(ends[d], ends[d + 1]):
            weight[z[t]] += 1.0
        t = ends[d]
        for i in range(indptr[d], indptr[d + 1]):
            row = table[words[i]]
            for _ in range(counts[i]):
                old = z[t]
                # the current topic is tried first: mostly it is drawn again, and no search made
                rest = dot_rows(weight, row) - row[old]
                u = rng.random() * rest - (weight[old] - 1.0) * row[old]
                if u >= 0.0:
                    new = pick_other(weight, row, old, u)
                    if new != old:
                        weight[old] -= 1.0
                        weight[new] += 1.0
                        z[t] = new
                        moved[0] += 1
                t += 1


@njit(nogil=True, cache=True, error_model="numpy")
def count_assignments(documents, entries, z, out, sign):
    """Add ``sign`` times the tokens of the ``documents`` by word and topic to ``out`` (V, K)."""
    indptr, words, counts, ends = entries
    for d in documents:
        t = ends[d]
        for i in range(indptr[d], indptr[d + 1]):
            w = words[i]
            for _ in range(counts[i]):
                out[w, z[t]] += sign
                t += 1


@njit(nogil=True, cache=True, error_model="numpy")
def count_anew(documents, entries, z, out):
    """`count_assignments` into ``out`` set to 0."""
    out[:] = 0
    count_assignments(documents, entries, z, out, 1)


@njit(nogil=True, cache=True, error_model="numpy")
def assign_by_word(entries, start, z):
    """z = start[word] for every token."""
    indptr, words, counts, ends = entries
    for d in range(indptr.size - 1):
        t = ends[d]
        for i in range(indptr[d], indptr[d + 1]):
            for _ in range(counts[i]):
                z[t] = start[words[i]]
                t += 1


@njit(nogil=True, cache=True, error_model="numpy")
def count_documents(ends, z, out):
    """out[d, k] = tokens of document d in topic k."""
    for d in range(ends.size - 1):
        for k in range(out.shape[1]):
            out[d, k] = 0
        for t in range(ends[d], ends[d + 1]):
            out[d, z[t]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def log_assignments(ends, z, alpha):
    """Log probability of all assignments under the Dirichlet-multinomial.

    It is the sum over tokens of log (n_dk + alpha_k) / (n_d + sum alpha) over those before.
    """
    seen = np.zeros(alpha.size)
    total = 0.0
    for k in range(alpha.size):
        total += alpha[k]
    value = 0.0
    for d in range(ends.size - 1):
        product, n = 1.0, 0.0
        for t in range(ends[d], ends[d + 1]):
            k = z[t]
            product *= (alpha[k] + seen[k]) / (total + n)
            seen[k] += 1.0
            n += 1.0
            if product < 1e-200:
                value += math.log(product)
                product = 1.0
        value += math.log(product)
        for t in range(ends[d], ends[d + 1]):
            seen[z[t]] = 0.0
    return value

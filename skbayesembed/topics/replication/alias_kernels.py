"""Kernels of the Metropolis-Hastings sampler: proposals from a table, accepted by exact ratios.

``table`` (V, P) has each word's predictive weights of the K topics, the largest 1. A proposal has
probability (n_dk + alpha_k) table[w, k] / sum, the token itself not among n_dk. The part with n_dk
is summed over the document's topics, that with alpha_k drawn from an alias table per word (Walker
1977): no cost grows with K where documents have few topics. The documents' factors of target and
proposal are the same and cancel, and where the current topic is proposed nothing is to be done.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..gibbs.collapsed_kernels import (
    SMALLEST_FACTOR,
    change,
    factor_without,
    log_predictive_of,
    log_predictive_own,
    whitened,
)
from ..gibbs.kernels import dot_rows

# Up to so many topics a sum over all is faster than one over a document's own.
_SMALL = 64


class Proposals(NamedTuple):
    """Predictive weights of the words, and alias tables of their products with alpha.

    Attributes
    ----------
    table : ndarray of shape (V, P)
    mass : ndarray of shape (V,)
        sum_k alpha_k table[w, k].
    share, other : ndarray of shape (V, K)
        Column k of row w is kept with probability ``share[w, k]`` and is ``other[w, k]`` else.
    """

    table: np.ndarray
    mass: np.ndarray
    share: np.ndarray
    other: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy")
def alias_tables(proposals, alpha):
    """Fill the alias tables of ``proposals``, by Vose's method."""
    table, mass, share, other = proposals
    n, k_all = share.shape
    small, large = np.empty(k_all, np.int64), np.empty(k_all, np.int64)
    scaled = np.empty(k_all)
    for w in range(n):
        total = 0.0
        for k in range(k_all):
            scaled[k] = alpha[k] * table[w, k]
            total += scaled[k]
        mass[w] = total
        n_small, n_large = 0, 0
        for k in range(k_all):
            scaled[k] *= k_all / total
            if scaled[k] < 1.0:
                small[n_small] = k
                n_small += 1
            else:
                large[n_large] = k
                n_large += 1
        while n_small > 0 and n_large > 0:
            a, b = small[n_small - 1], large[n_large - 1]
            share[w, a], other[w, a] = scaled[a], b
            scaled[b] -= 1.0 - scaled[a]
            if scaled[b] < 1.0:
                n_large -= 1
                small[n_small - 1] = b
            else:
                n_small -= 1
        for i in range(n_small):
            share[w, small[i]], other[w, small[i]] = 1.0, small[i]
        for i in range(n_large):
            share[w, large[i]], other[w, large[i]] = 1.0, large[i]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def listed_sum(seen, here, n_here, row):
    """Sum of seen[k] row[k] over the topics k listed in ``here``."""
    total = 0.0
    for i in range(n_here):
        k = here[i]
        total += seen[k] * row[k]
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def propose(seen, here, n_here, w, old, proposals, rng):
    """A topic for a token of word w, now in ``old``.

    ``seen`` are the document's tokens by topic, this one included; those of the ``n_here`` topics
    in ``here`` are not 0.
    """
    row, share, other = proposals.table[w], proposals.share[w], proposals.other[w]
    if row.size <= _SMALL:
        rest = dot_rows(seen, row) - row[old]
    else:
        rest = listed_sum(seen, here, n_here, row) - row[old]
    # the current topic is tried first: mostly it is proposed
    u = rng.random() * (rest + proposals.mass[w]) - (seen[old] - 1.0) * row[old]
    if u < 0.0:
        return old
    if u < rest - (seen[old] - 1.0) * row[old]:
        last = old
        for i in range(n_here):
            k = here[i]
            if k != old and seen[k] > 0.0:
                last = k
                u -= seen[k] * row[k]
                if u < 0.0:
                    break
        return last
    place = rng.random() * share.size
    k = min(int(place), share.size - 1)
    return k if place - k < share[k] else other[k]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def add_topic(k, here, place, n_here):
    """Put topic k on the list if it is not there; returns the length of the list."""
    if place[k] >= 0:
        return n_here
    here[n_here] = k
    place[k] = n_here
    return n_here + 1


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def drop_topic(k, here, place, n_here):
    """Take topic k from the list; returns its length."""
    last = here[n_here - 1]
    here[place[k]] = last
    place[last] = place[k]
    place[k] = -1
    return n_here - 1


@njit(nogil=True, cache=True, error_model="numpy")
def move_assignments(documents, entries, vectors, prior, topics, proposals, rng, z):
    """One Metropolis-Hastings step for each token of the ``documents``, by their numbers.

    A move from topic a to b is accepted with probability min(1, f_b T_wa / (f_a T_wb)), f the
    collapsed predictives without the token, T the table. Returns how many documents were done
    before a factor would have been lost, the numbers of moves proposed and accepted.
    """
    indptr, words, counts, ends = entries
    power, kappa0, _, _ = prior
    sizes, means, whiteners, log_determinants = topics
    table = proposals.table
    k_all, e = means.shape
    seen = np.zeros(table.shape[1])
    here, place = np.empty(k_all, np.int64), np.full(k_all, -1)
    d_old, p_old, d_new, p_new, spare = np.empty((5, e))
    proposed, accepted = 0, 0
    for done in range(documents.size):
        doc = documents[done]
        n_here = 0
        for t in range(ends[doc], ends[doc + 1]):
            seen[z[t]] += 1.0
            n_here = add_topic(z[t], here, place, n_here)
        t = ends[doc]
        for i in range(indptr[doc], indptr[doc + 1]):
            w = words[i]
            row = table[w]
            for _ in range(counts[i]):
                old = z[t]
                new = propose(seen, here, n_here, w, old, proposals, rng)
                if new != old:
                    proposed += 1
                    n = sizes[old]
                    q_old = whitened(vectors[w], means[old], whiteners[old], d_old, p_old)
                    q_new = whitened(vectors[w], means[new], whiteners[new], d_new, p_new)
                    factor = factor_without(power, kappa0 + power * n, q_old)
                    if not factor > SMALLEST_FACTOR:
                        return done, proposed, accepted
                    ratio = (
                        log_predictive_of(sizes[new], prior, log_determinants[new], q_new, e)
                        - log_predictive_own(n, prior, log_determinants[old], factor, e)
                        + math.log(row[old] / row[new])
                    )
                    if ratio >= 0.0 or rng.random() < math.exp(ratio):
                        accepted += 1
                        change(old, -1, prior, topics, d_old, p_old, q_old, spare)
                        change(new, 1, prior, topics, d_new, p_new, q_new, spare)
                        seen[old] -= 1.0
                        if seen[old] == 0.0:
                            n_here = drop_topic(old, here, place, n_here)
                        seen[new] += 1.0
                        n_here = add_topic(new, here, place, n_here)
                        z[t] = new
                t += 1
        for i in range(n_here):
            seen[here[i]] = 0.0
            place[here[i]] = -1
    return documents.size, proposed, accepted

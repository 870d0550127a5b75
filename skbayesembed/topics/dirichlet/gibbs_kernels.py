"""The collapsed sampler of tokens under Dirichlet priors of words."""

from __future__ import annotations

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST
from ..gibbs.kernels import pick_other

# A difference that is a smaller share of its terms has lost too many of its digits.
_CANCELLED = 1e-6


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def weighted_sum(weight, row, level, products):
    """products[k] = weight[k] row[k], and the sum of products[k] level[k]."""
    total = 0.0
    for k in range(row.size):
        products[k] = weight[k] * row[k]
        total += products[k] * level[k]
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def sum_without(products, level, old):
    """Sum of products[k] level[k] over k other than ``old``."""
    total = 0.0
    for k in range(products.size):
        if k != old:
            total += products[k] * level[k]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def draw_tokens(entries, table, sizes, alpha, concentration, rng, z):
    """Draw the topics of all tokens in turn from their full conditionals; returns how many moved.

    P(z = k | rest) proportional to (n_dk + alpha_k) (n_kv + b_kv) / (n_k + eta), without the token.
    ``table`` (V, K) holds n + b and ``sizes`` (K,) n_k; both follow the tokens, as does ``z``.
    """
    indptr, words, counts, ends = entries
    weight, products = np.empty(alpha.size), np.empty(alpha.size)
    level = 1.0 / (sizes + concentration)
    moved = 0
    for d in range(indptr.size - 1):
        weight[:] = alpha
        for t in range(ends[d], ends[d + 1]):
            weight[z[t]] += 1.0
        t = ends[d]
        for i in range(indptr[d], indptr[d + 1]):
            row = table[words[i]]
            for _ in range(counts[i]):
                old = z[t]
                # the tables keep the token until it moves: to take it out and put it back would
                # make the sums wait for what was just written
                total = weighted_sum(weight, row, level, products)
                others = total - products[old] * level[old]
                if others < _CANCELLED * total:
                    others = sum_without(products, level, old)
                own = (weight[old] - 1.0) * (row[old] - 1.0)
                own /= sizes[old] - 1.0 + concentration
                # the current topic is tried first: mostly it is drawn again, and no search made
                u = rng.random() * (others + own) - own
                if u >= 0.0:
                    new = pick_other(products, level, old, u)
                    if new != old:
                        moved += 1
                        move_token(row, weight, sizes, old, new)
                        level[old] = 1.0 / (sizes[old] + concentration)
                        level[new] = 1.0 / (sizes[new] + concentration)
                        z[t] = new
                t += 1
    return moved


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def move_token(row, weight, sizes, old, new):
    """One token less in ``old``, one more in ``new``."""
    row[old] -= 1.0
    row[new] += 1.0
    weight[old] -= 1.0
    weight[new] += 1.0
    sizes[old] -= 1.0
    sizes[new] += 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def draw_independently(entries, shares, weights, rng, z):
    """Draw the topics ``z`` of tokens: P(z = k) proportional to shares[d, k] weights[v, k]."""
    indptr, words, counts, ends = entries
    n_topics = weights.shape[1]
    below = np.empty(n_topics)
    for d in range(indptr.size - 1):
        t = ends[d]
        for i in range(indptr[d], indptr[d + 1]):
            total = 0.0
            for k in range(n_topics):
                total += shares[d, k] * weights[words[i], k]
                below[k] = total
            for _ in range(counts[i]):
                k = np.searchsorted(below, rng.random() * total, side="right")
                z[t] = min(k, n_topics - 1)
                t += 1

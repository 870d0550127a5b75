"""Numba kernels that count word pairs, one target word at a time.

All of them add up the counts of a row in a dense buffer ``row`` with a slot per context word and
list the slots in use in ``used``; a bitmap (``low``, and ``high``, a bitmap of the blocks of
``low`` in use) brings those into ascending order. The buffers of one row stay in the cache of the
processor whatever the number of pairs, and neither hashing nor comparing is needed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BREAK = -2
"""Separator between documents in the padded ids; -1 is an unknown word."""

# Index of a lone bit: all 64 shifts of a de Bruijn sequence differ in their first six bits.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.empty(64, dtype=np.int64)
for _shift in range(64):
    _BIT[((int(_DE_BRUIJN) << _shift) & (2**64 - 1)) >> 58] = _shift


@njit(nogil=True, cache=True)
def group_positions(padded, starts, order):
    """Positions of each word: ``order[starts[w]:starts[w + 1]] = {p : padded[p] = w}``, ascending.

    ``starts`` (n_words + 1,) holds on entry and on return the cumulated frequencies.
    """
    for position in range(padded.shape[0]):
        word = padded[position]
        if word >= 0:
            order[starts[word]] = position
            starts[word] += 1
    for word in range(starts.shape[0] - 1, 0, -1):
        starts[word] = starts[word - 1]
    starts[0] = 0


@njit(nogil=True, cache=True)
def _emit(row, used, n_used, low, high, scale, indices, data, filled):
    """Append ``row / scale`` to ``indices`` and ``data`` from ``filled`` on, contexts ascending.

    ``used`` lists the ``n_used`` slots of ``row`` that are not zero. They are sorted by setting
    their bits in ``low``, and the bits of its non-zero blocks in ``high``. Leaves the buffers zero.
    """
    one = np.uint64(1)
    for k in range(n_used):
        block = used[k] >> 6
        low[block] |= one << np.uint64(used[k] & 63)
        high[block >> 6] |= one << np.uint64(block & 63)
    for top in range(high.shape[0]):
        blocks = high[top]
        high[top] = 0
        while blocks != 0:
            lowest = blocks & (~blocks + one)
            blocks ^= lowest
            block = (top << 6) + _BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            bits = low[block]
            low[block] = 0
            while bits != 0:
                lowest = bits & (~bits + one)
                bits ^= lowest
                column = (block << 6) + _BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                indices[filled] = column
                data[filled] = row[column] / scale
                row[column] = 0
                filled += 1
    return filled


@njit(nogil=True, cache=True)
def count_windows(
    padded, order, starts, radii, window, base, slope, scale, first, buffers, indptr, indices, data
):
    """Rows of windowed pair counts from ``first`` on, as many as fit into ``indices``.

    ``n[w, v] = sum over positions p of w and distances 1 <= d <= radius, of the words v at
    p - d and p + d: (base - slope * d) / scale``, where the window ends at a `BREAK`.
    ``radii`` holds the radius of each occurrence in the order of ``order``; where it is empty all
    have radius ``window``. ``indptr[w + 1]`` receives the number of entries of row w. Returns the
    first row that did not fit.
    """
    row, used, low, high = buffers
    # typed, or `_emit` is compiled once for a literal and once for a number
    filled = np.int64(0)
    for word in range(first, starts.shape[0] - 1):
        occurrences = starts[word + 1] - starts[word]
        if filled + min(row.shape[0], 2 * window * occurrences) > indices.shape[0]:
            return word
        n_used = np.int64(0)
        for k in range(starts[word], starts[word + 1]):
            position = order[k]
            reach = window
            if radii.shape[0] > 0:
                reach = min(window, np.int64(radii[k]))
            for d in range(1, reach + 1):
                context = padded[position - d]
                if context < 0:
                    if context == BREAK:
                        break
                    continue
                # Written always and kept if the slot is new: no branch for the processor to guess.
                count = row[context]
                used[n_used] = context
                n_used += count == 0
                row[context] = count + base - slope * d
            for d in range(1, reach + 1):
                context = padded[position + d]
                if context < 0:
                    if context == BREAK:
                        break
                    continue
                # Written always and kept if the slot is new: no branch for the processor to guess.
                count = row[context]
                used[n_used] = context
                n_used += count == 0
                row[context] = count + base - slope * d
        before = filled
        filled = _emit(row, used, n_used, low, high, scale, indices, data, filled)
        indptr[word + 1] = filled - before
    return starts.shape[0] - 1


@njit(nogil=True, cache=True)
def count_draws(uniforms, guide, cumulative, draws, buffers, indptr, indices, data):
    """Categorical draws of contexts, counted by target.

    Target ``w`` receives the next ``draws[w]`` of ``uniforms``; a uniform u becomes the context
    ``min {v : cumulative[v] > u}``, searched from ``guide[floor(u * n)] <= v``. ``indptr[w + 1]``
    receives the number of entries of row w. Returns the total number of entries.
    """
    row, used, low, high = buffers
    n_words = cumulative.shape[0]
    filled = np.int64(0)
    done = 0
    for word in range(draws.shape[0]):
        n_used = np.int64(0)
        for k in range(done, done + draws[word]):
            context = guide[int(uniforms[k] * n_words)]
            while cumulative[context] <= uniforms[k]:
                context += 1
            count = row[context]
            used[n_used] = context
            n_used += count == 0
            row[context] = count + 1
        done += draws[word]
        before = filled
        filled = _emit(row, used, n_used, low, high, 1, indices, data, filled)
        indptr[word + 1] = filled - before
    return filled

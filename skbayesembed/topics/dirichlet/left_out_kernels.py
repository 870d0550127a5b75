"""Particles that read a document token by token, topics' words and shares being summed out."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def move_tokens(words, counts, z, table, sizes, sign):
    """Add ``sign`` times the tokens of a document to ``table`` (V, K) and ``sizes`` (K,)."""
    t = 0
    for i in range(words.size):
        for _ in range(counts[i]):
            table[words[i], z[t]] += sign
            sizes[z[t]] += sign
            t += 1


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def take_rows(table, chosen, room):
    """table[p] = table[chosen[p]]; ``room`` is as large as the table."""
    for p in range(chosen.size):
        for k in range(table.shape[1]):
            room[p, k] = table[chosen[p], k]
    for p in range(chosen.size):
        for k in range(table.shape[1]):
            table[p, k] = room[p, k]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def add_masses(row, sizes, alpha, seen, own, masses):
    """Cumulative masses of the topics of a token whose word has ``row`` (K,), and their sum."""
    mass = 0.0
    for k in range(alpha.size):
        mass += (alpha[k] + seen[k]) * (row[k] + own[k]) / (sizes[k] + seen[k])
        masses[k] = mass
    return mass


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def place_in(masses, at):
    """The first of cumulative masses that is above ``at``, or the last."""
    k = 0
    while k < masses.size - 1 and masses[k] <= at:
        k += 1
    return k


@njit(nogil=True, cache=True, error_model="numpy")
def sweep(words, counts, i, n, table, sizes, alpha, rng, topics, seen, own, masses):
    """Draw all topics again of a particle that has read ``n`` tokens of word ``i`` and all before.

    ``topics`` has them in the order of words; ``own`` (K,) becomes the tokens of the last word.
    """
    t = 0
    for j in range(i + 1):
        row, many = table[words[j]], n if j == i else counts[j]
        own[:] = 0.0
        for s in range(t, t + many):
            own[topics[s]] += 1.0
        for s in range(t, t + many):
            own[topics[s]] -= 1.0
            seen[topics[s]] -= 1.0
            mass = add_masses(row, sizes, alpha, seen, own, masses)
            k = place_in(masses, rng.random() * mass)
            topics[s] = k
            own[k] += 1.0
            seen[k] += 1.0
        t += many


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def resample(weight, u, chosen):
    """Into ``chosen`` (P,) which particle each becomes by systematic resampling.

    ``weight`` (P,) has the mean 1, and is 1 throughout from then on; ``u`` is uniform.
    """
    at, cumulative = 0, weight[0]
    for p in range(weight.size):
        while cumulative < u + p and at < weight.size - 1:
            at += 1
            cumulative += weight[at]
        chosen[p] = at
    for p in range(weight.size):
        weight[p] = 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def read_document(words, counts, table, sizes, alpha, rng, work):
    """Log probability of a document given the tokens of all others, and how well it is known.

    A token of word v is of topic k with a probability proportional to

        (alpha_k + m_k) (b_kv + n_kv + m_kv) / (eta + n_k + m_k),

    m the tokens of the document read so far, n those of the other documents, ``table`` (V, K)
    b + n and ``sizes`` (K,) eta + n_k; a word's tokens come one after the other. The sum over k,
    over sum alpha + m, is the probability of the token given the topics of those before, which are
    drawn: its product over tokens, averaged over particles, has the document's probability as
    expectation, also where particles are resampled by their weights, as here once less than half
    of them count, and where all topics are then drawn again given the others (resample and move,
    Gilks & Berzuini 2001, JRSS B 63(1)). Without that, particles would soon share most of their
    topics. ``work`` is room for the tokens of particles: of the document, of the word (both (P,
    K)), masses and a copy (also (P, K)), weights (P,) and places (P,).

    Returns
    -------
    value : float
    """
    seen, own, masses, room, weight, chosen = work
    n_particles, n_topics = seen.shape
    shape = n_particles, counts.sum()
    topics, spare = np.empty(shape, np.int64), np.empty(shape, np.int64)
    value, whole, read = 0.0, 0.0, 0
    for k in range(n_topics):
        whole += alpha[k]
    for p in range(n_particles):
        weight[p] = 1.0
        for k in range(n_topics):
            seen[p, k] = 0.0
    for i in range(words.size):
        row = table[words[i]]
        for p in range(n_particles):
            for k in range(n_topics):
                own[p, k] = 0.0
        for n in range(counts[i]):
            mean, moved = 0.0, False
            for p in range(n_particles):
                mass = add_masses(row, sizes, alpha, seen[p], own[p], masses[p])
                weight[p] *= mass / (whole + read)
                mean += weight[p] / n_particles
            value += math.log(mean)
            squares = 0.0
            for p in range(n_particles):
                weight[p] /= mean
                squares += weight[p] * weight[p]
            if squares > 2.0 * n_particles:
                moved = True
                resample(weight, rng.random(), chosen)
                # the masses of the token go with their particles
                take_rows(seen, chosen, room)
                take_rows(own, chosen, room)
                take_rows(masses, chosen, room)
                take_rows(topics, chosen, spare)
            for p in range(n_particles):
                k = place_in(masses[p], rng.random() * masses[p, n_topics - 1])
                topics[p, read] = k
                own[p, k] += 1.0
                seen[p, k] += 1.0
            read += 1
            if moved:
                for p in range(n_particles):
                    sweep(
                        words, counts, i, n + 1, table, sizes, alpha, rng, topics[p], seen[p],
                        own[p], masses[p],
                    )  # fmt: skip
    return value

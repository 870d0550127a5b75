"""The alias sampler against slow counterparts with the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.inference.threads import serial
from skbayesembed.topics.priors import NIW
from skbayesembed.topics.replication import alias_kernels
from tests.helpers.topic_twins import chain, log_predictive, random_corpus, sampler, tokens

K = 3
ALPHA = np.array([0.3, 0.7, 0.1])


def filled(table, alpha):
    """`Proposals` of a table of weights."""
    shape = len(table), alpha.size
    parts = np.empty(len(table)), np.empty(shape), np.empty(shape, np.int32)
    proposals = alias_kernels.Proposals(table, *parts)
    alias_kernels.alias_tables(proposals, alpha)
    return proposals


@pytest.fixture
def documents():
    return random_corpus(np.random.default_rng(0))


@pytest.fixture
def prior(documents):
    return NIW.from_vectors(documents.vectors, documents.totals, kappa=0.3)


def test_alias_tables():
    """Columns and their aliases add up to the probabilities; also where some are 0."""
    rng = np.random.default_rng(5)
    table = np.zeros((20, 8))
    table[:, :6] = rng.random((20, 6)) ** 6
    table[3, :5] = 0.0
    alpha = rng.random(6) + 0.1
    _, mass, share, other = filled(table, alpha)
    weight = alpha * table[:, :6]
    np.testing.assert_allclose(mass, weight.sum(axis=1))
    made = share.copy()
    for w in range(20):
        np.add.at(made[w], other[w], 1 - share[w])
    np.testing.assert_allclose(made / 6, weight / mass[:, None], atol=1e-12)


@pytest.mark.parametrize("width", [16, 80])
@pytest.mark.parametrize("n", [8_000, pytest.param(40_000, marks=pytest.mark.slow)])
def test_proposals(width, n):
    """Shares of proposals within five standard errors, by sums and by lists of topics."""
    k_all = 6
    rng = np.random.default_rng(6)
    table = np.zeros((1, width))
    table[0, :k_all] = rng.random(k_all) + 0.1
    alpha = rng.random(k_all)
    proposals = filled(table, alpha)
    seen, here, place = np.zeros(width), np.empty(k_all, np.int64), np.full(k_all, -1)
    n_here = 0
    for k, n in ((4, 2), (1, 1), (5, 3), (0, 1)):
        seen[k] = n
        n_here = alias_kernels.add_topic(k, here, place, n_here)
    # topic 0 leaves the list, and one that is there stays there once
    seen[0] = 0
    n_here = alias_kernels.drop_topic(0, here, place, n_here)
    n_here = alias_kernels.add_topic(5, here, place, n_here)
    assert sorted(here[:n_here]) == [1, 4, 5]
    old = 4
    drawn = [
        alias_kernels.propose(seen, here, n_here, 0, old, proposals, rng)
        for _ in range(n)
    ]  # fmt: skip
    weight = seen[:k_all] + alpha
    weight[old] -= 1
    expected = weight * table[0, :k_all]
    expected /= expected.sum()
    error = np.sqrt(expected * (1 - expected) / n)
    assert np.all(np.abs(np.bincount(drawn, minlength=k_all) / n - expected) < 5 * error)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_moves(documents, prior, power):
    """`move_assignments`: its proposals, accepted by predictives from plain sums."""
    model = sampler(documents, prior, ALPHA, power, "alias")
    start = np.random.default_rng(9).integers(K, size=documents.n_tokens).astype(np.int32)
    state = model.state_of(start.copy())
    # proposals of other topics, far enough from these for some to be refused
    other = np.random.default_rng(11).integers(K, size=25).astype(np.int32)[documents.words]
    other = np.repeat(other, documents.counts.astype(int))
    tables = model._proposals(model.state_of(other).posterior, ALPHA)
    table = tables.table
    mine = np.arange(0, documents.n_documents, 2)
    proposed, accepted = model._propose(state, mine, tables, np.random.default_rng(10))
    of, words = tokens(documents)
    z, rng, numbers = start.copy(), np.random.default_rng(10), np.zeros(2)
    for doc in mine:
        seen, here, place, n_here = np.zeros(16), np.empty(K, np.int64), np.full(K, -1), 0
        for t in np.flatnonzero(of == doc):
            seen[z[t]] += 1
            n_here = alias_kernels.add_topic(z[t], here, place, n_here)
        for t in np.flatnonzero(of == doc):
            w, a, others = words[t], z[t], np.arange(z.size) != t
            b = alias_kernels.propose(seen, here, n_here, w, a, tables, rng)
            if b == a:
                continue
            f_a, f_b = (
                log_predictive(
                    prior, documents.vectors[words[others & (z == k)]], documents.vectors[w], power
                )
                for k in (a, b)
            )
            ratio = f_b - f_a + np.log(table[w, a] / table[w, b])
            numbers[0] += 1
            if ratio >= 0 or rng.random() < np.exp(ratio):
                numbers[1] += 1
                z[t] = b
                seen[a] -= 1
                seen[b] += 1
                if seen[a] == 0:
                    n_here = alias_kernels.drop_topic(a, here, place, n_here)
                n_here = alias_kernels.add_topic(b, here, place, n_here)
    np.testing.assert_array_equal(state.z, z)
    assert (proposed, accepted) == tuple(numbers) and 0 < accepted < proposed


def test_table_of_proposals_is_frozen_with_warmup(documents, prior):
    model = sampler(documents, prior, ALPHA, 1.0, "alias")
    state, _ = chain(model, 0, warmup=10)
    table = [part.copy() for part in state.table]
    chain(model, 20, state=state)
    for before, now in zip(table, state.table, strict=True):
        np.testing.assert_array_equal(before, now)
    without, _ = chain(model, 3)
    assert without.table is None


def test_a_table_that_proposes_nothing_holds_no_chain(documents, prior):
    """Frozen where all tokens were in one topic: in one sweep of eight they leave all the same."""
    model = sampler(documents, prior, ALPHA, 1.0, "alias")
    state = model.state_of(np.zeros(documents.n_tokens, np.int32))
    tables = model._proposals(state.posterior, ALPHA)
    tables.table[:, 1:] = np.exp(-60.0)
    alias_kernels.alias_tables(tables, ALPHA)
    state.table = tables
    rngs = [np.random.default_rng(seed) for seed in range(model.n_streams)]
    moved = []
    for _ in range(4):
        model.sweep(state, rngs, serial)
        moved.append(state.moved)
    assert moved[:3] == [0, 0, 0]
    assert moved[3] > 0

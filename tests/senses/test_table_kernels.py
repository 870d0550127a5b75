"""Sums of softmax tables, kept up through changes of entries."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from skbayesembed.senses.table_kernels import SoftmaxTable, others, put

V = 5


def test_table_sums():
    x = 30 * np.random.default_rng(0).normal(size=(3, 4, V))
    table = SoftmaxTable.of(x)
    np.testing.assert_allclose(table.log_sums(), logsumexp(x, axis=2), rtol=1e-14)
    np.testing.assert_allclose(table.weight, np.exp(x - x.max(axis=2, keepdims=True)), rtol=1e-13)
    np.testing.assert_array_equal(table.peak, table.total)


def test_table_keeps_its_sums_through_every_kind_of_change():
    """Rises and falls by a thousand, entries with all but 1e-16 of the row, cost no digits."""
    rng = np.random.default_rng(1)
    table = SoftmaxTable.of(rng.normal(size=(1, 1, V)))
    for step in range(3000):
        v = step % V
        rest = others(table, 0, 0, v)
        offset = table.top[0, 0] + np.log(rest)
        expected = logsumexp(np.delete(table.x[0, 0], v))
        assert abs(offset - expected) < 1e-7, step
        put(table, 0, 0, v, rest, rng.choice([1.0, 40.0, 1000.0]) * rng.normal())
    np.testing.assert_allclose(table.log_sums()[0, 0], logsumexp(table.x), atol=1e-7)

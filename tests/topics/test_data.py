"""Documents as arrays."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skbayesembed.topics.data import Documents
from tests.helpers.topic_twins import random_corpus


def test_documents():
    documents = random_corpus(np.random.default_rng(1))
    assert documents.whole and documents.lengths[4] == 0
    assert documents.n_tokens == documents.lengths.sum() == documents.totals.sum()
    blocks = documents.blocks(40)
    assert blocks[0][0] == 0 and blocks[-1][1] == documents.n_documents
    assert all(a[1] == b[0] for a, b in zip(blocks[:-1], blocks[1:], strict=True))
    sizes = [documents.lengths[a:b].sum() for a, b in blocks]
    assert len(blocks) > 3 and max(sizes) < 80


def test_documents_with_fractions_and_zeros():
    counts = sparse.csr_array(np.array([[0.5, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    counts.data[1] = 0.0
    documents = Documents.of(counts, np.eye(2))
    assert not documents.whole and documents.n_tokens == 0.5 and documents.words.size == 1
    assert counts.nnz == 2
    assert documents.blocks() == [(0, 3)]

"""Copies of documents are told of at a fit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS, DynamicSGNS, GaussianLDA
from skbayesembed.corpus.copies import of_counts, of_tokens, warn_of_copies

RNG = np.random.default_rng(0)
TEXTS = [list(RNG.choice([f"w{i}" for i in range(12)], 25)) for _ in range(40)]
MODEL = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
COPIES = "5 of 45 documents that are not short are exact copies of others"


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()


def test_copies_are_told_of_unless_they_are_of_one_unit():
    with pytest.warns(UserWarning, match=f"{COPIES}.*one label in units="):
        MODEL.fit(TEXTS + TEXTS[:5])
    units = np.concatenate([np.arange(40), np.arange(5)])
    quiet(lambda: MODEL.fit(TEXTS + TEXTS[:5], units=units))
    # two are no pattern, short documents are alike by chance, and others do not ask for intervals
    quiet(lambda: MODEL.fit(TEXTS + TEXTS[:2]))
    quiet(lambda: MODEL.fit([text[:10] for text in TEXTS + TEXTS[:5]]))
    quiet(lambda: BayesianSGNS(**MODEL.get_params() | {"uncertainty": "model"}).fit(TEXTS * 2))


def test_documents_without_weight_are_no_copies():
    weights = np.ones(80)
    weights[40:] = 0
    model = DynamicSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    quiet(lambda: MODEL.fit(TEXTS * 2, sample_weight=weights))
    quiet(lambda: model.fit(TEXTS * 2, times=np.arange(80) % 2, sample_weight=weights))
    counts = np.random.default_rng(1).multinomial(25, [0.5, 0.3, 0.1, 0.07, 0.03], 500)
    quiet(lambda: MODEL.fit(counts))


def test_copies_among_periods_and_topics():
    model = DynamicSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    times = np.arange(45) % 3
    with pytest.warns(UserWarning, match=COPIES):
        model.fit(TEXTS + TEXTS[:5], times=times)
    units = np.concatenate([np.arange(40), np.arange(5)])
    quiet(lambda: model.fit(TEXTS + TEXTS[:5], times=times, units=units))
    counts = 1 + RNG.poisson(4, (40, 12))
    topics = GaussianLDA(2, embedding=RNG.normal(size=(12, 2)), solver="vi", random_state=0)
    with pytest.warns(UserWarning, match=f"{COPIES}.*posteriors.*drop_duplicates.[.]$"):
        topics.fit(np.vstack([counts, counts[:5]]))


def test_what_is_a_copy():
    """Orders of words matter in text, and none in counts."""
    ids = np.concatenate([np.arange(20), np.arange(20)[::-1], np.arange(20), np.arange(5)])
    found = list(of_tokens(ids, np.array([0, 20, 40, 60, 65])))
    assert found[0] == found[2] != found[1] and found[3] is None
    # of few words counts are alike by chance
    rows = sparse.csr_array(np.array([[9, 0, 12], [9, 12, 0], [9, 0, 12], [1, 0, 2]]))
    assert list(of_counts(rows)) == [None] * 4
    rows = sparse.csr_array(np.tile(np.arange(1, 13), (2, 1)))
    found = list(of_counts(rows))
    assert found[0] == found[1] is not None
    with pytest.warns(UserWarning, match="3 of 4 documents"):
        warn_of_copies([b"a"] * 4 + [None] * 9)
    quiet(lambda: warn_of_copies([b"a"] * 4, np.zeros(4, int)))

"""The limit on BLAS threads, entered and left in any order by any thread."""

from __future__ import annotations

import sys
import threading
from pydoc_data.topics import topics

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from skbayesembed import BayesianSGNS
from skbayesembed.inference import threads
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.balance import balanced, in_principal_axes
from skbayesembed.topics.priors import NIW
from tests.helpers.blas import blas_threads, two_blas_threads


@two_blas_threads()
def test_overlapping_contexts_of_two_threads():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def first():
        with OneBlasThread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(10)
    with OneBlasThread():
        seen.append(blas_threads())
        leave.set()
        thread.join(10)
        # the context that set the limit has gone, this one has not
        seen.append(blas_threads())
    assert all(set(s.values()) == {1} for s in seen)
    assert blas_threads() == before


@two_blas_threads()
def test_as_a_decorator():
    before = blas_threads()

    @OneBlasThread()
    def inside():
        return blas_threads()

    assert set(inside().values()) == {1}
    assert blas_threads() == before


@two_blas_threads()
def test_libraries_that_come_later_are_limited_too(monkeypatch):
    looked = []

    def looking():
        looked.append(1)
        return ThreadpoolController()

    monkeypatch.setattr(threads, "ThreadpoolController", looking)
    monkeypatch.setattr(threads, "_found", None)
    for _ in range(3):
        with OneBlasThread():
            assert set(blas_threads().values()) == {1}
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_was_not_there", threads)
    with OneBlasThread():
        pass
    assert len(looked) == 2


def vectors():
    return np.random.default_rng(0).standard_normal((2, 8000, 60))


def words():
    rho, alpha = vectors()
    return balanced([rho, 3.0 * alpha])


def turned():
    return in_principal_axes(vectors())


def priors():
    prior = NIW.from_vectors(vectors()[0], np.arange(1.0, 8001.0))
    return np.concatenate([prior.mean, prior.scale.ravel()])


def by_units():
    """Answers and features by units, with more directions than one thread would take."""
    texts = [text for text in topics.values() if len(text) > 200]
    model = BayesianSGNS(20, solver="map", prior_precision=2.0, min_count=5, random_state=0)
    model.fit(texts)
    found = model.similarity(model.words_[20], model.words_[21:40].tolist())
    assert "sd_sampling" in found
    features = model.sample_transform(texts[:30], n_draws=20)
    return np.concatenate([x.ravel() for x in (model.rho_, found.draws, found.sd, features)])


@pytest.mark.parametrize(
    "made", [words, turned, priors, pytest.param(by_units, marks=pytest.mark.slow)]
)
def test_results_do_not_depend_on_blas_threads(made):
    with OneBlasThread():
        expected = made()
    with two_blas_threads():
        np.testing.assert_array_equal(made(), expected)

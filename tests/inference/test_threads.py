"""The limit on BLAS threads, entered and left in any order by any thread."""

from __future__ import annotations

import threading

from skbayesembed.inference.threads import OneBlasThread
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

"""BLAS threads of tests, whose workers have one each."""

from __future__ import annotations

import contextlib

from threadpoolctl import threadpool_info, threadpool_limits


def blas_threads():
    """Threads of each BLAS that is loaded, by its file."""
    return {i["filepath"]: i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}


@contextlib.contextmanager
def two_blas_threads():
    """Context in which BLAS has two threads, and any thread may limit them."""
    limits = threadpool_limits(2, user_api="blas")
    _let_others()
    try:
        yield
    finally:
        limits.restore_original_limits()
        _let_others()


def _let_others():
    """threadpoolctl lets the thread that set a limit set others, until it leaves a context."""
    with threadpool_limits(None):
        pass

"""Advice on kernels of BLAS: given where OpenBLAS does not know the processor, and only there."""

from __future__ import annotations

import pytest

from skbayesembed.common import blas

WIDE = dict.fromkeys(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"), True)


def openblas(architecture):
    return {"user_api": "blas", "internal_api": "openblas", "architecture": architecture}


@pytest.fixture
def advice(monkeypatch):
    """The advice for some libraries and features of the processor."""
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)

    def given(libraries, features):
        monkeypatch.setattr(blas, "threadpool_info", lambda: libraries)
        monkeypatch.setattr(blas, "get_host_cpu_features", lambda: features)
        return blas.advice_on_kernels()

    return given


def test_a_processor_newer_than_openblas_is_told_of(advice):
    said = advice([{"user_api": "openmp", "internal_api": "openmp"}, openblas("Haswell")], WIDE)
    assert "OPENBLAS_CORETYPE=SkylakeX" in said and "those for Haswell" in said
    assert "those for ZEN" in advice([openblas("ZEN")], WIDE)


MKL = {"user_api": "blas", "internal_api": "mkl"}


@pytest.mark.parametrize("libraries", [[openblas("SkylakeX")], [openblas("neoversen1")], [], [MKL]])
def test_other_kernels_and_libraries_are_left_alone(advice, libraries):
    assert advice(libraries, WIDE) == ""


def test_a_processor_without_avx512_has_the_right_kernels(advice):
    assert advice([openblas("Haswell")], {}) == ""
    assert advice([openblas("Haswell")], WIDE | {"avx512vl": False}) == ""


def test_a_choice_that_was_made_is_respected(advice, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert advice([openblas("Haswell")], WIDE) == ""

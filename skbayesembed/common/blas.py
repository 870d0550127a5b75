"""Which kernels BLAS computes with."""

from __future__ import annotations

import os

from llvmlite.binding import get_host_cpu_features
from threadpoolctl import threadpool_info

# What overrides OpenBLAS's choice of kernels, when it is loaded.
_CHOICE = "OPENBLAS_CORETYPE"
# Its kernels without AVX-512, as it calls them, and what those with it need.
_NARROW = ("haswell", "zen")
_WIDE = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


def advice_on_kernels() -> str:
    """What to do where OpenBLAS leaves part of the processor unused; empty where it does not.

    OpenBLAS knows processors by their names, and those that are newer than itself get kernels that
    make do with AVX2.
    """
    if os.environ.get(_CHOICE):
        return ""
    kernels = [i["architecture"] for i in threadpool_info() if i.get("internal_api") == "openblas"]
    narrow = next((kernel for kernel in kernels if kernel.lower() in _NARROW), None)
    if narrow is None or not _has_wide():
        return ""
    return (
        f"OpenBLAS does not use AVX-512, which this processor has (its kernels are those for "
        f"{narrow}): where Python is started with the environment variable {_CHOICE}=SkylakeX, "
        "matrix products may take little more than half the time"
    )


def _has_wide():
    features = get_host_cpu_features()
    return all(features.get(name) for name in _WIDE)

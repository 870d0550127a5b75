"""Other streams of random numbers for all tests at once: ``pytest --seed-offset N``."""

from __future__ import annotations

from numbers import Integral

import numpy as np


def shift_seeds(offset):
    """From now on, every integer seed stands for the stream of another."""
    originals = np.random.RandomState, np.random.SeedSequence, np.random.default_rng

    def shifted(seed):
        whole = isinstance(seed, Integral) and not isinstance(seed, bool)
        return (int(seed) + offset) % 2**32 if whole and 0 <= seed < 2**32 else seed

    class RandomState(originals[0]):
        def __init__(self, seed=None):
            super().__init__(shifted(seed))

    class SeedSequence(originals[1]):
        def __init__(self, entropy=None, **options):
            super().__init__(shifted(entropy), **options)

    def default_rng(seed=None):
        return originals[2](shifted(seed))

    np.random.RandomState, np.random.SeedSequence = RandomState, SeedSequence
    np.random.default_rng = default_rng

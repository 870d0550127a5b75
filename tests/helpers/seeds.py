"""Other streams of random numbers for all tests at once: ``pytest --seed-offset N``."""

from __future__ import annotations

from numbers import Integral

import numpy as np

_FROM_SEED = ("RandomState", "SeedSequence")


def shift_seeds(offset):
    """From now on, every integer seed stands for the stream of another."""

    def shifted(seed):
        whole = isinstance(seed, Integral) and not isinstance(seed, bool)
        return (int(seed) + offset) % 2**32 if whole and 0 <= seed < 2**32 else seed

    for name in _FROM_SEED:
        setattr(np.random, name, _shifting(getattr(np.random, name), shifted))
    generator = np.random.default_rng
    np.random.default_rng = lambda seed=None: generator(shifted(seed))


def _shifting(original, shifted):
    """A stand-in for a class, which makes the class's own objects of shifted seeds."""

    class Meta(type(original)):
        def __call__(cls, seed=None, **options):
            return original(shifted(seed), **options)

        def __instancecheck__(cls, instance):
            return isinstance(instance, original)

    return Meta(original.__name__, (), {})

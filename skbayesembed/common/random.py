"""Reproducible streams of random numbers.

The one seed of a fit is split into a seed for each purpose, and that into a generator for each
block of work. Blocks depend on the data alone, and so do the numbers drawn, however many threads
there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state


def seed_sequence(
    random_state: int | np.random.RandomState | None = None,
) -> np.random.SeedSequence:
    """Turn scikit-learn's ``random_state`` into a NumPy seed sequence.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        An int gives the same sequence every time; a ``RandomState`` is advanced by the call;
        None uses NumPy's global state.

    Returns
    -------
    numpy.random.SeedSequence

    Raises
    ------
    ValueError
        If ``random_state`` is none of the above (a ``numpy.random.Generator``, for instance).
    """
    try:
        state = check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            "random_state must be an int from 0 to 2**32 - 1, a numpy.random.RandomState or None, "
            f"got {random_state!r}."
        ) from error
    return np.random.SeedSequence(state.randint(0, 2**32, size=4, dtype=np.uint32).tolist())


def generators(seeds: np.random.SeedSequence, n: int) -> list[np.random.Generator]:
    """Spawn ``n`` independent generators from a seed sequence.

    Parameters
    ----------
    seeds : numpy.random.SeedSequence
    n : int
        Number of generators.

    Returns
    -------
    list of numpy.random.Generator
        PCG64 generators, one for each block of work; never share one between threads.
    """
    return [np.random.Generator(np.random.PCG64(child)) for child in seeds.spawn(n)]


def named_seeds(
    random_state: int | np.random.RandomState | None, names: Sequence[str]
) -> dict[str, np.random.SeedSequence]:
    """Make the seed sequences of a fit, one for each purpose.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        As of `seed_sequence`.
    names : tuple of str
        What random numbers are drawn for. A name may be added at the end without changing the
        numbers of those before it.

    Returns
    -------
    dict of str to numpy.random.SeedSequence
    """
    return dict(zip(names, seed_sequence(random_state).spawn(len(names)), strict=True))


def seed_at(seeds: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Make the seed sequence at a key beneath another, the same every time.

    Spawning counts children, so that a sequence that is used again gives others. Without a key it
    is a fresh copy.

    Parameters
    ----------
    seeds : numpy.random.SeedSequence
    *key : int

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.common.random import seed_at
    >>> seeds = np.random.SeedSequence(3)
    >>> seed_at(seeds, 1, 2).spawn_key, seed_at(seeds).spawn(1)[0].spawn_key
    ((1, 2), (0,))
    """
    return np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, *map(int, key)))


def seeds_from(rng: np.random.Generator) -> np.random.SeedSequence:
    """Draw a seed sequence, for work that is to have streams of its own.

    Parameters
    ----------
    rng : numpy.random.Generator
        Advanced by the call.
    """
    return np.random.SeedSequence(rng.integers(2**32, size=4, dtype=np.uint32).tolist())

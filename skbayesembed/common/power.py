"""The power of a likelihood: what a user may pass, and how one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from .checks import is_number

# Powers that "auto" tries.
POWER_GRID = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)

_Other = TypeVar("_Other", bound=Hashable)


def check_power(power: Any) -> None:
    """Raise a ValueError unless ``power`` is ``"auto"`` or a number above 0 and at most 1."""
    good = isinstance(power, str) and power == "auto"
    if is_number(power):
        good = 0 < power <= 1
    if not good:
        raise ValueError(
            f"likelihood_power must be 'auto' or a number > 0 and <= 1, got {power!r}."
        )


def best_power(
    candidates: Iterable[tuple[float, _Other]], score: Callable[[float, _Other], float]
) -> tuple[float, _Other, dict[float, float]]:
    """Choose the power, and what else a candidate has, that predicts what was held out best.

    Parameters
    ----------
    candidates : iterable of (float, object)
    score : callable
        ``score(power, other)``, the larger the better.

    Returns
    -------
    power : float
    other : object
        Those of the best candidate, the first of them where there are several.
    scores : dict of float to float
        The best score of every power.
    """
    found = {candidate: score(*candidate) for candidate in candidates}
    power, other = max(found, key=found.__getitem__)
    best: dict[float, float] = {}
    for (p, _), value in found.items():
        best[p] = max(value, best.get(p, value))
    return power, other, best

"""Checks of what a `Posterior` is made of.

Each raises a ValueError that names the parameter, and what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def check_arrays(parameter: str, arrays: Mapping[str, ArrayLike] | None) -> dict[str, np.ndarray]:
    """Dict of numeric arrays (chain, draw, ...); contiguous, so that chains flatten to a view."""
    out = {}
    for name, given in _items(parameter, arrays):
        try:
            values = np.ascontiguousarray(given)
        except ValueError as error:
            raise ValueError(f"{parameter}[{name!r}] must be an array: {error}") from error
        if values.dtype.kind not in "biuf":
            raise ValueError(f"{parameter}[{name!r}] must be real numbers, got {values.dtype}.")
        if values.ndim < 2 or not values.shape[0]:
            raise ValueError(
                f"{parameter}[{name!r}] must have shape (chain, draw, ...) with at least one "
                f"chain, got {np.shape(given)}."
            )
        out[name] = values
    return out


def check_lengths(
    draws: Mapping[str, np.ndarray], stats: Mapping[str, np.ndarray], moments: Mapping[str, Any]
) -> tuple[int, int]:
    """Check that all arrays agree in their chains and draws; returns the numbers of both."""
    if not draws and not moments:
        raise ValueError("draws must name at least one parameter where there are no moments.")
    both = [name for name in stats if name in draws or name in moments]
    if both:
        raise ValueError(f"stats must not share names with draws or moments, got {both}.")
    for parameter, group in (("draws", draws), ("stats", stats)):
        sizes = {name: values.shape[:2] for name, values in group.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"{parameter} must share (chain, draw), got {sizes}.")
    of_draws, of_stats = (
        next((values.shape[:2] for values in group.values()), None) for group in (draws, stats)
    )
    if of_draws and of_stats and of_draws[0] != of_stats[0]:
        raise ValueError(
            f"stats must have as many chains as draws, {of_draws[0]}, got {of_stats[0]}."
        )
    n_chains, n_draws = of_draws or (of_stats[0] if of_stats else 0, 0)
    lacking = [name for name in draws if not n_draws and name not in moments]
    if lacking:
        raise ValueError(f"draws must hold at least one draw where moments do not: {lacking}.")
    return n_chains, n_draws


def check_dims(
    dims: Mapping[str, Sequence[str]] | None,
    shapes: Mapping[str, tuple[int, ...]],
    coords: Mapping[str, np.ndarray],
) -> dict[str, tuple[str, ...]]:
    """Dict with the names of the dimensions of every array, defaults filled in.

    Sizes are compared: a dimension has one size in all arrays, that of its labels if it has any.
    """
    given = dict(_items("dims", dims))
    unknown = [name for name in given if name not in shapes]
    if unknown:
        raise ValueError(f"dims has unknown names {unknown}; available: {list(shapes)}.")
    sizes = {dim: (f"coords[{dim!r}]", len(labels)) for dim, labels in coords.items()}
    out = {}
    for name, shape in shapes.items():
        own = given.get(name, [f"{name}_dim_{i}" for i in range(len(shape))])
        if isinstance(own, str) or len(own) != len(shape) or len(set(own)) != len(own):
            raise ValueError(
                f"dims[{name!r}] must be {len(shape)} different name(s) for shape {shape}, "
                f"got {own!r}."
            )
        for dim, size in zip(own, shape, strict=True):
            if not isinstance(dim, str) or dim in ("chain", "draw"):
                raise ValueError(
                    f"dims[{name!r}] must be strings other than 'chain' and 'draw', got {dim!r}."
                )
            first, known = sizes.setdefault(dim, (f"{name!r}", size))
            if size != known:
                raise ValueError(
                    f"dims[{name!r}]: dimension {dim!r} has size {size}, but {known} in {first}."
                )
        out[name] = tuple(own)
    return out


def check_coords(coords: Mapping[str, ArrayLike] | None) -> dict[str, np.ndarray]:
    """Dict of one-dimensional arrays of labels, of types that can be saved without pickle."""
    out = {}
    for dim, labels in _items("coords", coords):
        labels = np.asarray(labels)
        if labels.dtype.kind in "OT" and all(isinstance(label, str) for label in labels.flat):
            labels = labels.astype(str)
        if labels.ndim != 1 or labels.dtype.kind not in "biufUM":
            raise ValueError(
                f"coords[{dim!r}] must be a one-dimensional array of strings, numbers or dates, "
                f"got {labels.ndim} dimension(s) of {labels.dtype}."
            )
        out[dim] = labels
    return out


def check_attrs(attrs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Dict of plain Python values; NumPy scalars are converted."""
    out = {}
    for name, value in _items("attrs", attrs):
        value = value.item() if isinstance(value, np.generic) else value
        if not (value is None or isinstance(value, str | bool | int | float)):
            raise ValueError(
                f"attrs[{name!r}] must be a string, number, bool or None, got {value!r}."
            )
        out[name] = value
    return out


def _items(parameter, mapping):
    """Items of a mapping with names as keys, or of None."""
    mapping = {} if mapping is None else mapping
    if not isinstance(mapping, Mapping) or not all(isinstance(name, str) for name in mapping):
        raise ValueError(
            f"{parameter} must be a mapping with names as keys, got {type(mapping).__name__}."
        )
    return mapping.items()

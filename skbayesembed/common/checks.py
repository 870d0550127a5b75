"""Checks of what a user passes, called by every room before any work.

Each raises a ValueError that names the parameter, what is allowed and what was given. This module
imports nothing of the package, so that every other module may use it.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Collection, Generator, Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

# The smallest number that has all of its digits.
_SMALLEST = float(np.finfo(float).tiny)
# The largest integer of 64 bits.
_LARGEST = 2**63 - 1


def check_integer(
    name: str, value: Any, low: int, others: str = "", *, high: int = _LARGEST
) -> None:
    """Raise a ValueError unless ``value`` is an integer from ``low`` to ``high``.

    ``others`` names what else is allowed, in front of the words "an integer".
    """
    if not (is_whole(value) and low <= value <= high):
        upper = f" and <= {high}" if is_whole(value) and value > high else ""
        raise ValueError(f"{name} must be {others}an integer >= {low}{upper}, got {value!r}.")


def check_real(
    name: str, value: Any, low: float, *, strict: bool = True, high: float = np.inf
) -> None:
    """Raise a ValueError unless ``value`` is a finite number from ``low`` to ``high``.

    It must be above ``low`` if ``strict``, and may be equal to it otherwise; it may be ``high``.
    Numbers so near to zero that one over them is infinite are refused.
    """
    good = is_number(value) and math.isfinite(value)
    real = isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)
    if real and not is_number(value):
        raise ValueError(
            f"{name} must be a float, or an int between -2**63 and 2**63, got {value!r}."
        )
    if not (good and (value > low if strict else value >= low) and value <= high):
        sign = ">" if strict else ">="
        upper = f" and <= {high}" if np.isfinite(high) else ""
        raise ValueError(f"{name} must be a number {sign} {low}{upper}, got {value!r}.")
    if 0 < abs(float(value)) < _SMALLEST:
        raise ValueError(
            f"{name} must not be so near to 0 that one over it is infinite, got {value!r}: allowed "
            f"are numbers of at least {_SMALLEST:.3g} in size."
        )


def check_list(name: str, values: Any, of: str) -> list[Any]:
    """List of ``values``; a ValueError unless they are several of what ``of`` says."""
    table = isinstance(values, np.ndarray) and values.ndim > 1
    found = list(values) if table else listed(values)
    if found is not None:
        return found
    raise ValueError(f"{name} must be a list of {of}, got {values!r}.")


def check_forms(name: str, value: Any, others: str = "") -> list[str]:
    """List of the forms of a word; a ValueError unless ``value`` is a str or several of them.

    ``others`` names what else is allowed, in front of the words "a word".
    """
    forms = [value] if isinstance(value, str) else listed(value)
    if not forms or not all(isinstance(form, str) and form for form in forms):
        raise ValueError(f"{name} must be {others}a word or a list of its forms, got {value!r}.")
    return forms


class NothingToScoreError(ValueError):
    """Documents that are as they may be, but too short for a score."""


def check_not_iterator(name: str, value: Any) -> None:
    """Raise a ValueError for a generator or another iterator, which can be read only once."""
    if hasattr(value, "__next__"):
        kind = "a generator" if isinstance(value, Generator) else f"a {type(value).__name__}"
        raise ValueError(f"{name} must be a list or array, got {kind}: pass a list, list({name}).")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise a ValueError unless ``value`` is one of the strings ``choices``."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")


def check_bool(name: str, value: Any) -> None:
    """Raise a ValueError unless ``value`` is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def check_verbose(verbose: Any) -> None:
    """Raise a ValueError unless ``verbose`` is a bool or an integer of at least 0."""
    if not isinstance(verbose, bool | np.bool_):
        check_integer("verbose", verbose, 0)


def check_jobs(n_jobs: Any) -> None:
    """Raise a ValueError unless ``n_jobs`` is None or an integer other than 0."""
    if n_jobs is not None and not (is_whole(n_jobs) and n_jobs != 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}.")


def check_checkpoint(estimator: Any) -> None:
    """Check ``checkpoint`` and ``warm_start`` of an estimator, where it has them."""
    checkpoint = getattr(estimator, "checkpoint", None)
    warm_start = getattr(estimator, "warm_start", False)
    check_bool("warm_start", warm_start)
    if checkpoint is None:
        if warm_start:
            raise ValueError(
                "warm_start=True needs a folder from which chains go on, got checkpoint=None."
            )
        return
    if not isinstance(checkpoint, str | os.PathLike) or isinstance(os.fspath(checkpoint), bytes):
        raise ValueError(f"checkpoint must be None or the path of a folder, got {checkpoint!r}.")
    if os.path.exists(checkpoint) and not os.path.isdir(checkpoint):
        raise ValueError(f"checkpoint must be the path of a folder, and {checkpoint!r} is a file.")
    if estimator.random_state is None:
        raise ValueError(
            "checkpoint needs a seed, got random_state=None: every call draws other numbers then, "
            "and none goes on from another."
        )


def check_path(name: str, value: Any) -> Path:
    """Path that ``value`` is; an error unless it is a str or path-like, of text."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str or a path, got {value!r}.")
    try:
        if b"\0" in os.fsencode(text):
            raise ValueError(f"{name} must have no null characters, got {value!r}.")
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} must be text of this system, got {value!r}.") from error
    return Path(text)


def check_solver(estimator: Any, solver: Any, supported: Collection[str]) -> None:
    """Raise a ValueError that names estimator and solver unless ``solver`` is in ``supported``."""
    if not isinstance(solver, str) or solver not in supported:
        instead = " or ".join(f"solver={s!r}" for s in supported)
        raise ValueError(
            f"solver={solver!r} is not available for {type(estimator).__name__}: use {instead}."
        )


def check_word_filters(estimator: Any) -> None:
    """Check ``lowercase``, ``min_count`` and ``max_features`` of an estimator."""
    check_bool("lowercase", estimator.lowercase)
    check_integer("min_count", estimator.min_count, 1)
    if estimator.max_features is not None:
        check_integer("max_features", estimator.max_features, 1)


def other_than_default(estimator: Any, names: Collection[str]) -> dict[str, Any]:
    """Those of some parameters that are not the class's defaults, which may never have been set."""
    defaults = inspect.signature(type(estimator)).parameters
    given = {name: getattr(estimator, name) for name in names}
    known = {name: x for name, x in given.items() if name in defaults}
    return {name: x for name, x in known.items() if not _is_equal(x, defaults[name].default)}


def _is_equal(value, default):
    # arrays and Series are equal entry by entry, and no default is one
    several = isinstance(value, np.ndarray) or hasattr(value, "to_numpy")
    return not several and bool(value == default)


def check_feature_names(names: Any) -> None:
    """Raise a ValueError unless these are None or a list."""
    if names is not None and listed(names) is None:
        raise ValueError(f"feature_names must be None or a list of words, got {names!r}.")


def check_chain_length(estimator: Any, auto: bool = False) -> None:
    """Check ``draws``, ``warmup``, ``chains`` and ``thin`` (also "auto") of an estimator."""
    check_integer("draws", estimator.draws, 1)
    check_integer("warmup", estimator.warmup, 0)
    check_integer("chains", estimator.chains, 1)
    if not (auto and isinstance(estimator.thin, str) and estimator.thin == "auto"):
        check_integer("thin", estimator.thin, 1, "'auto' or " if auto else "")


def check_keep_draws(keep_draws: Any) -> None:
    """Raise a ValueError unless ``keep_draws`` is ``"auto"`` or ``"all"``."""
    if not isinstance(keep_draws, str) or keep_draws not in ("auto", "all"):
        raise ValueError(f"keep_draws must be 'auto' or 'all', got {keep_draws!r}.")


def check_iterations(estimator: Any) -> None:
    """Check ``max_iter``, ``tol``, ``verbose`` and ``n_jobs`` of an estimator."""
    check_integer("max_iter", estimator.max_iter, 1)
    check_real("tol", estimator.tol, 0)
    check_verbose(estimator.verbose)
    check_jobs(estimator.n_jobs)


def check_learning(estimator: Any) -> None:
    """Check ``learning_method``, ``batch_size`` and ``n_passes`` of an estimator."""
    check_learning_method(estimator)
    check_integer("batch_size", estimator.batch_size, 1)
    check_integer("n_passes", estimator.n_passes, 1)


def check_learning_method(estimator: Any, other: str = "online") -> None:
    """Raise a ValueError unless ``learning_method`` is known and the solver offers it.

    ``other`` is what the estimator offers besides ``"batch"``.
    """
    method, solver = estimator.learning_method, estimator.solver
    check_choice("learning_method", method, ("batch", other))
    if method == other and solver not in ("vi", "auto"):
        raise ValueError(
            f"learning_method={other!r} is available with solver='vi' only, got {solver!r}."
        )


def check_prob(prob: Any) -> None:
    """Raise a ValueError unless ``prob`` is a number strictly between 0 and 1."""
    if not is_number(prob) or not 0 < prob < 1:
        raise ValueError(f"prob must be a number between 0 and 1 (exclusive), got {prob!r}.")


def check_no_weights(estimator: Any, sample_weight: Any) -> None:
    """Raise a ValueError if ``sample_weight`` is given to a ``score`` that does not support it."""
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight is not supported by {type(estimator).__name__}.score: got an array, "
            "allowed is None."
        )


def all_finite(values: np.ndarray) -> bool:
    """Whether no entry is NaN or infinite; without a copy where the sum tells."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(np.sum(values)) or np.isfinite(values).all())


# Whole numbers up to here are exact in double precision; sums of counts are beyond it no more.
_MOST_COUNTED = 2.0**53


def check_total(name: str, values: np.ndarray) -> None:
    """Raise a ValueError where finite numbers of at least 0 add up to more than can be counted."""
    with np.errstate(over="ignore"):
        total = float(np.sum(values))
    if total > _MOST_COUNTED:
        raise ValueError(
            f"{name} must add up to at most 2**53, beyond which sums are not exact, got {total:g}."
        )


def listed(value: Any) -> list | None:
    """The entries of a list, tuple or 1-D array; None for anything else."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        return None
    if isinstance(value, np.ndarray) and value.ndim != 1:
        return None
    return list(value)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, of which NumPy's spans of time are subclasses, as bool is."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def as_floats(values: Any) -> np.ndarray:
    """Float64 array of real numbers; a ValueError that says why others are none.

    What pandas has as missing among objects is NaN, and what a masked array masks.
    """
    try:
        if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
            values = np.where(np.ma.getmaskarray(values), np.nan, values.data)
        found = np.asarray(values)
        if found.dtype == object:
            missing = np.array([type(x).__name__ == "NAType" for x in found.flat], dtype=bool)
            found = np.where(missing.reshape(found.shape), np.nan, found)
        if found.dtype.kind in "cmM":
            raise ValueError(f"got numbers of type {found.dtype}")
        # what only longer numbers hold is infinite, which callers refuse
        with np.errstate(over="ignore"):
            return np.asarray(found, dtype=np.float64)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def check_no_texts(values: Any) -> None:
    """Raise a ValueError where entries are texts, also those of numbers: they may be names.

    The message has a text that is no number, if there is one.
    """
    found = np.asarray(values)
    if found.dtype.kind not in "OUST":
        return
    texts = [str(x) for x in found.flat if isinstance(x, str | bytes)]
    if texts:
        shown = next((text for text in texts if not is_numeral(text)), texts[0])
        raise ValueError(f"got texts, such as {shown!r}")


def is_numeral(text: str) -> bool:
    """Whether a text is that of a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_number(value: Any) -> bool:
    """Whether a value is a real number of 64 bits, which a bool is not meant to be."""
    if isinstance(value, Integral):
        return is_whole(value) and abs(int(value)) < 2**63
    return isinstance(value, float | np.floating)

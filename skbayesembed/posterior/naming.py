"""Names that users give to senses or topics; they are the labels of their dimension."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..common.checks import check_list, is_whole
from .entry_table import entry_labels

# Dimensions that labels leave out where they have one entry.
_PLACES = ("genre", "period")


def check_names(names: Any, n: int, what: str) -> np.ndarray:
    """Names of all ``n`` senses or topics, ndarray of str; its number for each without a name.

    Parameters
    ----------
    names : list of str, dict of int to str, or None
        One name each, or names of some. None for numbers alone.
    n : int
    what : {"sense", "topic"}

    Raises
    ------
    ValueError
        If names are not as many, not different, empty, or numbers.

    Examples
    --------
    >>> from skbayesembed.posterior.naming import check_names
    >>> check_names({1: "shore"}, 2, "sense").tolist()
    ['0', 'shore']
    """
    found = [str(k) for k in range(n)]
    if names is None:
        return np.arange(n)
    if isinstance(names, Mapping):
        bad = [k for k in names if not _is_number(k, n)]
        if bad:
            raise ValueError(f"names must be of {what}s from 0 to {n - 1}, got {bad[0]!r}.")
        given = dict(names)
    else:
        listed = check_list("names", names, f"{n} names, or a dict of {what}s to names")
        if len(listed) != n:
            raise ValueError(f"names must name each of the {n} {what}s, got {len(listed)} names.")
        given = dict(enumerate(listed))
    for k, name in given.items():
        if not isinstance(name, str) or not name.strip() or name.strip().isdigit():
            raise ValueError(f"names must be words, as a str that is no number, got {name!r}.")
        found[int(k)] = name.strip()
    if len(set(found)) < n:
        raise ValueError(f"names must be different from each other, got {found}.")
    return np.array(found)


def set_names(posterior: Any, names: Any, what: str) -> None:
    """Give all senses or topics of a posterior names, as of `check_names`."""
    posterior.coords[what] = check_names(names, len(posterior.coords[what]), what)


def given_names(posterior: Any, what: str) -> np.ndarray | None:
    """Names of the senses or topics, ndarray of str; None if there are only numbers."""
    labels = np.asarray(posterior.coords[what])
    return labels if labels.dtype.kind == "U" else None


def named(names: np.ndarray | None, index: np.ndarray) -> np.ndarray:
    """Names of some senses or topics; their numbers if there are no names."""
    return index if names is None else np.asarray(names)[index]


def called(names: np.ndarray | None, what: str, k: int) -> str:
    """What one sense or topic is called within a sentence.

    Examples
    --------
    >>> from skbayesembed.posterior.naming import called, check_names
    >>> called(None, "sense", 0)
    'sense 0'
    >>> called(check_names(["bank", "shore"], 2, "sense"), "sense", 0)
    "sense 'bank'"
    """
    if names is None or names[k] == str(k):
        return f"{what} {k}"
    return f"{what} {str(names[k])!r}"


def together(names: np.ndarray | None, what: str, numbers: list[int]) -> str:
    """What one or several are called within a sentence.

    Examples
    --------
    >>> from skbayesembed.posterior.naming import check_names, together
    >>> together(None, "sense", [0, 2])
    'senses 0 and 2 together'
    >>> together(check_names(["bank", "shore", "sand"], 3, "sense"), "sense", [0, 1, 2])
    "senses 'bank', 'shore' and 'sand' together"
    """
    if len(numbers) == 1:
        return called(names, what, numbers[0])
    ones = [called(names, what, k).removeprefix(f"{what} ") for k in numbers]
    return f"{what}s {', '.join(ones[:-1])} and {ones[-1]} together"


def joint(names: np.ndarray | None, numbers: list[int]) -> str:
    """The label of one or several in a table.

    Examples
    --------
    >>> from skbayesembed.posterior.naming import check_names, joint
    >>> joint(None, [0, 2]), joint(check_names(["bank", "shore"], 2, "sense"), [0])
    ('0 + 2', 'bank')
    """
    return " + ".join(str(name) for name in named(names, np.asarray(numbers)))


def shares_called(posterior: Any) -> list[str]:
    """What the shares of topics are called where traces or diagnostics are of them."""
    names = given_names(posterior, "topic")
    n = posterior["counts"].shape[-2]
    return [f"share of {called(names, 'topic', k)}" for k in range(n)]


def labels_in_words(posterior: Any, name: str, shape: Sequence[int]) -> list[str]:
    """Labels of the entries of an array, as reports, warnings and figures have them.

    Genres and periods of which there is one alone are left out, senses have their names, and logits
    are those of a pair's co-occurrence probability.

    Parameters
    ----------
    posterior : Posterior
    name : str
        Of draws or of a statistic, or ``"share"``, of topics.
    shape : sequence of int
        After ``(chain, draw)``.
    """
    if name == "share":
        return shares_called(posterior)
    dims, coords = posterior.dims[name], posterior.coords
    if name == "logit" and "monitored_logit" in coords:
        return [f"logit P({pair})" for pair in coords["monitored_logit"]]
    kept = [i for i, dim in enumerate(dims) if dim not in _PLACES or shape[i] > 1]
    if name == "prevalence" and "sense" in coords:
        names, n = given_names(posterior, "sense"), len(coords["sense"])
        coords = {**coords, "sense": np.array([called(names, "sense", k) for k in range(n)])}
    return entry_labels(name, [dims[i] for i in kept], [shape[i] for i in kept], coords)


def place_of(names: np.ndarray | None, n: int, which: Any, what: str) -> int:
    """Number of a sense or topic, which may be asked for by its name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if _is_number(which, n):
        return int(which)
    known = [] if names is None else names.tolist()
    if isinstance(which, str) and which in known:
        return known.index(which)
    numbers = "0, the number of the only one" if n == 1 else f"a number from 0 to {n - 1}"
    allowed = numbers + (f", or one of {known}" if known else "")
    hint = ""
    if isinstance(which, str) and not known:
        hint = f": none has a name yet, name_{'topics' if 'topic' in what else 'senses'} gives them"
    raise ValueError(f"{what} must be {allowed}, got {reprlib.repr(which)}{hint}.")


def _is_number(k, n):
    return is_whole(k) and 0 <= k < n

"""The modes of a posterior, which print as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..posterior.cells import dashed, share_of
from ..posterior.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

# Below a table of modes that may look as if all was well.
_UNMIXED = (
    "(the chains have not mixed: a mode with all of the posterior may hold several readings of the "
    "senses. Up to an R-hat of about 1.1 make chains longer first (thin, warmup); above, raise "
    "n_starts, label some snippets, or choose another n_senses)"
)

# Below one whose first mode is not the one of the largest likelihood.
_BY_MASS = (
    "(shares go by log mass, how much of the posterior a mode holds, not by the height of its "
    "likelihood)"
)

# Below one with a mode that has no mass.
_NOT_WEIGHED = "(a dash: a mode that was not weighed, as one that is the only one found)"
# Shares that are smaller are printed as such.
_LEAST_SHARE = 0.001


class Modes(Sequence):
    """Modes of a posterior, heaviest first: a sequence of `Mode` that prints as a table.

    Parameters
    ----------
    modes : iterable of Mode

    Attributes
    ----------
    mixed : bool
        False if chains that started in the first mode have not mixed.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel
    >>> snippets = ["river water flood", "money loan account"] * 20
    >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
    >>> modes = model.fit(snippets).modes_
    >>> len(modes), modes[0].share, modes[0].mass is None
    (1, 1.0, True)
    >>> list(modes.to_frame().columns)
    ['share', 'n_starts', 'log_likelihood', 'log_mass', 'error']
    """

    mixed: bool = True

    def __init__(self, modes: Iterable[Any] = ()) -> None:
        self._modes = list(modes)

    def __len__(self) -> int:
        return len(self._modes)

    def __getitem__(self, place):
        return self._modes[place]

    def __repr__(self) -> str:
        return repr(_ModeTable(self)) if self else "[]"

    def _repr_html_(self):
        return _ModeTable(self)._repr_html_()

    def to_frame(self) -> pd.DataFrame:
        """Return the modes as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The ``share`` of the posterior, the number ``n_starts`` of starts that ended in the mode
            and, if there are any, ``n_exchanges`` that led to it, its mean ``log_likelihood``, and
            its ``log_mass`` with the standard ``error``, NaN if it was not weighed.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> model.modes_.to_frame().shape[0] == len(model.modes_)
        True
        """
        return _ModeTable(self).to_frame()


class _ModeTable(Table):
    _max_rows = 20

    def __init__(self, modes):
        self._modes, self._mixed = list(modes), modes.mixed

    def _notes(self):
        heaviest = max(self._modes, key=lambda mode: mode.share)
        higher = any(
            mode.log_likelihood > heaviest.log_likelihood
            for mode in self._modes
            if mode.mass is not None
        )
        joined = groups_joined(self._modes)
        notes = [f"({joined})"] if joined else []
        notes += [_NOT_WEIGHED] * any(mode.mass is None for mode in self._modes)
        return notes + [_BY_MASS] * higher + [_UNMIXED] * (not self._mixed)

    def _columns(self):
        def figures(value):
            return np.array([value(mode) for mode in self._modes], dtype=float)

        masses = [(np.nan, np.nan) if m.mass is None else (m.mass.value, m.mass.error)
                  for m in self._modes]  # fmt: skip
        mass, error = np.reshape(masses, (-1, 2)).T
        starts = np.array([mode.n_starts for mode in self._modes], dtype=int)
        led = np.array([mode.n_exchanges for mode in self._modes], dtype=int)
        return [
            Column("mode", np.arange(len(self._modes)), (), "d"),
            Column("share", figures(lambda mode: mode.share), ("share",), _shares),
            Column("starts", starts, ("n_starts",), "d"),
            *([Column("exchanges", led, ("n_exchanges",), "d")] if led.any() else []),
            Column(
                "log likelihood", figures(lambda mode: mode.log_likelihood), ("log_likelihood",),
                ".1f",
            ),
            Column("log mass", mass, ("log_mass",), dashed(".1f")),
            Column("error", error, ("error",), dashed(".1f")),
        ]  # fmt: skip


def _shares(values):
    return [
        f"<{_LEAST_SHARE:g}" if 0 < value < _LEAST_SHARE else share_of(value) for value in values
    ]


def groups_joined(modes):
    """A line on groups of starts that were one mode once explored; an empty text of none."""
    n_groups, met = sum(mode.n_groups for mode in modes), [m for m in modes if m.n_groups]
    if n_groups == len(met):
        return ""
    of = "1 mode" if len(met) == 1 else f"{len(met)} modes"
    return f"{n_groups} groups of starts were {of} once chains had explored them"

"""The table of posterior summaries, one row for each entry of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..common.mixing import rhat_text
from .cells import dashed, readable_numbers
from .sources import AT_MODE, notes_on
from .tables import Column, Table

# Standard deviations below this share of the largest are those of rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True, repr=False, eq=False)
class Summary(Table):
    """A table of posterior summaries, one row for each entry of the parameters.

    Columns are reached as attributes, ``summary.rhat``, or by name, ``summary["rhat"]``.

    Attributes
    ----------
    labels : ndarray of str, shape (n_rows,)
        Name of the parameter with the labels of the entry, as in ``"rho[tree, 0]"``.
    mean, sd : ndarray of shape (n_rows,)
        Posterior mean and standard deviation.
    low, high : ndarray of shape (n_rows,)
        Highest density interval with probability ``prob``.
    mcse : ndarray of shape (n_rows,)
        Monte Carlo standard error of the mean.
    ess_bulk, ess_tail : ndarray of shape (n_rows,)
        Effective sample sizes for the center and for the 5 % and 95 % quantiles.
    rhat : ndarray of shape (n_rows,)
        Rank-normalized split R-hat.
    prob : float
        Probability in the interval.
    facts : tuple of str
        Further facts about the run, printed below the table.
    columns : tuple of str
        Names of the columns, in order.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> summary = model.posterior_.summary(["rho"])
    >>> summary.columns, summary.mean.shape
    (('mean', 'sd', 'low', 'high', 'mcse', 'ess_bulk', 'ess_tail', 'rhat'), (16,))
    """

    labels: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mcse: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray
    rhat: np.ndarray
    prob: float
    facts: tuple[str, ...] = ()

    columns = ("mean", "sd", "low", "high", "mcse", "ess_bulk", "ess_tail", "rhat")
    _max_rows = 20

    def _columns(self):
        # a dash where an entry never changes, or has moments and no draws
        shows = {"ess_bulk": dashed(".0f"), "ess_tail": dashed(".0f"), "rhat": _rhats}
        labels = [_shorten(str(label)) for label in self.labels]
        return [Column("", labels, (), left=True)] + [
            Column(self._head(name), getattr(self, name), (name,), shows.get(name, _or_dashes))
            for name in self.columns
        ]

    def _head(self, name):
        return AT_MODE if name == "mean" and self._is_point() else name

    def _index(self):
        return self.labels

    def _notes(self):
        n = len(self)
        notes = [f"{n} rows; low and high bound the {self.prob:.4g} highest density interval"]
        # what does not move but for rounding has no R-hat worth the name
        moves = self.sd > _ROUNDING * np.max(np.nan_to_num(self.sd), initial=0.0)
        rhat = self.rhat[moves & ~np.isnan(self.rhat)]
        ess = self.ess_bulk[moves & ~np.isnan(self.ess_bulk)]
        if rhat.size and ess.size:
            notes.append(f"largest rhat {rhat_text(rhat.max())}, smallest ess_bulk {ess.min():.0f}")
        fixed = np.count_nonzero((self.sd == 0) & np.isnan(self.rhat))
        if 0 < fixed < n:
            rows = "1 row" if fixed == 1 else f"{fixed} rows"
            notes.append(f"({rows} without diagnostics: the same in every draw)")
        return [*notes, *self.facts, *notes_on(self.source)]


def _shorten(label, length=40):
    return label if len(label) <= length else f"{label[: length - 3]}..."


def _rhats(values):
    return ["-" if np.isnan(value) else rhat_text(value) for value in values]


def _or_dashes(values):
    texts = readable_numbers(values)
    return ["-" if np.isnan(v) else text for v, text in zip(values, texts, strict=True)]


def entry_labels(
    name: str, dims: Sequence[str], shape: Sequence[int], coords: Mapping[str, np.ndarray]
) -> list[str]:
    """Labels ``name[label, label]`` for the entries of an array, in C order.

    Parameters
    ----------
    name : str
    dims : sequence of str
        Names of the dimensions.
    shape : sequence of int
    coords : mapping of str to array
        Labels along dimensions; dimensions without labels are numbered.

    Returns
    -------
    list of str
    """
    axes = [
        [str(c) for c in coords[dim]] if dim in coords else [str(i) for i in range(size)]
        for dim, size in zip(dims, shape, strict=True)
    ]
    return [f"{name}[{', '.join(entry)}]" if entry else name for entry in product(*axes)]

"""The senses in a table: how common each is, and whether two of them are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.checks import check_integer, check_prob
from ..numeric.relevance import first_words
from ..posterior.cells import first_printed
from ..posterior.naming import given_names, named
from ..posterior.sources import name_of_units, note_on_means, source_of, units_called
from ..posterior.summary import hdi_interval
from ..posterior.tables import Column, Table
from .embedding import asides_of
from .ends import ends, first_and_last
from .predict import word_draws
from .prevalences import draws_of
from .verdicts import cells_told

_CHANGED = (
    "(sense {}: lasting is below overlap, so its words change more from the first period to the "
    "last than they differ from those of the nearest sense. It may be one sense of the word early "
    "and another one late: read its snippets of both periods, representative_snippets(period=))"
)

# Below tables of fits with units.
_OF_ALL = (
    "(share: mean over all {0} that there might be; of snippets: share of the training snippets, "
    "of those {0} that were seen)"
)


@dataclass(frozen=True, repr=False, eq=False)
class SenseTable(Table):
    """Table of the senses, one row each. Columns are also reached by name: ``table["share"]``.

    Attributes
    ----------
    share : ndarray of shape (n_senses,)
        Posterior mean of the sense's prevalence, averaged over the genres and periods of the
        training snippets. If ``fit`` was given units, prevalences are means over all units that
        there might be.
    interval : ndarray of shape (n_senses, 2)
        Highest density intervals of the shares.
    nearest : ndarray of int of shape (n_senses,)
        The sense whose words are most similar; -1 if there is only one.
    overlap : ndarray of shape (n_senses,)
        Overlap with the ``nearest`` sense, from ``overlaps``.
    overlaps : ndarray of shape (n_senses, n_senses)
        Overlap of two senses: the sum over words of the smaller of their posterior mean
        probabilities, averaged over periods; 0 for senses without a common word, 1 for equal ones.
    lasting : ndarray of shape (n_senses,)
        Overlap of the words of a sense between the first and the last period with snippets,
        computed in the same way; 1 if there is one period. If it is below ``overlap``, the sense
        may combine different senses at different times.
    words : ndarray of str of shape (n_senses, n)
        Words that distinguish the sense from the others, by relevance (Sievert & Shirley 2014).
    prob : float
        Probability of the intervals.
    n_draws : int
        Number of draws behind the figures; 1 for a point estimate.
    names : ndarray of str of shape (n_senses,) or None
        Names of the senses, if they were given (`DiSCSenseModel.name_senses`).
    of_snippets : ndarray of shape (n_senses,) or None
        If ``fit`` was given units: posterior mean of the sense's share of the training snippets
        with known words or a label, in the units seen.
    units_name : str or None
        Name of the column of units, if it has one.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel
    >>> snippets = ["river water flood", "money loan account"] * 20
    >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
    >>> table = model.sense_info(3)
    >>> table.nearest.tolist(), bool(table.overlap[0] < 0.5)
    ([1, 0], True)
    """

    share: np.ndarray
    interval: np.ndarray
    nearest: np.ndarray
    overlap: np.ndarray
    overlaps: np.ndarray
    lasting: np.ndarray
    words: np.ndarray
    prob: float
    n_draws: int
    names: np.ndarray | None = None
    of_snippets: np.ndarray | None = None
    units_name: str | None = None

    def _columns(self):
        words = [" ".join(row) for row in self.words]
        # of one sense there is none
        nearest = self.nearest if len(words) == 1 else named(self.names, self.nearest)
        return [
            Column("sense", named(self.names, np.arange(len(words))), self._named(), "d"),
            Column("share", self.share, ("share",)),
            Column("interval", self.interval, ("low", "high"), left=True),
            *self._of_snippets(),
            Column("nearest", nearest, ("nearest",), "d"),
            Column("overlap", self.overlap, ("overlap",), ".2f"),
            Column("lasting", self.lasting, ("lasting",), ".2f"),
            Column("relevant words", words, ("words",), first_printed, left=True),
        ]

    def _of_snippets(self):
        shares = self.of_snippets
        return [] if shares is None else [Column("of snippets", shares, ("of_snippets",))]

    def _named(self):
        return () if self.names is None else ("sense",)

    def _notes(self):
        # of one sense there is no overlap: comparisons with NaN are False
        changed = named(self.names, np.flatnonzero(self.lasting < self.overlap))
        return [
            f"({100 * self.prob:g} % intervals of the share; overlap: of its words with those of "
            "the nearest sense; lasting: overlap of its words in the first and last period)",
            *(
                [_OF_ALL.format(units_called(self.units_name))]
                if self.of_snippets is not None
                else []
            ),
            *([_CHANGED.format(", ".join(map(str, changed)))] if changed.size else []),
            *super()._notes(),
            *note_on_means(self.share, self.interval),
        ]


def overlaps_of(mean):
    """Overlaps (K, K) of probabilities of words (K, T, V), averaged over periods."""
    return np.array([[np.minimum(a, b).sum(axis=-1).mean() for b in mean] for a in mean])


def lasting_of(mean, first, last):
    """Overlaps (K,) of probabilities of words (K, T, V) in two periods."""
    return np.minimum(mean[:, first], mean[:, last]).sum(axis=-1)


def _shares_of_snippets(estimator):
    """Shares (K,) of the snippets that tell, in the units seen; None where no units are known."""
    if estimator.units_ is None:
        return None
    cells = cells_told(estimator)
    cells = (cells if cells.any() else estimator._cells).astype(float)
    cells /= cells.sum()
    return np.einsum("gt,gtk->k", cells, draws_of(estimator, "seen").mean(axis=0))


def sense_info(estimator, n, prob):
    """`SenseTable` of a fitted `DiSCSenseModel`."""
    check_integer("n", n, 1)
    check_prob(prob)
    cells = estimator._cells / estimator._cells.sum()
    shares = np.einsum("gt,sgtk->sk", cells, estimator.posterior_.flat("prevalence"))
    mean = word_draws(estimator).mean()
    overlaps = overlaps_of(mean)
    others = overlaps - 2.0 * np.eye(len(mean))
    nearest = others.argmax(axis=1)
    overlap = others.max(axis=1)
    if len(mean) == 1:
        nearest, overlap = np.array([-1]), np.array([np.nan])
    words = first_words(mean.mean(axis=1), shares.mean(axis=0), n, "relevant")
    table = SenseTable(
        shares.mean(axis=0),
        hdi_interval(shares, prob=prob, axis=0),
        nearest,
        overlap,
        overlaps,
        lasting_of(mean, *first_and_last(estimator)),
        estimator.words_[words],
        prob,
        len(shares),
        given_names(estimator.posterior_, "sense"),
        _shares_of_snippets(estimator),
        name_of_units(estimator),
    )
    return table._resting_on(
        source_of(estimator, of_works=estimator.units_ is not None),
        [*asides_of(estimator.posterior_), *ends(estimator).notes()],
    )

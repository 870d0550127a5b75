"""Deviations of the vectors of all periods; a word that few units tell of has more of its own.

Words in periods are called places here: place ``t * n_words + w`` is word w in period t, and arrays
of both sides are (2, n_places, n_components), so that what serves the vectors of one period serves
those of all.

Where the vector of a word in a period rests on too few units, what its pairs there say of it counts
as the model has it, one observation a pair. Given all other words' vectors that information moves
the word in all periods: by ``G[:, t] I^(1/2)``, G the covariance of its trajectory and I the
information. Along an eigenvector of I the trajectory is taken to be on its own, as it is where the
word was seen in no other period; it takes tridiagonal systems only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solveh_banded

from ...sgns.documents.deviations import FEWEST_UNITS, Deviations
from ..laplace.rough import information_blocks

# Words whose information is worked on at a time.
_WORDS = 256


@dataclass(frozen=True, eq=False)
class WordDeviations(Deviations):
    """Deviations of words at one time.

    Attributes
    ----------
    own : dict of int to ndarray of shape (2, n_components, n_sources * n_components)
    sources : dict of int to list of int
        Places that a word's own deviations come from, those of each in turn.
    """

    sources: dict

    def own_keys(self, word):
        """Places, so that draws at several times belong together."""
        return self.sources[word]


@dataclass(frozen=True, eq=False)
class DriftDeviations(Deviations):
    """Deviations of places, whose squares add up to covariances.

    Attributes
    ----------
    own : dict
        Empty: what words have of their own is in ``roots`` and ``paths``.
    roots : dict of int to ndarray of shape (2, n_components, n_components)
        Of the information at a place, of its target and its context, in columns.
    paths : dict of int to ndarray of shape (2, n_components, n_periods)
        How far a column's deviation goes in each period.
    n_words : int
    """

    roots: dict
    paths: dict
    n_words: int

    @cached_property
    def _sources(self):
        """Places with information that counts as the model has it, by word."""
        found = {}
        for place in self.roots:
            found.setdefault(place % self.n_words, []).append(place)
        return found

    def moved_by(self, shifts):
        """As of `sgns.documents.deviations.Deviations`."""
        return replace(self, shifts=shifts, roots={}, paths={})

    def has_own(self, place):
        """Whether the word at a place has deviations of its own in some period."""
        return place % self.n_words in self._sources

    def own_changes(self, side, place, gradients):
        """As of `sgns.documents.deviations.Deviations`: along those of all periods."""
        period, word = divmod(place, self.n_words)
        return [
            (side, source, self.paths[source][side, :, period][:, None] * (
                self.roots[source][side].T @ gradients.T
            ))
            for source in self._sources.get(word, ())
        ]  # fmt: skip

    def together(self, parts):
        """`Deviations` of words: of weighted sums of their vectors in some periods.

        Parameters
        ----------
        parts : list of (int, float)
            Periods and their weights.

        Returns
        -------
        WordDeviations
            Views of these where there is one period of weight one.
        """
        blocks = [(slice(t * self.n_words, (t + 1) * self.n_words), a) for t, a in parts]

        def summed(array):
            if len(blocks) == 1 and blocks[0][1] == 1.0:
                return array[..., blocks[0][0], :]
            return sum(np.float32(a) * array[..., block, :] for block, a in blocks)

        own = {}
        for word, sources in self._sources.items():
            columns = []
            for source in sources:
                reach = sum(a * self.paths[source][:, :, t] for t, a in parts)
                columns.append(self.roots[source] * reach[:, None])
            own[word] = np.concatenate(columns, axis=-1)
        return WordDeviations(
            summed(self.vectors),
            summed(self.shifts),
            self.n_sampling,
            self.by_unit,
            np.min([self.n_units[block] for block, _ in blocks], axis=0),
            own,
            self.seed,
            self._sources,
        )


def own_paths(curvature, resting):
    """``roots`` and ``paths`` of `DriftDeviations`, of places that rest on too few units.

    Parameters
    ----------
    curvature : Curvature
        At the mode.
    resting : ndarray of shape (n_periods, n_words)
        Effective units that the vector of a word rests on.
    """
    roots, paths = {}, {}
    n_words = resting.shape[1]
    few = np.flatnonzero(np.any(resting < FEWEST_UNITS, axis=0))
    for start in range(0, few.size, _WORDS):
        words = few[start : start + _WORDS]
        information = information_blocks(curvature, words).astype(np.float64)
        seen = np.einsum("tswkk->tw", information) > 0
        for t, i in np.argwhere((resting[:, words] < FEWEST_UNITS) & seen):
            both = [
                _path(curvature.density.precision, x[:, i], t) for x in information.swapaxes(0, 1)
            ]
            place = int(t * n_words + words[i])
            roots[place], paths[place] = (np.stack(part) for part in zip(*both, strict=True))
    return roots, paths


def _path(precision, information, t):
    """A root of the information (n_periods, K, K) in period t, and each column's path."""
    values, basis = np.linalg.eigh(information[t])
    along = np.einsum("ki,tkl,li->it", basis, information, basis)
    unit = np.zeros(precision.n)
    unit[t] = 1.0
    bands = np.zeros((2, precision.n))
    bands[0, 1:] = precision.off
    paths = np.empty_like(along)
    for row, path in zip(along, paths, strict=True):
        bands[1] = precision.diagonal + row
        path[:] = solveh_banded(bands, unit)
    return basis * np.sqrt(np.maximum(values, 0.0)), paths

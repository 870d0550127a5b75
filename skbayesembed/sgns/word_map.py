"""Words on a plane, with the uncertainty of where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.checks import check_integer, check_prob
from ..metrics.words import unit_vectors
from ..posterior.sources import sampled_units, source_of
from ..posterior.tables import Column, Table
from .comparisons import several
from .neighbours import left_out_notes
from .questions.asking import ask
from .questions.kinds import Question
from .questions.operands import of_places
from .questions.phrases import is_list, list_index, word_index
from .questions.scales import COSINE
from .ranking import most_similar
from .word_tables import few_notes, of_period, units_columns, units_notes


class Coordinates(Question):
    """Coordinates of unit vectors on a plane: all of the first axis, then all of the second.

    They are cosines with the axes, and have the scale of cosines.

    Parameters
    ----------
    operands : Operands
        Of single words.
    axes : ndarray of shape (2, n_components)
        Of unit length.
    """

    def __init__(self, operands, axes):
        n = len(operands)
        super().__init__(operands, np.tile(np.arange(n), 2)[:, None])
        self._axes = np.repeat(axes, n, axis=0)

    def of(self, picked, part):
        """Answers of operands."""
        return np.einsum("...ik,ik->...i", picked[..., 0, :], self._axes[part])

    def scale(self, mean):
        """The inverse hyperbolic tangent."""
        return COSINE

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        return self._axes[:, None].copy()


@dataclass(frozen=True, repr=False, eq=False)
class WordMap(Table):
    """Words on the plane of the two main directions in which their unit vectors differ.

    Attributes
    ----------
    words : ndarray of str of shape (n,)
    position : ndarray of shape (n, 2)
        Posterior means of the coordinates: cosines of the words with the directions, less those of
        the mean of the vectors.
    covariance : ndarray of shape (n, 2, 2)
        Covariances of the coordinates.
    half_axes : ndarray of shape (n, 2)
        Half the length and half the width of the ellipse about the position that contains ``prob``
        of the draws.
    angle : ndarray of shape (n,)
        Angle between the length of the ellipse and the first axis, in degrees.
    share : ndarray of shape (2,)
        Share of the differences among the unit vectors of these words that each direction shows.
    prob : float
        Probability of the ellipses, each for its word.
    n_draws : int
        Number of draws; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective number of units of sampling of each word; None if intervals are the model's.
    of_units, units_name
        As in `Neighbours`.
    period : time or str or None
        Label of the period, of an estimator with periods.
    few : ndarray of bool of shape (n,) or None
        Words with too little text in the period.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed.plotting import WordMapDisplay
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> drawn = WordMapDisplay.from_estimator(model, ["cat", "dog", "mat"]).result
    >>> drawn.position.shape, drawn.half_axes.shape
    ((3, 2), (3, 2))
    """

    words: np.ndarray
    position: np.ndarray
    covariance: np.ndarray
    half_axes: np.ndarray
    angle: np.ndarray
    share: np.ndarray
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None
    of_units: int | None = None
    units_name: str | None = None
    period: Any = None
    few: np.ndarray | None = None

    @property
    def few_pairs(self) -> np.ndarray | None:
        """Where there is too little text in the period, as in `Neighbours`."""
        return self.few

    def _title(self):
        first, second = 100 * self.share
        of = f"map of {len(self.words)} words{of_period(self)}"
        return f"{of}: {first:.0f} % and {second:.0f} % of differences"

    def _notes(self):
        return [*super()._notes(), *few_notes(self), *units_notes(self)]

    def _columns(self):
        sd = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        columns = [
            Column("word", self.words, ("word",), left=True),
            Column("x", self.position[:, 0], ("x",), "6.3f", few=self.few),
            Column("y", self.position[:, 1], ("y",), "6.3f", few=self.few),
            Column("sd x", sd[:, 0], ("sd_x",), few=self.few),
            Column("sd y", sd[:, 1], ("sd_y",), few=self.few),
        ]
        return columns + units_columns(self, ("n_units",))


def word_map(estimator, words, n, prob, shift=0, few=None, period=None):
    """The `WordMap` of a list of words, or of a word and the ``n`` nearest to it.

    The plane is that of the first two principal components of the unit vectors of posterior mean
    targets, the same for all draws.

    Parameters
    ----------
    estimator : BayesianSGNS or DynamicSGNS
    words : str, int or list of either
    n : int
    prob : float
    shift : int
        Where the places of the period begin.
    few : ndarray of bool of shape (n_words,), optional
        Words with too little text in the period, which are no neighbors of another.
    period : object, optional
        Label of the period, for errors.

    Raises
    ------
    KeyError
        For an unknown word.
    ValueError
        For fewer than three words, and for a word with fewer than two neighbors.
    """
    check_prob(prob)
    check_integer("n", n, 2)
    if is_list(words):
        index = list_index(estimator, several(words, "words"), "words")
    else:
        index = np.array([word_index(estimator, words, "words")])
        near = most_similar(estimator, int(index[0]), n, prob, shift, period, few)
        _check_two(near)
        index = np.append(index, [estimator.vocabulary_[word] for word in near.words.tolist()])
    if index.size < 3:
        raise ValueError(f"words must name at least three known words, got {index.size}.")
    vectors = estimator.rho_.reshape(-1, estimator.rho_.shape[-1])[index + shift]
    centre, axes, share = _plane(unit_vectors(vectors))
    operands = of_places(index + shift, estimator._n_places)
    found = ask(estimator, Coordinates(operands, axes), prob, (2, index.size))
    draws, position = np.moveaxis(found.draws, 1, 2), found.mean.T
    covariance, half_axes, angle = _ellipses(draws, position, prob)
    units = found.n_units[0] if "n_units" in found else None
    table = WordMap(
        estimator.words_[index], position - axes @ centre, covariance, half_axes, angle, share,
        prob, len(draws), units, *sampled_units(found), few=None if few is None else few[index],
    )  # fmt: skip
    return table._resting_on(source_of(estimator, units is not None))


def _check_two(near):
    """Raise a ValueError, with the reason, where a word has fewer neighbors than a plane needs."""
    if len(near.words) < 2:
        why = "".join(f": {note.strip('()')}" for note in left_out_notes(near))
        raise ValueError(
            f"words must be at least three, or a word with at least two neighbors, got "
            f"{near.word!r} with {len(near.words)}{why}."
        )


def _plane(vectors):
    """Center, axes (2, K), and shares of the sum of squares, of the main plane of vectors."""
    centre = vectors.mean(axis=0)
    _, size, axes = np.linalg.svd(vectors - centre, full_matrices=False)
    if size.size < 2:
        axes, size = np.vstack([axes, np.zeros_like(axes)]), np.append(size, 0.0)
    axes = axes[:2] * np.where(axes[:2].sum(axis=1) < 0, -1.0, 1.0)[:, None]
    return centre, axes, size[:2] ** 2 / max(np.sum(size**2), np.finfo(float).tiny)


def _ellipses(draws, centre, prob):
    """Covariances (n, 2, 2), half axes (n, 2) and angles (n,) of draws (n_draws, n, 2)."""
    n = centre.shape[0]
    if len(draws) < 3:
        return np.zeros((n, 2, 2)), np.zeros((n, 2)), np.zeros(n)
    moved = draws - centre
    covariance = np.einsum("sni,snj->nij", moved, moved) / (len(draws) - 1)
    values, basis = np.linalg.eigh(covariance)
    values = np.maximum(values[:, ::-1], 0.0)
    # along the axes of the ellipse, in standard deviations
    along = np.einsum("sni,nij->snj", moved, basis[:, :, ::-1])
    sd = np.sqrt(values)
    z = np.divide(along, sd, out=np.zeros_like(along), where=sd > 0)
    reach = np.quantile(np.linalg.norm(z, axis=-1), prob, axis=0)
    long = basis[:, :, -1]
    return covariance, reach[:, None] * sd, np.degrees(np.arctan2(long[:, 1], long[:, 0]))

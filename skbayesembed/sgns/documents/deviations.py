r"""How the mode moves with the units that were sampled, and with the prior.

To first order a unit d with the influence s_d (`scores`) moves the mode by ``H^+ s_d``, H minus the
Hessian of the log posterior there (its pseudo-inverse: rotations change nothing). The covariance of
the mode over samples of units is therefore that of an infinitesimal jackknife,

    D / (D - 1) sum_d (H^+ (s_d - mean)) (H^+ (s_d - mean))',

whatever the model takes pairs for. The likelihood leaves directions open that the prior decides;
with its precision Lambda and the information F that pairs are expected to have at the mode, they
have the covariance ``(F + Lambda)^-1 Lambda (F + Lambda)^-1``. It is that of the prior's pull, were
the truth drawn from the prior, and at most the prior's own. (With H in the place of F + Lambda it
has no bound: where a component comes or goes with ``prior_precision``, H is singular.) The pull
that there is, ``Lambda x`` at the mode x, is beside it as one more direction: of a prior that is
narrower than the truth, as one chosen by prediction mostly is, it is the larger part. Were every
pair an observation of its own, units and prior would add up to Laplace's approximation.

A word of one unit has an influence of zero there and would look certain. The little that is known
of it is what the model says: given all other vectors ``B^-1 I B^-1``, I the information of its
pairs and B that and the prior's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, stdtrit

from ...common.random import seed_at

# Up to so many units each has a deviation of its own; beyond, as many random sums of units do, and
# standard deviations have relative standard errors of 1 / sqrt(2 * 400) = 3.5 %. The prior's part
# is that of so many random directions, 4.4 %: of small texts it is the larger one.
MOST_UNITS, _PRIOR_DRAWS = 400, 256
# Each costs a linear system. Beyond so many entries of a side's vectors fewer must do, by a power
# of their number: at 40,000 it is 5 and 6 %, at 160,000 9 and 11 %. Degrees of freedom allow for
# it.
_LARGE, _POWER = 20_000, 0.85
# Beyond so many more there are no fewer: 9.4 and 13 %.
LARGEST, _FEWEST_SUMS, _FEWEST_DRAWS = 200_000, 56, 28
# Words of fewer effective units have the model's own spread besides. Rounding must not decide about
# those of two.
FEWEST_UNITS = 2.0 * (1.0 - 1e-9)


def numbers_of(n_entries):
    """Most sums of units, and draws of the prior, for a side's vectors of so many entries."""
    share = min(1.0, (_LARGE / n_entries) ** _POWER)
    sums, draws = round(share * MOST_UNITS), round(share * _PRIOR_DRAWS)
    return max(sums, _FEWEST_SUMS), max(draws, _FEWEST_DRAWS)


def sampling_weights(n_units, rng, most=MOST_UNITS):
    """Weights of the sums of units whose deviations are worked out, (m, n_units).

    Their squares add up to the covariance of the mode over samples of units, once each is centered:
    one unit a row where there are few, random sums beyond.
    """
    scale = np.sqrt(n_units / (n_units - 1.0))
    if n_units <= most:
        return scale * np.eye(n_units)
    return scale / np.sqrt(most) * rng.standard_normal((most, n_units))


def centred(scores, weights, dtype=np.float64):
    """Influences of sums of units, (m, 2, n_words, K), less what an average unit would add."""
    out = scores.weighted(weights, dtype)
    for row, total in zip(out, weights.sum(axis=1), strict=True):
        row -= (total * scores.mean).astype(dtype, copy=False)
    return out


def prior_noise(prior, rng, n, dtype=np.float64):
    """Random vectors whose squares add up to the prior's precision, (n, 2, n_words, K)."""
    shape = prior.n_words, prior.n_components
    out = np.empty((n, 2, *shape), dtype)
    for side in (0, 1):
        coupling, root = prior.neighbours(side), None
        scale = np.sqrt(prior.diagonal(side))
        if coupling is not None:
            # words that are coupled are never held, so that components differ by a factor alone
            root = np.linalg.cholesky(np.eye(prior.n_words) + coupling.toarray())
            scale = np.sqrt(prior.tau)
        for draw in out:
            z = rng.standard_normal(shape)
            draw[side] = scale * (z if root is None else root @ z) / np.sqrt(n)
    return out


def prior_pull(prior, vectors):
    """What the prior pulls at vectors with, its precision times their distance from its mean."""
    return np.stack([prior.apply(side, x) - prior.linear(side) for side, x in enumerate(vectors)])


def own_deviations(blocks, information):
    """``B^-1 I^(1/2)``: deviations of vectors, in columns, by what the model says of their pairs.

    Parameters
    ----------
    blocks, information : ndarray of shape (n, K, K)
    """
    values, basis = np.linalg.eigh(information)
    roots = basis * np.sqrt(np.maximum(values, 0.0))[:, None]
    return np.linalg.solve(blocks, roots)


@dataclass(frozen=True, eq=False)
class Deviations:
    """Deviations of vectors, whose squares add up to covariances.

    Attributes
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
        The mode in the form that is read (balanced).
    shifts : ndarray of float32 of shape (m + p, 2, n_words, n_components)
        Its deviations: m with the units, p with the prior.
    n_sampling : int
        m.
    by_unit : bool
        Whether each of the m belongs to one unit.
    n_units : ndarray of shape (n_words,)
        Effective units of each word.
    own : dict of int to ndarray of shape (2, n_components, n_components)
        Further deviations of words of too few units, in columns; of targets and contexts.
    seed : numpy.random.SeedSequence
        For draws.
    """

    # Whether each answer is worked out by itself, and the prior's part known (`adjoint`).
    by_answer = exact_prior = False

    vectors: np.ndarray
    shifts: np.ndarray
    n_sampling: int
    by_unit: bool
    n_units: np.ndarray
    own: dict
    seed: np.random.SeedSequence

    def of(self, side, words):
        """Deviations of some words' vectors on one side, (m + p, len(words), n_components)."""
        return self.shifts[:, side, words].astype(np.float64)

    def of_units(self):
        """The same without what the prior adds."""
        return replace(self, shifts=self.shifts[: self.n_sampling])

    def moved_by(self, shifts):
        """The same vectors with these ``shifts`` alone."""
        return replace(self, shifts=shifts, own={})

    def has_own(self, place):
        """Whether the word at a place has deviations of its own."""
        return place in self.own

    def own_changes(self, side, place, gradients):
        """Derivatives of answers along deviations that the word at a place has of its own.

        Parameters
        ----------
        side : {0, 1}
        place : int
        gradients : ndarray of shape (n, n_components)
            Of the answers by its vector.

        Returns
        -------
        list of (side, place, ndarray of shape (n_components, n))
        """
        return [(side, place, self.own[place][side].T @ gradients.T)]

    def normals(self, n):
        """Numbers of ``n`` draws, (n, m + p), by `level_normals`: the same whenever asked."""
        entropy = tuple(np.atleast_1d(np.asarray(self.seed.entropy, dtype=object)).tolist())
        return level_normals(entropy, tuple(self.seed.spawn_key), n, len(self.shifts))

    def drawn(self, n, shared):
        """Sums of deviations ``shared`` (m + p, n_answers) with `normals`, (n, n_answers)."""
        return self.normals(n) @ shared

    def own_keys(self, word):
        """What the normal numbers of a word's own deviations are drawn by, in their order."""
        return [word]

    def own_normals(self, n, side, word):
        """Those for a word's own deviations, (n, n_components)."""
        return own_normals(self.seed, n, side, word, self.vectors.shape[2])


@lru_cache(maxsize=4)
def level_normals(entropy, spawn_key, n, m):
    """Standard normal numbers (n, m), of more draws than columns without Monte Carlo error.

    Columns then have mean 0, variance 1 and no correlation in these very draws, so that sums of
    deviations have the mean and the covariance that they are to have: `regress` divides by what is
    left of them, and multiplied their error. Each column is uniform on a sphere, whose coordinates
    are normal but for terms of order 1 / n.
    """
    seed = np.random.SeedSequence(entropy, spawn_key=spawn_key)
    z = np.random.default_rng(seed).standard_normal((n, m))
    if 1 < m + 1 < n:
        q, r = np.linalg.qr(z - z.mean(axis=0))
        z = np.sqrt(n) * q * np.sign(np.diag(r))
    z.flags.writeable = False
    return z


def own_normals(seed, n, side, word, k):
    """Standard normal numbers of a word's own deviations, (n, k)."""
    return np.random.default_rng(seed_at(seed, side, word)).standard_normal((n, k))


@dataclass(frozen=True, eq=False)
class Change:
    """Derivatives of answers along deviations.

    Attributes
    ----------
    shared : ndarray of shape (m + p, *shape)
        Along deviations of all vectors.
    own : list of (side, word, ndarray of shape (K, *shape))
        Along a word's own.
    fewest : ndarray of shape (*shape)
        Fewest effective units of the words that an answer takes.
    end : ndarray of shape (*shape) or None
        What posterior means of cosines are at most, where second order tells (`bends`), and of one
        less these at least.
    shift : ndarray of shape (*shape) or float
        What is added to posterior means: of differences, what it does that those of the answers
        which they are of end somewhere.
    exact : bool
        Whether the prior's part is known where that of single answers is (``exact_prior``).
    """

    shared: np.ndarray
    own: list
    fewest: np.ndarray
    end: np.ndarray | None = None
    shift: np.ndarray | float = 0.0
    exact: bool = True

    def __neg__(self):
        own = [(s, w, -d) for s, w, d in self.own]
        return Change(-self.shared, own, self.fewest, exact=self.exact)

    def __add__(self, other):
        return Change(
            self.shared + other.shared,
            merged(self.own + other.own),
            np.minimum(self.fewest, other.fewest),
            exact=False,
        )

    def times(self, factor):
        """Derivatives of a function of the answers, whose own derivative is ``factor`` (*shape)."""
        own = [(s, w, factor * d) for s, w, d in self.own]
        return Change(factor * self.shared, own, self.fewest, exact=self.exact)


def merged(own):
    """One entry for each side and word: their derivatives add up."""
    found = {}
    for side, word, d in own:
        found[side, word] = found[side, word] + d if (side, word) in found else d
    return [(*key, d) for key, d in found.items()]


@dataclass(frozen=True, eq=False)
class Spread:
    """Standard deviations of answers, all of shape (*shape).

    Attributes
    ----------
    sampling : ndarray
        By the units that were sampled, a word's own included.
    prior : ndarray
    total : ndarray
        Root of the sum of both squares.
    freedom : ndarray
        Degrees of freedom (Satterthwaite's) of intervals.
    """

    sampling: np.ndarray
    prior: np.ndarray
    total: np.ndarray
    freedom: np.ndarray


def spread_of(deviations, change):
    """The `Spread` of answers with the `Change` given."""
    units = change.shared[: deviations.n_sampling]
    known = np.einsum("m...,m...->...", units, units)
    own = sum((np.sum(d**2, axis=0) for *_, d in change.own), np.zeros(known.shape))
    prior = np.sum(change.shared[deviations.n_sampling :] ** 2, axis=0)
    if deviations.by_unit:
        fourth = np.sum(units**4, axis=0)
        ratio = np.divide(known**2, fourth, out=np.ones_like(known), where=fourth > 0)
        # a square of one degree of freedom has a third of its own square for its variance, which
        # Satterthwaite's formula takes as known: ratios of D equal units are near D / 3. Units that
        # are more even than normal numbers would have more than they are.
        freedom = np.minimum(3.0 * ratio - 2.0, max(1.0, deviations.n_sampling - 1.0))
    else:
        # a variance known from m sums has a relative variance of 2 / m of its own
        freedom = 1.0 / (1.0 / np.maximum(change.fewest, 1.0) + 1.0 / deviations.n_sampling)
        freedom = np.broadcast_to(freedom, known.shape)
    # of all parts together (Satterthwaite), that of the model taken as known
    total = known + own + prior
    drawn = max(1, len(change.shared) - deviations.n_sampling)
    if deviations.exact_prior and change.exact:
        drawn = np.inf
    spread = known**2 / np.maximum(freedom, 1.0) + prior**2 / drawn
    freedom = np.divide(total**2, spread, out=np.full(known.shape, 1e6), where=spread > 0)
    freedom = np.minimum(freedom, 1e6)
    return Spread(np.sqrt(known + own), np.sqrt(prior), np.sqrt(total), freedom)


def joint_draws(deviations, change, spread, n):
    """Standardized draws of answers, (n, *shape): Student's t each, joint as deviations are."""
    shape = change.shared.shape[1:]
    z = deviations.drawn(n, change.shared.reshape(len(change.shared), -1)).reshape(n, *shape)
    for side, word, d in change.own:
        z += np.tensordot(deviations.own_normals(n, side, word), d, axes=1)
    z = np.divide(z, spread.total, out=np.zeros_like(z), where=spread.total > 0)
    return _as_student(z, spread.freedom)


# Student's quantiles are interpolated between so many points of the normal, and degrees of freedom
# are rounded to one of these, where 100 and more are as good as normal.
_GRID = np.linspace(-5.0, 5.0, 401)
_FREEDOM = np.geomspace(1.0, 100.0, 80)


def _as_student(z, freedom):
    """Standard normal numbers (n, *shape) to those of Student's t, by their quantiles, in place."""
    flat, freedom = z.reshape(len(z), -1), np.ravel(freedom)
    rank = np.searchsorted(_FREEDOM, freedom)
    for place in np.unique(rank[rank < _FREEDOM.size]):
        columns = np.flatnonzero(rank == place)
        quantiles = stdtrit(_FREEDOM[place], ndtr(_GRID))
        flat[:, columns] = np.interp(flat[:, columns], _GRID, quantiles)
    return flat.reshape(z.shape)

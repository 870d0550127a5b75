r"""The skip-gram posterior where rare words meet rare contexts cluster by cluster.

Pairs of two rare words are most pairs of a large vocabulary and have few of the observations. The
negative ones among them, ``n-_ij = l_i r_j``, enter by what a word sees of a cluster of contexts,
whose logits are taken for normal: ``sum_j r_j log(1 + exp(t_ij))`` is ``W_c E log(1 + exp(T))``,
with W the sum of ``r_j``, ``T ~ N(rho_i . mu_c, rho_i' Sigma_c rho_i)`` and mu, Sigma the weighted
moments of the cluster. In the derivatives, ``a_ic + b_ic (t_ij - rho_i . mu_c)`` then stands for
``sigma(t_ij)``, with a and b the means of ``sigma(T)`` and of its slope. A context sees clusters of
targets in the same way. All other observations are as they are.

What the gradients of rare words lack is found at some vectors now and then, and added from there
on (`ClusteredResiduals.correct`), so that the search ends at the mode of the exact density.

The likelihood does not see ``rho M`` with ``alpha M^-T``, and is flat along all such maps M, which
is ``rho' G_rho = (alpha' G_alpha)'`` for its gradient G. Neither what was added elsewhere nor two
sides that see each other by clusters of their own have this, and the search would run away along M.
It is restored by moving each word's gradient along ``n_i rho_i X``, or ``-n_j alpha_j X'``.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy import sparse

from ..inference.threads import gathered
from .clusters import Clusters, logits_of, normal_logistic, subtract_scaled
from .data import cut_rows, table_rows
from .listed_kernels import listed_curvature, listed_products, listed_table
from .model import SGNSModel
from .residuals import EXPECTED, Products, Residuals, room_for_curvature
from .surface import SGNSSurface

# Share of the expected negative observations that pairs of rare words have; what a pair that was
# seen takes, beside one of a whole table, and the share of the whole table's time that is left at
# most: with more, it does not pay.
_RARE, _LISTED, _MOST_WORK = 0.09, 4.0, 0.4
# Values are those of neither side alone, and off by such a share: steps that change them by less
# are judged by their slopes.
ROUNDING = 1e-5
# Sums of moments that are as good as zero, relative to the largest.
_FLAT = 1e-9
# Runs of rows, each with its own sums over contexts.
_BLOCKS = 8


def frequent_words(pairs, rare=None, most_work=None):
    """The most frequent words (ascending), all but the rare; None where clusters do not pay.

    Parameters
    ----------
    pairs : ProductPairs
    rare : float, optional
        Share of the expected negative observations that pairs of rare words have.
    most_work : float, optional
        As of `work_left`, at most.
    """
    share = _RARE if rare is None else rare
    most_work = _MOST_WORK if most_work is None else most_work
    order = pairs.by_frequency()
    left, right = (np.cumsum(factor[order]) for factor in pairs.factors)
    others = (1.0 - left / left[-1]) * (1.0 - right / right[-1])
    n_frequent = 1 + int(np.argmax(others <= share))
    if others[n_frequent - 1] == 0.0 or _work_of_frequent(pairs, n_frequent) > most_work:
        return None
    frequent = np.sort(order[:n_frequent])
    return None if work_left(pairs, frequent) > most_work else frequent


def work_left(pairs, frequent):
    """Share of the whole table's time that is left where all other words are taken for rare."""
    listed = _n_seen(pairs, np.delete(np.arange(pairs.n_words), frequent)) / pairs.n_pairs
    return _work_of_frequent(pairs, len(frequent)) + _LISTED * listed


def _work_of_frequent(pairs, n_frequent):
    """The part of `work_left` that pairs with a frequent word have."""
    return 1.0 - (1.0 - n_frequent / pairs.n_words) ** 2


def _n_seen(pairs, words):
    """Positive pairs of some words with each other."""
    indptr, indices, _ = pairs.positive
    own = np.zeros(pairs.n_words, bool)
    own[words] = True
    rows = np.flatnonzero(own & (np.diff(indptr) > 0))
    return sum(int(own[indices[indptr[i] : indptr[i + 1]]].sum()) for i in rows)


class ClusteredModel(SGNSModel):
    """An `SGNSModel` whose search for the mode goes by the module, in single precision.

    So does that for the top of the bound, `vi.climb`.

    Parameters
    ----------
    model : SGNSModel
        Of `ProductPairs`, without anchors; its prior tells no words apart.
    frequent : ndarray of int
        Words that are not rare, ascending.
    near : bool, default=False
        Whether searches start near the mode, and are corrected before their first step.
    """

    def __init__(self, model, frequent, near=False):
        super().__init__(model.pairs, model.n_components, model.prior)
        self._frequent, self.near = frequent, near
        self._made = None, None

    @property
    def approximated(self):
        """As of `SGNSModel`."""
        return {"clustered_words": self.n_words - self._frequent.size}

    def surface(self, theta, dtype, run):
        """As of `SGNSModel`."""
        if dtype is np.float64:
            self._made = None, None  # the exact density needs the room
            return super().surface(theta, dtype, run)
        return ClusteredSurface(self, theta, run)

    def residuals(self, run):
        """As of `SGNSModel`; they are kept, as their tables take long to make."""
        made, of = self._made
        if made is None or of is not run:
            made = ClusteredResiduals(self.pairs, self._frequent, run)
            self._made = made, run
        return made


class ClusteredSurface(SGNSSurface):
    """The `SGNSSurface` of a `ClusteredModel`, in single precision.

    Words are in the order of its residuals, in which those that are taken together are neighbors.
    """

    rounding = ROUNDING

    def __init__(self, model, theta, run):
        residuals = model.residuals(run)
        super().__init__(model, theta, np.float32, run, residuals)
        self.point = np.take(self.point, residuals.order, axis=1)
        (residuals.correct if model.near else residuals.gather)(*self.point)

    def correct(self):
        """As of `Corrected`."""
        self._residuals.correct(*self.point)
        return self.value_and_gradient()

    def _theta(self):
        rho, alpha = np.empty(self.point.shape)
        rho[self._residuals.order], alpha[self._residuals.order] = self.point
        return self._model.pack({"rho": rho, "alpha": alpha})


class ClusteredResiduals(Residuals):
    """`Residuals` of pairs whose negative counts are a product, by the formulas of the module.

    `gather` comes before all else.

    Parameters
    ----------
    pairs : ProductPairs
    frequent : ndarray of int
        Words that are not rare, ascending.
    run : callable
        Maps a function over blocks of rows.

    Attributes
    ----------
    frequent, rare : slice
        Where these words are in ``order``.
    weights : list of two ndarray of float32 of shape (n_words, 1)
        Observations, in this order.
    of_frequent, with_frequent, seen, negatives : Products
        All contexts with frequent targets, contexts in the rows; rare targets with frequent
        contexts; of rare words with each other the positive observations, and the negative ones.
    """

    def __init__(self, pairs, frequent, run):
        self._run, whole = run, pairs.table(np.float32)
        rare = np.delete(np.arange(pairs.n_words), frequent)
        self.order = np.concatenate([frequent, rare])
        self.observations = [pairs.observations(side)[self.order] for side in (0, 1)]
        self.weights = [n.astype(np.float32)[:, None] for n in self.observations]
        self.frequent, self.rare = slice(frequent.size), slice(frequent.size, None)
        # with contexts in the rows: few words have smaller sums
        self.of_frequent = _products(*_turned(_selected(whole, frequent, self.order)), run)
        self.with_frequent = _products(*_selected(whole, rare, frequent), run)
        self.seen = _positives(_selected(whole, rare, rare)[0], run)
        self._factors = [factor[rare].astype(np.float32) for factor in pairs.factors]
        self.negatives = _negatives(*self._factors, run)

    def gather(self, x, y):
        """Take clusters of these vectors, and add nothing to gradients from here on."""
        self._clusters = self.clustered(_Clusters, x, y)
        self._lacking = None

    def clustered(self, kind, x, y):
        """`Clusters` of a ``kind``: of rare contexts by ``y``, and of rare targets by ``x``."""
        left, right = self._factors
        return (
            kind(y[self.rare], left, right, self._run),
            kind(x[self.rare], right, left, self._run),
        )

    @property
    def of_rare_contexts(self):
        """`Clusters` of rare contexts, as of the last `gather`."""
        return self._clusters[0]

    def correct(self, x, y):
        """Add to gradients from here on what those by clusters lack at ``x``, ``y``."""
        self.gather(x, y)
        x, y = x[self.rare], y[self.rare]
        lacking, found = np.zeros((2, 2, *x.shape), np.float32)
        self.negatives.residuals(x, y, y, x, *lacking)
        of_targets, of_contexts = self._clusters
        of_targets.add_residuals(x, y, y, found[0])
        of_contexts.add_residuals(y, x, x, found[1])
        lacking -= found
        self._lacking = lacking

    def gradient(self, x, y, out):
        """As of `Residuals`; the log likelihood is the one without `correct`."""
        value = self._multiply(x, y, y, x, *out)
        if self._lacking is not None:
            out[:, self.rare] += self._lacking
        flatten(x, y, self.weights, out, self._run)
        return value

    def slopes(self, x, y, z, u):
        """As of `Residuals`."""
        sz, su = np.empty_like(z), np.empty_like(u)
        self._walk(Products.slopes, _Clusters.add_slopes, x, y, z, u, sz, su)
        return sz, su

    def _multiply(self, x, y, z, u, rz, ru):
        products = Products.residuals, _Clusters.add_residuals
        *exact, of_targets, of_contexts = self._walk(*products, x, y, z, u, rz, ru)
        return sum(exact) + 0.5 * (of_targets + of_contexts)

    def _walk(self, multiply, add, x, y, z, u, rz, ru):
        """Products of all pairs by methods of `Products` and `_Clusters`; what these return."""
        f, r = self.frequent, self.rare
        some = np.empty_like(u[f])
        found = [
            multiply(self.of_frequent, y, x[f], u[f], z, ru, rz[f]),
            multiply(self.with_frequent, x[r], y[f], z[f], u[r], rz[r], some),
        ]
        ru[f] += some
        own_x, own_y = x[r], y[r]
        # clusters look whether these are the vectors themselves
        own_z, own_u = own_y if z is y else z[r], own_x if u is x else u[r]
        mine, others = np.empty_like(own_z), np.empty_like(own_u)
        found.append(multiply(self.seen, own_x, own_y, own_z, own_u, mine, others))
        of_targets, of_contexts = self._clusters
        found.append(add(of_targets, own_x, own_y, own_z, mine))
        found.append(add(of_contexts, own_y, own_x, own_u, others))
        rz[r] += mine
        ru[r] += others
        return found


def _products(counts, left, right, run):
    """All observations of some words with others, `Products`."""
    table = *_compressed(counts), left, right
    cuts = cut_rows(np.diff(table[0]) + float(right.size), _BLOCKS)
    return Products(EXPECTED, functools.partial(table_rows, table), cuts, run)


def _positives(counts, run):
    """The positive observations alone, `Products`."""
    whole = _compressed(counts)
    cuts = cut_rows(np.diff(whole[0]) + 1.0, _BLOCKS)
    tables = {cut: listed_table(*table_rows(whole, *cut), counts.shape[1]) for cut in cuts}
    steps = _listed_residuals, _listed_slopes, _listed_curvature
    return Products(steps, lambda a, b: tables[a, b], cuts, run)


def _negatives(left, right, run):
    """The negative observations alone, `Products`."""
    return _products(sparse.csr_array((left.size, right.size), dtype=np.float32), left, right, run)


def flatten(x, y, weights, gradient, run):
    """Make a gradient flat along maps of the components, in place.

    Parameters
    ----------
    x, y : ndarray of float32 of shape (n_words, n_components)
        Vectors of both sides.
    weights : sequence of two ndarray of shape (n_words, 1)
        Observations of the words.
    gradient : sequence of two ndarray of shape (n_words, n_components)
    run : callable
        Maps a function over both sides.

    Notes
    -----
    With ``G_x = rho' W rho``, ``G_y = alpha' V alpha``, X solves ``G_x X + X G_y = E``, where E is
    ``rho' g_rho - (alpha' g_alpha)'`` before.
    """
    sides = list(zip((x, y), weights, gradient, strict=True))
    (a, turn_x, first), (b, turn_y, second) = gathered(run, _looked_at, sides)
    sums = a[:, None] + b
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > _FLAT * sums.max())
    moved = turn_x @ (inverse * (turn_x.T @ (first - second.T) @ turn_y)) @ turn_y.T
    maps = -moved.astype(x.dtype), moved.T.astype(x.dtype)
    gathered(run, _moved_along, [(*side, own) for side, own in zip(sides, maps, strict=True)])


def _looked_at(vectors, weights, gradient):
    """Eigenvalues and vectors of the weighted moments, and moments with the gradient."""
    moments = (vectors.T @ (weights * vectors)).astype(float)
    return *np.linalg.eigh(moments), (vectors.T @ gradient).astype(float)


def _moved_along(vectors, weights, gradient, own):
    step = vectors @ own
    step *= weights
    gradient += step


def _listed_residuals(block, x, y, z, u):
    return _listed(block, False, x, y, z, u)


def _listed_slopes(block, x, y, z, u):
    return _listed(block, True, x, y, z, u)


def _listed(block, bends, x, y, z, u):
    a, b, table = block
    of_rows = np.empty((b - a, z.shape[1]), x.dtype)
    of_columns = np.empty((len(z), u.shape[1]), x.dtype)
    value = listed_products(table, bends, x[a:b], y, z, u[a:b], of_rows, of_columns)
    return of_rows, of_columns, value


def _listed_curvature(block, x, y, dx, dy, observed):
    x, dx, gx, gy = room_for_curvature(block, x, dx, dy)
    listed_curvature(block[2], observed, x, y, dx, dy, gx, gy)
    return gx, gy


def _selected(table, rows, columns):
    """Positive counts of rows and columns of a table of `ProductPairs`, and their factors."""
    indptr, indices, positive, left, right = table
    whole = sparse.csr_array((positive, indices, indptr), (left.size, right.size))
    return whole[rows][:, columns], left[rows], right[columns]


def _turned(selected):
    """What was selected, with columns in the rows."""
    counts, left, right = selected
    return sparse.csr_array(counts.T), right, left


def _compressed(counts):
    """A csr_array as kernels take it."""
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data


class _Clusters(Clusters):
    """`Clusters` of the log density."""

    def add_residuals(self, x, y, z, out):
        """The log likelihood; adds ``R z``."""
        return sum(self.over_rows(_residuals, y, z, x, out)) if z.shape[1] else 0.0

    def add_slopes(self, x, y, z, out):
        """Adds ``S z``, a slope being the mean over its cluster."""
        self.over_rows(_slopes, y, z, x, out)


def _residuals(n, of, x, out):
    mean, sd, turned = logits_of(x, of)
    softplus, first, slope = normal_logistic(mean, sd)
    if of.with_z is not None:
        turned = x @ of.with_z
    out -= (n * first) @ of.mean_z
    subtract_scaled(out, turned, n * slope)
    return -float(np.sum(n * softplus, dtype=float))


def _slopes(n, of, x, out):
    mean, sd, _ = logits_of(x, of)
    out += (n * normal_logistic(mean, sd)[2]) @ of.mean_z

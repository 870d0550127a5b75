r"""Minus the Hessian of the skip-gram log posterior where rare words meet by clusters of contexts.

It stands in for the exact one, products with which take far longer, where linear systems are
solved. Of the negative observations of two rare words, ``n-_ij = l_i r_j``, the slope of a pair is
taken for ``f_i s_ic h_j``: s the mean over the cluster c of its context (`clustered`), f and h such
that the slopes of each word have the sum that they have. Its probability is taken for ``o_ic + s_ic
t_ij``, the line through the mean. Products then are sums over clusters of matrices of components:
without residuals, that of a target is

    l_i f_i sum_c s_ic (M_c drho_i + N_c rho_i),   M_c = sum_j r_j h_j alpha_j alpha_j',
                                                   N_c = sum_j r_j h_j alpha_j dalpha_j',

and that of a context in c ``r_j h_j (P_c dalpha_j + S_c alpha_j)``, with ``P_c = sum_i l_i f_i s_ic
rho_i rho_i'`` and ``S_c = sum_i l_i f_i s_ic rho_i drho_i'``.

Where both sides move together the posterior may be soft, by a small difference of large numbers: so
residuals have to be right along such directions. With E what the residuals by clusters lack, ``E P
+ Q E - Q E P`` is added to them, P and Q being weighted projections on directions B of contexts and
C of targets. These are the vectors themselves, with which products along maps of the components
are exact, and the singular vectors of the residuals (`preconditioner`). On Wikipedia (20,000 words,
100 components) the residuals' part of the softest bends was twice as large without, and within
.1 % with it; slopes leave these bends off by 1 % of what they are a difference of.
"""

from __future__ import annotations

import numpy as np

from ..inference.threads import gathered
from .clusters import logits_of, normal_logistic

# Rows that see all clusters at a time; rounds in which sums of slopes are made right; and squared
# lengths of sums of directions, made equally long, that are as good as none.
_ROWS, _ROUNDS, _FLAT = 1024, 3, 1e-6


class ClusteredCurvature:
    """Products with minus the Hessian of a log posterior, exact or by clusters.

    Words are in the order of the residuals.

    Parameters
    ----------
    residuals : ClusteredResiduals
        Whose clusters are those of the point.
    point : ndarray of float32 of shape (2, n_words, n_components)
    tau : ndarray of shape (n_components,)
        The prior's precision.
    soft : pair of ndarray of float32 of shape (n_words, n)
        Directions of targets and of contexts that residuals are to be right along.
    run : callable
        Maps a function over blocks of work.
    """

    def __init__(self, residuals, point, tau, soft, run):
        self._run, self._residuals = run, residuals
        self._point, self._tau = point, tau.astype(np.float32)
        x, y = (side[residuals.rare] for side in point)
        clusters = residuals.of_rare_contexts
        self._members, own = clusters.members, clusters.own[:, None]
        self._factor = clusters.factor[:, None]
        of = clusters.moments(y, y)
        lines = gathered(run, _line, ((x[some], of) for (some,) in _runs(x)))
        slopes, offsets = (np.concatenate(part) for part in zip(*lines, strict=True))
        self._slopes, self._offsets = own * slopes, own * offsets
        self._scale(x, y)
        self._seen = self._outer_of_columns(y, self._heights, y)
        self._met = self._outer_of_rows(x, self._tilted, x)
        self._added = self._lacking(x, y, own, [s[residuals.rare] for s in soft])

    def _scale(self, x, y):
        """Slopes with the sums over each word that they have."""
        ones = np.ones((len(x), 1), np.float32)
        of_rows, of_columns = np.empty_like(ones), np.empty_like(ones)
        self._residuals.negatives.slopes(x, y, ones, ones, of_rows, of_columns)
        self._heights, widths = self._factor.copy(), ones
        for _ in range(_ROUNDS):
            sums = np.stack([self._heights[m].sum() for m in self._members])
            widths = _ratio(of_rows, (self._slopes @ sums)[:, None])
            sums = widths[:, 0] @ self._slopes
            for m, total in zip(self._members, sums, strict=True):
                self._heights[m] = _ratio(of_columns[m], total)
        self._tilted = widths * self._slopes

    def _lacking(self, x, y, own, soft):
        """Factors of what is added to the residuals."""
        left, right = np.hstack([x, soft[0]]), np.hstack([y, soft[1]])
        of_rows, of_columns = np.empty_like(right), np.empty_like(left)
        self._residuals.negatives.residuals(x, y, right, left, of_rows, of_columns)
        rough_rows, rough_columns = self._by_clusters(x, y, right, left)
        of_rows -= rough_rows
        of_columns -= rough_columns
        basis, dual = _dual(right, self._factor)
        base, twin = _dual(left, own)
        rows, columns = of_rows @ basis, of_columns @ base
        columns -= dual @ (rows.T @ (left @ base))
        return rows, dual, twin, columns

    def _outer_of_columns(self, y, weights, others):
        tasks = [(y[m], weights[m], others[m]) for m in self._members]
        return np.stack(gathered(self._run, _outer, tasks))

    def _outer_of_rows(self, x, weights, others):
        tasks = [(x, w[:, None], others) for w in weights.T]
        return np.stack(gathered(self._run, _outer, tasks))

    def product(self, directions, observed=True, exact=False):
        """H times directions, both float32 of shape (m, 2, n_words, n_components).

        Parameters
        ----------
        directions : ndarray
        observed : bool
            Whether H is that of the data, or that which is expected, without residuals.
        exact : bool
            Whether without clusters.
        """
        f, r, of = self._residuals.frequent, self._residuals.rare, self._residuals
        out = np.empty_like(directions)
        (x, y), (gx, gy) = self._point, (out[:, 0], out[:, 1])
        dx, dy = (np.ascontiguousarray(directions[:, side]) for side in (0, 1))
        many_x, many_y, few_x, few_y = (
            np.ascontiguousarray(d[:, part]) for part in (r, f) for d in (dx, dy)
        )
        some = np.empty_like(few_y)
        of.of_frequent.curvature(y, x[f], dy, few_x, observed, gy, gx[:, f])
        of.with_frequent.curvature(x[r], y[f], many_x, few_y, observed, gx[:, r], some)
        gy[:, f] += some
        x, y, dx, dy = x[r], y[r], many_x, many_y
        mine, others = np.empty_like(dx), np.empty_like(dy)
        for pairs in (of.seen, of.negatives) if exact else (of.seen,):
            pairs.curvature(x, y, dx, dy, observed, mine, others)
            gx[:, r] += mine
            gy[:, r] += others
        if not exact:
            for one in zip(dx, dy, gx[:, r], gy[:, r], strict=True):
                self._add(x, y, *one, observed)
        out += self._tau * directions
        return out

    def _add(self, x, y, dx, dy, gx, gy, observed):
        """Add the negative observations of rare words, by clusters."""
        moved = self._outer_of_columns(y, self._heights, dy)
        turned = self._outer_of_rows(x, self._tilted, dx)
        # rows are multiplied from the right
        both = np.concatenate([self._seen, np.swapaxes(moved, 1, 2)], axis=1)

        def rows(some):
            given, out = np.hstack([dx[some], x[some]]), gx[some]
            for slope, matrix in zip(self._tilted.T, both, strict=True):
                out += slope[some, None] * (given @ matrix)

        def columns(members, met, turn):
            found = dy[members] @ met + y[members] @ turn.T
            gy[members] += self._heights[members] * found

        self._run(rows, _runs(x))
        self._run(columns, list(zip(self._members, self._met, turned, strict=True)))
        if observed:
            of_rows, of_columns = self._residual_products(x, y, dy, dx)
            gx -= of_rows
            gy -= of_columns

    def _residual_products(self, x, y, z, u):
        """`_by_clusters`, with what is added."""
        rz, ru = self._by_clusters(x, y, z, u)
        lacking, dual, twin, others = self._added
        rz += lacking @ (dual.T @ z) + twin @ (others.T @ z)
        ru += dual @ (lacking.T @ u) + others @ (twin.T @ u)
        return rz, ru

    def _by_clusters(self, x, y, z, u):
        """Residuals by clusters times ``z`` of contexts, and theirs turned times ``u``."""
        # contexts without negative observations are in no cluster
        rz, ru = np.empty_like(z), np.zeros_like(u)
        of_columns = self._outer_of_columns(y, self._factor, z)
        sums = np.concatenate([self._factor[m].T @ z[m] for m in self._members])
        of_rows = self._outer_of_rows(x, self._slopes, u)
        apart = self._offsets.T @ u

        def rows(some):
            out = self._offsets[some] @ sums
            for slope, matrix in zip(self._slopes.T, of_columns, strict=True):
                out += slope[some, None] * (x[some] @ matrix)
            np.negative(out, out=rz[some])

        def columns(members, matrix, one):
            ru[members] = -self._factor[members] * (y[members] @ matrix + one)

        self._run(rows, _runs(x))
        self._run(columns, list(zip(self._members, of_rows, apart, strict=True)))
        return rz, ru


def _runs(x):
    return [(slice(i, i + _ROWS),) for i in range(0, len(x), _ROWS)]


def _outer(vectors, weights, others):
    """``sum_i w_i v_i u_i'``, with weights in a column."""
    return vectors.T @ (weights * others)


def _line(x, of):
    """Slopes of the probabilities of rows with clusters, and what these are at logits of zero."""
    mean, sd, _ = logits_of(x, of)
    _, first, slope = normal_logistic(mean, sd)
    return slope, first - slope * mean


def _ratio(above, below):
    """Zero where ``below`` is, as of words without pairs."""
    below = np.broadcast_to(below, above.shape)
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)


def _dual(vectors, weights):
    """B such that ``vectors @ B`` is orthonormal by weights, and these times the weights."""
    gram = _outer(vectors.astype(float), weights.astype(float), vectors)
    # vectors are far longer than exchanges
    scale = _ratio(np.ones(len(gram)), np.sqrt(np.diag(gram)))
    values, basis = np.linalg.eigh(gram * scale * scale[:, None])
    kept = values > _FLAT * values[-1]
    basis = (scale[:, None] * basis[:, kept] / np.sqrt(values[kept])).astype(vectors.dtype)
    return basis, weights * (vectors @ basis)

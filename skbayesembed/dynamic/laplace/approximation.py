"""The Gaussian at the mode of the dynamic posterior.

The mode is a point of an orbit of rotations, one of all vectors of all periods, along which the
Hessian H is null: along (rho_t A, alpha_t A) with one skew-symmetric A for all periods t. Draws
come from the pseudo-inverse of minus the Hessian: they leave the mode at right angles to the orbit.

For orthonormal tangents T and any E with as many columns and an invertible ``E'T``, the inverse of
``H + E E'`` is a generalized inverse of H, and ``(I - TT') (H + EE')^-1 (I - TT')`` is the
pseudo-inverse. Where it fits, H is factorized: it is block-tridiagonal in time, and E that belongs
to one period leaves it so. Beyond, Lanczos processes see H through its products alone, in the
coordinates of `DynamicDensity`, in which it is near the identity and a rotation of vectors is one
of coordinates: there E is T.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ...common.random import generators, seeds_from
from ...inference.chains import Workers
from ...inference.krylov import KrylovRoot
from ...inference.threads import OneBlasThread
from ...sgns.laplace.orbits import Orbit
from ..model import SIDES, Curvature, by_period, by_side, named
from .block_cholesky import BlockChain
from .rough import RoughSolver

# Draws made at a time, each batch by a generator of its own.
BATCH = {"blocks": 64, "krylov": 8}
# A component of the mode is absent where its vectors are together shorter than this share of the
# longest component's, or than this root mean square: as much as Newton's method leaves of zero.
_ABSENT, _ZERO = 1e-4, 1e-5
# Bytes of Lanczos vectors that a batch of draws keeps.
KEEP = 2**29


class DynamicLaplace:
    """A Gaussian around the mode of a `DynamicModel`.

    Parameters
    ----------
    density : DynamicDensity
    vectors : ndarray of shape (n_periods, 2, n_words, n_components)
        The mode.
    method : {"blocks", "krylov", "rough"}
        The last is for solutions only.

    Attributes
    ----------
    mean : dict of ndarray of shape (n_periods, n_words, n_components)
        The mode, ``rho`` and ``alpha``, in the frame of recorded draws of the model.
    vectors : ndarray of shape (n_periods, 2, n_words, n_components)
        Both sides of it together.
    method : str
        How the covariance is had: from the block Cholesky factor of the Hessian, or from products.
    rank : int
        Of the mode's vectors.
    null_directions : int
        Dimension of the orbit of rotations through the mode.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the Hessian is not negative definite at right angles to the orbit; for "krylov" this
        comes to light in draws.

    Notes
    -----
    Where observations are few, components of the mode are zero in all periods: the prior is a
    nuclear-norm penalty on the logits. The Gaussian of such a component k is proper all the same,
    with the precision ``[[P, -R_t], [-R_t', P]]`` of ``(rho_k, alpha_k)`` over all periods, P the
    prior's and R_t the residuals of a period: at a mode no direction of it is negative, and those
    that are null turn components of the mode into it, which the orbit counts. Intervals are rather
    wide there.
    """

    def __init__(self, density, vectors, method):
        model = density.model
        vectors, self.rank = _without_noise(vectors)
        vectors = np.stack(model.in_frame(vectors[:, 1], vectors[:, 0], vectors[:, 1]), axis=1)
        self.mean, self.method = named(vectors), method
        self._density, self.vectors = density, vectors
        self._orbit = _orbit(vectors)
        self.null_directions = int(self._orbit.dimension)
        self._gaussian = _MAKERS[method](Curvature(density, vectors), self.null_directions)

    def expect(self):
        """Take the expected Hessian in the place of the observed one, for solutions.

        The information of the pairs and the prior's precision: no direction of it is null.
        """
        self._gaussian, curvature = None, Curvature(self._density, self.vectors)
        self._gaussian = _MAKERS[self.method](curvature.expected(), 0)

    def sample(self, n, rng, words=None):
        """Independent draws.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
        words : array of int, optional
            Rows to return; all by default.

        Returns
        -------
        dict of str to ndarray of shape (n, n_periods, n_words, n_components)
            ``rho`` and ``alpha``.
        """
        seeds = seeds_from(rng)
        words = slice(None) if words is None else words
        out = {name: [] for name in SIDES}
        for draws in self.batches(n, seeds):
            for side, name in enumerate(SIDES):
                out[name].append(draws[:, :, side, words])
        return {name: np.concatenate(parts) for name, parts in out.items()}

    def batches(self, n, seeds, n_jobs=None):
        """``n`` draws in batches of shape (m, n_periods, 2, n_words, n_components).

        The same for every number of threads, ``n_jobs``.
        """
        size, jobs = BATCH[self.method], effective_n_jobs(n_jobs)
        starts = range(0, n, size)
        tasks = [
            (min(size, n - start), rng)
            for start, rng in zip(starts, generators(seeds, len(starts)), strict=True)
        ]
        for first in range(0, len(tasks), jobs):
            group = tasks[first : first + jobs]
            made = [np.empty((m, *self.vectors.shape)) for m, _ in group]
            with OneBlasThread(), Workers(min(jobs, len(group))) as run:
                run(self._fill, [(out, rng) for out, (_, rng) in zip(made, group, strict=True)])
            yield from made

    def _fill(self, out, rng):
        out[:] = self._gaussian.draw(len(out), rng)
        self._project(out)
        out += self.vectors

    def at_product(self, told):
        """Call ``told()`` at every product that solutions of ``"rough"`` take."""
        if self.method == "rough":
            self._gaussian.told = told

    def solve(self, rows, tol=None):
        """``H^+`` times vectors (m, n_periods, 2, n_words, n_components), H minus the Hessian.

        Through products to a residual of ``tol``, relative to the row's length in coordinates in
        which H is about the identity (by default as small as the type allows).
        """
        rows = rows.copy()
        self._project(rows)
        found = self._gaussian.solve(rows, tol)
        self._project(found)
        return found

    def _project(self, draws):
        """Take off draws, in place, what they have along the orbit."""
        # of a generalised inverse much may lie along it: once more for the rounding
        turned = by_side(draws)
        for _ in range(2):
            self._orbit.project(turned)
        draws[:] = by_period(turned, draws.shape)

    def facts(self):
        """Facts for ``posterior_.attrs``."""
        return {
            "method": self.method,
            "rank": self.rank,
            "null_directions": self.null_directions,
            **self._gaussian.facts(),
        }


class _Factorised:
    """Draws of a generalized inverse of H from its block Cholesky factor."""

    def __init__(self, curvature, null):
        self._shape = curvature.density.shape
        lift, period = _lift(curvature, null) if null else (None, None)

        def block(t):
            matrix = curvature.block(t)
            if t == period:
                matrix += lift.T @ lift
            return matrix

        self._chain = BlockChain(block, curvature.density.precision.off)

    def draw(self, n, rng):
        """``n`` draws of the shape of the vectors."""
        z = rng.standard_normal((n, self._shape[0], int(np.prod(self._shape[1:]))))
        z = self._chain.root(np.ascontiguousarray(np.moveaxis(z, 0, -1)))
        return np.ascontiguousarray(np.moveaxis(z, -1, 0)).reshape(n, *self._shape)

    def solve(self, rows, tol):
        """A generalized inverse of H times vectors; ``tol`` is not used."""
        b = np.ascontiguousarray(np.moveaxis(rows.reshape(len(rows), self._shape[0], -1), 0, -1))
        b = self._chain.solve(b)
        return np.ascontiguousarray(np.moveaxis(b, -1, 0)).reshape(rows.shape)

    def facts(self):
        """Nothing of note."""
        return {}


class _Products:
    """Draws of a generalized inverse of H from its products in round coordinates."""

    def __init__(self, curvature, null):
        self._curvature, self._density = curvature, curvature.density
        density = self._density
        # without null directions there is none to leave out
        along = density.coordinates(curvature.x).reshape(density.shape)
        self._orbit = _orbit(along) if null else None
        self._root = KrylovRoot(self._product, keep=KEEP)

    def _product(self, rows):
        """H plus the identity along the orbit, times rows."""
        out = self._curvature.product(rows)
        if self._orbit is None:
            return out
        y = by_side(rows.reshape(len(rows), *self._density.shape))
        along = y - self._orbit.project(y.copy())
        out += by_period(along, (len(rows), *self._density.shape)).reshape(rows.shape)
        return out

    def draw(self, n, rng):
        """``n`` draws of the shape of the vectors."""
        rows = self._root.root(rng.standard_normal((n, self._density.n_parameters)))
        return np.array([self._density.vectors(row) for row in rows])

    def solve(self, rows, tol):
        """A generalized inverse of H times vectors."""
        b = np.empty((len(rows), self._density.n_parameters))
        for row, target in zip(rows, b, strict=True):
            self._density.pull_back(row, target)
        return np.array([self._density.vectors(row) for row in self._root.solve(b, tol)])

    def facts(self):
        """Products a draw took and its estimated error."""
        facts = self._root.facts
        if not facts:
            return {}
        return {
            "products": float(np.mean([f["products"] for f in facts])),
            "draw_error": max(f["error"] for f in facts),
        }


_MAKERS = {"blocks": _Factorised, "krylov": _Products, "rough": RoughSolver}


def _orbit(vectors):
    """Tangents of the rotations of all vectors, of shape (n_periods, 2, n_words, K), together."""
    k = vectors.shape[-1]
    return Orbit(by_side(vectors), np.arange(k), np.zeros((0, k, k)))


def _without_noise(vectors):
    """Vectors with exact zeros in place of what Newton's method left of absent components; rank."""
    flat = vectors.reshape(-1, vectors.shape[-1])
    moments, basis = np.linalg.eigh(flat.T @ flat)
    values = np.sqrt(np.maximum(moments, 0.0))
    present = values > max(_ABSENT * values[-1], _ZERO * np.sqrt(len(flat)))
    if not present.all():
        vectors = vectors @ (basis * present) @ basis.T
    return vectors, int(present.sum())


def _lift(curvature, null):
    """Tangents of one period that make H regular, (null, size), and that period.

    Of the scale of the curvature there; the period is the one whose vectors are longest.
    """
    x = curvature.x
    period = int(np.argmax(np.sum(x**2, axis=(1, 2, 3))))
    orbit = _orbit(x[period : period + 1])
    if orbit.dimension != null:
        raise np.linalg.LinAlgError(
            "The vectors at the mode have another rank in one period than in all together: "
            "use solver='gibbs' or solver='hmc', which need no mode."
        )
    tangents = orbit.tangents().reshape(null, x[period].size)
    scale = float(np.mean(curvature.density.precision.diagonal))
    return np.sqrt(scale) * tangents, period

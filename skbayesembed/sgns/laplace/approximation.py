"""The Gaussian around the mode."""

from __future__ import annotations

import threading

import numpy as np
from joblib import effective_n_jobs

from ...common.interruption import tell_of_interruption
from ...common.random import generators, seeds_from
from ...inference.chains import Workers, serial
from ...inference.laplace import apply_blocks, whitening
from ...inference.threads import OneBlasThread
from .curvature import choose_method, gaussian_at, seek_mode
from .hessian import Hessian, free_entries
from .orbits import canonical_frame
from .soft import worthwhile

# Draws made at a time, each batch by a generator of its own: fewer where Lanczos vectors are kept.
_BATCH = {"dense": 64, "schur": 64, "krylov": 8}
NAMES = ("rho", "alpha")


class LaplaceApproximation:
    """A Gaussian around the mode of a skip-gram posterior.

    Attributes
    ----------
    mean : dict of ndarray of shape (n_words, n_components)
        The mode, ``rho`` and ``alpha``. Without anchors it is turned so that some contexts, chosen
        by pivoted QR, are lower triangular with a positive diagonal.
    method : {"dense", "schur", "krylov"}
        How the covariance is had: from the Cholesky factor of the Hessian, of its Schur complement
        on the contexts, or from products with it.
    anchored : bool
    rank : int
        Rank of the mode's context vectors in the components that the prior lets rotate.
    null_directions : int
        Dimension of the orbit of rotations through the mode; draws are at right angles to it.

    Notes
    -----
    Where observations are few, components of the mode are zero, and anchors would fix zeros. There
    the Gaussian is that without anchors. A component k that the mode lacks has the precision
    ``[[lambda I, -R], [-R', lambda I]]`` for ``(rho_k, alpha_k)`` with the residuals R of all
    pairs: proper, since at a mode no singular value of R exceeds lambda, and those that equal it
    are rotations of the components present. So a mode of zero has a Gaussian too, with rather wide
    intervals; anchored at zeros, pairs with an anchored context would have no variance at all.
    """

    def __init__(self, model, vectors, gaussian, method, hessian, orbit=None, rank=None, n_jobs=1):
        self.mean = dict(zip(NAMES, vectors, strict=True))
        self.method = method
        self.anchored = model.anchors is not None
        self.rank = model.n_components if rank is None else rank
        self.null_directions = 0 if orbit is None else orbit.dimension
        self.vectors, self._gaussian, self._hessian = vectors, gaussian, hessian
        self._orbit, self._n_jobs = orbit, n_jobs
        self._covariances = None

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
        dict of str to ndarray of shape (n, n_words, n_components)
            ``rho`` and ``alpha``.
        """
        seeds = seeds_from(rng)
        draws = self.deviations(n, seeds)
        draws += self.vectors
        words = slice(None) if words is None else words
        return {name: draws[:, side, words] for side, name in enumerate(NAMES)}

    def deviations(self, n, seeds):
        """``n`` draws minus the mean, (n, 2, n_words, K); the same for every number of threads.

        Fewer, with a warning, after Ctrl-C.
        """
        out = np.empty((n, *self.vectors.shape))
        batch = _BATCH[self.method]
        starts = range(0, n, batch)
        rngs = generators(seeds, len(starts))
        done, stopped = np.zeros(n, dtype=bool), threading.Event()

        def fill(start, rng):
            if stopped.is_set():
                return
            part = out[start : start + batch]
            part[:] = self._gaussian.draw(len(part), rng)
            if self._orbit is not None:
                self._orbit.project(part)
            done[start : start + batch] = True

        with OneBlasThread(), Workers(effective_n_jobs(self._n_jobs)) as run:
            try:
                run(fill, list(zip(starts, rngs, strict=True)))
            except BaseException as error:
                # the other threads end before the limits on theirs are lifted
                stopped.set()
                if not isinstance(error, KeyboardInterrupt) or not done[0]:
                    raise
        if not done.all():
            made = int(np.argmin(done))
            tell_of_interruption(f"Interrupted: the estimator is fitted with {made} of {n} draws.")
            out = out[:made]
        return out

    def covariance(self, name, words):
        """Exact covariance of a word's vector, or of the vectors of several words one by one.

        Parameters
        ----------
        name : {"rho", "alpha"}
        words : int or array-like of int
            Rows of the vocabulary.

        Returns
        -------
        ndarray of shape (..., n_components, n_components)
            One matrix for each of ``words``.

        Notes
        -----
        For ``method="krylov"`` a word costs ``n_components`` solutions of a linear system, by
        conjugate gradients to a relative residual of 1e-8.
        """
        side = _side(name)
        if self.method == "krylov":
            index = np.atleast_1d(np.asarray(words, dtype=int))
            joint = [self.joint_covariance(name, index[i : i + 1]) for i in range(index.size)]
            out = np.array([matrix[0, :, 0] for matrix in joint])
            return out if np.ndim(words) else out[0]
        return self.block_covariances()[side][words]

    def joint_covariance(self, name, words):
        """Joint covariance of the vectors of several words, exact.

        Parameters
        ----------
        name : {"rho", "alpha"}
        words : array-like of int of shape (n,)

        Returns
        -------
        ndarray of shape (n, n_components, n, n_components)

        Notes
        -----
        Costs ``n * n_components`` solutions of a linear system, and as many draws in memory.
        """
        side, words = _side(name), np.asarray(words, dtype=int)
        shape = self.vectors.shape
        size = words.size * shape[2]
        directions = np.zeros((size, *shape))
        place = np.arange(size).reshape(words.size, shape[2])
        for word, rows in zip(words, place, strict=True):
            directions[rows, side, word, np.arange(shape[2])] = 1.0
        with OneBlasThread():
            if self._orbit is not None:
                self._orbit.project(directions)
            columns = self._gaussian.solve(directions)
            if self._orbit is not None:
                self._orbit.project(columns)
        return columns[:, side, words].reshape(words.size, shape[2], words.size, shape[2])

    def block_covariances(self):
        """Covariance of every vector, (2, n_words, K, K); None for ``method="krylov"``."""
        if self._covariances is None and self.method != "krylov":
            with OneBlasThread():
                self._covariances = self._gaussian.block_covariances()
                if self.null_directions:
                    self._project_blocks(self._covariances)
        return self._covariances

    def _project_blocks(self, out):
        """Blocks of ``(I - T T') G (I - T T')`` from those of G, for orthonormal tangents T."""
        tangents = self._orbit.tangents()
        images = self._gaussian.solve(tangents)
        inner = np.tensordot(tangents, images, axes=((1, 2, 3), (1, 2, 3)))
        # T' Y + Y' T - T' Q T by word, with Q = T Y' symmetric
        images -= 0.5 * np.tensordot(inner, tangents, axes=(1, 0))
        t, y = np.moveaxis(tangents, 0, -2), np.moveaxis(images, 0, -2)
        product = np.swapaxes(t, -1, -2) @ y
        out -= product + np.swapaxes(product, -1, -2)

    def estimated_covariances(self, deviations, seeds):
        """Covariance of every vector, (2, n_words, K, K), from draws.

        The covariance of a vector given all others is known, and so is their mean given the others:
        only the covariance of that mean is taken from draws, the smaller part (Sidén, Lindgren,
        Bolin & Villani 2018, simple Rao-Blackwellised Monte Carlo).

        Along an orbit of rotations the draws do not move. They are given an independent normal
        part there, so that all have a precision, ``H + c T T'`` with orthonormal tangents T; what
        it adds to the covariances, ``T T' / c``, is taken off at the end.
        """
        exact = self._hessian.released()
        hessian = exact.single()
        orbit = None if self._orbit is None or not self.null_directions else self._orbit
        out = np.empty((*self.vectors.shape, self.vectors.shape[-1]))
        along = orbit.blocks() if orbit else None
        rngs = generators(seeds, 2 * len(deviations))
        means = np.empty((len(deviations), *self.vectors.shape[1:]), np.float32)
        batches = [slice(a, a + _BATCH["krylov"]) for a in range(0, len(means), _BATCH["krylov"])]

        def fill(side, part, weight, inner):
            draws = deviations[part].astype(np.float32)
            image, draws = hessian.side_product(side, draws), draws[:, side]
            if orbit:
                own = rngs[side * len(means) : (side + 1) * len(means)][part]
                noise = np.array([orbit.noise(rng)[side] for rng in own], np.float32)
                image += np.float32(np.sqrt(weight)) * noise
                draws += noise / np.float32(np.sqrt(weight))
            means[part] = draws - apply_blocks(inner, apply_blocks(inner, image), True)

        with OneBlasThread(), Workers(effective_n_jobs(self._n_jobs)) as run:
            for side in (0, 1):
                inner = exact.blocks(side)
                weight = float(np.mean(np.einsum("wkk->wk", inner)))
                if orbit:
                    inner += weight * along[side]
                inner = whitening(inner).astype(np.float32)
                run(fill, [(side, part, weight, inner) for part in batches])
                for w, block in enumerate(inner):
                    part = means[:, w]
                    out[side, w] = block.T @ block + part.T @ part / len(means)
                    if orbit:
                        out[side, w] -= along[side, w] / weight
        out *= self._hessian_free()
        return out

    def krylov_facts(self):
        """Products a draw took and its estimated error, for ``method="krylov"``."""
        facts = self._gaussian.root.facts if self.method == "krylov" else []
        if not facts:
            return {}
        return {
            "products": float(np.mean([f["products"] for f in facts])),
            "draw_error": max(f["error"] for f in facts),
        }

    def _hessian_free(self):
        free = free_entries(self._hessian.model)
        return free[..., None] & free[..., None, :]


def _side(name):
    if name not in NAMES:
        raise KeyError(f"name must be 'rho' or 'alpha', got {name!r}.")
    return NAMES.index(name)


def approximate(model, arrays, *, method=None, n_jobs=None, max_iter=100, verbose=0):
    """`LaplaceApproximation` around the mode near ``arrays``, and the facts of its search.

    Parameters
    ----------
    model : SGNSModel
        Anchored or not.
    arrays : dict of ndarray
        ``rho`` and ``alpha`` near the mode; anchored contexts at their values.
    method : {"dense", "schur", "krylov"}, optional
        By default the one that `choose_method` names.
    n_jobs : int or None
    max_iter : int
        Most Newton steps.
    verbose : int
        Above zero, one line a Newton step.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    """
    method = choose_method(model) if method is None else method
    orbit = rank = free = None
    with OneBlasThread(), Workers(effective_n_jobs(n_jobs)) as run:
        vectors, facts = seek_mode(model, arrays, run, max_iter=max_iter, verbose=verbose)
        if model.anchors is None:
            vectors, free, orbit, rank = canonical_frame(model, vectors)
            if method == "krylov" and worthwhile(model):
                free = None  # the orbit is dealt with as a whole
        hessian = Hessian(model, vectors, free, run)
        gaussian = gaussian_at(hessian, method)
        if orbit is not None and free is None:
            gaussian.project = orbit.project
        hessian.run = serial
    found = LaplaceApproximation(model, vectors, gaussian, method, hessian, orbit, rank, n_jobs)
    return found, facts

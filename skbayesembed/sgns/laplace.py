"""The Gaussian at the mode (Yrjänäinen et al. 2025, section 3.1), with the right covariance.

The covariance is the inverse of the block of minus the Hessian that belongs to the free parameters:
with anchors, all but their vectors. Where the posterior has no anchors and its prior rotates, the
mode is a point of an orbit of rotations, along which the Hessian is null. Draws then come from the
pseudo-inverse: they leave the mode at right angles to the orbit. They are made by fixing as many
coordinates as the orbit has dimensions (those above the diagonal where the pivot contexts are
turned to be lower triangular), which gives a generalised inverse, and projecting.
"""

from __future__ import annotations

import threading

import numpy as np
from joblib import effective_n_jobs

from ..alerts import warn_user
from ..base import check_memory
from ..inference.chains import Units
from ..inference.laplace import (
    BipartiteGaussian,
    CholeskyRoot,
    KrylovRoot,
    MatrixCross,
    WholeGaussian,
    apply_blocks,
    newton_mode,
    whitening,
)
from ..inference.protocol import Result
from ..inference.threads import OneBlasThread
from ..moments import RunningMoments
from ..random import generators
from .fitting import assemble
from .hessian import Hessian, free_entries, serial
from .orbits import canonical_frame

# Bytes of matrices up to which the Hessian is factorised; beyond, it is seen through products.
FACTOR_BYTES = 2**30
# Draws made at a time, each batch by a generator of its own.
_BATCH = 64
_NAMES = ("rho", "alpha")


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
        self.mean = dict(zip(_NAMES, vectors, strict=True))
        self.method = method
        self.anchored = model.anchors is not None
        self.rank = model.n_components if rank is None else rank
        self.null_directions = 0 if orbit is None else orbit.dimension
        self._vectors, self._gaussian, self._hessian = vectors, gaussian, hessian
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
        seeds = np.random.SeedSequence(rng.integers(2**32, size=4, dtype=np.uint32).tolist())
        draws = self.deviations(n, seeds)
        draws += self._vectors
        words = slice(None) if words is None else words
        return {name: draws[:, side, words] for side, name in enumerate(_NAMES)}

    def deviations(self, n, seeds):
        """``n`` draws minus the mean, (n, 2, n_words, K); the same for every number of threads.

        Fewer, with a warning, after Ctrl-C.
        """
        out = np.empty((n, *self._vectors.shape))
        batch = 1 if self.method == "krylov" else _BATCH
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

        with OneBlasThread(), Units(effective_n_jobs(self._n_jobs)) as units:
            try:
                units(fill, list(zip(starts, rngs, strict=True)))
            except BaseException as error:
                # the other threads end before the limits on theirs are lifted
                stopped.set()
                if not isinstance(error, KeyboardInterrupt) or not done[0]:
                    raise
        if not done.all():
            made = int(np.argmin(done))
            warn_user(
                f"Interrupted: the estimator is fitted with {made} of {n} draws.", RuntimeWarning
            )
            out = out[:made]
        return out

    def covariance(self, name, words):
        """Covariance matrices of the vectors of some words, exact.

        Parameters
        ----------
        name : {"rho", "alpha"}
        words : int or array-like of int of shape (n,)
            Rows of the vocabulary.

        Returns
        -------
        ndarray of shape (n_components, n_components), or (n, n_components, n_components)

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
        shape = self._vectors.shape
        size = words.size * shape[2]
        units = np.zeros((size, *shape))
        place = np.arange(size).reshape(words.size, shape[2])
        for word, rows in zip(words, place, strict=True):
            units[rows, side, word, np.arange(shape[2])] = 1.0
        with OneBlasThread():
            if self._orbit is not None:
                self._orbit.project(units)
            columns = self._gaussian.solve(units)
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
        hessian = Hessian(self._hessian.model, self._vectors)
        orbit = None if self._orbit is None or not self.null_directions else self._orbit
        out = np.empty((*self._vectors.shape, self._vectors.shape[-1]))
        along = orbit.blocks() if orbit else None
        rngs = iter(generators(seeds, 2 * len(deviations)))
        means = np.empty((len(deviations), *self._vectors.shape[1:]))

        def fill(i, side, weight, inner, rng):
            image, draw = hessian.side_product(side, deviations[i]), deviations[i, side]
            if orbit:
                noise = orbit.noise(rng)[side]
                image, draw = image + np.sqrt(weight) * noise, draw + noise / np.sqrt(weight)
            means[i] = draw - apply_blocks(inner, apply_blocks(inner, image), True)

        with OneBlasThread(), Units(effective_n_jobs(self._n_jobs)) as units:
            for side in (0, 1):
                inner = hessian.blocks(side)
                weight = float(np.mean(np.einsum("wkk->wk", inner)))
                if orbit:
                    inner += weight * along[side]
                whitening(inner)
                units(fill, [(i, side, weight, inner, next(rngs)) for i in range(len(means))])
                for w, block in enumerate(inner):
                    part = means[:, w]
                    out[side, w] = block.T @ block + part.T @ part / len(means)
                    if orbit:
                        out[side, w] -= along[side, w] / weight
        return out * self._hessian_free()

    def krylov_facts(self):
        """Products a draw took and its estimated error, for ``method="krylov"``."""
        facts = getattr(self._gaussian.root, "facts", [])
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
    if name not in _NAMES:
        raise KeyError(f"name must be 'rho' or 'alpha', got {name!r}.")
    return _NAMES.index(name)


def _inverse_blocks(blocks):
    """Inverses of positive definite blocks, which are overwritten, in single precision."""
    out = np.empty(blocks.shape, np.float32)
    for i, w in enumerate(whitening(blocks)):
        out[i] = w.T @ w
    return out


def seek_mode(model, arrays, run=serial, **options):
    """Newton's method from the end of L-BFGS: vectors (2, n_words, K) and the facts of the search.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    """
    free = free_entries(model)
    start = np.stack([arrays[name] for name in _NAMES])
    gradient = np.empty(model.n_parameters)
    inverse = None

    def objective(x):
        # free entries in order are the flat parameters
        value = model.logp_and_grad(x[free], gradient)
        out = np.zeros_like(x)
        out[free] = gradient
        return value, out

    def precondition(g):
        small = g.astype(np.float32)
        parts = [apply_blocks(d, v) for d, v in zip(inverse, small, strict=True)]
        return np.stack(parts).astype(np.float64) * free

    def curvature(x):
        nonlocal inverse
        hessian = Hessian(model, x, free, run)
        if inverse is None:
            # those of the start will do, and in single precision: they only precondition
            inverse = [_inverse_blocks(hessian.blocks(side)) for side in (0, 1)]
        return hessian.product, precondition

    vectors, facts = newton_mode(objective, curvature, start, **options)
    if not facts["converged"]:
        raise np.linalg.LinAlgError(
            f"Newton's method did not reach the mode in {facts['newton_steps']} steps from where "
            "L-BFGS ended, so there is no Gaussian around it. Raise max_iter or lower tol so that "
            "L-BFGS gets nearer, or use solver='gibbs' or solver='hmc'."
        )
    return vectors, facts


def choose_method(model):
    """How the Hessian is dealt with: ``"schur"``, ``"dense"`` (coupled words) or ``"krylov"``."""
    side = model.n_words * model.n_components
    if model.prior.coupled:
        return "dense" if 8 * (2 * side) ** 2 <= FACTOR_BYTES else "krylov"
    return "schur" if 2 * 8 * side**2 <= FACTOR_BYTES else "krylov"


def _bytes_needed(model, method):
    """Rough peak of memory: matrices of the Hessian, or blocks a word beside Lanczos vectors."""
    side, k = model.n_words * model.n_components, model.n_components
    blocks = 8 * side * k
    if method == "krylov":
        return 8 * blocks + 2**30
    return 4 * blocks + 8 * (4 * side**2 if method == "schur" else 3 * (2 * side) ** 2)


def gaussian_at(hessian, method):
    """N(0, H^-1) over the free entries of a `Hessian`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If H is not positive definite; for ``"krylov"`` when this comes to light in draws.
    """
    free = hessian.free
    if method == "dense":
        return WholeGaussian(CholeskyRoot(hessian.matrix()), free)
    blocks = [whitening(hessian.blocks(side)) for side in (0, 1)]
    if method == "schur":
        cross = MatrixCross(_whitened_cross(hessian, blocks))
        return BipartiteGaussian(blocks, cross, CholeskyRoot(cross.schur()), free)
    whitened = WhitenedHessian(hessian, blocks)
    if hessian.prior.coupled:
        return WholeGaussian(KrylovRoot(whitened.product, free.shape), free, blocks)
    return BipartiteGaussian(blocks, whitened, KrylovRoot(whitened.schur, free.shape[1:]), free)


class WhitenedHessian:
    """Products with ``W H W'``, which has identity blocks on its diagonal where words uncouple.

    Parameters
    ----------
    hessian : Hessian
    blocks : list of two ndarray of shape (n_words, K, K)
        W of each side.
    """

    def __init__(self, hessian, blocks):
        self.hessian, self.blocks = hessian, blocks

    def product(self, y):
        """The whole times (2, n_words, K)."""
        x = np.stack([apply_blocks(w, v, True) for w, v in zip(self.blocks, y, strict=True)])
        x = self.hessian.product(x)
        out = np.stack([apply_blocks(w, v) for w, v in zip(self.blocks, x, strict=True)])
        return out + np.where(self.hessian.free, 0.0, y)

    def across(self, side, y):
        """The cross block B (side 0) or B' (side 1) times the other side's (n_words, K)."""
        y = apply_blocks(self.blocks[1 - side], y, True)
        return apply_blocks(self.blocks[side], self.hessian.cross(side, y))

    def schur(self, y):
        """``I - B'B`` times (n_words, K)."""
        return y - self.across(1, self.across(0, y))

    def forward(self, second):
        """Rows of the second side times B."""
        return self._rows(0, second)

    def backward(self, first):
        """Rows of the first side times B'."""
        return self._rows(1, first)

    def _rows(self, side, rows):
        shape = self.hessian.free.shape[1:]
        return np.array([self.across(side, v.reshape(shape)).ravel() for v in rows])


def _whitened_cross(hessian, blocks):
    """``W C W'`` for the cross block C from contexts to targets, (n_words * K, n_words * K)."""
    n_words, k = hessian.x[0].shape
    out = np.empty((n_words, k, n_words, k))
    second = np.ascontiguousarray(blocks[1].transpose(0, 2, 1))
    for word in range(n_words):
        half = (blocks[0][word] @ hessian.cross_row(word).reshape(k, -1)).reshape(k, n_words, k)
        out[word] = np.moveaxis(half.transpose(1, 0, 2) @ second, 0, 1)
    return out.reshape(n_words * k, n_words * k)


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
    with OneBlasThread(), Units(effective_n_jobs(n_jobs)) as units:
        vectors, facts = seek_mode(model, arrays, units, max_iter=max_iter, verbose=verbose)
        if model.anchors is None:
            vectors, free, orbit, rank = canonical_frame(model, vectors)
        hessian = Hessian(model, vectors, free, units)
        gaussian = gaussian_at(hessian, method)
        hessian.run = serial
    found = LaplaceApproximation(model, vectors, gaussian, method, hessian, orbit, rank, n_jobs)
    return found, facts


def laplace_posterior(estimator, model, mode, anchors, words, settings, seeds):
    """Approximate the posterior by the Gaussian at its mode; returns a `Posterior`.

    One chain of independent draws, those that are recorded. Means are the mode. Covariances of
    vectors are exact where the Hessian was factorised; for ``attrs["method"] == "krylov"`` they are
    estimated from the draws.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    MemoryError
        If the Gaussian would not fit.
    """
    if anchors is not None:
        model = model.anchored(anchors, mode.arrays["alpha"][anchors])
    method = choose_method(model)
    check_memory(
        _bytes_needed(model, method),
        f"The Gaussian around the mode of {model.n_words} words",
        "Use fewer n_components, a smaller max_features or a larger min_count.",
    )
    found, facts = approximate(
        model, mode.arrays, method=method, n_jobs=estimator.n_jobs, verbose=estimator.verbose
    )
    draw_seeds, moment_seeds = seeds.spawn(2)
    draws = found.deviations(settings.recorded, draw_seeds)
    covariances = found.block_covariances()
    exact = covariances is not None
    if not exact:
        covariances = found.estimated_covariances(draws, moment_seeds)
    draws += found._vectors
    named = {name: draws[None, :, side] for side, name in enumerate(_NAMES)}
    for name, index in (settings.rows or {}).items():
        named[f"{name}_rows"] = named[name][:, :, index]
    moments = {
        name: RunningMoments.known(found.mean[name], covariances[side], count=max(2, len(draws)))
        for side, name in enumerate(_NAMES)
    }
    attrs = {
        "method": found.method,
        "anchored": found.anchored,
        "rank": found.rank,
        "null_directions": found.null_directions,
        "moments": "exact" if exact else "estimated",
        "draws_made": len(draws),
        "stride": 1,
        "interrupted": len(draws) < settings.recorded,
        "mode_converged": facts["converged"],
        "newton_steps": facts["newton_steps"],
        "decrement": facts["decrement"],
        **found.krylov_facts(),
    }
    result = Result(named, moments=moments)
    posterior = assemble(estimator, result, words, settings, attrs)
    posterior.approximation = found
    return posterior

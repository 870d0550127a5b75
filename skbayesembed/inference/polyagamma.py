"""Polya-Gamma draws for arrays of shapes and tilts.

PG(h, z) is the law of sum_k c_k g_k with g_k ~ Gamma(h, 1) independent and
c_k = 1 / (2 pi^2 ((k - 1/2)^2 + z^2 / (4 pi^2))), k = 1, 2, ... (Polson, Scott & Windle 2013,
*Bayesian inference for logistic models using Polya-Gamma latent variables*, eq. 1). It is even in
z, and PG(a, z) + PG(b, z) = PG(a + b, z).

How a draw is made depends on h and on e = h log(1 + exp(-abs(z))). *The package* is
`polyagamma`, of which the method ``devroye`` is used.

========================== ============================================== =====================
where                      how                                            error
========================== ============================================== =====================
h < 1                      rejection from an inverse Gaussian             exact
1 <= h < 4, abs(z) < 1.25  ``devroye`` for the integer part of h,         exact
                           plus rejection for the fraction
1 <= h < 4, abs(z) >= 1.25 rejection                                      exact
h >= 4, e <= 1             rejection                                      exact
h >= 4, e > 1              two gammas and a constant                      distance 3.1e-6 or less
========================== ============================================== =====================

*Rejection.* The inverse Gaussian with mean h / (2 z) and shape h^2 / 4 is the law of a PG(h, z)
variable plus an independent compound Poisson variable of rate e. To see this, compare their Levy
densities. That of the inverse Gaussian is h exp(-z^2 x / 2) / x times 1 / (2 sqrt(2 pi x)); that of
PG(h, z) is the same first factor times sum_k exp(-2 pi^2 (k - 1/2)^2 x). By the theta identity this
sum is 1 / (2 sqrt(2 pi x)) times 1 + 2 sum_n (-1)^n exp(-n^2 / (2 x)), hence smaller, and the
difference of the two Levy densities has total mass e. The Polya-Gamma density is therefore at most
exp(e) times the proposal's, for every real h, and a proposal is accepted with probability exp(-e)
on average. The ratio of the densities is the alternating series of Polson, Scott & Windle, whose
partial sums bracket it.

*Two gammas.* The draw is b h + s_1 Gamma(a_1 h) + s_2 Gamma(a_2 h), with b, s and a from the
Gauss-Radau rule of the measure that the sum above integrates over: the first five cumulants are
those of PG(h, z) to rounding error. The largest distance between the two distribution functions
over all z of the region is 3.1e-6 at h = 4, 4.8e-7 at h = 8, 1.2e-7 at h = 20 and 3.8e-8 at h = 50
(characteristic functions inverted numerically, as in the tests of this module).

Of the package's other methods ``alternate`` is biased, ``saddle`` is biased below h = 8, and
``gamma`` takes about a hundred times as long as rejection; the package's default chooses
``alternate`` for some shapes. None of them is used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from polyagamma import random_polyagamma

from . import pg_kernels as kernels

SMALLEST_SHAPE = 1e-30
LARGEST_SHAPE = 1e12


class BlockPlans:
    """Plans of blocks of work, made when first asked for and shared by the threads of all chains.

    Parameters
    ----------
    make : callable
        ``make(side, block)`` returns the plan of a block of a side; it must allow pickling.

    Notes
    -----
    A copy that goes to another process leaves the plans behind and makes its own.
    """

    def __init__(self, make: Callable[[int, int], Any]) -> None:
        self._make = make
        self._plans: dict[tuple[int, int], Any] = {}
        self._lock = threading.Lock()

    def __call__(self, side: int, block: int) -> Any:
        """The plan of a block, made when it is asked for the first time."""
        with self._lock:
            if (side, block) not in self._plans:
                self._plans[side, block] = self._make(side, block)
            return self._plans[side, block]

    def __reduce__(self) -> tuple:
        return BlockPlans, (self._make,)


class PolyaGammaDraws:
    """Draws of Polya-Gamma variables whose shapes are fixed and whose tilts change.

    Parameters
    ----------
    shape : array-like of shape (m,)
        Shapes h, counts of observations, integer or not, between 1e-30 and 1e12.

    Attributes
    ----------
    shape : ndarray of shape (m,)
        The shapes, float64, read-only.

    Raises
    ------
    ValueError
        If `shape` is not one-dimensional or has values that are not finite or out of range.

    Notes
    -----
    Exact where the shape is below 4 or the tilt large; elsewhere the first five cumulants are exact
    and the distribution function is within 3.1e-6: see the table at the head of this module.
    Drawing does not change the object: threads may share it if each has its own generator and
    output array. The interpreter lock is released.

    Examples
    --------
    >>> import numpy as np
    >>> draws = PolyaGammaDraws([1.0, 0.25, 60.0])
    >>> draws.draw(np.zeros(3), np.random.default_rng(0)).shape
    (3,)
    """

    def __init__(self, shape: ArrayLike) -> None:
        shape = np.array(shape, dtype=np.float64, order="C")
        if shape.ndim != 1:
            raise ValueError(f"shape must be one-dimensional, got {shape.ndim} dimensions.")
        bad = ~((shape >= SMALLEST_SHAPE) & (shape <= LARGEST_SHAPE))
        if bad.any():
            raise ValueError(
                f"shape must be finite, at least {SMALLEST_SHAPE:g} and at most {LARGEST_SHAPE:g}, "
                f"got {shape[bad][0]!r} at position {int(np.flatnonzero(bad)[0])}: shapes are "
                "counts."
            )
        self.shape = shape
        self._index = np.flatnonzero((shape >= 1.0) & (shape < kernels.EXACT_BELOW))
        self._whole = np.floor(shape[self._index])
        for array in (self.shape, self._index, self._whole):
            array.setflags(write=False)

    def __len__(self) -> int:
        return self.shape.shape[0]

    def draw(
        self, z: ArrayLike, rng: np.random.Generator, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw PG(shape[i], z[i]) for every i.

        Parameters
        ----------
        z : array-like of shape (m,)
            Tilts, of either sign. Where a tilt is not finite (or beyond 1e100) the draw is NaN.
        rng : numpy.random.Generator
            Source of randomness; one per thread.
        out : ndarray of shape (m,), optional
            Contiguous float64 array that receives the draws; may be `z` itself.

        Returns
        -------
        out : ndarray of shape (m,)
            Draws, at least 1e-300.

        Raises
        ------
        TypeError
            If `rng` is not a numpy Generator.
        ValueError
            If `z` or `out` does not have the length of the shapes, or `out` is not contiguous
            float64.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}.")
        z = np.ascontiguousarray(z, dtype=np.float64)
        if z.shape != self.shape.shape:
            raise ValueError(f"z must have shape {self.shape.shape}, got {z.shape}.")
        if out is None:
            out = np.empty_like(self.shape)
        elif out.shape != z.shape or out.dtype != np.float64 or not out.flags.c_contiguous:
            raise ValueError(
                f"out must be a contiguous float64 array of shape {z.shape}, "
                f"got {out.dtype} of shape {out.shape}."
            )
        where, values = self._draw_integer_parts(z, rng)
        kernels.fill(self.shape, z, rng, out)
        if where.size:
            kernels.scatter_add(where, values, out)
        return out

    def _draw_integer_parts(self, z, rng):
        """Positions and draws of the integer parts in 1..3 that are left to the package."""
        size = self._index.shape[0]
        if size == 0:
            return self._index, self._whole
        where = np.empty(size, dtype=np.int64)
        whole, tilts = np.empty(size), np.empty(size)
        n = kernels.gather(self._index, self._whole, z, where, whole, tilts)
        if n:
            random_polyagamma(
                whole[:n],
                tilts[:n],
                out=tilts[:n],
                method="devroye",
                disable_checks=True,
                random_state=rng,
            )
        return where[:n], tilts[:n]

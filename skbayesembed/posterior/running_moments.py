"""Running mean and covariance of arrays of draws, without keeping the draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..common.checks import check_bool, is_whole, listed
from ..common.interruption import undisturbed

# Draws wait in a buffer of about this size, at most so many of them, and are added together: the
# sums of products are far larger than a draw, and pass through memory once per buffer in this way,
# not once per draw.
_BUFFER_BYTES = 2**25
_MOST_BUFFERED = 32
# Words are taken in blocks of so many bytes, whose full matrices stay in the processor's cache.
_BLOCK_BYTES = 2**20


class RunningMoments:
    """Mean and covariance of a stream of equally shaped draws.

    The last axis of a draw holds the components of a vector, and the axes before it count the
    vectors: draws of shape ``(n_words, n_components)`` have one covariance matrix for each word.
    Sums are computed in float64 and around the mean (Chan, Golub & LeVeque 1983, eq. 2.1), so a
    mean far from zero costs no accuracy. `merge` joins the moments of several chains.

    Parameters
    ----------
    shape : tuple of int
        Shape of one draw.
    covariance : bool, default=True
        Whether to keep covariance matrices. Otherwise only variances are kept, in the memory of one
        draw.

    Attributes
    ----------
    shape : tuple of int
        As given.
    keeps_covariance : bool
        As given.

    Raises
    ------
    ValueError
        If ``shape`` is not a tuple of integers >= 0, or is ``()`` while ``covariance=True``.

    Notes
    -----
    Symmetric matrices are stored as lower triangles, in ``4 * n_words * n_components *
    (n_components + 1)`` bytes, plus a buffer of at most 32 MiB (or one draw, if that is larger). A
    draw takes ``n_words * n_components**2`` multiplications, done by batched matrix products.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior import RunningMoments
    >>> moments = RunningMoments(shape=(1, 2))
    >>> for draw in ([[0.0, 1.0]], [[2.0, 1.0]], [[4.0, 4.0]]):
    ...     moments.update(draw)
    >>> moments.count
    3
    >>> moments.mean
    array([[2., 2.]])
    >>> moments.covariance
    array([[[4., 3.],
            [3., 3.]]])
    """

    def __init__(self, shape: int | Sequence[int], covariance: bool = True) -> None:
        given: Any = [shape] if is_whole(shape) else listed(shape)
        if given is None or not all(is_whole(n) and 0 <= n < 2**31 for n in given):
            raise ValueError(f"shape must be a tuple of integers >= 0 and < 2**31, got {shape!r}.")
        shape = tuple(int(n) for n in given)
        check_bool("covariance", covariance)
        if covariance and not shape:
            raise ValueError(
                "shape must have at least one axis with covariance=True, got (); "
                "use covariance=False for scalars."
            )
        self.shape = shape
        self.keeps_covariance = bool(covariance)
        self._k = self.shape[-1] if self.keeps_covariance else 1
        self._rows = int(np.prod(self.shape[:-1] if self.keeps_covariance else self.shape))
        self._count = 0
        self._mean = np.zeros((self._rows, self._k))
        self._sums = np.zeros((self._rows, self._k * (self._k + 1) // 2))
        self._buffer: Any = None
        self._waiting = 0

    @classmethod
    def known(
        cls,
        mean: ArrayLike,
        covariance: ArrayLike | None = None,
        variance: ArrayLike | None = None,
        count: int = 2,
    ) -> Self:
        """Create moments from known values, such as those of an approximation.

        Parameters
        ----------
        mean : ndarray of shape (..., k)
        covariance : ndarray of shape (..., k, k), optional
        variance : ndarray of shape (..., k), optional
            Needed if no covariance is given.
        count : int, default=2
            Number of draws that the moments stand for, at least 2.

        Returns
        -------
        RunningMoments

        Examples
        --------
        >>> from skbayesembed.posterior import RunningMoments
        >>> RunningMoments.known([0.0, 1.0], variance=[1.0, 4.0]).variance.tolist()
        [1.0, 4.0]
        """
        mean = np.asarray(mean, dtype=float)
        moments = cls(mean.shape, covariance=covariance is not None)
        moments._count = count
        moments._mean[:] = mean.reshape(moments._mean.shape)
        if covariance is None:
            moments._sums[:] = np.reshape(np.asarray(variance), moments._sums.shape)
        else:
            matrices = np.reshape(np.asarray(covariance), (-1, moments._k, moments._k))
            for i, start, stop in _triangle(moments._k):
                moments._sums[:, start:stop] = matrices[:, i, : i + 1]
        moments._sums *= count - 1
        return moments

    @property
    def count(self) -> int:
        """Number of draws seen."""
        return self._count + self._waiting

    @property
    def mean(self) -> np.ndarray:
        """Mean of the draws, shape ``shape``; NaN before the first."""
        self._flush()
        mean = self._mean if self._count else np.full_like(self._mean, np.nan)
        return mean.reshape(self.shape).copy()

    @property
    def variance(self) -> np.ndarray:
        """Unbiased variance of every entry, shape ``shape``; NaN before the second draw."""
        self._flush()
        if self._count < 2:
            return np.full(self.shape, np.nan)
        diagonal = np.cumsum(np.arange(1, self._k + 1)) - 1
        return (self._sums[:, diagonal] / (self._count - 1)).reshape(self.shape)

    @property
    def covariance(self) -> np.ndarray:
        """Unbiased covariance matrices, shape ``(*shape, shape[-1])``; NaN before the second draw.

        Raises
        ------
        ValueError
            If only variances are kept.
        """
        if not self.keeps_covariance:
            raise ValueError("These moments were made with covariance=False: use .variance.")
        self._flush()
        k = self._k
        out = np.full((self._rows, k, k), np.nan)
        if self._count >= 2:
            for i, start, stop in _triangle(k):
                np.divide(self._sums[:, start:stop], self._count - 1, out=out[:, i, : i + 1])
                out[:, : i + 1, i] = out[:, i, : i + 1]
        return out.reshape(*self.shape, k)

    def update(self, x: ArrayLike) -> None:
        """Add one draw.

        Parameters
        ----------
        x : array-like of shape ``shape``

        Raises
        ------
        ValueError
            If ``x`` has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed.posterior.running_moments import RunningMoments
        >>> moments = RunningMoments((2,))
        >>> for draw in np.eye(2):
        ...     moments.update(draw)
        >>> moments.mean.tolist()
        [0.5, 0.5]
        """
        x = np.asarray(x)
        if x.shape != self.shape:
            raise ValueError(f"x must have shape {self.shape}, got {x.shape}.")
        if self._buffer is None or len(self._buffer) == self._waiting:
            self._enlarge()
        self._buffer[self._waiting] = x.reshape(self._rows, self._k)
        self._waiting += 1
        if self._waiting == len(self._buffer):
            self._flush()

    def update_many(self, x: ArrayLike) -> None:
        """Add draws stacked along the first axis.

        Parameters
        ----------
        x : array-like of shape ``(n_draws, ...)``

        Raises
        ------
        ValueError
            If ``x`` has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed.posterior import RunningMoments
        >>> moments = RunningMoments((2,), covariance=False)
        >>> moments.update_many(np.array([[0.0, 1.0], [2.0, 1.0]]))
        >>> moments.mean.tolist()
        [1.0, 1.0]
        """
        x = np.asarray(x)
        if x.ndim == 0 or x.shape[1:] != self.shape:
            raise ValueError(f"x must have shape (n_draws, *{self.shape}), got {x.shape}.")
        self._flush()
        step = min(max(_BUFFER_BYTES // max(8 * self._rows * self._k, 1), 1), 1024)
        for start in range(0, len(x), step):
            part = x[start : start + step]
            self._absorb(part.reshape(len(part), self._rows, self._k))

    def merge(self, other: RunningMoments) -> Self:
        """Add the draws that another `RunningMoments` has seen.

        Parameters
        ----------
        other : RunningMoments
            Has the same shape, and keeps covariances or not, like this one. It is not changed.

        Returns
        -------
        RunningMoments
            ``self``, now over both sets of draws.

        Raises
        ------
        ValueError
            If shapes differ, or one keeps covariances and the other does not.
        TypeError
            If ``other`` is not a `RunningMoments`.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed.posterior import RunningMoments
        >>> one, other = (RunningMoments(shape=2, covariance=False) for _ in range(2))
        >>> one.update(np.array([0.0, 1.0])), other.update(np.array([2.0, 1.0]))
        (None, None)
        >>> one.merge(other).mean
        array([1., 1.])
        """
        if not isinstance(other, RunningMoments):
            raise TypeError(f"other must be a RunningMoments, got {type(other).__name__}.")
        mine, theirs = (self.shape, self.keeps_covariance), (other.shape, other.keeps_covariance)
        if mine != theirs:
            raise ValueError(
                "other must have the same shape and covariance, "
                f"{mine[0]} and {mine[1]}, got {theirs[0]} and {theirs[1]}."
            )
        self._flush()
        other._flush()
        if not self._count:
            self._mean[:] = other._mean
        if other._count:
            with np.errstate(all="ignore"):  # infinities become NaN, silently
                n, total = other._count, self._count + other._count
                delta = other._mean - self._mean
                self._sums += other._sums
                weight = np.sqrt(self._count * (n / total))
                for words in self._blocks(1):
                    self._add_products(words, (weight * delta[words])[:, None])
                self._mean += delta * (n / total)
            self._count = total
        return self

    def _enlarge(self):
        """Make the buffer, or give one that was stored with what waited in it its length."""
        size = max(8 * self._rows * self._k, 1)
        length = min(max(_BUFFER_BYTES // size, 1), _MOST_BUFFERED)
        waiting, self._buffer = self._buffer, np.empty((length, self._rows, self._k))
        if waiting is not None:
            self._buffer[: self._waiting] = waiting

    def _flush(self):
        """Add the draws that wait in the buffer, all of them or none."""
        if self._waiting:
            with undisturbed():
                waiting, self._waiting = self._waiting, 0
                self._absorb(self._buffer[:waiting])

    def _absorb(self, block):
        """Add draws (n, rows, k).

        The products added are those of their deviations from their own mean, and that of one
        deviation that stands for the distance of the two means.
        """
        n, k = len(block), self._k
        total = self._count + n
        weight = np.sqrt(self._count * (n / total))
        with np.errstate(all="ignore"):  # infinities become NaN, silently
            for words in self._blocks(n + 1):
                # relative to a value that is there already, so that entries that never change
                # keep their value and a variance of zero exactly
                pivot = self._mean[words] if self._count else block[0, words].astype(np.float64)
                deviations = np.empty((len(pivot), n + 1, k))
                own = deviations[:, :n]
                np.subtract(block[:, words].transpose(1, 0, 2), pivot[:, None], out=own)
                delta = own.mean(axis=1)
                own -= delta[:, None]
                deviations[:, n] = weight * delta
                self._add_products(words, deviations)
                self._mean[words] = pivot + delta * (n / total)
        self._count = total

    def _blocks(self, n):
        """Slices of words, so that ``n`` deviations of each and their products fit a block."""
        step = max(1, _BLOCK_BYTES // (8 * max(self._k**2, n * self._k, 1)))
        return (slice(start, start + step) for start in range(0, self._rows, step))

    def _add_products(self, words, deviations):
        """Add the products of deviations (rows, n, k), summed over n, to the triangles."""
        if self._k == 1:
            self._sums[words, 0] += np.einsum("wnk,wnk->w", deviations, deviations)
            return
        products = np.matmul(deviations.transpose(0, 2, 1), deviations)
        sums = self._sums[words]
        for i, low, high in _triangle(self._k):
            sums[:, low:high] += products[:, i, : i + 1]

    def _arrays(self):
        """All that is known, as arrays by name, to be read by `_from_arrays`."""
        self._flush()
        return {"mean": self._mean.reshape(self.shape), "sums": self._sums}

    @classmethod
    def _from_arrays(cls, count, covariance, arrays):
        moments = cls(arrays["mean"].shape, covariance=covariance)
        if arrays["sums"].shape != moments._sums.shape:
            raise ValueError("the sums of products do not fit the mean")
        moments._count = int(count)
        moments._mean[:] = arrays["mean"].reshape(moments._mean.shape)
        moments._sums[:] = arrays["sums"]
        return moments

    def __getstate__(self):
        # draws that wait go on waiting: sums by other blocks would have other last digits
        waiting = self._buffer[: self._waiting] if self._waiting else None
        return {**self.__dict__, "_buffer": waiting}

    def __repr__(self) -> str:
        kept = "" if self.keeps_covariance else ", covariance=False"
        return f"RunningMoments(shape={self.shape}{kept}), count={self.count}"


def _triangle(k):
    """Rows of a packed lower triangle: (row, start, stop)."""
    start = 0
    for i in range(k):
        yield i, start, start + i + 1
        start += i + 1


def check_moments(
    moments: Mapping[str, RunningMoments] | None, draws: Mapping[str, np.ndarray]
) -> dict[str, RunningMoments]:
    """Dict of `RunningMoments`; a ValueError unless shapes are those of draws of the same name."""
    if moments is not None and not isinstance(moments, Mapping):
        raise ValueError(f"moments must be a mapping, got {type(moments).__name__}.")
    out = dict(moments or {})
    for name, m in out.items():
        if not isinstance(m, RunningMoments):
            raise ValueError(f"moments[{name!r}] must be a RunningMoments, got {type(m).__name__}.")
        if name in draws and m.shape != draws[name].shape[2:]:
            raise ValueError(
                f"moments[{name!r}] must have the shape of the draws, {draws[name].shape[2:]}, "
                f"got {m.shape}."
            )
    return out

"""Normal-inverse-Wishart distributions of topics, one or a stack of them.

A topic has a mean mu and a covariance Sigma with

    Sigma ~ IW(nu, Psi),   mu | Sigma ~ N(m, Sigma / kappa).

The likelihood N(v; mu, Sigma)^tau of a word vector is conjugate for every power tau: it adds tau
instead of one to kappa and nu. Weights (tau times tokens) may therefore be fractions everywhere.
Word tables are (n_words, n_topics), and all K topics of one come from one matrix product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtri
from scipy.special import gammaln, multigammaln

from ..inference.threads import OneBlasThread, serial
from .niw_kernels import add_squares, root_weighted_rows

# Share of a sphere in the default prior covariance, so that it is definite for any vectors.
_SPHERICAL_SHARE = 0.1
# Words whose products with all topics are in the cache together, and strips of a triangle.
_CHUNK, _STRIPS = 256, 5


@dataclass(frozen=True)
class NIW:
    """Normal-inverse-Wishart distribution, or a stack of them along leading axes.

    Attributes
    ----------
    mean : ndarray of shape (..., E)
    kappa, nu : float or ndarray of shape (...)
        ``kappa`` above 0, ``nu`` above E - 1.
    scale : ndarray of shape (..., E, E)
        Psi, positive definite.
    """

    mean: np.ndarray
    kappa: float | np.ndarray
    nu: float | np.ndarray
    scale: np.ndarray

    @classmethod
    @OneBlasThread()
    def from_vectors(cls, vectors, totals, *, mean=None, kappa=1.0, nu=None, scale=None):
        """A prior whose defaults have the mean and the covariance of the vectors of the corpus.

        Parameters
        ----------
        vectors : ndarray of shape (n_words, E)
        totals : ndarray of shape (n_words,)
            How often each word occurs.
        mean : array of shape (E,), optional
            Mean of the vectors over tokens where None.
        kappa : float, default=1.0
        nu : float, optional
            Above E - 1, or E + 1 without a ``scale``. E + 2 where None, the smallest integer at
            which Sigma has a mean; it is ``scale`` then.
        scale : array of shape (E, E) or float, optional
            A float stands for that multiple of the identity. Where None, (nu - E - 1) times the
            covariance C of the vectors over tokens, a tenth of which is replaced by the sphere of
            the same trace: E[Sigma] = 0.9 C + 0.1 tr(C) / E I (the identity if C = 0).
        """
        e = vectors.shape[1]
        nu = e + 2.0 if nu is None else float(nu)
        share = totals / totals.sum()
        centre = share @ vectors
        mean = centre if mean is None else np.array(mean, dtype=np.float64)
        if scale is None:
            scale = (nu - e - 1) * _default_covariance(vectors - centre, share)
        scale = np.array(scale, dtype=np.float64)
        scale = scale * np.eye(e) if scale.ndim == 0 else scale
        return cls(mean, float(kappa), nu, 0.5 * (scale + scale.T))

    @property
    def n_dims(self):
        """E, the dimension of the vectors."""
        return self.mean.shape[-1]

    def update(self, n, mean, scatter):
        """The posterior after weighted observations.

        Parameters
        ----------
        n : ndarray of shape (...)
            Sums of weights.
        mean : ndarray of shape (..., E)
            Weighted means; without effect where ``n`` is 0.
        scatter : ndarray of shape (..., E, E)
            Weighted sums of (v - mean)(v - mean)'.

        Returns
        -------
        NIW
            kappa + n, nu + n, (kappa m + n mean) / (kappa + n) and
            Psi + scatter + kappa n / (kappa + n) (mean - m)(mean - m)'
            (Ozaki & Kobayashi 2022, eqs. 8-11).
        """
        n = np.asarray(n, dtype=np.float64)
        kappa = self.kappa + n
        shift = mean - self.mean
        between = (self.kappa * n / kappa)[..., None, None] * _outer(shift)
        return NIW(
            self.mean + (n / kappa)[..., None] * shift,
            kappa,
            self.nu + n,
            self.scale + scatter + between,
        )

    def log_normaliser(self):
        """Log integral of the unnormalized density, shape (...).

        E/2 log(2 pi / kappa) + nu E/2 log 2 + log Gamma_E(nu / 2) - nu/2 log |Psi|, the density
        being |Sigma|^(-(nu + E + 2) / 2) exp(-tr(Psi Sigma^-1) / 2 - kappa/2 (mu - m)' Sigma^-1
        (mu - m)).
        """
        e = self.n_dims
        return (
            0.5 * e * np.log(2 * math.pi / np.asarray(self.kappa))
            + 0.5 * e * math.log(2) * np.asarray(self.nu)
            + multigammaln(0.5 * np.asarray(self.nu), e)
            - 0.5 * self.nu * self.log_determinant()
        )

    def log_evidence(self, prior, n):
        """Log marginal likelihood of the observations of weight ``n`` that led to this posterior.

        For tokens of weight tau it is the log integral of the product of the powered densities.
        """
        return (
            self.log_normaliser()
            - prior.log_normaliser()
            - 0.5 * self.n_dims * math.log(2 * math.pi) * n
        )

    def log_determinant(self):
        """log |Psi|, shape (...)."""
        diagonal = np.diagonal(self.cholesky(), axis1=-2, axis2=-1)
        return 2 * np.log(diagonal).sum(axis=-1)

    def cholesky(self):
        """Lower Cholesky factors of Psi; numpy's LinAlgError where it is not definite."""
        return np.linalg.cholesky(self.scale)

    def mean_covariance(self):
        """E[Sigma] = Psi / (nu - E - 1), infinite where nu is not above E + 1."""
        rest = np.asarray(self.nu, dtype=np.float64) - self.n_dims - 1
        with np.errstate(divide="ignore"):
            factor = np.where(rest > 0, 1 / np.maximum(rest, 0), np.inf)
        return self.scale * factor[..., None, None]

    def log_predictive(self, vectors, power=1.0, run=None):
        """Log predictive of one more vector raised to ``power``, for a stack of K.

        Log ratio of the NIW normalizers with and without the vector, times (2 pi)^(-E power / 2):
        a multivariate t density at power 1, no density below.

        Parameters
        ----------
        vectors : ndarray of shape (n_words, E)
        power : float, default=1.0
        run : callable, optional
            As of `squared_distances`.

        Returns
        -------
        ndarray of shape (n_words, K)
        """
        root = self.cholesky()
        distances = squared_distances(vectors, self.mean, lower_inverses(root), run)
        weight = self.kappa * power / (self.kappa + power)
        level = predictive_level(self.kappa, self.nu, self.n_dims, power)
        log_determinant = 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return (
            level - 0.5 * power * log_determinant
            - 0.5 * (self.nu + power) * np.log1p(weight * distances)
        )  # fmt: skip

    def sample(self, rng):
        """One draw of means and covariances for a stack of K.

        Returns
        -------
        Gaussians
        """
        k, e = self.mean.shape
        nu = np.broadcast_to(self.nu, k)
        root = self.cholesky()
        # Bartlett's factor from the last coordinate on: Sigma^-1 = W' W with W lower triangular
        factor = np.tril(rng.standard_normal((k, e, e)), -1)
        degrees = nu[:, None] - np.arange(e)[::-1]
        diagonal = np.sqrt(rng.chisquare(degrees))
        factor[:, np.arange(e), np.arange(e)] = diagonal
        whitener = factor @ lower_inverses(root)
        noise = rng.standard_normal((k, e)) / np.sqrt(np.broadcast_to(self.kappa, k))[:, None]
        spread = lower_inverses(whitener)
        return Gaussians(self.mean + (spread @ noise[..., None])[..., 0], whitener, spread)


@dataclass(frozen=True)
class Gaussians:
    """Means and covariances of K topics.

    Attributes
    ----------
    mean : ndarray of shape (K, E)
    whitener : ndarray of shape (K, E, E)
        Lower triangular W with Sigma^-1 = W' W.
    spread : ndarray of shape (K, E, E)
        W^-1.
    """

    mean: np.ndarray
    whitener: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, mean, covariance):
        """From means (K, E) and covariances (K, E, E)."""
        spread = np.linalg.cholesky(covariance)
        return cls(mean, lower_inverses(spread), spread)

    @property
    def covariance(self):
        """Covariances, ndarray of shape (K, E, E)."""
        return self.spread @ self.spread.swapaxes(1, 2)

    def log_density(self, vectors, run=None):
        """log N(v; mu_k, Sigma_k), ndarray of shape (n_words, K); ``run`` as of the engines.

        Of the precision of the vectors.
        """
        table = squared_distances(vectors, self.mean, self.whitener, run)
        diagonal = np.diagonal(self.whitener, axis1=1, axis2=2)
        level = np.log(diagonal).sum(axis=1) - 0.5 * vectors.shape[1] * math.log(2 * math.pi)
        table *= -0.5
        table += level
        return table


def log_density_table(means, covariances, vectors):
    """log N(v; mu_k, Sigma_k) of means (K, E), covariances (K, E, E): shape (n_words, K)."""
    return Gaussians.of(means, covariances).log_density(vectors)


def predictive_level(kappa, nu, n_dims, power):
    """What does not depend on the vector in the log predictive raised to ``power``.

    E/2 log(kappa / (kappa + power)) + log Gamma_E((nu + power) / 2) - log Gamma_E(nu / 2)
    - E power / 2 log pi.
    """
    kappa, nu = np.asarray(kappa), np.asarray(nu)
    ratio = multigammaln(0.5 * (nu + power), n_dims) - multigammaln(0.5 * nu, n_dims)
    if power == 1.0:  # the same, without the cancellation of large numbers
        ratio = gammaln(0.5 * (nu + 1)) - gammaln(0.5 * (nu + 1 - n_dims))
    return (
        0.5 * n_dims * np.log(kappa / (kappa + power))
        + ratio - 0.5 * n_dims * power * math.log(math.pi)
    )  # fmt: skip


def lower_inverses(roots):
    """Inverses of a stack of lower triangular matrices, lower triangular."""
    out = np.empty_like(roots)
    for one, root in zip(out, roots, strict=True):
        # LAPACK reads columns: the transpose is upper triangular there
        one.T[:] = dtrtri(root.T, lower=0)[0]
    return np.tril(out)


def squared_distances(vectors, centres, whiteners, run=None):
    """|W_k (v - c_k)|^2 for all words and topics, by one product with all W_k stacked.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, E)
    centres : ndarray of shape (K, E)
    whiteners : ndarray of shape (K, E, E)
        Lower triangular.
    run : callable, optional
        Maps a function over a list of argument tuples; it is given blocks of words.

    Returns
    -------
    ndarray of shape (n_words, K)
        Of the precision of the vectors.
    """
    (k, e), dtype = centres.shape, vectors.dtype
    origin = centres.mean(axis=0)
    offset = (whiteners @ (centres - origin)[..., None])[..., 0].astype(dtype)
    origin, whiteners = origin.astype(dtype), whiteners.astype(dtype, copy=False)
    # rows of a triangle have no use for the columns behind them: two fifths of the product
    edges = np.unique(e * np.arange(_STRIPS + 1) // _STRIPS)
    parts = []
    for i, j in zip(edges[:-1], edges[1:], strict=True):
        rows = np.ascontiguousarray(whiteners[:, i:j, :j].reshape(k * (j - i), j))
        parts.append((rows, np.ascontiguousarray(offset[:, i:j])))
    out = np.empty((vectors.shape[0], k), dtype)
    step = _CHUNK * 16
    tasks = [
        (vectors[a : a + step], origin, parts, out[a : a + step])
        for a in range(0, vectors.shape[0], step)
    ]
    (run or serial)(_distances, tasks)
    return out


def _distances(vectors, origin, parts, out):
    k = parts[0][1].shape[0]
    columns = np.ascontiguousarray((vectors - origin).T)
    for a in range(0, len(out), _CHUNK):
        n = min(_CHUNK, len(out) - a)
        total = np.zeros((k, n), out.dtype)
        for rows, offset in parts:
            y = rows @ columns[: rows.shape[1], a : a + n]
            add_squares(y, offset, total)
        out[a : a + n] = total.T


def topic_moments(vectors, weights, run=None):
    """Weighted moments of the vectors for each of K topics, centered at the topic's own mean.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, E)
    weights : ndarray of shape (K, n_words)
        Not negative; words of weight 0 cost nothing.
    run : callable, optional
        Maps a function over a list of argument tuples; it is given topics.

    Returns
    -------
    n : ndarray of shape (K,)
    mean : ndarray of shape (K, E)
        Zero where n is 0.
    scatter : ndarray of shape (K, E, E)
        Sums of weight (v - mean)(v - mean)'.
    """
    k, e = weights.shape[0], vectors.shape[1]
    n, mean, scatter = np.zeros(k), np.zeros((k, e)), np.zeros((k, e, e))
    tasks = [(vectors, weights[i], n[i : i + 1], mean[i], scatter[i]) for i in range(k)]
    (run or serial)(_moments, tasks)
    return n, mean, scatter


def _moments(vectors, weights, n, mean, scatter):
    rows = np.flatnonzero(weights)
    if rows.size == 0:
        return
    weights = np.ascontiguousarray(weights[rows], dtype=np.float64)
    n[0] = weights.sum()
    mean[:] = weights @ vectors[rows] / n[0]
    scaled = np.empty((rows.size, mean.size))
    root_weighted_rows(vectors, rows, weights, mean, scaled)
    # half the work, as numpy sees that it is symmetric, and other threads go on
    np.matmul(scaled.T, scaled, out=scatter)


def _default_covariance(deviations, share):
    e = deviations.shape[1]
    covariance = (share[:, None] * deviations).T @ deviations
    variance = np.trace(covariance) / e
    if not variance > 0:
        return np.eye(e)
    return (1 - _SPHERICAL_SHARE) * covariance + _SPHERICAL_SHARE * variance * np.eye(e)


def _outer(x):
    return x[..., :, None] * x[..., None, :]

"""R-hat, effective sample sizes and Monte Carlo errors of many entries at once.

The definitions are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis
16, and the truncation of autocorrelations that of arviz-stats, which goes entry by entry: on arrays
(entries, chain, draw) the same takes a small part of the time. No entry may be constant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betaincinv, ndtri
from scipy.stats import rankdata

# Probability below one standard deviation under the mean, and below one above it.
_ONE_SD = (0.1586553, 0.8413447)


class Draws:
    """Draws of some entries, with what several diagnostics need of them.

    Parameters
    ----------
    x : ndarray of shape (entries, chain, draw)
        At least 4 draws a chain.
    """

    def __init__(self, x):
        self.x = x
        self.split = halves(x)
        self._ordered = None
        self._ranks = None

    @property
    def ordered(self):
        """Draws of all chains in order, (entries, chain * draw)."""
        if self._ordered is None:
            self._ordered = np.sort(self.x.reshape(len(self.x), -1), axis=1)
        return self._ordered

    @property
    def ranks(self):
        """`normal_scores` of the halves of chains."""
        if self._ranks is None:
            self._ranks = normal_scores(self.split)
        return self._ranks

    def rhat(self):
        """Rank-normalized split R-hat, of the ranks or of the folded ranks: the larger."""
        flat = self.split.reshape(len(self.x), -1)
        middle = np.median(flat, axis=1)[:, None, None]
        folded = normal_scores(np.abs(self.split - middle))
        return np.fmax(_rhat(self.ranks), _rhat(folded))

    def ess_bulk(self):
        """Effective sample size of the center."""
        return effective(self.ranks)

    def ess_tail(self, probs):
        """Effective sample size of the quantiles ``probs``, the smallest."""
        return np.min([self.ess_quantile(prob) for prob in probs], axis=0)

    def ess_quantile(self, prob):
        """Effective sample size of a quantile; ``prob`` a number or one for each entry."""
        return self.ess_below(quantiles(self.ordered, prob))

    def ess_below(self, values):
        """Effective sample size of the shares of draws up to ``values`` (entries,)."""
        return effective(halves((self.x <= values[:, None, None]).astype(float)))

    def ess_mean(self):
        """Effective sample size of the mean."""
        return effective(self.split)

    def ess_sd(self):
        """Effective sample size of the standard deviation."""
        mean = self.x.mean(axis=(1, 2), keepdims=True)
        return effective(halves((self.x - mean) ** 2))

    def ess_mad(self):
        """Effective sample size of the mean absolute deviation from the median."""
        flat = self.x.reshape(len(self.x), -1)
        away = np.abs(flat - np.median(flat, axis=1)[:, None])
        near = (away <= np.median(away, axis=1)[:, None]).reshape(self.x.shape)
        return effective(normal_scores(halves(near.astype(float))))

    def mcse_mean(self):
        """Monte Carlo standard error of the mean."""
        return self.x.std(axis=(1, 2), ddof=1) / np.sqrt(self.ess_mean())

    def mcse_quantile(self, prob):
        """Monte Carlo standard error of a quantile; ``prob`` a number or one for each entry.

        Half the distance of the quantiles at one standard deviation of the share below, which is
        beta distributed.
        """
        ess, n = self.ess_quantile(prob), self.ordered.shape[1]
        low, high = (betaincinv(ess * prob + 1, ess * (1 - prob) + 1, p) * n - 1 for p in _ONE_SD)
        low = np.floor(np.maximum(low, 0)).astype(int)
        high = np.ceil(np.minimum(high, n - 1)).astype(int)
        rows = np.arange(len(self.x))
        return 0.5 * (self.ordered[rows, high] - self.ordered[rows, low])


def quantiles(ordered: np.ndarray, prob: ArrayLike) -> np.ndarray:
    """Quantiles of sorted rows (entries, n), by linear interpolation: (entries,)."""
    n = ordered.shape[1]
    place = np.broadcast_to(np.asarray(prob, dtype=float) * (n - 1), len(ordered))
    below = np.minimum(place.astype(int), n - 1)
    above = np.minimum(below + 1, n - 1)
    rows = np.arange(len(ordered))
    left, right, share = ordered[rows, below], ordered[rows, above], place - below
    # from the nearer end, so that the interpolation of equal numbers is exact
    near = share >= 0.5
    step = right - left
    return np.where(near, right - step * (1 - share), left + step * share)


def halves(x: np.ndarray) -> np.ndarray:
    """Halves of chains as chains, without the middle draw of an odd number."""
    half = x.shape[2] // 2
    return np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)


def normal_scores(x: np.ndarray) -> np.ndarray:
    """Normal quantiles of the ranks within each entry (Vehtari et al. 2021, eq. 14)."""
    flat = x.reshape(len(x), -1)
    n = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    scores = np.empty(flat.shape)
    np.put_along_axis(scores, order, _scores(np.arange(1.0, n + 1), n)[None], axis=1)
    tied = np.any(ordered[:, 1:] == ordered[:, :-1], axis=1)
    if tied.any():
        scores[tied] = _scores(rankdata(flat[tied], axis=1), n)
    return scores.reshape(x.shape)


def _scores(rank, n):
    return ndtri((rank - 0.375) / (n + 0.25))


def _rhat(x):
    n = x.shape[2]
    between = n * x.mean(axis=2).var(axis=1, ddof=1)
    within = x.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt((between / within + n - 1) / n)


def effective(x: np.ndarray) -> np.ndarray:
    """Effective sample size of the means of entries.

    Autocorrelations are summed by pairs of lags up to the first pair whose sum is negative, and a
    pair counts no more than any before it (Geyer 1992).

    Parameters
    ----------
    x : ndarray of shape (entries, chain, draw)
        As many draws where an entry is constant.

    Returns
    -------
    ndarray of shape (entries,)
    """
    n_chains, n = x.shape[1:]
    size = n_chains * n
    moving = np.ptp(x.reshape(len(x), -1), axis=1) >= np.finfo(float).resolution
    out = np.full(len(x), float(size))
    if not moving.any():
        return out
    x = x[moving]
    covariance = _autocovariance(x)
    mean_variance = covariance[:, 0] * n / (n - 1.0)
    total = mean_variance * (n - 1.0) / n
    if n_chains > 1:
        total = total + x.mean(axis=2).var(axis=1, ddof=1)
    rho = 1.0 - (mean_variance[:, None] - covariance) / total[:, None]
    rho[:, 0] = 1.0
    found = size / np.maximum(_time(rho), 1.0 / np.log10(size))
    found[np.isnan(rho[:, :2]).any(axis=1)] = np.nan
    out[moving] = found
    return out


def _autocovariance(x):
    """Mean over chains of the autocovariances at all lags, (entries, draw)."""
    n = x.shape[2]
    m = next_fast_len(2 * n, real=True)
    spectrum = rfft(x - x.mean(axis=2, keepdims=True), n=m, axis=2)
    power = np.mean(spectrum.real**2 + spectrum.imag**2, axis=1)
    return irfft(power, n=m, axis=1)[:, :n] / n


def _time(rho):
    """Integrated autocorrelation time of autocorrelations (entries, n), before its lower bound."""
    entries, n = rho.shape
    last = max(0, -(-(n - 4) // 2))
    pairs = rho[:, : 2 * last + 2].reshape(entries, -1, 2).sum(axis=2)
    # pairs before the first that is not positive, or the last that there are draws for
    stop = np.argmin(pairs > 0, axis=1)
    stop = np.where((pairs > 0).all(axis=1), last, np.minimum(stop, last))
    falling = np.minimum.accumulate(pairs, axis=1)
    summed = np.concatenate([np.zeros((entries, 1)), np.cumsum(falling, axis=1)], axis=1)
    rows = np.arange(entries)
    # of the pair after these, the even lag counts if it helps
    even = rho[rows, 2 * stop]
    kept = (even > 0) | (pairs[rows, stop] >= 0)
    return -1.0 + 2.0 * summed[rows, stop] + np.where(kept, even, 0.0)

"""Leave-one-out cross-validation of observed pairs by Pareto-smoothed importance sampling.

The data are observations y = +1 or -1 of pairs (w, v), each with log likelihood
log sigma(y rho_w . alpha_v). All observations of a pair with the same sign are alike, so one
importance-sampling estimate serves them all:

    elpd = sum_wv n+_wv elpd(+ | w, v) + n-_wv elpd(- | w, v)

where elpd(y | w, v) is the log predictive probability of y given all other observations. Draws of
the posterior stand for draws without one observation after weights 1 / p(y | t). A count below 1
(expected negatives) is a single observation of that weight c: its weights are p(y | t)^-c and its
term counts c.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils import Bunch

from ..posterior.psis import smoothed_weights, warn_of_tails
from ..posterior.results import mixed, titled
from ..posterior.summary import ess
from .counting import RankOne
from .predict import logit_draws, predictive

# Draws behind the estimate that every observation gets where only a sample gets importance
# sampling: it need not be exact, its error is corrected on the sample.
_PROXY_DRAWS = 50
_CELLS = 4_000_000
_EFFICIENCY_SAMPLE = 50


def loo(posterior, counts, *, max_pairs=2000, rng=None, pointwise=True):
    """Estimate the expected log predictive density of left-out observations, by PSIS-LOO.

    Parameters
    ----------
    posterior : Posterior
        With draws of ``rho`` and ``alpha``.
    counts : PairCounts
        Training data, with words in the order of the posterior's.
    max_pairs : int, default=2000
        Maximum number of pairs (with their sign) for importance sampling, at about 1 ms each. If
        there are more, as many observations are drawn at random, with replacement.
    rng : numpy.random.Generator, optional
        Draws the observations.
    pointwise : bool, default=True
        Whether to return the estimates of single observations.

    Returns
    -------
    Result
        elpd : float
            Sum over the observations of their log predictive densities.
        se : float
            Standard error of ``elpd`` as an estimate of that of new data of this size:
            ``sqrt(n * variance over the observations)``.
        p_loo : float
            Effective number of parameters: log density of the data under the posterior predictive
            less ``elpd``.
        sampling_se : float
            Standard error of ``elpd`` that the sample of observations adds; 0 without one.
        n_observations : float
        n_evaluated : int
            Number of pairs (with their sign) for which importance sampling was run.
        pareto_k : ndarray of shape (n_evaluated,)
            Shapes of the tails of the weights.
        good_k : float
            Largest shape for which the estimate is reliable with so many draws, at most 0.7.
        bad_share : float
            Share of the observations above it.
        n_units : int
            Number of units of sampling, documents if ``fit`` was given no others; only if known.
            Pairs are nevertheless treated as independent.
        converged : bool
            Whether the chains have mixed; the table says so if they have not.
        pointwise, proxy, weight : ndarray of shape (n_evaluated,)
            With ``pointwise``: log predictive density of one observation of each pair and sign, its
            cheap approximation, and how many of all observations it stands for.
        pairs : ndarray of int of shape (n_evaluated, 3)
            With ``pointwise``: target, context, and sign (1 or -1).
        n_drawn : int
            With ``pointwise``: number of observations drawn at random, 0 if all were used.

    Raises
    ------
    ValueError
        If there are too few draws, the words of the counts differ, or the counts are all zero.

    Warns
    -----
    UserWarning
        If any observation is above ``good_k``.

    Notes
    -----
    For a sample of m observations, the difference estimator of Magnusson et al. (2020) is used: the
    exact sum of a cheap log predictive density of every observation, plus n times the sample mean
    of the difference between PSIS and it.

    References
    ----------
    Vehtari, Gelman & Gabry (2017). Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC. Statistics and Computing 27. Magnusson, Andersen, Jonasson & Vehtari
    (2020). Leave-one-out cross-validation for Bayesian model comparison in large data. AISTATS.
    """
    _check(posterior, counts)
    total = counts.total
    if n_entries(counts) <= max_pairs:
        found = _all_entries(posterior, counts)
    else:
        found = _sampled_entries(posterior, counts, max_pairs, np.random.default_rng(rng))
    n_draws = posterior.n_chains * posterior.n_draws
    good_k = min(1.0 - 1.0 / np.log10(n_draws), 0.7)
    # a shape that could not be estimated counts as bad
    bad = ~(found.pareto_k <= good_k)
    found.update(
        n_observations=total,
        n_evaluated=found.pareto_k.size,
        good_k=good_k,
        bad_share=float(np.sum(found.weight[bad]) / np.sum(found.weight)),
    )
    details = ("pointwise", "proxy", "weight", "pairs", "n_drawn")
    if not pointwise:
        found = Bunch(**{name: value for name, value in found.items() if name not in details})
    units = {name: posterior.attrs[name] for name in ("n_units",) if name in posterior.attrs}
    found = titled("PSIS-LOO", **found, **units, **mixed(posterior))
    if bad.any():
        warn_of_tails(
            "observations",
            good_k,
            "use metrics.score_units, which holds out units, or hold out data (PairCounts.split) "
            "and use score",
        )
    return found


def _check(posterior, counts):
    n_draws = posterior.n_chains * posterior.n_draws
    if n_draws < 25:
        raise ValueError(
            f"loo needs draws of the posterior, at least 25, got {n_draws}: a point estimate has "
            "none. Use solver='gibbs' or 'hmc', or score on held-out data."
        )
    n_words = posterior["rho"].shape[2]
    if counts.n_words != n_words:
        raise ValueError(
            f"counts must be of the {n_words} words of the posterior, got {counts.n_words}."
        )
    if counts.total == 0:
        raise ValueError("counts must hold at least one observation, got none.")


def n_entries(counts):
    """Number of pairs observed, positive and negative ones apart."""
    negative = counts.negative
    if isinstance(negative, RankOne):
        return counts.positive.nnz + np.count_nonzero(negative.left) * np.count_nonzero(
            negative.right
        )
    return counts.positive.nnz + negative.nnz


def observed_entries(counts):
    """Targets, contexts, sign (+1, -1) and count of every pair observed, a list of arrays."""
    negative = counts.negative
    if isinstance(negative, RankOne):
        negative = sparse.csr_array(negative.toarray())
    parts = []
    for sign, matrix in ((1.0, counts.positive), (-1.0, negative)):
        matrix = sparse.coo_array(matrix)
        seen = matrix.data > 0
        rows, columns = matrix.coords[0][seen], matrix.coords[1][seen]
        parts.append((rows, columns, np.full(rows.size, sign), matrix.data[seen]))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def _all_entries(posterior, counts):
    rows, columns, sign, n = observed_entries(counts)
    elpd, lpd, pareto_k = estimates(posterior, rows, columns, sign, n)
    mean = np.sum(n * elpd) / n.sum()
    return Bunch(
        elpd=float(np.sum(n * elpd)),
        se=float(np.sqrt(np.sum(n * (elpd - mean) ** 2))),
        p_loo=float(np.sum(n * (lpd - elpd))),
        sampling_se=0.0,
        pareto_k=pareto_k,
        pointwise=elpd,
        proxy=np.zeros_like(elpd),
        weight=n,
        pairs=_labels(rows, columns, sign),
        n_drawn=0,
    )


def _labels(rows, columns, sign):
    return np.stack([rows, columns, sign.astype(np.int64)], axis=1)


def _sampled_entries(posterior, counts, size, rng):
    rows, columns, sign, n = draw_observations(counts, size, rng)
    # a pair drawn several times is worked out once
    key = np.stack([rows, columns, sign], axis=1)
    _, first, place, times = np.unique(
        key, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    drawn = tuple(a[first] for a in (rows, columns, sign, n))
    elpd, lpd, pareto_k = estimates(posterior, *drawn)
    few = logit_draws(posterior, _PROXY_DRAWS)
    proxy = _proxy_of(*few, *drawn[:3])
    total = counts.total
    place = place.ravel()
    correction = (elpd - proxy)[place]
    density = elpd[place]
    return Bunch(
        elpd=float(_proxy_total(*few, counts) + total * correction.mean()),
        se=float(np.sqrt(total) * density.std(ddof=1)),
        p_loo=float(total * (lpd - elpd)[place].mean()),
        sampling_se=float(total * correction.std(ddof=1) / np.sqrt(size)),
        pareto_k=pareto_k,
        pointwise=elpd,
        proxy=proxy,
        weight=times * (total / size),
        pairs=_labels(*drawn[:3]),
        n_drawn=size,
    )


def draw_observations(counts, size, rng):
    """Draw pairs with probability proportional to their counts, with replacement.

    Returns
    -------
    rows, columns : ndarray of int of shape (size,)
    sign, n : ndarray of float of shape (size,)
        +1 for positive observations, -1 for negative ones; the count of the pair with that sign.
    """
    share = counts.positive.sum() / counts.total
    n_positive = rng.binomial(size, share)
    parts = []
    for sign, matrix, m in (
        (1.0, counts.positive, n_positive),
        (-1.0, counts.negative, size - n_positive),
    ):
        rows, columns, n = _draw(matrix, m, rng)
        parts.append((rows, columns, np.full(m, sign), n))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def _draw(matrix, m, rng):
    if m == 0:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    if isinstance(matrix, RankOne):
        rows, columns = (rng.choice(f.size, m, p=f / f.sum()) for f in (matrix.left, matrix.right))
        return rows, columns, matrix.left[rows] * matrix.right[columns]
    chosen = rng.choice(matrix.nnz, m, p=matrix.data / matrix.data.sum())
    rows = np.searchsorted(matrix.indptr, chosen, side="right") - 1
    return rows, matrix.indices[chosen].astype(np.int64), matrix.data[chosen]


def estimates(posterior, rows, columns, sign, n):
    """PSIS estimates of some pairs.

    Parameters
    ----------
    posterior : Posterior
    rows, columns, sign, n : ndarray of shape (n_pairs,)
        Target, context, sign of the observation and count.

    Returns
    -------
    elpd : ndarray of shape (n_pairs,)
        Log predictive density of one observation given the others.
    lpd : ndarray of shape (n_pairs,)
        The same given all.
    pareto_k : ndarray of shape (n_pairs,)
    """
    rho, alpha = logit_draws(posterior, np.inf)
    efficiency = _relative_efficiency(posterior, rho, alpha, rows, columns, sign)
    elpd, lpd, pareto_k = np.empty((3, rows.size))
    step = max(1, _CELLS // (len(rho) * rho.shape[2]))
    for start in range(0, rows.size, step):
        block = slice(start, start + step)
        density = _log_density(rho, alpha, rows[block], columns[block], sign[block])
        ratio = np.minimum(n[block], 1.0)[:, None] * density
        log_weights, pareto_k[block] = smoothed_weights(ratio, efficiency)
        elpd[block] = logsumexp(log_weights + density, axis=1)
        lpd[block] = logsumexp(density, axis=1) - np.log(len(rho))
    return elpd, lpd, pareto_k


def _logits(rho, alpha, rows, columns):
    """Shape (n_pairs, n_draws)."""
    return np.einsum("dpk,dpk->pd", rho[:, rows], alpha[:, columns], dtype=np.float64)


def _log_density(rho, alpha, rows, columns, sign):
    """log p(y | draw), shape (n_pairs, n_draws)."""
    return log_expit(sign[:, None] * _logits(rho, alpha, rows, columns))


def _relative_efficiency(posterior, rho, alpha, rows, columns, sign):
    """Effective draws per draw of the densities, the median over some pairs, at most 1."""
    chosen = np.unique(np.linspace(0, rows.size - 1, _EFFICIENCY_SAMPLE).astype(int))
    density = np.exp(_log_density(rho, alpha, rows[chosen], columns[chosen], sign[chosen]))
    chains = density.T.reshape(posterior.n_chains, posterior.n_draws, chosen.size)
    efficiency = np.nanmedian(ess(chains, "mean")) / (posterior.n_chains * posterior.n_draws)
    return float(np.clip(efficiency, 1e-3, 1.0)) if np.isfinite(efficiency) else 1.0


def _proxy_of(rho, alpha, rows, columns, sign):
    """Cheap log predictive density of some observations, shape (n_pairs,)."""
    return _log_probability(expit(_logits(rho, alpha, rows, columns)).mean(axis=1), sign)


def _log_probability(p, sign):
    p = np.clip(p, 1e-16, 1.0 - 1e-16)
    return np.where(sign > 0, np.log(p), np.log1p(-p))


def _proxy_total(rho, alpha, counts):
    """Sum over all observations of their cheap log predictive density."""
    if isinstance(counts.negative, RankOne):
        return _proxy_total_dense(rho, alpha, counts)
    rows, columns, sign, n = observed_entries(counts)
    total = 0.0
    step = max(1, _CELLS // rho.shape[2])
    for start in range(0, rows.size, step):
        block = slice(start, start + step)
        p = 0.0
        for r, a in zip(rho, alpha, strict=True):
            p = p + expit(np.einsum("pk,pk->p", r[rows[block]], a[columns[block]]))
        total += np.sum(n[block] * _log_probability(p / len(rho), sign[block]))
    return float(total)


def _proxy_total_dense(rho, alpha, counts):
    everything = np.arange(counts.n_words)
    step = max(1, _CELLS // counts.n_words)
    total = 0.0
    for start in range(0, counts.n_words, step):
        rows = everything[start : start + step]
        p = predictive(rho, alpha, rows, everything)
        total += np.sum(counts.positive[rows].toarray() * _log_probability(p, 1.0))
        negative = counts.negative.block(start, start + step)
        total += np.sum(negative * _log_probability(p, -1.0))
    return float(total)

r"""Log likelihoods of documents and log priors of topics under every draw, for data trees.

Draws record no theta, which is integrated out of a document's likelihood by importance sampling,

    p(d) = int prod_w (sum_k theta_k N(v_w; mu_k, Sigma_k)^tau)^n_dw Dir(theta | alpha) dtheta.

Points come from a mixture of the prior and of a Dirichlet with mean and variance of the posterior
of theta, as `predict.FoldIn` has them: weights are bounded by the prior's share. With Dirichlet
priors of words documents are not independent, and each is given all others (`dirichlet.left_out`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp
from sklearn.utils.validation import check_is_fitted

from .. import spine
from ..common.checks import check_integer
from ..common.random import seed_at
from ..common.warnings import note_user
from ..corpus.known import known_counts
from ..inference.threads import OneBlasThread
from ..posterior.datatree import (
    LOG_LIKELIHOOD_BYTES,
    NOTE_ON_RUNS,
    Observations,
    check_log_likelihood,
    check_sampled,
    data_tree,
    with_draws,
)
from . import inputs
from .data import Documents
from .dirichlet.left_out import FIRST_SWEEPS, SWEEPS, left_out_likelihood, redraw_topics
from .dirichlet.measure import Base, BaseMeasures
from .dirichlet.problem import level_prior
from .draws import draws_of
from .predict import FoldIn
from .priors import lower_inverses
from .problem import vector_prior
from .recording import has_gaussians
from .theta import start_topics

# Share of the points that come from the prior.
_FROM_PRIOR = 0.1
_LEAST = 1e-300


def _log_dirichlet(log_theta, alpha):
    """Log density of theta (n, K)."""
    level = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return level + log_theta @ (alpha - 1.0)


def document_likelihood(words, counts, log_weights, alpha, mean, variance, n_points, rng):
    """Log likelihood of one document with theta integrated out, by importance sampling.

    Parameters
    ----------
    words : ndarray of int of shape (n,)
    counts : ndarray of shape (n,)
    log_weights : ndarray of shape (n_words, K)
        Powered log densities of words under the topics.
    alpha : ndarray of shape (K,)
    mean, variance : ndarray of shape (K,)
        Of theta given the document, about.
    n_points : int
    rng : numpy.random.Generator

    Returns
    -------
    value : float
    efficiency : float
        Effective points per point.
    """
    size = mean @ (1.0 - mean) / max(float(variance.sum()), _LEAST) - 1.0
    near = np.maximum(size, alpha.sum()) * mean
    n_prior = max(1, int(_FROM_PRIOR * n_points))
    theta = np.concatenate([rng.dirichlet(near, n_points - n_prior), rng.dirichlet(alpha, n_prior)])
    log_theta = np.log(np.maximum(theta, _LEAST))
    share = n_prior / n_points
    prior = _log_dirichlet(log_theta, alpha)
    proposal = np.logaddexp(
        np.log1p(-share) + _log_dirichlet(log_theta, near), np.log(share) + prior
    )
    table = log_weights[words]
    top = table.max(axis=1)
    inside = np.log(np.maximum(theta @ np.exp(table - top[:, None]).T, _LEAST))
    weights = prior - proposal + inside @ counts
    value = logsumexp(weights)
    efficiency = np.exp(2 * value - logsumexp(2 * weights)) / n_points
    return float(value - np.log(n_points) + counts @ top), float(efficiency)


def log_likelihood(estimator, counts, n_points):
    """`Observations` of the documents of training."""
    if not has_gaussians(estimator.posterior_):
        return _given_the_others(estimator, counts, n_points)
    posterior, power = estimator.posterior_, estimator.likelihood_power_
    n = posterior.n_chains * posterior.n_draws
    reading = inputs.vocabulary_reading(estimator, _as_fitted(estimator, counts))
    draws = draws_of(estimator, chosen=np.arange(n))
    fold = FoldIn(reading, draws, "density", estimator.n_jobs)
    indptr, words, of = fold.documents.indptr, fold.documents.words, fold.counts
    out = np.zeros((n, counts.shape[0]))
    efficiency = np.zeros(counts.shape[0])
    with OneBlasThread():
        for s, (mean, variance) in enumerate(fold.moments()):
            log_weights, alpha = (
                power * draws.log_density(s, draws.seen(s, reading)),
                draws.alpha(s),
            )
            rng = _generator(estimator, s)
            for d in range(counts.shape[0]):
                part = slice(indptr[d], indptr[d + 1])
                given = words[part], of[part], log_weights, alpha, mean[d], variance[d]
                out[s, d], found = document_likelihood(*given, n_points, rng)
                efficiency[d] += found / n
    values = out.reshape(posterior.n_chains, posterior.n_draws, -1)
    return Observations(values, "document", {"efficiency": efficiency})


def _given_the_others(estimator, counts, n_points):
    """The same with Dirichlet priors of words: of each document given the topics of the others."""
    posterior, n_jobs = estimator.posterior_, estimator.n_jobs
    n = posterior.n_chains * posterior.n_draws
    counts = _as_fitted(estimator, counts)
    documents = Documents.of(counts, estimator._vectors)
    reading = inputs.Reading(counts, estimator._vectors, np.arange(counts.shape[1]))
    draws = draws_of(estimator, chosen=np.arange(n))
    z, n_documents = np.empty(documents.n_tokens, np.int32), documents.n_documents
    out, spread = np.zeros((n, n_documents)), np.zeros(n_documents)
    with OneBlasThread():
        for s in range(n):
            rng = _generator(estimator, s)
            pseudo, tokens, concentration = draws.pseudo_tokens(s)
            # where the draws before are of another chain, or run
            first = s % posterior.n_draws == 0 or posterior.n_runs > 1
            if first:
                chosen = draws_of(estimator, chosen=np.array([s]))
                start_topics(FoldIn(reading, chosen, "count", n_jobs), rng, z)
            given = documents, pseudo, tokens, draws.alpha(s), z
            redraw_topics(*given, FIRST_SWEEPS if first else SWEEPS, rng)
            out[s], found = left_out_likelihood(
                documents, pseudo, concentration, draws.alpha(s), z, n_points, rng
            )
            spread += found / n
    values = out.reshape(posterior.n_chains, posterior.n_draws, -1)
    return Observations(values, "document", {"efficiency": 1.0 / (1.0 + spread)})


def _as_fitted(estimator, counts):
    """Counts as the fit had them: ``solver="gibbs"`` has rounded them, and said so."""
    if estimator.posterior_.attrs["solver"] != "gibbs":
        return counts
    return sparse.csr_array((np.rint(counts.data), counts.indices, counts.indptr), counts.shape)


def _totals(estimator):
    """Tokens of each word that were fitted, (n_words,)."""
    return np.asarray(_as_fitted(estimator, estimator._training).sum(axis=0)).ravel()


def _generator(estimator, s):
    """A stream for every draw."""
    return np.random.default_rng(seed_at(estimator._reading_seed, 1, s))


def log_prior(estimator):
    """Log prior density of the parameters of topics of every recorded draw, (chain, draw)."""
    posterior = estimator.posterior_
    if not has_gaussians(posterior):
        return _log_prior_of_measures(estimator)
    prior = vector_prior(estimator, estimator._vectors, _totals(estimator))
    e = prior.n_dims
    covariance = posterior["covariance"].astype(np.float64)
    shift = posterior["mean"].astype(np.float64) - prior.mean
    roots = np.linalg.cholesky(covariance)
    whiteners = lower_inverses(roots.reshape(-1, e, e)).reshape(roots.shape)
    log_det = 2 * np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
    # tr(Psi Sigma^-1) and the squared length of the shift
    trace = np.sum((whiteners @ prior.cholesky()) ** 2, axis=(-2, -1))
    length = np.sum((whiteners @ shift[..., None])[..., 0] ** 2, axis=-1)
    value = -0.5 * ((prior.nu + e + 2) * log_det + trace + prior.kappa * length)
    return np.sum(value - prior.log_normaliser(), axis=-1)


def _log_prior_of_measures(estimator):
    """Of base measures: their vectors, levels, concentration and variances."""
    posterior = estimator.posterior_
    n_background = int(not posterior["topic_vector"][0, 0, 0].any())
    k = posterior["topic_vector"].shape[2]
    measures = BaseMeasures(estimator._vectors, level_prior(_totals(estimator)), k, n_background)
    out = np.empty((posterior.n_chains, posterior.n_draws))
    for place in np.ndindex(out.shape):
        theta = np.concatenate([
            posterior["topic_vector"][place][n_background:].ravel(),
            posterior["word_level"][place], [np.log(posterior["concentration"][place])],
        ]).astype(float)  # fmt: skip
        scales = float(posterior["topic_scale"][place]), float(posterior["word_scale"][place])
        out[place] = measures.log_prior(Base(theta, scales[0] ** 2, scales[1] ** 2))
    return out


class DataTreeMixin:
    """The method `to_datatree` of an estimator of topics."""

    posterior_: Any
    _training: Any

    def to_datatree(
        self,
        X: Any = None,
        *,
        n_points: int = 200,
        max_bytes: int = LOG_LIKELIHOOD_BYTES,
        draws: int | None = None,
    ) -> Any:
        """Convert the posterior to an ArviZ data tree, for its plots, ``loo`` and ``psense``.

        Parameters
        ----------
        X : documents or counts, optional
            What ``fit`` was given: adds the group ``log_likelihood``, with an entry for each
            document.
        n_points : int, default=200
            Number of points (for Dirichlet priors: particles) used to integrate the topic shares
            out of every document's likelihood under every draw. Time grows with points, draws and
            distinct words (tokens, more than in proportion) of documents.
        max_bytes : int, default=2**30
            Maximum size of ``log_likelihood``, which takes 8 bytes per draw and document.
        draws : int, optional
            Number of evenly spaced draws to use, over all chains together, instead of all. Saves
            time and memory for the log likelihoods.

        Returns
        -------
        xarray.DataTree
            Groups ``posterior`` and ``sample_stats``, and, for the draws of chains, ``log_prior``
            (``topics``: means and covariances, or base measures, without the prior of a learned
            ``alpha``) and ``log_likelihood``. Its coordinate ``efficiency`` e has the effective
            points per point: under one draw the likelihood of a document has the relative error
            ``sqrt((1 / e - 1) / n_points)``, which should be well below 1.

        Raises
        ------
        ImportError
            If arviz-base, in the extra ``arviz``, is not installed.
        ValueError
            If X is not the training data, or the solver is not ``"gibbs"`` or ``"hmc"``.
        MemoryError
            If ``log_likelihood`` would take more than ``max_bytes``.

        Notes
        -----
        The likelihood is that of vectors, raised to ``likelihood_power_``, whatever ``word_proba``
        is. Densities for different spaces of vectors, or of different powers, are not comparable.

        With ``word_model="dirichlet"`` documents are not independent, as the words of topics are
        summed out. An entry is then the log probability of a document's words given the topics of
        the tokens of *all other* documents, as ``loo`` needs it. Entries do not add up to a
        likelihood, so use ``psense`` for the prior only.
        """
        check_is_fitted(self, "posterior_")
        model = with_draws(self, draws)
        check_integer("n_points", n_points, 10)
        posterior = model.posterior_
        groups: dict[str, Any] = {}
        if X is not None:
            check_sampled(posterior.attrs["solver"], spine.CHAINS)
            counts = known_counts(self, X)
            if counts.shape != self._training.shape or abs(counts - self._training).max() > 1e-9:
                raise ValueError(
                    f"X must be the data that fit was given, {self._training.shape[0]} documents; "
                    f"got {counts.shape[0]}, or others."
                )
            check_log_likelihood(posterior, counts.shape[0], max_bytes, "documents")
            groups["log_likelihood"] = {"documents": log_likelihood(model, counts, n_points)}
            if posterior.n_runs > 1:
                note_user(NOTE_ON_RUNS.strip())
        if posterior.attrs["solver"] in spine.CHAINS:
            groups["log_prior"] = {"topics": log_prior(model)}
        return data_tree(posterior, **groups)

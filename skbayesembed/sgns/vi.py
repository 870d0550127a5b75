"""From a model to its variational posterior: start, ascent, approximation, draws."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
from joblib import effective_n_jobs

from ..common.memory import check_memory
from ..inference.chains import Workers
from ..inference.contracts import Result
from ..inference.threads import OneBlasThread
from ..inference.vi import coordinate_ascent, repeat_passes
from ..posterior.running_moments import RunningMoments
from . import fitting
from .online import OnlineVI
from .pairs import PairCounts
from .vi_model import SGNSVariational

# Components count as on down to this share of the largest component's energy.
ON_ABOVE = 0.01
# The bound has settled when a sweep raises it by less than this many times ``tol``, relatively;
# components that switch off raise it by little.
TOL_FACTOR = 100.0
TOL_FACTOR_ARD = 10.0
# Sweeps with diagonal covariances before those with full ones, at most.
_QUICK_SWEEPS = 10
# Covariances of all words above this size are left to the approximation.
_MOMENT_BYTES = 2**28


class GaussianApproximation:
    """The Gaussian approximation that ``solver="vi"`` found, a factor a word and side.

    Attributes
    ----------
    mean : dict of str to ndarray
        Of ``rho`` and ``alpha`` (n_words, n_components), of ``rho_bias`` and ``alpha_bias``
        (n_words,) where biases are used.
    elbo : ndarray of shape (n_iter,)
        Bound on the log evidence of the training counts, a value a sweep; empty where
        learned online.
    prior_precision : ndarray of shape (n_components,)
        Posterior mean of the prior precisions, the fixed ones where they are not learned.
    energy : ndarray of shape (n_components,)
        ``|E rho_k| |E alpha_k| / n_words``, a component's part in the logits.
    n_on : int
        Components with at least 1 % of the largest energy: the others are switched off.
    """

    def __init__(self, variational, q, elbo):
        # neither the pair table nor room to work in is kept with the result
        model = variational.model
        self._variational = copy.copy(variational)
        self._variational.model = SimpleNamespace(
            n_words=model.n_words, n_components=model.n_components, prior=model.prior
        )
        self._q = q
        q.second = None
        k = model.n_components
        self.mean = {"rho": q.mean[0][:, :k].copy(), "alpha": q.mean[1][:, :k].copy()}
        if variational.biases:
            self.mean["rho_bias"] = q.mean[0][:, k].copy()
            self.mean["alpha_bias"] = q.mean[1][:, k + 1].copy()
        self.elbo = np.asarray(elbo, dtype=float)
        self.prior_precision = np.array(variational.tau(q))
        self.energy = variational.energy(q)
        self.n_on = int(np.sum(self.energy > ON_ABOVE * self.energy.max()))

    def variance(self, name):
        """Variances of all words' coordinates, of the shape of ``mean[name]``."""
        v, q, k = self._variational, self._q, self._variational.model.n_components
        side = _side(name, self.mean)
        variances = v.variances(q, side).astype(float)
        return variances[:, k + side] if name.endswith("_bias") else variances[:, :k]

    def covariance(self, name, words):
        """Covariance matrices of the vectors of some words.

        Parameters
        ----------
        name : {"rho", "alpha"}
        words : int or array-like of int of shape (n,)
            Rows of the vocabulary.

        Returns
        -------
        ndarray of shape (n_components, n_components), or (n, n_components, n_components)
        """
        if name not in ("rho", "alpha"):
            raise KeyError(f"name must be 'rho' or 'alpha', got {name!r}.")
        k = self._variational.model.n_components
        index = np.atleast_1d(np.asarray(words, dtype=int))
        out = self._variational.covariance(self._q, _side(name, self.mean), index)[:, :k, :k]
        return out if np.ndim(words) else out[0]

    def sample(self, n, rng, words=None):
        """Independent draws.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
        words : array of int, optional
            Rows to draw; all by default.

        Returns
        -------
        dict of str to ndarray of shape (n, n_words, n_components) or (n, n_words)
            The names of ``mean``; ``prior_precision`` besides where it is learned.
        """
        return self._variational.sample_q(self._q, n, rng, words)


def _side(name, known):
    if name not in known:
        raise KeyError(f"name must be one of {', '.join(map(repr, known))}, got {name!r}.")
    return int(name.startswith("alpha"))


def vi_posterior(estimator, model, words, settings, seeds):
    """Fit the variational posterior by coordinate ascent and draw from it.

    Parameters
    ----------
    estimator : BayesianSGNS
        Its ``covariance``, ``biases``, ``max_iter``, ``tol`` (times 100, or 10 for ARD, it is
        the relative rise of the bound below which ascent ends), ``n_jobs``, ``verbose``.
    model : SGNSModel
        Without anchors.
    words : ndarray of str of shape (n_words,)
    settings : Settings
        ``draws`` and what is recorded of them.
    seeds : SeedSequence

    Returns
    -------
    Posterior
        One chain of independent draws; exact means and (co)variances as moments; the
        `GaussianApproximation` as ``posterior.approximation``.
    """
    start_seed, draw_seed = seeds.spawn(2)
    factor = TOL_FACTOR_ARD if model.prior.learned == "component" else TOL_FACTOR
    variational = SGNSVariational(model, estimator.covariance, estimator.biases)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        q = variational.init_q(_start(estimator, model, np.random.default_rng(start_seed), run))
        facts = coordinate_ascent(
            variational,
            q,
            run,
            max_iter=estimator.max_iter,
            tol=factor * estimator.tol,
            verbose=estimator.verbose,
        )
    variational.take_back(q)
    variational.sort_components(q)
    approximation = GaussianApproximation(variational, q, facts.pop("elbo"))
    attrs = {"elbo": float(approximation.elbo[-1]), **facts}
    return approximate_posterior(estimator, approximation, words, settings, draw_seed, attrs)


def _start(estimator, model, rng, run):
    """Arrays to start from: random; for lists of pairs and full covariances, brought on the way.

    A sweep over lists of pairs costs a third with diagonal covariances, and the first sweeps have
    a long way to go.
    """
    arrays = model.start(rng)
    if estimator.covariance == "diag" or model.pairs.dense:
        return arrays
    quick = SGNSVariational(model, "diag", estimator.biases)
    q = quick.init_q(arrays)
    coordinate_ascent(quick, q, run, max_iter=_QUICK_SWEEPS, tol=1e-4, warn=False)
    return {name: q.mean[side][:, : model.n_components] for side, name in enumerate(arrays)}


def online_posterior(estimator, source, prior, words, settings, seeds, *, batch_size, n_passes):
    """Fit by stochastic variational inference, reading the data ``n_passes`` times.

    Parameters
    ----------
    estimator : BayesianSGNS
    source : CorpusBatches, MatrixBatches or PairBatches
    prior : Prior
    words, settings, seeds
        As in `vi_posterior`.
    batch_size : int
        Documents in a batch.
    n_passes : int

    Returns
    -------
    Posterior
        As from `vi_posterior`; ``attrs["n_iter"]`` counts passes, and there is no bound.

    Raises
    ------
    ValueError
        If no document has a pair of words.
    """
    start_seed, order_seed, draw_seed = seeds.spawn(3)
    rng = np.random.default_rng(order_seed)
    online = start_online(estimator, words.size, prior, start_seed)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:

        def read():
            for batch in source.batches(batch_size, rng):
                learn = online.learn_pairs if isinstance(batch, PairCounts) else online.learn
                learn(batch, run)
            online.end_pass()

        facts = repeat_passes(online, read, n_passes=n_passes, verbose=estimator.verbose)
    if online.n_batches == 0:
        raise ValueError("X has no pair of words: every document has fewer than two.")
    return stream_posterior(estimator, online, words, settings, draw_seed, facts)


def start_online(estimator, n_words, prior, seeds):
    """An `OnlineVI` by the estimator's options; feed it with ``learn``.

    Raises
    ------
    MemoryError
        If its tables would not fit.
    """
    d = estimator.n_components + 2 * estimator.biases
    tables = (2 + 3 * (estimator.covariance == "full")) * n_words * d * (d + 1) // 2
    pairs = 48 * n_words**2 if estimator.negative_sampling == "expected" else 0
    check_memory(
        8 * tables + pairs,
        f"The factors of {n_words} words",
        "Use covariance='diag', negative_sampling='sampled', fewer components or max_features.",
    )
    return OnlineVI(
        n_words,
        estimator.n_components,
        prior,
        seeds,
        covariance=estimator.covariance,
        biases=estimator.biases,
        negative=estimator.negative,
        ns_exponent=estimator.ns_exponent,
        negative_sampling=estimator.negative_sampling,
    )


def stream_posterior(estimator, online, words, settings, seed, attrs):
    """The `Posterior` of what an `OnlineVI` has learned so far."""
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        variational, q = online.result(run)
    variational.sort_components(q)
    approximation = GaussianApproximation(variational, q, [])
    attrs = {"learning_method": "online", "n_batches": online.n_batches, **attrs}
    return approximate_posterior(estimator, approximation, words, settings, seed, attrs)


def approximate_posterior(estimator, approximation, words, settings, seed, attrs):
    """The `Posterior` of a `GaussianApproximation`, with draws from it."""
    rng = np.random.default_rng(seed)
    with OneBlasThread():
        draws = approximation.sample(settings.recorded, rng)
        for name, index in (settings.rows or {}).items():
            draws[f"{name}_rows"] = approximation.sample(settings.draws, rng, index)[name]
    shape = approximation.mean["rho"].shape
    whole = 8 * shape[0] * shape[1] ** 2 <= _MOMENT_BYTES
    moments = {}
    for name, mean in approximation.mean.items():
        spread = {"variance": approximation.variance(name)}
        if whole and mean.ndim == 2:
            spread = {"covariance": approximation.covariance(name, np.arange(shape[0]))}
        moments[name] = RunningMoments.known(mean, **spread, count=max(2, settings.draws))
    attrs = {
        "covariance": estimator.covariance,
        "learning_method": "batch",
        "n_on": approximation.n_on,
        "draws_made": settings.draws,
        "stride": settings.stride,
        **attrs,
    }
    result = Result({name: value[None] for name, value in draws.items()}, moments=moments)
    posterior = fitting.assemble(estimator, result, words, settings, attrs)
    posterior.approximation = approximation
    return posterior

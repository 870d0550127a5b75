"""Log likelihoods and log priors of draws of trajectories, for data trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import spine
from ..common.checks import check_choice
from ..common.warnings import note_user
from ..posterior.datatree import (
    LOG_LIKELIHOOD_BYTES,
    Observations,
    check_log_likelihood,
    check_sampled,
    data_tree,
    with_draws,
)
from ..sgns.datatree import ADVICE, GROUPINGS, LEFT_OUT, add_log_likelihoods, pair_labels
from ..sgns.loo import n_entries, observed_entries
from . import inputs


def log_likelihood(posterior, counts, words, labels, observations):
    """`Observations` of a posterior of trajectories.

    Parameters
    ----------
    posterior : Posterior
    counts : list of PairCounts
        Those of each period.
    words : ndarray of str of shape (n_words,)
    labels : ndarray of shape (n_periods,)
        Of the periods.
    observations : {"pairs", "words"}
    """
    rho, alpha = (posterior.flat(name) for name in ("rho", "alpha"))
    by_word = observations == "words"
    found = [observed_entries(c) for c in counts]
    sizes = [words.size if by_word else entries[0].size for entries in found]
    ends = np.cumsum([0, *sizes])
    out = np.zeros((len(rho), ends[-1]))
    for t, entries in enumerate(found):
        part = out[:, ends[t] : ends[t + 1]]
        add_log_likelihoods(rho[:, t], alpha[:, t], entries, part, by_word)
    values = out.reshape(posterior.n_chains, posterior.n_draws, -1)
    period = {"period": np.repeat(labels, sizes)}
    if by_word:
        return Observations(values, "entry", {"target": np.tile(words, len(counts))} | period)
    joined = [np.concatenate(column) for column in zip(*found, strict=True)]
    return Observations(values, "pair", pair_labels(words, joined) | period)


def log_prior(estimator):
    """Log prior density of every recorded draw, (chain, draw), up to a constant.

    That of trajectories, and of the logarithm of a learned diffusion.
    """
    posterior, prior = estimator.posterior_, estimator._prior
    learned = "diffusion" in posterior
    out = np.empty(posterior.n_chains * posterior.n_draws)
    for s, arrays in enumerate(zip(posterior.flat("rho"), posterior.flat("alpha"), strict=True)):
        diffusion = float(posterior.flat("diffusion").reshape(-1)[s]) if learned else None
        first = sum(float(np.sum(np.square(x[0], dtype=np.float64))) for x in arrays)
        sums, n = prior.statistics(*(np.asarray(x, dtype=np.float64) for x in arrays))
        current = prior.diffusion if diffusion is None else diffusion
        out[s] = prior.log_density(current, sums, n) - 0.5 * first / prior.variance
        if learned:
            out[s] += prior.log_hyperprior(diffusion)
    return out.reshape(posterior.n_chains, posterior.n_draws)


class DataTreeMixin:
    """The method `to_datatree` of an estimator of trajectories."""

    posterior_: Any
    words_: Any
    periods_: Any

    def to_datatree(
        self,
        X: Any = None,
        *,
        times: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observations: str = "pairs",
        max_bytes: int = LOG_LIKELIHOOD_BYTES,
        draws: int | None = None,
    ) -> Any:
        """Convert the posterior to an ArviZ data tree, for ArviZ's plots, ``loo`` and ``psense``.

        Parameters
        ----------
        X : documents, counts or list of PairCounts, optional
            What ``fit`` was given; adds the group ``log_likelihood``.
        times, sample_weight
            What ``fit`` was given.
        observations : {"pairs", "words"}, default="pairs"
            What an entry of ``log_likelihood`` is: all observations of a pair of words with one
            sign in a period, or all of a target word in a period.
        max_bytes : int, default=2**30
            Maximum size of ``log_likelihood``, which takes 8 bytes per draw and entry.
        draws : int, optional
            Use this many evenly spaced draws, of all chains together, instead of all; log
            likelihoods then take less time and memory.

        Returns
        -------
        xarray.DataTree
            Groups ``posterior``, ``sample_stats`` and, for draws of chains, ``log_prior``
            (``trajectories``, up to a constant) and ``log_likelihood``, with the coordinates
            ``target``, ``period``, and for pairs ``context``, ``sign`` and ``count``.

        Raises
        ------
        ImportError
            If arviz-base, in the extra ``arviz``, is not installed.
        ValueError
            If X and times are not the training data, or the solver is not ``"gibbs"`` or
            ``"hmc"``.
        MemoryError
            If ``log_likelihood`` would take more than ``max_bytes``.

        Notes
        -----
        Entries sum to the log likelihood of the data; see `BayesianSGNS.to_datatree`.
        """
        check_is_fitted(self, "posterior_")
        model = with_draws(self, draws)
        check_choice("observations", observations, GROUPINGS)
        posterior = model.posterior_
        groups: dict[str, Any] = {}
        if X is not None:
            check_sampled(posterior.attrs["solver"], spine.CHAINS)
            counts = inputs.training_again(self, X, times, sample_weight)
            n = sum(map(n_entries, counts))
            n = len(counts) * self.words_.size if observations == "words" else n
            check_log_likelihood(posterior, n, max_bytes, observations, ADVICE[observations])
            labels = np.asarray(self.periods_.labels, dtype=str)
            found = log_likelihood(posterior, counts, self.words_, labels, observations)
            groups["log_likelihood"] = {observations: found}
            note_user(LEFT_OUT)
        if posterior.attrs["solver"] in spine.CHAINS:
            groups["log_prior"] = {"trajectories": log_prior(model)}
        return data_tree(posterior, **groups)

"""Log likelihoods and log priors of draws, for data trees."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit
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
from . import inputs
from .loo import n_entries, observed_entries
from .predict import logit_draws
from .priors import LEARNED, build_prior

GROUPINGS = ("pairs", "words")
ADVICE = {"pairs": "sum over the pairs of each target with observations='words'", "words": None}
# Of trees of pairs: what leaving out an entry means, which `loo` and `compare` of ArviZ do.
LEFT_OUT = (
    "entries of this log_likelihood are pairs of words, or words, with all their occurrences: "
    "psense may read them, but loo and compare of ArviZ leave out entries whole and may rank "
    "models in reverse; compare models by metrics.score_units, on held-out units."
)
# Logits are made for this many pairs and components at a time.
_CELLS = 4_000_000


def add_log_likelihoods(rho, alpha, entries, out, by_word):
    """Add log likelihoods of pairs to ``out`` (n_draws, n_entries), or (n_draws, n_words) of words.

    Parameters
    ----------
    rho, alpha : ndarray of shape (n_draws, n_words, n_components)
    entries : list of ndarray
        As of `loo.observed_entries`.
    out : ndarray
    by_word : bool
        Whether those of a target are summed.
    """
    rows, columns, sign, n = entries
    step = max(1, _CELLS // rho.shape[2])
    for start in range(0, rows.size, step):
        block = slice(start, start + step)
        r, c = rows[block], columns[block]
        for s, (x, y) in enumerate(zip(rho, alpha, strict=True)):
            logits = np.einsum("pk,pk->p", x[r], y[c], dtype=np.float64)
            values = n[block] * log_expit(sign[block] * logits)
            if by_word:
                out[s] += np.bincount(r, weights=values, minlength=rho.shape[1])
            else:
                out[s, block] += values


def pair_labels(words, entries):
    """Labels of observed pairs, dict of arrays."""
    rows, columns, sign, n = entries
    kept = {"target": words[rows], "context": words[columns]}
    return kept | {"sign": sign.astype(int), "count": n}


def log_likelihood(posterior, counts, words, observations):
    """`Observations` of a posterior of static vectors."""
    rho, alpha = logit_draws(posterior, np.inf)
    entries, by_word = observed_entries(counts), observations == "words"
    out = np.zeros((len(rho), words.size if by_word else entries[0].size))
    add_log_likelihoods(rho, alpha, entries, out, by_word)
    values = out.reshape(posterior.n_chains, posterior.n_draws, -1)
    if by_word:
        return Observations(values, "target", {"target": words})
    return Observations(values, "pair", pair_labels(words, entries))


def log_prior(estimator):
    """Log prior density of every recorded draw, (chain, draw), up to a constant.

    None for ``prior="ard"``, whose draws of precisions are recorded by size and not by component.
    """
    e, posterior = copy.copy(estimator), estimator.posterior_
    if isinstance(e.prior, str) and e.prior == "ard":
        return None
    learned = "prior_precision" in posterior
    e.prior_precision = LEARNED if learned else estimator.prior_precision_
    prior = build_prior(e, e.vocabulary_)
    out = np.empty(posterior.n_chains * posterior.n_draws)
    vectors = [posterior.flat(name) for name in ("rho", "alpha")]
    nothing = np.zeros(vectors[0].shape[1:])
    for s, arrays in enumerate(zip(*vectors, strict=True)):
        value = float(posterior.flat("prior_precision")[s, 0]) if learned else 1.0
        tau = np.full(prior.n_components, value) if learned else prior.tau
        out[s] = sum(
            prior.add_gradient(side, np.array(x, dtype=np.float64), nothing, tau)
            for side, x in enumerate(arrays)
        )
        if learned:
            shape, rate = prior.hyper
            out[s] += (shape - 1 + vectors[0][s].size) * np.log(value) - rate * value
    return out.reshape(posterior.n_chains, posterior.n_draws)


class DataTreeMixin:
    """The method `to_datatree` of an estimator of static vectors."""

    posterior_: Any
    words_: Any
    _count_seed: Any

    def to_datatree(
        self,
        X: Any = None,
        *,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observations: str = "pairs",
        max_bytes: int = LOG_LIKELIHOOD_BYTES,
        draws: int | None = None,
    ) -> Any:
        """Convert the posterior to an ArviZ data tree, for ArviZ's plots, ``loo`` and ``psense``.

        Parameters
        ----------
        X : documents, counts or PairCounts, optional
            What ``fit`` was given; adds the group ``log_likelihood``.
        units : array-like of shape (n_documents,), optional
            What ``fit`` was given. Only their number is checked: entries are the same without
            them, since units have no part in the likelihood.
        sample_weight : array-like of shape (n_documents,), optional
            What ``fit`` was given.
        observations : {"pairs", "words"}, default="pairs"
            What an entry of ``log_likelihood`` is: all observations of a pair of words with one
            sign, or all of a target word.
        max_bytes : int, default=2**30
            Maximum size of ``log_likelihood``, which takes 8 bytes per draw and entry.
        draws : int, optional
            Use this many evenly spaced draws, of all chains together, instead of all; log
            likelihoods then take less time and memory.

        Returns
        -------
        xarray.DataTree
            Groups ``posterior``, ``sample_stats`` and, for draws of chains, ``log_prior``
            (``vectors``, up to a constant; not with ``prior="ard"``) and ``log_likelihood``, whose
            ``pair`` has the coordinates ``target``, ``context``, ``sign`` and ``count``.

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
        A count c of a pair is c times its log likelihood, so that entries sum to the log likelihood
        of the data, which ``psense`` scales. ArviZ's ``loo`` leaves out a whole entry; the method
        `loo` leaves out one of its observations. They agree if every count is one. Otherwise
        ArviZ's ``compare`` may rank models in reverse, and a note on the standard error stream says
        so: use `metrics.score_units`.
        """
        check_is_fitted(self, "posterior_")
        model = with_draws(self, draws)
        check_choice("observations", observations, GROUPINGS)
        posterior = model.posterior_
        sampled = posterior.attrs["solver"] in spine.CHAINS
        groups: dict[str, Any] = {}
        if X is not None:
            check_sampled(posterior.attrs["solver"], spine.CHAINS)
            training = inputs.training_again(self, X, self._count_seed, sample_weight, units)
            n = self.words_.size if observations == "words" else n_entries(training.counts)
            check_log_likelihood(posterior, n, max_bytes, observations, ADVICE[observations])
            found = log_likelihood(posterior, training.counts, self.words_, observations)
            groups["log_likelihood"] = {observations: found}
            note_user(LEFT_OUT)
        prior = log_prior(model) if sampled else None
        if prior is not None:
            groups["log_prior"] = {"vectors": prior}
        return data_tree(posterior, **groups)

"""Leave-one-out cross-validation and WAIC over snippets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_bool
from ..common.warnings import note_user, warn_user
from ..posterior.datatree import (
    LOG_LIKELIHOOD_BYTES,
    NOTE_ON_RUNS,
    Observations,
    check_log_likelihood,
    check_sampled,
    data_tree,
    log_prior_of_stats,
    with_draws,
)
from ..posterior.psis import MOST_PARAMETERS, notes_on_parameters, smoothed_weights, warn_of_tails
from ..posterior.results import Result, mixed, titled
from ..posterior.summary import ess
from ..spine import CHAINS
from .inputs import training_again
from .predict import SnippetReader

# Log densities are held for this many snippets and draws at a time.
_CELLS = 4_000_000
# Draws that the shape of a tail can be fitted to.
_FEWEST_DRAWS = 25
# Draws of a run of several that weights within it are to have.
_FEWEST_OF_RUN = 10
# A variance of a snippet's log density above this makes its share of WAIC unreliable.
_LARGE_VARIANCE = 0.4
_EFFICIENCY_SAMPLE = 50
# Of trees: what leaving out an entry means, which `loo` and `compare` of ArviZ do.
_LEFT_OUT = (
    "entries of this log_likelihood are snippets: psense may read them, but loo and compare of "
    "ArviZ leave out single snippets, and the others of a unit (speaker, work) stay; where many "
    "have a bad Pareto k they are unreliable: see pareto_k of the method loo. "
    "metrics.score_units, which holds out units, compares models."
)
_POWERED = (
    " Entries are raised to likelihood_power_, as in the posterior: loo of ArviZ is of these, and "
    "the method loo of the likelihood itself."
)
# Range of log densities over draws up to which they are the same.
_CONSTANT = 1e-12


def loo(estimator, places, labels):
    """PSIS-LOO of the training snippets; see `DiSCSenseModel.loo`."""
    shape = _check_draws(estimator, "loo")
    elpd, lpd, pareto_k = np.empty((3, places.n_snippets))
    telling = np.empty(places.n_snippets, bool)
    for block, density in _blocks(estimator, places, labels):
        power = estimator.likelihood_power_
        elpd[block], pareto_k[block] = _psis_of_runs(density, shape, power)
        lpd[block], telling[block] = _log_mean(density), np.ptp(density, axis=1) > _CONSTANT
    rows, left_out = _of_those_that_tell(telling)
    elpd, lpd, pareto_k = elpd[rows], lpd[rows], pareto_k[rows]
    good_k = min(1.0 - 1.0 / np.log10(np.prod(shape)), 0.7)
    # a shape that could not be estimated counts as bad
    bad = ~(pareto_k <= good_k)
    p_loo = float(np.sum(lpd - elpd))
    if bad.any():
        hopeless = p_loo > MOST_PARAMETERS * rows.size
        warn_of_tails("snippets", good_k, _instead(estimator), hopeless=hopeless)
    found = titled(
        "PSIS-LOO",
        elpd=float(elpd.sum()),
        se=_standard_error(elpd),
        p_loo=p_loo,
        pointwise=elpd,
        pareto_k=pareto_k,
        good_k=good_k,
        bad_share=float(bad.mean()),
        rows=rows,
        n_snippets=rows.size,
        **left_out,
        **_units_of(estimator),
        **mixed(estimator.posterior_),
    )
    return _noting_parameters(estimator, found, p_loo)


def _instead(estimator):
    """What to do where leaving out snippets is not reliable."""
    if estimator.units_ is not None:
        return "use metrics.score_units, which holds out units"
    return "hold out snippets and use score"


def _noting_parameters(estimator, found, n_parameters):
    """The result, with a line where it has too many effective parameters."""
    instead = _instead(estimator)
    return found._noting(*notes_on_parameters(n_parameters, found.n_snippets, "snippet", instead))


def _of_those_that_tell(telling):
    """Places of snippets that count, and an entry on others, whose density no draw changes.

    These have no known word. Where all are such, they stay.
    """
    rows = np.flatnonzero(telling if telling.any() else ~telling)
    n = telling.size - rows.size
    return rows, {"n_without_words": n} if n else {}


def _units_of(estimator):
    """The number of units that ``fit`` was told of, an entry, if it was."""
    return {} if estimator.units_ is None else {"n_units": len(estimator.units_)}


def waic(estimator, places, labels):
    """WAIC of the training snippets; see `DiSCSenseModel.waic`."""
    shape = _check_draws(estimator, "waic")
    elpd, lpd, variance = np.empty((3, places.n_snippets))
    telling = np.empty(places.n_snippets, bool)
    for block, density in _blocks(estimator, places, labels):
        each = _by_run(density, shape)
        # the second cumulant of what a snippet adds, beside one less of it in the posterior
        spread = estimator.likelihood_power_ * each.var(axis=-1, ddof=1)
        lpd[block], variance[block] = _log_mean(density), spread.mean(axis=1)
        elpd[block] = _log_mean(_log_mean(each) - spread)
        telling[block] = np.ptp(density, axis=1) > _CONSTANT
    rows, left_out = _of_those_that_tell(telling)
    elpd, lpd, variance = elpd[rows], lpd[rows], variance[rows]
    large = variance > _LARGE_VARIANCE
    if large.any():
        warn_user(
            f"{100 * large.mean():.2g} % of the snippets have a log density of posterior variance "
            f"above {_LARGE_VARIANCE}, so that their part of WAIC is unreliable: "
            f"{_instead(estimator)}.",
            UserWarning,
        )
    found = titled(
        "WAIC",
        elpd=float(elpd.sum()),
        se=_standard_error(elpd),
        p_waic=float(np.sum(lpd - elpd)),
        bad_share=float(large.mean()),
        pointwise=elpd,
        rows=rows,
        n_snippets=rows.size,
        **left_out,
        **_units_of(estimator),
        **mixed(estimator.posterior_),
    )
    return _noting_parameters(estimator, found, found.p_waic)


def _check_draws(estimator, name):
    """Chains, draws of a chain in each run, and runs."""
    posterior = estimator.posterior_
    solver, n_runs = posterior.attrs.get("solver"), posterior.n_runs
    shape = posterior.n_chains, posterior.n_draws // n_runs, n_runs
    n, n_each = posterior.n_chains * posterior.n_draws, shape[0] * shape[1]
    few = n_runs > 1 and n_each < _FEWEST_OF_RUN
    if solver not in CHAINS or n < _FEWEST_DRAWS or few:
        least = f"at least {_FEWEST_DRAWS}"
        if few:
            least = f"at least {_FEWEST_OF_RUN} for each of embedding_draws={n_runs}"
        raise ValueError(
            f"{name} needs draws of the posterior, {least}: got solver={solver!r} with {n} draws. "
            "Use solver='hmc' or 'gibbs', or score on held-out snippets."
        )
    return shape


def _by_run(density, shape):
    """Log densities (n_snippets, n_draws) by run, (n_snippets, n_runs, draws of a run)."""
    n_chains, n_draws, n_runs = shape
    each = density.reshape(len(density), n_chains, n_draws, n_runs)
    return np.moveaxis(each, -1, 1).reshape(len(density), n_runs, -1)


def _blocks(estimator, places, labels):
    """Yield slices of snippets with their log densities (n_snippets of it, n_draws)."""
    posterior = estimator.posterior_
    step = max(1, _CELLS // (posterior.n_chains * posterior.n_draws))
    for start in range(0, places.n_snippets, step):
        block = slice(start, start + step)
        reader = SnippetReader(estimator, places.take(block))
        yield block, reader.log_densities(None if labels is None else labels[block])


def _psis_of_runs(density, shape, power):
    """As `_psis`, of the average of the posteriors of runs, `inference.pooling`.

    Each run keeps its weight whether a snippet is left out or not, so that what leaves a snippet
    out weighs draws within runs alone.
    """
    if shape[2] == 1:
        return _psis(density, shape[:2], power)
    each = _by_run(density, shape)
    # weights have a mean of one in each run, and one tail in all
    ratios = power * each + _log_mean(-power * each)[..., None]
    n, efficiency = len(density), _efficiency_of_runs(ratios, shape)
    constant = np.ptp(ratios, axis=(1, 2)) <= _CONSTANT
    log_weights, pareto_k = np.zeros(each.shape), np.full(n, -np.inf)
    if not constant.all():
        smooth, pareto_k[~constant] = smoothed_weights(
            ratios[~constant].reshape(np.sum(~constant), -1), efficiency
        )
        log_weights[~constant] = smooth.reshape(-1, *each.shape[1:])
    log_weights -= logsumexp(log_weights, axis=-1, keepdims=True)
    return _log_mean(logsumexp(log_weights + each, axis=-1)), pareto_k


def _efficiency_of_runs(ratios, shape):
    """As `_relative_efficiency`, of the weights within runs, each run a chain of its own."""
    n_chains, n_draws, n_runs = shape
    return _relative_efficiency(-ratios.reshape(len(ratios), -1), (n_runs * n_chains, n_draws))


def _psis(density, shape, power):
    """Smoothed importance-sampling estimates and shapes of the tails of the weights.

    What leaves a snippet out of the posterior is one over its likelihood, raised to ``power``.
    """
    efficiency = _relative_efficiency(density, shape)
    # a snippet without words has the same density under every draw: its weights have no tail
    constant = np.ptp(density, axis=1) <= _CONSTANT
    elpd, pareto_k = density.mean(axis=1), np.full(len(density), np.nan)
    moving = density[~constant]
    if len(moving):
        log_weights, pareto_k[~constant] = smoothed_weights(power * moving, efficiency)
        elpd[~constant] = logsumexp(log_weights + moving, axis=1)
    pareto_k[constant] = -np.inf
    return elpd, pareto_k


def _relative_efficiency(density, shape):
    """Effective draws per draw of the densities, the median over some snippets, at most 1."""
    chosen = np.unique(np.linspace(0, len(density) - 1, _EFFICIENCY_SAMPLE).astype(int))
    some = np.exp(density[chosen] - density[chosen].max(axis=1, keepdims=True))
    some = some[np.ptp(some, axis=1) > 0]
    if not len(some):
        return 1.0
    efficiency = np.nanmedian(ess(some.T.reshape(*shape, -1), method="mean"))
    efficiency /= shape[0] * shape[1]
    return float(np.clip(efficiency, 1e-3, 1.0)) if np.isfinite(efficiency) else 1.0


def _log_mean(density):
    return logsumexp(density, axis=-1) - np.log(density.shape[-1])


def _standard_error(pointwise):
    n = pointwise.size
    return float(np.sqrt(n * pointwise.var(ddof=1))) if n > 1 else float("nan")


class ComparisonMixin:
    """Methods that compare models on the snippets they were trained on."""

    posterior_: Any
    likelihood_power_: float

    def loo(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
        pointwise: bool = True,
    ) -> Result:
        """Estimate the expected log predictive density of left-out snippets, by PSIS-LOO.

        Compares numbers of senses, or models, without further fits, if the Pareto shapes allow it.
        Prefer `metrics.score_units`, which holds out units. Takes a few milliseconds per snippet
        with 4000 draws.

        Parameters
        ----------
        X, y, times, genres, units
            What ``fit`` was given; the estimator does not keep the snippets.
        pointwise : bool, default=True
            Whether to return the densities of single snippets, which `metrics.compare_models`
            needs.

        Returns
        -------
        Result
            ``elpd`` (a sum over snippets), its ``se``, ``p_loo``, ``pointwise`` (n_snippets,),
            ``pareto_k``, ``good_k``, ``bad_share``, ``n_snippets``, their ``rows`` in X, and, if
            there are any, ``n_without_words``, the number of snippets without known words, which
            are left out. ``converged``: whether the chains have; ``modes_that_matter``: how many
            modes of the posterior matter; the table says so if chains have not converged or several
            modes matter, or if ``p_loo`` is above a fifth of the number of snippets, where ``elpd``
            is not reliable. Snippets of known sense count with their sense. If ``fit`` was given
            units, ``n_units`` is their number. PSIS-LOO leaves out a snippet but not the rest of
            its unit; `metrics.score_units` says how well whole left-out units are predicted.

        Raises
        ------
        ValueError
            If X is not the training data in the order of ``fit`` (a fingerprint of snippets, their
            covariates and ``y`` tells), or there are no draws of the posterior.

        Warns
        -----
        UserWarning
            If some densities are unreliable according to their Pareto k.

        References
        ----------
        Vehtari, Gelman & Gabry (2017), Statistics and Computing 27.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, n_starts=2, draws=200, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.loo(snippets).elpd < 0
        True
        """
        check_is_fitted(self, "posterior_")
        check_bool("pointwise", pointwise)
        found = loo(self, *training_again(self, X, y, times, genres, units))
        if not pointwise:
            del found["pointwise"]
        return found

    def to_datatree(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
        max_bytes: int = LOG_LIKELIHOOD_BYTES,
        draws: int | None = None,
    ) -> Any:
        """Convert the posterior to an ArviZ data tree, for its plots, ``loo`` and ``psense``.

        Parameters
        ----------
        X, y, times, genres, units : optional
            What ``fit`` was given: adds the group ``log_likelihood``, with an entry for each
            snippet that has a known word.
        max_bytes : int, default=2**30
            Maximum size of ``log_likelihood``, which takes 8 bytes per draw and snippet.
        draws : int, optional
            Number of evenly spaced draws to use, over all chains together, instead of all. Saves
            time and memory for the log likelihoods.

        Returns
        -------
        xarray.DataTree
            Groups ``posterior`` and ``sample_stats``, and, for the draws of chains, ``log_prior``
            (``parameters``, up to a constant, in the coordinates in which the chains move) and
            ``log_likelihood``.

        Raises
        ------
        ImportError
            If arviz-base, in the extra ``arviz``, is not installed.
        ValueError
            If X is given: as in `loo`, or if the solver is not ``"gibbs"`` or ``"hmc"``.
        MemoryError
            If ``log_likelihood`` would take more than ``max_bytes``.

        Notes
        -----
        ArviZ's ``loo`` and ``compare`` leave out single snippets, and a note on the standard error
        stream says so. To compare models, use `metrics.score_units`, which holds out units.

        Log likelihoods are raised to ``likelihood_power_``, as in the posterior; those of different
        powers are not comparable. With ``embedding_draws``, ArviZ weighs draws of the vectors
        against each other, which a posterior that takes them as given does not: use the method
        ``loo``.
        """
        check_is_fitted(self, "posterior_")
        model = with_draws(self, draws)
        posterior = model.posterior_
        groups: dict[str, Any] = {}
        if X is not None:
            check_sampled(posterior.attrs["solver"], CHAINS)
            places, labels = training_again(self, X, y, times, genres, units)
            check_log_likelihood(posterior, places.n_snippets, max_bytes, "snippets")
            values = np.empty((posterior.n_chains * posterior.n_draws, places.n_snippets))
            for block, density in _blocks(model, places, labels):
                values[:, block] = self.likelihood_power_ * density.T
            # ArviZ would fit tails to what is constant
            rows, _ = _of_those_that_tell(np.ptp(values, axis=0) > _CONSTANT)
            without = places.n_snippets - rows.size
            if without:
                values = values[:, rows]
            values = values.reshape(posterior.n_chains, posterior.n_draws, -1)
            found = Observations(values, "snippet", {"snippet": rows})
            groups["log_likelihood"] = {"snippets": found}
            more = f" {without:,} without known words are left out." if without else ""
            note = NOTE_ON_RUNS if posterior.n_runs > 1 else ""
            powered = _POWERED if self.likelihood_power_ != 1.0 else ""
            note_user(f"{_LEFT_OUT}{more}{powered}{note}")
        prior = None
        if posterior.attrs["solver"] in CHAINS:
            prior = log_prior_of_stats(posterior, self.likelihood_power_)
        if prior is not None:
            groups["log_prior"] = {"parameters": prior}
        return data_tree(posterior, **groups)

    def waic(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> Result:
        """Compute the widely applicable information criterion as an expected log density.

        Parameters
        ----------
        X, y, times, genres, units
            What ``fit`` was given.

        Returns
        -------
        Result
            ``elpd`` (a sum over snippets; -2 times it is WAIC on the deviance scale), its ``se``,
            ``p_waic``, ``pointwise`` (n_snippets,), ``bad_share``, the share of snippets whose log
            density varies too much, and ``rows``, ``n_snippets``,
            ``n_without_words``, ``n_units``, ``converged`` and ``modes_that_matter`` as in `loo`.

        Raises
        ------
        ValueError
            As in `loo`.

        Warns
        -----
        UserWarning
            If the log density of a snippet varies too much for WAIC.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, n_starts=2, draws=200, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.waic(snippets).elpd < 0
        True
        """
        check_is_fitted(self, "posterior_")
        return waic(self, *training_again(self, X, y, times, genres, units))

"""From snippets to a posterior: modes, chains that start in the heaviest, diagnostics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.random import generators
from ..common.spine import chain_settings
from ..common.warnings import warn_unless_mixed, warn_user
from ..inference.advi import mean_field
from ..inference.chains import ChainRecord, gather
from ..inference.gibbs import sample_gibbs
from ..inference.hmc import sample_hmc
from ..inference.matching import mean_of_aligned, similarities
from ..inference.mode import find_mode
from ..inference.mode_gaussian import ModeGaussian
from ..inference.threads import OneBlasThread
from ..inference.trajectories import HamiltonianOptions
from ..posterior.posterior import Posterior
from ..posterior.summary import rhat
from .checks import kernel_of
from .model import SenseModel
from .replication.blockwise import SenseBlocks
from .starts import SAME, find_modes, order_of_labels, permuted

# Some directions in which words change their senses together are many times as wide as the rest
# of the posterior. The trajectories of NUTS turn as the rest does; these are longer.
_PATH, _JITTER = 12.0, 0.3
# Acceptance aimed at where nothing is asked: steps so long cost least a draw, but other models than
# DiSC have narrow places.
_BOLD, _CAREFUL = 0.65, 0.8
# A second mode with more than this share of the posterior is reported.
_WORTH_NAMING = 0.01
# Draws of an approximation that are made at a time.
_DRAWN = 64
_APPROXIMATE = ("laplace", "vi")
_DIMS = {
    "prevalence": ("genre", "period", "sense"),
    "chi": ("sense", "word"),
    "theta": ("period", "word"),
    "psi": ("sense", "period", "word"),
}


@dataclass
class Fitted:
    """What a solver leaves: posterior, modes found (of samplers), iterations."""

    posterior: Posterior
    modes: list
    n_iter: int


class SenseChain(SenseModel):
    """The model of a chain within one mode: starts in it, and keeps its names of senses."""

    # the last draw looked at, its log likelihood and order; chains overwrite each other's
    _last = None

    def enter(self, mode):
        """Take starts, frame and reference from a mode; returns self."""
        self.mode, self._last = mode, None
        return mode.frame(self)

    def init(self, rng):
        """Flat start of a chain: one of the states that the mode was explored through."""
        return self.pack(self.mode.states[rng.integers(len(self.mode.states))])

    def _matched(self, theta):
        """Log likelihood of a draw, and which of its senses is which of the mode's."""
        last = self._last
        if last is None or not np.array_equal(last[0], theta):
            sums = self.sums(self.unpack(theta))
            order = self.order_of(self.mode.weights, sums.weights)
            last = self._last = theta.copy(), sums.value, order
        return last[1:]

    def observe(self, theta):
        """As the model's, with senses matched to those of the mode."""
        _, order = self._matched(theta)
        return reordered(super().observe(theta), order)

    def trace(self, theta):
        """As the model's, and whether senses had changed their places."""
        log_likelihood, order = self._matched(theta)
        switched = float(np.any(order != np.arange(order.size)))
        return self.statistics(theta, log_likelihood) | {"switched": switched}


def reordered(values, order):
    """Recorded arrays with their senses in another order."""
    out = dict(values)
    out["prevalence"] = values["prevalence"][..., order]
    for name in ("chi", "psi"):
        if name in values:
            out[name] = values[name][order]
    return out


def solve(estimator, data, prior, seeds):
    """Run the estimator's solver.

    Parameters
    ----------
    estimator : DiSCSenseModel
    data : Snippets
    prior : SensePrior
    seeds : numpy.random.SeedSequence

    Returns
    -------
    Fitted
    """
    of_starts, of_chains = seeds.spawn(2)
    if prior.walks and np.inf in (prior.first_phi, prior.first_psi):
        warn_user(
            "With a flat prior of the first period (first_phi or first_psi infinite) the posterior "
            "is improper: draws drift, and no interval of them means anything.",
            UserWarning,
        )
    if estimator.solver == "map":
        return _point(estimator, data, prior, of_starts)
    settings = _plan(estimator, data, prior)
    modes = find_modes(
        data,
        estimator.n_senses,
        prior,
        of_starts,
        n_starts=estimator.n_starts,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )
    _name_modes(modes)
    sample = {"hmc": _hmc, "gibbs": _gibbs, "vi": _vi, "laplace": _laplace}[estimator.solver]
    result = sample(estimator, data, prior, modes[0], settings, of_chains)
    posterior = _assemble(estimator, result, settings, modes)
    _check(posterior, data, estimator.n_senses, prior)
    return Fitted(posterior, modes, max(1, result.facts.get("n_iter", 1)))


def _plan(estimator, data, prior):
    """Number of draws and what is recorded, after a look at the memory it takes."""
    n_senses = estimator.n_senses
    additive = prior.kind == "disc"
    words = n_senses + data.n_periods if additive else n_senses * data.n_periods
    size = words * data.n_words + data.n_genres * data.n_periods * n_senses
    chains = 1 if estimator.solver in _APPROXIMATE else None
    return chain_settings(estimator, 8 * size, 16 * size, 80, chains=chains)


def _point(estimator, data, prior, seeds):
    """The best of several searches for the mode, as a posterior of one draw."""
    model = SenseModel(data, estimator.n_senses, prior)
    best = None
    with OneBlasThread():
        for rng in generators(seeds, estimator.n_starts):
            theta, facts = _search(estimator, model, model.init(rng))
            if best is None or facts["lp"] > best[1]["lp"]:
                best = theta, facts
    theta, facts = best
    if not facts["converged"]:
        warn_user(
            f"The mode was not reached in max_iter={estimator.max_iter} iterations: raise "
            "max_iter, or tol.",
            ConvergenceWarning,
        )
    order = np.arange(estimator.n_senses)
    if not (data.labels >= 0).any():
        order = np.argsort(-model.sense_proba(model.unpack(theta)).sum(axis=0), kind="stable")
    values = reordered(model.observe(theta), order)
    draws = {name: value[None, None] for name, value in values.items()}
    attrs = {"solver": "map", **{name: facts[name] for name in ("lp", "n_iter", "converged")}}
    return Fitted(Posterior(draws, dims=_dims(draws), attrs=attrs), [], max(1, facts["n_iter"]))


def _search(estimator, model, start):
    """A search for the mode; once more where other names of senses explain the known ones."""
    options = {"max_iter": estimator.max_iter, "tol": estimator.tol, "warn": False}
    theta, facts = find_mode(model, start, **options)
    arrays = model.unpack(theta)
    order = order_of_labels(model.data, model.n_senses, model.prior, arrays)
    if np.array_equal(order, np.arange(order.size)):
        return theta, facts
    return find_mode(model, model.pack(arrays | permuted(arrays, order)), **options)


def _hmc(estimator, data, prior, mode, settings, seeds):
    model = SenseChain(data, estimator.n_senses, prior).enter(mode)
    run = {
        "n_chains": estimator.chains,
        "seeds": seeds,
        "n_jobs": estimator.n_jobs,
        "verbose": estimator.verbose,
    }
    kernel = kernel_of(estimator)
    if kernel == "blockwise":
        return sample_gibbs(SenseBlocks(model), settings, **run)
    moves = {"method": "hmc", "path_length": _PATH, "jitter": _JITTER}
    moves["integrator"] = "gaussian-two-stage"
    if kernel == "nuts":
        # its trajectories end where they turn, which the steps of "gaussian" would hide
        moves = {"method": "nuts"}
    target = estimator.target_accept
    if target is None and kernel == "hmc":
        target = _BOLD if prior.kind == "disc" else _CAREFUL
    options = HamiltonianOptions(**moves, target_accept=target, metric="given")
    return sample_hmc(model, settings, options, **run)


def _gibbs(estimator, data, prior, mode, settings, seeds):
    from .gibbs.conditionals import SenseGibbs

    start = {"phi": mode.arrays["phi"].transpose(2, 0, 1)}
    if prior.walks:
        start["psi"] = mode.arrays["psi"].transpose(1, 0, 2)
    else:
        start["chi"], start["theta"] = mode.arrays["chi"][0], mode.arrays["theta"]
    model = SenseGibbs(
        data,
        estimator.n_senses,
        prior,
        kind=prior.kind,
        kernel=kernel_of(estimator),
        start={name: np.ascontiguousarray(value) for name, value in start.items()},
    )
    result = sample_gibbs(
        model,
        settings,
        n_chains=estimator.chains,
        seeds=seeds,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )
    _align(result.draws, SenseModel(data, estimator.n_senses, prior), mode)
    return result


def _align(draws, model, mode):
    """Match the senses of every draw with those of a mode, in place."""
    for chain, draw in np.ndindex(draws["prevalence"].shape[:2]):
        order = model.order_of(mode.weights, model.weights_of(draws, chain, draw))
        if np.any(order != np.arange(order.size)):
            here = {name: values[chain, draw] for name, values in draws.items()}
            for name, value in reordered(here, order).items():
                draws[name][chain, draw] = value


def _vi(estimator, data, prior, mode, settings, seeds):
    """Independent Gaussians around the heaviest mode, in the coordinates of its frame."""
    rng, of_draws = generators(seeds, 2)
    model = SenseChain(data, estimator.n_senses, prior).enter(mode)
    with OneBlasThread():
        approximation, facts = mean_field(
            model,
            model.pack(mode.arrays),
            rng,
            max_iter=estimator.max_iter,
            verbose=estimator.verbose,
        )
    return _drawn(model, approximation, facts, settings, of_draws)


def _laplace(estimator, data, prior, mode, settings, seeds):
    """The Gaussian at the mode that the heaviest mode of the posterior leads to."""
    model = SenseChain(data, estimator.n_senses, prior).enter(mode)
    with OneBlasThread():
        theta, facts = find_mode(
            model,
            model.pack(mode.arrays),
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            verbose=estimator.verbose,
        )
        facts = {name: facts[name] for name in ("n_iter", "converged")}
        approximation = ModeGaussian(model, theta)
        return _drawn(model, approximation, facts, settings, generators(seeds, 1)[0])


def _drawn(model, approximation, facts, settings, rng):
    """Independent draws of an approximation as one chain."""
    record = ChainRecord()
    while record.n_draws < settings.draws:
        for theta in approximation.sample(min(_DRAWN, settings.draws - record.n_draws), rng):
            record.store(settings, model.observe(theta), model.trace(theta))
    result = gather([record], settings, False)
    result.facts.update(facts, approximation=approximation)
    return result


def _dims(draws):
    return {name: _DIMS[name] for name in draws if name in _DIMS}


def _assemble(estimator, result, settings, modes):
    """Draws, statistics and facts as a `Posterior`."""
    attrs = {
        "solver": estimator.solver,
        "warmup": settings.warmup,
        "thin": settings.thin,
        "interrupted": bool(result.facts["interrupted"]),
        "n_modes": len(modes),
        "mode_share": modes[0].share,
        "mode_starts": modes[0].n_starts,
    }
    for name in ("divergences", "saturated", "n_iter", "converged"):
        if name in result.facts:
            attrs[name] = result.facts[name]
    posterior = Posterior(
        result.draws,
        stats=result.stats,
        moments=result.moments,
        dims=_dims(result.draws),
        attrs=attrs,
    )
    posterior.approximation = result.facts.get("approximation")
    return posterior


def _name_modes(modes):
    """ConvergenceWarning where a second mode holds more than a hundredth of the posterior."""
    others = [mode for mode in modes[1:] if mode.share > _WORTH_NAMING]
    if others:
        described = "; ".join(_describe(mode) for mode in [modes[0], *others])
        warn_user(
            f"The posterior has {1 + len(others)} modes that matter: {described}. The chains run "
            "in the first. See modes_; raise n_starts for surer shares, label some snippets "
            "(y), or choose another n_senses.",
            ConvergenceWarning,
        )


def _describe(mode):
    return (
        f"{100 * mode.share:.3g} % of the posterior, mean log likelihood "
        f"{mode.log_likelihood:.1f}, {mode.n_starts} start(s)"
    )


def _check(posterior, data, n_senses, prior):
    """Warnings of chains in different modes, of chains that have not mixed, of switched senses."""
    draws = posterior["prevalence"]
    n_chains, n_draws = draws.shape[:2]
    if n_chains > 1 and n_senses > 1:
        model = SenseModel(data, n_senses, prior)
        chosen = np.linspace(0, n_draws - 1, min(n_draws, 20)).astype(int)
        weights = [
            mean_of_aligned([model.weights_of(posterior, c, i) for i in chosen], model.binding)
            for c in range(n_chains)
        ]
        least = float(similarities(weights, model.binding).min())
        posterior.attrs["chain_similarity"] = least
        if least < SAME:
            values = ", ".join(f"{v:.1f}" for v in posterior.stats["log_likelihood"].mean(axis=1))
            warn_user(
                "The chains are in different modes of the posterior (mean log likelihoods "
                f"{values}): their draws together are no posterior. Raise n_starts and warmup, "
                "or choose another n_senses.",
                ConvergenceWarning,
            )
    if n_senses > 1 and posterior.approximation is None:
        what = "the prevalences of senses"
        posterior.attrs["max_rhat"] = warn_unless_mixed(rhat(draws), what)

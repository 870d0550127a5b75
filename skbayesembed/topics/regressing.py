"""Regressions of the shares of topics on covariates of documents."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri, stdtr, stdtrit

from ..common.checks import check_choice, check_integer, check_prob
from ..common.estimator import spaced
from ..common.random import seed_at
from ..corpus.design import INTERCEPT, design_of, explained_by_others
from ..corpus.known import known_counts
from ..corpus.products import products_of
from ..corpus.rows import check_rows
from ..corpus.times import check_order
from ..corpus.units import check_units, name_of, units_of
from ..numeric.autocorrelation import LeastSquaresInTime
from ..numeric.imputation import between_draws, freedom_of_sum
from ..numeric.regression import ClusteredLeastSquares
from ..posterior.few_units import warn_of_few
from ..posterior.in_time import in_time_of, warn_of_alternation
from ..posterior.naming import given_names
from ..posterior.one_unit import warn_of_one_unit
from ..posterior.sources import VECTORS, units_called
from .effects import TopicEffects
from .inputs import vocabulary_reading
from .labels import labels_of, notes_on_rough, rough_topics
from .recording import topics_apart, unmixed_topics
from .theta import theta_draws
from .unbiased import unbiased_shares

SHARES = ("unbiased", "posterior")
# Joint draws of effects, at least.
_DRAWS = 1000
# Variance between chains that is to be seen, in squared standard errors, and how surely.
_HALF_ERROR, _SEEN = 0.25, 0.75
# Share of a document below which a difference is one of rounding, and no effect.
_ROUNDING = 1e-6


def topic_effects(estimator, X, design, units, *, times, shares, n_draws, prob):
    """`TopicEffects` of documents that have known words; as `TopicReadingMixin.effects`."""
    check_choice("shares", shares, SHARES)
    check_integer("n_draws", n_draws, 1)
    check_prob(prob)
    if len(estimator.components_) == 1:
        raise ValueError(
            "effects need two topics or more, and this fit has one (n_components=1): its share is "
            "1 in every document, whatever the covariates."
        )
    check_rows(X=X, design=design, units=units, times=times)
    counts = known_counts(estimator, X)
    n = counts.shape[0]
    units_name = name_of(units)
    design, units = design_of(design, n), check_units(units, n)
    when = None if times is None else check_order(times, n)
    kept = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() > 0)
    counts, design = counts[kept], design.rows(kept, "documents with known words")
    units = units_of(None if units is None else units[kept], None, kept.size)
    posterior = estimator.posterior_
    # where none are kept the error says what to do
    recorded = len(posterior.flat("alpha"))
    # shares under known topics are drawn all the same
    drawn = recorded == 1 and shares == "posterior"
    chosen = spaced(posterior, n_draws if drawn else min(n_draws, recorded))
    find = unbiased_shares if shares == "unbiased" else _posterior_shares
    if when is not None:
        when = when[kept]
    rng = np.random.default_rng(seed_at(estimator._reading_seed))
    each = -(-_DRAWS // chosen.size)
    shares = find(estimator, counts, chosen)
    regress = _independent if when is None else _in_time
    found, variances, draws, freedom, facts = regress(design, units, when, shares, each, rng)
    facts |= {"n_units": units.n_units, "n_documents": len(design.matrix), "prob": prob}
    facts |= {"n_left_out": n - kept.size, "variational": posterior.attrs.get("solver") == "vi"}
    facts["known_topics"] = recorded == 1 or chosen.size == 1
    facts["units_name"] = units_name
    low, high = design.matrix.min(axis=0), design.matrix.max(axis=0)
    facts["off_zero"] = ((low > 0) | (high < 0)) & (design.terms != INTERCEPT)
    facts["explained"] = explained_by_others(design.matrix)
    facts["zero_one"] = np.array([set(x) == {0.0, 1.0} for x in design.matrix.T])
    facts["products"] = products_of(design.matrix, design.terms)
    warn_of_one_unit(design.terms, freedom)
    spread = np.ptp(design.matrix, axis=0)
    spread[spread == 0] = 1.0
    effects = _pooled(
        estimator, design.terms, spread, found, variances, draws, freedom, facts, chosen
    )
    warn_of_alternation(in_time_of(effects), effects._sampled())
    _warn_of_few(effects)
    return effects


def _warn_of_few(effects):
    """Warn where units are few for the terms; the constant is none."""
    varying = effects.terms != INTERCEPT
    sampled = effects._sampled()
    sampled = sampled if sampled == "documents" else units_called(effects.units_name)
    terms = effects.freedom[varying], effects.n_units, effects.terms[varying]
    warn_of_few(*terms, "term", effects._about(), sampled)


def _independent(design, units, when, shares, each, rng):
    """Effects, variances, draws and degrees of freedom where units are independent."""
    regression = ClusteredLeastSquares(design.matrix, units.index)
    found, variances, draws = [], [], []
    for outcomes in shares:
        mean, influence = regression.fit(outcomes)
        found.append(mean)
        variances.append(np.sum(influence**2, axis=0))
        noise = rng.standard_normal((each, regression.n_units))
        draws.append(mean + np.tensordot(noise, influence, axes=1))
    return found, variances, draws, regression.freedom[:, None], {}


def _in_time(design, units, when, shares, each, rng):
    """The same where they may be autocorrelated, each topic in its own way; effects add up."""
    shares = np.array(list(shares)).transpose(2, 1, 0)  # (topic, document, draw)
    noise = rng.standard_normal((shares.shape[2], each, units.n_units))
    parts, facts = [], []
    for of in shares:
        regression = LeastSquaresInTime(design.matrix, of.mean(axis=1), units.index, when)
        mean, variance, influence = regression.fit(of)
        drawn = mean.T[:, None] + np.einsum("seg,gps->sep", noise, influence)
        parts.append((mean.T, variance.T, drawn, regression.freedom))
        facts.append(regression.found.facts())
    found, variances, draws, freedom = (np.stack(of, axis=-1) for of in zip(*parts, strict=True))
    shift = _adding_up(found, variances, design.terms == INTERCEPT)
    facts = {name: np.array([of[name] for of in facts]) for name in facts[0]}
    return found + shift, variances, draws + shift[:, None], freedom, facts


def _adding_up(found, variances, total):
    """What effects have to move by to add up over the topics, as shares do in each document.

    Topics whose residuals have correlations of their own have estimators that differ, and sums that
    are off. Each takes a part of this that goes by its variance: least squares under the constraint
    if topics were independent. Their covariances are left out, since those of shares leave sums
    no variance, and are no guide to what these are off by.

    Parameters
    ----------
    found, variances : ndarray of shape (n_draws, n_terms, n_topics)
    total : ndarray of shape (n_terms,)
        What effects add up to: one for the constant, nothing for the others.
    """
    gap = found.sum(axis=-1, keepdims=True) - total[:, None]
    of_all, equal = variances.sum(axis=-1, keepdims=True), 1.0 / found.shape[-1]
    part = np.divide(variances, of_all, out=np.full(found.shape, equal), where=of_all > 0)
    return -gap * part


def _pooled(estimator, terms, spread, found, variances, draws, of_units, facts, chosen):
    """Effects under draws of the topics, pooled: variances within and between them add up.

    ``chosen`` (n_draws,) are the places of these draws in the posterior.

    An effect that changes no share by more than rounding does, over the whole ``spread`` (n_terms,)
    of its term, is none, with p = 1.
    """
    prob, posterior = facts["prob"], estimator.posterior_
    runs = posterior.runs_of(chosen) if posterior.n_runs > 1 else np.arange(chosen.size)
    mean, within = np.mean(found, axis=0), np.mean(variances, axis=0)
    parts = between_draws(np.array(found), runs)
    between = sum(part for part, _ in parts)
    sd = np.sqrt(within + between)
    freedom = freedom_of_sum([(within, of_units), *parts])
    reach = sd * stdtrit(freedom, 0.5 + 0.5 * prob)
    ratio = np.divide(np.abs(mean), sd, out=np.full(sd.shape, np.inf), where=sd > 0)
    none = (np.abs(mean) + sd) * spread[:, None] < _ROUNDING
    ratio, reach = np.where(none, 0.0, ratio), np.where(none, np.fmax(reach, np.abs(mean)), reach)
    return TopicEffects(
        terms,
        mean,
        sd,
        np.sqrt(within),
        np.sqrt(between),
        np.stack([mean - reach, mean + reach], axis=-1),
        2 * stdtr(freedom, -ratio),
        freedom,
        np.concatenate(draws),
        labels_of(estimator),
        unmixed=unmixed_topics(posterior),
        settled=_settled(posterior, np.array(found), sd, chosen),
        rough=rough_topics(posterior),
        names=given_names(posterior, "topic"),
        **facts,
    )._resting_on(
        f"units, {VECTORS}" if posterior.n_runs > 1 else "units",
        notes_on_rough(posterior),
    )


def _settled(posterior, found, sd, chosen):
    """Effects on which chains agree though shares of the topics differ, bool (n_terms, n_topics).

    What the sampling of units leaves open may be far more than what chains differ by. Chains agree
    where the variance between their halves' means is so small that it would be larger in three of
    four cases if the standard deviation between chains were half the standard error, ``sd``. None
    is settled where chains are in different modes or have not come to rest.

    Parameters
    ----------
    found : ndarray of shape (n_chosen, n_terms, n_topics)
    sd : ndarray of shape (n_terms, n_topics)
    chosen : ndarray of int of shape (n_chosen,)
        Places of draws in the posterior, in order.
    """
    settled, apart, n_chains = np.zeros(sd.shape, bool), topics_apart(posterior), posterior.n_chains
    if not apart.size or posterior.n_runs > 1 or n_chains < 2:
        return settled
    half = 2 * (chosen // posterior.n_draws)
    half += chosen % posterior.n_draws >= posterior.n_draws / 2
    if np.bincount(half, minlength=2 * n_chains).min() == 0:
        return settled
    means = np.array([found[half == one].mean(axis=0) for one in range(2 * n_chains)])
    # of chains that stay where they are halves have the less variance, each being there twice
    limit = _HALF_ERROR * chdtri(n_chains - 1, _SEEN) * 2 / (2 * n_chains - 1)
    settled[:, apart] = (means.var(axis=0, ddof=1) <= limit * sd**2)[:, apart]
    return settled


def _posterior_shares(estimator, counts, chosen):
    """Draws of theta, one under each of ``chosen``."""
    return theta_draws(estimator, vocabulary_reading(estimator, counts), chosen.size)

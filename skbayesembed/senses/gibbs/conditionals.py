"""Gibbs sampling of the sense models: senses of snippets, then logits given the senses.

Given the senses, every softmax row of prevalence or word logits is a multinomial regression. A
logit enters its row through a logistic term with the log-sum of the other logits as offset; the
kernels differ in how they draw it (Zafar & Nicholls 2022, Appendix B):

- ``"polya-gamma"``: one Polya-Gamma variable for each row and entry. Given them the logits of one
  word are jointly Gaussian over all periods and, in DiSC, over all senses: they are drawn at once.
- ``"metropolis"``: all those logits of one word are proposed at once from the Gaussian of a Newton
  step and accepted or not. A word is rare among the words of a period, and Polya-Gamma variables
  then hold its logits far more tightly than the data do: these moves are several times longer.
  Every eighth sweep is one of ``"polya-gamma"``, whose moves are never refused. Prevalence logits
  are always drawn as by ``"polya-gamma"``.
- ``"uniform"``: two bounds from auxiliary uniform variables for each row and entry, then a
  truncated normal, one logit at a time.
- ``"approximate"``: as ``"polya-gamma"``, with every Polya-Gamma variable replaced by a draw of
  PG(1, .) that is moved and scaled to the same mean and variance (Chen et al. 2013). The posterior
  it draws from is not the model's, and by how much they differ is not known.

Three shifts leave the likelihood as it is and are drawn from their exact Gaussian conditionals
after each update: the level of each softmax row, in prevalence and words, and with
``"uniform"`` that of a word in ``chi`` against ``theta``.

Where works have effects on prevalence, there is a softmax row for each work in a genre and period,
and paths and effects are drawn together (see `works`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from ..replication import uniform
from ..table_kernels import SoftmaxTable
from . import kernels
from . import metropolis_kernels as metropolis
from .works import WorkState, WorkUpdates

# Of the sweeps of "metropolis", every so many is one of "polya-gamma".
_POLYA_GAMMA_EVERY = 8


@dataclass
class SenseState:
    """A chain's logits and senses, with what follows from them.

    Attributes
    ----------
    prevalence, words : SoftmaxTable
        Of ``phi`` (G, T, K), or where there are works of the logits of their contexts (R, T, K),
        as `Snippets.mixtures` has them; and of the word logits (K, T, V), with DiSC
        ``chi[k] + theta[t]``.
    chi, theta : ndarray of shape (K, V) and (T, V), or None
    kappa_phi : float
        Innovation variance of ``phi``, learned in ``"gasc"`` and ``"scan"``.
    senses : ndarray of shape (n_snippets,), int64
    snippets, tokens : ndarray of shape (R, T, K) and (K, T, V)
        Snippets and words by sense; R is G without works.
    works : WorkState or None
        ``phi`` and the effects of works, where there are any.
    log_likelihood : float
        With unknown senses summed out.
    n_sweeps : int
    acceptance : float
        Share of the last Metropolis moves that were accepted.
    """

    prevalence: SoftmaxTable
    words: SoftmaxTable
    chi: np.ndarray | None
    theta: np.ndarray | None
    kappa_phi: float
    senses: np.ndarray
    snippets: np.ndarray
    tokens: np.ndarray
    works: WorkState | None = None
    log_likelihood: float = np.nan
    n_sweeps: int = 0
    acceptance: float = 1.0

    @property
    def phi(self):
        """Prevalence logits, ndarray of shape (G, T, K)."""
        return self.prevalence.x if self.works is None else self.works.phi


class SenseGibbs:
    """`Conditionals` of DiSC, GASC and SCAN for the Gibbs engine.

    Parameters
    ----------
    data : Snippets
        K senses, G genres, T periods, V words and W works below; known labels stay fixed.
    n_senses : int
    prior : ModelPrior
        Not of ``"interaction"``, which has no such conditionals, and with finite variances of first
        periods.
    kernel : {"metropolis", "polya-gamma", "uniform", "approximate"}, default="metropolis"
        ``"approximate"`` does not draw from the posterior: see the head of this module. With
        works one of the first two.
    start : dict of ndarray, optional
        Where chains start: ``phi`` (G, T, K) and ``chi`` (K, V), ``theta`` (T, V) or ``psi``
        (K, T, V); with works also ``unit_effects`` (W, K) and ``log_unit_sd``. Unknown senses are
        drawn given them; without, they are drawn uniformly.

    Notes
    -----
    The cost of a sweep is linear in the number of tokens times K and in K T V (in K^2 T V and
    K^3 V with many senses).
    Recorded: ``prevalence`` (G, T, K), ``chi`` and ``theta`` or ``psi``; with works also ``phi``,
    ``unit_effects`` and ``unit_sd``, as of `SenseModel`. Traced: ``lp``, the log
    posterior density of the logits, senses summed out, up to the log evidence;
    ``log_likelihood``; a learned ``kappa_phi``.
    """

    n_streams = 1

    def __init__(self, data, n_senses, prior, kernel="metropolis", start=None):
        self.data, self.n_senses, self.prior = data, n_senses, prior
        self.kernel, self.start = kernel, start
        self.walks = prior.walks
        if self.walks:
            self._word_prior = prior.psi_precision(data.n_periods)
        else:
            self._word_prior = prior.theta_precision(data.n_periods)
        self._log_determinant = self._word_prior.log_determinant()
        self._rows, of_rows = data.mixtures
        self._n_rows = len(of_rows)
        self._works = None
        if data.works is not None:
            self._works = WorkUpdates(data, n_senses, prior.unit_scale)

    @property
    def shapes(self):
        """Shapes of the logits, dict."""
        data = self.data
        g, t, k, v = data.n_genres, data.n_periods, self.n_senses, data.n_words
        shapes = {"phi": (g, t, k)}
        shapes |= {"psi": (k, t, v)} if self.walks else {"chi": (k, v), "theta": (t, v)}
        if self._works is None:
            return shapes
        return shapes | {"unit_effects": self._works.shape, "log_unit_sd": ()}

    def init_state(self, rngs):
        """Logits of ``start``, or zero, and senses drawn given them."""
        if self.start is None:
            arrays = {n: np.zeros(shape) for n, shape in self.shapes.items()}
            return self.state_of(arrays | (self._works.start if self._works else {}), rngs)
        return self.state_of({n: np.array(self.start[n], order="C") for n in self.shapes}, rngs)

    def state_of(self, arrays, rngs):
        """The state with these logits, which become its own, and senses drawn given them."""
        data = self.data
        if self.walks:
            words, chi, theta = arrays["psi"], None, None
        else:
            chi, theta = arrays["chi"], arrays["theta"]
            words = chi[:, None] + theta
        if self._works is None:
            works, prevalence = None, SoftmaxTable.of(arrays["phi"])
        else:
            works, prevalence = self._works.state_of(arrays)
        state = SenseState(
            prevalence,
            SoftmaxTable.of(words),
            chi,
            theta,
            self.prior.mean_kappa_phi,
            np.empty(data.n_snippets, dtype=np.int64),
            np.empty((self._n_rows, data.n_periods, self.n_senses)),
            np.empty(words.shape),
            works,
        )
        self._draw_senses(state, rngs[0])
        return state

    def sweep(self, state, rngs, run):
        """Update prevalence logits, word logits and then senses; ``run`` is not used."""
        rng = rngs[0]
        self._draw_prevalence(state, rng)
        self._draw_words(state, rng)
        state.words.refresh()
        self._draw_senses(state, rng)
        state.n_sweeps += 1

    def tune(self, state, step, warmup):
        """There is nothing to tune."""

    def observe(self, state):
        """``prevalence`` (G, T, K) and the word logits of this draw."""
        if self._works is None:
            table = state.prevalence
            seen = {"prevalence": table.weight / table.total[:, :, None]}
        else:
            seen = self._works.observe(state.works)
        if self.walks:
            return {**seen, "psi": state.words.x.copy()}
        return {**seen, "chi": state.chi.copy(), "theta": state.theta.copy()}

    def trace(self, state):
        """Log densities, a learned ``kappa_phi``, the share of Metropolis moves accepted."""
        value = state.log_likelihood
        seen = {"lp": value + self._log_prior(state), "log_likelihood": value}
        if self.prior.learns:
            seen["kappa_phi"] = state.kappa_phi
        if self.kernel == "metropolis":
            seen["acceptance"] = state.acceptance
        return seen

    def _draw_prevalence(self, state, rng):
        table = state.prevalence
        precision = self.prior.phi_precision(self.data.n_periods, state.kappa_phi)
        if self._works is None:
            self._draw_paths(table, state.snippets, precision, rng)
            kernels.draw_levels(table.x, precision.diagonal, precision.off, rng)
            table.refresh()
        else:
            self._works.draw(state.works, table, state.snippets, precision, rng)
        if self.prior.learns:
            shape, rate = self.prior.kappa_conditional(state.phi)
            state.kappa_phi = rate / rng.standard_gamma(shape)

    def _draw_words(self, state, rng):
        """Word logits given the senses, then what the likelihood leaves free; the table follows."""
        prior, table = self._word_prior, state.words
        if self.kernel == "metropolis" and state.n_sweeps % _POLYA_GAMMA_EVERY:
            self._move_words(state, rng)
        elif self.walks:
            self._draw_paths(table, state.tokens, prior, rng)
        else:
            self._draw_effects(state, rng)
        if self.walks:
            kernels.draw_levels(table.x, prior.diagonal, prior.off, rng)
            return
        kernels.draw_levels(state.theta[None], prior.diagonal, prior.off, rng)
        own_precision = np.array([1 / self.prior.kappa_chi])
        kernels.draw_levels(state.chi[:, None], own_precision, np.empty(0), rng)
        np.add(state.chi[:, None], state.theta, out=table.x)

    def _move_words(self, state, rng):
        """Metropolis moves of all words."""
        table, prior = state.words, self._word_prior
        none = np.empty((0, 0))
        chi, theta = (none, none) if self.walks else (state.chi, state.theta)
        accepted = metropolis.move_words(
            chi, theta, table, state.tokens, state.tokens.sum(axis=2),
            1 / self.prior.kappa_chi, prior.diagonal, prior.off, not self.walks, rng,
        )  # fmt: skip
        n_moves = self.data.n_words * (self.n_senses if self.walks else 1)
        state.acceptance = accepted / max(n_moves, 1)

    def _draw_paths(self, table, counts, precision, rng):
        """Paths of a table given the counts."""
        given = table, counts, counts.sum(axis=2), precision.diagonal, precision.off
        if self.kernel == "uniform":
            uniform.draw_walks_uniform(*given, rng)
        else:
            kernels.draw_walks(*given, self.kernel == "approximate", rng)

    def _draw_effects(self, state, rng):
        """DiSC's ``chi`` and ``theta`` given the counts."""
        chi, theta, prior = state.chi, state.theta, self._word_prior
        own_precision = 1 / self.prior.kappa_chi
        given = chi, theta, state.words, state.tokens, state.tokens.sum(axis=2)
        if self.kernel == "uniform":
            uniform.draw_effects(*given, own_precision, prior, rng)
        else:
            approximate = self.kernel == "approximate"
            kernels.draw_additive(
                *given, own_precision, prior.diagonal, prior.off, approximate, rng
            )

    def _draw_senses(self, state, rng):
        data, phi = self.data, state.prevalence
        state.log_likelihood = kernels.draw_senses(
            (data.indptr, data.words, data.counts, data.periods, self._rows, data.labels),
            phi.x - phi.log_sums()[:, :, None], state.words.x, state.words.log_sums(),
            rng, state.senses, state.snippets, state.tokens,
        )  # fmt: skip

    def _log_prior(self, state):
        prior = self.prior
        precision = prior.phi_precision(self.data.n_periods, state.kappa_phi)
        value = _log_density(state.phi, precision, precision.log_determinant())
        if self._works is not None:
            value += self._works.log_prior(state.works)
        if prior.learns:
            (a, b), kappa = prior.of_kappa_phi, state.kappa_phi
            value += a * math.log(b) - gammaln(a) - (a + 1) * math.log(kappa) - b / kappa
        if self.walks:
            return value + _log_density(state.words.x, self._word_prior, self._log_determinant)
        value += _log_density(state.theta[None], self._word_prior, self._log_determinant)
        chi, kappa = state.chi, prior.kappa_chi
        constant = chi.size * math.log(2 * math.pi * kappa)
        return value - 0.5 * (constant + float(np.vdot(chi, chi)) / kappa)


def _log_density(x, precision, log_determinant):
    """Log density of independent paths ``x`` (A, T, B) of a Gaussian precision."""
    n, n_periods, m = x.shape
    paths = np.moveaxis(x, 1, 0)
    form = float(np.vdot(paths, precision.apply(paths)))
    constant = n * m * (log_determinant - n_periods * math.log(2 * math.pi))
    return 0.5 * (constant - form)

"""Gibbs updates of prevalence logits and of the effects of works on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...numeric.logistic_normal import mean_softmax
from ..coordinates.works import FIRST_SIZE, centred
from ..table_kernels import SoftmaxTable
from . import kernels, work_kernels

_NONE = np.empty((0, 0))


@dataclass
class WorkState:
    """Prevalence logits of a chain and the effects of works.

    Attributes
    ----------
    phi : ndarray of shape (n_genres, n_periods, n_senses)
    effects : ndarray of shape (n_works, n_senses)
    sd : float
        Their standard deviation.
    """

    phi: np.ndarray
    effects: np.ndarray
    sd: float


class WorkUpdates:
    """Updates of ``phi``, ``unit_effects`` and ``unit_sd`` given the senses of snippets.

    Parameters
    ----------
    data : Snippets
        With works.
    n_senses : int
    scale : float
        Of the half-normal prior of the standard deviation.

    Notes
    -----
    Effects and paths are drawn together, so that what moves one against the other is no slow
    direction. The standard deviation is drawn twice: given the effects, which moves far where they
    are well known, and given the effects in units of it, which moves far where they are not (Yu &
    Meng 2011, *To center or not to center*). No softmax sees the level of effects over senses: it
    is left out of the former and drawn from its prior after it.
    """

    def __init__(self, data, n_senses, scale):
        c, n_works = data.contexts, data.n_works
        self.n_senses, self.scale = n_senses, scale
        self.shape = (n_works, n_senses)
        self._table = (int(c.places.max(initial=0)) + 1, data.n_periods, n_senses)
        order = np.argsort(c.works, kind="stable")
        cells = c.periods * data.n_genres + c.genres
        of_contexts = (x[order] for x in (cells, c.works, c.periods, c.places, c.counts))
        firsts = np.searchsorted(c.works[order], np.arange(n_works + 1))
        self._index = work_kernels.ContextIndex(*of_contexts, firsts.astype(np.int64))
        self._genres = c.genres[order]

    def state_of(self, arrays):
        """The state with these arrays, and the table of its contexts."""
        phi = np.array(arrays["phi"], dtype=float, order="C")
        effects = np.array(arrays["unit_effects"], dtype=float, order="C")
        state = WorkState(phi, effects, math.exp(float(arrays["log_unit_sd"])))
        table = SoftmaxTable.of(np.zeros(self._table))
        self._put(state, table)
        return state, table

    @property
    def start(self):
        """Effects where nothing is known of them, a dict."""
        return {
            "unit_effects": np.zeros(self.shape),
            "log_unit_sd": math.log(self.scale * FIRST_SIZE),
        }

    def draw(self, state, table, counts, precision, rng):
        """Update a state and its table given ``counts`` (places, T, K) of snippets by sense."""
        i = self._index
        given = state.phi, state.effects, counts, i, state.sd, precision.diagonal, precision.off
        work_kernels.draw_contexts(table, *given, rng)
        kernels.draw_levels(state.phi, precision.diagonal, precision.off, rng)
        self._draw_size(state, counts, rng)
        self._put(state, table)

    def _draw_size(self, state, counts, rng):
        i, (n_works, n_senses) = self._index, self.shape
        effects = centred(state.effects)
        n, squares = n_works * (n_senses - 1), float(np.vdot(effects, effects))
        log_sd = math.log(state.sd)
        # effects that underflow tell nothing of their size
        if squares > 0.0 or n == 0:
            of_effects = _NONE, _NONE, _NONE, float(n), squares, self.scale
            log_sd = work_kernels.slice_size(log_sd, *of_effects, rng)
        # with their levels, of which there are n_works
        level = rng.standard_normal(n_works)[:, None] / math.sqrt(n_senses)
        deviations = effects * math.exp(-log_sd) + level
        base = np.ascontiguousarray(state.phi[self._genres, i.periods])
        of_contexts = base, deviations[i.works], np.ascontiguousarray(counts[i.places, i.periods])
        log_sd = work_kernels.slice_size(log_sd, *of_contexts, 0.0, 0.0, self.scale, rng)
        state.sd = math.exp(log_sd)
        state.effects = state.sd * deviations

    def _put(self, state, table):
        i = self._index
        table.x[i.places, i.periods] = state.phi[self._genres, i.periods] + state.effects[i.works]
        table.refresh()

    @staticmethod
    def observe(state):
        """What `SenseModel` records of works, a dict."""
        return {
            "prevalence": mean_softmax(state.phi, state.sd),
            "phi": centred(state.phi),
            "unit_effects": centred(state.effects),
            "unit_sd": np.array(state.sd),
        }

    def log_prior(self, state):
        """Log density of effects, and of their standard deviation."""
        n, form = state.effects.size, float(np.vdot(state.effects, state.effects))
        value = -n * math.log(state.sd * math.sqrt(2 * math.pi)) - 0.5 * form / state.sd**2
        value += 0.5 * math.log(2 / math.pi) - math.log(self.scale)
        return value - 0.5 * (state.sd / self.scale) ** 2

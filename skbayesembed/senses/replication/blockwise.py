"""The blockwise mixed MALA-HMC sampler of Zafar & Nicholls (2022, section 6 and appendix C).

It is kept to reproduce the paper; the sampler of the room, `hmc`, moves all logits at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from .. import density_kernels as density
from .. import kernels
from ..coordinates.frame import periods_first

# Leapfrog steps of a long move of each array of logits; a short move, MALA, has one.
_STEPS = {"phi": 2, "chi": 5, "theta": 5, "psi": 5}
# Acceptance aimed at by short moves (Roberts & Rosenthal 1998) and long ones (Beskos et al. 2013).
_TARGETS = np.array([0.574, 0.651])
# The first step is this over the root of the size of a block (Roberts, Gelman & Gilks 1997).
_FIRST_STEP = 2.4
# The gain of the adaptation after n moves of a kind is n to minus this (Shaby & Wells 2010).
_DECAY = 0.6


@dataclass
class BlockState:
    """A chain's logits and its step sizes.

    Attributes
    ----------
    arrays : dict of ndarray
        As in `SenseModel`.
    log_steps, n_moves : dict of ndarray of shape (2,)
        By block: of short and long moves.
    made : dict of (int, float)
        By block: kind of the last move and its acceptance probability.
    words_of : list of ndarray of shape (n_senses, n_snippets of the period) or None
        Log probabilities of the words of snippets; None where logits have changed since.
    n_sweeps : int
    """

    arrays: dict
    log_steps: dict
    n_moves: dict
    made: dict = field(default_factory=dict)
    words_of: list = field(default_factory=list)
    n_sweeps: int = 0


class SenseBlocks:
    """`Conditionals` of DiSC, GASC and SCAN with the senses of snippets summed out.

    Blocks are all of chi, then theta of each period (of random walks: psi of each period), then
    phi of each genre and period, in this order and its reverse by turns. A block that no snippet
    or word tells of is drawn from its prior given the rest; any other is moved by one leapfrog step
    (MALA) or several, with equal chances, in the logits themselves. Each block has a step size for
    either move, begun at 2.4 over the root of its size and adapted towards the acceptance that is
    best for it in warm-up only.

    Parameters
    ----------
    model : ModeModel
        With the starts and the names of senses of a mode.
    """

    n_streams = 1

    def __init__(self, model):
        self.model, self.data, self.prior = model, model.data, model.prior
        periods, genres = range(self.data.n_periods), range(self.data.n_genres)
        self.parts = [_Part(self.data, t) for t in periods]
        if self.prior.walks:
            self.blocks = [("psi", t) for t in periods]
            self._precision = {"psi": self.prior.psi_precision(len(periods))}
        else:
            self.blocks = [("chi",), *(("theta", t) for t in periods)]
            self._precision = {"theta": self.prior.theta_precision(len(periods))}
        self.blocks += [("phi", t, g) for g in genres for t in periods]

    def init_state(self, rngs):
        """A state of the mode."""
        arrays = self.model.unpack(self.model.init(rngs[0]))
        arrays = {name: np.array(value, dtype=float) for name, value in arrays.items()}
        return self.state_of(arrays)

    def state_of(self, arrays):
        """The state with these arrays, which become its own."""
        sizes = {block: self._place(arrays, block).size for block in self.blocks}
        return BlockState(
            arrays,
            {
                block: np.full(2, np.log(_FIRST_STEP / np.sqrt(size)))
                for block, size in sizes.items()
            },
            {block: np.zeros(2) for block in self.blocks},
            words_of=[None] * self.data.n_periods,
        )

    def sweep(self, state, rngs, run):
        """Update every block, and kappa_phi where it is learned; ``run`` is not used."""
        rng = rngs[0]
        for block in self.blocks[:: -1 if state.n_sweeps % 2 else 1]:
            self._update(state, block, rng)
        if self.prior.learns:
            shape, rate = self.prior.kappa_conditional(state.arrays["phi"])
            state.arrays["log_kappa_phi"] = np.log(rate / rng.standard_gamma(shape))
        state.n_sweeps += 1

    def tune(self, state, step, warmup):
        """Adapt step sizes by the acceptance of the last moves (Shaby & Wells 2010)."""
        for block, (kind, acceptance) in state.made.items():
            state.n_moves[block][kind] += 1
            gain = state.n_moves[block][kind] ** -_DECAY
            state.log_steps[block][kind] += gain * (acceptance - _TARGETS[kind])

    def observe(self, state):
        """As of the model, with senses matched to those of the mode."""
        return self.model.observe(self.model.pack(state.arrays))

    def trace(self, state):
        """As of the model, and the mean acceptance of the last sweep."""
        rates = [acceptance for _, acceptance in state.made.values()]
        seen = self.model.trace(self.model.pack(state.arrays))
        return seen | {"acceptance": float(np.mean(rates)) if rates else 1.0}

    # one block

    @staticmethod
    def _place(arrays, block):
        """The block's part of the arrays."""
        name, *place = block
        if name == "chi":
            return arrays["chi"]
        t = place[0]
        if name == "phi":
            return arrays["phi"][place[1], t]
        return arrays["theta"][t] if name == "theta" else arrays["psi"][:, t]

    def _update(self, state, block, rng):
        name, *place = block
        here = self._place(state.arrays, block)
        mean, precision = self._given_rest(state, block)
        likelihood = self._likelihood(state, block)
        if likelihood is None:
            new = mean + rng.standard_normal(here.shape) / np.sqrt(precision)
        else:

            def log_density(x, gradient):
                value = likelihood(x, gradient)
                gradient -= precision * (x - mean)
                return value - 0.5 * precision * float(np.sum((x - mean) ** 2))

            kind = int(rng.random() < 0.5)
            step, n_steps = np.exp(state.log_steps[block][kind]), (1, _STEPS[name])[kind]
            new, acceptance = _trajectory(log_density, here.copy(), step, n_steps, rng)
            state.made[block] = kind, acceptance
        here[...] = new
        if name == "chi":
            state.words_of[:] = [None] * len(self.parts)
        elif name != "phi":
            state.words_of[place[0]] = None

    def _given_rest(self, state, block):
        """Mean and precision of the block's prior given all else (eqs. 15, 25, 26)."""
        name, *place = block
        if name == "chi":
            return 0.0, 1 / self.prior.kappa_chi
        if name == "phi":
            kappa = np.exp(state.arrays["log_kappa_phi"]) if self.prior.learns else None
            prior = self.prior.phi_precision(self.data.n_periods, kappa)
            x, t = state.arrays["phi"][place[1]], place[0]
        else:
            prior, x, t = self._precision[name], state.arrays[name], place[0]
            x = x if name == "theta" else x.transpose(1, 0, 2)
        pull = np.zeros(x.shape[1:])
        if t > 0:
            pull -= prior.off[t - 1] * x[t - 1]
        if t < len(x) - 1:
            pull -= prior.off[t] * x[t + 1]
        return pull / prior.diagonal[t], prior.diagonal[t]

    def _likelihood(self, state, block):
        """Function of a block and room for the gradient; None if no data tell of the block."""
        name, *place = block
        arrays = state.arrays
        if name == "chi":
            return self._of_chi(arrays) if self.data.words.size else None
        part = self.parts[place[0]]
        phi = periods_first("phi", arrays["phi"][:, place[0], None])
        if name == "phi":
            if part.snippets[place[1], 0] == 0:
                return None
            if state.words_of[place[0]] is None:
                state.words_of[place[0]] = part.log_proba(self._logits(arrays, place[0]))
            return part.of_phi(state.words_of[place[0]], place[1])
        if not part.n_tokens:
            return None
        return part.of_psi(phi) if name == "psi" else part.of_theta(arrays["chi"], phi)

    @staticmethod
    def _logits(arrays, t):
        """Word logits (K, V) of a period."""
        return arrays["psi"][:, t] if "psi" in arrays else arrays["chi"] + arrays["theta"][t]

    def _of_chi(self, arrays):
        model, theta = self.model, arrays["theta"]
        room = np.empty((self.model.n_senses + len(theta), theta.shape[1]))
        phi = periods_first("phi", arrays["phi"])
        by_phi = np.empty_like(phi)

        def value(chi, gradient):
            found = density.additive_likelihood(
                np.concatenate([chi, theta]), phi, model._data, model.totals,
                model.snippets, 1.0, room, by_phi,
            )  # fmt: skip
            gradient[...] = room[: len(chi)]
            return found

        return value


class _Part:
    """The snippets of one period: likelihoods of its blocks."""

    def __init__(self, data, period):
        of_period = np.flatnonzero(data.periods == period)
        shape = data.n_snippets, data.n_words
        text = sparse.csr_array((data.counts, data.words, data.indptr), shape=shape)[of_period]
        self.genres = data.genres[of_period]
        self.data = (
            text.indptr.astype(np.int64),
            text.indices.astype(np.int64),
            text.data.astype(float),
            np.zeros(of_period.size, dtype=np.int64),
            self.genres,
            data.labels[of_period],
            data.lengths[of_period],
        )
        self.totals = data.totals[period][None]
        self.snippets = data.cells[:, period, None].astype(float)
        self.n_tokens = text.data.sum()

    def of_theta(self, chi, phi):
        """Likelihood of theta in this period (V,)."""
        room, by_phi = np.empty((len(chi) + 1, chi.shape[1])), np.empty_like(phi)

        def value(theta, gradient):
            found = density.additive_likelihood(
                np.concatenate([chi, theta[None]]), phi, self.data, self.totals, self.snippets,
                1.0, room, by_phi,
            )  # fmt: skip
            gradient[...] = room[-1]
            return found

        return value

    def of_psi(self, phi):
        """Likelihood of psi in this period (K, V)."""
        by_phi = np.empty_like(phi)

        def value(psi, gradient):
            return density.full_likelihood(
                psi, phi, self.data, self.snippets, 1.0, gradient, by_phi
            )

        return value

    def log_proba(self, psi):
        """Log probabilities of the words of snippets under each sense, given logits (K, V)."""
        psi = np.ascontiguousarray(psi)
        exponents, (top, sums) = np.empty_like(psi), np.empty((2, len(psi)))
        log_sum, out = np.empty((len(psi), 1)), np.empty((len(psi), self.genres.size))
        kernels.exp_rows(psi, exponents, top)
        kernels.full_sums(exponents, top, sums, log_sum)
        kernels.snippet_logits(*self.data[:3], psi, None, 0, out)
        out -= log_sum * self.data[6]
        return out

    def of_phi(self, log_proba, genre):
        """Likelihood of phi (K,) in one genre, given `log_proba`."""
        mine = self.genres == genre
        log_proba = np.ascontiguousarray(log_proba[:, mine])
        none = np.zeros(log_proba.shape[1], dtype=np.int64)
        of_snippets = none, none, self.data[5][mine], self.data[6][mine]
        log_prev, no_sums = np.empty((1, 1, len(log_proba))), np.zeros((len(log_proba), 1))
        room = np.empty((2, none.size))

        def value(phi, gradient):
            weights = log_proba.copy()
            kernels.log_prevalence(phi[None, :, None], log_prev)
            found = kernels.responsibilities(weights, *of_snippets, log_prev, no_sums, *room)
            gradient[:] = weights.sum(axis=1) - none.size * np.exp(log_prev[0, 0])
            return found

        return value


def _trajectory(log_density, x, step, n_steps, rng):
    """A Metropolis move to the end of some leapfrog steps: the state and its acceptance."""
    momentum, gradient = rng.standard_normal(x.shape), np.empty_like(x)
    start = log_density(x, gradient) - 0.5 * np.sum(momentum**2)
    end = x
    with np.errstate(all="ignore"):
        for _ in range(n_steps):
            momentum = momentum + 0.5 * step * gradient
            end = end + step * momentum
            value = log_density(end, gradient)
            momentum = momentum + 0.5 * step * gradient
        change = value - 0.5 * np.sum(momentum**2) - start
    acceptance = float(np.exp(min(change, 0.0))) if np.isfinite(change) else 0.0
    return (end if rng.random() < acceptance else x), acceptance

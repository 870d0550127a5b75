"""`DiSCSenseModel` as the suite takes it: few snippets, all words of them seen."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, logsumexp, softmax

from ..common.random import generators, seeds_from
from ..corpus.embedding import median_distance
from ..datasets.senses import autoregression, draw_categories, walk
from ..inference.trajectories import HamiltonianOptions
from ..senses.data import Snippets
from ..senses.embedding import prepared
from ..senses.estimator import DiSCSenseModel
from ..senses.gibbs.conditionals import SenseGibbs
from ..senses.model import SenseModel
from ..senses.priors import SensePrior, prior_of
from ..senses.replication.blockwise import SenseBlocks
from .models import Arrays, Lengths, Mover, estimated, flat, hamiltonian_move

_SENSES, _PERIODS = 2, 2
# Words of a snippet, at most, and their probability.
_WINDOW, _SHARE = 8, 0.6
_STEP = 0.5
_NAMES = MappingProxyType({
    "disc": "DiSCSenseModel", "gasc": "DiSCSenseModel, GASC", "scan": "DiSCSenseModel, SCAN",
    "interaction": "DiSCSenseModel, interaction", "edisc": "DiSCSenseModel, EDiSC",
})  # fmt: skip
_VECTORS = np.array([[0.3, -1.1], [1.4, 0.2], [-0.9, -0.4], [0.1, 1.3]])


@dataclass(frozen=True)
class SnippetCounts:
    """Words of snippets.

    Attributes
    ----------
    counts : ndarray of shape (n_snippets, n_words)
    periods, genres : ndarray of int of shape (n_snippets,)
    units : ndarray of int of shape (n_snippets,) or None
        Works, where there are effects of them.
    """

    counts: np.ndarray
    periods: np.ndarray
    genres: np.ndarray
    units: np.ndarray | None = None


@dataclass(frozen=True)
class Senses:
    """Two senses over two periods, with two genres where the model has them; default priors."""

    kind: str = "disc"
    n_snippets: int = 30
    n_words: int = 4
    # the tighter, the better do draws of the prior weigh a posterior
    prior_options: tuple = ()
    # whose prevalences differ; 0 where they do not
    n_works: int = 0

    @property
    def samplers(self) -> dict[str, int]:
        """Solvers and kernels that the model has."""
        if self.n_works:
            return {"hmc": 6, "hmc:nuts": 6, "gibbs": 12, "gibbs:polya-gamma": 12}
        if self.kind == "interaction":
            return {"hmc": 6, "hmc:nuts": 6}
        hmc = {"hmc": 3, "hmc:nuts": 4}
        if self.kind == "edisc":
            return hmc
        gibbs = {"gibbs": 12, "gibbs:polya-gamma": 12}
        if self.kind == "scan":
            return hmc | gibbs
        # the kernels of the papers, which move slowly
        return hmc | {"hmc:blockwise": 30} | gibbs | {"gibbs:uniform": 100}

    @property
    def joint(self) -> tuple[str, ...]:
        """All but trajectories of NUTS."""
        return tuple(name for name in self.samplers if name != "hmc:nuts")

    @property
    def name(self) -> str:
        """The estimator's, and the model."""
        return _NAMES[self.kind] + (", works" if self.n_works else "")

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the test quantities."""
        names = (
            "spread of prevalence, first", "spread of prevalence, last", "change of prevalence",
            "P(first word)", "P(last word), last period", "distance of senses",
        )  # fmt: skip
        names += ("log kappa_phi",) if self._model_prior.learns else ()
        names += ("log tau",) if self.kind == "interaction" else ()
        names += ("log unit_sd", "spread of the first work") if self.n_works else ()
        return (*names, "log likelihood")

    @property
    def _walks(self):
        return self.kind in ("gasc", "scan")

    @property
    def _genres(self):
        return 1 if self.kind == "scan" else 2

    @property
    def _prior(self):
        return SensePrior(**dict(self.prior_options))

    @property
    def _model_prior(self):
        asked = SimpleNamespace(model=self.kind, prior=self._prior, likelihood_power=1.0)
        return prior_of(asked, self.n_works > 0)

    def prior(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Logits of prevalence ``phi`` and of words ``psi``, and what these are made of."""
        out = self._prior_of_logits(n, rng)
        if self.n_works:
            size = np.abs(self._prior.unit_scale * rng.normal(size=n))
            works = size[:, None, None] * rng.normal(size=(n, self.n_works, _SENSES))
            out |= {"unit_sd": size, "unit_effects": works}
        return out

    def _prior_of_logits(self, n, rng):
        p, k, t, v = self._prior, _SENSES, _PERIODS, self.n_words
        shape, of_kappa = (n, self._genres, t, k), self._model_prior.of_kappa_phi
        if of_kappa is not None:
            kappa = of_kappa[1] / rng.gamma(of_kappa[0], size=n)
        if self._walks:
            phi = np.sqrt(2 * kappa)[:, None, None, None] * walk(rng, shape, 0.0, 1.0)
            phi += np.sqrt(p.first_phi) * rng.normal(size=(n, self._genres, 1, k))
            psi = walk(rng, (n, k, t, v), p.first_psi, 2 * p.kappa_psi)
            return {"phi": phi, "psi": psi, "kappa_phi": kappa}
        sizes = np.sqrt(self._model_prior.mean_kappa_phi if of_kappa is None else kappa)
        phi = autoregression(rng, shape, p.alpha_phi, 1.0) * np.reshape(sizes, (-1, 1, 1, 1))
        learned = {} if of_kappa is None else {"kappa_phi": kappa}
        if self.kind != "edisc":
            chi = np.sqrt(p.kappa_chi) * rng.normal(size=(n, k, v))
            theta = autoregression(rng, (n, t, v), p.alpha_theta, p.kappa_theta)
            psi = chi[:, :, None] + theta[:, None]
            out = learned | {"phi": phi, "chi": chi, "theta": theta, "psi": psi}
            return out | (self._deviations(psi, rng) if self.kind == "interaction" else {})
        m = _VECTORS.shape[1]
        chi = np.sqrt(2 * p.kappa_chi) * rng.normal(size=(n, k, m))
        theta = autoregression(rng, (n, t, m), p.alpha_theta, 2 * p.kappa_theta)
        sigma = np.sqrt(p.kappa_sigma) * rng.normal(size=(n, v))
        rho = _VECTORS[:v] / median_distance(_VECTORS[:v])
        psi = (chi[:, :, None] + theta[:, None]) @ rho.T + sigma[:, None, None]
        return learned | {"phi": phi, "chi": chi, "theta": theta, "sigma": sigma, "psi": psi}

    def _deviations(self, psi, rng):
        """Deviations of a regularized horseshoe, and ``psi`` with them."""
        p, n = self._prior, len(psi)
        tau = np.abs(p.interaction_scale * rng.standard_cauchy(n))
        own = np.abs(rng.standard_cauchy((n, self.n_words)))
        size = 1 / np.sqrt(1 / (tau[:, None] * own) ** 2 + 1 / p.kappa_chi)
        deviation = autoregression(rng, psi.shape, p.alpha_theta, 1 - p.alpha_theta**2)
        return {
            "deviation": deviation, "log_tau": np.log(tau), "log_lambda": np.log(own),
            "psi": psi + size[:, None, None] * deviation,
        }  # fmt: skip

    def data(self, arrays: Arrays, rng: np.random.Generator) -> SnippetCounts:
        """Snippets spread over periods and genres, whose senses nobody knows."""
        genres, periods = np.divmod(np.arange(self.n_snippets) % (self._genres * _PERIODS), 2)
        units, logits = self._units(genres * _PERIODS + periods), arrays["phi"][genres, periods]
        if units is not None:
            logits = logits + arrays["unit_effects"][units]
        prevalence, words = softmax(logits, axis=1), softmax(arrays["psi"], axis=2)
        senses = draw_categories(prevalence, np.arange(self.n_snippets), rng)
        lengths = rng.binomial(_WINDOW, _SHARE, self.n_snippets)
        counts = rng.multinomial(lengths, words[senses, periods])
        return SnippetCounts(counts, periods, genres, units)

    def _units(self, cells):
        """Works of snippets: of some cells several, of the last one alone; None without works."""
        if not self.n_works:
            return None
        n_cells = self._genres * _PERIODS
        turns = cells + np.arange(cells.size) // n_cells
        return np.where(cells == n_cells - 1, 0, turns % self.n_works)

    def look(self, arrays: Arrays, data: SnippetCounts) -> np.ndarray:
        """Test quantities of draws."""
        log_prevalence = log_softmax(arrays["phi"], axis=3)
        log_words = log_softmax(self._psi(arrays, data), axis=3)
        prevalence, words = np.exp(log_prevalence), np.exp(log_words)
        mixed = np.einsum("ngtk,nktv->ngtv", prevalence, words)
        seen = [
            (prevalence[:, 0, 0] ** 2).sum(axis=1), (prevalence[:, -1, -1] ** 2).sum(axis=1),
            ((prevalence[:, 0, 0] - prevalence[:, 0, -1]) ** 2).sum(axis=1),
            mixed[:, 0, 0, 0], mixed[:, -1, -1, -1],
            ((words[:, 0] - words[:, 1]) ** 2).sum(axis=(1, 2)),
        ]  # fmt: skip
        if "kappa_phi" in arrays:
            seen.append(np.log(arrays["kappa_phi"].reshape(len(prevalence))))
        if self.kind == "interaction":
            seen.append(arrays["log_tau"].reshape(len(prevalence)))
        logits = arrays["phi"][:, data.genres, data.periods]
        if self.n_works:
            logits = logits + arrays["unit_effects"][:, data.units]
            first = softmax(arrays["phi"][:, 0, 0] + arrays["unit_effects"][:, 0], axis=1)
            seen += [np.log(arrays["unit_sd"].reshape(len(prevalence))), (first**2).sum(axis=1)]
        of_snippets = np.einsum("dv,nkdv->ndk", data.counts, log_words[:, :, data.periods])
        of_snippets += log_softmax(logits, axis=2)
        return np.column_stack([*seen, logsumexp(of_snippets, axis=2).sum(axis=1)])

    def _psi(self, arrays, data):
        """Logits of words; those of "edisc" by vectors as the data have them prepared."""
        if "psi" in arrays:
            return arrays["psi"]
        logits = arrays["chi"][:, :, None] + arrays["theta"][:, None]
        if self.kind == "edisc":
            logits = logits @ self._prepared(data).T + arrays["sigma"][:, None, None]
        return logits

    def _prepared(self, data):
        everywhere = np.ones(self.n_words, dtype=bool)
        return prepared(_VECTORS[: self.n_words], everywhere, data.counts.sum(axis=0))

    def log_likelihood(self, arrays: Arrays, data: SnippetCounts) -> np.ndarray:
        """Of draws."""
        return self.look(arrays, data)[:, -1]

    def posterior(
        self, data: SnippetCounts, sampler: str, lengths: Lengths, seed: int, **options: Any
    ) -> dict[str, np.ndarray]:
        """Draws of `DiSCSenseModel`."""
        embedding = _VECTORS[: self.n_words] if self.kind == "edisc" else None
        model = DiSCSenseModel(
            _SENSES, model=self.kind, prior=self._prior, embedding=embedding, n_starts=2,
        )  # fmt: skip
        model = estimated(model, lengths, seed, sampler, **options)
        genres = None if self.kind == "scan" else data.genres
        counts = sparse.csr_array(data.counts)
        given = {"times": data.periods, "genres": genres, "units": data.units}
        found = model.fit(counts, **given).posterior_
        out = {name: flat(found[name]) for name in found}
        prevalence = out.pop("prevalence")
        if not self.n_works:
            out["phi"] = np.log(prevalence)
        if self._model_prior.learns:
            out["kappa_phi"] = flat(found.stats["kappa_phi"])
        if self.kind == "interaction":
            out["log_tau"] = np.log(flat(found.stats["tau"]))
        return out

    def mover(self, sampler: str, rng: np.random.Generator) -> Mover:
        """A trajectory of `SenseModel`, or a sweep of `SenseBlocks` or `SenseGibbs`."""
        prior = self._model_prior
        seeds = seeds_from(rng)
        streams: list = []
        sweeps = itertools.count()
        solver, _, kernel = sampler.partition(":")
        options = HamiltonianOptions(method="nuts" if kernel == "nuts" else "hmc")

        def snippets(data):
            vectors = self._prepared(data) if self.kind == "edisc" else None
            return Snippets.of(
                sparse.csr_array(data.counts), data.periods, data.genres, vectors=vectors,
                n_periods=_PERIODS, n_genres=self._genres, works=data.units,
            )  # fmt: skip

        def placed(arrays, data):
            model = SenseModel(snippets(data), _SENSES, prior)
            given = {k: a for k, a in arrays.items() if k not in ("kappa_phi", "unit_sd")}
            for name in ("kappa_phi", "unit_sd"):
                if name in arrays:
                    given[f"log_{name}"] = float(np.log(arrays[name]))
            turn = np.eye(0)
            if self.kind == "edisc":
                turn = self._turn(model.data.vectors)
                given |= {name: arrays[name] @ turn.T for name in ("chi", "theta")}
            return model, given, turn

        def trajectory(arrays, data):
            model, given, turn = placed(arrays, data)
            theta = hamiltonian_move(model, model.pack(given), options, _STEP, rng)
            return self._moved(model, model.unpack(theta), turn)

        def blocks(arrays, data):
            model, given, turn = placed(arrays, data)
            moves = SenseBlocks(model)
            arrays = model.unpack(model.pack(given))
            state = moves.state_of({name: np.array(x) for name, x in arrays.items()})
            for steps in state.log_steps.values():
                steps[:] = np.log(_STEP)
            state.n_sweeps = next(sweeps)
            moves.sweep(state, [rng], None)
            return self._moved(model, state.arrays, turn)

        def sweep(arrays, data):
            model = SenseGibbs(snippets(data), _SENSES, prior, kernel=kernel or "metropolis")
            if not streams:
                streams.extend(generators(seeds, model.n_streams))
            given = {name: np.array(values) for name, values in arrays.items()}
            if self.n_works:
                given["log_unit_sd"] = np.log(given["unit_sd"])
            state = model.state_of(given, streams)
            if prior.learns:
                state.kappa_phi = float(arrays["kappa_phi"])
            # some sweeps of a Metropolis sampler are others
            state.n_sweeps = next(sweeps)
            model.sweep(state, streams, None)
            out = {"phi": state.phi, "psi": state.words.x}
            if prior.learns:
                out["kappa_phi"] = np.array(state.kappa_phi)
            if self.n_works:
                out["unit_effects"] = state.works.effects
                out["unit_sd"] = np.array(state.works.sd)
            if self._walks:
                return out
            return out | {"chi": state.chi, "theta": state.theta}

        if kernel == "blockwise":
            return blocks
        return sweep if solver == "gibbs" else trajectory

    def _turn(self, vectors):
        """Matrix that turns the data's prepared vectors into the axes of the suite's."""
        own = _VECTORS[: self.n_words] / median_distance(_VECTORS[: self.n_words])
        pair = (x - x.mean(axis=0) for x in (vectors, own))
        return np.linalg.lstsq(*pair, rcond=None)[0]

    def _moved(self, model, arrays, turn):
        learned = ("log_kappa_phi", "log_unit_sd")
        out = {name: values for name, values in arrays.items() if name not in learned}
        out["psi"] = model.word_logits(arrays)
        for name in ("kappa_phi", "unit_sd"):
            if f"log_{name}" in arrays:
                out[name] = np.exp(np.array(arrays[f"log_{name}"]))
        if self.kind == "edisc":
            out |= {name: arrays[name] @ turn for name in ("chi", "theta")}
        return out

    def brief(self) -> Senses:
        """Eight snippets."""
        return replace(self, n_snippets=8)

    def corner(self) -> Senses:
        """Four snippets of three words."""
        return replace(self, n_snippets=4, n_words=3)

"""The three tests of a sampler: ranks, the joint distribution, and a corner that is known."""

from __future__ import annotations

import functools
import json
import time
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from ..common.checks import check_choice, check_jobs, check_real
from ..common.random import seed_sequence
from .bands import uniformity
from .dirichlet import DirichletWords
from .drift import Drift
from .models import Calibrated, Lengths, nth, one_more
from .ranks import simulated_ranks
from .scores import joint_differences, known_differences
from .senses import Senses
from .topics import Topics
from .words import Words

_TESTED: tuple[Calibrated, ...] = (
    Words(), Words("shared"), Words("component"), Drift(), Drift(learned=True),
    *(Senses(kind) for kind in ("disc", "gasc", "scan", "interaction", "edisc")),
    Senses(n_works=3), Topics(), DirichletWords(),
)  # fmt: skip
MODELS = {model.name: model for model in _TESTED}

# Draws that the truth is ranked among, and the warm-up of their chains.
_RANKED, _WARMUP = 31, 200
# A whole run: replications, steps of the joint test, draws of the prior in a corner, draws of the
# chains held against it. The last two keep their errors alike.
WHOLE = {"replications": 2000, "steps": 100_000, "weighted": 1_000_000, "chain": 20_000}
_LEAST = {"replications": 20, "steps": 200, "weighted": 10_000, "chain": 500}
# Data sets that a corner is chosen from.
_CANDIDATES = 8
# P-values below this are an alarm.
_ALARM = 1e-3
# Draws of the prior at a time.
_BLOCK = 20_000


@dataclass
class Calibration:
    """Results of the tests of one sampler.

    Attributes
    ----------
    model, sampler : str
    quantities : tuple of str
    ranks : ndarray of int of shape (n_replications, n_quantities)
        Ranks of the truth among ``n_draws`` draws.
    n_draws : int
    joint : ndarray of shape (2 * n_quantities,) or None
        Scores of the joint-distribution test, for the quantities and their squares; None for
        samplers to which it does not apply.
    n_steps : int
    corner : ndarray of shape (2 * n_quantities,)
        Scores of the corner test.
    weights : float
        Effective number of prior draws behind the means of the corner test.
    seconds : float
        CPU time of the process that ran the tests.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.calibration import Calibration
    >>> ranks = np.random.default_rng(0).integers(32, size=(100, 1))
    >>> found = Calibration(
    ...     "GaussianLDA", "gibbs", ("share",), ranks, 31, None, 0, np.array([0.5, -1.2]), 5000.0
    ... )
    >>> bool(found.p_values.min() > 0.001)
    True
    """

    model: str
    sampler: str
    quantities: tuple[str, ...]
    ranks: np.ndarray
    n_draws: int
    joint: np.ndarray | None
    n_steps: int
    corner: np.ndarray
    weights: float
    seconds: float = field(default=0.0, compare=False)

    @property
    def p_values(self) -> np.ndarray:
        """P-values for uniform ranks, (n_quantities,)."""
        return uniformity(self.ranks, self.n_draws)

    @property
    def worst(self) -> tuple[float, float, float]:
        """P-values of the ranks, the joint test (NaN if there is none) and the corner test.

        Each is the smallest over all quantities, with Bonferroni's correction.
        """
        ranks = min(1.0, float(self.p_values.min()) * len(self.quantities))
        return ranks, _worst_of_scores(self.joint), _worst_of_scores(self.corner)

    @property
    def passed(self) -> bool:
        """Whether no p-value is below 1e-3, for the about 60 of a whole page."""
        return all(not p < _ALARM for p in self.worst)

    def line(self) -> str:
        """Return the result as one line of text.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed.calibration import Calibration
        >>> ranks = np.random.default_rng(0).integers(32, size=(200, 1))
        >>> found = Calibration(
        ...     "mine", "gibbs", ("mean",), ranks, 31, None, 0, np.array([0.5]), 100.0, 1.0
        ... )
        >>> print(found.line())
        mine, gibbs: p = 0.433 (ranks of 200), nan (joint), 0.617 (corner), 1 s
        """
        ranks, joint, corner = (f"{p:.3g}" for p in self.worst)
        verdict = "" if self.passed else "  <- fails"
        return (
            f"{self.model}, {self.sampler}: p = {ranks} (ranks of {len(self.ranks)}), "
            f"{joint} (joint), {corner} (corner), {self.seconds:.0f} s{verdict}"
        )

    def save(self, path: Path) -> None:
        """Write the result as JSON.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from skbayesembed.calibration import Calibration
        >>> ranks = np.random.default_rng(0).integers(32, size=(200, 1))
        >>> found = Calibration(
        ...     "mine", "gibbs", ("mean",), ranks, 31, None, 0, np.array([0.5]), 100.0, 1.0
        ... )
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.json"
        >>> found.save(path)
        >>> Calibration.load(path).sampler
        'gibbs'
        """
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in asdict(self).items()
        }
        path.write_text(json.dumps(plain), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read a result written by `save`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from skbayesembed.calibration import Calibration
        >>> ranks = np.random.default_rng(0).integers(32, size=(200, 1))
        >>> found = Calibration(
        ...     "mine", "gibbs", ("mean",), ranks, 31, None, 0, np.array([0.5]), 100.0, 1.0
        ... )
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.json"
        >>> found.save(path)
        >>> bool(Calibration.load(path).worst[0] == found.worst[0])
        True
        """
        plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in ("ranks", "joint", "corner"):
            plain[name] = None if plain[name] is None else np.array(plain[name])
        return cls(**plain | {"quantities": tuple(plain["quantities"])})


def calibrate(
    model: str,
    sampler: str,
    *,
    share: float = 0.1,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> Calibration:
    """Test whether a sampler of one of the package's models draws from the posterior.

    There are three tests. The ranks of the truth in replications of prior, data and posterior use
    the estimator's ``fit``. The joint-distribution test moves parameters by single sweeps or
    trajectories of the underlying solver. The corner test compares the estimator with weighted
    draws of the prior, for a posterior small enough that these are accurate.

    Parameters
    ----------
    model : str
        Name of the model, a key of `MODELS`.
    sampler : str
        ``solver`` or ``solver:kernel``, one of the model's ``samplers``.
    share : float, default=0.1
        Fraction of the whole run to do; the whole run has 2,000 replications, 100,000 steps of the
        joint test and a million draws of the prior.
    random_state : int, RandomState instance or None, default=0
        An int gives the same numbers every time, whatever ``n_jobs``.
    n_jobs : int or None, default=None
        Number of processes for the replications.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        If there is no such model or sampler, or ``share`` is not above 0.

    Examples
    --------
    >>> from skbayesembed.calibration import calibrate
    >>> found = calibrate("GaussianLDA", "gibbs", share=0.01)  # doctest: +SKIP
    >>> found.p_values.min() > 0.001  # doctest: +SKIP
    True
    """
    check_choice("model", model, MODELS)
    tested = MODELS[model]
    if not isinstance(sampler, str) or sampler not in tested.samplers:
        choices = ", ".join(map(repr, tested.samplers))
        raise ValueError(f"sampler must be one of {choices} for {model!r}, got {sampler!r}.")
    check_jobs(n_jobs)
    seeds_of_all = seed_sequence(random_state)
    check_real("share", share, 0)
    sizes = {name: max(_LEAST[name], round(share * n)) for name, n in WHOLE.items()}
    begun = time.process_time()
    ranks_seed, *seeds = seeds_of_all.spawn(3)
    joint_rng, corner_rng = (np.random.default_rng(s) for s in seeds)
    ranks = simulated_ranks(
        functools.partial(replication, tested, sampler, tested.samplers[sampler]),
        sizes["replications"], random_state=_integer(ranks_seed), n_jobs=n_jobs,
    )  # fmt: skip
    joint = None
    if sampler in tested.joint:
        joint = joint_test(tested.brief(), sampler, sizes["steps"], joint_rng)
    corner, weights = corner_test(
        tested.corner(), sampler, sizes["weighted"], sizes["chain"], corner_rng
    )
    return Calibration(
        model, sampler, tested.quantities, ranks, _RANKED, joint, sizes["steps"], corner, weights,
        time.process_time() - begun,
    )  # fmt: skip


def replication(
    model: Calibrated, sampler: str, thin: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the test quantities from the posterior of simulated data, and their true values."""
    truth = nth(model.prior(1, rng), 0)
    data = model.data(truth, rng)
    with warnings.catch_warnings():
        # short chains are not all found to have mixed; some small data have two modes
        warnings.simplefilter("ignore", ConvergenceWarning)
        lengths = Lengths(_RANKED, _WARMUP, thin)
        draws = model.posterior(data, sampler, lengths, int(rng.integers(2**32)))
    return model.look(draws, data), model.look(one_more(truth), data)[0]


def joint_test(model: Calibrated, sampler: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Scores of the joint-distribution test, of the quantities and then of their squares.

    ``n`` draws of prior and data are held against a chain of as many steps.
    """
    prior = model.prior(n, rng)
    direct = []
    for i in range(n):
        arrays = nth(prior, i)
        direct.append(model.look(one_more(arrays), model.data(arrays, rng))[0])
    move, arrays, chain = model.mover(sampler, rng), nth(model.prior(1, rng), 0), []
    for _ in range(n):
        data = model.data(arrays, rng)
        arrays = move(arrays, data)
        chain.append(model.look(one_more(arrays), data)[0])
    return joint_differences(*(_with_squares(np.array(x)) for x in (direct, chain)))


def corner_test(
    model: Calibrated, sampler: str, n_weighted: int, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Scores of the estimator's draws against draws of the prior weighted by their likelihood.

    Returns
    -------
    ndarray of shape (2 * n_quantities,)
        Of the quantities and their squares.
    float
        Effective number of weighted draws.
    """
    # of some data sets the one that prior draws weigh best: a choice by the data alone
    arrays, candidates = model.prior(min(_BLOCK, n_weighted), rng), []
    for _ in range(_CANDIDATES):
        data = model.data(nth(model.prior(1, rng), 0), rng)
        candidates.append((_effective(_weights(model.log_likelihood(arrays, data))), data))
    data = max(candidates, key=lambda pair: pair[0])[1]
    seen, logs = [], []
    for _ in range(max(1, n_weighted // _BLOCK)):
        arrays = model.prior(min(_BLOCK, n_weighted), rng)
        seen.append(model.look(arrays, data))
        logs.append(model.log_likelihood(arrays, data))
    weights, center = _weights(np.concatenate(logs)), seen[0].mean(axis=0)
    known = _with_squares(np.concatenate(seen), center)
    mean = weights @ known
    error = np.sqrt(weights**2 @ (known - mean) ** 2)
    chains, thin = 2, model.samplers[sampler]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        draws = model.posterior(
            data, sampler, Lengths(n_draws // chains, _WARMUP, max(1, thin // 3)),
            int(rng.integers(2**32)), chains=chains, keep_draws="all",
        )  # fmt: skip
    found = _with_squares(model.look(draws, data), center)
    scores = known_differences(found.reshape(chains, -1, found.shape[1]), mean, error)
    return scores, _effective(weights)


def _weights(logs):
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def _effective(weights):
    """Effective number of weighted draws."""
    return float(1 / (weights**2).sum())


def _worst_of_scores(scores):
    if scores is None:
        return np.nan
    known = np.abs(scores[~np.isnan(scores)])
    if not known.size:
        return np.nan
    return float(min(1.0, 2 * norm.sf(known.max()) * known.size))


def _with_squares(x, center=0.0):
    return np.hstack([x, (x - center) ** 2])


def _integer(seeds):
    return int(seeds.generate_state(1)[0])

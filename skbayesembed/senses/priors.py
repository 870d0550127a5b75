"""Priors of the sense models: what a user chooses, and the Gaussian processes that follow from it.

`SensePrior` is the public object. `ModelPrior` adds which of the four models it is for, and turns
its numbers into precision matrices over periods, once for every solver.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..common.checks import check_choice, check_real
from ..common.power import check_power
from ..numeric.tridiagonal import Tridiagonal

# Variance that stands for a flat prior of a first period where coordinates are made.
_WIDE = 100.0
# Beyond it, squares of variances overflow.
_LARGEST = 1e100
KINDS = ("disc", "gasc", "scan", "interaction", "edisc")
# Parameters that must be above zero, and those that are autoregression coefficients.
_POSITIVE = (
    "kappa_theta", "kappa_chi", "kappa_psi", "kappa_phi_shape", "kappa_phi_rate",
    "interaction_scale", "kappa_sigma", "unit_scale",
)  # fmt: skip
_COEFFICIENTS = ("alpha_phi", "alpha_theta")
# The published value of kappa_phi, and shape and rate of its prior where "auto" has it learned.
_PUBLISHED, _OF_WORKS = 0.25, (1.0, 0.25)


@dataclass(frozen=True)
class SensePrior:
    """Prior of the senses of a word, their prevalences and their words.

    The prevalences of senses are the softmax of logits ``phi``. The probabilities of words under a
    sense in a period are the softmax of logits ``chi + theta`` or ``psi``. The parameters say how
    large these logits are a priori and how fast they change from one period to the next. The
    defaults are those of Zafar & Nicholls (2022, section 4.2 and Algorithms 1 and 2), except for
    the first periods of random walks, and for works and ``interaction_scale``, which are not in the
    paper.

    Parameters
    ----------
    kappa_phi : float, (shape, rate) or "auto", default="auto"
        In ``"disc"``, ``"interaction"`` and ``"edisc"``: variance of the innovations of prevalence
        logits, which follow a stationary autoregression over periods. With a pair, the variance is
        learned; the pair is the shape and rate of its inverse-Gamma prior. ``"auto"`` is the
        published 0.25 if ``fit`` is given no ``units``, and ``(1.0, 0.25)`` with units, whose
        differences would otherwise absorb the changes that a narrow prior keeps prevalences from.
        The median of this inverse-Gamma prior is 0.36, and nine tenths of it lie between 0.08 and
        4.9.
    alpha_phi : float, default=0.9
        Coefficient of that autoregression, between -1 and 1.
    kappa_theta, alpha_theta : float, default=0.25, 0.9
        The same two parameters for the logits of words over periods, which are common to all
        senses.
    kappa_chi : float, default=1.25
        Variance of the logits of words under a sense, which do not change over periods.
    kappa_psi : float, default=0.1
        In ``"gasc"`` and ``"scan"``, word logits are a random walk over periods for each sense,
        whose steps have variance ``2 * kappa_psi``.
    kappa_phi_shape, kappa_phi_rate : float, default=7.0, 3.0
        In ``"gasc"`` and ``"scan"``, prevalence logits are random walks whose steps have variance
        ``2 * kappa_phi``, and ``kappa_phi`` is learned. These are the shape and rate of its
        inverse-Gamma prior.
    first_phi, first_psi : float, default=1.3, 2.5
        In ``"gasc"`` and ``"scan"``: variances of prevalence and word logits in the first period of
        the walks. The published models use flat priors (``numpy.inf``), which make the posterior
        improper.
    interaction_scale : float, default=0.1
        In ``"interaction"``: scale of the half-Cauchy prior of ``tau``. The deviation of a word
        under a sense in a period is ``s_v = tau lambda_v`` times a stationary process of variance
        one with coefficient ``alpha_theta``. The ``lambda_v`` are half-Cauchy, so that most words
        hardly deviate, and some by much. No deviation has a variance above ``kappa_chi``: this is a
        regularized horseshoe, with variance one over ``1 / s_v**2 + 1 / kappa_chi`` (Piironen &
        Vehtari 2017).
    kappa_sigma : float, default=0.25
        In ``"edisc"``: variance of the words' own logits, ``sigma``. In this model ``kappa_theta``
        and ``kappa_chi`` are half the variances of the entries of the vectors ``theta`` and
        ``chi``, in units of the median squared distance between two words. The logits of two words
        at this distance differ as much as in ``"disc"``. The defaults are those of Zafar & Nicholls
        (2023).
    unit_scale : float, default=1.0
        If ``fit`` is given ``units`` (such as works): scale of the half-normal prior of s, the
        standard deviation of the prevalence logits of a unit around those of its period and genre.
        With s = 1 and two senses, a sense with prevalence one half in the median unit has 0.2 to
        0.8 in two thirds of the units.

    Raises
    ------
    ValueError
        In ``fit``, for a parameter outside its range.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel, SensePrior
    >>> model = DiSCSenseModel(3, prior=SensePrior(kappa_chi=2.0))
    """

    kappa_phi: float | tuple[float, float] | str = "auto"
    alpha_phi: float = 0.9
    kappa_theta: float = 0.25
    alpha_theta: float = 0.9
    kappa_chi: float = 1.25
    kappa_psi: float = 0.1
    kappa_phi_shape: float = 7.0
    kappa_phi_rate: float = 3.0
    first_phi: float = 1.3
    first_psi: float = 2.5
    interaction_scale: float = 0.1
    kappa_sigma: float = 0.25
    unit_scale: float = 1.0

    def check(self) -> None:
        """Raise a ValueError for the first parameter that is outside its range.

        Examples
        --------
        >>> from skbayesembed.senses.priors import SensePrior
        >>> SensePrior().check()
        """
        for name in _COEFFICIENTS:
            value = getattr(self, name)
            check_real(f"prior.{name}", value, -1.0)
            if value >= 1:
                raise ValueError(f"prior.{name} must be a number > -1 and < 1, got {value!r}.")
        self._check_kappa_phi()
        for name in _POSITIVE:
            check_real(f"prior.{name}", getattr(self, name), 0.0, high=_LARGEST)
        for name in ("first_phi", "first_psi"):
            value = getattr(self, name)
            if not (isinstance(value, float) and value == np.inf):
                check_real(f"prior.{name}", value, 0.0, high=_LARGEST)

    def _check_kappa_phi(self):
        kappa = self.kappa_phi
        if isinstance(kappa, (tuple, list)) and len(kappa) == 2:
            for i, value in enumerate(kappa):
                check_real(f"prior.kappa_phi[{i}]", value, 0.0, high=_LARGEST)
        elif not isinstance(kappa, str):
            check_real("prior.kappa_phi", kappa, 0.0, high=_LARGEST)
        elif kappa != "auto":
            raise ValueError(
                "prior.kappa_phi must be a number > 0, a pair (shape, rate) of numbers > 0 or "
                f"'auto', got {kappa!r}."
            )


def prior_of(estimator: Any, works: bool = False) -> ModelPrior:
    """`ModelPrior` of an estimator, after a check of its model, prior and likelihood power.

    Parameters
    ----------
    estimator : DiSCSenseModel
    works : bool, default=False
        Whether ``fit`` is told of works.
    """
    check_choice("model", estimator.model, KINDS)
    prior = SensePrior() if estimator.prior is None else estimator.prior
    if not isinstance(prior, SensePrior):
        raise ValueError(f"prior must be None or a SensePrior, got {prior!r}.")
    prior.check()
    given = {f.name: getattr(prior, f.name) for f in fields(SensePrior)}
    if isinstance(prior.kappa_phi, str):
        given["kappa_phi"] = _OF_WORKS if works else _PUBLISHED
    power = estimator.likelihood_power
    check_power(power)
    # one that is to be chosen is put in its place
    power = 1.0 if isinstance(power, str) else float(power)
    return ModelPrior(**given, kind=estimator.model, likelihood_power=power)


@dataclass(frozen=True)
class ModelPrior(SensePrior):
    """A `SensePrior` for one of the models, and what its likelihood counts for beside it.

    Parameters
    ----------
    kind : {"disc", "gasc", "scan", "interaction", "edisc"}
        As ``model`` of `DiSCSenseModel`.
    likelihood_power : float
        Power of the likelihood.

    ``kappa_phi`` is a number or a pair.
    """

    kappa_phi: float | tuple[float, float] = _PUBLISHED
    kind: str = field(default="disc", kw_only=True)
    likelihood_power: float = field(default=1.0, kw_only=True)

    @property
    def walks(self):
        """Whether words follow random walks of their own under each sense."""
        return self.kind in ("gasc", "scan")

    @property
    def of_kappa_phi(self):
        """Shape and rate of the inverse-Gamma prior of ``kappa_phi``; None where it is known."""
        if self.walks:
            return self.kappa_phi_shape, self.kappa_phi_rate
        pair = isinstance(self.kappa_phi, (tuple, list))
        return tuple(map(float, self.kappa_phi)) if pair else None

    @property
    def learns(self):
        """Whether ``kappa_phi`` is learned."""
        return self.of_kappa_phi is not None

    @cached_property
    def mean_kappa_phi(self):
        """``kappa_phi``, or where it is learned one over the mean of its inverse a priori."""
        if self.learns:
            shape, rate = self.of_kappa_phi
            return rate / shape
        return float(self.kappa_phi)

    @property
    def phi_process(self):
        """How prevalence logits follow each other: numbers, as `path_kernels` takes them.

        Coefficient of the autoregression, 1 of a walk; variance of a walk's first period, infinite
        where it is flat, or 0; variance of the steps over ``kappa_phi``.
        """
        if self.walks:
            return 1.0, float(self.first_phi), 2.0
        return float(self.alpha_phi), 0.0, 1.0

    def kappa_conditional(self, phi):
        """Shape and rate of ``kappa_phi`` given logits (G, T, K): it is inverse-Gamma."""
        alpha, first, times = self.phi_process
        steps = phi[:, 1:] - alpha * phi[:, :-1]
        n, squares = steps.size, float(np.vdot(steps, steps))
        if not first:
            n, squares = phi.size, squares + (1 - alpha**2) * float(np.sum(phi[:, 0] ** 2))
        shape, rate = self.of_kappa_phi
        return shape + 0.5 * n, rate + 0.5 * squares / times

    @property
    def flat(self):
        """Names of the variances of first periods that are infinite and matter to this model."""
        names = ("first_phi", "first_psi") if self.walks else ()
        return [name for name in names if getattr(self, name) == np.inf]

    def proper(self):
        """The same with wide first periods in place of flat ones: where chains start."""
        wide = {name: _WIDE for name in ("first_phi", "first_psi") if getattr(self, name) == np.inf}
        return replace(self, **wide)

    def phi_precision(self, n_periods, kappa=None):
        """Precision over periods of the logits of a sense's prevalence in one genre."""
        kappa = self.mean_kappa_phi if kappa is None else kappa
        if self.walks:
            return Tridiagonal.walk(n_periods, 2 * kappa, self.first_phi)
        return Tridiagonal.autoregression(n_periods, self.alpha_phi, kappa)

    @property
    def _of_vectors(self):
        """Variances of vectors over those of logits; squared median distance is one."""
        # the logits of two words differ as in the other models, by twice the variance of each
        return 2.0 if self.kind == "edisc" else 1.0

    @property
    def chi_variance(self):
        """Variance of the entries of ``chi``."""
        return self._of_vectors * self.kappa_chi

    def theta_precision(self, n_periods):
        """Precision over periods of an entry of ``theta``, common to all senses."""
        variance = self._of_vectors * self.kappa_theta
        return Tridiagonal.autoregression(n_periods, self.alpha_theta, variance)

    @property
    def slab(self):
        """Largest variance of a deviation of ``"interaction"``: that of the main effects."""
        return self.kappa_chi

    def deviation_precision(self, n_periods):
        """Precision over periods of deviations of ``"interaction"``, in units of their size."""
        alpha = self.alpha_theta
        return Tridiagonal.autoregression(n_periods, alpha, 1 - alpha**2)

    def psi_precision(self, n_periods):
        """Precision over periods of the logits of a word under a sense, in random walks."""
        return Tridiagonal.walk(n_periods, 2 * self.kappa_psi, self.first_psi)

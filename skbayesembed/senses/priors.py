"""Priors of the sense models: Gaussian processes over periods, written once for every solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..common.checks import check_choice, check_real
from ..numeric.tridiagonal import Tridiagonal

# Variance of a first period with a flat prior, in the making of coordinates.
_WIDE = 100.0
KINDS = ("disc", "gasc", "scan", "interaction")


@dataclass(frozen=True)
class SensePrior:
    """Priors of prevalence and word logits (Zafar & Nicholls 2022, Algorithms 1 and 2).

    Parameters
    ----------
    kind : {"disc", "gasc", "scan", "interaction"}
        ``"disc"``: word logits ``chi[k] + theta[t]``. ``"gasc"``: one random walk over periods
        for each sense and word; ``"scan"`` is the same without genres. ``"interaction"``: those
        of DiSC plus a deviation of each sense and period, shrunk towards none.
    kappa_phi, alpha_phi : float
        Prevalence logits of DiSC: autoregression ``alpha_phi``, innovations of variance
        ``kappa_phi``, started in its stationary distribution.
    kappa_theta, alpha_theta : float
        The same of the logits of words over periods, common to all senses.
    kappa_chi : float
        Variance of the logits of words under a sense.
    kappa_psi : float
        Random walks of ``"gasc"`` and ``"scan"``: steps have variance ``2 * kappa_psi``.
    kappa_phi_shape, kappa_phi_rate : float
        Inverse-Gamma hyperprior of ``kappa_phi`` in ``"gasc"`` and ``"scan"``, where steps of the
        prevalence logits have variance ``2 * kappa_phi``.
    first_phi, first_psi : float
        Variances of prevalence and word logits in the first period of a random walk. The
        published models have flat ones (``numpy.inf``), which make the posterior improper.
    interaction_scale : float
        Scale of the half-Cauchy prior of ``tau``. In ``"interaction"`` the deviation of a word
        under a sense in a period has the size ``s_v = tau lambda_v`` times a stationary process
        of variance one with ``alpha_theta``, where ``lambda_v`` are half-Cauchy: most words have
        none, some have much (a regularised horseshoe: ``1 / s_v**2 + 1 / kappa_chi`` is one over
        the variance; Piironen & Vehtari 2017).

    Raises
    ------
    ValueError
        For a parameter outside its range.
    """

    kind: str = "disc"
    kappa_phi: float = 0.25
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

    def __post_init__(self):
        check_choice("model", self.kind, KINDS)
        for name in ("alpha_phi", "alpha_theta"):
            value = getattr(self, name)
            check_real(name, value, -1.0)
            if value >= 1:
                raise ValueError(f"{name} must be a number > -1 and < 1, got {value!r}.")
        for name in (
            "kappa_phi", "kappa_theta", "kappa_chi", "kappa_psi",
            "kappa_phi_shape", "kappa_phi_rate", "interaction_scale",
        ):  # fmt: skip
            check_real(name, getattr(self, name), 0.0)
        for name in ("first_phi", "first_psi"):
            if getattr(self, name) != np.inf:
                check_real(name, getattr(self, name), 0.0)

    @property
    def walks(self):
        """Whether words follow random walks of their own under each sense."""
        return self.kind in ("gasc", "scan")

    @cached_property
    def mean_kappa_phi(self):
        """``kappa_phi``, or where it is learned the mode of its hyperprior."""
        if self.walks:
            return self.kappa_phi_rate / (self.kappa_phi_shape + 1)
        return self.kappa_phi

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

    def theta_precision(self, n_periods):
        """Precision over periods of the logits of a word, common to all senses."""
        return Tridiagonal.autoregression(n_periods, self.alpha_theta, self.kappa_theta)

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

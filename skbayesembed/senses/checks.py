"""Checks of the parameters of `DiSCSenseModel`, before any work."""

from __future__ import annotations

from ..common.checks import (
    check_chain_length,
    check_choice,
    check_integer,
    check_iterations,
    check_keep_draws,
    check_real,
    check_solver,
    check_word_filters,
)
from .gibbs.conditionals import SENSE_KERNELS
from .priors import KINDS, SensePrior

SOLVERS = ("hmc", "gibbs", "vi", "laplace", "map")
# What a solver may be asked to move by, its own choice first.
KERNELS = {"hmc": ("hmc", "nuts", "blockwise"), "gibbs": SENSE_KERNELS}
# Parameters of the estimator that are the prior's.
PRIOR = (
    "kappa_phi", "alpha_phi", "kappa_theta", "alpha_theta", "kappa_chi", "kappa_psi",
    "kappa_phi_shape", "kappa_phi_rate", "first_phi", "first_psi", "interaction_scale",
)  # fmt: skip


def check_parameters(estimator):
    """Raise a ValueError for the first parameter that is not allowed whatever the data."""
    e = estimator
    check_integer("n_senses", e.n_senses, 1)
    check_choice("model", e.model, KINDS)
    check_solver(e, e.solver, SOLVERS)
    if e.solver == "gibbs" and e.model == "interaction":
        raise ValueError(
            "solver='gibbs' is not available for DiSCSenseModel with model='interaction': use "
            "solver='hmc'."
        )
    _check_kernel(e)
    prior_of(e)
    check_integer("n_starts", e.n_starts, 1)
    check_word_filters(e)
    check_chain_length(e)
    check_keep_draws(e.keep_draws)
    if e.target_accept is not None:
        check_real("target_accept", e.target_accept, 0, high=0.999)
    check_iterations(e)


def _check_kernel(e):
    check_choice("kernel", e.kernel, ("auto", *KERNELS["hmc"], *KERNELS["gibbs"]))
    allowed = KERNELS.get(e.solver, ())
    if e.kernel != "auto" and e.kernel not in allowed:
        choices = " or ".join(repr(name) for name in ("auto", *allowed))
        raise ValueError(
            f"kernel={e.kernel!r} is not available for DiSCSenseModel with solver={e.solver!r}: "
            f"use {choices}."
        )
    if e.kernel == "blockwise" and e.model == "interaction":
        raise ValueError(
            "kernel='blockwise' is not available for DiSCSenseModel with model='interaction': use "
            "'hmc' or 'nuts'."
        )


def kernel_of(estimator):
    """The kernel asked for, or the solver's own; None where it has none."""
    if estimator.kernel != "auto":
        return estimator.kernel
    return KERNELS.get(estimator.solver, (None,))[0]


def prior_of(estimator):
    """The `SensePrior` that the estimator's parameters ask for."""
    return SensePrior(estimator.model, **{name: getattr(estimator, name) for name in PRIOR})

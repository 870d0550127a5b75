"""The Gaussian at a mode, for models that offer nothing but the gradient of their log density."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.trial import Measured, current
from ..common.warnings import warn_user
from .contracts import LogDensity
from .krylov import inverse_root

# How many draws are made in step, and the relative error of one, most products that it may take,
# and how many are between looks at it: of looks that are closer, where draws settle slowly, the
# changes tell of a hundredth of the error.
_TOGETHER, _TOL, _MAX_PRODUCTS, _LOOKS = 16, 1e-3, 500, 10
# Root mean square of the change of the coordinates between the two gradients of a difference.
_STEP = 1e-4


def gaussian_at(model: LogDensity, theta: np.ndarray, facts: dict) -> ModeGaussian:
    """The Gaussian where a search for the mode ended, whose ``facts`` those of `find_mode` are.

    Where a trial has cut the search short there is none: the trial is told what a product takes.
    """
    gaussian, trial = ModeGaussian(model, theta), current()
    if trial is not None and not facts["converged"]:
        with trial.loop():
            begun = trial.clock()
            gaussian.product(np.ones((1, theta.size)))
            trial.product = trial.clock() - begun
        raise Measured
    return gaussian


class ModeGaussian:
    """N(mode, H^-1), with H the negative Hessian of the log posterior at the mode.

    Products with H are differences of gradients, and draws come from a Lanczos process on them.
    That takes few products if H is near the identity, as it is where the model has coordinates
    that its posterior is about standard normal in.

    Parameters
    ----------
    model : LogDensity
    mean : ndarray of shape (n_parameters,)
        The mode.

    Attributes
    ----------
    mean : ndarray of shape (n_parameters,)
    """

    def __init__(self, model: LogDensity, mean: np.ndarray) -> None:
        self._model, self.mean = model, mean
        self._up, self._down = np.empty((2, mean.size))

    def product(self, rows: np.ndarray) -> np.ndarray:
        """H times each row of ``rows`` (m, n_parameters)."""
        out = np.empty_like(rows)
        for row, target in zip(rows, out, strict=True):
            size = np.sqrt(np.mean(row**2))
            if size == 0:
                target[:] = 0
                continue
            step = _STEP / size
            self._model.logp_and_grad(self.mean + step * row, self._up)
            self._model.logp_and_grad(self.mean - step * row, self._down)
            np.subtract(self._down, self._up, out=target)
            target /= 2 * step
        return out

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of shape (n, n_parameters)

        Raises
        ------
        numpy.linalg.LinAlgError
            If H is not positive definite: the mode was not reached.

        Warns
        -----
        ConvergenceWarning
            If draws are further off than .001 of their length, by an estimate.
        """
        noise, error = rng.standard_normal((n, self.mean.size)), 0.0
        for start in range(0, n, _TOGETHER):
            rows = slice(start, start + _TOGETHER)
            noise[rows], facts = inverse_root(
                self.product,
                noise[rows],
                tol=_TOL,
                max_iter=_MAX_PRODUCTS,
                check=_LOOKS,
            )
            error = max(error, *(one["error"] for one in facts))
        if error > _TOL:
            warn_user(
                f"Draws from the Gaussian at the mode are off by up to {100 * error:.2g} % of "
                f"their length after {_MAX_PRODUCTS:,} products with the Hessian: along the "
                "softest directions of the posterior they are too narrow. Use solver='hmc'.",
                ConvergenceWarning,
            )
        return self.mean + noise

"""From an approximation of the flat parameters of a model to one of the named arrays it records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .contracts import Approximation, Result

# Draws that are made together, which bounds the memory they take.
_TOGETHER = 64


class ReadApproximation:
    """An `Approximation` of named arrays, from one of the flat parameters of a model.

    Parameters
    ----------
    model : object
        With ``observe(theta)``, a dict of named arrays.
    flat : object
        With ``mean`` (n_parameters,) and ``sample(n, rng)`` (n, n_parameters), such as
        `mode_gaussian.ModeGaussian` or `advi.MeanField`.

    Attributes
    ----------
    mean : dict of str to ndarray
        Arrays at the mean of the flat parameters: the mode where the Gaussian is that at the mode.
    flat : object
        As given.
    elbo : ndarray, only where ``flat`` has one
        The bound on the log evidence after every iteration.
    """

    def __init__(self, model: Any, flat: Any) -> None:
        self._model, self.flat = model, flat
        self.mean = self._at(flat.mean)
        if hasattr(flat, "elbo"):
            self.elbo = flat.elbo

    def _at(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Arrays at a point that is no draw."""
        return self._model.observe(theta)

    def sample(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Independent draws.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        dict of str to ndarray of shape (n, ...)
            The names of ``mean``.
        """
        seen = [self._model.observe(theta) for theta in self.thetas(n, rng)]
        return {name: np.stack([values[name] for values in seen]) for name in self.mean}

    def thetas(self, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Iterate over ``n`` independent draws of the flat parameters, each (n_parameters,)."""
        for start in range(0, n, _TOGETHER):
            yield from self.flat.sample(min(_TOGETHER, n - start), rng)


def drawn(
    draws: Mapping[str, np.ndarray],
    facts: dict[str, Any],
    approximation: Approximation,
    **more: Any,
) -> Result:
    """Make the `Result` of independent draws from an approximation.

    Parameters
    ----------
    draws : mapping of str to ndarray of shape (n, ...)
        They become one chain.
    facts : dict
        Named as in `contracts.ATTRS`.
    approximation : Approximation
    **more
        Further attributes of `Result`.

    Returns
    -------
    Result
    """
    draws = {name: values[None] for name, values in draws.items()}
    return Result(draws, facts=facts, approximation=approximation, **more)

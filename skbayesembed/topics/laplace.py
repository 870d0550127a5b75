"""``solver="laplace"``: draws of the Gaussian at the mode that the start leads to."""

from __future__ import annotations

from ..common.random import generators
from ..inference.approximations import ReadApproximation, drawn
from ..inference.mode_gaussian import gaussian_at
from ..inference.threads import OneBlasThread
from .map import mode
from .recording import of_approximation


class TopicsAtMode(ReadApproximation):
    """The Gaussian at the mode of the flat coordinates, read as topics.

    Attributes
    ----------
    mean : dict of str to ndarray
        ``mean`` (K, E), ``covariance`` (K, E, E), ``counts`` (K, n_words), those expected, and
        ``alpha`` (K,) at the mode.
    flat : inference.mode_gaussian.ModeGaussian
        The Gaussian itself, in the coordinates of `MarginalTopics`.
    """

    _order = None

    def _at(self, theta):
        return self._model.expected(theta)

    def reorder(self, order):
        """Give the topics other numbers: those of ``order`` (K,), in this order."""
        self._order = order if self._order is None else self._order[order]
        self.mean = {name: values[order] for name, values in self.mean.items()}

    def sample(self, n, rng):
        """``n`` independent draws, a dict of arrays (n, ...) by the names of ``mean``."""
        draws = super().sample(n, rng)
        order = slice(None) if self._order is None else self._order
        return {name: values[:, order] for name, values in draws.items()}


def solve(estimator, problem, settings, seed):
    """`Result` of independent draws."""
    with OneBlasThread():
        model, theta, facts = mode(estimator, problem)
        approximation = TopicsAtMode(model, gaussian_at(model, theta, facts))
        draws = approximation.sample(settings.recorded, generators(seed, 1)[0])
    return of_approximation(problem, drawn(draws, facts, approximation))

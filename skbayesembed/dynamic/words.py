"""What densities of drifting vectors ask of a model, without its pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Words:
    """What `DynamicDensity` and `DynamicLaplace` ask of a model, without a table of pairs.

    Attributes
    ----------
    prior : DriftPrior
    center : dict of ndarray of shape (n_words, n_components)
        ``rho`` and ``alpha``.
    """

    prior: Any
    center: dict

    @property
    def n_periods(self):
        """Number of periods."""
        return self.prior.n_periods

    @property
    def n_words(self):
        """Number of words."""
        return self.center["rho"].shape[0]

    @property
    def n_components(self):
        """Number of components."""
        return self.center["rho"].shape[1]

    def in_frame(self, alpha, *vectors):
        """The vectors as they are."""
        return vectors

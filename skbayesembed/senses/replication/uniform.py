"""The auxiliary-uniform updates of Zafar & Nicholls (2022, appendix B), kept to reproduce them."""

from __future__ import annotations

import math

import numpy as np

from .uniform_kernels import (
    draw_sense_effects_uniform,
    draw_time_effects_uniform,
    draw_walks_uniform,
)

__all__ = ["draw_effects", "draw_walks_uniform"]


def draw_effects(chi, theta, table, counts, sizes, chi_precision, precision, rng):
    """Update every chi[k, v], every theta[t, v], and how each word's level is split between them.

    Arguments are those of `gibbs.kernels.draw_additive`, the `Tridiagonal` prior precision of theta
    in place of its entries.
    """
    given = chi, theta, table, counts, sizes
    draw_sense_effects_uniform(*given, chi_precision, rng)
    draw_time_effects_uniform(*given, precision.diagonal, precision.off, rng)
    draw_split(chi, theta, chi_precision, precision, rng)


def draw_split(chi, theta, chi_precision, precision, rng):
    """Draw how each word's level is split: chi + c and theta - c have the same likelihood."""
    n_senses = chi.shape[0]
    ones = precision.apply(np.ones(precision.n))
    total = n_senses * chi_precision + ones.sum()
    mean = (ones @ theta - chi_precision * chi.sum(axis=0)) / total
    shift = mean + rng.standard_normal(mean.size) / math.sqrt(total)
    chi += shift
    theta -= shift

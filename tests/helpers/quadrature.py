"""Posteriors of one and two words, known by quadrature, and how far draws are from them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from scipy.special import expit, log_expit

# Monte Carlo standard errors allowed between a sampler and the quadrature: with about 60
# comparisons in a file a correct sampler exceeds 4.5 once in 2,500 runs of it.
ALLOWED = 4.5
# Of smooth functions that vanish at both ends, sums at this step are integrals to 1e-12.
GRID = np.linspace(-14, 14, 561)


def standardised(sampling, draws, expected):
    """(mean - expected) in Monte Carlo standard errors, for draws (n_draws, n_quantities)."""
    ess = np.array([sampling.ess(d[None]) for d in draws.T])
    error = draws.std(axis=0, ddof=1) / np.sqrt(ess)
    return (draws.mean(axis=0) - expected) / error


def one_word(positive, negative, precision):
    """Means of (sigma(t), t, rho^2, alpha^2), t = rho alpha, of one word in one dimension."""
    rho, alpha = np.meshgrid(GRID, GRID, indexing="ij")
    t = rho * alpha
    logp = positive * log_expit(t) + negative * log_expit(-t)
    logp -= 0.5 * precision * (rho**2 + alpha**2)
    weight = np.exp(logp - logp.max())
    weight /= weight.sum()
    return np.array([(weight * q).sum() for q in (expit(t), t, rho**2, alpha**2)])


def one_free_context():
    """Two words in one dimension, context 0 held at a value.

    Given the free context the targets part: each integrates out on a grid for every value of it.

    Returns
    -------
    SimpleNamespace
        ``positive`` and ``negative`` counts, ``anchor``, ``precision`` and ``expected``: means of
        (alpha_1, its square, rho_0, its square, rho_1, its square).
    """
    positive = np.array([[5.0, 1.0], [2.0, 6.0]])
    negative = np.array([[1.0, 4.0], [3.0, 1.0]])
    anchor, precision = 1.3, 0.8
    outer, targets = np.exp(-0.5 * precision * GRID**2), []
    for w in range(2):
        inner = np.tile(-0.5 * precision * GRID[:, None] ** 2, GRID.size)
        for v, context in enumerate((np.full(GRID.size, anchor), GRID)):
            t = GRID[:, None] * context[None, :]
            inner += positive[w, v] * log_expit(t) + negative[w, v] * log_expit(-t)
        # the shared shift keeps the relative weights of the contexts
        evidence = np.exp(inner - inner.max())
        mass = evidence.sum(axis=0)
        outer = outer * mass
        targets += [(evidence * q[:, None]).sum(axis=0) / mass for q in (GRID, GRID**2)]
    outer /= outer.sum()
    return SimpleNamespace(
        positive=positive, negative=negative, anchor=anchor, precision=precision,
        expected=np.array([(outer * q).sum() for q in (GRID, GRID**2, *targets)]),
    )  # fmt: skip

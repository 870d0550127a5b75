"""The variational bound lies below the log evidence, and not far below: by quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, log_expit, logsumexp

from skbayesembed import PairCounts
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.vi.variational import SGNSVariational

GRID = np.linspace(-12.0, 12.0, 241)
STEP = GRID[1] - GRID[0]


def log_evidence(positive, negative, precision):
    """log p(counts) of a model of two words and one component, on a grid over all vectors.

    Given alpha, the words' targets are independent. The trapezium rule on smooth integrands that
    vanish at both ends has an error far below 1e-6 at this step.
    """
    log_prior = 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * GRID**2 + np.log(STEP)
    t = np.outer(GRID, GRID)  # rho, alpha
    total = log_prior[:, None] + log_prior
    for w in range(2):
        first, second = (
            positive[w, v] * log_expit(t) + negative[w, v] * log_expit(-t) for v in range(2)
        )
        peak = [f.max(axis=0) for f in (first, second)]
        weights = np.exp(first - peak[0]).T * np.exp(log_prior)
        inner = weights @ np.exp(second - peak[1])
        total = total + np.log(np.maximum(inner, 1e-300)) + peak[0][:, None] + peak[1]
    return logsumexp(total)


def bound(positive, negative, prior, covariance, dense, start):
    counts = PairCounts(sparse.csr_array(positive), sparse.csr_array(negative))
    model = SGNSModel(DensePairs(counts) if dense else SparsePairs(counts), 1, prior)
    variational = SGNSVariational(model, covariance)
    q = variational.init_q(model.start(np.random.default_rng(start)))

    def run(function, tasks):
        for task in tasks:
            function(*task)

    facts = coordinate_ascent(variational, q, run, max_iter=5000, tol=1e-9, warn=False)
    return facts["elbo"][-1]


CASES = {
    "few": (np.array([[3.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 0.0]])),
    "many": (np.array([[60.0, 10.0], [20.0, 45.0]]), np.array([[20.0, 50.0], [40.0, 15.0]])),
    "one-sided": (np.array([[8.0, 8.0], [8.0, 8.0]]), np.zeros((2, 2))),
}


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("precision", [0.5, 2.0])
def test_below_the_evidence(name, precision):
    positive, negative = CASES[name]
    evidence = log_evidence(positive, negative, precision)
    for covariance, dense in (("full", True), ("diag", True), ("full", False), ("diag", False)):
        # the tables are two ways to the same numbers
        for start in range(3 if dense else 1):
            found = bound(positive, negative, precision, covariance, dense, start)
            # the posterior has two modes, mirror images, of which q covers one: log 2; the rest
            # is the price of independent Gaussians and of the quadratic bound
            assert evidence - 4.0 < found < evidence


@pytest.mark.slow
def test_below_the_evidence_with_a_learned_precision():
    """The precision integrated out on a grid of its logarithm."""
    positive, negative = CASES["many"]
    shape, rate = 2.0, 1.5
    log_tau = np.linspace(np.log(0.02), np.log(20.0), 61)
    terms = []
    for value in log_tau:
        tau = np.exp(value)
        density = shape * np.log(rate) - gammaln(shape) + shape * value - rate * tau
        terms.append(log_evidence(positive, negative, tau) + density)
    evidence = logsumexp(terms) + np.log(log_tau[1] - log_tau[0])
    for learned in ("shared", "component"):
        prior = Prior(2, 1, 1.0, learned=learned, hyper=(shape, rate))
        found = bound(positive, negative, prior, "full", True, 0)
        assert evidence - 4.0 < found < evidence

"""What first order overstates along soft directions, on a density whose modes are known."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.inference.conjugate import Flexible, flexible_gradients
from skbayesembed.sgns.documents.refits import responding

N, UNITS = 12, 300


class Density:
    """``-x'Hx / 2 - fourth (d.x)^4 / 24 + sum_u w_u s_u . x``, with its mode at 0 for w = 1.

    Units move it by some standard deviations of the model in each direction.
    """

    def __init__(self, softest, fourth, stream=0):
        self.rng = rng = np.random.default_rng(stream)
        basis, _ = np.linalg.qr(rng.standard_normal((N, N)))
        values = np.concatenate([[softest], np.geomspace(0.5, 20.0, N - 1)])
        self.curvature, self.soft = (basis * values) @ basis.T, basis[:, 0]
        self.fourth = fourth
        scores = rng.standard_normal((UNITS, N)) * np.sqrt(np.maximum(values, 0.5) / UNITS)
        self.scores = (scores - scores.mean(axis=0)) @ basis.T
        self.gradient = rng.standard_normal(N)

    def mode(self, weights):
        """By Newton's method along the soft direction; all others are linear."""
        pull = (weights - 1.0) @ self.scores
        along, at = self.soft @ self.curvature @ self.soft, 0.0
        for _ in range(200):
            slope = along * at + self.fourth * at**3 / 6.0 - self.soft @ pull
            at -= slope / (along + self.fourth * at**2 / 2.0)
        x = np.linalg.solve(self.curvature, pull)
        return x + (at - self.soft @ x) * self.soft

    def solved(self):
        """Influences of first order, the variance by the model and conjugate directions."""
        going = Flexible(self.gradient[None])

        def solve(gradients, _):
            off = 0.1 * self.rng.standard_normal((N, N)) / N**0.5
            return gradients @ (np.linalg.inv(self.curvature) + off)

        given = {"solve": solve, "precondition": np.copy, "going": going}
        limits = {"tol": 1e-8, "max_iter": 50}
        (x,) = flexible_gradients(
            lambda d: d @ self.curvature, self.gradient[None], **limits, **given
        )
        (steps,) = going.steps
        return self.scores @ x, float(self.gradient @ x), steps

    def responding(self):
        """Influences that refits have corrected, and how many refits there were."""
        influence, variance, steps = self.solved()
        weights = []

        def refit(w, step):
            weights.append(w)
            return self.mode(w)

        read = lambda x: float(self.gradient @ x)  # noqa: E731
        along = lambda d: self.scores @ d.T  # noqa: E731
        found = responding(influence, self.gradient, variance, steps, along, read, refit)
        assert all(np.min(w) >= 0.0 and np.sum((w - 1.0) ** 2) < 1.001 for w in weights)
        return found, influence, len(weights)


@pytest.mark.parametrize("stream", range(4))
@pytest.mark.parametrize(("softest", "fourth"), [(5e-4, 40.0), (1e-3, 1e-3), (2e-3, 1e-6)])
def test_movements_along_soft_directions_are_those_of_refits(softest, fourth, stream):
    """Against modes with random weights: 1,000, whose standard deviation is known to 2.2 %.

    Of the soft direction the response at one standard error stands for all of its distribution: of
    the third root of a normal number the standard deviation is 11 % less.
    """
    density = Density(softest, fourth, stream)
    pulls = density.rng.standard_normal((1000, UNITS))
    answers = np.array([density.gradient @ density.mode(1.0 + z) for z in pulls])
    # of a jackknife
    error = np.std(answers) * np.sqrt(UNITS / (UNITS - 1.0))
    found, first_order, n_refits = density.responding()
    assert n_refits == 2
    assert np.linalg.norm(first_order) > 1.2 * error
    assert np.linalg.norm(found) / error == pytest.approx(1.05, abs=0.06 + 4 * 0.022)
    # all else is as it was: along other directions first order holds
    rest = found - first_order
    along = density.scores @ density.soft
    expected = (rest @ along) / (along @ along) * along
    np.testing.assert_allclose(rest, expected, atol=0.01 * np.abs(rest).max())


@pytest.mark.parametrize("density", [Density(2e-3, 0.0), Density(0.5, 40.0)])
def test_first_order_stays_where_it_holds(density):
    """Along a soft direction that stays as soft, and where there is none."""
    found, first_order, n_refits = density.responding()
    np.testing.assert_allclose(found, first_order, rtol=1e-6, atol=1e-9)
    assert n_refits == (2 if density.fourth == 0.0 else 0)

"""The loop of coordinate ascent."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.inference.vi import coordinate_ascent


class Halving:
    """A bound that halves its distance to -1 in every sweep."""

    def __init__(self, held_for=0, interrupt_at=None):
        self.held_for = held_for
        self.interrupt_at = interrupt_at

    def init_q(self, arrays):
        return {"sweeps": 0}

    def update(self, q, run):
        if q["sweeps"] == self.interrupt_at:
            raise KeyboardInterrupt
        q["sweeps"] += 1
        return -1.0 - 0.5 ** q["sweeps"]

    def settled(self, q):
        return q["sweeps"] > self.held_for

    def sample_q(self, q, n, rng):
        return {}


def ascend(model, **options):
    q = model.init_q({})
    return q, coordinate_ascent(model, q, None, **{"max_iter": 100, "tol": 1e-3, **options})


def test_ends_when_the_bound_settles():
    q, facts = ascend(Halving())
    # sweep n raises the bound by 2^-n: below 1e-3 first at n = 10
    assert facts["n_iter"] == q["sweeps"] == 10
    assert facts["converged"] and not facts["interrupted"]
    np.testing.assert_allclose(facts["elbo"], -1 - 0.5 ** np.arange(1, 11))


def test_waits_for_the_model():
    assert ascend(Halving(held_for=14))[1]["n_iter"] == 15


def test_limit_of_sweeps():
    with pytest.warns(ConvergenceWarning, match="max_iter=4 sweeps: raise max_iter, or tol"):
        _, facts = ascend(Halving(), max_iter=4)
    assert facts["n_iter"] == 4 and not facts["converged"]
    assert not ascend(Halving(), max_iter=4, warn=False)[1]["converged"]


def test_interrupted():
    with pytest.warns(RuntimeWarning, match="the approximation is that of 3 sweeps"):
        _, facts = ascend(Halving(interrupt_at=3))
    assert facts["interrupted"] and facts["n_iter"] == 3
    with pytest.raises(KeyboardInterrupt):
        ascend(Halving(interrupt_at=0))


def test_progress_is_shown(capsys):
    ascend(Halving(), tol=1e-6, verbose=1)
    assert "vi: 10 sweeps, bound -1.0009766" in capsys.readouterr().out


def test_refuses_models_without_factors():
    with pytest.raises(TypeError, match="solver='vi' needs a model that offers Variational"):
        coordinate_ascent(object(), None, None, max_iter=1, tol=1.0)

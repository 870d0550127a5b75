"""Diagnoses of chains: whether they are in one mode."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.senses import recording
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from tests.helpers.senses import fit, options, planted, run, snippets_of, training_of


@pytest.fixture(scope="module")
def data():
    return snippets_of(planted())


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize("solver", ["hmc", "gibbs"])
def test_chains_in_different_modes_are_not_averaged_silently(data, solver):
    fitted = run(data, solver=solver)
    assert fitted.posterior.attrs["chain_similarity"] > 0.85
    draws = dict(fitted.posterior)
    # in the second chain every second word, by its frequency, has changed its sense
    broken = {name: np.array(values) for name, values in draws.items()}
    changed = np.argsort(-data.totals.sum(axis=0))[::2]
    broken["chi"][1][:, :, changed] = broken["chi"][1][:, ::-1, changed]
    stats, attrs = dict(fitted.posterior.stats), dict(fitted.posterior.attrs)
    posterior = type(fitted.posterior)(broken, stats=stats, attrs=attrs)
    with pytest.warns(ConvergenceWarning, match="chains are in different modes"):
        recording.diagnose(options(solver=solver), training_of(data), posterior)
    assert posterior.attrs["chain_similarity"] < 0.85 and posterior.attrs["converged"] is False


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.filterwarnings("ignore:The posterior has .* modes")
def test_gibbs_chains_forced_into_different_modes(monkeypatch):
    """Words 0 or 1 together with 2 or 3: senses by the first or by the second pair are two modes.

    Each chain starts in another of them and, with so many snippets, stays there.
    """
    counts = np.zeros((160, 4))
    for i in range(160):
        counts[i, [i % 2, 2 + (i // 2) % 2]] = 4
    data = Snippets.of(sparse.csr_array(counts), np.zeros(160, dtype=int))
    chi = np.array([[3.0, -3, 0, 0], [-3, 3, 0, 0]])
    starts_of_chains = iter([chi, np.roll(chi, 2, axis=1)])
    init = SenseGibbs.init_state

    def apart(self, rngs):
        self.start["chi"] = next(starts_of_chains)
        return init(self, rngs)

    monkeypatch.setattr(SenseGibbs, "init_state", apart)
    with pytest.warns(ConvergenceWarning, match="different modes.*mean log likelihoods -"):
        fitted = fit(data, solver="gibbs", draws=40, warmup=20)
    assert fitted.posterior.attrs["converged"] is False

"""Diagnoses of chains: whether they are in one mode."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import Posterior
from skbayesembed.senses import recording
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from tests.helpers.senses import fit, options, run, training_of, two_ways

pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:The posterior has .* modes"),
]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["hmc", "gibbs"])
def test_chains_in_different_modes_are_not_averaged_silently(solver):
    data = two_ways()
    good = run(data, solver=solver).posterior
    assert good.attrs["chain_similarity"] > 0.85
    # the other mode, in the second chain: words exchange their places
    draws = {name: np.array(values) for name, values in good.items()}
    for name in ("chi", "theta"):
        draws[name][1] = np.roll(draws[name][1], 2, axis=-1)
    posterior = Posterior(draws, stats=dict(good.stats), attrs=dict(good.attrs))
    with pytest.warns(ConvergenceWarning, match="different modes.*mean log likelihoods -"):
        recording.diagnose(options(solver=solver), training_of(data), posterior)
    assert posterior.attrs["chain_similarity"] < 0.85
    assert posterior.attrs["converged"] is False


def test_gibbs_chains_forced_into_different_modes(monkeypatch):
    """Each chain starts in another of the two modes and, with so many snippets, stays there."""
    chi = np.array([[3.0, -3, 0, 0], [-3, 3, 0, 0]])
    starts_of_chains = iter([chi, np.roll(chi, 2, axis=1)])
    init = SenseGibbs.init_state

    def apart(self, rngs):
        self.start = self.start | {"chi": next(starts_of_chains)}
        return init(self, rngs)

    monkeypatch.setattr(SenseGibbs, "init_state", apart)
    with pytest.warns(ConvergenceWarning, match="different modes.*mean log likelihoods -"):
        fitted = fit(two_ways(), solver="gibbs", draws=40, n_starts=1)
    assert fitted.posterior.attrs["converged"] is False


def test_what_is_said_of_chains_that_have_not_mixed():
    """The cell with the largest R-hat, means with the digits in which they differ, and one way."""
    draws = np.full((2, 4, 1, 3, 2), 0.5)
    draws[0, :, 0, 1, 1], draws[1, :, 0, 1, 1] = 0.0512, 0.0543
    given = {"dims": {"prevalence": ("genre", "period", "sense")}}
    coords = {"genre": ["all"], "period": ["[0, 5)", "[5, 9)", "[9, 12]"], "sense": [0, 1]}
    posterior = Posterior({"prevalence": draws}, coords=coords, **given)
    posterior.attrs["thin"] = 8
    mixing = np.ones((1, 3, 2))
    for largest, first, second in (
        (1.08, "First make chains longer (thin, which is 8, and", "raise n_starts"),
        (1.3, "first raise n_starts", "longer chains alone seldom help"),
    ):
        mixing[0, 1, 1] = largest
        said = recording._of_unmixed(posterior, mixing)
        assert "sense 1 in [5, 9), whose means by chain are 0.051 and 0.054 (standard" in said
        assert "genre" not in said and str(largest) in said
        assert 0 < said.index(first) < said.index(second)
    # a chain that stands still, of a sampler with steps, is told of
    posterior.stats["acceptance"] = np.repeat([[0.2], [0.76]], 4, axis=1)
    assert "accepted" not in recording._of_unmixed(posterior, mixing)
    posterior.stats["step_size"] = np.full((2, 4), 0.7)
    said = recording._of_unmixed(posterior, mixing)
    assert "Chain 0 accepted 20 % of its moves and chain 1 76 %: steps are too long" in said
    assert 0 < said.index("first raise n_starts") < said.index("raise target_accept (0.95)")
    posterior.stats["acceptance"] = np.full((2, 4), 0.7)
    assert "accepted" not in recording._of_unmixed(posterior, mixing)
    # one diagnosis: what there is to say of the likelihood is in it
    posterior.stats["log_likelihood"] = np.arange(8.0).reshape(2, 4)
    said = recording._of_unmixed(posterior, mixing, 1.5)
    assert "; the split R-hat of the log likelihood is 1.5 (means by chain 1.5, 5.5; names=" in said
    assert "cut them" not in said
    assert recording._apart([0.05, 0.05, 0.05]) == "0.0500, 0.0500 and 0.0500"

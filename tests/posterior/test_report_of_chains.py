"""What a report says of chains that converged, but not enough for the ends of intervals."""

import numpy as np
import pytest

from skbayesembed import Posterior
from skbayesembed.posterior.report import _chains

ATTRS = {"solver": "gibbs", "converged": True, "warmup": 10, "thin": 1, "draws_made": 200}


@pytest.mark.parametrize("steps", [1, 60], ids=["independent", "slow"])
def test_few_effective_draws_are_told(steps):
    rng = np.random.default_rng(0)
    # topics of 200 tokens; slow shares stay the same for some draws
    counts = np.repeat(rng.multinomial(200, [0.3, 0.7], size=(2, -(-200 // steps))), steps, axis=1)
    posterior = Posterior({"counts": counts[:, :200, :, None].astype(float)}, attrs=ATTRS,
                          dims={"counts": ("topic", "word")}, coords={"topic": [0, 1]})  # fmt: skip
    rows = _chains(posterior)
    assert rows["draws"] == "200 in each of 2 chains"
    assert rows["warm-up"] == "10, 1 step from draw to draw"
    assert rows["converged"].startswith("yes, but intervals ask for" if steps > 1 else "yes")
    assert ("but" in rows["converged"]) == (steps > 1)


@pytest.mark.parametrize("converged", [True, False])
def test_chains_that_agree_have_not_seen_other_modes(converged):
    draws = np.random.default_rng(0).standard_normal((2, 400, 3))
    attrs = ATTRS | {"draws_made": 400, "converged": converged, "modes_that_matter": 2}
    rows = _chains(Posterior({"x": draws}, attrs=attrs))
    assert rows["converged"] == ("yes within one mode, of 2 that matter" if converged else "no")
    rows = _chains(Posterior({"x": draws}, attrs=attrs | {"modes_that_matter": 1}))
    assert rows["converged"] == ("yes" if converged else "no")

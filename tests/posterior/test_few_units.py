"""What is said of regressions with few units for their terms."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.posterior.few_units import warn_of_few


@pytest.mark.parametrize(
    "what, n_terms, advice",
    [
        ("term", 1, "more presidents are needed"),
        ("slope", 1, "more presidents are needed"),
        ("term", 2, "take fewer terms"),
        ("slope", 2, "take fewer features"),
    ],
)
def test_advice(what, n_terms, advice):
    """Of one term alone none can be left out."""
    terms = np.array(["party", "age"])[:n_terms]
    with pytest.warns(UserWarning, match=rf"5 presidents are few for {n_terms} .*: {advice}\.$"):
        warn_of_few(np.full(n_terms, 2.0), 5, terms, what, "5 presidents", "presidents")

"""Checks of what users pass to `GaussianLDA`."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import GaussianLDA
from skbayesembed.topics.checks import MAX_PARAMETERS, check_size, document_weights
from skbayesembed.topics.model import count_parameters


def test_size_is_limited():
    check_size(GaussianLDA(3, solver="hmc"), 100, 5)
    with pytest.raises(ValueError, match="solver='gibbs'") as error:
        check_size(GaussianLDA(20, solver="laplace"), 5000, 50)
    assert str(count_parameters(5000, 20, 50)) in str(error.value)
    assert count_parameters(5000, 20, 50) > MAX_PARAMETERS


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["a", "b"], "sample_weight must hold numbers"),
        ([1.0], r"one entry for each of the 2 documents, got shape \(1,\)"),
        ([[1.0, 1.0]], "one entry for each of the 2 documents"),
        ([1.0, -1.0], "must hold finite numbers >= 0, not all of them 0"),
        ([np.nan, 1.0], "must hold finite numbers >= 0"),
        ([0.0, 0.0], "not all of them 0"),
    ],
)
def test_weights_of_documents(weights, message):
    np.testing.assert_array_equal(document_weights([0, 2], 2), [0.0, 2.0])
    with pytest.raises(ValueError, match=message):
        document_weights(weights, 2)

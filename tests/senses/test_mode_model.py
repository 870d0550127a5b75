"""The model within a mode: its draws have the names of senses of the mode."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.senses.mode_model import ModeModel
from skbayesembed.senses.priors import ModelPrior
from tests.helpers.senses import K, planted, run, snippets_of


@pytest.fixture(scope="module")
def data():
    return snippets_of(planted())


@pytest.mark.slow
def test_a_draw_is_matched_once(data, monkeypatch):
    mode = run(data).learned["modes_"][0]
    chain = ModeModel(data, K, ModelPrior(), mode)
    theta, calls, sums = chain.pack(mode.arrays), [], chain.sums
    monkeypatch.setattr(chain, "sums", lambda arrays: calls.append(1) or sums(arrays))
    seen, trace = chain.observe(theta), chain.trace(theta)
    assert len(calls) == 1 and trace["switched"] == 0
    assert trace["log_likelihood"] == chain.log_likelihood(theta)
    # the same array with another draw in it; a mode that names its senses otherwise
    theta += 0.01
    assert chain.trace(theta)["log_likelihood"] != trace["log_likelihood"]
    mode.weights = mode.weights[::-1]
    chain = ModeModel(data, K, ModelPrior(), mode)
    assert chain.trace(theta)["switched"] == 1
    theta -= 0.01
    np.testing.assert_allclose(chain.observe(theta)["chi"], seen["chi"][::-1], atol=1e-6)

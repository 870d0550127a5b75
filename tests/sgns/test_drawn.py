"""Draws of word vectors."""

import numpy as np
import pytest

from skbayesembed import BayesianSGNS

pytestmark = pytest.mark.usefixtures("first_mode")

TEXTS = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog", "a rug"] * 6


@pytest.mark.parametrize("uncertainty", ["documents", "model"])
def test_draws_are_those_of_documents_of_a_word(uncertainty):
    """Means are rho_, standard deviations those of features; words keep their order."""
    model = BayesianSGNS(
        2, solver="laplace", prior_precision=0.1, min_count=1, draws=400, features="mean_std",
        uncertainty=uncertainty, random_state=0,
    ).fit(TEXTS)  # fmt: skip
    words = ["dog", "rug", "cat"]
    drawn = model.sample_vectors(words, 400)
    places = [model.vocabulary_[w] for w in words]
    sd = model.transform(words)[:, 2:]
    # five standard errors of a mean and of a standard deviation of 400 draws
    assert np.all(np.abs(drawn.mean(axis=0) - model.rho_[places]) < 5 * sd / 20)
    assert np.all(np.abs(drawn.std(axis=0) / sd - 1) < 5 / np.sqrt(800))
    np.testing.assert_array_equal(model.sample_vectors(words, 400), drawn)
    assert model.sample_vectors(n_draws=2).shape == (2, model.words_.size, 2)
    with pytest.warns(UserWarning, match="'bird'"):
        assert model.sample_vectors(["bird", "cat"], 3).shape == (3, 1, 2)
    with pytest.raises(ValueError, match="n_draws must be"):
        model.sample_vectors(words, 0)

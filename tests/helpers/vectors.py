"""Word vectors with a posterior, for models that take them."""

import numpy as np

from skbayesembed import BayesianSGNS


class DrawnVectors:
    """Vectors around given ones, as of a fitted `BayesianSGNS`, without a fit."""

    def __init__(self, names, vectors, sd):
        self.rho_, self.sd = vectors, sd
        self.vocabulary_ = {name: i for i, name in enumerate(names)}

    def sample_vectors(self, words, n_draws):
        """The same draws whenever they are asked for."""
        mean = self.rho_[[self.vocabulary_[word] for word in words]]
        draws = np.random.default_rng(0).standard_normal((n_draws, *mean.shape))
        draws *= self.sd
        draws += mean
        return draws


def fitted_vectors(texts):
    """A small `BayesianSGNS` of texts, whose vectors differ."""
    model = BayesianSGNS(
        2, solver="laplace", prior_precision=0.05, min_count=1, draws=40, random_state=0
    )
    return model.fit(texts)

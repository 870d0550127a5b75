"""Word vectors with a posterior, for models that take them."""

from skbayesembed import BayesianSGNS


def fitted_vectors(texts):
    """A small `BayesianSGNS` of texts, whose vectors differ."""
    model = BayesianSGNS(
        2, solver="laplace", prior_precision=0.05, min_count=1, draws=40, random_state=0
    )
    return model.fit(texts)

"""Data trees of topics: documents' likelihoods against quadrature, priors against scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import beta, invwishart, multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.topics.datatree import document_likelihood

pytest.importorskip("arviz_base")

DATA = make_topics(n_documents=12, n_words=20, n_topics=2, n_dims=2, random_state=0)


def fitted(**options):
    options = {"draws": 10, "warmup": 10, "chains": 2, "min_count": 1, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianLDA(2, embedding=DATA.vectors, random_state=0, **options).fit(DATA.counts)


@pytest.mark.parametrize("alpha", [[0.1, 0.1], [0.7, 2.0]])
def test_shares_are_integrated_out(alpha):
    rng = np.random.default_rng(1)
    log_weights = rng.normal(scale=1.5, size=(6, 2))
    words, counts = np.arange(5), np.array([3.0, 1, 2, 1, 4])
    table, alpha = log_weights[words], np.array(alpha)

    def density(x):
        inside = np.logaddexp(np.log(x) + table[:, 0], np.log1p(-x) + table[:, 1])
        return np.exp(counts @ inside - level) * beta.pdf(x, *alpha)

    level = counts @ table.max(axis=1)
    exact = level + np.log(sum(quad(density, *ends, limit=200)[0] for ends in ((0, 0.5), (0.5, 1))))
    mean, variance = np.array([0.5, 0.5]), np.array([0.05, 0.05])
    points = 20_000
    found, efficiency = document_likelihood(
        words, counts, log_weights, alpha, mean, variance, points, rng
    )
    # six standard errors of the mean of weights, of which efficiency * points count
    error = np.sqrt((1 / efficiency - 1) / points)
    assert 0.01 < efficiency <= 1
    assert abs(found - exact) < 6 * error


def test_groups_of_documents_and_topics():
    model = fitted(solver="gibbs")
    tree = model.to_datatree(DATA.counts, n_points=100)
    documents = tree["log_likelihood"]["documents"]
    assert documents.shape == (2, 10, 12)
    efficiency = documents["efficiency"].values
    assert np.all((efficiency > 0.05) & (efficiency <= 1 + 1e-12))
    # between all tokens in one topic and the best topic of each token
    draws = model.posterior_
    for c, s in ((0, 0), (1, 9)):
        dense = np.array([
            multivariate_normal(draws["mean"][c, s, k], draws["covariance"][c, s, k]).logpdf(
                model._vectors
            )
            for k in range(2)
        ])  # fmt: skip
        of_document = model.likelihood_power_ * dense
        counts = model._training.toarray()
        assert np.all(documents.values[c, s] < counts @ of_document.max(axis=0))
        # half of the mass of theta is on either side of a half: a rough bound from below
        even = counts @ (logsumexp(of_document, axis=0) - np.log(2.0))
        worst = counts @ of_document.min(axis=0)
        assert np.all(documents.values[c, s] > np.minimum(even, worst) - 1e-9)
    again = model.to_datatree(DATA.counts, n_points=100)["log_likelihood"]["documents"]
    np.testing.assert_array_equal(again.values, documents.values)


def test_prior_of_topics_is_normal_inverse_wishart():
    options = {"mean_prior": [0.1, -0.2], "mean_precision_prior": 0.5}
    options |= {"covariance_prior": 2.0, "degrees_of_freedom_prior": 5.0}
    model = fitted(solver="gibbs", **options)
    found = model.to_datatree()["log_prior"]["topics"].values
    posterior = model.posterior_
    for c, s in ((0, 0), (1, 9)):
        value = 0.0
        for mean, covariance in zip(
            posterior["mean"][c, s], posterior["covariance"][c, s], strict=True
        ):
            value += invwishart(5.0, 2.0 * np.eye(2)).logpdf(covariance)
            value += multivariate_normal([0.1, -0.2], covariance / 0.5).logpdf(mean)
        assert found[c, s] == pytest.approx(value, rel=1e-8)


@pytest.mark.slow
def test_arviz_compares_topics():
    pytest.importorskip("xarray_einstats")
    from arviz_stats import loo, psense

    model = fitted(solver="gibbs", draws=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tree = model.to_datatree(DATA.counts, n_points=50)
        found = loo(tree)
    values = tree["log_likelihood"]["documents"].values.reshape(120, -1)
    in_sample = np.sum(logsumexp(values, axis=0) - np.log(120))
    assert found.elpd < in_sample and found.n_data_points == 12
    assert np.isfinite(psense(tree, var_names=["mean"], group="likelihood")["mean"].values).all()


def test_what_is_refused():
    model = fitted(solver="gibbs")
    with pytest.raises(ValueError, match="must be the data that fit was given"):
        model.to_datatree(DATA.counts[::-1])
    with pytest.raises(MemoryError, match="max_bytes=10"):
        model.to_datatree(DATA.counts, max_bytes=10)
    with pytest.raises(ValueError, match="got solver='vi'"):
        fitted(solver="vi").to_datatree(DATA.counts)


@pytest.mark.filterwarnings("ignore:X has counts that are no whole numbers")
@pytest.mark.parametrize("word_model", ["gaussian", "dirichlet"])
def test_a_tree_is_of_the_counts_that_were_fitted(word_model):
    """Gibbs rounds them: all that is told of its draws is of rounded counts."""
    whole = DATA.counts.astype(float)
    parts = whole + 0.4 * (whole > 0)
    trees = []
    for counts in (whole, parts):
        given = {"draws": 4, "warmup": 4, "chains": 2, "min_count": 1, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = GaussianLDA(2, embedding=DATA.vectors, word_model=word_model, **given)
            trees.append(model.fit(counts).to_datatree(counts, n_points=20))
    for group, name in (("log_likelihood", "documents"), ("log_prior", "topics")):
        first, second = (tree[group][name].values for tree in trees)
        np.testing.assert_array_equal(first, second)

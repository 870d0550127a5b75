"""From data to a posterior of topics: the choice of the power, labels, what is warned of."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.topics import choice, fitting


def test_power_is_chosen():
    """Of vectors that say little of a document's words, a small one."""
    data = make_topics(150, 60, 3, n_dims=12, mean_length=30, separation=0.7,
                       likelihood_power=0.1, random_state=0)  # fmt: skip
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", likelihood_power="auto",
                        normalize=None, random_state=0)  # fmt: skip
    model.fit(data.counts)
    scores = model.likelihood_power_scores_
    assert list(scores) == list(choice.POWER_GRID)
    assert model.likelihood_power_ == max(scores, key=scores.get) < 1
    assert model.posterior_.attrs["likelihood_power"] == model.likelihood_power_
    again = clone(model).set_params(solver="gibbs", draws=3, warmup=3).fit(data.counts)
    assert again.likelihood_power_scores_ == scores, "whatever the solver"
    with pytest.raises(AttributeError):
        clone(model).set_params(likelihood_power=1.0).fit(data.counts).likelihood_power_scores_  # noqa: B018
    with pytest.raises(ValueError, match="needs 5 documents with two tokens or more"):
        model.fit(data.counts[:4])


def test_below_power_one_documents_choose_the_start(monkeypatch):
    """The start whose topics complete held-out documents best, whatever the bounds."""
    data = make_topics(60, 40, 3, n_dims=4, mean_length=15, random_state=0)
    found = {}
    for better in choice.STARTS:

        def score(split, estimator, problem, better=better):
            start = "words" if problem.clusters is None else "documents"
            return -1.0 if start == better else -2.0

        monkeypatch.setattr(choice.Split, "score", score)
        for power in (0.5, "auto"):
            model = GaussianLDA(3, embedding=data.vectors, solver="vi", likelihood_power=power,
                                random_state=0).fit(data.counts)  # fmt: skip
            assert model.posterior_.attrs["init"] == better
            named = clone(model).set_params(init=better, likelihood_power=model.likelihood_power_)
            found[better] = named.fit(data.counts).elbo_
            np.testing.assert_array_equal(model.elbo_, found[better])
    assert found["words"][0] != found["documents"][0]


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_few_documents_leave_the_start_to_the_bound(power):
    data = make_topics(4, 30, 2, n_dims=3, mean_length=15, random_state=0)
    model = GaussianLDA(2, embedding=data.vectors, solver="vi", likelihood_power=power,
                        random_state=0)  # fmt: skip
    start = model.fit(data.counts).posterior_.attrs["init"]
    elbo = {s: clone(model).set_params(init=s).fit(data.counts).elbo_ for s in choice.STARTS}
    np.testing.assert_array_equal(model.elbo_, elbo[start])


@pytest.mark.parametrize("word_model", ["count", "density"])
@pytest.mark.filterwarnings("ignore:. of 8 topics hold less than one token")
def test_power_is_chosen_where_covariances_have_no_mean(word_model):
    """Few degrees of freedom and small topics: E[Sigma] is infinite at small powers."""
    data = make_topics(15, 10, 2, n_dims=2, mean_length=8, random_state=1)
    model = GaussianLDA(8, embedding=data.vectors, solver="vi", likelihood_power="auto", draws=3,
                        word_model=word_model, degrees_of_freedom_prior=1.5,
                        covariance_prior=0.1, random_state=0)  # fmt: skip
    scores = model.fit(data.counts).likelihood_power_scores_
    assert np.isfinite(list(scores.values())).all()
    assert model.likelihood_power_ == max(scores, key=scores.get)


def test_an_empty_topic_is_worth_a_warning():
    counts = np.full((1, 2, 3, 4), 5.0)
    counts[:, :, 1] = 0.2
    draws = {
        "mean": np.zeros((1, 2, 3, 1)),
        "covariance": np.ones((1, 2, 3, 1, 1)),
        "counts": counts,
        "alpha": np.ones((1, 2, 3)),
    }
    posterior = fitting.Posterior(draws, attrs={"solver": "vi"})
    with pytest.warns(ConvergenceWarning, match="1 of 3 topics hold less than one token"):
        fitting.check_topics(posterior)


def test_chains_in_different_modes_are_worth_a_warning():
    counts = np.zeros((2, 2, 2, 4))
    counts[0, :, 0, :2] = counts[0, :, 1, 2:] = counts[1, :, 0, ::2] = counts[1, :, 1, 1::2] = 9
    posterior = fitting.Posterior({"counts": counts}, attrs={"solver": "gibbs"})
    with pytest.warns(ConvergenceWarning, match="chains are in different modes of the posterior"):
        fitting.check_topics(posterior)
    assert posterior.attrs["chain_similarity"] == pytest.approx(np.sqrt(0.25))


def test_labels_are_aligned():
    """Permuted topics of noisy draws are put in one order, the largest first."""
    rng = np.random.default_rng(0)
    truth = np.array([[1.0, 0, 0, 9], [0, 30, 0, 1], [0, 0, 20, 2]])
    shape = (2, 5)
    draws = {"counts": np.empty((*shape, 3, 4)), "mean": np.empty((*shape, 3, 1))}
    for place in np.ndindex(shape):
        order = rng.permutation(3)
        draws["counts"][place] = truth[order] + 0.1 * rng.random((3, 4))
        draws["mean"][place] = order[:, None]
    fitting.align_topics(draws)
    np.testing.assert_array_equal(draws["mean"][..., 0], np.broadcast_to([1, 2, 0], (*shape, 3)))
    np.testing.assert_allclose(draws["counts"], np.broadcast_to(truth[[1, 2, 0]], (*shape, 3, 4)),
                               atol=0.1)  # fmt: skip


@pytest.mark.parametrize("method", ["batch", "online", "stream"])
def test_the_approximation_has_the_topics_in_the_order_of_the_posterior(method, monkeypatch):
    """k-means numbers the topics in another order for some of the seeds."""
    data = make_topics(60, 40, 3, n_dims=3, random_state=0)
    orders, sort = [], fitting.sort_topics

    def noted(draws):
        orders.append(sort(draws))
        return orders[-1]

    monkeypatch.setattr(fitting, "sort_topics", noted)
    for seed in range(4):
        model = GaussianLDA(3, embedding=data.vectors, solver="vi", draws=50, random_state=seed)
        model.set_params(learning_method="batch" if method == "batch" else "online")
        stream = method == "stream"
        model = model.partial_fit(data.counts) if stream else model.fit(data.counts)
        found = model.approximation_
        # errors of 50 draws are some 0.01, topics are 1 apart
        np.testing.assert_allclose(found.mean("mean"), model.topic_means_, atol=0.1)
        sizes = model.posterior_["counts"].sum(axis=-1).mean(axis=(0, 1))
        np.testing.assert_allclose(found.counts.sum(axis=1), sizes, rtol=0.05)
        assert np.all(np.diff(sizes) < 0)
        again = found.sample(50, np.random.default_rng(0))["mean"].mean(axis=0)
        np.testing.assert_allclose(again, model.topic_means_, atol=0.1)
    assert any(order.tolist() != [0, 1, 2] for order in orders)


def test_draws_of_an_approximation_keep_their_labels():
    """Two topics with the same words are told apart by their means, which matching would mix."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(20.0, size=(1, 30, 2, 4)).astype(float)
    counts[:, :, 1] += 1.0
    mean = np.broadcast_to([[0.0], [1.0]], (1, 30, 2, 1)).copy()
    order = fitting.sort_topics({"counts": counts, "mean": mean})
    np.testing.assert_array_equal(order, [1, 0])
    np.testing.assert_array_equal(mean[..., 0], np.broadcast_to([1.0, 0.0], (1, 30, 2)))

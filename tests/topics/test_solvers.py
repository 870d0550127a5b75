"""The contract that every solver of topics keeps: the same posterior, whatever found it."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import GaussianLDA, Posterior
from skbayesembed.datasets import make_topics
from skbayesembed.inference.contracts import (
    Conditionals,
    HamiltonianModel,
    LogDensity,
    Variational,
    require,
)
from skbayesembed.inference.matching import match
from skbayesembed.topics.data import Documents
from skbayesembed.topics.gibbs.conditionals import TopicGibbs
from skbayesembed.topics.model import MarginalTopics
from skbayesembed.topics.priors import NIW
from skbayesembed.topics.vi.variational import TopicVI

K, V, E, M = 3, 40, 3, 60
SOLVERS = {
    "sampled": {"solver": "gibbs"},
    "alias": {"solver": "gibbs", "kernel": "alias"},
    "reference": {"solver": "gibbs", "kernel": "reference"},
    "vi": {"solver": "vi"},
    "vi-online": {"solver": "vi", "learning_method": "online", "batch_size": 20, "n_passes": 30},
    "hmc": {"solver": "hmc"},
    "laplace": {"solver": "laplace"},
    "map": {"solver": "map"},
}
EXACT = ("sampled", "alias", "reference", "hmc")
DRAWS, POWER = 60, 0.4


@pytest.fixture(scope="module")
def data():
    """Topics so far apart that their posterior is near a Gaussian: all solvers can agree."""
    return make_topics(
        M, V, K, n_dims=E, separation=4.0, mean_length=25, likelihood_power=POWER, random_state=4
    )


def make(name, data, **parameters):
    model = GaussianLDA(
        K, embedding=data.vectors, normalize=None, likelihood_power=POWER, doc_topic_prior=0.2,
        draws=DRAWS, warmup=150, chains=2, random_state=0, **SOLVERS[name],
    )  # fmt: skip
    return model.set_params(**parameters)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(s, marks=pytest.mark.slow if s in ("hmc", "alias") else ()) for s in SOLVERS
    ],
)
def fitted(request, data):
    return request.param, make(request.param, data).fit(data.counts)


@pytest.fixture(scope="module")
def reference(data):
    """A longer run of the fastest exact sampler, of another seed."""
    return make("sampled", data, draws=600, random_state=9).fit(data.counts)


pytestmark = pytest.mark.filterwarnings("ignore:The chains? ha(ve|s) not mixed")


def test_posterior(fitted):
    name, model = fitted
    posterior = model.posterior_
    assert isinstance(posterior, Posterior)
    shape = (2, DRAWS) if name in EXACT else (1, 1 if name == "map" else DRAWS)
    sizes = {"mean": (K, E), "covariance": (K, E, E), "counts": (K, V), "alpha": (K,)}
    assert set(posterior) == set(sizes)
    for variable, size in sizes.items():
        assert posterior[variable].shape == (*shape, *size)
        assert np.isfinite(posterior[variable]).all()
    assert posterior.dims["counts"] == ("topic", "word")
    assert list(posterior.coords["word"]) == list(model.words_)
    assert posterior.attrs["solver"] == SOLVERS[name]["solver"]
    assert posterior.attrs["likelihood_power"] == model.likelihood_power_ == POWER
    assert np.linalg.eigvalsh(posterior["covariance"]).min() > 0
    np.testing.assert_allclose(model.topic_means_, posterior["mean"].mean(axis=(0, 1)))
    np.testing.assert_allclose(model.doc_topic_prior_, 0.2)


def test_tokens_are_all_there(fitted, data):
    _, model = fitted
    counts = model.posterior_["counts"]
    assert counts.min() > -1e-9
    total = np.asarray(data.counts.sum(axis=0)).ravel()
    np.testing.assert_allclose(counts.sum(axis=2), np.broadcast_to(total, counts.sum(axis=2).shape),
                               atol=1e-3)  # fmt: skip


def test_statistics(fitted):
    name, model = fitted
    stats, attrs = model.posterior_.stats, model.posterior_.attrs
    if name not in EXACT:
        assert stats == {} and attrs["n_iter"] >= 1
    else:
        assert stats["lp"].shape == (2, DRAWS)
        assert np.isfinite(stats["lp"]).all()
        assert attrs["chain_similarity"] > 0.8
        assert "max_rhat" in attrs
    assert attrs["n_empty"] == 0 and not attrs["interrupted"]


def aligned(model, truth):
    return match(truth, model.components_)


def test_recovers_the_truth(fitted, data):
    """1,500 tokens: word distributions of the topics by their cosine with the true ones."""
    _, model = fitted
    found = model.components_[aligned(model, data.word_proba)]
    for mine, true in zip(found, data.word_proba, strict=True):
        cosine = mine @ true / np.linalg.norm(mine) / np.linalg.norm(true)
        assert cosine > 0.9
    theta = model.transform(data.counts)[:, aligned(model, data.word_proba)]
    assert np.corrcoef(theta.ravel(), data.theta.ravel())[0, 1] > 0.85


def test_solvers_agree(fitted, reference, data):
    """Shares of topics, their means and the score, against 1,200 draws.

    Two chains of 60 draws have 20 or more effective ones, which leaves a Monte Carlo error of a
    quarter of a posterior sd, the error of some 200 of 1,200 among it. Modes and mean-field
    factors lie within two.
    """
    name, model = fitted
    order = match(reference.components_, model.components_)
    sd = reference.posterior_.std("mean")
    difference = np.abs(model.topic_means_[order] - reference.topic_means_)
    allowed = 1.1 if name in EXACT else 2.5
    assert np.all(difference < allowed * sd + 0.02)
    assert model.score(data.counts) == pytest.approx(reference.score(data.counts), abs=0.03)
    assert model.log_density(data.counts) == pytest.approx(
        reference.log_density(data.counts), abs=0.1
    )
    if name in EXACT:
        ratio = model.posterior_.std("mean")[order] / sd
        assert np.all((ratio > 0.4) & (ratio < 2.0)) and 0.75 < ratio.mean() < 1.25


def test_everything_downstream_works(fitted, data):
    name, model = fitted
    theta = model.transform(data.counts)
    np.testing.assert_allclose(theta.sum(axis=1), 1)
    model.set_params(features="mean_std")
    both = model.transform(data.counts)
    model.set_params(features="mean")
    np.testing.assert_array_equal(both[:, :K], theta)
    assert np.all(both[:, K:] > 0)
    assert model.perplexity(data.counts) == pytest.approx(np.exp(-model.score(data.counts)))
    assert 1 < model.perplexity(data.counts) < V
    assert len(model.top_words(3)) == len(model.topic_info(3)) == K
    assert model.topic_interval().mean.shape == (K, E, 2)
    assert model.coherence().shape == (K,)
    assert model.to_pyldavis()["topic_term_dists"].shape == (K, V)


def test_save_and_load(fitted, tmp_path):
    _, model = fitted
    model.posterior_.save(tmp_path / "posterior.npz")
    again = Posterior.load(tmp_path / "posterior.npz")
    for variable in model.posterior_:
        np.testing.assert_array_equal(again[variable], model.posterior_[variable])
    assert repr(again.attrs) == repr(model.posterior_.attrs)  # NaN is NaN


def test_to_datatree(fitted):
    pytest.importorskip("arviz_base")
    _, model = fitted
    tree = model.posterior_.to_datatree()
    assert tree["posterior"]["counts"].dims == ("chain", "draw", "topic", "word")


def test_approximations_are_offered_themselves(fitted):
    name, model = fitted
    if name in (*EXACT, "map"):
        assert not hasattr(model, "approximation_")
        return
    draws = model.approximation_.sample(5, np.random.default_rng(0))
    assert set(model.approximation_.mean) == set(draws)
    for variable, value in model.approximation_.mean.items():
        assert draws[variable].shape == (5, *value.shape)
    assert draws["mean"].shape == (5, K, E)
    if name == "vi":
        assert np.all(np.diff(model.elbo_) > -1e-8 * np.abs(model.elbo_[:-1]))


@pytest.mark.parametrize("solver", ["mcmc", None, 3, ["gibbs"]])
def test_unknown_solvers(solver, data):
    with pytest.raises(ValueError, match="is not available for GaussianLDA: use solver='gibbs' or"):
        GaussianLDA(K, embedding=data.vectors, solver=solver).fit(data.counts)


def test_the_models_offer_what_the_solvers_need(data):
    documents = Documents.of(data.counts, data.vectors)
    prior = NIW.from_vectors(data.vectors, documents.totals)
    start = np.arange(V) % K
    require(TopicGibbs(documents, K, prior, 0.2, start=start), Conditionals, "gibbs")
    require(TopicVI(documents, K, prior, 0.2), Variational, "vi")
    marginal = MarginalTopics(documents, K, prior, 0.2, start={"assignment": start})
    for contract, solver in ((LogDensity, "map"), (HamiltonianModel, "hmc")):
        require(marginal, contract, solver)

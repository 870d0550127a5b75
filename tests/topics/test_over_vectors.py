"""Word vectors that are known by draws: their uncertainty in topics."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from skbayesembed import GaussianLDA
from skbayesembed.topics import over_vectors
from skbayesembed.topics.draws import draws_of
from skbayesembed.topics.recording import _note_runs_apart
from tests.helpers.vectors import fitted_vectors

TEXTS = ["river water flood fish bank", "money loan account debt bank"] * 12


@pytest.fixture(scope="module")
def vectors():
    """Fitted word vectors."""
    return fitted_vectors(TEXTS)


def topics(embedding, **options):
    """A small model of the texts."""
    given = {"draws": 6, "warmup": 5, "chains": 2, "min_count": 1, "random_state": 0}
    given |= {"embedding_draws": 3, "max_iter": 20} | options
    return GaussianLDA(2, embedding=embedding, **given)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("solver", "word_model"),
    [("gibbs", "gaussian"), ("vi", "gaussian"), ("laplace", "gaussian"), ("gibbs", "dirichlet"),
     ("vi", "dirichlet")],
)  # fmt: skip
def test_draws_are_of_the_runs_in_turn(vectors, solver, word_model):
    """Topics have one number in all runs; draw i is read with its own vectors."""
    options = {"n_jobs": 1} | ({"draws": 6, "chains": 2} if solver == "gibbs" else {})
    if word_model == "dirichlet":
        options["background"] = False
    model = topics(vectors, solver=solver, word_model=word_model, **options).fit(TEXTS)
    posterior, drawn = model.posterior_, model.vector_draws_
    assert posterior["counts"].shape[:2] == (2 if solver == "gibbs" else 1, 6)
    assert posterior.attrs["embedding_draws"] == 3
    sizes = posterior["counts"].sum(axis=-1).mean(axis=(0, 1))
    assert np.all(np.diff(sizes) <= 1e-9), "the largest first"
    # the words of rivers have most of their tokens in the same topic under every draw
    river = model.vocabulary_["river"]
    own = posterior["counts"][..., river].argmax(axis=-1)
    assert np.all(own == own[0, 0])
    draws = draws_of(model, chosen=np.arange(6))
    for s in range(6):
        np.testing.assert_array_equal(draws.vocabulary(s, None), drawn[s % 3])
        proba = draws.word_proba(s, "density", model._vectors)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert model.transform(["river fish", "debt"]).shape == (2, 2)
    if solver != "gibbs":
        # topics of the approximation have the numbers of those of the draws
        name = "topic_vector" if word_model == "dirichlet" else "mean"
        sampled = model.approximation_.sample(300, np.random.default_rng(0))[name]
        apart = sampled.mean(axis=0)[:, None] - posterior[name].mean(axis=(0, 1))
        np.testing.assert_array_equal(np.linalg.norm(apart, axis=-1).argmin(axis=1), [0, 1])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_vectors_are_normalised_like_their_means(vectors):
    """With the centre of the means, to unit length."""
    model = topics(vectors, solver="vi").fit(TEXTS)
    drawn = vectors.sample_vectors(model.words_.tolist(), 3) - model.embedding_mean_
    drawn /= np.linalg.norm(drawn, axis=-1, keepdims=True)
    np.testing.assert_allclose(model.vector_draws_, drawn)


def test_what_cannot_be_drawn_is_refused(vectors):
    """Each error names what was given and what is allowed."""
    plain = dict(zip(vectors.words_, vectors.rho_, strict=True))
    for embedding, options, message in [
        (plain, {}, "embedding_draws=3 needs an embedding that knows"),
        (vectors, {"draws": 10}, "draws must be a multiple of embedding_draws=3, got 10"),
        (vectors, {"solver": "map"}, "solver='map' has one point alone"),
    ]:
        with pytest.raises(ValueError, match=message):
            topics(embedding, **options).fit(TEXTS)
    with pytest.raises(ValueError, match="partial_fit needs embedding_draws=None, got 3"):
        topics(vectors, solver="vi").partial_fit(TEXTS)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_draws_that_are_not_recorded_whole(vectors, monkeypatch):
    """A run has a draw at least, where memory has room for fewer draws than there are runs."""
    plan = over_vectors.run_each

    def sparse(solve, n_runs, settings, seed):
        return plan(solve, n_runs, replace(settings, stride=4), seed)

    monkeypatch.setattr(over_vectors, "run_each", sparse)
    model = topics(vectors, solver="vi").fit(TEXTS)
    assert model.posterior_["counts"].shape[:2] == (1, 3)


def test_runs_in_other_modes_are_told_of():
    """Their difference is not the uncertainty of the vectors."""
    counts = np.zeros((1, 30, 2, 4)) + np.array([[8.0, 8, 1, 1], [1, 1, 8, 8]])
    attrs = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _note_runs_apart(counts, attrs, 30)
    assert attrs["run_similarity"] == pytest.approx(1.0)
    # the same topics under other numbers are the same
    counts[:, 4] = counts[:, 4, ::-1]
    _note_runs_apart(counts, attrs, 30)
    assert attrs["run_similarity"] == pytest.approx(1.0)
    counts[:, 7] = [[8.0, 1, 8, 1], [1, 8, 1, 8]]
    with pytest.warns(UserWarning, match="With 1 of embedding_draws=30 draws"):
        _note_runs_apart(counts, attrs, 30)

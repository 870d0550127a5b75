"""Facts about a fit that a paper states."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA, load
from skbayesembed.corpus.embedding import described
from skbayesembed.io import WordVectors
from skbayesembed.posterior.report import _brief

TEXTS = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
VECTORS = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
WORDS = ["cat", "dog", "mat"]
ROWS = ["vectors", "dimensions of the vectors", "words with a vector"]


@pytest.fixture(scope="module")
def vectors():
    # the most frequent words have no vector
    return VECTORS.set_params(stop_words={"the", "on"}).fit(TEXTS)


def test_topics_say_what_their_vectors_are(vectors):
    model = GaussianLDA(2, embedding=vectors, solver="vi", min_count=1, random_state=0).fit(TEXTS)
    report = model.report()
    n_tokens = vectors.posterior_.attrs["n_tokens"]
    expected = f"BayesianSGNS with solver='map', 30 documents, {n_tokens} tokens"
    assert [report.find(row) for row in ROWS] == [expected, "2", "all 6 (others are left out)"]
    assert report.find("words") == "6" and "embedding" not in report.find(
        "settings besides defaults"
    )
    assert report.find("units") == "does not apply (units are passed to effects)"


def test_the_power_is_that_of_vectors(vectors):
    options = {"embedding": vectors, "solver": "vi", "min_count": 1, "random_state": 0}
    for word_model in ("gaussian", "dirichlet"):
        report = GaussianLDA(2, word_model=word_model, **options).fit(TEXTS).report()
        assert ("power of the likelihood" in report.items) == (word_model == "gaussian")


def test_senses_have_these_rows_where_words_have_vectors(vectors):
    options = {"solver": "map", "n_starts": 2, "min_count": 1, "random_state": 0}
    report = DiSCSenseModel(2, model="edisc", embedding=vectors, **options).fit(TEXTS).report()
    assert [report.find(row) for row in ROWS[1:]] == ["2", "6 of 8"]
    options |= {"stop_words": {"the", "on"}, "feature_names": None}
    model = DiSCSenseModel(2, model="edisc", embedding=vectors, **options).fit(TEXTS)
    assert model.report().find(ROWS[2]) == "all 6"
    assert report.find("units") == "none given"
    assert not set(ROWS) & set(DiSCSenseModel(2, **options).fit(TEXTS).report().items)


def test_names_in_an_array_are_shown_as_those_in_a_list():
    """In print and in the report, a few of them."""
    names = [f"word{i}" for i in range(90)]
    model = DiSCSenseModel(2, feature_names=np.array(names))
    assert "feature_names=array(['word0', 'word1', 'word2', " in repr(model)
    assert len(repr(model)) < 150 and "dtype" not in repr(model)
    assert _brief(np.array(names)) == _brief(names)


def test_embeddings_in_words(vectors, tmp_path):
    drifting = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    drifting.fit(TEXTS, times=[1900] * 15 + [1901] * 15)
    given = WordVectors(["cat", "dog"], np.eye(2)), np.eye(3), tmp_path / "vectors.txt"
    expected = ["WordVectors of 2 words", "array of 3 vectors", "the file vectors.txt"]
    assert [described(one) for one in given] == expected
    assert described(drifting.vectors_at(1901)) == "PeriodVectors of 8 words in 1901"


def test_settings_are_those_of_the_fit(tmp_path):
    """Whatever parameters have been set since, also by loading."""
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    options = {"solver": "map", "min_count": 1, "prior_precision": 0.1, "window": 3}
    model = BayesianSGNS(2, **options, random_state=7).fit(texts)
    before = str(model.report())
    assert "window=3" in before and "random state" in before
    model.save(tmp_path / "model")
    for changed in (
        model.set_params(window=9, random_state=1),
        load(tmp_path / "model", window=9, random_state=1),
    ):
        assert str(changed.report()) == before


@pytest.mark.parametrize(
    ("estimator", "changed"),
    [
        (VECTORS, {"n_components": 7, "prior": "ard", "prior_precision": 3.0}),
        (
            DynamicSGNS(2, solver="map", min_count=1, max_iter=3),
            {"n_components": 5, "prior_precision": 9.0, "diffusion": 0.5, "solver": "vi"},
        ),
        (
            DiSCSenseModel(2, solver="map", min_count=1, n_starts=2, stop_words=["the", "on"]),
            {"n_senses": 5, "likelihood_power": 0.5, "solver": "hmc"},
        ),
        (
            GaussianLDA(
                2, solver="vi", embedding=dict(zip(WORDS, np.eye(3), strict=True)), max_iter=3
            ),
            {"n_components": 9, "likelihood_power": 0.5, "word_model": "dirichlet"},
        ),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*have no vector:UserWarning"
)
def test_other_parameters_are_those_of_the_fit(estimator, changed, tmp_path):
    """Sizes, priors and how they came about."""
    estimator = clone(estimator).set_params(random_state=0)
    options = {"times": np.arange(30) // 10} if isinstance(estimator, DynamicSGNS) else {}
    estimator.fit(TEXTS, **options)
    before = str(estimator.report())
    estimator.save(tmp_path / "model")
    assert str(estimator.set_params(**changed).report()) == before
    assert str(load(tmp_path / "model").set_params(**changed).report()) == before

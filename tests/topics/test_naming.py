"""Names of topics: where they show, and what may be asked by them."""

from copy import deepcopy

import matplotlib
import numpy as np
import pytest

from skbayesembed import GaussianLDA, load
from skbayesembed.datasets import make_topics
from skbayesembed.plotting import EffectsDisplay, ForestDisplay, TopicWordsDisplay, TraceDisplay

pytestmark = pytest.mark.usefixtures("few_simulated")

matplotlib.use("Agg")
DATA = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
YEARS = {"year": list(range(40))}


def fitted(solver="vi", **more):
    model = GaussianLDA(2, embedding=DATA.vectors, solver=solver, random_state=0, **more)
    return model.fit(DATA.counts).name_topics(["law", "war"])


@pytest.fixture(scope="module")
def named():
    return fitted()


@pytest.fixture
def model(named):
    """A model that a test may name anew."""
    return deepcopy(named)


def test_tables_frames_and_sentences_have_the_names(model):
    effects = model.effects(DATA.counts, YEARS)
    tables = [
        model.topic_info(2), model.top_words(2), model.document_topics(DATA.counts[:2]), effects,
        model.representative_documents(DATA.counts, n=2),
    ]  # fmt: skip
    for table in tables:
        assert set(table["topic"].tolist()) == {"law", "war"}
        assert "law" in repr(table)
    assert "mean share of topic 'war'" in effects.sentences["war", "year"]
    plain = model.name_topics(None).effects(DATA.counts, YEARS)
    assert "mean share of topic 1 (" in plain.sentences[1, "year"]
    np.testing.assert_array_equal(plain.mean, effects.mean)


def test_features_keep_their_names(model):
    """What is fitted on the columns of a data frame goes on when topics are named."""
    features = ["gaussianlda0", "gaussianlda1"]
    assert model.get_feature_names_out().tolist() == features
    frame = model.set_output(transform="pandas").transform(DATA.counts)
    assert frame.columns.tolist() == features


def test_topics_are_asked_for_by_name(model):
    table = model.representative_documents(DATA.counts, "war", n=2)
    assert table.groups.tolist() == [1, 1]
    message = r"topic must be a number from 0 to 1, or one of .*got 'love'"
    with pytest.raises(ValueError, match=message):
        model.representative_documents(DATA.counts, "love")


def test_figures_and_vectors_have_the_names(model):
    rows = ForestDisplay.from_result(model.effects(DATA.counts, YEARS))
    assert {label.get_text() for label in rows.ax_.get_yticklabels()} == {"law", "war"}
    effects = EffectsDisplay.from_result(model.effects(DATA.counts, YEARS), topics=["war"])
    assert [label.get_text() for label in effects.ax_.get_yticklabels()] == ["war"]
    words = TopicWordsDisplay.from_estimator(model, topics=["war"])
    assert [axes.get_title("left") for axes in words.axes_] == ["war"]
    assert model.to_word_vectors().words[-2:].tolist() == ["topic_law", "topic_war"]


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
def test_names_are_saved_marked_and_watched(tmp_path):
    model = fitted("gibbs", draws=20, warmup=5, chains=2)
    assert any("topic 'war'" in label for label in TraceDisplay.from_estimator(model).draws)
    model.save(tmp_path / "model.skb")
    assert load(tmp_path / "model.skb").topic_info().names.tolist() == ["law", "war"]
    assert model.fit(DATA.counts).topic_info().names is None


def test_a_topic_that_has_not_mixed_is_marked_by_name(model):
    table = model.effects(DATA.counts, YEARS)
    object.__setattr__(table, "unmixed", np.array([1]))
    assert "war*" in repr(table) and "read topic war as a point" in repr(table)

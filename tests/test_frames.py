"""Columns of DataFrames go into all estimators, and functions of a corpus, as they are."""

from __future__ import annotations

import datetime
import itertools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import (
    BayesianSGNS,
    DiSCSenseModel,
    DynamicSGNS,
    GaussianLDA,
    over_settings,
)
from skbayesembed.datasets import extract_snippets

pytestmark = pytest.mark.usefixtures("few_simulated")

TEXTS = [
    "the river bank flooded and the bank was wet",
    "money in the bank and a loan of money",
    "the river and the wet bank flooded",
    "a bank gave money and a loan",
] * 5
DAYS = [datetime.date(1999 + i % 2, 3, 4) for i in range(20)]
DATA = {
    "text": TEXTS,
    "day": DAYS,
    "year": [day.year for day in DAYS],
    "iso": [day.isoformat() for day in DAYS],
    "speaker": [f"speaker {i % 6}" for i in range(20)],
    "weight": [1.0, 2.0] * 10,
    "genre": ["speech", "letter", "letter", "speech"] * 5,
}
WORDS = ["river", "bank", "money", "loan"]
COUNTS = np.array([[text.split().count(word) for word in WORDS] for text in TEXTS])
VECTORS = dict(zip(WORDS, np.random.default_rng(0).normal(size=(4, 2)), strict=True))
SHORT = {"solver": "map", "min_count": 1, "random_state": 0}


def pandas_plain(data):
    return pytest.importorskip("pandas").DataFrame(data, index=[f"row {i}" for i in range(20)])


def pandas_typed(data):
    frame = pytest.importorskip("pandas").DataFrame(data)
    if "text" not in data:
        return frame
    frame["text"] = frame["text"].astype("string")
    frame["day"] = frame["day"].astype("datetime64[ns]")
    frame["year"] = frame["year"].astype("Int64")
    return frame.astype({"speaker": "category", "genre": "category"})


def polars(data):
    return pytest.importorskip("polars").DataFrame(data)


FRAMES = [pandas_plain, pandas_typed, polars]
# each kind of times once with each kind of frames
QUICK = [(pandas_plain, "iso"), (pandas_typed, "year"), (pandas_typed, "day"), (polars, "day")]


@pytest.fixture(params=FRAMES, ids=lambda f: f.__name__)
def frame(request):
    return request.param


def same(a, b):
    assert a.words_.tolist() == b.words_.tolist()
    for name in b.posterior_:
        np.testing.assert_array_equal(a.posterior_[name], b.posterior_[name])


def test_static_embeddings(frame):
    df, model = frame(DATA), BayesianSGNS(2, **SHORT, prior_precision=0.1)
    found = model.fit(df["text"], units=df["speaker"], sample_weight=df["weight"])
    plain = BayesianSGNS(2, **SHORT, prior_precision=0.1)
    same(found, plain.fit(TEXTS, units=DATA["speaker"], sample_weight=DATA["weight"]))
    answers = [m.similarity("river", "money") for m in (found, plain)]
    assert answers[0].n_units == answers[1].n_units
    np.testing.assert_array_equal(answers[0].interval, answers[1].interval)
    # the column has a name, a list has none
    told = ["(of 6 speakers)", "(of 6 units)"]
    assert all(line in repr(answer) for line, answer in zip(told, answers, strict=True))
    pairs = ("river", "money"), ("river", "bank")
    said = [m.similarity_difference(*pairs).sentence for m in (found, plain)]
    assert "allows for the sampling of 6 speakers" in said[0]
    assert said[0].replace("6 speakers", "6 units") == said[1]
    assert found.report().find("units") == "6 (speaker)" and plain.units_name_ is None
    np.testing.assert_array_equal(found.transform(df["text"]), plain.transform(TEXTS))


def test_all_sentences_on_words_call_units_by_their_name(frame):
    df = frame(DATA)
    model = BayesianSGNS(2, **SHORT, prior_precision=0.1).fit(df["text"], units=df["speaker"])
    axis = model.axis("river", "money")
    said = [
        model.similarity("river", "money").sentence,
        model.most_similar("river", 2).sentence,
        model.analogy("river", "bank", "money", n=2).sentence,
        model.nearer("river", ["bank", "money"]).sentence,
        model.project(["bank"], axis).sentences["bank"],
        over_settings(
            model, df["text"], lambda m: m.most_similar("river", 2), {"window": [2]},
            units=df["speaker"],
        ).sentence,
    ]  # fmt: skip
    year = {"late": np.array(DATA["year"]) == 2000}
    with pytest.warns(UserWarning, match="by 6 speakers are few for 1 term"):
        effects = model.effects(df["text"], year, df["speaker"], word="bank")
    said.append(effects.sentences["length", "late"])
    for text in said:
        assert " the sampling of 6 speakers" in text, text
    assert said[-1].count("6 speakers") == 1 and " documents. " in said[-1]
    table = repr(model.most_similar("river", 2))
    assert (
        "expected to be truly among the 2 nearest: the sum of P(top 2); another sample of" in table
    )
    assert "6 speakers may have other words)" in table
    table = model.set_params(uncertainty="model").most_similar("river", 2)
    assert table.of_units is None and "speakers" not in table.sentence


def test_sentences_on_senses_call_units_by_their_name(frame):
    df = frame(DATA)
    options = {"n_starts": 2, "warmup": 50, "draws": 50, "chains": 1, "random_state": 0}
    model = DiSCSenseModel(2, feature_names=WORDS, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(COUNTS, times=df["year"], units=df["speaker"])
    model.posterior_.attrs["converged"] = True  # as of chains that are long enough
    said = [model.prevalence_change(0, 1999, 2000).sentence, model.emergence(0, 0.3).sentence]
    said += model.prevalence_info(units="all").sentences.values()
    for text in said:
        assert "allows for other speakers" in text, text


@pytest.mark.parametrize(
    ("frame", "times"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in itertools.product(FRAMES, ["day", "year", "iso"])
    ],
    indirect=["frame"],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_embeddings_over_time(frame, times):
    df, options = frame(DATA), {**SHORT, "prior_precision": 0.1, "tol": 1e-3}
    found = DynamicSGNS(2, **options)
    found.fit(df["text"], times=df[times], units=df["speaker"])
    assert found.periods_.labels == [1999, 2000]
    sentence = found.similarity_change("bank", "and").sentence
    assert sentence.count(" speakers in 1999") == 1 == sentence.count(" speakers in 2000")
    same(found, DynamicSGNS(2, **options).fit(TEXTS, times=DATA["year"], units=DATA["speaker"]))
    np.testing.assert_array_equal(
        found.transform(df["text"], times=df[times]), found.transform(TEXTS, times=DATA["year"])
    )


@pytest.mark.parametrize("times", ["day", "year", "iso"])
def test_snippets_and_senses(frame, times):
    df = frame(DATA)
    found = extract_snippets(
        df["text"], "bank", times=df[times], genres=df["genre"], stop_words=["the", "and"]
    )
    plain = extract_snippets(
        TEXTS, "bank", times=DATA["year"], genres=DATA["genre"], stop_words=["the", "and"]
    )
    assert found.words.tolist() == plain.words.tolist()
    assert found.snippets == plain.snippets
    options = {"solver": "map", "n_starts": 1, "tol": 1e-3, "random_state": 0}
    model = DiSCSenseModel(2, feature_names=found.words, **options)
    model.fit(found.counts, times=found.times, genres=found.genres)
    assert model.periods_.labels == [1999, 2000]
    assert model.genres_.tolist() == ["letter", "speech"]
    other = DiSCSenseModel(2, feature_names=plain.words, **options)
    same(model, other.fit(plain.counts, times=plain.times, genres=plain.genres))
    # snippets themselves, a column too
    direct = DiSCSenseModel(2, **options)
    direct.fit(df["text"], times=df[times], genres=df["genre"])
    assert direct.predict_proba(df["text"], times=df[times], genres=df["genre"]).shape == (20, 2)


def test_topics(frame):
    df = frame(DATA)
    options = {"embedding": VECTORS, "solver": "map", "random_state": 0, "max_iter": 20}
    texts = GaussianLDA(2, **options, stop_words=["the", "and"], tol=1e-2)
    texts.fit(df["text"])
    assert sorted(texts.words_) == sorted(WORDS)
    np.testing.assert_array_equal(texts.transform(df["text"]), texts.transform(TEXTS))


def test_frames_of_counts(frame):
    counts = frame({word: COUNTS[:, i] for i, word in enumerate(WORDS)})
    sgns = BayesianSGNS(2, **SHORT, prior_precision=0.1).fit(counts)
    assert sgns.words_.tolist() == WORDS
    senses = DiSCSenseModel(2, solver="map", n_starts=1, tol=1e-2, random_state=0).fit(counts)
    assert senses.words_.tolist() == WORDS
    topics = GaussianLDA(2, embedding=VECTORS, solver="map", tol=1e-2, random_state=0).fit(counts)
    assert topics.words_.tolist() == WORDS
    assert topics.feature_names_in_.tolist() == WORDS
    np.testing.assert_array_equal(topics.transform(counts).shape, (20, 2))


def test_names_of_columns_are_those_of_feature_names(frame):
    """A matrix without names, words by feature_names, then frames: no warning, no silent mixing."""
    options = {"feature_names": WORDS, "random_state": 0}
    models = [
        BayesianSGNS(2, **SHORT, prior_precision=0.1, feature_names=WORDS),
        DiSCSenseModel(2, solver="map", n_starts=1, tol=1e-2, **options),
        GaussianLDA(2, embedding=VECTORS, solver="map", tol=1e-2, **options),
    ]
    named = {word: COUNTS[:, i] for i, word in enumerate(WORDS)}
    turned = frame({word: named[word] for word in WORDS[::-1]})
    other = frame({f"{word}s" if i == 0 else word: x for i, (word, x) in enumerate(named.items())})
    fewer = frame({word: named[word] for word in WORDS[1:]})
    for model in models:
        model.fit(COUNTS)
        expected = model.transform(COUNTS)
        np.testing.assert_array_equal(model.transform(frame(named)), expected)
        with pytest.raises(ValueError, match="feature_names.*in another order: use X.list"):
            model.transform(turned)
        np.testing.assert_array_equal(model.transform(turned[list(model.feature_names)]), expected)
        with pytest.raises(ValueError, match=f"not among them, such as '{WORDS[0]}s' and 1 of the"):
            model.transform(other)
        with pytest.raises(ValueError, match=f"got 1 of them missing, such as '{WORDS[0]}'"):
            model.transform(fewer)

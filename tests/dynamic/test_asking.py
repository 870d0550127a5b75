"""Questions of `DynamicSGNS`: joint draws over periods, former selves, and what was seen."""

from __future__ import annotations

import copy
import functools
import re
import warnings

import numpy as np
import pytest
from sklearn.utils import Bunch

from skbayesembed import DynamicSGNS
from skbayesembed.dynamic import seen
from skbayesembed.dynamic.verdicts import (
    sentence_on_change,
    sentence_on_drift,
    sentences_on_itself,
    verdict_on_change,
    verdict_on_drift,
)
from skbayesembed.posterior.result_table import ResultTable
from skbayesembed.posterior.sentences import estimate
from skbayesembed.sgns import ranking

V, K, T = 12, 2, 3
SOLVERS = ("map", "laplace", "vi", "gibbs", "hmc")
LIST = ["w01", "w04"]
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:The sampler hardly moved"),
    pytest.mark.filterwarnings("ignore:The coordinates of target vectors"),
]


def make_texts(n=60, seed=0, length=40):
    """Documents that each keep to words of their own, of three topics, in three years."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(V, 0.7), 3)
    texts = []
    for i in range(n):
        p = rng.dirichlet(15 * topics[i % 3] + 0.05)
        texts.append([f"w{j:02}" for j in rng.choice(V, length, p=p)])
    return texts, 1900 + rng.permutation(np.arange(n) % T)


TEXTS, TIMES = make_texts()


def make(**parameters):
    options = {
        "solver": "map", "diffusion": 0.05, "min_count": 1, "draws": 40, "warmup": 30,
        "chains": 2, "random_state": 0,
    }  # fmt: skip
    return DynamicSGNS(K, **options | parameters)


@functools.cache
def fit(**parameters):
    """A fit that no test changes."""
    with warnings.catch_warnings():
        for message in ("The chains", "The sampler", "The coordinates", "The bound"):
            warnings.filterwarnings("ignore", message)
        return make(**parameters).fit(TEXTS, times=TIMES)


@pytest.fixture(
    scope="module",
    # of chains and of approximations one each
    params=[
        pytest.param(s, marks=pytest.mark.slow if s in ("laplace", "hmc") else ()) for s in SOLVERS
    ],
)
def fitted(request):
    return fit(solver=request.param)


@pytest.fixture
def enough_text(monkeypatch):
    """Nothing is dashed out for want of text, of which some words have little."""
    monkeypatch.setattr(seen, "FEWEST_USES", 0)
    monkeypatch.setattr(seen, "FEW_UNITS", 0)


@pytest.fixture(scope="module")
def mode():
    return fit(solver="map")


@pytest.fixture
def by_model(fitted):
    return copy.copy(fitted).set_params(uncertainty="model")


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# -- joint draws ---------------------------------------------------------------------------------


def test_draws_of_two_calls_are_joint(by_model):
    """A contrast has the differences of the draws of its parts, in whatever periods they were."""
    a, b = by_model.similarity("w00", "w01"), by_model.similarity("w00", "w05", periods=[1902])
    np.testing.assert_array_equal(a.draws, by_model.similarity("w00", "w01").draws)
    np.testing.assert_allclose(
        a.draws[:, [1]], by_model.similarity("w01", "w00", periods=[1901]).draws
    )
    found = by_model.contrast(a, b, low=-0.5, high=0.5)
    np.testing.assert_allclose(found.draws, a.draws - b.draws, atol=1e-12)
    assert found.mean.shape == (T,) and found.prob_inside.shape == (T,)
    single = by_model.contrast(by_model.drift("w02"), by_model.drift("w03"))
    draws = by_model.drift("w02").draws - by_model.drift("w03").draws
    np.testing.assert_allclose(single.draws, draws, atol=1e-12)
    proba = by_model.cooccurrence_proba([("w00", "w01")])
    mixed = by_model.contrast(proba, by_model.similarity("w00", "w01", periods=[1900]))
    expected = proba.draws - a.draws[:, :1, None]
    np.testing.assert_allclose(mixed.draws, expected, atol=1e-12)


def test_a_word_has_the_same_draws_in_every_answer():
    """Of an approximation that is drawn from for every answer: the target of a word, as it is read,
    is in its trajectory as it is in a cosine with a word of a smaller, or of a larger, index."""
    with warnings.catch_warnings():
        # few documents may vary more than the model says
        warnings.simplefilter("ignore", UserWarning)
        model = fit(solver="vi", draws=5, uncertainty="model")
    of = {w: model.trajectory(w).draws for w in ("w00", "w04", "w09")}
    for a, b in (("w00", "w04"), ("w04", "w09"), ("w09", "w00")):
        expected = np.sum(unit(of[a]) * unit(of[b]), axis=-1)
        np.testing.assert_allclose(model.similarity(a, b).draws, expected, atol=1e-5)
    assert of["w00"].shape == (1000, T, K)
    # two words of an approximation with independent factors are independent
    flat = [(of[w][:, 0] - of[w][:, 0].mean(axis=0)).ravel() for w in ("w00", "w04")]
    assert abs(np.corrcoef(*flat)[0, 1]) < 5 / np.sqrt(1000 * K)


@pytest.mark.parametrize("uncertainty", ["model", "documents"])
def test_neighbours_of_vi_have_the_numbers_of_similarity(uncertainty, monkeypatch):
    """Which draws the words afresh; ranks are of whole draws. In blocks, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = fit(solver="vi", uncertainty=uncertainty)
    for word in ("w00", LIST):
        table = model.most_similar(word, 5, period=1901)
        assert np.all(np.diff(table.mean) <= 0)
        for i, other in enumerate(table.words):
            answer = model.similarity(word, other, periods=[1901])
            np.testing.assert_allclose(table.mean[i], answer.mean[0], atol=1e-12)
            np.testing.assert_allclose(table.interval[i], answer.interval[0], atol=1e-12)
        # which words are nearest hangs on these numbers, too
        for n in (1, 3):
            whole = model.most_similar(word, 100, period=1901).words[:n]
            assert model.most_similar(word, n, period=1901).words.tolist() == whole.tolist()
    monkeypatch.setattr(ranking, "CELLS", 2 * 1000 * K)
    np.testing.assert_allclose(model.most_similar(LIST, 5, period=1901).mean, table.mean)


def test_a_contrast_names_the_periods_of_both(fitted):
    """A stranger's sentence said that both similarities were of the first one's period."""
    first, *_, last = labels = list(fitted.periods_.labels)
    late, early = (fitted.similarity("w00", "w01", periods=[label]) for label in (last, first))
    found = fitted.contrast(late, early)
    both = f"{last} against {first}"
    assert found.axes == {"period": [both]} and "times" not in found
    assert both in repr(found) and both not in found.sentence
    assert f"in {last} and that of 'w00' and 'w01' in {first} is " in found.sentence
    change = fitted.similarity_change("w00", "w01")
    np.testing.assert_allclose(found.mean, [change.mean])
    every = fitted.contrast(fitted.similarity("w00", "w01"), early)
    assert every.axes == {"period": labels} and len(every.times) == len(labels)
    assert every.title.endswith(f"less similarity of 'w00' and 'w01' in {first}")
    alike = fitted.contrast(late, fitted.similarity("w00", "w02", periods=[last]))
    assert alike.axes == {"period": [last]} and "against" not in alike.sentence


def test_two_changes_name_their_periods_once(fitted):
    changes = [fitted.similarity_change("w00", word) for word in ("w01", "w02")]
    when = changes[0].title.partition(" from ")[2]
    sentence = fitted.contrast(*changes).sentence
    assert sentence.count(when) == 1
    assert "that of the similarity of 'w00' and 'w02' over the same time" in sentence


@pytest.mark.parametrize(
    "fitted",
    [pytest.param(s, marks=() if s in ("map", "vi") else pytest.mark.slow) for s in SOLVERS],
    indirect=True,
)
def test_similarity_change_is_a_contrast(fitted, enough_text):
    change = fitted.similarity_change("w00", LIST)
    ends = (fitted.similarity("w00", LIST, periods=[year]) for year in (1902, 1900))
    found = fitted.contrast(*ends)
    np.testing.assert_allclose(found.draws[:, 0], change.draws, atol=1e-12)
    assert change.prob_increase == found.prob_positive[0] and "prob_positive" not in change
    wide = fitted.similarity_change("w00", LIST, prob=1.0 - 1e-15).interval
    assert -2.0 <= wide[0] < change.interval[0] and change.interval[1] < wide[1] <= 2.0


# -- questions in a period -----------------------------------------------------------------------


def test_lists_and_axes(by_model, fitted):
    draws = [by_model.trajectory(w).draws for w in ("w00", *LIST, "w06")]
    word, *parts, low = (unit(x) for x in draws)
    mean = (parts[0] + parts[1]) / 2
    axis = by_model.axis(LIST, "w06")
    expected = np.sum(word * unit(mean - low), axis=-1)
    np.testing.assert_allclose(by_model.similarity("w00", axis).draws, expected, atol=1e-5)
    expected = np.sum(word * unit(mean), axis=-1)
    np.testing.assert_allclose(by_model.similarity("w00", LIST).draws, expected, atol=1e-5)
    table = fitted.project(["w00", "w02"], axis, period=1901)
    at = table.words.tolist().index("w00")
    same = fitted.similarity("w00", axis, periods=[1901])
    np.testing.assert_allclose(table.mean[at], same.mean[0])
    np.testing.assert_allclose(table.interval[at], same.interval[0])


def test_tables_of_a_period(fitted, enough_text):
    table = fitted.nearer("w00", ["w03", LIST], period=1902)
    for word, what in (("w03", "w03"), ("w01, w04", LIST)):
        at = table.words.tolist().index(word)
        same = fitted.similarity("w00", what, periods=[1902])
        np.testing.assert_allclose(table.mean[at], same.mean[0])
    assert table.prob_nearest.sum() == pytest.approx(1)
    whole = fitted.analogy("w00", "w01", "w02", V, period=1900)
    assert len(whole) == V - 3 and whole.prob_answer.sum() == pytest.approx(1)
    others = fitted.most_similar(LIST, 3, period=1901)
    assert not set(LIST) & set(others.words)
    lists = ["w00", "w02"], ["w03", "w05"], LIST, ["w07"]
    effects = [fitted.weat(*lists, period=year) for year in (1900, 1902)]
    table = fitted.weats({"one": lists}, period=1902)
    assert table.mean[0] == effects[1].mean and table.p_value[0] == effects[1].p_value
    assert effects[0].mean != effects[1].mean and effects[0].n_splits == 6
    change = fitted.contrast(*effects)
    assert change.mean == pytest.approx(effects[0].mean - effects[1].mean)


def test_document_similarity(by_model, fitted):
    X, times = TEXTS[:4], TIMES[:4]
    found = by_model.document_similarity(X, times=times)
    features = fitted.transform(X, times=times)
    assert found.mean.shape == (4, 4)
    np.testing.assert_allclose(np.diagonal(found.mean), 1)
    if len(found.draws) == 1:
        expected = unit(features) @ unit(features).T
        np.testing.assert_allclose(found.mean, expected)
    words = fitted.document_similarity([["w03"]], times=[1901], words=["w05", LIST])
    same = fitted.similarity("w03", "w05", periods=[1901])
    np.testing.assert_allclose(words.interval[0, 0], same.interval[0], rtol=1e-6)
    np.testing.assert_allclose(words.mean[0, 0], same.mean[0])
    other = fitted.document_similarity(X, X[:2], times=times, other_times=times[:2])
    np.testing.assert_allclose(other.mean, found.mean[:, :2])


def test_a_period_that_is_named_twice(by_model):
    """The reference is told of by its own row."""
    once = by_model.self_similarity("w02", 1901, periods=[1902, 1901])
    twice = by_model.self_similarity("w02", 1901, periods=[1902, 1902, 1901])
    assert twice.sentences == once.sentences
    again = copy.copy(twice)
    again.few_pairs = np.array([True, True, False])
    said = sentences_on_itself(again, "'w02'", lambda i: "")
    assert said[1901].startswith("1901 is the reference") and "too few" in said[1902]


def test_self_similarity(by_model, fitted):
    found = by_model.self_similarity("w02", 1901)
    x = unit(by_model.trajectory("w02").draws)
    np.testing.assert_allclose(found.draws, np.sum(x * x[:, [1]], axis=-1), atol=1e-5)
    assert found.reference == 1901 and found.periods == [1900, 1901, 1902]
    assert not found.few_pairs.any() and list(found.sentences) == found.periods
    assert found.sentences[1900].startswith(
        f"The cosine of the vectors of 'w02' in 1900 and in 1901 is {found.mean[0]:.2f} ("
    )
    assert (
        "; it would be 1 if they had the same direction; this cosine is below 1 for words"
        in found.sentences[1900]
    )
    # with itself there is nothing to be uncertain of
    assert found.sentences[1901].startswith("1901 is the reference, with which 'w02' is compared")
    assert "interval" not in found.sentences[1901]
    first, last = (
        estimate({"mean": found.mean[i], "interval": found.interval[i]}, found.source, 0.9)
        for i in (0, 2)
    )
    assert found.sentence.startswith(
        f"The similarity of 'w02' to itself in 1901, by period: {first} in 1900 and {last} in 1902"
    )
    by_units = fitted.self_similarity("w02", periods=[1902])
    cosine = fitted.drift("w02", distance="cosine")
    assert by_units.mean[0] == pytest.approx(1 - cosine.mean)
    assert by_units.sd[0] == pytest.approx(cosine.sd)
    itself = fitted.self_similarity(LIST)
    assert itself.mean[0] == pytest.approx(1) and itself.sd[0] < 1e-6


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.nearer("w00", ["w01"], period=1800), ValueError, "period=1800 is in no"),
        (lambda m: m.self_similarity("w00", 1800), ValueError, "reference=1800 is in no period"),
        (lambda m: m.weat("w00", [], [], [], period=1900), ValueError, "X must be a list"),
        (lambda m: m.document_similarity(TEXTS, times=None), ValueError, "times must be given"),
        (
            lambda m: m.document_similarity(TEXTS[:1], times=[1950]),
            ValueError,
            "times must be in the periods of fit",
        ),
        (
            lambda m: m.document_similarity(TEXTS, times=TIMES, words=["w00"]),
            ValueError,
            "times must be in one period where words are given, got 3",
        ),
        (lambda m: m.drift("W02"), KeyError, "Did you mean 'w02'"),
    ],
)
def test_errors(mode, call, error, message):
    with pytest.raises(error, match=message):
        call(mode)


# -- what was seen -------------------------------------------------------------------------------


def test_words_that_nobody_saw_are_left_out(fitted):
    counts = fitted.observed_[[0, 2]].min(axis=0)
    limit = np.sort(counts)[V // 2]
    table = fitted.most_changed(V, min_pairs=limit)
    assert set(table.words) == set(fitted.words_[counts >= limit])
    assert np.all(np.minimum(table.count_start, table.count_end) >= limit)
    whole = fitted.most_changed(V, min_pairs=0)
    assert len(whole) == V
    np.testing.assert_allclose(whole.false_share[-1], np.mean(1 - whole.prob_exceeds))
    assert np.all(np.diff(whole.false_share) >= -1e-12), "the surest come first"
    assert "false" in str(whole) and "known" in str(whole)
    places = [whole.words.tolist().index(word) for word in table.words]
    np.testing.assert_array_equal(table.mean, whole.mean[places])
    np.testing.assert_array_equal(table.known, whole.known[places])


@functools.cache
def fit_with_a_word_that_ends():
    texts = [["sun", "moon", "sea"] * 5 + ["gone"] * (i % 3 == 0) for i in range(45)]
    return make(uncertainty="model").fit(texts, times=1900 + np.arange(45) % 3)


def test_contrasts_of_point_estimates_know_where_there_are_no_data():
    """As the answers do: in tables, sentences, data frames and figures."""
    model = fit_with_a_word_that_ends()
    first, second = (model.similarity("sea", word) for word in ("sun", "gone"))
    found = model.contrast(first, second)
    assert found.few_pairs.tolist() == second.few_pairs.tolist() == [False, True, True]
    assert [row.split()[1] == "-" for row in repr(found).splitlines()[2:5]] == [False, True, True]
    assert "too few units in 2 periods: a dash; data frames" in repr(found)
    assert "; there are too few data in 1901 and 1902." in found.sentence
    gone = model.contrast(
        *(model.similarity("gone", word, periods=[1901]) for word in ("sun", "sea"))
    )
    # no number, and nothing on what an interval rests
    assert gone.sentence.endswith(": there are too few data in 1901.")
    assert found.to_frame()["few_pairs"].tolist() == [False, True, True]
    again = model.contrast(found, first)
    assert again.few_pairs.tolist() == [False, True, True]
    changes = [model.similarity_change("sea", word) for word in ("sun", "gone")]
    found = model.contrast(*changes)
    assert found.few_pairs is True and found.to_frame()["few_pairs"].tolist() == [True]
    assert "(fewer than 10 uses or too few units: a dash; data frames" in repr(found)
    assert found.sentence.startswith("There are too few data to say whether the change of")
    assert found.sentence.count("(a point estimate)") == 1
    # where there are data nothing is said of them
    found = model.contrast(first, model.similarity("sea", "moon"))
    assert "few_pairs" not in found and "too few" not in found.sentence + repr(found)


def test_figures_of_such_contrasts_are_hollow():
    pytest.importorskip("matplotlib")
    from skbayesembed.plotting.rows import rows_of

    model = fit_with_a_word_that_ends()
    found = model.contrast(*(model.similarity("sea", word) for word in ("sun", "gone")))
    assert rows_of(found).few.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("solver", "uncertainty"),
    [
        pytest.param("laplace", "documents", marks=pytest.mark.slow),
        pytest.param("laplace", "model", marks=pytest.mark.slow),
        pytest.param("vi", "documents", marks=pytest.mark.slow),
        pytest.param("vi", "model", marks=pytest.mark.slow),
        ("map", "documents"),
    ],
)
def test_no_drift_and_no_data_are_told_apart(solver, uncertainty):
    """A word that is seen often is known to stay; of one that ends early little is known."""
    rng = np.random.default_rng(8)
    texts, times = [], []
    for i in range(90):
        pairs = ["sun", "moon"], ["sea", "ship"]
        ours, theirs = pairs if i % 2 else pairs[::-1]
        text = [*rng.choice([*ours, *ours, *ours, *theirs], 200), "star", "star"]
        if i % 3 == 0:
            text += ["gone", *ours]
        texts.append(text)
        times.append(1900 + i % 3 * 50)
    model = DynamicSGNS(
        2, bins=[1875, 1925, 1975, 2025], solver=solver, uncertainty=uncertainty, min_count=1,
        diffusion=0.02, draws=300, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(texts, times=times)
    stays, gone = model.drift("sun"), model.drift("gone")
    assert stays.known > 0.15 and np.isnan(gone.known) and "nan" not in repr(gone)
    labels, alone = model.periods_.labels, ("sun", "gone")
    nearer = {t: model.nearer("sea", alone, period=labels[t]) for t in (0, 2)}
    assert nearer[2].verdict == "no data" != nearer[0].verdict
    assert "too few data to say whether 'sea' is nearer to" in nearer[2].sentence
    assert nearer[2].sentence.endswith("fewer than 10 uses or too few units of 'gone'.")
    np.testing.assert_array_equal(nearer[2].few_pairs, nearer[2].words == "gone")
    if uncertainty == "documents":
        np.testing.assert_array_equal(np.isnan(nearer[2].n_units), nearer[2].few_pairs)
    assert np.isnan(nearer[2].prob_nearest).all() and not np.isnan(nearer[0].prob_nearest).any()
    shown = [f"{m:6.3f} " in repr(nearer[2]) for m in nearer[2].mean]
    np.testing.assert_array_equal(shown, ~nearer[2].few_pairs)
    # contrasts of these, and what has no table
    parts = [model.nearer("sea", [word], period=labels[2]).answer for word in alone]
    assert model.contrast(*parts).verdict == "no data"
    pairs = model.cooccurrence_proba([("gone", "sea"), ("sea", "sun")])
    np.testing.assert_array_equal(pairs.few_pairs, [[False, False], [True, False], [True, False]])
    if uncertainty == "documents":
        np.testing.assert_array_equal(np.isnan(pairs.n_units), pairs.few_pairs)
    first, second = (model.similarity("sea", word) for word in alone)
    apart = model.contrast(first, second)
    # "gone" is used 30 times in the first period, and in no other
    assert (apart.verdict == "no data").tolist() == [False, True, True]
    if uncertainty == "documents":
        assert np.isnan(apart.n_units).tolist() == [False, True, True]
    assert model.contrast(stays, gone).verdict == "no data"
    # the prior alone would say it
    assert np.isnan(gone.prob_exceeds) and 0 <= stays.prob_exceeds <= 1
    assert "prob_exceeds" in repr(gone) and "nan" not in repr(gone)
    assert gone.pairs[1] == 0
    assert stays.pairs == tuple(model.observed_[[0, 2], model.vocabulary_["sun"]])
    assert "gone" not in model.most_changed(10).words
    assert gone.verdict == "no data" and stays.verdict in ("no drift", "not decided")
    near = [model.most_similar(word, 4, period=labels[2]) for word in ("gone", "sun")]
    assert near[0].few_pairs.all() and f"{labels[2]} of 'gone' itself, 0 pairs: " in repr(near[0])
    assert np.isnan(near[0].prob_top).all() and "too few data to say which" in near[0].sentence
    assert near[0].to_frame()["few_pairs"].all() and f"{near[0].mean[0]:.3f}" not in repr(near[0])
    # what has no text is not ranked, nor does it take a share of the probability
    assert "gone" not in near[1].words and not near[1].few_pairs.any()
    assert near[1].n_left_out == 1 and len(near[1].words) == 4 and np.all(near[1].prob_top == 1.0)
    line = f"(1 word has fewer than 10 uses or too few units in {labels[2]} and is not ranked)"
    assert line in repr(near[1])
    whole = model.most_similar("sun", 5, period=labels[0])
    assert whole.n_left_out == 0 and "gone" in whole.words and "not ranked" not in repr(whole)
    seen = model.observed_[2, [model.vocabulary_[w] for w in near[1].words]]
    np.testing.assert_array_equal(near[1]["pairs"], seen)
    if uncertainty == "documents":
        np.testing.assert_array_equal(np.isnan(near[1].n_units), near[1].few_pairs)
    axis = model.axis("gone", "sun")
    for t in (0, 2):
        lists = ["sun", "moon"], ["sea", "ship"], ["star"], ["gone"]
        on_axis, ended = (
            model.project([word, "ship"], pole, period=labels[t])
            for word, pole in (("moon", axis), ("gone", model.axis("sun", "moon")))
        )
        tables = on_axis, ended, model.weats({"one": lists}, period=labels[t])
        expected = np.full(2, t == 2), (ended.words == "gone") & (t == 2), [t == 2]
        for table, few in zip(tables, expected, strict=True):
            np.testing.assert_array_equal(table.few, few)
            line = f"fewer than 10 uses or too few units in {labels[t]} of a word"
            assert (line in repr(table)) == any(few) and "nan" not in repr(table)
            shown = [f"{m:6.3f}" in repr(table) for m in table.mean]
            np.testing.assert_array_equal(shown, ~np.array(few))
            np.testing.assert_array_equal(np.isnan(table.prob_positive), few)
            told = [
                sentence.startswith("There are too few") for sentence in table.sentences.values()
            ]
            np.testing.assert_array_equal(told, few)
            assert f"{labels[t]}" in repr(table).splitlines()[0]
            if uncertainty == "documents":
                np.testing.assert_array_equal(np.isnan(table.n_units), few)
        alike = model.analogy("moon", "sun", "sea", 3, period=labels[t])
        assert not alike.few.any() and ("gone" in alike.words) == (t == 0) == (not alike.n_left_out)
        asked = model.analogy("gone", "sun", "sea", 3, period=labels[t])
        assert np.isnan(asked.prob_answer).all() == (t == 2)
        assert ("too few data to say which word" in asked.sentence) == (t == 2)
        apart = model.weat(*lists, period=labels[t])
        assert apart.few_pairs == (t == 2)
        verdict = model.contrast(apart, model.weat(*lists, period=labels[1])).verdict
        assert verdict == "no data"
    # a dash in print, in data frames whole, with what says so beside it
    lack = f"(too little text: of 'gone' in {labels[1]} (no uses), {labels[2]} (no uses))"
    assert lack in repr(second)
    assert "2 periods: a dash; data frames" in repr(second) and "too little text" not in repr(first)
    rows = repr(second).splitlines()[2:5]
    assert [f"{m:.3f}" in row for row, m in zip(rows, second.mean, strict=True)] == [
        True, False, False
    ]  # fmt: skip
    np.testing.assert_array_equal(ResultTable(second)["few_pairs"], [False, True, True])
    np.testing.assert_array_equal(ResultTable(second)["mean"], second.mean)
    of_itself = model.self_similarity("gone", labels[1])
    assert of_itself.few_pairs.all()
    lack = f"(too little text: of 'gone' in {labels[1]}, the reference (no uses))"
    assert lack in repr(of_itself)
    assert f"too few units in the reference, {labels[1]}: a dash" in repr(of_itself)
    # mean, sd and interval are dashes; "typical" may be the same number
    assert repr(gone).splitlines()[2].split()[:3] == ["-"] * 3
    assert f"of 'gone' in {labels[2]} (no uses))" in repr(gone)
    change = model.similarity_change("gone", "sun")
    # nothing is said that the prior alone would say
    assert change.verdict == "no data" and np.isnan(change.prob_increase)
    assert np.isfinite(change.interval).all()
    assert np.isfinite(change.to_frame()[["mean", "low", "high"]].to_numpy()).all()
    assert "prob_increase" in repr(change) and "nan" not in repr(change)
    ends = [model.periods_.labels[t] for t in (0, 2)]
    units = "documents" if change.source == "units" else "units"
    for answer, asked in (
        (change, "the similarity of 'gone' and 'sun' has changed"),
        (gone, "'gone' has drifted"),
        (model.drift("gone", distance="cosine"), "'gone' has drifted"),
    ):
        there = f"'gone' has 30 uses ({answer.pairs[0]:,.0f} pairs) from 30 {units} in {ends[0]}"
        there += f" and no uses in {ends[1]}"
        assert answer.words_seen == ("gone", "gone")
        assert answer.uses == answer.units_seen == (30, 0) and answer.few_pairs == (False, True)
        assert answer.sentence == f"There are too few data to say whether {asked}: {there}."
    assert "too few data" not in stays.sentence and "similarity_change" not in gone.sentence
    advice = "(the verdict depends on the threshold; self_similarity, and similarity_change with"
    assert (advice in repr(stays)) == (stays.source != "point") and advice not in repr(gone)
    assert f"The word has {stays.uses[0]:,.0f} uses ({stays.pairs[0]:,.0f} pairs) from" in (
        stays.sentence
    )
    assert ("is for these texts alone." in stays.sentence) == (stays.source == "model")
    moved = f"'sun' moved by a Euclidean distance of {stays.mean:.2f} (90% interval"
    assert moved in stays.sentence
    over = model.similarity("gone", "sun")
    assert list(over.sentences) == model.periods_.labels and "sentences" not in repr(over)
    assert over.sentences[ends[0]].startswith(
        f"The similarity of 'gone' and 'sun' is {over.mean[0]:.2f} ("
    )
    assert over.sentences[ends[1]] == (
        f"There are too few data on the similarity of 'gone' and 'sun' in {ends[1]}: "
        "'gone' has no uses there."
    )
    first = f"The similarity of 'gone' and 'sun' is {over.mean[0]:.2f} ("
    lacking = f"; there are too few data in {model.periods_.labels[1]} and {ends[1]}."
    assert over.sentence.startswith(first) and lacking in over.sentence
    assert "sentence" not in repr(over)
    column = ResultTable(over)._series(sentence=True)["sentence"]
    assert column.tolist() == list(over.sentences.values())
    assert "sentence" not in repr(stays) and stays.typical == gone.typical > 0
    if uncertainty == "documents":
        assert np.isnan(gone.n_units) and np.isnan(gone.units[1]) and gone.units[0] > 1
        assert stays.n_units == min(stays.units)
        change = model.similarity_change("sun", "sea")
        for answer in (stays, change):
            assert re.search(r"allows for the sampling of \d+ documents\.", answer.sentence)
        # at the mode an unseen word points where it did before, and that is not known
        labels = model.periods_.labels
        unseen = model.self_similarity("gone", labels[1], periods=[labels[2]])
        assert np.isnan(unseen.n_units[0]) and unseen.pairs[0] == 0
        assert "nan" not in repr(unseen) and "whichever has fewer" in repr(unseen)
        assert unseen.sd[0] > 0.01 and unseen.interval[0, 0] < unseen.mean[0] < 1
        # two numbers, one of each period, and what they are; of a change there is one
        assert "units, all periods: how many units the vector of the start, and that" in repr(gone)
        assert "n_units" not in repr(gone)
        assert "units, all periods: how many units the answer rests on" in repr(change)
    assert f"{stays.pairs[0]:.4g}, {stays.pairs[1]:.4g}" in repr(stays)
    # the table answers with the same draws
    table = model.most_changed(10, min_pairs=0)
    assert table.n_draws == len(stays.draws) and table.source == stays.source
    for at, word in enumerate(table.words.tolist()):
        one = model.drift(word)
        above = np.mean(one.draws > one.threshold)
        assert one.verdict == "no data" or one.prob_exceeds == above
        found = one.mean, *one.interval, above, one.known
        rows = table.mean[at], *table.interval[at], table.prob_exceeds[at], table.known[at]
        # the table was asked for words of which next to nothing was seen
        told = slice(None, -1 if one.verdict == "no data" else None)
        np.testing.assert_allclose(rows[told], found[told])
    pairs = model.observed_[:, [model.vocabulary_[w] for w in ("gone", "sun")]]
    np.testing.assert_array_equal(model.similarity("gone", "sun").pairs, pairs.min(axis=1))


@pytest.mark.parametrize(
    ("interval", "more", "verdict"),
    [
        ([1.1, 2.0], {}, "drifted"),
        ([0.1, 0.9], {}, "no drift"),
        ([0.1, 2.0], {}, "not decided"),
        ([0.1, 2.0], {"known": 0.05}, "not known"),
        ([1.1, 2.0], {"few_pairs": (True, False)}, "no data"),
        # units differ from each other: that is not for want of data
        ([0.1, 2.0], {"known": 0.0, "sd_prior": 0.1, "sd_sampling": 0.3}, "not decided"),
    ],
)
def test_verdicts(interval, more, verdict):
    found = {"interval": interval, "threshold": 1.0, "known": 0.5, "few_pairs": (False, False)}
    found |= {"source": "posterior"} | more
    assert verdict_on_drift(Bunch(**found)) == verdict
    mixed = verdict if verdict == "no data" else "not mixed"
    assert verdict_on_drift(Bunch(**found | {"source": "unmixed"})) == mixed


@pytest.mark.parametrize(
    ("interval", "few", "verdict"),
    [
        ([0.1, 0.4], False, "closer"),
        ([-0.4, -0.1], False, "apart"),
        ([-0.1, 0.2], False, "not decided"),
        ([0.1, 0.4], True, "no data"),
    ],
)
def test_verdicts_on_changes(interval, few, verdict):
    found = Bunch(interval=interval, few_pairs=(few, False), source="posterior")
    assert verdict_on_change(found) == verdict
    found.source = "unmixed"
    assert verdict_on_change(found) == ("no data" if few else "not mixed")


@pytest.mark.parametrize(
    ("proba", "told"),
    [(0.99, "drew closer (P = 0.99)"), (0.96, "probably drew closer (P = 0.96)")],
)
def test_a_verdict_that_is_only_probable_says_so(mode, proba, told):
    """In sentences, in print and in data frames, below the probability of a 95 % interval."""
    found = mode.similarity_change("w01", "w02")
    found.update(
        interval=np.array([0.1, 0.4]), verdict="closer", prob_increase=proba, few_pairs=(False,) * 2
    )
    found.pop("interval_mcse", None)
    sentence = sentence_on_change(found, "similarity of 'a' and 'b'", (1900, 1901))
    assert f" from 1900 to 1901; they {told}. The rarer word" in sentence
    assert ". How large the change is, and whether it is decided, depends on diff" in sentence
    assert ("probably closer" in repr(found)) == (proba < 0.975)
    told = "closer" if proba >= 0.975 else "probably closer"
    assert found.to_frame()["verdict"].tolist() == [told]
    assert found.verdict == "closer" and "units_seen" in repr(found)


def test_the_other_side_has_its_own_probability(mode):
    found = mode.drift("w01")
    found.update(
        interval=np.array([0.1, 0.4]), threshold=0.5, verdict="no drift", prob_exceeds=0.01,
        few_pairs=(False, False),
    )  # fmt: skip
    sentence = sentence_on_drift(found, "euclidean", "w01", (1900, 1901), True)
    assert "; it has not drifted beyond the threshold (P = 0.99). The threshold is 0.50" in sentence
    found.prob_exceeds = 0.04
    assert "it has probably not drifted" in sentence_on_drift(
        found, "euclidean", "w01", (1900, 1901), True
    )


def test_neighbours_name_their_period(mode):
    table = mode.most_similar("w02", 2, period=1901)
    assert table.period == 1901 and repr(table).startswith("nearest to 'w02', 1901\n")


def test_the_change_of_a_word_to_itself(mode):
    """Its similarity to itself is 1 in any period: no verdict on rounding noise."""
    for a, b in (("w00", "w00"), (LIST, LIST[::-1])):
        with pytest.raises(ValueError, match="a and b must be different.*self_similarity or drift"):
            mode.similarity_change(a, b)
    assert "1 by construction" in str(mode.similarity("w00", "w00"))
    assert "1 by construction" not in str(mode.similarity("w00", "w01"))


def test_documents_without_a_known_word(mode):
    with pytest.warns(UserWarning, match="X: 1 of 2 documents has no known word"):
        found = mode.document_similarity([["zebra"], TEXTS[0]], times=[1900, 1900], words=["w00"])
    assert np.isnan(found.mean).ravel().tolist() == [True, False]


def test_documents_and_words_without_text_in_the_period():
    """What is said of a word where it has none is the prior's, and no verdict rests on it."""
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 20
    texts = [f"{text} elk owl" if i < 30 else text for i, text in enumerate(texts)]
    model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
    model.fit(texts, times=[1900] * 30 + [1901] * 30)
    asked = {"words": ["elk", "cat"], "times": [1901, 1901]}
    found = model.document_similarity(["the cat sat", "a dog"], **asked)
    assert found.few_pairs.tolist() == [[True, False]] * 2
    assert np.isnan(found.n_units[:, 0]).all() and not np.isnan(found.n_units[:, 1]).any()
    assert "too little text: of 'elk' in 1901" in repr(found)
    one, other = (
        model.document_similarity(["the cat sat"], words=[word], times=[1901])
        for word in ("elk", "cat")
    )
    assert model.contrast(one, other).verdict.tolist() == [["no data"]]
    # a single answer of whatever shape may be held against several
    several = model.similarity("cat", "dog")
    assert model.contrast(other, several).mean.shape == (2,)
    assert model.contrast(one, several).verdict.tolist() == ["no data"] * 2
    tests = {"a": (["elk", "owl"], ["cat", "dog"], ["sat"], ["on"])}
    rows = [line for line in repr(model.weats(tests, period=1901)).split("\n") if line[:2] == "a "]
    assert len(rows) == 1 and not re.search(r"\d\.\d", rows[0])
    words = (word for word in asked["words"])
    again = model.document_similarity(["the cat sat"], words=words, times=[1901])
    assert again.mean.shape == (1, 2)
    with pytest.raises(ValueError, match="features must be one of"):
        model.set_params(features="mean-std").transform(texts[:2], times=[1901] * 2)

"""Readings of `DynamicSGNS` against the same from the draws by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import expit
from sklearn.utils import Bunch

from skbayesembed import DynamicSGNS
from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic import predict
from skbayesembed.dynamic.change import prior_distance
from skbayesembed.dynamic.verdicts import notes_on_verdict
from skbayesembed.posterior.posterior import hdi_interval

pytestmark = pytest.mark.filterwarnings("ignore:The chains have not mixed")

V, K, T = 9, 2, 4
CENTRES = np.array([1850.0, 1860.0, 1880.0, 1890.0])


@pytest.fixture(scope="module")
def data():
    return make_dynamic_sgns(
        V, K, T, 800, times=CENTRES, diffusion=0.01, empty_periods=[1], random_state=3
    )


@pytest.fixture(scope="module")
def model(data):
    options = {"draws": 25, "warmup": 10, "chains": 2, "diffusion": 0.01, "random_state": 0}
    # draws as the solver made them
    options |= {"balance": False, "uncertainty": "model"}
    return DynamicSGNS(K, solver="gibbs", **options).fit(data.pairs, times=CENTRES)


@pytest.fixture(scope="module")
def rho(model):
    return model.posterior_.flat("rho")


@pytest.fixture(scope="module")
def alpha(model):
    return model.posterior_.flat("alpha")


def cosine(a, b):
    norm = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.sum(a * b, axis=-1) / norm


def assert_summary(found, draws, prob=0.9):
    np.testing.assert_allclose(found.draws, draws, atol=1e-12)
    np.testing.assert_allclose(found.mean, draws.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.sd, draws.std(axis=0, ddof=1), atol=1e-12)
    np.testing.assert_allclose(found.interval, hdi_interval(draws, prob=prob), atol=1e-12)


@pytest.mark.parametrize("prob", [0.5, 0.9])
def test_trajectory(model, rho, alpha, prob):
    found = model.trajectory("x3", prob=prob)
    assert_summary(found, rho[:, :, 3], prob)
    assert found.periods == [1850, 1860, 1880, 1890]
    np.testing.assert_array_equal(found.times, CENTRES)
    assert found.interval.shape == (T, K, 2)
    np.testing.assert_allclose(found.mean, model.rho_[:, 3])
    assert_summary(model.trajectory(3, which="context", prob=prob), alpha[:, :, 3], prob)


def test_similarity(model, rho):
    draws = cosine(rho[:, :, 0], rho[:, :, 4])
    found = model.similarity("x0", "x4")
    assert_summary(found, draws)
    assert found.interval.shape == (T, 2) and found.periods == [1850, 1860, 1880, 1890]
    some = model.similarity("x0", 4, periods=[1890, 1850], prob=0.5)
    assert_summary(some, draws[:, [3, 0]], 0.5)
    assert some.times.tolist() == [1890.0, 1850.0]
    assert_summary(model.similarity(0, 4, periods=1880), draws[:, [2]])
    np.testing.assert_allclose(model.similarity(0, 0).draws, 1)


def test_similarity_change(model, rho, monkeypatch):
    monkeypatch.setattr(model, "observed_", model.observed_ + 50.0)
    draws = cosine(rho[:, :, 0], rho[:, :, 4])
    found = model.similarity_change("x0", "x4", 1860, 1890, prob=0.95)
    assert_summary(found, draws[:, 3] - draws[:, 1], 0.95)
    assert found.prob_increase == np.mean(draws[:, 3] > draws[:, 1])
    assert found.pairs == tuple(model.observed_[[1, 3]][:, [0, 4]].min(axis=1))
    assert found.verdict != "no data" and "changed by" in found.sentence
    rests = f"depends on diffusion=0.01 (not learned) and n_components={K}"
    assert f"({rests}; over_settings" in repr(found) and f"{rests}." in found.sentence
    expected = {"diffusion": 0.01, "diffusion_learned": False, "n_components": K}
    # a use makes as many pairs as PairCounts say
    assert found.settings == expected | {"pairs_of_use": None, "units_name": None}
    assert_summary(model.similarity_change(0, 4), draws[:, 3] - draws[:, 0])
    with pytest.raises(ValueError, match="start must be before end, got 1890 as start and 1850 as"):
        model.similarity_change(0, 4, 1890, 1850)


def test_drift(model, rho, monkeypatch):
    monkeypatch.setattr(model, "observed_", model.observed_ + 50.0)
    distance = 1 - cosine(rho[:, 0, 2], rho[:, 2, 2])
    found = model.drift("x2", 1850, 1880, distance="cosine", threshold=0.2)
    assert_summary(found, distance)
    assert found.prob_exceeds == np.mean(distance > 0.2) and found.threshold == 0.2
    assert "prob_exceeds" not in model.drift("x2", distance="cosine")
    found = model.drift("x2")
    distance = np.linalg.norm(rho[:, 0, 2] - rho[:, 3, 2], axis=-1)
    assert_summary(found, distance)
    assert found.threshold == prior_distance(model, (0, 3))
    assert found.prob_exceeds == np.mean(distance > found.threshold)


def test_the_interval_decides_and_says_so_where_the_probability_would_not():
    """Of a skewed posterior whose highest density leaves all of the rest on one side."""
    made = {"prob": 0.9, "source": "model", "verdict": "closer"}
    skewed = Bunch(interval=np.array([0.1, 2.0]), **made)
    assert notes_on_verdict(skewed, 0.97, 0.0) == []
    (line,) = notes_on_verdict(skewed, 0.93, 0.0)
    assert "the verdict follows the interval" in line
    (line,) = notes_on_verdict(Bunch(**{**skewed, "interval": np.array([-0.1, 2.0])}), 0.96, 0.0)
    skewed.interval_mcse = np.array([0.06, 0.01])
    (line,) = notes_on_verdict(skewed, 0.97, 0.0)
    assert "may change with other draws: zero is within two Monte Carlo errors" in line
    skewed.threshold = 0.2
    assert notes_on_verdict(skewed, 0.9, 0.3) == []
    (line, _) = notes_on_verdict(skewed, 0.97, 0.1)
    assert "the threshold is within two" in line
    for other in ({"source": "units"}, {"verdict": "no data"}):
        assert notes_on_verdict(Bunch(**{**skewed, **other}), 0.93, 0.0) == []


def test_the_default_threshold_is_the_distance_of_the_prior(model):
    """The root mean square over draws from the prior, within five standard errors."""
    prior = model._prior
    x = prior.sample(np.random.default_rng(0), (20_000, K))
    squares = np.sum((x[3] - x[1]) ** 2, axis=1)
    error = squares.std() / np.sqrt(squares.size)
    assert abs(prior_distance(model, (1, 3)) ** 2 - squares.mean()) < 5 * error
    assert prior_distance(model, (3, 1)) == prior_distance(model, (1, 3))


@pytest.mark.parametrize("block", [2, 1000])
@pytest.mark.parametrize("threshold", [None, 0.3])
@pytest.mark.parametrize("kind", ["euclidean", "cosine"])
def test_most_changed(model, data, rho, monkeypatch, block, threshold, kind):
    monkeypatch.setattr(predict, "_NUMBERS", block * 50 * 2 * K)
    assert predict.sweep_chunk(model, 2) == block
    if kind == "cosine":
        distance = 1 - cosine(rho[:, 1], rho[:, 3])
        limit = np.median(distance.mean(axis=0)) if threshold is None else threshold
    else:
        distance = np.linalg.norm(rho[:, 1] - rho[:, 3], axis=-1)
        limit = prior_distance(model, (1, 3)) if threshold is None else threshold
    above, interval = np.mean(distance > limit, axis=0), hdi_interval(distance, prob=0.8)
    shown = np.where(above > 0.99, 1.0, above)
    order = sorted(range(V), key=lambda w: (-shown[w], -distance[:, w].mean()))[:5]
    options = {"distance": kind, "threshold": threshold, "prob": 0.8, "min_pairs": 0}
    found = model.most_changed(5, start=1860, end=1890, **options)
    assert found.distance == kind
    assert found.words.tolist() == [f"x{w}" for w in order] and len(found) == 5
    np.testing.assert_allclose(found.threshold, limit)
    np.testing.assert_allclose(found.mean, distance.mean(axis=0)[order])
    np.testing.assert_allclose(found.sd, distance.std(axis=0, ddof=1)[order])
    np.testing.assert_allclose(found.interval, interval[order])
    np.testing.assert_array_equal(found.prob_exceeds, above[order])
    false = [np.mean(1 - above[order[: i + 1]]) for i in range(5)]
    np.testing.assert_allclose(found.false_share, false)
    moved = (rho[:, 3] - rho[:, 1])[:, order]
    left = moved.var(axis=0, ddof=1).sum(axis=-1) / prior_distance(model, (1, 3)) ** 2
    np.testing.assert_allclose(found.known, 1 - np.minimum(left, 1))
    assert not found.count_start.any()
    seen = np.asarray(data.pairs[3].positive.sum(axis=1))
    np.testing.assert_array_equal(found.count_end, seen[order])
    assert found.periods == (1860, 1890) and found.prob == 0.8 and found.n_draws == 50


def test_most_changed_prints_and_converts(model):
    found = model.most_changed(3, min_pairs=10)
    assert found.periods == (1850, 1890)
    lines = repr(found).splitlines()
    rests = (
        f"(depends on diffusion=0.01 (not learned) and n_components={K}; over_settings asks again "
        "with others)"
    )
    assert lines.pop() == rests and found.settings["diffusion"] == 0.01
    if found.source == "unmixed":
        assert "have not mixed" in lines.pop()
    if found.source != "point":
        told = f"(of these 3, about {found.prob_exceeds.sum():.1f} are expected to have moved by "
        none = "" if (found.interval[:, 0] > found.threshold).any() else "; each interval reaches "
        none += "below it, so that none surely has" * bool(none)
        assert lines.pop(5) == f"{told}more than the threshold{none})"
        assert lines.pop(5).startswith("(words were picked because they moved, which")
        assert "The words were picked because they moved, which" in found.sentence
    assert f"depends on {rests[12:52]}" in found.sentence
    assert lines[0] == "most changed from 1850 to 1890, by Euclidean distance" and len(lines) == 5
    for word, mean in zip(found.words, found.mean, strict=True):
        assert f"{str(word)!r} by {mean:.2f}" in found.sentence
    assert "Between 1850 and 1890, " in found.sentence
    likely = "more likely than not" in found.sentence
    assert likely == (found.source != "point" and found.prob_exceeds[0] < 0.5)
    assert "90 % interval" in lines[1] and f"P(> {found.threshold:.3g})" in lines[1]
    assert lines[2].startswith(found.words[0]) and f"{found.mean[0]:.3f}" in lines[2]
    frame = found.to_frame()
    assert list(frame.columns) == [
        "word", "mean", "sd", "low", "high", "prob_exceeds", "false_share", "known",
        "count_start", "count_end",
    ]  # fmt: skip
    assert frame["word"].tolist() == found.words.tolist()
    assert len(model.most_changed(100, min_pairs=0)) == V
    assert "known below" not in repr(found)
    known, sure = np.array([0.5, 0.05, 0.02]), np.array([0.99, 0.95, 0.5])
    some = dataclasses.replace(found, known=known, prob_exceeds=sure)
    assert f"(known below 0.1 for {found.words[1]}: " in repr(some)


def test_equal_probabilities_go_by_distance(model):
    found = model.most_changed(V, threshold=200.0, min_pairs=0)
    assert not found.prob_exceeds.any()
    assert len(found) == V and np.all(np.diff(found.mean) <= 0)


def test_a_point_estimate_says_so(data):
    model = DynamicSGNS(K, solver="map", diffusion=0.01, random_state=0)
    found = model.fit(data.pairs, times=CENTRES).most_changed(2, min_pairs=0)
    assert "\n(a point estimate, without intervals)\n" in repr(found)
    # a point estimate is not certain, in print or elsewhere
    frame = {
        name: getattr(found, name) for name in ("sd", "interval", "prob_exceeds", "false_share")
    }
    assert found.n_draws == 1 and all(np.isnan(value).all() for value in frame.values())
    assert np.all(np.diff(found.mean) <= 0)


def test_most_similar(model, rho, monkeypatch):
    # words with next to no text are not ranked; one with much is asked about
    asked = int(np.argmax(model.observed_[2]))
    seen = np.sort(np.delete(model.observed_[2], asked))
    monkeypatch.setattr(model, "_pairs_of_use", seen[2] / 10)
    few = np.flatnonzero(model._few_in(1880))
    cosines = cosine(rho[:, 2], rho[:, 2, [asked]])
    mean = cosines.mean(axis=0)
    order = [w for w in np.argsort(-mean) if w != asked and w not in few][:3]
    assert 0 < few.size < V - 4 and len(order) == 3
    found = model.most_similar(f"x{asked}", 3, period=1880)
    assert found.words.tolist() == [f"x{w}" for w in order]
    np.testing.assert_allclose(found.mean, mean[order])
    np.testing.assert_allclose(
        found.interval, hdi_interval(cosines[:, order], prob=0.9), atol=1e-12
    )
    assert found.n_left_out == few.size
    cosines[:, [asked, *few]] = -2
    top = np.mean([np.isin(order, np.argsort(-c)[:3]) for c in cosines], axis=0)
    np.testing.assert_array_equal(found.prob_top, top)


def test_cooccurrence(model, rho, alpha):
    draws = expit(np.einsum("stik,stik->sti", rho[:, :, [0, 3]], alpha[:, :, [1, 3]]))
    found = model.cooccurrence_proba([("x0", "x1"), (3, "x3")])
    assert_summary(found, draws)
    assert found.interval.shape == (T, 2, 2)
    some = model.cooccurrence_proba([("x0", "x1"), (3, "x3")], periods=[1880], prob=0.5)
    assert_summary(some, draws[:, [2]], 0.5)
    assert some.periods == [1880]


def test_periods_are_named_by_time_or_label(data):
    model = DynamicSGNS(K, solver="map", bins=[1840, 1870, 1900], random_state=0)
    model.fit(data.pairs, times=CENTRES)
    first, second = model.periods_.labels
    assert second == "1870-1899"
    for time in (second, 1870, 1899.5, np.datetime64("1885-05-01")):
        assert model.similarity(0, 1, periods=[time]).periods == [second]
    assert model.drift(0, first, second).mean == model.drift(0, 1850, 1900).mean


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.trajectory("cat"), KeyError, "word='cat' is not in the vocabulary of 9 words"),
        (lambda m: m.trajectory(9), KeyError, "word=9 is out of range"),
        (lambda m: m.trajectory(0, which="rho"), ValueError, "which must be one of 'target', 'con"),
        (lambda m: m.trajectory(0, prob=1.0), ValueError, "prob must be a number between 0 and 1"),
        (lambda m: m.similarity(0, "cat"), KeyError, "b='cat' is not in the vocabulary"),
        (
            lambda m: m.similarity(0, 1, periods=[1870]),
            ValueError,
            "periods=1870 is in no period: t",
        ),
        (
            lambda m: m.similarity(0, 1, periods=["1870"]),
            ValueError,
            "periods=1870 is in no period",
        ),
        (lambda m: m.similarity(0, 1, periods=[]), ValueError, "periods must name at least one "),
        (lambda m: m.drift(0, 1850, 1850), ValueError, "start and end must be in different"),
        (lambda m: m.drift(0, 1850, 1851), ValueError, "end=1851 is in no period"),
        (lambda m: m.drift(0, threshold=-1), ValueError, "threshold must be a number >= 0"),
        (lambda m: m.drift(0, distance="angle"), ValueError, "distance must be one of"),
        (lambda m: m.most_changed(0), ValueError, "n must be an integer >= 1"),
        (lambda m: m.most_changed(min_pairs=-1), ValueError, "min_pairs must be a number >= 0"),
        (lambda m: m.most_changed(min_pairs=1e9), ValueError, "min_pairs=1000000000.0 leaves no"),
        (
            lambda m: m.most_changed(end=1860),
            ValueError,
            "min_pairs=None leaves no word: none has 10",
        ),
        (lambda m: m.most_changed(start=1800), ValueError, "start=1800 is in no period"),
        (lambda m: m.most_similar(0, period=1800), ValueError, "period=1800 is in no period"),
        (lambda m: m.most_similar("cat", period=1850), KeyError, "word='cat' is not in"),
        (lambda m: m.cooccurrence_proba(["ab"]), ValueError, "pairs must be a list of"),
        (lambda m: m.cooccurrence_proba([(0, "cat")]), KeyError, "context='cat' is not in"),
    ],
)
def test_errors(model, call, error, message):
    with pytest.raises(error, match=message):
        call(model)


def test_a_word_named_twice_has_one_vector(data):
    """Also where its draws are made afresh from the approximation."""
    model = DynamicSGNS(K, diffusion=0.01, draws=5, random_state=0).fit(data.pairs, times=CENTRES)
    np.testing.assert_allclose(model.similarity("x3", "x3").draws, 1.0)
    pairs = [("x3", "x1"), ("x0", "x2"), ("x3", "x2"), ("x3", "x1")]
    draws = model.cooccurrence_proba(pairs).draws
    np.testing.assert_array_equal(draws[..., 0], draws[..., 3])
    alone = model.cooccurrence_proba(pairs[1:2]).draws
    assert draws.shape == (1000, T, 4) and alone.shape == (1000, T, 1)
    np.testing.assert_allclose(draws[..., 1].mean(axis=0), alone[..., 0].mean(axis=0), atol=0.03)
    a, b = model.similarity("x5", "x2"), model.similarity("x2", "x5")
    np.testing.assert_allclose(a.draws, b.draws)


@pytest.mark.parametrize(
    "options, most", [({}, 5.0), ({"window": 2, "window_weights": "uniform"}, 4.0)]
)
def test_pairs_of_a_use(options, most):
    """Of a word in the middle of a text, and of a token of a count matrix."""
    text = "a b c d e f x f e d c b a".split()
    make = {"solver": "map", "uncertainty": "model", "min_count": 1, "random_state": 0, **options}
    model = DynamicSGNS(1, **make).fit([text, text], times=[1, 2])
    assert model.observed_[0, model.vocabulary_["x"]] == most
    assert model.drift("x").settings["pairs_of_use"] == most
    assert f"(pairs: a use of a word makes up to {most:g})" in repr(
        model.most_similar("x", period=1)
    )
    for name in options:
        del make[name]
    counts = DynamicSGNS(1, **make).fit(np.array([[1, 4], [1, 3]]), times=[1, 2])
    assert counts.drift(0).settings["pairs_of_use"] == counts.observed_[0, 0] == 1.0

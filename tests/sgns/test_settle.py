"""What ``"auto"`` stands for: solvers by size, precisions by what is held out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.common import memory
from skbayesembed.datasets import make_sgns, make_text
from skbayesembed.sgns import inputs
from skbayesembed.sgns.counting import expected_negatives
from skbayesembed.sgns.precision import (
    _between,
    _held_documents,
    _in_fold,
    choose_precision,
    split_counts,
)
from skbayesembed.sgns.settle import choose_solver

SHORT = {"min_count": 1, "draws": 20, "warmup": 20, "chains": 2, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:The chains have not mixed")


@pytest.fixture(scope="module")
def texts():
    options = {"n_words": 60, "n_topics": 4, "n_components": None, "mean_length": 60}
    return make_text(120, **options, random_state=0).texts


@pytest.fixture(scope="module")
def settled(texts):
    return BayesianSGNS(3, **SHORT).fit(texts)


def training(estimator, X):
    return inputs.training_data(estimator, X, np.random.SeedSequence(0))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "gibbs"),
        ({"biases": True}, "vi"),
        ({"learning_method": "online"}, "vi"),
        ({"draws": 10**9}, "map"),
        ({"thin": 10**9}, "map"),
        ({"draws": 10**9, "uncertainty": "model"}, "vi"),
        ({"draws": 10**9, "prior": "ard"}, "vi"),
        ({"draws": 10**9, "prior_precision": "learned"}, "vi"),
        ({"draws": 10**9, "negative_sampling": "sampled"}, "vi"),
        ({"prior_precision": "learned"}, "gibbs"),
    ],
)
def test_table_of_solvers(options, expected, texts):
    model = BayesianSGNS(3, **SHORT | options)
    found, reason = choose_solver(model, training(model, texts))
    assert found == expected
    assert reason


def test_solvers_without_documents_or_rank():
    pairs = make_sgns(20, 2, 2000, random_state=0).pairs
    model = BayesianSGNS(2, **SHORT | {"draws": 10**9})
    found, reason = choose_solver(model, training(model, pairs))
    assert found == "vi" and "PairCounts" in reason
    parts = training(model, [pairs, pairs, pairs])
    assert choose_solver(model, parts)[0] == "map"
    found, reason = choose_solver(model, parts, rank=1)
    assert found == "vi" and "rank 1" in reason


def test_what_was_taken_is_said(texts, settled, capsys):
    model = settled
    assert model.solver == model.prior_precision == "auto"
    assert model.solver_ == model.posterior_.attrs["solver"] == "gibbs"
    path = dict(part.split(": ") for part in model.posterior_.attrs["precision_path"].split(", "))
    scores = {float(k): float(v) for k, v in path.items()}
    # between the best one tried and its neighbours
    assert 0.68 < model.prior_precision_ / max(scores, key=scores.get) < 1.45
    assert "random_state" in SHORT
    other = BayesianSGNS(3, **SHORT | {"random_state": 7}, verbose=1).fit(texts)
    assert other.prior_precision_ == model.prior_precision_
    told = capsys.readouterr().out
    assert f"prior_precision='auto': {model.prior_precision_:g}" in told
    assert "solver='auto': 'gibbs', since" in told
    # the same draws as when asked for
    named = BayesianSGNS(3, solver="gibbs", prior_precision=model.prior_precision_, **SHORT)
    assert_array_equal(named.fit(texts).posterior_["rho"], model.posterior_["rho"])
    assert named.solver_ == "gibbs" and named.prior_precision_ == model.prior_precision_
    assert "precision_path" not in named.posterior_.attrs


@pytest.mark.slow
def test_intervals_of_what_auto_took(texts):
    """The mode alone, with the intervals that a mode at the same precision has."""
    model = BayesianSGNS(3, **SHORT | {"draws": 10**9}).fit(texts)
    assert model.solver_ == "map" and model.posterior_.n_draws == 1
    assert repr(model).endswith(" [solver_='map']") and "solver_" not in repr(clone(model))
    same = BayesianSGNS(3, solver="map", prior_precision=model.prior_precision_, **SHORT).fit(texts)
    assert_array_equal(model.similarity(0, 1).draws, same.similarity(0, 1).draws)


@pytest.mark.parametrize(
    "options",
    [{"prior_precision": "learned"}, {"prior": "ard"}, {"prior": "ard", "prior_precision": 50.0}],
)
def test_learned_precision_has_no_number(texts, options):
    model = BayesianSGNS(2, **options, **SHORT).fit(texts)
    assert not hasattr(model, "prior_precision_")


@pytest.mark.filterwarnings("ignore:The MAP estimate is zero")
def test_noise_is_guessed_at():
    """Words drawn independently of each other: no worse on new text than guessing."""
    rng = np.random.default_rng(0)
    texts = [[f"w{i}" for i in rng.integers(0, 60, 40)] for _ in range(150)]
    for solver in ("map", "gibbs"):
        model = BayesianSGNS(10, solver=solver, **SHORT).fit(texts[:75])
        # of 75 x 40 x 5.5 pairs the mean has a standard error of far less
        assert model.score(texts[75:]) > np.log(0.5) - 2e-3
    worse = BayesianSGNS(10, solver="map", prior_precision=1.0, **SHORT).fit(texts[:75])
    assert worse.score(texts[75:]) < np.log(0.5) - 4e-3


def test_precision_follows_the_data(texts):
    """Of pairs drawn from the model with precision K: within a factor of four of it."""
    for n in (20_000, 200_000):
        pairs = make_sgns(100, 5, n, random_state=1).pairs
        model = BayesianSGNS(5, **SHORT)
        chosen = choose_precision(model, training(model, pairs))
        assert 5 / 4 <= chosen.precision <= 4 * 5
        assert chosen.mode["rho"].shape == (100, 5)


def test_between_the_precisions_tried():
    scores = {4.0: -1.0, 8.0: -0.5, 16.0: -1.0, 32.0: -2.0}
    assert _between(8.0, scores) == 8.0
    # a parabola in the logarithm of the precision whose top is at 8 ** 0.9 * 16 ** 0.1
    at = {p: -((np.log2(p) - 3.1) ** 2) for p in (4.0, 8.0, 16.0)}
    assert _between(8.0, at) == pytest.approx(2**3.1, rel=0.01)
    # one neighbour only, and scores that are level
    assert _between(32.0, scores) == 32.0
    assert _between(8.0, dict.fromkeys(at, -0.7)) == 8.0
    assert _between(8.0, {4.0: -0.5, 8.0: -0.5, 16.0: -3.0}) == pytest.approx(8 / 2**0.5, rel=0.01)


def test_counts_add_up(texts):
    """What is held out and what is not make the whole, of whole units."""
    model = BayesianSGNS(2, **SHORT)
    data = training(model, texts)
    train, held = split_counts(model, data, np.random.default_rng(0))
    whole = data.counts.positive.toarray()
    assert_allclose((train.positive + held.positive).toarray(), whole)
    # a fifth of the documents, whose lengths differ
    assert 0.1 < held.positive.sum() / whole.sum() < 0.3
    assert_allclose(held.total, 2 * held.positive.sum())
    parts = [make_sgns(10, 2, 500, random_state=i).pairs for i in range(10)]
    data = training(model, parts)
    train, held = split_counts(model, data, np.random.default_rng(0))
    assert held.total == pytest.approx(sum(p.total for p in parts) / 5)
    assert_allclose((train.negative + held.negative).toarray(), data.counts.negative.toarray())


def test_documents_are_held_out_by_what_they_say(texts):
    """Repeated ones are on the same side as the one with a weight; about a fifth of all."""
    model = BayesianSGNS(2, **SHORT)
    weights = np.random.default_rng(0).integers(0, 4, len(texts))
    repeated = [t for t, n in zip(texts, weights, strict=True) for _ in range(n)]
    a = inputs.training_data(model, texts, np.random.SeedSequence(0), None, weights)
    b = training(model, repeated)
    order = [b.vocabulary[w] for w in a.words]
    for seed in range(5):
        held = [split_counts(model, d, np.random.default_rng(seed))[1] for d in (a, b)]
        again = held[1].positive.toarray()[np.ix_(order, order)]
        assert_allclose(held[0].positive.toarray(), again)
        assert 0.03 < held[0].total / a.counts.total < 0.5
    # none of two documents is held out by chance: then the one
    two = training(model, texts[:2])
    assert all(part.total > 0 for part in split_counts(model, two, np.random.default_rng(1)))


def test_nothing_to_hold_out():
    """All pairs are in one document."""
    model = BayesianSGNS(2, solver="map", **SHORT)
    with pytest.warns(UserWarning, match="prior_precision='auto' took 1.0: no pairs are left"):
        model.fit([["a", "b", "c"] * 5, ["a"], ["b"]])
    assert model.prior_precision_ == 1.0


@pytest.mark.parametrize("each", [1, 2, 20, 100])
def test_a_fifth_of_the_units_is_held_out(each):
    """However many documents they have; and of two units one."""
    rng, model = np.random.default_rng(0), BayesianSGNS(1, min_count=1)
    for n_units, low, high in ((400, 0.12, 0.28), (2, 0.5, 0.5)):
        counts = rng.poisson(3.0, (n_units * each, 12)) * rng.choice([0.3, 1.0], 12)
        units = np.arange(n_units).repeat(each)
        given = inputs.training_data(model, counts, np.random.SeedSequence(0), units)
        held = _held_documents(given, np.random.default_rng(1))
        # four standard errors of a share of 400 units
        assert low <= held.mean() <= high
        assert np.all(held.reshape(n_units, each) == held[::each, None]), "whole units"


def test_each_fifth_is_held_out_once(texts):
    """Of documents by what they say, by rank where units have several, and of parts."""
    model, rng = BayesianSGNS(2, **SHORT), np.random.default_rng
    parts = [make_sgns(10, 2, 500, random_state=i).pairs for i in range(21)]
    units = np.arange(len(texts)) // 2
    given = [training(model, texts), training(model, parts)]
    given.append(inputs.training_data(model, texts, np.random.SeedSequence(0), units))
    for data in given:
        total = 0.0
        for fold in range(5):
            train, held = split_counts(model, data, rng(0), fold)
            assert_allclose((train.positive + held.positive).toarray(),
                            data.counts.positive.toarray())  # fmt: skip
            total += held.positive.sum()
        assert_allclose(total, data.counts.positive.sum())
    marks = np.append(np.arange(25, dtype=np.uint64) * 2**59, np.uint64(2**64 - 9))
    for by_rank in (False, True):
        folds = np.array([_in_fold(marks, fold, by_rank) for fold in range(5)])
        # of zero in none, all others in one
        assert folds.sum(axis=0).tolist() == [0] + [1] * 25
    assert folds[0, -5:].all() and folds.sum(axis=1).tolist() == [5] * 5
    for n in (20, 22, 23, 24):
        folds = np.array([_in_fold(1 + marks[:n], fold, True) for fold in range(5)])
        assert np.all(folds.sum(axis=0) == 1) and np.ptp(folds.sum(axis=1)) <= 1
    # of few units only one fifth
    assert [_in_fold(marks[:19], fold, True).sum() for fold in range(3)] == [4, 0, 0]


def test_renamed_words_have_about_the_same_precision():
    """Which documents are held out hangs on how words are spelled, which tells nothing."""
    topics = np.repeat(np.eye(4), 10, axis=1)
    rng = np.random.default_rng(0)
    weight = 1.0 + 8.0 * rng.dirichlet(np.full(4, 0.3), 200) @ topics
    counts = rng.poisson(12.0 * weight / weight.sum(axis=1, keepdims=True))
    found, ranges = [], []
    for letter in "abce":
        names = [f"{letter}{i}" for i in range(40)]
        model = BayesianSGNS(3, solver="map", feature_names=names, **SHORT).fit(counts)
        found.append(model.prior_precision_)
        ranges.append(model.posterior_.attrs["precision_range"])
    # 0.45 to 0.83; by one fifth of the documents each 0.74 to 4
    assert max(found) < 2.5 * min(found)
    for told, chosen in zip(ranges, found, strict=True):
        low, high = map(float, told.split(" to "))
        assert low <= chosen <= high
    assert f"{ranges[-1]} predict as well" in repr(model.report())


def test_thinned_counts_add_up():
    """Of a single PairCounts, also where counts are no whole numbers."""
    rng = np.random.default_rng(3)
    counts = PairCounts(rng.gamma(2.0, 5.0, (30, 30)), rng.poisson(10.0, (30, 30)))
    train, held = split_counts(
        BayesianSGNS(2), training(BayesianSGNS(2), counts), np.random.default_rng(0)
    )
    for name in ("positive", "negative"):
        a, b, whole = (getattr(c, name).toarray() for c in (train, held, counts))
        assert_allclose(a + b, whole)
        assert np.all(a >= 0) and np.all(b >= 0)
        # 900 pairs of about 10 observations: a share of 1/5 with a standard error of .004
        assert abs(b.sum() / whole.sum() - 0.2) < 0.02


def test_jobs_do_not_matter(texts, settled):
    two = BayesianSGNS(3, **SHORT, n_jobs=2).fit(texts)
    assert settled.prior_precision_ == two.prior_precision_
    assert_array_equal(settled.posterior_["rho"], two.posterior_["rho"])


def test_no_room_for_two_tables(texts, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**18)
    with pytest.raises(MemoryError, match=r"pair tables of \d+ words, to fit to and to predict"):
        BayesianSGNS(2, solver="map", **SHORT).fit(texts)


def test_online_has_precision_one(texts):
    model = BayesianSGNS(2, learning_method="online", batch_size=40, n_passes=1, random_state=0)
    model.set_params(min_count=1).fit(texts)
    assert model.solver_ == "vi" and model.prior_precision_ == 1.0
    stream = BayesianSGNS(2, solver="vi", random_state=0, min_count=1)
    assert stream.partial_fit(texts).solver_ == "vi"


@pytest.mark.parametrize("count", [0.2, 0.6, 1.3, 3.0])
def test_counts_of_no_units_are_split_in_the_same_shares(count):
    """Positive and negative ones alike, and all of them: to four standard errors."""
    n = 200
    positive = sparse.csr_array(np.full((n, n), count))
    counts = PairCounts(positive, expected_negatives(positive, negative=1.0, ns_exponent=0.75))
    training = inputs.training_data(BayesianSGNS(2), counts, np.random.SeedSequence(0))
    train, held = split_counts(BayesianSGNS(2), training, np.random.default_rng(0))
    assert_allclose((train.positive + held.positive).toarray(), count)
    share = held.positive.sum() / positive.sum()
    # of a count's whole observations and its part
    pieces = np.floor(count) + (count % 1) ** 2
    assert abs(share - 0.2) < 4 * np.sqrt(0.16 * pieces * n * n) / positive.sum()
    assert_allclose(held.negative.sum() / counts.negative.sum(), 0.2)

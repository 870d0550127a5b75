"""Measures of senses against small cases, a loop over words, and the published data."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import f as f_distribution

from skbayesembed.corpus.text import document_counts
from skbayesembed.datasets import make_senses
from skbayesembed.metrics import brier_score, interaction_level, interval_overlap, match_senses

DATA = os.environ.get("SKBAYESEMBED_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="SKBAYESEMBED_DATA does not name a folder")


def simplex(rng, n, k):
    return rng.dirichlet(np.ones(k), size=n)


def test_brier_against_a_loop():
    rng = np.random.default_rng(0)
    p, labels = simplex(rng, 50, 4), rng.integers(-1, 4, 50)
    total, known = 0.0, 0
    for d in range(50):
        if labels[d] >= 0:
            known += 1
            total += sum((p[d, k] - (labels[d] == k)) ** 2 for k in range(4))
    assert known < 50
    assert brier_score(p, labels) == pytest.approx(total / known, rel=1e-12)


def test_brier_marks():
    truth = np.array([0, 2, 1])
    assert brier_score(np.eye(3)[truth], truth) == 0.0
    assert brier_score(np.eye(3)[[1, 0, 2]], truth) == 2.0
    assert brier_score(np.full((3, 3), 1 / 3), truth) == pytest.approx(2 / 3)
    assert brier_score(np.eye(3)[truth], truth.astype(float)) == 0.0


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_match_is_the_best_of_all_permutations(k):
    rng = np.random.default_rng(k)
    for _ in range(5):
        p, labels = simplex(rng, 12, k), rng.integers(-1, k, 12)
        labels[0] = 0
        order = match_senses(p, labels)
        assert sorted(order) == list(range(k))
        scores = [brier_score(p[:, list(o)], labels) for o in permutations(range(k))]
        assert brier_score(p[:, order], labels) == pytest.approx(min(scores), rel=1e-12)


def test_match_undoes_a_permutation_and_leaves_spare_senses():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    p = 0.8 * np.eye(5)[labels] + 0.04
    shuffled = p[:, [4, 2, 0, 3, 1]]
    order = match_senses(shuffled, np.where(rng.random(200) < 0.5, labels, -1))
    assert order.dtype == np.int64
    assert order[:3].tolist() == [2, 4, 1]
    assert sorted(order[3:]) == [0, 3]


@pytest.mark.parametrize("measure", [brier_score, match_senses])
@pytest.mark.parametrize(
    ("p", "labels", "match"),
    [
        ([0.5, 0.5], [0], "probabilities must have shape"),
        (np.zeros((2, 0)), [0, 0], "probabilities must have shape"),
        ([[0.5, 0.5]], [0, 1], "labels must have one label for each of the 1 rows"),
        ([[0.5, 0.5]], [2], "labels must be columns of probabilities, from 0 to 1, got 2"),
        ([[0.5, 0.5]], [-1], "at least one known sense"),
        ([[0.5, 0.5]], [-2], "labels must be integers from 0, or -1"),
        ([[0.5, 0.5]], [0.5], "labels must be integers"),
        ([[0.5, 0.5]], [np.nan], "labels must be integers"),
        ([[0.5, 0.5]], ["a"], "labels must be integers"),
        ([[0.5, 0.4]], [0], "sum to one"),
        ([[1.5, -0.5]], [0], "sum to one"),
        ([[np.nan, 0.5]], [0], "probabilities must not have NaN"),
    ],
)
def test_sense_probabilities_are_checked(measure, p, labels, match):
    with pytest.raises(ValueError, match=match):
        measure(p, labels)


def slow_level(counts, senses, times, level=0.05):
    """Eq. 14 word by word, with the paper's dummies, by least squares."""
    kinds = np.unique(senses[senses >= 0])
    cells, y = [], []
    for k in kinds:
        for t in np.unique(times):
            total = counts[(senses == k) & (times == t)].sum(axis=0)
            if total.sum() > 0:
                cells.append((k, t))
                y.append(total / total.sum())
    k, t = np.array(cells).T
    dummies = np.array([k == kind for kind in kinds[1:]], dtype=float).T
    small = np.column_stack([np.ones(len(k)), t, dummies])
    large = np.column_stack([small, dummies * t[:, None]])
    significant = 0
    for v in np.array(y).T:
        left = [np.sum((v - x @ np.linalg.lstsq(x, v)[0]) ** 2) for x in (small, large)]
        freedom = len(k) - large.shape[1]
        if left[0] > 0:
            f = (left[0] - left[1]) / dummies.shape[1] / (left[1] / freedom)
            significant += f_distribution.sf(f, dummies.shape[1], freedom) < level
    return significant / counts.shape[1]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_interaction_against_least_squares(kind):
    s = make_senses(1500, 80, model="gasc", n_periods=6, random_state=1)
    keep = ~((s.senses == 1) & (s.times == 2))
    counts, times = s.counts.toarray()[keep], s.times[keep]
    senses = np.where(np.random.default_rng(0).random(keep.sum()) < 0.1, -1, s.senses[keep])
    expected = slow_level(counts, senses, times)
    assert 0.1 < expected < 0.9
    assert interaction_level(kind(counts), senses, times) == expected
    assert interaction_level(kind(counts), senses, 1850.5 - 25.0 * times) == expected
    strict = interaction_level(kind(counts), senses, times, level=0.001)
    assert strict == slow_level(counts, senses, times, 0.001) < expected


def test_interaction_of_nothing_is_the_level():
    """Equal rates everywhere: 1500 tests at 5 %, standard deviation 0.56 %, four of them.

    Frequencies of 16,000 words a cell are close enough to normal for an F-test of 12 degrees of
    freedom, and words are all but independent.
    """
    rng = np.random.default_rng(0)
    senses, times = np.divmod(np.arange(18), 6)
    counts = rng.multinomial(16_000, np.full(1500, 1 / 1500), size=18)
    assert abs(interaction_level(counts, senses, times) - 0.05) < 0.0225


def test_interaction_of_planted_words():
    """Opposite trends in one word, equal ones in another, and words that never vary or occur."""
    times = np.tile(np.arange(6), 2)
    senses = np.repeat([0, 1], 6)
    noise = np.random.default_rng(0).integers(-2, 3, size=(12, 2))
    crossing = np.where(senses == 0, 100 + 20 * times, 300 - 20 * times) + noise[:, 0]
    parallel = 100 + 20 * times + 50 * senses + noise[:, 1]
    constant = np.full(12, 100)
    rest = 10_000 - crossing - parallel - constant
    counts = np.column_stack([crossing, parallel, constant, 0 * constant, rest])
    # the word that fills up the cells interacts as the first does
    assert interaction_level(counts, senses, times) == 2 / 5
    exact = counts - np.column_stack([noise, np.zeros((12, 2), int), -noise.sum(axis=1)])
    assert interaction_level(exact, senses, times) == 2 / 5


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"senses": np.zeros(12, int)}, "at least two senses.*1 senses and 6 times"),
        ({"times": np.zeros(12)}, "at least two senses.*2 senses and 1 times"),
        ({"times": np.tile([0, 1], 6)}, "more cells.*got 4 cells"),
        ({"senses": np.full(12, -1)}, "got 0 cells"),
        ({"counts": np.zeros((12, 3))}, "got 0 cells"),
        ({"counts": np.zeros((12, 0))}, "at least one word"),
        ({"counts": -np.ones((12, 3))}, "not negative"),
        ({"counts": np.full((12, 3), np.nan)}, "counts must not have NaN"),
        ({"counts": sparse.csr_array(np.full((12, 3), np.inf))}, "finite"),
        ({"senses": [0, 1]}, "senses must have one label for each of the 12 rows"),
        ({"senses": ["a", "b"] * 6}, "senses must be integers"),
        ({"times": [1, 2]}, "times must have one entry for each of the 12 snippets, got 2"),
        ({"times": ["1", "2"] * 6}, "times must be numbers"),
        ({"level": 0}, "level must be a number > 0"),
        ({"level": "5 %"}, "level must be a number"),
    ],
)
def test_interaction_checks(options, match):
    given = {
        "counts": np.ones((12, 3)),
        "senses": np.repeat([0, 1], 6),
        "times": np.tile(np.arange(6), 2),
    } | options
    with pytest.raises(ValueError, match=match):
        interaction_level(**given)


def test_interval_overlap():
    a = np.array([[[0.0, 1.0], [0.0, 1.0]], [[2.0, 3.0], [0.0, 4.0]]])
    b = np.array([[[1.0, 2.0], [1.1, 2.0]], [[0.0, 1.9], [1.0, 2.0]]])
    # ends that touch, one apart on each side, one within the other
    assert interval_overlap(a, b) == interval_overlap(b, a) == 0.5
    assert interval_overlap(a, a) == 1.0


@pytest.mark.parametrize(
    ("a", "b", "match"),
    [
        ([[0, 1]], [[0, 1], [0, 1]], "same shape"),
        ([[0, 1, 2]], [[0, 1, 2]], "last axis of 2"),
        (1.0, 1.0, "last axis of 2"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "at least one"),
        ([[1, 0]], [[0, 1]], "a must have the lower end first"),
        ([[0, 1]], [[1, 0]], "b must have the lower end first"),
        ([[0, 1]], [[0, np.nan]], "b must not have NaN"),
        ([["low", "high"]], [[0, 1]], "a must be an array of numbers"),
    ],
)
def test_interval_overlap_checks(a, b, match):
    with pytest.raises(ValueError, match=match):
        interval_overlap(a, b)


def snippets(name):
    """The table of a published data set, and its counts."""
    pandas = pytest.importorskip("pandas")
    path = Path(DATA, "senses", name, "snippets.csv")
    if not path.exists():
        pytest.skip(f"senses/{name} is not in the folder that SKBAYESEMBED_DATA names")
    table = pandas.read_csv(path, dtype={"words": str})
    rows = [np.array(w.split(), dtype=int) for w in table["words"].fillna("")]
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    ids = np.concatenate(rows)
    return table, document_counts(ids, offsets, ids.max() + 1)


@needs_data
@pytest.mark.parametrize(
    ("name", "published", "words"),
    [
        ("kosmos_collocates", 0.070, 68),
        ("synth_scan_100", 0.131, 86),
        ("synth_scan_500", 0.204, 205),
    ],
)
def test_published_interaction_levels(name, published, words):
    """Section 8 of the paper, to the three digits that it prints."""
    table, counts = snippets(name)
    found = interaction_level(counts, table["sense"].fillna(-1), table["time"])
    assert found == words / counts.shape[1]
    assert round(found, 3) == published


@needs_data
def test_published_brier_score():
    """The run of the paper, by its authors' code: 0.4057 over the snippets with words."""
    pandas = pytest.importorskip("pandas")
    table, _ = snippets("kosmos_collocates")
    path = Path(DATA, "senses", "kosmos_collocates", "reference_sense_probs.csv")
    names = ["p_decoration", "p_order", "p_world"]
    p = pandas.read_csv(path)[names].to_numpy()
    labels = table["sense"].where(table["n_words"] > 0, -1)
    assert round(brier_score(p, labels), 4) == 0.4057
    order = match_senses(p[:, [2, 0, 1]], labels)
    assert order.tolist() == [1, 2, 0]

"""Files for TensorBoard's projector hold the vectors, and what is known of each."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy.stats import norm

from skbayesembed import BayesianSGNS, DynamicSGNS, GaussianLDA
from skbayesembed.io import WordVectors, load, to_projector

TEXTS = ["the river bank flooded", "money in the bank loan", "river bank wet"] * 8
SHORT = {"min_count": 1, "random_state": 0, "draws": 60, "warmup": 20, "chains": 2}


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def read(folder):
    with open(folder / "metadata.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return rows, np.loadtxt(folder / "vectors.tsv", delimiter="\t", ndmin=2)


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


def test_draws(tmp_path):
    model = BayesianSGNS(2, solver="gibbs", prior_precision=0.5, uncertainty="model",
                         balance=False, **SHORT).fit(TEXTS)  # fmt: skip
    folder = to_projector(model, tmp_path / "new" / "folder", prob=0.8)
    rows, vectors = read(folder)
    assert [row["word"] for row in rows] == model.words_.tolist()
    assert list(rows[0]) == ["word", "length", "sd", "interval_width"]
    # seven and six digits are written
    np.testing.assert_allclose(vectors, model.rho_, rtol=1e-6)
    spread = model.posterior_.std("rho")
    np.testing.assert_allclose(column(rows, "sd"), np.linalg.norm(spread, axis=1), rtol=1e-5)
    width = 2 * norm.ppf(0.9) * spread.mean(axis=1)
    np.testing.assert_allclose(column(rows, "interval_width"), width, rtol=1e-5)
    assert 'metadata_path: "metadata.tsv"' in (folder / "projector_config.pbtxt").read_text()


def test_documents(tmp_path):
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS)
    rows, _ = read(to_projector(model, tmp_path))
    assert list(rows[0]) == ["word", "length", "sd", "interval_width", "n_units"]
    np.testing.assert_allclose(column(rows, "n_units"), model.n_units_, rtol=1e-5)
    assert np.all(column(rows, "sd") > 0)


@pytest.mark.parametrize("solver", ["gibbs", "laplace"])
def test_without_draws_there_are_no_intervals(solver, tmp_path):
    """Columns that need draws are left out, as the vectors need none."""
    options = SHORT | {"solver": solver, "uncertainty": "model", "prior_precision": 0.5}
    static = BayesianSGNS(2, **options).fit(TEXTS)
    drifting = DynamicSGNS(2, **options).fit(TEXTS, times=[2000, 2001, 2002] * 8)
    for model, more in ((static, {}), (drifting, {"period": 2001})):
        model.save(tmp_path / "model.npz", draws=0)
        rows, vectors = read(to_projector(load(tmp_path / "model.npz"), tmp_path / "no", **more))
        assert list(rows[0]) == ["word", "length", *["pairs"] * bool(more)]
        with_draws, expected = read(to_projector(model, tmp_path / "yes", **more))
        assert "sd" in with_draws[0]
        np.testing.assert_array_equal(vectors, expected)


def test_deviations_by_units_need_no_draws(tmp_path):
    """Of drifting words, either: balancing took those of the draws all the same."""
    times = [2000, 2001, 2002] * 8
    model = DynamicSGNS(2, solver="gibbs", prior_precision=0.5, **SHORT).fit(TEXTS, times=times)
    expected, _ = read(to_projector(model, tmp_path / "yes", period=2001))
    model.save(tmp_path / "model.npz", draws=0)
    rows, _ = read(to_projector(load(tmp_path / "model.npz"), tmp_path / "no", period=2001))
    assert list(rows[0]) == ["word", "length", "sd", "interval_width", "pairs"]
    np.testing.assert_allclose(column(rows, "sd"), column(expected, "sd"), rtol=1e-5)


def test_a_point_has_no_intervals(tmp_path):
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, uncertainty="model", **SHORT)
    model.fit(TEXTS)
    rows, _ = read(to_projector(model, tmp_path))
    assert list(rows[0]) == ["word", "length"]
    rows, vectors = read(to_projector(model, tmp_path, side="context"))
    assert list(rows[0]) == ["word", "length"]
    np.testing.assert_allclose(vectors, model.alpha_, rtol=1e-6)


def test_periods(tmp_path):
    model = DynamicSGNS(2, solver="vi", **SHORT).fit(TEXTS, times=[1999, 2000, 2000] * 8)
    rows, vectors = read(to_projector(model, tmp_path, period=2000, words=["wet", "river"]))
    assert [row["word"] for row in rows] == ["wet", "river"]
    places = [model.vocabulary_[word] for word in ("wet", "river")]
    np.testing.assert_allclose(vectors, model.rho_[1, places], rtol=1e-6)
    np.testing.assert_allclose(column(rows, "pairs"), model.observed_[1, places], rtol=1e-5)
    assert np.all(column(rows, "sd") > 0)


def test_words_of_any_kind(tmp_path):
    words = ["a\tb", 'quote"', "été", " "]
    rows, _ = read(to_projector(WordVectors(words, np.eye(4)), tmp_path))
    assert [row["word"] for row in rows] == ["a b", 'quote"', "été", "(blank)"]


def test_what_is_refused(tmp_path):
    vectors = WordVectors(["a", "b"], np.eye(2))
    with pytest.raises(KeyError, match=r"words: 1 of 2 have no vector: \['c'\]"):
        to_projector(vectors, tmp_path / "x", words=["a", "c"])
    with pytest.raises(ValueError, match="words must be a list of str"):
        to_projector(vectors, tmp_path / "x", words="ab")
    with pytest.raises(ValueError, match="prob must be"):
        to_projector(vectors, tmp_path / "x", prob=90)
    with pytest.raises(TypeError, match="source must be a fitted BayesianSGNS"):
        to_projector(GaussianLDA(), tmp_path / "x")
    assert not (tmp_path / "x").exists()

"""Questions of what is the same on both sides, or has no words."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import BayesianSGNS
from skbayesembed.sgns.questions.phrases import Axis

pytestmark = pytest.mark.usefixtures("first_mode")

_RNG = np.random.default_rng(5)
WORDS = np.array([f"w{i:02d}" for i in range(12)])
TEXTS = [" ".join(_RNG.choice(WORDS, 40)) for _ in range(12)]
LIST = ["w01", "w04", "w07"]
SOLVERS = {
    "units": {"solver": "map"},
    "point": {"solver": "map", "uncertainty": "model"},
    "vi": {"solver": "vi", "uncertainty": "model", "draws": 40},
}


@pytest.fixture(scope="module", params=list(SOLVERS))
def fitted(request):
    options = {"prior_precision": 1.0, "min_count": 1, "random_state": 0}
    return BayesianSGNS(2, **options, **SOLVERS[request.param]).fit(TEXTS)


def test_a_word_and_itself(fitted):
    """A cosine of 1 by construction says so, a list's order makes no other list."""
    found = fitted.similarity(LIST, LIST[::-1])
    assert found.sentence.endswith(" is 1 by construction.")
    assert "1 by construction" in str(found)
    assert "construction" not in str(fitted.similarity(LIST, LIST[:2]))


def test_answers_that_are_the_same(fitted):
    """What is rounding noise in every draw is exactly zero, on no side and with no probability."""
    one = fitted.similarity("w00", "w01")
    found = fitted.contrast(one, fitted.similarity("w01", "w00"))
    assert found.mean == found.sd == 0 and np.all(found.interval == 0) and np.all(found.draws == 0)
    assert np.isnan(found.prob_positive)
    assert found.get("verdict", "the same") == "the same"
    assert found.sentence.endswith("are the same in every draw, by construction.")
    table = fitted.nearer("w00", ["w01", "w05"])
    several = fitted.contrast(table.answer, one)
    same = table.words == "w01"
    assert np.isnan(several.prob_positive[same]).all()
    assert np.isnan(several.prob_positive[~same]).all() == (found.source == "point")
    assert (several.get("verdict", np.where(same, "the same", "")) == "the same").tolist() == (
        same.tolist()
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.nearer("w00", ["w01", "w00"]), ValueError, "word itself, got 'w00' in both"),
        (lambda m: m.axis(["w00", "w01"], ["w01", "w00"]), ValueError, "go from some words to oth"),
        (lambda m: m.project(["w00"], Axis("w01", "w01")), ValueError, "there is no direction"),
        (
            lambda m: m.similarity_difference(("w00", "w01"), ("w01", "w00")),
            ValueError,
            "first and second must be different pairs",
        ),
        (
            lambda m: m.similarity_difference(("w00", "w00"), ("w01", "w00")),
            ValueError,
            "first must be different words.*always",
        ),
        (
            lambda m: m.weat(["w00", "w01"], ["w02", "w03"], ["w04", "w05"], ["w05", "w04"]),
            ValueError,
            "A and B must be different lists",
        ),
    ],
)
def test_errors(fitted, call, error, message):
    with pytest.raises(error, match=message):
        call(fitted)


def test_documents_without_a_known_word(fitted):
    """There is no cosine of what has no direction: no exact zero with many units."""
    texts = ["zebra", TEXTS[0], ""]
    with pytest.warns(UserWarning, match="X: 2 of 3 documents have no known word.*document 0"):
        found = fitted.document_similarity(texts, words=["w00"])
    for name in ("mean", "sd", "interval", "draws", "n_units"):
        lost = np.isnan(found.get(name, np.array([[np.nan], [1.0], [np.nan]])))
        at = np.moveaxis(lost, 1 if name == "draws" else 0, 0)
        # a point estimate has no width
        lost = found.source == "point" and name in ("sd", "interval")
        assert at[[0, 2]].all() and at[1].all() == lost and at[1].any() == lost
    alone = fitted.document_similarity(TEXTS[:1], words=["w00"])
    # products of other sizes may be rounded otherwise
    assert found.mean[1] == pytest.approx(alone.mean[0], rel=1e-12)
    contrast = fitted.contrast(found, fitted.similarity("w00", "w01"))
    assert np.isnan(contrast.mean).ravel().tolist() == [True, False, True]
    assert contrast.get("verdict", np.array([["no data"]]))[0, 0] == "no data"
    with pytest.warns(UserWarning, match="other: 1 of 2 documents has no known word"):
        found = fitted.document_similarity(TEXTS[:3], ["zebra", TEXTS[0]])
    assert np.isnan(found.mean[:, 0]).all() and np.isfinite(found.mean[:, 1]).all()

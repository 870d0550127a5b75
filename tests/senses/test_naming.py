"""Names of senses: where they show, and what may be asked by them."""

from copy import deepcopy

import matplotlib
import numpy as np
import pytest

from skbayesembed import DiSCSenseModel, load
from skbayesembed.plotting import PrevalenceDisplay, SenseWordsDisplay

matplotlib.use("Agg")
SNIPPETS = ["river water flood", "money loan account"] * 20
YEARS = [1810, 1810, 1811, 1811] * 10


@pytest.fixture(scope="module")
def fitted():
    return DiSCSenseModel(2, solver="map", random_state=0).fit(SNIPPETS, times=YEARS)


@pytest.fixture
def model(fitted):
    """A model to name the senses of."""
    return deepcopy(fitted)


def test_tables_and_frames_have_the_names(model):
    before = model.prevalence_info()
    assert before.names is None and before["sense"].tolist() == [0, 0, 1, 1]
    model.name_senses(["bank", "shore"])
    tables = [
        model.prevalence_info(), model.sense_words(2), model.sense_info(2),
        model.predict_shares(times=YEARS),
        model.representative_snippets(SNIPPETS, times=YEARS, n=2),
    ]  # fmt: skip
    for table in tables:
        assert set(table["sense"].tolist()) == {"bank", "shore"}
        assert "bank" in repr(table) and "sense 0" not in repr(table)
    np.testing.assert_array_equal(tables[0].mean, before.mean)
    assert model.sense_given_word("river").axes["sense"] == ["bank", "shore"]
    assert "sense 'shore'" in model.prevalence_change(1, 1810, 1811).sentence
    said = tables[0].sentences["shore", 1810]
    assert "sense 'shore'" in said
    assert model.posterior_.coords["sense"].tolist() == ["bank", "shore"]


def test_senses_are_asked_for_by_name(model):
    model.name_senses({1: "shore"})
    by_name, by_number = (model.prevalence_change(k, 1810, 1811) for k in ("shore", 1))
    np.testing.assert_array_equal(by_name.draws, by_number.draws)
    assert "sense 0 " in model.prevalence_change(0, 1810, 1811).title
    table = model.representative_snippets(SNIPPETS, "shore", n=2)
    assert table.groups.tolist() == [1, 1]
    message = r"sense must be a number from 0 to 1, or one of .*got 'river'"
    with pytest.raises(ValueError, match=message):
        model.emergence("river", 0.5)


def test_figures_have_the_names(model):
    model.name_senses(["bank", "shore"])
    display = PrevalenceDisplay.from_estimator(model, senses=["shore"])
    assert [line.get_label() for line in display.lines_[0]] == ["shore"]
    words = SenseWordsDisplay.from_result(model.sense_words(2))
    assert [axes.get_title("left") for axes in words.axes_] == ["bank", "shore"]
    with pytest.raises(
        ValueError, match="senses must be a list of numbers from 0 to 1 or names of"
    ):
        PrevalenceDisplay.from_estimator(model, senses=["river"])


def test_names_are_saved_and_a_new_fit_discards_them(model, tmp_path):
    model.name_senses(["bank", "shore"]).save(tmp_path / "model.skb")
    assert load(tmp_path / "model.skb").prevalence_info().names.tolist() == ["bank", "shore"]
    assert model.fit(SNIPPETS, times=YEARS).prevalence_info().names is None
    assert model.name_senses(["bank", "shore"]).name_senses(None).sense_words().names is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["bank"], "name each of the 2 senses, got 1"),
        (["bank", "bank"], "different"),
        (["1", "bank"], "no number"),
        ({2: "bank"}, "from 0 to 1, got 2"),
        (["", "bank"], "words"),
        ("bank", "list of 2 names"),
    ],
)
def test_other_names_are_refused(model, names, message):
    with pytest.raises(ValueError, match=message):
        model.name_senses(names)
    assert model.prevalence_info().names is None


# what is asked holds of any draws
@pytest.mark.filterwarnings("ignore:The chains have not mixed")
def test_several_senses_are_asked_for_together():
    snippets = ["river water flood", "money loan account", "sand wind dune"] * 20
    years = [1810, 1811] * 30
    settings = {"draws": 20, "warmup": 5, "chains": 1, "n_starts": 1, "random_state": 0}
    model = DiSCSenseModel(3, **settings).fit(snippets, times=years)
    model.name_senses({0: "first", 1: "second"})
    both, third = (model.prevalence_change(k, 1810, 1811) for k in (["first", 1], 2))
    # prevalences add up to one
    np.testing.assert_allclose(both.draws, -third.draws, atol=1e-12)
    assert "senses 'first' and 'second' together" in both.sentence
    above = model.emergence(["first", "second"], 0.5)
    alone = model.emergence("first", 0.5)
    assert above.proba[0] >= alone.proba[0] and above.never <= alone.never
    for bad in ([0, 0], [0, 1, 2], []):
        with pytest.raises(ValueError, match="not of all 3"):
            model.prevalence_change(bad, 1810, 1811)

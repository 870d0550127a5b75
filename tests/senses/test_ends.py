"""Senses whose words are others in the end than in the beginning."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import DiSCSenseModel
from skbayesembed.senses.ends import ends


@pytest.fixture(scope="module")
def model():
    """River all along, and money that is spoken of in other words later."""
    rng = np.random.default_rng(0)
    words = {
        ("river", 1800): "water flood boat sand reed shore".split(),
        ("river", 1900): "water flood boat sand reed shore".split(),
        ("money", 1800): "gold coin vault notes bill merchant".split(),
        ("money", 1900): "credit card online fee branch customer".split(),
    }
    texts, times = [], []
    for (_, year), of in words.items():
        for _ in range(60):
            texts.append(" ".join(rng.choice(of, 4)))
            times.append(year)
            # what holds the sense together
            if "gold" in of or "credit" in of:
                texts[-1] += " money" * 3
    options = {"n_starts": 4, "bins": [1750, 1850, 1950], "random_state": 0}
    return DiSCSenseModel(2, model="scan", solver="map", **options).fit(texts, times=times)


def test_words_at_both_ends(model):
    found = ends(model)
    relevant = [model.sense_words(5, rank="relevant", period=year).words for year in (1800, 1900)]
    np.testing.assert_array_equal(found.words, relevant)
    alike = [np.intersect1d(*of).size for of in found.words.transpose(1, 0, 2)]
    assert found.changed == [k for k in range(2) if alike[k] < 2]
    (money,) = found.changed
    assert {"gold", "coin", "vault", "notes", "bill", "merchant"} & set(found.words[0, money])
    assert ends(model, (1, 1)).changed == []


def test_senses_of_snippets_that_tell_nothing_have_a_table():
    """None has a word or a label: the ends are those of all periods."""
    model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
    model.fit(np.zeros((12, 3)))
    np.testing.assert_allclose(model.sense_info().lasting, 1.0)


def test_tables_and_sentences_say_so(model):
    (money,) = ends(model).changed
    told = ends(model).told(money)
    line = f"(first words differ between periods, sense {money}: {told}"
    for table in (model.prevalence_info(), model.sense_info(), model.emergence(money, 0.5)):
        assert line in str(table)
    said = f"The first words of sense {money} differ, {told}: it may be another by then."
    for answer in (model.prevalence_change(money), model.emergence(money, 0.5)):
        assert answer.sentence.endswith(said)
    other = model.prevalence_change(1 - money)
    assert "first words" not in str(other) + other.sentence
    assert "first words" not in str(model.prevalence_info(senses=[1 - money]))


def test_figures_call_it_by_both(model):
    pytest.importorskip("matplotlib")
    from skbayesembed.plotting import PrevalenceDisplay

    (money,) = ends(model).changed
    labels = [line.get_label() for line in PrevalenceDisplay.from_estimator(model).lines_[0]]
    assert ["; later " in label for label in labels] == [k == money for k in range(2)]

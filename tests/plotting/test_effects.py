"""Effects on topics: what is drawn is what the table says, and what was asked for."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from skbayesembed import regress
from skbayesembed.plotting import EffectsDisplay, ForestDisplay
from skbayesembed.posterior.cells import p_values
from tests.plotting.conftest import plt

pytestmark = pytest.mark.usefixtures("few_simulated")

DESIGN = {"year": np.arange(30.0), "woman": np.arange(30) % 2, "party": np.arange(30) % 3 == 0}


@pytest.fixture(scope="module")
def effects(topics):
    counts = np.random.default_rng(0).poisson(0.5, (30, topics.n_features_in_))
    return topics.effects(counts, DESIGN, n_draws=5)


def segments(lines):
    return [path[:, 0].tolist() for path in lines.get_segments()]


def test_a_panel_for_each_term(effects):
    display = EffectsDisplay.from_result(effects)
    assert [axes.get_title("left") for axes in display.axes_] == list(DESIGN)
    for j, term in enumerate(DESIGN):
        place = effects.terms.tolist().index(term)
        np.testing.assert_array_equal(display.points_[j].get_xdata(), effects.mean[place])
        assert segments(display.intervals_[j]) == effects.interval[place].tolist()
        assert [0.0, 0.0] in [list(line.get_xdata()) for line in display.axes_[j].lines]
        texts = [text.get_text() for text in display.axes_[j].texts]
        assert texts == ["p", *p_values(effects.p_value[place])]
    labels = [text.get_text().replace("\n", " ") for text in display.ax_.get_yticklabels()]
    assert [label.split(":")[0] for label in labels] == [str(k) for k in range(len(labels))]


def test_terms_and_topics_are_chosen(effects):
    n = len(effects.words)
    options = {"terms": ["party"], "topics": [n - 1, 0], "names": [f"t{k}" for k in range(n)]}
    display = EffectsDisplay.from_result(effects, **options)
    (axes,) = display.axes_
    place = effects.terms.tolist().index("party")
    assert [text.get_text() for text in axes.get_yticklabels()] == [f"t{n - 1}", "t0"]
    wanted = effects.mean[place, [n - 1, 0]]
    np.testing.assert_array_equal(display.points_[0].get_xdata(), wanted)
    p = [text.get_text() for text in axes.texts]
    assert p == ["p", *(f"{effects.p_value[place, k]:.3f}" for k in (n - 1, 0))]


def test_rough_intervals_are_named(effects):
    found = replace(effects, rough={1: "R-hat 1.07"})
    display = EffectsDisplay.from_result(found, terms=["woman"])
    assert display.figure_.get_supxlabel().endswith("rough intervals (short chains): topic 1")
    display = EffectsDisplay.from_result(found, terms=["woman"], topics=[0])
    assert "rough" not in display.figure_.get_supxlabel()


def test_unmixed_topics_are_hollow(effects):
    found = replace(effects, unmixed=np.array([1]))
    display = EffectsDisplay.from_result(found)
    for lines in display.intervals_:
        assert len(lines.get_segments()) == len(effects.words) - 1
    assert display.figure_.get_supxlabel().endswith("hollow: chains have not mixed")
    shown = EffectsDisplay.from_result(found, terms=["woman"], topics=[0])
    assert "hollow" not in shown.figure_.get_supxlabel()


def test_labels_are_within_the_figure_and_apart(effects):
    figure = EffectsDisplay.from_result(effects).figure_
    figure.draw_without_rendering()
    width = figure.get_window_extent().width
    for axes in figure.axes:
        for label in (*axes.get_yticklabels(), axes.title):
            box = label.get_window_extent()
            assert box.x0 >= 0 and box.x1 <= width


def test_three_ticks_with_zero(effects):
    """Labels that would touch are shorter or fewer; that of zero stays."""
    mean = np.linspace(-0.2, 0.4, effects.mean.size).reshape(effects.mean.shape)
    effects = replace(effects, mean=mean, interval=np.stack([mean - 0.1, mean + 0.1], axis=-1))
    many = EffectsDisplay.from_result(effects)
    for display in (many, EffectsDisplay.from_result(effects, terms=["woman"])):
        for axes in display.axes_:
            low, high = axes.get_xlim()
            ticks = axes.get_xticks()
            shown = ticks[(ticks >= low) & (ticks <= high)]
            assert len(shown) >= 3 and 0.0 in shown
            labels = {text.get_text() for text in axes.get_xticklabels()}
            assert "0" in labels
    # no room for three
    _, axes = plt.subplots(1, 1, figsize=(0.5, 2))
    EffectsDisplay.from_result(effects, terms=["woman"], ax=[axes])
    assert 0.0 in axes.get_xticks() and len(axes.get_xticks()) < 3


def test_axes_given(effects):
    _, axes = plt.subplots(1, 3)
    assert EffectsDisplay.from_result(effects, ax=axes).axes_.tolist() == axes.tolist()
    with pytest.raises(ValueError, match="ax must be a list of 3 Axes"):
        EffectsDisplay.from_result(effects, ax=axes[0])


@pytest.mark.parametrize(
    "wrong, match",
    [
        ({"terms": ["age"]}, "terms must be some of '\\(intercept\\)', 'year', 'woman', 'party'"),
        ({"terms": []}, "terms must be some of"),
        ({"terms": "year"}, "terms must be a list of names"),
        ({"topics": [9]}, "topics must be a list of numbers"),
        ({"names": ["one"]}, "names must name each"),
    ],
)
def test_wrong_choices(effects, wrong, match):
    with pytest.raises(ValueError, match=match):
        EffectsDisplay.from_result(effects, **wrong)


def test_other_tables(topics, by_units, texts):
    with pytest.raises(TypeError, match="result must be a table of effects on topics"):
        EffectsDisplay.from_result(topics.top_words(3))
    meaning = by_units.effects(texts, np.arange(len(texts)) % 3, word="ant", n_permutations=20)
    with pytest.raises(TypeError, match=r"are drawn by ForestDisplay.from_result\(result\)"):
        EffectsDisplay.from_result(meaning)
    slopes = regress(
        np.random.default_rng(0).normal(size=(20, 40, 1)), np.arange(40.0), error="berkson"
    )
    with pytest.raises(TypeError, match="slopes of regress are drawn by ForestDisplay"):
        EffectsDisplay.from_result(slopes)
    assert ForestDisplay.from_result(meaning).ax_.get_yticklabels()[0].get_text() == "length"


def test_topics_without_a_name_are_called_by_their_first_words(topics, effects):
    """Where some have names the others keep their words, in all figures of topics."""
    n = len(effects.words)
    names = np.array([str(k) for k in range(n)], dtype="U9")
    names[1] = "trade"
    first = [" ".join(words.split()[:3]) for words in effects.words]
    display = EffectsDisplay.from_result(replace(effects, names=names))
    labels = [text.get_text().replace("\n", " ") for text in display.ax_.get_yticklabels()]
    assert labels == [f"{k}: {first[k]}" if k != 1 else "trade" for k in range(n)]
    sizes = ForestDisplay.from_result(replace(topics.topic_info(3), names=names))
    labels = [text.get_text().replace("\n", " ") for text in sizes.ax_.get_yticklabels()]
    assert labels[1] == "trade" and labels[0] == f"0: {' '.join(topics.topic_info(3).words[0])}"
    of_year = ForestDisplay.from_result(
        replace(topics.effects(np.eye(30, topics.n_features_in_), DESIGN["year"]), names=names)
    )
    labels = [text.get_text().replace("\n", " ") for text in of_year.ax_.get_yticklabels()]
    assert labels[1] == "trade" and labels[0] == first[0]


def test_terms_that_differ_have_titles_that_do(effects):
    """Long names are cut in the middle where they differ at the end only."""
    alike = [f"Share_of_seats_of_Republicans_in_the_{of}" for of in ("House", "Senate")]
    found = replace(effects, terms=np.array(["(intercept)", "party", *alike]))
    titles = [axes.get_title("left") for axes in EffectsDisplay.from_result(found).axes_]
    assert titles == [
        "party", "Share_of_\n...\nin_the_House", "Share_of_\n...\nin_the_Senate",
    ]  # fmt: skip


def test_topics_with_the_same_first_words_have_labels_that_differ(effects):
    """In forests, whose rows have no numbers of topics."""
    words = [f"river bank water {more}" for more in ("money", "loan", "loan")]
    found = replace(effects, words=np.array(["sea ship harbor", *words])[: len(effects.words)])
    labels = [text.get_text() for text in ForestDisplay.from_result(found).ax_.get_yticklabels()]
    assert len(set(labels)) == len(labels) and not labels[0].startswith("year: 0")


def test_titles_keep_apart(effects):
    """Long names of terms are wrapped, and lie above the heads beside them."""
    long = ["(intercept)", "years_in_the_office", "president_of_party", "www_mmm_www_mm"]
    found = replace(effects, terms=np.array(long))
    for display in (EffectsDisplay.from_result(found, terms=t) for t in (None, long[1:3])):
        display.figure_.draw_without_rendering()
        titles = [axes._left_title for axes in display.axes_]
        assert [t.get_text().replace("\n", "") for t in titles] == long[1 : 1 + len(titles)]
        boxes = [text.get_window_extent() for axes in display.axes_ for text in axes.texts[:1]]
        boxes += [title.get_window_extent() for title in titles]
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
        inside = display.figure_.bbox
        assert all(box.x1 <= inside.x1 and box.y1 <= inside.y1 for box in boxes)
    # of one panel it has all the room
    (axes,) = EffectsDisplay.from_result(found, terms=long[1:2]).axes_
    assert axes.get_title("left") == long[1]

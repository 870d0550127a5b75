"""Rows of answers: what is drawn is what the estimator says."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS, DynamicSGNS, Posterior, over_settings, plotting, regress
from skbayesembed.plotting import marks
from skbayesembed.posterior.cells import bounded
from skbayesembed.posterior.over_settings import OverSettings
from skbayesembed.posterior.results import About, Result
from tests.plotting.conftest import WORDS, plt, quietly


def drawn(display):
    """Labels, means and intervals of the rows of a forest, from its artists."""
    labels = [text.get_text().replace("\n", " ") for text in display.ax_.get_yticklabels()]
    means = display.points_.get_xdata()
    if display.intervals_ is None:
        return labels, means, None
    return labels, means, np.array([path[:, 0] for path in display.intervals_.get_segments()])


def ticks(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def check(display, words, mean, interval):
    labels, means, intervals = drawn(display)
    assert labels == [str(word) for word in words]
    np.testing.assert_array_equal(means, mean)
    apart = np.diff(display.points_.get_ydata())
    assert np.all(apart >= 1) and (any("\n" in t for t in ticks(display)) or np.all(apart == 1))
    np.testing.assert_array_equal(intervals, interval)
    low, high = display.ax_.get_xlim()
    assert low < np.min(interval) and np.max(interval) < high
    bottom, top = display.ax_.get_ylim()
    assert bottom > top, "the first row is on top"


@pytest.mark.parametrize("fit", ["by_units", "variational", "sampled"])
def test_neighbors_are_those_of_most_similar(fit, request):
    model = request.getfixturevalue(fit)
    display = plotting.NeighborsDisplay.from_estimator(model, "ant", n=4, prob=0.8)
    table = model.most_similar("ant", n=4, prob=0.8)
    check(display, table.words, table.mean, table.interval)
    shown = [text.get_text() for text in display.ax_.texts]
    assert shown == ["P(top 4)", *bounded(table.prob_top)]


def noted(display):
    """What is written below a figure, in one line."""
    return " ".join(display.figure_.get_supxlabel().split())


def test_neighbours_that_are_unlikely_are_noted(by_units):
    table = replace(by_units.most_similar("ant", n=3), prob_top=np.array([0.5, 0.05, 0.01]))
    table._resting_on("units")
    shown = plotting.NeighborsDisplay.from_result(table)
    label = shown.figure_.get_supxlabel()
    found = (
        "expected to be truly in the top 3: about 0.6; P(top 3) < 0.1 for 2 of 3; words "
        "picked for being near, so that intervals hold the truth less often than 90 %"
    )
    assert " ".join(label.split()) == found and label.count("\n") <= 3
    sizes = shown.figure_._supxlabel.get_fontsize(), shown.ax_.xaxis.label.get_fontsize()
    assert sizes[0] < sizes[1]
    display = plotting.NeighborsDisplay.from_result(table, note=False)
    assert display.note_ == found and not display.figure_.get_supxlabel()
    # below the label of axes that are given
    axes = display.figure_.subplots()
    given = plotting.NeighborsDisplay.from_result(table, ax=axes).ax_.get_xlabel()
    assert " ".join(given.split()).endswith(found)
    assert plotting.NeighborsDisplay.from_estimator(by_units, "ant", 3, note=False).note_
    # a probability is not cut
    assert any("P(top 3) < 0.1" in line.replace("\xa0", " ") for line in label.splitlines())


@pytest.mark.parametrize(
    ("fit", "label"),
    [
        ("by_units", "80 % interval (sampling of documents)"),
        ("variational", "80 % interval (VI, may be too narrow)"),
        ("sampled", "80 % interval (of the model)"),
        ("point", "point estimate, no interval"),
    ],
)
def test_figures_say_what_intervals_rest_on(fit, label, request):
    model = request.getfixturevalue(fit)
    if fit == "sampled" and model.posterior_.attrs["converged"] is False:
        label = "80 % interval (chains have not mixed)"
    display = plotting.NeighborsDisplay.from_estimator(model, "ant", n=3, prob=0.8)
    assert display.ax_.get_xlabel().startswith(f"cosine\n{label}")
    where = {"variational": "in the top 3 under the approximation"}
    where |= {"by_units": "to be truly in the top 3"}
    shown = noted(display)
    assert (f"expected {where.get(fit, 'in the top 3')}" in shown) == (fit != "point")


def test_a_point_estimate_has_points_alone(point):
    display = plotting.NeighborsDisplay.from_estimator(point, "ant", n=3)
    assert display.intervals_ is None and not display.ax_.collections and not display.ax_.texts
    np.testing.assert_array_equal(display.points_.get_xdata(), point.most_similar("ant", 3).mean)


def test_columns_beside_rows_are_of_their_size(by_units):
    """Seven points in a figure of its own, and what ticks have in axes of another style."""
    import matplotlib.pyplot as plt

    table = by_units.most_similar("ant", n=3)
    own = plotting.NeighborsDisplay.from_result(table)
    assert {text.get_fontsize() for text in own.ax_.texts} == {7.0}
    _, axes = plt.subplots()
    axes.tick_params(labelsize=11.0)
    given = plotting.NeighborsDisplay.from_result(table, ax=axes)
    assert {text.get_fontsize() for text in given.ax_.texts} == {11.0}


def test_lists_that_begin_alike_have_labels_that_differ(by_units):
    alike = [["bee", "cat", "dog", last] for last in ("elk", "fox")]
    table = by_units.nearer("ant", [*alike, ["elk", "fox", "gnu", "bee"]])
    labels = [
        text.get_text() for text in plotting.ForestDisplay.from_result(table).ax_.get_yticklabels()
    ]
    whole = {"bee, cat, dog, elk", "bee, cat, dog, fox"}
    assert {label.replace("\n", " ") for label in labels} == whole | {"elk, fox, gnu (+1)"}
    assert all(label in repr(table) for label in whole)


def test_words_held_against_a_word(by_units):
    others = ["bee", ["cat", "dog"], "hen"]
    display = plotting.NearerDisplay.from_estimator(by_units, "ant", others)
    table = by_units.nearer("ant", others)
    check(display, table.words, table.mean, table.interval)
    said = {"not decided": "not decided which is nearest"}
    said["nearest"] = f"nearest: {display.ax_.get_yticklabels()[0].get_text()}"
    assert display.note_.removeprefix("probably ") == said[table.verdict]


def test_a_verdict_that_other_draws_may_change_is_noted():
    """An end of the interval within two of its Monte Carlo errors of zero."""
    for error, noted in ((0.02, True), (0.001, False)):
        errors, entries = np.array([error, error]), {"verdict": "rose", "prob_increase": 0.97}
        entries |= {"mean": 0.2, "interval": np.array([0.01, 0.4]), "interval_mcse": errors}
        display = plotting.ForestDisplay.from_result(Result(entries, About("change", prob=0.9)))
        assert ("may change with other draws" in display.note_) == noted


def test_projections_have_a_line_at_zero(by_units):
    axis = by_units.axis("ant", "fox")
    display = plotting.ProjectionsDisplay.from_estimator(by_units, WORDS[:3], axis)
    table = by_units.project(WORDS[:3], axis)
    check(display, table.words, table.mean, table.interval)
    zero = [line for line in display.ax_.lines if list(line.get_xdata()) == [0.0, 0.0]]
    assert len(zero) == 1


def test_analogies_are_a_forest(by_units):
    table = by_units.analogy("ant", "bee", "fox", 3)
    check(plotting.ForestDisplay.from_result(table), table.words, table.mean, table.interval)


def test_changes_have_a_line_at_the_threshold(dynamic):
    display = plotting.ChangesDisplay.from_estimator(dynamic, n=3, min_pairs=1, threshold=0.25)
    table = dynamic.most_changed(3, min_pairs=1, threshold=0.25)
    check(display, table.words, table.mean, table.interval)
    assert [0.25, 0.25] in [list(line.get_xdata()) for line in display.ax_.lines]
    assert display.sentence == table.sentence
    first, expected, *none, picked, rests = display.note_.split("; ")
    assert picked == "words were picked because they moved, which their intervals do not allow for"
    assert rests.startswith("depends on diffusion=") and rests in repr(table)
    assert bool(none) == bool(np.all(table.interval[:, 0] <= 0.25))
    assert first == "dashed: the threshold of a move, 0.25"
    assert expected.startswith(f"of these 3, about {table.prob_exceeds.sum():.1f} are expected")
    assert noted(display) == display.note_
    # pairs are those of the table, to the same digits
    halves = replace(table, count_start=table.count_start + 838.5)
    shown = [text.get_text() for text in plotting.ChangesDisplay(halves).plot().ax_.texts]
    assert all(pairs in shown and pairs in repr(halves) for pairs in halves._columns()[6].values)


def test_labels_of_ticks_keep_apart_in_narrow_axes(dynamic):
    """Where long words and columns of numbers leave the axes little room."""
    table = dynamic.most_changed(2, min_pairs=0)
    words = np.array(["w" * 14, "v" * 14])
    many = {"count_start": 1e4 + table.count_start, "count_end": 1e5 + table.count_end}
    many |= {"mean": np.array([3.0, 1.5]), "interval": np.array([[1.5, 4.5], [0.7, 2.2]])}
    display = plotting.ChangesDisplay.from_result(replace(table, words=words, **many))
    display.figure_.draw_without_rendering()
    low, high = display.ax_.get_xlim()
    ticks = zip(display.ax_.get_xticks(), display.ax_.get_xticklabels(), strict=True)
    boxes = [text.get_window_extent() for at, text in ticks if low <= at <= high]
    assert len(boxes) > 1
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_neighbors_in_a_period(dynamic):
    display = plotting.NeighborsDisplay.from_estimator(dynamic, "ant", 3, period=1910)
    table = dynamic.most_similar("ant", 3, period=1910)
    check(display, table.words, table.mean, table.interval)


def test_figures_of_a_period_name_it(dynamic):
    axis = dynamic.axis(["ant", "bee"], "fox")
    for table in (
        dynamic.nearer("ant", ["bee", "fox"], period=1910),
        dynamic.analogy("ant", "bee", "fox", 2, period=1910),
        dynamic.project(["ant", "gnu"], axis, period=1910),
    ):
        display = plotting.ForestDisplay.from_result(table)
        assert str(table.period) in display.ax_.get_title("left")


def test_answers_with_rows_are_a_forest(by_units, dynamic):
    for found in (
        by_units.cooccurrence_proba([("ant", "bee"), ("ant", "fox")]),
        dynamic.similarity("ant", "bee"),
        by_units.similarity("ant", "bee"),
    ):
        labels = next(iter(found.axes.values()), [""])
        interval = np.reshape(found.interval, (-1, 2))
        display = plotting.ForestDisplay.from_result(found)
        check(display, labels, np.ravel(found.mean), interval)


def test_periods_without_data_are_hollow(dynamic):
    found = dynamic.similarity("ant", "bee")
    solid = len(plotting.ForestDisplay.from_result(found).ax_.lines)
    found.few_pairs = np.arange(len(found.pairs)) == 1
    display = plotting.ForestDisplay.from_result(found)
    check(display, found.axes["period"], found.mean, found.interval)
    hollow = [line for line in display.ax_.lines if line.get_markerfacecolor() == "white"]
    assert len(display.ax_.lines) == solid + 1 and len(hollow) == 1
    np.testing.assert_array_equal(hollow[0].get_xydata(), [[found.mean[1], 1]])
    assert "fewer than 10 uses or too few units" in noted(display)
    if display.intervals_ is not None:
        alpha = display.intervals_.get_alpha()
        assert alpha[1] < alpha[0] == alpha[2]


def test_contrasts_without_data_are_hollow(dynamic):
    found = dynamic.contrast(dynamic.similarity("ant", "bee"), dynamic.similarity("ant", "fox"))
    found.verdict = np.array(["no data", "not decided", "not decided"])
    display = plotting.ForestDisplay.from_result(found)
    hollow = [line for line in display.ax_.lines if line.get_markerfacecolor() == "white"]
    np.testing.assert_array_equal(hollow[0].get_xydata(), [[found.mean[0], 0]])
    assert len(hollow) == 1 and "hollow: " in display.note_


def test_effects_have_a_line_at_zero(by_units, topics, texts):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, (30, topics.n_features_in_))
    for table in (
        topics.effects(counts, np.arange(30) > 14, n_draws=5),
        by_units.effects(texts, np.arange(len(texts)) % 3 == 0, word="ant", n_permutations=20),
    ):
        display = plotting.ForestDisplay.from_result(table)
        _, means, intervals = drawn(display)
        # the constant, which one of the tables has, is no effect
        assert table.terms[-1] == "x0" and set(table.terms) <= {"(intercept)", "x0"}
        np.testing.assert_array_equal(means, table.mean[-1])
        np.testing.assert_array_equal(intervals, table.interval[-1])
        assert display.ax_.get_title(loc="left") == "x0"
        assert [0.0, 0.0] in [list(line.get_xdata()) for line in display.ax_.lines]
        assert [t.get_text() for t in display.ax_.texts][1] == f"{table.p_value[-1, 0]:.3f}"


def test_lengths_that_are_not_decided_are_hollow(by_units, texts):
    """As what is not known elsewhere: the interval does not show it."""
    axes = {"end": ("bee", "cat")}
    x = {"a": np.arange(len(texts)) % 3 == 0, "b": np.arange(len(texts)) > 40}
    table = by_units.effects(texts, x, word="ant", axes=axes, n_permutations=20)
    table = replace(table, p_value=np.array([[0.3, 0.3], [0.01, 0.3]]))
    display = plotting.ForestDisplay.from_result(table)
    hollow = [line for line in display.ax_.lines if line.get_mfc() == "white"]
    np.testing.assert_array_equal(hollow[0].get_xydata(), [[table.mean[0, 0], 0.0]])
    assert noted(display) == display.note_ == "hollow: not decided whether the vector differs"


def test_topics_that_have_not_mixed_are_hollow(topics):
    counts = np.random.default_rng(0).poisson(0.5, (30, topics.n_features_in_))
    design = {"a": np.arange(30.0), "b": np.arange(30) % 2}
    table = replace(topics.effects(counts, design, n_draws=5), unmixed=np.array([1]))
    n = table.mean.shape[1]
    sizes = replace(topics.topic_info(3), unmixed=np.array([1]))
    for found, wanted in ((table, table.interval[-2:]), (sizes, sizes.interval)):
        display = plotting.ForestDisplay.from_result(found)
        _, means, intervals = drawn(display)
        rows = np.arange(len(means)) % n != 1
        np.testing.assert_array_equal(intervals, wanted.reshape(-1, 2)[rows])
        hollow = [line for line in display.ax_.lines if line.get_mfc() == "white"]
        np.testing.assert_array_equal(hollow[0].get_xdata(), means[~rows])
        assert noted(display).endswith("hollow: chains have not mixed (topic 1)")
    p = [t.get_text() for t in plotting.ForestDisplay.from_result(table).ax_.texts][1:]
    assert [text != "" for text in p] == [k != 1 for k in range(n)] * 2


def test_labels_of_several_lines_keep_apart():
    labels = [f"{k} a label that is far too long for a line" for k in range(6)]
    size = (3.4, marks.forest_height(labels))
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    marks.forest(axes, labels, np.zeros(6), np.tile([-1.0, 1.0], (6, 1)))
    for text in axes.get_yticklabels():
        text.set_fontsize(8)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
    assert all(a.y0 >= b.y1 for a, b in zip(boxes[:-1], boxes[1:], strict=True))


def test_sizes_of_topics(topics):
    table = topics.topic_info(3)
    labels = [f"{k}: {' '.join(words)}" for k, words in enumerate(table.words)]
    check(plotting.ForestDisplay.from_result(table), labels, table.share, table.interval)


@pytest.mark.parametrize("what", ["matrix", "text"])
def test_what_has_no_rows_is_refused(what, by_units, texts):
    result = by_units.document_similarity(texts[:2]) if what == "matrix" else "ant"
    with pytest.raises(TypeError, match="must be a table of words"):
        plotting.ForestDisplay.from_result(result)


def test_another_estimator_is_refused(senses):
    with pytest.raises(TypeError, match="most_similar, got DiSCSenseModel"):
        plotting.NeighborsDisplay.from_estimator(senses, "ant")


def test_axes_that_are_given_are_drawn_on_and_keep_their_style(by_units):
    figure, axes = plt.subplots()
    before = axes.xaxis.label.get_size()
    display = plotting.NeighborsDisplay.from_estimator(by_units, "ant", 3, ax=axes)
    assert display.ax_ is axes and display.figure_ is figure
    assert axes.xaxis.label.get_size() == before and axes.spines["top"].get_visible()
    assert plt.get_fignums() == [figure.number]


def test_drawing_again_takes_the_figure_that_is_open(by_units):
    display = plotting.NeighborsDisplay.from_estimator(by_units, "ant", 3)
    first = display.figure_
    assert display.plot() is display and display.figure_ is first
    assert len(first.axes) == 1 and plt.get_fignums() == [first.number]
    plt.close(first)
    assert display.plot().figure_ is not first
    _, axes = plt.subplots()
    assert display.plot(axes).ax_ is axes


def test_what_are_no_axes_is_refused(by_units):
    display = plotting.NeighborsDisplay.from_estimator(by_units, "ant", 3)
    with pytest.raises(ValueError, match="ax must be Axes of matplotlib or None, got 'here'"):
        display.plot("here")
    _, axes = plt.subplots(2)
    with pytest.raises(ValueError, match="ax must be Axes of matplotlib"):
        display.plot(axes)


def test_nothing_is_cut_at_the_width_of_a_column(by_units):
    words = ["ant", ["bee", "cat", "dog", "elk", "fox"]]
    display = plotting.NearerDisplay.from_estimator(by_units, "hen", words)
    check_inside(display)
    assert display.ax_.xaxis.label.get_size() == 8.0


def check_inside(display):
    """Every text lies within a figure of a column's width."""
    figure = display.figure_
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == 3.4
    inside, ax = figure.bbox, display.ax_
    # of ticks beyond an axis, which are not drawn
    beyond = [
        tick.label1
        for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim()))
        for tick in axis.get_major_ticks()
        if not min(limits) <= tick.get_loc() <= max(limits)
    ]
    for text in figure.findobj(plt.Text):
        if text.get_visible() and text.get_text() and text not in beyond:
            box = text.get_window_extent()
            assert inside.x0 <= box.x0 and box.x1 <= inside.x1, text.get_text()
            assert inside.y0 <= box.y0 and box.y1 <= inside.y1, text.get_text()


def test_long_titles_and_labels_are_wrapped(by_units):
    """And differences, which have a sign, are held against zero."""
    many = [["ant", "bee", "cat"], ["dog", "elk", "fox"]]
    found = by_units.similarity_difference(many, [["gnu", "hen"], ["ant", "dog"]])
    entries = {"own": np.array([True, False]), "proba": np.full(2, 0.5), "verdicts": ["", ""]}
    table = OverSettings(
        [{"n_components": 3}, {"n_components": 6}], ["", ""], np.array([0.1, 0.2]),
        np.array([[-0.1, 0.2], [0.1, 0.3]]), **entries, notes=["", ""], title=found.title, prob=0.9,
        proba_of="prob_positive",
    )._resting_on("units")  # fmt: skip
    for result, shown in ((found, "get_xlabel"), (table, "get_title")):
        display = plotting.ForestDisplay.from_result(result)
        check_inside(display)
        text = getattr(display.ax_, shown)(*(["left"] if shown == "get_title" else []))
        assert "\n" in text and " ".join(text.split()).startswith(found.title)
        assert [0.0, 0.0] in [list(line.get_xdata()) for line in display.ax_.lines]
    # rows are as high as their own labels, and those of one setting stand together
    params = [{"n_components": 10, "max_features": 800, "window": 5}] * 2 + [{"window": 2}] * 2
    entries = {"own": np.arange(4) < 2, "proba": np.full(4, np.nan), "verdicts": [""] * 4}
    several = OverSettings(
        params, ["god", "law"] * 2, np.zeros(4), np.tile([-0.1, 0.2], (4, 1)), **entries,
        notes=[""] * 4, title=None, prob=0.9, proba_of=None,
    )._resting_on("units")  # fmt: skip
    display = plotting.ForestDisplay.from_result(several)
    zero = [0.0, 0.0]
    slopes = plotting.ForestDisplay.from_result(replace(several, verdicts=["not decided"] * 4))
    assert zero in [list(line.get_xdata()) for line in slopes.ax_.lines]
    assert zero not in [list(line.get_xdata()) for line in display.ax_.lines]
    assert ticks(display) == ["own: god", "law", "window=2: god", "law"]
    assert "own: n_components=10, max_features=800, window=5" in noted(display)
    apart = np.diff(display.points_.get_ydata())
    assert apart[0] == apart[2] == 1.0 and apart[1] > 1.0
    check_inside(display)
    one = marks.forest_height(["a"] * 5 + ["b " * 60])
    assert one < marks.forest_height(["b " * 60] * 6) / 2
    # without a sign there is no such line
    plain = plotting.ForestDisplay.from_result(by_units.similarity("ant", "bee")).ax_
    assert [0.0, 0.0] not in [list(line.get_xdata()) for line in plain.lines]
    one = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
    check_inside(plotting.RankDisplay.from_posterior(one))
    check_inside(plotting.NeighborsDisplay.from_result(
        replace(by_units.most_similar(sum(many, []), 2), prob_top=np.array([0.1, 0.01]))
    ))  # fmt: skip


def test_without_matplotlib_the_extra_is_named(by_units, monkeypatch):
    display = plotting.NeighborsDisplay(by_units.most_similar("ant", 3))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"NeighborsDisplay.plot needs .* skbayesembed\[plot\]"):
        display.plot()


def test_displays_pickle_without_their_figures(by_units):
    import pickle

    display = plotting.NeighborsDisplay.from_estimator(by_units, "ant", 3)
    again = pickle.loads(pickle.dumps(display))
    assert not hasattr(again, "figure_")
    np.testing.assert_array_equal(again.plot().points_.get_xdata(), display.points_.get_xdata())


def test_slopes_over_settings():
    """Slopes are held against zero, in the figure of several settings too."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=60) + 0.1 * rng.normal(size=(25, 60))
    table = regress(draws, 2 * draws.mean(axis=0) + rng.normal(size=60), names=["war"])
    display = plotting.ForestDisplay.from_result(table)
    check(display, ["war"], table.mean, table.interval)
    assert [0.0, 0.0] in [list(line.get_xdata()) for line in display.ax_.lines]
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    texts, grid = ["the cat sat", "a dog sat"] * 10, {"window": [2, 3]}
    several = over_settings(model, texts, lambda fitted: table, grid, own=False)
    assert several.verdicts == table.verdict.tolist() * 2
    np.testing.assert_array_equal(several.p_value, np.tile(table.p_value, 2))
    assert "probably" not in repr(several)
    unsure = replace(several, p_value=np.full(2, 0.06))
    told = repr(unsure).splitlines()
    assert sum(line.endswith("probably positive") for line in told) == 2
    assert "p_value" in unsure.to_frame()
    assert "'positive' is the same" in repr(several)
    plotting.ForestDisplay.from_result(several)


def test_distances_over_settings_stand_beside_their_thresholds():
    """Those of settings are on scales of their own, which an axis in common does not show."""
    ends, blank = np.array([[0.5, 1.5], [0.2, 0.6], [np.nan] * 2]), [""] * 3
    table = OverSettings(
        [{"diffusion": 10.0**-i} for i in range(3)], blank, np.array([1.0, 0.4, np.nan]), ends,
        np.arange(3) == 0, np.array([0.02, 1.0, np.nan]), ["no drift", "drifted", ""], blank,
        None, 0.9, "prob_exceeds", threshold=np.array([1.6, 0.15, np.nan]),
    )._resting_on("units")  # fmt: skip
    display = plotting.ForestDisplay.from_result(table)
    shown = {text.get_text() for text in display.ax_.texts}
    assert {"threshold", "1.6", "0.15", "P(> threshold)", "0.02", ">0.99"} <= shown
    assert "compare a distance with its threshold only" in display.note_
    check_inside(display)


def test_association_tests(by_units):
    tests = {"a": (["ant", "bee"], ["cat", "dog"], ["elk"], ["fox"])}
    tests["b"] = (["ant", "elk"], ["hen", "dog"], ["bee"], ["fox"])
    table = by_units.weats(tests)
    display = plotting.ForestDisplay.from_result(table)
    check(display, table.names.tolist(), table.mean, table.interval)
    assert [0.0, 0.0] in [list(line.get_xdata()) for line in display.ax_.lines]
    assert {"P(> 0)", "p"} <= {text.get_text() for text in display.ax_.texts}
    assert noted(display) == "p: one-sided"


def test_settings_without_data_are_not_drawn():
    """An answer that is a dash in the table has no point in the figure."""
    answer = Bunch(mean=0.2, interval=np.array([0.1, 0.3]), verdict="no data", prob_increase=0.99)
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    texts = ["the cat sat", "a dog sat"] * 10
    table = over_settings(model, texts, lambda fitted: answer, {"window": [2, 3]}, own=False)
    display = plotting.ForestDisplay.from_result(table)
    assert "no point: fewer than 10 uses" in noted(display)
    assert len(ticks(display)) == 2 and np.isnan(display.points_.get_xdata()).all()


@pytest.mark.parametrize(
    ("standardize", "old", "said"),
    [
        (False, True, "per unit of the term"),
        (True, False, "per standard deviation of the term 90 %"),
        (True, True, "per standard deviation of the term, or unit if it has two values"),
    ],
)
def test_the_axis_of_slopes_says_what_they_are_for(standardize, old, said):
    """Terms with two values keep their unit."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=(40, 1))
    table = regress(
        rng.normal(size=(20, 40, 1)), rng.normal(size=40), covariates=age > 0 if old else age,
        standardize=standardize, error="berkson",
    )  # fmt: skip
    label = " ".join(plotting.ForestDisplay.from_result(table).ax_.get_xlabel().split())
    assert said in label


def test_settings_without_data_or_answer_are_named_and_not_drawn():
    """As in the table, which has a dash; and intervals say what they rest on."""
    table = OverSettings(
        [{"window": i} for i in (2, 3, 4, 5)], [""] * 4, np.array([0.1, 0.2, np.nan, 0.3]),
        np.array([[0.0, 0.2], [0.1, 0.3], [np.nan] * 2, [0.2, 0.4]]), np.zeros(4, bool),
        np.full(4, np.nan), ["closer", "no data", "", "closer"], ["", "", "KeyError", ""], None,
        0.9, "prob_increase", sources=["vi", "vi", None, "model"],
    )  # fmt: skip
    display = plotting.ForestDisplay.from_result(table)
    assert ticks(display) == ["window=2", "window=3", "window=5"]
    np.testing.assert_array_equal(display.points_.get_xdata(), [0.1, np.nan, 0.3])
    for told in ("without an answer: window=4", "no point: fewer than 10 uses", "on the model in"):
        assert told in display.note_


def test_settings_that_are_doubtful_are_drawn_so():
    """Those whose chains have not mixed without interval, those with other senses pale."""
    ends = np.array([[0.0, 0.2], [0.1, 0.3], [0.2, 0.4]])
    table = OverSettings(
        [{"n_senses": i} for i in (2, 3, 4)], [""] * 3, ends.mean(axis=1), ends,
        np.arange(3) == 0, np.full(3, np.nan), [""] * 3, [""] * 3, None, 0.9, None,
        sources=["posterior", "unmixed", "posterior"],
        _of_others=np.array([False, False, True]),
    )  # fmt: skip
    display = plotting.ForestDisplay.from_result(table)
    drawn = display.intervals_.get_segments()
    np.testing.assert_allclose([line[0][0] for line in drawn], [0.0, 0.2])
    assert list(display.intervals_.get_alpha()) == [1.0, 0.3]
    hollow = [line for line in display.ax_.lines if line.get_markerfacecolor() == "white"]
    np.testing.assert_allclose(hollow[0].get_xdata(), [0.2, 0.3])
    for told in ("hollow, without interval: chains have not mixed", "pale: senses are others"):
        assert told in display.note_
    # where no chain has mixed the label of intervals says it
    alike = replace(table, sources=["unmixed"] * 3, _of_others=None)._resting_on("unmixed")
    display = plotting.ForestDisplay.from_result(alike)
    assert "chains have not mixed" in display.ax_.get_xlabel() and display.note_ == ""


def test_a_figure_is_drawn_again_on_the_same_axes():
    """As in a notebook that is run again: ticks that were set give way."""
    figure, axes = plt.subplots(figsize=(1.2, 2))
    ends = np.array([[0.1, 0.2], [0.15, 0.4]])
    for _ in range(2):
        marks.forest(axes, ["a", "b"], ends.mean(axis=1), ends)
        figure.draw_without_rendering()
        axes.set_xticks([0.1, 0.4])
    assert len(axes.lines) == 2
    plt.close(figure)


@pytest.fixture(scope="module")
def without_text(texts):
    """A fit by units whose first period has no text."""
    years = 1900 + 10 * (np.arange(len(texts)) % 2)
    options = {"min_count": 1, "random_state": 0, "n_jobs": 1, "bins": [1885, 1895, 1905, 1915]}
    return quietly(DynamicSGNS(2, solver="map", **options).fit, texts, times=years)


def test_words_of_a_period_without_text_are_no_point_estimate(without_text):
    """The table keeps what intervals rest on, and the figure says why it is empty."""
    period = without_text.periods_.labels[0]
    why = f"8 words have fewer than 10 uses or too few units in {period} and are not ranked"
    others = why.replace("8", "7", 1), why.replace("8", "5", 1)
    tables = (
        without_text.most_similar("ant", 3, period=period),
        without_text.analogy("ant", "bee", "fox", 3, period=period),
    )
    for table, why in zip(tables, others, strict=True):
        assert table.source == "units" and table.n_units.shape == (0,) and table.n_draws > 1
        assert "point estimate" not in repr(table) and f"({why})" in repr(table)
        assert table.to_frame().empty and table.sentence is None
        display = plotting.ForestDisplay.from_result(table)
        check_inside(display)
        assert display.ax_.get_xlabel() == "cosine\n90 % interval (sampling of documents)"
        assert noted(display) == display.note_ == why
        assert not display.ax_.texts and not len(display.ax_.get_xticks())
        assert display.ax_.get_window_extent().height > 10


def test_a_map_of_a_word_says_why_it_has_no_neighbors(without_text, by_units):
    period = without_text.periods_.labels[0]
    with pytest.raises(ValueError, match=f"got 'ant' with 0: 7 words have .* in {period}"):
        plotting.WordMapDisplay.from_estimator(without_text, "ant", period=period)
    assert len(plotting.WordMapDisplay.from_estimator(by_units, "ant", 2).texts_) == 3


def check_apart(axes):
    """A title overlaps no head of a column."""
    axes.figure.draw_without_rendering()
    title = axes._left_title.get_window_extent()
    assert not any(title.overlaps(text.get_window_extent()) for text in axes.texts)


def test_a_title_keeps_apart_from_the_head_of_one_column(by_units):
    """It is lifted where it reaches the head, in axes that are given too, and else is not."""
    long = replace(by_units.nearer("ant", ["elk", "fox"]), word="w" * 24)
    short = replace(long, word="ant")
    heights = []
    for table in (long, short):
        display = plotting.NearerDisplay.from_result(table)
        check_apart(display.ax_)
        check_inside(display)
        heights.append(display.figure_.get_size_inches()[1])
        _, axes = plt.subplots(figsize=(3.4, 2.0), layout="constrained")
        size = axes.title.get_fontsize()
        plotting.NearerDisplay.from_result(table, ax=axes)
        check_apart(axes)
        assert axes._left_title.get_fontsize() == size
    assert heights[0] > heights[1]
    check_apart(plotting.ForestDisplay.from_result(by_units.analogy("ant", "bee", "fox", 3)).ax_)


def test_displays_of_one_kind_of_table_take_that_kind(by_units, dynamic):
    tables = {
        "Neighbors": by_units.most_similar("ant", 3),
        "Nearer": by_units.nearer("ant", ["bee", "fox"]),
        "Projections": by_units.project(["bee"], by_units.axis("ant", "fox")),
        "Changes": dynamic.most_changed(2, min_pairs=0),
    }
    for kind in tables:
        display = getattr(plotting, f"{kind}Display")
        for other, table in tables.items():
            if other != kind:
                got = f"got {type(table).__name__}: ForestDisplay.from_result"
                with pytest.raises(TypeError, match=f"result must be a table of .*{got}"):
                    display.from_result(table)
    with pytest.raises(TypeError, match=r"neighbors, as most_similar returns it, got str\."):
        plotting.NeighborsDisplay.from_result("ant")
    assert plotting.NeighborsDisplay.from_result(tables["Neighbors"]).ax_.get_yticklabels()

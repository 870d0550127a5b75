"""Prevalences over time and genre."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.plotting import PrevalenceDisplay
from skbayesembed.plotting.labels import label_times
from skbayesembed.posterior.summary import hdi_interval
from tests.plotting.conftest import plt
from tests.plotting.test_drift import band_at


@pytest.fixture(scope="module")
def three_senses():
    made = make_senses(90, 30, n_senses=3, n_periods=3, random_state=0)
    options = {"solver": "laplace", "n_starts": 2, "draws": 60, "random_state": 0}
    return DiSCSenseModel(3, **options).fit(made.counts, times=made.times)


def test_a_panel_for_each_genre_a_line_for_each_sense(senses):
    display = PrevalenceDisplay.from_estimator(senses, prob=0.8)
    bands = senses.prevalence_interval(prob=0.8)
    assert len(display.axes_) == 2
    for g, k in np.ndindex(2, 2):
        line, filled = display.lines_[g][k], display.bands_[g][k]
        np.testing.assert_array_equal(line.get_ydata(), senses.prevalence_[k, g])
        # the second period has no snippets: the band beside it is another, pale
        times = line.get_xdata()
        np.testing.assert_allclose(band_at(filled, times[2:]), bands[k, g, 2:])
        assert times[1] not in filled.get_paths()[-1].vertices[:, 0]
    labels = [axes.get_ylabel() for axes in display.axes_]
    assert labels == [f"prevalence,\n{genre}" for genre in senses.genres_]
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "80 % band (Laplace approximation)"
    # a title that a user gives is not printed over the legend
    display.ax_.set_title("prevalences")
    display.figure_.draw_without_rendering()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y1 <= display.ax_.title.get_window_extent().y0 < legend.y1 + 0.5 * legend.height
    middles = " (points: middles of periods)"
    for times, periods, label in (
        ([1810.0, 1811.0], [1810, 1811], "year"), ([-700.0, 1900.0], ["-700", "1900"], "time"),
        ([1810.0, 1830.0], ["1800-1819", "1820-1839"], f"year{middles}"),
        ([1850.3333, 1860.0], ["1850.33", "1860"], "year"),
        ([-700.0, 1900.0], ["[-750, -650)", "[1850, 1950)"], f"time{middles}"),
    ):  # fmt: skip
        label_times(display.ax_, times, periods)
        display.ax_.set_xlim(times)
        assert display.ax_.get_xlabel() == label
        ticks = display.ax_.get_xticks()
        assert np.all(ticks == np.round(ticks))


def test_long_names_are_wrapped(senses):
    long = "a financial institution that lends money and is chartered by a state"
    assert len(long) == 68
    heights = []
    for names in (["bank", "shore"], [long, "shore"]):
        display = PrevalenceDisplay.from_estimator(senses, names=names)
        display.figure_.draw_without_rendering()
        heights.append(display.ax_.get_window_extent().height)
        legend = display.ax_.get_legend().get_window_extent()
        assert legend.x1 <= display.figure_.bbox.x1
    assert heights[1] > 0.9 * heights[0]
    label = display.lines_[0][0].get_label()
    assert label.replace("\n", " ") == long and max(map(len, label.split("\n"))) <= 44
    cut = PrevalenceDisplay.from_estimator(senses, names=[3 * long, "shore"]).lines_[0][0]
    assert cut.get_label().count("\n") == 2 and cut.get_label().endswith(" ...")
    alike = PrevalenceDisplay.from_estimator(senses, names=[f"{3 * long} {i}" for i in "ab"])
    labels = [line.get_label() for line in alike.lines_[0]]
    assert [label[-2:] for label in labels] == [" a", " b"]
    assert all(label.count("\n") == 2 and "\n... " in label for label in labels)


def test_periods_without_snippets_are_hollow(senses):
    display = PrevalenceDisplay.from_estimator(senses)
    empty = senses.prevalence_info().n_snippets == 0
    assert empty[:, 1].all()
    labels = senses.periods_.labels
    cells = ", ".join(f"{labels[1]} {genre}" for genre in senses.genres_)
    where = f"(fewer than 10 snippets in 2 cells of genre and period, {cells}: figures there rest"
    assert where in repr(senses.prevalence_info())
    change = senses.prevalence_change(0, labels[0], labels[1])
    assert change.verdict == "no data" and change.snippets[1] == 0 < change.snippets[0]
    assert "There are too few data to say" in change.sentence and str(labels[1]) in change.sentence
    for g, axes in enumerate(display.axes_):
        hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
        at = {tuple(line.get_xdata()) for line in hollow if len(line.get_xdata())}
        assert at == {tuple(senses.periods_.centres[empty[g]])}


def test_genres_and_names_can_be_chosen(senses):
    genre = senses.genres_[1]
    names = ["first", "second"]
    display = PrevalenceDisplay.from_estimator(senses, genres=[genre], names=names)
    np.testing.assert_array_equal(display.lines_[0][0].get_ydata(), senses.prevalence_[0, 1])
    assert [line.get_label() for line in display.lines_[0]] == names


def test_senses_can_be_chosen(senses):
    both = PrevalenceDisplay.from_estimator(senses)
    display = PrevalenceDisplay.from_estimator(senses, senses=[1])
    again = PrevalenceDisplay.from_result(senses.prevalence_info(), senses=[1], names=["a", "b"])
    for found in (display, again):
        assert [len(lines) for lines in found.lines_] == [1, 1]
        np.testing.assert_array_equal(found.lines_[1][0].get_ydata(), both.lines_[1][1].get_ydata())
        assert found.lines_[0][0].get_color() == both.lines_[0][1].get_color()
    assert again.lines_[0][0].get_label() == "b"
    with pytest.raises(ValueError, match="senses must be a list of numbers from 0 to 1"):
        display.plot(senses=[2])


def test_senses_can_be_added_up(three_senses):
    model = three_senses
    display = PrevalenceDisplay.from_estimator(model, senses=[[2, 1], 0], prob=0.8)
    draws = model.posterior_.flat("prevalence")[:, 0]
    sums = draws[..., 2] + draws[..., 1]
    both, one = display.lines_[0]
    np.testing.assert_allclose(both.get_ydata(), sums.mean(axis=0))
    np.testing.assert_array_equal(one.get_ydata(), model.prevalence_[0, 0])
    interval = hdi_interval(sums, prob=0.8)
    np.testing.assert_allclose(band_at(display.bands_[0][0], both.get_xdata()), interval)
    alone = PrevalenceDisplay.from_estimator(model)
    colors = [line.get_color() for line in alone.lines_[0]]
    assert [both.get_color(), one.get_color()] == [colors[2], colors[0]]
    assert both.get_label().startswith("2 + 1: ") and one.get_label().startswith("0: ")
    named = PrevalenceDisplay.from_estimator(model, senses=[[2, 1], 0], names=["shore", "bank"])
    assert [line.get_label() for line in named.lines_[0]] == ["shore", "bank"]
    table = model.prevalence_info(senses=[[2, 1], 0])
    assert len(PrevalenceDisplay.from_result(table, senses=["2 + 1"]).lines_[0]) == 1
    with pytest.raises(ValueError, match="senses must not hold lists here.*prevalence_info"):
        display.plot(senses=[[0, 1]])


def test_units_seen_are_crosses(senses):
    table = senses.prevalence_info()
    assert PrevalenceDisplay.from_result(table).crosses_ == [[], []]
    seen = np.where(table.n_snippets > 0, table.mean + 0.05, np.nan)
    found = replace(
        table, seen=seen, seen_alike=seen, units="all", n_units=np.ones(table.n_snippets.shape, int)
    )
    display = PrevalenceDisplay.from_result(found, senses=[1])
    for g in range(2):
        (cross,) = display.crosses_[g]
        np.testing.assert_array_equal(cross.get_ydata(), seen[1, g])
        assert cross.get_marker() == "x" and cross.get_ls() == "None"
        assert cross.get_color() == display.lines_[g][0].get_color()
    for name, called in ((None, "units"), ("president", "presidents")):
        found = replace(found, units_name=name)
        display = PrevalenceDisplay.from_result(found, senses=[1])
        labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert labels.count(f"mean of {called} seen") == 1
    assert "outside" not in display.axes_[-1].get_xlabel()
    many = {"n_units": np.full(table.n_snippets.shape, 9), "n_draws": 9}
    interval = np.repeat(table.mean[..., None], 2, axis=-1) + [-0.01, 0.01]
    display = PrevalenceDisplay.from_result(replace(found, interval=interval, **many), senses=[1])
    assert "crosses outside bands: the presidents seen" in display.axes_[-1].get_xlabel()


def test_a_second_mode_that_matters_is_in_the_legend(senses, monkeypatch):
    monkeypatch.setitem(senses.posterior_.attrs, "modes_that_matter", 2)
    display = PrevalenceDisplay.from_estimator(senses)
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "90 % band (Laplace approximation, in one of\nseveral modes)"
    assert display.ax_.get_position().width > 0.7


def uprights(axes):
    return [one for one in axes.collections if isinstance(one, LineCollection)]


def test_a_single_period_has_upright_intervals():
    made = make_senses(60, 20, n_senses=3, n_periods=1, random_state=0)
    options = {"solver": "laplace", "n_starts": 2, "draws": 60, "random_state": 0}
    model = DiSCSenseModel(3, **options).fit(made.counts, times=np.full(60, 2000))
    display = PrevalenceDisplay.from_estimator(model)
    intervals = model.prevalence_interval()[:, 0, 0]
    for line, made, interval in zip(
        display.lines_[0], uprights(display.ax_), intervals, strict=True
    ):
        (segment,) = made.get_segments()
        np.testing.assert_allclose(segment[:, 1], interval)
        assert segment[0, 0] == line.get_xdata()[0]
    assert len({line.get_xdata()[0] for line in display.lines_[0]}) == 3
    assert display.ax_.get_xlim() == (1999.5, 2000.5)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["2000"]
    assert display.ax_.get_legend().get_title().get_text().startswith("90 % interval")


def test_a_period_with_data_between_others_without_has_an_upright_interval(senses):
    table = senses.prevalence_info()
    n = np.array([[30, 0, 30, 0], [0, 30, 30, 0]])
    display = PrevalenceDisplay.from_result(replace(table, n_snippets=n))
    lone, none = ([made.get_segments() for made in uprights(axes)] for axes in display.axes_)
    assert none == []
    for k, segments in enumerate(lone):
        ends = np.array([segment[:, 1] for segment in segments])
        np.testing.assert_allclose(ends, table.interval[k, 0, [0, 2]])


def test_senses_are_told_apart_without_colors(three_senses):
    lines = PrevalenceDisplay.from_estimator(three_senses).lines_[0]
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == 3
    assert len({line.get_marker() for line in lines}) == 3
    words = [line.get_label().count(", ") for line in lines]
    assert words == [2, 2, 2]


def test_senses_and_other_keys_have_a_column_each(senses):
    table = senses.prevalence_info()
    display = PrevalenceDisplay.from_result(table, names=["a sense with a name", "b"])
    display.figure_.draw_without_rendering()
    texts = display.ax_.get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["a sense with a name", "b", "few data", " "]
    boxes = [text.get_window_extent() for text in texts]
    assert boxes[2].x0 > boxes[0].x1 and boxes[2].y0 == pytest.approx(boxes[0].y0, abs=3)
    long = PrevalenceDisplay.from_result(table, names=["a sense that has a very long name", "b"])
    assert len(long.ax_.get_legend().get_texts()) == 3


def test_axes_can_be_given(senses):
    _, axes = plt.subplots(1, 2)
    display = PrevalenceDisplay.from_result(senses.prevalence_info(), ax=axes)
    assert list(display.axes_) == list(axes)
    assert [line.get_label() for line in display.lines_[0]] == ["sense 0", "sense 1"]
    with pytest.raises(ValueError, match="ax must be a list of 2 Axes"):
        display.plot(axes[0])


def test_bad_arguments_are_refused(senses, by_units):
    with pytest.raises(ValueError, match="genres must be a list of some of"):
        PrevalenceDisplay.from_estimator(senses, genres=["drama"])
    with pytest.raises(ValueError, match="names must name each of the 2 senses, got 1"):
        PrevalenceDisplay.from_estimator(senses, names=["one"])
    with pytest.raises(TypeError, match="prevalence_info, got BayesianSGNS"):
        PrevalenceDisplay.from_estimator(by_units)


def test_tables_of_senses_added_up_are_called_by_them(three_senses):
    table = three_senses.prevalence_info(senses=[[0, 2], 1])
    period = table.periods[0]
    assert table.labels.tolist() == ["0 + 2", "1"] and table["sense"][0] == "0 + 2"
    assert "\nsense 0 + 2\n" in repr(table)
    said = table.sentences["0 + 2", period]
    assert said.startswith(f"The prevalence of senses 0 and 2 together in {period} is ")
    assert table.sentences["1", period].startswith("The prevalence of sense 1 in")
    assert table.interval_mcse.shape == table.interval.shape
    for senses in ([], [[0, 1, 2]], [3], "0", [[]]):
        with pytest.raises(ValueError, match="senses must"):
            three_senses.prevalence_info(senses=senses)
    for senses in ([[0, 1], [1, 2]], [[0, 2], 0], [1, 1]):
        with pytest.raises(ValueError, match=r"senses must .* which has . more than once"):
            three_senses.prevalence_info(senses=senses)

"""Words of senses and topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from skbayesembed.plotting import SenseWordsDisplay, TopicWordsDisplay
from skbayesembed.plotting.marks import PALE_LINE
from tests.plotting.conftest import plt


def check(display, table, chosen):
    for place, k in enumerate(chosen):
        axes = display.axes_[place]
        labels = [text.get_text() for text in axes.get_yticklabels()]
        assert labels == table.words[k].tolist()
        np.testing.assert_array_equal(display.points_[place].get_xdata(), table.mean[k])
        segments = display.intervals_[place].get_segments()
        np.testing.assert_array_equal([s[:, 0] for s in segments], table.interval[k])
        low, high = axes.get_xlim()
        ends = table.interval[k].min(), table.interval[k].max()
        # room for whole marks, and an axis that is as long as probabilities are apart
        assert 0.0 <= low <= ends[0] and high > ends[1]
        assert low == 0.0 or (ends[0] - low) + (high - ends[1]) < 0.2 * (ends[1] - ends[0])


def test_senses(senses):
    table = senses.sense_words(5, period=2, prob=0.8)
    display = SenseWordsDisplay.from_estimator(senses, 5, period=2, prob=0.8)
    check(display, table, [0, 1])
    display = SenseWordsDisplay.from_result(table, names=["shore", "bank"])
    assert [axes.get_title("left") for axes in display.axes_] == ["shore", "bank"]
    assert "80 % interval (Laplace approximation)" in display.figure_.get_supxlabel()


def test_words_of_a_period_without_snippets_are_hollow(senses):
    """As in other figures: what neighboring periods lend is not shown as data are."""
    labels = senses.periods_.labels
    few = [senses.sense_words(4, period=label).few for label in labels]
    assert few == [False, True, False, False]
    display = SenseWordsDisplay.from_estimator(senses, 4, period=labels[1])
    assert "hollow: few data (fewer than 10 snippets)" in display.figure_.get_supxlabel()
    for axes, points, lines in zip(display.axes_, display.points_, display.intervals_, strict=True):
        hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
        np.testing.assert_array_equal(hollow[0].get_xdata(), points.get_xdata())
        assert np.all(np.asarray(lines.get_alpha()) == PALE_LINE)
    for period in (labels[2], None):
        known = SenseWordsDisplay.from_estimator(senses, 4, period=period)
        assert "hollow" not in known.figure_.get_supxlabel()
        assert known.points_[0].get_marker() == "|"


def test_long_names_are_wrapped(senses):
    long = "a financial institution of the states"
    display = SenseWordsDisplay.from_estimator(senses, 5, names=[long, "shore"])
    title = display.axes_[0].get_title("left")
    assert title.replace("\n", " ") == long and max(map(len, title.split("\n"))) <= 19
    display.figure_.draw_without_rendering()
    left, right = (axes._left_title.get_window_extent() for axes in display.axes_)
    assert left.x1 < right.x0


def test_names_that_differ_at_the_end_have_titles_that_do(senses):
    names = [
        f"a financial institution of all the confederated {of} states" for of in ("us", "them")
    ]
    display = SenseWordsDisplay.from_estimator(senses, 5, names=names)
    titles = [axes.get_title("left") for axes in display.axes_]
    assert [title.split("\n")[-1] for title in titles] == ["us states", "them states"]


def test_the_order_of_relevance_is_told(senses):
    for rank in ("probable", "relevant"):
        figure = SenseWordsDisplay.from_estimator(senses, 5, rank=rank).figure_
        assert ("in order of relevance" in figure.get_supxlabel()) == (rank == "relevant")


def test_scales_that_differ_are_told(topics):
    table = topics.top_words(4)
    same = replace(table, mean=table.mean[[0] * 3], interval=table.interval[[0] * 3])
    for result, told in ((table, True), (same, False)):
        figure = TopicWordsDisplay.from_result(result).figure_
        assert ("panels have different scales" in figure.get_supxlabel()) == told


def test_topics(topics):
    display = TopicWordsDisplay.from_estimator(topics, 4, topics=[2, 0])
    check(display, topics.top_words(4), [2, 0])
    assert [axes.get_title("left") for axes in display.axes_] == ["topic 2", "topic 0"]
    assert "(VI, may be too narrow)" in display.figure_.get_supxlabel()


def test_short_intervals_are_seen(topics):
    """Of probabilities that are far from zero and known well; nothing is clipped or hidden."""
    table = topics.top_words(4)
    mean = np.tile([0.10, 0.09, 0.08, 0.07], (3, 1))
    interval = np.stack([mean - 4e-4, mean + 4e-4], axis=-1)
    display = TopicWordsDisplay.from_result(replace(table, mean=mean, interval=interval))
    axes, points, lines = display.ax_, display.points_[0], display.intervals_[0]
    display.figure_.draw_without_rendering()
    ends = axes.transData.transform(np.column_stack([interval[0].T.ravel(), np.zeros(8)]))[:, 0]
    length = (ends[4:] - ends[:4]) * 72 / display.figure_.dpi
    # a tick is thinner than the bar that it stands on is long
    assert points.get_marker() == "|" and np.all(length > points.get_markeredgewidth())
    assert np.all(lines.get_linewidth() < points.get_markersize())
    left, right = axes.get_xlim()
    assert 0.0 < left < interval.min() and interval.max() < right
    wide = replace(table, mean=mean, interval=np.stack([0 * mean, 2 * mean], axis=-1))
    assert TopicWordsDisplay.from_result(wide).ax_.get_xlim()[0] == 0.0


def test_means_outside_their_intervals_are_seen(topics):
    """As those of skewed posteriors may be."""
    table = topics.top_words(4)
    mean = np.tile([0.05, 0.03, 0.02, 0.01], (3, 1))
    interval = np.stack([0 * mean, 0.7 * mean], axis=-1)
    display = TopicWordsDisplay.from_result(replace(table, mean=mean, interval=interval))
    assert display.ax_.get_xlim()[1] > 0.05


@pytest.mark.parametrize(
    "low, high",
    [
        pytest.param(0.0109, 0.0165, marks=pytest.mark.slow),
        (0.0, 0.031),
        (0.0112, 0.0119),
        pytest.param(0.012345, 0.012349, marks=pytest.mark.slow),
    ],
)
def test_labels_of_ticks_do_not_touch(topics, low, high):
    table = topics.top_words(4)
    mean = np.tile(np.linspace(high, low, 4), (3, 1))
    interval, words = np.stack([mean, mean], axis=-1), np.full((3, 4), "administration")
    display = TopicWordsDisplay.from_result(
        replace(table, words=words, mean=mean, interval=interval)
    )
    display.figure_.draw_without_rendering()
    gap = 3.0 * display.figure_.dpi / 72
    for axes in display.axes_:
        left, right = axes.get_xlim()
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        boxes = [text.get_window_extent() for at, text in ticks if left <= at <= right]
        assert boxes and all(a.x1 + gap < b.x0 for a, b in pairwise(boxes))
    # a scale needs two, where they have room
    assert len(boxes) > 1 or high - low < 1e-3


def test_topics_that_have_not_mixed_have_no_intervals(topics):
    table = replace(topics.top_words(4), unmixed=np.array([1]))
    display = TopicWordsDisplay.from_result(table)
    assert [len(lines.get_segments()) for lines in display.intervals_] == [4, 0, 4]
    titles = [axes.get_title("left") for axes in display.axes_]
    assert titles == ["topic 0", "topic 1 (not mixed)", "topic 2"]


def test_a_panel_that_is_left_over_is_not_seen(topics):
    display = TopicWordsDisplay.from_estimator(topics, 4)
    assert len(display.axes_) == 3  # all topics
    assert [axes.get_visible() for axes in display.figure_.axes] == [True] * 3 + [False]


@pytest.mark.parametrize("chosen", [[3], [-1], [], ["a"]])
def test_unknown_topics_are_refused(chosen, topics):
    with pytest.raises(ValueError, match="topics must be a list of numbers from 0 to 2"):
        TopicWordsDisplay.from_estimator(topics, 4, topics=chosen)


def test_names_are_as_many_as_topics(topics):
    with pytest.raises(ValueError, match="names must name each of the 3 topics, got 1"):
        TopicWordsDisplay.from_estimator(topics, 4, names=["one"])


def test_axes_in_a_part_of_a_figure(topics):
    part, _ = plt.figure().subfigures(1, 2)
    axes = part.subplots(1, 3)
    display = TopicWordsDisplay.from_estimator(topics, 4, ax=axes)
    assert display.axes_.tolist() == axes.tolist()


def test_tables_of_another_kind_are_refused(senses, topics):
    """Words of topics are no words of senses, which a figure would call them."""
    of_senses, of_topics = senses.sense_words(3), topics.top_words(3)
    told = r"words of senses, as sense_words returns it, got TopicWords: .*TopicWordsDisplay"
    with pytest.raises(TypeError, match=told):
        SenseWordsDisplay.from_result(of_topics)
    told = r"words of topics, as top_words returns it, got SenseWords: .*SenseWordsDisplay"
    with pytest.raises(TypeError, match=told):
        TopicWordsDisplay.from_result(of_senses)
    with pytest.raises(TypeError, match=r"got str\."):
        TopicWordsDisplay.from_result("words")

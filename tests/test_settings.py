"""One question over several settings."""

import time
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS, DiSCSenseModel, GaussianLDA, over_settings, regress
from skbayesembed.common.interruption import tell_of_interruption
from skbayesembed.common.warnings import note_user
from skbayesembed.datasets import make_topics
from skbayesembed.inference.kinds import Kinds
from skbayesembed.io import load
from skbayesembed.posterior.deciding import surely
from skbayesembed.posterior.over_settings import OverSettings

pytestmark = pytest.mark.usefixtures("few_simulated")

TEXTS = ["the cat sat on the mat", "a dog ate the old bone", "the cat ate a mouse"] * 6
MODEL = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)


def ask(model):
    return model.similarity("cat", "dog")


@pytest.fixture(scope="module")
def table():
    grid = [{"window": [1, 3]}, {"max_features": [2]}, {"n_components": [3], "window": [3]}]
    return over_settings(MODEL, TEXTS, ask, grid, units=np.arange(18))


def test_rows_are_those_of_fits_by_hand(table):
    model = MODEL.set_params(window=3).fit(TEXTS, units=np.arange(18))
    answer = ask(model)
    MODEL.set_params(window=5)
    assert table.params[2] == {"window": 3}
    assert table.mean[2] == answer.mean
    np.testing.assert_array_equal(table.interval[2], answer.interval)
    # the estimator as it is comes first
    assert table.own.tolist() == [True] + [False] * 4
    assert table.params[0] == {"window": 5, "max_features": None, "n_components": 2}
    assert table.settings[0].endswith("n_components=2 (own)")
    own = ask(MODEL.fit(TEXTS, units=np.arange(18)))
    np.testing.assert_array_equal(table.interval[0], own.interval)
    # a fit that is there already is asked, and no other is made in its place
    grid = {"window": [3]}
    again = over_settings(MODEL, TEXTS, ask, grid, own="fitted", units=np.arange(18))
    np.testing.assert_array_equal(again.interval, table.interval[[0, 2]])
    assert again.own.tolist() == [True, False]
    with pytest.raises(NotFittedError):
        over_settings(clone(MODEL), TEXTS, ask, grid, own="fitted")
    assert table.prob == 0.9 and table.source == "units" and table.title == answer.title


def test_a_setting_that_fails_is_a_row_with_the_reason(table):
    failed = [p == {"max_features": 2} for p in table.params]
    assert np.isnan(table.mean).tolist() == failed
    assert "not in the vocabulary of 2 words" in table.notes[failed.index(True)]
    assert "KeyError" in repr(table) and "(1 failed: see the notes)" in repr(table)
    assert "(estimates from" in repr(table)
    long = replace(table, notes=["A word. " + "word " * 60] * len(table))
    assert "(notes are cut: the attribute notes has them whole)" in repr(long)
    assert "(1) A word. ..." in repr(long)
    assert "these texts alone" not in repr(table)
    model = clone(MODEL).set_params(uncertainty="model", solver="laplace")
    assert "intervals are for these texts alone" in repr(
        over_settings(model, TEXTS, ask, {"window": [3]})
    )
    frame = pytest.importorskip("pandas") and table.to_frame()
    assert {"setting", "mean", "low", "high", "window", "max_features", "note"} <= set(frame)
    # the value in effect, also where a setting does not name it
    grid = [{"window": [2]}, {"max_features": [None, 9]}]
    frame = over_settings(MODEL, TEXTS, ask, grid, own=False).to_frame()
    assert frame["window"].tolist() == ["2", "5", "5"]
    assert frame["max_features"].tolist() == ["None", "None", "9"]


def test_figure(table):
    pytest.importorskip("matplotlib").use("Agg")
    from skbayesembed.plotting import ForestDisplay

    display = ForestDisplay.from_result(table)
    own, *shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    # the setting of several parameters is below the axis
    label = " ".join(display.figure_.get_supxlabel().split())
    assert own == "own" and label.endswith(
        "own: window=5, max_features=None, n_components=2; without an answer: max_features=2"
    )
    assert shown == ["window=1", "window=3", "n_components=3,\nwindow=3"]
    assert "90 % interval" in display.ax_.get_xlabel()


def test_answers_of_several_entries_and_numbers():
    def nearer(model):
        return model.nearer("cat", ["dog", "mat", "bone"])

    def slopes(model):
        draws = np.random.default_rng(0).normal(size=(20, 18, 2))
        return regress(draws, np.arange(18), names=["cat", "dog"], error="berkson")

    table = over_settings(MODEL, TEXTS, nearer, {"window": [2]}, own=False)
    assert sorted(table.entries) == ["bone", "dog", "mat"]
    assert "P(nearest)" in repr(table) and abs(table.proba.sum() - 1) < 1e-9
    table = over_settings(MODEL, TEXTS, slopes, {"window": [2, 5]})
    assert table.entries == ["cat", "dog"] * 2 and len(table.verdicts) == 4
    assert set(table.verdicts) <= {"positive", "negative", "not decided"}
    assert "the verdict" in repr(table) and "cat: " in repr(table)
    assert table.title == "slopes of outcome"
    number = over_settings(MODEL, TEXTS, lambda m: float(m.n_iter_), {"window": [2]}, n_jobs=1)
    assert np.isnan(number.interval).all() and number.mean[0] >= 1


@pytest.mark.parametrize(
    "grid, own, lines",
    [
        (
            [2, 3, 7, 9],
            True,
            ["the sign is decided in 3 of 5 settings (own: positive): positive in 2, negative in 1",
             "the verdict 'larger' changes to 'smaller' or 'not decided' in 3 of the 4 other"],
        ),
        (
            [2, 3, 5, 7],
            True,
            ["decided in 3 of 4 settings (own: positive): positive in 2",
             "'larger' changes to 'smaller' or 'not decided' in 3 of the 3"],
        ),
        (
            [2, 3, 7],
            False,
            ["decided in 2 of 3 settings: positive in 1",
             "'smaller' changes to 'not decided' in"],
        ),
        ([4], True, ["the sign is the same in both", "verdict 'larger' is the same in both"]),
    ],
)  # fmt: skip
def test_signs_and_verdicts_are_held_against_the_own_setting(grid, own, lines, monkeypatch):
    """Of an answer that depends on the window by a rule."""
    monkeypatch.setattr(BayesianSGNS, "fit", lambda self, X: self)
    verdicts = {2: "smaller", 3: "smaller", 4: "larger", 5: "larger", 7: "not decided", 9: "larger"}

    def question(model):
        value = model.window - 3.5 if model.window < 9 else -1.0
        chance = 1 / (1 + np.exp(-4 * value))
        ends = (value - 1, value + 1)
        return Bunch(
            mean=value, interval=ends, prob_positive=chance, verdict=verdicts[model.window]
        )

    table = over_settings(MODEL, TEXTS, question, {"window": grid}, own=own)
    assert table.own.sum() == own and len(table) == len({*grid, 5}) - (not own)
    assert table.proba_of == "prob_positive" and "P(> 0)" in repr(table)
    np.testing.assert_array_equal(table.proba > 0.5, table.mean > 0)
    for line in lines:
        assert line in repr(table)
    verdicts[grid[0]] = "no data"
    rest = len(table) - 1
    without = repr(over_settings(MODEL, TEXTS, question, {"window": grid}, own=own))
    assert f"(no data in 1 of {rest + 1} settings: a dash, and left out" in without
    kept = table.mean[[one["window"] != grid[0] for one in table.params]]
    assert (f"from {kept.min():.3f} to {kept.max():.3f}" in without) == (rest > 1)


def rows_with(mean, interval, **changes):
    """A table of given estimates, the first the estimator's own."""
    n, blank = len(mean), [""] * len(mean)
    about = dict(
        params=[{"window": i} for i in range(n)], entries=blank, mean=np.array(mean),
        interval=np.array(interval), own=np.arange(n) == 0, proba=np.full(n, np.nan),
        verdicts=blank, notes=blank, title=None, prob=0.9, proba_of="prob_increase",
    )  # fmt: skip
    return OverSettings(**about | changes)


def test_signs_that_no_setting_decides_do_not_change():
    signs = "the sign is not decided in any of the 3 settings: all intervals contain zero"
    table = rows_with([0.01, -0.02, -0.01], [[-0.2, 0.2], [-0.3, 0.2], [-0.2, 0.1]])
    assert f"({signs})" in repr(table)
    assert "all 3 intervals contain the values from -0.200 to 0.100" in repr(table)
    assert "contain the value 0.100)" in repr(rows_with([0.1] * 2, [[0.1, 0.1], [0.0, 0.2]]))
    alike = rows_with([0.01, 0.02], [[-0.4, 0.45], [-0.5, 0.52]])
    assert "(the sign is not decided in either setting: both intervals contain zero)" in repr(alike)
    apart = rows_with([0.01, -0.4], [[-0.2, 0.2], [-0.5, -0.3]])
    assert "(own: not decided): negative in 1)" in repr(apart)
    assert "no value is in both intervals" in repr(apart)
    # points have no interval that could hold zero
    points = rows_with([0.1, -0.1], np.full((2, 2), np.nan))
    assert "the sign changes in the other setting" in repr(points)


def test_verdicts_that_are_only_probable_say_so():
    ends, proba = [[0.01, 0.3], [0.1, 0.3]], np.array([0.96, 0.99])
    table = rows_with([0.1, 0.2], ends, verdicts=["closer"] * 2, proba=proba)
    first, second = repr(table).splitlines()[1:3]
    assert first.endswith("probably closer") and second.endswith(" 0.99  closer")
    counted = ", 'closer' counted as the same"
    assert f"(the verdict 'probably closer' is the same in both settings{counted})" in repr(table)
    assert table.sentence.endswith(f"'probably closer' is the same in both settings{counted}.")
    # where the own setting is surer than another, and of three, one is another
    counted = ", 'probably closer' counted as the same"
    table = rows_with([0.2, 0.1], ends[::-1], verdicts=["closer"] * 2, proba=proba[::-1])
    assert f"(the verdict 'closer' is the same in both settings{counted})" in repr(table)
    three = {"verdicts": ["closer", "closer", "not decided"], "proba": np.array([0.99, 0.96, 0.9])}
    table = rows_with([0.2, 0.1, 0.1], [ends[1], ends[0], [-0.1, 0.3]], **three)
    assert (
        f"(the verdict 'closer' changes to 'not decided' in 1 of the 2 other settings{counted})"
        in repr(table)
    )
    # where none is sure, and where all are
    table = rows_with([0.1, 0.2], ends, verdicts=["closer"] * 2, proba=np.array([0.96, 0.97]))
    assert "(the verdict 'probably closer' is the same in both settings)" in repr(table)
    table = rows_with([0.1, 0.2], ends, verdicts=["closer"] * 2, proba=np.array([0.99, 0.99]))
    assert "(the verdict 'closer' is the same in both settings)" in repr(table)


def test_the_verdict_of_nearer_is_on_its_first_row():
    """And as probable as the answer itself tells it; the others are not the nearest."""
    chances = {2: [0.99, 0.01], 3: [0.96, 0.04], 4: [0.8, 0.2]}

    def question(fitted):
        chance = chances[fitted.window]
        verdict = "nearest" if chance[0] > 0.9 else "not decided"
        # that a cosine may be zero, too, does not make its word nearer
        ends = np.array([[0.5, 0.7], [0.001, 0.3]])
        about = {"mean": np.array([0.6, 0.2]), "interval": ends, "interval_mcse": ends * 0 + 0.1}
        return Bunch(words=["b", "c"], prob_nearest=np.array(chance), verdict=verdict, **about)

    table = over_settings(MODEL, TEXTS, question, {"window": [2, 3, 4]}, own=False)
    assert table.entries == ["b", "c"] * 3
    assert table._surely() == [
        "nearest", "not nearest", "probably nearest", "probably not nearest", *["not decided"] * 2
    ]  # fmt: skip
    assert (
        "(c: the verdict 'not nearest' changes to 'not decided' in 1 of 3 settings, 'prob"
        in repr(table)
    )


def test_the_sentence_on_nearer_has_probabilities():
    about = {
        "entries": ["b", "c"] * 2, "params": [{"window": i} for i in (5, 5, 2, 2)],
        "own": np.array([True, True, False, False]), "title": "cosines",
        "proba": np.array([0.96, 0.04, 0.7, 0.3]), "proba_of": "prob_nearest",
        "verdicts": ["nearest", "not nearest", "not decided", "not decided"],
    }  # fmt: skip
    table = rows_with([0.6, 0.2, 0.5, 0.4], [[0.0, 1.0]] * 4, **about)._resting_on("units")
    assert table.sentence == (
        "Over 2 settings (window 2, 5), P(nearest) is 0.70 to 0.96 for 'b' (0.96 with our own "
        "setting) and 0.04 to 0.30 for 'c' (0.04 with our own setting). Which is the nearest is "
        "decided for 'b' in 1 of 2 settings. Each interval allows for the sampling of units."
    )
    none = {"verdicts": ["not decided"] * 2 + ["no data"] * 2}
    said = rows_with([0.6, 0.2, 0.5, 0.4], [[0.0, 1.0]] * 4, **about | none).sentence
    assert "is 0.96 for 'b' and 0.04 for 'c'. Which is the nearest is not decided in any" in said
    assert said.endswith("Left out: 1 setting without an answer.")


def test_verdicts_that_hang_on_the_draws_are_probable_as_those_of_the_answer():
    """An end is as near to the threshold as other draws may bring it; so is another to zero."""
    about = {"mean": 0.4, "interval": np.array([0.31, 0.5]), "interval_mcse": np.full(2, 0.02)}
    verdicts = {2: "drifted", 3: "drifted"}

    def question(fitted):
        about["threshold"] = 0.3 if fitted.window == 2 else 0.0
        return Bunch(prob_exceeds=0.99, verdict=verdicts[fitted.window], **about)

    table = over_settings(MODEL, TEXTS, question, {"window": [2, 3]}, own=False)
    np.testing.assert_array_equal(table.interval_mcse, np.full((2, 2), 0.02))
    first, second = repr(table).splitlines()[1:3]
    assert first.endswith("probably drifted") and second.endswith("0.99  drifted")
    for verdict, row in zip(table._surely(), (2, 3), strict=True):
        value = 0.3 if row == 2 else 0.0
        assert verdict == surely(about | {"verdict": "drifted", "prob_exceeds": 0.99}, value)
    # one without errors has none
    about.pop("interval_mcse")
    assert over_settings(MODEL, TEXTS, question, {"window": [2]}, own=False).interval_mcse is None


def test_sentences():
    """From where to where, what all intervals contain, the own setting, and what is left out."""
    ends = [[0.1, 0.5], [0.2, 0.6], [0.3, 0.55]]
    table = rows_with([0.25, 0.4, 0.45], ends, title="similarity of 'a' and 'b'")
    assert table.sentences == {"": table.sentence}
    assert table.sentence == (
        "Over 3 settings (window 0, 1, 2), the estimate of the similarity of 'a' and 'b' lies "
        "between 0.25 and 0.45; all 3 of the 90% intervals contain the values from 0.30 to 0.50, a "
        "range without a probability of its own. With our own setting (window 0) it is 0.25 "
        "(90% interval 0.10 to 0.50). The sign is the same in all 3 settings."
    )
    # chains that have not mixed have no intervals
    unmixed = rows_with([0.25, 0.4, 0.45], ends)._resting_on("unmixed").sentence
    assert "interval" not in unmixed and "our own setting (window 0) it is 0.25. The" in unmixed
    assert unmixed.endswith("The chains have not mixed, so this answer is not to be used.")
    # settings that fail, and those without data
    nan, mean, more = [np.nan] * 2, [120.0, 150.0, np.nan, 140.0], {"proba_of": "prob_positive"}
    verdicts = ["larger", "not decided", "", "no data"]
    table = rows_with(mean, [[10.0, 230.0], [-20.0, 320.0], nan, nan], verdicts=verdicts, **more)
    assert table._resting_on("units").sentence == (
        "Over 4 settings (window 0, 1, 2, 3), the estimate lies between 120 and 150; both of the "
        "90% intervals contain the values from 10 to 230, a range without a probability of its "
        "own. With our own setting (window 0) it is 120 (90% interval 10 to 230). The sign is "
        "the same in both settings; the verdict 'larger' changes to 'not decided' in the other "
        "setting. Left out: 1 setting without an answer and 1 setting with too few data. "
        "Each interval allows for the sampling of units."
    )
    # several entries, and settings of several parameters
    params = [{"window": w, "prior": p} for w, p in ((5, "b"), (2, "a"))]
    two = {"params": [one for one in params for _ in range(2)], "entries": ["x", "y"] * 2}
    two |= {"own": np.zeros(4, bool), "prob": None, "proba_of": None}
    table = rows_with([0.1, 0.2, 0.1, 0.3], [nan] * 4, **two)
    assert list(table.sentences) == ["x", "y"]
    over = "Over 2 settings (window 2, 5; prior b, a), the estimate for"
    first = f"{over} 'x' is 0.10."
    assert table.sentence == f"{first} {over} 'y' lies between 0.20 and 0.30."
    assert rows_with([np.nan], [nan]).sentence == "None of 1 setting (window 0) answers."


def test_how_long_is_told_before(monkeypatch, capsys):
    """By a trial of the largest setting, with the first question; of those that have one."""
    asked = []

    def estimate_cost(self, X, units=None):
        asked.append(self.window)
        return Bunch(seconds=50.0, question=Bunch(seconds=25.0), busy=2.0)

    monkeypatch.setattr(BayesianSGNS, "estimate_cost", estimate_cost)
    monkeypatch.setattr(BayesianSGNS, "fit", lambda self, X, **given: self)

    def told(estimator=MODEL, grid=(2, 3), **given):
        over_settings(estimator, TEXTS, lambda model: 1.0, {"window": list(grid)}, **given)
        return capsys.readouterr().err.splitlines()[0].removeprefix("skbayesembed: over_settings: ")

    most = "2 fits, at most about 5 min of wall time"
    assert told(own=False, units=np.arange(18)) == most
    assert told(own=False, grid=[3, 2]) == "2 fits, about 5 min of wall time"
    assert asked == [3, 3]
    # what takes a moment is not told of, nor what the trial refuses
    assert told(times=np.arange(18)) == "3 fits"
    assert told(own=False, grid=[2]) == "1 fit" and asked == [3, 3]
    older = clone(MODEL)
    older.fitted_ = True
    assert told(older, grid=[2], own="fitted") == "1 fit, about 2.5 min of wall time"
    monkeypatch.setattr(
        BayesianSGNS, "estimate_cost", lambda *args: Bunch(seconds=1, question=None, busy=1.0)
    )
    assert told() == "3 fits"
    monkeypatch.delattr(BayesianSGNS, "estimate_cost")
    assert told() == "3 fits"


def test_each_note_is_told_once_below_the_table():
    notes = ["", "R-hat is 1.21: take more", "R-hat is 1.4: take more", "ValueError: no"]
    table = rows_with([0.1] * 4, [[0.0, 0.3]] * 4, notes=notes)
    header, *rows = repr(table).splitlines()[:5]
    at = header.index("note")
    assert [row[at:] for row in rows] == ["", "(1)", "(1)", "(2)"]
    assert "\n(1) R-hat is 1.21: take more [other figures in other rows]\n(2) ValueError" in repr(
        table
    )
    pytest.importorskip("pandas")
    assert table.to_frame()["note"].tolist() == notes


def test_all_warnings_of_a_setting_are_noted_and_those_of_convergence_first(monkeypatch):
    monkeypatch.setattr(BayesianSGNS, "fit", lambda self, X: self)

    def question(fitted):
        warnings.warn("A word is left out.", UserWarning, stacklevel=1)
        warnings.warn("A word is left out.", UserWarning, stacklevel=1)
        warnings.warn("The chains have not mixed.", ConvergenceWarning, stacklevel=1)
        return 1.0

    table = over_settings(MODEL, TEXTS, question, {"window": [2]}, own=False)
    assert table.notes == ["The chains have not mixed. A word is left out."]


def test_settings_whose_answer_is_about_other_words_have_an_answer():
    """As of `most_changed`, which names other words under other settings."""
    about = {"params": [{"window": w} for w in (1, 1, 2, 2, 3)], "entries": [*"xyxz", ""]}
    ends = [*np.tile([0.1, 0.3], (4, 1)).tolist(), [np.nan] * 2]
    table = rows_with([0.2] * 4 + [np.nan], ends, own=np.zeros(5, bool), **about)
    left_out = "1 setting without an answer"
    assert table.sentences["x"].endswith(f"Left out: {left_out}.")
    assert table.sentences["y"].endswith(
        f"Left out: {left_out} and 1 setting whose answer is about others."
    )


def test_sequences_are_told_apart():
    def settings(*bins):
        n, nan, blank = len(bins), np.full((len(bins), 2), np.nan), [""] * len(bins)
        params = [{"bins": one} for one in bins]
        return OverSettings(
            params, blank, nan[:, 0], nan, np.zeros(n, bool), nan[:, 0], blank, blank, None, None,
            None,
        ).settings  # fmt: skip

    found = settings(range(1790, 2031, 40), [1790, 1830, 1900, 2030], np.array([1.5, 2.0]), None)
    assert found == [
        "bins=range(1790, 2031, 40)", "bins=[1790, 1830, .., 2030]", "bins=[1.5, 2.0]", "bins=None"
    ]  # fmt: skip
    assert settings([1, 2, 3, 5], [1, 2, 4, 5]) == ["bins=[1, 2, 3, 5]", "bins=[1, 2, 4, 5]"]


def test_notes_are_told_once(monkeypatch, capsys):
    """And how far all settings are, where they take long."""
    monkeypatch.setattr("skbayesembed.settings._PATIENCE", -1.0)
    monkeypatch.setattr("skbayesembed.settings._BRIEF", -1.0)

    def fit(self, X):
        note_user("a note")
        return self

    monkeypatch.setattr(BayesianSGNS, "fit", fit)
    over_settings(MODEL, TEXTS, lambda model: model.window, {"window": [2, 3]})
    told = [line.removeprefix("skbayesembed: ") for line in capsys.readouterr().err.splitlines()]
    assert told[0].startswith("over_settings: 3 fits, about ") and told[2] == "a note"
    assert told[3].startswith("over_settings: the first took") and "the others about" in told[3]
    assert [text.split(": ")[-1][:24] for text in (told[1], *told[4:])] == [
        f"fit {i} of 3 begins, after" for i in (1, 2, 3)
    ]


def test_the_first_fit_says_what_takes_longer(monkeypatch, capsys):
    monkeypatch.setattr("skbayesembed.settings._BRIEF", -1.0)
    grid = [{"n_components": [2]}, {"n_components": [3]}]

    def told(**given):
        over_settings(MODEL, TEXTS, ask, own=False, **given)
        found = [line for line in capsys.readouterr().err.splitlines() if "the first took" in line]
        return found[0].partition(" if they are like it")[2]

    assert told(grid=grid) == "; those with larger n_components take longer"
    # not where the first is the largest
    assert told(grid=grid[::-1]) == "" == told(grid={"random_state": [1, 2]})


def stop_at_four(model):
    if model.n_components == 4:
        # what others have finished by then is kept
        time.sleep(0.5)
        raise KeyboardInterrupt
    return ask(model)


@pytest.mark.parametrize(
    "backend",
    ["threading", *(pytest.param(b, marks=pytest.mark.slow) for b in ("sequential", "loky"))],
)
def test_an_interruption_keeps_what_is_finished(backend, capsys):
    """Also in workers; what was not begun has a note, as what was interrupted."""
    grid, n_jobs = {"n_components": [2, 3, 4, 5]}, 1 if backend == "sequential" else 2
    with joblib.parallel_config(backend=backend):
        table = over_settings(MODEL, TEXTS, stop_at_four, grid, n_jobs=n_jobs)
    done = np.isfinite(table.mean)
    # of two workers one may be slow, and the other interrupts as soon as it is through
    least = 1 if backend == "loky" else 2
    assert done[:2].sum() >= least and not done[2] and table.own.tolist() == [True, 0, 0, 0]
    assert [note == "interrupted" for note in table.notes] == (~done).tolist()
    for i in np.flatnonzero(done[:2]):
        fitted = clone(MODEL).set_params(n_components=grid["n_components"][i]).fit(TEXTS)
        assert table.mean[i] == ask(fitted).mean
    assert "(2 not run to the end)" in repr(table) or backend != "sequential"
    assert f"over_settings: interrupted after {done.sum()} of 4 set" in capsys.readouterr().err


def test_an_interrupted_fit_is_no_answer(monkeypatch):
    """Nor are the settings after it begun."""
    begun = []

    def fit(self, X, y=None):
        begun.append(self.window)
        if self.window == 3:
            tell_of_interruption("Interrupted")
        return self

    monkeypatch.setattr(BayesianSGNS, "fit", fit)
    for model, name in ((MODEL, "window"), (make_pipeline(clone(MODEL)), "bayesiansgns__window")):
        begun.clear()
        table = over_settings(model, TEXTS, lambda fitted: 1.0, {name: [2, 3, 4]}, own=False)
        assert begun == [2, 3] and table.notes == ["", "interrupted", "interrupted"]
    with pytest.raises(KeyboardInterrupt):
        over_settings(MODEL, TEXTS, lambda fitted: 1.0, {"window": [3, 4]}, own=False)


@pytest.mark.parametrize(
    "question, grid, error, message",
    [
        ("cat", {"window": [2]}, TypeError, "question must be a function"),
        (ask, {}, ValueError, "grid must have a value"),
        (ask, {"windows": [2]}, ValueError, "windows"),
    ],
)
def test_errors(question, grid, error, message):
    with pytest.raises(error, match=message):
        over_settings(MODEL, TEXTS, question, grid)
    with pytest.raises(ValueError, match="own must be True, False or 'fitted', got 'other'"):
        over_settings(MODEL, TEXTS, ask, {"window": [2]}, own="other")


def test_an_own_answer_without_data_is_told_before_the_first_fit(capfd):
    answer = Bunch(mean=0.2, interval=np.array([0.1, 0.3]), verdict="no data", prob_increase=0.99)
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    texts = ["the cat sat", "a dog sat"] * 10
    over_settings(model.fit(texts), texts, lambda fitted: answer, {"window": [2, 3]}, own="fitted")
    told = capfd.readouterr().err
    assert "own answer is 'no data'" in told
    assert told.index("own answer") < told.index("over_settings: 2 fits")


def test_distances_of_settings_are_not_compared():
    """Each is held against a threshold of its own: their sentence has verdicts instead."""
    verdicts, proba = {2: "drifted", 3: "no drift"}, {2: 0.96, 3: 0.01}

    def question(fitted):
        window = fitted.window
        about = {"prob_exceeds": proba[window], "threshold": 0.1 * window}
        return Bunch(mean=0.2, interval=np.array([0.1, 0.3]), verdict=verdicts[window], **about)

    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    texts = ["the cat sat", "a dog sat"] * 10
    table = over_settings(model, texts, question, {"window": [2, 3]}, own=False)
    said = table.sentence
    assert "threshold of its own (window=2: probably drifted, window=3: no drift)" in said
    assert "contain" not in said
    head, first, _ = repr(table).splitlines()[:3]
    assert " threshold  P(> threshold)  verdict" in head
    assert first.split()[-5:] == ["0.300]", "0.200", "0.96", "probably", "drifted"]
    pytest.importorskip("pandas")
    frame = table.to_frame()
    assert frame["threshold"].tolist() == pytest.approx([0.2, 0.3])
    assert frame["verdict"].tolist() == ["probably drifted", "no drift"]
    # those without verdicts, as of `most_changed`, have none in their sentence
    bare = rows_with([0.2, 0.3], [[0.1, 0.3]] * 2, proba_of="prob_exceeds")
    assert "; each setting has a scale and a threshold of its own. With our" in bare.sentence
    # a setting that fails has none
    verdicts.pop(3)
    table = over_settings(model, texts, question, {"window": [2, 3]}, own=False)
    np.testing.assert_allclose(table.threshold, [0.2, np.nan])


def test_senses_of_settings_are_held_against_those_of_the_own_one():
    kinds = ["river water flood", "money loan account", "chair sit wood"]
    texts = [kinds[k] for k in (0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2)] * 5
    model = DiSCSenseModel(3, solver="map", n_starts=4, random_state=0)
    years = np.repeat([1810, 1811], 30)
    model.fit(texts, times=years)
    model.posterior_.attrs["warnings"] = "A warning of long ago."
    grid = {"n_senses": [2], "tol": [1e-8, 1e-9]}

    def ask(fitted):
        return fitted.prevalence_change(0, 1810, 1811)

    table = over_settings(model, texts, ask, grid, own="fitted", times=years)
    assert table.own.tolist() == [True, False, False]
    assert table.notes[0] == "A warning of long ago."
    for note in table.notes[1:]:
        assert "The senses are others than with the own setting: matched, they agree on" in note
    assert "In 2 settings (n_senses=2, tol=1e-08; n_senses=2, tol=1e-09) the senses are not" in (
        table.sentence
    )
    assert "(n_senses=2: " not in repr(table)

    def other(fitted):
        return fitted.prevalence_change(fitted.n_senses - 2, 1810, 1811)

    apart = over_settings(model, texts, other, {"n_senses": [2]}, own="fitted", times=years)
    assert apart.title is None
    for setting, sense in (("3 (own)", 1), ("2", 0)):
        told = f"(n_senses={setting}: change of the prevalence of sense {sense} from 1810 to 1811)"
        assert told in repr(apart)
    same = over_settings(model, texts, ask, {"tol": [1e-9]}, own="fitted", times=years)
    assert same.notes[1] == "" and "the senses" not in same.sentence


def test_senses_of_two_fits():
    sure = np.eye(3)[:, np.repeat([0, 1, 2], [50, 30, 20])]
    own = Kinds(sure)
    assert own.unlike(Kinds(0.9 * sure), "X") == ""
    turned = own.unlike(Kinds(sure[[1, 0, 2]]), "X")
    assert turned == (
        "The senses have other numbers than with X: sense 0 here is sense 1 of X and sense 1 here "
        "is sense 0 of X."
    )
    # the first two as one
    fewer = own.unlike(Kinds(np.stack([sure[0] + sure[1], sure[2]])), "X")
    assert "agree on 70 % of the snippets; sense 1 here is sense 2 of X. Answers" in fewer
    # and back: what is added to the other side has no number there
    more = Kinds(np.stack([sure[0] + sure[1], sure[2]])).unlike(own, "X")
    assert "agree on 70 % of the snippets; sense 2 here is sense 1 of X." in more
    assert own.unlike(Kinds(sure[:, :90]), "X") == (
        "The senses cannot be matched with those of X: they are of 90 snippets here and of 100 "
        "there."
    )


def test_names_of_senses_go_to_those_of_new_fits():
    kinds = ["river water flood", "money loan account"]
    texts = [kinds[k] for k in (0, 0, 0, 1, 1)] * 12
    years = np.repeat([1810, 1811], 30)
    model = DiSCSenseModel(2, solver="map", n_starts=4, random_state=0).fit(texts, times=years)
    of_money = int(model.predict(texts, times=years)[-1])
    model.name_senses({of_money: "loans"})

    def ask(fitted):
        # by another number there
        fitted_texts = fitted.predict(["money loan account"], times=[1810])
        assert fitted.sense_words(1)["sense"][fitted_texts[0]] == "loans"
        return fitted.prevalence_change("loans", 1810, 1811)

    grid = {"random_state": [1, 2, 3]}
    table = over_settings(model, texts, ask, grid, own="fitted", times=years)
    assert np.isfinite(table.mean).all() and len(table) == 4


def test_names_for_the_senses_of_another_fit():
    sure = np.eye(3)[:, np.repeat([0, 1, 2], [50, 30, 20])]
    own = Kinds(sure, np.array(["shore", "1", "loan"]))
    assert own.names_for(Kinds(sure[[2, 0, 1]])) == {0: "loan", 1: "shore"}
    assert own.names_for(Kinds(np.stack([sure[0] + sure[1], sure[2]]))) == {
        0: "shore",
        1: "loan",
    }
    assert Kinds(sure).names_for(own) is None
    assert own.names_for(Kinds(sure[:, :90])) is None


def test_fitted_embeddings_stay_fitted():
    kinds = ["river water flood", "money loan account"]
    texts = [kinds[k] for k in (0, 0, 0, 1, 1)] * 12
    vectors = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    options = {"solver": "map", "n_starts": 2, "random_state": 0}
    model = DiSCSenseModel(2, model="edisc", embedding=vectors, **options)
    years = np.repeat([1810, 1811], 30)

    def ask(fitted):
        assert fitted.embedding is vectors
        return fitted.prevalence_change(0, 1810, 1811)

    table = over_settings(model, texts, ask, {"random_state": [1]}, times=years)
    assert np.isfinite(table.mean).all() and len(table) == 2
    # settings of the embedding itself ask for another fit of it
    other = over_settings(
        model, texts, ask, {"embedding__n_components": [3]}, own=False, times=years
    )
    assert "embedding must be fitted" in other.notes[0] and vectors.n_components == 2


def test_topics_are_matched_and_their_effects_asked_for():
    data = make_topics(n_documents=60, n_words=40, n_topics=3, n_dims=5, random_state=0)
    year = {"year": np.arange(60.0)}
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0)
    table = over_settings(
        model, data.counts, lambda m: m.effects(data.counts, year), {"n_components": [4]}
    )
    assert table.entries[:3] == [f"year, topic {k}" for k in range(3)] and len(table) == 7
    expected = model.fit(data.counts).effects(data.counts, year)
    np.testing.assert_allclose(table.mean[:3], expected.mean[1])
    np.testing.assert_allclose(table.interval[:3], expected.interval[1])
    np.testing.assert_allclose(table.p_value[:3], expected.p_value[1])
    assert table.title == "effects on topic shares" and table.prob == 0.9
    assert table.source == "units" and table.of_units == 60
    # the order of what is found by another fit is not that of the first
    order = np.argsort(-data.theta.mean(axis=0))
    turned = data.theta.T[order][::-1]
    own = Kinds(data.theta.T[order], None, "topic", "documents")
    assert own.unlike(Kinds(turned), "X").startswith("The topics have other numbers than with X")


def test_effects_of_matched_topics_are_compared():
    """Three topics in another order are the same ones, whatever they are called."""
    data = make_topics(n_documents=50, n_words=40, n_topics=3, n_dims=3, random_state=3)
    design = {"x": np.random.default_rng(0).normal(size=50)}
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", min_count=1, random_state=0)
    model.fit(data.counts)
    for names in (None, ["zero", "one", "two"]):
        model.name_topics(names)
        table = over_settings(
            model, data.counts, lambda m: m.effects(data.counts, design),
            {"random_state": [1], "word_model": ["dirichlet"]}, own="fitted",
        )  # fmt: skip
        assert table.entries[3:] != sorted(table.entries[3:])  # the order is another
        own, other = (dict(zip(table.entries[a : a + 3], table.mean[a : a + 3], strict=True))
                      for a in (0, 3))  # fmt: skip
        assert own.keys() == other.keys()
        for entry in own:
            assert other[entry] == pytest.approx(own[entry], abs=0.01)
        assert "have other numbers than with the own setting: topic" in table.notes[3]
        assert "topics are not those" not in table.sentence
    # one more has no counterpart
    more = over_settings(
        model, data.counts, lambda m: m.effects(data.counts, design), {"n_components": [4]},
        own="fitted",
    )  # fmt: skip
    assert np.sum([entry.endswith("(of this setting alone)") for entry in more.entries]) == 1


def test_names_of_topics_go_to_those_of_new_fits():
    data = make_topics(n_documents=60, n_words=40, n_topics=3, n_dims=5, random_state=0)
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0).fit(data.counts)
    model.name_topics({1: "taxes"})
    year = {"year": np.arange(60.0)}

    def ask(fitted):
        row = fitted.effects(data.counts, year)
        return row.mean[1, row.names.tolist().index("taxes")]

    table = over_settings(model, data.counts, ask, {"random_state": [3, 4]}, own="fitted")
    np.testing.assert_allclose(table.mean, table.mean[0], atol=1e-3)
    assert np.isfinite(table.mean).all() and len(table) == 3


def test_effects_of_topics_that_have_not_mixed_are_told_apart():
    data = make_topics(n_documents=60, n_words=40, n_topics=3, n_dims=5, random_state=0)
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0).fit(data.counts)
    year = {"year": np.arange(60.0)}
    found = replace(model.effects(data.counts, year), unmixed=np.array([1]))
    row = found._in_a_row()
    assert np.isnan(row.interval).any(axis=1).tolist() == [False, True, False]
    assert np.isnan(row.p_value).tolist() == [False, True, False]

    def ask(fitted):
        unmixed = None if fitted.random_state == 0 else np.array([1])
        return replace(fitted.effects(data.counts, year), unmixed=unmixed, rough={2: "R-hat 1.07"})

    table = over_settings(model, data.counts, ask, {"random_state": [0, 1]})
    assert table.sources == ["units"] * 4 + ["unmixed", "units"]
    assert "Left out: 1 setting whose chains have not mixed" in table.sentences["year, topic 1"]
    assert "variational inference, and probably too small. Topic 2: rough, R-hat" in table.notes[0]
    none = over_settings(
        model, data.counts, lambda m: replace(ask(m), unmixed=np.arange(3)), {"random_state": [0]}
    )
    assert "sampling of units" not in repr(none) and "not mixed" in repr(none)


def test_rows_that_have_not_mixed_are_told_of_by_entry():
    """Of a setting with rows that have and one that has not; and of an entry that never has."""

    def ask(model):
        unmixed = "units" if model.window == 5 else "unmixed"
        return Bunch(
            terms=["a", "b", "c"], mean=np.ones(3), interval=np.full((3, 2), 0.5),
            sources=["units", unmixed, "unmixed"], prob=0.9,
        )  # fmt: skip

    table = over_settings(MODEL, TEXTS, ask, {"window": [2, 5]}, own=False)
    assert "(b: the chains have not mixed in 1 setting, compared with no others)" in repr(table)
    assert "(c: the chains have not mixed in any setting: do not use it)" in repr(table)
    assert "do not use this answer" in table.sentences["c"]
    assert "mixed" not in table.sentences["a"]


def test_lengths_have_no_signs():
    def ask(model):
        return Bunch(
            mean=0.05 * (model.window == 2), interval=np.array([0.0, 0.1]), verdict="differs",
            prob=0.9, source="units",
        )  # fmt: skip

    table = over_settings(MODEL, TEXTS, ask, {"window": [2, 5]}, own=False)
    assert "sign" not in repr(table) and "the verdict 'differs' is the same" in repr(table)


def test_what_cannot_be_compared_costs_no_answer(tmp_path):
    """Without draws topics are not matched."""
    data = make_topics(n_documents=40, n_words=40, n_topics=2, n_dims=5, random_state=0)
    options = {"embedding": data.vectors, "solver": "gibbs", "draws": 20, "warmup": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianLDA(2, chains=1, random_state=0, **options).fit(data.counts)
        model.save(tmp_path / "model", draws=0)
        model = load(tmp_path / "model")
        table = over_settings(
            model, data.counts, lambda m: float(m.components_[0, 0]), {"draws": [21]}, own="fitted"
        )
    assert np.isfinite(table.mean).all()


def test_effects_on_meaning_are_asked_for():
    year = {"year": np.arange(18.0)}

    def ask(model):
        return model.effects(TEXTS, year, word="cat", axes={"pets": ("sat", "dog")})

    table = over_settings(MODEL, TEXTS, ask, {"window": [2]})
    assert table.entries == ["year, length", "year, pets"] * 2
    assert table.title == "effects on the vector of 'cat'" and np.isfinite(table.mean).all()


def test_many_kinds_with_other_numbers_are_not_all_named():
    sure = np.eye(12)[:, np.repeat(np.arange(12), 5)]
    turned = Kinds(sure, None, "topic", "documents").unlike(Kinds(np.roll(sure, 1, axis=0)), "X")
    assert turned.endswith("topic 4 here is topic 3 of X, and 7 more have other numbers.")


def test_settings_count_once_and_those_without_units_take_none_away():
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    grids = {"window": [2, 5]}, [{"window": [2, 5]}, {"window": [2]}, {"window": [np.int64(5)]}]
    tables = [over_settings(model, TEXTS, lambda one: one.similarity("cat", "dog"), grid)
              for grid in grids]  # fmt: skip
    assert tables[1].params == tables[0].params and tables[1].sentence == tables[0].sentence

    def question(one):
        return np.nan if one.window == 2 else one.similarity("cat", "dog")

    told = [over_settings(model, TEXTS, question, {"window": w}).sentence for w in ([5], [2, 5])]
    assert all(f"sampling of {len(TEXTS)} documents" in text for text in told)

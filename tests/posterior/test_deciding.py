"""Verdicts, and what is said of those that an interval decides alone."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import Posterior
from skbayesembed.posterior.deciding import (
    errors_of,
    is_skewed,
    mixing_of,
    note_on_draws,
    note_on_mixing,
    said_of_draws,
)
from skbayesembed.posterior.results import About, Result
from skbayesembed.posterior.summary import interval_errors


def found(interval, proba, verdict="not decided", prob=0.9):
    entries = {"interval": np.array(interval), "prob_increase": proba, "verdict": verdict}
    return Result(entries, About("change", {}, prob))


def test_skew_is_told():
    """The interval holds zero while the probability of a rise is that of a decided one."""
    rise = found([-0.01, 0.4], 0.98)
    assert is_skewed(rise)
    (line,) = note_on_draws(rise)
    assert line.startswith("(skewed posterior: the probability of being above zero is 0.98, but")
    assert said_of_draws(rise).startswith(". Skewed posterior: the probability of being above zero")
    fall = found([-0.4, 0.01], 0.03)
    assert "being below zero is 0.97" in said_of_draws(fall)
    several = found([[-0.01, 0.4], [-0.2, 0.2]], np.array([0.98, 0.5]), ["not decided"] * 2)
    assert note_on_draws(several)[0].startswith("(in 1 of 2 rows skewed posterior: ")


@pytest.mark.parametrize(
    "answer",
    [
        found([-0.01, 0.4], 0.94),
        found([-0.01, 0.4], 0.98, prob=0.99),
        # as probabilities are that are held to what their interval says
        found([-0.01, 0.4], 0.95),
        found([-0.4, 0.01], 0.04999999999999999),
        found([-0.01, 0.4], 0.98, verdict="no data"),
        found([0.01, 0.4], 0.98, verdict="rose"),
    ],
)
def test_others_are_not_skewed(answer):
    assert not is_skewed(answer)
    assert note_on_draws(answer) == [] and said_of_draws(answer) == ""


def test_no_probability_is_told_as_certain():
    assert "above zero is above 0.999, but" in said_of_draws(found([-0.0001, 0.2], 0.99975))
    several = found([[-0.01, 0.4]] * 2, np.array([0.996, 0.9999]), ["not decided"] * 2)
    assert "one side of zero is 0.99 or more, but" in note_on_draws(several)[0]


def chains(solver, n_runs=1):
    draws = np.random.default_rng(0).normal(size=(4, 150, 3))
    draws[1, :, 2] += 3.0
    return Posterior({"x": draws}, attrs={"solver": solver, "embedding_draws": n_runs})


@pytest.mark.parametrize("n_runs", [1, 2])
def test_answers_of_chains_have_their_own_diagnostics(n_runs):
    posterior = chains("hmc", n_runs)
    answers = posterior.flat("x") ** 2
    made = mixing_of(posterior, answers)
    again = Posterior({"y": answers.reshape(4, 150, 3)}, attrs=posterior.attrs)
    np.testing.assert_array_equal(made["rhat"], again.rhat("y")["y"])
    np.testing.assert_array_equal(made["ess"], again.ess("y")["y"])
    np.testing.assert_array_equal(made["ess_tail"], again.ess("y", "tail")["y"])
    alone = mixing_of(posterior, answers[:, 0])
    assert alone["rhat"] == made["rhat"][0] and np.ndim(alone["ess"]) == 0


@pytest.mark.parametrize("solver", ["hmc", "vi"])
def test_runs_in_turn_are_no_independent_draws(solver):
    """Of ten runs, whose means are far apart, the ends are known as from ten draws."""
    rng, means = np.random.default_rng(1), np.linspace(-1.5, 1.5, 10)
    draws = np.tile(means, (4, 100)) + 0.7 * rng.normal(size=(4, 1000))
    attrs = {"solver": solver, "embedding_draws": 10}
    posterior = Posterior({"x": draws}, attrs=attrs)
    apart = Posterior({"x": draws}, attrs={"solver": solver, "embedding_draws": 1})
    error, as_if = (errors_of(p, draws.ravel(), 0.9) for p in (posterior, apart))
    # of 20 draws, as few as are taken, ends have some 3.5 times the errors of those of 4,000
    assert np.all(error > 2 * as_if)
    # with several answers for each draw as well, in whichever order
    several = np.concatenate([draws.ravel() + 0.01 * rng.normal(size=4000) for _ in range(3)])
    np.testing.assert_allclose(errors_of(posterior, several, 0.9), error, rtol=0.3)


@pytest.mark.parametrize(("solver", "n_runs"), [("hmc", 1), ("hmc", 10), ("vi", 10)])
def test_intervals_that_end_at_the_largest_draw(solver, n_runs):
    """No draw is beyond that end: independent draws are worth what they are."""
    x = 1.0 - 0.01 * np.random.default_rng(0).exponential(size=4000)
    attrs = {"solver": solver, "embedding_draws": n_runs}
    posterior = Posterior({"x": x.reshape(4, 1000)}, attrs=attrs)
    expected = interval_errors(x, 0.9)
    # as many draws, or nearly: their number is estimated
    np.testing.assert_allclose(errors_of(posterior, x, 0.9), expected, rtol=0.4)


def test_a_posterior_that_was_cut():
    """Its runs may not take turns."""
    posterior = Posterior(
        {"x": np.arange(100.0)[None]}, attrs={"solver": "vi", "embedding_draws": 30}
    )
    assert np.isfinite(errors_of(posterior, posterior.flat("x"), 0.9)).all()


def test_other_answers_have_none():
    posterior = chains("vi")
    assert mixing_of(posterior, posterior.flat("x")) == {}
    posterior = chains("gibbs")
    # more answers than draws
    assert mixing_of(posterior, np.tile(posterior.flat("x"), (2, 1))) == {}
    constant = mixing_of(posterior, np.ones((600, 2)))
    assert np.isnan(constant["rhat"]).all() and np.isnan(constant["ess"]).all()


def test_tables_say_where_an_answer_has_not_mixed():
    posterior = chains("gibbs")
    draws = posterior.flat("x")
    interval = np.quantile(draws, [0.05, 0.95], axis=0).T
    axes = {"period": [1, 2, 3]}
    entries = {"interval": interval, "draws": draws, **mixing_of(posterior, draws)}
    table = Result(entries, About("similarity", axes, 0.9))
    mixed, few = note_on_mixing(table)
    least = min(table.ess[2], table.ess_tail[2])
    assert mixed.startswith("(in 1 of 3 rows chains differ on this very answer: R-hat 1.")
    assert few.startswith(f"(in 1 of 3 rows the draws are worth {least:.0f} indep")
    assert mixed in str(table) and few in str(table) and "rhat" not in str(table)
    # of few draws few effective ones are no surprise
    table.draws = draws[:399]
    assert note_on_mixing(table) == [mixed]
    good = Result({name: x[:2] if name != "draws" else x for name, x in entries.items()})
    # of 600 draws
    largest, least, ends = good.rhat.max(), min(good.ess.min(), 600), good.ess_tail.min()
    told = f"(R-hat at most {largest:.3f}, at least {least:.0f} effective draws, {ends:.0f} of the "
    told += "tails)"
    assert note_on_mixing(good) == [told]
    one = {"draws": draws[:, 0], "rhat": np.float64(1.0021), "ess": np.float64(812.2)}
    one["ess_tail"] = np.float64(512.2)
    assert note_on_mixing(one) == ["(R-hat 1.002, 600 effective draws, 512 of the tails)"]
    assert note_on_mixing({"interval": interval}) == []

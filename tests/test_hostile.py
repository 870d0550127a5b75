"""Calls that hostile values found to end badly, each with the error that they end in now."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import (
    BayesianSGNS,
    DiSCSenseModel,
    DynamicSGNS,
    GaussianLDA,
    PairCounts,
    SensePrior,
    Vocabulary,
)
from skbayesembed.common.checks import as_floats, check_integer, is_whole
from skbayesembed.corpus.periods import Periods
from skbayesembed.datasets import (
    make_dynamic_sgns,
    make_senses,
    make_sgns,
    make_text,
    make_topics,
)
from skbayesembed.metrics import brier_score
from skbayesembed.plotting import SenseWordsDisplay
from skbayesembed.posterior import RunningMoments
from tests.test_contract import CASES, TOPICS


class Odd:
    def __eq__(self, other):
        raise TypeError("cannot be compared")

    __hash__ = None


def test_small_integers_of_numpy_do_not_overflow():
    """Arrays of 9 * (1 + 2 + 4 + ...) entries, more than an int8 counts."""
    model = GaussianLDA(9, embedding=TOPICS.vectors, solver="laplace", draws=4, random_state=0)
    expected = model.fit(TOPICS.counts).posterior_
    found = model.set_params(n_components=np.int8(9)).fit(TOPICS.counts).posterior_
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])


def test_small_integers_do_not_overflow_in_drift():
    model = DynamicSGNS(np.int8(9), min_count=1, solver="map", max_iter=2, tol=1.0, random_state=0)
    model.fit([list("abcdefghij") * 4] * 2, times=[0, 1])
    assert model.rho_.shape[-1] == 9


def test_labels_beyond_what_integers_hold():
    with pytest.raises(ValueError, match="labels must be integers from 0"):
        brier_score([[0.5, 0.5], [1, 0]], [0, 1e300])
    with pytest.raises(ValueError, match="labels must be a list of integers, got a ragged one"):
        brier_score([[0.5, 0.5], [1, 0]], [0, ()])


@pytest.mark.parametrize("value", [np.timedelta64(3, "D"), True, 2.0, np.float64(2)])
def test_what_is_no_integer(value):
    assert not is_whole(value)
    with pytest.raises(ValueError, match="draws must be an integer >= 1"):
        check_integer("draws", value, 1)


@pytest.mark.parametrize("values", [[1j], [10**400], [np.datetime64("2000")], [[1], [1, 2]]])
def test_what_are_no_floats(values):
    with pytest.raises(ValueError):
        as_floats(values)


@pytest.mark.parametrize("solver", [np.ones(3), Odd(), ["map"]])
@pytest.mark.parametrize("name", ["sgns-map", "dynamic-map", "senses-map", "topics-map"])
def test_solvers_that_cannot_be_compared(name, solver):
    with pytest.raises(ValueError, match="^solver=.* is not available"):
        CASES[name].fit(solver=solver)


def test_words_with_halves_of_surrogates():
    texts = [["a", "\ud800", "b"], ["b", "a", "\ud800"]] * 9
    model = BayesianSGNS(2, solver="map", prior_precision=1.0, random_state=0).fit(texts)
    assert "\ud800" in model.vocabulary_


def test_counts_beyond_what_sums_exactly():
    with pytest.raises(ValueError, match=r"positive must add up to at most 2\*\*53"):
        PairCounts([[1e16]], [[1.0]])
    with pytest.raises(ValueError, match=r"X must add up to at most 2\*\*53"):
        BayesianSGNS(solver="map").fit([[1e16, 2.0]])


def test_arguments_that_are_no_lists():
    posterior = CASES["sgns-map"].fit().posterior_
    with pytest.raises(ValueError, match="names must be a list of names of draws, got 0"):
        posterior.rhat(0)
    with pytest.raises(KeyError, match="no draws named"):
        posterior.mean(["rho"])
    with pytest.raises(ValueError, match="shape must be a tuple of integers"):
        RunningMoments(0.5)
    with pytest.raises(ValueError, match="stop_words must be a list of str, got -7"):
        Vocabulary({}, 0, stop_words=-7)


def test_parameters_far_from_one_are_named():
    case = CASES["dynamic-map"]
    with pytest.raises(np.linalg.LinAlgError, match=r"Far from 1: prior_precision=1e-300\."):
        case.fit(prior_precision=1e-300)
    with pytest.raises(ValueError, match="prior.kappa_chi must not be so near to 0"):
        CASES["senses-map"].fit(prior=SensePrior(kappa_chi=5e-324))
    with pytest.raises(ValueError, match=r"prior.kappa_chi must be a number > 0.0 and <= 1e\+100"):
        CASES["senses-laplace"].fit(prior=SensePrior(kappa_chi=1e300))


@pytest.mark.slow
def test_chains_that_are_still_on_their_way_to_huge_counts():
    """Prevalences of two snippets have mixed where logits of words have far to go."""
    model = DiSCSenseModel(2, n_starts=1, solver="gibbs", draws=100, warmup=20, chains=2)
    with (
        pytest.warns(ConvergenceWarning, match="split R-hat of the log likelihood is"),
        pytest.warns(UserWarning, match="words on average"),
    ):
        model.set_params(random_state=0).fit([[3, 10**9], [2, 1]])
    assert model.posterior_.attrs["converged"] is False
    assert model.posterior_.attrs["max_rhat_likelihood"] > 1.2


def test_reference_documents_are_named():
    model = CASES["sgns-map"].fit()
    X = [["x0", "x1", "x2"]] * 4
    with pytest.raises(TypeError, match="^reference: X must be documents"):
        model.effects(X, [0, 1, 0, 1], word="x0", reference=0.0)


@pytest.mark.parametrize(
    ("simulate", "names"),
    [
        (make_sgns, ("n_words", "n_components", "n_pairs")),
        (make_dynamic_sgns, ("n_words", "n_periods", "n_pairs")),
        (make_senses, ("n_snippets", "n_words", "n_periods", "n_genres")),
        (make_topics, ("n_documents", "n_words", "n_topics", "n_dims")),
        (make_text, ("n_documents", "n_words", "n_topics")),
    ],
)
def test_simulations_beyond_all_memory(simulate, names):
    for name in names:
        with pytest.raises(MemoryError, match=rf"would take about .* Make .*{name}.* smaller"):
            simulate(**{name: 2**53 + 1})


def test_more_periods_than_can_be():
    with pytest.raises(ValueError, match="n_periods must be at most"):
        Periods.learn([0, 1, 2], n_periods=2**53 + 1)


def test_one_entry_is_not_read_as_that_of_all_snippets():
    model = DiSCSenseModel(2, solver="map", max_iter=2, tol=1.0, n_starts=1, random_state=0)
    model.fit([[1, 0], [0, 1]] * 4, times=[0, 1] * 4)
    with pytest.raises(ValueError, match="times and by must have as many .* 1 of times, 9 of by"):
        model.predict_shares(times=[0], by=["a"] * 9)


def test_neighbours_are_no_panels_of_words():
    settings = {"min_count": 1, "solver": "map", "prior_precision": 0.1, "random_state": 0}
    found = BayesianSGNS(2, **settings).fit([list("abcdefghij") * 4]).most_similar("a", n=3)
    with pytest.raises(TypeError, match="result must be a table of words of senses"):
        SenseWordsDisplay.from_result(found)


def test_one_word_has_no_distance_from_others():
    model = DiSCSenseModel(2, model="edisc", embedding={"cat": [1.0, 0.0]}, max_features=1)
    with pytest.raises(ValueError, match="two words of X, got 1 of 1; a larger max_features"):
        model.fit([["cat", "dog"], ["cat", "mat"]] * 4)

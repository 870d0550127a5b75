"""Regroupings: joining two senses and dividing one leads from a light mode to a heavy one."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skbayesembed.inference.matching import similarity
from skbayesembed.inference.mode_mass import Mass, Walker
from skbayesembed.senses import regroupings, starts
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.exchanges import SAME, settled
from skbayesembed.senses.mode import Mode, explore
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior
from skbayesembed.senses.regroupings import Tally


def planted_trio():
    """Snippets of three senses whose words are apart, their weights, and their counts."""
    rng = np.random.default_rng(0)
    senses, periods = rng.integers(3, size=240), np.arange(240) % 3
    words = rng.integers(4, size=(240, 6)) + 4 * senses[:, None]
    counts = np.zeros((240, 12))
    np.add.at(counts, (np.arange(240)[:, None], words), 1.0)
    right = np.stack([senses == k for k in range(3)]).astype(float)
    return Snippets.of(sparse.csr_array(counts), periods), right, counts


def wrong_mode(data, right, counts, rng):
    """A mode in which the first two senses are joined and the third is divided."""
    prior, senses = ModelPrior(), right.argmax(axis=0)
    wrong = np.where(senses < 2, 0, np.where(counts[:, 8] > 1, 1, 2))
    model, held = (SenseModel(one, 3, prior) for one in (data, replace(data, labels=wrong)))
    begun, *_ = settled(Walker(held, rng, held.init(rng)), 40)
    arrays, weights, density = settled(Walker(model, rng, model.pack(begun)), 40)
    return Mode(arrays, weights, 1, log_density=density)


def side_by_side(function, tasks):
    return [function(*task) for task in tasks]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_round_leads_from_a_light_mode_to_the_planted_one(seed):
    """No exchange in time leads there; from the planted mode nothing leads on."""
    data, right, counts = planted_trio()
    given, rng = (data, 3, ModelPrior()), np.random.default_rng(seed)
    mode = wrong_mode(data, right, counts, rng)
    assert similarity(mode.weights, right) < SAME

    def of_round(mode, known):
        tally, seeds = Tally(3, rng), np.random.SeedSequence(seed)
        return starts._regrouped(0, mode, known, given, seeds, side_by_side, tally)

    found = of_round(mode, [mode])
    best = max(found, key=lambda one: one.log_density)
    assert similarity(best.weights, right) > 0.95 and best.log_density > mode.log_density
    assert best.n_exchanges > 0 and best.n_starts == 0
    assert all(similarity(one.weights, mode.weights) < SAME for one in found)
    best = explore(best, *given, rng)
    assert all(one.log_density < best.log_density for one in of_round(best, [mode, best]))


@pytest.mark.slow
def test_rounds_do_not_depend_on_n_jobs(monkeypatch):
    """Whatever the order in which tries end: each has a generator of its own."""
    monkeypatch.setattr(regroupings, "_LEAST", 4)
    data, right, counts = planted_trio()
    given = data, 3, ModelPrior()
    mode, found = wrong_mode(data, right, counts, np.random.default_rng(0)), []
    in_threads = Parallel(n_jobs=2, prefer="threads")
    for mapped in (side_by_side, lambda f, tasks: in_threads(delayed(f)(*task) for task in tasks)):
        tally, seeds = Tally(3, np.random.default_rng(0)), np.random.SeedSequence(0)
        found.append(starts._regrouped(0, mode, [mode], given, seeds, mapped, tally))
    assert len(found[0]) == len(found[1]) > 0
    for one, other in zip(*found, strict=True):
        assert (one.log_density, one.n_exchanges) == (other.log_density, other.n_exchanges)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_regroupings_are_of_three_senses_and_more():
    rng = np.random.default_rng(0)
    assert regroupings.regroupings(2, rng) == [] == Tally(2, rng).of_round()
    found = regroupings.regroupings(3, rng)
    assert {c for pair, c in found if pair == (0, 1)} == {0, 2}
    assert len(set(found)) == len(found) == 6


@pytest.mark.parametrize("n_senses", [3, 4, 6])
def test_rounds_try_the_least_tried_and_not_what_came_back(n_senses):
    tally = Tally(n_senses, np.random.default_rng(0))
    every = set(regroupings.regroupings(n_senses, np.random.default_rng(0)))
    tried, back = [], sorted(every)[::2]
    # a round may be too short for all of them
    for _ in range(4):
        which = tally.of_round()
        assert len(which) == regroupings.tries_of_round(len(every))
        assert not [one for one in which if one in back and one in tried]
        tried += which
        for one in which:
            tally.note(one, one not in back)
    assert set(tried) == every
    fresh, one = Tally(n_senses, np.random.default_rng(0)), min(every)
    fresh.note(one, True)
    # what led away is tried again, after all others
    assert fresh.of_round()[0] != one
    for one in every:
        fresh.note(one, False)
    assert fresh.of_round() == [min(every)] * regroupings._EACH


def test_a_search_of_which_all_came_back_has_no_more_rounds():
    tally = Tally(3, np.random.default_rng(0))
    for one in tally.of_round():
        tally.note(one, False)
    assert tally.of_round() == []


def test_states_that_are_alike_are_counted_and_known_ones_left_out():
    right = np.eye(3)[:, np.arange(9) % 3]
    other = np.eye(3)[:, np.arange(9) // 3]
    joined = np.eye(3)[:, np.minimum(np.arange(9) % 3, 1)]
    states = [
        ({}, right, -9.0), ({}, other, -5.0), None, ({}, other[::-1], -4.0), ({}, joined, -50.0)
    ]  # fmt: skip
    found = regroupings.apart(states, [right], np.ones(9), -20.0)
    # under other names it is the same, and the densest stands for both
    assert [(state[2], count) for state, count in found] == [(-4.0, 2)]


@pytest.mark.parametrize(
    ("gains", "n_rounds", "warned"),
    [
        # rounds without a heavier mode end the search, counted anew after each that has one
        ([], 3, False),
        ([5.0], 4, False),
        ([0.0, 5.0], 5, False),
        ([5.0] * 99, starts._ROUNDS_BESIDE, True),
        ([0.0, 5.0] * 99, starts._ROUNDS_BESIDE, True),
    ],
)  # fmt: skip
def test_the_search_ends_after_quiet_rounds_or_warns(gains, n_rounds, warned, monkeypatch):
    data, *_ = planted_trio()
    left, rounds = list(gains), []

    def regrouped(n, first, modes, given, seeds, side_by_side, tally):
        rounds.append(n)
        for which in tally.of_round():
            tally.note(which, True)
        gain = left.pop(0) if left else 0.0
        if not gain:
            return []
        # a mode of its own, whatever was met before
        weights = np.eye(3)[:, (np.arange(data.n_snippets) // 2 ** len(rounds)) % 3]
        return [Mode({}, weights, 0, log_density=first.log_density + gain, n_exchanges=2)]

    def weighed(mode, *given):
        return Mass(mode.log_density, 0.1)

    monkeypatch.setattr(starts, "_regrouped", regrouped)
    monkeypatch.setattr(starts, "_around", lambda *given: [])
    monkeypatch.setattr(starts, "explore", lambda mode, *given: mode)
    monkeypatch.setattr(starts, "weigh", weighed)
    mode = Mode({}, np.eye(3)[:, np.arange(data.n_snippets) % 3], 24, log_density=0.0)
    given = data, 3, ModelPrior()
    options = np.ones(data.n_snippets), np.random.SeedSequence(0), side_by_side
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        modes = starts._with_those_beside([mode], given, *options)
    assert len(rounds) == n_rounds
    first = max(modes, key=lambda one: one.log_density)
    assert first.log_density == sum(gains[:n_rounds])
    # three rounds of twelve, where the last did not lead to it
    assert warned or first.n_quiet == 36
    assert [w.category for w in caught] == [ConvergenceWarning] * warned
    assert all("still found heavier modes" in str(w.message) for w in caught)


def test_masses_of_before_count_when_others_are_weighed(monkeypatch):
    runs = []

    def weigh(mode, *given):
        runs.append(mode.log_density)
        return Mass(mode.log_density, 0.1)

    monkeypatch.setattr(starts, "weigh", weigh)
    light, heavy = (Mode({}, np.ones((1, 2)), 1, log_density=x) for x in (-50.0, 0.0))
    seeds = np.random.SeedSequence(0)
    starts._weigh_all([light], (), seeds, side_by_side)
    starts._weigh_all([light, heavy], (), seeds, side_by_side)
    assert sorted(runs) == [-50.0, -50.0, 0.0, 0.0]
    assert light.share < 1e-9 < heavy.share == pytest.approx(1)
    # one that may matter is weighed by as many runs as it
    rival = Mode({}, np.ones((1, 2)), 1, log_density=-1.0)
    starts._weigh_all([light, heavy, rival], (), seeds, side_by_side)
    assert len(light.runs) == 2 < len(heavy.runs) == len(rival.runs) == 2 * sum(starts._PAIRS)


@pytest.mark.parametrize(
    ("n_starts", "n_senses", "known", "told"),
    [
        ((24,), 3, False, True),
        # what exchanges led to, which no start met
        ((24, 0), 3, False, True),
        ((20, 4), 3, False, False),
        # there are no regroupings of two senses, nor of known ones
        ((24,), 2, False, False),
        ((24,), 3, True, False),
    ],
)
def test_starts_of_many_snippets_that_agree_are_told_of(
    n_starts, n_senses, known, told, monkeypatch, capsys
):
    data, *_ = planted_trio()
    data = replace(data, labels=np.zeros_like(data.labels)) if known else data
    monkeypatch.setattr(starts, "ANNEALED", data.n_snippets - 1)
    modes = [Mode({}, np.ones((n_senses, data.n_snippets)), n) for n in n_starts]
    given = data, n_senses, ModelPrior()
    options = np.ones(data.n_snippets), np.random.SeedSequence(0), side_by_side
    assert starts._with_those_beside(modes, given, *options) is modes
    (line,) = capsys.readouterr().err.splitlines() or [""]
    assert (
        line.startswith("skbayesembed: all 24 starts ended in one mode; with more than 239") == told
    )
    assert ("not looked for by regroupings" in line) == told

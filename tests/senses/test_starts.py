"""Modes: how they are found, ordered, weighed and named."""

from __future__ import annotations

import re
import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.inference.matching import similarity
from skbayesembed.inference.mode_mass import OPTIONS, Mass, Walker
from skbayesembed.senses import mode as single
from skbayesembed.senses import starts
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.exchanges import SAME, settled
from skbayesembed.senses.mode import Mode
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.modes import Modes, groups_joined
from skbayesembed.senses.priors import ModelPrior
from skbayesembed.senses.solvers import warn_of_modes
from tests.helpers.senses import K, planted, run, snippets_of, two_ways


@pytest.fixture(scope="module")
def data():
    return snippets_of(planted())


@pytest.fixture(scope="module")
def mode(data):
    return run(data, n_starts=1, chains=1, draws=2, warmup=2).learned["modes_"][0]


@pytest.mark.slow
def test_senses_come_in_the_order_of_their_prevalence(mode):
    of_sense = mode.weights.sum(axis=1)
    assert np.all(np.diff(of_sense) <= 0)


def test_permuting_a_mode_leaves_its_density(data, mode):
    mode = deepcopy(mode)
    model = SenseModel(data, K, ModelPrior())
    room = np.empty(model.n_parameters)
    before = model.logp_and_grad(model.pack(mode.arrays), room)
    weights = model.sense_proba(model.unpack(model.pack(mode.arrays)))
    mode.permute(np.array([1, 0]))
    after = model.logp_and_grad(model.pack(mode.arrays), room)
    assert after == pytest.approx(before)
    np.testing.assert_allclose(model.sense_proba(mode.arrays), weights[:, ::-1], atol=1e-10)


@pytest.mark.slow
def test_equal_modes_share_equally_and_are_named():
    """Two ways of splitting the same words: by symmetry each has half of the posterior."""
    data = two_ways()
    rng = np.random.SeedSequence(0)
    modes = starts.find_modes(data, 2, ModelPrior(), rng, n_starts=6)
    shares = np.array([mode.share for mode in modes])
    assert shares.sum() == pytest.approx(1)
    # what is left of a start that did not settle weighs nothing
    assert shares[2:].sum() < 1e-6
    modes = modes[:2]
    # half each, within the errors of the log masses
    error = np.hypot(modes[0].mass.error, modes[1].mass.error)
    assert abs(modes[0].mass.value - modes[1].mass.value) < 5 * error
    with pytest.warns(ConvergenceWarning, match="2 modes that matter.*modes_"):
        warn_of_modes(modes)


_ALONE = "1 of n_starts=24 starts met the heaviest of 3 modes"
_MANY = "8 % of 24 starts met a mode of their own"


@pytest.mark.parametrize(
    ("met", "warning"),
    [
        ((1, 20, 3), _ALONE), ((2, 22), None), ((1,), None),
        # from 24 starts on, where modes met once are a twentieth of all
        ((22, 1, 1), _MANY), ((23, 1), None), ((2, 1), None),
    ],
)  # fmt: skip
def test_modes_that_one_start_met_alone_are_warned_of(met, warning):
    modes = [Mode({}, np.zeros((2, 3)), n, share=float(i == 0)) for i, n in enumerate(met)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_modes(modes)
    assert len(caught) == (warning is not None)
    if warning is not None:
        assert warning in str(caught[0].message)


@pytest.mark.parametrize(("n_quiet", "warned"), [(0, True), (24, False)])
def test_a_mode_met_by_one_series_is_warned_of_unless_regroupings_were_tried(n_quiet, warned):
    first = Mode({}, np.zeros((3, 2)), 0, share=1.0, n_exchanges=1, n_quiet=n_quiet)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_modes([first, Mode({}, np.zeros((3, 2)), 24, share=0.0)])
    assert ["1 series of exchanges" in str(w.message) for w in caught] == [True] * warned


class Scripted:
    """Starts that end in modes by a script: each a mode of its own, with its density."""

    def __init__(self, ends):
        self.ends, self.n = ends, 0

    def __call__(self, data, n_senses, prior, rng):
        end = self.ends[self.n]
        self.n += 1
        weights = np.zeros((1, data.n_snippets))
        weights[0, end] = 1.0
        return Mode({}, weights, 1, log_density=float(end))


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        # one mode; two, the denser of which was met once; thirty; ever new ones
        ([0] * 96, 24),
        ([0] * 23 + [1] + [0] * 20 + [1] * 52, 48),
        ([i % 30 for i in range(96)], 72),
        (range(96), 96),
    ],
)
def test_starts_go_on_until_modes_were_met_twice(
    ends, expected, data, monkeypatch, capsys
):  # fmt: skip
    annealed = Scripted(ends)
    monkeypatch.setattr(starts, "annealed", annealed)
    monkeypatch.setattr(starts, "explore", lambda mode, *given: mode)
    monkeypatch.setattr(starts, "_weigh_all", lambda *given: None)
    seeds = np.random.SeedSequence(0)
    modes = starts.find_modes(data, 1, ModelPrior(), seeds, n_starts="auto", n_jobs=1, verbose=1)
    assert annealed.n == expected
    assert capsys.readouterr().out.count("24 more starts") == expected // 24 - 1
    assert sum(mode.n_starts for mode in modes) == expected
    assert groups_joined(modes) == ""

    def explored(mode, *given):
        end = mode.weights.argmax() // 2
        mode.weights = np.eye(1, data.n_snippets, end)
        return mode

    # those who asked for no lines are told where it takes long
    monkeypatch.setattr(starts, "_PATIENCE", -1.0)
    monkeypatch.setattr(starts, "annealed", Scripted(ends))
    monkeypatch.setattr(starts, "explore", explored)
    modes = starts.find_modes(data, 1, ModelPrior(), seeds, n_starts="auto", n_jobs=1)
    told = capsys.readouterr().err
    assert told.count("24 more starts") == expected // 24 - 1
    met = set(ends[:expected])
    joined = f"{len(met)} groups of starts were {len({end // 2 for end in met})} mode"
    assert (joined in repr(Modes(modes))) == (len(met) > 1)
    assert (joined in told) == (expected > 24)


def test_a_mode_alone_has_no_mass(data, monkeypatch):
    """One that was weighed against what turned out to be a part of it, too."""

    def beside(modes, *rest):
        modes[0].mass = Mass(-3.0, 0.5)
        return modes[:1]

    monkeypatch.setattr(starts, "BATCH", 2)
    monkeypatch.setattr(starts, "_with_those_beside", beside)
    seeds = np.random.SeedSequence(0)
    (mode,) = starts.find_modes(data, K, ModelPrior(), seeds, n_starts=2)
    assert mode.mass is None


def test_the_densest_start_stands_for_its_mode():
    """Parts of one mode that chains hardly leave are told by their densities."""
    proba = np.tile([0.9, 0.1], (5, 1)).T
    near, far = proba + [[0.02], [-0.02]], proba[:, [0, 0, 0, 0, 0]][::-1]
    far = np.where(np.arange(5) < 2, proba, far)
    values = [(proba, -20.0), (far, -5.0), (near, -10.0)]
    modes = [Mode({}, weights, 1, log_density=value) for weights, value in values]
    found = starts._grouped(modes, binding=True)
    assert [(m.log_density, m.n_starts) for m in found] == [(-10.0, 2), (-5.0, 1)]


def test_densities_of_starts_are_those_of_the_posterior(data):
    """A start's mean log density is within what that of a settled chain varies by."""
    rng, given = np.random.default_rng(0), (data, K, ModelPrior())
    mode = single.annealed(*given, rng)
    settled = single.explore(single.annealed(*given, rng), *given, rng)
    model = SenseModel(*given)
    # log densities of n parameters vary by sqrt(n / 2), means of 20 correlated ones by less
    spread = np.sqrt(model.n_parameters / 2)
    assert abs(mode.log_density - settled.log_density) < 5 * spread


def weighed(value, error):
    share = float(np.exp(min(value, 0.0)))
    return Mode({}, np.ones((2, 3)), 5, mass=Mass(value, error), share=share)


def test_what_may_matter_is_weighed_more_closely():
    best = weighed(0.0, 1.0)
    assert starts.may_matter(weighed(-7.0, 0.1), best)
    assert not starts.may_matter(weighed(-9.0, 0.1), best)
    assert starts.may_matter(weighed(-9.0, 3.0), best)
    assert not starts.may_matter(best, Mode({}, np.ones((2, 3)), 5))


@pytest.mark.parametrize(
    ("difference", "error", "expected"),
    [
        (20.0, 4.0, "mode 0 .*log mass 0.0 .- 4.0.*mode 1 .*may also be mode 1,.*modes_"),
        (4.5, 0.1, "mode 1"),
        (12.0, 1.0, None),
    ],
)
def test_modes_are_named_that_errors_do_not_tell_apart(difference, error, expected):
    """Where a share is next to nothing but its error is not, another seed may turn it round."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_modes([weighed(0.0, error), weighed(-difference, error), weighed(-99.0, error)])
    assert len(caught) == (expected is not None)
    if expected is not None:
        message = str(caught[0].message)
        assert re.search(expected, message)
        assert ("may also be" in message) == ("may also be" in expected)
        assert "mode 2" not in message


def test_starts_take_a_bounded_number_of_gradients(monkeypatch):
    """A posterior a hundred thousand times narrower than the prior: minutes without the bound."""
    calls = []
    original = SenseModel.logp_and_grad
    monkeypatch.setattr(
        SenseModel, "logp_and_grad", lambda self, *args: calls.append(1) or original(self, *args)
    )
    data = Snippets.of(sparse.csr_array(np.array([[3, 10**9], [2, 1]])), [0, 1])
    seed = np.random.SeedSequence(0)
    modes = starts.find_modes(data, 2, ModelPrior(), seed, n_starts=1)
    assert np.isfinite(modes[0].weights).all()
    moves = single.moves_of_start() + sum(single.ROUNDS)
    assert len(calls) < 1.5 * 2**OPTIONS.max_depth * moves


def test_starts_are_annealed_on_a_part_of_many_snippets(data, monkeypatch):
    """They end in the modes of all; known senses are in every part."""
    few, rng = data.n_snippets // 2, np.random.default_rng(0)
    labels = np.where(np.arange(data.n_snippets) % 9 == 0, 1, -1)
    part = replace(data, labels=labels).some(few, rng)
    assert part.n_snippets == few and (part.labels >= 0).sum() == (labels >= 0).sum()
    assert (part.n_periods, part.n_words) == (data.n_periods, data.n_words)
    assert data.some(data.n_snippets, rng) is data
    whole = single.annealed(data, K, ModelPrior(), np.random.default_rng(1))
    monkeypatch.setattr(single, "ANNEALED", few)
    mode = single.annealed(data, K, ModelPrior(), np.random.default_rng(1))
    assert similarity(whole.weights, mode.weights) > SAME
    # both settled: means of 20 log densities of the same posterior
    spread = np.sqrt(SenseModel(data, K, ModelPrior()).n_parameters / 2)
    assert abs(whole.log_density - mode.log_density) < 5 * spread


def test_exchanges_find_what_annealing_joins_wrongly():
    """Words of two senses change half way; exchanges from a wrong joint lead to the right one."""
    rng = np.random.default_rng(0)
    senses, periods = rng.integers(2, size=160), np.arange(160) % 4
    # words 0-3 and 4-7 of both senses before, 8-11 and 12-15 after; word 16 and 17 stay
    words = rng.integers(4, size=(160, 6)) + (4 * senses + 8 * (periods >= 2))[:, None]
    words[:, 0] = 16 + senses
    counts = np.zeros((160, 18))
    np.add.at(counts, (np.arange(160)[:, None], words), 1.0)
    data = Snippets.of(sparse.csr_array(counts), periods)
    right = np.stack([senses == 0, senses == 1]).astype(float)
    wrong = np.where(periods >= 2, right[::-1], right)
    model = SenseModel(data, K, ModelPrior())
    held = SenseModel(replace(data, labels=wrong.argmax(axis=0)), K, ModelPrior())
    begun, *_ = settled(Walker(held, rng, held.init(rng)), 40)
    found = settled(Walker(model, rng, model.pack(begun)), 40)
    assert similarity(found[1], wrong) > SAME > similarity(found[1], right)
    mode = Mode(found[0], found[1], 1, log_density=found[2])
    joined = single.rejoined(mode, data, K, ModelPrior(), rng)
    assert similarity(joined.weights, right) > 0.95 and joined.log_density > mode.log_density
    assert (joined.n_starts, joined.n_exchanges) == (0, 1)
    # from the right one no exchange leads on
    assert single.rejoined(joined, data, K, ModelPrior(), rng) is None
    around = single.around(
        single.explore(mode, data, K, ModelPrior(), rng), data, K, ModelPrior(), rng
    )
    assert max(similarity(m.weights, right) for m in around) > 0.95


def test_tables_of_modes_say_what_shares_go_by():
    made = {"weights": np.ones((1, 2)), "arrays": {}, "n_starts": 3}
    heavy = Mode(**made, log_likelihood=-20.0, share=1.0, mass=Mass(-5.0, 0.1))
    high = Mode(**made, log_likelihood=-10.0, share=0.0, mass=Mass(-50.0, 0.1))
    assert "not by the height of its likelihood" in repr(Modes([heavy, high]))
    assert "height" not in repr(Modes([replace(heavy, log_likelihood=-5.0), high]))
    # a mode that is alone is not weighed, and shares of next to nothing are said to be
    alone = repr(Modes([replace(heavy, mass=None, share=1.0)]))
    assert "nan" not in alone and "a dash: a mode that was not weighed" in alone
    tiny = Modes([heavy, replace(high, share=5.75e-21)])
    assert " <0.001 " in repr(tiny) and "e-21" not in repr(tiny) and "a dash" not in repr(tiny)


def test_searches_are_expected_to_make_what_they_may():
    cases = (4, 9), (30, 9), ("auto", 9), ("auto", 0), ("auto", 9, 6), ("auto", 9, 6, False)
    for n_starts, *numbers in cases:
        usual, least, most = starts._expected(n_starts, *numbers)
        assert all(a <= b <= c for a, b, c in zip(least, usual, most, strict=True))
        assert least.starts == starts.first_starts(n_starts)
        assert most.starts == (96 if n_starts == "auto" else n_starts)
    # exchanges and regroupings from the heaviest mode, which many snippets have not
    for beside in (True, False):
        for one in starts._expected("auto", 9, 6, beside):
            assert (one.regrouped > 0) == beside and (beside or one.beside == 0)


@pytest.mark.parametrize(("n_snippets", "beside"), [(60, True), (59, False)])
def test_a_trial_charges_what_many_snippets_have(n_snippets, beside, monkeypatch):
    asked = []
    expected = starts._expected

    def noted(*numbers, beside):
        asked.append(beside)
        return expected(*numbers, beside=beside)

    monkeypatch.setattr(starts, "_expected", noted)
    monkeypatch.setattr(starts, "ANNEALED", n_snippets)
    made = make_senses(60, 20, n_senses=3, n_periods=2, random_state=0)
    DiSCSenseModel(3, random_state=0).estimate_cost(made.counts, times=made.times)
    assert asked == [beside]


@pytest.mark.parametrize("solver", ["map", "vi"])
def test_starts_that_take_long_are_told_of_after_the_first(monkeypatch, capsys, solver):
    made = make_senses(20, 20, n_senses=2, n_periods=2, random_state=0)
    model = DiSCSenseModel(2, solver=solver, n_starts=2, draws=10, random_state=0)
    model.fit(made.counts, times=made.times)
    assert "starts of the search" not in capsys.readouterr().err
    monkeypatch.setattr(starts, "_LONG", -1.0)
    model.fit(made.counts, times=made.times)
    told = capsys.readouterr().err
    assert told.count("2 starts of the search for modes take about") == 1
    assert ("the fit comes after" in told) == (solver != "map")

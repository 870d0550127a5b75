"""What a fit would cost: no fit, the same for all rooms, and about right."""

from __future__ import annotations

import time
from importlib import import_module

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import skbayesembed.cost
from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA
from skbayesembed.common import memory, trial
from skbayesembed.cost import Cost, duration
from skbayesembed.sgns.documents.awaited import Awaited

# of words at random the mode may be zero
pytestmark = pytest.mark.filterwarnings("ignore:The MAP estimate is zero")

WORDS = [f"w{i}" for i in range(20)]
SHORT = {"draws": 4, "warmup": 4, "chains": 2, "random_state": 0}


def texts(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return [[WORDS[i] for i in rng.integers(len(WORDS), size=12)] for _ in range(n)]


X = texts()
TIMES = [1900 + i % 3 for i in range(len(X))]
VECTORS = dict(zip(WORDS, np.random.default_rng(1).standard_normal((len(WORDS), 3)), strict=True))


def cases():
    sgns = [{}] + [{"solver": s} for s in ("gibbs", "hmc", "vi", "laplace", "map")]
    sgns += [
        {"solver": "vi", "learning_method": "online"},
        {"solver": "gibbs", "kernel": "polya-gamma"},
    ]
    for more in sgns:
        yield BayesianSGNS(2, min_count=1, **more, **SHORT), {}
    for solver in ("vi", "gibbs", "hmc", "laplace", "map"):
        yield DynamicSGNS(2, min_count=1, solver=solver, **SHORT), {"times": TIMES}
    yield DynamicSGNS(2, min_count=1, learning_method="filtering", **SHORT), {"times": TIMES}
    for solver in ("hmc", "gibbs", "vi", "laplace", "map"):
        yield DiSCSenseModel(2, n_starts=2, solver=solver, **SHORT), {"times": TIMES}
    for solver in ("gibbs", "vi", "hmc", "laplace", "map"):
        yield GaussianLDA(2, embedding=VECTORS, solver=solver, token_pattern=r"\w+", **SHORT), {}


CASES = list(cases())


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Loops are cut short at once: what is tested is the way, not the figures."""
    monkeypatch.setattr(trial, "BUDGET", 1e-3)


@pytest.mark.parametrize("estimator, given", CASES, ids=lambda x: str(x)[:60])
def test_every_solver_has_a_cost(estimator, given):
    before = clone(estimator).get_params()
    cost = estimator.estimate_cost(X, **given)
    assert isinstance(cost, Cost)
    assert np.isfinite(cost.seconds)
    assert cost.cpu_seconds > 0
    assert cost.bytes > 0
    names = [part.name for part in cost.parts]
    assert names[:2] == ["counting", "preparation"]
    assert len(names) == len(set(names))
    chains = cost.solver in ("gibbs", "hmc")
    assert ("warm-up" in names) == chains
    assert ("draws" in names) == (cost.solver != "map")
    # of text and its documents, read as a whole
    knows_units = isinstance(estimator, BayesianSGNS | DynamicSGNS)
    knows_units &= getattr(estimator, "learning_method", "batch") == "batch"
    assert (cost.question is not None) == knows_units
    # nothing is fitted, noted or changed
    assert not [name for name in vars(estimator) if name.endswith("_")]
    after = estimator.get_params()
    assert all(
        after[name] is value or after[name] == value
        for name, value in before.items()
        if name != "embedding"
    )


@pytest.mark.parametrize(
    "estimator, given", [c for c in CASES if c[0].solver == "laplace"], ids=lambda x: str(x)[:20]
)
def test_where_a_search_was_cut_short_is_no_mode(estimator, given, monkeypatch):
    """After the fewest steps, as on a slow machine, there may be no Gaussian."""
    monkeypatch.setattr(trial, "BUDGET", 0.0)
    parts = {p.name: p for p in estimator.estimate_cost(X, **given).parts}
    assert parts["draws"].cpu_seconds > 0


@pytest.mark.parametrize("estimator, given", CASES[1::6], ids=lambda x: str(x)[:60])
@pytest.mark.filterwarnings("ignore")
def test_verbosity_and_estimates_change_no_draw(estimator, given, capsys):
    plain = clone(estimator).fit(X, **given)
    verbose = clone(estimator).set_params(verbose=1)
    verbose.estimate_cost(X, **given)
    verbose.fit(X, **given)
    assert " of CPU, " in capsys.readouterr().out
    for name in plain.posterior_:
        np.testing.assert_array_equal(plain.posterior_[name], verbose.posterior_[name])


@pytest.mark.parametrize(
    "kind", [GaussianLDA, pytest.param(DiSCSenseModel, marks=pytest.mark.slow)]
)
def test_the_question_of_an_embedding_is_not_tried(kind, monkeypatch):
    """Draws of its vectors would ask it; those of one that was asked are made as in a fit."""
    vectors = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0).fit(X)
    options = {"embedding": vectors, "embedding_draws": 2, "draws": 4, "warmup": 4, "chains": 1}
    options |= {"model": "edisc", "n_starts": 2} if kind is DiSCSenseModel else {"solver": "gibbs"}
    model, asked = kind(2, random_state=0, **options), []
    sample = BayesianSGNS.sample_vectors
    monkeypatch.setattr(
        BayesianSGNS, "sample_vectors", lambda *given: asked.append(1) or sample(*given)
    )
    cost = model.estimate_cost(X)
    assert not asked and "deviations" not in vars(vectors._sampling)
    (left_out,) = cost.left_out
    assert f"(not tried, and in no sum: {left_out})" in repr(cost)
    assert "draws" in cost["part"].tolist()
    vectors.similarity("w0", "w1")
    cost = model.estimate_cost(X)
    assert asked and cost.left_out == () and "not tried" not in repr(cost)


def test_the_first_question_is_no_part_of_the_fit():
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    cost = model.estimate_cost(X)
    assert cost.question.cpu_seconds > 0
    assert cost.cpu_seconds == sum(part.cpu_seconds for part in cost.parts)
    assert cost["part"].tolist() == [part.name for part in cost.parts]
    assert "\nfirst question " in repr(cost) and "not part of the fit" in repr(cost)
    cost = model.set_params(uncertainty="model").estimate_cost(X)
    assert cost.question is None and "question" not in repr(cost)


@pytest.mark.parametrize("model, given", [CASES[5], CASES[8]], ids=["static", "drifting"])
def test_a_first_question_that_would_not_fit_is_told_and_not_tried(model, given, monkeypatch):
    """What it needs is a thousandth more than there is, then a thousandth less."""
    room = "sgns" if isinstance(model, BayesianSGNS) else "dynamic"
    asked = import_module(f"skbayesembed.{room}.documents.asked")
    footprint = import_module(f"skbayesembed.{room}.documents.footprint")
    needed, timed = [], []
    find, seconds = footprint.bytes_needed, asked.seconds_of_deviations
    monkeypatch.setattr(
        footprint, "bytes_needed", lambda *given: needed.append(find(*given)) or needed[-1]
    )
    monkeypatch.setattr(
        asked, "seconds_of_deviations", lambda *given: timed.append(1) or seconds(*given)
    )
    name = f"skbayesembed.{room}.estimator.sooner_question"
    monkeypatch.setattr(name, lambda *_: "Fewer words answer sooner.", raising=False)
    monkeypatch.setattr(skbayesembed.cost, "_TOO_LONG", 0.0)
    cost = model.estimate_cost(X, **given)
    assert cost.no_room is None
    # a smaller setting is named of drift
    assert ("(first question: Fewer words" in repr(cost)) == (room == "dynamic")
    assert len(timed) == 1
    check = memory.check_memory
    for factor in (0.999, 1.001):
        with monkeypatch.context() as limited:
            limit = factor * needed[0], "a limit"
            limited.setattr(memory, "allowed_memory", lambda limit=limit: limit)
            # the fit itself is let be
            for name in ("spine", "dynamic.solvers", "dynamic.vi.solver", "sgns.precision"):
                limited.setattr(f"skbayesembed.{name}.check_memory", lambda *_: None)
            assert footprint.check_memory is check
            cost = model.estimate_cost(X, **given)
        assert (cost.no_room is None) == (factor > 1)
        assert len(timed) == 1 + (factor > 1)
        if factor < 1:
            assert memory.readable(needed[0]) in cost.no_room and "max_features" in cost.no_room
            assert "would not fit" in repr(cost).splitlines()[0] and cost.no_room in repr(cost)
            assert "\nfirst question " in repr(cost) and "nan" not in repr(cost)
            assert np.isfinite(cost.seconds)


@pytest.mark.parametrize("verbose", [0, 1])
def test_long_fits_say_so_beforehand(verbose, monkeypatch, capsys):
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0, verbose=verbose)
    model.fit(X)
    assert "half a minute" not in capsys.readouterr().err
    monkeypatch.setattr(skbayesembed.cost, "_LONG", 10.0)
    model.fit(X)
    assert ("this fit of BayesianSGNS takes" in capsys.readouterr().err) == (verbose == 0)
    monkeypatch.setattr(skbayesembed.cost, "_ASKED", 10.0)
    model.fit(X)
    told = capsys.readouterr().err
    assert ("and intervals by units, if you ask for any, take about" in told) == (verbose == 0)
    # one short note: who wants vectors alone asks no question
    assert "first question" not in told
    assert told.count("skbayesembed: ") <= 1 and len(told) < 300


def test_slow_kernels_of_blas_are_told_of_once_and_only_before_long_fits(monkeypatch, capsys):
    told = skbayesembed.cost._note_on_kernels
    monkeypatch.setattr(skbayesembed.cost, "advice_on_kernels", lambda: "OpenBLAS is slow")
    told.cache_clear()
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    model.fit(X)
    assert "OpenBLAS" not in capsys.readouterr().err
    monkeypatch.setattr(skbayesembed.cost, "_LONG", 10.0)
    model.fit(X).fit(X)
    assert capsys.readouterr().err.count("OpenBLAS is slow.") == 1
    told.cache_clear()


@pytest.mark.parametrize("model, given", [CASES[5], CASES[8]], ids=["static", "drifting"])
def test_the_first_question_takes_as_long_before_and_after_the_fit(
    model, given, monkeypatch, capsys
):
    """CPU seconds whatever ``n_jobs``, and none of compilations."""
    kind = "sgns" if isinstance(model, BayesianSGNS) else "dynamic"
    clocks = []

    def seconds(*given):
        clocks.append(given[-1])
        return 345.0

    for module in ("asked",) if kind == "sgns" else ("asked", "sampling"):
        name = f"skbayesembed.{kind}.documents.{module}.seconds_of_deviations"
        monkeypatch.setattr(name, seconds)
    monkeypatch.setattr(skbayesembed.cost, "_ASKED", 10.0)
    monkeypatch.setattr(Awaited, "timed", 0)
    model = clone(model).set_params(n_jobs=2, prior_precision=0.1).fit(X, **given)
    told = capsys.readouterr().err
    assert "about 5.8 min of processor time" in told
    assert ("by_answer=True" in told) == (kind == "sgns")
    model.similarity("w1", "w2")
    assert "about 5.8 min of processor time" in capsys.readouterr().err
    # both are the clock that leaves compilations out
    assert [clock.__qualname__.split(".")[0] for clock in clocks] == ["working_time"] * 2


def test_a_trial_that_takes_long_says_so(monkeypatch, capsys):
    monkeypatch.setattr(skbayesembed.cost, "_PATIENCE", 0.0)
    monkeypatch.setattr(skbayesembed.cost, "_BETWEEN", 1e-3)
    monkeypatch.setattr(skbayesembed.cost, "_NOTED", set())
    BayesianSGNS(2, solver="map", min_count=1).estimate_cost(X)
    told = capsys.readouterr().err
    assert "estimate_cost of BayesianSGNS reads all data" in told
    assert " s so far: " in told
    # those of a grid are told of once
    BayesianSGNS(3, solver="map", min_count=1).estimate_cost(X)
    told = capsys.readouterr().err
    assert "reads all data" not in told and " s so far: " in told


def test_a_trial_says_how_much_of_it_was_compiling(monkeypatch, capsys):
    monkeypatch.setattr(skbayesembed.cost, "_PATIENCE", 0.0)
    monkeypatch.setattr(skbayesembed.cost, "_BETWEEN", 1e-3)
    for seconds in (0.0, 31.2):
        with skbayesembed.cost._Told("a note") as told:
            told._compiling._seconds = seconds
            time.sleep(0.05)
        last = capsys.readouterr().err.splitlines()[-1]
        assert (" s so far by the clock, of these 31 s of compiling by numba" in last) == (
            seconds > 0
        )


def test_a_given_generator_is_not_advanced():
    state = np.random.RandomState(3)
    BayesianSGNS(2, solver="map", min_count=1, random_state=state).estimate_cost(X)
    assert state.randint(1000) == np.random.RandomState(3).randint(1000)


def test_parts_scale_with_what_is_asked_for(monkeypatch):
    """Ten times the draws cost ten times as much: within 4, since figures are timed twice."""
    monkeypatch.setattr(trial, "BUDGET", 0.1)
    model = BayesianSGNS(2, solver="gibbs", min_count=1, prior_precision=1.0, **SHORT)

    def draws(n):
        cost = model.set_params(draws=n).estimate_cost(X)
        return dict(zip(cost["part"], cost["cpu_seconds"], strict=True))["draws"]

    draws(50)
    assert 2.5 < draws(500) / draws(50) < 40


def test_threads_share_chains():
    model = BayesianSGNS(2, solver="gibbs", min_count=1, prior_precision=1.0, **SHORT)
    parts = {p.name: p for p in model.set_params(chains=3, n_jobs=2).estimate_cost(X).parts}
    # three chains on two threads take two rounds
    assert parts["draws"].seconds == pytest.approx(parts["draws"].cpu_seconds * 2 / 3)


def test_bytes_are_at_least_those_of_the_draws():
    model = BayesianSGNS(3, solver="gibbs", min_count=1, **SHORT)
    cost = model.set_params(draws=100).estimate_cost(X)
    assert cost.memory["The draws"] >= 8 * 2 * 100 * 2 * len(WORDS) * 3
    assert cost.bytes >= sum(cost.memory.values())


def test_errors_are_those_of_fit():
    with pytest.raises(ValueError, match="n_components=50 is larger than the vocabulary"):
        BayesianSGNS(50, min_count=1).estimate_cost(X)
    with pytest.raises(ValueError, match="draws"):
        BayesianSGNS(2, draws=0).estimate_cost(X)


def test_table():
    cost = BayesianSGNS(2, solver="map", min_count=1, random_state=0).estimate_cost(X)
    first = repr(cost).splitlines()[0]
    assert first.startswith("About ")
    assert "solver='map'; then " in first
    assert first.endswith(" s for the first question")
    frame = pytest.importorskip("pandas") and cost.to_frame()
    assert list(frame.columns) == ["part", "cpu_seconds", "seconds"]
    assert frame["cpu_seconds"].sum() == pytest.approx(cost.cpu_seconds)


@pytest.mark.parametrize(("idle", "said"), [(1, "one processor would"), (3, "3 processors would")])
def test_idle_processors(idle, said, monkeypatch):
    monkeypatch.setattr(skbayesembed.cost, "effective_n_jobs", lambda n_jobs: 1 + idle)
    parts = [trial.Part("chains", 100.0, 100.0)]
    line = f"({said} be idle; try n_jobs=-1)"
    assert line in repr(skbayesembed.cost.Cost(parts, {}, 1e6, 1, "gibbs"))
    assert line not in repr(skbayesembed.cost.Cost(parts, {}, 1e6, 1 + idle, "gibbs"))


@pytest.mark.parametrize(
    "seconds, text",
    [(0.041, "0.041 s"), (90, "90 s"), (105, "100 s"), (192, "3.2 min"), (20000, "5.6 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_laps_count_what_a_loop_would_make():
    """A clock of our own: steps of 1 s after a first one of 10 s that compiles."""
    now = [0.0]
    found = trial.Trial(lambda: now[0])
    with found.active():
        counted = trial.laps("steps", typical=50)
        now[0] += 10.0
        assert not counted.enough()
        while True:
            now[0] += 1.0
            if counted.enough():
                break
        counted.end(ended=False)
    assert found.parts == [trial.Part("steps", 50.0, 50.0)]
    assert found.looped == now[0]
    assert trial.laps("steps", typical=50) is None


def test_a_trial_is_short(monkeypatch):
    """A loop is left once its share is used up: a twentieth of a fit of many draws at most."""
    monkeypatch.setattr(trial, "BUDGET", 0.05)
    model = BayesianSGNS(2, solver="gibbs", min_count=1, prior_precision=1.0, **SHORT)
    model.set_params(draws=100_000, keep_draws="auto").estimate_cost(X)
    begun = time.process_time()
    cost = model.estimate_cost(X)
    assert time.process_time() - begun < 0.05 * cost.cpu_seconds


def test_chains_that_may_go_on_have_no_usual_time():
    """All that is open is how far they are made longer: the least is told as the least."""
    parts, open_ended = [trial.Part("draws", 2.0, 2.0)], {"automatic": ("thin",)}
    cost = Cost(parts, {}, 1e6, 1, "gibbs", between=(2.0, 16.0), **open_ended)
    first = repr(cost).splitlines()[0]
    assert first.startswith("2 s to 16 s for one fit on 1 thread, with at least 2 s of CPU, ")


def test_busy_processors_are_told_of():
    parts = [trial.Part("draws", 2.0, 2.0)]
    assert "other work" not in repr(Cost(parts, {}, 1e6, 1, "gibbs", busy=1.2))
    found = repr(Cost(parts, {}, 1e6, 1, "gibbs", busy=3.1))
    assert "(the processors have other work: the trial took 3.1 times its CPU seconds" in found
    busy = skbayesembed.cost._busy
    assert busy(6.0, 2.0) == 3.0 and busy(0.5, 2.0) == 1.0 and busy(0.2, 0.01) == 1.0


def test_searches_for_modes_that_go_on_have_a_range():
    """The usual lies within, and numbers of starts that are given have none."""
    model = DiSCSenseModel(2, **SHORT)
    cost = model.estimate_cost(X, times=TIMES)
    least, most = cost.between
    assert 0 < least < cost.seconds < most < 20 * least
    assert {"starts", "exchanges", "modes"} <= {part.name for part in cost.parts}
    first = repr(cost).splitlines()[0]
    ends = f"{trial.duration(least)} to {trial.duration(most)}"
    assert first.startswith(f"{ends} for one fit on 1 thread, usually ")
    assert "(n_starts='auto' and thin='auto' stop early if starts and draws agree)" in repr(cost)
    chains = model.set_params(n_starts=2).estimate_cost(X, times=TIMES)
    assert "(thin='auto' stops early if draws agree)" in repr(chains)
    chains = chains.between
    # of chains alone at most four times as long
    assert chains is not None and 1 < chains[1] / chains[0] < 4
    fixed = model.set_params(thin=2).estimate_cost(X, times=TIMES)
    assert fixed.between is None and "early" not in repr(fixed)


@pytest.mark.parametrize("given", ["integers", "dates"])
def test_years_that_are_many_periods_are_told_of_beforehand(given, monkeypatch, capsys):
    """A sense model takes each as a period, which takes long; what joins them is named once."""
    monkeypatch.setattr(skbayesembed.cost, "_NOTED", set())
    years = [1900 + i for i in range(len(X))]
    times = years if given == "integers" else [f"{year}-07-01" for year in years]
    model = DiSCSenseModel(2, solver="map", n_starts=1, max_iter=2, random_state=0)
    year = "integer" if given == "integers" else "year"
    advice = f"times= has made each {year} from 1900 to 1959 a period of its own: 60 periods, of "
    cost = model.estimate_cost(X, times=times)
    assert advice in repr(cost) and "n_periods= or bins= joins" in repr(cost)
    assert capsys.readouterr().err.count(advice) == 1
    fit = pytest.warns(ConvergenceWarning)
    with fit:
        model.fit(X, times=times)
    assert advice not in capsys.readouterr().err
    skbayesembed.cost._NOTED.clear()
    with fit:
        model.fit(X, times=times)
    assert advice in capsys.readouterr().err


def test_periods_that_are_few_or_asked_for_are_not_told_of(monkeypatch, capsys):
    monkeypatch.setattr(skbayesembed.cost, "_NOTED", set())
    years = np.arange(len(X))
    for more, times in [({"n_periods": 60}, years), ({}, years // 2), ({"bins": range(61)}, years)]:
        model = DiSCSenseModel(2, solver="map", n_starts=1, random_state=0, **more)
        assert "joins" not in repr(model.estimate_cost(X, times=times))
    assert "joins" not in capsys.readouterr().err


def test_a_trial_of_dear_starts_makes_one(monkeypatch):
    """And expects of exchanges what they usually take."""
    snippets = ["river water flood", "money loan account"] * 10
    times, model = [0, 1] * 10, DiSCSenseModel(2, random_state=0)
    measured = model.estimate_cost(snippets, times=times)
    monkeypatch.setattr("skbayesembed.senses.starts._DEAR", -1.0)
    expected = model.estimate_cost(snippets, times=times)
    assert [part.name for part in expected.parts] == [part.name for part in measured.parts]
    # the start of chains is a difference of two times, which may be none
    assert all(part.cpu_seconds >= 0 for part in expected.parts)
    assert all(part.cpu_seconds > 0 for part in expected.parts if part.name != "start of chains")

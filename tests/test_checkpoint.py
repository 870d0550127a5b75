"""Fits that are killed go on from their checkpoint, and end as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import types
import warnings
from unittest import mock

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import skbayesembed
from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA, spine
from skbayesembed.inference import checkpoint
from skbayesembed.inference.checkpoint import Checkpoint, Stage
from skbayesembed.topics import recording
from tests.helpers.breaking import Broken, break_after
from tests.helpers.killing import draws_of
from tests.test_backends import digest
from tests.test_contract import CASES, SENSES

SAMPLERS = [
    "sgns-metropolis", "sgns-hmc", "dynamic-gibbs", "dynamic-hmc", "senses-gibbs", "senses-hmc",
    "topics-gibbs", "topics-hmc",
]  # fmt: skip
# of samplers of each kind there are others
DEAR = ("sgns-hmc", "senses-hmc", "topics-gibbs", "dynamic-hmc")
ASCENTS = [
    "sgns-vi", "sgns-vi-online", "dynamic-vi", "senses-vi", "topics-vi", "topics-dirichlet-online"
]  # fmt: skip
PRINT = """
import sys, warnings
from tests.helpers.seeds import shift_seeds
warnings.simplefilter("ignore")
if int(sys.argv[1]):
    shift_seeds(int(sys.argv[1]))
from tests.test_checkpoint import SAMPLERS, name_of
for name in SAMPLERS:
    print(name, name_of(name))
"""


class Named(Exception):
    """Carries the digest of a fit that was not made."""


def name_of(name, X=None, **parameters):
    """Digest of the fit of a case."""
    case = CASES[name]

    def end(files):
        raise Named(files.digest)

    with mock.patch.object(Checkpoint, "check", end), pytest.raises(Named) as found:
        estimator = clone(case.estimator).set_params(checkpoint=os.curdir, **parameters)
        estimator.fit(case.X if X is None else X, **case.covariates)
    return str(found.value)


# -- killed --------------------------------------------------------------------------------------


def killed(name, backend, moments, seed, folder):
    """Seconds after which a fit was killed, whether it ended the same, and the phase it was in."""
    if not hasattr(os, "fork"):
        pytest.skip("needs processes that can be forked")
    command = [sys.executable, "-m", "tests.helpers.killing", name, backend]
    command += [str(moments), str(seed), str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in said.splitlines()]
    assert len(lines) == moments
    return [(float(seconds), same == "True", phase) for seconds, same, phase in lines]


@pytest.mark.slow
def test_killed_in_search_warm_up_and_draws(tmp_path, request):
    seed = request.config.getoption("--seed-offset")
    found = killed("senses-hmc", "threading", 3, seed, tmp_path)
    assert all(same for _, same, _ in found), found


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("name", SAMPLERS + ASCENTS)
def test_killed_at_twenty_moments(name, backend, tmp_path, request):
    seed = request.config.getoption("--seed-offset")
    found = killed(name, backend, 20, seed, tmp_path)
    assert all(same for _, same, _ in found), found
    phases = {"ascent"} if name in ASCENTS else {"warm-up", "draws"}
    assert phases <= {phase for _, _, phase in found}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Ctrl-C is sent to a group of processes")
def test_ctrl_c_in_workers_keeps_all_chains(tmp_path):
    """It reaches every process of a terminal; workers used to crash of it, and all was lost."""
    command = [sys.executable, "-m", "tests.helpers.interrupting", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        # as many draws are kept as two chains have: one that is far behind would be left out
        made = [0]
        while len(made) < 2 or not 0 < max(made) < 1.5 * min(made):
            assert process.poll() is None
            time.sleep(0.05)
            made = [draws_of(path) for path in tmp_path.glob("*-chain-*.npz")]
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert json.loads(said) == {"interrupted": True, "chains": 2, "same": True, "after": True}


# -- what a fit leaves ---------------------------------------------------------------------------


def test_files_are_removed_with_the_fit_that_is_done(tmp_path, capsys):
    case = CASES["topics-gibbs"]
    with pytest.raises(Broken), break_after(5):
        case.fit(checkpoint=tmp_path)
    assert {path.name[:12] for path in tmp_path.iterdir()} == {"GaussianLDA-"}
    fitted = case.fit(checkpoint=str(tmp_path), verbose=1)
    assert "checkpoint: the fit goes on from chain-0, chain-1 in" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert digest(fitted) == digest(case.fit())


def test_an_interrupted_fit_keeps_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    write, made = Stage.write, []

    def interrupted(stage, *given):
        write(stage, *given)
        made.append(stage)
        if len(made) == 40:
            raise KeyboardInterrupt

    case = CASES["sgns-metropolis"]
    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="Interrupted"):
        patch.setattr(Stage, "write", interrupted)
        model = case.fit(checkpoint=tmp_path)
    assert model.posterior_.attrs["interrupted"]
    assert model.posterior_.n_chains == 1 and 5 < model.posterior_.n_draws < 24
    whole = case.fit(checkpoint=tmp_path)
    assert digest(whole) == digest(case.fit())
    np.testing.assert_array_equal(
        whole.posterior_["rho"][:1, : model.posterior_.n_draws], model.posterior_["rho"]
    )


@pytest.mark.slow
def test_fits_share_a_folder(tmp_path):
    """A search whose folds and candidates have files of their own, broken off in the third fit."""
    model = DiSCSenseModel(n_starts=2, draws=10, warmup=5, chains=1, random_state=0)
    model.set_params(checkpoint=tmp_path)
    search = GridSearchCV(model, {"n_senses": [1, 2]}, cv=2, refit=False, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(Broken), break_after(10):
            search.fit(SENSES.counts)
        left = {path.name.split("-")[1] for path in tmp_path.iterdir()}
        assert len(left) == 1
        found = search.fit(SENSES.counts).cv_results_["mean_test_score"]
        assert not list(tmp_path.iterdir())
        search.estimator.checkpoint = None
        without = search.fit(SENSES.counts).cv_results_["mean_test_score"]
        np.testing.assert_array_equal(found, without)


# -- more draws ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in DEAR else ()) for n in SAMPLERS]
)
def test_draws_are_appended(name, tmp_path):
    case, options = CASES[name], {"checkpoint": tmp_path, "warm_start": True}
    case.fit(draws=7, **options)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    more = case.fit(**options)
    assert digest(more) == digest(case.fit())
    assert {path for path in tmp_path.iterdir()} == set(before)
    # searches are not made again
    again = {path.name for path, at in before.items() if path.stat().st_mtime_ns > at}
    assert all("chain" in name for name in again) and len(again) == 2
    assert digest(case.fit(n_jobs=2, **options)) == digest(more)
    with pytest.raises(ValueError, match="draws=20 is less than the 24 draws"):
        case.fit(draws=20, **options)


def test_draws_that_would_be_recorded_more_rarely_are_not_appended(tmp_path, monkeypatch):
    case, options = CASES["topics-gibbs"], {"checkpoint": tmp_path, "warm_start": True}
    case.fit(draws=7, **options)
    footprint = spine.Footprint
    monkeypatch.setattr(recording, "Footprint", lambda **k: footprint(**k | {"budget": 1}))
    with pytest.raises(
        ValueError, match=r"\(every 1, not every 24\): begin anew, with keep_draws='all'"
    ):
        case.fit(**options)
    assert case.fit(keep_draws="all", **options).posterior_.n_draws == 24


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_names_are_the_same_in_another_process(request):
    """Sets have another order there."""
    command = [sys.executable, "-c", PRINT, str(request.config.getoption("--seed-offset"))]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"{name} {name_of(name)}" for name in SAMPLERS]


@pytest.mark.parametrize("name", ["sgns-hmc", "dynamic-gibbs", "senses-vi", "topics-gibbs"])
def test_names_tell_fits_apart(name, capsys):
    names = {name_of(name)}
    for other in ({"random_state": 1}, {"draws": 25}, {"tol": 1e-7}):
        names.add(name_of(name, **other))
    assert len(names) == 4
    same = {"n_jobs": 2, "verbose": 1, "random_state": np.random.RandomState(0)}
    for parameter, value in same.items():
        assert name_of(name, **{parameter: value}) in names, parameter


def test_other_data_have_another_name():
    counts = CASES["senses-hmc"].X.copy()
    before = name_of("senses-hmc")
    counts.data[0] += 1
    assert name_of("senses-hmc", counts) != before


# -- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [BayesianSGNS, DynamicSGNS, DiSCSenseModel, GaussianLDA])
def test_parameters_are_checked_before_any_work(cls, tmp_path):
    (tmp_path / "file").write_text("")
    for value, message in {
        3: "checkpoint must be None or the path of a folder, got 3",
        b"folder": "checkpoint must be None or the path of a folder",
        str(tmp_path / "file"): "checkpoint must be the path of a folder, and .* is a file",
    }.items():
        with pytest.raises(ValueError, match=message):
            cls(checkpoint=value, random_state=0).fit(object())
    with pytest.raises(ValueError, match="warm_start=True needs a folder"):
        cls(warm_start=True).fit(object())
    with pytest.raises(ValueError, match="warm_start must be True or False, got 'yes'"):
        cls(warm_start="yes").fit(object())
    with pytest.raises(ValueError, match="checkpoint needs a seed, got random_state=None"):
        cls(checkpoint=tmp_path).fit(object())


@pytest.mark.filterwarnings("ignore:stop_words is not used for X")
def test_what_has_no_digest(tmp_path):
    message = r"checkpoint must be None for this fit: .*\['stop_words'\] is a .*mappingproxy"
    with pytest.raises(TypeError, match=message):
        CASES["senses-gibbs"].fit(checkpoint=tmp_path, stop_words=types.MappingProxyType({}))


def test_paths_are_saved_as_text(tmp_path):
    fitted = CASES["senses-map"].fit(checkpoint=tmp_path)
    fitted.save(tmp_path / "model.npz")
    assert skbayesembed.load(tmp_path / "model.npz").checkpoint == str(tmp_path)


@pytest.mark.slow
def test_damage_is_an_error_before_any_work(tmp_path):
    case = CASES["senses-gibbs"]
    with pytest.raises(Broken), break_after(3):
        case.fit(checkpoint=tmp_path)
    path = next(tmp_path.glob("*chain-0.npz"))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"checkpoint: the file .*chain-0.npz' is damaged"):
        case.fit(checkpoint=tmp_path)
    path.unlink()
    assert digest(case.fit(checkpoint=tmp_path)) == digest(case.fit())

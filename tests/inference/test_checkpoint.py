"""Checkpoints of chains and other stages: what is written, read, refused; the same draws after."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

from skbayesembed.inference import checkpoint
from skbayesembed.inference.checkpoint import Checkpoint
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.records import Settings
from skbayesembed.inference.trajectories import HamiltonianOptions
from skbayesembed.io import archive
from skbayesembed.io.digest import digest
from tests.helpers.breaking import Broken, break_after
from tests.inference.test_chains import Counting, ctrl_c, sample
from tests.inference.test_hmc import Gaussian, correlated

__all__ = ["ctrl_c"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A checkpoint that is written to after every sweep."""
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    # the disk is not waited for
    monkeypatch.setattr(os, "fsync", lambda file: None)
    return Checkpoint(tmp_path, "Fit", "0123456789abcdef" * 4)


def kept(files, function, *arguments, **options):
    with checkpoint.active(files):
        return function(*arguments, **options)


def arrays_of(result):
    """All that chains recorded, in one dict."""
    found = result.draws | {f"stats {name}": values for name, values in result.stats.items()}
    for name, moments in result.moments.items():
        found |= {f"mean {name}": moments.mean, f"variance {name}": moments.variance}
    return found


def assert_same(result, expected):
    found, expected = arrays_of(result), arrays_of(expected)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


# -- chains --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "n_jobs"),
    [
        pytest.param(settings, n_jobs, marks=pytest.mark.slow if (i + n_jobs) % 2 else ())
        for i, settings in enumerate([
            {},
            {"thin": 3, "warmup": 0},
            {"stride": 5, "moments": True, "rows": {"x": np.array([3, 1])}},
            {"stride": 4, "moments": True, "covariance": False},
        ])
        for n_jobs in (1, 2)
    ],
)  # fmt: skip
def test_chains_go_on_wherever_they_were_broken_off(files, settings, n_jobs):
    expected = sample(**settings)
    for n in range(1, 40, 9):
        try:
            with break_after(n):
                assert_same(kept(files, sample, n_jobs=n_jobs, **settings), expected)
            break
        except Broken:
            assert_same(kept(files, sample, n_jobs=n_jobs, **settings), expected)
            files.remove()
    else:
        raise AssertionError("chains of 17 sweeps were written more often")


def test_chains_that_were_done_are_not_run_again(files):
    expected = kept(files, sample)
    fault = Counting(ArithmeticError("a sweep"), at=1)
    assert_same(kept(files, sample, fault), expected)


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        pytest.param(kind, n, marks=() if i == j else pytest.mark.slow)
        for i, kind in enumerate(("given", "diag", "pooled", "block"))
        for j, n in enumerate((9, 34, 71, 97))
    ],
)
def test_hamiltonian_chains_go_on_while_they_learn(files, kind, n):
    """100 transitions of warm-up have all of its phases: no window, three windows, the end."""
    model = Gaussian(correlated(6))
    model.block_size, model.turns = 2, kind == "diag"
    options = HamiltonianOptions(metric=kind)

    def one_chain():
        settings, seeds = Settings(draws=15, warmup=100), np.random.SeedSequence(0)
        return sample_hmc(model, settings, options, n_chains=1, seeds=seeds)

    with break_after(n), pytest.raises(Broken):
        kept(files, one_chain)
    assert_same(kept(files, one_chain), one_chain())


@pytest.mark.slow
def test_processes(files):
    """Chains go on in other processes."""
    with pytest.raises(Broken), break_after(20):
        kept(files, sample)
    expected, fault = sample(), Counting(ArithmeticError("a sweep"), at=5)
    with joblib.parallel_config(backend="loky"):
        assert_same(kept(files, sample, n_jobs=2), expected)
        # they have written all that is left to do
        assert_same(kept(files, sample, fault, n_jobs=2), expected)


def test_states_that_cannot_be_written_are_refused_at_once(files):
    class Strange(Counting):
        def init_state(self, rngs):
            return super().init_state(rngs) | {"self": object()}

    with pytest.raises(TypeError, match="is a builtins.object, which is not stored"):
        kept(files, sample, Strange(ArithmeticError("a sweep"), at=1))


# -- interruption --------------------------------------------------------------------------------


def interrupt_after(files, n_chains, n_draws):
    """Ctrl-C as soon as so many chains have written so many draws."""

    def written(index):
        state = files.stage(f"chain-{index}").read()
        return 0 if state is None else state["n_draws"]

    def watch():
        while min(written(i) for i in range(n_chains)) < n_draws:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGALRM)

    threading.Thread(target=watch, daemon=True).start()


# An interrupt between `open` and its `with` leaves the file to be closed with its last reference.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize(("backend", "n_jobs"), [
    pytest.param("loky", 2, marks=pytest.mark.slow), ("threading", 1), ("threading", 2),
])  # fmt: skip
def test_ctrl_c_keeps_all_chains(ctrl_c, files, backend, n_jobs):  # noqa: F811
    """Those of other processes up to the last writing; the same call then goes on."""
    model, settings = Counting(pause=0.002), {"draws": 3000, "warmup": 5}
    interrupt_after(files, n_jobs, 10)
    with joblib.parallel_config(backend=backend), pytest.warns(RuntimeWarning, match="Interrupted"):
        result = kept(files, sample, model, n_jobs=n_jobs, **settings)
    n_chains, n_draws = result.stats["sweeps"].shape
    # one after the other, the second chain has not begun
    assert n_chains <= n_jobs and 10 <= n_draws < 3000
    np.testing.assert_array_equal(result.stats["sweeps"][-1], np.arange(6, 6 + n_draws))
    # as often as users have it
    files.interval = 30.0
    whole = kept(files, sample, n_jobs=n_jobs, **settings)
    assert_same(whole, sample(**settings))


# -- files ---------------------------------------------------------------------------------------


def ignored(state):
    """Reads arrays, and forgets them."""
    return lambda name, array: None


def written(files):
    stage = files.stage("one")
    stage.write({"numbers": [1.5, None], "rng": np.random.default_rng(3)}, {"x": np.arange(5.0)})
    return stage


def test_stages_hold_what_was_written(files):
    taken = {}
    state = written(files).read(lambda state: taken.__setitem__)
    assert state["numbers"] == [1.5, None]
    assert state["rng"].random() == np.random.default_rng(3).random()
    np.testing.assert_array_equal(taken["x"], np.arange(5.0))
    assert files.stage("another").read() is None


def test_damaged_files_are_refused(files):
    stage = written(files)
    data = stage.path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in (0, 4, *rng.integers(5, len(data) - 1, 10).tolist()):
        stage.path.write_bytes(data[:cut])
        message = re.escape(f"the file {str(stage.path)!r} is damaged. Remove it")
        for refuse in (files.check, lambda: stage.read(ignored)):
            with pytest.raises(ValueError, match=message):
                refuse()
    bent = bytearray(data)
    bent[data.index(np.arange(5.0).tobytes()) + 8] ^= 1
    stage.path.write_bytes(bytes(bent))
    with pytest.raises(ValueError, match="is damaged"):
        stage.read(ignored)


def test_files_of_another_version_or_fit_are_refused(files, monkeypatch):
    stage = written(files)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "package_version", lambda: "99.0")
        with pytest.raises(ValueError, match=r"was written by skbayesembed .*, this is 99\.0"):
            stage.read()
    other = Checkpoint(files.folder, "Fit", "f" * 64).stage("one")
    stage.path.rename(other.path)
    with pytest.raises(ValueError, match="is of other data, parameters or seeds"):
        other.read()


def test_what_cannot_be_written_is_told_once(files, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_archive", full)
    with pytest.warns(UserWarning, match="cannot be written to .*No space left") as caught:
        result = kept(files, sample, n_jobs=2)
    assert len(caught) == 1
    assert_same(result, sample())


def test_a_file_stays_until_the_next_is_complete(files, monkeypatch):
    stage = written(files)

    def full(member, array, **_):
        member.write(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.warns(UserWarning, match="No space left"):
        stage.write({"numbers": []})
    assert stage.read(ignored)["numbers"] == [1.5, None]
    assert [path.name for path in files.folder.iterdir()] == [stage.path.name]


def test_files_that_were_not_finished_are_removed_with_the_others(files):
    stage = written(files)
    part = stage.path.with_name(f"{stage.path.name}.00ff.part")
    part.write_bytes(b"killed")
    stranger = Checkpoint(files.folder, "Fit", "f" * 64).stage("one")
    stranger.write({})
    files.remove()
    assert list(files.folder.iterdir()) == [stranger.path]


def test_how_often(tmp_path, monkeypatch):
    """Every ``INTERVAL`` seconds, and so rarely that it takes a twentieth of the time."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stage = Checkpoint(tmp_path, "Fit", "0" * 64).stage("one")
    now[0] = checkpoint.INTERVAL - 1
    assert not stage.due
    now[0] = checkpoint.INTERVAL
    assert stage.due

    def slow(*_):
        now[0] += 10.0

    monkeypatch.setattr(checkpoint, "write_archive", slow)
    stage.write({})
    now[0] += 199.0
    assert not stage.due
    now[0] += 1.0
    assert stage.due


def test_remembered(files):
    with checkpoint.active(files):
        assert checkpoint.remembered("search", lambda: (1, [2.0])) == (1, [2.0])
        assert checkpoint.remembered("search", lambda: None) == (1, [2.0])
    with checkpoint.active(None):
        assert checkpoint.remembered("search", lambda: 5) == 5


# -- digests -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Data:
    counts: np.ndarray
    names: list
    words: frozenset = frozenset(("a", "b", "c", "d"))


def test_digests_tell_all_that_is_different():
    values = [
        Data(np.arange(6.0), ["x"]),
        Data(np.arange(6.0).astype(np.float32), ["x"]),
        Data(np.arange(6.0).reshape(2, 3), ["x"]),
        Data(np.arange(6.0).reshape(2, 3, order="F"), ["x"]),
        Data(np.nextafter(np.arange(6.0), 9.0), ["x"]),
        Data(np.arange(6.0), ["x", "x"]),
        Data(np.arange(6.0), ["x"], frozenset(("a", "b", "c"))),
        Data(np.array(["1", "2"]), ["x"]),
        Data(np.empty((0, 2)), ["x"]),
        Data(np.empty((0, 3)), ["x"]),
    ]
    digests = [digest(value) for value in values]
    assert len(set(digests)) == len(values)
    again = Data(np.arange(6.0), ["x"], frozenset(("d", "c", "b", "a")))
    again.cached = 5
    assert digest(again) == digests[0]


def test_no_folder_no_checkpoint(tmp_path):
    """A path that cannot be a folder is told of before the fit, which goes on without."""

    class Estimator:
        def get_params(self, deep):
            return {"checkpoint": self.checkpoint}

    estimator = Estimator()
    estimator.checkpoint = None
    assert checkpoint.of_fit(estimator, 1, {}) is None
    (tmp_path / "file").write_text("")
    estimator.checkpoint = tmp_path / "file" / "folder"
    with pytest.warns(UserWarning, match="cannot be written to"):
        assert checkpoint.of_fit(estimator, 1, {}) is None
    estimator.checkpoint = tmp_path / "new" / "folder"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checkpoint.of_fit(estimator, 1, {}).folder.is_dir()


def test_chains_do_not_read_headers_at_a_time(files, monkeypatch):
    """Threads of Python 3.11 that parse literals at a time fail now and then."""
    header, inside, most = archive._array_header, [], []

    def watched(member):
        inside.append(member)
        time.sleep(0.001)
        most.append(len(inside))
        inside.remove(member)
        return header(member)

    for i in range(4):
        files.stage(f"chain-{i}").write({"x": np.arange(3.0)})
    monkeypatch.setattr(archive, "_array_header", watched)
    stages = [files.stage(f"chain-{i}") for i in range(4)]
    found = joblib.Parallel(4, prefer="threads")(joblib.delayed(stage.read)() for stage in stages)
    assert [state["x"].tolist() for state in found] == [[0.0, 1.0, 2.0]] * 4
    assert max(most) == 1

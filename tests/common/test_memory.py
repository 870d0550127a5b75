"""What memory there is, and what a fit is told to take of it."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.common import memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system whose files are in ``tmp_path``, without limits."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_GROUP_ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "limited_memory", lambda: np.inf)
    (tmp_path / "proc" / "self").mkdir(parents=True)

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    return write


def test_free_memory(system):
    assert memory.free_memory() == np.inf
    system("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    20 kB\n")
    assert memory.free_memory() == 20 * 1024
    assert memory.allowed_memory() == (20 * 1024, "what is free of its memory")


def test_control_group_of_version_2(system):
    system("proc/self/cgroup", "0::/app\n")
    assert memory.group_memory() == np.inf
    system("cgroup/app/memory.max", "max\n")
    system("cgroup/app/memory.current", "500\n")
    assert memory.group_memory() == np.inf
    system("cgroup/app/memory.max", "2000\n")
    assert memory.group_memory() == 1500
    # files that are only cached are given back
    system("cgroup/app/memory.stat", "anon 400\ninactive_file 100\n")
    assert memory.group_memory() == 1600
    assert memory.allowed_memory()[1] == "what is left of the limit of the control group"


def test_limits_of_groups_around_it_bind(system):
    system("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n")
    system("cgroup/user.slice/user-1000.slice/session-2.scope/memory.max", "max\n")
    system("cgroup/user.slice/memory.max", "8000\n")
    system("cgroup/user.slice/memory.current", "3000\n")
    assert memory.group_memory() == 5000


def test_control_group_of_version_1(system):
    """Within a container the path is that of the host, and its own files are at the root."""
    system("proc/self/cgroup", "5:cpu,memory_other:/\n4:memory:/docker/abc\n")
    system("cgroup/memory/memory.limit_in_bytes", "5000\n")
    system("cgroup/memory/memory.usage_in_bytes", "1000\n")
    system("cgroup/memory/memory.stat", "total_inactive_file 300\n")
    assert memory.group_memory() == 4300


def test_limit_of_the_process(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (2**40, 2**41))
    assert 2**39 < memory.limited_memory() < 2**40
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    assert memory.limited_memory() == np.inf


def test_what_a_fit_takes_is_counted_together(monkeypatch):
    monkeypatch.setattr(memory, "allowed_memory", lambda: (900.0, "a limit"))
    memory.check_memory(600, "One", "Less.")
    memory.check_memory(600, "Two", "Less.")
    with memory.one_account():
        memory.check_memory(600, "One", "Less.")
        # said again it is no second one
        memory.check_memory(500, "One", "Less.")
        message = (
            "Two would take about 600 bytes beside 500 bytes of the same fit; this machine allows "
            "900 bytes .a limit.. Less."
        )
        with memory.one_account(), pytest.raises(MemoryError, match=message):
            memory.check_memory(600, "Two", "Less.")
    memory.check_memory(600, "Two", "Less.")

"""What a fit is announced to take of memory, against what it takes, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Announced and taken agree within this factor either way.
WITHIN = 1.3
# Rooms, solvers, and as many draws as are much of what a fit takes.
CASES = [
    ("sgns", "map", 4),
    ("sgns", "vi", 500),
    ("sgns", "gibbs", 150),
    ("sgns", "laplace", 1000),
    ("sgns", "hmc", 200),
    ("expected", "map", 4),
    ("expected", "vi", 200),
    ("shards", "map", 4),
    ("shards", "vi", 200),
    ("dynamic", "map", 4),
    ("dynamic", "vi", 650),
    ("dynamic", "laplace", 1000),
    ("dynamic", "gibbs", 200),
    ("dynamic", "hmc", 200),
    ("senses", "map", 4),
    ("senses", "vi", 500),
    ("senses", "laplace", 500),
    ("senses", "gibbs", 300),
    ("senses", "hmc", 100),
    ("embedded", "map", 4),
    ("embedded", "vi", 500),
    ("embedded", "hmc", 300),
    ("topics", "vi", 400),
    ("topics", "gibbs", 200),
    ("topics", "map", 4),
    ("topics", "hmc", 20),
    ("topics", "laplace", 100),
    ("tilted", "vi", 400),
    ("tilted", "gibbs", 200),
    ("drawn_senses", "vi", 500),
    ("drawn_senses", "hmc", 300),
    ("drawn_topics", "vi", 400),
    ("drawn_topics", "gibbs", 200),
]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are Linux's")
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("room", "solver", "draws"), CASES)
def test_announced_memory_is_about_the_peak(room, solver, draws, size):
    command = [
        sys.executable,
        "-m",
        "tests.helpers.peak_memory",
        room,
        solver,
        str(size),
        str(draws),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    announced, peak = json.loads(said.splitlines()[-1])
    assert peak / WITHIN <= announced <= WITHIN * peak, (announced / 2**20, peak / 2**20)

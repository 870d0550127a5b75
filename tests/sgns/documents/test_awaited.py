"""What those who wait for intervals by units are told."""

from __future__ import annotations

import pytest

from skbayesembed.sgns.documents.awaited import Awaited, seconds_of_each


def test_the_rate_is_that_of_most_reports():
    assert seconds_of_each([(5.0, 16)]) is None
    # two threads that report together, and a wait of a minute by other work
    steady = [(2.0 * (i // 2), 10 * i) for i in range(8)]
    held_up = [(when + 60.0 * (i >= 6), done) for i, (when, done) in enumerate(steady)]
    assert seconds_of_each(steady) == pytest.approx(0.1)
    assert seconds_of_each(held_up) < 0.2


def test_the_first_part_tells_no_rate(capsys):
    awaited = Awaited(1)
    for done in (16, 32, 48):
        awaited.solved(done, 48)
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.endswith("16 of 48 deviations, 0 s, time left not known yet")
    assert second.endswith("32 of 48 deviations, 0 s, time left 0 s")
    assert last.endswith("48 of 48 deviations, 0 s")

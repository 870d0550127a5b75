"""Quasi-Newton ascent: reaches the top, keeps its point when stopped, uses the preconditioner."""

import numpy as np
import pytest

from skbayesembed.inference.ascent import Ascent
from skbayesembed.inference.chains import Workers
from skbayesembed.inference.threads import serial


class Bowl:
    """-d' A d / 2 - sum log cosh(w d), d = x - top; diagonal preconditioner, or none."""

    def __init__(self, n=40, seed=0, good=True):
        rng = np.random.default_rng(seed)
        root = rng.standard_normal((n, n))
        scale = 10.0 ** rng.uniform(-2, 2, n)
        self.matrix = scale[:, None] * (root @ root.T / n + np.eye(n)) * scale
        self.top = rng.standard_normal(n).astype(np.float32)
        self.point = np.zeros(n, np.float32)
        self.weight = np.sqrt(np.diag(self.matrix))
        self.rough = self.weight**-2.0 if good else np.ones(n)
        self.stop_at = None
        self.calls = 0

    def value_and_gradient(self):
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        d = (self.point - self.top).astype(float)
        pull = self.matrix @ d
        bent = self.weight * d
        value = -0.5 * d @ pull - np.sum(np.logaddexp(bent, -bent) - np.log(2))
        return value, (-pull - self.weight * np.tanh(bent)).astype(np.float32)

    def precondition(self, x):
        x *= self.rough.astype(np.float32)


def test_reaches_the_top_and_never_falls():
    bowl = Bowl()
    ascent = Ascent(bowl, memory=10)
    values = [ascent.value]
    for _ in range(60):
        if not ascent.advance():
            break
        values.append(ascent.value)
    assert np.all(np.diff(values) >= 0)
    # in units in which the diagonal of the curvature is one; float32 has seven digits
    assert np.max(np.abs(bowl.weight * (bowl.point - bowl.top))) < 1e-2
    assert ascent.n_evaluations == bowl.calls


@pytest.mark.parametrize("n_threads", [1, 2])
def test_in_pieces_it_is_the_same_but_for_sums(n_threads, monkeypatch):
    def steps(run):
        bowl = Bowl()
        ascent = Ascent(bowl, run=run)
        for _ in range(5):
            assert ascent.advance()
        return bowl.point, ascent.value

    whole = steps(serial)
    monkeypatch.setattr("skbayesembed.inference.ascent._LONG", 12)
    monkeypatch.setattr("skbayesembed.inference.ascent._SHORT", 5)
    with Workers(n_threads) as run:
        point, value = steps(run)
    # rounding of single precision, some hundred times as large after five steps
    np.testing.assert_allclose(point, whole[0], rtol=1e-4, atol=1e-5)
    assert value == pytest.approx(whole[1], rel=1e-4)


def test_the_preconditioner_saves_steps():
    steps = {}
    for good in (True, False):
        ascent = Ascent(Bowl(good=good), memory=5)
        # without it a first step of full length is absurdly long, and is cut
        steps[good] = 0
        while ascent.value < -1.0 and steps[good] < 300 and ascent.advance():
            steps[good] += 1
    assert steps[True] < 0.5 * steps[False]


def test_an_interruption_leaves_the_last_accepted_point():
    bowl = Bowl()
    ascent = Ascent(bowl)
    ascent.advance()
    before, bowl.stop_at = bowl.point.copy(), bowl.calls + 1
    with pytest.raises(KeyboardInterrupt):
        ascent.advance()
    np.testing.assert_array_equal(bowl.point, before)


def test_at_the_top_there_is_no_step():
    bowl = Bowl()
    bowl.point[:] = bowl.top
    ascent = Ascent(bowl)
    assert not ascent.advance()
    np.testing.assert_array_equal(bowl.point, bowl.top)


def test_where_nothing_is_to_be_gained_it_stays_finite():
    bowl = Bowl()
    bowl.matrix *= 1e-30
    bowl.weight *= 1e-15
    bowl.rough[:] = 1.0
    ascent = Ascent(bowl)
    for _ in range(5):
        ascent.advance()
    assert np.all(np.isfinite(bowl.point)) and np.isfinite(ascent.value)


def test_another_ascent_goes_on_with_what_one_remembers():
    bowls = whole, parts = Bowl(), Bowl()
    ascents = [Ascent(bowl, memory=4) for bowl in bowls]
    for ascent in ascents:
        for _ in range(6):
            assert ascent.advance()
    other = Ascent(parts, memory=4, known=ascents[1].known)
    assert len(other.known) == 4
    for ascent in (ascents[0], other):
        for _ in range(3):
            assert ascent.advance()
    np.testing.assert_array_equal(whole.point, parts.point)
    # its own list: what the first remembers stays as it was
    assert other.known is not ascents[1].known

"""Running moments that are interrupted."""

import itertools
import signal

import numpy as np

from skbayesembed.posterior import RunningMoments, running_moments


def test_ctrl_c_leaves_no_half_of_the_words_behind(monkeypatch):
    """It comes while the second half of the draws is added, block by block of words."""
    draws = np.random.default_rng(0).normal(size=(64, 40, 3))
    moments = RunningMoments((40, 3))
    monkeypatch.setattr(running_moments, "_MOST_BUFFERED", 32)
    monkeypatch.setattr(running_moments, "_BLOCK_BYTES", 8 * 9 * 33)
    add, n = RunningMoments._add_products, itertools.count()

    def interrupted(self, words, deviations):
        add(self, words, deviations)
        if next(n) == 20:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(RunningMoments, "_add_products", interrupted)
    heard = 0
    # a process in the background may have been told to ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for draw in draws:
            try:
                moments.update(draw)
            except KeyboardInterrupt:
                heard += 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == 1 and next(n) > 21 and moments.count == 64
    np.testing.assert_allclose(moments.mean, draws.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments.variance, draws.var(axis=0, ddof=1))

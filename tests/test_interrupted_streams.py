"""Ctrl-C in ``partial_fit``: a minibatch is taken in wholly or not at all, wherever it falls."""

from __future__ import annotations

import copy
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import skbayesembed
from skbayesembed import BayesianSGNS, DynamicSGNS, GaussianLDA
from skbayesembed.datasets import make_text, make_topics
from skbayesembed.io.digest import digest
from skbayesembed.sgns.vi import online as words_online
from skbayesembed.sgns.vi.online import OnlineVI
from skbayesembed.topics.vi import online as topics_online

# Files with lines that Ctrl-C may come before. Not those with locks: the end of a lock is such a
# line, too, but Python lets no signal in there.
PACKAGE = Path(skbayesembed.__file__).parent
FILES = {
    str(path) for room in ("common", "topics", "sgns") for path in (PACKAGE / room).rglob("*.py")
}
TOPICS = make_topics(40, n_words=60, n_topics=2, n_dims=3, random_state=0)
TEXTS = make_text(
    40, n_words=40, n_topics=2, n_components=None, mean_length=30, random_state=0
).texts  # fmt: skip
SIZE, PLACES = 10, 40
WORDS = {"solver": "vi", "min_count": 1, "batch_size": SIZE, "random_state": 0}
DRAWN = {"negative_sampling": "sampled", "window_weights": "dynamic", "subsample": 1e-2}


def topics(**options):
    options = {"embedding": TOPICS.vectors, "batch_size": SIZE, "random_state": 0, **options}
    return GaussianLDA(2, solver="vi", **options), TOPICS.counts


def words(**options):
    return BayesianSGNS(2, **WORDS, **options), TEXTS


CASES = {
    "gaussian": lambda: topics(),
    "learned prior": lambda: topics(learn_doc_topic_prior="asymmetric"),
    "dirichlet": lambda: topics(word_model="dirichlet"),
    "words": lambda: words(),
    "words, drawn": lambda: words(**DRAWN),
    "words, diagonal": lambda: words(covariance="diag"),
    "words, learned precision": lambda: words(prior="ard"),
}


class CtrlC:
    """Context that counts lines of `FILES`, and presses Ctrl-C before the ``at``-th."""

    def __init__(self, at=None):
        self.at, self.n_lines = at, 0

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)

    def _trace(self, frame, event, given):
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            self.n_lines += 1
            if self.n_lines == self.at:
                signal.raise_signal(signal.SIGINT)
        return self._trace


def state(stream):
    """A digest of what a stream has learned, and of its random numbers."""
    stream = copy.deepcopy(stream)
    if isinstance(stream.online, OnlineVI):
        # bases are changed with the next batch where that is still to be done
        stream.online._rebalance_if_due()
        stream.online.q.second = None
    found = {name: value for name, value in vars(stream).items() if name in ("tokens", "rng")}
    return digest([found, vars(stream.online)])


@pytest.fixture
def begun(request):
    """An estimator that has learned from half of the documents, and the others."""
    model, X = CASES[request.param]()
    return model.partial_fit(X[:20]), X[20:]


@pytest.mark.parametrize("begun", CASES, indirect=True)
def test_wherever_an_interruption_falls(begun):
    model, X = begun
    before = model._stream
    whole = copy.deepcopy(before)
    with CtrlC() as lines:
        whole.learn(model, X)
    last = state(whole)
    for at in np.unique(np.linspace(1, lines.n_lines, PLACES).astype(int)):
        stream = copy.deepcopy(before)
        with CtrlC(at), pytest.raises(KeyboardInterrupt):
            stream.learn(model, X)
        done = stream.n_taken - before.n_taken
        if done == 0:
            assert state(stream) == state(before)
        # words as they are in all documents of the call decide on those that are left out
        if done < 2:
            stream.learn(model, X[done * SIZE :])
        assert state(stream) == last


@pytest.mark.parametrize("begun", ["gaussian", "dirichlet", "words", "words, drawn"], indirect=True)
def test_the_same_call_again(begun, monkeypatch):
    """An error within the only minibatch of a call, and the call once more."""
    model, X = begun
    again = copy.deepcopy(model).partial_fit(X[:SIZE])
    of_words = isinstance(model, BayesianSGNS)
    owner = OnlineVI if of_words else topics_online.LocalFactors
    name = "_update_side" if of_words else "update"
    whole, calls = getattr(owner, name), []

    def cut(self, *given, **options):
        calls.append(1)
        if len(calls) == 1 + of_words:
            raise KeyboardInterrupt
        return whole(self, *given, **options)

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing was taken in, and nothing is told of
        patch.setattr(owner, name, cut)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[:SIZE])
    model.partial_fit(X[:SIZE])
    assert state(model._stream) == state(again._stream)
    assert model.posterior_.attrs["n_batches"] == again.posterior_.attrs["n_batches"] == 3


def test_a_batch_of_large_tables_ends_first(begun_words, monkeypatch):
    """Rows of large tables are not kept: Ctrl-C waits for the end of the batch."""
    monkeypatch.setattr(words_online, "_MOST_KEPT", 0)
    model, X = begun_words
    again, update = copy.deepcopy(model).partial_fit(X[:SIZE]), OnlineVI._update_side

    def cut(self, *given):
        signal.raise_signal(signal.SIGINT)
        return update(self, *given)

    with (
        monkeypatch.context() as patch,
        pytest.warns(UserWarning, match="taken in 1 minibatch .* batch_size=10 "),
    ):
        patch.setattr(OnlineVI, "_update_side", cut)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[:SIZE])
    assert state(model._stream) == state(again._stream)


@pytest.fixture
def begun_words():
    model, X = words()
    return model.partial_fit(X[:20]), X[20:]


@pytest.mark.parametrize("make", [topics, words], ids=["topics", "words"])
def test_passes_interrupted_in_the_first_batch(make, monkeypatch):
    model, X = make(learning_method="online")
    owner, name = (
        (OnlineVI, "_update_side") if make is words else (topics_online.LocalFactors, "update")
    )

    def cut(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, cut)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)


def test_periods_interrupted_draw_the_same_again(monkeypatch):
    """Contexts drawn for a call that was interrupted are drawn once more."""
    options = {"min_count": 1, "negative_sampling": "sampled", "random_state": 0}
    times = [1900 + i // 20 for i in range(40)]
    model = DynamicSGNS(2, **options).partial_fit(TEXTS[:20], times=times[:20])
    again = copy.deepcopy(model).partial_fit(TEXTS[20:], times=times[20:])

    def cut(*given, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("skbayesembed.dynamic.streaming.learn_periods", cut)
        model.partial_fit(TEXTS[20:], times=times[20:])
    model.partial_fit(TEXTS[20:], times=times[20:])
    np.testing.assert_array_equal(model.rho_, again.rho_)


def test_what_follows_a_period_waits_for_nobody(monkeypatch):
    """Ctrl-C where the estimator notes a batch that its stream has comes to pass after that."""
    times = [1900 + i // 20 for i in range(40)]
    model = DynamicSGNS(2, min_count=1, random_state=0).partial_fit(TEXTS[:20], times=times[:20])
    again = copy.deepcopy(model).partial_fit(TEXTS[20:], times=times[20:])
    note, calls = DynamicSGNS._note_batch, []

    def cut(self, stream):
        if not calls:
            signal.raise_signal(signal.SIGINT)
        calls.append(1)
        note(self, stream)

    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="taken in all of X"):
        patch.setattr(DynamicSGNS, "_note_batch", cut)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(TEXTS[20:], times=times[20:])
    assert model.periods_.n_periods == len(model.rho_) == 2
    np.testing.assert_array_equal(model.rho_, again.rho_)

"""Ctrl-C in a part of a whole: in what a fit starts from, and in the fits of a search."""

from __future__ import annotations

import threading

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score, learning_curve

from skbayesembed import BayesianSGNS, DynamicSGNS, GaussianLDA, over_settings
from skbayesembed.datasets import make_text, make_topics
from skbayesembed.inference import checkpoint
from skbayesembed.inference.ascent import Ascent
from skbayesembed.metrics import score_units
from skbayesembed.sgns import exchange
from skbayesembed.sgns.documents.sampling import Sampling
from skbayesembed.sgns.vi.variational import SGNSVariational
from skbayesembed.topics.gibbs.conditionals import TopicGibbs
from skbayesembed.topics.vi.variational import TopicVI

TEXTS = make_text(
    60, n_words=40, n_topics=2, n_components=None, mean_length=40, random_state=0
).texts  # fmt: skip
TIMES = [1900 + i % 3 for i in range(60)]
TOPICS = make_topics(30, n_words=30, n_topics=2, n_dims=2, random_state=0)


def cut_at(monkeypatch, owner, name, n):
    """Ctrl-C at the ``n``-th call; returns a list with an entry for each call."""
    whole, calls = getattr(owner, name), []

    def cut(*given, **options):
        calls.append(1)
        if len(calls) == n:
            raise KeyboardInterrupt
        return whole(*given, **options)

    monkeypatch.setattr(owner, name, cut)
    return calls


# -- what a fit starts from ----------------------------------------------------------------------


def drifting(**options):
    return DynamicSGNS(2, min_count=1, random_state=0, draws=20, max_iter=30, **options)


@pytest.mark.filterwarnings("ignore:The bound still rose")
@pytest.mark.parametrize("method", ["batch", "filtering"])
def test_a_static_start_that_is_cut_is_none(method, monkeypatch, tmp_path):
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        cut_at(patch, Ascent, "advance", 12)
        drifting(learning_method=method, checkpoint=tmp_path).fit(TEXTS, times=TIMES)
    assert not list(tmp_path.iterdir())
    again = drifting(learning_method=method, checkpoint=tmp_path).fit(TEXTS, times=TIMES)
    whole = drifting(learning_method=method).fit(TEXTS, times=TIMES)
    np.testing.assert_array_equal(again.posterior_["rho"], whole.posterior_["rho"])


@pytest.mark.filterwarnings("ignore:The bound still rose")
def test_a_stream_whose_static_start_is_cut_has_not_begun(monkeypatch):
    model = drifting()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        cut_at(patch, Ascent, "advance", 12)
        model.partial_fit(TEXTS, times=TIMES)
    assert not hasattr(model, "posterior_")
    again, whole = (m.partial_fit(TEXTS, times=TIMES) for m in (model, drifting()))
    np.testing.assert_array_equal(again.rho_, whole.rho_)


@pytest.mark.parametrize("solver", ["map", "laplace", "hmc"])
def test_a_frame_of_topics_that_is_cut_is_none(solver, monkeypatch):
    model = GaussianLDA(
        2, solver=solver, embedding=TOPICS.vectors, init="words", draws=5, warmup=5, random_state=0
    )
    calls = cut_at(monkeypatch, TopicVI, "update", 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TOPICS.counts)
    assert len(calls) == 2


def test_quick_sweeps_that_are_cut_are_no_start(monkeypatch):
    pairs = BayesianSGNS(2, solver="vi", prior="ard", min_count=1, random_state=0)
    # lists of pairs, as many words have
    pairs.set_params(negative_sampling="sampled")
    monkeypatch.setattr("skbayesembed.sgns.data.is_dense", lambda counts: False)
    calls = cut_at(monkeypatch, SGNSVariational, "update", 2)
    with pytest.raises(KeyboardInterrupt):
        pairs.fit(TEXTS)
    assert len(calls) == 2


def test_exchanges_that_are_cut_are_told_in_the_facts(monkeypatch):
    cut_at(monkeypatch, exchange._Search, "_wider", 1)
    model = BayesianSGNS(3, solver="map", min_count=1, prior_precision=0.1, random_state=0)
    assert model.fit(TEXTS).posterior_.attrs["interrupted"]


# -- fits of a search ----------------------------------------------------------------------------


def sampled(**options):
    return GaussianLDA(
        2, embedding=TOPICS.vectors, init="words", draws=20, warmup=5, chains=1, thin=1,
        random_state=0, **options,
    )  # fmt: skip


SEARCHES = {
    "score_units": lambda model, X: score_units(model, X, cv=3),
    "score_units of a search": lambda model, X: score_units(
        GridSearchCV(model, {"n_components": [2]}, cv=2), X, cv=3
    ),
    "cross_val_score": lambda model, X: cross_val_score(model, X, cv=3),
    "learning_curve": lambda model, X: learning_curve(model, X, None, cv=3, train_sizes=[0.9]),
    "grid": lambda model, X: GridSearchCV(model, {"n_components": [2, 3]}, cv=3).fit(X),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("error:Interrupted")
@pytest.mark.parametrize("name", SEARCHES)
def test_one_interruption_ends_a_search(name, monkeypatch, tmp_path):
    """In the draws of the first fit, which alone would be kept; what was written stays.

    Nothing is said of draws that are kept, which as an error would be one of the fit.
    """
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    calls = cut_at(monkeypatch, TopicGibbs, "sweep", 15)
    with pytest.raises(KeyboardInterrupt):
        SEARCHES[name](sampled(checkpoint=tmp_path), TOPICS.counts)
    assert len(calls) == 15
    assert [path.name[-11:] for path in tmp_path.iterdir()] == ["chain-0.npz"]


class CutLDA(GaussianLDA):
    """Ctrl-C in the draws of every fit, for processes of their own."""

    def fit(self, X, y=None):
        with pytest.MonkeyPatch.context() as patch:
            cut_at(patch, TopicGibbs, "sweep", 15)
            return super().fit(X)


def cut_in_workers(backend, model):
    with joblib.parallel_config(backend=backend), pytest.raises(KeyboardInterrupt):
        cross_val_score(model, TOPICS.counts, cv=3, n_jobs=2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cut_fit_of_a_thread_ends_the_search(monkeypatch):
    before = threading.enumerate()
    cut_at(monkeypatch, TopicGibbs, "sweep", 15)
    cut_in_workers("threading", sampled())
    # the fits of other threads go on, and would be counted as those of the next test
    for thread in set(threading.enumerate()) - set(before):
        thread.join(60.0)
        assert not thread.is_alive()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cut_fit_of_a_process_ends_the_search():
    cut_in_workers("loky", CutLDA(**sampled().get_params()))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_last_fit_of_a_search_keeps_its_draws(monkeypatch):
    """Scores are whole, and would be lost: scikit-learn sets them after that fit."""
    search = GridSearchCV(sampled(), {"n_components": [2, 3]}, cv=2)
    cut_at(monkeypatch, TopicGibbs, "sweep", 4 * 25 + 15)
    with pytest.warns(RuntimeWarning, match="Interrupted: the estimator is fitted with"):
        search.fit(TOPICS.counts)
    assert search.best_estimator_.posterior_.attrs["interrupted"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def ask_over_settings(model, texts):
    return over_settings(
        model, texts, lambda fitted: fitted.similarity("w01", "w02"), {"n_components": [2, 3]}
    )


@pytest.mark.parametrize("ask", [score_units, ask_over_settings])
def test_a_look_at_the_dispersion_that_is_cut_ends_it(ask, monkeypatch):
    """The fit before it was whole, and is one of several."""

    def cut(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Sampling, "dispersion", property(cut))
    model = BayesianSGNS(2, min_count=1, uncertainty="model", draws=20, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        ask(model, TEXTS)

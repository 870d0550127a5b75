"""What is chosen before a fit: the power of the likelihood, and where topics start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skbayesembed import GaussianLDA
from skbayesembed.common.power import POWER_GRID
from skbayesembed.datasets import make_topics
from skbayesembed.topics import choice


def test_power_is_chosen():
    """Of vectors that say little of a document's words, a small one."""
    data = make_topics(80, 60, 3, n_dims=12, mean_length=30, separation=0.7,
                       likelihood_power=0.1, random_state=0)  # fmt: skip
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", likelihood_power="auto",
                        normalize=None, random_state=0)  # fmt: skip
    model.fit(data.counts)
    scores = model.likelihood_power_scores_
    assert list(scores) == list(POWER_GRID)
    assert model.likelihood_power_ == max(scores, key=scores.get) < 1
    assert model.posterior_.attrs["likelihood_power"] == model.likelihood_power_
    again = clone(model).set_params(solver="gibbs", draws=3, warmup=3).fit(data.counts)
    assert again.likelihood_power_scores_ == scores, "whatever the solver"
    with pytest.raises(AttributeError):
        clone(model).set_params(likelihood_power=1.0).fit(data.counts).likelihood_power_scores_  # noqa: B018
    with pytest.raises(ValueError, match="needs 5 documents with two tokens or more"):
        model.fit(data.counts[:4])


@pytest.mark.slow
def test_below_power_one_documents_choose_the_start(monkeypatch):
    """The start whose topics complete held-out documents best, whatever the bounds."""
    data = make_topics(60, 40, 3, n_dims=4, mean_length=15, random_state=0)
    found = {}
    for better in choice.STARTS:

        def score(split, estimator, problem, better=better):
            start = "words" if problem.clusters is None else "documents"
            return -1.0 if start == better else -2.0

        monkeypatch.setattr(choice.Split, "score", score)
        for power in (0.5, "auto"):
            model = GaussianLDA(3, embedding=data.vectors, solver="vi", likelihood_power=power,
                                random_state=0).fit(data.counts)  # fmt: skip
            assert model.posterior_.attrs["init"] == better
            named = clone(model).set_params(init=better, likelihood_power=model.likelihood_power_)
            found[better] = named.fit(data.counts).elbo_
            np.testing.assert_array_equal(model.elbo_, found[better])
    assert found["words"][0] != found["documents"][0]


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_few_documents_leave_the_start_to_the_bound(power):
    data = make_topics(4, 30, 2, n_dims=3, mean_length=15, random_state=0)
    model = GaussianLDA(2, embedding=data.vectors, solver="vi", likelihood_power=power,
                        random_state=0)  # fmt: skip
    start = model.fit(data.counts).posterior_.attrs["init"]
    elbo = {s: clone(model).set_params(init=s).fit(data.counts).elbo_ for s in choice.STARTS}
    np.testing.assert_array_equal(model.elbo_, elbo[start])


@pytest.mark.parametrize("word_proba", ["count", "density"])
@pytest.mark.filterwarnings("ignore:. of 8 topics holds? less than one token")
@pytest.mark.filterwarnings("ignore:Topic 0 .* holds")
def test_power_is_chosen_where_covariances_have_no_mean(word_proba):
    """Few degrees of freedom and small topics: E[Sigma] is infinite at small powers."""
    data = make_topics(15, 10, 2, n_dims=2, mean_length=8, random_state=1)
    model = GaussianLDA(8, embedding=data.vectors, solver="vi", likelihood_power="auto", draws=3,
                        min_count=1, word_proba=word_proba, degrees_of_freedom_prior=1.5,
                        covariance_prior=0.1, random_state=0)  # fmt: skip
    scores = model.fit(data.counts).likelihood_power_scores_
    assert np.isfinite(list(scores.values())).all()
    assert model.likelihood_power_ == max(scores, key=scores.get)


@pytest.mark.parametrize(
    ("slow", "best"),
    [
        # it is still below after ten sweeps, by as much as it gains in a few
        (lambda sweeps: -31.0 + 2.0 * np.minimum(sweeps, 16), "slow"),
        # it gains far less than it lacks
        (lambda sweeps: -30.0 + 0.1 * np.minimum(sweeps, 16), "fast"),
        # bounds that are equal but for rounding
        (lambda sweeps: -10.0 - 1e-12 * np.cos(sweeps), "fast"),
        # it goes on as far as sweeps are made
        (lambda sweeps: -300.0 + 3.0 * sweeps, "fast"),
    ],
)
def test_a_start_that_still_climbs_is_waited_for(slow, best, monkeypatch):
    bounds, most = {"fast": lambda sweeps: -10.0 + 0.0 * sweeps, "slow": slow}, [0]

    class Climb:
        def __init__(self, problem, run):
            self.bound = bounds[problem]

        def to(self, n):
            most.append(n)
            return self.bound(np.arange(1.0, n + 1.0)).tolist()

    monkeypatch.setattr(choice, "_Climb", Climb)
    assert choice._better_of(("fast", "slow"), None) == best
    assert max(most) <= choice._MOST_SWEEPS


def test_a_climb_goes_on_where_it_ended():
    data = make_topics(n_documents=30, n_words=20, n_topics=2, n_dims=3, random_state=0)
    model = GaussianLDA(2, embedding=data.vectors, solver="vi", init="words", random_state=0)
    problems = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "_better_of", lambda both, run: problems.extend(both) or both[0])
        model.set_params(init="auto").fit(data.counts)

    def run(function, tasks):
        return [function(*task) for task in tasks]

    climb, whole = (choice._Climb(problems[0], run) for _ in range(2))
    climb.to(4)
    np.testing.assert_allclose(climb.to(9), whole.to(9), rtol=1e-10)

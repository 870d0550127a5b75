"""Features of documents drawn at their times: the moments of ``transform``, jointly over time."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import DynamicSGNS

_RNG = np.random.default_rng(2)
_TOPICS = _RNG.dirichlet(np.full(12, 0.7), 3)
TEXTS = [
    [f"w{j:02}" for j in _RNG.choice(12, 40, p=_RNG.dirichlet(15 * _TOPICS[i % 3] + 0.05))]
    for i in range(60)
]
TIMES = 1900 + 2 * _RNG.permutation(np.arange(60) % 3)
TEXTS[7] = [*TEXTS[7], "once", "once"]
READ = [["w00", "w01"], ["w00", "w01"], ["w00", "w01"], ["w00", "w01"], ["once", "w03"]]
# in a period, again, between two, after the last
AT = [1900, 1900, 1901, 1908, 1902]
N = 2000
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:.* vary more than 2 times as much"),
    # of later documents, as some are on purpose
    pytest.mark.filterwarnings("ignore:.* are of times before the first period"),
]


def make(**parameters):
    options = {"diffusion": 0.05, "min_count": 1, "random_state": 0, "features": "mean_std"}
    return DynamicSGNS(2, **options | parameters).fit(TEXTS, times=TIMES)


MODELS = {
    "documents": {"solver": "map"},
    "recorded": {"solver": "vi", "uncertainty": "model", "draws": 300},
    "drawn": {"solver": "vi", "uncertainty": "model", "draws": 10},
    "gibbs": {"uncertainty": "model", "solver": "gibbs", "draws": 100, "warmup": 50, "chains": 2},
}


@pytest.fixture(scope="module", params=list(MODELS))
def model(request):
    return make(**MODELS[request.param])


@pytest.mark.parametrize("times", [AT, None], ids=["times", "without"])
def test_moments_are_those_of_transform(model, times):
    draws = model.sample_transform(READ, N, times=times)
    mean, sd = np.split(model.transform(READ, times=times), 2, axis=1)
    # five standard errors of 2,000 draws, and as much of the fewer that ``transform`` may read:
    # 100 where draws of an approximation are made anew
    fewest = 100 if model.draws == 10 else N
    error = 5 * np.sqrt(1 / N + (fewest < N) / fewest)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=error * sd.max())
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=error / np.sqrt(2) + 0.01)


def test_draws_are_joint_over_documents_and_times(model):
    draws = model.sample_transform(READ, 400, times=AT)
    np.testing.assert_allclose(draws[:, 0], draws[:, 1])
    alone = model.sample_transform(READ[2:3], 400, times=AT[2:3])
    np.testing.assert_allclose(draws[:, 2], alone[:, 0], atol=1e-6)
    # halfway to the next period a vector is half of this one; correlations of 200 independent
    # draws, as many as there are at least, have standard deviations of .07, their mean .05
    between = [np.corrcoef(draws[:, 0, k], draws[:, 2, k])[0, 1] for k in range(2)]
    assert np.mean(between) > 0.15

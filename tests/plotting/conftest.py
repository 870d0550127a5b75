"""Small fits that figures are made of, and a backend that needs no screen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA
from skbayesembed.datasets import make_senses, make_topics

try:
    import matplotlib
    from matplotlib import pyplot as plt
except ImportError:
    # to skip here would end pytest where this folder is asked for
    collect_ignore_glob = ["test_*.py"]
else:
    matplotlib.use("Agg")

WORDS = "ant bee cat dog elk fox gnu hen".split()


@pytest.fixture(autouse=True)
def closed():
    """Close figures, and see that no setting of matplotlib has changed."""
    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="package")
def texts():
    """Documents in which words of one half of the alphabet keep company."""
    rng = np.random.default_rng(0)
    halves = WORDS[:4], WORDS[4:]
    return [" ".join(rng.choice(halves[i % 2], 12)) for i in range(60)]


def sgns(texts, solver, **options):
    options = {"min_count": 1, "prior_precision": 1.0, "random_state": 0, "n_jobs": 1, **options}
    return quietly(BayesianSGNS(3, solver=solver, **options).fit, texts)


def quietly(fit, *data, **covariates):
    """A fit whose warnings, of chains that are too short, are of no account for figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*data, **covariates)


@pytest.fixture(scope="package")
def by_units(texts):
    return sgns(texts, "map")


@pytest.fixture(scope="package")
def point(texts):
    return sgns(texts, "map", uncertainty="model")


@pytest.fixture(scope="package")
def variational(texts):
    return sgns(texts, "vi", uncertainty="model", draws=200)


@pytest.fixture(scope="package")
def ard(texts):
    return sgns(texts, "vi", prior="ard", draws=100)


@pytest.fixture(scope="package")
def sampled(texts):
    return sgns(texts, "gibbs", uncertainty="model", draws=200, warmup=100, chains=2)


@pytest.fixture(scope="package")
def dynamic(texts):
    years = 1900 + 10 * (np.arange(len(texts)) % 3)
    options = {"min_count": 1, "random_state": 0, "n_jobs": 1, "bins": [1895, 1905, 1915, 1925]}
    return quietly(DynamicSGNS(3, solver="map", **options).fit, texts, times=years)


@pytest.fixture(scope="package")
def senses():
    made = make_senses(120, 30, n_senses=2, n_periods=4, n_genres=2, random_state=0)
    kept = made.times != 1  # a period without a snippet
    model = DiSCSenseModel(2, solver="laplace", n_starts=1, draws=100, random_state=0)
    counts, times = made.counts[kept], made.times[kept]
    genres = np.array(["verse", "prose"])[made.genres[kept]]
    return quietly(model.fit, counts, times=times, genres=genres)


@pytest.fixture(scope="package")
def topics():
    made = make_topics(n_documents=40, n_words=60, n_topics=3, n_dims=3, random_state=0)
    model = GaussianLDA(3, embedding=made.vectors, solver="vi", random_state=0, draws=50)
    return quietly(model.fit, made.counts)

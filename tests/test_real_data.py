"""Real corpora, where the folder named by SKBAYESEMBED_DATA is there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_inaugural, fetch_state_of_the_union

pandas = pytest.importorskip("pandas")
DATA = os.environ.get("SKBAYESEMBED_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="SKBAYESEMBED_DATA does not name a folder")


def table(*parts):
    path = Path(DATA, *parts)
    if not path.exists():
        pytest.skip(f"{path.name} is not in the folder that SKBAYESEMBED_DATA names")
    return pandas.read_csv(path)


# whole documents tell the last of four components poorly apart: its axis is not settled
@pytest.mark.filterwarnings("ignore:.*coordinates of target vectors")
def test_addresses_as_a_count_matrix():
    """Whole-document pairs of long texts: thousands of observations a pair, and chains that mix."""
    frame = table("inaugural", "inaugural.csv.gz")
    texts = frame["text"]
    counts = CountVectorizer(max_features=150).fit_transform(texts)
    options = {"chains": 2, "n_jobs": 2, "random_state": 0, "min_count": 1}
    model = BayesianSGNS(4, draws=250, warmup=200, anchors=None, **options).fit(counts)
    assert model.posterior_.attrs["max_rhat"] < 1.05
    assert model.posterior_.stats["acceptance"].mean() > 0.8
    assert model.score(counts) > np.log(0.5)


def test_presidents_are_people():
    table("inaugural", "inaugural.csv.gz")  # skips where there are no data
    found = fetch_inaugural()
    assert len(found.data) == 59 and len(set(found.president)) == 40
    found = fetch_state_of_the_union()
    assert len(found.data) == 240 and len(set(found.president)) == 42


@pytest.mark.slow
def test_posterior_beats_map_on_addresses():
    """Windows of text, later addresses held out: averaging beats the point estimate."""
    frame = table("inaugural", "inaugural.csv.gz")
    texts = frame["text"].tolist()
    train, test = texts[:-12], texts[-12:]
    options = {"n_components": 8, "max_features": 400, "random_state": 0}
    posterior = BayesianSGNS(draws=300, warmup=150, chains=2, n_jobs=2, anchors=None, **options)
    score = posterior.fit(train).score(test)
    assert score > BayesianSGNS(solver="map", **options).fit(train).score(test)
    assert score > np.log(0.5)


@pytest.mark.slow
def test_movies_as_baskets():
    """Films that one person liked: the sequel of a film is among its nearest."""
    ratings = table("movielens", "ratings.csv.gz")
    titles = table("movielens", "items.csv.gz").set_index("item")["title"]
    liked = ratings[ratings["rating"] >= 4]
    liked = liked[liked.groupby("item")["item"].transform("size") >= 40]
    baskets = pandas.crosstab(liked["user"], liked["item"].map(titles))
    model = BayesianSGNS(10, solver="map", random_state=0, min_count=1).fit(baskets)
    near = model.most_similar("Star Wars: Episode IV - A New Hope (1977)", n=10)
    assert "Star Wars: Episode V - The Empire Strikes Back (1980)" in near.words

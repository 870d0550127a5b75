"""Warnings point at the user's line, also through scikit-learn's searches."""

from __future__ import annotations

import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.common import warnings as package_warnings
from skbayesembed.common.searches import Unmixed, Unreached
from skbayesembed.common.warnings import warn_user

TEXTS = ["the cat sat on the mat", "the dog ate the bone"] * 6
UNREACHED = {"solver": "map", "max_iter": 1, "min_count": 1, "prior_precision": 0.1}


class Warns(ClusterMixin, BaseEstimator):
    """Warns of what it is told to."""

    def __init__(self, what=None, seed=0):
        self.what, self.seed = what, seed

    def fit(self, X, y=None):
        for message, category in self.what or []:
            warn_user(message.format(self.seed), category)
        return self

    def score(self, X, y=None):
        return 0.0


def told(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if "he mode was not reached" in str(w.message)]


def test_of_a_search():
    model = BayesianSGNS(2, **UNREACHED)
    search = GridSearchCV(model, {"n_components": [2, 3]}, cv=2, refit=False)
    found = told(lambda: search.fit(TEXTS))
    (one,) = found
    assert one.filename == __file__ and one.category is ConvergenceWarning
    first, _, given = str(one.message).rpartition(" [")
    assert re.match("The mode was not reached.*, in a fit of this search, whose score", first)
    assert "raise max_iter" in first and len(first) < 300
    parts = "max_iter=1, min_count=1, n_components=2, prior_precision=0.1, solver='map'"
    assert given == f"BayesianSGNS({parts})]"
    # another search tells of itself; the fit to all data says all, and how many did before
    again = told(lambda: search.set_params(refit=True).fit(TEXTS))
    assert len(again) == 2 and again[0].filename == __file__
    assert "(4 fits of the search did so before.)" in str(again[1].message)


def test_of_a_search_in_threads():
    search = GridSearchCV(
        BayesianSGNS(2, **UNREACHED), {"n_components": [2, 3]}, cv=3, refit=False, n_jobs=2
    )
    with parallel_config("threading"):
        (one,) = told(lambda: search.fit(TEXTS))
    # a thread has no line of the user's
    assert one.filename.endswith("_validation.py")
    assert "Other candidates of this worker of the search that warn" in str(one.message)


def test_of_the_data_of_a_search():
    """What is wrong with the data is told once, not again by the fit to all of them."""
    texts = [*TEXTS, "zebra", "yak", "gnu", "emu"]
    embedding = {
        w: [float(i), 1.0] for i, w in enumerate("the cat sat on mat dog ate bone".split())
    }
    model = GaussianLDA(2, embedding=embedding, solver="vi", min_count=1, random_state=0)
    pipe = make_pipeline(model, LogisticRegression())
    search = GridSearchCV(pipe, {"gaussianlda__n_components": [2, 3]}, cv=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(texts, [0, 1] * 8)
    (one,) = [w for w in caught if "no known word" in str(w.message)]
    assert one.filename == __file__
    assert "Other candidates of the search that warn are not shown." in str(one.message)


@pytest.mark.parametrize("threaded", [False, True])
def test_of_a_pipeline(threaded):
    pipe = make_pipeline(BayesianSGNS(2, **UNREACHED))
    if threaded:
        with ThreadPoolExecutor(1) as pool:
            found = told(lambda: pool.submit(pipe.fit, TEXTS).result())
    else:
        found = told(lambda: pipe.fit(TEXTS))
    assert len(found) == 1 and "[BayesianSGNS" not in str(found[0].message)
    # a thread of its own has no line of the user's
    assert (found[0].filename == __file__) != threaded


def test_what_a_posterior_is_like_is_told_as_it_is(monkeypatch):
    """Longer runs are no help there; and it is told beside fits that have not settled."""
    monkeypatch.setattr(package_warnings, "_PACKAGE", __file__)
    collapse = "Topic {0} (film) holds 6{0} % of the tokens: take another power. Or none."
    what = [
        ("The chains have not mixed: R-hat 1.{}. Raise draws.", Unmixed),
        (collapse, ConvergenceWarning),
        ("The mode was not reached in {} steps: raise max_iter.", Unreached),
    ]
    search = GridSearchCV(Warns(what), {"seed": [2, 3]}, cv=2, refit=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit([[0.0]] * 6)
    assert {w.category for w in caught} == {ConvergenceWarning}
    unmixed, collapsed, unreached = (str(w.message) for w in caught)
    assert unmixed.startswith("The chains have not mixed, in a fit of this search, whose score is")
    assert "raise warmup and draws, or search with solver='vi'" in unmixed
    assert collapsed.startswith(collapse.format(2) + " Other candidates of the search")
    assert unreached.startswith("The mode was not reached in 2 steps, in a fit of this search")
    assert "noisy: raise max_iter." in unreached

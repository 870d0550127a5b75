"""Warnings point at the user's line, also through scikit-learn's searches."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skbayesembed import BayesianSGNS

TEXTS = ["the cat sat on the mat", "the dog ate the bone"] * 6
UNREACHED = {"solver": "map", "max_iter": 1, "min_count": 1, "prior_precision": 0.1}


def told(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if "mode was not reached" in str(w.message)]


def test_of_a_search():
    model = BayesianSGNS(2, **UNREACHED)
    search = GridSearchCV(model, {"n_components": [2, 3]}, cv=2, refit=False)
    found = told(lambda: search.fit(TEXTS))
    assert {w.filename for w in found} == {__file__}
    given = "max_iter=1, min_count=1, n_components={}, prior_precision=0.1, solver='map'"
    ends = {str(w.message).rpartition(" [")[2] for w in found}
    assert ends == {f"BayesianSGNS({given.format(k)})]" for k in (2, 3)}


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

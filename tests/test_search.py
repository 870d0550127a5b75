"""What candidates of a search resolve ``"auto"`` to, before it is run."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.search import check_search
from skbayesembed.sgns import settle
from tests.helpers.extras import optional

pd = optional("pandas")

TEXTS = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 8
MODEL = BayesianSGNS(2, min_count=1, prior_precision=1.0, draws=10, warmup=10, chains=1)


def work(model, X):
    """Operations of the chains by which the solver is chosen."""
    training = settle_training(model, X)
    sweeps = model.chains * (model.warmup + model.thin * model.draws)
    return sweeps * settle._pairs(training.counts) * model.n_components**2


def settle_training(model, X):
    from skbayesembed.sgns import inputs

    return inputs.training_data(model, X, np.random.SeedSequence(0))


def test_candidates_that_differ(monkeypatch):
    # between two and three components
    limit = np.sqrt(work(MODEL, TEXTS) * work(BayesianSGNS(**MODEL.get_params()).set_params(
        n_components=3), TEXTS))  # fmt: skip
    monkeypatch.setattr(settle, "_CHAIN_WORK", limit)
    search = GridSearchCV(MODEL, {"n_components": [2, 3]}, cv=3)
    with pytest.warns(UserWarning, match=r"solver='auto' differently \('gibbs', 'map'\)"):
        table = check_search(search, TEXTS)
    assert table.solver.tolist() == table.fold_solver.tolist() == ["gibbs", "map"]
    assert "dear" in table.reason[1] and "n_components=3" in repr(table)
    # what it tells is what fits do
    for params, solver in zip(table.params, table.solver, strict=True):
        model = BayesianSGNS(**MODEL.get_params()).set_params(**params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert model.fit(TEXTS).solver_ == solver
    assert not hasattr(MODEL, "n_features_in_") and not hasattr(search, "cv_results_")


def test_a_fold_that_differs_from_the_whole(monkeypatch):
    X = np.array([[3, 1, 0, 0], [2, 2, 0, 0]] * 6 + [[0, 0, 1, 4]])
    groups = [0] * 12 + [1]
    model = BayesianSGNS(**MODEL.get_params()).set_params(n_components=1)
    limit = 0.5 * (work(model, X[:12]) + work(model, X))
    monkeypatch.setattr(settle, "_CHAIN_WORK", limit)
    model.set_params(negative_sampling="expected")
    search = GridSearchCV(model, {"prior_precision": [1.0, 2.0]}, cv=GroupKFold(2))
    for data in (X, pd.DataFrame(X, columns=list("abcd"))):
        with pytest.warns(UserWarning, match="differently"):
            table = check_search(search, data, groups=groups)
        assert table.solver.tolist() == ["map"] * 2 and table.fold_solver.tolist() == ["gibbs"] * 2
    assert table.prior_precision.tolist() == [1.0, 2.0]


def test_candidates_that_agree():
    grid = {"bayesiansgns__n_components": [1, 2], "bayesiansgns__solver": ["vi"]}
    pipeline = make_pipeline(FunctionTransformer(), MODEL, TruncatedSVD(1))
    table = check_search(GridSearchCV(pipeline, grid, cv=2), TEXTS)
    assert table.solver.tolist() == ["vi"] * 2 and table.reason == ["given"] * 2
    drawn = RandomizedSearchCV(MODEL, {"window": range(1, 9)}, n_iter=3, cv=2, random_state=0)
    table = check_search(drawn, TEXTS)
    assert len(table) == 3 and not table.differ


def test_a_precision_that_is_searched_for():
    model = BayesianSGNS(**MODEL.get_params()).set_params(prior_precision="auto", random_state=0)
    search = GridSearchCV(model, {"n_components": [2]}, cv=2)
    assert check_search(search, TEXTS).prior_precision[0] == "auto"
    found = check_search(search, TEXTS, precision=True).prior_precision[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(TEXTS).prior_precision_ == found


def test_what_cannot_be_told():
    with pytest.raises(TypeError, match="search must be a GridSearchCV or.*got BayesianSGNS"):
        check_search(MODEL, TEXTS)
    with pytest.raises(ValueError, match="integer random_state.*got None"):
        check_search(RandomizedSearchCV(MODEL, {"window": [1, 2]}, n_iter=2), TEXTS)
    with pytest.raises(TypeError, match="GaussianLDA has none"):
        check_search(GridSearchCV(GaussianLDA(), {"n_components": [2]}), TEXTS)


def test_folds_that_can_be_read_once_only():
    """They are left to the search."""
    folds = KFold(2).split(TEXTS)
    search = GridSearchCV(MODEL, {"window": [1, 2]}, cv=folds)
    with pytest.raises(ValueError, match="search.cv must be a list or array, got a generator"):
        check_search(search, TEXTS)
    assert len(list(folds)) == 2

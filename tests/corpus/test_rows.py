import numpy as np
import pytest

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, regress
from skbayesembed.corpus.rows import check_rows
from skbayesembed.datasets import extract_snippets
from skbayesembed.metrics import score_units
from tests.helpers.extras import optional

TEXTS = ["the oak and the elm", "the cod and the eel", "an elm by the sea", "a cod in a wood"] * 5


def test_rows_in_another_order_are_refused():
    """Units of a frame that was sorted after its texts were taken would be those of others."""
    pd = optional("pandas")
    texts = pd.Series(TEXTS)
    units = pd.Series(np.arange(20) % 5).iloc[::-1]
    times = pd.Series(np.repeat([1900, 1901], 10)).iloc[::-1]
    message = "{} must have its rows in the order of {}.*labels of rows in another order"
    of_units, of_times = (message.format(name, "X") for name in ("units", "times"))
    model = BayesianSGNS(2, solver="map", min_count=1)
    with pytest.raises(ValueError, match=of_units):
        model.fit(texts, units=units)
    with pytest.raises(ValueError, match=of_units):
        score_units(model, texts, units, cv=2)
    drift = DynamicSGNS(2, solver="map", min_count=1)
    with pytest.raises(ValueError, match=of_times):
        drift.fit(texts, times=times)
    drift.fit(texts, times=times.tolist())
    for method in (drift.score, drift.transform):
        with pytest.raises(ValueError, match=of_times):
            method(texts, times=times)
    with pytest.raises(ValueError, match=of_times):
        DynamicSGNS(2, solver="vi", min_count=1).partial_fit(texts, times=times)
    with pytest.raises(ValueError, match=of_times):
        DiSCSenseModel(2, solver="map").fit(pd.DataFrame(np.ones((20, 3), int)), times=times)
    with pytest.raises(ValueError, match=message.format("times", "documents")):
        extract_snippets(texts, "elm", times=times, min_count=1)
    fitted = model.fit(texts)
    design = {"late": pd.Series(np.repeat([0.0, 1.0], 10)).iloc[::-1]}
    with pytest.raises(ValueError, match=message.format("design", "X")):
        fitted.effects(texts, design, word="elm")
    with pytest.raises(ValueError, match=message.format("covariates", "outcome")):
        outcome = pd.Series(np.arange(20.0))
        regress(np.ones((30, 20)), outcome, covariates=pd.DataFrame({"late": design["late"]}))


def test_other_labels_of_rows_tell_nothing_of_their_order():
    pd = optional("pandas")
    given = pd.Series([1, 2, 3], index=[4, 7, 9])
    check_rows(X=given, units=given.reset_index(drop=True), times=[1, 2, 3])
    check_rows(X=given, units=pd.Series([1, 2, 3], index=[4, 4, 7]))
    check_rows(X=given, units=given.iloc[:2].iloc[::-1], design={"a": given, "b": 1})
    check_rows(X=None, units=given)

"""Terms that differ in one unit only have no interval: nothing tells of other units like it."""

import numpy as np
import pytest

from skbayesembed import GaussianLDA, regress
from skbayesembed.datasets import make_topics
from skbayesembed.numeric.regression import ClusteredLeastSquares

pytestmark = pytest.mark.usefixtures("few_simulated")

UNITS = np.arange(90) // 6


def design(*units):
    return np.column_stack([np.ones(90), np.isin(UNITS, units), np.arange(90.0)])


@pytest.mark.parametrize("index", [UNITS, np.arange(90)], ids=["documents of units", "documents"])
def test_degrees_of_freedom(index):
    """None of the term that one unit has; of others, and of a term of two units, as before."""
    one = design(3)
    if index is not UNITS:
        one[:, 1] = np.arange(90) == 7
    found = ClusteredLeastSquares(one, index).freedom
    assert np.isnan(found).tolist() == [False, True, False]
    assert np.isfinite(ClusteredLeastSquares(design(3, 7), UNITS).freedom).all()
    # a few rows of many in which units differ take part: a term within all units
    within = np.column_stack([np.ones(90), np.arange(90) % 2.0])
    assert np.isfinite(ClusteredLeastSquares(within, UNITS).freedom).all()


@pytest.mark.filterwarnings("ignore:Residuals of neighboring")
@pytest.mark.parametrize("times", [None, UNITS], ids=["independent", "in time"])
def test_effects_on_topics(times):
    data = make_topics(n_documents=90, n_words=60, n_topics=3, n_dims=3, random_state=0)
    model = GaussianLDA(3, embedding=data.vectors, solver="vi", random_state=0).fit(data.counts)
    covariates = {"carter": UNITS == 3, "year": np.arange(90.0)}
    with pytest.warns(UserWarning, match="no p-value of 'carter'"):
        table = model.effects(data.counts, covariates, units=UNITS, times=times)
    j = table.terms.tolist().index("carter")
    assert np.isnan(table.interval[j]).all() and np.isnan(table.p_value[j]).all()
    assert np.isfinite(np.delete(table.interval, j, axis=0)).all()
    assert "(no interval of carter: one unit alone decides on it" in repr(table)
    said = table.sentences[0, "carter"]
    assert "one unit alone decides on this" in said and "nan" not in said + repr(table)
    assert "The interval" not in said and "The interval" in table.sentences[0, "year"]


def test_slopes():
    rng = np.random.default_rng(0)
    draws, y = rng.normal(size=(30, 90, 1)), rng.normal(size=90)
    covariates = {"carter": (UNITS == 3) * 1.0, "year": np.arange(90.0)}
    with pytest.warns(UserWarning, match="no p-value of 'carter'"):
        table = regress(draws, y, UNITS, covariates=covariates, error="berkson")
    assert np.isnan(table.p_value).tolist() == [False, True, False]
    assert table.verdict[1] == "not decided" and "nan" not in repr(table)
    assert "one unit alone decides on this" in table.sentences["carter"]


def test_constants():
    """What all units but one have: the constant is that one, and has no error for others."""
    rng = np.random.default_rng(0)
    draws, y = rng.normal(size=(30, 90, 1)), rng.normal(size=90)
    with pytest.warns(UserWarning, match="no p-value of 'others'"):
        table = regress(draws, y, UNITS, covariates={"others": UNITS != 3}, error="berkson")
    assert np.isnan(table.constant_sd) and "constant" not in repr(table)
    # nor is there a part of it
    assert np.isnan(table["se_units"]).tolist() == [False, True]

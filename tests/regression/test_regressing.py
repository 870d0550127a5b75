"""Regressions on features that are known by draws."""

import re
import warnings

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS, regress
from skbayesembed.numeric.regression import ClusteredLeastSquares
from skbayesembed.posterior.sentences import with_signs

SLOPES, N, PER, K, S = np.array([1.0, -0.5]), 120, 4, 16, 50
UNITS = np.repeat(np.arange(N // PER), PER)


def sample(rng, kind, reliability):
    """Draws of two features, an outcome that depends on the true ones, and a covariate."""
    spread = np.sqrt(1 / reliability - 1)
    documents = rng.normal(size=(N, K)) + 0.7 * rng.normal(size=(N // PER, K))[UNITS]
    documents /= np.sqrt(1.5 * K)
    vectors = rng.normal(size=(K, 2))
    if kind == "own":
        mean = documents @ vectors
        truth = mean + spread * rng.normal(size=(N, 2))
        draws = mean + spread * rng.normal(size=(S, N, 2))
    else:
        found = vectors + spread * rng.normal(size=(K, 2))
        draws = documents @ (found + spread * rng.normal(size=(S, K, 2)))
        truth = documents @ vectors
    covariate = rng.normal(size=N)
    noise = 0.5 * rng.normal(size=N // PER)[UNITS] + 0.5 * rng.normal(size=N)
    return draws, truth @ SLOPES + 0.5 * covariate + noise, covariate


@pytest.mark.parametrize(
    "kind, reliability, error", [("own", 0.75, "berkson"), ("shared", 0.92, "classical")]
)
def test_coverage(kind, reliability, error):
    """90 % intervals hold the truth; classical error draws slopes to zero by the reliability."""
    rng = np.random.default_rng(7)
    held, shrunk = [], []
    for i in range(120):
        draws, y, covariate = sample(rng, kind, reliability)
        options = {"units": UNITS, "covariates": covariate}
        found = regress(draws, y, **options, error=error).interval
        truth = np.append(SLOPES, 0.5)
        held.append((found[:, 0] < truth) & (truth < found[:, 1]))
        if kind == "shared" and i < 50:
            shrunk.append(regress(draws, y, **options, error="berkson").mean[0])
    # four standard errors of a share of 120, and .02 that it is off
    assert np.all(np.abs(np.mean(held, axis=0) - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 120) + 0.02)
    if shrunk:
        error = np.std(shrunk) / np.sqrt(len(shrunk))
        assert abs(np.mean(shrunk) - reliability * SLOPES[0]) < 4 * error


def test_features_without_error_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(N, 2)), rng.normal(size=N)
    with pytest.warns(UserWarning, match="do not vary over draws, 'a', 'b': they count as"):
        table = regress(np.repeat(x[None], 20, axis=0), y, UNITS, names=["a", "b"])
    least = ClusteredLeastSquares(np.column_stack([x, np.ones(N)]), UNITS)
    slopes, influence = (part[..., 0] for part in least.fit(y[:, None]))
    np.testing.assert_allclose(table.mean, slopes[:2])
    np.testing.assert_allclose(table.sd, np.sqrt(np.sum(influence**2, axis=0))[:2])
    np.testing.assert_allclose(table.freedom, least.freedom[:2])
    np.testing.assert_allclose(table.reliability, 1.0)
    np.testing.assert_allclose(table.sd_features, 0.0, atol=1e-12)


def test_a_constant_that_is_no_probability():
    """Years are never zero."""
    draws, y, covariate = sample(np.random.default_rng(0), "own", 0.9)
    for shift, said in ((0.0, False), (2000.0, True)):
        with_shift = regress(draws, y > 0, UNITS, covariates=covariate + shift, error="berkson")
        assert ("beyond 0 to 1, so that no documents are like" in repr(with_shift)) == said
    options = {"covariates": covariate + 2000.0, "error": "berkson"}
    assert "beyond 0 to 1" not in repr(regress(draws, y, UNITS, **options))


def test_table():
    draws, y, covariate = sample(np.random.default_rng(0), "own", 0.9)
    options = {"covariates": covariate, "names": ["work", "war"], "error": "berkson"}
    table = regress(draws, y > 0, UNITS, **options)
    assert table.terms.tolist() == ["work", "war", "x0"]
    assert repr(table).startswith(
        "slopes of P('outcome' is true), 120 documents from 30 units\nterm"
    )
    np.testing.assert_array_equal(table.slope, table["slope"])
    np.testing.assert_array_equal(table.se, table["se"])
    assert "(error in the features: Berkson's" in repr(table) and " beside\n" in repr(table)
    mean, low, high = with_signs(table.mean[1], table.interval[1], table.sd[1])
    sd = draws.mean(axis=0)[:, 1].std(ddof=1)
    assert table.verdict.tolist() == ["positive", "negative", "positive"]
    assert list(table.sentences) == table.terms.tolist()
    said = table.sentences["war"]
    assert said.startswith(
        f"The probability that 'outcome' is true is lower by {mean[1:]} (difference {mean}; "
        f"90% interval {low} to {high}, p "
    )
    assert (
        f") with a one-unit increase in 'war' (standard deviation {sd:.3g}), the other terms held "
        "constant. The interval allows for the sampling of 30 units; the regression has 120 "
        "documents. The model is a linear prob" in said
    )
    assert said.endswith("linear probability model; units are treated as independent.")
    assert "(units are treated as independent: if they are autocorrelated" in repr(table)
    wave = np.sin(7.0 * np.arange(N))
    terms = np.column_stack([draws.mean(axis=0), covariate, np.ones(N)])
    unrelated = regress(draws, wave - terms @ np.linalg.lstsq(terms, wave)[0], UNITS, **options)
    assert unrelated.verdict[0] == unrelated["verdict"][0] == "not decided"
    said = unrelated.sentences["work"]
    assert said.startswith("The mean of 'outcome' differs by ") and "of the difference" not in said
    assert ") with a one-unit increase in 'work' (standard deviation " in said
    assert (
        ", the other terms held constant; whether it is larger or smaller is not decided." in said
    )
    assert "given the covariates" in repr(table) and "corrected" not in table.sentences["war"]
    assert np.all(table.partial_reliability <= table.reliability) and table["reliability"][2] == 1
    assert "<table" in table._repr_html_()
    frame = pytest.importorskip("pandas") and table.to_frame()
    assert list(frame.columns[:3]) == ["term", "slope", "se"]
    scaled = regress(
        draws, y > 0, UNITS, covariates={"late": covariate > 0, "time": covariate},
        standardize=True, error="berkson",
    )  # fmt: skip
    sds = [*draws.mean(axis=0).std(axis=0, ddof=1), 1.0, covariate.std(ddof=1)]
    np.testing.assert_allclose(scaled.scale, sds)
    plain = regress(
        draws, y > 0, UNITS, covariates=np.column_stack([covariate > 0, covariate]),
        names=["work", "war", "late", "time"], error="berkson",
    )  # fmt: skip
    assert plain.terms.tolist() == ["work", "war", "late", "time"] and np.all(plain.scale == 1)
    assert scaled.terms.tolist() == ["feature 0", "feature 1", "late", "time"]
    np.testing.assert_allclose(scaled.mean, plain.mean * sds)
    np.testing.assert_allclose(scaled.interval, plain.interval * np.array(sds)[:, None])
    np.testing.assert_allclose(scaled.covariance, plain.covariance * np.outer(sds, sds))
    np.testing.assert_allclose(scaled.p_value, plain.p_value)
    of_two = list(scaled.sentences.values())
    assert f"with an increase of one standard deviation ({sds[1]:.3g}) in " in of_two[1]
    assert scaled.zero_one.tolist() == [False, False, True, False]
    assert of_two[2].startswith("The probability that 'outcome' is true differs by ")
    assert (
        "where 'late' is 1 rather than 0, the other terms held constant; whether it is higher or "
        "lower is not decided." in of_two[2]
    )
    # of both slopes the same; standardising changes neither constant nor fit
    x = np.column_stack([draws.mean(axis=0), covariate > 0, covariate, np.ones(N)])
    by_hand = np.linalg.lstsq(x, 1.0 * (y > 0))[0]
    left = (y > 0) - x @ by_hand
    for one in (scaled, plain):
        assert one.r_squared == pytest.approx(1 - np.var(left) / np.var(y > 0))
        assert one.constant == pytest.approx(by_hand[-1]) and 0 < one.constant_sd < 1
        assert one.to_frame().attrs["constant_se"] == one.constant_sd
    told = re.search(r"where all terms are zero: ([-\d.]+), se ([\d.]+); R-sq", repr(plain))
    assert float(told[1]) == pytest.approx(plain.constant, abs=2e-3)
    assert float(told[2]) == pytest.approx(plain.constant_sd, rel=1e-2)
    assert len({len(text.split(".")[1]) for text in told.groups()}) == 1
    assert "constant" not in repr(scaled) and "(R-squared at the mean features: " in repr(scaled)
    assert "slopes of P('outcome' is true) per standard deviation" in repr(
        scaled
    ) and " per " in repr(scaled)
    one = regress(draws[..., 0], y, error="berkson")
    assert one.terms.tolist() == ["feature 0"] and one.n_units == N
    assert "(feature 0: a feature without a name; names= gives it one)" in repr(one)
    assert "without a name" not in repr(table).replace("(x0: a covariate without a name; ", "")
    assert (
        "(documents are treated as independent" in repr(one)
        and f"allows for the sampling of {N} documents;" in one.sentences["feature 0"]
    )
    np.testing.assert_allclose(one.partial_reliability, one.reliability)
    assert one.explained[0] == pytest.approx(0.0, abs=1e-9)
    assert "explained by the other terms" not in repr(one)


def test_features_that_are_nearly_alike():
    """The reliability beside the others is that of what a regression on them leaves."""
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=(2, N))
    own *= 0.2 / own.std()
    # six tenths of what they differ in are error
    draws = np.column_stack([common + own, common - own]) + 0.219 * rng.normal(size=(400, N, 2))
    names = ["health", "hospital"]
    with pytest.warns(UserWarning, match="Slopes of features that are nearly alike") as caught:
        table = regress(draws, common, names=names, error="classical", outcome_name="votes")
    said = table.sentences["health"]
    assert " documents. The slope is corrected for error in the features; documents are" in said
    assert "'health' and 'hospital' correlate at" in str(caught[0].message)
    assert table.outcome == "votes"
    x = draws - draws.mean(axis=(0, 1))
    mean = x.mean(axis=0)
    slope = (mean[:, 0] @ mean[:, 1]) / (mean[:, 1] @ mean[:, 1])
    left = x[..., 0] - slope * x[..., 1]
    error = np.sum(np.var(left, axis=0, ddof=1)) / np.sum(left.mean(axis=0) ** 2)
    assert table.partial_reliability[0] == pytest.approx(1 - error, abs=0.01)
    assert table.partial_reliability[0] < 0.9 < table.reliability[0]
    shared = np.corrcoef(draws.mean(axis=0).T)[0, 1] ** 2
    np.testing.assert_allclose(table.explained, shared)
    np.testing.assert_array_equal(table["explained"], table.explained)
    told = f"{100 * shared:.0f} % of"
    assert f"(explained by the other terms: {told} health, {told} hospital; slopes" in repr(table)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"features": np.zeros((30, N))}, "independent columns"),
        ({"features": np.ones((2, 3, 4, 5))}, "features must be of shape"),
        ({"features": np.ones(4)}, "must have draws.*one number for each of 4 documents"),
        (
            {"outcome": [np.nan] * N},
            r"outcome must be finite, got nan in document 0: leave such documents out \(of feat",
        ),
        ({"outcome": np.ones(N)}, "outcome must vary, got 1 alone"),
        (
            {"covariates": {"age": np.arange(N) % 7, "year": np.arange(N)}, "outcome": range(N)},
            "got the covariate 'year' itself",
        ),
        (
            {"covariates": {"a": UNITS, "b": np.arange(N)}, "outcome": 3 * UNITS - np.arange(N)},
            "got a linear combination of 'a', 'b'.*Leave it out of covariates",
        ),
        ({"features": np.ones((5, N, 1))}, "20 draws or more, got 5"),
        ({"features": np.full((30, N, 1), np.nan)}, "NaN or infinity in document 0"),
        ({"outcome": np.zeros(3)}, "outcome must have a number for each of the 120"),
        (
            {"features": np.zeros((N, 25))},
            r"shape \(120, 25\) are read as 120 draws of one feature of 25 documents: pass draws",
        ),
        ({"outcome": ["a"] * N}, "outcome must hold numbers"),
        ({"covariates": {"by": ["a"] * N}}, r"covariates\['by'\] must hold numbers"),
        ({"covariates": {"one": np.ones(N)}}, "covariates must have columns that vary, got 1"),
        ({"covariates": {"by": [1, 2]}}, "covariates must have a row for each of the 120"),
        ({"units": np.arange(N) % 3}, "four labels or more, got 3"),
        (
            {"units": UNITS % 4, "times": UNITS % 4},
            "times= needs two units more than there are terms and a constant, got 4 units for 3",
        ),
        ({"names": ["a"]}, "names must have 2 different names"),
        ({"standardize": 1}, "standardize must be True or False, got 1"),
        ({"error": "none"}, "error"),
        ({"times": [1.0]}, "times must .* 120"),
        ({"times": np.ones(N)}, "times must have two different values or more, got 1 alone"),
        ({"times": UNITS, "outcome": -2 * UNITS}, "outcome must not be the time itself"),
        (
            {"error": "classical"},
            r"too uncertain for error='classical'.*and 'feature 1' correlate at",
        ),
    ],
)
def test_errors(change, message):
    rng = np.random.default_rng(0)
    draws, y, _ = sample(rng, "own", 0.2)
    with pytest.raises(ValueError, match=message):
        regress(**({"features": draws, "outcome": y} | change))


def test_a_covariate_called_const_is_the_constant():
    draws, y, covariate = sample(np.random.default_rng(0), "own", 0.9)
    plain = regress(draws, y, covariates={"age": covariate}, error="berkson")
    columns = {"const": np.ones(N), "age": covariate}
    given = regress(draws, y, covariates=columns, error="berkson")
    assert given.terms.tolist() == plain.terms.tolist() == ["feature 0", "feature 1", "age"]
    assert given.constant == pytest.approx(plain.constant)
    np.testing.assert_allclose(given.interval, plain.interval)


def test_reliability_of_posterior_means():
    """Of the truth, in the direction that a slope rests on: singular errors are no matter."""
    rng = np.random.default_rng(3)
    mean = rng.normal(size=(N, 3)) + rng.normal(size=(N, 1))
    # every error is along one direction of features
    errors = 0.5 * rng.normal(size=(400, N, 1)) * np.array([1.0, -1.0, 0.0])
    errors -= errors.mean(axis=0)
    y = rng.normal(size=N)
    with pytest.warns(UserWarning, match="do not vary over draws, 'feature 2'"):
        table = regress(mean + errors, y, error="berkson")
    for j in range(3):
        rest = np.column_stack([np.delete(mean, j, axis=1), np.ones(N)])
        weights = np.zeros(3)
        weights[j] = 1.0
        weights[np.arange(3) != j] = -np.linalg.lstsq(rest, mean[:, j])[0][:2]
        own = mean @ weights
        seen, wrong = np.var(own), np.mean(np.var(errors @ weights, axis=0))
        # errors and the intercept: one of 120 degrees of freedom
        assert table.partial_reliability[j] == pytest.approx(seen / (seen + wrong), abs=0.01)
    assert table.reliability[2] == 1.0 and np.all(table.partial_reliability > 0.5)


def test_what_an_array_does_not_tell():
    draws, y, _ = sample(np.random.default_rng(0), "shared", 0.8)
    with pytest.warns(
        UserWarning,
        match=r"given the other terms, .* is error \(column beside: 0\.\d\d\)\. Slopes were not",
    ):
        guessed = regress(draws, y, UNITS)
    given = regress(draws, y, UNITS, error="berkson")
    np.testing.assert_array_equal(guessed.mean, given.mean)
    with pytest.warns(
        UserWarning,
        match=r"30 documents are few for 20 slopes: there are 1.5 documents per slope, and",
    ):
        table = regress(np.random.default_rng(0).normal(size=(20, 30, 20)), y[:30], error="berkson")
    assert "fewer than 4 df or 2 units per slope" in repr(table)
    # of units, where there are more documents
    with pytest.warns(UserWarning, match=r"few for 20 slopes: there are 1.5 units per slope"):
        rows = np.random.default_rng(0).normal(size=(20, N, 20))
        regress(rows + UNITS[:, None] % np.arange(2, 22), y, UNITS, error="berkson")


def walks(rng, n, per=1):
    """Random walks of units, a feature and an outcome that have nothing to do with each other."""
    feature, outcome = np.cumsum(rng.normal(size=(2, n)), axis=1)
    return np.repeat(feature, per), np.repeat(outcome, per)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* degrees of freedom")
@pytest.mark.parametrize("kind", ["independent", "walks", "lines"])
def test_coverage_in_time(kind):
    """90 % intervals hold zero; without times those of walks and lines hardly ever do."""
    rng, n, n_sets = np.random.default_rng(11), 24, 60
    held = []
    for _ in range(n_sets):
        x, y = rng.normal(size=(2, n)) if kind != "walks" else walks(rng, n)
        if kind == "lines":
            x, y = x + np.linspace(-2, 2, n), y + np.linspace(-2, 2, n)
        draws = x + 0.1 * rng.normal(size=(20, n))
        tables = (regress(draws, y, times=t, error="berkson") for t in (None, np.arange(n)))
        held.append([low < 0 < high for low, high in (table.interval[0] for table in tables)])
    plain, in_time = np.mean(held, axis=0)
    # three standard errors of a share of 60, and .03 that 1,000 sets find it off (benchmarks)
    assert abs(in_time - 0.9) < 3 * np.sqrt(0.9 * 0.1 / n_sets) + 0.03
    assert plain > 0.8 if kind == "independent" else plain < 0.5


@pytest.mark.slow
def test_slopes_in_time():
    """A true slope beside a random walk is found, and better than without times."""
    rng, n, per = np.random.default_rng(12), 40, 3
    errors = {False: [], True: []}
    for _ in range(40):
        x, y = walks(rng, n, per)
        x, y = x + rng.normal(size=n * per), y + 0.3 * rng.normal(size=n * per)
        draws = x + 0.1 * rng.normal(size=(20, n * per))
        units = np.repeat(np.arange(n), per)
        for timed in errors:
            table = regress(
                draws, y + 2 * x, units, times=units if timed else None, error="berkson"
            )
            errors[timed].append((table.mean[0] - 2, table.sd[0]))
    errors = {timed: np.array(of) for timed, of in errors.items()}
    spread = {timed: np.std(of[:, 0]) for timed, of in errors.items()}
    assert spread[True] < 0.5 * spread[False]
    # a standard deviation of 40, two of its standard errors, and bias within four
    assert (
        abs(np.sqrt(np.mean(errors[True][:, 1] ** 2)) / spread[True] - 1) < 2 / np.sqrt(80) + 0.05
    )
    assert abs(np.mean(errors[True][:, 0])) < 4 * spread[True] / np.sqrt(40)


def test_table_in_time():
    """Times in any order, as numbers or dates, and what is said of them."""
    rng = np.random.default_rng(5)
    draws, y, covariate = sample(rng, "own", 0.9)
    own = {"error": "berkson", "names": ["work", "war"]}
    n_units, order = N // PER, rng.permutation(N)
    years = 1900 + UNITS + 0.1 * np.tile(np.arange(PER), n_units)
    plain = regress(draws, y, UNITS, **own)
    assert plain.autocorrelation is None and "times= allows for it)" in repr(plain)
    assert "units are treated as independent" in plain.sentences["work"].lower()
    y = y + 2.0 * np.cumsum(rng.normal(size=n_units))[UNITS]
    table = regress(draws, y, UNITS, times=years, **own)
    low, high = table.autocorrelation_interval
    assert 0.2 < low <= table.autocorrelation <= high and 0 < table.trend < 1
    said = (
        f"at {table.autocorrelation:.2f} [{low:.2f}, {high:.2f}]; P = {table.trend:.2f} that they "
        "follow a straight line: slopes and intervals allow for both)"
    )
    assert said in repr(table) and 0.9 < table.autocorrelated <= 1.0 and not table.alternating
    assert f"in time correlate at {table.residual_correlation:.2f}. P" in repr(table)
    assert table.sentences["work"].endswith(". Autocorrelation in time is allowed for.")
    # labels, order and unit of time are of no importance
    other = regress(
        draws[:, order], y[order], (UNITS % 7 * 100 + UNITS)[order], times=12 * years[order], **own
    )
    for name in ("mean", "covariance", "freedom", "interval", "autocorrelation", "trend"):
        np.testing.assert_allclose(getattr(other, name), getattr(table, name), rtol=1e-6)
    dates = np.datetime64("1900-01-01") + 400 * UNITS
    dated = regress(draws, y, UNITS, times=dates, covariates={"age": covariate}, **own)
    assert dated.terms.tolist() == ["work", "war", "age"]
    beside = regress(draws, y, UNITS, times=years, covariates={"year": years}, **own)
    assert np.isnan(beside.trend) and "straight line" not in repr(beside)
    # of what level the outcome varies about there is no standard error
    assert np.isnan(beside.constant_sd) and "constant" not in repr(beside)
    assert "(x0: a covariate without a name; " not in repr(beside)
    told = regress(draws, draws.mean(axis=0) @ [2.0, 1.0], UNITS, times=dates, **own)
    assert np.isnan(told.autocorrelation) and "explain the outcome exactly" in repr(told)
    np.testing.assert_allclose(told.mean, [2.0, 1.0])


def test_units_in_turn():
    """No positive autocorrelation is found in them, and a warning says what intervals are."""
    rng, n = np.random.default_rng(6), 30
    draws, own = rng.normal(size=n) + 0.1 * rng.normal(size=(20, n)), rng.normal(size=n)
    options = {"times": np.arange(n), "error": "berkson"}
    table = regress(draws, own, **options)
    assert table.autocorrelated < 0.5 and table.autocorrelation_interval[0] == 0.0
    # of so few it cannot be ruled out
    assert table.autocorrelated > 0.1
    said = f". Positive autocorrelation neither found nor ruled out, P = {table.autocorrelated:.2f}"
    assert said in repr(table)
    assert table.sentences["feature 0"].endswith(
        "Autocorrelation in time, neither found nor ruled out, is allowed for."
    )
    turn = (-1.0) ** np.arange(n)
    with pytest.warns(UserWarning, match="clearly less than if they were independent"):
        table = regress(draws, 4.0 * turn + own, **options)
    assert table.alternating and table.residual_correlation < -0.5
    assert "too narrow for terms that alternate as well)" in repr(table)
    assert table.sentences["feature 0"].endswith("was found, and is not allowed for.")
    # the party as a covariate
    assert not regress(draws, 4.0 * turn + own, covariates=turn, **options).alternating


def test_units_are_called_by_their_name():
    pd = pytest.importorskip("pandas")
    draws, y, _ = sample(np.random.default_rng(3), "own", 0.9)
    table = regress(draws, y, pd.Series(UNITS // 3, name="era"), error="berkson")
    said = table.sentences["feature 0"]
    assert "allows for the sampling of 10 units (era); the regression has 120 documents." in said
    assert said.endswith(". Units are treated as independent.")
    assert "120 documents from 10 units (era)\n" in repr(table)
    assert table.to_frame().attrs["units_name"] == "era"


def test_features_that_rest_on_units():
    """Warned of where an answer knows of fewer units than there are documents."""
    texts = ["the cat sat on the mat", "a dog ate the old bone", "the cat ate a mouse"] * 6
    texts = [f"{text} {' '.join(['dog', 'mat'][i % 2 :])}" for i, text in enumerate(texts)]
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    y = np.arange(18) % 5
    for units in (np.arange(18) // 3, None):
        features = model.fit(texts, units=units).document_similarity(texts, words=["cat"])
        assert features.of_units == (18 if units is None else 6)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            regress(features, y, error="berkson")
            table = regress(features, y, np.arange(18) // 3, error="berkson")
        other = (
            "(draws of features allow for the sampling of 18 units, slopes for that of 6 units: "
        )
        assert (other in repr(table)) == (units is None)
        told = [one for one in caught if "features rest on" in str(one.message)]
        assert len(told) == (units is not None)
        if told:
            assert "features rest on 6 units, and documents count as 18" in str(told[0].message)


def test_numbers_of_a_row_have_as_many_digits():
    """Features on scales far apart: digits follow the standard error of each row."""
    rng = np.random.default_rng(5)
    shares = rng.normal(size=(N, 3)) * [0.01, 1.0, 1e2]
    draws = shares * (1.0 + 0.1 * rng.normal(size=(40, N, 3)))
    table = regress(draws, shares[:, 1] + rng.normal(size=N), UNITS, error="berkson")
    for line, sd, mean in zip(repr(table).splitlines()[2:5], table.sd, table.mean, strict=True):
        cells = re.split("feature \\d +", line)[1]
        numbers = re.findall(r"-?\d+(?:\.\d+)?", cells)[:6]  # slope, se and its parts, both ends
        assert len({len(text.partition(".")[2]) for text in numbers}) == 1, line
        assert float(numbers[0]) == pytest.approx(mean, abs=0.01 * sd)
        assert float(numbers[1]) == pytest.approx(sd, rel=0.01)
    frame = table.to_frame()
    np.testing.assert_array_equal(frame["slope"], table.mean)
    np.testing.assert_array_equal(frame["high"], table.interval[:, 1])
    tiny = regress(draws[..., 2:] * 1e8, shares[:, 1] + rng.normal(size=N), UNITS, error="berkson")
    assert re.search(r"feature 0 +-?\d\.\d\de-", repr(tiny))


def with_counts(draws, **more):
    """Features as `document_similarity` answers them."""
    return Bunch(draws=draws, source="units", axes={"word": ["war"]}, **more)


def test_documents_without_a_known_word_are_left_out():
    """As `effects` leaves them out: the slopes are those of the others, and it is said."""
    rng = np.random.default_rng(0)
    share = rng.normal(size=40)
    draws = (share + 0.1 * rng.normal(size=(30, 40)))[:, :, None]
    y, year, units = share + rng.normal(size=40), rng.normal(size=40), np.arange(40) // 2
    kept = np.arange(40) != 7
    lost = np.where(kept[:, None], draws, np.nan)
    about = {"covariates": {"year": year}, "times": np.arange(40)}
    with pytest.warns(UserWarning, match="features: 1 of 40 documents has no known word and are"):
        found = regress(with_counts(lost), y, units, **about)
    about = {"covariates": {"year": year[kept]}, "times": np.arange(40)[kept]}
    by_hand = regress(with_counts(draws[:, kept]), y[kept], units[kept], **about)
    np.testing.assert_allclose(found.mean, by_hand.mean)
    np.testing.assert_allclose(found.sd, by_hand.sd)
    assert found.n_documents == 39 and found.n_left_out == 1
    assert "(1 document without a known word left out)" in repr(found)
    assert "left out)" not in repr(by_hand)
    # an array does not say what it lacks
    with pytest.raises(ValueError, match="got NaN or infinity in document 7"):
        regress(lost, y)
    with pytest.warns(UserWarning, match="features: 1 of 40 .* features that are 0 in every draw"):
        regress(np.where(kept[:, None], draws, 0.0), y, error="berkson")


def test_other_arguments_are_checked_before_draws():
    """A point estimate says what it is, and does not hide what else is wrong."""
    point = Bunch(draws=np.ones((1, 40, 1)) * np.arange(40)[:, None], source="point")
    with pytest.raises(ValueError, match="point estimate, as solver='map' with uncertainty='model"):
        regress(point, np.arange(40.0))
    with pytest.raises(ValueError, match="outcome must hold numbers"):
        regress(point, ["Whig"] * 40)
    with pytest.raises(ValueError, match="units must have one label"):
        regress(point, np.arange(40.0), units=[1, 2])


def test_documents_are_not_called_units_of_another_name():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=40)[:, None] + 0.1 * rng.normal(size=(30, 40, 1))
    features = with_counts(draws, of_units=20, units_name="president")
    with pytest.warns(UserWarning, match="features rest on 20 units"):
        told = repr(regress(features, rng.normal(size=40)))
    assert "sampling of 20 presidents, slopes for that of 40 documents:" in told
    assert told.splitlines()[0].endswith(", 40 documents")


def test_features_that_are_too_alike_say_which_to_leave_out():
    rng = np.random.default_rng(0)
    war = rng.normal(size=60)
    truth = np.stack([war, war + 0.2 * rng.normal(size=60), rng.normal(size=60)], axis=1)
    draws = truth + rng.normal(size=(40, 60, 3)) * [0.1, 0.5, 0.1]
    with pytest.raises(ValueError, match="'war' and 'power' correlate .* Leave 'power' out first"):
        regress(draws, war, names=["war", "power", "law"], error="classical")
    # it is another that is uncertain
    draws = truth + rng.normal(size=(40, 60, 3)) * [0.01, 0.01, 2.0]
    with pytest.raises(ValueError, match="of 'law' above all.* correlate .* Leave 'law' out first"):
        regress(draws, war, names=["war", "power", "law"], error="classical")


def test_one_feature_that_is_uncertain_is_like_no_other():
    rng = np.random.default_rng(0)
    war = rng.normal(size=200)
    noise = rng.normal(size=(400, 200))
    noise = (noise - noise.mean(axis=0)) / noise.std(axis=0)
    draws = war + np.sqrt(0.6) * war.std() * noise
    with pytest.warns(UserWarning, match="60 % of the variance of 'war' is error") as caught:
        regress(draws, war + rng.normal(size=200), names=["war"], error="classical")
    assert "alike" not in str(caught[0].message)


def test_units_of_covariates_do_not_matter():
    """Powers of the year are those of the year about 1900, and errors of features go with them."""
    rng = np.random.default_rng(0)
    share, year = rng.normal(size=200), rng.integers(1800, 2000, 200).astype(float)
    draws = share * (1 + 0.1 * rng.normal(size=(100, 1))) + 0.1 * rng.normal(size=(100, 200))
    y = share + 0.01 * (year - 1900) + rng.normal(size=200)
    for options in ({"error": "berkson"}, {"error": "classical", "times": year}):
        raw, about = (
            regress(draws, y, covariates={f"year {k}": x**k for k in range(1, 5)}, **options)
            for x in (year, (year - 1900) / 50)
        )
        for name in ("mean", "sd_units", "sd_features", "freedom", "explained"):
            np.testing.assert_allclose(getattr(raw, name)[0], getattr(about, name)[0], rtol=1e-6)


def test_covariates_that_are_large_numbers():
    """As incomes of countries are: features do not drop out beside them."""
    rng = np.random.default_rng(0)
    share, income = 0.05 * rng.normal(size=200), 1 + 0.1 * np.cumsum(rng.normal(size=200))
    draws = share + 0.005 * rng.normal(size=(100, 200))
    y = 20 * share + income + rng.normal(size=200)
    large, small = (
        regress(draws, y, covariates={"income": income * unit}, times=np.arange(200))
        for unit in (1e13, 1.0)
    )
    for name in ("r_squared", "residual_correlation", "autocorrelated"):
        assert getattr(large, name) == pytest.approx(getattr(small, name), rel=1e-6)
    np.testing.assert_allclose(large.mean[0], small.mean[0])


def test_few_documents_are_not_called_units():
    """Where no units were given, errors are about documents."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(30, 40, 1))
    draws[:, 3:] = np.nan
    with (
        pytest.warns(UserWarning, match="37 of 40 documents have no known word"),
        pytest.raises(ValueError, match="features must have four documents or more, got 3"),
    ):
        regress(with_counts(draws), rng.normal(size=40))
    with pytest.raises(ValueError, match="documents with a known word, got none among 40"):
        regress(with_counts(draws * np.nan), rng.normal(size=40))


@pytest.mark.slow
@pytest.mark.parametrize("freedom", [5.0, 13.0])
def test_what_attenuates_is_the_variance_that_answers_have(freedom):
    """Their draws are Student's t, whose allowance for few units is that of intervals."""
    rng = np.random.default_rng(3)
    n, n_shared, slopes = 300, 40, []
    for _ in range(20):
        truth, shared = rng.normal(size=n), rng.normal(size=(n_shared, n)) * 0.6 / n_shared**0.5
        mean = truth + rng.normal(size=n_shared) @ shared
        y = truth + 0.3 * rng.normal(size=n)
        z = rng.normal(size=(1000, n_shared)) @ shared
        sd = np.sqrt(np.sum(shared**2, axis=0))
        student = mean + sd * stdtrit(freedom, ndtr(z / sd))
        known = {"sd": sd, "freedom": np.full(n, freedom)}
        answer = Bunch(draws=student, source="units", of_units=n, **known)
        plain, found = regress(mean + z, y, error="classical"), regress(answer, y)
        slopes.append([(table.mean[0], table.sd_features[0]) for table in (plain, found)])
        np.testing.assert_allclose(found.reliability, plain.reliability, atol=0.03)
    (slope, wide), (own, own_wide) = np.median(slopes, axis=0)
    assert own == pytest.approx(slope, rel=0.02)
    # squares of errors with longer tails vary more
    assert 0.9 * wide < own_wide < 1.3 * wide


def test_zeros_and_ones_are_truth_values():
    rng = np.random.default_rng(21)
    y, draws = rng.normal(size=60), rng.normal(size=(40, 60))
    tables = [regress(draws, of, error="berkson") for of in (y > y.mean(), 1.0 * (y > y.mean()))]
    assert str(tables[0]) == str(tables[1]) and tables[1].truth_value
    assert not regress(draws, 2.0 * (y > y.mean()), error="berkson").truth_value

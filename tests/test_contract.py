"""The contract that every estimator keeps with every solver, and what a room of one's own gets."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from skbayesembed import (
    BayesianSGNS,
    DiSCSenseModel,
    DynamicSGNS,
    GaussianLDA,
    Posterior,
    build_vocabulary,
    count_pairs,
)
from skbayesembed.datasets import make_dynamic_sgns, make_senses, make_sgns, make_topics
from skbayesembed.inference import checkpoint, mode
from skbayesembed.inference.ascent import Ascent
from skbayesembed.inference.contracts import ATTRS, ATTRS_ALWAYS, ROWS, STATS
from skbayesembed.posterior.tables import Table
from skbayesembed.spine import APPROXIMATE, CHAINS
from tests.helpers.breaking import Broken, break_after
from tests.helpers.toy_room import WordRates
from tests.helpers.vectors import DrawnVectors

SGNS = make_sgns(n_words=12, n_components=2, n_pairs=6_000, random_state=3)
DRIFT = make_dynamic_sgns(12, 2, 3, 6_000, random_state=0)
SENSES = make_senses(60, 25, n_senses=2, n_periods=3, random_state=0)
TOPICS = make_topics(n_documents=30, n_words=40, n_topics=2, n_dims=2, random_state=0)
RATES = np.random.default_rng(0).poisson(2.0, (20, 5)) + 1

DOCUMENTS = [["x0", "x1", "x1"], ["x0", "x1", "x1"], ["x2"], ["x3", "x4", "x4", "x5"]]

SHORT = {"draws": 24, "warmup": 24, "chains": 2, "random_state": 0}


@dataclass(frozen=True)
class Case:
    """An estimator with what it is fitted to; ``draws`` names what its posterior must hold.

    ``documents``, with covariates ``of_documents``, are what it transforms.
    """

    estimator: object
    X: object
    draws: tuple
    covariates: dict = field(default_factory=dict)
    counts: object = None
    documents: object = None
    of_documents: dict = field(default_factory=dict)

    def fit(self, **parameters):
        """A fitted clone."""
        estimator = clone(self.estimator).set_params(**parameters)
        with warnings.catch_warnings():
            # chains this short may not have mixed, and draws of vectors are few: it is not tested
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "embedding_draws=2 are few")
            return estimator.fit(self.X, **self.covariates)


def drawn_vectors(counts, vectors):
    """Vectors of the columns of a count matrix that are known by draws."""
    names = [f"x{i}" for i in range(counts.shape[1])]
    return DrawnVectors(names, vectors, 0.2 * vectors.std())


def drift_case(estimator):
    times = DRIFT.times
    # in the last period, again, after it, and between two
    places = {"times": [times[-1], times[-1], times[-1] + 1, (times[0] + times[1]) / 2]}
    return Case(estimator, DRIFT.pairs, ("rho", "alpha"), {"times": times}, None, DOCUMENTS, places)


def cases():
    vectors = ("rho", "alpha")
    # chosen in two cases, which takes as long as a fit
    static = BayesianSGNS(2, prior_precision=1.0, **SHORT)
    for name, options in {
        "metropolis": {"solver": "gibbs", "kernel": "metropolis"},
        "polya-gamma": {"solver": "gibbs", "kernel": "polya-gamma"},
        "free": {"solver": "gibbs", "anchors": None},
        "learned": {"solver": "gibbs", "prior_precision": "learned"},
        "hmc": {"solver": "hmc"},
        "vi": {"solver": "vi", "prior_precision": "auto"},
        "vi-diag": {"solver": "vi", "covariance": "diag", "biases": True},
        "vi-online": {"solver": "vi", "learning_method": "online"},
        "laplace": {"solver": "laplace"},
        "map": {"solver": "map", "prior_precision": "auto"},
    }.items():
        estimator = clone(static).set_params(**options)
        yield f"sgns-{name}", Case(estimator, SGNS.pairs, vectors, documents=DOCUMENTS)
    shard = sum(count_pairs(DOCUMENTS * n, build_vocabulary(DOCUMENTS * 9)) for n in (4, 5))
    estimator = clone(static).set_params(solver="vi")
    yield "sgns-shard", Case(estimator, shard, vectors, documents=DOCUMENTS)
    drift = DynamicSGNS(2, diffusion=0.02, **SHORT)
    for solver in ("vi", "gibbs", "hmc", "laplace", "map"):
        estimator = clone(drift).set_params(solver=solver)
        yield f"dynamic-{solver}", drift_case(estimator)
    for name, options in {
        "filtering": {"learning_method": "filtering"},
        "learned": {"solver": "gibbs", "diffusion": "learned"},
    }.items():
        estimator = clone(drift).set_params(**options)
        yield f"dynamic-{name}", drift_case(estimator)
    senses = DiSCSenseModel(2, **SHORT)
    covariates = {"times": SENSES.times, "genres": SENSES.genres}
    for solver in ("hmc", "gibbs", "vi", "laplace", "map"):
        # modes are searched and weighed in the same way before all solvers
        estimator = clone(senses).set_params(solver=solver, n_starts=2 if solver == "hmc" else 1)
        yield (
            f"senses-{solver}",
            Case(estimator, SENSES.counts, ("prevalence",), covariates, SENSES.counts),
        )
    senses = clone(senses).set_params(n_starts=1)
    units = SENSES.times * 4 + np.arange(60) % 3
    of_works = covariates | {"units": units}
    draws = ("prevalence", "unit_effects", "unit_sd")
    yield "senses-works", Case(clone(senses), SENSES.counts, draws, of_works, SENSES.counts)
    estimator = clone(senses).set_params(solver="gibbs")
    yield "senses-works-gibbs", Case(estimator, SENSES.counts, draws, of_works, SENSES.counts)
    estimator = clone(senses).set_params(model="gasc")
    yield "senses-gasc", Case(estimator, SENSES.counts, ("prevalence",), covariates, SENSES.counts)
    for solver in ("hmc", "vi", "laplace", "map"):
        vectors = np.random.default_rng(0).normal(size=(25, 3))
        estimator = clone(senses).set_params(model="edisc", embedding=vectors, solver=solver)
        yield (
            f"senses-edisc-{solver}",
            Case(estimator, SENSES.counts, ("prevalence", "sigma"), covariates, SENSES.counts),
        )
    vectors = np.random.default_rng(0).normal(size=(25, 3))
    drawn = {"embedding": drawn_vectors(SENSES.counts, vectors), "embedding_draws": 2}
    estimator = clone(senses).set_params(model="edisc", **drawn)
    yield (
        "senses-edisc-drawn",
        Case(estimator, SENSES.counts, ("prevalence", "sigma"), covariates, SENSES.counts),
    )
    topics = GaussianLDA(2, embedding=TOPICS.vectors, **SHORT)
    for solver in ("gibbs", "hmc", "vi", "laplace", "map"):
        estimator = clone(topics).set_params(solver=solver)
        yield (
            f"topics-{solver}",
            Case(estimator, TOPICS.counts, ("mean", "covariance", "counts"), {}, TOPICS.counts),
        )
    estimator = clone(topics).set_params(solver="vi", learning_method="online", batch_size=8)
    yield "topics-online", Case(estimator, TOPICS.counts, ("mean",), {}, TOPICS.counts)
    words = clone(topics).set_params(word_model="dirichlet")
    for solver in ("gibbs", "vi"):
        estimator, draws = clone(words).set_params(solver=solver), ("topic_vector", "word_level")
        yield f"topics-dirichlet-{solver}", Case(estimator, TOPICS.counts, draws, {}, TOPICS.counts)
    estimator = clone(estimator).set_params(learning_method="online", batch_size=8)
    yield "topics-dirichlet-online", Case(estimator, TOPICS.counts, draws, {}, TOPICS.counts)
    drawn = {"embedding": drawn_vectors(TOPICS.counts, TOPICS.vectors), "embedding_draws": 2}
    for kind, of_kind in {"topics": topics, "topics-dirichlet": words}.items():
        estimator = clone(of_kind).set_params(**drawn)
        yield f"{kind}-drawn", Case(estimator, TOPICS.counts, ("counts",), {}, TOPICS.counts)
    for solver in ("hmc", "vi", "laplace", "map"):
        estimator = WordRates(solver=solver, draws=24, warmup=24, random_state=0)
        yield f"toy-{solver}", Case(estimator, RATES, ("rate",), {}, RATES)


CASES = dict(cases())


def marked(names, dear=()):
    """Those that fit several times are slow."""
    slow = pytest.mark.slow
    return [pytest.param(n, marks=slow) if n.endswith("-drawn") or n in dear else n for n in names]


# broken off and gone on with in the slow tests only, where others go the same way
DEAR = (
    "sgns-shard", "sgns-laplace", "sgns-free", "sgns-vi-diag", "sgns-metropolis", "sgns-learned",
    "dynamic-hmc", "dynamic-learned", "dynamic-laplace",
    "senses-works", "senses-works-gibbs", "senses-gasc", "senses-vi", "senses-laplace",
    "senses-edisc-hmc", "senses-edisc-vi", "senses-edisc-laplace",
    "topics-hmc", "topics-laplace",
)  # fmt: skip


@pytest.fixture(scope="module", params=marked(CASES))
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def fitted(case):
    return case.fit()


def solver_of(model):
    return model.posterior_.attrs["solver"]


def test_draws(case, fitted):
    posterior, solver = fitted.posterior_, case.estimator.solver
    assert isinstance(posterior, Posterior)
    assert set(case.draws) <= set(posterior)
    chains = 2 if solver in CHAINS else 1
    assert (posterior.n_chains, posterior.n_draws) == (chains, 1 if solver == "map" else 24)
    for name in posterior:
        assert posterior[name].dtype.kind == "f"
        assert np.isfinite(posterior[name]).all()


@pytest.mark.parametrize("case", marked(CASES, DEAR), indirect=True)
def test_a_fit_that_was_broken_off_goes_on(case, fitted, tmp_path, monkeypatch):
    """In the warm-up of the second chain; elsewhere in the middle of the search or ascent."""
    if not hasattr(case.estimator, "checkpoint"):
        pytest.skip("an estimator without checkpoints")
    with monkeypatch.context() as patch:
        # written after every sweep
        patch.setattr(checkpoint, "_SHARE", np.inf)
        patch.setattr(checkpoint, "INTERVAL", 0.0)
        for n in (60, 3, 1):
            with contextlib.suppress(Broken), break_after(n) as made:
                case.fit(checkpoint=tmp_path)
            if len(made) == n:
                break
    whole = case.fit(checkpoint=tmp_path)
    assert not list(tmp_path.iterdir())
    for name, draws in fitted.posterior_.items():
        np.testing.assert_array_equal(whole.posterior_[name], draws)
    for name, values in fitted.posterior_.stats.items():
        np.testing.assert_array_equal(whole.posterior_.stats[name], values)


@pytest.mark.parametrize("name", ["sgns-map", "dynamic-map", "senses-map", "topics-map"])
def test_an_interrupted_search_for_the_mode_is_kept(name, monkeypatch):
    """Ctrl-C in the second step of the search that is the fit, not of those before it."""
    advance, minimize, steps = Ascent.advance, mode.minimize, []

    def begun(search):
        def watched(*given, **options):
            steps[:] = [0] if given[-1] else []
            return search(*given, **options)

        return watched

    def step():
        if steps:
            steps[0] += 1
        if steps == [2]:
            raise KeyboardInterrupt

    def minimized(*given, callback, **options):
        def after(x):
            callback(x)
            step()

        return minimize(*given, callback=after, **options)

    monkeypatch.setattr(mode, "_climb", begun(mode._climb))
    monkeypatch.setattr(mode, "_minimize", begun(mode._minimize))
    monkeypatch.setattr(Ascent, "advance", lambda *given: step() or advance(*given))
    monkeypatch.setattr(mode, "minimize", minimized)
    with pytest.warns(RuntimeWarning, match="Interrupted"):
        model = CASES[name].fit()
    attrs = model.posterior_.attrs
    assert attrs["interrupted"] and not attrs["converged"] and attrs["n_iter"] in (1, 2)
    assert set(CASES[name].draws) <= set(model.posterior_)


def test_facts_keep_to_the_vocabulary(case, fitted):
    attrs = fitted.posterior_.attrs
    assert set(ATTRS_ALWAYS) <= set(attrs) <= set(ATTRS)
    assert attrs["solver"] == case.estimator.solver
    assert attrs["interrupted"] is False
    assert attrs["draws_made"] == (1 if case.estimator.solver == "map" else 24)
    assert attrs["stride"] == 1
    assert attrs["converged"] in (True, False, None)
    assert fitted.n_iter_ == max(1, attrs["n_iter"])
    if case.estimator.solver in CHAINS:
        thin = case.estimator.thin
        assert attrs["warmup"] == 24
        assert attrs["thin"] in ((1, 2, 4, 8, 16) if thin == "auto" else (thin,))
        assert not attrs["max_rhat"] < 0.9  # NaN where nothing moves
        # the verdict is that of the R-hats, all of them
        if attrs["converged"]:
            assert attrs["max_rhat"] < 1.2


def test_reports_have_the_same_rows(case, fitted):
    """Of every solver; what it does not have is said so."""
    report, attrs, solver = fitted.report(), fitted.posterior_.attrs, case.estimator.solver
    assert report.items[:2] == ["estimator", "skbayesembed"]
    words = getattr(fitted, "words_", None)
    assert report.find("words") == ("not known" if words is None else str(words.size))
    assert report.find("solver") == solver
    of_chains = ("largest R-hat", "smallest effective sample size", "warm-up")
    for item in of_chains:
        assert (report.find(item) == f"does not apply (solver={solver!r})") == (
            solver not in CHAINS
        )
    assert ("divergences" in attrs) == report.find("divergences").isdigit()
    worst, least = (report.find(item).partition(", of ") for item in of_chains[:2])
    if solver in CHAINS and worst[0] != "not known":
        assert float(worst[0]) == pytest.approx(attrs["max_rhat"], abs=1e-3)
        assert bool(worst[2]) == bool(least[2]) == (words is not None)
        assert words is None or float(least[0]) > 0
    warned = attrs["warnings"]
    assert report.find("warnings of the fit") == (warned or "none")
    assert ("not mixed" in warned) <= (attrs["converged"] is False)
    rows = "snippets" if isinstance(case.estimator, DiSCSenseModel) else "documents"
    for item, name in ((rows, "n_documents"), ("tokens of these words", "n_tokens")):
        assert report.find(item) == (f"{attrs[name]:g}" if name in attrs else "not known")
    assert report["value"].tolist() == report.values and all(report.values)


def test_statistics_keep_to_the_vocabulary(case, fitted):
    posterior = fitted.posterior_
    assert {name for name in posterior.stats if not name.endswith(ROWS)} <= set(STATS)
    for name, values in posterior.stats.items():
        assert values.shape[:2] == (posterior.n_chains, posterior.n_draws), name
        assert np.isfinite(values).all(), name
    if case.estimator.solver == "hmc":
        assert {"lp", "energy", "acceptance", "divergent", "n_leapfrog"} <= set(posterior.stats)
    if "acceptance" in posterior.stats:
        acceptance = posterior.stats["acceptance"]
        assert np.all((acceptance >= 0) & (acceptance <= 1))


def test_every_dimension_has_a_name(case, fitted):
    posterior = fitted.posterior_
    for name in posterior:
        dims = posterior.dims[name]
        assert len(dims) == posterior[name].ndim - 2
        if name not in ("alpha", "prior_precision", "diffusion") or len(dims) > 1:
            assert not any(dim.startswith(f"{name}_dim_") for dim in dims), (name, dims)
        for dim, size in zip(dims, posterior[name].shape[2:], strict=True):
            if dim in posterior.coords:
                assert len(posterior.coords[dim]) == size


def test_approximations_are_offered_themselves(case, fitted):
    solver = case.estimator.solver
    assert hasattr(fitted, "approximation_") == (solver in APPROXIMATE)
    assert hasattr(fitted, "elbo_") <= (solver in APPROXIMATE and solver != "laplace")
    if solver not in APPROXIMATE:
        return
    found = fitted.approximation_
    assert isinstance(found.mean, dict)
    first = found.sample(7, np.random.default_rng(1))
    again = found.sample(7, np.random.default_rng(1))
    assert set(found.mean) <= set(first)
    for name, mean in found.mean.items():
        assert first[name].shape == (7, *np.shape(mean))
        np.testing.assert_array_equal(first[name], again[name])
    if hasattr(fitted, "elbo_"):
        elbo = np.asarray(fitted.elbo_)
        assert elbo.ndim == 1 and np.isfinite(elbo).all()


@pytest.mark.parametrize(
    "case",
    marked(
        CASES,
        ("sgns-shard", "senses-works", "senses-works-gibbs", "senses-gasc", "senses-edisc-laplace",
         "senses-edisc-vi", "senses-edisc-hmc", "sgns-free"),
    ),
    indirect=True,
)  # fmt: skip
def test_seeds_decide_everything(case, fitted):
    again = case.fit(n_jobs=2) if hasattr(case.estimator, "n_jobs") else case.fit()
    for name in fitted.posterior_:
        np.testing.assert_array_equal(again.posterior_[name], fitted.posterior_[name])
    if case.estimator.solver != "map":
        different = case.fit(random_state=1)
        assert any(
            not np.array_equal(different.posterior_[name], fitted.posterior_[name])
            for name in fitted.posterior_
        )


@pytest.mark.parametrize("name", ["sgns-vi-online", "dynamic-vi", "senses-vi", "topics-vi"])
def test_generators_of_a_seed_are_that_seed(name):
    case = CASES[name]
    seeded, given = case.fit(), case.fit(random_state=np.random.RandomState(0))
    for variable in seeded.posterior_:
        np.testing.assert_array_equal(given.posterior_[variable], seeded.posterior_[variable])


def test_save_load_and_pickle(fitted, tmp_path):
    fitted.posterior_.save(tmp_path / "posterior.npz")
    again = Posterior.load(tmp_path / "posterior.npz")
    other = pickle.loads(pickle.dumps(fitted)).posterior_
    for name in fitted.posterior_:
        np.testing.assert_array_equal(again[name], fitted.posterior_[name])
        np.testing.assert_array_equal(other[name], fitted.posterior_[name])
    assert repr(again.attrs) == repr(fitted.posterior_.attrs)


def test_to_datatree(case, fitted):
    pytest.importorskip("arviz_base")
    tree = fitted.posterior_.to_datatree()
    for name in case.draws:
        dims = fitted.posterior_.dims[name]
        assert tree["posterior"][name].dims == ("chain", "draw", *dims)


def test_score_and_transform(case, fitted):
    score = fitted.score(case.X, **case.covariates)
    assert isinstance(score, float) and np.isfinite(score)
    assert fitted.score(case.X, **case.covariates) == score
    if case.counts is not None:
        features = fitted.transform(case.counts, **case.covariates)
        assert features.shape[0] == case.counts.shape[0]
        np.testing.assert_array_equal(features, fitted.transform(case.counts, **case.covariates))


@pytest.mark.filterwarnings("ignore:.* are of times before the first period")
def test_sample_transform(case, fitted):
    """Draws are joint, the same whenever asked for, and have the means of ``transform``."""
    X, covariates, n_draws = case.documents, case.of_documents, 400
    if X is None:
        X, covariates = case.counts, case.covariates
    if not hasattr(fitted, "sample_transform"):
        return
    if case.estimator.solver == "map" and "counts" not in fitted.posterior_:
        with pytest.raises(ValueError, match="sample_transform and sample_vectors need draws"):
            fitted.sample_transform(X, n_draws, **covariates)
        return
    with pytest.raises(ValueError, match="n_draws must be an integer >= 1, got 0"):
        fitted.sample_transform(X, 0, **covariates)
    draws = fitted.sample_transform(X, n_draws, **covariates)
    mean = fitted.transform(X, **covariates)
    assert draws.shape == (n_draws, *mean.shape)
    np.testing.assert_array_equal(draws, fitted.sample_transform(X, n_draws, **covariates))
    # of the 24 draws recorded all were used, nearly equally often; those of topics are independent
    # besides, five standard errors and what the means of topics are approximated by
    slack = 0.03 if "counts" in fitted.posterior_ else 0.05 * draws.std(axis=0)
    error = 5 * draws.std(axis=0) / np.sqrt(24)
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= error + slack)
    assert np.all(draws.std(axis=0).max(axis=1) > 0)


def test_tables(fitted):
    pytest.importorskip("pandas")
    place = {"period": fitted.periods_.labels[0]} if hasattr(fitted, "drift") else {}
    tables = [fitted.posterior_.summary(next(iter(fitted.posterior_)))]
    for method, arguments, options in (
        ("most_similar", (0, 3), place),
        ("most_changed", (3,), {}),
        ("sense_words", (3,), {}),
        ("top_words", (3,), {}),
        ("topic_info", (3,), {}),
    ):
        if hasattr(fitted, method):
            tables.append(getattr(fitted, method)(*arguments, **options))
    for table in tables:
        assert isinstance(table, Table)
        assert repr(table) and table._repr_html_().startswith("<table>")
        frame = table.to_frame()
        assert len(frame) > 0
        name = frame.columns[0]
        np.testing.assert_array_equal(frame[name], table[name])


ESTIMATORS = {name.split("-")[0]: case for name, case in reversed(CASES.items())}


@pytest.mark.parametrize("name", list(ESTIMATORS))
@pytest.mark.parametrize("solver", ["mcmc", None, 3, ["gibbs"]])
def test_unknown_solvers(name, solver):
    case = ESTIMATORS[name]
    kind = type(case.estimator).__name__
    with pytest.raises(ValueError, match=f"is not available for {kind}: use solver='"):
        clone(case.estimator).set_params(solver=solver).fit(case.X, **case.covariates)


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_memory_is_looked_at_before_any_work(name, monkeypatch):
    case = ESTIMATORS[name]
    solver = "hmc"
    estimator = clone(case.estimator).set_params(solver=solver, draws=10**12, keep_draws="all")
    with pytest.raises(MemoryError, match="The draws would take about"):
        estimator.fit(case.X, **case.covariates)
    assert not hasattr(estimator, "posterior_")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "topics-online",
            {"learning_offset": 1e308, "learning_decay": 1.0},
            "no finite posterior.*in mean",
        ),
        ("topics-dirichlet-online", {"learning_offset": 1e308}, "no finite posterior.*in topic"),
        ("topics-vi", {"mean_precision_prior": 1e308}, "no finite posterior.*elbo"),
        ("topics-gibbs", {"mean_precision_prior": 1e308}, "no finite posterior.*'lp'"),
        ("topics-laplace", {"mean_precision_prior": 1e308}, "numbers that it cannot compute with"),
        ("dynamic-filtering", {"prior_precision": 1e-300}, r"no finite posterior.*'rho'\]"),
        ("sgns-map", {"prior_precision": 1e308}, "numbers that it cannot compute with"),
    ],
)
def test_no_posterior_that_is_not_finite(name, parameters, message):
    """Numbers too extreme to compute with are an error that says so, not NaN in what is learned."""
    case = CASES[name]
    start = rf"{type(case.estimator).__name__}\(solver='{case.estimator.solver}'\)"
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=f"{start}.*{message}"):
        case.fit(**parameters)


def test_a_result_that_stops_early_says_so():
    """Recorded draws, and what they are called, survive an interruption: see test_chains."""
    model = CASES["toy-hmc"].fit(draws=9, thin=2)
    assert model.posterior_.attrs["draws_made"] == 9
    assert model.posterior_.n_draws == 9


@parametrize_with_checks([WordRates(solver="map")])
def test_toy_room_is_an_estimator(estimator, check):
    """What is shown as complete passes scikit-learn's checks, as the four do in test_common."""
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("runs with SCIPY_ARRAY_API=1 only")
    check(estimator)

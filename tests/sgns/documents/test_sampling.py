"""Deviations by units: invariances, exact corners, refits, and a model that is true."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import kstest, spearmanr
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, GraphPrior, InformativePrior, PairCounts
from skbayesembed.sgns.counting import expected_negatives
from skbayesembed.sgns.documents import answers, response, sampling
from skbayesembed.sgns.documents.deviations import (
    FEWEST_UNITS,
    Deviations,
    joint_draws,
    level_normals,
    prior_noise,
    spread_of,
)
from skbayesembed.sgns.laplace.curvature import gaussian_at
from skbayesembed.sgns.priors import build_prior

RNG = np.random.default_rng(7)
V, K, D = 25, 3, 40
WORDS = np.array([f"w{i:02d}" for i in range(V)])


def documents(n=D, length=80):
    """Documents of a few topics, so that words are bursty."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(V, 0.3), 5)
    out = []
    for _ in range(n):
        share = rng.dirichlet(np.full(5, 0.3)) @ topics
        out.append(list(rng.choice(WORDS, rng.poisson(length) + 2, p=share)))
    return out


DOCUMENTS = documents()


def make(**parameters):
    defaults = {
        "n_components": K,
        "solver": "map",
        "min_count": 1,
        "prior_precision": 2.0,
        "random_state": 0,
    }
    return BayesianSGNS(**{**defaults, **parameters})


@pytest.fixture(scope="module")
def unasked():
    """A pickled fit to `DOCUMENTS` that has not been asked yet."""
    return pickle.dumps(make().fit(DOCUMENTS))


@pytest.fixture(scope="module")
def model(unasked):
    return pickle.loads(unasked)


@pytest.fixture
def of_first_order(monkeypatch):
    """Deviations without modes of halves, for what is not about the response."""
    monkeypatch.setattr(sampling, "respond", lambda *_: (1.0, np.nan))


def answered(model):
    """Sampling and prior parts of all cosines and logits, in the order of the words' names."""
    order = np.array([model.vocabulary_[w] for w in WORDS])
    a, b = (order[i] for i in np.triu_indices(V, 1))
    d = model._sampling.deviations
    spreads = [spread_of(d, change(d, a, b)) for change in CHANGES]
    return np.array([[s.sampling, s.prior] for s in spreads])


# What the response leaves open where the modes of halves are searched for to 1e-4.
OF_SEARCHES = 5e-3


def by_units(model):
    """Sampling parts of `answered`."""
    return answered(model)[:, 0]


def well_known(model, n_units):
    """Which of the pairs of `answered` have words of so many effective units and more."""
    seen = model.n_units_[[model.vocabulary_[w] for w in WORDS]]
    a, b = np.triu_indices(V, 1)
    return np.minimum(seen[a], seen[b]) >= n_units


CHANGES = answers.cosine_change, answers.logit_change


@pytest.mark.slow
@pytest.mark.parametrize("matrix", [False, True], ids=["text", "counts"])
def test_documents_given_several_times_in_one_unit(matrix):
    """Every document r times in one unit, and the prior r times as sharp: nothing changes.

    All numbers are those of the first fit times r but for rounding in single precision, 6e-8 of
    each number and some ten times that after the iterations, and but for the response, which rests
    on searches that end early. Words of fewer than two units are left out, which have the model's
    own spread besides.
    """
    r, X = 3, DOCUMENTS
    if matrix:
        X = np.array([[d.count(w) for w in WORDS] for d in DOCUMENTS], dtype=float)
    repeated = [x for x in X for _ in range(r)]
    once = make(feature_names=list(WORDS) if matrix else None)
    often = make(feature_names=list(WORDS) if matrix else None, prior_precision=2.0 * r)
    once.fit(X)
    often.fit(np.array(repeated) if matrix else repeated, units=np.repeat(np.arange(D), r))
    modes = [m._sampling.deviations.vectors for m in (once, often)]
    products = [v[0] @ v[1].T for v in modes]
    np.testing.assert_allclose(products[0], products[1], atol=1e-6)
    well = well_known(once, FEWEST_UNITS)
    first, second = by_units(once)[:, well], by_units(often)[:, well]
    np.testing.assert_allclose(first, second, rtol=OF_SEARCHES)
    np.testing.assert_allclose(once._sampling.response, often._sampling.response, rtol=1e-3)
    # weights say the same as repetitions
    weighted = make(feature_names=list(WORDS) if matrix else None, prior_precision=2.0 * r)
    weighted.fit(X, sample_weight=np.full(D, float(r)))
    np.testing.assert_allclose(by_units(weighted)[:, well], first, rtol=OF_SEARCHES)


@pytest.mark.slow
def test_weights_are_repetitions():
    """Of whole numbers: the same mode, and the same intervals where they are of one unit."""
    times = np.random.default_rng(0).integers(0, 3, D)
    repeated = [d for d, r in zip(DOCUMENTS, times, strict=True) for _ in range(r)]
    a = make().fit(DOCUMENTS, sample_weight=times)
    b = make().fit(repeated, units=np.repeat(np.arange(D), times))
    order = [b.vocabulary_[w] for w in a.words_]
    products = [v[0] @ v[1].T for v in (m._sampling.deviations.vectors for m in (a, b))]
    np.testing.assert_allclose(products[0], products[1][np.ix_(order, order)], atol=1e-6)
    assert a._sampling.deviations.n_sampling == np.count_nonzero(times)
    # the response is read off pairs of words at random, and words have another order
    ratio = by_units(a) / by_units(b)
    np.testing.assert_allclose(ratio, np.median(ratio), rtol=OF_SEARCHES)
    assert abs(np.median(ratio) - 1.0) < 0.08


def jackknife(parameters, functional):
    """Standard deviations of a functional by the jackknife over documents, all refitted."""
    found = []
    for left_out in range(D):
        weights = np.ones(D)
        weights[left_out] = 0.0
        refit = make(tol=1e-10, **parameters).fit(DOCUMENTS, sample_weight=weights)
        found.append(functional(refit))
    found = np.array(found)
    return np.sqrt((D - 1) / D * np.sum((found - found.mean(axis=0)) ** 2, axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("window_weights", ["linear", "uniform"])
def test_against_the_jackknife(window_weights, monkeypatch):
    """The infinitesimal jackknife is the first order of the one that leaves documents out.

    With 40 documents, second order is some percent of each standard deviation: of five streams the
    lowest median ratio was 0.90. Pairs with a word of fewer than five effective units are left out.
    """
    monkeypatch.setattr(sampling, "respond", lambda *_: (1.0, np.nan))
    parameters = {"window_weights": window_weights}
    model = make(**parameters).fit(DOCUMENTS)
    a, b = np.triu_indices(V, 1)
    well = np.minimum(model.n_units_[a], model.n_units_[b]) >= 5
    a, b = a[well], b[well]

    def functional(fitted):
        order = [fitted.vocabulary_[w] for w in model.words_]
        rho, alpha = fitted.rho_[order], fitted.alpha_[order]
        unit = rho / np.linalg.norm(rho, axis=1, keepdims=True)
        cosines = np.sum(unit[a] * unit[b], axis=1)
        return np.stack([cosines, np.sum(rho[a] * alpha[b], axis=1)])

    expected = jackknife(parameters, functional)
    d = model._sampling.deviations
    for change, sd in zip(CHANGES, expected, strict=True):
        found = spread_of(d, change(d, a, b)).sampling
        ratio = found / sd
        assert 0.85 < np.median(ratio) < 1.15
        assert spearmanr(found, sd).statistic > 0.9


@pytest.mark.slow
def test_both_parts_add_up_to_laplace_where_the_model_is_true():
    """Where units are single observations as the model has them, H^+ (I + Lambda) H^+ = H^+.

    Noise of the prior and of the model's own information together have the covariance of Laplace's
    approximation: the prior's part is drawn 4,000 times, so that standard deviations are within
    1.1 % of theirs, 4.5 % at most of 300 pairs.
    """
    model = make().fit(DOCUMENTS)
    mode, hessian, _ = model._sampling._at_mode
    rng = np.random.default_rng(0)
    n = 4000
    noise = prior_noise(hessian.prior, rng, n)
    a, b = np.triu_indices(V, 1)
    # H^+ Lambda H^+ by hand
    matrix = hessian.matrix()
    inverse = np.linalg.pinv(matrix, rcond=1e-9)
    size = V * K

    def gradient(i, j):
        out = np.zeros((2, V, K))
        out[0, i], out[1, j] = hessian.x[1, j], hessian.x[0, i]
        return out.ravel()

    gradients = np.array([gradient(i, j) for i, j in zip(a, b, strict=True)])
    moved = gradients @ inverse
    expected = np.sqrt(2.0 * np.sum(moved**2, axis=1))
    assert moved.shape == (a.size, 2 * size)
    shifts = noise.astype(np.float32)
    sampling.solve_in_place(hessian, mode.orbit, shifts)
    found = np.sqrt(np.sum((shifts.reshape(n, -1) @ gradients.T) ** 2, axis=0))
    np.testing.assert_allclose(found, expected, rtol=0.06)


@pytest.mark.usefixtures("of_first_order")
@pytest.mark.parametrize("components", [K, pytest.param(12, marks=pytest.mark.slow)])
def test_the_priors_part(components):
    """``M Lambda M`` and ``M Lambda x x' Lambda M``, M the inverse of F + Lambda, by hand.

    The first is drawn 256 times: 4.4 % of a standard deviation, five times that at most of 300
    pairs, and it is at most the prior's own. With twelve components the mode lacks some.
    """
    model = make(n_components=components).fit(DOCUMENTS)
    mode, hessian, _ = model._sampling._at_mode
    inverse = np.linalg.inv(hessian.expected().matrix())
    a, b = np.triu_indices(V, 1)
    d = model._sampling.deviations
    shifts = d.shifts[d.n_sampling :].reshape(257, -1)
    # of logits, which no balancing changes
    gradients = np.zeros((a.size, 2, V, components))
    rows = np.arange(a.size)
    gradients[rows, 0, a], gradients[rows, 1, b] = mode.vectors[1, b], mode.vectors[0, a]
    moved = gradients.reshape(a.size, -1) @ inverse
    noise = np.sqrt(model.prior_precision_ * np.sum(moved**2, axis=1))
    at = np.zeros((a.size, 2, V, components))
    at[rows, 0, a], at[rows, 1, b] = d.vectors[1, b], d.vectors[0, a]
    found = shifts @ at.reshape(a.size, -1).T
    assert_allclose(np.sqrt(np.sum(found[:-1] ** 2, axis=0)), noise, rtol=0.22)
    pull = moved @ (model.prior_precision_ * mode.vectors.ravel())
    assert_allclose(found[-1], pull, atol=0.02 * np.abs(pull).max())
    own = np.sum(gradients**2, axis=(1, 2, 3)) / model.prior_precision_
    assert np.all(noise**2 <= own)


@pytest.mark.parametrize(
    "prior",
    [
        GraphPrior([("w00", "w01"), ("w01", "w02", 3.0)]),
        InformativePrior({"w00": {0: 1.0}, "w03": {0: -1.0}}, precision=5.0),
    ],
    ids=["graph", "informative"],
)
def test_prior_noise_has_its_precision(prior):
    """Covariances of 8,000 draws: their errors are below 5 sqrt(2 / 8000) of the largest."""
    built = build_prior(make(prior=prior), {w: i for i, w in enumerate(WORDS)})
    n = 8_000
    draws = prior_noise(built, np.random.default_rng(0), n)
    for side in (0, 1):
        for k in range(K):
            x = draws[:, side, :, k]
            found = x.T @ x
            unit = np.zeros((V, V, K))
            unit[:, :, k] = np.eye(V)
            expected = np.array([built.apply(side, u)[:, k] for u in unit])
            np.testing.assert_allclose(found, expected, atol=0.079 * expected.max())


def independent(n_pairs, n_units, rng):
    """Documents of two tokens, drawn from a model that is true."""
    rho, alpha = np.random.default_rng(3).normal(0.0, 0.6, (2, V, K))
    p = np.exp(rho @ alpha.T) / (np.arange(V) + 3.0) / (np.arange(V) + 3.0)[:, None]
    drawn = rng.choice(V * V, n_pairs, p=(p / p.sum()).ravel())
    texts = [[WORDS[w], WORDS[v]] for w, v in zip(*np.divmod(drawn, V), strict=True)]
    return texts, np.arange(n_pairs) % n_units


@pytest.mark.slow
def test_coverage_where_pairs_are_independent(monkeypatch):
    """Intervals of the difference of two samples hold zero 90 times of 100.

    14 samples, each beside the next; whether two differences with a sample in common (correlation
    -.5) hold zero has a correlation of .16, so that they are worth 14 / 1.33 pairs. Cosines of a
    pair are correlated, as if some 20 of the 300 were independent: the standard error of the
    coverage is sqrt(.09 / (10.5 * 20)) = .021, and four of them are allowed.
    """
    # as many pairs of words as there are
    monkeypatch.setattr(response, "PAIRS", V * (V - 1) // 2)
    rng = np.random.default_rng(5)
    parts = []
    for _ in range(14):
        texts, units = independent(20_000, 50, rng)
        m = make(window=1, prior_precision=0.5, tol=1e-6).fit(texts, units=units)
        order = np.array([m.vocabulary_[w] for w in WORDS])
        a, b = (order[i] for i in np.triu_indices(V, 1))
        d = m._sampling.deviations
        unit = d.vectors[0] / np.linalg.norm(d.vectors[0], axis=1, keepdims=True)
        spread = spread_of(d, answers.cosine_change(d, a, b))
        parts.append((np.sum(unit[a] * unit[b], axis=1), spread.sampling))
    held = [
        np.abs(x - y) < 1.6765 * np.hypot(s, t)  # Student's t with 50 degrees
        for (x, s), (y, t) in zip(parts, parts[1:] + parts[:1], strict=True)
    ]
    assert abs(np.mean(held) - 0.9) < 4 * 0.021


@pytest.mark.slow
def test_random_sums_of_many_units(monkeypatch, model):
    """With fewer sums than units, standard deviations are those of all: within 4 / sqrt(2 * 30)."""
    monkeypatch.setattr(sampling, "numbers_of", lambda n: (30, 64))
    few = make().fit(DOCUMENTS)
    assert not few._sampling.deviations.by_unit
    ratio = answered(few)[:, 0] / answered(model)[:, 0]
    assert np.abs(np.median(ratio) - 1) < 0.1
    assert 0.5 < ratio.min() and ratio.max() < 1.6


@pytest.mark.slow
def test_words_of_one_unit_have_the_models_spread():
    texts = [[*d] for d in DOCUMENTS]
    texts[0] = texts[0] + ["rare", "rare", texts[0][0]] * 4
    model = make().fit(texts)
    rare = model.vocabulary_["rare"]
    assert model.n_units_[rare] == 1.0 < FEWEST_UNITS
    assert np.isnan(model.dispersion_[rare])
    d = model._sampling.deviations
    assert rare in d.own
    found = model.similarity("rare", "w00")
    # what Laplace's approximation says to first order, with residuals as they are expected
    mode, hessian, _ = make().fit(texts)._sampling._at_mode
    draws = (
        gaussian_at(hessian.expected(), "krylov").draw(2000, np.random.default_rng(0)).astype(float)
    )
    x = (mode.vectors + mode.orbit.project(draws))[:, 0]
    x = mode.vectors[0] + 0.01 * (x - mode.vectors[0])
    unit = x / np.linalg.norm(x, axis=2, keepdims=True)
    laplace = 100 * np.std(np.sum(unit[:, rare] * unit[:, model.vocabulary_["w00"]], axis=1))
    assert found.sd > 0.95 * laplace
    assert found.n_units == 1.0


@pytest.mark.usefixtures("of_first_order")
def test_a_precision_that_rounding_would_drown(unasked):
    """It is raised for the solutions alone, where the data say a million times more."""
    _, hessian, _ = pickle.loads(unasked)._sampling._at_mode
    assert hessian.prior is hessian.model.prior
    counts = np.array([[100.0 * d.count(w) for w in WORDS] for d in DOCUMENTS])
    heavy = make(feature_names=list(WORDS), pair_weights="pairs", prior_precision=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # deviations go on to the mode
        heavy.fit(counts)
    mode, hessian, _ = heavy._sampling._at_mode
    for side in (0, 1):
        traces = np.trace(hessian.blocks(side), axis1=1, axis2=2)
        precision = hessian.prior.diagonal(side)
        np.testing.assert_allclose(precision, 1e-6 * traces[:, None] * np.ones(K), rtol=1e-4)
        assert np.all(precision > 0.01)
    found = heavy.similarity("w00", "w01")
    assert 0 < found.sd_prior < 0.1 * found.sd_sampling < np.inf


def test_dispersion_of_a_true_model_is_one():
    """Each word has some 100 pairs in 200 units: sd of its mean eigenvalue sqrt(2 / (64 K))."""
    texts, units = independent(20_000, 200, np.random.default_rng(1))
    model = make(window=1, prior_precision=0.1, negative=5, tol=1e-6).fit(texts, units=units)
    # half of the observations, expected negatives, are no data: their variance is not there
    assert 0.5 < np.nanmedian(model.dispersion_) < 1.2


def test_draws_of_more_than_columns_have_no_monte_carlo_error_in_mean_and_covariance():
    """Their marginals are normal up to 1 / n: Kolmogorov-Smirnov of 40 columns, Bonferroni."""
    n, m = 1000, 40
    z = level_normals((3,), (1,), n, m)
    assert_allclose(z.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(z.T @ z / n, np.eye(m), atol=1e-12)
    assert min(kstest(column, "norm").pvalue for column in z.T) > 1e-3 / m
    assert level_normals((3,), (1,), n, m) is z and not z.flags.writeable
    few = level_normals((3,), (1,), m, m)
    assert_allclose(few, np.random.default_rng(np.random.SeedSequence((3,), spawn_key=(1,)))
                    .standard_normal((m, m)))  # fmt: skip


def test_covariances_of_features_do_not_depend_on_the_seed_of_their_draws(model):
    """Those of sums of vectors are those of the deviations, in these very draws."""
    d = model._sampling.deviations
    assert not d.own or min(d.own) >= 0
    weights = sparse.csr_array(np.eye(3, V) + 0.5 * np.eye(3, V, 1))
    draws = answers.feature_draws(replace(d, own={}), weights, 500)
    moved = np.stack([weights @ shift.astype(float) for shift in d.shifts[:, 0]])
    expected = np.einsum("mdk,mel->dkel", moved, moved)
    found = np.einsum("ndk,nel->dkel", draws, draws) / 500
    assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_draws_are_joint_and_students():
    """Differences of draws have the variance of differences; quantiles are those of Student's t."""
    rng = np.random.default_rng(0)
    shifts = rng.normal(size=(50, 2, 4, 2)).astype(np.float32)
    d = Deviations(
        rng.normal(size=(2, 4, 2)), shifts, 50, True, np.full(4, 50.0), {},
        np.random.SeedSequence(1),
    )  # fmt: skip
    a, b = np.array([0, 0]), np.array([1, 2])
    change = answers.logit_change(d, a, b)
    spread = spread_of(d, change)
    draws = spread.total * joint_draws(d, change, spread, 40_000)
    np.testing.assert_allclose(draws.std(axis=0), spread.total, rtol=0.05)
    expected = change.shared[:, 0] - change.shared[:, 1]
    found = np.std(draws[:, 0] - draws[:, 1])
    np.testing.assert_allclose(found, np.sqrt(np.sum(expected**2)), rtol=0.05)


@pytest.mark.usefixtures("of_first_order")
def test_pair_counts_of_units():
    """A list of them, one a unit: the negative pairs of each are its own."""
    texts = np.array([[d.count(w) for w in WORDS] for d in DOCUMENTS[:20]], dtype=float)
    counts, negatives = [], {"negative": 1, "ns_exponent": 0.75}
    for row in texts:
        positive = np.outer(row, row) - np.diag(row)
        counts.append(
            PairCounts(positive, expected_negatives(sparse.csr_array(positive), **negatives), WORDS)
        )
    model = make().fit(counts)
    assert model.posterior_.attrs["uncertainty"] == "documents"
    assert model.similarity("w00", "w01").sd_sampling > 0
    # two documents of a unit are one
    merged = make().fit(counts, units=np.arange(20) // 2)
    assert merged._sampling.deviations.n_sampling == 10


@pytest.mark.parametrize("verbose", [0, 1])
def test_long_waits_are_announced(unasked, verbose, monkeypatch, capsys):
    monkeypatch.setattr(sampling.Awaited, "timed", 0)
    monkeypatch.setattr(sampling.Awaited, "patience", 0.0)
    monkeypatch.setattr("skbayesembed.common.trial.Steps.interval", 0.0)
    model = pickle.loads(unasked).set_params(verbose=verbose)
    capsys.readouterr()
    model.similarity(0, 1)
    said = capsys.readouterr()
    assert "once for all questions" in (said.out if verbose else said.err)
    for search in ("1 of 3: mode", "3 of 3: mode 8 of 8, of half of the units"):
        line = f"units, {search}, search for a mode: 1 steps, usually some"
        assert (line in said.out) == bool(verbose)
    model.similarity(0, 2)
    assert capsys.readouterr() == ("", "")

"""Intervals of `DynamicSGNS` by the units that were sampled, and its balanced vectors."""

from __future__ import annotations

import dataclasses
import functools
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline

from skbayesembed import DynamicSGNS, PairCounts
from skbayesembed.dynamic import inputs, seen
from skbayesembed.dynamic.documents import sampling
from skbayesembed.dynamic.documents.density import density_of
from skbayesembed.dynamic.documents.deviations import own_paths
from skbayesembed.dynamic.documents.sampling import AtFit, DriftSampling
from skbayesembed.dynamic.documents.scores import resting_units
from skbayesembed.dynamic.model import SIDES, Curvature
from skbayesembed.numeric.tridiagonal import Tridiagonal
from skbayesembed.sgns.counting import expected_negatives
from skbayesembed.sgns.documents.answers import cosine_change, logit_change
from skbayesembed.sgns.documents.awaited import Awaited
from skbayesembed.sgns.documents.deviations import spread_of
from skbayesembed.sgns.documents.sampling import as_read

pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:The sampler hardly moved"),
    pytest.mark.filterwarnings("ignore:The coordinates of target vectors"),
    pytest.mark.filterwarnings("ignore:The bound still rose"),
    pytest.mark.filterwarnings("ignore:.* vary more than 2 times as much"),
    # of later documents, as some are on purpose
    pytest.mark.filterwarnings("ignore:.* are of times before the first period"),
]

V, K = 12, 2
SOLVERS = ("map", "laplace", "vi", "gibbs", "hmc")


def make_texts(n=60, seed=0, length=40):
    """Documents that each keep to words of their own, of three topics, in three years."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(V, 0.7), 3)
    texts = []
    for i in range(n):
        p = rng.dirichlet(15 * topics[i % 3] + 0.05)
        texts.append([f"w{j:02}" for j in rng.choice(V, length, p=p)])
    return texts, 1900 + rng.permutation(np.arange(n) % 3)


TEXTS, TIMES = make_texts()
SPEAKERS = np.arange(len(TEXTS)) % 14


def make(**parameters):
    options = {
        "solver": "map", "diffusion": 0.05, "min_count": 1, "draws": 40, "warmup": 30,
        "chains": 2, "random_state": 0,
    }  # fmt: skip
    return DynamicSGNS(K, **options | parameters)


@pytest.fixture(scope="module")
def fitted():
    return make().fit(TEXTS, times=TIMES)


@pytest.fixture(scope="module")
def matrix():
    return CountVectorizer(analyzer=lambda text: text).fit_transform(TEXTS)


def answers(model):
    """One of every kind of answers."""
    at = model.periods_.labels[1]
    return {
        "similarity": model.similarity(0, 1),
        "change": model.similarity_change(0, 1),
        "drift": model.drift(2),
        "cosine drift": model.drift(2, distance="cosine"),
        "proba": model.cooccurrence_proba([(0, 1), (3, 3)], periods=[at]),
        "trajectory": model.trajectory(4, which="context"),
        "neighbours": model.most_similar(0, 3, period=at),
        "changed": model.most_changed(4),
        "cosine changed": model.most_changed(4, distance="cosine"),
    }


# Influences -------------------------------------------------------------------------------------


def gradient(model, X, weights, x, **more):
    """Of the log likelihood at vectors ``x``, of documents recounted with these weights."""
    seed = np.random.SeedSequence(0)
    training = inputs.training_data(clone(model), X, TIMES, seed, sample_weight=weights, **more)
    arrays = {"rho": x[:, 0], "alpha": x[:, 1]}
    counts = [c if c.total > 0 else None for c in training.counts]
    out = np.zeros_like(x)
    density_of(counts, model._prior, arrays).likelihood(x, out)
    return out


@pytest.mark.parametrize(
    ("options", "weighted"),
    [
        pytest.param(options, weighted, marks=pytest.mark.slow if (i + weighted) % 2 else ())
        for i, options in enumerate([
            {}, {"window": 2, "negative": 3, "ns_exponent": 0.5, "window_weights": "uniform"},
            {"X": "matrix"}, {"X": "matrix", "pair_weights": "pairs"},
        ])
        for weighted in (False, True)
    ],
)  # fmt: skip
def test_influences_are_derivatives_of_the_recounted_gradient(matrix, options, weighted):
    """Of a unit with documents in several periods; negatives and noise are counted anew."""
    X = matrix if "X" in options else TEXTS
    options = {name: value for name, value in options.items() if name != "X"}
    weights = np.ones(len(TEXTS))
    if weighted:
        weights = np.random.default_rng(1).uniform(0.0, 2.0, len(TEXTS))
        weights[:3] = 0.0
    model = make(**options).fit(X, times=TIMES, units=SPEAKERS, sample_weight=weights)
    x = np.stack([model.rho_, model.alpha_], axis=1)
    _, scores = model._sampling._build()
    found = scores(x, lambda f, tasks: [f(*task) for task in tasks])
    each = found.weighted(np.eye(14))
    assert each.shape == (14, 3, 2, V, K) and found.unit_rows.shape == (14, V)
    step = 1e-4
    for unit in (0, 5):
        ends = [
            gradient(model, X, np.where(SPEAKERS == unit, s * weights, weights), x)
            for s in (1 + step, 1 - step)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(each[unit], slope, atol=1e-6 * np.abs(slope).max())
    total = np.full((1, 14), 2.0)
    np.testing.assert_allclose(found.weighted(total)[0], 2 * each.sum(axis=0), atol=1e-9)


def test_a_unit_has_no_influence_where_it_has_no_documents():
    fitted = make().fit(TEXTS, times=TIMES)
    _, scores = fitted._sampling._build()
    x = np.stack([fitted.rho_, fitted.alpha_], axis=1)
    each = scores(x, lambda f, tasks: [f(*task) for task in tasks]).weighted(np.eye(len(TEXTS)))
    for unit, year in enumerate(TIMES.tolist()):
        elsewhere = np.arange(3) != year - 1900
        assert not each[unit, elsewhere].any() and each[unit, ~elsewhere].all()


@functools.cache
def given_pairs():
    """`PairCounts` of documents, each with negative pairs of its own."""
    rng = np.random.default_rng(0)
    pairs = []
    for text in TEXTS:
        n = np.bincount([int(w[1:]) for w in text], minlength=V)
        positive = np.outer(n, n) / 20.0
        negative = expected_negatives(PairCounts(positive, positive).positive, negative=1.0,
                                      ns_exponent=0.75)  # fmt: skip
        pairs.append(PairCounts(positive, rng.uniform(0.5, 1.5) * negative.toarray()))
    return pairs


def test_influences_of_given_pairs():
    pairs = given_pairs()
    weights = np.linspace(0.0, 2.0, len(pairs))
    model = make().fit(pairs, times=TIMES, units=SPEAKERS, sample_weight=weights)
    x = np.stack([model.rho_, model.alpha_], axis=1)
    found = model._sampling._build()[1](x, None)
    each = found.weighted(np.eye(14))
    for unit in (0, 3):
        ends = [
            gradient(model, pairs, np.where(SPEAKERS == unit, s, 1.0) * weights, x)
            for s in (2.0, 0.0)
        ]
        np.testing.assert_allclose(each[unit], (ends[0] - ends[1]) / 2, atol=1e-8)
    rows = np.array([p.positive.sum(axis=1) for p in pairs]) * weights[:, None]
    rows = np.array([rows[SPEAKERS == unit].sum(axis=0) for unit in range(14)])
    np.testing.assert_allclose(found.unit_rows.toarray(), rows)


# What must hold of intervals --------------------------------------------------------------------


def deviations_near(model, arrays):
    """Deviations of a fit at the mode near some vectors; the same seed for each."""
    seed, kept = np.random.SeedSequence(3), model._sampling
    options = {"balance": True, "seed": seed, "n_jobs": None}
    return DriftSampling(kept._build, arrays, kept._number, **options).deviations


@pytest.mark.slow
def test_repeated_documents_say_nothing_new():
    """Each three times in its unit, the prior three times as strong: the mode stays."""
    r, units = 3, np.arange(len(TEXTS))
    once = make().fit(TEXTS, times=TIMES)
    more = make(prior_precision=r * 1.0, diffusion=0.05 / r)
    more.fit(TEXTS * r, times=np.tile(TIMES, r), units=np.tile(units, r))
    assert more.words_.tolist() == once.words_.tolist()
    np.testing.assert_allclose(more.n_units_, once.n_units_)
    # from the same vectors, for the search from elsewhere may end at another mode
    arrays = {"rho": once.rho_, "alpha": once.alpha_}
    first, second = (deviations_near(model, arrays) for model in (once, more))
    n = first.n_sampling
    np.testing.assert_allclose(second.vectors, first.vectors, atol=1e-5)
    size = np.abs(first.shifts).max()
    # the linear systems are solved up to a relative error of some 1e-6, as a whole
    np.testing.assert_allclose(second.shifts[:n], first.shifts[:n], atol=5e-5 * size)
    # the same noise in two frames that searches ended in
    prior = first.shifts[n:-1] / r**0.5
    np.testing.assert_allclose(second.shifts[n:-1], prior, atol=1e-2 * size)
    # a prior three times as strong pulls as far against three times the data
    np.testing.assert_allclose(second.shifts[-1], first.shifts[-1], atol=1e-2 * size)
    np.testing.assert_allclose(second.n_units, first.n_units)


def independent_pairs(n_units, each, rng):
    """Observations of a model that is true: units of ``each`` pairs in each of three periods."""
    rho, alpha = rng.standard_normal((2, V, 2))
    pairs, times = [], []
    for i in range(3 * n_units):
        w, v = rng.integers(V, size=(2, each))
        positive = rng.random(each) < expit(np.sum(rho[w] * alpha[v], axis=1))
        counts = np.zeros((2, V, V))
        np.add.at(counts, (np.where(positive, 0, 1), w, v), 1.0)
        pairs.append(PairCounts(*counts))
        times.append(i % 3)
    return pairs, times


@pytest.mark.slow
def test_widths_are_the_models_where_the_model_is_true():
    """Of 400 sums of units and 2000 draws either is known to some 4 %, the median far better."""
    pairs, times = independent_pairs(400, 40, np.random.default_rng(4))
    model = make(solver="laplace", draws=2000, diffusion=0.02).fit(pairs, times=times)
    assert model.posterior_.attrs["uncertainty"] == "documents"
    found = model.cooccurrence_proba([(0, 1)])
    np.testing.assert_allclose(found.sd**2, found.sd_sampling**2 + found.sd_prior**2)
    # the model's, linear in the vectors as those of the documents are
    mine, draws = (
        model._sampling.deviations,
        model.approximation_.sample(2000, np.random.default_rng(0)),
    )
    shifts = np.stack([draws[side] - model.approximation_.mean[side] for side in SIDES], axis=1)
    shifts = shifts.reshape(2000, 2, 3 * V, K) / 2000**0.5
    vectors = np.stack([model.approximation_.mean[side].reshape(-1, K) for side in SIDES])
    reference = [x.reshape(-1, K) for x in (model.rho_, model.alpha_)]
    vectors, _ = as_read(vectors, shifts, {}, reference, True)
    np.testing.assert_allclose(mine.vectors, vectors, atol=1e-3)
    other = dataclasses.replace(mine, shifts=shifts, n_sampling=2000)
    t, w, v = np.indices((3, V, V)).reshape(3, -1)
    t, w, v = (x[w != v] for x in (t, w, v))
    for change in (logit_change, cosine_change):
        sds = (spread_of(d, change(d, t * V + w, t * V + v)).total for d in (mine, other))
        ratio = np.divide(*sds)
        assert 0.96 < np.median(ratio) < 1.04
        assert 0.85 < np.quantile(ratio, 0.05) and np.quantile(ratio, 0.95) < 1.15


@pytest.mark.slow
def test_bursty_documents_are_less_certain_than_the_model_thinks(fitted):
    laplace = make(solver="laplace", draws=400).fit(TEXTS, times=TIMES)
    places = [(w, v) for w in range(V) for v in range(V)]
    mine = laplace.cooccurrence_proba(places).sd
    other = laplace.set_params(uncertainty="model").cooccurrence_proba(places).sd
    assert np.median(mine / other) > 1.1
    speakers = make().fit(TEXTS, times=TIMES, units=SPEAKERS)
    assert not np.allclose(speakers.similarity(0, 1).sd, fitted.similarity(0, 1).sd, rtol=0.01)
    np.testing.assert_allclose(speakers.similarity(0, 1).mean, fitted.similarity(0, 1).mean)


@pytest.mark.slow
def test_the_model_warns_of_dispersion(capsys, monkeypatch):
    """Where each document says everything twice; and the deviations tell how far they are."""
    twice = [text + text for text in TEXTS]
    wide = {"window": 20, "window_weights": "uniform"}
    for name, value in (("timed", 0), ("patience", 0.0)):
        monkeypatch.setattr(Awaited, name, value)
    with pytest.warns(
        UserWarning, match=r"of 12 words, which vary more than 2 times .* uncertainty='doc"
    ):
        model = make(uncertainty="model", **wide).fit(twice, times=TIMES)
    # at the vectors of the fit, without a search for the mode, at which these are
    assert "_at_mode" not in vars(model._sampling)
    at_fit = AtFit(model._sampling).dispersion
    assert np.nanmax(model.dispersion_) > 2
    # within what the search of the fit leaves to the mode
    np.testing.assert_allclose(at_fit, model.dispersion_, rtol=0.02)
    # nobody waits for intervals there
    assert "intervals by units" not in "".join(capsys.readouterr())
    model.set_params(uncertainty="documents", verbose=1)
    assert model.similarity(0, 1).sd_sampling.min() > 0
    make(verbose=1).fit(TEXTS, times=TIMES).similarity(0, 1)
    assert "intervals by units, 2 of 3: 100 % of 321 deviations" in capsys.readouterr().out


@pytest.mark.parametrize(
    "solver",
    [pytest.param(s, marks=() if s == "hmc" else pytest.mark.slow) for s in SOLVERS],
)
def test_every_solver_answers_with_the_same_widths(fitted, solver):
    model = make(solver=solver).fit(TEXTS, times=TIMES)
    assert model.posterior_.attrs["uncertainty"] == "documents"
    found, expected = answers(model), answers(fitted)
    for name in ("similarity", "change", "drift", "cosine drift", "proba", "trajectory"):
        one = found[name]
        assert np.all(one.interval[..., 0] < one.mean) and np.all(one.mean < one.interval[..., 1])
        assert one.draws.shape == (1000, *np.shape(one.mean)) and np.all(one.sd > 0)
    # of a difference, which has no scale that depends on where it is
    for part in ("sd_sampling", "sd_prior"):
        one, two = found["change"][part], expected["change"][part]
        np.testing.assert_allclose(one, two, rtol=0.2, atol=0.02)
    assert 0 <= found["change"].prob_increase <= 1 and 0 <= found["drift"].prob_exceeds <= 1
    for table in ("neighbours", "changed", "cosine changed"):
        assert np.all(found[table].n_units > 0) and "units" in repr(found[table])
        assert np.all(found[table].interval[:, 0] < found[table].interval[:, 1])
        assert "n_units" in found[table].to_frame()
    model.set_params(features="mean_std")
    features = model.transform(TEXTS, times=TIMES)
    assert np.all(features[:, K:] > 0)
    later = model.transform(TEXTS, times=TIMES + 10.0)
    assert np.mean(later[:, K:]) > np.mean(features[:, K:])
    assert np.all(model.transform(TEXTS)[:, K:] > 0)


def test_joint_draws_belong_together(fitted):
    """A change has the draws that the difference of two similarities has, far from one."""
    found = {
        (a, b): fitted.similarity(a, b) for a in range(7) for b in range(a)
    }  # fmt: skip
    pair = min(found, key=lambda pair: np.max(found[pair].sd / (1 - found[pair].mean ** 2)))
    both, change = found[pair].draws, fitted.similarity_change(*pair).draws
    assert np.corrcoef(both[:, 2] - both[:, 0], change)[0, 1] > 0.95


@pytest.mark.slow
def test_features_have_the_variance_of_the_trajectory(fitted):
    model = clone(fitted).set_params(features="mean_std").fit(TEXTS, times=TIMES)
    word = str(model.words_[4])
    std = model.transform([[word]] * 3, times=[1900, 1901, 1902])[:, K:]
    found = model.trajectory(4)
    slack = 1e-6
    np.testing.assert_allclose(std, found.sd, rtol=slack)
    shares = model._shares
    mean = model.transform([[word]])[0, :K]
    np.testing.assert_allclose(mean, shares @ model.rho_[:, 4])


@pytest.mark.slow
@pytest.mark.parametrize("balance", [True, False])
def test_factors_and_products_agree(balance, monkeypatch):
    """To the residual that products are made to."""
    factors, products = (make(balance=balance).fit(TEXTS, times=TIMES) for _ in range(2))
    first = answers(factors)
    monkeypatch.setattr(sampling, "_FACTORISED", 0)
    found = answers(products)
    for name, expected in first.items():
        # tables may have another order
        if not hasattr(expected, "words"):
            np.testing.assert_allclose(found[name].sd, expected.sd, rtol=0.05)


@pytest.mark.slow
def test_random_sums_of_many_units(fitted, monkeypatch):
    """30 sums for 60 units: standard deviations are known to some 13 %."""
    places = [(w, v) for w in range(V) for v in range(V)]
    expected = fitted.cooccurrence_proba(places).sd_sampling
    monkeypatch.setattr(sampling, "numbers_of", lambda n: (30, 64))
    model = make().fit(TEXTS, times=TIMES)
    found = model.cooccurrence_proba(places).sd_sampling
    assert 0.8 < np.median(found / expected) < 1.2
    assert not model._sampling.deviations.by_unit and fitted._sampling.deviations.by_unit
    assert model._sampling.deviations.shifts.shape == (30 + 64 + 1, 2, 3 * V, K)


# Few units --------------------------------------------------------------------------------------


def test_units_that_a_period_rests_on():
    """Its own where vectors move freely, all where they do not move."""
    rng = np.random.default_rng(0)
    rows = []
    for t in range(3):
        dense = np.zeros((9, V))
        dense[3 * t : 3 * t + 3] = rng.poisson(5.0, (3, V)) + 1
        rows.append(sparse.csr_array(dense))
    rows[2] = rows[2] * 0.0
    total = sum(r.toarray() for r in rows)
    information = np.array([r.sum(axis=0) for r in rows])

    def effective(n):
        return n.sum(axis=0) ** 2 / np.sum(n**2, axis=0)

    free = Tridiagonal.ornstein_uhlenbeck([1.0, 1.0], 1e3, 1.0).dense()
    found = resting_units(rows, free, information)
    np.testing.assert_allclose(found[0], effective(rows[0].toarray()))
    held = Tridiagonal.ornstein_uhlenbeck([1.0, 1.0], 1e-9, 1.0).dense()
    found = resting_units(rows, held, information)
    np.testing.assert_allclose(found, np.tile(effective(total), (3, 1)), rtol=1e-5)
    # a unit with documents in two periods is one
    shared = [rows[0], rows[0] * 2.0]
    found = resting_units(shared, held[:2, :2], information[:2])
    np.testing.assert_allclose(found, np.tile(effective(rows[0].toarray()), (2, 1)), rtol=1e-5)


def test_a_word_of_one_document_is_not_certain():
    texts = [*TEXTS, ["rare", *TEXTS[0]]]
    times = np.append(TIMES, 1901)
    model = make().fit(texts, times=times)
    rare = model.vocabulary_["rare"]
    np.testing.assert_allclose(model.n_units_[rare], 1.0)
    assert np.all(np.delete(model.n_units_, rare) > 2)
    found = model.similarity("rare", 0)
    # next to no data in any period, in which other periods' units count
    assert np.isnan(found.n_units).all() and found.few_pairs.all()
    np.testing.assert_allclose(model._sampling.deviations.n_units[rare :: len(model.words_)], 1.0)
    assert set(model._sampling.deviations.roots) == {len(model.words_) + rare}
    known = dataclasses.replace(model._sampling.deviations, roots={})
    places = (np.array([len(model.words_) + word]) for word in (rare, 0))
    without = cosine_change(known, *places).shared[: known.n_sampling, 0]
    assert found.sd_sampling[1] > 1.05 * np.linalg.norm(without)
    table = model.most_similar("rare", 3, period=1901)
    assert "fewer than 10 uses or too few units in 1901 of 'rare' itself, 2.5 pairs: " in repr(
        table
    )
    assert np.isnan(table.n_units).all()
    changed = model.most_changed(len(model.words_), min_pairs=0)
    assert "intervals are rough: rare" in repr(changed)
    assert np.isfinite(answers(model)["proba"].interval).all()
    model.set_params(features="mean_std")
    std = model.transform([["rare"]] * 3, times=[1900, 1901, 1902])[:, K:]
    np.testing.assert_allclose(std, model.trajectory("rare").sd, rtol=1e-5)


@pytest.mark.slow
def test_a_word_of_one_document_is_no_surer_than_the_model_has_it():
    """Along its trajectory all the model knows of it is its own information, and the prior."""
    texts = [*TEXTS, ["rare", *TEXTS[0], "rare", "rare", *TEXTS[1]]]
    model = make(solver="laplace", draws=2000, diffusion=0.02)
    model.fit(texts, times=np.append(TIMES, 1901))
    mine = model.trajectory("rare").sd
    model.set_params(uncertainty="model")
    assert np.all(mine > 0.9 * model.trajectory("rare").sd)


def test_own_deviations_are_the_models_information():
    """Against dense matrices of the trajectory of a word that was seen in one period alone."""
    fitted = make().fit(TEXTS, times=TIMES)
    counts, _ = fitted._sampling._build()
    x = np.stack([fitted.rho_, fitted.alpha_], axis=1)
    only = [c if t == 1 else None for t, c in enumerate(counts)]
    density = density_of(only, fitted._prior, {"rho": x[:, 0], "alpha": x[:, 1]})
    roots, paths = own_paths(Curvature(density, x), np.ones((3, V)))
    assert set(roots) == set(range(V, 2 * V))
    n = counts[1].positive.toarray() + counts[1].negative.toarray()
    proba = expit(x[1, 0] @ x[1, 1].T)
    slope = n * proba * (1 - proba)
    for side, word in ((0, 3), (1, 5)):
        weight = slope[word] if side == 0 else slope[:, word]
        information = (x[1, 1 - side].T * weight) @ x[1, 1 - side]
        seen = np.kron(np.diag([0.0, 1.0, 0.0]), information)
        covariance = np.linalg.inv(np.kron(density.precision.dense(), np.eye(K)) + seen)
        columns = [
            roots[V + word][side] * paths[V + word][side, :, t] for t in range(3)
        ]  # fmt: skip
        found = np.concatenate(columns) @ np.concatenate(columns).T
        np.testing.assert_allclose(found, covariance @ seen @ covariance, atol=1e-10)


@pytest.mark.slow
def test_a_period_of_one_document_is_not_certain(monkeypatch):
    """Where vectors move freely, the model's own spread is all that is known of such a period."""
    # its units are blanked else
    monkeypatch.setattr(seen, "FEWEST_USES", 0)
    monkeypatch.setattr(seen, "FEW_UNITS", 0)
    last = np.flatnonzero(TIMES == 1902)[0]
    chosen = np.r_[np.flatnonzero(TIMES < 1902), last]
    model = make(solver="laplace", diffusion=5.0, draws=500)
    model.fit([TEXTS[i] for i in chosen], times=TIMES[chosen])
    words, times = np.unique(TEXTS[last], return_counts=True)
    a, b = words[np.argsort(-times)[:2]].tolist()
    found = model.cooccurrence_proba([(a, b), (b, a)])
    assert np.all(found.n_units[2] < 2) and np.all(found.n_units[:2] > 2)
    assert np.all(found.sd[2] > 0.5 * found.sd[:2].min())


# Where intervals are the model's ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"solver": "vi", "learning_method": "filtering"}, "learning_method='filtering'"),
        ({"negative_sampling": "sampled"}, "negative_sampling='sampled'"),
    ],
)
def test_intervals_are_the_models(options, why):
    model = make(**options).fit(TEXTS, times=TIMES)
    attrs = model.posterior_.attrs
    assert attrs["uncertainty"] == "model" and attrs["without_units"] == why
    assert "sd_sampling" not in model.similarity(0, 1)
    with pytest.raises(AttributeError, match=f"n_units_ needs documents.*{why}"):
        _ = model.n_units_


@pytest.mark.slow
def test_single_pair_counts_of_each_period_have_no_units():
    pairs = given_pairs()
    one = make().fit(pairs[:3], times=[0, 1, 2])
    assert one.posterior_.attrs["uncertainty"] == "model"
    assert one.posterior_.attrs["without_units"].startswith("a single PairCounts in each period")
    named = make().fit(pairs[:3], times=[0, 1, 2], units=["a", "b", "c"])
    assert named.posterior_.attrs["uncertainty"] == "documents"
    every = make(negative_sampling="sampled").fit(pairs, times=TIMES)
    assert every.posterior_.attrs["uncertainty"] == "documents"
    assert np.all(every.similarity(0, 1).sd_sampling > 0)


def test_partial_fit_has_no_units():
    model = make(solver="vi").fit(TEXTS, times=TIMES)
    assert "sd_sampling" in model.similarity(0, 1)
    with pytest.warns(UserWarning, match="partial_fit does not go on from fit"):
        model.partial_fit(TEXTS, times=TIMES)
    assert model.posterior_.attrs["without_units"] == "partial_fit"
    assert "sd_sampling" not in model.similarity(0, 1)


@pytest.mark.slow
def test_the_model_alone(fitted):
    model = make(solver="laplace", uncertainty="model").fit(TEXTS, times=TIMES)
    assert model.posterior_.attrs["uncertainty"] == "model"
    assert "without_units" not in model.posterior_.attrs
    assert model.similarity(0, 1).draws.shape == (40, 3)
    # read at every answer; about means of few draws, on whose scale parts vary by a little more
    model.uncertainty = "documents"
    np.testing.assert_allclose(
        model.similarity_change(0, 1).sd, fitted.similarity_change(0, 1).sd, rtol=0.1
    )


def test_a_mode_of_zero_has_no_deviations():
    model = make(solver="vi", prior_precision=1e4).fit(TEXTS, times=TIMES)
    with pytest.warns(UserWarning, match="Intervals are the model's: "):
        found = model.similarity(0, 1)
    assert "sd_sampling" not in found


def test_memory_is_looked_at_first(monkeypatch):
    model = make().fit(TEXTS, times=TIMES)
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 1e4)
    with pytest.raises(MemoryError, match="by units, of 12 words in 3 periods by 60 units"):
        model.similarity(0, 1)


# What fit takes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pytest.param("text", marks=pytest.mark.slow), "matrix"])
def test_weights_are_repetitions(matrix, kind, monkeypatch):
    # words with too little text have no units, and rounding may decide which have
    monkeypatch.setattr(seen, "FEWEST_USES", 0)
    monkeypatch.setattr(seen, "FEW_UNITS", 0)
    X = TEXTS if kind == "text" else matrix.toarray()
    weights = np.arange(len(TEXTS)) % 3
    index = np.repeat(np.arange(len(TEXTS)), weights)
    # min_count looks at documents without weights
    assert len({w for i in index for w in TEXTS[i]}) == V
    order = {"feature_names": [f"w{i:02}" for i in range(V)]} if kind == "matrix" else {}
    first = make(tol=1e-9, **order).fit(X, times=TIMES, sample_weight=weights)
    repeated = [X[i] for i in index]
    repeated = repeated if kind == "text" else np.array(repeated)
    second = make(tol=1e-9, **order).fit(repeated, times=TIMES[index], units=index)
    words = [second.vocabulary_[w] for w in first.words_.tolist()]
    np.testing.assert_allclose(first.observed_, second.observed_[:, words])
    np.testing.assert_allclose(first.n_units_, second.n_units_[words])
    a, b = first.words_[:2].tolist()
    one, two = first.similarity(a, b), second.similarity(a, b)
    for name in ("mean", "n_units"):
        np.testing.assert_allclose(one[name], two[name], rtol=1e-3)
    # the response is read off pairs of words at random, and words have another order
    responses = [model._sampling.response for model in (first, second)]
    np.testing.assert_allclose(*responses, rtol=0.05)
    np.testing.assert_allclose(one.sd_sampling, two.sd_sampling, rtol=0.05)


def test_tokens_of_a_count_matrix_count_once(matrix):
    X = matrix.toarray()
    found = make().fit(X, times=TIMES)
    lengths = X.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.observed_.sum(), lengths.sum())
    pairs = make(pair_weights="pairs").fit(X, times=TIMES)
    np.testing.assert_allclose(pairs.observed_.sum(), np.sum(lengths * (lengths - 1)))
    # whatever it was trained with, a score counts tokens once
    twice = np.vstack([X, X])
    one = found.score(X, times=TIMES)
    np.testing.assert_allclose(one, found.score(twice, times=np.tile(TIMES, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"units": SPEAKERS[:5]}, r"units must have one label for each of the 60 documents, got"),
        ({"units": "speaker"}, "units must be a list or array with a label for each of the 60"),
        ({"units": np.zeros(60)}, r"units must be two or more, got 1 \(\[0.0\]\) for 60 documents"),
        ({"units": [None] * 60}, "units must have a label for every one of the documents"),
        ({"sample_weight": [1.0]}, "sample_weight must have one number for each of the 60"),
        ({"sample_weight": -np.ones(60)}, "sample_weight must be finite and >= 0"),
        ({"sample_weight": np.zeros(60)}, "sample_weight must be > 0 for at least one"),
        ({"sample_weight": ["a"] * 60}, "sample_weight must be numbers >= 0"),
    ],
)
def test_bad_units_and_weights(arguments, message):
    with pytest.raises(ValueError, match=message):
        make().fit(TEXTS, times=TIMES, **arguments)
    with pytest.raises(ValueError, match=message.replace("documents", "PairCounts")):
        make().fit(given_pairs(), times=TIMES, **arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"uncertainty": "text"}, "uncertainty must be one of 'documents', 'model'"),
        ({"pair_weights": "all"}, "pair_weights must be one of 'token', 'pairs'"),
        ({"balance": "yes"}, "balance must be True or False"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(TEXTS, times=TIMES)


def test_units_are_not_for_filtering():
    model = make(solver="vi", learning_method="filtering")
    with pytest.raises(ValueError, match="units is available with learning_method='batch' only"):
        model.fit(TEXTS, times=TIMES, units=SPEAKERS)


def test_fit_transform_takes_units(fitted):
    found = make().fit_transform(TEXTS, times=TIMES, units=SPEAKERS)
    np.testing.assert_array_equal(found, fitted.transform(TEXTS, times=TIMES))


# With the rest of scikit-learn ------------------------------------------------------------------


def seen_units(model):
    return model._sampling._number


def test_units_arrive_without_routing():
    pipeline = make_pipeline(make())
    pipeline.fit(TEXTS, dynamicsgns__times=TIMES, dynamicsgns__units=SPEAKERS)
    assert seen_units(pipeline[-1]) == 14
    search = GridSearchCV(make(), {"window": [3]}, cv=KFold(2))
    search.fit(TEXTS, times=TIMES, units=SPEAKERS)
    assert seen_units(search.best_estimator_) == 14


def test_units_arrive_with_routing():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(make())
        pipeline.fit(TEXTS, times=TIMES, units=SPEAKERS)
        assert seen_units(pipeline[-1]) == 14
        search = GridSearchCV(make(), {"window": [3]}, cv=GroupKFold(2))
        search.fit(TEXTS, times=TIMES, units=SPEAKERS, groups=SPEAKERS)
        assert seen_units(search.best_estimator_) == 14
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        # as of a transformer in a pipeline
        pipeline = make_pipeline(make(), "passthrough")
        assert pipeline.fit_transform(TEXTS, times=TIMES, units=SPEAKERS).shape == (60, K)
        assert seen_units(pipeline[0]) == 14


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["map", "vi"])
def test_pickles_before_and_after_the_first_reading(solver):
    model = make(solver=solver).fit(TEXTS, times=TIMES)
    before = pickle.loads(pickle.dumps(model))
    expected = model.similarity(0, 1)
    after = pickle.loads(pickle.dumps(model))
    for copy in (before, after):
        found = copy.similarity(0, 1)
        for name in ("mean", "sd", "interval", "draws", "n_units"):
            np.testing.assert_array_equal(found[name], expected[name])
        np.testing.assert_array_equal(copy.n_units_, model.n_units_)
    assert model._sampling._build is None, "what was needed once is not kept"


@pytest.mark.slow
def test_numbers_of_threads_do_not_matter():
    models = [make(n_jobs=n, solver="gibbs").fit(TEXTS, times=TIMES) for n in (1, 2)]
    first, second = (m.similarity(0, 1) for m in models)
    np.testing.assert_array_equal(first.draws, second.draws)


# Balanced vectors -------------------------------------------------------------------------------


def moments(rho, alpha):
    return [np.einsum("twi,twj->ij", x, x) for x in (rho, alpha)]


@pytest.mark.parametrize(
    "solver",
    [pytest.param(s, marks=pytest.mark.slow if s in ("gibbs", "hmc") else ()) for s in SOLVERS],
)
def test_periods_are_balanced_together(solver):
    model = make(solver=solver).fit(TEXTS, times=TIMES)
    raw = clone(model).set_params(balance=False).fit(TEXTS, times=TIMES)
    np.testing.assert_array_equal(model.posterior_["rho"], raw.posterior_["rho"])
    np.testing.assert_allclose(*moments(model.rho_, model.alpha_), atol=1e-8)
    # one transformation: logits stay, in every period
    np.testing.assert_allclose(
        np.einsum("twk,tvk->twv", model.rho_, model.alpha_),
        np.einsum("twk,tvk->twv", raw.rho_, raw.alpha_), atol=1e-5,
    )  # fmt: skip
    maps = np.linalg.lstsq(raw.rho_.reshape(-1, K), model.rho_.reshape(-1, K), rcond=None)[0]
    np.testing.assert_allclose(raw.rho_ @ maps, model.rho_, atol=1e-5)
    draws = [model._balanced.read(side, raw.posterior_.flat(side)) for side in ("rho", "alpha")]
    for rho, alpha in zip(*draws, strict=True):
        if solver != "vi":
            np.testing.assert_allclose(*moments(rho, alpha), atol=1e-5)
    np.testing.assert_allclose(
        model.score(TEXTS, times=TIMES + 5), raw.score(TEXTS, times=TIMES + 5)
    )


def test_readings_are_of_balanced_draws():
    model = make(solver="gibbs", uncertainty="model", features="mean_std").fit(TEXTS, times=TIMES)
    rho = model._balanced.read("rho", model.posterior_.flat("rho"))
    np.testing.assert_allclose(model.trajectory(3).draws, rho[:, :, 3])
    unit = rho / np.linalg.norm(rho, axis=-1, keepdims=True)
    cosine = np.einsum("stk,stk->st", unit[:, :, 0], unit[:, :, 1])
    np.testing.assert_allclose(model.similarity(0, 1).draws, cosine)
    apart = np.linalg.norm(rho[:, 2] - rho[:, 0], axis=-1)
    np.testing.assert_allclose(model.drift(2).draws, apart[:, 2])
    table = model.most_changed(V)
    order = [model.vocabulary_[w] for w in table.words.tolist()]
    np.testing.assert_allclose(table.mean, apart.mean(axis=0)[order])
    table = model.most_similar(5, 3, period=1901)
    order = [model.vocabulary_[w] for w in table.words.tolist()]
    mean = np.einsum("swk,sk->sw", unit[:, 1], unit[:, 1, 5]).mean(axis=0)
    np.testing.assert_allclose(table.mean, mean[order])
    word = str(model.words_[6])
    std = model.transform([[word]], times=[1902])[0, K:]
    np.testing.assert_allclose(std, rho[:, 2, 6].std(axis=0, ddof=1))


@pytest.mark.slow
def test_dispersion(fitted):
    """Against loops over words and periods; 60 units, so that no random sum stands for them."""
    model = make().fit(TEXTS, times=TIMES)
    gaussian, _, scores = model._sampling._at_mode
    d = len(TEXTS)
    influences = scores.weighted(np.eye(d))
    influences -= influences.mean(axis=0)
    total, expected = np.zeros((2, V))
    for t in range(3):
        rho, alpha = gaussian.vectors[t]
        for w in range(V):
            proba = expit(alpha @ rho[w])
            positive = np.zeros(V)
            for i in np.flatnonzero(TIMES == 1900 + t):
                places = [model.vocabulary_[x] for x in TEXTS[i]]
                for a, target in enumerate(places):
                    for b, context in enumerate(places):
                        if a != b and target == w and abs(a - b) <= 4:
                            positive[context] += 1 - (abs(a - b) - 1) / 4
            counted = scores.rows[t].sum(axis=0)
            np.testing.assert_allclose(positive.sum(), counted[w])
            noise = counted**0.75 / np.sum(counted**0.75)
            n = positive + positive.sum() * noise
            information = (alpha * (n * proba * (1 - proba))[:, None]).T @ alpha
            spread = influences[:, t, 0, w].T @ influences[:, t, 0, w] * d / (d - 1)
            ratio = np.trace(np.linalg.solve(information, spread)) / K
            expected[w] += counted[w] * ratio
            total[w] += counted[w]
    np.testing.assert_allclose(model.dispersion_, expected / total, rtol=1e-6)
    assert np.all(model.similarity(0, 1).n_units > 2)  # and it is kept after the first reading
    np.testing.assert_allclose(model.dispersion_, expected / total, rtol=1e-6)


@pytest.mark.parametrize("words", [("w00", "w01"), ("w03", "w07"), ("w05", "w02")])
def test_contrasts_of_answers_at_an_end_of_their_range(words, fitted):
    """They vary as their parts do, and lie where these are: of first order they hardly vary."""
    for ask in (
        functools.partial(fitted.self_similarity, periods=[1902]),
        functools.partial(fitted.drift, distance="cosine"),
    ):
        first, second = (ask(word) for word in words)
        found = fitted.contrast(first, second)
        np.testing.assert_allclose(found.mean, first.mean - second.mean, atol=1e-9)
        # the words move by units of their own and some that they share
        apart = np.hypot(first.sd, second.sd)
        assert np.all(found.sd > 0.85 * apart) and np.all(found.sd < 1.3 * apart)


def test_the_default_threshold_is_that_of_the_rows(fitted):
    """Half of the words have changed more than it, also where second order moves means."""
    table = fitted.most_changed(10**6, distance="cosine", min_pairs=0)
    assert table.threshold == pytest.approx(np.median(table.mean))


def test_periods_of_one_unit_are_named():
    """By what the unit is called, below answers about them; not where there are several."""
    pd = pytest.importorskip("pandas")
    speakers = np.where(TIMES == 1901, 0, 1 + SPEAKERS)
    options = {"solver": "map", "min_count": 1, "max_iter": 20, "random_state": 0}
    model = DynamicSGNS(K, **options)
    model.fit(TEXTS, times=TIMES, units=pd.Series(speakers, name="speaker"))
    model.set_params(uncertainty="model")
    line = "1901 is of one speaker: whether something is of the period or of it alone cannot be"
    change = model.similarity_change("w00", "w01", 1900, 1901)
    assert line in change.sentence
    for answer in (change, model.similarity("w00", "w01"), model.drift("w00", 1901, 1902)):
        assert line in repr(answer)
    without = model.similarity_change("w00", "w01", 1900, 1902)
    assert "of one speaker" not in repr(without) + without.sentence
    both = model.contrast(change, model.similarity_change("w00", "w02", 1900, 1901))
    assert repr(both).count(line) == both.sentence.count(line) == 1
    pairs = ("w00", "w01"), ("w00", "w02")
    for answer in (
        model.similarity_difference(*pairs), model.self_similarity("w00", 1901, periods=[1900]),
        model.most_changed(2, start=1900, end=1901, min_pairs=1),
    ):  # fmt: skip
        assert line in repr(answer)


def test_the_difference_of_similarities_over_time():
    model = DynamicSGNS(K, solver="map", min_count=1, max_iter=20, random_state=0)
    model.fit(TEXTS, times=TIMES).set_params(uncertainty="model")
    pairs = ("w00", "w01"), ("w00", "w02")
    found = model.similarity_difference(*pairs, periods=[1900, 1902], prob=0.5)
    each = [model.similarity(*pair, periods=[1900, 1902]).mean for pair in pairs]
    assert found.prob == 0.5 and found.mean.shape == (2,)
    np.testing.assert_allclose(found.mean, each[0] - each[1])
    with pytest.raises(ValueError, match="first and second must be different pairs"):
        model.similarity_difference(("w00", "w01"), ("w01", "w00"))
    with pytest.raises(ValueError, match="second must be a pair of words, got 'w02'"):
        model.similarity_difference(("w00", "w01"), "w02")

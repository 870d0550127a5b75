"""Answers by themselves, against deviations of all vectors and against matrices."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS, GraphPrior, PairCounts
from skbayesembed.inference.laplace import NotAMode
from skbayesembed.io import load
from skbayesembed.sgns import clustered, data, starting
from skbayesembed.sgns.clustered import ClusteredModel
from skbayesembed.sgns.documents import (
    answers,
    asked,
    by_answer,
    footprint,
    refits,
    sampling,
    systems,
)
from skbayesembed.sgns.documents.adjoint import AskedDeviations
from skbayesembed.sgns.documents.deviations import FEWEST_UNITS, joint_draws, spread_of
from skbayesembed.sgns.laplace.hessian import Hessian
from skbayesembed.sgns.questions.kinds import Cosines, Differences, Probabilities
from skbayesembed.sgns.questions.operands import Operands, of_places, together, values, values_at

from .test_sampling import DOCUMENTS, WORDS, D, K, V, make

A, B = np.triu_indices(V, 1)
INDEX = np.arange(2 * A.size).reshape(2, -1).T
N = 20  # answers of each question
# With these, rare words of small models are in clusters.
CLUSTERS = [
    (data, "TABLES_UPTO", 10),
    (starting, "MANY", 10),
    (clustered, "_RARE", 0.5),
    (clustered, "_MOST_WORK", 9.0),
    (systems, "_RARE", 0.5),
    (systems, "_MOST_WORK", 9.0),
]


def questions():
    """Cosines, logits, a difference and an analogy."""
    cosines = Cosines(together(of_places(A, V), of_places(B, V)), INDEX[:N])
    kinds = of_places(A, V, unit=False), of_places(B, V, 1, unit=False)
    words = of_places(np.arange(4), V)
    three = words.weights[[0]] - words.weights[[1]] + words.weights[[2]]
    sums = Operands(three, np.zeros(1, int), np.ones(1, bool))
    return {
        "cosines": cosines,
        "probabilities": Probabilities(together(*kinds), INDEX[:N]),
        "differences": Differences(cosines, Cosines(cosines.operands, INDEX[N : 2 * N])),
        "analogy": Cosines(together(sums, words), np.array([[0, 4]])),
    }


@pytest.fixture(scope="module", autouse=True)
def _exactly():
    """Searches and systems to many digits, and so are those of all deviations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_answer, "_SEARCH_TOL", 1e-10)
        patch.setattr(by_answer, "TOL", 1e-6)
        patch.setattr(sampling, "_TOL", 1e-5)
        # and all are of first order, those of directions that are as near as known too
        patch.setattr(answers, "_NEAR", 1.0)
        patch.setattr(sampling, "respond", lambda *_: (1.0, np.nan))
        patch.setattr(by_answer, "responding", lambda influence, *_: influence)
        yield


def by_answers(model):
    """A copy of a model, not asked yet, that works answers out one by one."""
    twin = copy.copy(model)
    twin._sampling = object.__new__(by_answer.SamplingByAnswer)
    twin._sampling.__dict__.update(copy.deepcopy(model._sampling).__dict__)
    return twin


@pytest.fixture(scope="module", params=["tables", "products", "clusters"])
def both(request):
    """All deviations of a model with words of one unit, and those of its answers.

    The latter from tables of all pairs or without any, then also after a search by clusters.
    """
    model = make().fit(
        [[*DOCUMENTS[0], *["w00"] * 5], *[[w for w in d if w != "w00"] for d in DOCUMENTS[1:]]]
    )
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "tables":
            patch.setattr(data, "TABLES_UPTO", 10)
        if request.param == "clusters":
            for module, name, value in CLUSTERS:
                patch.setattr(module, name, value)
        twin = by_answers(model)
        found = twin._sampling.deviations
        solver = twin._sampling._at_mode[1]
        assert isinstance(solver, systems.ClusteredSystems) == (request.param == "clusters")
        searched = starting.searched(solver.model)
        assert isinstance(searched, ClusteredModel) == (request.param == "clusters")
        yield model, model._sampling.deviations, twin._sampling, found


@pytest.mark.parametrize("name", list(questions()))
def test_answers_move_as_with_all_deviations(both, name):
    """Unit by unit, and by words' own; the prior's part of all is that of 256 draws.

    Its standard error is 4.4 % there, below which that of the mean over 20 answers is.
    """
    model, whole, _, asked = both
    question = questions()[name]
    all_at_once, one_by_one = (answers.change_of(d, question) for d in (whole, asked))
    first_order = all_at_once.shared[:D] / model._sampling.response
    scale = np.abs(first_order).max()
    # how far the parts of differences vary on their own scale hangs on the prior's part, too
    close = 0.02 if name == "differences" else 1e-3
    np.testing.assert_allclose(one_by_one.shared[:D], first_order, atol=close * scale)
    places = np.unique(question.operands.weights.indices[question.index])
    few = np.count_nonzero(whole.n_units[places] < FEWEST_UNITS)
    assert len(one_by_one.own) == len(all_at_once.own) >= (few > 0)
    for (*mine, found), (*theirs, expected) in zip(one_by_one.own, all_at_once.own, strict=True):
        assert mine == theirs
        # a root of a covariance is known up to a rotation
        np.testing.assert_allclose(found.T @ found, expected.T @ expected, rtol=close, atol=1e-6)
    spreads = spread_of(whole, all_at_once), spread_of(asked, one_by_one)
    prior = spreads[1].prior / spreads[0].prior
    assert abs(prior.mean() - 1.0) < 4 * 0.044
    assert np.all(np.isfinite(spreads[1].freedom))
    if name != "analogy":
        np.testing.assert_allclose(one_by_one.fewest, all_at_once.fewest, rtol=1e-12)


def test_products_with_the_curvature(both):
    """In one pass, in single precision, several directions at once."""
    _, _, found, _ = both
    mode, solver, _ = found._at_mode
    directions = np.random.default_rng(0).normal(size=(3, *mode.vectors.shape))
    hessian = Hessian(solver.model, mode.vectors)
    for observed, of in ((True, hessian), (False, hessian.expected())):
        expected = of.product(directions)
        found = solver.product(directions.astype(np.float32), observed)
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def priors_part(found, question):
    """Root of ``g' M (L + L x x' L) M g``, M^-1 the expected Hessian, L the prior's precision."""
    mode, solver, _ = found._at_mode
    asked, prior = found.deviations, solver.model.prior
    at = values(question.operands, lambda side, w: asked.vectors[side][w], (K,))
    pulls = question.gradient(at)
    by_place = [asked._by_place(question, i, pull) for i, pull in enumerate(pulls)]
    gradients = mode.orbit.project(asked._by_mode(by_place))
    matrix = Hessian(solver.model, mode.vectors).expected().matrix()
    moved = np.linalg.solve(matrix, gradients.reshape(len(question), -1).T).T
    moved = mode.orbit.project(moved.reshape(gradients.shape))
    known = [sum(np.vdot(z[s], prior.apply(s, z[s])) for s in (0, 1)) for z in moved]
    pull = [sum(np.vdot(z[s], prior.apply(s, mode.vectors[s])) for s in (0, 1)) for z in moved]
    return np.sqrt(known + np.square(pull))


def test_the_priors_part_is_that_of_matrices(both):
    """And its rows add up to it."""
    _, _, found, asked = both
    question = questions()["cosines"]
    prior = spread_of(asked, answers.change_of(asked, question)).prior
    np.testing.assert_allclose(prior, priors_part(found, question), rtol=1e-3)


def test_draws_are_joint(both):
    """A difference of two cosines has their draws' difference, but for what Student's t rounds.

    The units' part is exactly joint; the prior's, here the smaller one, is by 64 directions.
    """
    *_, asked = both
    q = questions()
    first = Cosines(q["cosines"].operands, INDEX[:N])
    second = Cosines(first.operands, INDEX[N : 2 * N])
    each = [answers._part(asked, one, None, True)[0] for one in (first, second)]
    whole = answers.change_of(asked, q["differences"])
    np.testing.assert_allclose(whole.shared[:D], (each[0].shared - each[1].shared)[:D], atol=1e-4)
    draws = [joint_draws(asked, c, spread_of(asked, c), 500) for c in (*each, whole)]
    apart = draws[0] * spread_of(asked, each[0]).total - draws[1] * spread_of(asked, each[1]).total
    together_ = draws[2] * spread_of(asked, whole).total
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in zip(apart.T, together_.T, strict=True)]
    assert np.median(correlation) > 0.95


def test_coupled_words():
    """With a graph of words the prior's part is that of matrices as well."""
    prior = GraphPrior([("w00", "w01"), ("w01", "w02", 3.0)])
    model = by_answers(make(prior=prior).fit(DOCUMENTS))
    question = questions()["cosines"]
    asked = model._sampling.deviations
    prior = spread_of(asked, answers.change_of(asked, question)).prior
    np.testing.assert_allclose(prior, priors_part(model._sampling, question), rtol=1e-3)


@pytest.fixture
def large(monkeypatch):
    """A model that is taken for one of very many words, and the notes that it gives."""
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    monkeypatch.setattr(by_answer, "_PATIENCE", 0.0)
    return make().fit(DOCUMENTS)


@pytest.mark.slow
def test_what_a_large_model_answers(large, capsys, tmp_path):
    first, second, third = WORDS[:3].tolist()
    found = large.similarity(first, second)
    assert "each further one about" in capsys.readouterr().err
    assert found.interval[0] < found.mean < found.interval[1]
    assert found.source == "units" and found.sd_prior > 0
    np.testing.assert_allclose(found.sd, np.hypot(found.sd_sampling, found.sd_prior), rtol=1e-6)
    # another number of threads, and a copy from disk: the same draws
    again = pickle.loads(pickle.dumps(large)).set_params(n_jobs=2).similarity(first, second)
    np.testing.assert_array_equal(again.draws, found.draws)
    large.save(tmp_path / "model")
    again = load(tmp_path / "model").similarity(first, second)
    np.testing.assert_array_equal(again.draws, found.draws)
    table = large.most_similar(first, 3)
    assert np.isnan(table.prob_top).all() and "one by one" in str(table)
    assert table.sentence.startswith(f"The word nearest to {first!r} by cosine is")
    one = large.similarity(first, table.words[0])
    np.testing.assert_allclose(table.interval[0], one.interval, atol=1e-4)
    analogy = large.analogy(first, second, third, 2)
    assert np.isnan(analogy.prob_answer).all() and "one by one" in str(analogy)
    # what was asked already is known
    products = large._sampling._at_mode[1].products
    np.testing.assert_array_equal(large.similarity(first, second).draws, found.draws)
    assert large._sampling._at_mode[1].products == products
    assert large.nearer(first, [second, third]).prob_nearest.sum() == pytest.approx(1.0)
    assert np.isnan(large.dispersion_).all() and large.response_ == 1.0
    assert "not measured" in str(large.report())
    assert list(large._word_facts()) == ["n_units"]


def test_many_answers_are_announced(large, monkeypatch, capsys):
    monkeypatch.setattr(by_answer, "_MANY", 2)
    large.cooccurrence_proba([(WORDS[0], w) for w in WORDS[1:5]])
    assert "4 answers take about" in capsys.readouterr().err


@pytest.mark.parametrize("features", ["mean_std"])
def test_features_are_refused(large, features):
    large.set_params(features=features)
    with pytest.raises(ValueError, match="worked out one by one"):
        large.transform(DOCUMENTS[:2])
    assert "_at_mode" not in vars(large._sampling)
    assert large.set_params(uncertainty="model").transform(DOCUMENTS[:2]).shape[0] == 2


@pytest.mark.parametrize("by_clusters", [False, True])
def test_a_saddle_is_left(by_clusters, monkeypatch, capsys):
    """Where the density bends upwards the search goes on; answers are those of the mode."""
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    for module, name, value in CLUSTERS:
        monkeypatch.setattr(module, name, value)
    if not by_clusters:
        monkeypatch.setattr(systems, "_MOST_WORK", 0.0)
    model = make().fit(DOCUMENTS)
    pair = WORDS[:2].tolist()
    expected = copy.deepcopy(model).similarity(*pair)
    # vectors from which a search of no step ends where it begins, and no mode is
    away = copy.deepcopy(model)
    rng = np.random.default_rng(0)
    for array in away._sampling._arrays.values():
        array *= 0.05
        array += 0.01 * rng.standard_normal(array.shape)
    tols = []

    def search(model, theta, *, max_iter, tol, run):
        tols.append(tol)
        if tol == by_answer._SEARCH_TOL:
            return theta
        if interrupted:
            raise KeyboardInterrupt
        return find(model, theta, max_iter=max_iter, tol=tol, run=run)

    find, interrupted = by_answer.find_mode_only, [1]
    monkeypatch.setattr(by_answer, "find_mode_only", search)
    lost = pickle.loads(pickle.dumps(away))
    capsys.readouterr()
    with pytest.raises(KeyboardInterrupt):
        away.similarity(*pair)
    assert "ended at a saddle, and goes on" in capsys.readouterr().err
    interrupted.clear()
    found = away.similarity(*pair)
    assert tols[0] == by_answer._SEARCH_TOL and max(tols[1:]) < tols[0]
    # the search goes on to 5e-2 times 1e-10
    np.testing.assert_allclose(found.sd, expected.sd, rtol=0.01)
    sampling = away._sampling
    assert isinstance(sampling._at_mode[1], systems.ClusteredSystems) == by_clusters
    assert sampling.deviations._mode is sampling._at_mode[0].vectors
    # a copy begins where the search had gone on
    n = len(tols)
    again = pickle.loads(pickle.dumps(away)).similarity(*pair)
    np.testing.assert_allclose(again.draws, found.draws, rtol=1e-3, atol=1e-3)
    assert by_answer._SEARCH_TOL not in tols[n:]
    # it gives up where that leads nowhere
    monkeypatch.setattr(by_answer, "_MOST_MOVES", 0)
    with pytest.raises(np.linalg.LinAlgError, match="this is no mode.*Or take the model's"):
        lost.similarity(*pair)


@pytest.mark.parametrize("by_clusters", [False, True])
def test_flat_directions_are_as_wide_as_the_density(by_clusters, monkeypatch):
    """By slopes in single precision, against values of the log density on a grid."""
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    for module, name, value in CLUSTERS if by_clusters else ():
        monkeypatch.setattr(module, name, value)
    sampling = make().fit(DOCUMENTS)._sampling
    mode, solver, _ = sampling._at_mode
    rng = np.random.default_rng(0)
    direction = 0.3 * rng.standard_normal(mode.vectors.shape)
    places = np.linspace(-1.0, 1.0, 401)
    gradient = np.empty(solver.model.n_parameters)
    arrays = (mode.vectors + t * direction for t in places)
    packed = (solver.model.pack({"rho": rho, "alpha": alpha}) for rho, alpha in arrays)
    heights = np.array([solver.model.logp_and_grad(theta, gradient) for theta in packed])
    density = np.exp(heights - heights.max())
    variance = np.average((places - np.average(places, weights=density)) ** 2, weights=density)
    assert density[[0, -1]].max() < 1e-6
    with solver.run:
        assert sampling._reach(direction, 1e-3, 1.0) == pytest.approx(1.0 / variance, rel=0.05)
        # what has much of an answer's variance, and what leads to a higher point
        with pytest.raises(NotAMode):
            sampling._reach(direction, 1.0, variance)
        mode.vectors[:] += 0.5 * direction
        with pytest.raises(NotAMode) as caught:
            sampling._reach(direction, 1e-3, 1.0)
    np.testing.assert_allclose(caught.value.direction, -0.5 * direction, rtol=0.05)


@pytest.mark.slow
def test_refits_move_answers_as_first_order_says_where_it_holds(monkeypatch, tmp_path):
    """Along all directions of the systems, of a model that is nowhere soft.

    At one standard error the answer is a little bent, by .3 % here.
    """
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    for module, name, value in CLUSTERS:
        monkeypatch.setattr(module, name, value)
    model = make().fit(DOCUMENTS)
    expected = copy.deepcopy(model).similarity(*WORDS[:2])
    for name, value in {"_PLAIN": -1.0, "_FAR": 0.0, "_SHARE": 0.01, "_MOST": 16}.items():
        monkeypatch.setattr(refits, name, value)
    monkeypatch.setattr(by_answer, "responding", refits.responding)
    monkeypatch.setattr(by_answer, "_REFIT_TOL", 1e-9)
    searched = []

    def search(*given):
        searched.append(given)
        return mode_near(*given)

    mode_near = by_answer.mode_near
    monkeypatch.setattr(by_answer, "mode_near", search)
    found = model.similarity(*WORDS[:2])
    assert len(searched) >= 4
    assert found.sd_sampling == pytest.approx(expected.sd_sampling, rel=0.03)
    assert found.sd_sampling <= expected.sd_sampling
    # on the scale of cosines, where all is a little narrower
    assert found.sd_prior == pytest.approx(expected.sd_prior, rel=1e-3)
    # the same draws from a copy, and what is known is not worked out again
    n = len(searched)
    np.testing.assert_array_equal(model.similarity(*WORDS[:2]).draws, found.draws)
    assert len(searched) == n
    model.set_params(n_jobs=2).save(tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").similarity(*WORDS[:2]).draws, found.draws
    )


def test_refits_are_read_as_first_order_is():
    """Slopes are those of the answers' derivatives, also where these are at posterior means."""
    rng, step = np.random.default_rng(3), 1e-6
    vectors = rng.normal(size=(2, V, K))
    question = questions()["probabilities"]
    others = vectors + rng.normal(size=(9, 2, V, K))
    draws = np.stack([values_at(question.operands, one) for one in others])
    at = values_at(question.operands, vectors)
    for given in (None, draws):
        pulls = question.gradient(at, given)
        read = AskedDeviations._on_scale(SimpleNamespace(vectors=vectors), question, pulls)
        moved = np.zeros_like(vectors)
        moved[0] = rng.normal(size=(V, K))
        for i in range(3):
            ends = [read(i)(vectors + s * step * moved) for s in (1.0, -1.0)]
            along = np.sum(pulls[i] * values_at(question.operands, moved)[question.index[i]])
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(along, rel=1e-5)
        # what has derivatives of second order besides is not refitted
        pulls[1] += 0.1 * rng.normal(size=pulls[1].shape)
        read = AskedDeviations._on_scale(SimpleNamespace(vectors=vectors), question, pulls)
        assert read(1) is None and read(0) is not None


@pytest.mark.parametrize("place", ["first", "refit", "second"])
def test_answers_that_were_interrupted_go_on(place, monkeypatch, capsys):
    """With the same draws: no product is made twice, and no refit that was done."""
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    for module, name, value in CLUSTERS:
        monkeypatch.setattr(module, name, value)
    stops, made, responses = [], [], []
    product = systems.ClusteredSystems.product

    def counted(self, directions, observed=True):
        made.append("first" if observed else "second")
        if stops == [place, made.count(place)]:
            raise KeyboardInterrupt
        return product(self, directions, observed)

    def responding(influence, *_):
        responses.append(1)
        if stops == ["refit", len(responses)]:
            raise KeyboardInterrupt
        return influence

    monkeypatch.setattr(systems.ClusteredSystems, "product", counted)
    monkeypatch.setattr(by_answer, "responding", responding)
    model = make().fit(DOCUMENTS)
    whole = pickle.loads(pickle.dumps(model)).similarity(*WORDS[:2])
    expected = list(made)
    assert min(expected.count("first"), expected.count("second")) > 3
    for stop in (1, 3) if place != "refit" else (1,):
        made.clear()
        responses.clear()
        capsys.readouterr()
        stops[:] = [place, stop]
        with pytest.raises(KeyboardInterrupt):
            model.similarity(*WORDS[:2])
        told = "products are kept; ask again" in capsys.readouterr().err
        assert told == (stop > 1)
    stops.clear()
    made.clear()
    found = model.similarity(*WORDS[:2])
    np.testing.assert_array_equal(found.draws, whole.draws)
    if place == "second":
        assert "first" not in made and len(responses) == 0
    if place == "refit":
        assert made == ["second"] * expected.count("second")
    if place == "first":
        # those of the last call but the one that was interrupted
        assert made.count("first") < expected.count("first")


@pytest.mark.parametrize("by_clusters", [False, True])
def test_words_without_pairs(by_clusters, monkeypatch):
    """Neither they nor their clusters are in the way of others."""
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    texts = [*DOCUMENTS, *[["zzz"]] * 6]
    expected = make().fit(texts).similarity(*WORDS[:2])
    for module, name, value in CLUSTERS if by_clusters else ():
        monkeypatch.setattr(module, name, value)
    model = make().fit(texts)
    found = model.similarity(*WORDS[:2])
    solver = model._sampling._at_mode[1]
    if by_clusters:
        assert isinstance(solver, systems.ClusteredSystems)
        assert "zzz" not in model.words_[solver._frequent]
    np.testing.assert_allclose(found.sd, expected.sd, rtol=0.01)


def test_a_block_of_answers_is_of_one_mode(large, monkeypatch):
    """Where the mode moves on the way, answers before are worked out again."""
    monkeypatch.setattr(answers, "_ANSWERS", 2)
    deviations = large._sampling.deviations
    whole, seen = deviations._changes, []

    def changes(question, pulls, known):
        seen.append(deviations.vectors)
        if len(seen) == 3:
            error = NotAMode("here")
            error.direction = 0.01 * np.ones(deviations._mode.size)
            raise error
        return whole(question, pulls, known)

    monkeypatch.setattr(deviations, "_changes", changes)
    large.most_similar(WORDS[0], 6)
    assert all(v is deviations.vectors for v in seen[-3:])
    assert len(seen) == 3 + 1 + 3


@pytest.mark.slow
def test_questions_of_several_threads(large):
    """They wait for each other: all have the intervals that one after the other has."""
    pairs = [(WORDS[i], WORDS[i + 1]) for i in range(3)]
    large.set_params(n_jobs=2)
    expected = [copy.deepcopy(large).similarity(*pair).sd for pair in pairs]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda pair: large.similarity(*pair).sd, pairs))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_no_mode(large, monkeypatch):
    def fail(*given, **options):
        raise np.linalg.LinAlgError("No solution.")

    monkeypatch.setattr(systems, "conjugate_gradients", fail)
    with pytest.raises(np.linalg.LinAlgError, match="No solution. Or take the model's"):
        large.similarity(*WORDS[:2])


def test_no_room(large, monkeypatch):
    """Refused before any work where not even one answer would fit."""
    monkeypatch.setattr(footprint, "bytes_by_answer", lambda *given: 1e18)
    with pytest.raises(MemoryError, match="The first question"):
        large.similarity(*WORDS[:2])
    assert "_influences" not in vars(large._sampling)


def test_sizes_that_go_by_answer(monkeypatch):
    """Large vocabularies do; smaller ones where all deviations would not fit."""

    def entries():
        return 10**6

    monkeypatch.setattr(footprint, "allowed_memory", lambda: (16 * 2**30, ""))
    assert not footprint.goes_by_answer(5_000, 50, 1000, entries)
    assert footprint.goes_by_answer(50_000, 100, 1000, entries)
    assert footprint.goes_by_answer(20_000, 50, 1000, entries) == (
        footprint.bytes_needed(20_000, 50, 1000, 10**6, False) > 16 * 2**30
    )
    # 100,000 words and 100 components within 24 GB
    few, more = (footprint.bytes_by_answer(100_000, 100, 4 * 10**6, 3 * 10**7, m) for m in (1, 2))
    assert few < more < 12 * 2**30
    # text of 100 million tokens in 37,730 units, whose systems take 10.8 GB with the fit, fits, too
    large = footprint.bytes_by_answer(100_000, 100, 44_294_728, 139_729_033, 1)
    assert 9 * 2**30 < large < 0.8 * 24 * 2**30


@pytest.mark.parametrize("gigabytes", [4, 8, 12, 16, 64])
def test_as_many_systems_in_step_as_there_is_room_for(gigabytes, monkeypatch):
    monkeypatch.setattr(footprint, "allowed_memory", lambda: (gigabytes * 2**30, ""))
    given = 20_000, 100, 10**7, 2 * 10**7
    m = footprint.together_by_answer(*given)
    half = gigabytes * 2**29
    assert m == 1 or footprint.bytes_by_answer(*given, m) <= half
    assert m == 16 or footprint.bytes_by_answer(*given, m + 1) > half


@pytest.mark.parametrize("by_clusters", [False, True])
def test_the_cost_is_announced(by_clusters, monkeypatch):
    monkeypatch.setattr(footprint, "MOST_ENTRIES", 0)
    if by_clusters:
        for module, name, value in CLUSTERS:
            monkeypatch.setattr(module, name, value)
    cost = BayesianSGNS(3, min_count=1, solver="map").estimate_cost(DOCUMENTS)
    assert cost.question.cpu_seconds > 0 and "each further answer about" in repr(cost)


def test_it_may_be_asked_for_after_the_fit(tmp_path):
    """Also of a model from disk; what is known for all answers is not worked out one by one."""
    model = make().fit(DOCUMENTS)
    first, second = WORDS[:2].tolist()
    expected = pickle.loads(pickle.dumps(model)).similarity(first, second)
    model.set_params(by_answer=True)
    one = model.similarity(first, second)
    assert isinstance(model._sampling.twin, by_answer.SamplingByAnswer)
    assert "deviations" not in vars(model._sampling)
    assert np.isnan(model.dispersion_).all() and model.response_ == 1.0
    assert np.isnan(model.most_similar(first, 2).prob_top).all()
    assert "not measured" in str(model.report())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.by_answer is True
    np.testing.assert_array_equal(again.similarity(first, second).draws, one.draws)
    again.set_params(by_answer=False)
    np.testing.assert_array_equal(again.similarity(first, second).draws, expected.draws)
    assert np.isfinite(again.dispersion_).any()
    again.set_params(by_answer=True)
    np.testing.assert_array_equal(again.similarity(first, second).draws, expected.draws)
    # of first order and exactly solved, they differ by the draws of the prior's part
    sampled = expected.sd_sampling / again.response_
    np.testing.assert_allclose(one.sd_sampling, sampled, rtol=1e-3)


def test_it_may_be_asked_for_by_the_fit():
    model = make(by_answer=True).fit(DOCUMENTS)
    assert np.isnan(model.most_similar(WORDS[0], 2).prob_top).all()
    assert not np.isnan(model.set_params(by_answer="auto").most_similar(WORDS[0], 2).prob_top).any()


@pytest.mark.slow
def test_many_answers_may_be_worked_out_at_once(large, monkeypatch, capsys):
    """It is said where there is room for it, and what is known then is not lost."""
    monkeypatch.setattr(by_answer, "_MANY", 0)
    assert large.similarity(*WORDS[:2]).source == "units"
    assert "by_answer=False" not in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(by_answer, "_MANY", 0)
    small = make(by_answer=True).fit(DOCUMENTS)
    small.similarity(*WORDS[2:4])
    assert "set_params(by_answer=False) works out at once" in capsys.readouterr().err
    large.set_params(by_answer=False, features="mean_std")
    assert large.transform(DOCUMENTS[:2]).shape == (2, 2 * K)
    expected = large.similarity(*WORDS[:2]).draws
    # nothing of the other way is kept
    assert not {"deviations", "_at_mode", "_influences"} & vars(large._sampling).keys()
    large = pickle.loads(pickle.dumps(large)).set_params(by_answer="auto")
    np.testing.assert_array_equal(large.similarity(*WORDS[:2]).draws, expected)
    assert np.isfinite(large.dispersion_).any()


def test_what_is_no_choice():
    with pytest.raises(ValueError, match="by_answer must be True, False or 'auto', got 'yes'"):
        make(by_answer="yes").fit(DOCUMENTS)
    model = make().fit(DOCUMENTS).set_params(by_answer=2)
    for question in (lambda: model.similarity(*WORDS[:2]), lambda: model.dispersion_):
        with pytest.raises(ValueError, match="by_answer must be True, False or 'auto', got 2"):
            question()


def test_counts_of_pairs_are_not_asked_one_by_one(tmp_path):
    """Influences of theirs are those of all words. What knows of no units is as ever."""
    ones = sparse.csr_array(np.ones((V, V)) - np.eye(V))
    parts = [PairCounts(i * ones, ones, WORDS) for i in range(1, 11)]
    with pytest.raises(ValueError, match="by_answer must be False or 'auto' for a list of PairC"):
        make(by_answer=True).fit(parts)
    with pytest.raises(ValueError, match="by_answer must be False or 'auto' for a list of PairC"):
        make(by_answer=True).estimate_cost(parts)
    make(by_answer=True, uncertainty="model").fit(parts)
    model = make().fit(parts).set_params(by_answer=True)
    with pytest.raises(ValueError, match="by_answer=True needs units whose text fit has counted"):
        model.similarity(*WORDS[:2])
    assert hasattr(model, "n_units_") and "by_answer" in model._repr_html_()
    model.save(tmp_path / "model")
    assert "worked out with the first question" in str(model.report())
    assert model.set_params(uncertainty="model").similarity(*WORDS[:2]).source == "point"


def test_one_way_that_fails_does_not_decide_about_the_other(monkeypatch):
    model = make().fit(DOCUMENTS)
    model.set_params(by_answer=True)
    monkeypatch.setattr(model._sampling.twin, "problem", "no mode.", raising=False)
    with pytest.warns(UserWarning, match="Intervals are the model's: no mode"):
        model.similarity(*WORDS[:2])
    assert model.posterior_.attrs["without_units"] == "no mode."
    assert model.set_params(by_answer=False).similarity(*WORDS[:2]).source == "units"
    assert "without_units" not in model.posterior_.attrs
    assert "point" not in str(model.report())


def test_dispersions_are_not_worked_out_one_by_one():
    model = make(solver="laplace", uncertainty="model", by_answer=True).fit(DOCUMENTS)
    assert "dispersion" not in vars(model._sampling)


def test_no_room_for_all_answers(monkeypatch):
    model = make().fit(DOCUMENTS)
    monkeypatch.setattr(footprint, "bytes_needed", lambda *given: 1e18)
    with pytest.raises(MemoryError, match="Use by_answer=True, uncertainty='model', fewer"):
        model.similarity(*WORDS[:2])
    assert "Use by_answer=True" in make().estimate_cost(DOCUMENTS).no_room


def test_what_one_answer_takes_is_announced(monkeypatch):
    monkeypatch.setattr(asked, "_TOO_LONG", 0.0)
    monkeypatch.setattr(asked, "_MUCH_LESS", np.inf)
    cost = make().estimate_cost(DOCUMENTS)
    assert "after set_params(by_answer=True), before or after the fit, about" in repr(cost)
    one = make(by_answer=True).estimate_cost(DOCUMENTS)
    assert "each further answer about" in repr(one)
    for found in (cost, one):
        assert repr(pickle.loads(pickle.dumps(found))) == repr(copy.deepcopy(found)) == repr(found)
    spent = asked.OfAllAnswers(1680.0, asked.OfOneAnswer(116.0, 77.0))
    assert asked.said_of_one(spent) == (
        "For a few answers, interrupt this and use set_params(by_answer=True): one takes about "
        "120 s, each further one 77 s."
    )
    assert asked.said_of_one(asked.OfAllAnswers(10.0, None)) == asked.said_of_one(3.0) == ""


def test_one_way_lets_go_of_what_the_other_worked_with():
    model = make(by_answer=True).fit(DOCUMENTS)
    model.similarity(*WORDS[:2])
    twin = model._sampling.twin
    assert "_at_mode" in vars(twin)
    _ = model.set_params(by_answer=False).dispersion_
    assert "_at_mode" in vars(model._sampling) and "_at_mode" not in vars(twin)

"""Snippets whose words have vectors: what is made of these, and the model that reads them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from skbayesembed import BayesianSGNS, DiSCSenseModel, load
from skbayesembed.corpus.embedding import median_distance
from skbayesembed.datasets import make_senses
from skbayesembed.senses.embedding import prepared
from tests.helpers.extras import optional

pd = optional("pandas")

N_WORDS = 30
WORDS = [f"w{v}" for v in range(N_WORDS)]
SHORT = {"draws": 20, "warmup": 20, "chains": 2, "n_starts": 1, "random_state": 0}


@pytest.fixture(scope="module")
def made():
    made = make_senses(
        400, N_WORDS, 2, n_periods=3, n_genres=2, model="edisc", n_dims=4, random_state=3
    )
    # every word occurs, in texts too
    first = np.where(np.arange(400)[:, None] == 0, 1.0, 0.0)
    made.counts = sparse.csr_array(made.counts + first)
    return made


@pytest.fixture(scope="module")
def fitted(made, explored_briefly):
    model = DiSCSenseModel(2, model="edisc", embedding=made.vectors, thin=1, **SHORT)
    with warnings.catch_warnings():
        # twenty draws may not mix
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(made.counts, times=made.times, genres=made.genres)


def point(made, embedding, X=None, **options):
    """A point estimate, which takes no time."""
    model = DiSCSenseModel(
        2, model="edisc", embedding=embedding, solver="map", n_starts=1, random_state=0, **options
    )
    X = made.counts if X is None else X
    return model.fit(X, times=made.times, genres=made.genres)


def as_text(counts):
    dense = counts.toarray().astype(int)
    return [" ".join(np.repeat(WORDS, row)) for row in dense]


# -- vectors -------------------------------------------------------------------------------------


def test_vectors_are_centred_scaled_and_turned():
    rng = np.random.default_rng(0)
    vectors, totals = rng.normal(2.0, [5.0, 1.0, 3.0], size=(40, 3)), rng.integers(1, 9, 40)
    found = np.ones(40, dtype=bool)
    out = prepared(vectors, found, totals)
    np.testing.assert_allclose(totals @ out, 0, atol=1e-10)
    np.testing.assert_allclose(median_distance(out), 1)
    spread = out.T @ (totals[:, None] * out)
    np.testing.assert_allclose(spread - np.diag(np.diag(spread)), 0, atol=1e-10)
    assert np.all(np.diff(np.diag(spread)) < 0)
    # a turn, a shift and another unit are taken out again
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    again = prepared(7 * vectors @ turn + 3, found, totals)
    np.testing.assert_allclose(np.abs(again), np.abs(out), atol=1e-10)


def test_words_without_a_vector_are_at_the_mean():
    rng = np.random.default_rng(1)
    vectors, totals = rng.normal(size=(20, 3)), rng.integers(1, 9, 20)
    found = rng.random(20) < 0.6
    out = prepared(vectors[found], found, totals)
    assert not out[~found].any()
    np.testing.assert_allclose(
        np.abs(out[found]), np.abs(prepared(vectors[found], np.ones(found.sum(), bool),
                                            totals[found]))
    )  # fmt: skip


def test_words_that_do_not_occur_have_vectors_too():
    vectors = np.random.default_rng(2).normal(size=(5, 2))
    out = prepared(vectors, np.ones(5, dtype=bool), np.zeros(5))
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-12)


def test_many_words_have_a_median_distance_of_some():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(5000, 4))
    pairs = np.linalg.norm(vectors[:2500] - vectors[2500:], axis=1)
    # the median of 2,500 distances is off by about 0.7 / sqrt(2500) * 1.25 = 0.018
    assert abs(median_distance(vectors) - np.median(pairs)) < 5 * 0.018


# -- forms ---------------------------------------------------------------------------------------


def test_all_forms_of_an_embedding_are_read_alike(made, tmp_path):
    table = dict(zip(WORDS, made.vectors, strict=True))
    expected = point(made, made.vectors)
    assert expected.vectors_.shape == (N_WORDS, 4)
    frame = pd.DataFrame(made.counts.toarray(), columns=WORDS)
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{w} {' '.join(map(repr, x.tolist()))}\n" for w, x in table.items()))
    for model in (
        point(made, table, frame),
        point(made, made.vectors.tolist(), frame),
        point(made, pd.DataFrame(made.vectors, index=WORDS).iloc[::-1], frame),
        point(made, table, feature_names=WORDS),
    ):
        np.testing.assert_array_equal(model.vectors_, expected.vectors_)
        np.testing.assert_array_equal(model.prevalence_, expected.prevalence_)
    # files hold single precision
    read = point(made, path, frame)
    np.testing.assert_allclose(read.vectors_, expected.vectors_, atol=1e-5)
    texts = as_text(made.counts)
    model = point(made, table, texts)
    order = [WORDS.index(word) for word in model.words_]
    np.testing.assert_allclose(model.vectors_, expected.vectors_[order], atol=1e-10)
    kept = point(made, made.vectors, max_features=10)
    assert kept.vectors_.shape == (10, 4)
    texts_kept = point(made, table, texts, max_features=10)
    assert set(texts_kept.words_) == {WORDS[int(word[1:])] for word in kept.words_}


def test_a_fitted_model_is_an_embedding(made):
    texts = as_text(made.counts)
    sgns = BayesianSGNS(3, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    model = point(made, FrozenEstimator(sgns.fit(texts)), texts)
    assert model.vectors_.shape == (N_WORDS, 3)
    assert clone(model).fit(texts, times=made.times).vectors_.shape == (N_WORDS, 3)


def test_words_without_a_vector_are_kept(made):
    frame = pd.DataFrame(made.counts.toarray(), columns=WORDS)
    rare = np.argsort(made.counts.sum(axis=0))[:10]
    given = np.ones(N_WORDS, dtype=bool)
    given[rare] = False
    table = {w: x for w, x, there in zip(WORDS, made.vectors, given, strict=True) if there}
    model = point(made, table, frame)
    assert model.words_.tolist() == WORDS
    assert not model.vectors_[rare].any() and model.vectors_[given].all()
    totals = made.counts.sum(axis=0)
    lost = f"(33 % of the words, {100 * totals[rare].sum() / totals.sum():.0f} % of the tokens"
    assert lost in repr(model.sense_info()) and lost in repr(model.sense_words(2))
    # senses do not tell such words from each other, periods do not either
    logits = np.log([model.word_trajectory(WORDS[v]).mean for v in rare[-2:]])
    gap = logits[0] - logits[1]
    np.testing.assert_allclose(gap, gap[0, 0], atol=1e-9)
    with pytest.warns(UserWarning, match="25 of 30 words. have no vector in the embedding"):
        point(made, dict(list(table.items())[:5]), frame)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"embedding": None}, ValueError, "embedding must be given: a mapping"),
        ({"embedding": 3}, TypeError, "embedding must be a mapping .* got int"),
        ({"embedding": np.eye(4)}, ValueError, "a row for each of the 30 columns of X, got 4 rows"),
        ({"embedding": np.ones((30, 2))}, ValueError, "different vectors for different words"),
        ({"embedding": {"cat": [1.0]}}, ValueError, "no vector for any of the 30 words of X"),
        ({"embedding": {w: [1.0] for w in WORDS}}, ValueError, "of the 30 vectors .* is zero"),
        ({"model": "disc"}, ValueError, "embedding must be None with model='disc'.* got ndarray"),
        ({"solver": "gibbs"}, ValueError, "not available .*model='edisc': use solver='hmc'"),
        ({"kernel": "blockwise"}, ValueError, "not available .*model='edisc': use 'hmc' or 'nuts'"),
    ],
)
def test_what_is_refused(made, options, error, match):
    given = {"model": "edisc", "embedding": made.vectors, "feature_names": WORDS} | options
    with pytest.raises(error, match=match):
        DiSCSenseModel(2, **given).fit(made.counts)


def test_an_array_has_no_words(made):
    model = DiSCSenseModel(2, model="edisc", embedding=made.vectors)
    with pytest.raises(ValueError, match="must be a mapping from words .* where X holds documents"):
        model.fit(as_text(made.counts))


# -- the model -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize(
    "solver",
    [
        pytest.param("hmc", marks=pytest.mark.slow),
        "vi",
        pytest.param("laplace", marks=pytest.mark.slow),
        "map",
    ],
)
def test_senses_are_recovered(made, solver):
    model = DiSCSenseModel(
        2, model="edisc", embedding=made.vectors, solver=solver, chains=2, draws=100, warmup=60,
        thin=1, n_starts=2, max_iter=3000, random_state=1,
    ).fit(made.counts, times=made.times, genres=made.genres)  # fmt: skip
    found = model.predict(made.counts, times=made.times, genres=made.genres)
    truth = softmax_of_truth(made)
    agreement = np.mean(found == made.senses)
    # as well as those who know the parameters, but for a twentieth of the snippets
    assert max(agreement, 1 - agreement) > np.mean(truth.argmax(axis=1) == made.senses) - 0.05


def softmax_of_truth(made):
    """Probabilities of senses under the true parameters."""
    words = np.log(made.word_proba)[:, made.times]
    joint = np.log(made.prevalence)[made.genres, made.times]
    return softmax(joint + np.einsum("dv,kdv->dk", made.counts.toarray(), words), axis=1)


def test_readings_are_those_of_the_draws(made, fitted):
    posterior = fitted.posterior_
    chi, theta, sigma = (posterior.flat(name) for name in ("chi", "theta", "sigma"))
    logits = (chi[:, :, None] + theta[:, None]) @ fitted.vectors_.T + sigma[:, None, None]
    words = softmax(logits, axis=-1)
    word = fitted.word_trajectory(WORDS.index("w4"), prob=0.8)
    np.testing.assert_allclose(word.draws, words[..., 4], atol=1e-12)
    table = fitted.sense_words(3, period=1)
    order = np.argsort(-words[:, :, 1].mean(axis=0), axis=1)[:, :3]
    assert table.words.tolist() == fitted.words_[order].tolist()
    # eq. 9, a snippet at a time
    chosen = slice(0, 400, 40)
    t, g = made.times[chosen], made.genres[chosen]
    prevalence = posterior.flat("prevalence")
    counts = made.counts.toarray()[chosen]
    by_sense = np.einsum("dv,skdv->sdk", counts, np.log(words)[:, :, t])
    joint = np.exp(by_sense + np.log(prevalence[:, g, t]))
    density = joint.sum(axis=2)
    given = {"times": t, "genres": g}
    np.testing.assert_allclose(
        fitted.score_samples(counts, **given), np.log(density.mean(axis=0)), atol=1e-9
    )
    expected = np.mean(joint / density[..., None], axis=0)
    np.testing.assert_allclose(fitted.predict_proba(counts, **given), expected, atol=1e-9)


def test_snippets_drawn_have_the_words_of_the_model(fitted):
    X, senses = fitted.sample(20_000, times=2, genres=0, random_state=0)
    assert set(senses) == {0, 1}
    words = softmax(
        (fitted.posterior_.flat("chi") + fitted.posterior_.flat("theta")[:, 2:]) @ fitted.vectors_.T
        + fitted.posterior_.flat("sigma")[:, None], axis=-1,
    )  # fmt: skip
    expected = np.einsum("sk,skv->v", fitted.posterior_.flat("prevalence")[:, 0, 2], words)
    expected /= len(words)
    observed = X.sum(axis=0) / X.sum()
    # 140,000 tokens, seven of a snippet alike: a standard error of a share p is below
    # sqrt(7 p / 140,000); lengths are independent of draws
    assert np.all(np.abs(observed - expected) < 5 * np.sqrt(7 * expected / 140_000))


def test_a_saved_model_answers_as_before(made, fitted, tmp_path):
    path = tmp_path / "model.npz"
    fitted.save(path)
    again = load(path)
    given = {"times": made.times, "genres": made.genres}
    np.testing.assert_array_equal(
        again.predict_proba(made.counts, **given), fitted.predict_proba(made.counts, **given)
    )
    np.testing.assert_array_equal(again.vectors_, fitted.vectors_)


def test_comparisons_take_it(made, fitted):
    given = {"times": made.times, "genres": made.genres}
    with pytest.warns(UserWarning, match="Pareto k"):
        found = fitted.loo(made.counts, **given)
    assert found.pointwise.shape == (400,)
    # the density of what was left out is below that of what was seen
    assert found.elpd < fitted.score(made.counts, **given) * 400

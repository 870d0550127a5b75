"""Word vectors that are known by draws: their uncertainty in the posterior of senses."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from skbayesembed import DiSCSenseModel, DynamicSGNS
from skbayesembed.inference.pooling import note_runs
from skbayesembed.senses.embedding import prepared
from skbayesembed.senses.loo import _by_run, _psis, _psis_of_runs
from skbayesembed.senses.predict import WordDraws, word_draws
from tests.helpers.vectors import fitted_vectors

# Whether so few draws of vectors are warned of hangs on the random numbers.
pytestmark = [
    pytest.mark.filterwarnings("ignore:embedding_draws=[0-9]+ are few"),
    pytest.mark.usefixtures("explored_briefly"),
]

TEXTS = ["river water flood bank", "money loan account bank", "water river boat"] * 8
SNIPPETS = ["river water flood", "money loan account", "boat river"] * 8
YEARS = [1810, 1811] * 12


@pytest.fixture(scope="module")
def vectors():
    """Fitted word vectors."""
    return fitted_vectors(TEXTS)


def senses(embedding, **options):
    """A small model of the snippets."""
    given = {"draws": 12, "warmup": 10, "chains": 2, "n_starts": 1, "random_state": 0}
    given |= {"solver": "hmc", "embedding_draws": 3} | options
    return DiSCSenseModel(2, model="edisc", embedding=embedding, **given)


@pytest.fixture(scope="module")
def fitted(vectors):
    """Fits of the small model by their solvers."""

    @cache
    def fit(solver):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return senses(vectors, solver=solver).fit(SNIPPETS, times=YEARS)

    return fit


@pytest.mark.parametrize("solver", ["hmc", "vi", "laplace"])
def test_draws_are_of_the_runs_in_turn(fitted, solver):
    """Words of draw i have the logits that its own vectors give."""
    model = fitted(solver)
    posterior, drawn = model.posterior_, model.vector_draws_
    n_chains = 2 if solver == "hmc" else 1
    assert posterior["chi"].shape[:2] == (n_chains, 12) and drawn.shape == (3, 7, 2)
    assert posterior.attrs["embedding_draws"] == 3
    read = WordDraws(posterior, drawn)
    for s in (0, 4, 11):
        rows, _ = read.rows(s)
        own = posterior["chi"][0, s] @ drawn[s % 3].T + posterior["sigma"][0, s]
        np.testing.assert_allclose(rows, own)
    sums = read.log_sums()
    proba = read.probabilities(1, 0, np.arange(7), sums)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert model.predict_proba(SNIPPETS[:3], times=YEARS[:3]).shape == (3, 2)
    assert "include the uncertainty of the word vectors" in repr(model.sense_words(2))
    share = posterior.attrs["embedding_share"]
    for found in (model.sense_info(), model.prevalence_change(0, 1810, 1811)):
        assert f"(up to {100 * share:.0f} % of the variance of prevalences" in repr(found)
        assert "have no vector" not in repr(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_draws_do_not_hang_on_jobs(vectors):
    """The same seed, the same draws."""
    first = senses(vectors).fit(SNIPPETS).posterior_["prevalence"]
    again = senses(vectors, n_jobs=2).fit(SNIPPETS).posterior_["prevalence"]
    np.testing.assert_array_equal(first, again)


def test_a_trial_has_fewer_draws_than_runs(vectors):
    """It makes eight, and one at least with each draw of the vectors."""
    model = senses(vectors, solver="vi", embedding_draws=12)
    assert model.estimate_cost(SNIPPETS).bytes > 0


def test_each_draw_of_vectors_is_placed_as_if_it_were_given(vectors):
    """By its own center and distance, and priors are in units of it; turns change nothing."""
    model = senses(vectors, solver="laplace").fit([*SNIPPETS, "unheard river"])
    (unheard,) = np.flatnonzero(model.words_ == "unheard")
    assert not model.vector_draws_[:, unheard].any()
    known = [w for w in model.words_ if w != "unheard"]
    drawn = vectors.sample_vectors(known, 3)
    places = [model.vocabulary_[w] for w in known]
    totals = np.array([sum(text.split().count(w) for text in SNIPPETS) for w in known])
    # "river" is in the snippet with the word without a vector, too
    totals[known.index("river")] += 1
    for placed, one in zip(model.vector_draws_[:, places], drawn, strict=True):
        alone = prepared(one, np.ones(len(known), bool), totals)
        np.testing.assert_allclose(placed @ placed.T, alone @ alone.T, atol=1e-9)


def test_vectors_of_a_period_are_taken():
    """A drifting model stands for its vectors in one period."""
    drift = DynamicSGNS(2, solver="vi", min_count=1, max_iter=3, random_state=0)
    with pytest.warns(UserWarning):
        drift.fit(TEXTS, times=[1810] * 12 + [1811] * 12)
    at = drift.vectors_at(1811)
    np.testing.assert_array_equal(at.rho_, drift.rho_[1])
    drawn = at.sample_vectors(["river", "bank"], 400)
    assert drawn.shape == (400, 2, 2)
    words = [drift.vocabulary_[w] for w in ("river", "bank")]
    # within five Monte Carlo errors of the means
    error = drawn.std(axis=0) / 20
    assert np.all(np.abs(drawn.mean(axis=0) - at.rho_[words]) < 5 * error + 1e-9)
    assert repr(at) == "PeriodVectors of 8 words in 1811"
    with pytest.raises(ValueError, match=r"vectors_at\(period\)"):
        senses(drift).fit(SNIPPETS)


def test_what_cannot_be_drawn_is_refused(vectors):
    """Each error names what was given and what is allowed."""
    plain = dict(zip(vectors.words_, vectors.rho_, strict=True))
    for embedding, options, message in [
        (plain, {}, "embedding_draws=3 needs an embedding that knows"),
        (vectors, {"draws": 10}, "draws must be a multiple of embedding_draws=3, got 10"),
        (vectors, {"solver": "map"}, "solver='map' has one point alone"),
        (vectors, {"embedding_draws": 1}, "embedding_draws must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            senses(embedding, **options).fit(SNIPPETS)
    with pytest.raises(ValueError, match="embedding_draws must be None with model='disc'"):
        DiSCSenseModel(embedding_draws=3).fit(SNIPPETS)
    counts = sparse.csr_array(np.eye(7))
    with pytest.raises(ValueError, match="embedding_draws=3 needs"):
        senses(vectors.rho_[:7]).fit(counts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The chains have not mixed")
def test_a_fit_goes_on_from_its_checkpoint(vectors, tmp_path, monkeypatch):
    """Ended in the second run, it ends with the draws of one that was not."""
    from skbayesembed.senses import hmc

    whole = senses(vectors).fit(SNIPPETS).posterior_["chi"]
    solve, calls = hmc.sample_hmc, []

    def killed(*args, **options):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("killed")
        return solve(*args, **options)

    monkeypatch.setattr(hmc, "sample_hmc", killed)
    model = senses(vectors, checkpoint=tmp_path)
    with pytest.raises(RuntimeError, match="killed"):
        model.fit(SNIPPETS)
    assert any("run-0-chain" in path.name for path in tmp_path.iterdir())
    np.testing.assert_array_equal(model.fit(SNIPPETS).posterior_["chi"], whole)
    assert not list(tmp_path.iterdir())


def test_few_draws_of_vectors_are_warned_of():
    """Where runs differ more than their number allows, and only there."""
    rng, attrs = np.random.default_rng(0), {"embedding_draws": 10}
    means = np.tile(rng.normal(size=10), 40)
    noise = rng.normal(size=(4, 400))
    with pytest.warns(UserWarning, match="embedding_draws=10 are few: up to .* Raise"):
        note_runs(attrs, means + 0.1 * noise, "prevalences")
    assert attrs["embedding_share"] > 0.9
    note_runs(attrs, means + 10 * noise, "prevalences")
    # 160 draws of each run leave their means 1 / 160 of the variance
    assert attrs["embedding_share"] < 0.05


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
def test_interrupted_runs_are_read_with_their_own_vectors(vectors, monkeypatch):
    """Of three runs two are left, and draws are of these in turn."""
    from skbayesembed.senses import hmc

    solve, calls = hmc.sample_hmc, []

    def interrupted(*args, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solve(*args, **options)

    monkeypatch.setattr(hmc, "sample_hmc", interrupted)
    with pytest.warns(RuntimeWarning, match="of embedding_draws=3 draws .* has 2"):
        model = senses(vectors).fit(SNIPPETS)
    posterior = model.posterior_
    assert posterior.n_runs == 2 and posterior.n_draws == 8
    read = word_draws(model)
    for s in (2, 3, 13):
        rows, _ = read.rows(s)
        chi, sigma = (posterior.flat(name)[s] for name in ("chi", "sigma"))
        np.testing.assert_allclose(rows, chi @ model.vector_draws_[s % 8 % 2].T + sigma)


def test_fewer_draws_in_a_datatree_are_of_all_runs(fitted):
    """Log likelihoods are those under each draw's own vectors, and priors those of the draw."""
    pytest.importorskip("arviz_base")
    model = fitted("hmc")
    given = {"X": SNIPPETS, "times": YEARS}
    whole, few = model.to_datatree(**given), model.to_datatree(**given, draws=12)
    kept = [0, 1, 2, 6, 7, 8]  # rounds 0 and 2 of 4, of three runs each
    for group, name in (
        ("posterior", "chi"),
        ("log_likelihood", "snippets"),
        ("log_prior", "parameters"),
        ("sample_stats", "lp"),
    ):
        values = whole[group][name].values[:, kept]
        np.testing.assert_allclose(few[group][name].values, values, rtol=1e-12)


def test_few_sampled_probabilities_are_of_all_runs(fitted):
    """A draw of the probabilities of senses has the vectors of one run."""
    model = fitted("hmc")
    every = model.sample_transform(SNIPPETS, 24, times=YEARS)
    few = model.sample_transform(SNIPPETS, 6, times=YEARS)
    of_few = [np.flatnonzero(np.isclose(every, one).all(axis=(1, 2)))[0] for one in few]
    assert np.unique(np.array(of_few) % 3, return_counts=True)[1].tolist() == [2, 2, 2]


def test_leaving_snippets_out_weighs_draws_within_runs():
    """Runs keep their weights: what a snippet is where vectors are others tells nothing of them."""
    rng = np.random.default_rng(2)
    n, n_chains, n_each, n_runs = 40, 2, 100, 20
    between = rng.normal(scale=0.6, size=(n, 1, 1, n_runs))
    density = -40 + between + rng.normal(scale=0.3, size=(n, n_chains, n_each, n_runs))
    density = density.reshape(n, -1)
    shape = n_chains, n_each, n_runs
    elpd, pareto_k = _psis_of_runs(density, shape, 1.0)
    # of normal log densities, leaving out takes the variance within runs off each run
    each = _by_run(density, shape)
    np.testing.assert_array_equal(each[:, 3], density.reshape(n, -1, n_runs)[..., 3])
    expected = logsumexp(-40 + between[:, 0, 0] - 0.3**2 / 2, axis=1) - np.log(n_runs)
    assert np.mean(elpd - expected) == pytest.approx(0.0, abs=4 * 0.02 / n**0.5)
    assert np.all(pareto_k < 1 - 1 / np.log10(n_chains * n_each * n_runs))
    # as many runs as the guide has, of few draws each: benign draws are not flagged
    shape = 4, 20, 50
    density = (
        -40 + rng.normal(scale=0.6, size=(n, 1, 1, 50)) + rng.normal(scale=0.3, size=(n, *shape))
    )
    _, pareto_k = _psis_of_runs(density.reshape(n, -1), shape, 1.0)
    assert np.mean(pareto_k > 1 - 1 / np.log10(4000)) < 0.05
    # one run is as before
    density = density.reshape(n, -1)[:, :2000]
    n_chains, n_each, n_runs = 2, 50, 20
    before, _ = _psis(density, (n_chains, n_each * n_runs), 1.0)
    alone, _ = _psis_of_runs(density, (n_chains, n_each * n_runs, 1), 1.0)
    np.testing.assert_array_equal(alone, before)


def test_comparisons_have_draws_enough_in_each_run(fitted):
    model = fitted("hmc")
    for name in ("loo", "waic"):
        with pytest.raises(ValueError, match=f"{name} needs .* 10 for each of embedding_draws=3"):
            getattr(model, name)(SNIPPETS, times=YEARS)

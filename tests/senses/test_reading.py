"""What is read off the draws, against slow computations from the same draws."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp, softmax

from skbayesembed import DiSCSenseModel, load
from skbayesembed.datasets import make_senses
from skbayesembed.posterior.deciding import errors_of, hangs_on_draws
from skbayesembed.posterior.posterior import Posterior, hdi_interval
from skbayesembed.posterior.psis import smoothed_weights
from skbayesembed.posterior.results import About, Result
from skbayesembed.posterior.sentences import estimate
from skbayesembed.posterior.sources import note_on_means
from skbayesembed.posterior.summary import interval_errors
from skbayesembed.senses.info import lasting_of, overlaps_of
from skbayesembed.senses.verdicts import (
    already_above,
    note_on_few,
    sentence_on_change,
    sentence_on_emergence,
)
from tests.helpers.extras import optional

# the simulated snippets have some
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* no known word"),
    pytest.mark.usefixtures("explored_briefly"),
]

pd = optional("pandas")

N, V, K, T, G = 90, 12, 2, 3, 2
YEARS = np.array([1810, 1820, 1830])
STYLES = np.array(["news", "prose"])


@pytest.fixture(scope="module")
def snippets():
    data = make_senses(N, V, K, n_periods=T, n_genres=G, mean_length=4.0, random_state=2)
    counts = data.counts.toarray()
    # one is empty
    counts[7] = 0
    data.counts = sparse.csr_array(counts)
    data.years, data.styles = YEARS[data.times], STYLES[data.genres]
    return data


@pytest.fixture(scope="module", params=["disc", pytest.param("gasc", marks=pytest.mark.slow)])
def fitted(request, snippets):
    model = DiSCSenseModel(
        K, model=request.param, bins=[1805, 1815, 1825, 1835], n_starts=1, draws=150, warmup=60,
        chains=2, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        # so few draws need not have mixed
        warnings.simplefilter("ignore")
        return model.fit(snippets.counts, times=snippets.years, genres=snippets.styles)


@pytest.fixture(scope="module")
def truth(fitted):
    """Prevalences (S, G, T, K) and probabilities of words (S, K, T, V) of all draws."""
    posterior = fitted.posterior_
    if "psi" in posterior:
        psi = posterior.flat("psi")
    else:
        psi = posterior.flat("chi")[:, :, None] + posterior.flat("theta")[:, None]
    return posterior.flat("prevalence"), softmax(psi, axis=3)


def log_joint(fitted, truth, snippets, times, genres):
    """log p(z = k, W_d | draw), (S, N, K), summed over what is not known snippet by snippet."""
    prevalence, words = truth
    cells = np.zeros((G, T))
    np.add.at(cells, (snippets.genres, snippets.times), 1)
    counts = snippets.counts.toarray()
    out = np.empty((len(words), N, K))
    for d in range(N):
        terms, weights = [], []
        for g in range(G):
            for t in range(T):
                known = (not times or t == snippets.times[d]) and (
                    not genres or g == snippets.genres[d]
                )
                if known:
                    density = np.log(words[:, :, t]) @ counts[d]
                    terms.append(np.log(prevalence[:, g, t]) + density)
                    weights.append(cells[g, t])
        weights = np.array(weights) / np.sum(weights)
        out[:, d] = logsumexp(np.array(terms) + np.log(weights)[:, None, None], axis=0)
    return out


COVARIATES = [(True, True), (True, False), (False, True), (False, False)]


@pytest.mark.parametrize(("times", "genres"), COVARIATES)
def test_snippets(fitted, truth, snippets, times, genres):
    given = {"times": snippets.years} if times else {}
    given |= {"genres": snippets.styles} if genres else {}
    joint = log_joint(fitted, truth, snippets, times, genres)
    density = logsumexp(joint, axis=2)
    expected = np.exp(joint - density[:, :, None]).mean(axis=0)
    found = fitted.predict_proba(snippets.counts, **given)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_array_equal(fitted.transform(snippets.counts, **given), found)
    np.testing.assert_array_equal(fitted.predict(snippets.counts, **given), found.argmax(axis=1))
    scores = fitted.score_samples(snippets.counts, **given)
    expected = logsumexp(density, axis=0) - np.log(len(density))
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    assert (snippets.counts.sum(axis=1) == 0).any(), "there is an empty snippet"
    assert np.all(scores[snippets.counts.sum(axis=1) == 0] == 0)
    np.testing.assert_allclose(fitted.score(snippets.counts, **given), expected.mean())
    weight = np.arange(N)
    np.testing.assert_allclose(
        fitted.score(snippets.counts, sample_weight=weight, **given),
        (weight * expected).sum() / weight.sum(),
    )


def test_prevalence(fitted, truth):
    prevalence = truth[0]
    np.testing.assert_allclose(
        fitted.prevalence_, np.einsum("sgtk->kgt", prevalence) / len(prevalence)
    )
    found = fitted.prevalence_interval(prob=0.8)
    assert found.shape == (K, G, T, 2)
    for k in range(K):
        np.testing.assert_array_equal(found[k], hdi_interval(prevalence[..., k], prob=0.8))


@pytest.mark.parametrize("period", [None, 1820, "1825-1834"])
def test_sense_words(fitted, truth, period):
    words = truth[1]
    at = {None: [0, 1, 2], 1820: [1], "1825-1834": [2]}[period]
    proba = words[:, :, at].mean(axis=2)
    table = fitted.sense_words(4, period=period, prob=0.8)
    assert table.period == (None if period is None else fitted.periods_.labels[at[0]])
    assert len(table) == K and table.words.shape == (K, 4)
    for k in range(K):
        order = np.argsort(-proba[:, k].mean(axis=0))[:4]
        assert table.words[k].tolist() == [f"x{v}" for v in order]
        np.testing.assert_allclose(table.mean[k], proba[:, k, order].mean(axis=0))
        np.testing.assert_allclose(table.interval[k], hdi_interval(proba[:, k, order], prob=0.8))
    assert fitted.sense_words(100).words.shape == (K, V)


def test_sense_words_as_text_and_frame(fitted):
    table = fitted.sense_words(3)
    lines = repr(table).splitlines()
    assert lines[0] == "probable words under each sense, all periods, 90 % intervals"
    assert len(lines) == 1 + K * 4 and lines[1] == "sense 0"
    assert lines[2].split()[0] == table.words[0, 0]
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame) and len(frame) == K * 3
    assert frame["sense"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["word"].tolist() == table.words.ravel().tolist()
    np.testing.assert_array_equal(frame[["low", "high"]].to_numpy(), table.interval.reshape(-1, 2))
    assert table["mean"].tolist() == table.mean.ravel().tolist()
    html = table._repr_html_()
    assert (
        html.count("<tr>") == 1 + K * 3
        and f'<td style="text-align: left">{table.words[1, 2]}' in html
    )


@pytest.mark.parametrize("word", ["x3", 3])
def test_word_trajectory(fitted, truth, word):
    draws = truth[1][..., 3]
    found = fitted.word_trajectory(word, prob=0.8)
    np.testing.assert_allclose(found.draws, draws)
    np.testing.assert_allclose(found.mean, draws.mean(axis=0))
    np.testing.assert_allclose(found.sd, draws.std(axis=0, ddof=1))
    np.testing.assert_allclose(found.interval, hdi_interval(draws, prob=0.8))
    assert found.periods == ["1805-1814", "1815-1824", "1825-1834"]


def test_sense_given_word(fitted, truth):
    level = truth[1][..., 5].sum(axis=2)
    share = level / level.sum(axis=1, keepdims=True)
    found = fitted.sense_given_word("x5", prob=0.8)
    np.testing.assert_allclose(found.mean, share.mean(axis=0))
    np.testing.assert_allclose(found.mean.sum(), 1)
    np.testing.assert_allclose(found.interval, hdi_interval(share, prob=0.8))


@pytest.mark.parametrize("genre", [None, "prose"])
def test_prevalence_change(fitted, truth, snippets, genre):
    prevalence = truth[0][..., 1]
    if genre is None:
        weights = np.bincount(snippets.genres) / N
        prevalence = weights[0] * prevalence[:, 0] + weights[1] * prevalence[:, 1]
    else:
        prevalence = prevalence[:, 1]
    change = prevalence[:, 2] - prevalence[:, 0]
    found = fitted.prevalence_change(1, 1810, 1830, genre=genre, prob=0.8)
    assert ("(an average over 2 genres, by their" in repr(found)) == (genre is None)
    assert ("sense 1 in prose from" in found.title) == (genre == "prose")
    np.testing.assert_allclose(found.draws, change)
    by_default = fitted.prevalence_change(1, genre=genre, prob=0.8)
    np.testing.assert_array_equal(by_default.draws, found.draws)
    np.testing.assert_allclose(found.mean, change.mean())
    np.testing.assert_allclose(found.interval, hdi_interval(change, prob=0.8))
    assert found.prob_increase == np.mean(change > 0)
    # those that tell
    of_genre = np.asarray(snippets.counts.sum(axis=1)).ravel() > 0
    of_genre &= True if genre is None else snippets.genres == 1
    place = np.bincount(snippets.times[of_genre], minlength=3)
    assert found.snippets == (place[0], place[2]) and "works" not in found
    low, high = found.interval
    assert found.verdict == ("rose" if low > 0 else "fell" if high < 0 else "not decided")
    assert found.verdict in found.sentence
    said = "changed by" if found.verdict == "not decided" else "the change is"
    assert f"{said} {estimate(found, found.source, 0.8, '+')}" in found.sentence
    rests = " The interval treats snippets as independent."
    assert (rests in found.sentence) == ("independent" in found.source)
    np.testing.assert_allclose(found.interval_mcse, interval_errors(change, 0.8, 2))
    # several of each draw make up no more chains
    twice = errors_of(fitted.posterior_, np.tile(change, 2), 0.8)
    np.testing.assert_allclose(twice, interval_errors(np.repeat(change, 2), 0.8, 2))
    hangs = "the verdict may change with other draws: zero is within two"
    assert (hangs in repr(found)) == bool(hangs_on_draws(found))
    # as it would be with as few draws as these that the error is that of the width
    found.update(interval_mcse=np.ptp(found.interval) * np.ones(2), verdict="not decided")
    text = sentence_on_change(found, "sense 1", None, (1, 2))
    assert f"{hangs[1:]} Monte Carlo errors of an end." in text
    # a verdict that hangs on the draws is not said as if it did not
    found.update(interval=np.array([0.01, 0.3]), interval_mcse=np.array([0.1, 0.1]), verdict="rose")
    assert "probably rose from 1 to 2" in sentence_on_change(found, "sense 1", None, (1, 2))
    assert "probably rose" in repr(found) and found.to_frame()["hangs_on_draws"].tolist() == [True]
    found.update(interval_mcse=np.array([0.001, 0.001]), prob_increase=0.96)
    assert "probably rose from 1 to 2" in sentence_on_change(found, "sense 1", None, (1, 2))
    found.prob_increase = 0.98
    assert "probably" not in repr(found) and not found.to_frame()["hangs_on_draws"].any()
    assert "sense 1 rose from 1 to 2" in sentence_on_change(found, "sense 1", None, (1, 2))
    assert f"{place[0]} snippets in 1805-1814 and {place[2]} snippets" in found.sentence
    assert ("in prose" in found.sentence) == (genre is not None)
    assert found.sentence not in repr(found) and found.verdict in repr(found)


@pytest.mark.parametrize("genre", [None, "news"])
def test_emergence(fitted, truth, snippets, genre):
    prevalence = truth[0][..., 0]
    weights = np.bincount(snippets.genres) / N if genre is None else np.array([1.0, 0.0])
    prevalence = np.einsum("g,sgt->st", weights, prevalence)
    threshold = float(np.quantile(prevalence, 0.6))
    found = fitted.emergence(0, threshold, genre=genre)
    first = [next((t for t in range(T) if row[t] > threshold), -1) for row in prevalence]
    np.testing.assert_array_equal(found.draws, first)
    np.testing.assert_allclose(found.proba, [np.mean(np.equal(first, t)) for t in range(T)])
    assert found.never == np.mean(np.equal(first, -1)) > 0
    np.testing.assert_allclose(found.proba.sum() + found.never, 1)
    assert fitted.emergence(0, 0.0).proba.tolist() == [1, 0, 0]
    for high in (0.0, threshold, 1.0):
        found = fitted.emergence(0, high, genre=genre)
        already = (
            "f it is 1805-1814, the first period of the data, the prevalence was above already"
        )
        p, others = found.proba[0], max(found.never, *found.proba[1:])
        for text in (repr(found), found.sentence):
            assert (already in text) == (p >= 0.05 or p >= others)
    assert fitted.emergence(0, 1.0).never == 1
    assert "fewer than 10" not in repr(fitted.emergence(0, 0.5))
    # draws cannot tell that it is certain
    assert "never: <0.01" in repr(fitted.emergence(0, 0.0))
    where = "" if genre is None else " in news"
    sure = fitted.emergence(0, 0.0, genre=genre).sentence
    assert sure.startswith(
        f"The first period in which the prevalence of sense 0{where} is above 0 is most probably "
        "1805-1814 (P > 0.99); with P < 0.01 there is none. If it is 1805-1814, the first period "
        "of the data, the prevalence was above already, and since when is not known. "
    )
    none = fitted.emergence(0, 1.0, genre=genre).sentence
    assert none.startswith(
        f"The prevalence of sense 0{where} is never above 1 in these periods with P > 0.99; the "
    )


def test_what_is_said_of_the_first_period_of_the_data():
    about = About("first period in which the prevalence is above 0.2", source="posterior")
    for first, second, never, said in (
        (0.01, 0.98, 0.01, False), (0.05, 0.9, 0.05, True), (0.04, 0.03, 0.93, False),
        (0.5, 0.4, 0.1, True),
    ):  # fmt: skip
        entries = {"proba": np.array([first, second]), "never": never, "periods": [1810, 1820]}
        found = Result(entries, about)
        assert bool(already_above(found)) == said
        assert ("If it is 1810, the first period" in sentence_on_emergence(found)) == said


def test_periods_are_asked_for_in_their_order(fitted):
    with pytest.raises(ValueError, match="start must be before end, got 1825-1834 as start and 18"):
        fitted.prevalence_change(0, 1830, 1810)


def test_cells_with_few_data_are_named():
    few = np.ones((2, 3), bool)
    periods, genres = ["1st century", "2nd century", "3rd century"], ["narrative", "other"]
    (line,) = note_on_few(few, False, periods, genres)
    assert line == (
        "(fewer than 10 snippets in 6 cells of genre and period, 1st century narrative, 2nd "
        "century narrative, 3rd century narrative, 1st century other and 2 more: figures there "
        "rest mostly on neighboring periods)"
    )
    (line,) = note_on_few(few[:1, :1], True, periods[:1])
    assert line == (
        "(fewer than 10 snippets or 3 units in 1 period, 1st century: figures there rest mostly on "
        "the prior)"
    )
    (line,) = note_on_few(few[:1, :1], False, [1900], ["0"])
    assert "in 1 cell of genre and period, 1900 of genre 0:" in line
    assert note_on_few(~few, True, periods, genres) == []


def test_long_tables_say_how_to_see_all(fitted, monkeypatch):
    table = fitted.prevalence_info()
    n = table.mean.size
    cut = f"(2 of {n} rows: to_string(None) prints all, to_frame() has them)"
    assert cut in table.to_string(2) and "to_frame" not in table.to_string(None)
    monkeypatch.setattr(type(table), "_max_rows", 2)
    assert cut in table._repr_html_() and cut in repr(table)


def test_changes_of_a_point_estimate_have_no_probability(snippets):
    model = DiSCSenseModel(K, solver="map", n_starts=1, bins=[1805, 1815, 1825, 1835, 1845])
    model.set_params(random_state=0).fit(snippets.counts, times=snippets.years)
    change = model.prevalence_change(0, 1810, 1830)
    assert np.isnan([change.prob_increase, change.sd]).all() and "verdict" not in change
    assert " 1.00" not in repr(change) and " 0.00 " not in repr(change)
    first = model.emergence(0, 0.01)
    assert np.isnan([*first.proba, first.never]).all() and first.draws.tolist() == [0]
    assert "above 0.01 is 1805-1814 (a point estimate)" in first.sentence
    assert "above 0.01 is 1805-1814 (a point estimate)" in repr(first)
    # of the last period there are no data
    named = "(fewer than 10 snippets in 1 period, 1835-1844: figures there rest mostly on neighb"
    assert named in repr(first)


def test_questions_about_one_sense_are_refused(snippets):
    model = DiSCSenseModel(1, solver="map", n_starts=1, bins=[1805, 1815, 1825, 1835, 1845])
    model.set_params(random_state=0).fit(snippets.counts, times=snippets.years)
    with pytest.raises(ValueError, match="prevalence_change needs two senses or more"):
        model.prevalence_change(0, 1810, 1830)
    with pytest.raises(ValueError, match="emergence needs two senses or more"):
        model.emergence(0, 0.3)


def test_means_that_print_as_the_ends_of_intervals_are_within():
    interval = np.array([[0.9999, 1.0], [0.2, 0.4]])
    assert note_on_means(np.array([0.9998, 0.3]), interval) == []
    (line,) = note_on_means(np.array([0.9998, 0.41]), interval)
    assert line.startswith("(in 1 row the mean is outside")


def test_loo_and_waic(fitted, truth, snippets):
    """PSIS against plain importance sampling: alike where weights have light tails.

    Its smoothing moves the largest weights only; with 300 draws and shapes below 0.5 the relative
    error of a mean of 1/p is a few hundredths.
    """
    data = {"times": snippets.years, "genres": snippets.styles}
    joint = log_joint(fitted, truth, snippets, True, True)
    filled = np.flatnonzero(snippets.counts.sum(axis=1))
    density = logsumexp(joint, axis=2)[:, filled]
    lpd = logsumexp(density, axis=0) - np.log(len(density))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fitted.loo(snippets.counts, **data)
        waic = fitted.waic(snippets.counts, **data)
    plain = np.log(len(density)) - logsumexp(-density, axis=0)
    light = found.pareto_k < 0.5
    assert light.mean() > 0.8
    np.testing.assert_allclose(found.pointwise[light], plain[light], atol=0.1)
    assert found.elpd == found.pointwise.sum() < lpd.sum()
    np.testing.assert_allclose(found.p_loo, lpd.sum() - found.elpd)
    np.testing.assert_allclose(found.se, np.sqrt(filled.size * found.pointwise.var(ddof=1)))
    np.testing.assert_allclose(waic.p_waic, density.var(axis=0, ddof=1).sum())
    np.testing.assert_allclose(waic.elpd, lpd.sum() - waic.p_waic)
    assert abs(waic.elpd - found.elpd) < 0.2 * found.se
    for one in (found, waic):
        assert one.rows.tolist() == filled.tolist() and one.n_snippets == filled.size
        assert one.n_without_words == N - filled.size > 0
    assert "n_without_words" in repr(found)


def test_loo_of_snippets_of_known_sense(snippets):
    known = np.where(np.arange(N) % 2, snippets.senses, -1)
    model = DiSCSenseModel(K, n_starts=1, draws=30, warmup=10, chains=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(snippets.counts, known)
        found = model.waic(snippets.counts, known)
    chi, theta, prevalence = (model.posterior_.flat(n) for n in ("chi", "theta", "prevalence"))
    words = softmax(chi + theta, axis=2)
    joint = np.log(words) @ snippets.counts.toarray().T + np.log(prevalence[:, 0, 0])[:, :, None]
    of_known = joint[:, known, np.arange(N)]
    density = np.where(known < 0, logsumexp(joint, axis=1), of_known)
    np.testing.assert_allclose(found.p_waic, density.var(axis=0, ddof=1).sum())


def test_loo_wants_the_training_data(fitted, snippets):
    with pytest.raises(ValueError, match="X, times and genres must be the data that fit was given"):
        fitted.loo(snippets.counts)
    with pytest.raises(ValueError, match="90 snippets with their covariates; got 80"):
        fitted.waic(snippets.counts[:80], times=snippets.years[:80], genres=snippets.styles[:80])
    given = {"times": snippets.years, "genres": snippets.styles}
    # the same cells, other words in them
    with pytest.raises(ValueError, match="in the same order: 90 snippets .* or other words"):
        fitted.loo(snippets.counts[::-1], **given)
    with pytest.raises(ValueError, match="y must be what fit was given, which was none; got some"):
        fitted.loo(snippets.counts, snippets.senses, **given)


def test_loo_knows_the_training_data_of_a_saved_model(tmp_path, snippets):
    known = np.where(np.arange(N) % 2, snippets.senses, -1)
    model = DiSCSenseModel(K, n_starts=1, draws=30, warmup=10, chains=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(snippets.counts, known)
        model.save(tmp_path / "model.npz")
        again = load(tmp_path / "model.npz")
        elpd = model.waic(snippets.counts, known).elpd
        assert again.waic(snippets.counts.astype(np.float32).tocoo(), known).elpd == elpd
        with pytest.raises(ValueError, match="was known senses; got none"):
            again.loo(snippets.counts)
        with pytest.raises(ValueError, match="was known senses; got other ones"):
            again.loo(snippets.counts, np.where(known < 0, known, 1 - known))
        with pytest.raises(ValueError, match="must be the data that fit was given"):
            again.waic(snippets.counts[::-1], known)
        # a file of an earlier version has no fingerprints
        del again._fingerprints
        assert again.waic(snippets.counts, known).elpd == elpd


@pytest.mark.parametrize("solver", ["map", "vi"])
def test_loo_wants_draws_of_the_posterior(snippets, solver):
    model = DiSCSenseModel(K, solver=solver, n_starts=1, draws=30, random_state=0)
    model.fit(snippets.counts)
    for name in ("loo", "waic"):
        message = f"{name} needs draws of the posterior.*solver='{solver}'"
        with pytest.raises(ValueError, match=message):
            getattr(model, name)(snippets.counts)


def test_point_estimate(snippets):
    model = DiSCSenseModel(K, solver="map", n_starts=1, random_state=0).fit(snippets.counts)
    table = model.sense_words(2)
    assert "(a point estimate" in repr(table)
    assert np.isnan(table.interval).all() and np.isnan(model.prevalence_interval()).all()
    assert np.isnan(model.sense_info().interval).all()
    assert np.isnan(model.word_trajectory("x0").sd).all()


def test_unknown_names(fitted):
    with pytest.raises(KeyError, match="word='tree' is not in the vocabulary of 12 words"):
        fitted.word_trajectory("tree")
    with pytest.raises(KeyError, match="an int. Did you mean 'x0'. Words are case-sensitive."):
        fitted.sense_given_word("X0")
    with pytest.raises(KeyError, match="it is 2 words: join such phrases before fit"):
        fitted.sense_given_word("x0 x1")
    for bad in (-1, V, True, 1.5):
        with pytest.raises(KeyError, match="is not in the vocabulary"):
            fitted.sense_given_word(bad)
    with pytest.raises(ValueError, match="end=1900 is in no period: times must be from 1805"):
        fitted.prevalence_change(0, 1810, 1900)
    with pytest.raises(ValueError, match="period must be a time or one of .* got 'late'"):
        fitted.sense_words(period="late")
    with pytest.raises(ValueError, match="sense must be a number from 0 to 1, got 2"):
        fitted.emergence(2, 0.5)
    with pytest.raises(ValueError, match=r"among those of fit, \['news', 'prose'\], got 'verse'"):
        fitted.emergence(0, 0.5, genre="verse")
    with pytest.raises(ValueError, match="threshold must be a number >= 0 and <= 1, got 2"):
        fitted.emergence(0, 2)
    for call in (
        lambda p: fitted.prevalence_interval(prob=p),
        lambda p: fitted.sense_words(prob=p),
        lambda p: fitted.word_trajectory("x0", prob=p),
        lambda p: fitted.sense_given_word("x0", prob=p),
        lambda p: fitted.prevalence_change(0, 1810, 1820, prob=p),
    ):
        with pytest.raises(ValueError, match="prob must be a number between 0 and 1"):
            call(1.0)


def test_the_posterior_is_labelled(fitted):
    posterior = fitted.posterior_
    assert posterior.dims["prevalence"] == ("genre", "period", "sense")
    assert posterior.coords["genre"].tolist() == ["news", "prose"]
    assert posterior.coords["period"].tolist() == fitted.periods_.labels
    assert posterior.coords["word"].tolist() == [f"x{i}" for i in range(V)]
    assert "prevalence[news, 1805-1814, 0]" in posterior.summary("prevalence").labels


def test_the_posterior_is_saved_with_its_labels(fitted, tmp_path):
    fitted.posterior_.save(tmp_path / "senses.npz")
    again = Posterior.load(tmp_path / "senses.npz")
    np.testing.assert_array_equal(again["prevalence"], fitted.posterior_["prevalence"])
    for name, values in fitted.posterior_.coords.items():
        assert again.coords[name].tolist() == list(values)


def test_a_tail_that_cannot_be_smoothed_is_taken_as_it_is(monkeypatch):
    """A fit of a tail without a positive scale leaves NaN for weights."""
    from arviz_stats.base import array_stats

    density = np.random.default_rng(0).normal(size=(3, 200))
    kept = array_stats.psislw

    def psislw(x, **options):
        weights, shapes = kept(x, **options)
        weights[1, :20] = np.nan
        return weights, shapes

    expected = smoothed_weights(density, 1.0)[0]
    monkeypatch.setattr(array_stats, "psislw", psislw)
    found = smoothed_weights(density, 1.0)[0]
    np.testing.assert_array_equal(found[[0, 2]], expected[[0, 2]])
    np.testing.assert_allclose(found[1], -density[1] - logsumexp(-density[1]))


def test_sense_info(fitted):
    """Shares over the training snippets, and what two senses have in common."""
    table = fitted.sense_info(3)
    for found in (table, fitted.prevalence_info(), fitted.prevalence_change(0, 1810, 1830)):
        # nobody can see that units were left out but by what is printed
        assert "snippets are treated as independent" in repr(found)
        assert found.source.endswith(", independent")
    assert "independent" not in repr(fitted.sense_words(3))
    cells = fitted._cells / fitted._cells.sum()
    shares = np.einsum("gt,sgtk->sk", cells, fitted.posterior_.flat("prevalence"))
    np.testing.assert_allclose(table.share, shares.mean(axis=0))
    assert table.words.shape == (K, 3) and len(table) == K
    np.testing.assert_allclose(np.diagonal(table.overlaps), 1.0)
    others = table.overlaps - 2 * np.eye(K)
    np.testing.assert_array_equal(table.overlap, others.max(axis=1))
    np.testing.assert_array_equal(table.nearest, others.argmax(axis=1))
    relevant = fitted.sense_words(3, rank="relevant")
    np.testing.assert_array_equal(table.words, relevant.words)
    assert "(in order of relevance, not of probability)" in repr(relevant)
    assert "in order of" not in repr(fitted.sense_words(3))
    # of words that no two senses share, and of one sense given twice
    mean = np.eye(2)[:, None]
    np.testing.assert_array_equal(overlaps_of(mean), np.eye(2))
    paths = np.array([[[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.2, 0.5, 0.3]]])
    assert lasting_of(paths, 0, 2).tolist() == [0.7]
    assert lasting_of(paths, 0, 0).tolist() == [1.0]
    table = replace(fitted.sense_info(3), lasting=np.array([0.0, 1.0]))
    assert "(sense 0: lasting is below overlap, so its words" in repr(table)
    np.testing.assert_array_equal(overlaps_of(mean[[0, 0]]), np.ones((2, 2)))


def test_representative_snippets(fitted, snippets):
    given = {"times": snippets.years, "genres": snippets.styles}
    proba = fitted.predict_proba(snippets.counts, **given)
    texts = [f"snippet {i}" for i in range(N)]
    found = fitted.representative_snippets(snippets.counts, n=3, texts=texts, period=1820, **given)
    in_period = np.where(snippets.years[:, None] == 1820, proba, -1.0)
    assert set(found.times) == {1820} and "spread" not in repr(found)
    assert list(found.groups) == [k for k in range(K) for _ in range(3)]
    for k in range(K):
        rows = found.index[found.groups == k]
        np.testing.assert_array_equal(rows, np.argsort(-in_period[:, k], kind="stable")[:3])
        np.testing.assert_allclose(found.mean[found.groups == k], proba[rows, k])
        draws = fitted.sample_transform(
            snippets.counts, fitted.posterior_.n_draws * fitted.posterior_.n_chains, **given
        )
        wanted = hdi_interval(draws[:, rows, k], prob=0.9)
        np.testing.assert_allclose(found.interval[found.groups == k], wanted)
    assert list(found.texts) == [texts[i] for i in found.index]
    columns = ["sense", "snippet", "time", "period", "mean", "low", "high", "text"]
    assert found.to_frame().columns.tolist() == columns
    np.testing.assert_array_equal(found.times, np.asarray(snippets.years)[found.index])
    assert f"snippet {found.index[0]}" in repr(found)
    interval = np.tile([0.9, 1.0], (len(found.mean), 1))
    outside = replace(found, mean=np.full(len(found.mean), 0.5), interval=interval)
    assert f"(in {len(found.mean)} rows the mean is outside the interval" in repr(outside)
    one = fitted.representative_snippets(snippets.counts, 1, n=2, **given)
    assert len(one) == 2 and set(one.groups) == {1} and one.texts is None


@pytest.mark.parametrize("n", [2, 3, 4, 40])
def test_snippets_are_spread_over_periods(fitted, snippets, n):
    given = {"times": snippets.years, "genres": snippets.styles}
    proba = fitted.predict_proba(snippets.counts, **given)
    has_words = np.asarray(snippets.counts.sum(axis=1)).ravel() > 0
    found = fitted.representative_snippets(snippets.counts, n=n, **given)
    for k in range(K):
        with_sense = has_words & (proba.argmax(axis=1) == k)
        part = -(-n // np.unique(snippets.times[with_sense]).size)
        # one after the other, without those of periods that have had their part
        order = [int(i) for i in np.argsort(-proba[:, k], kind="stable") if has_words[i]]
        taken, n_in = [], dict.fromkeys(range(T), 0)
        for i in order:
            if with_sense[i] and n_in[snippets.times[i]] < part and len(taken) < n:
                taken.append(i)
                n_in[snippets.times[i]] += 1
        taken += [i for i in order if i not in taken][: n - len(taken)]
        rows = found.groups == k
        expected = sorted(taken, key=order.index)
        np.testing.assert_array_equal(found.index[rows], expected)
        labels = [fitted.periods_.labels[snippets.times[i]] for i in expected]
        assert found.periods[rows].tolist() == labels and found.per_period[k] == part
    assert "(spread over periods: at most" in repr(found)


def test_snippets_that_say_the_same_have_one_row(fitted, snippets):
    found = fitted.representative_snippets(snippets.counts, n=N, texts=["same"] * N)
    # without times and genres all are of one place
    assert len(found) == K and set(found.copies) == {N} and "copies" in repr(found)
    given = {"times": snippets.years, "genres": snippets.styles, "texts": ["same"] * N}
    places = len({*zip(snippets.years, snippets.styles, strict=True)})
    assert len(fitted.representative_snippets(snippets.counts, 0, n=N, **given)) <= places


def test_long_texts_are_cut_around_the_word(fitted, snippets):
    def printed(text, **more):
        texts = [f"{i} {text}" for i in range(N)]
        found = fitted.representative_snippets(snippets.counts, 0, n=1, texts=texts, **more)
        assert found.texts[0].endswith(text)
        return found, repr(found).splitlines()[3].split("]  ")[1], repr(found)

    text = f"{'before ' * 40}Bank, {'after ' * 90}end"
    _, line, whole = printed(text)
    assert len(line) <= 120 and line[:3] == line[-3:] == "..." and set(line[3:-3].split()) <= {
        "before", "Bank,", "after"}  # fmt: skip
    assert "Bank" not in line and "(texts cut around their middle" in whole
    for target in ("bank", ["banks", "bank"]):
        _, line, whole = printed(text, target=target, width=40)
        assert len(line) <= 40 and "before Bank, after" in line and "cut" not in whole
    assert printed("the banks of it " * 20, target="banks")[1].count("banks") > 5
    assert printed(text, target="nowhere")[1] == printed(text)[1]
    _, line, whole = printed(text, width=1000)
    assert line.endswith(text) and "cut" not in whole
    assert printed("Bank " + "after " * 60, target="bank")[1].split()[1] == "Bank"
    for name, value in (("width", 5), ("width", "wide"), ("target", 3), ("target", [])):
        with pytest.raises(ValueError, match=f"{name} must be"):
            printed(text, **{name: value})


def test_a_random_sample_of_snippets(fitted, snippets):
    best = fitted.predict(snippets.counts)
    found, again, other = (
        fitted.representative_snippets(snippets.counts, n=6, random=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(found.index, again.index)
    assert len(found) == 6 and set(found.index) != set(other.index)
    np.testing.assert_array_equal(found.groups, best[found.index])
    assert "drawn at random" in repr(found)


def test_representative_snippets_refuse(fitted, snippets):
    with pytest.raises(
        ValueError, match=f"texts must be one for each of the {N} snippets of X, got 1"
    ):
        fitted.representative_snippets(snippets.counts, texts=["one"])
    with pytest.raises(ValueError, match=f"sense must be a number from 0 to {K - 1}"):
        fitted.representative_snippets(snippets.counts, K)
    for group in ("river", 0):
        with pytest.raises(TypeError, match=f"X must be the snippets .*: sense={group!r}"):
            fitted.representative_snippets(group)
    with pytest.raises(ValueError, match="no snippet with a word"):
        fitted.representative_snippets(snippets.counts * 0)
    with pytest.raises(ValueError, match="period=1820 needs times= of the snippets, got None"):
        fitted.representative_snippets(snippets.counts, period=1820)
    with pytest.raises(ValueError, match="period=1900 is in no period"):
        fitted.representative_snippets(snippets.counts, period=1900, times=snippets.years)
    with pytest.raises(ValueError, match="got 1820, which has none"):
        fitted.representative_snippets(snippets.counts, period=1820, times=np.full(N, 1810))


def test_changes_within_a_period_are_refused(fitted):
    with pytest.raises(ValueError, match="start and end must be in different periods, got "):
        fitted.prevalence_change(0, 1806, 1808)


def test_a_second_mode_that_matters_is_told_of(fitted, monkeypatch):
    monkeypatch.setitem(fitted.posterior_.attrs, "converged", True)
    told = "more than one mode of the posterior matters; this is about the one found heaviest"
    for n_modes in (1, 2):
        monkeypatch.setitem(fitted.posterior_.attrs, "modes_that_matter", n_modes)
        change = fitted.prevalence_change(0, 1810, 1830)
        info = fitted.prevalence_info()
        tables = change, info, fitted.sense_info(), fitted.emergence(0, 0.5), fitted.sense_words()
        sentences = change.sentence, *info.sentences.values()
        for text in map(repr, tables):
            assert (told in text) == (n_modes > 1)
        for sentence in sentences:
            assert (told[1:] in sentence) == (n_modes > 1)
        assert ("in one of several modes" in change.source) == (n_modes > 1)

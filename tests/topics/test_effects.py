"""Effects of covariates on topic shares."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import stdtrit

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.numeric.autocorrelation import LeastSquaresInTime
from skbayesembed.posterior.sentences import with_signs
from skbayesembed.topics import regressing
from tests.helpers.extras import optional

pd = optional("pandas")

K = 3


@pytest.fixture(scope="module")
def data():
    topics = make_topics(60, 80, K, mean_length=40, separation=4.0, random_state=0)
    rng = np.random.default_rng(1)
    x = np.arange(60) % 2.0
    theta = np.array([rng.dirichlet([1 + 2 * v, 2 - v, 1]) for v in x])
    counts = np.array([rng.multinomial(40, t @ topics.word_proba) for t in theta], dtype=float)
    counts[7] = 0
    return topics.vectors, counts, x, np.arange(60) // 3


@pytest.fixture(scope="module")
def model(data):
    vectors, counts, *_ = data
    return GaussianLDA(
        K, embedding=vectors, solver="vi", draws=40, min_count=1, random_state=0
    ).fit(counts)  # fmt: skip


def test_table(model, data):
    _, counts, x, units = data
    frame = pd.DataFrame({"woman": x, "year": np.random.default_rng(0).normal(size=60)})
    table = model.effects(sparse.csr_array(counts), frame, units)
    assert table.terms.tolist() == ["(intercept)", "woman", "year"]
    assert table.mean.shape == table.sd.shape == table.p_value.shape == (3, K)
    assert table.interval.shape == (3, K, 2) and table.draws.shape == (1000, 3, K)
    assert (table.n_units, table.n_documents) == (20, 59)
    np.testing.assert_allclose(table.sd, np.hypot(table.sd_sampling, table.sd_topics))
    reach = table.sd * stdtrit(table.freedom, 0.95)
    np.testing.assert_allclose(table.interval[..., 1] - table.mean, reach)
    assert np.all((table.interval[..., 0] > 0) == ((table.mean > 0) & (table.p_value < 0.1)))
    # shares add up to one, and effects to nothing
    np.testing.assert_allclose(table.mean.sum(axis=1), [1, 0, 0], atol=0.02)
    # 1,000 draws: five standard errors
    np.testing.assert_allclose(
        table.draws.mean(axis=0), table.mean, atol=5 * table.sd.max() / np.sqrt(1000)
    )
    np.testing.assert_allclose(table.draws.std(axis=0), table.sd, rtol=5 / np.sqrt(2000))
    assert "vectors taken as known" in repr(table) and "not mixed" not in repr(table)
    # of each row but those of the constant, in their order
    keys = zip(table["topic"].tolist(), table["term"].tolist(), strict=True)
    assert list(table.sentences) == [key for key in keys if key[1] != "(intercept)"]
    said = table.sentences[1, "woman"]
    _, low, high = with_signs(table.mean[1, 1], table.interval[1, 1], table.sd[1, 1])
    assert said.startswith("The mean share of topic 1 (")
    assert f"{low} to {high}, p " in said
    assert ") where 'woman' is 1 rather than 0, the other terms held constant" in said
    assert "with a one-unit increase in 'year'" in table.sentences[1, "year"]
    assert said.endswith(
        " The interval allows for the sampling of 20 units; the regression has 59 documents. Word "
        "vectors are taken as known; the uncertainty of the topics is by variational inference, "
        "and probably too small; units are treated as independent."
    )
    # of the fit by variational inference, and of a document without a known word
    assert "(59 documents from 20 units; 1 document without a known word left out;" in repr(table)
    assert "(the uncertainty of the topics is by variational" in repr(table)
    many = replace(table, n_left_out=5, variational=False)
    assert "by variational" not in repr(many) + many.sentences[1, "woman"]
    assert (
        " 59 documents, and leaves out 5 documents without a known word. Word v"
        in (many.sentences[1, "woman"])
    )
    woman = model.effects(counts, pd.get_dummies(np.where(x > 0, "f", "m"), drop_first=True), units)
    assert "where 'm' is 1 rather than 0" in woman.sentences[1, "m"]
    of_point = replace(table, unmixed=np.array([1])).sentences[1, "woman"]
    assert "(no interval)" in of_point and "not mixed" in of_point
    assert "90% interval" not in of_point and "p =" not in of_point
    some = replace(table, unmixed=np.array([0, 2]))
    assert some["mixed"].tolist() == (~np.isin(some["topic"], [0, 2])).tolist()
    beside = "2 of 3 topics have not mixed, and what is said of others holds beside them"
    assert beside in some.sentences[1, "woman"] and f"({beside}" in repr(some)
    assert beside not in table.sentences[1, "woman"] + repr(table)
    some = repr(some)
    assert "topics 0, 2 as points" in some and some.count("  0* ") == some.count("  2* ") == 3
    np.testing.assert_array_equal(table.to_frame()["df"], table.freedom.ravel())
    assert "term woman" in repr(table) and "59 documents from 20 units" in repr(table)
    assert "(df: degrees" not in repr(replace(table, freedom=np.minimum(table.freedom, 20.0)))
    assert "(df: degrees of freedom; more than units where" in repr(
        replace(table, freedom=table.freedom + 20.0)
    )
    assert table.to_frame().columns[:2].tolist() == ["term", "topic"]
    again = model.effects(counts, frame, units)
    np.testing.assert_array_equal(again.draws, table.draws)


@pytest.mark.parametrize("shares", ["unbiased", "posterior"])
def test_planted_effects(model, data, shares):
    """The topic of the largest effect gains; a wide margin, of four standard errors and more."""
    _, counts, x, units = data
    table = model.effects(counts, x, units, shares=shares)
    assert table.mean[1].max() > 4 * table.sd[1, table.mean[1].argmax()]
    narrow = model.effects(counts, x, units, shares=shares, prob=0.5).interval
    assert np.all(np.diff(narrow) < np.diff(table.interval))


@pytest.mark.slow
def test_effects_in_time(model, data):
    """Shares that follow a walk: neighbors correlate, and effects of another walk are not known."""
    vectors, counts, x, units = data
    table = model.effects(counts, x, units, times=1900 + units)
    assert table.autocorrelation.shape == table.trend.shape == (K,)
    assert np.all(np.abs(table.autocorrelation) < 0.5) and np.all(
        (table.trend > 0) & (table.trend < 1)
    )
    assert "(residuals of neighboring units in time correlate at " in repr(table)
    for topic, chance in enumerate(table.autocorrelated):
        clause = "autocorrelation in time is allowed for, though no positive one was found"
        if chance >= 0.1:
            clause = "autocorrelation in time, neither found nor ruled out, is allowed for"
        if chance >= 0.5:
            clause = "autocorrelation in time is allowed for"
        assert table.sentences[topic, "x0"].endswith(f"; {clause}.")
    # the level of what is autocorrelated is hardly known: there are no rows of the constant
    assert set(table["term"]) == {"x0"} and len(table) == K
    assert "(intercept)" not in repr(table) and table.terms.tolist() == ["(intercept)", "x0"]
    np.testing.assert_array_equal(table["mean"], table.mean[1])
    np.testing.assert_array_equal(table["low"], table.interval[1, :, 0])
    assert "(x0: a covariate without a name; " in repr(table)
    plain = model.effects(counts, x, units)
    # of independent units about the same
    np.testing.assert_allclose(table.mean[1], plain.mean[1], atol=0.5 * plain.sd[1].max())
    np.testing.assert_allclose(table.sd[1], plain.sd[1], rtol=0.4)
    np.testing.assert_allclose(table.draws.std(axis=0), table.sd, rtol=5 / np.sqrt(2000))
    rng, proba = np.random.default_rng(3), model.components_
    walk, other = np.cumsum(rng.normal(size=(2, 20)), axis=1)
    theta = np.stack([np.exp(walk), np.ones(20), np.ones(20)], axis=1)
    theta /= theta.sum(axis=1, keepdims=True)
    drifting = np.zeros_like(counts)
    drifting[:, model._columns] = [rng.multinomial(200, t @ proba) for t in theta[units]]
    options = {"design": {"other": other[units], "year": units}, "units": units}
    found = model.effects(drifting, **options, times=units)
    assert found.autocorrelation.max() > 0.2 and np.isnan(found.trend).all()
    # nothing is said of a line where the year is a term
    assert "straight line" not in repr(found)
    apart = model.effects(drifting, **options)
    assert found.sd[1].max() > apart.sd[1].max()


def test_effects_in_time_add_up():
    """As shares of a document do, in every draw of the topics; the least certain move most."""
    rng = np.random.default_rng(0)
    found, variances = rng.normal(size=(7, 3, 4)), rng.gamma(1.0, size=(7, 3, 4))
    variances[:, :, 2] = 0.0
    total = np.array([False, True, False])
    moved = found + (shift := regressing._adding_up(found, variances, total))
    np.testing.assert_allclose(moved.sum(axis=-1), np.tile(total, (7, 1)), atol=1e-12)
    assert not shift[..., 2].any()
    np.testing.assert_allclose(shift[..., 0] * variances[..., 1], shift[..., 1] * variances[..., 0])
    # of the combinations that add up, that which is nearest, by these variances
    other = np.array([0.1, -0.3, 0.0, 0.2])
    far = [np.sum((moved + step * other - found)[..., [0, 1, 3]] ** 2 / variances[..., [0, 1, 3]])
           for step in (-0.01, 0.0, 0.01)]  # fmt: skip
    assert far[1] < min(far[0], far[2])
    # nothing moves where they add up
    assert np.abs(regressing._adding_up(moved, variances, total)).max() < 1e-12


def test_draws_of_effects_in_time_are_about_effects_that_add_up():
    """Topics with correlations of their own; of two, which mirror each other, nothing moves."""
    rng, index = np.random.default_rng(1), np.repeat(np.arange(24), 2)
    slow, x = np.cumsum(rng.normal(size=(2, 24)), axis=1)[:, index]
    fast = rng.normal(size=(2, 48))
    design = SimpleNamespace(
        matrix=np.column_stack([x, np.ones(48)]), terms=np.array(["x", "(intercept)"])
    )
    units = SimpleNamespace(index=index, n_units=24)

    def regress(shares):
        rng = np.random.default_rng(0)
        return regressing._in_time(design, units, index.astype(float), shares, 500, rng)

    three = [np.column_stack([slow, e, 1 - slow - e]) for e in fast]
    found, variances, draws, freedom, facts = regress(three)
    np.testing.assert_allclose(found.sum(axis=-1), [[0, 1]] * 2, atol=1e-12)
    assert draws.shape == (2, 500, 2, 3) and freedom.shape == (2, 3)
    assert facts["autocorrelated"].shape == (3,)
    # five Monte Carlo errors
    error = np.sqrt(variances / 500)
    assert np.all(np.abs(draws.mean(axis=1) - found) < 5 * error)
    for topic in range(3):
        alone = [np.column_stack([s[:, topic], 1 - s[:, topic]]) for s in three]
        mirrored = regress(alone)
        np.testing.assert_allclose(
            mirrored[0][..., 0] + mirrored[0][..., 1], [[0, 1]] * 2, atol=1e-9
        )
        # standard errors are those of each topic by itself
        np.testing.assert_allclose(mirrored[1][..., 0], variances[..., topic], rtol=1e-6)
        fit = LeastSquaresInTime(
            design.matrix, np.mean([s[:, topic] for s in three], axis=0), index, index.astype(float)
        )
        by_itself = fit.fit(np.column_stack([s[:, topic] for s in three]))[0].T
        np.testing.assert_allclose(mirrored[0][..., 0], by_itself, atol=1e-9)
        assert np.abs(found[..., topic] - by_itself).max() > 1e-4


def test_digits_follow_standard_errors(model, data):
    """An effect per small step has two digits of its standard error in print."""
    _, counts, x, units = data
    table = model.effects(counts, {"seconds": 1e4 * x}, units)
    digits = 1 - int(np.floor(np.log10(table.sd[1].min())))
    assert digits > 4 and f"{table.mean[1, 0]:+.{digits}f}" in repr(table)
    said = table.sentences[0, "seconds"]
    assert f" by {abs(table.mean[1, 0]):.2e} (90% " in said.replace("by +", "by ").replace(
        "by -", "by "
    )


def test_digits_are_those_of_a_term(model, data):
    """The constant of years is exact to a tenth at most, and effects beside it to their errors."""
    _, counts, x, units = data
    year = 1850.0 + np.arange(60)
    table = model.effects(counts, {"woman": x, "year": year, "cube": year**3}, units)
    blocks = repr(table).split("term ")[1:]
    # three digits of the smallest standard error
    for mean, sd, block in zip(table.mean[:3], table.sd, blocks, strict=False):
        digits = max(2 - int(np.floor(np.log10(sd.min()))), 0)
        assert f" {mean[0]:+.{digits}f} " in block
    assert table.sd[0].min() > 10 and table.sd[1].min() < 0.1


def test_terms_that_others_explain(model, data):
    _, counts, x, units = data
    twin = x + 1e-3 * np.random.default_rng(0).normal(size=60)
    table = model.effects(counts, {"woman": x, "twin": twin, "age": np.arange(60) % 7}, units)
    kept = counts.sum(axis=1) > 0
    shared = np.corrcoef(np.array([x, twin, np.arange(60) % 7])[:, kept])
    np.testing.assert_allclose(table.explained[1:], 1 - 1 / np.diag(np.linalg.inv(shared)))
    line = "(explained by the other terms: over 99 % of woman, over 99 % of twin; effects rest on"
    assert line in repr(table) and np.isnan(table.explained[0])
    assert "explained by" not in repr(model.effects(counts, {"woman": x}, units))


def test_sentences_of_topics_with_names(model, data):
    """Their numbers are read, too."""
    _, counts, x, _ = data
    table = model.effects(counts, {"woman": x})
    with pytest.raises(KeyError, match=r"no sentence of 'woman'; .* of \(0, 'woman'\), \(1, "):
        table.sentences["woman"]
    named = replace(table, names=np.array(["war", "1", "peace"]))
    assert named.sentences[2, "woman"] == named.sentences["peace", "woman"]
    assert list(named.sentences) == [("war", "woman"), ("1", "woman"), ("peace", "woman")]


def test_copies_of_documents_are_one_unit(model, data):
    """A document given three times tells as much as once, if copies are one unit."""
    _, counts, x, _ = data
    kept = np.flatnonzero(counts.sum(axis=1))
    once = model.effects(counts[kept], x[kept], kept)
    thrice = model.effects(
        np.repeat(counts[kept], 3, axis=0), np.repeat(x[kept], 3), np.repeat(kept, 3)
    )
    np.testing.assert_allclose(thrice.mean, once.mean, atol=1e-9)
    np.testing.assert_allclose(thrice.sd_sampling, once.sd_sampling, rtol=1e-6)
    alone = model.effects(np.repeat(counts[kept], 3, axis=0), np.repeat(x[kept], 3))
    np.testing.assert_allclose(alone.sd_sampling, once.sd_sampling / np.sqrt(3), rtol=0.05)


def test_one_topic_is_refused(data):
    """Its share is 1 in every document: what is left is rounding, and no effect."""
    vectors, counts, x, _ = data
    model = GaussianLDA(1, embedding=vectors, solver="vi", min_count=1, random_state=0).fit(counts)
    with pytest.raises(ValueError, match=r"two topics or more.*n_components=1.*share is 1"):
        model.effects(counts, x)


def test_rounding_is_no_effect(model, data, monkeypatch):
    _, counts, x, _ = data
    noise = np.random.default_rng(0).normal(0, 1e-9, size=(59, K)) + 5e-9 * np.delete(x, 7)[:, None]
    monkeypatch.setattr(regressing, "unbiased_shares", lambda *_: [0.3 + noise] * 40)
    table = model.effects(counts, x)
    assert np.all(table.p_value[1] == 1) and np.all(table.p_value[0] < 1e-6)
    assert np.all(table.interval[1, :, 0] <= 0) and np.all(table.interval[1, :, 1] >= 0)
    assert "is not decided" in table.sentences[0, "x0"]


def test_constant_beyond_shares(model, data):
    _, counts, x, units = data
    table = model.effects(counts, x, units)
    interval = table.interval.copy()
    interval[0] = [[0.1, 0.2], [0.9, 1.1], [-0.1, 0.3]]
    found = repr(replace(table, interval=interval))
    assert "the interval of topics 1 and 2 reaches beyond 0 to 1" in found
    # of topics that have not mixed there are no intervals, and names may have an "and"
    names = np.array(["trade", "war and peace", "law"])
    changed = replace(table, interval=interval, unmixed=np.array([2]), names=names)
    assert "the interval of topic war and peace reaches beyond 0 to 1" in repr(changed)
    changed = replace(changed, off_zero=table.terms != "(intercept)")
    assert "no share of topic war and peace; subtract" in repr(changed)
    interval[0] = [0.1, 0.2]
    assert "beyond 0 to 1" not in repr(replace(table, interval=interval))


@pytest.mark.filterwarnings("ignore:Residuals of neighboring")
def test_constant_of_terms_that_are_far_from_zero(model, data):
    """That of the year 0 is no share: a line says to center, which makes it one."""
    _, counts, x, _ = data
    year = 1850.0 + np.arange(60)
    raw = model.effects(counts, {"year": year, "woman": x})
    assert raw.off_zero.tolist() == [False, True, False]
    line = "(constant, the mean share where 'year' is zero, as it is in no document: no share of"
    assert line in repr(raw) and "subtract its mean" in repr(raw)
    centered = model.effects(counts, {"year": year - year.mean(), "woman": x})
    assert not centered.off_zero.any() and "subtract" not in repr(centered)
    np.testing.assert_allclose(centered.mean[1:], raw.mean[1:], atol=1e-8)
    in_time = model.effects(counts, {"year": year, "woman": x}, times=year)
    assert "subtract" not in repr(in_time)


def test_few_units_are_warned_of(model, data):
    _, counts, x, _ = data
    units = np.repeat(np.arange(4), 15)
    leader = {"leader": (units == 0) | (units == 1)}
    few = r"are few for 1 term: .*'leader' has \d\.\d degrees of .*: more units are needed\.$"
    with pytest.warns(UserWarning, match=few):
        table = model.effects(counts, leader, units)
    line = "(fewer than 4 df or 2 units per term: do not rely on intervals and p-values)"
    assert line in repr(table)
    assert line not in repr(model.effects(counts, {"woman": x}))


def test_refused(model, data):
    _, counts, x, units = data
    for arguments, options, message in (
        ((x[1:],), {}, "a row for each of the 60 documents"),
        ((x, units[1:]), {}, "one label for each of the 60 documents"),
        (
            (x, np.zeros(60)),
            {},
            r"two or more.* Leave units out: .* independent documents, which say nothing of other",
        ),
        ((x,), {"shares": "mean"}, "shares must be one of 'unbiased', 'posterior'"),
        ((x,), {"n_draws": 0}, "n_draws must be an integer >= 1"),
        ((x,), {"prob": 1}, "prob must be"),
        ((np.eye(60)[7],), {}, "independent columns"),
        (({"one": np.ones(60)},), {}, "design must have columns that vary, got 1 in all 60 doc"),
        ((x,), {"times": x[1:]}, "times must .* 60"),
        ((x,), {"times": np.ones(60)}, "times must have two different values or more, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            model.effects(counts, *arguments, **options)


def test_topics_that_are_known_are_told_of():
    """One draw of them leaves their uncertainty out."""
    made = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
    model = GaussianLDA(2, embedding=made.vectors, solver="map", random_state=0).fit(made.counts)
    table = model.effects(made.counts, {"year": np.arange(40.0)})
    assert table.known_topics and not table.sd_topics.any()
    assert "(topics are taken as known: intervals leave out their uncertainty)" in repr(table)
    assert "opics are taken as known" in table.sentences[0, "year"]
    drawn = model.set_params(solver="vi").fit(made.counts)
    assert not drawn.effects(made.counts, {"year": np.arange(40.0)}).known_topics
    # few units are told of in what is copied, as in the table
    with pytest.warns(UserWarning, match="do not rely on"):
        table = drawn.effects(made.counts, {"side": np.arange(40) // 20}, units=np.arange(40) // 10)
    assert "do not rely on intervals and p-values" in table.sentences[0, "side"]


def test_posterior_shares_of_known_topics_are_not_those_of_one_draw():
    """With one draw of shares the order of documents moved effects by half a standard error."""
    data = make_topics(n_documents=60, n_words=30, n_topics=3, n_dims=3, random_state=0)
    model = GaussianLDA(3, embedding=data.vectors, solver="map", random_state=0).fit(data.counts)
    x = np.random.default_rng(0).normal(size=60)
    found = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(60)
        table = model.effects(data.counts[order], {"x": x[order]}, shares="posterior")
        assert table.known_topics
        found.append(table.mean[1])
    assert np.ptp(found, axis=0).max() < 0.25 * table.sd[1].min()


@pytest.mark.parametrize("n_chains", [2, 4])
def test_effects_on_which_chains_agree_are_settled(monkeypatch, n_chains):
    """A quarter of those between whose chains there is half a standard error, by construction.

    Of 4,000 effects: within four Monte Carlo errors, .027. Where chains are alike, nearly all.
    """
    rng = np.random.default_rng(0)
    posterior = SimpleNamespace(n_draws=100, n_runs=1, n_chains=n_chains)
    chosen = np.arange(0, 100 * n_chains, 8)
    monkeypatch.setattr(regressing, "topics_apart", lambda posterior: np.arange(3999))

    def share(between, within):
        places = between * rng.normal(size=(n_chains, 1, 4000))[chosen // 100]
        found = places + within * rng.normal(size=(chosen.size, 1, 4000))
        settled = regressing._settled(posterior, found, np.ones((1, 4000)), chosen)
        # the last topic is not one of those that may be
        assert not settled[0, -1]
        return settled.mean()

    assert abs(share(0.5, 0.0) - 0.25) < 0.03
    assert share(0.5, 0.2) < 0.28 and share(2.0, 0.0) < 0.08
    assert share(0.0, 0.1) > 0.98


def test_settled_effects_have_intervals(model, data):
    """Of topics that have not mixed those alone on which chains agree."""
    _, counts, x, units = data
    table = model.effects(counts, {"woman": x > 0, "x": np.arange(60.0)}, units)
    settled = np.zeros(table.mean.shape, bool)
    settled[1, 1] = True
    some = replace(table, unmixed=np.array([1, 2]), settled=settled)
    assert some.withheld.sum() == 5 and not some.withheld[1, 1]
    frame = some.to_frame()
    assert frame["mixed"].tolist() == (~some.withheld).ravel().tolist()
    assert "90% interval" in some.sentences[1, "woman"]
    assert "but agree on the effect" in some.sentences[1, "woman"]
    assert "(no interval)" in some.sentences[1, "x"] and "(no interval)" in some.sentences[2, "x"]
    assert "(topic 1: chains have not mixed on the share, but agree on the effects" in repr(some)
    assert "read what has no interval as a point" in repr(some)

"""Bounds, traces and ranks."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.stats import hypergeom

from skbayesembed import GaussianLDA, Posterior
from skbayesembed.datasets import make_topics
from skbayesembed.plotting import ELBODisplay, RankDisplay, TraceDisplay
from skbayesembed.plotting.ranks import even_band, ranks, slowness_of


def test_the_path_of_the_bound(variational):
    display = ELBODisplay.from_estimator(variational, start=2)
    x, y = display.line_.get_data()
    np.testing.assert_array_equal(y, variational.elbo_[2:])
    assert x[0] == 3 and x[-1] == len(variational.elbo_)
    with pytest.raises(ValueError, match="start must be below"):
        display.plot(start=len(variational.elbo_))


def test_the_axis_of_a_bound_that_is_a_mean_of_iterations():
    """As of senses, each entry of hundred."""
    display = ELBODisplay([-9.0, -5.0, -4.0], every=100).plot(start=150)
    np.testing.assert_array_equal(display.line_.get_xdata(), [200, 300])
    np.testing.assert_array_equal(display.line_.get_ydata(), [-5.0, -4.0])
    assert display.ax_.get_xlabel() == "iteration (means of 100)"
    with pytest.raises(ValueError, match="start must be below 300 iterations, got 300"):
        display.plot(start=300)


def test_chains_have_no_bound_and_bounds_no_chains(variational, sampled, monkeypatch):
    with pytest.raises(ValueError, match="got solver='gibbs': see TraceDisplay"):
        ELBODisplay.from_estimator(sampled)
    for display in (TraceDisplay, RankDisplay):
        with pytest.raises(ValueError, match="got solver='vi': see ELBODisplay"):
            display.from_estimator(variational)
    monkeypatch.setitem(variational.posterior_.attrs, "solver_reason", "more words than it takes")
    with pytest.raises(ValueError, match="got solver='vi', which solver='auto' chose"):
        TraceDisplay.from_estimator(variational)


@pytest.fixture
def stuck():
    """Two entries that mix, one whose chains are apart, and one that never changes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 200, 4))
    x[1, :, 2] += 3.0
    x[:, :, 3] = 1.0
    dims, coords = {"x": ("word",)}, {"word": ["ant", "bee", "cat", "dog"]}
    return Posterior({"x": x}, stats={"lp": x[..., 0]}, dims=dims, coords=coords)


def test_traces_are_the_draws_of_the_worst_entries(stuck):
    display = TraceDisplay.from_posterior(stuck, "x", 1)
    (label,) = display.draws
    assert label == "x[cat]" and display.ax_.get_title("left").startswith("x[cat], R-hat\u00a0")
    for line, chain in zip(display.lines_[0], stuck["x"][:, :, 2], strict=True):
        np.testing.assert_array_equal(line.get_ydata(), chain)


def test_the_log_density_comes_first_and_what_never_changes_is_left_out(stuck):
    assert list(TraceDisplay.from_posterior(stuck, ["x", "lp"], 3).draws)[:2] == ["lp", "x[cat]"]
    assert "x[dog]" not in TraceDisplay.from_posterior(stuck, "x", 4).draws
    assert list(TraceDisplay.from_posterior(stuck).draws) == ["lp"]


def test_of_two_senses_the_first_is_shown_in_different_cells():
    first = np.random.default_rng(0).uniform(size=(2, 50, 1, 3))
    posterior = Posterior(
        {"prevalence": np.stack([first, 1 - first], axis=-1)},
        dims={"prevalence": ("genre", "period", "sense")},
        coords={"genre": ["all"], "period": ["1800", "1840", "1880"], "sense": [0, 1]},
    )
    found = TraceDisplay.from_posterior(posterior).draws
    labels = [f"prevalence[{period}, sense 0]" for period in (1800, 1840, 1880)]
    assert sorted(found) == labels
    np.testing.assert_array_equal(found[labels[1]], first[:, :, 0, 1])


def test_a_fit_shows_what_it_watches(sampled):
    display = TraceDisplay.from_estimator(sampled, n=2)
    pairs = [f"logit P({a}, {b})" for a in sampled.words_ for b in sampled.words_]
    assert set(display.draws) <= set(pairs)
    # each is the logit of the words that it is called by
    for label, draws in display.draws.items():
        target, context = (
            sampled.vocabulary_[w] for w in label.removeprefix("logit P(")[:-1].split(", ")
        )
        rho, alpha = (sampled.posterior_[name] for name in ("rho", "alpha"))
        logit = np.einsum("cdk,cdk->cd", rho[:, :, target], alpha[:, :, context])
        np.testing.assert_allclose(draws, logit, rtol=1e-5, atol=1e-6)
    assert len(display.axes_) == 2 and len(display.lines_[0]) == 2


def test_ranks_are_shares_in_bins(stuck):
    display = RankDisplay.from_posterior(stuck, "x", 1)
    draws = stuck["x"][:, :, 2]
    order = np.argsort(np.argsort(draws.ravel())).reshape(draws.shape)
    for chain, step in enumerate(display.steps_[0]):
        counts, _ = np.histogram(order[chain], bins=20, range=(0, draws.size))
        np.testing.assert_allclose(step.get_data().values, counts * 20 / 200)
    assert display.bands_ == [even_band(2, 200, slowness=slowness_of(draws))[:2]]
    share = even_band(2, 200)[2]
    assert f"gray: {100 * (1 - share):.0f} % of bins" in display.ax_.get_xlabel()


def test_a_band_that_is_wide_says_what_the_draws_are_worth():
    draws = np.cumsum(np.random.default_rng(0).normal(size=(2, 100)), axis=1)
    label = RankDisplay.from_posterior(Posterior({"x": draws})).ax_.get_xlabel()
    assert "draws are worth as few as " in label
    independent = np.random.default_rng(0).normal(size=(2, 400))
    label = RankDisplay.from_posterior(Posterior({"x": independent})).ax_.get_xlabel()
    assert "worth" not in label


@pytest.mark.parametrize("n_chains", [1, 2, 3])
def test_two_chains_are_said_to_mirror_each_other(n_chains):
    draws = np.random.default_rng(0).normal(size=(n_chains, 200))
    display = RankDisplay.from_posterior(Posterior({"x": draws}))
    label = display.ax_.get_xlabel()
    assert ("mirror each other" in label) == (n_chains == 2)
    assert ("gray: all bins are here, as there is one chain" in label) == (n_chains == 1)
    heights = [step.get_data().values for step in display.steps_[0]]
    np.testing.assert_allclose(np.mean(heights, axis=0), 1.0)


@pytest.mark.parametrize("shape", [(2, 300), (4, 1000), (3, 130)])
def test_the_band_holds_as_many_bins_of_independent_draws_as_it_says(shape):
    n_chains, n_draws = shape
    low, high, expected = even_band(*shape)
    # counts are whole: one bin's tails are jumps of 2 to 5 %, so that 10 % are met to within 4
    assert abs(expected - 0.1) < 0.04
    if shape == (2, 300):
        count = hypergeom(600, 30, 300)
        inside = [k for k in range(31) if low < k * 20 / 300 < high]
        np.testing.assert_allclose(count.pmf(inside).sum(), 1.0 - expected, rtol=1e-9)
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        shares = ranks(rng.normal(size=shape))
        found.append(((shares < low) | (shares > high)).mean())
        np.testing.assert_allclose(shares.mean(axis=1), 1.0)
    # four Monte Carlo standard errors of the mean of 200 sets
    assert abs(np.mean(found) - expected) < 4 * np.std(found) / 200**0.5


@pytest.mark.slow
def test_the_band_allows_for_autocorrelation():
    """As many bins are outside as of independent draws; chains apart are not taken for slow."""
    rng, outside = np.random.default_rng(0), {True: [], False: []}
    for _ in range(30):
        noise = rng.normal(size=(4, 1000))
        draws = np.zeros(noise.shape)
        for t in range(1, 1000):
            draws[:, t] = 0.9 * draws[:, t - 1] + noise[:, t]
        slowness = slowness_of(draws)
        assert 1.5 < slowness < 4.0
        for known in outside:
            low, high, expected = even_band(4, 1000, slowness=slowness if known else 1.0)
            shares = ranks(draws)
            outside[known].append(((shares < low) | (shares > high)).mean())
    assert abs(np.mean(outside[True]) - expected) < 0.06 < np.mean(outside[False]) - expected
    apart = rng.normal(size=(2, 200)) + [[0.0], [9.0]]
    low, high, _ = even_band(2, 200, slowness=slowness_of(apart))
    shares = ranks(apart)
    assert slowness_of(apart) < 1.5 and np.all((shares < low) | (shares > high))


def test_traces_show_the_likelihood_that_fit_warned_of(stuck):
    stats = {"lp": stuck["x"][..., 0], "log_likelihood": stuck["x"][..., 2]}
    posterior = Posterior({"x": stuck["x"]}, stats=stats)
    assert list(TraceDisplay.from_posterior(posterior).draws) == ["lp"]
    posterior.attrs["max_rhat_likelihood"] = 1.5
    display = TraceDisplay.from_posterior(posterior)
    assert list(display.draws) == ["log_likelihood"] and display.ax_.get_ylabel() == "log lik."


def test_vertical_axes_are_short():
    """Their labels overlap if long, and a power of ten beside them is hard to see."""
    rng = np.random.default_rng(0)
    share = "share of war, peace, and the trade between nations"
    display = TraceDisplay({
        "lp": -1234500.0 + rng.normal(0, 20, (2, 50)), share: rng.uniform(size=(2, 50))
    }).plot()  # fmt: skip
    assert [axes.get_ylabel() for axes in display.axes_] == ["lp", "share"]
    display.figure_.draw_without_rendering()
    axis = display.axes_[0].yaxis
    assert axis.get_offset_text().get_text() == ""
    assert all("1,234," in tick.get_text() for tick in axis.get_ticklabels())


@pytest.mark.parametrize(
    "spread",
    [
        0.003,
        pytest.param(0.05, marks=pytest.mark.slow),
        0.7,
        pytest.param(3.0, marks=pytest.mark.slow),
        20.0,
    ],
)
def test_labels_of_ticks_differ(spread):
    draws = -123456.0 + spread * np.random.default_rng(0).normal(size=(2, 50))
    display = TraceDisplay({"lp": draws, "x": np.zeros((2, 50))}).plot()
    display.figure_.draw_without_rendering()
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert len(labels) > 1 and len(set(labels)) == len(labels)


def test_lines_of_the_legend_can_be_told_apart(stuck):
    display = TraceDisplay.from_posterior(stuck)
    (legend,) = display.figure_.legends
    for line, drawn in zip(legend.legend_handles, display.lines_[0], strict=True):
        assert line.get_linewidth() > drawn.get_linewidth() and line.get_alpha() == 1.0
        assert line.get_color() == drawn.get_color()


def test_chains_that_do_not_move_have_no_digits():
    stuck = Posterior({"x": np.tile([[0.0], [1.0]], 50)})
    for display in (TraceDisplay, RankDisplay):
        title = display.from_posterior(stuck).ax_.get_title("left")
        assert title == "x, R-hat\u00a0more than 100, ESS\u00a02"


def test_a_single_chain_has_its_own_ranks():
    assert even_band(1, 200)[2] == 0.0
    np.testing.assert_allclose(ranks(np.random.default_rng(0).normal(size=(1, 200))), 1.0)


def test_unknown_names_are_refused(sampled):
    with pytest.raises(KeyError, match="names has 'beta'; available: rho, alpha"):
        TraceDisplay.from_estimator(sampled, "beta")


def test_answers_have_traces(sampled):
    display = TraceDisplay.from_estimator(sampled, pairs=[("ant", "bee"), (["ant", "fox"], "gnu")])
    assert list(display.draws) == ["ant, bee", "[ant, fox], gnu"]
    model = copy.copy(sampled)
    model.uncertainty = "model"
    drawn = model.similarity("ant", "bee").draws
    n_draws = sampled.posterior_.n_draws
    for chain, values in enumerate(display.draws["ant, bee"]):
        np.testing.assert_array_equal(values, drawn[chain * n_draws : (chain + 1) * n_draws])
    with pytest.raises(ValueError, match="names and pairs must not both"):
        TraceDisplay.from_estimator(sampled, "rho", pairs=[("ant", "bee")])


def test_chains_of_topics_show_their_shares():
    """What `fit` warns of can be seen."""
    data = make_topics(40, 30, 2, n_dims=2, separation=4.0, random_state=0)
    model = GaussianLDA(2, embedding=data.vectors, draws=30, warmup=20, random_state=0)
    model = model.fit(data.counts)
    display = TraceDisplay.from_estimator(model, "share", n=1)
    sizes = model.posterior_["counts"].sum(axis=-1)
    label = display.axes_[0].get_title("left").split(",")[0]
    assert label.startswith("share of topic ")
    found = np.array([line.get_ydata() for line in display.lines_[0]])
    shares = sizes / sizes.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found, shares[..., int(label.split()[-1])])

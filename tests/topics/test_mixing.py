"""Chains that go on while the shares of topics move slowly, and what is said of those that do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import GaussianLDA, Posterior
from skbayesembed.datasets import make_topics
from skbayesembed.topics import mixing, recording

pytestmark = pytest.mark.filterwarnings("ignore:The chains? ha(ve|s) not mixed")
FACTS = {"solver": "gibbs", "converged": None, "thin": 1, "warmup": 200, "draws_made": 100}


@pytest.fixture(scope="module")
def data():
    """Topics that lie on each other, so that shares move slowly."""
    return make_topics(60, 50, 3, n_dims=3, mean_length=30, separation=0.5, random_state=0)


def fitted(data, **options):
    model = GaussianLDA(
        3, embedding=data.vectors, draws=24, warmup=30, likelihood_power=0.2, random_state=0
    )
    if options.get("word_model") == "dirichlet":
        model.set_params(likelihood_power=1.0)
    return model.set_params(**options).fit(data.counts).posterior_


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.slow),
        {"word_model": "dirichlet"},
        pytest.param({"kernel": "alias"}, marks=pytest.mark.slow),
    ],
)
def test_chains_that_go_on_are_those_of_a_larger_thin(data, options, monkeypatch):
    monkeypatch.setattr(mixing, "apart", lambda found: False)
    monkeypatch.setattr(mixing, "wanted", lambda settings, n_chains: np.inf)
    options = {"draws": 10, "warmup": 10, "chains": 2, **options}
    direct = fitted(data, thin=16, **options)
    for n_jobs in (1, 2):
        longest = fitted(data, n_jobs=n_jobs, **options)
        assert longest.attrs["thin"] == 16
        for name in direct:
            np.testing.assert_array_equal(longest[name], direct[name])


@pytest.mark.slow
def test_chains_go_on_only_where_that_may_help(data, monkeypatch):
    plain = fitted(data, thin=1)
    monkeypatch.setattr(mixing, "wanted", lambda settings, n_chains: 0.0)
    enough = fitted(data)
    monkeypatch.setattr(mixing, "wanted", lambda settings, n_chains: np.inf)
    monkeypatch.setattr(mixing, "apart", lambda found: True)
    in_modes = fitted(data)
    monkeypatch.setattr(mixing, "apart", lambda found: False)
    visits = 2 * 24 * int(data.counts.sum()) * 3
    monkeypatch.setattr(mixing, "_MOST_VISITS", 5.0 * visits)
    large = fitted(data)
    for found in (enough, in_modes):
        assert found.attrs["thin"] == 1
        np.testing.assert_array_equal(found["counts"], plain["counts"])
    assert large.attrs["thin"] == 4


def test_apart_is_of_half_of_the_topics():
    assert mixing.apart(np.array([1.0, 1.6, 9.0]))
    assert mixing.apart(np.array([1.0, np.inf, np.inf]))
    assert not mixing.apart(np.array([1.0, 1.1, 9.0]))
    assert not mixing.apart(np.array([np.nan, np.nan]))


def posterior_of(shares, **facts):
    """Draws (chain, draw) of the share of the first of two topics, of 10,000 tokens."""
    counts = np.empty((*shares.shape, 2, 1))
    counts[..., 0, 0], counts[..., 1, 0] = 1e4 * shares, 1e4 * (1 - shares)
    return Posterior({"counts": counts}, attrs=FACTS | {"draws_made": shares.shape[1]} | facts)


def autoregression(rho, n_chains, n, rng):
    x = np.empty((n_chains, n))
    x[:, 0] = rng.normal(size=n_chains)
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=n_chains)
    return x


def test_the_advice_is_that_of_the_autocorrelation():
    """Draws of an autoregression are worth (1 - rho) / (1 + rho) of independent ones."""
    rng, n, rho = np.random.default_rng(0), 20_000, 0.95
    posterior = posterior_of(0.5 + 0.01 * autoregression(rho, 2, n, rng), warmup=100, thin=3)
    said = mixing.longer(posterior, np.array([0]))
    thin, warmup = map(int, re.match(r"take at least thin=(\d+), warmup=(\d+) ", said).groups())
    slowness = 3 * (1 + rho) / (1 - rho)
    # of 2 x 20,000 draws a time of 39 has an error of a tenth or so; rounded up to two digits
    assert warmup == pytest.approx(5 * slowness, rel=0.4)
    assert thin == 6, "there are draws enough, but chains that have not mixed are made longer"
    thins = []
    for _ in range(15):
        short = posterior_of(0.5 + 0.01 * autoregression(rho, 2, 200, rng), warmup=100, thin=3)
        said = mixing.longer(short, np.array([0]))
        thins.append(int(re.match(r"take at least thin=(\d+)", said)[1]))
    # that of 2 x 200 draws may be wrong by half, the middle of 15 is not
    assert np.median(thins) == pytest.approx(max(6, 20 * slowness / 200), rel=0.5)


@pytest.mark.parametrize(
    ("apart", "limits", "times"), [(0.65, (1.05, 1.1), 2), (1.2, (1.1, 1.3), 4), (1e3, (1.5, 9), 4)]
)
def test_the_advice_multiplies_where_r_hat_is_large(apart, limits, times):
    """Chains that are apart have about as many effective draws as chains, however slow they are."""
    noise = np.random.default_rng(0).normal(size=(2, 2, 100))
    # chains are as far apart as that, and halves of chains not at all
    noise -= noise.mean(axis=-1, keepdims=True)
    shares = 0.5 + 1e-4 * (noise.reshape(2, 200) + apart * np.array([[-0.5], [0.5]]))
    posterior = posterior_of(shares, warmup=1500, thin=15)
    found = recording.share_rhat(posterior)
    assert limits[0] < found[0] < limits[1]
    said = mixing.longer(posterior, np.array([0]))
    assert said.startswith(f"take at least thin={15 * times}, warmup={1500 * times} (it is 15 and")
    assert f"in {times} times the time (more may be needed" in said


def test_few_draws_with_a_large_r_hat_are_multiplied_too(capsys):
    posterior = posterior_of(0.5 + 0.01 * np.random.default_rng(0).random((2, 100)), thin=4)
    for rhat, thin in ((1.0, 5), (1.06, 8), (1.15, 16)):
        mixing.note_on_few(posterior, np.array([90.0, 90.0]), np.array([rhat, rhat]))
        assert f"thin={thin}, warmup={50 * thin if rhat > 1 else 230} " in capsys.readouterr().err


def test_what_chains_have_in_common_is_said():
    rng = np.random.default_rng(0)
    noise = 0.001 * autoregression(0.98, 2, 100, rng)
    near = noise + np.array([[0.5], [0.505]])
    with pytest.warns(ConvergenceWarning, match="split R-hat of the share") as caught:
        recording.diagnose(None, None, posterior_of(near))
    (said,) = [str(one.message) for one in caught]
    found = re.search(r"cosines of 1.00 or more\), and their shares differ by ([\d.]+) %", said)
    # 1 % apart, and the means of slow draws of 0.2 % each
    assert float(found[1]) == pytest.approx(1.0, abs=0.8)
    assert "The shares of these topics have no intervals, and effects on them only where" in said


def test_topics_that_stand_still_in_each_chain_are_told_of():
    """Their share has no effective draws of its own; what there is of advice is given."""
    rng = np.random.default_rng(0)
    counts = np.full((4, 100, 3, 2), 500.0)
    counts[..., 1, :] += rng.integers(0, 9, (4, 100, 2))
    counts[0, :, 0] += 3
    attrs = {"solver": "gibbs", "thin": 1, "warmup": 50, "draws_made": 100}
    posterior = Posterior({"counts": counts, "alpha": np.ones((4, 100, 3))}, attrs=attrs)
    said = mixing.longer(posterior, np.array([0]))
    assert "take at least thin=" in said and "nan" not in said

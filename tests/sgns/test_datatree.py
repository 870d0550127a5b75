"""Data trees: log likelihoods and priors against densities of chains, and ArviZ against `loo`."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, GraphPrior, PairCounts
from skbayesembed.posterior.summary import ess

pytest.importorskip("arviz_base")

pytestmark = pytest.mark.usefixtures("first_mode")

TEXTS = [[f"w{i}" for i in row] for row in np.random.default_rng(0).integers(8, size=(12, 10))]
SHORT = {"draws": 40, "warmup": 40, "chains": 2}


def fitted(X=TEXTS, **options):
    options = {"min_count": 1, "solver": "hmc", "prior_precision": 1.0, **SHORT, **options}
    with warnings.catch_warnings():
        # so few draws may not have mixed; what is tested holds for any
        warnings.simplefilter("ignore", ConvergenceWarning)
        return BayesianSGNS(2, random_state=0, **options).fit(X)


@pytest.fixture(scope="module")
def chains():
    return fitted()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior": GraphPrior([("w0", "w1", 2.0), ("w2", "w3")])},
        {"negative_sampling": "sampled", "negative": 2},
    ],
)
def test_likelihood_and_prior_sum_to_the_density_of_chains(options):
    model = fitted(**options, draws=15, warmup=20)
    tree = model.to_datatree(TEXTS)
    total = tree["log_likelihood"]["pairs"].sum("pair") + tree["log_prior"]["vectors"]
    apart = total.values - model.posterior_.stats["lp"]
    # the same but for a constant
    assert np.ptp(apart) < 1e-6 * np.abs(total.values).max()
    # units have no part in the likelihood, and are checked
    units = np.arange(len(TEXTS)) // 2
    by_word = model.to_datatree(TEXTS, units=units, observations="words")["log_likelihood"]["words"]
    with pytest.raises(ValueError, match="units must"):
        model.to_datatree(TEXTS, units=units[1:])
    assert list(by_word["target"].values) == list(model.words_)
    np.testing.assert_allclose(
        by_word.sum("target").values, tree["log_likelihood"]["pairs"].sum("pair").values
    )


def test_a_learned_precision_is_part_of_the_prior():
    model = fitted(solver="gibbs", prior_precision="learned")
    posterior = model.posterior_
    prior = model.to_datatree()["log_prior"]["vectors"].values
    tau = posterior["prior_precision"][..., 0]
    squares = sum(np.sum(posterior[name] ** 2, axis=(2, 3)) for name in ("rho", "alpha"))
    size = posterior["rho"][0, 0].size
    # Gamma(1, 1), and normal vectors
    by_hand = size * np.log(tau) - 0.5 * tau * squares - tau
    np.testing.assert_allclose(prior, by_hand)
    assert "log_prior" not in fitted(solver="gibbs", prior="ard").to_datatree().children


def test_arviz_leaves_out_what_loo_does():
    pytest.importorskip("xarray_einstats")
    from arviz_stats import loo, psense

    rng = np.random.default_rng(0)
    seen = rng.permutation(8 * 8).reshape(8, 8)
    # one observation of each pair, so that to leave out a pair is to leave out an observation
    counts = PairCounts(sparse.csr_array((seen < 30) * 1.0), sparse.csr_array((seen >= 30) * 1.0))
    model = fitted(counts, draws=200, warmup=100, solver="gibbs", prior_precision=4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = model.loo(counts, pointwise=True)
        tree = model.to_datatree(counts)
        values = tree["log_likelihood"]["pairs"]
        chosen = np.unique(np.linspace(0, 63, 50).astype(int))
        efficiency = np.nanmedian(ess(np.exp(values.values)[..., chosen], "mean")) / 400
        theirs = loo(tree, pointwise=True, reff=min(float(efficiency), 1.0))
    assert values.sizes["pair"] == 64 and set(values["sign"].values) == {-1, 1}
    np.testing.assert_allclose(theirs.elpd_i.values, ours.pointwise, rtol=1e-6)
    assert theirs.elpd == pytest.approx(ours.elpd) and theirs.se == pytest.approx(ours.se)
    for group in ("prior", "likelihood"):
        found = psense(tree, var_names=["rho"], group=group)
        assert np.isfinite(found["rho"].values).all()


def test_fewer_draws_are_some_of_all(chains):
    tree, few = chains.to_datatree(TEXTS), chains.to_datatree(TEXTS, draws=21)
    assert few["posterior"].sizes["draw"] == few["sample_stats"].sizes["draw"] == 10
    for group, name in (("log_likelihood", "pairs"), ("log_prior", "vectors")):
        some = tree[group][name].values[:, ::4]
        np.testing.assert_allclose(few[group][name].values, some)
    with pytest.raises(ValueError, match="draws"):
        chains.to_datatree(draws=0)


def test_what_is_too_large_is_refused_with_its_bytes(chains):
    model = chains
    with pytest.raises(MemoryError, match=r"of 8 words under 80 draws would take 5120 bytes"):
        model.to_datatree(TEXTS, observations="words", max_bytes=5119)
    with pytest.raises(MemoryError, match="observations='words'"):
        model.to_datatree(TEXTS, max_bytes=5120)
    # the number that is advised has room, and is smaller than that asked for
    for asked, room in ((None, 5119), (20, 700), (20, 256)):
        options = {"observations": "words", "max_bytes": room}
        with pytest.raises(MemoryError, match=r"draws=\d+\)\.$") as error:
            model.to_datatree(TEXTS, draws=asked, **options)
        (number,) = re.findall(r"draws=(\d+)", str(error.value))
        assert int(number) < (asked or 80)
        tree = model.to_datatree(TEXTS, draws=int(number), **options)
        assert tree["log_likelihood"]["words"].size == 8 * int(number)
    with pytest.raises(MemoryError, match=r"Pass a larger max_bytes\.$"):
        model.to_datatree(TEXTS, observations="words", max_bytes=255)
    with pytest.raises(ValueError, match="observations must be one of"):
        model.to_datatree(TEXTS, observations="documents")
    with pytest.raises(ValueError, match="X must be the data that fit was given"):
        model.to_datatree([["w0", "w1"]])
    approximate = fitted(solver="vi")
    with pytest.raises(ValueError, match="needs draws of the posterior: got solver='vi'"):
        approximate.to_datatree(TEXTS)
    assert set(approximate.to_datatree().children) == {"posterior"}

"""Draws, moments, diagnostics and storage of posteriors; oracles are numpy and arviz-stats."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from arviz_stats.base import array_stats

from skbayesembed.common.estimator import spaced
from skbayesembed.posterior import storing
from skbayesembed.posterior.deciding import errors_of
from skbayesembed.posterior.mixing import Draws
from skbayesembed.posterior.posterior import Posterior, RunningMoments, hdi_interval
from skbayesembed.posterior.summary import interval_errors
from skbayesembed.posterior.thinning import places_kept

WORDS = ["naïve", "and/or", "CON", "NUL.npz", "", "語", "words/é"]


def make_posterior(dtype=np.float64, n_chains=4, n_draws=50):
    rng = np.random.default_rng(1)
    rho = rng.normal(size=(n_chains, n_draws, len(WORDS), 3)).astype(dtype)
    moments = RunningMoments(rho.shape[2:])
    moments.update_many(rho.reshape(-1, *rho.shape[2:]))
    return Posterior(
        {"rho": rho, "scale/é": rng.normal(size=(n_chains, n_draws)).astype(dtype)},
        stats={"logp": rng.normal(size=(n_chains, n_draws)), "logit": rng.normal(size=(4, 50, 2))}
        if (n_chains, n_draws) == (4, 50)
        else None,
        moments={"rho": moments, "spread": RunningMoments((), covariance=False)},
        dims={"rho": ("word", "component")},
        coords={"word": WORDS, "component": np.arange(3)},
        attrs={"solver": "gibbs", "stride": 3, "logp": -1.5e-300, "nan": np.nan, "yes": True},
    )


def pooled(draws):
    flat = draws.reshape(-1, *draws.shape[-2:])
    centred = flat - flat.mean(axis=0)
    return np.einsum("nwi,nwj->wij", centred, centred) / (len(flat) - 1)


# -- running moments ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_draws", [2, 31, 32, 33, 100])
@pytest.mark.parametrize("shape", [(4, 1), (4, 3), (3,), (2, 3, 4), (130, 40)])
def test_moments_are_those_of_the_draws(shape, n_draws):
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(n_draws, *shape))
    moments, variances = RunningMoments(shape), RunningMoments(shape, covariance=False)
    for draw in draws:
        moments.update(draw)
        variances.update(draw.tolist())
    want = pooled(draws.reshape(n_draws, -1, shape[-1])).reshape(*shape, shape[-1])
    assert moments.count == variances.count == n_draws
    np.testing.assert_allclose(moments.mean, draws.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.covariance, want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(moments.variance, draws.var(axis=0, ddof=1), rtol=1e-10)
    np.testing.assert_allclose(variances.variance, draws.var(axis=0, ddof=1), rtol=1e-10)


def test_moments_far_from_zero():
    # float64 resolves 1e-7 at 1e9: sums of squares would have lost every digit of the variance
    draws = 1e9 + np.random.default_rng(0).normal(size=(500, 2, 3))
    moments = RunningMoments((2, 3))
    for draw in draws:
        moments.update(draw)
    np.testing.assert_allclose(moments.covariance, pooled(draws), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(moments.mean, draws.mean(axis=0), rtol=1e-14)


def test_merging_is_pooling_and_associative():
    rng = np.random.default_rng(0)
    chains = [rng.normal(5.0 * c, 1.0 + c, size=(n, 4, 3)) for c, n in enumerate((40, 1, 33, 0))]

    def moments(c):
        out = RunningMoments((4, 3))
        for draw in chains[c]:
            out.update(draw)
        return out

    left = moments(0).merge(moments(1)).merge(moments(2)).merge(moments(3))
    right = moments(3).merge(moments(0).merge(moments(1).merge(moments(2))))
    everything = np.concatenate(chains)
    for merged in (left, right):
        assert merged.count == 74
        np.testing.assert_allclose(merged.mean, everything.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(merged.covariance, pooled(everything), rtol=1e-11)
    np.testing.assert_allclose(left.covariance, right.covariance, rtol=1e-12)


def test_merging_leaves_the_other_and_goes_on():
    a, b = RunningMoments((1, 2)), RunningMoments((1, 2))
    for i in range(5):
        a.update([[i, i**2]])
        b.update([[-i, 1.0]])
    before = b.covariance
    a.merge(b)
    a.update([[7.0, 7.0]])
    np.testing.assert_array_equal(b.covariance, before)
    assert (a.count, b.count) == (11, 5)
    draws = [[[i, i**2]] for i in range(5)] + [[[-i, 1.0]] for i in range(5)] + [[[7.0, 7.0]]]
    np.testing.assert_allclose(a.covariance, pooled(np.array(draws)), rtol=1e-12)


def test_too_few_draws_and_nan_are_nan_without_warnings():
    moments = RunningMoments((2, 2))
    assert np.isnan(moments.mean).all() and np.isnan(moments.covariance).all()
    moments.update(np.ones((2, 2)))
    np.testing.assert_array_equal(moments.mean, 1.0)
    assert np.isnan(moments.covariance).all() and np.isnan(moments.variance).all()
    moments.update([[np.nan, np.inf], [2.0, 2.0]])
    assert np.isnan(moments.covariance[0]).all()
    np.testing.assert_allclose(moments.covariance[1], 0.5)


def test_moments_read_in_between_change_nothing():
    draws = np.random.default_rng(0).normal(size=(40, 3, 2))
    moments = RunningMoments((3, 2))
    for i, draw in enumerate(draws):
        moments.update(draw)
        moments.mean[:] = 0.0  # a copy
        if i > 1:
            np.testing.assert_allclose(moments.covariance, pooled(draws[: i + 1]), rtol=1e-9)


def test_entries_that_do_not_move_have_no_variance():
    moments, other = RunningMoments((2, 2)), RunningMoments((2, 2))
    rng = np.random.default_rng(0)
    for _ in range(75):
        moments.update([[0.1, rng.normal()], [0.3, 1e9 / 3]])
        other.update([[0.1, rng.normal()], [0.3, 1e9 / 3]])
    moments.merge(other)
    assert moments.variance[0, 0] == moments.variance[1, 0] == moments.variance[1, 1] == 0.0
    np.testing.assert_array_equal(moments.mean[1], [0.3, 1e9 / 3])


def test_moments_pickle_with_draws_still_waiting():
    moments = RunningMoments((3, 2))
    for draw in np.random.default_rng(0).normal(size=(5, 3, 2)):
        moments.update(draw)
    for again in (pickle.loads(pickle.dumps(moments)), copy.deepcopy(moments)):
        np.testing.assert_array_equal(again.covariance, moments.covariance)
        again.update(np.zeros((3, 2)))
        assert (again.count, moments.count) == (6, 5)


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: RunningMoments((2.5,)), ValueError, "shape must be a tuple of integers"),
        (lambda: RunningMoments(()), ValueError, "shape must have at least one axis"),
        (lambda: RunningMoments((2, 2)).update(np.zeros((2, 3))), ValueError, "x must have shape"),
        (lambda: RunningMoments((2,)).update_many(np.zeros(2)), ValueError, "x must have shape"),
        (lambda: RunningMoments((2,)).merge(RunningMoments((3,))), ValueError, "other must have"),
        (
            lambda: RunningMoments((2,)).merge(RunningMoments((2,), covariance=False)),
            ValueError,
            "other must have the same shape and covariance",
        ),
        (lambda: RunningMoments((2,)).merge(3), TypeError, "other must be a RunningMoments"),
        (lambda: RunningMoments((2,), covariance=False).covariance, ValueError, "use .variance"),
    ],
)
def test_errors_of_moments(act, error, message):
    with pytest.raises(error, match=message):
        act()


# -- intervals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prob", [0.01, 0.5, 0.9, 0.94, 0.999])
@pytest.mark.parametrize("n", [2, 3, 10, 101, 1000])
def test_hdi_is_that_of_arviz(n, prob):
    x = np.random.default_rng(n).gamma(2.0, size=(n, 3, 4))
    x[:, 0, 0] = np.round(x[:, 0, 0])  # ties
    got = hdi_interval(x, prob=prob)
    assert got.shape == (3, 4, 2)
    np.testing.assert_array_equal(got, array_stats.hdi(x, prob, axis=0))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_hdi_over_any_axis(axis, dtype):
    x = (3 * np.random.default_rng(0).normal(size=(20, 30, 25))).astype(dtype)
    got = hdi_interval(x, prob=0.8, axis=axis)
    floating = dtype in (np.float32, np.float64)
    assert got.dtype == (dtype if floating else np.float64)
    want = array_stats.hdi(x if floating else x.astype(float), 0.8, axis=axis)
    np.testing.assert_array_equal(got, want)


def test_hdi_in_blocks(monkeypatch):
    x = np.random.default_rng(0).normal(size=(100, 37))
    want = hdi_interval(x)
    monkeypatch.setattr("skbayesembed.posterior.summary._BLOCK_BYTES", 8 * 100 * 5)
    np.testing.assert_array_equal(hdi_interval(x), want)


def test_hdi_of_nan_and_infinity():
    x = np.random.default_rng(0).normal(size=(50, 4))
    x[3, 0] = np.nan
    x[:30, 1] = np.inf
    x[:2, 2] = np.inf
    got = hdi_interval(x, prob=0.5)
    assert np.isnan(got[0]).all()
    assert np.isinf(got[1, 1])
    np.testing.assert_array_equal(got[3], array_stats.hdi(x[:, 3], 0.5))
    assert np.isfinite(got[2:]).all()
    # a single draw is a point, and not certain
    assert np.isnan(hdi_interval(np.array([7.0]))).all()
    assert hdi_interval(np.empty((5, 0))).shape == (0, 2)


def test_hdi_leaves_its_input():
    x = np.random.default_rng(0).normal(size=(3, 50))
    before = x.copy()
    hdi_interval(x, axis=1)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("prob", [0, 1, 1.5, -0.1, np.nan, "0.9", True, None])
def test_prob_is_checked(prob):
    p = make_posterior()
    for act in (
        lambda: hdi_interval([1.0], prob=prob),
        lambda: p.hdi(prob=prob),
        lambda: p.summary(None, prob=prob),
    ):
        with pytest.raises(ValueError, match=r"prob must be a number between 0 and 1"):
            act()


@pytest.mark.parametrize(("shape", "axis"), [((3,), 1), ((3,), 0.5), ((), 0)])
def test_axis_is_checked(shape, axis):
    with pytest.raises(ValueError, match="axis must be an axis of x"):
        hdi_interval(np.zeros(shape), axis=axis)
    with pytest.raises(ValueError, match="x must have at least one draw"):
        hdi_interval(np.zeros((0, 3)))


# -- the mapping and its means --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mapping(dtype):
    p = make_posterior(dtype)
    assert list(p) == ["rho", "scale/é"] and len(p) == 2
    assert (p.n_chains, p.n_draws) == (4, 50)
    assert p["rho"].dtype == p["scale/é"].dtype == dtype
    assert p.dims == {
        "rho": ("word", "component"),
        "spread": (),
        "scale/é": (),
        "logp": (),
        "logit": ("logit_dim_0",),
    }
    assert "nothing" not in p and p.get("nothing") is None and "rho" in p
    assert p == p and p != make_posterior(dtype) and hash(p)
    flat = p.flat("rho")
    assert flat.shape == (200, len(WORDS), 3) and np.shares_memory(flat, p["rho"])
    np.testing.assert_array_equal(flat[50], p["rho"][1, 0])


def test_draws_are_not_copied_and_ints_stay():
    x = np.zeros((2, 5, 3), dtype=np.int32)
    p = Posterior({"z": x})
    assert p["z"] is x and p.dims == {"z": ("z_dim_0",)}
    assert p.mean("z").dtype == np.float64
    assert np.shares_memory(Posterior({"z": x.transpose(0, 1, 2)})["z"], x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_without_moments(dtype):
    rng = np.random.default_rng(0)
    rho = rng.normal(1e3, 1.0, size=(3, 700, 5, 4)).astype(dtype)
    p = Posterior({"rho": rho, "s": rho[..., 0, 0], "v": rho[..., 0]})
    wide = rho.astype(np.float64)
    np.testing.assert_allclose(p.mean("rho"), wide.mean(axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(p.std("rho"), wide.std(axis=(0, 1), ddof=1), rtol=1e-9)
    np.testing.assert_allclose(p.std("s"), wide[..., 0, 0].std(ddof=1), rtol=1e-9)
    np.testing.assert_allclose(p.covariance("rho"), pooled(wide), rtol=1e-8, atol=1e-10)
    assert p.covariance("v").shape == (5, 5)
    with pytest.raises(ValueError, match="'s' is a scalar"):
        p.covariance("s")


def test_moments_go_first():
    moments = RunningMoments((2, 3))
    seen = np.random.default_rng(0).normal(4.0, 1.0, size=(60, 2, 3))
    moments.update_many(seen)
    p = Posterior({"rho": seen[None, ::10]}, moments={"rho": moments})
    np.testing.assert_array_equal(p.mean("rho"), moments.mean)
    np.testing.assert_allclose(p.std("rho"), seen.std(axis=0, ddof=1))
    np.testing.assert_array_equal(p.covariance("rho"), moments.covariance)
    np.testing.assert_array_equal(p.summary().sd, p.std("rho").ravel())


def test_moments_of_variances_or_of_nothing_give_way_to_draws():
    draws = np.random.default_rng(0).normal(size=(1, 9, 2, 2))
    only_variances = RunningMoments((2, 2), covariance=False)
    only_variances.update_many(draws[0])
    p = Posterior({"rho": draws}, moments={"rho": only_variances})
    np.testing.assert_allclose(p.covariance("rho"), pooled(draws))
    p = Posterior({"rho": draws}, moments={"rho": RunningMoments((2, 2))})
    np.testing.assert_allclose(p.mean("rho"), draws.mean(axis=(0, 1)))


def test_moments_without_draws():
    moments = RunningMoments((2, 2), covariance=False)
    moments.update_many(np.random.default_rng(0).normal(size=(9, 2, 2)))
    for draws in ({}, {"rho": np.empty((3, 0, 2, 2))}):
        p = Posterior(draws, moments={"rho": moments}, dims={"rho": ("word", "component")})
        assert p.n_draws == 0
        np.testing.assert_array_equal(p.mean("rho"), moments.mean)
        np.testing.assert_array_equal(p.std("rho"), np.sqrt(moments.variance))
        with pytest.raises(ValueError, match="Only the variances of 'rho'"):
            p.covariance("rho")
        table = p.summary()
        assert np.isfinite(table.mean).all() and np.isnan(table["low"]).all()
        assert np.isnan(table.rhat).all() and table.labels[3] == "rho[1, 1]"
        assert repr(table) and repr(p)
        for intervals in p.hdi().values():
            assert intervals.shape == (2, 2, 2) and np.isnan(intervals).all()


# -- diagnostics ----------------------------------------------------------------------------------


def autoregressive(n_chains, n_draws, size, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_chains, n_draws, *size))
    for t in range(1, n_draws):
        x[:, t] += 0.5 * x[:, t - 1]
    return x


@pytest.mark.parametrize("n_draws", [4, 5, 100, 251])
@pytest.mark.parametrize("n_chains", [2, 4])
def test_diagnostics_are_those_of_arviz(n_chains, n_draws):
    x = autoregressive(n_chains, n_draws, (3, 2))
    p = Posterior({"x": x, "s": x[..., 0, 0]})
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(all="ignore"):
        want = {
            "rhat": array_stats.rhat(x, **axes),
            "bulk": array_stats.ess(x, **axes),
            "tail": array_stats.ess(x, method="tail", prob=(0.05, 0.95), **axes),
            **{m: array_stats.ess(x, method=m, **axes) for m in ("sd", "mean", "median", "mad")},
            "mcse": array_stats.mcse(x, **axes),
        }
    # sums in another order
    close = {"rtol": 1e-10}
    np.testing.assert_allclose(p.rhat()["x"], want["rhat"], **close)
    for method in ("bulk", "tail", "sd", "mean", "median", "mad"):
        np.testing.assert_allclose(p.ess(method=method)["x"], want[method], **close)
    assert p.rhat("s")["s"].shape == () and p.rhat("s")["s"] == pytest.approx(want["rhat"][0, 0])
    table = p.summary("x")
    for name in ("mcse", "rhat"):
        np.testing.assert_allclose(table[name], want[name].ravel(), **close)
    np.testing.assert_allclose(table.ess_bulk, want["bulk"].ravel(), **close)
    np.testing.assert_allclose(table.ess_tail, want["tail"].ravel(), **close)


@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("n_draws", [40, 251])
def test_errors_of_quantiles_are_those_of_arviz(n_chains, n_draws):
    x = autoregressive(n_chains, n_draws, (6,))
    x[..., 1] = np.round(x[..., 1])  # ties
    draws = Draws(np.ascontiguousarray(np.moveaxis(x, 2, 0)))
    for prob in (0.05, 0.5, 0.93):
        want = array_stats.mcse(x, chain_axis=0, draw_axis=1, method="quantile", prob=prob)
        np.testing.assert_allclose(draws.mcse_quantile(prob), want, rtol=1e-10)
    # a quantile of its own for each entry
    probs = np.linspace(0.1, 0.9, 6)
    each = [
        array_stats.mcse(x[..., i], chain_axis=0, draw_axis=1, method="quantile", prob=probs[i])
        for i in range(6)
    ]
    np.testing.assert_allclose(draws.mcse_quantile(probs), each, rtol=1e-10)


def test_summary_of_words():
    p = make_posterior()
    whole, some = p.summary("rho"), p.summary("rho", words=[WORDS[3], WORDS[0]])
    rows = [9, 10, 11, 0, 1, 2]
    assert list(some.labels) == list(whole.labels[rows])
    for column in whole.columns:
        np.testing.assert_array_equal(some[column], whole[column][rows])
    # those without words are left out
    assert list(p.summary(words=WORDS[3]).labels) == list(whole.labels[9:12])
    with pytest.raises(ValueError, match="words must be labels.*got 'unseen', not among its 7"):
        p.summary(words=[WORDS[0], "unseen"])
    with pytest.raises(ValueError, match="words must be None: scale/é have no dimension 'word'"):
        p.summary("scale/é", words=WORDS[:1])


def test_diagnostics_in_blocks(monkeypatch):
    p = Posterior({"x": autoregressive(2, 50, (23,)), "y": autoregressive(2, 50, (0, 3))})
    want = p.rhat()
    monkeypatch.setattr("skbayesembed.posterior.summary._BLOCK_BYTES", 8 * 100 * 5)
    np.testing.assert_array_equal(p.rhat()["x"], want["x"])
    assert want["y"].shape == (0, 3)


def test_rhat_of_float32_is_that_of_its_values():
    x = autoregressive(3, 100, (4,)).astype(np.float32)
    narrow, wide = Posterior({"x": x}), Posterior({"x": x.astype(np.float64)})
    for method in ("bulk", "tail", "mean"):
        np.testing.assert_array_equal(narrow.ess(method=method)["x"], wide.ess(method=method)["x"])
    np.testing.assert_array_equal(narrow.rhat()["x"], wide.rhat()["x"])


@pytest.mark.parametrize("n_draws", [8, 100, 101])
def test_rhat_of_one_chain_is_that_of_its_halves(n_draws):
    x = autoregressive(1, n_draws, (5,))
    x[0, :, 1] = np.round(x[0, :, 1])  # ties
    half = n_draws // 2
    halves = np.concatenate([x[:, :half], x[:, -half:]])
    want = [array_stats._rhat_rank.__func__(Unsplit(), halves[..., i]) for i in range(5)]
    np.testing.assert_allclose(Posterior({"x": x}).rhat()["x"], want, rtol=1e-12)


class Unsplit(type(array_stats)):
    """The formula of arviz-stats on chains that are halves already."""

    def _split_chains(self, ary):
        return ary


def test_a_drifting_single_chain_is_noticed():
    x = np.random.default_rng(0).normal(size=(1, 400)) + np.linspace(0.0, 3.0, 400)
    p = Posterior({"x": x})
    assert p.rhat()["x"] > 1.2 and np.isfinite(p.ess()["x"])


@pytest.mark.parametrize("n_chains", [1, 4])
@pytest.mark.parametrize("n_draws", [1, 2, 3])
def test_fewer_than_four_draws(n_chains, n_draws):
    p = Posterior({"x": np.random.default_rng(0).normal(size=(n_chains, n_draws, 2))})
    assert np.isnan(p.rhat()["x"]).all()
    for method in ("bulk", "tail", "mean"):
        assert np.isnan(p.ess(method=method)["x"]).all()
    table = p.summary()
    single = n_chains * n_draws == 1
    assert np.isnan(table.mcse).all() and np.isnan(table.low).all() == single
    assert np.isnan(table.sd).all() == (n_chains * n_draws == 1)
    assert repr(table)


@pytest.mark.parametrize("n_chains", [1, 3])
def test_entries_that_do_not_move(n_chains):
    x = np.random.default_rng(0).normal(size=(n_chains, 41, 5))
    x[..., 0] = 0.1
    x[:, 5, 1] = np.nan
    x[:, 5, 2] = np.inf
    p = Posterior({"x": x})
    for values in (p.rhat()["x"], *(p.ess(method=m)["x"] for m in ("bulk", "tail", "mean", "mad"))):
        assert np.isnan(values[:3]).all() and np.isfinite(values[3:]).all()
    table = p.summary()
    np.testing.assert_allclose([table.mean[0], table.low[0], table.high[0]], 0.1)
    assert table.sd[0] == 0.0
    assert np.isnan(table.rhat[0]) and "the same in every draw" in repr(table)


def test_chains_stuck_apart():
    x = np.broadcast_to(np.arange(3.0)[:, None], (3, 20)).copy()
    p = Posterior({"x": x})
    assert np.isinf(p.rhat()["x"]) and p.ess()["x"] < 10
    text = repr(p.summary())
    assert "largest rhat more than 100" in text and "inf" not in text
    x[0, 10] = 5.0  # the draw between the halves of an odd chain
    assert Posterior({"x": x[:, :19]}).rhat()["x"] > 2


def test_unknown_method():
    with pytest.raises(ValueError, match="method must be one of 'bulk', 'tail'.*got 'all'"):
        make_posterior().ess(method="all")


# -- the table ------------------------------------------------------------------------------------


def test_summary():
    p = make_posterior()
    table = p.summary(["scale/é", "rho"], prob=0.8)
    assert len(table) == 1 + 3 * len(WORDS)
    assert table.labels[0] == "scale/é" and table.labels[1] == "rho[naïve, 0]"
    assert table.columns == ("mean", "sd", "low", "high", "mcse", "ess_bulk", "ess_tail", "rhat")
    rho = table.labels != "scale/é"
    np.testing.assert_array_equal(table["mean"][rho], p.mean("rho").ravel())
    np.testing.assert_array_equal(table.sd[rho], p.std("rho").ravel())
    interval = p.hdi(prob=0.8)["rho"].reshape(-1, 2)
    np.testing.assert_array_equal(np.column_stack([table.low, table.high])[rho], interval)
    np.testing.assert_array_equal(table.rhat[rho], p.rhat()["rho"].ravel())
    np.testing.assert_array_equal(table.ess_tail[rho], p.ess(method="tail")["rho"].ravel())
    with pytest.raises(KeyError, match="unknown column 'median'; available: mean, sd"):
        table["median"]
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.labels, table.labels)


def test_statistics_have_summaries_where_they_are_named():
    """Of all draws, of which fewer may be recorded whole; not among all parameters."""
    rng = np.random.default_rng(0)
    x, logit = rng.normal(size=(2, 40, 3)), rng.normal(size=(2, 80, 2))
    posterior = Posterior(
        {"x": x}, stats={"logit": logit}, dims={"logit": ("pair",)}, coords={"pair": ["a", "b"]}
    )
    table, same = posterior.summary("logit"), Posterior({"logit": logit}).summary()
    assert table.labels.tolist() == ["logit[a]", "logit[b]"]
    for name in table.columns:
        np.testing.assert_allclose(table[name], same[name], rtol=1e-12, err_msg=name)
    assert posterior.rhat("logit")["logit"].tolist() == table.rhat.tolist()
    assert posterior.ess("logit")["logit"].tolist() == table.ess_bulk.tolist()
    np.testing.assert_array_equal(posterior.hdi("logit")["logit"][:, 0], table.low)
    assert not any("logit" in label for label in posterior.summary().labels)
    assert list(posterior.rhat()) == ["x"]
    with pytest.raises(KeyError, match="no draws named 'lp'; available: 'x', 'logit'"):
        posterior.summary("lp")
    alone = Posterior({"x": x[:1, :1]}, stats={"lp": np.ones((1, 1))}).summary("lp")
    assert alone.sd.tolist() == [0.0] and alone.mean.tolist() == [1.0]


def test_a_summary_says_why_rows_have_no_diagnostics():
    draws = np.random.default_rng(0).normal(size=(2, 100, 3))
    draws[..., 0] = 2.0
    shown = repr(Posterior({"x": draws}).summary())
    assert "nan" not in shown and shown.splitlines()[1].split()[-4:] == ["-"] * 4
    assert "(1 row without diagnostics: the same in every draw)" in shown
    assert "without diagnostics" not in repr(Posterior({"x": draws[..., 1:]}).summary())


def test_a_summary_of_a_large_posterior_has_its_first_words():
    """Others are not worked out; a line says so, and how to ask for them."""
    draws = np.random.default_rng(0).normal(size=(2, 10, 3, 400, 2))
    words = [f"w{i}" for i in range(400)]
    posterior = Posterior(
        {"x": draws, "y": draws[:, :, 0], "scale": draws[:, :, 0, 0, 0]},
        dims={"x": ("period", "word", "k"), "y": ("word", "k"), "scale": ()},
        coords={"word": words},
    )
    whole, few = posterior.summary(), posterior.summary(max_rows=81)
    assert len(whole) == 3201 and "not all" not in repr(whole)
    assert len(few) == 81 and few.labels[-1] == "scale" and few.labels[20] == "x[1, w0, 0]"
    kept = [whole.labels.tolist().index(label) for label in few.labels]
    np.testing.assert_array_equal(few.rhat, whole.rhat[kept])
    assert repr(few).endswith(
        "(not all entries are shown: x, y: the first 10 of 400 (word). words= asks for others, "
        "max_rows=None for all; the lines above are about the rows shown)"
    )
    assert "not all" not in repr(posterior.summary(words="w399", max_rows=2))
    with pytest.raises(ValueError, match="max_rows must be"):
        posterior.summary(max_rows=0)


def test_the_text_of_a_summary_is_cut():
    table = make_posterior().summary("rho")
    lines = repr(table).splitlines()
    assert lines[0].split() == list(table.columns)
    assert len(lines) == 1 + 20 + 1 + 2 and lines[11] == "..."
    assert lines[1].startswith("rho[naïve, 0]") and lines[21].startswith("rho[words/é, 2]")
    assert "21 rows" in lines[22] and "0.9" in lines[22] and "largest rhat" in lines[23]
    assert max(map(len, lines)) <= 120
    assert len(table.to_string(max_rows=None).splitlines()) == 1 + 21 + 2
    assert len(table.to_string(max_rows=3).splitlines()) == 1 + 4 + 2
    with pytest.raises(ValueError, match="max_rows must be an integer >= 2 or None, got 1"):
        table.to_string(max_rows=1)


def test_the_text_shows_small_and_large_numbers_and_long_labels():
    x = np.random.default_rng(0).normal(size=(2, 20, 2))
    for scale, expected in ((1e-5, "e-0"), (1e9, "e+0")):
        p = Posterior({"x": scale * x}, dims={"x": ["w"]}, coords={"w": ["a" * 99, "b"]})
        text = repr(p.summary())
        assert expected in text and "a" * 99 not in text and "..." in text


def test_to_frame(monkeypatch):
    pd = pytest.importorskip("pandas")
    table = make_posterior().summary("rho")
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame) and tuple(frame.columns) == table.columns
    assert frame.loc["rho[語, 1]", "mean"] == table["mean"][16]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        table.to_frame()


# -- checks of what is passed ---------------------------------------------------------------------

X = np.zeros((2, 5, 3, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": {}}, "draws must name at least one parameter"),
        ({"draws": [1.0]}, "draws must be a mapping with names as keys, got list"),
        ({"draws": {1: X}}, "draws must be a mapping with names as keys"),
        ({"draws": {"rho": np.zeros(5)}}, r"draws\['rho'\] must have shape \(chain, draw"),
        ({"draws": {"rho": 1.0}}, r"draws\['rho'\] must have shape .* got \(\)"),
        ({"draws": {"rho": X[:0]}}, r"draws\['rho'\] must have shape .* at least one chain"),
        ({"draws": {"rho": X[:, :0]}}, r"draws must hold at least one draw .*'rho'"),
        ({"draws": {"rho": X.astype(str)}}, r"draws\['rho'\] must be real numbers"),
        ({"draws": {"rho": X.astype(object)}}, r"draws\['rho'\] must be real numbers"),
        ({"draws": {"rho": 1j * X}}, r"draws\['rho'\] must be real numbers"),
        ({"draws": {"rho": [[1.0], [1.0, 2.0]]}}, r"draws\['rho'\] must be an array"),
        ({"draws": {"rho": X, "z": X[:, :4]}}, r"draws must share \(chain, draw\), got .*'z': "),
        ({"draws": {"rho": X, "z": X[:1]}}, r"draws must share \(chain, draw\)"),
        ({"stats": {"logp": X[:1, :, 0, 0]}}, "stats must have as many chains as draws, 2, got 1"),
        ({"stats": {"a": X, "b": X[:, :4]}}, r"stats must share \(chain, draw\)"),
        ({"stats": {"rho": X}}, "stats must not share names with draws"),
        ({"moments": {"rho": X}}, r"moments\['rho'\] must be a RunningMoments, got ndarray"),
        ({"moments": {"rho": RunningMoments((3, 3))}}, r"moments\['rho'\] must have the shape"),
        ({"moments": 3}, "moments must be a mapping"),
        ({"dims": {"ro": ("a", "b")}}, r"dims has unknown names \['ro'\]; available: \['rho'\]"),
        ({"dims": {"rho": ("a",)}}, r"dims\['rho'\] must be 2 different name\(s\)"),
        ({"dims": {"rho": "ab"}}, r"dims\['rho'\] must be 2 different"),
        ({"dims": {"rho": ("a", "a")}}, r"dims\['rho'\] must be 2 different"),
        ({"dims": {"rho": ("a", "draw")}}, r"dims\['rho'\] must be strings other than"),
        ({"dims": {"rho": ("a", 1)}}, r"dims\['rho'\] must be strings"),
        (
            {"draws": {"rho": X, "u": X[..., :2, 0]}, "dims": {"rho": ("w", "c"), "u": ("w",)}},
            r"dims\['u'\]: dimension 'w' has size 2, but 3 in 'rho'",
        ),
        (
            {"dims": {"rho": ("w", "c")}, "coords": {"w": ["a", "b"]}},
            r"dims\['rho'\]: dimension 'w' has size 3, but 2 in coords\['w'\]",
        ),
        ({"coords": {"w": "abc"}}, r"coords\['w'\] must be a one-dimensional array"),
        ({"coords": {"w": ["a", None]}}, r"coords\['w'\] must be a one-dimensional array"),
        ({"attrs": {"a": [1]}}, r"attrs\['a'\] must be a string, number, bool or None"),
        ({"attrs": {1: 1}}, "attrs must be a mapping"),
    ],
)
def test_errors_of_posterior(arguments, message):
    with pytest.raises(ValueError, match=message):
        Posterior(**{"draws": {"rho": X}, **arguments})


def test_unknown_names_list_what_is_there():
    p = make_posterior()
    acts = [
        lambda: p["ro"],
        lambda: p.mean("ro"),
        lambda: p.std("ro"),
        lambda: p.covariance("ro"),
        lambda: p.flat("ro"),
        lambda: p.rhat("ro"),
        lambda: p.ess(["rho", "ro"]),
        lambda: p.hdi(names=["ro"]),
        lambda: p.summary("ro"),
    ]
    for act in acts:
        with pytest.raises(KeyError, match="no draws named 'ro'; available: 'rho', 'scale/é'"):
            act()


def test_stats_of_draws_not_recorded_whole():
    p = Posterior({"rho": X}, stats={"logp": np.zeros((2, 50))})
    assert p.stats["logp"].shape == (2, 50) and p.n_draws == 5


def test_numpy_facts_and_object_labels_are_converted():
    p = Posterior(
        {"rho": X},
        dims={"rho": ["word", "c"]},
        coords={"word": np.array(["a", "b", "naïve"], dtype=object)},
        attrs={"n": np.int64(3), "ok": np.bool_(True), "x": np.float32(0.5), "none": None},
    )
    assert p.coords["word"].dtype.kind == "U" and p.dims["rho"] == ("word", "c")
    assert p.attrs == {"n": 3, "ok": True, "x": 0.5, "none": None}
    assert type(p.attrs["n"]) is int and type(p.attrs["ok"]) is bool


# -- storage --------------------------------------------------------------------------------------


def assert_same(a, b):
    for mine, theirs in ((dict(a), dict(b)), (a.stats, b.stats), (a.coords, b.coords)):
        assert list(mine) == list(theirs)
        for name, values in mine.items():
            assert theirs[name].dtype == values.dtype
            np.testing.assert_array_equal(theirs[name], values)
    assert (a.dims, repr(a.attrs), repr(a)) == (b.dims, repr(b.attrs), repr(b))
    assert list(a.attrs) == list(b.attrs) and list(map(type, b.attrs.values())) == list(
        map(type, a.attrs.values())
    )
    assert list(a.moments) == list(b.moments)
    for name, moments in a.moments.items():
        assert b.moments[name].count == moments.count
        np.testing.assert_array_equal(b.moments[name].mean, moments.mean)
        np.testing.assert_array_equal(b.moments[name].variance, moments.variance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_save_and_load(tmp_path, dtype):
    p = make_posterior(dtype)
    p.save(tmp_path / "posterior.npz")
    again = Posterior.load(str(tmp_path / "posterior.npz"))
    assert_same(p, again)
    np.testing.assert_array_equal(again.covariance("rho"), p.covariance("rho"))
    # moments go on where they were
    for q in (p, again):
        q.moments["rho"].update(np.ones((len(WORDS), 3)))
    np.testing.assert_array_equal(again.covariance("rho"), p.covariance("rho"))


@pytest.mark.parametrize("name", ["fit", "fit.npz", "fit.v1", "fit.npz.old"])
def test_suffix_of_paths(tmp_path, name):
    p = make_posterior()
    p.save(tmp_path / name)
    written = name if name.endswith(".npz") else f"{name}.npz"
    assert [f.name for f in tmp_path.iterdir()] == [written]
    assert_same(p, Posterior.load(tmp_path / name))
    p.save(tmp_path / name)  # replaces
    (tmp_path / written).rename(tmp_path / "renamed")
    assert_same(p, Posterior.load(tmp_path / "renamed"))


def test_types_of_labels_and_names(tmp_path):
    p = Posterior(
        {"file": X, "header": X[..., 0], "a/../b": X[..., 0, 0], "z": np.ones((2, 5), dtype=bool)},
        moments={"later": RunningMoments((), covariance=False), "rest": RunningMoments((4,))},
        dims={"file": ("x", "y"), "header": ("x",)},
        coords={
            "x": np.array(["1850-01", "1851-01", "1852-01"], dtype="datetime64[M]"),
            "y": [1.5, np.nan],
            "unused": [True, False],
        },
    )
    p.moments["rest"].update(np.arange(4.0))
    p.save(tmp_path / "p")
    assert_same(p, Posterior.load(tmp_path / "p"))


def test_a_failed_save_leaves_the_old_file(tmp_path):
    p = make_posterior()
    p.save(tmp_path / "p.npz")
    p.attrs["bad"] = object()
    with pytest.raises(ValueError, match=r"attrs\['bad'\]"):
        p.save(tmp_path / "p.npz")
    assert [f.name for f in tmp_path.iterdir()] == ["p.npz"]
    assert "bad" not in Posterior.load(tmp_path / "p.npz").attrs
    with pytest.raises(FileNotFoundError):
        make_posterior().save(tmp_path / "no" / "p.npz")


def test_files_that_are_not_ours(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent.npz"):
        Posterior.load(tmp_path / "absent")
    with pytest.raises(IsADirectoryError, match="path must be a file, and is a folder"):
        Posterior.load(tmp_path)
    files = {"text.npz": b"text", "empty.npz": b""}
    for name, arrays in {
        "other.npz": {"a": np.zeros(3)},
        "json.npz": {"header": np.array('{"format": "else", "version": 1}')},
        "list.npz": {"header": np.array("[1]")},
        "pickle.npz": {"header": np.array([{}], dtype=object)},
    }.items():
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        files[name] = buffer.getvalue()
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    files["array.npz"] = buffer.getvalue()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name}' is not a saved Posterior"):
            Posterior.load(tmp_path / name)


def test_newer_and_damaged_files(tmp_path, monkeypatch):
    p = make_posterior()
    p.save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as stored:
        arrays = dict(stored)
    np.savez(tmp_path / "part.npz", **{k: v for k, v in arrays.items() if k != "draws_1"})
    with pytest.raises(ValueError, match="part.npz' is a damaged Posterior"):
        Posterior.load(tmp_path / "part")
    arrays["moments_0_sums"] = arrays["moments_0_sums"][:, :1]
    np.savez(tmp_path / "sums.npz", **arrays)
    with pytest.raises(ValueError, match="sums.npz' is a damaged Posterior"):
        Posterior.load(tmp_path / "sums")
    monkeypatch.setattr(storing, "_VERSION", 2)
    p.save(tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has format version 2; .* reads version 1: upgrade"):
        Posterior.load(tmp_path / "new.npz")


def test_pickle_and_deepcopy():
    p = make_posterior(np.float32)
    for again in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
        assert_same(p, again)
        assert not np.shares_memory(again["rho"], p["rho"])


# -- the rest of the world ------------------------------------------------------------------------


def test_to_datatree():
    pytest.importorskip("arviz_base")
    whole = make_posterior()
    p = Posterior(
        {"rho": whole["rho"]},  # xarray allows no "/" in names
        stats=whole.stats,
        moments={"rho": whole.moments["rho"]},
        dims={"rho": whole.dims["rho"]},
        coords=whole.coords,
        attrs=whole.attrs,
    )
    tree = p.to_datatree()
    rho = tree["posterior"]["rho"]
    assert rho.dims == ("chain", "draw", "word", "component")
    assert list(rho.coords["word"].values) == WORDS
    np.testing.assert_array_equal(rho.values, p["rho"])
    np.testing.assert_array_equal(rho.sel(word="naïve", component=2).values, p["rho"][:, :, 0, 2])
    np.testing.assert_array_equal(tree["sample_stats"]["logp"].values, p.stats["logp"])
    attrs = tree["posterior"].attrs
    assert attrs["solver"] == "gibbs" and attrs["stride"] == 3 and attrs["yes"] == 1
    assert list(Posterior({"rho": X}).to_datatree().children) == ["posterior"]


def test_statistics_in_a_datatree_are_of_its_draws():
    """Whatever the draws are: one in ten made, some of those, or some of these."""
    pytest.importorskip("arviz_base")
    made = np.arange(2000.0).reshape(2, 1000) ** 1.1
    p = Posterior({"rho": made[:, ::10]}, stats={"lp": made, "logp": -made}, attrs={"stride": 10})
    for few in (p, p.thinned(60), p.thinned(6)):
        tree = few.to_datatree()
        np.testing.assert_array_equal(tree["sample_stats"]["lp"].values, few["rho"])
        np.testing.assert_array_equal(tree["sample_stats"]["logp"].values, -few["rho"])
        assert few.stats["lp"].shape == (2, 1000), "diagnostics are of all"
    turns = made.reshape(2, 100, 10)[:, ::5].reshape(2, 200)
    p = Posterior({"rho": turns}, stats={"lp": made}, attrs={"stride": 5, "embedding_draws": 10})
    for few in (p, p.thinned(60)):
        np.testing.assert_array_equal(few.to_datatree()["sample_stats"]["lp"].values, few["rho"])
    # which draws these are, or those of a longer record without its stride, is not known
    for other in (p.thinned(60).thinned(20), Posterior({"rho": X}, stats={"lp": made})):
        assert list(other.to_datatree().children) == ["posterior"]


def test_thinning_keeps_runs_in_turn():
    """And spaced draws are of every run as often as of the others, give or take one."""
    for n_runs, n_draws, n_chains in ((5, 500, 4), (10, 1000, 4), (20, 100, 2), (1, 30, 3)):
        p = Posterior({"rho": np.zeros((n_chains, n_draws))}, attrs={"embedding_draws": n_runs})
        total = n_chains * n_draws
        for n in (1, 50, 200, total - 1, total, 2 * total):
            places = spaced(p, n)
            of_run = np.bincount(places % n_draws % n_runs, minlength=n_runs)
            assert of_run.max() - of_run.min() <= 1 and of_run.sum() == n
            times = np.bincount(places, minlength=total)
            assert times.max() - times.min() <= 1 and times.size == total
        kept = places_kept(n_draws, n_chains, n_runs, 50)
        np.testing.assert_array_equal(kept % n_runs, np.arange(kept.size) % n_runs)


def test_to_datatree_without_arviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(ImportError, match=r"pip install 'skbayesembed\[arviz\]'"):
        make_posterior().to_datatree()


def test_repr():
    assert repr(make_posterior()).splitlines() == [
        "Posterior: 4 chains of 50 draws",
        "  rho (word: 7, component: 3) float64",
        "  scale/é () float64",
        "  stats logp () float64",
        "  stats logit (logit_dim_0: 2) float64",
        "  moments rho of 200 draws",
        "  moments spread of 0 draws",
    ]
    assert repr(Posterior({"x": [[1.0]]})).startswith("Posterior: 1 chain of 1 draw\n")
    assert repr(RunningMoments((2, 3))) == "RunningMoments(shape=(2, 3)), count=0"


@pytest.mark.slow
def test_importing_is_light():
    code = (
        "import sys, skbayesembed.posterior.posterior; "
        "bad = {'arviz_stats', 'arviz_base', 'xarray'} & set(sys.modules); "
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_saves_of_several_threads_to_one_path(tmp_path):
    """Each file is whole: the last to end stays, and no part of another is in it."""
    path = tmp_path / "p.npz"
    posteriors = [Posterior({"x": np.full((1, 2, 50_000), float(i))}) for i in range(4)]
    with ThreadPoolExecutor(4) as executor:
        for _ in range(5):
            list(executor.map(lambda p: p.save(path), posteriors))
            assert np.unique(Posterior.load(path)["x"]).size == 1
    assert [p.name for p in tmp_path.iterdir()] == ["p.npz"]


@pytest.mark.slow
@pytest.mark.parametrize("persistence", [0.0, 0.8])
def test_errors_of_interval_ends(persistence):
    """Against the spread of the ends over many runs of chains."""
    rng = np.random.default_rng(0)
    runs, chains, draws = 200, 2, 600
    x = rng.normal(size=(draws, runs, chains))
    for t in range(1, draws):
        x[t] = persistence * x[t - 1] + np.sqrt(1 - persistence**2) * x[t]
    x = np.exp(0.3 * x)  # ends of their own
    flat = x.transpose(2, 0, 1).reshape(chains * draws, runs)
    spread = hdi_interval(flat, prob=0.9).std(axis=0)
    found = interval_errors(flat[:, :60], 0.9, chains)
    assert found.shape == (60, 2)
    # the spread is told to 5 %, the root mean square of the estimates to 5 %; they are right to a
    # tenth for independent draws, and up to half too large where chains are autocorrelated
    ratio = np.sqrt(np.mean(found**2, axis=0)) / spread
    assert np.all(ratio > 0.75) and np.all(ratio < (1.7 if persistence else 1.3))
    np.testing.assert_array_equal(found, interval_errors(flat[:, :60], 0.9, chains))
    if persistence:
        taken_for_independent = interval_errors(flat[:, :60], 0.9)
        assert np.all(taken_for_independent.mean(axis=0) < 0.8 * found.mean(axis=0))


def test_errors_of_interval_ends_that_cannot_be_told():
    x = np.random.default_rng(0).normal(size=(40, 3))
    x[:, 0] = 2.0
    x[3, 1] = np.nan
    found = interval_errors(x, 0.9, 2)
    assert np.isnan(found[:2]).all() and np.all(found[2] > 0)
    assert np.isnan(interval_errors(x[:19], 0.9)).all()
    assert interval_errors(x[:, 2], 0.9).shape == (2,)


def test_errors_of_every_draw_of_words_that_were_kept():
    """They are those of chains in order, more than were recorded whole."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 1000))
    for t in range(1, 1000):
        x[:, t] += 0.9 * x[:, t - 1]
    rows = {"rho_rows": x[:, :, None, None]}
    posterior = Posterior({"rho": np.zeros((4, 200, 1, 1))}, stats=rows, attrs={"solver": "gibbs"})
    expected = interval_errors(x.ravel(), 0.9, 4)
    np.testing.assert_array_equal(errors_of(posterior, x.ravel(), 0.9), expected)
    # taken for five draws of each, they would be far smaller
    others = Posterior({"rho": np.zeros((4, 200, 1, 1))}, attrs={"solver": "gibbs"})
    assert np.all(errors_of(others, x.ravel(), 0.9) < 0.7 * expected)

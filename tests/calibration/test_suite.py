"""The suite of models and samplers: what it is made of, and short runs of its tests."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from skbayesembed.calibration import MODELS, Calibration, calibrate, simulated_ranks, uniformity
from skbayesembed.calibration.__main__ import chosen, main
from skbayesembed.calibration.models import nth, one_more
from skbayesembed.calibration.page import write_page
from skbayesembed.calibration.suite import corner_test, joint_test, replication

JOINT = [(name, sampler) for name, model in MODELS.items() for sampler in model.joint]
ALL = [(name, sampler) for name, model in MODELS.items() for sampler in model.samplers]
QUICK = {("GaussianLDA", "gibbs")}


def marked(pairs):
    """Most of them are slow."""
    return [p if p in QUICK else pytest.param(*p, marks=pytest.mark.slow) for p in pairs]


@pytest.mark.parametrize("name", list(MODELS))
def test_models_hold_together(name):
    """Quantities have names, priors have as many draws as asked for, samplers are the model's."""
    model, rng = MODELS[name], np.random.default_rng(0)
    prior = model.prior(3, rng)
    truth = nth(prior, 0)
    data = model.data(truth, rng)
    seen = model.look(prior, data)
    assert seen.shape == (3, len(model.quantities))
    np.testing.assert_allclose(model.look(one_more(truth), data)[0], seen[0], rtol=1e-10)
    assert np.isfinite(seen).all()
    assert np.isfinite(model.log_likelihood(prior, data)).all()
    assert set(model.joint) <= set(model.samplers)
    assert type(model.corner()) is type(model.brief()) is type(model)


@pytest.mark.parametrize(("name", "sampler"), marked(JOINT))
def test_joint_distribution(name, sampler):
    """Slow ones at a length at which mistakes of a few hundredths of a deviation are seen."""
    n = 700 if (name, sampler) in QUICK else 20_000
    z = joint_test(MODELS[name].brief(), sampler, n, np.random.default_rng(1))
    # 12 to 16 scores each of some 25 samplers: above 5 once in 4,000 runs of them all; the shorter
    # ones have heavier tails, of effective sample sizes that are hardly known
    assert np.nanmax(np.abs(z)) < (6 if n < 20_000 else 5), z


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sampler"), ALL)
def test_ranks_and_corner(name, sampler):
    model = MODELS[name]
    replicate = functools.partial(replication, model, sampler, model.samplers[sampler])
    ranks = simulated_ranks(replicate, 200, random_state=2)
    # 230 p-values in all: below 1e-5 once in 400 runs
    assert uniformity(ranks, 31).min() > 1e-5
    z, _ = corner_test(model.corner(), sampler, 200_000, 4000, np.random.default_rng(3))
    assert np.nanmax(np.abs(z)) < 5.5, z


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"model": "SGNS", "sampler": "gibbs"}, "model must be one of 'BayesianSGNS'"),
        ({"model": "GaussianLDA", "sampler": "nuts"}, "sampler must be one of 'gibbs'"),
        ({"model": "GaussianLDA", "sampler": "gibbs", "share": 0}, "share must be a number > 0"),
    ],
)
def test_what_is_refused(wrong, named):
    with pytest.raises(ValueError, match=named):
        calibrate(**wrong)


def made(p_small=False):
    """A result without any run."""
    rng = np.random.default_rng(4)
    ranks = rng.integers(32, size=(60, 2)) // (4 if p_small else 1)
    return Calibration(
        "GaussianLDA", "hmc", ("a", "b"), ranks, 31, None, 200, rng.normal(size=4), 812.0
    )


def test_results_are_saved_and_judged(tmp_path):
    good, bad = made(), made(p_small=True)
    assert good.passed
    assert not bad.passed
    assert math.isnan(good.worst[1])
    good.save(tmp_path / "one.json")
    again = Calibration.load(tmp_path / "one.json")
    np.testing.assert_array_equal(again.ranks, good.ranks)
    assert again.joint is None
    assert again.worst[0] == good.worst[0]
    assert "fails" in bad.line()


def test_the_page_has_a_line_for_each_sampler(tmp_path):
    (tmp_path / "mutations.md").write_text("| of | mistake |\n", encoding="utf-8")
    write_page(tmp_path / "page.md", [made(), made(p_small=True)], tmp_path / "mutations.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "**1 of them failed**" in text
    assert text.count("| GaussianLDA |") == 2
    assert "| of | mistake |" in text
    assert " --share 0.03 " in text
    assert (tmp_path / "page.png").stat().st_size > 1000


@pytest.mark.slow
def test_the_command_keeps_what_it_found(tmp_path, capsys):
    assert main(["--list", "Gauss"]) == 0
    assert "GaussianLDA: gibbs:alias" in capsys.readouterr().out
    assert main(["nothing"]) == 2
    assert chosen(["bayesian"], ["hmc"])[0] == ("BayesianSGNS", "hmc")
    capsys.readouterr()
    command = ["GaussianLDA", "--samplers", "gibbs", "--share", "0.001", "--seed", "3"]
    command += ["--results", str(tmp_path)]
    first = main(command)
    line = capsys.readouterr().out
    assert line.startswith("GaussianLDA, gibbs: p = ")
    # the second time from the file
    assert main(command) == first
    assert capsys.readouterr().out == line

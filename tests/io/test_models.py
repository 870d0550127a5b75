"""Models in files without pickle: the same answers to the last bit, and nothing else is loaded."""

from __future__ import annotations

import io
import json
import pickle
import re
import subprocess
import sys
import threading
import warnings
import zipfile
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

import skbayesembed
from skbayesembed import (
    BayesianSGNS,
    DiSCSenseModel,
    DynamicSGNS,
    GaussianLDA,
    InformativePrior,
    build_vocabulary,
    count_pairs,
)
from skbayesembed.common import memory
from skbayesembed.datasets.named import NamedList
from skbayesembed.dynamic.predict import mean_diffusion
from skbayesembed.io import WordVectors, models
from skbayesembed.io.archive import array_of, header_of, write_archive
from skbayesembed.io.digest import digest
from tests.test_contract import CASES

TEXTS = [
    "the river bank flooded and the bank was wet",
    "money in the bank and a loan of money",
    "the river and the wet bank flooded",
    "a bank gave money and a loan",
] * 6
YEARS = [2000, 2000, 2001, 2001] * 6
SHORT = {"draws": 40, "warmup": 20, "chains": 2, "min_count": 1, "random_state": 0}
VECTORS = {
    word: np.random.default_rng(i).normal(size=2)
    for i, word in enumerate(["river", "bank", "money", "loan", "wet"])
}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def saved(model, path, **options):
    model.save(path / "model.npz", **options)
    return skbayesembed.load(path / "model.npz")


def values_of(answer):
    """The arrays of a table or a bunch, by name."""
    if hasattr(answer, "to_frame"):
        answer = answer.to_frame().to_dict("list")
    return {name: np.asarray(value) for name, value in answer.items() if value is not None}


def answers(model, case=None):
    """Everything that a model is asked, by name."""
    found = {f"draws {name}": draws for name, draws in model.posterior_.items()}
    found |= {f"stats {name}": draws for name, draws in model.posterior_.stats.items()}
    if hasattr(model, "approximation_"):
        found |= model.approximation_.sample(3, np.random.default_rng(0))
    if case is not None:
        found["score"] = model.score(case.X, **case.covariates)
        if case.counts is not None:
            found["transform"] = model.transform(case.counts, **case.covariates)
    place = {"period": model.periods_.labels[0]} if hasattr(model, "drift") else {}
    for method, arguments, options in (
        ("similarity", (0, 3), {}),
        ("most_similar", (0, 3), place),
        ("most_changed", (3,), {"min_pairs": 0}),
        ("sense_words", (3,), {}),
        ("top_words", (3,), {}),
        ("topic_info", (3,), {}),
    ):
        if hasattr(model, method):
            answer = values_of(getattr(model, method)(*arguments, **options))
            found |= {f"{method} {name}": value for name, value in answer.items()}
    return found


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@cache
def fit_once(name):
    return CASES[name].fit()


def fitted(name):
    """A fit of a case that has answered nothing yet."""
    return deepcopy(fit_once(name))


# what they store is of the same kinds as what others store
LIKE_OTHERS = (
    "sgns-polya-gamma", "sgns-free", "sgns-learned", "sgns-hmc", "sgns-shard", "sgns-vi-diag",
    "sgns-laplace", "dynamic-learned", "dynamic-hmc", "dynamic-filtering", "dynamic-laplace",
    "senses-works", "senses-hmc", "senses-gibbs", "senses-laplace", "senses-works-gibbs",
    "senses-gasc", "senses-edisc-hmc", "senses-edisc-vi", "senses-edisc-laplace", "topics-hmc",
    "topics-laplace", "topics-map", "topics-online", "topics-dirichlet-gibbs",
    "topics-dirichlet-online",
)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LIKE_OTHERS else ())
        for name in CASES
        if not name.startswith("toy") and not name.endswith("-drawn")
    ],
)
def test_every_estimator_and_solver(name, tmp_path):
    case, model = CASES[name], fitted(name)
    again = saved(model, tmp_path)
    assert type(again) is type(model)
    assert repr(again.get_params()) == repr(model.get_params())
    assert repr(again.posterior_.attrs) == repr(model.posterior_.attrs)
    assert vars(again).keys() == vars(model).keys()
    expected = answers(model, case)
    same(answers(again, case), expected)
    # what was worked out for the answers is stored too
    same(answers(saved(model, tmp_path), case), expected)
    # and what was loaded can be saved, fitted again and cloned
    same(answers(saved(again, tmp_path), case), expected)
    clone(again)


INTERVALS = {
    "map": lambda: BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS),
    "vi": lambda: BayesianSGNS(2, solver="vi", prior_precision=0.1, **SHORT).fit(TEXTS),
    "dynamic": lambda: DynamicSGNS(2, solver="vi", **SHORT).fit(TEXTS, times=YEARS),
}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("map", False),
        pytest.param("map", True, marks=pytest.mark.slow),
        pytest.param("vi", False, marks=pytest.mark.slow),
        pytest.param("vi", True, marks=pytest.mark.slow),
        pytest.param("dynamic", False, marks=pytest.mark.slow),
        ("dynamic", True),
    ],
)
def test_intervals_by_documents(name, asked, tmp_path):
    model = INTERVALS[name]()
    if asked:
        answers(model)
    again = saved(model, tmp_path)
    same(answers(again), answers(model))
    assert np.all(model.similarity("river", "money").sd_sampling > 0)
    np.testing.assert_array_equal(again.n_units_, model.n_units_)


def test_a_file_without_intervals_by_units_is_told_of(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "_WORTH_STORING", 1)
    model = INTERVALS["map"]()
    model.save(tmp_path / "model")
    told = capsys.readouterr().err
    assert "model.npz has no intervals by units yet" in told and told.count("\n") == 1
    for setting, unasked in (("model", True), ("documents", False)):
        model.set_params(uncertainty=setting)
        if not unasked:
            model.similarity("river", "money")
        model.save(tmp_path / "model")
        assert not capsys.readouterr().err


def test_a_file_of_a_small_model_is_not_told_of(tmp_path, capsys):
    INTERVALS["map"]().save(tmp_path / "model")
    assert not capsys.readouterr().err


def test_streams_go_on(tmp_path):
    model = BayesianSGNS(2, solver="vi", **SHORT).partial_fit(TEXTS[:12])
    again = saved(model, tmp_path)
    for each in (model, again):
        each.partial_fit(TEXTS[12:])
    same(answers(again), answers(model))


_IN_ANOTHER_PROCESS = """
import sys, numpy as np, skbayesembed
from tests.helpers.seeds import shift_seeds
shift_seeds(int(sys.argv[3]))
model = skbayesembed.load(sys.argv[1])
found = model.similarity("river", ["money", "wet"])
most = model.most_similar("river", 3)
np.savez(sys.argv[2], mean=found.mean, interval=found.interval, draws=found.draws,
         words=most.words.astype(str), transform=model.transform(["river and money"]),
         score=model.score(["river money bank", "loan river"]))
"""


def test_another_process(tmp_path, request):
    """Nothing but the file and the package is needed."""
    model = BayesianSGNS(2, solver="gibbs", prior_precision=0.1, **SHORT).fit(TEXTS)
    model.save(tmp_path / "model")
    assert (tmp_path / "model.npz").exists()
    offset = request.config.getoption("--seed-offset")
    arguments = [str(tmp_path / "model"), str(tmp_path / "found.npz"), str(offset)]
    command = [sys.executable, "-W", "ignore", "-c", _IN_ANOTHER_PROCESS, *arguments]
    subprocess.run(command, check=True, timeout=120, cwd=Path(__file__).parents[2])
    found, ours = np.load(tmp_path / "found.npz"), model.similarity("river", ["money", "wet"])
    for name in ("mean", "interval", "draws"):
        np.testing.assert_array_equal(found[name], ours[name])
    assert found["words"].tolist() == model.most_similar("river", 3).words.tolist()
    np.testing.assert_array_equal(found["transform"], model.transform(["river and money"]))
    assert found["score"] == model.score(["river money bank", "loan river"])


# Parameters -------------------------------------------------------------------------------------


def cut(text):
    return text.split()


def test_functions_are_asked_for(tmp_path):
    model = BayesianSGNS(2, solver="map", analyzer=cut, prior_precision=0.1, **SHORT).fit(TEXTS)
    model.save(tmp_path / "model")
    with pytest.raises(
        ValueError, match=r"analyzer must be given: it was <function cut .*analyzer="
    ):
        skbayesembed.load(tmp_path / "model")
    again = skbayesembed.load(tmp_path / "model", analyzer=cut, n_jobs=1)
    assert again.analyzer is cut and again.n_jobs == 1
    np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    with pytest.raises(ValueError, match="no parameter of BayesianSGNS"):
        skbayesembed.load(tmp_path / "model", analyzer=cut, colour="red")


def test_embeddings_are_stored(tmp_path):
    sgns = BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS)
    vectors = WordVectors(list(VECTORS), np.float32(list(VECTORS.values())))
    for embedding in (VECTORS, vectors, sgns, FrozenEstimator(sgns)):
        model = GaussianLDA(2, embedding=embedding, solver="vi", max_features=3, **SHORT)
        model.fit(TEXTS)
        again = saved(model, tmp_path)
        # words that fit has dropped are looked up in the embedding
        np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    counts = np.array([[text.split().count(word) for word in VECTORS] for text in TEXTS])
    model = GaussianLDA(2, embedding=np.array(list(VECTORS.values())), solver="vi", **SHORT)
    again = saved(model.fit(counts), tmp_path)
    np.testing.assert_array_equal(again.transform(counts), model.transform(counts))


def test_embeddings_in_a_frame_are_stored_with_their_words(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(list(VECTORS.values()), index=list(VECTORS)).iloc[::-1]
    model = GaussianLDA(2, embedding=frame, solver="vi", max_features=3, **SHORT).fit(TEXTS)
    table = model.get_params()["embedding"]
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    assert table is frame and again.embedding["bank"].tolist() == frame.loc["bank"].tolist()


def test_parameters_of_many_kinds(tmp_path):
    prior = InformativePrior({"river": {0: 1.5}}, precision=2.0)
    model = BayesianSGNS(
        2, solver="map", stop_words=["the"], prior=prior, random_state=np.random.RandomState(1)
    ).set_params(min_count=np.int64(1), prior_precision=np.float32(0.5))
    model.fit(TEXTS)
    again = saved(model, tmp_path)
    assert again.prior.values == {"river": {0: 1.5}} and again.prior.precision == 2.0
    assert again.stop_words == ["the"] and again.min_count == 1
    assert type(again.prior_precision) is np.float32
    assert again.random_state.randint(10**9) == model.random_state.randint(10**9)

    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["1999-01-01", "2001-01-01", "2003-01-01"])
    senses = DiSCSenseModel(2, solver="map", n_starts=1, bins=days, random_state=0)
    times = ["2000-05-03", "2001-05-03", "2000-05-04", "2002-05-03"] * 6
    again = saved(senses.fit(TEXTS, times=times), tmp_path)
    assert again.periods_.labels == senses.periods_.labels
    clone(again).fit(TEXTS, times=times)


def test_what_cannot_be_stored_is_named(tmp_path):
    class Words(list):
        pass

    model = BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS)
    model.stop_words = Words(["the"])
    with pytest.raises(TypeError, match="stop_words is a .*Words, which is not stored"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotFittedError):
        BayesianSGNS().save(tmp_path / "model")
    with pytest.raises(OSError):
        model.set_params(stop_words=None).save(tmp_path / "nowhere" / "model")


# Fewer draws ------------------------------------------------------------------------------------


def test_fewer_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(memory, "LARGE_FILE", 10_000)
    options = {**SHORT, "draws": 200, "uncertainty": "model"}
    model = BayesianSGNS(2, solver="gibbs", prior_precision=0.1, **options).fit(TEXTS)
    model.most_similar("river")  # works out the maps of draws
    model.save(tmp_path / "all")
    assert "all.npz takes" in (said := capsys.readouterr().err) and "save(path, draws=200)" in said
    # advice is of fewer draws than there are
    there = [SimpleNamespace(n_chains=2, n_draws=n, attrs={"solver": "vi"}) for n in (50, 60, 150)]
    assert [models._fewer_draws(posterior) for posterior in there] == [0, 100, 150]
    model.save(tmp_path / "few", draws=100)
    again = skbayesembed.load(tmp_path / "few")
    capsys.readouterr()
    again.save(tmp_path / "again")
    said = capsys.readouterr().err
    assert "save(path, draws=0) keeps none of the draws, which take most of it: " in said
    assert "(intervals of the posterior, score)" in " ".join(said.split())
    of_new = [models._of_new(one()) for one in (BayesianSGNS, GaussianLDA, DiSCSenseModel)]
    assert of_new == ["", ", topics of new documents", ", senses of new snippets"]
    model.save(tmp_path / "none", draws=0)
    size = {name: (tmp_path / f"{name}.npz").stat().st_size for name in ("all", "few", "none")}
    assert size["none"] < size["few"] < size["all"]
    few, none = (skbayesembed.load(tmp_path / name) for name in ("few", "none"))
    assert (few.posterior_.n_chains, few.posterior_.n_draws) == (2, 50)
    np.testing.assert_array_equal(few.posterior_["rho"], model.posterior_["rho"][:, ::4])
    for each in (few, none):
        np.testing.assert_array_equal(each.rho_, model.rho_)
        np.testing.assert_array_equal(each.transform(TEXTS), model.transform(TEXTS))
        for moment in ("mean", "std"):
            a, b = (getattr(m.posterior_, moment)("rho") for m in (each, model))
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    a, b = few.similarity("river", "money"), model.similarity("river", "money")
    assert a.draws.shape == (100,)
    np.testing.assert_allclose(a.draws, b.draws[::4], rtol=1e-10)
    for ask in (
        lambda: none.similarity("river", "money"),
        lambda: none.score(TEXTS),
        lambda: none.posterior_["rho"],
    ):
        with pytest.raises(KeyError, match="were kept without draws, which this needs") as error:
            ask()
        assert "save(path, draws=0)" in str(error.value)
        assert "Save the fitted model again with draws=None, all of them" in str(error.value)
        assert "a mean of the posterior needs none: mean, std and summary" in str(error.value)


METHODS = {
    "transform": lambda m, case: m.transform(case.counts, **case.covariates),
    "score": lambda m, case: m.score(case.X, **case.covariates),
    "sample_transform": lambda m, case: m.sample_transform(case.counts, 10, **case.covariates),
    "predict_proba": lambda m, case: m.predict_proba(case.X, **case.covariates),
    "loo": lambda m, case: m.loo(case.X, **case.covariates),
    "log_density": lambda m, case: m.log_density(case.X),
    "perplexity": lambda m, case: m.perplexity(case.X),
    "cooccurrence_proba": lambda m, case: values_of(m.cooccurrence_proba([(0, 1)]))["mean"],
    "similarity": lambda m, case: m.similarity(0, 3)["interval"],
    "most_changed": lambda m, case: m.most_changed(3, min_pairs=0).mean,
    "drift": lambda m, case: m.drift(1)["interval"],
    "prevalence_interval": lambda m, case: m.prevalence_interval(),
    "sense_words": lambda m, case: m.sense_words(3).interval,
    "word_trajectory": lambda m, case: m.word_trajectory(0).interval,
    "sense_given_word": lambda m, case: m.sense_given_word(0).interval,
    "top_words": lambda m, case: m.top_words(3).interval,
    "topic_info": lambda m, case: m.topic_info(3)["share"],
    "coherence": lambda m, case: m.coherence(3),
    "effects": lambda m, case: (
        m.effects(case.counts, np.arange(m.posterior_.attrs.get("n_documents", 3)) % 3.0).mean
    ),
    "topic_interval": lambda m, case: m.topic_interval(case.X),
    "summary": lambda m, case: m.posterior_.summary().low,
}


@pytest.mark.parametrize(
    "name",
    ["sgns-free", "sgns-vi", "dynamic-gibbs", "dynamic-vi", "senses-hmc",
     pytest.param("senses-vi", marks=pytest.mark.slow), "topics-gibbs",
     pytest.param("topics-vi", marks=pytest.mark.slow)],
)  # fmt: skip
def test_without_draws_answers_are_the_same_or_refused(name, tmp_path):
    case, model = CASES[name], fitted(name)
    without, refused = saved(model, tmp_path, draws=0), 0
    assert without.posterior_.n_draws == 0
    for method, ask in METHODS.items():
        if not hasattr(model, method) and method != "summary":
            continue
        try:
            expected = ask(model, case)
        except (TypeError, ValueError):  # not with these data or this solver
            continue
        try:
            found = ask(without, case)
        except (KeyError, ValueError) as error:
            assert re.search("kept without draws|needs draws of the posterior", str(error)), method
            refused += 1
            continue
        if method == "summary":
            assert np.isnan(found).all()
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-10, err_msg=method)
    # an approximation that is drawn from for every answer is stored itself
    assert refused or name == "dynamic-vi"


def test_a_learned_diffusion_without_draws_is_not_taken_for_another(tmp_path):
    """Vectors of a time that is no period's hang on it."""
    options = SHORT | {"solver": "gibbs", "diffusion": "learned", "uncertainty": "model"}
    model = DynamicSGNS(2, **options).fit(TEXTS, times=YEARS)
    none = saved(model, tmp_path, draws=0)
    for_both = [m.transform(TEXTS[:1], times=YEARS[:1]) for m in (model, none)]
    np.testing.assert_allclose(*for_both, rtol=1e-10)
    with pytest.raises(KeyError, match="'diffusion' is asked for its draws, and there are none"):
        none.transform(TEXTS[:1], times=[2005])
    # once taken for the default, .001
    np.testing.assert_allclose(mean_diffusion(none), mean_diffusion(model), rtol=1e-6)


def test_topics_that_shape_priors_are_exported_without_draws(tmp_path):
    """That they have vectors, and which one has none, is known all the same."""
    case, model = CASES["topics-dirichlet-vi"], fitted("topics-dirichlet-vi")
    none = saved(model, tmp_path, draws=0)
    vectors, expected = none.to_word_vectors(), model.to_word_vectors()
    assert vectors.words.tolist() == expected.words.tolist()
    np.testing.assert_allclose(vectors.vectors, expected.vectors, rtol=1e-6)
    with pytest.raises(KeyError, match="is asked for its draws, and there are none"):
        none.transform(case.counts)


def test_drifting_words_that_are_drawn_afresh_need_no_draws(tmp_path):
    """Texts on kept draws are of models whose answers are of them."""
    model = DynamicSGNS(2, solver="vi", uncertainty="model", **SHORT).fit(TEXTS, times=YEARS)
    advice = models._on_draws(model)
    assert "refused" not in advice and "answers draw afresh from the approximation" in advice
    none = saved(model, tmp_path, draws=0)
    a, b = (m.similarity("river", "money") for m in (none, model))
    np.testing.assert_array_equal(a.draws, b.draws)
    assert a.source == "vi" and "draws that were kept" not in repr(a)
    assert "draws that were kept" not in repr(none.most_similar("river", 2, period=YEARS[0]))
    made = model.posterior_.attrs["draws_made"]
    said = f"{made} of an approximation, independent of each other"
    afresh = "; answers about words draw afresh from it"
    assert f"{said}{afresh}" in str(model.report())
    assert f"{said}; 0 of them are kept{afresh}" in str(none.report())
    assert np.isfinite(none.score(TEXTS, times=YEARS))


def test_fewer_draws_over_time(tmp_path):
    options = {**SHORT, "draws": 100, "uncertainty": "model"}
    model = DynamicSGNS(2, solver="gibbs", **options).fit(TEXTS, times=YEARS)
    again = saved(model, tmp_path, draws=100)
    a, b = (m.similarity("river", "money").draws for m in (again, model))
    np.testing.assert_allclose(a, b[::2], rtol=1e-10)


def test_a_point_is_kept(tmp_path):
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS)
    same(answers(saved(model, tmp_path, draws=0)), answers(model))


@pytest.mark.parametrize("draws", [-1, 1, 99, 2.5, True, "all"])
def test_wrong_draws(draws, file, tmp_path):
    model = skbayesembed.load(file)
    with pytest.raises(ValueError, match="draws must be"):
        model.save(tmp_path / "model", draws=draws)


# Files ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS).save(path)
    return path


def rewritten(file, path, change):
    """A copy of a file of which ``change(header, arrays)`` changes the parts."""
    stored = dict(np.load(file))
    header = json.loads(bytes(stored.pop("header")))
    change(header, stored)
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **stored)
    return path


def nodes_of(header, kind):
    return [node for node in header["nodes"] if node["kind"] == kind]


def wrong_class(name):
    def change(header, arrays):
        nodes_of(header, "object")[0]["class"] = name

    return change


def executed(header, arrays):
    """Code in the places of classes and functions."""
    header["nodes"].append({"kind": "function", "name": "os.system"})
    header["state"]["words_"] = {"at": len(header["nodes"]) - 1}


HOSTILE = {
    "other classes": wrong_class("subprocess:Popen"),
    "modules not imported": wrong_class("skbayesembed.nowhere:Periods"),
    "functions": wrong_class("skbayesembed.io.models:load"),
    "what a module has imported": wrong_class("skbayesembed.io.models:zipfile"),
    "classes of others": wrong_class("skbayesembed.io.models:BaseEstimator"),
    "code": executed,
    "other estimators": lambda h, a: h.update({"class": "Posterior"}),
    "functions as estimators": lambda h, a: h.update({"class": "load"}),
    "unknown estimators": lambda h, a: h.update({"class": "Nothing"}),
    "unknown parameters": lambda h, a: h["parameters"].update(colour="red"),
    "unknown nodes": lambda h, a: nodes_of(h, "array")[0].update(kind="pickle"),
    "references beyond the end": lambda h, a: h["state"].update(words_={"at": 10**9}),
    "endless references": lambda h, a: (
        h["nodes"].append({"kind": "tuple", "items": [{"at": len(h["nodes"])}]})
        or h["state"].update(words_={"at": len(h["nodes"]) - 1})
    ),
    "missing arrays": lambda h, a: a.pop("array_0"),
    "wrong axes": lambda h, a: nodes_of(h, "array")[0].update(axes=[5, 7]),
    "types of objects": lambda h, a: (
        h["state"].update(words_={"at": len(h["nodes"])})
        or h["nodes"].append({"kind": "dtype", "name": "O"})
    ),
    "no posterior": lambda h, a: h.update(state={}),
    "no header": lambda h, a: h.clear(),
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_nothing_else_is_loaded(what, file, tmp_path):
    path = rewritten(file, tmp_path / "hostile.npz", HOSTILE[what])
    with pytest.raises(ValueError, match="is not a saved model, or is damaged"):
        skbayesembed.load(path)


@pytest.mark.parametrize("name", ["PairShard", "Vocabulary", "Posterior"])
def test_other_files_of_the_package_are_named(name, tmp_path):
    vocabulary = build_vocabulary(TEXTS, min_count=1)
    saved_ones = {
        "PairShard": lambda: count_pairs(TEXTS, vocabulary),
        "Vocabulary": lambda: vocabulary,
        "Posterior": lambda: INTERVALS["map"]().posterior_,
    }
    saved_ones[name]().save(tmp_path / "a.npz")
    with pytest.raises(
        ValueError, match=rf"is a saved {name}, no model: read it with {name}\.load"
    ):
        skbayesembed.load(tmp_path / "a.npz")


def test_pickles_are_not_read(file, tmp_path):
    class Payload:
        def __reduce__(self):
            return exec, ("raise SystemExit('executed')",)

    stored = dict(np.load(file))
    np.savez(tmp_path / "a.npz", **(stored | {"array_0": np.array([Payload()], dtype=object)}))
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Payload()))
    for name in "ab":
        with pytest.raises(ValueError, match="is not a saved model, or is damaged"):
            skbayesembed.load(tmp_path / name)


def test_arrays_larger_than_the_file(file, tmp_path):
    """A header that announces terabytes takes no memory."""
    parts = dict(np.load(file))
    with zipfile.ZipFile(tmp_path / "model.npz", "w") as archive:
        for name, array in parts.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array)
            data = buffer.getvalue()
            if name == "array_0":
                buffer = io.BytesIO()
                fields = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10**6)}
                np.lib.format.write_array_header_1_0(buffer, fields)
                data = buffer.getvalue()
            archive.writestr(f"{name}.npy", data)
    with pytest.raises(ValueError, match="is not a saved model, or is damaged"):
        skbayesembed.load(tmp_path / "model.npz")


def test_only_what_shrinks_is_compressed(tmp_path):
    """Without loss: reals are stored as they are, and counts, most of them zero, shrink."""
    rng = np.random.default_rng(0)
    arrays = {
        "reals": rng.normal(size=(200, 300)),
        "fortran": np.asfortranarray(rng.normal(size=(3, 4))),
        "none": np.zeros(0),
        "counts": rng.poisson(0.01, (200, 300)).astype(float),
    }
    for compress in (False, True):
        write_archive(tmp_path / "a.npz", {"x": 1}, arrays, compress=compress)
        with zipfile.ZipFile(tmp_path / "a.npz") as archive:
            assert header_of(archive) == {"x": 1}
            for name, array in arrays.items():
                found = array_of(archive, name)
                assert found.dtype == array.dtype
                assert np.array_equal(found, array)
                info = archive.getinfo(f"{name}.npy")
                deflated = info.compress_type == zipfile.ZIP_DEFLATED
                assert deflated == (compress and name == "counts")
    assert info.compress_size < 0.02 * info.file_size
    assert (tmp_path / "a.npz").stat().st_size < 0.55 * sum(a.nbytes for a in arrays.values())


def test_more_than_memory(file, tmp_path, monkeypatch):
    """A small file of zeros does not take more memory than there is."""
    stored = dict(np.load(file)) | {"array_0": np.zeros(10**6)}
    np.savez_compressed(tmp_path / "model.npz", **stored)
    monkeypatch.setattr(memory, "free_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match="An array of the file would take about 7.63 MiB"):
        skbayesembed.load(tmp_path / "model.npz")


def test_files_of_version_1(file, tmp_path):
    """They differ in that nothing is compressed."""
    old = rewritten(file, tmp_path / "old.npz", lambda h, a: h.update(version=1))
    first, second = skbayesembed.load(old), skbayesembed.load(file)
    assert first.words_.tolist() == second.words_.tolist()
    assert np.array_equal(first.rho_, second.rho_)


def test_damaged_files(file, tmp_path):
    data = file.read_bytes()
    rng = np.random.default_rng(0)
    cuts = rng.integers(0, len(data) - 1, 20).tolist()
    for content in (b"", b"PK\x03\x04", b"no model", *(data[:cut] for cut in cuts)):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(ValueError, match="is not a saved model, or is damaged"):
            skbayesembed.load(tmp_path / "bad.npz")
    with pytest.raises(FileNotFoundError):
        skbayesembed.load(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="path must be a file, and is a folder: .*folder'"):
        skbayesembed.load(tmp_path / "folder")


@pytest.mark.slow
def test_changed_bits(file, tmp_path):
    """Whatever is changed, the same model is loaded or none."""
    data, rng = file.read_bytes(), np.random.default_rng(0)
    expected = answers(skbayesembed.load(file))
    for _ in range(60):
        bad = bytearray(data)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        (tmp_path / "bad.npz").write_bytes(bytes(bad))
        try:
            found = skbayesembed.load(tmp_path / "bad.npz")
        except ValueError as error:
            assert "is not a saved model, or is damaged" in str(error)
        else:
            same(answers(found), expected)


def test_changed_nodes(file, tmp_path):
    """Nodes that are not what they were are refused, or make other data, and nothing else."""
    rng = np.random.default_rng(0)
    others = [None, -1, 10**30, "x", [], {}, {"at": 0}, {"at": -1}, [[1, 2]], float("nan"), True]

    def change(header, arrays):
        node = header["nodes"][rng.integers(len(header["nodes"]))]
        key = sorted(node)[rng.integers(len(node))]
        node[key] = others[rng.integers(len(others))]

    for _ in range(40):
        path = rewritten(file, tmp_path / "changed.npz", change)
        try:
            assert isinstance(skbayesembed.load(path), BayesianSGNS)
        except ValueError as error:
            assert "is not a saved model, or is damaged" in str(error)


def test_versions(file, tmp_path):
    newer = rewritten(file, tmp_path / "newer.npz", lambda h, a: h.update(version=99))
    with pytest.raises(ValueError, match="has format version 99; .* versions 1 to 2: upgrade"):
        skbayesembed.load(newer)
    older = rewritten(file, tmp_path / "older.npz", lambda h, a: h.update(package="0.0.1"))
    with pytest.warns(UserWarning, match="was saved by skbayesembed 0.0.1, this is "):
        skbayesembed.load(older)


def test_a_file_is_replaced_when_the_new_one_is_complete(file, tmp_path, monkeypatch):
    model = skbayesembed.load(file)
    path = tmp_path / "model.npz"
    path.write_bytes(b"before")
    with monkeypatch.context() as patched:
        full = lambda *a, **k: (_ for _ in ()).throw(OSError("full"))  # noqa: E731
        patched.setattr(np.lib.format, "write_array", full)
        with pytest.raises(OSError, match="full"):
            model.save(path)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]
    threads = [threading.Thread(target=model.save, args=(path,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(answers(skbayesembed.load(path)), answers(model))
    assert list(tmp_path.iterdir()) == [path]


def test_skops_stores_the_same(tmp_path):
    """The way for pipelines, which holds classes of scikit-learn besides."""
    skops = pytest.importorskip("skops.io")
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, **SHORT).fit(TEXTS)
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert {name.split(".")[0] for name in unknown} <= {"skbayesembed", "numpy"}
    again = skops.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))
    np.testing.assert_array_equal(again.rho_, model.rho_)


def test_ranges_of_parameters(tmp_path):
    texts, times = ["a b c a b", "b c a c"] * 4, list(range(1900, 1908))
    model = DynamicSGNS(
        1, bins=range(1900, 1909, 4), min_count=1, token_pattern=r"\w", solver="map",
        prior_precision=0.1, uncertainty="model", random_state=0,
    ).fit(texts, times=times)  # fmt: skip
    again = saved(model, tmp_path)
    assert again.bins == range(1900, 1909, 4)
    np.testing.assert_array_equal(again.rho_, model.rho_)


def test_errors_of_writing_name_the_path_that_was_given(tmp_path):
    """Not the file in its place until it is complete, of which a user knows nothing."""
    texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    for write in (model.save, model.posterior_.save):
        with pytest.raises(FileNotFoundError, match="path must be in a folder that exists") as got:
            write(tmp_path / "none" / "x.npz")
        assert got.value.filename == str(tmp_path / "none" / "x.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(OSError, match="directory") as got:
        model.save(tmp_path / "folder.npz")
    assert got.value.filename == str(tmp_path / "folder.npz") and ".part" not in str(got.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.npz"]


def test_requests_of_metadata_are_not_in_the_way(tmp_path):
    """They are for the clones of searches, and files do without."""
    with config_context(enable_metadata_routing=True):
        model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
        model.set_fit_request(units=True).fit(["the cat sat", "a dog sat"] * 5)
        model.save(tmp_path / "model")
    again = skbayesembed.load(tmp_path / "model")
    np.testing.assert_array_equal(again.rho_, model.rho_)


def test_lists_with_the_name_of_their_column_are_lists(tmp_path):
    stop = NamedList(["the", "and"], "president")
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, stop_words=stop, **SHORT).fit(TEXTS)
    model.save(tmp_path / "model.skb.npz")
    assert skbayesembed.load(tmp_path / "model.skb.npz").stop_words == ["the", "and"]
    assert digest(NamedList(["a"], "p")) != digest(NamedList(["b", "c"], "p"))

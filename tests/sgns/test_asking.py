"""Questions of `BayesianSGNS` against the same from draws, or along deviations, by hand."""

from __future__ import annotations

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS, Posterior
from skbayesembed.sgns.documents.answers import _sd_of_normal
from skbayesembed.sgns.questions.asking import share_above
from skbayesembed.sgns.questions.phrases import Axis
from skbayesembed.sgns.questions.scales import COSINE, PLAIN, PROBABILITY

V = 18
WORDS = np.array([f"w{i:02d}" for i in range(V)])
_RNG = np.random.default_rng(11)
_TOPICS = _RNG.dirichlet(np.full(V, 0.4), 4)
TEXTS = [
    " ".join(_RNG.choice(WORDS, 60, p=_RNG.dirichlet(np.full(4, 0.3)) @ _TOPICS)) for _ in range(30)
]
SOLVERS = {
    "gibbs": {"draws": 15, "warmup": 15, "chains": 2},
    "hmc": {"solver": "hmc", "draws": 40, "warmup": 60, "chains": 1},
    "vi": {"solver": "vi", "draws": 30},
    "laplace": {"solver": "laplace", "draws": 30},
    "map": {"solver": "map"},
    "learned": {"draws": 15, "warmup": 15, "chains": 2, "prior_precision": "learned"},
    "raw": {"draws": 15, "warmup": 15, "chains": 2, "balance": False},
    "biases": {"solver": "vi", "biases": True, "draws": 30},
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.usefixtures("first_mode"),
]
LIST, OTHER = ["w01", "w04", "w07"], ["w02", "w03"]


def fit(**parameters):
    defaults = {"solver": "gibbs", "min_count": 1, "random_state": 0}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The chains have not mixed")
        return BayesianSGNS(3, **{**defaults, **parameters}).fit(TEXTS)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(s, marks=pytest.mark.slow if s in ("hmc", "laplace", "learned") else ())
        for s in SOLVERS
    ],
)
def fitted(request):
    return fit(**SOLVERS[request.param])


@pytest.fixture(scope="module")
def mode():
    return fit(solver="map")


@pytest.fixture
def by_model(fitted):
    return copy.copy(fitted).set_params(uncertainty="model")


def draws_of(model):
    """Draws of target vectors as they are read."""
    return list(model.posterior_.flat("rho") if model._balanced is None else model._balanced)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def mean_unit(model, rho, words):
    return unit(rho[[model.vocabulary_[w] for w in words]]).mean(axis=0)


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


# -- lists, axes, documents ----------------------------------------------------------------------


def test_lists_and_axes_stand_for_words(fitted, by_model):
    """By the posterior's draws, one after the other; a word named twice counts once."""
    axis = by_model.axis(LIST, "w09")
    expected = []
    for rho in draws_of(by_model):
        mean, other = (mean_unit(by_model, rho, words) for words in (LIST, OTHER))
        direction = mean - mean_unit(by_model, rho, ["w09"])
        word = mean_unit(by_model, rho, ["w05"])
        expected.append([cosine(mean, other), cosine(word, mean), cosine(word, direction)])
    found = [
        by_model.similarity(LIST, [*OTHER, "w02"]),
        by_model.similarity("w05", np.array(LIST)),
        by_model.similarity("w05", axis),
    ]
    np.testing.assert_allclose(np.transpose([f.draws for f in found]), expected, atol=1e-12)
    assert by_model.similarity("w05", set(LIST)).mean == pytest.approx(found[1].mean)
    documents = fitted.similarity(LIST, OTHER)
    assert documents.mean == pytest.approx(found[0].mean)
    for row in (by_model.project(["w05", "w06"], axis), fitted.project(["w06", "w05"], axis)):
        place = row.words.tolist().index("w05")
        assert row.mean[place] == pytest.approx(found[2].mean)


def test_lists_are_cut_in_print_alone(mode):
    """Data frames and sentences have all words; sentences say that a list is a mean."""
    pytest.importorskip("pandas")
    words = [f"w{i:02}" for i in range(1, 6)]
    whole, cut = ", ".join(words), "w01, w02, w03 (+2)"
    found = mode.similarity(words, "w07")
    assert found.title == f"similarity of the mean of '{cut}' and 'w07'"
    frame = found.to_frame(sentence=True)
    assert frame[["a", "b"]].values.tolist() == [[whole, "w07"]]
    told = f"he similarity of the mean of '{whole}' and 'w07'"
    assert frame["sentence"][0].startswith(f"T{told} is ")
    other = mode.similarity(["w08"], "w07")
    apart = mode.contrast(found, other)
    assert apart.to_frame()["a"].tolist() == [told[3:]] and f"he {told[3:]}" in apart.sentence
    apart = mode.similarity_difference((words, "w07"), ("w08", "w07"))
    assert apart.to_frame()["first"].tolist() == [told[3:]] and cut in apart.title
    axis = mode.axis(words, "w08")
    for table, asked in (
        (mode.most_similar(words, 2), {"nearest_to": whole}),
        (mode.nearer("w07", [words, "w08"]), {"word": whole}),
        (mode.project([words, "w08"], axis), {"word": whole, "axis": f"w08 -> {whole}"}),
    ):
        frame = table.to_frame()
        assert all(value in frame[name].tolist() for name, value in asked.items())
        assert cut in repr(table) and whole not in repr(table)
    lists = words, ["w06", "w07"], ["w08"], ["w09"]
    assert mode.weat(*lists).to_frame()["X"].tolist() == [whole]


def test_chains_that_have_not_mixed_have_no_interval_and_no_verdict():
    """In sentences, which say that the answer is not to be used."""
    model = fit(solver="gibbs", draws=40, warmup=20, chains=2).set_params(uncertainty="model")
    model.posterior_.attrs["converged"] = False
    first, second = model.similarity("w00", "w01"), model.similarity("w00", "w02")
    nearer, apart = model.nearer("w00", ["w01", "w02"]), model.contrast(first, second)
    assert nearer.verdict == apart.verdict == "not mixed"
    assert "verdict: not mixed" in repr(nearer) and "It is not known whether" in nearer.sentence
    assert apart.sentence.startswith("The difference between the similarity")
    project = model.project(["w00"], model.axis("w01", "w02"))
    for text in (first.sentence, nearer.sentence, apart.sentence, *project.sentences.values()):
        assert "% interval" not in text and "(no interval)" in text
        assert text.endswith(". The chains have not mixed, so this answer is not to be used.")
    model.posterior_.attrs["converged"] = True
    again = model.contrast(first, second)
    assert again.verdict != "not mixed" and "(90% interval" in again.sentence


def sd_of_cosine(mean, total):
    """The standard deviation of a cosine that varies so much to first order."""
    return _sd_of_normal(COSINE, np.arctanh(mean), total / (1.0 - mean**2))


def test_a_list_moves_as_its_words_do(mode):
    """The cosine of two lists along every deviation, by central differences."""
    d, step = mode._sampling.deviations, 1e-4

    def value(rho):
        return cosine(mean_unit(mode, rho, LIST), mean_unit(mode, rho, OTHER))

    shifts = d.shifts[:, 0].astype(float)
    slopes = [(value(d.vectors[0] + step * s) - value(d.vectors[0] - step * s)) / (2 * step)
              for s in shifts]  # fmt: skip
    found = mode.similarity(LIST, OTHER)
    total = np.sqrt(np.sum(np.square(slopes)))
    np.testing.assert_allclose(found.sd, sd_of_cosine(found.mean, total), rtol=1e-5)
    known = np.sqrt(np.sum(np.square(slopes[: d.n_sampling])))
    np.testing.assert_allclose(found.sd_sampling, found.sd * known / total, rtol=1e-5)
    units = mode.n_units_[[mode.vocabulary_[w] for w in LIST + OTHER]]
    assert units.min() <= found.n_units <= units.max()


def test_words_of_one_document_have_deviations_of_their_own_in_lists():
    texts = [*TEXTS[:-1], TEXTS[-1] + " alone" * 6 + " single w01 single w02 single"]
    model = BayesianSGNS(3, solver="map", min_count=1, random_state=0).fit(texts)
    d, step = model._sampling.deviations, 1e-4
    rare, pair = ["alone", "single", "w01"], ["w02", "single"]
    own = [model.vocabulary_[w] for w in ("alone", "single")]
    assert sorted(d.own) == sorted(own)

    def value(rho):
        return cosine(mean_unit(model, rho, rare), mean_unit(model, rho, pair))

    def slope(shift):
        return (value(d.vectors[0] + step * shift) - value(d.vectors[0] - step * shift)) / (
            2 * step
        )

    squares = np.sum([slope(s) ** 2 for s in d.shifts[:, 0].astype(float)])
    for word in own:
        for column in d.own[word][0].T:
            shift = np.zeros_like(d.vectors[0])
            shift[word] = column
            squares += slope(shift) ** 2
    found = model.similarity(rare, pair)
    assert found.sd == pytest.approx(sd_of_cosine(found.mean, np.sqrt(squares)), rel=1e-5)


def test_documents(fitted, by_model):
    texts = [*TEXTS[:3], "nothing that is known"]
    with pytest.warns(UserWarning, match="X: 1 of 4 documents has no known word"):
        found = by_model.document_similarity(texts, TEXTS[5:7])
    assert found.mean.shape == (4, 2) and found.interval.shape == (4, 2, 2)
    weights = [[t.split().count(w) for w in by_model.words_] for t in texts + TEXTS[5:7]]
    weights = np.array(weights) / np.maximum(np.sum(weights, axis=1), 1)[:, None]
    features = [weights @ rho for rho in draws_of(by_model)]
    expected = [[[cosine(x, y) for y in f[4:]] for x in f[:3]] for f in features]
    np.testing.assert_allclose(found.draws[:, :3], expected, atol=1e-12)
    assert np.isnan(found.draws[:, 3]).all()
    by_words = by_model.document_similarity(texts[:3], words=["w03", LIST])
    expected = [[cosine(f[0], mean_unit(by_model, rho, LIST))]
                for f, rho in zip(features, draws_of(by_model), strict=True)]  # fmt: skip
    np.testing.assert_allclose(by_words.draws[:, 0, 1:], expected, atol=1e-12)
    assert by_words.axes["word"][0] == "w03"
    with pytest.warns(UserWarning, match="X: 1 of 4 documents has no known word"):
        itself = fitted.document_similarity(texts)
    np.testing.assert_allclose(np.diagonal(itself.mean), [1, 1, 1, np.nan])
    assert np.all(itself.sd[:3, :3] >= 0) and itself.sd[0, 1] > 0 and np.isnan(itself.sd[0, 3])
    np.testing.assert_allclose(itself.mean, itself.mean.T)
    if fitted.posterior_.attrs["uncertainty"] == "documents":
        # a document of one word is as similar to another word as that word is
        one = fitted.document_similarity(["w04 w04"], words=["w05"])
        word = fitted.similarity("w04", "w05")
        np.testing.assert_allclose(one.interval[0, 0], word.interval, rtol=1e-6)


# -- tables --------------------------------------------------------------------------------------


def test_nearer(fitted):
    others = ["w01", OTHER, "w06", "w09"]
    table = fitted.nearer("w00", others)
    assert sorted(table.words) == ["w01", "w02, w03", "w06", "w09"]
    assert np.all(np.diff(table.mean) <= 0)
    assert table.prob_nearest.sum() == pytest.approx(1.0)
    what = {"w02, w03": OTHER}
    for i, word in enumerate(table.words.tolist()):
        alone = fitted.similarity("w00", what.get(word, word))
        np.testing.assert_allclose(table.mean[i], alone.mean)
        np.testing.assert_allclose(table.interval[i], alone.interval)
        first = fitted.similarity("w00", what.get(table.words[0], table.words[0]))
        apart = fitted.contrast(first, alone)
        np.testing.assert_allclose(table.difference[i], apart.mean, atol=1e-12)
        np.testing.assert_allclose(table.difference_interval[i], apart.interval, atol=1e-9)
    assert len(str(table).splitlines()) >= 6 and "P(nearest)" in str(table)
    # a point has no ends of anything
    assert ("[" in str(table)) == (table.source != "point")
    assert all(repr(word) in table.sentence for word in table.words.tolist())
    assert table.sentence.endswith(".") and ".." not in table.sentence
    frame = table.to_frame()
    assert list(frame.columns[:4]) == ["nearest_to", "word", "mean", "sd"]
    assert "difference_low" in frame


def test_nearer_of_two_is_the_contrast(fitted):
    table = fitted.nearer("w00", ["w01", "w06"])
    first, second = (fitted.similarity("w00", w) for w in table.words)
    found = fitted.contrast(first, second)
    assert table.prob_nearest[0] == pytest.approx(1 - np.mean(found.draws < 0))
    same = fitted.similarity_difference(("w00", table.words[0]), ("w00", table.words[1]))
    np.testing.assert_allclose(same.draws, found.draws, atol=1e-12)
    assert same.prob_positive == found.prob_positive
    # both say the same in words
    assert same.verdict == found.verdict and same.sentence == found.sentence
    (low, high), value = found.interval, f"{found.mean:+.2f} (90% interval "
    verdict = "larger" if low > 0 else "smaller" if high < 0 else "not decided"
    assert found.verdict == verdict and verdict in found.sentence and value in found.sentence
    assert table.verdict in ("nearest", "not decided") and value in table.sentence
    assert (table.verdict == "nearest") == (low > 0 and table.prob_nearest[0] >= 0.9)
    assert ("is not decided" in table.sentence) == (table.verdict == "not decided")
    assert table.sentence.count(" or to ") == (table.verdict == "not decided")
    for answer, kind in ((table, "nearer"), (found, "contrast")):
        told = re.sub(r"\(the verdict (hangs|may change)", "", repr(answer))
        assert told.count("verdict") == 1 and answer.sentence not in told, kind
    opposite = fitted.contrast(second, first)
    assert opposite.verdict == {"larger": "smaller", "smaller": "larger"}.get(verdict, verdict)
    alone = fitted.nearer("w00", ["w01"])
    assert alone.verdict is None and alone.sentence is None
    by_default = fitted.contrast(fitted.cooccurrence_proba([("w00", "w01"), ("w00", "w02")]), first)
    assert by_default.verdict.shape == (2,)
    told = by_default.sentence
    assert told.startswith("The difference between ") and told.endswith(".")
    values = re.findall(r"([+-]?\d+\.\d{2,}) \(90% interval ", told)
    np.testing.assert_allclose(np.array(values, float), by_default.mean, atol=0.0051)
    for verdict in set(by_default.verdict):
        said = "which is larger is not decided" if verdict == "not decided" else verdict
        assert f"{said} for " in told, told


def test_tables_in_words(fitted):
    """A sentence for each row that is asked for by its name, one of those that are ranked."""
    axis = fitted.axis("w00", ["w01", "w06"])
    table = fitted.project(["w05", "w09"], axis)
    point = table.source == "point"
    assert list(table.sentences) == table.words.tolist()
    said = table.sentences["w09"]
    mean = table.mean[table.words.tolist().index("w09")]
    assert said.startswith(
        f"The projection of 'w09' on the axis from 'w01', 'w06' to 'w00' is {mean:+.2f} ("
    )
    assert ("P(positive)" in said) != point and "..." not in said
    ranked = fitted.analogy("w00", "w01", "w05", 3)
    best = str(ranked.words[0 if point else np.argmax(ranked.prob_answer)])
    most = "" if point else "most probably "
    said = f"The word that is to 'w05' as 'w01' is to 'w00' is {most}{best!r}, with "
    assert ranked.sentence.startswith(said)
    lists = ["w00", "w01"], ["w05", "w06"], ["w02"], ["w03"]
    answer = fitted.weat(*lists)
    assert answer.sentence.startswith(
        "The effect size (WEAT) of 'w00' and 'w01' against 'w05' and 'w06', in their association "
        f"with 'w02' rather than 'w03', is {answer.mean:+.2f} ("
    )
    # which a sentence on an effect below zero goes on from
    end = "." if answer.mean > 0 else ", of an effect above zero"
    told = f" test over 6 splits of the words has a one-sided p = {answer.p_value:.3f}{end}"
    assert told in answer.sentence
    assert answer.sentence not in repr(answer)
    assert fitted.weats({"pets": lists}).sentences == {"pets": answer.sentence}


def test_projections(fitted):
    axis = fitted.axis(OTHER, "w09")
    assert repr(axis) == "Axis(['w02', 'w03'], 'w09')"
    table = fitted.project(["w00", LIST, "w06"], axis)
    assert np.all(np.diff(table.mean) <= 0) and len(table) == 3
    share, (low, high) = np.mean(table.answer.draws > 0, axis=0), table.interval.T
    if "n_units" in table.answer:
        # held to what 90 % intervals by units, which are exact, say of zero
        least = np.where(low > 0, 0.95, np.where(high < 0, 0.0, 0.05))
        most = np.where(low > 0, 1.0, np.where(high < 0, 0.05, 0.95))
        share = np.clip(share, least, most)
    np.testing.assert_allclose(table.prob_positive, share)
    assert str(table).startswith("on the axis w09 -> w02, w03")
    turned = fitted.project(["w00"], fitted.axis("w09", OTHER))
    at = table.words.tolist().index("w00")
    assert turned.mean[0] == pytest.approx(-table.mean[at])
    np.testing.assert_allclose(turned.sd[0], table.sd[at])


def test_neighbours_of_lists_and_axes(by_model, fitted):
    for what in (LIST, by_model.axis(OTHER, "w09")):
        own = LIST if what is LIST else [*OTHER, "w09"]
        cosines = {w: [] for w in by_model.words_.tolist() if w not in own}
        for rho in draws_of(by_model):
            direction = mean_unit(by_model, rho, own[:-1] if what is not LIST else LIST)
            if what is not LIST:
                direction = direction - mean_unit(by_model, rho, ["w09"])
            for w, values in cosines.items():
                values.append(cosine(rho[by_model.vocabulary_[w]], direction))
        order = sorted(cosines, key=lambda w: -np.mean(cosines[w]))[:4]
        table = by_model.most_similar(what, 4)
        assert table.words.tolist() == order
        np.testing.assert_allclose(table.mean, [np.mean(cosines[w]) for w in order])
        by_units = fitted.most_similar(what, 4)
        assert by_units.words.tolist() == order
        np.testing.assert_allclose(by_units.mean, table.mean)
        alone = fitted.similarity(what, order[0])
        np.testing.assert_allclose(by_units.interval[0], alone.interval, atol=1e-9)


def test_analogy(by_model, fitted):
    a, b, c = "w00", "w01", "w02"
    best, cosines = [], []
    for rho in draws_of(by_model):
        x = unit(rho)
        i, j, k = (by_model.vocabulary_[w] for w in (a, b, c))
        found = x @ unit(x[j] - x[i] + x[k])
        cosines.append(found.copy())
        found[[i, j, k]] = -np.inf
        best.append(by_model.words_[np.argmax(found)])
    table = by_model.analogy(a, b, c, 3)
    mean = np.mean(cosines, axis=0)
    at = [by_model.vocabulary_[w] for w in table.words]
    np.testing.assert_allclose(table.mean, mean[at])
    chosen = [np.mean(np.array(best) == w) for w in table.words]
    # a point estimate has no probabilities
    chosen = chosen if table.n_draws > 1 else [np.nan] * len(chosen)
    np.testing.assert_allclose(table.prob_answer, chosen)
    assert not {a, b, c} & set(table.words)
    whole = fitted.analogy(a, b, c, V)
    assert len(whole) == V - 3 and whole.prob_answer.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(whole.mean[:3], table.mean)
    assert str(whole).startswith("'w00' is to 'w01' as 'w02' is to\nanswer")
    assert "prob_answer" in whole.to_frame()


# -- contrasts -----------------------------------------------------------------------------------


def test_contrast(fitted):
    a, b = fitted.similarity("w00", "w01"), fitted.similarity("w00", LIST)
    found = fitted.contrast(a, b, low=-0.2, high=0.2)
    assert found.mean == pytest.approx(a.mean - b.mean)
    inside = np.mean((found.draws > -0.2) & (found.draws < 0.2))
    assert found.prob_inside == pytest.approx(inside)
    assert found.prob_positive == np.mean(found.draws > 0)
    assert "prob_inside" not in fitted.contrast(a, b)
    assert fitted.contrast(a, b, low=0).prob_inside == found.prob_positive
    opposite = fitted.contrast(b, a)
    assert opposite.mean == pytest.approx(-found.mean) and opposite.sd == pytest.approx(found.sd)
    itself = fitted.contrast(a, fitted.similarity("w01", "w00"))
    assert abs(itself.mean) < 1e-12 and itself.sd < 1e-6


def test_contrasts_of_different_kinds(fitted, by_model):
    """Their draws are those of the two answers; by units their variances add up by Bienayme."""
    pairs = [("w00", "w01"), ("w03", "w03")]
    for model in (fitted, by_model):
        proba, one = model.cooccurrence_proba(pairs), model.similarity("w00", "w01")
        found = model.contrast(proba, one)
        assert found.mean.shape == (2,) and found.interval.shape == (2, 2)
        np.testing.assert_allclose(found.mean, proba.mean - one.mean)
        again = model.contrast(found, model.contrast(proba, one))
        np.testing.assert_allclose(again.mean, 0, atol=1e-12)
        assert np.all(again.sd < 1e-6)
        total = model.contrast(found, model.contrast(one, one))
        np.testing.assert_allclose(total.sd, found.sd, rtol=1e-4)
    np.testing.assert_allclose(found.draws, proba.draws - one.draws[:, None], atol=1e-12)
    rho = by_model.posterior_.flat("rho")
    i, j = by_model.vocabulary_["w00"], by_model.vocabulary_["w01"]
    logits = np.sum(rho[:, i] * by_model.posterior_.flat("alpha")[:, j], axis=1)
    if "rho_bias" in by_model.posterior_:
        logits += by_model.posterior_.flat("rho_bias")[:, i]
        logits += by_model.posterior_.flat("alpha_bias")[:, j]
    np.testing.assert_allclose(proba.draws[:, 0], expit(logits))


def test_contrasts_by_units_are_joint(mode):
    """The correlation of draws of two answers is that which the variance of a contrast has."""
    a, b = mode.similarity("w00", "w01"), mode.similarity("w00", "w02")
    found = mode.contrast(a, b)
    shared = (a.sd**2 + b.sd**2 - found.sd**2) / (2 * a.sd * b.sd)
    d = mode._sampling.deviations

    def slopes(word):
        i, j, step = mode.vocabulary_["w00"], mode.vocabulary_[word], 1e-4
        ends = [d.vectors[0] + sign * step * d.shifts[:, 0] for sign in (1, -1)]
        return np.subtract(*([cosine(x[i], x[j]) for x in end] for end in ends)) / (2 * step)

    x, y = slopes("w01"), slopes("w02")
    # but for the ends of the range of differences
    assert shared == pytest.approx(cosine(x, y), abs=2e-3)
    # 1,000 draws, on scales that are not linear: that of the normal variables with their ranks
    ranks = spearmanr(a.draws, b.draws).statistic
    assert 2 * np.sin(np.pi / 6 * ranks) == pytest.approx(shared, abs=0.15)


def test_rows_kept_by_name_are_joint_with_whole_draws(monkeypatch):
    """Where all draws of a few words were recorded, a contrast goes by those of all words."""
    monkeypatch.setattr("skbayesembed.sgns.recording.DRAW_BUDGET", 20_000)
    monkeypatch.setattr("skbayesembed.sgns.recording._FEWEST_DRAWS", 1)
    options = {"draws": 60, "warmup": 30, "chains": 2, "keep_draws": ["w00", "w01"]}
    model = fit(**options, balance=False).set_params(uncertainty="model")
    assert "rho_rows" in model.posterior_.stats
    kept, whole = model.similarity("w00", "w01"), model.similarity("w00", "w02")
    assert len(kept.draws) == 120 > len(whole.draws)
    found = model.contrast(kept, whole)
    rho = model.posterior_.flat("rho")
    i, j, k = (model.vocabulary_[w] for w in ("w00", "w01", "w02"))
    expected = [cosine(r[i], r[j]) - cosine(r[i], r[k]) for r in rho]
    np.testing.assert_allclose(found.draws, expected, atol=1e-12)


def test_answers_are_bunches_and_pickle(mode):
    found = mode.similarity("w00", "w01")
    copied = pickle.loads(pickle.dumps(found))
    assert copied.mean == found.mean and set(copied) == set(found)
    with pytest.raises(ValueError, match="b must be an answer of this estimator"):
        mode.contrast(found, copied)


def test_answers_of_other_fits_have_no_joint_draws(mode):
    other = fit(solver="map", random_state=1)
    with pytest.raises(ValueError, match="a must be an answer of this fit, got one of another"):
        mode.contrast(other.similarity("w00", "w01"), mode.similarity("w00", "w01"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": 0.2, "high": 0.2}, "low must be below high, got low=0.2 and high=0.2"),
        ({"low": "0"}, "low must be a number or None, got '0'"),
        ({"high": True}, "high must be a number or None, got True"),
        ({"low": np.nan}, "low must be below high"),
        ({"prob": 1.0}, "prob must be a number between 0 and 1"),
    ],
)
def test_wrong_ends(mode, options, message):
    a, b = mode.similarity("w00", "w01"), mode.similarity("w00", "w02")
    with pytest.raises(ValueError, match=message):
        mode.contrast(a, b, **options)


def test_shapes_must_fit(mode):
    pairs = [("w00", "w01"), ("w00", "w02"), ("w03", "w04")]
    with pytest.raises(ValueError, match=r"got the shapes \(3,\) and \(2,\)"):
        mode.contrast(mode.cooccurrence_proba(pairs), mode.cooccurrence_proba(pairs[:2]))
    with pytest.raises(ValueError, match="a must be an answer of this estimator.*got float"):
        mode.contrast(0.5, mode.cooccurrence_proba(pairs))


# -- words that are not there --------------------------------------------------------------------


def test_did_you_mean(mode):
    with pytest.raises(KeyError, match="Did you mean 'w00'. Words are case-sensitive"):
        mode.similarity("W00", "w01")
    with pytest.raises(KeyError, match="Did you mean 'w1"):
        mode.nearer("w1", ["w00"])
    with pytest.raises(KeyError) as caught:
        mode.most_similar("zebra")
    assert "Did you mean" not in str(caught.value)


def test_stop_words_and_words_that_are_far():
    texts = ["the late crime of the limited sea", "the sea and the crime"] * 5
    model = BayesianSGNS(
        1, solver="map", min_count=1, stop_words="english", uncertainty="model", random_state=0
    ).fit(texts)
    with pytest.raises(KeyError, match="'The'.*one of the stop_words of 'english', which are left"):
        model.most_similar("The")
    with pytest.warns(UserWarning, match=r"2 of 3 words .*'the' \(a stop word\), 'climate'\."):
        model.similarity("sea", ["late", "the", "climate"])
    with pytest.raises(
        KeyError, match="none of which were dropped as rare.*Did you mean 'limited'"
    ):
        model.most_similar("limted")


def test_missing_words_of_lists(mode):
    message = r"b: 2 of 3 words are not in the vocabulary of 18 words: 'W04' \(Did you mean 'w04'"
    with pytest.warns(UserWarning, match=message):
        found = mode.similarity("w00", ["w01", "W04", "zebra"])
    assert found.mean == mode.similarity("w00", "w01").mean
    with pytest.raises(KeyError, match="word: 2 of 2 words are not in the vocabulary"):
        mode.most_similar(["zebra", "lion"])
    with pytest.warns(UserWarning, match="low: 1 of 2 words"):
        axis = mode.axis("w00", ["w01", "zebra"])
    # the axis has the words that are known: nothing is said again
    assert axis.low == ["w01"]
    mode.project(["w02"], axis)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.similarity("w00", []), ValueError, "b must name at least one word, got an em"),
        (lambda m: m.similarity("w00", ["w01", 99]), KeyError, "b=99 is out of range"),
        (lambda m: m.similarity("w00", [["w01"]]), KeyError, "is not in the vocabulary"),
        (lambda m: m.nearer("w00", "w01"), ValueError, "others must be a list of words"),
        (lambda m: m.nearer("w00", []), ValueError, "others must name at least one word"),
        (lambda m: m.nearer("w00", ["w01", ["w01"]]), ValueError, "different words.*'w01' twice"),
        (lambda m: m.nearer("w00", ["w01"])[:1], TypeError, r"rows by to_frame\(\), got slice"),
        (lambda m: m.nearer("w00", ["w01"], prob=2), ValueError, "prob must be a number"),
        (lambda m: m.project(["w00"], "w01"), ValueError, "axis must be what the method axis"),
        (lambda m: m.project("w00", Axis("w01", "w02")), ValueError, "words must be a list"),
        (lambda m: m.axis("w00", "zebra"), KeyError, "low='zebra' is not in the vocabulary"),
        (lambda m: m.analogy("w00", "w01", "zebra"), KeyError, "c='zebra' is not in the voc"),
        (lambda m: m.analogy("w00", "w01", "w02", 0), ValueError, "n must be an integer >= 1"),
        (
            lambda m: m.document_similarity(TEXTS, TEXTS, words=["w00"]),
            ValueError,
            "other and words must not both be given",
        ),
        (lambda m: m.document_similarity(TEXTS, words="w00"), ValueError, "words must be a list"),
    ],
)
def test_errors(mode, call, error, message):
    with pytest.raises(error, match=message):
        call(mode)


def test_probabilities_do_not_contradict_intervals_by_units():
    """An interval of 90 % above a value has 95 % or more of the probability above it."""
    quantiles = norm.ppf((np.arange(1000) + 0.5) / 1000)
    draws = quantiles[:, None] + np.array([1.6, 0.0, -1.6])
    found = Bunch(draws=draws, n_units=np.full(3, 9.0))
    found.interval = np.array([[0.01, 3.2], [-1.6, 1.6], [-3.2, -0.01]])
    shares = np.mean(draws > 0, axis=0)
    # the draws say .945 and .055
    assert shares[0] < 0.95 and shares[2] > 0.05
    assert np.allclose(share_above(found, 0.0, 0.9), [0.95, shares[1], 0.05])
    assert share_above(found, 0.02, 0.9)[0] <= 0.95
    # draws of a posterior have intervals of their own quantiles
    del found["n_units"]
    assert np.array_equal(share_above(found, 0.0, 0.9), np.mean(draws > 0, axis=0))


def test_standard_errors_are_of_answers_on_their_own_scale():
    """First order had 1.86 for a cosine that is hardly known, and next to nothing at one."""
    z = norm.ppf((np.arange(10**5) + 0.5) / 10**5)[:, None]
    centre, total = np.array([0.0, 0.7, 5.0, 0.3, 3.0]), np.array([0.05, 2.0, 3.0, 1.0, 0.7])
    found = _sd_of_normal(COSINE, centre, total)
    np.testing.assert_allclose(found, np.tanh(centre + total * z).std(axis=0), rtol=0.02)
    # small probabilities hang on the tail
    small = _sd_of_normal(PROBABILITY, np.full(2, -8.0), np.array([0.5, 1.5]))
    exact = expit(-8.0 + np.array([0.5, 1.5]) * z).std(axis=0)
    np.testing.assert_allclose(small, exact, rtol=0.02)
    assert _sd_of_normal(COSINE, np.full(1, 0.3), np.zeros(1)) == 0.0
    np.testing.assert_allclose(found[0], 0.05, rtol=0.01)
    np.testing.assert_allclose(_sd_of_normal(PLAIN, centre, total), total, rtol=1e-9)


def test_answers_of_chains_have_their_mixing(fitted, by_model):
    """Others say how to ask chains; what is the same in every draw has none."""
    by_units = fitted.similarity("w01", "w02")
    answer = by_model.similarity("w01", "w02")
    if fitted.solver_ not in ("gibbs", "hmc"):
        with pytest.raises(AttributeError, match=f"and this one rests on '{answer.source}'"):
            _ = answer.rhat
        return
    draws = answer.draws.reshape(fitted.posterior_.n_chains, -1)
    table = Posterior({"x": draws}).summary()
    assert answer.rhat == table.rhat[0] and answer.ess == table.ess_bulk[0]
    assert answer.ess_tail == answer.to_frame()["ess_tail"][0] == table.ess_tail[0]
    assert "effective draws" in repr(answer) or "chains differ on this" in repr(answer)
    same = by_model.contrast(answer, answer)
    assert np.isnan([same.rhat, same.ess, same.ess_tail]).all() and "R-hat" not in repr(same)
    if by_units.source == "units":
        with pytest.raises(AttributeError, match=r"after set_params\(uncertainty='model'\)"):
            _ = by_units.ess


def test_an_axis_has_words_at_its_ends():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    axis = model.fit(texts).axis("cat", "dog")
    with pytest.raises(ValueError, match="high must be a word or a list of words, got the axis"):
        model.axis(axis, "mat")


def test_tables_are_held_against_each_other_word_by_word(mode):
    """Whatever the order of their rows; and titles say what of."""
    model = mode
    axes = model.axis("w00", "w05"), model.axis("w01", "w06")
    words = ["w02", "w03", "w07"]
    for prob in (0.9, 0.5):
        first, second = (model.project(words, axis, prob=prob) for axis in axes)
        found = model.contrast(first, second)
        assert list(found.axes["word"]) == list(first.words)
        each = [
            model.contrast(*(model.similarity(str(word), axis) for axis in axes)).mean
            for word in first.words
        ]
        np.testing.assert_allclose(found.mean, each, atol=1e-6)
        assert (
            found.title == f"projection on {axes[0].label!r}, less projection on {axes[1].label!r}"
        )
    back = model.contrast(second, first)
    order = [list(back.axes["word"]).index(word) for word in found.axes["word"]]
    np.testing.assert_allclose(back.mean[order], -found.mean)
    twice = model.contrast(found, model.contrast(second, first))
    np.testing.assert_allclose(twice.mean, 2 * found.mean, atol=1e-6)
    near = model.contrast(*(model.nearer(word, ["w02", "w03"]) for word in ("w00", "w05")))
    assert "between the cosine with 'w00' and the cosine with 'w05'" in near.sentence
    effects = [model.weat(["w00", "w01"], ["w05", "w06"], [a], ["w07"]) for a in ("w02", "w03")]
    said = model.contrast(*effects)
    assert "association with 'w02' rather than 'w07'" in said.sentence
    # probabilities are held to the interval
    low, high = said.interval + [-1e-6, 1e-6]
    assert model.contrast(*effects, low=low, high=high).prob_inside >= 0.9 - 1e-9


def test_a_mode_that_is_zero_has_no_directions():
    with pytest.warns(ConvergenceWarning, match="The MAP estimate is zero"):
        model = BayesianSGNS(2, solver="map", prior_precision=1e6, min_count=1).fit(TEXTS)
    for uncertainty in ("model", "documents"):
        model.set_params(uncertainty=uncertainty)
        for ask in (
            lambda: model.similarity("w00", "w01"),
            lambda: model.most_similar("w00"),
            lambda: model.nearer("w00", ["w01", "w02"]),
            lambda: model.document_similarity(TEXTS[:2]),
        ):
            with pytest.raises(ValueError, match="words have no directions"):
                ask()


def test_one_document_says_why_there_are_no_intervals():
    model = BayesianSGNS(2, solver="map", prior_precision=1.0, min_count=1, random_state=0)
    assert "(no intervals by units: one unit only)" in repr(
        model.fit([" ".join(TEXTS)]).similarity("w00", "w01")
    )


def test_what_is_the_same_is_inside_or_not(mode):
    """Of a difference of exactly zero there is nothing to be held to an interval."""
    one = mode.similarity("w00", "w01")
    inside = [mode.contrast(one, one, low=a, high=b).prob_inside for a, b in ((0, 1), (-1, 1))]
    assert inside == [0.0, 1.0]


def test_points_have_no_line_on_ranks(mode):
    table = copy.copy(mode).set_params(uncertainty="model").analogy("w00", "w01", "w02", 2)
    assert np.isnan(table.prob_answer).all() and "not known" not in repr(table)

"""Pair counts of parts of a text: their sums, their files, and fits to them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy import sparse

import skbayesembed
from skbayesembed import BayesianSGNS, PairShard, Vocabulary, build_vocabulary, count_pairs
from skbayesembed.sgns import inputs, shards
from skbayesembed.sgns.documents import blocks
from skbayesembed.sgns.documents.awaited import Awaited

OPTIONS = {"solver": "map", "prior_precision": 1.0, "random_state": 0}
pytestmark = pytest.mark.usefixtures("first_mode")


def make_text(n_documents=90, seed=0):
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, 41)
    words = np.array([f"w{i}" for i in range(40)])
    return [
        " ".join(rng.choice(words, rng.integers(0, 40), p=share / share.sum()))
        for _ in range(n_documents)
    ]


TEXTS = make_text()
SPEAKERS = [f"speaker {i % 7}" for i in range(len(TEXTS))]
# of unequal sizes; one is empty, one has documents without words of the vocabulary only
CUTS = [slice(0, 40), slice(40, 40), slice(40, 41), slice(41, 90)]
VOCABULARY = build_vocabulary(TEXTS, min_count=8)


def count(cut, **options):
    units = options.pop("units", None)
    return count_pairs(
        iter(TEXTS[cut]), VOCABULARY, units=None if units is None else units[cut], **options
    )


def counts_of_fit(X, units=None, **parameters):
    estimator = BayesianSGNS(2, min_count=8, **parameters)
    return inputs.training_data(estimator, X, np.random.SeedSequence(0), units)


def same_table(a, b):
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def same_shard(a, b):
    same_table(a.positive, b.positive)
    same_table(a.tokens, b.tokens)
    assert a.n_documents == b.n_documents
    assert (a.units is None) == (b.units is None)
    if a.units is not None:
        np.testing.assert_array_equal(a.units, b.units)
        for mine, its in zip(a.blocks(), b.blocks(), strict=True):
            np.testing.assert_array_equal(mine.document, its.document)
            np.testing.assert_array_equal(mine.word, its.word)
            same_table(mine.positive, its.positive)


@pytest.mark.parametrize("units", [None, SPEAKERS], ids=["together", "units"])
@pytest.mark.parametrize("weights", ["linear", "uniform"])
@pytest.mark.parametrize("window", [1, 3, 100])
def test_sums_are_what_a_fit_counts(window, weights, units):
    options = {"window": window, "window_weights": weights}
    whole = sum(count(cut, units=units, **options) for cut in CUTS)
    for sampling in ("expected", "sampled"):
        mine, its = (
            counts_of_fit(X, negative_sampling=sampling, **options) for X in (whole, TEXTS)
        )
        assert mine.words.tolist() == its.words.tolist()
        same_table(mine.counts.positive, its.counts.positive)
        if sampling == "sampled":
            same_table(mine.counts.negative, its.counts.negative)
        else:
            np.testing.assert_array_equal(mine.counts.negative.left, its.counts.negative.left)
            np.testing.assert_array_equal(mine.counts.negative.right, its.counts.negative.right)


@pytest.mark.parametrize("units", [None, SPEAKERS], ids=["together", "units"])
def test_any_order_and_any_grouping(units):
    a, b, c, d = (count(cut, units=units) for cut in CUTS)
    whole = count(slice(None), units=units)
    same_shard(((a + b) + c) + d, whole)
    same_shard(d + (c + (b + a)), whole)


def test_flushes_change_nothing(monkeypatch):
    whole = count(slice(None), units=SPEAKERS)
    for most in (1, 30, 500):
        monkeypatch.setattr(shards, "_TOKENS", most)
        same_shard(count(slice(None), units=SPEAKERS), whole)


@pytest.mark.slow
def test_map_and_reduce_in_processes():
    with Parallel(n_jobs=2) as map_:
        words = sum(map_(delayed(build_vocabulary)(TEXTS[cut], min_count=8) for cut in CUTS))
        parts = map_(delayed(count_pairs)(TEXTS[c], words, units=SPEAKERS[c]) for c in CUTS)
    same_shard(sum(parts), count(slice(None), units=SPEAKERS))


def test_map_and_reduce_on_dask():
    bag = pytest.importorskip("dask.bag")
    vocabulary = (
        bag.from_sequence(TEXTS, npartitions=3)
        .map_partitions(lambda texts: [build_vocabulary(iter(texts), min_count=8)])
        .fold(lambda a, b: a + b)
        .compute(scheduler="threads")
    )
    whole = (
        bag.from_sequence(TEXTS, npartitions=3)
        .map_partitions(lambda texts: [count_pairs(iter(texts), vocabulary)])
        .fold(lambda a, b: a + b)
        .compute(scheduler="threads")
    )
    same_shard(whole, count(slice(None)))


@pytest.mark.parametrize("units", [None, SPEAKERS, list(range(90))], ids=["none", "str", "int"])
def test_saved_and_loaded(units, tmp_path):
    for name, cut in (("whole", slice(None)), ("empty", CUTS[1])):
        shard = count(cut, units=units)
        shard.save(tmp_path / name)
        loaded = PairShard.load(tmp_path / f"{name}.npz")
        same_shard(loaded, shard)
        same_shard(loaded + count(CUTS[3], units=units), shard + count(CUTS[3], units=units))
        same_shard(pickle.loads(pickle.dumps(shard)), shard)
    VOCABULARY.save(tmp_path / "words")
    with pytest.raises(ValueError, match="not a saved shard of pair counts"):
        PairShard.load(tmp_path / "words")


def test_intervals_by_units_are_those_of_the_documents(tmp_path):
    model = BayesianSGNS(2, min_count=8, **OPTIONS)
    fitted = [
        model.fit(TEXTS, units=SPEAKERS).similarity("w0", "w1"),
        model.fit(count(slice(None), units=SPEAKERS)).similarity("w0", "w1"),
    ]
    # sums of weights in another order differ in their last digits
    np.testing.assert_allclose(fitted[0].interval, fitted[1].interval, rtol=1e-5)
    model.save(tmp_path / "model")
    again = skbayesembed.load(tmp_path / "model").similarity("w0", "w1")
    np.testing.assert_allclose(again.interval, fitted[1].interval, rtol=1e-10)
    whole = model.fit(count(slice(None)))
    assert whole.posterior_.attrs["uncertainty"] == "model"


def test_units_and_weights_of_a_shard():
    shard = count(slice(None), units=SPEAKERS)
    weights = np.arange(7.0)
    rows = [weights[int(s.split()[1])] for s in SPEAKERS]
    mine, its = (
        inputs.training_data(
            BayesianSGNS(2, min_count=8), X, np.random.SeedSequence(0), None, w
        ).counts.positive.toarray()
        for X, w in ((shard, weights), (TEXTS, rows))
    )
    np.testing.assert_allclose(mine, its)
    grouped = counts_of_fit(shard, units=list("aabbbcc"))
    assert grouped.units.n_units == 3


@pytest.mark.filterwarnings("ignore:.* no known word")
def test_precision_and_scores():
    shard = count(slice(None), units=SPEAKERS)
    model = BayesianSGNS(2, min_count=8, **OPTIONS | {"prior_precision": "auto"}).fit(shard)
    assert model.prior_precision_ > 0
    # the protocol's windows have other words, too
    texts = [" ".join(w for w in text.split() if w in model.vocabulary_) for text in TEXTS]
    assert model.score(shard) == pytest.approx(model.score(texts))
    assert model.transform(TEXTS).shape == (90, 2)


def test_what_questions_of_a_shard_will_take(monkeypatch):
    """Its pairs are counted: no pass over texts is timed."""
    monkeypatch.setattr(Awaited, "timed", 1)
    shard = count(slice(None), units=SPEAKERS)
    model = BayesianSGNS(2, min_count=8, uncertainty="documents", **OPTIONS).fit(shard)
    assert np.isfinite(model.similarity("w0", "w1").interval).all()
    cost = model.set_params(prior_precision="auto").estimate_cost(shard)
    assert cost.question is not None


def test_shard_after_shard_online():
    parts = [count(cut) for cut in CUTS]
    model = BayesianSGNS(2, solver="vi", draws=20, random_state=0)
    for part in parts:
        model.partial_fit(part)
    assert model.words_.tolist() == VOCABULARY.words.tolist()
    assert np.any(model.rho_ != 0)
    other = build_vocabulary(TEXTS, min_count=20)
    with pytest.raises(ValueError, match="words of the first batch"):
        model.partial_fit(count_pairs(TEXTS, other))


def test_pair_counts():
    pairs = count(slice(None)).pair_counts(negative=2, ns_exponent=0.5)
    expected = counts_of_fit(TEXTS, negative=2, ns_exponent=0.5).counts
    same_table(pairs.positive, expected.positive)
    np.testing.assert_array_equal(pairs.negative.right, expected.negative.right)
    assert pairs.words.tolist() == VOCABULARY.words.tolist()


@pytest.mark.parametrize(
    ("other", "match"),
    [
        ({"window": 3}, "got window=5 and window=3"),
        ({"window_weights": "uniform"}, "got window_weights='linear' and .*'uniform'"),
        ({"units": SPEAKERS}, "all have units"),
    ],
)
def test_shards_counted_otherwise_are_refused(other, match):
    with pytest.raises(ValueError, match=match):
        count(CUTS[0]) + count(CUTS[3], **other)


def test_shards_of_other_words_are_refused():
    other = count_pairs(TEXTS, build_vocabulary(TEXTS, min_count=20))
    with pytest.raises(ValueError, match="count all texts again"):
        count(CUTS[0]) + other
    with pytest.raises(ValueError, match="all be int or all be str"):
        count(CUTS[0], units=SPEAKERS) + count(CUTS[3], units=list(range(90)))
    with pytest.raises(TypeError, match="unsupported operand"):
        count(CUTS[0]) + 1


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"vocabulary": ["w1"]}, TypeError, "vocabulary must be a Vocabulary"),
        ({"vocabulary": build_vocabulary(["a b"])}, ValueError, "empty vocabulary"),
        ({"window": 0}, ValueError, "window must be"),
        ({"window_weights": "dynamic"}, ValueError, "use 'linear'"),
        ({"window_weights": "other"}, ValueError, "window_weights must be one of"),
        ({"units": SPEAKERS[1:]}, ValueError, "a label for each document, got 89 only"),
        ({"units": [*SPEAKERS, "x"]}, ValueError, "got more labels"),
        ({"units": [0.5] * 90}, ValueError, "int or str"),
        ({"units": [1, "1"] * 45}, ValueError, "differ by their type alone"),
        ({"units": [1, "x"] * 45}, ValueError, "int or str throughout, got both"),
        ({"texts": "one text"}, TypeError, "single str"),
    ],
)
def test_what_cannot_be_counted(change, error, match):
    arguments = {"texts": TEXTS, "vocabulary": VOCABULARY, **change}
    with pytest.raises(error, match=match):
        count_pairs(**arguments)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"window": 2}, r"window=2 is ignored.*with window=3\. Pass window to count_pairs"),
        ({"window_weights": "uniform"}, "with window_weights='linear'"),
        ({"max_features": 5}, r"max_features=5 is ignored.*words\. Pass .* to build_vocabulary"),
        ({"min_count": 50}, "min_count=50 is ignored.*words that occur"),
    ],
)
def test_parameters_that_shards_do_not_follow_are_named(parameters, match):
    shard = count(slice(None), window=3)
    with pytest.warns(UserWarning, match=match):
        BayesianSGNS(2, **OPTIONS, **parameters).fit(shard)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"window": 3}, {"window": 5}, {"min_count": 8, "max_features": 100}, {"min_count": 1}],
)
def test_what_shards_follow_or_nobody_set_is_not_warned_of(parameters):
    # warnings are errors
    BayesianSGNS(2, **OPTIONS, **parameters).fit(count(slice(None), window=3))


def test_fits_that_shards_do_not_allow():
    shard = count(slice(None))
    with pytest.raises(TypeError, match="sum\\(shards\\)"):
        BayesianSGNS(2, **OPTIONS).fit([shard, shard])
    with pytest.raises(ValueError, match="subsample must be None"):
        BayesianSGNS(2, subsample=1e-3, **OPTIONS).fit(shard)
    with pytest.raises(ValueError, match="partial_fit"):
        BayesianSGNS(2, solver="vi", learning_method="online").fit(shard)
    with pytest.raises(ValueError, match="units must be None"):
        BayesianSGNS(2, **OPTIONS).fit(shard, units=[1, 2])
    with pytest.raises(TypeError, match="PairShard"):
        BayesianSGNS(2, **OPTIONS).fit(shard).transform(shard)
    with pytest.raises(TypeError, match="counts of pairs"):
        BayesianSGNS(2, **OPTIONS).fit_transform(shard)


def test_pairs_of_units_come_in_blocks_of_whole_units(monkeypatch):
    """However many there are, no more of them than make a block are at work at a time."""
    whole = count(slice(None), units=SPEAKERS)
    (expected,) = whole.blocks()
    positive = whole.positive
    del whole.positive
    sizes = np.bincount(expected.document, np.diff(expected.positive.indptr))
    monkeypatch.setattr(blocks, "_PAIRS", int(2.5 * sizes.max()))
    parts = list(whole.blocks())
    assert 1 < len(parts) < sizes.size
    for name in ("document", "word"):
        together = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(together, getattr(expected, name))
    assert all(part.positive.nnz <= 2.5 * sizes.max() for part in parts)
    joined = sparse.block_diag([part.positive for part in parts], format="csr")
    assert abs(joined - expected.positive).nnz == 0
    assert abs(whole.positive - positive).nnz == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window": 2}, "window=5, window_weights='linear', got window=2"),
        ({"window_weights": "uniform"}, "got window=5, window_weights='uniform'"),
    ],
)
def test_a_stream_keeps_its_windows(change, said):
    stream = BayesianSGNS(2, solver="vi", random_state=0).partial_fit(count(CUTS[0]))
    before = stream.rho_
    with pytest.raises(ValueError, match=said):
        stream.partial_fit(count(CUTS[3], **change))
    # as documents do that are counted by the estimator's
    with pytest.raises(ValueError, match=said):
        stream.set_params(**change).partial_fit(TEXTS[:5])
    np.testing.assert_array_equal(stream.rho_, before)


def test_streams_of_shards_that_are_refused():
    with pytest.raises(ValueError, match=r"subsample must be None for a PairShard.*got 0\.001"):
        BayesianSGNS(2, solver="vi", subsample=1e-3).partial_fit(count(CUTS[0]))
    words = ["cat", "dog"]
    ways = [
        count_pairs(["cat dog"], Vocabulary(dict(zip(words, numbers, strict=True))))
        for numbers in ((6, 7), (7, 6))
    ]
    stream = BayesianSGNS(2, solver="vi", random_state=0).partial_fit(ways[0])
    with pytest.raises(ValueError, match="in their order, got the same in another order"):
        stream.partial_fit(ways[1])
    other = count_pairs(["cat cow"], Vocabulary({"cat": 6, "cow": 7}))
    with pytest.raises(ValueError, match=r"in their order, got others, such as \['cow'\]"):
        stream.partial_fit(other)
    with pytest.raises(ValueError, match="the same 2 words in two"):
        ways[0] + ways[1]


def test_pairs_that_are_looked_at_are_a_copy():
    shard = count_pairs(TEXTS, VOCABULARY)
    before, total = shard.positive.toarray(), repr(shard)
    pairs = shard.positive
    pairs.data[pairs.data < 1.5] = 0
    pairs.eliminate_zeros()
    again = count_pairs(TEXTS, VOCABULARY)
    np.testing.assert_array_equal((shard + again).positive.toarray(), 2 * before)
    assert repr(shard) == total


def test_units_that_are_large_numbers(tmp_path):
    """Hashes of names, which floating point does not tell apart."""
    labels = np.array([1, 2**62 + 5, 2**62 + 9], dtype=np.uint64)
    shard = count_pairs(TEXTS[:3], VOCABULARY, units=labels)
    empty = count_pairs([], VOCABULARY, units=[])
    shard.save(tmp_path / "shard")
    for one in (shard, shard + empty, empty + shard, PairShard.load(tmp_path / "shard")):
        assert one.units.tolist() == labels.tolist() and one.units.dtype == np.int64
    two = count_pairs(TEXTS[:1], VOCABULARY, units=[3]) + shard
    assert two.units.tolist() == [1, 3, 2**62 + 5, 2**62 + 9]
    assert two.tokens.sum() == shard.tokens.sum() + count_pairs(TEXTS[:1], VOCABULARY).tokens.sum()
    with pytest.raises(ValueError, match=r"labels below 2\*\*63, got 9223372036854775813"):
        count_pairs(TEXTS[:1], VOCABULARY, units=np.array([2**63 + 5], dtype=np.uint64))


@pytest.mark.parametrize("units", [{0: "a", 1: "b"}, {"a", "b"}, b"ab"])
def test_labels_are_in_an_order(units):
    with pytest.raises(ValueError, match="units must have a label for each document"):
        count_pairs(TEXTS[:2], VOCABULARY, units=units)


def test_text_that_would_be_read_otherwise_is_told_of(tmp_path):
    texts = ["the Cat sat on the Mat", "the Dog sat on the Rug"] * 10
    vocabulary = build_vocabulary(texts, min_count=1, lowercase=False)
    shard = count_pairs(texts[:10], vocabulary) + count_pairs(texts[10:], vocabulary)
    shard.save(tmp_path / "shard")
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    with pytest.warns(UserWarning, match="counted with lowercase=False, and new text would be"):
        model.fit(PairShard.load(tmp_path / "shard"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(lowercase=False).fit(shard)
    assert np.any(model.transform(["Cat Dog"]))
    # tokens are taken as they are, and no documents tell nothing
    tokens = [text.split() for text in texts]
    shard = count_pairs(tokens, build_vocabulary(tokens, min_count=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(shard)
    empty = count_pairs([], vocabulary)
    part = count_pairs(texts, vocabulary)
    assert (empty + part).reading == (part + empty).reading == part.reading is not None
    # those of old pickles have none
    del part.__dict__["reading"]
    assert (part + part).reading is None

"""Vocabularies that are counted in parts, and documents that are read one after the other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, Vocabulary, build_vocabulary, count_pairs
from skbayesembed.corpus.analysis import why_unknown
from skbayesembed.corpus.spelling import offer
from skbayesembed.corpus.text import build_corpus, restrict
from skbayesembed.corpus.vocabulary import READING

pd = pytest.importorskip("pandas")


def make_tokens(n_documents=60, seed=0):
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, 41)
    words = np.array([f"w{i}" for i in range(40)])
    return [
        rng.choice(words, rng.integers(0, 30), p=share / share.sum()).tolist()
        for _ in range(n_documents)
    ]


TOKENS = make_tokens()
TEXTS = [" ".join(tokens) for tokens in TOKENS]


def same(a, b):
    assert a.words.tolist() == b.words.tolist()
    np.testing.assert_array_equal(a.frequency, b.frequency)
    assert (a.n_documents, a.n_tokens) == (b.n_documents, b.n_tokens)


@pytest.mark.parametrize("cuts", [{"min_count": 1}, {"min_count": 9}, {"max_features": 7}])
def test_words_are_those_of_a_fit(cuts):
    found = build_vocabulary(TOKENS, **cuts)
    expected = restrict(build_corpus(TOKENS), **{"min_count": 5, **cuts})
    assert found.words.tolist() == expected.words.tolist()
    np.testing.assert_array_equal(found.frequency, expected.frequency)


def test_parts_add_up():
    whole = build_vocabulary(TEXTS, min_count=9)
    parts = [build_vocabulary(t, min_count=9) for t in (TEXTS[:7], [], TEXTS[7:8], TEXTS[8:])]
    # some words are rare in every part
    assert set(whole.words) > set(parts[0].words)
    same(sum(parts), whole)
    same(parts[3] + (parts[2] + (parts[1] + parts[0])), whole)


@pytest.mark.parametrize(
    "texts",
    [iter(TEXTS), (t for t in TEXTS), tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), TOKENS],
    ids=["iterator", "generator", "tuple", "array", "series", "tokens"],
)
def test_all_kinds_of_documents(texts):
    same(build_vocabulary(texts), build_vocabulary(TEXTS))


def test_open_files(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(TEXTS) + "\n")
    with open(path) as lines:
        same(build_vocabulary(lines), build_vocabulary(TEXTS))


def test_iterators_are_not_held():
    held = []

    def texts():
        for i in range(300):
            held.append(i)
            yield f"word{i} again"
            # what was read goes no further than documents that are looked at together
            assert len(held) <= seen[0] + 64

    seen = [0]

    def analyze(text):
        seen[0] += 1
        return text.split()

    assert build_vocabulary(texts(), analyzer=analyze, min_count=1).n_documents == 300


def test_saved_and_loaded(tmp_path):
    vocabulary = build_vocabulary(TEXTS, min_count=2, stop_words=["w3", "w1"], max_features=20)
    vocabulary.save(tmp_path / "words")
    loaded = Vocabulary.load(tmp_path / "words.npz")
    same(loaded, vocabulary)
    same(loaded + vocabulary, vocabulary + vocabulary)
    same(pickle.loads(pickle.dumps(vocabulary)), vocabulary)
    with pytest.raises(ValueError, match="analyzer must be a str"):
        build_vocabulary(TEXTS, analyzer=str.split).save(tmp_path / "other")
    np.savez(tmp_path / "nothing.npz", a=np.ones(2))
    with pytest.raises(ValueError, match="not a saved vocabulary"):
        Vocabulary.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        Vocabulary.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match="path must be a file, and is a folder"):
        Vocabulary.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_count", 3), ("max_features", 9), ("lowercase", False), ("stop_words", "english")],
)
def test_parts_must_be_built_alike(name, value):
    with pytest.raises(ValueError, match=f"got {name}=.* and {name}="):
        build_vocabulary(TEXTS) + build_vocabulary(TEXTS, **{name: value})


def test_defaults_are_those_of_the_estimator():
    parameters, vocabulary = BayesianSGNS().get_params(), Vocabulary({})
    for name in ("min_count", "max_features", *READING):
        assert getattr(vocabulary, name) == parameters[name]


@pytest.mark.parametrize(
    ("texts", "error", "match"),
    [
        ("one text", TypeError, "single str"),
        ({"a": 1}, TypeError, "mapping|dict"),
        (3, TypeError, "int"),
        (np.ones((2, 3)), TypeError, "numbers"),
        (iter([["a"], "b"]), ValueError, "mixes kinds"),
        (iter([["a"]] * 64 + ["b"]), ValueError, "mix kinds"),
        (iter(["a"] * 100 + [None]), ValueError, r"texts\[100\] is missing"),
        (iter([[1, 2]]), TypeError, "numbers"),
        (iter(["a", None]), ValueError, "missing"),
    ],
)
def test_what_is_no_text_is_refused(texts, error, match):
    with pytest.raises(error, match=match):
        build_vocabulary(texts)


@pytest.mark.parametrize(
    "options",
    [{"min_count": 0}, {"max_features": 0}, {"analyzer": "wrod"}, {"token_pattern": "("}],
)
def test_options_that_are_not_allowed(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        build_vocabulary(TEXTS, **options)


def test_tokens_must_be_strings():
    with pytest.raises(TypeError, match="must return str tokens, got 1"):
        build_vocabulary(["a b"], analyzer=lambda text: [1, 2])


class OnceOnly:
    """As a bar of progress around a file: a length, no places, and one reading."""

    def __init__(self, texts):
        self._texts, self._n = iter(texts), len(texts)

    def __len__(self):
        return self._n

    def __iter__(self):
        return self._texts


def test_what_can_be_read_once_is_read_once():
    found = build_vocabulary(OnceOnly(TEXTS), min_count=1)
    assert found.counts == build_vocabulary(TEXTS, min_count=1).counts and found.n_tokens
    shard = count_pairs(OnceOnly(TEXTS), found)
    assert shard.n_documents == len(TEXTS) and shard.positive.sum() > 0
    same = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    np.testing.assert_array_equal(same.fit(OnceOnly(TEXTS)).rho_, same.fit(TEXTS).rho_)


@pytest.mark.parametrize("empty", [[], (), iter([]), np.array([], dtype=object)])
def test_parts_may_be_empty(empty):
    assert build_vocabulary(empty).n_tokens == 0


def test_numbers_of_numpy_are_saved(tmp_path):
    grid = {"min_count": np.int64(1), "max_features": np.int64(7), "lowercase": np.True_}
    found = build_vocabulary(TEXTS, **grid)
    found.save(tmp_path / "words.npz")
    assert Vocabulary.load(tmp_path / "words.npz").words.tolist() == found.words.tolist()


def test_part_of_a_name_with_blanks_is_not_words_in_a_row():
    """Lists of words are for known ones; such names are offered, shortened."""
    names = [f"Star Wars: Episode {part} - {'A long title ' * 5}(1977)" for part in "ABCDE"]
    model = BayesianSGNS(1, solver="map", prior_precision=1.0, min_count=1)
    model.fit([[*names, "Clue", "Alien"]] * 3)
    assert "2 words" not in why_unknown(model, "Star Wars")
    assert "pass the list ['Clue', 'Alien']" in why_unknown(model, "Clue Alien")
    with pytest.raises(KeyError) as caught:
        model.similarity("Star Wars", "Clue")
    offered = " or ".join(repr(f"{name[:57]}...") for name in names[:3])
    assert f"Did you mean {offered}?" in caught.value.args[0]
    assert offer(["Titanic (1997)", "Titanics", "Clue"], "titanic").count("'") == 4
    assert offer(["Clue"], " ") == ""

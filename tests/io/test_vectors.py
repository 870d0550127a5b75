"""Files of word vectors: what is written is read again; of damaged ones the line is named."""

from __future__ import annotations

import gzip
import re
import tracemalloc

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from skbayesembed import BayesianSGNS, DynamicSGNS, GaussianLDA
from skbayesembed.io import WordVectors, load_vectors, save_vectors, to_keyed_vectors

WORDS = ["the", "river", "été", "word:with,signs", "1", "\N{NO-BREAK SPACE}x"]
FILES = {
    "a.txt": "word2vec",
    "a.vec.gz": "word2vec",
    "a.glove": "glove",
    "a.bin": "word2vec-binary",
    "a.bin.gz": "word2vec-binary",
    "a.npz": "npz",
}
TEXTS = ["the river bank flooded", "money in the bank loan", "river bank wet"] * 6


def vectors(dtype=np.float32, n_dims=3):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(len(WORDS), n_dims)) * 10.0 ** rng.integers(-30, 30, (6, 1))
    return WordVectors(WORDS, numbers.astype(dtype))


@pytest.fixture(scope="module")
def sgns():
    return BayesianSGNS(2, solver="map", min_count=1, prior_precision=0.1, random_state=0).fit(
        TEXTS
    )


# What is written is read again -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", list(FILES))
def test_round_trip(name, dtype, tmp_path):
    given = vectors(dtype)
    save_vectors(tmp_path / name, given, format=FILES[name])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    for format in ("auto", FILES[name]):
        found = load_vectors(tmp_path / name, format=format, dtype=dtype)
        assert found.words.tolist() == WORDS and found.vectors.dtype == dtype
        single = FILES[name] == "word2vec-binary"
        expected = given.vectors.astype(np.float32) if single else given.vectors
        np.testing.assert_array_equal(found.vectors, expected)


def test_format_by_ending(tmp_path):
    for name, start in (("a.npz", b"PK"), ("a.bin", b"6 3\nthe "), ("a.txt", b"6 3\nthe ")):
        save_vectors(tmp_path / name, vectors())
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", list(FILES))
def test_some_words(name, tmp_path):
    given = vectors()
    save_vectors(tmp_path / name, given, format=FILES[name])
    some = load_vectors(tmp_path / name, words=["été", "unknown", "the"])
    assert some.words.tolist() == ["the", "été"] and "unknown" not in some
    np.testing.assert_array_equal(some["été"], given["été"])
    first = load_vectors(tmp_path / name, limit=2)
    assert first.words.tolist() == WORDS[:2]
    with pytest.raises(ValueError, match="has none of the 1 words asked"):
        load_vectors(tmp_path / name, words=["unknown"])


def test_words_with_blanks(tmp_path):
    """They are in GloVe's largest file."""
    path = tmp_path / "glove.txt"
    path.write_text("the 0.5 1\n. . . 0.25 2\nunited states 0.125 3\n")
    found = load_vectors(path, format="glove")
    assert found.words.tolist() == ["the", ". . .", "united states"]
    assert load_vectors(path, words=["united states"]).vectors.tolist() == [[0.125, 3.0]]
    with pytest.raises(ValueError, match="no blanks in format='word2vec', got '. . .'"):
        save_vectors(tmp_path / "out.txt", found)
    save_vectors(tmp_path / "out.npz", found)
    assert load_vectors(tmp_path / "out.npz").words.tolist() == found.words.tolist()


def test_line_ends_and_encodings(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("2 2\r\nété 1 2 \r\nriver 3 4\r\n\r\n".encode("latin-1"))
    found = load_vectors(path, encoding="latin-1", words=["été"])
    assert dict(found).keys() == {"été"}
    assert load_vectors(path, encoding="latin-1").vectors.tolist() == [[1, 2], [3, 4]]


def test_little_memory_for_few_words(tmp_path):
    """Of 20,000 words of 100 dimensions, 8 MB as numbers, ten are kept."""
    path = tmp_path / "large.txt"
    numbers = " ".join(["0.12345"] * 100)
    path.write_text("".join(f"w{i} {numbers}\n" for i in range(20_000)))
    tracemalloc.start()
    found = load_vectors(path, words=[f"w{i}" for i in range(0, 20_000, 2_000)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 10
    # a block of rows, and what is read ahead
    assert peak < 4e6


def test_many_words(tmp_path):
    """More than are gathered at a time."""
    words = [f"w{i}" for i in range(4096 * 2 + 1)]
    given = WordVectors(words, np.arange(len(words), dtype=np.float32)[:, None])
    for n in (4096, 8192, 8193):
        save_vectors(tmp_path / "a.bin", WordVectors(words[:n], given.vectors[:n]))
        found = load_vectors(tmp_path / "a.bin")
        assert found.words.tolist() == words[:n]
        np.testing.assert_array_equal(found.vectors, given.vectors[:n])


# Damaged files ----------------------------------------------------------------------------------

DAMAGED = {
    "header": (b"the river\nthe 1 2\n", "word2vec", "line 1: expected the number of words and of"),
    "no header": (b"the 1 2\nriver 1 2\n", "word2vec", "line 1: .*format='glove' is for files"),
    "too few": (b"3 2\nthe 1 2\nriver 1 2\n", "auto", "line 3: the file ends after 2 of the 3"),
    "too many": (b"1 2\nthe 1 2\nriver 1 2\n", "auto", "line 3: more words than the 1 that line 1"),
    "no dimensions": (b"1 0\nthe\n", "word2vec", "line 1: expected 1 to 1000000 dimensions, got 0"),
    "short row": (b"2 2\nthe 1 2\nriver 1\n", "auto", "line 3: b'river' has 1 number"),
    "long row": (b"the 1 2\nriver 1 2 3\n", "auto", "line 2: b'river' has 3 number.*expected 2"),
    "no number": (b"the 1 2\nriver 1 x\n", "auto", "line 2: b'x' in the vector of b'river' is no"),
    "nan": (b"the 1 2\nriver 1 nan\n", "auto", "line 2: the vector of 'river' has NaN or infinity"),
    "infinity": (b"the 1 2\nriver 1 1e999\n", "auto", "line 2: the vector of 'river' has NaN or"),
    "twice": (b"a 1 2\nb 1 2\na 1 2\n", "auto", "line 3: 'a' is there twice, first in line 1"),
    "no word": (b"a 1 2\n 1 2\n", "auto", "line 2: there is no word before the numbers"),
    "encoding": (b"a 1 2\n\xff\xfe 1 2\n", "auto", "line 2: the word .* is not in utf-8"),
    "empty": (b"", "auto", "is empty"),
    "no vectors": (b"one\ntwo\n", "auto", "line 1: no numbers after a word, got b'one'"),
    "no words": (b"0 3\n", "word2vec", "has no words"),
    "bzip2": (b"BZh91AY", "auto", "is compressed by bzip2: unpack it first"),
    "zip": (b"PK\x03\x04 something", "auto", "is a zip archive: unpack it"),
    "fastText": (b"\xba\x16O/\x0c\x00", "auto", "is a model in fastText's own format"),
    "cut binary": (b"2 2\nthe " + bytes(8) + b"\nriver " + bytes(5), "word2vec-binary",
                   "word 2: the file ends before the vector of this word does, of the 2 words"),
    "cut word": (b"2 2\nthe " + bytes(8) + b"\nriv", "word2vec-binary", "word 2: the file ends"),
    "binary nan": (b"1 1\nthe " + np.float32([np.nan]).tobytes(), "word2vec-binary",
                   "word 1: the vector of 'the' has NaN"),
    "no binary": (b"9 1\n" + b"x" * 9000, "word2vec-binary", "word 1: no blank after a word"),
    "cut gzip": (gzip.compress(b"2 2\nthe 1 2\nriver 1 2\n" * 99)[:-12], "auto",
                 "cannot be unpacked|more words than the 2"),
    "cut npz": (b"PK\x03\x04 something", "npz", "must hold the arrays 'words', strings"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(DAMAGED))
def test_damaged_files(what, tmp_path):
    content, format, message = DAMAGED[what]
    path = tmp_path / "damaged.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(path, format=format)
    assert "damaged.txt" in str(caught.value)


def test_damaged_arrays(tmp_path):
    path = tmp_path / "a.npz"
    for arrays, message in (
        ({"words": ["a"]}, "must hold the arrays"),
        ({"words": [1, 2], "vectors": np.eye(2)}, "words, a list of strings"),
        ({"words": ["a", "b"], "vectors": np.eye(3)}, "a vector for each of the 2 words"),
        ({"words": ["a", "a"], "vectors": np.eye(2)}, "row 1: 'a' is there twice"),
        ({"words": np.array(["a"], dtype=object), "vectors": np.eye(1)}, "must hold the arrays"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=message):
            load_vectors(path, format="npz")


def test_words_that_cannot_be_read_are_left_out(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a 1 2\nb 1 nan\n\xff 1 2\na 3 4\nc 1\nd 5 6\n")
    with pytest.warns(
        UserWarning, match="4 word.s. .* were left out, the first in line 2: the vec"
    ):
        found = load_vectors(path, errors="skip")
    assert found.words.tolist() == ["a", "d"]
    assert found.vectors.tolist() == [[1, 2], [5, 6]]
    # what is not asked for is not looked at
    assert load_vectors(path, words=["d", "e"]).vectors.tolist() == [[5, 6]]


def test_random_damage_is_named(tmp_path):
    """Whatever bytes are lost or changed, the answer is a ValueError or other vectors."""
    rng = np.random.default_rng(0)
    for name, format in FILES.items():
        save_vectors(tmp_path / name, vectors(), format=format)
        data = (tmp_path / name).read_bytes()
        for _ in range(15):
            bad = bytearray(data[: rng.integers(1, len(data))])
            bad[rng.integers(len(bad))] = rng.integers(256)
            (tmp_path / "bad").write_bytes(bytes(bad))
            try:
                assert isinstance(load_vectors(tmp_path / "bad"), WordVectors)
            except ValueError as error:
                assert "bad" in str(error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "gensim"}, "format must be one of 'auto', 'word2vec'"),
        ({"errors": "ignore"}, "errors must be one of 'raise', 'skip'"),
        ({"limit": 0}, "limit must be an integer >= 1"),
        ({"words": "river"}, "words must be a list of str"),
        ({"words": []}, "words must be a list of str"),
        ({"words": b"river"}, "words must be a list of str or None, got b'river'"),
        ({"encoding": "utf-9"}, "encoding must be one that Python knows, got 'utf-9'"),
        ({"dtype": int}, "dtype must be numpy.float32 or"),
    ],
)
def test_wrong_options(options, message, tmp_path):
    (tmp_path / "a").write_text("a 1\n")
    with pytest.raises(ValueError, match=message):
        load_vectors(tmp_path / "a", **options)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "nowhere")
    with pytest.raises(OSError):
        save_vectors(tmp_path / "nowhere" / "a.txt", vectors())


# Words with vectors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "numbers", "message"),
    [
        (["a", "a"], np.eye(2), "words must be different, got 'a' twice"),
        (["a", 3], np.eye(2), r"words must be str, got words\[1\] = 3"),
        ("ab", np.eye(2), "words must be a list of str"),
        (["a"], np.eye(2), "a row for each of the 1 words"),
        (["a"], [1.0], "a row for each of the 1 words"),
        (["a"], [["x"]], "vectors must hold numbers"),
        (["a", "b"], [[1, 2], [np.inf, 3]], "NaN or infinity for 1 word.s., the first 'b'"),
    ],
)
def test_wrong_words_and_vectors(words, numbers, message):
    with pytest.raises(ValueError, match=message):
        WordVectors(words, numbers)


def test_of_estimators(sgns, tmp_path):
    for side, expected in (("target", sgns.rho_), ("context", sgns.alpha_)):
        found = WordVectors.of(sgns, side=side)
        frozen = WordVectors.of(FrozenEstimator(sgns), side=side)
        np.testing.assert_array_equal(frozen.vectors, found.vectors)
        assert found.words.tolist() == sgns.words_.tolist()
        np.testing.assert_array_equal(found.vectors, expected)
    save_vectors(tmp_path / "a.txt", sgns)
    again = load_vectors(tmp_path / "a.txt", dtype=np.float64)
    np.testing.assert_array_equal(again.vectors, sgns.rho_)
    dynamic = DynamicSGNS(2, solver="map", min_count=1, random_state=0, tol=1e-3)
    dynamic.fit(TEXTS, times=[1999, 2000, 2000] * 6)
    found = WordVectors.of(dynamic, period=2000)
    np.testing.assert_array_equal(found.vectors, dynamic.rho_[1])
    found = WordVectors.of(dynamic.vectors_at(2000))
    assert found.words.tolist() == dynamic.words_.tolist()
    np.testing.assert_array_equal(found.vectors, dynamic.rho_[1])
    for source, options, message in (
        (dynamic, {}, r"period must be given for DynamicSGNS, .* one of \[1999, 2000\]"),
        (dynamic, {"period": 1888}, "period=1888 is in no period"),
        (sgns, {"period": 1999}, "period is for a DynamicSGNS, got BayesianSGNS"),
        ({"a": [1.0]}, {"period": 1999}, "period is for a DynamicSGNS, got dict"),
        (sgns, {"side": "rho"}, "side must be one of 'target', 'context'"),
        (dynamic.vectors_at(2000), {"side": "context"}, "side must be 'target' for PeriodVectors"),
        (dynamic.vectors_at(2000), {"period": 1999}, "period is for a DynamicSGNS"),
        ({"a": [1.0], "b": [1.0, 2.0]}, {}, "vectors must have one length"),
    ):
        with pytest.raises(ValueError, match=message):
            WordVectors.of(source, **options)
    for source in (3, [1.0], {}):
        with pytest.raises(TypeError, match="source must be a fitted BayesianSGNS"):
            WordVectors.of(source)
    with pytest.raises(TypeError, match="got GaussianLDA, whose vectors .*: pass model.embedding"):
        WordVectors.of(GaussianLDA(embedding={"a": [1.0]}))


# gensim looks into files without a header and leaves them open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_gensim(sgns, tmp_path):
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    keyed = to_keyed_vectors(sgns)
    assert keyed.index_to_key == sgns.words_.tolist()
    # gensim scales vectors of float64 where they are
    first = keyed.most_similar(sgns.words_[0])
    keyed.similarity(*sgns.words_[:2])
    assert keyed.most_similar(sgns.words_[0]) == first
    np.testing.assert_array_equal(keyed.vectors, sgns.rho_.astype(np.float32))
    np.testing.assert_array_equal(WordVectors.of(keyed).vectors, keyed.vectors)
    for name, format in FILES.items():
        if format == "npz":
            continue
        save_vectors(tmp_path / name, sgns, format=format)
        found = keyed_vectors.load_word2vec_format(
            tmp_path / name, binary="binary" in format, no_header=format == "glove"
        )
        assert found.index_to_key == sgns.words_.tolist()
        np.testing.assert_array_equal(found.vectors, sgns.rho_.astype(np.float32))
    for name, options in (
        ("b.bin", {"binary": True}),
        ("b.txt", {}),
        ("g", {"write_header": False}),
    ):
        keyed.save_word2vec_format(tmp_path / name, **options)
        np.testing.assert_allclose(load_vectors(tmp_path / name).vectors, sgns.rho_, rtol=1e-6)


# Topics over a file of vectors ------------------------------------------------------------------


# "qqq" is no word of the vectors
@pytest.mark.filterwarnings("ignore:1 of 3 documents of X has no known word")
@pytest.mark.parametrize("name", list(FILES))
def test_topics_over_a_file(name, sgns, tmp_path):
    save_vectors(tmp_path / name, sgns, format=FILES[name])
    # a file of single precision
    table = load_vectors(tmp_path / name)
    options = {"solver": "vi", "min_count": 1, "max_features": 5, "draws": 20, "random_state": 0}
    texts = [*TEXTS, "wet money qqq"]
    model = GaussianLDA(2, embedding=str(tmp_path / name), **options).fit(texts)
    expected = GaussianLDA(2, embedding=table, **options).fit(texts)
    assert model.n_dropped_words_ == expected.n_dropped_words_ == 1
    np.testing.assert_array_equal(model.components_, expected.components_)
    # also words that fit has dropped
    new = ["flooded loan", "qqq", "loan money wet in"]
    np.testing.assert_array_equal(model.transform(new), expected.transform(new))
    words = ["river", "bank", "money"]
    counts = np.array([[text.split().count(word) for word in words] for text in TEXTS])
    by_columns = GaussianLDA(2, embedding=tmp_path / name, feature_names=words, **options)
    assert sorted(by_columns.fit(counts).words_) == sorted(words)


def test_topics_over_a_bad_file(tmp_path):
    with pytest.raises(ValueError, match="embedding must be .*; there is no file 'glove.txt'"):
        GaussianLDA(2, embedding="glove.txt").fit(TEXTS)
    path = tmp_path / "bad.txt"
    path.write_text("river 1 2\nbank 1 nan\n")
    with pytest.raises(ValueError, match=re.escape(f"{str(path)!r}, line 2: the vector of 'bank'")):
        GaussianLDA(2, embedding=path).fit(TEXTS)
    path.write_text("qqq 1 2\n")
    with pytest.raises(ValueError, match="embedding has no vector for any of the"):
        GaussianLDA(2, embedding=path).fit(TEXTS)


def test_arguments_the_other_way_round_are_told(tmp_path):
    vectors = WordVectors(["a"], [[1.0]])
    with pytest.raises(TypeError, match=r"path comes first, .* save_vectors\('v.txt', vectors\)"):
        save_vectors(vectors, "v.txt")


@pytest.mark.parametrize("start", ["", "2 2\n"])
def test_a_mark_of_utf_8_is_no_part_of_the_first_word(start, tmp_path):
    """As Windows writes it."""
    path = tmp_path / "vectors.txt"
    path.write_bytes(f"\ufeff{start}the 0.1 0.2\nriver 0.5 -1\n".encode())
    assert load_vectors(path).words.tolist() == ["the", "river"]
    assert load_vectors(path, words=["the"]).words.tolist() == ["the"]


@pytest.mark.parametrize("apart", ["  ", "\t"])
def test_text_with_other_blanks_is_no_binary_file(tmp_path, apart):
    path = tmp_path / "vectors.txt"
    lines = ["2 2", apart.join(["the", "0.1", "0.2"]), apart.join(["cat", "0.3", "0.4"]), ""]
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="line 2"):
        load_vectors(path)

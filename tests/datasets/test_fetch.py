"""Loaders: what archives of the known form hold comes out as texts, with what is known of each."""

from __future__ import annotations

import bz2
import hashlib
import inspect
import io
import struct
import zipfile

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, datasets
from skbayesembed.datasets import r_files
from skbayesembed.datasets.remote import FILES, RemoteFile
from tests.helpers.file_server import file_server
from tests.helpers.r_writer import Factor, r_file

LOADERS = [name for name in datasets.__all__ if name.startswith("fetch_") and name != "fetch_file"]


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """A function that serves files in the place of those that are known."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("SKBAYESEMBED_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SKBAYESEMBED_DATA", raising=False)
    with file_server({}) as server:

        def add(name, content):
            server.files[f"/{name}"] = content
            digest = hashlib.sha256(content).hexdigest()
            remote = RemoteFile(name, f"{server.url}/{name}", len(content), digest)
            monkeypatch.setitem(FILES, name, remote)

        yield add


def archive(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content if isinstance(content, bytes) else content.encode())
    return buffer.getvalue()


def test_inaugural(serve):
    texts = {
        "inaugural/1793-Washington.txt": "Fellow citizens, again.",
        "inaugural/1789-Washington.txt": "\n Fellow citizens of the Senate — naïve.\n",
        "inaugural/2005-Bush.txt": "Vice President Cheney\u2019s".encode("big5"),
        "inaugural/README": "nothing",
    }
    serve("inaugural.zip", archive(texts))
    found = datasets.fetch_inaugural()
    assert found.data == [
        "Fellow citizens of the Senate — naïve.",
        "Fellow citizens, again.",
        "Vice President Cheney\u2019s",
    ]
    assert found.year.tolist() == [1789, 1793, 2005]
    assert found.president == ["Washington", "Washington", "G. W. Bush"]
    assert found.president.name == "president"
    assert "Licence: public domain" in found.DESCR and found.DESCR.count("3 addresses") == 1
    # as they are for an estimator
    BayesianSGNS(2, solver="map", min_count=1, random_state=0, prior_precision=0.1).fit(found.data)


def test_state_of_the_union(serve):
    serve("sotu_text.rda", r_file({"sotu_text": ["One\n\ntwo \n", "latin naïve"]}))
    meta = {
        "X": range(1, 3),
        "president": ["George Washington", "Donald Trump"],
        "year": np.array([1790, 2020]),
        "years_active": Factor([1, 2], ["1789-1793", "2017-2021"]),
        "party": Factor([2, 1], ["Republican", "Nonpartisan"]),
        "sotu_type": ["speech", "written"],
    }
    serve("sotu_meta.rda", r_file({"sotu_meta": meta}))
    found = datasets.fetch_state_of_the_union()
    assert found.data == ["One\n\ntwo", "latin naïve"]
    assert found.year.tolist() == [1790, 2020] and found.year.dtype == np.int64
    assert found.president == ["George Washington", "Donald Trump"]
    assert found.president.name == "president"
    assert found.party == ["Nonpartisan", "Republican"] and found.type == ["speech", "written"]
    texts = {
        "state_union/1963-Kennedy.txt": "K",
        "state_union/1963-Johnson.txt": "J",
        "state_union/1991-Bush-1.txt": "B1",
    }
    serve("state_union.zip", archive(texts))
    found = datasets.fetch_state_of_the_union(version="nltk")
    assert found.data == ["J", "K", "B1"] and found.year.tolist() == [1963, 1963, 1991]
    assert found.president == ["Johnson", "Kennedy", "G. H. W. Bush"]
    with pytest.raises(ValueError, match="version must be one of 'sotu', 'nltk'"):
        datasets.fetch_state_of_the_union(version="R")


def test_brown(serve):
    files = {
        "brown/ca02": "\n\tOn/in two/cd sides/nns 1/2/cd ./.\n\n\tIt/pps",
        "brown/ca01": "The/at Fulton/np-tl ,/,",
        "brown/cats.txt": "ca01 news\nca02 news\n",
        "brown/CONTENTS": "x",
    }
    serve("brown.zip", archive(files))
    found = datasets.fetch_brown()
    assert found.data == [["The", "Fulton", ","], ["On", "two", "sides", "1/2", ".", "It"]]
    assert found.name == ["ca01", "ca02"] and found.category == ["news", "news"]


def test_movie_reviews(serve):
    files = {"movie_reviews/pos/cv000_2.txt": "good", "movie_reviews/neg/cv000_1.txt": "bad"}
    serve("movie_reviews.zip", archive(files | {"movie_reviews/README": "x"}))
    found = datasets.fetch_movie_reviews()
    assert found.data == ["bad", "good"] and found.target.tolist() == [0, 1]


def test_convote(serve):
    serve("dem.convote.txt", b"mr. speaker , i rise\n\nthe bill \n")
    serve("repub.convote.txt", b"i yield\n")
    found = datasets.fetch_convote()
    assert found.data == ["mr. speaker , i rise", "the bill", "i yield"]
    assert found.party == ["D", "D", "R"]


def test_conll2000(serve):
    text = "Confidence NN B-NP\nin IN B-PP\n\nChancellor NNP O\n\n"
    files = {"conll2000/train.txt": text, "conll2000/test.txt": "A DT B-NP\n"}
    serve("conll2000.zip", archive(files))
    found = datasets.fetch_conll2000()
    assert found.data == [["Confidence", "in"], ["Chancellor"]]
    assert found.pos == [["NN", "IN"], ["NNP"]] and found.chunks == [["B-NP", "B-PP"], ["O"]]
    assert datasets.fetch_conll2000(subset="test").data == [["A"]]


def test_text8(serve):
    serve("text8.zip", archive({"text8": " anarchism originated as a term"}))
    found = datasets.fetch_text8(document_length=2)
    assert found.data == ["anarchism originated", "as a", "term"]


def test_word_similarity(serve):
    serve("EN-WS-353-ALL.txt", b"love\tsex\t6.77\ntiger\tcat\t7.35\n")
    found = datasets.fetch_word_similarity("ws353")
    assert found.pairs == [("love", "sex"), ("tiger", "cat")]
    assert found.scores.tolist() == [6.77, 7.35]
    with pytest.raises(ValueError, match="name must be one of 'ws353'"):
        datasets.fetch_word_similarity("men")


def test_analogies(serve):
    serve("questions-words.txt", b": capital\nAthens Greece Oslo Norway\n: gram1\na b c d\n")
    found = datasets.fetch_analogies()
    assert found.questions == [("Athens", "Greece", "Oslo", "Norway"), ("a", "b", "c", "d")]
    assert found.categories == ["capital", "gram1"]


def test_movielens(serve):
    serve("ml-100k.u.data", b"196\t242\t3\t881250949\n186\t302\t4\t891717742\n")
    serve("ml-100k.u.item", "242|Kolya (1996)|x\n302|Misérables|y\n".encode("latin-1"))
    small = {
        "ml-1m/ratings.dat": "1::1193::5::978300760\n",
        "ml-1m/movies.dat": "1193::One Flew (1975)::Drama\n",
    }
    serve("ml-1m.zip", archive(small))
    latest = {
        "ml-latest-small/ratings.csv": "userId,movieId,rating,timestamp\n1,1,4.5,964982703\n",
        "ml-latest-small/movies.csv": 'movieId,title,genres\n1,"Toy, Story (1995)",Comedy\n',
    }
    serve("ml-latest-small.zip", archive(latest))
    found = datasets.fetch_movielens()
    assert found.user.tolist() == [196, 186] and found.item.tolist() == [242, 302]
    assert found.rating.tolist() == [3.0, 4.0] and found.timestamp[0] == 881250949
    assert found.titles == {242: "Kolya (1996)", 302: "Misérables"}
    assert datasets.fetch_movielens(version="1m").titles == {1193: "One Flew (1975)"}
    found = datasets.fetch_movielens(version="latest-small")
    assert found.rating.tolist() == [4.5] and found.titles == {1: "Toy, Story (1995)"}


def test_stop_words(serve):
    serve("stopwords.zip", archive({"stopwords/": "", "stopwords/english": "i\nme\n",
                                    "stopwords/README": "x"}))  # fmt: skip
    assert datasets.fetch_stop_words().data == ["i", "me"]
    with pytest.raises(ValueError, match="language must be one of 'english', got 'README'"):
        datasets.fetch_stop_words("README")


@pytest.mark.parametrize("name", LOADERS)
def test_every_loader_is_alike(name, tmp_path):
    """All take scikit-learn's options, say their licence, and do not download unasked."""
    loader = getattr(datasets, name)
    parameters = inspect.signature(loader).parameters
    expected = {"data_home": None, "download_if_missing": True, "n_retries": 3, "delay": 1.0}
    assert expected.items() <= {n: p.default for n, p in parameters.items()}.items()
    assert "Licence: " in loader.__doc__ and "<download>" not in loader.__doc__
    with pytest.raises(OSError, match="is missing, and download_if_missing=False"):
        loader(data_home=tmp_path, download_if_missing=False)


# Files of R -------------------------------------------------------------------------------------


def test_r_objects(tmp_path):
    objects = {
        "a": np.array([1.5, np.nan]),
        "b": np.array([1, -(2**31)]),
        "c": np.array([True, False]),
        "d": ["x", None, "é"],
        "e": Factor([2, -(2**31), 1], ["low", "high"]),
        "f": range(3, 6),
        "a again": {"a": np.array([7]), "d": ["y"]},
    }
    path = tmp_path / "data.rda"
    path.write_bytes(r_file(objects))
    found = r_files.read_r_file(path)
    np.testing.assert_array_equal(found["a"], [1.5, np.nan])
    np.testing.assert_array_equal(found["b"], [1, np.nan])
    assert found["c"].tolist() == [True, False] and found["c"].dtype == bool
    assert found["d"].tolist() == ["x", None, "é"]
    assert found["e"].tolist() == ["high", None, "low"]
    assert found["f"].tolist() == [3, 4, 5] and found["f"].dtype == np.int64
    assert {k: v.tolist() for k, v in found["a again"].items()} == {"a": [7], "d": ["y"]}


def test_r_files_of_another_writer(tmp_path):
    rdata, pandas = pytest.importorskip("rdata"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"year": [1790, 2020], "name": ["Wäshington", "x"]})
    for compression in ("bzip2", "gzip", "xz"):
        path = tmp_path / "data.rda"
        rdata.write_rda(path, {"meta": frame, "n": np.arange(3.0)}, compression=compression)
        found = r_files.read_r_file(path)
        assert found["meta"]["year"].tolist() == [1790, 2020]
        assert found["meta"]["name"].tolist() == ["Wäshington", "x"]
        assert found["n"].tolist() == [0.0, 1.0, 2.0]


def test_damaged_r_files(tmp_path):
    path, whole = tmp_path / "data.rda", r_file({"a": ["x", "y"], "b": {"c": np.arange(3)}})
    plain = bz2.decompress(whole)
    for cut in range(0, len(plain), 7):
        path.write_bytes(bz2.compress(plain[:cut]))
        with pytest.raises(ValueError, match="data.rda' (is damaged|cannot be read)"):
            r_files.read_r_file(path)
    rng = np.random.default_rng(0)
    for content in (b"", whole[:30], b"PK", *(rng.bytes(200) for _ in range(5))):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="data.rda' (is damaged|cannot be read)"):
            r_files.read_r_file(path)


@pytest.mark.parametrize(("kind", "what"), [(3, "functions"), (4, "environments")])
def test_r_objects_that_are_no_data(kind, what, tmp_path):
    path = tmp_path / "data.rda"
    path.write_bytes(r_file({"a": np.arange(2), what: struct.pack(">i", kind)}))
    with pytest.raises(ValueError, match=f"an object of R's type {kind}, which is no data"):
        r_files.read_r_file(path)

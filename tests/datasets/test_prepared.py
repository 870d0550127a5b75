"""Copies in a folder of one's own: loaders read them, and an own download folder comes first."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from skbayesembed import datasets


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A function that puts a file into the folder of prepared copies."""
    monkeypatch.setenv("SKBAYESEMBED_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SKBAYESEMBED_DATA_HOME", str(tmp_path / "home"))

    def add(name, text):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = text.encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path.parent

    return add


def test_speeches(folder):
    text = "One.\nTwo, naïve. " + "word " * 40_000  # longer than the field of a CSV usually may be
    folder("inaugural/inaugural.csv.gz", f'year,president,text\n1789,Washington,"{text}"\n')
    found = datasets.fetch_inaugural()
    assert found.data == [text] and found.president == ["Washington"]
    assert found.president.name == "president"
    assert found.year.tolist() == [1789] and found.DESCR.count("1 addresses") == 1
    header = "year,president,party,type,text"
    folder("state_of_the_union/state_of_the_union.csv.gz", f"{header}\n1790,GW,None,speech,A b\n")
    found = datasets.fetch_state_of_the_union()
    assert found.data == ["A b"] and found.party == ["None"] and found.type == ["speech"]


def test_presidents_of_one_name_are_told_apart(folder):
    """Units are people: two of a name are two, and two terms of one are one."""
    known = {
        1797: ("Adams", "J. Adams"), 1825: ("Adams", "J. Q. Adams"),
        1841: ("Harrison", "W. H. Harrison"), 1885: ("Cleveland", "Cleveland"),
        1889: ("Harrison", "B. Harrison"), 1893: ("Cleveland", "Cleveland"),
        1905: ("Roosevelt", "T. Roosevelt"), 1933: ("Roosevelt", "F. D. Roosevelt"),
        1945: ("Roosevelt", "F. D. Roosevelt"), 1989: ("Bush", "G. H. W. Bush"),
        2001: ("Bush", "G. W. Bush"), 2005: ("Bush", "G. W. Bush"),
    }  # fmt: skip
    rows = "".join(f"{year},{name},A b\n" for year, (name, _) in known.items())
    folder("inaugural/inaugural.csv.gz", f"year,president,text\n{rows}")
    found = datasets.fetch_inaugural()
    assert found.president == [label for _, label in known.values()]


def test_another_data_home_comes_first(folder, tmp_path):
    folder("inaugural/inaugural.csv.gz", "year,president,text\n1789,Washington,A\n")
    with pytest.raises(OSError, match=r"inaugural\.zip is missing"):
        datasets.fetch_inaugural(data_home=tmp_path / "other", download_if_missing=False)


def test_tokens(folder):
    folder(
        "text/brown.tsv.gz", 'file\tcategory\tsentence\nb\tlore\t" x\na\tnews\tA b .\nb\tlore\ty\n'
    )
    found = datasets.fetch_brown()
    assert found.data == [["A", "b", "."], ['"', "x", "y"]]
    assert found.name == ["a", "b"] and found.category == ["news", "lore"]
    folder("chunking/test.tsv.gz", "The\tDT\tB-NP\nend\tNN\tI-NP\n\nGo\tVB\tB-VP\n")
    found = datasets.fetch_conll2000(subset="test")
    assert found.data == [["The", "end"], ["Go"]]
    assert found.pos == [["DT", "NN"], ["VB"]] and found.chunks == [["B-NP", "I-NP"], ["B-VP"]]


def test_snippets(folder):
    rows = ["0,7 BC,1,verse,1,order,2 0", "2,5 BC,0,prose,,,", "2,5 BC,0,prose,0,world,1 1"]
    header = "time,period,genre,genre_name,sense,sense_name,words\n"
    own = folder("senses/kosmos/snippets.csv", header + "\n".join(rows) + "\n")
    folder("senses/kosmos/vocab.csv", "word_id,lemma\n0,a\n1,b\n2,c\n")
    for name in ("kosmos", own):
        found = datasets.load_snippets(name)
        assert found.data == [["c", "a"], [], ["b", "b"]]
        np.testing.assert_array_equal(found.times, [0, 2, 2])
        np.testing.assert_array_equal(found.genres, [1, 0, 0])
        np.testing.assert_array_equal(found.senses, [1, -1, 0])
        assert found.genre_names == ["prose", "verse"] and found.sense_names == ["world", "order"]
        assert found.period_names == {0: "7 BC", 2: "5 BC"}


def test_snippets_that_are_not_there(folder):
    with pytest.raises(FileNotFoundError, match="folder='nothing' holds no snippets.csv"):
        datasets.load_snippets("nothing")


def test_words_of_one_lemma_and_vectors(tmp_path):
    header = "time,period,genre,genre_name,sense,sense_name,words"
    (tmp_path / "snippets.csv").write_text(f"{header}\n0,1900s,0,news,,,0 2 1\n")
    (tmp_path / "vocab.csv").write_text("word_id,lemma\n0,lie\n1,bed\n2,lie\n")
    np.save(tmp_path / "vectors_2.npy", np.arange(6.0).reshape(3, 2))
    found = datasets.load_snippets(tmp_path)
    assert found.data == [["lie", "lie_2", "bed"]] and found.words == ["lie", "bed", "lie_2"]
    np.testing.assert_array_equal(found.vectors[2][2], [4.0, 5.0])


def test_names_of_snippets_are_by_number(tmp_path):
    """Also where some numbers do not occur."""
    lines = ["time,period,genre,genre_name,sense,sense_name,words", "0,a,1,news,2,river,0",
             "0,a,3,law,1,money,0"]  # fmt: skip
    (tmp_path / "snippets.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "vocab.csv").write_text("word_id,lemma\n0,loan\n")
    found = datasets.load_snippets(tmp_path)
    assert [found.sense_names[k] for k in found.senses] == ["river", "money"]
    assert [found.genre_names[k] for k in found.genres] == ["news", "law"]
    assert found.sense_names[0] == "0"


HEADER = "time,period,genre,genre_name,sense,sense_name,words"


def written(folder, vocabulary, *rows, header=HEADER, encoding="utf-8"):
    (folder / "snippets.csv").write_text("\n".join([header, *rows]) + "\n", encoding=encoding)
    (folder / "vocab.csv").write_text(vocabulary, encoding=encoding)
    return folder


def test_words_are_found_by_their_own_numbers(tmp_path):
    """Those that R counts begin at one, and rows may be in any order."""
    vocabulary = "word_id,lemma\n3,bank\n1,loan\n2,credit\n"
    found = datasets.load_snippets(written(tmp_path, vocabulary, "0,a,0,news,0,money,1 3"))
    assert found.data == [["loan", "bank"]] and found.words == ["bank", "loan", "credit"]
    for words in ("0", "-1", "4"):
        written(tmp_path, vocabulary, f"0,a,0,news,0,money,{words}")
        with pytest.raises(ValueError, match=f"among the 3 of vocab.csv.*got '{words}'"):
            datasets.load_snippets(tmp_path)
    written(tmp_path, "lemma\nloan\n", "0,a,0,news,0,money,-1")
    with pytest.raises(ValueError, match="got '-1'"):
        datasets.load_snippets(tmp_path)


def test_tables_of_spreadsheets(tmp_path):
    """They begin with a mark of UTF-8; R writes NA where there is no sense."""
    rows = "0,a,0,news,NA,NA,1 0", "1,b,0,news,0,money,0"
    found = datasets.load_snippets(
        written(tmp_path, "lemma\nloan\ncredit\n", *rows, encoding="utf-8-sig")
    )
    assert found.senses.tolist() == [-1, 0] and found.sense_names == ["money"]
    written(tmp_path, "lemma\nloan\n", "0,a", header="time,period")
    with pytest.raises(ValueError, match="it lacks .'words', 'genre'"):
        datasets.load_snippets(tmp_path)

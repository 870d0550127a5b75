"""Snippets against a loop over tokens, the rules for what they hold, and real text."""

from __future__ import annotations

import os
import pickle
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import extract_snippets
from skbayesembed.datasets.named import NamedList

DATA = os.environ.get("SKBAYESEMBED_DATA")


def slow_snippets(documents, forms, half, stops=(), min_count=1):
    """Windows by list slices; (document, position, kept words) of each."""
    found = []
    for d, tokens in enumerate(documents):
        for i, token in enumerate(tokens):
            if token in forms:
                near = tokens[max(i - half, 0) : i] + tokens[i + 1 : i + 1 + half]
                found.append((d, i, [w for w in near if w not in stops]))
    count = Counter(w for _, _, near in found for w in near)
    return [(d, i, [w for w in near if count[w] >= min_count]) for d, i, near in found]


def agree(bunch, expected):
    assert bunch.document.tolist() == [d for d, _, _ in expected]
    assert bunch.positions.tolist() == [i for _, i, _ in expected]
    assert bunch.snippets == [" ".join(words) for _, _, words in expected]
    count = Counter(w for _, _, words in expected for w in words)
    assert bunch.words.tolist() == sorted(count, key=lambda w: (-count[w], w))
    table = [[words.count(w) for w in bunch.words] for _, _, words in expected]
    assert np.array_equal(bunch.counts.toarray(), table)


@pytest.mark.parametrize("min_count", [1, 2, 5])
@pytest.mark.parametrize("window", [2, 6, 14])
def test_against_a_loop(window, min_count):
    rng = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    weights = 1.0 / np.arange(1, 27)
    documents = [
        rng.choice(letters, size=n, p=weights / weights.sum()).tolist()
        for n in rng.integers(0, 30, 60)
    ]
    bunch = extract_snippets(
        documents, ["d", "q"], window=window, stop_words=["a", "c"], min_count=min_count
    )
    agree(bunch, slow_snippets(documents, {"d", "q"}, window // 2, {"a", "c"}, min_count))
    assert sparse.issparse(bunch.counts)
    assert bunch.times is None
    assert bunch.genres is None and bunch.units is None


def test_stop_words_keep_their_places():
    """Positions are counted over all tokens: two before, two after, the stop words dropped."""
    documents = [["far", "the", "near", "x", "of", "close", "away"]]
    bunch = extract_snippets(documents, "x", window=4, stop_words=["the", "of"], min_count=1)
    assert bunch.snippets == ["near close"]


def test_windows_end_with_the_document():
    documents = [["a", "b"], ["x"], ["c", "x", "d"], [], ["e"]]
    bunch = extract_snippets(documents, "x", min_count=1, times=[1, 2, 3, 4, 5])
    assert bunch.snippets == ["", "c d"]
    assert bunch.counts.sum(axis=1).tolist() == [0, 2]
    assert bunch.times.tolist() == [2, 3]


def test_target_is_no_word_of_its_own_snippet_but_of_a_near_one():
    bunch = extract_snippets([["a", "x", "b", "x"]], "x", window=4, min_count=1)
    assert bunch.snippets == ["a b x", "x b"]
    without = extract_snippets(
        [["a", "x", "b", "x"]], "x", window=4, min_count=1, stop_words="x y".split()
    )
    assert without.snippets == ["a b", "b"]


def test_covariates_are_carried_along_as_they_are():
    documents = ["bank river", "no target", "money bank loan bank"]
    times = np.array(["1850-01-01", "1900-01-01", "1990-01-01"], dtype="datetime64[D]")
    bunch = extract_snippets(
        documents, "bank", times=times, genres=["fiction", "news", "magazine"],
        units=["Ann", "Bo", "Cy"], min_count=1,
    )  # fmt: skip
    assert np.array_equal(bunch.times, times[[0, 2, 2]])
    assert bunch.genres.tolist() == ["fiction", "magazine", "magazine"]
    assert bunch.units.tolist() == ["Ann", "Cy", "Cy"]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": documents, "year": [1, 2, 3]}, index=[9, 8, 7])
    again = extract_snippets(frame["text"], "bank", times=frame["year"], min_count=1)
    assert again.times.tolist() == [1, 3, 3]
    assert again.snippets == bunch.snippets


def test_sentences_are_whole():
    text = "We met. ON THE Bank of a river, (so near!) we sat\n\nNo bank: here? The bank"
    found = extract_snippets([text], "bank", window=2, min_count=1)
    first, second, third = found.sentences
    assert first == "ON THE Bank of a river, (so near!)"
    assert second == "No bank: here?" and third == "The bank"
    tokens = extract_snippets([text.lower().split()], "bank", window=2, min_count=1)
    assert tokens.sentences == tokens.passages


def test_passages_are_the_text_of_the_window():
    texts = ["At noon, we sat ON THE  Bank\nof a river; a bank!", "no such word", "bank"]
    bunch = extract_snippets(texts, "bank", window=4, min_count=1)
    assert bunch.passages == ["ON THE  Bank\nof a river", "of a river; a bank", "bank"]
    # a letter that is two in lower case: tokens as they were read
    bunch = extract_snippets(["\u0130n the bank of it"], "bank", window=2, min_count=1)
    assert bunch.passages == ["the bank of"]
    tokens = extract_snippets([["on", "the", "bank", "of", "it"]], "bank", window=2, min_count=1)
    own = extract_snippets(["on the bank, of"], "bank,", window=4, min_count=1, analyzer=str.split)
    assert tokens.passages == ["the bank of"] and own.passages == ["on the bank, of"]
    group = extract_snippets(texts, "bank", window=4, min_count=1, token_pattern=r"(\w+)\b")
    assert group.passages[0] == "ON THE  Bank\nof a"


def test_snippets_give_the_same_counts_again():
    """Joined by blanks and cut at blanks: what a model that takes texts will see."""
    rng = np.random.default_rng(1)
    documents = [" ".join(rng.choice(["sun", "sea", "sky", "oak", "elm"], 40)) for _ in range(5)]
    bunch = extract_snippets(documents, "sea", window=6)
    vectorizer = CountVectorizer(vocabulary=bunch.words.tolist(), analyzer=str.split)
    assert np.array_equal(
        vectorizer.fit_transform(bunch.snippets).toarray(), bunch.counts.toarray()
    )


def test_max_features_keeps_the_most_frequent():
    documents = [["a", "b", "x", "a", "c", "c", "c"]]
    bunch = extract_snippets(documents, "x", max_features=2, min_count=1)
    assert bunch.words.tolist() == ["c", "a"]
    assert bunch.snippets == ["a a c c c"]


def test_words_of_a_vocabulary():
    """New documents in the words of others: counts as those others have them."""
    texts = ["we saw the bank by the river", "the river bank lent money", "money of the bank"]
    whole = extract_snippets(texts, "bank", min_count=1)
    order = whole.words[::-1].tolist()
    again = extract_snippets(texts, "bank", vocabulary=order, min_count=9, max_features=1)
    assert again.words.tolist() == order
    np.testing.assert_array_equal(again.counts.toarray(), whole.counts.toarray()[:, ::-1])
    new = extract_snippets(["a bank by no water"], "bank", vocabulary=["river", "by", "gold"])
    assert new.counts.toarray().tolist() == [[0.0, 1.0, 0.0]] and new.snippets == ["by"]
    with pytest.raises(ValueError, match="vocabulary must be a list of different words"):
        extract_snippets(texts, "bank", vocabulary=["river", "river"])


def test_forms_that_do_not_occur():
    texts = ["the river bank lent money", "the national bank"]
    with pytest.warns(UserWarning, match="forms that do not occur: 'bankz'.$"):
        found = extract_snippets(texts, ["bank", "bankz"], min_count=1)
    assert found.counts.shape[0] == 2
    for phrase in ("national bank", "bank.*"):
        with pytest.raises(ValueError, match=f"{re.escape(phrase)}' is not one token .* join"):
            extract_snippets(texts, phrase, min_count=1)
        with pytest.warns(UserWarning, match="do not occur: .* is not one token of these texts"):
            extract_snippets(texts, ["bank", phrase], min_count=1)
    tokens = [text.split() for text in texts]
    with pytest.raises(ValueError, match="'national bank' is in none of the 2.$"):
        extract_snippets(tokens, "national bank", min_count=1)


def test_near_spellings_of_what_does_not_occur_are_offered():
    texts = ["the duty of a state", "duties and a debt"]
    with pytest.raises(ValueError, match="'dutty' is in none of the 2. Did you mean 'duty'.$"):
        extract_snippets(texts, "dutty", min_count=1)
    with pytest.raises(ValueError, match="'dutty', 'statte' are in none .* 'duty'. .* 'state'.$"):
        extract_snippets(texts, ["dutty", "statte"], min_count=1)
    with pytest.warns(UserWarning, match="do not occur: 'debtt'. Did you mean 'debt'.$"):
        extract_snippets(texts, ["duty", "debtt"], min_count=1)


def test_snippets_themselves_are_no_data():
    found = extract_snippets(["the river bank", "the bank"], "bank", min_count=1)
    how = r"got a Snippets, .* Pass its counts, fit\(X.counts\), and .* feature_names=X.words.$"
    with pytest.raises(TypeError, match=how):
        DiSCSenseModel(2).fit(found)
    dated = extract_snippets(["the river bank", "the bank"], "bank", times=[1, 2], min_count=1)
    with pytest.raises(TypeError, match=r"fit\(X.counts, times=X.times\), and"):
        DiSCSenseModel(2).fit(dated)


def test_case_follows_the_documents():
    texts = ["The River BANK was The Steep one"]
    lower = extract_snippets(texts, "Bank", stop_words=["THE"], min_count=1)
    assert lower.snippets == ["river was steep one"]
    exact = extract_snippets(texts, "BANK", stop_words=["The"], min_count=1, lowercase=False)
    assert exact.snippets == ["River was Steep one"]
    tokens = extract_snippets([texts[0].split()], "BANK", min_count=1)
    assert tokens.snippets == ["The River was The Steep one"]
    with pytest.raises(ValueError, match="'bank' is in none of the 1. Did you mean 'BANK'"):
        extract_snippets([texts[0].split()], "bank", min_count=1)


def test_english_stop_words_and_own_analyzer():
    texts = ["we were at the bank of a river"]
    assert extract_snippets(texts, "bank", stop_words="english", min_count=1).snippets == ["river"]
    own = extract_snippets(
        texts, "bank", analyzer=str.split, stop_words=ENGLISH_STOP_WORDS, min_count=1
    )
    assert own.snippets == ["river"]
    letters = extract_snippets(texts, "bank", token_pattern=r"\w+", window=6, min_count=1)
    assert letters.snippets == ["were at the of a river"]


def test_an_iterator_is_read_once():
    texts = ["one bank two", "three bank two"]
    bunch = extract_snippets((t for t in texts), "bank", times=[1, 2])
    assert bunch.snippets == ["two", "two"]


def test_a_column_of_units_keeps_its_name():
    pd = pytest.importorskip("pandas")
    texts = ["one bank two", "none here", "three bank two"]
    units = pd.Series(["Ann", "Bo", "Cy"], index=[7, 8, 9], name="speaker")
    found = extract_snippets(texts, "bank", units=units, min_count=1).units
    assert found.name == "speaker" and found.to_dict() == {0: "Ann", 1: "Cy"}


def test_units_of_a_loader_keep_their_name():
    texts = ["one bank two", "none here", "three bank two"] * 4
    units = NamedList(["Adams", "Taft", "Polk"] * 4, "president")
    found = extract_snippets(texts, "bank", units=units, min_count=1)
    assert found.units.tolist() == ["Adams", "Polk"] * 4 and found.units.name == "president"
    plain = extract_snippets(texts, "bank", units=list(units), min_count=1).units
    assert getattr(plain, "name", None) is None


@pytest.mark.slow
def test_units_of_a_loader_give_a_fit_their_name():
    texts = ["one bank two", "none here", "three bank two"] * 4
    units = NamedList(["Adams", "Taft", "Polk"] * 4, "president")
    found = extract_snippets(texts, "bank", units=units, min_count=1)
    model = DiSCSenseModel(2, solver="map", n_starts=2, random_state=0)
    with pytest.warns(UserWarning, match="differences between units too small"):
        model = model.fit(found.counts, units=found.units)
    assert model.units_name_ == "president"
    said = model.prevalence_info().sentences.values()
    assert all("8 snippets by 2 presidents" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"window": 3}, "window must be even.*got 3"),
        ({"window": 0}, "window must be an integer >= 2"),
        ({"window": 4.0}, "window must be an integer"),
        ({"target": "absent"}, "'absent' is in none of the 2"),
        ({"target": []}, "target must be a word"),
        ({"target": [3]}, "target must be a word"),
        ({"target": ""}, "target must be a word"),
        ({"target": None}, "target must be a word"),
        ({"times": [1]}, "times must have one entry for each of the 2 documents, got 1"),
        ({"genres": [["a", "b"]]}, "genres must have one entry"),
        ({"units": ["a"]}, "units must have one entry"),
        (
            {"units": (u for u in "ab")},
            "units must be a list or array, got a generator: pass a list",
        ),
        (
            {"units": ["a", None]},
            "units must have a label for every one of the documents, got units\\[1\\] = None",
        ),
        ({"times": ["1999-05-03", None]}, r"times must be .*missing, got None in times\[1\]"),
        ({"times": ["early", "late"]}, "times must be numbers or dates, got 'early'"),
        ({"stop_words": "german"}, "stop_words must be 'english'"),
        ({"stop_words": [1]}, "stop_words must be 'english'"),
        ({"stop_words": 5}, "stop_words must be 'english'"),
        ({"stop_words": ["one", "two", "three"]}, "no tokens but stop words"),
        ({"min_count": 9}, "no word occurs min_count=9 times"),
        ({"min_count": 0}, "min_count must be an integer >= 1"),
        ({"max_features": 0}, "max_features must be an integer >= 1"),
        ({"analyzer": "char"}, "analyzer must be 'word' or a callable"),
        ({"lowercase": "yes"}, "lowercase must be True or False"),
        ({"token_pattern": "("}, "token_pattern"),
    ],
)
def test_refuses(options, match):
    options = {"target": "bank"} | options
    with pytest.raises(ValueError, match=match):
        extract_snippets(["one bank two", "three bank two"], **options)


@pytest.mark.parametrize("documents", ["one bank two", np.ones((2, 3)), {"one bank"}, [b"bank"]])
def test_refuses_other_than_documents(documents):
    with pytest.raises(TypeError):
        extract_snippets(documents, "bank")


@pytest.mark.skipif(not DATA, reason="SKBAYESEMBED_DATA does not name a folder")
def test_addresses():
    """Two centuries of inaugural addresses: windows, stop words and years as by the loop."""
    pandas = pytest.importorskip("pandas")
    path = Path(DATA, "inaugural", "inaugural.csv.gz")
    if not path.exists():
        pytest.skip(f"{path.name} is not in the folder that SKBAYESEMBED_DATA names")
    frame = pandas.read_csv(path)
    texts, years = frame["text"].tolist(), frame["year"].to_numpy()
    bunch = extract_snippets(texts, "union", times=years, stop_words="english")
    tokens = [CountVectorizer().build_analyzer()(text) for text in texts]
    agree(bunch, slow_snippets(tokens, {"union"}, 7, ENGLISH_STOP_WORDS, 2))
    assert np.array_equal(bunch.times, years[bunch.document])
    assert all(
        tokens[d][i] == "union" for d, i in zip(bunch.document, bunch.positions, strict=True)
    )


def test_snippets_print_in_a_few_lines():
    """As text and as HTML; a data frame has them all, and a copy prints alike."""
    documents = [f"so {'very ' * 30}near bank of{' the river' * 30}"] * 20
    found = extract_snippets(
        documents, "bank", window=60, times=[1800 + i for i in range(20)], min_count=1
    )
    lines = repr(found).splitlines()
    assert lines[0] == f"20 snippets of 20 documents, {len(found.words)} words"
    assert len(lines) == 9 and max(map(len, lines)) < 160
    assert lines[2].split()[:2] == ["1800", "0"] and lines[2].endswith("...") and "bank" in lines[2]
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert "<table>" in found._repr_html_() and found._repr_html_().count("<tr>") == 8
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame) == ["time", "document", "passage", "position", "snippet", "sentence"]
    assert frame["passage"].tolist() == found.passages and "genre" not in frame


def test_dates_without_a_time_of_day_have_none_in_print():
    """Dates of pandas, in whatever unit, of Python and of NumPy."""
    pandas = pytest.importorskip("pandas")
    texts, days = ["the bank of the river", "a bank lends money"], ["1790-01-08", "1791-12-31"]
    stamps = pandas.to_datetime(days)
    given = [stamps, pandas.Series(stamps), np.array(days, "datetime64[ns]"), list(stamps), days]
    for times in given:
        lines = repr(extract_snippets(texts, "bank", times=times, min_count=1)).splitlines()
        assert [line.split("  ")[0] for line in lines[2:4]] == days
    hours = pandas.to_datetime(["1790-01-08 09:30", "1791-12-31"], format="mixed")
    assert "1790-01-08T09:30  " in repr(extract_snippets(texts, "bank", times=hours, min_count=1))
    years = np.array(["1790", "1791"], "datetime64[Y]")
    assert "\n1790  " in repr(extract_snippets(texts, "bank", times=years, min_count=1))


@pytest.mark.parametrize("kind", ["units", "genres"])
def test_missing_labels_stay_missing(kind):
    """Beside texts in a list, and behind a mask."""
    texts = ["the bank of the river"] * 3
    for labels in (["Ann", float("nan"), "Bo"], np.ma.array(["a", "b", "c"], mask=[0, 1, 0])):
        if kind == "units":
            with pytest.raises(ValueError, match="label for every one of the documents"):
                extract_snippets(texts, "bank", units=labels, min_count=1)
        else:
            found = extract_snippets(texts, "bank", genres=labels, min_count=1).genres
            assert found[1] is None or found[1] != found[1]
    plain = extract_snippets(texts, "bank", genres=["a", "b", "nan"], min_count=1).genres
    assert plain.tolist() == ["a", "b", "nan"]


def test_letters_that_are_longer_in_lower_case_move_no_passage():
    """A dotted capital I of Turkish is two letters then."""
    text = "The İstanbul Bank is here. The bank is there, in İzmir."
    found = extract_snippets([text], "bank", window=4)
    assert found.sentences == ["The İstanbul Bank is here.", "The bank is there, in İzmir."]
    assert all(passage in text for passage in found.passages)

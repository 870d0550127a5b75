"""Documents to words: kinds of input, analyzers, vocabularies and ids."""

from __future__ import annotations

import io
import pickle
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA, build_vocabulary
from skbayesembed.corpus.analysis import make_analyzer, warn_of_unread
from skbayesembed.corpus.kinds import input_kind, materialise
from skbayesembed.corpus.text import (
    Corpus,
    build_corpus,
    document_counts,
    encode,
    keep_tokens,
    restrict,
)
from skbayesembed.corpus.units import check_units

TEXTS = [
    "The cat sat on the mat; the dog did not.",
    "",
    "A dog and a cat: are they friends?",
    "Überraschung, the Katze's café  100 % x_y",
]
TOKENS = [["b", "a", "b", "c"], [], ["c"], ["a", "d", "b"]]


def zipf_tokens(rng, n_documents=40):
    """Token lists of random lengths, some of them empty."""
    sizes = rng.integers(0, 30, n_documents)
    return [[f"w{i}" for i in rng.zipf(1.5, size) % 50] for size in sizes]


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (TEXTS, "text"),
        (tuple(TEXTS), "text"),
        (["one document"], "text"),
        ([""], "text"),
        (np.array(TEXTS), "text"),
        (np.array(TEXTS, dtype=object), "text"),
        (list(np.array(TEXTS)), "text"),
        (TOKENS, "tokens"),
        ([("a", "b"), ("c",)], "tokens"),
        ([np.array(["a", "b"]), np.array(["c"])], "tokens"),
        ([np.array(["a", "b"], dtype=object), ["c"]], "tokens"),
        ([[], []], "tokens"),
        ([[1, 2], [3, 4]], "counts"),
        ([[1.0, np.nan], [3, 4]], "counts"),
        ([(True, False), (False, True)], "counts"),
        ([np.array([1, 2]), np.array([3, 4])], "counts"),
        (np.eye(2), "counts"),
        (np.eye(2, dtype=object), "counts"),
        (np.eye(2, dtype=complex), "counts"),
        (np.zeros((0, 3)), "counts"),
        (sparse.csr_matrix(np.eye(2)), "counts"),
        (sparse.coo_array(np.eye(2)), "counts"),
    ],
)
def test_input_kind(X, kind):
    assert input_kind(X) == kind


def test_input_kind_of_array_like():
    class ArrayLike:
        def __array__(self, dtype=None, copy=None):
            return np.eye(2)

    assert input_kind(ArrayLike()) == "counts"


def test_input_kind_of_ragged_object_array():
    X = np.empty(2, dtype=object)
    X[:] = [["a", "b"], ["c"]]
    assert input_kind(X) == "tokens"


def test_input_kind_of_pandas():
    pd = pytest.importorskip("pandas")
    assert input_kind(pd.Series(TEXTS)) == "text"
    assert input_kind(pd.Series(TEXTS, index=[7, 5, 3, 1])) == "text"
    assert input_kind(pd.Series(TEXTS, dtype="string")) == "text"
    assert input_kind(pd.Series(TEXTS, dtype="category")) == "text"
    assert input_kind(pd.Series(TOKENS)) == "tokens"
    assert input_kind(pd.DataFrame(np.eye(2), columns=["a", "b"])) == "counts"
    assert input_kind(pd.DataFrame({"a": [1, 2], "b": [True, False]})) == "counts"
    assert input_kind(pd.DataFrame.sparse.from_spmatrix(sparse.eye_array(2).tocsc())) == "counts"
    with pytest.raises(TypeError, match=r"column 'text' is not numeric.*X\['text'\]"):
        input_kind(pd.DataFrame({"year": [1, 2], "text": ["a b", "c"]}))
    frame = pd.DataFrame({"year": [1, 2], "tokens": [["a", "b"], ["c"]]})
    with pytest.raises(TypeError, match=r"column 'tokens' is not numeric.*X\['tokens'\]"):
        input_kind(frame)
    with pytest.raises(TypeError, match=r"2-D array of lists.*X.ravel\(\).tolist\(\)"):
        input_kind(frame[["tokens"]].to_numpy())
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match=r"X\[1\] is missing"):
            input_kind(pd.Series(["a", missing, "b"], dtype=object))
    with pytest.raises(ValueError, match=r"X\[1\] is missing"):
        input_kind(pd.Series(["a", None], dtype="string"))
    with pytest.raises(ValueError, match=r"X\[0\]\[1\] is an empty str"):
        input_kind([pd.Series(["a", ""], index=[5, 6])])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("one document", TypeError, "one document must be wrapped in a list"),
        (np.str_("one document"), TypeError, "one document must be wrapped in a list"),
        (b"bytes", TypeError, "X is bytes: decode it to str first"),
        ([b"bytes"], TypeError, r"X\[0\] is bytes: decode it"),
        ([[b"bytes"]], TypeError, r"X\[0\]\[0\] is bytes: decode it"),
        (np.array([b"bytes"]), TypeError, "array of bytes: decode it"),
        ([], ValueError, "X has no documents"),
        (np.array([], dtype=str), ValueError, "X has no documents"),
        ([None], ValueError, r"X\[0\] is missing \(None\)"),
        (["a", None], ValueError, r"X\[1\] is missing \(None\)"),
        (["a", float("nan")], ValueError, r"X\[1\] is missing \(nan\)"),
        (["a", None], ValueError, "drop it or make it an empty document: '' among texts, "),
        ([["a", None]], ValueError, r"X\[0\]\[1\] is missing \(None\): drop it\.$"),
        ([[1, None]], ValueError, r"X\[0\]\[1\] is missing \(None\): make it a number\.$"),
        ([["a"], ["b", ""]], ValueError, r"X\[1\]\[1\] is an empty str, which is no word: drop"),
        ([("a", "")], ValueError, r"X\[0\]\[1\] is an empty str"),
        ([np.array(["", "a"])], ValueError, r"X\[0\]\[0\] is an empty str"),
        ([np.array(["", "a"], dtype=object)], ValueError, r"X\[0\]\[0\] is an empty str"),
        (["a", ["b"]], ValueError, r"X mixes kinds: X\[0\] is a str, X\[1\] is a list of str"),
        (["a", 1], ValueError, r"X mixes kinds: X\[0\] is a str, X\[1\] is a number"),
        ([["a"], [], [1]], ValueError, r"X\[0\] is a list of str, X\[2\] is a list of numbers"),
        ([["a", 1]], ValueError, r"X\[0\] must hold only str or only numbers, got int, str"),
        ([["a", ["b"]]], ValueError, r"only str or only numbers, got list, str"),
        ([[1, 2], [3]], ValueError, "different lengths"),
        ([[1, 2], []], ValueError, "different lengths"),
        ([1, 2, 3], ValueError, "Reshape your data"),
        (np.arange(3), ValueError, "Reshape your data"),
        (np.float64(3), ValueError, "0 dimension"),
        (np.zeros((2, 2, 2)), ValueError, "3 dimension"),
        (np.array([["a", "b"]]), TypeError, "2-D array of str"),
        (np.array([["a", "b"]], dtype=object), TypeError, "2-D array of str"),
        (np.array([["1", "2"]]), TypeError, r"numbers that are texts: .* X.astype\(float\)"),
        (np.array([[1, 2], [0, "x"]], object), TypeError, "got 'x' in row 1, column 1: counts"),
        (np.eye(2).astype("datetime64[s]"), TypeError, r"dates or times, of dtype datetime64\[s\]"),
        (np.eye(2).astype("timedelta64[s]"), TypeError, "an array of dates or times"),
        ([[np.timedelta64(1, "s")]], ValueError, "only str or only numbers, got timedelta64"),
        ({"a": 1}, TypeError, "got a dict, which has no order"),
        ({"a", "b"}, TypeError, "got a set, which has no order"),
        ([{"a": 1}], TypeError, r"X\[0\] is a dict"),
        (iter(["a"]), TypeError, r"got an iterator; wrap it: list\(X\)"),
        (None, TypeError, "got NoneType"),
        (3, TypeError, "got int"),
    ],
)
def test_input_kind_refuses(X, error, message):
    with pytest.raises(error, match=message):
        input_kind(X)


def test_materialise():
    assert materialise(text for text in TEXTS) == TEXTS
    assert materialise(io.StringIO("a b\nc\n")) == ["a b\n", "c\n"]
    for X in (TEXTS, np.array(TEXTS), sparse.eye_array(2), "text", None):
        assert materialise(X) is X


def test_iterable_without_length_is_read():
    class Stream:
        def __iter__(self):
            return iter(TOKENS)

    assert input_kind(Stream()) == "tokens"
    assert build_corpus(Stream()).words.tolist() == build_corpus(TOKENS).words.tolist()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"lowercase": False},
        {"stop_words": "english"},
        {"stop_words": ["the", "cat"]},
        {"stop_words": {"the": 0, "cat": 1}},
        {"token_pattern": r"(?u)\b\w+\b"},
        {"token_pattern": r"(\w)\w*"},
        {"analyzer": "char"},
        {"analyzer": "char_wb", "lowercase": False},
        {"analyzer": str.split},
    ],
)
def test_make_analyzer_is_that_of_scikit_learn(parameters):
    expected = CountVectorizer(**parameters).build_analyzer()
    parameters = dict(parameters)
    analyze = make_analyzer(parameters.pop("analyzer", "word"), **parameters)
    for text in TEXTS:
        assert analyze(text) == expected(text)
    assert pickle.loads(pickle.dumps(analyze))(TEXTS[0]) == expected(TEXTS[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"analyzer": "words"}, "analyzer must be a callable or one of 'word', .* got 'words'"),
        ({"analyzer": None}, "analyzer must be a callable or one of .* got None"),
        ({"stop_words": "german"}, "stop_words must be 'english', .* got 'german'"),
        ({"stop_words": 3}, "stop_words must be 'english', a list of str or None, got 3"),
        ({"stop_words": b"x"}, "stop_words must be 'english', a list of str or None, got b'x'"),
        ({"stop_words": [b"river"]}, "got b'river' among them: decode it to str"),
        ({"stop_words": {"the": 0, 3: 1}}, "got 3 among them"),
        ({"token_pattern": None}, "token_pattern must be a str .* got None"),
        ({"token_pattern": "("}, r"token_pattern='\('"),
        ({"token_pattern": "(a)(b)"}, "group"),
    ],
)
def test_make_analyzer_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_analyzer(**parameters)


@pytest.mark.parametrize(
    ("estimator", "X", "given", "message"),
    [
        (BayesianSGNS, TEXTS, {"feature_names": ["q"]}, "feature_names is not .* is text, whose"),
        (DiSCSenseModel, TOKENS, {"feature_names": ["q"]}, "feature_names .* is token lists, who"),
        (
            DynamicSGNS, TOKENS, {"stop_words": ["b"], "lowercase": False},
            "stop_words is not used for X, which is token lists: it says .* Give it to what makes "
            "the tokens, or pass texts",
        ),
        (
            GaussianLDA, np.eye(3), {"analyzer": "char"},
            "analyzer is not used for X, which is a count matrix: it says how .* Give it to what "
            "counts, such as CountVectorizer, or pass texts",
        ),
        (
            DynamicSGNS, np.eye(3), {"stop_words": ["b"], "lowercase": False},
            "lowercase and stop_words are not used for X, .* they say .* Give them to what counts",
        ),
        (BayesianSGNS, np.eye(3), {"stop_words": np.array(["b", "c"])}, "stop_words is not used"),
        (DiSCSenseModel, np.eye(3), {"token_pattern": "x"}, "token_pattern is not used for X, whi"),
    ],
)  # fmt: skip
def test_parameters_that_are_not_used_are_told(estimator, X, given, message):
    with pytest.warns(UserWarning, match=f"^{message}"):
        warn_of_unread(estimator(**given), input_kind(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_unread(estimator(), input_kind(X))
        other = {name: x for name, x in given.items() if input_kind(X) == "counts"}
        warn_of_unread(estimator(**other), "text")


def check_corpus(corpus, documents):
    """Compare a corpus with a count of its documents by the standard library."""
    counter = Counter(token for document in documents for token in document)
    expected = sorted(counter, key=lambda word: (-counter[word], word))
    assert corpus.words.tolist() == expected
    assert corpus.frequency.tolist() == [counter[word] for word in expected]
    assert corpus.words.dtype == object
    assert corpus.ids.dtype == np.int32
    assert corpus.offsets.dtype == np.int64
    assert corpus.frequency.dtype == np.int64
    assert len(corpus.offsets) == len(documents) + 1
    for index, document in enumerate(documents):
        ids = corpus.ids[corpus.offsets[index] : corpus.offsets[index + 1]]
        assert corpus.words[ids].tolist() == list(document)


def test_build_corpus_of_tokens():
    documents = zipf_tokens(np.random.default_rng(0))
    check_corpus(build_corpus(documents), documents)
    check_corpus(build_corpus(tuple(d) for d in documents), documents)
    check_corpus(build_corpus(TOKENS), TOKENS)


@pytest.mark.parametrize("make", [list, tuple, np.array, iter, lambda X: (x for x in X)])
def test_build_corpus_of_texts(make):
    analyze = make_analyzer()
    check_corpus(build_corpus(make(TEXTS), analyze), [analyze(text) for text in TEXTS])


def test_build_corpus_has_the_vocabulary_of_count_vectorizer():
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(TEXTS)
    corpus = build_corpus(TEXTS, make_analyzer())
    order = [vectorizer.vocabulary_[word] for word in corpus.words]
    ours = document_counts(corpus.ids, corpus.offsets, corpus.words.size)
    np.testing.assert_array_equal(ours.toarray(), counts.toarray()[:, order])


def test_build_corpus_without_tokens():
    corpus = build_corpus([[], []])
    assert corpus.words.size == corpus.ids.size == corpus.frequency.size == 0
    assert corpus.offsets.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="vocabulary is empty: the documents have no tokens"):
        restrict(corpus)


def test_long_words_cost_only_themselves():
    corpus = build_corpus([["x" * 100_000, "a", "b"]])
    assert corpus.words.nbytes < 1000


@pytest.mark.parametrize("function", [build_corpus, lambda X, a=None: encode(X, a, {"a": 0})])
def test_documents_and_analyzer_have_to_agree(function):
    with pytest.raises(TypeError, match="analyzer is None"):
        function(["a b"])
    with pytest.raises(TypeError, match="token lists, which need no analyzer"):
        function([["a", "b"]], make_analyzer())
    with pytest.raises(TypeError, match="X holds numbers"):
        function(np.eye(2))
    with pytest.raises(TypeError, match="wrapped in a list"):
        function("a b", make_analyzer())
    with pytest.raises(ValueError, match="no documents"):
        function(iter([]), make_analyzer())


def test_analyzer_must_return_words():
    with pytest.raises(TypeError, match="must return str tokens, got 1"):
        build_corpus(["a b"], lambda text: [len(text.split()) - 1])
    for settings in ({"analyzer": lambda text: text.split(" ")}, {"token_pattern": r"\w*"}):
        for read in (
            lambda X, settings=settings: build_corpus(X, make_analyzer(**settings)),
            lambda X, settings=settings: build_vocabulary(X, **settings),
        ):
            with pytest.raises(ValueError, match=r"must return no empty tokens.*str\.split\(\)"):
                read(["a  b"])
    with pytest.raises(TypeError, match="document 1 is not a sequence of str tokens"):
        build_corpus(["a", "b"], lambda text: None if text == "b" else [text])


@pytest.mark.parametrize("min_count", [1, 2, 3, 7])
@pytest.mark.parametrize("max_features", [None, 1, 5, 1000])
def test_restrict(min_count, max_features):
    documents = zipf_tokens(np.random.default_rng(1))
    corpus = build_corpus(documents)
    counter = Counter(token for document in documents for token in document)
    kept = sorted(counter, key=lambda word: (-counter[word], word))
    kept = [word for word in kept if counter[word] >= min_count][:max_features]
    small = restrict(corpus, min_count=min_count, max_features=max_features)
    check_corpus(small, [[token for token in d if token in kept] for d in documents])
    assert isinstance(small, Corpus)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_count": 0}, "min_count must be an integer >= 1, got 0"),
        ({"min_count": 1.5}, "min_count must be an integer >= 1, got 1.5"),
        ({"min_count": True}, "min_count must be an integer >= 1, got True"),
        ({"max_features": 0}, "max_features must be an integer >= 1 or None, got 0"),
        ({"max_features": "9"}, "max_features must be an integer >= 1 or None, got '9'"),
        ({"min_count": 4}, "no word occurs min_count=4 times; the most frequent, 'b', occurs 3"),
    ],
)
def test_restrict_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        restrict(build_corpus(TOKENS), **parameters)


def test_keep_tokens():
    ids, offsets = keep_tokens(
        np.array([3, 1, 4, 1, 5]), np.array([0, 2, 2, 5]), np.array([1, 0, 0, 1, 1], dtype=bool)
    )
    assert ids.tolist() == [3, 1, 5]
    assert offsets.tolist() == [0, 1, 1, 3]


def test_encode_with_its_own_vocabulary_gives_the_corpus():
    corpus = build_corpus(TEXTS, make_analyzer())
    vocabulary = {word: index for index, word in enumerate(corpus.words)}
    ids, offsets = encode(iter(TEXTS), make_analyzer(), vocabulary)
    np.testing.assert_array_equal(ids, corpus.ids)
    np.testing.assert_array_equal(offsets, corpus.offsets)


def test_encode_unknown_words():
    ids, offsets = encode([["a", "z", "b"], [], ["z"]], None, {"a": 0, "b": 1})
    assert ids.tolist() == [0, -1, 1, -1]
    assert offsets.tolist() == [0, 3, 3, 4]
    assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)


def test_document_counts():
    rng = np.random.default_rng(2)
    ids = rng.integers(-1, 8, 200).astype(np.int32)
    offsets = np.concatenate(([0, 0], np.sort(rng.integers(0, 200, 9)), [200, 200]))
    before = ids.copy(), offsets.copy()
    counts = document_counts(ids, offsets, 10)
    expected = np.zeros((len(offsets) - 1, 10))
    for d, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        for word in ids[start:stop]:
            expected[d, word] += word >= 0
    np.testing.assert_array_equal(counts.toarray(), expected)
    assert counts.format == "csr"
    assert counts.dtype == np.float64
    assert counts.nnz == np.count_nonzero(expected)
    assert counts.has_sorted_indices
    np.testing.assert_array_equal(ids, before[0])
    np.testing.assert_array_equal(offsets, before[1])


def test_document_counts_of_known_words_leaves_its_input_alone():
    ids, offsets = np.array([2, 0, 2, 1], dtype=np.int32), np.array([0, 3, 4])
    counts = document_counts(ids, offsets, 3)
    np.testing.assert_array_equal(counts.toarray(), [[1, 0, 2], [0, 1, 0]])
    assert ids.tolist() == [2, 0, 2, 1]


class ArrowColumn:
    """As a column of pyarrow: its entries are scalars of its own, and it copies no texts."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return SimpleNamespace(as_py=lambda: self.values[i])

    def to_pylist(self):
        return list(self.values)

    def to_numpy(self):
        raise ValueError("needed to copy, but zero_copy_only was True")


def test_columns_of_pyarrow():
    """Texts, token lists and labels; a table, which has such columns, stays what it is."""
    texts = ["the cat sat", "the dog sat"] * 5
    given = materialise(ArrowColumn(texts))
    assert given == texts and input_kind(given) == "text"
    assert input_kind(materialise(ArrowColumn([["a", "b"], ["c"]]))) == "tokens"
    assert check_units(ArrowColumn(["u", "v"]), 2).tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"units\[1\] = None"):
        check_units(ArrowColumn(["u", None]), 2)
    options = {"solver": "map", "min_count": 1, "prior_precision": 1.0, "random_state": 0}
    units = list("abcde") * 2
    fitted = BayesianSGNS(2, **options).fit(ArrowColumn(texts), units=ArrowColumn(units))
    np.testing.assert_array_equal(
        fitted.rho_, BayesianSGNS(2, **options).fit(texts, units=units).rho_
    )
    words = [build_vocabulary(x, min_count=1).words.tolist() for x in (ArrowColumn(texts), texts)]
    assert words[0] == words[1]
    table = ArrowColumn(texts)
    table.column_names = ["text"]
    assert materialise(table) is table

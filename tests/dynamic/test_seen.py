"""How much text of words there is in periods, and from how little nothing is said of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from skbayesembed import DynamicSGNS, PairCounts, load
from skbayesembed.dynamic.inputs import pairs_of_use, training_data
from skbayesembed.dynamic.seen import Seen, lacking, lacking_at_ends, text_of, words_too_few
from skbayesembed.dynamic.verdicts import sentence_on_change
from skbayesembed.sgns.questions.phrases import Phrase

RNG = np.random.default_rng(5)
N, WORDS = 40, np.array(list("abcde"))
TIMES = np.sort(RNG.integers(1900, 1903, N))
# words of very different frequencies; some documents have one word, or none that another has
TEXTS = [
    RNG.choice(WORDS, n, p=[0.5, 0.3, 0.14, 0.05, 0.01]).tolist() for n in RNG.integers(1, 9, N)
]
# every word occurs
TEXTS[0] = list(WORDS)
UNITS, WEIGHTS = RNG.integers(0, 6, N), RNG.integers(0, 2, N).astype(float)


def counted(one):
    """A document as `PairCounts`: every token with every other."""
    found = np.array([one.count(word) for word in WORDS], dtype=float)
    table = sparse.csr_array(np.outer(found, found) - np.diag(found))
    return PairCounts(table, table, words=WORDS)


KINDS = {
    "tokens": lambda: TEXTS,
    "counts": lambda: np.array([[text.count(word) for word in WORDS] for text in TEXTS]),
    "pairs": lambda: [counted(text) for text in TEXTS],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_what_periods_have_of_words(kind, weights):
    """By going through the documents one by one."""
    model = DynamicSGNS(2, min_count=1)
    seed = np.random.SeedSequence(0)
    training = training_data(model, KINDS[kind](), TIMES, seed, UNITS, weights)
    seen = Seen.of(training)
    names = WORDS if kind != "tokens" else training.words
    used = np.ones(N) if weights is None else weights
    for t, year in enumerate([1900, 1901, 1902]):
        mine = [i for i in np.flatnonzero((year == TIMES) & (used > 0)) if len(TEXTS[i]) > 1]
        assert seen.of_period[t] == len({UNITS[i] for i in mine})
        for w, word in enumerate(names):
            assert seen.units[t, w] == len({UNITS[i] for i in mine if word in TEXTS[i]})
            if kind != "pairs":
                assert seen.uses[t, w] == sum(TEXTS[i].count(word) for i in mine)
    assert (seen.uses is None) == (kind == "pairs") == (pairs_of_use(model, training) is None)


def test_shares_of_documents_are_uses():
    """Rows that add up to one have pairs of words, whatever rounding makes of the sum."""
    counts = np.full((N, 3), 0.25)
    counts[:, 0] = 0.5
    counts[::2, 0] += 1e-16
    counts[0] = [0.9, 0.0, 0.0]
    model = DynamicSGNS(2, min_count=1)
    seen = Seen.of(training_data(model, counts, TIMES, np.random.SeedSequence(0), UNITS, None))
    sizes = np.bincount(TIMES - 1900)
    sizes[TIMES[0] - 1900] -= 1
    np.testing.assert_allclose(seen.uses, np.outer(sizes, [0.5, 0.25, 0.25]))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_period_without_text_has_no_neighbours():
    """By units, as by the model: an empty table, and how many words have too little text."""
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    model = DynamicSGNS(2, min_count=1, random_state=0, bins=[1900, 1920, 1940, 1960])
    model.fit(texts, times=[1901] * 15 + [1950] * 15)
    assert model.most_similar("cat", 2, period=1950).n_units is not None
    for _ in range(2):
        found = model.most_similar("cat", 2, period=1930)
        assert found.words.size == 0 and found.n_left_out == model.words_.size - 1
        found = model.analogy("cat", "mat", "dog", period=1930)
        assert found.words.size == 0
        model.set_params(uncertainty="model")


# Pairs, uses (None: not known), units of the word, units of the period, pairs of a use: whether
# there is too little.
CASES = [
    (900.0, 10, 3, 20, 5.0, False),
    (900.0, 9, 3, 20, 5.0, True),
    (900.0, 10, 2, 20, 5.0, True),
    # a period of one document has no more
    (900.0, 10, 1, 1, 5.0, False),
    (900.0, 10, 1, 2, 5.0, True),
    (50.0, None, 3, 20, None, False),
    (49.0, None, 3, 20, None, True),
    (10.0, None, None, None, 1.0, False),
    (9.0, None, None, None, 1.0, True),
]


@pytest.mark.parametrize(("pairs", "uses", "units", "of_period", "each", "few"), CASES)
def test_ten_uses_in_three_units_are_enough(pairs, uses, units, of_period, each, few):
    """And a phrase has the uses of its words together, a word that is seen much none to lend."""
    other = {"pairs": 1e3, "uses": 200.0, "units": of_period}
    tables = {"pairs": pairs, "uses": uses, "units": units}
    found = {
        name: None if value is None else np.array([[value, other[name]]])
        for name, value in tables.items()
    }
    seen = None
    if units is not None:
        seen = Seen(found["uses"], found["units"], np.array([of_period]))
    names = np.array(["word", "rich"])
    model = SimpleNamespace(observed_=found["pairs"], _seen=seen, _pairs_of_use=each, words_=names)
    word, rich, both = (Phrase("", np.array(i), np.ones(len(i))) for i in ([0], [1], [0, 1]))
    axis = word.less(rich, "")
    assert text_of(model, [0], axis).few[0] == few, "an end has none of the other's"
    text = text_of(model, [0], word, rich)
    assert text.few.tolist() == [few] and text.pairs[0] == pairs
    assert (text.uses is None) == (uses is None) and (units is None or text.units[0] == units)
    assert not text_of(model, [0], both).few[0]
    assert words_too_few(model, [0]).tolist() == [[few, False]]
    assert words_too_few(model, [0], [1, 0]).tolist() == [[False, few]]


def test_what_is_said_of_a_period_is_said_of_one_word():
    """Of the one that lacks text, be it the one with more uses; with what it lacks."""
    uses, units = np.array([[18, 34], [15, 30], [7, 0]]), np.array([[4, 2], [6, 9], [5, 0]])
    seen, words = Seen(uses, units, np.array([9, 9, 9])), np.array(["labor", "industry"])
    model = SimpleNamespace(
        observed_=5.0 * uses, _seen=seen, _pairs_of_use=5.0, words_=words,
        periods_=SimpleNamespace(labels=["1990-2029", "1830-1869", "1790-1829"]),
    )  # fmt: skip
    labor, industry = (Phrase(str(w), np.array([i]), np.ones(1)) for i, w in enumerate(words))
    text = text_of(model, [0, 1, 2], labor, industry)
    assert text.words == ["industry", "labor", "industry"]
    assert text.uses.tolist() == [34, 15, 0] and text.units.tolist() == [2, 6, 0]
    assert text.pairs.tolist() == [170, 75, 0] and text.few.tolist() == [True, False, True]
    assert text.reason(0) == "'industry' is in only 2 units there"
    assert text.reason(2, "in 1790") == "'industry' has no uses in 1790"
    assert lacking(model, [0, 1, 2], labor, industry) == [
        "(too little text: of 'labor' in 1790-1829 (7 uses); of 'industry' in 1990-2029 (2 units), "
        "1790-1829 (no uses))"
    ]
    assert lacking(model, [1], labor, industry) == []
    assert lacking_at_ends(model, [1, 1], labor, industry) == []
    # one period alone has enough of both words, two of the first
    assert lacking_at_ends(model, [0, 2], labor, industry)[1:] == ["(no two periods have enough)"]
    assert lacking_at_ends(model, [1, 2], labor)[1:] == [
        "(there is enough from start='1990-2029' to end='1830-1869')"
    ]
    axis = text_of(model, [0], labor.less(industry, "labor -> industry"))
    assert axis.words == ["industry"] and axis.units == [2]
    found = Bunch(
        pairs=(170.0, 75.0), uses=(34, 15), units_seen=(2, 6), few_pairs=(True, False),
        words_seen=("industry", "labor"), settings={"units_name": "president"},
    )  # fmt: skip
    assert sentence_on_change(found, "similarity of a and b", ("1990", "1830")) == (
        "There are too few data to say whether the similarity of a and b has changed: 'industry' "
        "has 34 uses (170 pairs) by only 2 presidents in 1990, and 'labor' has 15 uses (75 pairs) "
        "by 6 presidents in 1830."
    )
    found.update(
        few_pairs=(False, False), mean=0.1, interval=np.array([-0.1, 0.3]), source="units",
        prob=0.9, settings=found.settings | {
            "diffusion": 1e-3, "diffusion_learned": False, "n_components": 5
        },
    )  # fmt: skip
    assert (
        "The rarer word of each period has 34 uses (170 pairs) by 2 presidents in 1990 "
        "('industry') and 15 uses (75 pairs) by 6 presidents in 1830 ('labor')."
    ) in sentence_on_change(found, "similarity", ("1990", "1830"))


def test_a_fit_online_goes_by_pairs_and_a_saved_one_by_uses(tmp_path):
    model = DynamicSGNS(2, solver="map", min_count=1, random_state=0).fit(TEXTS, times=TIMES)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    few = words_too_few(model, [0, 1, 2])
    assert few.any() and not few.all()
    np.testing.assert_array_equal(words_too_few(again, [0, 1, 2]), few)
    online = DynamicSGNS(2, min_count=1, random_state=0).partial_fit(TEXTS, times=TIMES)
    np.testing.assert_array_equal(words_too_few(online, [0, 1, 2]), online.observed_ < 50)

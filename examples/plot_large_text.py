"""
Text counted in parts
=====================

A text that does not fit in memory, or is spread over several machines, can be counted in parts that
add up. Here the parts are the decades of the State of the Union addresses. They are counted by dask
if it is installed, and otherwise one after the other. The addresses of one president are a unit.
"""

# %%
# One vocabulary, then the pairs
# ------------------------------
# Counting is a map and a sum. The vocabulary comes first, because rare words are removed before
# windows are formed. A word that is rare in every decade may be frequent in all of them together.

import os

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS, build_vocabulary, count_pairs
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import SimilarityDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

try:
    import dask
except ImportError:
    dask = None  # type: ignore[assignment]


def mapped(function, parts):
    """The function of every part, by dask or one after the other."""
    if dask is None:
        return [function(*part) for part in parts]
    return dask.compute(*[dask.delayed(function)(*part) for part in parts])


addresses = fetch_state_of_the_union()
decade = np.asarray(addresses.year) // 10
parts = [
    (
        [text for text, d in zip(addresses.data, decade, strict=True) if d == one],
        [str(name) for name, d in zip(addresses.president, decade, strict=True) if d == one],
    )
    for one in np.unique(decade)
]
n_words = 300 if FAST else 1_000


def words_of(texts, _):
    """Words of a part."""
    return build_vocabulary(texts, max_features=n_words)


vocabulary = sum(mapped(words_of, parts))


def pairs_of(texts, presidents):
    """Pairs of a part, those of each president apart."""
    return count_pairs(texts, vocabulary, units=presidents)


shards = mapped(pairs_of, parts)
shard = sum(shards)
print(vocabulary)
print(shard)

# %%
# The number of different word pairs grows more slowly than the text. Counts take memory for each of
# them; the time of a fit depends on the vocabulary, with whose square it grows. Tokens here are
# those of the vocabulary.

tokens, pairs, upto = [], [], None
for one in shards:
    upto = one if upto is None else upto + one
    tokens.append(upto.tokens.sum())
    pairs.append(upto.positive.nnz)
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(np.array(tokens) / 1e6, pairs, marker="o")
ax.set(xlabel="million tokens of the vocabulary so far", ylabel="different pairs so far")
ax.yaxis.set_major_formatter("{x:,.0f}")

# %%
# Fit the model to the sum
# ------------------------
# Negative pairs are computed from the sum, since their distribution does not add up. The intervals
# are the same as for a fit to the texts themselves with presidents as units.

model = BayesianSGNS(10, solver="map", prior_precision=4.0, random_state=0).fit(shard)
print(model.most_similar("peace", n=5))
SimilarityDisplay.from_estimator(model, [("peace", w) for w in ("war", "treaty", "freedom")])

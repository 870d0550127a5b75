"""
Senses of a word over time
==========================

Presidents of the United States have spoken of *power* for more than two centuries, and have meant
the powers of the constitution, the powers of the world, and the power of rivers and reactors. Each
use has one sense, but nobody has labeled them. The data are *snippets*: the words around each use,
and its year. How common was each sense in each period, and how certain is that? The model is DiSC
(Zafar & Nicholls 2022). :doc:`plot_kosmos` compares its answers with those of readers.
"""

# %%
# Snippets and senses
# -------------------
# A snippet has the seven words on either side, without stop words and words that occur once or
# twice. Chains start in the heaviest mode of the posterior. If a second mode had more than 1 % of
# the posterior, ``fit`` would say so. Eight starts save time here. :doc:`The guide
# </user_guide/senses>` has the default number, and its answers differ by Monte Carlo error.

import os
import warnings

from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import extract_snippets, fetch_state_of_the_union
from skbayesembed.plotting import PrevalenceDisplay, RankDisplay, SenseWordsDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
if FAST:  # chains of 40 draws have not mixed, as fit would say
    warnings.simplefilter("ignore", ConvergenceWarning)

addresses = fetch_state_of_the_union()
uses = extract_snippets(
    addresses.data,
    "power",
    times=addresses.year,
    units=addresses.president,
    stop_words="english",
    min_count=3,
)
model = DiSCSenseModel(
    3,
    bins=range(1790, 2031, 40),
    feature_names=uses.words,
    draws=40 if FAST else 500,
    warmup=40 if FAST else 500,
    chains=2,
    n_starts=2 if FAST else 8,
    random_state=0,
)
model.fit(uses.counts, times=uses.times, units=uses.units)
print(f"{len(uses.snippets)} snippets, {model.words_.size} words")
print(model.modes_)

# %%
# Which senses are they?
# ----------------------

SenseWordsDisplay.from_estimator(model, 8)

# %%
# Snippets that almost certainly have a sense are more informative than lists of words. Their
# passages show the text of the window, with the stop words and rare words that the model does not
# see.

print(
    model.representative_snippets(
        uses.counts, n=3, times=uses.times, units=uses.units, texts=uses.passages, target="power"
    )
)

# %%
# Words and snippets suggest names for the senses. Tables, figures and sentences use them from here.

model.name_senses(["federal", "world", "energy"])

# %%
# How common were they, and when?
# -------------------------------

PrevalenceDisplay.from_estimator(model)

# %%
# How certain is it that the federal sense became rarer? And in which period did that of energy
# first make up three tenths of all uses?

print(model.prevalence_change("federal", 1800, 2000).sentence)
print(model.emergence("energy", 0.3))

# %%
# Have the chains mixed?
# ----------------------

RankDisplay.from_estimator(model)

"""DiSCSenseModel on State of the Union addresses, as the front page and the chapter show it."""

# ruff: noqa: E402, I001

# %% ask
from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import extract_snippets, fetch_state_of_the_union
from skbayesembed.plotting import PrevalenceDisplay

addresses = fetch_state_of_the_union()
uses = extract_snippets(
    addresses.data, "power", times=addresses.year, units=addresses.president,
    stop_words="english", min_count=3,
)
model = DiSCSenseModel(
    3, bins=range(1790, 2031, 40), feature_names=uses.words, warmup=500, draws=500,
    chains=2, random_state=0,
)
model.fit(uses.counts, times=uses.times, units=uses.units)

for sense, words in enumerate(model.sense_words(8).words):
    print(sense, *words)
PrevalenceDisplay.from_estimator(model)
# %% change
model.name_senses(["federal", "world", "energy"])
change = model.prevalence_change("federal", 1800, 2000)
print(change)
print(change.sentence)
print()
print(model.emergence("energy", 0.3))
# %% read
print(
    model.representative_snippets(
        uses.counts, "energy", n=4, times=uses.times, units=uses.units,
        texts=uses.passages, target="power",
    )
)
# %% failure
uses = extract_snippets(
    addresses.data, "force", times=addresses.year, stop_words="english",
    min_count=3,
)
options = {
    "bins": range(1790, 2031, 40), "feature_names": uses.words, "warmup": 500,
    "draws": 500, "chains": 2, "random_state": 0,
}
model = DiSCSenseModel(3, **options).fit(uses.counts, times=uses.times)
print(model.modes_)
# %% repair
model = DiSCSenseModel(2, **options).fit(uses.counts, times=uses.times)
print(model.modes_)
print("largest R-hat", round(model.posterior_.attrs["max_rhat"], 3))
for sense, words in enumerate(model.sense_words(8).words):
    print(sense, *words)
# %% end
